//! The same by threads, as they come, in the memory that ranks use.

use crate::gateway::layout::{Layout, Memory};
use crate::transport::shared::sys::Mapped;
pub use std::sync::{Arc, Condvar, Mutex};
pub use std::thread;

/// What the processes of a test share.
pub type Shared = Arc<Mapped>;

/// How often each test is tried. Miri looks at each access, and takes its time.
const TIMES: usize = if cfg!(miri) { 1 } else { 50 };

/// The words of a segment. To whom they belong Miri sees by what happens before what.
pub struct Words(Shared);

impl Words {
    pub fn new(layout: &Layout) -> Words {
        Words(Arc::new(Mapped::heap(layout.words * 8)))
    }

    pub fn shared(self) -> Shared {
        self.0
    }

    pub fn share(&mut self, _: impl IntoIterator<Item = usize>) {}

    pub fn guard(&mut self, words: impl IntoIterator<Item = usize>, value: u64) {
        words.into_iter().for_each(|at| self.0.store(at, value));
    }
}

/// Tries what may happen some times.
pub fn explore(_: usize, test: impl Fn()) {
    (0..TIMES).for_each(|_| test());
}
