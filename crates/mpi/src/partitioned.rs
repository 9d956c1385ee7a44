//! Partitioned messages (MPI-5.0, chapter 4): the program says of each part of a buffer when it may
//! be sent, and asks of each whether it has come.
//!
//! *Channels.* A send and a receive meet once, when they are made: the send tells the receive how
//! many parts it has, how long they are, and a context that only these two use
//! (`docs/wire/partitioned.md`). From then on each part that is ready is a message of that context,
//! with its number as the tag. As messages of one tag do not overtake each other, nobody has to
//! count rounds: what a sender sends before the receiver has begun its round waits there.
//!
//! *States.* A sending channel is idle, or in a round: parts become ready, leave, and when all have
//! left the round has ended. A receiving one awaits its offer from its making on, even where no
//! round has begun; one that has begun before the offer is there posts its receives when it comes,
//! in any call of MPI that waits or tests. Both sides may cut the same bytes differently; a part of
//! the receiver's is there when all of the sender's are that have bytes of it.
//!
//! *Who may die when.* Where a rank is gone, the rounds that wait for it fail, as messages do.

use crate::buffer::{Memory, Typed};
use crate::datatype::{Datatype, Predefined};
use crate::error::{Class, Error, Result};
use muster_message::{
    Buffer, Carrier, Communicators, Endpoint, Envelope, Mode, Outcome, Ticket, Wanted,
};
use std::collections::BTreeMap;

/// Bytes of an offer.
const OFFER: usize = 24;

/// A channel, by its number in this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Channel(u64);

/// Whom a channel leads to, and how its offer is found.
#[derive(Clone, Copy, Debug)]
pub struct Route {
    /// The communicator's context.
    pub comm: u64,
    /// The context of offers.
    pub offers: u64,
    /// The rank in the communicator of the sender.
    pub source: u32,
    /// The tag.
    pub tag: i32,
    /// The other's rank in the job.
    pub other: u32,
}

/// What a sender tells a receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Offer {
    context: u64,
    parts: u64,
    bytes: u64,
}

impl Offer {
    fn encode(self) -> [u8; OFFER] {
        let mut message = [0; OFFER];
        let words = [self.context, self.parts, self.bytes];
        for (place, word) in message.chunks_exact_mut(8).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        message
    }

    fn decode(message: &[u8; OFFER]) -> Offer {
        let (words, _) = message.as_chunks();
        let [context, parts, bytes] = [0, 1, 2].map(|at| u64::from_le_bytes(words[at]));
        Offer { context, parts, bytes }
    }

    /// All of its bytes.
    fn size(self) -> Option<usize> {
        usize::try_from(self.parts.checked_mul(self.bytes)?).ok()
    }
}

/// Room for bytes.
fn bytes<M: Memory>(size: usize) -> Typed<M> {
    let byte = Datatype::of(Predefined::Byte).clone();
    Typed::new(M::scratch(size), size, byte).expect("a part has fewer bytes than memory")
}

/// A channel that sends.
struct Sending<M> {
    route: Route,
    context: u64,
    parts: Vec<Typed<M>>,
    /// Of the round: which are ready; none where there is no round.
    ready: Option<Vec<bool>>,
    /// Those that have not left.
    leaving: Vec<Ticket>,
    failed: Option<Error>,
}

/// A part that comes, and where it lies meanwhile if it does not go to its place by itself.
struct Coming<M> {
    ticket: Option<Ticket>,
    aside: Option<Typed<M>>,
    has_failed: bool,
}

/// What a receiving channel knows of the sender.
enum Sender<M> {
    /// Nothing: this is where the offer will be.
    Awaited(Ticket, Typed<M>),
    /// What it has offered.
    Known(Offer),
    /// Nothing will come.
    Lost,
}

/// A channel that receives.
struct Receiving<M> {
    route: Route,
    into: Typed<M>,
    parts: usize,
    sender: Sender<M>,
    has_begun: bool,
    /// Of the round: the sender's parts, from when its offer is there.
    coming: Option<Vec<Coming<M>>>,
    failed: Option<Error>,
}

enum End<M> {
    Sending(Sending<M>),
    Receiving(Receiving<M>),
}

