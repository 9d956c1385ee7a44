//! Content of large writes on its way into files: by splice, from the socket's buffers into the
//! page cache with a single copy, which the kernel makes.

use super::HostTree;
use super::file::write_all;
use super::node::{HostFid, Node};
use super::qids::Qids;
use super::user;
use crate::error::Result;
use crate::intake::Intake;
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, SpliceFlags};
use std::cell::RefCell;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::Arc;

/// Room asked for in a pipe: a large message. A pipe has room for a number of buffers, and what
/// is in a socket's buffers may not fill them, so less may fit.
const ROOM: usize = 1 << 20;

impl HostTree {
    /// Offers to write in parts ([`crate::tree::Tree::intake`]): not what is to reach the disk
    /// with each write, nor what is to be appended in one piece.
    pub fn intake(&self, fid: &HostFid, offset: u64, count: usize) -> Option<Box<dyn Intake>> {
        let file = fid.0.open_file().ok()?;
        let end = offset.checked_add(count as u64)?;
        if file.synchronous || file.append || self.writable().is_err() || end > self.size_max {
            return None;
        }
        Some(Box::new(Inflow { node: fid.0.clone(), qids: self.qids.clone(), offset }))
    }
}

struct Inflow {
    node: Arc<Node>,
    qids: Arc<Qids>,
    /// Where the next part goes.
    offset: u64,
}

impl Intake for Inflow {
    fn take(&mut self, part: &[u8]) -> Result<usize> {
        let wrote = write_all(&self.node, part, self.offset);
        self.qids.changed(self.node.file);
        let wrote = wrote? as usize;
        self.offset += wrote as u64;
        Ok(wrote)
    }

    fn take_from(
        &mut self,
        socket: BorrowedFd<'_>,
        most: usize,
    ) -> io::Result<(usize, Result<usize>)> {
        PIPE.with_borrow_mut(|kept| {
            let pipe = match kept.take() {
                Some(pipe) => pipe,
                None => Pipe::new()?,
            };
            let flags = SpliceFlags::NONBLOCK;
            let arrived = match rustix::pipe::splice(socket, None, &pipe.end, None, most, flags) {
                Err(Errno::INVAL) => return Err(io::ErrorKind::Unsupported.into()),
                Ok(arrived) => arrived,
                Err(error) => {
                    *kept = Some(pipe);
                    return Err(error.into());
                }
            };
            let wrote = self.empty(&pipe, arrived);
            // With bytes left in it, it cannot serve the next write.
            *kept = matches!(wrote, Ok(wrote) if wrote == arrived).then_some(pipe);
            Ok((arrived, wrote))
        })
    }
}

impl Inflow {
    /// Writes the `count` bytes in the pipe, or as many as there is room for.
    fn empty(&mut self, pipe: &Pipe, count: usize) -> Result<usize> {
        // For each part anew: the thread serves others in between.
        user::act_as(&self.node.user, None)?;
        let mut done = 0;
        while done < count {
            let (to, from, flags) = (self.node.fd(), &pipe.start, SpliceFlags::empty());
            let at = &mut self.offset;
            match rustix::pipe::splice(from, None, to, Some(at), count - done, flags) {
                Ok(0) => break,
                Ok(more) => done += more,
                Err(Errno::INTR) => {}
                // This file system has no splice: by way of our memory then.
                Err(Errno::INVAL) => return self.carry(pipe, done, count),
                Err(_) if done > 0 => break,
                Err(error) => {
                    self.qids.changed(self.node.file);
                    return Err(error.into());
                }
            }
        }
        self.qids.changed(self.node.file);
        Ok(done)
    }

    fn carry(&mut self, pipe: &Pipe, mut done: usize, count: usize) -> Result<usize> {
        let mut bytes = [0; 16 * 1024];
        while done < count {
            let most = bytes.len().min(count - done);
            let read =
                rustix::io::retry_on_intr(|| rustix::io::read(&pipe.start, &mut bytes[..most]))?;
            let wrote = match self.take(&bytes[..read]) {
                Err(error) if done == 0 => return Err(error),
                Err(_) => break,
                Ok(wrote) => wrote,
            };
            done += wrote;
            if wrote < read {
                // What it had no room for has left the pipe: nothing may follow.
                break;
            }
        }
        Ok(done)
    }
}

/// Where bytes are between socket and file.
struct Pipe {
    start: OwnedFd,
    end: OwnedFd,
}

thread_local! {
    /// Empty whenever nobody writes, so one serves all connections of a thread.
    static PIPE: RefCell<Option<Pipe>> = const { RefCell::new(None) };
}

impl Pipe {
    fn new() -> io::Result<Pipe> {
        // With no descriptor left, content is read in the usual way.
        let (start, end) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)
            .map_err(|_| io::Error::from(io::ErrorKind::Unsupported))?;
        // A user with many pipes gets small ones; they serve as well.
        let _ = rustix::pipe::fcntl_setpipe_size(&end, ROOM);
        Ok(Pipe { start, end })
    }
}
