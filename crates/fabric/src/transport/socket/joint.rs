//! One protected connection between its TCP socket and its local one, as far as it goes by itself.
//!
//! TLS records come and go at the TCP socket; the same bytes in the clear at the local one, a pair
//! of Unix sockets whose other end is the connection that everybody sees.
//!
//! *Ends.* Each way ends for itself, as TCP does it. When the local end finishes, TLS's goodbye
//! (`close_notify`) is sent and then TCP's; when the peer's goodbye has come, the local end is
//! told. TCP's end without a goodbye, a reset, and a record that cannot be read are a [`Cut`]: what
//! had arrived before is still handed over, then the local socket closes, and who asks is told why
//! ([`super::pump::Tunnel`]). A local end that is dropped with bytes unread says no goodbye, as TCP
//! resets then, so the peer takes it for dead. Before the handshake nothing is read from the local
//! end, and its end is the connection's.
//!
//! *Memory.* As long as records wait for room, nothing more is read from the local end, and as long
//! as bytes wait for the local end, nothing more is read from the peer. So a connection holds at
//! most a chunk of [`TLS_CHUNK`] on its way out, and twice that on its way in, beyond what the
//! sockets do ([`super::session`]).
//!
//! [`TLS_CHUNK`]: muster_base::limits::TLS_CHUNK

use super::option::SILENCE;
use super::pump::Link;
use super::session::{Cut, Session};
use super::sys;
use rustix::buffer::spare_capacity;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, Shutdown, recv, send, shutdown};
use std::io::IoSlice;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::Instant;

/// How much is done before other connections have their turn.
const TURNS: usize = 16;

/// One way of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Open,
    /// No more comes; what there is has to be handed on, and the end.
    Ending,
    Ended,
}

/// What to do with a joint after its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// There is more to do.
    Again,
    /// Wait until a socket is ready.
    Wait,
    /// It is over.
    Over,
}

/// What a socket has told, and has not been refuted since.
#[derive(Clone, Copy, Debug)]
pub struct Told {
    /// Something can be read.
    pub readable: bool,
    /// There is room to write.
    pub writable: bool,
    /// The other end is gone, or says no more.
    pub ended: bool,
}

impl Told {
    const NEW: Told = Told { readable: true, writable: true, ended: false };
}

/// See above.
pub struct Joint {
    pub tcp: OwnedFd,
    pub local: OwnedFd,
    pub far: Told,
    pub near: Told,
    session: Session,
    link: Arc<Link>,
    outward: Way,
    inward: Way,
    is_cut: bool,
    /// Why the peer took nothing any more: what is told unless it has said goodbye.
    unsent: Option<Cut>,
    /// The local end was dropped.
    is_left: bool,
    /// Since when what a dropped end had sent waits for the peer.
    waits_since: Option<Instant>,
}

impl Joint {
    pub fn new(tcp: OwnedFd, local: OwnedFd, session: Session, link: Arc<Link>) -> Joint {
        Joint {
            tcp,
            local,
            far: Told::NEW,
            near: Told::NEW,
            session,
            link,
            outward: Way::Open,
            inward: Way::Open,
            is_cut: false,
            unsent: None,
            is_left: false,
            waits_since: None,
        }
    }

    /// It cannot be looked after here.
    pub fn refuse(&self, why: String) {
        self.link.cut(Cut::Dead(why));
    }

    /// The socket to the peer, and the session that goes on there; none where not all that was
    /// written at the local end was taken, or the connection has ended.
    pub fn give_away(self) -> Option<(OwnedFd, Session)> {
        let is_open = (self.outward, self.inward) == (Way::Open, Way::Open) && !self.is_left;
        let is_quiet = !self.near.readable && !self.session.is_greeting();
        (is_open && is_quiet).then_some((self.tcp, self.session))
    }

    /// The local end was dropped, or both ways of it have ended.
    pub fn leave(&mut self) {
        self.is_left = true;
    }

    /// Whether it waits for the peer to take what a dropped end had sent, and may still.
    pub fn lingers(&self) -> Option<bool> {
        self.waits_since.map(|since| since.elapsed() < SILENCE)
    }

    /// Whether the peer's kernel has all that was written at the local end.
    pub fn is_delivered(&self) -> bool {
        !self.near.readable && self.is_silent() && sys::is_empty(self.tcp.as_fd())
    }

    /// Whether the local end has to tell when it has room.
    pub fn wants_room(&self) -> bool {
        !self.near.writable
    }

