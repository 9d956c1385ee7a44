//! One job: its state machine, and the hands that do what it says.
//!
//! A [`Job`] is one attempt at it. What users hold on to (its number, files, log, owners) is shared
//! by all its attempts; everything else belongs to one, and goes with it ([`super::again`]).

mod loss;
mod quiet;

use super::Manager;
use super::hold::Hold;
use super::journal::Record;
use super::kept::Kept;
use super::log::JobLog;
use super::pieces::Pieces;
use super::progress::{Action, PAUSE, Progress};
use super::report::Heard;
use super::spec::{End, Phase, Spec, Stamps, Status};
use super::timer;
use super::views;
use super::waits::Waits;
use crate::files::lane::Lane;
use crate::files::latch::Latch;
use crate::files::stream::Stream;
use crate::files::text::Text;
use crate::launch::Order;
use crate::memory::id_of;
use crate::output::{Output, PIECE_MAX};
use crate::usage::Usage;
use muster_base::ending::signal_name;
use muster_fabric::primitive::Nodes;
use muster_fabric::protocol::NodeId;
use muster_ninep::error::{Errno, Result, fail};
use quiet::Quiet;
use serde_json::json;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, Weak};
use std::time::{Duration, Instant};

/// How long the client of a job may be away after the manager was started again: of a thousand that
/// come back at once the last may be late, and one that its user has stopped comes when it goes on.
pub(super) const OWNER: Duration = Duration::from_secs(30);

/// How long ranks may take to end, and their output, once all that is left of the job is killed.
const DRAIN: Duration = Duration::from_secs(10);

/// How long wiping what is left of a job may take, unless it is to begin again.
const WIPE: Duration = Duration::from_secs(2);

/// What changes under the job's lock.
#[derive(Default)]
pub(super) struct State {
    pub(super) progress: Progress,
    pub(super) spec: Option<Spec>,
    /// By rank: what the manager follows it by, from when it does until its session is wiped.
    pub(super) holds: Vec<Option<Hold>>,
    /// By rank: which daemon's session it is.
    pub(super) instances: Vec<u64>,
    /// By rank: streams not at their end, and `wait`.
    pub(super) followed: Vec<u8>,
    /// By rank: somebody follows it, or is about to, or has heard of its end.
    pub(super) claimed: Vec<bool>,
    /// A manager before this one has placed it.
    pub(super) is_restored: bool,
    /// What ranks have said while the job was being started.
    pub(super) early: Vec<Heard>,
    /// All its nodes count all of its files: what says otherwise was sent before that.
    pub(super) has_files: bool,
    /// When a node said last that it goes on copying them.
    pub(super) came_on: Option<Instant>,
    /// All that is left is to be killed, also what is found later.
    pub(super) killing: bool,
    /// A manager before this one has asked all of it to end.
    pub(super) was_asked: bool,
    /// The nodes that the schedule gave it.
    pub(super) allotted: Option<Vec<String>>,
    /// How long it may run on them: a step no longer than the job around it.
    pub(super) time_ms: Option<u64>,
    /// Its files are kept until it has nodes.
    pub(super) kept: Option<Kept>,
    /// Files on their way to the ranks.
    pub(super) sending: Option<Pieces>,
    /// Files have begun to come.
    pub(super) files_begun: bool,
    /// The files have arrived whole.
    pub(super) files_end: bool,
    /// By rank: bytes of its input that will be written once more and that it has already.
    pub(super) skips: Vec<u64>,
    /// What ends it when its time is over.
    pub(super) limit: Option<timer::Key>,
    /// What ends it when its client does not go on ([`super::patience`]).
    pub(super) patience: Option<timer::Key>,
    /// `start` was given.
    pub(super) launching: bool,
    /// The attempt that has taken the place of this one.
    pub(super) next: Option<Arc<Job>>,
    /// What came before its programs ran.
    pub(super) stamps: Stamps,
    pub(super) started: Option<f64>,
    /// All its ranks were closed.
    pub(super) over: Option<f64>,
    pub(super) ended: Option<f64>,
}

/// Who wants the job to go on.
#[derive(Default)]
pub(super) struct Ties {
    /// Fids that own it.
    pub(super) owners: AtomicUsize,
    /// It needs none.
    is_detached: AtomicBool,
}

