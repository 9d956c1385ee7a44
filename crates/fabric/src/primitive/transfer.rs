//! An operation at one node of the tree: staged, acknowledged upwards, decided, delivered.
//! Transfers and comparisons go the same way; a query ends with its answer on the way up.

use super::flight::Phase;
use super::member::{Core, Notice};
use super::message::{Carried, Outcome, What, Work, Wrote};
use super::tree::Branch;
use crate::protocol::Payload;
use std::sync::Arc;

/// Whether a decision has to be told there.
fn concerns(branch: &Branch, work: &Work) -> bool {
    branch.holds(work.op.origin) || (!work.is_query() && branch.meets(&work.set))
}

impl Core {
    /// Keeps an operation, passes it on, and acknowledges it once all below have.
    pub(super) fn stage(&mut self, seq: u64, work: Arc<Work>, body: Payload) {
        let mut waiting = 0;
        for child in 0..self.children.len() {
            if self.place.children[child].meets(&work.set) {
                waiting |= 1 << child;
                self.send_down(child, Carried::Stage(seq, work.clone(), body.clone()));
            }
        }
        let mine = work.set.contains(self.config.node);
        let holds = match work.what {
            What::Compare { variable, relation, value, .. } if mine => {
                self.memory.holds(variable, relation, value)
            }
            _ => true,
        };
        // The master keeps the data in any case: another epoch may need it.
        let body = if mine || self.is_master() { body } else { Payload::default() };
        let flight = self.flights.enter(seq, work, body);
        if flight.outcome().is_none() {
            (flight.phase, flight.waiting) = (Phase::Staging(holds), waiting);
        }
        self.acknowledge(seq);
    }

    /// Whether a child may acknowledge this.
    pub(super) fn may_gather(&mut self, seq: u64, child: usize) -> Result<(), &'static str> {
        match self.flights.get(seq) {
            Some(flight) if flight.waiting & (1 << child) != 0 => Ok(()),
            _ => Err("an acknowledgement of what is not under way"),
        }
    }

    /// All below a child have an operation.
    pub(super) fn gather(&mut self, seq: u64, child: usize, holds: bool) {
        let Some(flight) = self.flights.get(seq) else { return };
        let Phase::Staging(so_far) = flight.phase else { return };
        flight.phase = Phase::Staging(so_far && holds);
        flight.waiting &= !(1 << child);
        self.acknowledge(seq);
    }

    /// Tells the parent if all have it.
    fn acknowledge(&mut self, seq: u64) {
        let Some(flight) = self.flights.get(seq) else { return };
        let (0, Phase::Staging(holds)) = (flight.waiting, flight.phase) else { return };
        flight.phase = Phase::Staged(holds);
        let is_query = flight.work.is_query();
        if self.place.parent.is_none() {
            return;
        }
        if is_query {
            self.flights.remove(seq);
        }
        self.send_up(Carried::Staged(seq, holds));
    }

    /// Whether a decision can be carried out: what is to be delivered has to be here.
    pub(super) fn may_decide(
        &mut self,
        seq: u64,
        outcome: Outcome,
        work: &Work,
    ) -> Result<(), &'static str> {
        let mine = work.set.contains(self.config.node) && !work.is_query();
        let delivers = mine && outcome == Outcome::Committed && seq > self.flights.last;
        match self.flights.get(seq) {
            Some(flight) if *flight.work != *work => Err("a decision on something else"),
            None if delivers => Err("a decision on what was never staged"),
            _ => Ok(()),
        }
    }

    /// Carries out a decision, unless that was done before, and passes it on.
    pub(super) fn decide(&mut self, seq: u64, outcome: Outcome, work: Arc<Work>) {
        let flight = self.flights.enter(seq, work.clone(), Payload::default());
        let body = std::mem::take(&mut flight.body);
        flight.phase = Phase::Decided(outcome);
        if seq > self.flights.last {
            self.flights.last = seq;
            if outcome == Outcome::Committed {
                self.deliver(seq, &work, body);
            }
        }
        if work.op.origin == self.config.node {
            self.complete(work.op.number, seq, outcome);
        }
        let mut waiting = 0;
        for child in 0..self.children.len() {
            if concerns(&self.place.children[child], &work) {
                waiting |= 1 << child;
                self.send_down(child, Carried::Decide(seq, outcome, work.clone()));
            }
        }
        if let Some(flight) = self.flights.get(seq) {
            flight.waiting = waiting;
        }
        if !self.is_master() {
            self.flights.pass_over(seq);
        }
        self.flights.advance();
        self.report();
    }

    /// Makes an operation visible here.
    fn deliver(&mut self, seq: u64, work: &Work, body: Payload) {
        let mine = work.set.contains(self.config.node);
        match work.what {
            What::Transfer { region, offset, event } if mine => {
                if let Some(event) = event {
                    self.memory.signal(event);
                }
                let origin = work.op.origin;
                self.notices.push_back(Notice::Delivered {
                    seq,
                    origin,
                    region,
                    offset,
                    body,
                    event,
                });
            }
            What::Compare { write: Some((variable, value)), .. } => {
                if mine || self.is_master() {
                    self.memory.note(Wrote { variable, seq, value });
                }
                if mine {
                    self.memory.set(variable, value);
                    self.notices.push_back(Notice::Written { seq, variable, value });
                }
            }
            _ => {}
        }
    }

    /// Says how far all is done, where that is due.
    pub(super) fn report(&mut self) {
        let done = self.flights.done;
        if let Some(sequencer) = &mut self.sequencer {
            sequencer.bytes -= self.flights.forget(done);
        } else if self.flights.is_report_due(self.members.len()) {
            self.flush_parent();
        }
    }
}
