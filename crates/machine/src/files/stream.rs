//! The output of a process: bytes that arrive, kept until somebody has read them.
//!
//! The stream keeps a window of at most [`STREAM_WINDOW`] bytes. What a reader has gone beyond may
//! be dropped when room is needed; what nobody has makes the producer wait, as a full pipe would.
//! A reader has gone beyond what it was given when it asks for what follows: only then has it
//! surely got it. Reads honour offsets, so one that comes back (over another connection, after the
//! manager was killed) goes on where it was and misses nothing.

use super::latch::Waiting;
use muster_base::limits::STREAM_WINDOW;
use muster_ninep::call::{Answer, Data, Ticket};
use muster_ninep::error::{Errno, Error};
use muster_ninep::synthetic::{File, Handle, SynCall};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};

/// Most that a read which has waited is given: it bounds what many waiting reads can take.
const WAITED_MAX: usize = 8 * 1024;

struct State {
    /// Offset of the first byte kept.
    base: u64,
    kept: VecDeque<u8>,
    /// What the furthest reader has asked for: it has all before.
    read: u64,
    ended: bool,
    /// Why reads fail, when there is no stream here.
    refusal: Option<Error>,
    /// The producer waits for room.
    full: bool,
    waiting: Waiting<(Ticket<Data>, (u64, usize))>,
}

struct Shared {
    state: Mutex<State>,
    /// Tells a producer that waits that there is room.
    room: Box<dyn Fn() + Send + Sync>,
}

/// The stream, shared by its producer and its file.
#[derive(Clone)]
pub struct Stream {
    shared: Arc<Shared>,
}

impl State {
    fn end(&self) -> u64 {
        self.base + self.kept.len() as u64
    }

    /// Bytes from `offset` on; from the oldest if that one is gone.
    fn get(&self, offset: u64, count: usize) -> Vec<u8> {
        let start = offset.max(self.base);
        let skip = (start - self.base) as usize;
        let bytes: Vec<u8> = self.kept.iter().skip(skip).take(count).copied().collect();
        bytes
    }

    /// Notes that a reader wants what is at `offset`, so it has what comes before.
    fn asked(&mut self, offset: u64) {
        self.read = self.read.max(offset.min(self.end()));
    }

    fn room(&self) -> usize {
        let unread = self.end() - self.read.max(self.base);
        STREAM_WINDOW.saturating_sub(unread as usize)
    }
}

impl Stream {
    /// An empty stream; `room` is called when a producer that found it full may go on.
    pub fn new(room: impl Fn() + Send + Sync + 'static) -> Stream {
        let state = State {
            base: 0,
            kept: VecDeque::new(),
            read: 0,
            ended: false,
            refusal: None,
            full: false,
            waiting: Waiting::default(),
        };
        Stream { shared: Arc::new(Shared { state: Mutex::new(state), room: Box::new(room) }) }
    }

    fn locked(&self) -> MutexGuard<'_, State> {
        self.shared.state.lock().expect("no holder panics")
    }

    /// Bytes that may be pushed now. When there are none, `room` will be called.
    pub fn room(&self) -> usize {
        let mut state = self.locked();
        if state.refusal.is_some() {
            // Nobody will read it: it is dropped.
            return STREAM_WINDOW;
        }
        let room = state.room();
        state.full = room == 0;
        room
    }

    /// Goes on after an end that was none: the program could not be run, another may be.
    pub fn reopen(&self) {
        self.locked().ended = false;
    }

    /// Appends bytes, not more than there is room for.
    pub fn push(&self, bytes: &[u8]) {
        let mut state = self.locked();
        if state.refusal.is_some() {
            return;
        }
        state.kept.extend(bytes);
        let over = state.kept.len().saturating_sub(STREAM_WINDOW);
        state.kept.drain(..over);
        state.base += over as u64;
        self.serve(state);
    }

    /// No more bytes will come.
    pub fn end(&self) {
        let mut state = self.locked();
        state.ended = true;
        self.serve(state);
    }

    /// Reads fail from now on: the bytes go elsewhere.
    pub fn refuse(&self, errno: Errno, text: &'static str) {
        let mut state = self.locked();
        state.refusal = Some(Error::new(errno, text));
        state.ended = true;
        // The producer may go on: what it has to say is dropped.
        state.read = state.end();
        self.serve(state);
    }

    /// Answers those waiting reads for which there is something.
    fn serve(&self, mut state: MutexGuard<'_, State>) {
        for (ticket, (offset, count)) in state.waiting.take() {
            if offset >= state.end() && !state.ended {
                state.waiting.push((ticket, (offset, count)));
            } else if ticket.claim() {
                let refusal = state.refusal.clone().map_or(Ok(()), Err);
                let bytes = refusal.map(|()| state.get(offset, count.min(WAITED_MAX)).into());
                ticket.answer(bytes);
            }
        }
        self.tell_room(state);
    }

    fn tell_room(&self, mut state: MutexGuard<'_, State>) {
        // Half a window at a time, not a byte for a byte.
        let tell = state.full && state.room() >= STREAM_WINDOW / 2;
        state.full &= !tell;
        drop(state);
        if tell {
            (self.shared.room)();
        }
    }

    /// As a file.
    pub fn file(&self, permissions: u32) -> File {
        let stream = self.clone();
        File::new(permissions, move |_| Ok(stream.clone()))
    }
}

impl Handle for Stream {
    fn read(&self, call: &mut SynCall<'_>, offset: u64, count: usize) -> Answer<Data> {
        let mut state = self.locked();
        if let Some(refusal) = &state.refusal {
            return Err(refusal.clone().into());
        }
        state.asked(offset);
        if offset < state.end() || state.ended || count == 0 {
            let bytes = state.get(offset, count);
            self.tell_room(state);
            return Ok(bytes.into());
        }
        let parked = call.park(|ticket| state.waiting.push((ticket, (offset, count))));
        self.tell_room(state);
        parked
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(from: usize) -> Vec<u8> {
        (from..from + STREAM_WINDOW).map(|at| at as u8).collect()
    }

    /// A manager that was killed with an answer in its hands came back for it, and the node had
    /// dropped it to make room: 64 KiB of output were lost.
    #[test]
    fn what_was_given_is_kept_until_the_reader_asks_for_more() {
        let stream = Stream::new(|| ());
        stream.push(&window(0));
        let state = || stream.locked();
        state().asked(0);
        let given = state().get(0, 1000);
        assert_eq!(stream.room(), 0, "it may be asked for again");
        assert_eq!(state().get(0, 1000), given);
        state().asked(1000);
        assert_eq!(stream.room(), 1000);
        stream.push(&[7; 1000]);
        assert_eq!(state().get(1000, 10), window(0)[1000..1010]);
        assert_eq!(state().get(STREAM_WINDOW as u64, 1000), [7; 1000]);
    }

    /// A program whose output nobody wants waited for ever once a window was full.
    #[test]
    fn a_stream_that_was_closed_takes_everything_and_keeps_nothing() {
        let stream = Stream::new(|| ());
        stream.push(&window(0));
        assert_eq!(stream.room(), 0);
        stream.refuse(Errno::PIPE, "stdout was closed");
        assert_eq!(stream.room(), STREAM_WINDOW);
        stream.push(&window(0));
        assert_eq!(stream.room(), STREAM_WINDOW);
    }
}
