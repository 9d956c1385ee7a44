//! Put and get by libfabric's remote memory access, straight into the owner's memory.
//!
//! The owner tells its peer of every region: where the provider reaches it, its size and rights. A
//! peer that has a key but was not told of it yet asks. The one who copies checks range and rights,
//! so a mistake is an [`Error::Access`]; the owner's provider checks them again, and ends the
//! connection of a peer that lies.
//!
//! | message | from | meaning |
//! |---|---|---|
//! | region | owner | there is such a region, and where |
//! | none | owner | there is no such region (the answer when asked) |
//! | gone | owner | use it no more, and say when you do not |
//! | released | peer | nothing of mine is under way there, and nothing will be |
//! | ask | peer | what about this key? |
//!
//! A region that is withdrawn stays registered until the peer has released it, or the connection
//! has ended: memory that somebody still writes is never freed. Operations take effect in their
//! order because one begins when the one before it has ended; its pieces go together.

use super::channel::{Channel, Kind, WINDOW};
use super::sys::{Place, SLOT};
use crate::deadline::Deadline;
use crate::error::{Error, Result};
use crate::region::{Region, Rights};
use crate::strategy::{Completion, Key, Ready, RemoteCopy, Wait};
use crate::transport::Peer;
use muster_base::limits::{COPIES_MAX, COPY_MAX, REGIONS_MAX};
use std::collections::{HashMap, VecDeque};

/// What is said of a region; its key is the piece's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// There is one.
    Region {
        /// Where the provider reaches it.
        place: Place,
        /// Bytes.
        size: u64,
        /// What the peer may do.
        rights: Rights,
    },
    /// There is none.
    None,
    /// It is withdrawn.
    Gone,
    /// Nothing is under way there.
    Released,
    /// Is there one?
    Ask,
}

impl Word {
    /// Its bytes.
    pub fn write(&self) -> Vec<u8> {
        match self {
            Word::Region { place, size, rights } => {
                let mut bytes = vec![0, u8::from(rights.read) | u8::from(rights.write) << 1];
                for number in [place.key, place.address, *size] {
                    bytes.extend(number.to_le_bytes());
                }
                bytes
            }
            Word::None => vec![1],
            Word::Gone => vec![2],
            Word::Released => vec![3],
            Word::Ask => vec![4],
        }
    }

    /// Reads one.
    pub fn read(bytes: &[u8]) -> std::result::Result<Word, String> {
        match bytes {
            [0, rights @ 0..=3, numbers @ ..] if numbers.len() == 24 => {
                let number = |at: usize| {
                    u64::from_le_bytes(numbers[at..at + 8].try_into().expect("eight bytes"))
                };
                let rights = Rights { read: rights & 1 != 0, write: rights & 2 != 0 };
                let place = Place { key: number(0), address: number(8) };
                Ok(Word::Region { place, size: number(16), rights })
            }
            [1] => Ok(Word::None),
            [2] => Ok(Word::Gone),
            [3] => Ok(Word::Released),
            [4] => Ok(Word::Ask),
            _ => Err(format!("{} bytes about a region", bytes.len())),
        }
    }
}

/// A region of ours.
struct Mine {
    word: Word,
    is_withdrawn: bool,
}

/// What we know of a key of the peer's.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Theirs {
    Asked,
    Known { place: Place, size: u64, rights: Rights },
    Nothing,
}

/// A put or get.
struct Copy {
    token: u64,
    key: u32,
    offset: u64,
    is_put: bool,
    bytes: Vec<u8>,
    begun: usize,
    done: usize,
}

/// Puts and gets to one peer's regions, and its to ours.
pub struct Copies {
    channel: Channel,
    mine: HashMap<u32, Mine>,
    next: u32,
    theirs: HashMap<u32, Theirs>,
    /// Regions that the peer has withdrawn and we have not released.
    gone: Vec<u32>,
    /// What is to be said, and whether the peer has asked for it; how much of it is of that kind.
    outbox: VecDeque<(u32, Word, bool)>,
    answers: usize,
    queue: VecDeque<Copy>,
    waiting: usize,
    /// The first one's pieces under way: the buffer, and where in its bytes it belongs.
    pieces: Vec<(usize, std::ops::Range<usize>)>,
    ended: VecDeque<Completion>,
}

impl Copies {
    /// Over a connection whose two ends can do this.
    pub fn new(channel: Channel) -> Copies {
        Copies {
            channel,
            mine: HashMap::new(),
            next: 0,
            theirs: HashMap::new(),
            gone: Vec::new(),
            outbox: VecDeque::with_capacity(WINDOW),
            answers: 0,
            queue: VecDeque::with_capacity(COPIES_MAX),
            waiting: 0,
            pieces: Vec::with_capacity(WINDOW),
            ended: VecDeque::with_capacity(COPIES_MAX),
        }
    }