/// What is known of an attempt when it begins.
pub(super) struct Birth {
    /// The job's number.
    pub(super) id: u32,
    /// The number that the attempt goes by at the nodes.
    pub(super) attempt: u32,
    /// Why each attempt before it failed.
    pub(super) requeued: Vec<String>,
    /// When the job was made.
    pub(super) submitted: f64,
    /// The view that it was made in.
    pub(super) view: Option<Arc<str>>,
}

/// What exists from when the ranks have places.
pub(super) struct Placed {
    pub(super) log: JobLog,
    pub(super) waits: Waits,
}

/// What is left of an attempt is being wiped.
struct Wiping {
    /// Sessions and nodes that have not said that it is.
    left: AtomicUsize,
    /// The nodes were told to forget it, or cannot be.
    is_told: AtomicBool,
    is_over: AtomicBool,
}

impl Wiping {
    /// One has said so.
    fn wiped(&self, job: &Arc<Job>) {
        if self.left.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.over(job);
        }
    }

    fn over(&self, job: &Arc<Job>) {
        if !self.is_over.swap(true, Ordering::AcqRel) {
            job.finished();
        }
    }

    /// Who does not say so is waited for no longer. What is to begin again waits until its nodes
    /// have been told, since on some of them it may run.
    fn give_up(self: Arc<Wiping>, job: &Arc<Job>) {
        let is_told = self.is_told.load(Ordering::Acquire);
        if is_told || !job.state().progress.is_again() {
            self.over(job);
        } else if !self.is_over.load(Ordering::Acquire) {
            job.later(WIPE, move |job| self.give_up(job));
        }
    }
}

/// One job.
pub struct Job {
    pub(super) id: u32,
    /// What it goes by at the nodes: the job's number, or for a later attempt one that no job has,
    /// so that nothing that was said to or by an earlier one is taken for its own.
    pub(super) attempt: u32,
    /// Why each attempt before this one failed.
    pub(super) requeued: Vec<String>,
    /// The view that it was made in.
    pub(super) view: Option<Arc<str>>,
    pub(super) submitted: f64,
    pub(super) ties: Arc<Ties>,
    pub(super) manager: Weak<Manager>,
    /// The JSON that its client writes.
    pub(super) spec: Text,
    pub(super) placed: OnceLock<Placed>,
    /// Known, with no text, once its programs run or it is done.
    pub(super) begun: Latch,
    /// All that is told of it, once it is done.
    pub(super) wait: Latch,
    /// Lines for whoever waits for it.
    pub(super) notes: Stream,
    /// Commands that may wait, one after another.
    pub(super) lane: Lane,
    pub(super) state: Mutex<State>,
    /// A rank has said something, or the manager has taken hold of one.
    pub(super) changed: Condvar,
    /// What is told of a job that was done before this manager was started.
    pub(super) past: Mutex<Option<Status>>,
}

impl State {
    /// The schedule has given it nodes.
    pub(super) fn gets(&mut self, nodes: Vec<String>, time: Option<Duration>) {
        self.allotted = Some(nodes);
        self.time_ms = time.map(|time| time.as_millis() as u64);
        self.stamps.allotted = Some(super::now());
    }

    /// Has a rank followed, or its end told, by one only; false if it is not open to that.
    pub(super) fn claim(&mut self, rank: usize) -> bool {
        let is_open = rank < self.claimed.len() && !self.progress.is_closed(rank);
        is_open && !std::mem::replace(&mut self.claimed[rank], true)
    }

    /// Whether a rank is one of an attempt that goes on, and is not closed.
    pub(super) fn is_awaited(&self, rank: usize) -> bool {
        let has_it = rank < self.progress.ranks().len() && self.progress.phase() != Phase::Done;
        has_it && !self.progress.is_closed(rank)
    }
}

impl Job {
    pub(super) fn of(manager: Weak<Manager>, birth: Birth) -> Arc<Job> {
        Arc::new(Job {
            id: birth.id,
            attempt: birth.attempt,
            requeued: birth.requeued,
            view: birth.view,
            submitted: birth.submitted,
            ties: Arc::default(),
            manager,
            spec: Text::default(),
            placed: OnceLock::new(),
            begun: Latch::default(),
            wait: Latch::default(),
            notes: Stream::new(|| ()),
            lane: Lane::default(),
            state: Mutex::default(),
            changed: Condvar::new(),
            past: Mutex::default(),
        })
    }

