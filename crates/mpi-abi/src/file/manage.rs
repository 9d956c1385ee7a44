//! What a file is, and how large (MPI-5.0, sections 14.2 and 14.6).

use std::ffi::c_int;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;

use muster_mpi::error::{Class, Error, Result};
use muster_mpi::file::Extent;
use rustix::fs::FallocateFlags;
use rustix::io::Errno;

use super::failure::failed;
use super::lock::Apart;
use super::{File, access, file};
use crate::abi::constants::*;
use crate::abi::types::*;
use crate::export::export;
use crate::group;
use crate::info;
use crate::object;
use crate::pointer::Out;

impl File {
    /// How many bytes it has.
    pub(super) fn size(&self) -> Result<u64> {
        let looked = self.file.metadata().map_err(|error| failed("look at", &self.name, error));
        looked.map(|metadata| metadata.len())
    }

    /// That it can be written to.
    pub(super) fn writable(&self) -> Result<()> {
        match self.is(MPI_MODE_RDONLY) {
            true => {
                let what = format!("{} is open with MPI_MODE_RDONLY", self.name.display());
                Err(Error::new(Class::ReadOnly, what))
            }
            false => Ok(()),
        }
    }

    /// Has rank 0 change its size, which all ranks demand alike.
    fn resize(&self, size: i64, change: fn(&File, u64) -> io::Result<()>) -> Result<()> {
        self.agree("size", size)?;
        self.writable()?;
        self.random()?;
        let size = u64::try_from(size).map_err(|_| {
            Error::new(Class::Arg, format!("the size {size} is negative")).of("size")
        })?;
        let changed = match self.comm.inner.rank() {
            0 => {
                change(self, size).map_err(|error| failed("change the size of", &self.name, error))
            }
            _ => Ok(()),
        };
        self.together(changed)
    }
}

/// Bytes for which room is asked at a time: what a signal interrupts is undone on some file
/// systems, and begun anew. Where none comes they are more and more, for each time may be a message
/// to a server.
const ROOM: u64 = 1 << 20;
const MOST_ROOM: u64 = 1 << 30;

/// Has the system keep room for the first bytes of a file.
fn preallocate(file: &File, size: u64) -> io::Result<()> {
    let (mut at, mut piece) = (0, ROOM);
    while at < size {
        let length = piece.min(size - at);
        match rustix::fs::fallocate(&file.file, FallocateFlags::empty(), at, length) {
            Ok(()) => (at, piece) = (at + length, (2 * piece).min(MOST_ROOM)),
            Err(Errno::INTR) => piece = ROOM,
            Err(Errno::OPNOTSUPP | Errno::NOSYS) => {
                // Another node's bytes must not be written back as this one remembers them.
                let all = Extent { at: 0, length: size as usize };
                let apart = match file.is_coherent() {
                    true => None,
                    false => Apart::new(file, std::iter::once(all)).map_err(io::Error::other)?,
                };
                // What is there cannot be looked at where the file is only written.
                let start = if file.is(MPI_MODE_WRONLY) { file.file.metadata()?.len() } else { 0 };
                let filled = fill(&file.file, start, size);
                drop(apart);
                return filled;
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// The same on a file system that cannot, from a byte on: what is there is written again, and zeros
/// behind it.
fn fill(file: &fs::File, mut at: u64, size: u64) -> io::Result<()> {
    let mut bytes = vec![0; ROOM as usize];
    while at < size {
        let piece = &mut bytes[..ROOM.min(size - at) as usize];
        let there = access::read_at(file, at, piece)?;
        piece[there..].fill(0);
        file.write_all_at(piece, at)?;
        at += piece.len() as u64;
    }
    // Where the room is elsewhere, it may turn out only now that there is none.
    file.sync_data()
}

export! {
    /// Cuts a file, or lengthens it by zeros.
    fn MPI_File_set_size(fh: MPI_File, size: MPI_Offset) on fh {
        file(fh)?.resize(size, |file, size| file.file.set_len(size))
    }

    /// Has a file as large at least, and room for all of it.
    fn MPI_File_preallocate(fh: MPI_File, size: MPI_Offset) on fh {
        file(fh)?.resize(size, preallocate)
    }

    /// How many bytes it has.
    fn MPI_File_get_size(fh: MPI_File, size: Out<MPI_Offset>) on fh {
        size.set(file(fh)?.size()?.cast_signed())
    }

    /// The ranks that have it open.
    fn MPI_File_get_group(fh: MPI_File, place: Out<MPI_Group>) on fh {
        group::give(place, file(fh)?.comm.inner.group().clone())
    }

    /// How it was opened.
    fn MPI_File_get_amode(fh: MPI_File, amode: Out<c_int>) on fh {
        amode.set(file(fh)?.mode)
    }

    /// Gives it hints, none of which is heeded.
    fn MPI_File_set_info(fh: MPI_File, hints: MPI_Info) on fh {
        file(fh)?;
        info::infos(hints).map(drop)
    }

    /// Its hints: the name by which this rank has opened it.
    fn MPI_File_get_info(fh: MPI_File, hints: Out<MPI_Info>) on fh {
        let (file, mut told) = (file(fh)?, object::hints(fh.into())?);
        told.set("filename", file.name.as_os_str().as_bytes());
        hints.set(info::add(told))
    }

    /// Has each access be as if nobody else had one at that time, or not.
    fn MPI_File_set_atomicity(fh: MPI_File, flag: c_int) on fh {
        let file = file(fh)?;
        file.agree("flag", i64::from(flag != 0))?;
        file.state().is_atomic = flag != 0;
        Ok(())
    }

    /// Whether it is so.
    fn MPI_File_get_atomicity(fh: MPI_File, flag: Out<c_int>) on fh {
        flag.set(file(fh)?.state().is_atomic.into())
    }

    /// Has all that was written be on the disk.
    fn MPI_File_sync(fh: MPI_File) on fh {
        let file = file(fh)?;
        // What others have written is to be seen now: a lock has a node look anew.
        let looked = file.sync().and_then(|()| match file.is_coherent() {
            true => Ok(()),
            false => file.look_anew(),
        });
        file.together(looked)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::MetadataExt;

    #[test]
    fn where_the_system_keeps_no_room_all_of_it_is_written_and_what_was_there_stays() {
        let path = std::env::temp_dir().join(format!("muster-room.{}", std::process::id()));
        let mut options = fs::OpenOptions::new();
        let file = options.read(true).write(true).create(true).truncate(true).open(&path);
        let file = file.expect("a file");
        file.write_all_at(b"there", ROOM - 2).expect("written");
        file.set_len(ROOM + 100).expect("set");
        fill(&file, 0, 3 * ROOM + 5).expect("filled");
        let metadata = file.metadata().expect("it is there");
        assert_eq!(metadata.len(), 3 * ROOM + 5);
        assert!(metadata.blocks() * 512 >= metadata.len(), "it has holes");
        let bytes = fs::read(&path).expect("read");
        let at = ROOM as usize - 2;
        assert_eq!(&bytes[at..at + 5], b"there");
        assert!(bytes[..at].iter().chain(&bytes[at + 5..]).all(|byte| *byte == 0));
        // What is there is enough.
        fill(&file, 0, 10).expect("filled");
        assert_eq!(fs::read(&path).expect("read"), bytes);
        fs::remove_file(&path).expect("it is there");
    }
}
