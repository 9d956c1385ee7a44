//! A daemon: the shipped core of the global memory, and above it what a manager or a node does
//! with it to launch jobs.

use super::manager::Manager;
use super::node::Node;
use super::{Ended, Wish};
use muster_fabric::primitive::{Core, Nodes, Notice, Outcome, Refusal, Relation, Request};
use muster_fabric::protocol::{Malformed, NodeId, Outgoing, Payload, Protocol, Time};
use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

/// What is asked of a daemon.
#[derive(Clone, Debug)]
pub enum Ask {
    /// Of the manager: run this.
    Launch(Wish),
    /// Of the manager: give all strobers a table of slots.
    Strobe,
    /// Of the manager: a connection that it wanted to this start of a node is there, or cannot be.
    Connected(NodeId, u64, bool),
    /// Of the manager: its connection to a node has broken, and nothing else.
    Broke(NodeId),
    /// Of the manager: its connection to this start of a node has closed, and if that is said
    /// whoever keeps the node has told that it died.
    Died(NodeId, u64, bool),
    /// Work that was told of is done: of which life, and which.
    Worked(u32, u64),
}

/// What a daemon tells.
#[derive(Clone, Debug)]
pub enum Tell {
    /// It works for so long, then it is to be asked.
    Work(u64, Ask),
    /// A job has ended.
    Ended(Ended),
    /// All strobers have the table of slots.
    Strobed,
    /// The manager wants a connection to this start of a node, which it gets if that lives.
    Connect(NodeId, u64),
    /// A rank's program has begun here, or ended.
    Ran {
        /// The attempt at a job.
        attempt: u32,
        /// The rank.
        rank: usize,
        /// Its raw status, once it has ended.
        status: Option<i32>,
        /// How many chunks of its job's files were all there when these were put together.
        chunks: usize,
    },
}

/// What a daemon's upper half has done for it.
pub(super) struct Hands {
    /// What its clock shows.
    pub now: Time,
    life: u32,
    requests: VecDeque<Request>,
    pub told: VecDeque<Tell>,
    alarms: BTreeSet<(Time, u64)>,
    /// The last operation, work or alarm.
    last: u64,
}

impl Hands {
    fn next(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    /// Sends a letter to a set of nodes.
    pub fn send(&mut self, set: Nodes, body: Payload) -> u64 {
        let ticket = self.next();
        let (region, offset, remote, local) = (0, 0, None, None);
        self.requests.push_back(Request::Transfer {
            ticket,
            set,
            region,
            offset,
            body,
            remote,
            local,
        });
        ticket
    }

    /// Tells the manager a letter, combined with others' on its way.
    pub fn tell(&mut self, body: Payload) {
        self.requests.push_back(Request::Tell { region: 0, body });
    }

    /// Asks whether a variable is at least so much at all nodes of a set.
    pub fn ask(&mut self, set: Nodes, variable: u32, value: u64) -> u64 {
        let ticket = self.next();
        let (relation, write) = (Relation::AtLeast, None);
        self.requests.push_back(Request::Compare { ticket, set, variable, relation, value, write });
        ticket
    }

    /// Sets this node's instance of a variable.
    pub fn set(&mut self, variable: u32, value: u64) {
        self.requests.push_back(Request::Set { variable, value });
    }

    /// Works for so long.
    pub fn work(&mut self, time: u64) -> u64 {
        let token = self.next();
        self.told.push_back(Tell::Work(time, Ask::Worked(self.life, token)));
        token
    }

    /// Waits for so long.
    pub fn after(&mut self, time: Duration) -> u64 {
        let token = self.next();
        self.alarms.insert((self.now + time, token));
        token
    }
}

/// How an operation ended, or why it was not taken.
pub(super) type Landing = Result<Outcome, Refusal>;

/// What is above the global memory.
enum Part {
    Manager(Box<Manager>),
    Node(Box<Node>),
}

/// A daemon.
pub struct Daemon {
    core: Core,
    part: Part,
    hands: Hands,
}

impl Daemon {
    pub(super) fn manager(core: Core, manager: Manager) -> Daemon {
        Daemon::new(core, Part::Manager(Box::new(manager)), 0)
    }

    pub(super) fn node(core: Core, node: Node, life: u32) -> Daemon {
        Daemon::new(core, Part::Node(Box::new(node)), life)
    }

    fn new(core: Core, part: Part, life: u32) -> Daemon {
        let hands = Hands {
            now: Time(0),
            life,
            requests: VecDeque::new(),
            told: VecDeque::new(),
            alarms: BTreeSet::new(),
            last: 0,
        };
        Daemon { core, part, hands }
    }

    /// Jobs of which something is left here: for a node.
    pub fn left(&self) -> Vec<u32> {
        match &self.part {
            Part::Manager(_) => Vec::new(),
            Part::Node(node) => node.left(),
        }
    }

