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

/// Of `flags`: the scheduling policy stays as it is.
const KEEP_POLICY: u64 = 0x08;

/// Asks for slices of so many nanoseconds; 0 for the usual ones. Nothing else changes.
///
/// # Errors
/// For a thread that has no slices, as a real-time one.
pub(super) fn request_slice(nanos: u64) -> io::Result<()> {
    let size = size_of::<Attributes>() as u32;
    let nice = rustix::process::getpriority_process(None)?;
    let (flags, runtime) = (KEEP_POLICY, nanos);
    let attributes = Attributes { size, flags, nice, runtime, ..Attributes::default() };
    // SAFETY: the structure is of the size that it says, and read during the call only; 0 is the
    // calling thread, the last number has no meaning yet.
    let done = unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const attributes, 0) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
