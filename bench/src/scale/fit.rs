//! What launches cost, from what was measured on few nodes.
//!
//! Prices come from processor time, which has little noise: of head and nodes, by the number of
//! nodes, with and without a file. Each is what is left of a measured slope once the simulator's
//! messages are taken off. A message's own price is that with which a query among 16 processes
//! takes as long in the simulator as here; so is that of messages between machines, over TCP. Two
//! numbers come from wall time: how much longer work takes where many processes share processors
//! (no shorter), and for each program the time in which nobody works, less what the head still
//! works when the client has ended (what is done is written down and forgotten then).

use std::time::Instant;

use anyhow::{Context, Result};
use muster_machine::launch::{Launch, Order, Part, UMASK};
use muster_machine::manager::spec::Stdin;
use muster_sim::launch::Prices;
use muster_sim::launch::model::{Cluster, Machines, Took};
use muster_sim::network::Costs;

use super::measure::{BIG, Point, Program};
use crate::primitives;
use crate::report::Samples;

/// Processors of a machine of its own.
pub const PROCESSORS: usize = 2;

/// Its network: 10 Gbit/s, 20 us from machine to machine.
const NETWORK: Costs = Costs { latency: 20_000, overhead: 0, gap: 0, byte: 800, copy: 0 };

/// What the model is.
#[derive(Clone, Debug)]
pub struct Model {
    processors: usize,
    costs: Costs,
    /// Between machines: our messages over TCP, on [`NETWORK`].
    between: Costs,
    prices: Prices,
    /// How much longer work takes where processes share processors.
    stretch: f64,
    /// By program: milliseconds in which nobody works, less those of work after the end.
    idle: [f64; 2],
    /// By program: processor time as it was measured.
    used: [Lines; 2],
}

/// A line: its value at 0, and its slope. Of the slopes between each two points the middle one is
/// taken, each counting as much as its points are apart, so that one bad point moves it little.
fn line(points: impl Iterator<Item = (f64, f64)>) -> (f64, f64) {
    let points: Vec<(f64, f64)> = points.collect();
    let pairs = points.iter().enumerate().flat_map(|(at, one)| {
        points[at + 1..].iter().map(move |other| (other.0 - one.0, other.1 - one.1))
    });
    let mut slopes: Vec<(f64, f64)> = pairs.map(|(x, y)| (y / x, x.abs())).collect();
    slopes.sort_by(|one, other| one.0.total_cmp(&other.0));
    let half = slopes.iter().map(|(_, weight)| weight).sum::<f64>() / 2.0;
    let mut sum = 0.0;
    let middle = slopes.iter().find(|(_, weight)| {
        sum += weight;
        sum >= half
    });
    let slope = middle.map_or(0.0, |(slope, _)| *slope);
    (Samples(points.iter().map(|(x, y)| y - slope * x).collect()).median(), slope)
}

/// Processor time of a launch by the number of nodes, in nanoseconds: of the head, of all nodes.
#[derive(Clone, Copy, Debug)]
struct Lines {
    head: (f64, f64),
    nodes: (f64, f64),
}

impl Model {
    /// Fits one.
    ///
    /// # Errors
    /// When a simulated launch fails.
    pub fn fit(points: &[Point], processors: usize) -> Result<Model> {
        let costs = Costs { latency: 0, overhead: 0, gap: 0, byte: 0, copy: 0 };
        let mut model = Model {
            processors,
            costs,
            between: costs,
            prices: Prices { letter: letter_price(), ..Prices::default() },
            stretch: 1.0,
            idle: [0.0; 2],
            used: super::PROGRAMS.map(|program| measured(points, program)),
        };
        model.costs = Costs { copy: 0, ..model.messages("unix")? };
        let Costs { overhead, copy, .. } = model.messages("tcp")?;
        model.between = Costs { overhead, copy, ..NETWORK };
        let [small, big] = model.used;
        let said = model.said(Program::True)?;
        let price = |measured: f64, said: f64| (measured - said).max(0.0) as u64;
        model.prices.report = price(small.head.1, said.head.1);
        model.prices.rank = price(small.nodes.1, said.nodes.1);
        model.prices.begin = price(small.head.0 + small.nodes.0, said.head.0 + said.nodes.0);
        // Sending bytes to one node more is the manager's; what a node does for them beside that
        // is theirs.
        let said = model.said(Program::Big)?;
        let byte =
            |measured: f64, said: f64| (price(measured, said) as f64 * 1e3 / BIG as f64) as u64;
        model.costs.copy = byte(big.head.1, said.head.1);
        let said = model.said(Program::Big)?;
        model.prices.give = byte(big.head.0, said.head.0);
        model.prices.keep = byte(big.nodes.1, said.nodes.1);
        model.stretch_to(points)?;
        Ok(model)
    }

