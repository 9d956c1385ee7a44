//! Keeping accesses of several ranks apart, and what nodes keep of a file for themselves.

use std::os::fd::AsRawFd;
use std::sync::{MutexGuard, PoisonError};

use muster_mpi::error::{Class, Result};
use muster_mpi::file::Extent;
use rustix::fs::FlockOperation;
use rustix::io::retry_on_intr;

use super::File;
use super::access::Act;
use super::failure::failed;
use crate::abi::constants::MPI_MODE_RDONLY;
use crate::world::{World, world};

/// Types of file systems of which a node may see an older file than another one: NFS, SMB (three),
/// AFS, 9P and FUSE (statfs(2)).
const CACHED: [u32; 7] =
    [0x6969, 0x517b, 0xff53_4d42, 0xfe53_4d42, 0x5346_414f, 0x0102_1997, 0x6573_5546];

/// Keeps others' accesses away as long as it is there: of other ranks by the system's lock, which
/// belongs to the open file; and so of other threads by one of ours.
pub(super) struct Lock<'a>(&'a File, #[allow(dead_code)] MutexGuard<'a, ()>);

impl Lock<'_> {
    pub(super) fn new(file: &File, act: Act) -> Result<Lock<'_>> {
        let how = match act {
            Act::Read => FlockOperation::LockShared,
            Act::Write => FlockOperation::LockExclusive,
        };
        let own = file.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let locked = retry_on_intr(|| rustix::fs::flock(&file.file, how));
        locked.map_err(|error| failed("lock", &file.name, error))?;
        Ok(Lock(file, own))
    }
}

impl Drop for Lock<'_> {
    fn drop(&mut self) {
        // Were it refused, closing the file would do it.
        let _ = rustix::fs::flock(&self.0.file, FlockOperation::Unlock);
    }
}

/// Keeps a part of a file from other nodes while it is written, where nodes keep what they have
/// read or written: they write back whole pages, with what they think of the bytes beside those
/// that were written, which another node may have written meanwhile. A lock has NFS write back
/// these bytes alone, and before it is given up (Linux, `nfs_can_extend_write`, `fs/nfs/write.c`).
pub(super) struct Apart<'a> {
    file: &'a std::fs::File,
    start: u64,
    end: u64,
}

impl<'a> Apart<'a> {
    /// None where the system has no such locks.
    pub(super) fn new(
        file: &'a std::fs::File,
        extents: impl Iterator<Item = Extent>,
    ) -> Option<Apart<'a>> {
        let (start, end) = extents.fold((u64::MAX, 0), |(start, end), extent| {
            (start.min(extent.at), end.max(extent.end()))
        });
        let locked = retry_on_intr(|| set_lock(file, (start, end), libc::F_WRLCK));
        locked.ok().map(|()| Apart { file, start, end })
    }
}

/// Locks a part of a file, or unlocks it, for the open file.
fn set_lock(
    file: &std::fs::File,
    (start, end): (u64, u64),
    kind: libc::c_int,
) -> rustix::io::Result<()> {
    // SAFETY: all fields are numbers.
    let mut lock: libc::flock = unsafe { std::mem::zeroed() };
    lock.l_type = kind as libc::c_short;
    lock.l_whence = libc::SEEK_SET as libc::c_short;
    lock.l_start = start.cast_signed();
    lock.l_len = (end - start).cast_signed();
    // SAFETY: the call reads the structure, which outlives it.
    match unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_SETLKW, &raw const lock) } {
        0 => Ok(()),
        _ => {
            let errno = std::io::Error::last_os_error().raw_os_error();
            Err(rustix::io::Errno::from_raw_os_error(errno.unwrap_or(libc::EIO)))
        }
    }
}

impl Drop for Apart<'_> {
    fn drop(&mut self) {
        // Were it refused, closing the file would do it.
        let _ = set_lock(self.file, (self.start, self.end), libc::F_UNLCK);
    }
}

impl File {
    /// Whether a rank sees at once what another one has written: not where each node keeps what it
    /// has read, and the other one is elsewhere.
    pub(super) fn is_coherent(&self) -> bool {
        let is_near = |world: &World| {
            let mut ranks = self.comm.inner.group().members();
            ranks.all(|rank| world.neighbours.contains(&rank))
        };
        let is = || world().is_ok_and(is_near) || !self.is_cached();
        *self.coherent.get_or_init(is)
    }

    /// Has this node forget what it has read of it. Where the system has no locks it does not.
    pub(super) fn look_anew(&self) -> Result<()> {
        let act = if self.is(MPI_MODE_RDONLY) { Act::Read } else { Act::Write };
        match Lock::new(self, act) {
            Err(error) if error.class != Class::UnsupportedOperation => Err(error),
            _ => Ok(()),
        }
    }

    /// Whether nodes keep what they have read of it, or are to write, as far as is known.
    pub(super) fn is_cached(&self) -> bool {
        let stat = rustix::fs::fstatfs(&self.file);
        stat.map_or(true, |stat| CACHED.contains(&(stat.f_type as u32)))
    }
}
