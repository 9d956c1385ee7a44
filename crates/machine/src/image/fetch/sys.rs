//! The one thing that a fetch needs unsafe code for.
#![allow(unsafe_code, reason = "a system call that the libraries do not wrap")]

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

/// Waits until a part of a file is on the disk, but not what says where it is there.
///
/// # Errors
/// Those of `sync_file_range(2)`.
pub(super) fn sync_part(file: &File, offset: u64, length: u64) -> io::Result<()> {
    let part = [offset, length].map(libc::off64_t::try_from);
    let [Ok(offset), Ok(length)] = part else { return Err(io::ErrorKind::InvalidInput.into()) };
    let how = libc::SYNC_FILE_RANGE_WAIT_BEFORE
        | libc::SYNC_FILE_RANGE_WRITE
        | libc::SYNC_FILE_RANGE_WAIT_AFTER;
    // SAFETY: the descriptor is open while `file` is borrowed, and no memory is handed over.
    match unsafe { libc::sync_file_range(file.as_raw_fd(), offset, length, how) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
