//! A cluster as a state of the model: the shipped cores, the messages between them, what their
//! users were told, and how many faults may still happen.

use muster_fabric::primitive::{
    Carried, Config, Core, KINDS, Known, Message, Nodes, Notice, Outcome, Relation, Request, What,
};
use muster_fabric::protocol::{NodeId, Outgoing, Payload, Protocol, Time};
use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

/// A beat of the model's time: an eighth of it, for which renewals are gathered, is one.
pub const BEAT: u64 = 8;

/// Of two clocks one is so far ahead: nobody compares them.
const APART: u64 = 1000;

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
    /// Stopped; its clock goes on.
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
    pub log: Vec<(u64, Saw)>,
    /// Ticket, sequence number, outcome.
    pub ended: Vec<(u64, Option<u64>, Outcome)>,
    /// At the master: what it was told.
    pub told: BTreeSet<u64>,
    /// It was removed or restarted: operations of before need not have reached it.
    pub is_broken: bool,
    /// The master's epoch when it was said to be dead, and was not: in the next one the master goes
    /// on without it before its lease ends.
    pub suspected: Option<u64>,
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
    /// Ways from one node to another that are none from then on.
    pub blocks: u8,
    /// How often time passes while messages are under way.
    pub delays: u8,
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
    /// A lease counts from when it was granted to when it came, and not from when it was asked for.
    CountsFromArrival,
    /// The master goes on without a node sooner than all others think that it does.
    IsImpatient,
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
    /// Tell the master.
    Tell,
}

/// A configuration.
#[derive(Clone, Debug)]
pub struct Setting {
    pub name: &'static str,
    pub nodes: u32,
    pub arity: usize,
    pub asks: Vec<(u32, Ask)>,
    pub budget: Budget,
    /// So many beats pass at most. Then nothing happens any more but what is under way.
    pub beats: u64,
    /// Messages that renew leases arrive in every order with all others, and may meet faults. Else
    /// they take no time, where nobody is paused.
    pub are_leases_slow: bool,
    pub fault: Option<Fault>,
    pub seen: Arc<Seen>,
}

/// How many messages of each kind have arrived in all states.
#[derive(Debug, Default)]
pub struct Seen {
    kinds: [AtomicU64; KINDS.len()],
    /// Renewals that were asked for by way of another member.
    gathered: AtomicU64,
}

impl Seen {
    /// One arrives.
    pub fn note(&self, to: u32, out: &Outgoing) {
        let kind = KINDS[usize::from(out.head[0])];
        self.kinds[usize::from(out.head[0])].fetch_add(1, Relaxed);
        if kind == "renew" && to != 0 {
            self.gathered.fetch_add(1, Relaxed);
        }
    }

    /// Those of others too.
    pub fn add(&self, other: &Seen) {
        let add = |to: &AtomicU64, from: &AtomicU64| to.fetch_add(from.load(Relaxed), Relaxed);
        self.kinds.iter().zip(&other.kinds).for_each(|(to, from)| _ = add(to, from));
        add(&self.gathered, &other.gathered);
    }

    /// How many there are of each kind of the primitives'.
    pub fn counts(&self) -> Vec<(&'static str, u64)> {
        let gathered = std::iter::once(("renew by way of a parent", &self.gathered));
        let kinds = KINDS.into_iter().zip(&self.kinds).skip(1).chain(gathered);
        kinds.map(|(name, count)| (name, count.load(Relaxed))).collect()
    }
}

/// A state.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct Cluster {
    pub nodes: Vec<Shared>,
    pub channels: BTreeMap<(u32, u32), VecDeque<Arc<Outgoing>>>,
    pub budget: Budget,
    pub terms: u32,
    pub now: u64,
    /// From the first node to the second nothing comes.
    pub blocked: BTreeSet<(u32, u32)>,
}

fn config(setting: &Setting, node: u32, incarnation: u32) -> Config {
    let mut config = Config::new(NodeId(node), u64::from(incarnation) << 32);
    (config.arity, config.regions) = (setting.arity, vec![8]);
    (config.variables, config.events) = (1, 2);
    config.beat = Duration::from_nanos(BEAT);
    (config.lease, config.slack) = (3 * config.beat, config.beat);
    if setting.fault == Some(Fault::IsImpatient) && config.node == config.master {
        config.beat /= 2;
        (config.lease, config.slack) = (4 * config.beat, Duration::ZERO);
    }
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
        Ask::Tell => Request::Tell { region: 0, body: Payload::from(vec![ticket as u8]) },
    }
}

