//! Bytes between memory and what a rank sees of a file.
//!
//! What lies together in the file is one call of the system, and goes straight to or from the
//! program's memory where it lies together there, too. Otherwise it goes through a buffer, a piece
//! after the other. Reads whose parts lie near each other read what is between them, too.

use std::io::{self, Read, Write};
use std::os::unix::fs::FileExt;

use muster_message::Buffer;
use muster_mpi::buffer::Memory;
use muster_mpi::error::{Class, Error, Result};
use muster_mpi::file::{Extent, Extents, View};
use rustix::io::Errno;

use super::failure::failed;
use super::lock::{Apart, Lock};
use super::pointer::behind;
use super::{File, Form, State};
use crate::abi::constants::*;
use crate::abi::types::*;
use crate::buffer::Elements;
use crate::place::Place;
use crate::request::{EMPTY, set_bytes};
use crate::world::world;

/// How much goes through the buffer at a time.
const PIECE: usize = 4 << 20;

/// How much more may be read than is wanted.
const WASTE: u64 = 4;

/// What is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Act {
    Read,
    Write,
}

/// Where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Where {
    /// At an offset in etypes.
    At(i64),
    /// At this rank's pointer.
    Own,
    /// At the shared pointer.
    Shared,
    /// At the shared pointer, in the order of ranks.
    Ordered,
}

/// How many bytes were read or written.
#[derive(Clone, Copy, Debug, Default)]
struct Done {
    in_file: usize,
    in_memory: usize,
}

impl File {
    /// Reads or writes elements; what is said of it.
    pub(super) fn access(&self, act: Act, place: Where, elements: Elements) -> Result<MPI_Status> {
        // Who uses a file all the time has what others ask of it answered, too.
        if self.comm.inner.size() > 1 {
            world()?.process.state().progress()?;
        }
        let checked = self.check(act, &elements);
        let is_shared = matches!(place, Where::Shared | Where::Ordered);
        if !is_shared {
            self.random()?;
        }
        let done = match place {
            Where::At(offset) => {
                checked?;
                let (view, form, is_atomic) = self.state().seen();
                let position = view.position(offset)?;
                self.transfer(act, (&view, form), position, elements, is_atomic)?
            }
            Where::Own => {
                checked?;
                let mut state = self.state();
                let (view, form, is_atomic) = state.seen();
                let position = state.position;
                let done = self.transfer(act, (&view, form), position, elements, is_atomic)?;
                state.position = behind(position, done.in_file, &view);
                done
            }
            Where::Shared | Where::Ordered => {
                // In order all ranks come, whatever is wrong with one's arguments.
                let by = *checked.as_ref().unwrap_or(&0);
                let position = match place {
                    Where::Ordered => self.advance_ordered(by)?,
                    _ => checked.clone().and_then(|by| self.advance_shared(by))?,
                };
                let transfer = || {
                    checked?;
                    let (view, form, is_atomic) = self.state().seen();
                    self.transfer(act, (&view, form), position, elements, is_atomic)
                };
                if place == Where::Ordered { self.in_turn(transfer)? } else { transfer()? }
            }
        };
        let mut status = EMPTY;
        set_bytes(&mut status, done.in_memory as u64);
        Ok(status)
    }

    /// Reads or writes elements, as all ranks do; what is said of it. All come, also those whose
    /// arguments make no elements.
    pub(super) fn access_all(
        &self,
        act: Act,
        place: Where,
        elements: Result<Elements>,
    ) -> Result<MPI_Status> {
        let state = self.state();
        let is_together = act == Act::Write && state.is_woven && !state.is_atomic;
        let (view, form) = (state.view.clone(), state.form);
        drop(state);
        match (place, &elements) {
            (Where::Ordered, Err(_)) => {
                self.advance_ordered(0)?;
                self.in_turn(|| elements.map(|_| EMPTY))
            }
            (Where::At(_) | Where::Own, _) if is_together => {
                self.random()?;
                self.write_all((&view, form), place, elements)
            }
            _ => self.access(act, place, elements?),
        }
    }

