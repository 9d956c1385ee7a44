//! Collective writes of ranks whose parts of a file are woven into each other (MPI-5.0, section
//! 14.4.1): little lies together of what one rank has, and much of what all have. Written by each
//! rank alone every part would be a call of the system. So ranks first hand their parts to one
//! another, and each writes what lies together in its share of the file: in two phases (Thakur,
//! Gropp and Lusk, "Data sieving and collective I/O in ROMIO", 1999). Only what some rank has given
//! is written, so nothing needs to be read before.
//!
//! `MPI_File_set_view` finds out whether any rank's view is such that it may be worth while; all
//! ranks come then, whatever is wrong with one's arguments.

use std::io;
use std::ops::Range;

use muster_message::Buffer;
use muster_mpi::buffer::Memory;
use muster_mpi::collective::Plan;
use muster_mpi::communicator::OWN;
use muster_mpi::error::Result;
use muster_mpi::file::{Extent, Extents, View};

use super::access::{Act, Where, of_bytes, outgoing, write};
use super::failure::failed;
use super::{File, Form};
use crate::abi::types::*;
use crate::buffer::Elements;
use crate::communicator::{all_say, halves, whole};
use crate::place::Place;
use crate::request::{EMPTY, set_bytes};
use crate::world::world;

/// How much of the file is a rank's share at a time.
const SHARE: u64 = 4 << 20;

/// Parts that are longer on average are written alone: from there on a call of the system takes no
/// longer than to hand the bytes on (docs/decisions/mpi-abi.md).
const LONG: u64 = 1 << 10;

/// Fewer parts on average are not worth the messages.
const FEW: u64 = 16;

/// Bytes in front of a part that say where it is in its share and how long, four for each.
const HEAD: usize = 8;

/// What of a file is written, by one rank or by all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Span {
    /// The first byte, and the one behind the last.
    start: u64,
    end: u64,
    /// How long it is; of several their sum.
    lengths: u64,
    bytes: u64,
    parts: u64,
    /// Whether each part is behind the one before.
    is_in_order: bool,
}

impl Span {
    const NOTHING: Span =
        Span { start: u64::MAX, end: 0, lengths: 0, bytes: 0, parts: 0, is_in_order: true };

    /// That of one rank.
    fn of(extents: impl Iterator<Item = Extent>) -> Span {
        let span = extents.fold(Span::NOTHING, |span, extent| {
            let (start, end, bytes) = (extent.at, extent.end(), extent.length as u64);
            let is_in_order = start >= span.end;
            span.and(Span { start, end, lengths: 0, bytes, parts: 1, is_in_order })
        });
        Span { lengths: span.length(), ..span }
    }

    /// Both.
    fn and(self, other: Span) -> Span {
        Span {
            start: self.start.min(other.start),
            end: self.end.max(other.end),
            lengths: self.lengths.saturating_add(other.lengths),
            bytes: self.bytes.saturating_add(other.bytes),
            parts: self.parts.saturating_add(other.parts),
            is_in_order: self.is_in_order && other.is_in_order,
        }
    }

    fn length(self) -> u64 {
        self.end.saturating_sub(self.start)
    }

    /// Whether so many ranks hand their parts on to be written: where these are short and many,
    /// those of several lie between each other, and the gaps that are left are few.
    fn is_woven(self, ranks: u64) -> bool {
        let (is_short, is_many) = (self.bytes / LONG < self.parts, self.parts / FEW >= ranks);
        let has_others_between = self.lengths / 3 >= self.length() / 2;
        let is_dense = self.bytes / 3 >= self.length() / 4;
        self.is_in_order && is_short && is_many && has_others_between && is_dense
    }

    fn said(self) -> Vec<i32> {
        let is_in_order = self.is_in_order.into();
        let numbers = [self.start, self.end, self.lengths, self.bytes, self.parts, is_in_order];
        numbers.into_iter().flat_map(halves).collect()
    }

    fn heard(said: &[i32]) -> Span {
        let number = |at: usize| whole(&said[2 * at..]);
        let (start, end, lengths) = (number(0), number(1), number(2));
        let (bytes, parts, is_in_order) = (number(3), number(4), number(5) == 1);
        Span { start, end, lengths, bytes, parts, is_in_order }
    }
}

/// Whether what a view shows lies apart in pieces so small that ranks may better write together.
pub(super) fn is_scattered(view: &View) -> bool {
    let filetype = view.filetype();
    let runs = filetype.runs(1).count() as u64;
    let is_whole = filetype.size().cast_signed() == filetype.extent();
    !is_whole && (filetype.size() as u64) < runs.saturating_mul(LONG)
}

/// Parts of a rank that it has not handed on.
struct Parts<'a> {
    extents: Option<Extents<'a>>,
    next: Option<Extent>,
    /// Their bytes, all of which lie together.
    from: Elements,
    done: usize,
}

