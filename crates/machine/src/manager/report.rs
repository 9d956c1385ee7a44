//! What nodes report of their ranks: see [`crate::launch`].

use super::Manager;
use super::follow;
use super::hold;
use super::job::Job;
use super::journal::Record;
use super::log::JobLog;
use super::spec::Phase;
use crate::launch::{Report, What, exit_in};
use crate::memory::{Memory, name_of};
use crate::output::Output;
use crate::usage::Usage;
use muster_ninep::error::Errno;
use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};
use std::sync::{Arc, Weak};
use std::time::Instant;

/// Reports that are taken together at most, beside the first.
const TOGETHER: usize = 255;

/// Takes reports until there are no more.
pub(super) fn listen(manager: &Arc<Manager>, memory: &Arc<Memory>) -> io::Result<()> {
    let (manager, memory) = (Arc::downgrade(manager), memory.clone());
    let thread = std::thread::Builder::new().name("reports".into());
    thread.spawn(move || take_all(&manager, &memory)).map(drop)
}

fn take_all(manager: &Weak<Manager>, memory: &Memory) {
    while let Some(letter) = memory.next() {
        let Some(manager) = manager.upgrade() else { return };
        // What came meanwhile is written down, and acted upon, together.
        let others = std::iter::from_fn(|| memory.next_there()).take(TOGETHER);
        let mut told = BTreeMap::new();
        for letter in std::iter::once(letter).chain(others) {
            match Report::read(&letter) {
                Ok((report, output)) => sort(report, output, &mut told),
                Err(error) => {
                    let _ = writeln!(io::stderr(), "a node's report cannot be read: {error}");
                }
            }
        }
        for (job, heard) in told {
            if let Some(job) = manager.attempt(job) {
                job.heard(heard);
            }
        }
    }
}

/// Takes a report apart, by job.
fn sort(report: Report, mut output: &[u8], told: &mut BTreeMap<u32, Vec<Heard>>) {
    for said in report.said {
        let mut cut = |length: usize| {
            let (part, rest) = output.split_at(length);
            output = rest;
            part.to_vec()
        };
        let output = match said.what {
            What::Ended { stdout, stderr, .. } => [cut(stdout), cut(stderr)],
            _ => Default::default(),
        };
        let (rank, instance) = (said.rank, report.instance);
        told.entry(said.job).or_default().push(Heard { rank, instance, what: said.what, output });
    }
}

/// What a rank has said, with its stdout and stderr.
pub(super) struct Heard {
    pub(super) rank: usize,
    instance: u64,
    pub(super) what: What,
    output: [Vec<u8>; 2],
}

/// A rank's program has ended.
struct Ended {
    rank: usize,
    status: i32,
    usage: Option<Usage>,
    output: [Vec<u8>; 2],
}

impl Job {
    /// Ranks have said something. Before the job counts as started it is kept for then.
    fn heard(self: &Arc<Job>, heard: Vec<Heard>) {
        let (mut lacking, mut news) = (Vec::new(), Vec::new());
        let mut state = self.state();
        for heard in heard {
            let rank = heard.rank;
            let reads = state.spec.as_ref().is_some_and(|spec| spec.stdin.includes(rank));
            // One that reads is waited for.
            let is_awaited = reads && matches!(heard.what, What::Follow { .. });
            if matches!(heard.what, What::Unpacks) {
                state.came_on = Some(Instant::now());
                // Who waits to send files waits for jobs such as this one.
                self.manager.upgrade().iter().for_each(|manager| manager.shipments.moved());
            } else if state.progress.phase() == Phase::Starting && !is_awaited {
                state.early.push(heard);
            } else if matches!(heard.what, What::Lacks { .. }) {
                // A count overtakes what was said before it: of a round before the last, say.
                lacking.extend(Some(rank).filter(|_| !state.has_files));
            } else if state.instances.get(rank) == Some(&heard.instance) && state.claim(rank) {
                // Not of a session before this one, nor twice, nor of one that is followed by now.
                news.push(heard);
            }
        }
        drop(state);
        self.changed.notify_all();
        lacking.into_iter().for_each(|rank| self.lacks_late(rank));
        let mut ended = Vec::new();
        for Heard { rank, what, output, .. } in news {
            match what {
                What::Lacks { .. } | What::Unpacks => {}
                What::Failed { why } => {
                    // The first that failed is why the job has.
                    self.have_ended(std::mem::take(&mut ended));
                    self.failed_to_run(rank, &why);
                }
                What::Follow { pid } => self.begin_to_follow(rank, pid),
                What::Ended { status, usage, .. } => {
                    ended.push(Ended { rank, status, usage: Usage::parse(&usage), output });
                }
            }
        }
        self.have_ended(ended);
    }