    /// What messages cost: with that, a query and a megabyte among 16 take as long in the simulator
    /// as they do here.
    fn messages(&self, scheme: &str) -> Result<Costs> {
        let found = primitives::ours(16, scheme, 300)?;
        let nanos = |name: &str| Some(found.get(name)?.median() * 1e3);
        let query = nanos("query").context("no query was measured")?;
        let megabyte = nanos("1MB").context("no transfer was measured")?;
        let takes = |costs, bytes| self.cluster(15, costs).primitive(bytes) as f64;
        let of = |overhead, copy| Costs { overhead, copy, ..self.costs };
        let overhead = bisect(|overhead| takes(of(overhead, 0), None) - query);
        let copy = bisect(|copy| takes(of(overhead, copy), Some(1 << 20)) - megabyte);
        Ok(of(overhead, copy))
    }

    /// Finds how much longer it all takes than the work does.
    fn stretch_to(&mut self, points: &[Point]) -> Result<()> {
        let mut rows = Vec::new();
        for (at, program) in super::PROGRAMS.into_iter().enumerate() {
            for point in points {
                let said = self.took(point.nodes as u32, program)?;
                rows.push((at, said.whole as f64 / 1e6, point.wall(program)));
            }
        }
        let mut best = f64::MAX;
        for stretch in (100..300).map(|percent| f64::from(percent) / 100.0) {
            // Relative errors count: each row weighs as much as it is small.
            let idle = [0, 1].map(|program| {
                let own = rows.iter().filter(|row| row.0 == program);
                let (sum, weight) = own.fold((0.0, 0.0), |(sum, weight), (_, said, wall)| {
                    (sum + (wall - stretch * said) / wall.powi(2), weight + wall.powi(-2))
                });
                sum / weight
            });
            let off = |(at, said, wall): &(usize, f64, f64)| {
                ((idle[*at] + stretch * said) / wall - 1.0).powi(2)
            };
            let error: f64 = rows.iter().map(off).sum();
            if error < best {
                (best, self.stretch, self.idle) = (error, stretch, idle);
            }
        }
        Ok(())
    }

    fn cluster(&self, nodes: u32, costs: Costs) -> Cluster {
        let machines = Machines::One(self.processors);
        Cluster { nodes, machines, costs, prices: self.prices }
    }

    fn took(&self, nodes: u32, program: Program) -> Result<Took> {
        let took = self.cluster(nodes, self.costs).launch(program.bytes(), false);
        took.map_err(|why| anyhow::anyhow!("a simulated launch on {nodes}: {why}"))
    }

    /// What the simulator says of processor time, by the number of nodes.
    fn said(&self, program: Program) -> Result<Lines> {
        let took: Vec<(f64, Took)> = (super::FITTED.iter())
            .map(|nodes| Ok((*nodes as f64, self.took(*nodes as u32, program)?)))
            .collect::<Result<_>>()?;
        let of = |of: fn(&Took) -> u64| line(took.iter().map(|(x, took)| (*x, of(took) as f64)));
        Ok(Lines { head: of(|took| took.head), nodes: of(|took| took.nodes) })
    }

    /// Milliseconds of a launch on this machine.
    pub fn here(&self, nodes: usize, program: Program) -> f64 {
        let took = self.took(nodes as u32, program).expect("a launch that fails has failed before");
        self.whole(program, took)
    }

    /// Milliseconds of a launch where each node is a machine of its own.
    ///
    /// # Errors
    /// Why the launch is refused.
    pub fn alone(&self, nodes: u32, program: Program) -> Result<f64, String> {
        let machines = Machines::Each(PROCESSORS);
        let cluster = Cluster { nodes, machines, costs: self.between, prices: self.prices };
        Ok(self.whole(program, cluster.launch(program.bytes(), false)?))
    }

    /// Milliseconds of processor time of a launch, of all together.
    pub fn work(&self, nodes: usize, program: Program) -> f64 {
        let took = self.took(nodes as u32, program).expect("a launch that fails has failed before");
        (took.head + took.nodes) as f64 / 1e6
    }

    /// Milliseconds until all strobers of as many machines have a table of slots.
    ///
    /// # Errors
    /// When some do not get it.
    pub fn strobe(&self, nodes: u32) -> Result<f64, String> {
        let machines = Machines::Each(PROCESSORS);
        let cluster = Cluster { nodes, machines, costs: self.between, prices: self.prices };
        Ok(self.stretch * cluster.strobe()? as f64 / 1e6)
    }

