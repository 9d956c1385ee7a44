//! Gather and scatter. What the root alone needs is looked at on the root alone.

use std::ffi::c_int;

use super::*;
use crate::pointer::{Address, ConstAddress};

/// What a rank gives to the root; none where it is there already, or nothing is given.
fn given<N: Number>(
    comm: &Comm,
    root: Root,
    (address, count, datatype): (*const c_void, N, MPI_Datatype),
) -> Result<Option<Elements>> {
    match root {
        Root::Rank(_) if root.is_here(comm) => unless_in_place(comm, address, count, datatype),
        _ if root.is_opposite() => plain(address, count, datatype).map(Some),
        _ => Ok(None),
    }
}

/// That the root's own part is not where it goes.
fn apart_on(comm: &Comm, root: Root, own: Option<&Elements>, parts: &[Elements]) -> Result<()> {
    match (root, own) {
        (Root::Rank(root), Some(own)) if root == comm.inner.rank() => {
            apart(own, &parts[root as usize])
        }
        _ => Ok(()),
    }
}

fn gather(
    comm: Held,
    root: Root,
    from: Option<Elements>,
    into: Vec<Elements>,
) -> Result<Steps<impl Make>> {
    apart_on(&comm, root, from.as_ref(), &into)?;
    rooted(comm, root, move |plan| match root {
        Root::Rank(root) => plan.gather(root, from.as_ref(), &into),
        Root::Between(side) => plan.gather_between(side, from.as_ref(), &into),
    })
}

fn scatter(
    comm: Held,
    root: Root,
    from: Vec<Elements>,
    into: Option<Elements>,
) -> Result<Steps<impl Make>> {
    apart_on(&comm, root, into.as_ref(), &from)?;
    rooted(comm, root, move |plan| match root {
        Root::Rank(root) => plan.scatter(root, &from, into.as_ref()),
        Root::Between(side) => plan.scatter_between(side, &from, into.as_ref()),
    })
}

collective! {
    /// The root gets what all have.
    fn MPI_Gather or MPI_Gather_c
    begun MPI_Igather or MPI_Igather_c
    kept MPI_Gather_init or MPI_Gather_init_c
    (
        sendbuf: ConstAddress, sendcount: N, sendtype: MPI_Datatype, recvbuf: Address,
        recvcount: N, recvtype: MPI_Datatype, root: c_int, comm: MPI_Comm,
    ) on comm {
        let comm = communicator(comm)?;
        let root = Root::of(&comm, root)?;
        let from = given(&comm, root, (sendbuf.0, sendcount, sendtype))?;
        let into = match root.is_here(&comm) {
            true => blocks(recvbuf.0, recvcount, recvtype, peers(&comm))?,
            false => Vec::new(),
        };
        gather(comm, root, from, into)
    }

    /// The same, where each has as many as it says.
    fn MPI_Gatherv or MPI_Gatherv_c
    begun MPI_Igatherv or MPI_Igatherv_c
    kept MPI_Gatherv_init or MPI_Gatherv_init_c
    (
        sendbuf: ConstAddress, sendcount: N, sendtype: MPI_Datatype, recvbuf: Address,
        recvcounts: Array<N>, displs: Array<D>, recvtype: MPI_Datatype, root: c_int,
        comm: MPI_Comm,
    ) on comm {
        let comm = communicator(comm)?;
        let root = Root::of(&comm, root)?;
        let from = given(&comm, root, (sendbuf.0, sendcount, sendtype))?;
        let into = match root.is_here(&comm) {
            true => varied(recvbuf.0, (recvcounts, displs), recvtype, peers(&comm))?,
            false => Vec::new(),
        };
        gather(comm, root, from, into)
    }

    /// All get what the root has for them.
    fn MPI_Scatter or MPI_Scatter_c
    begun MPI_Iscatter or MPI_Iscatter_c
    kept MPI_Scatter_init or MPI_Scatter_init_c
    (
        sendbuf: ConstAddress, sendcount: N, sendtype: MPI_Datatype, recvbuf: Address,
        recvcount: N, recvtype: MPI_Datatype, root: c_int, comm: MPI_Comm,
    ) on comm {
        let comm = communicator(comm)?;
        let root = Root::of(&comm, root)?;
        let into = given(&comm, root, (recvbuf.0, recvcount, recvtype))?;
        let from = match root.is_here(&comm) {
            true => blocks(sendbuf.0, sendcount, sendtype, peers(&comm))?,
            false => Vec::new(),
        };
        scatter(comm, root, from, into)
    }

    /// The same, where the root has for each as many as it says.
    fn MPI_Scatterv or MPI_Scatterv_c
    begun MPI_Iscatterv or MPI_Iscatterv_c
    kept MPI_Scatterv_init or MPI_Scatterv_init_c
    (
        sendbuf: ConstAddress, sendcounts: Array<N>, displs: Array<D>, sendtype: MPI_Datatype,
        recvbuf: Address, recvcount: N, recvtype: MPI_Datatype, root: c_int, comm: MPI_Comm,
    ) on comm {
        let comm = communicator(comm)?;
        let root = Root::of(&comm, root)?;
        let into = given(&comm, root, (recvbuf.0, recvcount, recvtype))?;
        let from = match root.is_here(&comm) {
            true => varied(sendbuf.0, (sendcounts, displs), sendtype, peers(&comm))?,
            false => Vec::new(),
        };
        scatter(comm, root, from, into)
    }
}
