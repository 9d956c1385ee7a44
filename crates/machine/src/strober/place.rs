//! Where the jobs of one cluster on one machine can be stopped: what nodes, the keeper and the
//! strober agree on.
//!
//! ```text
//!  <own group of the daemons>/muster-<cluster>-jobs/j7/kept          made by the strober
//!                                                     /n3.s16798720  a rank's, made by its node
//!  <cluster's directory>/ranks/j7/n3.s16798720                       where there are no groups:
//!                                                                    its process and start time
//! ```
//!
//! A job's group is made by whoever needs it first, and removed by whoever leaves it empty. The
//! strober's `kept` is in it for as long as the table names the job: so it is not removed, and made
//! again unfrozen, between two ranks of it.

use crate::keeper::{Directory, start_time};
use crate::node::cgroup::{Cgroup, Error};
use rustix::process::{Pid, Signal, kill_process_group};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The strober's part of a job's group.
const KEPT: &str = "kept";

/// How often a group is made that others remove at the same time.
const TRIES: usize = 100;

/// The place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A control group that holds one for each job.
    Groups(PathBuf),
    /// A directory that holds one for each job, with a file for each rank.
    Lists(PathBuf),
}

impl Place {
    /// That of the cluster in `directory`.
    #[must_use]
    pub fn of(directory: &Directory) -> Place {
        let named = directory.groups().and_then(|own| own.group(&directory.group("jobs")).ok());
        named.map_or_else(|| Place::Lists(directory.path().join("ranks")), Place::Groups)
    }

    /// What holds the jobs.
    fn path(&self) -> &Path {
        let (Place::Groups(path) | Place::Lists(path)) = self;
        path
    }

    pub(super) fn job(&self, job: u32) -> PathBuf {
        self.path().join(format!("j{job}"))
    }

    /// Makes the part of a job that belongs to a rank, and its control group, if there are any.
    ///
    /// # Errors
    /// When the kernel refuses, or it is there already.
    pub fn enter(&self, job: u32, rank: String) -> Result<(Seat, Option<Cgroup>), Error> {
        let path = self.job(job).join(&rank);
        let seat = Seat { place: self.clone(), job, rank };
        match self {
            Place::Lists(_) => Ok((seat, None)),
            Place::Groups(_) => {
                self.make(job, &path)
                    .map_err(|error| Error::Kernel { path: path.clone(), error })?;
                Ok((seat, Some(Cgroup::at(path))))
            }
        }
    }

    /// Makes a directory below a job's, which may be removed by others as long as it is empty.
    fn make(&self, job: u32, path: &Path) -> io::Result<()> {
        let mut tries = 0;
        loop {
            match fs::create_dir(path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound && tries < TRIES => {
                    make_if_missing(self.path())?;
                    match make_if_missing(&self.job(job)) {
                        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                        made => made?,
                    }
                }
                done => return done,
            }
            tries += 1;
        }
    }

    /// Says which process leads a rank, where that has to be said.
    fn list(&self, job: u32, rank: &str, leader: u32) -> io::Result<()> {
        let Place::Lists(_) = self else { return Ok(()) };
        let pid = i32::try_from(leader).ok().and_then(Pid::from_raw);
        let Some(started) = pid.and_then(start_time) else { return Ok(()) };
        let path = self.job(job).join(rank);
        // Read by the strober at any time: written elsewhere and moved here.
        fs::create_dir_all(self.path())?;
        let draft = self.path().join(format!("new-{rank}"));
        fs::write(&draft, format!("{leader} {started}\n"))?;
        for _ in 0..TRIES {
            make_if_missing(&self.job(job))?;
            match fs::rename(&draft, &path) {
                // The last of the ranks before it has left, and the directory with it.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                listed => return listed,
            }
        }
        fs::remove_file(&draft)
    }

    /// A rank has left, and its group is gone: its job's part goes as well, if it was the last.
    fn leave(&self, job: u32, rank: &str) {
        if let Place::Lists(_) = self {
            let _ = fs::remove_file(self.job(job).join(rank));
        }
        // It stays as long as others are in it.
        let _ = fs::remove_dir(self.job(job));
    }

