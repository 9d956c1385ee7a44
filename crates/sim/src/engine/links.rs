//! Connections between nodes, as a protocol's shell sees them.
//!
//! Two nodes have at most one connection at a time; the next has a higher number. Each end learns
//! for itself, and later than the other, that it has ended: until then it goes on sending in vain,
//! and takes what was on its way. The end that learns it first may open the next, and the other
//! then learns of the end of the old by that. Only nodes that talk have a link.

use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasherDefault, Hasher};

/// A number of a connection; 0 is none.
pub type Epoch = u32;

/// The connections of two nodes, one after the other. As large as a line of the cache.
#[derive(Debug, Default)]
#[repr(align(64))]
pub struct Link {
    /// The last connection that was opened.
    epoch: Epoch,
    /// The last that this end knew of.
    known: [Epoch; 2],
    /// The last that this end knows to have ended.
    ended: [Epoch; 2],
    /// The last that has ended, whether known or not.
    broken: Epoch,
    /// The last on which something that was sent is lost.
    void: Epoch,
    /// When the last message towards the other end arrives, by lanes.
    last: [[u64; 2]; 2],
}

/// What an end makes of a message that arrives.
#[derive(Debug, PartialEq, Eq)]
pub enum Arrival {
    /// Its connection is over.
    Void,
    /// It belongs to the connection known.
    Known,
    /// It is the first of a connection; with it the end of the one before is known.
    Next,
    /// It is the first of a connection, and no other was open.
    First,
}

impl Link {
    /// The other one's index.
    pub fn other(end: usize) -> usize {
        1 - end
    }

    /// The connection on which an end sends; one is opened if it knows of none.
    pub fn send(&mut self, end: usize) -> Epoch {
        if self.known[end] <= self.ended[end] {
            if self.epoch <= self.broken.max(self.ended[0]).max(self.ended[1]) {
                self.epoch += 1;
            }
            self.known[end] = self.epoch;
        }
        self.known[end]
    }

    /// When a message that could be there at `time` is, so that none overtakes another.
    pub fn queue(&mut self, end: usize, lane: usize, time: u64) -> u64 {
        let last = &mut self.last[end][lane];
        *last = time.max(*last);
        *last
    }

    /// A message of a connection has come to an end.
    pub fn arrive(&mut self, end: usize, epoch: Epoch) -> Arrival {
        if epoch <= self.ended[end] || epoch <= self.void || epoch < self.known[end] {
            return Arrival::Void;
        }
        if epoch == self.known[end] {
            return Arrival::Known;
        }
        let had = self.known[end] > self.ended[end];
        self.ended[end] = self.ended[end].max(self.known[end]);
        self.known[end] = epoch;
        if had { Arrival::Next } else { Arrival::First }
    }

    /// The connection that an end believes to have.
    pub fn open(&self, end: usize) -> Option<Epoch> {
        Some(self.known[end]).filter(|known| *known > self.ended[end])
    }

    /// The last connection, if an end does not know that it has ended. It may not even know of it:
    /// what opens it here may be on its way.
    pub fn untold(&self, end: usize) -> Option<Epoch> {
        Some(self.epoch).filter(|epoch| *epoch > self.ended[end])
    }

    /// Ends what is open, unknown to both.
    pub fn sever(&mut self) {
        self.broken = self.epoch;
    }

    /// As [`Link::sever`], and nothing that is on its way arrives.
    pub fn void(&mut self) {
        self.sever();
        self.void = self.epoch;
    }

    /// An end learns that a connection and those before it have ended: true if it had one of them.
    pub fn learn(&mut self, end: usize, epoch: Epoch) -> bool {
        let new = self.open(end).is_some_and(|open| open <= epoch);
        self.ended[end] = self.ended[end].max(epoch);
        self.broken = self.broken.max(epoch);
        new
    }

    /// A node begins a new life and knows nothing of what was.
    pub fn forget(&mut self, end: usize) {
        self.ended[end] = self.epoch;
        self.broken = self.epoch;
    }
}

/// Mixes a number that few would choose with care.
#[derive(Default)]
pub struct Mix(u64);

impl Hasher for Mix {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0 ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(26);
    }
}

/// All links.
#[derive(Default)]
pub struct Links {
    by_ends: HashMap<u64, u32, BuildHasherDefault<Mix>>,
    links: Vec<Link>,
    ends: Vec<[u32; 2]>,
    /// What waits for a cut to heal, by links and in the order of its coming: which hold it is, and
    /// numbers of flights.
    held: BTreeMap<u32, (u32, Vec<u32>)>,
    /// How many holds there were.
    holds: u32,
}

