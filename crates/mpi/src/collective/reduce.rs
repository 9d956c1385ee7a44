//! Reductions.
//!
//! *To one* ([`Plan::reduce`]): up a tree in the order of ranks, so what is combined are always
//! neighbouring ranges of ranks, the lower one first; that order is right for operations
//! that are not commutative as well. Its root is rank 0; another root gets the result from there,
//! unless the operation is commutative, where the tree is turned.
//!
//! *To all* ([`Plan::allreduce`]): what is short goes to rank 0 and from there to all, along flat
//! trees. Else recursive doubling between 2^k ranks, into which the others fold before, and which
//! tell them after. Both partners combine in the same order, so all have the same bits. Where the
//! elements are many, each rank combines a part of them from all and the parts are gathered (a ring
//! each): every byte crosses twice, whatever the number of ranks.

use super::tree::{LONG, branch};
use super::{Combination, Plan};
use crate::buffer::{Memory, Typed};

/// From how many bytes on all-reduce goes by parts.
const BY_PARTS: usize = 32 << 10;

impl<M: Memory> Plan<M> {
    /// The root gets the combination of all ranks' elements. `into` is looked at on the root only.
    pub fn reduce(
        &mut self,
        root: u32,
        op: &Combination,
        from: &Typed<M>,
        into: Option<&Typed<M>>,
    ) {
        let (rank, size) = (self.rank(), self.size());
        let top = if op.is_commutative { root } else { 0 };
        let me = (rank + size - top) % size;
        let at = |relative: u32| (relative + top) % size;
        let branch = branch(me, size, from.size());
        let came: Vec<_> = branch.children.iter().map(|child| (*child, from.scratch())).collect();
        for (child, theirs) in &came {
            self.receive(at(*child), theirs.clone());
        }
        self.wait();
        // What has been combined so far: it lies where the last operand was.
        let mut own = from.clone();
        for (_, theirs) in came {
            // Their ranks are higher, so this one's is the left operand.
            self.combine(op, own, theirs.clone());
            own = theirs;
        }
        if let Some(parent) = branch.parent {
            self.send(at(parent), own.clone());
        }
        match into {
            Some(into) if rank == root && top == root => {
                self.copy(own, into.clone());
            }
            into if top != root => self.forward(top, root, &own, into),
            _ => {}
        }
        self.wait();
    }

    /// Brings a result to the rank that wants it.
    fn forward(&mut self, top: u32, root: u32, own: &Typed<M>, into: Option<&Typed<M>>) {
        if self.rank() == top {
            self.send(root, own.clone());
        } else if let Some(into) = into.filter(|_| self.rank() == root) {
            self.receive(top, into.clone());
        }
    }

    /// All ranks get the combination of all ranks' elements.
    pub fn allreduce(&mut self, op: &Combination, from: &Typed<M>, into: &Typed<M>) {
        self.copy(from.clone(), into.clone());
        let enough = into.count() >= self.size() as usize;
        if op.is_commutative && enough && into.size() >= BY_PARTS && self.size() > 2 {
            return self.allreduce_by_parts(op, into);
        }
        // Folding would put ranks beside others than their neighbours; and what is short takes
        // fewer turns along trees.
        let can_double = op.is_commutative || self.size().is_power_of_two();
        if !can_double || self.size() > 2 && into.size() < LONG {
            self.reduce(0, op, &into.clone(), Some(into));
            return self.broadcast(0, into);
        }
        self.double(op, into);
    }

    fn double(&mut self, op: &Combination, into: &Typed<M>) {
        let (rank, size) = (self.rank(), self.size());
        let half = if size.is_power_of_two() { size } else { size.next_power_of_two() / 2 };
        if rank >= half {
            self.send(rank - half, into.clone());
            self.wait();
            self.receive(rank - half, into.clone());
            return;
        }
        // Where the result so far is, and where the next operand goes: they change places.
        let (mut own, mut theirs) = (into.clone(), into.scratch());
        if rank + half < size {
            self.receive(rank + half, theirs.clone());
            self.wait();
            self.combine(op, own.clone(), theirs.clone());
            (own, theirs) = (theirs, own);
        }
        let mut bit = 1;
        while bit < half {
            let partner = rank ^ bit;
            // Nothing is taken before both steps are done, so the message may leave first.
            self.send(partner, own.clone());
            self.receive(partner, theirs.clone());
            self.wait();
            if rank < partner {
                self.combine(op, own.clone(), theirs.clone());
                (own, theirs) = (theirs, own);
            } else {
                self.combine(op, theirs.clone(), own.clone());
            }
            bit *= 2;
        }
        self.copy(own, into.clone());
        if rank + half < size {
            self.send(rank + half, into.clone());
        }
    }

    fn allreduce_by_parts(&mut self, op: &Combination, into: &Typed<M>) {
        let (rank, size) = (self.rank(), self.size());
        let (next, last) = ((rank + 1) % size, (rank + size - 1) % size);
        let part = |number: u32| {
            let cut = |number: u32| into.count() * number as usize / size as usize;
            let number = number % size;
            into.part(cut(number), cut(number + 1) - cut(number))
        };
        for round in 0..size - 1 {
            // The part that has been combined by `round + 1` ranks goes on.
            let (gone, came) = (part(rank + size - round), part(rank + 2 * size - round - 1));
            let theirs = came.scratch();
            self.receive(last, theirs.clone());
            self.send(next, gone);
            self.wait();
            self.combine(op, theirs, came);
        }
        for round in 0..size - 1 {
            self.receive(last, part(rank + size - round));
            self.send(next, part(rank + size + 1 - round));
            self.wait();
        }
    }

    /// Rank `i` gets the combination of all ranks' `counts[i]` elements behind those of the ranks
    /// before it.
    pub fn reduce_scatter(
        &mut self,
        op: &Combination,
        from: &Typed<M>,
        counts: &[usize],
        into: &Typed<M>,
    ) {
        let all = (self.rank() == 0).then(|| from.scratch());
        self.reduce(0, op, from, all.as_ref());
        let parts = all.map_or_else(Vec::new, |all| all.parts(counts));
        self.scatter(0, &parts, Some(into));
    }
}
