//! One end of a connection: a non-blocking socket.

use super::connect::Line;
use super::sys;
use crate::deadline::Deadline;
use crate::error::{Error, Result};
use crate::strategy::emulated::Framed;
use crate::strategy::{Bare, Datagram, Ready, Stream, Wait};
use crate::transport::{Adapter, Hello, Peer};
use crate::wait::Patience;
use rustix::buffer::spare_capacity;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{
    RecvFlags, SendAncillaryBuffer, SendFlags, Shutdown, recv, send, sendmsg, sockopt,
};
use std::io::IoSlice;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

/// How long a read sleeps in its call; after that, it sleeps in poll(2) to its very deadline.
const NAP: Duration = Duration::from_millis(100);

/// How much is asked for at once of what has come through before a stream was given away.
const COME: usize = 4096;

/// How everything is sent.
const SEND: SendFlags = SendFlags::NOSIGNAL.union(SendFlags::DONTWAIT);

/// A connected socket.
#[derive(Debug)]
pub struct Socket {
    line: Line,
    peer: Peer,
    /// Who waits, in errors.
    me: String,
    patience: Patience,
}

impl Socket {
    /// A socket that is connected and does not block.
    pub(super) fn new(line: Line, peer: Peer, me: String) -> Socket {
        Socket { line, peer, me, patience: Patience::new() }
    }

    /// Lets [`Stream::read`] sleep in its call. Those who get the descriptor of a stream want one
    /// that never blocks; messages keep theirs to themselves.
    fn sleeping(self) -> Result<Socket> {
        let fallible = || {
            sockopt::set_socket_timeout(&self.line.socket, sockopt::Timeout::Recv, Some(NAP))?;
            rustix::io::ioctl_fionbio(&self.line.socket, false)
        };
        fallible().map_err(|errno| self.error("an option of the connection to", errno))?;
        Ok(self)
    }

    fn receive(&self, buffer: &mut [u8], flags: RecvFlags) -> Result<usize> {
        loop {
            match recv(&self.line.socket, &mut *buffer, flags) {
                Err(Errno::INTR) if flags.contains(RecvFlags::DONTWAIT) => {}
                Err(Errno::INTR) => return Err(Error::WouldBlock),
                Err(errno) => return Err(self.error("receiving from", errno)),
                Ok((0, _)) if !buffer.is_empty() => {
                    return self.line.end(&self.peer.name).map(|()| 0);
                }
                Ok((size, _)) => return Ok(size),
            }
        }
    }

    fn error(&self, doing: &str, errno: Errno) -> Error {
        failure(&self.line, &self.peer.name, doing, errno)
    }

    fn is_ready(&self, flags: PollFlags, most: Duration) -> Result<bool> {
        is_ready(self.line.socket.as_fd(), flags, most)
            .map_err(|errno| self.error("waiting for", errno))
    }
}

/// What the kernel's refusal, or who protects its bytes, says about the connection to a peer. That
/// something is lacking here says nothing of the peer.
pub fn failure(line: &Line, peer: &str, doing: &str, errno: Errno) -> Error {
    if errno != Errno::AGAIN
        && let Err(cut) = line.end(peer)
    {
        return cut;
    }
    match errno {
        Errno::PIPE
        | Errno::CONNRESET
        | Errno::CONNABORTED
        | Errno::TIMEDOUT
        | Errno::HOSTUNREACH
        | Errno::HOSTDOWN
        | Errno::NETUNREACH
        | Errno::NETDOWN
        | Errno::NETRESET => {
            let (peer, evidence) = (peer.to_owned(), errno.to_string());
            Error::Dead { peer, evidence }
        }
        errno => Error::io(format!("{doing} {peer}"), errno),
    }
}

/// Whether a descriptor is ready, or becomes so in time, or has failed. May end early.
pub fn is_ready(
    socket: BorrowedFd<'_>,
    flags: PollFlags,
    most: Duration,
) -> rustix::io::Result<bool> {
    let mut polled = [PollFd::from_borrowed_fd(socket, flags)];
    match poll(&mut polled, Some(&timespec(most))) {
        Ok(count) => Ok(count > 0),
        Err(Errno::INTR) => Ok(false),
        Err(errno) => Err(errno),
    }
}

/// As the kernel wants it.
pub fn timespec(time: Duration) -> Timespec {
    Timespec { tv_sec: time.as_secs().min(1 << 30) as i64, tv_nsec: time.subsec_nanos().into() }
}

impl Wait for Socket {
    fn peer(&self) -> &Peer {
        &self.peer
    }

