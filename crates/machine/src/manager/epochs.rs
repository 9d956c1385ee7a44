//! Follows who belongs to the global memory: a node that comes in has not heard the orders that it
//! was away for, or those of a manager before this one, so it is told which jobs there still are.

use super::Manager;
use crate::launch::Order;
use crate::memory::{MANAGER, Memory};
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
        manager.keep(new);
    }
}

impl Manager {
    /// Tells nodes which jobs there are, if there have been any.
    fn keep(&self, nodes: Nodes) {
        let jobs = self.jobs();
        let (last, open) = (jobs.last, jobs.table.values().filter(|job| !job.is_done()));
        let open = open.map(|job| job.id).collect();
        drop(jobs);
        if last > 0 && !nodes.is_empty() {
            self.mail.send(nodes, Order::Keep { last, jobs: open }, || ());
        }
    }
}
