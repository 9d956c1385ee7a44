//! Collectives of neighbours in a topology.

use muster_mpi::topology::Topology;

use super::*;
use crate::pointer::{Address, ConstAddress};

/// Whom this rank receives from and whom it sends to; `None` is nobody.
type Neighbors = (Vec<Option<u32>>, Vec<Option<u32>>);

fn neighbors(comm: &Comm) -> Result<Neighbors> {
    let topology = comm.topology.as_ref().ok_or_else(|| {
        Error::new(Class::Topology, "the communicator has no topology, so no neighbours")
    })?;
    Ok(topology.neighbors(comm.inner.rank()))
}

/// How many there are on one side.
fn many(ranks: &[Option<u32>]) -> u32 {
    u32::try_from(ranks.len()).expect("there are fewer edges")
}

/// The order in which a rank receives. In a grid of one or two ranks that closes, both neighbours
/// are the same: what that one has sent to lower coordinates comes from higher ones.
fn order_of(comm: &Comm, incoming: usize) -> Vec<usize> {
    match comm.topology {
        Some(Topology::Cartesian(_)) => (0..incoming).map(|at| at ^ 1).collect(),
        _ => (0..incoming).collect(),
    }
}

/// Edges with their elements, without those that lead to nobody.
fn edges(ranks: &[Option<u32>], elements: &[Elements], order: &[usize]) -> Vec<(u32, Elements)> {
    let edge = |at: &usize| ranks[*at].map(|rank| (rank, elements[*at].clone()));
    order.iter().filter_map(edge).collect()
}

fn exchange(
    comm: Held,
    (sources, destinations): &Neighbors,
    from: &[Elements],
    into: &[Elements],
) -> Result<Steps<impl Make + use<>>> {
    let incoming = edges(sources, into, &order_of(&comm, into.len()));
    let outgoing = edges(destinations, from, &Vec::from_iter(0..from.len()));
    steps(comm, move |plan| plan.neighbors(incoming.clone(), outgoing.clone()))
}

/// The same elements for all.
fn alike(
    address: ConstAddress,
    count: impl Number,
    datatype: MPI_Datatype,
    to: &[Option<u32>],
) -> Result<Vec<Elements>> {
    if to.is_empty() {
        return committed(datatype).map(|_| Vec::new());
    }
    let from = plain(address.0, count, datatype)?;
    Ok(vec![from; to.len()])
}

collective! {
    /// Each gets what its neighbours have.
    fn MPI_Neighbor_allgather or MPI_Neighbor_allgather_c
    begun MPI_Ineighbor_allgather or MPI_Ineighbor_allgather_c
    kept MPI_Neighbor_allgather_init or MPI_Neighbor_allgather_init_c
    (
        sendbuf: ConstAddress, sendcount: N, sendtype: MPI_Datatype, recvbuf: Address,
        recvcount: N, recvtype: MPI_Datatype, comm: MPI_Comm,
    ) on comm {
        let comm = communicator(comm)?;
        let neighbors = neighbors(&comm)?;
        let from = alike(sendbuf, sendcount, sendtype, &neighbors.1)?;
        let into = blocks(recvbuf.0, recvcount, recvtype, many(&neighbors.0))?;
        exchange(comm, &neighbors, &from, &into)
    }

    /// The same, where each neighbour has as many as the call says.
    fn MPI_Neighbor_allgatherv or MPI_Neighbor_allgatherv_c
    begun MPI_Ineighbor_allgatherv or MPI_Ineighbor_allgatherv_c
    kept MPI_Neighbor_allgatherv_init or MPI_Neighbor_allgatherv_init_c
    (
        sendbuf: ConstAddress, sendcount: N, sendtype: MPI_Datatype, recvbuf: Address,
        recvcounts: Array<N>, displs: Array<D>, recvtype: MPI_Datatype, comm: MPI_Comm,
    ) on comm {
        let comm = communicator(comm)?;
        let neighbors = neighbors(&comm)?;
        let from = alike(sendbuf, sendcount, sendtype, &neighbors.1)?;
        let into = varied(recvbuf.0, (recvcounts, displs), recvtype, many(&neighbors.0))?;
        exchange(comm, &neighbors, &from, &into)
    }

    /// Each gets from its neighbours what they have for it.
    fn MPI_Neighbor_alltoall or MPI_Neighbor_alltoall_c
    begun MPI_Ineighbor_alltoall or MPI_Ineighbor_alltoall_c
    kept MPI_Neighbor_alltoall_init or MPI_Neighbor_alltoall_init_c
    (
        sendbuf: ConstAddress, sendcount: N, sendtype: MPI_Datatype, recvbuf: Address,
        recvcount: N, recvtype: MPI_Datatype, comm: MPI_Comm,
    ) on comm {
        let comm = communicator(comm)?;
        let neighbors = neighbors(&comm)?;
        let from = blocks(sendbuf.0, sendcount, sendtype, many(&neighbors.1))?;
        let into = blocks(recvbuf.0, recvcount, recvtype, many(&neighbors.0))?;
        exchange(comm, &neighbors, &from, &into)
    }

    /// The same, with as many for each as the two say.
    fn MPI_Neighbor_alltoallv or MPI_Neighbor_alltoallv_c
    begun MPI_Ineighbor_alltoallv or MPI_Ineighbor_alltoallv_c
    kept MPI_Neighbor_alltoallv_init or MPI_Neighbor_alltoallv_init_c
    (
        sendbuf: ConstAddress, sendcounts: Array<N>, sdispls: Array<D>, sendtype: MPI_Datatype,
        recvbuf: Address, recvcounts: Array<N>, rdispls: Array<D>, recvtype: MPI_Datatype,
        comm: MPI_Comm,
    ) on comm {
        let comm = communicator(comm)?;
        let neighbors = neighbors(&comm)?;
        let from = varied(sendbuf.0, (sendcounts, sdispls), sendtype, many(&neighbors.1))?;
        let into = varied(recvbuf.0, (recvcounts, rdispls), recvtype, many(&neighbors.0))?;
        exchange(comm, &neighbors, &from, &into)
    }

    /// The same, with a datatype for each; displacements are in bytes.
    fn MPI_Neighbor_alltoallw or MPI_Neighbor_alltoallw_c
    begun MPI_Ineighbor_alltoallw or MPI_Ineighbor_alltoallw_c
    kept MPI_Neighbor_alltoallw_init or MPI_Neighbor_alltoallw_init_c
    (
        sendbuf: ConstAddress, sendcounts: Array<N>, sdispls: Array<MPI_Aint>,
        sendtypes: Array<MPI_Datatype>, recvbuf: Address, recvcounts: Array<N>,
        rdispls: Array<MPI_Aint>, recvtypes: Array<MPI_Datatype>, comm: MPI_Comm,
    ) on comm {
        let comm = communicator(comm)?;
        let neighbors = neighbors(&comm)?;
        let from = mixed(sendbuf.0, (sendcounts, sdispls), sendtypes, many(&neighbors.1))?;
        let into = mixed(recvbuf.0, (recvcounts, rdispls), recvtypes, many(&neighbors.0))?;
        exchange(comm, &neighbors, &from, &into)
    }
}
