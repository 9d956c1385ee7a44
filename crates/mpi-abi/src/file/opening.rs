//! Files are opened, closed and deleted (MPI-5.0, section 14.2).

use std::ffi::{OsStr, c_int};
use std::fs::{self, OpenOptions};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};

use muster_mpi::counter::Counter;
use muster_mpi::error::{Class, Error, Result};
use muster_mpi::file::View;

use super::failure::failed;
use super::{FILES, File, Form, State, file, together};
use crate::abi::constants::*;
use crate::abi::types::*;
use crate::communicator::{Comm, all_say, communicator};
use crate::errhandler;
use crate::export::export;
use crate::failure;
use crate::info;
use crate::object;
use crate::pointer::{Out, Text};
use crate::world::world;

/// The modes that say who may read and write; a file has one of them.
const ACCESS: [c_int; 3] = [MPI_MODE_RDONLY, MPI_MODE_WRONLY, MPI_MODE_RDWR];

/// That a mode is one that files can have.
fn check_mode(mode: c_int) -> Result<()> {
    let wrong = |what: &str| Err(Error::new(Class::Amode, what));
    if ACCESS.iter().filter(|it| mode & **it != 0).count() != 1 {
        return wrong("the mode must have one of MPI_MODE_RDONLY, MPI_MODE_WRONLY, MPI_MODE_RDWR");
    }
    if mode & MPI_MODE_RDONLY != 0 && mode & (MPI_MODE_CREATE | MPI_MODE_EXCL) != 0 {
        return wrong(
            "a file that is only read cannot be created (MPI_MODE_CREATE, MPI_MODE_EXCL)",
        );
    }
    if mode & MPI_MODE_RDWR != 0 && mode & MPI_MODE_SEQUENTIAL != 0 {
        return wrong("MPI_MODE_SEQUENTIAL does not go with MPI_MODE_RDWR");
    }
    Ok(())
}

/// Opens a file on this rank. One creates it, before the others.
fn open_here(name: &Path, mode: c_int, is_first: bool) -> Result<fs::File> {
    let mut options = OpenOptions::new();
    options.read(mode & MPI_MODE_WRONLY == 0).write(mode & MPI_MODE_RDONLY == 0);
    if mode & MPI_MODE_CREATE != 0 {
        // Another node may remember that there was none (NFS), unless it is asked to create it.
        options.create(true).create_new(is_first && mode & MPI_MODE_EXCL != 0);
    }
    let failed = |error| failed("open", name, error);
    let file = options.open(name).map_err(failed)?;
    if file.metadata().map_err(failed)?.is_dir() {
        return Err(failed(std::io::Error::from_raw_os_error(libc::EISDIR)));
    }
    Ok(file)
}

/// Opens a file on all ranks, or on none.
fn open(comm: &Comm, name: PathBuf, mode: c_int) -> Result<File> {
    if comm.inner.remote().is_some() {
        return Err(Error::new(Class::Comm, "a file is opened by an intracommunicator"));
    }
    let said = all_say(comm, &[mode])?;
    if let Some(rank) = said.iter().position(|other| other[0] != mode) {
        let what = format!("the mode is {mode} here and {} on rank {rank}", said[rank][0]);
        return Err(Error::new(Class::NotSame, what).of("amode"));
    }
    check_mode(mode)?;
    let context = comm.inner.next_context(0);
    let inner = comm.inner.with(context, comm.inner.group().clone(), None);
    let inner = inner.expect("who has a communicator is of its group");
    let own = Comm::new(inner, MPI_COMM_NULL, None);
    let is_first = own.inner.rank() == 0;
    let first = if is_first { open_here(&name, mode, true).map(Some) } else { Ok(None) };
    let here = match together(&own, first)? {
        Some(file) => Ok(file),
        None => open_here(&name, mode, false),
    };
    let file = together(&own, here)?;
    let view = View::default();
    let mut position = 0;
    if mode & MPI_MODE_APPEND != 0 {
        let size = file.metadata().map_err(|error| failed("look at", &name, error));
        position = together(&own, size)?.len();
    }
    let shared = Counter::new(&own.inner, &world()?.process)?;
    shared.set(position.cast_signed());
    let (is_atomic, is_woven) = (false, false);
    let state = State { view, form: Form::Native, position, is_atomic, is_woven, begun: None };
    let (turn, state) = (Mutex::new(()), Mutex::new(state));
    let place = std::path::absolute(&name).unwrap_or_else(|_| name.clone());
    let coherent = OnceLock::new();
    let opened = File { file, name, place, mode, comm: own, shared, turn, coherent, state };
    opened.barrier()?;
    Ok(opened)
}

/// The path that a text says.
fn path(name: Text<'_>) -> Result<PathBuf> {
    let name = name.bytes()?;
    if name.is_empty() {
        return Err(Error::new(Class::BadFile, "the file's name is empty"));
    }
    Ok(PathBuf::from(OsStr::from_bytes(name)))
}

/// Closes a file: its data are the system's when all ranks go on.
fn close(file: &File) -> Result<()> {
    if file.state().begun.is_some() {
        let what = format!("{} has a collective access that was not ended", file.name.display());
        return Err(Error::new(Class::File, what));
    }
    file.barrier()?;
    file.shared.end(&world()?.process);
    // Where what was written is elsewhere, it may turn out late that there is no room.
    let is_kept = file.is_cached() && !file.is(MPI_MODE_DELETE_ON_CLOSE);
    let synced = match is_kept && !file.is(MPI_MODE_RDONLY) {
        true => file.file.sync_all().map_err(|error| failed("sync", &file.name, error)),
        false => Ok(()),
    };
    let is_deleter = file.is(MPI_MODE_DELETE_ON_CLOSE) && file.comm.inner.rank() == 0;
    let deleted = match is_deleter {
        true => fs::remove_file(&file.place).map_err(|error| failed("delete", &file.name, error)),
        false => Ok(()),
    };
    file.together(synced.and(deleted))
}

export! {
    /// Opens a file, on all ranks of a communicator.
    fn MPI_File_open(
        comm: MPI_Comm, filename: Text<'_>, amode: c_int, hints: MPI_Info, fh: Out<MPI_File>,
    ) on MPI_FILE_NULL {
        let (name, hints) = (path(filename)?, info::infos(hints)?);
        let opened = open(&*communicator(comm)?, name, amode)?;
        let handle = MPI_File(FILES.insert(opened));
        object::add(handle.into(), object::with(MPI_FILE_NULL.into(), |it| it.handler)?);
        object::with(handle.into(), |it| it.info = hints)?;
        fh.set(handle)
    }

    /// Closes it, on all ranks.
    fn MPI_File_close(fh: Out<MPI_File>) on MPI_FILE_NULL {
        let handle = fh.get()?;
        let known = file(handle)?;
        let action = errhandler::action(handle.into())?;
        let closed = close(&known).inspect_err(|_| failure::note_for(handle.into(), action));
        object::remove(handle.into()).inspect_err(|_| failure::note(handle.into()))?;
        FILES.remove(handle.0)?;
        fh.set(MPI_FILE_NULL)?;
        closed
    }

    /// Deletes a file that is not open.
    fn MPI_File_delete(filename: Text<'_>, hints: MPI_Info) on MPI_FILE_NULL {
        info::infos(hints)?;
        let name = path(filename)?;
        fs::remove_file(&name).map_err(|error| failed("delete", &name, error))
    }
}
