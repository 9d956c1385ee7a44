//! Regions that peers on this machine map, so that put and get are plain copies.
//!
//! A region that peers may only read is sealed so that nobody who maps it later can write: the
//! kernel holds to that, whatever a peer does. (Its owner has mapped it before.)

use super::segment::{self, check};
use super::sys::Mapped;
use crate::error::{Error, Result};
use crate::region::{Memory, Region, Rights, read_words, write_words};
use muster_base::limits::{SHARED_WINDOW_BYTES_MAX, SHARED_WINDOWS_MAX};
use rustix::fs::SealFlags;
use std::collections::HashMap;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

/// Memory for a region that peers may map, all zero. Over other transports it is as good as any.
///
/// # Errors
/// [`Error::Exhausted`], of a process's addresses too.
pub fn region(size: usize, rights: Rights) -> Result<Region> {
    let room = size.checked_next_multiple_of(8).filter(|room| *room as u64 <= ADDRESSES);
    let room = room.map(|room| room.max(8)).ok_or_else(|| {
        let source = io::Error::other(format!("a region of {size} bytes has no addresses"));
        Error::Exhausted { what: "memory", source }
    })?;
    let file = segment::memory("muster-region", room)?;
    let map = segment::map(file.as_fd(), room, true)?;
    let seals = if rights.write { SealFlags::SEAL } else { SealFlags::SEAL | FROZEN };
    rustix::fs::fcntl_add_seals(&file, seals)
        .map_err(|error| Error::io("cannot seal a region", error))?;
    Ok(Region::over(Arc::new(Owned { map, file, size }), rights))
}

/// No process has so many bytes of addresses.
const ADDRESSES: u64 = 1 << 57;

/// Who maps it from now on can only read.
const FROZEN: SealFlags = SealFlags::FUTURE_WRITE;

struct Owned {
    map: Mapped,
    file: OwnedFd,
    size: usize,
}

impl Memory for Owned {
    fn size(&self) -> usize {
        self.size
    }

    fn read(&self, offset: usize, bytes: &mut [u8]) {
        read_words(self.map.words(), offset, bytes);
    }

    fn write(&self, offset: usize, bytes: &[u8]) {
        write_words(self.map.words(), offset, bytes);
    }

    fn file(&self) -> Option<BorrowedFd<'_>> {
        Some(self.file.as_fd())
    }
}

/// The memory of a region that a peer may map: where mapping gives it no more than its rights.
pub(super) fn shareable(region: &Region) -> Option<BorrowedFd<'_>> {
    let file = region.memory().file()?;
    let seals = rustix::fs::fcntl_get_seals(file).ok()?;
    let rights = region.rights();
    (rights.read && (rights.write || seals.contains(FROZEN))).then_some(file)
}

/// The regions of a peer that are mapped. Beyond the limits they are reached by messages: a peer
/// that exposes much uses up neither our mappings nor our addresses, and no descriptor stays open.
#[derive(Default)]
pub(super) struct Windows {
    map: HashMap<u32, Window>,
    /// Bytes of all of them.
    bytes: u64,
    /// The peer's notes that were seen.
    seen: u32,
}

impl Windows {
    pub(super) fn seen(&self) -> u32 {
        self.seen
    }

    /// Another note was seen.
    pub(super) fn count(&mut self) {
        self.seen = self.seen.wrapping_add(1);
    }

    pub(super) fn get(&self, key: u32) -> Option<&Window> {
        self.map.get(&key)
    }

    pub(super) fn withdraw(&mut self, key: u32) {
        if let Some(window) = self.map.remove(&key) {
            self.bytes -= window.size as u64;
        }
    }

    /// # Errors
    /// What is wrong with it.
    pub(super) fn expose(
        &mut self,
        key: u32,
        size: u64,
        memory: &OwnedFd,
    ) -> std::result::Result<(), &'static str> {
        self.withdraw(key);
        let bytes = self.bytes.saturating_add(size);
        if self.map.len() == SHARED_WINDOWS_MAX || bytes > SHARED_WINDOW_BYTES_MAX {
            return Ok(());
        }
        if let Some(window) = Window::new(memory, size)? {
            self.map.insert(key, window);
            self.bytes = bytes;
        }
        Ok(())
    }
}

/// A peer's region.
pub(super) struct Window {
    map: Mapped,
    size: usize,
    is_writable: bool,
}

impl Window {
    /// Maps it; none where that cannot be had, so it has to be reached another way.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(super) fn new(
        file: &OwnedFd,
        size: u64,
    ) -> std::result::Result<Option<Window>, &'static str> {
        const NO_SIZE: &str = "a region of no possible size";
        let size = usize::try_from(size).map_err(|_| NO_SIZE)?;
        let room = size.checked_next_multiple_of(8).ok_or(NO_SIZE)?.max(8);
        if let Err(segment::Unfit::Wrong(what)) = check(file.as_fd(), room) {
            return Err(what);
        }
        let seals = rustix::fs::fcntl_get_seals(file).unwrap_or(FROZEN);
        let is_writable = !seals.contains(FROZEN);
        let map = segment::map(file.as_fd(), room, is_writable).ok();
        Ok(map.map(|map| Window { map, size, is_writable }))
    }

    /// Where an access begins, if it may be.
    pub(super) fn at(
        &self,
        offset: u64,
        count: usize,
        is_write: bool,
    ) -> std::result::Result<usize, &'static str> {
        let end = usize::try_from(offset).ok().and_then(|start| start.checked_add(count));
        match end {
            _ if is_write && !self.is_writable => Err("it may not be written"),
            Some(end) if end <= self.size => Ok(end - count),
            _ => Err("it ends before"),
        }
    }

    pub(super) fn read(&self, at: usize, bytes: &mut [u8]) {
        read_words(self.map.words(), at, bytes);
    }

    pub(super) fn write(&self, at: usize, bytes: &[u8]) {
        write_words(self.map.words(), at, bytes);
    }
}
