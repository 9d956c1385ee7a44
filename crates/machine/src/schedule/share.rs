//! Every job starts at once, and the kernels of the nodes share the processors among them.

use super::{Cluster, Scheduler, Start};

/// The scheduler.
pub(super) struct Share;

impl Scheduler for Share {
    fn choose(&mut self, cluster: &Cluster) -> Vec<Start> {
        let start = |ask: &super::Ask| {
            let mut nodes = cluster.candidates(ask, cluster.now);
            nodes.truncate(ask.nodes);
            (nodes.len() == ask.nodes).then_some(Start { job: ask.job, nodes })
        };
        cluster.pending.iter().filter_map(start).collect()
    }
}
