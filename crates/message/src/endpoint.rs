//! A rank's end: its sends and receives, and how each comes to its end.
//!
//! | a send | leaves as | ends when |
//! |---|---|---|
//! | short | `Eager` | it has left |
//! | short, synchronous | `Eager` with a number | `Done` comes |
//! | long | `Offer`, and `Data` when `Want` comes | `Data` has left |
//! | to oneself | is not sent at all | it is copied; a synchronous one when it is taken |
//!
//! A receive ends when all bytes of its message are in its buffer. If the message is longer than
//! the buffer, what does not fit is lost and the outcome says so. Where a sender has ended, the
//! receives that only it could have ended fail ([`Endpoint::give_up`]).

use crate::buffer::Buffer;
use crate::carrier::{Arrival, Carrier, Failure};
use crate::descriptor::{Encoded, Envelope, Head};
use crate::incoming::What;
use crate::log::{Digest, Followed, Log, Question};
use crate::matching::{Matching, Wanted};
use crate::order::{Order, Orders, departs};
use crate::outgoing::{Leaving, Outgoing};
use crate::slab::Slab;
use crate::state::{Body, Errand, Operation, State};
use crate::waits::NOTES;
use std::collections::{HashMap, HashSet, VecDeque};
use std::time::Duration;

/// Parts of messages that are taken at once.
const TAKEN: usize = 32;

/// When a send ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// When its buffer may be used again.
    Standard,
    /// When a receive has taken it.
    Synchronous,
}

/// An operation that has begun. It is to be polled until it has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ticket(pub(crate) u32);

/// A message that was taken out for one receive (MPI-5.0, 3.8.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Claim(pub(crate) u32);

/// How an operation has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// What was received; of a send that there was one.
    pub envelope: Envelope,
    /// Bytes of the message, or of it what the buffer has room for.
    pub size: usize,
    /// Bytes of the message.
    pub length: usize,
    /// Whether it was cancelled.
    pub cancelled: bool,
    /// Why nothing was sent, or nothing came.
    pub failure: Option<Box<Failure>>,
}

impl Outcome {
    /// That `size` bytes of a message have been sent, or received.
    #[inline]
    pub(crate) fn of(envelope: Envelope, size: usize) -> Outcome {
        Outcome { envelope, size, length: size, cancelled: false, failure: None }
    }

    /// Whether the message was longer than the buffer, and how long.
    #[inline]
    #[must_use]
    pub fn truncated(&self) -> Option<usize> {
        (self.length > self.size).then_some(self.length)
    }
}

/// A rank's end. `C` carries, `B` is where bytes come from and go to.
pub struct Endpoint<C, B> {
    pub(crate) carrier: C,
    pub(crate) me: u32,
    pub(crate) state: State<B>,
    pub(crate) outgoing: Outgoing,
}

impl<C: Carrier, B: Buffer> Endpoint<C, B> {
    /// The end of the rank that has the number `me` in its job.
    pub fn new(me: u32, carrier: C) -> Endpoint<C, B> {
        let state = State {
            matching: Matching::default(),
            operations: Slab::new(),
            unposted: VecDeque::new(),
            has_moved: false,
            broken: None,
            incoming: HashMap::default(),
            claims: Slab::new(),
            errands: Vec::new(),
            brought: None,
            waited: 0,
            released: HashSet::default(),
            order: None,
            epoch: 0,
            activity: 0,
            notes: 0,
        };
        Endpoint { carrier, me, state, outgoing: Outgoing::default() }
    }

    /// The same, where the order of messages is of interest.
    pub fn ordered(me: u32, carrier: C, orders: Orders) -> Endpoint<C, B> {
        let mut endpoint = Endpoint::new(me, carrier);
        if orders.is_coscheduled {
            endpoint.state.matching = Matching::logical();
        }
        endpoint.state.order = Order::new(me, orders);
        endpoint
    }

    /// What carries its messages.
    pub fn carrier(&mut self) -> &mut C {
        &mut self.carrier
    }

    /// Sends a message to the rank with the number `to` in the job. None: it has ended already.
    ///
    /// # Errors
    /// That the rank is gone, or the carrier is broken.
    pub fn send(
        &mut self,
        to: u32,
        envelope: Envelope,
        mode: Mode,
        mut buffer: B,
    ) -> Result<Option<Ticket>, Failure> {
        self.send_of(to, envelope, mode, &mut buffer)
    }

