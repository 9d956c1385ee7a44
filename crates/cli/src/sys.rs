//! The system calls of the commands that the libraries do not wrap: which signals a command heeds,
//! and how. A handler runs here and nowhere else, and writes bytes into a pipe.
//!
//! None is blocked, as signalfd(2) and sigwait(3) want: threads that were started before (the 9P
//! client's) would take it all the same, and programs that we start would come with it blocked.
#![allow(unsafe_code)]

use rustix::pipe::{PipeFlags, pipe_with};
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::os::fd::IntoRawFd;
use std::sync::atomic::{AtomicI32, Ordering};

/// Those by which somebody ends a program.
pub const END: [i32; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];

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

/// From now on a thread of ours is told of these signals. One that is ignored, as under nohup(1),
/// stays ignored.
///
/// # Errors
/// Those of pipe(2); EBUSY when signals are heeded already.
pub fn heed(signals: &[i32], mut tell: impl FnMut(i32) + Send + 'static) -> io::Result<()> {
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
    crate::run::spawn(move || {
        for signal in BufReader::new(File::from(read)).bytes().map_while(Result::ok) {
            tell(signal.into());
        }
    });
    Ok(())
}

/// From now on a file that may grow no more (`ulimit -f`) is an error to who writes it, as a full
/// disk is, and ends no process: a manager has the output of other jobs as well. Ranks are ended by
/// the signal as usual.
pub fn outlive_long_files() {
    // SAFETY: to ignore a signal runs no code of ours; nobody here depends on its effect.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
}
