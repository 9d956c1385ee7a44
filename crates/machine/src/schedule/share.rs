//! Every job starts at once, and the kernels of the nodes share the processors among them. A job
//! that names no nodes gets those with the fewest jobs, of equal ones the first.

use super::{Ask, Cluster, Scheduler, Start};
use std::collections::HashMap;

/// The scheduler.
pub(super) struct Share;

/// How many jobs each node has, with those that start now.
fn load(cluster: &Cluster, starts: &[Start]) -> HashMap<u32, usize> {
    let running = cluster.running.values().flat_map(|job| &job.nodes);
    let mut load = HashMap::new();
    for node in running.chain(starts.iter().flat_map(|start| &start.nodes)) {
        *load.entry(*node).or_default() += 1;
    }
    load
}

fn choose(ask: &Ask, cluster: &Cluster, starts: &[Start]) -> Option<Start> {
    let mut nodes = cluster.candidates(ask, cluster.now);
    let need = ask.need(nodes.len());
    // To count takes long where there are many jobs, and is in vain where all nodes are wanted.
    if !ask.is_named && nodes.len() > need {
        let load = load(cluster, starts);
        nodes.sort_by_key(|node| load.get(node).copied().unwrap_or(0));
        nodes.truncate(need);
        // Ranks follow the order of the nodes, whichever they are.
        nodes.sort_unstable();
    }
    nodes.truncate(need);
    (nodes.len() == need).then_some(Start { job: ask.job, nodes })
}

impl Scheduler for Share {
    fn choose(&mut self, cluster: &Cluster) -> Vec<Start> {
        let mut starts = Vec::new();
        for ask in &cluster.pending {
            starts.extend(choose(ask, cluster, &starts));
        }
        starts
    }

    fn shares(&self) -> bool {
        true
    }
}
