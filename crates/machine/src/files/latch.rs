//! A text that becomes known once; until then a read waits.

use muster_ninep::call::{Answer, Data, Ticket};
use muster_ninep::synthetic::{File, Handle, SynCall, slice};
use std::sync::{Arc, Mutex, MutexGuard};

#[derive(Default)]
struct State {
    text: Option<Arc<[u8]>>,
    waiting: Waiting<(Ticket<Data>, (u64, usize))>,
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

/// What a parked request keeps, with its ticket.
pub trait Parked {
    /// Whether somebody still waits for it.
    fn is_live(&self) -> bool;
}

impl<R, X> Parked for (Ticket<R>, X) {
    fn is_live(&self) -> bool {
        self.0.is_live()
    }
}

/// Parked requests in order. Flushed ones are swept out as it grows, so a storm of flushes
/// leaves no more behind than twice what really waits.
pub struct Waiting<P> {
    list: std::collections::VecDeque<P>,
    sweep_at: usize,
}

impl<P> Default for Waiting<P> {
    fn default() -> Waiting<P> {
        Waiting { list: std::collections::VecDeque::new(), sweep_at: 16 }
    }
}

impl<P: Parked> Waiting<P> {
    /// Adds one at the end.
    pub fn push(&mut self, parked: P) {
        self.list.push_back(parked);
        if self.list.len() >= self.sweep_at {
            self.list.retain(P::is_live);
            self.sweep_at = 2 * self.list.len() + 16;
        }
    }

    /// The first one.
    pub fn pop(&mut self) -> Option<P> {
        self.list.pop_front()
    }

    /// Puts one back at the front.
    pub fn push_front(&mut self, parked: P) {
        self.list.push_front(parked);
    }

    /// Takes all.
    pub fn take(&mut self) -> Vec<P> {
        self.list.drain(..).collect()
    }
}
