//! What takes longer than half a second shows how far it is, on a terminal.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// How long it stays silent.
const SILENT: Duration = Duration::from_millis(500);

/// How often it changes by itself.
const BEAT: Duration = Duration::from_millis(100);

/// What a job shows while its files are sent, and then until it runs.
const SENDING: &str = "{spinner} sending files {bytes}/{total_bytes} {bar:30} {bytes_per_sec}";
const STARTING: &str = "{spinner} starting ranks {elapsed}";

/// Progress of one command, gone when dropped.
pub struct Progress {
    bar: ProgressBar,
    /// When it is shown; nothing if nobody looks, or wants to.
    due: Option<Instant>,
    shown: bool,
}

impl Progress {
    /// Of steps: `joined 3/8`.
    pub fn steps(what: &str, total: usize) -> Progress {
        Progress::new(total as u64, &format!("{what} {{pos}}/{{len}}"), true)
    }

    /// Of bytes.
    pub fn bytes(total: u64) -> Progress {
        let template = "{wide_msg} {bytes}/{total_bytes} {bytes_per_sec} {eta}";
        Progress::new(total, template, true)
    }

    /// Of the stages before a job runs, if the user wants to see them.
    pub fn job(wanted: bool) -> Progress {
        Progress::new(0, STARTING, wanted)
    }

    fn new(total: u64, template: &str, wanted: bool) -> Progress {
        let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::hidden());
        let wanted = wanted && std::io::stderr().is_terminal();
        let due = wanted.then(|| Instant::now() + SILENT);
        let progress = Progress { bar, due, shown: false };
        progress.style(template);
        progress
    }

    fn style(&self, template: &str) {
        self.bar.set_style(ProgressStyle::with_template(template).expect("a template of ours"));
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
        self.show();
        self.bar.set_position(position);
    }

    /// So much more is done.
    pub fn add(&mut self, more: u64) {
        self.at(self.bar.position() + more);
    }

    /// So many bytes of a job's files were sent, of so many.
    pub fn sent(&mut self, sent: u64, all: u64) {
        self.style(if sent < all { SENDING } else { STARTING });
        self.total(all);
        self.at(sent);
    }

    /// When [`Progress::tick`] has something to do.
    pub fn next(&self) -> Option<Instant> {
        self.due.map(|due| due.max(Instant::now() + BEAT))
    }

    /// Shows that it goes on.
    pub fn tick(&mut self) {
        self.show();
        if self.shown {
            self.bar.tick();
        }
    }

    fn show(&mut self) {
        if !self.shown && self.due.is_some_and(|due| Instant::now() >= due) {
            self.shown = true;
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
    }

    /// Takes it off the screen.
    pub fn clear(&mut self) {
        self.due = None;
        self.shown = false;
        self.bar.finish_and_clear();
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
