//! What the primitives cost in large clusters: the shipped core at 2 to 16,384 nodes, against the
//! least that LogGP allows a tree.
//!
//! The *bound* is the time of the same sweeps in a balanced tree in which nobody does anything but
//! to send and receive, for the arity with which that is quickest. A query is a sweep down and up;
//! a transfer is done at its origin after that, and visible everywhere after another sweep down.

use crate::engine::{Agenda, Engine, Moment, User};
use crate::launch::model::Machines;
use crate::network::{Costs, Network};
use crate::{MICRO, MILLI, SECOND};
use muster_fabric::primitive::{Config, Core, Nodes, Notice, Relation, Request};
use muster_fabric::protocol::{NodeId, Payload};
use std::collections::HashMap;

/// Who leads and asks.
const MASTER: NodeId = NodeId(0);

/// The first operation begins then: all leases are granted, and none is renewed for long.
const BEGIN: u64 = 40 * MILLI;

/// How long one operation may take at most.
const ROOM: u64 = 10 * MILLI;

/// The arity of the daemons' trees.
const DAEMONS_ARITY: usize = 16;

/// The arities tried.
const ARITIES: std::ops::RangeInclusive<usize> = 2..=16;

/// One size of a cluster.
#[derive(Clone, Debug)]
pub struct Point {
    /// How many nodes.
    pub nodes: u32,
    /// The arity with which a query is quickest.
    pub arity: usize,
    /// COMPARE-AND-WRITE without a write: from asking to the answer, in nanoseconds.
    pub query: u64,
    /// The least it can be.
    pub query_bound: u64,
    /// XFER-AND-SIGNAL of no bytes: until it is visible at the last node.
    pub transfer: u64,
    /// The least that can be.
    pub transfer_bound: u64,
}

/// Measures clusters of 2 nodes to 16,384.
pub fn points(costs: Costs) -> Vec<Point> {
    (1..=14).map(|power| point(1 << power, costs)).collect()
}

/// Measures one size.
pub fn point(nodes: u32, costs: Costs) -> Point {
    let size = nodes as usize;
    let bound = |of: fn(usize, usize, Costs) -> u64| {
        ARITIES.map(|arity| (of(size, arity, costs), arity)).min().expect("there are arities")
    };
    let (query_bound, arity) = bound(sweep);
    let (transfer_bound, other) =
        bound(|nodes, arity, costs| sweep(nodes, arity, costs) + down(nodes, arity, costs));
    let query = run(nodes, arity, costs).0;
    let transfer = run(nodes, other, costs).1;
    Point { nodes, arity, query, query_bound, transfer, transfer_bound }
}

/// The query's and the transfer's time at a fixed arity.
pub fn run(nodes: u32, arity: usize, costs: Costs) -> (u64, u64) {
    let mut engine = cluster(nodes, arity, costs);
    engine.ask(BEGIN, MASTER, query(nodes));
    engine.run(BEGIN + ROOM, |_| false);
    let query = engine.user.last.expect("the query is answered") - BEGIN;
    let ask = engine.now();
    let (set, body) = (Nodes::range(0..=nodes - 1), Payload::default());
    let transfer = Request::Transfer {
        ticket: 1,
        set,
        region: 0,
        offset: 0,
        body,
        remote: Some(0),
        local: None,
    };
    engine.ask(0, MASTER, transfer);
    engine.run(ask + ROOM, |_| false);
    assert_eq!(engine.user.delivered, nodes, "it is delivered everywhere");
    (query, engine.user.last.expect("it is delivered") - ask)
}

/// How long a query takes in a cluster with the daemons' arity, or a letter of so many bytes until
/// its sender knows that it is everywhere; on machines whose processors are shared. All time that
/// there is if it takes a second.
pub(crate) fn once(nodes: u32, costs: Costs, machines: Machines, bytes: Option<usize>) -> u64 {
    let mut engine = cluster(nodes, DAEMONS_ARITY, costs);
    machines.place(nodes, |range, processors| engine.put_on(range, processors));
    engine.run(BEGIN, |_| false);
    let request = match bytes {
        None => query(nodes),
        Some(bytes) => Request::Transfer {
            ticket: 1,
            set: Nodes::range(0..=nodes - 1),
            region: 0,
            offset: 0,
            body: vec![0; bytes].into(),
            remote: None,
            local: Some(0),
        },
    };
    let begin = engine.now();
    engine.user.completed = None;
    engine.ask(0, MASTER, request);
    engine.run(begin + SECOND, |user| user.completed.is_some());
    engine.user.completed.map_or(u64::MAX, |at| at - begin)
}

/// Events in a second of this thread's processor time, with queries one after the other.
pub fn rate(nodes: u32, events: u64) -> f64 {
    let mut engine = cluster(nodes, 4, Costs::FAST);
    engine.user.again = Some(query(nodes));
    engine.run(BEGIN, |_| false);
    engine.ask(0, MASTER, query(nodes));
    let (first, start) = (engine.events(), processor_time());
    while engine.events() - first < events {
        engine.run(engine.now() + MILLI, |_| false);
    }
    (engine.events() - first) as f64 / (processor_time() - start).max(1) as f64 * 1e9
}

