//! The queue: who gets which nodes, and when.
//!
//! A job asks for its nodes when the first of its files comes, or at its `start`. If the
//! [schedule](crate::schedule) gives it nodes then, they are its own from that moment, and it is
//! launched at its `start`. If not, its files are kept ([`kept`](super::kept)); at its `start` it
//! is *pending*: the journal says so, and whoever started it is answered. Whenever something
//! changes (a job ends, a node comes, goes, is drained or resumed, another scheduler or partition
//! is set, a reserved time begins or ends), the schedule says who starts, and these are launched
//! from here, each on a thread of its own. A job that begins again ([`again`](super::again)) gives
//! its nodes back and waits before others of its priority, for it has had its turn: only behind
//! older ones that wait again, too.
//!
//! A job that ends is taken out, whatever it was. A manager that was started again finds the
//! pending jobs in its journal, in their order; nobody is chosen until nodes have had the time to
//! join again, or those who ask for few would pass those who ask for many.

use super::Manager;
use super::job::{self, Job};
use super::journal::Record;
use super::launch;
use super::place::{Wanted, wanted};
use super::progress::Bears;
use super::settings::{named, number_of};
use super::spec::{Phase, Spec, UNLIMITED};
use super::timer;
use super::views::View;
use crate::schedule::{Ask, Config, Moment, Schedule};
use crate::slots::Slots;
use muster_base::nodeset;
use muster_base::span;
use muster_ninep::error::{Errno, Error, Result};
use serde_json::json;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

/// How long the queue waits at most until it looks at the clock again: who sleeps till six in the
/// morning does so for too long if the machine slept as well, or if its clock was set meanwhile.
const LOOK_AGAIN: Duration = Duration::from_secs(30);

/// What the queue says of a job, and the job's state when it does.
type Told<'job> = (Option<String>, Option<u32>, MutexGuard<'job, job::State>);

/// The queue of a manager.
#[derive(Default)]
pub(super) struct Queue {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    schedule: Schedule,
    /// The table that was told last.
    slots: Slots,
    /// What looks again when a reserved time begins or ends.
    wake: Option<timer::Key>,
    /// When this machine was booted, as its clock had it at the last look: it changes when that is
    /// set, and not when the machine sleeps.
    booted: Option<Moment>,
}

impl Queue {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no holder panics")
    }

    /// Why a job waits, if it does, the one on whose nodes it runs, if it does that, and its state
    /// at that very look: one that began to wait right after it would do so for no reason.
    pub(super) fn told<'job>(&self, job: &'job Job) -> Told<'job> {
        if job.is_done() {
            return (None, None, job.state());
        }
        let queue = self.state();
        let held = queue.schedule.is_held().then(|| "the nodes are joining again".to_owned());
        let is_seen = |other| job.view.is_none() || job.view_of(other) == job.view;
        let why = held.or_else(|| queue.schedule.reason(job.id, named, is_seen));
        let host = queue.schedule.host(job.id);
        // Last, since who holds it asks for nothing else here.
        let state = job.state();
        let waits = state.progress.phase() == Phase::Pending;
        (why.filter(|_| waits), host, state)
    }

    /// What is set.
    pub(super) fn scheduler(&self) -> String {
        self.state().schedule.config().to_string()
    }

    /// Whether jobs that it starts now share processors by turns.
    pub(super) fn takes_turns(&self) -> bool {
        matches!(self.state().schedule.config(), Config::Gang { .. })
    }
}

impl State {
    /// What time it is. If the clock was set, jobs that run are moved with it.
    fn now(&mut self) -> Moment {
        let now = moment();
        let up = Duration::try_from_secs_f64(super::uptime()).unwrap_or_default();
        let booted = now.saturating_sub(up);
        if let Some(before) = self.booted.replace(booted) {
            self.schedule.clock_set(before, booted);
        }
        now
    }
}

/// How long to wait for a moment.
fn wait_for(at: Moment, now: Moment) -> Duration {
    at.saturating_sub(now).min(LOOK_AGAIN)
}

fn moment() -> Moment {
    Duration::try_from_secs_f64(super::now()).unwrap_or_default()
}

