//! The keeper: the daemon's one child. It makes an init for every program that it is told to run,
//! and ends each when its daemon's side has gone. See the story in [`super`].

use std::collections::HashMap;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::process::ExitCode;

use rustix::buffer::spare_capacity;
use rustix::event::epoll;
use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, getpid, kill_process, pidfd_open, setsid, waitpid,
};
use rustix::stdio::stdin;
use rustix::thread::set_name;

use super::init::{Cargo, Infant};
use super::link::{self, Failure, Note, Order, Stage};
use super::namespace::Apart;
use super::sys;

/// What an event of the daemon's orders is marked with; others have a ward's number, twice, and
/// one more if they are about its link.
const ORDERS: u64 = u64::MAX;

/// The whole life of a keeper, and of the inits that it forks: what `muster shepherd` does.
/// Descriptor 0 is where the daemon's orders come from. Must be called before the process has a
/// second thread.
pub fn child_main() -> ExitCode {
    match keep(stdin()) {
        Ok(None) => ExitCode::SUCCESS,
        Ok(Some(infant)) => infant.live(),
        Err(error) => {
            // Nobody reads this when a daemon is at the other end; a curious user does.
            let said = format!("muster shepherd: {error}: only a node daemon starts this\n");
            let _ = io::Write::write_all(&mut io::stderr(), said.as_bytes());
            ExitCode::from(125)
        }
    }
}

/// The keeper's life. Returns an infant in a process that was forked: all that was the keeper's
/// is closed there.
fn keep(orders: BorrowedFd) -> io::Result<Option<Infant>> {
    sys::block_signals()?;
    sys::default_signals();
    // What the daemon's parent leaked into the daemon ends here.
    sys::close_from(3)?;
    // Off the terminal and off the daemon's directory. Failing means we lead a group already,
    // which only a hand-started shepherd does.
    let _ = setsid();
    rustix::process::chdir("/")?;
    set_name(c"muster-keeper")?;
    let mut keeper = Keeper::new(orders)?;
    let infant = keeper.serve()?;
    if infant.is_none() {
        keeper.end_all();
    }
    Ok(infant)
}

/// A program's init.
struct Kept {
    pid: Pid,
    /// Readable when it has ended.
    init: OwnedFd,
    /// Held until then, so that its end says that nothing is left.
    link: OwnedFd,
}

struct Keeper<'a> {
    orders: BorrowedFd<'a>,
    /// Ourselves, for inits to see whether we live.
    this: OwnedFd,
    poll: OwnedFd,
    wards: HashMap<u64, Kept>,
    next: u64,
    /// How namespaces are made here, once it is known.
    apart: Option<Apart>,
    /// Its place is for the link of an order that lacks all else, which can be told so by it.
    spare: Option<OwnedFd>,
}

