//! The one thing that keeping daemons needs unsafe code for.
#![allow(unsafe_code, reason = "a system call that the libraries do not wrap")]

use std::io;

/// Keeps every descriptor but the standard three from the programs that this process starts:
/// also those that it was given itself, by a shell or a scheduler that left them open.
///
/// # Errors
/// The kernel has no such call.
pub fn keep_descriptors() -> io::Result<()> {
    // SAFETY: the call takes no pointers, and marks descriptors without closing any.
    let done =
        unsafe { libc::syscall(libc::SYS_close_range, 3u32, u32::MAX, libc::CLOSE_RANGE_CLOEXEC) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
