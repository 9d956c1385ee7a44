//! What takes long is shown on a terminal, from half a second on.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// How long nothing is shown.
const PATIENCE: Duration = Duration::from_millis(500);

/// How often it changes.
pub const BEAT: Duration = Duration::from_millis(100);

/// The stages before a job runs.
pub struct Progress {
    wanted: bool,
    since: Instant,
    sent: (u64, u64),
    bar: Option<ProgressBar>,
}

impl Progress {
    /// Nothing yet. `wanted` by the user.
    pub fn new(wanted: bool) -> Progress {
        let wanted = wanted && std::io::stderr().is_terminal();
        Progress { wanted, since: Instant::now(), sent: (0, 0), bar: None }
    }

    /// When [`Progress::tick`] has something to do.
    pub fn due(&self) -> Option<Instant> {
        let first = self.since + PATIENCE;
        self.wanted.then(|| first.max(Instant::now() + BEAT))
    }

    /// So many bytes of so many were sent.
    pub fn sent(&mut self, sent: u64, all: u64) {
        self.sent = (sent, all);
    }

    /// Shows how far it is.
    pub fn tick(&mut self) {
        if !self.wanted || self.since.elapsed() < PATIENCE {
            return;
        }
        let bar = self.bar.get_or_insert_with(|| {
            ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr())
        });
        let (sent, all) = self.sent;
        let template = match sent < all {
            true => "{spinner} sending files {bytes}/{total_bytes} {bar:30} {bytes_per_sec}",
            false => "{spinner} starting ranks {elapsed}",
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.set_length(all);
        bar.set_position(sent);
        bar.tick();
    }

    /// Takes it off the screen.
    pub fn clear(&mut self) {
        self.wanted = false;
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}
