//! Windows: memory that ranks read and write without its owner's doing (MPI-5.0, chapter 12).
//!
//! A rank asks by messages, and the owner's library carries out what is asked, in the order in
//! which each rank asked, whenever its process is in any call of MPI that waits or tests. What one
//! process accumulates is atomic. A process that computes for long and never calls MPI lets others
//! wait.
//!
//! *Memory that is here.* Where this process has a rank's memory at an address of its own, because
//! it is its own or the two share it, it writes and reads there by itself, and that has ended at
//! once. So it does to accumulate, where the processor changes each element as one (`change.rs`);
//! other elements are changed by their owner alone. Where the order of requests is to be told, or
//! is given, owners accumulate, as always.
//!
//! *Numbers.* What wants an answer has a number, and ends when the answer comes. What wants none
//! has left its buffer at once; whether the owner has done it tells the answer to a later request
//! of the same rank, for requests are carried out in order: a flush is nothing else. A local flush
//! asks for that only where something is read, or much was sent. An access that fails at the owner
//! fails the next flush or unlock of its rank.
//!
//! *Epochs.* A fence is a flush of all that were asked, and a barrier. A lock is a word in memory
//! that ranks share (`lock.rs`), or else a place in a queue at the owner. `Post` and `Complete` are
//! messages that are counted; `MPI_Win_start` waits for the first, and `MPI_Win_wait` for the
//! second, which comes behind all that was asked before.
//!
//! A window's messages have a context of their own; nobody posts receives in it, so they wait in
//! the endpoint until [`Windows::advance`] takes them. Those that come before this rank has made
//! the window wait, too. Answers have another: when they are given depends on how fast ranks are,
//! and a log that has the order of requests must not say in between whose answer came.

mod asked;
mod change;
mod epoch;
mod lock;
mod queue;
mod regions;
mod target;
mod windows;
mod wire;

pub use epoch::{Epochs, Try};
pub use lock::room as room_of_lock;
pub use regions::{Region, Regions};
pub use windows::Windows;

use crate::buffer::{Memory, Typed};
use crate::communicator::answers_to;
use crate::datatype::{Datatype, Run};
use crate::error::{Class, Error, Result};
use crate::group::Group;
use crate::op::{self, Op};
use asked::{Asked, Pending};
use lock::Lock;
use muster_message::{Buffer, Carrier, Endpoint, Envelope, Failure, Mode, Outcome, Ticket, Wanted};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use target::{Answer, Target, reach};
use wire::{Head, Kind};

/// Bytes of requests that targets may not have taken before a local flush waits for them, too.
const UNFLUSHED_MAX: usize = 4 << 20;

/// What is kept of a request beside its elements.
const KEPT: usize = 256;

/// Something that was asked for, and will be answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    context: u64,
    number: u64,
}

impl Access {
    /// The context of its window.
    #[must_use]
    pub fn window(self) -> u64 {
        self.context
    }
}

/// Elements of a target.
pub struct Place<'a> {
    /// The rank.
    pub target: u32,
    /// Where they begin, in the target's units of displacement.
    pub displacement: i64,
    /// How many.
    pub count: usize,
    /// Of what.
    pub datatype: &'a Datatype,
}

/// What a rank has of a window.
pub struct Window<M: Memory> {
    context: u64,
    group: Group,
    rank: u32,
    /// The size of each rank's memory; none in a dynamic window.
    sizes: Option<Vec<u64>>,
    /// The unit of each rank's displacements.
    units: Vec<i64>,
    own: Target<M>,
    /// The memory of the ranks whose memory lies here.
    here: BTreeMap<u32, M>,
    /// The locks that this rank takes by itself.
    locks: BTreeMap<u32, Lock<M>>,
    /// Requests and answers, in the order in which they began to come.
    inbox: VecDeque<Coming<M>>,
    last: u64,
    asked: Asked<M>,
    failed: BTreeMap<u64, Error>,
    /// In which epoch of the coscheduled mode an access has ended that somebody will ask after.
    ended: BTreeMap<u64, u32>,
    /// Targets that were asked something since their last flush, and the bytes that they were sent.
    unflushed: BTreeMap<u32, usize>,
    /// All of these bytes.
    kept: usize,
    epochs: Epochs,
}

