//! Locks of a rank's memory (MPI-5.0, section 12.5.3).
//!
//! A lock is a word, and a byte for each rank that says whether this shares it. Ranks that share
//! memory have both at addresses of theirs: they take a lock by themselves, and give it back.
//! Whoever does not get it soon asks the owner, as do those who are elsewhere, and the owner keeps
//! a queue. Those who take it by themselves may overtake that only so many times, and whoever
//! gives it back while somebody is there tells the owner: were nobody let past, each would have to
//! queue up behind the one before as soon as somebody has, and wait for an owner that may be
//! asleep.

use crate::atom::Atom;
use crate::buffer::Memory;
use std::collections::VecDeque;

/// In a lock's word: somebody waits in the owner's queue.
const QUEUED: u64 = 1 << 63;

/// One has it alone, whose rank is in the lowest 32 bits. Otherwise they say how many share it.
const ALONE: u64 = 1 << 62;

/// Who has it, in its word.
const HAVE: u64 = ALONE | u32::MAX as u64;

/// One that was let past the queue, and how many are before those who wait get it.
const PAST: u64 = 1 << 32;
const PAST_MAX: u64 = 64 * PAST;
const PAST_ALL: u64 = ALONE - PAST;

/// Where the bytes of ranks begin: behind the word's line.
const RANKS: usize = 64;

/// A lock, wherever it is.
pub(super) struct Lock<M> {
    memory: M,
    ranks: u32,
}

/// Bytes of a lock that so many ranks use: zeros in the beginning. It is at a multiple of 64.
#[must_use]
pub fn room(ranks: u32) -> usize {
    RANKS + (ranks as usize).next_multiple_of(RANKS)
}

impl<M: Memory> Lock<M> {
    /// The one that is there.
    pub fn at(memory: M, ranks: u32) -> Lock<M> {
        Lock { memory, ranks }
    }

    /// One that no other process sees.
    pub fn apart(ranks: u32) -> Lock<M> {
        // The first multiple of the word's size is as good here.
        let memory = M::scratch(room(ranks) + size_of::<u64>());
        let at = (0..8).find(|at| memory.atom(*at, size_of::<u64>()).is_some());
        Lock::at(memory.offset(at.expect("one of eight addresses in a row")), ranks)
    }

    fn word(&self) -> Atom<'_> {
        self.memory.atom(0, size_of::<u64>()).expect("a lock is at a multiple of its word's size")
    }

    /// Changes the word, if it is to be; what it was.
    fn change(&self, next: impl Fn(u64) -> Option<u64>) -> Option<u64> {
        let word = self.word();
        let mut old = word.load();
        loop {
            let new = next(u64::from_ne_bytes(old))?;
            let found = word.exchange(&old, &new.to_ne_bytes());
            if found == old {
                return Some(u64::from_ne_bytes(old));
            }
            old = found;
        }
    }

    fn now(&self) -> u64 {
        u64::from_ne_bytes(self.word().load())
    }

    fn rank(&self, rank: u32) -> Atom<'_> {
        self.memory.atom(RANKS as isize + rank as isize, 1).expect("a byte is anywhere")
    }

    fn shares(&self, rank: u32) -> bool {
        self.rank(rank).load()[0] != 0
    }

    fn share(&self, rank: u32, shares: bool) {
        self.rank(rank).store(&[u8::from(shares)]);
    }

    /// Takes it for a rank, from the queue or past it; whether it was to be had.
    pub fn take(&self, rank: u32, is_exclusive: bool, is_queued: bool) -> bool {
        let next = |word| {
            let past = match word & PAST_ALL {
                _ if is_queued || word & QUEUED == 0 => 0,
                past if past < PAST_MAX => past + PAST,
                _ => return None,
            };
            let word = word & !PAST_ALL | past;
            match word & HAVE {
                0 if is_exclusive => Some(word | ALONE | u64::from(rank)),
                have if !is_exclusive && have & ALONE == 0 => Some(word + 1),
                _ => None,
            }
        };
        if next(self.now()).is_none() {
            return false;
        }
        if is_exclusive {
            return self.change(next).is_some();
        }
        // First of all, so that a rank that is gone is never one that nobody knows of.
        self.share(rank, true);
        let is_taken = self.change(next).is_some();
        if !is_taken {
            self.share(rank, false);
        }
        is_taken
    }

    /// Whether it can be had without the owner.
    pub fn lets_past(&self) -> bool {
        let word = self.now();
        word & QUEUED == 0 || word & PAST_ALL < PAST_MAX
    }

    /// Gives it back for a rank, if that has it; whether somebody waits for it.
    pub fn give(&self, rank: u32) -> bool {
        let shares = self.shares(rank);
        let given = self.change(|word| match word & ALONE {
            0 => shares.then(|| word - 1),
            _ => (word & HAVE == ALONE | u64::from(rank)).then_some(word & !HAVE),
        });
        if shares {
            self.share(rank, false);
        }
        given.is_some_and(|word| word & QUEUED != 0)
    }

    fn queue(&self, is_queued: bool) {
        let set = |word| Some(if is_queued { word | QUEUED } else { word & !QUEUED });
        self.change(set);
    }

    fn holders(&self) -> Vec<u32> {
        let word = self.now();
        match word & HAVE {
            0 => Vec::new(),
            have if have & ALONE != 0 => vec![have as u32],
            _ => (0..self.ranks).filter(|rank| self.shares(*rank)).collect(),
        }
    }
}

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
}

