//! Whether to look again before sleeping.

use std::hint::spin_loop;
use std::time::{Duration, Instant};

/// How long looking goes on: to sleep and be woken takes about half of it.
const LOOKING: Duration = Duration::from_micros(50);

/// Looks before it sleeps while that is worth it: when what was waited for last came soon. So one
/// end of a ping-pong never sleeps, and an idle end sleeps at once and takes no one's core.
#[derive(Debug)]
pub struct Patience {
    brisk: bool,
    since: Instant,
}

impl Patience {
    /// At first it looks.
    #[expect(clippy::new_without_default, reason = "a moment has no default")]
    pub fn new() -> Patience {
        Patience { brisk: true, since: Instant::now() }
    }

    /// A wait begins.
    pub fn begin(&mut self) {
        self.since = Instant::now();
    }

    /// Whether to look once more; if not, it is time to sleep.
    pub fn lasts(&self) -> bool {
        spin_loop();
        self.brisk && self.since.elapsed() < LOOKING
    }

    /// A wait that slept has ended.
    pub fn end(&mut self) {
        self.brisk = self.since.elapsed() < 2 * LOOKING;
    }
}
