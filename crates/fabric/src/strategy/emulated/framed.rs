//! Messages over a byte stream: before each its length, and at the end a goodbye.
//!
//! A frame is a length in four bytes and so many bytes. The length [`GOODBYE`] ends it all: who
//! drops its end says so, also where a socket is full, and a stream that ends without was cut off.
//! A length above [`FRAME_MAX`] is no frame; memory is taken for a message only when its length was
//! found good.
//!
//! Sending: a short message is gathered and leaves in one piece; of a long one the stream takes
//! what it has room for straight from the caller's memory. What has no room then waits here
//! (`leaving`) and goes first; as long as there is any, no other message is accepted, so at most
//! one message waits. [`Framed::send`] waits for room instead and copies nothing. Queued messages
//! are gathered until there is no room, and leave together; a long body is held, not copied.
//!
//! Receiving: one read gets head and body, and often several messages; they are taken in place, or
//! a long one with the buffer that it lies in, unless that is much longer. That buffer is used
//! again once nobody holds it. Buffers grow to the longest message and stay as long as their end:
//! up to three of [`FRAME_MAX`] bytes, for a peer that has sent and was sent such messages.

use super::{wait_for_room, with_head};
use crate::deadline::Deadline;
use crate::error::{Error, Result};
use crate::protocol::Payload;
use crate::strategy::{Datagram, Ready, Stream, Taken, Wait, late};
use crate::transport::Peer;
use crate::wait::Patience;
use muster_base::limits::{FRAME_MAX, GOODBYE_LINGER};
use std::io::IoSlice;
use std::ops::Range;
use std::os::fd::BorrowedFd;
use std::sync::Arc;

/// The length in front of each message.
const HEAD: usize = 4;

/// The length that says goodbye.
pub const GOODBYE: u32 = u32::MAX;

/// Up to here, gathering costs less than handing over several parts.
const GATHERED: usize = 4096;

/// What is read at once, until a longer message comes.
const BUFFER: usize = 64 * 1024;

/// From here on a message is handed over with its buffer: a new one costs less than the copy.
const LONG: usize = 2 * BUFFER;

/// The receive buffer grows by whole pages, so that little more than a message fits into it and
/// little of the next one is read with it, and moved when its turn comes.
const PAGE: usize = 4096;

/// How many times a message's size a buffer may have that is kept with it.
const MOST: usize = 2;

/// Messages over a byte stream.
#[derive(Debug)]
pub struct Framed<S: Stream> {
    inner: S,
    arrived: Vec<u8>,
    unread: Range<usize>,
    /// The last read got less than it had room for.
    is_drained: bool,
    /// A buffer that was handed over with a message, to be used again.
    lent: Option<Arc<Vec<u8>>>,
    leaving: Vec<u8>,
    unsent: Range<usize>,
    /// A body behind what is unsent, and how much of it has left.
    body: Payload,
    body_sent: usize,
    patience: Patience,
}

impl<S: Stream> Framed<S> {
    /// Over a stream on which nothing was sent yet.
    pub fn new(inner: S) -> Framed<S> {
        Framed {
            inner,
            arrived: vec![0; BUFFER],
            unread: 0..0,
            is_drained: false,
            lent: None,
            leaving: vec![0; HEAD + GATHERED],
            unsent: 0..0,
            body: Payload::default(),
            body_sent: 0,
            patience: Patience::new(),
        }
    }

    fn name(&self) -> String {
        self.inner.peer().name.clone()
    }

    /// Where the first unread message is, if it is whole.
    fn first(&self) -> Result<Option<Range<usize>>> {
        let start = self.unread.start + HEAD;
        Ok(self.announced()?.map(|size| start..start + size).filter(|at| at.end <= self.unread.end))
    }

    /// The length of the first unread message, if that much is there.
    fn announced(&self) -> Result<Option<usize>> {
        let Some(head) = self.arrived[self.unread.clone()].first_chunk::<HEAD>() else {
            return Ok(None);
        };
        match u32::from_le_bytes(*head) {
            GOODBYE => Err(Error::Closed { peer: self.name() }),
            size if size as usize > FRAME_MAX => {
                let what = format!("a frame of {size} bytes; it may have {FRAME_MAX}");
                Err(Error::Malformed { peer: self.name(), what })
            }
            size => Ok(Some(size as usize)),
        }
    }

    /// Reads more behind a first message that is not whole.
    fn receive(&mut self) -> Result<()> {
        self.receive_by(|inner, buffer| inner.try_read(buffer))
    }

