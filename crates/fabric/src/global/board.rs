//! What a member's threads look at and wait for: events, who belongs to the cluster, and until when
//! this node may speak of either.
//!
//! A node whose lease has ended does not know what the others do without it, so it says nothing of
//! events and regions, whatever it has seen. What was read is good if the lease still is *behind*
//! the reading.

use crate::deadline::Deadline;
use crate::error::{Error, Result};
use crate::primitive::{Nodes, Refusal};
use crate::protocol::{NodeId, Time};
#[cfg(loom)]
use loom::sync::{Condvar, Mutex, MutexGuard};
use std::collections::BTreeMap;
use std::sync::Arc;
#[cfg(not(loom))]
use std::sync::{Condvar, Mutex, MutexGuard};

/// The members of an epoch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Membership {
    /// Its number, which only grows; 0 before the first one.
    pub epoch: u64,
    /// Who belongs to it: none, as far as a node can say that is no member itself.
    pub members: Nodes,
    /// Those of them whom the master reaches itself, because one who would be between does not.
    pub apart: Nodes,
    since: Arc<BTreeMap<NodeId, u64>>,
}

impl Membership {
    fn none(epoch: u64) -> Membership {
        let [members, apart] = [Nodes::none(), Nodes::none()];
        Membership { epoch, members, apart, since: Arc::default() }
    }

    /// In which epoch a member has joined, if that was after this node: since then it has the
    /// variables, and of the regions what was put there since. Others have been there longer. It
    /// may be told an epoch too late, never too early.
    pub fn joined(&self, node: NodeId) -> Option<u64> {
        self.since.get(&node).copied().filter(|_| self.members.contains(node))
    }
}

/// The board.
pub struct Board {
    node: NodeId,
    master: NodeId,
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    counts: Vec<u64>,
    /// This node may speak until then.
    until: Option<Time>,
    membership: Membership,
    is_ended: bool,
}

/// The error of who asks for what cannot be.
pub fn refused(why: impl Into<String>) -> Error {
    Error::Refused { peer: "global memory".to_owned(), why: why.into() }
}

fn ended() -> Error {
    Error::Closed { peer: "the member".to_owned() }
}

impl Board {
    /// No event was signalled, and there is no epoch.
    pub fn new(node: NodeId, master: NodeId, events: u32) -> Board {
        let membership = Membership::none(0);
        let counts = vec![0; events as usize];
        let state = State { counts, until: None, membership, is_ended: false };
        Board { node, master, state: Mutex::new(state), changed: Condvar::new() }
    }

    /// Whose it is.
    pub fn node(&self) -> NodeId {
        self.node
    }

    /// Whether this node may speak now.
    pub fn check(&self, now: Time) -> Result<()> {
        self.lock().check(self.node, now)
    }

    /// The error of a node that may not speak.
    pub fn silence(&self) -> Error {
        self.lock().silence(self.node)
    }

    /// How often an event was signalled.
    pub fn count(&self, event: u32, now: impl FnOnce() -> Time) -> Result<u64> {
        let state = self.lock();
        let count = state.of(event)?;
        state.check(self.node, now()).map(|()| count)
    }

    /// Waits until an event was signalled more often than so many times and this node may say so.
    pub fn wait_event(
        &self,
        event: u32,
        more_than: u64,
        now: impl Fn() -> Time,
        deadline: Deadline,
    ) -> Result<u64> {
        let mut state = self.lock();
        loop {
            let count = state.of(event)?;
            let silence = state.check(self.node, now()).err();
            let is_member = state.membership.members.contains(self.node);
            let error = match silence {
                None if count > more_than => return Ok(count),
                // Who was removed will not hear of it, who may not speak now may do so again.
                Some(error) if !is_member && !state.is_ended => return Err(error),
                silence => silence,
            };
            // Any of them may: who it should have been is the user's to know.
            let all = match state.membership.members.without(self.node) {
                others if others.is_empty() => "itself".to_owned(),
                others => format!("itself or {others}"),
            };
            let what = || format!("to signal event {event} (TEST-EVENT)");
            let late = || deadline.missed(self.node, all, what());
            let error = || error.unwrap_or_else(late);
            state = self.sleep(state, deadline, error)?;
        }
    }

    /// The epoch and its members, as far as is known here.
    pub fn membership(&self) -> Membership {
        self.lock().membership.clone()
    }

    /// Waits for an epoch after this one.
    pub fn wait_epoch(&self, after: u64, deadline: Deadline) -> Result<Membership> {
        let mut state = self.lock();
        while state.membership.epoch <= after {
            let what = || format!("to begin an epoch after {after}");
            let error = || deadline.missed(self.node, self.master, what());
            state = self.sleep(state, deadline, error)?;
        }
        Ok(state.membership.clone())
    }

    /// Sleeps until something has changed; the error is for when the deadline has passed.
    fn sleep<'a>(
        &self,
        state: MutexGuard<'a, State>,
        deadline: Deadline,
        error: impl FnOnce() -> Error,
    ) -> Result<MutexGuard<'a, State>> {
        if state.is_ended {
            return Err(ended());
        }
        let left = deadline.left().ok_or_else(error)?;
        Ok(self.changed.wait_timeout(state, left).expect("nobody panics with it").0)
    }

    /// Signals an event; the core has checked that it exists.
    pub fn signal(&self, event: u32) {
        self.lock().counts[event as usize] += 1;
        self.changed.notify_all();
    }

    /// This node may speak until then.
    pub fn speak_until(&self, until: Option<Time>) {
        self.lock().until = until;
        self.changed.notify_all();
    }

    /// Another epoch.
    pub fn open(&self, epoch: u64, members: Nodes, joined: &Nodes, apart: Nodes) {
        let mut state = self.lock();
        let last = &mut state.membership;
        let mut since = (*last.since).clone();
        since.retain(|node, _| members.contains(*node));
        // Who is the only one it knows of has just begun: the others may have been there before.
        let knows = last.members.len() > 1;
        let is_new =
            |node: &NodeId| joined.contains(*node) || (knows && !last.members.contains(*node));
        since.extend(members.iter().filter(is_new).map(|node| (node, epoch)));
        *last = Membership { epoch, members, apart, since: Arc::new(since) };
        self.changed.notify_all();
    }

    /// This node is no member any more.
    pub fn remove(&self, epoch: u64) {
        self.lock().membership = Membership::none(epoch);
        self.changed.notify_all();
    }

    /// Nothing will change any more.
    pub fn end(&self) {
        self.lock().is_ended = true;
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("nobody panics with it")
    }
}

impl State {
    /// How often an event was signalled.
    fn of(&self, event: u32) -> Result<u64> {
        let events = self.counts.len() as u32;
        let no_event = || refused(Refusal::Event { event, events }.to_string());
        self.counts.get(event as usize).copied().ok_or_else(no_event)
    }

    fn check(&self, node: NodeId, now: Time) -> Result<()> {
        match self.until.is_some_and(|until| now < until) {
            true => Ok(()),
            false => Err(self.silence(node)),
        }
    }

    /// Why this node may not speak.
    fn silence(&self, node: NodeId) -> Error {
        let epoch = self.membership.epoch;
        let why = if self.membership.members.contains(node) {
            "its lease has ended, or was not granted yet".to_owned()
        } else if epoch == 0 {
            "it has not been taken in yet".to_owned()
        } else {
            format!("it was removed, which it learned in epoch {epoch}")
        };
        Error::NotMember { node: node.to_string(), why }
    }
}
