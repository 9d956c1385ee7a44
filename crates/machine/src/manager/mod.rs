//! The manager: knows the nodes, runs jobs on them, and serves the tree of the cluster
//! (`docs/files.md`, section 2).
//!
//! A job's way: its client opens `jobs/clone` and writes `spec` and `files` ([`tree`]), it gets
//! its nodes ([`queue`]), `start` places the ranks ([`place`]) and brings sessions, files and
//! programs to the nodes ([`launch`]), then outputs and ends are followed ([`follow`]) and the
//! job's state machine ([`progress`]) says what to do when something happens. Everything that
//! must survive the manager is in the [`journal`] and in each job's [`log`].

mod again;
mod beat;
mod clusters;
pub mod daemon;
mod epochs;
pub mod flow;
mod follow;
mod history;
mod hold;
pub mod holdings;
mod input;
mod job;
mod journal;
mod kept;
mod launch;
mod limit;
mod log;
mod mail;
mod nodes;
pub mod outbox;
pub mod overview;
mod patience;
mod pieces;
pub mod place;
pub mod presence;
pub mod progress;
mod queue;
mod report;
mod restore;
mod room;
mod settings;
pub mod shipping;
mod silence;
pub mod spec;
mod strobe;
mod timer;
pub mod tree;
mod views;
mod waits;

use crate::files::stream::Stream;
use crate::image::store::Images;
use crate::launch::share_sessions;
use crate::memory::{Memory, name_of};
use crate::roster::Roster;
use clusters::Clusters;
use history::History;
use job::{Birth, Job};
use journal::{Journal, Record};
use log::JobLog;
use mail::Mail;
use muster_base::limits::JOBS_REMEMBERED;
use muster_fabric::protocol::Time;
use muster_ninep::error::{Error, Result, fail};
use nodes::Nodes;
use queue::Queue;
use room::Room;
use settings::Settings;
use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{SystemTime, UNIX_EPOCH};
use strobe::Strobe;
use timer::Timer;

/// The manager of one cluster.
pub struct Manager {
    directory: PathBuf,
    journal: Journal,
    history: History,
    room: Room,
    timer: Timer,
    nodes: Nodes,
    roster: Roster,
    /// Where orders go out and reports come in.
    memory: Arc<Memory>,
    mail: Mail,
    shipments: pieces::Shipments,
    holdings: holdings::Holdings,
    images: Arc<Images>,
    settings: Settings,
    clusters: Clusters,
    queue: Queue,
    strobe: Strobe,
    spent: overview::Spent,
    jobs: Mutex<Jobs>,
    /// JSON lines of what has happened.
    events: Stream,
    started: f64,
    /// Ends the cluster.
    down: Box<dyn Fn() + Send + Sync>,
}

#[derive(Default)]
struct Jobs {
    /// The last number of a job or an attempt.
    last: u32,
    table: BTreeMap<u32, Arc<Job>>,
    /// Those that have ended, in the order in which they did: clocks may be set back.
    ended: Vec<u32>,
    /// Jobs that are in the journal only.
    forgotten: usize,
    /// All that a manager before this one had are here.
    are_restored: bool,
}

impl Jobs {
    /// The next number of a job or an attempt: none whose sessions a job has that has run since a
    /// quarter of a million others were made.
    fn next(&self) -> u32 {
        let has = |job: &Job, number| share_sessions(job.attempt, number) && !job.has_ended();
        let is_taken = |number: &u32| self.table.values().any(|job| has(job, *number));
        (self.last + 1..).find(|number| !is_taken(number)).expect("there are few jobs")
    }
}

/// Seconds since 1970.
pub(crate) fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64()
}

/// Seconds since this machine was booted: a clock that goes on over restarts of the manager, and
/// that nobody sets.
pub(crate) fn uptime() -> f64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    now.tv_sec as f64 + now.tv_nsec as f64 / 1e9
}

/// The moment, by a clock that nobody sets.
pub(crate) fn steady() -> Time {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    Time(now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64)
}

/// Takes those out that are not remembered any more, of jobs in the order in which they ended: the
/// first, whenever they were made. Who has waited for a long one may not have looked at it yet.
fn outdated(ended: &mut Vec<u32>) -> Vec<u32> {
    let too_many = ended.len().saturating_sub(JOBS_REMEMBERED);
    ended.drain(..too_many).collect()
}