/// What the schedule is told of a job that runs on so many nodes.
fn ask_of(job: u32, spec: &Spec, nodes: usize) -> Ask {
    Ask {
        job,
        nodes,
        is_named: spec.nodelist.is_some(),
        time: spec.time_ms.map(Duration::from_millis),
        priority: spec.priority,
        partition: spec.partition.clone(),
        // What started it is older than it is.
        within: spec.within.filter(|within| *within < job),
        ..Ask::default()
    }
}

/// What the job's client has written of it.
pub(super) fn spec_of(job: &Job) -> Result<Spec> {
    let not_right = |why: String| {
        Error::new(Errno::INVAL, format!("the job's spec is not right: {why}  [E112]"))
    };
    let read = serde_json::from_str::<Spec>(&job.spec.get()?);
    let spec = read.map_err(|error| not_right(error.to_string()))?;
    spec.check().map_err(not_right)?;
    Ok(spec)
}

/// Has the job ask for its nodes, if it has not. Whether it has them now; if not it is pending, or
/// where it was if it may not wait yet.
pub(super) fn allot(job: &Arc<Job>, may_wait: bool) -> Result<bool> {
    let manager = job.manager()?;
    if job.state().allotted.is_some() {
        return Ok(true);
    }
    let mut spec = spec_of(job)?;
    manager.nodes.await_back();
    let (ask, ranks) = manager.ask(job, &mut spec)?;
    let mut queue = manager.queue.state();
    {
        let mut state = job.state();
        if state.progress.phase() != Phase::New {
            return Err(launch::ended_by(&state));
        }
        // How many nodes it gets depends on what there is then, and is no part of it.
        spec.ranks = Some(ranks);
        state.progress.set_bears(Bears::of(&spec, job.requeued.len()));
        state.spec = Some(spec);
    }
    queue.schedule.submit(ask);
    let mut others = manager.step(&mut queue);
    let before = others.len();
    others.retain(|one| one.id != job.id);
    let has_nodes = others.len() < before;
    let mut waits = Ok(());
    if !has_nodes {
        if may_wait {
            waits = job.queued(&manager);
        }
        if !may_wait || waits.is_err() {
            queue.schedule.ended(job.id);
        }
    }
    drop(queue);
    launch_all(others);
    waits.map(|()| has_nodes)
}

/// Has a job give its nodes back, one of which has died; false if it is placed on them.
pub(super) fn give_back(job: &Arc<Job>) -> bool {
    let Some(manager) = job.manager.upgrade() else { return false };
    let nodes = {
        let mut state = job.state();
        if !state.progress.is_unplaced() {
            return false;
        }
        (state.stamps.allotted, state.time_ms) = (None, None);
        state.allotted.take()
    };
    // The schedule may not have heard of it, and would give it to the next job.
    nodes.iter().flatten().for_each(|name| manager.node_changed(name));
    manager.leaves(job.id);
    true
}

/// Has a job that has given its nodes back wait for others, before those that have had none.
pub(super) fn wait_again(job: &Arc<Job>) -> Result<()> {
    let manager = job.manager()?;
    if job.state().progress.phase() == Phase::New {
        job.queued(&manager)?;
    }
    let spec = job.state().spec.clone();
    spec.iter().for_each(|spec| manager.requeue(job, spec));
    Ok(())
}

/// When a job that has its nodes is launched for which there was no thread.
const AGAIN: Duration = Duration::from_millis(100);

fn launch_all(jobs: Vec<Arc<Job>>) {
    for job in jobs {
        let due = job.clone();
        // What it fails with is in its status.
        if !job.lane.run(move || drop(launch::go(&due))) {
            job.later(AGAIN, |job| launch_all(vec![job.clone()]));
        }
    }
}

impl Job {
    /// The view of another job, if there is one of that number and it is of a view.
    fn view_of(&self, other: u32) -> Option<Arc<str>> {
        self.manager.upgrade()?.job(other)?.view.clone()
    }

