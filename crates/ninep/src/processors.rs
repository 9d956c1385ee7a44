//! Whether somebody waits for one of the machine's processors.

use muster_base::processors::{LOADS, ONLINE, are_wanted, count};
use std::fs::File;
use std::os::unix::fs::FileExt;

/// The machine's processors.
pub(crate) struct Processors {
    loads: Option<File>,
    count: usize,
}

impl Processors {
    /// All that are in use, for the kernel counts the tasks of all.
    pub(crate) fn new() -> Processors {
        let online = std::fs::read_to_string(ONLINE).unwrap_or_default();
        Processors { loads: File::open(LOADS).ok(), count: count(&online) }
    }

    /// Whether more tasks want to run than there are.
    pub(crate) fn are_wanted(&self) -> bool {
        let mut text = [0; 64];
        let read = self.loads.as_ref().and_then(|file| file.read_at(&mut text, 0).ok());
        are_wanted(self.count, &text[..read.unwrap_or(0)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::{Duration, Instant};

    #[test]
    fn processors_are_wanted_while_more_threads_run_than_there_are() {
        let processors = Processors::new();
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for _ in 0..=processors.count {
                scope.spawn(|| {
                    while !is_over.load(Ordering::Relaxed) {
                        std::hint::spin_loop();
                    }
                });
            }
            let begun = Instant::now();
            while !processors.are_wanted() && begun.elapsed() < Duration::from_secs(20) {
                std::thread::yield_now();
            }
            let are_wanted = processors.are_wanted();
            is_over.store(true, Ordering::Relaxed);
            assert!(are_wanted);
        });
    }
}
