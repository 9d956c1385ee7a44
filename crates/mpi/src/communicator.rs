//! Communicators (MPI-5.0, chapter 7).
//!
//! *Contexts.* Messages of a communicator are kept apart by its context, a number of 48 bits. Ranks
//! do not agree on it by messages: a new communicator's is a hash of its parent's, of how many the
//! parent had before, which all members count alike, and of what tells apart those that are made at
//! once. For two of a thousand communicators to get the same the chance is seven in a billion; a
//! process that has two such refuses the second.

use crate::collective::Shape;
use crate::group::Group;
use muster_message::ASIDE;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

/// The context of `MPI_COMM_WORLD`, and of `MPI_COMM_SELF`.
const WORLD: u64 = 4;
const SELF: u64 = 8;

/// A collective's tag: which of its communicator it is, in these bits, and above them its family.
/// The sign is for those that are kept to be started again and again: their tags stay in use while
/// the count of the others comes round.
const COUNTED: u32 = (1 << 24) - 1;
const FAMILIES: u8 = (1 << 7) - 1;

/// The family of the library's own collectives.
pub const OWN: u8 = 0;
/// The family of the last collective, in `MPI_Finalize`.
pub const LAST: u8 = FAMILIES;

/// The tag of a collective of a family, which is that of so many of its communicator.
fn tag_of(family: u8, count: u32) -> i32 {
    let tag = count & COUNTED | u32::from(family & FAMILIES) << COUNTED.count_ones();
    tag.cast_signed()
}

/// The context in which the library itself speaks, before and behind the program.
pub const LIBRARY: u64 = 12 | ASIDE;

/// Contexts have 48 bits, and the last two are none: they are for collectives, and for [`ASIDE`].
const CONTEXTS: u64 = ((1 << 48) - 1) & !(COLLECTIVES | ASIDE);
const COLLECTIVES: u64 = 1;

/// A communicator, as each of its members has it.
pub struct Communicator {
    context: u64,
    group: Group,
    /// The other group of an intercommunicator.
    remote: Option<Group>,
    /// This process's rank in the group.
    rank: u32,
    /// Communicators made of it so far by all members, and collectives.
    children: AtomicU32,
    collectives: AtomicU32,
    /// Collectives of it that are kept.
    kept: AtomicU32,
    /// Channels of partitioned messages that this process has made of it.
    channels: AtomicU32,
    /// Communicators made by some of its members, by who they are.
    parties: Mutex<HashMap<u64, u32>>,
}

/// Mixes a number into a hash (the finalizer of `MurmurHash3`, whose bits all depend on all).
fn mix(hash: u64, number: u64) -> u64 {
    let mut mixed = hash.rotate_left(23) ^ number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ mixed >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
    mixed = (mixed ^ mixed >> 33).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    mixed ^ mixed >> 33
}

/// How some processes make a communicator without the others. Each way has a count of its own:
/// threads may call them in different orders with the same tag.
#[derive(Clone, Copy, Debug)]
pub enum Party {
    /// `MPI_Comm_create_group`.
    Group = 2,
    /// The leaders of `MPI_Intercomm_create`, and of `MPI_Intercomm_create_from_groups`.
    Leaders = 6,
    /// `MPI_Comm_create_from_group`.
    Session = 7,
}

/// The context in which the ranks of a window get answers to what they ask for in its own.
pub fn answers_to(context: u64) -> u64 {
    mix(context, 5) & CONTEXTS
}

impl Communicator {
    fn new(context: u64, group: Group, remote: Option<Group>, rank: u32) -> Communicator {
        let [children, collectives, kept, channels] = [0; 4].map(AtomicU32::new);
        let parties = Mutex::default();
        Communicator {
            context,
            group,
            remote,
            rank,
            children,
            collectives,
            kept,
            channels,
            parties,
        }
    }

    /// All processes of the job.
    pub fn world(rank: u32, size: u32) -> Communicator {
        Communicator::new(WORLD, Group::all(size), None, rank)
    }

    /// A process alone.
    pub fn of_self(rank: u32) -> Communicator {
        Communicator::new(SELF, Group::of_one(rank), None, 0)
    }

    /// The context of the next communicator that all members make; `part` tells those apart that
    /// are made at once.
    pub fn next_context(&self, part: u64) -> u64 {
        let child = self.children.fetch_add(1, Ordering::Relaxed);
        mix(mix(mix(self.context, 1), child.into()), part) & CONTEXTS
    }

    /// The context of the next communicator that only the members of a group make in this way, with
    /// a label: a tag, or the hash of a text.
    pub fn next_party(&self, group: &Group, way: Party, label: u64) -> u64 {
        let members = (0..group.size()).map(|rank| u64::from(group.world(rank)));
        let who = members.fold(mix(self.context, way as u64), mix);
        let who = mix(who, label);
        let mut parties = self.parties.lock().unwrap_or_else(PoisonError::into_inner);
        let count = parties.entry(who).or_default();
        *count += 1;
        mix(who, (*count).into()) & CONTEXTS
    }

    /// The context in which channels of partitioned messages are offered.
    pub fn offers(&self) -> u64 {
        mix(self.context, 3) & CONTEXTS
    }

