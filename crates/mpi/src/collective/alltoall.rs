//! All-to-all: all messages at once, each rank beginning with the next one, so that not all send to
//! one. With the elements in place each two ranks exchange theirs by a copy.

use super::Plan;
use crate::buffer::{Memory, Typed};

impl<M: Memory> Plan<M> {
    /// Each rank gets from each rank what that has for it: `from` and `into` by rank.
    pub fn alltoall(&mut self, from: &[Typed<M>], into: &[Typed<M>]) {
        let (rank, size) = (self.rank(), self.size());
        for step in 1..size {
            let last = (rank + size - step) % size;
            self.receive(last, into[last as usize].clone());
        }
        for step in 1..size {
            let next = (rank + step) % size;
            self.send(next, from[next as usize].clone());
        }
        let (own, place) = (&from[rank as usize], &into[rank as usize]);
        if !place.is(own) {
            self.copy(own.clone(), place.clone());
        }
    }

    /// The same, where each rank's elements are in `places`, and are replaced.
    pub fn alltoall_in_place(&mut self, places: &[Typed<M>]) {
        let copies: Vec<Typed<M>> = places.iter().map(Typed::packed).collect();
        for (place, copy) in places.iter().zip(&copies) {
            self.copy(place.clone(), copy.clone());
        }
        let rank = self.rank() as usize;
        let mut into = places.to_vec();
        // What is for this rank stays.
        into[rank] = copies[rank].clone();
        self.alltoall(&copies, &into);
    }
}
