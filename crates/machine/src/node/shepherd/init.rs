//! The init: process 1 of a session's pid namespace. It starts the program, reaps, passes signals
//! on and reports; when it ends, all of the session ends. If nothing is left of the program when
//! that has ended, it waits for another. See the story in [`super`].

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, Signal, set_parent_process_death_signal};
use rustix::stdio::{dup2_stdin, stdin};
use rustix::thread::set_name;

use super::account::Account;
use super::link::{self, Failure, Note, Order, Received, Stage};
use super::namespace::{Apart, Granted, fresh_proc};
use super::program::{self, Image};
use super::spare::Mounts;
use super::spec::Spec;
use super::sys::{self, Traits};

/// How long a program may have run before that is told, when nobody waits to hear it.
const MOMENT: Duration = Duration::from_millis(5);

/// What came with the order.
pub(super) struct Cargo {
    stdio: [OwnedFd; 3],
    files: Vec<OwnedFd>,
    spec: Spec,
}

impl Cargo {
    /// That of an order, and how many bytes were read for it.
    ///
    /// # Errors
    /// When something lacks.
    pub(super) fn unpack(
        spec: Option<Box<Spec>>,
        descriptors: impl IntoIterator<Item = OwnedFd>,
    ) -> io::Result<(Cargo, usize)> {
        let mut all = descriptors.into_iter();
        let mut next = || all.next().ok_or(io::Error::from(io::ErrorKind::InvalidData));
        let stdio = [next()?, next()?, next()?];
        let (spec, read) = match spec {
            Some(spec) => (*spec, 0),
            None => link::read_long(next()?)?,
        };
        Ok((Cargo { stdio, files: all.collect(), spec }, read))
    }

    /// With descriptors as low as there are.
    fn low(self) -> io::Result<Cargo> {
        let [stdin, stdout, stderr] = self.stdio;
        let stdio = [low(stdin)?, low(stdout)?, low(stderr)?];
        let files = self.files.into_iter().map(low).collect::<io::Result<_>>()?;
        Ok(Cargo { stdio, files, ..self })
    }
}

