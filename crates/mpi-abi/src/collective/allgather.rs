//! All-gather.

use super::*;
use crate::pointer::{Address, ConstAddress};

/// Where what all have goes.
enum Into {
    /// As many of each, one behind the other.
    Row(Elements),
    /// Each to a place of its own.
    Places(Vec<Elements>),
}

impl Into {
    fn place(&self, rank: u32, ranks: u32) -> Elements {
        let (rank, ranks) = (rank as usize, ranks as usize);
        match self {
            Into::Row(all) => all.part(rank * (all.count() / ranks), all.count() / ranks),
            Into::Places(places) => places[rank].clone(),
        }
    }
}

fn allgather(comm: Held, from: Option<Elements>, into: Into) -> Result<Steps<impl Make>> {
    let (is_between, peers) = (is_between(&comm), peers(&comm));
    if let Some(from) = from.as_ref().filter(|_| !is_between) {
        apart(from, &into.place(comm.inner.rank(), peers))?;
    }
    steps(comm, move |plan| match (&from, &into) {
        (Some(from), into) if is_between => {
            let places: Vec<_> = (0..peers).map(|rank| into.place(rank, peers)).collect();
            plan.allgather_between(from, &places);
        }
        (from, Into::Row(all)) => plan.allgather_row(from.as_ref(), all),
        (from, Into::Places(places)) => plan.allgather(from.as_ref(), places),
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
        let into = row(recvbuf.0, recvcount, recvtype, peers(&comm))?;
        allgather(comm, from, Into::Row(into))
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
        allgather(comm, from, Into::Places(into))
    }
}
