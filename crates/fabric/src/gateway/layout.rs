//! A node's segment of one job, word by word, and how words are accessed.
//!
//! Everything is in words of eight bytes. Bodies of messages are words too, which others may write
//! while they are read, so no reference to the bytes is ever taken.

use super::{barrier, sys};
use crate::transport::shared::sys::Mapped;
use muster_base::limits::{
    BOARD_BYTES, BOARDS, GATEWAY_PIECE, GATEWAY_RANKS_MAX, GATEWAY_SLOTS, NEAR_CHUNK, NEAR_CHUNKS,
    NEAR_ENTRIES, NEAR_LINES,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering, compiler_fence, fence};

/// Words of a cache line.
pub(super) const LINE: usize = 8;

/// Words of a page, on which memory that nobody uses takes no room.
const PAGE: usize = 512;

/// Words of a piece's body: whole pages, which the kernel need not copy to send them.
const BODY: usize = GATEWAY_PIECE / 8;

/// Words that say which slots of a box are meant.
pub(super) const SETS: usize = GATEWAY_SLOTS / 64;

/// Words that say which ranks of a node are meant.
pub(super) const CALLS: usize = GATEWAY_RANKS_MAX / 64;

/// The shared memory, as the protocol sees it: tests stop its user at each access.
pub(super) trait Memory {
    /// Reads a word (acquire, and after own earlier [`Memory::fence`]).
    fn load(&self, at: usize) -> u64;
    /// Writes a word (release).
    fn store(&self, at: usize, value: u64);
    /// Writes a word (release), before own later reads as others see it after their
    /// [`Memory::barrier`].
    fn publish(&self, at: usize, value: u64);
    /// Writes a word if it is still `old`; whether it was.
    fn replace(&self, at: usize, old: u64, new: u64) -> bool;
    /// Writes zero, and returns what there was.
    fn take(&self, at: usize) -> u64;
    /// Writes a word if it is smaller.
    fn raise(&self, at: usize, value: u64);
    /// Adds one.
    fn count(&self, at: usize);
    /// Sets bits, before own later reads.
    fn set(&self, at: usize, bits: u64);
    /// Between own writes before and own reads after.
    fn fence(&self);
    /// The same, and between what others publish and what they read after (`barrier.rs`).
    fn barrier(&self);
    /// A word that is likely to be read soon.
    fn expect(&self, _at: usize) {}
    /// A word that is likely to be written soon.
    fn claim(&self, _at: usize) {}
    /// Of what was written there, the first one who reads it waits: it may be brought nearer.
    fn pass_on(&self, _at: usize, _bytes: usize) {}
    /// All words, where who has seen that a message is there may read it without this.
    fn bare(&self) -> Option<&[AtomicU64]> {
        None
    }
    /// Copies bytes out, from the beginning of a word on.
    fn read(&self, at: usize, bytes: &mut [u8]);
    /// Copies bytes in; what the rest of the last word is then is open.
    fn write(&self, at: usize, bytes: &[u8]);
    /// The same, and leaves them in no cache. `at` is the beginning of a cache line.
    fn stream(&self, at: usize, bytes: &[u8]);
}

impl Memory for Arc<Mapped> {
    #[inline]
    fn load(&self, at: usize) -> u64 {
        // Sequentially consistent is what it takes where `publish` is a fence; it costs no more.
        self.words()[at].load(Ordering::SeqCst)
    }

    #[inline]
    fn store(&self, at: usize, value: u64) {
        self.words()[at].store(value, Ordering::Release);
    }

    #[inline]
    fn publish(&self, at: usize, value: u64) {
        if barrier::is_registered() {
            self.words()[at].store(value, Ordering::Release);
            compiler_fence(Ordering::SeqCst);
        } else {
            self.words()[at].swap(value, Ordering::SeqCst);
        }
    }

