//! What this library takes for granted of Fortran compilers (MPI-5.0, section 20.4): how long the
//! default kinds are, and what `.true.` and `.false.` are in memory. It is built without one, so a
//! program may tell what its own compiler does, and is refused where that is something else.

use std::ffi::{c_int, c_void};

use muster_mpi::buffer::Memory;
use muster_mpi::datatype::Predefined;
use muster_mpi::error::{Class, Error, Result};

use crate::abi::types::*;
use crate::export::export;
use crate::info::{self, Info};
use crate::place::Place;
use crate::pointer::{Address, Out};

/// The kinds that each compiler has, and those of a given length that it may lack.
const DEFAULT: [&str; 4] = ["logical", "integer", "real", "double_precision"];
const LOGICALS: [&str; 5] = ["logical1", "logical2", "logical4", "logical8", "logical16"];
const INTEGERS: [&str; 5] = ["integer1", "integer2", "integer4", "integer8", "integer16"];
const FLOATS: [&str; 9] = [
    "real2",
    "real4",
    "real8",
    "real16",
    "complex4",
    "complex8",
    "complex16",
    "complex32",
    "double_complex",
];

/// The datatype of a kind.
fn datatype(kind: &str) -> Option<Predefined> {
    let name = format!("MPI_{}", kind.to_ascii_uppercase());
    Predefined::ALL.iter().copied().find(|it| it.name() == name)
}

/// All that is known of them.
fn kinds() -> Info {
    let mut kinds = Info::default();
    for kind in DEFAULT {
        let size = datatype(kind).map_or(0, Predefined::size);
        kinds.set(format!("mpi_{kind}_size"), size.to_string());
    }
    for kind in [&LOGICALS[..], &INTEGERS, &FLOATS].concat() {
        let is_known = datatype(kind).is_some();
        kinds.set(format!("mpi_{kind}_supported"), is_known.to_string());
    }
    kinds
}

/// What is true or false in a logical of such a length.
fn boolean(size: c_int, value: bool) -> Result<Vec<u8>> {
    let size = usize::try_from(size).ok().filter(|size| [1, 2, 4, 8, 16].contains(size));
    let size = size.ok_or_else(|| {
        Error::new(Class::Arg, "logicals have 1, 2, 4, 8 or 16 bytes, and this is none of them")
    })?;
    let one = u128::from(value).to_ne_bytes();
    let first = if cfg!(target_endian = "little") { 0 } else { one.len() - size };
    Ok(one[first..first + size].to_vec())
}

/// A logical of the program's.
fn logical(at: *mut c_void) -> Result<Place> {
    if at.is_null() {
        return Err(Error::new(Class::Arg, "the address of a logical is null"));
    }
    Ok(Place::of(at))
}

/// That it is what is taken for granted.
fn is_as(same: bool, what: &str) -> Result<()> {
    if same {
        return Ok(());
    }
    let what = format!("{what}, and this library has them set already");
    Err(Error::new(Class::Abi, what))
}

export! {
    /// The lengths of the default kinds, and which others there are.
    fn MPI_Abi_get_fortran_info(info: Out<MPI_Info>) {
        info.set(info::add(kinds()))
    }

    /// Says what the program's compiler has.
    fn MPI_Abi_set_fortran_info(info: MPI_Info) {
        let (told, known) = (info::infos(info)?, kinds());
        let differs = |(key, value): (&[u8], &[u8])| known.get(key).is_some_and(|it| it != value);
        let other = told.iter().find(|pair| differs(*pair)).map(|(key, _)| key);
        let name = String::from_utf8_lossy(other.unwrap_or_default());
        is_as(other.is_none(), &format!("'{name}' is other than known"))
    }

    /// What is true and what is false.
    fn MPI_Abi_get_fortran_booleans(
        logical_size: c_int, logical_true: Address, logical_false: Address, is_set: Out<c_int>,
    ) {
        for (place, value) in [(logical_true, true), (logical_false, false)] {
            let bytes = boolean(logical_size, value)?;
            logical(place.0)?.bytes_mut(0, bytes.len()).copy_from_slice(&bytes);
        }
        is_set.set(1)
    }

    /// Says what they are in the program's compiler.
    fn MPI_Abi_set_fortran_booleans(
        logical_size: c_int, logical_true: Address, logical_false: Address,
    ) {
        for (place, value) in [(logical_true, true), (logical_false, false)] {
            let bytes = boolean(logical_size, value)?;
            let is_same = logical(place.0)?.bytes(0, bytes.len()) == bytes;
            is_as(is_same, "the logicals are other than 1 and 0")?;
        }
        Ok(())
    }
}
