//! Files are opened, closed and deleted (MPI-5.0, section 14.2).

use std::ffi::{OsStr, c_int};
use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

use muster_mpi::counter::Counter;
use muster_mpi::error::{Class, Error, Result};
use muster_mpi::file::View;
use rustix::fs::{fstatfs, statfs, tell};
use rustix::io::Errno;

use super::failure::failed;
use super::lock::is_local;
use super::{FILES, File, Form, State, all_well, file, said, together};
use crate::abi::constants::*;
use crate::abi::types::*;
use crate::communicator::{Comm, all_say, all_say_aside, communicator, halves};
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
    let creates = mode & MPI_MODE_CREATE != 0;
    if creates && is_first {
        options.create(true).create_new(mode & MPI_MODE_EXCL != 0);
    }
    let failed = |error| failed("open", name, error);
    let opened = options.open(name).or_else(|error| match error.kind() {
        // Another node may remember that there was none (NFS), unless it is asked to create it.
        io::ErrorKind::NotFound if creates && !is_first && !is_local(statfs(folder(name))) => {
            options.create(true).open(name)
        }
        _ => Err(error),
    });
    let file = opened.map_err(failed)?;
    if file.metadata().map_err(failed)?.is_dir() {
        return Err(failed(io::Error::from_raw_os_error(libc::EISDIR)));
    }
    Ok(file)
}

