//! The root's part: who listens, the key, and datagrams as far as the listeners have room for them.
//! Without I/O.
//!
//! A listener gets the key over its connection, and then has to hear a *probe*, a datagram that is
//! empty: only bodies are multicast to those who have said so. Probes are repeated, ever more
//! rarely, while there is a listener who hears none.
//!
//! Nothing slows a multicast down by itself, so there is a *window*: those to whom the root itself
//! has referred say how far they have emptied their sockets, and it is never further ahead of the
//! slowest than its socket has room. Those deeper in the tree have sockets of the same size and the
//! same to do; what they lose all the same they get from their parents. Who says nothing for
//! [`STALL`] is not waited for until it does, so that one that is stopped does not stop the others.

use super::seal::{Seal, Secret};
use super::wire::{CastId, DATAGRAM, Header, PART};
use crate::error::Result;
use crate::protocol::{NodeId, Payload, Time};
use muster_base::limits::MULTICAST_MAX;
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

/// Datagrams that are sent with one call: 61 KB, what an IP packet can have at most, and fewer than
/// the 64 segments that all kernels with UDP_SEGMENT cut.
pub const BATCH: usize = 44;

/// The pause after the first probe; it doubles. The key may have to come first.
const PAUSE: Duration = Duration::from_millis(1);
/// The longest: what a switch takes to learn of a listener is seconds, and one probe costs little.
const PAUSE_MAX: Duration = Duration::from_secs(10);

/// Datagrams of the longest body.
const LONGEST: u64 = MULTICAST_MAX.div_ceil(PART) as u64;

/// How long the window waits for who says nothing: a few slices of a busy machine.
const STALL: Duration = Duration::from_millis(20);

/// What the root has.
pub struct Speaker {
    pub secret: Secret,
    seal: Seal,
    /// The next datagram's number, and the next body's.
    next: u64,
    number: u64,
    casts: VecDeque<Sending>,
    listeners: BTreeMap<NodeId, Listener>,
    probe: Option<Probe>,
    /// Since when there is no room.
    stalled: Option<Time>,
}

struct Sending {
    id: CastId,
    body: Payload,
    /// So much of it has been sent.
    at: usize,
}

/// Somebody does not hear.
struct Probe {
    /// One is to be sent. It may have to wait until there is room for it.
    is_due: bool,
    /// When the next one is, and the pause after that.
    next: Time,
    pause: Duration,
}

impl Probe {
    /// The first one is due.
    fn first(now: Time) -> Option<Probe> {
        Some(Probe { is_due: true, next: now + PAUSE, pause: PAUSE * 2 })
    }
}

#[derive(Default)]
struct Listener {
    /// Datagrams that its socket has room for, if it hears.
    room: Option<u64>,
    /// Up to this one it has taken all, or did not have to.
    taken: u64,
    /// Bodies that it was referred to and does not have.
    open: usize,
    /// It is not waited for.
    is_slow: bool,
}

/// What a batch has.
#[derive(Debug, PartialEq, Eq)]
pub enum Batch {
    /// Nothing may be sent now.
    None,
    /// There may be more.
    Some,
    /// The last part of a body.
    Last(CastId),
}

impl Speaker {
    pub fn new() -> Result<Speaker> {
        let secret = Secret::new()?;
        Ok(Speaker {
            seal: Seal::new(&secret),
            secret,
            next: 0,
            number: 0,
            casts: VecDeque::new(),
            listeners: BTreeMap::new(),
            probe: None,
            stalled: None,
        })
    }

    /// Somebody listens, and does not hear, or no more.
    pub fn listens(&mut self, now: Time, node: NodeId) {
        self.listeners.insert(node, Listener::default());
        self.probe = Probe::first(now);
    }

    /// Somebody hears, and has room for so many datagrams.
    pub fn hears(&mut self, node: NodeId, room: u32) {
        if let Some(listener) = self.listeners.get_mut(&node) {
            listener.room = Some(u64::from(room.max(1)));
        }
        self.rest();
    }

    /// No more probes when all hear.
    fn rest(&mut self) {
        if self.listeners.values().all(|listener| listener.room.is_some()) {
            self.probe = None;
        }
    }

    /// Somebody's connection has ended.
    pub fn lost(&mut self, node: NodeId) {
        self.listeners.remove(&node);
        self.rest();
    }

    /// How many hear.
    pub fn hearers(&self) -> usize {
        self.listeners.values().filter(|listener| listener.room.is_some()).count()
    }

    /// Whether the key may not seal the longest body any more, after those that are begun.
    pub fn is_worn(&self) -> bool {
        let left = self.casts.iter().map(|cast| (cast.body.len() - cast.at).div_ceil(PART) as u64);
        self.next + left.sum::<u64>() + LONGEST > self.seal.most()
    }

