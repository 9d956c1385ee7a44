//! Who lives in a cluster's directory, told by file locks, which die with their holders.
//!
//! * `present`: every daemon and the keeper hold it shared from their start on. Whoever leaves
//!   tries to take it alone: the one who gets it is the last and removes the directory. So a
//!   directory goes with the last process that ends in good order, whichever that is, and also
//!   when the keeper was killed.
//! * `keeper.pid`: the keeper holds it alone; it names the keeper's process.
//! * The directory of all clusters: keepers hold it shared, so that it does not age. What is kept
//!   for a cluster's life is hardly ever touched, and what cleans /tmp removes that some day, these
//!   files too, unless it finds a directory above them locked (tmpfiles.d(5)).
//! * `pids`: the daemons' processes with their start times, so that one whose number was given to
//!   a stranger is never taken for the daemon.

use super::directory::{Directory, Error, Runtime, system};
use crate::hosts;
use rustix::fs::{FlockOperation, Mode, OFlags};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::{Duration, Instant};

const PRESENT: &str = "present";
pub(super) const KEEPER: &str = "keeper.pid";
const PIDS: &str = "pids";

/// Between two looks at a lock.
const PAUSE: Duration = Duration::from_millis(10);

/// How long a keeper tries for its lock: somebody who only looks whether it is held holds it for
/// a moment.
const LOOKED_AT: Duration = Duration::from_millis(500);

/// How long one who leaves without a keeper waits to be the last.
const LEAVING: Duration = Duration::from_millis(1000);

fn open(directory: &Directory, file: &str, create: bool) -> Result<Option<File>, Error> {
    let path = directory.path().join(file);
    let mut flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    flags.set(OFlags::CREATE, create);
    match rustix::fs::open(&path, flags, Mode::RUSR | Mode::WUSR) {
        Ok(fd) => Ok(Some(fd.into())),
        Err(Errno::NOENT) => Ok(None),
        Err(error) => Err(system(&path, error)),
    }
}

/// Tries for a lock until `deadline`.
fn lock(file: &File, how: FlockOperation, deadline: Instant) -> io::Result<bool> {
    loop {
        match rustix::fs::flock(file, how) {
            Ok(()) => return Ok(true),
            Err(Errno::INTR) => {}
            Err(Errno::WOULDBLOCK) if Instant::now() >= deadline => return Ok(false),
            Err(Errno::WOULDBLOCK) => std::thread::sleep(PAUSE),
            Err(error) => return Err(error.into()),
        }
    }
}

/// Being one of a cluster's processes. Dropping it without [`Presence::leave`] leaves the
/// directory to others.
#[derive(Debug)]
pub struct Presence {
    file: File,
}

impl Presence {
    /// Enters a cluster's directory.
    ///
    /// # Errors
    /// [`Error`] when the directory is going or gone.
    pub fn enter(directory: &Directory) -> Result<Presence, Error> {
        let path = directory.path().join(PRESENT);
        let gone = || system(&path, io::Error::other("the cluster is ending"));
        let file = open(directory, PRESENT, true)?.ok_or_else(gone)?;
        let deadline = Instant::now() + Duration::from_secs(2);
        let locked = lock(&file, FlockOperation::NonBlockingLockShared, deadline);
        let locked = locked.map_err(|error| system(&path, error))?;
        let linked = rustix::fs::fstat(&file).is_ok_and(|stat| stat.st_nlink > 0);
        if !locked || !linked || !directory.is_linked() {
            return Err(gone());
        }
        Ok(Presence { file })
    }

    /// Leaves; the last one removes the directory. Tells whether this was the last.
    ///
    /// # Errors
    /// [`Error`] when the directory cannot be removed.
    pub fn leave(self, directory: &Directory) -> Result<bool, Error> {
        let deadline = Instant::now() + LEAVING;
        loop {
            // The kernel gives the shared lock up before it tries for the other, also when that
            // fails: of two who leave at the same time the second gets it.
            let now = Instant::now();
            let last = lock(&self.file, FlockOperation::NonBlockingLockExclusive, now);
            if last.map_err(|error| system(directory.path(), error))? {
                let first = directory.is_linked();
                if first {
                    // One that was stopped is hung up on by the kernel when its keeper ends, and
                    // leaves without removing what is its own.
                    super::down::sweep_all(directory);
                    directory.remove(PRESENT)?;
                }
                return Ok(first);
            }
            // A keeper that lives removes the directory when we are gone. One that was killed
            // closes the lifeline a moment before its locks go, so it is waited for.
            if keeper_lives(directory) || now >= deadline || !directory.is_linked() {
                return Ok(false);
            }
            std::thread::sleep(PAUSE);
        }
    }

