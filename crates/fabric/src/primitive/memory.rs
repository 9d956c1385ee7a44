//! A node's part of global memory: variables and events. Regions are the shell's: the core checks
//! writes against their sizes and hands them out as notices.

use super::message::{Relation, Wrote};
use std::collections::BTreeMap;

/// Variables and events of one node.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Memory {
    variables: Vec<u64>,
    events: Vec<u64>,
    /// What COMPARE-AND-WRITE last wrote into each variable, and with which sequence number. The
    /// master has it for all node sets: it is the state that a joining node starts with.
    written: BTreeMap<u32, (u64, u64)>,
}

impl Memory {
    /// All zero.
    pub fn new(variables: u32, events: u32) -> Memory {
        let zero = |count: u32| vec![0; count as usize];
        Memory { variables: zero(variables), events: zero(events), written: BTreeMap::new() }
    }

    /// A variable's value.
    pub fn variable(&self, variable: u32) -> Option<u64> {
        self.variables.get(variable as usize).copied()
    }

    /// How often an event was signalled.
    pub fn event(&self, event: u32) -> Option<u64> {
        self.events.get(event as usize).copied()
    }

    /// Whether a comparison holds here.
    pub fn holds(&self, variable: u32, relation: Relation, value: u64) -> bool {
        let here = self.variables[variable as usize];
        match relation {
            Relation::AtLeast => here >= value,
            Relation::Less => here < value,
            Relation::Equal => here == value,
            Relation::NotEqual => here != value,
        }
    }

    /// Sets this node's instance of a variable.
    pub fn set(&mut self, variable: u32, value: u64) {
        self.variables[variable as usize] = value;
    }

    /// Signals an event.
    pub fn signal(&mut self, event: u32) {
        self.events[event as usize] += 1;
    }

    /// Notes what was written, at the node itself and at the master.
    pub fn note(&mut self, wrote: Wrote) {
        let entry = self.written.entry(wrote.variable).or_default();
        *entry = (*entry).max((wrote.seq, wrote.value));
    }

    /// What was written, by variable.
    pub fn written(&self) -> Vec<Wrote> {
        let wrote =
            |(&variable, &(seq, value)): (&u32, &(u64, u64))| Wrote { variable, seq, value };
        self.written.iter().map(wrote).collect()
    }

    /// Learns what others have written: a restarted master.
    pub fn learn(&mut self, written: &[Wrote]) {
        for &wrote in written {
            self.note(wrote);
        }
        for (&variable, &(_, value)) in &self.written {
            self.variables[variable as usize] = value;
        }
    }

    /// Takes over what was written in place of what was written here: the state of a node that
    /// joins. What it alone was told of, and the others did not do, is nowhere then.
    pub fn adopt(&mut self, written: &[Wrote]) {
        for variable in std::mem::take(&mut self.written).into_keys() {
            self.variables[variable as usize] = 0;
        }
        self.learn(written);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// It was cut off when it alone was told of a write, and the master was restarted.
    #[test]
    fn who_joins_again_has_what_the_others_have_written_and_nothing_else() {
        let mut memory = Memory::new(4, 0);
        memory.set(3, 9);
        memory.learn(&[1, 2].map(|variable| Wrote { variable, seq: 5, value: 7 }));
        memory.adopt(&[Wrote { variable: 1, seq: 4, value: 6 }]);
        let values: Vec<_> = (0..4).filter_map(|variable| memory.variable(variable)).collect();
        assert_eq!(values, [0, 6, 0, 9]);
        assert_eq!(memory.written(), [Wrote { variable: 1, seq: 4, value: 6 }]);
    }
}