/// A message that has begun to come.
struct Coming<M> {
    /// Whether it is an answer, and from whom.
    from: (bool, u32),
    ticket: Ticket,
    message: Typed<M>,
}

/// How a window's memory is made out, the same on all ranks.
pub struct Shape {
    /// Where its messages are kept apart from others.
    pub context: u64,
    /// Whose it is.
    pub group: Group,
    /// This rank.
    pub rank: u32,
    /// The size of each rank's memory; none in a dynamic window.
    pub sizes: Option<Vec<u64>>,
    /// The unit of each rank's displacements.
    pub units: Vec<i64>,
}

impl<M: Memory> Window<M> {
    /// A window, and this rank's memory of it.
    pub fn new(shape: Shape, region: Option<Region<M>>) -> Window<M> {
        let Shape { context, group, rank, sizes, units } = shape;
        let own = Target::new(Regions::of(region), group.size());
        Window {
            context,
            group,
            rank,
            sizes,
            units,
            own,
            here: BTreeMap::new(),
            locks: BTreeMap::new(),
            inbox: VecDeque::new(),
            last: 0,
            asked: Asked::default(),
            failed: BTreeMap::new(),
            ended: BTreeMap::new(),
            unflushed: BTreeMap::new(),
            kept: 0,
            epochs: Epochs::default(),
        }
    }

    /// Says that a rank's memory lies here.
    pub fn lies_at(&mut self, rank: u32, memory: M) {
        self.own.is_shared |= rank != self.rank;
        self.here.insert(rank, memory);
    }

    /// Says that a rank's lock lies here, in [`room_of_lock`] bytes: on this rank and on all others
    /// that take it by themselves, before any does.
    pub fn lock_lies_at(&mut self, rank: u32, memory: M) {
        let lock = || Lock::at(memory.clone(), self.group.size());
        if rank == self.rank {
            self.own.locks.lock = lock();
        }
        self.locks.insert(rank, lock());
    }

    /// Whether a rank was asked for something that it may not have done yet.
    fn is_asked(&self, target: u32) -> bool {
        self.unflushed.contains_key(&target) || self.asked.is_of(target)
    }

    /// Elements of a rank whose memory lies here, of which `size` bytes are wanted.
    fn elements(&self, place: &Place<'_>, size: usize) -> Result<Option<Typed<M>>> {
        let Some(memory) = self.here.get(&place.target) else { return Ok(None) };
        let at = self.first_byte(place, size)?;
        match place.datatype.run(place.count) {
            Some(run) if size > 0 => {
                self.has(place.target, at, &[Run { length: size, ..run }])?;
            }
            _ => drop(self.runs(place, at, size)?),
        }
        Typed::new(memory.offset(at as isize), place.count, place.datatype.clone()).map(Some)
    }

    /// Where the elements of a request that accumulates begin, if this rank changes them by itself:
    /// its own, and of others those that are atoms. The order of requests is kept: behind one that
    /// a rank was asked for and may not have carried out yet it is asked for the next one, too.
    fn changes_here<C: Carrier>(
        &self,
        endpoint: &Endpoint<C, Typed<M>>,
        target: u32,
        head: &Head,
    ) -> Option<M> {
        // In which order ranks come is to be told, or given.
        if endpoint.is_watched() {
            return None;
        }
        let there = self.here.get(&target)?.offset(head.at as isize);
        let may =
            target == self.rank || change::is_of_atoms(&there, head) && !self.is_asked(target);
        may.then_some(there)
    }

    /// Changes elements that lie here; what was there is for whoever wants it.
    fn change(&self, there: &M, head: &Head, data: &[u8], into: Option<Typed<M>>) -> Result<()> {
        let places = head.runs.iter().map(|run| (there.clone(), *run));
        let Some(mut into) = into else {
            return self.change_each(places, head, data, &mut []);
        };
        let size = head.size();
        if let Some(old) = into.whole_mut() {
            return self.change_each(places, head, data, &mut old[..size]);
        }
        let mut old = vec![0; size];
        self.change_each(places, head, data, &mut old)?;
        into.write(0, &old);
        Ok(())
    }

