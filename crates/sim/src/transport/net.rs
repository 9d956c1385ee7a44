//! A simulated network: its clock, what is under way, and who waits for what.

use crate::calendar::Calendar;
use crate::network::Costs;
use crate::random::Random;
use muster_base::limits::{SIMULATED_WAITING, SIMULATED_WINDOW};
use muster_fabric::strategy::Ready;
use muster_fabric::transport::{Hello, Lane};
use muster_fabric::{Address, Deadline, Error, Result};
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::io::ErrorKind;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};

/// What a message takes of a window besides its bytes, so that empty ones are not free.
const MESSAGE: usize = 64;

/// Messages whose memory is kept: as many as a few connections have under way.
const SPARE: usize = 16;

/// What a network's name ends with before its seed.
const SEED: &str = "?seed=";

/// Networks by name, for as long as anyone has an end or a door there.
static NETWORKS: Mutex<BTreeMap<String, Weak<Net>>> = Mutex::new(BTreeMap::new());

/// A network.
pub struct Net {
    state: Mutex<State>,
    changed: Condvar,
}

/// How a connection has ended, as one end sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    Closed,
    Killed,
}

/// One end's part of a connection.
struct Half {
    /// The other end.
    other: usize,
    /// The listening node of the connection.
    node: u32,
    lane: Lane,
    /// How late what is sent from here is, where there is a seed.
    late: Option<Random>,
    /// What has arrived.
    inbox: VecDeque<Vec<u8>>,
    /// What was sent from here and not taken there, in bytes of the window.
    under_way: usize,
    /// When the adapter is free, and the last message arrives.
    adapter: u64,
    last: u64,
    ending: Option<Ending>,
    /// It stands before a door or has gone through.
    is_there: bool,
    /// It was dropped.
    is_gone: bool,
}

enum Arrival {
    Message(usize, Vec<u8>),
    Hello(u32, usize, Hello),
    Close(usize),
}

struct State {
    clock: u64,
    costs: Costs,
    calendar: Calendar<u32>,
    arrivals: HashMap<u32, Arrival>,
    next: u32,
    /// What is late is drawn from it.
    seed: Option<Random>,
    /// Connections to each listening node so far.
    opened: HashMap<u32, u64>,
    halves: HashMap<usize, Half>,
    /// Connections that wait to be accepted, by listening nodes.
    doors: HashMap<u32, VecDeque<(usize, Hello)>>,
    cuts: BTreeSet<u32>,
    /// What came while its node was cut off.
    held: Vec<Arrival>,
    /// Memory to be used again.
    spare: Vec<Vec<u8>>,
}

