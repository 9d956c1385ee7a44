//! Sends long frames over a Unix socket without a copy: the kernel's packets then hold the pages of
//! the segment themselves, and the receiver's copy is the only one.
//!
//! The way there is a pipe of our own: bodies are put into it by reference (vmsplice(2)), and from
//! there into the socket (splice(2)). A slot is not written again before its piece was taken, or
//! was taken by another way: then its number is an old one, and whatever comes with it is ignored
//! (`send.rs`). The exception is a node that was given up: what is for it is void, also where its
//! ranks still run and find it in their socket, for their job is lost as well.

use super::batch::{Batch, Part};
use super::sys;
use muster_base::limits::{GATEWAY_PIECE, GATEWAY_RUN};
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, SpliceFlags, fcntl_setpipe_size, pipe_with, splice};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::AtomicU64;
use std::sync::{Mutex, PoisonError};

/// What a pipe is to hold: the pages of the longest frame, and one for what goes before it.
const PIPE: usize = 256 * 1024;

/// Own bytes of a batch at most: they are copied.
const OWN_MAX: usize = 4096;

const _: () = assert!(OWN_MAX + GATEWAY_RUN * GATEWAY_PIECE <= PIPE);

/// From how many bytes of bodies on it takes less than copies do.
const LENT_MIN: usize = 32 * 1024;

/// A process's pipe.
pub(super) struct Lender {
    pipe: Mutex<Pipe>,
}

enum Pipe {
    /// None was needed so far, or the last one was left with something in it.
    None,
    /// Its ends, to read and to write.
    Open(OwnedFd, OwnedFd),
    /// The kernel does not permit it.
    Refused,
}

impl Lender {
    pub(super) fn new() -> Lender {
        Lender { pipe: Mutex::new(Pipe::None) }
    }

    /// Sends the beginning of a batch: how many bytes, which are none where it is not of that kind,
    /// or the kernel does not permit it. What the socket has no room for is `waited` for.
    pub(super) fn send(
        &self,
        socket: BorrowedFd<'_>,
        words: &[AtomicU64],
        batch: &Batch,
        mut waited: impl FnMut() -> bool,
    ) -> Result<usize, Errno> {
        let Some(own) = batch.before_bodies() else { return Ok(0) };
        if own.len() > OWN_MAX || batch.len() - own.len() < LENT_MIN {
            return Ok(0);
        }
        let mut pipe = self.pipe.lock().unwrap_or_else(PoisonError::into_inner);
        if let Pipe::None = *pipe {
            *pipe = open().map_or(Pipe::Refused, |(read, write)| Pipe::Open(read, write));
        }
        let Pipe::Open(read, write) = &*pipe else { return Ok(0) };
        let (sent, is_refused) = put(write.as_fd(), words, own, batch);
        if is_refused {
            *pipe = Pipe::Refused;
            return Ok(0);
        }
        let mut left = sent;
        // One call may send a part and raise the signal for the rest: the next one has the error.
        let spliced = sys::without_signal(|| {
            while left > 0 {
                match splice(read, None, socket, None, left, SpliceFlags::NONBLOCK) {
                    Ok(0) => return Err(Errno::PIPE),
                    Ok(size) => left -= size,
                    Err(Errno::INTR) => {}
                    Err(Errno::AGAIN) if waited() => {}
                    Err(errno) => return Err(errno),
                }
            }
            Ok(())
        });
        match spliced {
            Ok(()) => Ok(sent),
            Err(Errno::PERM | Errno::NOSYS | Errno::INVAL) if left == sent => {
                *pipe = Pipe::Refused;
                Ok(0)
            }
            Err(errno) => {
                *pipe = Pipe::None;
                Err(errno)
            }
        }
    }
}

fn open() -> Result<(OwnedFd, OwnedFd), Errno> {
    let (read, write) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
    let size = fcntl_setpipe_size(&write, PIPE)?;
    if size < PIPE { Err(Errno::PERM) } else { Ok((read, write)) }
}

/// Puts a batch into the pipe, as far as there is room: how many bytes that were, and whether the
/// kernel does not permit it.
fn put(pipe: BorrowedFd<'_>, words: &[AtomicU64], own: &[u8], batch: &Batch) -> (usize, bool) {
    let head = match rustix::io::write(pipe, own) {
        Ok(head) if head == own.len() => head,
        written => return (written.unwrap_or(0), written.is_err()),
    };
    let bodies = batch.parts().filter(|part| matches!(part, Part::Words(..)));
    match sys::lend(pipe, words, bodies) {
        Ok(size) => (head + size, false),
        Err(_) => (head, true),
    }
}