    /// Takes a directory that nobody lives in any more; `None` when somebody still does at
    /// `deadline`.
    pub(super) fn alone(
        directory: &Directory,
        deadline: Instant,
    ) -> Result<Option<Presence>, Error> {
        let Some(file) = open(directory, PRESENT, true)? else { return Ok(None) };
        let alone = lock(&file, FlockOperation::NonBlockingLockExclusive, deadline);
        let alone = alone.map_err(|error| system(directory.path(), error))?;
        Ok(alone.then_some(Presence { file }))
    }
}

/// Being a cluster's keeper.
#[derive(Debug)]
pub(super) struct KeeperLock {
    file: File,
    /// The directory of all clusters.
    base: File,
}

impl KeeperLock {
    /// Becomes the keeper; `None` when there is one.
    pub(super) fn take(directory: &Directory) -> Result<Option<KeeperLock>, Error> {
        let path = directory.path().join(KEEPER);
        let Some(mut file) = open(directory, KEEPER, true)? else { return Ok(None) };
        let deadline = Instant::now() + LOOKED_AT;
        let mut take = || -> io::Result<bool> {
            if !lock(&file, FlockOperation::NonBlockingLockExclusive, deadline)? {
                return Ok(false);
            }
            file.set_len(0)?;
            writeln!(file, "{}", std::process::id())?;
            Ok(true)
        };
        let taken = take().map_err(|error| system(&path, error))?;
        let base = directory.path().parent().unwrap_or(directory.path());
        let base = File::open(base).map_err(|error| system(base, error))?;
        Ok(taken.then_some(KeeperLock { file, base }))
    }

    /// Keeps the directory of all clusters from ageing. Who is just cleaning up there has it for
    /// himself, and removes nothing new; so this is asked for again and again.
    pub(super) fn keep_from_ageing(&self) {
        let _ = rustix::fs::flock(&self.base, FlockOperation::NonBlockingLockShared);
    }
}

impl Drop for KeeperLock {
    fn drop(&mut self) {
        // Closing alone keeps the locks for as long as a child that is being started has the
        // descriptors, too.
        let _ = rustix::fs::flock(&self.file, FlockOperation::Unlock);
        let _ = rustix::fs::flock(&self.base, FlockOperation::Unlock);
    }
}

/// What the names of clusters for one job begin with.
pub const EMBEDDED: &str = "run-";

/// How a cluster is.
#[derive(Debug)]
pub enum State {
    /// Kept by this process.
    Kept(Pid),
    /// Its keeper is gone, some of its daemons are not.
    Ending,
    /// All its processes are gone: what is left was left by a crash.
    Dead,
}

impl Runtime {
    /// How cluster `name` is; `None` when there is none.
    ///
    /// # Errors
    /// As [`Runtime::open`].
    pub fn state(&self, name: &str) -> Result<Option<State>, Error> {
        self.open(name)?.map(|directory| state(&directory)).transpose()
    }

    /// The program that keeps a cluster, if it is another than this process runs.
    pub fn other_build(&self, name: &str) -> Option<PathBuf> {
        let Ok(Some(State::Kept(pid))) = self.state(name) else { return None };
        let theirs = PathBuf::from(format!("/proc/{}/exe", pid.as_raw_nonzero()));
        let is_other = differ(&theirs, Path::new("/proc/self/exe")).unwrap_or(false);
        is_other.then(|| std::fs::read_link(&theirs).ok())?
    }

    /// Whether it is up, and one that others may use: those for one job belong to a `muster run`,
    /// hosts' parts to a cluster elsewhere.
    ///
    /// # Errors
    /// As [`Runtime::open`].
    pub fn is_up(&self, name: &str) -> Result<bool, Error> {
        let is_part = [EMBEDDED, hosts::PREFIX].iter().any(|prefix| name.starts_with(prefix));
        Ok(!is_part && matches!(self.state(name)?, Some(State::Kept(_))))
    }
}

