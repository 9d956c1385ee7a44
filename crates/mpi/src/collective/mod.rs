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
