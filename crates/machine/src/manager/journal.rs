//! What survives a manager's death: JSON lines in `journal`, appended as things happen.
//!
//! What is told of an attempt goes by its number, which is the job's for the first: what an earlier
//! one still has to say is not taken for the next one's. Written before what it tells is acted
//! upon. A line that a crash has cut off is ignored. The journal need not survive a power failure,
//! since no process does.
//!
//! What is not needed any more goes from time to time ([`Journal::keep`]): jobs that are not
//! remembered, and of those that are done what led to it. That is looked for while records are
//! added; these wait only while what came meanwhile is copied.

use super::spec::{End, Spec, Stamps, Status};
use crate::usage::Usage;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fs;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};

/// By how many bytes it grows at least before it is looked through: that of 256 small jobs is less.
const SLACK: u64 = 4 << 20;

/// A session as the journal names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Placed {
    /// Node.
    pub node: String,
    /// Number among the ranks of the node.
    pub local: usize,
    /// Session.
    pub session: u32,
    /// Which daemon's session: a node that was started anew has none of these.
    pub instance: u64,
}

/// One line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Record {
    /// A job was made.
    New {
        /// Its number.
        job: u32,
        /// Its user.
        user: u32,
        /// When.
        at: f64,
        /// The view that it was made in.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        view: Option<String>,
    },
    /// It waits for its nodes; its files, if it has any, are kept.
    Queued {
        /// Its number.
        job: u32,
        /// What it is.
        spec: Box<Spec>,
        /// When.
        #[serde(default)]
        at: Option<f64>,
    },
    /// What it did is void: it waits for nodes again, to do all of it anew.
    Again {
        /// Its number.
        job: u32,
        /// The number that the next attempt goes by at the nodes.
        attempt: u32,
        /// Why.
        why: String,
        /// When.
        #[serde(default)]
        at: Option<f64>,
    },
    /// Its ranks have sessions.
    Placed {
        /// Its number.
        job: u32,
        /// What it is.
        spec: Box<Spec>,
        /// By rank.
        ranks: Vec<Placed>,
    },
    /// Its programs run.
    Started {
        /// Its number.
        job: u32,
        /// When.
        at: f64,
        /// The same by a clock that nobody sets: seconds since the machine was booted.
        up: f64,
        /// What came before.
        #[serde(flatten)]
        stamps: Stamps,
    },
    /// It goes on without its client.
    Detached {
        /// Its number.
        job: u32,
    },
    /// It is being ended.
    Ending {
        /// Its number.
        job: u32,
        /// How.
        end: End,
        /// Its exit status.
        exit: u8,
        /// Why.
        why: String,
        /// Without a time of grace, or that is over.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        at_once: bool,
    },
    /// Some of it may run on, nobody knows: it does not begin again.
    Final {
        /// Its number.
        job: u32,
    },
    /// A rank's program has ended.
    Exited {
        /// The job's number.
        job: u32,
        /// The rank.
        rank: usize,
        /// Raw wait(2) status.
        status: i32,
        /// Why its program could not be run.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        why: Option<String>,
    },
    /// The session of a rank whose program has ended is about to be wiped, or has been: all that
    /// the rank has written is here.
    Closed {
        /// The job's number.
        job: u32,
        /// The rank.
        rank: usize,
        /// What it has used.
        usage: Option<Usage>,
    },
    /// Nothing of it is left.
    Done {
        /// All that is told of it.
        status: Box<Status>,
    },
    /// What it has printed is not kept any more.
    Dropped {
        /// Its number.
        job: u32,
        /// Why.
        why: String,
    },
}

impl Record {
    /// The job that it tells of.
    pub fn job(&self) -> u32 {
        match self {
            Record::New { job, .. }
            | Record::Queued { job, .. }
            | Record::Again { job, .. }
            | Record::Placed { job, .. }
            | Record::Started { job, .. }
            | Record::Detached { job }
            | Record::Dropped { job, .. }
            | Record::Ending { job, .. }
            | Record::Final { job }
            | Record::Exited { job, .. }
            | Record::Closed { job, .. } => *job,
            Record::Done { status } => status.id,
        }
    }

    /// The last number that it names: of a job or an attempt.
    pub fn last(&self) -> u32 {
        match self {
            Record::Again { job, attempt, .. } => *attempt.max(job),
            _ => self.job(),
        }
    }
}

/// The journal, open for appending.
pub struct Journal {
    path: PathBuf,
    open: Mutex<Lines>,
    /// What was left of it when it was looked through last; locked while it is.
    kept: Mutex<u64>,
}

/// A file of lines, open for appending.
pub(super) struct Lines {
    file: fs::File,
    length: u64,
}

/// The first bytes of a journal, line by line: records, and how they are written. What is none is
/// left out.
fn records(path: &Path, length: u64) -> io::Result<impl Iterator<Item = io::Result<Written>>> {
    let lines = BufReader::new(fs::File::open(path)?.take(length)).split(b'\n');
    Ok(lines.filter_map(|line| match line {
        Ok(line) => serde_json::from_slice(&line).ok().map(|record| Ok((record, line))),
        Err(error) => Some(Err(error)),
    }))
}

