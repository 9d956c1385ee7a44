//! All-gather.

use super::*;
use crate::communicator::communicator;
use crate::pointer::{Address, ConstAddress};

fn allgather(comm: Held, from: Option<Elements>, into: Vec<Elements>) -> Result<Steps<impl Make>> {
    let is_between = is_between(&comm);
    if let Some(from) = from.as_ref().filter(|_| !is_between) {
        apart(from, &into[comm.inner.rank() as usize])?;
    }
    steps(comm, move |plan| match &from {
        Some(from) if is_between => plan.allgather_between(from, &into),
        from => plan.allgather(from.as_ref(), &into),
    })
}

collective! {
    /// All get what all have.
    fn MPI_Allgather or MPI_Allgather_c
    begun MPI_Iallgather or MPI_Iallgather_c
    kept MPI_Allgather_init or MPI_Allgather_init_c
    (
        sendbuf: ConstAddress, sendcount: N, sendtype: MPI_Datatype, recvbuf: Address,
        recvcount: N, recvtype: MPI_Datatype, comm: MPI_Comm,
    ) on comm {
        let comm = communicator(comm)?;
        let from = unless_in_place(&comm, sendbuf.0, sendcount, sendtype)?;
        let into = blocks(recvbuf.0, recvcount, recvtype, peers(&comm))?;
        allgather(comm, from, into)
    }

    /// The same, where each has as many as it says.
    fn MPI_Allgatherv or MPI_Allgatherv_c
    begun MPI_Iallgatherv or MPI_Iallgatherv_c
    kept MPI_Allgatherv_init or MPI_Allgatherv_init_c
    (
        sendbuf: ConstAddress, sendcount: N, sendtype: MPI_Datatype, recvbuf: Address,
        recvcounts: Array<N>, displs: Array<D>, recvtype: MPI_Datatype, comm: MPI_Comm,
    ) on comm {
        let comm = communicator(comm)?;
        let from = unless_in_place(&comm, sendbuf.0, sendcount, sendtype)?;
        let into = varied(recvbuf.0, (recvcounts, displs), recvtype, peers(&comm))?;
        allgather(comm, from, into)
    }
}
