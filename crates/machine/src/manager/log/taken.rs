//! What of a job's output somebody has taken. It need not be kept, or the output of one job fills
//! the disk; and who takes it more slowly than it is written has the ranks wait, as a full pipe
//! would.
//!
//! Who takes it (`jobs/J/take`) has all before the offset that he asks for; of several the
//! slowest counts. All is kept of a job that needs nobody who takes it (`detach`). From time to
//! time it is noted how far each stream has come ([`Mark`]); once more than [`KEPT`] bytes behind
//! such a mark are taken, the mark is written beside the log, and what is before it goes: a hole in
//! the file, whose offsets stay.

use rustix::fs::FallocateFlags;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::{fs, io, mem};

/// How much is kept of what is taken, for others.
pub(super) const KEPT: u64 = 64 << 20;

/// Bytes between two marks.
pub(super) const STEP: u64 = 32 << 20;

/// How much there may be that is not taken, and a piece of each rank beyond that.
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
        let new = path.with_extension("new");
        let written = fs::write(&new, serde_json::to_vec(self)?);
        let written = written.and_then(|()| fs::rename(&new, beside(path)));
        if written.is_err() {
            let _ = fs::remove_file(new);
        }
        written
    }
}

/// What waits until there is room for more output.
type Waits = Box<dyn FnOnce() + Send>;

/// Who takes the output, and how far it is taken.
#[derive(Default)]
pub(super) struct Taken {
    /// How far each open file has come.
    takers: BTreeMap<u64, u64>,
    opened: u64,
    marks: VecDeque<Mark>,
    /// What waits of each rank.
    waits: Vec<(usize, Waits)>,
    /// Ranks of this attempt whose programs have ended: what is left of their output is little, and
    /// is read while they are there.
    ended: BTreeSet<usize>,
    /// All ranks of this attempt are being ended: none waits any more.
    is_let_go: bool,
    /// All is kept: the job needs nobody who takes it, or the disk makes no holes.
    keeps_all: bool,
}

impl Taken {
    /// Somebody takes it; his number.
    pub(super) fn open(&mut self, gone: u64) -> u64 {
        self.opened += 1;
        self.takers.insert(self.opened, gone);
        self.opened
    }

    /// He does not any more.
    pub(super) fn close(&mut self, taker: u64) {
        self.takers.remove(&taker);
    }

    /// He has all before `offset`.
    pub(super) fn take(&mut self, taker: u64, offset: u64) {
        if let Some(to) = self.takers.get_mut(&taker) {
            *to = (*to).max(offset);
        }
    }

    /// Nothing goes, and nobody waits.
    pub(super) fn keep_all(&mut self) {
        self.keeps_all = true;
        self.marks.clear();
    }

    /// A rank's program has ended.
    pub(super) fn rank_ended(&mut self, rank: usize) {
        self.ended.insert(rank);
    }

    /// Nothing waits for who takes it any more.
    pub(super) fn let_go(&mut self) {
        self.is_let_go = true;
    }

    /// Another attempt writes.
    pub(super) fn begin_again(&mut self) {
        self.is_let_go = false;
        self.ended.clear();
    }

    /// Before this everybody has it.
    fn to(&self) -> Option<u64> {
        self.takers.values().min().copied()
    }

    /// Whether a rank may write more, of so many bytes that there are.
    fn has_room(&self, rank: usize, length: u64) -> bool {
        let is_near = self.to().is_none_or(|to| length.saturating_sub(to) < AHEAD);
        is_near || self.keeps_all || self.is_let_go || self.ended.contains(&rank)
    }

    /// Goes on when there is room: now if it is given back.
    pub(super) fn when_room(&mut self, rank: usize, length: u64, waits: Waits) -> Option<Waits> {
        if self.has_room(rank, length) {
            return Some(waits);
        }
        self.waits.push((rank, waits));
        None
    }

    /// Those who can go on.
    pub(super) fn ready(&mut self, length: u64) -> Vec<Waits> {
        let all = mem::take(&mut self.waits);
        let (ready, left) = all.into_iter().partition(|(rank, _)| self.has_room(*rank, length));
        self.waits = left;
        let ready: Vec<(usize, Waits)> = ready;
        ready.into_iter().map(|(_, waits)| waits).collect()
    }

    /// Whether a mark is to be made here.
    pub(super) fn wants_mark(&self, length: u64, gone: u64) -> bool {
        let last = self.marks.back().map_or(gone, |mark| mark.at);
        !self.takers.is_empty() && !self.keeps_all && length - last >= STEP
    }

    /// Where the last mark is.
    pub(super) fn last(&self) -> Option<u64> {
        self.marks.back().map(|mark| mark.at)
    }

    pub(super) fn mark(&mut self, mark: Mark) {
        self.marks.push_back(mark);
    }

    /// Lets go of what need not be kept of the log at `path`. Where it begins from now on.
    pub(super) fn release(&mut self, path: &Path, file: &fs::File) -> Option<u64> {
        let to = self.to()?;
        let old = self.marks.iter().take_while(|mark| mark.at + KEPT <= to).count();
        let mark = self.marks.drain(..old).next_back()?;
        // Nothing is written beside a log that was removed, and on a full disk all stays.
        file.metadata().ok().filter(|about| about.nlink() > 0)?;
        mark.write(path).ok()?;
        let how = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        if rustix::fs::fallocate(file, how, 0, mark.at).is_err() {
            // More than was said is there, which does no harm.
            self.keep_all();
        }
        Some(mark.at)
    }
}