    /// The context of the next channel that this process makes.
    pub fn next_channel(&self) -> u64 {
        let channel = self.channels.fetch_add(1, Ordering::Relaxed);
        let me = self.group.world(self.rank);
        mix(mix(mix(self.context, 4), me.into()), channel.into()) & CONTEXTS
    }

    /// A communicator of such a context; none where this process is not of the group.
    pub fn with(&self, context: u64, group: Group, remote: Option<Group>) -> Option<Communicator> {
        let me = self.group.world(self.rank);
        let rank = group.rank_of(me)?;
        Some(Communicator::new(context, group, remote, rank))
    }

    /// The context of its point-to-point messages.
    pub fn context(&self) -> u64 {
        self.context
    }

    /// This process's rank.
    pub fn rank(&self) -> u32 {
        self.rank
    }

    /// How many processes its group has: this process's.
    pub fn size(&self) -> u32 {
        self.group.size()
    }

    /// Its group.
    pub fn group(&self) -> &Group {
        &self.group
    }

    /// The other group of an intercommunicator.
    pub fn remote(&self) -> Option<&Group> {
        self.remote.as_ref()
    }

    /// Those that ranks in calls mean: the other group, where there is one.
    pub fn peers(&self) -> &Group {
        self.remote.as_ref().unwrap_or(&self.group)
    }

    /// The communicator's context, of that of any of its messages.
    pub fn of_message(context: u64) -> u64 {
        context & CONTEXTS
    }

    /// How the next collective sees it. Those of different families take no message of each other,
    /// so ranks that call different ones wait for ever, which is noticed and told.
    pub fn next_collective(&self, family: u8) -> Shape {
        self.collective(self.next_tag(family))
    }

    /// How the next one sees it that is kept. None that ends takes its messages.
    pub fn next_kept(&self, family: u8) -> Shape {
        let count = self.kept.fetch_add(1, Ordering::Relaxed);
        self.collective(tag_of(family, count) | i32::MIN)
    }

    /// The one behind which its ranks end. They need not have called as many before: who has called
    /// one for nothing, a broadcast as its root, comes to its end all the same.
    pub fn last_collective(&self) -> Shape {
        self.collective(tag_of(LAST, 0))
    }

    fn collective(&self, tag: i32) -> Shape {
        Shape {
            context: self.collectives(),
            tag,
            rank: self.rank,
            size: self.size(),
            group: self.group.clone(),
            remote: self.remote.clone(),
        }
    }

    /// The tag of the next collective's messages. No two threads ask for one at once: that is for
    /// the program to see to (MPI-5.0, section 6.14).
    #[inline]
    pub fn next_tag(&self, family: u8) -> i32 {
        let count = self.collectives.load(Ordering::Relaxed);
        self.collectives.store(count.wrapping_add(1), Ordering::Relaxed);
        tag_of(family, count)
    }

    /// The context of its collectives' messages.
    pub(crate) fn collectives(&self) -> u64 {
        self.context | COLLECTIVES
    }
}

/// The ranks of one colour of a split, in the order of their keys, and of equal keys in the order
/// of the old ranks. `all` has colour and key of each rank.
pub fn of_colour(all: &[(i32, i32)], colour: i32) -> Vec<u32> {
    let mut members: Vec<(i32, u32)> =
        (0..).zip(all).filter(|(_, of)| of.0 == colour).map(|(rank, of)| (of.1, rank)).collect();
    members.sort_unstable();
    members.into_iter().map(|(_, rank)| rank).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_collective_that_is_kept_has_a_tag_that_no_other_of_its_communicator_ever_has() {
        let comm = Communicator::world(0, 2);
        let [one, other] = [comm.next_kept(8).tag, comm.next_kept(8).tag];
        assert_ne!(one, other);
        let all = [1, 2].map(|round| {
            comm.collectives.store(round * (COUNTED + 1), Ordering::Relaxed);
            [comm.next_tag(8), comm.next_tag(8)]
        });
        assert_eq!(all[0], all[1], "the count has come round");
        assert!(all[0].iter().all(|tag| ![one, other].contains(tag)));
    }

    #[test]
    fn who_makes_communicators_in_different_ways_may_do_so_in_any_order() {
        let ranks = [0, 1].map(|rank| Communicator::world(2, rank));
        let (both, other) = (Group::of(vec![0, 1]).unwrap(), Group::of_one(0));
        let ways = [(Party::Group, 0), (Party::Leaders, 0), (Party::Session, 0), (Party::Group, 1)];
        let next = |rank: usize, (way, label)| ranks[rank].next_party(&both, way, label);
        let first = ways.map(|way| next(0, way));
        let mut second = ways;
        second.reverse();
        let mut second = second.map(|way| next(1, way));
        second.reverse();
        assert_eq!(first, second);
        let again = ways.map(|way| next(0, way));
        let all = [first, again].concat();
        let mut different = all.clone();
        different.push(ranks[0].next_party(&other, Party::Group, 0));
        different.sort_unstable();
        different.dedup();
        assert_eq!(different.len(), all.len() + 1);
    }
}
