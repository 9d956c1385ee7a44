//! Waiting: look a while without sleeping, then sleep.
//!
//! To look again and again is the fastest way to see something that is about to come, and burns a
//! core that another rank may need. So a [`Waiter`] looks only as long as that paid off lately:
//! what came while it looked, or so soon after that a sleep cost as much, lets it look longer the
//! next time, what did not halves that, down to nothing. So two that answer each other do not both
//! go on sleeping because the other one does. In between it offers the core to others
//! (`sched_yield`). When somebody takes it, more want to run than there are cores; then it sleeps
//! at once, and tries again to look only after some waits.

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

/// The longest that is looked: a sleep and a wake-up cost some 5 us, and several times that is what
/// waiting the wrong way may cost.
const LOOK_MAX: Duration = Duration::from_micros(50);

/// What came within this, asleep or not, would have been seen by looking if the other side had
/// looked as well: its sleep and its wake-up are in it.
const SOON: Duration = Duration::from_micros(100);

/// How long is looked at first.
const LOOK_FIRST: Duration = Duration::from_micros(20);

/// Shorter is not worth reading the clock for: do not look.
const LOOK_MIN: Duration = Duration::from_micros(1);

/// Looks between two readings of the clock; some 100 ns.
const LOOKS: u32 = 16;

/// How long is looked before the core is offered: two that answer each other with 64 KB wait some
/// 10 us each, and who gives its core away then loses a time slice of some 3 ms.
const OFFER: Duration = Duration::from_micros(20);

/// An offer that took longer was taken by somebody; an empty one takes some 0.5 us.
const TAKEN: Duration = Duration::from_micros(4);

/// Waits after which a crowded core is tried again.
const RETRY: u32 = 64;

/// How one end waits; it learns.
#[derive(Debug)]
pub struct Waiter {
    look: Duration,
    /// Waits that sleep at once, because others need the core.
    crowded: u32,
}

impl Default for Waiter {
    fn default() -> Waiter {
        Waiter { look: LOOK_FIRST, crowded: 0 }
    }
}

/// How looking ended.
#[derive(PartialEq, Eq)]
enum Looked {
    Seen,
    InVain,
    Crowded,
}

impl Waiter {
    /// Waits until `sleeper` is ready; false when the deadline has passed before.
    ///
    /// # Errors
    /// What [`Sleeper::sleep`] says.
    pub fn wait(&mut self, sleeper: &mut impl Sleeper, deadline: Deadline) -> Result<bool> {
        if (0..LOOKS).any(|_| look(sleeper)) {
            return Ok(true);
        }
        let since = Instant::now();
        if self.looks(sleeper, deadline) {
            return Ok(true);
        }
        while !sleeper.is_ready() {
            let Some(left) = deadline.left() else { return Ok(false) };
            sleeper.sleep(left)?;
        }
        if since.elapsed() < SOON {
            self.look = LOOK_MAX;
        }
        Ok(true)
    }

    /// Looks for as long as it makes sense, and learns.
    fn looks(&mut self, sleeper: &mut impl Sleeper, deadline: Deadline) -> bool {
        if self.crowded > 0 {
            self.crowded -= 1;
            return false;
        }
        // A wait that must end sooner tells nothing about what looking is good for.
        if deadline.left().is_none_or(|left| left <= self.look) {
            return false;
        }
        let looked = look_for(sleeper, self.look);
        match looked {
            Looked::Seen => self.look = (self.look * 2).clamp(LOOK_FIRST, LOOK_MAX),
            Looked::InVain => self.look /= 2,
            Looked::Crowded => self.crowded = RETRY,
        }
        if self.look < LOOK_MIN {
            // Looking does not pay: try it again only now and then.
            (self.crowded, self.look) = (RETRY / 4, LOOK_MIN * 2);
        }
        looked == Looked::Seen
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

fn look_for(sleeper: &mut impl Sleeper, most: Duration) -> Looked {
    let start = Instant::now();
    let mut offered = start;
    loop {
        if (0..LOOKS).any(|_| look(sleeper)) {
            return Looked::Seen;
        }
        let now = Instant::now();
        if now - start >= most {
            return Looked::InVain;
        }
        if now - offered >= OFFER {
            std::thread::yield_now();
            offered = Instant::now();
            if offered - now > TAKEN {
                return if sleeper.is_ready() { Looked::Seen } else { Looked::Crowded };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ready after so many sleeps, of so long each.
    struct After(u32, Duration);

    const NOTHING: Duration = Duration::ZERO;

    impl Sleeper for After {
        fn is_ready(&mut self) -> bool {
            self.0 == 0
        }

        fn sleep(&mut self, _most: Duration) -> Result<()> {
            self.0 -= 1;
            std::thread::sleep(self.1);
            Ok(())
        }
    }

    #[test]
    fn a_wait_sleeps_until_what_it_waits_for_has_come_or_its_deadline_has() {
        let mut waiter = Waiter::default();
        assert!(
            waiter.wait(&mut After(3, NOTHING), Deadline::after(Duration::from_secs(20))).unwrap()
        );
        assert!(waiter.wait(&mut After(0, NOTHING), Deadline::now()).unwrap());
        assert!(!waiter.wait(&mut After(3, NOTHING), Deadline::now()).unwrap());
    }

    #[test]
    fn who_is_never_served_while_looking_ends_up_sleeping_at_once() {
        let mut waiter = Waiter::default();
        for _ in 0..20 {
            waiter.wait(&mut After(1, SOON * 2), Deadline::after(Duration::from_secs(20))).unwrap();
        }
        assert!(waiter.crowded > 0 || waiter.look <= LOOK_MIN * 2, "{waiter:?}");
    }

    #[test]
    fn who_is_served_soon_looks_again_although_looking_was_in_vain() {
        let mut waiter = Waiter { look: LOOK_MIN, crowded: 0 };
        // A sleep of no time may still take longer, where others have the core.
        for _ in 0..10_000 {
            waiter.wait(&mut After(1, NOTHING), Deadline::after(Duration::from_secs(20))).unwrap();
            if waiter.look == LOOK_MAX {
                return;
            }
        }
        panic!("{waiter:?}");
    }
}
