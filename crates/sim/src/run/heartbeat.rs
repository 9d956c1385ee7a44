//! The heartbeat under faults: every node has the same sequence, and all have it again afterwards.
//!
//! A manager at node 0 names the members, strobes, and adds events; who dies is taken out and who
//! comes back is taken in. Node 0 may die as well: its next life strobes from a higher number on.
//! What is checked: a strobe of a number says the same wherever it is seen; a node sees each number
//! once and leaves none out, unless it is told which; each event that the master took is in one
//! strobe, in its order; micro-heartbeats divide the period in their order; nobody is called lost
//! whose connections have had no reason to end, nor late where nothing went wrong; who dies while
//! all else is well is named within ten periods and one spike of the network, and who stands still
//! is called late; early strobes do not wait for the period; in the third of the runs where
//! adapters are full of bulk, whoever is well has each strobe within one period after the master;
//! and after the faults, every node is in time, and known to be, or dead, and known to be, and
//! there are as many strobes and micro-heartbeats as the period says.

use super::{MASTER, NODES, Outcome, Scenario, draw_faults};
use crate::engine::{Agenda, Engine, Moment, User};
use crate::fault::{Fault, Schedule};
use crate::network::{Costs, Network};
use crate::random::Random;
use crate::{MICRO, MILLI, SECOND};
use muster_fabric::heartbeat::{Config, Event, Heartbeat, Notice, Request, USER};
use muster_fabric::protocol::NodeId;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

/// The runs.
pub const SCENARIO: Scenario = Scenario { name: "heartbeat", faults, run };

/// When the last fault comes, at the latest.
const FAULTS_END: u64 = 800 * MILLI;

/// Within this everything is well again after the last fault has mended.
const SETTLES: u64 = 2 * SECOND;

/// For so long strobes are counted then.
const LAST: u64 = 100 * MILLI;

/// How late a message may be: a spike of the network.
const SPIKE: u64 = 33 * MILLI;

/// After so long all have begun.
const BEGINS: u64 = 100 * MILLI;

/// An early strobe that is asked for leaves within this time.
const PROMPTLY: u64 = 200 * MICRO;

/// Numbers of strobes of one life of the master.
const LIFE: u64 = 1 << 24;

fn faults(seed: u64) -> Schedule {
    draw_faults(seed, FAULTS_END, 300 * MILLI, 100 * MILLI, 0)
}

/// Bytes of the bulk packets that saturate every adapter in a third of the seeds: each strobe waits
/// for the end of the one on the wire, at every level of the tree. So what a strobe waits for is
/// known, and whoever is well has it within a period.
fn bulk(seed: u64) -> usize {
    let mut draw = Random::new(seed).branch(5);
    if draw.below(3) == 0 { *draw.pick(&[4 << 10, 64 << 10, 256 << 10]) } else { 0 }
}

fn run(seed: u64, faults: &Schedule, trace: usize) -> Outcome {
    let mut draw = Random::new(seed).branch(4);
    let config = Config {
        arity: draw.between(2, 8) as u16,
        micro: draw.between(1, 3) as u16,
        period: Duration::from_micros(*draw.pick(&[300, 1000, 3000])),
        report_every: draw.between(4, 16),
        late: draw.between(32, 64),
        // Within SETTLES: what sends to a node that is cut off gives it up, and only that node can
        // find out when it is no more, by itself.
        silence: Duration::from_millis(500),
        ..Config::new(MASTER, MASTER, 1)
    };
    let mut network = Network::rough(Costs::FAST);
    let bulk = bulk(seed);
    if faults.is_empty() || bulk > 0 {
        // Then nobody is late.
        network.spikes = 0;
    }
    network.bulk_packet = bulk;
    let mut engine =
        Engine::new(seed, NODES, true, network, Manager::new(config, faults, bulk > 0));
    engine.keep_trace(trace);
    engine.plan(faults.clone());
    ask_for_events(&mut engine, draw);
    let mends = faults.iter().map(|(time, fault)| time + fault.lasts()).max().unwrap_or(0);
    let failed = |user: &mut Manager| user.failure.is_some();
    engine.run(mends.max(FAULTS_END), failed);
    // A message that is very late is a fault too.
    engine.network.spikes = 0;
    engine.run(mends.max(FAULTS_END) + SETTLES, failed);
    let reached = engine.core(MASTER).map_or(0, Heartbeat::seen);
    engine.user.parts = 0;
    // Longer than a message is ever late.
    engine.run(engine.now() + LAST, failed);
    let failure = engine.user.failure.take().or_else(|| settled(&engine, reached).err());
    Outcome::of(&engine, failure)
}