    fn replace(&self, at: usize, old: u64, new: u64) -> bool {
        let word: &AtomicU64 = &self.words()[at];
        word.compare_exchange(old, new, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    fn take(&self, at: usize) -> u64 {
        self.words()[at].swap(0, Ordering::AcqRel)
    }

    fn raise(&self, at: usize, value: u64) {
        self.words()[at].fetch_max(value, Ordering::AcqRel);
    }

    fn count(&self, at: usize) {
        self.words()[at].fetch_add(1, Ordering::AcqRel);
    }

    fn set(&self, at: usize, bits: u64) {
        self.words()[at].fetch_or(bits, Ordering::SeqCst);
    }

    fn fence(&self) {
        fence(Ordering::SeqCst);
    }

    fn barrier(&self) {
        barrier::all();
    }

    #[inline]
    fn expect(&self, at: usize) {
        sys::prefetch(&self.words()[at]);
    }

    #[inline]
    fn claim(&self, at: usize) {
        sys::prefetch_to_write(&self.words()[at]);
    }

    #[inline]
    fn pass_on(&self, at: usize, bytes: usize) {
        sys::demote(&self.words()[at..], bytes);
    }

    #[inline]
    fn bare(&self) -> Option<&[AtomicU64]> {
        Some(self.words())
    }

    fn read(&self, at: usize, bytes: &mut [u8]) {
        copy_out(&self.words()[at..], bytes);
    }

    #[inline]
    fn write(&self, at: usize, bytes: &[u8]) {
        copy_in(&self.words()[at..], bytes);
    }

    fn stream(&self, at: usize, bytes: &[u8]) {
        sys::stream_in(&self.words()[at..], bytes);
    }
}

/// What is shorter than that is copied word by word, which takes less than a call.
const SHORT: usize = 64;

/// Copies bytes out of words. The caller has seen that they are there (acquire).
#[inline(always)]
pub(super) fn copy_out(words: &[AtomicU64], bytes: &mut [u8]) {
    if bytes.len() >= SHORT {
        return sys::copy_out(words, bytes);
    }
    let (whole, odd) = bytes.as_chunks_mut::<8>();
    for (from, to) in words.iter().zip(&mut *whole) {
        *to = from.load(Ordering::Relaxed).to_ne_bytes();
    }
    if !odd.is_empty() {
        let last = words[whole.len()].load(Ordering::Relaxed).to_ne_bytes();
        odd.iter_mut().zip(last).for_each(|(to, from)| *to = from);
    }
}

/// Copies bytes into words; the caller then says that they are there (release).
#[inline]
fn copy_in(words: &[AtomicU64], bytes: &[u8]) {
    if bytes.len() >= SHORT {
        return sys::copy_in(words, bytes);
    }
    let (whole, odd) = bytes.as_chunks::<8>();
    for (to, from) in words.iter().zip(whole) {
        to.store(u64::from_ne_bytes(*from), Ordering::Relaxed);
    }
    if !odd.is_empty() {
        let last = odd.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
        words[whole.len()].store(u64::from_le(last), Ordering::Relaxed);
    }
}

/// Where everything is. A job's shape is known when it starts, so this is the same in all processes
/// of the node; nobody reads it from the segment.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    /// Which node this is.
    pub(super) node: usize,
    /// How many ranks each node has.
    pub(super) ranks: Vec<u16>,
    /// Where the words of each node's endpoint begin.
    endpoints: Vec<usize>,
    /// Where the ranks' boxes begin.
    boxes: usize,
    /// Where the boards begin.
    boards: usize,
    /// Where the rings between the ranks here begin: first what their receivers write.
    about: usize,
    /// Then what the senders write.
    rings: usize,
    /// Where the ranks' chunks begin.
    chunks: usize,
    /// All of it.
    pub(super) words: usize,
}

/// The words of an endpoint.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Endpoint {
    /// The connection's epoch while there is one; see `endpoint.rs`.
    Link = 0,
    /// Who sleeps on the socket: its process plus one.
    Sentinel = 1,
    /// Who sends at the moment.
    Sending = 8,
    /// Frames that were sent, with the epoch: each has a number.
    Sealed = 9,
    /// Who receives at the moment.
    Receiving = 16,
    /// Bytes that were brought and still stand in the socket, with the epoch.
    Consumed = 17,
    /// Sealed frames that were brought, with the epoch.
    Opened = 18,
    /// How often ranks there have asked to be sent again what they had no room for.
    Kicks = 24,
    /// Up to which of these was seen to, with the epoch.
    Kicked = 25,
    /// Bits of the ranks there that have ended.
    Gone = 32,
}

const ENDPOINT: usize = 40;

/// The words of an endpoint for each rank here.
#[derive(Clone, Copy)]
pub(super) enum Local {
    /// How often the rank had something to send there.
    Posts = 0,
    /// Up to which of these was seen to, with the epoch.
    Seen = 1,
    /// Which grant the rank owes the node there, with the epoch; see `boxes.rs`.
    Owed = 2,
    /// The epoch in which the node there was told of the rank's end.
    Told = 3,
}

const LOCALS: usize = 4;