/// Whether two files have not the same content.
fn differ(one: &Path, other: &Path) -> io::Result<bool> {
    let (known, beside) = (one.metadata()?, other.metadata()?);
    if (known.dev(), known.ino()) == (beside.dev(), beside.ino()) {
        return Ok(false);
    }
    Ok(known.len() != beside.len() || std::fs::read(one)? != std::fs::read(other)?)
}

pub(super) fn state(directory: &Directory) -> Result<State, Error> {
    if let Some(pid) = keeper(directory)? {
        return Ok(State::Kept(pid));
    }
    let Some(file) = open(directory, PRESENT, false)? else { return Ok(State::Dead) };
    let now = Instant::now();
    let alone = lock(&file, FlockOperation::NonBlockingLockExclusive, now);
    match alone.map_err(|error| system(directory.path(), error))? {
        true => Ok(State::Dead),
        false => Ok(State::Ending),
    }
}

/// The keeper's process, if there is one.
pub(super) fn keeper(directory: &Directory) -> Result<Option<Pid>, Error> {
    let path = directory.path().join(KEEPER);
    let Some(file) = open(directory, KEEPER, false)? else { return Ok(None) };
    let deadline = Instant::now() + LOOKED_AT;
    loop {
        let now = Instant::now();
        let free = lock(&file, FlockOperation::NonBlockingLockShared, now);
        if free.map_err(|error| system(&path, error))? {
            return Ok(None);
        }
        let text = match std::fs::read_to_string(&path) {
            // It has just gone, and its file with it.
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            text => text.map_err(|error| system(&path, error))?,
        };
        // A keeper that has just taken its lock writes its number next.
        match text.trim().parse().ok().and_then(Pid::from_raw) {
            Some(pid) => return Ok(Some(pid)),
            None if now < deadline => std::thread::sleep(PAUSE),
            None => return Ok(None),
        }
    }
}

/// Whether the keeper's process is there and not about to end.
fn keeper_lives(directory: &Directory) -> bool {
    const PF_EXITING: u64 = 4;
    let text = std::fs::read_to_string(directory.path().join(KEEPER)).unwrap_or_default();
    let pid = text.trim().parse().ok().and_then(Pid::from_raw);
    pid.and_then(|pid| stat_field(pid, 9)).is_some_and(|flags: u64| flags & PF_EXITING == 0)
}

/// A daemon of a cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Member {
    /// `manager`, or the node's name.
    pub(super) name: String,
    pid: Pid,
    started: u64,
}

impl Member {
    /// The daemon that runs as process `pid`, a child of ours.
    pub(super) fn of(name: &str, pid: Pid) -> Option<Member> {
        Some(Member { name: name.to_owned(), pid, started: start_time(pid)? })
    }

    /// The daemon's process, if it still runs.
    pub(super) fn pidfd(&self) -> Option<OwnedFd> {
        let pidfd = pidfd_open(self.pid, PidfdFlags::empty()).ok()?;
        // As long as this start time is read the number is the daemon's; the descriptor was
        // opened before, so it is the daemon's as well.
        (start_time(self.pid)? == self.started).then_some(pidfd)
    }
}

/// When a process started, in clock ticks since the machine did.
pub(crate) fn start_time(pid: Pid) -> Option<u64> {
    stat_field(pid, 22)
}

/// The parent of a process.
pub(crate) fn parent(pid: Pid) -> Option<Pid> {
    Pid::from_raw(stat_field(pid, 4)?)
}

/// Whether a signal has stopped a process; not whether a debugger has.
pub(super) fn is_stopped(pid: Pid) -> bool {
    stat_field(pid, 3) == Some('T')
}

/// What proc_pid_stat(5) lists, counted as there.
fn stat_field<T: FromStr>(pid: Pid, number: usize) -> Option<T> {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?;
    // The second, the command's name, may hold blanks and parentheses; the last one closes it.
    let fields = stat.rsplit_once(')')?.1;
    fields.split_ascii_whitespace().nth(number - 3)?.parse().ok()
}

/// Notes the daemons' processes.
pub(super) fn write_members(directory: &Directory, members: &[Member]) -> Result<(), Error> {
    let path = directory.path().join(PIDS);
    let draft = directory.path().join("pids.new");
    let line = |m: &Member| format!("{} {} {}\n", m.name, m.pid.as_raw_nonzero(), m.started);
    let text: String = members.iter().map(line).collect();
    let write = || std::fs::write(&draft, text).and_then(|()| std::fs::rename(&draft, &path));
    write().map_err(|error| system(&path, error))
}

