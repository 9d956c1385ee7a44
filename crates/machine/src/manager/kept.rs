//! Files of a job that waits, kept until it has nodes.
//!
//! `jobs/J.files` is the stream that tells them, `jobs/J.chunks` has the chunks that it names, each
//! where its number says. All chunks are asked for, in their order, since what nodes lack is not
//! known before there are nodes. When there are, the stream and what of the chunks is wanted go
//! out as if the client gave them, and both files are removed; those of a job that may begin again
//! ([`again`](super::again)) only when it has ended, and they are kept whether it waits or not.

use super::job::Job;
use super::launch::{Check, begin, ended_by};
use super::pieces::{self, Chunk, Failed, Pieces};
use crate::relay::format::Parser;
use muster_base::limits::CHUNK;
use muster_ninep::error::{Errno, Error, Result, fail};
use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::sync::Arc;

/// Bytes of the stream that are read at once.
const PIECE: usize = 1024 * 1024;

/// How far the files of a job have come.
#[derive(Default)]
pub(super) struct Kept {
    /// The chunks' lengths; known when the stream has ended.
    lengths: Vec<usize>,
    /// Chunks that are there whole.
    whole: usize,
    /// Bytes that are there of the next one.
    part: usize,
}

impl Kept {
    pub(super) fn told(&mut self, chunks: &[Chunk]) {
        self.lengths = chunks.iter().map(|chunk| chunk.length).collect();
    }

    /// The chunks that are to be given.
    pub(super) fn wanted(&self) -> Vec<u32> {
        (self.whole as u32..self.lengths.len() as u32).collect()
    }

    /// Takes bytes that go to the end of what is there. They are there once they are written: what
    /// had no room is to be given again.
    fn take(&mut self, file: &File, offset: u64, bytes: &[u8]) -> Result<()> {
        let is_next = offset == (self.whole * CHUNK + self.part) as u64;
        let Some(most) = self.lengths.get(self.whole).filter(|_| is_next) else {
            return fail(Errno::INVAL, "chunks of the job's files: bytes out of order  [E205]");
        };
        if self.part + bytes.len() > *most {
            let text =
                format!("chunk {} of the job's files has {most} bytes, not more", self.whole);
            return fail(Errno::INVAL, text + "  [E205]");
        }
        file.write_all_at(bytes, offset).map_err(|error| unkept(&error))?;
        self.part += bytes.len();
        if self.part == *most {
            (self.whole, self.part) = (self.whole + 1, 0);
        }
        Ok(())
    }
}

/// What it is called when they cannot be kept.
pub(super) fn unkept(error: &io::Error) -> Error {
    let errno = Errno::from_io_error(error).unwrap_or(Errno::IO);
    Error::new(errno, format!("the job waits, and its files cannot be kept: {error}  [E310]"))
}

fn open(job: &Job, kind: &str, options: &OpenOptions) -> Result<File> {
    let manager = job.manager()?;
    options.open(manager.kept_file(job.id, kind)).map_err(|error| unkept(&error))
}

/// Begins to keep them: the file for the stream.
pub(super) fn create(job: &Job) -> Result<File> {
    let mut options = File::options();
    options.write(true).create(true).truncate(true);
    let manager = job.manager()?;
    manager.with_room(|| {
        open(job, "chunks", &options)?;
        open(job, "files", &options)
    })
}

/// Takes bytes of a chunk.
pub(super) fn give(job: &Job, offset: u64, bytes: &[u8]) -> Result<()> {
    let file = open(job, "chunks", File::options().write(true))?;
    let manager = job.manager()?;
    let mut state = job.state();
    match &mut state.kept {
        Some(kept) => manager.with_room(|| kept.take(&file, offset, bytes)),
        None => Err(ended_by(&state)),
    }
}

/// Sends them all, now that the job has nodes.
pub(super) fn send(job: &Arc<Job>) -> std::result::Result<Pieces, Failed> {
    let whole = |error: Error| (None, error);
    let read = |kind| open(job, kind, File::options().read(true)).map_err(whole);
    let (mut stream, chunks) = (read("files")?, read("chunks")?);
    let mut pieces = begin(job, true)?.expect("there are files");
    let (mut parser, mut check) = (Parser::default(), Check::default());
    let mut piece = vec![0; PIECE.max(CHUNK)];
    let unread = |error: io::Error| whole(unkept(&error));
    loop {
        let length = stream.read(&mut piece[..PIECE]).map_err(unread)?;
        if length == 0 {
            break;
        }
        let checked = parser.push(&piece[..length], &mut check);
        checked.map_err(|error| whole(Error::new(Errno::INVAL, error.to_string())))?;
        pieces.push(job, &piece[..length])?;
        pieces::check(job)?;
    }
    let lengths: Vec<usize> = check.chunks.iter().map(|chunk| chunk.length).collect();
    pieces.tell(check.chunks);
    while !lengths.is_empty() {
        let wanted = pieces.wanted(job)?;
        if wanted.is_empty() {
            break;
        }
        for number in wanted {
            let offset = u64::from(number) * CHUNK as u64;
            let bytes = &mut piece[..lengths[number as usize]];
            chunks.read_exact_at(bytes, offset).map_err(unread)?;
            pieces.give(job, offset, bytes)?;
            pieces::check(job)?;
        }
    }
    if job.state().spec.as_ref().is_none_or(|spec| spec.requeue == 0) {
        job.drop_kept();
    }
    Ok(pieces)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;

    #[test]
    fn bytes_that_a_full_disk_has_not_taken_are_not_there() {
        let mut kept = Kept { lengths: vec![CHUNK, 3], ..Kept::default() };
        let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
        let said = kept.take(&full, 0, &[1; CHUNK]).unwrap_err();
        assert!(said.text.contains("[E310]"), "{said}");
        assert_eq!(kept.wanted(), [0, 1]);
        let scratch = Scratch::new("kept");
        let file = File::create(scratch.join("chunks")).unwrap();
        kept.take(&file, 0, &[1; CHUNK]).unwrap();
        assert_eq!(kept.wanted(), [1]);
        assert!(kept.take(&file, 0, &[1; 3]).unwrap_err().text.contains("out of order"));
        kept.take(&file, CHUNK as u64, &[1; 3]).unwrap();
        assert!(kept.wanted().is_empty());
    }
}
