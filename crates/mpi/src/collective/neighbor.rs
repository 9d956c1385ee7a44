//! Collectives of neighbours in a topology (MPI-5.0, section 8.6): each sends to those behind its
//! outgoing edges and receives from those behind its incoming ones.

use super::plan::Plan;
use crate::buffer::{Memory, Typed};

impl<M: Memory> Plan<M> {
    /// Each edge carries its elements. Edges between the same two ranks carry them in order: the
    /// first that one sends is the first that the other receives.
    pub fn neighbors(&mut self, incoming: Vec<(u32, Typed<M>)>, outgoing: Vec<(u32, Typed<M>)>) {
        for (rank, into) in incoming {
            self.receive(rank, into);
        }
        for (rank, from) in outgoing {
            self.send(rank, from);
        }
    }
}
