//! Sending. A message of up to [`INLINE`] bytes stands in its entry. What the planner calls short
//! stands in the arena, whole, and so does what is filled in place. Longer ones go in packets: the
//! receiver copies one out while the next is copied in. What finds no room is kept, so a try never
//! waits, or is sent from where it stands by who waits. And who waits can have the receiver fetch
//! the message, with one copy (`offer.rs`).

use super::link::{ARRIVAL, Link, ROOM};
use super::offer::Lent;
use super::ring::{Berth, ENTRIES, INLINE, Kind, Producer, Shared};
use crate::deadline::Deadline;
use crate::error::{Error, Result};
use crate::pipeline::plan::Plan;
use crate::protocol::Payload;
use crate::strategy::{Ready, all_parts};
use crate::wait::Rest;
use muster_base::limits::SHARED_MESSAGE_MAX;
use std::collections::VecDeque;
use std::io::IoSlice;
use std::time::{Duration, Instant};

/// The part of the arena that short messages go through: twice as much as a second-level cache of
/// 1 MB. In a smaller one a line is still in the receiver's cache when it is written again, and has
/// to be taken from it (docs/decisions/pipeline.md, the footprint).
const SHORT_WINDOW: usize = 2 * 1024 * 1024;

/// Bytes left free behind a record of a message below [`LONG`]: a receiver that reads it has its
/// processor fetch what lies behind as well, and that is where the next one is written
/// (docs/decisions/fabric-speed.md, short messages).
const GAP: usize = 512;

/// From how many bytes on records follow one another closely: gaps would cost streams of them.
const LONG: usize = 32 * 1024;

/// More messages than these that nobody answers are a stream, until an answer to each of the next
/// few. Windows of them are one, too: an answer halves what was counted.
const ALONE: u32 = 16;
const COUNTED: u32 = 4 * ALONE;

/// What is done where a plan says single copy and cannot have it.
const FALLBACK: (usize, usize) = (32 * 1024, 64);

/// A message on its way.
#[derive(Default)]
pub(super) struct Outgoing {
    total: usize,
    sent: usize,
    packet: usize,
    slots: usize,
    /// What is still to be sent: its end, from `at`.
    rest: Vec<u8>,
    at: usize,
    /// It ends here, unfinished.
    is_aborted: bool,
    /// The last try found no room.
    pub(super) is_blocked: bool,
    /// Offers that nobody took in time are made less often.
    pub(super) offers: Rest,
    /// What is still to be fetched.
    pub(super) lent: VecDeque<Lent>,
}

impl Outgoing {
    pub(super) fn is_idle(&self) -> bool {
        self.sent == self.total && !self.is_aborted
    }
}

/// A message's parts, copied out in turn.
struct Parts<'a> {
    parts: &'a [IoSlice<'a>],
    skip: usize,
}

impl Parts<'_> {
    fn copy(&mut self, to: &mut [u8]) {
        let mut done = 0;
        while done < to.len() {
            let part = &self.parts[0][self.skip..];
            let count = part.len().min(to.len() - done);
            to[done..done + count].copy_from_slice(&part[..count]);
            done += count;
            self.skip += count;
            if self.skip == self.parts[0].len() {
                (self.parts, self.skip) = (&self.parts[1..], 0);
            }
        }
    }
}

/// What a receiver that is there takes at most for so many bytes. Who is later is not there, which
/// tells nothing about the medium.
pub(super) fn time_to_receive(bytes: usize) -> Duration {
    Duration::from_micros(50) + Duration::from_nanos(bytes as u64)
}

