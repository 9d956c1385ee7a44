//! The hands of the strober: what stops the jobs of a table, and lets them go on.

use super::place::Place;
use crate::slots::Slots;
use muster_base::limits::SLOTS_MAX;
use rustix::process::Signal;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;

/// What can be stopped.
pub(super) struct Hands {
    place: Place,
    jobs: Vec<Held>,
    failed: usize,
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
    /// None is stopped, whatever somebody before has done.
    pub(super) fn new(place: Place) -> Hands {
        place.thaw();
        Hands { place, jobs: Vec::new(), failed: 0 }
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
                let known = self.jobs.iter_mut().find(|held| held.job == *job);
                match known {
                    Some(held) => held.slots |= 1 << slot,
                    None => {
                        let at = before.iter().position(|held| held.job == *job);
                        let held = at.map(|at| before.swap_remove(at));
                        let held = held.unwrap_or_else(|| Held::new(*job));
                        self.jobs.push(Held { slots: 1 << slot, ..held });
                    }
                }
            }
        }
        for mut held in before {
            held.set(&self.place, false);
            self.place.release(held.job);
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
        for is_stopped in [false, true] {
            for held in &mut self.jobs {
                if (held.slots & slots == 0) == is_stopped {
                    self.failed += usize::from(!held.set(&self.place, is_stopped));
                }
            }
        }
    }

    /// Lets everything go.
    pub(super) fn let_go(&mut self) {
        self.take(&Slots::default());
        self.place.thaw();
    }
}

impl Held {
    fn new(job: u32) -> Held {
        Held { job, slots: 0, is_stopped: None, freezer: None }
    }

    /// Stops the job, or lets it go on; false if that cannot be done.
    fn set(&mut self, place: &Place, is_stopped: bool) -> bool {
        match place {
            Place::Groups(_) => {
                let is_so = self.is_stopped == Some(is_stopped);
                let done = is_so || self.freeze(place, is_stopped).is_ok();
                self.is_stopped = done.then_some(is_stopped);
                done
            }
            Place::Lists(_) => {
                // Each time: there may be new ranks, and others may have sent signals.
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
