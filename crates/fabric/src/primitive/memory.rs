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

    /// Takes over what others have written: the state of a node that joins.
    pub fn adopt(&mut self, written: &[Wrote]) {
        for &wrote in written {
            self.note(wrote);
        }
        for (&variable, &(_, value)) in &self.written {
            self.variables[variable as usize] = value;
        }
    }
}