    fn whole(&self, program: Program, took: Took) -> f64 {
        let idle = self.idle[usize::from(program == Program::Big)];
        idle + self.stretch * took.whole as f64 / 1e6
    }

    /// The constants, in words.
    pub fn tell(&self) -> Vec<String> {
        let Model { costs, between, prices, stretch, idle, .. } = self;
        let us = |nanos: u64| nanos as f64 / 1e3;
        let used = super::PROGRAMS.iter().zip(&self.used).map(|(program, used)| {
            let ms = |(at, slope): (f64, f64)| format!("{:.2} + {:.3} N", at / 1e6, slope / 1e6);
            let (head, nodes) = (ms(used.head), ms(used.nodes));
            format!("measured, ms of processors, {}: head {head}, nodes {nodes}", program.name())
        });
        let fitted = [
            format!(
                "fitted: a launch {:.0} us, a rank {:.0}, a report {:.0}, a message {:.1} at each \
                 side",
                us(prices.begin),
                us(prices.rank),
                us(prices.report),
                us(costs.overhead)
            ),
            format!(
                "fitted, for a byte: {} ps given by the client, {} sent or received, {} kept, {} \
                 of an order read",
                prices.give, costs.copy, prices.keep, prices.letter
            ),
            format!(
                "fitted, over TCP: a message {:.1} us at each side, {} ps for a byte",
                us(between.overhead),
                between.copy
            ),
            format!(
                "fitted: work takes {stretch:.2} times as long beside others; nobody works for {}, \
                 {}",
                idled(idle[0], "true"),
                idled(idle[1], "12 MiB")
            ),
        ];
        used.chain(fitted).collect()
    }
}

/// Milliseconds in which nobody works, in words.
fn idled(ms: f64, program: &str) -> String {
    match ms < 0.0 {
        true => format!("0 ms, and the head for {:.1} ms after the end ({program})", -ms),
        false => format!("{ms:.1} ms ({program})"),
    }
}

fn measured(points: &[Point], program: Program) -> Lines {
    let nodes = |point: &Point| point.nodes as f64;
    let own = |point: &Point| point.of(program).clone();
    Lines {
        head: line(points.iter().map(|point| (nodes(point), own(point).head * 1e6))),
        nodes: line(points.iter().map(|point| (nodes(point), own(point).nodes * 1e6))),
    }
}

/// Where a function that grows is nothing: nanoseconds below a second.
fn bisect(grows: impl Fn(u64) -> f64) -> u64 {
    let (mut low, mut high) = (0, 1_000_000);
    while low + 1 < high {
        let middle = (low + high) / 2;
        *(if grows(middle) > 0.0 { &mut high } else { &mut low }) = middle;
    }
    low
}

/// Picoseconds that a node takes to read a byte of an order.
fn letter_price() -> u64 {
    let part = |first| Part { node: format!("n{first}"), instance: 1 << 60, first, count: 1 };
    let (env, nodes) = ("NAME=value\n".repeat(20), (0..64).map(part).collect());
    let (job, known_as, argv, stdin, chdir) = (1, 1, "true\n".to_owned(), Stdin::NONE, None);
    let (in_turns, binds, umask, view) = (false, true, UMASK, None);
    let letter = Order::Launch(Launch {
        job,
        known_as,
        argv,
        env,
        stdin,
        chdir,
        in_turns,
        binds,
        umask,
        view,
        nodes,
    });
    let letter = letter.letter();
    let mut times: Vec<f64> = Vec::new();
    for _ in 0..200 {
        let start = Instant::now();
        let read = Order::read(&letter);
        times.push(start.elapsed().as_secs_f64());
        assert!(read.is_ok(), "it is one");
    }
    times.sort_by(f64::total_cmp);
    (times[100] * 1e12 / letter.len() as f64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_zeros_are_found() {
        let (at, slope) = line([(1.0, 5.0), (2.0, 7.0), (4.0, 11.0)].into_iter());
        assert!((at - 3.0).abs() < 1e-9 && (slope - 2.0).abs() < 1e-9);
        let (_, slope) = line([(1.0, 2.0), (2.0, 4.0), (4.0, 99.0), (8.0, 16.0)].into_iter());
        assert!((slope - 2.0).abs() < 1e-9, "one bad point: {slope}");
        assert_eq!(bisect(|x| x as f64 - 1234.5), 1234);
    }
}
