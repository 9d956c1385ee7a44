//! Reductions.
//!
//! *To one* ([`Plan::reduce`]): up a tree in the order of ranks, so what is combined are always
//! neighbouring ranges of ranks, the lower one first; that order is right for operations
//! that are not commutative as well. Its root is rank 0; another root gets the result from there,
//! unless the operation is commutative, where the tree is turned. What is long goes in segments.
//!
//! *To all* ([`Plan::allreduce`]): what is short goes to rank 0 and from there to all, along flat
//! trees. Else 2^k ranks combine in k rounds or in 2k; the others fold into their neighbours
//! before, which tell them after. So it never takes more rounds than a tree up and down. Both
//! partners of a round combine in the same order, so all have the same bits, and operands keep the
//! order of ranks. *Doubling*, a rank exchanges all that it has with its neighbour, then with one
//! of the next pair, and so on. *By halves* (Rabenseifner's way) they exchange halves of what they
//! have, and then halves of those: each rank combines a part of the elements from all, and the
//! parts are gathered on the way back. That takes twice the rounds, but every byte crosses twice,
//! whatever the number of ranks. Where parts are very long and ranks not 2^k they go round a ring
//! if the operation is commutative: nothing is folded, but there are two rounds for each rank.
//!
//! *Shared out* ([`Plan::reduce_scatter`]): what is short, and what does not commute, by way of
//! rank 0. Else 2^k ranks exchange with each other half of them what is for those, then with half
//! of their half, and so on; others send each other what is for each, a round for each distance.

use super::tree::{Branch, LONG, branch, segments};
use super::{Combination, Plan};
use crate::buffer::{Memory, Typed};
use std::ops::Range;

/// From how many bytes on each rank combines a part. Where that takes more rounds than whole
/// operands do, it has to save as many bytes for each of them.
const BY_PARTS: usize = 32 << 10;

/// From how many bytes for each rank on parts go round a ring: on two processors a shorter part
/// takes less time than to wake the rank that it is for.
const BY_RING: usize = 256 << 10;