    /// It waits from now on.
    fn queued(&self, manager: &Manager) -> Result<()> {
        let mut state = self.state();
        let Some(spec) = state.spec.clone() else { return Err(launch::ended_by(&state)) };
        let at = Some(super::now());
        manager.record(&[Record::Queued { job: self.id, spec: Box::new(spec), at }])?;
        if !state.progress.queued() {
            return Err(launch::ended_by(&state));
        }
        state.stamps.queued = at;
        drop(state);
        manager.event(json!({"event": "job waits", "job": self.id}));
        Ok(())
    }
}

impl Manager {
    /// What a job asks for: its nodes and its ranks.
    fn ask(&self, job: &Job, spec: &mut Spec) -> Result<(Ask, usize)> {
        // Who deletes its partition, or changes its view, sees it there or has done so already.
        let _turn = self.settings.turn();
        job.state().spec = Some(spec.clone());
        let refuse = |text: String| Error::new(Errno::INVAL, text);
        // Nothing is a part of what it does not see, unless that sees everything.
        let around = spec.within.and_then(|around| job.view_of(around));
        spec.within = spec.within.filter(|_| around.is_none() || around == job.view);
        let mut nodes = self.nodes.by_state();
        let mut scope = String::new();
        if let Some(view) = &job.view {
            let settings = self.settings.get();
            let Some(of_view) = settings.views.get(&**view) else {
                return Err(refuse(format!("view {view} was deleted. See: muster view  [E117]")));
            };
            nodes.retain(|node| of_view.has(node));
            scope = format!("view {view}: ");
        }
        let wanted = wanted(spec).and_then(|one| nodes.have(&one.except).map(|()| one));
        let wanted = wanted.map_err(|said| refuse(format!("{scope}{said}")))?;
        if let Some(name) = &spec.partition {
            let settings = self.settings.get();
            let Some(part) = settings.partitions.get(name) else {
                return Err(refuse(format!(
                    "there is no partition {name}. See: muster partition  [E117]"
                )));
            };
            let of_view = job.view.as_deref().and_then(|view| settings.views.get(view));
            if let (Some(view), Some(of_view)) = (&job.view, of_view)
                && !of_view.nodes().into_iter().any(|node| part.has(node))
            {
                return Err(refuse(format!(
                    "view {view} and partition {name} have no node in common. See: muster \
                     partition  [E110]"
                )));
            }
            let has = |node: &String| number_of(node).is_some_and(|number| part.has(number));
            nodes.retain(has);
            let longest = part.time.map(|time| time.as_millis() as u64);
            if let (Some(longest), Some(asked)) = (longest, spec.time_ms)
                && asked > longest
            {
                let written = |millis: u64| match millis {
                    UNLIMITED => "unlimited time".to_owned(),
                    _ => span::write(Duration::from_millis(millis)),
                };
                let (asked, longest) = (written(asked), written(longest));
                return Err(refuse(format!(
                    "{asked} asked, but a job of partition {name} has {longest} at most. Use \
                     --time {longest}  [E116]"
                )));
            }
            spec.time_ms = spec.time_ms.or(longest);
            scope += &format!("partition {name}: ");
        }
        spec.time_ms = spec.time_ms.filter(|millis| *millis != UNLIMITED);
        if spec.time_ms == Some(0) {
            return Err(refuse(
                "a time of 0 is none at all: give time_ms at least 1  [E116]".into(),
            ));
        }
        if !wanted.except.is_empty() {
            nodes.retain(|node| !wanted.except.contains(node));
            scope += &format!("without {}: ", nodeset::fold(&wanted.except));
        }
        wanted.check(&nodes).map_err(|said| refuse(format!("{scope}{said}")))?;
        Ok((self.ask_for(job, spec, &wanted), wanted.ranks))
    }

    /// What the schedule is told of a job that waits. The nodes that it may have are those that it
    /// names, or those of its view.
    fn ask_for(&self, job: &Job, spec: &Spec, wanted: &Wanted) -> Ask {
        let numbers =
            |names: &Vec<String>| names.iter().filter_map(|name| number_of(name)).collect();
        let named = wanted.among.as_ref().map(numbers);
        let nodes_of =
            |view: &str| self.settings.get().views.get(view).map(View::nodes).unwrap_or_default();
        let among = named.or_else(|| job.view.as_deref().map(nodes_of));
        let except = numbers(&wanted.except);
        let again = !job.requeued.is_empty();
        Ask { least: wanted.least, among, except, again, ..ask_of(job.id, spec, wanted.nodes) }
    }

