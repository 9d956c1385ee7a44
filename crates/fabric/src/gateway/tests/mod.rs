//! The gateway without I/O: two nodes in this process, whose connection is two queues.

mod descriptors;
mod doors;
mod garbage;
mod interleavings;
mod lender;
mod meeting;
mod near;
mod processes;
mod schedule;
mod steps;

use super::batch::{Batch, Part};
use super::boxes::{Inbox, Outbox, Refusal};
use super::bytes::Parts;
use super::endpoint::{Broken, Core, Wire};
use super::frame;
use super::layout::{Layout, Memory};
use super::near::Near;
use super::receive::{Landed, Manner, Received};
use super::{Piece, Place};
use crate::transport::shared::sys::Mapped;
use muster_base::limits::GATEWAY_PIECE;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Range;
use std::panic::panic_any;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};

/// What happens to a process at its last step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Then {
    Freeze,
    Kill,
}

/// There is no room for a message.
struct Full;

/// What a killed process panics with.
struct Killed;

/// Lets a process take so many steps.
struct Brake {
    state: Mutex<State>,
    changed: Condvar,
    /// Most are never stopped.
    is_set: AtomicBool,
}

struct State {
    left: usize,
    then: Then,
    /// It stands, or has ended.
    is_over: bool,
}

impl Brake {
    fn new() -> Arc<Brake> {
        let state = Mutex::new(State { left: usize::MAX, then: Then::Kill, is_over: false });
        Arc::new(Brake { state, changed: Condvar::new(), is_set: AtomicBool::new(false) })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn step(&self) {
        if !self.is_set.load(Ordering::Relaxed) {
            return;
        }
        let mut state = self.lock();
        if state.left == 0 {
            if state.then == Then::Kill {
                drop(state);
                panic_any(Killed);
            }
            state.is_over = true;
            self.changed.notify_all();
            drop(self.changed.wait_while(state, |state| state.left == 0).unwrap());
            return;
        }
        state.left = state.left.saturating_sub(1);
    }

    fn set(&self, left: usize, is_over: bool) {
        let mut state = self.lock();
        (state.left, state.is_over) = (left, is_over);
        self.is_set.store(left != usize::MAX, Ordering::Relaxed);
        self.changed.notify_all();
    }

    fn wait(&self) {
        drop(self.changed.wait_while(self.lock(), |state| !state.is_over).unwrap());
    }
}

/// Memory whose user may be stopped before each access, and before each part of a body.
#[derive(Clone)]
struct Stepping {
    memory: Arc<Mapped>,
    brake: Arc<Brake>,
}

/// The words of a part: each is one, but for the bodies that would take all the time.
fn part(size: usize) -> usize {
    if size <= 128 { 1 } else { 256 }
}

impl Memory for Stepping {
    fn load(&self, at: usize) -> u64 {
        self.brake.step();
        self.memory.load(at)
    }

    fn store(&self, at: usize, value: u64) {
        self.brake.step();
        self.memory.store(at, value);
    }

    fn publish(&self, at: usize, value: u64) {
        self.brake.step();
        self.memory.publish(at, value);
    }

    fn replace(&self, at: usize, old: u64, new: u64) -> bool {
        self.brake.step();
        self.memory.replace(at, old, new)
    }

    fn take(&self, at: usize) -> u64 {
        self.brake.step();
        self.memory.take(at)
    }

    fn raise(&self, at: usize, value: u64) {
        self.brake.step();
        self.memory.raise(at, value);
    }

    fn count(&self, at: usize) {
        self.brake.step();
        self.memory.count(at);
    }

    fn set(&self, at: usize, bits: u64) {
        self.brake.step();
        self.memory.set(at, bits);
    }

    fn fence(&self) {
        self.memory.fence();
    }

    fn barrier(&self) {
        self.memory.barrier();
    }

    fn read(&self, at: usize, bytes: &mut [u8]) {
        let words = part(bytes.len());
        for (part, bytes) in bytes.chunks_mut(8 * words).enumerate() {
            self.brake.step();
            self.memory.read(at + part * words, bytes);
        }
    }

    fn write(&self, at: usize, bytes: &[u8]) {
        let words = part(bytes.len());
        for (part, bytes) in bytes.chunks(8 * words).enumerate() {
            self.brake.step();
            self.memory.write(at + part * words, bytes);
        }
    }