    fn change_each(
        &self,
        places: impl Iterator<Item = (M, Run)> + Clone,
        head: &Head,
        data: &[u8],
        old: &mut [u8],
    ) -> Result<()> {
        if self.own.is_shared && change::each(places.clone(), head, data, old)? {
            return Ok(());
        }
        let was = change::all(&mut places.collect::<Vec<_>>(), head, data)?;
        old.copy_from_slice(&was[..old.len()]);
        Ok(())
    }

    /// Where epochs begin and end.
    pub fn epochs(&mut self) -> &mut Epochs {
        &mut self.epochs
    }

    /// This rank's memory that others may use.
    pub fn regions(&mut self) -> &mut Regions<M> {
        &mut self.own.regions
    }

    /// Sends a message to a rank.
    fn tell<C: Carrier>(
        &self,
        endpoint: &mut Endpoint<C, Typed<M>>,
        to: u32,
        message: Typed<M>,
    ) -> Result<(), Failure> {
        self.send(endpoint, (self.context, to), message)
    }

    fn send<C: Carrier>(
        &self,
        endpoint: &mut Endpoint<C, Typed<M>>,
        (context, to): (u64, u32),
        message: Typed<M>,
    ) -> Result<(), Failure> {
        let envelope = Envelope { context, source: self.rank, tag: 0 };
        let sent = endpoint.send(self.group.world(to), envelope, Mode::Standard, message)?;
        if let Some(ticket) = sent {
            endpoint.release(ticket);
        }
        Ok(())
    }

    /// Asks for something that will be answered.
    fn ask<C: Carrier>(
        &mut self,
        endpoint: &mut Endpoint<C, Typed<M>>,
        pending: Pending<M>,
        make: impl FnOnce(u64) -> Typed<M>,
    ) -> Result<Access> {
        self.last += 1;
        let (number, target) = (self.last, pending.target);
        self.tell(endpoint, target, make(number))?;
        self.asked.insert(number, pending);
        Ok(Access { context: self.context, number })
    }

    /// Asks for something that has no elements. Where the target is gone, what is returned has
    /// ended with that: so whoever asks several waits for the others all the same.
    fn signal<C: Carrier>(
        &mut self,
        endpoint: &mut Endpoint<C, Typed<M>>,
        target: u32,
        kind: Kind,
    ) -> Access {
        let is_lock = matches!(kind, Kind::Share | Kind::Exclude);
        let pending = Pending { target, into: None, is_awaited: true, is_lock };
        let asked = self.ask(endpoint, pending, |number| Head::new(kind, number).alone());
        asked.unwrap_or_else(|error| self.failure(error))
    }

    /// Something that has failed already.
    fn failure(&mut self, error: Error) -> Access {
        self.last += 1;
        self.failed.insert(self.last, error);
        Access { context: self.context, number: self.last }
    }

    /// Where elements of a target begin, in bytes from the start of its memory, or their address in
    /// a dynamic window; `size` bytes are wanted of them.
    fn first_byte(&self, place: &Place<'_>, size: usize) -> Result<i64> {
        let Place { target, displacement, count, datatype } = *place;
        self.epochs.may_access(target)?;
        if displacement < 0 && size > 0 && self.sizes.is_some() {
            let what = format!("the displacement {displacement} is negative");
            return Err(Error::new(Class::Disp, what));
        }
        let room = datatype.packed_size(count)?;
        if size > room {
            let what = format!("{size} bytes do not fit into {room} at the target");
            return Err(Error::new(Class::Truncate, what).of("target_count"));
        }
        let at = displacement.checked_mul(self.units[target as usize]);
        at.ok_or_else(|| {
            Error::new(Class::Disp, format!("the displacement {displacement} is too large"))
        })
    }

