//! Every job starts at once, and the kernels of the nodes share the processors among them. A job
//! that names no nodes gets those with the fewest jobs, of equal ones the first.

use super::{Ask, Cluster, Scheduler, Start};
use std::collections::HashMap;

/// The scheduler.
pub(super) struct Share;

/// How many jobs each node has.
type Load = HashMap<u32, usize>;

fn choose(ask: &Ask, cluster: &Cluster, load: &Load) -> Option<Start> {
    let mut nodes = cluster.candidates(ask, cluster.now);
    if !ask.is_named {
        nodes.sort_by_key(|node| load.get(node).copied().unwrap_or(0));
    }
    nodes.truncate(ask.nodes);
    if !ask.is_named {
        // Ranks follow the order of the nodes, whichever they are.
        nodes.sort_unstable();
    }
    (nodes.len() == ask.nodes).then_some(Start { job: ask.job, nodes })
}

impl Scheduler for Share {
    fn choose(&mut self, cluster: &Cluster) -> Vec<Start> {
        let mut load = Load::new();
        let count = |load: &mut Load, nodes: &[u32]| {
            nodes.iter().for_each(|node| *load.entry(*node).or_default() += 1);
        };
        cluster.running.values().for_each(|job| count(&mut load, &job.nodes));
        let mut starts = Vec::new();
        for ask in &cluster.pending {
            if let Some(start) = choose(ask, cluster, &load) {
                count(&mut load, &start.nodes);
                starts.push(start);
            }
        }
        starts
    }
}
