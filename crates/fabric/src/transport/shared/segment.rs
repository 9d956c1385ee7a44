//! A connection's memory: one memfd, which both sides map, with a ring for each direction.
//!
//! `docs/wire/shared.md` has the layout. Beside the rings each side has words of its own, which
//! only it writes, but for what it sleeps for: who wakes it takes that back.
//!
//! The memory is sealed against another size before it is passed on, and who gets it checks seals
//! and size before it maps it. It has no name, so nothing is left when both are gone.

use super::ring::{ENTRIES, ENTRY, Shared};
use super::sys::Mapped;
use crate::error::{Error, Result};
use crate::transport::Lane;
use muster_base::limits::{SHARED_ARENA, SHARED_ARENA_SYSTEM};
use rustix::fs::{MemfdFlags, SealFlags};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

/// Offsets of a side's own words.
pub(super) const ASLEEP: usize = 0;
pub(super) const CLOSED: usize = 4;
pub(super) const NOTES: usize = 8;
pub(super) const READS: usize = 64;
pub(super) const PROOF_AT: usize = 72;
pub(super) const PROOF: usize = 80;
pub(super) const PLACE: usize = 88;

const SIDE: usize = 256;
const FREED: usize = 512;
const FREED_STEP: usize = 128;
const RINGS: usize = 4096;
const ARENAS: usize = RINGS + 2 * ENTRIES * ENTRY;

const SEALS: SealFlags = SealFlags::SHRINK.union(SealFlags::GROW).union(SealFlags::SEAL);

/// Which end of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Connector = 0,
    Listener = 1,
}

impl Side {
    pub(super) fn other(self) -> Side {
        match self {
            Side::Connector => Side::Listener,
            Side::Listener => Side::Connector,
        }
    }

    /// Where its own words begin.
    pub(super) fn words(self) -> usize {
        self as usize * SIDE
    }
}

fn arena(lane: Lane) -> usize {
    match lane {
        Lane::System => SHARED_ARENA_SYSTEM,
        Lane::Bulk => SHARED_ARENA,
    }
}

/// Bytes of a segment.
pub(super) fn size(lane: Lane) -> usize {
    ARENAS + 2 * arena(lane)
}

/// Where an arena begins.
pub(super) fn arena_at(lane: Lane, from: Side) -> usize {
    ARENAS + from as usize * arena(lane)
}

/// The direction in which `from` sends.
pub(super) fn direction(segment: &Arc<Mapped>, lane: Lane, from: Side) -> Shared {
    let index = from as usize;
    let offsets = [FREED + index * FREED_STEP, RINGS + index * Shared::RING, arena_at(lane, from)];
    Shared::new(segment.clone(), offsets, arena(lane))
}

/// Memory of a size, all zero, and sealed against another one.
pub(crate) fn memory(name: &str, size: usize) -> Result<OwnedFd> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let file = rustix::fs::memfd_create(name, flags)
        .map_err(|error| Error::io("cannot create shared memory", error))?;
    rustix::fs::ftruncate(&file, size as u64)
        .and_then(|()| rustix::fs::fcntl_add_seals(&file, SEALS - SealFlags::SEAL))
        .map_err(|error| Error::io("cannot size shared memory", error))?;
    Ok(file)
}

/// A new segment.
pub(super) fn create(lane: Lane) -> Result<(OwnedFd, Arc<Mapped>)> {
    let file = memory("muster-fabric", size(lane))?;
    rustix::fs::fcntl_add_seals(&file, SealFlags::SEAL)
        .map_err(|error| Error::io("cannot seal shared memory", error))?;
    let segment = map(file.as_fd(), size(lane), true)?;
    Ok((file, Arc::new(segment)))
}

/// Maps a peer's segment.
pub(super) fn open(file: BorrowedFd<'_>, lane: Lane) -> std::result::Result<Arc<Mapped>, Unfit> {
    check(file, size(lane))?;
    match map(file, size(lane), true) {
        Ok(segment) => Ok(Arc::new(segment)),
        Err(error @ Error::Exhausted { .. }) => Err(Unfit::Here(error)),
        // Sealed against writing, opened for reading only, or not to be mapped at all.
        Err(_) => Err(Unfit::Wrong("memory that cannot be mapped")),
    }
}

/// The file system of huge pages, as statfs(2) has it.
const HUGETLBFS: i64 = 0x9584_58f6;

/// Why memory that a peer has passed is not mapped.
#[derive(Debug)]
pub(crate) enum Unfit {
    /// It is not what it should be.
    Wrong(&'static str),
    /// We have no room for it.
    Here(Error),
}

/// Checks that a peer's memory has at least a size and keeps it.
pub(crate) fn check(file: BorrowedFd<'_>, size: usize) -> std::result::Result<(), Unfit> {
    let needed = SealFlags::SHRINK;
    match rustix::fs::fcntl_get_seals(file) {
        Ok(seals) if seals.contains(needed) => {}
        _ => return Err(Unfit::Wrong("memory that is not sealed against shrinking")),
    }
    // Of huge pages a hole may be made that no memory is left to fill: to read it would be SIGBUS.
    if rustix::fs::fstatfs(file).is_ok_and(|fs| fs.f_type == HUGETLBFS as _) {
        return Err(Unfit::Wrong("memory of huge pages"));
    }
    match rustix::fs::fstat(file) {
        Ok(stat) if u64::try_from(stat.st_size).is_ok_and(|there| there >= size as u64) => Ok(()),
        _ => Err(Unfit::Wrong("memory of another size")),
    }
}

pub(crate) fn map(file: BorrowedFd<'_>, size: usize, is_writable: bool) -> Result<Mapped> {
    Mapped::new(file, size, is_writable).map_err(|source| match source.kind() {
        // Nothing is waited for: more would be locked than this process may.
        io::ErrorKind::WouldBlock => Error::Exhausted { what: "memory", source },
        _ => Error::io("cannot map shared memory", source),
    })
}
