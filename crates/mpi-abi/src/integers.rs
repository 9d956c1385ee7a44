//! Handles as integers, for languages that have no others (MPI-5.0, section 20.3). A handle of ours
//! is a number that an `int` holds, so its integer is that number.

use std::ffi::c_int;

use crate::abi::types::*;
use crate::export::export;

export! {
    /// The integer of a handle.
    fn MPI_Comm_toint(handle: MPI_Comm) -> c_int {
        handle.0 as c_int
    }

    /// The handle of an integer.
    fn MPI_Comm_fromint(integer: c_int) -> MPI_Comm {
        MPI_Comm(integer as usize)
    }

    /// The integer of a handle.
    fn MPI_Errhandler_toint(handle: MPI_Errhandler) -> c_int {
        handle.0 as c_int
    }

    /// The handle of an integer.
    fn MPI_Errhandler_fromint(integer: c_int) -> MPI_Errhandler {
        MPI_Errhandler(integer as usize)
    }

    /// The integer of a handle.
    fn MPI_File_toint(handle: MPI_File) -> c_int {
        handle.0 as c_int
    }

    /// The handle of an integer.
    fn MPI_File_fromint(integer: c_int) -> MPI_File {
        MPI_File(integer as usize)
    }

    /// The integer of a handle.
    fn MPI_Group_toint(handle: MPI_Group) -> c_int {
        handle.0 as c_int
    }

    /// The handle of an integer.
    fn MPI_Group_fromint(integer: c_int) -> MPI_Group {
        MPI_Group(integer as usize)
    }

    /// The integer of a handle.
    fn MPI_Info_toint(handle: MPI_Info) -> c_int {
        handle.0 as c_int
    }

    /// The handle of an integer.
    fn MPI_Info_fromint(integer: c_int) -> MPI_Info {
        MPI_Info(integer as usize)
    }

    /// The integer of a handle.
    fn MPI_Message_toint(handle: MPI_Message) -> c_int {
        handle.0 as c_int
    }

    /// The handle of an integer.
    fn MPI_Message_fromint(integer: c_int) -> MPI_Message {
        MPI_Message(integer as usize)
    }

    /// The integer of a handle.
    fn MPI_Op_toint(handle: MPI_Op) -> c_int {
        handle.0 as c_int
    }

    /// The handle of an integer.
    fn MPI_Op_fromint(integer: c_int) -> MPI_Op {
        MPI_Op(integer as usize)
    }

    /// The integer of a handle.
    fn MPI_Request_toint(handle: MPI_Request) -> c_int {
        handle.0 as c_int
    }

    /// The handle of an integer.
    fn MPI_Request_fromint(integer: c_int) -> MPI_Request {
        MPI_Request(integer as usize)
    }

    /// The integer of a handle.
    fn MPI_Session_toint(handle: MPI_Session) -> c_int {
        handle.0 as c_int
    }

    /// The handle of an integer.
    fn MPI_Session_fromint(integer: c_int) -> MPI_Session {
        MPI_Session(integer as usize)
    }

    /// The integer of a handle.
    fn MPI_Type_toint(handle: MPI_Datatype) -> c_int {
        handle.0 as c_int
    }

    /// The handle of an integer.
    fn MPI_Type_fromint(integer: c_int) -> MPI_Datatype {
        MPI_Datatype(integer as usize)
    }

    /// The integer of a handle.
    fn MPI_Win_toint(handle: MPI_Win) -> c_int {
        handle.0 as c_int
    }

    /// The handle of an integer.
    fn MPI_Win_fromint(integer: c_int) -> MPI_Win {
        MPI_Win(integer as usize)
    }
}
