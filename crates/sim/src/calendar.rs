//! What happens when: a queue of moments, first come first served among equal ones.
//!
//! A calendar queue, made for events that lie microseconds ahead. The near future is a ring of
//! days, each a list in no order; a day is sorted when it begins, and what is added to the day that
//! has begun goes to a heap beside it. The far future is a heap too, from which a day takes what
//! belongs to it when the ring reaches it. A bit for each day finds the next that holds something.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Nanoseconds of a day, as a power of two: short against a message's way (2 us), so that a
/// cluster's burst is spread over many days.
const DAY_BITS: u32 = 6;

/// Days of the ring: 65 us, beyond the way of almost every message, and so few that the ring stays
/// in the second-level cache. Alarms and late messages go to the heap.
const DAYS: usize = 1024;

/// Something that happens at a moment.
#[derive(Clone, Copy)]
struct Entry<T> {
    time: u64,
    order: u64,
    what: T,
}

impl<T> Entry<T> {
    fn key(&self) -> (u64, u64) {
        (self.time, self.order)
    }
}

impl<T> PartialEq for Entry<T> {
    fn eq(&self, other: &Entry<T>) -> bool {
        self.key() == other.key()
    }
}

impl<T> Eq for Entry<T> {}

impl<T> PartialOrd for Entry<T> {
    fn partial_cmp(&self, other: &Entry<T>) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for Entry<T> {
    fn cmp(&self, other: &Entry<T>) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

/// The queue.
pub struct Calendar<T> {
    /// What is left of today, the last first.
    today: Vec<Entry<T>>,
    /// What was added to today since it began.
    added: BinaryHeap<Reverse<Entry<T>>>,
    /// The number of today.
    day: u64,
    /// The days after today; a day's place is its number modulo `DAYS`.
    ring: Vec<Vec<Entry<T>>>,
    /// A bit for each place that holds something.
    full: Vec<u64>,
    far: BinaryHeap<Reverse<Entry<T>>>,
    order: u64,
    count: usize,
}

impl<T: Copy> Default for Calendar<T> {
    fn default() -> Calendar<T> {
        Calendar {
            today: Vec::new(),
            added: BinaryHeap::new(),
            day: 0,
            ring: (0..DAYS).map(|_| Vec::new()).collect(),
            full: vec![0; DAYS / 64],
            far: BinaryHeap::new(),
            order: 0,
            count: 0,
        }
    }
}

impl<T: Copy> Calendar<T> {
    /// Adds something; what lies in the past happens next.
    pub fn add(&mut self, time: u64, what: T) {
        self.order += 1;
        self.count += 1;
        self.put(Entry { time, order: self.order, what });
    }

    fn put(&mut self, entry: Entry<T>) {
        let day = entry.time >> DAY_BITS;
        if day <= self.day {
            self.added.push(Reverse(entry));
        } else if day < self.day + DAYS as u64 {
            let place = day as usize % DAYS;
            self.ring[place].push(entry);
            self.full[place / 64] |= 1 << (place % 64);
        } else {
            self.far.push(Reverse(entry));
        }
    }

    /// Takes what happens next, if that is not after `until`. No day after that one begins: what is
    /// added later would find its day begun, and would all go to the heap.
    pub fn take(&mut self, until: u64) -> Option<(u64, T)> {
        if self.today.is_empty() && self.added.is_empty() {
            self.turn(until >> DAY_BITS);
        }
        let (entry, is_added) = match (self.today.last(), self.added.peek()) {
            (Some(entry), Some(Reverse(added))) if added.key() < entry.key() => (added, true),
            (None, Some(Reverse(added))) => (added, true),
            (Some(entry), _) => (entry, false),
            (None, None) => return None,
        };
        if entry.time > until {
            return None;
        }
        let entry = if is_added { self.take_added() } else { self.today.pop() }?;
        self.count -= 1;
        Some((entry.time, entry.what))
    }

    /// When something happens next.
    pub fn upcoming(&mut self) -> Option<u64> {
        if self.today.is_empty() && self.added.is_empty() {
            self.turn(u64::MAX >> DAY_BITS);
        }
        let today = self.today.last().map(|entry| entry.time);
        let added = self.added.peek().map(|Reverse(entry)| entry.time);
        today.into_iter().chain(added).min()
    }

    fn take_added(&mut self) -> Option<Entry<T>> {
        self.added.pop().map(|Reverse(entry)| entry)
    }

    /// Goes to the next day on which something happens, unless it is after `last`.
    fn turn(&mut self, last: u64) {
        let near = self.next_full();
        let far = self.far.peek().map(|Reverse(entry)| entry.time >> DAY_BITS);
        let Some(day) = near.into_iter().chain(far).min().filter(|day| *day <= last) else {
            return;
        };
        self.day = day;
        let place = day as usize % DAYS;
        // Both keep their memory: the day that begins takes that of the one which is over.
        std::mem::swap(&mut self.today, &mut self.ring[place]);
        self.full[place / 64] &= !(1 << (place % 64));
        while self.far.peek().is_some_and(|Reverse(entry)| entry.time >> DAY_BITS <= day) {
            self.today.extend(self.far.pop().map(|Reverse(entry)| entry));
        }
        self.today.sort_unstable_by_key(|entry| Reverse(entry.key()));
    }

    /// The number of the next day of the ring that holds something.
    fn next_full(&self) -> Option<u64> {
        let start = (self.day + 1) as usize % DAYS;
        let words = self.full.len();
        for step in 0..=words {
            let word = (start / 64 + step) % words;
            let mut bits = self.full[word];
            // The first word is looked at twice: first the part from `start`, at last the other.
            if step == 0 {
                bits &= !0 << (start % 64);
            } else if step == words {
                bits &= !(!0 << (start % 64));
            }
            if bits != 0 {
                let place = word * 64 + bits.trailing_zeros() as usize;
                let ahead = (place + DAYS - start) % DAYS;
                return Some(self.day + 1 + ahead as u64);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn it_is_a_sorted_list_with_equal_moments_in_the_order_of_their_adding() {
        let mut random = Random::new(3);
        let (mut calendar, mut list) = (Calendar::default(), Vec::new());
        let mut now = 0;
        for number in 0..20_000u32 {
            if random.happens(550_000) {
                let reach = *random.pick(&[0, 3, 2_000, 600_000, 40_000_000]);
                let time = now + random.below(reach + 1);
                calendar.add(time, number);
                list.push((time, number));
            } else {
                list.sort();
                let until = now + random.below(5_000);
                let is_due = list.first().is_some_and(|(time, _)| *time <= until);
                let first = is_due.then(|| list.remove(0));
                assert_eq!(calendar.take(until), first);
                now = first.map_or(until, |(time, _)| time);
            }
            assert_eq!(calendar.count, list.len());
        }
        list.sort();
        let rest: Vec<_> = std::iter::from_fn(|| calendar.take(u64::MAX)).collect();
        assert_eq!(rest, list);
        assert_eq!(calendar.count, 0);
    }
}
