//! Datatypes by their handles (MPI-5.0, chapter 5).

mod constructor;
mod contents;
mod fortran;
mod size;

use muster_mpi::datatype::Datatype;
use muster_mpi::error::{Class, Error, Result};

use crate::abi::constants::*;
use crate::abi::types::*;
use crate::export::{Number, export};
use crate::object;
use crate::pointer::Out;
use crate::table::Table;

/// Those that the program made.
static DATATYPES: Table<Datatype> = Table::new(Class::Type, "a datatype");

/// The datatype of a handle.
///
/// # Errors
/// [`Class::Type`].
#[inline(always)]
pub fn datatype(handle: MPI_Datatype) -> Result<Datatype> {
    if let Some(predefined) = Datatype::of_handle(handle.0) {
        return Ok(predefined.clone());
    }
    if handle == MPI_DATATYPE_NULL {
        let what = "the datatype is MPI_DATATYPE_NULL";
        return Err(Error::new(Class::Type, what).value(handle.0));
    }
    DATATYPES.get(handle.0).map(|datatype| (*datatype).clone())
}

/// Gives the program a new datatype, which a call with counts `N` has made.
fn give<N: Number>(place: Out<MPI_Datatype>, made: Datatype) -> Result<()> {
    let made = if N::IS_LARGE { made.by_large_count() } else { made };
    place.set(insert(made))
}

/// A handle for the program of a datatype that the library has: its own if it is predefined.
pub fn handle(datatype: &Datatype) -> MPI_Datatype {
    let own = datatype.predefined().map(|it| it.handle());
    let own = own.or_else(|| fortran::handle(datatype));
    own.map_or_else(|| insert(datatype.clone()), MPI_Datatype)
}

/// A handle by which a function of the program learns of a datatype while it is called: the one
/// that the program knows it by, or one for this call only where that was freed.
pub struct Lent {
    /// The handle.
    pub handle: MPI_Datatype,
    is_own: bool,
}

impl Lent {
    /// The handle of a datatype that the program knew by another.
    pub fn of(wanted: &Datatype, known_by: MPI_Datatype) -> Lent {
        match datatype(known_by) {
            Ok(held) if held == *wanted => Lent { handle: known_by, is_own: false },
            _ => Lent { handle: insert(wanted.clone()), is_own: true },
        }
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        if self.is_own {
            // The function may have freed it itself.
            let _ = object::remove(self.handle.into()).and(DATATYPES.remove(self.handle.0));
        }
    }
}

/// Gives a datatype a handle.
fn insert(made: Datatype) -> MPI_Datatype {
    let handle = MPI_Datatype(DATATYPES.insert(made));
    object::add(handle.into(), MPI_ERRHANDLER_NULL);
    handle
}

export! {
    /// From now on messages may be of it.
    fn MPI_Type_commit(handle: Out<MPI_Datatype>) {
        datatype(handle.get()?)?.commit();
        Ok(())
    }

    /// Gives it back. What is under way, and what was made of it, has it still.
    fn MPI_Type_free(handle: Out<MPI_Datatype>) {
        let own = handle.get()?;
        let freed = datatype(own)?;
        if freed.predefined().is_some() || fortran::handle(&freed).is_some() {
            let name = object::name(own.into())?;
            let what = format!("{name} ({:#x}) is predefined and cannot be freed", own.0);
            return Err(Error::new(Class::Type, what));
        }
        object::remove(own.into())?;
        DATATYPES.remove(own.0)?;
        handle.set(MPI_DATATYPE_NULL)
    }

    /// A copy, with the attributes that are copied.
    fn MPI_Type_dup(handle: MPI_Datatype, copy: Out<MPI_Datatype>) {
        // What a copy that fails leaves there.
        copy.set(MPI_DATATYPE_NULL)?;
        let made = MPI_Datatype(DATATYPES.insert(datatype(handle)?.duplicate()));
        if let Err(error) = object::duplicate(handle.into(), made.into()) {
            object::remove(made.into())?;
            DATATYPES.remove(made.0)?;
            return Err(error);
        }
        copy.set(made)
    }
}