/// Nanoseconds that this thread has had a processor: others that run here do not count.
fn processor_time() -> u64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split(' ').next().and_then(|time| time.parse().ok()).unwrap_or(0)
}

fn query(nodes: u32) -> Request {
    Request::Compare {
        ticket: 0,
        set: Nodes::range(0..=nodes - 1),
        variable: 0,
        relation: Relation::Equal,
        value: 0,
        write: None,
    }
}

fn cluster(nodes: u32, arity: usize, costs: Costs) -> Engine<Core, Clock> {
    let user = Clock { members: Nodes::range(0..=nodes - 1), arity, ..Clock::default() };
    Engine::new(1, nodes, false, Network::calm(costs), user)
}

/// Notes when things happen.
struct Clock {
    members: Nodes,
    arity: usize,
    /// When the last completion or delivery was.
    last: Option<u64>,
    delivered: u32,
    /// When the last completion was.
    completed: Option<u64>,
    /// Asked again and again.
    again: Option<Request>,
}

impl Default for Clock {
    fn default() -> Clock {
        Clock {
            members: Nodes::none(),
            arity: 0,
            last: None,
            delivered: 0,
            completed: None,
            again: None,
        }
    }
}

impl User<Core> for Clock {
    fn begin(&mut self, at: Moment, _agenda: &mut Agenda<Request>) -> Core {
        let config = Config {
            arity: self.arity,
            regions: vec![1 << 20],
            variables: 4,
            events: 4,
            beat: std::time::Duration::from_nanos(SECOND),
            lease: std::time::Duration::from_nanos(10 * SECOND),
            ..Config::new(at.node, 1 << 32)
        };
        Core::member(config, self.members.clone(), at.clock)
    }

    fn notice(&mut self, at: Moment, notice: Notice, agenda: &mut Agenda<Request>) {
        self.last = self.last.max(Some(at.now));
        match notice {
            Notice::Delivered { .. } => self.delivered += 1,
            Notice::Completed { .. } => {
                self.completed = Some(at.now);
                if let Some(request) = &self.again {
                    agenda.ask(MICRO, MASTER, request.clone());
                }
            }
            _ => {}
        }
    }
}

/// The sizes of the subtrees of a node with so many below it, and how often each.
fn below(count: usize, arity: usize) -> Vec<usize> {
    (0..arity).map(|part| count * (part + 1) / arity - count * part / arity).collect()
}

/// When the last node has a message that the root of a tree of so many has at 0.
pub fn down(nodes: usize, arity: usize, costs: Costs) -> u64 {
    fn of(nodes: usize, arity: usize, costs: Costs, known: &mut HashMap<usize, u64>) -> u64 {
        if let Some(time) = known.get(&nodes) {
            return *time;
        }
        let parts = below(nodes - 1, arity).into_iter().filter(|part| *part > 0);
        let step = costs.overhead.max(costs.gap);
        let last = parts.enumerate().map(|(at, part)| {
            let there = costs.overhead + step * at as u64 + costs.latency + costs.overhead;
            there + of(part, arity, costs, known)
        });
        let time = last.max().unwrap_or(0);
        known.insert(nodes, time);
        time
    }
    of(nodes, arity, costs, &mut HashMap::new())
}

/// When the root of a tree of so many, which sends a message down at 0, has heard from all.
pub fn sweep(nodes: usize, arity: usize, costs: Costs) -> u64 {
    fn of(nodes: usize, arity: usize, costs: Costs, known: &mut HashMap<usize, u64>) -> u64 {
        if let Some(time) = known.get(&nodes) {
            return *time;
        }
        let parts = below(nodes - 1, arity).into_iter().filter(|part| *part > 0);
        let step = costs.overhead.max(costs.gap);
        let way = costs.overhead + costs.latency;
        let mut sent = 0;
        let mut answers: Vec<u64> = parts
            .enumerate()
            .map(|(at, part)| {
                sent = costs.overhead + step * at as u64;
                sent + costs.latency + costs.overhead + of(part, arity, costs, known) + way
            })
            .collect();
        answers.sort_unstable();
        // They are received one after the other.
        let time = answers.into_iter().fold(sent, |free, at| free.max(at) + costs.overhead);
        known.insert(nodes, time);
        time
    }
    of(nodes, arity, costs, &mut HashMap::new())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bound_of_two_nodes_is_two_messages() {
        let costs = Costs { latency: 1000, overhead: 100, gap: 50, byte: 0, copy: 0 };
        assert_eq!((down(2, 4, costs), sweep(2, 4, costs)), (1200, 2400));
        // Four children: the last one's message leaves three overheads later; its answer is last.
        assert_eq!((down(5, 4, costs), sweep(5, 4, costs)), (1500, 2700));
    }

    #[test]
    fn queries_and_transfers_stay_within_a_fifth_of_the_bound_at_all_sizes() {
        for nodes in [2, 64, 1024] {
            let point = point(nodes, Costs::FAST);
            assert!(point.query <= point.query_bound * 12 / 10, "{point:?}");
            assert!(point.transfer <= point.transfer_bound * 12 / 10, "{point:?}");
            assert!(point.query >= point.query_bound, "a bound is one: {point:?}");
        }
    }
}
