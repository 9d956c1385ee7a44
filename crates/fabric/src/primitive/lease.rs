//! Leases. A member may deliver and answer only while the master has promised not to go on without
//! it. The promise counts from the moment at which the member *sent* what the master answered, by
//! the member's clock; the master waits a lease and some slack from the moment at which it *heard*
//! of the member, by its own. So the member stops first, though nobody compares clocks.
//!
//! **Combined.** A member asks its parent, which gathers what its children ask for an eighth of a
//! beat, and asks for all of them in one message; the answer goes down the same way, each member
//! taking its part. So the master hears a message of each child, not of each member. Whoever is
//! answered soon asks again a beat later: those below one node ask at about the same time.
//!
//! A renewal on its way takes longer, and no more: it counts from when it was sent. Whom the last
//! two of its own have brought nothing asks the master itself: a node between may have stopped, or
//! be in another epoch. What a node that had stopped has gathered before is dropped, and what it
//! reads until it is answered again; or others that have died meanwhile would live longer.

use super::member::{Core, Standing};
use super::message::{Message, Renewal};
use super::tree::APART_MAX;
use crate::protocol::{NodeId, Time};
use std::collections::BTreeMap;
use std::time::Duration;

/// A member's lease and beat.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Lease {
    /// It ends then; there is none before the first was granted.
    pub until: Option<Time>,
    /// The next beat.
    pub next_beat: Time,
    /// When it is renewed next, if nobody below asks before.
    pub next_renewal: Time,
    /// Something has come from above, the first of this epoch, that could not be taken without it.
    pub has_missed: bool,
    /// What those below ask for, since the first of them did.
    gathered: Option<(Time, BTreeMap<NodeId, u64>)>,
    above: Above,
}

/// What a member knows of the way to the one above it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Above {
    /// When that one was last heard of.
    heard: Option<Time>,
    /// The epoch that the master has last granted a lease in: it may not have come from above yet.
    told: u64,
    /// The first messages that it has not acknowledged, of either kind, and up to where it knows
    /// that all is done; and since when these are the same.
    sent: Option<([Option<u64>; 3], Time)>,
    /// When it last said something again, as it had not heard what has come of that.
    repeated: Option<Time>,
}

impl Lease {
    /// None.
    pub fn new(now: Time) -> Lease {
        Lease {
            until: None,
            next_beat: now,
            next_renewal: now,
            has_missed: false,
            gathered: None,
            above: Above::default(),
        }
    }

    /// Whether it has not ended.
    pub fn is_good(&self, now: Time) -> bool {
        self.until.is_some_and(|until| now < until)
    }

    /// It counts from this moment. Whether it ends later by that.
    pub fn extend(&mut self, from: Time, lease: Duration) -> bool {
        let before = self.until;
        self.until = before.max(Some(from + lease));
        self.until > before
    }

    /// It is over, and nobody asks for any by way of this node.
    pub fn end(&mut self) {
        self.until = None;
        self.settle(true);
    }

    /// Another tree: what was gathered is for those of the last. `moved`: so is what is above.
    pub fn settle(&mut self, moved: bool) {
        self.gathered = None;
        self.has_missed = false;
        (self.above.sent, self.above.repeated) = (None, None);
        if moved {
            self.above.heard = None;
        }
    }
}

impl Core {
    /// How long a node gathers what those below ask.
    fn gathers(&self) -> Duration {
        self.config.beat / 8
    }

    /// When more time is to be asked for, by a member that does so.
    pub(super) fn next_renewal(&self) -> Option<Time> {
        if self.standing != Standing::Member || self.is_master() {
            return None;
        }
        let since = self.lease.gathered.as_ref().map(|(since, _)| *since + self.gathers());
        Some(since.map_or(self.lease.next_renewal, |due| due.min(self.lease.next_renewal)))
    }

    /// Asks for more time, for this node and for those below that have asked.
    pub(super) fn send_renew(&mut self, now: Time) {
        if self.is_master() {
            return;
        }
        self.lease.next_renewal = now + self.config.beat;
        let gathered = self.lease.gathered.take();
        let gathered = gathered.filter(|(since, _)| now - *since <= self.config.beat);
        let own = Renewal { node: self.config.node, stamp: now.0 };
        let below = gathered.into_iter().flat_map(|(_, below)| below);
        let below = below.map(|(node, stamp)| Renewal { node, stamp });
        let renewals = std::iter::once(own).chain(below).collect();
        let above = self.place.parent.filter(|_| self.is_answered(now));
        let to = above.unwrap_or(self.config.master);
        self.send(to, &Message::Renew { epoch: self.epoch, renewals });
    }

