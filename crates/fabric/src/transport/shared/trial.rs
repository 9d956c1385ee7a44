//! Trials: at first contact a sender measures what the stages of the way to its peer cost. A trial
//! is a record in the arena with a head of 64 bytes, and bytes that nobody wants behind it. The
//! receiver answers in the head, then frees it; the sender takes part one trial at a time.
//!
//! | offset | size | what |
//! |---|---|---|
//! | 0 | 8 | where the bytes stand in the sender's memory, for a single copy; else 0 |
//! | 8 | 8 | how many those are |
//! | 16 | 8 | the answer: 0 none so far, 1 refused, else 2 and the nanoseconds of the copy |
//!
//! All of them together have 2 ms. A receiver that does something else at the time answers late;
//! then nothing was measured, and what is still in the ring costs it a copy.

use super::link::{ARRIVAL, Link};
use super::ring::{Kind, Place, Record};
use super::segment::{self, READS};
use super::sys;
use crate::deadline::Deadline;
use crate::error::Result;
use crate::pipeline::calibrate::{Medium, Sample};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Bytes of a head.
const HEAD: usize = 64;
const COUNT: usize = 8;
const ANSWER: usize = 16;

const REFUSED: u64 = 1;
const DONE: u64 = 2;

/// The longest trial: what first contact measures, and its head fits a quarter of an arena.
const TRIAL_MAX: usize = 128 * 1024;

/// All that first contact may take,
const BUDGET: Duration = Duration::from_millis(2);
/// and the most that one answer may: longer than to wake a receiver that sleeps.
const PATIENCE: Duration = Duration::from_micros(300);

/// A link whose way is measured.
pub(super) struct Trials<'a> {
    link: &'a mut Link,
    source: Vec<u8>,
    end: Instant,
    is_over: bool,
}

/// What a trial told.
struct Told {
    /// The copy in.
    ours: Duration,
    /// The copy out, or the single copy.
    theirs: Option<Duration>,
    /// From the record to its answer.
    between: Duration,
}

impl<'a> Trials<'a> {
    fn new(link: &'a mut Link) -> Trials<'a> {
        let end = Instant::now() + BUDGET;
        Trials { link, source: vec![1; TRIAL_MAX], end, is_over: false }
    }

    /// Has the receiver copy `bytes`, out of the arena or out of this process's memory.
    fn trial(&mut self, bytes: usize, is_single: bool) -> Option<Told> {
        if self.is_over {
            return None;
        }
        // Who does not answer once has something else to do.
        self.is_over = true;
        let bytes = bytes.min(TRIAL_MAX);
        let source = &self.source[..bytes];
        let at = if is_single { source.as_ptr() as u64 } else { 0 };
        let mut ours = Duration::ZERO;
        let fill = |to: &mut [u8]| {
            to[..COUNT].copy_from_slice(&at.to_ne_bytes());
            to[COUNT..ANSWER].copy_from_slice(&(bytes as u64).to_ne_bytes());
            to[ANSWER..ANSWER + 8].fill(0);
            if !is_single {
                let start = Instant::now();
                to[HEAD..].copy_from_slice(source);
                ours = start.elapsed();
            }
        };
        let size = HEAD + if is_single { 0 } else { bytes };
        let pushed = self.link.out.push((Kind::Trial, bytes as u64), size, usize::MAX, fill);
        let start = pushed.ok().flatten()?;
        let since = Instant::now();
        self.link.ring(ARRIVAL);
        let answer = segment::arena_at(self.link.hello.lane, self.link.side) + start + ANSWER;
        let told = loop {
            match self.link.segment.word64(answer).load(Ordering::Acquire) {
                0 if since.elapsed() > PATIENCE || Instant::now() > self.end => return None,
                0 => std::hint::spin_loop(),
                told => break told,
            }
        };
        self.is_over = false;
        let theirs = (told != REFUSED).then(|| Duration::from_nanos(told.saturating_sub(DONE)));
        Some(Told { ours, theirs, between: since.elapsed() })
    }
}

impl Medium for Trials<'_> {
    fn hop(&mut self) -> Duration {
        self.trial(0, false).map_or(Duration::ZERO, |told| told.between / 2)
    }

    fn copy_in(&mut self, sample: Sample) -> Duration {
        self.trial(sample.packet, false).map_or(Duration::ZERO, |told| told.ours)
    }

    fn copy_out(&mut self, sample: Sample) -> Duration {
        self.trial(sample.packet, false).and_then(|told| told.theirs).unwrap_or_default()
    }

    fn single_copy(&mut self, sample: Sample) -> Option<Duration> {
        if self.link.peers(READS).load(Ordering::Acquire) != 1 {
            return None;
        }
        self.trial(sample.packet, true)?.theirs
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
        planner.meet(&peer, &mut Trials { is_over, ..Trials::new(self) });
        self.planner = planner;
    }

    /// Carries out a peer's trial.
    pub(super) fn answer(&mut self, record: &Record) -> Result<()> {
        let Place::Arena(start) = record.place else {
            return Err(self.malformed("a trial in no place"));
        };
        if record.size < HEAD || record.size - HEAD > TRIAL_MAX {
            return Err(self.malformed("a trial of another size"));
        }
        let at = segment::arena_at(self.hello.lane, self.side.other()) + start;
        let word = |offset: usize| -> &AtomicU64 { self.segment.word64(at + offset) };
        let address = word(0).load(Ordering::Relaxed);
        let count = word(COUNT).load(Ordering::Relaxed).min(TRIAL_MAX as u64) as usize;
        // The buffer of messages in packets, of which none is under way.
        let mut into = std::mem::take(&mut self.incoming.buffer);
        if into.len() < TRIAL_MAX {
            into = vec![0; TRIAL_MAX];
        }
        let since = Instant::now();
        let is_done = if address == 0 {
            self.inn.read(record, |bytes| {
                into[..bytes.len() - HEAD].copy_from_slice(&bytes[HEAD..]);
            });
            true
        } else {
            let pid = self.peer.pid.filter(|_| self.own(READS).load(Ordering::Relaxed) == 1);
            let to = &mut into[..count];
            pid.is_some_and(|pid| sys::read_memory(pid, address, to).is_ok_and(|got| got == count))
        };
        let took = since.elapsed().as_nanos() as u64;
        let told = if is_done { took.saturating_add(DONE) } else { REFUSED };
        self.segment.word64(at + ANSWER).store(told, Ordering::Release);
        // It is cleared when the next message begins.
        self.incoming.buffer = into;
        Ok(())
    }
}
