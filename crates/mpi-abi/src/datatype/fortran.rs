//! Datatypes that are selected by what they can hold (MPI-5.0, sections 19.1.5 and 5.1.13). The
//! same selection has the same handle each time, and nobody frees it.

use std::ffi::c_int;
use std::sync::{Mutex, PoisonError};

use muster_mpi::datatype::{Combiner, Datatype, Predefined, TypeClass};
use muster_mpi::error::{Class, Error, Result};

use super::{datatype, insert};
use crate::abi::constants::*;
use crate::abi::types::*;
use crate::export::export;
use crate::pointer::Out;

/// What was selected, and by which call: combiner, precision, range.
struct Selected {
    by: (Combiner, c_int, c_int),
    datatype: Datatype,
    handle: usize,
}

static SELECTED: Mutex<Vec<Selected>> = Mutex::new(Vec::new());

/// The handle of a selection.
fn select(
    by: (Combiner, c_int, c_int),
    place: Out<MPI_Datatype>,
    make: impl FnOnce() -> Result<Datatype>,
) -> Result<()> {
    let mut selected = SELECTED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = selected.iter().find(|known| known.by == by) {
        return place.set(MPI_Datatype(known.handle));
    }
    let datatype = make()?;
    let handle = insert(datatype.clone());
    selected.push(Selected { by, datatype, handle: handle.0 });
    place.set(handle)
}

/// The handle of a datatype that was selected.
pub(super) fn handle(datatype: &Datatype) -> Option<usize> {
    let selected = SELECTED.lock().unwrap_or_else(PoisonError::into_inner);
    selected.iter().find(|known| known.datatype == *datatype).map(|known| known.handle)
}

/// Precision and range, of which one must be given.
fn open(precision: c_int, range: c_int) -> Result<(Option<c_int>, Option<c_int>)> {
    if precision == MPI_UNDEFINED && range == MPI_UNDEFINED {
        let what = "precision and range are both MPI_UNDEFINED";
        return Err(Error::new(Class::Arg, what).of("p"));
    }
    let given = |number| Some(number).filter(|number| *number != MPI_UNDEFINED);
    Ok((given(precision), given(range)))
}

/// The class of a number of the standard's.
fn class(number: c_int) -> Option<TypeClass> {
    match number {
        MPIX_TYPECLASS_LOGICAL => Some(TypeClass::Logical),
        MPI_TYPECLASS_INTEGER => Some(TypeClass::Integer),
        MPI_TYPECLASS_REAL => Some(TypeClass::Real),
        MPI_TYPECLASS_COMPLEX => Some(TypeClass::Complex),
        _ => None,
    }
}

export! {
    /// The integer of Fortran with so many digits.
    fn MPI_Type_create_f90_integer(range: c_int, new: Out<MPI_Datatype>) {
        let by = (Combiner::F90Integer, MPI_UNDEFINED, range);
        select(by, new, || Datatype::f90_integer(range))
    }

    /// The real number of Fortran with so many digits and so large an exponent.
    fn MPI_Type_create_f90_real(precision: c_int, range: c_int, new: Out<MPI_Datatype>) {
        let (digits, exponent) = open(precision, range)?;
        let by = (Combiner::F90Real, precision, range);
        select(by, new, || Datatype::f90_real(digits, exponent))
    }

    /// The complex number of Fortran with so many digits and so large an exponent.
    fn MPI_Type_create_f90_complex(precision: c_int, range: c_int, new: Out<MPI_Datatype>) {
        let (digits, exponent) = open(precision, range)?;
        let by = (Combiner::F90Complex, precision, range);
        select(by, new, || Datatype::f90_complex(digits, exponent))
    }

    /// The datatype of a class with so many bytes.
    fn MPI_Type_match_size(number: c_int, size: c_int, found: Out<MPI_Datatype>) {
        let (class, bytes) = (class(number), usize::try_from(size).ok());
        let is_class = class.is_some();
        let matching = class.zip(bytes);
        let matching = matching.and_then(|(class, size)| Predefined::of_size(class, size));
        let matching = matching.ok_or_else(|| {
            let what = format!("there is no datatype of class {number} with {size} bytes");
            Error::new(Class::Arg, what).of(if is_class { "size" } else { "typeclass" })
        })?;
        found.set(MPI_Datatype(matching.handle()))
    }

    /// The pair of a value and an index, if the standard has it.
    fn MPI_Type_get_value_index(
        value: MPI_Datatype,
        index: MPI_Datatype,
        pair: Out<MPI_Datatype>,
    ) {
        let both = datatype(value)?.predefined().zip(datatype(index)?.predefined());
        let found = both.and_then(|(value, index)| Predefined::pair(value, index));
        pair.set(found.map_or(MPI_DATATYPE_NULL, |found| MPI_Datatype(found.handle())))
    }
}