    fn stream(&self, at: usize, bytes: &[u8]) {
        self.write(at, bytes);
    }
}

/// What a connection holds: bytes, or where in the sender's segment some are, as a packet does that
/// refers to pages.
enum Held {
    Own(Vec<u8>),
    Lent(Range<usize>),
}

impl Held {
    fn len(&self) -> usize {
        match self {
            Held::Own(bytes) => bytes.len(),
            Held::Lent(range) => range.len(),
        }
    }
}

/// One direction of a connection.
#[derive(Default)]
struct Queue {
    held: VecDeque<Held>,
    size: usize,
    /// The sender's.
    segment: Option<Arc<Mapped>>,
    is_shut: bool,
    /// The numbers of the frames that were made for it.
    numbers: BTreeSet<u64>,
}

impl Queue {
    fn put(&mut self, held: Held) {
        self.size += held.len();
        self.held.push_back(held);
    }

    /// Copies the first ones out, as they are now.
    fn copy(&self, bytes: &mut [u8]) {
        let mut rest = bytes;
        for held in &self.held {
            let (to, then) = rest.split_at_mut(rest.len().min(held.len()));
            match held {
                Held::Own(bytes) => to.copy_from_slice(&bytes[..to.len()]),
                Held::Lent(range) => {
                    let segment = self.segment.as_ref().expect("who lends has one");
                    let odd = range.start % 8;
                    let mut words = vec![0; odd + to.len()];
                    segment.read(range.start / 8, &mut words);
                    to.copy_from_slice(&words[odd..]);
                }
            }
            rest = then;
            if rest.is_empty() {
                return;
            }
        }
    }

    /// Throws the first ones away.
    fn cut(&mut self, mut count: usize) {
        self.size -= count;
        while count > 0 {
            let first = self.held.front_mut().expect("there are as many");
            let size = first.len().min(count);
            count -= size;
            match first {
                held if held.len() == size => drop(self.held.pop_front()),
                Held::Own(bytes) => drop(bytes.drain(..size)),
                Held::Lent(range) => range.start += size,
            }
        }
    }
}

/// Bytes before a frame, which say its number, and bytes that it takes more in all.
const BEFORE: usize = 8;
const AROUND: usize = BEFORE + 3;

/// What a connection is like, and who receives over it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// Frames are sealed, and short.
    Sealed,
    /// Frames are bare, and long ones are brought to slots.
    Bare,
    /// They are bare, and ranks take long ones of their own from where they are.
    Landing,
}

/// All of them.
const WAYS: [Way; 3] = [Way::Sealed, Way::Bare, Way::Landing];

/// A node's end of a connection.
#[derive(Clone)]
struct Line {
    epoch: u32,
    out: Arc<Mutex<Queue>>,
    inn: Arc<Mutex<Queue>>,
    /// Bytes that each direction holds.
    limit: usize,
    way: Way,
}

impl Line {
    fn pair(epoch: u32, (limit, way): (usize, Way)) -> [Line; 2] {
        let (one, two) = (Arc::<Mutex<Queue>>::default(), Arc::<Mutex<Queue>>::default());
        let there = Line { epoch, out: two.clone(), inn: one.clone(), limit, way };
        [Line { epoch, out: one, inn: two, limit, way }, there]
    }

    fn is_bare(&self) -> bool {
        self.way != Way::Sealed
    }

    fn shut(&self) {
        self.out.lock().unwrap().is_shut = true;
        self.inn.lock().unwrap().is_shut = true;
    }
}

/// A process's copy of its node's end.
struct Braked {
    line: Line,
    brake: Arc<Brake>,
}

impl Braked {
    /// Puts bytes into the queue.
    fn add(&self, memory: &Stepping, held: Held) -> Result<(), Broken> {
        self.brake.step();
        let mut queue = self.line.out.lock().unwrap();
        if queue.is_shut {
            return Err(Broken::Ended);
        }
        queue.segment.get_or_insert_with(|| memory.memory.clone());
        queue.put(held);
        assert!(queue.size <= self.line.limit, "more than there was room for");
        Ok(())
    }

    /// Gets bytes from the queue.
    fn remove(&self, bytes: &mut [u8]) -> Result<(), Broken> {
        self.brake.step();
        let mut queue = self.line.inn.lock().unwrap();
        if queue.size < bytes.len() {
            return Err(Broken::Ended);
        }
        queue.copy(bytes);
        queue.cut(bytes.len());
        Ok(())
    }
}

