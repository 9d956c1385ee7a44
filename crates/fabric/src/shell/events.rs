//! Counts that threads wait for: TEST-EVENT.

use crate::deadline::Deadline;
use crate::error::{Error, Result};
use std::sync::{Condvar, Mutex, MutexGuard};

/// How often each event was signalled. It ends with its shell.
#[derive(Debug)]
pub struct Events {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    counts: Vec<u64>,
    is_ended: bool,
}

impl Events {
    /// None of them was signalled.
    pub fn new(count: usize) -> Events {
        let state = State { counts: vec![0; count], is_ended: false };
        Events { state: Mutex::new(state), changed: Condvar::new() }
    }

    /// How often an event was signalled; 0 for one that does not exist.
    pub fn count(&self, event: u32) -> u64 {
        self.lock().counts.get(event as usize).copied().unwrap_or(0)
    }

    /// Signals an event; one that does not exist is nobody's.
    pub fn signal(&self, event: u32) {
        if let Some(count) = self.lock().counts.get_mut(event as usize) {
            *count += 1;
            self.changed.notify_all();
        }
    }

    /// Waits until an event was signalled more often than so many times; then, how often it was.
    ///
    /// # Errors
    /// [`Error::Deadline`]; [`Error::Closed`] when nobody will signal it any more.
    pub fn wait(&self, event: u32, more_than: u64, deadline: Deadline) -> Result<u64> {
        let mut state = self.lock();
        loop {
            match state.counts.get(event as usize) {
                Some(count) if *count > more_than => return Ok(*count),
                _ if state.is_ended => return Err(super::inbox::ended()),
                _ => {}
            }
            let Some(left) = deadline.left() else {
                return Err(Error::Deadline {
                    who: "a thread".to_owned(),
                    whom: "the cluster".to_owned(),
                    what: format!("to signal event {event}"),
                    waited: deadline.waited(),
                });
            };
            let waited = self.changed.wait_timeout(state, left);
            state = waited.expect("nobody panics with it").0;
        }
    }

    /// Nothing will be signalled any more.
    pub fn end(&self) {
        self.lock().is_ended = true;
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("nobody panics with it")
    }
}
