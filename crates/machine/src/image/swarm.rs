//! Who takes which chunk of an image from whom: the server's side of the exchange, without I/O.
//!
//! A client [enters](Swarm::enter), says which chunks it [has](Swarm::has), whether it
//! [serves](Swarm::serves) them to others, and [asks](Swarm::ask) for more, several at once. The
//! swarm answers each ask with a [`Grant`]: this chunk, from the server or from that helper. The
//! client then says how it went: it has the chunk, the source was lost, or what came was not the
//! chunk. An ask for which there is nothing now waits until there is.
//!
//! What makes N clients as fast as one is that every link up is busy with what others lack:
//!
//! * A source gives, and a client takes, [`IMAGE_WINDOW`] chunks at once: each is soon whole, and
//!   then there is one more who has it.
//! * The server gives out what nobody else has before anything else, and otherwise what is rarest.
//!   So each chunk leaves it about once.
//! * A client takes from helpers what is rarest, so that everybody has something to give.
//! * A client has [`IMAGE_SOURCES`] helpers at most, since connections cost.
//! * What at least two lack who [hear](Swarm::hears) multicast the server [casts](Swarm::cast),
//!   once for all of them. They take nothing from anybody meanwhile, but what a cast lost on its
//!   way to them ([`casts`]): a link down is full of one or of the other.
//!
//! Who may die when:
//!
//! * **A client, a helper**: it [leaves](Swarm::leave), as its session does with its connection.
//!   Those who took from it say that they lost it, and ask again. What it was taking is free.
//! * **A client whose machine falls silent**: what it was given counts as under way no longer than
//!   [`IMAGE_GRANT_TIME`]. It is a helper until two clients have lost it.
//! * **A helper that lies** (its bytes are not those of the hash): it is not named to anybody
//!   again, whatever it says, and goes on as a client.
//! * **A listener that stands still, or is slower than most**: the others have waited for it for
//!   [`IMAGE_STALL`] at most in all; then it listens no more, and takes from the swarm.
//! * **A client that accuses others falsely, or pretends to be many helpers**: holds the image's
//!   key, as all do; the image then comes from the server, more slowly. That many have lost their
//!   helpers at once, as when a rack goes, is held against those who are left for a chunk or two.

use casts::Casts;
#[cfg(doc)]
use muster_base::limits::IMAGE_STALL;
use muster_base::limits::{IMAGE_GRANT_TIME, IMAGE_SOURCES, IMAGE_WINDOW};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

mod casts;
#[cfg(test)]
mod tests;

/// A client, by the order in which they came.
pub type Client = u32;

/// A chunk, by its place among those that differ.
pub type Chunk = u32;

/// How many clients must have lost a helper before it is named to nobody.
const LOST: usize = 2;

/// How many more helpers a client has lost than it has had chunks from helpers, before it takes
/// from the server only: each may have cost it seconds, and one machine can pretend to be any
/// number of them.
const DISAPPOINTED: i64 = 4;

/// How many chunks from the server make up for a helper that was lost: whoever takes from it only
/// could not find out otherwise that those who are there now do give.
const CONSOLED: i64 = 16;

/// What an ask is answered with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grant {
    /// Whose ask.
    pub to: Client,
    /// What it is to take.
    pub chunk: Chunk,
    /// From whom; none is the server.
    pub from: Option<Client>,
}

/// How a grant failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The source did not answer, or refused.
    Lost,
    /// What it gave was not the chunk.
    Lied,
    /// Nobody's: the client never heard of it.
    Void,
}

/// A set of chunks.
#[derive(Clone, Debug, Default)]
struct Set(Vec<u64>);

impl Set {
    fn of(chunks: u32) -> Set {
        Set(vec![0; chunks.div_ceil(64) as usize])
    }

    fn has(&self, chunk: Chunk) -> bool {
        self.0[chunk as usize / 64] >> (chunk % 64) & 1 == 1
    }

    fn put(&mut self, chunk: Chunk, is_in: bool) {
        let bit = 1 << (chunk % 64);
        let word = &mut self.0[chunk as usize / 64];
        *word = if is_in { *word | bit } else { *word & !bit };
    }

    fn iter(&self) -> impl Iterator<Item = Chunk> + '_ {
        bits(self.0.iter().copied())
    }
}

/// The numbers of the bits that are set.
fn bits(words: impl Iterator<Item = u64>) -> impl Iterator<Item = Chunk> {
    words.enumerate().flat_map(|(at, mut word)| {
        std::iter::from_fn(move || {
            let bit = (word != 0).then(|| word.trailing_zeros())?;
            word &= word - 1;
            Some(at as u32 * 64 + bit)
        })
    })
}

