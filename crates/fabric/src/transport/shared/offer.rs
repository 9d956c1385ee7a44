//! Messages that move with one copy: the sender offers them where they stand, the receiver reads
//! them out of the sender's memory (`process_vm_readv`), where the kernel lets it.
//!
//! The offer is a record of two words in the arena: the address, and a state that both write.
//!
//! | state | by | when |
//! |---|---|---|
//! | 0 offered | sender | with the record |
//! | 1 taken | receiver | when all of it was read and the sender still lives |
//! | 2 withdrawn | sender | when its deadline has passed: its memory is its own again |
//! | 3 unreadable | receiver | when the kernel does not let it; the sender sends it otherwise |
//!
//! A state leaves 0 once, by compare-and-swap. So a sender that gives up knows whether the message
//! was received, even when the receiver is stopped in the middle of reading; and what a receiver
//! has read half before and half after counts for nothing.
//!
//! *Rid of it.* Of a message up to [`RING_LEAST`] bytes a send is rid without its receiver, as the
//! ring has room for it. So its offer stands for as long only as a receiver takes that is there;
//! then it is withdrawn, the message goes through the ring, and so do the next ones, ever more of
//! them while nobody is there.

use super::RING_LEAST;
use super::link::{ARRIVAL, Link, ROOM};
use super::ring::{Kind, Place, Record};
use super::segment::{self, READS, Side};
use super::send::time_to_receive;
use super::sys;
use crate::deadline::Deadline;
use crate::error::{Error, Result};
use crate::strategy::Ready;
use std::io::IoSlice;
use std::sync::atomic::Ordering;

const OFFERED: u64 = 0;
const TAKEN: u64 = 1;
const WITHDRAWN: u64 = 2;
const UNREADABLE: u64 = 3;

/// Bytes of an offer.
const OFFER: usize = 16;

impl Link {
    /// Sends a message by an offer; false when it has to go another way.
    pub(super) fn offer(&mut self, parts: &[IoSlice<'_>], deadline: Deadline) -> Result<bool> {
        let [bytes] = parts else { return Ok(false) };
        if self.peers(READS).load(Ordering::Acquire) != 1 {
            return Ok(false);
        }
        let is_short = bytes.len() <= RING_LEAST;
        if is_short {
            if let Err(garbage) = self.out.refresh() {
                return Err(self.garbage(garbage));
            }
            // Behind others it would have to wait for them.
            if self.out.live() > 0 || self.outgoing.offers.rests() {
                return Ok(false);
            }
        }
        let start = loop {
            match self.push_offer(bytes)? {
                Some(start) => break start,
                None if is_short => return Ok(false),
                None => self.wait(Ready::Send, deadline)?,
            }
        };
        let at = self.state(self.side, start);
        let is_done = &|link: &mut Link| {
            link.segment.word64(at).load(Ordering::Acquire) != OFFERED || link.is_over()
        };
        let soon = if is_short { deadline.sooner(time_to_receive(bytes.len())) } else { deadline };
        let waited = self.wait_for(is_done, (ROOM, "a message to be fetched"), soon);
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

    fn push_offer(&mut self, bytes: &[u8]) -> Result<Option<usize>> {
        let words = [bytes.as_ptr() as u64, OFFERED];
        let fill = |to: &mut [u8]| {
            to[..8].copy_from_slice(&words[0].to_ne_bytes());
            to[8..].copy_from_slice(&words[1].to_ne_bytes());
        };
        match self.out.push((Kind::Offer, bytes.len() as u64), OFFER, 4096, fill) {
            Ok(Some(start)) => {
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
        if record.size != OFFER {
            return Err(self.malformed("an offer of another size"));
        }
        let at = self.state(self.side.other(), start);
        if self.segment.word64(at).load(Ordering::Acquire) != OFFERED {
            return Ok(false);
        }
        let address = self.segment.word64(at - 8).load(Ordering::Relaxed);
        let is_read = self.own(READS).load(Ordering::Relaxed) == 1
            && self.peer.pid.is_some_and(|pid| read_all(pid, address, to));
        // A process that has ended may have been followed by another one of the same number.
        let is_read = is_read && !self.is_gone();
        let ended = if is_read { TAKEN } else { UNREADABLE };
        let state = self.segment.word64(at);
        let swapped = state.compare_exchange(OFFERED, ended, Ordering::AcqRel, Ordering::Acquire);
        Ok(is_read && swapped.is_ok())
    }
}

fn read_all(pid: u32, address: u64, to: &mut [u8]) -> bool {
    let mut done = 0;
    while done < to.len() {
        match sys::read_memory(pid, address.wrapping_add(done as u64), &mut to[done..]) {
            Ok(count) if count > 0 => done += count,
            _ => return false,
        }
    }
    true
}
