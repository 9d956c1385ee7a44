//! How two processes meet: at a Unix socket whose path is the address.
//!
//! It keeps the boundaries of packets (SOCK_SEQPACKET). The connector makes the segment and sends
//! its hello with the segment's descriptor, one packet; the listener checks both, maps the segment,
//! and answers, one packet (`transport/hello.rs`). Then the socket belongs to the link. The memory
//! is the connector's to pay, and a listener takes none for who has not said hello.
//!
//! Who has connected and says nothing waits in a list of limited length and keeps nobody up. A
//! listener that has died leaves its path behind; the next one takes it (`transport/name.rs`). A
//! path where somebody answers, or where something else than a socket is, is refused.

use super::link::Link;
use super::segment::{self, Side, Unfit};
use super::strangers::Strangers;
use super::sys::Mapped;
use super::{Planners, socket, sys};
use crate::address::Address;
use crate::deadline::Deadline;
use crate::error::{Error, Result};
use crate::transport::hello::{self, ANSWER_MAX, HELLO_MAX, Refusal};
use crate::transport::name::{SocketName, kept_waiting};
use crate::transport::{Hello, Peer, Protection};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Between two tries to reach a listener whose backlog is full.
const AGAIN: Duration = Duration::from_millis(1);

pub(crate) fn open() -> Result<OwnedFd> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    rustix::net::socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)
        .map_err(|error| Error::io("cannot open a socket", error))
}

/// Listens at a path.
///
/// # Errors
/// [`Error::Deadline`] where others are about to for too long, and what the system says.
pub(crate) fn listen(path: &Path) -> Result<(OwnedFd, SocketName)> {
    let socket = open()?;
    let address = Address::Shared(path.to_owned());
    match SocketName::take(&socket, path) {
        Ok(name) => Ok((socket, name)),
        Err(Errno::BUSY) => Err(kept_waiting(&address)),
        Err(error) => Err(Error::io(format!("listening at {address}"), error)),
    }
}

fn place(path: &Path) -> Result<SocketAddrUnix> {
    SocketAddrUnix::new(path).map_err(|error| Error::io(path.display().to_string(), error))
}

/// Who is at the other end, by what it is called and what the kernel knows.
pub(crate) fn peer(socket: &OwnedFd, name: String) -> Result<Peer> {
    let (pid, uid) = sys::credentials(socket.as_fd())
        .map_err(|error| Error::io("cannot see who the peer is", error))?;
    Ok(Peer { uid: Some(uid), pid, ..Peer::new(name, Protection::Local) })
}

/// Waits until one of these can be read, or the deadline has passed (then false).
pub(crate) fn readable(sockets: &mut [PollFd<'_>], deadline: Deadline) -> Result<bool> {
    loop {
        let Some(left) = deadline.left() else { return Ok(false) };
        let time = Timespec::try_from(left).ok();
        match poll(sockets, time.as_ref()) {
            Ok(0) => {}
            Ok(_) => return Ok(true),
            Err(Errno::INTR) => {}
            Err(error) => return Err(Error::io("cannot wait", error)),
        }
    }
}

/// A socket that is connected to who listens at a path, which `who` calls `name`.
pub(crate) fn reach(path: &Path, name: &str, who: &str, deadline: Deadline) -> Result<OwnedFd> {
    let socket = open()?;
    let at = place(path)?;
    loop {
        match rustix::net::connect(&socket, &at) {
            Ok(()) => return Ok(socket),
            Err(Errno::AGAIN | Errno::INTR) if deadline.left().is_some() => {
                std::thread::sleep(AGAIN);
            }
            Err(Errno::AGAIN | Errno::INTR) => {
                return Err(deadline.missed(who, name, "to be accepted"));
            }
            Err(error @ (Errno::NOENT | Errno::CONNREFUSED)) => {
                let (peer, why) = (name.to_owned(), format!("nobody listens there ({error})"));
                return Err(Error::Refused { peer, why });
            }
            Err(error) => return Err(Error::io(format!("cannot connect to {name}"), error)),
        }
    }
}

/// Connects to the listener at a path.
pub(super) fn connect(
    path: &Path,
    hello: &Hello,
    deadline: Deadline,
    planners: &Planners,
) -> Result<Link> {
    let name = Address::Shared(path.to_owned()).to_string();
    // First, so that who has connected speaks at once.
    let (memory, segment) = segment::create(hello.lane)?;
    let socket = reach(path, &name, &hello.name, deadline)?;
    let peer = peer(&socket, name.clone())?;
    let who = hello.name.clone();
    let seat = (segment, Side::Connector);
    let other = socket.try_clone().map_err(|error| Error::io("cannot share a socket", error))?;
    let mut link = Link::new(seat, other, (peer, who), hello.clone(), planners(hello));
    let gone = |error: Errno| Error::Refused { peer: name.clone(), why: error.to_string() };
    socket::send(socket.as_fd(), &hello::write(hello), Some(memory.as_fd())).map_err(gone)?;
    if !readable(&mut [PollFd::new(&socket, PollFlags::IN)], deadline)? {
        return Err(deadline.missed(&hello.name, name, "an answer to its hello"));
    }
    let mut answer = [0; ANSWER_MAX];
    let (count, _) = socket::receive(socket.as_fd(), &mut answer).map_err(gone)?;
    match hello::read_answer(&answer[..count]) {
        Ok(Some(_)) => {
            link.probe();
            Ok(link)
        }
        Ok(None) if count == 0 => {
            Err(Error::Refused { peer: name, why: "it has hung up".to_owned() })
        }
        Ok(None) => Err(Error::Malformed { peer: name, what: "half of an answer".to_owned() }),
        Err(refusal) => Err(refusal.error(&name)),
    }
}

/// Both ends of a connection within this process: the connector's and the listener's.
pub(in crate::transport) fn pair(
    name: &str,
    hello: &Hello,
    planners: &Planners,
) -> Result<(Link, Link)> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let (here, there) =
        rustix::net::socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)
            .map_err(|error| Error::io("cannot open a socket", error))?;
    let (_, segment) = segment::create(hello.lane)?;
    let heard = hello::heard(hello);
    let listener = (peer(&here, name.to_owned())?, hello.name.clone());
    let connector = (peer(&there, heard.name.clone())?, name.to_owned());
    let seat = (segment.clone(), Side::Connector);
    let mut mine = Link::new(seat, here, listener, hello.clone(), planners(hello));
    let seat = (segment, Side::Listener);
    let planner = planners(&heard);
    let mut theirs = Link::new(seat, there, connector, heard, planner);
    mine.probe();
    theirs.probe();
    Ok((mine, theirs))
}

