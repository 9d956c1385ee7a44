//! Which job starts when and where: schedulers behind one trait, without I/O and without a clock.
//!
//! [`Cluster`] is what there is: nodes, jobs that wait, jobs that run, partitions. What happens
//! changes it, and after every change [`Schedule::step`] asks the [`Scheduler`] which jobs start
//! now. A scheduler looks at what there is and not at what has happened, so it can be replaced at
//! any moment by another, which finds the same jobs waiting and running.
//!
//! All schedulers share the order of the queue (priority, then time of submission) and this rule:
//! a job that cannot start even on an empty cluster, since its nodes are down, slow, drained or
//! reserved for others just now, holds up nobody, unless that is soon over: a node that has just
//! gone mostly comes back, and `easy`, which knows how long jobs are, keeps nodes for one whose
//! reserved time ends within a day.

pub mod config;
mod easy;
mod fcfs;
mod gang;
mod obstacles;
mod partition;
mod share;
mod steps;
#[cfg(test)]
mod tests;

pub use config::Config;
pub use partition::{Partition, Window};

use crate::slots::Slots;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use steps::Steps;

/// Jobs that are named to one that waits behind them.
const NAMED: usize = 4;

/// How long a node that has gone is one that comes back, as far as those who wait for it are
/// concerned: its daemon is started again, or it has only stood still.
const BLIP: Duration = Duration::from_secs(60);

/// A moment, as time since 1970.
pub type Moment = Duration;

/// What a job asks for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ask {
    /// Its number.
    pub job: u32,
    /// How many nodes.
    pub nodes: usize,
    /// With how few it does while no more can take it; `None` is with no fewer.
    pub least: Option<usize>,
    /// The nodes that it may have, in the order in which they are taken; `None` is all.
    pub among: Option<Vec<u32>>,
    /// The nodes that it may not have.
    pub except: Vec<u32>,
    /// Whether the user has named these nodes, and their order; else they are its view's.
    pub is_named: bool,
    /// How long it runs at most.
    pub time: Option<Duration>,
    /// Higher ones go first.
    pub priority: i32,
    /// The partition that it is in.
    pub partition: Option<String>,
    /// The job in which it was started.
    pub within: Option<u32>,
    /// Whether it has run, lost a node and waits again: it goes before others of its priority.
    pub again: bool,
}

impl Ask {
    /// How many nodes it needs while so many can take it.
    fn need(&self, can: usize) -> usize {
        self.least.map_or(self.nodes, |least| self.nodes.min(can).max(least))
    }

    /// Whether a scheduler has the same to say of both, if nothing has started between them: so the
    /// jobs of an array, which mostly wait one behind the other, cost no more than one of them.
    fn is_like(&self, other: &Ask) -> bool {
        let size = |ask: &Ask| (ask.nodes, ask.least, ask.time);
        let is_there = self.among == other.among && self.except == other.except;
        size(self) == size(other) && is_there && self.partition == other.partition
    }
}

/// A job that is to start, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Start {
    /// The job.
    pub job: u32,
    /// Its nodes.
    pub nodes: Vec<u32>,
}

/// A way to choose which jobs start.
pub trait Scheduler: Send {
    /// The jobs that start now, and where; all of them at once.
    fn choose(&mut self, cluster: &Cluster) -> Vec<Start>;

    /// What room there is among some nodes, in words.
    fn room(&self, cluster: &Cluster, nodes: &[u32]) -> String {
        let busy = cluster.busy();
        format!("{} free", nodes.iter().filter(|node| !busy.contains_key(node)).count())
    }

    /// The table by which jobs take turns, the jobs chosen last among them.
    fn slots(&self) -> Slots {
        Slots::default()
    }

