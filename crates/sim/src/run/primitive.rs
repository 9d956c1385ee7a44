//! The primitives under faults: transfers are delivered by all or by none, in one sequence, and
//! comparisons see what that sequence has written. Whom the master goes on without has no lease any
//! more, by any clock: but where the end of a connection counts as a death.
//!
//! A dozen nodes ask for one or two operations after the others; any node may die, node 0 (which
//! leads) too. Numbers of operations begin anew with each life of a node, in half of the runs with
//! lower ones each time, as after a clock was set back. In a third of the runs messages are lost,
//! repeated and overtaken while their connections go on.
//! What every node is told is written down by *sessions*: from when a node becomes a member until
//! it dies or is removed. `judge` compares them when all is over.

use super::judge::{Asked, Judge, Kind};
use super::{MASTER, NODES, Outcome, Scenario, draw_faults};
use crate::engine::{Agenda, Engine, Moment, User};
use crate::fault::Schedule;
use crate::network::{Costs, Network};
use crate::random::Random;
use crate::{MICRO, MILLI};
use muster_fabric::primitive::{Config, Core, Nodes, Notice, Outcome as Ended, Relation, Request};
use muster_fabric::protocol::{NodeId, Payload, Time};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// The runs.
pub const SCENARIO: Scenario = Scenario { name: "primitive", faults, run };

/// Every so many nodes one asks for operations.
const CLIENTS: u32 = 5;

/// When the last fault comes, at the latest.
const FAULTS_END: u64 = 500 * MILLI;

/// Within this all are members again after the last fault has mended: connections over which
/// nothing got through, two leases, some beats.
const SETTLES: u64 = 800 * MILLI;

/// So many messages in a million are lost where many are.
const OFTEN: u32 = 30_000;

/// Bytes of the region.
const REGION: u64 = 1 << 16;

/// Events.
const EVENTS: u32 = 4;

/// Variables that only COMPARE-AND-WRITE changes; each has its own set of nodes.
const VARIABLES: u32 = 6;

fn faults(seed: u64) -> Schedule {
    draw_faults(seed, FAULTS_END, 200 * MILLI, 50 * MILLI, 300_000)
}

/// How many messages in a million meet each of loss, delay behind others, and repetition, though
/// their connections go on. Connections do none of that, but links (`primitive/link.rs`) promise to
/// hold all the same, and so does each message that needs none. A third of the seeds have it.
fn broken_promises(seed: u64) -> u32 {
    let mut draw = Random::new(seed).branch(5);
    if draw.below(3) == 0 { *draw.pick(&[300, 3_000, OFTEN]) } else { 0 }
}

fn run(seed: u64, faults: &Schedule, trace: usize) -> Outcome {
    play(seed, faults, trace, false)
}

/// A run; `is_impatient`: its master breaks a promise, and waits for no lease to end.
fn play(seed: u64, faults: &Schedule, trace: usize, is_impatient: bool) -> Outcome {
    let mut draw = Random::new(seed).branch(4);
    let config = Config {
        arity: draw.between(1, 8) as usize,
        variables: VARIABLES,
        events: EVENTS,
        regions: vec![REGION],
        lease: Duration::from_millis(60),
        slack: Duration::from_millis(20),
        beat: Duration::from_millis(10),
        end_is_death: draw.happens(500_000),
        ..Config::new(MASTER, 0)
    };
    let mut network = Network::rough(Costs::FAST);
    let times = broken_promises(seed);
    network = network.lossy(times);
    let mut clients = Clients::new(config, draw);
    clients.is_impatient = is_impatient;
    let mut engine = Engine::new(seed, NODES, true, network, clients);
    engine.keep_trace(trace);
    engine.plan(faults.clone());
    let mends = faults.iter().map(|(time, fault)| time + fault.lasts()).max().unwrap_or(0);
    go_on(&mut engine, mends.max(FAULTS_END));
    // What is lost is a fault too, and so is what is overtaken: the links take it for lost. Both
    // cost two beats each time.
    (engine.network.losses, engine.network.reorders) = (0, 0);
    go_on(&mut engine, mends.max(FAULTS_END) + SETTLES);
    let last = last_round(&mut engine);
    let until = engine.now() + 200 * MILLI;
    go_on(&mut engine, until);
    let failure = engine.user.judge.failure.take();
    let failure = failure.or_else(|| settled(&engine, last).err());
    let failure = failure.or_else(|| engine.user.without_reason(faults, times));
    Outcome::of(&engine, failure)
}