/// What a client was granted and has not told the end of.
#[derive(Clone, Copy, Debug)]
struct Taking {
    chunk: Chunk,
    from: Option<Client>,
    since: Duration,
}

#[derive(Debug, Default)]
struct Member {
    holds: Set,
    held: u32,
    /// What it holds or is taking.
    spoken_for: Set,
    taking: Vec<Taking>,
    asks: usize,
    /// Those of its asks that rest while what it lacks is cast.
    resting: usize,
    is_helper: bool,
    /// It lied, or was lost too often.
    is_struck: bool,
    lost_by: BTreeSet<Client>,
    /// Grants under way with it as their source.
    uploads: usize,
    /// Clients that have it among their sources.
    customers: usize,
    /// Helpers that it takes from.
    sources: BTreeSet<Client>,
    /// Helpers that it is not sent to again.
    barred: BTreeSet<Client>,
    /// Helpers that it has lost, less the chunks that helpers have given it, times [`CONSOLED`].
    /// Many that have given much may all leave at once, so it goes below nothing.
    disappointed: i64,
    /// It hears what is cast.
    listens: bool,
    /// Chunks of which it has most, so that it takes the rest from the swarm.
    repairs: Set,
}

impl Member {
    /// Whether others may be sent to it now.
    fn is_free(&self) -> bool {
        self.is_helper && !self.is_struck && self.uploads < IMAGE_WINDOW
    }

    /// Whether a chunk should come to it by a cast.
    fn awaits(&self, chunk: Chunk) -> bool {
        self.listens && !self.spoken_for.has(chunk) && !self.repairs.has(chunk)
    }
}

/// All who take one image.
#[derive(Debug)]
pub struct Swarm {
    chunks: u32,
    /// How many clients hold each chunk or are taking it.
    copies: Vec<u32>,
    /// How many listeners await each.
    awaited: Vec<u32>,
    /// Those that two listeners await, or more: they are to be cast.
    castable: Set,
    casts: Casts,
    /// Some listener may await what is not cast any more.
    is_stale: bool,
    members: BTreeMap<Client, Member>,
    /// Asks that wait, the oldest first.
    waiting: VecDeque<Client>,
    /// The server's grants under way.
    uploads: usize,
    last: Client,
    granted: Vec<Grant>,
}

impl Swarm {
    /// Nobody takes an image of so many chunks yet.
    pub fn new(chunks: u32) -> Swarm {
        Swarm {
            chunks,
            copies: vec![0; chunks as usize],
            awaited: vec![0; chunks as usize],
            castable: Set::of(chunks),
            casts: Casts::default(),
            is_stale: false,
            members: BTreeMap::new(),
            waiting: VecDeque::new(),
            uploads: 0,
            last: 0,
            granted: Vec::new(),
        }
    }

    /// A client comes.
    pub fn enter(&mut self) -> Client {
        self.last += 1;
        let none = || Set::of(self.chunks);
        let (holds, spoken_for, repairs) = (none(), none(), none());
        let member = Member { holds, spoken_for, repairs, ..Member::default() };
        self.members.insert(self.last, member);
        self.last
    }

    /// How many there are, and how many of them are named to others.
    pub fn count(&self) -> (usize, usize) {
        let helps = |member: &&Member| member.is_helper && !member.is_struck;
        (self.members.len(), self.members.values().filter(helps).count())
    }

    /// Whether a client has all chunks.
    pub fn is_whole(&self, client: Client) -> bool {
        self.members.get(&client).is_some_and(|member| member.held == self.chunks)
    }

    /// What has been granted since the last call.
    pub fn granted(&mut self) -> Vec<Grant> {
        std::mem::take(&mut self.granted)
    }

    /// A client serves what it has to others from now on. Not if it lied before.
    pub fn serves(&mut self, client: Client, now: Duration) {
        if let Some(member) = self.members.get_mut(&client) {
            member.is_helper = true;
            self.offer(Some(client), now);
        }
    }

    /// A client has a chunk, whoever it is from.
    pub fn has(&mut self, client: Client, chunk: Chunk, now: Duration) {
        let freed = self.end(client, chunk);
        let Some(member) = self.members.get_mut(&client) else { return };
        if chunk >= self.chunks || member.holds.has(chunk) {
            return;
        }
        member.holds.put(chunk, true);
        member.held += 1;
        match freed {
            Some(Some(_)) => member.disappointed -= CONSOLED,
            Some(None) if member.disappointed > 0 => member.disappointed -= 1,
            _ => {}
        }
        self.speak_for(client, chunk, true);
        self.is_stale |= self.casts.has(client, chunk);
        if self.is_whole(client) {
            self.waiting.retain(|other| *other != client);
            self.members.get_mut(&client).expect("it is there").resting = 0;
        }
        if let Some(source) = freed {
            self.offer(source, now);
        }
        self.offer(Some(client), now);
        self.revisit(now);
    }

