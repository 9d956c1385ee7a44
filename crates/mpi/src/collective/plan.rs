//! A collective as a rank carries it out: a list of steps, made when it is called. What cannot be
//! done without waiting is begun, and the list goes on when all of it has ended; so a blocking
//! collective is a non-blocking one that is waited for, and nobody else waits meanwhile.

use super::{Combination, Shape};
use crate::buffer::{Memory, Typed};
use crate::error::{About, Class, Error, Result};
use crate::group::Group;
use muster_message::{Carrier, Endpoint, Envelope, Mode, Ticket, Wanted};
use std::collections::VecDeque;

/// A step.
enum Step<M: Memory> {
    /// Bytes for a rank of the communicator. Those of another group have the numbers behind this
    /// one's: see [`Plan::other`].
    Send(u32, Typed<M>),
    /// Bytes from a rank.
    Receive(u32, Typed<M>),
    /// Goes on when all that was begun has ended.
    Wait,
    /// Copies elements, which may be of two types of one signature.
    Copy(Typed<M>, Typed<M>),
    /// `into` becomes `from` op `into`, element by element.
    Combine(Combination, Typed<M>, Typed<M>),
}

impl Shape {
    /// The rank in the job of a rank of either group.
    fn world(&self, rank: u32) -> u32 {
        match &self.remote {
            Some(remote) if rank >= self.size => remote.world(rank - self.size),
            _ => self.group.world(rank),
        }
    }

    /// A rank of either group in words.
    fn named(&self, rank: u32) -> String {
        match rank.checked_sub(self.size).filter(|_| self.remote.is_some()) {
            Some(rank) => format!("rank {rank} of the other group"),
            None => format!("rank {rank}"),
        }
    }

    /// The rank in the job of one that a message is for, and as which that one knows this rank.
    fn receiver(&self, rank: u32) -> (u32, u32) {
        match &self.remote {
            Some(remote) if rank >= self.size => (self.world(rank), remote.size() + self.rank),
            _ => (self.world(rank), self.rank),
        }
    }
}

/// That somebody has brought another number of bytes than the standard demands of it: as many as
/// who receives them says. Who brings too few has not filled the others' memory.
#[cold]
pub(super) fn differ(who: &str, came: usize, wanted: usize) -> Error {
    let class = if came > wanted { Class::Truncate } else { Class::Other };
    let what = format!(
        "{who} {came} bytes in a collective where {wanted} were expected: the ranks' counts or \
         datatypes differ"
    );
    Error::new(class, what).about(About::Kind(Class::Truncate))
}

/// The steps of one rank.
pub struct Plan<M: Memory> {
    shape: Shape,
    steps: VecDeque<Step<M>>,
    /// What was begun, and of what is received how many bytes it must have.
    begun: Vec<(Ticket, Option<usize>)>,
    /// What has gone wrong with a message. The other steps are taken all the same: others wait for
    /// what this rank sends them.
    failed: Option<Error>,
}

impl<M: Memory> Plan<M> {
    /// No steps.
    pub fn new(shape: Shape) -> Plan<M> {
        Plan { shape, steps: VecDeque::new(), begun: Vec::new(), failed: None }
    }

    pub(super) fn rank(&self) -> u32 {
        self.shape.rank
    }

    pub(super) fn size(&self) -> u32 {
        self.shape.size
    }

    /// How many ranks the other group has.
    pub(super) fn others(&self) -> u32 {
        self.shape.remote.as_ref().map_or(0, Group::size)
    }

    /// How the steps name a rank of the other group.
    pub(super) fn other(&self, rank: u32) -> u32 {
        self.size() + rank
    }

    pub(super) fn send(&mut self, to: u32, from: Typed<M>) {
        self.steps.push_back(Step::Send(to, from));
    }

    pub(super) fn receive(&mut self, from: u32, into: Typed<M>) {
        self.steps.push_back(Step::Receive(from, into));
    }

    pub(super) fn wait(&mut self) {
        self.steps.push_back(Step::Wait);
    }

    /// Gets bytes from one rank while others go to one, and goes on when both have ended.
    pub(super) fn exchange(&mut self, (from, into): (u32, Typed<M>), (to, bytes): (u32, Typed<M>)) {
        self.receive(from, into);
        self.send(to, bytes);
        self.wait();
    }

