//! What a member makes of datagrams: bodies, as far as they have come. Without I/O.
//!
//! A datagram that could be opened comes from a member, and so does a message that refers to a
//! body; both may come first. Memory is taken for the first of them, within limits, and what nobody
//! has referred to makes room for what somebody has. When a body was referred to and sent, and no
//! part of it has come for a while, what is missing is asked for, once, of who referred to it: that
//! comes over a connection and is not lost. If that one is lost, or nothing comes of it, another
//! who has referred to the body is asked. What comes again is of no use and puts nothing off.

use super::parts::Parts;
use super::wire::{CastId, PART};
use crate::protocol::{NodeId, Payload, Time};
use muster_base::limits::{MULTICAST_BYTES_MAX, MULTICAST_MAX, MULTICAST_MIN};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

/// How long after the last part, and after hearing that all was sent, the missing ones are taken
/// for lost: what is on its way between two machines arrives within 1 ms.
const QUIET: Duration = Duration::from_millis(2);

/// How long after the last part that was of use another one is asked, if there is one: who was
/// asked may be stopped. A repair of 64 KB takes 6 ms of a slow line (100 Mbit/s), 16 of them less.
const AGAIN: Duration = Duration::from_millis(100);

/// How long a body is kept that nobody refers to: it is for others, or a message goes down a tree
/// whose members are busy. It then comes over the connection.
const FORGET: Duration = Duration::from_secs(2);

/// So many bodies that were delivered are remembered, so that late datagrams make no new one.
const DONE: usize = 64;

/// Memory of so many bodies is kept for the next ones: one is delivered while another comes.
const SPARES: usize = 2;

/// Bodies, by their names.
#[derive(Default)]
pub struct Assembler {
    casts: BTreeMap<CastId, Assembly>,
    /// What all of them take.
    bytes: usize,
    done: VecDeque<CastId>,
    /// Bodies that were delivered; their memory is used again when nobody holds it.
    spares: VecDeque<Arc<Vec<u8>>>,
}

struct Assembly {
    body: Body,
    length: usize,
    /// Who refers to it, for each of the messages that do.
    referrers: Vec<Referrer>,
    /// Who was asked for the missing parts.
    asked: Vec<NodeId>,
    /// When the last part came that was missing, or the news that all is sent.
    last: Time,
}

enum Body {
    /// What is missing in it has any value.
    Parts(Vec<u8>, Parts),
    Whole(Arc<Vec<u8>>),
}

struct Referrer {
    node: NodeId,
    /// All of it has been sent.
    is_sent: bool,
}

/// A question for missing parts.
#[derive(Debug, PartialEq, Eq)]
pub struct Lack {
    pub of: NodeId,
    pub id: CastId,
    pub missing: Parts,
}

impl Assembly {
    fn new(memory: Vec<u8>, now: Time) -> Assembly {
        let length = memory.len();
        let body = Body::Parts(memory, Parts::all(length));
        Assembly { body, length, referrers: Vec::new(), asked: Vec::new(), last: now }
    }

    /// What it counts for. Small ones cost more than their bytes.
    fn cost(length: usize) -> usize {
        length.max(MULTICAST_MIN)
    }

    /// Takes parts; false if none of them was missing.
    fn put(&mut self, offset: usize, bytes: &[u8]) -> bool {
        let Body::Parts(body, missing) = &mut self.body else { return false };
        let is_used = missing.fill(body, offset, bytes);
        if missing.is_none() {
            self.body = Body::Whole(Arc::new(std::mem::take(body)));
        }
        is_used
    }

    /// Who can be asked for what is missing, and from when on.
    fn to_ask(&self) -> Option<(NodeId, Time)> {
        let Body::Parts(..) = self.body else { return None };
        let can = |who: &&Referrer| who.is_sent && !self.asked.contains(&who.node);
        let who = self.referrers.iter().find(can)?;
        Some((who.node, self.last + if self.asked.is_empty() { QUIET } else { AGAIN }))
    }
}

impl Assembler {
    /// A part from a datagram. False where it is of no use.
    pub fn part(
        &mut self,
        now: Time,
        id: CastId,
        length: usize,
        (offset, bytes): (usize, &[u8]),
    ) -> bool {
        if !self.casts.contains_key(&id) && (self.done.contains(&id) || !self.make_room(length)) {
            return false;
        }
        let cast = self.enter(now, id, length);
        if cast.length != length {
            return false;
        }
        let is_used = cast.put(offset, bytes);
        if is_used {
            cast.last = now;
        }
        is_used
    }

