//! A cluster as a state of the model: the shipped cores, the messages between them, what their
//! users were told, and how many faults may still happen.

use muster_fabric::primitive::{
    Carried, Config, Core, Known, Message, Nodes, Notice, Outcome, Relation, Request, What,
};
use muster_fabric::protocol::{NodeId, Outgoing, Payload, Protocol, Time};
use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeMap, VecDeque};
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

/// A lease in the model's time, which passes only where a fault says so.
const LEASE: u64 = 10;

/// The event that a put signals at each node of its set, and the one at its origin when it is done.
pub const REMOTE: u32 = 0;
pub const LOCAL: u32 = 1;

/// What a node's user saw: with the sequence number, and (origin, ticket) or (variable, value).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Saw {
    Delivered(u32, u64),
    Wrote(u32, u64),
}

/// How a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Health {
    Well,
    /// Stopped; it will wake up when its lease is over.
    Paused,
    /// Nothing reaches it, nothing comes from it.
    Cut,
    Dead,
}

/// A node: its core and what its user was told in this life.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct Node {
    pub core: Core,
    pub health: Health,
    pub now: u64,
    pub log: Vec<(u64, Saw)>,
    /// Ticket, sequence number, outcome.
    pub ended: Vec<(u64, Option<u64>, Outcome)>,
    /// It was removed or restarted: operations of before need not have reached it.
    pub is_broken: bool,
    /// It delivered while its lease was over.
    pub is_late: bool,
    /// A message was refused as malformed.
    pub is_confused: bool,
}

/// A node that states share; its hash is computed once.
#[derive(Clone, Debug, PartialEq)]
pub struct Shared {
    node: Arc<Node>,
    hash: u64,
}

impl Shared {
    fn new(node: Node) -> Shared {
        let mut hasher = DefaultHasher::new();
        node.hash(&mut hasher);
        Shared { node: Arc::new(node), hash: hasher.finish() }
    }
}

impl std::ops::Deref for Shared {
    type Target = Node;

    fn deref(&self) -> &Node {
        &self.node
    }
}

impl Hash for Shared {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.hash.hash(state);
    }
}

/// How many of each fault may still happen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Budget {
    pub crashes: u8,
    pub restarts: u8,
    pub master_restarts: u8,
    pub suspicions: u8,
    pub pauses: u8,
    pub cuts: u8,
    pub losses: u8,
    pub duplicates: u8,
    pub swaps: u8,
    /// Ticks while messages are under way.
    pub ticks: u8,
}

/// A rule of the protocol that is broken on purpose, outside of the shipped code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A node delivers what is staged, without waiting for the decision.
    DeliversWhenStaged,
    /// A restarted master does not hear of decisions.
    ForgetsDecisions,
    /// A comparison's answer of one node is lost on the way up.
    AnswersForOthers,
}

/// Which operations are asked for, by origin.
#[derive(Clone, Copy, Debug)]
pub enum Ask {
    /// Put to this range of nodes.
    Put(u32, u32),
    /// If the variable is 0 at this range of nodes, make it this.
    Win(u32, u32, u64),
    /// Is the variable 0 at this range of nodes?
    Query(u32, u32),
}

/// A configuration.
#[derive(Clone, Debug)]
pub struct Setting {
    pub name: &'static str,
    pub nodes: u32,
    pub arity: usize,
    pub asks: Vec<(u32, Ask)>,
    pub budget: Budget,
    pub fault: Option<Fault>,
}

/// A state.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct Cluster {
    pub nodes: Vec<Shared>,
    pub channels: BTreeMap<(u32, u32), VecDeque<Arc<Outgoing>>>,
    pub budget: Budget,
    pub terms: u32,
}

fn config(setting: &Setting, node: u32, incarnation: u32) -> Config {
    let mut config = Config::new(NodeId(node), u64::from(incarnation) << 32);
    (config.arity, config.regions) = (setting.arity, vec![8]);
    (config.variables, config.events) = (1, 2);
    config.lease = Duration::from_nanos(LEASE);
    (config.slack, config.beat) = (Duration::ZERO, Duration::ZERO);
    config
}

fn request((ticket, ask): (u64, &Ask)) -> Request {
    let variable = 0;
    let relation = Relation::Equal;
    match *ask {
        Ask::Put(first, last) => Request::Transfer {
            ticket,
            set: Nodes::range(first..=last),
            region: 0,
            offset: 0,
            body: Payload::from(vec![ticket as u8]),
            remote: Some(REMOTE),
            local: Some(LOCAL),
        },
        Ask::Win(first, last, value) => {
            let (set, write) = (Nodes::range(first..=last), Some((0, value)));
            Request::Compare { ticket, set, variable, relation, value: 0, write }
        }
        Ask::Query(first, last) => {
            let set = Nodes::range(first..=last);
            Request::Compare { ticket, set, variable, relation, value: 0, write: None }
        }
    }
}

