//! One session: a place for a process tree, from `clone` until it is wiped.
//!
//! Phases: *new* (files are being filled), *starting* (a shepherd is on its way), *running*,
//! *ended* (the program has exited; descendants may live on), and, from any of them, *wiped*:
//! every process is killed, `fs/` removed, all waiting reads answered. A wipe happens on command,
//! or when no fid is left in the session and neither its program runs (descendants keep nothing)
//! nor the session is persistent; if the session is used from a shell (its clone fid was closed
//! before anybody came in) only after it was empty for [`LINGER`].

use super::Node;
use super::account::{ASKED, IN_PASSING, Place};
use super::cgroup::Cgroup;
use super::directory::Left;
use super::noexec;
use super::orders::Light;
use super::shepherd::Ward;
use super::views::Scope;
use crate::files::feed::Feed;
use crate::files::latch::Latch;
use crate::files::stream::Stream;
use crate::files::text::Text;
use crate::launch::{Said, What, exit_in};
use crate::relay::receive::Landing;
use crate::strober::place::Seat;
use crate::usage::Usage;
use muster_ninep::error::{Errno, Error, Result, fail};
use rustix::process::Signal;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, Weak};
use std::time::{Duration, Instant};

/// How long a session that a shell uses stays while nobody is in it.
pub(super) const LINGER: Duration = Duration::from_secs(30);

/// How long a shepherd may take until the program runs.
pub(super) const START: Duration = Duration::from_secs(30);

/// How long it may take until its init is known, while the program runs already.
const INIT: Duration = Duration::from_secs(1);

/// The most output that the report of a rank's end carries: with more of it, following costs little
/// beside the bytes.
const REPORTED_MAX: usize = 64 * 1024;

/// A program that was shorter costs no look at its control group, which knows also processes that
/// nobody has waited for.
const ACCOUNTED_US: u64 = 10_000;

/// The directory of a program that was longer serves no other: somebody beside its session may have
/// come to work there.
const SHORT_US: u64 = 1_000_000;

/// Where a session is in its life.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) enum Phase {
    #[default]
    New,
    Starting,
    Running {
        pid: u32,
    },
    Ended {
        status: i32,
    },
    Wiped,
}

/// What changes under the session's lock.
#[derive(Default)]
pub(super) struct State {
    pub(super) phase: Phase,
    /// Why the program could not be started.
    pub(super) failure: Option<Error>,
    pub(super) persistent: bool,
    /// Fids in the session, those on `clone` included.
    present: usize,
    /// Somebody has walked into it.
    entered: bool,
    /// It stays for a while when it is empty, and since when it is.
    lingers: bool,
    empty_since: Option<Instant>,
    /// `gid` and `lid`, set by `id`.
    pub(super) id: (String, u32),
    /// The program's process, from when it runs.
    pub(super) pid: Option<u32>,
    /// When it was.
    began: Option<Instant>,
    /// What the session has used, as far as it is known for good.
    usage: Option<Usage>,
    /// The program has left processes behind.
    is_left: bool,
    /// Nothing of a light rank runs any more, nor will.
    is_over: bool,
    pub(super) ward: Option<Ward>,
    pub(super) cgroup: Option<Cgroup>,
    /// Its part of what its job is stopped by.
    pub(super) seat: Option<Seat>,
    /// What was copied into memory for its program.
    pub(super) copies: Vec<Arc<noexec::Copy>>,
    /// Programs that could not be run.
    pub(super) failures: u32,
    /// Where its program works, if not in the session's directory.
    pub(super) chdir: Option<PathBuf>,
    /// Streams that go to a file of the node: stdin, stdout, stderr.
    pub(super) redirects: [Option<PathBuf>; 3],
    /// Address of a session this one was attached to by `connect`.
    pub(super) parent: String,
    /// The manager has been told of this light rank.
    pub(super) said: bool,
    /// That was its end, with all output.
    is_end_said: bool,
}