    /// Begins to send a body, if the key is not worn out.
    pub fn begin(&mut self, body: Payload) -> CastId {
        let id = CastId { generation: self.seal.generation, number: self.number };
        self.number += 1;
        self.casts.push_back(Sending { id, body, at: 0 });
        id
    }

    /// A message to a node refers to a body. Whether that is still being sent.
    pub fn refer(&mut self, node: NodeId, id: CastId) -> bool {
        if let Some(listener) = self.listeners.get_mut(&node) {
            if listener.open == 0 {
                listener.taken = listener.taken.max(self.next);
            }
            listener.open += 1;
        }
        self.casts.iter().any(|cast| cast.id == id)
    }

    /// It has the body.
    pub fn have(&mut self, node: NodeId) {
        let Some(listener) = self.listeners.get_mut(&node) else { return };
        listener.open = listener.open.saturating_sub(1);
        listener.is_slow = false;
    }

    /// It has taken what there was, up to that number. More than was sent cannot be.
    pub fn progress(&mut self, node: NodeId, next: u64) {
        let Some(listener) = self.listeners.get_mut(&node) else { return };
        listener.taken = listener.taken.max(next.min(self.next));
        listener.is_slow = false;
    }

    /// Nobody waits for a body any more.
    pub fn cancel(&mut self, is_needless: impl Fn(CastId) -> bool) {
        self.casts.retain(|cast| !is_needless(cast.id));
    }

    /// Takes another key, when this one is worn out: then all have to get it who listen.
    pub fn renew(&mut self, now: Time) -> Option<Vec<NodeId>> {
        if !self.casts.is_empty() || !self.is_worn() {
            return None;
        }
        // Without random numbers the tree has to do.
        let secret = Secret::new().ok()?;
        (self.seal, self.secret, self.next) = (Seal::new(&secret), secret, 0);
        self.probe = Probe::first(now);
        let listeners = self.listeners.iter_mut();
        Some(listeners.map(|(node, l)| (*l = Listener::default(), *node).1).collect())
    }

    /// As if it might seal one longest body more with this key.
    #[cfg(test)]
    pub fn wear_out(&mut self) {
        self.next = self.seal.most() - LONGEST;
    }

    /// Datagrams that there is room for.
    fn room(&self) -> u64 {
        let waited = self.listeners.values().filter(|l| l.open > 0 && !l.is_slow);
        let room = waited.map(|l| l.room.unwrap_or(1).saturating_sub(self.next - l.taken));
        room.min().unwrap_or(u64::MAX)
    }

    /// The next datagrams, of equal length but for the last.
    pub fn fill(&mut self, now: Time, to: &mut Vec<u8>) -> Batch {
        if self.probe.as_mut().is_some_and(|probe| std::mem::take(&mut probe.is_due)) {
            let id = CastId { generation: self.seal.generation, number: 0 };
            let header = Header { id, datagram: self.next, length: 0, offset: 0 };
            self.seal.seal(&header, &[], to);
            self.next += 1;
            return Batch::Some;
        }
        let room = usize::try_from(self.room()).unwrap_or(usize::MAX).min(BATCH);
        let Some(cast) = self.casts.front_mut() else { return Batch::None };
        if room == 0 {
            self.stalled.get_or_insert(now);
            return Batch::None;
        }
        self.stalled = None;
        to.reserve(BATCH * DATAGRAM);
        let length = u32::try_from(cast.body.len()).expect("limits keep bodies short");
        for part in cast.body[cast.at..].chunks(PART).take(room) {
            let offset = u32::try_from(cast.at).expect("it is less than the length");
            let header = Header { id: cast.id, datagram: self.next, length, offset };
            self.seal.seal(&header, part, to);
            self.next += 1;
            cast.at += part.len();
        }
        if cast.at < cast.body.len() {
            return Batch::Some;
        }
        let id = cast.id;
        self.casts.pop_front();
        Batch::Last(id)
    }

    /// The next probe may be due; and who has been silent for too long is not waited for.
    pub fn tick(&mut self, now: Time) {
        if let Some(probe) = self.probe.as_mut().filter(|probe| probe.next <= now) {
            let next = (now + probe.pause, (probe.pause * 2).min(PAUSE_MAX));
            (probe.is_due, (probe.next, probe.pause)) = (true, next);
        }
        if self.stalled.is_none_or(|since| now < since + STALL) {
            return;
        }
        self.stalled = None;
        for listener in self.listeners.values_mut() {
            let ahead = self.next - listener.taken;
            listener.is_slow |= listener.open > 0 && listener.room.unwrap_or(1) <= ahead;
        }
    }

    /// When [`Speaker::tick`] has something to do, whatever comes.
    pub fn alarm(&self) -> Option<Time> {
        let probe = self.probe.as_ref().map(|probe| probe.next);
        self.stalled.map(|since| since + STALL).into_iter().chain(probe).min()
    }
}
