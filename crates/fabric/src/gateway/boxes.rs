//! A rank's boxes: slots for the pieces of messages on their way out, and on their way in.
//!
//! *Out.* Only the rank writes its slots. A piece stays in its slot until the other rank has taken
//! it, or is gone; so whatever happens to a connection, it can be sent again. Who reads a slot's
//! header looks at its stamp before and after: if it has changed, the piece was taken and is not
//! needed (`send.rs`).
//!
//! *In.* A slot is free, claimed by a process, or full, and its state has a generation. Who brings
//! a piece claims a free slot by compare-and-swap, fills it, and says so; for a long frame as many
//! as it has pieces. A process that is stopped in between keeps what it has claimed, and nobody
//! else writes into it; when it is dead, it is freed ([`Core::reap`]). So a slot is never written
//! by two. The rank takes pieces in the order of their numbers, and ignores what it has taken
//! before: it does not matter how often a piece is brought, or by whom.
//!
//! *No room.* Who finds no free slot waits a little, with the bytes left in the socket, then drops
//! the piece, so that other ranks' pieces get past. The rank then owes a *grant*: when it has room
//! again, that node sends again all that was not taken. A grant is owed before the last look for
//! room, and the rank looks whether it owes one after it has made some, so one of the two sees the
//! other.
//!
//! *Garbage.* Whoever brings a piece has seen that it can be one. What is found in a slot and
//! cannot be was written there by another, and is an error of the rank, which then has the slot
//! free: the piece itself was not taken, and may come again.

use super::bytes::{Bytes, Parts};
use super::endpoint::{Core, Loss};
use super::frame::Frame;
use super::garbage::Garbage;
use super::layout::{Boxes, Endpoint, Local, Memory, Pair, Process, SETS, Slot};
use super::{Piece, Place};
use muster_base::limits::{GATEWAY_PIECE, GATEWAY_SLOTS, GATEWAY_WINDOW};

/// A slot's state: its generation, and below it who claimed it, or one of these.
const STATE: u64 = 0xffff;
const FREE: u64 = 0;
const FULL: u64 = STATE;

/// What the mark of a piece that was never sent has, beside its stamp: no epoch has it.
const UNSENT: u64 = 1 << 63;

/// Pieces that came before those that they follow: beyond so many they are given up, so that there
/// is room for what they wait for.
const EARLY_MAX: usize = GATEWAY_SLOTS / 2;

/// A place in one word.
fn word(node: usize, rank: usize) -> u64 {
    (node as u64) << 16 | rank as u64
}

/// Node and rank of a word.
pub(super) fn place(word: u64) -> (usize, usize) {
    (usize::try_from(word >> 16).unwrap_or(usize::MAX), (word & 0xffff) as usize)
}

/// A slot that a process may fill, and its state before and now.
pub(super) struct Claim {
    pub(super) slot: usize,
    free: u64,
    claimed: u64,
}

impl<M: Memory> Core<M> {
    /// Brings a piece to a rank here; false where it has no room.
    pub(super) fn put(&self, node: usize, frame: &Frame, body: &[u8]) -> bool {
        let to = usize::from(frame.to);
        let Some(claim) = self.free_slots(to).next() else { return false };
        self.memory.write(self.layout.inbound_body(to, claim.slot), body);
        self.publish(node, frame, &claim);
        true
    }

    /// Claims free slots of a rank here, one after the other.
    pub(super) fn free_slots(&self, to: usize) -> impl Iterator<Item = Claim> {
        let states = self.layout.of(to, Boxes::States);
        (0..GATEWAY_SLOTS).filter_map(move |slot| {
            let free = self.memory.load(states + slot);
            let claimed = free | (self.me as u64 + 1);
            let is_free = free & STATE == FREE;
            let is_mine = is_free && self.memory.replace(states + slot, free, claimed);
            is_mine.then_some(Claim { slot, free, claimed })
        })
    }

    /// Hands the rank a claimed slot with a piece, whose body is there.
    pub(super) fn publish(&self, node: usize, frame: &Frame, claim: &Claim) {
        let (to, slot) = (usize::from(frame.to), claim.slot);
        let set = |word, value| {
            self.memory.store(self.layout.inbound(to, slot, word), value);
        };
        set(Slot::Place, word(node, frame.from.into()));
        set(Slot::Number, frame.number);
        set(Slot::Size, frame.size.into());
        set(Slot::Total, frame.total);
        set(Slot::Offset, frame.offset);
        let states = self.layout.of(to, Boxes::States);
        self.memory.replace(states + slot, claim.claimed, claim.free | FULL);
        let arrived = self.layout.of(to, Boxes::Arrived) + slot / 64;
        self.memory.set(arrived, 1 << (slot % 64));
    }

