//! Whether more tasks want to run than there are processors.
//!
//! Giving way (`sched_yield`) does not tell: the kernel divides a processor among sessions first
//! (sched(7), "The autogroup feature"), and one that gives way gives way to tasks of its own only.
//! So a server that looked for the next request for 100 us took them from a program beside it.

use std::fs::File;
use std::os::unix::fs::FileExt;

/// How many tasks run or could, of all on the machine: proc(5).
const FILE: &str = "/proc/loadavg";

/// Which processors are in use: 0-3,6.
const ONLINE: &str = "/sys/devices/system/cpu/online";

/// The machine's processors.
pub(crate) struct Processors {
    loads: Option<File>,
    count: usize,
}

impl Processors {
    /// All that are in use, for the kernel counts the tasks of all.
    pub(crate) fn new() -> Processors {
        let online = std::fs::read_to_string(ONLINE).unwrap_or_default();
        Processors { loads: File::open(FILE).ok(), count: count(online.trim()) }
    }

    /// Whether somebody waits for one; also where the kernel does not say. Takes 1 us on two
    /// processors, and longer on many.
    pub(crate) fn are_wanted(&self) -> bool {
        let mut text = [0; 64];
        let read = self.loads.as_ref().and_then(|file| file.read_at(&mut text, 0).ok());
        let running = read.and_then(|length| running(&text[..length]));
        running.is_none_or(|running| running > self.count)
    }
}

/// How many there are in a list of ranges; at least one.
fn count(list: &str) -> usize {
    let size = |range: &str| -> Option<usize> {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        Some(last.parse::<usize>().ok()?.checked_sub(first.parse().ok()?)? + 1)
    };
    list.split(',').filter_map(size).sum::<usize>().max(1)
}

/// The number before the stroke.
fn running(text: &[u8]) -> Option<usize> {
    let text = std::str::from_utf8(text).ok()?;
    text.split_whitespace().nth(3)?.split_once('/')?.0.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::{Duration, Instant};

    #[test]
    fn the_kernels_line_is_read() {
        assert_eq!(running(b"0.20 0.18 0.12 3/80 11206\n"), Some(3));
        assert_eq!(running(b"0.20 0.18"), None);
        assert_eq!(running(b""), None);
        assert_eq!(["0", "0-1", "0-3,6,8-9", ""].map(count), [1, 2, 7, 1]);
    }

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
