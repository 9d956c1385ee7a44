//! One member's state machine: what it holds, and who gets to work on a message.

use super::flight::Flights;
use super::lease::Lease;
use super::link::Link;
use super::memory::Memory;
use super::message::{Carried, Message, Outcome, Relation, What, Work};
use super::nodes::Nodes;
use super::request::Pending;
use super::sequencer::Sequencer;
use super::tell::Telling;
use super::tree::{ARITY_MAX, Place};
use crate::protocol::{Malformed, NodeId, Outgoing, Payload, Protocol, Time};
use muster_base::limits::TRANSFER_MAX;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

/// What is the same for a member's whole life.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Config {
    /// This node.
    pub node: NodeId,
    /// Which life of the node this is, and the number of its first operation: none of the numbers
    /// of a life before.
    pub incarnation: u64,
    /// The node that leads; the same for all.
    pub master: NodeId,
    /// Children of a node in the tree: 1 to 31; the same for all.
    pub arity: usize,
    /// How many variables there are; the same for all.
    pub variables: u32,
    /// How many events there are; the same for all.
    pub events: u32,
    /// How many bytes each region has; the same for all.
    pub regions: Vec<u64>,
    /// How long a lease is good from the moment its renewal was sent.
    pub lease: Duration,
    /// How much longer the master waits: more than two clocks drift apart in a lease.
    pub slack: Duration,
    /// Time between two ticks, which is some; a lease has several, at least two.
    pub beat: Duration,
    /// Whether the end of a connection with the master counts as a proof that the peer is dead: the
    /// kernel closes a dead one's, and seldom another's; of hosts the way between may break. Who is
    /// killed is then removed at once, and not when its lease has ended, unless the master has not
    /// heard of it yet: it may not listen yet, too. Who lives may answer for a lease as it was.
    pub end_is_death: bool,
}

/// A lease and its slack together: a year, far from what times cannot say.
const LEASE_MAX: Duration = Duration::from_secs(365 * 24 * 3600);

impl Config {
    /// For one of several nodes, the first of which leads. What runs on a machine takes its
    /// incarnation from [`crate::global::incarnation`].
    pub fn new(node: NodeId, incarnation: u64) -> Config {
        Config {
            node,
            incarnation,
            master: NodeId(0),
            arity: 4,
            variables: 64,
            events: 64,
            regions: vec![],
            lease: Duration::from_secs(2),
            slack: Duration::from_millis(250),
            beat: Duration::from_millis(250),
            end_is_death: false,
        }
    }

    /// What of some work every node lacks, if it lacks anything.
    pub(super) fn outside(&self, what: &What, count: usize) -> Option<Refusal> {
        match *what {
            What::Transfer { region, offset, event } => {
                self.beyond(region, offset, count).or_else(|| self.no_event(event?))
            }
            What::Compare { variable, write, .. } => {
                let written = || self.no_variable(write?.0);
                self.no_variable(variable).or_else(written)
            }
        }
    }

    /// Whether bytes do not lie in a region, and why.
    pub(crate) fn beyond(&self, region: u32, offset: u64, count: usize) -> Option<Refusal> {
        let Some(&size) = self.regions.get(region as usize) else {
            return Some(Refusal::Region { region, regions: self.regions.len() });
        };
        let end = offset.checked_add(count as u64);
        let is_in = end.is_some_and(|end| end <= size);
        (!is_in).then_some(Refusal::Range { region, offset, count, size })
    }

    /// Whether there is no such event.
    pub(super) fn no_event(&self, event: u32) -> Option<Refusal> {
        let events = self.events;
        (event >= events).then_some(Refusal::Event { event, events })
    }

    /// Whether there is no such variable.
    pub(crate) fn no_variable(&self, variable: u32) -> Option<Refusal> {
        let variables = self.variables;
        (variable >= variables).then_some(Refusal::Variable { variable, variables })
    }