impl Net {
    /// The network of a name: a fast one, made now if there is none. Where the name ends with
    /// `?seed=NUMBER`, each message is late by something around the latency.
    pub fn named(name: &str) -> Arc<Net> {
        let mut networks = NETWORKS.lock().unwrap_or_else(PoisonError::into_inner);
        networks.retain(|_, net| net.strong_count() > 0);
        if let Some(net) = networks.get(name).and_then(Weak::upgrade) {
            return net;
        }
        let state = State {
            clock: 0,
            costs: Costs::FAST,
            calendar: Calendar::default(),
            arrivals: HashMap::new(),
            next: 0,
            seed: name.rsplit_once(SEED).and_then(|(_, seed)| seed.parse().ok()).map(Random::new),
            opened: HashMap::new(),
            halves: HashMap::new(),
            doors: HashMap::new(),
            cuts: BTreeSet::new(),
            held: Vec::new(),
            spare: Vec::new(),
        };
        let net = Arc::new(Net { state: Mutex::new(state), changed: Condvar::new() });
        networks.insert(name.to_owned(), Arc::downgrade(&net));
        net
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What messages cost from now on.
    pub fn set_costs(&self, costs: Costs) {
        self.lock().costs = costs;
    }

    /// Nanoseconds of virtual time since it was made.
    pub fn clock(&self) -> u64 {
        self.lock().clock
    }

    /// A listening node dies: both ends of each of its connections have lost the other.
    pub fn kill(&self, node: u32) {
        let mut state = self.lock();
        for half in state.halves.values_mut().filter(|half| half.node == node) {
            half.ending.get_or_insert(Ending::Killed);
            half.inbox.clear();
        }
        self.changed.notify_all();
    }

    /// Nothing gets to a listening node or away from it.
    pub fn cut(&self, node: u32) {
        self.lock().cuts.insert(node);
    }

    /// What was cut is together again, and what was held up arrives.
    pub fn heal(&self, node: u32) {
        let mut state = self.lock();
        state.cuts.remove(&node);
        for arrival in std::mem::take(&mut state.held) {
            state.arrive(arrival);
        }
        self.changed.notify_all();
    }

    pub(super) fn listen(&self, node: u32, at: &Address) -> Result<()> {
        let mut state = self.lock();
        if state.doors.contains_key(&node) {
            return Err(Error::io(format!("listening at {at}"), ErrorKind::AddrInUse));
        }
        state.doors.insert(node, VecDeque::new());
        Ok(())
    }

    pub(super) fn close_door(&self, node: u32) {
        let waiting = self.lock().doors.remove(&node).unwrap_or_default();
        for (number, _) in waiting {
            self.close(number);
        }
    }

    pub(super) fn connect(
        &self,
        node: u32,
        to: &Address,
        hello: &Hello,
        deadline: Deadline,
    ) -> Result<usize> {
        let late = || deadline.missed(&hello.name, to, "being accepted");
        let has_room = |state: &mut State| {
            state.doors.get(&node).is_none_or(|waiting| waiting.len() < SIMULATED_WAITING)
        };
        let (mut state, done) = self.wait_until(deadline, has_room);
        if !done {
            return Err(late());
        }
        if !state.doors.contains_key(&node) {
            let why = "nobody listens there".to_owned();
            return Err(Error::Refused { peer: to.to_string(), why });
        }
        let (here, there) = state.open(node, hello.lane);
        state.send(here, 0, Arrival::Hello(node, there, hello.clone()));
        drop(state);
        // Who connects waits until it stands before the door, so that no more do than may.
        let has_arrived = |state: &mut State| state.halves[&there].is_there;
        if !self.wait_until(deadline, has_arrived).1 {
            self.close(here);
            return Err(late());
        }
        Ok(here)
    }

    pub(super) fn accept(
        &self,
        node: u32,
        at: &Address,
        deadline: Deadline,
    ) -> Result<(usize, Hello)> {
        let is_there =
            |state: &mut State| state.doors.get(&node).is_some_and(|door| !door.is_empty());
        let (mut state, _) = self.wait_until(deadline, is_there);
        let first = state.doors.get_mut(&node).and_then(VecDeque::pop_front);
        self.changed.notify_all();
        first.ok_or_else(|| deadline.missed(at, "any peer", "a connection"))
    }

    /// Memory for a message, if it may be sent now.
    pub(super) fn room(&self, number: usize, size: usize, peer: &str) -> Result<Vec<u8>> {
        let mut state = self.lock();
        let half = &state.halves[&number];
        if let Some(ending) = half.ending {
            return Err(ending.error(peer));
        }
        if half.under_way + size + MESSAGE > SIMULATED_WINDOW {
            state.look();
            self.changed.notify_all();
            return Err(Error::WouldBlock);
        }
        let mut message = state.spare.pop().unwrap_or_default();
        message.resize(size, 0);
        Ok(message)
    }

    /// Sends a message for which there is room.
    pub(super) fn send(&self, number: usize, message: Vec<u8>) {
        let mut state = self.lock();
        let half = state.half(number);
        let size = message.len();
        half.under_way += size + MESSAGE;
        let other = half.other;
        state.send(number, size, Arrival::Message(other, message));
        self.changed.notify_all();
    }

    /// What has arrived first.
    pub(super) fn take(&self, number: usize, peer: &str) -> Result<Vec<u8>> {
        let mut state = self.lock();
        let half = state.half(number);
        let Some(message) = half.inbox.pop_front() else {
            let ending = half.ending;
            state.look();
            self.changed.notify_all();
            return Err(ending.map_or(Error::WouldBlock, |ending| ending.error(peer)));
        };
        let other = half.other;
        if let Some(sender) = state.halves.get_mut(&other) {
            sender.under_way -= message.len() + MESSAGE;
        }
        self.changed.notify_all();
        Ok(message)
    }

    /// A message was seen, and its memory can be used again.
    pub(super) fn recycle(&self, message: Vec<u8>) {
        let mut state = self.lock();
        if state.spare.len() < SPARE {
            state.spare.push(message);
        }
    }

    /// Waits until an end is ready, or something has ended it; false when the deadline has passed.
    pub(super) fn wait(&self, number: usize, ready: Ready, deadline: Deadline) -> bool {
        let is_ready = |state: &mut State| {
            let half = &state.halves[&number];
            let ready = match ready {
                Ready::Receive => !half.inbox.is_empty(),
                // There is room for the largest message, so waiting for less is no loop.
                Ready::Send => half.under_way <= SIMULATED_WINDOW / 2,
            };
            ready || half.ending.is_some()
        };
        self.wait_until(deadline, is_ready).1
    }

    /// An end is dropped: the other one learns of it after what was sent.
    pub(super) fn close(&self, number: usize) {
        self.lock().close(number);
        self.changed.notify_all();
    }

    /// Lets time go on until something is so; false when the deadline has passed before.
    fn wait_until(
        &self,
        deadline: Deadline,
        mut done: impl FnMut(&mut State) -> bool,
    ) -> (MutexGuard<'_, State>, bool) {
        let mut state = self.lock();
        loop {
            if done(&mut state) {
                return (state, true);
            }
            if state.advance(u64::MAX) {
                self.changed.notify_all();
                continue;
            }
            let Some(left) = deadline.left() else {
                return (state, false);
            };
            let waited = self.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Ending {
    fn error(self, peer: &str) -> Error {
        let peer = peer.to_owned();
        match self {
            Ending::Closed => Error::Closed { peer },
            Ending::Killed => Error::Dead { peer, evidence: "its node was killed".to_owned() },
        }
    }
}

impl State {
    fn half(&mut self, number: usize) -> &mut Half {
        self.halves.get_mut(&number).expect("an end lives as long as its owner")
    }

    /// Makes a connection: its two ends.
    fn open(&mut self, node: u32, lane: Lane) -> (usize, usize) {
        let (here, there) = (self.next as usize * 2, self.next as usize * 2 + 1);
        // By who is connected, so that it does not matter which thread comes first.
        let count = self.opened.entry(node).or_default();
        *count += 1;
        let late = self.seed.as_ref().map(|seed| seed.branch(node.into()).branch(*count));
        for (number, other) in [(here, there), (there, here)] {
            let half = Half {
                other,
                node,
                lane,
                late: late.as_ref().map(|late| late.branch(number as u64 % 2)),
                inbox: VecDeque::new(),
                under_way: 0,
                adapter: 0,
                last: 0,
                ending: None,
                is_there: false,
                is_gone: false,
            };
            self.halves.insert(number, half);
        }
        (here, there)
    }

    /// Puts something under way, behind what was sent from there before.
    fn send(&mut self, number: usize, size: usize, what: Arrival) {
        let (costs, clock) = (self.costs, self.clock);
        let half = self.half(number);
        // The lanes are connections of their own, each with a share of the adapter: no message of
        // the system's waits for one in bulk.
        let work = if half.lane == Lane::System { costs.overhead } else { 2 * costs.overhead };
        let leaves = half.adapter.max(clock + work);
        half.adapter = leaves + costs.occupies(size);
        let late = half.late.as_mut().map_or(0, |late| late.around(costs.latency));
        let arrives = leaves + costs.latency + late + costs.streams(size) + costs.overhead;
        half.last = half.last.max(arrives);
        let time = half.last;
        let number = self.next;
        self.next = self.next.wrapping_add(1);
        self.arrivals.insert(number, what);
        self.calendar.add(time, number);
    }

    /// Goes to the next moment at which something arrives; false if that is not by `until`.
    fn advance(&mut self, until: u64) -> bool {
        let Some((time, number)) = self.calendar.take(until) else {
            return false;
        };
        self.clock = self.clock.max(time);
        let arrival = self.arrivals.remove(&number).expect("it is under way");
        self.arrive(arrival);
        true
    }

    /// A look that has found nothing takes time.
    fn look(&mut self) {
        self.clock += self.costs.overhead.max(1);
        while self.advance(self.clock) {}
    }

    fn arrive(&mut self, arrival: Arrival) {
        let node = match &arrival {
            Arrival::Hello(node, ..) => Some(*node),
            Arrival::Message(end, _) | Arrival::Close(end) => {
                self.halves.get(end).map(|half| half.node)
            }
        };
        if node.is_some_and(|node| self.cuts.contains(&node)) {
            return self.held.push(arrival);
        }
        match arrival {
            Arrival::Message(end, message) => {
                if let Some(half) = self.halves.get_mut(&end).filter(|half| half.ending.is_none()) {
                    half.inbox.push_back(message);
                }
            }
            Arrival::Close(end) => {
                if let Some(half) = self.halves.get_mut(&end) {
                    half.ending.get_or_insert(Ending::Closed);
                }
            }
            Arrival::Hello(node, end, hello) => {
                self.half(end).is_there = true;
                match self.doors.get_mut(&node) {
                    Some(door) => door.push_back((end, hello)),
                    None => self.close(end),
                }
            }
        }
    }

    /// An end is gone: the other learns of it after what was sent. When both are, they are
    /// forgotten.
    fn close(&mut self, number: usize) {
        let half = self.half(number);
        half.is_gone = true;
        let other = half.other;
        if self.half(other).is_gone {
            self.halves.remove(&number);
            self.halves.remove(&other);
        } else {
            self.send(number, 0, Arrival::Close(other));
        }
    }
}
