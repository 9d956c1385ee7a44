//! A job that begins again: its node has died, and it is to be run anew on others (`--requeue`).
//!
//! The attempt ends as any job that has lost a node: TERM, a time of grace, KILL, and the nodes
//! that are left forget it. When they have said so, or cannot, another takes its place: a [`Job`]
//! of its own, with the number, log, files and owners of the first, which waits in the queue before
//! those of its priority, but for older ones that begin again as well. To the nodes it is another
//! job: it goes by a number that none has had, taken from the row of the jobs' own. So no order
//! that is still under way, no report, and no answer of a session that somebody still waits for can
//! be taken for one of the new attempt; the manager's own timers and requests of the old one end at
//! a [`Job`] that nobody knows any more.
//!
//! Who ends the job before the new attempt is in its place ends it for good, and who does so later
//! reaches the new one: the two change under the old one's lock. The journal has it before anything
//! is done; a manager that dies in between finds the job waiting, and adds to its log the record
//! that is missing there. One that dies while it launches such a job begins it again.
//!
//! Files that were sent are kept until the job ends ([`kept`](super::kept)). Input cannot be kept,
//! since nobody knows what of it mattered: such a job has none.

use super::Manager;
use super::job::{Job, Placed, State};
use super::journal::Record;
use super::kept::Kept;
use super::log::JobLog;
use super::progress::{Action, Bears};
use super::spec::Spec;
use muster_ninep::error::Result;
use serde_json::json;
use std::sync::{Arc, Condvar, Mutex, OnceLock};

impl Job {
    /// Nothing is left of this attempt. Whether another one has taken its place.
    pub(super) fn begins_again(self: &Arc<Job>) -> bool {
        let Some(manager) = self.manager.upgrade() else { return false };
        let mut jobs = manager.jobs();
        let attempt = jobs.next();
        let mut state = self.state();
        let (Some(why), Some(spec)) = (state.progress.cleared(), state.spec.clone()) else {
            return false;
        };
        let why = why.split("  [").next().unwrap_or_default().to_owned();
        // Where that cannot be written down, the job has failed, with the same words.
        let at = Some(super::now());
        let record = Record::Again { job: self.id, attempt, why: why.clone(), at };
        if manager.record(&[record]).is_err() {
            return false;
        }
        // Whatever comes of it: what the journal says of that number is of this job.
        jobs.last = attempt;
        let Some(next) = self.another(attempt, &why) else { return false };
        next.set_waiting(&manager, spec.clone(), at);
        jobs.table.insert(self.id, next.clone());
        state.next = Some(next.clone());
        state.early.clear();
        state.ended = Some(super::now());
        let (holds, sending) = (std::mem::take(&mut state.holds), state.sending.take());
        let limit = state.limit.take();
        drop((state, jobs));
        drop((holds, sending));
        self.forget(limit);
        // A full disk costs the memory of this attempt, nothing else.
        let status = self.status();
        let _ = manager.with_all_room(|| Ok(manager.history.add(&status)?));
        manager.event(json!({
            "event": "job begins again", "job": self.id, "attempt": next.requeued.len() + 1,
            "why": why,
        }));
        manager.requeue(&next, &spec);
        true
    }

    /// Ranks are given up that may run on, and with them that the job begins again: a manager after
    /// this one is to know that, whenever this one dies.
    pub(super) fn give_up_on(self: &Arc<Job>, give_up: impl FnOnce(&mut State) -> Vec<Action>) {
        let mut state = self.state();
        let may_begin_again = state.progress.may_begin_again();
        let actions = give_up(&mut state);
        if may_begin_again
            && !state.progress.may_begin_again()
            && let Some(manager) = self.manager.upgrade()
        {
            // A full disk costs it, if the manager is killed as well.
            let _ = manager.record(&[Record::Final { job: self.attempt }]);
        }
        self.act(state, actions);
    }

    /// The attempt after this one; none if the log cannot be written.
    fn another(&self, attempt: u32, why: &str) -> Option<Arc<Job>> {
        let placed = OnceLock::new();
        if let Some(before) = self.placed.get() {
            let why = begins(self.id, self.requeued.len(), why);
            let log = self.manager.upgrade()?.with_all_room(|| before.log.again(&why)).ok()?;
            let _ = placed.set(Placed { log, waits: before.waits.again() });
        }
        let requeued = self.requeued.iter().cloned().chain([why.to_owned()]).collect();
        Some(Arc::new(Job {
            id: self.id,
            attempt,
            requeued,
            view: self.view.clone(),
            submitted: self.submitted,
            ties: self.ties.clone(),
            manager: self.manager.clone(),
            spec: self.spec.clone(),
            placed,
            begun: self.begun.clone(),
            wait: self.wait.clone(),
            notes: self.notes.clone(),
            lane: self.lane.clone(),
            state: Mutex::default(),
            changed: Condvar::new(),
            past: Mutex::default(),
        }))
    }

    /// Whether another attempt may follow this one.
    pub(super) fn may_begin_again(&self) -> bool {
        let state = self.state();
        state.spec.as_ref().is_some_and(|spec| Bears::of(spec, self.requeued.len()).again)
    }

    /// The attempt that counts.
    pub(super) fn latest(self: &Arc<Job>) -> Arc<Job> {
        let mut job = self.clone();
        loop {
            let next = job.state().next.clone();
            match next {
                Some(next) => job = next,
                None => return job,
            }
        }
    }

    /// Makes a job that has asked for its nodes before one that waits for them, since then.
    pub(super) fn set_waiting(&self, manager: &Manager, spec: Spec, since: Option<f64>) {
        let mut state = self.state();
        state.progress.set_bears(Bears::of(&spec, self.requeued.len()));
        state.spec = Some(spec);
        state.launching = true;
        state.kept = manager.kept_file(self.id, "files").exists().then(Kept::default);
        state.stamps.queued = since;
        state.progress.queued();
    }
}

/// What is told of a job before which so many attempts have failed, and now one more has.
fn begins(job: u32, failed: usize, why: &str) -> String {
    format!("job {job} begins again, attempt {}: {why}  [N304]", failed + 2)
}

/// A job's log, as a manager may have left it that died between the journal and this: with a record
/// for each attempt that has failed.
pub(super) fn log_of(log: JobLog, job: u32, requeued: &[String]) -> Result<JobLog> {
    let missing = requeued.iter().enumerate().skip(log.attempt());
    missing.into_iter().try_fold(log, |log, (at, why)| log.again(&begins(job, at, why)))
}
