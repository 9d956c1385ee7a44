//! What there is and what it uses, now: nodes, jobs that are not done, ranks. Nobody keeps it: when
//! somebody reads it, each node that matters is asked once, by one file, and those that have not
//! answered in time are left out and named.

use super::Manager;
use super::job::Job;
use super::nodes::Link;
use super::spec::{Phase, RankPhase, RankStatus, Status};
use super::views::Scope;
use crate::files::latch::Latch;
use crate::slots::Slots;
use crate::usage::{NodeUsage, Usage};
use muster_ninep::client::Fid;
use muster_ninep::synthetic::{Entry, File};
use muster_ninep::tree::OpenFlags;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

/// How long nodes may take to tell. Whoever asks waits 2 s for the manager.
const PATIENCE: Duration = Duration::from_secs(1);

/// What files are opened for: reading.
const READ: u32 = 0;

/// The cluster, as its `usage` tells.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Overview {
    /// When, seconds since 1970.
    pub at: f64,
    /// All nodes that have ever joined.
    pub nodes: Vec<NodeOverview>,
    /// All jobs that are not done, without their ranks.
    pub jobs: Vec<Status>,
    /// The table by which jobs take turns, where they do.
    pub slots: Option<Slots>,
}

/// A node.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct NodeOverview {
    /// Its name.
    pub name: String,
    /// `up`, `slow` or `down`.
    pub state: String,
    /// Why it is slow or down, or tells nothing.
    pub why: Option<String>,
    /// Why it gets no jobs, if it gets none.
    pub drained: Option<String>,
    /// Processors.
    pub cpus: Option<u64>,
    /// Load average of one minute.
    pub load: Option<f64>,
    /// Bytes of memory.
    pub mem_total: Option<u64>,
    /// Those that are free, or could be.
    pub mem_available: Option<u64>,
    /// Ranks that run there.
    pub ranks: usize,
    /// Microseconds of processor time that ranks there have used since the manager was started,
    /// those that have ended included, as far as it is known.
    pub cpu_us: u64,
    /// What of them is resident, in KiB.
    pub rss_kib: u64,
}

/// A job and its ranks, as its `usage` tells.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct JobUsage {
    /// Its number.
    pub id: u32,
    /// Where it is in its life.
    pub state: Phase,
    /// What all ranks of whom it is known have used.
    pub usage: Option<Usage>,
    /// By rank.
    pub ranks: Vec<RankUsage>,
}

/// A rank.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RankUsage {
    /// Its number.
    pub rank: usize,
    /// Its node.
    pub node: String,
    /// Where it is in its life.
    pub state: RankPhase,
    /// What it has used, if that is known.
    pub usage: Option<Usage>,
}

/// What nodes have told; none of one that has not.
type Told = BTreeMap<String, Option<NodeUsage>>;

/// Microseconds by the view of jobs, if they are of one.
type ByView = HashMap<Option<Arc<str>>, u64>;

/// Processor time that jobs have used that are over, by node.
#[derive(Default)]
pub(super) struct Spent(Mutex<HashMap<String, ByView>>);

impl Spent {
    /// A job is over, or an attempt at it.
    pub(super) fn add(&self, view: Option<&Arc<str>>, ranks: &[RankStatus]) {
        let mut all = self.0.lock().expect("no holder panics");
        for (rank, usage) in ranks.iter().filter_map(|rank| Some((rank, rank.usage?))) {
            let of_node = all.entry(rank.node.clone()).or_default();
            *of_node.entry(view.cloned()).or_default() += usage.cpu_us();
        }
    }

    /// At a node, by the jobs of a view or by all.
    fn at(&self, node: &str, view: Option<&Arc<str>>) -> u64 {
        let all = self.0.lock().expect("no holder panics");
        let of_node = all.get(node).into_iter().flatten();
        let seen = of_node.filter(|(of, _)| view.is_none() || of.as_ref() == view);
        seen.map(|(_, used)| used).sum()
    }
}

/// The file of the cluster.
pub(super) fn file(scope: &Scope) -> Entry {
    let scope = scope.clone();
    File::new(0o444, move |_| {
        let manager = scope.manager()?;
        let mut nodes = manager.nodes.by_state().up;
        nodes.retain(|name| scope.has_node(name));
        let scope = scope.clone();
        Ok(asked(&manager, &nodes, move |told| {
            let all = scope.manager().map(|manager| overview(&manager, &scope, told));
            serde_json::to_string(&all.unwrap_or_default()).unwrap_or_default()
        }))
    })
    .entry()
}

