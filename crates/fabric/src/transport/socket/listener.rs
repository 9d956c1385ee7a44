//! The listener's side: a door, and those who stand before it and have not said hello yet.
//!
//! Anybody can connect and say nothing. So nobody is waited for: all who have connected are looked
//! at together, each has [`HELLO_TIME`], and when there are more than [`HELLOS_MAX`] the one who
//! has been silent longest goes first, but not at once. Who says a proper hello is answered at once
//! and is the next to be accepted. Who dies or is sent away leaves nothing behind but its
//! descriptor's number.
//!
//! An open door also lets in who says no hello but begins with something else: one address then
//! serves the fabric and whatever protocol its foreign clients speak. Who has said nothing there,
//! or not enough to tell, may be such a client: it has as long as the others, and when it goes its
//! connection ends without an answer, which it could not read.

use super::connect::{FLAGS, Line};
use super::connection::{End, Socket, timespec};
use super::identity::Member;
use super::tls::{Expected, Keys};
use crate::address::Address;
use crate::deadline::Deadline;
use crate::error::{Error, Result};
use crate::strategy::Stream;
use crate::transport::hello::{self, HELLO_MAX, Refusal};
use crate::transport::host::resolve;
use crate::transport::name::{SocketName, kept_waiting};
use crate::transport::shared::strangers::LEAST;
use crate::transport::{Adapter, Hello, Lane, Listener, Protection};
use muster_base::limits::{BACKLOG, HELLO_TIME, HELLOS_MAX, LISTEN_LOOKUP_TIME};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketType, accept_with, bind, listen, recv, send,
    socket_with, sockopt,
};
use std::collections::VecDeque;
use std::net::TcpListener;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How often an open door looks at who has said the first letters of a hello and no more: they
/// stay unread in case they are a foreign protocol's, so no poll(2) tells when there are more.
const GLANCE: Duration = Duration::from_millis(10);

/// What a caller over TLS is given before it goes for a new one: some round trips, and the work of
/// as many handshakes as callers can be, some ms each where others have the cores as well.
/// Meanwhile new ones wait in the kernel's queue.
const HANDSHAKE: Duration = Duration::from_secs(2);

/// A listening socket.
pub struct Door {
    address: Address,
    socket: OwnedFd,
    protection: Protection,
    /// What connections are protected with.
    keys: Option<Arc<Keys>>,
    /// What the next one over TLS is made of, got before it is accepted: who was accepted and then
    /// dropped, for want of a descriptor say, would take this end for dead.
    expected: Option<Expected>,
    /// Who says no hello is let in as well, as a stranger.
    is_open: bool,
    callers: VecDeque<Caller>,
    /// The file to remove in the end.
    _name: Option<SocketName>,
}

/// Who has connected and not said hello.
struct Caller {
    line: Line,
    said: Vec<u8>,
    since: Instant,
    /// It has said something that is left unread for now.
    is_unclear: bool,
}

/// What became of a caller.
enum Turn {
    Waits,
    Greeted(Hello),
    /// It has begun with something else, which is still to be read.
    Strange,
    Gone,
}

impl Door {
    /// Listens on TCP.
    pub fn tcp(host: &str, port: u16) -> Result<Door> {
        let asked = Address::Tcp(host.to_owned(), port);
        let (socket, port) = listen_at(&asked, host, port)?;
        let address = Address::Tcp(host.to_owned(), port);
        Ok(Door::new(address, socket, Protection::Plain))
    }

    /// Listens on TCP for members.
    pub fn tls(host: &str, port: u16, keys: Arc<Keys>) -> Result<Door> {
        let asked = Address::Tls(host.to_owned(), port);
        let (socket, port) = listen_at(&asked, host, port)?;
        let address = Address::Tls(host.to_owned(), port);
        Ok(Door { keys: Some(keys), ..Door::new(address, socket, Protection::Tls) })
    }

