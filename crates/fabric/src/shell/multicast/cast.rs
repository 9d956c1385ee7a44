//! A group for those who are no shells: one *voice* sends bodies, any number of *hearers* get the
//! parts of them that come. Nothing more: who listens, what is lost and how far they are is theirs
//! to say to each other.

use super::RECEIVED_MAX;
use super::replay::Replay;
use super::seal::{Seal, Secret};
use super::socket::Socket;
use super::speaker::BATCH;
pub use super::wire::PART;
use super::wire::{CastId, DATAGRAM, Header};
use crate::error::{Error, Result};
use muster_base::limits::{MULTICAST_BUFFER, MULTICAST_MAX, MULTICAST_TURN};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

/// How long a network may take nothing before what it was to take is lost.
const PATIENCE: Duration = Duration::from_secs(1);

/// What sends.
pub struct Voice {
    socket: Socket,
    seal: Seal,
    /// The next datagram's number.
    next: u64,
    batch: Vec<u8>,
    /// When the next batch may leave.
    due: Instant,
}

impl Voice {
    /// To a group, by the interface with that address, sealed with a key that nobody else seals
    /// with.
    ///
    /// # Errors
    /// When the interface or the group is none, or a descriptor cannot be had.
    pub fn open(group: SocketAddrV4, interface: Ipv4Addr, secret: &Secret) -> Result<Voice> {
        let (socket, seal) = (Socket::speak(group, interface)?, Seal::new(secret));
        let batch = Vec::with_capacity(BATCH * DATAGRAM);
        Ok(Voice { socket, seal, next: 0, batch, due: Instant::now() })
    }

    /// Sends a datagram without a part, with a number that says whatever the two want it to.
    pub fn probe(&mut self, number: u64) {
        self.batch.clear();
        self.put(number, 0, 0, &[]);
        self.flush();
    }

    /// Sends a body, so many bytes a second at most, and as fast as the network takes it. What the
    /// network does not take is lost.
    ///
    /// # Errors
    /// When the key may seal no more: another is needed.
    pub fn send(&mut self, number: u64, body: &[u8], rate: f64) -> Result<()> {
        assert!(body.len() <= MULTICAST_MAX, "no body is that long");
        if self.next + body.len().div_ceil(PART) as u64 > self.seal.most() {
            return Err(Error::io("sealing a body", ErrorKind::QuotaExceeded));
        }
        for (at, parts) in (0..).step_by(BATCH * PART).zip(body.chunks(BATCH * PART)) {
            self.batch.clear();
            for (offset, part) in (at..).step_by(PART).zip(parts.chunks(PART)) {
                self.put(number, body.len(), offset, part);
            }
            let now = Instant::now();
            std::thread::sleep(self.due.saturating_duration_since(now));
            if !self.flush() {
                return Ok(());
            }
            let takes = Duration::from_secs_f64(parts.len() as f64 / rate.max(1.0));
            // What it is behind, be it that the network was, is not caught up with.
            self.due = self.due.max(now) + takes;
        }
        Ok(())
    }

    fn put(&mut self, number: u64, length: usize, offset: usize, part: &[u8]) {
        let short = |number: usize| u32::try_from(number).expect("limits keep bodies short");
        let id = CastId { generation: self.seal.generation, number };
        let (length, offset) = (short(length), short(offset));
        let header = Header { id, datagram: self.next, length, offset };
        self.next += 1;
        self.seal.seal(&header, part, &mut self.batch);
    }

    /// False if the network takes nothing.
    fn flush(&mut self) -> bool {
        let (mut sent, until) = (0, Instant::now() + PATIENCE);
        while sent < self.batch.len() {
            match self.socket.send(&self.batch[sent..]) {
                Ok(count) => sent += count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    let left = until.saturating_duration_since(Instant::now());
                    if left.is_zero() || !wait(self.socket.descriptor(), PollFlags::OUT, left) {
                        return false;
                    }
                }
                // The network is down, or the like.
                Err(_) => return false,
            }
        }
        true
    }
}

/// Waits for a socket; false if there is nothing yet.
fn wait(socket: BorrowedFd<'_>, what: PollFlags, limit: Duration) -> bool {
    let limit = Timespec::try_from(limit).ok();
    let ready = poll(&mut [PollFd::from_borrowed_fd(socket, what)], limit.as_ref());
    ready.is_ok_and(|count| count > 0)
}

