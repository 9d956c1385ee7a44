//! Those who wait for a rank's lock and are elsewhere.

use super::lock::Lock;
use crate::buffer::Memory;
use std::collections::VecDeque;

/// One that waits for a lock: the answer's number.
pub(super) struct Waiting {
    pub origin: u32,
    pub number: u64,
    pub is_exclusive: bool,
}

/// An owner's lock, and who waits for it, in the order in which they asked.
pub(super) struct Queue<M> {
    pub lock: Lock<M>,
    waiting: VecDeque<Waiting>,
    /// The last rank that waited where the lock lies and for which it was kept.
    last: u32,
    /// Whether one of the queue has had it since.
    has_had: bool,
}

impl<M: Memory> Queue<M> {
    pub fn of(lock: Lock<M>) -> Queue<M> {
        Queue { lock, waiting: VecDeque::new(), last: 0, has_had: false }
    }

    /// One more waits.
    pub fn ask(&mut self, waiting: Waiting) {
        self.lock.queue(true);
        self.waiting.push_back(waiting);
    }

    /// Those that have the lock now, and had not before, and the rank for which it is kept, that
    /// waits where it lies and is to be woken: one of those gets it between two of these.
    pub fn granted(&mut self) -> (Vec<Waiting>, Option<u32>) {
        let mut granted = Vec::new();
        while let Some(first) = self.waiting.pop_front() {
            let kept = if self.has_had { self.lock.keep(self.last) } else { None };
            if let Some(kept) = kept {
                (self.last, self.has_had) = (kept, false);
            }
            if kept.is_some() || !self.lock.take(first.origin, first.is_exclusive, true) {
                self.waiting.push_front(first);
                return (granted, kept);
            }
            self.has_had = true;
            granted.push(first);
        }
        self.lock.queue(false);
        (granted, None)
    }

    /// Whether somebody waits for a lock that nobody has: who gave it back has not told, and may be
    /// gone.
    pub fn is_forgotten(&self) -> bool {
        !self.waiting.is_empty() && self.lock.is_free()
    }

    /// Those who have the lock while others wait for it.
    pub fn waited_for(&self) -> Vec<u32> {
        if self.waiting.is_empty() { Vec::new() } else { self.lock.holders() }
    }

    /// Who gets it next.
    pub fn next(&self) -> Option<u32> {
        self.waiting.front().map(|waiting| waiting.origin)
    }

    /// Nobody waits any more; those who did.
    pub fn give_up(&mut self) -> VecDeque<Waiting> {
        self.lock.queue(false);
        std::mem::take(&mut self.waiting)
    }
}

#[cfg(test)]
mod tests {
    use super::super::lock::{Given, tests::Words};
    use super::*;

    fn queue() -> Queue<Words> {
        Queue::of(Lock::apart(8))
    }

    /// Asks for a lock, and tells who has one now and had not before.
    fn ask(queue: &mut Queue<Words>, origin: u32, is_exclusive: bool) -> Vec<u32> {
        queue.ask(Waiting { origin, number: 0, is_exclusive });
        granted(queue)
    }

    fn granted(queue: &mut Queue<Words>) -> Vec<u32> {
        let (granted, kept) = queue.granted();
        assert_eq!(kept, None);
        granted.into_iter().map(|it| it.origin).collect()
    }

    fn give_back(queue: &mut Queue<Words>, rank: u32) -> Vec<u32> {
        queue.lock.give(rank);
        granted(queue)
    }

    #[test]
    fn who_shares_a_lock_waits_for_who_does_not_and_nobody_is_overtaken() {
        let mut locks = queue();
        assert_eq!(ask(&mut locks, 0, false), [0]);
        assert_eq!(ask(&mut locks, 1, false), [1]);
        assert_eq!(ask(&mut locks, 2, true), []);
        // It might share, but came later than one that does not.
        assert_eq!(ask(&mut locks, 3, false), []);
        assert_eq!(ask(&mut locks, 4, false), []);
        assert_eq!((locks.waited_for(), locks.next()), (vec![0, 1], Some(2)));
        assert_eq!(give_back(&mut locks, 0), []);
        assert_eq!(give_back(&mut locks, 1), [2]);
        assert_eq!(give_back(&mut locks, 2), [3, 4]);
        assert_eq!(ask(&mut locks, 5, true), []);
        assert_eq!(give_back(&mut locks, 3), []);
        assert_eq!(give_back(&mut locks, 4), [5]);
        assert_eq!((locks.waited_for(), locks.next()), (vec![], None));
    }

