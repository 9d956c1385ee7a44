//! Messages that move with one copy: the sender offers them where they stand, the receiver reads
//! them out of the sender's memory (`process_vm_readv`), where the kernel lets it.
//!
//! The offer is a record of two words in the arena: the address, and a state that both write.
//!
//! | state | by | when |
//! |---|---|---|
//! | 0 offered | sender | with the record |
//! | 1 taken | receiver | when all of it was read, of the process that has offered it |
//! | 2 withdrawn | sender | when its deadline has passed: its memory is its own again |
//! | 3 unreadable | receiver | when the kernel does not let it; the sender sends it otherwise |
//! | 4 lent | sender | instead of 0: it does not wait, and sends it no other way |
//! | 5 lost | sender | it leaves, and what was lent goes with it: so does the connection |
//!
//! A state leaves 0 or 4 once, by compare-and-swap. So a sender that gives up knows whether the
//! message was received, even when the receiver is stopped in the middle of reading; and what a
//! receiver has read half before and half after counts for nothing.
//!
//! *Forks.* The memory that a receiver reads is that of the process which has connected, so a fork
//! of it offers and lends nothing.
//!
//! *Rid of it.* Of a message up to [`RING_LEAST`] bytes a send is rid without its receiver, as the
//! ring has room for it. So its offer stands for as long only as a receiver takes that is there;
//! then it is withdrawn, the message goes through the ring, and so do the next ones, ever more of
//! them while nobody is there. So it is where what a stream has in the ring does not leave it.
//!
//! *Lent.* A long body that many may hold is not copied by who queues it, but held until the
//! receiver has fetched it; who leaves before has not left in order. What the message begins with
//! is in the record, behind the state.

use super::RING_LEAST;
use super::link::{ARRIVAL, Link, ROOM};
use super::ring::{Berth, Kind, Place, Record};
use super::segment::{self, Side};
use super::send::time_to_receive;
use crate::deadline::Deadline;
use crate::error::{Error, Result};
use crate::protocol::Payload;
use crate::strategy::Ready;
use muster_base::limits::QUEUE_BYTES_MAX;
use std::io::IoSlice;
use std::sync::atomic::Ordering;
use std::time::Duration;

const OFFERED: u64 = 0;
const TAKEN: u64 = 1;
const WITHDRAWN: u64 = 2;
const UNREADABLE: u64 = 3;
const LENT: u64 = 4;
const LOST: u64 = 5;

/// What ends a connection with a message that was lent.
const LEFT: &str = "it has left before a message of it was fetched";
const UNREAD: &str = "a message in its memory cannot be read, as of a process that ends";

/// How long a stream waits for the ring to be empty before an offer: a full one is after 250 us,
/// if its receiver is there.
const DRAINED: Duration = Duration::from_micros(500);

/// Bytes of an offer.
const OFFER: usize = 16;

/// A message that its receiver is still to fetch.
pub(super) struct Lent {
    /// The record's number.
    number: u64,
    /// Where its state is in the segment.
    at: usize,
    body: Payload,
}

impl Link {
    /// Whether what is under way has gone by: in a stream, where it is to be found out what single
    /// copies one behind another take, a moment is waited for that.
    fn is_let_by(&mut self, deadline: Deadline) -> Result<bool> {
        if !self.is_stream() {
            return Ok(false);
        }
        let is_drained = self.is_drained(deadline.sooner(DRAINED))?;
        if !is_drained {
            self.outgoing.offers.in_vain();
        }
        Ok(is_drained)
    }

