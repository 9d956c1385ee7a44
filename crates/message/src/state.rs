//! What a rank's end knows: its operations, what has come for them, and what came too early.

use crate::buffer::Buffer;
use crate::carrier::{Arrival, Bytes, Failure};
use crate::descriptor::{Envelope, HEAD, Head};
use crate::endpoint::Outcome;
use crate::incoming::{Incoming, Target, Unexpected, What};
use crate::matching::{Matching, Wanted};
use crate::mixed::Mixed;
use crate::order::{Held, Order};
use crate::quiescence::Quiescence;
use crate::slab::Slab;
use crate::waits::{ASIDE, NOTES, is_note};
use std::collections::{HashMap, HashSet, VecDeque};

/// Bytes that are brought to such a buffer at once.
const STREWN: usize = 1 << 10;

/// So much memory at most is there for a message that waits before its bytes have come: more than
/// is sent without being asked for.
const PREPARED: usize = 1 << 19;

/// The bytes of a send.
pub(crate) enum Body<B> {
    Whole(B),
    Packed(Vec<u8>),
}

impl<B: Buffer> Body<B> {
    /// Bytes next to each other: the buffer's, or a copy.
    pub(crate) fn new(mut buffer: B) -> Body<B> {
        if buffer.whole().is_some() {
            return Body::Whole(buffer);
        }
        let mut packed = vec![0; buffer.size()];
        buffer.read(0, &mut packed);
        Body::Packed(packed)
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Body::Whole(buffer) => buffer.whole().expect("it was whole before"),
            Body::Packed(bytes) => bytes,
        }
    }
}

pub(crate) enum Operation<B> {
    /// `to` is the rank's number in the job.
    Send { to: u32, envelope: Envelope, body: Body<B>, waits_for_done: bool },
    /// `from`: the only rank that can end it, by its number in the job.
    Receive {
        wanted: Wanted,
        from: Option<u32>,
        buffer: B,
        /// Boxed, for most receives end with the message that they take.
        taken: Option<Box<Taken>>,
        /// Which receive from any source of its context it is, where somebody counts them.
        number: Option<usize>,
    },
    /// It has ended, in this epoch.
    Ended(Outcome, u32),
}

/// What a receive has taken.
#[derive(Clone, Copy)]
pub(crate) struct Taken {
    pub(crate) envelope: Envelope,
    pub(crate) size: usize,
    pub(crate) arrived: usize,
    /// The sender that waits to hear that all has come, and its number of the message.
    pub(crate) sync: Option<(u32, u32)>,
}

/// What is to be done when the carrier is free again.
pub(crate) enum Errand {
    Done { to: u32, number: u32 },
    Want { to: u32, number: u32, receive: u32 },
    Data { to: u32, number: u32, receive: u32 },
    Dropped { to: u32, number: u32 },
}

pub(crate) struct State<B> {
    pub(crate) matching: Matching<u32, Unexpected>,
    pub(crate) operations: Slab<Operation<B>>,
    /// Receives that have begun and are not posted (`soon.rs`), the first first.
    pub(crate) unposted: VecDeque<u32>,
    /// What else was taken while the first of those was asked for, and why no more could be: the
    /// next progress tells.
    pub(crate) has_moved: bool,
    pub(crate) broken: Option<Failure>,
    pub(crate) incoming: HashMap<u32, Incoming, Mixed>,
    pub(crate) claims: Slab<(Envelope, Unexpected)>,
    pub(crate) errands: Vec<Errand>,
    /// The receive that was brought a part of its message, and how much: what follows from that
    /// may take longer than a carrier is to be held.
    pub(crate) brought: Option<(u32, usize)>,
    /// Messages that have waited so far.
    pub(crate) waited: u64,
    /// Operations that nobody polls any more.
    pub(crate) released: HashSet<u32, Mixed>,
    /// Where the order of messages is of interest.
    pub(crate) order: Option<Box<Order>>,
    /// The epoch of the coscheduled mode.
    pub(crate) epoch: u32,
    /// Counts what has come and what was begun, without notes; and notes that wait.
    pub(crate) activity: u64,
    pub(crate) notes: u64,
}

