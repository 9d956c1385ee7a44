//! Segment: memory of many owners under one numbering (EPOS, section 2.1, over the asynchronous
//! remote copy strategy).
//!
//! A segment of N pieces of equal size: byte `offset` is in piece `offset / size`, which its owner
//! has exposed as a region. Any range is read and written by get and put, across pieces too; who
//! holds a piece itself reaches it directly. Operations on one piece take effect in their order, on
//! different pieces in any; [`Segment::fence`] waits until all earlier puts have taken effect, also
//! those whose own wait, or start, was given up.
//!
//! An owner that is gone takes its piece along: operations on it fail, on others they go on. Who
//! waits lets the peers' operations get on meanwhile, so owners may wait for one another.

use super::many::Many;
use crate::deadline::Deadline;
use crate::error::{Error, Result};
use crate::region::Region;
use crate::strategy::{Completion, Key, Ready, RemoteCopy};
use muster_base::limits::{SEGMENT_OPERATIONS_MAX, SEGMENT_PARTS_MAX};
use std::io;
use std::time::Duration;

/// How long to wait for room to send before the peers' operations get on again.
const NAP: Duration = Duration::from_millis(1);

/// Where a piece is.
pub enum Piece<R> {
    /// In a region of this place.
    Here(Region),
    /// At the other end of a connection, by the key that its owner gave it.
    There(R, Key),
}

/// An operation that has been started. Somebody has to wait for it, or to fence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "an operation holds its place until it is waited for"]
pub struct Handle {
    place: usize,
    visit: u32,
}

/// Distributed shared memory.
///
/// ```
/// # use muster_fabric::{Deadline, Result, communicator::{Segment, segment::Piece}};
/// # use muster_fabric::{region::*, strategy::Ready, transport::{self, Hello, Lane}};
/// # use std::{sync::mpsc, thread, time::Duration};
/// # fn main() -> Result<()> {
/// # let (at, soon) = ("proc!segment".parse()?, Deadline::after(Duration::from_secs(30)));
/// # let mut listener = transport::of(&at)?.listen(&at)?;
/// let (tell, told) = mpsc::channel();
/// let owner = thread::spawn(move || -> Result<()> {
///     let mut copy = listener.accept(soon)?.remote_copy()?;
///     let _ = tell.send(copy.expose(&Region::new(100, Rights::ALL))?);
///     // Its peer's operations get on until the peer goes, which is an error.
///     while copy.try_progress()?.is_none() { copy.wait(Ready::Receive, soon)?; }
///     Ok(())
/// });
/// # let hello = Hello { name: "me".into(), service: "example".into(), lane: Lane::Bulk };
/// let copy = transport::of(&at)?.connect(&at, &hello, soon)?.remote_copy()?;
/// let there = Piece::There(copy, told.recv().expect("the owner's key"));
/// let mut segment = Segment::new(100, vec![Piece::Here(Region::new(100, Rights::ALL)), there])?;
/// segment.write(95, b"in both pieces", soon)?;
/// # let mut bytes = [0; 14];
/// segment.read(95, &mut bytes, soon)?;
/// assert_eq!(&bytes, b"in both pieces");
/// # drop(segment); assert!(owner.join().expect("no panic").is_err()); Ok(())
/// # }
/// ```
pub struct Segment<R> {
    size: u64,
    owners: Vec<Owner<R>>,
    operations: Box<[Operation]>,
    parts: Box<[Part]>,
    free: Vec<usize>,
    /// How the first put failed for which nobody waits any more, since the last fence.
    unheard: Option<Error>,
    many: Many,
}

struct Owner<R> {
    piece: Piece<R>,
    /// The most bytes of one operation, as far as it is known.
    limit: usize,
    /// How its connection ended.
    lost: Option<String>,
}

#[derive(Default)]
struct Operation {
    visit: u32,
    kind: Option<Kind>,
    /// Parts under way.
    left: usize,
    /// What was read; the memory stays for the next one.
    bytes: Vec<u8>,
    failed: Option<Error>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Put,
    Get,
}

