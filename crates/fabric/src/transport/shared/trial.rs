//! Trials: at first contact a sender measures what the stages of the way to its peer cost. A trial
//! is a packet in the arena whose bytes nobody wants, and which begins with a head, where the
//! answer to it is given (`docs/wire/shared.md`).
//!
//! Packets are measured as they pass in a message, close behind one another. Of such a *burst* the
//! first is held: the receiver says that it is here, and begins when the sender has copied in all
//! of them and lets the first go. So each side's work is measured by itself, with all that a packet
//! costs it. The last one's answer tells how long the receiver had from the first. What lies
//! between the sender's *go* and its seeing the answer beyond that is a flag's way there and back.
//!
//! A ring is gone round once before it is measured in, so that its bytes are where they will be.
//! All together has 2 ms. A receiver that does something else at the time answers late; then
//! nothing was measured, what was held is let go, and what is still in the ring costs it a copy. It
//! waits for no sender for longer than [`HELD`], and for none that has gone.

use super::link::{ARRIVAL, Link};
use super::ring::{Berth, ENTRIES, INLINE, Kind, LINE, Place, Record};
use super::segment;
use crate::deadline::Deadline;
use crate::error::Result;
use crate::pipeline::calibrate::{Medium, Sample};
use crate::pipeline::choice::median;
use crate::sys::copy_slice;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Bytes of a head.
const HEAD: usize = 40;
const COUNT: usize = 8;
const ANSWER: usize = 16;
const STATE: usize = 24;
const MESSAGE: usize = 32;

const REFUSED: u64 = 1;
const HERE: u64 = 2;
const DONE: u64 = 3;

const GO: u64 = 1;
const GO_AND_ANSWER: u64 = 2;

/// The longest trial: what first contact measures, and its head.
const TRIAL_MAX: usize = 128 * 1024;

/// The longest message that trials are packets of: four second-level caches of 2 MiB.
const MESSAGE_MAX: usize = 8 * 1024 * 1024;

/// Bytes of a burst: enough to be measured, and a moment only.
const BURST: usize = 64 * 1024;

/// All that first contact may take: 2 ms, but where nothing is optimized; and in this crate's own
/// tests, which hold at any load, as long as a thread may have to wait for a processor.
const BUDGET: Duration = match (cfg!(test), cfg!(debug_assertions)) {
    (true, _) => Duration::from_secs(4),
    (false, true) => Duration::from_millis(20),
    (false, false) => Duration::from_millis(2),
};
/// The most until a receiver is there: longer than to wake one that sleeps.
const PATIENCE: Duration = match (cfg!(test), cfg!(debug_assertions)) {
    (true, _) => Duration::from_secs(1),
    (false, true) => Duration::from_millis(50),
    (false, false) => Duration::from_micros(500),
};

/// How long a receiver takes part in a trial that its sender holds: more than copying in a ring of
/// new memory takes.
pub(super) const HELD: Duration = match (cfg!(test), cfg!(debug_assertions)) {
    (true, _) => Duration::from_secs(2),
    (false, true) => Duration::from_millis(200),
    (false, false) => Duration::from_millis(10),
};

/// The receiver's part.
#[derive(Default)]
pub(super) struct Trial {
    /// A trial is held, since then.
    held: Option<Instant>,
    /// The burst began then.
    begun: Option<Instant>,
    /// Where the next packet stands in its message.
    at: usize,
}

impl Trial {
    /// Whether the sender is still to let one go.
    pub(super) fn is_held(&self) -> bool {
        self.held.is_some()
    }
}

/// A link whose way is measured.
pub(crate) struct Trials<'a> {
    link: &'a mut Link,
    source: Vec<u8>,
    at: usize,
    /// The ring and the message that were gone round.
    way: (usize, usize),
    /// Flags' ways there and back.
    hops: Vec<f64>,
    end: Instant,
    is_over: bool,
}

