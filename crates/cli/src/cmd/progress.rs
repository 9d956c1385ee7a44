//! What takes longer than half a second shows how far it is, on a terminal.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// How long it stays silent.
const SILENT: Duration = Duration::from_millis(500);

/// Progress of one command, gone when dropped.
pub struct Progress {
    bar: ProgressBar,
    due: Option<Instant>,
}

impl Progress {
    /// Of steps: `joined 3/8`.
    pub fn steps(what: &str, total: usize) -> Progress {
        Progress::new(total as u64, &format!("{what} {{pos}}/{{len}}"))
    }

    /// Of bytes.
    pub fn bytes(total: u64) -> Progress {
        let template = "{wide_msg} {bytes}/{total_bytes} {bytes_per_sec} {eta}";
        Progress::new(total, template)
    }

    fn new(total: u64, template: &str) -> Progress {
        let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::hidden());
        bar.set_style(ProgressStyle::with_template(template).expect("a template of ours"));
        let due = std::io::stderr().is_terminal().then(|| Instant::now() + SILENT);
        Progress { bar, due }
    }

    /// What is being worked on.
    pub fn name(&mut self, name: String) {
        self.bar.set_message(name);
    }

    /// There is so much to do in all.
    pub fn total(&self, total: u64) {
        self.bar.set_length(total);
    }

    /// So much is done in all.
    pub fn at(&mut self, position: u64) {
        if self.due.is_some_and(|due| Instant::now() >= due) {
            self.due = None;
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        self.bar.set_position(position);
    }

    /// So much more is done.
    pub fn add(&mut self, more: u64) {
        self.at(self.bar.position() + more);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