/// The file of a job.
pub(super) fn file_of(job: &Arc<Job>) -> Entry {
    let job = job.clone();
    File::new(0o444, move |_| {
        let (manager, job) = (job.manager()?, job.latest());
        let status = job.status();
        let live = status.ranks.iter().filter(|rank| rank.usage.is_none());
        let mut nodes: Vec<String> = live.map(|rank| rank.node.clone()).collect();
        nodes.sort_unstable();
        nodes.dedup();
        Ok(asked(&manager, &nodes, move |told| {
            serde_json::to_string(&usage_of(&job, told)).unwrap_or_default()
        }))
    })
    .entry()
}

/// A text that is known once nodes have been asked.
fn asked(
    manager: &Arc<Manager>,
    nodes: &[String],
    text: impl FnOnce(&Told) -> String + Send + 'static,
) -> Latch {
    let latch = Latch::default();
    let later = latch.clone();
    let links = nodes.iter().filter_map(|node| manager.nodes.link(node).ok()).collect();
    gather(manager, links, move |told| later.set(text(told) + "\n"));
    latch
}

type Then = Box<dyn FnOnce(&Told) + Send>;

/// Answers that come in, and what is done with them when all are there or the time is over.
struct Gathering {
    open: usize,
    told: Told,
    then: Option<Then>,
}

impl Gathering {
    fn finish(gathering: &Mutex<Gathering>, answer: Option<(String, NodeUsage)>, is_over: bool) {
        let mut now = gathering.lock().expect("no holder panics");
        if let Some((node, usage)) = answer {
            now.told.insert(node, Some(usage));
        }
        if !is_over {
            now.open -= 1;
        }
        let then = if is_over || now.open == 0 { now.then.take() } else { None };
        let Some(then) = then else { return };
        let told = std::mem::take(&mut now.told);
        drop(now);
        then(&told);
    }
}

/// Asks nodes what they use.
fn gather(
    manager: &Arc<Manager>,
    links: Vec<Arc<Link>>,
    then: impl FnOnce(&Told) + Send + 'static,
) {
    if links.is_empty() {
        return then(&Told::new());
    }
    let told = links.iter().map(|link| (link.name.clone(), None)).collect();
    let gathering = Gathering { open: links.len(), told, then: Some(Box::new(then)) };
    let gathering = Arc::new(Mutex::new(gathering));
    let over = gathering.clone();
    let timer = Arc::downgrade(manager);
    let key = manager.timer.after(PATIENCE, move || Gathering::finish(&over, None, true));
    let key = Arc::new(Unneeded { timer, key });
    for link in links {
        let (gathering, name, key) = (gathering.clone(), link.name.clone(), key.clone());
        ask(&link, move |usage| {
            Gathering::finish(&gathering, usage.map(|usage| (name, usage)), false);
            drop(key);
        });
    }
}

/// Has the timer forget the end of the time when all have answered.
struct Unneeded {
    timer: Weak<Manager>,
    key: super::timer::Key,
}

impl Drop for Unneeded {
    fn drop(&mut self) {
        if let Some(manager) = self.timer.upgrade() {
            manager.timer.cancel(self.key);
        }
    }
}

/// Asks a node what it uses.
fn ask(link: &Link, then: impl FnOnce(Option<NodeUsage>) + Send + 'static) {
    link.client.root().walk_then(&[b"usage"], move |answer| match answer {
        Ok((_, Some(fid))) => {
            let opened = fid.clone();
            fid.open_then(OpenFlags(READ), move |answer| match answer {
                Ok(_) => read_on(opened, Vec::new(), then),
                Err(_) => then(None),
            });
        }
        _ => then(None),
    });
}

fn read_on(fid: Fid, mut bytes: Vec<u8>, then: impl FnOnce(Option<NodeUsage>) + Send + 'static) {
    let (offset, most) = (bytes.len() as u64, fid.max_data());
    fid.clone().read_then(offset, most, move |answer| match answer {
        Ok([]) => then(NodeUsage::parse(&String::from_utf8_lossy(&bytes))),
        Ok(more) => {
            bytes.extend_from_slice(more);
            read_on(fid, bytes, then);
        }
        Err(_) => then(None),
    });
}

