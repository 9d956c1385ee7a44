//! Where the bytes of a stream are in the file of a job's log.

use crate::files::latch::Waiting;
use crate::output::{AGAIN, HEADER, Head, Output};
use muster_ninep::call::Data;
use muster_ninep::error::{Errno, Error, Result, fail};
use std::fs;
use std::os::unix::fs::FileExt;

/// Bytes of the file that one piece of an index reaches over at most, unless it is one record.
pub(super) const SPAN_MAX: u64 = 64 * 1024;

/// How many bytes of the file may be looked through for one of a stream: a piece does not reach
/// over more of others.
const SPARSE: u64 = 16;

/// How far the end of a line is looked for whose beginning is gone.
const LINE_MAX: usize = 64 * 1024;

/// Why bytes are gone.
pub(super) const TAKEN: &str = "who took the job's output had them, and only the last are kept";

/// Bytes of the file that are part of a stream.
#[derive(Debug, Clone, Copy)]
pub(super) struct Piece {
    /// Where they are in the stream.
    at: u64,
    /// Where the first of them is in the file.
    file: u64,
    length: u64,
    /// Bytes of the file from the first to the last. If there are more of them than of the stream
    /// they are whole records, of which those that are the stream's are part of it.
    span: u64,
}

impl Piece {
    /// Reads bytes of it, from `skip` on.
    fn read(&self, file: &fs::File, whose: Whose, skip: u64, bytes: &mut [u8]) -> Result<()> {
        if self.span == self.length {
            return Ok(file.read_exact_at(bytes, self.file + skip)?);
        }
        let mut records = vec![0; HEADER + self.span as usize];
        file.read_exact_at(&mut records, self.file - HEADER as u64)?;
        let (mut rest, mut skip, mut done) = (&records[..], skip as usize, 0);
        while let Some((head, behind)) = rest.split_first_chunk().filter(|_| done < bytes.len()) {
            let head =
                Head::read(head).map_err(|error| Error::new(Errno::IO, error.to_string()))?;
            let (own, behind) = behind.split_at(head.length.min(behind.len()));
            rest = behind;
            if !whose.is_of(&head) {
                continue;
            }
            let own = &own[skip.min(own.len())..];
            skip = skip.saturating_sub(head.length);
            let count = own.len().min(bytes.len() - done);
            bytes[done..done + count].copy_from_slice(&own[..count]);
            done += count;
        }
        Ok(())
    }
}

/// Which stream: a rank's, or with none that of all.
#[derive(Debug, Clone, Copy)]
pub(super) struct Whose(pub(super) Option<usize>, pub(super) Output);

impl Whose {
    fn is_of(self, head: &Head) -> bool {
        let Whose(rank, output) = self;
        head.output == output && head.rank != AGAIN && rank.is_none_or(|rank| rank == head.rank)
    }
}

/// A stream.
#[derive(Default)]
pub(super) struct Index {
    pub(super) pieces: Vec<Piece>,
    pub(super) end: u64,
    /// All records of the stream since the last piece began are part of it, whole and in their
    /// order.
    pub(super) in_step: bool,
    pub(super) ended: bool,
    pub(super) waiting: Waiting<Data, (u64, usize)>,
}

impl Index {
    /// Adds bytes of the file: a whole record's, or a part of one's.
    pub(super) fn add(&mut self, file: u64, length: u64, is_whole: bool) {
        if length == 0 {
            return;
        }
        let in_step = std::mem::replace(&mut self.in_step, is_whole) && is_whole;
        let joins = |last: &Piece| {
            let span = (file + length).saturating_sub(last.file);
            in_step && span <= SPAN_MAX.min(SPARSE * (last.length + length))
        };
        match self.pieces.last_mut() {
            Some(last) if last.span == last.length && last.file + last.length == file => {
                last.length += length;
                last.span = last.length;
            }
            Some(last) if joins(last) => {
                (last.span, last.length) = (file + length - last.file, last.length + length);
            }
            _ => self.pieces.push(Piece { at: self.end, file, length, span: length }),
        }
        self.end += length;
    }

    /// The first byte that is there.
    fn base(&self) -> u64 {
        self.pieces.first().map_or(self.end, |piece| piece.at)
    }

    /// Where who wants it from its beginning starts: there or, if bytes are gone, at the first line
    /// that is whole.
    pub(super) fn first(&self, file: &fs::File, whose: Whose) -> u64 {
        let base = self.base();
        if base == 0 {
            return 0;
        }
        let cut = self.read(file, whose, base, LINE_MAX).unwrap_or_default();
        base + cut.iter().position(|byte| *byte == b'\n').map_or(0, |at| at as u64 + 1)
    }

    /// What is before `gone` in the file is no more.
    pub(super) fn forget(&mut self, gone: u64) {
        let last = self.pieces.iter().rposition(|piece| piece.file < gone);
        self.pieces.drain(..last.map_or(0, |last| last + 1));
    }

    /// Bytes from `offset` on.
    pub(super) fn read(
        &self,
        file: &fs::File,
        whose: Whose,
        offset: u64,
        count: usize,
    ) -> Result<Vec<u8>> {
        if let Some(lacking) = self.base().checked_sub(offset).filter(|lacking| *lacking > 0) {
            return fail(Errno::STALE, format!("{lacking} bytes are gone: {TAKEN}"));
        }
        let count = count.min(usize::try_from(self.end.saturating_sub(offset)).unwrap_or(count));
        let mut bytes = vec![0; count];
        let mut done = 0;
        let first = self.pieces.partition_point(|piece| piece.at + piece.length <= offset);
        for piece in &self.pieces[first..] {
            // The next piece may begin behind what was asked for.
            if done == count {
                break;
            }
            let skip = (offset + done as u64) - piece.at;
            let length = (piece.length - skip).min((count - done) as u64) as usize;
            piece.read(file, whose, skip, &mut bytes[done..done + length])?;
            done += length;
        }
        bytes.truncate(done);
        Ok(bytes)
    }
}
