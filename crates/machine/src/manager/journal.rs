//! What survives a manager's death: JSON lines in `journal`, appended as things happen.
//!
//! Written before what it tells is acted upon. A line that a crash has cut off is ignored. The
//! journal need not survive a power failure, since no process does.

use super::spec::{Spec, Status};
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Mutex;

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
    },
    /// It goes on without its client.
    Detached {
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
    },
    /// Nothing of it is left.
    Done {
        /// All that is told of it.
        status: Box<Status>,
    },
}

/// The journal, open for appending.
pub struct Journal {
    file: Mutex<fs::File>,
}

impl Journal {
    /// Opens the journal at `path` and reads what is in it.
    ///
    /// # Errors
    /// When it cannot be read or written.
    pub fn open(path: &Path) -> io::Result<(Journal, Vec<Record>)> {
        let text = match fs::read_to_string(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            other => other?,
        };
        let records = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        let mut file = fs::File::options().append(true).create(true).open(path)?;
        if !text.is_empty() && !text.ends_with('\n') {
            // The torn line must not swallow the next one.
            file.write_all(b"\n")?;
        }
        Ok((Journal { file: Mutex::new(file) }, records))
    }

    /// Appends a record.
    ///
    /// # Errors
    /// When the disk is full.
    pub fn write(&self, record: &Record) -> io::Result<()> {
        let mut line = serde_json::to_vec(record).map_err(io::Error::other)?;
        line.push(b'\n');
        self.file.lock().expect("no holder panics").write_all(&line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_torn_line_is_ignored_and_the_next_one_is_not() {
        let path = std::env::temp_dir().join(format!("muster-journal-{}", std::process::id()));
        let _ = fs::remove_file(&path);
        let new = |job| Record::New { job, user: 0, at: 1.5 };
        let (journal, old) = Journal::open(&path).unwrap();
        assert_eq!(old, []);
        journal.write(&new(1)).unwrap();
        fs::File::options().append(true).open(&path).unwrap().write_all(b"{\"new\":{").unwrap();
        let (journal, old) = Journal::open(&path).unwrap();
        assert_eq!(old, [new(1)]);
        journal.write(&new(2)).unwrap();
        let (_, old) = Journal::open(&path).unwrap();
        assert_eq!(old, [new(1), new(2)]);
        fs::remove_file(&path).unwrap();
    }
}