    /// Whether nodes are nobody's own: no job waits for another's.
    fn shares(&self) -> bool {
        false
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct Condition {
    up: bool,
    drained: bool,
    /// Since when it is not up, if it ever was.
    gone: Option<Moment>,
}

impl Condition {
    /// Until when it is to come back, if it is gone.
    fn back(&self) -> Option<Moment> {
        self.gone.map(|gone| gone + BLIP)
    }
}

/// A job that runs.
#[derive(Debug, Clone)]
pub struct Running {
    ask: Ask,
    nodes: Vec<u32>,
    /// From when its time counts; until its programs run, when it was given its nodes.
    since: Moment,
}

impl Running {
    /// When it will have ended: not known without a time.
    fn end(&self) -> Option<Moment> {
        Some(self.since + self.ask.time?)
    }
}

/// What a scheduler looks at.
#[derive(Debug, Default)]
pub struct Cluster {
    now: Moment,
    nodes: BTreeMap<u32, Condition>,
    running: BTreeMap<u32, Running>,
    /// In the order in which they are to start.
    pending: Vec<Ask>,
    partitions: BTreeMap<String, Partition>,
    /// How often it was asked on which nodes a job could run.
    #[cfg(test)]
    looks: std::cell::Cell<usize>,
}

impl Cluster {
    /// The partition that a job is in and that is not there any more.
    fn missing<'a>(&self, ask: &'a Ask) -> Option<&'a str> {
        ask.partition.as_deref().filter(|name| !self.partitions.contains_key(*name))
    }

    /// Whether a job may have a node by its partition and by what it excludes.
    fn is_open(&self, ask: &Ask, node: u32) -> bool {
        let part = ask.partition.as_ref().map(|name| self.partitions.get(name));
        let is_in = part.is_none_or(|part| part.is_some_and(|part| part.has(node)));
        is_in && !ask.except.contains(&node)
    }

    /// The same, and by what it names.
    fn is_asked(&self, ask: &Ask, node: u32) -> bool {
        let is_meant = ask.among.as_ref().is_none_or(|nodes| nodes.contains(&node));
        is_meant && self.is_open(ask, node)
    }

    /// The nodes that a job may have and that are fit for it, in the order in which it takes them.
    /// A job whose partition was deleted has none: what it asked for was not the whole cluster.
    fn open(&self, ask: &Ask, is_fit: impl Fn(&Condition) -> bool) -> Vec<u32> {
        #[cfg(test)]
        self.looks.set(self.looks.get() + 1);
        let is_there = |node: &u32| self.nodes.get(node).is_some_and(|c| !c.drained && is_fit(c));
        let fits = |node: &u32| is_there(node) && self.is_open(ask, *node);
        match &ask.among {
            Some(nodes) => nodes.iter().copied().filter(fits).collect(),
            None => self.nodes.keys().copied().filter(fits).collect(),
        }
    }

    /// The nodes on which a job could run if no other job were there and nothing reserved.
    fn reach(&self, ask: &Ask) -> Vec<u32> {
        self.open(ask, |node| node.up)
    }

    /// Whether a node is there.
    fn is_up(&self, node: u32) -> bool {
        self.nodes.get(&node).is_some_and(|condition| condition.up)
    }

    /// The same, and those that have gone a moment ago.
    fn soon(&self, ask: &Ask) -> Vec<u32> {
        self.open(ask, |node| node.up || node.back().is_some_and(|back| back > self.now))
    }

    /// Those within [`reach`](Cluster::reach) that are not reserved for others while it would run
    /// from `at` on.
    fn candidates(&self, ask: &Ask, at: Moment) -> Vec<u32> {
        self.unreserved(ask, self.reach(ask), at)
    }

    /// The same, and those that have gone a moment ago.
    fn candidates_soon(&self, ask: &Ask, at: Moment) -> Vec<u32> {
        self.unreserved(ask, self.soon(ask), at)
    }

    fn unreserved(&self, ask: &Ask, mut nodes: Vec<u32>, at: Moment) -> Vec<u32> {
        nodes.retain(|node| self.reserved_for_others(ask, *node, at).is_none());
        nodes
    }

