//! The one thing of it that needs unsafe code: sched_setattr(2).
#![allow(unsafe_code, reason = "a system call that the libraries do not wrap")]

use std::io;

/// `struct sched_attr` of the call's first version, which all later kernels take.
#[repr(C)]
#[derive(Default)]
struct Attributes {
    size: u32,
    policy: u32,
    flags: u64,
    nice: i32,
    priority: u32,
    runtime: u64,
    deadline: u64,
    period: u64,
}

/// Asks for slices of so many nanoseconds; 0 for the usual ones. The thread is scheduled as all
/// others are (SCHED_OTHER) after this, as nice as before.
pub(super) fn request_slice(nanos: u64) -> io::Result<()> {
    let size = size_of::<Attributes>() as u32;
    let nice = rustix::process::getpriority_process(None)?;
    let attributes = Attributes { size, nice, runtime: nanos, ..Attributes::default() };
    // SAFETY: the structure is of the size that it says, and read during the call only; 0 is the
    // calling thread, the last number has no meaning yet.
    let done = unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const attributes, 0) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