/// The folder of a name.
fn folder(name: &Path) -> &Path {
    let folder = name.parent().filter(|it| !it.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}

/// Which file it is: of which machine, and its numbers there. Nothing where other machines may see
/// it as well, and know it by other numbers; nor for what keeps nothing, such as `/dev/null`.
fn identity(file: &fs::File) -> [u64; 4] {
    let metadata = file.metadata().ok().filter(fs::Metadata::is_file);
    let Some(metadata) = metadata.filter(|_| is_local(fstatfs(file))) else { return [0; 4] };
    let machine = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let machine = u128::from_str_radix(&machine.trim_end().replace('-', ""), 16).unwrap_or(0);
    [machine as u64, (machine >> 64) as u64, metadata.dev(), metadata.ino()]
}

/// That all ranks have opened one file, as far as is known: nodes may have folders of one name, and
/// then each a part of what ranks write.
fn check_same(comm: &Comm, file: &fs::File, name: &Path) -> Result<()> {
    let own: Vec<i32> = identity(file).into_iter().flat_map(halves).collect();
    let said = all_say_aside(comm, &own)?;
    let known = || said.iter().enumerate().filter(|(_, it)| it.iter().any(|half| *half != 0));
    let Some((one, first)) = known().next() else { return Ok(()) };
    match known().find(|(_, it)| *it != first) {
        None => Ok(()),
        Some((other, _)) => {
            let name = name.display();
            let what = format!(
                "'{name}' is one file on rank {one} and another on rank {other}: it must be where \
                 all ranks see the same"
            );
            Err(Error::new(Class::NotSame, what).of("filename"))
        }
    }
}

/// Whether a rank has got a stream, as a pipe is: there are no positions. Others may have got
/// something else by the same name (`/dev/stdin`), and all do the same with it.
fn is_any_stream(comm: &Comm, file: &fs::File) -> Result<bool> {
    let is_own = tell(file) == Err(Errno::SPIPE);
    Ok(all_say(comm, &[is_own.into()])?.iter().any(|said| said[0] != 0))
}

/// Opens a file on all ranks, or on none. All come, also those that were asked for no file.
fn open(comm: &Comm, asked: Result<PathBuf>, mode: c_int) -> Result<File> {
    if comm.inner.remote().is_some() {
        return Err(Error::new(Class::Comm, "a file is opened by an intracommunicator"));
    }
    let said = all_say(comm, &[mode, said(&asked)])?;
    let name = all_well(asked, said.iter().map(|said| said[1]))?;
    if let Some(rank) = said.iter().position(|other| other[0] != mode) {
        let what = format!("the mode is {mode} here and {} on rank {rank}", said[rank][0]);
        return Err(Error::new(Class::NotSame, what).of("amode"));
    }
    check_mode(mode)?;
    let context = comm.inner.next_context(0);
    let inner = comm.inner.with(context, comm.inner.group().clone(), None);
    let inner = inner.expect("who has a communicator is of its group");
    let own = Arc::new(Comm::new(inner, MPI_COMM_NULL, None));
    let is_first = own.inner.rank() == 0;
    let first = if is_first { open_here(&name, mode, true).map(Some) } else { Ok(None) };
    let here = match together(&own, first)? {
        Some(file) => Ok(file),
        None => open_here(&name, mode, false),
    };
    let file = together(&own, here)?;
    if mode & MPI_MODE_RDONLY == 0 {
        check_same(&own, &file, &name)?;
    }
    let is_stream = mode & MPI_MODE_SEQUENTIAL != 0 && is_any_stream(&own, &file)?;
    let view = View::default();
    let types = (view.etype().clone(), view.filetype().clone());
    let mut position = 0;
    if mode & MPI_MODE_APPEND != 0 {
        let size = file.metadata().map_err(|error| failed("look at", &name, error));
        position = together(&own, size)?.len();
    }
    let shared = Counter::new(&own.inner, &world()?.process)?;
    shared.set(position.cast_signed());
    let (is_atomic, is_woven) = (false, false);
    let state =
        State { view, types, form: Form::Native, position, is_atomic, is_woven, begun: None };
    let (turn, state) = (Mutex::new(()), Mutex::new(state));
    let place = std::path::absolute(&name).unwrap_or_else(|_| name.clone());
    let coherent = OnceLock::new();
    let comm = own;
    let opened = File { file, name, place, mode, comm, is_stream, shared, turn, coherent, state };
    opened.barrier()?;
    Ok(opened)
}

/// What ROMIO takes before a name: the type of the file system, which nobody needs to know here.
const TYPES: [&[u8]; 7] = [b"ufs:", b"nfs:", b"xfs:", b"panfs:", b"lustre:", b"gpfs:", b"pvfs2:"];

/// The path that a text says.
fn path(name: Text<'_>) -> Result<PathBuf> {
    let name = name.bytes()?;
    let name = TYPES.iter().find_map(|it| name.strip_prefix(*it)).unwrap_or(name);
    if name.is_empty() {
        return Err(Error::new(Class::BadFile, "the file's name is empty"));
    }
    Ok(PathBuf::from(OsStr::from_bytes(name)))
}

/// Closes a file: its data are the system's when all ranks go on, and none has it open any more,
/// also when one deletes it.
fn close(file: Arc<File>) -> Result<()> {
    if file.state().begun.is_some() {
        let what = format!("{} has a collective access that was not ended", file.name.display());
        return Err(Error::new(Class::File, what));
    }
    file.barrier()?;
    file.shared.end(&world()?.process);
    // Where what was written is elsewhere, it may turn out late that there is no room.
    let is_deleted = file.is(MPI_MODE_DELETE_ON_CLOSE);
    let synced = if file.is_cached() && !is_deleted { file.sync() } else { Ok(()) };
    let (comm, name, place) = (file.comm.clone(), file.name.clone(), file.place.clone());
    drop(file);
    together(&comm, synced)?;
    if !is_deleted {
        return Ok(());
    }
    let deleted = match comm.inner.rank() {
        0 => fs::remove_file(place).map_err(|error| failed("delete", &name, error)),
        _ => Ok(()),
    };
    together(&comm, deleted)
}

export! {
    /// Opens a file, on all ranks of a communicator.
    fn MPI_File_open(
        comm: MPI_Comm, filename: Text<'_>, amode: c_int, hints: MPI_Info, fh: Out<MPI_File>,
    ) on MPI_FILE_NULL {
        // What a file that cannot be opened leaves there.
        let cleared = fh.set(MPI_FILE_NULL);
        let asked = cleared.and_then(|()| info::infos(hints)).and_then(|_| path(filename));
        let opened = open(&*communicator(comm)?, asked, amode)?;
        let handle = MPI_File(FILES.insert(opened));
        object::add(handle.into(), object::with(MPI_FILE_NULL.into(), |it| it.handler)?);
        fh.set(handle)
    }

    /// Closes it, on all ranks.
    fn MPI_File_close(fh: Out<MPI_File>) on MPI_FILE_NULL {
        let handle = fh.get()?;
        let known = file(handle)?;
        let action = errhandler::action(handle.into())?;
        FILES.remove(handle.0)?;
        let closed = close(known).inspect_err(|_| failure::note_for(handle.into(), action));
        object::remove(handle.into()).inspect_err(|_| failure::note(handle.into()))?;
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