impl Wire<Stepping> for Braked {
    fn epoch(&self) -> u32 {
        self.line.epoch
    }

    fn room(&self) -> usize {
        self.brake.step();
        self.line.limit - self.line.out.lock().unwrap().size
    }

    fn write(&self, memory: &Stepping, batch: &Batch) -> Result<(), Broken> {
        for part in batch.parts() {
            // A frame may be cut anywhere.
            match part {
                Part::Bytes(bytes) => {
                    for part in bytes.chunks(20) {
                        self.add(memory, Held::Own(part.to_vec()))?;
                    }
                }
                Part::Words(at, size) => {
                    for begin in (0..size).step_by(1500) {
                        let end = size.min(begin + 1500);
                        self.add(memory, Held::Lent(at * 8 + begin..at * 8 + end))?;
                    }
                }
            }
        }
        self.brake.step();
        Ok(())
    }

    fn peek(&self, bytes: &mut [u8]) -> Result<usize, Broken> {
        self.brake.step();
        let queue = self.line.inn.lock().unwrap();
        let size = queue.size.min(bytes.len());
        if size == 0 && queue.is_shut {
            return Err(Broken::Ended);
        }
        queue.copy(&mut bytes[..size]);
        drop(queue);
        self.brake.step();
        Ok(size)
    }

    fn consume(&self, bytes: &mut [u8]) -> Result<(), Broken> {
        self.remove(bytes)?;
        self.brake.step();
        Ok(())
    }

    fn is_bare(&self) -> bool {
        self.line.is_bare()
    }

    fn arrived(&self) -> Result<usize, Broken> {
        self.brake.step();
        Ok(self.line.inn.lock().unwrap().size)
    }

    fn take(
        &self,
        memory: &Stepping,
        bytes: &mut [u8],
        bodies: &[(usize, usize)],
    ) -> Result<(), Broken> {
        self.remove(bytes)?;
        for (at, size) in bodies {
            let mut body = vec![0; *size];
            self.remove(&mut body)?;
            for (part, bytes) in body.chunks(2048).enumerate() {
                self.brake.step();
                memory.memory.write(at + part * 256, bytes);
            }
        }
        self.brake.step();
        Ok(())
    }

    fn get(&self, first: &mut [u8], then: &mut [u8]) -> Result<(), Broken> {
        self.remove(first)?;
        then.chunks_mut(2048).try_for_each(|part| self.remove(part))?;
        self.brake.step();
        Ok(())
    }

    fn around(&self) -> (usize, usize) {
        if self.line.is_bare() { (0, 0) } else { (BEFORE, AROUND) }
    }

    fn seal(&self, number: u64, batch: &mut Vec<u8>, start: usize) -> Result<(), Broken> {
        self.brake.step();
        if self.line.is_bare() {
            return Ok(());
        }
        batch[start..start + BEFORE].copy_from_slice(&number.to_le_bytes());
        batch.extend_from_slice(&[0; AROUND - BEFORE]);
        let is_new = self.line.out.lock().unwrap().numbers.insert(number);
        assert!(is_new, "two frames of one connection have the number {number}");
        Ok(())
    }

    fn open(
        &self,
        number: u64,
        arrived: &mut [u8],
    ) -> Result<Option<(Range<usize>, usize)>, Broken> {
        if self.line.is_bare() {
            return frame::find(arrived).map_err(|_| Broken::Malformed);
        }
        let Some((before, rest)) = arrived.split_first_chunk() else { return Ok(None) };
        if u64::from_le_bytes(*before) != number {
            return Err(Broken::Ended);
        }
        let found = frame::find(rest).map_err(|_| Broken::Malformed)?;
        let found = found.map(|(frame, end)| (BEFORE..BEFORE + frame.end, AROUND + end));
        Ok(found.filter(|(_, end)| *end <= arrived.len()))
    }
}

/// A rank, or a daemon.
struct Process {
    core: Core<Stepping>,
    outbox: Outbox,
    inbox: Inbox,
    near: Near,
    line: Braked,
    /// What it says to ranks of its node.
    near_sizes: Sizes,
    /// Whether the connection has something that this rank is to take from there.
    has_own: bool,
    /// How many messages were sent to, and received from, whom.
    sent: BTreeMap<Place, u64>,
    got: BTreeMap<Place, u64>,
    /// What of the next one was posted to whom, and has come from whom.
    begun: BTreeMap<Place, usize>,
    parts: BTreeMap<Place, Vec<u8>>,
}