impl<M: Memory> End<M> {
    /// Whether its round has.
    fn has_ended(&self) -> bool {
        match self {
            End::Sending(sending) => sending.has_ended(),
            End::Receiving(receiving) => receiving.has_ended(),
        }
    }
}

/// How a round has ended: of a receive, what has come.
pub type Ended = Result<Option<(Envelope, usize)>>;

/// The channels of a process.
pub struct Channels<M> {
    all: BTreeMap<u64, End<M>>,
    last: u64,
    /// In which epoch of the coscheduled mode a round was found to have ended.
    ended: BTreeMap<u64, u32>,
}

impl<M> Default for Channels<M> {
    fn default() -> Channels<M> {
        Channels { all: BTreeMap::new(), last: 0, ended: BTreeMap::new() }
    }
}

/// What went wrong with a message, if anything did.
fn failure(outcome: &Outcome) -> Option<Error> {
    if let Some(failure) = &outcome.failure {
        return Some((**failure).clone().into());
    }
    let size = outcome.truncated()?;
    let what = format!("a partition has {size} bytes, and its offer said {}", outcome.size);
    Some(Error::new(Class::Truncate, what))
}

impl<M: Memory> Sending<M> {
    /// Says that a part may be sent.
    fn ready<C: Carrier>(
        &mut self,
        endpoint: &mut Endpoint<C, Typed<M>>,
        part: usize,
    ) -> Result<()> {
        let Some(ready) = &mut self.ready else {
            let what = "the request has not been started, so no partition of it can be ready";
            return Err(Error::new(Class::Request, what));
        };
        match ready.get_mut(part) {
            // The round has failed, which is told to who waits for it; the rest of it goes nowhere.
            Some(is_ready) if self.failed.is_some() => {
                *is_ready = true;
                return Ok(());
            }
            Some(is_ready @ false) => *is_ready = true,
            Some(true) => {
                let what = format!("partition {part} was ready before");
                return Err(Error::new(Class::Arg, what).of("partition"));
            }
            None => return Err(beyond(part, self.parts.len())),
        }
        let Route { source, other, .. } = self.route;
        let envelope = Envelope { context: self.context, source, tag: part as i32 };
        match endpoint.send(other, envelope, Mode::Standard, self.parts[part].clone()) {
            Ok(sent) => self.leaving.extend(sent),
            Err(failure) => self.failed = Some(failure.into()),
        }
        Ok(())
    }

    fn advance<C: Carrier>(&mut self, endpoint: &mut Endpoint<C, Typed<M>>, is_idle: bool) -> bool {
        let before = self.leaving.len();
        self.leaving.retain(|ticket| {
            if is_idle {
                endpoint.give_up(*ticket);
            }
            let Some(outcome) = endpoint.poll(*ticket) else { return true };
            self.failed = self.failed.take().or_else(|| failure(&outcome));
            false
        });
        self.leaving.len() < before
    }

    fn has_ended(&self) -> bool {
        let all = self.ready.as_ref().is_none_or(|ready| ready.iter().all(|ready| *ready));
        all && self.leaving.is_empty()
    }
}

impl<M: Memory> Receiving<M> {
    /// Takes the offer, and what has come; whether there was anything.
    fn advance<C: Carrier>(
        &mut self,
        endpoint: &mut Endpoint<C, Typed<M>>,
        is_idle: bool,
    ) -> Result<bool> {
        let mut moved = false;
        if let Sender::Awaited(ticket, offer) = &mut self.sender {
            // One that nobody waits for may stay away.
            if is_idle && self.has_begun {
                endpoint.give_up(*ticket);
            }
            if let Some(outcome) = endpoint.poll(*ticket) {
                let mut message = [0; OFFER];
                offer.read(0, &mut message);
                let known = || Sender::Known(Offer::decode(&message));
                (self.failed, moved) = (failure(&outcome), true);
                self.sender = if self.failed.is_none() { known() } else { Sender::Lost };
            }
        }
        if self.has_begun && self.coming.is_none() && self.failed.is_none() {
            self.post(endpoint)?;
        }
        let coming = self.coming.iter_mut().flatten().enumerate();
        for (at, part) in coming {
            let Some(ticket) = part.ticket else { continue };
            if is_idle {
                endpoint.give_up(ticket);
            }
            let Some(outcome) = endpoint.poll(ticket) else { continue };
            (part.ticket, moved) = (None, true);
            let failed = failure(&outcome);
            part.has_failed = failed.is_some();
            self.failed = self.failed.take().or(failed);
            if let Some(mut aside) = part.aside.take() {
                let mut came = vec![0; aside.size()];
                aside.read(0, &mut came);
                self.into.write(at * came.len(), &came);
            }
        }
        Ok(moved)
    }

