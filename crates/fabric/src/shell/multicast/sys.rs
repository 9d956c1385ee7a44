//! Segmentation and receive offload of UDP (udp(7)), for which rustix has no calls.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr;

/// Has what is sent cut into datagrams of so many bytes (UDP_SEGMENT, Linux 4.18); not, for 0.
pub fn set_segment(socket: BorrowedFd<'_>, size: libc::c_int) -> io::Result<()> {
    set(socket, libc::UDP_SEGMENT, size)
}

/// Receives datagrams of one size in a row as one (UDP_GRO, Linux 5.0).
pub fn set_receive_offload(socket: BorrowedFd<'_>) -> io::Result<()> {
    set(socket, libc::UDP_GRO, 1)
}

fn set(socket: BorrowedFd<'_>, option: libc::c_int, value: libc::c_int) -> io::Result<()> {
    let size = size_of_val(&value) as libc::socklen_t;
    let (socket, value) = (socket.as_raw_fd(), (&raw const value).cast());
    // SAFETY: the kernel reads an integer of that size, which outlives the call.
    let done = unsafe { libc::setsockopt(socket, libc::SOL_UDP, option, value, size) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Receives one datagram, or several as one: how many bytes, and of how many bytes each is (but the
/// last, which may be shorter). It does not wait.
pub fn receive(socket: BorrowedFd<'_>, buffer: &mut [u8]) -> io::Result<(usize, usize)> {
    // Room for one control message, aligned as its header has to be.
    let mut control = [0u64; 8];
    let mut part = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
    // SAFETY: a message header of zeros is one that asks for nothing.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    (message.msg_iov, message.msg_iovlen) = (&raw mut part, 1);
    message.msg_control = control.as_mut_ptr().cast();
    message.msg_controllen = size_of_val(&control) as _;
    let socket = socket.as_raw_fd();
    // SAFETY: the kernel writes into the buffer, the control bytes and the header, as far as their
    // sizes say, and all of them outlive the call.
    let count = unsafe { libc::recvmsg(socket, &raw mut message, libc::MSG_DONTWAIT) };
    let count = usize::try_from(count).map_err(|_| io::Error::last_os_error())?;
    let mut size = count;
    // SAFETY: the header is as the kernel left it.
    let first = unsafe { libc::CMSG_FIRSTHDR(&raw const message) };
    if !first.is_null() {
        // SAFETY: it points to a whole header within the control bytes.
        let head = unsafe { ptr::read(first) };
        // SAFETY: it takes but a number.
        let long = unsafe { libc::CMSG_LEN(size_of::<libc::c_int>() as u32) } as _;
        if (head.cmsg_level, head.cmsg_type) == (libc::SOL_UDP, libc::UDP_GRO)
            && head.cmsg_len >= long
        {
            // SAFETY: the message has an integer, as its length says.
            let each = unsafe { ptr::read_unaligned(libc::CMSG_DATA(first).cast::<libc::c_int>()) };
            size = usize::try_from(each).unwrap_or(count);
        }
    }
    Ok((count, size.max(1)))
}