    fn progress(&mut self) -> Result<()> {
        self.channel.progress()?;
        while let Some(slot) = self.channel.copied() {
            self.piece_done(slot);
        }
        // Who asks faster than it listens gets its credits back later. What else there is to say is
        // no reason: where both have much of it, both would wait for credits.
        while self.answers < WINDOW && self.hear()? {}
        while self.step()? {}
        // Only the first copy is under way.
        let used = self.queue.front().filter(|_| !self.pieces.is_empty()).map(|copy| copy.key);
        for key in self.gone.extract_if(.., |key| used != Some(*key)) {
            self.outbox.push_back((key, Word::Released, false));
        }
        while let Some((key, word, is_answer)) = self.outbox.front() {
            let bytes = word.write();
            let is_sent = self.channel.has_room()
                && self.channel.send(Kind::Region, *key, |piece| {
                    piece[..bytes.len()].copy_from_slice(&bytes);
                    bytes.len()
                })?;
            if !is_sent {
                break;
            }
            self.answers -= usize::from(*is_answer);
            self.outbox.pop_front();
        }
        Ok(())
    }

    /// Takes in what the peer says of a region.
    fn hear(&mut self) -> Result<bool> {
        let Some(piece) = self.channel.first() else { return Ok(false) };
        let key = piece.header.number;
        let word = match piece.header.kind {
            Kind::Region => Word::read(self.channel.body(piece)),
            _ => Err("it uses another strategy".to_owned()),
        };
        self.channel.release();
        match word.and_then(|word| self.understand(key, word)) {
            Ok(()) => Ok(true),
            Err(what) => Err(self.channel.malformed(what)),
        }
    }

    fn say(&mut self, key: u32, word: Word) {
        self.outbox.push_back((key, word, false));
    }

    /// Whether the peer has told of as many regions as it may. Those that we ask for are ours.
    fn has_all(&self) -> bool {
        let is_known = |theirs: &&Theirs| matches!(theirs, Theirs::Known { .. });
        self.theirs.len() >= REGIONS_MAX
            && self.theirs.values().filter(is_known).count() >= REGIONS_MAX
    }

    fn understand(&mut self, key: u32, word: Word) -> std::result::Result<(), String> {
        match word {
            Word::Region { place, size, rights } => {
                let known = Theirs::Known { place, size, rights };
                match self.theirs.get(&key) {
                    // It has told us of it, and then heard our question.
                    Some(theirs) if *theirs == known => return Ok(()),
                    Some(Theirs::Known { .. }) => {
                        return Err(format!("it says of region {key} that it is another one"));
                    }
                    _ if self.has_all() => {
                        return Err(format!("more than {REGIONS_MAX} regions"));
                    }
                    _ => self.theirs.insert(key, known),
                };
            }
            // Whoever uses it from now on asks again.
            Word::Gone if self.gone.len() + self.outbox.len() > 4 * REGIONS_MAX => {
                return Err("it takes regions back faster than it hears that they are".to_owned());
            }
            Word::Gone => match self.theirs.remove(&key) {
                Some(Theirs::Known { .. }) => self.gone.push(key),
                _ => return Err(format!("it takes region {key} back, which we do not have")),
            },
            // An older question may have been answered by a region that has gone since.
            Word::None => {
                if let Some(theirs @ Theirs::Asked) = self.theirs.get_mut(&key) {
                    *theirs = Theirs::Nothing;
                }
            }
            Word::Released => match self.mine.get(&key) {
                Some(mine) if mine.is_withdrawn => {
                    self.mine.remove(&key);
                    self.channel.endpoint().unregister(key);
                }
                _ => return Err(format!("it releases region {key}, which it may use")),
            },
            Word::Ask => {
                let mine = self.mine.get(&key).filter(|mine| !mine.is_withdrawn);
                self.outbox.push_back((key, mine.map_or(Word::None, |mine| mine.word), true));
                self.answers += 1;
            }
        }
        Ok(())
    }