/// Bytes of the messages that one rank sends another, again and again.
type Sizes = [usize; 4];

/// Short ones, and those on a bare line: some are long, and the first is.
const SHORT: Sizes = [8, 0, 40, 100];
const BARE: Sizes = [30_000, 0, 40, 9000];

/// The message that one rank sends another as this number.
fn message(from: Place, to: Place, number: u64, sizes: Sizes) -> Vec<u8> {
    let size = sizes[number as usize % 4];
    let seed = u64::from(from.node * 50 + from.rank * 10 + to.rank) * 1000 + number;
    // The same again every 256 bytes.
    let mut bytes: Vec<u8> = (0..256).map(|at| (seed * 31 + at * 7) as u8).collect();
    bytes = bytes.repeat(size / 256 + 1);
    bytes.truncate(size);
    bytes
}

/// Its two parts.
fn parts(message: &[u8]) -> Parts<'_> {
    let (head, body) = message.split_at(message.len().min(12));
    Parts { head, body }
}

impl Process {
    fn new(memory: &Arc<Mapped>, layout: &Layout, me: usize, line: &Line) -> Process {
        let brake = Brake::new();
        let memory = Stepping { memory: memory.clone(), brake: brake.clone() };
        let core = Core::new(memory, layout.clone(), me);
        Process {
            outbox: Outbox::new(),
            inbox: Inbox::new(),
            near: Near::new(&core),
            core,
            line: Braked { line: line.clone(), brake },
            near_sizes: SHORT,
            has_own: false,
            sent: BTreeMap::new(),
            got: BTreeMap::new(),
            begun: BTreeMap::new(),
            parts: BTreeMap::new(),
        }
    }

    fn brake(&self) -> Arc<Brake> {
        self.line.brake.clone()
    }

    fn place(&self) -> Place {
        Place { node: self.core.layout.node as u32, rank: self.core.me as u32 }
    }

    fn peer(&self) -> usize {
        1 - self.core.layout.node
    }

    /// Posts the next message to a rank of the other node.
    fn post(&mut self, rank: usize) -> Result<(), Refusal> {
        let to = Place { node: self.peer() as u32, rank: rank as u32 };
        self.outbox.retire(&self.core);
        self.next(to, |process, bytes| {
            let mut begin = process.begun.remove(&to).unwrap_or(0);
            loop {
                let end = bytes.len().min(begin + GATEWAY_PIECE);
                let (at, piece) =
                    ((begin as u64, bytes.len() as u64), parts(bytes).cut(begin, end));
                let posted =
                    process.outbox.post(&process.core, (to.node as usize, rank), at, piece);
                if posted.is_err() {
                    process.begun.insert(to, begin);
                }
                posted?;
                begin = end;
                if end == bytes.len() {
                    return Ok(());
                }
            }
        })
    }

    /// Sends the next message to a rank of the same node; whether there was room.
    fn send(&mut self, rank: usize) -> bool {
        let to = Place { rank: rank as u32, ..self.place() };
        let sent = self.next(to, |process, bytes| -> Result<(), Full> {
            let mut at = 0;
            loop {
                let sent = process.near.send(&process.core, rank, parts(bytes), at);
                at += sent.ok_or(Full)?;
                if at == bytes.len() {
                    return Ok(());
                }
            }
        });
        sent.is_ok()
    }

    /// What it and another rank say to each other.
    fn sizes(&self, other: Place) -> Sizes {
        match other.node == self.place().node {
            true => self.near_sizes,
            false if self.line.line.is_bare() => BARE,
            false => SHORT,
        }
    }