type Written = (Record, Vec<u8>);

fn read(path: &Path) -> io::Result<Vec<Record>> {
    records(path, u64::MAX)?.map(|written| Ok(written?.0)).collect()
}

/// Which jobs are done, as a journal tells.
#[derive(Default)]
struct Census {
    /// The jobs of attempts.
    attempts: HashMap<u32, u32>,
    /// Those that are done, and whether their status tells of ranks.
    done: HashMap<u32, bool>,
    /// The highest number.
    last: u32,
}

impl Census {
    fn take(&mut self, record: &Record) {
        self.last = self.last.max(record.last());
        match record {
            Record::Again { job, attempt, .. } => drop(self.attempts.insert(*attempt, *job)),
            Record::Done { status } => drop(self.done.insert(status.id, !status.ranks.is_empty())),
            _ => {}
        }
    }

    /// Whether a record tells more than that its job is done, and how.
    fn needs(&self, record: &Record) -> bool {
        let number = record.job();
        let done = self.done.get(self.attempts.get(&number).unwrap_or(&number));
        match (record, done) {
            (
                Record::New { .. }
                | Record::Again { .. }
                | Record::Done { .. }
                | Record::Dropped { .. },
                _,
            ) => true,
            // How many ranks have written its log.
            (Record::Placed { .. }, Some(has_ranks)) => !has_ranks,
            (_, done) => done.is_none(),
        }
    }
}

/// Where the last whole line ends.
fn end_of_lines(file: &fs::File) -> io::Result<u64> {
    let (mut end, mut bytes) = (file.metadata()?.len(), [0; 4096]);
    while end > 0 {
        let start = end.saturating_sub(bytes.len() as u64);
        let piece = &mut bytes[..(end - start) as usize];
        file.read_exact_at(piece, start)?;
        if let Some(at) = piece.iter().rposition(|byte| *byte == b'\n') {
            return Ok(start + at as u64 + 1);
        }
        end = start;
    }
    Ok(0)
}

impl Lines {
    /// Opens one, which may be new.
    pub(super) fn append(path: &Path) -> io::Result<Lines> {
        let file = fs::File::options().read(true).append(true).create(true).open(path)?;
        let (all, length) = (file.metadata()?.len(), end_of_lines(&file)?);
        if length < all {
            // The torn line must not swallow the next one. It most likely is one because the disk
            // is full: to end it would take room.
            file.set_len(length)?;
        }
        Ok(Lines { file, length })
    }

    pub(super) fn length(&self) -> u64 {
        self.length
    }

    /// Adds whole lines.
    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let written = self.file.write_all(bytes);
        match written {
            Ok(()) => self.length += bytes.len() as u64,
            // Half a line would spoil the next one.
            Err(_) => self.file.set_len(self.length)?,
        }
        written
    }
}

impl Journal {
    /// Opens the journal at `path` and reads what is in it.
    ///
    /// # Errors
    /// When it cannot be read or written.
    pub fn open(path: &Path) -> io::Result<(Journal, Vec<Record>)> {
        let open = Lines::append(path)?;
        let records = read(path)?;
        let kept = Mutex::new(open.length);
        Ok((Journal { path: path.to_owned(), open: Mutex::new(open), kept }, records))
    }