    /// Sends a message by an offer; false when it has to go another way.
    pub(super) fn offer(&mut self, parts: &[IoSlice<'_>], deadline: Deadline) -> Result<bool> {
        let [bytes] = parts else { return Ok(false) };
        if !self.is_read() {
            return Ok(false);
        }
        let is_short = bytes.len() <= RING_LEAST;
        if is_short {
            if let Err(garbage) = self.out.refresh() {
                return Err(self.garbage(garbage));
            }
            // Behind others it would have to wait for them.
            let is_first = self.out.live() == 0;
            if self.outgoing.offers.rests() || !is_first && !self.is_let_by(deadline)? {
                return Ok(false);
            }
        }
        let start = loop {
            match self.push_offer((bytes, OFFERED), &[])? {
                Some(start) => break start,
                None if is_short => return Ok(false),
                None => {
                    self.wait(Ready::Send, deadline)?;
                    self.check()?;
                }
            }
        };
        let at = self.state(self.side, start);
        let is_done = &|link: &mut Link| {
            link.segment.word64(at).load(Ordering::Acquire) != OFFERED || link.is_over()
        };
        let takes = time_to_receive(bytes.len());
        let soon = if is_short { deadline.sooner(takes) } else { deadline };
        let waited = self.wait_for(is_done, (ROOM, "a message to be fetched"), takes, soon);
        let outcome = match waited.and_then(|()| self.check()) {
            Ok(()) => self.outcome(self.segment.word64(at).load(Ordering::Acquire)),
            Err(error) => self.take_back(at, error),
        };
        if is_short {
            match outcome {
                Ok(true) => self.outgoing.offers.served(),
                _ => self.outgoing.offers.in_vain(),
            }
        }
        match outcome {
            Err(Error::Deadline { .. }) if deadline.left().is_some() => Ok(false),
            outcome => outcome,
        }
    }

    /// Sends a message that consists of parts and of a body which the receiver fetches when it
    /// comes to it; false when it has to go another way, as what goes whole does.
    pub(super) fn lend(&mut self, parts: &[&[u8]], body: &Payload) -> Result<bool> {
        let head: usize = parts.iter().map(|part| part.len()).sum();
        let limit = self.out.arena() / 4;
        if body.len() <= limit || head > limit || !self.is_read() {
            return Ok(false);
        }
        self.begin(head + body.len())?;
        self.returned();
        let held: usize = self.outgoing.lent.iter().map(|lent| lent.body.len()).sum();
        if held > 0 && held + body.len() > QUEUE_BYTES_MAX {
            return self.full();
        }
        let number = self.out.sent();
        match self.push_offer((body, LENT), parts)? {
            Some(start) => {
                let at = self.state(self.side, start);
                self.outgoing.lent.push_back(Lent { number, at, body: body.clone() });
                Ok(true)
            }
            None => Err(Error::WouldBlock),
        }
    }

    /// Lets go of what was lent and fetched; whether there was any.
    pub(super) fn returned(&mut self) -> bool {
        let (before, known) = (self.outgoing.lent.len(), self.out.freed());
        // A count that cannot be is told to who sends.
        if before > 0 && self.out.refresh().is_ok() {
            let freed = self.out.freed();
            // Who waits for room compares with what is known now.
            self.outgoing.is_blocked &= freed == known;
            let back = self.outgoing.lent.partition_point(|lent| lent.number < freed);
            self.outgoing.lent.drain(..back);
        }
        self.outgoing.lent.len() < before
    }

    /// Nobody may fetch what is lent any more, nor receive what follows; false if somebody would
    /// have.
    pub(super) fn withdraw(&mut self) -> bool {
        self.returned();
        let order = (Ordering::AcqRel, Ordering::Acquire);
        let mut is_returned = true;
        for lent in self.outgoing.lent.drain(..) {
            let state = self.segment.word64(lent.at);
            let is_taken = state.compare_exchange(LENT, LOST, order.0, order.1) == Err(TAKEN);
            is_returned &= is_taken;
        }
        is_returned
    }

    fn push_offer(
        &mut self,
        (body, state): (&[u8], u64),
        parts: &[&[u8]],
    ) -> Result<Option<usize>> {
        let words = [body.as_ptr() as u64, state].map(u64::to_ne_bytes);
        let parts = || words.iter().map(|word| &word[..]).chain(parts.iter().copied());
        let size = parts().map(<[u8]>::len).sum();
        let total = body.len() + size - OFFER;
        let fill = |mut to: &mut [u8]| {
            for part in parts() {
                let (here, behind) = to.split_at_mut(part.len());
                here.copy_from_slice(part);
                to = behind;
            }
        };
        match self.out.push((Kind::Offer, total as u64), size, Berth::within(4096), fill) {
            Ok(Some(start)) => {
                self.outgoing.is_blocked = false;
                self.ring(ARRIVAL);
                Ok(Some(start))
            }
            Ok(None) => {
                self.outgoing.is_blocked = true;
                Ok(None)
            }
            Err(garbage) => Err(self.garbage(garbage)),
        }
    }

    /// The sender's memory is to be its own again, unless the message was received.
    fn take_back(&mut self, at: usize, error: Error) -> Result<bool> {
        let state = self.segment.word64(at);
        let order = (Ordering::AcqRel, Ordering::Acquire);
        match state.compare_exchange(OFFERED, WITHDRAWN, order.0, order.1) {
            Ok(_) => Err(error),
            Err(state) => self.outcome(state),
        }
    }

    fn outcome(&mut self, state: u64) -> Result<bool> {
        match state {
            TAKEN => Ok(true),
            UNREADABLE => Ok(false),
            _ => Err(self.malformed("an offer that ended in no known way")),
        }
    }

    /// Where an offer's state is in the segment.
    fn state(&self, from: Side, start: usize) -> usize {
        segment::arena_at(self.hello.lane, from) + start + 8
    }

    /// Reads what is offered; false when that cannot be, or is no longer meant.
    pub(super) fn accept_offer(&mut self, record: &Record, to: &mut [u8]) -> Result<bool> {
        let Place::Arena(start) = record.place else {
            return Err(self.malformed("an offer in no place"));
        };
        let Some(head) = record.size.checked_sub(OFFER).filter(|head| *head <= to.len()) else {
            return Err(self.malformed("an offer of another size"));
        };
        let at = self.state(self.side.other(), start);
        let offered = self.segment.word64(at).load(Ordering::Acquire);
        if offered == LOST {
            return Err(self.dead(LEFT));
        }
        if offered != OFFERED && offered != LENT {
            return Ok(false);
        }
        let (before, to) = to.split_at_mut(head);
        self.inn.read(record, |bytes| before.copy_from_slice(&bytes[OFFER..]));
        let address = self.segment.word64(at - 8).load(Ordering::Relaxed);
        let is_read = self.memory.is_some_and(|memory| memory.read(address, to));
        let ended = if is_read { TAKEN } else { UNREADABLE };
        let state = self.segment.word64(at);
        let swapped = state.compare_exchange(offered, ended, Ordering::AcqRel, Ordering::Acquire);
        match swapped {
            Ok(LENT) if !is_read => Err(self.dead(UNREAD))?,
            Err(LOST) => Err(self.dead(LEFT))?,
            _ => {}
        }
        Ok(is_read && swapped.is_ok())
    }
}
