//! The constructors of datatypes (MPI-5.0, section 5.1.2 to 5.1.4).

use std::ffi::c_int;

use muster_mpi::datatype::{DEFAULT_ARGUMENT, Datatype, Distributed, Distribution, Order, Slice};
use muster_mpi::error::{Class, Error, Result};

use super::{datatype, give};
use crate::abi::constants::*;
use crate::abi::types::*;
use crate::array::Array;
use crate::buffer::count;
use crate::export::{Number, both};
use crate::pointer::Out;

/// Counts, as large ones.
fn counts<N: Number>(list: Array<'_, N>, length: usize) -> Result<Vec<i64>> {
    Ok(list.slice(length)?.iter().map(|number| number.large()).collect())
}

/// Addresses.
fn addresses<A: Number>(list: Array<'_, A>, length: usize) -> Result<Vec<isize>> {
    Ok(list.slice(length)?.iter().map(|at| at.large() as isize).collect())
}

/// How an array lies in memory.
fn order(number: c_int) -> Result<Order> {
    match number {
        MPI_ORDER_C => Ok(Order::C),
        MPI_ORDER_FORTRAN => Ok(Order::Fortran),
        _ => {
            let what = format!("{number} is neither MPI_ORDER_C nor MPI_ORDER_FORTRAN");
            Err(Error::new(Class::Arg, what).of("order"))
        }
    }
}

/// How a dimension is distributed.
fn distribution(number: c_int) -> Result<Distribution> {
    match number {
        MPI_DISTRIBUTE_NONE => Ok(Distribution::None),
        MPI_DISTRIBUTE_BLOCK => Ok(Distribution::Block),
        MPI_DISTRIBUTE_CYCLIC => Ok(Distribution::Cyclic),
        _ => {
            let what = format!("{number} is no distribution (MPI_DISTRIBUTE_...)");
            Err(Error::new(Class::Arg, what).of("array_of_distribs"))
        }
    }
}

/// How many dimensions an array has.
fn dimensions(number: c_int) -> Result<usize> {
    usize::try_from(number).ok().filter(|number| *number > 0).ok_or_else(|| {
        let what = format!("an array cannot have {number} dimensions");
        Error::new(Class::Arg, what).of("ndims")
    })
}