    /// Whose it is, unless that is ending.
    pub(super) fn manager(&self) -> Result<Arc<Manager>> {
        views::there(&self.manager)
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no holder panics")
    }

    pub(super) fn is_done(&self) -> bool {
        self.state().progress.phase() == Phase::Done
    }

    /// Whether nothing of it is left to be wiped.
    pub(super) fn has_ended(&self) -> bool {
        self.past.lock().expect("no holder panics").is_some() || self.state().ended.is_some()
    }

    /// All that is told of it.
    pub(super) fn status(&self) -> Status {
        let log = self.placed.get().map(|placed| &placed.log);
        let taken = log.map_or(0, JobLog::gone);
        let dropped = log.and_then(|log| log.dropped().cloned());
        if let Some(past) = &*self.past.lock().expect("no holder panics") {
            return Status { taken, dropped, ..past.clone() };
        }
        let manager = self.manager.upgrade();
        // The queue is asked first: it looks at jobs while it is locked.
        let told = manager.as_ref().map(|manager| manager.queue.told(self));
        let (waits, within, state) = told.unwrap_or_else(|| (None, None, self.state()));
        let ranks = state.progress.ranks().to_vec();
        let nodes: BTreeSet<&String> = ranks.iter().map(|rank| &rank.node).collect();
        let spec = state.spec.as_ref();
        let argv = spec.map_or_else(Vec::new, |spec| spec.argv.clone());
        let name = spec.and_then(|spec| spec.name.clone());
        let verdict = state.progress.verdict();
        let is_ending = state.progress.phase() == Phase::Ending;
        let ending = state.progress.cause().filter(|_| is_ending).map(|(_, _, why)| why);
        // Of one that has no places yet.
        let asked = spec.and_then(|spec| spec.ranks).filter(|_| ranks.is_empty());
        Status {
            id: self.id,
            state: state.progress.phase(),
            name: name.or_else(|| argv.first().cloned()).unwrap_or_default(),
            argv,
            user: rustix::process::geteuid().as_raw(),
            view: self.view.as_deref().map(Into::into),
            nodes: nodes.into_iter().cloned().collect(),
            within,
            submitted: self.submitted,
            stamps: state.stamps,
            started: state.started,
            over: state.over,
            ended: state.ended,
            size: asked.unwrap_or(ranks.len()),
            usage: Usage::of_job(ranks.iter().filter_map(|rank| rank.usage.as_ref())),
            exit: verdict.as_ref().map(|(_, exit, _)| *exit),
            end: verdict.as_ref().map(|(end, _, _)| *end),
            why: verdict.map_or(waits.or(ending), |(_, _, why)| why),
            requeued: self.requeued.clone(),
            taken,
            dropped,
            tolerate: spec.is_some_and(|spec| spec.tolerate),
            partition: spec.and_then(|spec| spec.partition.clone()),
            priority: spec.map_or(0, |spec| spec.priority),
            time_ms: state.time_ms.or(spec.and_then(|spec| spec.time_ms)),
            ranks,
            transport: manager.map_or("", |manager| manager.nodes.transport()).to_owned(),
        }
    }

