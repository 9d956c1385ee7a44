//! How large datatypes are, and where their data lie (MPI-5.0, sections 5.1.5 to 5.1.8).

use super::datatype;
use crate::abi::types::*;
use crate::export::{Number, both, export};
use crate::pointer::Out;

both! {
    /// Bytes of data.
    fn MPI_Type_size or MPI_Type_size_c(handle: MPI_Datatype, size: Out<N>) {
        size.set(N::fitting(Some(datatype(handle)?.size())))
    }

    /// Lower bound and extent.
    fn MPI_Type_get_extent or MPI_Type_get_extent_c(
        handle: MPI_Datatype, lower: Out<A>, extent: Out<A>,
    ) {
        let datatype = datatype(handle)?;
        lower.set(datatype.lower_bound() as A)?;
        extent.set(datatype.extent() as A)
    }

    /// The first byte of data, and how far they reach.
    fn MPI_Type_get_true_extent or MPI_Type_get_true_extent_c(
        handle: MPI_Datatype, lower: Out<A>, extent: Out<A>,
    ) {
        let datatype = datatype(handle)?;
        lower.set(datatype.true_lower_bound() as A)?;
        extent.set(datatype.true_extent() as A)
    }
}

export! {
    /// Bytes of data.
    fn MPI_Type_size_x(handle: MPI_Datatype, size: Out<MPI_Count>) {
        size.set(MPI_Count::fitting(Some(datatype(handle)?.size())))
    }

    /// Lower bound and extent.
    fn MPI_Type_get_extent_x(
        handle: MPI_Datatype, lower: Out<MPI_Count>, extent: Out<MPI_Count>,
    ) {
        let datatype = datatype(handle)?;
        lower.set(datatype.lower_bound() as MPI_Count)?;
        extent.set(datatype.extent() as MPI_Count)
    }

    /// The first byte of data, and how far they reach.
    fn MPI_Type_get_true_extent_x(
        handle: MPI_Datatype, lower: Out<MPI_Count>, extent: Out<MPI_Count>,
    ) {
        let datatype = datatype(handle)?;
        lower.set(datatype.true_lower_bound() as MPI_Count)?;
        extent.set(datatype.true_extent() as MPI_Count)
    }
}
