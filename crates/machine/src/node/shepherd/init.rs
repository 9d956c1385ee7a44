//! The init: process 1 of a session's pid namespace. It starts the program, reaps, passes signals
//! on and reports; when it ends, all of the session ends. See the story in [`super`].

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, Signal, WaitOptions, set_parent_process_death_signal, wait};
use rustix::stdio::{dup2_stdin, stdin};
use rustix::thread::set_name;

use super::account;
use super::link::{self, Failure, Note, Order, Stage};
use super::namespace::{Apart, Granted, fresh_proc};
use super::program;
use super::spec::Spec;
use super::sys;

/// What came with the order.
pub(super) struct Cargo {
    stdio: [OwnedFd; 3],
    spec: Spec,
}

impl Cargo {
    pub(super) fn new(stdio: [OwnedFd; 3], spec: Spec) -> Cargo {
        Cargo { stdio, spec }
    }
}

/// A process that has just been forked to be an init.
pub(super) struct Infant {
    pub(super) link: OwnedFd,
    /// The keeper, to see whether it lives.
    pub(super) keeper: OwnedFd,
    pub(super) cargo: Cargo,
    pub(super) apart: Apart,
}

impl Infant {
    /// The whole life of the init.
    pub(super) fn live(self) -> ! {
        let Infant { link, keeper, cargo, apart } = self;
        // In the place of the keeper's orders, so that streams are all above 2.
        if dup2_stdin(&link).is_err() {
            sys::leave(1)
        }
        drop(link);
        let link = stdin();
        // Any way out of here ends the namespace.
        let ended = match prepare(link, &keeper, cargo, apart) {
            Ok(session) => session.serve(),
            Err(failure) => Err(End::Failed(failure)),
        };
        match ended {
            Ok(()) => sys::leave(0),
            Err(End::Failed(failure)) => {
                let _ = link::send(link, &Note::Failed(failure), &[]);
                sys::leave(1)
            }
            Err(End::Broken) => sys::leave(1),
        }
    }
}

/// Why the init leaves before the session's natural end.
enum End {
    Failed(Failure),
    /// The link or the kernel fails us; there is nobody to tell.
    Broken,
}

impl<E: Into<io::Error>> From<E> for End {
    fn from(_: E) -> End {
        End::Broken
    }
}

/// All up to the program's start, which is told.
fn prepare<'a>(
    link: BorrowedFd<'a>,
    keeper: &OwnedFd,
    cargo: Cargo,
    apart: Apart,
) -> Result<Session<'a>, Failure> {
    let failed = |error: io::Error| Failure::new(Stage::Fork, &error, "the session's init");
    let children = equip(keeper).map_err(failed)?;
    let apart = apart.settle();
    let granted = apart.map_err(|e| Failure::new(Stage::Namespace, &e, "a pid namespace"))?;
    if cargo.spec.fresh_proc && granted.mounts {
        // Masked in many containers; the session can live with the old one.
        let _ = fresh_proc();
    }
    let began = Instant::now();
    let program = start(&cargo, granted)?;
    // Streams held here would keep their readers from seeing the end.
    drop(cargo);
    link::send_about(link, &Note::Started, program).map_err(failed)?;
    Ok(Session { link, children, program, began, own_read: 0, exited: false })
}

/// Ties the init's life to the keeper's, and makes its signal descriptor.
fn equip(keeper: &OwnedFd) -> io::Result<OwnedFd> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    if readable(keeper.as_fd())? {
        sys::leave(1); // It died before we asked to die with it.
    }
    set_name(c"muster-init")?;
    sys::child_signals()
}