    /// Does what can be done. `chunk` is anybody's memory.
    pub fn turn(&mut self, chunk: &mut [u8]) -> Next {
        for _ in 0..TURNS {
            let sent = self.send(chunk).unwrap_or_else(|failed| {
                match failed {
                    Errno::PIPE | Errno::CONNRESET => self.deafen(Cut::Dead(failed.to_string())),
                    _ => self.fail(Cut::Dead(failed.to_string())),
                }
                true
            });
            let moved = match self.receive() {
                Ok(received) => sent | received,
                Err(cut) => {
                    let first = self.unsent.take();
                    self.fail(first.unwrap_or(cut));
                    true
                }
            };
            if self.is_over() {
                return Next::Over;
            }
            if !moved {
                let waits = self.is_left && self.outward != Way::Ended;
                self.session.rest();
                self.waits_since = waits.then(|| self.waits_since.unwrap_or_else(Instant::now));
                return Next::Wait;
            }
            self.waits_since = None;
        }
        Next::Again
    }

    fn is_over(&self) -> bool {
        let is_gone = self.is_left && (self.outward == Way::Ended || self.session.is_greeting());
        is_gone || self.inward == Way::Ended && (self.outward == Way::Ended || self.is_cut)
    }

    /// The peer takes nothing any more. What it has sent before, its goodbye perhaps, may still be
    /// in the socket.
    fn deafen(&mut self, cut: Cut) {
        self.outward = Way::Ended;
        self.unsent = Some(cut);
        self.far.readable = true;
        // Who only sends is told at once.
        let _ = shutdown(&self.local, Shutdown::Read);
    }

    /// The connection is over, but for what has arrived.
    fn fail(&mut self, cut: Cut) {
        // If it was a record, TLS has a word on it for the peer.
        let _ = self.flush();
        self.outward = Way::Ended;
        if self.inward == Way::Open {
            self.inward = Way::Ending;
        }
        self.is_cut = true;
        self.link.cut(cut);
        // Who only sends is told at once; who receives gets what there is, and is told then.
        let _ = shutdown(&self.local, Shutdown::Read);
    }

    /// Moves bytes to the peer; true if something has moved.
    fn send(&mut self, chunk: &mut [u8]) -> Result<bool, Errno> {
        if self.outward == Way::Ended {
            return Ok(false);
        }
        let mut moved = self.flush()?;
        if self.session.is_greeting() {
            return Ok(moved);
        }
        if !self.is_silent() {
            return Ok(moved);
        }
        match self.outward {
            Way::Open if self.near.readable => moved |= self.take(chunk),
            Way::Ending => {
                // Whether the peer has heard is no longer ours to know.
                let _ = shutdown(&self.tcp, Shutdown::Write);
                self.outward = Way::Ended;
                moved = true;
            }
            _ => {}
        }
        Ok(moved)
    }

    /// Nothing waits to be written.
    fn is_silent(&self) -> bool {
        self.session.sealed().is_empty()
    }

    /// Writes records; true if some were.
    fn flush(&mut self) -> Result<bool, Errno> {
        let mut moved = false;
        while self.far.writable && !self.is_silent() {
            match send(&self.tcp, self.session.sealed(), SendFlags::NOSIGNAL | SendFlags::DONTWAIT)
            {
                Ok(size) => {
                    self.session.sent(size);
                    moved = true;
                }
                Err(Errno::AGAIN) => self.far.writable = false,
                Err(Errno::INTR) => {}
                Err(errno) => return Err(errno),
            }
        }
        Ok(moved)
    }

    /// Takes bytes from the local end; true if there were some, or their end.
    fn take(&mut self, chunk: &mut [u8]) -> bool {
        match recv(&self.local, &mut *chunk, RecvFlags::DONTWAIT) {
            Ok((0, _)) => {
                self.session.finish();
                self.outward = Way::Ending;
                true
            }
            Ok((size, _)) => {
                self.session.take(&[IoSlice::new(&chunk[..size])], size);
                self.near.readable = size == chunk.len() || self.near.ended;
                true
            }
            Err(Errno::AGAIN) => {
                self.near.readable = false;
                false
            }
            Err(Errno::INTR) => true,
            // Dropped, and something was unread.
            Err(_) => {
                (self.is_left, self.outward) = (true, Way::Ended);
                true
            }
        }
    }

    /// Moves bytes from the peer; true if something has moved.
    fn receive(&mut self) -> Result<bool, Cut> {
        if self.inward == Way::Ended {
            return Ok(false);
        }
        let (was_greeting, was_silent) = (self.session.is_greeting(), self.is_silent());
        let (mut moved, is_empty) = self.hand_over()?;
        // The handshake may have an answer, or may be done.
        moved |= was_greeting && !self.session.is_greeting() || was_silent && !self.is_silent();
        if !is_empty {
            return Ok(moved);
        }
        if self.inward == Way::Ending {
            // After a cut the socket is closed instead, which ends both ways.
            if !self.is_cut {
                let _ = shutdown(&self.local, Shutdown::Write);
            }
            self.inward = Way::Ended;
            return Ok(true);
        }
        if self.session.has_ended() {
            self.inward = Way::Ending;
            return Ok(true);
        }
        if self.far.readable {
            moved |= self.fetch()?;
        }
        Ok(moved)
    }