    /// Says what cannot be, if anything is so.
    pub(crate) fn check(&self) -> std::result::Result<(), String> {
        let Config { arity, lease, slack, beat, .. } = *self;
        if !(1..=ARITY_MAX).contains(&arity) {
            return Err(format!("a tree's nodes have 1 to {ARITY_MAX} children, not {arity}"));
        }
        if beat.is_zero() {
            return Err(format!("time passes between two beats, not {beat:?}"));
        }
        if lease / 2 < beat {
            let least = beat.saturating_mul(2);
            return Err(format!(
                "with a beat of {beat:?} a lease is {least:?} or more, not {lease:?}"
            ));
        }
        if lease.saturating_add(slack) > LEASE_MAX {
            return Err(format!(
                "a lease and its slack are {LEASE_MAX:?} at most, not {lease:?} and {slack:?}"
            ));
        }
        Ok(())
    }
}

/// What a user asks for. Tickets are the user's own names for operations.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the fields are explained where they go: What")]
pub enum Request {
    /// XFER-AND-SIGNAL: the body goes into a region of all nodes of a set, or of none.
    Transfer {
        ticket: u64,
        set: Nodes,
        region: u32,
        offset: u64,
        body: Payload,
        /// Signalled at every node of the set.
        remote: Option<u32>,
        /// Signalled here when it is done.
        local: Option<u32>,
    },
    /// COMPARE-AND-WRITE.
    Compare {
        ticket: u64,
        set: Nodes,
        variable: u32,
        relation: Relation,
        value: u64,
        write: Option<(u32, u64)>,
    },
    /// Tells the master a letter for a region: combined with others' on the way, in no order with
    /// operations, and it may come twice. It is lost if a member on the way dies, and with it an
    /// epoch begins.
    Tell { region: u32, body: Payload },
    /// Sets this node's own instance of a variable.
    Set { variable: u32, value: u64 },
    /// At the master: there is proof that a node is dead (it may be wrong: the node rejoins then).
    Evidence { node: NodeId },
}

/// What a user is told.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the fields are explained where they come from: What, Opening")]
pub enum Notice {
    /// Write this into the region; then its event may be looked at.
    Delivered {
        seq: u64,
        origin: NodeId,
        region: u32,
        offset: u64,
        body: Payload,
        event: Option<u32>,
    },
    /// At the master: a member tells this.
    Told { region: u32, body: Payload },
    /// COMPARE-AND-WRITE has written this node's instance of a variable.
    Written { seq: u64, variable: u32, value: u64 },
    /// How an operation ended, and its sequence number where that is known; in the order of the
    /// requests.
    Completed { ticket: u64, seq: Option<u64>, outcome: Outcome },
    /// A request was not taken; nothing has happened.
    Refused { ticket: u64, why: Refusal },
    /// Another epoch, with these members; `joined` are those who have been taken in lately, maybe
    /// in the epoch before already, and have nothing but the variables; `apart` are those whom the
    /// master reaches itself, because one who would be between does not.
    Epoch { epoch: u64, members: Nodes, joined: Nodes, apart: Nodes },
    /// This node has become a member and has taken over the variables. What regions held is the
    /// user's to fetch.
    Joined { epoch: u64 },
    /// This node is no member any more; it asks to be one again.
    Removed { epoch: u64 },
}

/// Why a request was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say it")]
pub enum Refusal {
    #[error("the node set is empty")]
    Empty,
    #[error("the node set has more than {} ranges", muster_base::limits::SET_RANGES_MAX)]
    Scattered,
    #[error("there is no region {region}: their number is {regions}")]
    Region { region: u32, regions: usize },
    #[error("{count} bytes at {offset} end behind region {region}, which has {size}")]
    Range { region: u32, offset: u64, count: usize, size: u64 },
    #[error("there is no event {event}: their number is {events}")]
    Event { event: u32, events: u32 },
    #[error("there is no variable {variable}: their number is {variables}")]
    Variable { variable: u32, variables: u32 },
    #[error("a transfer of {0} bytes: at most {TRANSFER_MAX} are possible")]
    Long(usize),
    #[error("too much of this node's is under way; wait for a completion")]
    Full,
    #[error("this node is no member")]
    NotMember,
}

/// Whether a node takes part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Standing {
    /// It does.
    Member,
    /// It has told a restarted master what it knows, and waits for the epoch.
    Frozen,
    /// It does not, and has asked to be taken in, first at this moment.
    Outside(Time),
}

/// So many of the lower bits of an epoch's number, and of an operation's, are those of one term: at
/// ten thousand operations a second a term has enough for three years.
const TERM_SHIFT: u32 = 40;