impl Parts<'_> {
    /// Those in a share of the file: where in it each is, how long it is, and its bytes.
    fn of(&mut self, share: &Range<u64>) -> Vec<u8> {
        let mut packed = Vec::new();
        while let Some(Extent { at, length }) = self.next.filter(|next| next.at < share.end) {
            let taken = length.min((share.end - at) as usize);
            packed.extend(((at - share.start) as u32).to_le_bytes());
            packed.extend((taken as u32).to_le_bytes());
            let bytes = self.from.whole().unwrap_or_default();
            packed.extend(&bytes[self.done..self.done + taken]);
            self.done += taken;
            self.next = match length - taken {
                0 => self.extents.as_mut().and_then(Iterator::next),
                left => Some(Extent { at: at + taken as u64, length: left }),
            };
        }
        packed
    }
}

/// The same elements, whose bytes lie together.
fn packed(mut elements: Elements) -> Elements {
    if elements.whole().is_some() {
        return elements;
    }
    let mut room = elements.packed();
    if let Some(bytes) = room.whole_mut() {
        elements.read(0, bytes);
    }
    room
}

impl File {
    /// Writes elements at an offset or this rank's pointer, with all ranks; what is said of it.
    pub(super) fn write_all(
        &self,
        (view, form): (&View, Form),
        place: Where,
        elements: Result<Elements>,
    ) -> Result<MPI_Status> {
        let own = elements.and_then(|elements| {
            let size = self.check(Act::Write, &elements)?;
            let position = match place {
                Where::At(offset) => view.position(offset)?,
                // Another thread's access goes on behind this one.
                _ => self.advance_own(size, view),
            };
            Ok((position, size, elements))
        });
        let taken = own.as_ref().map(|(position, size, _)| (*position, *size)).ok();
        let written = self.write_woven((view, form), own);
        if let (Where::Own, Some((position, size)), Err(_)) = (place, taken, &written) {
            self.take_back_own(position, size, view);
        }
        let mut status = EMPTY;
        set_bytes(&mut status, written? as u64);
        Ok(status)
    }

    /// Writes elements from a position on, with all ranks; how many bytes it was.
    fn write_woven(
        &self,
        (view, form): (&View, Form),
        own: Result<(u64, usize, Elements)>,
    ) -> Result<usize> {
        let size = own.as_ref().map_or(0, |(.., elements)| elements.size());
        let own = own.and_then(|(position, size, elements)| {
            Ok((view.extents(position, size)?, outgoing(elements, form)?))
        });
        let span = own.as_ref().map(|(extents, _)| Span::of(extents.clone()));
        let said = all_say(&self.comm, &span.unwrap_or(Span::NOTHING).said())?;
        let all = said.iter().map(|said| Span::heard(said)).fold(Span::NOTHING, Span::and);
        if !all.is_woven(said.len() as u64) {
            let (extents, mut from) = own?;
            let written = write(&self.file, extents, &mut from);
            return written.map(|()| size).map_err(|error| failed("write to", &self.name, error));
        }
        let (mut parts, refused) = match own {
            Ok((mut extents, from)) => {
                let next = extents.next();
                (Parts { extents: Some(extents), next, from: packed(from), done: 0 }, None)
            }
            Err(error) => {
                let from = of_bytes(Place::scratch(0), 0)?;
                (Parts { extents: None, next: None, from, done: 0 }, Some(error))
            }
        };
        let written = self.hand_on(all, &mut parts)?;
        let written = written.map_err(|error| failed("write to", &self.name, error));
        self.together(refused.map_or(written, Err)).map(|()| size)
    }

    /// Has each rank write its share of what all have: the shares of all lie behind one another, as
    /// often as it takes. Whether this rank's could be written.
    fn hand_on(&self, all: Span, parts: &mut Parts<'_>) -> Result<io::Result<()>> {
        let ranks = u64::from(self.comm.inner.size());
        let share = all.length().div_ceil(ranks).min(SHARE);
        let (mut written, mut start) = (Ok(()), all.start);
        while start < all.end {
            let of = |rank: u64| start + rank * share..start + (rank + 1) * share;
            let packed: Vec<Vec<u8>> = (0..ranks).map(|rank| parts.of(&of(rank))).collect();
            let came = self.exchanged(&packed)?;
            written = written
                .and_then(|()| write_share(&self.file, of(self.comm.inner.rank().into()), &came));
            start += ranks * share;
        }
        Ok(written)
    }

