//! Jobs that have ended, and attempts after which a job has begun again, as long as the cluster
//! lives: a line of JSON each, in `history`, the oldest first.
//!
//! A job's line is written before the journal calls the job done, so a manager that dies in
//! between leaves none out; the next one writes that line again, and who reads takes the last of an
//! attempt. When the file has become long it is put aside as `history.old`, in place of the one
//! before. So between one and two times [`HISTORY_FILE_MAX`] bytes are kept, for one write a job.

use super::journal::Lines;
use super::spec::Status;
use muster_base::limits::HISTORY_FILE_MAX;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// The files.
pub(super) struct History {
    path: PathBuf,
    lines: Mutex<Lines>,
}

impl History {
    /// Opens the history of the cluster in `directory`.
    pub(super) fn open(directory: &Path) -> io::Result<History> {
        let path = directory.join("history");
        let lines = Mutex::new(Lines::append(&path)?);
        Ok(History { path, lines })
    }

    fn old(&self) -> PathBuf {
        self.path.with_extension("old")
    }

    /// Adds a job that has ended, or an attempt at it.
    pub(super) fn add(&self, status: &Status) -> io::Result<()> {
        let mut line = serde_json::to_vec(&status.summary())?;
        line.push(b'\n');
        let mut lines = self.lines.lock().expect("no holder panics");
        if lines.length() + line.len() as u64 > HISTORY_FILE_MAX && lines.length() > 0 {
            // While another cannot be made this one gets longer, by whatever name.
            if let Ok(new) = self.rotate() {
                *lines = new;
            }
        }
        lines.write(&line)
    }

    /// Puts the file aside and begins another.
    fn rotate(&self) -> io::Result<Lines> {
        if_there(fs::rename(&self.path, self.old()))?;
        Lines::append(&self.path)
    }

    /// All lines.
    pub(super) fn read(&self) -> io::Result<Vec<u8>> {
        // Not while files are changing places.
        let _lines = self.lines.lock().expect("no holder panics");
        let mut all = if_there(fs::read(self.old()))?;
        all.extend(if_there(fs::read(&self.path))?);
        Ok(all)
    }
}

/// Either file may be missing: there is none to put aside yet, or no other could be made then.
fn if_there<T: Default>(done: io::Result<T>) -> io::Result<T> {
    match done {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(T::default()),
        done => done,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;

    fn job(id: u32) -> Status {
        Status { id, why: Some("x".repeat(HISTORY_FILE_MAX as usize / 4)), ..Status::default() }
    }

    fn ids(history: &History) -> Vec<u32> {
        let lines = history.read().unwrap();
        let lines = lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        lines.map(|line| serde_json::from_slice::<Status>(line).unwrap().id).collect()
    }

    #[test]
    fn the_oldest_go_when_it_has_become_long_and_the_rest_survives() {
        let directory = Scratch::new("history");
        let history = History::open(&directory).unwrap();
        assert!(ids(&history).is_empty());
        (1..=4).for_each(|id| history.add(&job(id)).unwrap());
        assert_eq!(ids(&history), [1, 2, 3, 4]);
        drop(history);
        let history = History::open(&directory).unwrap();
        (5..=7).for_each(|id| history.add(&job(id)).unwrap());
        assert_eq!(ids(&history), [4, 5, 6, 7]);
    }

    /// Once the file was put aside and there was no descriptor for another: from then on no job
    /// was kept, and none was told of.
    #[test]
    fn a_file_that_was_put_aside_without_another_in_its_place_loses_nothing() {
        let directory = Scratch::new("history-aside");
        let history = History::open(&directory).unwrap();
        (1..=2).for_each(|id| history.add(&job(id)).unwrap());
        fs::rename(&history.path, history.old()).unwrap();
        history.add(&job(3)).unwrap();
        assert_eq!(ids(&history), [1, 2, 3]);
        (4..=5).for_each(|id| history.add(&job(id)).unwrap());
        assert_eq!(ids(&history), [1, 2, 3, 4, 5]);
    }

    #[test]
    fn a_line_is_short_however_many_arguments_and_ranks_a_job_has() {
        let mut status = Status { size: 100, ..Status::default() };
        status.argv = vec!["y".repeat(900), "z".repeat(900), "last".into()];
        status.ranks = vec![Default::default(); 100];
        let line = status.summary();
        assert_eq!((line.ranks.len(), line.size, line.argv.len()), (0, 100, 1));
    }
}