/// The words of a rank here and a rank there.
#[derive(Clone, Copy)]
pub(super) enum Pair {
    /// Pieces sent (by the rank here).
    Posted = 0,
    /// Of these, how many the rank there has taken.
    Acknowledged = 1,
    /// Pieces taken (by the rank here).
    Taken = 2,
    /// Of these, how many the rank there was told of, with the epoch; see `send.rs`.
    Told = 3,
    /// Pieces that the rank there has sent in all, once its node says so: it has ended.
    Last = 4,
}

const PAIRS: usize = 5;

/// The words of a process: a rank, or the daemon behind the last.
#[derive(Clone, Copy)]
pub(super) enum Process {
    /// A rank: not 0 when it is about to sleep, see [`Sleep`].
    Asleep = 0,
    /// 1 when it has ended.
    Ended = 1,
    /// The daemon: 1 where the machine has fewer processors than ranks of the job. A rank of such
    /// a job: one more than the number of the processor it runs on, as it has said (`crowd.rs`).
    Crowd = 2,
    /// 1 when the rank says that it waits ([`super::Rank::say_waits`]).
    Waits = 3,
    /// Bits of the ranks here whose rings the rank is to look at, set by those, taken by itself.
    Called = 4,
}

/// The words of a ring between two ranks here that the receiver writes.
#[derive(Clone, Copy)]
pub(super) enum About {
    /// Entries and lines that it has freed.
    Freed = 0,
    /// 1 when it looks at the ring without being called.
    Watched = 1,
    /// 1 when what the sender's cache holds comes slowly.
    Slow = 2,
}

/// What one who sleeps is woken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sleep {
    /// It is awake.
    No = 0,
    /// Whatever comes.
    News = 1,
    /// That as well as room in the ring to a rank here.
    Room = 2,
}

/// The words of a rank's boxes.
#[derive(Clone, Copy)]
pub(super) enum Boxes {
    /// Bits of inbound slots that were filled (set by who does, taken by the rank).
    Arrived = 0,
    /// 1 when a piece was dropped for want of room.
    Dropped = 8,
    /// How often the rank has made room after that.
    Wanted = 16,
    /// Bits of outbound slots that are used.
    Used = 17,
    /// States of inbound slots.
    States = 24,
}

/// Where the headers begin, a line each, and then the bodies: first of what comes, then of what
/// goes.
const HEADERS_AT: usize = 24 + GATEWAY_SLOTS.next_multiple_of(LINE);
const BODIES_AT: usize = (HEADERS_AT + 2 * GATEWAY_SLOTS * LINE).next_multiple_of(PAGE);
const BOX: usize = BODIES_AT + 2 * GATEWAY_SLOTS * BODY;

/// The words of a slot's header.
#[derive(Clone, Copy)]
pub(super) enum Slot {
    /// Outbound: how many pieces the rank had posted before it and itself; 0 while it changes.
    Stamp = 0,
    /// Node and rank that it is for, or from.
    Place = 1,
    /// Its number among the pieces of these two ranks.
    Number = 2,
    /// Bytes.
    Size = 3,
    /// Bytes of the whole message.
    Total = 4,
    /// Where in the message it begins.
    Offset = 5,
    /// Outbound: with which epoch and grant it was sent.
    Mark = 6,
}

const _: () =
    assert!(Boxes::Used as usize + SETS <= Boxes::States as usize && BODY.is_multiple_of(PAGE));

/// Words of the ring from one rank here to another: entries, then the lines of what is longer.
const RING: usize = (NEAR_ENTRIES + NEAR_LINES) * LINE;

const _: () = assert!(RING.is_multiple_of(PAGE) && Process::Called as usize + CALLS <= LINE);

/// Where such a ring begins.
#[derive(Clone, Copy)]
pub(super) struct Ring(usize);

impl Ring {
    /// The line of an entry.
    #[inline]
    pub(super) fn entry(self, entry: usize) -> usize {
        self.0 + entry * LINE
    }

    /// One of the other lines.
    #[inline]
    pub(super) fn line(self, line: usize) -> usize {
        self.entry(NEAR_ENTRIES + line)
    }
}

/// Words of a chunk.
const CHUNK: usize = NEAR_CHUNK / 8;

/// Words of a place on a board: the flag, then the bytes.
const SPOT: usize = 1 + BOARD_BYTES / 8;

/// Words that a rank has on a board: two places, and the line in which it says what it has taken.
const SHOWN: usize = 2 * SPOT + LINE;

const _: () = assert!(SPOT.is_multiple_of(LINE));