    /// That a target has the bytes of some runs. In a dynamic window nobody else knows.
    fn has(&self, target: u32, at: i64, runs: &[Run]) -> Result<()> {
        // Where nothing is accessed it does not matter where.
        let Some(sizes) = self.sizes.as_ref().filter(|_| !runs.is_empty()) else { return Ok(()) };
        let (lowest, highest) = reach(at, runs)?;
        let has = sizes[target as usize];
        if lowest < 0 || u64::try_from(highest).is_ok_and(|highest| highest > has) {
            let what = format!(
                "the bytes {lowest} to {highest} are asked for, and the window of rank {target} \
                 has {has}"
            );
            return Err(Error::new(Class::RmaRange, what));
        }
        Ok(())
    }

    /// The runs of elements that begin at a byte of a target's, of which `size` bytes are wanted.
    fn runs(&self, place: &Place<'_>, at: i64, size: usize) -> Result<Vec<Run>> {
        let Place { target, count, datatype, .. } = *place;
        datatype.span(count)?;
        let mut left = size;
        let cut = |mut run: Run| {
            run.length = run.length.min(left);
            left -= run.length;
            run
        };
        let runs: Vec<_> = match datatype.run(count) {
            Some(run) if size > 0 => vec![Run { length: size, ..run }],
            _ => datatype.runs(count).map(cut).filter(|run| run.length > 0).collect(),
        };
        self.has(target, at, &runs)?;
        Ok(runs)
    }

    /// The head of a request about elements of a target; `size` bytes are wanted of them.
    fn head(&self, kind: Kind, place: &Place<'_>, size: usize) -> Result<Head> {
        let at = self.first_byte(place, size)?;
        let runs = self.runs(place, at, size)?;
        let element = place.datatype.uniform().map_or(0, |element| element.handle() as u16);
        Ok(Head { element, at, runs, ..Head::new(kind, 0) })
    }

    /// Writes elements into a target's memory. They may be used again at once.
    ///
    /// # Errors
    /// [`Class::RmaSync`] outside of an epoch; [`Class::RmaRange`], [`Class::Disp`]; that the
    /// target is gone.
    pub fn put<C: Carrier>(
        &mut self,
        endpoint: &mut Endpoint<C, Typed<M>>,
        place: &Place<'_>,
        mut from: Typed<M>,
    ) -> Result<()> {
        if let Some(there) = self.elements(place, from.size())? {
            return from.copy_to(there);
        }
        let head = self.head(Kind::Put, place, from.size())?;
        self.note_request(place.target, from.size());
        let message = head.encode(from.size(), |bytes| from.read(0, bytes));
        Ok(self.tell(endpoint, place.target, message)?)
    }

    /// Reads elements of a target's memory.
    ///
    /// # Errors
    /// As [`Window::put`].
    pub fn get<C: Carrier>(
        &mut self,
        endpoint: &mut Endpoint<C, Typed<M>>,
        place: &Place<'_>,
        into: Typed<M>,
        is_awaited: bool,
    ) -> Result<Access> {
        let size = place.datatype.packed_size(place.count)?;
        if let Some(there) = self.elements(place, size)? {
            fits(size, &into)?;
            there.copy_to(into)?;
            self.last += 1;
            return Ok(Access { context: self.context, number: self.last });
        }
        let head = self.head(Kind::Get, place, size)?;
        fits(size, &into)?;
        self.note_request(place.target, 0);
        let pending =
            Pending { target: place.target, into: Some(into), is_awaited, is_lock: false };
        self.ask(endpoint, pending, |number| Head { number, ..head }.alone())
    }