/// What an operation has under way at one owner.
#[derive(Clone, Copy, Default)]
struct Part {
    visit: u32,
    owner: Option<usize>,
    /// None when nobody waits for it any more.
    operation: Option<usize>,
    is_put: bool,
    /// Where in the operation's bytes, and how many.
    at: usize,
    count: usize,
}

/// What is to be moved.
#[derive(Clone, Copy)]
enum Move<'a> {
    Put(&'a [u8]),
    Get(usize),
}

impl<R: RemoteCopy> Segment<R> {
    /// A segment of these pieces, each of `size` bytes.
    ///
    /// # Errors
    /// [`Error::Access`] when a piece of this place is smaller; [`Error::TooLarge`] when all of
    /// them are more than offsets can name; [`Error::Exhausted`].
    pub fn new(size: u64, pieces: Vec<Piece<R>>) -> Result<Segment<R>> {
        if size.checked_mul(pieces.len() as u64).is_none() {
            let limit = usize::MAX / pieces.len();
            return Err(Error::TooLarge { what: "a segment's piece", size: size as usize, limit });
        }
        let mut many = Many::new()?;
        for (index, piece) in pieces.iter().enumerate() {
            match piece {
                Piece::Here(region) if (region.size() as u64) < size => {
                    let why = "a piece is smaller than the others";
                    return Err(Error::Access { key: None, offset: 0, count: size as usize, why });
                }
                Piece::Here(_) => {}
                Piece::There(copy, _) => many.add(index as u64, copy.descriptor())?,
            }
        }
        let owner = |piece| Owner { piece, limit: usize::MAX, lost: None };
        Ok(Segment {
            size,
            owners: pieces.into_iter().map(owner).collect(),
            operations: (0..SEGMENT_OPERATIONS_MAX).map(|_| Operation::default()).collect(),
            parts: vec![Part::default(); SEGMENT_PARTS_MAX].into(),
            free: (0..SEGMENT_PARTS_MAX).rev().collect(),
            unheard: None,
            many,
        })
    }

    /// Bytes of all pieces.
    pub fn size(&self) -> u64 {
        self.size * self.owners.len() as u64
    }

    /// Writes, and waits until it has taken effect.
    ///
    /// # Errors
    /// [`Error::Access`] outside of the segment, or where an owner does not allow it;
    /// [`Error::Dead`] when an owner is gone; [`Error::Deadline`]. So for the others.
    pub fn write(&mut self, offset: u64, bytes: &[u8], deadline: Deadline) -> Result<()> {
        let handle = self.put(offset, bytes, deadline)?;
        self.wait(handle, deadline).map(drop)
    }

    /// Reads.
    ///
    /// # Errors
    /// See [`Segment::write`].
    pub fn read(&mut self, offset: u64, buffer: &mut [u8], deadline: Deadline) -> Result<()> {
        let handle = self.get(offset, buffer.len(), deadline)?;
        buffer.copy_from_slice(self.wait(handle, deadline)?);
        Ok(())
    }

    /// Starts to write; waits at most for room to send. `bytes` can be used again at once.
    ///
    /// # Errors
    /// See [`Segment::write`]; [`Error::Exhausted`] when too many were not waited for. A part of
    /// it may take effect.
    pub fn put(&mut self, offset: u64, bytes: &[u8], deadline: Deadline) -> Result<Handle> {
        self.start(offset, Move::Put(bytes), deadline)
    }

    /// Starts to read; waits at most for room to send.
    ///
    /// # Errors
    /// See [`Segment::put`].
    pub fn get(&mut self, offset: u64, count: usize, deadline: Deadline) -> Result<Handle> {
        self.start(offset, Move::Get(count), deadline)
    }

    /// Whether an operation has ended; then waiting for it takes no time.
    ///
    /// # Errors
    /// The system's.
    ///
    /// # Panics
    /// When it was waited for already, or a fence has settled it; or it is another segment's.
    pub fn has_ended(&mut self, handle: Handle) -> Result<bool> {
        self.progress()?;
        Ok(self.operation(handle).left == 0)
    }