    /// Lets the schedule choose. The jobs chosen have their nodes then; the caller launches them
    /// once it has let the queue go.
    fn step(self: &Arc<Manager>, queue: &mut State) -> Vec<Arc<Job>> {
        let now = queue.now();
        let mut jobs = Vec::new();
        for start in queue.schedule.step(now) {
            let Some(job) = self.job(start.job) else { continue };
            let nodes = start.nodes.iter().map(|node| named(*node)).collect();
            job.state().gets(nodes, queue.schedule.time(job.id));
            jobs.push(job);
        }
        let slots = queue.schedule.slots();
        if slots != queue.slots {
            self.strobe.set(&slots);
            queue.slots = slots;
        }
        if let Some(key) = queue.wake.take() {
            self.timer.cancel(key);
        }
        queue.wake = queue.schedule.next().map(|at| {
            let manager = Arc::downgrade(self);
            self.timer.after(wait_for(at, now), move || {
                if let Some(manager) = manager.upgrade() {
                    manager.reschedule(|_| ());
                }
            })
        });
        jobs
    }

    /// Something has changed.
    pub(super) fn reschedule(self: &Arc<Manager>, change: impl FnOnce(&mut Schedule)) {
        let mut queue = self.queue.state();
        let now = queue.now();
        queue.schedule.set_now(now);
        change(&mut queue.schedule);
        let jobs = self.step(&mut queue);
        drop(queue);
        launch_all(jobs);
    }

    /// A job has ended.
    pub(super) fn leaves(self: &Arc<Manager>, job: u32) {
        self.reschedule(|schedule| schedule.ended(job));
    }

    /// A job goes on without nodes that it has lost: others may have them.
    pub(super) fn gives_up(self: &Arc<Manager>, job: &Job) {
        // Looked at under the lock: another attempt may have been given them meanwhile.
        self.reschedule(|schedule| {
            let nodes = job.given_up().iter().filter_map(|name| number_of(name)).collect();
            schedule.gives_up(job.id, &nodes);
        });
    }

    /// A node has come or gone, is slow or answers again. How it is now counts: two who tell of it
    /// may come in any order.
    pub(super) fn node_changed(self: &Arc<Manager>, name: &str) {
        let Some(node) = number_of(name) else { return };
        self.reschedule(|schedule| schedule.set_up(node, self.nodes.is_up(name)));
    }

    /// Another scheduler chooses from now on. Here and below, what is set counts when the schedule
    /// is changed: somebody else may have set it anew by then, and changed it before.
    pub(super) fn schedule_by(self: &Arc<Manager>, line: &str) -> Result<()> {
        let config = self.set_scheduler(line)?;
        self.reschedule(|schedule| schedule.set_config(self.settings.get().config()));
        self.event(json!({"event": "scheduler", "scheduler": config.to_string()}));
        Ok(())
    }

    /// A partition is made, changed or deleted.
    pub(super) fn partition(self: &Arc<Manager>, line: &str) -> Result<()> {
        self.set_partition(line)?;
        self.reschedule(|schedule| {
            schedule.set_partitions(self.settings.get().partitions.clone());
        });
        Ok(())
    }

    /// Nodes get no jobs any more, for a reason, or get them again.
    pub(super) fn drain(self: &Arc<Manager>, set: &str, why: Option<&str>) -> Result<()> {
        let names = self.expand(set)?;
        self.note_drained(&names, why)?;
        self.reschedule(|schedule| {
            let drained = &self.settings.get().drained;
            for (name, node) in names.iter().filter_map(|name| Some((name, number_of(name)?))) {
                schedule.set_drained(node, drained.contains_key(name));
            }
        });
        Ok(())
    }

    /// What was set before this manager.
    pub(super) fn restore_settings(&self) {
        let values = self.settings.get();
        let mut queue = self.queue.state();
        queue.schedule.set_config(values.config());
        queue.schedule.set_partitions(values.partitions.clone());
        // Those that are yet to come back.
        for node in self.nodes.names().iter().filter_map(|name| number_of(name)) {
            queue.schedule.set_up(node, false);
        }
        for node in values.drained.keys().filter_map(|name| number_of(name)) {
            queue.schedule.set_drained(node, true);
        }
    }

