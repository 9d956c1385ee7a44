//! Ranks of a machine that has fewer processors: where each runs.
//!
//! They offer their processors to one another while they wait (`sched_yield`), which takes the
//! least where each processor has as many of them. The kernel evens that out, but late while all
//! processors have something to do: of four ranks three were on one of two for 150 ms at a time. So
//! each rank says where it runs, and one that waits counts now and then those that do not sleep. It
//! moves where there are fewer by two or more: asks for that processor, then for all that it had.

use super::endpoint::Core;
use super::layout::{Memory, Process, Sleep};
use rustix::thread::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity};

/// How often a processor is offered before its rank counts: some hundred microseconds.
const OFFERS: u32 = 256;

/// Where a rank runs, and how often it has offered its processor.
#[derive(Default)]
pub(super) struct Crowd {
    /// One more than the number of the processor on which it ran when it looked last.
    processor: u64,
    offers: u32,
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
            self.spread(core);
        }
        self.note(core);
    }

    /// Moves to another processor where that has fewer ranks.
    fn spread<M: Memory>(&self, core: &Core<M>) {
        let Ok(may) = sched_getaffinity(None) else { return };
        let processors: Vec<u64> =
            (0..CpuSet::MAX_CPU).filter(|at| may.is_set(*at)).map(|at| at as u64 + 1).collect();
        let place = |rank: usize| {
            let word = |word| core.memory.load(core.layout.process(rank, word));
            let is_awake = word(Process::Asleep) == Sleep::No as u64 && !core.is_over(rank);
            if is_awake { word(Process::Crowd) } else { 0 }
        };
        let places: Vec<u64> = (0..core.layout.here()).map(place).collect();
        let Some(better) = better(core.me, &places, &processors) else { return };
        let mut one = CpuSet::new();
        one.set(better as usize - 1);
        // Where that is forbidden, or the processor has gone, it stays.
        if sched_setaffinity(None, &one).is_ok() {
            let _ = sched_setaffinity(None, &may);
        }
    }
}

/// The processor to which a rank goes best, of some, by where all run that do not sleep; others:
/// 0. Of those that share one only the last goes.
fn better(me: usize, places: &[u64], processors: &[u64]) -> Option<u64> {
    let own = places[me];
    let count = |processor: u64| places.iter().filter(|place| **place == processor).count();
    if own == 0 || places[me + 1..].contains(&own) {
        return None;
    }
    let least = processors.iter().copied().min_by_key(|processor| count(*processor))?;
    (count(least) + 2 <= count(own)).then_some(least)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_those_that_are_too_many_goes_where_there_are_fewest() {
        let each = |places: &[u64]| -> Vec<Option<u64>> {
            (0..places.len()).map(|me| better(me, places, &[1, 2, 5])).collect()
        };
        assert_eq!(each(&[1, 1, 1, 2, 2]), [None, None, Some(5), None, Some(5)]);
        assert_eq!(each(&[2, 1, 5, 2]), [None; 4]);
        assert_eq!(each(&[2, 1, 5, 2, 2]), [None, None, None, None, Some(1)]);
        // Those that sleep are on none.
        assert_eq!(each(&[0, 1, 0, 1]), [None, None, None, Some(2)]);
        assert_eq!(each(&[0; 4]), [None; 4]);
    }

    #[test]
    fn one_that_may_run_on_one_processor_only_stays_there() {
        assert_eq!(better(2, &[1, 1, 1, 2], &[1]), None);
        assert_eq!(better(2, &[1, 1, 1], &[]), None);
    }
}
