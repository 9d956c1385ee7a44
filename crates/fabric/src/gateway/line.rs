//! The connection to another node as all processes of this one hold it: the same socket.

use super::batch::Batch;
use super::endpoint::{Broken, Wire};
use super::frame::{self, HEAD, OPENING, Opening};
use super::lender::Lender;
use super::send::WRITE;
use super::sys;
use crate::deadline::Deadline;
use crate::error::{Error, Result};
use crate::strategy::Bare;
use crate::transport::Adapter;
use crate::transport::shared::sys::Mapped;
use crate::transport::socket::{self, Keys, Records, Unfit, is_ready};
use muster_base::limits::{GATEWAY_PIECE, GATEWAY_RUN};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvFlags, SendFlags, Shutdown, recv, recvmsg, send,
    shutdown, sockopt,
};
use std::io::IoSliceMut;
use std::ops::Range;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

/// What may wait in a socket. A part of a frame stays there until the rest has come, and TCP counts
/// whole packets for it: with the usual 128 KiB and the 64 KiB packets of a loopback device no room
/// for another packet is left, and the rest never comes.
const RECEIVE: usize = 1024 * 1024;

/// How long the rest of a frame may wait for room that was there when it was begun, and how often:
/// 5 ms, far less than what a role may be kept.
const REST: Timespec = Timespec { tv_sec: 0, tv_nsec: 1_000_000 };
const RESTS: u32 = 5;

/// A connection that is nobody's stream any more.
#[derive(Debug)]
pub(super) struct Kept {
    /// Where its bytes come and go.
    pub(super) socket: OwnedFd,
    /// Those of what it is protected with, if it is.
    pub(super) keys: Option<Keys>,
}

/// A socket, what its frames are sealed with, and its epoch.
pub(super) struct Line {
    socket: OwnedFd,
    /// What it takes long frames from, if it is one of this machine.
    lender: Option<Arc<Lender>>,
    keys: Option<Keys>,
    records: Option<Records>,
    epoch: u32,
    run: usize,
}

impl Line {
    pub(super) fn new(Kept { socket, keys }: Kept, epoch: u32, lender: &Arc<Lender>) -> Line {
        let records = keys.as_ref().map(Records::new);
        let is_local = sockopt::socket_domain(&socket) == Ok(AddressFamily::UNIX);
        let lender = is_local.then(|| lender.clone());
        // Where one is under way, another one has room.
        let limit = sys::queue(socket.as_fd()).map_or(0, |(_, limit)| limit);
        let run = (limit / 3 / GATEWAY_PIECE).clamp(1, GATEWAY_RUN);
        Line { socket, lender, keys, records, epoch, run }
    }

    pub(super) fn keys(&self) -> Option<&Keys> {
        self.keys.as_ref()
    }

    pub(super) fn descriptor(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// Whether the connection has ended.
    pub(super) fn has_ended(&self) -> bool {
        let flags = PollFlags::RDHUP;
        let polled = poll(&mut [PollFd::new(&self.socket, flags)], Some(&Timespec::default()));
        polled.is_ok_and(|count| count > 0)
    }

    /// Ends the connection, for all processes of both nodes.
    pub(super) fn hang_up(&self) {
        // It may have ended before.
        let _ = shutdown(&self.socket, Shutdown::Both);
    }
}

impl Wire<Arc<Mapped>> for Line {
    fn epoch(&self) -> u32 {
        self.epoch
    }

    fn around(&self) -> (usize, usize) {
        if self.records.is_some() { (socket::HEAD, socket::EXTRA) } else { (0, 0) }
    }

    fn seal(
        &self,
        number: u64,
        batch: &mut Vec<u8>,
        start: usize,
    ) -> std::result::Result<(), Broken> {
        let Some(records) = &self.records else { return Ok(()) };
        // Where the key is used up: the next connection has another one.
        records.seal(number, batch, start).map_err(|Unfit| Broken::Ended)
    }

    fn open(
        &self,
        number: u64,
        arrived: &mut [u8],
    ) -> std::result::Result<Option<(Range<usize>, usize)>, Broken> {
        match &self.records {
            // Anybody on the way can do that, so nothing is held against the node.
            Some(records) => records.open(number, arrived).map_err(|Unfit| Broken::Ended),
            None => frame::find(arrived).map_err(|_| Broken::Malformed),
        }
    }

    fn room(&self) -> usize {
        // The kernel counts up to twice the bytes. Nobody else writes, so what is free stays free.
        match sys::queue(self.socket.as_fd()) {
            Ok((0, limit)) => (limit / 2).max(HEAD + GATEWAY_PIECE + socket::EXTRA),
            Ok((queued, limit)) => (limit.saturating_sub(queued) / 2).saturating_sub(WRITE),
            Err(_) => 0,
        }
    }

