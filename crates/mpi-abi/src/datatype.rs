//! Datatypes by their handles (MPI-5.0, chapter 5).

use muster_mpi::datatype::{Datatype, Predefined};
use muster_mpi::error::{Class, Error, Result};

use crate::abi::constants::*;
use crate::abi::types::*;
use crate::table::Table;

/// Those that the program made.
pub static DATATYPES: Table<Datatype> = Table::new(Class::Type, "a datatype");

/// The datatype of a handle.
///
/// # Errors
/// [`Class::Type`].
#[inline]
pub fn datatype(handle: MPI_Datatype) -> Result<Datatype> {
    if let Some(predefined) = Predefined::of_handle(handle.0) {
        return Ok(Datatype::of(predefined).clone());
    }
    if handle == MPI_DATATYPE_NULL {
        return Err(Error::new(Class::Type, "the datatype is MPI_DATATYPE_NULL"));
    }
    DATATYPES.get(handle.0).map(|datatype| (*datatype).clone())
}