    /// Does what the state machine says. The state is unlocked first: what is done may come back.
    pub(super) fn act(self: &Arc<Job>, state: MutexGuard<'_, State>, actions: Vec<Action>) {
        self.changed.notify_all();
        if actions.is_empty() {
            return;
        }
        // Of a thousand ranks each ends once: that is not to cost a look at all of them.
        let (mut ended, mut all) = (Vec::new(), false);
        for action in &actions {
            match action {
                Action::EndRank(rank) => ended.push(*rank),
                Action::Pause | Action::Grace => {}
                Action::Signal(_) | Action::Ask | Action::EndAll | Action::Finish => all = true,
            }
        }
        let ranks = if all { (0..state.holds.len()).collect() } else { ended };
        let held = |rank: usize| Some((rank, state.holds.get(rank)?.clone()?));
        let holds: Vec<(usize, Hold)> = ranks.into_iter().filter_map(held).collect();
        let (ranks, nodes) = if all { alone(&state) } else { (Vec::new(), Nodes::none()) };
        let mut state = state;
        state.killing |= actions.contains(&Action::EndAll);
        let grace = state.spec.as_ref().map_or(5000, |spec| spec.grace_ms);
        let cause = state.progress.cause();
        drop(state);
        let is_killed = actions.contains(&Action::EndAll);
        if is_killed || actions.contains(&Action::Grace) {
            self.note_cause(cause, is_killed);
            self.placed.get().into_iter().for_each(|placed| placed.log.let_go());
        }
        for action in actions {
            match action {
                Action::Signal(signal) => self.pass_on(&[signal], &holds, (&ranks, &nodes)),
                Action::Ask => {
                    let signals = [libc::SIGTERM, libc::SIGCONT];
                    self.pass_on(&signals, &holds, (&ranks, &nodes));
                }
                Action::EndAll => {
                    holds.iter().for_each(|(_, hold)| hold.command(self, "end\n"));
                    self.order(&nodes, Order::End { job: self.attempt });
                    self.later(DRAIN, |job| job.drained());
                }
                Action::EndRank(rank) => self.end_rank(rank, &holds),
                Action::Pause => {
                    self.later(PAUSE, |job| {
                        let mut state = job.state();
                        let actions = state.progress.pause_over();
                        job.act(state, actions);
                    });
                }
                Action::Grace => {
                    // One that stands still hears of it at its turn.
                    let turn = self.manager.upgrade().map(|manager| manager.strobe.cycle());
                    let grace = Duration::from_millis(grace) + turn.unwrap_or_default();
                    self.later(grace, |job| {
                        let mut state = job.state();
                        let actions = state.progress.grace_over();
                        job.act(state, actions);
                    });
                }
                Action::Finish => self.finish(&holds),
            }
        }
    }

    /// Sends signals, in their order, to ranks that are followed, and to others by their nodes.
    fn pass_on(
        self: &Arc<Job>,
        signals: &[i32],
        holds: &[(usize, Hold)],
        (ranks, nodes): (&[usize], &Nodes),
    ) {
        let lines: String = signals.iter().map(|signal| format!("signal {signal}\n")).collect();
        holds.iter().for_each(|(_, hold)| hold.command(self, &lines));
        for &signal in signals {
            self.order(nodes, Order::Signal { job: self.attempt, ranks: ranks.to_vec(), signal });
        }
    }

    /// Who has not said by now that all has ended is not waited for, but for nodes that have yet to
    /// come back to this manager.
    fn drained(self: &Arc<Job>) {
        if self.may_come_back() {
            self.later(DRAIN, |job| job.drained());
            return;
        }
        self.give_up_on(|state| state.progress.drain_over());
    }

    /// Gives an order to nodes of its ranks.
    fn order(&self, nodes: &Nodes, order: Order) {
        if let Some(manager) = self.manager.upgrade().filter(|_| !nodes.is_empty()) {
            manager.mail.send(nodes.clone(), order, |_| ());
        }
    }

    /// Kills what a rank's program has left behind; its output ends then.
    fn end_rank(self: &Arc<Job>, rank: usize, holds: &[(usize, Hold)]) {
        match holds.iter().find(|(other, _)| *other == rank) {
            Some((_, hold)) => hold.command(self, "end\n"),
            // Its node has done so.
            None => return,
        }
        self.await_output(rank, Quiet::default());
    }

    /// Does something after a while, if the job is still known then.
    pub(super) fn later(
        self: &Arc<Job>,
        wait: Duration,
        deed: impl FnOnce(&Arc<Job>) + Send + 'static,
    ) -> Option<timer::Key> {
        let job = Arc::downgrade(self);
        let deed = move || {
            if let Some(job) = job.upgrade() {
                deed(&job);
            }
        };
        self.manager.upgrade().map(|manager| manager.timer.after(wait, deed))
    }

    /// Does not do it any more.
    pub(super) fn forget(&self, deed: Option<timer::Key>) {
        if let (Some(deed), Some(manager)) = (deed, self.manager.upgrade()) {
            manager.timer.cancel(deed);
        }
    }

    /// Writes down why the job is being ended, and whether nothing of it has time for that.
    fn note_cause(&self, cause: Option<(End, u8, String)>, at_once: bool) {
        if let (Some((end, exit, why)), Some(manager)) = (cause, self.manager.upgrade()) {
            // A full disk costs the reason, if the manager is killed as well.
            let job = self.attempt;
            let _ = manager.record(&[Record::Ending { job, end, exit, why, at_once }]);
        }
    }

