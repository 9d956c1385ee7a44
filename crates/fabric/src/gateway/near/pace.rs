//! How long copies between two ranks take, and whether that is too long.

use std::time::{Duration, Instant};

/// From how many bytes on the time of a copy is looked at, and of how many such pieces of one.
const TIMED: usize = 4096;
const OF: u32 = 8;

/// How long a KiB may take: several times what it takes between processors that share a cache (40
/// to 80 ns), less than half of what it takes between others (500 ns).
const SLOW: Duration = Duration::from_nanos(200);

/// How long copies take that go through a cache.
#[derive(Clone, Copy, Default)]
pub(super) struct Pace {
    pub(super) is_slow: bool,
    /// Whether the last one that was timed was otherwise. One alone says nothing: who copied may
    /// have been interrupted.
    was_other: bool,
    count: u32,
}

impl Pace {
    /// When a copy of so many bytes began, if it is to be timed. Where they are slow all are, for
    /// then there are few.
    pub(super) fn begin(&mut self, bytes: usize) -> Option<Instant> {
        self.count = self.count.wrapping_add(1);
        let is_timed = bytes >= TIMED && (self.is_slow || self.count.is_multiple_of(OF));
        is_timed.then(Instant::now)
    }

    /// One is done; whether copies are otherwise now.
    pub(super) fn end(&mut self, begun: Option<Instant>, bytes: usize) -> bool {
        let Some(begun) = begun else { return false };
        let is_other = (begun.elapsed() * 1024 > SLOW * bytes as u32) != self.is_slow;
        let changes = is_other && self.was_other;
        self.is_slow ^= changes;
        self.was_other = is_other && !changes;
        changes
    }
}
