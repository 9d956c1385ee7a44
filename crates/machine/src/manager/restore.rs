//! Takes up the jobs of a manager that died.
//!
//! Jobs that were done are told of as before. Jobs that ran go on: their processes never stopped,
//! and each rank is followed again once its node has joined. A node that does not come back in
//! time, or comes back as another daemon, has lost its ranks. Jobs that waited for nodes wait on. A
//! job that was only being started is ended, since what the manager had in hand for it is gone; if
//! it may, it begins again.

use super::Manager;
use super::hold::{self, Hold};
use super::job::{Birth, Job, OWNER, Placed, State};
use super::journal::{self, Record};
use super::kept::Kept;
use super::log::JobLog;
use super::nodes::Link;
use super::progress::{Action, Bears, Progress};
use super::spec::{End, Phase, RankPhase, RankStatus, Spec, Stamps, Status};
use super::waits::Waits;
use super::{again, follow, launch};
use crate::output::Output;
use crate::usage::Usage;
use muster_ninep::error::{Errno, Result};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

/// How long until a session that a node may be about to make is looked for again.
const RETRY: Duration = Duration::from_millis(200);

/// What has brought a job nearer to its end.
enum Ended {
    Rank(usize, i32, Option<String>),
    Closed(usize, Option<Usage>),
    Job { end: End, exit: u8, why: String, at_once: bool },
    Finally,
}

/// What the journal tells of one job.
#[derive(Default)]
struct Told {
    submitted: f64,
    view: Option<String>,
    /// When it began to wait, counted in records, and what it is.
    queued: Option<(usize, Spec)>,
    placed: Option<(Spec, Vec<journal::Placed>)>,
    /// How many it has, if it ever was placed.
    ranks: Option<usize>,
    /// The last attempt, and why each before it failed.
    attempt: Option<u32>,
    requeued: Vec<String>,
    /// By the wall clock, and since the machine was booted.
    started: Option<(f64, f64)>,
    stamps: Stamps,
    detached: bool,
    /// In the order in which it happened: the first failure is the job's.
    ends: Vec<Ended>,
    /// When all of it had ended, counted in records, and how.
    done: Option<(usize, Status)>,
    /// Why what it has printed is not kept.
    dropped: Option<String>,
}

/// What the journal tells of all of them, and which job's last attempt goes by which number.
#[derive(Default)]
struct Read {
    told: BTreeMap<u32, Told>,
    attempts: HashMap<u32, u32>,
    /// The last number that was given, also if its job is not remembered any more.
    last: u32,
}

impl Read {
    fn of(records: Vec<Record>) -> Read {
        let mut read = Read::default();
        for (at, record) in records.into_iter().enumerate() {
            read.take(at, record);
        }
        read
    }

    /// The job of an attempt. What there is of one before the last does not count any more.
    fn attempt(&mut self, number: u32) -> Option<&mut Told> {
        self.told.get_mut(self.attempts.get(&number)?)
    }

    /// Whether what is told under a number is still needed.
    fn is_kept(&self, number: u32) -> bool {
        self.told.contains_key(self.attempts.get(&number).unwrap_or(&number))
    }

    fn take(&mut self, at: usize, record: Record) {
        self.last = self.last.max(record.last());
        match record {
            Record::New { job, at, view, .. } => {
                self.attempts.insert(job, job);
                let told = self.told.entry(job).or_default();
                (told.submitted, told.view) = (at, view);
            }
            Record::Queued { job, spec, at: since } => {
                if let Some(told) = self.told.get_mut(&job) {
                    told.queued = Some((at, *spec));
                    told.stamps.queued = since;
                }
            }
            Record::Again { job, attempt, why, at: since } => {
                self.attempts.retain(|_, of| *of != job);
                self.attempts.insert(attempt, job);
                if let Some(told) = self.told.get_mut(&job) {
                    told.begin_again(attempt, why, since);
                }
            }
            Record::Detached { job } => {
                if let Some(told) = self.told.get_mut(&job) {
                    told.detached = true;
                }
            }
            Record::Done { status } => {
                if let Some(told) = self.told.get_mut(&status.id) {
                    told.done = Some((at, *status));
                }
            }
            Record::Dropped { job, why } => {
                if let Some(told) = self.told.get_mut(&job) {
                    told.dropped = Some(why);
                }
            }
            Record::Placed { job, spec, ranks } => {
                if let Some(told) = self.attempt(job) {
                    told.ranks = Some(ranks.len());
                    told.placed = Some((*spec, ranks));
                }
            }
            Record::Started { job, at, up, stamps } => {
                if let Some(told) = self.attempt(job) {
                    (told.started, told.stamps) = (Some((at, up)), stamps);
                }
            }
            Record::Exited { job, rank, status, why } => {
                if let Some(told) = self.attempt(job) {
                    told.ends.push(Ended::Rank(rank, status, why));
                }
            }
            Record::Closed { job, rank, usage } => {
                if let Some(told) = self.attempt(job) {
                    told.ends.push(Ended::Closed(rank, usage));
                }
            }
            Record::Final { job } => {
                if let Some(told) = self.attempt(job) {
                    told.ends.push(Ended::Finally);
                }
            }
            Record::Ending { job, end, exit, why, at_once } => {
                if let Some(told) = self.attempt(job) {
                    told.ends.push(Ended::Job { end, exit, why, at_once });
                }
            }
        }
    }
}

