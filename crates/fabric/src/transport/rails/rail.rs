//! One rail: a byte stream, what is on its way out on it, and what has come and is not whole.

use super::receive::Receiver;
use super::send::Sender;
use super::wire::{HEAD_MAX, Head, Seen};
use crate::error::{Error, Result};
use crate::protocol::Time;
use crate::strategy::Stream;
use std::io::IoSlice;
use std::ops::Range;

/// What is read at once where a head is expected: short messages come together. The rest of a long
/// piece is read to where it belongs.
const INBOX: usize = 8 * 1024;

/// Reads of one turn, so that a rail on which much comes does not keep the others waiting.
const READS: usize = 32;

/// In place of bytes that the receiver has already: it skips them.
const GONE: [u8; 4096] = [0; 4096];

/// A rail.
pub struct Rail {
    /// Its number at both ends.
    pub number: usize,
    /// Its address, or whose it is, for people.
    pub name: String,
    pub(super) stream: Box<dyn Stream>,
    inbox: Vec<u8>,
    unread: Range<usize>,
    /// What is still to come of a piece.
    piece: Range<u64>,
    heads: [u8; 2 * HEAD_MAX],
    unsent: Range<usize>,
    /// What is still to go of a piece.
    leaving: Range<u64>,
    /// It is watched for room.
    pub(super) is_watched: bool,
    /// Nothing can be sent any more; what has come is still to be read.
    is_deaf: bool,
}

impl Rail {
    /// Over a stream on which the join was answered.
    pub fn new(number: usize, name: String, stream: Box<dyn Stream>) -> Rail {
        Rail {
            number,
            name,
            stream,
            inbox: vec![0; INBOX],
            unread: 0..0,
            piece: 0..0,
            heads: [0; 2 * HEAD_MAX],
            unsent: 0..0,
            leaving: 0..0,
            is_watched: false,
            is_deaf: false,
        }
    }

    /// Whether nothing waits for room in the stream.
    pub fn is_clear(&self) -> bool {
        self.unsent.is_empty() && self.leaving.is_empty()
    }

    /// Whether it can still send.
    pub fn is_deaf(&self) -> bool {
        self.is_deaf
    }

    /// Sends nothing more.
    pub fn deafen(&mut self) {
        self.is_deaf = true;
        (self.unsent, self.leaving) = (0..0, 0..0);
    }

    fn head(&mut self, head: Head) {
        let mut bytes = [0; HEAD_MAX];
        let size = head.write(&mut bytes);
        if self.unsent.is_empty() {
            self.unsent = 0..0;
        }
        let end = self.unsent.end;
        self.heads[end..end + size].copy_from_slice(&bytes[..size]);
        self.unsent.end += size;
    }

    /// Puts an acknowledgement before what is sent next. Nothing may wait.
    pub fn tell(&mut self, seen: Seen) {
        self.head(Head::Seen(seen));
    }

    /// Puts a piece behind it.
    pub fn piece(&mut self, range: Range<u64>, is_end: bool) {
        if is_end {
            return self.head(Head::End { at: range.start });
        }
        let size = (range.end - range.start) as u32;
        self.head(Head::Piece { at: range.start, size });
        self.leaving = range;
    }

    /// Sends what waits; whether all of it has left.
    ///
    /// # Errors
    /// The stream's.
    pub fn flush(&mut self, sender: &Sender) -> Result<bool> {
        while !self.is_clear() {
            let head = &self.heads[self.unsent.clone()];
            let (gone, parts) = sender.bytes(&self.leaving);
            let sent = match gone {
                0 => {
                    let [first, second] = parts;
                    let parts = [head, first, second].map(IoSlice::new);
                    self.stream.try_write_parts(&parts)
                }
                gone => {
                    let filler = &GONE[..GONE.len().min(gone as usize)];
                    self.stream.try_write_parts(&[head, filler].map(IoSlice::new))
                }
            };
            match sent {
                Ok(size) => {
                    let short = size.min(self.unsent.len());
                    self.unsent.start += short;
                    self.leaving.start += (size - short) as u64;
                }
                Err(Error::WouldBlock) => return Ok(false),
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }

    /// Takes what has come, as far as there is little of it; whether that was all.
    ///
    /// # Errors
    /// The stream's; [`Error::Malformed`]. At its end, too, it is [`Error::Closed`].
    pub fn receive(
        &mut self,
        sender: &mut Sender,
        receiver: &mut Receiver,
        now: Time,
    ) -> Result<bool> {
        for _ in 0..READS {
            let (asked, got) = match self.read(receiver) {
                Err(Error::WouldBlock) => return Ok(true),
                done => done?,
            };
            if got == 0 {
                return Err(Error::Closed { peer: self.name.clone() });
            }
            let understood = self.understand(sender, receiver, now);
            understood.map_err(|what| Error::Malformed { peer: self.name.clone(), what })?;
            // What comes later is told by poll(2).
            if got < asked {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Reads once: what was asked for, and what came.
    fn read(&mut self, receiver: &mut Receiver) -> Result<(usize, usize)> {
        if !self.piece.is_empty() && self.unread.is_empty() {
            let left = (self.piece.end - self.piece.start) as usize;
            let slot = match receiver.slot(&self.piece) {
                Ok(slot) => slot,
                Err(old) => &mut self.inbox[..left.min(INBOX).min(old as usize)],
            };
            let (asked, got) = (slot.len(), self.stream.try_read(slot)?);
            let start = self.piece.start;
            self.piece.start += got as u64;
            if got > 0 {
                let arrived = receiver.arrived(self.number, start..self.piece.start);
                arrived.map_err(|what| Error::Malformed { peer: self.name.clone(), what })?;
            }
            return Ok((asked, got));
        }
        self.inbox.copy_within(self.unread.clone(), 0);
        self.unread = 0..self.unread.len();
        let room = &mut self.inbox[self.unread.end..];
        let (asked, got) = (room.len(), self.stream.try_read(room)?);
        self.unread.end += got;
        Ok((asked, got))
    }

    /// Carries out what is whole.
    fn understand(
        &mut self,
        sender: &mut Sender,
        receiver: &mut Receiver,
        now: Time,
    ) -> std::result::Result<(), String> {
        loop {
            if !self.piece.is_empty() {
                let left = (self.piece.end - self.piece.start) as usize;
                let size = left.min(self.unread.len());
                if size == 0 {
                    return Ok(());
                }
                let here = self.unread.start..self.unread.start + size;
                receiver.put(self.number, self.piece.start, &self.inbox[here])?;
                self.unread.start += size;
                self.piece.start += size as u64;
                continue;
            }
            let Some((head, size)) = Head::read(&self.inbox[self.unread.clone()])? else {
                return Ok(());
            };
            self.unread.start += size;
            match head {
                Head::Piece { at, size } => {
                    receiver.check(at, size)?;
                    self.piece = at..at + u64::from(size);
                }
                Head::Seen(seen) => sender.seen(self.number, seen, now)?,
                Head::End { at } => receiver.end(self.number, at)?,
            }
        }
    }
}