    /// Gets the first copy on; true when that one has ended and the next can begin.
    fn step(&mut self) -> Result<bool> {
        let Some(copy) = self.queue.front_mut() else { return Ok(false) };
        let (key, end) = (copy.key, copy.bytes.len());
        if end > 0 && copy.done == end {
            self.end(Ok(()));
            return Ok(true);
        }
        let (place, size, rights) = match self.theirs.get(&key) {
            None => {
                self.theirs.insert(key, Theirs::Asked);
                self.say(key, Word::Ask);
                return Ok(false);
            }
            Some(Theirs::Asked) => return Ok(false),
            Some(Theirs::Known { place, size, rights }) => (*place, *size, *rights),
            Some(Theirs::Nothing) if !self.pieces.is_empty() => return Ok(false),
            Some(Theirs::Nothing) => {
                self.theirs.remove(&key);
                return self.refuse("there is no such region");
            }
        };
        if !(if copy.is_put { rights.write } else { rights.read }) {
            return self.refuse("its owner does not allow that");
        }
        if copy.offset.checked_add(end as u64).is_none_or(|end| end > size) {
            return self.refuse("it ends before");
        }
        if end == 0 {
            self.end(Ok(()));
            return Ok(true);
        }
        self.begin(place)?;
        Ok(false)
    }

    /// Has the provider copy as many pieces of the first copy as there are buffers.
    fn begin(&mut self, place: Place) -> Result<()> {
        let copy = self.queue.front_mut().expect("it was looked at");
        while copy.begun < copy.bytes.len() {
            let Some(slot) = self.channel.free_slot() else { break };
            let range = copy.begun..copy.bytes.len().min(copy.begun + SLOT);
            let endpoint = self.channel.endpoint();
            if copy.is_put {
                endpoint.buffer(slot)[..range.len()].copy_from_slice(&copy.bytes[range.clone()]);
            }
            let address = place.address.wrapping_add(copy.offset).wrapping_add(range.start as u64);
            let to = Place { address, ..place };
            match endpoint.copy(slot, range.len(), to, copy.is_put) {
                Ok(true) => {}
                Ok(false) => break,
                Err(failure) => {
                    let peer = self.channel.peer().name.clone();
                    return Err(Error::Dead { peer, evidence: failure.to_string() });
                }
            }
            copy.begun = range.end;
            self.pieces.push((slot, range));
        }
        Ok(())
    }

    fn piece_done(&mut self, slot: usize) {
        let at = self.pieces.iter().position(|(used, _)| *used == slot);
        let (_, range) = self.pieces.swap_remove(at.expect("it was begun"));
        let copy = self.queue.front_mut().expect("it has pieces");
        copy.done += range.len();
        if !copy.is_put {
            let bytes = &self.channel.endpoint().buffer(slot)[..range.len()];
            copy.bytes[range].copy_from_slice(bytes);
        }
    }

    /// Ends the first copy, when nothing of it is under way any more: its region may have become
    /// another one since it began.
    fn refuse(&mut self, why: &'static str) -> Result<bool> {
        if !self.pieces.is_empty() {
            return Ok(false);
        }
        let copy = self.queue.front().expect("it was looked at");
        let (key, offset, count) = (copy.key, copy.offset, copy.bytes.len());
        self.end(Err(Error::Access { key: Some(key), offset, count, why }));
        Ok(true)
    }

    fn end(&mut self, result: Result<()>) {
        let copy = self.queue.pop_front().expect("it was looked at");
        self.waiting -= copy.bytes.len();
        let bytes = if copy.is_put || result.is_err() { Vec::new() } else { copy.bytes };
        self.ended.push_back(Completion { token: copy.token, bytes, result });
    }

    fn enqueue(&mut self, count: usize, copy: impl FnOnce() -> Copy) -> Result<()> {
        if count > COPY_MAX {
            return Err(Error::TooLarge { what: "a copy", size: count, limit: COPY_MAX });
        }
        self.progress()?;
        if self.channel.has_ended() {
            return Err(self.channel.nothing());
        }
        if !self.has_room(count) {
            return Err(Error::WouldBlock);
        }
        self.waiting += count;
        self.queue.push_back(copy());
        self.progress()
    }

    /// Room for one more copy: what waits is limited, and so is what nobody has asked for.
    fn has_room(&self, count: usize) -> bool {
        self.queue.len() + self.ended.len() < COPIES_MAX
            && (self.queue.is_empty() || self.waiting + count <= 2 * COPY_MAX)
    }
}

impl Wait for Copies {
    fn peer(&self) -> &Peer {
        self.channel.peer()
    }

    fn me(&self) -> &str {
        self.channel.me()
    }

    fn wait(&mut self, ready: Ready, deadline: Deadline) -> Result<()> {
        let what = match ready {
            Ready::Receive => "the end of a put or get",
            Ready::Send => "room for a put or get",
        };
        let mut patience = self.channel.patience(deadline, what);
        loop {
            self.progress()?;
            let is_ready = match ready {
                Ready::Receive => !self.ended.is_empty(),
                Ready::Send => self.has_room(COPY_MAX),
            };
            if is_ready {
                return Ok(());
            }
            if self.channel.has_ended() {
                return Err(self.channel.nothing());
            }
            self.channel.pause(&mut patience)?;
        }
    }
}