/// Makes the jobs that `records` tell of.
pub(super) fn jobs(manager: &Arc<Manager>, records: Vec<Record>) {
    let mut read = Read::of(records);
    let done = read.told.iter().filter_map(|(id, told)| Some((told.done.as_ref()?.0, *id)));
    let mut done: Vec<(usize, u32)> = done.collect();
    done.sort_unstable();
    for id in super::outdated(&mut done.into_iter().map(|(_, id)| id).collect()) {
        read.told.remove(&id);
        JobLog::remove(&manager.log_of(id));
    }
    // A full disk costs a longer journal.
    let _ = manager.journal.keep(|| |number| read.is_kept(number));
    manager.jobs().last = read.last;
    let mut told: Vec<(u32, Told)> = read.told.into_iter().collect();
    // Those who have ended, and those who wait, in their order.
    let began = |told: &Told| told.queued.as_ref().map(|(at, _)| *at);
    // Who ends while they are made has ended after those.
    told.sort_by_key(|(_, told)| {
        let done = told.done.as_ref().map(|(at, _)| *at);
        (done.is_none(), done.or_else(|| began(told)))
    });
    for (id, told) in told {
        let attempt = told.attempt.unwrap_or(id);
        let birth = Birth {
            id,
            attempt,
            requeued: told.requeued.clone(),
            submitted: told.submitted,
            view: told.view.as_deref().map(Into::into),
        };
        let job = Job::of(Arc::downgrade(manager), birth);
        let mut jobs = manager.jobs();
        jobs.last = jobs.last.max(attempt);
        jobs.table.insert(id, job.clone());
        drop(jobs);
        one(manager, &job, told);
    }
    // Before the strobers are told anything: an empty table would let all go on at once.
    manager.reschedule(|_| ());
}

impl Told {
    /// What was told of the attempts so far does not count any more.
    fn begin_again(&mut self, attempt: u32, why: String, since: Option<f64>) {
        // It waits in the place that it had.
        let place = self.queued.take();
        let spec = self.placed.take().map(|(spec, _)| spec);
        let at = place.as_ref().map_or(0, |(at, _)| *at);
        // What it was placed with may have had less time.
        self.queued = place.map(|(_, spec)| spec).or(spec).map(|spec| (at, spec));
        self.attempt = Some(attempt);
        self.requeued.push(why);
        self.started = None;
        self.stamps = Stamps { queued: since, ..Stamps::default() };
        self.ends.clear();
    }
}

/// Opens the log of a job that has one.
fn open_log(manager: &Manager, job: &Job, told: &Told) -> Result<()> {
    // Where that is told of one that is done, the journal does not keep where they were.
    let done = told.done.as_ref().map(|(_, status)| status.ranks.len()).filter(|ranks| *ranks > 0);
    let Some(ranks) = told.ranks.or(done) else { return Ok(()) };
    let path = manager.log_of(job.id);
    let (log, waits) = match told.done {
        Some(_) => {
            let log = JobLog::resting(&path, ranks)?;
            told.dropped.iter().for_each(|why| log.drop_all(why));
            (log, Waits::over(ranks))
        }
        None => {
            let log = JobLog::open(&path, ranks)?;
            let spec = told.placed.as_ref().map(|(spec, _)| spec);
            let spec = spec.or(told.queued.as_ref().map(|(_, spec)| spec));
            if spec.is_some_and(|spec| spec.requeue > 0) {
                log.hold();
            }
            (again::log_of(log, job.id, &job.requeued)?, Waits::new(ranks))
        }
    };
    let _ = job.placed.set(Placed { log, waits });
    Ok(())
}

