//! Operations under way at a node, by sequence number, and how far they are done.
//!
//! An operation is *staged* (its data is here), then *decided*; it is *done* here when all nodes
//! below have said that it is done there, and *stable* when it is done at the root. What is decided
//! is remembered until it is stable: a restarted master asks for it.
//!
//! Decisions come in the order of sequence numbers, so how far all is done is one number.

use super::message::{Outcome, Work};
use crate::protocol::Payload;
use muster_base::limits::{STAGED_BYTES_MAX, STAGED_MAX};
use std::collections::VecDeque;
use std::sync::Arc;

/// Say how far all is done at the latest after so many operations, and not with the next message
/// only: the master keeps a bounded number of operations under way.
const UNREPORTED_MAX: usize = 4;

/// So many of them all members together may keep to themselves, so that room is left for others. A
/// member that is idle may hold up what was begun after the one that it has not told of until its
/// next beat all the same: they are forgotten in their order.
const UNREPORTED_BY_ALL: usize = STAGED_MAX - STAGED_MAX / 8;

/// No child of this epoch has been sent it.
const UNSENT: u128 = u128::MAX;

/// How far an operation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// Some below do not have it yet; whether the comparison holds so far.
    Staging(bool),
    /// All have it.
    Staged(bool),
    /// It has ended.
    Decided(Outcome),
}

/// An operation under way.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Flight {
    /// Its sequence number.
    pub seq: u64,
    /// What it is.
    pub work: Arc<Work>,
    /// Its data, until it is decided.
    pub body: Payload,
    /// How many bytes that were: the master counts them until it is stable.
    pub size: usize,
    /// How far it is.
    pub phase: Phase,
    /// The children that have not yet staged it, or done it once it is decided.
    pub waiting: u128,
    /// At the master: it will end so.
    pub doom: Option<Outcome>,
}

impl Flight {
    /// How it ended.
    pub fn outcome(&self) -> Option<Outcome> {
        match self.phase {
            Phase::Decided(outcome) => Some(outcome),
            _ => None,
        }
    }
}

/// All of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Flights {
    /// Sorted by sequence number.
    flights: VecDeque<Flight>,
    /// The highest decided one that was seen: what is decided up to it was carried out.
    pub last: u64,
    /// Done here and below.
    pub done: u64,
    /// Done everywhere, as far as is known here.
    pub stable: u64,
    /// The parent knows that it is done up to this one.
    reported: u64,
    /// Done since, without a report.
    unreported: usize,
    /// The last that keeps so much of the master's room that its report cannot wait.
    much: u64,
}

impl Flights {
    /// None, after all up to these are decided and done.
    pub fn after(last: u64, done: u64) -> Flights {
        Flights { last, done, ..Flights::default() }
    }

    /// In order.
    pub fn iter(&self) -> impl Iterator<Item = &Flight> {
        self.flights.iter()
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.flights.len()
    }

    /// The one of that number.
    pub fn get(&mut self, seq: u64) -> Option<&mut Flight> {
        self.at(seq).ok().and_then(|at| self.flights.get_mut(at))
    }

    /// The first that is not decided, at the master.
    pub fn first_undecided(&self) -> Option<&Flight> {
        self.flights.get(self.flights.partition_point(|flight| flight.seq <= self.last))
    }

    /// The first that is not decided, or else the first that is not done everywhere, at the master.
    pub fn first_open(&self) -> Option<&Flight> {
        self.first_undecided().or_else(|| self.iter().find(|flight| flight.waiting != 0))
    }

    fn at(&self, seq: u64) -> Result<usize, usize> {
        match self.flights.back() {
            Some(back) if back.seq < seq => Err(self.flights.len()),
            Some(back) if back.seq == seq => Ok(self.flights.len() - 1),
            _ => self.flights.binary_search_by_key(&seq, |flight| flight.seq),
        }
    }

