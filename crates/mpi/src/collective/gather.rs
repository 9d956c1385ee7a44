//! Gather and scatter with one root: each rank and the root, directly.
//!
//! All-gather where each has as many: what is short goes to rank 0 and from there to all. Else 2^k
//! ranks double what they have in each round. All others, and what is very long, go round a ring:
//! each rank passes on what it got last. In any case every byte crosses once for each rank.

use super::Plan;
use super::tree::LONG;
use crate::buffer::{Memory, Typed};

/// From how many bytes in all on each rank speaks to its neighbours only.
const ROUND: usize = 4 << 20;

impl<M: Memory> Plan<M> {
    /// The root gets each rank's elements into a place of its own, in `into` by rank. `from` is
    /// none on a root that has its own there.
    pub fn gather(&mut self, root: u32, from: Option<&Typed<M>>, into: &[Typed<M>]) {
        if self.rank() != root {
            if let Some(from) = from {
                self.send(root, from.clone());
            }
            return;
        }
        for (rank, place) in (0..).zip(into) {
            match from {
                Some(from) if rank == root => self.copy(from.clone(), place.clone()),
                None if rank == root => {}
                _ => self.receive(rank, place.clone()),
            }
        }
    }

    /// Each rank gets from the root what is there for it. `into` is none on a root that keeps its
    /// own there.
    pub fn scatter(&mut self, root: u32, from: &[Typed<M>], into: Option<&Typed<M>>) {
        if self.rank() != root {
            if let Some(into) = into {
                self.receive(root, into.clone());
            }
            return;
        }
        for (rank, part) in (0..).zip(from) {
            match into {
                Some(into) if rank == root => self.copy(part.clone(), into.clone()),
                None if rank == root => {}
                _ => self.send(rank, part.clone()),
            }
        }
    }

    /// All ranks get all ranks' elements, each as many, one behind the other. `from` is none where
    /// a rank's own are there.
    pub fn allgather_row(&mut self, from: Option<&Typed<M>>, into: &Typed<M>) {
        let (rank, size) = (self.rank(), self.size());
        let each = into.count() / size as usize;
        let part = |first: u32, ranks: u32| into.part(first as usize * each, ranks as usize * each);
        let parts = || (0..size).map(|rank| part(rank, 1)).collect::<Vec<_>>();
        if size > 2 && into.size() < LONG {
            let own = part(rank, 1);
            self.gather(0, from.or((rank != 0).then_some(&own)), &parts());
            self.wait();
            return self.broadcast(0, into);
        }
        if !size.is_power_of_two() || into.size() >= ROUND {
            return self.allgather(from, &parts());
        }
        if let Some(from) = from {
            self.copy(from.clone(), part(rank, 1));
        }
        for width in (0..size.trailing_zeros()).map(|round| 1 << round) {
            let (partner, own) = (rank ^ width, rank & !(width - 1));
            self.exchange((partner, part(own ^ width, width)), (partner, part(own, width)));
        }
    }

    /// All ranks get all ranks' elements, each into the place that it has in `into`. `from` is none
    /// where a rank's own are there.
    pub fn allgather(&mut self, from: Option<&Typed<M>>, into: &[Typed<M>]) {
        let (rank, size) = (self.rank(), self.size());
        let place = |rank: u32| into[(rank % size) as usize].clone();
        if let Some(from) = from {
            self.copy(from.clone(), place(rank));
        }
        let (next, last) = ((rank + 1) % size, (rank + size - 1) % size);
        for round in 0..size - 1 {
            self.exchange(
                (last, place(rank + 2 * size - round - 1)),
                (next, place(rank + size - round)),
            );
        }
    }
}
