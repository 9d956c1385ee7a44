//! Attributes in Fortran: a value is an integer as wide as an address, and callbacks get all by
//! address. C's keys carry the program's subroutines as their state, and call them by a callback of
//! ours. By the older names values are default integers.
//!
//! The standard's attributes are numbers in Fortran, where C gets their places. So are the
//! program's that Fortran has set; those that C has set are addresses, also for Fortran.

use std::ffi::{c_int, c_void};
use std::sync::Arc;

use muster_mpi::error::SUCCESS;

use super::{give_code, load, store, subroutines};
use crate::abi::constants::*;
use crate::abi::types::*;
use crate::attribute::{self, Numbers};
use crate::object::Id;

/// A callback that copies: object, key, state, value, its copy, whether there is one, error code.
type Copy = unsafe extern "C" fn(
    *mut c_int,
    *mut c_int,
    *mut isize,
    *mut isize,
    *mut isize,
    *mut c_int,
    *mut c_int,
);

/// A callback that deletes: object, key, value, state, error code.
type Delete = unsafe extern "C" fn(*mut c_int, *mut c_int, *mut isize, *mut isize, *mut c_int);

/// What a key of Fortran's stands for. By an older name its callbacks take the lower half of what
/// they are given, which comes first in memory.
struct Callbacks {
    copy: Copy,
    delete: Delete,
    extra: isize,
    /// Whether values are default integers.
    is_old: bool,
}

impl Callbacks {
    /// The copy of a value, as wide as the callback writes. What an older one hands on as it is was
    /// copied as a whole, also where it is an address of C's.
    fn whole(&self, copy: isize, value: isize) -> isize {
        if self.is_old && copy != value { copy as c_int as isize } else { copy }
    }
}

/// Copies by the program's callback.
///
/// # Safety
/// The library calls it for a key of ours.
unsafe extern "C" fn copy(
    object: usize,
    key: c_int,
    state: *mut c_void,
    value: *mut c_void,
    place: *mut c_void,
    flag: *mut c_int,
) -> c_int {
    // SAFETY: the state of such a key is ours, and lives as long as the key; the callback gets
    // places of ours, and what it is has been the caller's promise.
    unsafe {
        let callbacks = &*state.cast::<Callbacks>();
        let (mut object, mut key, mut code) = (object as c_int, key, SUCCESS);
        let (given, mut extra) = (value as isize, callbacks.extra);
        let (mut value, mut copy) = (given, given);
        (callbacks.copy)(&mut object, &mut key, &mut extra, &mut value, &mut copy, flag, &mut code);
        place.cast::<isize>().write(callbacks.whole(copy, given));
        code
    }
}

/// Deletes by the program's callback.
///
/// # Safety
/// As of the one that copies.
unsafe extern "C" fn delete(
    object: usize,
    key: c_int,
    value: *mut c_void,
    state: *mut c_void,
) -> c_int {
    // SAFETY: as above.
    unsafe {
        let callbacks = &*state.cast::<Callbacks>();
        let (mut object, mut key, mut code) = (object as c_int, key, SUCCESS);
        let (mut value, mut extra) = (value as isize, callbacks.extra);
        (callbacks.delete)(&mut object, &mut key, &mut value, &mut extra, &mut code);
        code
    }
}

/// The state of a key.
///
/// # Safety
/// The places are callbacks as the standard has them.
unsafe fn state(
    copy: *mut c_void,
    delete: *mut c_void,
    extra: isize,
    is_old: bool,
) -> Arc<Callbacks> {
    // SAFETY: as the caller promises.
    let callbacks = unsafe {
        Callbacks {
            copy: std::mem::transmute::<*mut c_void, Copy>(copy),
            delete: std::mem::transmute::<*mut c_void, Delete>(delete),
            extra,
            is_old,
        }
    };
    Arc::new(callbacks)
}

/// What Fortran has of what C finds: of what is told by its place, what is there.
///
/// # Safety
/// A place that the library told.
unsafe fn number(id: Id, key: c_int, found: *mut c_void) -> isize {
    // SAFETY: as the caller promises.
    unsafe {
        match key {
            MPI_TAG_UB..=MPI_UNIVERSE_SIZE => load::<c_int>(found) as isize,
            MPI_WIN_DISP_UNIT | MPI_WIN_CREATE_FLAVOR | MPI_WIN_MODEL => {
                load::<c_int>(found) as isize
            }
            MPI_WIN_SIZE => load::<isize>(found),
            _ => attribute::number(id, key, found as usize),
        }
    }
}

