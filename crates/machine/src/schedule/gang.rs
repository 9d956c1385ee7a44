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

/// The jobs of one slot, each with its nodes.
type Row = BTreeMap<u32, BTreeSet<u32>>;

/// The scheduler.
pub(super) struct Gang {
    slice: Duration,
    /// The multiprogramming level: slots at most.
    level: usize,
    placement: Placement,
    rows: Vec<Row>,
}

fn has_room(row: &Row, nodes: &BTreeSet<u32>) -> bool {
    row.values().all(|taken| taken.is_disjoint(nodes))
}

impl Gang {
    pub(super) fn new(slice: Duration, level: usize, placement: Placement) -> Gang {
        Gang { slice, level, placement, rows: Vec::new() }
    }

    /// Forgets jobs that have ended, and takes in those that run and are not there: another
    /// scheduler has started them. For these there may be more slots than there should, which get
    /// no others.
    fn follow(&mut self, cluster: &Cluster) {
        let mut placed = BTreeSet::new();
        for row in &mut self.rows {
            row.retain(|job, _| cluster.running.contains_key(job));
            placed.extend(row.keys().copied());
        }
        for (job, running) in &cluster.running {
            if placed.contains(job) {
                continue;
            }
            let nodes = running.nodes.iter().copied().collect();
            match self.rows.iter_mut().find(|row| has_room(row, &nodes)) {
                Some(row) => drop(row.insert(*job, nodes)),
                None => self.rows.push(Row::from([(*job, nodes)])),
            }
        }
    }

    /// Moves jobs forward to where there is room, and drops the slots that are empty then.
    fn unify(&mut self) {
        for to in 0..self.rows.len() {
            for from in to + 1..self.rows.len() {
                for (job, nodes) in std::mem::take(&mut self.rows[from]) {
                    let at = if has_room(&self.rows[to], &nodes) { to } else { from };
                    self.rows[at].insert(job, nodes);
                }
            }
        }
        self.rows.retain(|row| !row.is_empty());
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
                    let row = self.rows.get(slot);
                    let row = row.into_iter().flat_map(|row| row.values().flatten().copied());
                    let taken: BTreeSet<u32> = row.chain(wanted.iter().copied()).collect();
                    Some((slot, way.fit(all, &taken, count)?))
                })
            })
        })
    }
}

impl Placement {
    /// Chooses `count` of the nodes `all` that are not `taken`.
    fn fit(self, all: &[u32], taken: &BTreeSet<u32>, count: usize) -> Option<Vec<u32>> {
        let is_free = |node: &&u32| !taken.contains(node);
        match self {
            Placement::First => {
                let nodes: Vec<u32> = all.iter().filter(is_free).take(count).copied().collect();
                (nodes.len() == count).then_some(nodes)
            }
            Placement::Buddy => {
                let blocks = all.chunks(count.next_power_of_two());
                let mut fit = blocks.filter(|block| block.len() >= count);
                let block = fit.find(|block| block.iter().all(|node| is_free(&node)))?;
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
            if slot >= self.rows.len() {
                self.rows.push(Row::new());
            }
            let slot = slot.min(self.rows.len() - 1);
            self.rows[slot].insert(ask.job, nodes.iter().copied().collect());
            starts.push(Start { job: ask.job, nodes });
            refused = None;
        }
        starts
    }

    fn room(&self, _: &Cluster, nodes: &[u32]) -> String {
        let free = |row: &Row| {
            let is_free = |node: &&u32| !row.values().any(|taken| taken.contains(node));
            nodes.iter().filter(is_free).count()
        };
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
            for (job, nodes) in self.rows.iter().flatten() {
                if !full.contains_key(job) && has_room(&full, nodes) {
                    full.insert(*job, nodes.clone());
                }
            }
            slots.push(full.into_keys().collect());
        }
        // More than there can be turns for, as after `share`: those left run in all turns.
        slots.truncate(SLOTS_MAX);
        Slots { slice: self.slice, slots }
    }
}
