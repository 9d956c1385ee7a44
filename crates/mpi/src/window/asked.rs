//! What a rank has asked others for, until it is answered.

use super::Access;
use crate::buffer::Typed;
use std::collections::BTreeMap;

/// Something that was asked for.
pub(super) struct Pending<M> {
    pub target: u32,
    /// Where the answer's bytes go.
    pub into: Option<Typed<M>>,
    /// Whether somebody will ask how it has ended.
    pub is_awaited: bool,
    /// Whether it is a lock.
    pub is_lock: bool,
}

/// All of it, by its number. Who has any left is asked before each access that needs no answer, so
/// that is kept as well.
pub(super) struct Asked<M> {
    pending: BTreeMap<u64, Pending<M>>,
    /// How many things each target was asked for.
    of: BTreeMap<u32, usize>,
}

impl<M> Default for Asked<M> {
    fn default() -> Asked<M> {
        Asked { pending: BTreeMap::new(), of: BTreeMap::new() }
    }
}

impl<M> Asked<M> {
    pub fn insert(&mut self, number: u64, pending: Pending<M>) {
        *self.of.entry(pending.target).or_default() += 1;
        self.pending.insert(number, pending);
    }

    pub fn get(&self, access: Access) -> Option<&Pending<M>> {
        self.pending.get(&access.number)
    }

    pub fn remove(&mut self, number: u64) -> Option<Pending<M>> {
        let pending = self.pending.remove(&number)?;
        if let Some(left) = self.of.get_mut(&pending.target) {
            *left -= 1;
            if *left == 0 {
                self.of.remove(&pending.target);
            }
        }
        Some(pending)
    }

    pub fn is_empty(&self) -> bool {
        self.pending.is_empty()
    }

    /// Whether a target has something left to answer.
    pub fn is_of(&self, target: u32) -> bool {
        self.of.contains_key(&target)
    }

    /// The targets that have something left to answer.
    pub fn targets(&self) -> impl Iterator<Item = u32> {
        self.of.keys().copied()
    }

    /// The targets whose memory is being read.
    pub fn read(&self) -> impl Iterator<Item = u32> {
        self.pending.values().filter(|pending| pending.into.is_some()).map(|pending| pending.target)
    }

    /// Those of whom a lock was asked for.
    pub fn of_locks(&self) -> impl Iterator<Item = u32> {
        self.pending.values().filter(|pending| pending.is_lock).map(|pending| pending.target)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_has_something_left_until_all_of_it_is_answered() {
        let of =
            |target| Pending::<()> { target, into: None, is_awaited: false, is_lock: target > 4 };
        let mut asked = Asked::default();
        assert!(asked.is_empty());
        for (number, target) in [(1, 4), (2, 4), (3, 7)] {
            asked.insert(number, of(target));
        }
        assert_eq!(asked.targets().collect::<Vec<_>>(), [4, 7]);
        assert_eq!(asked.of_locks().collect::<Vec<_>>(), [7]);
        assert!(asked.remove(1).is_some() && asked.is_of(4));
        assert!(asked.remove(1).is_none() && asked.is_of(4));
        assert!(asked.remove(2).is_some() && !asked.is_of(4));
        assert!(asked.remove(3).is_some() && asked.is_empty());
    }
}
