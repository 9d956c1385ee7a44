//! Scans: in round `k` each rank gets from the one 2^k before it the combination of the 2^k ranks
//! that end there, and puts it before its own (Hillis and Steele). All is in the order of ranks.

use super::{Combination, Plan};
use crate::buffer::{Memory, Typed};

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
        let (rank, size) = (self.rank(), self.size());
        // What is passed on, of all from some rank up to this one.
        let own = from.scratch();
        self.copy(from.clone(), own.clone());
        let mut has_before = false;
        let mut distance = 1;
        while distance < size {
            let theirs = from.scratch();
            if rank >= distance {
                self.receive(rank - distance, theirs.clone());
            }
            if rank + distance < size {
                // `own` is combined below, when this has ended.
                self.send(rank + distance, own.clone());
            }
            self.wait();
            if rank >= distance {
                if let Some(before) = exclusive {
                    match has_before {
                        false => self.copy(theirs.clone(), before.clone()),
                        true => self.combine(op, theirs.clone(), before.clone()),
                    }
                }
                has_before = true;
                self.combine(op, theirs, own.clone());
            }
            distance *= 2;
        }
        if let Some(into) = inclusive {
            self.copy(own, into.clone());
        }
    }
}
