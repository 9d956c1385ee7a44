//! What members have to tell the master, combined on its way up the tree. It is no operation: it
//! has no place in their sequence, its origin is not told that it has arrived, and it may come
//! twice. For that it costs the master a message for each child and not four for each member.
//!
//! **On its way.** A member sends what it has, own and from below, in one message to its parent,
//! and no more than [`FLYING`] that the parent has not acknowledged: what comes meanwhile goes with
//! the next. So nothing waits where little is told, and where much is, much goes in one message.
//! Each link has numbers of its own, for what has no room here must not keep operations waiting.
//!
//! **How much.** Who has [`TOLD_BYTES_MAX`] waiting takes no more from below, nor from its user, so
//! that who is cut off does not gather without end ([`crate::global::Member::tell`]).
//!
//! **What may be lost.** A member keeps what its parent has not acknowledged, through all epochs,
//! and sends it again in each. What a member that dies has taken from others dies with it, and an
//! epoch begins without it. So who was told too little by then asks for it again in that epoch: it
//! comes by a tree of living members, or there is another epoch.

use super::link::Link;
use super::member::{Core, Notice, Standing};
use super::message::{Carried, Message};
use crate::protocol::{NodeId, Payload, Time};
use muster_base::limits::{TELL_BYTES, TOLD_BYTES_MAX};
use std::collections::VecDeque;

/// Messages to the parent that it has not acknowledged. It does so at once when it has all of them,
/// and with its beat if fewer come.
const FLYING: u64 = 2;

/// Bytes before those that are told: their region, and how many they are.
const HEAD: usize = 8;

/// What a member has to tell.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Telling {
    /// Not sent yet: one record or more each.
    waiting: VecDeque<Payload>,
    /// Bytes of these.
    bytes: usize,
    /// To the parent.
    up: Link,
    /// From the children.
    below: Vec<Link>,
}

impl Telling {
    /// A place in another tree. What the parent before did not say that it has is sent again.
    pub fn settle(&mut self, children: usize) {
        let kept = std::mem::take(&mut self.up).into_kept();
        for body in kept.into_iter().rev() {
            let Carried::Tell(body) = body else { continue };
            self.bytes += body.len();
            self.waiting.push_front(body);
        }
        self.below = vec![Link::default(); children];
    }

    /// The first message that the parent has not said that it has.
    pub fn unacknowledged(&self) -> Option<u64> {
        self.up.unacknowledged()
    }

    fn add(&mut self, records: Payload) {
        self.bytes += records.len();
        self.waiting.push_back(records);
    }

    /// What goes in the next message.
    fn next(&mut self) -> Option<Payload> {
        let first = self.waiting.pop_front()?;
        let fits = |sum: &mut usize, next: &Payload| {
            *sum += next.len();
            (*sum <= TELL_BYTES).then_some(())
        };
        let others = self.waiting.iter().scan(first.len(), fits).count();
        let mut all = first;
        if others > 0 {
            let mut bytes = all.to_vec();
            self.waiting.drain(..others).for_each(|next| bytes.extend_from_slice(&next));
            all = bytes.into();
        }
        self.bytes -= all.len();
        Some(all)
    }
}

/// The records of a message: of each its region and where in the body it lies.
fn records(body: &Payload) -> Result<Vec<(u32, Payload)>, &'static str> {
    let (mut records, mut at) = (Vec::new(), 0);
    while at < body.len() {
        let head = body[at..].first_chunk::<HEAD>().ok_or("what is told ends too early")?;
        let [region, length] = [0, 4].map(|at| {
            let number: [u8; 4] = head[at..at + 4].try_into().expect("four bytes");
            u32::from_le_bytes(number)
        });
        let (start, length) = (at + HEAD, length as usize);
        if length > body.len() - start {
            return Err("what is told ends too early");
        }
        at = start + length;
        records.push((region, body.part(start..at)));
    }
    Ok(records)
}

