//! Whether to look again before sleeping.

use std::hint::spin_loop;
use std::time::{Duration, Instant};

/// How long looking goes on: some times what it takes to sleep and be woken (5 to 50 us).
const LOOKING: Duration = Duration::from_micros(100);

/// Waits at most that sleep at once after looking was in vain: it costs each of them 0.2 us.
const REST_MAX: u32 = 512;

/// Looks before it sleeps while that is worth it, which it learns from its own success: where the
/// peer needs the core that looks, or has nothing to say, looking is in vain, and after each such
/// time twice as many waits sleep at once. A success saves little, so it takes back but one. How
/// soon something came while asleep tells nothing: it comes just as soon where only sleeping lets
/// the peer run.
#[derive(Debug)]
pub struct Patience {
    since: Instant,
    /// Waits that still sleep at once.
    resting: u32,
    /// How many that were the last time.
    rest: u32,
}

impl Patience {
    /// At first it looks.
    #[expect(clippy::new_without_default, reason = "a moment has no default")]
    pub fn new() -> Patience {
        Patience { since: Instant::now(), resting: 0, rest: 0 }
    }

    /// A wait begins.
    pub fn begin(&mut self) {
        self.since = Instant::now();
    }

    /// Whether to look once more; if not, it is time to sleep.
    pub fn lasts(&self) -> bool {
        spin_loop();
        self.resting == 0 && self.since.elapsed() < LOOKING
    }

    /// Looking has found something.
    pub fn found(&mut self) {
        self.rest = self.rest.saturating_sub(1);
    }

    /// A wait had to sleep.
    pub fn slept(&mut self) {
        if self.resting > 0 {
            self.resting -= 1;
        } else {
            self.rest = (2 * self.rest).clamp(1, REST_MAX);
            self.resting = self.rest;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looking_in_vain_becomes_rare_and_successes_bring_it_back() {
        let mut patience = Patience::new();
        let mut looked = 0;
        for _ in 0..1000 {
            looked += u32::from(patience.resting == 0);
            patience.slept();
        }
        assert!((5..15).contains(&looked), "{looked}");
        while patience.resting > 0 {
            patience.slept();
        }
        (0..REST_MAX).for_each(|_| patience.found());
        patience.slept();
        assert_eq!(patience.resting, 1);
    }
}
