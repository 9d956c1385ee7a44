//! The keeper's thread: starts daemons, waits for deaths, starts again, ends all.

use super::down::{sweep, sweep_jobs};
use super::present::{KeeperLock, Member, Presence, is_stopped, write_members};
use super::removal::remove_all;
use super::{Directory, Ended, KILLED, Log, PATIENCE, Plan};
use crate::hosts::session::Session;
use crate::roster::Roster;
use crate::strober::place::Place;
use muster_base::nodeset::fold;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use std::collections::VecDeque;
use std::io::{self, PipeReader, PipeWriter};
use std::os::fd::OwnedFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Deaths within [`MEMORY`] after which a daemon is given up.
const DEATHS_MAX: usize = 10;
/// How long a death counts.
const MEMORY: Duration = Duration::from_secs(10);
/// Least and longest pause before a daemon is started again.
const PAUSE: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(1));

/// The pause before it is looked again whether a dead daemon can be started again.
const LOOK: Duration = Duration::from_millis(10);

/// How often is looked whether the cluster's directory is there, which who clears up behind others
/// may remove, and whether the strober is stopped.
const UNTOLD: Duration = Duration::from_secs(2);

/// How long the evidence of a death is offered to a manager that does not answer.
const REPORTING: Duration = Duration::from_secs(5);

/// How long hosts may take to leave: they look whether the manager answers again, and then their
/// own daemons may take as long as these.
const HOSTS: Duration = Duration::from_millis(8000);

/// The manager's name among the daemons; no node is called so.
const MANAGER: &str = "manager";

/// The strober's.
const STROBER: &str = "strober";

struct Running {
    child: Child,
    pidfd: OwnedFd,
    member: Option<Member>,
    since: Instant,
}

struct Daemon {
    name: String,
    running: Option<Running>,
    deaths: VecDeque<Instant>,
    /// One has lived for longer than [`MEMORY`].
    has_lived: bool,
    /// Removes what the last one has left.
    sweeper: Option<JoinHandle<Vec<String>>>,
    /// Ends when the manager has been told of the last one's death: it must not hear first that
    /// there is another.
    told: Option<Receiver<()>>,
    /// When to start it again, if both are over by then.
    due: Option<Instant>,
}

/// A line of evidence for the manager. Dropped when it was told.
struct Evidence {
    line: String,
    /// It is offered until then.
    until: Instant,
    _told: Sender<()>,
}

/// What comes next.
enum Next {
    GoOn,
    End,
}

pub(super) struct Supervisor {
    directory: Arc<Directory>,
    presence: Presence,
    lock: KeeperLock,
    log: Log,
    plan: Plan,
    /// The cluster is on several hosts.
    is_beyond: bool,
    /// Ends when the keeper is told to stop.
    heard: PipeReader,
    /// What the daemons hold, and the end that only we hold.
    lifeline: (PipeReader, PipeWriter),
    daemons: Vec<Daemon>,
    evidence: Sender<Evidence>,
    /// Since when the strober was seen to be stopped.
    strober_stopped: Option<Instant>,
}

impl Supervisor {
    pub(super) fn new(
        directory: Arc<Directory>,
        presence: Presence,
        lock: KeeperLock,
        log: Log,
        plan: Plan,
        heard: PipeReader,
    ) -> io::Result<Supervisor> {
        let manager = plan.has_manager.then(|| MANAGER.to_owned());
        let own = manager.into_iter().chain([STROBER.to_owned()]);
        let names = own.chain(plan.nodes.iter().cloned());
        let daemon = |name| {
            let (deaths, has_lived) = (VecDeque::new(), false);
            Daemon { name, running: None, deaths, has_lived, sweeper: None, told: None, due: None }
        };
        let daemons = names.map(daemon).collect();
        let lifeline = io::pipe()?;
        let (evidence, told) = channel();
        let (to, report) = (directory.clone(), plan.report.clone());
        // Apart, because a manager that is stopped or starting keeps whoever talks to it waiting.
        let reporter = std::thread::Builder::new().name("evidence".into());
        reporter.spawn(move || report_all(&told, |line| report(&to, line)))?;
        let strober_stopped = None;
        let is_beyond = Roster::of(&directory)?.is_beyond();
        Ok(Supervisor {
            directory,
            presence,
            lock,
            log,
            plan,
            is_beyond,
            heard,
            lifeline,
            daemons,
            evidence,
            strober_stopped,
        })
    }

    /// Starts all daemons.
    pub(super) fn start_all(&mut self) -> Result<(), (String, io::Error)> {
        let (directory, nodes) = (self.directory.path().display(), self.plan.nodes.len());
        self.log.note(&format!("{nodes} nodes in {directory}"));
        for session in &self.plan.sessions {
            let nodes = fold(&session.nodes);
            self.log.note(&format!("{nodes} on {}, process {}", session.host, session.pid()));
        }
        for at in 0..self.daemons.len() {
            let name = self.daemons[at].name.clone();
            let running = self.spawn(&name).map_err(|error| (name, error))?;
            self.daemons[at].running = Some(running);
        }
        self.note_members();
        Ok(())
    }

