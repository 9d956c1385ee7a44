//! Receives whose message comes before they are posted.
//!
//! To post a receive and to find it again is much of what a short message costs. So one that is
//! waited for looks a while first ([`Endpoint::receive_soon`]), and one that is not looks once, and
//! is only noted ([`Endpoint::receive_later`]). When the first of those is asked for it takes its
//! message from the carrier to its place, if that comes whole and next. In all other cases, and
//! before anybody else looks for messages, all are posted in the order in which they began. So each
//! takes the message that it would have taken had it been posted at once (MPI-5.0, 3.5): nothing
//! else is posted and no message is kept while some are only noted, and those are only noted for
//! which nothing waited before.

use crate::buffer::Buffer;
use crate::carrier::{Arrival, Carrier, Failure, Take};
use crate::descriptor::{Envelope, HEAD, Head};
use crate::endpoint::{Endpoint, Outcome, Ticket};
use crate::matching::Wanted;
use crate::state::{Operation, State, received, write_all};

/// A receive whose message may be there at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Soon {
    /// It was, had room in the buffer, and has so many bytes.
    Ended(Envelope, usize),
    /// The receive has begun.
    Begun(Ticket),
}

impl<C: Carrier, B: Buffer> Endpoint<C, B> {
    /// As [`Endpoint::receive`], of one that is waited for: where its message comes in a moment,
    /// nothing has to be posted.
    ///
    /// # Errors
    /// As [`Endpoint::receive`].
    #[inline(always)]
    pub fn receive_soon(
        &mut self,
        wanted: Wanted,
        from: Option<u32>,
        buffer: &mut B,
    ) -> Result<Soon, Failure> {
        self.state.post_all();
        if self.is_next(wanted)
            && let Some(soon) = self.look(self.carrier.looks(), wanted, from, buffer)?
        {
            return Ok(soon);
        }
        self.receive_into(wanted, from, buffer).map(Soon::Begun)
    }

    /// As [`Endpoint::receive`], of one that is not waited for yet: it is posted later, unless its
    /// message is there or may be.
    ///
    /// # Errors
    /// As [`Endpoint::receive`].
    #[inline(always)]
    pub fn receive_later(
        &mut self,
        wanted: Wanted,
        from: Option<u32>,
        buffer: &mut B,
    ) -> Result<Soon, Failure> {
        if !self.state.is_like_last(wanted) {
            if !self.is_next(wanted) {
                return self.receive_into(wanted, from, buffer).map(Soon::Begun);
            }
            if self.state.unposted.is_empty()
                && let Some(soon) = self.look(1, wanted, from, buffer)?
            {
                return Ok(soon);
            }
        }
        Ok(Soon::Begun(self.state.note(wanted, from, buffer)))
    }

    /// Looks so many times for what a receive takes that is not posted.
    #[inline(always)]
    fn look(
        &mut self,
        looks: u32,
        wanted: Wanted,
        from: Option<u32>,
        buffer: &mut B,
    ) -> Result<Option<Soon>, Failure> {
        for _ in 0..looks {
            let (state, me) = (&mut self.state, self.me);
            let mut take = TakeSoon { state, me, wanted, from, buffer, soon: None };
            if self.carrier.take(&mut take)? {
                let soon = take.soon;
                self.state.is_free();
                self.see_to_errands()?;
                return Ok(soon);
            }
        }
        Ok(None)
    }

    /// Whether a receive takes the next message from its source that fits, where nobody wants to
    /// know the order of messages and nothing waits to be sent.
    #[inline]
    fn is_next(&self, wanted: Wanted) -> bool {
        self.state.order.is_none()
            && self.outgoing.waiting().is_empty()
            && self.state.matching.is_next(wanted)
    }

    /// The first receive that is not posted is asked for: takes its message, if that comes in a
    /// moment.
    #[inline]
    pub(crate) fn take_first(&mut self) -> Option<Outcome> {
        if self.outgoing.waiting().is_empty() {
            let mut looks = 0;
            loop {
                let (state, me) = (&mut self.state, self.me);
                let mut take = TakeFirst { state, me, ended: None };
                let taken = self.carrier.take(&mut take);
                let ended = take.ended;
                // What fails with a message is told next.
                let has_come = taken.unwrap_or_else(|failure| {
                    self.state.broken = Some(failure);
                    true
                });
                if let Some((envelope, size, room)) = ended {
                    return Some(received(envelope, size, room));
                }
                looks += 1;
                if has_come || looks >= self.carrier.looks() {
                    break;
                }
            }
            self.state.is_free();
            if let Err(failure) = self.see_to_errands() {
                self.state.broken = Some(failure);
            }
        }
        self.state.post_all();
        None
    }
}

