//! The memory of a rank that others may use: one region, or in a dynamic window those that were
//! attached, which may be as many as a list has elements (MPI-5.0, section 12.2.4).

use crate::error::{Class, Error, Result};
use std::collections::BTreeMap;

/// Memory that others may use.
pub struct Region<M> {
    /// What displacements say for its first byte: 0, or in a dynamic window its address.
    pub start: i64,
    /// Bytes.
    pub size: usize,
    /// The first byte.
    pub memory: M,
}

impl<M> Region<M> {
    /// What displacements say for the byte behind the last.
    pub(super) fn end(&self) -> i64 {
        self.start.saturating_add(self.size as i64)
    }
}

/// All of it, by where it begins; what has no bytes may begin where other memory does.
pub struct Regions<M>(BTreeMap<(i64, bool), Region<M>>);

impl<M> Default for Regions<M> {
    fn default() -> Regions<M> {
        Regions(BTreeMap::new())
    }
}

impl<M> Regions<M> {
    /// The memory that a window is made with.
    pub(super) fn of(region: Option<Region<M>>) -> Regions<M> {
        let all = region.map(|region| ((region.start, region.size > 0), region));
        Regions(all.into_iter().collect())
    }

    /// Adds memory.
    ///
    /// # Errors
    /// [`Class::RmaAttach`] where some of it is there already; [`Class::Size`] where memory ends
    /// before.
    pub fn attach(&mut self, region: Region<M>) -> Result<()> {
        let Region { start, size, .. } = region;
        let behind = start.checked_add_unsigned(size as u64).ok_or_else(|| {
            let what = format!("{size} bytes from {start:#x} on are more than memory has");
            Error::new(Class::Size, what)
        })?;
        let key = (start, size > 0);
        // None of them overlap, so the last that begins before this ends reaches furthest.
        let overlaps = self.last_before(behind).is_some_and(|other| start < other.end());
        if overlaps || self.0.contains_key(&key) {
            let what = format!("some of the {size} bytes at {start:#x} are attached already");
            return Err(Error::new(Class::RmaAttach, what));
        }
        self.0.insert(key, region);
        Ok(())
    }

    /// Takes memory away.
    ///
    /// # Errors
    /// [`Class::Base`] where none begins there.
    pub fn detach(&mut self, start: i64) -> Result<()> {
        let found = self.0.remove(&(start, true)).or_else(|| self.0.remove(&(start, false)));
        found
            .map(drop)
            .ok_or_else(|| Error::new(Class::Base, format!("no memory at {start:#x} is attached")))
    }

    /// The memory that has a byte.
    pub(super) fn at(&self, byte: i64) -> Option<&Region<M>> {
        self.last_before(byte.saturating_add(1)).filter(|region| byte < region.end())
    }

    /// The last with any bytes that begins before a byte.
    fn last_before(&self, byte: i64) -> Option<&Region<M>> {
        let before = self.0.range(..(byte, false)).rev();
        before.map(|(_, region)| region).find(|region| region.size > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attach(regions: &mut Regions<()>, start: i64, size: usize) -> Option<Class> {
        regions.attach(Region { start, size, memory: () }).err().map(|error| error.class)
    }

    #[test]
    fn a_byte_is_found_in_what_has_it_and_nothing_is_attached_twice() {
        let mut regions = Regions::default();
        for start in (0..1000).rev() {
            assert_eq!(attach(&mut regions, 100 + 20 * start, 10), None);
        }
        assert_eq!(attach(&mut regions, 110, 10), None, "it fits between two");
        for (start, size) in [(99, 2), (100, 10), (105, 1), (90, 1000), (105, 0), (100, 5)] {
            assert_eq!(attach(&mut regions, start, size), Some(Class::RmaAttach), "{start} {size}");
        }
        assert_eq!(attach(&mut regions, i64::MAX, 1), Some(Class::Size));
        let found = |regions: &Regions<()>, byte| regions.at(byte).map(|region| region.start);
        assert_eq!([99, 100, 109].map(|byte| found(&regions, byte)), [None, Some(100), Some(100)]);
        assert_eq!([130, 139].map(|byte| found(&regions, byte)), [None, None]);
        regions.detach(100).unwrap();
        assert_eq!(regions.detach(100).unwrap_err().class, Class::Base);
        assert_eq!(found(&regions, 105), None);
    }

    #[test]
    fn what_has_no_bytes_holds_nothing_up() {
        let mut regions = Regions::default();
        assert_eq!(attach(&mut regions, 100, 0), None);
        assert_eq!(attach(&mut regions, 100, 8), None);
        assert_eq!(regions.at(100).map(|region| region.size), Some(8));
        regions.detach(100).unwrap();
        assert!(regions.at(100).is_none());
        regions.detach(100).unwrap();
    }
}
