//! Memory that peers reach: a length, access rights, and reads and writes that are checked.
//!
//! A region's bytes may change at any time, so nobody gets a reference to them: they are copied in
//! and out, word by word as far as others may see a write halfway. It is memory of this process, or
//! a memfd that another process may map too (`transport/shared`).

use crate::error::{Error, Result};
use std::io;
use std::os::fd::BorrowedFd;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What peers may do with a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rights {
    /// Get.
    pub read: bool,
    /// Put.
    pub write: bool,
}

impl Rights {
    /// Get and put.
    pub const ALL: Rights = Rights { read: true, write: true };
    /// Get only.
    pub const READ: Rights = Rights { read: true, write: false };
    /// Put only.
    pub const WRITE: Rights = Rights { read: false, write: true };
}

/// Where a region's bytes are.
pub trait Memory: Send + Sync {
    /// Bytes.
    fn size(&self) -> usize;
    /// Copies out; the range was checked.
    fn read(&self, offset: usize, bytes: &mut [u8]);
    /// Copies in; the range was checked.
    fn write(&self, offset: usize, bytes: &[u8]);
    /// The memfd whose first bytes these are, for memory that peers on this machine may map.
    fn file(&self) -> Option<BorrowedFd<'_>> {
        None
    }

    /// Where all of it lies in this process, as long as it lives, for devices that copy by
    /// themselves; none where it lies nowhere.
    fn place(&self) -> Option<Place> {
        None
    }
}

/// Where a memory lies: only the fabric's own kinds can say so.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    start: NonNull<u8>,
}

impl Place {
    /// The first of as many bytes as the memory says; they live as long as it does, and may be
    /// changed through this at any time.
    pub(crate) fn new(start: NonNull<u8>) -> Place {
        Place { start }
    }

    /// The first byte.
    pub fn start(&self) -> NonNull<u8> {
        self.start
    }
}

/// Memory with rights. Clones are the same memory.
#[derive(Clone)]
pub struct Region {
    memory: Arc<dyn Memory>,
    rights: Rights,
}

impl Region {
    /// Memory of this process, all zero.
    ///
    /// # Panics
    /// Where there is not so much: [`Region::try_new`] is for sizes that others choose.
    pub fn new(size: usize, rights: Rights) -> Region {
        Region::try_new(size, rights).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Memory of this process, all zero.
    ///
    /// # Errors
    /// [`Error::Exhausted`] where there is not so much.
    pub fn try_new(size: usize, rights: Rights) -> Result<Region> {
        Ok(Region::over(Arc::new(Words::new(size)?), rights))
    }

    /// Memory of some other kind.
    pub fn over(memory: Arc<dyn Memory>, rights: Rights) -> Region {
        Region { memory, rights }
    }

    /// Bytes.
    pub fn size(&self) -> usize {
        self.memory.size()
    }

    /// What peers may do.
    pub fn rights(&self) -> Rights {
        self.rights
    }

    /// The memory, for those who know its kind.
    pub fn memory(&self) -> &Arc<dyn Memory> {
        &self.memory
    }

    /// Copies out, as the owner may.
    ///
    /// # Errors
    /// [`Error::Access`] outside of it.
    pub fn read(&self, offset: u64, bytes: &mut [u8]) -> Result<()> {
        self.memory.read(self.check(offset, bytes.len())?, bytes);
        Ok(())
    }

    /// Copies in, as the owner may.
    ///
    /// # Errors
    /// [`Error::Access`] outside of it.
    pub fn write(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        self.memory.write(self.check(offset, bytes.len())?, bytes);
        Ok(())
    }

    fn check(&self, offset: u64, count: usize) -> Result<usize> {
        let end = usize::try_from(offset).ok().and_then(|start| start.checked_add(count));
        match end {
            Some(end) if end <= self.size() => Ok(end - count),
            _ => Err(Error::Access { key: None, offset, count, why: "the region ends before" }),
        }
    }
}

/// Words that several threads may read and write at once.
struct Words {
    words: Box<[AtomicU64]>,
    size: usize,
}

impl Words {
    fn new(size: usize) -> Result<Words> {
        let (mut words, count) = (Vec::new(), size.div_ceil(8));
        words.try_reserve_exact(count).map_err(|source| {
            let source = io::Error::other(format!("a region of {size} bytes: {source}"));
            Error::Exhausted { what: "memory", source }
        })?;
        words.extend((0..count).map(|_| AtomicU64::new(0)));
        Ok(Words { words: words.into(), size })
    }
}

impl Memory for Words {
    fn size(&self) -> usize {
        self.size
    }

