//! What an init's children have used, as far as they have ended and were reaped.
//!
//! The kernel adds what a process has used to its parent's when that waits for it, its bytes too:
//! what `/proc/self/io` tells of an init that does nothing else is what all its children moved.

use crate::usage::{Io, Usage};
use rustix::fs::{Mode, OFlags};
use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

/// What has been counted.
#[derive(Default)]
pub(super) struct Account {
    /// Of this program's processes.
    reaped: Usage,
    /// Of those before it.
    before: Io,
    /// Bytes that the init has read itself; it writes none, as its messages are sent.
    own_read: u64,
    /// Where the kernel tells them.
    io: Option<OwnedFd>,
}

impl Account {
    /// The init has read so much.
    pub(super) fn has_read(&mut self, bytes: usize) {
        self.own_read += bytes as u64;
    }

    /// A child was waited for, having used that, with those that it has waited for.
    pub(super) fn reaped(&mut self, usage: &Usage) {
        let max_rss_kib = self.reaped.max_rss_kib.max(usage.max_rss_kib);
        self.reaped = Usage { max_rss_kib, ..self.reaped.and(usage) };
    }

    /// What they have used, their program having run for so long. What comes is of the next.
    pub(super) fn tell(&mut self, wall: Duration) -> Usage {
        let wall_us = u64::try_from(wall.as_micros()).unwrap_or(u64::MAX);
        let reaped = std::mem::take(&mut self.reaped);
        let usage = Usage { wall_us, slice_us: wall_us, ..reaped };
        // Kernels that do not count bytes have no such file.
        let Some((io, length)) = self.io().ok().flatten() else { return usage };
        let all = Io { read: io.read.saturating_sub(self.own_read), ..io };
        let before = std::mem::replace(&mut self.before, all);
        // It counts when it is over.
        self.has_read(length);
        Usage {
            read: Some(all.read.saturating_sub(before.read)),
            written: Some(all.written.saturating_sub(before.written)),
            disk_read: all.disk_read.saturating_sub(before.disk_read),
            disk_written: all.disk_written.saturating_sub(before.disk_written),
            ..usage
        }
    }

    /// What the kernel has counted, in one read, with its length.
    fn io(&mut self) -> io::Result<Option<(Io, usize)>> {
        let file = match self.io.take() {
            Some(file) => file,
            None => rustix::fs::open("/proc/self/io", OFlags::CLOEXEC, Mode::empty())?,
        };
        let mut bytes = [0; 512];
        let length = rustix::io::pread(self.io.insert(file), &mut bytes, 0)?;
        let io = std::str::from_utf8(&bytes[..length]).ok().and_then(Io::parse);
        Ok(io.map(|io| (io, length)))
    }
}
