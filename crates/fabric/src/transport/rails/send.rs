//! The sender's core: which bytes go over which rail. Without I/O.
//!
//! What is sent is one stream of bytes, counted from its beginning; its end counts as one byte
//! more. Pieces of it of at most [`RAILS_PIECE`] bytes are given to rails. A piece goes over the
//! rail on which it would arrive first, by what is under way there and by how quick it was
//! ([`Track::time_for`]); if that rail has no room, the piece waits for it. So a short message
//! takes the quickest rail, a long one is spread in proportion to how fast each rail drains, and a
//! rail so slow that it would hold up the others gets nothing.
//!
//! Every byte is kept until the receiver has all bytes up to it. What was under way on a rail that
//! ends goes again, over the others. So does, once, what a rail has not delivered for
//! `RAILS_PATIENCE`; such a rail gets nothing more until it moves on. Its bytes may then arrive
//! twice. The last rail is never doubted.

use super::track::Track;
use super::window::Window;
use super::wire::Seen;
use crate::protocol::Time;
use muster_base::limits::{RAILS_MAX, RAILS_PIECE};
use std::ops::Range;

/// What of the window is kept for a few last bytes: a goodbye has room behind whatever was written.
const RESERVE: u64 = 4;

/// The sender's side of a connection.
#[derive(Debug)]
pub struct Sender {
    /// What was written and is not known to have arrived.
    window: Window,
    written: u64,
    /// How much of the window is not to be used yet.
    reserve: u64,
    is_ended: bool,
    /// Units from here on were given to no rail.
    next: u64,
    /// Ranges that go again, in order.
    again: Vec<Range<u64>>,
    /// Units that have arrived.
    received: u64,
    /// The receiver has room up to here.
    room: u64,
    tracks: Vec<Track>,
}

impl Sender {
    /// Over so many rails, to a receiver with a window of this size.
    pub fn new(rails: usize, window: usize) -> Sender {
        Sender {
            window: Window::new(window),
            written: 0,
            reserve: RESERVE,
            is_ended: false,
            next: 0,
            again: Vec::with_capacity(64),
            received: 0,
            room: window as u64,
            tracks: (0..rails).map(|_| Track::new()).collect(),
        }
    }

    /// How many bytes it takes.
    pub fn free(&self) -> usize {
        if self.is_ended { 0 } else { (self.window.end() - self.reserve - self.written) as usize }
    }

    /// Has room for a few bytes more, which are to be the last; once.
    pub fn widen(&mut self) -> bool {
        std::mem::take(&mut self.reserve) > 0
    }

    /// Takes what there is room for; how many bytes that are.
    pub fn write(&mut self, bytes: &[u8]) -> usize {
        let size = bytes.len().min(self.free());
        self.window.write(self.written, &bytes[..size]);
        self.written += size as u64;
        size
    }

    /// No more bytes follow.
    pub fn end(&mut self) {
        self.is_ended = true;
    }

    /// Whether no more bytes follow.
    pub fn has_ended(&self) -> bool {
        self.is_ended
    }

    /// Its units: the bytes, and the end.
    fn units(&self) -> u64 {
        self.written + u64::from(self.is_ended)
    }

    /// Whether all of it has been given to rails.
    pub fn is_given(&self) -> bool {
        self.next == self.units() && self.again.is_empty()
    }

    /// Whether all of it has arrived.
    pub fn is_received(&self) -> bool {
        self.received == self.units()
    }

    /// How much of it has not arrived.
    pub fn missing(&self) -> u64 {
        self.units() - self.received
    }

    /// Whether this range is the end.
    pub fn is_end(&self, range: &Range<u64>) -> bool {
        self.is_ended && range.start == self.written
    }

    /// The bytes of a range that was given to a rail; those that have arrived meanwhile are gone.
    pub fn bytes(&self, range: &Range<u64>) -> (u64, [&[u8]; 2]) {
        let start = range.start.max(self.window.begin()).min(range.end);
        let gone = start - range.start;
        let parts =
            if start == range.end { [&[][..]; 2] } else { self.window.parts(&(start..range.end)) };
        (gone, parts)
    }

