//! Gang scheduling: Ousterhout's matrix (1982) of slots and nodes. A job is in one slot on all its
//! nodes, and all its ranks run in the same slices.
//!
//! A job goes into the first slot that has room for it; a new one is opened if none has and there
//! may be more; else the job waits, and nobody passes it on the nodes that it could have. When
//! jobs end, those of later slots move forward into the room (slot unification): each keeps its
//! nodes, and a slot fewer has to be gone through. A node that would be idle in a slot runs what
//! it has in another one, if that job would have all its nodes (Ousterhout's alternates).
//!
//! *Buddy* placement keeps to aligned blocks of 2^k nodes (Feitelson 1996), so that jobs of similar
//! sizes lie above each other, and what ends leaves room that others can move into. *First fit*
//! takes the first nodes that are free. Where no slot that there is has a block it chooses also for
//! buddies: who waits for a block though enough nodes are free, or takes turns in a slot of his own
//! while they are idle, is worse off than without blocks.

use super::{Ask, Cluster, Scheduler, Start};
use crate::slots::Slots;
use muster_base::limits::SLOTS_MAX;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// How nodes are chosen in a slot.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Placement {
    /// Aligned blocks of 2^k nodes.
    #[default]
    Buddy,
    /// The first ones that are free.
    First,
}

/// One slot: its jobs, each with its nodes, and all these.
#[derive(Default, Clone)]
struct Row {
    jobs: BTreeMap<u32, Vec<u32>>,
    taken: BTreeSet<u32>,
}

impl Row {
    fn has_room(&self, nodes: &[u32]) -> bool {
        nodes.iter().all(|node| !self.taken.contains(node))
    }

    fn insert(&mut self, job: u32, nodes: Vec<u32>) {
        self.taken.extend(&nodes);
        self.jobs.insert(job, nodes);
    }
}

/// The scheduler.
pub(super) struct Gang {
    slice: Duration,
    /// The multiprogramming level: slots at most.
    level: usize,
    placement: Placement,
    rows: Vec<Row>,
}

impl Gang {
    pub(super) fn new(slice: Duration, level: usize, placement: Placement) -> Gang {
        Gang { slice, level, placement, rows: Vec::new() }
    }

    /// Forgets jobs that have ended and nodes that they have lost, and takes in those that run and
    /// are not there: another scheduler has started them. For these there may be more slots than
    /// there should, which get no others.
    fn follow(&mut self, cluster: &Cluster) {
        let mut placed = BTreeSet::new();
        for row in &mut self.rows {
            for job in std::mem::take(row).jobs.into_keys() {
                if let Some(running) = cluster.running.get(&job) {
                    row.insert(job, running.nodes.clone());
                    placed.insert(job);
                }
            }
        }
        for (job, running) in cluster.running.iter().filter(|(job, _)| !placed.contains(job)) {
            let at = self.rows.iter().position(|row| row.has_room(&running.nodes));
            self.put(at.unwrap_or(self.rows.len()), *job, running.nodes.clone());
        }
    }

    /// Gives a job a slot; behind the last one it is a new one.
    fn put(&mut self, slot: usize, job: u32, nodes: Vec<u32>) {
        if slot >= self.rows.len() {
            self.rows.push(Row::default());
        }
        let slot = slot.min(self.rows.len() - 1);
        self.rows[slot].insert(job, nodes);
    }

    /// Moves jobs forward to where there is room, and drops the slots that are empty then.
    fn unify(&mut self) {
        for from in 1..self.rows.len() {
            for (job, nodes) in std::mem::take(&mut self.rows[from]).jobs {
                let to = self.rows[..from].iter().position(|row| row.has_room(&nodes));
                self.rows[to.unwrap_or(from)].insert(job, nodes);
            }
        }
        self.rows.retain(|row| !row.jobs.is_empty());
    }

    /// Finds a slot in which `count` of the nodes `all` are free and not `wanted`, and chooses
    /// these. A new slot is the last resort: in it jobs wait for each other's turns, while nodes
    /// are idle that are no block.
    fn place(
        &self,
        all: &[u32],
        wanted: &BTreeSet<u32>,
        count: usize,
    ) -> Option<(usize, Vec<u32>)> {
        let ways: &[Placement] = match self.placement {
            Placement::Buddy => &[Placement::Buddy, Placement::First],
            Placement::First => &[Placement::First],
        };
        let open = self.rows.len().min(self.level);
        [0..open, open..self.level].into_iter().find_map(|slots| {
            ways.iter().find_map(|way| {
                slots.clone().find_map(|slot| {
                    let taken = self.rows.get(slot).map(|row| &row.taken);
                    let is_taken = |node: &u32| taken.is_some_and(|taken| taken.contains(node));
                    let is_free = |node: &u32| !is_taken(node) && !wanted.contains(node);
                    Some((slot, way.fit(all, is_free, count)?))
                })
            })
        })
    }
}

impl Placement {
    /// Chooses `count` of the nodes `all` that are free.
    fn fit(self, all: &[u32], is_free: impl Fn(&u32) -> bool, count: usize) -> Option<Vec<u32>> {
        match self {
            Placement::First => {
                let free = all.iter().copied().filter(is_free);
                let nodes: Vec<u32> = free.take(count).collect();
                (nodes.len() == count).then_some(nodes)
            }
            Placement::Buddy => {
                let blocks = all.chunks(count.next_power_of_two());
                let mut fit = blocks.filter(|block| block.len() >= count);
                let block = fit.find(|block| block.iter().all(&is_free))?;
                Some(block[..count].to_vec())
            }
        }
    }
}

impl Scheduler for Gang {
    fn choose(&mut self, cluster: &Cluster) -> Vec<Start> {
        self.follow(cluster);
        self.unify();
        let mut starts = Vec::new();
        // Nodes that jobs ahead wait for.
        let mut wanted: BTreeSet<u32> = BTreeSet::new();
        let mut refused: Option<&Ask> = None;
        for ask in &cluster.pending {
            if refused.is_some_and(|one| one.is_like(ask)) {
                continue;
            }
            refused = Some(ask);
            let candidates = cluster.candidates(ask, cluster.now);
            let need = ask.need(candidates.len());
            let Some((slot, nodes)) = self.place(&candidates, &wanted, need) else {
                wanted.extend(cluster.kept_for(ask));
                continue;
            };
            self.put(slot, ask.job, nodes.clone());
            starts.push(Start { job: ask.job, nodes });
            refused = None;
        }
        starts
    }

    fn room(&self, _: &Cluster, nodes: &[u32]) -> String {
        let free = |row: &Row| nodes.iter().filter(|node| !row.taken.contains(node)).count();
        let rows = &self.rows[..self.rows.len().min(self.level)];
        let most = rows.iter().map(free).max().unwrap_or(0);
        match rows.len() {
            // None is, for a job that waits only for a node that has just gone.
            0 => format!("{} free", nodes.len()),
            1 => format!("{most} free in the only slot"),
            slots => format!("{most} free in the emptiest of {slots} slots"),
        }
    }

    fn slots(&self) -> Slots {
        let mut slots = Vec::new();
        for row in &self.rows {
            let mut full = row.clone();
            for (job, nodes) in self.rows.iter().flat_map(|row| &row.jobs) {
                if full.has_room(nodes) {
                    full.insert(*job, nodes.clone());
                }
            }
            slots.push(full.jobs.into_keys().collect());
        }
        // More than there can be turns for, as after `share`: those left run in all turns.
        slots.truncate(SLOTS_MAX);
        Slots { slice: self.slice, slots }
    }
}
