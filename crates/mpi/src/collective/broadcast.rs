//! Broadcast: down a tree, in rank order relative to the root; those who have the most below them
//! are told first.

use super::Plan;
use super::tree::branch;
use crate::buffer::{Memory, Typed};

impl<M: Memory> Plan<M> {
    /// All get what the root has.
    pub fn broadcast(&mut self, root: u32, bytes: &Typed<M>) {
        if bytes.size() == 0 {
            return;
        }
        let size = self.size();
        let branch = branch((self.rank() + size - root) % size, size, bytes.size());
        let at = |relative: u32| (relative + root) % size;
        if let Some(parent) = branch.parent {
            self.receive(at(parent), bytes.clone());
            self.wait();
        }
        for child in branch.children.iter().rev() {
            self.send(at(*child), bytes.clone());
        }
    }
}