    /// Waits for an operation; what it read, nothing if it wrote: its place, which is used again,
    /// lends it. After an error, a deadline's
    /// too, nobody can wait for it any more.
    ///
    /// # Errors
    /// See [`Segment::write`].
    ///
    /// # Panics
    /// When it was waited for already, or a fence has settled it; or it is another segment's.
    pub fn wait(&mut self, handle: Handle, deadline: Deadline) -> Result<&[u8]> {
        while self.operation(handle).left > 0 {
            if let Err(error) = self.turn(deadline, Some(handle.place)) {
                self.abandon(handle.place);
                return Err(error);
            }
        }
        let operation = self.operation(handle);
        let failed = operation.failed.take();
        operation.end();
        failed.map_or(Ok(&operation.bytes[..]), Err)
    }

    /// Waits until all earlier puts have taken effect, and settles them: nobody has to wait for
    /// them any more, and nobody can.
    ///
    /// # Errors
    /// The first one of a put that was not waited for; [`Error::Deadline`].
    pub fn fence(&mut self, deadline: Deadline) -> Result<()> {
        while let Some(place) = self.operations.iter().position(|put| put.is_put() && put.left > 0)
        {
            self.turn(deadline, Some(place))?;
        }
        while self.parts.iter().any(Part::is_given_up_put) {
            self.turn(deadline, None)?;
        }
        let mut result = self.unheard.take().map_or(Ok(()), Err);
        for put in self.operations.iter_mut().filter(|operation| operation.is_put()) {
            let failed = put.failed.take();
            put.end();
            result = result.and(failed.map_or(Ok(()), Err));
        }
        result
    }

    /// Lets the operations of this place and of the peers get on; returns whether some did. Owners
    /// that do nothing else have to call it now and then where remote copy is emulated.
    ///
    /// # Errors
    /// The system's. A lost owner is told by the operations on its piece.
    pub fn progress(&mut self) -> Result<bool> {
        let mut has_moved = false;
        for index in 0..self.owners.len() {
            while self.owners[index].lost.is_none()
                && let Piece::There(copy, _) = &mut self.owners[index].piece
            {
                match copy.try_progress() {
                    Ok(Some(completion)) => self.complete(index, completion),
                    Ok(None) | Err(Error::WouldBlock) => break,
                    Err(error) => self.lose(index, &error),
                }
                has_moved = true;
            }
        }
        Ok(has_moved)
    }

    fn start(&mut self, offset: u64, what: Move<'_>, deadline: Deadline) -> Result<Handle> {
        let (kind, count) = match what {
            Move::Put(bytes) => (Kind::Put, bytes.len()),
            Move::Get(count) => (Kind::Get, count),
        };
        if offset.checked_add(count as u64).is_none_or(|end| end > self.size()) {
            let why = "the segment ends before";
            return Err(Error::Access { key: None, offset, count, why });
        }
        let Some(place) = self.operations.iter().position(|operation| operation.kind.is_none())
        else {
            let source = io::Error::other("nobody has waited for those that were started");
            return Err(Error::Exhausted { what: "places for operations", source });
        };
        let operation = &mut self.operations[place];
        operation.kind = Some(kind);
        operation.bytes.clear();
        if kind == Kind::Get {
            operation.bytes.resize(count, 0);
        }
        let mut done = 0;
        while done < count {
            let result = match self.start_part(place, offset + done as u64, done, what) {
                Ok(moved) => {
                    done += moved;
                    Ok(())
                }
                Err(Error::WouldBlock) => self.make_room(offset + done as u64, deadline),
                Err(error) => Err(error),
            };
            if let Err(error) = result {
                self.abandon(place);
                return Err(error);
            }
        }
        Ok(Handle { place, visit: self.operations[place].visit })
    }

