//! A text that becomes known once; until then a read waits.

use muster_ninep::call::{Answer, Data, Ticket};
use muster_ninep::synthetic::{File, Handle, SynCall, slice};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};

#[derive(Default)]
struct State {
    text: Option<Arc<[u8]>>,
    waiting: Waiting<Data, (u64, usize)>,
}

/// The text, shared by whoever finds it out and whoever waits for it.
#[derive(Clone, Default)]
pub struct Latch {
    state: Arc<Mutex<State>>,
}

impl Latch {
    fn locked(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no holder panics")
    }

    /// Makes the text known. Only the first one counts.
    pub fn set(&self, text: impl Into<Vec<u8>>) {
        let mut state = self.locked();
        if state.text.is_some() {
            return;
        }
        let text: Arc<[u8]> = text.into().into();
        state.text = Some(text.clone());
        let waiting = state.waiting.take();
        drop(state);
        for (ticket, (offset, count)) in waiting {
            ticket.answer(Ok(slice(&text, offset, count).to_vec().into()));
        }
    }

    /// The text, if it is known.
    pub fn get(&self) -> Option<String> {
        self.locked().text.as_ref().map(|text| String::from_utf8_lossy(text).into_owned())
    }

    /// Reads it, now or later.
    ///
    /// # Errors
    /// Only that it is parked.
    pub fn read(&self, call: &mut SynCall<'_>, offset: u64, count: usize) -> Answer<Data> {
        let mut state = self.locked();
        match &state.text {
            Some(text) => Ok(slice(text, offset, count).to_vec().into()),
            None => call.park(|ticket| state.waiting.push((ticket, (offset, count)))),
        }
    }

    /// As a file.
    pub fn file(&self, permissions: u32) -> File {
        let latch = self.clone();
        File::new(permissions, move |_| Ok(latch.clone()))
    }
}

impl Handle for Latch {
    fn read(&self, call: &mut SynCall<'_>, offset: u64, count: usize) -> Answer<Data> {
        Latch::read(self, call, offset, count)
    }
}

/// Parked requests in order, each with what it keeps. Flushed ones are swept out as it grows, so a
/// storm of flushes leaves no more behind than twice what really waits.
pub struct Waiting<R, X> {
    list: VecDeque<(Ticket<R>, X)>,
    sweep_at: usize,
}

impl<R, X> Default for Waiting<R, X> {
    fn default() -> Waiting<R, X> {
        Waiting { list: VecDeque::new(), sweep_at: 16 }
    }
}

impl<R, X> Waiting<R, X> {
    /// Adds one at the end.
    pub fn push(&mut self, parked: (Ticket<R>, X)) {
        self.list.push_back(parked);
        if self.list.len() >= self.sweep_at {
            self.list.retain(|(ticket, _)| ticket.is_live());
            self.sweep_at = 2 * self.list.len() + 16;
        }
    }

    /// The first one.
    pub fn pop(&mut self) -> Option<(Ticket<R>, X)> {
        self.list.pop_front()
    }

    /// Takes all.
    pub fn take(&mut self) -> Vec<(Ticket<R>, X)> {
        self.list.drain(..).collect()
    }
}
