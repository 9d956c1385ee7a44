//! Gather and scatter with one root: each rank and the root, directly. All-gather: a ring, so each
//! rank passes on what it got last and every byte crosses once for each rank.

use super::Plan;
use crate::buffer::{Memory, Typed};

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
            self.receive(last, place(rank + 2 * size - round - 1));
            self.send(next, place(rank + size - round));
            self.wait();
        }
    }
}
