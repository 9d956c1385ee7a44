//! Scans.

use super::*;
use crate::operation::combination;
use crate::pointer::{Address, ConstAddress};

collective! {
    /// Each gets the combination of the ranks up to itself.
    fn MPI_Scan or MPI_Scan_c
    begun MPI_Iscan or MPI_Iscan_c
    kept MPI_Scan_init or MPI_Scan_init_c
    (
        sendbuf: ConstAddress, recvbuf: Address, count: N, datatype: MPI_Datatype, op: MPI_Op,
        comm: MPI_Comm,
    ) on comm {
        let comm = communicator(comm)?;
        one_group(&comm)?;
        let (from, into) = operands(&comm, (sendbuf.0, recvbuf.0), (count, count), datatype)?;
        let op = combination(op, datatype, &from)?;
        steps(comm, move |plan| plan.scan(&op, &from, &into))
    }

    /// Each gets the combination of the ranks before it; the first one nothing.
    fn MPI_Exscan or MPI_Exscan_c
    begun MPI_Iexscan or MPI_Iexscan_c
    kept MPI_Exscan_init or MPI_Exscan_init_c
    (
        sendbuf: ConstAddress, recvbuf: Address, count: N, datatype: MPI_Datatype, op: MPI_Op,
        comm: MPI_Comm,
    ) on comm {
        let comm = communicator(comm)?;
        one_group(&comm)?;
        // What the first rank names to receive into means nothing (MPI-5.0, section 6.11.2), unless
        // it is what that gives: then it fails as on the other ranks.
        let is_given = is_in_place(sendbuf.0) || std::ptr::eq(sendbuf.0, recvbuf.0);
        let is_idle = comm.inner.rank() == 0 && !is_given;
        let (from, into) = match is_idle {
            true => (plain(sendbuf.0, count, datatype)?, Elements::nothing()),
            false => operands(&comm, (sendbuf.0, recvbuf.0), (count, count), datatype)?,
        };
        let op = combination(op, datatype, &from)?;
        steps(comm, move |plan| plan.exscan(&op, &from, &into))
    }
}
