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
use crate::carrier::{Carrier, Failure};
use crate::descriptor::{Envelope, Head};
use crate::incoming::{Target, Unexpected, What};
use crate::matching::{Matching, Wanted};
use crate::outgoing::{Leaving, Outgoing};
use crate::slab::Slab;
use crate::state::{Body, Errand, Operation, State};
use std::collections::HashMap;
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
pub struct Ticket(u32);

/// A message that was taken out for one receive (MPI-5.0, 3.8.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Claim(
    /// Its number.
    pub u32,
);

/// How an operation has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// What was received; of a send that there was one.
    pub envelope: Envelope,
    /// Bytes of the message, or of it what the buffer has room for.
    pub size: usize,
    /// Whether the message was longer than the buffer, and how long.
    pub truncated: Option<usize>,
    /// Whether it was cancelled.
    pub cancelled: bool,
    /// Why nothing was sent, or nothing came.
    pub failure: Option<Failure>,
}

impl Outcome {
    /// That `size` bytes of a message have been sent, or received.
    pub(crate) fn of(envelope: Envelope, size: usize) -> Outcome {
        Outcome { envelope, size, truncated: None, cancelled: false, failure: None }
    }
}

/// A rank's end. `C` carries, `B` is where bytes come from and go to.
pub struct Endpoint<C, B> {
    pub(crate) carrier: C,
    pub(crate) me: u32,
    pub(crate) state: State<B>,
    outgoing: Outgoing,
}

impl<C: Carrier, B: Buffer> Endpoint<C, B> {
    /// The end of the rank that has the number `me` in its job.
    pub fn new(me: u32, carrier: C) -> Endpoint<C, B> {
        let state = State {
            matching: Matching::default(),
            operations: Slab::new(),
            incoming: HashMap::default(),
            claims: Slab::new(),
            errands: Vec::new(),
            waited: 0,
            released: Vec::new(),
        };
        Endpoint { carrier, me, state, outgoing: Outgoing::default() }
    }

    /// What carries its messages.
    pub fn carrier(&mut self) -> &mut C {
        &mut self.carrier
    }

    /// Sends a message to the rank with the number `to` in the job. None: it has ended already.
    ///
    /// # Errors
    /// That the rank is gone, or the carrier is broken.
    #[inline]
    pub fn send(
        &mut self,
        to: u32,
        envelope: Envelope,
        mode: Mode,
        buffer: B,
    ) -> Result<Option<Ticket>, Failure> {
        if to == self.me {
            return self.send_to_oneself(envelope, mode, buffer);
        }
        let is_long = buffer.size() >= self.carrier.offered_from(to);
        if is_long || mode == Mode::Synchronous || !self.outgoing.is_free(to) {
            return self.send_later(to, envelope, mode, is_long, buffer);
        }
        let Some(bytes) = buffer.whole() else {
            return self.send_later(to, envelope, mode, is_long, buffer);
        };
        let head = Head::Eager { envelope, sync: None }.encode();
        let sent = self.carrier.send(to, &head, bytes, 0)?;
        if sent == head.len() + bytes.len() {
            return Ok(None);
        }
        let body = Body::Whole(buffer);
        let number = self.state.operations.insert(Operation::Send {
            to,
            envelope,
            body,
            waits_for_done: false,
        });
        let leaving = Leaving { head, number: Some(number), with_body: true, offset: sent };
        self.outgoing.push(to, leaving);
        Ok(Some(Ticket(number)))
    }

    fn send_later(
        &mut self,
        to: u32,
        envelope: Envelope,
        mode: Mode,
        is_long: bool,
        buffer: B,
    ) -> Result<Option<Ticket>, Failure> {
        let waits_for_done = is_long || mode == Mode::Synchronous;
        let body = Body::new(buffer);
        let size = body.bytes().len() as u64;
        let number =
            self.state.operations.insert(Operation::Send { to, envelope, body, waits_for_done });
        let head = match mode {
            _ if is_long => Head::Offer { envelope, number, size },
            Mode::Synchronous => Head::Eager { envelope, sync: Some(number) },
            Mode::Standard => Head::Eager { envelope, sync: None },
        };
        let (head, number) = (head.encode(), Some(number));
        self.outgoing.push(to, Leaving { head, number, with_body: !is_long, offset: 0 });
        self.push_out()?;
        Ok(number.map(Ticket))
    }