    /// That elements can be read or written at all; how many bytes they have in the file.
    pub(super) fn check(&self, act: Act, elements: &Elements) -> Result<usize> {
        if act == Act::Write {
            self.writable()?;
        }
        if act == Act::Read && self.is(MPI_MODE_WRONLY) {
            let what = format!("{} is open with MPI_MODE_WRONLY", self.name.display());
            return Err(Error::new(Class::Access, what));
        }
        let state = self.state();
        let (size, unit) = (state.form.size(elements)?, state.view.etype().size());
        if !size.is_multiple_of(unit) {
            let what = format!("the buffer's {size} bytes are not whole etypes of {unit}");
            return Err(Error::new(Class::Io, what));
        }
        Ok(size)
    }

    /// Reads or writes elements from a position on; how much it was.
    fn transfer(
        &self,
        act: Act,
        (view, form): (&View, Form),
        position: u64,
        elements: Elements,
        is_atomic: bool,
    ) -> Result<Done> {
        let size = form.size(&elements)?;
        let extents = view.extents(position, size)?;
        if size == 0 {
            return Ok(Done::default());
        }
        let _lock = is_atomic.then(|| Lock::new(self, act)).transpose()?;
        let _apart = match act == Act::Write && !is_atomic && !self.is_coherent() {
            true => Apart::new(self, view.extents(position, size)?)?,
            false => None,
        };
        let name = &self.name;
        match act {
            Act::Write => {
                let in_memory = elements.size();
                let mut from = outgoing(elements, form)?;
                let written = match self.is_stream {
                    true => write_next(&self.file, extents, &mut from),
                    false => write(&self.file, extents, &mut from),
                };
                written.map_err(|error| failed("write to", name, error))?;
                Ok(Done { in_file: size, in_memory })
            }
            Act::Read if form == Form::External => {
                let mut bytes = of_bytes(Place::scratch(size), size)?;
                let in_file = self.read(extents, &mut bytes)?;
                let external = &bytes.whole().unwrap_or_default()[..in_file];
                let (datatype, count) = (elements.datatype(), elements.count());
                let mut memory = elements.memory().clone();
                let in_memory = datatype.unpack_external_part(count, &mut memory, external);
                Ok(Done { in_file, in_memory })
            }
            Act::Read => {
                let mut into = elements;
                let done = self.read(extents, &mut into)?;
                Ok(Done { in_file: done, in_memory: done })
            }
        }
    }

    /// Reads parts of it into a buffer, up to its end; how many bytes it was.
    fn read(&self, extents: Extents<'_>, into: &mut Elements) -> Result<usize> {
        let done = match self.is_stream {
            true => read_next(&self.file, extents, into),
            false => read(&self.file, extents, into),
        };
        done.map_err(|error| failed("read", &self.name, error))
    }

    /// Has ranks do something one after the other, where positions do not keep them apart.
    fn in_turn<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        if !self.is_stream {
            return work();
        }
        let (rank, size) = (self.comm.inner.rank(), self.comm.inner.size());
        (0..rank).try_for_each(|_| self.barrier())?;
        let done = work();
        (rank..size).try_for_each(|_| self.barrier())?;
        done
    }
}

/// Writes all bytes of a buffer to a stream, which has no gaps.
fn write_next(
    mut file: &std::fs::File,
    extents: Extents<'_>,
    from: &mut Elements,
) -> io::Result<()> {
    without_gaps(extents)?;
    let mut bytes = vec![0; from.size()];
    from.read(0, &mut bytes);
    file.write_all(&bytes)
}

/// Fills a buffer from a stream, up to its end; how many bytes it was.
fn read_next(file: &std::fs::File, extents: Extents<'_>, into: &mut Elements) -> io::Result<usize> {
    without_gaps(extents)?;
    let mut bytes = Vec::new();
    let done = file.take(into.size() as u64).read_to_end(&mut bytes)?;
    into.write(0, &bytes);
    Ok(done)
}

/// That parts of a stream are one.
fn without_gaps(mut extents: Extents<'_>) -> io::Result<()> {
    if extents.nth(1).is_some() { Err(Errno::SPIPE.into()) } else { Ok(()) }
}