    /// Listens on a Unix socket.
    pub fn unix(path: &Path) -> Result<Door> {
        let address = Address::Unix(path.to_owned());
        let failed = |errno| Error::io(format!("listening at {address}"), errno);
        let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, FLAGS, None);
        let socket = socket.map_err(failed)?;
        let name = SocketName::take(&socket, path).map_err(|errno| match errno {
            Errno::BUSY => kept_waiting(&address),
            errno => failed(errno),
        })?;
        Ok(Door { _name: Some(name), ..Door::new(address, socket, Protection::Local) })
    }

    fn new(address: Address, socket: OwnedFd, protection: Protection) -> Door {
        Door {
            address,
            socket,
            protection,
            keys: None,
            expected: None,
            is_open: false,
            callers: VecDeque::new(),
            _name: None,
        }
    }

    /// Lets strangers in as well.
    pub fn open(mut self) -> Door {
        self.is_open = true;
        self
    }

    /// Lets in whom the kernel holds for us. Those before the door were just looked at and said
    /// nothing; where there is no room, they go for new ones.
    fn admit(&mut self) -> Result<()> {
        let mut silent = self.callers.len();
        while self.callers.len() < HELLOS_MAX || silent > 0 && self.patience().is_none() {
            if let (None, Some(keys)) = (&self.expected, &self.keys) {
                self.expected = Some(keys.expect()?);
            }
            match accept_with(&self.socket, FLAGS) {
                Ok(socket) => {
                    if self.callers.len() == HELLOS_MAX {
                        silent -= 1;
                        let oldest = self.callers.pop_front().expect("there are many");
                        oldest.give_up(self.is_open);
                    }
                    let line = match self.keys.as_ref().zip(self.expected.take()) {
                        Some((keys, expected)) => keys.line_from(socket, expected),
                        None => Line::new(socket, self.protection),
                    };
                    let said = Vec::with_capacity(HELLO_MAX);
                    let since = Instant::now();
                    self.callers.push_back(Caller { line, said, since, is_unclear: false });
                }
                Err(Errno::AGAIN) => break,
                Err(errno) if is_of_caller(errno) => {}
                Err(errno) => {
                    return Err(Error::io(format!("accepting at {}", self.address), errno));
                }
            }
        }
        Ok(())
    }

    /// Looks at everyone before the door; the first who has said hello comes in.
    fn greet(&mut self) -> Option<Box<dyn Adapter>> {
        let mut index = 0;
        while let Some(caller) = self.callers.get_mut(index) {
            match caller.turn(self.is_open) {
                Turn::Waits => index += 1,
                Turn::Gone => drop(self.callers.remove(index)),
                Turn::Strange => {
                    let caller = self.callers.remove(index).expect("it was there");
                    let hello = Hello {
                        name: "a stranger".to_owned(),
                        service: String::new(),
                        lane: Lane::Bulk,
                    };
                    if let Some(end) = self.take_in(caller, hello) {
                        return Some(Box::new(end));
                    }
                }
                Turn::Greeted(hello) => {
                    let caller = self.callers.remove(index).expect("it was there");
                    if let Some(end) = self.welcome(caller, hello) {
                        return Some(end);
                    }
                }
            }
        }
        None
    }

    /// Answers; none if it is gone again.
    fn welcome(&self, caller: Caller, hello: Hello) -> Option<Box<dyn Adapter>> {
        let end = self.take_in(caller, hello)?;
        let answer = hello::welcome();
        let sent = send(end.socket.socket()?, &answer, SendFlags::NOSIGNAL).ok()?;
        (sent == answer.len()).then(|| Box::new(end) as Box<dyn Adapter>)
    }

    /// Sets a caller's connection up for its lane; none if it is gone again.
    fn take_in(&self, caller: Caller, hello: Hello) -> Option<End> {
        let mut line = caller.line;
        line.enter(hello.lane).ok()?;
        let peer = line.peer(hello.name.clone());
        let socket = Socket::new(line, peer, self.address.to_string());
        Some(End { socket, hello })
    }

    /// How long new ones have to wait: there is no room, and who came first has not had the time
    /// to speak, or for a handshake. None if they need not.
    fn patience(&self) -> Option<Duration> {
        let oldest = self.callers.front().filter(|_| self.callers.len() >= HELLOS_MAX)?;
        let least = if self.keys.is_some() { HANDSHAKE } else { LEAST };
        least.checked_sub(oldest.since.elapsed()).filter(|left| !left.is_zero())
    }

    /// Who wakes a sleeper.
    fn awake(&self) -> impl Iterator<Item = &OwnedFd> {
        let callers = self.callers.iter().filter(|caller| !caller.is_unclear);
        let new = self.patience().is_none().then_some(&self.socket);
        new.into_iter().chain(callers.map(|caller| &caller.line.socket))
    }

    fn polled(&self) -> Vec<PollFd<'_>> {
        self.awake().map(|socket| PollFd::new(socket, PollFlags::IN)).collect()
    }

    /// Sleeps until somebody comes or says something, or somebody's time is over.
    fn sleep(&self, most: Duration) -> Result<()> {
        let oldest =
            self.callers.front().map(|caller| HELLO_TIME.saturating_sub(caller.since.elapsed()));
        let most = oldest.map_or(most, |left| left.min(most));
        let most = self.patience().map_or(most, |patience| patience.min(most));
        let is_clear = self.callers.iter().all(|caller| !caller.is_unclear);
        let most = if is_clear { most } else { most.min(GLANCE) };
        match poll(&mut self.polled(), Some(&timespec(most))) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(errno) => Err(Error::io(format!("waiting at {}", self.address), errno)),
        }
    }
}