/// Takes what comes for a receive that is not posted, or as if that were the last one posted.
struct TakeSoon<'a, B> {
    state: &'a mut State<B>,
    me: u32,
    wanted: Wanted,
    from: Option<u32>,
    buffer: &'a mut B,
    soon: Option<Soon>,
}

impl<B: Buffer> Take for TakeSoon<'_, B> {
    #[inline(always)]
    fn take(&mut self, arrival: Arrival<'_>) {
        let TakeSoon { wanted, from, .. } = *self;
        self.soon = Some(self.state.take_soon(self.me, arrival, wanted, from, self.buffer));
    }
}

/// Takes what comes for the first receive that is only noted; what has ended, if that has.
struct TakeFirst<'a, B> {
    state: &'a mut State<B>,
    me: u32,
    ended: Option<(Envelope, usize, usize)>,
}

impl<B: Buffer> Take for TakeFirst<'_, B> {
    #[inline(always)]
    fn take(&mut self, arrival: Arrival<'_>) {
        self.ended = self.state.take_first(self.me, arrival);
    }
}

impl<B: Buffer> State<B> {
    /// Something has come, and there is one receive that is not posted; what becomes of that.
    #[inline(always)]
    fn take_soon(
        &mut self,
        me: u32,
        arrival: Arrival<'_>,
        wanted: Wanted,
        only: Option<u32>,
        buffer: &mut B,
    ) -> Soon {
        if let Some((envelope, size)) = whole(&arrival).filter(|(it, _)| wanted.takes(*it)) {
            self.activity += 1;
            let outcome = write_all(buffer, envelope, size, arrival.bytes);
            if outcome.truncated().is_none() {
                return Soon::Ended(envelope, outcome.size);
            }
            let ended = Operation::Ended(outcome, self.epoch);
            return Soon::Begun(Ticket(self.operations.insert(ended)));
        }
        let ticket = self.note(wanted, only, buffer);
        self.take_otherwise(me, arrival);
        Soon::Begun(ticket)
    }

    /// Begins a receive without posting it.
    #[inline(always)]
    fn note(&mut self, wanted: Wanted, from: Option<u32>, buffer: &mut B) -> Ticket {
        self.activity += 1;
        let buffer = buffer.keep();
        let receive = Operation::Receive { wanted, from, buffer, taken: None, number: None };
        let number = self.operations.insert(receive);
        self.unposted.push_back(number);
        Ticket(number)
    }

    /// Whether the last receive that is not posted is from the same source.
    #[inline(always)]
    fn is_like_last(&self, wanted: Wanted) -> bool {
        let last = self.unposted.back().and_then(|number| self.operations.get(*number));
        matches!(last, Some(Operation::Receive { wanted: last, .. })
            if last.context == wanted.context && last.source == wanted.source)
    }

    /// Something has come. If it ends the first receive that is not posted, its size, and what that
    /// has room for; else all are posted, and it is taken.
    #[inline(always)]
    fn take_first(&mut self, me: u32, arrival: Arrival<'_>) -> Option<(Envelope, usize, usize)> {
        if let Some((envelope, size)) = whole(&arrival)
            && let Some(number) = self.unposted.front()
            && let Some(Operation::Receive { wanted, buffer, .. }) =
                self.operations.get_mut(*number)
            && wanted.takes(envelope)
        {
            self.activity += 1;
            write_all(buffer, envelope, size, arrival.bytes);
            let room = buffer.size();
            self.operations.discard(*number);
            self.unposted.pop_front();
            return Some((envelope, size, room));
        }
        self.take_otherwise(me, arrival);
        None
    }

    /// Takes what is not for the first receive that is not posted, or not all of its message.
    #[inline(never)]
    fn take_otherwise(&mut self, me: u32, arrival: Arrival<'_>) {
        self.post_all();
        self.take(me, arrival);
        self.has_moved = true;
    }

    /// Posts what is not posted; no message that waits is for it.
    #[inline]
    pub(crate) fn post_all(&mut self) {
        while let Some(number) = self.unposted.pop_front() {
            if let Some(Operation::Receive { wanted, .. }) = self.operations.get(number) {
                self.matching.post(*wanted, number);
            }
        }
    }
}

/// The envelope and the size of a message that has come whole and of which there is nothing more to
/// know.
#[inline(always)]
fn whole(arrival: &Arrival<'_>) -> Option<(Envelope, usize)> {
    let size = arrival.bytes.left();
    let is_whole = arrival.offset == 0 && HEAD + size == arrival.total;
    Head::plain(arrival.first).filter(|_| is_whole).map(|envelope| (envelope, size))
}
