//! Locks of a rank's memory (MPI-5.0, section 12.5.3).
//!
//! A lock is a word, and a byte for each rank. Ranks that share memory have both at addresses of
//! theirs: they take a lock, wait for it and give it back by themselves, whatever its owner does
//! meanwhile. Those who are elsewhere ask the owner, who keeps a queue (`queue.rs`).
//!
//! *Who waits here* says so in its byte, and whoever gives the lock back wakes one of them. Until
//! that one looks, anybody may take the lock: were it handed to a rank that sleeps, nobody would
//! have it for as long as it takes to wake one up. But only so many are let past those who wait:
//! then the lock is kept for the one that is woken, or for the owner's queue. From there one at a
//! time gets it while others wait here.
//!
//! *Nothing is missed.* Who waits writes its byte, and then looks at the word; who gives the lock
//! back writes the word, and then looks at the bytes. Whoever is woken says in its byte that it has
//! looked, before it looks again. A rank may be killed anywhere in between, so who waits looks once
//! a second as well, and sees to it that the lock is kept for none that is gone.

use crate::atom::Atom;
use crate::buffer::Memory;

/// In a lock's word: somebody waits in the owner's queue.
const QUEUED: u64 = 1 << 63;

/// One has it alone, whose rank is in the lowest 32 bits. Otherwise they say how many share it.
const ALONE: u64 = 1 << 62;

/// Somebody waits here: bytes say who.
const NEAR: u64 = 1 << 61;

/// Nobody has it, and the rank in the lowest 32 bits alone may take it.
const KEPT: u64 = 1 << 60;

/// Who has it, in its word.
const HAVE: u64 = ALONE | KEPT | u32::MAX as u64;

/// One that was let past those who wait, and how many are before one of them gets it.
const PAST: u64 = 1 << 32;
const PAST_MAX: u64 = 64 * PAST;
const PAST_ALL: u64 = KEPT - PAST;

/// Where the bytes of ranks begin: behind the word's line.
const RANKS: usize = 64;

/// In a rank's byte: it shares the lock.
const SHARES: u8 = 1;

/// It waits for it.
const WAITS: u8 = 2;

/// It waits to have it alone.
const EXCLUSIVE: u8 = 4;

/// It was woken, and has not looked since.
const WOKEN: u8 = 8;

/// A lock, wherever it is.
pub(super) struct Lock<M> {
    memory: M,
    ranks: u32,
}

/// Whom it concerns that a lock was given back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Given {
    /// Whether somebody waits in the owner's queue.
    pub is_queued: bool,
    /// The rank that is to be woken.
    pub wakes: Option<u32>,
}

/// Bytes of a lock that so many ranks use: zeros in the beginning. It is at a multiple of 64.
#[must_use]
pub fn room(ranks: u32) -> usize {
    RANKS + (ranks as usize).next_multiple_of(RANKS)
}

