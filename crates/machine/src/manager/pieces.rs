//! A job's files on their way to the nodes of its ranks: one relay stream in pieces, each an
//! XFER-AND-SIGNAL to all of them, with COMPARE-AND-WRITE as flow control (STORM, section 4.1).
//!
//! If the stream tells files by their chunks, these come next, each to the nodes that lack it: the
//! manager knows what it has sent (`holdings.rs`), and nodes say what they lack beside that. The
//! client gives the chunks as they are wanted. They come in rounds: in each the nodes are told
//! which are to come, and count them. One is enough, unless a node has dropped something: the next
//! begins when the client has given all of the last. What is for nodes of one processor only is
//! sent to no other: that they have all of it is soon told.
//!
//! Nodes that should have everything are told to run the job in the same letter ([`Pieces::run`]).
//! If one has dropped something, the others run already while it gets that.

use super::Manager;
use super::flow::{FLYING, Flow, HEAR, Lacking};
use super::holdings::Holder;
use super::job::{Job, State};
use super::report;
use super::shipping::{PATIENCE, Shipping, Want};
use super::spec::{Phase, Sent};
use super::steady;
use crate::chunk::Hash;
use crate::launch::bundle::Bundle;
use crate::launch::{BYTES_HEAD, Bytes, Kind, Order, Shipment, What};
use crate::memory::{Memory, name_of};
use muster_base::limits::{CHUNK, MULTICAST_MIN};
use muster_fabric::global::Transfer;
use muster_fabric::primitive::Nodes;
use muster_fabric::protocol::{NodeId, Payload};
use muster_fabric::{Deadline, Error as FabricError};
use muster_ninep::error::{Errno, Error};
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, Weak};
use std::time::{Duration, Instant};

/// How long to wait for others, or for room, at once, before looking whether the job is still to be
/// started.
const LOOK: Duration = Duration::from_millis(5);

/// How long a question may take to be answered before it is asked again.
const ANSWER: Duration = Duration::from_secs(1);

/// Who sends files, and what of that is on its way.
#[derive(Default)]
pub(super) struct Shipments {
    state: Mutex<Busy>,
    changed: Condvar,
}

#[derive(Default)]
struct Busy {
    shipping: Shipping,
    /// Pieces of all jobs that are on their way.
    flying: Vec<Weak<Flight>>,
    /// Pieces that are about to be.
    starting: usize,
}

/// A place in a queue, which is left when it goes.
struct Turn<'a> {
    shipments: &'a Shipments,
    want: Want,
    number: u64,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.shipments.lock().shipping.leave(self.want, self.number);
        self.shipments.changed.notify_all();
    }
}

impl Shipments {
    fn lock(&self) -> MutexGuard<'_, Busy> {
        self.state.lock().expect("no holder panics")
    }

    /// Takes something as soon as it is there and its turn has come, for a job that is still to be
    /// started.
    fn take<T>(
        &self,
        job: &Job,
        want: Want,
        mut free: impl FnMut(&mut Busy) -> Option<T>,
    ) -> std::result::Result<T, Failed> {
        let since = steady();
        let mut busy = self.lock();
        let turn = Turn { shipments: self, want, number: busy.shipping.come(want) };
        loop {
            let is_next = busy.shipping.is_next(want, turn.number);
            let taken = if is_next { free(&mut busy) } else { None };
            let is_late = busy.shipping.is_late(since, steady());
            if taken.is_none() && !is_late {
                // Others have only to see that they are still to be started.
                let look = if is_next { LOOK } else { 20 * LOOK };
                busy = self.changed.wait_timeout(busy, look).expect("no holder panics").0;
            }
            // Whose turn is over takes the lock to say so.
            drop(busy);
            if let Some(taken) = taken {
                return Ok(taken);
            }
            if is_late {
                let text = "other jobs are sending files, and nothing of that has moved for";
                let text = format!("{text} {PATIENCE:?}  [E306]");
                return Err((None, Error::new(Errno::AGAIN, text)));
            }
            check(job)?;
            busy = self.lock();
        }
    }

    /// Something has become free, or is on the way to that.
    pub(super) fn moved(&self) {
        self.lock().shipping.moved(steady());
        self.changed.notify_all();
    }
}

/// A job that was ended meanwhile gets no files.
pub(super) fn check(job: &Job) -> std::result::Result<(), Failed> {
    let is_starting = job.state().progress.phase() == Phase::Starting;
    if is_starting { Ok(()) } else { Err((None, super::launch::ended(job))) }
}