impl<M: Memory> Queue<M> {
    pub fn of(lock: Lock<M>) -> Queue<M> {
        Queue { lock, waiting: VecDeque::new() }
    }

    /// One more waits.
    pub fn ask(&mut self, waiting: Waiting) {
        self.lock.queue(true);
        self.waiting.push_back(waiting);
    }

    /// Those that have the lock now, and had not before.
    pub fn granted(&mut self) -> Vec<Waiting> {
        let mut granted = Vec::new();
        while let Some(first) = self.waiting.pop_front() {
            if !self.lock.take(first.origin, first.is_exclusive, true) {
                self.waiting.push_front(first);
                return granted;
            }
            granted.push(first);
        }
        self.lock.queue(false);
        granted
    }

    /// Whether somebody waits for a lock that nobody has: who gave it back has not told, and may be
    /// gone.
    pub fn is_forgotten(&self) -> bool {
        !self.waiting.is_empty() && self.lock.now() & HAVE == 0
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
    use super::*;
    use crate::datatype;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
    use std::thread;

    /// A lock's memory, as two processes have it.
    #[derive(Clone)]
    struct Words(Arc<(AtomicU64, Vec<AtomicU8>)>);

    impl datatype::Memory for Words {
        fn read(&self, _: isize, _: &mut [u8]) {
            unreachable!("a lock is atoms")
        }

        fn write(&mut self, _: isize, _: &[u8]) {
            unreachable!("a lock is atoms")
        }
    }

    impl Memory for Words {
        fn bytes(&self, _: isize, _: usize) -> &[u8] {
            unreachable!("a lock is atoms")
        }

        fn bytes_mut(&mut self, _: isize, _: usize) -> &mut [u8] {
            unreachable!("a lock is atoms")
        }

        fn atom(&self, at: isize, _: usize) -> Option<Atom<'_>> {
            let (word, ranks) = &*self.0;
            Some(match usize::try_from(at).unwrap().checked_sub(RANKS) {
                None => Atom::Eight(word),
                Some(rank) => Atom::One(&ranks[rank]),
            })
        }

        fn offset(&self, by: isize) -> Words {
            assert_eq!(by, 0);
            self.clone()
        }

        fn scratch(_: usize) -> Words {
            Words(Arc::new((AtomicU64::new(0), (0..8).map(|_| AtomicU8::new(0)).collect())))
        }

        fn is(&self, other: &Words) -> bool {
            Arc::ptr_eq(&self.0, &other.0)
        }
    }

    fn queue() -> Queue<Words> {
        Queue::of(Lock::apart(8))
    }

    /// Asks for a lock, and tells who has one now and had not before.
    fn ask(queue: &mut Queue<Words>, origin: u32, is_exclusive: bool) -> Vec<u32> {
        queue.ask(Waiting { origin, number: 0, is_exclusive });
        granted(queue)
    }

    fn granted(queue: &mut Queue<Words>) -> Vec<u32> {
        queue.granted().into_iter().map(|it| it.origin).collect()
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
    fn who_takes_a_lock_by_itself_overtakes_those_who_wait_so_many_times_and_is_told_of_them() {
        let mut locks = queue();
        assert!(locks.lock.take(1, false, false) && locks.lock.take(2, false, false));
        assert!(!locks.lock.take(3, true, false));
        assert_eq!(locks.lock.holders(), [1, 2]);
        assert!(!locks.lock.give(1));
        // Who does not have it gives nothing back.
        assert!(!locks.lock.give(3));
        assert_eq!(ask(&mut locks, 3, true), []);
        for _ in 0..64 {
            assert!(locks.lock.lets_past() && locks.lock.take(4, false, false));
            assert_eq!(granted(&mut locks), []);
            assert!(locks.lock.give(4));
        }
        assert!(!locks.lock.lets_past() && !locks.lock.take(4, false, false));
        assert!(!locks.is_forgotten() && locks.lock.give(2) && locks.is_forgotten());
        assert!(!locks.lock.take(4, false, false));
        assert_eq!(granted(&mut locks), [3]);
        assert_eq!(locks.lock.holders(), [3]);
        assert!(!locks.lock.give(4) && !locks.lock.give(3));
        assert!(!locks.is_forgotten() && locks.lock.take(4, false, false));
        assert_eq!(ask(&mut locks, 5, true), []);
        assert_eq!(locks.give_up().len(), 1);
        assert!(locks.lock.take(5, false, false));
    }

    #[test]
    fn several_that_take_a_lock_at_once_have_it_one_after_the_other() {
        const TIMES: u32 = 5_000;
        let (memory, count) = (Words::scratch(0), AtomicU64::new(0));
        thread::scope(|scope| {
            for rank in 0..3 {
                let (lock, count) = (Lock::at(memory.clone(), 8), &count);
                scope.spawn(move || {
                    for _ in 0..TIMES {
                        while !lock.take(rank, true, false) {
                            thread::yield_now();
                        }
                        let seen = count.load(Ordering::Relaxed);
                        count.store(seen + 1, Ordering::Relaxed);
                        lock.give(rank);
                    }
                });
            }
        });
        assert_eq!(count.into_inner(), u64::from(3 * TIMES));
    }
}
