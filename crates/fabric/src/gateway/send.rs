//! What one who has the role to send does: all that ranks here have for a node goes into batches of
//! frames.
//!
//! *Runs.* Where the wire permits it, pieces of one message that follow each other are one frame,
//! whose bodies are written from where they lie. The rank may have taken its slot back meanwhile,
//! and filled it again: then the other one has taken that piece already, and ignores what comes
//! with its number. Only the head has to be right, so it is read between two looks at the stamp.

use super::boxes;
use super::endpoint::{BATCH, Broken, CLOSED, Core, Wire, tag};
use super::frame::{Frame, HEAD, Kind};
use super::layout::{Boxes, Endpoint, Local, Memory, Pair, SETS, Slot};
use muster_base::limits::GATEWAY_PIECE;

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

/// How much the socket surely takes.
#[derive(Clone, Copy, Default)]
pub(super) struct Room {
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
pub(super) struct Numbers {
    at: usize,
    next: u64,
    told: u64,
}

/// What was seen to once the batch is written.
pub(super) struct Done {
    at: usize,
    old: u64,
    new: u64,
}

/// A piece that is to be sent: its slot and the stamp there, its frame alone, and what says that it
/// was sent.
pub(super) struct Due {
    stamp: u64,
    pub(super) frame: Frame,
    slot: usize,
    done: Done,
}

/// From how many bytes on the bodies of a frame are written from where they lie. To copy less takes
/// less than the kernel needs to find them there.
const LENT: usize = 2048;

impl<M: Memory> Core<M> {
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
    pub(super) fn send(&mut self, node: usize, wire: &impl Wire<M>) -> Result<Sent, Broken> {
        for _ in 0..AGAIN {
            let Some(held) = self.claim(node, Endpoint::Sending, wire.epoch()) else {
                return Ok(Sent::Other);
            };
            let mut room = self.rooms[node];
            if room.next != held {
                room.left = 0;
            }
            let passed = self.send_pass(node, wire, &mut room, (held >> 16) as usize);
            self.rooms[node] = Room { next: self.held(held & !CLOSED), ..room };
            // After a frame in part nobody sends: the role ends with the connection.
            let passed = passed?;
            self.release(node, Endpoint::Sending, held);
            if !passed {
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

    /// One look at all ranks here, each time from another one on, so that none always comes too
    /// late for the room that there is; whether there was room for all.
    fn send_pass(
        &mut self,
        node: usize,
        wire: &impl Wire<M>,
        room: &mut Room,
        first: usize,
    ) -> Result<bool, Broken> {
        let epoch = wire.epoch();
        let kicks = self.layout.endpoint(node, Endpoint::Kicks);
        let kicked = self.layout.endpoint(node, Endpoint::Kicked);
        let (new, old) = (tag(epoch, self.memory.load(kicks)), self.memory.load(kicked));
        self.batch.clear();
        self.done.clear();
        let at = self.layout.endpoint(node, Endpoint::Sealed);
        let told = self.memory.load(at);
        self.numbers = Numbers { at, next: told & u64::from(u32::MAX), told };
        let ranks = self.layout.here();
        for here in (0..ranks).map(|rank| (first + rank) % ranks) {
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
        wire: &impl Wire<M>,
        room: &mut Room,
    ) -> Result<bool, Broken> {
        let epoch = wire.epoch();
        let blank = Frame {
            kind: Kind::Gone,
            more: 0,
            from: here as u16,
            to: 0,
            size: 0,
            number: 0,
            total: 0,
            offset: 0,
        };
        let has_ended = self.is_over(here);
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
        wire: &impl Wire<M>,
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
        wire: &impl Wire<M>,
        room: &mut Room,
    ) -> Result<bool, Broken> {
        let mut found = std::mem::take(&mut self.found);
        found.clear();
        for set in 0..SETS {
            let mut used = self.memory.load(self.layout.of(here, Boxes::Used) + set);
            while used != 0 {
                let slot = set * 64 + used.trailing_zeros() as usize;
                used &= used - 1;
                found.extend(self.due(node, here, slot, wire.epoch()));
            }
        }
        found.sort_unstable_by_key(|due| due.stamp);
        self.run.clear();
        let mut outcome = Ok(true);
        for due in found.drain(..) {
            let goes_on = self.run.is_empty()
                || wire.is_bare() && self.run.len() < wire.run() && self.follows(&due);
            if !goes_on {
                outcome = self.frame(here, wire, room);
                if !matches!(outcome, Ok(true)) {
                    break;
                }
            }
            self.run.push(due);
        }
        self.found = found;
        if matches!(outcome, Ok(true)) && !self.run.is_empty() {
            outcome = self.frame(here, wire, room);
        }
        outcome
    }

    /// A piece in a slot, if it is for this node and was not sent there yet.
    pub(super) fn due(&self, node: usize, here: usize, slot: usize, epoch: u32) -> Option<Due> {
        let word = |word| self.memory.load(self.layout.outbound(here, slot, word));
        let stamp = word(Slot::Stamp);
        if stamp == 0 {
            return None;
        }
        let (to, rank) = boxes::place(word(Slot::Place));
        let size = usize::try_from(word(Slot::Size)).unwrap_or(usize::MAX);
        // What a rank writes that cannot be is not sent: it harms itself only.
        if to != node || rank >= self.layout.there(node) || size > GATEWAY_PIECE {
            return None;
        }
        let old = word(Slot::Mark);
        let new = tag(epoch, self.memory.load(self.layout.grant(node, rank)));
        let number = word(Slot::Number);
        // Its rank has not looked yet. To send it again would take the room of what is needed.
        let taken = self.memory.load(self.layout.pair(node, here, rank, Pair::Acknowledged));
        if old == new || taken >= number {
            return None;
        }
        let frame = Frame {
            kind: Kind::Piece,
            more: 0,
            from: here as u16,
            to: rank as u16,
            size: size as u16,
            number,
            total: word(Slot::Total),
            offset: word(Slot::Offset),
        };
        // Where the stamp is another, that piece was taken meanwhile.
        let is_whole = word(Slot::Stamp) == stamp && Frame::read(&frame.write()).is_ok();
        let done = Done { at: self.layout.outbound(here, slot, Slot::Mark), old, new };
        is_whole.then_some(Due { stamp, frame, slot, done })
    }

    /// Whether a piece goes on where the last one of the run ends.
    fn follows(&self, Due { frame, .. }: &Due) -> bool {
        let Some(Due { frame: last, .. }) = self.run.last() else { return false };
        // They may be whatever a rank has written.
        let expected = Frame {
            size: frame.size,
            number: last.number.wrapping_add(1),
            offset: last.offset.wrapping_add(GATEWAY_PIECE as u64),
            ..*last
        };
        usize::from(last.size) == GATEWAY_PIECE && frame.size > 0 && *frame == expected
    }

    /// Puts the pieces of the run, or as many as there is room for, into the batch as one frame;
    /// whether that was all.
    fn frame(&mut self, here: usize, wire: &impl Wire<M>, room: &mut Room) -> Result<bool, Broken> {
        let count = self.run.len();
        let last = usize::from(self.run[count - 1].frame.size);
        if !self.make_room(HEAD + (count - 1) * GATEWAY_PIECE + last, wire, room)? {
            // All before the last one are of the full size.
            let fit = room.left.saturating_sub(HEAD) / GATEWAY_PIECE;
            self.run.truncate(fit.min(count - 1));
        }
        let Some(Due { frame: first, .. }) = self.run.first() else { return Ok(false) };
        let (more, size) = (self.run.len() - 1, self.run[self.run.len() - 1].frame.size);
        let frame = Frame { more: more as u8, size, ..*first };
        let start = self.begin(&frame, wire);
        let is_lent = wire.is_bare() && frame.bytes() >= LENT;
        for Due { frame, slot, done, .. } in self.run.drain(..) {
            let (body, size) = (self.layout.outbound_body(here, slot), usize::from(frame.size));
            if is_lent {
                self.batch.lend(body, size);
            } else {
                let bytes = self.batch.bytes();
                let begun = bytes.len();
                bytes.resize(begun + size, 0);
                self.memory.read(body, &mut bytes[begun..]);
            }
            self.done.push(done);
        }
        self.seal(start, wire)?;
        Ok(more + 1 == count)
    }

    /// Begins a frame in the batch; where.
    fn begin(&mut self, frame: &Frame, wire: &impl Wire<M>) -> usize {
        let bytes = self.batch.bytes();
        let start = bytes.len();
        bytes.resize(start + wire.around().0, 0);
        bytes.extend_from_slice(&frame.write());
        start
    }

    /// Ends it.
    fn seal(&mut self, start: usize, wire: &impl Wire<M>) -> Result<(), Broken> {
        wire.seal(self.numbers.next, self.batch.bytes(), start)?;
        self.numbers.next += 1;
        Ok(())
    }

    /// Has room for a frame of so many bytes in the batch; false where the socket has none.
    fn make_room(
        &mut self,
        size: usize,
        wire: &impl Wire<M>,
        room: &mut Room,
    ) -> Result<bool, Broken> {
        let size = size + wire.around().1;
        if self.batch.len() + size > room.left.min(BATCH) {
            self.flush(wire, room)?;
            room.left = wire.room();
        }
        Ok(size <= room.left)
    }

    /// Writes the batch, and then says what was seen to.
    fn flush(&mut self, wire: &impl Wire<M>, room: &mut Room) -> Result<(), Broken> {
        if !self.batch.is_empty() {
            wire.write(&self.memory, &self.batch)?;
            room.left = room.left.saturating_sub(self.batch.len() + WRITE);
            self.batch.clear();
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
}