/// A shipment's variable. Dropping it lets others have it.
struct Booking {
    manager: Arc<Manager>,
    shipment: Shipment,
}

impl Booking {
    fn make(manager: Arc<Manager>, job: &Job) -> std::result::Result<Booking, Failed> {
        let book = |busy: &mut Busy| busy.shipping.book(manager.memory.term());
        let shipment = manager.shipments.take(job, Want::Variable, book)?;
        Ok(Booking { manager, shipment })
    }

    /// Waits until one more piece can go. A job whose client is slow does not hold others up: what
    /// has landed, whoever it belongs to, is seen here.
    fn room(&self, job: &Job) -> std::result::Result<(), Failed> {
        self.manager.shipments.take(job, Want::Piece, |busy| {
            let before = busy.flying.len();
            busy.flying
                .retain(|flight| flight.upgrade().is_some_and(|flight| !flight.has_landed()));
            if busy.flying.len() < before {
                busy.shipping.moved(steady());
            }
            let is_free = Shipping::has_room(busy.flying.len() + busy.starting);
            busy.starting += usize::from(is_free);
            is_free.then_some(())
        })
    }
}

impl Drop for Booking {
    fn drop(&mut self) {
        let variable = self.shipment.variable;
        self.manager.shipments.lock().shipping.give_back(variable, steady());
        self.manager.shipments.changed.notify_all();
    }
}

/// A piece on its way.
struct Flight(Mutex<Transfer>);

impl Flight {
    fn begin(transfer: Transfer) -> Arc<Flight> {
        Arc::new(Flight(Mutex::new(transfer)))
    }

    /// Waits for it.
    fn land(&self, deadline: Deadline) -> std::result::Result<(), Error> {
        let transfer = self.0.lock().expect("no holder panics");
        transfer.wait(deadline).map_err(|error| not_sent(&error))
    }

    /// Whether it has arrived or failed, as far as can be told at once.
    fn has_landed(&self) -> bool {
        self.0.try_lock().is_ok_and(|transfer| transfer.look().is_some())
    }
}

/// Why files do not arrive, and at which rank.
pub(super) type Failed = (Option<usize>, Error);

/// A chunk of a job's files.
#[derive(Clone, Debug)]
pub(super) struct Chunk {
    pub(super) hash: Hash,
    pub(super) length: usize,
    /// The processors of the nodes that it is for; all if none are named.
    arches: Vec<String>,
}

impl Chunk {
    pub(super) fn new(hash: Hash, length: usize, arch: Option<&str>) -> Chunk {
        Chunk { hash, length, arches: arch.into_iter().map(str::to_owned).collect() }
    }

    /// It is in another file, too.
    pub(super) fn is_also_for(&mut self, arch: Option<&str>) {
        match arch {
            None => self.arches.clear(),
            Some(arch) if self.is_for(arch) => {}
            Some(arch) => self.arches.push(arch.to_owned()),
        }
    }

    fn is_for(&self, arch: &str) -> bool {
        self.arches.is_empty() || self.arches.iter().any(|one| one == arch)
    }
}

/// The chunks of a job's files.
#[derive(Default)]
struct Told {
    chunks: Vec<Chunk>,
    to: Lacking,
    /// The one that the client is giving: its number, and as much of its letter as there is.
    given: Option<(u32, Vec<u8>)>,
    /// Those that wait for others to go with, to the same nodes, and the last of them.
    batch: Bundle,
    batch_to: Option<Nodes>,
    batch_last: u64,
    /// How many were sent.
    sent: usize,
    /// All nodes have all of them.
    is_there: bool,
    /// They have as far as is known here, and nobody has asked them.
    is_trusted: bool,
}

/// Files on their way.
pub(super) struct Pieces {
    memory: Arc<Memory>,
    booking: Booking,
    to: Nodes,
    holders: Vec<Holder>,
    /// Their processors.
    arches: HashMap<String, String>,
    job: u32,
    flow: Flow,
    flying: VecDeque<Arc<Flight>>,
    /// What all nodes are sent next.
    bundle: Bundle,
    /// The letter of a piece that is not full yet.
    part: Vec<u8>,
    told: Told,
    /// What the manager had sent by multicast before.
    multicast: u64,
}

