//! Signals as bytes in a pipe: the one place here where a handler runs.
//!
//! Not signalfd: threads that were started before (the 9P client's) do not have the signals
//! blocked, and one of them would take them.
#![allow(unsafe_code)]

use rustix::pipe::{PipeFlags, pipe_with};
use std::fs::File;
use std::io;
use std::os::fd::IntoRawFd;
use std::sync::atomic::{AtomicI32, Ordering};

/// The pipe's end that the handler writes to; -1: none yet.
static PIPE: AtomicI32 = AtomicI32::new(-1);

extern "C" fn handle(signal: libc::c_int) {
    let byte = [signal as u8];
    // SAFETY: only async-signal-safe calls. errno is thread-local and put back, because the
    // interrupted code may be about to read it; the pipe is never closed.
    unsafe {
        let errno = *libc::__errno_location();
        libc::write(PIPE.load(Ordering::Relaxed), byte.as_ptr().cast(), 1);
        *libc::__errno_location() = errno;
    }
}

/// From now on these signals arrive as bytes (their numbers) in the file returned. A signal that
/// is ignored, as under nohup(1), stays ignored.
///
/// # Errors
/// Those of pipe(2); EBUSY when signals are watched already.
pub fn watch(signals: &[i32]) -> io::Result<File> {
    let (read, write) = pipe_with(PipeFlags::CLOEXEC)?;
    // A handler must not wait for a full pipe: 64 KiB of unread signals are enough.
    rustix::io::ioctl_fionbio(&write, true)?;
    let write = write.into_raw_fd();
    if PIPE.compare_exchange(-1, write, Ordering::Relaxed, Ordering::Relaxed).is_err() {
        // SAFETY: the descriptor is ours and nobody else knows it.
        unsafe { libc::close(write) };
        return Err(io::Error::from_raw_os_error(libc::EBUSY));
    }
    for signal in signals {
        // SAFETY: both structures live through the calls; all zeros is a valid sigaction, and
        // the handler has the type that a handler without SA_SIGINFO has.
        unsafe {
            let mut old: libc::sigaction = std::mem::zeroed();
            if libc::sigaction(*signal, std::ptr::null(), &mut old) != 0 {
                return Err(io::Error::last_os_error());
            }
            if old.sa_sigaction == libc::SIG_IGN {
                continue;
            }
            let mut new: libc::sigaction = std::mem::zeroed();
            new.sa_sigaction = handle as extern "C" fn(libc::c_int) as libc::sighandler_t;
            new.sa_flags = libc::SA_RESTART;
            if libc::sigaction(*signal, &new, std::ptr::null_mut()) != 0 {
                return Err(io::Error::last_os_error());
            }
        }
    }
    Ok(File::from(read))
}