impl<'a> Keeper<'a> {
    fn new(orders: BorrowedFd<'a>) -> io::Result<Keeper<'a>> {
        let this = pidfd_open(getpid(), PidfdFlags::empty())?;
        let poll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        epoll::add(&poll, orders, epoll::EventData::new_u64(ORDERS), epoll::EventFlags::IN)?;
        let spare = Some(this.try_clone()?);
        Ok(Keeper { orders, this, poll, wards: HashMap::new(), next: 0, apart: None, spare })
    }

    /// Carries out orders and sees inits end, until the daemon has gone; or is an infant.
    fn serve(&mut self) -> io::Result<Option<Infant>> {
        let mut events = Vec::with_capacity(64);
        loop {
            match epoll::wait(&self.poll, spare_capacity(&mut events), None) {
                Err(Errno::INTR) => continue,
                result => result?,
            };
            for event in events.drain(..) {
                match event.data.u64() {
                    ORDERS => {
                        self.spare = None;
                        let order = link::receive_some::<Order>(self.orders)?;
                        let Some(order) = order else { return Ok(None) };
                        let infant = self.obey(order)?;
                        if infant.is_some() {
                            return Ok(infant);
                        }
                        self.spare = self.this.try_clone().ok();
                    }
                    mark if mark % 2 == 1 => self.abandon(mark / 2),
                    mark => self.bury(mark / 2),
                }
            }
        }
    }

    fn obey(&mut self, order: link::Received<Order>) -> io::Result<Option<Infant>> {
        let none = || io::Error::new(io::ErrorKind::InvalidData, "this is no order to run");
        let Order::Run(spec) = order.message else { return Err(none()) };
        let failed = |error| Failure::new(Stage::Order, &error, "the order");
        let mut fds = order.descriptors.into_iter();
        let (link, cargo) = match (fds.next(), order.lacks_some) {
            (Some(link), true) => (link, Err(failed(Errno::MFILE.into()))),
            (Some(link), false) => (link, Cargo::unpack(spec, fds).map_err(failed)),
            // It is closed, by which the daemon knows. All others go on.
            (None, true) => return Ok(None),
            (None, false) => return Err(none()),
        };
        let (cargo, apart) = match cargo.and_then(|(cargo, _)| Ok((cargo, self.apart()?))) {
            Ok(both) => both,
            Err(failure) => {
                let _ = link::send(link.as_fd(), &Note::Failed(failure), &[]);
                return Ok(None);
            }
        };
        match apart.fork() {
            Ok(None) => {
                let keeper = self.this.try_clone()?;
                Ok(Some(Infant { link, keeper, cargo, apart }))
            }
            Ok(Some(pid)) => {
                // Streams held here would keep the program's readers from seeing the end.
                drop(cargo);
                self.adopt(pid, link);
                Ok(None)
            }
            Err(error) => {
                let failure = Failure::new(Stage::Fork, &error, "the session's init");
                let _ = link::send(link.as_fd(), &Note::Failed(failure), &[]);
                Ok(None)
            }
        }
    }

    fn apart(&mut self) -> Result<Apart, Failure> {
        if let Some(apart) = self.apart {
            return Ok(apart);
        }
        // What does not work now may work later.
        let (apart, is_lasting) = Apart::find()?;
        self.apart = is_lasting.then_some(apart);
        Ok(apart)
    }

    /// Watches an init and its link.
    fn adopt(&mut self, pid: Pid, link: OwnedFd) {
        let number = self.next;
        self.next += 1;
        let watched = pidfd_open(pid, PidfdFlags::empty()).and_then(|init| {
            let mark = |mark| epoll::EventData::new_u64(mark);
            epoll::add(&self.poll, &init, mark(number * 2), epoll::EventFlags::IN)?;
            // Not IN on the link: its messages are for the init.
            epoll::add(&self.poll, &link, mark(number * 2 + 1), epoll::EventFlags::RDHUP)?;
            Ok(init)
        });
        match watched {
            Ok(init) => {
                // A daemon that is gone shows in the link.
                let _ = link::send(link.as_fd(), &Note::Init, &[init.as_fd()]);
                self.wards.insert(number, Kept { pid, init, link });
            }
            Err(_) => {
                // No descriptors are left to see it end with. Closing the link says so.
                let _ = kill_process(pid, Signal::KILL);
                reap(pid);
            }
        }
    }

    /// The daemon has let go of a ward. Its init's end is still to come.
    fn abandon(&mut self, number: u64) {
        let Some(kept) = self.wards.get(&number) else { return };
        let _ = epoll::delete(&self.poll, &kept.link);
        // Not reaped yet, so the pid is still the init's. SIGKILL works on a stopped one, too.
        let _ = kill_process(kept.pid, Signal::KILL);
    }

    /// An init has ended, and with it its namespace. Closing the link tells.
    fn bury(&mut self, number: u64) {
        let Some(kept) = self.wards.remove(&number) else { return };
        let _ = (epoll::delete(&self.poll, &kept.init), epoll::delete(&self.poll, &kept.link));
        reap(kept.pid);
    }

    /// The daemon has gone: so does all that it had.
    fn end_all(&mut self) {
        for kept in self.wards.values() {
            let _ = kill_process(kept.pid, Signal::KILL);
        }
        self.wards.drain().for_each(|(_, kept)| reap(kept.pid));
    }
}

/// Returns only after every process of an init's namespace is gone.
fn reap(init: Pid) {
    while matches!(waitpid(Some(init), WaitOptions::empty()), Err(Errno::INTR)) {}
}
