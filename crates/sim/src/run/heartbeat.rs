//! The heartbeat under faults: every node has the same sequence, and all have it again afterwards.
//!
//! A manager at node 0 names the members, strobes, and adds events; who dies is taken out and who
//! comes back is taken in. Node 0 may die as well: its next life strobes from a higher number on.
//! What is checked: a strobe of a number says the same wherever it is seen; a node sees each number
//! once and leaves none out, unless it is told which; each event that the master took is in one
//! strobe, in its order; and after the faults, every node is in time, and known to be, or dead, and
//! known to be.

use super::{MASTER, NODES, Outcome, Scenario, draw_faults};
use crate::engine::{Agenda, Engine, Moment, User};
use crate::fault::Schedule;
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

/// Numbers of strobes of one life of the master.
const LIFE: u64 = 1 << 24;

fn faults(seed: u64) -> Schedule {
    draw_faults(seed, FAULTS_END, 300 * MILLI, 100 * MILLI)
}

fn run(seed: u64, faults: &Schedule, trace: usize) -> Outcome {
    let mut draw = Random::new(seed).branch(4);
    let config = Config {
        arity: draw.between(2, 8) as u16,
        micro: draw.between(1, 3) as u16,
        period: Duration::from_micros(*draw.pick(&[300, 1000, 3000])),
        report_every: draw.between(4, 16),
        late: draw.between(32, 64),
        ..Config::new(MASTER, MASTER, 1)
    };
    let mut engine =
        Engine::new(seed, NODES, true, Network::rough(Costs::FAST), Manager::new(config));
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
    // Longer than a message is ever late.
    engine.run(engine.now() + 100 * MILLI, failed);
    let failure = engine.user.failure.take().or_else(|| settled(&engine, reached).err());
    let (digest, events) = (engine.digest(), engine.events());
    Outcome { digest, events, failure, trace: engine.trace() }
}

/// Plans what the manager's user asks for.
fn ask_for_events(engine: &mut Engine<Heartbeat, Manager>, mut draw: Random) {
    for number in 0..draw.below(40) {
        let after = draw.below(FAULTS_END);
        let bytes = number.to_le_bytes().to_vec().into();
        engine.ask(after, MASTER, Request::Event(Event { kind: USER, bytes }));
        if draw.happens(300_000) {
            engine.ask(after, MASTER, Request::Early);
        }
    }
    if draw.happens(300_000) {
        let period = Duration::from_micros(draw.between(300, 5000));
        let micro = draw.between(1, 4) as u16;
        engine.ask(draw.below(FAULTS_END), MASTER, Request::Period { period, micro });
    }
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
    Ok(())
}

/// The user: a manager, and who compares.
struct Manager {
    config: Config,
    alive: BTreeSet<NodeId>,
    epoch: u64,
    /// What each strobe says.
    strobes: HashMap<u64, (u64, bool, Vec<Event>)>,
    /// The last strobe that each life of each node has seen.
    seen: BTreeMap<NodeId, (u32, u64)>,
    /// Who is called late or lost.
    late: BTreeSet<NodeId>,
    /// The last event of the master's life.
    event: Option<u64>,
    failure: Option<String>,
}

impl Manager {
    fn new(config: Config) -> Manager {
        Manager {
            config,
            alive: BTreeSet::new(),
            epoch: 0,
            strobes: HashMap::new(),
            seen: BTreeMap::new(),
            late: BTreeSet::new(),
            event: None,
            failure: None,
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
        if at.node == MASTER {
            for event in said.2.iter().filter(|event| event.kind == USER) {
                let number = u64::from_le_bytes(event.bytes[..].try_into().expect("a number"));
                self.events(at, number);
            }
        }
        let known = self.strobes.entry(sequence).or_insert_with(|| said.clone());
        if *known != said {
            let text = format!("strobe {sequence} says {said:?} here and {known:?} elsewhere");
            self.fail(at, text);
        }
    }

    /// An event has come with a strobe of the master's.
    fn events(&mut self, at: Moment, number: u64) {
        if self.event.is_some_and(|last| last == number) {
            self.fail(at, format!("event {number} comes again"));
        }
        self.event = Some(number);
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
            self.event = None;
        }
        // At the beginning all do so at the same moment: the last one names all.
        if at.now > 0 || at.node.0 == NODES - 1 {
            self.name(agenda);
        }
        let first = 1 + u64::from(at.life) * LIFE;
        Heartbeat::new(Config { me: at.node, first, ..self.config.clone() }, at.clock)
    }

    fn end(&mut self, at: Moment) {
        self.alive.remove(&at.node);
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
            Notice::Late { node, .. } | Notice::Lost { node } => {
                self.late.insert(node);
                // Death is certain here as it would be to a manager that looks.
                if !self.alive.contains(&node) {
                    self.late.remove(&node);
                    self.name(agenda);
                }
            }
            Notice::InTime { node } => {
                self.late.remove(&node);
            }
            Notice::Refused { request, why } => {
                self.fail(at, format!("{request:?} is refused: {why}"));
            }
            Notice::Removed { .. } | Notice::Micro { .. } | Notice::Silent { .. } => {}
        }
    }
}