    /// Starts what begins at `offset`, as far as one owner can take it at once; returns how much
    /// that is. `at` is where it is in the operation.
    fn start_part(
        &mut self,
        place: usize,
        offset: u64,
        at: usize,
        what: Move<'_>,
    ) -> Result<usize> {
        let (index, offset) = ((offset / self.size) as usize, offset % self.size);
        let owner = &mut self.owners[index];
        let room = usize::try_from(self.size - offset).unwrap_or(usize::MAX).min(owner.limit);
        let count = match what {
            Move::Put(bytes) => bytes.len() - at,
            Move::Get(count) => count - at,
        }
        .min(room);
        let operation = &mut self.operations[place];
        let (copy, key) = match &mut owner.piece {
            Piece::Here(region) => {
                match what {
                    Move::Put(bytes) => region.write(offset, &bytes[at..at + count])?,
                    Move::Get(_) => region.read(offset, &mut operation.bytes[at..at + count])?,
                }
                return Ok(count);
            }
            Piece::There(copy, key) => (copy, *key),
        };
        if let Some(evidence) = &owner.lost {
            let (peer, evidence) = (copy.peer().to_string(), evidence.clone());
            return Err(Error::Dead { peer, evidence });
        }
        let &number = self.free.last().ok_or(Error::WouldBlock)?;
        let part = &mut self.parts[number];
        let token = (u64::from(part.visit) << 32) | number as u64;
        let started = match what {
            Move::Put(bytes) => copy.try_put(key, offset, &bytes[at..at + count], token),
            Move::Get(_) => copy.try_get(key, offset, count, token),
        };
        match started {
            Ok(()) => {}
            // Smaller parts do as well.
            Err(Error::TooLarge { limit, .. }) if (1..count).contains(&limit) => {
                owner.limit = limit;
                return Ok(0);
            }
            Err(error @ (Error::WouldBlock | Error::TooLarge { .. })) => return Err(error),
            Err(error) => {
                if is_end(&error) {
                    self.lose(index, &error);
                }
                return Err(error);
            }
        }
        let (owner, operation, is_put) = (Some(index), Some(place), matches!(what, Move::Put(_)));
        *part = Part { visit: part.visit, owner, operation, is_put, at, count };
        self.free.pop();
        self.operations[place].left += 1;
        Ok(count)
    }

    /// Waits a moment for room at the owner of `offset`, while other things get on.
    fn make_room(&mut self, offset: u64, deadline: Deadline) -> Result<()> {
        let Some(left) = deadline.left().filter(|_| !self.free.is_empty()) else {
            return self.turn(deadline, None);
        };
        if self.progress()? {
            return Ok(());
        }
        if let Piece::There(copy, _) = &mut self.owners[(offset / self.size) as usize].piece {
            // How this ends is seen at the next attempt.
            let _ = copy.wait(Ready::Send, Deadline::after(left.min(NAP)));
        }
        Ok(())
    }

    /// Lets things get on, and waits if they do not. `place` is who waits.
    fn turn(&mut self, deadline: Deadline, place: Option<usize>) -> Result<()> {
        if self.progress()? {
            self.many.awake();
            return Ok(());
        }
        // Peers wait for answers that had no room.
        let is_pressed = self.owners.iter_mut().fold(false, |is_pressed, owner| {
            is_pressed | (owner.lost.is_none() && owner.is_pressed())
        });
        self.many.press(is_pressed);
        let Segment { many, parts, owners, .. } = self;
        let late = || {
            let slow = parts.iter().find(|part| part.owner.is_some() && part.operation == place);
            let (who, whom) = match slow.and_then(|part| part.owner).map(|at| &owners[at].piece) {
                Some(Piece::There(copy, _)) => (copy.me().to_owned(), copy.peer().to_string()),
                _ => ("a segment".to_owned(), "the owners of its pieces".to_owned()),
            };
            deadline.missed(who, whom, "an operation has not ended")
        };
        many.wait(deadline, late, |_| {})
    }

