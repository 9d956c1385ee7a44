//! The adaptive planner against what is best, over the real link between two processes: how far
//! its choices are from those of an exhaustive search, and how fast it answers to a medium that
//! changes.
//!
//! A medium changes by *injected* costs: what the planner is told a message took is falsified, by
//! one factor for all ways through the ring and one for the single copy. A message then costs its
//! true time by the factor of the plan it went by, for ours as for the fixed plans beside it.

use super::ours::{hello, patience};
use anyhow::{Context, Result};
use muster_base::limits::SHARED_ARENA;
use muster_fabric::pipeline::calibrate::{CONTACT, Injection, Medium, calibrate};
use muster_fabric::pipeline::choice::{Grid, exhaustive, median};
use muster_fabric::pipeline::costs::{Costs as Fitted, Predict};
use muster_fabric::pipeline::plan::{Plan, Planner};
use muster_fabric::transport::shared::{Link, Planners, Shared, adaptive};
use muster_fabric::{Address, Deadline, Error};
use std::collections::HashMap;
use std::io::IoSlice;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The longest message that is sent here.
const LONGEST: usize = 16 << 20;

/// How long after a flip the planner may still be wrong.
const ANSWER: Duration = Duration::from_millis(100);

/// Far from its slower state a method costs so many times what the other one does: what the
/// research note measured, 1.9 where processors are near, 1.6 where they are far.
const NEAR: f64 = 1.9;
const FAR: f64 = 1.6;

/// Pipelines have a copy in, a hop and a copy out.
const DEPTH: usize = 3;

/// What happens to a link's messages.
#[derive(Debug)]
struct Wheel {
    /// Who decides, if it is not the planner.
    forced: Option<Plan>,
    /// How the last message went.
    last: Plan,
}

/// A planner whose choices can be overruled and are written down, and that is told falsified times.
struct Steered {
    inner: Box<dyn Planner>,
    injection: Injection,
    wheel: Arc<Mutex<Wheel>>,
}

impl Steered {
    fn wheel(&self) -> std::sync::MutexGuard<'_, Wheel> {
        self.wheel.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Planner for Steered {
    fn plan(&mut self, bytes: usize) -> Plan {
        let forced = self.wheel().forced;
        let plan = forced.unwrap_or_else(|| self.inner.plan(bytes));
        self.wheel().last = plan;
        plan
    }

    fn is_sampling(&mut self) -> bool {
        self.wheel().forced.is_none() && self.inner.is_sampling()
    }

    fn observe(&mut self, bytes: usize, plan: Plan, time: Duration) {
        self.inner.observe(bytes, plan, self.injection.apply(plan, time));
    }

    fn is_new(&mut self, bytes: usize) -> bool {
        self.wheel().forced.is_none() && self.inner.is_new(bytes)
    }

    fn meet(&mut self, peer: &str, medium: &mut dyn Medium) {
        self.inner.meet(peer, medium);
    }
}

fn path(at: &str) -> Result<PathBuf> {
    match at.parse()? {
        Address::Shared(path) => Ok(path),
        other => anyhow::bail!("planners are measured over shared memory, not {other}"),
    }
}

/// Takes messages, and says so with one byte for each.
pub fn serve(at: &str) -> Result<()> {
    let (deadline, mut into) = (patience(), vec![0; LONGEST]);
    let mut link = Shared::default().listen_link(&path(at)?)?.accept_link(deadline)?;
    loop {
        match link.receive(&mut into, deadline) {
            Err(Error::Closed { .. }) => return Ok(()),
            size => size?,
        };
        link.send(&[IoSlice::new(&[1])], deadline)?;
    }
}

/// Who sends, and sees what it costs.
struct Road {
    link: Link,
    wheel: Arc<Mutex<Wheel>>,
    injection: Injection,
    message: Vec<u8>,
    deadline: Deadline,
}

impl Road {
    fn open(at: &str, size: usize) -> Result<Road> {
        let wheel = Arc::new(Mutex::new(Wheel { forced: None, last: Plan::Short }));
        let injection = Injection::default();
        let (planners, steering, falsified) = (adaptive(), wheel.clone(), injection.clone());
        let steered: Planners = Arc::new(move |hello| {
            let (wheel, injection) = (steering.clone(), falsified.clone());
            Box::new(Steered { inner: planners(hello), injection, wheel })
        });
        let deadline = patience();
        let link = Shared::new(steered).connect_link(&path(at)?, &hello(), deadline)?;
        Ok(Road { link, wheel, injection, message: vec![1; size], deadline })
    }