impl<B: Buffer> State<B> {
    pub(crate) fn keep(&mut self, from: u32, envelope: Envelope, what: What) -> u64 {
        self.waited += 1;
        let message = Unexpected { id: self.waited, from, what };
        self.matching.keep(envelope, message);
        self.waited
    }

    pub(crate) fn end(&mut self, number: u32, outcome: Outcome) {
        if !self.released.is_empty() && self.released.remove(&number) {
            self.operations.remove(number);
            return;
        }
        if let Some(operation) = self.operations.get_mut(number) {
            *operation = Operation::Ended(outcome, self.epoch);
        }
    }

    /// Takes a receive back that has taken no message; whether it was there.
    pub(crate) fn withdraw(&mut self, wanted: Wanted, number: u32) -> bool {
        let is_posted = self.matching.withdraw(wanted, |posted| *posted == number).is_some();
        // Others may take now what it might have taken.
        if let Some(order) = self.order.as_mut().filter(|_| is_posted) {
            order.unsettle(wanted.context);
        }
        is_posted
    }

    /// A receive has taken a rank's message, so now only that rank can end it.
    #[inline]
    pub(crate) fn begin(
        &mut self,
        number: u32,
        envelope: Envelope,
        (sender, size): (u32, usize),
        sync: Option<u32>,
    ) {
        let operation = self.operations.get_mut(number);
        if let Some(Operation::Receive { taken, from, number, .. }) = operation {
            let sync = sync.map(|theirs| (sender, theirs));
            *taken = Some(Box::new(Taken { envelope, size, arrived: 0, sync }));
            *from = Some(sender);
            if let Some(order) = &mut self.order {
                order.take(*number, envelope);
            }
        }
    }

    /// Bytes of a receive's message, from a position on.
    #[inline]
    pub(crate) fn write(&mut self, number: u32, at: usize, bytes: &mut dyn Bytes) {
        let Some(Operation::Receive { buffer, .. }) = self.operations.get_mut(number) else {
            return;
        };
        let came = bytes.left();
        bring(buffer, at, bytes);
        self.arrived(number, came);
    }

    /// The carrier is free again.
    #[inline]
    pub(crate) fn is_free(&mut self) {
        if let Some((receive, came)) = self.brought.take() {
            self.arrived(receive, came);
        }
    }

    /// So many bytes more of a receive's message have come.
    #[inline]
    fn arrived(&mut self, number: u32, bytes: usize) {
        let operation = self.operations.get_mut(number);
        let Some(Operation::Receive { taken: Some(taken), buffer, number: any, .. }) = operation
        else {
            return;
        };
        taken.arrived += bytes;
        if taken.arrived < taken.size {
            return;
        }
        let (taken, room) = (**taken, buffer.size());
        if taken.envelope.context & ASIDE == 0
            && let Some(digest) = self.order.as_mut().and_then(|order| order.digest.as_mut())
        {
            let (size, fits) = (taken.size, taken.size.min(room));
            digest.receive(*any, taken.envelope, size, |add| read_all(buffer, fits, add));
        }
        if let Some((to, number)) = taken.sync {
            self.errands.push(Errand::Done { to, number });
        }
        self.end(number, received(taken.envelope, taken.size, room));
    }

    /// A send's message has left.
    pub(crate) fn has_left(&mut self, number: u32, with_body: bool, failure: Option<Failure>) {
        let Some(Operation::Send { envelope, body, waits_for_done, .. }) =
            self.operations.get(number)
        else {
            return;
        };
        // What was asked for ends by leaving; what was offered, or is synchronous, does not.
        if failure.is_some() || (with_body && !*waits_for_done) {
            let outcome = Outcome::of(*envelope, body.bytes().len());
            self.end(number, Outcome { failure: failure.map(Box::new), ..outcome });
        }
    }