impl RemoteCopy for Copies {
    fn expose(&mut self, region: &Region) -> Result<Key> {
        if self.mine.len() >= REGIONS_MAX {
            let source = rustix::io::Errno::NOBUFS.into();
            return Err(Error::Exhausted { what: "regions", source });
        }
        let key = self.next;
        let size = region.size();
        let place = match size {
            0 => Some(Place { key: 0, address: 0 }),
            _ => self
                .channel
                .endpoint()
                .register(key, region)
                .map_err(|failure| super::failed("exposing", failure))?,
        };
        let Some(place) = place else {
            let why = "its memory has no address in this process";
            return Err(Error::Access { key: Some(key), offset: 0, count: size, why });
        };
        self.next = self.next.wrapping_add(1);
        let word = Word::Region { place, size: size as u64, rights: region.rights() };
        self.mine.insert(key, Mine { word, is_withdrawn: false });
        self.say(key, word);
        self.progress()?;
        Ok(Key(key))
    }

    fn withdraw(&mut self, key: Key) -> Result<()> {
        if let Some(mine) = self.mine.get_mut(&key.0).filter(|mine| !mine.is_withdrawn) {
            mine.is_withdrawn = true;
            self.say(key.0, Word::Gone);
        }
        self.progress()
    }

    fn try_put(&mut self, key: Key, offset: u64, bytes: &[u8], token: u64) -> Result<()> {
        let (key, is_put, begun, done) = (key.0, true, 0, 0);
        let copy = || Copy { token, key, offset, is_put, bytes: bytes.to_vec(), begun, done };
        self.enqueue(bytes.len(), copy)
    }

    fn try_get(&mut self, key: Key, offset: u64, count: usize, token: u64) -> Result<()> {
        let (key, is_put, begun, done) = (key.0, false, 0, 0);
        let copy = || Copy { token, key, offset, is_put, bytes: vec![0; count], begun, done };
        self.enqueue(count, copy)
    }

    fn try_progress(&mut self) -> Result<Option<Completion>> {
        self.progress()?;
        match self.ended.pop_front() {
            Some(completion) => Ok(Some(completion)),
            None if self.channel.has_ended() => Err(self.channel.nothing()),
            None => Ok(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{copies, soon};
    use super::*;

    /// What is said of a region of this size.
    fn region(size: u64) -> Word {
        Word::Region { place: Place { key: 1, address: 0 }, size, rights: Rights::ALL }
    }

    #[test]
    fn a_region_that_becomes_another_one_is_malformed_and_one_told_of_twice_is_not() {
        let (mut liar, mut peer) = copies("tcp");
        [64, 64, 32].into_iter().for_each(|size| liar.say(5, region(size)));
        liar.progress().expect("connected");
        let error = peer.wait(Ready::Receive, soon()).expect_err("it lies");
        assert!(matches!(&error, Error::Malformed { what, .. } if what.contains("5")), "{error}");
        assert!(matches!(peer.theirs[&5], Theirs::Known { size: 64, .. }));
    }

    #[test]
    fn both_ends_tell_of_more_regions_than_there_are_credits_for() {
        let (mut one, mut other) = copies("tcp");
        // Neither has heard of any when the other has more to say than it has credits.
        let words = 3 * WINDOW as u32;
        for end in [&mut one, &mut other] {
            (0..words).for_each(|key| end.say(key, region(64)));
        }
        let deadline = soon();
        while [&one, &other].iter().any(|end| end.theirs.len() < words as usize) {
            assert!(deadline.left().is_some(), "they wait for each other");
            one.progress().expect("connected");
            other.progress().expect("connected");
        }
    }

    #[test]
    fn a_region_that_shrinks_under_a_copy_ends_it_with_an_error_and_not_before_its_pieces() {
        let (mut owner, mut peer) = copies("tcp");
        // More than can be under way at once.
        let size = 4 * WINDOW * SLOT;
        let memory = Region::new(size, Rights::ALL);
        let key = owner.expose(&memory).expect("exposed");
        while !peer.theirs.contains_key(&key.0) {
            peer.progress().expect("connected");
        }
        peer.try_get(key, 0, size, 7).expect("begun");
        assert!(!peer.pieces.is_empty(), "the owner has not answered");
        for word in [Word::Gone, region(1)] {
            peer.understand(key.0, word).expect("a new region of the old name");
        }
        let ended = loop {
            owner.progress().expect("connected");
            if let Some(ended) = peer.try_progress().expect("connected") {
                break ended;
            }
        };
        assert!(peer.pieces.is_empty(), "nothing of it is under way");
        assert!(ended.token == 7 && matches!(ended.result, Err(Error::Access { .. })));
    }
}