/// The word when a rank has taken the lock, from the queue or past it; none where it is not to be
/// had.
fn taken(word: u64, rank: u32, is_exclusive: bool, is_queued: bool) -> Option<u64> {
    let (have, past) = (word & HAVE, word & PAST_ALL);
    let is_kept = have == KEPT | u64::from(rank);
    let is_free = have == 0 || is_kept;
    let past = match word & (QUEUED | NEAR) {
        0 => 0,
        // The queue is next.
        flags if is_kept => {
            if flags == NEAR {
                0
            } else {
                past.max(PAST)
            }
        }
        flags if is_queued && (is_free || flags == QUEUED) => 0,
        _ if past < PAST_MAX => past + PAST,
        // Who gives the lock back keeps it for one that waits here.
        NEAR if is_free => past,
        _ => return None,
    };
    let flags = word & (QUEUED | NEAR) | past;
    match have {
        _ if is_free && is_exclusive => Some(flags | ALONE | u64::from(rank)),
        _ if is_free => Some(flags | 1),
        _ if !is_exclusive && have & (ALONE | KEPT) == 0 => Some(flags | (have + 1)),
        _ => None,
    }
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

    fn says(&self, rank: u32) -> u8 {
        self.rank(rank).load()[0]
    }

    /// Changes a rank's byte, if it is to be; whether it was.
    fn say(&self, rank: u32, next: impl Fn(u8) -> Option<u8>) -> bool {
        let byte = self.rank(rank);
        let mut old = byte.load()[0];
        loop {
            let Some(new) = next(old) else { return false };
            let found = byte.exchange(&[old], &[new])[0];
            if found == old {
                return true;
            }
            old = found;
        }
    }

    /// Takes it for a rank, from the queue or past it; whether it was to be had.
    pub fn take(&self, rank: u32, is_exclusive: bool, is_queued: bool) -> bool {
        let next = |word| taken(word, rank, is_exclusive, is_queued);
        if next(self.now()).is_none() {
            return false;
        }
        if is_exclusive {
            return self.change(next).is_some();
        }
        // First of all, so that a rank that is gone is never one that nobody knows of.
        self.say(rank, |byte| Some(byte | SHARES));
        let is_taken = self.change(next).is_some();
        if !is_taken {
            self.say(rank, |byte| Some(byte & !SHARES));
        }
        is_taken
    }

    /// Takes it for a rank that waits for it here from now on if it is not to be had; whether it
    /// was.
    pub fn wait(&self, rank: u32, is_exclusive: bool) -> bool {
        let waits = if is_exclusive { WAITS | EXCLUSIVE } else { WAITS };
        loop {
            self.say(rank, |_| Some(waits));
            if self.take(rank, is_exclusive, false) {
                self.say(rank, |byte| Some(byte & SHARES));
                return true;
            }
            let waits_now = |word| match taken(word, rank, is_exclusive, false) {
                None => Some(word | NEAR),
                Some(_) => None,
            };
            if self.change(waits_now).is_some() {
                return false;
            }
        }
    }

    /// Gives it back for a rank, if that has it, which waits for it no longer in any case.
    pub fn give(&self, rank: u32) -> Given {
        let (shares, own) = (self.says(rank) & SHARES != 0, u64::from(rank));
        let is_last = |word| word & (ALONE | KEPT) != 0 || word & HAVE == 1;
        let given = self.change(|word| match word & HAVE {
            have if have == ALONE | own || have == KEPT | own => Some(self.left(word, rank)),
            1 if shares => Some(self.left(word, rank)),
            have if shares && have & (ALONE | KEPT) == 0 && have > 0 => Some(word - 1),
            _ => None,
        });
        self.say(rank, |byte| (byte != 0).then_some(0));
        let Some(word) = given else { return Given::default() };
        let is_queued = word & QUEUED != 0;
        let wakes = match is_last(word) && word & NEAR != 0 {
            // It is the queue's.
            true if is_queued && word & PAST_ALL >= PAST_MAX => None,
            true => self.wake(rank),
            false => None,
        };
        Given { is_queued, wakes }
    }

    /// The word when the last has given the lock back.
    fn left(&self, word: u64, rank: u32) -> u64 {
        let left = word & !HAVE;
        if word & (QUEUED | NEAR) != NEAR || word & PAST_ALL < PAST_MAX {
            return left;
        }
        self.next(rank, 0).map_or(left, |next| left | KEPT | u64::from(next))
    }

    /// The first behind a rank, in a circle, that waits here and in whose byte nothing is that
    /// must not be.
    fn next(&self, rank: u32, without: u8) -> Option<u32> {
        let waits = |rank: &u32| self.says(*rank) & (WAITS | without) == WAITS;
        (rank + 1..self.ranks).chain(0..=rank).find(waits)
    }

    /// Whom the one that has given a lock back wakes.
    fn wake(&self, rank: u32) -> Option<u32> {
        loop {
            let have = self.now() & HAVE;
            if have & KEPT == 0 {
                return self.wake_one(rank, 0);
            }
            let next = have as u32;
            if self.say(next, |byte| (byte & WAITS != 0).then_some(byte | WOKEN)) {
                return Some(next);
            }
            // It has it by now, or has given up.
            self.change(|word| (word & HAVE == have).then(|| self.left(word, next)))?;
        }
    }

    /// One that waits to share the lock, if there is one, where a rank shares it now: it is to be
    /// woken.
    pub fn wake_sharer(&self, rank: u32) -> Option<u32> {
        let word = self.now();
        let may = word & NEAR != 0 && word & (ALONE | KEPT) == 0 && word & PAST_ALL < PAST_MAX;
        if may { self.wake_one(rank, EXCLUSIVE) } else { None }
    }

    fn wake_one(&self, rank: u32, without: u8) -> Option<u32> {
        while let Some(next) = self.next(rank, WOKEN | without) {
            let woken = |byte| (byte & (WAITS | WOKEN | without) == WAITS).then_some(byte | WOKEN);
            if self.say(next, woken) {
                return Some(next);
            }
        }
        if without == 0 && self.next(rank, 0).is_none() {
            // Who begins to wait now says so again, unless it is found here.
            self.change(|word| (word & NEAR != 0).then_some(word & !NEAR));
            let next = self.next(rank, 0)?;
            self.say(next, |byte| Some(byte | WOKEN));
            return Some(next);
        }
        None
    }

    /// Keeps it, if nobody has it, for the next behind a rank that waits here: that is to be woken.
    pub fn keep(&self, last: u32) -> Option<u32> {
        let may = |word| word & HAVE == 0 && word & NEAR != 0;
        if !may(self.now()) {
            return None;
        }
        self.change(|word| {
            let next = if may(word) { self.next(last, 0) } else { None };
            next.map(|next| word | KEPT | u64::from(next))
        })?;
        self.wake(last)
    }

    /// Those that wait here, and one for which it is kept though that does not wait: whoever was to
    /// undo that is gone.
    pub fn waiting(&self) -> (Vec<u32>, Option<u32>) {
        let have = self.now() & HAVE;
        let waits = |rank: &u32| self.says(*rank) & WAITS != 0;
        let kept = Some(have as u32).filter(|rank| have & KEPT != 0 && !waits(rank));
        ((0..self.ranks).filter(waits).collect(), kept)
    }

    /// Keeps it no longer for a rank that does not wait, which may be gone; the one that is to be
    /// woken.
    pub fn pass_by(&self, rank: u32, is_gone: bool) -> Option<u32> {
        if is_gone {
            self.say(rank, |byte| (byte & WAITS != 0).then_some(byte & SHARES));
        }
        let kept = KEPT | u64::from(rank);
        self.change(|word| (word & HAVE == kept).then(|| self.left(word, rank)))?;
        self.wake(rank)
    }

    /// Says whether somebody waits in the owner's queue.
    pub fn queue(&self, is_queued: bool) {
        let set = |word| Some(if is_queued { word | QUEUED } else { word & !QUEUED });
        self.change(set);
    }

    /// Whether nobody has it, and it is kept for nobody.
    pub fn is_free(&self) -> bool {
        self.now() & HAVE == 0
    }

    /// Those who have it, or for whom it is kept.
    pub fn holders(&self) -> Vec<u32> {
        let word = self.now();
        match word & HAVE {
            0 => Vec::new(),
            have if have & (ALONE | KEPT) != 0 => vec![have as u32],
            _ => (0..self.ranks).filter(|rank| self.says(*rank) & SHARES != 0).collect(),
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::datatype;
    use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
    use std::sync::{Arc, mpsc};
    use std::thread;
    use std::time::Duration;

    /// A lock's memory, as two processes have it.
    #[derive(Clone)]
    pub struct Words(Arc<(AtomicU64, Vec<AtomicU8>)>);

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

    fn wakes(rank: u32) -> Given {
        Given { is_queued: false, wakes: Some(rank) }
    }

    #[test]
    fn who_waits_here_is_woken_and_let_past_so_many_times() {
        let lock = Lock::<Words>::apart(8);
        assert!(lock.take(1, true, false));
        assert!(!lock.wait(3, true) && !lock.wait(5, false));
        assert_eq!(lock.give(1), wakes(3));
        // It has not looked yet, so the next is woken, and then nobody.
        for wakes in [Some(5), None, None] {
            assert!(lock.take(4, true, false));
            assert_eq!(lock.give(4), Given { is_queued: false, wakes });
        }
        assert!(lock.take(4, true, false) && !lock.wait(3, true));
        assert_eq!(lock.give(4), wakes(3));
        for _ in 0..59 {
            assert!(lock.take(2, true, false));
            assert_eq!(lock.give(2).wakes, None);
        }
        // One more, and it is kept for the next that waits, whoever that is.
        assert!(lock.take(2, true, false));
        assert_eq!((lock.give(2), lock.holders(), lock.is_free()), (wakes(3), vec![3], false));
        assert!(!lock.take(2, true, false) && !lock.take(2, false, false) && !lock.wait(5, false));
        assert!(lock.wait(3, true) && !lock.take(2, true, false));
        assert_eq!(lock.give(3), wakes(5));
        assert!(lock.wait(5, false) && lock.take(2, false, false));
        assert_eq!((lock.give(5), lock.give(2)), (Given::default(), Given::default()));
        assert!(lock.is_free());
    }

    #[test]
    fn who_shares_a_lock_wakes_who_would_share_it_and_no_others() {
        let lock = Lock::<Words>::apart(8);
        assert!(lock.take(1, true, false));
        assert!(!lock.wait(2, false) && !lock.wait(3, true) && !lock.wait(4, false));
        assert_eq!(lock.give(1), wakes(2));
        assert!(lock.wait(2, false));
        assert_eq!(lock.wake_sharer(2), Some(4));
        assert!(lock.wait(4, false));
        assert_eq!((lock.wake_sharer(4), lock.holders()), (None, vec![2, 4]));
        assert_eq!((lock.give(2), lock.give(4)), (Given::default(), wakes(3)));
        assert!(lock.wait(3, true));
    }

    #[test]
    fn a_lock_that_is_shared_again_and_again_comes_to_one_that_wants_it_alone() {
        let lock = Lock::<Words>::apart(8);
        assert!(lock.take(1, false, false) && !lock.wait(3, true));
        let mut last = 1;
        for times in 0.. {
            let next = 3 - last;
            if !lock.take(next, false, false) {
                assert_eq!(times, 64);
                break;
            }
            assert_eq!(lock.give(last), Given::default());
            last = next;
        }
        assert_eq!(lock.give(last), wakes(3));
        assert!(!lock.take(1, false, false) && lock.wait(3, true));
    }

    #[test]
    fn a_lock_that_is_kept_for_one_that_is_gone_goes_to_the_next() {
        let lock = Lock::<Words>::apart(8);
        assert!(lock.take(1, true, false) && !lock.wait(3, true) && !lock.wait(4, true));
        for _ in 0..64 {
            lock.give(1);
            assert!(lock.take(1, true, false));
        }
        assert_eq!((lock.give(1).wakes, lock.holders()), (Some(3), vec![3]));
        assert_eq!(lock.waiting(), (vec![3, 4], None));
        assert_eq!((lock.pass_by(3, true), lock.waiting()), (Some(4), (vec![4], None)));
        assert!(lock.wait(4, true));
        // Who was to undo this was killed before it did.
        lock.change(|word| Some(word & !HAVE | KEPT | 5));
        assert!(!lock.wait(6, true));
        assert_eq!((lock.waiting().1, lock.pass_by(5, false)), (Some(5), Some(6)));
        assert!(lock.wait(6, true));
    }

    #[test]
    fn who_waits_no_longer_keeps_a_lock_from_nobody() {
        let lock = Lock::<Words>::apart(8);
        assert!(lock.take(1, true, false) && !lock.wait(3, true) && !lock.wait(4, true));
        assert_eq!(lock.give(3), Given::default());
        for _ in 0..64 {
            assert_eq!(lock.give(1), wakes(4));
            assert!(!lock.wait(4, true) || lock.give(4) == Given::default());
            assert!(lock.take(1, true, false) && !lock.wait(4, true));
        }
    }

    /// Ranks in threads that sleep until they are woken: with `take` as in the library, a few looks
    /// first.
    #[test]
    fn of_several_that_want_a_lock_at_once_each_gets_it_and_one_that_is_alone_is_alone() {
        const RANKS: u32 = 4;
        const TIMES: u32 = 3_000;
        let (memory, inside) = (Words::scratch(0), AtomicU64::new(0));
        let (bells, sleeps): (Vec<_>, Vec<_>) = (0..RANKS).map(|_| mpsc::channel()).unzip();
        let wake = |rank: Option<u32>| rank.map(|it| bells[it as usize].send(()).unwrap());
        let work = |rank: u32, sleep: mpsc::Receiver<()>| {
            let lock = Lock::at(memory.clone(), 8);
            for turn in 0..TIMES {
                let is_exclusive = !(turn * 7 + rank).is_multiple_of(3);
                if !lock.take(rank, is_exclusive, false) {
                    while !lock.wait(rank, is_exclusive) {
                        let bell = sleep.recv_timeout(Duration::from_secs(60));
                        bell.unwrap_or_else(|_| panic!("rank {rank} is not woken"));
                    }
                }
                let (own, others) = if is_exclusive { (1 << 32, !0) } else { (1, !0 << 32) };
                assert_eq!(inside.fetch_add(own, Ordering::SeqCst) & others, 0);
                if !is_exclusive {
                    wake(lock.wake_sharer(rank));
                }
                if turn.is_multiple_of(16) {
                    thread::yield_now();
                }
                inside.fetch_sub(own, Ordering::SeqCst);
                wake(lock.give(rank).wakes);
            }
        };
        thread::scope(|scope| {
            (0..)
                .zip(sleeps)
                .for_each(|(rank, sleep)| drop(scope.spawn(move || work(rank, sleep))));
        });
        assert!(Lock::at(memory, 8).is_free());
    }
}
