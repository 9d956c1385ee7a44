//! The input of a process: bytes that clients write, kept until the process takes them.

use super::latch::Waiting;
use muster_ninep::call::Answer;
use muster_ninep::error::{Errno, Error, fail};
use muster_ninep::synthetic::{File, Handle, SynCall};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};

/// Bytes kept before writers wait: what a pipe holds.
const KEPT: usize = 64 * 1024;

#[derive(Default)]
struct State {
    kept: VecDeque<u8>,
    waiting: Waiting<u32, Vec<u8>>,
    /// No more will be written.
    closed: bool,
    /// Bytes taken in all: whoever lost the answer to a write learns here what became of it.
    accepted: u64,
    /// Why writes fail.
    refusal: Option<Error>,
}

struct Shared {
    state: Mutex<State>,
    /// Tells the consumer that there is something to do.
    kick: Box<dyn Fn() + Send + Sync>,
}

/// The input, shared by its consumer and its file.
#[derive(Clone)]
pub struct Feed {
    shared: Arc<Shared>,
}

/// What the consumer finds.
#[derive(Debug, PartialEq, Eq)]
pub enum Next {
    /// These bytes.
    Bytes(Vec<u8>),
    /// Nothing yet.
    Nothing,
    /// The end.
    End,
}

impl Feed {
    /// An empty feed; `kick` is called when there may be something to take.
    pub fn new(kick: impl Fn() + Send + Sync + 'static) -> Feed {
        Feed { shared: Arc::new(Shared { state: Mutex::default(), kick: Box::new(kick) }) }
    }

    /// A feed that nothing will be written to.
    pub fn closed(kick: impl Fn() + Send + Sync + 'static) -> Feed {
        let feed = Feed::new(kick);
        feed.locked().closed = true;
        feed
    }

    fn locked(&self) -> MutexGuard<'_, State> {
        self.shared.state.lock().expect("no holder panics")
    }

    /// Whether nothing will ever be taken out of it.
    pub fn is_over(&self) -> bool {
        let state = self.locked();
        state.closed && state.kept.is_empty()
    }

    /// What to give to the process next; [`Feed::taken`] says how much of it was taken.
    pub fn next(&self) -> Next {
        let state = self.locked();
        if state.kept.is_empty() {
            let end = state.closed || state.refusal.is_some();
            return if end { Next::End } else { Next::Nothing };
        }
        Next::Bytes(state.kept.iter().take(KEPT).copied().collect())
    }

    /// Forgets the first `count` bytes and lets waiting writers go on.
    pub fn taken(&self, count: usize) {
        let mut state = self.locked();
        // Who refuses meanwhile forgets all of them.
        let count = count.min(state.kept.len());
        state.kept.drain(..count);
        while state.kept.len() < KEPT
            && let Some((ticket, bytes)) = state.waiting.pop()
        {
            if ticket.claim() {
                state.kept.extend(&bytes);
                state.accepted += bytes.len() as u64;
                ticket.answer(Ok(bytes.len() as u32));
            }
        }
    }

    /// Ends the input once what was written is taken.
    pub fn close(&self) {
        self.locked().closed = true;
        (self.shared.kick)();
    }

    /// Writes fail from now on, for the first reason given.
    pub fn refuse(&self, errno: Errno, text: &'static str) {
        let mut state = self.locked();
        let error = state.refusal.get_or_insert(Error::new(errno, text)).clone();
        state.kept.clear();
        for (ticket, _) in state.waiting.take() {
            ticket.answer(Err(error.clone()));
        }
    }

    /// Takes writes again: the program could not be run, another may be.
    pub fn reopen(&self) {
        self.locked().refusal = None;
    }

    /// As a file.
    pub fn file(&self, permissions: u32) -> File {
        let (feed, size) = (self.clone(), self.clone());
        File::new(permissions, move |_| Ok(feed.clone())).sized(move || size.locked().accepted)
    }
}

impl Handle for Feed {
    fn write(&self, call: &mut SynCall<'_>, _: u64, data: &[u8]) -> Answer<u32> {
        let mut state = self.locked();
        if let Some(refusal) = &state.refusal {
            return Err(refusal.clone().into());
        }
        if state.closed {
            return fail(Errno::PIPE, "this input is closed");
        }
        if state.kept.len() >= KEPT {
            return call.park(|ticket| state.waiting.push((ticket, data.to_vec())));
        }
        state.kept.extend(data);
        state.accepted += data.len() as u64;
        drop(state);
        (self.shared.kick)();
        Ok(data.len() as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_taken_may_be_forgotten_already() {
        let feed = Feed::new(|| ());
        feed.locked().kept.extend(b"input");
        assert_eq!(feed.next(), Next::Bytes(b"input".to_vec()));
        feed.refuse(Errno::PIPE, "the session was wiped");
        feed.taken(5);
        assert_eq!(feed.next(), Next::End);
    }
}
