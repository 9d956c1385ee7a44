//! Taking operations back (MPI-5.0, 3.8.4).
//!
//! | what | is taken back |
//! |---|---|
//! | a receive | if no message is its own yet |
//! | a send that ends by leaving | never: what is left of it goes on as a copy, and it has ended |
//! | one that was offered, or is synchronous | if no receive has its message |
//!
//! Of the last the other end is asked, and drops the message then. Where the order of messages is
//! of interest, sends are not taken back: whether a receive had the message by then would be
//! answered by how fast the ranks are.
//!
//! What a call gives up because something else has failed goes on without the memory of its user
//! where it cannot be taken back ([`Endpoint::abandon`]).

use crate::buffer::Buffer;
use crate::carrier::Carrier;
use crate::descriptor::{Envelope, Head};
use crate::endpoint::{Endpoint, Outcome, Ticket};
use crate::incoming::{Unexpected, What};
use crate::state::{Body, Errand, Operation, State};

impl<C: Carrier, B: Buffer> Endpoint<C, B> {
    /// Takes a receive back that has taken no message; it ends as cancelled.
    pub fn cancel(&mut self, ticket: Ticket) {
        let number = ticket.0;
        self.state.post_all();
        let operation = self.state.operations.get(number);
        let Some(Operation::Receive { wanted, taken: None, number: any, .. }) = operation else {
            return;
        };
        let (wanted, any) = (*wanted, *any);
        if self.state.order.as_ref().is_some_and(|order| !order.can_cancel(wanted)) {
            return;
        }
        if !self.state.withdraw(wanted, number) {
            return;
        }
        self.state.end(number, cancelled(Envelope { context: wanted.context, source: 0, tag: 0 }));
        if let Some(order) = &mut self.state.order {
            order.cancelled(wanted.context, number, any);
            self.state.settle();
        }
    }

    /// Gives an operation up that nobody will poll: from now on the memory of its user is not used
    /// any more. What has begun goes on with memory of its own, for the other end counts on it.
    pub fn abandon(&mut self, ticket: Ticket) {
        self.cancel(ticket);
        match self.state.operations.get_mut(ticket.0) {
            Some(Operation::Send { body, .. }) => *body = Body::Packed(body.bytes().to_vec()),
            Some(Operation::Receive { buffer, .. }) => *buffer = buffer.apart(),
            _ => {}
        }
        self.release(ticket);
    }

    /// Takes a send back; it may be for the other end to say whether it ends as cancelled.
    pub fn cancel_send(&mut self, ticket: Ticket) {
        let number = ticket.0;
        let is_ordered = self.state.order.is_some();
        let operation = self.state.operations.get_mut(number).filter(|_| !is_ordered);
        let Some(Operation::Send { to, envelope, body, waits_for_done }) = operation else {
            return;
        };
        let (to, envelope) = (*to, *envelope);
        if *waits_for_done && to == self.me {
            if self.state.forget(to, envelope, number) {
                self.state.end(number, cancelled(envelope));
            }
        } else if *waits_for_done {
            self.push(to, Head::Drop { envelope, number }, None, false);
        } else {
            let size = body.bytes().len();
            *body = Body::Packed(body.bytes().to_vec());
            let ended = Operation::Ended(Outcome::of(envelope, size), self.state.epoch);
            let copy = self.state.operations.next();
            if self.outgoing.renumber(to, number, copy) {
                let operation = self.state.operations.get_mut(number).expect("it was there");
                let goes_on = std::mem::replace(operation, ended);
                assert_eq!(self.state.operations.insert(goes_on), copy);
                self.state.released.insert(copy);
            }
        }
    }
}

/// That an operation was taken back.
fn cancelled(envelope: Envelope) -> Outcome {
    Outcome { cancelled: true, ..Outcome::of(envelope, 0) }
}

impl<B: Buffer> State<B> {
    /// Forgets a rank's message of that number there, unless a receive has it; whether it was.
    fn forget(&mut self, from: u32, envelope: Envelope, number: u32) -> bool {
        let is_it = |message: &Unexpected| {
            let theirs = match message.what {
                What::Offer { number, .. } => Some(number),
                What::Eager { sync, .. } => sync,
            };
            message.from == from && theirs == Some(number)
        };
        self.matching.drop_kept(envelope, is_it).is_some()
    }

    /// A sender has taken a message back.
    pub(crate) fn drop_kept(&mut self, from: u32, envelope: Envelope, number: u32) {
        // Else it hears that a receive has it.
        if self.forget(from, envelope, number) {
            self.errands.push(Errand::Dropped { to: from, number });
        }
    }

    /// A message was taken back.
    pub(crate) fn dropped(&mut self, number: u32) {
        if let Some(Operation::Send { envelope, waits_for_done: true, .. }) =
            self.operations.get(number)
        {
            self.end(number, cancelled(*envelope));
        }
    }
}
