//! How long to wait at most. Every wait of the fabric has a deadline, and one that has passed says
//! who waited for whom ([`crate::Error::Deadline`]).

use crate::error::Error;
use std::time::{Duration, Instant};

/// Eighty years: every clock and every call of the system can say so much.
const LIFETIME: Duration = Duration::from_secs(80 * 365 * 24 * 60 * 60);

/// Rounds between two readings of the clock.
const ROUNDS: u32 = 16;

/// When a wait ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Deadline {
    start: Instant,
    end: Instant,
}

impl Deadline {
    /// So long from now; what is longer than a lifetime is a lifetime.
    pub fn after(time: Duration) -> Deadline {
        let start = Instant::now();
        Deadline { start, end: start + time.min(LIFETIME) }
    }

    /// Now: look, do not wait.
    pub fn now() -> Deadline {
        Deadline::after(Duration::ZERO)
    }

    /// This one, or so long from now, whichever is sooner.
    pub(crate) fn sooner(self, time: Duration) -> Deadline {
        let other = Deadline::after(time);
        if other.end < self.end { other } else { self }
    }

    /// What is left of it, none when it has passed.
    pub fn left(&self) -> Option<Duration> {
        self.end.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())
    }

    /// Whether it has passed, as who goes round again and again sees it: each time something was
    /// there, and never what is waited for. The clock, which takes as long to read as half a short
    /// message's way, is looked at now and then.
    pub(crate) fn has_passed(&self, rounds: &mut u32) -> bool {
        *rounds += 1;
        rounds.is_multiple_of(ROUNDS) && self.left().is_none()
    }

    /// How long it has been waited for.
    pub fn waited(&self) -> Duration {
        self.start.elapsed()
    }

    /// It has passed: who has waited for whom until now, and for what.
    pub fn missed(
        &self,
        who: impl ToString,
        whom: impl ToString,
        what: impl Into<String>,
    ) -> Error {
        let (who, whom, what) = (who.to_string(), whom.to_string(), what.into());
        Error::Deadline { who, whom, what, waited: self.waited() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deadline_may_be_as_far_away_as_a_duration_can_say() {
        let never = Deadline::after(Duration::MAX);
        assert!(never.left().is_some_and(|left| left > LIFETIME / 2));
    }
}
