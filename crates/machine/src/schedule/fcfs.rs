//! First come, first served: a node has one job at a time, and nobody passes who could use a node
//! that a job ahead waits for. Jobs that can never meet on a node do not wait for each other.

use super::{Ask, Cluster, Scheduler, Start};
use std::collections::BTreeSet;

/// The scheduler.
pub(super) struct Fcfs;

impl Scheduler for Fcfs {
    fn choose(&mut self, cluster: &Cluster) -> Vec<Start> {
        let mut taken: BTreeSet<u32> = cluster.busy().into_keys().collect();
        let mut starts = Vec::new();
        let mut refused: Option<&Ask> = None;
        for ask in &cluster.pending {
            if refused.is_some_and(|one| one.is_like(ask)) {
                continue;
            }
            refused = Some(ask);
            let candidates = cluster.candidates(ask, cluster.now);
            let need = ask.need(candidates.len());
            let free = candidates.iter().copied().filter(|node| !taken.contains(node));
            let nodes: Vec<u32> = free.take(need).collect();
            if nodes.len() == need {
                taken.extend(&nodes);
                starts.push(Start { job: ask.job, nodes });
                refused = None;
            } else {
                taken.extend(cluster.kept_for(ask));
            }
        }
        starts
    }
}
