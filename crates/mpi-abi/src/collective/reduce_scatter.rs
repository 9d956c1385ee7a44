//! Reductions whose result is shared out.

use super::*;
use crate::operation::combination;
use crate::pointer::{Address, ConstAddress};

/// Rank `i` gets `counts[i]` elements of the combination.
fn reduce_scatter(
    comm: Held,
    buffers: (*const c_void, *const c_void),
    counts: Vec<usize>,
    op: MPI_Op,
    datatype: MPI_Datatype,
) -> Result<Steps<impl Make>> {
    let too_many = || Error::new(Class::Count, "the ranks' counts are too many together");
    let sum = |sum: i64, count: &usize| sum.checked_add_unsigned(*count as u64);
    let all = counts.iter().try_fold(0_i64, sum).ok_or_else(too_many)?;
    let own = counts[comm.inner.rank() as usize] as i64;
    let (from, into) = operands(&comm, buffers, (all, own), datatype)?;
    let op = combination(op, datatype, &from)?;
    let is_between = is_between(&comm);
    steps(comm, move |plan| match is_between {
        true => plan.reduce_scatter_between(&op, &from, &counts, &into),
        false => plan.reduce_scatter(&op, &from, &counts, &into),
    })
}

collective! {
    /// The combination of what all have is shared out, with as many for each as is said.
    fn MPI_Reduce_scatter or MPI_Reduce_scatter_c
    begun MPI_Ireduce_scatter or MPI_Ireduce_scatter_c
    kept MPI_Reduce_scatter_init or MPI_Reduce_scatter_init_c
    (
        sendbuf: ConstAddress, recvbuf: Address, recvcounts: Array<N>, datatype: MPI_Datatype,
        op: MPI_Op, comm: MPI_Comm,
    ) on comm {
        let comm = communicator(comm)?;
        let counts = recvcounts.slice(comm.inner.size() as usize)?;
        let counts = counts.iter().enumerate().map(|(at, count)| {
            let count = buffer::count(*count);
            count.map_err(|error| error.within(recvcounts.address(), at))
        });
        let counts = counts.collect::<Result<_>>()?;
        reduce_scatter(comm, (sendbuf.0, recvbuf.0), counts, op, datatype)
    }

    /// The same, with as many for all.
    fn MPI_Reduce_scatter_block or MPI_Reduce_scatter_block_c
    begun MPI_Ireduce_scatter_block or MPI_Ireduce_scatter_block_c
    kept MPI_Reduce_scatter_block_init or MPI_Reduce_scatter_block_init_c
    (
        sendbuf: ConstAddress, recvbuf: Address, recvcount: N, datatype: MPI_Datatype,
        op: MPI_Op, comm: MPI_Comm,
    ) on comm {
        let comm = communicator(comm)?;
        let counts = vec![buffer::count(recvcount)?; comm.inner.size() as usize];
        reduce_scatter(comm, (sendbuf.0, recvbuf.0), counts, op, datatype)
    }
}
