//! What a call says of its buffers: address, count and datatype.

use std::ffi::c_void;

use muster_mpi::buffer::Typed;
use muster_mpi::datatype::Datatype;
use muster_mpi::error::{About, Class, Error, Result};

use crate::abi::constants::{MPI_ANY_TAG, MPI_IN_PLACE};
use crate::abi::types::MPI_Datatype;
use crate::datatype::datatype;
use crate::export::Number;
use crate::place::Place;

/// Elements.
pub type Elements = Typed<Place>;

/// A count that is not negative.
///
/// # Errors
/// [`Class::Count`].
#[inline]
pub fn count(count: impl Number) -> Result<usize> {
    usize::try_from(count.large()).map_err(|_| {
        Error::new(Class::Count, format!("the count {count} is negative")).value(count.large())
    })
}

/// A datatype that messages may be of.
///
/// # Errors
/// [`Class::Type`].
#[inline(always)]
pub fn committed(handle: MPI_Datatype) -> Result<Datatype> {
    let datatype = datatype(handle)?;
    if !datatype.committed() {
        let what = "the datatype has not been committed (MPI_Type_commit)";
        return Err(Error::new(Class::Type, what).value(handle.0));
    }
    Ok(datatype)
}

/// Elements of the program's.
///
/// # Errors
/// [`Class::Count`], [`Class::Type`], and [`Class::Buffer`] for no address where some are to be.
#[inline(always)]
pub fn elements(
    address: *const c_void,
    number: impl Number,
    handle: MPI_Datatype,
) -> Result<Elements> {
    let (count, datatype) = (count(number)?, committed(handle)?);
    // A derived datatype may have addresses of its own (MPI_BOTTOM).
    if address.is_null() && count > 0 && datatype.predefined().is_some() {
        let what = format!("the buffer of {count} elements is null");
        return Err(Error::new(Class::Buffer, what).about(About::Address(0)));
    }
    Typed::new(Place::of(address), count, datatype)
}

/// Whether a buffer stands for the other one (`MPI_IN_PLACE`).
#[inline]
pub fn is_in_place(address: *const c_void) -> bool {
    address.addr() == MPI_IN_PLACE
}

/// A tag of a message.
///
/// # Errors
/// [`Class::Tag`].
#[inline]
pub fn tag(tag: i32) -> Result<i32> {
    if tag < 0 {
        return Err(Error::new(Class::Tag, format!("the tag {tag} is negative")).value(tag));
    }
    Ok(tag)
}

/// A tag that is asked for; none is any.
///
/// # Errors
/// [`Class::Tag`].
#[inline]
pub fn wanted_tag(wanted: i32) -> Result<Option<i32>> {
    if wanted == MPI_ANY_TAG { Ok(None) } else { tag(wanted).map(Some) }
}
