//! Processors that do not sleep deeply while ranks wait for one another.
//!
//! A rank that sleeps is woken on a processor that has nothing to do, and that has to come back
//! from where it has gone meanwhile: 1 us from a light sleep, 100 us from a deep one, and 20 to 40
//! us where it is a guest's, which its host gives to others. Drivers ask the kernel not to let
//! processors go farther than some latency by the file below (Linux's
//! `Documentation/power/pm_qos_interface.rst`): for as long as it is held open, whatever becomes of
//! who holds it. So may a daemon that runs as root, or was given that file; for others nothing
//! changes.
//!
//! A guest's processor says it were back after 1 us, and is not. Only at 0 does its kernel look for
//! something to do instead of giving it away: all idle processors do, also those that no rank uses.
//! No program of the guest waits for that, but the host sees busy processors, and one that shares a
//! core with another slows it a little. So it is not asked for a rank alone, nor while all ranks
//! sleep.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::time::{Duration, Instant};

/// Where the kernel is asked.
const FILE: &str = "/dev/cpu_dma_latency";

/// Who puts processors to sleep.
const DRIVER: &str = "/sys/devices/system/cpu/cpuidle/current_driver";

/// Latencies that are asked for, in microseconds: the lightest sleeps of real processors take 1 or
/// 2, the next ones from 10 on.
const LIGHT: i32 = 5;
const NONE: i32 = 0;

/// How often it is looked whether anybody is awake.
const LOOK: Duration = Duration::from_secs(1);

/// Looks after which ranks that were asleep each time are taken to be so for long.
const LOOKS: u32 = 3;

/// Keeps them awake while anybody is.
pub(super) struct Awake {
    held: Option<File>,
    is_alone: bool,
    looked: Instant,
    /// Looks at which all slept, in a row.
    times: u32,
}

impl Awake {
    /// A job begins, whose ranks will wait for one another if it has more than one.
    pub(super) fn new(is_alone: bool) -> Awake {
        let held = if is_alone { None } else { hold() };
        Awake { held, is_alone, looked: Instant::now(), times: 0 }
    }

    /// Looks now and then whether anybody is awake; to be called at least as often.
    pub(super) fn attend(&mut self, is_anybody_awake: impl FnOnce() -> bool) {
        if self.is_alone || self.looked.elapsed() < LOOK {
            return;
        }
        self.looked = Instant::now();
        self.times = if is_anybody_awake() { 0 } else { self.times + 1 };
        if self.times >= LOOKS {
            self.held = None;
        } else if self.times == 0 && self.held.is_none() {
            self.held = hold();
        }
    }
}

/// Asks for it, where that is permitted.
fn hold() -> Option<File> {
    let driver = fs::read_to_string(DRIVER).unwrap_or_default();
    let latency = if driver.trim() == "haltpoll" { NONE } else { LIGHT };
    let mut file = OpenOptions::new().write(true).open(FILE).ok()?;
    file.write_all(&latency.to_ne_bytes()).ok()?;
    Some(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As if a second had passed.
    fn look(awake: &mut Awake, is_anybody_awake: bool) -> bool {
        awake.looked = Instant::now().checked_sub(LOOK).unwrap();
        awake.attend(|| is_anybody_awake);
        awake.held.is_some()
    }

    #[test]
    fn processors_may_sleep_once_all_ranks_do_for_long_and_no_more_when_one_goes_on() {
        let mut awake = Awake::new(false);
        let may = awake.held.is_some();
        awake.looked = Instant::now() + LOOK;
        awake.attend(|| panic!("a second has not passed"));
        assert_eq!([false, false, true].map(|is| look(&mut awake, is)), [may; 3]);
        assert_eq!([false; 3].map(|is| look(&mut awake, is)), [may, may, false]);
        assert!(!look(&mut awake, false));
        assert_eq!(look(&mut awake, true), may);
    }

    #[test]
    fn nothing_is_asked_for_a_rank_alone() {
        let mut awake = Awake::new(true);
        assert!(awake.held.is_none() && !look(&mut awake, true));
    }

    #[test]
    fn what_is_asked_for_is_what_the_kernel_then_has() {
        let Some(_held) = hold() else { return };
        let mut had = [0; 4];
        let Ok(file) = File::open(FILE) else { return };
        // Others may ask for less.
        std::os::unix::fs::FileExt::read_exact_at(&file, &mut had, 0).unwrap();
        assert!(i32::from_ne_bytes(had) <= LIGHT);
    }
}
