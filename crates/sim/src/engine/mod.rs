//! The engine: protocol cores of many nodes, driven in virtual time by one thread.
//!
//! **A node** is a core, a clock and a processor that does one thing after the other. A message
//! that arrives while it is busy is taken when it no longer is: the core is called at once, with
//! the moment at which the processor is free, and all it sends leaves after that. A paused node
//! keeps what arrives; a dead one has no core. What happens to a node while it is busy happens when
//! it no longer is.
//!
//! Nodes may be put on machines ([`Engine::put_on`]) whose processors they share; beside its
//! protocol's thread a node has one for all other work ([`Agenda::work`]).
//!
//! **A connection** keeps its messages' order and ends as a whole ([`links`]): when a node dies,
//! when it is reset, or when nothing got through for long. Each end is told with `lost`, at a
//! moment of its own; what a living end has received until then it has received.
//!
//! **Alarms** are lazy: a node has at most one early enough event in the calendar, and one that
//! comes too early is put off. All that is drawn, is drawn from the seed in the order of events;
//! [`Engine::digest`] covers every event, each message with its head and how its body begins: two
//! runs with equal digests were equal.

mod failing;
pub mod links;
mod machine;
pub(crate) mod slab;
#[cfg(test)]
mod tests;
pub mod trace;
mod user;

use crate::calendar::Calendar;
use crate::clock::Clock;
use crate::digest::Digest;
use crate::fault::Schedule;
use crate::network::Network;
use crate::random::Random;
use links::{Arrival, Epoch, Links};
use machine::Machine;
use muster_fabric::protocol::{NodeId, Outgoing, Payload, Protocol, Time};
use slab::Slab;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use trace::{Kind, Trace};
pub use user::{Agenda, Moment, User};

/// So much of each body counts for the digest.
const DIGESTED: usize = 64;

/// A moment that never comes.
const NEVER: u64 = u64::MAX;

/// Something that happens.
#[derive(Clone, Copy, Debug)]
enum Event {
    /// A message is there.
    Arrive(u32),
    /// A node's alarm may be due.
    Tick(u32),
    /// The user asks something of a node.
    Ask(u32),
    /// An end of a link learns that a connection has ended.
    Lost { link: u32, end: u8, epoch: Epoch },
    /// Nothing has got through on a connection for long: since that hold.
    Expire { link: u32, hold: u32 },
    /// A fault of the schedule.
    Fault(u32),
    /// A fault of the schedule is over.
    Mend(u32),
}

/// A message on its way.
struct Flight {
    link: u32,
    from: u32,
    to: u32,
    epoch: Epoch,
    head: Vec<u8>,
    body: Payload,
}

/// A node.
struct Node<P> {
    core: Option<P>,
    life: u32,
    clock: Clock,
    /// When its processor is free.
    busy: u64,
    /// When its other work is done.
    worked: u64,
    /// For how long it has computed.
    used: u64,
    /// The machine whose processors it shares; without one it has its own.
    machine: Option<u32>,
    /// When its adapter is, by lanes.
    adapter: [u64; 2],
    /// When its core wants to be called, in the simulation's time.
    alarm: u64,
    /// The earliest event in the calendar for that.
    armed: u64,
    /// It stands still until then.
    paused: u64,
    /// What waits for that.
    waiting: Vec<Event>,
    /// How many times as long its processor takes.
    slow: u64,
    /// Its links.
    links: Vec<u32>,
    /// Which cuts it is inside of, a bit for each.
    islands: u64,
}

/// What a panic leaves of a run.
#[derive(Default)]
pub(crate) struct Left {
    pub(crate) digest: Digest,
    pub(crate) events: u64,
    pub(crate) trace: String,
}

thread_local! {
    /// Of the last run that this thread has panicked in.
    pub(crate) static LEFT: Cell<Option<Left>> = const { Cell::new(None) };
}

/// A run.
pub struct Engine<P: Protocol, U> {
    /// The network, which may be changed during a run.
    pub network: Network,
    /// Who uses the protocol and judges it.
    pub user: U,
    now: u64,
    calendar: Calendar<Event>,
    nodes: Vec<Node<P>>,
    links: Links,
    machines: Vec<Machine>,
    flights: Slab<Flight>,
    asked: Slab<(NodeId, P::Request)>,
    agenda: Agenda<P::Request>,
    schedule: Schedule,
    /// How many faults of it have struck something.
    struck: u64,
    /// The cuts of now, a bit for each.
    cuts: u64,
    /// The ways of now that are none: which fault's, from where, to where.
    blocks: Vec<(u32, u32, u32)>,
    /// What the spikes of now add to a latency.
    spike: u64,
    random: Random,
    digest: Digest,
    events: u64,
    trace: Trace,
}

