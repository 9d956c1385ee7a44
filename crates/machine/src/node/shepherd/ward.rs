//! The daemon's side: a handle on one tree of processes. See the story in [`super`].

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::sync::Arc;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::{Shutdown, shutdown};
use rustix::process::{Signal, pidfd_send_signal};

use super::link::{self, Failure, Note, Order, Received, Stage};
use super::spare::{Spares, Tie};
use super::spec::Spec;
use super::sys::SIGNAL_MAX;
use crate::usage::Usage;

/// What became of the tree. `Gone` comes last, and always.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Report {
    /// The program was executed.
    Started {
        /// Its pid in the daemon's namespace: to show, not to signal.
        pid: u32,
    },
    /// The program was not executed, and will not be.
    Failed {
        /// The step that failed.
        stage: Stage,
        /// The error of the kernel.
        errno: i32,
        /// What the step was about.
        what: String,
    },
    /// The program has ended; descendants may still run.
    Exited {
        /// Raw status of wait(2).
        status: i32,
        /// What the program and its reaped descendants used.
        usage: Usage,
        /// Descendants still run.
        is_left: bool,
    },
    /// No process is left. With neither `Exited` nor `Failed` before it the tree was killed from
    /// outside, and its status is that of SIGKILL.
    Gone,
}

/// A tree of processes: a program with all its descendants. Dropping it kills them.
#[derive(Debug)]
pub struct Ward {
    tie: Option<Tie>,
    /// Where its init goes when that is free.
    spares: Arc<Spares>,
    /// Reports that were read while looking for something else.
    reports: VecDeque<Report>,
    over: bool,
    is_free: bool,
}

impl Ward {
    /// One whose order has been given there.
    pub(super) fn new(tie: Tie, spares: Arc<Spares>) -> Ward {
        let reports = VecDeque::new();
        Ward { tie: Some(tie), spares, reports, over: false, is_free: false }
    }

    fn tie(&self) -> &Tie {
        self.tie.as_ref().expect("it is there until the drop")
    }

    /// The descriptor to poll for reading. It never blocks; read it with [`Ward::receive`] only.
    pub fn link(&self) -> BorrowedFd<'_> {
        self.tie().link.as_fd()
    }

    /// The next report; `None` when there is none yet, and for ever after [`Report::Gone`]. An
    /// error means that the shepherd is not what it should be: drop the ward.
    pub fn receive(&mut self) -> io::Result<Option<Report>> {
        loop {
            if let Some(report) = self.reports.pop_front() {
                return Ok(Some(report));
            }
            if !self.pull()? {
                return Ok(None);
            }
        }
    }

    /// Has the init signal the program's process group. Before the program runs the signal
    /// waits for it; after its end it reaches what is left of the group.
    pub fn signal(&self, signal: i32) -> io::Result<()> {
        if self.over {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        if !(1..=SIGNAL_MAX).contains(&signal) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        link::send(self.link(), &Order::<Spec>::Signal(signal), &[])
    }

    /// Kills every process of the tree, stopped and frozen ones included, and the start of it
    /// where it has not got further. Returns at once; [`Report::Gone`] tells when it is done.
    pub fn kill(&mut self) {
        if self.over {
            return;
        }
        // The init's pidfd may be among what was not read yet.
        while self.pull().unwrap_or(false) {}
        // It may have ended well, too.
        if self.over {
            return;
        }
        // Errors below mean that it has ended already.
        let Some(Tie { link, init, keeper, .. }) = &self.tie else { return };
        let _ = shutdown(link, Shutdown::Write);
        if let Some(init) = init {
            let _ = pidfd_send_signal(init, Signal::KILL);
        }
        // A stopped keeper could not reap. It is never killed while it can: an orphaned init
        // would become a zombie wherever pid 1 does not reap.
        let _ = pidfd_send_signal(&keeper.pidfd, Signal::CONT);
    }

    /// Process id of the init, as far as it is known and lives: to look at what its children use.
    pub fn init_pid(&self) -> Option<u32> {
        let init = self.tie().init.as_ref()?;
        let told = std::fs::read_to_string(format!("/proc/self/fdinfo/{}", init.as_raw_fd()));
        let told = told.ok()?;
        let pid = told.lines().find_map(|line| line.strip_prefix("Pid:"))?;
        // An init that has ended has -1.
        pid.trim().parse().ok()
    }

    /// Lets it go, its link being polled by nobody any more: an init that is free serves another.
    pub fn release(mut self) {
        if let (true, Some(tie)) = (self.is_free, self.tie.take()) {
            self.spares.put(tie);
        }
    }

    /// What the kernel counts for the init though it is not of this program: what those have used
    /// that it has had before.
    pub fn spent(&self) -> Usage {
        self.tie().spent
    }

    /// Process id of the keeper, for messages.
    pub fn keeper_pid(&self) -> u32 {
        self.tie().keeper.pid
    }

    /// Takes one message off the link; `false` when there is none.
    fn pull(&mut self) -> io::Result<bool> {
        if self.over {
            return Ok(false);
        }
        match link::receive::<Note>(self.link()) {
            Ok(Some(received)) => self.take(received),
            Ok(None) => self.bury(),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
            Err(error) => return Err(error),
        }
        Ok(true)
    }

    fn take(&mut self, received: Received<Note>) {
        let report = match received.message {
            Note::Init => {
                if let Some(tie) = &mut self.tie {
                    tie.init = received.descriptors.into_iter().next();
                }
                return;
            }
            Note::Started => Report::Started { pid: received.about.unwrap_or(0) },
            Note::Failed(Failure { stage, errno, what }) => Report::Failed { stage, errno, what },
            Note::Exited { status, usage, is_left, is_free } => {
                if let (true, Some(tie)) = (is_free, &mut self.tie) {
                    tie.spent = tie.spent.and(&usage);
                    (self.over, self.is_free) = (true, true);
                }
                Report::Exited { status, usage, is_left }
            }
        };
        self.reports.push_back(report);
        if self.is_free {
            self.reports.push_back(Report::Gone);
        }
    }

    /// The link has ended: keeper and init have closed it, which they do only by ending.
    fn bury(&mut self) {
        self.over = true;
        self.reports.push_back(Report::Gone);
        if let Some(init) = &self.tie().init {
            // Ended long ago if the keeper left in order. If the keeper was killed, the kernel
            // is about to end the namespace.
            let mut fds = [PollFd::new(init, PollFlags::IN)];
            let _ = poll(&mut fds, Some(&Timespec { tv_sec: 1, tv_nsec: 0 }));
        }
    }
}

impl Drop for Ward {
    fn drop(&mut self) {
        self.kill();
    }
}
