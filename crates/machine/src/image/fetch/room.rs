//! Where the pieces of a chunk come together that are taken from a source.
//!
//! All threads take from a source over one connection, which answers in order: what one of them
//! waits for comes behind what the others asked for. So it is the source that has to give a sign of
//! life in [`PATIENCE`], whomever that is for.

use super::ear::Come;
use super::{PATIENCE, PIECE, Piece};
use muster_ninep::client::{Cancel, Fid};
use muster_ninep::error::{Errno, Error as Refusal, Result};
use std::ops::Range;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// When something came last over a connection.
#[derive(Clone)]
pub(super) struct Heard(Arc<Mutex<Instant>>);

impl Heard {
    /// The connection has just been made.
    pub(super) fn now() -> Heard {
        Heard(Arc::new(Mutex::new(Instant::now())))
    }

    pub(super) fn note(&self) {
        *self.0.lock().expect("no holder panics") = Instant::now();
    }

    /// For how long who has begun to wait then has heard nothing.
    pub(super) fn silence(&self, begun: Instant) -> Duration {
        let last = *self.0.lock().expect("no holder panics");
        last.max(begun).elapsed()
    }
}

/// A file that chunks are read from.
#[derive(Clone)]
pub(super) struct Source {
    pub(super) file: Fid,
    pub(super) heard: Heard,
}

impl Source {
    /// One over a connection that was just made.
    pub(super) fn new(file: Fid) -> Source {
        Source { file, heard: Heard::now() }
    }
}

/// A chunk that comes. A thread has one and uses it again, for fresh memory
/// costs its pages; after a failure it needs another, in which no late piece can come.
#[derive(Clone, Default)]
pub(super) struct Room(Arc<(Mutex<Pieces>, Condvar)>);

#[derive(Default)]
pub(super) struct Pieces {
    pub(super) bytes: Vec<u8>,
    /// Those that have not come.
    left: usize,
    /// When they were asked for.
    asked: Option<Instant>,
    failed: Option<Refusal>,
}

impl Room {
    pub(super) fn lock(&self) -> MutexGuard<'_, Pieces> {
        self.0.0.lock().expect("no holder panics")
    }

    /// Puts a piece to its place. Who waits is woken by the last one only.
    fn put(&self, place: Range<usize>, answer: Result<&[u8]>) {
        let mut pieces = self.lock();
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

    /// Waits until all are here, as long as the source gives anything.
    fn wait(&self, from: &Source) -> Result<()> {
        let mut pieces = self.lock();
        loop {
            if let Some(failed) = pieces.failed.take() {
                return Err(failed);
            }
            if pieces.left == 0 {
                return Ok(());
            }
            let Some(left) = pieces.patience(&from.heard) else {
                let text = format!("{} does not give what it should", from.file.client().name());
                return Err(Refusal::new(Errno::TIMEDOUT, text));
            };
            let waited = self.0.1.wait_timeout(pieces, left);
            pieces = waited.expect("no holder panics").0;
        }
    }
}

impl Pieces {
    /// For how long the source may be silent from now on.
    fn patience(&self, heard: &Heard) -> Option<Duration> {
        let silence = self.asked.map_or(Duration::ZERO, |asked| heard.silence(asked));
        PATIENCE.checked_sub(silence)
    }
}

/// Reads a chunk in pieces, all asked for at once. Of a chunk that most has come of it reads the
/// rest.
pub(super) fn read_chunk(
    from: &Source,
    piece: Piece,
    room: &Room,
    come: Option<Come>,
) -> Result<()> {
    let part = PIECE.min(from.file.max_data() as usize);
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
        (pieces.left, pieces.asked) = (places.len(), Some(Instant::now()));
        places
    };
    let ask = |place: Range<usize>| {
        let (room, heard) = (room.clone(), from.heard.clone());
        let (offset, length) = (piece.offset + place.start as u64, place.len() as u32);
        from.file.read_then(offset, length, move |answer| {
            // Also what nobody waits for any more: it was in front of what somebody does.
            if answer.is_ok() {
                heard.note();
            }
            room.put(place, answer);
        })
    };
    let asked: Vec<_> = places.into_iter().map(ask).collect();
    let waited = room.wait(from);
    if waited.is_err() {
        asked.iter().for_each(Cancel::flush);
    }
    waited
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_for_one_keeps_those_patient_whose_chunks_come_behind_it() {
        let long_ago = Instant::now().checked_sub(2 * PATIENCE).expect("it has run for longer");
        let (heard, pieces) = (Heard(Arc::new(Mutex::new(long_ago))), Room::default());
        pieces.lock().asked = Some(long_ago);
        assert_eq!(pieces.lock().patience(&heard), None);
        heard.note();
        assert!(pieces.lock().patience(&heard).is_some());
        // Nor is anybody blamed for what was not asked for yet.
        let (heard, pieces) = (Heard(Arc::new(Mutex::new(long_ago))), Room::default());
        pieces.lock().asked = Some(Instant::now());
        assert!(pieces.lock().patience(&heard).is_some());
    }
}
