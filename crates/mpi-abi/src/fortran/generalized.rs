//! Requests of the program's own in Fortran: its functions get all by address, and what they are
//! called with is an integer as wide as an address. C's request carries the program's subroutines
//! as its state, and calls them by functions of ours.

use std::ffi::{c_int, c_void};

use muster_mpi::error::SUCCESS;

use super::{give_code, load, store, subroutines};
use crate::abi::constants::MPI_REQUEST_NULL;
use crate::abi::types::*;

/// What says how it has ended: state, status, error code.
type Query = unsafe extern "C" fn(*mut isize, *mut MPI_Status, *mut c_int);

/// What is told that it is needed no more: state, error code.
type Free = unsafe extern "C" fn(*mut isize, *mut c_int);

/// What takes it back: state, whether it has ended, error code.
type Cancel = unsafe extern "C" fn(*mut isize, *mut c_int, *mut c_int);

/// The program's, until it is freed.
struct Functions {
    query: Query,
    free: Free,
    cancel: Cancel,
    extra: isize,
}

/// Says how it has ended, by the program's function.
///
/// # Safety
/// The library calls it for a request of ours.
unsafe extern "C" fn query(state: *mut c_void, status: *mut MPI_Status) -> c_int {
    // SAFETY: the state of such a request is ours; the function gets places of ours, and what it is
    // has been the caller's promise.
    unsafe {
        let functions = &*state.cast::<Functions>();
        let (mut extra, mut code) = (functions.extra, SUCCESS);
        (functions.query)(&mut extra, status, &mut code);
        code
    }
}

/// Tells the program's function that it is needed no more.
///
/// # Safety
/// As of the one that says how it has ended.
unsafe extern "C" fn free(state: *mut c_void) -> c_int {
    // SAFETY: as above; it is called once, at the end.
    unsafe {
        let functions = Box::from_raw(state.cast::<Functions>());
        let (mut extra, mut code) = (functions.extra, SUCCESS);
        (functions.free)(&mut extra, &mut code);
        code
    }
}

/// Takes it back by the program's function.
///
/// # Safety
/// As of the one that says how it has ended.
unsafe extern "C" fn cancel(state: *mut c_void, has_ended: c_int) -> c_int {
    // SAFETY: as above.
    unsafe {
        let functions = &*state.cast::<Functions>();
        let (mut extra, mut has_ended, mut code) = (functions.extra, has_ended, SUCCESS);
        (functions.cancel)(&mut extra, &mut has_ended, &mut code);
        code
    }
}

subroutines! {
    /// Makes a request of the program's own.
    mpi_grequest_start_ pmpi_grequest_start_ = MPI_Grequest_start PMPI_Grequest_start
    (queries, frees, cancels, extra, request, ierror) |start| {
        let state = Box::into_raw(Box::new(Functions {
            query: std::mem::transmute::<*mut c_void, Query>(queries),
            free: std::mem::transmute::<*mut c_void, Free>(frees),
            cancel: std::mem::transmute::<*mut c_void, Cancel>(cancels),
            extra: load(extra),
        }));
        let mut made = MPI_REQUEST_NULL;
        let code = start(Some(query), Some(free), Some(cancel), state.cast(), &mut made);
        if code != SUCCESS {
            drop(Box::from_raw(state));
        }
        store(request, made.0 as c_int);
        give_code(ierror, code);
    }
}