/// What the values of subroutines are in Fortran.
const fn numbers<T>() -> Numbers {
    if size_of::<T>() < size_of::<isize>() { Numbers::Narrow } else { Numbers::Wide }
}

/// The subroutines of a kind of objects; `$value` is what its values are in Fortran.
macro_rules! of_objects {
    ($object:ident, $value:ty, $Copy:ident, $Remove:ident:
     $create:ident $pcreate:ident = $Create:ident $PCreate:ident,
     $free:ident $pfree:ident = $Free:ident $PFree:ident,
     $set:ident $pset:ident = $Set:ident $PSet:ident,
     $get:ident $pget:ident = $Get:ident $PGet:ident,
     $delete:ident $pdelete:ident = $Delete:ident $PDelete:ident,) => {
        subroutines! {
            /// Makes a key; C's callbacks differ in the names of their handles only.
            $create $pcreate = $Create $PCreate (copies, deletes, key, extra, ierror) |create| {
                let is_old = numbers::<$value>() == Numbers::Narrow;
                let state = state(copies, deletes, load::<$value>(extra) as isize, is_old);
                let copy = std::mem::transmute::<*const (), $Copy>(copy as *const ());
                let delete = std::mem::transmute::<*const (), $Remove>(delete as *const ());
                let place = Arc::as_ptr(&state).cast_mut().cast();
                let create = || create(Some(copy), Some(delete), key.cast(), place);
                let code = attribute::key_for_fortran(numbers::<$value>(), state, create);
                give_code(ierror, code);
            }

            /// Frees a key.
            $free $pfree = $Free $PFree (key, ierror) |free| {
                give_code(ierror, free(key.cast()));
            }

            /// Sets a value, which is never followed.
            $set $pset = $Set $PSet (object, key, value, ierror) |set| {
                let object = $object(load::<c_int>(object) as usize);
                let value = load::<$value>(value) as isize as usize;
                let value = std::ptr::without_provenance_mut(value);
                let set = || set(object, load(key), value);
                give_code(ierror, attribute::for_fortran(numbers::<$value>(), set));
            }

            /// A value; the standard's are told by places of ours.
            $get $pget = $Get $PGet (object, key, value, flag, ierror) |get| {
                let mut found: *mut c_void = std::ptr::null_mut();
                let (object, key) = ($object(load::<c_int>(object) as usize), load::<c_int>(key));
                let code = get(object, key, (&raw mut found).cast(), flag.cast());
                if code == SUCCESS && load::<c_int>(flag) != 0 {
                    store(value, number(object.into(), key, found) as $value);
                }
                give_code(ierror, code);
            }

            /// Deletes a value.
            $delete $pdelete = $Delete $PDelete (object, key, ierror) |delete| {
                let object = $object(load::<c_int>(object) as usize);
                give_code(ierror, delete(object, load(key)));
            }
        }
    };
}

of_objects! { MPI_Comm, isize, MPI_Comm_copy_attr_function, MPI_Comm_delete_attr_function:
    mpi_comm_create_keyval_ pmpi_comm_create_keyval_ =
        MPI_Comm_create_keyval PMPI_Comm_create_keyval,
    mpi_comm_free_keyval_ pmpi_comm_free_keyval_ = MPI_Comm_free_keyval PMPI_Comm_free_keyval,
    mpi_comm_set_attr_ pmpi_comm_set_attr_ = MPI_Comm_set_attr PMPI_Comm_set_attr,
    mpi_comm_get_attr_ pmpi_comm_get_attr_ = MPI_Comm_get_attr PMPI_Comm_get_attr,
    mpi_comm_delete_attr_ pmpi_comm_delete_attr_ = MPI_Comm_delete_attr PMPI_Comm_delete_attr,
}

