//! The init: process 1 of a session's pid namespace. It starts the program, reaps, passes signals
//! on and reports; when it ends, all of the session ends. See the story in [`super`].

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::process::exit;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, Signal, WaitOptions, set_parent_process_death_signal, wait};
use rustix::stdio::{dup2_stdin, stdin};
use rustix::thread::set_name;

use super::link::{self, Failure, Note, Order, Stage};
use super::namespace::{Apart, fresh_proc};
use super::program;
use super::spec::Spec;
use super::sys;

/// What came with the order.
pub(super) struct Cargo {
    stdio: [OwnedFd; 3],
    spec: File,
}

impl Cargo {
    pub(super) fn new(stdio: [OwnedFd; 3], spec: OwnedFd) -> Cargo {
        Cargo { stdio, spec: File::from(spec) }
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
            exit(1)
        }
        drop(link);
        let link = stdin();
        // Any way out of here ends the namespace.
        let ended = match prepare(link, &keeper, cargo, apart) {
            Ok(session) => session.serve(),
            Err(failure) => Err(End::Failed(failure)),
        };
        match ended {
            Ok(()) => exit(0),
            Err(End::Failed(failure)) => {
                let _ = link::send(link, &Note::Failed(failure), &[]);
                exit(1)
            }
            Err(End::Broken) => exit(1),
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

/// All up to the program's fork, which only the init returns from.
fn prepare<'a>(
    link: BorrowedFd<'a>,
    keeper: &OwnedFd,
    cargo: Cargo,
    apart: Apart,
) -> Result<Session<'a>, Failure> {
    let failed = |error: io::Error| Failure::new(Stage::Fork, &error, "the session's init");
    let (children, status, status_writer) = equip(keeper).map_err(failed)?;
    let apart = apart.settle();
    let granted = apart.map_err(|e| Failure::new(Stage::Namespace, &e, "a pid namespace"))?;
    let spec = read_spec(&cargo.spec)?;
    if spec.fresh_proc && granted.mounts {
        // Masked in many containers; the session can live with the old one.
        let _ = fresh_proc();
    }
    let (program, outside) = fork(&spec)?;
    let Some(program) = program else {
        program::become_program(&spec, &cargo.stdio, status_writer, granted, outside)
    };
    // Streams held here, and in `cargo`, would keep their readers from seeing the end.
    drop((cargo, spec, status_writer));
    Ok(Session { link, children, program, status: Some(status), exited: false })
}

/// Ties the init's life to the keeper's, and makes its signal descriptor and the status pipe.
fn equip(keeper: &OwnedFd) -> io::Result<(OwnedFd, File, File)> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    if readable(keeper.as_fd())? {
        exit(1); // It died before we asked to die with it.
    }
    set_name(c"muster-init")?;
    let children = sys::child_signals()?;
    let (status, status_writer) = pipe_with(PipeFlags::CLOEXEC)?;
    Ok((children, status.into(), status_writer.into()))
}

fn read_spec(file: &File) -> Result<Spec, Failure> {
    let read = || -> io::Result<Spec> {
        let mut bytes = vec![0; usize::try_from(file.metadata()?.len()).unwrap_or(0)];
        file.read_exact_at(&mut bytes, 0)?;
        Ok(serde_json::from_slice(&bytes)?)
    };
    read().map_err(|error| Failure::new(Stage::Order, &error, "the order"))
}

/// Forks the program's process, in its cgroup from the first instruction: no pid in the child.
/// Second is whether the child still has to enter the cgroup.
fn fork(spec: &Spec) -> Result<(Option<Pid>, bool), Failure> {
    let plain = || sys::fork().map_err(|error| Failure::new(Stage::Fork, &error, "the program"));
    let Some(path) = &spec.cgroup else {
        return Ok((plain()?, false));
    };
    let failed = |error: io::Error| Failure::new(Stage::Cgroup, &error, path.to_string_lossy());
    let flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
    let dir = rustix::fs::open(path, flags, Mode::empty()).map_err(|e| failed(e.into()))?;
    match sys::fork_into(dir.as_fd()) {
        // Old kernels, and sandboxes that hide clone3 from sight.
        Err(error) if is_unknown_call(&error) => Ok((plain()?, true)),
        result => Ok((result.map_err(failed)?, false)),
    }
}

fn is_unknown_call(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::ENOSYS | libc::EINVAL | libc::E2BIG))
}

/// A session whose program has been forked.
struct Session<'a> {
    link: BorrowedFd<'a>,
    /// Readable when a child has ended.
    children: OwnedFd,
    /// The program, also the leader of its process group.
    program: Pid,
    /// The pipe that closes when the program's exec happens; `None` once it has.
    status: Option<File>,
    exited: bool,
}

impl Session<'_> {
    fn serve(mut self) -> Result<(), End> {
        loop {
            let pending = self.wait()?;
            if pending.closed {
                return Ok(()); // The daemon has gone, or wants the session gone.
            }
            if pending.settled {
                self.settle()?;
            }
            if pending.order {
                let Some(order) = link::receive::<Order>(self.link)? else {
                    return Ok(());
                };
                if let Order::Signal(signal) = order.message {
                    sys::signal_group(self.program, signal);
                }
            }
            // The program is reaped after it is reported as started, because that report
            // names its pid.
            if self.status.is_none() && !self.reap()? {
                return Ok(());
            }
        }
    }

    fn wait(&self) -> io::Result<Pending> {
        let closing = PollFlags::RDHUP | PollFlags::HUP | PollFlags::ERR;
        // Orders wait in the link until there is a program to receive them.
        let orders = if self.status.is_none() { PollFlags::IN } else { PollFlags::empty() };
        let mut fds = vec![
            PollFd::from_borrowed_fd(self.link, orders | PollFlags::RDHUP),
            PollFd::new(&self.children, PollFlags::IN),
        ];
        fds.extend(self.status.as_ref().map(|status| PollFd::new(status, PollFlags::IN)));
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
            settled: fds.get(2).is_some_and(|status| !status.revents().is_empty()),
        })
    }

    /// Learns from the status pipe whether the program runs, and tells.
    fn settle(&mut self) -> Result<(), End> {
        let Some(mut status) = self.status.take() else {
            return Ok(());
        };
        let mut bytes = Vec::new();
        status.read_to_end(&mut bytes)?;
        if !bytes.is_empty() {
            let failure = serde_json::from_slice(&bytes).map_err(io::Error::from)?;
            return Err(End::Failed(failure));
        }
        Ok(link::send_about(self.link, &Note::Started, self.program)?)
    }

    /// Reaps all that have ended, and tells of the program's end; `false` when no child is left.
    fn reap(&mut self) -> io::Result<bool> {
        // Its only use is to wake us; one read takes all there is, as equal signals merge.
        let _ = rustix::io::read(&self.children, &mut [0_u8; 128]);
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) if pid == self.program && !self.exited => {
                    self.exited = true;
                    let usage = sys::children_usage();
                    let note = Note::Exited { status: status.as_raw(), usage };
                    link::send(self.link, &note, &[])?;
                }
                Ok(Some(_)) | Err(Errno::INTR) => {}
                Ok(None) => return Ok(true),
                Err(Errno::CHILD) => return Ok(false),
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// What there is to do.
struct Pending {
    closed: bool,
    order: bool,
    settled: bool,
}

fn readable(fd: BorrowedFd) -> io::Result<bool> {
    let mut fds = [PollFd::from_borrowed_fd(fd, PollFlags::IN)];
    Ok(poll(&mut fds, Some(&Timespec::default()))? > 0)
}
