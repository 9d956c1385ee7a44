//! The endpoint of one other node: who may progress it, and what that is. No I/O: the socket is a
//! [`Wire`], the memory a [`Memory`].
//!
//! *Roles.* There are two, to send and to receive. Each is a word: epoch, how often it was taken,
//! and the process that has it. It is taken and given back by compare-and-swap, for one pass, in
//! which nobody sleeps. A role that is kept is taken away together with the connection
//! ([`Core::close`], [`Core::open`]), because nobody knows what its holder has written or read.
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

use super::boxes;
use super::frame::{self, Frame, HEAD, Kind};
use super::layout::{Boxes, Endpoint, Layout, Local, Memory, Pair, Process, SETS, Slot};
use muster_base::limits::{GATEWAY_PIECE, GATEWAY_RANKS_MAX, GATEWAY_SLOTS};
use std::ops::Range;

/// Bytes that are sent or looked at in one go: some pieces, for one call.
pub(super) const BATCH: usize = 64 * 1024;

/// A role's holder while nobody may have it.
const CLOSED: u64 = 0xffff;

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
pub(super) trait Wire {
    /// Its epoch.
    fn epoch(&self) -> u32;
    /// How many bytes [`Wire::write`] surely takes.
    fn room(&self) -> usize;
    /// Writes all of it.
    fn write(&self, bytes: &[u8]) -> Result<(), Broken>;
    /// Copies out what has arrived, and leaves it there.
    fn peek(&self, bytes: &mut [u8]) -> Result<usize, Broken>;
    /// Takes so much of it away.
    fn consume(&self, bytes: &mut [u8]) -> Result<(), Broken>;

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

/// How a pass of sending ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sent {
    /// Nothing is left to send.
    All,
    /// There is no room in the socket.
    Full,
    /// Somebody else does it, or there is no connection.
    Other,
    /// Others post faster than is sent.
    More,
}

/// How a pass of receiving ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Received {
    /// There was nothing.
    Nothing,
    /// So many frames were taken from the socket.
    Frames(usize),
    /// The rest of a frame has not arrived.
    Part,
    /// A rank has no room for the next piece.
    Blocked,
    /// Somebody else does it, or there is no connection.
    Other,
}

/// How much the socket surely takes.
#[derive(Clone, Copy, Default)]
struct Room {
    /// The sending role's word when nobody else had it meanwhile.
    next: u64,
    left: usize,
}

/// Room that one write takes beside its bytes, for what the kernel needs.
pub(super) const WRITE: usize = 1024;

/// Passes of sending in a row, for those who post meanwhile.
const AGAIN: usize = 16;

/// The numbers of the frames that are sent: their word, that of the next one that is put into the
/// batch, and what the word says.
#[derive(Clone, Copy, Default)]
struct Numbers {
    at: usize,
    next: u64,
    told: u64,
}

/// What was seen to once the batch is written.
struct Done {
    at: usize,
    old: u64,
    new: u64,
}

/// A process's part in the gateway.
pub(super) struct Core<M> {
    pub(super) memory: M,
    pub(super) layout: Layout,
    /// Which process this is: a rank, or the daemon behind the last.
    pub(super) me: usize,
    /// What is being sent.
    buffer: Vec<u8>,
    /// What was received.
    incoming: Vec<u8>,
    numbers: Numbers,
    done: Vec<Done>,
    /// Stamps and slots of what a rank has to send.
    found: Vec<(u64, usize)>,
    /// What is known of the room in each node's socket: the role's word when this process had it
    /// last, and how much was left. While nobody else has the role, room only grows.
    rooms: Vec<Room>,
    /// Processes for which something has come.
    pub(super) news: [u64; GATEWAY_RANKS_MAX / 64 + 1],
}

/// A count that is meant for one epoch.
fn tag(epoch: u32, count: u64) -> u64 {
    u64::from(epoch) << 32 | count & u64::from(u32::MAX)
}

