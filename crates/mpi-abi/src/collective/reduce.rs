//! Reductions to one rank, and to all.

use std::ffi::c_int;

use super::*;
use crate::operation::combination;
use crate::pointer::{Address, ConstAddress};
use muster_mpi::collective::Combination;

collective! {
    /// The root gets the combination of what all have.
    fn MPI_Reduce or MPI_Reduce_c
    begun MPI_Ireduce or MPI_Ireduce_c
    kept MPI_Reduce_init or MPI_Reduce_init_c
    (
        sendbuf: ConstAddress, recvbuf: Address, count: N, datatype: MPI_Datatype, op: MPI_Op,
        root: c_int, comm: MPI_Comm,
    ) on comm {
        let comm = communicator(comm)?;
        let root = Root::of(&comm, root)?;
        let (from, into) = match root {
            Root::Rank(_) if root.is_here(&comm) => {
                let (from, into) =
                    operands(&comm, (sendbuf.0, recvbuf.0), (count, count), datatype)?;
                (Some(from), Some(into))
            }
            _ if root.is_here(&comm) => (None, Some(plain(recvbuf.0, count, datatype)?)),
            _ if root.is_opposite() => (Some(plain(sendbuf.0, count, datatype)?), None),
            _ => (None, None),
        };
        let op = match from.as_ref().or(into.as_ref()) {
            Some(elements) => Some(combination(op, datatype, elements)?),
            None => None,
        };
        rooted(comm, root, move |plan| match (root, &op, &from) {
            (Root::Rank(root), Some(op), Some(from)) => plan.reduce(root, op, from, into.as_ref()),
            (Root::Between(side), Some(op), from) => {
                plan.reduce_between(side, op, from.as_ref(), into.as_ref());
            }
            _ => {}
        })
    }

    /// All get the combination of what all have.
    fn MPI_Allreduce or MPI_Allreduce_c
    begun MPI_Iallreduce or MPI_Iallreduce_c
    kept MPI_Allreduce_init or MPI_Allreduce_init_c
    (
        sendbuf: ConstAddress, recvbuf: Address, count: N, datatype: MPI_Datatype, op: MPI_Op,
        comm: MPI_Comm,
    ) on comm {
        let comm = communicator(comm)?;
        let (from, into) = operands(&comm, (sendbuf.0, recvbuf.0), (count, count), datatype)?;
        let op = combination(op, datatype, &from)?;
        let is_between = is_between(&comm);
        Ok(Steps::new(comm, AllReduce { op, from, into, is_between }))
    }
}

/// An all-reduce of these.
struct AllReduce {
    op: Combination,
    from: Elements,
    into: Elements,
    is_between: bool,
}

impl Make for AllReduce {
    fn make(&self, plan: &mut Plan<Place>) {
        let AllReduce { op, from, into, is_between } = self;
        match is_between {
            true => plan.allreduce_between(op, from, into),
            false => plan.allreduce(op, from, into),
        }
    }

    #[inline]
    fn short(&mut self) -> Option<Option<Operands<'_, Place>>> {
        Operands::new(&self.op, &self.from, &mut self.into).map(Some)
    }
}