    /// Supervises until told to stop, or until there is nothing to keep.
    pub(super) fn run(mut self) -> Ended {
        loop {
            self.lock.keep_from_ageing();
            if self.wait() {
                self.log.note("told to stop");
                break;
            }
            if self.directory.is_gone() {
                // Its log, too. Nobody could reach it, nor take it down.
                break;
            }
            self.end_stopped_strober();
            if matches!(self.bury_and_revive(), Next::End) {
                break;
            }
        }
        self.end()
    }

    /// Waits for a death, for a daemon's turn to be started, or for the order to stop: `true`; and
    /// not for long, for what nobody tells.
    fn wait(&self) -> bool {
        let due = self.daemons.iter().filter_map(|daemon| daemon.due).min();
        let left = due.map(|due| due.saturating_duration_since(Instant::now()));
        let left = left.unwrap_or(UNTOLD).min(UNTOLD);
        let timeout = Timespec::try_from(left).ok();
        let running = self.daemons.iter().filter_map(|daemon| daemon.running.as_ref());
        let mut fds = vec![PollFd::new(&self.heard, PollFlags::IN)];
        fds.extend(running.map(|running| PollFd::new(&running.pidfd, PollFlags::IN)));
        let sessions = self.plan.sessions.iter();
        fds.extend(sessions.map(|one| PollFd::from_borrowed_fd(one.pidfd(), PollFlags::IN)));
        // An interrupted wait is one that found nothing.
        let _ = poll(&mut fds, timeout.as_ref());
        !fds[0].revents().is_empty()
    }

    /// Jobs that a strober has stopped would stand still for as long as it is stopped itself. What
    /// comes after its death lets them go on. It is looked at twice: who has the whole cluster go
    /// on again may have begun with the keeper.
    fn end_stopped_strober(&mut self) {
        let strober = self.daemons.iter().find(|daemon| daemon.name == STROBER);
        let Some(running) = strober.and_then(|strober| strober.running.as_ref()) else { return };
        if !is_stopped(Pid::from_child(&running.child)) {
            self.strober_stopped = None;
            return;
        }
        let since = *self.strober_stopped.get_or_insert_with(Instant::now);
        if since.elapsed() >= UNTOLD / 2 {
            self.strober_stopped = None;
            // It fails only when the process has just ended.
            let _ = pidfd_send_signal(&running.pidfd, Signal::KILL);
            self.log.note("strober: its daemon was stopped: killed");
        }
    }

    fn bury_and_revive(&mut self) -> Next {
        let now = Instant::now();
        let mut changed = false;
        for at in 0..self.daemons.len() {
            let daemon = &mut self.daemons[at];
            let ended = daemon.running.as_mut().and_then(|run| run.child.try_wait().transpose());
            if let Some(ended) = ended {
                let lived = daemon.running.take().map(|running| running.since.elapsed());
                daemon.has_lived |= lived.is_some_and(|lived| lived > MEMORY);
                let why = ended.map_or_else(|error| error.to_string(), how);
                changed = true;
                if matches!(self.died(at, &why, ended_well(&why)), Next::End) {
                    return Next::End;
                }
            } else if daemon.due.is_some_and(|due| due <= now) {
                daemon.due = Some(now + LOOK);
                if !daemon.is_buried() {
                    continue;
                }
                daemon.due = None;
                let name = daemon.name.clone();
                self.note_swept(at);
                changed = true;
                match self.spawn(&name) {
                    Ok(running) => self.daemons[at].running = Some(running),
                    Err(error) => {
                        if matches!(
                            self.died(at, &format!("could not start: {error}"), false),
                            Next::End
                        ) {
                            return Next::End;
                        }
                    }
                }
            }
        }
        changed |= self.bury_sessions();
        if self.plan.lives_by_sessions && self.plan.sessions.is_empty() {
            self.log.note("the last session has ended, and the cluster with it");
            return Next::End;
        }
        if changed {
            self.note_members();
        }
        Next::GoOn
    }

    /// Takes note of sessions that have ended; tells whether there were any. Their hosts go on
    /// where they can, which the manager sees.
    fn bury_sessions(&mut self) -> bool {
        let ended = self.plan.sessions.extract_if(.., |session| session.has_ended());
        let mut ended: Vec<Session> = ended.collect();
        for session in &mut ended {
            let (nodes, why) = (fold(&session.nodes), session.ending());
            self.log.note(&format!("{nodes}: the session with {} ended: {why}", session.host));
        }
        !ended.is_empty()
    }

