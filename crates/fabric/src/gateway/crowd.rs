//! Where the ranks of a machine run.
//!
//! Where they are more than its processors they offer these to one another while they wait
//! (`sched_yield`), which takes the least where each processor has as many of them. The kernel sees
//! to that, but late while all processors have something to do: of four ranks three were on one of
//! two for 150 ms at a time. Where they are not more, one that is woken may find itself where
//! another computes, and was left there for 13 ms while the processor it came from was idle.
//!
//! So each rank says where it runs. One that waits among many counts now and then those that do not
//! sleep, and one that was woken does so when it waits next. It moves where there are fewer by two
//! or more: asks for that processor, then for all that it had (50 us).

use super::endpoint::Core;
use super::layout::{Memory, Process, Sleep};
use crate::processors;
use rustix::thread::{CpuSet, sched_getaffinity, sched_getcpu};

/// How often a processor is offered before its rank counts: some hundred microseconds.
const OFFERS: u32 = 256;

/// Where a rank runs, and how often it has offered its processor.
#[derive(Default)]
pub(super) struct Crowd {
    /// One more than the number of the processor on which it ran when it looked last.
    processor: u64,
    offers: u32,
    was_woken: bool,
}

impl Crowd {
    /// One more than the number of its processor.
    pub(super) fn processor(&self) -> u64 {
        self.processor
    }

    /// Says where it runs.
    #[inline]
    pub(super) fn note<M: Memory>(&mut self, core: &Core<M>) {
        let now = sched_getcpu() as u64 + 1;
        if now != self.processor {
            self.processor = now;
            core.memory.store(core.layout.process(core.me, Process::Crowd), now);
        }
    }

    /// Offers its processor to others.
    pub(super) fn offer<M: Memory>(&mut self, core: &Core<M>) {
        std::thread::yield_now();
        self.offers = self.offers.wrapping_add(1);
        if self.offers.is_multiple_of(OFFERS) {
            let places = core.spots();
            // Of those that share one only the last goes.
            if !places[core.me + 1..].contains(&places[core.me]) {
                self.spread(core, &places);
            }
        }
        self.note(core);
    }

    /// It slept.
    pub(super) fn wake(&mut self) {
        self.was_woken = true;
    }

    /// Waits. If it was woken where another rank runs it moves now: before, that would have taken
    /// the time of what it was woken for.
    #[inline]
    pub(super) fn settle<M: Memory>(&mut self, core: &Core<M>) {
        self.note(core);
        if std::mem::take(&mut self.was_woken) {
            let places = core.spots();
            if places.iter().filter(|place| **place == self.processor).count() > 1 {
                self.spread(core, &places);
                self.note(core);
            }
        }
    }

    /// Moves to another processor where that has fewer ranks.
    fn spread<M: Memory>(&mut self, core: &Core<M>, places: &[u64]) {
        let Ok(may) = sched_getaffinity(None) else { return };
        let processors: Vec<u64> =
            (0..CpuSet::MAX_CPU).filter(|at| may.is_set(*at)).map(|at| at as u64 + 1).collect();
        let Some(better) = better(core.me, places, &processors) else { return };
        // Another one that looks meanwhile does not go there, too. Where it is then is noted anew.
        core.memory.store(core.layout.process(core.me, Process::Crowd), better);
        self.processor = 0;
        let mut one = CpuSet::new();
        one.set(better as usize - 1);
        processors::go(&one, &may);
    }
}

impl<M: Memory> Core<M> {
    /// Whether a rank here runs, or could.
    pub(super) fn is_awake(&self, rank: usize) -> bool {
        let asleep = self.memory.load(self.layout.process(rank, Process::Asleep));
        asleep == Sleep::No as u64 && !self.is_over(rank)
    }

    /// One more than the number of each rank's processor here, or 0 where it sleeps.
    fn spots(&self) -> Vec<u64> {
        let spot = |rank| {
            let spot = self.memory.load(self.layout.process(rank, Process::Crowd));
            if self.is_awake(rank) { spot } else { 0 }
        };
        (0..self.layout.here()).map(spot).collect()
    }
}

/// The processor to which a rank goes best, of some, by where all run that do not sleep; others:
/// 0.
fn better(me: usize, places: &[u64], processors: &[u64]) -> Option<u64> {
    let own = places[me];
    let count = |processor: u64| places.iter().filter(|place| **place == processor).count();
    if own == 0 {
        return None;
    }
    // Of equals the nearest, by number.
    let far = |processor: u64| (count(processor), processor.abs_diff(own));
    let least = processors.iter().copied().min_by_key(|processor| far(*processor))?;
    (count(least) + 2 <= count(own)).then_some(least)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gateway::layout::Layout;
    use crate::transport::shared::sys::Mapped;
    use std::sync::Arc;

    #[test]
    fn one_that_was_woken_where_another_runs_moves_and_may_run_anywhere_again() {
        let layout = Layout::new(0, &[2]);
        let core = Core::new(Arc::new(Mapped::heap(layout.words * 8)), layout, 1);
        let may = sched_getaffinity(None).unwrap();
        let mut crowd = Crowd::default();
        let mut is_apart = || {
            crowd.note(&core);
            let there = crowd.processor();
            core.memory.store(core.layout.process(0, Process::Crowd), there);
            crowd.wake();
            crowd.settle(&core);
            crowd.processor() != there
        };
        // The kernel may move it back at once, but not each time.
        assert_eq!((0..100).any(|_| is_apart()), may.count() > 1);
        assert_eq!(sched_getaffinity(None).unwrap(), may);
        // One that sleeps is in nobody's way.
        core.memory.store(core.layout.process(0, Process::Asleep), Sleep::News as u64);
        assert_eq!(core.spots()[0], 0);
    }

    #[test]
    fn one_of_those_that_are_too_many_goes_where_there_are_fewest() {
        let each = |places: &[u64]| -> Vec<Option<u64>> {
            (0..places.len()).map(|me| better(me, places, &[1, 2, 5])).collect()
        };
        assert_eq!(each(&[1, 1, 1, 2, 2]), [Some(5); 5]);
        assert_eq!(each(&[2, 1, 5, 2]), [None; 4]);
        assert_eq!(each(&[2, 1, 5, 2, 2]), [Some(1), None, None, Some(1), Some(1)]);
        // Those that sleep are on none.
        assert_eq!(each(&[0, 1, 0, 1]), [None, Some(2), None, Some(2)]);
        assert_eq!(each(&[0; 4]), [None; 4]);
    }

    #[test]
    fn one_that_may_run_on_one_processor_only_stays_there() {
        assert_eq!(better(2, &[1, 1, 1, 2], &[1]), None);
        assert_eq!(better(2, &[1, 1, 1], &[]), None);
    }
}
