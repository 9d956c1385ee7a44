//! Whether more tasks want to run than there are processors, by what the kernel's files say.
//!
//! Giving way (`sched_yield`) does not tell: the kernel divides a processor among sessions first
//! (sched(7), "The autogroup feature"), and one that gives way gives way to tasks of its own only.
//! So those who look for what comes next, and give way meanwhile, take processors from the program
//! that it is to come from. To ask takes 1 us on two processors, and longer on many.

/// How many tasks run or could, of all on the machine: proc(5).
pub const LOADS: &str = "/proc/loadavg";

/// Which processors are in use, as ranges: `0-3,6`.
pub const ONLINE: &str = "/sys/devices/system/cpu/online";

/// How many processors are in use; at least one.
pub fn count(online: &str) -> usize {
    let size = |range: &str| -> Option<usize> {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        Some(last.parse::<usize>().ok()?.checked_sub(first.parse().ok()?)? + 1)
    };
    online.trim().split(',').filter_map(size).sum::<usize>().max(1)
}

/// Whether somebody waits for one of so many; also where the kernel does not say.
pub fn are_wanted(count: usize, loads: &[u8]) -> bool {
    running(loads).is_none_or(|running| running > count)
}

/// The number before the stroke.
fn running(loads: &[u8]) -> Option<usize> {
    let text = std::str::from_utf8(loads).ok()?;
    text.split_whitespace().nth(3)?.split_once('/')?.0.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_lines_are_read() {
        assert_eq!(running(b"0.20 0.18 0.12 3/80 11206\n"), Some(3));
        assert_eq!(["0\n", "0-1", "0-3,6,8-9", ""].map(count), [1, 2, 7, 1]);
    }

    #[test]
    fn they_are_wanted_by_more_tasks_than_there_are_or_if_nobody_knows() {
        let wanted = |count| are_wanted(count, b"0.20 0.18 0.12 3/80 11206\n");
        assert_eq!([1, 2, 3, 4].map(wanted), [true, true, false, false]);
        assert!(are_wanted(4, b"0.20 0.18") && are_wanted(4, b""));
    }
}
