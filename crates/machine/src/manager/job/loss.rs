//! What becomes of a job when a node of its own is lost.

use super::super::nodes::Link;
use super::Job;
use crate::launch::Order;
use crate::memory::id_of;
use muster_fabric::primitive::Nodes;
use std::sync::Arc;

impl Job {
    /// The connection to a node is gone, and all ranks that were reached over it.
    pub(in crate::manager) fn node_lost(self: &Arc<Job>, link: &Arc<Link>, why: &str) {
        let ranks: Vec<usize> = {
            let state = self.state();
            let there = |rank: &usize| match state.holds.get(*rank) {
                Some(Some(hold)) => Arc::ptr_eq(&hold.link, link),
                _ => {
                    state.progress.ranks()[*rank].node == link.name
                        && state.instances.get(*rank) == Some(&link.instance)
                }
            };
            (0..state.progress.ranks().len()).filter(there).collect()
        };
        let is_one = !ranks.is_empty();
        ranks.into_iter().for_each(|rank| self.rank_lost(rank, why));
        if is_one {
            self.tell_loss(link);
        }
    }

    /// Has the other nodes of a job that goes on know that one is lost.
    fn tell_loss(&self, link: &Link) {
        let others: Nodes = {
            let state = self.state();
            if !state.spec.as_ref().is_some_and(|spec| spec.tolerate) {
                return;
            }
            let ranks = state.progress.ranks().iter();
            let others = ranks.filter(|rank| rank.node != link.name);
            others.filter_map(|rank| id_of(&rank.node)).collect()
        };
        let (job, node, instance) = (self.attempt, link.name.clone(), link.instance);
        self.order(&others, Order::Lost { job, node, instance });
    }
}