impl Pieces {
    pub(super) fn new(
        manager: Arc<Manager>,
        job: &Job,
        to: Nodes,
        holders: Vec<Holder>,
    ) -> std::result::Result<Pieces, Failed> {
        let memory = manager.memory.clone();
        let arches = manager.nodes.arches(holders.iter().map(|(name, _)| name));
        let booking = Booking::make(manager, job)?;
        let flow = Flow::new(booking.shipment);
        let (flying, bundle) = (VecDeque::new(), Bundle::default());
        let (part, told) = (Vec::new(), Told::default());
        let (job, multicast) = (job.attempt, memory.multicast());
        Ok(Pieces {
            memory,
            booking,
            to,
            holders,
            arches,
            job,
            flow,
            flying,
            bundle,
            part,
            told,
            multicast,
        })
    }

    pub(super) fn shipment(&self) -> Shipment {
        self.booking.shipment
    }

    /// Sends more of the stream; waits while nodes are behind.
    pub(super) fn push(&mut self, job: &Job, mut bytes: &[u8]) -> std::result::Result<(), Failed> {
        while !bytes.is_empty() {
            if self.part.is_empty() {
                self.part.extend(Bytes::head(Kind::Piece, self.job, self.flow.next_piece()));
            }
            let room = BYTES_HEAD + CHUNK - self.part.len();
            let (now, later) = bytes.split_at(room.min(bytes.len()));
            self.part.extend_from_slice(now);
            bytes = later;
            if self.part.len() == BYTES_HEAD + CHUNK {
                self.send_part(job)?;
            }
        }
        Ok(())
    }

    fn send_part(&mut self, job: &Job) -> std::result::Result<(), Failed> {
        let letter = std::mem::take(&mut self.part);
        if letter.is_empty() {
            return Ok(());
        }
        if let Some(count) = self.flow.before_piece() {
            self.await_unpacked(job, count)?;
        }
        self.flow.piece();
        self.post(job, letter)
    }

    /// The stream has told files by these chunks.
    pub(super) fn tell(&mut self, chunks: Vec<Chunk>) {
        self.told.chunks = chunks;
    }

    /// Which chunks are to be given before the job is started, as far as is known here: nodes that
    /// should have all of them are asked by [`Pieces::run`] only, on their way.
    pub(super) fn wanted_first(&mut self, job: &Job) -> std::result::Result<Vec<u32>, Failed> {
        if self.flow.has_told() {
            return self.wanted(job);
        }
        let wanted = self.tell_nodes(job)?;
        self.told.is_trusted = wanted.is_empty();
        Ok(wanted)
    }

    /// Whether nodes that should have everything are to say so only when they run the job.
    pub(super) fn is_trusting(&self) -> bool {
        self.told.is_trusted
    }

    /// Tells the nodes which chunks they get: those that they are not known to hold.
    fn tell_nodes(&mut self, job: &Job) -> std::result::Result<Vec<u32>, Failed> {
        self.send_part(job)?;
        let hashes: Vec<Hash> = self.told.chunks.iter().map(|chunk| chunk.hash).collect();
        let mut lacking = self.booking.manager.holdings.lacking(&self.holders, &hashes);
        let all = self.told.chunks.iter().zip(&mut lacking);
        for (chunk, to) in all.filter(|(chunk, _)| !chunk.arches.is_empty()) {
            let arch = |node: &NodeId| self.arches.get(&name_of(*node));
            to.retain(|node| arch(node).is_none_or(|arch| chunk.is_for(arch)));
        }
        self.told.to = Lacking::new(lacking);
        self.announce(job)?;
        Ok(self.told.to.wanted())
    }

    /// Which chunks are to be given next; none when all nodes have all of them.
    pub(super) fn wanted(&mut self, job: &Job) -> std::result::Result<Vec<u32>, Failed> {
        if !self.flow.has_told() {
            self.tell_nodes(job)?;
        }
        let not_given = self.told.to.wanted();
        if !not_given.is_empty() {
            return Ok(not_given);
        }
        let wanted = match self.told.is_there {
            true => Vec::new(),
            false => self.await_chunks(job)?,
        };
        if wanted.is_empty() {
            self.told.is_there = true;
            for holder in &self.holders {
                let arch = &self.arches[&holder.0];
                let own = self.told.chunks.iter().filter(|chunk| chunk.is_for(arch));
                let hashes: Vec<Hash> = own.map(|chunk| chunk.hash).collect();
                self.booking.manager.holdings.add(std::slice::from_ref(holder), &hashes);
            }
        }
        Ok(wanted)
    }

