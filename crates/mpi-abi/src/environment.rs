//! What this library and this machine are, and what time it is (MPI-5.0, chapter 9).

use std::ffi::c_int;

use rustix::time::{ClockId, clock_getres};

use crate::abi::constants::*;
use crate::abi::types::*;
use crate::communicator::MEMORY;
use crate::export::export;
use crate::info::{self, Info};
use crate::pointer::{Out, TextOut};
use crate::world;

/// What `MPI_Get_library_version` says.
const LIBRARY: &str = concat!("Muster ", env!("CARGO_PKG_VERSION"), ", MPI 5.0, ABI 1.0");

/// A clock's reading in seconds.
fn seconds(time: rustix::time::Timespec) -> f64 {
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

export! {
    /// Seconds since this machine was started, which is the same for all of its ranks.
    fn MPI_Wtime() -> f64 {
        world::time().as_secs_f64()
    }

    /// The resolution of `MPI_Wtime`.
    fn MPI_Wtick() -> f64 {
        seconds(clock_getres(ClockId::Monotonic))
    }

    /// The standard's version.
    fn MPI_Get_version(version: Out<c_int>, subversion: Out<c_int>) {
        version.set(MPI_VERSION)?;
        subversion.set(MPI_SUBVERSION)
    }

    /// The binary interface's version.
    fn MPI_Abi_get_version(major: Out<c_int>, minor: Out<c_int>) {
        major.set(MPI_ABI_VERSION)?;
        minor.set(MPI_ABI_SUBVERSION)
    }

    /// The sizes of the interface's integers.
    fn MPI_Abi_get_info(info: Out<MPI_Info>) {
        let mut sizes = Info::default();
        for name in ["mpi_aint_size", "mpi_count_size", "mpi_offset_size"] {
            sizes.set(name, size_of::<MPI_Count>().to_string());
        }
        info.set(info::add(sizes))
    }

    /// The kinds of hardware that communicators can be split by, each with whether this process
    /// stays within one: the memory of a node.
    fn MPI_Get_hw_resource_info(hw_info: Out<MPI_Info>) {
        let mut kinds = Info::default();
        kinds.set(MEMORY, "true".to_owned());
        hw_info.set(info::add(kinds))
    }

    /// This library's version.
    fn MPI_Get_library_version(version: TextOut, length: Out<c_int>) {
        length.set(version.set(LIBRARY.as_bytes(), MPI_MAX_LIBRARY_VERSION_STRING)?)
    }

    /// The machine's name, as `uname -n` says it.
    fn MPI_Get_processor_name(name: TextOut, length: Out<c_int>) {
        let uname = rustix::system::uname();
        length.set(name.set(uname.nodename().to_bytes(), MPI_MAX_PROCESSOR_NAME)?)
    }

    /// For tools that take its place; this library measures nothing that it could switch.
    fn MPI_Pcontrol(level: c_int) {
        let _ = level;
        Ok(())
    }
}