/// The last term that there can be.
pub const TERM_MAX: u32 = (1 << (u64::BITS - TERM_SHIFT)) - 1;

/// The number of a term's first epoch; the term is above.
pub(super) const fn first_epoch(term: u32) -> u64 {
    ((term as u64) << TERM_SHIFT) | 1
}

/// The term of an epoch's number, or an operation's.
pub(super) const fn term_of(number: u64) -> u64 {
    number >> TERM_SHIFT
}

/// A member.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Core {
    pub(super) config: Arc<Config>,
    pub(super) standing: Standing,
    /// The epoch that this node is or was in; 0 before the first.
    pub(super) epoch: u64,
    /// Nothing of an epoch up to this one is taken any more, but of the own one.
    pub(super) promised: u64,
    /// The epoch in which this life was taken in; 0 if it was there from the beginning.
    pub(super) joined: u64,
    pub(super) members: Nodes,
    /// Members that are the master's children because of a way that is none ([`super::tree`]).
    pub(super) apart: Nodes,
    pub(super) place: Place,
    /// Links to the parent, to the children, and of what is asked of the master.
    pub(super) parent: Link,
    pub(super) children: Vec<Link>,
    pub(super) asking: Link,
    pub(super) telling: Telling,
    /// To whom there are messages that have not left this node.
    pub(super) waiting: Vec<NodeId>,
    pub(super) lease: Lease,
    pub(super) memory: Memory,
    pub(super) flights: Flights,
    pub(super) pending: VecDeque<Pending>,
    /// Bytes of all pending bodies.
    pub(super) pending_bytes: usize,
    /// The number of the next operation.
    pub(super) number: u64,
    /// What only the master has.
    pub(super) sequencer: Option<Box<Sequencer>>,
    pub(super) outgoing: VecDeque<Outgoing>,
    pub(super) notices: VecDeque<Notice>,
}

impl Core {
    /// A node of a cluster that starts with all of its members at once.
    ///
    /// # Panics
    /// When the master or this node is no member, or as [`Core::outside`].
    pub fn member(config: Config, members: Nodes, now: Time) -> Core {
        assert!(members.contains(config.master), "the master is a member");
        let mut core = Core::outside(config, now);
        core.standing = Standing::Member;
        core.epoch = first_epoch(1);
        core.settle_in(members, Nodes::none());
        if core.config.node == core.config.master {
            core.sequencer = Some(Box::new(Sequencer::new(&core.members, now, 1)));
        }
        core
    }

    /// A node that asks to be taken in: a new one, or one that was restarted.
    ///
    /// # Panics
    /// When there can be no such [`Config`]: whoever starts one has to look at that before.
    pub fn outside(config: Config, now: Time) -> Core {
        assert_eq!(config.check(), Ok(()));
        Core {
            standing: Standing::Outside(now),
            epoch: 0,
            promised: 0,
            joined: 0,
            members: Nodes::none(),
            apart: Nodes::none(),
            place: Place { parent: None, children: vec![] },
            parent: Link::default(),
            children: vec![],
            asking: Link::default(),
            telling: Telling::default(),
            waiting: Vec::new(),
            lease: Lease::new(now),
            memory: Memory::new(config.variables, config.events),
            flights: Flights::default(),
            pending: VecDeque::new(),
            pending_bytes: 0,
            number: config.incarnation,
            sequencer: None,
            outgoing: VecDeque::new(),
            notices: VecDeque::new(),
            config: Arc::new(config),
        }
    }

    /// This node.
    pub fn node(&self) -> NodeId {
        self.config.node
    }

    /// How many operations are not known to be done at all of whom they are, as far as this node
    /// has to know.
    pub fn under_way(&self) -> usize {
        self.flights.len()
    }

    /// The epoch, and its members.
    pub fn epoch(&self) -> (u64, &Nodes) {
        (self.epoch, &self.members)
    }

    /// Whether this node may deliver and answer now: it is a member and its lease is good.
    pub fn is_current(&self, now: Time) -> bool {
        self.current_until().is_some_and(|until| now < until)
    }

    /// Until when this node may deliver and answer, as far as it knows now; none if it may not. Who
    /// leads always may, once it knows what was under way when it began.
    pub fn current_until(&self) -> Option<Time> {
        match self.standing {
            Standing::Member if self.is_collecting() => None,
            Standing::Member if self.is_master() => Some(Time(u64::MAX)),
            Standing::Member => self.lease.until,
            Standing::Frozen | Standing::Outside(_) => None,
        }
    }

