//! Room on the disk of the manager's directory, which one job's output can fill.
//!
//! What is to be written there finds room as long as outputs of jobs that have ended take some:
//! while the disk is full these go, that of the job that ended first before others
//! ([`Manager::with_room`]). The journal has some set aside beyond that, the file `reserve`: else
//! no job could be made, nor could it be written down that one has ended. What it takes of that is
//! set aside anew when there is room again ([`Manager::make_room`]).

use super::Manager;
use super::job::Job;
use super::journal::Record;
use muster_ninep::error::{Errno, Error, Result, fail};
use serde_json::json;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard};

/// How much is set aside, and as much should be free when a job is made: nodes of this machine make
/// its sessions on the same disk.
const RESERVE: u64 = 1 << 20;

/// Output that takes less than this is not worth dropping.
const MEGABYTE: u64 = 1_000_000;

/// How much of it is given at once.
const STEP: u64 = 64 << 10;

/// What the manager knows of its disk.
pub(super) struct Room {
    directory: PathBuf,
    reserve: Mutex<File>,
    /// Jobs that have ended and whose outputs are kept, in the order in which they did.
    ended: Mutex<Vec<Arc<Job>>>,
}

impl Room {
    pub(super) fn open(directory: &Path) -> io::Result<Room> {
        let mut options = File::options();
        let reserve =
            options.write(true).create(true).truncate(false).open(directory.join("reserve"))?;
        let room = Room {
            directory: directory.to_owned(),
            reserve: Mutex::new(reserve),
            ended: Mutex::default(),
        };
        room.fill();
        Ok(room)
    }

    fn ended(&self) -> MutexGuard<'_, Vec<Arc<Job>>> {
        self.ended.lock().expect("no holder panics")
    }

    /// A job has ended: its output may go from now on.
    pub(super) fn may_go(&self, job: &Arc<Job>) {
        let output = job.placed.get().map(|placed| &placed.log);
        if output.is_some_and(|log| log.dropped().is_none()) {
            self.ended().push(job.clone());
        }
    }

    /// It is gone.
    pub(super) fn forget(&self, job: u32) {
        self.ended().retain(|one| one.id != job);
    }

    /// The job whose output goes first. One that has a client has somebody who may still take it.
    fn first(&self) -> Option<Arc<Job>> {
        let ended = self.ended();
        let has_output = |job: &Job| job.placed.get().is_some_and(|it| it.log.has_output());
        let is_free = |job: &Job| job.ties.owners.load(Ordering::Acquire) == 0 && has_output(job);
        ended.iter().find(|job| is_free(job)).cloned()
    }

    /// Whether there is room for a job.
    fn is_enough(&self) -> bool {
        let about = rustix::fs::statvfs(&self.directory);
        about.is_ok_and(|disk| disk.f_bavail.saturating_mul(disk.f_frsize) >= RESERVE)
    }

    /// Sets aside what is missing, if there is room for that.
    fn fill(&self) {
        let reserve = self.reserve.lock().expect("no holder panics");
        let Ok(about) = reserve.metadata() else { return };
        let missing = RESERVE.saturating_sub(about.len());
        let zeros = vec![0; missing as usize];
        if missing > 0 && reserve.write_all_at(&zeros, about.len()).is_err() {
            let _ = reserve.set_len(about.len());
        }
    }

    /// Gives some of what is set aside; false if there is none.
    fn give(&self) -> bool {
        let reserve = self.reserve.lock().expect("no holder panics");
        let length = reserve.metadata().map_or(0, |about| about.len());
        length > 0 && reserve.set_len(length.saturating_sub(STEP)).is_ok()
    }

    /// The job whose output takes most, and how many bytes; none where all are so short that
    /// nobody would have room from what they take.
    fn most(&self) -> Option<(u32, u64)> {
        let files = fs::read_dir(self.directory.join("jobs")).ok()?.flatten();
        let outputs = files.filter_map(|file| {
            let name = file.file_name();
            let job = name.to_str()?.strip_suffix(".log")?.parse().ok()?;
            Some((job, file.metadata().ok()?.blocks() * 512))
        });
        outputs.max_by_key(|(_, bytes)| *bytes).filter(|(_, bytes)| *bytes >= MEGABYTE)
    }

    /// Says with an error that the disk is full what takes most of it.
    fn told(&self, error: Error) -> Error {
        let Some((job, bytes)) = self.most().filter(|_| is_full(&error)) else { return error };
        let (said, id) = match error.text.split_once("  [") {
            Some((said, id)) => (said, format!("  [{id}")),
            None => (&*error.text, String::new()),
        };
        let has_ended = self.ended().iter().any(|one| one.id == job);
        let end = if has_ended { String::new() } else { format!("muster kill {job}, and ") };
        let most = bytes.div_ceil(MEGABYTE);
        let text = format!(
            "{said}; of what can go the output of job {job} takes most, {most} MB: {end}muster \
             logs --drop {job}{id}"
        );
        Error::new(error.errno, text)
    }
}

