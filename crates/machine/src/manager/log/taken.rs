//! What of a job's output somebody has taken. It need not be kept, or the output of one job fills
//! the disk; and who takes it more slowly than it is written has the ranks wait, as a full pipe
//! would.
//!
//! Who takes it (`jobs/J/take`) has all before the offset that he asks for. From time to time it is
//! noted how far each stream has come ([`Mark`]); once more than [`KEPT`] bytes behind such a mark
//! are taken, the mark is written beside the log, and what is before it goes: a hole in the file,
//! whose offsets stay.

use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::{fs, io, mem};

/// How much is kept of what is taken, for others.
pub(super) const KEPT: u64 = 64 << 20;

/// Bytes between two marks.
pub(super) const STEP: u64 = 32 << 20;

/// How much there may be that is not taken.
pub(super) const AHEAD: u64 = 16 << 20;

/// Where the log may begin: at the record there, of this attempt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Mark {
    pub(super) at: u64,
    pub(super) attempt: usize,
    /// By rank, stdout and stderr.
    pub(super) streams: Vec<[Come; 2]>,
}

/// How far a stream has come.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct Come {
    /// Where the attempt begins in it.
    pub(super) base: u64,
    pub(super) end: u64,
    pub(super) ended: bool,
}

/// The file that says where the log at `path` begins.
pub(super) fn beside(path: &Path) -> PathBuf {
    path.with_extension("begin")
}

impl Mark {
    /// Where the log at `path` begins, if that is not its first byte.
    pub(super) fn read(path: &Path) -> io::Result<Option<Mark>> {
        match fs::read(beside(path)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            read => Ok(Some(serde_json::from_slice(&read?)?)),
        }
    }

    /// The log at `path` begins here from now on. The file is whole at any moment.
    fn write(&self, path: &Path) -> io::Result<()> {
        let (file, new) = (beside(path), path.with_extension("new"));
        fs::write(&new, serde_json::to_vec(self)?)?;
        fs::rename(new, file)
    }
}

/// What waits until there is room for more output.
type Waits = Box<dyn FnOnce() + Send>;

/// Who takes the output, and how far it is taken.
#[derive(Default)]
pub(super) struct Taken {
    /// Open files.
    takers: usize,
    to: u64,
    marks: VecDeque<Mark>,
    waits: Vec<Waits>,
    /// The job is being ended: nothing waits any more.
    is_let_go: bool,
    /// The disk makes no holes.
    is_whole: bool,
}

impl Taken {
    /// Somebody takes it.
    pub(super) fn open(&mut self) {
        self.takers += 1;
    }

    /// He does not any more.
    pub(super) fn close(&mut self) {
        self.takers -= 1;
    }

    /// All before `offset` is taken.
    pub(super) fn take(&mut self, offset: u64) {
        self.to = self.to.max(offset);
    }

    /// Nothing waits for who takes it any more.
    pub(super) fn let_go(&mut self) {
        self.is_let_go = true;
    }

    /// Whether ranks may write more, of so many bytes that there are.
    fn has_room(&self, length: u64) -> bool {
        self.takers == 0 || self.is_let_go || length.saturating_sub(self.to) < AHEAD
    }

    /// Goes on when there is room: now if it is given back.
    pub(super) fn when_room(&mut self, length: u64, waits: Waits) -> Option<Waits> {
        if self.has_room(length) {
            return Some(waits);
        }
        self.waits.push(waits);
        None
    }

    /// Those who can go on.
    pub(super) fn ready(&mut self, length: u64) -> Vec<Waits> {
        if self.has_room(length) { mem::take(&mut self.waits) } else { Vec::new() }
    }

    /// Whether a mark is to be made here.
    pub(super) fn wants_mark(&self, length: u64, gone: u64) -> bool {
        let last = self.marks.back().map_or(gone, |mark| mark.at);
        self.takers > 0 && !self.is_whole && length - last >= STEP
    }

    pub(super) fn mark(&mut self, mark: Mark) {
        self.marks.push_back(mark);
    }

    /// Lets go of what need not be kept of the log at `path`. Where it begins from now on.
    pub(super) fn release(&mut self, path: &Path, file: &fs::File) -> Option<u64> {
        let old = self.marks.iter().take_while(|mark| mark.at + KEPT <= self.to).count();
        let mark = self.marks.drain(..old).next_back()?;
        // First it is said. On a full disk all stays.
        mark.write(path).ok()?;
        let how = rustix::fs::FallocateFlags::PUNCH_HOLE | rustix::fs::FallocateFlags::KEEP_SIZE;
        if rustix::fs::fallocate(file, how, 0, mark.at).is_err() {
            // More than was said is there, which does no harm.
            self.is_whole = true;
            self.marks.clear();
        }
        Some(mark.at)
    }
}