impl Cluster {
    /// All nodes have their first lease and have asked for everything.
    pub fn new(setting: &Setting) -> Cluster {
        let members = Nodes::range(0..=setting.nodes - 1);
        let node = |node| {
            let core = Core::member(config(setting, node, 1), members.clone(), clock(node, 0));
            Shared::new(Node::new(core))
        };
        let mut cluster = Cluster {
            nodes: (0..setting.nodes).map(node).collect(),
            channels: BTreeMap::new(),
            budget: setting.budget,
            terms: 1,
            now: 0,
            blocked: BTreeSet::new(),
        };
        cluster.pass(setting, false);
        cluster.drain(setting);
        for (at, (node, ask)) in setting.asks.iter().enumerate() {
            let request = request((at as u64, ask));
            cluster.change(setting, *node, |node, now| node.core.request(now, request));
        }
        cluster
    }

    /// What a node's clock shows.
    pub fn clock(&self, node: u32) -> Time {
        clock(node, self.now)
    }

    /// Changes a node, and takes up what it sends and says.
    pub fn change(&mut self, setting: &Setting, at: u32, change: impl FnOnce(&mut Node, Time)) {
        let mut node = (*self.nodes[at as usize].node).clone();
        change(&mut node, self.clock(at));
        node.listen(setting.fault, self.clock(at));
        let mut sent = vec![];
        while let Some(out) = node.core.outgoing() {
            sent.push(out);
        }
        self.nodes[at as usize] = Shared::new(node);
        for out in sent {
            self.put(setting, at, out);
        }
    }

    /// Puts a message into its channel, unless it is lost.
    fn put(&mut self, setting: &Setting, from: u32, out: Outgoing) {
        let health = |node: u32| self.nodes[node as usize].health;
        let reaches = |node: u32| !matches!(health(node), Health::Dead | Health::Cut);
        let to = out.to.0;
        if !reaches(from) || !reaches(to) || self.blocked.contains(&(from, to)) {
            return;
        }
        let out = match setting.fault {
            Some(fault) => spoil(fault, out),
            None => out,
        };
        let is_paused = health(to) == Health::Paused;
        if Core::is_urgent(&out.head) && !setting.are_leases_slow && !is_paused {
            return self.receive(setting, from, &out);
        }
        let channel = self.channels.entry((from, to)).or_default();
        // What is sent to a paused node again and again waits for it once.
        if !is_paused || channel.iter().all(|waiting| **waiting != out) {
            channel.push_back(Arc::new(out));
        }
    }

    /// Delivers the message at a place of a channel.
    pub fn deliver(&mut self, setting: &Setting, from: u32, to: u32, place: usize) {
        let out = self.take(from, to, place);
        self.receive(setting, from, &out);
    }

    /// Delivers all that is under way, in one of the orders.
    pub fn drain(&mut self, setting: &Setting) {
        while let Some((from, to)) = self.channels.keys().next().copied() {
            self.deliver(setting, from, to, 0);
        }
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
        self.change(setting, out.to.0, |node, now| node.receive(fault, (now, from), out));
    }

    /// All that was under way to or from a node is lost.
    pub fn sever(&mut self, node: u32) {
        self.channels.retain(|(from, to), _| *from != node && *to != node);
    }

    /// Whether a node's timer is due now.
    pub fn is_due(&self, node: u32) -> bool {
        self.alarm(node).is_some_and(|alarm| alarm <= self.now)
    }

    fn alarm(&self, node: u32) -> Option<u64> {
        let of = &self.nodes[node as usize];
        let alarm = of.core.alarm().filter(|_| matches!(of.health, Health::Well | Health::Cut));
        alarm.map(|alarm| alarm.0 - clock(node, 0).0)
    }

    /// Time passes until a node's timer is due; the timers of all that are due then. `waits`: what
    /// is under way has not left its sender.
    pub fn pass(&mut self, setting: &Setting, waits: bool) {
        let next = (0..setting.nodes).filter_map(|node| self.alarm(node)).min();
        self.now = self.now.max(next.unwrap_or(self.now + BEAT));
        let due: Vec<u32> = (0..setting.nodes).filter(|node| self.is_due(*node)).collect();
        let under_way: Vec<(u32, u32)> = self.channels.keys().copied().filter(|_| waits).collect();
        for node in due {
            self.tick(setting, node, &under_way);
        }
    }

