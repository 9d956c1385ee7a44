//! Who waits for the ends of a job's ranks.

use super::job::{Job, State};
use super::report::raw_of;
use super::spec::{RankPhase, RankStatus};
use crate::files::latch::Latch;
use std::sync::{Mutex, MutexGuard};

/// By rank: raw wait(2) status, as a text. Once the job is done that is in its status, and nothing
/// of it is kept here.
pub(super) struct Waits {
    count: usize,
    /// None once the job is done.
    latches: Mutex<Option<Vec<Latch>>>,
}

impl Waits {
    /// Of ranks that nobody has waited for.
    pub(super) fn new(count: usize) -> Waits {
        Waits::of(std::iter::repeat_with(Latch::default).take(count).collect())
    }

    fn of(latches: Vec<Latch>) -> Waits {
        Waits { count: latches.len(), latches: Mutex::new(Some(latches)) }
    }

    /// Of a job that is done.
    pub(super) fn over(count: usize) -> Waits {
        Waits { count, latches: Mutex::new(None) }
    }

    fn locked(&self) -> MutexGuard<'_, Option<Vec<Latch>>> {
        self.latches.lock().expect("no holder panics")
    }

    /// How many ranks there are.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// What becomes known when a rank has ended, unless all have.
    pub(super) fn of_rank(&self, rank: usize) -> Option<Latch> {
        self.locked().as_ref()?.get(rank).cloned()
    }

    /// Ranks have ended.
    pub(super) fn set(&self, exits: &[(usize, i32)]) {
        // Who is told may come back here.
        let told: Vec<(Latch, i32)> = {
            let latches = self.locked();
            let of = |rank: usize| latches.as_ref()?.get(rank).cloned();
            exits.iter().filter_map(|(rank, raw)| Some((of(*rank)?, *raw))).collect()
        };
        told.into_iter().for_each(|(latch, raw)| latch.set(raw.to_string()));
    }

    /// A rank is gone, and nobody will know how it has ended.
    pub(super) fn lost(&self, rank: usize) {
        self.of_rank(rank).into_iter().for_each(|latch| latch.set(""));
    }

    /// The job is done: no rank ends any more.
    pub(super) fn end(&self) {
        let latches = self.locked().take();
        latches.into_iter().flatten().for_each(|latch| latch.set(""));
    }

    /// Those of the next attempt. Who waits for a rank that has not ended waits on.
    pub(super) fn again(&self) -> Waits {
        let open = |latch: &Latch| latch.get().is_none().then(|| latch.clone());
        match &*self.locked() {
            Some(all) => Waits::of(all.iter().map(|one| open(one).unwrap_or_default()).collect()),
            None => Waits::new(self.count),
        }
    }
}

impl Job {
    /// How a rank of a job that is done has ended.
    pub(super) fn wait_of(&self, rank: usize) -> Latch {
        let raw = |ranks: &[RankStatus]| {
            let rank = ranks.get(rank)?;
            let why = rank.why.as_ref().filter(|_| rank.state == RankPhase::Done);
            // Without a status of its own it could not be run.
            rank.status.or_else(|| why.map(|why| raw_of(why)))
        };
        let raw = match &*self.past.lock().expect("no holder panics") {
            Some(past) => raw(&past.ranks),
            None => raw(self.state().progress.ranks()),
        };
        let known = Latch::default();
        known.set(raw.map(|raw| raw.to_string()).unwrap_or_default());
        known
    }
}

impl State {
    /// Has a rank open again to be [claimed](State::claim).
    pub(super) fn unclaim(&mut self, rank: usize) {
        if let Some(claimed) = self.claimed.get_mut(rank) {
            *claimed = false;
        }
    }

    /// The job is done: what is told of its ranks is in its progress. Many jobs are remembered, and
    /// each may have thousands.
    pub(super) fn forget_ranks(&mut self) {
        (self.instances, self.followed, self.claimed) = Default::default();
        (self.early, self.skips) = Default::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_kept_by_rank_once_the_job_is_done() {
        let waits = Waits::new(3);
        let (before, open) = (waits.of_rank(0).unwrap(), waits.of_rank(1).unwrap());
        waits.set(&[(0, 256)]);
        let next = waits.again();
        assert_eq!(next.of_rank(0).unwrap().get(), None, "another will end");
        waits.end();
        assert_eq!((before.get(), open.get()), (Some("256".to_owned()), Some(String::new())));
        assert_eq!(next.of_rank(1).unwrap().get(), Some(String::new()), "it was waited for");
        assert!(waits.of_rank(0).is_none());
        assert_eq!(waits.count(), 3);
    }
}