    /// A send's message has been taken, and its bytes are not needed any more.
    pub(crate) fn done(&mut self, number: u32) {
        if let Some(Operation::Send { envelope, body, .. }) = self.operations.get(number) {
            let outcome = Outcome::of(*envelope, body.bytes().len());
            self.end(number, outcome);
        }
    }

    /// A part of a message has come. [`State::is_free`] follows.
    #[inline]
    pub(crate) fn take(&mut self, me: u32, arrival: Arrival<'_>) {
        let Arrival { from, total, offset, first, bytes } = arrival;
        debug_assert_ne!(from, me, "ranks send themselves nothing");
        if offset > 0 {
            self.activity += 1;
            self.has_come(offset + bytes.left() == total);
            return self.take_rest(from, offset, bytes);
        }
        let size = bytes.left();
        let came = HEAD + size;
        if came == total
            && self.order.is_none()
            && let Some(envelope) = Head::plain(first)
        {
            return self.take_whole(from, envelope, size, bytes);
        }
        if let Some(head) = Head::take(first, bytes) {
            self.take_headed(from, head, (total, came), bytes);
        }
    }

    /// Most messages come whole and nobody wants to know more of them: they are brought to their
    /// place, and that is all.
    #[inline]
    fn take_whole(&mut self, from: u32, envelope: Envelope, size: usize, bytes: &mut dyn Bytes) {
        let is_note = envelope.context == NOTES;
        *if is_note { &mut self.notes } else { &mut self.activity } += 1;
        let Some(receive) = self.matching.arrive(envelope) else {
            let mut kept = vec![0; size];
            bytes.read(&mut kept);
            self.keep(from, envelope, What::Eager { bytes: kept, size, sync: None });
            return;
        };
        let Some(operation) = self.operations.get_mut(receive) else { return };
        if let Operation::Receive { buffer, .. } = operation {
            let outcome = write_all(buffer, envelope, size, bytes);
            if self.released.is_empty() {
                *operation = Operation::Ended(outcome, self.epoch);
            } else {
                self.end(receive, outcome);
            }
        }
    }

    /// The first part of a message, behind its head.
    #[inline]
    fn take_headed(
        &mut self,
        from: u32,
        (head, stamp): (Head, u8),
        (total, came): (usize, usize),
        bytes: &mut dyn Bytes,
    ) {
        let head_size = came - bytes.left();
        let is_note = is_note(&head);
        *if is_note { &mut self.notes } else { &mut self.activity } += 1;
        if let Head::Signal(signal) = head {
            let order = self.order.as_mut();
            if let Some(quiescence) = order.and_then(|order| order.quiescence.as_mut())
                && quiescence.hear(signal)
            {
                self.epoch_ends();
            }
            return;
        }
        self.has_come(came == total);
        // A note may have been said before its sender heard that this epoch has begun: who waits
        // says some at any time.
        if !is_note
            && stamp != self.stamp()
            && let Some(order) = &mut self.order
        {
            let mut kept = vec![0; bytes.left()];
            bytes.read(&mut kept);
            order.held = Some(Held { from, head, total, head_size, bytes: kept });
            if let Some(quiescence) = &mut order.quiescence {
                quiescence.begin();
            }
            return self.epoch_ends();
        }
        self.take_message(from, head, (total, head_size), bytes);
    }

    /// Of which epoch messages of now are: its last bits.
    #[inline]
    pub(crate) fn stamp(&self) -> u8 {
        self.epoch as u8
    }

    /// Counts a message of which all has come.
    #[inline]
    fn has_come(&mut self, all: bool) {
        if all
            && let Some(order) = &mut self.order
            && let Some(quiescence) = &mut order.quiescence
        {
            quiescence.receives();
        }
    }

    /// There was quiescence: what is here is to be revealed.
    pub(crate) fn epoch_ends(&mut self) {
        if let Some(order) = &mut self.order {
            order.is_due = true;
            self.epoch = order.quiescence.as_ref().map_or(0, Quiescence::epoch);
        }
    }