impl State {
    /// What an access looks at.
    fn seen(&self) -> (View, Form, bool) {
        (self.view.clone(), self.form, self.is_atomic)
    }
}

/// Bytes as elements.
pub(super) fn of_bytes(place: Place, size: usize) -> Result<Elements> {
    use muster_mpi::datatype::{Datatype, Predefined};
    Elements::new(place, size, Datatype::of(Predefined::Byte).clone())
}

/// Elements as they are written.
pub(super) fn outgoing(elements: Elements, form: Form) -> Result<Elements> {
    if form != Form::External {
        return Ok(elements);
    }
    let size = form.size(&elements)?;
    let mut place = Place::scratch(size);
    let external = place.bytes_mut(0, size);
    elements.datatype().pack_external(elements.count(), elements.memory(), external)?;
    of_bytes(place, size)
}

/// Writes all bytes of a buffer to parts of a file.
pub(super) fn write(
    file: &std::fs::File,
    extents: impl Iterator<Item = Extent>,
    from: &mut Elements,
) -> io::Result<()> {
    if let Some(bytes) = from.whole() {
        let mut rest = bytes;
        for extent in extents {
            let piece = rest.split_off(..extent.length).unwrap_or_default();
            file.write_all_at(piece, extent.at)?;
        }
        return Ok(());
    }
    let (mut done, mut buffer) = (0, vec![0; from.size().min(PIECE)]);
    // What of the buffer is filled, and was written.
    let (mut filled, mut written) = (0, 0);
    for mut extent in extents {
        while extent.length > 0 {
            if written == filled {
                filled = (from.size() - done).min(PIECE);
                from.read(done, &mut buffer[..filled]);
                done += filled;
                written = 0;
            }
            let length = extent.length.min(filled - written);
            file.write_all_at(&buffer[written..written + length], extent.at)?;
            written += length;
            extent = Extent { at: extent.at + length as u64, length: extent.length - length };
        }
    }
    Ok(())
}

/// Reads parts of a file into a buffer, up to the file's end; how many bytes it was.
fn read(
    file: &std::fs::File,
    mut extents: impl Iterator<Item = Extent>,
    into: &mut Elements,
) -> io::Result<usize> {
    let size = into.size();
    let mut extent = extents.next();
    // All that lies together on both sides.
    if let (Some(Extent { at, length }), Some(bytes)) = (extent, into.whole_mut())
        && length == size
    {
        return read_at(file, at, bytes);
    }
    let (mut buffer, mut done) = (Vec::new(), 0);
    while let Some(first) = extent {
        let cut = Extent { length: first.length.min(PIECE), ..first };
        let rest = Extent { at: cut.end(), length: first.length - cut.length };
        let (mut near, mut wanted, mut end) = (vec![cut], cut.length as u64, cut.end());
        extent = if rest.length > 0 { Some(rest) } else { extents.next() };
        while let Some(next) = extent {
            // The last part is not always the one that ends last: parts of a view may overlap where
            // it is only read, and be woven into each other.
            let furthest = end.max(next.end());
            let span = furthest - cut.at;
            wanted += next.length as u64;
            if next.at < cut.end() || span > PIECE as u64 || span > wanted * WASTE {
                break;
            }
            near.push(next);
            end = furthest;
            extent = extents.next();
        }
        buffer.resize((end - cut.at) as usize, 0);
        let there = read_at(file, cut.at, &mut buffer)?;
        for part in near {
            let start = ((part.at - cut.at) as usize).min(there);
            let end = (start + part.length).min(there);
            into.write(done, &buffer[start..end]);
            done += end - start;
            if end - start < part.length {
                return Ok(done);
            }
        }
    }
    Ok(done)
}

/// Reads bytes that lie together; fewer at the file's end only.
pub(super) fn read_at(file: &std::fs::File, at: u64, into: &mut [u8]) -> io::Result<usize> {
    let mut done = 0;
    while done < into.len() {
        match file.read_at(&mut into[done..], at + done as u64) {
            Ok(0) => break,
            Ok(count) => done += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(done)
}
