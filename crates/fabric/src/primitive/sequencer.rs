//! What only the master does: it takes what members ask, in the order of asking, gives each
//! operation a sequence number, stages it, and decides in that order.

use super::flight::Phase;
use super::link::Link;
use super::member::{Core, first_epoch, term_of};
use super::message::{Message, Op, Outcome, What, Work};
use super::nodes::Nodes;
use super::recover::Collection;
use crate::protocol::{NodeId, Payload, Time};
use muster_base::limits::{ASKED_MAX, STAGED_BYTES_MAX, STAGED_MAX};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

/// What only the master has.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Sequencer {
    /// The next sequence number.
    pub next: u64,
    /// Taken, not staged yet.
    pub queue: VecDeque<(Arc<Work>, Payload)>,
    /// Bytes of all that is in the queue or under way.
    pub bytes: usize,
    /// The comparison under way that may write: no other comparison may start meanwhile.
    pub writing: Option<u64>,
    /// What each member asks in this epoch.
    pub asks: BTreeMap<NodeId, Link>,
    /// Whose asks were left for want of room, in the order in which they came, and the bytes of the
    /// first of each.
    pub left: VecDeque<(NodeId, usize)>,
    /// Of these who have been told that there is room, which is kept from the others of them.
    pub called: BTreeMap<NodeId, usize>,
    /// The last operation taken from each origin.
    pub seen: BTreeMap<NodeId, u64>,
    /// The last operation of each origin that had been decided when this master was restarted.
    pub floor: BTreeMap<NodeId, u64>,
    /// When each member was last heard of.
    pub heard: BTreeMap<NodeId, Time>,
    /// Members that it began with and has not heard of since. They may not listen yet, so that
    /// nobody can connect to them proves nothing.
    pub unheard: BTreeSet<NodeId>,
    /// Members that have not shown yet that they have the state: since which epoch, and which life
    /// of theirs was taken in.
    pub fresh: BTreeMap<NodeId, (u64, u64)>,
    /// The last life of each node that was taken in.
    pub lives: BTreeMap<NodeId, u64>,
    /// Nodes that want to be members, and in which life; they are taken in with the next tick.
    pub joining: BTreeMap<NodeId, u64>,
    /// When members that have not shown so last asked to be taken in.
    pub asks_in: BTreeMap<NodeId, Time>,
    /// Who is to be this node's child: members, and others as soon as they are.
    pub apart: BTreeSet<NodeId>,
    /// Who would have to be, for whom there is no room: their leases end, and they stay outside
    /// until there is some.
    pub beyond: BTreeSet<NodeId>,
    /// It has become another than the one of this epoch.
    pub is_tree_old: bool,
    /// The last tick, to notice that this node was stopped.
    pub ticked: Time,
    /// After a restart, until all is known.
    pub collecting: Option<Collection>,
}

impl Sequencer {
    /// A master in its first epoch.
    pub fn new(members: &Nodes, now: Time, term: u32) -> Sequencer {
        Sequencer {
            next: first_epoch(term),
            queue: VecDeque::new(),
            bytes: 0,
            writing: None,
            asks: BTreeMap::new(),
            left: VecDeque::new(),
            called: BTreeMap::new(),
            seen: BTreeMap::new(),
            floor: BTreeMap::new(),
            heard: members.iter().map(|node| (node, now)).collect(),
            unheard: members.iter().collect(),
            fresh: BTreeMap::new(),
            lives: BTreeMap::new(),
            joining: BTreeMap::new(),
            asks_in: BTreeMap::new(),
            apart: BTreeSet::new(),
            beyond: BTreeSet::new(),
            is_tree_old: false,
            ticked: now,
            collecting: None,
        }
    }

    /// A node was taken in. In another life it counts from another number, which is a lower one if
    /// its clock was set back: what it asked in an earlier life says nothing of what it will ask.
    pub fn begin_life(&mut self, node: NodeId, incarnation: u64) {
        if self.lives.insert(node, incarnation) != Some(incarnation) {
            self.seen.insert(node, incarnation.saturating_sub(1));
            self.floor.remove(&node);
        }
    }