impl<M: Memory> Core<M> {
    pub(super) fn new(memory: M, layout: Layout, me: usize) -> Core<M> {
        Core {
            memory,
            me,
            buffer: Vec::with_capacity(BATCH),
            incoming: vec![0; BATCH],
            numbers: Numbers::default(),
            // At most each piece and each pair of a rank, and three notices.
            done: Vec::with_capacity(BATCH / HEAD + 4),
            found: Vec::with_capacity(GATEWAY_SLOTS),
            news: Default::default(),
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

    fn claim(&self, node: usize, role: Endpoint, epoch: u32) -> Option<u64> {
        let at = self.layout.endpoint(node, role);
        let word = self.memory.load(at);
        if word >> 32 != u64::from(epoch) || word & CLOSED != 0 {
            return None;
        }
        let held = self.held(word);
        self.memory.replace(at, word, held).then_some(held)
    }

    /// A role's word once this process has it, after `word`.
    fn held(&self, word: u64) -> u64 {
        let times = ((word >> 16 & CLOSED) + 1) & CLOSED;
        word & !u64::from(u32::MAX) | times << 16 | (self.me as u64 + 1)
    }

    fn release(&self, node: usize, role: Endpoint, held: u64) {
        // Refused where it was taken away.
        self.memory.replace(self.layout.endpoint(node, role), held, held & !CLOSED);
    }

    /// Whether there is something to send.
    pub(super) fn has_work(&self, node: usize, epoch: u32) -> bool {
        self.is_kicked(node, epoch)
            || (0..self.layout.here()).any(|here| self.is_due(node, here, epoch).is_some())
    }

    fn is_kicked(&self, node: usize, epoch: u32) -> bool {
        let [kicks, kicked] = [Endpoint::Kicks, Endpoint::Kicked]
            .map(|word| self.memory.load(self.layout.endpoint(node, word)));
        kicked != tag(epoch, kicks)
    }

    /// What was seen to of a rank here, and what is to be, if that differs.
    fn is_due(&self, node: usize, here: usize, epoch: u32) -> Option<(u64, u64)> {
        let [posts, seen] = [Local::Posts, Local::Seen]
            .map(|word| self.memory.load(self.layout.local(node, here, word)));
        Some((seen, tag(epoch, posts))).filter(|(seen, posts)| seen != posts)
    }

    /// Sends what ranks here have for a node.
    pub(super) fn send(&mut self, node: usize, wire: &impl Wire) -> Result<Sent, Broken> {
        for _ in 0..AGAIN {
            let Some(held) = self.claim(node, Endpoint::Sending, wire.epoch()) else {
                return Ok(Sent::Other);
            };
            let mut room = self.rooms[node];
            if room.next != held {
                room.left = 0;
            }
            let passed = self.send_pass(node, wire, &mut room);
            self.rooms[node] = Room { next: self.held(held & !CLOSED), ..room };
            self.release(node, Endpoint::Sending, held);
            if !passed? {
                return Ok(Sent::Full);
            }
            // Who posted meanwhile could not take the role: it relies on this look.
            self.memory.fence();
            if !self.has_work(node, wire.epoch()) {
                return Ok(Sent::All);
            }
        }
        Ok(Sent::More)
    }

    /// One look at all ranks here; whether there was room for all.
    fn send_pass(
        &mut self,
        node: usize,
        wire: &impl Wire,
        room: &mut Room,
    ) -> Result<bool, Broken> {
        let epoch = wire.epoch();
        let kicks = self.layout.endpoint(node, Endpoint::Kicks);
        let kicked = self.layout.endpoint(node, Endpoint::Kicked);
        let (new, old) = (tag(epoch, self.memory.load(kicks)), self.memory.load(kicked));
        self.buffer.clear();
        self.done.clear();
        let at = self.layout.endpoint(node, Endpoint::Sealed);
        let told = self.memory.load(at);
        self.numbers = Numbers { at, next: told & u64::from(u32::MAX), told };
        for here in 0..self.layout.here() {
            let due = self.is_due(node, here, epoch);
            if due.is_none() && new == old {
                continue;
            }
            let is_whole =
                self.notices(node, here, wire, room)? && self.pieces(node, here, wire, room)?;
            if !is_whole {
                self.flush(wire, room)?;
                return Ok(false);
            }
            if let Some((old, new)) = due {
                let at = self.layout.local(node, here, Local::Seen);
                self.done.push(Done { at, old, new });
            }
        }
        self.done.push(Done { at: kicked, old, new });
        self.flush(wire, room)?;
        Ok(true)
    }

    /// What else than messages a rank has to tell.
    fn notices(
        &mut self,
        node: usize,
        here: usize,
        wire: &impl Wire,
        room: &mut Room,
    ) -> Result<bool, Broken> {
        let epoch = wire.epoch();
        let blank = Frame {
            kind: Kind::Gone,
            from: here as u16,
            to: 0,
            size: 0,
            number: 0,
            total: 0,
            offset: 0,
        };
        let has_ended = self.memory.load(self.layout.process(here, Process::Ended)) == 1;
        for there in 0..self.layout.there(node) {
            let [taken, posted] = [Pair::Taken, Pair::Posted]
                .map(|word| self.memory.load(self.layout.pair(node, here, there, word)));
            let is_last = has_ended && posted > 0;
            if taken == 0 && !is_last {
                continue;
            }
            let at = self.layout.pair(node, here, there, Pair::Told);
            // Who has ended takes nothing more, so the opposite says that both were told.
            let told = if is_last { !taken } else { taken };
            let (old, new) = (self.memory.load(at), tag(epoch, told));
            if old == new {
                continue;
            }
            let frame = Frame { kind: Kind::Taken, to: there as u16, number: taken, ..blank };
            let done = Done { at, old, new: if is_last { old } else { new } };
            let mut is_told = taken == 0 || self.notice(&frame, done, wire, room)?;
            if is_told && is_last {
                let frame = Frame { kind: Kind::Gone, number: posted, ..frame };
                is_told = self.notice(&frame, Done { at, old, new }, wire, room)?;
            }
            if !is_told {
                return Ok(false);
            }
        }
        let at = self.layout.local(node, here, Local::Owed);
        let owed = self.memory.load(at);
        let wanted = self.memory.load(self.layout.of(here, Boxes::Wanted)) & u64::from(u32::MAX);
        if owed != 0 && owed & u64::from(u32::MAX) <= wanted {
            let frame = Frame { kind: Kind::Grant, number: wanted, ..blank };
            if !self.notice(&frame, Done { at, old: owed, new: 0 }, wire, room)? {
                return Ok(false);
            }
        }
        let at = self.layout.local(node, here, Local::Told);
        let (old, new) = (self.memory.load(at), epoch.into());
        if has_ended && old != new {
            return self.notice(&blank, Done { at, old, new }, wire, room);
        }
        Ok(true)
    }

    /// Puts a frame without bytes into the batch.
    fn notice(
        &mut self,
        frame: &Frame,
        done: Done,
        wire: &impl Wire,
        room: &mut Room,
    ) -> Result<bool, Broken> {
        if !self.make_room(HEAD, wire, room)? {
            return Ok(false);
        }
        let start = self.begin(frame, wire);
        self.seal(start, wire)?;
        self.done.push(done);
        Ok(true)
    }

    /// The pieces of a rank's messages, in the order in which it posted them.
    fn pieces(
        &mut self,
        node: usize,
        here: usize,
        wire: &impl Wire,
        room: &mut Room,
    ) -> Result<bool, Broken> {
        let mut found = std::mem::take(&mut self.found);
        found.clear();
        for set in 0..SETS {
            let mut used = self.memory.load(self.layout.of(here, Boxes::Used) + set);
            while used != 0 {
                let slot = set * 64 + used.trailing_zeros() as usize;
                used &= used - 1;
                let stamp = self.memory.load(self.layout.outbound(here, slot, Slot::Stamp));
                if stamp != 0 {
                    found.push((stamp, slot));
                }
            }
        }
        found.sort_unstable();
        let mut outcome = Ok(true);
        for (stamp, slot) in &found {
            outcome = self.piece(node, here, (*stamp, *slot), wire, room);
            if !matches!(outcome, Ok(true)) {
                break;
            }
        }
        self.found = found;
        outcome
    }

    /// One piece, if it is for this node and was not sent there yet.
    fn piece(
        &mut self,
        node: usize,
        here: usize,
        (stamp, slot): (u64, usize),
        wire: &impl Wire,
        room: &mut Room,
    ) -> Result<bool, Broken> {
        let word = |word| self.memory.load(self.layout.outbound(here, slot, word));
        let (to, rank) = boxes::place(word(Slot::Place));
        let size = usize::try_from(word(Slot::Size)).unwrap_or(usize::MAX);
        // What a rank writes that cannot be is not sent: it harms itself only.
        if to != node || rank >= self.layout.there(node) || size > GATEWAY_PIECE {
            return Ok(true);
        }
        let old = word(Slot::Mark);
        let new = tag(wire.epoch(), self.memory.load(self.layout.grant(node, rank)));
        if old == new {
            return Ok(true);
        }
        let (number, total, offset) = (word(Slot::Number), word(Slot::Total), word(Slot::Offset));
        // Its rank has not looked yet. To send it again would take the room of what is needed.
        let taken = self.memory.load(self.layout.pair(node, here, rank, Pair::Acknowledged));
        if taken >= number {
            return Ok(true);
        }
        let frame = Frame {
            kind: Kind::Piece,
            from: here as u16,
            to: rank as u16,
            size: size as u16,
            number,
            total,
            offset,
        };
        if Frame::read(&frame.write()).is_err() {
            return Ok(true);
        }
        if !self.make_room(HEAD + size, wire, room)? {
            return Ok(false);
        }
        let start = self.begin(&frame, wire);
        let begun = self.buffer.len();
        self.buffer.resize(begun + size, 0);
        let body = self.layout.outbound(here, slot, Slot::Body);
        self.memory.read(body, &mut self.buffer[begun..]);
        if self.memory.load(self.layout.outbound(here, slot, Slot::Stamp)) == stamp {
            self.seal(start, wire)?;
            let at = self.layout.outbound(here, slot, Slot::Mark);
            self.done.push(Done { at, old, new });
        } else {
            // It was taken meanwhile, and the slot is another piece's.
            self.buffer.truncate(start);
        }
        Ok(true)
    }

    /// Begins a frame in the batch; where.
    fn begin(&mut self, frame: &Frame, wire: &impl Wire) -> usize {
        let start = self.buffer.len();
        self.buffer.resize(start + wire.around().0, 0);
        self.buffer.extend_from_slice(&frame.write());
        start
    }

    /// Ends it.
    fn seal(&mut self, start: usize, wire: &impl Wire) -> Result<(), Broken> {
        wire.seal(self.numbers.next, &mut self.buffer, start)?;
        self.numbers.next += 1;
        Ok(())
    }

    /// Has room for a frame of so many bytes in the batch; false where the socket has none.
    fn make_room(
        &mut self,
        size: usize,
        wire: &impl Wire,
        room: &mut Room,
    ) -> Result<bool, Broken> {
        let size = size + wire.around().1;
        if self.buffer.len() + size > room.left.min(BATCH) {
            self.flush(wire, room)?;
            room.left = wire.room();
        }
        Ok(size <= room.left)
    }

    /// Writes the batch, and then says what was seen to.
    fn flush(&mut self, wire: &impl Wire, room: &mut Room) -> Result<(), Broken> {
        if !self.buffer.is_empty() {
            wire.write(&self.buffer)?;
            room.left = room.left.saturating_sub(self.buffer.len() + WRITE);
            self.buffer.clear();
            let Numbers { at, next, told } = self.numbers;
            let new = tag(wire.epoch(), next);
            self.memory.replace(at, told, new);
            self.numbers.told = new;
        }
        for Done { at, old, new } in self.done.drain(..) {
            self.memory.replace(at, old, new);
        }
        Ok(())
    }

    /// Takes what has arrived from a node to the ranks here. Who is patient leaves a piece for
    /// which there is no room where it is, unless the rank is known to take nothing.
    pub(super) fn receive(
        &mut self,
        node: usize,
        wire: &impl Wire,
        is_patient: bool,
    ) -> Result<Received, Broken> {
        let Some(held) = self.claim(node, Endpoint::Receiving, wire.epoch()) else {
            return Ok(Received::Other);
        };
        let mut incoming = std::mem::take(&mut self.incoming);
        let received = self.receive_pass(node, wire, &mut incoming, is_patient);
        self.incoming = incoming;
        self.release(node, Endpoint::Receiving, held);
        received
    }

    fn receive_pass(
        &mut self,
        node: usize,
        wire: &impl Wire,
        buffer: &mut [u8],
        is_patient: bool,
    ) -> Result<Received, Broken> {
        let at_consumed = self.layout.endpoint(node, Endpoint::Consumed);
        let consumed = self.memory.load(at_consumed);
        let (none, count) = (tag(wire.epoch(), 0), consumed as u32 as usize);
        if consumed != none {
            if consumed & !u64::from(u32::MAX) == none {
                wire.consume(buffer.get_mut(..count).ok_or(Broken::Ended)?)?;
            }
            self.memory.replace(at_consumed, consumed, none);
        }
        let size = wire.peek(buffer)?;
        if size == 0 {
            return Ok(Received::Nothing);
        }
        let at_opened = self.layout.endpoint(node, Endpoint::Opened);
        let opened = self.memory.load(at_opened);
        let number = opened & u64::from(u32::MAX);
        let (mut at, mut frames, mut is_blocked) = (0, 0, false);
        while let Some((inside, next)) = wire.open(number + frames as u64, &mut buffer[at..size])? {
            let (head, body) = buffer[at..][inside].split_first_chunk().ok_or(Broken::Malformed)?;
            let frame = Frame::read(head).map_err(|_| Broken::Malformed)?;
            if body.len() != usize::from(frame.size) {
                return Err(Broken::Malformed);
            }
            if !self.deliver(node, &frame, body, (wire.epoch(), is_patient))? {
                is_blocked = true;
                break;
            }
            at += next;
            frames += 1;
        }
        // The next one takes it away: whom the pieces are for does not wait for that.
        self.memory.replace(at_consumed, none, tag(wire.epoch(), at as u64));
        self.memory.replace(at_opened, opened, tag(wire.epoch(), number + frames as u64));
        Ok(match (frames, is_blocked) {
            (0, true) => Received::Blocked,
            (0, false) => Received::Part,
            (frames, _) => Received::Frames(frames),
        })
    }

    /// Does what a frame says; false where it has to wait.
    fn deliver(
        &mut self,
        node: usize,
        frame: &Frame,
        body: &[u8],
        (epoch, is_patient): (u32, bool),
    ) -> Result<bool, Broken> {
        let (from, to) = (usize::from(frame.from), usize::from(frame.to));
        if from >= self.layout.there(node) || to >= self.layout.here() {
            return Err(Broken::Malformed);
        }
        match frame.kind {
            Kind::Piece => {
                if !self.put(node, frame, body) {
                    if is_patient && self.memory.load(self.layout.of(to, Boxes::Dropped)) == 0 {
                        return Ok(false);
                    }
                    self.drop_piece(node, frame, body, epoch);
                }
                self.note(to);
            }
            Kind::Taken => {
                let word = self.layout.pair(node, to, from, Pair::Acknowledged);
                self.memory.raise(word, frame.number);
                self.note(to);
            }
            Kind::Grant => {
                self.memory.raise(self.layout.grant(node, from), frame.number & 0xffff_ffff);
                self.memory.count(self.layout.endpoint(node, Endpoint::Kicks));
            }
            Kind::Gone if frame.number > 0 => {
                let word = self.layout.pair(node, to, from, Pair::Last);
                self.memory.raise(word, frame.number);
            }
            Kind::Gone => {
                let at = self.layout.endpoint(node, Endpoint::Gone) + from / 64;
                self.memory.set(at, 1 << (from % 64));
                (0..self.layout.here()).for_each(|rank| self.note(rank));
            }
        }
        Ok(true)
    }

    /// There is no room: the rank owes a grant, unless it has made room meanwhile.
    fn drop_piece(&self, node: usize, frame: &Frame, body: &[u8], epoch: u32) {
        let to = usize::from(frame.to);
        let wanted = self.memory.load(self.layout.of(to, Boxes::Wanted));
        let owed = tag(epoch, wanted + 1);
        self.memory.raise(self.layout.local(node, to, Local::Owed), owed);
        self.memory.store(self.layout.of(to, Boxes::Dropped), 1);
        self.memory.fence();
        self.put(node, frame, body);
    }

    /// Something has come for a process.
    pub(super) fn note(&mut self, process: usize) {
        self.news[process / 64] |= 1 << (process % 64);
    }
}
