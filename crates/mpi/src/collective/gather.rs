//! Gather and scatter with one root: each rank and the root, directly.
//!
//! All-gather: what is short goes to rank 0 and from there to all. Where each has as many, 2^k
//! ranks double what they have in each round. All others do so, too, as long as there is little for
//! each rank: each begins with its own, and what it has lies one behind the other until the end
//! (Bruck's way). What is long goes round a ring: each rank passes on what it got last. In any case
//! every byte crosses once for each rank.

use super::Plan;
use super::tree::LONG;
use crate::buffer::{Memory, Typed};

/// From how many bytes in all on each rank speaks to its neighbours only.
const ROUND: usize = 4 << 20;

/// From how many bytes for each rank on, where they would be copied once more not to do so. A round
/// of the ring takes as long as to copy some more than these.
const ROUND_EACH: usize = 8 << 10;

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

    /// All ranks get all ranks' elements, each as many, one behind the other. `from` is none where
    /// a rank's own are there.
    pub fn allgather_row(&mut self, from: Option<&Typed<M>>, into: &Typed<M>) {
        let (rank, size) = (self.rank(), self.size());
        let each = into.count() / size as usize;
        let part = |first: u32, ranks: u32| into.part(first as usize * each, ranks as usize * each);
        let parts = || (0..size).map(|rank| part(rank, 1)).collect::<Vec<_>>();
        if size > 2 && into.size() < LONG {
            let own = part(rank, 1);
            self.gather(0, from.or((rank != 0).then_some(&own)), &parts());
            self.wait();
            return self.broadcast(0, into);
        }
        let is_long = into.size() >= ROUND && into.size() / size as usize >= ROUND_EACH;
        if !size.is_power_of_two() || is_long {
            return self.allgather(from, &parts());
        }
        if let Some(from) = from {
            self.copy(from.clone(), part(rank, 1));
        }
        for width in (0..size.trailing_zeros()).map(|round| 1 << round) {
            let (partner, own) = (rank ^ width, rank & !(width - 1));
            self.exchange((partner, part(own ^ width, width)), (partner, part(own, width)));
        }
    }

    /// All ranks get all ranks' elements, each into the place that it has in `into`. `from` is none
    /// where a rank's own are there.
    pub fn allgather(&mut self, from: Option<&Typed<M>>, into: &[Typed<M>]) {
        let (rank, size) = (self.rank(), self.size());
        let bytes: usize = into.iter().map(Typed::size).sum();
        let own = &into[rank as usize];
        if size > 2 && bytes < LONG {
            // What all have goes to all in one message.
            let (row, parts) = packed(into, 0);
            self.gather(0, from.or(Some(own)), &parts);
            self.wait();
            self.broadcast(0, &row);
            return self.unpack(parts, into, 0);
        }
        if let Some(from) = from {
            self.copy(from.clone(), own.clone());
        }
        if size > 3 && bytes / (size as usize) < ROUND_EACH {
            return self.allgather_packed(into);
        }
        let place = |rank: u32| into[(rank % size) as usize].clone();
        let (next, last) = ((rank + 1) % size, (rank + size - 1) % size);
        for round in 0..size - 1 {
            self.exchange(
                (last, place(rank + 2 * size - round - 1)),
                (next, place(rank + size - round)),
            );
        }
    }

    /// The same in as few rounds as can be; this rank's own are in their place.
    fn allgather_packed(&mut self, into: &[Typed<M>]) {
        let (rank, size) = (self.rank() as usize, into.len());
        let (row, mut parts) = packed(into, rank);
        let end = |ranks: usize| parts[..ranks].iter().map(Typed::count).sum::<usize>();
        self.copy(into[rank].clone(), parts[0].clone());
        // This rank has what is of so many from itself on.
        let mut has = 1;
        while has < size {
            let more = has.min(size - has);
            let theirs = row.part(end(has), end(has + more) - end(has));
            let (from, to) = ((rank + has) % size, (rank + size - has) % size);
            self.exchange((from as u32, theirs), (to as u32, row.part(0, end(more))));
            has += more;
        }
        self.unpack(parts.split_off(1), into, rank + 1);
    }

    /// Copies what lies packed from the part of rank `first` on to where it belongs.
    fn unpack(&mut self, parts: Vec<Typed<M>>, into: &[Typed<M>], first: usize) {
        for (part, place) in parts.into_iter().zip(into.iter().cycle().skip(first)) {
            self.copy(part, place.clone());
        }
    }
}

/// Room for the bytes of all these parts one behind the other, from that of rank `first` on.
fn packed<M: Memory>(parts: &[Typed<M>], first: usize) -> (Typed<M>, Vec<Typed<M>>) {
    let sizes = parts.iter().cycle().skip(first).take(parts.len()).map(Typed::size);
    let sizes: Vec<usize> = sizes.collect();
    let row = Typed::bytes(sizes.iter().sum());
    let parts = row.parts(&sizes);
    (row, parts)
}
