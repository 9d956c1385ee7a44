//! Follows who belongs to the global memory: a node that comes in has not heard the orders that it
//! was away for, or those of a manager before this one, so it is told which jobs there still are.

use super::Manager;
use super::job::Job;
use super::spec::{Phase, RankStatus};
use crate::launch::{Order, Rank};
use crate::memory::{MANAGER, Memory, id_of};
use muster_fabric::Deadline;
use muster_fabric::primitive::Nodes;
use std::io;
use std::sync::{Arc, Weak};
use std::time::Duration;

/// How long to wait for an epoch at once.
const WAIT: Duration = Duration::from_secs(60);

pub(super) fn follow(manager: &Arc<Manager>, memory: &Arc<Memory>) -> io::Result<()> {
    let (manager, memory) = (Arc::downgrade(manager), memory.clone());
    let thread = std::thread::Builder::new().name("epochs".into());
    thread.spawn(move || run(&manager, &memory)).map(drop)
}

fn run(manager: &Weak<Manager>, memory: &Memory) {
    let (mut epoch, mut known) = (0, Nodes::one(MANAGER));
    loop {
        let membership = match memory.wait_epoch(epoch, Deadline::after(WAIT)) {
            Ok(membership) => membership,
            Err(muster_fabric::Error::Deadline { .. }) => continue,
            Err(_) => return,
        };
        let Some(manager) = manager.upgrade() else { return };
        // Also who left and came back between two epochs that were seen.
        let is_new = |node| !known.contains(node) || membership.joined(node) > Some(epoch);
        let new: Nodes = membership.members.iter().filter(|node| is_new(*node)).collect();
        (epoch, known) = (membership.epoch, membership.members);
        if !new.is_empty() {
            manager.strobe.repeat();
        }
        manager.call_back(&new);
        manager.keep(new);
        manager.look_for_silent(&known);
    }
}

impl Manager {
    /// Tells nodes which jobs there are, if there have been any.
    fn keep(&self, nodes: Nodes) {
        let jobs = self.jobs();
        let open: Vec<_> = jobs.table.values().filter(|job| !job.is_done()).cloned().collect();
        let last = jobs.last;
        drop(jobs);
        if last == 0 || nodes.is_empty() {
            return;
        }
        let expected = open.iter().flat_map(|job| job.unheard(&nodes)).collect();
        let jobs = open.iter().map(|job| job.attempt).collect();
        self.mail.send(nodes, Order::Keep { last, jobs, expected }, || ());
    }
}

impl Job {
    /// Light ranks on these nodes, which have the order to run them by now, and of which nobody has
    /// heard.
    fn unheard(&self, nodes: &Nodes) -> Vec<(String, u32, Rank)> {
        let state = self.state();
        // What was being started when a manager died is ended.
        if state.progress.phase() == Phase::Starting || state.started.is_none() {
            return Vec::new();
        }
        let ranks = state.progress.ranks().iter().zip(&state.claimed);
        let unheard = ranks.filter(|(rank, claimed)| {
            let is_there = id_of(&rank.node).is_some_and(|node| nodes.contains(node));
            !**claimed && is_there
        });
        let each = |(rank, _): (&RankStatus, _)| {
            let (number, local, session) = (rank.rank, rank.local, rank.session);
            (rank.node.clone(), self.attempt, Rank { rank: number, local, session })
        };
        unheard.map(each).collect()
    }
}