impl Layout {
    /// The layout of node `node` of a job that has so many ranks on each node.
    pub(super) fn new(node: usize, ranks: &[u16]) -> Layout {
        let here = usize::from(ranks[node]);
        let mut words = (here + 1) * LINE;
        let mut endpoints = Vec::with_capacity(ranks.len());
        for there in ranks {
            let there = usize::from(*there);
            endpoints.push(words);
            words +=
                (ENDPOINT + here * LOCALS + there + here * there * PAIRS).next_multiple_of(LINE);
        }
        let boxes = words.next_multiple_of(PAGE);
        let boards = boxes + here * BOX;
        let about = (boards + BOARDS * here * SHOWN).next_multiple_of(PAGE);
        let rings = (about + here * here * LINE).next_multiple_of(PAGE);
        let chunks = rings + here * here * RING;
        let words = chunks + here * NEAR_CHUNKS * CHUNK;
        let ranks = ranks.to_vec();
        Layout { node, ranks, endpoints, boxes, boards, about, rings, chunks, words }
    }

    /// Ranks here.
    pub(super) fn here(&self) -> usize {
        usize::from(self.ranks[self.node])
    }

    /// Ranks of a node.
    pub(super) fn there(&self, node: usize) -> usize {
        usize::from(self.ranks[node])
    }

    /// Whether this is one of the other nodes: what users call a node may be none.
    pub(super) fn is_peer(&self, node: u32) -> bool {
        (node as usize) < self.ranks.len() && node as usize != self.node
    }

    /// All other nodes.
    pub(super) fn peers(&self) -> impl Iterator<Item = usize> + use<> {
        let own = self.node;
        (0..self.ranks.len()).filter(move |node| *node != own)
    }

    pub(super) fn process(&self, process: usize, word: Process) -> usize {
        process * LINE + word as usize
    }

    pub(super) fn endpoint(&self, node: usize, word: Endpoint) -> usize {
        self.endpoints[node] + word as usize
    }

    pub(super) fn local(&self, node: usize, here: usize, word: Local) -> usize {
        self.endpoints[node] + ENDPOINT + here * LOCALS + word as usize
    }

    /// Which grant a rank there has given: see `boxes.rs`.
    pub(super) fn grant(&self, node: usize, there: usize) -> usize {
        self.endpoints[node] + ENDPOINT + self.here() * LOCALS + there
    }

    pub(super) fn pair(&self, node: usize, here: usize, there: usize, word: Pair) -> usize {
        let pair = here * self.there(node) + there;
        self.grant(node, self.there(node)) + pair * PAIRS + word as usize
    }

    pub(super) fn of(&self, rank: usize, word: Boxes) -> usize {
        self.boxes + rank * BOX + word as usize
    }

    pub(super) fn inbound(&self, rank: usize, slot: usize, word: Slot) -> usize {
        self.boxes + rank * BOX + HEADERS_AT + slot * LINE + word as usize
    }

    pub(super) fn inbound_body(&self, rank: usize, slot: usize) -> usize {
        self.boxes + rank * BOX + BODIES_AT + slot * BODY
    }

    pub(super) fn outbound(&self, rank: usize, slot: usize, word: Slot) -> usize {
        self.inbound(rank, GATEWAY_SLOTS + slot, word)
    }

    pub(super) fn outbound_body(&self, rank: usize, slot: usize) -> usize {
        self.inbound_body(rank, GATEWAY_SLOTS + slot)
    }

    /// The place of a rank on a board where it shows what has that number.
    pub(super) fn spot(&self, rank: usize, board: usize, number: u32) -> usize {
        self.boards + (board * self.here() + rank) * SHOWN + number as usize % 2 * SPOT
    }

    /// The word in which a rank says up to which number it has taken what the others show there.
    pub(super) fn left(&self, rank: usize, board: usize) -> usize {
        self.spot(rank, board, 0) + 2 * SPOT
    }

    /// A word of rank `to` about the ring from rank `from`: a line of its own.
    pub(super) fn about(&self, from: usize, to: usize, word: About) -> usize {
        self.about + (to * self.here() + from) * LINE + word as usize
    }

    /// The ring from one rank here to another.
    pub(super) fn ring(&self, from: usize, to: usize) -> Ring {
        Ring(self.rings + (to * self.here() + from) * RING)
    }

    /// A chunk of a rank here, for pieces for others.
    pub(super) fn chunk(&self, from: usize, chunk: usize) -> usize {
        self.chunks + (from * NEAR_CHUNKS + chunk) * CHUNK
    }
}