    /// Somebody's message refers to a body.
    ///
    /// # Errors
    /// When it cannot be such a body, or is more than a member keeps.
    pub fn refer(
        &mut self,
        now: Time,
        node: NodeId,
        id: CastId,
        length: usize,
    ) -> Result<(), &'static str> {
        if !(1..=MULTICAST_MAX).contains(&length) {
            return Err("a reference to no possible body");
        }
        // Who refers to it knows how long it is; what came by datagram is to agree.
        if let Some(cast) = self.casts.get(&id)
            && cast.length != length
        {
            if !cast.referrers.is_empty() {
                return Err("two lengths of one body");
            }
            self.forget(id);
        }
        if !self.casts.contains_key(&id) && !self.make_room(length) {
            return Err("more bodies than a member keeps");
        }
        self.enter(now, id, length).referrers.push(Referrer { node, is_sent: false });
        Ok(())
    }

    /// Who refers to it says that all of it has been sent.
    pub fn sent(&mut self, now: Time, node: NodeId, id: CastId) {
        let Some(cast) = self.casts.get_mut(&id) else { return };
        // What has come before that may not have been taken from the socket.
        cast.last = now;
        for referrer in cast.referrers.iter_mut().filter(|referrer| referrer.node == node) {
            referrer.is_sent = true;
        }
    }

    /// Missing parts from who was asked for them; false if none is of use. What has come otherwise
    /// meanwhile is left, and so is what was asked for before the body was forgotten, and somebody
    /// has referred to it again.
    ///
    /// # Errors
    /// When they are not those of that body.
    pub fn repair(
        &mut self,
        now: Time,
        node: NodeId,
        id: CastId,
        offset: usize,
        bytes: &[u8],
    ) -> Result<bool, &'static str> {
        let asked = |cast: &&mut Assembly| cast.asked.contains(&node);
        let Some(cast) = self.casts.get_mut(&id).filter(asked) else { return Ok(false) };
        let end = offset.saturating_add(bytes.len());
        let is_whole = end == cast.length || bytes.len().is_multiple_of(PART);
        if end > cast.length || !offset.is_multiple_of(PART) || !is_whole {
            return Err("parts that the body does not have");
        }
        let is_used = cast.put(offset, bytes);
        if is_used {
            cast.last = now;
        }
        Ok(is_used)
    }

    /// A body, if all of it is there.
    pub fn whole(&self, id: CastId) -> Option<Payload> {
        match &self.casts.get(&id)?.body {
            Body::Whole(body) => Some(Payload::from(body.clone())),
            Body::Parts(..) => None,
        }
    }

    /// A message that referred to it was delivered.
    pub fn release(&mut self, node: NodeId, id: CastId) {
        let Some(cast) = self.casts.get_mut(&id) else { return };
        if let Some(at) = cast.referrers.iter().position(|referrer| referrer.node == node) {
            cast.referrers.swap_remove(at);
        }
        if cast.referrers.is_empty() {
            if let Body::Whole(body) = &cast.body {
                self.spares.push_back(body.clone());
            }
            if self.spares.len() > SPARES {
                self.spares.pop_front();
            }
            self.forget(id);
            self.done.push_back(id);
            if self.done.len() > DONE {
                self.done.pop_front();
            }
        }
    }

    /// A node's connection has ended, and what it referred to is lost.
    pub fn lost(&mut self, now: Time, node: NodeId) {
        for cast in self.casts.values_mut() {
            if cast.referrers.iter().any(|referrer| referrer.node == node) {
                cast.referrers.retain(|referrer| referrer.node != node);
                cast.last = now;
            }
            cast.asked.retain(|asked| *asked != node);
        }
    }

    /// Whether somebody's message waits for its body.
    pub fn awaits(&self, node: NodeId) -> bool {
        let waits = |cast: &Assembly| {
            matches!(cast.body, Body::Parts(..))
                && cast.referrers.iter().any(|referrer| referrer.node == node)
        };
        self.casts.values().any(waits)
    }

    /// What has to be asked for now. `heard` is the generation whose datagrams are heard: there is
    /// nothing to wait for of others.
    pub fn lacks(&mut self, now: Time, heard: Option<u64>) -> Vec<Lack> {
        let mut lacks = Vec::new();
        for (&id, cast) in &mut self.casts {
            let Some((of, when)) = cast.to_ask() else { continue };
            let may_come = heard == Some(id.generation) || !cast.asked.is_empty();
            if now < when && may_come {
                continue;
            }
            cast.asked.push(of);
            cast.last = now;
            if let Body::Parts(_, missing) = &cast.body {
                lacks.push(Lack { of, id, missing: missing.clone() });
            }
        }
        lacks
    }

    /// Forgets what nobody has referred to for long.
    pub fn expire(&mut self, now: Time) {
        let is_old = |cast: &Assembly| cast.referrers.is_empty() && cast.last + FORGET <= now;
        let old: Vec<_> = self.casts.iter().filter(|(_, c)| is_old(c)).map(|(id, _)| *id).collect();
        old.into_iter().for_each(|id| self.forget(id));
    }

    /// When [`Assembler::lacks`] and [`Assembler::expire`] have something to do.
    pub fn alarm(&self) -> Option<Time> {
        let when = |cast: &Assembly| match cast.referrers.is_empty() {
            true => Some(cast.last + FORGET),
            false => cast.to_ask().map(|(_, when)| when),
        };
        self.casts.values().filter_map(when).min()
    }

    fn enter(&mut self, now: Time, id: CastId, length: usize) -> &mut Assembly {
        self.casts.entry(id).or_insert_with(|| {
            self.bytes += Assembly::cost(length);
            let fits =
                |spare: &Arc<Vec<u8>>| spare.len() == length && Arc::strong_count(spare) == 1;
            let at = self.spares.iter().position(fits);
            let spare = at.and_then(|at| self.spares.remove(at));
            let memory = spare.and_then(|spare| Arc::try_unwrap(spare).ok());
            Assembly::new(memory.unwrap_or_else(|| vec![0; length]), now)
        })
    }

    fn forget(&mut self, id: CastId) {
        if let Some(cast) = self.casts.remove(&id) {
            self.bytes -= Assembly::cost(cast.length);
        }
    }

    /// Has room for a body more: what nobody has referred to goes, the oldest first.
    fn make_room(&mut self, length: usize) -> bool {
        while self.bytes + Assembly::cost(length) > MULTICAST_BYTES_MAX {
            let free = self.casts.iter().filter(|(_, cast)| cast.referrers.is_empty());
            let Some((&id, _)) = free.min_by_key(|(_, cast)| cast.last) else { return false };
            self.forget(id);
        }
        true
    }

    /// What all bodies take.
    #[cfg(test)]
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}
