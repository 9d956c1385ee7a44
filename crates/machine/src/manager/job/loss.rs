//! What becomes of a job when a node of its own is lost.

use super::super::nodes::Link;
use super::super::spec::{Phase, RankPhase, RankStatus};
use super::Job;
use crate::launch::Order;
use crate::memory::id_of;
use muster_fabric::primitive::Nodes;
use muster_fabric::protocol::NodeId;
use std::collections::BTreeSet;
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
        let is_any = !ranks.is_empty();
        ranks.into_iter().for_each(|rank| self.rank_lost(rank, why));
        if is_any {
            self.goes_on_without();
        }
    }

    /// Nodes are lost to a job that goes on: its other nodes hear of it, and whoever waits may have
    /// these once they are back.
    pub(in crate::manager) fn goes_on_without(self: &Arc<Job>) {
        self.tell_losses(|_| true);
        if let Some(manager) = self.manager.upgrade().filter(|_| !self.given_up().is_empty()) {
            manager.gives_up(self);
        }
    }

    /// The nodes on which nothing of a job is left that goes on without some.
    pub(in crate::manager) fn given_up(&self) -> BTreeSet<String> {
        let state = self.state();
        let goes_on = state.spec.as_ref().is_some_and(|spec| spec.tolerate)
            && state.progress.phase() != Phase::Done;
        if !goes_on {
            return BTreeSet::new();
        }
        let ranks = || state.progress.ranks().iter();
        let open = ranks().filter(|rank| !state.progress.is_closed(rank.rank));
        let open: BTreeSet<&String> = open.map(|rank| &rank.node).collect();
        let lost = ranks().filter(|rank| rank.state == RankPhase::Lost);
        let lost = lost.filter(|rank| !open.contains(&rank.node));
        lost.map(|rank| rank.node.clone()).collect()
    }

    /// Has nodes of a job that goes on without some, as far as they are meant, know of these.
    pub(in crate::manager) fn tell_losses(&self, is_meant: impl Fn(NodeId) -> bool) {
        let (lost, others) = {
            let state = self.state();
            if !state.spec.as_ref().is_some_and(|spec| spec.tolerate) {
                return;
            }
            let ranks = state.progress.ranks().iter();
            let is_lost = |rank: &&RankStatus| rank.state == RankPhase::Lost;
            let left = ranks.clone().filter(|rank| !is_lost(rank));
            let left: BTreeSet<&String> = left.map(|rank| &rank.node).collect();
            let lost = ranks.filter(|rank| is_lost(rank) && !left.contains(&rank.node));
            let lost =
                lost.filter_map(|rank| Some((rank.node.clone(), *state.instances.get(rank.rank)?)));
            let others = left.iter().filter_map(|node| id_of(node)).filter(|node| is_meant(*node));
            (lost.collect::<BTreeSet<_>>(), others.collect::<Nodes>())
        };
        for (node, instance) in lost {
            self.order(&others, Order::Lost { job: self.attempt, node, instance });
        }
    }
}
