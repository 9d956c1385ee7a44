//! How many descriptors a process may have open. A daemon has some for each rank, and needs more
//! than the 1,024 that are usual; so it takes what it may have. The programs that it runs get what
//! was usual: select(2) knows no more than 1,024, and some close all that there might be.
//!
//! Where none is left, who comes stays in the listener's backlog until one is free
//! ([`ACCEPT_AGAIN`]).

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::io::{self, ErrorKind};
use std::sync::OnceLock;
use std::time::Duration;

/// How long a listener waits for descriptors before it tries again: until then its socket stays
/// ready, and who only asks the kernel would not sleep.
pub(crate) const ACCEPT_AGAIN: Duration = Duration::from_millis(100);

/// Whether a listener that got nobody is to wait, since whoever comes is still there.
pub(crate) fn is_to_wait(error: &io::Error) -> bool {
    !matches!(
        error.kind(),
        ErrorKind::WouldBlock | ErrorKind::ConnectionAborted | ErrorKind::Interrupted
    )
}

/// The soft limit that this process came with, once it has taken more.
static USUAL: OnceLock<u64> = OnceLock::new();

/// Lets this process have as many as it may have.
///
/// # Errors
/// The kernel's; it stays as it was.
pub fn take_all() -> io::Result<()> {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current == maximum {
        return Ok(());
    }
    setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum })?;
    if let Some(usual) = current {
        // Who takes all twice has come with the first one's.
        let _ = USUAL.set(usual);
    }
    Ok(())
}

/// What a program that this process runs is to have, if not what this process has.
pub(crate) fn usual() -> Option<u64> {
    USUAL.get().copied()
}

/// Leaves this process, which is about to become a program, with so many.
pub(crate) fn be_usual(usual: u64) -> io::Result<()> {
    let maximum = getrlimit(Resource::Nofile).maximum;
    Ok(setrlimit(Resource::Nofile, Rlimit { current: Some(usual), maximum })?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_has_no_descriptor_for_a_guest_waits_and_who_has_lost_one_does_not() {
        let error = |errno: rustix::io::Errno| io::Error::from(errno);
        use rustix::io::Errno;
        let waits = [Errno::MFILE, Errno::NFILE, Errno::NOBUFS, Errno::NOMEM];
        assert!(waits.into_iter().map(error).all(|error| is_to_wait(&error)));
        let goes_on = [Errno::AGAIN, Errno::CONNABORTED, Errno::INTR];
        assert!(!goes_on.into_iter().map(error).any(|error| is_to_wait(&error)));
    }
}