    fn send_to_oneself(
        &mut self,
        envelope: Envelope,
        mode: Mode,
        buffer: B,
    ) -> Result<Option<Ticket>, Failure> {
        let body = Body::new(buffer);
        let size = body.bytes().len();
        if let Some(receive) = self.state.matching.arrive(envelope) {
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
        buffer: B,
    ) -> Result<Ticket, Failure> {
        let receive = Operation::Receive { wanted, from, buffer, taken: None };
        let number = self.state.operations.insert(receive);
        match self.state.matching.take(wanted) {
            Some((envelope, message)) => self.hand_over(number, envelope, message)?,
            None => self.state.matching.post(wanted, number),
        }
        Ok(Ticket(number))
    }

    /// What a receive would take: its envelope and its size.
    pub fn probe(&self, wanted: Wanted) -> Option<(Envelope, usize)> {
        let (envelope, message) = self.state.matching.probe(wanted)?;
        Some((envelope, message.size()))
    }

    /// Takes out what a receive would take, for [`Endpoint::receive_claimed`].
    pub fn claim(&mut self, wanted: Wanted) -> Option<(Claim, Envelope, usize)> {
        let (envelope, message) = self.state.matching.take(wanted)?;
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
        let receive = Operation::Receive { wanted, from: Some(message.from), buffer, taken: None };
        let number = self.state.operations.insert(receive);
        self.hand_over(number, envelope, message)?;
        Ok(Some(Ticket(number)))
    }

    /// Gives a receive a message that has waited.
    fn hand_over(
        &mut self,
        number: u32,
        envelope: Envelope,
        message: Unexpected,
    ) -> Result<(), Failure> {
        let (from, size) = (message.from, message.size());
        match message.what {
            What::Offer { number: theirs, .. } => {
                self.state.begin(number, envelope, (from, size), None);
                let errand = Errand::Want { to: from, number: theirs, receive: number };
                self.state.errands.push(errand);
            }
            What::Eager { bytes, size, sync } => {
                self.state.begin(number, envelope, (from, size), sync);
                if bytes.len() < size
                    && let Some(incoming) = self.state.incoming.get_mut(&from)
                {
                    incoming.target = Target::Receive(number);
                }
                self.state.write(number, 0, &mut &bytes[..]);
            }
        }
        self.run_errands()
    }

    /// Forgets a context that nobody will use any more, unless something waits there.
    pub fn forget(&mut self, context: u64) {
        self.state.matching.forget(context);
    }

    /// Takes a receive back that has taken no message; it ends as cancelled.
    pub fn cancel(&mut self, ticket: Ticket) {
        let operation = self.state.operations.get_mut(ticket.0);
        let Some(Operation::Receive { wanted, taken: None, .. }) = operation else { return };
        let wanted = *wanted;
        if self.state.matching.withdraw(wanted, |number| *number == ticket.0).is_some() {
            let envelope = Envelope { context: wanted.context, source: 0, tag: 0 };
            let outcome = Outcome { cancelled: true, ..Outcome::of(envelope, 0) };
            self.state.end(ticket.0, outcome);
        }
    }

    /// How an operation has ended, if it has. It is forgotten then.
    #[inline]
    pub fn poll(&mut self, ticket: Ticket) -> Option<Outcome> {
        match self.state.operations.get(ticket.0) {
            Some(Operation::Ended(_)) => {}
            _ => return None,
        }
        match self.state.operations.remove(ticket.0) {
            Some(Operation::Ended(outcome)) => Some(outcome),
            _ => None,
        }
    }

    /// Lets an operation go on that nobody will poll.
    pub fn release(&mut self, ticket: Ticket) {
        if self.poll(ticket).is_none() {
            self.state.released.push(ticket.0);
        }
    }

    /// Whether an operation has ended; it stays to be polled.
    pub fn has_ended(&self, ticket: Ticket) -> bool {
        matches!(self.state.operations.get(ticket.0), Some(Operation::Ended(_)))
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
        let mut moved = false;
        let (state, me) = (&mut self.state, self.me);
        // Not all that may be there: others have to be answered meanwhile.
        for _ in 0..TAKEN {
            if !self.carrier.take(&mut |arrival| state.take(me, arrival))? {
                break;
            }
            moved = true;
        }
        if !self.state.errands.is_empty() {
            self.run_errands()?;
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
                self.state.matching.withdraw(wanted, |posted| *posted == number);
                let source = wanted.source.unwrap_or(0);
                Envelope { context: wanted.context, source, tag: wanted.tag.unwrap_or(0) }
            }
            _ => return,
        };
        let outcome = Outcome { failure: Some(failure), ..Outcome::of(envelope, 0) };
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
            Operation::Ended(_) => None,
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

    fn run_errands(&mut self) -> Result<(), Failure> {
        let mut errands = std::mem::take(&mut self.state.errands);
        for errand in errands.drain(..) {
            match errand {
                Errand::Done { to, number } if to == self.me => self.state.done(number),
                Errand::Done { to, number } => self.tell(to, Head::Done { number }),
                Errand::Data { to, number, receive } => {
                    let head = Head::Data { receive }.encode();
                    let leaving =
                        Leaving { head, number: Some(number), with_body: true, offset: 0 };
                    self.outgoing.push(to, leaving);
                }
                Errand::Want { to, number, receive } => {
                    self.tell(to, Head::Want { number, receive });
                }
            }
        }
        errands.append(&mut self.state.errands);
        self.state.errands = errands;
        self.push_out().map(|_| ())
    }

    fn tell(&mut self, to: u32, head: Head) {
        let leaving = Leaving { head: head.encode(), number: None, with_body: false, offset: 0 };
        self.outgoing.push(to, leaving);
    }
}
