//! What one who has the role to receive does: what has arrived from a node goes to the ranks here.
//!
//! *Short frames* are copied out and left where they are until they were brought: whoever is
//! stopped in between has lost nothing. *A long one*, where the wire permits that, goes from the
//! socket to slots that were claimed for it, at once and whole. Who is stopped in between has the
//! role and the slots: the connection is replaced, on which all of it comes again.
//!
//! *Its own.* A rank that waits for pieces leaves a long frame that is for itself, and is its next,
//! where it is, and takes it from there to where it belongs ([`Core::land`]): that saves the copy
//! by the slots. Whoever else takes the role meanwhile brings it to slots as ever.

use super::bytes::Bytes;
use super::endpoint::{Broken, Core, Wire, count, tag};
use super::frame::{Frame, HEAD, Kind};
use super::layout::{Boxes, Endpoint, Local, Memory, Pair};
use super::{Piece, Place};
use muster_base::limits::{GATEWAY_PIECE, GATEWAY_RUN};
use std::ops::Range;

/// Bytes that are looked at where longer frames are taken without a look at all of them. What is
/// no longer reaches its rank sooner when it is copied out with its head, and taken away later.
const LOOK: usize = 20 * 1024;

/// After a long frame, of so many others only the head is looked at first: a long message may end
/// with a short one.
const LONG: u8 = 2;

/// Bytes from which on a rank takes such a short one from where it is, if it is its own.
const LANDED: usize = 2048;

/// Bytes of such a frame that are got at once at least: a call takes as long as the copy of some
/// thousands.
const STAGED: usize = GATEWAY_PIECE;

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
    /// What is next is for whom looks, who is to take it from there.
    Own,
    /// Somebody else does it, or there is no connection.
    Other,
}

/// What one who receives does with what it finds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Manner {
    /// It leaves a piece for which there is no room where it is, unless the rank is known to take
    /// nothing.
    pub(super) is_patient: bool,
    /// It is a rank that takes what is for itself at once, from where it is.
    pub(super) lands: bool,
}

/// How a rank has taken a frame of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Landed {
    /// Somebody else has it, or will.
    Not,
    /// So many pieces of it.
    Pieces(u32),
    /// The connection did not give what had arrived, and who has taken it has got something else.
    Torn,
}

/// A whole frame in a connection, of which a rank takes the bytes.
struct Lying<'a, M> {
    wire: &'a dyn Wire<M>,
    /// Room for the frame's head, and for some bytes.
    buffer: &'a mut [u8],
    /// How much of the head, and of the bytes, is still in the connection.
    head: usize,
    left: usize,
    /// Which bytes of the buffer come before those.
    staged: Range<usize>,
    is_torn: bool,
}

impl<M> Lying<'_, M> {
    /// Gets the next ones: many straight to where they go, and where few are asked for some more.
    fn get(&mut self, into: &mut [u8]) {
        let (first, then) = into.split_at_mut(into.len().min(self.staged.len()));
        first.copy_from_slice(&self.buffer[self.staged.clone()][..first.len()]);
        self.staged.start += first.len();
        if then.is_empty() {
            return;
        }
        let (head, room) = self.buffer.split_at_mut(HEAD);
        let head = &mut head[..std::mem::take(&mut self.head)];
        if then.len() >= STAGED.min(self.left) {
            self.left -= then.len();
            self.is_torn |= self.wire.get(head, then).is_err();
            return;
        }
        let size = STAGED.min(self.left);
        self.left -= size;
        self.is_torn |= self.wire.get(head, &mut room[..size]).is_err();
        self.staged = HEAD..HEAD + size;
        self.get(then);
    }

    /// Throws away what nobody has asked for; whether all came as it was.
    fn end(mut self) -> bool {
        let rest = self.head + self.left;
        self.is_torn |= rest > 0 && self.wire.consume(&mut self.buffer[..rest]).is_err();
        !self.is_torn
    }
}

/// The frame that begins there, if its head is complete.
fn begun(bytes: &[u8]) -> Result<Option<Frame>, Broken> {
    let read = |head| Frame::read(head).map_err(|_| Broken::Malformed);
    bytes.first_chunk().map(read).transpose()
}

impl<M: Memory> Core<M> {
    /// Takes what has arrived from a node to the ranks here.
    pub(super) fn receive(
        &mut self,
        node: usize,
        wire: &impl Wire<M>,
        manner: Manner,
    ) -> Result<Received, Broken> {
        let Some(held) = self.claim(node, Endpoint::Receiving, wire.epoch()) else {
            return Ok(Received::Other);
        };
        let mut incoming = std::mem::take(&mut self.incoming);
        let received = self.receive_pass(node, wire, &mut incoming, manner);
        self.incoming = incoming;
        // Where the next frame begins is not known then: the role ends with the connection.
        if received.is_ok() {
            self.release(node, Endpoint::Receiving, held);
        }
        received
    }