fn one(manager: &Arc<Manager>, job: &Arc<Job>, told: Told) {
    let unreadable = open_log(manager, job, &told).err();
    if let Some((_, status)) = told.done {
        job.restore_done(&status);
        return manager.has_ended(job);
    }
    // There may be some that nobody knows of.
    job.state().kept = Some(Kept::default());
    let Some((spec, placed)) = told.placed else {
        if let Some((_, spec)) = told.queued {
            job.restored_times(told.stamps, None, told.detached);
            manager.restore_pending(job, spec, told.stamps.queued);
            return;
        }
        return job.end(End::Killed, 125, "the manager died while the job was being made");
    };
    let instances = placed.iter().map(|rank| rank.instance).collect();
    let ranks: Vec<RankStatus> = placed.into_iter().enumerate().map(rank_of).collect();
    let (bears, limit) = (Bears::of(&spec, job.requeued.len()), spec.time_ms);
    job.restored(Progress::restore(ranks, bears), spec.clone(), instances);
    let started = told.started.map(|(at, _)| at);
    manager.restore_running(job, &spec, started.unwrap_or(told.submitted));
    job.begun.set("");
    job.restored_times(told.stamps, started, told.detached);
    for end in told.ends {
        match end {
            Ended::Rank(rank, _, Some(why)) => job.has_failed(rank, &why),
            Ended::Rank(rank, status, None) => job.has_exited(rank, status),
            Ended::Closed(rank, usage) => job.restore_closed(rank, usage),
            Ended::Job { end, exit, why, at_once } => job.restore_end(end, exit, &why, at_once),
            Ended::Finally => job.state().progress.is_final(),
        }
    }
    match (told.started, unreadable) {
        (_, Some(error)) => {
            let why = format!("its log cannot be read after the manager was restarted: {error}");
            job.end(End::Failed, 125, &format!("{why}  [E310]"));
        }
        (Some((_, up)), None) => job.limit(limit, up),
        (None, None) => {
            let end = if bears.again { End::Lost } else { End::Killed };
            job.end(end, 125, "the manager died while the job was being started");
        }
    }
}

fn rank_of((rank, placed): (usize, journal::Placed)) -> RankStatus {
    RankStatus {
        rank,
        node: placed.node,
        local: placed.local,
        session: placed.session,
        pid: None,
        state: RankPhase::Running,
        status: None,
        why: None,
        usage: None,
    }
}

impl Job {
    /// Takes up a job that a manager before this one has left.
    fn restored(&self, progress: Progress, spec: Spec, instances: Vec<u64>) {
        let mut state = self.state();
        state.holds = vec![None; instances.len()];
        state.claimed = vec![false; instances.len()];
        state.is_restored = true;
        state.followed = vec![3; instances.len()];
        state.launching = true;
        state.time_ms = spec.time_ms;
        (state.progress, state.spec, state.instances) = (progress, Some(spec), instances);
    }

    /// Takes up a job that was done before this manager.
    fn set_past(&self, status: Status) {
        *self.past.lock().expect("no holder panics") = Some(status);
        self.state().progress = Progress::past();
    }

    /// What the journal told of a job's times.
    fn restored_times(&self, stamps: Stamps, started: Option<f64>, detached: bool) {
        {
            let mut state = self.state();
            (state.stamps, state.started) = (stamps, started);
        }
        if detached {
            self.needs_nobody();
        }
    }

    /// Takes up a job that was done.
    fn restore_done(&self, status: &Status) {
        self.notes.end();
        self.set_past(status.clone());
        self.begun.set("");
        self.wait.set(serde_json::to_vec(status).unwrap_or_default());
    }

    /// It was being ended. Ranks that were asked to end are not asked again, as many programs take
    /// that for a wish to have them end at once; their time of grace begins anew.
    fn restore_end(self: &Arc<Job>, end: End, exit: u8, why: &str, at_once: bool) {
        let mut state = self.state();
        state.was_asked = true;
        let mut actions = state.progress.end(end, exit, why);
        actions.extend(state.progress.pause_over());
        if at_once {
            actions = state.progress.grace_over();
        }
        actions.retain(|action| *action != Action::Ask);
        self.act(state, actions);
    }