    /// Posts the receives of a round, if the offer is there.
    fn post<C: Carrier>(&mut self, endpoint: &mut Endpoint<C, Typed<M>>) -> Result<()> {
        let offer = match self.sender {
            Sender::Known(offer) => offer,
            Sender::Awaited(..) => return Ok(()),
            Sender::Lost => {
                let what = "the sender was gone before it had said what it would send";
                self.failed = Some(Error::new(Class::ProcAborted, what));
                return Ok(());
            }
        };
        let room = self.into.size();
        if offer.size().is_none_or(|size| size > room) {
            let Offer { parts, bytes, .. } = offer;
            let what = format!(
                "the sender has {parts} partitions of {bytes} bytes each, and the receive buffer \
                 has room for {room} bytes"
            );
            self.failed = Some(Error::new(Class::Truncate, what));
            return Ok(());
        }
        let (size, element) = (offer.bytes as usize, self.into.datatype().size());
        let is_whole = element > 0 && size.is_multiple_of(element);
        let mut coming = Vec::with_capacity(offer.parts as usize);
        for at in 0..offer.parts as usize {
            let aside = (!is_whole).then(|| bytes(size));
            let place = match &aside {
                Some(aside) => aside.clone(),
                None => self.into.part(at * size / element, size / element),
            };
            let Route { source, other, .. } = self.route;
            let (context, tag) = (offer.context, Some(at as i32));
            let wanted = Wanted { context, source: Some(source), tag };
            let ticket = Some(endpoint.receive(wanted, Some(other), place)?);
            coming.push(Coming { ticket, aside, has_failed: false });
        }
        self.coming = Some(coming);
        Ok(())
    }

    /// Whether all of a part has come. Of one that never will it is told what went wrong: who asks
    /// in a loop would not come to the round's end.
    fn has_arrived(&self, part: usize) -> Result<bool> {
        if part >= self.parts {
            return Err(beyond(part, self.parts));
        }
        let (Some(coming), Sender::Known(offer)) = (&self.coming, &self.sender) else {
            return self.failed.clone().map_or(Ok(!self.has_begun), Err);
        };
        let theirs = coming.len();
        let parts = match offer.size() == Some(self.into.size()) {
            true => part * theirs / self.parts..((part + 1) * theirs).div_ceil(self.parts),
            // Where they have less than there is room for, who knows which bytes are meant.
            false => 0..theirs,
        };
        let parts = &coming[parts];
        match &self.failed {
            Some(failed) if parts.iter().any(|part| part.has_failed) => Err(failed.clone()),
            _ => Ok(parts.iter().all(|part| part.ticket.is_none())),
        }
    }

    /// Where something has failed the other parts come all the same, or fail, too.
    fn has_ended(&self) -> bool {
        !self.has_begun
            || match &self.coming {
                Some(coming) => coming.iter().all(|part| part.ticket.is_none()),
                None => self.failed.is_some(),
            }
    }
}

/// That there is no such part.
fn beyond(part: usize, parts: usize) -> Error {
    Error::new(Class::Arg, format!("there is no partition {part} among {parts}")).of("partition")
}

