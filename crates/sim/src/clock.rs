//! A node's clock: it started at some moment of its own, and goes a little too fast or too slow.

use crate::random::Random;
use muster_fabric::protocol::Time;

/// How far a clock may be off: quartz is within 100 parts in a million, and a machine's steady
/// clock is disciplined to less. In 2^-30 parts, which are quick to divide by.
const DRIFT_MAX: i64 = (1 << 30) / 10_000;

/// What a node's clock shows.
#[derive(Clone, Copy, Debug, Default)]
pub struct Clock {
    offset: u64,
    /// Nanoseconds gained in 2^30.
    drift: i64,
}

impl Clock {
    /// Some node's: off by up to an hour, fast or slow.
    pub fn draw(random: &mut Random) -> Clock {
        let offset = random.below(3600 * crate::SECOND);
        let drift = random.below(2 * DRIFT_MAX as u64 + 1) as i64 - DRIFT_MAX;
        Clock { offset, drift }
    }

    /// What it shows at a moment of the simulation.
    pub fn shows(&self, now: u64) -> Time {
        Time(self.offset + now.wrapping_add_signed(self.gained(now)))
    }

    /// The first moment at which it shows `time` or more; the first of all if it always has.
    pub fn when(&self, time: Time) -> u64 {
        let Some(since) = time.0.checked_sub(self.offset) else {
            return 0;
        };
        if self.drift == 0 {
            return since;
        }
        // What it gains until `since` of its own differs from what it gains until then by 10^-8 of
        // it: close enough to count the last few by ones.
        let mut now = since.saturating_add_signed(-self.gained(since));
        while self.shows(now) < time {
            now += 1;
        }
        now
    }

    fn gained(&self, now: u64) -> i64 {
        ((i128::from(now) * i128::from(self.drift)) >> 30) as i64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_alarm_is_never_early_and_at_most_a_microsecond_late() {
        let mut random = Random::new(5);
        for _ in 0..1000 {
            let clock = Clock::draw(&mut random);
            let now = random.below(100 * crate::SECOND);
            let shown = clock.shows(now);
            let then = clock.when(shown);
            assert!(clock.shows(then) >= shown);
            assert!(then.abs_diff(now) <= 1000, "{clock:?} {now} {then}");
        }
        assert_eq!(Clock::default().when(Time(7)), 7);
    }
}