    fn wheel(&self) -> std::sync::MutexGuard<'_, Wheel> {
        self.wheel.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A message, by a plan or as the planner wants: how it went, and the nanoseconds that it cost.
    fn send(&mut self, forced: Option<Plan>) -> Result<(Plan, f64)> {
        self.wheel().forced = forced;
        let start = Instant::now();
        self.link.send(&[IoSlice::new(&self.message)], self.deadline)?;
        self.link.receive(&mut [0], self.deadline)?;
        let time = start.elapsed();
        let plan = self.wheel().last;
        Ok((plan, self.injection.apply(plan, time).as_nanos() as f64))
    }

    /// Has the planner decide for a while; what it did most often.
    fn drive(&mut self, time: Duration) -> Result<Plan> {
        let (start, mut counts) = (Instant::now(), HashMap::new());
        while start.elapsed() < time {
            *counts.entry(self.send(None)?.0).or_insert(0_u32) += 1;
        }
        let most = counts.into_iter().max_by_key(|(_, count)| *count);
        Ok(most.context("no message was sent")?.0)
    }

    /// The median cost of some messages by one plan.
    fn cost(&mut self, plan: Plan, count: usize) -> Result<f64> {
        let costs: Result<Vec<f64>> = (0..count).map(|_| Ok(self.send(Some(plan))?.1)).collect();
        Ok(median(&mut costs?))
    }

    /// How many messages one figure is made of: some 200 us of them.
    fn count(&mut self) -> Result<usize> {
        let cost = self.cost(Plan::Pipelined { packet: 32 << 10, slots: 16 }, 5)?;
        Ok(((2e5 / cost) as usize).clamp(3, 50))
    }
}

/// The plans of the ring; the single copy is no matter of packet lengths and slots.
fn grid() -> Grid {
    Grid { single: false, ..Grid::new(SHARED_ARENA, 64 << 10) }
}

/// Microseconds of the planner's choice for messages of a size, and of the best packet length and
/// number of slots.
pub fn search(at: &str, size: usize) -> Result<Vec<f64>> {
    let mut road = Road::open(at, size)?;
    let chosen = road.drive(Duration::from_millis(100))?;
    let count = road.count()?;
    let mut failed = None;
    let found = exhaustive(&grid(), DEPTH, size, chosen, 3, &mut |plan| {
        road.cost(plan, count).unwrap_or_else(|error| {
            failed.get_or_insert(error);
            f64::INFINITY
        })
    });
    eprintln!("{size} bytes: {:?} chosen, {:?} is the best", found.chosen, found.best);
    failed.map_or(Ok(vec![found.chosen_time / 1e3, found.best_time / 1e3]), Err)
}

/// Costs of messages, without those during which somebody else had the processor.
#[derive(Default)]
struct Costs(Vec<f64>);

impl Costs {
    fn mean(&mut self) -> f64 {
        let most = 8.0 * median(&mut self.0);
        let kept: Vec<f64> = self.0.iter().copied().filter(|&cost| cost <= most).collect();
        kept.iter().sum::<f64>() / kept.len() as f64
    }
}

/// After each of some flips: the mean cost of the planner's messages from 100 ms on, and that of
/// the best fixed plan meanwhile, in microseconds; of the flip after which they were farthest
/// apart.
pub fn flips(at: &str, size: usize, time: Duration) -> Result<Vec<f64>> {
    let mut road = Road::open(at, size)?;
    road.drive(Duration::from_millis(50))?;
    let count = road.count()?;
    let mut rings = Vec::new();
    for plan in grid().plans(size, DEPTH).collect::<Vec<_>>() {
        rings.push((plan, road.cost(plan, 3 * count)?));
    }
    let best = rings.iter().min_by(|a, b| a.1.total_cmp(&b.1));
    let (ring, ring_cost) = *best.context("there is no plan")?;
    let single = NEAR * ring_cost / road.cost(Plan::SingleCopy, 3 * count)?;
    let (mut worst, end) = ((0.0, 1.0), Instant::now() + time);
    let mut is_far = false;
    while Instant::now() < end {
        is_far = !is_far;
        road.injection.set(if is_far { NEAR * FAR } else { 1.0 }, single);
        road.drive(ANSWER)?;
        let found = beside(&mut road, [ring, Plan::SingleCopy])?;
        if found.0 / found.1 > worst.0 / worst.1 {
            worst = found;
        }
    }
    Ok(vec![worst.0 / 1e3, worst.1 / 1e3])
}

/// The planner and fixed plans in turn, for as long as an answer may take.
fn beside(road: &mut Road, fixed: [Plan; 2]) -> Result<(f64, f64)> {
    let (mut ours, mut theirs) = (Costs::default(), [Costs::default(), Costs::default()]);
    let start = Instant::now();
    while start.elapsed() < ANSWER {
        // As many of ours as the planner needs to stay what it is, and some of the others.
        for _ in 0..8 {
            ours.0.push(road.send(None)?.1);
        }
        for (plan, costs) in fixed.into_iter().zip(&mut theirs) {
            costs.0.push(road.send(Some(plan))?.1);
            costs.0.push(road.send(Some(plan))?.1);
        }
    }
    let [one, other] = theirs;
    let best = [one, other].map(|mut costs| costs.mean()).into_iter().fold(f64::INFINITY, f64::min);
    Ok((ours.mean(), best))
}

/// Fits the stages of a link as first contact does, and keeps what it found.
struct Fitter {
    found: Arc<Mutex<Option<Fitted>>>,
    /// Bytes until the ring has been gone round.
    round: usize,
}

impl Planner for Fitter {
    fn plan(&mut self, _: usize) -> Plan {
        Plan::Pipelined { packet: 64 << 10, slots: SHARED_ARENA / (64 << 10) }
    }