/// Who accepts connections at a path.
pub(super) struct Meeting {
    socket: OwnedFd,
    path: PathBuf,
    _name: SocketName,
    /// Who has said no hello so far.
    strangers: Strangers,
    planners: Planners,
}

impl Meeting {
    pub(super) fn new(path: &Path, planners: Planners) -> Result<Meeting> {
        let (socket, _name) = listen(path)?;
        Ok(Meeting {
            socket,
            path: path.to_owned(),
            _name,
            strangers: Strangers::default(),
            planners,
        })
    }

    /// Waits for the next peer that says a proper hello.
    pub(super) fn accept(&mut self, deadline: Deadline) -> Result<Link> {
        loop {
            if let Some(link) = self.greet()? {
                return Ok(link);
            }
            let let_in = self.strangers.let_in(&self.socket);
            let_in.map_err(|errno| Error::io("cannot accept a connection", errno))?;
            let (mut all, until) = self.strangers.polled(&self.socket, deadline);
            if !readable(&mut all, until)? && deadline.left().is_none() {
                let who = Address::Shared(self.path.clone());
                return Err(deadline.missed(who, "anybody", "a connection"));
            }
        }
    }

    pub(super) fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        let door = self.strangers.patience().is_none().then(|| self.socket.as_fd());
        door.into_iter().chain(self.strangers.iter()).collect()
    }

    /// Nobody has come who is still to speak.
    pub(super) fn is_idle(&self) -> bool {
        self.strangers.len() == 0
    }

    /// Answers those who have said something; the first whose hello is proper.
    fn greet(&mut self) -> Result<Option<Link>> {
        for index in (0..self.strangers.len()).rev() {
            let mut bytes = [0; HELLO_MAX + 1];
            let received = socket::receive(self.strangers.at(index), &mut bytes);
            if matches!(received, Err(Errno::AGAIN | Errno::INTR)) {
                continue;
            }
            let stranger = self.strangers.remove(index);
            let welcomed = match received {
                Ok((count @ 1.., memory)) => welcome(&bytes[..count], memory),
                Err(Errno::MFILE) => {
                    Err(Turned::Here(Error::io("cannot receive a segment", Errno::MFILE)))
                }
                _ => continue,
            };
            match welcomed {
                Ok((hello, seat)) => return self.seat(stranger, hello, seat).map(Some),
                Err(Turned::Away(refusal)) => {
                    let _ = socket::send(stranger.as_fd(), &refusal.answer(), None);
                }
                Err(Turned::Here(error)) => {
                    let refusal = Refusal::Denied(error.to_string());
                    let _ = socket::send(stranger.as_fd(), &refusal.answer(), None);
                    return Err(error);
                }
            }
        }
        Ok(None)
    }

    fn seat(&self, stranger: OwnedFd, hello: Hello, segment: Arc<Mapped>) -> Result<Link> {
        let peer = peer(&stranger, hello.name.clone())?;
        let who = Address::Shared(self.path.clone()).to_string();
        let planner = (self.planners)(&hello);
        let answer = stranger.try_clone();
        let answer = answer.map_err(|error| Error::io("cannot share a socket", error))?;
        let mut link = Link::new((segment, Side::Listener), stranger, (peer, who), hello, planner);
        link.probe();
        // A connector that is gone meanwhile shows as every peer's death does.
        let _ = socket::send(answer.as_fd(), &hello::welcome(), None);
        Ok(link)
    }
}

/// Checks a hello and what came with it.
fn welcome(
    bytes: &[u8],
    memory: Option<OwnedFd>,
) -> std::result::Result<(Hello, Arc<Mapped>), Turned> {
    let no = |what: &str| Turned::Away(Refusal::Malformed(what.to_owned()));
    let hello = match hello::read(bytes).map_err(Turned::Away)? {
        Some((hello, size)) if size == bytes.len() => hello,
        Some(_) => return Err(no("there is more than a hello")),
        None => return Err(no("it ends early")),
    };
    let memory = memory.ok_or_else(|| no("it brings no memory"))?;
    match segment::open(memory.as_fd(), hello.lane) {
        Ok(segment) => Ok((hello, segment)),
        Err(Unfit::Wrong(what)) => Err(no(what)),
        Err(Unfit::Here(error)) => Err(Turned::Here(error)),
    }
}

/// Why a stranger is not let in.
enum Turned {
    Away(Refusal),
    Here(Error),
}
