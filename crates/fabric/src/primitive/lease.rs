//! Leases. A member may deliver and answer only while the master has promised not to go on without
//! it. The promise counts from the moment at which the member *sent* what the master answered, by
//! the member's clock; the master waits a lease and some slack from the moment at which it *heard*
//! of the member, by its own. So the member stops first, though nobody compares clocks.

use super::member::{Core, Standing};
use super::message::Message;
use crate::protocol::{NodeId, Time};
use std::time::Duration;

/// A member's lease and beat.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Lease {
    /// It ends then; there is none before the first was granted.
    pub until: Option<Time>,
    /// The next tick.
    pub next_beat: Time,
}

impl Lease {
    /// None.
    pub fn new(now: Time) -> Lease {
        Lease { until: None, next_beat: now }
    }

    /// Whether it has not ended.
    pub fn is_good(&self, now: Time) -> bool {
        self.until.is_some_and(|until| now < until)
    }

    /// It counts from this moment.
    pub fn extend(&mut self, from: Time, lease: Duration) {
        self.until = self.until.max(Some(from + lease));
    }

    /// It is over.
    pub fn end(&mut self) {
        self.until = None;
    }
}

impl Core {
    /// Asks for more time.
    pub(super) fn send_renew(&mut self, now: Time) {
        if !self.is_master() {
            let renew = Message::Renew { epoch: self.epoch, stamp: now.0 };
            self.send(self.config.master, &renew);
        }
    }

    /// At the master: a member asks for more time.
    pub(super) fn renew(
        &mut self,
        now: Time,
        from: NodeId,
        epoch: u64,
        stamp: u64,
    ) -> Result<(), &'static str> {
        let Some(sequencer) = self.sequencer.as_mut() else {
            return Err("a renewal to a node that does not lead");
        };
        if sequencer.collecting.is_some() || epoch > self.epoch {
            return Ok(());
        }
        let mut answer = Message::Granted { epoch: self.epoch, stamp };
        match sequencer.heard.get_mut(&from) {
            // An earlier life of a node that has joined again.
            Some(_) if sequencer.fresh.get(&from).is_some_and(|(since, _)| epoch < *since) => {
                return Ok(());
            }
            Some(heard) => {
                *heard = now;
                sequencer.fresh.remove(&from);
            }
            None => {
                answer = Message::Standing { epoch: self.epoch, incarnation: 0, member: false };
            }
        }
        self.send(from, &answer);
        Ok(())
    }

    /// More time, from when it was asked for. What is later than now an earlier life of this node
    /// has asked for, whose clock was ahead of this one's.
    pub(super) fn granted(
        &mut self,
        from: NodeId,
        stamp: Time,
        now: Time,
    ) -> Result<(), &'static str> {
        if from != self.config.master {
            return Err("a lease from a node that does not lead");
        }
        if self.standing != Standing::Outside(stamp) && stamp <= now {
            self.lease.extend(stamp, self.config.lease);
        }
        Ok(())
    }

    /// At the master: who was not heard of for too long is removed, who asked for it is taken in.
    pub(super) fn tick_master(&mut self, now: Time) {
        let Some(sequencer) = &mut self.sequencer else { return };
        // A node that wakes up suspects itself first: what it was sent meanwhile waits to be read.
        let slept = now - sequencer.ticked > self.config.lease / 2;
        sequencer.ticked = now;
        if sequencer.collecting.is_some() {
            return self.tick_collection(now);
        }
        if slept {
            sequencer.heard.values_mut().for_each(|heard| *heard = now);
        }
        let (patience, master) = (self.config.lease + self.config.slack, self.config.node);
        let silent: Vec<NodeId> = sequencer
            .heard
            .iter()
            .filter(|(node, heard)| **node != master && now - **heard > patience)
            .map(|(node, _)| *node)
            .collect();
        if !silent.is_empty() || !sequencer.joining.is_empty() {
            self.reopen(now, &silent);
        }
    }
}
