//! Keeping accesses of several ranks apart, and what nodes keep of a file for themselves.

use std::os::fd::AsRawFd;
use std::path::Path;
use std::sync::{MutexGuard, PoisonError};

use muster_mpi::error::{Class, Result};
use muster_mpi::file::Extent;
use rustix::fs::{FlockOperation, StatFs};
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

/// Types of file systems that no other machine sees: ext2 to ext4, XFS, Btrfs, ZFS, Bcachefs, F2FS,
/// tmpfs, ramfs and overlays.
const LOCAL: [u32; 9] = [
    0xef53,
    0x5846_5342,
    0x9123_683e,
    0x2fc1_2fc1,
    0xca45_1a4e,
    0xf2f5_2010,
    0x0102_1994,
    0x8584_58f6,
    0x794c_7630,
];

/// Keeps others' accesses away as long as it is there: of other ranks by the system's lock, which
/// belongs to the open file; and so of other threads by one of ours.
pub(super) struct Lock<'a> {
    file: &'a File,
    _turn: MutexGuard<'a, ()>,
}

impl Lock<'_> {
    pub(super) fn new(file: &File, act: Act) -> Result<Lock<'_>> {
        let how = match act {
            Act::Read => FlockOperation::LockShared,
            Act::Write => FlockOperation::LockExclusive,
        };
        let turn = file.turn();
        let locked = retry_on_intr(|| rustix::fs::flock(&file.file, how));
        locked.map_err(|error| failed("lock", &file.name, error))?;
        Ok(Lock { file, _turn: turn })
    }
}

impl Drop for Lock<'_> {
    fn drop(&mut self) {
        // Were it refused, closing the file would do it.
        let _ = rustix::fs::flock(&self.file.file, FlockOperation::Unlock);
    }
}

/// Keeps a part of a file from other nodes while it is written, where nodes keep what they have
/// read or written: they write back whole pages, with what they think of the bytes beside those
/// that were written, which another node may have written meanwhile. A lock has NFS write back
/// these bytes alone, and before it is given up (Linux, `nfs_can_extend_write`, `fs/nfs/write.c`).
///
/// The lock belongs to the open file, as that of [`Lock`] does: one thread has it at a time.
pub(super) struct Apart<'a> {
    file: &'a File,
    range: (u64, u64),
    _turn: MutexGuard<'a, ()>,
}

impl Apart<'_> {
    /// None where the system has no such locks.
    pub(super) fn new(
        file: &File,
        extents: impl Iterator<Item = Extent>,
    ) -> Result<Option<Apart<'_>>> {
        let range = extents.fold((u64::MAX, 0), |(start, end), extent| {
            (start.min(extent.at), end.max(extent.end()))
        });
        let turn = file.turn();
        let is_locked = lock(&file.file, range, &file.name)?;
        Ok(is_locked.then_some(Apart { file, range, _turn: turn }))
    }
}

/// Locks a part of a file; false where the system has no such locks. Others' writes may be lost
/// where it has them and this one fails.
fn lock(file: &std::fs::File, range: (u64, u64), name: &Path) -> Result<bool> {
    let locked = retry_on_intr(|| set_lock(file, range, libc::F_WRLCK));
    match locked.map_err(|error| failed("lock", name, error)) {
        Ok(()) => Ok(true),
        Err(error) if error.class == Class::UnsupportedOperation => Ok(false),
        Err(error) => Err(error),
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
        let _ = set_lock(&self.file.file, self.range, libc::F_UNLCK);
    }
}

impl File {
    /// Whether a rank sees at once what another one has written: not where each node keeps what it
    /// has read, and the other one is elsewhere. That one may have opened the file by itself, so
    /// all ranks of the job count.
    pub(super) fn is_coherent(&self) -> bool {
        let is_near = |world: &World| world.neighbours.len() == world.size as usize;
        let is = || world().is_ok_and(is_near) || !self.is_cached();
        *self.coherent.get_or_init(is)
    }

    /// Waits for this thread's turn to lock it: to the system all threads are one.
    fn turn(&self) -> MutexGuard<'_, ()> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has this node forget what it has read of it. Where the system has no locks it does not.
    pub(super) fn look_anew(&self) -> Result<()> {
        let act = if self.is(MPI_MODE_RDONLY) { Act::Read } else { Act::Write };
        match Lock::new(self, act) {
            Err(error) if error.class != Class::UnsupportedOperation => Err(error),
            _ => Ok(()),
        }
    }

    /// Has the disk take all that was written, where that is kept at all.
    pub(super) fn sync(&self) -> Result<()> {
        if self.is(MPI_MODE_RDONLY) || self.is_stream {
            return Ok(());
        }
        self.file.sync_all().map_err(|error| failed("sync", &self.name, error))
    }

    /// Whether nodes keep what they have read of it, or are to write, as far as is known.
    pub(super) fn is_cached(&self) -> bool {
        let stat = rustix::fs::fstatfs(&self.file);
        stat.map_or(true, |stat| CACHED.contains(&(stat.f_type as u32)))
    }
}

/// Whether no other machine sees a file system, as far as is known.
pub(super) fn is_local(stat: rustix::io::Result<StatFs>) -> bool {
    stat.is_ok_and(|stat| LOCAL.contains(&(stat.f_type as u32)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_that_cannot_be_locked_is_not_written_as_if_there_were_no_locks() {
        let path = std::env::temp_dir().join(format!("muster-lock.{}", std::process::id()));
        std::fs::write(&path, "bytes").expect("a file");
        let file = std::fs::OpenOptions::new().write(true).open(&path).expect("it is there");
        assert!(lock(&file, (1, 3), &path).expect("it can be locked"));
        // The system refuses this lock, though it has locks: it has no right to write.
        let other = std::fs::File::open(&path).expect("it is there");
        let error = lock(&other, (3, 4), &path).expect_err("refused");
        assert!(error.what.starts_with("cannot lock '"), "{error}");
        std::fs::remove_file(&path).expect("it is there");
    }
}
