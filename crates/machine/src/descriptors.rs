//! How many descriptors a process may have open. A daemon has some for each rank, and needs more
//! than the 1,024 that are usual; so it takes what it may have. The programs that it runs get what
//! was usual: select(2) knows no more than 1,024, and some close all that there might be.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::io;
use std::sync::OnceLock;

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
