//! How often a program's output is handed on.
//!
//! Each piece wakes five threads on its way to the terminal, 0.1 ms of processors that ranks may
//! want: a program that flushes each of 300 lines ran 4 % longer (docs/decisions/waiting.md). So
//! after a few pieces in a row the pipe is left to fill for a moment that nobody sees. Who writes
//! much is not held up: pieces that are long are handed on at once, and a pipe that is found
//! nearly full after a rest has the next one shortened.

use std::time::{Duration, Instant};

/// Between two pieces of a program that goes on writing: 50 a second.
const PAUSE: Duration = Duration::from_millis(20);

/// The same where the pipe is nearly full by then, at least: 64 MB/s.
const LEAST: Duration = Duration::from_millis(1);

/// Pieces that are handed on at once, after a silence of as many pauses.
const BURST: u32 = 3;

/// A piece of that part of what the pipe holds is worth its way: 8 KiB of 64.
const LONG: usize = 8;

/// The pace of one stream.
#[derive(Debug)]
pub(super) struct Pace {
    /// Until when the pieces that were handed on would have taken, a pause each.
    booked: Instant,
    pause: Duration,
    rested: bool,
    /// Bytes of a piece that is worth its way.
    long: usize,
}

impl Pace {
    /// Of a pipe that holds so many bytes.
    pub(super) fn new(now: Instant, pipe: usize) -> Pace {
        Pace { booked: now, pause: PAUSE, rested: false, long: pipe / LONG }
    }

    /// A piece of so many bytes was handed on. Until when the next is to be left, if at all.
    pub(super) fn passed(&mut self, bytes: usize, now: Instant) -> Option<Instant> {
        if std::mem::take(&mut self.rested) {
            let next = if bytes >= self.long { self.pause / 4 } else { self.pause * 2 };
            self.pause = next.clamp(LEAST, PAUSE);
        }
        if bytes >= self.long {
            self.booked = now;
            return None;
        }
        self.booked = self.booked.max(now) + self.pause;
        let due = self.booked - self.pause * BURST;
        self.rested = due > now;
        self.rested.then_some(due)
    }

    /// Somebody has answered: what comes next is waited for.
    pub(super) fn answered(&mut self, now: Instant) {
        self.booked = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn a_few_lines_are_handed_on_at_once_and_many_fifty_times_a_second() {
        let start = Instant::now();
        let (mut pace, mut now, mut pieces) = (Pace::new(start, 64 * 1024), start, 0);
        // One line each millisecond, for a second.
        while now < start + 1000 * MS {
            let rest = pace.passed(50, now);
            pieces += 1;
            assert_eq!(rest.is_some(), pieces > BURST, "{pieces}");
            now = rest.map_or(now + MS, |due| due.max(now + MS));
        }
        assert!((50..=54).contains(&pieces), "{pieces}");
        // After a silence it begins again.
        now += PAUSE * (BURST + 1);
        assert_eq!(pace.passed(50, now), None);
    }

    #[test]
    fn lines_that_are_far_apart_never_wait() {
        let start = Instant::now();
        let mut pace = Pace::new(start, 64 * 1024);
        assert!((1..1000).all(|at| pace.passed(50, start + PAUSE * at).is_none()));
    }

    #[test]
    fn who_answers_is_never_kept_waiting() {
        let start = Instant::now();
        let mut pace = Pace::new(start, 64 * 1024);
        for at in 0..1000 {
            let now = start + MS * at;
            assert_eq!(pace.passed(50, now), None);
            pace.answered(now);
        }
    }

    #[test]
    fn who_writes_much_is_held_up_less_and_less() {
        let start = Instant::now();
        let (mut pace, mut now) = (Pace::new(start, 64 * 1024), start);
        assert_eq!(pace.passed(64 * 1024, now), None);
        let (mut held, mut taken) = (Duration::ZERO, 0);
        for _ in 0..200 {
            // Short pieces while somebody looks, and a full pipe after each rest.
            let bytes = if pace.rested { 64 * 1024 } else { 100 };
            taken += bytes;
            if let Some(due) = pace.passed(bytes, now) {
                held += due - now;
                now = due;
            }
        }
        assert_eq!(pace.pause, LEAST);
        assert!(taken as f64 / held.as_secs_f64() > 3e7, "{taken} bytes in {held:?}");
        // And when it writes little again, it rests as long as before.
        for _ in 0..20 {
            now = pace.passed(50, now).unwrap_or(now);
        }
        assert_eq!(pace.pause, PAUSE);
    }
}
