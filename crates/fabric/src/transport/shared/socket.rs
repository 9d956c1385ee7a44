//! What goes over a connection's socket once both sides share memory: rings of the bell, which mean
//! "look", and notes about regions with their memory (`copy.rs`). Each is one packet
//! (`docs/wire/shared.md`).
//!
//! The socket's end is the proof that the peer is gone: the kernel closes it whatever way the
//! process ends.

use super::memory::Windows;
use crate::transport::socket::is_ready;
use muster_base::limits::SHARED_PACKETS;
use rustix::event::PollFlags;
use rustix::io::Errno;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};
use std::io::{IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A note about a region.
#[derive(Debug)]
enum Note {
    Exposed { key: u32, size: u64, memory: OwnedFd },
    Withdrawn { key: u32 },
}

/// What a look at the socket showed.
#[derive(Debug)]
pub(super) enum Heard {
    Nothing,
    End,
    Malformed(&'static str),
}

/// A connection's socket, and what has come over it.
pub(super) struct Line {
    socket: OwnedFd,
    /// The peer's regions; none where the connection is not for remote copy.
    windows: Mutex<Option<Windows>>,
}

impl Line {
    pub(super) fn new(socket: OwnedFd) -> Line {
        Line { socket, windows: Mutex::default() }
    }

    pub(super) fn descriptor(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// Rings. Where there is no room for it the socket is readable anyway.
    pub(super) fn ring(&self) {
        let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
        let _ = rustix::net::send(&self.socket, &[0], flags);
    }

    /// Ends it for both sides: the peer's next look shows it.
    pub(super) fn hang_up(&self) {
        let _ = rustix::net::shutdown(&self.socket, rustix::net::Shutdown::Both);
    }

    /// Takes what has come.
    pub(super) fn hear(&self) -> Heard {
        hear(self.descriptor(), &mut self.lock())
    }

    /// Whether something is there, or has come or ended within so long: it stays there.
    pub(super) fn is_ready(&self, flags: PollFlags, most: Duration) -> bool {
        is_ready(self.descriptor(), flags, most).unwrap_or_default()
    }

    /// From now on the peer may expose regions.
    pub(super) fn expect_notes(&self) {
        self.lock().get_or_insert_default();
    }

    /// Looks at the peer's regions.
    ///
    /// # Panics
    /// Before [`Line::expect_notes`].
    pub(super) fn with_windows<R>(&self, look: impl FnOnce(&Windows) -> R) -> R {
        look(self.lock().as_ref().expect("the connection is for remote copy"))
    }

    fn lock(&self) -> MutexGuard<'_, Option<Windows>> {
        self.windows.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Sends a packet, with a descriptor or without.
pub(crate) fn send(
    socket: BorrowedFd<'_>,
    bytes: &[u8],
    file: Option<BorrowedFd<'_>>,
) -> rustix::io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    let files = file.map(|file| [file]);
    if let Some(files) = &files {
        assert!(control.push(SendAncillaryMessage::ScmRights(files)), "there is room for one");
    }
    let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
    sendmsg(socket, &[IoSlice::new(bytes)], &mut control, flags).map(drop)
}

/// Receives a packet: its size, and the descriptor that came with it.
///
/// # Errors
/// [`Errno::MFILE`] when there is no number for the descriptor here: the packet is gone, and its
/// sender is not to blame.
pub(crate) fn receive(
    socket: BorrowedFd<'_>,
    bytes: &mut [u8],
) -> rustix::io::Result<(usize, Option<OwnedFd>)> {
    receive_by(socket, bytes, RecvFlags::empty())
}

/// The same, but a packet for whose descriptor there is no number stays where it is.
///
/// # Errors
/// As [`receive`]; with [`Errno::MFILE`] nothing is gone.
pub(crate) fn receive_or_leave(
    socket: BorrowedFd<'_>,
    bytes: &mut [u8],
) -> rustix::io::Result<(usize, Option<OwnedFd>)> {
    let seen = receive_by(socket, bytes, RecvFlags::PEEK)?;
    // With the look the descriptor was given here: the packet is needed no more.
    rustix::net::recv(socket, &mut [0; 0], RecvFlags::DONTWAIT)?;
    Ok(seen)
}

fn receive_by(
    socket: BorrowedFd<'_>,
    bytes: &mut [u8],
    flags: RecvFlags,
) -> rustix::io::Result<(usize, Option<OwnedFd>)> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let flags = flags | RecvFlags::DONTWAIT | RecvFlags::CMSG_CLOEXEC;
    let got = recvmsg(socket, &mut [IoSliceMut::new(bytes)], &mut control, flags)?;
    let mut file = None;
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(files) = message {
            file = file.or(files.last());
        }
    }
    if file.is_none() && got.flags.contains(ReturnFlags::CTRUNC) {
        return Err(Errno::MFILE);
    }
    Ok((got.bytes, file))
}

/// The bytes of a note.
pub(super) fn exposed(key: u32, size: u64) -> [u8; 13] {
    let mut bytes = [0; 13];
    bytes[0] = 1;
    bytes[1..5].copy_from_slice(&key.to_le_bytes());
    bytes[5..].copy_from_slice(&size.to_le_bytes());
    bytes
}

/// See [`exposed`].
pub(super) fn withdrawn(key: u32) -> [u8; 5] {
    let mut bytes = [0; 5];
    bytes[0] = 2;
    bytes[1..].copy_from_slice(&key.to_le_bytes());
    bytes
}

/// Takes what has come.
fn hear(socket: BorrowedFd<'_>, windows: &mut Option<Windows>) -> Heard {
    for _ in 0..SHARED_PACKETS {
        let mut bytes = [0; 32];
        let (bytes, file) = match receive(socket, &mut bytes) {
            Ok((0, _)) => return Heard::End,
            Ok((count, file)) => (&bytes[..count], file),
            Err(Errno::INTR) => continue,
            Err(Errno::AGAIN) => return Heard::Nothing,
            // There is no number for its memory here, so that region is reached by messages.
            Err(Errno::MFILE) => {
                if let Some(windows) = windows {
                    windows.count();
                }
                continue;
            }
            Err(_) => return Heard::End,
        };
        let learned = match (read(bytes, file), &mut *windows) {
            (Ok(None), _) => Ok(()),
            (Ok(Some(note)), Some(windows)) => windows.learn(note),
            (Ok(Some(_)), None) => Err("a note about a region where there is no remote copy"),
            (Err(what), _) => Err(what),
        };
        if let Err(what) = learned {
            return Heard::Malformed(what);
        }
    }
    Heard::Nothing
}

impl Windows {
    fn learn(&mut self, note: Note) -> Result<(), &'static str> {
        self.count();
        match note {
            Note::Withdrawn { key } => self.withdraw(key),
            Note::Exposed { key, size, memory } => self.expose(key, size, &memory)?,
        }
        Ok(())
    }
}

/// One packet: a note, or only the bell.
fn read(bytes: &[u8], file: Option<OwnedFd>) -> Result<Option<Note>, &'static str> {
    let number = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().expect("four bytes"));
    match (bytes, file) {
        ([0], None) => Ok(None),
        ([1, rest @ ..], Some(memory)) if rest.len() == 12 => {
            let size = u64::from_le_bytes(rest[4..].try_into().expect("eight bytes"));
            Ok(Some(Note::Exposed { key: number(&rest[..4]), size, memory }))
        }
        ([2, rest @ ..], None) if rest.len() == 4 => {
            Ok(Some(Note::Withdrawn { key: number(rest) }))
        }
        _ => Err("a note over the socket that is none"),
    }
}
