//! What one who has the role to receive does: what has arrived from a node goes to the ranks here.
//!
//! *Short frames* are copied out and left where they are until they were brought: whoever is
//! stopped in between has lost nothing. *A long one*, where the wire permits that, goes from the
//! socket to slots that were claimed for it, at once and whole. Who is stopped in between has the
//! role and the slots: the connection is replaced, on which all of it comes again.

use super::endpoint::{Broken, Core, Wire, tag};
use super::frame::{Frame, HEAD, Kind};
use super::layout::{Boxes, Endpoint, Local, Memory, Pair};
use muster_base::limits::GATEWAY_RUN;

/// Bytes that are looked at where longer frames are taken without a look at all of them. What is
/// no longer reaches its rank sooner when it is copied out with its head, and taken away later.
const LOOK: usize = 20 * 1024;

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

/// The frame that begins there, if its head is complete.
fn begun(bytes: &[u8]) -> Result<Option<Frame>, Broken> {
    let read = |head| Frame::read(head).map_err(|_| Broken::Malformed);
    bytes.first_chunk().map(read).transpose()
}

impl<M: Memory> Core<M> {
    /// Takes what has arrived from a node to the ranks here. Who is patient leaves a piece for
    /// which there is no room where it is, unless the rank is known to take nothing.
    pub(super) fn receive(
        &mut self,
        node: usize,
        wire: &impl Wire<M>,
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
        wire: &impl Wire<M>,
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
        let size = self.look(node, wire, buffer)?;
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
            if body.len() != frame.bytes() {
                return Err(Broken::Malformed);
            }
            if !self.deliver(node, &frame, body, (wire.epoch(), is_patient))? {
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
            let fetched = self.fetch(node, wire, &frame, buffer, is_patient)?;
            if let Received::Frames(_) = fetched {
                self.memory.replace(at_opened, opened, tag(wire.epoch(), number + 1));
            }
            return Ok(fetched);
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

    /// Looks at what has arrived; how much of it was copied out.
    fn look(
        &mut self,
        node: usize,
        wire: &impl Wire<M>,
        buffer: &mut [u8],
    ) -> Result<usize, Broken> {
        if !wire.is_bare() {
            return wire.peek(buffer);
        }
        // Long ones come in a row, and of those only the head is needed.
        if self.is_long[node] {
            let size = wire.peek(&mut buffer[..HEAD])?;
            let frame = begun(&buffer[..size])?;
            self.is_long[node] = frame.is_none_or(|frame| HEAD + frame.bytes() > LOOK);
            if self.is_long[node] {
                return Ok(size);
            }
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
        is_patient: bool,
    ) -> Result<Received, Broken> {
        let (_, to) = self.ends(node, frame)?;
        let (whole, count) = (HEAD + frame.bytes(), frame.pieces().count());
        if wire.arrived()? < whole {
            return Ok(Received::Part);
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
        self.is_long[node] = true;
        self.note(to);
        Ok(Received::Frames(1))
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
    fn drop_piece(&self, node: usize, frame: &Frame, body: &[u8], epoch: u32) {
        let to = usize::from(frame.to);
        let wanted = self.memory.load(self.layout.of(to, Boxes::Wanted));
        let owed = tag(epoch, wanted.wrapping_add(1));
        self.memory.raise(self.layout.local(node, to, Local::Owed), owed);
        self.memory.store(self.layout.of(to, Boxes::Dropped), 1);
        self.memory.fence();
        self.put(node, frame, body);
    }
}
