//! Machines whose processors several nodes share.

use super::Engine;
use crate::engine::User;
use muster_fabric::protocol::{NodeId, Protocol};

/// When each of its processors is free.
pub(super) struct Machine {
    free: Vec<u64>,
}

impl Machine {
    /// Takes a processor for `time`, not before `from`; when that is over. The one is taken that is
    /// free last of those that are free in time, so that no gap is left which another could use.
    fn take(&mut self, from: u64, time: u64) -> u64 {
        let in_time = self.free.iter().enumerate().filter(|(_, free)| **free <= from);
        let last = in_time.max_by_key(|(_, free)| **free);
        let first = || self.free.iter().enumerate().min_by_key(|(_, free)| **free);
        let (at, free) = last.or_else(first).expect("a machine has processors");
        let end = from.max(*free) + time;
        self.free[at] = end;
        end
    }
}

impl<P: Protocol, U: User<P>> Engine<P, U> {
    /// Puts nodes on a machine with so many processors, which they share from now on.
    pub fn put_on(&mut self, nodes: std::ops::Range<u32>, processors: usize) {
        let machine = Some(self.machines.len() as u32);
        self.machines.push(Machine { free: vec![self.now; processors] });
        for node in nodes {
            self.nodes[node as usize].machine = machine;
        }
    }

    /// For how long a node has computed.
    pub fn used(&self, node: NodeId) -> u64 {
        self.nodes[node.0 as usize].used
    }

    /// A node computes for `time`, not before `from`: when it is done.
    pub(super) fn compute(&mut self, number: u32, from: u64, time: u64) -> u64 {
        self.nodes[number as usize].used += time;
        match self.nodes[number as usize].machine {
            Some(machine) if time > 0 => self.machines[machine as usize].take(from, time),
            _ => from + time,
        }
    }

    /// A node works beside its protocol: when it is done.
    pub(super) fn work(&mut self, number: u32, from: u64, time: u64) -> u64 {
        let node = &self.nodes[number as usize];
        let (from, time) = (from.max(node.worked), time * node.slow);
        let end = self.compute(number, from, time);
        self.nodes[number as usize].worked = end;
        end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_takes_the_processor_that_leaves_the_smallest_gap() {
        let mut machine = Machine { free: vec![0, 0] };
        assert_eq!(machine.take(10, 5), 15);
        assert_eq!(machine.take(0, 10), 10, "the other one is free");
        assert_eq!(machine.take(12, 3), 15, "the one that is free at 10");
        assert_eq!(machine.take(0, 1), 16, "both are taken until 15");
    }
}