impl Links {
    /// The link of two nodes and the first one's end of it; true if it is new.
    pub fn between(&mut self, from: u32, to: u32) -> (u32, usize, bool) {
        let (low, high) = (from.min(to), from.max(to));
        let key = u64::from(low) << 32 | u64::from(high);
        let end = usize::from(from > to);
        let next = self.links.len() as u32;
        let number = *self.by_ends.entry(key).or_insert(next);
        if number == next {
            self.links.push(Link::default());
            self.ends.push([low, high]);
        }
        (number, end, number == next)
    }

    /// The two nodes, the lower number first.
    pub fn ends(&self, link: u32) -> [u32; 2] {
        self.ends[link as usize]
    }

    /// Holds a message back; the number of the hold if this is its first.
    pub fn hold(&mut self, link: u32, flight: u32) -> Option<u32> {
        let (hold, held) = self.held.entry(link).or_default();
        held.push(flight);
        if held.len() > 1 {
            return None;
        }
        self.holds += 1;
        *hold = self.holds;
        Some(*hold)
    }

    /// Whether a hold of a link goes on.
    pub fn holds(&self, link: u32, hold: u32) -> bool {
        self.held.get(&link).is_some_and(|(of, _)| *of == hold)
    }

    /// The links on which something is held back.
    pub fn held(&self) -> impl Iterator<Item = u32> {
        self.held.keys().copied()
    }

    /// What is held back on a link, and no longer is.
    pub fn release(&mut self, link: u32) -> Vec<u32> {
        self.held.remove(&link).unwrap_or_default().1
    }

    /// How many there are.
    #[cfg(test)]
    pub fn len(&self) -> u32 {
        self.links.len() as u32
    }
}

impl std::ops::Index<u32> for Links {
    type Output = Link;

    fn index(&self, number: u32) -> &Link {
        &self.links[number as usize]
    }
}

impl std::ops::IndexMut<u32> for Links {
    fn index_mut(&mut self, number: u32) -> &mut Link {
        &mut self.links[number as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_end_learns_for_itself_and_the_next_connection_tells_of_the_last() {
        let mut links = Links::default();
        let (number, a, new) = links.between(7, 3);
        assert!(new && a == 1);
        let b = Link::other(a);
        let link = &mut links[number];
        let first = link.send(a);
        assert_eq!(link.arrive(b, first), Arrival::First);
        assert_eq!((link.send(b), link.arrive(a, first)), (first, Arrival::Known));
        link.sever();
        assert_eq!(link.send(a), first, "it does not know yet");
        assert!(link.learn(a, first) && !link.learn(a, first));
        assert_eq!(link.arrive(b, first), Arrival::Known, "it was on its way");
        assert_eq!(link.arrive(a, first), Arrival::Void, "its receiver knows");
        let second = link.send(a);
        assert!(second > first);
        assert_eq!(link.arrive(b, second), Arrival::Next);
        assert!(!link.learn(b, first));
        assert_eq!(link.arrive(b, first), Arrival::Void);
        assert_eq!(link.send(b), second);
        link.forget(a);
        assert_eq!(link.arrive(a, second), Arrival::Void, "that was another life");
        assert_eq!(links.between(3, 7), (number, b, false));
    }

    #[test]
    fn the_end_of_a_connection_may_come_before_what_opens_it() {
        let mut links = Links::default();
        let (number, a, _) = links.between(0, 1);
        let (b, link) = (Link::other(a), &mut links[number]);
        let first = link.send(a);
        link.sever();
        assert_eq!((link.open(b), link.untold(b)), (None, Some(first)));
        assert!(!link.learn(b, first) && link.learn(a, first));
        assert_eq!(link.arrive(b, first), Arrival::Void, "nobody would tell it the end again");
        assert_eq!([a, b].map(|end| link.untold(end)), [None, None]);
        // It has the one before.
        let second = link.send(b);
        assert_eq!(link.arrive(a, second), Arrival::First);
        link.sever();
        assert!(link.learn(a, second));
        let third = link.send(a);
        assert!(link.learn(b, third), "it had the second");
    }

    #[test]
    fn messages_of_a_lane_do_not_overtake_and_lanes_do() {
        let mut links = Links::default();
        let (number, end, _) = links.between(0, 1);
        let link = &mut links[number];
        assert_eq!(link.queue(end, 0, 50), 50);
        assert_eq!(link.queue(end, 0, 20), 50);
        assert_eq!(link.queue(end, 1, 20), 20);
        assert_eq!(link.queue(Link::other(end), 0, 20), 20);
    }
}
