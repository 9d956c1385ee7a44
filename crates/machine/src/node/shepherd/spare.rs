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
    /// Whether its `/proc` is to show only its session's processes.
    pub(super) fresh_proc: bool,
    /// What the programs before the one it has now have used.
    pub(super) spent: Usage,
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
    /// None once there are to be no more.
    free: Mutex<Option<Vec<Tie>>>,
    /// Tells when the machine's mounts change.
    mounts: Option<Mounts>,
}

impl Spares {
    pub(super) fn new() -> Spares {
        Spares { free: Mutex::new(Some(Vec::new())), mounts: Mounts::watch().ok() }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Vec<Tie>>> {
        // They are there or not, whatever panicked.
        self.free.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Gives an order to one of them, if there is one with such a `/proc`.
    pub(super) fn employ(&self, fresh_proc: bool, order: &[u8], fds: &[BorrowedFd]) -> Option<Tie> {
        let mounts = self.mounts.as_ref()?;
        let mut free = self.lock();
        if mounts.have_changed() {
            free.iter_mut().for_each(Vec::clear);
        }
        let free = free.as_mut()?;
        while let Some(at) = free.iter().rposition(|tie| tie.fresh_proc == fresh_proc) {
            let tie = free.remove(at);
            if tie.lives() && link::send_written(tie.link.as_fd(), order, fds).is_ok() {
                return Some(tie);
            }
        }
        None
    }

    /// Takes one that has become free.
    pub(super) fn put(&self, tie: Tie) {
        if let (Some(free), Some(_)) = (self.lock().as_mut(), &self.mounts)
            && free.len() < SPARE_INITS_MAX
        {
            free.push(tie);
        }
    }

    /// Ends those that there are.
    pub(crate) fn clear(&self) {
        let ended = self.lock().as_mut().map(std::mem::take);
        drop(ended);
    }

    /// Ends those that there are, and takes no more.
    pub(super) fn close(&self) {
        let ended = self.lock().take();
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