impl Cluster {
    /// All nodes have their first lease and have asked for everything.
    pub fn new(setting: &Setting) -> Cluster {
        let members = Nodes::range(0..=setting.nodes - 1);
        let node = |node| {
            let core = Core::member(config(setting, node, 1), members.clone(), Time(0));
            Shared::new(Node::new(core))
        };
        let mut cluster = Cluster {
            nodes: (0..setting.nodes).map(node).collect(),
            channels: BTreeMap::new(),
            budget: setting.budget,
            terms: 1,
        };
        for node in 0..setting.nodes {
            cluster.change(setting, node, |node| node.core.tick(Time(0)));
        }
        while let Some((from, to)) = cluster.channels.keys().next().copied() {
            cluster.deliver(setting, from, to, 0);
        }
        for (at, (node, ask)) in setting.asks.iter().enumerate() {
            let request = request((at as u64, ask));
            cluster.change(setting, *node, |node| node.core.request(Time(0), request));
        }
        cluster
    }

    /// Changes a node, and takes up what it sends and says.
    pub fn change(&mut self, setting: &Setting, at: u32, change: impl FnOnce(&mut Node)) {
        let mut node = (*self.nodes[at as usize].node).clone();
        change(&mut node);
        node.listen(setting.fault);
        let mut sent = vec![];
        while let Some(out) = node.core.outgoing() {
            sent.push(out);
        }
        self.nodes[at as usize] = Shared::new(node);
        for out in sent {
            self.put(setting, at, out);
        }
    }

    /// Puts a message into its channel, unless it is lost or says nothing new.
    fn put(&mut self, setting: &Setting, from: u32, out: Outgoing) {
        let reaches =
            |node: u32| !matches!(self.nodes[node as usize].health, Health::Dead | Health::Cut);
        let to = out.to.0;
        if reaches(from) && reaches(to) && !self.is_idle_renewal(from, &out) {
            let out = match setting.fault {
                Some(fault) => spoil(fault, out),
                None => out,
            };
            let paused = self.nodes[to as usize].health == Health::Paused;
            let channel = self.channels.entry((from, to)).or_default();
            // What is sent to a paused node again and again waits for it once.
            if !paused || channel.iter().all(|waiting| **waiting != out) {
                channel.push_back(Arc::new(out));
            }
        }
    }

    /// A renewal that would change nothing: as time does not pass by itself, all leases stay good.
    fn is_idle_renewal(&self, from: u32, out: &Outgoing) -> bool {
        let Ok(Message::Renew { .. }) = Message::decode(&out.head, out.body.clone()) else {
            return false;
        };
        let (member, master) = (&self.nodes[from as usize], &self.nodes[0]);
        let known = master.core.epoch().0 == member.core.epoch().0;
        known && member.core.is_current(Time(member.now)) && master.health == Health::Well
    }

    /// Delivers the message at a place of a channel.
    pub fn deliver(&mut self, setting: &Setting, from: u32, to: u32, place: usize) {
        let out = self.take(from, to, place);
        self.receive(setting, from, &out);
    }

    /// Takes a message out of a channel.
    pub fn take(&mut self, from: u32, to: u32, place: usize) -> Arc<Outgoing> {
        let channel = self.channels.get_mut(&(from, to)).expect("a channel");
        let out = channel.remove(place).expect("a message");
        if channel.is_empty() {
            self.channels.remove(&(from, to));
        }
        out
    }

    /// Hands a message to its receiver.
    pub fn receive(&mut self, setting: &Setting, from: u32, out: &Outgoing) {
        if self.nodes[out.to.0 as usize].health == Health::Dead {
            return;
        }
        let fault = setting.fault;
        self.change(setting, out.to.0, |node| {
            node.receive(fault, from, out);
        });
    }

    /// All that was under way to or from a node is lost.
    pub fn sever(&mut self, node: u32) {
        self.channels.retain(|(from, to), _| *from != node && *to != node);
    }

    /// Time passes while nothing is under way: every node ticks.
    pub fn beat(&mut self, setting: &Setting) {
        for node in 0..setting.nodes {
            if matches!(self.nodes[node as usize].health, Health::Well | Health::Cut) {
                self.change(setting, node, |node| node.core.tick(Time(node.now)));
            }
        }
    }

