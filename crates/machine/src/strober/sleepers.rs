//! Whether everything of a job sleeps, as the kernel has it.
//!
//! To find the threads of a job, and to open what the kernel tells of each, takes five times as
//! long as to read it once more. So what was opened stays open, and is read as long as the kernel
//! lists the same groups and threads.

use super::lending::Seen;
use super::place::Place;
use rustix::io::pread;
use std::borrow::Cow;
use std::collections::VecDeque;
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Threads of the jobs of a slot at most. To look at one takes some ten microseconds, and forty the
/// first time, in which a real-time thread keeps a processor from others; one that does not sleep
/// for [`super::sys::SPIN`] is killed.
const THREADS_MAX: usize = 64;

/// Control groups in which they are looked for at most: to look into one takes as long.
const GROUPS_MAX: usize = 64;

/// Jobs of a slot at most.
const JOBS_MAX: usize = 512;

/// Links of a control group's directory that has no other group in it.
const ALONE: u64 = 2;

/// Bytes of what the kernel tells at most: the numbers of the most threads that are looked at.
const TEXT_MAX: usize = 1024;

/// Files that are kept open at most, beside those of the last look.
const OPEN_MAX: usize = 256;

/// Who looks, and what was found by the last looks.
pub(super) struct Sleepers {
    place: Place,
    /// The last one first.
    found: VecDeque<Found>,
}

/// Where the threads of some jobs are.
struct Found {
    jobs: Vec<Whole>,
    groups: Vec<Group>,
    threads: Vec<Thread>,
}

/// A job's group, by its name: another one of that name has another inode.
#[derive(PartialEq, Eq)]
struct Whole {
    job: u32,
    inode: u64,
    links: u64,
}

/// A group that has threads or other groups, when its threads were listed. One that is removed can
/// be read no more.
struct Group {
    directory: File,
    links: u64,
    threads: File,
    text: Text,
}

/// A thread. What is told of one that has ended can be read no more, whoever has its number.
struct Thread {
    number: u32,
    stat: File,
    schedstat: File,
}

/// How a thread is.
enum How {
    Runs,
    /// It has run so often before.
    Sleeps(u64),
}

/// What a file of the kernel tells.
#[derive(PartialEq, Eq)]
struct Text {
    bytes: [u8; TEXT_MAX],
    length: usize,
}

impl Sleepers {
    /// Nobody has been looked at.
    pub(super) fn at(place: Place) -> Sleepers {
        Sleepers { place, found: VecDeque::new() }
    }

    /// How jobs are that have control groups here.
    pub(super) fn look(&mut self, jobs: &[u32]) -> Seen {
        // What cannot be told may run.
        self.asleep(jobs).map_or(Seen::Awake, Seen::Asleep)
    }

    /// Nobody will be looked at for now.
    pub(super) fn forget(&mut self) {
        self.found.clear();
    }

    fn asleep(&mut self, jobs: &[u32]) -> Option<Vec<(u32, u64)>> {
        if jobs.len() > JOBS_MAX {
            return None;
        }
        let whole = |job: &u32| Whole::at(*job, &self.place.job(*job));
        let jobs = jobs.iter().map(whole).collect::<Option<Vec<_>>>()?;
        let known = self.found.iter().position(|found| found.jobs == jobs);
        let known = known.and_then(|at| self.found.remove(at)).filter(Found::is_so);
        let found = known.map_or_else(|| Found::look_for(&self.place, jobs), Some)?;
        let mut seen = Vec::with_capacity(found.threads.len());
        for thread in &found.threads {
            match thread.how()? {
                How::Sleeps(times) => seen.push((thread.number, times)),
                How::Runs => {
                    self.keep(found);
                    return None;
                }
            }
        }
        self.keep(found);
        Some(seen)
    }

    fn keep(&mut self, found: Found) {
        let mut open = 0;
        self.found.retain(|found| {
            open += found.files();
            open <= OPEN_MAX
        });
        self.found.push_front(found);
    }
}

impl Whole {
    fn at(job: u32, path: &Path) -> Option<Whole> {
        let told = fs::metadata(path).ok()?;
        Some(Whole { job, inode: told.ino(), links: told.nlink() })
    }
}

impl Found {
    fn look_for(place: &Place, jobs: Vec<Whole>) -> Option<Found> {
        let mut found = Found { jobs, groups: Vec::new(), threads: Vec::new() };
        for at in 0..found.jobs.len() {
            let whole = &found.jobs[at];
            // The jobs of a slot are the cluster's: many have nobody here, but the group that keeps
            // their place.
            if whole.links > ALONE + 1 {
                found.list(&place.job(whole.job))?;
            }
        }
        Some(found)
    }

    /// Lists the threads of a group and of those in it, if they are few.
    fn list(&mut self, path: &Path) -> Option<()> {
        let group = Group::open(path)?;
        for line in group.text.words().lines() {
            self.threads.push(Thread::open(line.parse().ok()?)?);
            if self.threads.len() > THREADS_MAX {
                return None;
            }
        }
        let has_others = group.links > ALONE;
        self.groups.push(group);
        if self.groups.len() > GROUPS_MAX {
            return None;
        }
        if has_others {
            for entry in fs::read_dir(path).ok()? {
                let entry = entry.ok()?;
                if entry.file_type().ok()?.is_dir() {
                    self.list(&entry.path())?;
                }
            }
        }
        Some(())
    }

    /// Whether the kernel still lists the same.
    fn is_so(&self) -> bool {
        self.groups.iter().all(|group| group.is_so().unwrap_or(false))
    }

