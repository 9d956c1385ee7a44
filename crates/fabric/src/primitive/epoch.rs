//! Epochs: who is a member, and how a node comes to be one again.
//!
//! The master opens an epoch whenever the members change, and passes it down the new tree. What is
//! staged stays, so a decision finds its data at every member that has acknowledged it, in whatever
//! epoch it is told.

use super::member::{Core, Notice, Standing};
use super::message::{Carried, Message, Opening};
use super::nodes::Nodes;
use super::tree::APART_MAX;
use crate::protocol::{NodeId, Time};
use std::sync::Arc;

impl Core {
    /// At the master: there is proof that a node is dead. One that has asked to be taken in before
    /// it died is not: all would wait for it until its lease is over.
    pub(super) fn evidence(&mut self, now: Time, node: NodeId) {
        let Some(sequencer) = &mut self.sequencer else { return };
        sequencer.joining.remove(&node);
        sequencer.beyond.remove(&node);
        if node == self.config.node {
            return;
        }
        if let Some(collection) = &mut sequencer.collecting {
            collection.lose(node);
        } else if self.members.contains(node) {
            self.reopen(now, &[node]);
        }
    }

    /// At the master: opens an epoch without some, and with all who want to be in it.
    pub(super) fn reopen(&mut self, now: Time, gone: &[NodeId]) {
        let Some(sequencer) = &mut self.sequencer else { return };
        let epoch = self.epoch + 1;
        for node in gone {
            sequencer.heard.remove(node);
            sequencer.unheard.remove(node);
            sequencer.fresh.remove(node);
        }
        for (node, incarnation) in std::mem::take(&mut sequencer.joining) {
            sequencer.heard.insert(node, now);
            sequencer.unheard.remove(&node);
            sequencer.fresh.insert(node, (epoch, incarnation));
            sequencer.begin_life(node, incarnation);
        }
        let members: Nodes = sequencer.heard.keys().copied().collect();
        let joined: Nodes = sequencer.fresh.keys().copied().collect();
        sequencer.apart.retain(|node| members.contains(*node));
        let apart = sequencer.apart.iter().copied().collect();
        sequencer.asks_in.retain(|node, _| joined.contains(*node));
        sequencer.is_tree_old = false;
        let written = if joined.is_empty() { vec![] } else { self.memory.written() };
        let (last, stable) = (self.flights.last, self.flights.done);
        self.enter(epoch, Arc::new(Opening { members, joined, apart, last, stable, written }));
        self.resume();
    }