/// What a rank has used: as it was told at its end, or as its node tells now.
fn used(rank: &RankStatus, told: &Told) -> Option<Usage> {
    rank.usage.or_else(|| told.get(&rank.node)?.as_ref()?.sessions.get(&rank.session).copied())
}

fn usage_of(job: &Job, told: &Told) -> JobUsage {
    let Status { id, state, ranks, .. } = job.status();
    let one = |rank: &RankStatus| RankUsage {
        rank: rank.rank,
        node: rank.node.clone(),
        state: rank.state,
        usage: used(rank, told),
    };
    let ranks: Vec<RankUsage> = ranks.iter().map(one).collect();
    let usage = Usage::of_job(ranks.iter().filter_map(|rank| rank.usage.as_ref()));
    JobUsage { id, state, usage, ranks }
}

fn overview(manager: &Manager, scope: &Scope, told: &Told) -> Overview {
    let nodes = manager.nodes.overview(&manager.settings.get().drained);
    let nodes = nodes.into_iter().filter(|node| scope.has_node(&node.name));
    let mut nodes: Vec<NodeOverview> = nodes.map(|node| seen(node, told)).collect();
    let names = nodes.iter().enumerate().map(|(at, node)| (node.name.clone(), at));
    let places: HashMap<String, usize> = names.collect();
    let mut jobs = Vec::new();
    for node in &mut nodes {
        node.cpu_us = manager.spent.at(&node.name, scope.view());
    }
    for job in scope.jobs().iter().filter(|job| !job.has_ended()) {
        let status = job.status();
        let mut known = Vec::new();
        for rank in &status.ranks {
            let usage = used(rank, told);
            known.extend(usage);
            let Some(node) = places.get(&rank.node).map(|at| &mut nodes[*at]) else { continue };
            node.cpu_us += usage.map_or(0, |usage| usage.cpu_us());
            if rank.state == RankPhase::Running {
                node.ranks += 1;
                node.rss_kib += usage.map_or(0, |usage| usage.rss_kib);
            }
        }
        if status.state != Phase::Done {
            jobs.push(Status { usage: Usage::of_job(&known), ..status.summary() });
        }
    }
    let mut slots = Some(manager.strobe.slots()).filter(|table| !table.slots.is_empty());
    if scope.view().is_some() {
        let seen: BTreeSet<u32> = scope.jobs().iter().map(|job| job.id).collect();
        let all = slots.iter_mut().flat_map(|table| &mut table.slots);
        all.for_each(|slot| slot.retain(|job| seen.contains(job)));
    }
    Overview { at: super::now(), nodes, jobs, slots }
}

/// A node with what it has told.
fn seen(node: NodeOverview, told: &Told) -> NodeOverview {
    match told.get(&node.name) {
        Some(Some(usage)) => NodeOverview {
            cpus: Some(usage.cpus),
            load: Some(usage.load),
            mem_total: Some(usage.mem_total),
            mem_available: Some(usage.mem_available),
            ..node
        },
        Some(None) => NodeOverview { why: Some("does not answer".to_owned()), ..node },
        None => node,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manager::place::Place;
    use crate::manager::progress::Bears;
    use crate::manager::tests::manager;
    use crate::scratch::Scratch;

    /// A node whose ranks had ended since the last look was shown as idle.
    #[test]
    fn what_ranks_have_used_at_a_node_is_counted_when_their_job_is_over() {
        let scratch = Scratch::new("overview-spent");
        let manager = manager(&scratch);
        let view: Arc<str> = "lab".into();
        for (of, used) in [(None, 5), (Some(view.clone()), 7)] {
            let job = manager.new_job(of).unwrap();
            let place = Place { node: "n0".to_owned(), local: 0 };
            let mut state = job.state();
            state.progress.placed(vec![place], vec![1], Bears::default());
            state.progress.used(0, Some(Usage { user_us: used, ..Usage::default() }));
            drop(state);
            job.kill();
            while !job.has_ended() {
                std::thread::yield_now();
            }
        }
        let at = |node, view| manager.spent.at(node, view);
        assert_eq!([at("n0", None), at("n0", Some(&view)), at("n1", None)], [12, 7, 0]);
        manager.memory.close();
    }
}