of_objects! { MPI_Datatype, isize, MPI_Type_copy_attr_function, MPI_Type_delete_attr_function:
    mpi_type_create_keyval_ pmpi_type_create_keyval_ =
        MPI_Type_create_keyval PMPI_Type_create_keyval,
    mpi_type_free_keyval_ pmpi_type_free_keyval_ = MPI_Type_free_keyval PMPI_Type_free_keyval,
    mpi_type_set_attr_ pmpi_type_set_attr_ = MPI_Type_set_attr PMPI_Type_set_attr,
    mpi_type_get_attr_ pmpi_type_get_attr_ = MPI_Type_get_attr PMPI_Type_get_attr,
    mpi_type_delete_attr_ pmpi_type_delete_attr_ = MPI_Type_delete_attr PMPI_Type_delete_attr,
}

of_objects! { MPI_Win, isize, MPI_Win_copy_attr_function, MPI_Win_delete_attr_function:
    mpi_win_create_keyval_ pmpi_win_create_keyval_ = MPI_Win_create_keyval PMPI_Win_create_keyval,
    mpi_win_free_keyval_ pmpi_win_free_keyval_ = MPI_Win_free_keyval PMPI_Win_free_keyval,
    mpi_win_set_attr_ pmpi_win_set_attr_ = MPI_Win_set_attr PMPI_Win_set_attr,
    mpi_win_get_attr_ pmpi_win_get_attr_ = MPI_Win_get_attr PMPI_Win_get_attr,
    mpi_win_delete_attr_ pmpi_win_delete_attr_ = MPI_Win_delete_attr PMPI_Win_delete_attr,
}

of_objects! { MPI_Comm, c_int, MPI_Copy_function, MPI_Delete_function:
    mpi_keyval_create_ pmpi_keyval_create_ = MPI_Keyval_create PMPI_Keyval_create,
    mpi_keyval_free_ pmpi_keyval_free_ = MPI_Keyval_free PMPI_Keyval_free,
    mpi_attr_put_ pmpi_attr_put_ = MPI_Attr_put PMPI_Attr_put,
    mpi_attr_get_ pmpi_attr_get_ = MPI_Attr_get PMPI_Attr_get,
    mpi_attr_delete_ pmpi_attr_delete_ = MPI_Attr_delete PMPI_Attr_delete,
}

/// The standard's own callbacks, by all their names: one that copies nothing, one that copies the
/// value, one that does nothing when it is deleted.
macro_rules! callbacks {
    ($($value:ty: $null_copy:ident $dup:ident $null_delete:ident,)*) => {$(
        /// Copies nothing.
        ///
        /// # Safety
        /// As the standard demands.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $null_copy(
            _: *mut c_int, _: *mut c_int, _: *mut isize, _: *mut isize, _: *mut isize,
            flag: *mut c_void, ierror: *mut c_void,
        ) {
            // SAFETY: the places are the caller's promise.
            unsafe {
                store(flag, 0);
                store(ierror, SUCCESS);
            }
        }

        /// Copies the value.
        ///
        /// # Safety
        /// As the standard demands.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $dup(
            _: *mut c_int, _: *mut c_int, _: *mut isize, value: *mut c_void, copy: *mut c_void,
            flag: *mut c_void, ierror: *mut c_void,
        ) {
            // SAFETY: as above.
            unsafe {
                store(copy, load::<$value>(value));
                store(flag, 1);
                store(ierror, SUCCESS);
            }
        }

        /// Does nothing.
        ///
        /// # Safety
        /// As the standard demands.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $null_delete(
            _: *mut c_int, _: *mut c_int, _: *mut isize, _: *mut isize, ierror: *mut c_void,
        ) {
            // SAFETY: as above.
            unsafe { store(ierror, SUCCESS) }
        }
    )*};
}

callbacks! {
    isize: mpi_comm_null_copy_fn_ mpi_comm_dup_fn_ mpi_comm_null_delete_fn_,
    isize: mpi_type_null_copy_fn_ mpi_type_dup_fn_ mpi_type_null_delete_fn_,
    isize: mpi_win_null_copy_fn_ mpi_win_dup_fn_ mpi_win_null_delete_fn_,
    c_int: mpi_null_copy_fn_ mpi_dup_fn_ mpi_null_delete_fn_,
}
