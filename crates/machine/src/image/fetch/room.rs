//! Where the pieces of a chunk come together that are taken from a source.

use super::ear::Come;
use super::{PATIENCE, PIECE, Piece};
use muster_ninep::client::{Cancel, Fid};
use muster_ninep::error::{Errno, Error as Refusal, Result};
use std::ops::Range;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// A chunk that comes. A thread has one and uses it again, for fresh memory
/// costs its pages; after a failure it needs another, in which no late piece can come.
#[derive(Clone, Default)]
pub(super) struct Room(Arc<(Mutex<Pieces>, Condvar)>);

#[derive(Default)]
pub(super) struct Pieces {
    pub(super) bytes: Vec<u8>,
    /// Those that have not come.
    left: usize,
    /// When the last one came.
    last: Option<Instant>,
    failed: Option<Refusal>,
}

impl Room {
    pub(super) fn lock(&self) -> MutexGuard<'_, Pieces> {
        self.0.0.lock().expect("no holder panics")
    }

    /// Puts a piece to its place. Who waits is woken by the last one only.
    fn put(&self, place: Range<usize>, answer: Result<&[u8]>) {
        let mut pieces = self.lock();
        pieces.last = Some(Instant::now());
        match answer {
            Ok(bytes) if bytes.len() == place.len() => {
                pieces.bytes[place].copy_from_slice(bytes);
                pieces.left -= 1;
            }
            Ok(_) => {
                let text = "it gave less than it was asked for";
                pieces.failed = Some(Refusal::new(Errno::NODATA, text));
            }
            Err(error) => pieces.failed = Some(error),
        }
        if pieces.left == 0 || pieces.failed.is_some() {
            self.0.1.notify_one();
        }
    }

    /// Waits until all are here, as long as they come.
    fn wait(&self, from: &Fid) -> Result<()> {
        let mut pieces = self.lock();
        loop {
            if let Some(failed) = pieces.failed.take() {
                return Err(failed);
            }
            if pieces.left == 0 {
                return Ok(());
            }
            let since = pieces.last.map_or(Duration::ZERO, |last| last.elapsed());
            let Some(left) = PATIENCE.checked_sub(since) else {
                let text = format!("{} does not give what it should", from.client().name());
                return Err(Refusal::new(Errno::TIMEDOUT, text));
            };
            let waited = self.0.1.wait_timeout(pieces, left);
            pieces = waited.expect("no holder panics").0;
        }
    }
}

/// Reads a chunk in pieces, all asked for at once; each has to come in time. Of a chunk that most
/// has come of it reads the rest.
pub(super) fn read_chunk(from: &Fid, piece: Piece, room: &Room, come: Option<Come>) -> Result<()> {
    let part = PIECE.min(from.max_data() as usize);
    let all = || {
        let begins = (0..piece.length).step_by(part);
        begins.map(|begin| begin..piece.length.min(begin + part)).collect::<Vec<_>>()
    };
    let places = {
        let mut pieces = room.lock();
        let places = match come {
            Some(come) => {
                pieces.bytes = come.bytes;
                come.missing.runs(part).collect()
            }
            None => {
                pieces.bytes.resize(piece.length, 0);
                all()
            }
        };
        (pieces.left, pieces.last) = (places.len(), Some(Instant::now()));
        places
    };
    let ask = |place: Range<usize>| {
        let (room, offset) = (room.clone(), piece.offset + place.start as u64);
        let length = place.len() as u32;
        from.read_then(offset, length, move |answer| room.put(place, answer))
    };
    let asked: Vec<_> = places.into_iter().map(ask).collect();
    let waited = room.wait(from);
    if waited.is_err() {
        asked.iter().for_each(Cancel::flush);
    }
    waited
}
