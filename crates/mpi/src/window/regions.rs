//! The memory of a rank that others may use: one region, or in a dynamic window those that were
//! attached, which may be as many as a list has elements (MPI-5.0, section 12.2.4).

use crate::error::{Class, Error, Result};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

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

/// All of it.
pub struct Regions<M> {
    /// By where they begin; none overlap.
    all: BTreeMap<i64, Region<M>>,
    /// How often none was attached at a place: a rank without elements attaches no bytes.
    empty: BTreeMap<i64, usize>,
}

impl<M> Default for Regions<M> {
    fn default() -> Regions<M> {
        Regions { all: BTreeMap::new(), empty: BTreeMap::new() }
    }
}

impl<M> Regions<M> {
    /// The memory that a window is made with.
    pub(super) fn of(region: Option<Region<M>>) -> Regions<M> {
        let region = region.filter(|region| region.size > 0);
        let all = region.map(|region| (region.start, region)).into_iter().collect();
        Regions { all, empty: BTreeMap::new() }
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
        if size == 0 {
            *self.empty.entry(start).or_default() += 1;
            return Ok(());
        }
        // None of them overlap, so the last that begins before this ends reaches furthest.
        let last = self.all.range(..behind).next_back();
        if last.is_some_and(|(_, other)| start < other.end()) {
            let what = format!("some of the {size} bytes at {start:#x} are attached already");
            return Err(Error::new(Class::RmaAttach, what));
        }
        self.all.insert(start, region);
        Ok(())
    }

    /// Takes memory away.
    ///
    /// # Errors
    /// [`Class::Base`] where none begins there.
    pub fn detach(&mut self, start: i64) -> Result<()> {
        if self.all.remove(&start).is_some() {
            return Ok(());
        }
        match self.empty.entry(start) {
            Entry::Occupied(mut times) if *times.get() > 1 => *times.get_mut() -= 1,
            Entry::Occupied(once) => drop(once.remove()),
            Entry::Vacant(_) => {
                let what = format!("no memory at {start:#x} is attached");
                return Err(Error::new(Class::Base, what));
            }
        }
        Ok(())
    }

    /// The memory that has a byte.
    pub(super) fn at(&self, byte: i64) -> Option<&Region<M>> {
        let (_, region) = self.all.range(..=byte).next_back()?;
        (byte < region.end()).then_some(region)
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
        for (start, size) in [(99, 2), (100, 10), (105, 1), (90, 1000), (100, 5)] {
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
        for size in [0, 8, 0] {
            assert_eq!(attach(&mut regions, 100, size), None);
        }
        assert_eq!(regions.at(100).map(|region| region.size), Some(8));
        regions.detach(100).unwrap();
        assert!(regions.at(100).is_none());
        (0..2).for_each(|_| regions.detach(100).unwrap());
        assert_eq!(regions.detach(100).unwrap_err().class, Class::Base);
    }
}
