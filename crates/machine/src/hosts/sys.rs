//! The one thing that a host's part needs unsafe code for.
#![allow(unsafe_code, reason = "a system call that the libraries do not wrap")]

use std::fs::File;
use std::io;
use std::os::fd::FromRawFd;

/// From now on the signals by which others end a process (Slurm, a shutdown) end neither this one
/// nor its daemons, which leave in order instead: they are read here. Programs get them.
///
/// # Errors
/// Those of signalfd(2).
pub(super) fn terminations() -> io::Result<File> {
    // SAFETY: the set is initialized by sigemptyset before it is used, and outlives the calls; the
    // descriptor is new and nobody else's.
    unsafe {
        let mut set = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
        libc::sigemptyset(set.as_mut_ptr());
        for signal in [libc::SIGTERM, libc::SIGHUP, libc::SIGINT] {
            libc::sigaddset(set.as_mut_ptr(), signal);
        }
        let failed = libc::pthread_sigmask(libc::SIG_BLOCK, set.as_ptr(), std::ptr::null_mut());
        if failed != 0 {
            return Err(io::Error::from_raw_os_error(failed));
        }
        match libc::signalfd(-1, set.as_ptr(), libc::SFD_CLOEXEC) {
            -1 => Err(io::Error::last_os_error()),
            descriptor => Ok(File::from_raw_fd(descriptor)),
        }
    }
}