    fn complete(&mut self, index: usize, completion: Completion) {
        let (number, visit) = (completion.token as u32 as usize, (completion.token >> 32) as u32);
        let Some(&part) = self.parts.get(number) else { return };
        if part.owner != Some(index) || part.visit != visit {
            return; // It is not one of ours.
        }
        self.release(number);
        let Some(place) = part.operation else {
            if let Err(error) = completion.result
                && part.is_put
            {
                self.unheard.get_or_insert(error);
            }
            return;
        };
        let operation = &mut self.operations[place];
        operation.left -= 1;
        let failed = match completion.result {
            Err(error) => Some(error),
            Ok(()) if operation.is_put() => None,
            Ok(()) if completion.bytes.len() == part.count => {
                let place = &mut operation.bytes[part.at..part.at + part.count];
                place.copy_from_slice(&completion.bytes);
                None
            }
            Ok(()) => Some(self.owners[index].malformed(completion.bytes.len(), part.count)),
        };
        operation.failed = operation.failed.take().or(failed);
    }

    /// An owner is gone, and what it was to do fails.
    fn lose(&mut self, index: usize, error: &Error) {
        let Piece::There(copy, _) = &self.owners[index].piece else { return };
        let evidence = match error {
            Error::Dead { evidence, .. } => evidence.clone(),
            other => other.to_string(),
        };
        self.many.remove(copy.descriptor());
        let peer = copy.peer().to_string();
        for number in 0..self.parts.len() {
            let part = self.parts[number];
            if part.owner != Some(index) {
                continue;
            }
            self.release(number);
            let (peer, evidence) = (peer.clone(), evidence.clone());
            let dead = Error::Dead { peer, evidence };
            if let Some(place) = part.operation {
                let operation = &mut self.operations[place];
                operation.left -= 1;
                operation.failed.get_or_insert(dead);
            } else if part.is_put {
                self.unheard.get_or_insert(dead);
            }
        }
        self.owners[index].lost = Some(evidence);
    }

    fn release(&mut self, number: usize) {
        let part = &mut self.parts[number];
        *part = Part { visit: part.visit.wrapping_add(1), ..Part::default() };
        self.free.push(number);
    }

    /// Nobody waits for an operation any more.
    fn abandon(&mut self, place: usize) {
        for part in self.parts.iter_mut().filter(|part| part.operation == Some(place)) {
            part.operation = None;
        }
        self.operations[place].end();
    }

    fn operation(&mut self, handle: Handle) -> &mut Operation {
        let operation = &mut self.operations[handle.place];
        let is_there = operation.kind.is_some() && operation.visit == handle.visit;
        assert!(
            is_there,
            "an operation of this segment can be waited for once, and before a fence"
        );
        operation
    }
}

/// Whether that ends a connection. What was refused on this side, or lacked something, has not
/// reached the owner.
fn is_end(error: &Error) -> bool {
    use Error::{Closed, Dead, Io, Malformed};
    matches!(error, Closed { .. } | Dead { .. } | Malformed { .. } | Io { .. })
}

impl<R: RemoteCopy> Owner<R> {
    /// Whether something has no room. How a connection ends is seen when it gets on.
    fn is_pressed(&mut self) -> bool {
        match &mut self.piece {
            Piece::There(copy, _) => matches!(copy.try_flush(), Ok(false)),
            Piece::Here(_) => false,
        }
    }

    fn malformed(&self, sent: usize, asked: usize) -> Error {
        let peer = match &self.piece {
            Piece::There(copy, _) => copy.peer().to_string(),
            Piece::Here(_) => unreachable!("what is here is not sent"),
        };
        Error::Malformed { peer, what: format!("{sent} bytes where {asked} were asked for") }
    }
}

impl Part {
    /// Whether it is of a put that nobody waits for by itself any more.
    fn is_given_up_put(&self) -> bool {
        self.owner.is_some() && self.operation.is_none() && self.is_put
    }
}

impl Operation {
    fn is_put(&self) -> bool {
        self.kind == Some(Kind::Put)
    }

    /// Makes its place free.
    fn end(&mut self) {
        let (visit, bytes) = (self.visit.wrapping_add(1), std::mem::take(&mut self.bytes));
        *self = Operation { visit, bytes, ..Operation::default() };
    }
}
