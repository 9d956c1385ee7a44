//! How long to wait at most. Every wait of the fabric has a deadline, and one that has passed says
//! who waited for whom ([`crate::Error::Deadline`]).

use std::time::{Duration, Instant};

/// When a wait ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Deadline {
    start: Instant,
    end: Instant,
}

impl Deadline {
    /// So long from now.
    pub fn after(time: Duration) -> Deadline {
        let start = Instant::now();
        Deadline { start, end: start + time }
    }

    /// Now: look, do not wait.
    pub fn now() -> Deadline {
        Deadline::after(Duration::ZERO)
    }

    /// What is left of it, none when it has passed.
    pub fn left(&self) -> Option<Duration> {
        self.end.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())
    }

    /// How long it has been waited for.
    pub fn waited(&self) -> Duration {
        self.start.elapsed()
    }
}
