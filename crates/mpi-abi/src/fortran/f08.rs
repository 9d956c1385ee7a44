//! What `use mpi_f08` has beyond the subroutines of `mpif.h`: handles that are compared, and
//! statuses that become arrays of integers, and back. Both are the same integers in memory.

use std::ffi::{c_int, c_void};

use super::give_code;
use crate::abi::constants::*;

/// Integers of a status.
const STATUS: usize = MPI_F_STATUS_SIZE as usize;

/// The module's operators: whether two handles of a kind are the same, and whether they are not.
macro_rules! compared {
    ($($same:ident $other:ident)*) => {$(
        /// Whether they are the same.
        ///
        /// # Safety
        /// Both are there.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $same(a: *const c_int, b: *const c_int) -> c_int {
            // SAFETY: the arguments are the caller's promise.
            unsafe { (*a == *b).into() }
        }

        /// Whether they are not.
        ///
        /// # Safety
        /// Both are there.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $other(a: *const c_int, b: *const c_int) -> c_int {
            // SAFETY: as above.
            unsafe { (*a != *b).into() }
        }
    )*};
}

compared! {
    muster_same_comm_ muster_other_comm_
    muster_same_datatype_ muster_other_datatype_
    muster_same_errhandler_ muster_other_errhandler_
    muster_same_file_ muster_other_file_
    muster_same_group_ muster_other_group_
    muster_same_info_ muster_other_info_
    muster_same_message_ muster_other_message_
    muster_same_op_ muster_other_op_
    muster_same_request_ muster_other_request_
    muster_same_session_ muster_other_session_
    muster_same_win_ muster_other_win_
}

/// Subroutines that copy a status out of one form into the other.
macro_rules! copies {
    ($($name:ident)*) => {$(
        /// Copies a status.
        ///
        /// # Safety
        /// The one is there, and room for the other.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(
            from: *const [c_int; STATUS],
            to: *mut [c_int; STATUS],
            ierror: *mut c_void,
        ) {
            // SAFETY: the arguments are the caller's promise.
            unsafe {
                to.write(from.read());
                give_code(ierror, MPI_SUCCESS);
            }
        }
    )*};
}

copies! { mpi_status_f2f08_ pmpi_status_f2f08_ mpi_status_f082f_ pmpi_status_f082f_ }
