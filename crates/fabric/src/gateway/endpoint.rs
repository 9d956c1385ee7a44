//! The endpoint of one other node: who may progress it. What that is, is in `send.rs` and
//! `receive.rs`. No I/O: the socket is a [`Wire`], the memory a [`Memory`].
//!
//! *Roles.* There are two, to send and to receive. Each is a word: epoch, how often it was taken,
//! and the process that has it. It is taken and given back by compare-and-swap, for one pass, in
//! which nobody sleeps, unless for a page that a rank takes a frame of its own to. A role that is
//! kept is taken away together with the connection ([`Core::close`], [`Core::open`]), because
//! nobody knows what its holder has written or read.
//!
//! *Who has lost a role* does not know it, and may go on at any time. Whatever it does then does no
//! harm:
//!
//! * the old socket is shut down, and what it still carries are frames that may come again;
//! * counts and grants only grow (fetch_max), and say the same in any epoch;
//! * marks of what was sent say in which epoch, and are set by compare-and-swap;
//! * a slot that it is filling stays its own until it has filled it or is dead (`boxes.rs`).
//!
//! *Nothing is swapped out* of a word that several processes need: what is to be done shows in
//! counts that differ, so it does not matter where a holder stops.

use super::batch::Batch;
use super::boxes::Claim;
use super::frame::{self, HEAD};
use super::layout::{Endpoint, Layout, Memory};
use super::send::{Done, Due, Numbers, Room};
use muster_base::limits::{GATEWAY_PIECE, GATEWAY_RANKS_MAX, GATEWAY_RUN, GATEWAY_SLOTS};
use std::ops::Range;

/// Bytes that are sent or looked at in one go: the longest frame, for one call.
pub(super) const BATCH: usize = HEAD + GATEWAY_RUN * GATEWAY_PIECE;

/// A role's holder while nobody may have it.
pub(super) const CLOSED: u64 = 0xffff;

/// The link's word when there will be no connection any more; why is below.
const LOST: u64 = 1 << 40;

/// Why a node is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Loss {
    Told = 1,
    Malformed = 2,
    Refused = 3,
}

/// Why a connection is of no more use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Broken {
    /// It has ended.
    Ended,
    /// The node there sends what no node does.
    Malformed,
}

/// The connection to a node.
pub(super) trait Wire<M> {
    /// Its epoch.
    fn epoch(&self) -> u32;
    /// How many bytes [`Wire::write`] surely takes.
    fn room(&self) -> usize;
    /// Writes all of it.
    fn write(&self, memory: &M, batch: &Batch) -> Result<(), Broken>;
    /// Copies out what has arrived, and leaves it there.
    fn peek(&self, bytes: &mut [u8]) -> Result<usize, Broken>;
    /// Throws so much of it away.
    fn consume(&self, bytes: &mut [u8]) -> Result<(), Broken>;

    /// Whether frames go as they are, bodies may stay where they lie until they are written, and
    /// what has arrived may be taken to where it belongs. Then there are long frames.
    fn is_bare(&self) -> bool {
        false
    }

    /// How many pieces a frame has at most. Asked of those that are bare.
    fn run(&self) -> usize {
        GATEWAY_RUN
    }

    /// How many bytes have arrived. Asked of those that are bare.
    fn arrived(&self) -> Result<usize, Broken> {
        Ok(0)
    }

    /// Takes what has arrived: first these bytes, then some words' of the segment, each with how
    /// many. Asked of those that are bare, for what is there.
    fn take(
        &self,
        _memory: &M,
        _bytes: &mut [u8],
        _bodies: &[(usize, usize)],
    ) -> Result<(), Broken> {
        Err(Broken::Ended)
    }

    /// Gets what has arrived: first these bytes, then those. Asked as above.
    fn get(&self, _first: &mut [u8], _then: &mut [u8]) -> Result<(), Broken> {
        Err(Broken::Ended)
    }

    /// Bytes that go before a frame, and those that it takes more in all.
    fn around(&self) -> (usize, usize) {
        (0, 0)
    }

    /// Makes what stands at the end of a batch, from `start` on, the frame of that number: no two
    /// of a connection may have the same.
    fn seal(&self, _number: u64, _batch: &mut Vec<u8>, _start: usize) -> Result<(), Broken> {
        Ok(())
    }

    /// Where the first frame of what has arrived is, which has that number, and where the next one
    /// begins; none where a part is missing.
    fn open(
        &self,
        _number: u64,
        arrived: &mut [u8],
    ) -> Result<Option<(Range<usize>, usize)>, Broken> {
        frame::find(arrived).map_err(|_| Broken::Malformed)
    }
}

