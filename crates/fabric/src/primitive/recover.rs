//! A restarted master: what was under way when it died?
//!
//! It tells all nodes to take part in no epoch before its first, and asks what they know. It waits
//! for all of them, or until no lease of its predecessor can be good any more. Then what any member
//! saw decided is decided, because it may have delivered it, and all others have its data still;
//! what no member saw decided was delivered by none of them and is dropped, and its origin asks
//! again. Who is not in the last epoch that anyone knows was removed, and may not know it: the
//! others may have gone on without what it saw, so it is not listened to, unless there is nobody
//! else.

use super::flight::{Flights, Phase};
use super::member::{Config, Core, Standing, first_epoch};
use super::message::{Account, Known, Message, Outcome, What, Wrote};
use super::nodes::Nodes;
use super::sequencer::Sequencer;
use crate::protocol::{NodeId, Payload, Protocol, Time};
use std::collections::{BTreeMap, BTreeSet};

/// What a restarted master has been told so far.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Collection {
    /// Who may have been a member, but the master.
    nodes: Nodes,
    /// All leases are over then.
    until: Time,
    accounts: BTreeMap<NodeId, Account>,
    /// Of whose death there was proof meanwhile. What they knew counts all the same.
    gone: BTreeSet<NodeId>,
}

impl Collection {
    /// There is proof that a node is dead. Its account is waited for all the same: it may be on its
    /// way, and say what the node alone saw. In another life it is no member before it has joined.
    pub fn lose(&mut self, node: NodeId) {
        self.gone.insert(node);
    }

    /// Who has not answered.
    pub fn missing(&self) -> Nodes {
        self.nodes.filter(|node| !self.accounts.contains_key(&node))
    }
}

impl Core {
    /// A master that has been restarted, with all nodes that may have been members, and a term
    /// higher than of any master before.
    ///
    /// # Panics
    /// As [`Core::outside`], and when it is not the master.
    pub fn restarted(config: Config, nodes: &Nodes, term: u32, now: Time) -> Core {
        assert_eq!(config.node, config.master, "only the master");
        let mut core = Core::outside(config, now);
        core.standing = Standing::Member;
        // Below the first epoch of the term.
        core.epoch = first_epoch(term) - 1;
        core.promised = core.epoch;
        core.flights.last = core.epoch;
        core.settle_in(Nodes::one(core.config.node), Nodes::none());
        let mut sequencer = Sequencer::new(&core.members, now, term);
        sequencer.collecting = Some(Collection {
            nodes: nodes.without(core.config.node),
            until: now + core.config.lease + core.config.slack,
            accounts: BTreeMap::new(),
            gone: BTreeSet::new(),
        });
        core.sequencer = Some(Box::new(sequencer));
        core.tick(now);
        core
    }

    /// Whether a restarted master does not know all yet.
    pub(super) fn is_collecting(&self) -> bool {
        self.sequencer.as_ref().is_some_and(|sequencer| sequencer.collecting.is_some())
    }

    /// At a restarted master: asks those again who have not answered, or goes on without them.
    pub(super) fn tick_collection(&mut self, now: Time) {
        let collection = self.sequencer.as_ref().and_then(|all| all.collecting.as_ref());
        let Some(collection) = collection else { return };
        let silent = |node: &NodeId| !collection.accounts.contains_key(node);
        let silent: Vec<NodeId> = collection.nodes.iter().filter(silent).collect();
        if silent.is_empty() || now >= collection.until {
            return self.conclude(now);
        }
        for node in silent {
            self.send(node, &Message::Collect { epoch: self.epoch });
        }
    }