/// Above those of the standard streams.
fn low(file: OwnedFd) -> io::Result<OwnedFd> {
    Ok(rustix::io::fcntl_dupfd_cloexec(file, 3)?)
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
    fn low(self) -> io::Result<Infant> {
        Ok(Infant { keeper: low(self.keeper)?, cargo: self.cargo.low()?, ..self })
    }

    /// The whole life of the init.
    pub(super) fn live(mut self) -> ! {
        // The keeper of many programs has many descriptors, so those that were opened for this one
        // may be where its files belong. The keeper's are closed by now.
        if !self.cargo.files.is_empty() {
            self = self.low().unwrap_or_else(|_| sys::leave(1));
        }
        let Infant { link, keeper, cargo, apart } = self;
        // In the place of the keeper's orders, so that streams are all above 2.
        if dup2_stdin(&link).is_err() {
            sys::leave(1)
        }
        drop(link);
        let link = stdin();
        // Any way out of here ends the namespace.
        let ended = match Init::settle(link, &keeper, apart) {
            Ok(mut init) => init.start(cargo).map_err(End::Failed).and_then(|()| init.serve()),
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
    let Cargo { spec, stdio, files } = cargo;
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
    let image = Image::of(spec, files)?;
    let mut failure = None;
    let program = sys::lend(cgroup.as_ref().map(AsFd::as_fd), is_apart, &mut |is_outside| {
        let Err(why) = program::launch(spec, &image, stdio, granted, is_outside);
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

/// One that has its namespaces.
struct Init<'a> {
    link: BorrowedFd<'a>,
    /// Readable when a child has ended.
    children: OwnedFd,
    granted: Granted,
    /// Its mounts, and what else of it programs inherit.
    mounts: Option<Mounts>,
    traits: Option<Traits>,
    account: Account,
    /// The program, also the leader of its process group; none while it is free.
    program: Option<Pid>,
    /// When it was started.
    began: Instant,
    /// That it was is not told yet.
    is_untold: bool,
    exited: bool,
}

impl<'a> Init<'a> {
    /// All that is done once, whatever programs it will have.
    fn settle(link: BorrowedFd<'a>, keeper: &OwnedFd, apart: Apart) -> Result<Init<'a>, Failure> {
        let failed = |error: io::Error| Failure::new(Stage::Fork, &error, "the session's init");
        let children = equip(keeper).map_err(failed)?;
        let apart = apart.settle();
        let granted = apart.map_err(|e| Failure::new(Stage::Namespace, &e, "a pid namespace"))?;
        if granted.mounts {
            // A container whose own is masked does not allow it; a session can live with that.
            let _ = fresh_proc();
        }
        Ok(Init {
            link,
            children,
            granted,
            mounts: Mounts::watch().ok(),
            traits: sys::traits().ok(),
            account: Account::default(),
            program: None,
            began: Instant::now(),
            is_untold: false,
            exited: false,
        })
    }

    /// Starts a program, which is told now or soon.
    fn start(&mut self, cargo: Cargo) -> Result<(), Failure> {
        (self.began, self.exited) = (Instant::now(), false);
        self.program = Some(start(&cargo, self.granted)?);
        self.is_untold = true;
        let tells_start = cargo.spec.tells_start;
        // Streams held here would keep their readers from seeing the end.
        drop(cargo);
        let failed = |error: io::Error| Failure::new(Stage::Fork, &error, "the session's init");
        if tells_start { self.tell_start().map_err(failed) } else { Ok(()) }
    }

    /// Tells that the program runs. It was not waited for yet, so it can be named.
    fn tell_start(&mut self) -> io::Result<()> {
        self.is_untold = false;
        let Some(program) = self.program else { return Ok(()) };
        link::send_about(self.link, &Note::Started, program)
    }

    fn serve(&mut self) -> Result<(), End> {
        loop {
            let pending = self.wait()?;
            if pending.closed {
                return Ok(()); // The daemon has gone, or wants the session gone.
            }
            if self.is_untold && self.began.elapsed() >= MOMENT {
                self.tell_start()?;
            }
            if pending.order {
                let Some(order) = link::receive::<Order>(self.link)? else {
                    return Ok(());
                };
                self.obey(order)?;
            }
            // One read takes all there is, as equal signals merge.
            let woken = rustix::io::read(&self.children, &mut [0_u8; 128]);
            self.account.has_read(woken.unwrap_or(0));
            if self.program.is_some() && !self.reap()? {
                return Ok(());
            }
        }
    }

    fn obey(&mut self, order: Received<Order>) -> Result<(), End> {
        match (order.message, self.program) {
            (Order::Signal(signal), Some(program)) => sys::signal_group(program, signal),
            // It was for one that has ended meanwhile.
            (Order::Signal(_), None) => {}
            (Order::Run(spec), None) => {
                let (cargo, length) = Cargo::unpack(spec, order.descriptors)?;
                if length > 0 {
                    self.account.has_read(length);
                }
                self.start(cargo).map_err(End::Failed)?;
            }
            (Order::Run(_), Some(_)) => return Err(End::Broken),
        }
        Ok(())
    }

    fn wait(&self) -> io::Result<Pending> {
        let closing = PollFlags::RDHUP | PollFlags::HUP | PollFlags::ERR;
        let mut fds = [
            PollFd::from_borrowed_fd(self.link, PollFlags::IN | PollFlags::RDHUP),
            PollFd::new(&self.children, PollFlags::IN),
        ];
        loop {
            let left = self.is_untold.then(|| MOMENT.saturating_sub(self.began.elapsed()));
            let left = left.map(Timespec::try_from).transpose().expect("it is short");
            match poll(&mut fds, left.as_ref()) {
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

    /// Reaps all that have ended, and tells of the program's end; `false` when there is nothing
    /// left to wait for.
    fn reap(&mut self) -> io::Result<bool> {
        let mut ended = None;
        let is_left = loop {
            match sys::wait() {
                Ok(Some((pid, status, usage))) => {
                    self.account.reaped(&usage);
                    if self.program == Some(pid) && !self.exited {
                        self.exited = true;
                        ended = Some(status);
                    }
                }
                Ok(None) => break true,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.raw_os_error() == Some(libc::ECHILD) => break false,
                Err(error) => return Err(error),
            }
        };
        let Some(status) = ended else { return Ok(is_left) };
        self.is_untold = false;
        let usage = self.account.tell(self.began.elapsed());
        let is_free = !is_left && self.is_as_made();
        if is_free {
            self.program = None;
        }
        link::send(self.link, &Note::Exited { status, usage, is_left, is_free }, &[])?;
        Ok(is_left || is_free)
    }

    /// Whether the next program would find what the first one has found: a program of the same user
    /// may change its init, too.
    fn is_as_made(&self) -> bool {
        let mounts = self.mounts.as_ref().is_some_and(|mounts| !mounts.have_changed());
        mounts && self.traits.is_some() && self.traits == sys::traits().ok()
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