    /// Frees a claimed slot that is not needed.
    pub(super) fn give_back(&self, to: usize, claim: &Claim) {
        let state = self.layout.of(to, Boxes::States) + claim.slot;
        self.memory.replace(state, claim.claimed, next(claim.claimed));
    }

    /// Frees what a dead process has claimed, and has the ranks look at what it has filled.
    pub(super) fn reap(&self, dead: usize) {
        for rank in 0..self.layout.here() {
            let states = self.layout.of(rank, Boxes::States);
            for slot in 0..GATEWAY_SLOTS {
                let state = self.memory.load(states + slot);
                if state & STATE == dead as u64 + 1 {
                    self.memory.replace(states + slot, state, next(state));
                }
            }
            for set in 0..SETS {
                self.memory.set(self.layout.of(rank, Boxes::Arrived) + set, u64::MAX);
            }
        }
    }

    /// Whether a rank of another node has ended, or its node is lost.
    pub(super) fn has_ended(&self, node: usize, rank: usize) -> bool {
        let gone = self.layout.endpoint(node, Endpoint::Gone) + rank / 64;
        self.memory.load(gone) >> (rank % 64) & 1 == 1 || self.loss(node).is_some()
    }

    /// Whether it has, and this rank has taken all that will come of it.
    pub(super) fn is_gone(&self, node: usize, rank: usize) -> bool {
        let count = |word| self.memory.load(self.layout.pair(node, self.me, rank, word));
        self.has_ended(node, rank)
            && (self.loss(node).is_some() || count(Pair::Taken) >= count(Pair::Last))
    }
}

/// A state's successor: free, in the next generation.
fn next(state: u64) -> u64 {
    (state & !STATE).wrapping_add(STATE + 1)
}

/// What a rank knows of its outbound slots.
pub(super) struct Outbox {
    /// Pieces posted so far.
    stamp: u64,
    used: [u64; SETS],
    /// Node, rank and number of what each slot has.
    posted: Vec<(usize, usize, u64)>,
}

/// Why a piece was not posted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// As many as may be are on their way to that rank.
    Room,
    /// It has ended.
    Gone,
    /// Its node is lost.
    Lost(Loss),
}

impl Outbox {
    pub(super) fn new() -> Outbox {
        Outbox { stamp: 0, used: [0; SETS], posted: vec![(0, 0, 0); GATEWAY_SLOTS] }
    }

    /// Whether all that was posted was taken, as far as was looked.
    pub(super) fn is_empty(&self) -> bool {
        self.used == [0; SETS]
    }

    /// For whom one still waits.
    pub(super) fn first(&self) -> Option<Place> {
        let set = self.used.iter().position(|set| *set != 0)?;
        let slot = set * 64 + self.used[set].trailing_zeros() as usize;
        let (node, rank, _) = self.posted[slot];
        Some(Place { node: node as u32, rank: rank as u32 })
    }

    /// Whether a post would not be refused for want of room.
    pub(super) fn has_room<M: Memory>(&self, core: &Core<M>, (node, rank): (usize, usize)) -> bool {
        self.window(core, node, rank) < self.most() || core.has_ended(node, rank)
    }

    /// As many pieces may be on their way to one rank: no more than there are slots free beside
    /// them, so that several who take nothing leave something for others.
    fn most(&self) -> u64 {
        let free: u32 = self.used.iter().map(|set| set.count_zeros()).sum();
        GATEWAY_WINDOW.min(free.into())
    }

    /// Pieces on their way to a rank.
    fn window<M: Memory>(&self, core: &Core<M>, node: usize, rank: usize) -> u64 {
        let [posted, taken] = [Pair::Posted, Pair::Acknowledged]
            .map(|word| core.memory.load(core.layout.pair(node, core.me, rank, word)));
        posted.saturating_sub(taken)
    }