    /// Takes the message that was held.
    pub(crate) fn take_held(&mut self) -> bool {
        let held = self.order.as_mut().and_then(|order| order.held.take());
        let Some(Held { from, head, total, head_size, bytes }) = held else { return false };
        self.take_message(from, head, (total, head_size), &mut &bytes[..]);
        true
    }

    /// A message, or the first part of one, behind its head.
    #[inline]
    fn take_message(
        &mut self,
        from: u32,
        head: Head,
        (total, head_size): (usize, usize),
        bytes: &mut dyn Bytes,
    ) {
        let (size, body) = (total - head_size, bytes.left());
        let target = match head {
            Head::Eager { envelope, sync } => self.take_eager(from, envelope, size, sync, bytes),
            Head::Data { receive } => {
                self.write(receive, 0, bytes);
                Target::Receive(receive)
            }
            Head::Offer { envelope, number, size } => {
                return self.take_offer(from, envelope, number, size);
            }
            Head::Want { number, receive } => {
                if let Some(Operation::Send { waits_for_done, .. }) =
                    self.operations.get_mut(number)
                {
                    *waits_for_done = false;
                    self.errands.push(Errand::Data { to: from, number, receive });
                }
                return;
            }
            Head::Done { number } => return self.done(number),
            Head::Drop { envelope, number } => return self.drop_kept(from, envelope, number),
            Head::Dropped { number } => return self.dropped(number),
            Head::Signal(_) => return,
        };
        if body < size {
            self.incoming.insert(from, Incoming { target, head: head_size });
        }
    }

    /// The receive that takes a message which has come. Where one from any source waits it is kept
    /// in any case: see [`State::settle`].
    #[inline]
    pub(crate) fn arrive(&mut self, envelope: Envelope) -> Option<u32> {
        if let Some(order) = &mut self.order
            && self.matching.is_open(envelope.context)
        {
            order.unsettle(envelope.context);
            return None;
        }
        self.matching.arrive(envelope)
    }

    /// Hands messages over that receives take by now; whether there were any, or there was news.
    pub(crate) fn settle(&mut self) -> bool {
        let Some(order) = &mut self.order else { return false };
        let mut matches = Vec::new();
        for context in order.unsettled.drain(..) {
            matches.append(&mut self.matching.settle(context));
        }
        let is_due = std::mem::take(&mut order.is_due);
        if is_due {
            matches.append(&mut self.matching.reveal());
        }
        let moved = is_due || !matches.is_empty();
        for (number, envelope, message) in matches {
            self.hand_over(number, envelope, message);
        }
        moved
    }

    /// Gives a receive a message that has waited.
    pub(crate) fn hand_over(&mut self, number: u32, envelope: Envelope, message: Unexpected) {
        let (from, size) = (message.from, message.size());
        match message.what {
            What::Offer { number: theirs, .. } => {
                self.begin(number, envelope, (from, size), None);
                self.errands.push(Errand::Want { to: from, number: theirs, receive: number });
            }
            What::Eager { bytes, size, sync } => {
                self.begin(number, envelope, (from, size), sync);
                if bytes.len() < size
                    && let Some(incoming) = self.incoming.get_mut(&from)
                {
                    incoming.target = Target::Receive(number);
                }
                self.write(number, 0, &mut &bytes[..]);
            }
        }
    }

    #[inline]
    fn take_eager(
        &mut self,
        from: u32,
        envelope: Envelope,
        size: usize,
        sync: Option<u32>,
        body: &mut dyn Bytes,
    ) -> Target {
        let Some(receive) = self.arrive(envelope) else {
            // What its sender says of its size is no reason to have as much memory for it.
            let mut bytes = Vec::with_capacity(size.min(PREPARED));
            append(&mut bytes, body);
            let id = self.keep(from, envelope, What::Eager { bytes, size, sync });
            return Target::Kept(envelope, id);
        };
        self.begin(receive, envelope, (from, size), sync);
        self.write(receive, 0, body);
        Target::Receive(receive)
    }