    fn receive_by(&mut self, read: impl FnOnce(&mut S, &mut [u8]) -> Result<usize>) -> Result<()> {
        let whole = HEAD + self.announced()?.unwrap_or(0);
        if self.unread.is_empty() {
            self.unread = 0..0;
        }
        if self.unread.start + whole > self.arrived.len() || self.unread.end == self.arrived.len() {
            self.make_room(whole);
        }
        // Behind a long message nothing is read that would be moved when it is handed over.
        let end = if whole < LONG { self.arrived.len() } else { self.unread.start + whole };
        match read(&mut self.inner, &mut self.arrived[self.unread.end..end])? {
            0 => {
                let where_it_was =
                    if self.unread.is_empty() { "without a goodbye" } else { "within a message" };
                let evidence = format!("its connection ended {where_it_was}");
                Err(Error::Dead { peer: self.name(), evidence })
            }
            size => {
                self.unread.end += size;
                self.is_drained = self.unread.end < end;
                Ok(())
            }
        }
    }

    /// Moves what is unread to the front of a buffer in which so much has room.
    fn make_room(&mut self, whole: usize) {
        let size = self.unread.len();
        if whole > self.arrived.len() {
            let lent = self.lent.take().and_then(|lent| Arc::try_unwrap(lent).ok());
            // The kernel gives zeroed pages as they are used, so to announce much costs nothing.
            let mut larger = lent
                .filter(|lent| lent.len() >= whole && lent.len() <= MOST * whole)
                .unwrap_or_else(|| vec![0; whole.next_multiple_of(PAGE)]);
            larger[..size].copy_from_slice(&self.arrived[self.unread.clone()]);
            self.arrived = larger;
        } else {
            self.arrived.copy_within(self.unread.clone(), 0);
        }
        self.unread = 0..size;
    }

    /// What a failure to send means: the peer may have said goodbye, behind messages that nobody
    /// has taken yet.
    fn ended(&mut self, error: Error) -> Error {
        if !matches!(error, Error::Dead { .. }) {
            return error;
        }
        let mut at = self.unread.start;
        loop {
            let rest = &self.arrived[at.min(self.unread.end)..self.unread.end];
            match rest.first_chunk().map(|head| u32::from_le_bytes(*head)) {
                Some(GOODBYE) => return Error::Closed { peer: self.name() },
                Some(size) => at = at.saturating_add(HEAD + size as usize),
                None if self.unread.end == self.arrived.len() => return error,
                None => match self.inner.try_read(&mut self.arrived[self.unread.end..]) {
                    Ok(size @ 1..) => self.unread.end += size,
                    _ => return error,
                },
            }
        }
    }

    /// Hands the receive buffer over, and goes on in another with what is unread.
    fn hand_over(&mut self, message: Range<usize>) -> Payload {
        let unread = &self.arrived[self.unread.clone()];
        let mut next = vec![0; BUFFER.max(unread.len())];
        next[..unread.len()].copy_from_slice(unread);
        self.unread = 0..unread.len();
        let buffer = Arc::new(std::mem::replace(&mut self.arrived, next));
        self.lent = Some(buffer.clone());
        Payload::from(buffer).part(message)
    }

    /// So much of what is unsent has left.
    fn left(&mut self, size: usize) {
        let short = size.min(self.unsent.len());
        self.unsent.start += short;
        self.body_sent += size - short;
        if self.body_sent == self.body.len() {
            (self.body, self.body_sent) = (Payload::default(), 0);
        }
    }

    /// Adds to what leaves; false where there is no room.
    fn append(&mut self, size: usize, parts: &[&[u8]], body: &[u8]) -> bool {
        if self.unsent.is_empty() {
            self.unsent = 0..0;
        }
        let more = HEAD + parts.iter().map(|part| part.len()).sum::<usize>() + body.len();
        let end = self.unsent.end;
        let Some(mut room) = self.leaving.get_mut(end..end + more) else { return false };
        let head = (size as u32).to_le_bytes();
        for part in [&head[..]].iter().chain(parts).chain(&[body]) {
            let (here, behind) = room.split_at_mut(part.len());
            here.copy_from_slice(part);
            room = behind;
        }
        self.unsent.end += more;
        true
    }

    fn check(&self, size: usize) -> Result<()> {
        if size > FRAME_MAX {
            return Err(Error::TooLarge { what: "a message", size, limit: FRAME_MAX });
        }
        Ok(())
    }