/// Plans what the manager's user asks for.
fn ask_for_events(engine: &mut Engine<Heartbeat, Manager>, mut draw: Random) {
    for number in 0..draw.below(40) {
        let after = draw.below(FAULTS_END);
        let bytes = number.to_le_bytes().to_vec().into();
        engine.ask(after, MASTER, Request::Event(Event { kind: USER, bytes }));
        engine.user.asked.push((after, number));
        if draw.happens(300_000) {
            engine.ask(after, MASTER, Request::Early);
            engine.user.early.push(after);
        }
    }
    // Of those at the same moment the first comes first.
    engine.user.asked.sort_by_key(|(after, _)| *after);
    engine.user.early.sort_by_key(|after| std::cmp::Reverse(*after));
    if draw.happens(300_000) {
        let period = Duration::from_micros(draw.between(300, 5000));
        let micro = draw.between(1, 4) as u16;
        let after = draw.below(FAULTS_END);
        engine.ask(after, MASTER, Request::Period { period, micro });
        engine.user.rhythm = Some((after, period, micro));
    }
    engine.user.expect();
}

/// What holds long after the last fault.
fn settled(engine: &Engine<Heartbeat, Manager>, reached: u64) -> Result<(), String> {
    let user = &engine.user;
    for node in (0..NODES).map(NodeId) {
        let Some(core) = engine.core(node) else {
            continue;
        };
        if core.seen() < reached {
            return Err(format!("{node} has seen strobe {}, not {reached}", core.seen()));
        }
        let members: BTreeSet<_> = core.members().iter().copied().collect();
        if members != user.alive {
            return Err(format!("{node} knows the members {members:?}, not {:?}", user.alive));
        }
        if user.late.contains(&node) {
            return Err(format!("{node} is still called late"));
        }
    }
    let strobes = engine.core(MASTER).map_or(0, Heartbeat::seen) - reached;
    user.came()?;
    if user.struck.is_some() && user.compared == 0 {
        return Err("no strobe was compared with when it was struck".to_owned());
    }
    user.has_beaten(strobes)
}

/// Whether what a fault has left behind, which began then and lasted so long, may still be so.
fn lasts(begin: u64, time: u64, now: u64) -> bool {
    (begin..=begin + time + SETTLES / 4).contains(&now)
}

/// The user: a manager, and who compares.
struct Manager {
    config: Config,
    alive: BTreeSet<NodeId>,
    epoch: u64,
    /// What each strobe says.
    strobes: HashMap<u64, (u64, bool, Vec<Event>)>,
    /// When the master struck each, where that is looked at: only faults make a message late.
    struck: Option<HashMap<u64, u64>>,
    /// How many strobes at others have been compared with that.
    compared: u64,
    /// The last strobe that each life of each node has seen.
    seen: BTreeMap<NodeId, (u32, u64)>,
    /// Who is called late or lost.
    late: BTreeSet<NodeId>,
    /// The events that are asked for, in their order: when, and which.
    asked: Vec<(u64, u64)>,
    /// Those that came with the master's strobes, in their order.
    events: Vec<u64>,
    /// When the master's life began.
    begun: u64,
    /// Which rhythm is asked for, and when.
    rhythm: Option<(u64, Duration, u16)>,
    /// The last part of the period that a node was told of.
    micro: BTreeMap<NodeId, u16>,
    /// How many of them the master was told of lately.
    parts: u64,
    /// When strobes are asked for before their time, the next one last.
    early: Vec<u64>,
    faults: Schedule,
    /// Whose connection was made to end, and when last.
    reset: BTreeMap<NodeId, u64>,
    /// Who is to be named, from when on and until when: it dies or stands still, and all else is
    /// well.
    unnamed: Vec<(NodeId, u64, u64)>,
    failure: Option<String>,
}

impl Manager {
    fn new(config: Config, faults: &Schedule, is_punctual: bool) -> Manager {
        Manager {
            config,
            alive: BTreeSet::new(),
            epoch: 0,
            strobes: HashMap::new(),
            struck: is_punctual.then(HashMap::new),
            compared: 0,
            seen: BTreeMap::new(),
            late: BTreeSet::new(),
            asked: Vec::new(),
            events: Vec::new(),
            begun: 0,
            rhythm: None,
            micro: BTreeMap::new(),
            parts: 0,
            faults: faults.clone(),
            reset: BTreeMap::new(),
            early: Vec::new(),
            unnamed: Vec::new(),
            failure: None,
        }
    }

