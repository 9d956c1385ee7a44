//! The hands of the strober: what stops the jobs of a table, and lets them go on.

use super::place::Place;
use crate::slots::Slots;
use muster_base::limits::SLOTS_MAX;
use rustix::process::Signal;
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::thread;
use std::time::Duration;

/// What can be stopped.
pub(super) struct Hands {
    place: Place,
    /// By number.
    jobs: BTreeMap<u32, Held>,
    failed: usize,
}

/// Who is real-time is killed if he does not sleep for long ([`super::sys::SPIN`]), and a table has
/// the jobs of the whole cluster. To make the group of one takes a hundred microseconds.
#[derive(Default)]
struct Breath {
    done: usize,
}

impl Breath {
    /// Jobs between two breaths.
    const JOBS: usize = 32;

    /// How long one is.
    const TIME: Duration = Duration::from_micros(50);

    /// Something was done to a job that takes the kernel time.
    fn done(&mut self) {
        self.done += 1;
        if self.done.is_multiple_of(Self::JOBS) {
            thread::sleep(Self::TIME);
            #[cfg(test)]
            tests::BREATHS.set(tests::BREATHS.get() + 1);
        }
    }
}

/// One job of the table.
struct Held {
    job: u32,
    /// The slots that it is in, a bit each.
    slots: u64,
    /// What it was told last; nothing yet.
    is_stopped: Option<bool>,
    /// Its group's `cgroup.freeze`.
    freezer: Option<File>,
}

const _: () = assert!(SLOTS_MAX <= u64::BITS as usize, "a slot is a bit");

impl Hands {
    /// None is stopped, whatever somebody before has done. What that one has kept goes with the
    /// first table that does not name it.
    pub(super) fn new(place: Place) -> Hands {
        let jobs = place.jobs().into_iter().map(|job| (job, Held::new(job))).collect();
        let hands = Hands { place, jobs, failed: 0 };
        hands.thaw();
        hands
    }

    fn thaw(&self) {
        let mut breath = Breath::default();
        for job in self.place.jobs() {
            self.place.let_run(job);
            breath.done();
        }
    }

    /// Where it stops them.
    pub(super) fn place(&self) -> &Place {
        &self.place
    }

    /// What stops jobs, in a word.
    pub(super) fn by(&self) -> &'static str {
        match self.place {
            Place::Groups(_) => "freezer",
            Place::Lists(_) => "signals",
        }
    }

    /// Jobs that did not obey at the last turn.
    pub(super) fn failed(&self) -> usize {
        self.failed
    }

    /// Takes hold of the jobs of a table, and lets those go that it does not name.
    pub(super) fn take(&mut self, slots: &Slots) {
        let mut before = std::mem::take(&mut self.jobs);
        for (slot, jobs) in slots.slots.iter().enumerate().take(SLOTS_MAX) {
            for job in jobs {
                let held = self.jobs.entry(*job).or_insert_with(|| {
                    let held = before.remove(job).unwrap_or_else(|| Held::new(*job));
                    Held { slots: 0, ..held }
                });
                held.slots |= 1 << slot;
            }
        }
        let mut breath = Breath::default();
        for mut held in before.into_values() {
            if !held.is(&self.place, false) {
                held.set(&self.place, false);
            }
            self.place.release(held.job);
            breath.done();
        }
    }

    /// Begins the turn of a slot.
    pub(super) fn turn(&mut self, slot: usize) {
        self.let_run(1 << slot);
    }

    /// Has the jobs of some slots run, a bit each, and no others. They go on before the others
    /// stop, so that no processor falls idle in between and has to be woken; for some microseconds
    /// all run.
    pub(super) fn let_run(&mut self, slots: u64) {
        self.failed = 0;
        let mut breath = Breath::default();
        for is_stopped in [false, true] {
            for held in self.jobs.values_mut() {
                if (held.slots & slots == 0) != is_stopped || held.is(&self.place, is_stopped) {
                    continue;
                }
                self.failed += usize::from(!held.set(&self.place, is_stopped));
                breath.done();
            }
        }
    }

    /// Lets everything go.
    pub(super) fn let_go(&mut self) {
        self.take(&Slots::default());
        self.thaw();
    }
}

