//! Nodes that are silent, and have not died as far as anybody knows: stopped, or busy beyond
//! measure. Their leases in the global memory end, so nothing has to be asked of them to notice.
//! From then on they get no jobs; it is told of them only when it lasts.
//!
//! A machine that loses its power, or its cable, says nothing. Where nothing is under way to it the
//! kernel finds out within seconds, and closes the connection; where something is, it goes on
//! sending that for a quarter of an hour. So while a node is slow the kernel is asked whether its
//! machine acknowledges anything: that it does for a daemon that is stopped, too.

use super::Manager;
use super::job::Job;
use super::nodes::{Back, silent_for};
use super::presence::SILENCE;
use super::spec::Phase;
use crate::memory::{LEASE, id_of};
use muster_fabric::primitive::Nodes;
use muster_fabric::transport::socket::unanswered;
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

/// So much later it is looked, so that the time is over for certain.
const LATER: Duration = Duration::from_millis(10);

/// How often it is looked whether a slow node's machine is there.
const LOOK: Duration = Duration::from_secs(1);

impl Manager {
    /// Others have leases than before.
    pub(super) fn look_for_silent(self: &Arc<Manager>, members: &Nodes) {
        let has_lease = |name: &str| id_of(name).is_none_or(|node| members.contains(node));
        let (silent, back) = self.nodes.note_members(has_lease, LEASE);
        for name in silent {
            self.node_changed(&name);
            let manager = Arc::downgrade(self);
            self.timer.after(SILENCE - LEASE + LATER, move || {
                if let Some(manager) = manager.upgrade() {
                    manager.still_silent(&name);
                }
            });
        }
        for Back { name, slow, was_late } in back {
            self.node_changed(&name);
            if let Some(time) = slow {
                self.event(json!({"event": "node answers", "node": name}));
                let text = format!("{name} answers again after {} s", time.as_secs());
                self.note_to_waiting(&name, &text);
            } else if was_late {
                self.in_time(&name);
            }
        }
    }

    /// A node was silent: if it still is, whoever waits for it is told so.
    fn still_silent(self: &Arc<Manager>, name: &str) {
        let Some(time) = self.nodes.slow_for(name) else { return };
        self.event(json!({"event": "node slow", "node": name, "why": silent_for(time)}));
        let text = format!("waits for {name}, which {}: it is stopped or busy", silent_for(time));
        self.note_to_waiting(name, &text);
        self.look_for_machine(name);
    }

    /// A node is slow: while it is, it is looked again and again whether its machine is there.
    fn look_for_machine(self: &Arc<Manager>, name: &str) {
        if self.nodes.slow_for(name).is_none() {
            return;
        }
        let Ok(link) = self.nodes.link(name) else { return };
        if unanswered(link.client.socket()) >= SILENCE {
            self.lost(name, "nothing that is sent to its machine arrives");
            return link.client.close();
        }
        let (manager, name) = (Arc::downgrade(self), name.to_owned());
        self.timer.after(LOOK, move || {
            if let Some(manager) = manager.upgrade() {
                manager.look_for_machine(&name);
            }
        });
    }

    fn note_to_waiting(&self, name: &str, text: &str) {
        let all = self.all_jobs();
        let waiting = all.iter().filter(|job| job.waits_for(name));
        waiting.for_each(|job| job.note(&format!("job {}: {text}  [N306]", job.id)));
    }
}

impl Job {
    /// Whether a rank on this node has not ended.
    fn waits_for(&self, name: &str) -> bool {
        let state = self.state();
        let ranks = state.progress.ranks().iter().enumerate();
        let mut open = ranks.filter(|(at, _)| !state.progress.is_closed(*at));
        state.progress.phase() != Phase::Done && open.any(|(_, rank)| rank.node == name)
    }
}