fn is_full(error: &Error) -> bool {
    matches!(error.errno, Errno::NOSPC | Errno::DQUOT)
}

impl Manager {
    /// Does what writes all or nothing to the disk. While that is full outputs of jobs go. Who
    /// calls it may hold a job, the queue and the table of jobs, so it takes none of these.
    pub(super) fn with_room<T>(&self, mut deed: impl FnMut() -> Result<T>) -> Result<T> {
        loop {
            match deed() {
                Err(error) if is_full(&error) && self.drop_first() => {}
                done => return done.map_err(|error| self.room.told(error)),
            }
        }
    }

    /// Has room for one more job, if that can be.
    pub(super) fn make_room(&self) {
        while !self.room.is_enough() && self.drop_first() {}
        self.room.fill();
    }

    /// The same of what has to be written: it has what is set aside.
    fn with_reserve<T>(&self, mut deed: impl FnMut() -> Result<T>) -> Result<T> {
        loop {
            match deed() {
                Err(error) if is_full(&error) && self.room.give() => {}
                done => return done,
            }
        }
    }

    /// Does what has to be written with all the room that there is or can be made.
    pub(super) fn with_all_room<T>(&self, mut deed: impl FnMut() -> Result<T>) -> Result<T> {
        self.with_reserve(|| self.with_room(&mut deed))
    }

    /// Drops the output of the job that has ended first; false if there is none.
    fn drop_first(&self) -> bool {
        let why = || format!("the disk of {} was full", self.directory.display());
        self.room.first().is_some_and(|job| self.drop_output(&job, &why()).is_ok())
    }

    /// Drops what a job that has ended has printed.
    fn drop_output(&self, job: &Job, why: &str) -> Result<()> {
        // One that was never started has none.
        let Some(placed) = job.placed.get().filter(|it| it.log.dropped().is_none()) else {
            return Ok(());
        };
        let record = [Record::Dropped { job: job.id, why: why.to_owned() }];
        self.with_reserve(|| Ok(self.journal.write(&record)?))?;
        self.room.forget(job.id);
        placed.log.drop_all(why);
        let _ = writeln!(io::stderr(), "what job {} has printed is dropped: {why}", job.id);
        self.event(json!({"event": "output dropped", "job": job.id, "why": why}));
        Ok(())
    }
}

impl Job {
    /// Drops what it has printed.
    ///
    /// # Errors
    /// It has not ended.
    pub(super) fn drop_output(&self) -> Result<()> {
        let manager = self.manager()?;
        if !self.has_ended() {
            let text = format!(
                "job {0} has not ended, and what it prints is kept until then. To end it: muster \
                 kill {0}  [E165]",
                self.id
            );
            return fail(Errno::BUSY, text);
        }
        manager.drop_output(self, "somebody asked for that (muster logs --drop)")
    }
}
