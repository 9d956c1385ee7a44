//! An opened file as `std::io` knows one, with several requests under way if asked: for copies.

use super::Fid;
use super::link::Cancel;
use crate::error::{Errno, Error, Result};
use std::collections::VecDeque;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::sync::mpsc;

/// An opened file with a position.
///
/// With [`File::with_depth`] reads and writes are sent ahead of their answers. That is for files
/// whose bytes stay where they are: what a pipe gave to a read ahead of a [`Seek`] is lost. An
/// error of a write then shows at a later call, at the latest at [`Write::flush`]; a file that is
/// dropped before says nothing.
#[derive(Debug)]
pub struct File {
    fid: Fid,
    position: u64,
    depth: usize,
    reads: VecDeque<Ahead>,
    writes: VecDeque<Behind>,
    /// What is left of the last answer.
    rest: (Vec<u8>, usize),
}

#[derive(Debug)]
struct Ahead {
    count: u32,
    answer: mpsc::Receiver<Result<Vec<u8>>>,
    cancel: Cancel,
}

#[derive(Debug)]
struct Behind {
    count: usize,
    answer: mpsc::Receiver<Result<u32>>,
}

impl File {
    /// A file over an opened fid, at its start.
    pub fn new(fid: Fid) -> File {
        let (reads, writes) = (VecDeque::new(), VecDeque::new());
        File { fid, position: 0, depth: 1, reads, writes, rest: (Vec::new(), 0) }
    }

    /// Keeps up to `depth` requests under way.
    #[must_use]
    pub fn with_depth(mut self, depth: usize) -> File {
        self.depth = depth.max(1);
        self
    }

    /// The fid.
    pub fn fid(&self) -> &Fid {
        &self.fid
    }

    /// Gives the fid back.
    pub fn into_fid(self) -> Fid {
        self.fid.clone()
    }

    /// Reads on to the end.
    ///
    /// # Errors
    /// Those of a read.
    pub fn read_rest(&mut self) -> Result<Vec<u8>> {
        let mut all = Vec::new();
        while self.next_part()? {
            all.extend_from_slice(&self.rest.0[self.rest.1..]);
            self.position += (self.rest.0.len() - self.rest.1) as u64;
            self.rest = (Vec::new(), 0);
        }
        Ok(all)
    }

    /// Gets bytes into `rest`; false at the end of the file.
    fn next_part(&mut self) -> Result<bool> {
        if self.rest.1 < self.rest.0.len() {
            return Ok(true);
        }
        self.settle(0)?;
        let count = self.fid.max_data();
        let part = if self.depth == 1 {
            self.fid.read_at(self.position, count)?
        } else {
            let mut at =
                self.position + self.reads.iter().map(|ahead| u64::from(ahead.count)).sum::<u64>();
            while self.reads.len() < self.depth {
                self.reads.push_back(read_ahead(&self.fid, at, count));
                at += u64::from(count);
            }
            let first = self.reads.pop_front().expect("the depth is not 0");
            let limit = self.fid.client().patience.data;
            let (path, name) = (self.fid.path(), self.fid.client().name());
            let part = super::await_answer("read", &path, name, limit, &first.answer);
            if !matches!(&part, Ok(part) if part.len() == count as usize) {
                // The others asked for what lies behind; a short read says they are wrong. And
                // if this one was not answered in time, nobody waits for it any more.
                first.cancel.flush();
                self.forget_reads();
            }
            part.map_err(|error| error.at(&path))?
        };
        let any = !part.is_empty();
        self.rest = (part, 0);
        Ok(any)
    }

    fn forget_reads(&mut self) {
        for ahead in self.reads.drain(..) {
            ahead.cancel.flush();
        }
    }

    /// Waits until at most `left` writes are under way.
    fn settle(&mut self, left: usize) -> Result<()> {
        while self.writes.len() > left {
            let behind = self.writes.pop_front().expect("there are some");
            let limit = self.fid.client().patience.data;
            let (path, name) = (self.fid.path(), self.fid.client().name());
            let written = super::await_answer("write", &path, name, limit, &behind.answer)
                .map_err(|error| error.at(&path))?;
            if (written as usize) < behind.count {
                let text = format!("the server took {written} of {} bytes", behind.count);
                return Err(Error::new(Errno::NOSPC, text).at(&path));
            }
        }
        Ok(())
    }
}

fn read_ahead(fid: &Fid, at: u64, count: u32) -> Ahead {
    let (told, answer) = mpsc::sync_channel(1);
    // The file may be gone when the answer comes.
    let cancel = fid.read_then(at, count, move |part| drop(told.send(part.map(<[u8]>::to_vec))));
    Ahead { count, answer, cancel }
}

impl Drop for File {
    fn drop(&mut self) {
        self.forget_reads();
    }
}

impl Read for File {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if into.is_empty() || !self.next_part()? {
            return Ok(0);
        }
        let rest = &self.rest.0[self.rest.1..];
        let count = rest.len().min(into.len());
        into[..count].copy_from_slice(&rest[..count]);
        self.rest.1 += count;
        self.position += count as u64;
        Ok(count)
    }
}

impl Write for File {
    fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        // What was read ahead may be what is written now.
        self.forget_reads();
        self.rest = (Vec::new(), 0);
        let count = from.len().min(self.fid.max_data() as usize);
        if self.depth == 1 {
            let written = self.fid.write_at(self.position, &from[..count])?;
            self.position += written as u64;
            return Ok(written);
        }
        self.settle(self.depth - 1)?;
        let (told, answer) = mpsc::sync_channel(1);
        self.fid.write_then(self.position, &from[..count], move |end| drop(told.send(end)));
        self.writes.push_back(Behind { count, answer });
        self.position += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(self.settle(0)?)
    }
}

impl Seek for File {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.settle(0)?;
        let base = match to {
            SeekFrom::Start(_) => 0,
            SeekFrom::Current(_) => self.position,
            SeekFrom::End(_) => self.fid.getattr()?.size,
        };
        let position = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::Current(by) | SeekFrom::End(by) => base.checked_add_signed(by),
        };
        self.position = position.ok_or(io::ErrorKind::InvalidInput)?;
        self.forget_reads();
        self.rest = (Vec::new(), 0);
        Ok(self.position)
    }
}

impl From<Error> for io::Error {
    fn from(error: Error) -> io::Error {
        // `Interrupted` would have the standard library try again; we were told to stop.
        let kind = match io::Error::from(error.errno).kind() {
            io::ErrorKind::Interrupted => io::ErrorKind::Other,
            kind => kind,
        };
        io::Error::new(kind, error)
    }
}