    /// What ranks have said while the job was being started.
    pub(super) fn hear_early(self: &Arc<Job>) {
        let early = std::mem::take(&mut self.state().early);
        self.heard(early);
    }

    /// A node lacks parts of the job's files, and the job runs, or is being ended: nobody gives
    /// them any more, so its ranks there do not run.
    fn lacks_late(self: &Arc<Job>, rank: usize) {
        let state = self.state();
        let ranks = state.progress.ranks();
        let Some(node) = ranks.get(rank).map(|one| one.node.clone()) else { return };
        let there = ranks.iter().filter(|one| one.node == node).map(|one| one.rank);
        let there: Vec<usize> = there.collect();
        drop(state);
        let why = format!("{node} has dropped parts of the job's files  [E205, exit 125]");
        there.into_iter().for_each(|rank| self.failed_to_run(rank, &why));
    }

    pub(super) fn failed_to_run(self: &Arc<Job>, rank: usize, why: &str) {
        if !self.state().is_awaited(rank) {
            return;
        }
        if let Some(manager) = self.manager.upgrade() {
            let (job, status) = (self.attempt, raw_of(why));
            let why = Some(why.to_owned());
            let _ = manager.record(&[Record::Exited { job, rank, status, why }]);
        }
        self.has_failed(rank, why);
    }

    /// The same, when the journal has it already.
    pub(super) fn has_failed(self: &Arc<Job>, rank: usize, why: &str) {
        if !self.state().is_awaited(rank) {
            return;
        }
        if let Some(placed) = self.placed.get() {
            placed.log.end(Output::BOTH.map(|output| (rank, output)));
        }
        self.tell_exits(&[(rank, raw_of(why))]);
        let mut state = self.state();
        let actions = state.progress.rank_failed(rank, exit_in(why), why);
        self.act(state, actions);
    }

    fn begin_to_follow(self: &Arc<Job>, rank: usize, pid: Option<u32>) {
        let (node, session) = {
            let mut state = self.state();
            if let Some(pid) = pid {
                state.progress.pid(rank, pid);
            }
            let told = &state.progress.ranks()[rank];
            (told.node.clone(), told.session)
        };
        let Some(manager) = self.manager.upgrade() else { return };
        // Who watches the connection says why it is gone, and that its ranks are.
        let Ok(link) = manager.nodes.link(&node) else {
            return self.follow_when_joined(&node, rank);
        };
        let job = self.clone();
        hold::take(&link.clone(), session, self.reads(rank), move |hold| match hold {
            Ok(hold) => {
                let mut state = job.state();
                if state.progress.is_closed(rank) {
                    return;
                }
                state.holds[rank] = Some(hold.clone());
                let ending = state.killing;
                drop(state);
                job.changed.notify_all();
                follow::rank(&job, rank, &link, session);
                if ending {
                    hold.command(&job, "end\n");
                }
            }
            Err(_) if link.client.ended().is_some() => {}
            Err(error) if error.errno == Errno::AGAIN => {
                job.later(hold::PAUSE, move |job| job.begin_to_follow(rank, pid));
            }
            Err(error) => job.rank_lost(rank, &error.to_string()),
        });
    }

    /// After a restart nodes may report before they have joined: they are followed then.
    fn follow_when_joined(self: &Arc<Job>, node: &str, rank: usize) {
        {
            let mut state = self.state();
            if !state.is_restored {
                return;
            }
            state.unclaim(rank);
        }
        // It may have joined just now, and have been told that the rank is taken.
        let manager = self.manager.upgrade();
        if let Some(link) = manager.and_then(|manager| manager.nodes.link(node).ok()) {
            self.node_joined(&link);
        }
    }

    /// A rank's program has ended. If nobody waits for that any more, it is not told: who waits for
    /// a rank waits for that of the next attempt by then.
    pub(super) fn exited(self: &Arc<Job>, rank: usize, raw: i32) {
        if self.state().is_awaited(rank) {
            self.note_exits(&[(rank, raw)]);
            self.has_exited(rank, raw);
        }
    }

    /// The same, when the journal has it already.
    pub(super) fn has_exited(self: &Arc<Job>, rank: usize, raw: i32) {
        if !self.state().is_awaited(rank) {
            return;
        }
        self.tell_exits(&[(rank, raw)]);
        let mut state = self.state();
        let actions = state.progress.rank_exited(rank, raw);
        self.act(state, actions);
    }