both! {
    /// Copies one after the other.
    fn MPI_Type_contiguous or MPI_Type_contiguous_c(
        number: N, of: MPI_Datatype, new: Out<MPI_Datatype>,
    ) {
        give::<N>(new, Datatype::contiguous(number.large(), &datatype(of)?)?)
    }

    /// Blocks at a stride in extents.
    fn MPI_Type_vector or MPI_Type_vector_c(
        number: N, length: N, stride: N, of: MPI_Datatype, new: Out<MPI_Datatype>,
    ) {
        let (number, length, stride) = (number.large(), length.large(), stride.large());
        give::<N>(new, Datatype::vector(number, length, stride, &datatype(of)?)?)
    }

    /// Blocks at a stride in bytes.
    fn MPI_Type_create_hvector or MPI_Type_create_hvector_c(
        number: N, length: N, stride: A, of: MPI_Datatype, new: Out<MPI_Datatype>,
    ) {
        let (number, length, stride) = (number.large(), length.large(), stride.large() as isize);
        give::<N>(new, Datatype::hvector(number, length, stride, &datatype(of)?)?)
    }

    /// Blocks at displacements in extents.
    fn MPI_Type_indexed or MPI_Type_indexed_c(
        number: N, lengths: Array<N>, displacements: Array<N>, of: MPI_Datatype,
        new: Out<MPI_Datatype>,
    ) {
        let number = count(number)?;
        let (lengths, at) = (counts(lengths, number)?, counts(displacements, number)?);
        give::<N>(new, Datatype::indexed(&lengths, &at, &datatype(of)?)?)
    }

    /// Blocks at displacements in bytes.
    fn MPI_Type_create_hindexed or MPI_Type_create_hindexed_c(
        number: N, lengths: Array<N>, displacements: Array<A>, of: MPI_Datatype,
        new: Out<MPI_Datatype>,
    ) {
        let number = count(number)?;
        let (lengths, at) = (counts(lengths, number)?, addresses(displacements, number)?);
        give::<N>(new, Datatype::hindexed(&lengths, &at, &datatype(of)?)?)
    }

    /// Blocks of one length at displacements in extents.
    fn MPI_Type_create_indexed_block or MPI_Type_create_indexed_block_c(
        number: N, length: N, displacements: Array<N>, of: MPI_Datatype, new: Out<MPI_Datatype>,
    ) {
        let at = counts(displacements, count(number)?)?;
        give::<N>(new, Datatype::indexed_block(length.large(), &at, &datatype(of)?)?)
    }

    /// Blocks of one length at displacements in bytes.
    fn MPI_Type_create_hindexed_block or MPI_Type_create_hindexed_block_c(
        number: N, length: N, displacements: Array<A>, of: MPI_Datatype, new: Out<MPI_Datatype>,
    ) {
        let at = addresses(displacements, count(number)?)?;
        give::<N>(new, Datatype::hindexed_block(length.large(), &at, &datatype(of)?)?)
    }

    /// Blocks of any datatypes at displacements in bytes.
    fn MPI_Type_create_struct or MPI_Type_create_struct_c(
        number: N, lengths: Array<N>, displacements: Array<A>, of: Array<MPI_Datatype>,
        new: Out<MPI_Datatype>,
    ) {
        let number = count(number)?;
        let (lengths, at) = (counts(lengths, number)?, addresses(displacements, number)?);
        let all = of.slice(number)?.iter().enumerate();
        let within = |at| move |error: Error| error.within(of.address(), at);
        let of = all.map(|(at, handle)| datatype(*handle).map_err(within(at)));
        give::<N>(new, Datatype::structure(&lengths, &at, &of.collect::<Result<Vec<_>>>()?)?)
    }

    /// The same data with other bounds.
    fn MPI_Type_create_resized or MPI_Type_create_resized_c(
        of: MPI_Datatype, lower: A, extent: A, new: Out<MPI_Datatype>,
    ) {
        let (lower, extent) = (lower.large() as isize, extent.large() as isize);
        give::<N>(new, Datatype::resized(&datatype(of)?, lower, extent)?)
    }

    /// Part of an array.
    fn MPI_Type_create_subarray or MPI_Type_create_subarray_c(
        number: c_int, sizes: Array<N>, subsizes: Array<N>, starts: Array<N>, order: c_int,
        of: MPI_Datatype, new: Out<MPI_Datatype>,
    ) {
        let number = dimensions(number)?;
        let (sizes, subsizes) = (counts(sizes, number)?, counts(subsizes, number)?);
        let starts = counts(starts, number)?;
        let slice = |at| Slice { size: sizes[at], subsize: subsizes[at], start: starts[at] };
        let slices: Vec<Slice> = (0..number).map(slice).collect();
        let order = super::order(order)?;
        give::<N>(new, Datatype::subarray(&slices, order, &datatype(of)?)?)
    }

    /// What one process has of an array that is distributed over a grid.
    fn MPI_Type_create_darray or MPI_Type_create_darray_c(
        size: c_int, rank: c_int, number: c_int, sizes: Array<N>, distributions: Array<c_int>,
        arguments: Array<c_int>, processes: Array<c_int>, order: c_int, of: MPI_Datatype,
        new: Out<MPI_Datatype>,
    ) {
        let number = dimensions(number)?;
        let sizes = counts(sizes, number)?;
        let (kinds, arguments) = (distributions.slice(number)?, arguments.slice(number)?);
        let processes = processes.slice(number)?;
        let distributed = |at| {
            Ok(Distributed {
                size: sizes[at],
                distribution: distribution(kinds[at])?,
                argument: Some(arguments[at]).filter(|argument| *argument != DEFAULT_ARGUMENT),
                processes: processes[at],
            })
        };
        let all = (0..number).map(distributed).collect::<Result<Vec<_>>>()?;
        let order = super::order(order)?;
        give::<N>(new, Datatype::darray((size, rank), &all, order, &datatype(of)?)?)
    }
}