impl Held {
    fn new(job: u32) -> Held {
        Held { job, slots: 0, is_stopped: None, freezer: None }
    }

    /// Whether it needs not be told.
    fn is(&self, place: &Place, is_stopped: bool) -> bool {
        match place {
            Place::Groups(_) => self.is_stopped == Some(is_stopped),
            // Each time: there may be new ranks, and others may have sent signals.
            Place::Lists(_) => false,
        }
    }

    /// Stops the job, or lets it go on; false if that cannot be done.
    fn set(&mut self, place: &Place, is_stopped: bool) -> bool {
        match place {
            Place::Groups(_) => {
                let done = self.freeze(place, is_stopped).is_ok();
                self.is_stopped = done.then_some(is_stopped);
                done
            }
            Place::Lists(_) => {
                place.signal(self.job, if is_stopped { Signal::STOP } else { Signal::CONT });
                true
            }
        }
    }

    fn freeze(&mut self, place: &Place, is_frozen: bool) -> io::Result<()> {
        let text = if is_frozen { b"1" } else { b"0" };
        if let Some(freezer) = &self.freezer
            && freezer.write_at(text, 0).is_ok()
        {
            return Ok(());
        }
        // The first time, or somebody has removed the group.
        let path = place.keep(self.job)?.join("cgroup.freeze");
        let freezer = OpenOptions::new().write(true).open(path)?;
        freezer.write_at(text, 0)?;
        self.freezer = Some(freezer);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;
    use std::cell::Cell;
    use std::fs;

    thread_local! {
        /// How often this thread has slept. (The kernel counts no sleep whose time is over before
        /// it has begun.)
        pub(super) static BREATHS: Cell<usize> = const { Cell::new(0) };
    }

    /// Who is real-time is killed if he does not sleep for long: a table of some hundred jobs ended
    /// the strober, and each that was started after it.
    #[test]
    fn a_table_of_many_jobs_is_taken_begun_and_dropped_with_breaths_in_between() {
        const JOBS: u32 = 1000;
        let scratch = Scratch::new("hands-many");
        let place = Place::Groups(scratch.to_path_buf());
        // What the kernel makes with a group.
        for job in 1..=JOBS {
            fs::create_dir(place.job(job)).unwrap();
            fs::write(place.job(job).join("cgroup.freeze"), "1").unwrap();
        }
        let is_frozen = |job| fs::read(place.job(job).join("cgroup.freeze")).unwrap() == b"1";
        let slept = |work: &mut dyn FnMut()| {
            let before = BREATHS.get();
            work();
            assert!(BREATHS.get() - before >= (JOBS as usize - 1) / Breath::JOBS);
        };
        let mut hands = None;
        slept(&mut || hands = Some(Hands::new(place.clone())));
        let mut hands = hands.unwrap();
        assert!(!(1..=JOBS).any(is_frozen));
        let slots = vec![vec![1], (2..=JOBS).collect()];
        hands.take(&Slots { slice: Duration::from_millis(10), slots });
        slept(&mut || hands.turn(0));
        assert_eq!((hands.failed(), (1..=JOBS).filter(|job| is_frozen(*job)).count()), (0, 999));
        slept(&mut || hands.turn(1));
        assert_eq!((1..=JOBS).filter(|job| is_frozen(*job)).collect::<Vec<_>>(), [1]);
        slept(&mut || hands.take(&Slots::default()));
        assert!(!(1..=JOBS).any(is_frozen));
    }

    #[test]
    fn what_a_strober_before_has_kept_goes_with_the_first_table_that_does_not_name_it() {
        let scratch = Scratch::new("hands-kept");
        let place = Place::Groups(scratch.to_path_buf());
        place.keep(7).unwrap();
        place.keep(8).unwrap();
        let mut hands = Hands::new(place.clone());
        hands.take(&Slots { slice: Duration::from_millis(10), slots: vec![vec![8]] });
        assert_eq!(place.jobs(), [8]);
    }
}
