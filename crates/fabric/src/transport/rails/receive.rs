//! The receiver's core: pieces that come over several rails become a stream again. Without I/O.
//!
//! Bytes are put where they belong in a window, whose size the sender knows; they are read up to
//! the first gap. What has come already is skipped. An acknowledgement says for the whole stream
//! what is there and how much room there is, and for its rail how much was taken off it; it goes
//! when [`OFTEN`] bytes have come, when a quarter of the window is free again, and when there is
//! nothing more to do; before that it rides on what is sent anyway.

use super::window::Window;
use super::wire::Seen;
use muster_base::limits::{RAILS_MAX, RAILS_PIECES};
use std::ops::Range;

/// An acknowledgement for so many bytes, two pieces, goes at once.
const OFTEN: u64 = 128 * 1024;

/// Gaps between what has come: each is of at least one piece that is or was under way.
const GAPS_MAX: usize = RAILS_MAX * RAILS_PIECES;

/// The receiver's side of a connection.
#[derive(Debug)]
pub struct Receiver {
    /// What has not been read.
    window: Window,
    size: u64,
    /// Bytes up to here are there.
    received: u64,
    /// Ranges beyond that, apart from each other and in order.
    beyond: Vec<Range<u64>>,
    end: Option<u64>,
    /// The sender was told of room up to here.
    room: u64,
    rails: Vec<Taken>,
}

/// What has come over one rail, and what was said about it there.
#[derive(Clone, Copy, Debug)]
struct Taken {
    units: u64,
    told: u64,
    room: u64,
    /// What was said elsewhere is lost.
    is_due: bool,
}

impl Receiver {
    /// Over so many rails, with a window of this size.
    pub fn new(rails: usize, window: usize) -> Receiver {
        let size = window as u64;
        Receiver {
            window: Window::new(window),
            size,
            received: 0,
            beyond: Vec::with_capacity(64),
            end: None,
            room: size,
            rails: vec![Taken { units: 0, told: 0, room: size, is_due: false }; rails],
        }
    }

    /// How many bytes can be read.
    pub fn available(&self) -> usize {
        (self.received - self.window.begin()) as usize
    }

    /// Whether all of the stream has been read.
    pub fn is_at_end(&self) -> bool {
        self.end == Some(self.window.begin())
    }

    /// Whether all of the stream has come.
    pub fn is_whole(&self) -> bool {
        self.end == Some(self.received)
    }

    /// Reads what is there and fits.
    pub fn read(&mut self, buffer: &mut [u8]) -> usize {
        let begin = self.window.begin();
        let size = buffer.len().min(self.available());
        let mut rest = &mut buffer[..size];
        for part in self.window.parts(&(begin..begin + size as u64)) {
            let (here, behind) = rest.split_at_mut(part.len());
            here.copy_from_slice(part);
            rest = behind;
        }
        let end = begin + size as u64;
        self.window.advance(end, end == self.received && self.beyond.is_empty());
        size
    }

    /// Whether a piece may come.
    ///
    /// # Errors
    /// It is not in the window, or behind the end.
    pub fn check(&self, at: u64, size: u32) -> Result<(), String> {
        let end = at.checked_add(size.into()).filter(|&end| end <= self.room);
        let end =
            end.ok_or_else(|| format!("a piece at {at}; there is room up to {}", self.room))?;
        match self.end {
            Some(last) if end > last => Err(format!("a piece at {at} behind the end at {last}")),
            _ => Ok(()),
        }
    }

    /// Where the first bytes of a range go that was found good.
    ///
    /// # Errors
    /// So many of them are there already.
    pub fn slot(&mut self, range: &Range<u64>) -> Result<&mut [u8], u64> {
        match self.received.min(range.end).saturating_sub(range.start) {
            0 => Ok(self.window.slot(range)),
            old => Err(old),
        }
    }

    /// Bytes have come: they lie in the window, or were there before.
    ///
    /// # Errors
    /// There are more gaps than pieces can be under way, or the end that was said meanwhile comes
    /// before them.
    pub fn arrived(&mut self, rail: usize, range: Range<u64>) -> Result<(), String> {
        if let Some(end) = self.end.filter(|end| range.end > *end) {
            return Err(format!("bytes up to {} behind the end at {end}", range.end));
        }
        self.rails[rail].units += range.end - range.start;
        let first = self.beyond.partition_point(|other| other.end < range.start);
        let behind = self.beyond.partition_point(|other| other.start <= range.end);
        let joined = self.beyond[first..behind].iter();
        let whole =
            joined.fold(range, |all, other| all.start.min(other.start)..all.end.max(other.end));
        if whole.start <= self.received {
            self.received = self.received.max(whole.end);
            self.beyond.drain(first..behind);
        } else {
            self.beyond.splice(first..behind, [whole]);
        }
        match self.beyond.len() {
            0..=GAPS_MAX => Ok(()),
            gaps => Err(format!("{gaps} gaps; there may be {GAPS_MAX}")),
        }
    }

    /// Takes bytes that lie elsewhere.
    ///
    /// # Errors
    /// As [`Receiver::arrived`].
    pub fn put(&mut self, rail: usize, at: u64, bytes: &[u8]) -> Result<(), String> {
        let range = at..at + bytes.len() as u64;
        let old = self.received.clamp(range.start, range.end) - range.start;
        if old < bytes.len() as u64 {
            self.window.write(at + old, &bytes[old as usize..]);
        }
        self.arrived(rail, range)
    }

    /// The stream ends here.
    ///
    /// # Errors
    /// It ended elsewhere, or bytes have come from behind.
    pub fn end(&mut self, rail: usize, at: u64) -> Result<(), String> {
        let last = self.beyond.last().map_or(self.received, |last| last.end);
        if at < last || self.end.is_some_and(|end| end != at) {
            return Err(format!("an end at {at}, and bytes up to {last}"));
        }
        self.end = Some(at);
        self.rails[rail].units += 1;
        Ok(())
    }

    /// What there is to say on a rail, now that there is nothing else to do, or while there is.
    pub fn is_due(&self, rail: usize, is_idle: bool) -> bool {
        let Taken { units, told, room, is_due } = self.rails[rail];
        let is_much = units - told >= OFTEN || self.window.end() - room >= self.size / 4;
        is_much || is_due || is_idle && units > told
    }

    /// Whether anything has come over a rail that it was not told.
    pub fn is_new(&self, rail: usize) -> bool {
        self.rails[rail].units > self.rails[rail].told
    }

    /// The acknowledgement for a rail, which is then sent.
    pub fn tell(&mut self, rail: usize) -> Seen {
        let room = self.window.end();
        let rails = &mut self.rails[rail];
        *rails = Taken { units: rails.units, told: rails.units, room, is_due: false };
        self.room = room;
        let received = self.received + u64::from(self.is_whole());
        Seen { taken: self.rails[rail].units, received, room }
    }

    /// A rail has ended: what was said there may be lost, so it is said again.
    pub fn lost(&mut self, lost: usize) {
        for (rail, taken) in self.rails.iter_mut().enumerate() {
            taken.is_due = rail != lost;
        }
    }
}
