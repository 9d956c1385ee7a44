//! Every interleaving within loom's bounds. What the protocol gives to one side at a time is in
//! cells that loom watches: an access of the other side's that is not behind the first fails.
//!
//! The cheap side of a fence (`barrier.rs`) is a fence here: with the one of who sleeps it makes
//! the same order, and no two cheap sides rely on each other.

use crate::gateway::layout::{Layout, Memory};
use loom::cell::Cell;
use loom::model::Builder;
use loom::sync::atomic::{AtomicU64, Ordering, fence};
pub use loom::sync::{Arc, Condvar, Mutex};
pub use loom::thread;
use std::collections::BTreeMap;

/// What the processes of a test share.
pub type Shared = Arc<Words>;

/// A word that any process may access at any time, or one that is one side's at a time.
enum Held {
    Shared(AtomicU64),
    Guarded(Cell<u64>),
}

/// The words of a segment that a test uses.
#[derive(Default)]
pub struct Words(BTreeMap<usize, Held>);

impl Words {
    pub fn new(_: &Layout) -> Words {
        Words::default()
    }

    pub fn shared(self) -> Shared {
        Arc::new(self)
    }

    pub fn share(&mut self, words: impl IntoIterator<Item = usize>) {
        self.0.extend(words.into_iter().map(|at| (at, Held::Shared(AtomicU64::new(0)))));
    }

    pub fn guard(&mut self, words: impl IntoIterator<Item = usize>, value: u64) {
        self.0.extend(words.into_iter().map(|at| (at, Held::Guarded(Cell::new(value)))));
    }

    fn any(&self, at: usize) -> &AtomicU64 {
        match &self.0[&at] {
            Held::Shared(word) => word,
            Held::Guarded(_) => panic!("word {at} is one side's at a time"),
        }
    }
}

impl Memory for Arc<Words> {
    fn load(&self, at: usize) -> u64 {
        match &self.0[&at] {
            Held::Shared(word) => word.load(Ordering::Acquire),
            Held::Guarded(word) => word.get(),
        }
    }

    fn store(&self, at: usize, value: u64) {
        match &self.0[&at] {
            Held::Shared(word) => word.store(value, Ordering::Release),
            Held::Guarded(word) => word.set(value),
        }
    }

    fn publish(&self, at: usize, value: u64) {
        self.any(at).store(value, Ordering::Release);
        fence(Ordering::SeqCst);
    }

    fn replace(&self, at: usize, old: u64, new: u64) -> bool {
        let word = self.any(at);
        word.compare_exchange(old, new, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    fn take(&self, at: usize) -> u64 {
        self.any(at).swap(0, Ordering::AcqRel)
    }

    fn raise(&self, at: usize, value: u64) {
        self.any(at).fetch_max(value, Ordering::AcqRel);
    }

    fn count(&self, at: usize) {
        self.any(at).fetch_add(1, Ordering::AcqRel);
    }

    fn set(&self, at: usize, bits: u64) {
        self.any(at).fetch_or(bits, Ordering::AcqRel);
        fence(Ordering::SeqCst);
    }

    fn fence(&self) {
        fence(Ordering::SeqCst);
    }

    fn barrier(&self) {
        fence(Ordering::SeqCst);
    }

    fn read(&self, at: usize, bytes: &mut [u8]) {
        for (at, bytes) in (at..).zip(bytes.chunks_mut(8)) {
            bytes.copy_from_slice(&self.load(at).to_ne_bytes()[..bytes.len()]);
        }
    }

    fn write(&self, at: usize, bytes: &[u8]) {
        for (at, bytes) in (at..).zip(bytes.chunks(8)) {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            self.store(at, u64::from_ne_bytes(word));
        }
    }

    fn stream(&self, at: usize, bytes: &[u8]) {
        self.write(at, bytes);
    }
}

/// Explores all that may happen with at most so many changes of who runs that nobody asked for.
pub fn explore(changes: usize, test: impl Fn() + Sync + Send + 'static) {
    let mut builder = Builder::new();
    builder.preemption_bound = Some(changes);
    builder.max_branches = 20_000;
    builder.check(test);
}
