//! Names that MPI-3.0 has removed and older programs in Fortran call, each over what took its
//! place: addresses are default integers there, which hold as much as they can. And the names that
//! this library answers with an error, as it does in C.

use std::ffi::{c_int, c_void};
use std::ptr::{null, null_mut};

use muster_mpi::error::SUCCESS;

use super::{address, give_code, handles, load, store, subroutines};
use crate::abi::constants::*;
use crate::abi::types::*;

/// Displacements of older calls as wide as those of newer ones.
///
/// # Safety
/// So many are there.
unsafe fn wide(place: *mut c_void, count: c_int) -> Vec<MPI_Aint> {
    let count = usize::try_from(count).unwrap_or(0);
    // SAFETY: as the caller promises.
    (0..count).map(|at| unsafe { place.cast::<c_int>().add(at).read() } as MPI_Aint).collect()
}

/// A datatype out of its integer.
///
/// # Safety
/// The integer is there.
unsafe fn datatype(place: *mut c_void) -> MPI_Datatype {
    // SAFETY: as the caller promises.
    MPI_Datatype(unsafe { load::<c_int>(place) } as usize)
}

/// Gives a number to the program where it has room for it.
///
/// # Safety
/// There is room for an integer, and one for the code.
unsafe fn give(place: *mut c_void, number: MPI_Aint, code: c_int, ierror: *mut c_void) {
    // SAFETY: as the caller promises.
    unsafe {
        if code == SUCCESS {
            store(place, number as c_int);
        }
        give_code(ierror, code);
    }
}

subroutines! {
    /// The address of a buffer, of which a default integer holds the lower half: differences of
    /// addresses near to each other are right.
    mpi_address_ pmpi_address_ = MPI_Get_address PMPI_Get_address
    (location, place, ierror) |get| {
        let mut found = 0;
        let code = get(address(location), &mut found);
        give(place, found, code, ierror);
    }

    /// How far a datatype reaches.
    mpi_type_extent_ pmpi_type_extent_ = MPI_Type_get_extent PMPI_Type_get_extent
    (of, extent, ierror) |get| {
        let (mut lower, mut found) = (0, 0);
        let code = get(datatype(of), &mut lower, &mut found);
        give(extent, found, code, ierror);
    }

    /// Where a datatype begins.
    mpi_type_lb_ pmpi_type_lb_ = MPI_Type_get_extent PMPI_Type_get_extent
    (of, place, ierror) |get| {
        let (mut lower, mut found) = (0, 0);
        let code = get(datatype(of), &mut lower, &mut found);
        give(place, lower, code, ierror);
    }

    /// Where a datatype ends.
    mpi_type_ub_ pmpi_type_ub_ = MPI_Type_get_extent PMPI_Type_get_extent
    (of, place, ierror) |get| {
        let (mut lower, mut found) = (0, 0);
        let code = get(datatype(of), &mut lower, &mut found);
        give(place, lower + found, code, ierror);
    }

    /// Blocks that are so many bytes apart.
    mpi_type_hvector_ pmpi_type_hvector_ = MPI_Type_create_hvector PMPI_Type_create_hvector
    (count, length, stride, old, new, ierror) |create| {
        let mut made = MPI_DATATYPE_NULL;
        let stride = load::<c_int>(stride) as MPI_Aint;
        let code = create(load(count), load(length), stride, datatype(old), &mut made);
        give(new, made.0 as MPI_Aint, code, ierror);
    }

    /// Blocks at displacements in bytes.
    mpi_type_hindexed_ pmpi_type_hindexed_ = MPI_Type_create_hindexed PMPI_Type_create_hindexed
    (count, lengths, displacements, old, new, ierror) |create| {
        let mut made = MPI_DATATYPE_NULL;
        let count = load(count);
        let places = wide(displacements, count);
        let old = datatype(old);
        let code = create(count, lengths.cast(), places.as_ptr(), old, &mut made);
        give(new, made.0 as MPI_Aint, code, ierror);
    }

    /// Blocks of several datatypes.
    mpi_type_struct_ pmpi_type_struct_ = MPI_Type_create_struct PMPI_Type_create_struct
    (count, lengths, displacements, olds, new, ierror) |create| {
        let mut made = MPI_DATATYPE_NULL;
        let count = load(count);
        let (places, olds) = (wide(displacements, count), handles(olds, count));
        let olds = olds.as_ptr().cast();
        let code = create(count, lengths.cast(), places.as_ptr(), olds, &mut made);
        give(new, made.0 as MPI_Aint, code, ierror);
    }

    /// An error handler of a function of the program.
    mpi_errhandler_create_ pmpi_errhandler_create_ =
    MPI_Comm_create_errhandler PMPI_Comm_create_errhandler (called, place, ierror) |create| {
        let mut made = MPI_ERRHANDLER_NULL;
        let called = std::mem::transmute::<*mut c_void, MPI_Comm_errhandler_function>(called);
        let code = create(Some(called), &mut made);
        give(place, made.0 as MPI_Aint, code, ierror);
    }

    /// The error handler of a communicator.
    mpi_errhandler_get_ pmpi_errhandler_get_ =
    MPI_Comm_get_errhandler PMPI_Comm_get_errhandler (comm, place, ierror) |get| {
        let mut found = MPI_ERRHANDLER_NULL;
        let code = get(MPI_Comm(load::<c_int>(comm) as usize), &mut found);
        give(place, found.0 as MPI_Aint, code, ierror);
    }

    /// Sets the error handler of a communicator.
    mpi_errhandler_set_ pmpi_errhandler_set_ =
    MPI_Comm_set_errhandler PMPI_Comm_set_errhandler (comm, handler, ierror) |set| {
        let handler = MPI_Errhandler(load::<c_int>(handler) as usize);
        give_code(ierror, set(MPI_Comm(load::<c_int>(comm) as usize), handler));
    }

    /// Ranks cannot be started from within MPI, which C's function says without its arguments.
    mpi_comm_spawn_ pmpi_comm_spawn_ = MPI_Comm_spawn PMPI_Comm_spawn
    (_command, _argv, _maxprocs, _info, _root, _comm, _intercomm, _codes, ierror) |spawn| {
        let (world, codes) = (MPI_COMM_WORLD, null_mut());
        give_code(ierror, spawn(null(), null_mut(), 0, MPI_INFO_NULL, 0, world, null_mut(), codes));
    }

    /// The same of several programs.
    mpi_comm_spawn_multiple_ pmpi_comm_spawn_multiple_ =
    MPI_Comm_spawn_multiple PMPI_Comm_spawn_multiple
    (_count, _commands, _argvs, _maxprocs, _infos, _root, _comm, _intercomm, _codes, ierror)
    |spawn| {
        let (argvs, numbers, world) = (null_mut(), null(), MPI_COMM_WORLD);
        let infos = null();
        let codes = null_mut();
        give_code(ierror, spawn(0, null_mut(), argvs, numbers, infos, 0, world, null_mut(), codes));
    }
}

/// What stands for a data representation's missing conversion, and is never called.
#[unsafe(no_mangle)]
extern "C" fn mpi_conversion_fn_null_() {}

/// The same for large counts.
#[unsafe(no_mangle)]
extern "C" fn mpi_conversion_fn_null_c_() {}