    /// Frees the slots of what was taken.
    pub(super) fn retire<M: Memory>(&mut self, core: &Core<M>) {
        // Most are for the same rank as the one before.
        let mut last = ((usize::MAX, 0), 0);
        for set in 0..SETS {
            let mut used = self.used[set];
            let before = used;
            while used != 0 {
                let bit = used & used.wrapping_neg();
                used ^= bit;
                let slot = set * 64 + bit.trailing_zeros() as usize;
                let (node, rank, number) = self.posted[slot];
                if last.0 != (node, rank) {
                    let at = core.layout.pair(node, core.me, rank, Pair::Acknowledged);
                    let has_ended = core.has_ended(node, rank);
                    let taken = if has_ended { u64::MAX } else { core.memory.load(at) };
                    last = ((node, rank), taken);
                }
                if last.1 >= number {
                    core.memory.store(core.layout.outbound(core.me, slot, Slot::Stamp), 0);
                    self.used[set] ^= bit;
                }
            }
            if self.used[set] != before {
                core.memory.store(core.layout.of(core.me, Boxes::Used) + set, self.used[set]);
            }
        }
    }

    /// Posts a piece: where in a message of which size it begins, and its bytes. Slots are those
    /// that [`Outbox::retire`] has freed.
    pub(super) fn post<M: Memory>(
        &mut self,
        core: &Core<M>,
        (node, rank): (usize, usize),
        (offset, total): (u64, u64),
        bytes: Parts<'_>,
    ) -> Result<(), Refusal> {
        assert!(bytes.len() <= GATEWAY_PIECE, "a piece of {} bytes", bytes.len());
        if core.has_ended(node, rank) {
            return Err(core.loss(node).map_or(Refusal::Gone, Refusal::Lost));
        }
        if self.window(core, node, rank) >= self.most() {
            return Err(Refusal::Room);
        }
        let posted = core.layout.pair(node, core.me, rank, Pair::Posted);
        // The others of this node may have written anything there.
        let number = core.memory.load(posted).wrapping_add(1);
        let free = (0..SETS).find(|set| self.used[*set] != u64::MAX).ok_or(Refusal::Room)?;
        let bit = self.used[free].trailing_ones() as usize;
        let slot = free * 64 + bit;
        self.stamp += 1;
        let set = |word, value| {
            core.memory.store(core.layout.outbound(core.me, slot, word), value);
        };
        set(Slot::Place, word(node, rank));
        set(Slot::Number, number);
        set(Slot::Size, bytes.len() as u64);
        set(Slot::Total, total);
        set(Slot::Offset, offset);
        set(Slot::Mark, UNSENT | self.stamp);
        bytes.write(&core.memory, core.layout.outbound_body(core.me, slot));
        set(Slot::Stamp, self.stamp);
        self.used[free] |= 1 << bit;
        self.posted[slot] = (node, rank, number);
        core.memory.store(core.layout.of(core.me, Boxes::Used) + free, self.used[free]);
        core.memory.store(posted, number);
        core.memory.count(core.layout.local(node, core.me, Local::Posts));
        core.memory.fence();
        Ok(())
    }
}

/// A piece that has come and was not taken yet.
#[derive(Clone, Copy)]
struct Waiting {
    slot: usize,
    node: usize,
    rank: usize,
    number: u64,
}

/// What a rank knows of its inbound slots.
pub(super) struct Inbox {
    waiting: Vec<Waiting>,
}

impl Inbox {
    pub(super) fn new() -> Inbox {
        Inbox { waiting: Vec::with_capacity(GATEWAY_SLOTS) }
    }

    /// Looks at what has come.
    fn look<M: Memory>(&mut self, core: &Core<M>) {
        for set in 0..SETS {
            let arrived = core.layout.of(core.me, Boxes::Arrived) + set;
            if core.memory.load(arrived) == 0 {
                continue;
            }
            let mut bits = core.memory.take(arrived);
            while bits != 0 {
                let slot = set * 64 + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                let state = core.memory.load(core.layout.of(core.me, Boxes::States) + slot);
                // A bit may be set twice, by who was late.
                let is_known = self.waiting.iter().any(|waiting| waiting.slot == slot);
                if state & STATE == FULL && !is_known {
                    let word = |word| core.memory.load(core.layout.inbound(core.me, slot, word));
                    let ((node, rank), number) = (place(word(Slot::Place)), word(Slot::Number));
                    self.waiting.push(Waiting { slot, node, rank, number });
                }
            }
        }
    }

