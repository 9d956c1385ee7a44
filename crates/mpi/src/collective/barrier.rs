//! Barrier: up a tree and down again; two ranks tell each other at once.

use super::Plan;
use super::tree::branch;
use crate::buffer::{Memory, Typed};

impl<M: Memory> Plan<M> {
    /// Nobody goes on before all have come.
    pub fn barrier(&mut self) {
        let (rank, size) = (self.rank(), self.size());
        if size == 2 {
            // Nothing is taken before both steps are done, so the message may leave first.
            self.send(1 - rank, Typed::nothing());
            return self.receive(1 - rank, Typed::nothing());
        }
        let branch = branch(rank, size, 0);
        for child in &branch.children {
            self.receive(*child, Typed::nothing());
        }
        self.wait();
        if let Some(parent) = branch.parent {
            self.send(parent, Typed::nothing());
            self.receive(parent, Typed::nothing());
            self.wait();
        }
        for child in &branch.children {
            self.send(*child, Typed::nothing());
        }
    }
}