    /// A restarted master asks: nothing of an earlier epoch is taken from now on.
    pub(super) fn collected(&mut self, from: NodeId, epoch: u64) -> Result<(), &'static str> {
        if from != self.config.master || self.is_master() {
            return Err("a question that only a restarted master asks");
        }
        if epoch < self.promised || epoch <= self.epoch {
            return Ok(());
        }
        self.promised = epoch;
        let outside = matches!(self.standing, Standing::Outside(_));
        if !outside {
            self.standing = Standing::Frozen;
        }
        let known = |flight: &super::flight::Flight| Known {
            seq: flight.seq,
            outcome: flight.outcome(),
            work: flight.work.clone(),
        };
        let account = Account {
            epoch: if outside { 0 } else { self.epoch },
            members: self.members.clone(),
            stable: self.flights.stable,
            written: self.memory.written(),
            known: self.flights.iter().map(known).collect(),
        };
        self.send(from, &Message::Report { epoch, account });
        Ok(())
    }

    /// At a restarted master: what a node knows.
    pub(super) fn reported(
        &mut self,
        now: Time,
        from: NodeId,
        epoch: u64,
        account: Account,
    ) -> Result<(), &'static str> {
        let Some(sequencer) = &self.sequencer else {
            return Err("an answer to a node that does not lead");
        };
        let (Some(collection), true) = (&sequencer.collecting, epoch == self.epoch) else {
            return Ok(());
        };
        // Who was not asked must not stand for one who was.
        if !collection.nodes.contains(from) {
            return Ok(());
        }
        let variables = self.config.variables;
        let could_be = |known: &Known| known.seq <= epoch && self.is_within(&known.work, 0);
        let known = account.known.iter().all(could_be);
        if account.written.iter().any(|wrote| wrote.variable >= variables) || !known {
            return Err("an account of what cannot have been");
        }
        let collection = self.sequencer.as_mut().and_then(|all| all.collecting.as_mut());
        let collection = collection.expect("it was there");
        collection.accounts.insert(from, account);
        if collection.accounts.len() == collection.nodes.len() {
            self.conclude(now);
        }
        Ok(())
    }

    /// At a restarted master: opens the first epoch with those who were members and answered.
    fn conclude(&mut self, now: Time) {
        let Some(sequencer) = &mut self.sequencer else { return };
        let Some(collection) = sequencer.collecting.take() else { return };
        let (mut accounts, gone) = (collection.accounts, collection.gone);
        let last = accounts.values().max_by_key(|account| account.epoch);
        let members = last.map_or(Nodes::none(), |account| account.members.clone());
        let is_member =
            |node: NodeId, account: &Account| account.epoch > 0 && members.contains(node);
        if accounts.iter().any(|(node, account)| is_member(*node, account)) {
            accounts.retain(|node, account| is_member(*node, account));
            sequencer.heard.extend(accounts.keys().map(|node| (*node, now)));
        }
        let mut all: BTreeMap<u64, Known> = BTreeMap::new();
        let mut stable = 0;
        for account in accounts.into_values() {
            self.memory.learn(&account.written);
            stable = stable.max(account.stable);
            for known in account.known {
                let entry = all.entry(known.seq).or_insert_with(|| known.clone());
                entry.outcome = entry.outcome.or(known.outcome);
            }
        }
        // What is done everywhere needs nothing more.
        all.retain(|seq, _| *seq > stable);
        self.flights = Flights::after(self.epoch, stable);
        for known in all.into_values() {
            let outcome = known.outcome.unwrap_or(Outcome::Again);
            // What the last life of this node has asked for this one asks for no more; and if the
            // clock was set back in between, all that it asks for has lower numbers.
            let origin = known.work.op.origin;
            let is_done = known.outcome.is_some_and(|outcome| outcome != Outcome::Again);
            if is_done && origin != self.config.node {
                let floor = sequencer.floor.entry(origin).or_default();
                *floor = (*floor).max(known.work.op.number);
            }
            if let (Outcome::Committed, What::Compare { write: Some((variable, value)), .. }) =
                (outcome, known.work.what)
            {
                let wrote = Wrote { variable, seq: known.seq, value };
                self.memory.learn(&[wrote]);
            }
            let flight = self.flights.enter(known.seq, known.work, Payload::default());
            flight.phase = Phase::Decided(outcome);
        }
        self.reopen(now, &gone.into_iter().collect::<Vec<_>>());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitive::message::{Op, Relation, What, Work};
    use std::sync::Arc;

    /// Node 1 was cut off when it alone had seen a decision; the next master took it back. Told as
    /// done by the one after that, it would be done nowhere.
    #[test]
    fn what_only_a_removed_node_saw_decided_is_not_decided_so_again() {
        let mut master =
            Core::restarted(Config::new(NodeId(0), 1), &Nodes::range(0..=2), 3, Time(0));
        let epoch = master.epoch;
        let (variable, relation, value, write) = (0, Relation::Equal, 0, Some((0, 5)));
        let what = What::Compare { variable, relation, value, write };
        let (op, set) = (Op { origin: NodeId(2), number: 1 }, Nodes::range(1..=2));
        let work = Arc::new(Work { op, set, what });
        let seq = first_epoch(1);
        let mut report = |node, of, members, outcome| {
            let known = vec![Known { seq, outcome: Some(outcome), work: work.clone() }];
            let account = Account { epoch: of, members, stable: 0, written: vec![], known };
            master.reported(Time(0), NodeId(node), epoch, account).unwrap();
        };
        report(1, first_epoch(1), Nodes::range(0..=2), Outcome::Committed);
        report(2, first_epoch(2), Nodes::from_ranges(&[(0, 0), (2, 2)]).unwrap(), Outcome::Again);
        assert_eq!(
            master.flights.get(seq).and_then(|flight| flight.outcome()),
            Some(Outcome::Again)
        );
        assert!(!master.members.contains(NodeId(1)));
    }

    /// All would wait for it until its lease is over.
    #[test]
    fn who_died_after_it_answered_a_restarted_master_is_in_no_epoch_of_its() {
        let all = Nodes::range(0..=3);
        let mut master = Core::restarted(Config::new(NodeId(0), 1), &all, 2, Time(0));
        let epoch = master.epoch;
        let account = || Account {
            epoch: first_epoch(1),
            members: all.clone(),
            stable: 0,
            written: vec![],
            known: vec![],
        };
        // What node 3 has sent comes after the proof. The master itself is there.
        [0, 3].into_iter().for_each(|node| master.evidence(Time(0), NodeId(node)));
        for node in [2, 3] {
            master.reported(Time(0), NodeId(node), epoch, account()).unwrap();
        }
        master.evidence(Time(0), NodeId(2));
        assert!(master.is_collecting());
        master.reported(Time(0), NodeId(1), epoch, account()).unwrap();
        assert!(!master.is_collecting());
        assert_eq!(master.members, Nodes::range(0..=1));
    }

    #[test]
    fn a_restarted_master_believes_only_whom_it_asked_and_only_what_can_have_been() {
        let all = Nodes::range(0..=2);
        let mut master = Core::restarted(Config::new(NodeId(0), 1), &all, 2, Time(0));
        let epoch = master.epoch;
        let account =
            |known| Account { epoch: 1, members: all.clone(), stable: 0, written: vec![], known };
        let impossible = Known {
            seq: 1,
            outcome: Some(Outcome::Committed),
            work: Arc::new(Work {
                op: Op { origin: NodeId(1), number: 1 },
                set: all.clone(),
                what: What::Compare {
                    variable: 0,
                    relation: Relation::Equal,
                    value: 0,
                    write: Some((u32::MAX, 1)),
                },
            }),
        };
        let mut report =
            |from, known| master.reported(Time(0), NodeId(from), epoch, account(known));
        assert!(report(1, vec![impossible]).is_err(), "no such variable");
        // With its account there are as many as were asked; but node 2 has said nothing.
        report(9, vec![]).unwrap();
        report(1, vec![]).unwrap();
        assert!(master.is_collecting());
        master.reported(Time(0), NodeId(2), epoch, account(vec![])).unwrap();
        assert!(!master.is_collecting());
    }
}
