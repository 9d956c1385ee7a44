//! What the server casts: which chunk goes by multicast to all who hear it, how fast, and who is
//! waited for.
//!
//! Whoever listens tells of each chunk that has passed by, in order: it has [come](Swarm::heard),
//! or so much of it was [missed](Swarm::missed). What it misses a little of it takes from the swarm
//! at once; what it misses more of is cast again if another lacks it, too. Most wanted goes first,
//! so who comes in the middle hears the rest, and then the beginning with all who came later.
//!
//! Nothing slows a multicast down by itself. There is a *window*: the caster is never more than
//! [`IMAGE_CASTS`] chunks ahead of what the listeners have told. And there is a *rate*: where half
//! of the listeners lost more than a little of a chunk, the next ones are cast as fast as that one
//! came, and then a bit faster each.
//!
//! Nobody holds the others up for long: who is silent for [`IMAGE_STALL`], or has made them wait
//! for so long in all while most were faster, or loses much of every chunk, listens no more.

use super::{Chunk, Client, Swarm};
use muster_base::limits::{IMAGE_CASTS, IMAGE_STALL};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Bytes a second at first and at most, and at least. A gigabit: a line that is slower loses some
/// of the first chunks, and is known then.
const FIRST: f64 = 125e6;
const MOST: f64 = 2e9;
const LEAST: f64 = 100e3;

/// How much faster a chunk is cast for each that came whole before: a tenth of the rate is ten
/// times as much after thirty, and what is a little too fast loses something every dozen.
const FASTER: f64 = 0.005;

/// What part of a chunk counts as lost at most: where queues are full a whole chunk may be, and
/// says nothing of how fast is too fast.
const LOST_MAX: f64 = 0.9;

/// What part of a chunk may be lost for other reasons than that it came too fast.
const STRAY: f64 = 0.03;

/// What part of a chunk is taken from the swarm when it was lost; more is cast again.
const REPAIR: f64 = 0.25;

/// Chunks in a row of which a listener loses more than that before it listens no more: as many as
/// may be under way when the rate is found, twice.
const LOSSES: usize = 2 * IMAGE_CASTS;

/// Who listens, and what is under way to them.
#[derive(Debug)]
pub(super) struct Casts {
    listeners: BTreeMap<Client, Listener>,
    /// The oldest first.
    flying: Vec<Cast>,
    /// Bytes a second, and the chunks that have come whole since that was too much.
    rate: f64,
    whole: u32,
    /// When it was looked last who is late.
    looked: Duration,
}

#[derive(Debug, Default)]
struct Listener {
    /// When it told something last.
    told: Duration,
    /// How long others have waited for it.
    waited: Duration,
    /// Casts in a row of which it lost much.
    losses: usize,
}

#[derive(Debug)]
struct Cast {
    chunk: Chunk,
    /// Who is to tell of it.
    of: BTreeSet<Client>,
    /// What part those lost who have told.
    lost: Vec<f64>,
    rate: f64,
    /// When all of it had left.
    sent: Option<Duration>,
}

impl Default for Casts {
    fn default() -> Casts {
        let (listeners, flying) = (BTreeMap::new(), Vec::new());
        Casts { listeners, flying, rate: FIRST, whole: 0, looked: Duration::ZERO }
    }
}

impl Casts {
    /// A client has a chunk, whoever it is from; true if with that a cast is over.
    pub(super) fn has(&mut self, client: Client, chunk: Chunk) -> bool {
        for cast in self.flying.iter_mut().filter(|cast| cast.chunk == chunk) {
            cast.of.remove(&client);
        }
        self.settle()
    }

    /// A listener tells of a chunk that has passed by. What was cast before it and that it does not
    /// tell of it has not heard at all.
    fn told(&mut self, client: Client, chunk: Chunk, lost: f64, now: Duration) {
        let Some(listener) = self.listeners.get_mut(&client) else { return };
        listener.told = now;
        let is_of = |cast: &Cast| cast.chunk == chunk && cast.of.contains(&client);
        let Some(at) = self.flying.iter().position(is_of) else { return };
        for (cast, is_last) in self.flying.iter_mut().take(at + 1).zip((0..=at).map(|i| i == at)) {
            if !cast.of.remove(&client) {
                continue;
            }
            let lost = if is_last { lost } else { 1.0 };
            cast.lost.push(lost);
            listener.losses = if lost > REPAIR { listener.losses + 1 } else { 0 };
        }
    }