    /// The next piece for a rail that has room: bytes, or the end alone.
    pub fn give(&mut self, rail: usize, now: Time) -> Option<Range<u64>> {
        if !self.tracks[rail].has_room() {
            return None;
        }
        let range = self.candidate()?;
        let size = range.end - range.start;
        let known = self.tracks.iter().filter(|track| track.is_good());
        let pace = known.filter_map(Track::pace).min_by(f64::total_cmp);
        let time = |rail: usize| self.tracks[rail].time_for(size, pace);
        let mine = time(rail);
        let others = (0..self.tracks.len()).filter(|&other| self.tracks[other].is_good());
        if others.into_iter().any(|other| time(other) < mine) {
            return None;
        }
        match self.again.first_mut() {
            Some(first) if first.end == range.end => drop(self.again.remove(0)),
            Some(first) => first.start = range.end,
            None => self.next = range.end,
        }
        self.tracks[rail].give(range.clone(), now);
        Some(range)
    }

    fn candidate(&self) -> Option<Range<u64>> {
        let (start, end) = match self.again.first() {
            Some(first) => (first.start, first.end),
            None => (self.next, self.units()),
        };
        // The end takes no room, and goes by itself.
        if self.is_ended && start == self.written {
            return (start < end).then_some(start..end);
        }
        let end = end.min(start + RAILS_PIECE as u64).min(self.written).min(self.room);
        (start < end).then_some(start..end)
    }

    /// Forgets what is known of rails that were long idle.
    pub fn age(&mut self, now: Time) {
        self.tracks.iter_mut().for_each(|track| track.age(now));
    }

    /// The receiver says what has arrived.
    ///
    /// # Errors
    /// It cannot have.
    pub fn seen(&mut self, rail: usize, seen: Seen, now: Time) -> Result<(), String> {
        if seen.received > self.next {
            return Err(format!("{} units received of {}", seen.received, self.next));
        }
        self.tracks[rail].taken(seen.taken, now)?;
        self.room = self.room.max(seen.room);
        if seen.received > self.received {
            self.received = seen.received;
            let bytes = seen.received.min(self.written);
            self.window.advance(bytes, bytes == self.written);
            self.drop_received();
        }
        Ok(())
    }

    fn drop_received(&mut self) {
        let received = self.received;
        self.again.retain_mut(|range| {
            range.start = range.start.max(received);
            range.start < range.end
        });
    }

    /// What is under way on this rail goes again.
    fn repeat(&mut self, rail: usize) {
        let Sender { again, tracks, .. } = self;
        again.extend(tracks[rail].under_way());
        again.sort_unstable_by_key(|range| range.start);
        again.dedup_by(|later, earlier| {
            let is_joined = later.start <= earlier.end;
            if is_joined {
                earlier.end = earlier.end.max(later.end);
            }
            is_joined
        });
        self.drop_received();
    }

    /// A rail has ended.
    pub fn lost(&mut self, rail: usize) {
        self.repeat(rail);
        self.tracks[rail].end();
        // Somebody has to carry on.
        if !self.tracks.iter().any(Track::is_good) {
            self.tracks.iter_mut().for_each(|track| track.is_doubted = false);
        }
    }

    /// Doubts rails that were silent for too long; which ones.
    pub fn tick(&mut self, now: Time) -> impl Iterator<Item = usize> {
        let mut doubted = [false; RAILS_MAX];
        for (rail, doubted) in doubted.iter_mut().enumerate().take(self.tracks.len()) {
            let is_silent = self.tracks[rail].alarm().is_some_and(|alarm| alarm <= now);
            *doubted = is_silent && self.has_choice();
            if *doubted {
                self.repeat(rail);
                self.tracks[rail].is_doubted = true;
            }
        }
        (0..self.tracks.len()).filter(move |&rail| doubted[rail])
    }

    fn has_choice(&self) -> bool {
        self.tracks.iter().filter(|track| track.is_good()).count() > 1
    }

    /// When [`Sender::tick`] is to be called.
    pub fn alarm(&self) -> Option<Time> {
        self.tracks.iter().filter_map(Track::alarm).min().filter(|_| self.has_choice())
    }

    /// Whether pieces may go over a rail.
    pub fn is_good(&self, rail: usize) -> bool {
        self.tracks[rail].is_good()
    }
}