impl Manager {
    /// A manager that keeps its files in `directory`, and takes up the jobs that one before it
    /// has left there. `down` is called when it is told to end the cluster. Whoever lets nodes and
    /// clients in says so by [`opened`](Manager::opened).
    ///
    /// # Errors
    /// When the directory cannot be used.
    pub fn start(
        directory: &Path,
        roster: &Roster,
        memory: &Arc<Memory>,
        down: impl Fn() + Send + Sync + 'static,
    ) -> std::io::Result<Arc<Manager>> {
        std::fs::create_dir_all(directory.join("jobs"))?;
        let (journal, records) = Journal::open(&directory.join("journal"))?;
        let manager = Arc::new(Manager {
            directory: directory.to_owned(),
            journal,
            history: History::open(directory)?,
            room: Room::open(directory)?,
            timer: Timer::start()?,
            nodes: Nodes::expecting(memory.before().iter().map(|node| name_of(*node))),
            roster: roster.clone(),
            memory: memory.clone(),
            mail: Mail::start(memory)?,
            shipments: pieces::Shipments::default(),
            holdings: holdings::Holdings::default(),
            strobe: Strobe::new(directory, memory.term()),
            spent: overview::Spent::default(),
            images: Images::open(&directory.join("images"))?,
            settings: Settings::open(&directory.join("settings"))?,
            clusters: Clusters::default(),
            queue: Queue::default(),
            jobs: Mutex::default(),
            events: Stream::new(|| ()),
            started: now(),
            down: Box::new(down),
        });
        manager.restore_settings();
        manager.restore_heartbeat();
        manager.reach_clusters()?;
        restore::jobs(&manager, records);
        manager.jobs().are_restored = true;
        report::listen(&manager, memory)?;
        epochs::follow(&manager, memory)?;
        beat::follow(&manager, memory)?;
        manager.strobe.serve(&manager, memory)?;
        Ok(manager)
    }

    /// Nodes and clients can come from now on: the time that they have to come back begins.
    pub fn opened(self: &Arc<Manager>) {
        self.nodes.open();
        self.all_jobs().iter().for_each(|job| job.await_back(self));
    }

