//! Memory that two processes share, a flag each way in it: what shared memory can do when nobody
//! asks anything else of it. The bound for messages between two processors.
#![allow(unsafe_code)]

use anyhow::{Context, Result, ensure};
use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Looks in vain before the processor is offered to others: some 100 us, far more than any message
/// that is on its way takes.
const LOOKS: u32 = 1 << 15;

/// Whoever is not heard of for that long is broken.
const PATIENCE: Duration = Duration::from_secs(10);

/// A flag has a cache line of its own, and the one that the processor fetches with it.
const LINE: usize = 128;

/// Where the messages begin, behind the flags.
const HEAD: usize = 4096;

/// Where one way's flag, word and message are, and the other's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// From the first process to the other.
    There,
    /// And back.
    Back,
}

/// Shared memory with a message each way.
pub struct Memory {
    at: NonNull<u8>,
    size: usize,
    message: usize,
}

// SAFETY: it is shared between processes anyway. Flags and words are atomic; the bytes of a message
// belong to whose turn it is, which `send` and `receive` see to.
unsafe impl Sync for Memory {}

impl Memory {
    /// Maps a file for messages of a size, which grows to what they need.
    pub fn open(path: &Path, message: usize) -> Result<Memory> {
        let named = || format!("{}", path.display());
        let file = File::options().read(true).write(true).open(path).with_context(named)?;
        let size = HEAD + 2 * message.next_multiple_of(HEAD);
        file.set_len(size as u64).with_context(named)?;
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let (flags, fd) = (libc::MAP_SHARED | libc::MAP_POPULATE, file.as_raw_fd());
        // SAFETY: a new mapping of a file that is that long; nobody shortens it.
        let at = unsafe { libc::mmap(std::ptr::null_mut(), size, access, flags, fd, 0) };
        ensure!(at != libc::MAP_FAILED, "mmap: {}", std::io::Error::last_os_error());
        let at = NonNull::new(at.cast()).context("mmap gave nothing")?;
        Ok(Memory { at, size, message })
    }

    fn flag(&self, way: Way) -> &AtomicU64 {
        // SAFETY: within the first page of the mapping, aligned, and used only as an atomic.
        unsafe { self.at.add(way as usize * LINE).cast::<AtomicU64>().as_ref() }
    }

    /// A word to sleep on.
    pub fn word(&self, way: Way) -> &AtomicU32 {
        // SAFETY: as `flag`, on lines of its own.
        unsafe { self.at.add((2 + way as usize) * LINE).cast::<AtomicU32>().as_ref() }
    }

    fn bytes(&self, way: Way) -> *mut u8 {
        let at = HEAD + way as usize * self.message.next_multiple_of(HEAD);
        // SAFETY: `open` made the mapping that long.
        unsafe { self.at.add(at).as_ptr() }
    }

    /// Copies message `number` in. Only when the one before was answered.
    pub fn send(&self, way: Way, message: &[u8], number: u64) {
        assert!(message.len() <= self.message, "the memory was made for less");
        // SAFETY: the length was checked, and it is the sender's turn.
        unsafe {
            std::ptr::copy_nonoverlapping(message.as_ptr(), self.bytes(way), message.len());
        }
        self.flag(way).store(number, Ordering::Release);
    }

    /// Waits for message `number` and copies it out.
    pub fn receive(&self, way: Way, into: &mut [u8], number: u64) -> Result<()> {
        assert!(into.len() <= self.message, "the memory was made for less");
        let mut looks = 0_u32;
        let mut since = None;
        while self.flag(way).load(Ordering::Acquire) != number {
            looks += 1;
            if !looks.is_multiple_of(LOOKS) {
                std::hint::spin_loop();
                continue;
            }
            // The sender does not run: somebody else wants its processor, or ours.
            std::thread::yield_now();
            let since: &Instant = since.get_or_insert_with(Instant::now);
            ensure!(since.elapsed() < PATIENCE, "no message for {PATIENCE:?}");
        }
        // SAFETY: the length was checked, and it is the receiver's turn.
        unsafe {
            std::ptr::copy_nonoverlapping(self.bytes(way), into.as_mut_ptr(), into.len());
        }
        Ok(())
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: it was mapped with this size, and nothing refers to it any more.
        unsafe { libc::munmap(self.at.as_ptr().cast(), self.size) };
    }
}