/// One session.
pub(super) struct Session {
    pub(super) number: u32,
    pub(super) node: Weak<Node>,
    /// Which rank it is, if an order has made it.
    pub(super) light: Option<Light>,
    /// The view that it belongs to, if any.
    pub(super) view: Option<Arc<str>>,
    /// The directory that `fs/` shows.
    pub(super) directory: PathBuf,
    pub(super) argv: Text,
    pub(super) env: Text,
    pub(super) ns: Text,
    pub(super) stdin: Feed,
    pub(super) stdout: Stream,
    pub(super) stderr: Stream,
    /// The raw wait(2) status, or nothing when wiped.
    pub(super) wait: Latch,
    state: Mutex<State>,
    changed: Condvar,
}

impl Session {
    pub(super) fn new(
        node: &Arc<Node>,
        number: u32,
        directory: PathBuf,
        (light, view): (Option<Light>, Option<Arc<str>>),
    ) -> Arc<Session> {
        let kick = node.watch.kicker(number);
        Arc::new(Session {
            number,
            node: Arc::downgrade(node),
            light,
            view,
            directory,
            argv: Text::default(),
            env: node.env.copy(),
            ns: node.ns.copy(),
            stdin: match light {
                Some(Light { reads: false, .. }) => Feed::closed(kick.clone()),
                _ => Feed::new(kick.clone()),
            },
            stdout: Stream::new(kick.clone()),
            stderr: Stream::new(kick),
            wait: Latch::default(),
            state: Mutex::default(),
            changed: Condvar::new(),
        })
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no holder panics")
    }

    pub(super) fn is_new(&self) -> bool {
        self.state().phase == Phase::New
    }

    pub(super) fn is_wiped(&self) -> bool {
        self.state().phase == Phase::Wiped
    }

    /// The tree of a node in which it looks for other sessions, as a client attaches to it: who
    /// belongs to a view reaches no session outside.
    pub(super) fn tree(&self) -> String {
        self.view.as_ref().map(|view| format!("views/{view}")).unwrap_or_default()
    }

    /// The same at its own node.
    pub(super) fn scope(&self) -> Scope {
        Scope::new(self.node.clone(), self.view.clone())
    }

    /// Where files for it are unpacked.
    pub(super) fn landing(&self) -> Landing {
        let (argv, env) = (self.argv.clone(), self.env.clone());
        Landing { directory: self.directory.clone(), argv, env }
    }

    /// Counts somebody in: a fid on `clone` (`inside` false) or below the session's directory.
    ///
    /// # Errors
    /// When it has been wiped: its directory may be another's by now.
    pub(super) fn come_in(self: &Arc<Session>, inside: bool) -> Result<Presence> {
        let mut state = self.state();
        if state.phase == Phase::Wiped {
            return fail(Errno::NOENT, format!("session {} was wiped", self.number));
        }
        state.present += 1;
        state.entered |= inside;
        state.empty_since = None;
        Ok(Presence { session: self.clone(), inside })
    }

    /// Whether it stands still, because it is not its job's turn.
    pub(super) fn is_frozen(&self) -> bool {
        let cgroup = self.state().cgroup.clone();
        cgroup.is_some_and(|cgroup| matches!(cgroup.frozen(), Ok(Some(true))))
    }

    /// Waits until the program runs.
    pub(super) fn await_start(&self) -> Result<()> {
        let state = self.state();
        let starting = |state: &mut State| state.phase == Phase::Starting;
        let (state, waited) =
            self.changed.wait_timeout_while(state, START, starting).expect("no holder panics");
        if waited.timed_out() {
            let text =
                format!("session {}: its shepherd has not answered for {START:?}", self.number);
            return fail(Errno::TIMEDOUT, text);
        }
        match (&state.failure, &state.phase) {
            (Some(failure), _) => Err(failure.clone()),
            (None, Phase::Wiped) => fail(Errno::IO, "the session was wiped while it started"),
            (None, _) => Ok(()),
        }
    }