    fn files(&self) -> usize {
        2 * (self.groups.len() + self.threads.len())
    }
}

impl Group {
    fn open(path: &Path) -> Option<Group> {
        let (directory, threads) = (File::open(path), File::open(path.join("cgroup.threads")));
        let (directory, threads) = (directory.ok()?, threads.ok()?);
        let (links, text) = (directory.metadata().ok()?.nlink(), Text::of(&threads)?);
        Some(Group { directory, links, threads, text })
    }

    fn is_so(&self) -> Option<bool> {
        let links = self.directory.metadata().ok()?.nlink();
        Some(links == self.links && Text::of(&self.threads)? == self.text)
    }
}

impl Thread {
    fn open(number: u32) -> Option<Thread> {
        let open = |file: &str| File::open(format!("/proc/{number}/task/{number}/{file}")).ok();
        Some(Thread { number, stat: open("stat")?, schedstat: open("schedstat")? })
    }

    /// How it is, if it still is there. One that waits for a disk is about to run.
    fn how(&self) -> Option<How> {
        let stat = Text::of(&self.stat)?;
        let stat = stat.words();
        let (_, state) = stat.rsplit_once(") ")?;
        // Asleep, stopped, traced, or ended.
        if !state.starts_with(['S', 'T', 't', 'Z', 'X']) {
            return Some(How::Runs);
        }
        let told = Text::of(&self.schedstat)?;
        told.words().split_ascii_whitespace().nth(2)?.parse().ok().map(How::Sleeps)
    }
}

impl Text {
    /// What it tells now, if that is short.
    fn of(file: &File) -> Option<Text> {
        let mut text = Text { bytes: [0; TEXT_MAX], length: 0 };
        text.length = pread(file, &mut text.bytes, 0).ok()?;
        (text.length < TEXT_MAX).then_some(text)
    }

    fn words(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.bytes[..self.length])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::node::cgroup::{Cgroup, Hierarchy};
    use std::process::{Child, Command, Stdio};
    use std::time::{Duration, Instant};

    struct Program(Child);

    impl Program {
        fn new(script: &str, group: &Cgroup) -> Program {
            let mut command = Command::new("sh");
            let child = command.args(["-c", script]).stdin(Stdio::piped()).spawn().unwrap();
            fs::write(group.path().join("cgroup.procs"), child.id().to_string()).unwrap();
            Program(child)
        }
    }

    impl Drop for Program {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    fn until(what: &str, mut is_so: impl FnMut() -> bool) {
        let deadline = Instant::now() + Duration::from_secs(30);
        while !is_so() {
            assert!(Instant::now() < deadline, "{what}");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn a_job_sleeps_when_all_of_it_does_and_who_has_run_since_is_seen() {
        let Ok(own) = Hierarchy::detect() else { return };
        let name = format!("sleepers-{}", std::process::id());
        let place = Place::Groups(own.group(&name).unwrap());
        let mut sleepers = Sleepers::at(place.clone());
        let enter = |job: u32, rank: &str| place.enter(job, rank.to_owned()).unwrap();
        let ((one, first), (two, second)) = (enter(7, "n0.s1"), enter(7, "n1.s1"));
        let (first, second) = (first.unwrap(), second.unwrap());
        assert_eq!(sleepers.look(&[7]), Seen::Asleep(Vec::new()), "nobody is there");
        assert_eq!(
            sleepers.look(&[7, 8]),
            Seen::Awake,
            "it is not known how a job without a place is"
        );
        let mut reads = Program::new("while read word; do :; done", &first);
        // A group that a program has made in its own is looked at as well.
        let inner = second.path().join("inner");
        fs::create_dir(&inner).unwrap();
        let spins = Program::new("while :; do :; done", &Cgroup::at(inner.clone()));
        assert_eq!(sleepers.look(&[7]), Seen::Awake);
        drop(spins);
        until("it sleeps", || sleepers.look(&[7]) != Seen::Awake);
        let before = sleepers.look(&[7]);
        assert!(matches!(&before, Seen::Asleep(threads) if threads.len() == 1), "{before:?}");
        assert_eq!(sleepers.look(&[7]), before);
        std::io::Write::write_all(reads.0.stdin.as_mut().unwrap(), b"once\n").unwrap();
        until("it has run", || ![Seen::Awake, before.clone()].contains(&sleepers.look(&[7])));
        // Another one in its place is listed anew, and so is who has the job's number next.
        drop(reads);
        let only = |seen: Seen, one: &Program| match seen {
            Seen::Asleep(threads) => threads.len() == 1 && threads[0].0 == one.0.id(),
            Seen::Awake => false,
        };
        let other = Program::new("read word", &first);
        until("the other sleeps", || only(sleepers.look(&[7]), &other));
        drop(other);
        fs::remove_dir(inner).unwrap();
        first.remove(Duration::from_secs(1)).unwrap();
        second.remove(Duration::from_secs(1)).unwrap();
        drop((one, two));
        let ((one, first), (two, second)) = (enter(7, "n0.s2"), enter(7, "n1.s2"));
        let (first, second) = (first.unwrap(), second.unwrap());
        let next = Program::new("read word", &second);
        until("the next one sleeps", || only(sleepers.look(&[7]), &next));
        drop(next);
        for (seat, group) in [(one, first), (two, second)] {
            group.remove(Duration::from_secs(1)).unwrap();
            drop(seat);
        }
        place.remove(Duration::ZERO).unwrap();
    }
}
