//! A number that all ranks of a communicator have in common: rank 0 keeps it, and the others ask it
//! by messages to add something, and are told what it was before.
//!
//! The communicator is the number's own: nobody sends other messages there. Rank 0 answers whenever
//! it progresses anything, which is in any call that waits; a rank that computes for long lets the
//! others wait for so long. A counter is removed when nobody asks any more: by its owner, after a
//! barrier.

use crate::buffer::{Memory, Typed};
use crate::communicator::Communicator;
use crate::datatype::{Datatype, Predefined};
use crate::error::{Error, Result};
use crate::process::Process;
use crate::threads::Door;
use muster_message::{Buffer, Carrier, Endpoint, Envelope, Mode, Ticket, Wanted};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

/// The tags of questions and answers.
const ASK: i32 = 1;
const ANSWER: i32 = 2;

/// Room for a number.
fn room<M: Memory>() -> Typed<M> {
    let byte = Datatype::of(Predefined::Byte).clone();
    Typed::new(M::scratch(8), 8, byte).expect("eight bytes are not too many")
}

/// A number as a message.
fn of_number<M: Memory>(number: i64) -> Typed<M> {
    let mut message = room();
    message.write(0, &number.to_ne_bytes());
    message
}

/// The number that a message is.
fn number<M: Memory>(message: &mut Typed<M>) -> i64 {
    let mut bytes = [0; 8];
    message.read(0, &mut bytes);
    i64::from_ne_bytes(bytes)
}

/// What rank 0 does for the others: it takes what they ask, and answers. No receive is posted for
/// that: it would be one that this rank seems to wait for, whatever it waits for.
pub struct Keeper<M> {
    value: Arc<AtomicI64>,
    context: u64,
    group: crate::group::Group,
    question: Typed<M>,
    /// A question that has come in part.
    ticket: Option<Ticket>,
}

impl<M: Memory> Keeper<M> {
    /// Answers what has come; whether anything had.
    ///
    /// # Errors
    /// That messages can be carried no more.
    pub fn advance<C: Carrier>(&mut self, endpoint: &mut Endpoint<C, Typed<M>>) -> Result<bool> {
        let mut moved = false;
        loop {
            let Some(ticket) = self.ticket else {
                let wanted = Wanted { context: self.context, source: None, tag: Some(ASK) };
                let Some((claim, ..)) = endpoint.claim(wanted) else { return Ok(moved) };
                self.ticket = endpoint.receive_claimed(claim, self.question.clone())?;
                continue;
            };
            let Some(outcome) = endpoint.poll(ticket) else { return Ok(moved) };
            (self.ticket, moved) = (None, true);
            if outcome.failure.is_some() {
                // Whoever asked has died meanwhile, and not all of it has come.
                continue;
            }
            let before = self.value.fetch_add(number(&mut self.question), Ordering::Relaxed);
            let envelope = Envelope { context: self.context, source: 0, tag: ANSWER };
            let to = self.group.world(outcome.envelope.source);
            let answer = endpoint.send(to, envelope, Mode::Standard, of_number(before))?;
            answer.into_iter().for_each(|ticket| endpoint.release(ticket));
        }
    }

    /// Whether it is the keeper of a counter.
    pub fn is_of(&self, value: &Arc<AtomicI64>) -> bool {
        Arc::ptr_eq(&self.value, value)
    }
}

/// The number, as each rank has it.
pub struct Counter {
    /// On rank 0, the number itself.
    value: Option<Arc<AtomicI64>>,
}

impl Counter {
    /// A number that is 0. All ranks make it, before anybody asks.
    ///
    /// # Errors
    /// That messages can be carried no more.
    pub fn new<D: Door, C: Carrier, M: Memory>(
        comm: &Communicator,
        process: &Process<D, C, M>,
    ) -> Result<Counter> {
        if comm.rank() > 0 {
            return Ok(Counter { value: None });
        }
        let value = Arc::new(AtomicI64::new(0));
        if comm.size() > 1 {
            let (context, group) = (comm.context(), comm.group().clone());
            let keeper = Keeper {
                value: Arc::clone(&value),
                context,
                group,
                question: room(),
                ticket: None,
            };
            process.state().keep(keeper)?;
        }
        Ok(Counter { value: Some(value) })
    }

    /// Adds to it, and says what it was before.
    ///
    /// # Errors
    /// That rank 0 is gone, or messages can be carried no more.
    pub fn add<D: Door, C: Carrier, M: Memory>(
        &self,
        comm: &Communicator,
        process: &Process<D, C, M>,
        more: i64,
    ) -> Result<i64> {
        let (context, keeper) = (comm.context(), comm.group().world(0));
        let mut answer = room();
        let mut state = process.state();
        // What a log or a digest tells of the others' turns it tells of the keeper's own, too.
        let asks = comm.size() > 1 && state.endpoint.is_told();
        if let Some(value) = self.value.as_ref().filter(|_| !asks) {
            return Ok(value.fetch_add(more, Ordering::Relaxed));
        }
        let wanted = Wanted { context, source: Some(0), tag: Some(ANSWER) };
        let answered = state.endpoint.receive(wanted, Some(keeper), answer.clone())?;
        let envelope = Envelope { context, source: comm.rank(), tag: ASK };
        let asked = state.endpoint.send(keeper, envelope, Mode::Standard, of_number(more))?;
        asked.into_iter().for_each(|ticket| state.endpoint.release(ticket));
        drop(state);
        match process.outcome(answered)?.failure {
            Some(failure) => Err(Error::from(*failure)),
            None => Ok(number(&mut answer)),
        }
    }

    /// Sets it; on rank 0 only, the others' calls do nothing.
    pub fn set(&self, number: i64) {
        if let Some(value) = &self.value {
            value.store(number, Ordering::Relaxed);
        }
    }

    /// Ends it.
    pub fn end<D: Door, C: Carrier, M: Memory>(&self, process: &Process<D, C, M>) {
        if let Some(value) = &self.value {
            process.state().let_go(value);
        }
    }
}
