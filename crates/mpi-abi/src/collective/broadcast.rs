//! Barrier and broadcast.

use std::ffi::c_int;

use super::*;
use crate::export::export;
use crate::pointer::Address;

/// Barriers have no counts, and so are written out.
const BARRIER: u8 = family("MPI_Barrier");

/// The steps of a barrier.
fn barrier(comm: MPI_Comm) -> Result<Steps<Barrier>> {
    let comm = communicator(comm)?;
    let is_between = is_between(&comm);
    Ok(Steps::new(comm, Barrier { is_between }))
}

/// A barrier.
struct Barrier {
    is_between: bool,
}

impl Make for Barrier {
    fn make(&self, plan: &mut Plan<Place>) {
        match self.is_between {
            true => plan.barrier_between(),
            false => plan.barrier(),
        }
    }

    #[inline(always)]
    fn short(&mut self) -> Option<Option<Operands<'_, Place>>> {
        Some(None)
    }
}

export! {
    /// Nobody goes on before all have come.
    fn MPI_Barrier(comm: MPI_Comm) on comm {
        barrier(comm)?.carry_out(BARRIER)
    }

    /// The same; it is begun.
    fn MPI_Ibarrier(comm: MPI_Comm, request: Out<MPI_Request>) on comm {
        barrier(comm)?.begin(BARRIER, request)
    }

    /// The same; it can be started again and again.
    fn MPI_Barrier_init(comm: MPI_Comm, info: MPI_Info, request: Out<MPI_Request>) on comm {
        let _ = info;
        barrier(comm)?.keep(BARRIER, request)
    }
}

collective! {
    /// All get what the root has.
    fn MPI_Bcast or MPI_Bcast_c
    begun MPI_Ibcast or MPI_Ibcast_c
    kept MPI_Bcast_init or MPI_Bcast_init_c
    (buffer: Address, count: N, datatype: MPI_Datatype, root: c_int, comm: MPI_Comm) on comm {
        let comm = communicator(comm)?;
        let root = Root::of(&comm, root)?;
        let bytes = match root {
            Root::Between(Side::Beside) => Typed::nothing(),
            _ => plain(buffer.0, count, datatype)?,
        };
        rooted(comm, root, move |plan| match root {
            Root::Rank(root) => plan.broadcast(root, &bytes),
            Root::Between(side) => plan.broadcast_between(side, &bytes),
        })
    }
}