    /// Whether all events came, each once and in the order of asking, but for those that a master
    /// may have taken with it.
    fn came(&self) -> Result<(), String> {
        let mut came = self.events.iter().copied().peekable();
        for (time, number) in self.asked.iter().copied() {
            if came.next_if_eq(&number).is_none() && time > self.begun {
                return Err(format!("event {number} is not where it belongs: {:?}", self.events));
            }
        }
        match came.next() {
            Some(more) => Err(format!("event {more} came again or late: {:?}", self.events)),
            None => Ok(()),
        }
    }

    /// Whether as many strobes and parts of periods were told of lately as the rhythm says.
    fn has_beaten(&self, strobes: u64) -> Result<(), String> {
        let asked = self.rhythm.filter(|(time, ..)| *time > self.begun);
        let rhythm = (self.config.period, self.config.micro);
        let (period, micro) = asked.map_or(rhythm, |(_, period, micro)| (period, micro));
        let due = LAST / period.as_nanos() as u64;
        let parts = due * u64::from(micro - 1);
        if !(due - 1..=due + 1).contains(&strobes) || self.parts + 9 < parts {
            return Err(format!(
                "{strobes} strobes and {} parts of them, not {due} and {parts}",
                self.parts
            ));
        }
        Ok(())
    }

    /// Whether something has happened lately that ends a node's connections.
    fn may_be_lost(&self, node: NodeId, now: u64) -> bool {
        self.faults.iter().any(|(time, fault)| {
            let may_end = match fault {
                Fault::Kill(one, None) if *one == node => return *time <= now,
                Fault::Kill(one, _) => *one == node,
                // Those between it and the master are among those cut off, or it is.
                Fault::Cut(..) | Fault::Block(..) => true,
                // Which connection that is, the run says.
                Fault::Reset(..) => false,
                Fault::Pause(..) | Fault::Slow(..) | Fault::Spike(..) => false,
            };
            may_end && lasts(*time, fault.lasts(), now)
        }) || self.reset.get(&node).is_some_and(|time| lasts(*time, 0, now))
    }

    /// Whether no fault has struck since everything was well.
    fn is_well(&self, now: u64) -> bool {
        !self.faults.iter().any(|(time, fault)| lasts(*time, fault.lasts(), now))
    }

    /// Whoever is well has a strobe a period after the master has struck it, at the latest.
    fn compare(&mut self, at: Moment, sequence: u64) {
        let is_well = at.now > BEGINS && self.is_well(at.now);
        let Some(struck) = &mut self.struck else { return };
        if at.node == MASTER {
            struck.insert(sequence, at.now);
            return;
        }
        let Some(struck) = struck.get(&sequence).filter(|_| is_well) else { return };
        let (_, asked, _) = self.rhythm.unwrap_or((0, self.config.period, 0));
        let (late, period) =
            (at.now.saturating_sub(*struck), self.config.period.min(asked).as_nanos() as u64);
        self.compared += 1;
        if late > period {
            self.fail(at, format!("strobe {sequence} is {late} ns late, and {period} is a period"));
        }
    }

    /// Finds out who is to be named, and when.
    fn expect(&mut self) {
        let (_, longest, _) = self.rhythm.unwrap_or_default();
        let periods = |count| self.config.period.max(longest).as_nanos() as u64 * count;
        // A report for each level of the tree.
        let late = self.config.late + 8 * self.config.report_every;
        for (at, (from, fault)) in self.faults.iter().enumerate() {
            let (node, strobes, lasts) = match fault {
                Fault::Kill(node, back) => (*node, 10, back.unwrap_or(u64::MAX)),
                Fault::Pause(node, time) => (*node, late, *time),
                _ => continue,
            };
            let until = from + periods(strobes) + SPIKE;
            // What others have left behind is in order after so long.
            let is_well = |(time, fault): &(u64, Fault)| {
                *time > until || time + fault.lasts() + SETTLES / 4 < *from
            };
            let mut others = self.faults.iter().enumerate().filter(|(other, _)| *other != at);
            let is_alone = others.all(|(_, fault)| is_well(fault));
            if node != MASTER && lasts > until - from && *from > BEGINS && is_alone {
                self.unnamed.push((node, *from, until));
            }
        }
    }

    /// Names the members anew: those who live.
    fn name(&mut self, agenda: &mut Agenda<Request>) {
        self.epoch += 1;
        let members = self.alive.iter().copied().collect();
        agenda.ask(100 * MICRO, MASTER, Request::Members { epoch: self.epoch, members });
    }