    /// All ranks are closed: wipes the sessions that are left, then tells everybody. A node that
    /// does not answer is not waited for.
    fn finish(self: &Arc<Job>, holds: &[(usize, Hold)]) {
        let (nodes, is_well) = {
            let mut state = self.state();
            state.over = Some(super::now());
            (nodes_of(&state), state.progress.verdict().is_some_and(|(end, ..)| end == End::Done))
        };
        let manager = self.manager.upgrade().filter(|_| !nodes.is_empty());
        if let (Some(manager), true) = (&manager, is_well) {
            manager.mail.done(self.attempt, nodes.clone(), self.state().progress.ranks().len());
        }
        // After a failure some of them may run.
        let forget = manager.filter(|_| !is_well);
        let steps = holds.len() + usize::from(forget.is_some());
        if steps == 0 {
            return self.finished();
        }
        let wiping = Arc::new(Wiping {
            left: AtomicUsize::new(steps),
            is_told: AtomicBool::new(forget.is_none()),
            is_over: AtomicBool::new(false),
        });
        if let Some(manager) = forget {
            let (job, wiping) = (self.clone(), wiping.clone());
            manager.mail.send(nodes, Order::Forget { jobs: vec![self.attempt] }, move |_| {
                wiping.is_told.store(true, Ordering::Release);
                wiping.wiped(&job);
            });
        }
        for (_, hold) in holds {
            let (job, wiping) = (self.clone(), wiping.clone());
            hold.command_then(self, "wipe\n", move || wiping.wiped(&job));
        }
        self.later(WIPE, move |job| wiping.give_up(job));
    }

    /// A job that was ended while something of it was on its way to nodes: they may have got it
    /// after they were told to forget it.
    pub(super) fn forget_again(&self) {
        let nodes: Nodes = {
            let state = self.state();
            if state.progress.phase() != Phase::Done {
                return;
            }
            nodes_of(&state)
        };
        self.order(&nodes, Order::Forget { jobs: vec![self.attempt] });
    }

    /// Nothing of the job runs any more: tells everybody, unless it begins again.
    fn finished(self: &Arc<Job>) {
        if let Some(manager) = self.manager.upgrade() {
            manager.spent.add(self.view.as_ref(), self.state().progress.ranks());
        }
        if self.begins_again() {
            return;
        }
        let (holds, sending, limit) = {
            let mut state = self.state();
            state.ended = Some(super::now());
            state.forget_ranks();
            (std::mem::take(&mut state.holds), state.sending.take(), state.limit.take())
        };
        drop((holds, sending));
        self.drop_kept();
        self.forget(limit);
        if let Some(manager) = self.manager.upgrade() {
            manager.strobe.forget(self.id);
        }
        self.end_placed();
        let status = self.status();
        if let Some(manager) = self.manager.upgrade() {
            // A full disk costs the memory of this job, nothing else.
            let _ = manager.with_all_room(|| Ok(manager.history.add(&status)?));
            let _ = manager.record(&[Record::Done { status: Box::new(status.clone()) }]);
            manager.has_ended(self);
            manager.forget_old();
            manager.event(json!({
                "event": "job done", "job": self.id, "exit": status.exit, "end": status.end,
                "why": status.why,
            }));
        }
        self.begun.set("");
        self.notes.end();
        // Who is told that it is done finds its nodes free.
        if let Some(manager) = self.manager.upgrade() {
            manager.leaves(self.id);
        }
        self.wait.set(serde_json::to_vec(&status).unwrap_or_default());
    }

    /// Nobody waits any more for output of a job that is done, or for ends of its ranks.
    pub(super) fn end_placed(&self) {
        if let Some(placed) = self.placed.get() {
            placed.log.end_all();
            placed.log.rest();
            placed.waits.end();
        }
    }

    /// Its files are needed no more.
    pub(super) fn drop_kept(&self) {
        let kept = self.state().kept.take();
        if let (Some(_), Some(manager)) = (kept, self.manager.upgrade()) {
            for kind in ["files", "chunks"] {
                let _ = std::fs::remove_file(manager.kept_file(self.id, kind));
            }
        }
    }

