//! What this node's user asks for: asked of the master, and told to the user when it has ended, in
//! the order of the requests. What is under way is bounded; more is refused.

use super::member::{Core, Notice, Refusal, Request, Standing};
use super::message::{Carried, Message, Op, Outcome, What, Work};
use super::nodes::Nodes;
use crate::protocol::{Payload, Time};
use muster_base::limits::{PENDING_BYTES_MAX, PENDING_MAX, SET_RANGES_MAX, TRANSFER_MAX};
use std::sync::Arc;

/// An operation of this node's user.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Pending {
    /// What the user calls it.
    pub ticket: u64,
    /// What it is.
    pub work: Arc<Work>,
    /// Its data, until it has ended.
    pub body: Payload,
    /// The event here that is signalled when it is done.
    pub local: Option<u32>,
    /// Its sequence number, and how it ended.
    pub ended: Option<(u64, Outcome)>,
}

impl Core {
    /// Carries out a request.
    pub(super) fn requested(&mut self, now: Time, request: Request) {
        match request {
            Request::Transfer { ticket, set, region, offset, body, remote, local } => {
                let what = What::Transfer { region, offset, event: remote };
                let work = Work { op: self.next_op(), set, what };
                self.submit(Pending { ticket, work: Arc::new(work), body, local, ended: None });
            }
            Request::Compare { ticket, set, variable, relation, value, write } => {
                let what = What::Compare { variable, relation, value, write };
                let work = Arc::new(Work { op: self.next_op(), set, what });
                let body = Payload::default();
                self.submit(Pending { ticket, work, body, local: None, ended: None });
            }
            Request::Tell { region, body } => self.tell(region, body),
            Request::Set { variable, value } => {
                if variable < self.config.variables {
                    self.memory.set(variable, value);
                }
            }
            Request::Evidence { node } => self.evidence(now, node),
        }
    }

    fn next_op(&self) -> Op {
        Op { origin: self.config.node, number: self.number }
    }

    fn submit(&mut self, pending: Pending) {
        let (config, bytes) = (&self.config, pending.body.len());
        let no_local = || config.no_event(pending.local?);
        let outside = config.outside(&pending.work.what, bytes).or_else(no_local);
        let why = if pending.work.set.is_empty() {
            Refusal::Empty
        } else if pending.work.set.ranges().len() > SET_RANGES_MAX {
            Refusal::Scattered
        } else if bytes > TRANSFER_MAX {
            Refusal::Long(bytes)
        } else if let Some(why) = outside {
            why
        } else if matches!(self.standing, Standing::Outside(_)) {
            Refusal::NotMember
        } else if !self.has_room(bytes) {
            Refusal::Full
        } else {
            self.number += 1;
            self.pending_bytes += bytes;
            if self.standing == Standing::Member {
                self.ask(Carried::Ask(pending.work.clone(), pending.body.clone()));
            }
            self.pending.push_back(pending);
            return;
        };
        self.notices.push_back(Notice::Refused { ticket: pending.ticket, why });
    }

    /// Whether one more operation with so many bytes is taken.
    pub fn has_room(&self, bytes: usize) -> bool {
        self.pending.len() < PENDING_MAX && self.pending_bytes + bytes <= PENDING_BYTES_MAX
    }

    /// The master takes its own from the pending ones; see `sequencer.rs`.
    fn ask(&mut self, carried: Carried) {
        if !self.is_master() {
            let number = self.asking.post(carried.clone());
            self.send_ask(number, carried);
        }
    }

    pub(super) fn send_ask(&mut self, number: u64, carried: Carried) {
        let epoch = self.epoch;
        let ask = Message::Linked { epoch, number, expected: 0, done: 0, carried };
        self.send(self.config.master, &ask);
    }

    /// Another epoch: asks for all that has not ended.
    pub(super) fn ask_again(&mut self) {
        let open = self.pending.iter().filter(|pending| pending.ended.is_none());
        let asks: Vec<_> =
            open.map(|pending| Carried::Ask(pending.work.clone(), pending.body.clone())).collect();
        for ask in asks {
            self.ask(ask);
        }
    }

    /// Whom an operation of this node waits for, as far as this node knows. The master knows who
    /// has not answered; another node, whether the master has heard of it at all: if it has, all of
    /// the set are named. None when nothing of this node's is under way.
    pub fn awaited(&self, now: Time) -> Option<Nodes> {
        // They end in the order of asking: all wait for what the first one waits for.
        let first = self.pending.iter().find(|pending| pending.ended.is_none())?;
        let master = Nodes::one(self.config.master);
        let number = first.work.op.number;
        let is_untold =
            |kept: &Carried| matches!(kept, Carried::Ask(work, _) if work.op.number == number);
        match &self.sequencer {
            Some(_) => Some(self.missing(now)),
            None if self.standing != Standing::Member => Some(master),
            None if self.asking.kept().any(is_untold) => Some(master),
            None => Some(first.work.set.clone()),
        }
    }

    /// An operation of this node has ended.
    pub(super) fn complete(&mut self, number: u64, seq: u64, outcome: Outcome) {
        let at = self.pending.partition_point(|pending| pending.work.op.number < number);
        let pending = self.pending.get_mut(at).filter(|found| found.work.op.number == number);
        let Some(pending) = pending.filter(|_| outcome != Outcome::Again) else { return };
        pending.ended = Some((seq, outcome));
        self.flights.asked_here(seq, pending.body.len(), self.members.len());
        while let Some((seq, outcome)) = self.pending.front().and_then(|first| first.ended) {
            let Some(first) = self.pending.pop_front() else { return };
            self.pending_bytes -= first.body.len();
            if let (Outcome::Committed, Some(event)) = (outcome, first.local) {
                self.memory.signal(event);
            }
            let (ticket, seq) = (first.ticket, Some(seq));
            self.notices.push_back(Notice::Completed { ticket, seq, outcome });
        }
    }

    /// This node is no member any more: it will not learn how its operations end.
    pub(super) fn give_up(&mut self) {
        for pending in std::mem::take(&mut self.pending) {
            let (seq, outcome) = pending.ended.unzip();
            let (ticket, outcome) = (pending.ticket, outcome.unwrap_or(Outcome::Unknown));
            self.notices.push_back(Notice::Completed { ticket, seq, outcome });
        }
        self.pending_bytes = 0;
    }
}