    /// Writes from the caller's memory; what was written is gone from `rest`.
    fn write(&mut self, rest: &mut &mut [IoSlice<'_>]) -> Result<()> {
        match self.inner.try_write_parts(rest) {
            Ok(size) => {
                IoSlice::advance_slices(rest, size);
                Ok(())
            }
            Err(error) => Err(self.ended(error)),
        }
    }

    /// Keeps what has no room in the stream.
    fn keep(&mut self, rest: &[IoSlice<'_>]) {
        let size = rest.iter().map(|part| part.len()).sum();
        gather(rest, self.transmit_buffer(size));
    }

    /// Has the stream take what is unsent; whether it took all of it.
    fn push(&mut self) -> Result<bool> {
        while !self.unsent.is_empty() || !self.body.is_empty() {
            let first = &self.leaving[self.unsent.clone()];
            let written = match self.body.is_empty() {
                true => self.inner.try_write(first),
                false => {
                    let body = &self.body[self.body_sent..];
                    self.inner.try_write_parts(&[IoSlice::new(first), IoSlice::new(body)])
                }
            };
            match written {
                Ok(size) => self.left(size),
                Err(Error::WouldBlock) => return Ok(false),
                Err(error) => return Err(self.ended(error)),
            }
        }
        Ok(true)
    }

    fn transmit_buffer(&mut self, size: usize) -> &mut [u8] {
        if size > self.leaving.len() {
            self.leaving = vec![0; size];
        }
        self.unsent = 0..size;
        &mut self.leaving[..size]
    }
}

impl<S: Stream> Wait for Framed<S> {
    fn peer(&self) -> &Peer {
        self.inner.peer()
    }

    fn me(&self) -> &str {
        self.inner.me()
    }

    fn wait(&mut self, ready: Ready, deadline: Deadline) -> Result<()> {
        if ready == Ready::Send {
            let waited = self.inner.wait(Ready::Send, deadline);
            waited.map_err(|error| self.ended(error))?;
            return self.try_flush().map(drop);
        }
        if self.first()?.is_some() {
            return Ok(());
        }
        let has_left = match self.try_flush() {
            // What came before the end is there to be taken, read already or not.
            Err(_) if matches!(self.first(), Ok(Some(_))) => return Ok(()),
            Err(error) => return self.receive().map_err(|_| error),
            Ok(has_left) => has_left,
        };
        if !has_left {
            // The peer may answer only to what has not left yet.
            return match self.receive() {
                Err(Error::WouldBlock) => wait_for_room(&mut self.inner, deadline),
                done => done,
            };
        }
        self.patience.begin();
        while self.patience.lasts() {
            match self.receive() {
                Err(Error::WouldBlock) => {}
                done => {
                    self.patience.found();
                    return done;
                }
            }
        }
        self.patience.slept();
        // To sleep in the read itself saves two calls of three.
        self.receive_by(|inner, buffer| inner.read(buffer, deadline))
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.inner.descriptor()
    }
}

impl<S: Stream> Datagram for Framed<S> {
    fn limit(&self) -> usize {
        FRAME_MAX
    }

    fn try_fill(&mut self, size: usize, fill: &mut dyn FnMut(&mut [u8])) -> Result<()> {
        self.check(size)?;
        if !self.try_flush()? {
            return Err(Error::WouldBlock);
        }
        let (head, body) = self.transmit_buffer(HEAD + size).split_at_mut(HEAD);
        head.copy_from_slice(&(size as u32).to_le_bytes());
        fill(body);
        self.try_flush().map(drop)
    }

    fn try_send(&mut self, parts: &[IoSlice<'_>]) -> Result<()> {
        let size = parts.iter().map(|part| part.len()).sum();
        if size <= GATHERED {
            return self.try_fill(size, &mut |buffer| gather(parts, buffer));
        }
        self.check(size)?;
        if !self.try_flush()? {
            return Err(Error::WouldBlock);
        }
        with_head(&(size as u32).to_le_bytes(), parts, |mut rest| {
            self.write(&mut rest)?;
            while !rest.is_empty() {
                match self.write(&mut rest) {
                    Err(Error::WouldBlock) => {
                        self.keep(rest);
                        return Ok(());
                    }
                    done => done?,
                }
            }
            Ok(())
        })
    }

    fn try_queue(&mut self, parts: &[&[u8]], body: &Payload) -> Result<()> {
        let head: usize = parts.iter().map(|part| part.len()).sum();
        let size = head + body.len();
        self.check(size)?;
        if !self.body.is_empty() && !self.try_flush()? {
            return Err(Error::WouldBlock);
        }
        let is_short = size <= GATHERED;
        let gathered: &[u8] = if is_short { body } else { &[] };
        if !self.append(size, parts, gathered) {
            if !self.try_flush()? {
                return Err(Error::WouldBlock);
            }
            if !self.append(size, parts, gathered) {
                self.leaving.resize(HEAD + head, 0);
                assert!(self.append(size, parts, gathered), "there is room");
            }
        }
        if !is_short {
            (self.body, self.body_sent) = (body.clone(), 0);
        }
        Ok(())
    }

    fn try_take(&mut self, take: &mut dyn FnMut(&[u8])) -> Result<()> {
        loop {
            if let Some(at) = self.first()? {
                take(&self.arrived[at.clone()]);
                self.unread.start = at.end;
                return Ok(());
            }
            self.receive()?;
        }
    }

    fn try_keep(&mut self, take: &mut dyn FnMut(Taken<'_>)) -> Result<()> {
        loop {
            match self.first()? {
                Some(at) if at.len() >= LONG && self.arrived.len() <= MOST * at.len() => {
                    self.unread.start = at.end;
                    take(Taken::Kept(self.hand_over(at)));
                    return Ok(());
                }
                Some(_) => return self.try_take(&mut |message| take(Taken::Seen(message))),
                None => self.receive()?,
            }
        }
    }

    fn is_drained(&self) -> bool {
        self.is_drained && matches!(self.first(), Ok(None))
    }

    fn try_flush(&mut self) -> Result<bool> {
        Ok(self.push()? && self.inner.try_flush().map_err(|error| self.ended(error))?)
    }

    fn take(&mut self, deadline: Deadline, take: &mut dyn FnMut(&[u8])) -> Result<()> {
        let mut rounds = 0;
        loop {
            if self.first()?.is_some() {
                return self.try_take(take);
            }
            // A part of it comes each time, and all of it perhaps never.
            if deadline.has_passed(&mut rounds) {
                return Err(late(self, "a message", deadline));
            }
            self.wait(Ready::Receive, deadline)?;
        }
    }

    fn send(&mut self, parts: &[IoSlice<'_>], deadline: Deadline) -> Result<()> {
        let size = parts.iter().map(|part| part.len()).sum();
        self.check(size)?;
        while !self.try_flush()? {
            self.wait(Ready::Send, deadline)?;
        }
        if size <= GATHERED {
            return self.try_send(parts);
        }
        with_head(&(size as u32).to_le_bytes(), parts, |mut rest| -> Result<()> {
            let mut begun = false;
            while !rest.is_empty() {
                match self.write(&mut rest) {
                    Err(Error::WouldBlock) => {}
                    done => {
                        begun = true;
                        done?;
                        continue;
                    }
                }
                match self.inner.wait(Ready::Send, deadline) {
                    // What has begun is sent, as if it had been accepted at once.
                    Err(Error::Deadline { .. }) if begun => {
                        self.keep(rest);
                        return Ok(());
                    }
                    waited => waited.map_err(|error| self.ended(error))?,
                }
            }
            Ok(())
        })?;
        while !self.try_flush()? {
            match self.wait(Ready::Send, deadline) {
                Err(Error::Deadline { .. }) => break,
                waited => waited?,
            }
        }
        Ok(())
    }
}

impl<S: Stream> Framed<S> {
    /// Says goodbye: all messages have left, so the peer is not to take their end for a cut.
    fn say_goodbye(&mut self) -> Result<()> {
        let (goodbye, deadline) = (GOODBYE.to_le_bytes(), Deadline::after(GOODBYE_LINGER));
        let mut rest = &goodbye[..];
        while !rest.is_empty() {
            match self.inner.try_write(rest) {
                Ok(size) => rest = &rest[size..],
                Err(Error::WouldBlock) if self.inner.widen() => {}
                Err(Error::WouldBlock) if deadline.left().is_some() => {
                    self.inner.wait(Ready::Send, deadline)?;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

impl<S: Stream> Drop for Framed<S> {
    fn drop(&mut self) {
        // Behind half a message there is no goodbye: the peer is to know that it was cut off.
        if let Ok(true) = self.push() {
            // Who cannot be told finds out.
            let _ = self.say_goodbye();
        }
    }
}

fn gather(parts: &[IoSlice<'_>], mut buffer: &mut [u8]) {
    for part in parts {
        let (here, behind) = buffer.split_at_mut(part.len());
        here.copy_from_slice(part);
        buffer = behind;
    }
}
