//! The connector's side, up to the answer to its hello.

use super::connection::{End, Socket, failure, is_ready};
use super::option;
use super::pump::Tunnel;
use crate::address::Address;
use crate::deadline::Deadline;
use crate::error::{Error, Result};
use crate::transport::hello::{self, ANSWER_HEAD};
use crate::transport::host::{resolve, share};
use crate::transport::shared::sys::credentials;
use crate::transport::{Hello, Lane, Peer, Protection};
use rustix::event::PollFlags;
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketAddrUnix, SocketFlags, SocketType, connect, recv,
    send, socket_with, sockopt,
};
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::time::Duration;

/// How often a listener is asked whose queue is full: the kernel gives no sign when it is not.
const AGAIN: Duration = Duration::from_millis(1);

/// What is waited for.
const ANSWER: &str = "an answer to its hello";

/// The flags of every socket here.
pub const FLAGS: SocketFlags = SocketFlags::NONBLOCK.union(SocketFlags::CLOEXEC);

/// Connects over TCP, to the first of the host's addresses that answers.
pub fn tcp(
    to: &Address,
    host: &str,
    port: u16,
    hello: &Hello,
    deadline: Deadline,
) -> Result<OwnedFd> {
    tcp_to_one(to, &resolve(to, host, port, deadline)?, hello, deadline)
}

fn tcp_to_one(
    to: &Address,
    places: &[SocketAddr],
    hello: &Hello,
    deadline: Deadline,
) -> Result<OwnedFd> {
    let mut failed = None;
    for (tried, there) in places.iter().enumerate() {
        match tcp_to(to, *there, hello, share(deadline, places.len() - tried)) {
            Err(error @ (Error::Refused { .. } | Error::Io { .. } | Error::Deadline { .. })) => {
                failed = Some(error);
            }
            done => return done,
        }
    }
    Err(failed.unwrap_or_else(|| refused(to, "the host has no address")))
}

fn tcp_to(to: &Address, there: SocketAddr, hello: &Hello, deadline: Deadline) -> Result<OwnedFd> {
    let failed = |errno| Error::io(format!("connecting to {to}"), errno);
    let family = if there.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let socket = socket_with(family, SocketType::STREAM, FLAGS, None).map_err(failed)?;
    match connect(&socket, &there) {
        Ok(()) => {}
        Err(Errno::INPROGRESS) => {
            wait(socket.as_fd(), PollFlags::OUT, (to, hello), "a connection", deadline)?;
            match sockopt::socket_error(&socket).map_err(failed)? {
                Ok(()) => {}
                Err(Errno::CONNREFUSED) => return Err(refused(to, "nobody listens there")),
                Err(errno) => return Err(failed(errno)),
            }
        }
        Err(Errno::CONNREFUSED) => return Err(refused(to, "nobody listens there")),
        Err(errno) => return Err(failed(errno)),
    }
    if option::is_to_itself(socket.as_fd()) {
        return Err(refused(to, "nobody listens there"));
    }
    option::tcp(socket.as_fd(), hello.lane).map_err(failed)?;
    Ok(socket)
}

/// Connects to a Unix socket.
pub fn unix(to: &Address, path: &Path, hello: &Hello, deadline: Deadline) -> Result<OwnedFd> {
    let failed = |errno| Error::io(format!("connecting to {to}"), errno);
    let there = SocketAddrUnix::new(path).map_err(failed)?;
    loop {
        let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, FLAGS, None);
        let socket = socket.map_err(failed)?;
        match connect(&socket, &there) {
            Ok(()) => {
                option::lane(socket.as_fd(), hello.lane).map_err(failed)?;
                return Ok(socket);
            }
            Err(Errno::CONNREFUSED | Errno::NOENT) => {
                return Err(refused(to, "nobody listens there"));
            }
            Err(Errno::AGAIN) if deadline.left().is_some() => std::thread::sleep(AGAIN),
            Err(Errno::AGAIN) => return Err(late((to, hello), "room in its queue", deadline)),
            Err(errno) => return Err(failed(errno)),
        }
    }
}

/// Says hello and waits for the answer, of which it reads no byte too many.
pub fn greet(mut line: Line, to: &Address, hello: &Hello, deadline: Deadline) -> Result<End> {
    let name = to.to_string();
    say(&line, &name, (to, hello), deadline)?;
    hear(&line, &name, (to, hello), deadline).map_err(|error| match error {
        // A listener takes who stopped for long before it read the answer for too slow: that is
        // said of this end then, and not of the listener.
        Error::Refused { .. } | Error::Dead { .. } if deadline.left().is_none() => {
            late((to, hello), ANSWER, deadline)
        }
        error => error,
    })?;
    line.enter(hello.lane)?;
    let peer = line.peer(name);
    if line.tunnel.is_some() && peer.member.is_none() {
        let why = "its key is no longer in the membership list".to_owned();
        return Err(Error::Untrusted { peer: peer.name, why });
    }
    Ok(End { socket: Socket::new(line, peer, hello.name.clone()), hello: hello.clone() })
}