    /// A job runs already, since before this manager. Its nodes are in the order of its ranks,
    /// which those of its steps follow.
    pub(super) fn restore_running(&self, job: &Job, spec: &Spec, since: f64) {
        let mut nodes: Vec<u32> = Vec::new();
        for node in job.state().progress.ranks().iter().filter_map(|rank| number_of(&rank.node)) {
            // Ranks of a node mostly follow each other.
            if nodes.last() != Some(&node) && !nodes.contains(&node) {
                nodes.push(node);
            }
        }
        let ask = ask_of(job.id, spec, nodes.len());
        let since = Duration::try_from_secs_f64(since).unwrap_or_default();
        self.queue.state().schedule.runs(ask, nodes, since);
    }

    /// The time of a job counts from so long after the machine was booted.
    pub(super) fn counts_from(&self, job: u32, up: f64) {
        let ago = Duration::try_from_secs_f64(super::uptime() - up).unwrap_or_default();
        let mut queue = self.queue.state();
        let now = queue.now();
        queue.schedule.counts_from(job, now.saturating_sub(ago));
    }

    /// What a job asks for that has asked before. One that no longer can has failed.
    fn ask_again(&self, job: &Arc<Job>, spec: &Spec) -> Option<Ask> {
        let wanted = wanted(spec).map_err(|said| job.attempt_failed(&said));
        wanted.ok().map(|wanted| self.ask_for(job, spec, &wanted))
    }

    /// A job has given its nodes back, and waits for others.
    pub(super) fn requeue(self: &Arc<Manager>, job: &Arc<Job>, spec: &Spec) {
        let Some(ask) = self.ask_again(job, spec) else { return };
        let mut queue = self.queue.state();
        queue.schedule.ended(job.id);
        // One that was ended meanwhile is taken out, or has been.
        if job.state().progress.phase() == Phase::Pending {
            queue.schedule.submit(Ask { again: true, ..ask });
        }
        let jobs = self.step(&mut queue);
        drop(queue);
        launch_all(jobs);
    }