    /// Forgets casts of which all have told; true if there are such.
    fn settle(&mut self) -> bool {
        let before = self.flying.len();
        let is_over = |cast: &mut Cast| cast.sent.is_some() && cast.of.is_empty();
        let over: Vec<Cast> = self.flying.extract_if(.., is_over).collect();
        for Cast { mut lost, rate, .. } in over.into_iter().filter(|cast| !cast.lost.is_empty()) {
            lost.sort_by(f64::total_cmp);
            // The better half decides: the others can do without.
            let lost = lost[(lost.len() - 1) / 2].min(LOST_MAX);
            if lost > STRAY {
                self.rate = self.rate.min(rate * (1.0 - lost) * 0.95).max(LEAST);
                self.whole = 0;
            } else {
                self.whole += 1;
                self.rate = MOST.min(self.rate * (1.0 + FASTER * f64::from(self.whole)));
            }
        }
        self.flying.len() < before
    }

    /// Those who are not waited for any more.
    pub(super) fn late(&mut self, now: Duration) -> Vec<Client> {
        let passed = now.saturating_sub(std::mem::replace(&mut self.looked, now));
        let is_full = self.flying.len() >= IMAGE_CASTS;
        let all_sent = self.flying.iter().all(|cast| cast.sent.is_some());
        if let Some((cast, sent)) = self.flying.first().and_then(|cast| Some((cast, cast.sent?)))
            && (is_full || all_sent)
        {
            let are_few = 2 * cast.of.len() <= self.listeners.len();
            for client in &cast.of {
                let Some(listener) = self.listeners.get_mut(client) else { continue };
                if are_few {
                    listener.waited += passed.min(now.saturating_sub(sent));
                }
                if now.saturating_sub(listener.told.max(sent)) > IMAGE_STALL {
                    listener.waited = Duration::MAX;
                }
            }
        }
        let is_late = |it: &Listener| it.waited > IMAGE_STALL || it.losses > LOSSES;
        let late = self.listeners.iter().filter(|(_, listener)| is_late(listener));
        late.map(|(client, _)| *client).collect()
    }

    pub(super) fn is_flying(&self, chunk: Chunk) -> bool {
        self.flying.iter().any(|cast| cast.chunk == chunk)
    }
}

impl Swarm {
    /// A client hears what is cast, from now on.
    pub fn hears(&mut self, client: Client, now: Duration) {
        let Some(member) = self.members.get_mut(&client).filter(|member| !member.listens) else {
            return;
        };
        member.listens = true;
        self.casts.listeners.insert(client, Listener { told: now, ..Listener::default() });
        for chunk in 0..self.chunks {
            let awaits = self.members[&client].awaits(chunk);
            self.await_one(chunk, (false, awaits));
        }
        self.rest(client);
    }

    /// A client hears nothing any more, or is not waited for.
    pub fn deaf(&mut self, client: Client, now: Duration) {
        if self.unlist(client) {
            self.wake(client, now);
            self.revisit(now);
        }
    }

    /// A client is no listener; false if it was none.
    pub(super) fn unlist(&mut self, client: Client) -> bool {
        let Some(member) = self.members.get_mut(&client).filter(|member| member.listens) else {
            return false;
        };
        let awaited: Vec<Chunk> = (0..self.chunks).filter(|chunk| member.awaits(*chunk)).collect();
        member.listens = false;
        awaited.into_iter().for_each(|chunk| self.await_one(chunk, (true, false)));
        self.casts.listeners.remove(&client);
        for cast in &mut self.casts.flying {
            cast.of.remove(&client);
        }
        self.casts.settle();
        self.is_stale = true;
        true
    }

    /// The chunk to be cast now, which is under way then, and at how many bytes a second.
    pub fn cast(&mut self) -> Option<(Chunk, f64)> {
        if self.casts.flying.len() >= IMAGE_CASTS {
            return None;
        }
        let awaited = self.awaited.iter().zip(0..).filter(|(count, _)| **count >= 2);
        let free = awaited.filter(|(_, chunk)| !self.casts.is_flying(*chunk));
        let (_, chunk) = free.max_by_key(|(count, chunk)| (**count, u32::MAX - chunk))?;
        let awaits = |client: &&Client| self.members[client].awaits(chunk);
        let of = self.casts.listeners.keys().filter(awaits).copied().collect();
        let rate = self.casts.rate;
        self.casts.flying.push(Cast { chunk, of, lost: Vec::new(), rate, sent: None });
        Some((chunk, rate))
    }

