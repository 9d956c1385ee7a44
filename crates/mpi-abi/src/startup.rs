//! Beginning and end (MPI-5.0, chapter 11).

use std::ffi::c_int;

use crate::abi::constants::*;
use crate::abi::types::*;
use crate::array::OutArray;
use crate::attribute;
use crate::communicator;
use crate::export::export;
use crate::failure;

use crate::pointer::Out;
use crate::world::{self, world};

/// The arguments of `main`, which MPI may change and this library does not.
type Arguments<'a> = OutArray<'a, *mut *mut std::ffi::c_char>;

export! {
    /// Begins.
    fn MPI_Init(count: OutArray<c_int>, arguments: OutArray<*mut *mut std::ffi::c_char>) {
        let _: (_, Arguments<'_>) = (count, arguments);
        world::begin(MPI_THREAD_SINGLE, false)
    }

    /// Begins, with so much of threads as is asked for.
    fn MPI_Init_thread(
        count: OutArray<c_int>,
        arguments: OutArray<*mut *mut std::ffi::c_char>,
        required: c_int,
        provided: Out<c_int>,
    ) {
        let _: (_, Arguments<'_>) = (count, arguments);
        let level = required.clamp(MPI_THREAD_SINGLE, MPI_THREAD_MULTIPLE);
        world::begin(level, level == MPI_THREAD_MULTIPLE)?;
        provided.set(world::level()?)
    }

    /// Whether it has begun.
    fn MPI_Initialized(flag: Out<c_int>) {
        flag.set(world::has_begun().into())
    }

    /// Whether it has ended.
    fn MPI_Finalized(flag: Out<c_int>) {
        flag.set(world::has_ended().into())
    }

    /// What threads may do.
    fn MPI_Query_thread(provided: Out<c_int>) {
        provided.set(world::level()?)
    }

    /// Whether this is the thread that began.
    fn MPI_Is_thread_main(flag: Out<c_int>) {
        world()?;
        flag.set(world::is_main_thread().into())
    }

    /// Ends: nobody before all have come, so nobody waits for one who is gone.
    fn MPI_Finalize() {
        // What a rank has asked to be done at its end its children do, too.
        if world::is_forked() {
            return Ok(());
        }
        // The others wait for this rank, also where one of its callbacks fails.
        let deleted = attribute::delete_all(MPI_COMM_SELF.into());
        communicator::before_end()?;
        world::end()?;
        deleted
    }

    /// Ends the job, with an exit status.
    fn MPI_Abort(comm: MPI_Comm, code: c_int) {
        let _ = comm;
        failure::abort(code)
    }
}