/// Starts the program, in its cgroup from the first instruction: no pid in the child.
fn start(cargo: &Cargo, granted: Granted) -> Result<Pid, Failure> {
    let Cargo { spec, stdio } = cargo;
    let stage = if spec.cgroup.is_some() { Stage::Cgroup } else { Stage::Fork };
    let what = spec.cgroup.as_ref().map_or("the program".into(), |path| path.to_string_lossy());
    let failed = |error: io::Error| Failure::new(stage, &error, what.clone());
    let open = |path| rustix::fs::open(path, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty());
    let cgroup = spec.cgroup.as_ref().map(open).transpose().map_err(|e| failed(e.into()))?;
    // A program of another user that runs a script may be looked into by that user, so it gets a
    // copy of this memory, and tells through a pipe why it could not be executed.
    let is_apart = spec.identity.is_some() && !spec.namespace.is_empty();
    let pipe = is_apart.then(|| pipe_with(PipeFlags::CLOEXEC)).transpose();
    let pipe = pipe.map_err(|error| failed(error.into()))?;
    let mut failure = None;
    let program = sys::lend(cgroup.as_ref().map(AsFd::as_fd), is_apart, &mut |is_outside| {
        let Err(why) = program::launch(spec, stdio, granted, is_outside);
        if let Some((_, tell)) = &pipe {
            let _ = rustix::io::write(tell, &serde_json::to_vec(&why).unwrap_or_default());
        }
        failure = Some(why);
        sys::leave(127)
    });
    let program = program.map_err(failed)?;
    if let Some((told, tell)) = pipe {
        drop(tell);
        let mut bytes = Vec::new();
        // All there is: the other side was closed by an exec or an end.
        let _ = File::from(told).read_to_end(&mut bytes);
        failure = serde_json::from_slice(&bytes).ok();
    }
    // Nothing: it has been executed, or a signal struck, and its end tells.
    failure.map_or(Ok(program), Err)
}

/// A session whose program was started.
struct Session<'a> {
    link: BorrowedFd<'a>,
    /// Readable when a child has ended.
    children: OwnedFd,
    /// The program, also the leader of its process group.
    program: Pid,
    /// When it was started.
    began: Instant,
    /// Bytes that the init itself has read.
    own_read: u64,
    exited: bool,
}

impl Session<'_> {
    fn serve(mut self) -> Result<(), End> {
        loop {
            let pending = self.wait()?;
            if pending.closed {
                return Ok(()); // The daemon has gone, or wants the session gone.
            }
            if pending.order {
                let Some(order) = link::receive::<Order>(self.link)? else {
                    return Ok(());
                };
                if let Order::Signal(signal) = order.message {
                    sys::signal_group(self.program, signal);
                }
            }
            if !self.reap()? {
                return Ok(());
            }
        }
    }

    fn wait(&self) -> io::Result<Pending> {
        let closing = PollFlags::RDHUP | PollFlags::HUP | PollFlags::ERR;
        let mut fds = [
            PollFd::from_borrowed_fd(self.link, PollFlags::IN | PollFlags::RDHUP),
            PollFd::new(&self.children, PollFlags::IN),
        ];
        loop {
            match poll(&mut fds, None) {
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
                Ok(_) => break,
            }
        }
        Ok(Pending {
            closed: fds[0].revents().intersects(closing),
            order: fds[0].revents().contains(PollFlags::IN),
        })
    }

    /// Reaps all that have ended, and tells of the program's end; `false` when no child is left.
    fn reap(&mut self) -> io::Result<bool> {
        // Its only use is to wake us; one read takes all there is, as equal signals merge.
        let woken = rustix::io::read(&self.children, &mut [0_u8; 128]);
        self.own_read += woken.unwrap_or(0) as u64;
        let mut ended = None;
        let is_left = loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) if pid == self.program && !self.exited => {
                    self.exited = true;
                    ended = Some(status.as_raw());
                }
                Ok(Some(_)) | Err(Errno::INTR) => {}
                Ok(None) => break true,
                Err(Errno::CHILD) => break false,
                Err(error) => return Err(error.into()),
            }
        };
        if let Some(status) = ended {
            let usage = account::of_children(self.began.elapsed(), self.own_read);
            link::send(self.link, &Note::Exited { status, usage, is_left }, &[])?;
        }
        Ok(is_left)
    }
}

/// What there is to do.
struct Pending {
    closed: bool,
    order: bool,
}

fn readable(fd: BorrowedFd) -> io::Result<bool> {
    let mut fds = [PollFd::from_borrowed_fd(fd, PollFlags::IN)];
    Ok(poll(&mut fds, Some(&Timespec::default()))? > 0)
}