    /// Combines elements with those of a target, and reads what was there where `into` is.
    ///
    /// # Errors
    /// As [`Window::put`], and [`Class::Op`].
    pub fn accumulate<C: Carrier>(
        &mut self,
        endpoint: &mut Endpoint<C, Typed<M>>,
        place: &Place<'_>,
        (op, mut from): (op::Predefined, Typed<M>),
        into: Option<Typed<M>>,
        is_awaited: bool,
    ) -> Result<Option<Access>> {
        let all = place.datatype.packed_size(place.count)?;
        let size = if op == op::Predefined::NoOp { all } else { from.size() };
        let head = self.head(Kind::Accumulate, place, size)?;
        // Elements that there are none of need no operation.
        if size > 0 {
            Op::Predefined(op).accumulation(place.datatype)?;
        }
        let data = if op == op::Predefined::NoOp { 0 } else { size };
        if data > 0 && from.datatype().uniform() != place.datatype.uniform() {
            let what = "the elements are of another datatype than those at the target";
            return Err(Error::new(Class::Type, what).of("target_datatype"));
        }
        let head = Head { code: op.handle() as u16, ..head };
        let target = place.target;
        if let Some(into) = &into {
            fits(size, into)?;
        }
        if let Some(there) = self.changes_here(endpoint, target, &head) {
            self.change(&there, &head, &packed(&mut from, data), into)?;
            return Ok(None);
        }
        self.note_request(target, data);
        let mut make =
            |number| Head { number, ..head.clone() }.encode(data, |bytes| from.read(0, bytes));
        if into.is_none() {
            let message = make(0);
            self.tell(endpoint, target, message)?;
            return Ok(None);
        }
        self.ask(endpoint, Pending { target, into, is_awaited, is_lock: false }, make).map(Some)
    }

    /// Replaces an element of a target's if it is the one expected, and reads what was there.
    ///
    /// # Errors
    /// As [`Window::put`].
    pub fn swap<C: Carrier>(
        &mut self,
        endpoint: &mut Endpoint<C, Typed<M>>,
        place: &Place<'_>,
        (mut new, mut expected): (Typed<M>, Typed<M>),
        into: Typed<M>,
    ) -> Result<()> {
        let size = new.size();
        let head = self.head(Kind::Swap, place, size)?;
        if let Some(there) = self.changes_here(endpoint, place.target, &head) {
            let both = [packed(&mut new, size), packed(&mut expected, size)].concat();
            return self.change(&there, &head, &both, Some(into));
        }
        self.note_request(place.target, 2 * size);
        let pending =
            Pending { target: place.target, into: Some(into), is_awaited: false, is_lock: false };
        self.ask(endpoint, pending, |number| {
            Head { number, ..head }.encode(2 * size, |bytes| {
                let (first, second) = bytes.split_at_mut(size);
                new.read(0, first);
                expected.read(0, second);
            })
        })?;
        Ok(())
    }

    /// Begins to end what was asked of a target, or of all. What is returned ends when that has, or
    /// with an error where a target is gone.
    pub fn flush<C: Carrier>(
        &mut self,
        endpoint: &mut Endpoint<C, Typed<M>>,
        target: Option<u32>,
    ) -> Vec<Access> {
        // A flush of another thread may be on its way, behind what this one asked for.
        let asked = self.unflushed.keys().copied().chain(self.asked.targets());
        let asked = asked.filter(|it| target.is_none_or(|target| target == *it));
        let targets: BTreeSet<u32> = asked.collect();
        targets.iter().for_each(|target| self.note_flush(*target));
        targets.into_iter().map(|target| self.signal(endpoint, target, Kind::Flush)).collect()
    }

    /// The same, as far as buffers here go. What is written has left its buffer; what is read has
    /// come only when the target has done all before it, so that is flushed. So are all targets
    /// once much was sent, which is kept here until they take it.
    pub fn flush_local<C: Carrier>(
        &mut self,
        endpoint: &mut Endpoint<C, Typed<M>>,
        target: Option<u32>,
    ) -> Vec<Access> {
        // What is asked of a target must not depend on how soon others answer.
        if endpoint.is_coscheduled() || endpoint.is_told() {
            return self.flush(endpoint, target);
        }
        if self.kept > UNFLUSHED_MAX {
            return self.flush(endpoint, None);
        }
        let read = self.asked.read().filter(|it| target.is_none_or(|target| target == *it));
        let read: BTreeSet<u32> = read.collect();
        read.into_iter().flat_map(|target| self.flush(endpoint, Some(target))).collect()
    }

    /// A target is asked for something that has so many bytes.
    fn note_request(&mut self, target: u32, bytes: usize) {
        *self.unflushed.entry(target).or_default() += bytes + KEPT;
        self.kept += bytes + KEPT;
    }