    /// TEST-EVENT: how often an event was signalled here. None while this node may not answer, or
    /// if there is no such event.
    pub fn event(&self, now: Time, event: u32) -> Option<u64> {
        self.is_current(now).then(|| self.memory.event(event)).flatten()
    }

    /// This node's instance of a variable. None as in [`Core::event`].
    pub fn variable(&self, now: Time, variable: u32) -> Option<u64> {
        self.is_current(now).then(|| self.memory.variable(variable)).flatten()
    }

    /// The epoch in which this node was last taken in: since then its variables are what it and the
    /// others have made of those that it was given then.
    pub fn joined(&self) -> u64 {
        self.joined
    }

    pub(super) fn is_master(&self) -> bool {
        self.sequencer.is_some()
    }

    /// Takes the place in the tree of an epoch's members, with fresh links.
    pub(super) fn settle_in(&mut self, members: Nodes, apart: Nodes) {
        let config = &self.config;
        let place = Place::new((&members, &apart), config.master, config.arity, config.node);
        let moved = place.parent != self.place.parent;
        self.place = place;
        (self.members, self.apart) = (members, apart);
        self.parent = Link::default();
        self.children = vec![Link::default(); self.place.children.len()];
        self.asking = Link::default();
        self.telling.settle(self.place.children.len());
        self.lease.settle(moved);
    }

    pub(super) fn send(&mut self, to: NodeId, message: &Message) {
        let (head, body) = message.encode();
        self.outgoing.push_back(Outgoing { to, head, body });
    }

    /// Sends to a child, for good.
    pub(super) fn send_down(&mut self, child: usize, carried: Carried) {
        let number = self.children[child].post(carried.clone());
        self.send_child(child, number, carried);
    }

    pub(super) fn send_child(&mut self, child: usize, number: u64, carried: Carried) {
        let (epoch, done) = (self.epoch, self.flights.stable);
        let expected = self.children[child].acknowledge();
        let to = self.place.children[child].node;
        self.send(to, &Message::Linked { epoch, number, expected, done, carried });
    }

    /// Sends to the parent, for good.
    pub(super) fn send_up(&mut self, carried: Carried) {
        let number = self.parent.post(carried.clone());
        self.send_parent(number, carried);
    }

    pub(super) fn send_parent(&mut self, number: u64, carried: Carried) {
        let (epoch, done) = (self.epoch, self.flights.report());
        let expected = self.parent.acknowledge();
        if let Some(to) = self.place.parent {
            self.send(to, &Message::Linked { epoch, number, expected, done, carried });
        }
    }

    /// Whether work lies within what every node has.
    pub(super) fn is_within(&self, work: &Work, bytes: usize) -> bool {
        let takes_bytes = matches!(work.what, What::Transfer { .. });
        (takes_bytes || bytes == 0) && self.config.outside(&work.what, bytes).is_none()
    }

