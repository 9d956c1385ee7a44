//! Packing (MPI-5.0, section 5.2). Packed data are the bytes of the elements, in their order.

use muster_message::Buffer;
use muster_mpi::buffer::{Memory, Typed};
use muster_mpi::datatype::{Datatype, Predefined};
use muster_mpi::error::{About, Class, Error, Result};

use crate::abi::types::*;
use crate::buffer::{Elements, count, elements};
use crate::communicator::communicator;
use crate::datatype;
use crate::export::{Number, both};
use crate::place::Place;
use crate::pointer::{Address, ConstAddress, Out, Text};

/// What is packed, from a position on: `need` bytes of `size`, and the position after them.
fn packed(
    address: *const std::ffi::c_void,
    size: impl Number,
    position: impl Number,
    need: usize,
) -> Result<(Elements, usize)> {
    let size = count(size)?;
    let start = usize::try_from(position.large()).ok().filter(|start| *start <= size);
    let start = start.ok_or_else(|| {
        let what = format!("the position {position} is not within the {size} packed bytes");
        Error::new(Class::Arg, what).of("position")
    })?;
    let end = start + need;
    if end > size {
        let left = size - start;
        let what = format!("{need} bytes are packed, and from position {start} on {left} are left");
        return Err(Error::new(Class::Truncate, what).of("size"));
    }
    if address.is_null() && need > 0 {
        return Err(Error::new(
            Class::Buffer,
            format!("the buffer of {size} packed bytes is null"),
        )
        .about(About::Address(0)));
    }
    let place = Place::of(address).offset(start as isize);
    Ok((Typed::new(place, need, Datatype::of(Predefined::Packed).clone())?, end))
}

/// A position that a program can be told.
fn position<N: Number>(end: usize) -> Result<N> {
    let end = end as i64;
    N::try_from(end).map_err(|_| {
        let what = format!("the position {end} is too large for this function");
        Error::new(Class::Arg, what).of("position")
    })
}

both! {
    /// Packs elements behind others.
    fn MPI_Pack or MPI_Pack_c(
        from: ConstAddress, number: N, datatype: MPI_Datatype, into: Address, size: N,
        place: Out<N>, comm: MPI_Comm,
    ) on comm {
        communicator(comm)?;
        let from = elements(from.0, number, datatype)?;
        let (into, end) = packed(into.0, size, place.get()?, Buffer::size(&from))?;
        from.copy_to(into)?;
        place.set(position(end)?)
    }

    /// Unpacks elements, and goes on to what follows.
    fn MPI_Unpack or MPI_Unpack_c(
        from: ConstAddress, size: N, place: Out<N>, into: Address, number: N,
        datatype: MPI_Datatype, comm: MPI_Comm,
    ) on comm {
        communicator(comm)?;
        let into = elements(into.0, number, datatype)?;
        let (from, end) = packed(from.0, size, place.get()?, Buffer::size(&into))?;
        from.copy_to(into)?;
        place.set(position(end)?)
    }

    /// How many bytes elements are, packed.
    fn MPI_Pack_size or MPI_Pack_size_c(
        number: N, datatype: MPI_Datatype, comm: MPI_Comm, size: Out<N>,
    ) on comm {
        communicator(comm)?;
        size.set(N::fitting(Some(datatype::datatype(datatype)?.packed_size(count(number)?)?)))
    }
}

/// That a representation is the one that there is.
fn representation(name: Text<'_>) -> Result<()> {
    let name = name.bytes()?;
    if name == b"external32" {
        return Ok(());
    }
    let name = String::from_utf8_lossy(name);
    let what = format!("data are packed as \"external32\", and not as \"{name}\"");
    Err(Error::new(Class::UnsupportedDatarep, what))
}

both! {
    /// Packs elements as all machines understand them.
    fn MPI_Pack_external or MPI_Pack_external_c(
        name: Text, from: ConstAddress, number: N, datatype: MPI_Datatype, into: Address, size: A,
        place: Out<A>,
    ) {
        representation(name)?;
        let from = elements(from.0, number, datatype)?;
        let need = from.datatype().external_size(from.count())?;
        let (mut into, end) = packed(into.0, size, place.get()?, need)?;
        let mut bytes = vec![0; need];
        from.datatype().pack_external(from.count(), from.memory(), &mut bytes)?;
        into.write(0, &bytes);
        place.set(position(end)?)
    }

    /// Unpacks elements that were packed so.
    fn MPI_Unpack_external or MPI_Unpack_external_c(
        name: Text, from: ConstAddress, size: A, place: Out<A>, into: Address, number: N,
        datatype: MPI_Datatype,
    ) {
        representation(name)?;
        let into = elements(into.0, number, datatype)?;
        let need = into.datatype().external_size(into.count())?;
        let (mut from, end) = packed(from.0, size, place.get()?, need)?;
        let mut bytes = vec![0; need];
        from.read(0, &mut bytes);
        into.datatype().unpack_external(into.count(), &mut into.memory().clone(), &bytes)?;
        place.set(position(end)?)
    }

    /// How many bytes elements are, packed so.
    fn MPI_Pack_external_size or MPI_Pack_external_size_c(
        name: Text, number: N, datatype: MPI_Datatype, size: Out<A>,
    ) {
        representation(name)?;
        size.set(A::fitting(Some(datatype::datatype(datatype)?.external_size(count(number)?)?)))
    }
}