    /// Tells the nodes which chunks are to come, and has them count from the start.
    fn announce(&mut self, job: &Job) -> std::result::Result<(), Failed> {
        if !self.flow.round(self.told.chunks.len()) {
            let text = "the nodes drop the job's files as fast as they get them  [E205]";
            return Err((None, Error::new(Errno::NOSPC, text)));
        }
        let (count, coming) = (self.flow.sent(), self.told.to.coming());
        self.post(job, Order::Chunks { job: self.job, count, coming }.letter())
    }

    /// Takes bytes of a chunk from the client; a chunk that is whole is sent.
    pub(super) fn give(
        &mut self,
        job: &Job,
        offset: u64,
        bytes: &[u8],
    ) -> std::result::Result<(), Failed> {
        let number = offset / CHUNK as u64;
        let at = (offset % CHUNK as u64) as usize;
        let length =
            usize::try_from(number).ok().and_then(|n| Some(self.told.chunks.get(n)?.length));
        let number = number as u32;
        let (given, mut letter) = self.told.given.take().unwrap_or_else(|| {
            let mut letter = Vec::with_capacity(BYTES_HEAD + CHUNK);
            letter.extend(Bytes::head(Kind::Chunk, self.job, number.into()));
            (number, letter)
        });
        let (Some(length), true) = (length, given == number && letter.len() == BYTES_HEAD + at)
        else {
            let text = format!("chunk {number} of the job's files: bytes out of order  [E205]");
            return Err((None, Error::new(Errno::INVAL, text)));
        };
        if at + bytes.len() > length {
            let text = format!("chunk {number} of the job's files has {length} bytes, not more");
            return Err((None, Error::new(Errno::INVAL, text + "  [E205]")));
        }
        letter.extend_from_slice(bytes);
        if letter.len() < BYTES_HEAD + length {
            self.told.given = Some((number, letter));
            return Ok(());
        }
        let to: Nodes = self.told.to.take(number as usize).into_iter().collect();
        if to.is_empty() {
            // Nobody lacks it.
            return Ok(());
        }
        self.told.sent += 1;
        self.flush_orders(job)?;
        if self.told.batch_to.as_ref() != Some(&to) {
            self.send_chunks(job)?;
            self.told.batch_to = Some(to);
        }
        // What costs is a letter: many short files are in one.
        if let Some(before) = self.told.batch.add(letter) {
            self.send_batch(job, before)?;
        }
        self.told.batch_last = number.into();
        if self.told.batch.is_due() { self.send_chunks(job) } else { Ok(()) }
    }

    /// Sends the chunks that were given and wait for others.
    fn send_chunks(&mut self, job: &Job) -> std::result::Result<(), Failed> {
        match self.told.batch.take() {
            Some(letter) => self.send_batch(job, letter),
            None => Ok(()),
        }
    }

    fn send_batch(&mut self, job: &Job, letter: Vec<u8>) -> std::result::Result<(), Failed> {
        let Some(to) = self.told.batch_to.clone() else { return Ok(()) };
        if let Some(count) = self.flow.chunks(self.told.batch_last) {
            self.await_count(job, (&to, count), |_| false)?;
        }
        self.send(job, &to, letter)
    }

    /// How many chunks were sent, of how many.
    pub(super) fn chunks(&self) -> Option<Sent> {
        let (chunks, of) = (self.told.sent, self.told.chunks.len());
        let rounds = self.flow.rounds();
        let multicast = self.memory.multicast() - self.multicast;
        // Less is what finds out who hears.
        let multicast = if multicast < MULTICAST_MIN as u64 { 0 } else { multicast };
        (of > 0).then_some(Sent { chunks, of, rounds, multicast })
    }

    /// Waits until all nodes have unpacked all of it, or should have it ([`Pieces::run`]). False
    /// if chunks are to be given first.
    pub(super) fn are_there(&mut self, job: &Job) -> std::result::Result<bool, Failed> {
        if self.is_trusting() {
            return Ok(true);
        }
        if !self.told.chunks.is_empty() {
            return self.wanted_first(job).map(|wanted| wanted.is_empty());
        }
        self.send_part(job)?;
        self.flush(job)?;
        self.land(0)?;
        self.await_unpacked(job, self.flow.sent()).map(|()| true)
    }