impl Core {
    fn may_be_told(&self, region: u32, bytes: usize) -> bool {
        let size = self.config.regions.get(region as usize);
        size.is_some_and(|size| bytes as u64 <= *size)
    }

    /// Bytes that wait here to be told, this node's and others'. Who has more looks at it first.
    pub fn untold(&self) -> usize {
        self.telling.bytes
    }

    /// Tells the master something.
    pub(super) fn tell(&mut self, region: u32, body: Payload) {
        let Ok(length) = u32::try_from(body.len()) else { return };
        if !self.may_be_told(region, body.len()) {
            return;
        }
        if self.is_master() {
            return self.notices.push_back(Notice::Told { region, body });
        }
        let mut record = Vec::with_capacity(HEAD + body.len());
        record.extend_from_slice(&region.to_le_bytes());
        record.extend_from_slice(&length.to_le_bytes());
        record.extend_from_slice(&body);
        self.telling.add(record.into());
        self.pass_up();
    }

    /// Sends what there is to tell, as far as the parent takes it.
    pub(super) fn pass_up(&mut self) {
        if self.standing != Standing::Member || self.place.parent.is_none() {
            return;
        }
        while self.telling.up.flying() < FLYING {
            let Some(body) = self.telling.next() else { return };
            let number = self.telling.up.post(Carried::Tell(body.clone()));
            self.send_tell(number, Carried::Tell(body));
        }
    }

    fn send_tell(&mut self, number: u64, carried: Carried) {
        let (epoch, expected, done) = (self.epoch, 0, 0);
        if let Some(to) = self.place.parent {
            self.send(to, &Message::Linked { epoch, number, expected, done, carried });
        }
    }

    /// From a child. Without room it is left as if it had been lost, and comes again.
    pub(super) fn told(
        &mut self,
        from: NodeId,
        number: u64,
        body: Payload,
    ) -> Result<(), &'static str> {
        let child = self.place.children.iter().position(|branch| branch.node == from);
        let child = child.ok_or("a child's message from a node that is none")?;
        let records = records(&body)?;
        if !records.iter().all(|(region, body)| self.may_be_told(*region, body.len())) {
            return Err("something is told that lies outside of global memory");
        }
        let has_room = self.telling.bytes < TOLD_BYTES_MAX;
        let link = &mut self.telling.below[child];
        if !link.is_expected(number) || !has_room {
            return Ok(());
        }
        link.take();
        if number % FLYING == FLYING - 1 {
            self.send_heard(child);
        }
        if self.is_master() {
            let told = records.into_iter().map(|(region, body)| Notice::Told { region, body });
            self.notices.extend(told);
        } else {
            self.telling.add(body);
            self.pass_up();
        }
        Ok(())
    }

    fn send_heard(&mut self, child: usize) {
        let (epoch, expected) = (self.epoch, self.telling.below[child].acknowledge());
        let to = self.place.children[child].node;
        self.send(to, &Message::Heard { epoch, expected });
    }

    /// From the parent: it has what it was told so far.
    pub(super) fn heard(
        &mut self,
        now: Time,
        from: NodeId,
        epoch: u64,
        expected: u64,
    ) -> Result<(), &'static str> {
        if epoch != self.epoch || self.place.parent != Some(from) {
            return Ok(());
        }
        self.hear_above(now);
        if !self.telling.up.acknowledged(expected) {
            return Err("an acknowledgement of what was not told");
        }
        self.pass_up();
        Ok(())
    }

    /// Sends again what was not acknowledged in time, and says what was owed.
    pub(super) fn beat_telling(&mut self) {
        let (first, kept) = self.telling.up.beat();
        for (number, carried) in (first..).zip(kept) {
            self.send_tell(number, carried);
        }
        for child in 0..self.telling.below.len() {
            if self.telling.below[child].owes() {
                self.send_heard(child);
            }
        }
    }
}
