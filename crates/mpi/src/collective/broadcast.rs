//! Broadcast: down a binomial tree. In rank order relative to the root, a rank hears from the one
//! that lacks its lowest set bit, and tells those that have one more below it.

use super::Plan;
use crate::buffer::{Memory, Typed};

impl<M: Memory> Plan<M> {
    /// All get what the root has.
    pub fn broadcast(&mut self, root: u32, bytes: &Typed<M>) {
        if bytes.size() == 0 {
            return;
        }
        let size = self.size();
        let me = (self.rank() + size - root) % size;
        let at = |relative: u32| (relative + root) % size;
        let lowest = if me == 0 { size.next_power_of_two() } else { me & me.wrapping_neg() };
        if me > 0 {
            self.receive(at(me - lowest), bytes.clone());
            self.wait();
        }
        let mut bit = lowest / 2;
        while bit > 0 {
            if me + bit < size {
                self.send(at(me + bit), bytes.clone());
            }
            bit /= 2;
        }
    }
}