/// Whether it is a connection that has failed already, and the next may be accepted (accept(2)).
fn is_of_caller(errno: Errno) -> bool {
    const NETWORK: [Errno; 8] = [
        Errno::NETDOWN,
        Errno::PROTO,
        Errno::NOPROTOOPT,
        Errno::HOSTDOWN,
        Errno::NONET,
        Errno::HOSTUNREACH,
        Errno::OPNOTSUPP,
        Errno::NETUNREACH,
    ];
    matches!(errno, Errno::INTR | Errno::CONNABORTED) || NETWORK.contains(&errno)
}

/// A socket that listens on TCP, and its port.
fn listen_at(asked: &Address, host: &str, port: u16) -> Result<(OwnedFd, u16)> {
    let failed = |errno| Error::io(format!("listening at {asked}"), errno);
    let here = resolve(asked, host, port, Deadline::after(LISTEN_LOOKUP_TIME))?;
    let here = here.first().copied().ok_or_else(|| failed(Errno::ADDRNOTAVAIL))?;
    let family = if here.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let socket = socket_with(family, SocketType::STREAM, FLAGS, None).map_err(failed)?;
    // Connections of a listener that was here before do not keep the port.
    sockopt::set_socket_reuseaddr(&socket, true).map_err(failed)?;
    if here.is_ipv6() {
        // At all addresses of IPv6 those of IPv4 are heard, whatever this machine's default.
        sockopt::set_ipv6_v6only(&socket, false).map_err(failed)?;
    }
    bind(&socket, &here).map_err(failed)?;
    listen(&socket, BACKLOG).map_err(failed)?;
    let socket = TcpListener::from(socket);
    let here = socket.local_addr();
    let here = here.map_err(|source| Error::io(format!("listening at {asked}"), source))?;
    Ok((socket.into(), here.port()))
}

impl Listener for Door {
    fn address(&self) -> &Address {
        &self.address
    }

    fn accept(&mut self, deadline: Deadline) -> Result<Box<dyn Adapter>> {
        loop {
            if let Some(accepted) = self.greet() {
                return Ok(accepted);
            }
            let admitted = self.admit();
            if let Some(accepted) = self.greet() {
                return Ok(accepted);
            }
            admitted?;
            let Some(left) = deadline.left() else {
                return Err(deadline.missed(&self.address, "anybody", "a hello"));
            };
            self.sleep(left)?;
        }
    }

    fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        self.awake().map(AsFd::as_fd).collect()
    }

    fn is_idle(&self) -> bool {
        self.callers.is_empty()
    }
}

impl Caller {
    fn turn(&mut self, is_open: bool) -> Turn {
        if is_open && self.said.is_empty() {
            let mut begin = [0; 4];
            let is_early = self.since.elapsed() < HELLO_TIME;
            // Not a byte is taken before it is known whose it is: what comes between two looks
            // may be a stranger's.
            match recv(&self.line.socket, &mut begin, RecvFlags::PEEK) {
                Ok((size, _)) if size > 0 && !hello::is_begun(&begin[..size]) => {
                    return Turn::Strange;
                }
                Ok((1..=3, _)) if is_early => {
                    self.is_unclear = true;
                    return Turn::Waits;
                }
                Err(Errno::AGAIN | Errno::INTR) if is_early => return Turn::Waits,
                Ok((1..=3, _)) | Err(Errno::AGAIN | Errno::INTR) => return self.give_up(is_open),
                _ => self.is_unclear = false,
            }
        }
        let mut buffer = [0; HELLO_MAX + 1];
        let room = buffer.len() - self.said.len();
        match recv(&self.line.socket, &mut buffer[..room], RecvFlags::empty()) {
            Ok((0, _)) => return Turn::Gone,
            Ok((size, _)) => self.said.extend_from_slice(&buffer[..size]),
            Err(Errno::AGAIN | Errno::INTR) if self.since.elapsed() < HELLO_TIME => {
                return Turn::Waits;
            }
            Err(Errno::AGAIN | Errno::INTR) => return self.give_up(is_open),
            Err(_) => return Turn::Gone,
        }
        match hello::read(&self.said) {
            Ok(Some((hello, size))) if size == self.said.len() => self.identify(hello),
            Ok(None) => Turn::Waits,
            Ok(Some(_)) => self.send_away("it went on before it was answered"),
            Err(refusal) => self.refuse(&refusal),
        }
    }

    /// Whoever was asked for a key may say no other member's name.
    fn identify(&self, hello: Hello) -> Turn {
        let Some(tunnel) = &self.line.tunnel else { return Turn::Greeted(hello) };
        match tunnel.member() {
            Some(member) if member.may_say(&hello.name) => Turn::Greeted(hello),
            Some(Member { name, .. }) => {
                let said = &hello.name;
                self.send_away(&format!("the key is {name}'s, and the hello says {said}"))
            }
            None => self.send_away("the key is no longer in the membership list"),
        }
    }

