//! The connection to another node as all processes of this one hold it: the same socket.

use super::endpoint::{Broken, WRITE, Wire};
use super::frame::{HEAD, OPENING, Opening};
use super::sys;
use crate::deadline::Deadline;
use crate::error::{Error, Result};
use crate::strategy::Stream;
use crate::transport::Adapter;
use muster_base::limits::GATEWAY_PIECE;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, Shutdown, recv, send, shutdown, sockopt};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// What may wait in a socket. A part of a frame stays there until the rest has come, and TCP counts
/// whole packets for it: with the usual 128 KiB and the 64 KiB packets of a loopback device no room
/// for another packet is left, and the rest never comes.
const RECEIVE: usize = 1024 * 1024;

/// How long the rest of a frame may wait for room that was there when it was begun, and how often:
/// 5 ms, far less than what a role may be kept.
const REST: Timespec = Timespec { tv_sec: 0, tv_nsec: 1_000_000 };
const RESTS: u32 = 5;

/// A socket and its epoch.
pub(super) struct Line {
    socket: OwnedFd,
    epoch: u32,
}

impl Line {
    pub(super) fn new(socket: OwnedFd, epoch: u32) -> Line {
        Line { socket, epoch }
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

impl Wire for Line {
    fn epoch(&self) -> u32 {
        self.epoch
    }

    fn room(&self) -> usize {
        // The kernel counts up to twice the bytes. Nobody else writes, so what is free stays free.
        match sys::queue(self.socket.as_fd()) {
            Ok((0, limit)) => (limit / 2).max(HEAD + GATEWAY_PIECE),
            Ok((queued, limit)) => (limit.saturating_sub(queued) / 2).saturating_sub(WRITE),
            Err(_) => 0,
        }
    }

    fn write(&self, mut bytes: &[u8]) -> std::result::Result<(), Broken> {
        let mut rests = 0;
        while !bytes.is_empty() {
            match send(&self.socket, bytes, SendFlags::NOSIGNAL | SendFlags::DONTWAIT) {
                Ok(size) => bytes = &bytes[size..],
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) if rests < RESTS => {
                    rests += 1;
                    let mut polled = [PollFd::new(&self.socket, PollFlags::OUT)];
                    // Interrupted or not: the next write shows it.
                    let _ = poll(&mut polled, Some(&REST));
                }
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

/// Opens a connection as who has made it: the socket, once the other side has agreed.
pub(super) fn offer(
    adapter: Box<dyn Adapter>,
    own: Opening,
    expected: (u32, u16),
    deadline: Deadline,
) -> Result<OwnedFd> {
    let mut stream = adapter.stream()?;
    stream.write(&own.write(), deadline)?;
    let theirs = opening(&mut *stream, deadline)?;
    if theirs.epoch != own.epoch || (theirs.node, theirs.ranks) != expected {
        return Err(malformed(&*stream, "it is another node, or one of another job"));
    }
    socket(&*stream)
}

/// Opens a connection that another node has made: what it says, and the socket.
pub(super) fn accept(
    adapter: Box<dyn Adapter>,
    own: impl FnOnce(Opening) -> Option<Opening>,
    deadline: Deadline,
) -> Result<(Opening, OwnedFd)> {
    let mut stream = adapter.stream()?;
    let theirs = opening(&mut *stream, deadline)?;
    let own = own(theirs).ok_or_else(|| malformed(&*stream, "it is no node of this job"))?;
    stream.write(&own.write(), deadline)?;
    Ok((theirs, socket(&*stream)?))
}

fn malformed(stream: &dyn Stream, what: &str) -> Error {
    Error::Malformed { peer: stream.peer().name.clone(), what: what.to_owned() }
}

fn socket(stream: &dyn Stream) -> Result<OwnedFd> {
    let Some(socket) = stream.socket() else {
        let (peer, why) = (stream.peer().name.clone(), "it is reached over no socket".to_owned());
        return Err(Error::Refused { peer, why });
    };
    let failed = |source| Error::io("keeping the socket to another node", source);
    let socket = socket.try_clone_to_owned().map_err(failed)?;
    sockopt::set_socket_recv_buffer_size(&socket, RECEIVE).map_err(|errno| failed(errno.into()))?;
    Ok(socket)
}

fn opening(stream: &mut dyn Stream, deadline: Deadline) -> Result<Opening> {
    let (mut bytes, mut there) = ([0; OPENING], 0);
    while there < OPENING {
        match stream.read(&mut bytes[there..], deadline)? {
            0 => {
                let evidence = "it ended the connection before it was open".to_owned();
                return Err(Error::Dead { peer: stream.peer().name.clone(), evidence });
            }
            size => there += size,
        }
    }
    Opening::read(&bytes).map_err(|what| malformed(stream, what))
}
