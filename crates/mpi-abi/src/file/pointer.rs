//! The two pointers of a file: one of each rank, and one that all ranks share (MPI-5.0, sections
//! 14.4.3 and 14.4.4). The shared one is kept in bytes of the stream that ranks see, which is the
//! same for all that use it.

use std::ffi::c_int;

use muster_mpi::error::{Class, Error, Result};
use muster_mpi::file::View;

use super::{File, file};
use crate::abi::constants::*;
use crate::abi::types::*;
use crate::communicator::{all_say, halves, whole};
use crate::export::export;
use crate::pointer::Out;
use crate::world::world;

/// The position behind so many bytes from one on: it is at a whole etype.
pub(super) fn behind(position: u64, bytes: usize, view: &View) -> u64 {
    position + (bytes as u64).next_multiple_of(view.etype().size() as u64)
}

impl File {
    /// Moves this rank's pointer behind so many bytes; where it was.
    pub(super) fn advance_own(&self, by: usize, view: &View) -> u64 {
        let mut state = self.state();
        let before = state.position;
        state.position = behind(before, by, view);
        before
    }

    /// Sets it back to where it was before so many bytes, unless another thread has moved it since.
    pub(super) fn take_back_own(&self, before: u64, by: usize, view: &View) {
        let mut state = self.state();
        if state.position == behind(before, by, view) {
            state.position = before;
        }
    }

    /// Moves the shared pointer; where it was.
    pub(super) fn advance_shared(&self, by: usize) -> Result<u64> {
        let by = i64::try_from(by).map_err(|_| Error::new(Class::Count, "a count is too large"))?;
        let before = self.shared.add(&self.comm.inner, &world()?.process, by)?;
        Ok(before.cast_unsigned())
    }

    /// Moves the shared pointer behind what all ranks access, in their order; where this one does.
    pub(super) fn advance_ordered(&self, by: usize) -> Result<u64> {
        let sizes = all_say(&self.comm, &halves(by as u64))?;
        let sizes: Vec<i64> = sizes.iter().map(|said| whole(said).cast_signed()).collect();
        let rank = self.comm.inner.rank() as usize;
        let start = match rank {
            0 => self.advance_shared(sizes.iter().sum::<i64>() as usize)?.cast_signed(),
            _ => 0,
        };
        let start = whole(&all_say(&self.comm, &halves(start.cast_unsigned()))?[0]).cast_signed();
        Ok((start + sizes[..rank].iter().sum::<i64>()).cast_unsigned())
    }

    /// Where a pointer is set that is at `current` now.
    fn sought(&self, offset: i64, whence: c_int, current: u64) -> Result<u64> {
        let view = self.state().view.clone();
        let base = match whence {
            MPI_SEEK_SET => 0,
            MPI_SEEK_CUR => view.offset(current),
            MPI_SEEK_END => view.offset(view.end(self.size()?)),
            _ => {
                let what = format!("{whence} is none of MPI_SEEK_SET, MPI_SEEK_CUR, MPI_SEEK_END");
                return Err(Error::new(Class::Arg, what).of("whence"));
            }
        };
        view.position(base.saturating_add(offset))
    }
}

export! {
    /// Sets this rank's pointer.
    fn MPI_File_seek(fh: MPI_File, offset: MPI_Offset, whence: c_int) on fh {
        let file = file(fh)?;
        file.random()?;
        let current = file.state().position;
        let position = file.sought(offset, whence, current)?;
        file.state().position = position;
        Ok(())
    }

    /// Where it is.
    fn MPI_File_get_position(fh: MPI_File, offset: Out<MPI_Offset>) on fh {
        let file = file(fh)?;
        file.random()?;
        let state = file.state();
        offset.set(state.view.offset(state.position))
    }

    /// Sets the shared pointer: all ranks demand the same.
    fn MPI_File_seek_shared(fh: MPI_File, offset: MPI_Offset, whence: c_int) on fh {
        let file = file(fh)?;
        file.random()?;
        file.agree("offset", offset)?;
        file.agree("whence", whence.into())?;
        let sought = match file.comm.inner.rank() {
            0 => file.advance_shared(0).and_then(|now| file.sought(offset, whence, now)),
            _ => Ok(0),
        };
        if let Ok(position) = &sought {
            file.shared.set(position.cast_signed());
        }
        file.together(sought).map(|_| ())
    }

    /// Where it is.
    fn MPI_File_get_position_shared(fh: MPI_File, offset: Out<MPI_Offset>) on fh {
        let file = file(fh)?;
        file.random()?;
        let position = file.advance_shared(0)?;
        offset.set(file.state().view.offset(position))
    }
}
