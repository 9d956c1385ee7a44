//! What statuses say (MPI-5.0, sections 3.2.5, 5.1.11 and 13.3).

use std::ffi::c_int;

use muster_mpi::error::{Class, Error, Result};

use crate::abi::types::*;
use crate::array::Array;
use crate::buffer::count;
use crate::datatype::datatype;
use crate::export::{Number, both, export};
use crate::pointer::Out;
use crate::request::{bytes_of, is_cancelled, set_bytes, set_cancelled};

/// A status that the program has.
type Status<'a> = Array<'a, MPI_Status>;

/// How many basic elements a message has.
fn elements<N: Number>(status: Status<'_>, handle: MPI_Datatype) -> Result<N> {
    let bytes = bytes_of(&status.slice(1)?[0]) as usize;
    Ok(N::fitting(datatype(handle)?.elements_in(bytes)))
}

/// Says how many it has.
fn set_elements(status: Out<MPI_Status>, handle: MPI_Datatype, number: impl Number) -> Result<()> {
    let elements = count(number)?;
    let bytes = datatype(handle)?.bytes_of(elements).ok_or_else(|| {
        let what = format!("no message can have {elements} elements of this datatype");
        Error::new(Class::Count, what)
    })?;
    change(status, |status| set_bytes(status, bytes as u64))
}

/// Changes a status.
fn change(place: Out<MPI_Status>, change: impl FnOnce(&mut MPI_Status)) -> Result<()> {
    let mut status = place.get()?;
    change(&mut status);
    place.set(status)
}

both! {
    /// How many of a datatype a message is.
    fn MPI_Get_count or MPI_Get_count_c(
        status: Array<MPI_Status>, handle: MPI_Datatype, number: Out<N>,
    ) {
        let bytes = bytes_of(&status.slice(1)?[0]) as usize;
        number.set(N::fitting(datatype(handle)?.count_in(bytes)))
    }

    /// How many basic elements a message is.
    fn MPI_Get_elements or MPI_Get_elements_c(
        status: Array<MPI_Status>, handle: MPI_Datatype, number: Out<N>,
    ) {
        number.set(elements(status, handle)?)
    }

    /// Says how many basic elements a message is.
    fn MPI_Status_set_elements or MPI_Status_set_elements_c(
        status: Out<MPI_Status>, handle: MPI_Datatype, number: N,
    ) {
        set_elements(status, handle, number)
    }
}

export! {
    /// How many basic elements a message is.
    fn MPI_Get_elements_x(
        status: Array<MPI_Status>, handle: MPI_Datatype, number: Out<MPI_Count>,
    ) {
        number.set(elements(status, handle)?)
    }

    /// Says how many basic elements a message is.
    fn MPI_Status_set_elements_x(
        status: Out<MPI_Status>, handle: MPI_Datatype, number: MPI_Count,
    ) {
        set_elements(status, handle, number)
    }

    /// Whether an operation was cancelled.
    fn MPI_Test_cancelled(status: Array<MPI_Status>, flag: Out<c_int>) {
        flag.set(is_cancelled(&status.slice(1)?[0]).into())
    }

    /// Says whether it was.
    fn MPI_Status_set_cancelled(status: Out<MPI_Status>, flag: c_int) {
        change(status, |status| set_cancelled(status, flag != 0))
    }

    /// The sender.
    fn MPI_Status_get_source(status: Array<MPI_Status>, source: Out<c_int>) {
        source.set(status.slice(1)?[0].MPI_SOURCE)
    }

    /// Says who it was.
    fn MPI_Status_set_source(status: Out<MPI_Status>, source: c_int) {
        change(status, |status| status.MPI_SOURCE = source)
    }

    /// The tag.
    fn MPI_Status_get_tag(status: Array<MPI_Status>, tag: Out<c_int>) {
        tag.set(status.slice(1)?[0].MPI_TAG)
    }

    /// Says which it was.
    fn MPI_Status_set_tag(status: Out<MPI_Status>, tag: c_int) {
        change(status, |status| status.MPI_TAG = tag)
    }

    /// What went wrong.
    fn MPI_Status_get_error(status: Array<MPI_Status>, error: Out<c_int>) {
        error.set(status.slice(1)?[0].MPI_ERROR)
    }

    /// Says what it was.
    fn MPI_Status_set_error(status: Out<MPI_Status>, error: c_int) {
        change(status, |status| status.MPI_ERROR = error)
    }
}
