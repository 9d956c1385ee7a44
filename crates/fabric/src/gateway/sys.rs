//! What a socket holds, for which rustix has no call.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

/// `SO_MEMINFO` of asm-generic/socket.h, the same on all machines that this is built for.
const MEMORY: libc::c_int = 55;

/// Which of the numbers of `SO_MEMINFO` (linux/sock_diag.h) are what.
const ALLOCATED: usize = 2;
const LIMIT: usize = 3;
const QUEUED: usize = 5;
const NUMBERS: usize = 9;

/// Bytes that wait in a socket to be sent, with what the kernel needs for them, and its limit.
pub(super) fn queue(socket: BorrowedFd<'_>) -> io::Result<(usize, usize)> {
    let mut numbers = [0_u32; NUMBERS];
    let mut size = size_of_val(&numbers) as libc::socklen_t;
    let to = numbers.as_mut_ptr().cast();
    // SAFETY: the kernel writes at most `size` bytes into `numbers`.
    let result = unsafe {
        let (level, option) = (libc::SOL_SOCKET, MEMORY);
        libc::getsockopt(socket.as_raw_fd(), level, option, to, &raw mut size)
    };
    match result {
        // TCP counts what is queued, a Unix socket what is allocated.
        0 => Ok((numbers[ALLOCATED].max(numbers[QUEUED]) as usize, numbers[LIMIT] as usize)),
        _ => Err(io::Error::last_os_error()),
    }
}