    fn is_new(&mut self, bytes: usize) -> bool {
        self.round = self.round.saturating_sub(bytes);
        self.round == 0 && self.found.lock().is_ok_and(|found| found.is_none())
    }

    fn meet(&mut self, _: &str, medium: &mut dyn Medium) {
        let costs = calibrate(medium, CONTACT);
        if !medium.is_absent() {
            *self.found.lock().unwrap_or_else(PoisonError::into_inner) = Some(costs);
        }
    }
}

/// What the slowest stage of the link could move, in MB/s, as fitted: messages of a size, close
/// behind one another, by the plan for which that is most.
pub fn stage(at: &str, size: usize) -> Result<f64> {
    let found = Arc::new(Mutex::new(None));
    let fits = found.clone();
    let planners: Planners =
        Arc::new(move |_| Box::new(Fitter { found: fits.clone(), round: 2 * SHARED_ARENA }));
    let deadline = patience();
    let mut link = Shared::new(planners).connect_link(&path(at)?, &hello(), deadline)?;
    let message = vec![1; size];
    loop {
        link.send(&[IoSlice::new(&message)], deadline)?;
        link.receive(&mut [0], deadline)?;
        let fitted = found.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(costs) = fitted {
            let grid = grid();
            let times = grid.plans(size, DEPTH).map(|plan| costs.streamed(plan, size));
            return Ok(size as f64 / times.fold(f64::INFINITY, f64::min) * 1e3);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::place::Home;
    use super::*;

    fn both(ask: impl Fn(&str) -> Result<Vec<f64>>) -> Vec<f64> {
        let home = Home::new().unwrap();
        let at = home.address("shm").unwrap();
        std::thread::scope(|scope| {
            let server = scope.spawn(|| serve(&at));
            let figures = loop {
                match ask(&at) {
                    Ok(figures) => break figures,
                    Err(error) if server.is_finished() => panic!("{error:#}"),
                    Err(_) => std::thread::sleep(Duration::from_millis(1)),
                }
            };
            server.join().unwrap().unwrap();
            figures
        })
    }

    #[test]
    fn a_search_and_a_flip_give_two_costs_each() {
        let found = both(|at| search(at, 65_536));
        assert!(found[0] >= found[1] && found[1] > 0.0, "{found:?}");
        let found = both(|at| flips(at, 65_536, Duration::from_millis(1)));
        assert!(found.len() == 2 && found.iter().all(|cost| *cost > 0.0), "{found:?}");
    }

    #[test]
    fn injected_costs_change_what_a_message_is_said_to_cost() {
        let found = both(|at| {
            let mut road = Road::open(at, 65_536)?;
            let plan = Plan::Pipelined { packet: 32 << 10, slots: 16 };
            let before = road.cost(plan, 20)?;
            road.injection.set(1000.0, 1.0);
            Ok(vec![before, road.cost(plan, 20)?])
        });
        assert!(found[1] > 10.0 * found[0], "{found:?}");
    }
}