    /// Tells whoever waits for it a line.
    pub(super) fn note(&self, text: &str) {
        self.notes.push(format!("{text}\n").as_bytes());
    }

    /// The programs run.
    pub(super) fn started(self: &Arc<Job>) {
        let (at, limit, stamps) = {
            let mut state = self.state();
            (*state.started.get_or_insert(super::now()), state.time_ms, state.stamps)
        };
        let up = super::uptime();
        // First: what comes of it may end the job at once.
        if let Some(manager) = self.manager.upgrade() {
            let _ = manager.record(&[Record::Started { job: self.attempt, at, up, stamps }]);
            manager.event(json!({"event": "job started", "job": self.id}));
        }
        self.limit(limit, up);
        let mut state = self.state();
        let actions = state.progress.started();
        self.act(state, actions);
        self.begun.set("");
    }

    /// Ends the job.
    pub(super) fn end(self: &Arc<Job>, end: End, exit: u8, why: &str) {
        let mut state = self.state();
        if let Some(next) = state.next.clone() {
            drop(state);
            return next.end(end, exit, why);
        }
        let before = state.progress.cause();
        let actions = state.progress.end(end, exit, why);
        let cause = state.progress.cause();
        if cause != before && !actions.contains(&Action::Grace) {
            // Else a manager after this one, which finds it being started, or about to begin again,
            // would begin it again.
            self.note_cause(cause, false);
        }
        self.act(state, actions);
    }

    /// Ends the job without grace.
    pub(super) fn kill(self: &Arc<Job>) {
        let mut state = self.state();
        if let Some(next) = state.next.clone() {
            drop(state);
            return next.kill();
        }
        let actions = state.progress.kill("it was killed");
        if !actions.is_empty() && !actions.contains(&Action::EndAll) {
            self.note_cause(state.progress.cause(), false);
        }
        self.act(state, actions);
    }

    /// Sends a signal to all ranks that run. A job that waits for its nodes or its files has none,
    /// and one that ends to begin again soon has others: what ends a program that does not expect
    /// it from a terminal or a batch system ends these for good.
    ///
    /// # Errors
    /// It waits, and this is another signal.
    pub(super) fn signal(self: &Arc<Job>, number: i32) -> Result<()> {
        let state = self.state();
        if let Some(next) = state.next.clone() {
            drop(state);
            return next.signal(number);
        }
        let (is_unstarted, is_again) = (state.progress.is_unstarted(), state.progress.is_again());
        let waits_for = if state.progress.is_unplaced() { "nodes" } else { "files" };
        drop(state);
        let name = signal_name(number as u8);
        let ends = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP].contains(&number);
        if is_unstarted && !ends {
            let why = format!(
                "the job waits for its {waits_for}: nothing of it runs that could get the signal"
            );
            return fail(Errno::BUSY, format!("{why} {name}"));
        }
        if ends && (is_unstarted || is_again) {
            self.end(End::Killed, 128 + number as u8, &format!("it got the signal {name}"));
        }
        if !is_unstarted {
            let mut state = self.state();
            let actions = state.progress.signal(number);
            self.act(state, actions);
        }
        Ok(())
    }

    /// A rank has written. False if that is not wanted any more, or cannot be kept: the job ends
    /// then, without grace, since what it wrote on would be lost.
    pub(super) fn wrote(self: &Arc<Job>, rank: usize, output: Output, bytes: &[u8]) -> bool {
        let (Some(placed), Some(manager)) = (self.placed.get(), self.manager.upgrade()) else {
            return false;
        };
        let append = |bytes| manager.with_room(|| placed.log.append(rank, output, bytes));
        let mut appended = bytes.chunks(PIECE_MAX).map(append);
        let error = match appended.find(|done| !matches!(done, Ok(true))) {
            None => return true,
            Some(Ok(_)) => return false,
            Some(Err(error)) => error,
        };
        let place = manager.directory.display();
        let why = format!("its output cannot be kept in {place}: {error}  [E310]");
        self.attempt_failed(&why);
        let mut state = self.state();
        let actions = state.progress.grace_over();
        self.act(state, actions);
        false
    }

    /// This attempt ends, by what befell it. If it is over, the next one goes on.
    pub(super) fn attempt_failed(self: &Arc<Job>, why: &str) {
        let mut state = self.state();
        if state.progress.phase() == Phase::Done {
            return;
        }
        let actions = state.progress.end(End::Failed, 125, why);
        self.act(state, actions);
    }

    /// A rank is gone.
    pub(super) fn rank_lost(self: &Arc<Job>, rank: usize, why: &str) {
        let mut state = self.state();
        if rank >= state.progress.ranks().len() || state.progress.phase() == Phase::Done {
            return;
        }
        let actions = match self.has_all_of(&state, rank) {
            true => state.progress.rank_lost(rank, why),
            false => state.progress.output_lost(rank, why),
        };
        let is_again = state.progress.is_again();
        self.act(state, actions);
        if let Some(placed) = self.placed.get() {
            placed.log.end(Output::BOTH.map(|output| (rank, output)));
            // Else who waits for it waits for that of the next attempt.
            if !is_again {
                placed.waits.lost(rank);
            }
        }
    }

    /// Whether all that a rank has written is here, if its program has ended and it is not closed.
    pub(super) fn has_all_of(&self, state: &State, rank: usize) -> bool {
        let told = self.placed.get().and_then(|placed| placed.log.has_ended(rank));
        told.unwrap_or_else(|| state.followed.get(rank) == Some(&0))
    }

    /// Counts a fid that owns the job.
    pub(super) fn own(self: &Arc<Job>) -> Owner {
        self.ties.owners.fetch_add(1, Ordering::AcqRel);
        Owner(self.clone())
    }

    /// The job goes on without its client.
    pub(super) fn detach(&self) {
        self.needs_nobody();
        if let Some(manager) = self.manager.upgrade() {
            let _ = manager.record(&[Record::Detached { job: self.id }]);
        }
    }

    /// The same, when the journal has it already.
    pub(super) fn needs_nobody(&self) {
        self.ties.is_detached.store(true, Ordering::Release);
        self.keep_output();
    }

    /// A job that needs nobody has its output kept for whoever comes.
    pub(super) fn keep_output(&self) {
        if let (true, Some(placed)) =
            (self.ties.is_detached.load(Ordering::Acquire), self.placed.get())
        {
            placed.log.keep_all();
        }
    }

    /// Ends a job that nobody owns any more.
    pub(super) fn check_owner(self: &Arc<Job>) {
        let Ties { owners, is_detached } = &*self.ties;
        if owners.load(Ordering::Acquire) == 0 && !is_detached.load(Ordering::Acquire) {
            self.end(End::Killed, 143, "its client went away");
        }
    }
}