    /// A rank had ended, and its session may be wiped: nobody need follow it again.
    fn restore_closed(self: &Arc<Job>, rank: usize, usage: Option<Usage>) {
        let mut state = self.state();
        let told = state.progress.ranks().get(rank);
        if told.is_some_and(|told| told.state == RankPhase::Done) {
            state.progress.used(rank, usage);
            let actions = state.progress.rank_closed(rank);
            self.act(state, actions);
        }
    }

    /// Nodes and clients can come back: those that do not are not waited for any longer than they
    /// may take.
    pub(super) fn await_back(self: &Arc<Job>, manager: &Manager) {
        if self.is_done() {
            return;
        }
        if self.state().is_restored {
            let waiting = self.clone();
            manager.timer.after(manager.nodes.rejoin_left(), move || waiting.lose_absent());
        }
        let waiting = self.clone();
        manager.timer.after(OWNER, move || waiting.check_owner());
    }

    /// A node has joined: its ranks of this job are followed again.
    pub(super) fn node_joined(self: &Arc<Job>, link: &Arc<Link>) {
        let waiting: Vec<(usize, u32, u64)> = {
            let state = self.state();
            // Ranks that this manager has placed are not waiting for their node.
            if !state.is_restored {
                return;
            }
            let ranks = state.progress.ranks().iter().enumerate();
            let there = ranks.filter(|(at, rank)| {
                let open = !state.progress.is_closed(*at);
                open && rank.node == link.name && matches!(state.holds.get(*at), Some(None))
            });
            there.map(|(at, rank)| (at, rank.session, state.instances[at])).collect()
        };
        let mut is_other = false;
        for (rank, session, instance) in waiting {
            if instance != link.instance {
                self.rank_lost(rank, "its node daemon was started again");
                is_other = true;
                continue;
            }
            self.find(link, rank, session);
        }
        if is_other {
            self.goes_on_without();
        }
    }

    /// Looks for the session of a rank, unless somebody does; again, if it may be there soon.
    fn find(self: &Arc<Job>, link: &Arc<Link>, rank: usize, session: u32) {
        if !self.state().claim(rank) {
            return;
        }
        let (job, over) = (self.clone(), link.clone());
        hold::take(link, session, self.reads(rank), move |hold| match hold {
            Ok(hold) => job.follow_again(rank, session, hold),
            // Whoever watches the connection says why it is gone.
            Err(_) if over.client.ended().is_some() => {}
            // Its node takes no more requests for now, or may be about to make it: for that it has
            // as long as nodes have to come back.
            Err(error)
                if error.errno == Errno::AGAIN
                    || error.errno == Errno::NOENT && job.may_come_back() =>
            {
                job.state().unclaim(rank);
                job.later(RETRY, move |job| job.find(&over, rank, session));
            }
            Err(error) => job.rank_lost(rank, &error.to_string()),
        });
    }

    pub(super) fn reads(&self, rank: usize) -> bool {
        self.state().spec.as_ref().is_some_and(|spec| spec.stdin.includes(rank))
    }

    fn follow_again(self: &Arc<Job>, rank: usize, session: u32, hold: Hold) {
        let command = {
            let mut state = self.state();
            if state.progress.is_closed(rank) {
                return;
            }
            state.holds[rank] = Some(hold.clone());
            state.told_when_found(rank)
        };
        follow::rank(self, rank, &hold.link, session);
        launch::ask_pid(self, rank, &hold);
        if let Some(command) = command {
            hold.command(self, command);
        }
    }

    /// Whether nodes have time yet to come back with what they run.
    pub(super) fn may_come_back(&self) -> bool {
        self.manager.upgrade().is_some_and(|manager| !manager.nodes.rejoin_left().is_zero())
    }