    /// Has nodes run the job, each as soon as it has everything. False if somebody lacks chunks:
    /// [`Pieces::wanted`] tells which, and who has all runs already. What happens to ranks from now
    /// on is told and heeded as of any job that runs.
    pub(super) fn run(&mut self, job: &Job) -> std::result::Result<bool, Failed> {
        self.told.is_trusted = false;
        self.post(job, Order::Run { job: self.job }.letter())?;
        self.flush(job)?;
        self.land(0)?;
        let question =
            (self.booking.shipment.variable, self.flow.with_chunks(self.told.chunks.len()));
        let began = Instant::now();
        for pause in std::iter::once(HEAR).chain(Flow::hearings()) {
            listen(job, pause, |state| whether_all_can(state).is_some());
            if let Some(all_can) = whether_all_can(&job.state()) {
                return Ok(all_can);
            }
            match self.memory.is_at_least(&self.to, question, Deadline::after(ANSWER)) {
                Ok(false) | Err(FabricError::WouldBlock | FabricError::Deadline { .. }) => {}
                Ok(true) => {
                    job.state().has_files = true;
                    break;
                }
                // Who has died is lost to a job that runs.
                Err(_) => break,
            }
            if is_late(began, job.state().came_on, Instant::now()) {
                return Err((None, not_unpacked()));
            }
        }
        Ok(true)
    }

    /// Sends a letter to all nodes, with those that follow it soon.
    pub(super) fn post(&mut self, job: &Job, letter: Vec<u8>) -> std::result::Result<(), Failed> {
        self.send_chunks(job)?;
        if let Some(before) = self.bundle.add(letter) {
            self.send(job, &self.to.clone(), before)?;
        }
        if self.bundle.is_due() { self.flush(job) } else { Ok(()) }
    }

    fn flush(&mut self, job: &Job) -> std::result::Result<(), Failed> {
        self.send_chunks(job)?;
        self.flush_orders(job)
    }

    fn flush_orders(&mut self, job: &Job) -> std::result::Result<(), Failed> {
        match self.bundle.take() {
            Some(letter) => self.send(job, &self.to.clone(), letter),
            None => Ok(()),
        }
    }

    fn send(&mut self, job: &Job, to: &Nodes, letter: Vec<u8>) -> std::result::Result<(), Failed> {
        self.land(FLYING - 1)?;
        let (letter, until) = (Payload::from(letter), Instant::now() + PATIENCE);
        let flight = loop {
            check(job)?;
            self.booking.room(job)?;
            let sent = self.memory.send(to, letter.clone()).map(Flight::begin);
            let mut busy = self.booking.manager.shipments.lock();
            busy.starting -= 1;
            busy.flying.extend(sent.as_ref().ok().map(Arc::downgrade));
            drop(busy);
            match sent {
                // A node that stands still holds up all that is asked, until its lease ends.
                Err(FabricError::WouldBlock) if Instant::now() < until => std::thread::sleep(LOOK),
                sent => break sent.map_err(|error| (None, not_sent(&error)))?,
            }
        };
        self.flying.push_back(flight);
        Ok(())
    }

    /// Waits until no more than so many are on their way.
    fn land(&mut self, most: usize) -> std::result::Result<(), Failed> {
        while self.flying.len() > most {
            let first = self.flying.pop_front().expect("there is one");
            first.land(Deadline::after(PATIENCE)).map_err(|error| (None, error))?;
            self.booking.manager.shipments.moved();
        }
        Ok(())
    }

    /// Waits until all nodes have unpacked pieces up to a count.
    fn await_unpacked(&self, job: &Job, count: u64) -> std::result::Result<(), Failed> {
        self.await_count(job, (&self.to, count), |_| false).map(drop)
    }

    /// Waits until all nodes have all chunks. If somebody lacks some, they are told that these
    /// come: which.
    fn await_chunks(&mut self, job: &Job) -> std::result::Result<Vec<u32>, Failed> {
        self.told.is_trusted = false;
        self.flush(job)?;
        self.land(0)?;
        let all = self.flow.with_chunks(self.told.chunks.len());
        if self.await_count(job, (&self.to, all), lacks)? {
            job.state().has_files = true;
            return Ok(Vec::new());
        }
        for (node, chunks) in take_lacks(job) {
            for at in self.told.to.add(&node, &chunks) {
                let hash = &self.told.chunks[at as usize].hash;
                self.booking.manager.holdings.remove(&node, hash);
            }
        }
        self.announce(job)?;
        Ok(self.told.to.wanted())
    }