    /// A daemon has died: tells, removes what it left, decides when it comes back.
    fn died(&mut self, at: usize, why: &str, well: bool) -> Next {
        let name = self.daemons[at].name.clone();
        let manager = name == MANAGER;
        if manager && well {
            self.log.note("the manager was told to take the cluster down");
            return Next::End;
        }
        // First of all, before the log, whose disk may be slow: others wait for both.
        if name == STROBER {
            // Nobody else would let go on what it has stopped.
            Place::of(&self.directory).thaw();
        } else if !manager {
            self.tell(at, format!("lost {name} its daemon {why}"));
            self.sweep(at);
        }
        self.log.note(&format!("{name}: its daemon {why}"));
        let daemon = &mut self.daemons[at];
        let now = Instant::now();
        daemon.deaths.push_back(now);
        daemon.deaths.retain(|death| now.duration_since(*death) <= MEMORY);
        let deaths = daemon.deaths.len();
        if deaths >= DEATHS_MAX {
            // What has kept a manager from starting that has served, a disk that is full, may pass:
            // until then jobs run, and what is kept is kept.
            let is_kept = manager && daemon.has_lived;
            let then = match (manager, is_kept) {
                (_, true) => "tried again later",
                (true, _) => "given up, and the cluster ends with it",
                (false, _) => "given up",
            };
            daemon.due = is_kept.then(|| now + MEMORY);
            let s = MEMORY.as_secs();
            self.log.note(&format!("{name} died {deaths} times within {s} s: {then}"));
            return if manager && !is_kept { Next::End } else { Next::GoOn };
        }
        daemon.due = Some(now + pause(deaths, manager));
        Next::GoOn
    }

    /// Has the manager told: it waits a moment for it before it says less.
    fn tell(&mut self, at: usize, line: String) {
        let (_told, told) = channel();
        self.daemons[at].told = Some(told);
        // Only a reporter that panicked hears nothing.
        let _ = self.evidence.send(Evidence { line, until: Instant::now() + REPORTING, _told });
    }

    /// Begins to remove what a node has left. Others that die meanwhile are told of at once.
    fn sweep(&mut self, at: usize) {
        let (directory, name) = (self.directory.clone(), self.daemons[at].name.clone());
        let sweeper = std::thread::Builder::new().name("sweeper".into());
        match sweeper.spawn(move || sweep(&directory, &name, KILLED)) {
            Ok(sweeper) => self.daemons[at].sweeper = Some(sweeper),
            Err(error) => self.log.note(&format!("nobody to sweep up: {error}")),
        }
    }

    fn note_swept(&mut self, at: usize) {
        let trouble = self.daemons[at].sweeper.take().and_then(|sweeper| sweeper.join().ok());
        trouble.into_iter().flatten().for_each(|trouble| self.log.note(&trouble));
    }

    fn spawn(&self, name: &str) -> io::Result<Running> {
        if self.is_beyond && !Roster::of(&self.directory)?.is_beyond() {
            // Without it a daemon would take the cluster for one of this machine alone.
            let text = "the cluster's roster was removed: take the cluster down (muster down)";
            return Err(io::Error::other(text));
        }
        let mut command = Command::new(&self.plan.program);
        command.arg0("muster").args(&self.plan.prefix).arg("daemon");
        match name {
            own @ (MANAGER | STROBER) => command.arg(own),
            node => command.args(["node", "--name", node]),
        };
        command.arg("--dir").arg(self.directory.path());
        command.args(self.plan.arguments.get(name).into_iter().flatten());
        // A group of its own: the terminal's Ctrl-C is for `muster run`, not for its daemons.
        command.current_dir("/").process_group(0);
        command.stdin(Stdio::from(self.lifeline.0.try_clone()?));
        command.stdout(self.log.output()?).stderr(self.log.output()?);
        let mut child = command.spawn()?;
        let pid = Pid::from_child(&child);
        // The child is not reaped yet, so the number is its own.
        match pidfd_open(pid, PidfdFlags::empty()) {
            Ok(pidfd) => {
                let (member, since) = (Member::of(name, pid), Instant::now());
                Ok(Running { child, pidfd, member, since })
            }
            Err(error) => {
                child.kill()?;
                child.wait()?;
                Err(error.into())
            }
        }
    }

    fn note_members(&mut self) {
        let running = self.daemons.iter().filter_map(|daemon| daemon.running.as_ref());
        let mut members: Vec<Member> =
            running.filter_map(|running| running.member.clone()).collect();
        // Whoever takes the cluster down waits for them, which end when their hosts are clean.
        let sessions = self.plan.sessions.iter();
        members.extend(sessions.filter_map(|one| Member::of(&fold(&one.nodes), one.pid())));
        if let Err(error) = write_members(&self.directory, &members) {
            self.log.note(&error.to_string());
        }
    }