    /// A client asks for a chunk; false if it asks for too many at once, or has them all.
    pub fn ask(&mut self, client: Client, now: Duration) -> bool {
        let is_whole = self.is_whole(client);
        let Some(member) = self.members.get_mut(&client) else { return false };
        if is_whole || member.asks + member.taking.len() >= IMAGE_WINDOW {
            return false;
        }
        member.asks += 1;
        self.waiting.push_back(client);
        self.satisfy(client, now);
        self.rest(client);
        true
    }

    /// A client waits for an answer to an ask no longer; false if none of its asks waits.
    pub fn withdraw(&mut self, client: Client) -> bool {
        let at = self.waiting.iter().rposition(|other| *other == client);
        let Some(member) = self.members.get_mut(&client) else { return false };
        match at {
            Some(at) => drop(self.waiting.remove(at)),
            None if member.resting > 0 => member.resting -= 1,
            None => return false,
        }
        member.asks -= 1;
        true
    }

    /// A grant failed; the client will ask again.
    pub fn failed(&mut self, client: Client, chunk: Chunk, fault: Fault, now: Duration) {
        let Some(source) = self.end(client, chunk) else { return };
        if self.members.get(&client).is_some_and(|member| !member.holds.has(chunk)) {
            self.speak_for(client, chunk, false);
        }
        if let Some(helper) = source.filter(|_| fault != Fault::Void) {
            self.bar(client, helper);
            if let Some(member) = self.members.get_mut(&helper) {
                member.lost_by.insert(client);
                member.is_struck |= fault == Fault::Lied || member.lost_by.len() >= LOST;
            }
        }
        self.offer(source, now);
        // What it was to take is to be had again, elsewhere or by others.
        self.offer(None, now);
        self.is_stale = true;
        self.revisit(now);
    }

    /// A client goes, with what it serves.
    pub fn leave(&mut self, client: Client, now: Duration) {
        self.unlist(client);
        let Some(member) = self.members.remove(&client) else { return };
        self.waiting.retain(|other| *other != client);
        for chunk in member.spoken_for.iter() {
            self.copies[chunk as usize] -= 1;
        }
        for helper in &member.sources {
            if let Some(helper) = self.members.get_mut(helper) {
                helper.customers -= 1;
            }
        }
        for other in self.members.values_mut() {
            other.sources.remove(&client);
            other.barred.remove(&client);
        }
        for taking in &member.taking {
            self.release(taking.from);
            self.offer(taking.from, now);
        }
        self.offer(None, now);
        self.revisit(now);
    }

    /// A client is not sent to a helper again.
    fn bar(&mut self, client: Client, helper: Client) {
        let Some(member) = self.members.get_mut(&client) else { return };
        member.disappointed += CONSOLED * i64::from(member.barred.insert(helper));
        if member.sources.remove(&helper)
            && let Some(helper) = self.members.get_mut(&helper)
        {
            helper.customers -= 1;
        }
    }

    /// A grant is over, however; its source.
    fn end(&mut self, client: Client, chunk: Chunk) -> Option<Option<Client>> {
        let member = self.members.get_mut(&client)?;
        let at = member.taking.iter().position(|taking| taking.chunk == chunk)?;
        let source = member.taking.swap_remove(at).from;
        self.release(source);
        Some(source)
    }

    fn release(&mut self, source: Option<Client>) {
        match source {
            None => self.uploads -= 1,
            Some(helper) => {
                if let Some(helper) = self.members.get_mut(&helper) {
                    helper.uploads -= 1;
                }
            }
        }
    }

    /// Who has told nothing of a grant for too long keeps it from nobody.
    pub fn expire(&mut self, now: Duration) {
        let is_over = |taking: &&Taking| now.saturating_sub(taking.since) > IMAGE_GRANT_TIME;
        let of = |(client, member): (&Client, &Member)| {
            let over = member.taking.iter().filter(is_over);
            over.map(|taking| (*client, taking.chunk)).collect::<Vec<_>>()
        };
        let over: Vec<_> = self.members.iter().flat_map(of).collect();
        for (client, chunk) in over {
            self.failed(client, chunk, Fault::Void, now);
        }
        for client in self.casts.late(now) {
            self.deaf(client, now);
        }
    }

    /// A client has a chunk or is taking it, or no more.
    fn speak_for(&mut self, client: Client, chunk: Chunk, is_in: bool) {
        let member = self.members.get_mut(&client).expect("it is there");
        if member.spoken_for.has(chunk) == is_in {
            return;
        }
        let awaited = member.awaits(chunk);
        member.spoken_for.put(chunk, is_in);
        let (copies, awaits) = (&mut self.copies[chunk as usize], member.awaits(chunk));
        *copies = if is_in { *copies + 1 } else { *copies - 1 };
        self.await_one(chunk, (awaited, awaits));
    }