impl<P: Protocol, U: User<P>> Engine<P, U> {
    /// A cluster of so many nodes, all of which begin at once. Their clocks differ if `clocks`.
    pub fn new(seed: u64, nodes: u32, clocks: bool, network: Network, user: U) -> Engine<P, U> {
        let mut draw = Random::new(seed).branch(1);
        let node = |_| Node {
            core: None,
            life: 0,
            clock: if clocks { Clock::draw(&mut draw) } else { Clock::default() },
            busy: 0,
            worked: 0,
            used: 0,
            machine: None,
            adapter: [0; 2],
            alarm: NEVER,
            armed: NEVER,
            paused: 0,
            waiting: Vec::new(),
            slow: 1,
            links: Vec::new(),
            islands: 0,
        };
        let mut engine = Engine {
            network,
            user,
            now: 0,
            calendar: Calendar::default(),
            nodes: (0..nodes).map(node).collect(),
            links: Links::default(),
            machines: Vec::new(),
            flights: Slab::default(),
            asked: Slab::default(),
            agenda: Agenda::default(),
            schedule: Vec::new(),
            struck: 0,
            cuts: 0,
            blocks: Vec::new(),
            spike: 0,
            random: Random::new(seed).branch(2),
            digest: Digest::default(),
            events: 0,
            trace: Trace::default(),
        };
        for node in 0..nodes {
            engine.begin(node);
        }
        engine
    }

    /// Plans faults, from now on.
    pub fn plan(&mut self, schedule: Schedule) {
        for (time, fault) in schedule {
            self.calendar.add(time, Event::Fault(self.schedule.len() as u32));
            self.schedule.push((time, fault));
        }
    }

    /// Asks a node after so long.
    pub fn ask(&mut self, after: u64, node: NodeId, request: P::Request) {
        self.agenda.ask(after, node, request);
        self.take_agenda();
    }

    /// Nanoseconds since the run began.
    pub fn now(&self) -> u64 {
        self.now
    }

    /// How many events there were.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// How many faults have struck something.
    pub fn struck(&self) -> u64 {
        self.struck
    }

    /// A number that covers all events.
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// What a node's clock shows at a moment.
    pub fn clock(&self, node: NodeId, now: u64) -> Time {
        self.nodes[node.0 as usize].clock.shows(now)
    }

    /// A node's core, if it lives.
    pub fn core(&self, node: NodeId) -> Option<&P> {
        self.nodes[node.0 as usize].core.as_ref()
    }

    /// How many pairs of nodes have ever talked.
    #[cfg(test)]
    pub fn links(&self) -> u32 {
        self.links.len()
    }

    /// Keeps the last so many events for [`Engine::trace`].
    pub fn keep_trace(&mut self, lines: usize) {
        self.trace = Trace::keep(lines);
    }

    /// The last events, one a line.
    pub fn trace(&self) -> String {
        self.trace.to_string()
    }

    /// Goes on until a moment, or until `done` says so; it is asked after each event. True if it
    /// did.
    pub fn run(&mut self, until: u64, done: impl FnMut(&mut U) -> bool) -> bool {
        let run = AssertUnwindSafe(|| self.go_on(until, done));
        catch_unwind(run).unwrap_or_else(|panic| {
            // What led to a core's panic is to be told as well.
            let trace = self.trace();
            let left = Left { digest: self.digest, events: self.events(), trace };
            LEFT.set(Some(left));
            resume_unwind(panic)
        })
    }

    fn go_on(&mut self, until: u64, mut done: impl FnMut(&mut U) -> bool) -> bool {
        loop {
            if done(&mut self.user) {
                return true;
            }
            let Some((time, event)) = self.calendar.take(until) else {
                self.now = self.now.max(until);
                return false;
            };
            self.happen(time, event);
        }
    }

    fn happen(&mut self, time: u64, event: Event) {
        self.now = time;
        self.digest.number(time);
        match event {
            Event::Arrive(flight) => self.arrive(flight),
            Event::Tick(node) => self.tick(node),
            Event::Ask(asked) => self.asked(asked),
            Event::Lost { link, end, epoch } => self.lost(link, end, epoch),
            Event::Expire { link, hold } => self.expire(link, hold),
            Event::Fault(at) => self.strike(at),
            Event::Mend(at) => self.mend(at),
        }
    }