    /// Hands bytes to the local end: whether it got some, and whether that was all there are.
    fn hand_over(&mut self) -> Result<(bool, bool), Cut> {
        let mut moved = false;
        while self.near.writable {
            match self.session.find() {
                Ok(true) => self.link.know(|| self.session.peer()),
                Err(cut) if self.inward == Way::Open => return Err(cut),
                // What came before the end was handed over.
                Ok(false) | Err(_) => return Ok((moved, true)),
            }
            let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
            match send(&self.local, self.session.content(), flags) {
                Ok(size) => {
                    self.session.consume(size);
                    moved = true;
                }
                Err(Errno::AGAIN) => self.near.writable = false,
                Err(Errno::INTR) => {}
                // Nobody wants them any more.
                Err(_) => {
                    self.inward = Way::Ended;
                    return Ok((true, false));
                }
            }
        }
        Ok((moved, false))
    }

    /// Gets records from the peer; true if there were some.
    fn fetch(&mut self) -> Result<bool, Cut> {
        let arrived = self.session.room();
        match recv(&self.tcp, spare_capacity(arrived), RecvFlags::DONTWAIT) {
            Ok((0, _)) => Err(Cut::silent()),
            Ok(_) => {
                self.far.readable = arrived.len() == arrived.capacity() || self.far.ended;
                Ok(true)
            }
            Err(Errno::AGAIN) => {
                self.far.readable = false;
                Ok(false)
            }
            Err(Errno::INTR) => Ok(true),
            Err(errno) => Err(Cut::Dead(errno.to_string())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::session::tests::open_pair;
    use super::*;
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};
    use std::os::unix::net::UnixStream;

    /// What one gets that has much to send to a peer which says `last`, goodbye too if it is to,
    /// and goes with all of that unread.
    fn heard(last: &[u8], says_goodbye: bool) -> (Vec<u8>, Option<String>) {
        let [session, mut other] = open_pair();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let tcp = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let mut peer = listener.accept().unwrap().0;
        let (mut ours, local) = UnixStream::pair().unwrap();
        let (link, mut chunk) = (Arc::new(Link::default()), vec![0; 4096]);
        let mut joint = Joint::new(tcp.into(), local.into(), session, link.clone());
        ours.write_all(&[1; 4096]).unwrap();
        assert_eq!(joint.turn(&mut chunk), Next::Wait);
        // Of what follows TCP has no room, as far as is known.
        joint.far.writable = false;
        (joint.near.readable, joint.far.readable) = (true, true);
        ours.write_all(&[2; 4096]).unwrap();
        assert_eq!(joint.turn(&mut chunk), Next::Wait);
        other.take(&[IoSlice::new(last)], last.len());
        if says_goodbye {
            other.finish();
        }
        peer.write_all(other.sealed()).unwrap();
        peer.peek(&mut [0]).expect("something is unread");
        drop(peer);
        joint.far = Told { readable: true, writable: true, ended: true };
        while joint.turn(&mut chunk) != Next::Over {}
        drop(joint);
        let mut got = Vec::new();
        ours.read_to_end(&mut got).unwrap();
        (got, link.reason().map(|cut| format!("{cut:?}")))
    }

    #[test]
    fn what_waits_in_tcp_or_before_it_is_not_delivered() {
        let [session, _other] = open_pair();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let tcp = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        tcp.set_nonblocking(true).unwrap();
        let mut peer = listener.accept().unwrap().0;
        let (mut ours, local) = UnixStream::pair().unwrap();
        ours.set_nonblocking(true).unwrap();
        let mut chunk = vec![0; 4096];
        let mut joint = Joint::new(tcp.into(), local.into(), session, Arc::default());
        // The peer reads nothing: at last TCP's buffers are full, and so are those before it.
        while ours.write(&[1; 4096]).is_ok() || joint.turn(&mut chunk) != Next::Wait {
            joint.near.readable = true;
        }
        assert!(!joint.is_delivered());
        peer.set_nonblocking(true).unwrap();
        while !joint.is_delivered() {
            let _ = peer.read(&mut [0; 65536]);
            (joint.near.readable, joint.far.writable) = (true, true);
            joint.turn(&mut chunk);
        }
        assert!(joint.near.writable, "nothing was said to this end");
    }

    #[test]
    fn what_a_peer_has_sent_before_it_went_is_read_though_nothing_can_be_sent_to_it() {
        let (got, cut) = heard(b"last words", true);
        assert_eq!((&got[..], cut), (&b"last words"[..], None), "it has said goodbye");
        let (got, cut) = heard(b"last words", false);
        assert_eq!(got, b"last words");
        assert!(cut.is_some_and(|cut| cut.contains("reset")), "and here it has not");
    }
}