    /// What the manager still waits for, in words.
    pub fn open(&self) -> Vec<String> {
        match &self.part {
            Part::Manager(manager) => manager.open(),
            Part::Node(_) => Vec::new(),
        }
    }

    /// Whether the manager has a way to a node, and gives it jobs.
    pub fn reaches(&self, node: NodeId) -> bool {
        match &self.part {
            Part::Manager(manager) => manager.up().iter().any(|(up, _)| *up == node),
            Part::Node(_) => false,
        }
    }

    /// Who is a member, as this daemon knows.
    pub fn members(&self) -> &Nodes {
        self.core.epoch().1
    }

    /// Hands what was asked to the core, and what it tells to the upper half.
    fn pump(&mut self, now: Time) {
        loop {
            while let Some(request) = self.hands.requests.pop_front() {
                self.core.request(now, request);
            }
            let Some(notice) = self.core.notice() else { return };
            self.told(notice);
        }
    }

    fn told(&mut self, notice: Notice) {
        let hands = &mut self.hands;
        match (&mut self.part, notice) {
            (
                Part::Manager(manager),
                Notice::Delivered { body, .. } | Notice::Told { body, .. },
            ) => {
                manager.delivered(body, hands);
            }
            (Part::Node(node), Notice::Delivered { body, .. }) => node.delivered(body, hands),
            (part, Notice::Completed { ticket, outcome, .. }) => {
                part.landed(ticket, Ok(outcome), hands);
            }
            (part, Notice::Refused { ticket, why }) => part.landed(ticket, Err(why), hands),
            (Part::Manager(manager), Notice::Epoch { members, joined, .. }) => {
                manager.epoch(members, &joined, hands);
            }
            (Part::Node(node), Notice::Joined { .. }) => node.joined(hands),
            _ => {}
        }
    }
}

impl Part {
    fn landed(&mut self, ticket: u64, landing: Landing, hands: &mut Hands) {
        match self {
            Part::Manager(manager) => manager.landed(ticket, landing, hands),
            Part::Node(node) => node.landed(ticket, landing, hands),
        }
    }

    fn woken(&mut self, token: u64, hands: &mut Hands) {
        match self {
            Part::Manager(manager) => manager.woken(token, hands),
            Part::Node(node) => node.woken(token, hands),
        }
    }
}

impl Protocol for Daemon {
    type Request = Ask;
    type Notice = Tell;

    fn request(&mut self, now: Time, request: Ask) {
        self.hands.now = now;
        match (request, &mut self.part) {
            (Ask::Launch(wish), Part::Manager(manager)) => manager.submit(wish, &mut self.hands),
            (Ask::Strobe, Part::Manager(manager)) => manager.strobe(&mut self.hands),
            (Ask::Connected(node, instance, is_there), Part::Manager(manager)) => {
                manager.connected(node, instance, is_there, &mut self.hands);
            }
            (Ask::Broke(node), Part::Manager(manager)) => manager.lost(node, &mut self.hands),
            (Ask::Died(node, instance, is_told), Part::Manager(manager)) => {
                manager.died(node, instance, is_told, &mut self.hands);
            }
            (Ask::Worked(life, token), part) if life == self.hands.life => {
                part.woken(token, &mut self.hands);
            }
            // It was another life's, or is no manager's.
            _ => {}
        }
        self.pump(now);
    }

    fn receive(
        &mut self,
        now: Time,
        from: NodeId,
        head: &[u8],
        body: Payload,
    ) -> Result<(), Malformed> {
        self.hands.now = now;
        let received = self.core.receive(now, from, head, body);
        self.pump(now);
        received
    }

    fn lost(&mut self, now: Time, peer: NodeId) {
        self.hands.now = now;
        self.core.lost(now, peer);
        if let Part::Manager(manager) = &mut self.part {
            manager.lost(peer, &mut self.hands);
        }
        self.pump(now);
    }

    fn tick(&mut self, now: Time) {
        self.hands.now = now;
        if self.core.alarm().is_some_and(|alarm| alarm <= now) {
            self.core.tick(now);
        }
        while let Some((_, token)) = self.hands.alarms.first().filter(|(at, _)| *at <= now) {
            let token = *token;
            self.hands.alarms.pop_first();
            self.part.woken(token, &mut self.hands);
        }
        self.pump(now);
    }

    fn alarm(&self) -> Option<Time> {
        let own = self.hands.alarms.first().map(|(at, _)| *at);
        own.into_iter().chain(self.core.alarm()).min()
    }

    fn outgoing(&mut self) -> Option<Outgoing> {
        self.core.outgoing()
    }

    fn notice(&mut self) -> Option<Tell> {
        self.hands.told.pop_front()
    }
}