    /// The nodes that nobody may have who comes behind a job that waits: all that it could have, if
    /// these were enough on an empty cluster.
    fn kept_for(&self, ask: &Ask) -> Vec<u32> {
        let nodes = self.candidates_soon(ask, self.now);
        if nodes.len() < ask.need(nodes.len()) { Vec::new() } else { nodes }
    }

    /// For which partition a node is reserved and when, if it is while a job of none of it would
    /// run from `at` on.
    fn reserved_for_others(&self, ask: &Ask, node: u32, at: Moment) -> Option<(&str, &Window)> {
        let others =
            self.partitions.iter().filter(|(name, _)| Some(*name) != ask.partition.as_ref());
        let mut others = others.filter(|(_, other)| other.has(node));
        others.find_map(|(name, other)| Some((name.as_str(), other.reservation(at, ask.time)?)))
    }

    /// When each time ends next after `at` for which nodes are reserved.
    fn reserved_ends(&self, at: Moment) -> impl Iterator<Item = Moment> {
        self.partitions.values().flat_map(move |part| part.ends(at))
    }

    /// Nodes on which a job runs, and when the last one there will have ended.
    fn busy(&self) -> BTreeMap<u32, Option<Moment>> {
        let mut busy: BTreeMap<u32, Option<Moment>> = BTreeMap::new();
        for job in self.running.values() {
            let end = job.end();
            for node in &job.nodes {
                let last = busy.entry(*node).or_insert(end);
                *last = last.zip(end).map(|(one, other)| one.max(other));
            }
        }
        busy
    }

    /// The first jobs that wait before one, for some of these nodes: some more than are named.
    fn ahead(&self, of: usize, nodes: &BTreeSet<u32>) -> Vec<u32> {
        // Of many that wait one behind the other most are like the one before them.
        let mut last: Option<(&Ask, bool)> = None;
        let mut ahead = Vec::new();
        for one in &self.pending[..of] {
            let known = last.filter(|(other, _)| other.is_like(one)).map(|(_, is_rival)| is_rival);
            let is_rival =
                known.unwrap_or_else(|| self.reach(one).iter().any(|node| nodes.contains(node)));
            last = Some((one, is_rival));
            ahead.extend(is_rival.then_some(one.job));
            if ahead.len() > NAMED {
                break;
            }
        }
        ahead
    }

    fn rank(&self, ask: &Ask) -> i64 {
        let part = ask.partition.as_ref().and_then(|name| self.partitions.get(name));
        i64::from(ask.priority) + part.map_or(0, |part| i64::from(part.priority))
    }

    /// What orders those that wait; whose is the same go as they came.
    fn place(&self, ask: &Ask) -> (Reverse<i64>, bool, u32) {
        let number = if ask.again { ask.job } else { 0 };
        (Reverse(self.rank(ask)), !ask.again, number)
    }
}

/// The schedule of a cluster: what there is, and who chooses.
pub struct Schedule {
    cluster: Cluster,
    config: Config,
    scheduler: Box<dyn Scheduler>,
    steps: Steps,
    is_held: bool,
}

impl Default for Schedule {
    fn default() -> Schedule {
        let config = Config::default();
        let (cluster, steps) = (Cluster::default(), Steps::default());
        Schedule { cluster, scheduler: config.scheduler(), config, steps, is_held: false }
    }
}

impl Schedule {
    /// What is set.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Lets another scheduler choose from now on. Jobs that run do so where they are.
    pub fn set_config(&mut self, config: Config) {
        self.scheduler = config.scheduler();
        self.config = config;
        self.sort_out();
    }

    /// A job waits from now on. Behind all that have its priority; one that waits again only behind
    /// those of them that do so, too, and have been there before it.
    pub fn submit(&mut self, ask: Ask) {
        let place = self.cluster.place(&ask);
        let at = self.cluster.pending.partition_point(|one| self.cluster.place(one) <= place);
        self.cluster.pending.insert(at, ask);
    }

