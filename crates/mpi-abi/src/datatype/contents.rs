//! How datatypes were made (MPI-5.0, section 5.1.13).

use std::ffi::c_int;

use muster_mpi::datatype::{Contents, Datatype, Envelope};
use muster_mpi::error::{Class, Error, Result};

use super::{datatype, fortran, insert};
use crate::abi::types::*;
use crate::array::OutArray;
use crate::buffer::count;
use crate::export::{Number, export};
use crate::pointer::Out;

/// A datatype's handle: a new one, where the program may free it.
fn handle(of: Datatype) -> MPI_Datatype {
    let known = of.predefined().map(|predefined| predefined.handle());
    let known = known.or_else(|| fortran::handle(&of));
    known.map_or_else(|| insert(of), MPI_Datatype)
}

/// Writes a list into an array that has room for so many.
fn fill<T: Copy>(
    (what, most): (&str, &'static str),
    list: Vec<T>,
    room: impl Number,
    array: OutArray<'_, T>,
) -> Result<()> {
    let (length, room) = (list.len(), count(room)?);
    if length > room {
        let what = format!("there is room for {room} {what}, and the datatype has {length}");
        return Err(Error::new(Class::Arg, what).of(most));
    }
    array.slice(length)?.copy_from_slice(&list);
    Ok(())
}

/// What a call without large counts can say.
fn small(large_counts: usize) -> Result<()> {
    if large_counts == 0 {
        return Ok(());
    }
    let what = format!(
        "the datatype was made with {large_counts} large counts, which only the function that \
         ends in _c tells"
    );
    Err(Error::new(Class::Type, what))
}

export! {
    /// How many arguments it was made of.
    fn MPI_Type_get_envelope(
        handle: MPI_Datatype, integers: Out<c_int>, addresses: Out<c_int>, datatypes: Out<c_int>,
        combiner: Out<c_int>,
    ) {
        let envelope: Envelope = datatype(handle)?.envelope();
        small(envelope.large_counts)?;
        integers.set(c_int::fitting(Some(envelope.integers)))?;
        addresses.set(c_int::fitting(Some(envelope.addresses)))?;
        datatypes.set(c_int::fitting(Some(envelope.datatypes)))?;
        combiner.set(envelope.combiner as c_int)
    }

    /// The same, with large counts.
    fn MPI_Type_get_envelope_c(
        handle: MPI_Datatype, integers: Out<MPI_Count>, addresses: Out<MPI_Count>,
        large_counts: Out<MPI_Count>, datatypes: Out<MPI_Count>, combiner: Out<c_int>,
    ) {
        let envelope: Envelope = datatype(handle)?.envelope();
        integers.set(MPI_Count::fitting(Some(envelope.integers)))?;
        addresses.set(MPI_Count::fitting(Some(envelope.addresses)))?;
        large_counts.set(MPI_Count::fitting(Some(envelope.large_counts)))?;
        datatypes.set(MPI_Count::fitting(Some(envelope.datatypes)))?;
        combiner.set(envelope.combiner as c_int)
    }

    /// The arguments.
    fn MPI_Type_get_contents(
        own: MPI_Datatype, most_integers: c_int, most_addresses: c_int, most_datatypes: c_int,
        integers: OutArray<c_int>, addresses: OutArray<MPI_Aint>, datatypes: OutArray<MPI_Datatype>,
    ) {
        let contents: Contents = datatype(own)?.contents()?;
        small(contents.large_counts.len())?;
        fill(("integers", "max_integers"), contents.integers, most_integers, integers)?;
        fill(("addresses", "max_addresses"), contents.addresses, most_addresses, addresses)?;
        let handles = contents.datatypes.into_iter().map(handle).collect();
        fill(("datatypes", "max_datatypes"), handles, most_datatypes, datatypes)
    }

    /// The same, with large counts.
    fn MPI_Type_get_contents_c(
        own: MPI_Datatype, most_integers: MPI_Count, most_addresses: MPI_Count,
        most_large_counts: MPI_Count, most_datatypes: MPI_Count, integers: OutArray<c_int>,
        addresses: OutArray<MPI_Aint>, large_counts: OutArray<MPI_Count>,
        datatypes: OutArray<MPI_Datatype>,
    ) {
        let contents: Contents = datatype(own)?.contents()?;
        fill(("integers", "max_integers"), contents.integers, most_integers, integers)?;
        fill(("addresses", "max_addresses"), contents.addresses, most_addresses, addresses)?;
        let large = ("large counts", "max_large_counts");
        fill(large, contents.large_counts, most_large_counts, large_counts)?;
        let handles = contents.datatypes.into_iter().map(handle).collect();
        fill(("datatypes", "max_datatypes"), handles, most_datatypes, datatypes)
    }
}
