//! Collectives (MPI-5.0, chapter 6): for each a file with its algorithms, which fill a [`Plan`].
//!
//! All results are the same in every run, and where the standard wants it the same on all ranks:
//! who combines with whom, and in which order, depends on the number of ranks and the size only.

mod alltoall;
mod barrier;
mod between;
mod broadcast;
mod gather;
mod neighbor;
mod plan;
mod reduce;
mod scan;
mod short;
mod tree;

pub use between::Side;
pub use plan::Plan;
pub use short::{Operands, Short};

use crate::datatype::Datatype;
use crate::error::Result;
use crate::group::Group;
use crate::op::{Op, Reduction};
use muster_message::ASIDE;

/// A reduction that all ranks of a collective carry out.
#[derive(Clone)]
pub struct Combination {
    reduction: Reduction,
    is_commutative: bool,
}

impl Combination {
    /// An operation on elements of a datatype.
    ///
    /// # Errors
    /// [`Class::Op`](crate::Class::Op) where it is not defined for them.
    pub fn new(op: &Op, datatype: &Datatype) -> Result<Combination> {
        let is_commutative = op.commutative();
        Ok(Combination { reduction: op.reduction(datatype)?, is_commutative })
    }
}

/// A communicator as a collective sees it.
#[derive(Clone)]
pub struct Shape {
    /// Where its messages are kept apart from others.
    pub context: u64,
    /// Which collective of this communicator it is: its messages' tag.
    pub tag: i32,
    /// This rank.
    pub rank: u32,
    /// How many ranks there are.
    pub size: u32,
    /// Whose.
    pub group: Group,
    /// The other group of an intercommunicator.
    pub remote: Option<Group>,
}

impl Shape {
    /// The same, for what differs from run to run: it is in no digest.
    #[must_use]
    pub fn aside(self) -> Shape {
        Shape { context: self.context | ASIDE, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::atom::Atom;
    use crate::buffer::{Memory, Typed};
    use crate::datatype::{self, Predefined};
    use crate::op;

    /// Memory of steps that nobody takes.
    #[derive(Clone)]
    struct Nowhere;

    impl datatype::Memory for Nowhere {
        fn read(&self, _: isize, _: &mut [u8]) {}

        fn write(&mut self, _: isize, _: &[u8]) {}
    }

    impl Memory for Nowhere {
        fn bytes(&self, _: isize, _: usize) -> &[u8] {
            &[]
        }

        fn bytes_mut(&mut self, _: isize, _: usize) -> &mut [u8] {
            &mut []
        }

        fn atom(&self, _: isize, _: usize) -> Option<Atom<'_>> {
            None
        }

        fn offset(&self, _: isize) -> Nowhere {
            Nowhere
        }

        fn scratch(_: usize) -> Nowhere {
            Nowhere
        }

        fn is(&self, _: &Nowhere) -> bool {
            false
        }
    }

    fn elements(count: usize) -> Typed<Nowhere> {
        Typed::new(Nowhere, count, Datatype::of(Predefined::Double).clone()).unwrap()
    }

    /// The most often that a rank of so many waits.
    fn waits(size: u32, make: impl Fn(&mut Plan<Nowhere>)) -> usize {
        let waits = |rank| {
            let group = Group::all(size);
            let mut plan = Plan::new(Shape { context: 3, tag: 0, rank, size, group, remote: None });
            make(&mut plan);
            plan.waits()
        };
        (0..size).map(waits).max().unwrap()
    }

    #[test]
    fn an_allreduce_takes_no_more_rounds_than_a_tree_up_and_down() {
        let double = Datatype::of(Predefined::Double);
        for op in [op::Predefined::Sum, op::Predefined::Max].map(Op::Predefined) {
            let op = Combination::new(&op, double).unwrap();
            for size in [2_u32, 3, 4, 7, 8, 15, 31, 64, 100, 1000] {
                let most = 2 * size.next_power_of_two().ilog2() as usize;
                for count in [512, 4095, 4096, 4200, 32_768, 131_072] {
                    // Parts of these go round a ring.
                    if count * 8 / size as usize >= 256 << 10 {
                        continue;
                    }
                    let (from, into) = (elements(count), elements(count));
                    let waits = waits(size, |plan| plan.allreduce(&op, &from, &into));
                    assert!(waits <= most, "{size} ranks, {count} elements: {waits} rounds");
                }
            }
        }
    }

    #[test]
    fn what_is_short_is_gathered_by_all_in_rounds_that_double_it() {
        for size in [4_u32, 7, 31, 64, 1000] {
            let most = size.next_power_of_two().ilog2() as usize;
            for each in [1, 32, 1000] {
                let into: Vec<_> = (0..size).map(|_| elements(each)).collect();
                let row = elements(each * size as usize);
                let own = elements(each);
                let vector = waits(size, |plan| plan.allgather(Some(&own), &into));
                let same = waits(size, |plan| plan.allgather_row(Some(&own), &row));
                assert!(vector <= most && same <= most, "{size} ranks, {each}: {vector}, {same}");
            }
        }
    }
}