    /// Writes down how programs of ranks have ended.
    pub(super) fn note_exits(&self, exits: &[(usize, i32)]) {
        let job = self.attempt;
        let record = |&(rank, status): &_| Record::Exited { job, rank, status, why: None };
        if let Some(manager) = self.manager.upgrade() {
            let _ = manager.record(&exits.iter().map(record).collect::<Vec<_>>());
        }
    }

    /// The same of ranks all of whose output is here. Where their log does not tell that before the
    /// job is over, the manager after this one has it from the journal.
    fn note_ends(&self, exits: &[(usize, i32)], ended: &[Ended]) {
        if self.placed.get().is_none_or(|placed| placed.log.has_ended(0).is_some()) {
            return self.note_exits(exits);
        }
        let job = self.attempt;
        let usages: HashMap<_, _> = ended.iter().map(|one| (one.rank, one.usage)).collect();
        let exits = exits.iter().flat_map(|&(rank, status)| {
            let usage = usages[&rank];
            let exited = Record::Exited { job, rank, status, why: None };
            [exited, Record::Closed { job, rank, usage }]
        });
        if let Some(manager) = self.manager.upgrade() {
            let _ = manager.record(&exits.collect::<Vec<_>>());
        }
    }

    /// Tells it to who waits for these ranks, and reads them.
    pub(super) fn tell_exits(&self, exits: &[(usize, i32)]) {
        let Some(placed) = self.placed.get() else { return };
        placed.waits.set(exits);
        placed.log.ranks_ended(exits.iter().map(|(rank, _)| *rank));
    }

    /// Programs of ranks have ended, and all else of these is gone.
    fn have_ended(self: &Arc<Job>, ended: Vec<Ended>) {
        if ended.is_empty() {
            return;
        }
        if let Some(placed) = self.placed.get() {
            for Ended { rank, output, .. } in &ended {
                self.take_output(&placed.log, *rank, output);
            }
            let streams = |one: &Ended| Output::BOTH.map(|stream| (one.rank, stream));
            placed.log.end(ended.iter().flat_map(streams));
        }
        let exits: Vec<(usize, i32)> = {
            let state = self.state();
            let awaited = ended.iter().filter(|one| state.is_awaited(one.rank));
            awaited.map(|one| (one.rank, one.status)).collect()
        };
        self.note_ends(&exits, &ended);
        self.tell_exits(&exits);
        let mut state = self.state();
        let progress = &mut state.progress;
        let mut actions = Vec::new();
        for (rank, raw) in exits {
            actions.extend(progress.rank_exited(rank, raw));
        }
        for Ended { rank, usage, .. } in ended {
            progress.used(rank, usage);
            actions.extend(progress.rank_closed(rank));
        }
        self.act(state, actions);
    }

    fn take_output(self: &Arc<Job>, log: &JobLog, rank: usize, output: &[Vec<u8>; 2]) {
        for (stream, bytes) in Output::BOTH.into_iter().zip(output) {
            if bytes.is_empty() {
                continue;
            }
            // A manager before this one may have some of it written down, and died over the rest.
            let known = usize::try_from(log.end_of(rank, stream)).unwrap_or(usize::MAX);
            if let Some(new @ [_, ..]) = bytes.get(known..) {
                // What cannot be kept ends the job; how this rank has ended is known all the same.
                self.wrote(rank, stream, new);
            }
        }
    }
}

/// How a program has ended, as a shell would have it, that could not be run: a raw status.
pub(super) fn raw_of(why: &str) -> i32 {
    i32::from(exit_in(why)) << 8
}

/// What an error of the global memory is to a job.
pub(super) fn errno(error: &muster_fabric::Error) -> Errno {
    match error {
        muster_fabric::Error::Dead { .. } => Errno::HOSTDOWN,
        _ => Errno::IO,
    }
}

/// Whom an error of the global memory names, as users know nodes.
pub(super) fn said(error: &muster_fabric::Error) -> String {
    let text = error.to_string();
    match error {
        muster_fabric::Error::Dead { peer, .. } => {
            let node = peer.strip_prefix("node ").and_then(|number| number.parse().ok());
            let name = node.map(|number| name_of(muster_fabric::protocol::NodeId(number)));
            format!("{} has left the cluster", name.unwrap_or_else(|| peer.clone()))
        }
        _ => text,
    }
}