    /// A node's lease is over; it may not know.
    pub fn outlive(&mut self, setting: &Setting, node: u32, health: Health) {
        self.change(setting, node, |node| {
            node.health = health;
            node.now += LEASE;
        });
    }

    /// Whether a restarted master waits for what others know.
    pub fn is_collecting(&self) -> bool {
        let master = &self.nodes[0];
        master.health == Health::Well && master.core.epoch().0 << 32 == 0
    }

    /// The time of a lease passes for all.
    pub fn expire(&mut self, setting: &Setting) {
        for node in (0..setting.nodes).rev() {
            if self.nodes[node as usize].health != Health::Dead {
                self.change(setting, node, |node| node.now += LEASE);
            }
        }
        self.change(setting, 0, |node| node.core.tick(Time(node.now)));
    }

    /// A dead node comes back with nothing.
    pub fn restart(&mut self, setting: &Setting, node: u32) {
        self.terms += 1;
        let (terms, all) = (self.terms, Nodes::range(0..=setting.nodes - 1));
        let config = config(setting, node, terms);
        self.change(setting, node, |node| {
            let master = config.node == config.master;
            *node = Node::new(match master {
                true => Core::restarted(config, &all, terms, Time(0)),
                false => Core::outside(config, Time(0)),
            });
            node.is_broken = true;
        });
    }

    /// At the master: a node is said to be dead.
    pub fn accuse(&mut self, setting: &Setting, node: u32) {
        let request = Request::Evidence { node: NodeId(node) };
        self.change(setting, 0, |master| master.core.request(Time(master.now), request));
    }
}

/// Breaks a rule by changing a message.
fn spoil(fault: Fault, out: Outgoing) -> Outgoing {
    let Ok(message) = Message::decode(&out.head, out.body.clone()) else { return out };
    let message = match (fault, message) {
        (Fault::ForgetsDecisions, Message::Report { epoch, mut account }) => {
            let forget = |known: Known| Known { outcome: None, ..known };
            account.known = account.known.into_iter().map(forget).collect();
            Message::Report { epoch, account }
        }
        (
            Fault::AnswersForOthers,
            Message::Linked { epoch, number, expected, done, carried: Carried::Staged(seq, _) },
        ) => {
            let carried = Carried::Staged(seq, true);
            Message::Linked { epoch, number, expected, done, carried }
        }
        (_, message) => message,
    };
    let (head, body) = message.encode();
    Outgoing { head, body, ..out }
}

impl Node {
    fn new(core: Core) -> Node {
        Node {
            core,
            health: Health::Well,
            now: 0,
            log: vec![],
            ended: vec![],
            is_broken: false,
            is_late: false,
            is_confused: false,
        }
    }

    fn receive(&mut self, fault: Option<Fault>, from: u32, out: &Outgoing) {
        let now = Time(self.now);
        if fault == Some(Fault::DeliversWhenStaged)
            && let Ok(Message::Linked { carried: Carried::Stage(seq, work, body), .. }) =
                Message::decode(&out.head, out.body.clone())
            && let What::Transfer { .. } = work.what
            && work.set.contains(out.to)
        {
            self.saw(seq, Saw::Delivered(work.op.origin.0, u64::from(body[0])));
        }
        let received = self.core.receive(now, NodeId(from), &out.head, out.body.clone());
        self.is_confused |= received.is_err();
    }

    fn saw(&mut self, seq: u64, saw: Saw) {
        if !self.core.is_current(Time(self.now)) {
            self.is_late = true;
        }
        self.log.push((seq, saw));
    }

    /// Takes the notices.
    fn listen(&mut self, fault: Option<Fault>) {
        while let Some(notice) = self.core.notice() {
            match notice {
                Notice::Delivered { .. } if fault == Some(Fault::DeliversWhenStaged) => {}
                Notice::Delivered { seq, origin, body, .. } => {
                    self.saw(seq, Saw::Delivered(origin.0, u64::from(body[0])));
                }
                Notice::Written { seq, variable, value } => {
                    self.saw(seq, Saw::Wrote(variable, value));
                }
                Notice::Completed { ticket, seq, outcome } => {
                    self.ended.push((ticket, seq, outcome));
                }
                Notice::Removed { .. } => self.is_broken = true,
                Notice::Refused { .. }
                | Notice::Told { .. }
                | Notice::Epoch { .. }
                | Notice::Joined { .. } => {}
            }
        }
    }
}