    /// A job runs already, since before this schedule was.
    pub fn runs(&mut self, ask: Ask, nodes: Vec<u32>, since: Moment) {
        self.cluster.running.insert(ask.job, Running { ask, nodes, since });
        self.sort_out();
    }

    /// There are steps where nodes are a job's own. Where they are shared the scheduler counts all.
    fn sort_out(&mut self) {
        match self.scheduler.shares() {
            true => self.steps.release(&mut self.cluster),
            false => self.steps.find(&mut self.cluster),
        }
    }

    /// The clock was set: what was at `from` by it is at `to` now. Jobs run no longer for that.
    pub fn clock_set(&mut self, from: Moment, to: Moment) {
        for job in self.cluster.running.values_mut().chain(self.steps.running_mut()) {
            job.since = (job.since + to).saturating_sub(from);
        }
        for gone in self.cluster.nodes.values_mut().filter_map(|node| node.gone.as_mut()) {
            *gone = (*gone + to).saturating_sub(from);
        }
    }

    /// The time of a job that has its nodes counts from then: it has begun only now, say.
    pub fn counts_from(&mut self, job: u32, since: Moment) {
        if let Some(running) = self.running_mut(job) {
            running.since = since;
        }
    }

    /// How long a job that has its nodes may run: a step no longer than the job around it.
    pub fn time(&mut self, job: u32) -> Option<Duration> {
        self.running_mut(job)?.ask.time
    }

    fn running_mut(&mut self, job: u32) -> Option<&mut Running> {
        let step = self.steps.running_mut().find(|step| step.ask.job == job);
        self.cluster.running.get_mut(&job).or(step)
    }

    /// A job waits or runs no more.
    pub fn ended(&mut self, job: u32) {
        self.cluster.pending.retain(|ask| ask.job != job);
        self.cluster.running.remove(&job);
        self.steps.ended(job, &mut self.cluster);
    }

    /// A job goes on without these of its nodes.
    pub fn gives_up(&mut self, job: u32, nodes: &BTreeSet<u32>) {
        if let Some(running) = self.running_mut(job) {
            running.nodes.retain(|node| !nodes.contains(node));
        }
    }

    /// What time it is: what is told next has happened now.
    pub fn set_now(&mut self, now: Moment) {
        self.cluster.now = now;
    }

    /// A node is there or not.
    pub fn set_up(&mut self, node: u32, up: bool) {
        let now = self.cluster.now;
        let condition = self.cluster.nodes.entry(node).or_default();
        condition.gone = if condition.up { Some(now) } else { condition.gone }.filter(|_| !up);
        condition.up = up;
    }

    /// A node gets no jobs, or gets jobs again.
    pub fn set_drained(&mut self, node: u32, drained: bool) {
        self.cluster.nodes.entry(node).or_default().drained = drained;
    }

    /// All partitions that there are from now on.
    pub fn set_partitions(&mut self, partitions: BTreeMap<String, Partition>) {
        let cluster = &mut self.cluster;
        cluster.partitions = partitions;
        let mut pending = std::mem::take(&mut cluster.pending);
        pending.sort_by_key(|ask| cluster.place(ask));
        cluster.pending = pending;
    }

    /// From now on no job starts, or jobs start again. Those that run go on, by turns as before.
    pub fn hold(&mut self, is_held: bool) {
        self.is_held = is_held;
    }

    /// Whether no job starts.
    pub fn is_held(&self) -> bool {
        self.is_held
    }

    /// The jobs that start now, from here on counted as running.
    pub fn step(&mut self, now: Moment) -> Vec<Start> {
        self.set_now(now);
        let cluster = &mut self.cluster;
        if self.is_held {
            // Who takes turns has to be told of those that run all the same.
            let pending = std::mem::take(&mut cluster.pending);
            self.scheduler.choose(cluster);
            cluster.pending = pending;
            return Vec::new();
        }
        let steps = if self.scheduler.shares() { Vec::new() } else { self.steps.start(cluster) };
        let starts = self.scheduler.choose(cluster);
        let chosen: BTreeMap<u32, &Vec<u32>> =
            starts.iter().map(|start| (start.job, &start.nodes)).collect();
        if chosen.is_empty() {
            return steps;
        }
        for ask in std::mem::take(&mut cluster.pending) {
            match chosen.get(&ask.job) {
                Some(nodes) => {
                    let nodes = (*nodes).clone();
                    cluster.running.insert(ask.job, Running { ask, nodes, since: now });
                }
                None => cluster.pending.push(ask),
            }
        }
        [steps, starts].concat()
    }

