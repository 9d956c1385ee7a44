//! Taking a cluster down from outside, whatever state it is in.
//!
//! Killing the keeper is enough: its daemons follow the lifeline. What is stopped, or was left by
//! a crash, is killed here by its process number and start time.

use super::directory::system;
use super::present::{KEEPER as KEEPER_LOCK, Member, Presence, keeper, read_members, state};
use super::supervise::remove_files;
use super::{Directory, Error, KILLED, Runtime, State};
use crate::node::cgroup::Hierarchy;
use crate::roster::Roster;
use crate::strober::place::Place;
use muster_base::nodeset::expand;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use std::ffi::OsString;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, Instant};

/// How long a keeper may take to end: less than its daemons may.
const KEEPER: Duration = Duration::from_millis(1000);
/// How long daemons may take once their keeper is gone, those on other hosts too, which are told by
/// their sessions.
const DAEMONS: Duration = Duration::from_millis(5000);

/// What was taken down.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Downed {
    /// Whether it was up; otherwise only what a crash had left was removed.
    pub was_up: bool,
    /// Whether it was about to end by itself: another takes it down, or its keeper was killed.
    pub was_ending: bool,
    /// Its nodes whose daemons were there.
    pub nodes: Vec<String>,
    /// What had to be killed, because it did not end by itself.
    pub killed: Vec<String>,
    /// Nodes of hosts that could not be reached, or do not answer: only what reaches these ended.
    pub away: Vec<String>,
}

/// Between two looks at who holds a lock.
const PAUSE: Duration = Duration::from_millis(10);

/// From then on a directory in which nobody is was left, and is not about to be entered.
const OLD: Duration = Duration::from_secs(60);

/// Takes cluster `name` down within ten seconds; `None` when there is none.
///
/// # Errors
/// [`Error`] when its directory is not the user's, or something of it does not die.
pub fn down(runtime: &Runtime, name: &str) -> Result<Option<Downed>, Error> {
    let Some(directory) = runtime.open(name)? else { return Ok(None) };
    let mut downed = Downed::default();
    // Gone with the directory.
    let has_hosts = Roster::of(&directory).is_ok_and(|roster| roster.is_beyond());
    // Daemons follow their keeper fast, and the list goes with the last of them.
    let members = read_members(&directory);
    let nodes = members.iter().map(|member| member.name.clone());
    // A host's are one entry, `n[4-7]`.
    let each = |name: String| expand(&name).unwrap_or_else(|_| vec![name]);
    downed.nodes = nodes.flat_map(each).filter(|name| is_node(name)).collect();
    if let Some(keeper) = keeper_process(&directory)? {
        end_keeper(&keeper, &mut downed);
    }
    if !downed.was_up {
        let lives = members.iter().any(|member| member.pidfd().is_some());
        let is_ending = matches!(state(&directory)?, State::Ending);
        downed.was_ending = lives || is_ending || !directory.is_linked();
    }
    downed.killed.extend(clear(&directory, &members)?);
    if has_hosts {
        let killed = std::mem::take(&mut downed.killed).into_iter();
        let names = killed.flat_map(|name| expand(&name).unwrap_or_else(|_| vec![name]));
        (downed.away, downed.killed) = names.partition(|name| is_node(name));
        downed.nodes.retain(|node| !downed.away.contains(node));
    }
    Ok(Some(downed))
}

/// The keeper's process.
fn keeper_process(directory: &Directory) -> Result<Option<OwnedFd>, Error> {
    let deadline = Instant::now() + KILLED;
    while let Some(pid) = keeper(directory)? {
        let pidfd = pidfd_open(pid, PidfdFlags::empty());
        // If the lock is still held after the opening, the process is still its holder; unless it
        // is another's number in a container.
        if keeper(directory)? == Some(pid) {
            match pidfd {
                Ok(pidfd) if holds(pid, directory) => return Ok(Some(pidfd)),
                Ok(_) | Err(Errno::SRCH) if Instant::now() >= deadline => {
                    return Err(Error::Elsewhere(directory.name().into(), pid));
                }
                // A child that it began to start when it was killed has the lock for a moment.
                Ok(_) | Err(Errno::SRCH) => std::thread::sleep(PAUSE),
                Err(error) => return Err(system(directory.path(), error).into()),
            }
        }
    }
    Ok(None)
}

/// Whether a process has a cluster's keeper's lock open.
fn holds(pid: Pid, directory: &Directory) -> bool {
    let identity = |path: &Path| std::fs::metadata(path).map(|it| (it.dev(), it.ino())).ok();
    let Some(lock) = identity(&directory.path().join(KEEPER_LOCK)) else { return false };
    // Where that is not to be seen it is taken for granted.
    let files = std::fs::read_dir(format!("/proc/{}/fd", pid.as_raw_nonzero()));
    files.map_or(true, |files| files.flatten().any(|it| identity(&it.path()) == Some(lock)))
}

/// Tells the keeper to end, and ends it.
fn end_keeper(pidfd: &OwnedFd, downed: &mut Downed) {
    downed.was_up = true;
    let _ = pidfd_send_signal(pidfd, Signal::TERM);
    if !wait(pidfd, Instant::now() + KEEPER) {
        downed.killed.push("keeper".into());
        let _ = pidfd_send_signal(pidfd, Signal::KILL);
        wait(pidfd, Instant::now() + KILLED);
    }
}