    #[test]
    fn who_takes_a_lock_by_itself_overtakes_the_queue_so_many_times_and_is_told_of_it() {
        let mut locks = queue();
        assert!(locks.lock.take(1, false, false) && locks.lock.take(2, false, false));
        assert!(!locks.lock.take(3, true, false));
        assert_eq!(locks.lock.holders(), [1, 2]);
        assert!(!locks.lock.give(1).is_queued);
        // Who does not have it gives nothing back.
        assert!(!locks.lock.give(3).is_queued);
        assert_eq!(ask(&mut locks, 3, true), []);
        for _ in 0..64 {
            assert!(locks.lock.take(4, false, false));
            assert_eq!(granted(&mut locks), []);
            assert!(locks.lock.give(4).is_queued);
        }
        // Who waits here does not get it before the queue either.
        assert!(!locks.lock.take(4, false, false) && !locks.lock.wait(5, false));
        assert!(!locks.is_forgotten());
        assert_eq!(locks.lock.give(2), Given { is_queued: true, wakes: None });
        assert!(locks.is_forgotten());
        assert!(!locks.lock.take(4, false, false) && !locks.lock.wait(5, false));
        assert_eq!(granted(&mut locks), [3]);
        assert_eq!(locks.lock.holders(), [3]);
        assert_eq!(locks.lock.give(4), Given::default());
        assert_eq!(locks.lock.give(3), Given { is_queued: false, wakes: Some(5) });
        assert!(!locks.is_forgotten() && locks.lock.take(4, false, false));
        assert!(locks.lock.wait(5, false));
        locks.lock.give(5);
        assert_eq!(ask(&mut locks, 5, true), []);
        assert_eq!(locks.give_up().len(), 1);
        assert!(locks.lock.take(5, false, false));
    }

    #[test]
    fn who_waits_here_gets_the_lock_also_where_the_queue_never_ends() {
        let mut locks = queue();
        assert_eq!(ask(&mut locks, 1, true), [1]);
        assert!(!locks.lock.wait(3, true));
        for _ in 0..3 {
            // The next one asks before the last has given it back.
            assert_eq!(ask(&mut locks, 2, true), []);
            locks.lock.give(1);
            let (gets, kept) = locks.granted();
            assert_eq!((gets.len(), kept), (0, Some(3)));
            assert!(!locks.is_forgotten() && locks.lock.wait(3, true));
            assert_eq!(ask(&mut locks, 1, true), []);
            assert!(locks.lock.give(3).is_queued);
            // It waits again at once, and is not the next.
            assert!(locks.lock.take(4, true, false) && !locks.lock.wait(3, true));
            locks.lock.give(4);
            assert_eq!(granted(&mut locks), [2]);
            locks.lock.give(2);
            let (gets, kept) = locks.granted();
            assert_eq!((gets.len(), kept), (0, Some(3)));
            assert!(locks.lock.wait(3, true));
            locks.lock.give(3);
            assert_eq!(granted(&mut locks), [1]);
            assert!(!locks.lock.wait(3, true));
        }
    }

    #[test]
    fn what_is_kept_for_one_that_waits_here_is_had_by_it_also_when_a_queue_begins() {
        let mut locks = queue();
        assert!(locks.lock.take(1, true, false) && !locks.lock.wait(3, true));
        for _ in 0..64 {
            locks.lock.give(1);
            assert!(locks.lock.take(1, true, false));
        }
        assert_eq!(locks.lock.give(1).wakes, Some(3));
        assert_eq!(ask(&mut locks, 2, true), []);
        assert!(!locks.is_forgotten() && locks.lock.wait(3, true));
        locks.lock.give(3);
        assert_eq!(granted(&mut locks), [2]);
    }

    #[test]
    fn who_waits_here_gets_the_lock_also_where_those_of_the_queue_always_share_it() {
        let mut locks = queue();
        assert_eq!(ask(&mut locks, 1, false), [1]);
        assert!(!locks.lock.wait(3, true));
        let mut times = 0;
        // The next one asks before the last has given it back.
        while ask(&mut locks, 1 + (times + 1) % 2, false).len() == 1 {
            locks.lock.give(1 + times % 2);
            times += 1;
            assert!(times <= 64);
        }
        locks.lock.give(1 + times % 2);
        let (gets, kept) = locks.granted();
        assert_eq!((gets.len(), kept), (0, Some(3)));
        assert!(locks.lock.wait(3, true));
    }
}