/// How many bytes there must be for each rank to be worth a round for each distance.
const BY_DISTANCE: usize = 4 << 10;

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
        let Branch { parent, children } = branch(me, size, from.size());
        let way = (parent.map(at), children.into_iter().map(at).collect());
        if top != root {
            // The top has no place for it but where the last operand was.
            let whole = 0..from.count();
            let own = self.combine_up(op, &way, from, &[whole], None);
            self.forward(top, root, own.as_ref().unwrap_or(from), into);
            return self.wait();
        }
        let into = into.filter(|_| rank == root);
        let parts = segments(size, from.count(), from.size());
        self.combine_up(op, &way, from, &parts, into);
        self.wait();
    }

    /// What has come from below and this rank's own goes up, part by part, or at the top to where
    /// it belongs. Where the last part lies, if not where it was.
    fn combine_up(
        &mut self,
        op: &Combination,
        (parent, children): &(Option<u32>, Vec<u32>),
        from: &Typed<M>,
        parts: &[Range<usize>],
        into: Option<&Typed<M>>,
    ) -> Option<Typed<M>> {
        let longest = parts.first().map_or(0, Range::len);
        // While one part is on its way up the next one comes.
        let rooms = parts.len().min(2);
        let room = |_| children.iter().map(|_| from.part(0, longest).scratch()).collect::<Vec<_>>();
        let rooms: Vec<Vec<Typed<M>>> = (0..rooms).map(room).collect();
        let hear = |plan: &mut Plan<M>, number: usize| {
            let Some(part) = parts.get(number) else { return };
            for (child, theirs) in children.iter().zip(&rooms[number % rooms.len()]) {
                plan.receive(*child, theirs.part(0, part.len()));
            }
        };
        let mut own = None;
        hear(self, 0);
        for (number, part) in parts.iter().enumerate() {
            if !children.is_empty() {
                self.wait();
                hear(self, number + 1);
            }
            // What has been combined so far: it lies where the last operand was.
            let mut combined = from.part(part.start, part.len());
            for theirs in &rooms[number % rooms.len()] {
                // Their ranks are higher, so this one's is the left operand.
                let theirs = theirs.part(0, part.len());
                self.combine(op, combined, theirs.clone());
                combined = theirs;
            }
            if let Some(parent) = parent {
                self.send(*parent, combined.clone());
            }
            if let Some(into) = into {
                self.copy(combined.clone(), into.part(part.start, part.len()));
            }
            own = (!children.is_empty()).then_some(combined);
        }
        own
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
        let (size, bytes) = (self.size(), into.size());
        if size > 2 && bytes < LONG {
            self.reduce(0, op, &into.clone(), Some(into));
            return self.broadcast(0, into);
        }
        let (rounds, folded) = (size.ilog2(), size - (1 << size.ilog2()));
        let is_long = into.count() >= size as usize && bytes / size as usize >= BY_RING;
        if folded > 0 && op.is_commutative && is_long {
            return self.allreduce_by_parts(op, into);
        }
        let enough = into.count() >> rounds > 0 && bytes >= BY_PARTS * rounds as usize;
        let is_by_halves = rounds > 1 && enough;
        let rank = self.rank();
        let neighbor = (rank < 2 * folded).then_some(rank ^ 1);
        match neighbor {
            Some(neighbor) if neighbor > rank => {
                self.send(neighbor, into.clone());
                self.wait();
                return self.receive(neighbor, into.clone());
            }
            Some(neighbor) => {
                // Its rank is lower, so its operand is the left one.
                let theirs = into.scratch();
                self.receive(neighbor, theirs.clone());
                self.wait();
                self.combine(op, theirs, into.clone());
            }
            None => {}
        }
        // Those that are left, by numbers in the order of their ranks.
        let me = rank - folded.min(rank.div_ceil(2));
        let at = |number: u32| if number < folded { 2 * number + 1 } else { number + folded };
        let partners: Vec<u32> = (0..rounds).map(|round| at(me ^ 1 << round)).collect();
        match is_by_halves {
            true => self.allreduce_by_halves(op, into, &partners),
            false => self.double(op, into, &partners),
        }
        if let Some(neighbor) = neighbor {
            self.send(neighbor, into.clone());
        }
    }

    /// Exchanges everything with each of these in turn.
    fn double(&mut self, op: &Combination, into: &Typed<M>, partners: &[u32]) {
        let rank = self.rank();
        // Where the result so far is, and where the next operand goes: they change places.
        let (mut own, mut theirs) = (into.clone(), into.scratch());
        for &partner in partners {
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
        }
        self.copy(own, into.clone());
    }

    /// Exchanges half of what is left with each of these in turn, and what comes of it on the way
    /// back.
    fn allreduce_by_halves(&mut self, op: &Combination, into: &Typed<M>, partners: &[u32]) {
        let rank = self.rank();
        let part = |range: &Range<usize>| into.part(range.start, range.len());
        // What this rank combines still, and what it has given to whom, kept of it, before.
        let (mut own, mut given) = (0..into.count(), Vec::new());
        let room = into.part(0, own.len().div_ceil(2)).scratch();
        for &partner in partners {
            let (low, high) = halves(&own);
            let (keep, give) = if rank < partner { (low, high) } else { (high, low) };
            let theirs = room.part(0, keep.len());
            self.exchange((partner, theirs.clone()), (partner, part(&give)));
            if rank < partner && !op.is_commutative {
                // Their ranks are higher, so this one's is the left operand.
                self.combine(op, part(&keep), theirs.clone());
                self.copy(theirs, part(&keep));
            } else {
                self.combine(op, theirs, part(&keep));
            }
            given.push((partner, give, keep.clone()));
            own = keep;
        }
        for (partner, give, keep) in given.into_iter().rev() {
            self.exchange((partner, part(&give)), (partner, part(&keep)));
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
        let room = into.part(0, into.count().div_ceil(size as usize)).scratch();
        for round in 0..size - 1 {
            // The part that has been combined by `round + 1` ranks goes on.
            let (gone, came) = (part(rank + size - round), part(rank + 2 * size - round - 1));
            let theirs = room.part(0, came.count());
            self.exchange((last, theirs.clone()), (next, gone));
            self.combine(op, theirs, came);
        }
        for round in 0..size - 1 {
            self.exchange((last, part(rank + size - round)), (next, part(rank + size + 1 - round)));
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
        let (size, is_long) = (self.size(), from.size() >= BY_PARTS);
        if op.is_commutative && is_long && size.is_power_of_two() {
            return self.reduce_scatter_by_halves(op, from, counts, into);
        }
        if op.is_commutative && is_long && from.size() / size as usize >= BY_DISTANCE {
            return self.reduce_scatter_by_distance(op, from, counts, into);
        }
        let all = (self.rank() == 0).then(|| from.scratch());
        self.reduce(0, op, from, all.as_ref());
        let parts = all.map_or_else(Vec::new, |all| all.parts(counts));
        self.scatter(0, &parts, Some(into));
    }

    fn reduce_scatter_by_halves(
        &mut self,
        op: &Combination,
        from: &Typed<M>,
        counts: &[usize],
        into: &Typed<M>,
    ) {
        let rank = self.rank() as usize;
        let work = from.scratch();
        self.copy(from.clone(), work.clone());
        let first = |rank: usize| counts[..rank].iter().sum::<usize>();
        // The parts of `ranks` ranks from `least` on.
        let part = |least: usize, ranks: usize| {
            work.part(first(least), first(least + ranks) - first(least))
        };
        let mut half = counts.len() / 2;
        while half > 0 {
            let (own, other) = (rank & !(half - 1), (rank ^ half) & !(half - 1));
            let theirs = part(own, half).scratch();
            self.exchange(
                ((rank ^ half) as u32, theirs.clone()),
                ((rank ^ half) as u32, part(other, half)),
            );
            self.combine(op, theirs, part(own, half));
            half /= 2;
        }
        self.copy(part(rank, 1), into.clone());
    }

    fn reduce_scatter_by_distance(
        &mut self,
        op: &Combination,
        from: &Typed<M>,
        counts: &[usize],
        into: &Typed<M>,
    ) {
        let (rank, size) = (self.rank(), self.size());
        let parts = from.parts(counts);
        // What is given may lie where the result goes.
        let own = into.scratch();
        self.copy(parts[rank as usize].clone(), own.clone());
        let theirs = into.scratch();
        for distance in 1..size {
            let (next, last) = ((rank + distance) % size, (rank + size - distance) % size);
            self.exchange((last, theirs.clone()), (next, parts[next as usize].clone()));
            self.combine(op, theirs.clone(), own.clone());
        }
        self.copy(own, into.clone());
    }
}

/// The two halves of a range.
fn halves(range: &Range<usize>) -> (Range<usize>, Range<usize>) {
    let middle = range.start + range.len() / 2;
    (range.start..middle, middle..range.end)
}
