//! Follows who belongs to the global memory: a node that comes in has not heard the orders that it
//! was away for, or those of a manager before this one, so it is told which jobs there still are.
//! And what nodes have told may have been lost on its way with a node that is gone, so those that
//! nobody has heard of say it again.

use super::Manager;
use super::job::Job;
use super::spec::{Phase, RankStatus};
use crate::launch::{Order, Rank};
use crate::memory::{MANAGER, Memory, id_of};
use muster_base::limits::LETTER_MAX;
use muster_fabric::Deadline;
use muster_fabric::primitive::Nodes;
use serde_json::json;
use std::io;
use std::sync::{Arc, Weak};
use std::time::Duration;

/// How long to wait for an epoch at once.
const WAIT: Duration = Duration::from_secs(60);

/// Most ranks of one order: one takes 100 bytes of a letter at most.
const UNHEARD_MAX: usize = LETTER_MAX / 2 / 128;

/// A rank that nobody has heard of: its node, the attempt that it is of, and which.
type Unheard = (String, u32, Rank);

/// The orders that tell which jobs there are and which ranks nobody has heard of, each with as many
/// as a letter holds.
fn orders(last: u32, jobs: &[u32], unheard: &[Unheard]) -> Vec<Order> {
    let order = |expected: &[Unheard]| Order::Keep {
        last,
        jobs: jobs.to_vec(),
        expected: expected.to_vec(),
        only: None,
    };
    let first = &unheard[..unheard.len().min(UNHEARD_MAX)];
    let others = unheard[first.len()..].chunks(UNHEARD_MAX);
    std::iter::once(first).chain(others).map(order).collect()
}

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
        let apart = membership.apart;
        for name in
            manager.nodes.note_apart(|name| id_of(name).is_some_and(|id| apart.contains(id)))
        {
            manager.event(json!({"event": "node apart", "node": name}));
        }
        let is_any_new = !new.is_empty();
        manager.call_back(&new);
        manager.keep(new);
        manager.hear_again();
        manager.look_for_silent(&known);
        // Last: only a node that is silent no more speaks to the strober of its machine.
        if is_any_new {
            manager.strobe.repeat();
        }
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
        let expected: Vec<Unheard> = open.iter().flat_map(|job| job.unheard(&nodes)).collect();
        let jobs: Vec<u32> = open.iter().map(|job| job.attempt).collect();
        for order in orders(last, &jobs, &expected) {
            self.mail.send(nodes.clone(), order, |_| ());
        }
        open.iter().for_each(|job| job.tell_losses(|node| nodes.contains(node)));
    }
}

impl Manager {
    /// Has nodes say again how ranks have ended of which nobody has heard.
    fn hear_again(&self) {
        let open = self.all_jobs();
        let open = open.iter().map(|job| (job.attempt, job.unheard_at()));
        let (jobs, nodes): (Vec<u32>, Vec<Nodes>) =
            open.filter(|(_, nodes)| !nodes.is_empty()).unzip();
        let nodes: Nodes = nodes.iter().flat_map(Nodes::iter).collect();
        if !nodes.is_empty() {
            self.mail.send(nodes, Order::Again { jobs }, |_| ());
        }
    }
}

impl Job {
    /// The nodes with ranks of which nobody has heard, also while others are being started.
    fn unheard_at(&self) -> Nodes {
        let state = self.state();
        let ranks = state.progress.ranks().iter().zip(&state.claimed);
        let unheard = ranks.filter(|(rank, claimed)| !**claimed && state.is_awaited(rank.rank));
        unheard.filter_map(|(rank, _)| id_of(&rank.node)).collect()
    }

    /// Light ranks on these nodes, which have the order to run them by now, and of which nobody has
    /// heard.
    fn unheard(&self, nodes: &Nodes) -> Vec<Unheard> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn however_many_ranks_nobody_has_heard_of_each_is_told_of_and_each_letter_is_taken() {
        assert_eq!(orders(9, &[3], &[]).len(), 1, "which jobs there are is told all the same");
        let rank = |rank| Rank { rank, local: 4_000_000_000, session: u32::MAX };
        let unheard: Vec<Unheard> = (1_000_000_000..1_000_010_000)
            .map(|number| ("n1000000000".to_owned(), u32::MAX, rank(number)))
            .collect();
        let jobs: Vec<u32> = (u32::MAX - 10_000..u32::MAX).collect();
        let all = orders(u32::MAX, &jobs, &unheard);
        assert!(all.iter().all(|order| order.letter().len() < LETTER_MAX));
        let expected = all.into_iter().flat_map(|order| match order {
            Order::Keep { expected, .. } => expected,
            _ => unreachable!("they are told nothing else"),
        });
        assert_eq!(expected.collect::<Vec<_>>(), unheard);
    }
}
