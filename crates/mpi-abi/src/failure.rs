//! What becomes of an error: what the error handler says that is set for the object that the call
//! was about.

use std::ffi::c_int;
use std::io::Write;

use muster_mpi::error::Error;

use crate::abi::constants::{MPI_COMM_SELF, MPI_ERRORS_RETURN};
use crate::abi::types::MPI_Comm;
use crate::communicator;

/// Whose error handler is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// That of a communicator.
    Comm(MPI_Comm),
    /// That of the process, for calls about none of these objects.
    Process,
}

impl From<MPI_Comm> for Scope {
    fn from(comm: MPI_Comm) -> Scope {
        Scope::Comm(comm)
    }
}

/// Ends a call that failed.
pub fn fail(scope: Scope, function: &str, error: Error) -> c_int {
    let handler = match scope {
        Scope::Comm(comm) => communicator::handler_of(comm),
        Scope::Process => communicator::handler_of(MPI_COMM_SELF),
    };
    if handler == MPI_ERRORS_RETURN {
        return error.class.number();
    }
    end(function, &error)
}

/// Ends the process, and with it the job, with one message. Its exit status is the error's class.
pub fn end(function: &str, error: &Error) -> ! {
    let rank = std::env::var("MUSTER_RANK").map(|rank| format!("rank {rank}: "));
    let rank = rank.unwrap_or_default();
    // Without a standard error the status has to do.
    let _ = writeln!(std::io::stderr(), "muster: {rank}{function} failed: {error}  [E501]");
    let status = error.class.number();
    std::process::exit(if (1..=255).contains(&status) { status } else { 1 })
}

/// Ends the process, and with it the job, as the program wants it (`MPI_Abort`).
pub fn abort(code: c_int) -> ! {
    std::process::exit(if code & 0xff == 0 { 1 } else { code })
}
