//! What survives a manager's death: JSON lines in `journal`, appended as things happen.
//!
//! What is told of an attempt goes by its number, which is the job's for the first: what an earlier
//! one still has to say is not taken for the next one's. Written before what it tells is acted
//! upon. A line that a crash has cut off is ignored. The journal need not survive a power failure,
//! since no process does.

use super::spec::{End, Spec, Stamps, Status};
use crate::usage::Usage;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};

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
    },
    /// A rank's program has ended.
    Exited {
        /// The job's number.
        job: u32,
        /// The rank.
        rank: usize,
        /// Raw wait(2) status.
        status: i32,
    },
    /// The session of a rank whose program has ended is about to be wiped.
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
            | Record::Ending { job, .. }
            | Record::Exited { job, .. }
            | Record::Closed { job, .. } => *job,
            Record::Done { status } => status.id,
        }
    }
}

/// The journal, open for appending.
pub struct Journal {
    path: PathBuf,
    open: Mutex<Lines>,
}

/// A file of lines, open for appending.
pub(super) struct Lines {
    file: fs::File,
    length: u64,
}

fn read(path: &Path) -> io::Result<Vec<Record>> {
    let bytes = match fs::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        other => other?,
    };
    let lines = bytes.split(|byte| *byte == b'\n');
    Ok(lines.filter_map(|line| serde_json::from_slice(line).ok()).collect())
}

impl Lines {
    /// Opens one, which may be new.
    pub(super) fn append(path: &Path) -> io::Result<Lines> {
        let file = fs::File::options().read(true).append(true).create(true).open(path)?;
        let length = file.metadata()?.len();
        let mut lines = Lines { length, file };
        let mut last = [b'\n'];
        if let Some(end) = length.checked_sub(1) {
            lines.file.read_exact_at(&mut last, end)?;
        }
        if last != [b'\n'] {
            // The torn line must not swallow the next one.
            lines.write(b"\n")?;
        }
        Ok(lines)
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
        let records = read(path)?;
        let open = Mutex::new(Lines::append(path)?);
        Ok((Journal { path: path.to_owned(), open }, records))
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

    /// Keeps the records of some jobs only, in a file that takes the other's place when it is
    /// whole.
    ///
    /// # Errors
    /// When the disk is full; then the journal stays as it is.
    pub fn keep(&self, wanted: impl Fn(u32) -> bool) -> io::Result<()> {
        let mut open = self.locked();
        let mut kept = Vec::new();
        for record in read(&self.path)?.iter().filter(|record| wanted(record.job())) {
            serde_json::to_writer(&mut kept, record)?;
            kept.push(b'\n');
        }
        let new = self.path.with_extension("new");
        fs::write(&new, &kept).and_then(|()| fs::rename(&new, &self.path)).inspect_err(|_| {
            let _ = fs::remove_file(&new);
        })?;
        *open = Lines::append(&self.path)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_torn_line_is_ignored_and_the_next_one_is_not() {
        let path = std::env::temp_dir().join(format!("muster-journal-{}", std::process::id()));
        let _ = fs::remove_file(&path);
        let new = |job| Record::New { job, user: 0, at: 1.5, view: None };
        let (journal, old) = Journal::open(&path).unwrap();
        assert_eq!(old, []);
        journal.write(&[new(1)]).unwrap();
        fs::File::options().append(true).open(&path).unwrap().write_all(b"{\"new\":{").unwrap();
        let (journal, old) = Journal::open(&path).unwrap();
        assert_eq!(old, [new(1)]);
        journal.write(&[new(2)]).unwrap();
        // A disk that was full in the middle of a letter.
        fs::File::options().append(true).open(&path).unwrap().write_all(b"\xc3").unwrap();
        let (journal, old) = Journal::open(&path).unwrap();
        assert_eq!(old, [new(1), new(2)]);
        journal.write(&[new(3), new(5)]).unwrap();
        journal.keep(|job| job != 1).unwrap();
        journal.write(&[new(4)]).unwrap();
        let (_, old) = Journal::open(&path).unwrap();
        assert_eq!(old, [new(2), new(3), new(5), new(4)]);
        fs::remove_file(&path).unwrap();
    }
}