    fn write(&self, memory: &Arc<Mapped>, batch: &Batch) -> std::result::Result<(), Broken> {
        let (socket, words, mut rests) = (self.socket.as_fd(), memory.words(), 0);
        let mut rest = || {
            if rests == RESTS {
                return false;
            }
            rests += 1;
            // Interrupted or not: the next write shows it.
            let _ = poll(&mut [PollFd::new(&self.socket, PollFlags::OUT)], Some(&REST));
            true
        };
        let lent = self.lender.as_ref().map(|lender| lender.send(socket, words, batch, &mut rest));
        let mut sent = lent.unwrap_or(Ok(0)).map_err(|_| Broken::Ended)?;
        while sent < batch.len() {
            match sys::send(socket, words, batch.parts(), sent) {
                Ok(size) => sent += size,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) if rest() => {}
                Err(_) => return Err(Broken::Ended),
            }
        }
        Ok(())
    }

    fn peek(&self, bytes: &mut [u8]) -> std::result::Result<usize, Broken> {
        loop {
            match recv(&self.socket, &mut *bytes, RecvFlags::PEEK | RecvFlags::DONTWAIT) {
                Ok((0, _)) => return Err(Broken::Ended),
                Ok((size, _)) => return Ok(size),
                Err(Errno::AGAIN) => return Ok(0),
                Err(Errno::INTR) => {}
                Err(_) => return Err(Broken::Ended),
            }
        }
    }

    // TCP holds a long frame in many packets, and throws away what was looked at without a copy.
    fn is_bare(&self) -> bool {
        self.lender.is_some() && self.records.is_none()
    }

    fn run(&self) -> usize {
        self.run
    }

    fn arrived(&self) -> std::result::Result<usize, Broken> {
        let arrived = rustix::io::ioctl_fionread(&self.socket).map_err(|_| Broken::Ended)?;
        Ok(usize::try_from(arrived).unwrap_or(usize::MAX))
    }

    fn take(
        &self,
        memory: &Arc<Mapped>,
        bytes: &mut [u8],
        bodies: &[(usize, usize)],
    ) -> std::result::Result<(), Broken> {
        let whole = bytes.len() + bodies.iter().map(|(_, size)| size).sum::<usize>();
        let mut taken = 0;
        while taken < whole {
            match sys::receive(self.socket.as_fd(), memory.words(), (bytes, bodies), taken) {
                Ok(size) if size > 0 => taken += size,
                Err(Errno::INTR) => {}
                // It was there, and nobody else takes anything.
                _ => return Err(Broken::Ended),
            }
        }
        Ok(())
    }

    fn get(&self, first: &mut [u8], then: &mut [u8]) -> std::result::Result<(), Broken> {
        let mut places = [IoSliceMut::new(first), IoSliceMut::new(then)];
        let (mut places, flags) = (&mut places[..], RecvFlags::DONTWAIT);
        IoSliceMut::advance_slices(&mut places, 0);
        while !places.is_empty() {
            match recvmsg(&self.socket, places, &mut RecvAncillaryBuffer::default(), flags) {
                Ok(got) if got.bytes > 0 => IoSliceMut::advance_slices(&mut places, got.bytes),
                Err(Errno::INTR) => {}
                // It was there, and nobody else takes anything.
                _ => return Err(Broken::Ended),
            }
        }
        Ok(())
    }

    fn consume(&self, bytes: &mut [u8]) -> std::result::Result<(), Broken> {
        // TCP then throws them away without another copy.
        let flags = RecvFlags::DONTWAIT | RecvFlags::TRUNC;
        let mut left = bytes.len();
        while left > 0 {
            match recv(&self.socket, &mut bytes[..left], flags) {
                Ok((_, size)) if size > 0 && size <= left => left -= size,
                Err(Errno::INTR) => {}
                _ => return Err(Broken::Ended),
            }
        }
        Ok(())
    }
}

/// Opens a connection as who has made it: what it is, once the other side has agreed. Each side has
/// taken its end from whoever looked after it before it says anything, so what comes then is for
/// those who go on with it.
pub(super) fn offer(
    adapter: Box<dyn Adapter>,
    own: Opening,
    expected: (u32, u16),
    deadline: Deadline,
) -> Result<Kept> {
    let mut stream = adapter.stream()?;
    let peer = stream.peer().name.clone();
    let mut kept = keep(stream.bare()?, &peer)?;
    say(&mut kept, own, &peer)?;
    let theirs = hear(&mut kept, &peer, deadline)?;
    if theirs.epoch != own.epoch || (theirs.node, theirs.ranks) != expected {
        return Err(malformed(&peer, "it is another node, or one of another job"));
    }
    Ok(kept)
}