    fn receive_pass(
        &mut self,
        node: usize,
        wire: &impl Wire<M>,
        buffer: &mut [u8],
        manner: Manner,
    ) -> Result<Received, Broken> {
        self.clear(node, wire, buffer)?;
        let size = self.look(node, wire, buffer, manner)?;
        if size == 0 {
            return Ok(Received::Nothing);
        }
        let at_opened = self.layout.endpoint(node, Endpoint::Opened);
        let opened = self.memory.load(at_opened);
        let Some(number) = count(opened, wire.epoch()) else { return Ok(Received::Other) };
        let (mut at, mut frames, mut is_blocked) = (0, 0, false);
        while let Some((inside, next)) = wire.open(number + frames as u64, &mut buffer[at..size])? {
            let (head, body) = buffer[at..][inside].split_first_chunk().ok_or(Broken::Malformed)?;
            let frame = Frame::read(head).map_err(|_| Broken::Malformed)?;
            if body.len() != frame.bytes() {
                return Err(Broken::Malformed);
            }
            if !self.deliver(node, &frame, body, (wire.epoch(), manner.is_patient))? {
                is_blocked = true;
                break;
            }
            at += next;
            frames += 1;
        }
        let is_part = frames == 0 && !is_blocked;
        if is_part
            && wire.is_bare()
            && let Some(frame) = begun(&buffer[..size])?
        {
            let fetched = self.fetch(node, wire, &frame, buffer, manner)?;
            if let Received::Frames(_) = fetched {
                self.memory.replace(at_opened, opened, tag(wire.epoch(), number + 1));
            }
            return Ok(fetched);
        }
        // The next one takes it away: whom the pieces are for does not wait for that.
        let at_consumed = self.layout.endpoint(node, Endpoint::Consumed);
        self.memory.replace(at_consumed, tag(wire.epoch(), 0), tag(wire.epoch(), at as u64));
        self.memory.replace(at_opened, opened, tag(wire.epoch(), number + frames as u64));
        Ok(match (frames, is_blocked) {
            (0, true) => Received::Blocked,
            (0, false) => Received::Part,
            (frames, _) => Received::Frames(frames),
        })
    }

    /// Takes away what the one before has brought already.
    fn clear(&self, node: usize, wire: &impl Wire<M>, buffer: &mut [u8]) -> Result<(), Broken> {
        let at = self.layout.endpoint(node, Endpoint::Consumed);
        let consumed = self.memory.load(at);
        match count(consumed, wire.epoch()) {
            Some(0) => return Ok(()),
            Some(count) => wire.consume(buffer.get_mut(..count as usize).ok_or(Broken::Ended)?)?,
            // Of a connection before this one, or, to who was stopped meanwhile, behind it.
            None if consumed < tag(wire.epoch(), 0) => {}
            None => return Ok(()),
        }
        self.memory.replace(at, consumed, tag(wire.epoch(), 0));
        Ok(())
    }

    /// Looks at what has arrived; how much of it was copied out.
    fn look(
        &mut self,
        node: usize,
        wire: &impl Wire<M>,
        buffer: &mut [u8],
        manner: Manner,
    ) -> Result<usize, Broken> {
        if !wire.is_bare() {
            return wire.peek(buffer);
        }
        // Long ones come in a row, and of those only the head is needed.
        if self.long[node] > 0 {
            let size = wire.peek(&mut buffer[..HEAD])?;
            let Some(frame) = begun(&buffer[..size])? else { return Ok(size) };
            let lands = manner.lands && frame.bytes() >= LANDED && self.is_own(node, &frame);
            if lands || HEAD + frame.bytes() > LOOK {
                return Ok(size);
            }
            self.long[node] -= 1;
        }
        wire.peek(&mut buffer[..LOOK])
    }

    /// Takes a frame of which only a part was looked at to the slots of its rank, once all of it is
    /// there.
    fn fetch(
        &mut self,
        node: usize,
        wire: &impl Wire<M>,
        frame: &Frame,
        buffer: &mut [u8],
        Manner { is_patient, lands }: Manner,
    ) -> Result<Received, Broken> {
        let (_, to) = self.ends(node, frame)?;
        let (whole, count) = (HEAD + frame.bytes(), frame.pieces().count());
        if wire.arrived()? < whole {
            return Ok(Received::Part);
        }
        if lands && self.is_own(node, frame) {
            return Ok(Received::Own);
        }
        let mut claims = std::mem::take(&mut self.claims);
        claims.clear();
        claims.extend(self.free_slots(to).take(count));
        let is_claimed = claims.len() == count;
        let mut taken = Ok(());
        if is_claimed {
            let mut bodies = [(0, 0); GATEWAY_RUN];
            for ((body, claim), piece) in bodies.iter_mut().zip(&claims).zip(frame.pieces()) {
                *body = (self.layout.inbound_body(to, claim.slot), piece.size.into());
            }
            taken = wire.take(&self.memory, &mut buffer[..HEAD], &bodies[..count]);
        }
        if is_claimed && taken.is_ok() {
            let pieces = frame.pieces().zip(&claims);
            pieces.for_each(|(piece, claim)| self.publish(node, &piece, claim));
        } else {
            claims.iter().for_each(|claim| self.give_back(to, claim));
        }
        self.claims = claims;
        taken?;
        if !is_claimed {
            if self.may_wait(to, is_patient) {
                return Ok(Received::Blocked);
            }
            wire.take(&self.memory, &mut buffer[..whole], &[])?;
            for (piece, body) in frame.with(&buffer[HEAD..whole]) {
                self.drop_piece(node, &piece, body, wire.epoch());
            }
        }
        self.long[node] = LONG;
        self.note(to);
        Ok(Received::Frames(1))
    }