    fn jobs(&self) -> MutexGuard<'_, Jobs> {
        self.jobs.lock().expect("no holder panics")
    }

    fn job(&self, id: u32) -> Option<Arc<Job>> {
        self.jobs().table.get(&id).cloned()
    }

    /// The attempt that goes by this number at the nodes.
    fn attempt(&self, number: u32) -> Option<Arc<Job>> {
        let jobs = self.jobs();
        let own = jobs.table.get(&number).filter(|job| job.attempt == number);
        own.or_else(|| jobs.table.values().find(|job| job.attempt == number)).cloned()
    }

    fn all_jobs(&self) -> Vec<Arc<Job>> {
        self.jobs().table.values().cloned().collect()
    }

    /// Makes a job.
    fn new_job(self: &Arc<Manager>, view: Option<Arc<str>>) -> Result<Arc<Job>> {
        self.make_room();
        let mut jobs = self.jobs();
        let id = jobs.next();
        jobs.last = id;
        let user = rustix::process::geteuid().as_raw();
        let record =
            Record::New { job: id, user, at: now(), view: view.as_deref().map(Into::into) };
        self.record(&[record])?;
        let birth = Birth { id, attempt: id, requeued: Vec::new(), submitted: now(), view };
        let job = Job::of(Arc::downgrade(self), birth);
        jobs.table.insert(id, job.clone());
        Ok(job)
    }

    /// Whether a number is one of a job that is remembered, or of its last attempt.
    fn remembers(&self) -> impl Fn(u32) -> bool + use<> {
        let numbers = |job: &Arc<Job>| [job.id, job.attempt];
        let known: HashSet<u32> = self.jobs().table.values().flat_map(numbers).collect();
        move |number| known.contains(&number)
    }

    /// Takes the jobs that ended first out of a table that has become too long.
    fn outdated(jobs: &mut Jobs) -> Vec<Arc<Job>> {
        let outdated = outdated(&mut jobs.ended);
        outdated.iter().filter_map(|id| jobs.table.remove(id)).collect()
    }

    /// Nothing of a job is left to be wiped: some time it is forgotten, and its output may go.
    fn has_ended(&self, job: &Arc<Job>) {
        self.jobs().ended.push(job.id);
        self.room.may_go(job);
    }

    /// That time has come for those that ended so many jobs ago. Not while what the journal tells
    /// is still made into jobs: what is not known yet would be taken for forgotten.
    fn forget_old(self: &Arc<Manager>) {
        let mut jobs = self.jobs();
        if !jobs.are_restored {
            return;
        }
        let outdated = Manager::outdated(&mut jobs);
        jobs.forgotten += outdated.len();
        let is_to_tidy = jobs.forgotten >= JOBS_REMEMBERED || self.journal.is_long();
        if is_to_tidy {
            jobs.forgotten = 0;
        }
        drop(jobs);
        for old in outdated {
            self.room.forget(old.id);
            JobLog::remove(&self.log_of(old.id));
        }
        if is_to_tidy {
            let manager = self.clone();
            // A thread that there is none left for costs a longer journal, as does a full disk.
            let tidy = move || drop(manager.journal.keep(|| manager.remembers()));
            let _ = std::thread::Builder::new().name("journal".into()).spawn(tidy);
        }
    }

    fn log_of(&self, job: u32) -> PathBuf {
        self.directory.join("jobs").join(format!("{job}.log"))
    }

    /// Where the files of a job that waits are kept.
    fn kept_file(&self, job: u32, kind: &str) -> PathBuf {
        self.directory.join("jobs").join(format!("{job}.{kind}"))
    }

    /// Writes a record, before what it tells is acted upon.
    fn record(&self, records: &[Record]) -> Result<()> {
        let written = self.with_all_room(|| Ok(self.journal.write(records)?));
        written.or_else(|Error { errno, text }| {
            fail(errno, format!("the manager cannot write its journal: {text}  [E310]"))
        })
    }

    /// Tells everybody who listens what has happened.
    fn event(&self, mut event: serde_json::Value) {
        event["at"] = now().into();
        self.events.push(format!("{event}\n").as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keeper::Directory;
    use crate::scratch::Scratch;
    use std::os::unix::fs::{DirBuilderExt, PermissionsExt};

    /// One before which there was another, and one node, which does not come back.
    pub(super) fn manager(scratch: &Scratch) -> Arc<Manager> {
        std::fs::set_permissions(&**scratch, PermissionsExt::from_mode(0o700)).unwrap();
        let place = scratch.join("default");
        std::fs::DirBuilder::new().mode(0o700).create(&place).unwrap();
        for (name, text) in [("term", "1\n"), ("f1.sock", "")] {
            std::fs::write(place.join(name), text).unwrap();
        }
        let directory = Directory::at(&place).unwrap();
        let roster = Roster::of(&directory).unwrap();
        let memory = Arc::new(Memory::lead(&directory, &roster).unwrap());
        Manager::start(directory.path(), &roster, &memory, || ()).unwrap()
    }

    /// It failed: its session was there already, a service's that had run for long.
    #[test]
    fn no_job_gets_a_number_whose_sessions_another_has_yet() {
        let scratch = Scratch::new("numbers");
        let manager = manager(&scratch);
        let first = manager.new_job(None).unwrap();
        let again = |rounds: u32| {
            manager.jobs().last = rounds << 18;
            manager.new_job(None).unwrap().id - (rounds << 18)
        };
        assert_eq!((first.id, again(1)), (1, 2));
        first.kill();
        assert_eq!(again(2), 1);
        manager.memory.close();
    }

    #[test]
    fn a_long_job_that_has_just_ended_is_remembered_though_its_number_is_the_lowest() {
        let kept = JOBS_REMEMBERED as u32;
        let mut ended: Vec<u32> = (2..=kept).chain([1]).collect();
        assert!(outdated(&mut ended).is_empty());
        ended.extend([kept + 2, kept + 1]);
        assert_eq!(outdated(&mut ended), [2, 3]);
        assert_eq!(ended.len(), JOBS_REMEMBERED);
        assert!(ended.contains(&1));
    }
}