    /// A job waits already, since before this manager.
    pub(super) fn restore_pending(
        self: &Arc<Manager>,
        job: &Arc<Job>,
        spec: Spec,
        since: Option<f64>,
    ) {
        job.set_waiting(self, spec.clone(), since);
        let Some(ask) = self.ask_again(job, &spec) else { return };
        let mut queue = self.queue.state();
        queue.schedule.submit(ask);
        if !queue.schedule.is_held() {
            // Nodes are still joining.
            queue.schedule.hold(true);
            let manager = self.clone();
            let waits = job.lane.run(move || {
                manager.nodes.await_back();
                manager.reschedule(|schedule| schedule.hold(false));
            });
            // Where there is no thread to wait for them, jobs start as nodes join.
            queue.schedule.hold(waits);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manager::tests::manager;
    use crate::schedule::Partition;
    use crate::scratch::Scratch;

    /// The manager sees that a node is gone before the schedule does.
    #[test]
    fn a_job_whose_node_has_died_before_it_was_placed_there_waits_again_before_others() {
        let scratch = Scratch::new("queue-died");
        let manager = manager(&scratch);
        let other = manager.new_job(None).unwrap();
        manager.queue.state().schedule.submit(ask_of(other.id, &Spec::default(), 1));
        for was_pending in [false, true] {
            let job = manager.new_job(None).unwrap();
            let spec = Spec { argv: vec!["true".to_owned()], ranks: Some(1), ..Spec::default() };
            job.state().spec = Some(spec);
            if was_pending {
                job.queued(&manager).unwrap();
            }
            job.state().gets(vec!["n0".to_owned()], None);
            launch::go(&job).unwrap();
            let state = job.state();
            assert!(state.progress.phase() == Phase::Pending && state.allotted.is_none());
            drop(state);
            assert_eq!(manager.queue.state().schedule.waiting(), [job.id, other.id]);
            job.kill();
            assert!(job.is_done());
        }
        manager.memory.close();
    }

    /// It was looked at first, and asked for a reason once it had begun to wait.
    #[test]
    fn a_job_that_begins_to_wait_while_somebody_looks_has_a_reason() {
        let scratch = Scratch::new("queue-told");
        let manager = manager(&scratch);
        for _ in 0..50 {
            let job = manager.new_job(None).unwrap();
            let spec = Spec { ranks: Some(1), ..Spec::default() };
            job.state().spec = Some(spec.clone());
            let looks = job.clone();
            let looks = std::thread::spawn(move || {
                let mut seen = looks.status();
                while seen.state != Phase::Pending {
                    seen = looks.status();
                }
                seen.why
            });
            let mut queue = manager.queue.state();
            queue.schedule.submit(ask_of(job.id, &spec, 100));
            job.queued(&manager).unwrap();
            drop(queue);
            assert!(looks.join().unwrap().is_some());
            job.kill();
        }
        manager.memory.close();
    }

    /// They stayed different until another manager was started.
    #[test]
    fn the_schedule_is_as_it_was_set_last() {
        let scratch = Scratch::new("queue-set");
        let manager = manager(&scratch);
        let queue = manager.queue.state();
        let (first, to) = (manager.clone(), Config::Easy.to_string());
        let first = std::thread::spawn(move || first.schedule_by("fcfs"));
        while manager.settings.get().scheduler != "fcfs" {
            std::thread::yield_now();
        }
        // Another one, which has the queue before the first.
        manager.set_scheduler(&to).unwrap();
        drop(queue);
        first.join().unwrap().unwrap();
        assert_eq!(manager.queue.scheduler(), to);
        manager.memory.close();
    }

    /// Its next attempt had what was left to the job that the last one was a step of.
    #[test]
    fn how_long_a_step_may_run_is_its_attempts_and_not_what_it_asked_for() {
        let scratch = Scratch::new("queue-time");
        let manager = manager(&scratch);
        let job = manager.new_job(None).unwrap();
        job.state().spec = Some(Spec { time_ms: Some(60_000), ..Spec::default() });
        job.state().gets(vec!["n0".to_owned()], Some(Duration::from_secs(5)));
        assert_eq!(job.status().time_ms, Some(5_000));
        assert!(give_back(&job));
        assert_eq!(job.status().time_ms, Some(60_000));
        let state = job.state();
        assert_eq!(state.spec.as_ref().and_then(|spec| spec.time_ms), Some(60_000));
        drop(state);
        job.kill();
        manager.memory.close();
    }

    /// It waited for ever: its partition was deleted when it had looked what it may have there.
    #[test]
    fn the_partition_of_a_job_that_asks_for_its_nodes_is_in_use() {
        let scratch = Scratch::new("queue-asks");
        let manager = manager(&scratch);
        manager
            .settings
            .change(|values| {
                values.partitions.insert("lab".to_owned(), Partition::default());
                Ok(())
            })
            .unwrap();
        let job = manager.new_job(None).unwrap();
        let mut spec = Spec { partition: Some("lab".to_owned()), ..Spec::default() };
        // Nobody is there yet whom it could get.
        manager.ask(&job, &mut spec).unwrap_err();
        let said = manager.set_partition("delete lab").unwrap_err();
        assert!(said.text.contains("in use by job"), "{said}");
        job.kill();
        manager.memory.close();
    }

    #[test]
    fn a_job_was_started_in_one_that_is_older() {
        let within = |job| ask_of(7, &Spec { within: Some(job), ..Spec::default() }, 1).within;
        assert_eq!([6, 7, 8].map(within), [Some(6), None, None]);
    }

    #[test]
    fn a_reserved_time_is_waited_for_by_looking_at_the_clock_again_and_again() {
        let seconds = Duration::from_secs;
        assert_eq!(wait_for(seconds(105), seconds(100)), seconds(5));
        assert_eq!(wait_for(seconds(100), seconds(105)), seconds(0), "the clock was set forward");
        // Who waited for all of it would wait for seven hours more after a night asleep.
        assert_eq!(wait_for(seconds(25_300), seconds(100)), LOOK_AGAIN);
    }
}