impl<'a> Trials<'a> {
    /// All is to be measured in this time.
    pub(crate) fn new(link: &'a mut Link, time: Duration) -> Trials<'a> {
        let (end, hops) = (Instant::now() + time, Vec::with_capacity(64));
        Trials { link, source: Vec::new(), at: 0, way: (0, 0), hops, end, is_over: false }
    }

    /// Whether the receiver was not there, or time was up.
    pub(crate) fn is_over(&self) -> bool {
        self.is_over
    }

    /// Sends trials one behind the other; either side's time for one.
    fn burst(&mut self, sample: Sample, count: usize, is_single: bool) -> Option<[Duration; 2]> {
        if self.is_over {
            return None;
        }
        // Who does not answer once has something else to do.
        self.is_over = true;
        let message = sample.message.clamp(TRIAL_MAX, MESSAGE_MAX);
        if self.source.len() < message {
            self.source = vec![1; message];
        }
        // They stay there until the receiver comes, and the message behind them needs room.
        let packet = sample.packet.clamp(HEAD, TRIAL_MAX).next_multiple_of(LINE);
        self.link.out.rewind(count * packet, sample.ring);
        let since = Instant::now();
        let first = self.push(sample, message, 0, is_single)?;
        let measured = self.measure((sample, message), (first, count), is_single, since);
        if measured.is_none() {
            // A receiver that comes later, and then sleeps, is not to wait for it.
            self.word(first + STATE).store(GO, Ordering::Release);
            self.link.ring(ARRIVAL);
        }
        measured
    }

    /// Sends the trials behind the first one, which is held, and lets that go.
    fn measure(
        &mut self,
        (sample, message): (Sample, usize),
        (first, count): (usize, usize),
        is_single: bool,
        since: Instant,
    ) -> Option<[Duration; 2]> {
        let mut last = first;
        for number in 1..count {
            let state = if number + 1 == count { GO_AND_ANSWER } else { GO };
            last = self.push(sample, message, state, is_single)?;
        }
        let ours = since.elapsed() / count as u32;
        self.link.ring(ARRIVAL);
        (self.answer(first, self.end.min(since + PATIENCE + ours * count as u32))? == HERE)
            .then_some(())?;
        let since = Instant::now();
        let go = if count == 1 { GO_AND_ANSWER } else { GO };
        self.word(first + ANSWER).store(0, Ordering::Relaxed);
        self.word(first + STATE).store(go, Ordering::Release);
        self.link.ring(ARRIVAL);
        let told = self.answer(last, self.end)?;
        let between = since.elapsed();
        while self.link.out.refresh().is_ok() && self.link.out.live() > 0 {
            if Instant::now() > self.end {
                return None;
            }
        }
        self.is_over = false;
        let theirs = Duration::from_nanos(told.checked_sub(DONE)?);
        self.hops.push(between.saturating_sub(theirs).as_nanos() as f64 / 2.0);
        Some([ours, theirs / count as u32])
    }

    fn push(
        &mut self,
        sample: Sample,
        message: usize,
        state: u64,
        is_single: bool,
    ) -> Option<usize> {
        let packet = sample.packet.clamp(HEAD, TRIAL_MAX);
        let at = place(&mut self.at, packet, message);
        let source = &self.source[at..][..packet];
        let address = if is_single { source.as_ptr() as u64 } else { 0 };
        let fill = |to: &mut [u8]| {
            if !is_single {
                to.copy_from_slice(source);
            }
            let words = [address, source.len() as u64, 0, state, message as u64];
            for (to, word) in to.chunks_exact_mut(8).zip(words) {
                to.copy_from_slice(&word.to_ne_bytes());
            }
        };
        let size = if is_single { HEAD } else { source.len() };
        self.link.out.push((Kind::Trial, 0), size, Berth::within(sample.ring), fill).ok().flatten()
    }

    fn word(&self, offset: usize) -> &AtomicU64 {
        let arena = segment::arena_at(self.link.hello.lane, self.link.side);
        self.link.segment.word64(arena + offset)
    }

    /// Waits for the answer in the trial that stands there.
    fn answer(&self, start: usize, end: Instant) -> Option<u64> {
        let answer = self.word(start + ANSWER);
        loop {
            match answer.load(Ordering::Acquire) {
                0 if Instant::now() > end => return None,
                0 => std::hint::spin_loop(),
                told => return Some(told),
            }
        }
    }

    /// Goes round a ring and a message that were not gone round before.
    fn enter(&mut self, sample: Sample) {
        debug_assert!(sample.ring <= self.link.out.arena());
        let packet = TRIAL_MAX / 2;
        let way = (sample.ring, sample.message);
        if self.way == way || sample.ring < packet {
            return;
        }
        self.way = way;
        let (count, mut passed) = (room(sample.ring, packet), 0);
        while passed < way.0.max(way.1) && !self.is_over {
            let _ = self.burst(Sample { packet, ..sample }, count, false);
            passed += count * packet;
        }
        self.hops.clear();
    }
}

/// How many packets a ring has room for wherever the first one begins: what is left at its end may
/// be too short for one.
fn room(ring: usize, packet: usize) -> usize {
    (ring / packet).saturating_sub(1).clamp(1, ENTRIES - 1)
}

/// Where the next packet of a message stands; the last one is followed by the first.
fn place(next: &mut usize, packet: usize, message: usize) -> usize {
    let at = if *next + packet <= message { *next } else { 0 };
    *next = at + packet;
    at
}

impl Medium for Trials<'_> {
    fn inline(&self) -> usize {
        INLINE
    }