/// Goes on until a moment, or until something does not hold. Whenever the master goes on with some
/// members, no other may answer at that moment.
fn go_on(engine: &mut Engine<Core, Clients>, until: u64) {
    let is_due = |user: &mut Clients| user.judge.failure.is_some() || !user.opened.is_empty();
    while engine.run(until, is_due) && engine.user.judge.failure.is_none() {
        for (now, members) in std::mem::take(&mut engine.user.opened) {
            let is_current = |node| {
                engine.core(node).is_some_and(|core| core.is_current(engine.clock(node, now)))
            };
            let others = (0..NODES).map(NodeId).filter(|node| !members.contains(*node));
            if let Some(node) = others.into_iter().find(|node| is_current(*node)) {
                let failure = format!("{node} has a lease, and the master goes on without it");
                engine.user.judge.failure = Some(failure);
            }
        }
    }
}

/// Every living node transfers something to all of them: the first ticket of it.
fn last_round(engine: &mut Engine<Core, Clients>) -> u64 {
    engine.user.is_over = true;
    let first = engine.user.judge.asked.len() as u64;
    let alive: Nodes = engine.user.alive.iter().copied().collect();
    for node in alive.iter() {
        let request = engine.user.transfer(node, alive.clone(), Some(0));
        engine.ask(MICRO, node, request);
    }
    first
}

/// What holds long after the last fault.
fn settled(engine: &Engine<Core, Clients>, last: u64) -> Result<(), String> {
    let user = &engine.user;
    for node in user.alive.iter().copied() {
        let (_, members) = engine.core(node).expect("it lives").epoch();
        if *members != user.alive.iter().copied().collect() {
            return Err(format!("{node} knows the members {members:?}, not {:?}", user.alive));
        }
    }
    let is_alive = |(node, _): &(&NodeId, _)| user.alive.contains(*node);
    for (node, tickets) in user.open.iter().filter(is_alive) {
        if let Some(ticket) = tickets.first() {
            return Err(format!("{node} was never told how its operation {ticket} ended"));
        }
    }
    let values = user.judge.judge(last)?;
    for node in user.alive.iter().copied() {
        // Every lease is good at the beginning of time.
        let (core, now) = (engine.core(node).expect("it lives"), Time(0));
        for (variable, value) in values.iter().map(|(variable, value)| (*variable, *value)) {
            let here = core.variable(now, variable);
            let is_meant = user.sets[variable as usize].contains(node);
            if let Some(value) = value.filter(|value| is_meant && here != Some(*value)) {
                return Err(format!("variable {variable} is {here:?} at {node}, not {value}"));
            }
        }
        let signalled: Vec<_> = (0..EVENTS).filter_map(|event| core.event(now, event)).collect();
        if signalled != user.signalled[node.0 as usize] {
            let due = &user.signalled[node.0 as usize];
            return Err(format!(
                "events were signalled {signalled:?} times at {node}, not {due:?}"
            ));
        }
    }
    Ok(())
}

/// The user at all nodes.
struct Clients {
    config: Config,
    draw: Random,
    alive: BTreeSet<NodeId>,
    /// The nodes of each variable; node 0 is one of each.
    sets: Vec<Nodes>,
    /// What each variable was last seen to be.
    values: Vec<u64>,
    /// A node's next life has lower numbers than the one before.
    is_set_back: bool,
    /// What each node has asked for and not heard of yet.
    open: BTreeMap<NodeId, BTreeSet<u64>>,
    /// The local events of transfers.
    local: BTreeMap<u64, u32>,
    /// How often each event was to be signalled, at each node in this life of it.
    signalled: Vec<[u64; EVENTS as usize]>,
    /// When the master has opened epochs, of which members.
    opened: Vec<(u64, Nodes)>,
    is_impatient: bool,
    /// Somebody has been removed.
    has_removed: Option<NodeId>,
    is_over: bool,
    judge: Judge,
}

