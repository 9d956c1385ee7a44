//! All-to-all.

use super::*;
use crate::pointer::{Address, ConstAddress};

/// `from` is none where each rank's elements are replaced by those that come.
fn alltoall(
    comm: Held,
    from: Option<Vec<Elements>>,
    into: Vec<Elements>,
) -> Result<Steps<impl Make>> {
    let is_between = is_between(&comm);
    for (from, into) in from.iter().flatten().zip(&into) {
        apart(from, into)?;
    }
    steps(comm, move |plan| match &from {
        Some(from) if is_between => plan.alltoall_between(from, &into),
        Some(from) => plan.alltoall(from, &into),
        None => plan.alltoall_in_place(&into),
    })
}

/// What is sent, unless it is in place.
fn sent(
    comm: &Comm,
    address: ConstAddress,
    parts: impl FnOnce() -> Result<Vec<Elements>>,
) -> Result<Option<Vec<Elements>>> {
    if is_in_place(address.0) && !is_between(comm) { Ok(None) } else { parts().map(Some) }
}

collective! {
    /// Each gets from each what that has for it.
    fn MPI_Alltoall or MPI_Alltoall_c
    begun MPI_Ialltoall or MPI_Ialltoall_c
    kept MPI_Alltoall_init or MPI_Alltoall_init_c
    (
        sendbuf: ConstAddress, sendcount: N, sendtype: MPI_Datatype, recvbuf: Address,
        recvcount: N, recvtype: MPI_Datatype, comm: MPI_Comm,
    ) on comm {
        let comm = communicator(comm)?;
        let ranks = peers(&comm);
        let from = sent(&comm, sendbuf, || blocks(sendbuf.0, sendcount, sendtype, ranks))?;
        let into = blocks(recvbuf.0, recvcount, recvtype, ranks)?;
        alltoall(comm, from, into)
    }

    /// The same, with as many for each as the two say.
    fn MPI_Alltoallv or MPI_Alltoallv_c
    begun MPI_Ialltoallv or MPI_Ialltoallv_c
    kept MPI_Alltoallv_init or MPI_Alltoallv_init_c
    (
        sendbuf: ConstAddress, sendcounts: Array<N>, sdispls: Array<D>, sendtype: MPI_Datatype,
        recvbuf: Address, recvcounts: Array<N>, rdispls: Array<D>, recvtype: MPI_Datatype,
        comm: MPI_Comm,
    ) on comm {
        let comm = communicator(comm)?;
        let ranks = peers(&comm);
        let from = sent(&comm, sendbuf, || {
            varied(sendbuf.0, (sendcounts, sdispls), sendtype, ranks)
        })?;
        let into = varied(recvbuf.0, (recvcounts, rdispls), recvtype, ranks)?;
        alltoall(comm, from, into)
    }

    /// The same, with a datatype for each; displacements are in bytes.
    fn MPI_Alltoallw or MPI_Alltoallw_c
    begun MPI_Ialltoallw or MPI_Ialltoallw_c
    kept MPI_Alltoallw_init or MPI_Alltoallw_init_c
    (
        sendbuf: ConstAddress, sendcounts: Array<N>, sdispls: Array<D>,
        sendtypes: Array<MPI_Datatype>, recvbuf: Address, recvcounts: Array<N>,
        rdispls: Array<D>, recvtypes: Array<MPI_Datatype>, comm: MPI_Comm,
    ) on comm {
        let comm = communicator(comm)?;
        let ranks = peers(&comm);
        let from = sent(&comm, sendbuf, || {
            mixed(sendbuf.0, (sendcounts, sdispls), sendtypes, ranks)
        })?;
        let into = mixed(recvbuf.0, (recvcounts, rdispls), recvtypes, ranks)?;
        alltoall(comm, from, into)
    }
}