    /// A message of a link, from the parent, a child or (what is asked) any member.
    fn linked(
        &mut self,
        now: Time,
        from: NodeId,
        (epoch, number): (u64, u64),
        (expected, done): (u64, u64),
        carried: Carried,
    ) -> Result<(), &'static str> {
        if let Carried::Open(opening) = &carried {
            return self.opened(now, from, epoch, expected, opening);
        }
        if epoch != self.epoch || !self.is_current(now) {
            let is_from_above = epoch == self.epoch && self.place.parent == Some(from);
            self.lease.has_missed |= is_from_above && !self.parent.has_taken();
            return Ok(());
        }
        match carried {
            Carried::Open(_) => Ok(()),
            Carried::Stage(seq, work, body) => {
                if !self.is_within(&work, body.len()) {
                    return Err("a transfer or comparison outside of global memory");
                }
                self.hear_parent(now, from, expected, done)?;
                if self.is_next(now, number) {
                    self.parent.take();
                    self.stage(seq, work, body);
                }
                Ok(())
            }
            Carried::Decide(seq, outcome, work) => {
                self.hear_parent(now, from, expected, done)?;
                if self.is_next(now, number) {
                    self.may_decide(seq, outcome, &work)?;
                    self.parent.take();
                    self.decide(seq, outcome, work);
                }
                Ok(())
            }
            Carried::Staged(seq, holds) => {
                let child = self.hear_child(from, expected, done)?;
                if self.children[child].is_expected(number) {
                    self.may_gather(seq, child)?;
                    self.children[child].take();
                    self.gather(seq, child, holds);
                }
                Ok(())
            }
            Carried::Ask(work, body) => self.asked(from, number, work, body),
            Carried::Tell(body) => self.told(from, number, body),
        }
    }

    /// Whether the parent's message is the one that is expected.
    fn is_next(&mut self, now: Time, number: u64) -> bool {
        let is_next = self.parent.is_expected(number);
        if !is_next {
            self.heard_again(now);
        }
        is_next
    }

    /// What every message of the parent says.
    fn hear_parent(
        &mut self,
        now: Time,
        from: NodeId,
        expected: u64,
        done: u64,
    ) -> Result<(), &'static str> {
        if self.place.parent != Some(from) {
            return Err("a parent's message from a node that is none");
        }
        self.hear_above(now);
        if !self.parent.acknowledged(expected) {
            return Err("an acknowledgement of what was not sent");
        }
        self.flights.forget(done);
        Ok(())
    }

    /// What every message of a child says.
    fn hear_child(
        &mut self,
        from: NodeId,
        expected: u64,
        done: u64,
    ) -> Result<usize, &'static str> {
        let child = self.place.children.iter().position(|branch| branch.node == from);
        let child = child.ok_or("a child's message from a node that is none")?;
        if !self.children[child].acknowledged(expected) {
            return Err("an acknowledgement of what was not sent");
        }
        self.flights.done_below(child, done);
        self.report();
        Ok(child)
    }

    fn flushed(
        &mut self,
        now: Time,
        from: NodeId,
        epoch: u64,
        expected: u64,
        done: u64,
    ) -> Result<(), &'static str> {
        if epoch != self.epoch || !self.is_current(now) {
            return Ok(());
        }
        match self.place.parent == Some(from) {
            true => {
                let sent = self.parent.unacknowledged();
                self.hear_parent(now, from, expected, done)?;
                // What it was told may not have come to it.
                self.flights.report_again();
                // One that acknowledges something is sent for that, and says nothing again.
                if self.parent.unacknowledged() == sent {
                    self.heard_again(now);
                }
                Ok(())
            }
            false => {
                let child = self.hear_child(from, expected, done)?;
                if expected == 0 {
                    self.tell_child_again(child);
                }
                // Who has nothing else to say says it because it is due.
                if self.flights.has_unreported() {
                    self.flush_parent();
                }
                Ok(())
            }
        }
    }

    /// Sends again what a child has not, which had no lease yet when it came. It has asked for it:
    /// what may wait here for it since the last tick is none of that.
    fn tell_child_again(&mut self, child: usize) {
        let (first, kept) = self.children[child].again();
        for (number, carried) in (first..).zip(kept) {
            self.send_child(child, number, carried);
        }
    }

    fn taken(
        &mut self,
        from: NodeId,
        epoch: u64,
        expected: u64,
        again: bool,
    ) -> Result<(), &'static str> {
        if epoch != self.epoch || from != self.config.master {
            return Ok(());
        }
        if !self.asking.acknowledged(expected) {
            return Err("an acknowledgement of what was not asked");
        }
        // There is room for one: the next is called by what acknowledges it.
        if again {
            let (first, kept) = self.asking.again();
            if let Some(carried) = kept.into_iter().next() {
                self.send_ask(first, carried);
            }
        }
        Ok(())
    }

    /// Sends again what was not acknowledged in time, and says what was owed.
    fn beat_links(&mut self) {
        let waits = |to: &NodeId| self.waiting.contains(to);
        let parent = self.place.parent.filter(|to| !waits(to));
        let (first, kept) = parent.map(|_| self.parent.beat()).unwrap_or_default();
        for (number, carried) in (first..).zip(kept) {
            self.send_parent(number, carried);
        }
        if self.parent.owes() || self.flights.has_unreported() {
            self.flush_parent();
        }
        for child in 0..self.children.len() {
            self.beat_child(child);
        }
        let is_asking = !self.waiting.contains(&self.config.master);
        let (first, kept) = if is_asking { self.asking.beat() } else { (0, vec![]) };
        for (number, carried) in (first..).zip(kept) {
            self.send_ask(number, carried);
        }
        self.beat_telling();
    }

    fn beat_child(&mut self, child: usize) {
        let to = self.place.children[child].node;
        if self.waiting.contains(&to) {
            return;
        }
        let (first, kept) = self.children[child].beat();
        for (number, carried) in (first..).zip(kept) {
            self.send_child(child, number, carried);
        }
        let link = &mut self.children[child];
        // How far a child has come is said in passing, and what only it can say.
        let is_due = link.flying() == 0 && self.flights.awaits(child);
        if link.is_silent(is_due) || link.owes() {
            let expected = link.acknowledge();
            let (epoch, done) = (self.epoch, self.flights.stable);
            self.send(to, &Message::Flush { epoch, expected, done });
        }
    }

    pub(super) fn flush_parent(&mut self) {
        let Some(to) = self.place.parent else { return };
        let (epoch, done) = (self.epoch, self.flights.report());
        let expected = self.parent.acknowledge();
        self.send(to, &Message::Flush { epoch, expected, done });
    }
}