    /// The one of that number, which is new if there was none.
    pub fn enter(&mut self, seq: u64, work: Arc<Work>, body: Payload) -> &mut Flight {
        let at = match self.at(seq) {
            Ok(at) => at,
            Err(at) => {
                let (size, phase) = (body.len(), Phase::Staging(true));
                let flight = Flight { seq, work, body, size, phase, waiting: UNSENT, doom: None };
                self.flights.insert(at, flight);
                at
            }
        };
        &mut self.flights[at]
    }

    /// One of which nothing is kept.
    pub fn remove(&mut self, seq: u64) {
        if let Ok(at) = self.at(seq) {
            self.flights.remove(at);
        }
    }

    /// All, of which nothing is known any more.
    pub fn clear(&mut self) {
        *self = Flights::after(self.last, 0);
    }

    /// Another epoch: every child has to be sent everything again that is not stable.
    pub fn restart(&mut self, stable: u64) {
        self.forget(stable);
        (self.done, self.stable, self.reported, self.unreported) = (stable, stable, stable, 0);
        for flight in &mut self.flights {
            flight.waiting = UNSENT;
        }
    }

    /// All up to this one are done everywhere; returns the bytes they had.
    pub fn forget(&mut self, stable: u64) -> usize {
        let mut bytes = 0;
        while self.flights.front().is_some_and(|flight| flight.seq <= stable) {
            bytes += self.flights.pop_front().map_or(0, |flight| flight.size);
        }
        self.stable = self.stable.max(stable);
        bytes
    }

    /// A child has done all up to this one.
    pub fn done_below(&mut self, child: usize, done: u64) {
        if done <= self.done {
            return;
        }
        let first = self.flights.partition_point(|flight| flight.seq <= self.done);
        for flight in self.flights.range_mut(first..) {
            if flight.seq > done {
                break;
            }
            if flight.outcome().is_some() && flight.waiting != UNSENT {
                flight.waiting &= !(1 << child);
            }
        }
        self.advance();
    }

    /// This one is decided. What came before it and was not sent here in this epoch will not be:
    /// it concerned this node as a relay in an earlier tree, and must not be waited for.
    pub fn pass_over(&mut self, seq: u64) {
        let is_left = |flight: &Flight| flight.seq < seq && flight.waiting == UNSENT;
        self.flights.retain(|flight| !is_left(flight) || flight.outcome().is_some());
        for flight in self.flights.iter_mut().filter(|flight| is_left(flight)) {
            flight.waiting = 0;
        }
    }

    /// Looks how far all is done.
    pub fn advance(&mut self) {
        let first = self.flights.partition_point(|flight| flight.seq <= self.done);
        for flight in self.flights.range(first..) {
            if flight.outcome().is_none() || flight.waiting != 0 {
                break;
            }
            self.done = flight.seq;
            self.unreported += 1;
        }
    }

    /// What the parent is told.
    pub fn report(&mut self) -> u64 {
        (self.reported, self.unreported) = (self.done, 0);
        self.done
    }

    /// The parent may not know of more than it says that it does.
    pub fn report_again(&mut self) {
        self.reported = self.reported.min(self.stable);
    }

    /// Whether it is decided, and sent to a child, what that has not said that it has done.
    pub fn awaits(&self, child: usize) -> bool {
        let first = self.flights.partition_point(|flight| flight.seq <= self.done);
        self.flights.range(first..).any(|flight| {
            let is_sent = flight.outcome().is_some() && flight.waiting != UNSENT;
            is_sent && flight.waiting & 1 << child != 0
        })
    }

    /// Whether the parent does not know how far all is done.
    pub fn has_unreported(&self) -> bool {
        self.reported < self.done
    }

    /// This member of so many asked for it, with so many bytes: the master has room for as many
    /// again when all know that it is done.
    pub fn asked_here(&mut self, seq: u64, bytes: usize, members: usize) {
        if bytes > STAGED_BYTES_MAX / 8 / members.max(1) {
            self.much = seq;
        }
    }

    /// Whether it has to be told at once, in a cluster of so many.
    pub fn is_report_due(&self, members: usize) -> bool {
        let most = (UNREPORTED_BY_ALL / members.max(1)).min(UNREPORTED_MAX - 1);
        self.unreported > most || (self.reported < self.much && self.much <= self.done)
    }
}