    /// Whether one of the last two renewals has been granted.
    fn is_answered(&self, now: Time) -> bool {
        let age = |until: Time| now + self.config.lease - until;
        let lately = |until: Time| age(until) < 2 * self.config.beat;
        self.standing == Standing::Member && self.lease.until.is_some_and(lately)
    }

    /// Members ask for more time.
    pub(super) fn renew(
        &mut self,
        now: Time,
        from: NodeId,
        epoch: u64,
        renewals: Vec<Renewal>,
    ) -> Result<(), &'static str> {
        let Some(sequencer) = self.sequencer.as_mut() else {
            return self.gather_renewals(now, from, epoch, renewals);
        };
        if sequencer.collecting.is_some() || epoch > self.epoch {
            return Ok(());
        }
        let mut granted = Vec::new();
        for renewal in renewals {
            // An earlier life of a node that has joined again is answered nothing.
            let fresh = sequencer.fresh.get(&renewal.node);
            let is_old = fresh.is_some_and(|(since, _)| epoch < *since);
            let is_beyond = sequencer.beyond.contains(&renewal.node);
            match sequencer.heard.get_mut(&renewal.node) {
                Some(heard) if !is_old && !is_beyond => {
                    *heard = now;
                    sequencer.unheard.remove(&renewal.node);
                    sequencer.fresh.remove(&renewal.node);
                    granted.push(renewal);
                }
                _ => {}
            }
        }
        if !sequencer.heard.contains_key(&from) {
            // Others that are no members ask here themselves.
            let standing = Message::Standing { epoch: self.epoch, incarnation: 0, member: false };
            self.send(from, &standing);
        }
        if !granted.is_empty() {
            self.send(from, &Message::Granted { epoch: self.epoch, renewals: granted });
        }
        Ok(())
    }

    /// Whether another epoch has begun, which has not come here.
    fn is_behind(&self) -> bool {
        self.lease.above.told > self.epoch
    }

    /// The parent was heard of; but who is above in an epoch that is over does not count.
    pub(super) fn hear_above(&mut self, now: Time) {
        if !self.is_behind() {
            self.lease.above.heard = Some(now);
        }
    }

    /// Who is above says something again, or asks what has come of it.
    pub(super) fn heard_again(&mut self, now: Time) {
        self.lease.above.repeated = Some(now);
    }

    /// Tells the master if it is reached and who is above is not, in one direction at least:
    /// nothing has come from there, or nothing gets there, for so long that the one above would be
    /// no member any more if it had stopped.
    pub(super) fn look_above(&mut self, now: Time) {
        let master = self.config.master;
        if !self.is_behind() && self.place.parent.is_none_or(|parent| parent == master) {
            return;
        }
        // How far all is done here is no message, and nobody acknowledges it; but who has not heard
        // it says what he said again, at least every eighth beat.
        let lately = |at: Time| now - at <= 10 * self.config.beat;
        let (is_repeated, flights) = (self.lease.above.repeated.is_some_and(lately), &self.flights);
        let untold = (is_repeated && flights.stable < flights.done).then_some(flights.stable);
        let sent = [self.parent.unacknowledged(), self.telling.unacknowledged(), untold];
        let is_good = self.lease.is_good(now);
        let Above { heard, sent: before, .. } = &mut self.lease.above;
        // Without a lease it is the master that is not reached.
        if !is_good || heard.is_none() {
            *heard = Some(now);
        }
        if !is_good || before.is_none_or(|(before, _)| before != sent) {
            *before = (sent != [None; 3]).then_some((sent, now));
        }
        let since = before.map_or(*heard, |(_, since)| heard.map(|heard| heard.min(since)));
        let patience = 2 * (self.config.lease + self.config.slack);
        if since.is_some_and(|since| now - since > patience) {
            self.send(master, &Message::Apart { epoch: self.epoch });
        }
    }

    /// At the master: a member that is reached does not reach the one above it. It becomes a child
    /// of this one, with the next tick. Without room it gets no lease any more, and is no member
    /// when its last one is over: else all would wait for it for ever.
    pub(super) fn take_apart(&mut self, from: NodeId) -> Result<(), &'static str> {
        let Some(sequencer) = &mut self.sequencer else {
            return Err("a node is apart, for one that does not lead");
        };
        let is_child = self.place.children.iter().any(|branch| branch.node == from);
        let is_taken = is_child || sequencer.apart.contains(&from);
        if is_taken || sequencer.collecting.is_some() || !sequencer.heard.contains_key(&from) {
            return Ok(());
        }
        if sequencer.apart.len() < APART_MAX {
            sequencer.beyond.remove(&from);
            sequencer.apart.insert(from);
            sequencer.is_tree_old = true;
        } else {
            sequencer.beyond.insert(from);
        }
        Ok(())
    }

    /// A child asks, for itself and for those below it. In another epoch it may be none, and asks
    /// the master when it is answered nothing; so it does while this node is not answered itself,
    /// which may have stood still, and reads now what was sent long ago.
    fn gather_renewals(
        &mut self,
        now: Time,
        from: NodeId,
        epoch: u64,
        renewals: Vec<Renewal>,
    ) -> Result<(), &'static str> {
        if epoch != self.epoch || !self.is_answered(now) {
            return Ok(());
        }
        let branch = self.place.children.iter().find(|branch| branch.node == from);
        let branch = branch.ok_or("a renewal to a node that is not above")?;
        if !renewals.iter().all(|renewal| branch.holds(renewal.node)) {
            return Err("a renewal for a node that is not below");
        }
        let (_, below) = self.lease.gathered.get_or_insert_with(|| (now, BTreeMap::new()));
        below.extend(renewals.into_iter().map(|renewal| (renewal.node, renewal.stamp)));
        Ok(())
    }

    /// More time, from when it was asked for, for this node and for those below. What was granted
    /// in an epoch before this life was taken in an earlier one has asked for: a node between may
    /// have stood still. So it has what is later than now; its clock was ahead of this one's.
    pub(super) fn granted(
        &mut self,
        now: Time,
        from: NodeId,
        epoch: u64,
        renewals: &[Renewal],
    ) -> Result<(), &'static str> {
        let is_member = self.standing == Standing::Member;
        if from != self.config.master && (self.place.parent != Some(from) || !is_member) {
            // It was above in another epoch.
            return Ok(());
        }
        if from == self.config.master {
            self.lease.above.told = epoch.max(self.lease.above.told);
        }
        if self.place.parent == Some(from) {
            self.hear_above(now);
        }
        let own = renewals.iter().find(|renewal| renewal.node == self.config.node);
        let own = own.map(|renewal| Time(renewal.stamp));
        let own = own.filter(|stamp| epoch >= self.joined && *stamp <= now);
        if let Some(stamp) = own.filter(|stamp| self.standing != Standing::Outside(*stamp))
            && self.lease.extend(stamp, self.config.lease)
            && now - stamp <= self.config.beat
        {
            // Those below ask a beat after this, and are waited for. An answer that comes late puts
            // nothing off: others may be on their way.
            let below = if self.children.is_empty() { Duration::ZERO } else { self.gathers() };
            self.lease.next_renewal = now + self.config.beat + below;
        }
        if self.lease.has_missed && self.is_current(now) {
            self.lease.has_missed = false;
            self.flush_parent();
        }
        for branch in self.place.children.clone().into_iter().filter(|_| is_member) {
            let part = renewals.iter().filter(|renewal| branch.holds(renewal.node));
            let renewals: Vec<Renewal> = part.copied().collect();
            if !renewals.is_empty() {
                self.send(branch.node, &Message::Granted { epoch, renewals });
            }
        }
        Ok(())
    }

    /// At the master: who was not heard of for too long is removed, who asked for it is taken in.
    pub(super) fn tick_master(&mut self, now: Time) {
        let Some(sequencer) = &mut self.sequencer else { return };
        // A node that wakes up suspects itself first: what it was sent meanwhile waits to be read.
        let slept = now - sequencer.ticked > self.config.lease / 2;
        sequencer.ticked = now;
        if sequencer.collecting.is_some() {
            return self.tick_collection(now);
        }
        if slept {
            sequencer.heard.values_mut().for_each(|heard| *heard = now);
        }
        let (patience, master) = (self.config.lease + self.config.slack, self.config.node);
        let silent: Vec<NodeId> = sequencer
            .heard
            .iter()
            .filter(|(node, heard)| **node != master && now - **heard > patience)
            .map(|(node, _)| *node)
            .collect();
        if silent.is_empty() && sequencer.joining.is_empty() && !sequencer.is_tree_old {
            return;
        }
        // Who asks to be taken in, and was, is not reached by whoever was above.
        let lately =
            |node: &NodeId| sequencer.asks_in.get(node).is_some_and(|last| now - *last <= patience);
        let mut unreached: Vec<NodeId> = silent.iter().copied().filter(lately).collect();
        let room = APART_MAX.saturating_sub(sequencer.apart.len());
        sequencer.beyond.extend(unreached.drain(room.min(unreached.len())..));
        self.reopen(now, &silent);
        self.sequencer.iter_mut().for_each(|all| all.apart.extend(&unreached));
    }
}
