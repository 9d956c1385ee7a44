//! Handles as integers, for languages that have no others (MPI-5.0, section 20.3). A handle of ours
//! is a number that an `int` holds, so its integer is that number.

use std::ffi::c_int;

use crate::abi::types::*;
use crate::export::export;

/// The two functions of each sort of handle.
macro_rules! integers {
    ($(fn $to:ident and $from:ident($handle:ident);)*) => {
        $(export! {
            /// The integer of a handle.
            fn $to(handle: $handle) -> c_int {
                handle.0 as c_int
            }

            /// The handle of an integer.
            fn $from(integer: c_int) -> $handle {
                $handle(integer as usize)
            }
        })*
    };
}

integers! {
    fn MPI_Comm_toint and MPI_Comm_fromint(MPI_Comm);
    fn MPI_Errhandler_toint and MPI_Errhandler_fromint(MPI_Errhandler);
    fn MPI_File_toint and MPI_File_fromint(MPI_File);
    fn MPI_Group_toint and MPI_Group_fromint(MPI_Group);
    fn MPI_Info_toint and MPI_Info_fromint(MPI_Info);
    fn MPI_Message_toint and MPI_Message_fromint(MPI_Message);
    fn MPI_Op_toint and MPI_Op_fromint(MPI_Op);
    fn MPI_Request_toint and MPI_Request_fromint(MPI_Request);
    fn MPI_Session_toint and MPI_Session_fromint(MPI_Session);
    fn MPI_Type_toint and MPI_Type_fromint(MPI_Datatype);
    fn MPI_Win_toint and MPI_Win_fromint(MPI_Win);
}