fn size_of(parts: &[IoSlice<'_>]) -> usize {
    parts.iter().map(|part| part.len()).sum()
}

impl Link {
    /// The largest message.
    pub fn limit(&self) -> usize {
        SHARED_MESSAGE_MAX
    }

    /// Sends a message of `size` bytes which `fill` writes in place.
    ///
    /// # Errors
    /// [`Error::WouldBlock`], then `fill` was not called; [`Error::TooLarge`]; the connection's.
    #[inline]
    pub fn try_fill(&mut self, size: usize, fill: impl FnOnce(&mut [u8])) -> Result<()> {
        if size > INLINE || !self.outgoing.is_idle() {
            return self.fill_long(size, fill);
        }
        self.check()?;
        match self.out.push_short(size, fill) {
            Ok(true) => {
                self.outgoing.is_blocked = false;
                self.ring(ARRIVAL);
                Ok(())
            }
            Ok(false) => self.full(),
            Err(garbage) => Err(self.garbage(garbage)),
        }
    }

    fn fill_long(&mut self, size: usize, fill: impl FnOnce(&mut [u8])) -> Result<()> {
        self.begin(size)?;
        if size <= INLINE {
            return self.try_fill(size, fill);
        }
        if size <= self.out.arena() / 4 {
            return self.push_whole(size, fill);
        }
        let plan = self.plan(size);
        let (packet, slots) = self.lengths(plan);
        let mut rest = std::mem::take(&mut self.outgoing.rest);
        rest.resize(size, 0);
        fill(&mut rest);
        self.outgoing.begin(size, packet, slots);
        (self.outgoing.rest, self.outgoing.at) = (rest, 0);
        self.pump().map(drop)
    }

    /// Sends a message that consists of parts.
    ///
    /// # Errors
    /// As [`Link::try_fill`].
    #[inline]
    pub fn try_send(&mut self, parts: &[IoSlice<'_>]) -> Result<()> {
        let size = size_of(parts);
        if size <= INLINE {
            return self.try_fill(size, |to| Parts { parts, skip: 0 }.copy(to));
        }
        self.begin(size)?;
        let plan = self.plan(size);
        let Some((packet, slots)) = self.packets(plan, size) else {
            return self.try_whole(parts, size);
        };
        let mut source = Parts { parts, skip: 0 };
        self.outgoing.begin(size, packet, slots);
        if self.push_packets(&mut |to| source.copy(to))? {
            return Ok(());
        }
        if self.outgoing.sent == 0 {
            self.outgoing.total = 0;
            return self.full();
        }
        self.outgoing.keep(|rest| source.copy(rest));
        Ok(())
    }

    /// Sends a message, and waits for room if need be. When the deadline passes before all of it is
    /// on its way, none of it is delivered.
    ///
    /// # Errors
    /// As [`Link::try_send`]; [`Error::Deadline`].
    #[inline]
    pub fn send(&mut self, parts: &[IoSlice<'_>], deadline: Deadline) -> Result<()> {
        let sent = match parts {
            [part] if part.len() <= INLINE => {
                self.try_fill(part.len(), |to| to.copy_from_slice(part))
            }
            _ if size_of(parts) <= INLINE => self.try_send(parts),
            _ => Err(Error::WouldBlock),
        };
        match sent {
            Err(Error::WouldBlock) => {}
            done => return done,
        }
        self.send_long(parts, deadline)
    }

    fn send_long(&mut self, parts: &[IoSlice<'_>], deadline: Deadline) -> Result<()> {
        let size = size_of(parts);
        loop {
            match self.begin(size) {
                Err(Error::WouldBlock) => self.wait(Ready::Send, deadline)?,
                done => break done?,
            }
        }
        self.meet(size, deadline);
        let plan = if size <= INLINE { Plan::Short } else { self.plan(size) };
        let is_sample = size > INLINE && self.planner.is_sampling() && self.is_drained(deadline)?;
        let since = is_sample.then(Instant::now);
        let single = plan == Plan::SingleCopy && self.offer(parts, deadline)?;
        if !single {
            self.send_copied(parts, (size, plan), deadline)?;
        }
        if let Some(since) = since.filter(|_| single || plan != Plan::SingleCopy) {
            self.observe(size, plan, since, deadline)?;
        }
        Ok(())
    }

    /// Sends through the ring, in as many steps as it takes.
    fn send_copied(
        &mut self,
        parts: &[IoSlice<'_>],
        (size, plan): (usize, Plan),
        deadline: Deadline,
    ) -> Result<()> {
        let Some((packet, slots)) = self.packets(plan, size) else {
            loop {
                match self.begin(size).and_then(|()| self.try_whole(parts, size)) {
                    Err(Error::WouldBlock) => self.wait(Ready::Send, deadline)?,
                    done => return done,
                }
            }
        };
        let mut source = Parts { parts, skip: 0 };
        self.outgoing.begin(size, packet, slots);
        while !self.push_packets(&mut |to| source.copy(to))? {
            let room = &|link: &mut Link| link.has_room() || link.is_over();
            let waited = self.wait_for(room, (ROOM, "room for a packet"), Duration::ZERO, deadline);
            if let Err(error) = waited.and_then(|()| self.check()) {
                // What has begun will not be finished.
                self.outgoing.is_aborted = self.outgoing.sent > 0;
                (self.outgoing.total, self.outgoing.sent) = (0, 0);
                return Err(error);
            }
        }
        Ok(())
    }

    /// Waits a moment until what was sent before is out of the ring, or a sample would tell of it.
    pub(super) fn is_drained(&mut self, deadline: Deadline) -> Result<bool> {
        self.until(self.out.arena(), deadline, |out| out.live() == 0)
    }

    /// Tells the planner how long a message took, if it arrives in a time that says something.
    fn observe(
        &mut self,
        size: usize,
        plan: Plan,
        since: Instant,
        deadline: Deadline,
    ) -> Result<()> {
        let last = self.out.sent();
        if plan == Plan::SingleCopy || self.until(size, deadline, |out| out.freed() >= last)? {
            self.planner.observe(size, plan, since.elapsed());
        }
        Ok(())
    }

    /// Looks until the receiver has freed enough, as long as it takes to receive so many bytes.
    fn until(
        &mut self,
        bytes: usize,
        deadline: Deadline,
        is_enough: impl Fn(&Producer<Shared>) -> bool,
    ) -> Result<bool> {
        let most = time_to_receive(bytes).min(deadline.left().unwrap_or_default());
        let since = Instant::now();
        loop {
            if let Err(garbage) = self.out.refresh() {
                return Err(self.garbage(garbage));
            }
            if is_enough(&self.out) {
                return Ok(true);
            }
            if since.elapsed() >= most {
                return Ok(false);
            }
            std::hint::spin_loop();
        }
    }

    /// Moves on what was kept; true when all of it has left.
    ///
    /// # Errors
    /// The connection's.
    pub fn try_flush(&mut self) -> Result<bool> {
        self.returned();
        if self.outgoing.is_idle() && self.outgoing.lent.is_empty() {
            return Ok(true);
        }
        self.check()?;
        let has_left = self.outgoing.is_idle() || self.pump()?;
        // To pump may have told of more that is back.
        self.returned();
        let is_returned = self.outgoing.lent.is_empty();
        // Who waits now waits for what is lent to be fetched, which frees its record.
        self.outgoing.is_blocked |= !is_returned;
        Ok(has_left && is_returned)
    }

    /// Sends a message that consists of parts and of a body that many may hold; a long one is not
    /// copied.
    ///
    /// # Errors
    /// As [`Link::try_fill`].
    pub fn try_queue(&mut self, parts: &[&[u8]], body: &Payload) -> Result<()> {
        if self.lend(parts, body)? {
            return Ok(());
        }
        self.try_send(&all_parts(parts, body))
    }

    /// Before a message begins: it is not too long, the connection is there, the last one is gone.
    pub(super) fn begin(&mut self, size: usize) -> Result<()> {
        if size > SHARED_MESSAGE_MAX {
            let limit = SHARED_MESSAGE_MAX;
            return Err(Error::TooLarge { what: "a message", size, limit });
        }
        self.check()?;
        if self.outgoing.is_idle() || self.pump()? { Ok(()) } else { self.full() }
    }

    /// How the planner has a message go: by itself, or as one of a stream.
    fn plan(&mut self, size: usize) -> Plan {
        self.unanswered = COUNTED.min(self.unanswered + 1);
        if self.is_stream() { self.planner.stream(size) } else { self.planner.plan(size) }
    }

    /// Whether messages follow one another that nobody answers.
    pub(super) fn is_stream(&self) -> bool {
        self.unanswered > ALONE
    }

    /// A message was received.
    #[inline]
    pub(super) fn answered(&mut self) {
        self.sends = 0;
        self.unanswered /= 2;
    }

    /// How a message goes in packets; none if it goes whole.
    fn packets(&self, plan: Plan, size: usize) -> Option<(usize, usize)> {
        let is_whole = plan == Plan::Short && size <= self.out.arena() / 4;
        if is_whole { None } else { Some(self.lengths(plan)) }
    }

    /// Length and number of packets, whatever the planner says within what the arena can do.
    fn lengths(&self, plan: Plan) -> (usize, usize) {
        let (packet, slots) = match plan {
            Plan::Pipelined { packet, slots } => (packet, slots),
            Plan::Short | Plan::SingleCopy => FALLBACK,
        };
        let packet = packet.clamp(INLINE, self.out.arena() / 2);
        (packet, slots.clamp(2, ENTRIES))
    }

    /// Sends a message whole, unless there is no room.
    fn try_whole(&mut self, parts: &[IoSlice<'_>], size: usize) -> Result<()> {
        let mut source = Parts { parts, skip: 0 };
        if size <= INLINE {
            return self.try_fill(size, |to| source.copy(to));
        }
        self.push_whole(size, |to| source.copy(to))
    }

    /// There is no room, until something is freed.
    #[cold]
    pub(super) fn full<T>(&mut self) -> Result<T> {
        self.outgoing.is_blocked = true;
        Err(Error::WouldBlock)
    }

    fn push_whole(&mut self, size: usize, fill: impl FnOnce(&mut [u8])) -> Result<()> {
        let berth = Berth { window: SHORT_WINDOW.max(4 * (size + GAP)), gap: GAP };
        match self.out.push((Kind::Whole, 0), size, berth, fill) {
            Ok(Some(_)) => {
                self.outgoing.is_blocked = false;
                self.ring(ARRIVAL);
                Ok(())
            }
            Ok(None) => self.full(),
            Err(garbage) => Err(self.garbage(garbage)),
        }
    }

    /// Sends packets as long as there is room; true when the message is complete.
    fn push_packets(&mut self, copy: &mut dyn FnMut(&mut [u8])) -> Result<bool> {
        let before = self.out.sent();
        let is_complete = self.push_until_full(copy);
        if self.out.sent() != before {
            self.ring(ARRIVAL);
        }
        if let Ok(is_complete) = is_complete {
            self.outgoing.is_blocked = !is_complete;
        }
        is_complete
    }

    /// As [`Link::push_packets`], but who has gone to sleep a moment ago may not be woken.
    fn push_until_full(&mut self, copy: &mut dyn FnMut(&mut [u8])) -> Result<bool> {
        let Outgoing { total, packet, slots, .. } = self.outgoing;
        let gap = if total < LONG { GAP } else { 0 };
        let berth = Berth { window: (packet + gap) * slots, gap };
        while self.outgoing.sent < total {
            let sent = self.outgoing.sent;
            if !self.has_slot()? {
                return Ok(false);
            }
            let size = packet.min(total - sent);
            let kind = if sent == 0 { Kind::First } else { Kind::More };
            match self.out.push((kind, total as u64), size, berth, &mut *copy) {
                Ok(Some(_)) => self.nudge(ARRIVAL),
                Ok(None) => return Ok(false),
                Err(garbage) => return Err(self.garbage(garbage)),
            }
            self.outgoing.sent += size;
        }
        Ok(true)
    }

    fn has_slot(&mut self) -> Result<bool> {
        if self.out.live() < self.outgoing.slots {
            return Ok(true);
        }
        match self.out.refresh() {
            Ok(()) => Ok(self.out.live() < self.outgoing.slots),
            Err(garbage) => Err(self.garbage(garbage)),
        }
    }

    /// Whether it makes sense to try to send: unless nothing was freed since that failed.
    pub(super) fn has_room(&mut self) -> bool {
        let before = self.out.freed();
        if self.outgoing.is_blocked && self.out.refresh().is_ok() && self.out.freed() == before {
            return false;
        }
        self.outgoing.is_blocked = false;
        true
    }

    /// Sends on what was kept; true when nothing is left.
    pub(super) fn pump(&mut self) -> Result<bool> {
        self.live()?;
        if self.outgoing.is_aborted {
            match self.out.push((Kind::Abort, 0), 0, Berth::within(usize::MAX), |_| ()) {
                Ok(Some(_)) => self.ring(ARRIVAL),
                Ok(None) => {
                    self.outgoing.is_blocked = true;
                    return Ok(false);
                }
                Err(garbage) => return Err(self.garbage(garbage)),
            }
            (self.outgoing.is_aborted, self.outgoing.is_blocked) = (false, false);
            return Ok(true);
        }
        let rest = std::mem::take(&mut self.outgoing.rest);
        let mut at = self.outgoing.at;
        let done = self.push_packets(&mut |to| {
            to.copy_from_slice(&rest[at..at + to.len()]);
            at += to.len();
        });
        self.outgoing.rest = rest;
        self.outgoing.at = at;
        done
    }
}

impl Outgoing {
    fn begin(&mut self, total: usize, packet: usize, slots: usize) {
        (self.total, self.sent, self.packet, self.slots) = (total, 0, packet, slots);
    }

    /// Keeps what is not sent.
    fn keep(&mut self, copy: impl FnOnce(&mut [u8])) {
        self.rest.resize(self.total - self.sent, 0);
        self.at = 0;
        copy(&mut self.rest);
    }
}