    /// Waits until all nodes of a set have come so far; false if something else comes first.
    fn await_count(
        &self,
        job: &Job,
        (set, count): (&Nodes, u64),
        is_over: impl Fn(&State) -> bool,
    ) -> std::result::Result<bool, Failed> {
        let variable = self.booking.shipment.variable;
        let began = Instant::now();
        for pause in Flow::pauses() {
            {
                let state = job.state();
                if let Some(failed) = failed(&state, |_| true) {
                    return Err(failed);
                }
                if is_over(&state) {
                    return Ok(false);
                }
            }
            check(job)?;
            match self.memory.is_at_least(set, (variable, count), Deadline::after(ANSWER)) {
                Ok(true) => return Ok(true),
                // Much is under way, or somebody is slow to answer.
                Ok(false) | Err(FabricError::WouldBlock | FabricError::Deadline { .. }) => {}
                Err(error) => return Err((None, not_sent(&error))),
            }
            if is_late(began, job.state().came_on, Instant::now()) {
                return Err((None, not_unpacked()));
            }
            listen(job, pause, |state| {
                let is_starting = state.progress.phase() == Phase::Starting;
                !is_starting || is_over(state) || failed(state, |_| true).is_some()
            });
        }
        unreachable!("pauses do not end")
    }
}

/// Waits until nodes have said what matters, for so long at most.
fn listen(job: &Job, time: Duration, is_over: impl Fn(&State) -> bool) {
    let waited = job.changed.wait_timeout_while(job.state(), time, |state| !is_over(state));
    drop(waited.expect("no holder panics"));
}

/// Whether all nodes that were told to run a job can, if that is known from what ranks have said:
/// they lack chunks, have failed (which ends the job, or does not matter), or have run, all.
fn whether_all_can(state: &State) -> Option<bool> {
    if state.progress.phase() != Phase::Starting {
        return Some(true);
    }
    if lacks(state) {
        return Some(false);
    }
    // Those that read are followed at once.
    let followed = state.claimed.iter().filter(|is_claimed| **is_claimed).count();
    let count = state.progress.ranks().len();
    let said = || {
        let ranks: HashSet<usize> = state.early.iter().map(|heard| heard.rank).collect();
        (0..count).all(|rank| state.claimed[rank] || ranks.contains(&rank))
    };
    let is_known =
        failed(state, |_| true).is_some() || state.early.len() + followed >= count && said();
    is_known.then_some(true)
}

/// Whether a node has said that it lacks chunks.
fn lacks(state: &State) -> bool {
    state.early.iter().any(|heard| matches!(heard.what, What::Lacks { .. }))
}

/// What nodes have said that they lack.
fn take_lacks(job: &Job) -> Vec<(String, String)> {
    let mut state = job.state();
    let (lacks, rest): (Vec<_>, Vec<_>) = std::mem::take(&mut state.early)
        .into_iter()
        .partition(|heard| matches!(heard.what, What::Lacks { .. }));
    state.early = rest;
    let ranks = state.progress.ranks();
    let told = lacks.into_iter().filter_map(|heard| match heard.what {
        What::Lacks { chunks } => Some((ranks.get(heard.rank)?.node.clone(), chunks)),
        _ => None,
    });
    told.collect()
}

/// What a rank that cannot have its files, or cannot be run, has said while the job was being
/// started.
pub(super) fn failed(state: &State, is_meant: impl Fn(usize) -> bool) -> Option<Failed> {
    state.early.iter().filter(|heard| is_meant(heard.rank)).find_map(|heard| match &heard.what {
        What::Failed { why } => Some((Some(heard.rank), Error::new(Errno::IO, why.clone()))),
        _ => None,
    })
}

/// Whether too long ago something was asked for, or somebody has come on with it.
fn is_late(began: Instant, came_on: Option<Instant>, now: Instant) -> bool {
    now.saturating_duration_since(came_on.unwrap_or(began).max(began)) > PATIENCE
}

fn not_unpacked() -> Error {
    let text = format!("the nodes have not unpacked the job's files for {PATIENCE:?}  [E306]");
    Error::new(Errno::TIMEDOUT, text)
}

/// What it is called when files do not arrive. That a node has left is said so that the job may
/// begin again: the manager may hear of it otherwise only later.
fn not_sent(error: &FabricError) -> Error {
    let text = format!("the job's files have not arrived: {}  [E205]", report::said(error));
    Error::new(report::errno(error), text)
}

#[cfg(test)]
mod tests;
