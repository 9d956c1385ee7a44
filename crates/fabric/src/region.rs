//! Memory that peers reach: a length, access rights, and reads and writes that are checked.
//!
//! A region's bytes may change at any time, so nobody gets a reference to them: they are copied in
//! and out, word by word as far as others may see a write halfway. It is memory of this process, or
//! a memfd that another process may map too (`transport/shared`).

use crate::error::{Error, Result};
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
}

/// Memory with rights. Clones are the same memory.
#[derive(Clone)]
pub struct Region {
    memory: Arc<dyn Memory>,
    rights: Rights,
}

impl Region {
    /// Memory of this process, all zero.
    pub fn new(size: usize, rights: Rights) -> Region {
        Region::over(Arc::new(Words::new(size)), rights)
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
            _ => Err(Error::Access { key: 0, offset, count, why: "it ends before" }),
        }
    }
}

/// Words that several threads may read and write at once.
struct Words {
    words: Box<[AtomicU64]>,
    size: usize,
}

impl Words {
    fn new(size: usize) -> Words {
        Words { words: (0..size.div_ceil(8)).map(|_| AtomicU64::new(0)).collect(), size }
    }

    /// Goes through a range by words: `each` gets the word, the part of it in the range, and the
    /// part of the range that this is.
    fn walk(
        &self,
        offset: usize,
        count: usize,
        mut each: impl FnMut(&AtomicU64, std::ops::Range<usize>, std::ops::Range<usize>),
    ) {
        let mut done = 0;
        while done < count {
            let at = offset + done;
            let part = at % 8..8.min(at % 8 + count - done);
            let range = done..done + part.len();
            done = range.end;
            each(&self.words[at / 8], part, range);
        }
    }
}

impl Memory for Words {
    fn size(&self) -> usize {
        self.size
    }

    fn read(&self, offset: usize, bytes: &mut [u8]) {
        self.walk(offset, bytes.len(), |word, part, range| {
            bytes[range].copy_from_slice(&word.load(Ordering::Acquire).to_le_bytes()[part]);
        });
    }

    fn write(&self, offset: usize, bytes: &[u8]) {
        self.walk(offset, bytes.len(), |word, part, range| {
            // A whole word needs no look at what was there, and a megabyte has many.
            if let Ok(whole) = bytes[range.clone()].try_into() {
                return word.store(u64::from_le_bytes(whole), Ordering::Release);
            }
            let set = |old: u64| {
                let mut new = old.to_le_bytes();
                new[part.clone()].copy_from_slice(&bytes[range.clone()]);
                Some(u64::from_le_bytes(new))
            };
            word.fetch_update(Ordering::AcqRel, Ordering::Acquire, set).expect("it always is set");
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

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
