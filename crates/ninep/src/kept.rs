//! What writes keep that wait for somebody to take them: a client is not read from while that is
//! much.
//!
//! A client that has one write at a time under way through each of its files bounds itself, and
//! what nobody takes through one file must not keep it from the others: so the first through a fid
//! counts little, and those behind it count whole.

use crate::message::Fid;
use muster_base::limits::WRITES_KEPT_MAX;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// The part of itself that the first write through a fid counts.
const SHARE: usize = 32;

/// All that wait.
#[derive(Debug, Default)]
pub(crate) struct Writes {
    bytes: usize,
    /// How many there are through each fid.
    through: HashMap<Fid, usize>,
}

/// What one of them counts, until it is given to [`Writes::end`].
#[derive(Debug)]
#[must_use]
pub(crate) struct Kept {
    fid: Fid,
    bytes: usize,
}

impl Writes {
    /// Whether somebody must take some before more is carried out.
    pub(crate) fn are_much(&self) -> bool {
        self.bytes >= WRITES_KEPT_MAX
    }

    /// One of so many bytes waits.
    pub(crate) fn begin(&mut self, fid: Fid, bytes: usize) -> Kept {
        let before = self.through.entry(fid).or_default();
        let bytes = if *before == 0 { bytes / SHARE } else { bytes };
        *before += 1;
        self.bytes += bytes;
        Kept { fid, bytes }
    }

    /// It waits no longer.
    pub(crate) fn end(&mut self, kept: Kept) {
        self.bytes -= kept.bytes;
        if let Entry::Occupied(mut through) = self.through.entry(kept.fid) {
            *through.get_mut() -= 1;
            if *through.get() == 0 {
                through.remove();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sent_ahead_through_one_file_is_much_and_one_write_through_each_of_many_is_not() {
        const PIECE: usize = 1 << 20;
        let mut writes = Writes::default();
        let ahead: Vec<Kept> = (0..8).map(|_| writes.begin(1, PIECE)).collect();
        assert!(!writes.are_much(), "the first through it counts little");
        let last = writes.begin(1, PIECE);
        assert!(writes.are_much());
        writes.end(last);
        ahead.into_iter().for_each(|kept| writes.end(kept));
        let single: Vec<Kept> = (0..255).map(|fid| writes.begin(fid, PIECE)).collect();
        assert!(!writes.are_much());
        let last = writes.begin(255, PIECE);
        assert!(writes.are_much(), "they are bounded as well");
        writes.end(last);
        single.into_iter().for_each(|kept| writes.end(kept));
        assert!(writes.bytes == 0 && writes.through.is_empty());
    }
}
