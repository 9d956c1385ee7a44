//! Profiling: how often, how much and how long, for each kind of operation.

use super::{Aspect, Kind, Operation, Outcome};
use crate::error::Result;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Classes of times: class `n` has those below `2^n` nanoseconds, the last one all above 9 min.
const CLASSES: usize = 40;

/// What was counted of one kind of operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Summary {
    /// Operations that were done.
    pub done: u64,
    /// Operations that could do nothing.
    pub nothing: u64,
    /// Operations that failed.
    pub failed: u64,
    /// Bytes that were moved.
    pub bytes: u64,
    /// How many of those done took less than `2^n` ns and not less than half of that.
    pub times: [u64; CLASSES],
}

impl Summary {
    /// A time that this share of the operations done did not exceed, to a power of two.
    pub fn quantile(&self, share: f64) -> Duration {
        let rank = (self.done as f64 * share).ceil() as u64;
        let mut below = 0;
        let class = self.times.iter().position(|count| {
            below += count;
            below >= rank
        });
        Duration::from_nanos(1 << class.unwrap_or(CLASSES - 1))
    }
}

/// A profile, for those who read it.
pub struct Profile {
    kinds: [Counters; Kind::ALL.len()],
}

struct Counters {
    done: AtomicU64,
    nothing: AtomicU64,
    failed: AtomicU64,
    bytes: AtomicU64,
    times: [AtomicU64; CLASSES],
}

impl Profile {
    /// What was counted of a kind.
    pub fn summary(&self, kind: Kind) -> Summary {
        let counters = &self.kinds[kind as usize];
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Summary {
            done: read(&counters.done),
            nothing: read(&counters.nothing),
            failed: read(&counters.failed),
            bytes: read(&counters.bytes),
            times: std::array::from_fn(|class| read(&counters.times[class])),
        }
    }
}

/// Counts and times operations. Two looks at the clock for each are about 40 ns.
pub struct Profiled {
    profile: Arc<Profile>,
    entered: Instant,
}

impl Profiled {
    /// The profile, for reading, from any thread.
    pub fn profile(&self) -> Arc<Profile> {
        self.profile.clone()
    }
}

impl Default for Profiled {
    fn default() -> Profiled {
        let zero = || AtomicU64::new(0);
        let counters = |_| Counters {
            done: zero(),
            nothing: zero(),
            failed: zero(),
            bytes: zero(),
            times: std::array::from_fn(|_| zero()),
        };
        let profile = Profile { kinds: std::array::from_fn(counters) };
        Profiled { profile: Arc::new(profile), entered: Instant::now() }
    }
}

/// There is one writer, so nothing has to be locked.
fn add(counter: &AtomicU64, count: u64) {
    counter.store(counter.load(Ordering::Relaxed).wrapping_add(count), Ordering::Relaxed);
}

impl Aspect for Profiled {
    #[inline]
    fn enter(&mut self, _: Operation) -> Result<()> {
        self.entered = Instant::now();
        Ok(())
    }

    #[inline]
    fn leave(&mut self, operation: Operation, outcome: Outcome) {
        let counters = &self.profile.kinds[operation.kind as usize];
        match outcome {
            Outcome::Nothing => add(&counters.nothing, 1),
            Outcome::Failed => add(&counters.failed, 1),
            Outcome::Done(bytes) => {
                let time = self.entered.elapsed().as_nanos() as u64;
                let class = (u64::BITS - time.leading_zeros()) as usize;
                add(&counters.times[class.min(CLASSES - 1)], 1);
                add(&counters.bytes, bytes as u64);
                add(&counters.done, 1);
            }
        }
    }
}
