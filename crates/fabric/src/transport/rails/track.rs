//! What is known of one rail by what has gone over it: how much is under way, and how soon more
//! would arrive.
//!
//! Two numbers say how quick a rail is: its *lag*, how long a short piece takes on an idle rail
//! until it is acknowledged, and its *pace*, the time for a byte while the rail is never idle: all
//! time in which something was under way by all bytes, of the last [`SPAN`] or so, because
//! acknowledgements are often read several at once. Both are forgotten when nothing went over the
//! rail for [`FORGET`], so that a rail that was slow is tried again.

use crate::protocol::Time;
use muster_base::limits::{RAILS_FLIGHT, RAILS_PATIENCE, RAILS_PIECES};
use std::collections::VecDeque;
use std::ops::Range;
use std::time::Duration;

/// After so long what was known of a rail is old.
const FORGET: Duration = Duration::from_secs(1);

/// A piece up to here tells the lag.
const SHORT: u64 = 4096;

/// Bytes that tell the pace, from which on it is known and after which half of it is forgotten.
const KNOWN: f64 = 64.0 * 1024.0;
const SPAN: f64 = 512.0 * 1024.0;

/// Nanoseconds for a byte where nothing is known: 10 Gbit/s.
const PACE: f64 = 0.8;

/// One rail.
#[derive(Debug)]
pub struct Track {
    /// It has not ended.
    pub is_alive: bool,
    /// It has been silent for so long that it may be cut: what is under way goes over others too.
    pub is_doubted: bool,
    under_way: VecDeque<Sent>,
    /// Units given to it, and those of them that have been taken off it.
    given: u64,
    taken: u64,
    /// When it last moved on.
    heard: Time,
    used: Time,
    lag: Option<f64>,
    /// Nanoseconds in which something was under way, and bytes that were taken in them.
    busy: f64,
    bytes: f64,
    /// Up to when these are counted.
    counted: Time,
}

#[derive(Debug)]
struct Sent {
    range: Range<u64>,
    /// All that was given to the rail, with this.
    end: u64,
    when: Time,
    /// Nothing else was under way.
    is_alone: bool,
}

impl Track {
    /// One over which nothing has gone.
    pub fn new() -> Track {
        Track {
            is_alive: true,
            is_doubted: false,
            under_way: VecDeque::with_capacity(RAILS_PIECES),
            given: 0,
            taken: 0,
            heard: Time(0),
            used: Time(0),
            lag: None,
            busy: 0.0,
            bytes: 0.0,
            counted: Time(0),
        }
    }

    /// Whether pieces may go over it.
    pub fn is_good(&self) -> bool {
        self.is_alive && !self.is_doubted
    }

    /// Whether it takes another piece.
    pub fn has_room(&self) -> bool {
        let is_little = self.given - self.taken < RAILS_FLIGHT;
        self.is_good() && is_little && self.under_way.len() < RAILS_PIECES
    }

    /// Nanoseconds for a byte, if they are known.
    pub fn pace(&self) -> Option<f64> {
        (self.bytes >= KNOWN).then(|| self.busy / self.bytes)
    }

    /// How many nanoseconds it takes until so many more bytes have arrived; `pace` is that of a
    /// rail of which nothing is known.
    pub fn time_for(&self, size: u64, pace: Option<f64>) -> f64 {
        let pace = self.pace().or(pace).unwrap_or(PACE);
        let lag = self.lag.filter(|_| size <= SHORT).unwrap_or_default();
        lag + (self.given - self.taken + size) as f64 * pace
    }

    /// Forgets what is old.
    pub fn age(&mut self, now: Time) {
        if self.under_way.is_empty() && now - self.used > FORGET {
            (self.lag, self.busy, self.bytes) = (None, 0.0, 0.0);
        }
    }

    /// It was given these units.
    pub fn give(&mut self, range: Range<u64>, now: Time) {
        let is_alone = self.under_way.is_empty();
        if is_alone {
            self.counted = now;
        }
        self.given += range.end - range.start;
        self.used = now;
        self.under_way.push_back(Sent { range, end: self.given, when: now, is_alone });
    }

    /// So many units have been taken off it.
    ///
    /// # Errors
    /// More than it was given, or fewer than before.
    pub fn taken(&mut self, taken: u64, now: Time) -> Result<(), String> {
        if !(self.taken..=self.given).contains(&taken) {
            let (before, given) = (self.taken, self.given);
            return Err(format!("{taken} units taken, after {before} and of {given}"));
        }
        if taken == self.taken {
            return Ok(());
        }
        self.count(taken - self.taken, now);
        (self.taken, self.heard, self.is_doubted) = (taken, now, false);
        while let Some(sent) = self.under_way.front().filter(|sent| sent.end <= taken) {
            if sent.is_alone && sent.range.end - sent.range.start <= SHORT {
                mean(&mut self.lag, (now - sent.when).as_nanos() as f64);
            }
            self.under_way.pop_front();
        }
        Ok(())
    }

    /// A pause of the receiver, which says nothing about the rail, counts as little as it can.
    fn count(&mut self, bytes: u64, now: Time) {
        self.busy += (now - self.counted).min(RAILS_PATIENCE).as_nanos() as f64;
        self.bytes += bytes as f64;
        self.counted = now;
        if self.bytes > SPAN {
            (self.busy, self.bytes) = (self.busy / 2.0, self.bytes / 2.0);
        }
    }

    /// When it is to be doubted if nothing comes until then.
    pub fn alarm(&self) -> Option<Time> {
        let first = self.under_way.front().filter(|_| self.is_good())?;
        Some(self.heard.max(first.when) + RAILS_PATIENCE)
    }

    /// What is under way on it.
    pub fn under_way(&self) -> impl Iterator<Item = Range<u64>> {
        self.under_way.iter().map(|sent| sent.range.clone())
    }

    /// It has ended.
    pub fn end(&mut self) {
        self.is_alive = false;
        self.under_way.clear();
    }
}

/// A sample that is far above the mean may be the pause of a receiver, and counts as twice it.
fn mean(of: &mut Option<f64>, sample: f64) {
    *of = Some(match *of {
        None => sample,
        Some(mean) => 0.75 * mean + 0.25 * sample.min(2.0 * mean),
    });
}