    /// Says what has happened: to the digest, and to the trace if there is one.
    fn tell(&mut self, kind: Kind, node: u32, other: u32, head: &[u8]) {
        self.events += 1;
        self.digest.number(u64::from(node) << 32 | u64::from(other) << 4 | kind as u64);
        self.digest.bytes(head);
        self.trace.add(self.now, kind, node, other, head);
    }

    fn moment(&self, number: u32, now: u64) -> Moment {
        let node = &self.nodes[number as usize];
        Moment { now, node: NodeId(number), life: node.life, clock: node.clock.shows(now) }
    }

    fn begin(&mut self, number: u32) {
        self.tell(Kind::Begin, number, 0, &[]);
        let at = self.moment(number, self.now);
        let core = self.user.begin(at, &mut self.agenda);
        let node = &mut self.nodes[number as usize];
        node.core = Some(core);
        (node.busy, node.worked, node.adapter) = (self.now, self.now, [self.now; 2]);
        (node.alarm, node.armed) = (NEVER, NEVER);
        self.drain(number);
        self.take_agenda();
    }

    /// Whether an event for a node has to wait, and lets it wait.
    fn waits(&mut self, node: u32, event: Event) -> bool {
        let node = &mut self.nodes[node as usize];
        let waits = node.paused > self.now;
        if waits {
            node.waiting.push(event);
        }
        waits
    }

    /// A message has come to its receiver's machine, unless a cut is in between.
    fn arrive(&mut self, flight: u32) {
        let &Flight { from, to, .. } = self.flights.get(flight);
        if self.is_cut(from, to) { self.hold(flight) } else { self.deliver(flight) }
    }

    /// The receiver's machine has a message.
    fn deliver(&mut self, number: u32) {
        let to = self.flights.get(number).to;
        if self.waits(to, Event::Arrive(number)) {
            return;
        }
        let flight = self.flights.take(number);
        let (from, end) = (flight.from, usize::from(flight.from < to));
        if self.nodes[to as usize].core.is_none() {
            return;
        }
        match self.links[flight.link].arrive(end, flight.epoch) {
            Arrival::Void => return,
            Arrival::Known | Arrival::First => {}
            Arrival::Next => self.call_lost(to, from),
        }
        self.tell(Kind::Message, to, from, &flight.head);
        self.digest.number(flight.body.len() as u64);
        self.digest.bytes(&flight.body[..flight.body.len().min(DIGESTED)]);
        let work = self.network.costs.works(flight.head.len() + flight.body.len());
        let Some(at) = self.occupy(to, work) else {
            return;
        };
        let node = &mut self.nodes[to as usize];
        let core = node.core.as_mut().expect("it lives");
        let clock = node.clock.shows(at);
        if let Err(malformed) = core.receive(clock, NodeId(from), &flight.head, flight.body) {
            panic!("{} takes a message for none: {malformed}", NodeId(to));
        }
        self.drain(to);
    }

    /// Takes a node's processor for a time from when it is free, and calls its alarm if that is due
    /// by then; the moment at which it is done.
    fn occupy(&mut self, number: u32, time: u64) -> Option<u64> {
        let node = &mut self.nodes[number as usize];
        let start = node.busy.max(self.now);
        // A busy node's alarm rings late. Whether it is heard before the next message is up to the
        // shell, so it is up to the seed here.
        if node.alarm <= start && self.random.number() & 1 == 0 {
            self.ring(number, start);
        }
        let node = &mut self.nodes[number as usize];
        node.core.as_ref()?;
        let (from, time) = (start.max(node.busy), time * node.slow);
        let end = self.compute(number, from, time);
        self.nodes[number as usize].busy = end;
        Some(end)
    }

    /// Calls the alarm.
    fn ring(&mut self, number: u32, at: u64) {
        self.tell(Kind::Alarm, number, 0, &[]);
        let node = &mut self.nodes[number as usize];
        let clock = node.clock.shows(at);
        node.alarm = NEVER;
        if let Some(core) = &mut node.core {
            node.busy = at.max(node.busy);
            core.tick(clock);
        }
        self.drain(number);
        // A shell would call it again at once, for ever.
        let alarm = self.nodes[number as usize].alarm;
        assert!(alarm > at, "{}'s alarm stands still", NodeId(number));
    }

    fn tick(&mut self, number: u32) {
        if self.waits(number, Event::Tick(number)) {
            return;
        }
        let now = self.now;
        let node = &mut self.nodes[number as usize];
        if now < node.armed {
            // An earlier one has been armed since, or it was another life's.
            return;
        }
        node.armed = NEVER;
        if node.alarm <= now {
            let at = node.busy.max(now);
            self.ring(number, at);
        } else {
            self.arm(number);
        }
    }