/// Ends what is left in a directory that nobody keeps, and removes it. `known` were there before
/// the keeper's end: the last of its daemons removes the list. Returns what was killed.
pub(super) fn clear(directory: &Directory, known: &[Member]) -> Result<Vec<String>, Error> {
    let mut members = read_members(directory);
    let gone = known.iter().filter(|known| !members.contains(known));
    members.extend(gone.cloned().collect::<Vec<_>>());
    // Those of a keeper that was killed before it had noted them get as long as the others.
    let deadline = Instant::now() + DAEMONS;
    let killed = end_members(&members);
    let alone = loop {
        if let Some(alone) = Presence::alone(directory, Instant::now() + KILLED)? {
            break alone;
        }
        if !directory.is_linked() || matches!(state(directory)?, State::Kept(_)) {
            return Ok(killed);
        }
        if Instant::now() >= deadline {
            let left = members.iter().filter(|member| member.pidfd().is_some());
            let mut who: Vec<String> = left.map(|member| member.name.clone()).collect();
            if who.is_empty() {
                who.push("something".into());
            }
            return Err(Error::Immortal { name: directory.name().into(), who });
        }
    };
    // The last to leave has removed it.
    if directory.is_linked() {
        alone.leave(directory)?;
    }
    Ok(killed)
}

/// Removes what a crash has left of clusters whose names begin so: nobody else does it for those
/// that get a new name each time.
pub fn clear_dead(runtime: &Runtime, prefix: &str) {
    let names = runtime.clusters().unwrap_or_default();
    for name in names.iter().filter(|name| name.starts_with(prefix)) {
        let Ok(Some(directory)) = runtime.open(name) else { continue };
        // In one that begins there is nobody for a moment.
        let changed = std::fs::metadata(directory.path()).and_then(|found| found.modified());
        let is_old = changed.is_ok_and(|at| at.elapsed().is_ok_and(|since| since >= OLD));
        if is_old
            && matches!(state(&directory), Ok(State::Dead))
            && let Ok(Some(alone)) = Presence::alone(&directory, Instant::now())
            && directory.is_linked()
        {
            // What cannot be removed is in nobody's way.
            let _ = alone.leave(&directory);
        }
    }
}

/// Removes what the nodes of a directory in which nobody lives have left.
pub(super) fn sweep_all(directory: &Directory) {
    for node in nodes_of(directory, &read_members(directory)) {
        // What cannot be swept away is told by the removal, or is no file.
        let _ = sweep(directory, &node, KILLED);
    }
    let _ = sweep_jobs(directory);
}

/// Waits for daemons to follow their lifeline, then kills the rest.
fn end_members(members: &[Member]) -> Vec<String> {
    let running = |member: &Member| Some((member.name.clone(), member.pidfd()?));
    let running: Vec<(String, OwnedFd)> = members.iter().filter_map(running).collect();
    let deadline = Instant::now() + DAEMONS;
    let left: Vec<_> = running.iter().filter(|(_, pidfd)| !wait(pidfd, deadline)).collect();
    for (_, pidfd) in &left {
        let _ = pidfd_send_signal(pidfd, Signal::KILL);
    }
    let deadline = Instant::now() + KILLED;
    left.iter().for_each(|(_, pidfd)| _ = wait(pidfd, deadline));
    left.iter().map(|(name, _)| name.clone()).collect()
}

/// Whether a daemon, or a file, of this name is a node.
fn is_node(name: &str) -> bool {
    name.strip_prefix('n').is_some_and(|number| number.parse::<u32>().is_ok())
}

/// Nodes that left something: those that ran, and those that have a directory.
fn nodes_of(directory: &Directory, members: &[Member]) -> Vec<String> {
    let entries = std::fs::read_dir(directory.path()).into_iter().flatten().flatten();
    let named = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let mut nodes: Vec<String> = named.filter(|name| is_node(name)).collect();
    let ran = members.iter().map(|member| member.name.clone());
    nodes.extend(ran.filter(|name| is_node(name)));
    nodes.sort();
    nodes.dedup();
    nodes
}

/// Waits until a process has ended; tells whether it has.
pub(super) fn wait(pidfd: impl AsFd, deadline: Instant) -> bool {
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let timeout = Timespec::try_from(left).expect("some seconds");
        match poll(&mut [PollFd::new(&pidfd, PollFlags::IN)], Some(&timeout)) {
            Err(Errno::INTR) => {}
            ended => return ended.is_ok_and(|ready| ready > 0),
        }
    }
}

/// The file that says where the nodes' control groups are: whoever takes the cluster down may be
/// in another group than its keeper was.
const GROUPS: &str = "cgroup";

/// Notes where this process may make control groups, and hence its children.
pub(super) fn note_groups(directory: &Directory) -> std::io::Result<()> {
    match Hierarchy::detect() {
        Ok(found) => {
            std::fs::write(directory.path().join(GROUPS), found.path().as_os_str().as_bytes())
        }
        // Then the nodes have none either, and say so in their logs.
        Err(_) => Ok(()),
    }
}

impl Directory {
    /// Where the daemons' control groups are, if they may be.
    pub(crate) fn groups(&self) -> Option<Hierarchy> {
        let path = std::fs::read(self.path().join(GROUPS)).ok()?;
        Some(Hierarchy::at(OsString::from_vec(path)))
    }
}

/// Removes what a dead node has left: control groups with all that runs in them, then files, for
/// what runs may make some. Returns what could not be done.
pub(super) fn sweep(directory: &Directory, node: &str, patience: Duration) -> Vec<String> {
    let mut trouble = Vec::new();
    if let Some(groups) = directory.groups() {
        let swept = groups.sweep(&directory.group(node), patience);
        trouble.extend(swept.err().map(|error| error.to_string()));
    }
    trouble.extend(Place::of(directory).sweep(node, patience));
    trouble.extend(remove_files(directory, node));
    trouble
}

/// Removes what is left of jobs' groups when all nodes and the strober have gone.
pub(super) fn sweep_jobs(directory: &Directory) -> Option<String> {
    Place::of(directory).remove(KILLED).err().map(|error| error.to_string())
}