    fn hop(&mut self) -> Duration {
        Duration::from_nanos(median(&mut self.hops) as u64)
    }

    fn copies(&mut self, sample: Sample) -> [Duration; 2] {
        // Twice the cache may be more than there is, and until the last trial is there none goes.
        let sample = Sample { ring: sample.ring.min(self.link.out.arena()), ..sample };
        self.enter(sample);
        let packet = sample.packet.max(HEAD);
        let count = (BURST / packet).clamp(4, 32).min(room(sample.ring, packet));
        self.burst(sample, count, false).unwrap_or_default()
    }

    fn single_copy(&mut self, sample: Sample) -> Option<Duration> {
        if !self.link.is_read() {
            return None;
        }
        self.burst(sample, 1, true).map(|[_, theirs]| theirs)
    }

    fn is_absent(&self) -> bool {
        self.is_over
    }
}

impl Link {
    /// Before a long message: whether it is the first one whose way can be measured.
    pub(super) fn meet(&mut self, bytes: usize, deadline: Deadline) {
        if deadline.left().is_none_or(|left| left <= BUDGET) {
            return;
        }
        if !self.planner.is_new(bytes) {
            return;
        }
        // What was sent before would be measured as well.
        let is_over = !matches!(self.is_drained(deadline), Ok(true));
        let mut planner = std::mem::replace(&mut self.planner, Box::new(super::PLAN));
        let peer = self.peer.name.clone();
        planner.meet(&peer, &mut Trials { is_over, ..Trials::new(self, BUDGET) });
        self.planner = planner;
    }

    /// Carries out a peer's trial; false while it is held.
    pub(super) fn answer(&mut self, record: &Record) -> Result<bool> {
        let Place::Arena(start) = record.place else {
            return Err(self.malformed("a trial in no place"));
        };
        if !(HEAD..=TRIAL_MAX).contains(&record.size) {
            return Err(self.malformed("a trial of another size"));
        }
        let at = segment::arena_at(self.hello.lane, self.side.other()) + start;
        let read = |offset: usize| self.segment.word64(at + offset).load(Ordering::Acquire);
        let answer = |told: u64| self.segment.word64(at + ANSWER).store(told, Ordering::Release);
        let state = read(STATE);
        // Who has gone lets nothing go any more.
        let is_over = self.is_over();
        let trial = &mut self.incoming.trial;
        if state == 0 {
            let begin = || {
                answer(HERE);
                Instant::now()
            };
            if !is_over && trial.held.get_or_insert_with(begin).elapsed() < HELD {
                return Ok(false);
            }
            trial.held = None;
            answer(REFUSED);
            return Ok(true);
        }
        if trial.held.take().is_some() || trial.begun.is_none() {
            trial.begun = Some(Instant::now());
        }
        let is_done = self.carry_out(record, [0, COUNT, MESSAGE].map(read));
        let begun = self.incoming.trial.begun.unwrap_or_else(Instant::now);
        if state == GO_AND_ANSWER {
            let took = begun.elapsed().as_nanos() as u64;
            let told = if is_done { took.saturating_add(DONE) } else { REFUSED };
            self.segment.word64(at + ANSWER).store(told, Ordering::Release);
        }
        Ok(true)
    }

    /// The copy; false where the kernel does not let it.
    fn carry_out(&mut self, record: &Record, [address, count, message]: [u64; 3]) -> bool {
        let limit = |count: u64, most: usize| usize::try_from(count).unwrap_or(most).min(most);
        let count = if address == 0 { record.size } else { limit(count, TRIAL_MAX) };
        let message = limit(message, MESSAGE_MAX).max(count);
        // The buffer of messages in packets, of which none is under way.
        let mut into = std::mem::take(&mut self.incoming.buffer);
        if into.len() < message {
            into = vec![0; message];
        }
        let at = place(&mut self.incoming.trial.at, count, message);
        let to = &mut into[at..][..count];
        let is_done = if address == 0 {
            self.inn.read(record, |bytes| copy_slice(bytes, to));
            true
        } else {
            self.memory.is_some_and(|memory| memory.read(address, to))
        };
        // It is cleared when the next message begins.
        self.incoming.buffer = into;
        is_done
    }
}