    /// All of a chunk has left.
    pub fn sent(&mut self, chunk: Chunk, now: Duration) {
        for cast in self.casts.flying.iter_mut().filter(|cast| cast.chunk == chunk) {
            cast.sent = Some(now);
        }
        self.is_stale |= self.casts.settle();
        self.revisit(now);
    }

    /// There is no caster any more, and nobody is to wait for what one has not sent, or not all of.
    pub fn mute(&mut self, now: Duration) {
        self.casts.flying.clear();
        let listeners: Vec<Client> = self.casts.listeners.keys().copied().collect();
        listeners.into_iter().for_each(|client| self.deaf(client, now));
        self.is_stale = true;
        self.revisit(now);
    }

    /// Whether the end of a chunk was sent of which somebody has not told yet.
    pub fn is_untold(&self) -> bool {
        !self.casts.flying.is_empty()
    }

    /// How many listen.
    pub fn listeners(&self) -> usize {
        self.casts.listeners.len()
    }

    /// A listener has a chunk that was cast.
    pub fn heard(&mut self, client: Client, chunk: Chunk, now: Duration) {
        self.casts.told(client, chunk, 0.0, now);
        self.has(client, chunk, now);
    }

    /// A listener has lost that part of a chunk that was cast.
    pub fn missed(&mut self, client: Client, chunk: Chunk, lost: f64, now: Duration) {
        self.casts.told(client, chunk, lost, now);
        self.is_stale |= self.casts.settle();
        if let Some(member) = self.members.get_mut(&client)
            && lost <= REPAIR
            && member.awaits(chunk)
        {
            member.repairs.put(chunk, true);
            self.await_one(chunk, (true, false));
            self.wake(client, now);
        }
        self.revisit(now);
    }

    /// Whether something is cast that a listener lacks, or will be.
    pub(super) fn is_cast_to(&self, member: &super::Member) -> bool {
        let lacks = member.spoken_for.0.iter().zip(&member.repairs.0);
        let comes = |((spoken, repairs), castable): ((&u64, &u64), &u64)| {
            castable & !spoken & !repairs != 0
        };
        let is_flying = || self.casts.flying.iter().any(|cast| member.awaits(cast.chunk));
        member.listens && (lacks.zip(&self.castable.0).any(comes) || is_flying())
    }

    /// Asks of a listener rest as long as all that it lacks is cast: whoever has something to give
    /// need not look at them.
    pub(super) fn rest(&mut self, client: Client) {
        let member = &self.members[&client];
        let repairs = member.repairs.0.iter().zip(&member.spoken_for.0);
        let has_repairs = repairs.into_iter().any(|(repairs, spoken)| repairs & !spoken != 0);
        if !has_repairs && self.is_cast_to(member) {
            let before = self.waiting.len();
            self.waiting.retain(|other| *other != client);
            let resting = before - self.waiting.len();
            self.members.get_mut(&client).expect("it is there").resting += resting;
        }
    }

    /// Finds something for all asks of a client.
    fn wake(&mut self, client: Client, now: Duration) {
        let member = self.members.get_mut(&client).expect("it is there");
        for _ in 0..std::mem::take(&mut member.resting) {
            self.waiting.push_back(client);
        }
        let asks = self.waiting.iter().filter(|other| **other == client).count();
        for _ in 0..asks {
            self.satisfy(client, now);
        }
        self.rest(client);
    }

    /// Has listeners take from the swarm to whom nothing is cast any more, and others from the
    /// server what is not cast any more.
    pub(super) fn revisit(&mut self, now: Duration) {
        if !std::mem::take(&mut self.is_stale) {
            return;
        }
        let rests = |client: &&Client| {
            let member = &self.members[client];
            member.asks > 0 && !self.is_cast_to(member)
        };
        let done: Vec<Client> = self.casts.listeners.keys().filter(rests).copied().collect();
        done.into_iter().for_each(|client| self.wake(client, now));
        self.offer(None, now);
    }
}