    /// Gives bytes to each rank; what each rank gave to this one.
    fn exchanged(&self, packed: &[Vec<u8>]) -> Result<Vec<Elements>> {
        const LENGTH: usize = size_of::<u64>();
        let room = |length| of_bytes(Place::scratch(length), length);
        let (mut own, theirs) = (room(packed.len() * LENGTH)?, room(packed.len() * LENGTH)?);
        let mut from = Vec::with_capacity(packed.len());
        for (rank, bytes) in packed.iter().enumerate() {
            own.write(rank * LENGTH, &(bytes.len() as u64).to_le_bytes());
            let mut one = room(bytes.len())?;
            one.write(0, bytes);
            from.push(one);
        }
        let parts = |all: &Elements| -> Vec<Elements> {
            (0..packed.len()).map(|rank| all.part(rank * LENGTH, LENGTH)).collect()
        };
        self.alltoall(&parts(&own), &parts(&theirs))?;
        let (lengths, _) = theirs.whole().unwrap_or_default().as_chunks::<LENGTH>();
        let lengths = lengths.iter().map(|length| u64::from_le_bytes(*length) as usize);
        let into = lengths.map(room).collect::<Result<Vec<Elements>>>()?;
        self.alltoall(&from, &into)?;
        Ok(into)
    }

    fn alltoall(&self, from: &[Elements], into: &[Elements]) -> Result<()> {
        let mut plan = Plan::new(self.comm.inner.next_collective(OWN));
        plan.alltoall(from, into);
        world()?.process.carry_out(plan)
    }
}

/// Writes what has come of a share of the file. What several ranks give is the last one's.
fn write_share(file: &std::fs::File, share: Range<u64>, came: &[Elements]) -> io::Result<()> {
    use std::os::unix::fs::FileExt;
    let mut bytes = vec![0; (share.end - share.start) as usize];
    let mut runs = Vec::new();
    for one in came {
        let mut rest = one.whole().unwrap_or_default();
        while let Some((head, behind)) = rest.split_first_chunk::<HEAD>() {
            let (at, length) = head.split_at(HEAD / 2);
            let number = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().unwrap_or_default());
            let (start, length) = (number(at) as usize, number(length) as usize);
            let part = behind.split_at_checked(length);
            let (Some((part, behind)), Some(room)) = (part, bytes.get_mut(start..start + length))
            else {
                return Err(io::Error::other("a part is in no share of the file"));
            };
            room.copy_from_slice(part);
            runs.push((start, start + length));
            rest = behind;
        }
    }
    // They are in order for each rank, which sorting makes use of.
    runs.sort();
    let mut runs = runs.into_iter().peekable();
    while let Some((start, mut end)) = runs.next() {
        while let Some((_, next)) = runs.next_if(|(next, _)| *next <= end) {
            end = end.max(next);
        }
        file.write_all_at(&bytes[start..end], share.start + start as u64)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(parts: &[(u64, usize)]) -> Span {
        Span::of(parts.iter().map(|(at, length)| Extent { at: *at, length: *length }))
    }

    /// What so many ranks write that have parts of so many bytes in turns, each followed by a gap.
    fn in_turns(ranks: u64, part: usize, gap: u64, count: u64) -> Span {
        let step = part as u64 + gap;
        let of = |rank: u64| {
            let at = move |turn: u64| (turn * ranks + rank) * step;
            span(&(0..count).map(|turn| (at(turn), part)).collect::<Vec<_>>())
        };
        (0..ranks).map(of).fold(Span::NOTHING, Span::and)
    }

    #[test]
    fn what_is_woven_is_found_in_what_all_ranks_say() {
        let own = span(&[(16, 16), (48, 16), (1 << 40, 16)]);
        assert_eq!(Span::heard(&own.said()), own);
        assert_eq!((own.start, own.end, own.bytes, own.parts), (16, (1 << 40) + 16, 48, 3));
        assert!(in_turns(2, 16, 0, 1000).is_woven(2) && in_turns(8, 1000, 0, 20).is_woven(8));
        assert!(in_turns(3, 24, 8, 1000).is_woven(3), "some gaps");
        assert!(!in_turns(2, 16, 16, 1000).is_woven(2), "nothing would lie together");
        assert!(!in_turns(2, 4096, 0, 1000).is_woven(2), "long");
        assert!(!in_turns(8, 100, 0, 1).is_woven(8), "one part each");
        assert!(!in_turns(1, 16, 0, 1000).is_woven(1), "one rank");
        // Each has a block of its own.
        let block =
            |rank: u64| -> Vec<_> { (0..99).map(|at| ((rank << 20) + at * 20, 16)).collect() };
        let blocks = (0..4).map(|rank| span(&block(rank))).fold(Span::NOTHING, Span::and);
        assert!(!blocks.is_woven(4));
        let back = span(&[(64, 16), (32, 16)]);
        assert!(!in_turns(2, 16, 0, 1000).and(back).is_woven(3), "not in order");
        assert!(!Span::NOTHING.is_woven(2));
    }
}