/// A process's part in the gateway.
pub(super) struct Core<M> {
    pub(super) memory: M,
    pub(super) layout: Layout,
    /// Which process this is: a rank, or the daemon behind the last.
    pub(super) me: usize,
    /// What is being sent.
    pub(super) batch: Batch,
    /// What was received.
    pub(super) incoming: Vec<u8>,
    pub(super) numbers: Numbers,
    pub(super) done: Vec<Done>,
    /// What a rank has to send.
    pub(super) found: Vec<Due>,
    /// What of it makes one frame.
    pub(super) run: Vec<Due>,
    /// Slots for what one frame brings.
    pub(super) claims: Vec<Claim>,
    /// Of how many of each node's next frames only the head is looked at first.
    pub(super) long: Vec<u8>,
    /// What is known of the room in each node's socket: the role's word when this process had it
    /// last, and how much was left. While nobody else has the role, room only grows.
    pub(super) rooms: Vec<Room>,
    /// Processes for which something has come.
    pub(super) news: [u64; GATEWAY_RANKS_MAX / 64 + 1],
}

/// A count that is meant for one epoch.
pub(super) fn tag(epoch: u32, count: u64) -> u64 {
    u64::from(epoch) << 32 | count & u64::from(u32::MAX)
}

/// The count of a word, if it is meant for an epoch: who was stopped may find another one there.
pub(super) fn count(word: u64, epoch: u32) -> Option<u64> {
    (word >> 32 == u64::from(epoch)).then_some(word & u64::from(u32::MAX))
}

impl<M: Memory> Core<M> {
    pub(super) fn new(memory: M, layout: Layout, me: usize) -> Core<M> {
        Core {
            memory,
            me,
            batch: Batch::new(),
            incoming: vec![0; BATCH],
            numbers: Numbers::default(),
            // At most each piece and each pair of a rank, and three notices.
            done: Vec::with_capacity(BATCH / HEAD + 4),
            found: Vec::with_capacity(GATEWAY_SLOTS),
            run: Vec::with_capacity(GATEWAY_RUN),
            claims: Vec::with_capacity(GATEWAY_RUN),
            news: Default::default(),
            long: vec![0; layout.ranks.len()],
            rooms: vec![Room::default(); layout.ranks.len()],
            layout,
        }
    }

    /// The epoch of the connection, if there is one.
    pub(super) fn epoch(&self, node: usize) -> Option<u32> {
        let link = self.memory.load(self.layout.endpoint(node, Endpoint::Link));
        u32::try_from(link).ok().filter(|epoch| *epoch != 0)
    }

    /// Why there will be no connection any more.
    pub(super) fn loss(&self, node: usize) -> Option<Loss> {
        let link = self.memory.load(self.layout.endpoint(node, Endpoint::Link));
        match link.checked_sub(LOST)? {
            2 => Some(Loss::Malformed),
            3 => Some(Loss::Refused),
            _ => Some(Loss::Told),
        }
    }

    /// Takes the roles away, and says that there is no connection; for good where there is a loss.
    pub(super) fn close(&self, node: usize, loss: Option<Loss>) {
        let link = loss.map_or(0, |loss| LOST + loss as u64);
        self.memory.store(self.layout.endpoint(node, Endpoint::Link), link);
        for role in [Endpoint::Sending, Endpoint::Receiving] {
            self.memory.store(self.layout.endpoint(node, role), CLOSED);
        }
    }

    /// Gives the roles out for a new connection.
    pub(super) fn open(&self, node: usize, epoch: u32) {
        for word in [Endpoint::Sealed, Endpoint::Opened, Endpoint::Sending, Endpoint::Receiving] {
            self.memory.store(self.layout.endpoint(node, word), tag(epoch, 0));
        }
        self.memory.store(self.layout.endpoint(node, Endpoint::Link), epoch.into());
    }

    /// The process that has a role.
    pub(super) fn holder(&self, node: usize, role: Endpoint) -> Option<usize> {
        match self.memory.load(self.layout.endpoint(node, role)) & CLOSED {
            0 | CLOSED => None,
            holder => Some(holder as usize - 1),
        }
    }

    pub(super) fn claim(&self, node: usize, role: Endpoint, epoch: u32) -> Option<u64> {
        let at = self.layout.endpoint(node, role);
        let word = self.memory.load(at);
        if word >> 32 != u64::from(epoch) || word & CLOSED != 0 {
            return None;
        }
        let held = self.held(word);
        self.memory.replace(at, word, held).then_some(held)
    }

    /// A role's word once this process has it, after `word`.
    pub(super) fn held(&self, word: u64) -> u64 {
        let times = ((word >> 16 & CLOSED) + 1) & CLOSED;
        word & !u64::from(u32::MAX) | times << 16 | (self.me as u64 + 1)
    }

    pub(super) fn release(&self, node: usize, role: Endpoint, held: u64) {
        // Refused where it was taken away.
        self.memory.replace(self.layout.endpoint(node, role), held, held & !CLOSED);
    }

    /// Something has come for a process.
    pub(super) fn note(&mut self, process: usize) {
        self.news[process / 64] |= 1 << (process % 64);
    }
}
