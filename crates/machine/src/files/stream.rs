//! The output of a process: bytes that arrive, kept until somebody has read them.
//!
//! The stream keeps a window of at most [`STREAM_WINDOW`] bytes. What a reader has gone beyond may
//! be dropped when room is needed; what nobody has makes the producer wait, as a full pipe would.
//! A reader has gone beyond what it was given when it asks for what follows: only then has it
//! surely got it. Reads honour offsets, so one that comes back (over another connection, after the
//! manager was killed) goes on where it was and misses nothing.
//!
//! Who opens the file and reads from 0 when the beginning is gone gets the oldest that is kept,
//! under the offsets of a file that begins there: the open file remembers the distance
//! ([`Reader`]). What has been dropped under a reader is an error, never other bytes.

use super::latch::Waiting;
use muster_base::limits::{STREAM_WINDOW, WAITED_MAX};
use muster_ninep::call::{Answer, Data};
use muster_ninep::error::{Errno, Error, Result, fail};
use muster_ninep::synthetic::{File, Handle, SynCall};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

#[derive(Default)]
struct State {
    /// Offset of the first byte kept.
    base: u64,
    kept: VecDeque<u8>,
    /// The first byte kept is not the first of its line.
    cut: bool,
    /// What the furthest reader has asked for: it has all before.
    read: u64,
    ended: bool,
    /// Why reads fail, when there is no stream here.
    refusal: Option<Error>,
    /// The producer waits for room.
    full: bool,
    waiting: Waiting<Data, (u64, usize)>,
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

    /// Bytes from `offset` on.
    fn get(&self, offset: u64, count: usize) -> Result<Vec<u8>> {
        let Some(skip) = offset.checked_sub(self.base) else {
            let gone = self.base - offset;
            let text = format!("{gone} bytes are gone: read faster, or with fewer readers at once");
            return fail(Errno::STALE, text);
        };
        let skip = usize::try_from(skip).unwrap_or(usize::MAX).min(self.kept.len());
        let length = count.min(self.kept.len() - skip);
        Ok(self.kept.range(skip..skip + length).copied().collect())
    }