    /// Kills and removes what the ranks of a dead node have left; returns what could not be done.
    pub fn sweep(&self, node: &str, patience: Duration) -> Vec<String> {
        let prefix = format!("{node}.");
        let mut trouble = Vec::new();
        for job in self.jobs() {
            for rank in names(&self.job(job)).into_iter().filter(|name| name.starts_with(&prefix)) {
                if let Place::Groups(_) = self {
                    let group = Cgroup::at(self.job(job).join(&rank));
                    let swept = group.kill(patience).and_then(|()| group.remove(patience));
                    trouble.extend(swept.err().map(|error| error.to_string()));
                }
                self.leave(job, &rank);
            }
        }
        trouble
    }

    /// Lets all jobs run.
    pub fn thaw(&self) {
        for job in self.jobs() {
            self.let_run(job);
        }
    }

    /// Lets a job run.
    pub(super) fn let_run(&self, job: u32) {
        match self {
            // It may have ended.
            Place::Groups(_) => drop(Cgroup::at(self.job(job)).thaw()),
            Place::Lists(_) => self.signal(job, Signal::CONT),
        }
    }

    /// Removes all of it: no node and no strober is there any more.
    pub fn remove(&self, patience: Duration) -> Result<(), Error> {
        match self {
            Place::Lists(_) => Ok(()), // It goes with the cluster's directory.
            Place::Groups(path) => {
                let whole = Cgroup::at(path.clone());
                whole.kill(patience)?;
                whole.remove(patience)
            }
        }
    }

    /// The jobs that have a part here.
    pub(super) fn jobs(&self) -> Vec<u32> {
        let number = |name: String| name.strip_prefix('j')?.parse().ok();
        names(self.path()).into_iter().filter_map(number).collect()
    }

    /// Makes a job's group stay; returns its directory.
    pub(super) fn keep(&self, job: u32) -> io::Result<PathBuf> {
        if let Place::Groups(_) = self {
            match self.make(job, &self.job(job).join(KEPT)) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                made => made?,
            }
        }
        Ok(self.job(job))
    }

    /// It need not stay any longer.
    pub(super) fn release(&self, job: u32) {
        let _ = fs::remove_dir(self.job(job).join(KEPT));
        let _ = fs::remove_dir(self.job(job));
    }

    /// Signals the process groups of a job's ranks, as far as they are listed and run.
    pub(super) fn signal(&self, job: u32, signal: Signal) {
        let of_job = self.job(job);
        for rank in names(&of_job) {
            let listed = fs::read_to_string(of_job.join(rank)).ok();
            if let Some(leader) = listed.and_then(|text| leader(&text)) {
                // It may have ended.
                let _ = kill_process_group(leader, signal);
            }
        }
    }
}

fn make_if_missing(path: &Path) -> io::Result<()> {
    match fs::create_dir(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        made => made,
    }
}

fn names(path: &Path) -> Vec<String> {
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().into_string().ok()).collect()
}

/// A rank's part of a job. It is left when this is dropped; its control group goes first.
#[derive(Debug)]
pub struct Seat {
    place: Place,
    job: u32,
    rank: String,
}

impl Seat {
    /// Its program runs as the leader of this process group.
    pub fn taken_by(&self, leader: u32) {
        // A full disk costs the turns, not the job.
        let _ = self.place.list(self.job, &self.rank, leader);
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.place.leave(self.job, &self.rank);
    }
}