    /// Sees to an event that is early enough for a node's alarm.
    fn arm(&mut self, number: u32) {
        let node = &mut self.nodes[number as usize];
        if node.alarm < node.armed {
            node.armed = node.alarm.max(self.now);
            self.calendar.add(node.armed, Event::Tick(number));
        }
    }

    fn asked(&mut self, number: u32) {
        let node = self.asked.get(number).0.0;
        if self.waits(node, Event::Ask(number)) {
            return;
        }
        let (_, request) = self.asked.take(number);
        self.tell(Kind::Request, node, 0, &[]);
        let Some(at) = self.occupy(node, 0) else {
            return;
        };
        let node_of = &mut self.nodes[node as usize];
        let clock = node_of.clock.shows(at);
        node_of.core.as_mut().expect("it lives").request(clock, request);
        self.drain(node);
    }

    fn take_agenda(&mut self) {
        for (after, node, request) in self.agenda.items.drain(..) {
            let number = self.asked.put((node, request));
            self.calendar.add(self.now + after, Event::Ask(number));
        }
        if self.agenda.works.is_empty() {
            return;
        }
        for (from, node, time, request) in std::mem::take(&mut self.agenda.works) {
            let end = self.work(node.0, from, time);
            let number = self.asked.put((node, request));
            self.calendar.add(end, Event::Ask(number));
        }
    }

    /// Sends what a core sends, tells what it tells, and sets its alarm.
    fn drain(&mut self, number: u32) {
        loop {
            let Some(core) = &mut self.nodes[number as usize].core else {
                return;
            };
            if let Some(outgoing) = core.outgoing() {
                self.send(number, outgoing);
            } else if let Some(notice) = core.notice() {
                let at = self.moment(number, self.nodes[number as usize].busy.max(self.now));
                self.user.notice(at, notice, &mut self.agenda);
            } else {
                break;
            }
        }
        let node = &mut self.nodes[number as usize];
        let alarm = node.core.as_ref().and_then(P::alarm);
        node.alarm = alarm.map_or(NEVER, |time| node.clock.when(time));
        self.arm(number);
        self.take_agenda();
    }

    fn send(&mut self, from: u32, outgoing: Outgoing) {
        let to = outgoing.to.0;
        assert!(from != to && (to as usize) < self.nodes.len(), "{from} sends to {to}");
        self.user.sent(NodeId(from), &outgoing);
        let lane = (self.network.lane)(&outgoing) as usize;
        let (number, end, new) = self.links.between(from, to);
        if new {
            self.nodes[from as usize].links.push(number);
            self.nodes[to as usize].links.push(number);
        }
        let costs = self.network.costs;
        let bytes = outgoing.head.len() + outgoing.body.len();
        let node = &self.nodes[from as usize];
        let (start, work) = (node.busy.max(self.now), costs.works(bytes) * node.slow);
        let done = self.compute(from, start, work);
        let node = &mut self.nodes[from as usize];
        node.busy = done;
        let leaves = node.busy.max(node.adapter[lane]);
        node.adapter[lane] = leaves + costs.occupies(bytes);
        let delay = self.network.delay(&mut self.random) + self.spike;
        let mut arrives = leaves + costs.latency + costs.streams(bytes) + delay;
        let link = &mut self.links[number];
        let epoch = link.send(end);
        if self.nodes[to as usize].core.is_none() {
            // It is refused, or nobody answers.
            link.sever();
            return self.learn_soon(number, end, epoch);
        }
        let flight =
            Flight { link: number, from, to, epoch, head: outgoing.head, body: outgoing.body };
        let Network { spike, losses, reorders, duplicates, .. } = self.network;
        if Network::meets(duplicates, &mut self.random) {
            let (head, body) = (flight.head.clone(), flight.body.clone());
            let again = arrives + self.random.around(spike);
            let again_flight = self.flights.put(Flight { head, body, ..flight });
            self.calendar.add(again, Event::Arrive(again_flight));
        }
        if Network::meets(losses, &mut self.random) {
            return self.tell(Kind::Loss, to, from, &flight.head);
        }
        arrives = match Network::meets(reorders, &mut self.random) {
            true => arrives + self.random.around(spike),
            false => self.links[number].queue(end, lane, arrives),
        };
        let flight = self.flights.put(flight);
        self.calendar.add(arrives, Event::Arrive(flight));
    }
}
