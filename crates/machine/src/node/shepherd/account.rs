//! What an init's children have used, as far as they have ended and were reaped.
//!
//! The kernel adds what a process has used to its parent's when that waits for it, its bytes too:
//! what `/proc/self/io` tells of an init that does nothing else is what all its children moved.

use super::sys;
use crate::usage::{Io, Usage};
use rustix::fs::{Mode, OFlags};
use std::io;
use std::time::Duration;

/// What they have used, their program having run for so long. `own_read` are bytes that the init
/// has read itself; it writes none, as its messages are sent.
pub(super) fn of_children(wall: Duration, own_read: u64) -> Usage {
    let wall_us = u64::try_from(wall.as_micros()).unwrap_or(u64::MAX);
    let usage = Usage { wall_us, slice_us: wall_us, ..sys::children_usage() };
    // Kernels that do not count bytes have no such file.
    let Some(io) = own_io().ok().flatten() else { return usage };
    Usage {
        read: Some(io.read.saturating_sub(own_read)),
        written: Some(io.written),
        disk_read: io.disk_read,
        disk_written: io.disk_written,
        ..usage
    }
}

/// In one read, which counts when it is over.
fn own_io() -> io::Result<Option<Io>> {
    let file = rustix::fs::open("/proc/self/io", OFlags::CLOEXEC, Mode::empty())?;
    let mut bytes = [0; 512];
    let length = rustix::io::read(&file, &mut bytes)?;
    Ok(std::str::from_utf8(&bytes[..length]).ok().and_then(Io::parse))
}