    /// The same of a buffer that is kept only where the message cannot leave at once.
    ///
    /// # Errors
    /// As [`Endpoint::send`].
    #[inline(always)]
    pub fn send_of(
        &mut self,
        to: u32,
        envelope: Envelope,
        mode: Mode,
        buffer: &mut B,
    ) -> Result<Option<Ticket>, Failure> {
        self.state.activity += u64::from(envelope.context != NOTES);
        let is_short = buffer.size() < self.offered_from(to);
        let is_plain = is_short && mode == Mode::Standard && to != self.me;
        // Most messages leave here, and their buffer is moved to no operation.
        let sent = match buffer.whole() {
            Some(bytes) if is_plain && self.outgoing.is_free(to) => {
                let head = self.eager(envelope);
                let sent = self.carrier.send(to, &head, bytes, 0)?;
                self.count();
                if sent == head.len() + bytes.len() {
                    return Ok(None);
                }
                Some(sent)
            }
            _ => None,
        };
        match sent {
            Some(sent) => Ok(self.send_rest(to, envelope, sent, buffer.keep())),
            None if to == self.me => self.send_to_oneself(envelope, mode, buffer.keep()),
            None => self.send_later(to, envelope, mode, buffer.keep()),
        }
    }

    /// From how many bytes on a message to a rank is offered.
    #[inline]
    fn offered_from(&self, to: u32) -> usize {
        match &self.state.order {
            // What ends when must not depend on where the ranks are, nor on where they were when
            // the log was written.
            Some(order) => order.offered_from,
            None => self.carrier.offered_from(to),
        }
    }

    #[inline(always)]
    fn eager(&self, envelope: Envelope) -> Encoded {
        Encoded::of_eager(envelope).stamped(self.state.stamp())
    }

    /// Sends the rest of a message of which `sent` bytes have left.
    #[cold]
    fn send_rest(&mut self, to: u32, envelope: Envelope, sent: usize, buffer: B) -> Option<Ticket> {
        let body = match buffer.whole() {
            Some(bytes) if self.is_coscheduled() => Body::Packed(bytes.to_vec()),
            _ => Body::new(buffer),
        };
        let number = self.state.operations.insert(Operation::Send {
            to,
            envelope,
            body,
            waits_for_done: false,
        });
        let head = self.eager(envelope);
        let leaving = Leaving { head, number: Some(number), with_body: true, offset: sent };
        self.outgoing.push(to, leaving);
        self.unless_buffered(number)
    }

    #[inline(never)]
    fn send_later(
        &mut self,
        to: u32,
        envelope: Envelope,
        mode: Mode,
        buffer: B,
    ) -> Result<Option<Ticket>, Failure> {
        let is_long = buffer.size() >= self.offered_from(to);
        let waits_for_done = is_long || mode == Mode::Synchronous;
        let body = match Body::new(buffer) {
            Body::Whole(buffer) if self.is_coscheduled() && !waits_for_done => {
                Body::Packed(buffer.whole().unwrap_or_default().to_vec())
            }
            body => body,
        };
        let size = body.bytes().len() as u64;
        let number =
            self.state.operations.insert(Operation::Send { to, envelope, body, waits_for_done });
        let head = match mode {
            _ if is_long => Head::Offer { envelope, number, size },
            Mode::Synchronous => Head::Eager { envelope, sync: Some(number) },
            Mode::Standard => Head::Eager { envelope, sync: None },
        };
        self.push(to, head, Some(number), !is_long);
        self.push_out()?;
        Ok(if waits_for_done { Some(Ticket(number)) } else { self.unless_buffered(number) })
    }

    /// A send that waits for room. In the coscheduled mode its bytes are a copy, and it has ended:
    /// else when it does would depend on how fast others are.
    fn unless_buffered(&mut self, number: u32) -> Option<Ticket> {
        if !self.is_coscheduled() {
            return Some(Ticket(number));
        }
        self.release(Ticket(number));
        None
    }

    /// Has a message leave behind those that wait.
    pub(crate) fn push(&mut self, to: u32, head: Head, number: Option<u32>, with_body: bool) {
        if !matches!(head, Head::Signal(_)) {
            self.count();
        }
        let head = head.encode().stamped(self.state.stamp());
        self.outgoing.push(to, Leaving { head, number, with_body, offset: 0 });
    }

