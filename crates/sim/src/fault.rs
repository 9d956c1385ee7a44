//! What goes wrong in a run: a schedule that is drawn from the seed, printed, and cut down.
//!
//! Each fault mends itself after a time, or never; so any part of a schedule is a schedule, and a
//! failing one is made smaller by leaving faults out ([`shrink`]).

use crate::random::Random;
use muster_fabric::protocol::NodeId;
use std::fmt;

/// One fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A node dies, and a new life of it begins after so long, if at all.
    Kill(NodeId, Option<u64>),
    /// A node stands still for so long; what arrives meanwhile waits.
    Pause(NodeId, u64),
    /// A node's processor takes so many times as long, for so long.
    Slow(NodeId, u64, u64),
    /// A connection of the first node ends, though both nodes live: the one with the second if they
    /// have one.
    Reset(NodeId, NodeId),
    /// Nothing gets through between these nodes and all others, for so long.
    Cut(Vec<NodeId>, u64),
    /// Nothing gets from the first node to the second (or to one of those that it talks with), nor
    /// back if that is said, for so long; though both may reach all others. If it is for ever,
    /// neither is node 0: they all have a way to that one.
    Block(NodeId, NodeId, bool, Option<u64>),
    /// Every message takes so much longer, for so long.
    Spike(u64, u64),
}

impl Fault {
    /// After how long it has mended itself, if ever.
    pub fn lasts(&self) -> u64 {
        match self {
            Fault::Kill(_, time) | Fault::Block(.., time) => time.unwrap_or(0),
            Fault::Pause(_, time)
            | Fault::Slow(_, _, time)
            | Fault::Cut(_, time)
            | Fault::Spike(_, time) => *time,
            Fault::Reset(..) => 0,
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Kill(node, None) => write!(f, "kill {node}"),
            Fault::Kill(node, Some(back)) => {
                write!(f, "kill {node}, back after {}", Micros(*back))
            }
            Fault::Pause(node, time) => write!(f, "pause {node} for {}", Micros(*time)),
            Fault::Slow(node, times, time) => {
                write!(f, "slow {node} {times} times for {}", Micros(*time))
            }
            Fault::Reset(a, b) => write!(f, "reset {a} to {b}, or one of its other connections"),
            Fault::Cut(nodes, time) => {
                let nodes: Vec<_> = nodes.iter().map(|node| node.0.to_string()).collect();
                write!(f, "cut nodes {} off for {}", nodes.join(","), Micros(*time))
            }
            Fault::Block(a, b, both, time) => {
                let way = if *both { "and" } else { "to" };
                write!(f, "block {a} {way} {b}, or another that it talks with")?;
                time.map_or(Ok(()), |time| write!(f, ", for {}", Micros(time)))
            }
            Fault::Spike(more, time) => {
                write!(f, "delay all by {} for {}", Micros(*more), Micros(*time))
            }
        }
    }
}

/// Nanoseconds, for people.
pub struct Micros(pub u64);

impl fmt::Display for Micros {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:03} us", self.0 / 1000, self.0 % 1000)
    }
}

/// What may be drawn.
#[derive(Clone, Debug)]
pub struct Range {
    /// How many nodes the cluster has.
    pub nodes: u32,
    /// The first fault comes after this, the last one before the second.
    pub when: (u64, u64),
    /// At most so many.
    pub faults: u64,
    /// The longest time after which a fault has mended itself.
    pub longest: u64,
    /// How many nodes in a million that die stay dead.
    pub forever: u32,
    /// How many ways in a million that are blocked stay so.
    pub blocked: u32,
}

/// Faults with their moments, in their order.
pub type Schedule = Vec<(u64, Fault)>;

/// Draws a schedule.
pub fn draw(random: &mut Random, range: &Range) -> Schedule {
    let count = random.below(range.faults + 1);
    let mut faults: Schedule = (0..count)
        .map(|_| {
            let time = random.between(range.when.0, range.when.1);
            (time, draw_one(random, range))
        })
        .collect();
    faults.sort_by_key(|(time, _)| *time);
    faults
}

fn draw_one(random: &mut Random, range: &Range) -> Fault {
    let mut node = || NodeId(random.below(u64::from(range.nodes)) as u32);
    let (a, b) = (node(), node());
    // Short faults are as likely as long ones: each length has as many bits as it likes.
    let bits = random.between(4, u64::from(range.longest.ilog2()));
    let time = random.between(1 << bits, (2 << bits).min(range.longest));
    let some_time = |random: &mut Random, never| (!random.happens(never)).then_some(time);
    match random.below(11) {
        0..=2 => Fault::Kill(a, some_time(random, range.forever)),
        3..=4 => Fault::Pause(a, time),
        5 => Fault::Slow(a, random.between(2, 200), time),
        6 if a != b => Fault::Reset(a, b),
        7..=8 => Fault::Cut(island(random, range), time),
        9 => Fault::Block(a, b, random.happens(500_000), some_time(random, range.blocked)),
        _ => Fault::Spike(random.below(time / 4 + 1), time),
    }
}

/// Some nodes, most often few.
fn island(random: &mut Random, range: &Range) -> Vec<NodeId> {
    let count = 1 + random.below(u64::from(range.nodes) / 2).min(random.around(2));
    let mut nodes: Vec<_> =
        (0..count).map(|_| NodeId(random.below(u64::from(range.nodes)) as u32)).collect();
    nodes.sort();
    nodes.dedup();
    nodes
}

/// The faults of a schedule that are enough to make a run fail: first the shortest beginning of
/// it, by halves, then one fault after the other is left out. `fails` runs it.
pub fn shrink(schedule: &Schedule, mut fails: impl FnMut(&Schedule) -> bool) -> Schedule {
    let (mut good, mut bad) = (0, schedule.len());
    while good < bad {
        let middle = good + (bad - good) / 2;
        if fails(&schedule[..middle].to_vec()) {
            bad = middle;
        } else {
            good = middle + 1;
        }
    }
    let mut least = schedule[..bad].to_vec();
    for at in (0..least.len()).rev() {
        let mut less = least.clone();
        less.remove(at);
        if fails(&less) {
            least = less;
        }
    }
    least
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failing_schedule_shrinks_to_the_faults_that_make_it_fail() {
        let range = Range {
            nodes: 64,
            when: (0, crate::SECOND),
            faults: 60,
            longest: crate::SECOND,
            forever: 0,
            blocked: 0,
        };
        let mut random = Random::new(9);
        let schedule: Schedule = std::iter::repeat_with(|| draw(&mut random, &range))
            .find(|schedule| schedule.len() > 20)
            .expect("it never ends");
        let needed = [schedule[3].clone(), schedule[11].clone()];
        let least = shrink(&schedule, |part| needed.iter().all(|fault| part.contains(fault)));
        assert_eq!(least, needed);
    }
}