    fn take_offer(&mut self, from: u32, envelope: Envelope, number: u32, size: u64) {
        match self.arrive(envelope) {
            Some(receive) => {
                let bytes = usize::try_from(size).unwrap_or(usize::MAX);
                self.begin(receive, envelope, (from, bytes), None);
                self.errands.push(Errand::Want { to: from, number, receive });
            }
            None => {
                self.keep(from, envelope, What::Offer { number, size });
            }
        }
    }

    fn take_rest(&mut self, from: u32, offset: usize, bytes: &mut dyn Bytes) {
        let Some(incoming) = self.incoming.get(&from) else { return };
        // What is said to lie in the head is no part of any message.
        let Some(at) = offset.checked_sub(incoming.head) else { return };
        let target = incoming.target;
        match target {
            Target::Receive(receive) => {
                if let Some(Operation::Receive { buffer, .. }) = self.operations.get_mut(receive) {
                    self.brought = Some((receive, bytes.left()));
                    bring(buffer, at, bytes);
                }
            }
            Target::Kept(envelope, id) => {
                let is_it = |message: &Unexpected| message.id == id;
                let mut claimed = self.claims.iter_mut().map(|(_, message)| message);
                let kept = self.matching.waiting(envelope, is_it);
                let kept = kept.or_else(|| claimed.find(|message| is_it(message)));
                if let Some(Unexpected { what: What::Eager { bytes: kept, .. }, .. }) = kept {
                    append(kept, bytes);
                }
            }
        }
    }
}

/// Brings a whole message of so many bytes to a receive's buffer.
#[inline(always)]
pub(crate) fn write_all(
    buffer: &mut impl Buffer,
    envelope: Envelope,
    size: usize,
    bytes: &mut dyn Bytes,
) -> Outcome {
    let room = buffer.size();
    bring_some(buffer, 0, size.min(room), bytes);
    received(envelope, size, room)
}

/// Brings bytes to a buffer, from a position on, as many as it has room for.
#[inline(always)]
fn bring(buffer: &mut impl Buffer, at: usize, bytes: &mut dyn Bytes) {
    let fits = buffer.size().saturating_sub(at).min(bytes.left());
    bring_some(buffer, at, fits, bytes);
}

/// The same of so many bytes, which fit.
#[inline(always)]
fn bring_some(buffer: &mut impl Buffer, at: usize, fits: usize, bytes: &mut dyn Bytes) {
    match buffer.whole_mut() {
        Some(place) if fits > 0 => bytes.read(&mut place[at..at + fits]),
        _ => strew(buffer, at, fits, bytes),
    }
}

/// That a message of so many bytes has been received where there was so much room.
#[inline(always)]
pub(crate) fn received(envelope: Envelope, size: usize, room: usize) -> Outcome {
    Outcome { length: size, ..Outcome::of(envelope, size.min(room)) }
}

/// The first bytes of a buffer.
fn read_all(buffer: &mut impl Buffer, size: usize, add: &mut dyn FnMut(&[u8])) {
    if let Some(whole) = buffer.whole() {
        return add(&whole[..size]);
    }
    let mut part = [0; STREWN];
    for done in (0..size).step_by(STREWN) {
        let part = &mut part[..STREWN.min(size - done)];
        buffer.read(done, part);
        add(part);
    }
}

/// Brings bytes to a buffer that is in pieces.
fn strew(buffer: &mut impl Buffer, at: usize, size: usize, bytes: &mut dyn Bytes) {
    let mut part = [0; STREWN];
    for done in (0..size).step_by(STREWN) {
        let part = &mut part[..STREWN.min(size - done)];
        bytes.read(part);
        buffer.write(at + done, part);
    }
}

/// Puts what has come behind what has come before.
fn append(kept: &mut Vec<u8>, bytes: &mut dyn Bytes) {
    let size = kept.len();
    kept.resize(size + bytes.left(), 0);
    bytes.read(&mut kept[size..]);
}