    /// Counts a message that is sent.
    #[inline]
    fn count(&mut self) {
        if let Some(order) = &mut self.state.order
            && let Some(quiescence) = &mut order.quiescence
        {
            quiescence.sends();
        }
    }

    #[inline(never)]
    fn send_to_oneself(
        &mut self,
        envelope: Envelope,
        mode: Mode,
        buffer: B,
    ) -> Result<Option<Ticket>, Failure> {
        let body = Body::new(buffer);
        let size = body.bytes().len();
        self.state.post_all();
        if let Some(receive) = self.state.arrive(envelope) {
            self.state.begin(receive, envelope, (self.me, size), None);
            self.state.write(receive, 0, &mut body.bytes());
            return Ok(None);
        }
        let bytes = body.bytes().to_vec();
        let sync = (mode == Mode::Synchronous).then(|| {
            let send = Operation::Send { to: self.me, envelope, body, waits_for_done: true };
            self.state.operations.insert(send)
        });
        self.state.keep(self.me, envelope, What::Eager { bytes, size, sync });
        if self.state.settle() {
            self.run_errands()?;
        }
        Ok(sync.map(Ticket))
    }

    /// Posts a receive. `from` is the rank that `wanted.source` is in the job.
    ///
    /// # Errors
    /// That the carrier is broken.
    pub fn receive(
        &mut self,
        wanted: Wanted,
        from: Option<u32>,
        mut buffer: B,
    ) -> Result<Ticket, Failure> {
        self.receive_into(wanted, from, &mut buffer)
    }

    /// The same into a buffer that is kept.
    #[inline(always)]
    pub(crate) fn receive_into(
        &mut self,
        wanted: Wanted,
        from: Option<u32>,
        buffer: &mut B,
    ) -> Result<Ticket, Failure> {
        self.state.post_all();
        self.state.activity += 1;
        let operations = &mut self.state.operations;
        let (wanted, number) = match &mut self.state.order {
            None => (wanted, None),
            Some(order) => order.number(wanted, operations.next())?,
        };
        let buffer = buffer.keep();
        let receive = Operation::Receive { wanted, from, buffer, taken: None, number };
        let number = operations.insert(receive);
        if let Some((envelope, message)) = self.state.matching.take_or_post(wanted, number) {
            self.state.hand_over(number, envelope, message);
            self.run_errands()?;
        }
        Ok(Ticket(number))
    }

    /// What a receive would take: its envelope and its size.
    pub fn probe(&mut self, wanted: Wanted) -> Option<(Envelope, usize)> {
        self.state.post_all();
        let Some((envelope, message)) = self.state.matching.probe(wanted) else {
            self.hope_for(wanted);
            return None;
        };
        Some((envelope, message.size()))
    }

    /// Nothing was found: may be there is something when messages are revealed.
    fn hope_for(&mut self, wanted: Wanted) {
        if self.is_coscheduled() && self.state.matching.is_unseen(wanted) {
            self.hope();
        }
    }

    /// Takes out what a receive would take, for [`Endpoint::receive_claimed`].
    pub fn claim(&mut self, wanted: Wanted) -> Option<(Claim, Envelope, usize)> {
        self.state.post_all();
        let mut named = wanted;
        if let (None, Some(order)) = (wanted.source, &self.state.order)
            && let Some(followed) = &order.followed
        {
            named.source = followed.claim(wanted.context);
            if named.source.is_none() {
                // Who sent it would wait for ever.
                let is_there = self.state.matching.probe(wanted).is_some();
                self.state.broken = is_there.then(departs).or(self.state.broken.take());
                return None;
            }
        }
        let Some((envelope, message)) = self.state.matching.take(named) else {
            self.hope_for(wanted);
            return None;
        };
        if let (None, Some(order)) = (wanted.source, &mut self.state.order) {
            order.claim(envelope);
        }
        let size = message.size();
        Some((Claim(self.state.claims.insert((envelope, message))), envelope, size))
    }