    fn locked(&self) -> MutexGuard<'_, Lines> {
        self.open.lock().expect("no holder panics")
    }

    /// Appends records, all or none.
    ///
    /// # Errors
    /// When the disk is full.
    pub fn write(&self, records: &[Record]) -> io::Result<()> {
        let mut lines = Vec::new();
        for record in records {
            serde_json::to_writer(&mut lines, record)?;
            lines.push(b'\n');
        }
        self.locked().write(&lines)
    }

    /// Whether it has grown so much since it was looked through that much of it may not be needed.
    /// False while it is looked through.
    pub fn is_long(&self) -> bool {
        let Ok(kept) = self.kept.try_lock() else { return false };
        self.locked().length > 2 * *kept + SLACK
    }

    /// Keeps the records of some jobs only, and of those that are done what tells of that, in a
    /// file that takes the other's place when it is whole. `wanted` is asked which once it is known
    /// how far the journal is looked through: who is in that part by then is one that it knows.
    ///
    /// # Errors
    /// When the disk is full; then the journal stays as it is.
    pub fn keep<W: Fn(u32) -> bool>(&self, wanted: impl FnOnce() -> W) -> io::Result<()> {
        let mut kept = self.kept.lock().expect("no holder panics");
        let length = self.locked().length;
        let new = self.path.with_extension("new");
        let done = self.copy(&new, length, wanted()).inspect_err(|_| {
            let _ = fs::remove_file(&new);
        });
        // Where that fails it is not tried again at once.
        *kept = self.locked().length;
        done
    }

    fn copy(&self, new: &Path, length: u64, wanted: impl Fn(u32) -> bool) -> io::Result<()> {
        let mut census = Census::default();
        for written in records(&self.path, length)? {
            census.take(&written?.0);
        }
        let mut file = BufWriter::new(fs::File::create(new)?);
        for written in records(&self.path, length)? {
            let (record, line) = written?;
            // Whoever is remembered, the last number was given.
            let is_wanted = wanted(record.job()) || record.last() == census.last;
            if is_wanted && census.needs(&record) {
                file.write_all(&line)?;
                file.write_all(b"\n")?;
            }
        }
        let mut open = self.locked();
        let mut since = vec![0; usize::try_from(open.length - length).unwrap_or(0)];
        open.file.read_exact_at(&mut since, length)?;
        file.write_all(&since)?;
        file.flush()?;
        // Opened before: were that refused afterwards, records would go where nobody looks.
        let lines = Lines::append(new)?;
        fs::rename(new, &self.path)?;
        *open = lines;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manager::spec::RankStatus;
    use crate::scratch::Scratch;

    fn new(job: u32) -> Record {
        Record::New { job, user: 0, at: 1.5, view: None }
    }

    #[test]
    fn a_torn_line_is_ignored_and_the_next_one_is_not() {
        let scratch = Scratch::new("journal");
        let path = scratch.join("journal");
        let (journal, old) = Journal::open(&path).unwrap();
        assert_eq!(old, []);
        journal.write(&[new(1)]).unwrap();
        fs::File::options().append(true).open(&path).unwrap().write_all(b"{\"new\":{").unwrap();
        let torn = fs::metadata(&path).unwrap().len();
        let (journal, old) = Journal::open(&path).unwrap();
        assert_eq!(old, [new(1)]);
        assert!(fs::metadata(&path).unwrap().len() < torn, "that takes no room");
        journal.write(&[new(2)]).unwrap();
        // Nobody was told that this one is written.
        let mut line = vec![b' '; 10_000];
        line.extend(serde_json::to_vec(&new(9)).unwrap());
        fs::File::options().append(true).open(&path).unwrap().write_all(&line).unwrap();
        let (_, old) = Journal::open(&path).unwrap();
        assert_eq!(old, [new(1), new(2)]);
        // A disk that was full in the middle of a letter.
        fs::File::options().append(true).open(&path).unwrap().write_all(b"\xc3").unwrap();
        let (journal, old) = Journal::open(&path).unwrap();
        assert_eq!(old, [new(1), new(2)]);
        journal.write(&[new(3), new(5)]).unwrap();
        journal.keep(|| |job| job != 1).unwrap();
        journal.write(&[new(4)]).unwrap();
        let (_, old) = Journal::open(&path).unwrap();
        assert_eq!(old, [new(2), new(3), new(5), new(4)]);
    }

    #[test]
    fn what_is_written_while_it_is_looked_through_is_kept() {
        let scratch = Scratch::new("journal-meanwhile");
        let path = scratch.join("journal");
        let (journal, _) = Journal::open(&path).unwrap();
        journal.write(&[new(1), new(2)]).unwrap();
        let wanted = |job| {
            journal.write(&[new(job + 10)]).unwrap();
            job == 2
        };
        journal.keep(|| wanted).unwrap();
        journal.write(&[new(3)]).unwrap();
        assert_eq!(read(&path).unwrap(), [new(2), new(11), new(12), new(3)]);
    }

    #[test]
    fn of_a_job_that_is_done_only_that_is_kept_and_a_long_journal_is_short_again() {
        let scratch = Scratch::new("journal-done");
        let path = scratch.join("journal");
        let (journal, _) = Journal::open(&path).unwrap();
        let done = |id, ranks| {
            let ranks = vec![RankStatus::default(); ranks];
            Record::Done { status: Box::new(Status { id, ranks, ..Status::default() }) }
        };
        let placed = |job| {
            let node = "n".repeat(1 << 20);
            let ranks = vec![Placed { node, local: 0, session: 1, instance: 1 }];
            Record::Placed { job, spec: Box::default(), ranks }
        };
        let exited = |job| Record::Exited { job, rank: 0, status: 0, why: None };
        let again = |job, attempt| Record::Again { job, attempt, why: String::new(), at: None };
        // One that runs, one that was done in its second attempt, and one that was when it waited.
        journal.write(&[new(1), placed(1), new(2), placed(2), again(2, 3), placed(3)]).unwrap();
        journal.write(&[exited(1), exited(3), Record::Detached { job: 2 }, done(2, 1)]).unwrap();
        assert!(!journal.is_long());
        journal.write(&[new(4), placed(4), exited(4), again(4, 5), done(4, 0)]).unwrap();
        journal.write(&[Record::Detached { job: 4 }, placed(1)]).unwrap();
        assert!(journal.is_long());
        journal.keep(|| |_| true).unwrap();
        assert!(!journal.is_long());
        let of_one = [new(1), placed(1), new(2), again(2, 3), exited(1), done(2, 1)];
        let rest = [new(4), placed(4), again(4, 5), done(4, 0), placed(1)];
        assert!(read(&path).unwrap().iter().eq(of_one.iter().chain(&rest)));
    }
}