    /// Ends all daemons, removes what is left of them and the directory.
    pub(super) fn end(mut self) -> Ended {
        (0..self.daemons.len()).for_each(|at| self.note_swept(at));
        let Supervisor { directory, presence, lock, mut log, plan, lifeline, mut daemons, .. } =
            self;
        let mut ended = Ended::default();
        drop(lifeline);
        if !all_end(&mut daemons, PATIENCE) {
            for daemon in &daemons {
                if let Some(running) = &daemon.running {
                    ended.killed.push(daemon.name.clone());
                    log.note(&format!("{} does not end: killed", daemon.name));
                    // It fails only when the process has just ended.
                    let _ = pidfd_send_signal(&running.pidfd, Signal::KILL);
                }
            }
            all_end(&mut daemons, KILLED);
        }
        ended.killed.extend(end_sessions(plan.sessions, &mut log));
        for node in &plan.nodes {
            ended.trouble.extend(sweep(&directory, node, KILLED));
        }
        ended.trouble.extend(sweep_jobs(&directory));
        drop(lock);
        match presence.leave(&directory) {
            Ok(_) => {}
            Err(error) => ended.trouble.push(error.to_string()),
        }
        ended
    }
}

impl Daemon {
    /// Whether nothing of the last one is left and its death is told.
    fn is_buried(&self) -> bool {
        let is_swept = self.sweeper.as_ref().is_none_or(JoinHandle::is_finished);
        let is_told = |told: &Receiver<()>| told.try_recv() == Err(TryRecvError::Disconnected);
        is_swept && self.told.as_ref().is_none_or(is_told)
    }
}

/// Waits for the end of all daemons; tells whether they have ended.
fn all_end(daemons: &mut [Daemon], patience: Duration) -> bool {
    let deadline = Instant::now() + patience;
    for daemon in daemons.iter_mut() {
        let Some(running) = daemon.running.as_mut() else { continue };
        super::down::wait(&running.pidfd, deadline);
        if !matches!(running.child.try_wait(), Ok(None)) {
            daemon.running = None;
        }
    }
    daemons.iter().all(|daemon| daemon.running.is_none())
}

/// Ends the sessions with all hosts; tells those that did not end by themselves. The manager is
/// gone, so the hosts are about to leave.
fn end_sessions(mut sessions: Vec<Session>, log: &mut Log) -> Vec<String> {
    sessions.iter_mut().for_each(Session::hang_up);
    let deadline = Instant::now() + HOSTS;
    let mut killed = Vec::new();
    for session in &mut sessions {
        if !super::down::wait(session.pidfd(), deadline) {
            log.note(&format!("the session with {} does not end: killed", session.host));
            killed.push(fold(&session.nodes));
            // It fails only when the process has just ended.
            let _ = pidfd_send_signal(session.pidfd(), Signal::KILL);
        }
    }
    killed
}

fn how(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("ended with status {code}"),
        (_, Some(signal)) => format!("was killed by signal {signal}"),
        _ => format!("ended: {status}"),
    }
}

fn ended_well(how: &str) -> bool {
    how == "ended with status 0"
}

/// The pause before a daemon that has died `deaths` times lately is started again. The cluster
/// is blind without its manager, so its first death costs none.
fn pause(deaths: usize, manager: bool) -> Duration {
    let doublings = deaths.saturating_sub(if manager { 2 } else { 1 });
    if manager && deaths <= 1 {
        return Duration::ZERO;
    }
    (PAUSE.0 * (1 << doublings.min(10))).min(PAUSE.1)
}

/// Tells the manager one line after the other; each is offered for a while, since a manager that
/// has just been started needs a moment.
fn report_all(told: &Receiver<Evidence>, report: impl Fn(&str) -> io::Result<()>) {
    for evidence in told {
        while report(&evidence.line).is_err() && Instant::now() < evidence.until {
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

/// Removes the files of a node that is dead.
pub(super) fn remove_files(directory: &Directory, node: &str) -> Vec<String> {
    let mut files = vec![format!("{node}.sock"), node.to_owned()];
    files.extend(crate::memory::socket_of(node));
    let files: Vec<_> = files.into_iter().map(|file| directory.path().join(file)).collect();
    files.iter().filter_map(|file| remove_all(file).err()).map(|error| error.to_string()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_deaths_fit_into_the_time_that_gives_up() {
        for manager in [true, false] {
            let all: Duration = (1..DEATHS_MAX).map(|deaths| pause(deaths, manager)).sum();
            assert!(all < MEMORY * 3 / 4, "{all:?}");
        }
        assert_eq!(pause(1, true), Duration::ZERO);
        assert_eq!(pause(1, false), PAUSE.0);
        assert_eq!(pause(9, true), PAUSE.1);
    }
}