    /// Receives a message that was taken out before; none where there is no such.
    ///
    /// # Errors
    /// That the carrier is broken.
    pub fn receive_claimed(&mut self, claim: Claim, buffer: B) -> Result<Option<Ticket>, Failure> {
        let Some((envelope, message)) = self.state.claims.remove(claim.0) else {
            return Ok(None);
        };
        let Envelope { context, source, tag } = envelope;
        let wanted = Wanted { context, source: Some(source), tag: Some(tag) };
        let from = Some(message.from);
        let receive = Operation::Receive { wanted, from, buffer, taken: None, number: None };
        let number = self.state.operations.insert(receive);
        self.state.hand_over(number, envelope, message);
        self.run_errands()?;
        Ok(Some(Ticket(number)))
    }

    /// How an operation has ended, if it has. It is forgotten then. Of a receive that is not posted
    /// and the first of those, the message is looked for.
    #[inline]
    pub fn poll(&mut self, ticket: Ticket) -> Option<Outcome> {
        if self.state.unposted.front() == Some(&ticket.0)
            && let Some(outcome) = self.take_first()
        {
            return Some(outcome);
        }
        let has_ended = |operation: &Operation<B>| matches!(operation, Operation::Ended(..));
        match self.state.operations.remove_if(ticket.0, has_ended) {
            Some(Operation::Ended(outcome, _)) => Some(outcome),
            _ => None,
        }
    }

    /// Lets an operation go on that nobody will poll.
    pub fn release(&mut self, ticket: Ticket) {
        self.state.post_all();
        if self.poll(ticket).is_none() {
            self.state.released.insert(ticket.0);
        }
    }

    /// Whether an operation has ended; it stays to be polled. One that is not posted ends by being
    /// polled, or by progress.
    pub fn has_ended(&self, ticket: Ticket) -> bool {
        matches!(self.state.operations.get(ticket.0), Some(Operation::Ended(..)))
    }

    /// Whether it is settled that an operation has ended, which in the coscheduled mode it is from
    /// the next epoch on: when exactly it has ended depends on how fast others are.
    pub fn is_settled(&self, ticket: Ticket) -> bool {
        match self.state.operations.get(ticket.0) {
            Some(Operation::Ended(_, epoch)) => {
                !self.is_coscheduled() || *epoch != self.state.epoch
            }
            _ => false,
        }
    }

    /// Whether nothing goes on.
    #[inline]
    pub fn is_quiet(&self) -> bool {
        self.state.operations.is_empty() && self.state.errands.is_empty() && self.is_flushed()
    }

    /// Whether nothing is on its way out.
    pub fn is_flushed(&self) -> bool {
        self.outgoing.waiting().is_empty()
    }

    /// Whether all that was sent has come to where it goes; waits for it at most so long.
    ///
    /// # Errors
    /// That the carrier is broken.
    pub fn has_delivered(&mut self, time: Duration) -> Result<bool, Failure> {
        Ok(self.is_flushed() && self.carrier.has_delivered(time)?)
    }