    /// Nothing where both are the same.
    pub(super) fn copy(&mut self, from: Typed<M>, into: Typed<M>) {
        if !from.is(&into) {
            self.steps.push_back(Step::Copy(from, into));
        }
    }

    pub(super) fn combine(&mut self, op: &Combination, from: Typed<M>, into: Typed<M>) {
        self.steps.push_back(Step::Combine(op.clone(), from, into));
    }

    /// How often this rank waits before it goes on.
    #[cfg(test)]
    pub(super) fn waits(&self) -> usize {
        self.steps.iter().filter(|step| matches!(step, Step::Wait)).count()
    }

    /// Does what can be done; whether all is done.
    ///
    /// # Errors
    /// As the messages, and [`Class::Truncate`] or [`Class::Other`] where ranks disagree about
    /// sizes.
    pub fn advance<C: Carrier>(&mut self, endpoint: &mut Endpoint<C, Typed<M>>) -> Result<bool> {
        loop {
            if !self.settle(endpoint)? {
                return Ok(false);
            }
            if self.steps.is_empty() {
                return self.failed.take().map_or(Ok(true), Err);
            }
            while let Some(step) = self.steps.pop_front() {
                match step {
                    Step::Wait => break,
                    step => self.begin(endpoint, step)?,
                }
            }
        }
    }

    /// Takes back what waits still, when the collective has failed: nothing may be written to the
    /// program's memory any more.
    pub fn abandon<C: Carrier>(&mut self, endpoint: &mut Endpoint<C, Typed<M>>) {
        for (ticket, _) in self.begun.drain(..) {
            endpoint.abandon(ticket);
        }
    }

    /// The messages that were begun and have not been seen to end.
    pub fn begun(&self) -> impl Iterator<Item = Ticket> {
        self.begun.iter().map(|(ticket, _)| *ticket)
    }

    /// Ends what waits for ranks that have ended: to be called when nothing comes.
    pub fn give_up<C: Carrier>(&self, endpoint: &mut Endpoint<C, Typed<M>>) {
        self.begun().for_each(|ticket| endpoint.give_up(ticket));
    }

    /// Notes the first thing that has gone wrong.
    #[cold]
    fn fail(&mut self, why: impl FnOnce() -> Error) {
        self.failed.get_or_insert_with(why);
    }

    /// Whether all that was begun has ended.
    fn settle<C: Carrier>(&mut self, endpoint: &mut Endpoint<C, Typed<M>>) -> Result<bool> {
        while let Some((ticket, wanted)) = self.begun.last() {
            let wanted = *wanted;
            let Some(outcome) = endpoint.poll(*ticket) else { return Ok(false) };
            self.begun.pop();
            if let Some(failure) = outcome.failure {
                return Err((*failure).into());
            }
            let came = outcome.length;
            if let Some(wanted) = wanted.filter(|wanted| *wanted != came) {
                let from = self.shape.named(outcome.envelope.source);
                self.fail(|| differ(&format!("{from} sent"), came, wanted));
            }
        }
        Ok(true)
    }

    fn begin<C: Carrier>(
        &mut self,
        endpoint: &mut Endpoint<C, Typed<M>>,
        step: Step<M>,
    ) -> Result<()> {
        let Shape { context, tag, .. } = self.shape;
        match step {
            Step::Wait => {}
            Step::Send(to, bytes) => {
                let (world, source) = self.shape.receiver(to);
                let envelope = Envelope { context, source, tag };
                let begun = endpoint.send(world, envelope, Mode::Standard, bytes)?;
                self.begun.extend(begun.map(|ticket| (ticket, None)));
            }
            Step::Receive(from, bytes) => {
                let wanted = Wanted { context, source: Some(from), tag: Some(tag) };
                let world = self.shape.world(from);
                let size = bytes.size();
                self.begun.push((endpoint.receive(wanted, Some(world), bytes)?, Some(size)));
            }
            Step::Copy(from, into) => {
                let (came, wanted) = (from.size(), into.size());
                if came != wanted {
                    self.fail(|| differ("this rank itself has", came, wanted));
                }
                // More does not fit; others wait for what this rank sends them all the same.
                if came <= wanted {
                    from.copy_to(into)?;
                }
            }
            Step::Combine(op, from, into) => into.combine(&op.reduction, &from),
        }
        Ok(())
    }
}