fn say(line: &Line, name: &str, ends: (&Address, &Hello), deadline: Deadline) -> Result<()> {
    let said = hello::write(ends.1);
    loop {
        // A new socket has room for a whole hello. Who has sent us away already has said why.
        match send(&line.socket, &said, SendFlags::NOSIGNAL) {
            Ok(size) => assert_eq!(size, said.len(), "a new socket took part of a hello"),
            Err(Errno::PIPE | Errno::CONNRESET) => {}
            // Not by what is in it: the machine has no memory for more.
            Err(Errno::AGAIN) => {
                wait(line.socket.as_fd(), PollFlags::OUT, ends, "room for a hello", deadline)?;
                continue;
            }
            Err(Errno::INTR) => continue,
            Err(errno) => return Err(failure(line, name, "saying hello to", errno)),
        }
        return Ok(());
    }
}

fn hear(line: &Line, name: &str, ends: (&Address, &Hello), deadline: Deadline) -> Result<()> {
    let mut answer = [0; hello::ANSWER_MAX];
    let (mut size, mut there) = (ANSWER_HEAD, 0);
    while there < size {
        match recv(&line.socket, &mut answer[there..size], RecvFlags::empty()) {
            Ok((0, _)) => {
                line.end(name)?;
                let evidence = "it ended the connection before it answered".to_owned();
                return Err(Error::Dead { peer: name.to_owned(), evidence });
            }
            Ok((count, _)) => there += count,
            Err(Errno::AGAIN) => {
                wait(line.socket.as_fd(), PollFlags::IN, ends, ANSWER, deadline)?;
            }
            Err(Errno::INTR) => {}
            Err(errno) => return Err(failure(line, name, "hearing an answer from", errno)),
        }
        // What is wrong at the beginning is known before the rest is there.
        hello::read_answer(&answer[..there]).map_err(|refusal| refusal.error(name))?;
        if let Some(head) = answer[..there].first_chunk() {
            size = hello::answer_size(head);
        }
    }
    Ok(())
}

/// A connection on which no hello was said.
#[derive(Debug)]
pub struct Line {
    /// Where bytes in the clear come and go.
    pub socket: OwnedFd,
    /// What protects them behind it. It goes after the socket.
    pub tunnel: Option<Tunnel>,
    /// Both ends are on this machine.
    pub is_here: bool,
    /// By whom it is protected.
    pub protection: Protection,
}

impl Line {
    /// A socket as it is.
    pub fn new(socket: OwnedFd, protection: Protection) -> Line {
        let is_here = protection == Protection::Local || option::is_loopback(socket.as_fd());
        Line { socket, tunnel: None, is_here, protection }
    }

    /// Who is at the other end: by the kernel's word where it gives one, and by the key it has
    /// proved to have where it was asked for one.
    pub fn peer(&self, name: String) -> Peer {
        let known = match self.protection {
            Protection::Local => credentials(self.socket.as_fd()).ok(),
            _ => None,
        };
        let uid = known.map(|(_, uid)| uid);
        let pid = known.and_then(|(pid, _)| pid);
        let member = self.tunnel.as_ref().and_then(Tunnel::member);
        Peer { uid, pid, is_here: self.is_here, member, ..Peer::new(name, self.protection) }
    }

    /// Sets it up for its lane.
    pub fn enter(&mut self, lane: Lane) -> Result<()> {
        let failed = |errno| Error::io("setting up a connection", errno);
        match &mut self.tunnel {
            Some(tunnel) => tunnel.enter(lane)?,
            None if self.protection == Protection::Plain => {
                option::tcp(self.socket.as_fd(), lane).map_err(failed)?;
            }
            None => {}
        }
        option::lane(self.socket.as_fd(), lane).map_err(failed)
    }

    /// What the end of its bytes means: an end, or what cut it off.
    pub fn end(&self, peer: &str) -> Result<()> {
        let cut = self.tunnel.as_ref().and_then(Tunnel::cut);
        cut.map_or(Ok(()), |cut| Err(cut.error(peer)))
    }
}

fn refused(to: &Address, why: &str) -> Error {
    Error::Refused { peer: to.to_string(), why: why.to_owned() }
}

fn late((to, hello): (&Address, &Hello), what: &str, deadline: Deadline) -> Error {
    deadline.missed(&hello.name, to, what)
}

fn wait(
    socket: BorrowedFd<'_>,
    flags: PollFlags,
    ends: (&Address, &Hello),
    what: &str,
    deadline: Deadline,
) -> Result<()> {
    loop {
        let left = deadline.left();
        let ready = is_ready(socket, flags, left.unwrap_or_default());
        match ready.map_err(|errno| Error::io(format!("waiting for {}", ends.0), errno))? {
            true => return Ok(()),
            false if left.is_none() => return Err(late(ends, what, deadline)),
            false => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn an_address_that_says_nothing_leaves_time_for_the_next() {
        let listener = || TcpListener::bind("127.0.0.1:0").unwrap();
        let (deaf, other) = (listener(), listener());
        let places = [&deaf, &other].map(|listener| listener.local_addr().unwrap());
        // With one that waits to be accepted its queue is full, and it answers nobody else.
        rustix::net::listen(&deaf, 0).unwrap();
        let _first = std::net::TcpStream::connect(places[0]).unwrap();
        let to = Address::Tcp("example".to_owned(), 7);
        let hello = Hello { name: "x".into(), service: String::new(), lane: Lane::Bulk };
        let soon = || Deadline::after(Duration::from_secs(2));
        tcp_to_one(&to, &places, &hello, soon()).unwrap();
        let brief = Deadline::after(Duration::from_millis(20));
        let error = tcp_to_one(&to, &places[..1], &hello, brief).unwrap_err();
        assert!(matches!(error, Error::Deadline { .. }), "{error}");
    }
}