    /// Takes what has come, and sends what there is room for; whether anything was done.
    ///
    /// # Errors
    /// That the carrier is broken.
    #[inline]
    pub fn progress(&mut self) -> Result<bool, Failure> {
        if let Some(failure) = self.state.broken.take() {
            return Err(failure);
        }
        self.state.post_all();
        let (state, me) = (&mut self.state, self.me);
        let mut moved = std::mem::take(&mut state.has_moved);
        moved |= state.order.is_some() && state.take_held();
        // Not all that may be there: others have to be answered meanwhile.
        for _ in 0..TAKEN {
            let is_taken =
                self.carrier.take(&mut |arrival: Arrival<'_>| state.take(me, arrival))?;
            state.is_free();
            if !is_taken {
                break;
            }
            moved = true;
            // What comes next is of the next epoch.
            if state.order.as_ref().is_some_and(|order| order.is_due) {
                break;
            }
        }
        if state.order.is_some() {
            moved |= state.settle();
            self.say();
        }
        if !self.state.errands.is_empty() {
            self.run_errands()?;
            // With what these say what had waited for room may have left.
            moved = true;
        }
        if !self.outgoing.waiting().is_empty() {
            moved |= self.push_out()?;
        }
        Ok(moved)
    }

    /// Waits until there may be something to do, at most so long.
    ///
    /// # Errors
    /// That the carrier is broken.
    pub fn wait(&mut self, time: Duration) -> Result<(), Failure> {
        self.carrier.wait(self.outgoing.waiting(), time)
    }

    /// Ends what waits for a rank that has ended, when all that it has sent is here.
    pub fn give_up(&mut self, ticket: Ticket) {
        let Some(other) = self.waits_for(ticket) else { return };
        let Some(failure) = self.carrier.is_gone(other) else { return };
        while matches!(self.progress(), Ok(true)) {}
        let envelope = match self.state.operations.get(ticket.0) {
            // What is on its way out ends by being refused.
            Some(Operation::Send { envelope, .. }) if self.outgoing.is_free(other) => *envelope,
            Some(Operation::Receive { wanted, .. }) => {
                let (number, wanted) = (ticket.0, *wanted);
                // Of a message that has come in part the rest does not come.
                self.state.incoming.remove(&other);
                self.state.withdraw(wanted, number);
                let source = wanted.source.unwrap_or(0);
                Envelope { context: wanted.context, source, tag: wanted.tag.unwrap_or(0) }
            }
            _ => return,
        };
        let failure = Some(Box::new(failure));
        let outcome = Outcome { failure, ..Outcome::of(envelope, 0) };
        self.state.end(ticket.0, outcome);
    }

    /// Whether a rank has ended, and nothing of what it has sent waits for such a receive.
    ///
    /// # Errors
    /// That it has.
    pub fn can_come(&mut self, wanted: Wanted, from: u32) -> Result<(), Failure> {
        let Some(failure) = self.carrier.is_gone(from) else { return Ok(()) };
        while matches!(self.progress(), Ok(true)) {}
        if self.probe(wanted).is_some() { Ok(()) } else { Err(failure) }
    }

    /// The rank that an operation waits for, if it is one only.
    fn waits_for(&self, ticket: Ticket) -> Option<u32> {
        match self.state.operations.get(ticket.0)? {
            Operation::Receive { from, .. } => *from,
            Operation::Send { to, .. } => (*to != self.me).then_some(*to),
            Operation::Ended(..) => None,
        }
    }

    fn push_out(&mut self) -> Result<bool, Failure> {
        let mut left = Vec::new();
        let operations = &self.state.operations;
        let body = |number| match operations.get(number) {
            Some(Operation::Send { body, .. }) => body.bytes(),
            _ => &[],
        };
        let moved = self.outgoing.progress(&mut self.carrier, body, |leaving, failure| {
            if let Some(number) = leaving.number {
                left.push((number, leaving.with_body, failure));
            }
        })?;
        for (number, with_body, failure) in left {
            self.state.has_left(number, with_body, failure);
        }
        Ok(moved)
    }

    #[inline]
    pub(crate) fn see_to_errands(&mut self) -> Result<(), Failure> {
        if self.state.errands.is_empty() { Ok(()) } else { self.run_errands() }
    }

    fn run_errands(&mut self) -> Result<(), Failure> {
        let mut errands = std::mem::take(&mut self.state.errands);
        for errand in errands.drain(..) {
            match errand {
                Errand::Done { to, number } if to == self.me => self.state.done(number),
                Errand::Done { to, number } => self.tell(to, Head::Done { number }),
                Errand::Data { to, number, receive } => {
                    self.push(to, Head::Data { receive }, Some(number), true);
                }
                Errand::Want { to, number, receive } => {
                    self.tell(to, Head::Want { number, receive });
                }
                Errand::Dropped { to, number } => self.tell(to, Head::Dropped { number }),
            }
        }
        errands.append(&mut self.state.errands);
        self.state.errands = errands;
        self.push_out().map(|_| ())
    }

    fn tell(&mut self, to: u32, head: Head) {
        self.push(to, head, None, false);
    }

    /// Says what there is to say about quiescence.
    fn say(&mut self) {
        let Some(order) = &mut self.state.order else { return };
        let Some(quiescence) = &mut order.quiescence else { return };
        for (to, signal) in std::mem::take(&mut quiescence.signals) {
            self.push(to, Head::Signal(signal), None, false);
        }
    }
}

/// The order of messages, where it is of interest.
impl<C: Carrier, B: Buffer> Endpoint<C, B> {
    /// Whether the order of messages is the logical one.
    #[inline]
    pub fn is_coscheduled(&self) -> bool {
        self.state.order.as_ref().is_some_and(|order| order.quiescence.is_some())
    }