    /// Sends the next message, somehow.
    fn next<E>(
        &mut self,
        to: Place,
        send: impl FnOnce(&mut Process, &[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let number = self.sent.get(&to).copied().unwrap_or(0);
        let bytes = message(self.place(), to, number, self.sizes(to));
        // Counted first: a killed process may have posted its last one or not.
        self.sent.insert(to, number + 1);
        let sent = send(self, &bytes);
        if sent.is_err() {
            self.sent.insert(to, number);
        }
        sent
    }

    /// A pass, as whoever waits makes it.
    fn pass(&mut self, is_patient: bool) {
        let peer = self.peer();
        // A connection that has ended is the daemons' business.
        let _ = self.core.send(peer, &self.line);
        let is_rank = self.core.me < self.core.layout.here();
        let lands = is_rank && self.line.line.way == Way::Landing;
        let received = self.core.receive(peer, &self.line, Manner { is_patient, lands });
        self.has_own |= received == Ok(Received::Own);
    }

    /// Takes a piece, which has to be the next of its sender.
    fn take(&mut self) -> bool {
        let me = self.place();
        let [near, far] = [me.node, 1 - me.node].map(|node| self.sizes(Place { node, rank: 0 }));
        let (got, parts) = (&mut self.got, &mut self.parts);
        let mut take = |Piece { from, total, offset, mut bytes }: Piece<'_>| {
            let number = got.entry(from).or_insert(0);
            let expected =
                message(from, me, *number, if from.node == me.node { near } else { far });
            let arrived = parts.entry(from).or_default();
            assert_eq!((total, offset), (expected.len() as u64, arrived.len() as u64));
            let begun = arrived.len();
            arrived.resize(begun + bytes.len(), 0);
            let mut rest = &mut arrived[begun..];
            for most in [16, 1000, usize::MAX] {
                let (now, then) = rest.split_at_mut(rest.len().min(most));
                bytes.read(now);
                rest = then;
            }
            if arrived.len() == expected.len() {
                assert!(*arrived == expected, "message {number} from {from} to {me} is another");
                arrived.clear();
                *number += 1;
            }
        };
        let near = self.near.take(&self.core, &mut take);
        assert_eq!(self.near.garbage(), None);
        if near.is_some() || self.inbox.take(&self.core, &mut take).expect("it can be").is_some() {
            return true;
        }
        if !std::mem::take(&mut self.has_own) {
            return false;
        }
        let landed = self.core.land(1 - self.core.layout.node, &self.line, &mut take);
        assert_ne!(landed, Ok(Landed::Torn), "what had arrived is there");
        matches!(landed, Ok(Landed::Pieces(_)))
    }
}

/// Two nodes; the last process of each is its daemon.
struct World {
    nodes: [Vec<Process>; 2],
    epoch: u32,
    /// What each direction of a connection holds, and what it is like.
    line: (usize, Way),
}

impl World {
    fn new(ranks: [u16; 2], line: (usize, Way)) -> World {
        let lines = Line::pair(0, line);
        let node = |node: usize| {
            let layout = Layout::new(node, &ranks);
            let memory = Arc::new(Mapped::heap(layout.words * 8));
            let new = |me| Process::new(&memory, &layout, me, &lines[node]);
            (0..=layout.here()).map(new).collect()
        };
        let mut world = World { nodes: [node(0), node(1)], epoch: 0, line };
        world.reconnect();
        world
    }

    /// What the daemons do when a connection is to be replaced; who is stopped keeps the old one.
    fn reconnect(&mut self) {
        self.epoch += 1;
        let lines = Line::pair(self.epoch, self.line);
        for (node, line) in self.nodes.iter_mut().zip(lines) {
            let daemon = node.last().expect("there is a daemon");
            daemon.core.close(daemon.peer(), None);
            daemon.line.line.shut();
            daemon.core.open(daemon.peer(), line.epoch);
            node.iter_mut().for_each(|process| process.line.line = line.clone());
        }
    }

    /// Lets all that are left go on until nothing happens any more.
    fn settle(&mut self) {
        for round in 0.. {
            assert!(round < 10_000, "it comes to no end");
            let before: Vec<_> = self.nodes.iter().flatten().map(|one| one.got.clone()).collect();
            let mut is_idle = true;
            for process in self.nodes.iter_mut().flatten() {
                process.pass(true);
                let is_rank = process.core.me < process.core.layout.here();
                while is_rank && process.take() {}
                if is_rank {
                    process.outbox.retire(&process.core);
                    is_idle &= process.outbox.is_empty();
                }
            }
            let after: Vec<_> = self.nodes.iter().flatten().map(|one| one.got.clone()).collect();
            if is_idle && before == after && round > 3 {
                return;
            }
        }
    }
}

/// Keeps what killed processes panic with from being printed; other panics are.
fn quietly(test: impl FnOnce()) {
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if !info.payload().is::<Killed>() {
            hook(info);
        }
    }));
    test();
}