    /// The next piece that can be taken; what was taken before is thrown away.
    fn next<M: Memory>(&mut self, core: &Core<M>) -> Option<Waiting> {
        let mut at = 0;
        while let Some(waiting) = self.waiting.get(at).copied() {
            let Waiting { node, rank, number, slot } = waiting;
            let is_other = core
                .layout
                .ranks
                .get(node)
                .is_some_and(|ranks| node != core.layout.node && rank < usize::from(*ranks));
            let taken = is_other
                .then(|| core.memory.load(core.layout.pair(node, core.me, rank, Pair::Taken)));
            match taken {
                Some(taken) if taken.checked_add(1) == Some(number) => {
                    self.waiting.swap_remove(at);
                    return Some(waiting);
                }
                Some(taken) if number > taken => at += 1,
                _ => {
                    self.waiting.swap_remove(at);
                    free(core, slot);
                }
            }
        }
        None
    }

    /// Whether a piece can be taken.
    pub(super) fn is_ready<M: Memory>(&mut self, core: &Core<M>) -> bool {
        self.look(core);
        match self.next(core) {
            Some(waiting) => {
                self.waiting.push(waiting);
                true
            }
            None => {
                self.give_up(core);
                false
            }
        }
    }

    /// Too much has come whose predecessors have not.
    fn give_up<M: Memory>(&mut self, core: &Core<M>) {
        if self.waiting.len() <= EARLY_MAX {
            return;
        }
        let wanted = core.memory.load(core.layout.of(core.me, Boxes::Wanted)).wrapping_add(1);
        for Waiting { node, .. } in &self.waiting {
            let owed = u64::from(core.epoch(*node).unwrap_or(0)) << 32 | wanted;
            core.memory.raise(core.layout.local(*node, core.me, Local::Owed), owed);
        }
        core.memory.store(core.layout.of(core.me, Boxes::Dropped), 1);
        self.waiting.drain(..).for_each(|waiting| free(core, waiting.slot));
    }

    /// Takes the next piece; the node that it came from, or none where there is none.
    ///
    /// # Errors
    /// What stands in its slot is no piece.
    pub(super) fn take<M: Memory>(
        &mut self,
        core: &Core<M>,
        take: &mut dyn FnMut(Piece<'_>),
    ) -> Result<Option<usize>, Garbage> {
        self.look(core);
        let Some(Waiting { slot, node, rank, number }) = self.next(core) else {
            // Who only tries is to get on as well.
            self.give_up(core);
            return Ok(None);
        };
        let word = |word| core.memory.load(core.layout.inbound(core.me, slot, word));
        let (size, total, offset) = (word(Slot::Size), word(Slot::Total), word(Slot::Offset));
        let from = Place { node: node as u32, rank: rank as u32 };
        let is_inside = offset.checked_add(size).is_some_and(|end| end <= total);
        if size > GATEWAY_PIECE as u64 || !is_inside {
            free(core, slot);
            return Err(Garbage { of: from, what: "a slot with what is no piece" });
        }
        let body = core.layout.inbound_body(core.me, slot);
        let bytes = Bytes::new(&core.memory, [(body, size as usize), (0, 0)]);
        take(Piece { from, total, offset, bytes });
        core.memory.store(core.layout.pair(node, core.me, rank, Pair::Taken), number);
        free(core, slot);
        core.memory.count(core.layout.local(node, core.me, Local::Posts));
        Ok(Some(node))
    }
}

/// Frees a slot, and sees to the grants that are owed.
fn free<M: Memory>(core: &Core<M>, slot: usize) {
    let at = core.layout.of(core.me, Boxes::States) + slot;
    let state = core.memory.load(at);
    core.memory.store(at, next(state));
    core.memory.fence();
    let dropped = core.layout.of(core.me, Boxes::Dropped);
    if core.memory.load(dropped) == 0 || core.memory.take(dropped) == 0 {
        return;
    }
    let at = core.layout.of(core.me, Boxes::Wanted);
    core.memory.store(at, core.memory.load(at).wrapping_add(1));
    core.memory.fence();
    for node in core.layout.peers() {
        if core.memory.load(core.layout.local(node, core.me, Local::Owed)) != 0 {
            core.memory.count(core.layout.local(node, core.me, Local::Posts));
        }
    }
}

impl<M: Memory> Core<M> {
    /// A process has ended; what it had posted is still sent.
    pub(super) fn end(&self, process: usize) {
        for rank in (0..self.layout.here()).filter(|_| process < self.layout.here()) {
            // It may have sent something, and not called yet; who sees that it has ended is to
            // find that.
            self.call(process, rank);
        }
        self.memory.store(self.layout.process(process, Process::Ended), 1);
        for node in self.layout.peers().filter(|_| process < self.layout.here()) {
            self.memory.count(self.layout.local(node, process, Local::Posts));
        }
        self.reap(process);
    }
}