impl Clients {
    fn new(config: Config, mut draw: Random) -> Clients {
        let all = Nodes::range(0..=NODES - 1);
        let sets = (0..VARIABLES)
            .map(|variable| match variable {
                0 | 1 => all.clone(),
                _ => some(&mut draw, all.iter().collect()).with(MASTER),
            })
            .collect();
        let values = vec![0; VARIABLES as usize];
        Clients {
            config,
            alive: BTreeSet::new(),
            sets,
            values,
            is_set_back: draw.happens(500_000),
            draw,
            open: BTreeMap::new(),
            local: BTreeMap::new(),
            signalled: vec![[0; EVENTS as usize]; NODES as usize],
            opened: vec![],
            is_impatient: false,
            has_removed: None,
            is_over: false,
            judge: Judge::default(),
        }
    }

    /// Who was removed though nothing went wrong, or too little: a lease ends when what renews it
    /// is lost some times in a row.
    fn without_reason(&self, faults: &Schedule, times: u32) -> Option<String> {
        let node = self.has_removed.filter(|_| faults.is_empty() && times < OFTEN)?;
        Some(format!("{node} was removed, though nothing went wrong"))
    }

    fn transfer(&mut self, origin: NodeId, set: Nodes, local: Option<u32>) -> Request {
        let most = *self.draw.pick(&[1, 100, 4000, 40_000]);
        let length = 8 + self.draw.below(most);
        let remote = Some(self.draw.below(8) as u32).filter(|event| *event < EVENTS);
        let offset = self.draw.below(REGION - length + 1);
        let kind = Kind::Transfer { offset, event: remote };
        let ticket = self.judge.ask(Asked::new(origin, set.clone(), kind));
        self.local.extend(local.map(|event| (ticket, event)));
        let mut body = ticket.to_le_bytes().to_vec();
        body.resize(length as usize, ticket as u8);
        let body = Payload::from(body);
        Request::Transfer { ticket, set, region: 0, offset, body, remote, local }
    }

    fn compare(&mut self, origin: NodeId) -> Request {
        let variable = self.draw.below(VARIABLES.into()) as u32;
        let set = self.sets[variable as usize].clone();
        let known = self.values[variable as usize];
        let relation = *self.draw.pick(&[
            Relation::Equal,
            Relation::Equal,
            Relation::AtLeast,
            Relation::Less,
            Relation::NotEqual,
        ]);
        let value = if relation == Relation::Less { known + 1 } else { known };
        let writes = self.draw.happens(700_000);
        let kind = Kind::Compare { variable, relation, value, writes };
        let ticket = self.judge.ask(Asked::new(origin, set.clone(), kind));
        let write = writes.then_some((variable, ticket));
        Request::Compare { ticket, set, variable, relation, value, write }
    }

    /// What a node asks for next, when all before has ended: one operation, or two at once.
    fn next(&mut self, node: NodeId, after: u64, agenda: &mut Agenda<Request>) {
        let is_open = self.open.get(&node).is_some_and(|open| !open.is_empty());
        if self.is_over || is_open || !node.0.is_multiple_of(CLIENTS) {
            return;
        }
        for at in 0..self.draw.between(1, 2) {
            let request = match self.draw.below(10) {
                0..=4 => {
                    let alive: Vec<NodeId> = self.alive.iter().copied().collect();
                    let set = match self.draw.below(3) {
                        0 => alive.into_iter().collect(),
                        _ => some(&mut self.draw, alive),
                    };
                    let local = Some(self.draw.below(8) as u32).filter(|event| *event < EVENTS);
                    self.transfer(node, set, local)
                }
                _ => self.compare(node),
            };
            let ticket = self.judge.asked.len() as u64 - 1;
            if at > 0 {
                self.judge.follows(ticket);
            }
            self.open.entry(node).or_default().insert(ticket);
            agenda.ask(after, node, request);
        }
    }