    fn has_room(&self, bytes: usize) -> bool {
        self.queue.len() < ASKED_MAX && self.bytes + bytes <= STAGED_BYTES_MAX
    }
}

impl Core {
    /// A member asks. Without room it is left as if it had been lost; the member is told when there
    /// is some, and asks again with its beats in any case.
    pub(super) fn asked(
        &mut self,
        from: NodeId,
        number: u64,
        work: Arc<Work>,
        body: Payload,
    ) -> Result<(), &'static str> {
        if !self.is_within(&work, body.len()) || work.set.is_empty() {
            return Err("a request outside of global memory");
        }
        if work.op.origin != from || !self.members.contains(from) {
            return Err("a request in another node's name");
        }
        let Some(sequencer) = &mut self.sequencer else {
            return Err("a request to a node that does not lead");
        };
        let room = sequencer.has_room(body.len());
        let link = sequencer.asks.entry(from).or_default();
        let is_next = link.is_expected(number);
        let was_called = is_next && sequencer.called.remove(&from).is_some();
        if is_next && room {
            // It may have come by its beats before it was called.
            sequencer.left.retain(|(node, _)| *node != from);
            link.take();
            self.take(work, body);
        } else if is_next && sequencer.left.iter().all(|(node, _)| *node != from) {
            sequencer.left.push_back((from, body.len()));
        }
        let link = self.sequencer.as_mut().and_then(|sequencer| sequencer.asks.get_mut(&from));
        if let Some(link) = link.filter(|link| link.owes()) {
            let (epoch, expected) = (self.epoch, link.acknowledge());
            self.send(from, &Message::Taken { epoch, expected, again: was_called && room });
        }
        Ok(())
    }

    /// Tells those whose asks were left to ask again, as far as there is room for them.
    fn call_left(&mut self) {
        while let Some(sequencer) = &mut self.sequencer
            && let Some((node, size)) = sequencer.left.front().copied()
            && sequencer.has_room(size + sequencer.called.values().sum::<usize>())
        {
            sequencer.left.pop_front();
            sequencer.called.insert(node, size);
            let expected = sequencer.asks.entry(node).or_default().acknowledge();
            self.send(node, &Message::Taken { epoch: self.epoch, expected, again: true });
        }
    }

    /// Takes an operation, unless it is known: after a change of epochs all are asked again.
    fn take(&mut self, work: Arc<Work>, body: Payload) {
        let Op { origin, number } = work.op;
        let Some(sequencer) = &mut self.sequencer else { return };
        let seen = sequencer.seen.get(&origin).is_some_and(|seen| number <= *seen);
        // Decided by a master before this one, after what the origin asked later.
        let behind = sequencer.floor.get(&origin).is_some_and(|floor| number <= *floor);
        if seen || behind {
            let mut known = self.flights.iter().filter(|flight| flight.work.op == work.op);
            if seen || known.any(|flight| flight.outcome() != Some(Outcome::Again)) {
                return;
            }
        }
        sequencer.seen.insert(origin, number);
        sequencer.bytes += body.len();
        sequencer.queue.push_back((work, body));
    }

    /// Does all that can be done now: takes its own user's operations, starts and decides.
    pub(super) fn sequence(&mut self) {
        if !self.is_master() || self.is_collecting() {
            return;
        }
        loop {
            self.take_own();
            if !self.decide_next() && !self.start_next() {
                return self.call_left();
            }
        }
    }

    fn take_own(&mut self) {
        if self.pending.is_empty() {
            return;
        }
        let node = self.config.node;
        loop {
            let Some(sequencer) = &self.sequencer else { return };
            let seen = sequencer.seen.get(&node).copied().unwrap_or(0);
            let next = self.pending.partition_point(|pending| pending.work.op.number <= seen);
            let Some(pending) = self.pending.get(next) else { return };
            if !sequencer.has_room(pending.body.len()) {
                return;
            }
            let (work, body) = (pending.work.clone(), pending.body.clone());
            self.take(work, body);
        }
    }

    /// Starts the next operation, if it may start.
    fn start_next(&mut self) -> bool {
        if self.flights.len() >= STAGED_MAX {
            return false;
        }
        let Some(sequencer) = &mut self.sequencer else { return false };
        let may = |work: &Work| sequencer.writing.is_none() || !work.is_compare();
        if !sequencer.queue.front().is_some_and(|(work, _)| may(work)) {
            return false;
        }
        let Some((work, body)) = sequencer.queue.pop_front() else { return false };
        let seq = sequencer.next;
        sequencer.next += 1;
        // A master that is started again has numbers; of the next term's none may be given out.
        assert_eq!(term_of(sequencer.next), term_of(seq), "the numbers of this term are used up");
        if matches!(work.what, What::Compare { write: Some(_), .. }) {
            sequencer.writing = Some(seq);
        }
        let Op { origin, number } = work.op;
        let behind = sequencer.floor.get(&origin).is_some_and(|floor| number <= *floor);
        let outside = work.set.first_outside(&self.members);
        let doom = match behind {
            true => Some(Outcome::MasterLost),
            false => outside.map(Outcome::NotMember),
        };
        match doom {
            Some(_) => self.flights.enter(seq, work, body).doom = doom,
            None => self.stage(seq, work, body),
        }
        true
    }

    /// Decides the first operation that is not decided, if its end is clear.
    fn decide_next(&mut self) -> bool {
        let Some(flight) = self.flights.first_undecided() else { return false };
        let outcome = match (flight.doom, flight.phase) {
            (Some(doom), _) => doom,
            (None, Phase::Staged(true)) => Outcome::Committed,
            (None, Phase::Staged(false)) => Outcome::NotHeld,
            _ => return false,
        };
        let (seq, work) = (flight.seq, flight.work.clone());
        if let Some(sequencer) = &mut self.sequencer {
            sequencer.writing.take_if(|writing| *writing == seq);
        }
        self.decide(seq, outcome, work);
        true
    }

    /// Whom all that is under way waits for: the nodes below those children that have not answered
    /// to the first of it. Where some of them have not been heard of lately, those keep the others.
    pub(super) fn missing(&self, now: Time) -> Nodes {
        let Some(sequencer) = &self.sequencer else { return Nodes::none() };
        if let Some(collection) = &sequencer.collecting {
            return collection.missing();
        }
        let Some(first) = self.flights.first_open() else { return Nodes::none() };
        let branches = self.place.children.iter().enumerate();
        let slow: Vec<_> = branches.filter(|(at, _)| first.waiting & (1 << at) != 0).collect();
        let is_below = |node| slow.iter().any(|(_, branch)| branch.holds(node));
        let mut missing = first.work.set.filter(is_below);
        if missing.is_empty() {
            // Who relays to its origin, or that one.
            missing = slow.iter().map(|(_, branch)| branch.node).collect();
        }
        let heard = |node| sequencer.heard.get(&node).copied().unwrap_or_default();
        let silent = missing.filter(|node| now - heard(node) > 2 * self.config.beat);
        if silent.is_empty() { missing } else { silent }
    }

    /// Another epoch: what is decided is told again, and what is not is staged again or, if one of
    /// its nodes is gone, will fail.
    pub(super) fn resume(&mut self) {
        let flights: Vec<_> = self.flights.iter().cloned().collect();
        for flight in flights {
            let outside = flight.work.set.first_outside(&self.members);
            match (flight.outcome(), outside) {
                (Some(outcome), _) => self.decide(flight.seq, outcome, flight.work),
                (None, _) if flight.doom.is_some() => {}
                (None, None) => self.stage(flight.seq, flight.work, flight.body),
                (None, Some(node)) => {
                    if let Some(flight) = self.flights.get(flight.seq) {
                        flight.doom = Some(Outcome::NotMember(node));
                    }
                }
            }
        }
    }
}
