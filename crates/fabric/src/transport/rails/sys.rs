//! What a socket holds, for which rustix has no call.
#![allow(unsafe_code)]

use std::os::fd::{AsRawFd, BorrowedFd};

/// Whether everything written to a socket has arrived at the other end's kernel (`SIOCOUTQ` of
/// tcp(7), which is `TIOCOUTQ`); so, too, where the kernel does not say.
pub(super) fn is_empty(socket: BorrowedFd<'_>) -> bool {
    let mut queued: libc::c_int = 0;
    // SAFETY: the call writes one int, which outlives it.
    let result = unsafe { libc::ioctl(socket.as_raw_fd(), libc::TIOCOUTQ, &raw mut queued) };
    result != 0 || queued == 0
}