    /// A node has heard how an operation has ended, or that it was not taken.
    fn heard(&mut self, node: NodeId, ticket: u64, after: u64, agenda: &mut Agenda<Request>) {
        self.open.entry(node).or_default().remove(&ticket);
        self.next(node, after, agenda);
    }
}

/// Some nodes of several, at least one.
fn some(draw: &mut Random, from: Vec<NodeId>) -> Nodes {
    let count = draw.between(1, from.len() as u64);
    (0..count).map(|_| *draw.pick(&from)).collect()
}

impl User<Core> for Clients {
    fn begin(&mut self, at: Moment, agenda: &mut Agenda<Request>) -> Core {
        self.alive.insert(at.node);
        let all = Nodes::range(0..=NODES - 1);
        let life = at.life + 1;
        let incarnation = u64::from(if self.is_set_back { 1000 - life } else { life }) << 32;
        self.signalled[at.node.0 as usize] = [0; EVENTS as usize];
        self.open.remove(&at.node);
        let mut config = Config { node: at.node, incarnation, ..self.config.clone() };
        if self.is_impatient && at.node == MASTER {
            (config.lease, config.slack) = (2 * config.beat, Duration::ZERO);
        }
        let core = match at.life {
            0 => Core::member(config, all, at.clock),
            _ if at.node == MASTER => Core::restarted(config, &all, life, at.clock),
            _ => Core::outside(config, at.clock),
        };
        if at.life == 0 || at.node == MASTER {
            self.judge.begin(at.node, at.life == 0);
        }
        let after = self.draw.below(10 * MILLI);
        if at.life == 0 {
            // All others begin at the same moment, and are not there yet.
            self.alive = all_nodes();
        }
        self.next(at.node, after, agenda);
        core
    }

    fn end(&mut self, at: Moment, _: &mut Agenda<Request>) {
        self.alive.remove(&at.node);
        self.judge.end(at.node);
    }

    fn notice(&mut self, at: Moment, notice: Notice, agenda: &mut Agenda<Request>) {
        match notice {
            Notice::Delivered { seq, body, offset, event, .. } => {
                if let Some(event) = event {
                    self.signalled[at.node.0 as usize][event as usize] += 1;
                }
                self.judge.delivered(at, seq, &body, Kind::Transfer { offset, event });
            }
            Notice::Written { seq, variable, value } => {
                self.values[variable as usize] = value;
                self.judge.written(at, seq, variable, value);
            }
            Notice::Completed { ticket, seq, outcome } => {
                let local = self.local.get(&ticket).filter(|_| outcome == Ended::Committed);
                if let Some(event) = local {
                    self.signalled[at.node.0 as usize][*event as usize] += 1;
                }
                self.judge.completed(at, ticket, seq, outcome);
                let after = self.draw.around(6 * MILLI);
                self.heard(at.node, ticket, after, agenda);
            }
            Notice::Refused { ticket, why } => {
                self.judge.refused(at, ticket, why);
                self.heard(at.node, ticket, 20 * MILLI, agenda);
            }
            Notice::Joined { .. } => self.judge.begin(at.node, false),
            Notice::Removed { .. } => {
                self.has_removed.get_or_insert(at.node);
                self.judge.end(at.node);
            }
            // Nobody waits for the leases of those who count as dead.
            Notice::Epoch { members, .. } if at.node == MASTER && !self.config.end_is_death => {
                self.opened.push((at.now, members));
            }
            Notice::Epoch { .. } | Notice::Told { .. } => {}
        }
    }
}

fn all_nodes() -> BTreeSet<NodeId> {
    (0..NODES).map(NodeId).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_master_that_waits_for_no_lease_to_end_is_found() {
        let is_found = |seed| {
            let failure = play(seed, &faults(seed), 0, true).failure;
            failure.is_some_and(|failure| failure.contains("has a lease"))
        };
        assert!((0..20).any(is_found));
    }
}