    /// From the parent: another epoch.
    pub(super) fn opened(
        &mut self,
        now: Time,
        from: NodeId,
        epoch: u64,
        expected: u64,
        opening: &Arc<Opening>,
    ) -> Result<(), &'static str> {
        let node = self.config.node;
        let outside = matches!(self.standing, Standing::Outside(_));
        if epoch > self.epoch.max(self.promised) {
            let members = &opening.members;
            if self.is_master() || !members.contains(node) || !members.contains(self.config.master)
            {
                return Err("an epoch that is none of this node's");
            }
            let may_be_apart = |node| node != self.config.master && opening.members.contains(node);
            if opening.apart.len() > APART_MAX || !opening.apart.iter().all(may_be_apart) {
                return Err("members apart that cannot be");
            }
            let within = |wrote: &super::message::Wrote| wrote.variable < self.config.variables;
            if !opening.written.iter().all(within) {
                return Err("a variable that does not exist");
            }
            // An opening that an earlier life was taken in by may still be on its way: this life
            // takes none before a master has told it of an epoch.
            let has_joined = self.promised > 0 && opening.joined.contains(node);
            if !outside || has_joined {
                self.enter(epoch, opening.clone());
                self.lease_on_entry(now);
            }
        }
        if epoch == self.epoch
            && self.place.parent == Some(from)
            && self.standing == Standing::Member
        {
            self.hear_above(now);
            if !self.parent.acknowledged(expected) {
                return Err("an acknowledgement of what was not sent");
            }
            if self.parent.is_expected(0) {
                self.parent.take();
            }
        }
        Ok(())
    }

    /// A lease that is over is renewed at once.
    fn lease_on_entry(&mut self, now: Time) {
        if !self.lease.is_good(now) {
            self.send_renew(now);
        }
    }

    /// Begins an epoch.
    pub(super) fn enter(&mut self, epoch: u64, opening: Arc<Opening>) {
        let asked = self.standing;
        self.standing = Standing::Member;
        (self.epoch, self.promised) = (epoch, epoch);
        self.settle_in(opening.members.clone(), opening.apart.clone());
        if let Some(sequencer) = &mut self.sequencer {
            sequencer.asks.clear();
            sequencer.left.clear();
            sequencer.called.clear();
            sequencer.bytes -= self.flights.forget(opening.stable);
        }
        self.flights.restart(opening.stable);
        if let Standing::Outside(since) = asked {
            // Taken in because of what was sent then: that counts as a renewal.
            self.joined = epoch;
            self.lease.extend(since, self.config.lease);
            self.memory.adopt(&opening.written);
            self.flights.last = opening.last;
            self.notices.push_back(Notice::Joined { epoch });
        }
        for child in 0..self.children.len() {
            self.send_down(child, Carried::Open(opening.clone()));
        }
        let Opening { members, joined, apart, .. } = &*opening;
        let [members, joined, apart] = [members, joined, apart].map(Nodes::clone);
        self.notices.push_back(Notice::Epoch { epoch, members, joined, apart });
        self.ask_again();
        self.pass_up();
    }

    /// Asks to be taken in.
    pub(super) fn send_join(&mut self) {
        let (epoch, incarnation) = (self.promised, self.config.incarnation);
        self.send(self.config.master, &Message::Join { epoch, incarnation });
    }

    /// At the master: a node wants to be a member. It has to know the epoch, so that this cannot be
    /// an old message; a member that asks was restarted, and joins anew.
    pub(super) fn join(
        &mut self,
        now: Time,
        from: NodeId,
        epoch: u64,
        incarnation: u64,
    ) -> Result<(), &'static str> {
        let Some(sequencer) = &mut self.sequencer else {
            return Err("a node joins one that does not lead");
        };
        if sequencer.collecting.is_some() {
            return Ok(());
        }
        if epoch == self.epoch {
            if sequencer.beyond.contains(&from) {
                if sequencer.apart.len() >= APART_MAX {
                    return Ok(());
                }
                sequencer.beyond.remove(&from);
                sequencer.apart.insert(from);
            }
            sequencer.joining.insert(from, incarnation);
            return Ok(());
        }
        if sequencer.fresh.get(&from).is_some_and(|(_, taken)| *taken == incarnation) {
            // It was taken in, and the epoch is on its way.
            sequencer.asks_in.insert(from, now);
            return Ok(());
        }
        let member = self.members.contains(from);
        self.send(from, &Message::Standing { epoch: self.epoch, incarnation, member });
        Ok(())
    }

    /// The master says whether this node is a member.
    pub(super) fn told_standing(
        &mut self,
        now: Time,
        from: NodeId,
        epoch: u64,
        incarnation: u64,
        member: bool,
    ) -> Result<(), &'static str> {
        if from != self.config.master || self.is_master() {
            return Err("a node's standing from one that does not lead");
        }
        match self.standing {
            Standing::Outside(_)
                if incarnation == self.config.incarnation && epoch > self.promised =>
            {
                self.promised = epoch;
                self.standing = Standing::Outside(now);
                self.send_join();
            }
            Standing::Member | Standing::Frozen if !member && epoch > self.epoch => {
                self.standing = Standing::Outside(now);
                self.promised = self.promised.max(epoch);
                self.lease.end();
                self.flights.clear();
                self.give_up();
                self.notices.push_back(Notice::Removed { epoch });
                self.send_join();
            }
            _ => {}
        }
        Ok(())
    }
}