/// The process that a list names, if it still runs.
fn leader(text: &str) -> Option<Pid> {
    let mut words = text.split_ascii_whitespace();
    let pid = Pid::from_raw(words.next()?.parse().ok()?)?;
    let started: u64 = words.next()?.parse().ok()?;
    // Not a stranger who was given its number.
    (start_time(pid)? == started).then_some(pid)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;
    use std::os::unix::process::CommandExt;
    use std::process::{Child, Command};
    use std::time::Instant;

    struct Sleeper(Child);

    impl Sleeper {
        fn new() -> Sleeper {
            Sleeper(Command::new("sleep").arg("1000").process_group(0).spawn().unwrap())
        }

        fn is_stopped(&self) -> bool {
            let stat = fs::read_to_string(format!("/proc/{}/stat", self.0.id())).unwrap();
            stat.rsplit_once(") ").unwrap().1.starts_with('T')
        }

        fn until(&self, is_stopped: bool) {
            let deadline = Instant::now() + Duration::from_secs(30);
            while self.is_stopped() != is_stopped {
                assert!(Instant::now() < deadline, "it does not obey");
                std::thread::sleep(Duration::from_millis(1));
            }
        }
    }

    impl Drop for Sleeper {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    #[test]
    fn listed_leaders_are_signalled_and_who_has_got_a_dead_ones_number_is_not() {
        let scratch = Scratch::new("place-lists");
        let place = Place::Lists(scratch.join("ranks"));
        let (own, stranger) = (Sleeper::new(), Sleeper::new());
        let (seat, group) = place.enter(7, "n0.s1".to_owned()).unwrap();
        assert!(group.is_none());
        seat.taken_by(own.0.id());
        let (other, _) = place.enter(7, "n1.s1".to_owned()).unwrap();
        other.taken_by(stranger.0.id());
        fs::write(place.job(7).join("n1.s1"), format!("{} 1\n", stranger.0.id())).unwrap();
        place.signal(7, Signal::STOP);
        own.until(true);
        assert!(!stranger.is_stopped());
        place.thaw();
        own.until(false);
        drop(seat);
        assert_eq!(names(&place.job(7)), ["n1.s1"]);
        drop(other);
        assert_eq!(place.jobs(), [] as [u32; 0]);
    }

    /// It ran through all turns for its life.
    #[test]
    fn a_rank_is_listed_though_the_last_one_before_it_leaves_at_that_moment() {
        let scratch = Scratch::new("place-leave");
        let place = Place::Lists(scratch.join("ranks"));
        let come_and_go = |rank: &str| {
            for _ in 0..500 {
                let (seat, _) = place.enter(7, rank.to_owned()).unwrap();
                seat.taken_by(std::process::id());
                assert!(place.job(7).join(rank).exists(), "{rank} is not listed");
            }
        };
        std::thread::scope(|scope| {
            let come_and_go = &come_and_go;
            for rank in ["n0.s1", "n1.s1"] {
                scope.spawn(move || come_and_go(rank));
            }
        });
    }

    #[test]
    fn a_jobs_group_goes_with_its_last_rank_unless_the_strober_keeps_it() {
        let Ok(own) = crate::node::cgroup::Hierarchy::detect() else { return };
        let name = format!("place-{}", std::process::id());
        let place = Place::Groups(own.group(&name).unwrap());
        let enter = |rank: &str| place.enter(7, rank.to_owned()).unwrap();
        let leave = |(seat, group): (Seat, Option<Cgroup>)| {
            group.unwrap().remove(Duration::ZERO).unwrap();
            drop(seat);
        };
        let (one, two) = (enter("n0.s1"), enter("n1.s1"));
        leave(one);
        assert!(place.job(7).exists());
        leave(two);
        assert!(!place.job(7).exists());
        let freezer = place.keep(7).unwrap().join("cgroup.freeze");
        fs::write(&freezer, "1").unwrap();
        leave(enter("n0.s2"));
        assert_eq!(fs::read_to_string(&freezer).unwrap(), "1\n");
        place.release(7);
        assert_eq!(place.jobs(), [] as [u32; 0]);
        // What a node that was killed has left goes, and nothing of another's.
        let (dead, alive) = (enter("n1.s3"), enter("n10.s3"));
        assert_eq!(place.sweep("n1", Duration::ZERO), [] as [String; 0]);
        assert_eq!(names(&place.job(7)).iter().filter(|name| name.starts_with('n')).count(), 1);
        std::mem::forget(dead.0);
        leave(alive);
        place.remove(Duration::ZERO).unwrap();
        assert!(!place.path().exists());
    }
}