/// A fid that owns a job. When the last one is gone, so is the job.
pub(super) struct Owner(Arc<Job>);

impl Drop for Owner {
    fn drop(&mut self) {
        self.0.ties.owners.fetch_sub(1, Ordering::AcqRel);
        self.0.check_owner();
    }
}

/// The nodes that a job has ranks on.
fn nodes_of(state: &State) -> Nodes {
    state.progress.ranks().iter().filter_map(|rank| id_of(&rank.node)).collect()
}

/// The ranks that nobody follows and that have not ended, and their nodes.
fn alone(state: &State) -> (Vec<usize>, Nodes) {
    let ranks = state.progress.ranks().iter().zip(&state.holds).enumerate();
    let alone = ranks.filter(|(at, (_, hold))| hold.is_none() && !state.progress.is_closed(*at));
    let alone = alone.filter_map(|(at, (rank, _))| Some((at, id_of(&rank.node)?)));
    let (ranks, nodes): (Vec<usize>, Vec<NodeId>) = alone.unzip();
    (ranks, nodes.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manager::place::Place;
    use crate::manager::progress::Bears;

    #[test]
    fn nobody_waits_for_a_rank_that_is_closed_or_of_an_attempt_that_is_over() {
        let mut state = State::default();
        assert!(!state.is_awaited(0), "it has none yet");
        let places = vec![Place { node: "n0".to_owned(), local: 0 }; 2];
        state.progress.placed(places, vec![1; 2], Bears { again: true, ..Bears::default() });
        assert!(state.progress.executing() && state.progress.started().is_empty());
        state.progress.rank_lost(0, "n0 died");
        assert_eq!([0, 1, 2].map(|rank| state.is_awaited(rank)), [false, true, false]);
        assert!(state.progress.cleared().is_some());
        assert!(!state.is_awaited(1), "another attempt has taken its place");
    }
}
