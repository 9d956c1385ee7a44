//! Barrier: in round `k` each rank tells the one 2^k further on, and hears of the one 2^k before
//! it. After log2(n) rounds it has heard of all (dissemination).

use super::Plan;
use crate::buffer::{Memory, Typed};

impl<M: Memory> Plan<M> {
    /// Nobody goes on before all have come.
    pub fn barrier(&mut self) {
        let (rank, size) = (self.rank(), self.size());
        let mut distance = 1;
        while distance < size {
            self.receive((rank + size - distance) % size, Typed::nothing());
            self.send((rank + distance) % size, Typed::nothing());
            self.wait();
            distance *= 2;
        }
    }
}