    /// Gives up ranks whose nodes have not come back. Those of one that has are looked for there.
    fn lose_absent(self: &Arc<Job>) {
        let Some(manager) = self.manager.upgrade() else { return };
        let left = manager.nodes.rejoin_left();
        if !left.is_zero() {
            // Others have come back meanwhile.
            self.later(left, |job| job.lose_absent());
            return;
        }
        let absent: Vec<(usize, String)> = {
            let state = self.state();
            let open = |(_, claimed): &(usize, &bool)| !**claimed;
            let ranks = state.claimed.iter().enumerate().filter(open).map(|(rank, _)| rank);
            let ranks = ranks.filter(|rank| !state.progress.is_closed(*rank));
            ranks.map(|rank| (rank, state.progress.ranks()[rank].node.clone())).collect()
        };
        for (rank, node) in absent {
            match (manager.nodes.link(&node), manager.nodes.death(&node)) {
                (Ok(_), _) => {}
                (_, Some(why)) => self.rank_lost(rank, &why),
                (_, None) => self.rank_absent(rank),
            }
        }
        self.goes_on_without();
    }

    /// A rank's node has not come back, nor has anybody told that it died.
    fn rank_absent(self: &Arc<Job>, rank: usize) {
        let why = "its node has not come back after the manager was started again";
        self.give_up_on(|state| {
            let has_all = self.has_all_of(state, rank);
            match state.is_awaited(rank) {
                true => state.progress.rank_absent(rank, has_all, why),
                false => Vec::new(),
            }
        });
        if let Some(placed) = self.placed.get() {
            placed.log.end(Output::BOTH.map(|output| (rank, output)));
            placed.waits.lost(rank);
        }
    }
}

