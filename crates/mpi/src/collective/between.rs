//! Collectives between the two groups of an intercommunicator (MPI-5.0, section 6.2.3): what one
//! group has, the other one gets. A group is spoken for by its rank 0 where one message will do.

use super::{Combination, Plan};
use crate::buffer::{Memory, Typed};

/// Where a rank is in a collective that has a root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// It is the root.
    Root,
    /// The root is another one of its group: it has nothing to do.
    Beside,
    /// The root is this rank of the other group.
    Opposite(u32),
}

impl<M: Memory> Plan<M> {
    /// Nobody goes on before all of both groups have come: each group meets, and then each rank
    /// hears of the other group from one of it.
    pub fn barrier_between(&mut self) {
        self.barrier();
        // Who tells the other group of this one has to know that all of it have come.
        self.wait();
        let (rank, size, others) = (self.rank(), self.size(), self.others());
        self.receive(self.other(rank % others), Typed::nothing());
        for other in (rank..others).step_by(size as usize) {
            self.send(self.other(other), Typed::nothing());
        }
    }

    /// The group opposite the root gets what the root has.
    pub fn broadcast_between(&mut self, side: Side, bytes: &Typed<M>) {
        if bytes.size() == 0 {
            return;
        }
        match side {
            Side::Root => self.send(self.other(0), bytes.clone()),
            Side::Beside => {}
            Side::Opposite(root) => {
                if self.rank() == 0 {
                    self.receive(self.other(root), bytes.clone());
                    self.wait();
                }
                self.broadcast(0, bytes);
            }
        }
    }

    /// The root gets what the ranks opposite have: `from` is looked at there, `into` on the root.
    pub fn gather_between(&mut self, side: Side, from: Option<&Typed<M>>, into: &[Typed<M>]) {
        match (side, from) {
            (Side::Root, _) => {
                for (rank, place) in (0..).zip(into) {
                    self.receive(self.other(rank), place.clone());
                }
            }
            (Side::Opposite(root), Some(from)) => self.send(self.other(root), from.clone()),
            _ => {}
        }
    }

    /// The ranks opposite get what the root has for them: `from` is looked at on the root, `into`
    /// there.
    pub fn scatter_between(&mut self, side: Side, from: &[Typed<M>], into: Option<&Typed<M>>) {
        match (side, into) {
            (Side::Root, _) => {
                for (rank, part) in (0..).zip(from) {
                    self.send(self.other(rank), part.clone());
                }
            }
            (Side::Opposite(root), Some(into)) => self.receive(self.other(root), into.clone()),
            _ => {}
        }
    }

    /// Each rank gets from each of the other group what that has for it: `from` and `into` by the
    /// others' ranks.
    pub fn alltoall_between(&mut self, from: &[Typed<M>], into: &[Typed<M>]) {
        for (rank, place) in (0..).zip(into) {
            self.receive(self.other(rank), place.clone());
        }
        for (rank, part) in (0..).zip(from) {
            self.send(self.other(rank), part.clone());
        }
    }

    /// Each rank gets all the others' elements.
    pub fn allgather_between(&mut self, from: &Typed<M>, into: &[Typed<M>]) {
        let from = vec![from.clone(); into.len()];
        self.alltoall_between(&from, into);
    }

    /// The root gets the combination of what the ranks opposite have.
    pub fn reduce_between(
        &mut self,
        side: Side,
        op: &Combination,
        from: Option<&Typed<M>>,
        into: Option<&Typed<M>>,
    ) {
        match (side, from, into) {
            (Side::Root, _, Some(into)) => self.receive(self.other(0), into.clone()),
            (Side::Opposite(root), Some(from), _) => {
                if let Some(all) = self.reduced(op, from) {
                    self.send(self.other(root), all);
                }
            }
            _ => {}
        }
    }

    /// Each group gets the combination of what the other one has.
    pub fn allreduce_between(&mut self, op: &Combination, from: &Typed<M>, into: &Typed<M>) {
        if let Some(all) = self.reduced(op, from) {
            self.exchange((self.other(0), into.clone()), (self.other(0), all));
        }
        self.broadcast(0, into);
    }

    /// The combination of what the other group has is shared out in this one: rank `i` gets
    /// `counts[i]` elements of it.
    pub fn reduce_scatter_between(
        &mut self,
        op: &Combination,
        from: &Typed<M>,
        counts: &[usize],
        into: &Typed<M>,
    ) {
        let mut parts = Vec::new();
        if let Some(all) = self.reduced(op, from) {
            let theirs = all.scratch();
            self.exchange((self.other(0), theirs.clone()), (self.other(0), all));
            parts = theirs.parts(counts);
        }
        self.scatter(0, &parts, Some(into));
    }

    /// What this group has combined, on its rank 0.
    fn reduced(&mut self, op: &Combination, from: &Typed<M>) -> Option<Typed<M>> {
        let all = (self.rank() == 0).then(|| from.scratch());
        self.reduce(0, op, from, all.as_ref());
        all
    }
}