    fn read(&self, offset: usize, bytes: &mut [u8]) {
        read_words(&self.words, offset, bytes);
    }

    fn write(&self, offset: usize, bytes: &[u8]) {
        write_words(&self.words, offset, bytes);
    }

    fn place(&self) -> Option<Place> {
        // Words are kept as little-endian bytes, so on such a machine memory is the bytes.
        let start = NonNull::from(&*self.words).cast();
        cfg!(target_endian = "little").then(|| Place::new(start))
    }
}

/// Copies bytes out of words that others may write meanwhile.
pub(crate) fn read_words(words: &[AtomicU64], offset: usize, bytes: &mut [u8]) {
    let (words, skip) = (&words[offset / 8..], offset % 8);
    let (head, rest) = bytes.split_at_mut(bytes.len().min((8 - skip) % 8));
    let words = if head.is_empty() {
        words
    } else {
        let word = words[0].load(Ordering::Acquire).to_le_bytes();
        head.copy_from_slice(&word[skip..skip + head.len()]);
        &words[1..]
    };
    let (whole, tail) = rest.as_chunks_mut();
    for (word, bytes) in words.iter().zip(whole.iter_mut()) {
        *bytes = word.load(Ordering::Acquire).to_le_bytes();
    }
    if !tail.is_empty() {
        let word = words[whole.len()].load(Ordering::Acquire).to_le_bytes();
        tail.copy_from_slice(&word[..tail.len()]);
    }
}

/// Copies bytes into words that others may access meanwhile.
pub(crate) fn write_words(words: &[AtomicU64], offset: usize, bytes: &[u8]) {
    let set = |word: &AtomicU64, skip: usize, bytes: &[u8]| {
        let set = |old: u64| {
            let mut new = old.to_le_bytes();
            new[skip..skip + bytes.len()].copy_from_slice(bytes);
            Some(u64::from_le_bytes(new))
        };
        word.fetch_update(Ordering::AcqRel, Ordering::Acquire, set).expect("it always is set");
    };
    let (words, skip) = (&words[offset / 8..], offset % 8);
    let (head, rest) = bytes.split_at(bytes.len().min((8 - skip) % 8));
    let words = if head.is_empty() {
        words
    } else {
        set(&words[0], skip, head);
        &words[1..]
    };
    let (whole, tail) = rest.as_chunks();
    for (word, bytes) in words.iter().zip(whole) {
        word.store(u64::from_le_bytes(*bytes), Ordering::Release);
    }
    if !tail.is_empty() {
        set(&words[whole.len()], 0, tail);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    #[test]
    fn a_region_for_which_there_is_no_memory_is_an_error_that_says_its_size() {
        for size in [usize::MAX, isize::MAX as usize, 1 << 60] {
            let error = Region::try_new(size, Rights::ALL).err().expect("no machine has it");
            let said = error.to_string();
            assert!(
                said.starts_with(&format!("no memory left: a region of {size} bytes")),
                "{said}"
            );
        }
    }

    proptest! {
        #[test]
        fn a_region_is_a_checked_array(
            writes in vec((0u64..70, vec(any::<u8>(), 0..40)), 0..20),
        ) {
            let (region, mut model) = (Region::new(61, Rights::ALL), vec![0; 61]);
            for (offset, bytes) in writes {
                let end = offset as usize + bytes.len();
                prop_assert_eq!(region.write(offset, &bytes).is_ok(), end <= 61);
                if end <= 61 {
                    model[offset as usize..end].copy_from_slice(&bytes);
                }
            }
            let mut all = vec![0; 61];
            region.read(0, &mut all).unwrap();
            prop_assert_eq!(all, model);
            prop_assert!(region.read(u64::MAX, &mut [0]).is_err());
        }
    }
}
