//! A protected connection whose owner does TLS by himself: no thread between him and the socket,
//! and no copy. He has to know what a descriptor does not say: after a read that has filled its
//! room there may be more, whatever poll(2) says; and after a write some may wait for room
//! ([`Secured::flush`]).

use super::session::{Cut, Session};
use crate::strategy::Bare;
use muster_base::limits::TLS_CHUNK;
use rustix::buffer::spare_capacity;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, Shutdown, recv, send, shutdown};
use std::io::{self, IoSlice};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Mutex, MutexGuard};

/// A connection over TCP and what protects it. Nothing here waits. Dropping it says goodbye, as far
/// as there is room.
#[derive(Debug)]
pub struct Secured {
    tcp: OwnedFd,
    session: Mutex<Session>,
}

impl Secured {
    /// One that was given away; as it was, where nothing protects it.
    ///
    /// # Errors
    /// Its socket.
    pub fn of(bare: Bare) -> Result<Secured, OwnedFd> {
        let Bare { socket, session } = bare;
        match session {
            Some(session) => Ok(Secured { tcp: socket, session: Mutex::new(*session) }),
            None => Err(socket),
        }
    }

    fn session(&self) -> MutexGuard<'_, Session> {
        self.session.lock().expect("no holder panics")
    }

    /// Reads; 0 is the end. Where less than `into` was filled, more will be told of by the
    /// descriptor: no byte is left here.
    ///
    /// # Errors
    /// [`io::ErrorKind::WouldBlock`]; [`io::ErrorKind::UnexpectedEof`] where its end was not said;
    /// that of recv(2); [`io::ErrorKind::InvalidData`] where it is no TLS, or was changed.
    pub fn read(&self, into: &mut [u8]) -> io::Result<usize> {
        let mut session = self.session();
        let (mut filled, mut is_dry) = (0, false);
        loop {
            match session.find() {
                Ok(true) => {
                    let content = session.content();
                    let size = content.len().min(into.len() - filled);
                    into[filled..filled + size].copy_from_slice(&content[..size]);
                    session.consume(size);
                    filled += size;
                    if filled == into.len() {
                        return Ok(filled);
                    }
                    continue;
                }
                Ok(false) if session.has_ended() => {
                    if filled > 0 {
                        // Its end may have come with it, and TCP's not: the descriptor tells.
                        let _ = shutdown(&self.tcp, Shutdown::Read);
                    }
                    return Ok(filled);
                }
                Ok(false) if is_dry && filled > 0 => {
                    session.rest();
                    return Ok(filled);
                }
                Ok(false) => {}
                Err(cut) => return self.fail(&mut session, &cut, filled),
            }
            let room = session.room();
            match recv(&self.tcp, spare_capacity(room), RecvFlags::DONTWAIT) {
                // What comes with less than was asked for is all there is.
                Ok((size, _)) if size > 0 => is_dry = room.len() < room.capacity(),
                Ok(_) if filled > 0 => return Ok(filled),
                Ok(_) => {
                    return Err(io::Error::new(
                        io::ErrorKind::UnexpectedEof,
                        Cut::silent().to_string(),
                    ));
                }
                Err(Errno::INTR) => {}
                Err(errno) => {
                    session.rest();
                    return if filled > 0 { Ok(filled) } else { Err(errno.into()) };
                }
            }
        }
    }

    /// The connection is over. What had come before is still handed over; the descriptor tells of
    /// the end.
    fn fail(&self, session: &mut Session, cut: &Cut, filled: usize) -> io::Result<usize> {
        // There may be a word on it for the peer.
        let _ = self.push(session);
        let _ = shutdown(&self.tcp, Shutdown::Both);
        match filled {
            0 => Err(io::Error::new(io::ErrorKind::InvalidData, cut.to_string())),
            filled => Ok(filled),
        }
    }

    /// Writes; returns how many bytes were taken, of which some may have to wait
    /// ([`Secured::flush`]).
    ///
    /// # Errors
    /// [`io::ErrorKind::WouldBlock`] where nothing was taken; that of send(2);
    /// [`io::ErrorKind::BrokenPipe`] where the connection is over.
    pub fn write(&self, from: &[IoSlice<'_>]) -> io::Result<usize> {
        let mut session = self.session();
        let mut parts = from.to_vec();
        let (mut rest, mut taken) = (&mut parts[..], 0);
        loop {
            match self.push(&mut session) {
                Ok(()) => {}
                Err(Errno::AGAIN) if taken > 0 => return Ok(taken),
                Err(errno) => return Err(errno.into()),
            }
            if let Err(cut) = session.may_send() {
                return Err(io::Error::new(io::ErrorKind::BrokenPipe, cut.to_string()));
            }
            match session.take(rest, TLS_CHUNK) {
                0 => return Ok(taken),
                size => {
                    IoSlice::advance_slices(&mut rest, size);
                    taken += size;
                }
            }
        }
    }

    /// Has what waits leave.
    ///
    /// # Errors
    /// [`io::ErrorKind::WouldBlock`] where some still waits; that of send(2).
    pub fn flush(&self) -> io::Result<()> {
        Ok(self.push(&mut self.session())?)
    }

    /// Says goodbye, and ends both ways.
    ///
    /// # Errors
    /// That of shutdown(2).
    pub fn shutdown(&self) -> io::Result<()> {
        self.part();
        Ok(shutdown(&self.tcp, Shutdown::Both)?)
    }

    fn part(&self) {
        let mut session = self.session();
        session.finish();
        // Who takes nothing more is not waited for.
        let _ = self.push(&mut session);
    }

    fn push(&self, session: &mut Session) -> rustix::io::Result<()> {
        while !session.sealed().is_empty() {
            let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
            match send(&self.tcp, session.sealed(), flags) {
                Ok(size) => session.sent(size),
                Err(Errno::INTR) => {}
                Err(errno) => return Err(errno),
            }
        }
        Ok(())
    }
}

impl Drop for Secured {
    fn drop(&mut self) {
        self.part();
    }
}

impl AsFd for Secured {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.tcp.as_fd()
    }
}