    /// A target that was asked for something is asked to say that all of it is done.
    fn note_flush(&mut self, target: u32) {
        self.kept -= self.unflushed.remove(&target).unwrap_or(0);
    }

    /// How something has ended, if it has. It is forgotten then. `is_gone` says whether a rank of
    /// the job is.
    ///
    /// # Errors
    /// What went wrong at the target, or that it is gone.
    pub fn poll(
        &mut self,
        access: Access,
        is_gone: impl FnOnce(u32) -> Option<Failure>,
    ) -> Option<Result<()>> {
        if let Some(pending) = self.asked.get(access) {
            let failure = is_gone(self.group.world(pending.target))?;
            self.asked.remove(access.number);
            return Some(Err(failure.into()));
        }
        self.ended.remove(&access.number);
        Some(self.failed.remove(&access.number).map_or(Ok(()), Err))
    }

    /// Whether something has ended; it stays to be polled.
    pub fn has_ended(&self, access: Access, is_gone: impl FnOnce(u32) -> Option<Failure>) -> bool {
        let pending = self.asked.get(access);
        pending.is_none_or(|pending| is_gone(self.group.world(pending.target)).is_some())
    }

    /// Who have not given the locks that were asked of them, by their numbers in the job.
    pub(crate) fn awaits_locks(&self) -> Vec<u32> {
        self.asked.of_locks().map(|target| self.group.world(target)).collect()
    }

    /// Whether it is settled that something that has ended has: in the coscheduled mode, in an
    /// earlier epoch than `now`.
    pub fn is_settled(&self, access: Access, now: Option<u32>) -> bool {
        now.is_none_or(|now| self.ended.get(&access.number) != Some(&now))
    }

    /// Takes what has come, and carries it out; whether anything was done.
    fn advance<C: Carrier>(&mut self, endpoint: &mut Endpoint<C, Typed<M>>) -> Result<bool> {
        let mut moved = false;
        loop {
            for context in [self.context, answers_to(self.context)] {
                self.collect(endpoint, Wanted { context, source: None, tag: None })?;
            }
            let Some((at, outcome)) = self.next_whole(endpoint) else {
                let granted = self.own.look_after_lock();
                moved |= !granted.is_empty();
                self.answer(endpoint, granted)?;
                let missing = if moved { None } else { self.missing_holder(endpoint) };
                let Some(missing) = missing else { return Ok(moved) };
                // The last that it has sent may be that it gives the lock back.
                if endpoint.progress()? {
                    continue;
                }
                let refused = self.own.refuse(missing);
                self.answer(endpoint, refused)?;
                return Ok(true);
            };
            moved = true;
            let Some(Coming { from, message, .. }) = self.inbox.remove(at) else { continue };
            if outcome.failure.is_none() {
                self.take(endpoint, from.1, &message)?;
            }
        }
    }

    /// The first message that has come whole and has none of its rank's before it, and how it did.
    /// A long one comes when its sender is in a call of MPI again: other ranks need not wait for
    /// that, nor who waits for an answer of the same one, but where the order in which ranks asked
    /// is kept.
    fn next_whole<C: Carrier>(
        &self,
        endpoint: &mut Endpoint<C, Typed<M>>,
    ) -> Option<(usize, Outcome)> {
        let is_ordered = endpoint.is_coscheduled() || endpoint.is_told();
        let mut comes = Vec::new();
        for (at, Coming { from, ticket, .. }) in self.inbox.iter().enumerate() {
            if comes.contains(from) {
                continue;
            }
            // A sender that is gone would let its lock be waited for.
            let outcome = endpoint.poll(*ticket).or_else(|| {
                endpoint.give_up(*ticket);
                endpoint.poll(*ticket)
            });
            match outcome {
                Some(outcome) => return Some((at, outcome)),
                None if is_ordered => return None,
                None => comes.push(*from),
            }
        }
        None
    }

