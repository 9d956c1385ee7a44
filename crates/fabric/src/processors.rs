//! Whether somebody waits for one of the machine's processors, and leaving one.

use muster_base::processors::{LOADS, ONLINE, are_wanted, count};
use rustix::thread::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity};
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

/// Goes to another processor than this one, if there is one for this thread.
pub(crate) fn leave() {
    let Ok(may) = sched_getaffinity(None) else { return };
    let mut others = may;
    others.unset(sched_getcpu());
    go(&others, &may);
}

/// Goes to one of some processors (50 us), and may run on those of `may` again afterwards.
pub(crate) fn go(to: &CpuSet, may: &CpuSet) {
    // Where that is forbidden, or they have gone, it stays.
    if sched_setaffinity(None, to).is_ok() && sched_setaffinity(None, may).is_err() {
        // Its processors were changed meanwhile: any that it is given now.
        let mut any = CpuSet::new();
        (0..CpuSet::MAX_CPU).for_each(|at| any.set(at));
        let _ = sched_setaffinity(None, &any);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_leaves_a_processor_is_on_another_one_and_may_come_back() {
        let may = sched_getaffinity(None).unwrap();
        let has_left = || {
            let here = sched_getcpu();
            leave();
            sched_getcpu() != here
        };
        // The kernel may move it back at once, but not each time.
        assert_eq!((0..100).any(|_| has_left()), may.count() > 1);
        assert_eq!(sched_getaffinity(None).unwrap(), may);
    }
}