/// What listens.
pub struct Hearer {
    socket: Socket,
    seal: Seal,
    heard: Replay,
    buffer: Vec<u8>,
}

/// What a datagram has.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    /// Of which body.
    pub number: u64,
    /// Bytes of that; 0 in a probe.
    pub length: usize,
    /// Where in it the part begins.
    pub offset: usize,
    /// The part.
    pub bytes: &'a [u8],
}

impl Hearer {
    /// Listens to a group, at the interface with that address, for what is sealed with that key.
    ///
    /// # Errors
    /// When the interface or the group is none, or a descriptor cannot be had.
    pub fn open(group: SocketAddrV4, interface: Ipv4Addr, secret: &Secret) -> Result<Hearer> {
        let (socket, _) = Socket::listen(group, interface, MULTICAST_BUFFER)?;
        let buffer = vec![0; RECEIVED_MAX];
        Ok(Hearer { socket, seal: Seal::new(secret), heard: Replay::new(), buffer })
    }

    /// Waits until something has come, but not longer than that, and gives it on: each datagram
    /// once, and only those that are sealed with the key.
    ///
    /// # Errors
    /// The system's.
    pub fn hear(&mut self, limit: Duration, mut each: impl FnMut(Part<'_>)) -> io::Result<()> {
        if !wait(self.socket.descriptor(), PollFlags::IN, limit) {
            return Ok(());
        }
        for _ in 0..MULTICAST_TURN {
            let (count, size) = match self.socket.receive(&mut self.buffer) {
                Ok(received) => received,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            };
            for datagram in self.buffer[..count].chunks_mut(size) {
                if let Some((header, bytes)) = self.seal.open_new(&mut self.heard, datagram) {
                    let (length, offset) = (header.length as usize, header.offset as usize);
                    each(Part { number: header.id.number, length, offset, bytes });
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell::multicast::Parts;

    const ADDRESS: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::new(239, 255, 77, 3), 7077);

    /// What comes until a probe does: bodies as far as they are there, and the probe's number.
    fn heard(hearer: &mut Hearer, length: usize) -> (Vec<u8>, Parts, Option<u64>) {
        let (mut body, mut missing, mut probe) = (vec![0; length], Parts::all(length), None);
        let until = Instant::now() + Duration::from_secs(30);
        while probe.is_none() && Instant::now() < until {
            let each = |part: Part<'_>| match part.length {
                0 => probe = Some(part.number),
                _ => drop(missing.fill(&mut body, part.offset, part.bytes)),
            };
            hearer.hear(Duration::from_millis(100), each).expect("a socket");
        }
        (body, missing, probe)
    }

    #[test]
    fn a_voice_is_heard_by_all_who_have_its_key_and_by_nobody_else() {
        let secrets = [0; 2].map(|_| Secret::new().expect("random numbers"));
        let speak = |secret| Voice::open(ADDRESS, Ipv4Addr::LOCALHOST, secret).expect("a socket");
        let listen = |secret| Hearer::open(ADDRESS, Ipv4Addr::LOCALHOST, secret).expect("another");
        let mut voices = secrets.each_ref().map(speak);
        let mut hearers = [0, 0, 1].map(|key: usize| (key, listen(&secrets[key])));
        // Short enough for a socket that was granted no more than usual.
        let bodies = [1, 2].map(|seed: usize| {
            (0..20 * PART + 77).map(|at| (at * seed % 251) as u8).collect::<Vec<u8>>()
        });
        for ((voice, body), number) in voices.iter_mut().zip(&bodies).zip(1..) {
            voice.send(number, body, 1e9).expect("the key is new");
            voice.probe(number + 10);
        }
        for (key, hearer) in &mut hearers {
            let (body, missing, probe) = heard(hearer, bodies[*key].len());
            assert!(missing.is_none() && body == bodies[*key], "{missing:?}");
            assert_eq!(probe, Some(*key as u64 + 11));
        }
        // What is worn out seals nothing more.
        voices[0].next = voices[0].seal.most();
        voices[0].send(3, b"x", 1e9).unwrap_err();
    }
}
