//! The daemon's side: a handle on one tree of processes. See the story in [`super`].

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio as CommandStdio};
use std::sync::Mutex;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::net::{Shutdown, shutdown};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use super::link::{self, Failure, Note, Order, Received, Stage, Usage};
use super::spec::{Invalid, Spec};
use super::sys::{SIGNAL_MAX, holds};

/// The program's standard streams. The daemon's copies are closed once they are handed over.
#[derive(Debug)]
pub struct Stdio {
    /// Descriptor 0.
    pub stdin: OwnedFd,
    /// Descriptor 1.
    pub stdout: OwnedFd,
    /// Descriptor 2.
    pub stderr: OwnedFd,
}

/// Why a shepherd could not be sent off.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The order cannot be carried out by any kernel.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// The order cannot be written down: a path is not UTF-8.
    #[error("cannot encode the order: {0}")]
    Encode(#[from] serde_json::Error),
    /// No descriptors, memory or processes are left for one more shepherd.
    #[error("cannot start a shepherd: {0}")]
    Spawn(#[from] io::Error),
}

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
    },
    /// No process is left. With neither `Exited` nor `Failed` before it the tree was killed from
    /// outside, and its status is that of SIGKILL.
    Gone,
}

/// A tree of processes: a program with all its descendants. Dropping it kills them.
#[derive(Debug)]
pub struct Ward {
    link: OwnedFd,
    /// Taken only by `drop`.
    keeper: Option<Child>,
    keeper_pid: u32,
    /// Pidfd of the keeper; signals through it cannot hit a stranger.
    keeper_fd: OwnedFd,
    /// Pidfd of the init, as soon as it is known.
    init: Option<OwnedFd>,
    /// Reports that were read while looking for something else.
    reports: VecDeque<Report>,
    over: bool,
}

impl Ward {
    /// Starts a program under a shepherd. Returns when the shepherd exists; what becomes of the
    /// program is told by [`Ward::receive`].
    pub fn start(spec: &Spec, stdio: Stdio) -> Result<Ward, Error> {
        Ward::start_with(Path::new("/proc/self/exe"), &["shepherd"], spec, stdio)
    }

    /// Starts a program under a shepherd that is another binary: one that calls
    /// [`child_main`](super::child_main) when it is given `args`.
    pub fn start_with(exe: &Path, args: &[&str], spec: &Spec, stdio: Stdio) -> Result<Ward, Error> {
        spec.check()?;
        reap();
        let cargo = if spec.identity.as_ref().is_some_and(|who| holds(who).unwrap_or(false)) {
            // Said here, because inside a user namespace the groups cannot be recognized.
            write_down(&Spec { identity: None, ..spec.clone() })?
        } else {
            write_down(spec)?
        };
        let (ours, theirs) = link::pair()?;
        // Sent before there is anybody to read: the shepherd finds all it needs at once.
        let fds = [stdio.stdin.as_fd(), stdio.stdout.as_fd(), stdio.stderr.as_fd(), cargo.as_fd()];
        link::send(ours.as_fd(), &Order::Run, &fds)?;
        drop(stdio);
        let mut keeper = Command::new(exe)
            .arg0("muster")
            .args(args)
            .env_clear()
            .stdin(CommandStdio::from(theirs))
            .stdout(CommandStdio::null())
            .stderr(CommandStdio::null())
            .spawn()?;
        let pid = Pid::from_child(&keeper);
        let keeper_fd = match pidfd_open(pid, PidfdFlags::empty()) {
            Ok(fd) => fd,
            Err(error) => {
                // It cannot have been reaped by anyone else, so this kills nobody else.
                let _ = keeper.kill();
                let _ = keeper.wait();
                return Err(Error::Spawn(error.into()));
            }
        };
        Ok(Ward {
            link: ours,
            keeper_pid: keeper.id(),
            keeper: Some(keeper),
            keeper_fd,
            init: None,
            reports: VecDeque::new(),
            over: false,
        })
    }