    /// Whether a frame is the next one that this rank takes.
    fn is_own(&self, node: usize, frame: &Frame) -> bool {
        let taken = self.layout.pair(node, self.me, frame.from.into(), Pair::Taken);
        frame.kind == Kind::Piece
            && self.ends(node, frame).is_ok_and(|(_, to)| to == self.me)
            && self.memory.load(taken).wrapping_add(1) == frame.number
    }

    /// Takes the next frame, if it is this rank's own, from where it is to where it belongs. Who is
    /// stopped in between has taken nothing so far as others know, and finds the same frame next
    /// when it goes on: no other process takes anything for it.
    pub(super) fn land(
        &mut self,
        node: usize,
        wire: &impl Wire<M>,
        take: &mut dyn FnMut(Piece<'_>),
    ) -> Result<Landed, Broken> {
        let Some(held) = self.claim(node, Endpoint::Receiving, wire.epoch()) else {
            return Ok(Landed::Not);
        };
        let mut incoming = std::mem::take(&mut self.incoming);
        let landed = self.land_next(node, wire, &mut incoming, take);
        self.incoming = incoming;
        // What then comes next is no frame, and for nobody.
        if matches!(landed, Ok(Landed::Pieces(_) | Landed::Not)) {
            self.release(node, Endpoint::Receiving, held);
        }
        landed
    }

    fn land_next(
        &mut self,
        node: usize,
        wire: &impl Wire<M>,
        buffer: &mut [u8],
        take: &mut dyn FnMut(Piece<'_>),
    ) -> Result<Landed, Broken> {
        self.clear(node, wire, buffer)?;
        let size = wire.peek(&mut buffer[..HEAD])?;
        let Some(frame) = begun(&buffer[..size])? else { return Ok(Landed::Not) };
        let (from, size) = (Place { node: node as u32, rank: frame.from.into() }, frame.bytes());
        if !self.is_own(node, &frame) || wire.arrived()? < HEAD + size {
            return Ok(Landed::Not);
        }
        let mut lying =
            Lying { wire, buffer, head: HEAD, left: size, staged: 0..0, is_torn: false };
        let mut get = |into: &mut [u8]| lying.get(into);
        let bytes = Bytes::of_line(&mut get, size);
        take(Piece { from, total: frame.total, offset: frame.offset, bytes });
        if !lying.end() {
            return Ok(Landed::Torn);
        }
        self.long[node] = if HEAD + size > LOOK { LONG } else { self.long[node].saturating_sub(1) };
        let taken = self.layout.pair(node, self.me, frame.from.into(), Pair::Taken);
        self.memory.store(taken, frame.number + u64::from(frame.more));
        self.memory.count(self.layout.local(node, self.me, Local::Posts));
        Ok(Landed::Pieces(1 + u32::from(frame.more)))
    }

    /// The ranks that a frame is from and for.
    fn ends(&self, node: usize, frame: &Frame) -> Result<(usize, usize), Broken> {
        let (from, to) = (usize::from(frame.from), usize::from(frame.to));
        let are_there = from < self.layout.there(node) && to < self.layout.here();
        are_there.then_some((from, to)).ok_or(Broken::Malformed)
    }

    /// Whether what a rank has no room for may wait: it is not known to take nothing.
    fn may_wait(&self, to: usize, is_patient: bool) -> bool {
        is_patient && self.memory.load(self.layout.of(to, Boxes::Dropped)) == 0
    }

    /// Does what a frame says; false where it has to wait.
    fn deliver(
        &mut self,
        node: usize,
        frame: &Frame,
        body: &[u8],
        (epoch, is_patient): (u32, bool),
    ) -> Result<bool, Broken> {
        let (from, to) = self.ends(node, frame)?;
        match frame.kind {
            Kind::Piece => {
                self.note(to);
                for (piece, body) in frame.with(body) {
                    if self.put(node, &piece, body) {
                        continue;
                    }
                    if self.may_wait(to, is_patient) {
                        return Ok(false);
                    }
                    self.drop_piece(node, &piece, body, epoch);
                }
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
    pub(super) fn drop_piece(&self, node: usize, frame: &Frame, body: &[u8], epoch: u32) {
        let to = usize::from(frame.to);
        let wanted = self.memory.load(self.layout.of(to, Boxes::Wanted));
        let owed = tag(epoch, wanted.wrapping_add(1));
        self.memory.raise(self.layout.local(node, to, Local::Owed), owed);
        self.memory.store(self.layout.of(to, Boxes::Dropped), 1);
        self.memory.fence();
        self.put(node, frame, body);
    }
}