/// Opens a connection that another node has made: what it says, and what the connection is.
pub(super) fn accept(
    adapter: Box<dyn Adapter>,
    own: impl FnOnce(Opening) -> Option<Opening>,
    deadline: Deadline,
) -> Result<(Opening, Kept)> {
    let mut stream = adapter.stream()?;
    let (mut bytes, mut there) = ([0; OPENING], 0);
    let peer = stream.peer().name.clone();
    while there < OPENING {
        match stream.read(&mut bytes[there..], deadline)? {
            0 => return Err(ended(&peer)),
            size => there += size,
        }
    }
    let theirs = Opening::read(&bytes).map_err(|what| malformed(&peer, what))?;
    let own = own(theirs).ok_or_else(|| {
        malformed(&peer, "it is no node of this job, or another one than it says")
    })?;
    let mut kept = keep(stream.bare()?, &peer)?;
    say(&mut kept, own, &peer)?;
    Ok((theirs, kept))
}

/// Sends the first words on a connection that is ours.
fn say(kept: &mut Kept, own: Opening, peer: &str) -> Result<()> {
    let mut bytes = own.write().to_vec();
    if let Some(keys) = &mut kept.keys {
        bytes.splice(..0, [0; socket::HEAD]);
        let sealed = Records::new(keys).seal(0, &mut bytes, 0);
        sealed.map_err(|Unfit| malformed(peer, "its key is used up"))?;
        keys.advance(1, 0);
    }
    // A new connection has room for it.
    match send(&kept.socket, &bytes, SendFlags::NOSIGNAL | SendFlags::DONTWAIT) {
        Ok(size) if size == bytes.len() => Ok(()),
        _ => Err(ended(peer)),
    }
}

/// Hears the first words on a connection that is ours, and takes not a byte more.
fn hear(kept: &mut Kept, peer: &str, deadline: Deadline) -> Result<Opening> {
    let extra = if kept.keys.is_some() { socket::EXTRA } else { 0 };
    let (mut bytes, mut there) = (vec![0; OPENING + extra], 0);
    while there < bytes.len() {
        match recv(&kept.socket, &mut bytes[there..], RecvFlags::DONTWAIT) {
            Ok((size, _)) if size > 0 => there += size,
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => {
                let Some(left) = deadline.left() else { return Err(late(peer, deadline)) };
                // Whatever it says, the next read shows it.
                let _ = is_ready(kept.socket.as_fd(), PollFlags::IN, left);
            }
            _ => return Err(ended(peer)),
        }
    }
    let mut inside = 0..OPENING;
    if let Some(keys) = &mut kept.keys {
        let opened = Records::new(keys).open(0, &mut bytes);
        let opened = opened.map_err(|Unfit| malformed(peer, "it is no record"))?;
        keys.advance(0, 1);
        inside = opened.map_or(0..0, |(inside, _)| inside);
    }
    let opening = bytes[inside].first_chunk();
    let opening = opening.ok_or_else(|| malformed(peer, "it is no opening"))?;
    Opening::read(opening).map_err(|what| malformed(peer, what))
}

fn malformed(peer: &str, what: &str) -> Error {
    Error::Malformed { peer: peer.to_owned(), what: what.to_owned() }
}

fn ended(peer: &str) -> Error {
    let evidence = "it ended the connection before it was open".to_owned();
    Error::Dead { peer: peer.to_owned(), evidence }
}

fn late(peer: &str, deadline: Deadline) -> Error {
    deadline.missed("a node's gateway", peer, "an answer to its opening")
}

/// Takes a connection's socket and keys, and has it hold what frames may need.
fn keep(Bare { socket, session }: Bare, peer: &str) -> Result<Kept> {
    let keys = session.map(|session| {
        let keys = session.into_keys();
        keys.ok_or_else(|| malformed(peer, "it said more than was to be said before this"))
    });
    let failed = |errno| Error::io("keeping the socket to another node", errno);
    sockopt::set_socket_recv_buffer_size(&socket, RECEIVE).map_err(failed)?;
    // A Unix socket's limit is the sender's.
    if sockopt::socket_domain(&socket).map_err(failed)? == AddressFamily::UNIX {
        sockopt::set_socket_send_buffer_size(&socket, RECEIVE).map_err(failed)?;
    }
    Ok(Kept { socket, keys: keys.transpose()? })
}
