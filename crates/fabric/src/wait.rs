//! Waiting: look a while without sleeping, then sleep.
//!
//! To look again and again is the fastest way to see something that is about to come, and burns a
//! core that another rank may need. So a [`Waiter`] looks for a moment that is some sleeps long,
//! and when it has looked in vain it sleeps at once the next time, then twice, four times and so
//! on, up to 1024 times: who is never served while looking spends 50 ns a wait on it. Once
//! served, it looks every time. That is enough for two that answer each other: one that looks sees
//! the answer of one that has to be woken, and then answers fast enough for the other to see.
//!
//! It never offers its core to others (`sched_yield`): who gives it away like that gets it back
//! after their time slices, some milliseconds, but who sleeps gets it when it is woken.

use crate::deadline::Deadline;
use crate::error::Result;
use std::time::{Duration, Instant};

/// What is waited for, and how to sleep until it comes.
pub trait Sleeper {
    /// Looks, without waiting.
    fn is_ready(&mut self) -> bool;

    /// Sleeps until it may have come, at most so long.
    ///
    /// # Errors
    /// What ends the wait.
    fn sleep(&mut self, most: Duration) -> Result<()>;
}

/// How long is looked: a sleep and a wake-up cost 5 to 25 us, for this side and again for the other
/// one, which is what waiting the wrong way may cost.
const LOOK: Duration = Duration::from_micros(50);

/// Looks between two readings of the clock; some 100 ns.
const LOOKS: u32 = 16;

/// The most waits in a row that do not look.
const SKIP_MAX: u32 = 1024;

/// How one end waits; it learns.
#[derive(Debug, Default)]
pub struct Waiter {
    /// Waits that still sleep at once.
    skip: u32,
    /// How many did after the last look in vain.
    skipped: u32,
}

impl Waiter {
    /// Waits until `sleeper` is ready; false when the deadline has passed before.
    ///
    /// # Errors
    /// What [`Sleeper::sleep`] says.
    pub fn wait(&mut self, sleeper: &mut impl Sleeper, deadline: Deadline) -> Result<bool> {
        if self.looks(sleeper, deadline) {
            return Ok(true);
        }
        while !sleeper.is_ready() {
            let Some(left) = deadline.left() else { return Ok(false) };
            sleeper.sleep(left)?;
        }
        Ok(true)
    }

    /// Looks for as long as it makes sense, and learns.
    fn looks(&mut self, sleeper: &mut impl Sleeper, deadline: Deadline) -> bool {
        if self.skip > 0 {
            self.skip -= 1;
            return false;
        }
        if (0..LOOKS).any(|_| look(sleeper)) {
            self.skipped = 0;
            return true;
        }
        // A wait that must end sooner tells nothing about what looking is good for.
        if deadline.left().is_none_or(|left| left <= LOOK) {
            return false;
        }
        let is_seen = look_for(sleeper, LOOK);
        self.skipped = if is_seen { 0 } else { (2 * self.skipped).clamp(1, SKIP_MAX) };
        self.skip = self.skipped;
        is_seen
    }
}

/// One look, and a moment for the core's other thread.
fn look(sleeper: &mut impl Sleeper) -> bool {
    let is_ready = sleeper.is_ready();
    if !is_ready {
        std::hint::spin_loop();
    }
    is_ready
}

fn look_for(sleeper: &mut impl Sleeper, most: Duration) -> bool {
    let start = Instant::now();
    while start.elapsed() < most {
        if (0..LOOKS).any(|_| look(sleeper)) {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ready after so many sleeps.
    struct After(u32);

    impl Sleeper for After {
        fn is_ready(&mut self) -> bool {
            self.0 == 0
        }

        fn sleep(&mut self, _most: Duration) -> Result<()> {
            self.0 -= 1;
            Ok(())
        }
    }

    #[test]
    fn a_wait_sleeps_until_what_it_waits_for_has_come_or_its_deadline_has() {
        let mut waiter = Waiter::default();
        assert!(waiter.wait(&mut After(3), Deadline::after(Duration::from_secs(20))).unwrap());
        assert!(waiter.wait(&mut After(0), Deadline::now()).unwrap());
        assert!(!waiter.wait(&mut After(3), Deadline::now()).unwrap());
    }

    #[test]
    fn who_is_never_served_while_looking_ends_up_sleeping_at_once() {
        let mut waiter = Waiter::default();
        for _ in 0..4 * SKIP_MAX {
            waiter.wait(&mut After(1), Deadline::after(Duration::from_secs(20))).unwrap();
        }
        assert_eq!(waiter.skipped, SKIP_MAX, "{waiter:?}");
    }

    /// Ready after so many looks.
    struct Looked(u32);

    impl Sleeper for Looked {
        fn is_ready(&mut self) -> bool {
            self.0 = self.0.saturating_sub(1);
            self.0 == 0
        }

        fn sleep(&mut self, _most: Duration) -> Result<()> {
            Ok(())
        }
    }

    #[test]
    fn who_is_served_again_while_looking_looks_every_time() {
        let mut waiter = Waiter { skip: SKIP_MAX, skipped: SKIP_MAX };
        // Now and then a look may end early, where others have the core.
        for _ in 0..10_000 {
            waiter.wait(&mut Looked(40), Deadline::after(Duration::from_secs(20))).unwrap();
            if waiter.skipped == 0 {
                assert_eq!(waiter.skip, 0);
                return;
            }
        }
        panic!("{waiter:?}");
    }
}