    fn strobe(&mut self, at: Moment, sequence: u64, said: (u64, bool, Vec<Event>)) {
        let (life, last) = self.seen.get(&at.node).copied().unwrap_or_default();
        if life == at.life && last != 0 && last + 1 != sequence {
            self.fail(at, format!("strobe {sequence} comes after {last}"));
        }
        self.seen.insert(at.node, (at.life, sequence));
        self.micro.insert(at.node, 0);
        self.compare(at, sequence);
        if at.node == MASTER {
            for event in said.2.iter().filter(|event| event.kind == USER) {
                let number = u64::from_le_bytes(event.bytes[..].try_into().expect("a number"));
                self.events.push(number);
            }
            if let Some((node, ..)) =
                self.unnamed.iter().find(|(.., until)| *until < at.now).copied()
            {
                self.fail(at, format!("{node} has died or stands still, and is not named"));
            }
            while let Some(asked) = self.early.pop_if(|asked| *asked < at.now) {
                if self.faults.is_empty() && at.now - asked > PROMPTLY {
                    self.fail(at, format!("it was asked for early, at {asked} ns"));
                }
            }
        }
        let known = self.strobes.entry(sequence).or_insert_with(|| said.clone());
        if *known != said {
            let text = format!("strobe {sequence} says {said:?} here and {known:?} elsewhere");
            self.fail(at, text);
        }
    }

    /// A part of the period begins.
    fn divide(&mut self, at: Moment, sequence: u64, index: u16) {
        let last = self.micro.insert(at.node, index);
        let seen = self.seen.get(&at.node).copied();
        if seen != Some((at.life, sequence)) || last.is_none_or(|last| last >= index) || index > 3 {
            self.fail(at, format!("part {index} of strobe {sequence} after {last:?} of {seen:?}"));
        }
        if at.node == MASTER {
            self.parts += 1;
        }
    }

    /// The master says that a node is late or lost.
    fn named(&mut self, at: Moment, node: NodeId, is_lost: bool, agenda: &mut Agenda<Request>) {
        if is_lost && !self.may_be_lost(node, at.now) {
            self.fail(at, format!("{node} is called lost, and has lost no connection"));
        }
        // Where messages are late of themselves, anybody may be.
        let is_punctual = self.faults.is_empty() || self.struck.is_some();
        if is_punctual && self.is_well(at.now) {
            self.fail(at, format!("{node} is called late, and nothing goes wrong"));
        }
        self.unnamed.retain(|(one, from, _)| *one != node || at.now < *from);
        self.late.insert(node);
        // Death is certain here as it would be to a manager that looks.
        if !self.alive.contains(&node) {
            self.late.remove(&node);
            self.name(agenda);
        }
    }

    fn fail(&mut self, at: Moment, what: String) {
        let life = at.life;
        self.failure.get_or_insert(format!("{}, life {life}, at {} ns: {what}", at.node, at.now));
    }
}

impl User<Heartbeat> for Manager {
    fn begin(&mut self, at: Moment, agenda: &mut Agenda<Request>) -> Heartbeat {
        self.alive.insert(at.node);
        if at.node == MASTER {
            self.late.clear();
            self.begun = at.now;
        }
        // At the beginning all do so at the same moment: the last one names all.
        if at.now > 0 || at.node.0 == NODES - 1 {
            self.name(agenda);
        }
        let first = 1 + u64::from(at.life) * LIFE;
        Heartbeat::new(Config { me: at.node, first, ..self.config.clone() }, at.clock)
    }

    fn end(&mut self, at: Moment, _: &mut Agenda<Request>) {
        self.alive.remove(&at.node);
    }

    fn reset(&mut self, now: u64, ends: [NodeId; 2]) {
        self.reset.extend(ends.map(|end| (end, now)));
    }

    fn notice(&mut self, at: Moment, notice: Notice, agenda: &mut Agenda<Request>) {
        match notice {
            Notice::Strobe { sequence, epoch, early, events, .. } => {
                self.strobe(at, sequence, (epoch, early, events));
            }
            Notice::Resync { seen, sequence } => {
                let (life, last) = self.seen.get(&at.node).copied().unwrap_or_default();
                if life == at.life && last != seen || sequence <= seen {
                    self.fail(
                        at,
                        format!("after {last} it is told to go from {seen} to {sequence}"),
                    );
                }
                self.seen.insert(at.node, (at.life, sequence));
            }
            Notice::Late { node, .. } => self.named(at, node, false, agenda),
            Notice::Lost { node } => self.named(at, node, true, agenda),
            Notice::Micro { sequence, index } => self.divide(at, sequence, index),
            Notice::InTime { node } => {
                self.late.remove(&node);
            }
            Notice::Refused { request, why } => {
                self.fail(at, format!("{request:?} is refused: {why}"));
            }
            Notice::Removed { .. } | Notice::Silent { .. } => {}
        }
    }
}
