//! Scans: in round `k` each rank gets from the one 2^k before it the combination of the 2^k ranks
//! that end there, and puts it before its own (Hillis and Steele). All is in the order of ranks.
//! What is long goes in segments, so that what comes finds room in the cache.

use super::tree::segments;
use super::{Combination, Plan};
use crate::buffer::{Memory, Typed};
use std::ops::Range;

impl<M: Memory> Plan<M> {
    /// Each rank gets the combination of the ranks up to itself.
    pub fn scan(&mut self, op: &Combination, from: &Typed<M>, into: &Typed<M>) {
        self.prefix(op, from, Some(into), None);
    }

    /// Each rank gets the combination of the ranks before it; the first one nothing.
    pub fn exscan(&mut self, op: &Combination, from: &Typed<M>, into: &Typed<M>) {
        self.prefix(op, from, None, Some(into));
    }

    fn prefix(
        &mut self,
        op: &Combination,
        from: &Typed<M>,
        inclusive: Option<&Typed<M>>,
        exclusive: Option<&Typed<M>>,
    ) {
        let parts = segments(self.size(), from.count(), from.size());
        let longest = from.part(0, parts.first().map_or(0, Range::len));
        let (own, theirs) = (exclusive.map(|_| longest.scratch()), longest.scratch());
        for Range { start, end } in parts {
            let part = |all: &Typed<M>| all.part(start, end - start);
            let of_room = |room: &Typed<M>| room.part(0, end - start);
            // What is passed on, of all from some rank up to this one. At last it is the result.
            let Some(own) = inclusive.map(part).or(own.as_ref().map(of_room)) else { return };
            self.copy(part(from), own.clone());
            self.prefix_of(op, &own, &of_room(&theirs), exclusive.map(part).as_ref());
        }
    }

    fn prefix_of(
        &mut self,
        op: &Combination,
        own: &Typed<M>,
        theirs: &Typed<M>,
        before: Option<&Typed<M>>,
    ) {
        let (rank, size) = (self.rank(), self.size());
        let mut has_before = false;
        let mut distance = 1;
        while distance < size {
            if rank >= distance {
                self.receive(rank - distance, theirs.clone());
            }
            if rank + distance < size {
                // `own` is combined below, when this has ended.
                self.send(rank + distance, own.clone());
            }
            self.wait();
            if rank >= distance {
                if let Some(before) = before {
                    match has_before {
                        false => self.copy(theirs.clone(), before.clone()),
                        true => self.combine(op, theirs.clone(), before.clone()),
                    }
                }
                has_before = true;
                self.combine(op, theirs.clone(), own.clone());
            }
            distance *= 2;
        }
    }
}