    /// It was too slow. At an open door only who has begun a hello, which then was read, can read
    /// an answer.
    fn give_up(&self, is_open: bool) -> Turn {
        if is_open && self.said.is_empty() {
            return Turn::Gone;
        }
        self.send_away("it was too slow")
    }

    fn send_away(&self, why: &str) -> Turn {
        self.refuse(&Refusal::Denied(why.to_owned()))
    }

    fn refuse(&self, refusal: &Refusal) -> Turn {
        // It may be gone; then nobody needs to know.
        let _ = send(&self.line.socket, &refusal.answer(), SendFlags::NOSIGNAL);
        Turn::Gone
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::TcpStream;

    #[test]
    fn the_silent_go_for_new_ones_the_oldest_first() {
        let mut door = Door::tcp("127.0.0.1", 0).unwrap();
        let Address::Tcp(host, port) = door.address.clone() else { panic!("it is TCP") };
        let connect = |_| TcpStream::connect((host.as_str(), port)).unwrap();
        let mut silent: Vec<_> = (0..HELLOS_MAX + 10).map(connect).collect();
        // Nobody has looked at those who came first, and they have just come, however slow this
        // machine is, so nobody goes.
        const HOUR: Duration = Duration::from_secs(3600);
        door.admit().unwrap();
        door.callers.iter_mut().for_each(|caller| caller.since += HOUR);
        for _ in 0..2 {
            door.admit().unwrap();
            assert_eq!(door.callers.len(), HELLOS_MAX);
            assert!(door.greet().is_none());
        }
        assert!(accept_with(&door.socket, FLAGS).is_ok(), "one waits in the queue");
        door.callers.iter_mut().for_each(|caller| caller.since -= HOUR + LEAST);
        door.admit().unwrap();
        assert_eq!(door.callers.len(), HELLOS_MAX);
        assert_eq!(accept_with(&door.socket, FLAGS).err(), Some(Errno::AGAIN), "all are in");
        for gone in &mut silent[..9] {
            let mut answer = Vec::new();
            gone.read_to_end(&mut answer).unwrap();
            let refusal = hello::read_answer(&answer).unwrap_err();
            assert_eq!(refusal, Refusal::Denied("it was too slow".to_owned()));
        }
        silent[9].set_nonblocking(true).unwrap();
        assert!(silent[9].read(&mut [0]).is_err(), "the next one still waits");
    }

    /// Its door, and a caller that stands before it and has said this.
    fn open_door(said: &[u8]) -> (Door, TcpStream) {
        let mut door = Door::tcp("127.0.0.1", 0).unwrap().open();
        let Address::Tcp(host, port) = door.address.clone() else { panic!("it is TCP") };
        let mut caller = TcpStream::connect((host, port)).unwrap();
        caller.write_all(said).unwrap();
        door.admit().unwrap();
        assert_eq!(door.callers.len(), 1);
        while !said.is_empty()
            && recv(&door.callers[0].line.socket, &mut [0], RecvFlags::PEEK).is_err()
        {
            std::thread::yield_now();
        }
        (door, caller)
    }

    #[test]
    fn who_has_said_the_first_letters_of_a_hello_does_not_keep_an_open_door_awake() {
        let (mut door, mut caller) = open_door(b"MST");
        assert!(door.greet().is_none());
        let now = Some(timespec(Duration::ZERO));
        assert_eq!(poll(&mut door.polled(), now.as_ref()), Ok(0), "nothing is new");
        let hello = Hello { name: "x".into(), service: String::new(), lane: Lane::Bulk };
        caller.write_all(&hello::write(&hello)[3..]).unwrap();
        let accepted = door.accept(Deadline::after(Duration::from_secs(60))).unwrap();
        assert_eq!(accepted.hello(), &hello);
    }

    #[test]
    fn an_open_door_answers_nobody_who_has_not_begun_a_hello() {
        let long_ago = Instant::now().checked_sub(2 * HELLO_TIME).expect("the machine runs longer");
        for (said, is_answered) in [(&b""[..], false), (b"MST", false), (b"MSTR", true)] {
            let (mut door, mut caller) = open_door(said);
            // What has arrived is read, and then it says no more.
            assert!(door.greet().is_none());
            door.callers[0].since = long_ago;
            assert!(door.greet().is_none());
            assert!(door.callers.is_empty(), "it is gone");
            let mut answer = Vec::new();
            let end = caller.read_to_end(&mut answer);
            // Of what it said, not all was read.
            let is_reset =
                |error: std::io::Error| error.kind() == std::io::ErrorKind::ConnectionReset;
            assert!(end.is_ok() || end.is_err_and(is_reset));
            assert_eq!(!answer.is_empty(), is_answered, "{said:?}");
        }
    }
}