    /// Takes the messages of a context that have begun to come.
    fn collect<C: Carrier>(
        &mut self,
        endpoint: &mut Endpoint<C, Typed<M>>,
        any: Wanted,
    ) -> Result<()> {
        while let Some((claim, envelope, size)) = endpoint.claim(any) {
            let into = wire::bytes::<M>(size);
            if let Some(ticket) = endpoint.receive_claimed(claim, into.clone())? {
                let from = (any.context != self.context, envelope.source);
                self.inbox.push_back(Coming { from, ticket, message: into });
            }
        }
        Ok(())
    }

    /// Carries out a message.
    fn take<C: Carrier>(
        &mut self,
        endpoint: &mut Endpoint<C, Typed<M>>,
        from: u32,
        message: &Typed<M>,
    ) -> Result<()> {
        let Some((head, data)) = Head::decode(message.memory().bytes(0, message.size())) else {
            return Ok(());
        };
        if head.kind == Kind::Answer {
            self.take_answer(&head, data, endpoint.logical_epoch());
            return Ok(());
        }
        let answers = self.own.carry_out(from, &head, data);
        self.answer(endpoint, answers)
    }

    /// A rank that is gone and has a lock for which somebody waits.
    fn missing_holder<C: Carrier>(&self, endpoint: &mut Endpoint<C, Typed<M>>) -> Option<u32> {
        let mut is_gone = |holder| endpoint.carrier().is_gone(self.group.world(holder)).is_some();
        self.own.locks.waited_for().into_iter().find(|holder| is_gone(*holder))
    }

    fn answer<C: Carrier>(
        &mut self,
        endpoint: &mut Endpoint<C, Typed<M>>,
        answers: Vec<Answer<M>>,
    ) -> Result<()> {
        let mut answers = VecDeque::from(answers);
        while let Some(Answer { to, message, gives_lock }) = answers.pop_front() {
            match self.send(endpoint, (answers_to(self.context), to), message) {
                Ok(()) => {}
                // It was killed while it waited, and never knew that it had the lock.
                Err(Failure::Gone { .. }) if gives_lock => answers.extend(self.own.take_back(to)),
                // It wants no answer any more.
                Err(Failure::Gone { .. }) => {}
                Err(failure) => return Err(failure.into()),
            }
        }
        Ok(())
    }

    fn take_answer(&mut self, head: &Head, data: &[u8], now: Option<u32>) {
        let Some(pending) = self.asked.remove(head.number) else { return };
        if let Some(now) = now.filter(|_| pending.is_awaited) {
            self.ended.insert(head.number, now);
        }
        let class = Class::of_number(head.code.into());
        match (class, pending.into) {
            (Some(class), _) if pending.is_awaited => {
                let holder = u32::try_from(head.at).ok().and_then(|at| at.checked_sub(1));
                let error = match holder.filter(|holder| *holder < self.group.size()) {
                    Some(holder) => never_given(self.group.world(holder)),
                    None => {
                        let what = "an access to the memory of another rank failed there";
                        Error::new(class, format!("{what}: {}", class.meaning()))
                    }
                };
                self.failed.insert(head.number, error);
            }
            (None, Some(mut into)) if data.len() <= into.size() => into.write(0, data),
            _ => {}
        }
    }
}

/// That a lock will never be given back: a rank of the job has it that is gone.
fn never_given(holder: u32) -> Error {
    Error::new(Class::ProcAborted, format!("rank {holder}, which has the lock, is gone"))
}

/// The bytes of elements, as many of them as are wanted.
fn packed<M: Memory>(from: &mut Typed<M>, size: usize) -> Cow<'_, [u8]> {
    if from.whole().is_some() {
        return Cow::Borrowed(&from.whole().expect("just looked")[..size]);
    }
    let mut bytes = vec![0; size];
    from.read(0, &mut bytes);
    Cow::Owned(bytes)
}

/// That there is room for what comes.
fn fits<M: Memory>(size: usize, into: &Typed<M>) -> Result<()> {
    let room = into.size();
    if size > room {
        let what = format!("{size} bytes of the target do not fit into a buffer of {room}");
        return Err(Error::new(Class::Truncate, what).of("target_count"));
    }
    Ok(())
}