    /// The table by which jobs take turns.
    pub fn slots(&self) -> Slots {
        let mut slots = self.scheduler.slots();
        self.steps.join(&mut slots);
        slots
    }

    /// The next moment at which a job that waits may start though nothing happens.
    pub fn next(&self) -> Option<Moment> {
        let Cluster { now, nodes, partitions, pending, .. } = &self.cluster;
        let edges = partitions.values().filter_map(|part| part.edge(*now));
        // Nobody waits for nodes any longer that have not come back by then.
        let gone = nodes.values().filter_map(Condition::back).filter(|back| back > now);
        edges.chain(gone).min().filter(|_| !pending.is_empty())
    }

    /// The job on whose nodes one runs, if it is a step.
    pub fn host(&self, job: u32) -> Option<u32> {
        self.steps.host_of(job)
    }

    /// The jobs that wait, in the order in which they are to start.
    #[cfg(test)]
    pub fn waiting(&self) -> Vec<u32> {
        self.cluster.pending.iter().map(|ask| ask.job).collect()
    }

    /// Why a job waits: `4 nodes asked, 2 free; ahead of it: job 3`. `name` knows what a node of a
    /// number is called. Jobs that its owner does not see are not named.
    pub fn reason(
        &self,
        job: u32,
        name: impl Fn(u32) -> String,
        is_seen: impl Fn(u32) -> bool,
    ) -> Option<String> {
        let cluster = &self.cluster;
        let at = cluster.pending.iter().position(|ask| ask.job == job)?;
        let ask = &cluster.pending[at];
        if let Some(part) = cluster.missing(ask) {
            return Some(format!("its partition {part} was deleted"));
        }
        let candidates = cluster.candidates(ask, cluster.now);
        let need = ask.need(candidates.len());
        let s = if need == 1 { "" } else { "s" };
        let asked = format!("{need} node{s} asked");
        if candidates.len() < need {
            let can = candidates.len();
            let others = cluster.obstacles(ask, name);
            let others = if others.is_empty() { "there are no others".to_owned() } else { others };
            // Who says that he is soon gone may have some of those: nobody would know but for this.
            let brief = Ask { time: Some(Duration::from_secs(1)), ..ask.clone() };
            let more = cluster.candidates(&brief, cluster.now).len();
            let hint = format!(" (with a --time that ends before that, {more} can)");
            let hint = if more > can { hint } else { String::new() };
            return Some(format!("{asked}, {can} can take it; {others}{hint}"));
        }
        let room = self.scheduler.room(cluster, &candidates);
        let reach: BTreeSet<u32> = candidates.into_iter().collect();
        let ahead = cluster.ahead(at, &reach);
        let named = ahead.iter().take(NAMED).filter(|job| is_seen(**job));
        let named: Vec<String> = named.map(u32::to_string).collect();
        let more = if ahead.len() > named.len() { " and more" } else { "" };
        let ahead = match named.len() {
            0 if ahead.is_empty() => String::new(),
            0 => "; ahead of it: others".to_owned(),
            1 => format!("; ahead of it: job {}{more}", named[0]),
            _ => format!("; ahead of it: jobs {}{more}", named.join(", ")),
        };
        let host = self.steps.host(ask, cluster).zip(ask.within);
        let host = host.map(|(host, number)| {
            format!("; job {number}, in which it was started, has {}", host.nodes.len())
        });
        Some(format!("{asked}, {room}{ahead}{}", host.unwrap_or_default()))
    }
}