    /// Where a reader that wants the stream from its beginning starts: at the oldest byte kept or,
    /// if it wants lines, at the oldest that begins one.
    fn first(&self, lines: bool) -> u64 {
        if !lines || !self.cut {
            return self.base;
        }
        let rest = self.kept.iter().position(|&byte| byte == b'\n');
        self.base + rest.map_or(self.kept.len(), |at| at + 1) as u64
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
        Stream { shared: Arc::new(Shared { state: Mutex::default(), room: Box::new(room) }) }
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

    /// How much of it the furthest reader has.
    pub fn read(&self) -> u64 {
        self.locked().read
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
        let last = state.kept.drain(..over).next_back();
        state.cut = last.map_or(state.cut, |last| last != b'\n');
        state.base += over as u64;
        self.serve(state);
    }

    /// All that there was from its beginning to its end; none when some of it has been dropped.
    pub fn whole(&self) -> Option<Vec<u8>> {
        let state = self.locked();
        (state.base == 0).then(|| state.kept.iter().copied().collect())
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
                let bytes = refusal.and_then(|()| state.get(offset, count.min(WAITED_MAX)));
                ticket.answer(bytes.map(Data::from));
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

    /// One reader of it.
    pub fn reader(&self) -> Reader {
        Reader { stream: self.clone(), lines: false, ahead: OnceLock::new() }
    }

    /// As a file.
    pub fn file(&self, permissions: u32) -> File {
        let stream = self.clone();
        File::new(permissions, move |_| Ok(stream.reader()))
    }

    /// As a file of lines: who comes late starts with a whole one.
    pub fn file_of_lines(&self, permissions: u32) -> File {
        let stream = self.clone();
        File::new(permissions, move |_| Ok(Reader { lines: true, ..stream.reader() }))
    }
}

/// The stream as one open file has it.
pub struct Reader {
    stream: Stream,
    lines: bool,
    /// How far the stream's offsets are ahead of this file's; the first read decides.
    ahead: OnceLock<u64>,
}

impl Reader {
    /// The offset in the stream that `offset` of this file is.
    fn place(&self, state: &State, offset: u64) -> u64 {
        // An offset of its own says that the reader knows the stream's.
        let first = || if offset == 0 { state.first(self.lines) } else { 0 };
        self.ahead.get_or_init(first).saturating_add(offset)
    }
}

impl Handle for Reader {
    fn read(&self, call: &mut SynCall<'_>, offset: u64, count: usize) -> Answer<Data> {
        let mut state = self.stream.locked();
        if let Some(refusal) = &state.refusal {
            return Err(refusal.clone().into());
        }
        let offset = self.place(&state, offset);
        state.asked(offset);
        if offset < state.end() || state.ended || count == 0 {
            let bytes = state.get(offset, count);
            self.stream.tell_room(state);
            return Ok(bytes?.into());
        }
        let parked = call.park(|ticket| state.waiting.push((ticket, (offset, count))));
        self.stream.tell_room(state);
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
        let given = state().get(0, 1000).expect("kept");
        assert_eq!(stream.room(), 0, "it may be asked for again");
        assert_eq!(state().get(0, 1000), Ok(given));
        state().asked(1000);
        assert_eq!(stream.room(), 1000);
        stream.push(&[7; 1000]);
        assert_eq!(state().get(1000, 10), Ok(window(0)[1000..1010].to_vec()));
        assert_eq!(state().get(STREAM_WINDOW as u64, 1000), Ok(vec![7; 1000]));
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

    /// Reads as a client does: each read where the last one ended.
    struct Cat {
        reader: Reader,
        offset: u64,
    }

    impl Cat {
        fn of(stream: &Stream, lines: bool) -> Cat {
            Cat { reader: Reader { lines, ..stream.reader() }, offset: 0 }
        }

        fn read(&mut self, count: usize) -> Result<Vec<u8>> {
            let mut state = self.reader.stream.locked();
            let at = self.reader.place(&state, self.offset);
            state.asked(at);
            let bytes = state.get(at, count)?;
            self.offset += bytes.len() as u64;
            Ok(bytes)
        }
    }

    /// `seq 1 400000` read twice: 384,137 lines came, of which 37,451 were different ones. The
    /// second reader got the oldest that was kept for each offset that was gone.
    #[test]
    fn a_late_reader_gets_what_is_kept_once_and_in_order() {
        let stream = Stream::new(|| ());
        let mut all = Vec::new();
        let mut first = Cat::of(&stream, false);
        for number in 0..STREAM_WINDOW {
            let line = format!("{number}\n");
            stream.push(line.as_bytes());
            all.extend_from_slice(line.as_bytes());
            first.read(100).expect("nobody is ahead of it");
        }
        assert_eq!(first.offset, all.len() as u64);
        let mut late = Cat::of(&stream, false);
        let mut got = Vec::new();
        loop {
            let more = late.read(1000).expect("nothing is dropped meanwhile");
            if more.is_empty() {
                break;
            }
            got.extend(more);
        }
        assert!(got == all[all.len() - STREAM_WINDOW..], "{} bytes came", got.len());
        stream.push(b"more");
        assert_eq!(late.read(1000), Ok(b"more".to_vec()), "it goes on where it is");
        // The open file is at its offsets, whoever asks: again is the same again.
        late.offset = 0;
        let again = late.read(10).expect_err("four bytes are gone");
        assert_eq!(again.errno, Errno::STALE);
        late.offset = 4;
        assert_eq!(late.read(10), Ok(got[4..14].to_vec()));
    }

    #[test]
    fn bytes_that_are_gone_are_an_error_that_says_so() {
        let stream = Stream::new(|| ());
        let (mut slow, mut fast) = (Cat::of(&stream, false), Cat::of(&stream, false));
        stream.push(&window(0));
        assert_eq!(slow.read(10), Ok(window(0)[..10].to_vec()));
        fast.read(STREAM_WINDOW).expect("kept");
        fast.read(1).expect("nothing yet");
        stream.push(&[7; 30]);
        let refusal = slow.read(10).expect_err("dropped");
        assert_eq!(refusal.errno, Errno::STALE);
        assert!(refusal.text.starts_with("20 bytes are gone: read faster"), "{refusal}");
        assert_eq!(fast.read(100), Ok(vec![7; 30]));
    }

    /// The manager was restarted and knows where its log ends.
    #[test]
    fn a_reader_that_names_an_offset_gets_exactly_that_one() {
        let stream = Stream::new(|| ());
        stream.push(&window(0));
        Cat::of(&stream, false).read(100).expect("kept");
        stream.locked().asked(100);
        stream.push(&[7; 100]);
        let mut back = Cat::of(&stream, false);
        back.offset = 100;
        assert_eq!(back.read(10), Ok(window(0)[100..110].to_vec()));
        assert_eq!(back.read(10), Ok(window(0)[110..120].to_vec()));
        let mut gone = Cat::of(&stream, false);
        gone.offset = 99;
        assert_eq!(gone.read(10).expect_err("dropped").errno, Errno::STALE);
    }

    /// `/events` began in the middle of a JSON text.
    #[test]
    fn a_late_reader_of_lines_starts_with_a_whole_one() {
        let stream = Stream::new(|| ());
        let line = |number: usize| format!("{{\"event\":{number}}}\n");
        for number in 0..STREAM_WINDOW / 8 {
            stream.push(line(number).as_bytes());
            if number % 997 == 0 {
                let got = Cat::of(&stream, true).read(STREAM_WINDOW).expect("kept");
                let text = String::from_utf8(got).expect("text");
                assert!(text.starts_with("{\"event\":"), "{}", &text[..20]);
                assert!(text.ends_with(&line(number)));
            }
        }
        assert!(stream.locked().base > 0, "or nothing was tested");
    }
}