/// The daemons' processes as they were noted last.
pub(super) fn read_members(directory: &Directory) -> Vec<Member> {
    let text = std::fs::read_to_string(directory.path().join(PIDS)).unwrap_or_default();
    let member = |line: &str| {
        let mut words = line.split(' ');
        let name = words.next()?.to_owned();
        let pid = Pid::from_raw(words.next()?.parse().ok()?)?;
        Some(Member { name, pid, started: words.next()?.parse().ok()? })
    };
    text.lines().filter_map(member).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::Scratch;
    use super::*;

    fn cluster(scratch: &Scratch) -> Directory {
        let runtime = Runtime::at(scratch.path().join("r"));
        runtime.make("x").expect("made").expect("new")
    }

    #[test]
    fn the_last_who_leaves_removes_the_directory() {
        let scratch = Scratch::new("present-last");
        let directory = cluster(&scratch);
        let [one, two, three] = [(); 3].map(|()| Presence::enter(&directory).expect("entered"));
        assert!(!one.leave(&directory).expect("left"));
        drop(two); // killed
        assert!(matches!(state(&directory).expect("state"), State::Ending));
        assert!(directory.is_linked());
        assert!(three.leave(&directory).expect("left"));
        assert!(!directory.is_linked());
        assert!(Presence::enter(&directory).is_err());
        assert!(!scratch.path().join("r").exists());
    }

    #[test]
    fn of_many_who_leave_at_once_exactly_one_is_the_last() {
        let scratch = Scratch::new("present-race");
        for _ in 0..20 {
            let directory = cluster(&scratch);
            let all: Vec<_> = (0..8).map(|_| Presence::enter(&directory).expect("in")).collect();
            let last = std::thread::scope(|scope| {
                let directory = &directory;
                let leave = |one: Presence| scope.spawn(|| one.leave(directory).expect("left"));
                let threads: Vec<_> = all.into_iter().map(leave).collect();
                threads
                    .into_iter()
                    .filter_map(|t| t.join().expect("no panic").then_some(()))
                    .count()
            });
            assert_eq!(last, 1);
            assert!(!directory.is_linked());
        }
    }

    #[test]
    fn there_is_one_keeper_and_it_is_known() {
        let scratch = Scratch::new("present-keeper");
        let directory = cluster(&scratch);
        assert!(matches!(state(&directory).expect("state"), State::Dead));
        let held = KeeperLock::take(&directory).expect("locks").expect("the first");
        assert!(KeeperLock::take(&directory).expect("locks").is_none());
        let own = rustix::process::getpid();
        assert_eq!(keeper(&directory).expect("read"), Some(own));
        drop(held);
        assert_eq!(keeper(&directory).expect("read"), None);
    }

    #[test]
    fn a_cluster_of_another_build_is_told_from_one_of_a_copy() {
        let scratch = Scratch::new("present-build");
        let file = |name: &str, text: &str| {
            let path = scratch.path().join(name);
            std::fs::write(&path, text).expect("written");
            path
        };
        let [one, copy, other, longer] =
            [("a", "one"), ("b", "one"), ("c", "two"), ("d", "three")].map(|it| file(it.0, it.1));
        let differs = |path: &Path| differ(&one, path).expect("they are read");
        assert_eq!(
            [&one, &copy, &other, &longer].map(|it| differs(it)),
            [false, false, true, true]
        );
        let directory = cluster(&scratch);
        let _held = KeeperLock::take(&directory).expect("locks").expect("the first");
        assert_eq!(Runtime::at(scratch.path().join("r")).other_build("x"), None, "it is this one");
    }

    #[test]
    fn a_member_is_known_by_its_start() {
        let scratch = Scratch::new("present-member");
        // Not where the end of a test looks for daemons to kill: this names our own process.
        let runtime = Runtime::at(scratch.path().join("m"));
        let directory = runtime.make("x").expect("made").expect("new");
        let own = Member::of("n1", rustix::process::getpid()).expect("we run");
        let stranger = Member { name: "n2".into(), started: own.started + 1, ..own };
        write_members(&directory, &[own.clone(), stranger.clone()]).expect("written");
        assert_eq!(read_members(&directory), [own.clone(), stranger.clone()]);
        assert!(own.pidfd().is_some() && stranger.pidfd().is_none());
    }
}