    /// A listener awaited a chunk or not, and does now or not.
    fn await_one(&mut self, chunk: Chunk, (before, after): (bool, bool)) {
        let awaited = &mut self.awaited[chunk as usize];
        *awaited = *awaited + u32::from(after) - u32::from(before);
        self.is_stale |= before && !after && *awaited == 1;
        let is_castable = *awaited >= 2;
        self.castable.put(chunk, is_castable);
    }

    /// Whether a client may take from a helper.
    fn may_take(member: &Member, helper: Client) -> bool {
        member.disappointed < DISAPPOINTED * CONSOLED
            && !member.barred.contains(&helper)
            && (member.sources.contains(&helper) || member.sources.len() < IMAGE_SOURCES)
    }

    /// The rarest chunk that a source has and a client lacks, with its copies. Clients begin to
    /// look at different places. What the server is to cast it gives to nobody else: who cannot
    /// hear it takes it from those who have.
    fn pick(&self, client: Client, source: Option<&Member>) -> Option<(u32, Chunk)> {
        let member = &self.members[&client];
        let (lacks, is_cast_to) = (&member.spoken_for, self.is_cast_to(member));
        let begin = client.wrapping_mul(2_654_435_761) % self.chunks;
        let word = |at: usize| {
            let of_source = source.map_or(!self.castable.0[at], |source| source.holds.0[at]);
            let takes = if is_cast_to { member.repairs.0[at] } else { !0 };
            of_source & takes & !lacks.0[at]
        };
        let wanted = bits((0..lacks.0.len()).map(word)).take_while(|chunk| *chunk < self.chunks);
        let is_had = |chunk: &Chunk| source.is_some() || !self.casts.is_flying(*chunk);
        let rank = |chunk: Chunk| {
            let place = (chunk + self.chunks - begin) % self.chunks;
            (self.copies[chunk as usize], place, chunk)
        };
        wanted.filter(is_had).map(rank).min().map(|(copies, _, chunk)| (copies, chunk))
    }

    /// Finds something for the oldest ask of a client.
    fn satisfy(&mut self, client: Client, now: Duration) {
        let member = &self.members[&client];
        let own = (self.uploads < IMAGE_WINDOW).then(|| self.pick(client, None)).flatten();
        if let Some((0, chunk)) = own {
            return self.grant(Grant { to: client, chunk, from: None }, now);
        }
        let may = |(helper, source): &(&Client, &Member)| {
            **helper != client && source.is_free() && Swarm::may_take(member, **helper)
        };
        let offers = self.members.iter().filter(may).filter_map(|(helper, source)| {
            let (copies, chunk) = self.pick(client, Some(source))?;
            let is_new = !member.sources.contains(helper);
            Some(((copies, source.uploads, is_new, source.customers), chunk, *helper))
        });
        let best = offers.min().map(|(_, chunk, helper)| (chunk, Some(helper)));
        if let Some((chunk, from)) = best.or(own.map(|(_, chunk)| (chunk, None))) {
            self.grant(Grant { to: client, chunk, from }, now);
        }
    }

    /// A source may have something for asks that wait.
    fn offer(&mut self, source: Option<Client>, now: Duration) {
        let mut at = 0;
        while let Some(&client) = self.waiting.get(at) {
            let of_helper = source.map(|helper| (helper, self.members.get(&helper)));
            let picked = match of_helper {
                None if self.uploads < IMAGE_WINDOW => self.pick(client, None),
                Some((helper, Some(member))) if member.is_free() => {
                    let may = helper != client && Swarm::may_take(&self.members[&client], helper);
                    may.then(|| self.pick(client, Some(member))).flatten()
                }
                _ => return,
            };
            match picked {
                Some((_, chunk)) => self.grant(Grant { to: client, chunk, from: source }, now),
                None => at += 1,
            }
        }
    }

    fn grant(&mut self, grant: Grant, now: Duration) {
        let Grant { to, chunk, from } = grant;
        let at = self.waiting.iter().position(|other| *other == to).expect("it asked");
        self.waiting.remove(at);
        self.speak_for(to, chunk, true);
        let member = self.members.get_mut(&to).expect("it is there");
        member.asks -= 1;
        member.taking.push(Taking { chunk, from, since: now });
        let is_new = from.is_some_and(|helper| member.sources.insert(helper));
        match from {
            None => self.uploads += 1,
            Some(helper) => {
                let helper = self.members.get_mut(&helper).expect("it is there");
                helper.uploads += 1;
                helper.customers += usize::from(is_new);
            }
        }
        self.granted.push(grant);
    }
}