    fn me(&self) -> &str {
        &self.me
    }

    fn wait(&mut self, ready: Ready, deadline: Deadline) -> Result<()> {
        let (flags, what) = match ready {
            Ready::Receive => (PollFlags::IN, "something to receive"),
            Ready::Send => (PollFlags::OUT, "room to send"),
        };
        if ready == Ready::Receive {
            self.patience.begin();
            while self.patience.lasts() {
                if self.is_ready(flags, Duration::ZERO)? {
                    self.patience.found();
                    return Ok(());
                }
            }
            self.patience.slept();
        }
        loop {
            let left = deadline.left();
            if self.is_ready(flags, left.unwrap_or_default())? {
                return Ok(());
            }
            if left.is_none() {
                return Err(deadline.missed(&self.me, &self.peer.name, what));
            }
        }
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        Some(self.line.socket.as_fd())
    }
}

impl Stream for Socket {
    fn try_write(&mut self, bytes: &[u8]) -> Result<usize> {
        loop {
            match send(&self.line.socket, bytes, SEND) {
                Err(Errno::INTR) => {}
                sent => return sent.map_err(|errno| self.error("sending to", errno)),
            }
        }
    }

    fn try_write_parts(&mut self, parts: &[IoSlice<'_>]) -> Result<usize> {
        loop {
            let mut nothing = SendAncillaryBuffer::default();
            match sendmsg(&self.line.socket, parts, &mut nothing, SEND) {
                Err(Errno::INTR) => {}
                sent => return sent.map_err(|errno| self.error("sending to", errno)),
            }
        }
    }

    fn try_read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        self.receive(buffer, RecvFlags::DONTWAIT)
    }

    fn read(&mut self, buffer: &mut [u8], deadline: Deadline) -> Result<usize> {
        if deadline.left() > Some(NAP) {
            match self.receive(buffer, RecvFlags::empty()) {
                Err(Error::WouldBlock) => {}
                done => return done,
            }
        }
        loop {
            match self.try_read(buffer) {
                Err(Error::WouldBlock) => self.wait(Ready::Receive, deadline)?,
                done => return done,
            }
        }
    }

    fn is_delivered(&self) -> bool {
        match &self.line.tunnel {
            Some(tunnel) => tunnel.is_delivered(),
            None => sys::is_empty(self.line.socket.as_fd()),
        }
    }

    fn finish(&mut self, _: Deadline) -> Result<()> {
        match rustix::net::shutdown(&self.line.socket, Shutdown::Write) {
            // It is gone already; who reads is told so.
            Err(Errno::NOTCONN) => Ok(()),
            finished => finished.map_err(|errno| self.error("ending the bytes to", errno)),
        }
    }

    fn socket(&self) -> Option<BorrowedFd<'_>> {
        Some(self.line.socket.as_fd())
    }

    fn bare(&mut self) -> Result<Bare> {
        let Some(tunnel) = &mut self.line.tunnel else {
            let socket = self.line.socket.try_clone();
            let socket = socket.map_err(|source| Error::io("keeping a connection", source))?;
            return Ok(Bare { socket, session: None });
        };
        let Some((socket, mut session)) = tunnel.leave() else {
            self.line.end(&self.peer.name)?;
            let evidence = "it ended, or took no bytes, when it was to be given away".to_owned();
            return Err(Error::Dead { peer: self.peer.name.clone(), evidence });
        };
        // What has come through already.
        let mut come = Vec::new();
        loop {
            come.reserve(COME);
            let flags = RecvFlags::DONTWAIT;
            match recv(&self.line.socket, spare_capacity(&mut come), flags) {
                Err(Errno::INTR) => {}
                Ok((size, _)) if size > 0 => {}
                // The other end is gone, as it is to be.
                _ => break,
            }
        }
        session.put_back(&come);
        Ok(Bare { socket, session: Some(Box::new(session)) })
    }
}

/// A connection after its hello.
#[derive(Debug)]
pub struct End {
    /// The socket.
    pub socket: Socket,
    /// What was said.
    pub hello: Hello,
}

impl Adapter for End {
    fn peer(&self) -> &Peer {
        &self.socket.peer
    }

    fn hello(&self) -> &Hello {
        &self.hello
    }

    fn datagram(self: Box<Self>) -> Result<Box<dyn Datagram>> {
        Ok(Box::new(Framed::new(self.socket.sleeping()?)))
    }

    fn stream(self: Box<Self>) -> Result<Box<dyn Stream>> {
        Ok(Box::new(self.socket))
    }
}
