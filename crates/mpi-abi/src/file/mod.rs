//! Files (MPI-5.0, chapter 14), on any file system of the node's.
//!
//! Each rank opens the file itself and reads and writes what it sees of it (`muster_mpi::file`),
//! also in collective calls: those are as right without the others, and only wait for them where
//! ranks must agree, or where what they write is woven together (`woven`). What is begun without
//! waiting has ended when the call returns. The shared pointer is a counter that rank 0 keeps and
//! answers about whenever it is in a call that waits (`muster_mpi::counter`), so it needs no file
//! system with locks. Atomic mode locks the file for each access (`flock`).
//!
//! Data are stored as they are in memory ("native", and "internal", which is the same), or as
//! "external32": positions count the bytes that they have in the file.

mod access;
mod failure;
mod forms;
mod lock;
mod manage;
mod opening;
mod pointer;
mod view;
mod woven;

use std::ffi::c_int;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use muster_mpi::collective::Plan;
use muster_mpi::communicator::OWN;
use muster_mpi::counter::Counter;
use muster_mpi::datatype::Datatype;
use muster_mpi::error::{Class, Error, Result};
use muster_mpi::file::View;

use crate::abi::constants::*;
use crate::abi::types::*;
use crate::communicator::{Comm, all_say, halves};
use crate::table::Table;
use crate::world::world;

/// A file that is open.
pub struct File {
    /// What it is to the system.
    file: std::fs::File,
    /// Its name, for errors.
    name: PathBuf,
    /// Where it is, also when this process is in another directory.
    place: PathBuf,
    /// How it was opened (`MPI_MODE_...`).
    mode: c_int,
    /// Its ranks; nobody else sends messages here.
    comm: Arc<Comm>,
    /// Whether it is read and written from front to back, as it stands.
    is_stream: bool,
    /// The position of the shared pointer.
    shared: Counter,
    /// Held by the thread that has locked it.
    turn: Mutex<()>,
    /// Whether ranks see at once what each of them writes, once somebody has asked.
    coherent: OnceLock<bool>,
    /// What changes.
    state: Mutex<State>,
}

/// What of a file changes.
struct State {
    view: View,
    /// Its etype and its filetype, as the program has them: in the file they may be larger, or
    /// smaller.
    types: (Datatype, Datatype),
    /// How its data are stored.
    form: Form,
    /// The position of the pointer that is this rank's.
    position: u64,
    is_atomic: bool,
    /// Whether what some rank sees lies apart in small pieces.
    is_woven: bool,
    /// How the collective access has ended that was begun and not ended.
    begun: Option<(Split, MPI_Status)>,
}

/// How data are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Native,
    Internal,
    External,
    /// As in memory, by a name that the program has given to it.
    Own(&'static str),
}

/// The collective accesses of two calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Split {
    ReadAt,
    Read,
    ReadOrdered,
    WriteAt,
    Write,
    WriteOrdered,
}

static FILES: Table<File> = Table::new(Class::File, "a file");

/// The file of a handle.
///
/// # Errors
/// [`Class::File`].
fn file(handle: MPI_File) -> Result<Arc<File>> {
    match handle {
        MPI_FILE_NULL => Err(Error::new(Class::File, "the file is MPI_FILE_NULL").value(handle.0)),
        MPI_File(handle) => FILES.get(handle),
    }
}

impl File {
    /// What changes. A thread that panicked had not begun to change it.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether it was opened in a mode.
    fn is(&self, mode: c_int) -> bool {
        self.mode & mode != 0
    }

    /// That what a call may do on a file of this mode.
    ///
    /// # Errors
    /// [`Class::UnsupportedOperation`] for a file that is read or written from front to back only.
    fn random(&self) -> Result<()> {
        match self.is(MPI_MODE_SEQUENTIAL) {
            true => {
                let what = format!("{} is open with MPI_MODE_SEQUENTIAL", self.name.display());
                Err(Error::new(Class::UnsupportedOperation, what).of("fh"))
            }
            false => Ok(()),
        }
    }

    /// Waits until all ranks are here.
    fn barrier(&self) -> Result<()> {
        let mut plan = Plan::new(self.comm.inner.next_collective(OWN));
        plan.barrier();
        world()?.process.carry_out(plan)
    }

    /// That all ranks say the same number; they are all here then.
    ///
    /// # Errors
    /// [`Class::NotSame`].
    fn agree(&self, argument: &'static str, number: i64) -> Result<()> {
        let own = halves(number.cast_unsigned());
        match all_say(&self.comm, &own)?.iter().position(|said| said[..] != own) {
            None => Ok(()),
            Some(rank) => {
                let what = format!("{argument} is {number} here, and another on rank {rank}");
                Err(Error::new(Class::NotSame, what).of(argument))
            }
        }
    }

    /// What all ranks get of something that only rank 0 does, or that each does: nobody goes on as
    /// if it were well where it failed.
    fn together<T>(&self, own: Result<T>) -> Result<T> {
        together(&self.comm, own)
    }
}

/// See [`File::together`].
fn together<T>(comm: &Comm, own: Result<T>) -> Result<T> {
    let said = all_say(comm, &[said(&own)])?;
    all_well(own, said.iter().map(|said| said[0]))
}

/// What a rank says of what it has done.
fn said<T>(own: &Result<T>) -> c_int {
    own.as_ref().err().map_or(MPI_SUCCESS, |error| error.class.number())
}

/// What a rank gets where each has said so.
fn all_well<T>(own: Result<T>, said: impl Iterator<Item = c_int>) -> Result<T> {
    let other = said.enumerate().find(|(_, said)| *said != MPI_SUCCESS).map(|(rank, said)| {
        let class = Class::of_number(said).unwrap_or(Class::Other);
        Error::new(class, format!("it failed on rank {rank}: {}", class.meaning()))
    });
    match other {
        Some(other) => own.and(Err(other)),
        None => own,
    }
}
