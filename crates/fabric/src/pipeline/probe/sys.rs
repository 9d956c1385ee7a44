//! The system call that no safe wrapper offers.
#![allow(unsafe_code)]

use std::io;

/// Copies bytes at `address` of this process, as another process of the same user would.
pub(super) fn copy_from(address: usize, into: &mut [u8]) -> io::Result<()> {
    let local = libc::iovec { iov_base: into.as_mut_ptr().cast(), iov_len: into.len() };
    let remote = libc::iovec { iov_base: address as *mut libc::c_void, iov_len: into.len() };
    let own = std::process::id().cast_signed();
    // SAFETY: the kernel writes only to `local`, which is exclusively ours; it checks `remote`,
    // which it only reads, and says EFAULT where there is nothing.
    match unsafe { libc::process_vm_readv(own, &raw const local, 1, &raw const remote, 1, 0) } {
        -1 => Err(io::Error::last_os_error()),
        count if count.unsigned_abs() == into.len() => Ok(()),
        _ => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}
