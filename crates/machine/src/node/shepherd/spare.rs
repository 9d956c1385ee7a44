//! Inits that are free: the programs they had have left nothing behind, and they wait for another.
//!
//! What they were made with must still be so. Their mounts are a copy of the machine's, which need
//! not hear of what is mounted there afterwards, and keeps from being unmounted what was mounted
//! before: a change of the machine's mounts ends them all.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard};

use muster_base::limits::SPARE_INITS_MAX;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::link;
use super::spawner::Keeper;
use crate::usage::Usage;

/// The daemon's side of an init.
#[derive(Debug)]
pub(super) struct Tie {
    pub(super) link: OwnedFd,
    pub(super) keeper: Arc<Keeper>,
    /// Pidfd of the init, as soon as it is known.
    pub(super) init: Option<OwnedFd>,
    /// What the programs before the one it has now have used.
    pub(super) spent: Usage,
    /// How often the machine's mounts had changed when it was made.
    pub(super) changes: u64,
}

impl Tie {
    /// Whether it can be given an order. One that is killed may have its link open for a moment.
    fn lives(&self) -> bool {
        let Some(init) = &self.init else { return false };
        matches!(poll(&mut [PollFd::new(init, PollFlags::IN)], Some(&Timespec::default())), Ok(0))
    }
}

/// All that are free of one daemon's.
#[derive(Debug)]
pub(crate) struct Spares {
    free: Mutex<Free>,
    /// Tells when the machine's mounts change.
    mounts: Option<Mounts>,
}

#[derive(Debug, Default)]
struct Free {
    ties: Vec<Tie>,
    /// How often the machine's mounts have changed.
    changes: u64,
    /// There are to be no more.
    is_closed: bool,
}

impl Free {
    /// The machine's mounts have changed. Those that are to be ended.
    fn change(&mut self) -> Vec<Tie> {
        self.changes += 1;
        std::mem::take(&mut self.ties)
    }
}

impl Spares {
    pub(super) fn new() -> Spares {
        Spares { free: Mutex::default(), mounts: Mounts::watch().ok() }
    }

    fn lock(&self) -> MutexGuard<'_, Free> {
        // They are there or not, whatever panicked.
        self.free.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// How often the machine's mounts have changed so far.
    pub(super) fn changes(&self) -> u64 {
        self.lock().changes
    }

    /// Gives an order to one of them, if there is one.
    pub(super) fn employ(&self, order: &[u8], fds: &[BorrowedFd]) -> Option<Tie> {
        let mounts = self.mounts.as_ref()?;
        let mut free = self.lock();
        if mounts.have_changed() {
            drop(free.change());
        }
        while let Some(tie) = free.ties.pop() {
            if tie.lives() && link::send_written(tie.link.as_fd(), order, fds).is_ok() {
                return Some(tie);
            }
            // Where one has died, as with their keeper, others may have.
            free.ties.retain(Tie::lives);
        }
        None
    }

    /// Takes one that has become free.
    pub(super) fn put(&self, tie: Tie) {
        let mut free = self.lock();
        let is_fresh = tie.changes == free.changes && self.mounts.is_some();
        if is_fresh && !free.is_closed && free.ties.len() < SPARE_INITS_MAX {
            free.ties.push(tie);
        }
    }

    /// The machine's mounts have changed.
    pub(crate) fn clear(&self) {
        let ended = self.lock().change();
        drop(ended);
    }

    /// Ends those that there are, and takes no more.
    pub(super) fn close(&self) {
        let mut free = self.lock();
        free.is_closed = true;
        let ended = free.change();
        drop(free);
        drop(ended);
    }
}

/// Sees the mounts of the caller's namespace change (proc_pid_mountinfo(5)).
#[derive(Debug)]
pub(crate) struct Mounts(File);

impl Mounts {
    /// Begins to look.
    pub(crate) fn watch() -> io::Result<Mounts> {
        File::open("/proc/self/mountinfo").map(Mounts)
    }

    /// Whether they have changed since the last time.
    pub(super) fn have_changed(&self) -> bool {
        let mut fds = [PollFd::new(&self.0, PollFlags::PRI)];
        !matches!(poll(&mut fds, Some(&Timespec::default())), Ok(0))
    }
}

impl AsFd for Mounts {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