    /// The epoch, where what is told depends on it: in the coscheduled mode.
    pub fn logical_epoch(&self) -> Option<u32> {
        self.is_coscheduled().then(|| self.epoch())
    }

    /// Whether a digest or a log is made of the order of messages, or one is followed.
    pub fn is_told(&self) -> bool {
        let told = |it: &Order| it.digest.is_some() || it.log.is_some() || it.followed.is_some();
        self.state.order.as_deref().is_some_and(told)
    }

    /// How many times there was quiescence.
    pub fn epoch(&self) -> u32 {
        self.state.epoch
    }

    /// Before it is asked whether what a rank waits for is there: nothing is hoped for.
    #[inline]
    pub fn despair(&mut self) {
        if let Some(order) = &mut self.state.order {
            order.is_hoped = false;
        }
    }

    /// What a rank waits for may be there when messages are revealed.
    pub fn hope(&mut self) {
        if let Some(order) = &mut self.state.order {
            order.is_hoped = true;
        }
    }

    /// How many ranks the job has, if this one could go on when all of them wait: messages are
    /// revealed then.
    pub fn hopes(&self) -> Option<u32> {
        let order = self.state.order.as_ref()?;
        self.has_hope().then_some(order.size)
    }

    /// Whether the rank could go on if messages were revealed.
    pub(crate) fn has_hope(&self) -> bool {
        let order = self.state.order.as_ref().filter(|order| order.quiescence.is_some());
        order.is_some_and(|order| order.is_hoped || self.state.matching.waits_for_reveal())
    }

    /// The rank waits, and nothing has come; whether something has changed by that.
    ///
    /// # Errors
    /// That the carrier is broken.
    #[inline]
    pub fn rest(&mut self) -> Result<bool, Failure> {
        if self.is_coscheduled() { self.rest_in_epoch() } else { Ok(false) }
    }

    fn rest_in_epoch(&mut self) -> Result<bool, Failure> {
        if !self.outgoing.waiting().is_empty() {
            return Ok(false);
        }
        let needs = self.has_hope();
        let state = &mut self.state;
        let Some(order) = &mut state.order else { return Ok(false) };
        let Some(quiescence) = &mut order.quiescence else { return Ok(false) };
        let ends = quiescence.rest(needs);
        if ends {
            state.epoch_ends();
            state.settle();
        }
        self.say();
        self.run_errands()?;
        Ok(ends)
    }

    /// Follows a log from now on; of an end that was made for it.
    pub fn follow(&mut self, log: Log) {
        if let Some(order) = &mut self.state.order {
            order.followed = Some(Followed::new(log));
        }
    }

    /// What the next call is to be told, where a log is followed.
    ///
    /// # Errors
    /// That the log has another one.
    pub fn followed(&mut self, question: Question) -> Result<Option<Vec<i64>>, Failure> {
        let followed = self.state.order.as_mut().and_then(|order| order.followed.as_mut());
        let Some(followed) = followed else { return Ok(None) };
        followed.choice(question).map(Some).ok_or_else(departs)
    }

    /// That the program has come to its end, and so to that of a log that is followed.
    ///
    /// # Errors
    /// That the log says more.
    pub fn comes_to_its_end(&self) -> Result<(), Failure> {
        let followed = self.state.order.as_ref().and_then(|order| order.followed.as_ref());
        if followed.is_none_or(Followed::is_over) { Ok(()) } else { Err(departs()) }
    }

    /// Whether somebody wants to know what calls are told.
    #[inline]
    pub fn is_watched(&self) -> bool {
        self.state.order.is_some()
    }

    /// A call was told something that depends on the order of messages.
    pub fn told(&mut self, question: Question, told: &[i64]) {
        let Some(order) = &mut self.state.order else { return };
        if let Some(log) = &mut order.log {
            log.choose(question, told);
        }
        if let Some(digest) = &mut order.digest {
            digest.choice(told);
        }
    }

    /// Its log, where there is one.
    pub fn log(&self) -> Option<&Log> {
        self.state.order.as_ref()?.log.as_ref()
    }

    /// Its digest, where there is one.
    pub fn digest(&self) -> Option<Digest> {
        self.state.order.as_ref()?.digest
    }
}