impl State {
    /// What a rank is told that is found again, if it is to end.
    fn told_when_found(&self, rank: usize) -> Option<&'static str> {
        let is_over = self.progress.ranks()[rank].state == RankPhase::Done;
        if !is_over && self.progress.phase() != Phase::Ending {
            return None;
        }
        // One that may not have run its program would not tell an end.
        if self.started.is_none() {
            return Some("wipe\n");
        }
        // What a program has left behind goes, as it would have without a restart.
        if is_over || self.killing {
            return Some("end\n");
        }
        let hears_of_it = self.was_asked || !self.progress.were_told_to_end();
        (!hears_of_it).then_some("signal TERM\nsignal CONT\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manager::journal::Journal;
    use crate::manager::place::Place;
    use crate::manager::tests::manager;
    use crate::scratch::Scratch;
    use std::sync::Weak;

    /// The job was done with exit status 0, and nobody was told that its log was cut.
    #[test]
    fn a_rank_whose_node_does_not_come_back_is_lost_unless_all_that_it_has_written_is_here() {
        for (is_held, has_all) in [(false, false), (true, false), (false, true)] {
            let scratch = Scratch::new("absent");
            let birth =
                Birth { id: 1, attempt: 1, requeued: Vec::new(), submitted: 0.0, view: None };
            let job = Job::of(Weak::new(), birth);
            let log = JobLog::open(&scratch.join("log"), 1).unwrap();
            if is_held {
                log.hold();
            }
            if has_all {
                log.end(Output::BOTH.map(|output| (0, output)));
            }
            let _ = job.placed.set(Placed { log, waits: Waits::new(1) });
            let placed =
                journal::Placed { node: "n0".to_owned(), local: 0, session: 1, instance: 1 };
            let bears = Bears { again: is_held, ..Bears::default() };
            job.restored(
                Progress::restore(vec![rank_of((0, placed))], bears),
                Spec::default(),
                vec![1],
            );
            job.has_exited(0, 0);
            job.rank_absent(0);
            let (end, exit, why) = job.state().progress.verdict().expect("it is over");
            let exits = if has_all { (End::Done, 0) } else { (End::Lost, 125) };
            assert_eq!((end, exit), exits, "{is_held}: {why:?}");
            assert!(has_all || why.unwrap().contains("the last of what it had written"));
        }
    }

    /// An urgent one of a thousand runs first, and is the first to be forgotten.
    #[test]
    fn no_number_is_given_twice_though_its_job_is_not_remembered_any_more() {
        let new = |job| Record::New { job, user: 0, at: 1.0, view: None };
        let done = |id| Record::Done { status: Box::new(Status { id, ..Status::default() }) };
        let again = |job, attempt| Record::Again { job, attempt, why: String::new(), at: None };
        // The last number is that of a job, or of an attempt that came to nothing.
        for (attempt, last) in [(None, 9), (Some(again(8, 10)), 10)] {
            let records = [
                vec![new(7), new(8), new(9)],
                attempt.into_iter().collect(),
                vec![done(9), done(8)],
            ]
            .concat();
            let scratch = Scratch::new("journal-numbers");
            let (journal, _) = Journal::open(&scratch.join("journal")).unwrap();
            journal.write(&records).unwrap();
            let mut read = Read::of(records);
            assert_eq!(read.last, last);
            assert!([8, 9].iter().all(|id| read.told.remove(id).is_some()));
            journal.keep(|| |number| read.is_kept(number)).unwrap();
            let (_, records) = Journal::open(&scratch.join("journal")).unwrap();
            let next = Read::of(records);
            assert_eq!(next.last, last);
            assert!(next.told.contains_key(&7) && !next.told.contains_key(&8));
        }
    }

    /// A manager that died while the nodes of a job with --requeue were told to forget it had the
    /// next one begin it again, though whoever had ended it had been answered.
    #[test]
    fn the_next_manager_knows_of_a_job_that_was_ended_while_it_was_being_started() {
        type Deed = fn(&Arc<Job>);
        let kill: Deed = |job| job.kill();
        let signal: Deed = |job| job.signal(libc::SIGTERM).unwrap();
        for (ends, exit) in [(kill, 137), (signal, 143)] {
            let scratch = Scratch::new("killed-early");
            let manager = manager(&scratch);
            let job = manager.new_job(None).unwrap();
            let place = Place { node: "n0".to_owned(), local: 0 };
            let bears = Bears { again: true, ..Bears::default() };
            job.state().progress.placed(vec![place], vec![1], bears);
            ends(&job);
            let (_, records) = Journal::open(&scratch.join("default/journal")).unwrap();
            let told = &Read::of(records).told[&job.id];
            let is_told = |one: &Ended| match one {
                Ended::Job { end, exit: its, .. } => (*end, *its) == (End::Killed, exit),
                _ => false,
            };
            assert!(told.ends.iter().any(is_told), "{exit}");
            manager.memory.close();
        }
    }

    /// A started job with a log, of two ranks on a node, of which each may fail.
    fn started(scratch: &Scratch, manager: &Arc<Manager>) -> Arc<Job> {
        let job = manager.new_job(None).unwrap();
        let log = JobLog::open(&scratch.join("log"), 2).unwrap();
        let _ = job.placed.set(Placed { log, waits: Waits::new(2) });
        let places = [0, 1].map(|local| Place { node: "n0".to_owned(), local });
        let bears = Bears { failures: true, losses: true, again: false };
        let mut state = job.state();
        state.progress.placed(places.to_vec(), vec![1, 2], bears);
        assert!(state.progress.executing());
        assert!(state.progress.started().is_empty());
        drop(state);
        job
    }

    fn ends(scratch: &Scratch, job: &Job) -> Vec<Ended> {
        let (_, records) = Journal::open(&scratch.join("default/journal")).unwrap();
        Read::of(records).told.remove(&job.id).unwrap().ends
    }

    /// It was waited for until the whole job was done, and then told as nothing.
    #[test]
    fn who_waits_for_a_rank_that_cannot_be_run_or_is_lost_hears_of_it_then() {
        let scratch = Scratch::new("no-run");
        let manager = manager(&scratch);
        let job = started(&scratch, &manager);
        let placed = job.placed.get().unwrap();
        let waits = [0, 1].map(|rank| placed.waits.of_rank(rank).unwrap());
        let why = "x: not found on n0  [E101, exit 127]";
        job.failed_to_run(0, why);
        assert_eq!((waits[0].get(), waits[1].get()), (Some("32512".to_owned()), None));
        assert_eq!([0, 1].map(|rank| placed.log.has_ended(rank)), [Some(true), Some(false)]);
        assert_eq!(job.wait_of(0).get(), waits[0].get(), "as when the job is done");
        job.rank_lost(1, "n0 died");
        assert_eq!(waits[1].get(), Some(String::new()));
        // A manager after this one does not say that it had run.
        let ends = ends(&scratch, &job);
        assert!(matches!(&ends[0], Ended::Rank(0, 32512, Some(told)) if told == why));
        let next = started(&Scratch::new("no-run-next"), &manager);
        next.has_failed(0, why);
        let state = next.state();
        assert_eq!(state.progress.ranks()[0].why.as_deref(), Some(why));
        assert!(state.progress.is_closed(0), "nobody follows it");
        drop(state);
        manager.memory.close();
    }

    /// All its ranks were killed when their nodes had joined again: a checkpoint was torn.
    #[test]
    fn ranks_of_a_job_that_is_ending_have_their_time_with_the_next_manager() {
        let found = |failed: bool, ended: Option<bool>| {
            let birth =
                Birth { id: 1, attempt: 1, requeued: Vec::new(), submitted: 0.0, view: None };
            let job = Job::of(Weak::new(), birth);
            let placed = journal::Placed { node: "n0".into(), local: 0, session: 1, instance: 1 };
            let ranks = (0..2).map(|rank| rank_of((rank, placed.clone()))).collect();
            let progress = Progress::restore(ranks, Bears::default());
            job.restored(progress, Spec::default(), vec![1, 1]);
            job.restored_times(Stamps::default(), Some(1.0), false);
            if failed {
                job.has_exited(0, 256);
            }
            if let Some(at_once) = ended {
                job.restore_end(End::Failed, 1, "rank 0 failed", at_once);
            }
            let state = job.state();
            [0, 1].map(|rank| state.told_when_found(rank))
        };
        assert_eq!(found(false, None), [None, None]);
        assert_eq!(found(true, None), [Some("end\n"), None], "they hear of it in a moment");
        assert_eq!(found(true, Some(false)), [Some("end\n"), None], "they have heard of it");
        assert_eq!(found(false, Some(true)), [Some("end\n"); 2]);
    }

    #[test]
    fn the_next_manager_knows_whether_a_job_was_asked_to_end_or_killed() {
        let scratch = Scratch::new("at-once");
        let manager = manager(&scratch);
        let job = started(&scratch, &manager);
        let told = || {
            let at_once = |one: &Ended| match one {
                Ended::Job { at_once, .. } => *at_once,
                _ => unreachable!("no rank has ended"),
            };
            ends(&scratch, &job).iter().map(at_once).collect::<Vec<_>>()
        };
        job.end(End::Killed, 143, "its client went away");
        assert_eq!(told(), [false]);
        job.kill();
        assert_eq!(told(), [false, true]);
        manager.memory.close();
    }

    /// It was killed anew by each manager, and told so in the history.
    #[test]
    fn who_is_told_of_late_is_no_job_again() {
        let late = [
            Record::Detached { job: 7 },
            Record::Queued { job: 7, spec: Box::default(), at: None },
            Record::Again { job: 7, attempt: 8, why: String::new(), at: None },
            Record::Done { status: Box::new(Status { id: 7, ..Status::default() }) },
        ];
        assert!(Read::of(late.to_vec()).told.is_empty());
    }

    #[test]
    fn what_an_earlier_attempt_had_to_say_is_not_told_of_the_next() {
        let rank = |instance| {
            let node = "n0".to_owned();
            vec![journal::Placed { node, local: 0, session: 1, instance }]
        };
        let placed = |job, instance| {
            let spec = Box::new(Spec { requeue: 3, ..Spec::default() });
            Record::Placed { job, spec, ranks: rank(instance) }
        };
        let why = || "n0 died".to_owned();
        let stamps = Stamps { allotted: Some(1.5), sent: Some(1.9), ..Stamps::default() };
        let started = |job| Record::Started { job, at: 2.0, up: 2.0, stamps };
        let read = Read::of(vec![
            Record::New { job: 7, user: 0, at: 1.0, view: None },
            placed(7, 1),
            started(7),
            Record::Ending { job: 7, end: End::Lost, exit: 125, why: why(), at_once: false },
            Record::Again { job: 7, attempt: 8, why: why(), at: Some(3.0) },
            // These were on their way.
            started(7),
            Record::Exited { job: 7, rank: 0, status: 9, why: None },
            placed(8, 2),
            Record::Exited { job: 7, rank: 0, status: 9, why: None },
        ]);
        let told = &read.told[&7];
        assert_eq!(read.told.len(), 1);
        assert_eq!((told.attempt, &told.requeued[..]), (Some(8), &[why()][..]));
        assert!(told.started.is_none() && told.ends.is_empty());
        assert_eq!(told.stamps, Stamps { queued: Some(3.0), ..Stamps::default() });
        assert_eq!(told.placed.as_ref().map(|(_, ranks)| ranks[0].instance), Some(2));
    }
}