    /// The descriptor to poll for reading. It never blocks; read it with [`Ward::receive`] only.
    pub fn link(&self) -> BorrowedFd<'_> {
        self.link.as_fd()
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
        if !(1..=SIGNAL_MAX).contains(&signal) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        link::send(self.link(), &Order::Signal(signal), &[])
    }

    /// Kills every process of the tree, stopped and frozen ones included, and the start of it
    /// where it has not got further. Returns at once; [`Report::Gone`] tells when it is done.
    pub fn kill(&mut self) {
        if self.over {
            return;
        }
        // The init's pidfd may be among what was not read yet.
        while self.pull().unwrap_or(false) {}
        // Errors below mean that it has ended already.
        let _ = shutdown(&self.link, Shutdown::Write);
        if let Some(init) = &self.init {
            let _ = pidfd_send_signal(init, Signal::KILL);
        }
        // A stopped keeper could not reap. It is never killed while it can: an orphaned init
        // would become a zombie wherever pid 1 does not reap.
        let _ = pidfd_send_signal(&self.keeper_fd, Signal::CONT);
    }

    /// Process id of the keeper, for messages.
    pub fn keeper_pid(&self) -> u32 {
        self.keeper_pid
    }

    /// Takes one message off the link; `false` when there is none.
    fn pull(&mut self) -> io::Result<bool> {
        if self.over {
            return Ok(false);
        }
        match link::receive::<Note>(self.link.as_fd()) {
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
                self.init = received.descriptors.into_iter().next();
                return;
            }
            Note::Started => Report::Started { pid: received.about.unwrap_or(0) },
            Note::Failed(Failure { stage, errno, what }) => Report::Failed { stage, errno, what },
            Note::Exited { status, usage } => Report::Exited { status, usage },
        };
        self.reports.push_back(report);
    }

    /// The link has ended: keeper and init have closed it, which they do only by ending.
    fn bury(&mut self) {
        self.over = true;
        self.reports.push_back(Report::Gone);
        if let Some(init) = &self.init {
            // Ended long ago if the keeper left in order. If the keeper was killed, the kernel
            // is about to end the namespace.
            let mut fds = [PollFd::new(init, PollFlags::IN)];
            let _ = poll(&mut fds, Some(&Timespec { tv_sec: 1, tv_nsec: 0 }));
        }
        let _ = pidfd_send_signal(&self.keeper_fd, Signal::KILL);
        if let Some(mut keeper) = self.keeper.take() {
            let _ = keeper.wait();
        }
    }
}

impl Drop for Ward {
    fn drop(&mut self) {
        self.kill();
        if let Some(keeper) = self.keeper.take() {
            // Killing takes its time, and a drop must not.
            lock_unreaped().push(keeper);
            reap();
        }
    }
}

/// Keepers whose ward was dropped before its end.
static UNREAPED: Mutex<Vec<Child>> = Mutex::new(Vec::new());

fn lock_unreaped() -> std::sync::MutexGuard<'static, Vec<Child>> {
    // A list of children is whole whatever panicked.
    UNREAPED.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Reaps the keepers of dropped wards, and says how many are still to come. Every start and every
/// drop does this; a daemon that wants no zombie waiting for the next one calls it now and then.
pub fn reap() -> usize {
    let mut unreaped = lock_unreaped();
    unreaped.retain_mut(|keeper| matches!(keeper.try_wait(), Ok(None)));
    unreaped.len()
}

/// Puts the spec where its size does not matter: no socket message holds a large environment.
fn write_down(spec: &Spec) -> Result<OwnedFd, Error> {
    let text = serde_json::to_vec(spec)?;
    let fd = memfd_create("muster-spec", MemfdFlags::CLOEXEC).map_err(io::Error::from)?;
    let mut file = File::from(fd);
    file.write_all(&text)?;
    Ok(file.into())
}