impl Protocol for Core {
    type Request = Request;
    type Notice = Notice;

    fn is_urgent(head: &[u8]) -> bool {
        Message::is_urgent(head)
    }

    fn request(&mut self, now: Time, request: Request) {
        self.requested(now, request);
        self.sequence();
    }

    fn receive(
        &mut self,
        now: Time,
        from: NodeId,
        head: &[u8],
        body: Payload,
    ) -> Result<(), Malformed> {
        let malformed = |what: &str| Malformed { from, what: what.to_owned() };
        let result = match Message::decode(head, body).map_err(malformed)? {
            Message::Linked { epoch, number, expected, done, carried } => {
                self.linked(now, from, (epoch, number), (expected, done), carried)
            }
            Message::Flush { epoch, expected, done } => {
                self.flushed(now, from, epoch, expected, done)
            }
            Message::Taken { epoch, expected, again } => self.taken(from, epoch, expected, again),
            Message::Heard { epoch, expected } => self.heard(now, from, epoch, expected),
            Message::Renew { epoch, renewals } => self.renew(now, from, epoch, renewals),
            Message::Granted { epoch, renewals } => self.granted(now, from, epoch, &renewals),
            Message::Apart { .. } => self.take_apart(from),
            Message::Join { epoch, incarnation } => self.join(now, from, epoch, incarnation),
            Message::Standing { epoch, incarnation, member } => {
                self.told_standing(now, from, epoch, incarnation, member)
            }
            Message::Collect { epoch } => self.collected(from, epoch),
            Message::Report { epoch, account } => self.reported(now, from, epoch, account),
        };
        self.sequence();
        result.map_err(malformed)
    }

    fn lost(&mut self, now: Time, peer: NodeId) {
        let was_heard = |sequencer: &Sequencer| !sequencer.unheard.contains(&peer);
        if self.config.end_is_death && self.sequencer.as_deref().is_some_and(was_heard) {
            self.request(now, Request::Evidence { node: peer });
        }
    }

    fn waits(&mut self, peers: &mut dyn Iterator<Item = NodeId>) {
        self.waiting.clear();
        self.waiting.extend(peers);
    }

    fn tick(&mut self, now: Time) {
        if self.next_renewal().is_some_and(|due| due <= now) {
            self.send_renew(now);
        }
        if now < self.lease.next_beat {
            return;
        }
        self.lease.next_beat = now + self.config.beat;
        match self.standing {
            Standing::Outside(_) => self.send_join(),
            Standing::Frozen => self.send_renew(now),
            Standing::Member => self.beat_links(),
        }
        if !matches!(self.standing, Standing::Outside(_)) {
            self.look_above(now);
        }
        self.tick_master(now);
        self.sequence();
    }

    fn alarm(&self) -> Option<Time> {
        let beat = self.lease.next_beat;
        Some(self.next_renewal().map_or(beat, |renewal| renewal.min(beat)))
    }

    fn outgoing(&mut self) -> Option<Outgoing> {
        self.outgoing.pop_front()
    }

    fn notice(&mut self) -> Option<Notice> {
        self.notices.pop_front()
    }
}