    /// The init of its processes, as soon as that is known; none when nothing of it runs.
    pub(super) fn init(&self) -> Option<u32> {
        let until = Instant::now() + INIT;
        loop {
            let state = self.state();
            let init = state.ward.as_ref().and_then(Ward::init_pid);
            let may_come = matches!(state.phase, Phase::Starting | Phase::Running { .. });
            drop(state);
            if init.is_some() || !may_come || Instant::now() >= until {
                return init;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// The program runs.
    pub(super) fn started(&self, pid: u32) {
        let mut state = self.state();
        if state.phase == Phase::Starting {
            state.phase = Phase::Running { pid };
            (state.pid, state.began) = (Some(pid), Some(Instant::now()));
            if let Some(seat) = &state.seat {
                seat.taken_by(pid);
            }
        }
        self.changed.notify_all();
        if self.light.is_some_and(|light| light.reads) {
            self.say(&mut state, What::Follow { pid: Some(pid) }, &[]);
        }
    }

    /// The program cannot be run. Another may be: what was prepared for this one goes.
    pub(super) fn failed(self: &Arc<Session>, failure: Error) {
        let mut state = self.state();
        state.failure = Some(failure);
        state.failures += 1;
        if state.phase == Phase::Starting {
            state.phase = Phase::New;
        }
        let text = state.failure.as_ref().map_or("", |failure| &failure.text);
        let status = i32::from(exit_in(text)) << 8;
        if self.light.is_some() && state.phase != Phase::Wiped {
            // Nobody tries another: whoever follows it, having missed the report, sees an end.
            state.phase = Phase::Ended { status };
        }
        let (ward, cgroup) = (state.ward.take(), state.cgroup.take());
        let seat = state.seat.take();
        let failure = state.failure.clone();
        self.changed.notify_all();
        drop(state);
        drop(ward);
        if let (Some(failure), Some(_)) = (&failure, self.light) {
            self.say_failed(failure);
            self.wait.set(status.to_string());
            self.stdout.end();
            self.stderr.end();
        }
        if let (Some(cgroup), Some(node)) = (cgroup, self.node.upgrade()) {
            let _ = cgroup.kill(Duration::ZERO);
            node.watch.bury(None, Some(cgroup), seat);
        }
        self.leave(self.state());
    }

    /// Its job is killed before its program was to run: it ends as one that was killed.
    pub(super) fn killed_unstarted(&self) {
        let status = Signal::KILL.as_raw();
        let mut state = self.state();
        if state.phase != Phase::New {
            return;
        }
        state.phase = Phase::Ended { status };
        self.changed.notify_all();
        drop(state);
        self.wait.set(status.to_string());
        self.stdout.end();
        self.stderr.end();
        self.say_end();
    }

    /// The program has ended with this raw status, having used that, as far as its init knows; or
    /// all was killed, and nobody does. Processes of its may be left.
    pub(super) fn ended(self: &Arc<Session>, status: i32, usage: Option<Usage>, is_left: bool) {
        self.stdin.refuse(Errno::PIPE, "the program has ended");
        let told = usage.unwrap_or_default();
        let is_whole = usage.is_some() && !is_left && told.wall_us < ACCOUNTED_US;
        let place = if is_whole { Place::default() } else { self.place() };
        let init = place.init.filter(|_| is_left);
        let place = Place { init, began: None, ..place };
        let (seen, frozen) = (place.look(IN_PASSING), place.frozen_us());
        let mut state = self.state();
        state.is_left = is_left;
        if matches!(state.phase, Phase::Starting | Phase::Running { .. }) {
            state.phase = Phase::Ended { status };
            let before = state.usage.unwrap_or_default();
            let usage = told.most(&seen).most(&before);
            let slice_us = usage.wall_us.saturating_sub(frozen);
            state.usage = Some(Usage { rss_kib: 0, slice_us, ..usage });
        }
        self.changed.notify_all();
        self.wait.set(status.to_string());
        self.leave(state);
    }

    /// Where to look at what is used.
    fn place(&self) -> Place {
        let state = self.state();
        Place {
            init: state.ward.as_ref().and_then(Ward::init_pid),
            spent: state.ward.as_ref().map(Ward::spent).unwrap_or_default(),
            cgroup: state.cgroup.clone(),
            began: state.began.filter(|_| matches!(state.phase, Phase::Running { .. })),
        }
    }

    /// What it has used so far; none before it has run a program.
    pub(super) fn usage(&self) -> Option<Usage> {
        self.usage_within(ASKED)
    }

    /// The same, of as much of it as is seen in a time.
    fn usage_within(&self, patience: Duration) -> Option<Usage> {
        let look = |known: &Usage| self.place().look(patience).most(known);
        let (known, phase) = {
            let state = self.state();
            (state.usage, state.phase.clone())
        };
        match phase {
            Phase::Running { .. } => Some(look(&known.unwrap_or_default())),
            // Of what the program has left behind, too.
            Phase::Ended { .. } => known.as_ref().map(look),
            Phase::New | Phase::Starting | Phase::Wiped => known,
        }
    }

    /// Signals the program and its process group.
    pub(super) fn signal(&self, number: i32) -> Result<()> {
        let state = self.state();
        match (&state.phase, &state.ward) {
            (Phase::Starting | Phase::Running { .. }, Some(ward)) => Ok(ward.signal(number)?),
            _ => fail(Errno::SRCH, format!("no program runs in session {}", self.number)),
        }
    }

    /// Whether its program has ended, and processes of it may be left.
    pub(super) fn has_left(&self) -> bool {
        let state = self.state();
        state.is_left && matches!(state.phase, Phase::Ended { .. })
    }

    /// Ends every process of the session; the session stays.
    pub(super) fn kill_all(&self) {
        // Its init may not live to tell what the program has used.
        let runs = |state: &State| matches!(state.phase, Phase::Running { .. }) || state.is_left;
        let is_told = !runs(&self.state());
        let used = if is_told { None } else { self.usage_within(IN_PASSING) };
        let mut state = self.state();
        state.usage = used.or(state.usage);
        if let Some(cgroup) = &state.cgroup {
            let _ = cgroup.kill(Duration::ZERO);
        }
        if let Some(ward) = &mut state.ward {
            ward.kill();
        }
        drop(state);
        // To kill is to hear what there is to hear, and that raises no event any more.
        if let Some(node) = self.node.upgrade() {
            (node.watch.kicker(self.number))();
        }
    }

    /// Ends the session and everything in it.
    pub(super) fn wipe(self: &Arc<Session>) {
        let mut state = self.state();
        if state.phase == Phase::Wiped {
            return;
        }
        state.phase = Phase::Wiped;
        self.changed.notify_all();
        let (ward, cgroup) = (state.ward.take(), state.cgroup.take());
        let seat = state.seat.take();
        // Who has come in, be it by a shell of the same user, may still be there.
        let is_short = state.usage.is_some_and(|usage| usage.wall_us < SHORT_US);
        let is_free = state.is_over && !state.entered && is_short;
        let left = Left { path: self.directory.clone(), is_free };
        drop(state);
        if let Some(cgroup) = &cgroup {
            let _ = cgroup.kill(Duration::ZERO);
        }
        // Dropping it kills the tree, whatever state it is in.
        drop(ward);
        self.wait.set("");
        self.stdin.refuse(Errno::PIPE, "the session was wiped");
        self.stdout.end();
        self.stderr.end();
        if let Some(node) = self.node.upgrade() {
            node.forget(self.number);
            (node.watch.kicker(self.number))();
            node.watch.bury(Some(left), cgroup, seat);
        }
    }

    /// Nothing of a light rank runs any more, or will soon: what it has no use for goes before its
    /// job ends. Its group is given to be removed.
    pub(super) fn lighten(&self, is_over: bool) -> Option<(Cgroup, Option<Seat>)> {
        self.light?;
        let mut state = self.state();
        state.is_over = is_over;
        let (cgroup, seat) = (state.cgroup.take(), state.seat.take());
        cgroup.map(|cgroup| (cgroup, seat))
    }

    /// Wipes the session if nothing keeps it any more.
    fn leave(self: &Arc<Session>, mut state: MutexGuard<'_, State>) {
        if state.is_kept() {
            return;
        }
        let now = Instant::now();
        state.empty_since = Some(now);
        let lingers = state.lingers;
        drop(state);
        match (lingers, self.node.upgrade()) {
            (true, Some(node)) => node.watch.later(now + LINGER, self),
            _ => self.wipe(),
        }
    }

    /// Wipes a session that has been empty for its time. Where somebody has come in meanwhile, or a
    /// program has run, the next one to leave has started the time anew, or will.
    pub(super) fn linger_over(self: &Arc<Session>) {
        let state = self.state();
        let is_over = state.empty_since.is_some_and(|since| since.elapsed() >= LINGER);
        if is_over && !state.is_kept() {
            drop(state);
            self.wipe();
        }
    }
}

impl State {
    /// Whether somebody or something needs the session, or nobody can any more.
    fn is_kept(&self) -> bool {
        let runs = matches!(self.phase, Phase::Starting | Phase::Running { .. });
        self.present > 0 || runs || self.persistent || self.phase == Phase::Wiped
    }
}

/// Somebody in a session. Dropped when the fid is gone.
pub(super) struct Presence {
    session: Arc<Session>,
    inside: bool,
}

impl Drop for Presence {
    fn drop(&mut self) {
        let mut state = self.session.state();
        state.present -= 1;
        // `cat clone`: nobody is inside, and nobody has been.
        state.lingers |= !self.inside && !state.entered;
        self.session.leave(state);
    }
}

/// What a light rank says to the manager: once, and how it has ended again if it is asked.
impl Session {
    /// Its program cannot be run.
    pub(super) fn say_failed(&self, error: &Error) {
        self.say(&mut self.state(), What::Failed { why: error.text.to_string() }, &[]);
    }

    /// It runs on. False if that cannot be said yet.
    pub(super) fn say_follow(&self) -> bool {
        let mut state = self.state();
        match state.phase {
            Phase::Running { pid } => self.say(&mut state, What::Follow { pid: Some(pid) }, &[]),
            // Its streams are still open, though it has ended.
            Phase::Ended { .. } => self.say(&mut state, What::Follow { pid: None }, &[]),
            Phase::New | Phase::Starting => {}
            Phase::Wiped => return true,
        }
        state.said
    }

    /// Its program has ended and its output is whole: says so if it has.
    pub(super) fn say_end(&self) {
        let mut state = self.state();
        let (Some(_), &Phase::Ended { status }, false) = (self.light, &state.phase, state.said)
        else {
            return;
        };
        let (stdout, stderr) = (self.stdout.whole(), self.stderr.whole());
        let (Some(stdout), Some(mut stderr)) = (stdout, stderr) else {
            return self.say(&mut state, What::Follow { pid: None }, &[]);
        };
        let usage = state.usage.map(|usage| usage.to_string()).unwrap_or_default();
        let (out, err) = (stdout.len(), stderr.len());
        let mut output = stdout;
        output.append(&mut stderr);
        let what = match output.len() > REPORTED_MAX {
            true => What::Follow { pid: None },
            false => What::Ended { status, usage, stdout: out, stderr: err },
        };
        if matches!(what, What::Follow { .. }) {
            output.clear();
        }
        self.say(&mut state, what, &output);
    }

    /// The same, if that has been said and may have been lost. Whoever has said that it is to be
    /// followed is, and may have output to come.
    pub(super) fn say_end_again(&self) {
        let mut state = self.state();
        if std::mem::take(&mut state.is_end_said) {
            state.said = false;
            drop(state);
            self.say_end();
        }
    }

    fn say(&self, state: &mut State, what: What, output: &[u8]) {
        let (Some(light), Some(node)) = (self.light, self.node.upgrade()) else { return };
        if !std::mem::replace(&mut state.said, true) {
            state.is_end_said = matches!(what, What::Ended { .. });
            node.reports.push(Said { job: light.job, rank: light.rank, what }, output);
        }
    }
}