    /// A node's timer, while some messages wait to be sent.
    pub fn tick(&mut self, setting: &Setting, at: u32, under_way: &[(u32, u32)]) {
        let own = under_way.iter().filter(|(from, _)| *from == at);
        let mut waiting = own.map(|(_, to)| NodeId(*to));
        self.change(setting, at, |node, now| {
            node.core.waits(&mut waiting);
            node.core.tick(now);
            node.core.waits(&mut std::iter::empty());
        });
    }

    /// Whether a restarted master waits for what others know.
    pub fn is_collecting(&self) -> bool {
        let master = &self.nodes[0];
        master.health == Health::Well && master.core.epoch().0 << 32 == 0
    }

    /// A dead node comes back with nothing.
    pub fn restart(&mut self, setting: &Setting, node: u32) {
        self.terms += 1;
        let (terms, all) = (self.terms, Nodes::range(0..=setting.nodes - 1));
        let config = config(setting, node, terms);
        self.change(setting, node, |node, now| {
            let master = config.node == config.master;
            *node = Node::new(match master {
                true => Core::restarted(config, &all, terms, now),
                false => Core::outside(config, now),
            });
            node.is_broken = true;
        });
    }

    /// At the master: a node is said to be dead.
    pub fn accuse(&mut self, setting: &Setting, node: u32) {
        let request = Request::Evidence { node: NodeId(node) };
        self.change(setting, 0, |master, now| master.core.request(now, request));
    }
}

/// What a node's clock shows at a time.
fn clock(node: u32, now: u64) -> Time {
    Time(now + APART * u64::from(node))
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

/// A grant of leases, as if they had been asked for now.
fn count_from(now: Time, out: &Outgoing) -> Option<Vec<u8>> {
    let Ok(Message::Granted { epoch, mut renewals }) = Message::decode(&out.head, out.body.clone())
    else {
        return None;
    };
    let own = renewals.iter_mut().filter(|renewal| renewal.node == out.to);
    own.for_each(|renewal| renewal.stamp = now.0);
    Some(Message::Granted { epoch, renewals }.encode().0)
}

impl Node {
    fn new(core: Core) -> Node {
        Node {
            core,
            health: Health::Well,
            log: vec![],
            ended: vec![],
            told: BTreeSet::new(),
            is_broken: false,
            suspected: None,
            is_late: false,
            is_confused: false,
        }
    }

    fn receive(&mut self, fault: Option<Fault>, (now, from): (Time, u32), out: &Outgoing) {
        if fault == Some(Fault::DeliversWhenStaged)
            && let Ok(Message::Linked { carried: Carried::Stage(seq, work, body), .. }) =
                Message::decode(&out.head, out.body.clone())
            && let What::Transfer { .. } = work.what
            && work.set.contains(out.to)
        {
            self.saw(now, seq, Saw::Delivered(work.op.origin.0, u64::from(body[0])));
        }
        let late = match fault {
            Some(Fault::CountsFromArrival) => count_from(now, out),
            _ => None,
        };
        let head = late.as_ref().unwrap_or(&out.head);
        let received = self.core.receive(now, NodeId(from), head, out.body.clone());
        self.is_confused |= received.is_err();
    }

    fn saw(&mut self, now: Time, seq: u64, saw: Saw) {
        self.is_late |= !self.core.is_current(now);
        self.log.push((seq, saw));
    }

    /// Takes the notices.
    fn listen(&mut self, fault: Option<Fault>, now: Time) {
        while let Some(notice) = self.core.notice() {
            match notice {
                Notice::Delivered { .. } if fault == Some(Fault::DeliversWhenStaged) => {}
                Notice::Delivered { seq, origin, body, .. } => {
                    self.saw(now, seq, Saw::Delivered(origin.0, u64::from(body[0])));
                }
                Notice::Written { seq, variable, value } => {
                    self.saw(now, seq, Saw::Wrote(variable, value));
                }
                Notice::Completed { ticket, seq, outcome } => {
                    self.ended.push((ticket, seq, outcome));
                }
                Notice::Removed { .. } => self.is_broken = true,
                // It may be of an epoch that is over by then.
                Notice::Joined { epoch } => {
                    self.suspected = self.suspected.filter(|at| epoch <= *at);
                }
                Notice::Told { body, .. } => {
                    self.told.insert(u64::from(body[0]));
                }
                Notice::Refused { .. } | Notice::Epoch { .. } => {}
            }
        }
    }
}