impl<M: Memory> Channels<M> {
    /// Whether there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    fn add(&mut self, end: End<M>) -> Channel {
        self.last += 1;
        self.all.insert(self.last, end);
        Channel(self.last)
    }

    /// Makes a channel that sends `parts` times as many elements as `count`, and offers it. Nobody
    /// else of the job may use the context.
    ///
    /// # Errors
    /// That the receiver is gone.
    pub fn send<C: Carrier>(
        &mut self,
        endpoint: &mut Endpoint<C, Typed<M>>,
        (route, context): (Route, u64),
        (from, parts, count): (&Typed<M>, usize, usize),
    ) -> Result<Channel> {
        let parts: Vec<_> = (0..parts).map(|at| from.part(at * count, count)).collect();
        let bytes = parts.first().map_or(0, Typed::size) as u64;
        let offer = Offer { context, parts: parts.len() as u64, bytes };
        let Route { offers, source, tag, other, .. } = route;
        let envelope = Envelope { context: offers, source, tag };
        let mut message = self::bytes(OFFER);
        message.write(0, &offer.encode());
        let sent = endpoint.send(other, envelope, Mode::Standard, message)?;
        sent.into_iter().for_each(|ticket| endpoint.release(ticket));
        let (leaving, failed) = (Vec::new(), None);
        Ok(self.add(End::Sending(Sending { route, context, parts, ready: None, leaving, failed })))
    }

    /// Makes a channel that receives elements in so many parts.
    ///
    /// # Errors
    /// That messages can be carried no more.
    pub fn receive<C: Carrier>(
        &mut self,
        endpoint: &mut Endpoint<C, Typed<M>>,
        route: Route,
        (into, parts): (Typed<M>, usize),
    ) -> Result<Channel> {
        let Route { offers, source, tag, other, .. } = route;
        let wanted = Wanted { context: offers, source: Some(source), tag: Some(tag) };
        let offer = bytes(OFFER);
        let ticket = endpoint.receive(wanted, Some(other), offer.clone())?;
        let (sender, coming) = (Sender::Awaited(ticket, offer), None);
        let has_begun = false;
        let end = Receiving { route, into, parts, sender, has_begun, coming, failed: None };
        Ok(self.add(End::Receiving(end)))
    }

    /// Begins a round.
    ///
    /// # Errors
    /// That messages can be carried no more.
    pub fn start<C: Carrier>(
        &mut self,
        endpoint: &mut Endpoint<C, Typed<M>>,
        channel: Channel,
    ) -> Result<()> {
        self.ended.remove(&channel.0);
        match self.all.get_mut(&channel.0) {
            Some(End::Sending(sending)) => sending.ready = Some(vec![false; sending.parts.len()]),
            Some(End::Receiving(receiving)) => {
                receiving.has_begun = true;
                receiving.advance(endpoint, false)?;
            }
            None => return Err(freed()),
        }
        Ok(())
    }

    /// Says that a part may be sent.
    ///
    /// # Errors
    /// [`Class::Request`] where the channel sends nothing now, [`Class::Arg`] where the part is
    /// none or was ready before; that the receiver is gone.
    pub fn ready<C: Carrier>(
        &mut self,
        endpoint: &mut Endpoint<C, Typed<M>>,
        channel: Channel,
        part: usize,
    ) -> Result<()> {
        match self.all.get_mut(&channel.0) {
            Some(End::Sending(sending)) => sending.ready(endpoint, part),
            Some(End::Receiving(_)) => {
                let what = "the request receives, so no partition of it can be ready";
                Err(Error::new(Class::Request, what))
            }
            None => Err(freed()),
        }
    }

    /// Whether a part has come.
    ///
    /// # Errors
    /// [`Class::Request`] where the channel receives nothing, [`Class::Arg`]; what went wrong with
    /// the part, which is told at the round's end, too.
    pub fn has_arrived(&self, channel: Channel, part: usize) -> Result<bool> {
        match self.all.get(&channel.0) {
            Some(End::Receiving(receiving)) => receiving.has_arrived(part),
            Some(End::Sending(_)) => {
                let what = "the request sends, so no partition of it arrives";
                Err(Error::new(Class::Request, what))
            }
            None => Err(freed()),
        }
    }

    /// Moves on what is under way; whether anything was done. `is_idle`: nothing came when it was
    /// last looked, so it is time to see who is gone.
    ///
    /// # Errors
    /// That messages can be carried no more.
    pub fn advance<C: Carrier>(
        &mut self,
        endpoint: &mut Endpoint<C, Typed<M>>,
        is_idle: bool,
    ) -> Result<bool> {
        let now = endpoint.logical_epoch();
        let ended = &mut self.ended;
        self.all.iter_mut().try_fold(false, |moved, (number, end)| {
            let more = match end {
                End::Sending(sending) => sending.advance(endpoint, is_idle),
                End::Receiving(receiving) => receiving.advance(endpoint, is_idle)?,
            };
            if let Some(now) = now.filter(|_| end.has_ended()) {
                ended.entry(*number).or_insert(now);
            }
            Ok(moved | more)
        })
    }

    /// What the end of a round waits for, in words.
    pub(crate) fn said(&self, channel: Channel, of: Communicators<'_>) -> Option<String> {
        let named = |route: &Route| {
            let name = of(route.comm).map_or("a communicator".to_owned(), |it| it.0);
            format!("partitions with tag {} in {name}", route.tag)
        };
        Some(match self.all.get(&channel.0)? {
            End::Receiving(Receiving { route, .. }) => {
                format!("rank {} to send {}", route.other, named(route))
            }
            End::Sending(Sending { route, ready, .. }) => {
                let left = ready.iter().flatten().position(|is_ready| !is_ready);
                match left {
                    Some(left) => format!(
                        "partition {left} to be ready, which no thread is left to say \
                         (MPI_Pready), of {} to rank {}",
                        named(route),
                        route.other
                    ),
                    None => format!("rank {} to receive {}", route.other, named(route)),
                }
            }
        })
    }

    /// Whether a round has ended; it stays to be polled.
    pub fn has_ended(&self, channel: Channel) -> bool {
        self.all.get(&channel.0).is_none_or(End::has_ended)
    }

    /// Whether it is settled that it has: in the coscheduled mode, in an earlier epoch than `now`.
    pub fn is_settled(&self, channel: Channel, now: Option<u32>) -> bool {
        let is_earlier = |now| self.ended.get(&channel.0).is_some_and(|ended| *ended != now);
        self.has_ended(channel) && now.is_none_or(is_earlier)
    }

    /// How a round has ended, if it has: another may begin then.
    pub fn poll(&mut self, channel: Channel) -> Option<Ended> {
        if !self.has_ended(channel) {
            return None;
        }
        self.ended.remove(&channel.0);
        let (failed, received) = match self.all.get_mut(&channel.0)? {
            End::Sending(sending) => {
                sending.ready = None;
                (sending.failed.take(), None)
            }
            End::Receiving(receiving) => {
                (receiving.has_begun, receiving.coming) = (false, None);
                let Route { offers: context, source, tag, .. } = receiving.route;
                let size = match receiving.sender {
                    Sender::Known(offer) => offer.size().unwrap_or(0),
                    _ => 0,
                };
                (receiving.failed.take(), Some((Envelope { context, source, tag }, size)))
            }
        };
        Some(failed.map_or(Ok(received), Err))
    }

    /// Gives a channel up. What is on its way out goes on, what is to come does not.
    pub fn remove<C: Carrier>(&mut self, endpoint: &mut Endpoint<C, Typed<M>>, channel: Channel) {
        self.ended.remove(&channel.0);
        let tickets = match self.all.remove(&channel.0) {
            Some(End::Sending(sending)) => sending.leaving,
            Some(End::Receiving(receiving)) => {
                // Its offer comes all the same, and is not for the next channel.
                if let Sender::Awaited(ticket, _) = receiving.sender {
                    endpoint.release(ticket);
                }
                let coming = receiving.coming.into_iter().flatten().filter_map(|it| it.ticket);
                coming.collect()
            }
            None => return,
        };
        for ticket in tickets {
            endpoint.abandon(ticket);
        }
    }
}

/// That a channel was given up.
fn freed() -> Error {
    Error::new(Class::Request, "the request has been freed")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documents_sample_is_what_it_says() {
        let page = include_str!("../../../docs/wire/partitioned.md");
        let lines = page.lines().filter_map(|line| line.trim().strip_prefix("sample offer: "));
        let bytes = lines.flat_map(|line| line.split(' '));
        let bytes: Vec<u8> = bytes.map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect();
        let offer = Offer { context: 0x4_0005_0006, parts: 3, bytes: 16 };
        assert_eq!(offer.encode()[..], bytes);
        assert_eq!(Offer::decode(&offer.encode()), offer);
    }
}
