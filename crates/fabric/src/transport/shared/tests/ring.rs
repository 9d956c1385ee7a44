//! The ring over memory of tests: stopped at every access, filled with garbage, under loom
//! (`cargo xtask loom`) and Miri (`cargo xtask miri`).
#![allow(unsafe_code)]

use crate::transport::shared::ring::{
    Berth, Cells, Consumer, Garbage, Glance, INLINE, Kind, Place, Producer,
};

/// What was received.
fn next<C: Cells>(consumer: &mut Consumer<C>) -> Result<Option<(Kind, Vec<u8>)>, Garbage> {
    if let Glance::Short(size) = consumer.glance() {
        let mut got = Vec::new();
        consumer.take_short(size, |bytes| got.extend_from_slice(bytes));
        return Ok(Some((Kind::Whole, got)));
    }
    let Some(record) = consumer.peek()? else { return Ok(None) };
    let bytes = consumer.read(&record, <[u8]>::to_vec);
    consumer.pop(&record);
    Ok(Some((record.kind, bytes)))
}

#[cfg(not(loom))]
mod steps {
    use super::*;
    use crate::transport::shared::ring::{ENTRIES, ENTRY, FLAG_AT, Record, Shared};
    use crate::transport::shared::sys::Mapped;
    use proptest::prelude::*;
    use std::cell::Cell;
    use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
    use std::rc::Rc;
    use std::sync::Arc;

    /// Sends a message by the way that suits its size; false without room.
    fn push<C: Cells>(producer: &mut Producer<C>, bytes: &[u8]) -> Result<bool, Garbage> {
        if bytes.len() <= INLINE {
            return producer.push_short(bytes.len(), |to| to.copy_from_slice(bytes));
        }
        let berth = Berth { gap: bytes.len() % 3 * 64, ..Berth::within(usize::MAX) };
        let place =
            producer.push((Kind::Whole, 0), bytes.len(), berth, |to| to.copy_from_slice(bytes));
        place.map(|place| place.is_some())
    }

    const ARENA: usize = 2048;
    const SIZE: usize = 4096 + ENTRIES * ENTRY + ARENA;

    fn ends() -> (Arc<Mapped>, Shared, Shared) {
        ends_of(ARENA)
    }

    fn ends_of(arena: usize) -> (Arc<Mapped>, Shared, Shared) {
        let segment = Arc::new(Mapped::heap(SIZE - ARENA + arena));
        let end = || Shared::new(segment.clone(), [64, 4096, 4096 + Shared::RING], arena);
        let (one, two) = (end(), end());
        (segment, one, two)
    }

    /// Accesses until its owner is stopped, for ever.
    struct Stopping {
        cells: Shared,
        left: Rc<Cell<usize>>,
    }

    /// What stops.
    struct Stop;

    impl Stopping {
        fn step(&self) {
            match self.left.get() {
                0 => panic_any(Stop),
                left => self.left.set(left - 1),
            }
        }
    }

    impl Cells for Stopping {
        const ENTRIES: usize = ENTRIES;

        fn flag(&self, entry: usize) -> u64 {
            self.step();
            self.cells.flag(entry)
        }

        fn set_flag(&self, entry: usize, flag: u64) {
            self.step();
            self.cells.set_flag(entry, flag);
        }

        fn freed(&self) -> u64 {
            self.step();
            self.cells.freed()
        }

        fn set_freed(&self, count: u64) {
            self.step();
            self.cells.set_freed(count);
        }

        fn arena(&self) -> usize {
            self.cells.arena()
        }

        // SAFETY: by the caller's promise to the same method of `cells`.
        unsafe fn write<R>(&self, place: Place, size: usize, f: impl FnOnce(&mut [u8]) -> R) -> R {
            let mut bytes = vec![0; size];
            let result = f(&mut bytes);
            // SAFETY: as the caller promises.
            unsafe {
                self.cells.write(place, size, |to| {
                    for (to, from) in to.chunks_mut(8).zip(bytes.chunks(8)) {
                        self.step();
                        to.copy_from_slice(from);
                    }
                });
            };
            result
        }

        // SAFETY: by the caller's promise to the same method of `cells`.
        unsafe fn read<R>(&self, place: Place, size: usize, f: impl FnOnce(&[u8]) -> R) -> R {
            self.step();
            // SAFETY: as the caller promises.
            unsafe { self.cells.read(place, size, f) }
        }
    }

    /// Some messages, short and long, that go more than once around.
    fn messages() -> Vec<Vec<u8>> {
        let size = |number: usize| [3, 64, 0, 200, INLINE, 500][number % 6];
        (0..2 * ENTRIES + 9).map(|number| vec![number as u8; size(number)]).collect()
    }

    /// Runs `f` until it ends or is stopped; true when it was.
    fn is_stopped(f: impl FnOnce()) -> bool {
        match catch_unwind(AssertUnwindSafe(f)) {
            Ok(()) => false,
            Err(cause) if cause.is::<Stop>() => true,
            Err(cause) => std::panic::resume_unwind(cause),
        }
    }

    /// Keeps the stops from being printed; other panics are, by the test's own.
    fn quietly(test: impl FnOnce()) {
        let hook = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !info.payload().is::<Stop>() {
                hook(info);
            }
        }));
        test();
    }

    #[test]
    fn a_consumer_goes_on_wherever_the_producer_is_stopped() {
        let all = messages();
        let first = 200;
        quietly(|| {
            for steps in first.. {
                let (_segment, one, two) = ends();
                let left = Rc::new(Cell::new(usize::MAX));
                let mut producer = Producer::new(Stopping { cells: one, left: left.clone() });
                let mut consumer = Consumer::new(two);
                // A lap in peace, so that entries and arena have been used before.
                for bytes in &all[..ENTRIES] {
                    assert_eq!(push(&mut producer, bytes), Ok(true));
                    assert_eq!(next(&mut consumer), Ok(Some((Kind::Whole, bytes.clone()))));
                }
                left.set(steps - first);
                let mut sent = ENTRIES;
                let stopped = is_stopped(|| {
                    for bytes in &all[ENTRIES..ENTRIES + 5] {
                        assert_eq!(push(&mut producer, bytes), Ok(true));
                        sent += 1;
                    }
                });
                let mut got = ENTRIES;
                while let Some((_, bytes)) = next(&mut consumer).expect("no garbage") {
                    assert!(bytes == all[got], "message {got} after {steps} steps");
                    got += 1;
                }
                assert_eq!(got, sent, "what was sent is there, and nothing else");
                if !stopped {
                    assert!(steps > first + 20, "there are more steps than that");
                    break;
                }
            }
        });
    }

    #[test]
    fn a_producer_goes_on_wherever_the_consumer_is_stopped() {
        let all = messages();
        quietly(|| {
            for steps in 0.. {
                let (_segment, one, two) = ends();
                let left = Rc::new(Cell::new(steps));
                let mut producer = Producer::new(one);
                let mut consumer = Consumer::new(Stopping { cells: two, left });
                let mut sent = 0;
                let mut got = 0;
                let stopped = is_stopped(|| {
                    for _ in 0..40 {
                        while sent < all.len() && push(&mut producer, &all[sent]) == Ok(true) {
                            sent += 1;
                        }
                        let (_, bytes) = next(&mut consumer).expect("no garbage").expect("full");
                        assert!(bytes == all[got]);
                        got += 1;
                    }
                });
                // It fills what was freed, and then says that there is no room.
                while push(&mut producer, &all[3]).expect("no garbage") {
                    sent += 1;
                }
                assert!(sent - got <= ENTRIES + 1, "{sent} - {got}");
                if !stopped {
                    break;
                }
            }
        });
    }

    #[test]
    fn what_a_ring_carries_while_another_thread_reads_is_whole() {
        let (_segment, one, two) = ends();
        let all = messages();
        let (mut producer, mut consumer) = (Producer::new(one), Consumer::new(two));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for bytes in &all {
                    while !push(&mut producer, bytes).expect("no garbage") {
                        std::thread::yield_now();
                    }
                }
            });
            for bytes in &all {
                let got = loop {
                    match next(&mut consumer).expect("no garbage") {
                        Some((_, got)) => break got,
                        None => std::thread::yield_now(),
                    }
                };
                assert!(got == *bytes);
            }
        });
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 4 } else { 256 }))]

        #[test]
        fn no_record_is_written_over_whatever_its_window_and_gap(
            steps in proptest::collection::vec(
                (0_u8..5, 121..12_000_usize, 12..17_u32, 0..9_usize),
                1..if cfg!(miri) { 20 } else { 200 },
            ),
        ) {
            let (_segment, one, two) = ends_of(1 << 16);
            let (mut producer, mut consumer) = (Producer::new(one), Consumer::new(two));
            let (mut sent, mut got) = (0_u8, 0_u8);
            for (what, size, window, gap) in steps {
                let berth = Berth { window: 1 << window, gap: 64 * gap };
                if what < 3 {
                    let is_empty = sent == got;
                    let place = producer.push((Kind::Whole, 0), size, berth, |to| to.fill(sent));
                    let place = place.expect("no garbage");
                    prop_assert!(!is_empty || place.is_some(), "there is room where nothing is");
                    sent = sent.wrapping_add(place.is_some().into());
                } else if what == 3 {
                    producer.rewind(size, 1 << window);
                } else if let Some((_, bytes)) = next(&mut consumer).expect("no garbage") {
                    prop_assert!(bytes.iter().all(|byte| *byte == got), "record {got}");
                    got = got.wrapping_add(1);
                }
            }
        }

        #[test]
        fn garbage_in_the_memory_is_found_or_harmless(
            writes in proptest::collection::vec((0..SIZE / 8, any::<u64>(), 0_u8..4), 1..60),
        ) {
            let (segment, one, two) = ends();
            let (mut producer, mut consumer) = (Producer::new(one), Consumer::new(two));
            for (index, (at, value, way)) in writes.into_iter().enumerate() {
                // Often where it hurts: the count of freed records, the flags.
                let (at, value) = match way {
                    0 => (8, value % 300),
                    1 => (512 + (at % ENTRIES * ENTRY + FLAG_AT) / 8, value),
                    2 => {
                        let tag = (index as u64 + 1) << 32;
                        (512 + (index % ENTRIES * ENTRY + FLAG_AT) / 8, tag | value & 0xffff_ffff)
                    }
                    _ => (at, value),
                };
                segment.word64(at * 8).store(value, std::sync::atomic::Ordering::Relaxed);
                let _ = push(&mut producer, &[1; 100][..index % 100]);
                let _ = push(&mut producer, &[2; 900][..INLINE + 1 + index]);
                let glance = match consumer.peek() {
                    Ok(Some(Record { place: Place::Entry(_), size, .. })) => Glance::Short(size),
                    Ok(Some(_)) => Glance::Other,
                    Ok(None) => Glance::Nothing,
                    Err(_) => consumer.glance(),
                };
                prop_assert_eq!(consumer.glance(), glance);
                let _ = next(&mut consumer);
            }
        }
    }
}

#[cfg(loom)]
mod interleavings {
    use super::*;
    use crate::transport::shared::ring::{Sleep, announce, wakes};
    use loom::cell::UnsafeCell;
    use loom::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
    use loom::sync::{Arc, Condvar, Mutex};

    const LINES: usize = 3;

    /// A ring of two entries and a few lines, whose bytes loom watches.
    struct Watched {
        flags: [AtomicU64; 2],
        freed: AtomicU64,
        entries: [UnsafeCell<[u8; INLINE]>; 2],
        arena: [UnsafeCell<[u8; 64]>; LINES],
        asleep: AtomicU32,
        bucket: Mutex<()>,
        woken: Condvar,
    }

    impl Watched {
        fn new() -> Arc<Watched> {
            Arc::new(Watched {
                flags: std::array::from_fn(|_| AtomicU64::new(0)),
                freed: AtomicU64::new(0),
                entries: std::array::from_fn(|_| UnsafeCell::new([0; INLINE])),
                arena: std::array::from_fn(|_| UnsafeCell::new([0; 64])),
                asleep: AtomicU32::new(0),
                bucket: Mutex::new(()),
                woken: Condvar::new(),
            })
        }

        /// As futex(2): the kernel compares under the lock that a waker takes.
        fn futex_wait(&self, expected: u32) {
            let bucket = self.bucket.lock().unwrap();
            if self.asleep.load(Ordering::Relaxed) == expected {
                drop(self.woken.wait(bucket).unwrap());
            }
        }

        fn futex_wake(&self) {
            let _bucket = self.bucket.lock().unwrap();
            self.woken.notify_one();
        }
    }

    impl Cells for Arc<Watched> {
        const ENTRIES: usize = 2;

        fn flag(&self, entry: usize) -> u64 {
            self.flags[entry].load(Ordering::Acquire)
        }

        fn set_flag(&self, entry: usize, flag: u64) {
            self.flags[entry].store(flag, Ordering::Release);
        }

        fn freed(&self) -> u64 {
            self.freed.load(Ordering::Acquire)
        }

        fn set_freed(&self, count: u64) {
            self.freed.store(count, Ordering::Release);
        }

        fn arena(&self) -> usize {
            LINES * 64
        }

        // SAFETY: loom checks what the caller promises.
        unsafe fn write<R>(&self, place: Place, size: usize, f: impl FnOnce(&mut [u8]) -> R) -> R {
            // SAFETY: loom has found nobody else there.
            let call = |to: *mut u8| f(unsafe { std::slice::from_raw_parts_mut(to, size) });
            match place {
                Place::Entry(at) => self.entries[at].with_mut(|bytes| call(bytes.cast())),
                Place::Arena(at) => self.arena[at / 64].with_mut(|bytes| call(bytes.cast())),
            }
        }

        // SAFETY: loom checks what the caller promises.
        unsafe fn read<R>(&self, place: Place, size: usize, f: impl FnOnce(&[u8]) -> R) -> R {
            // SAFETY: loom has found nobody who writes there.
            let call = |from: *const u8| f(unsafe { std::slice::from_raw_parts(from, size) });
            match place {
                Place::Entry(at) => self.entries[at].with(|bytes| call(bytes.cast())),
                Place::Arena(at) => self.arena[at / 64].with(|bytes| call(bytes.cast())),
            }
        }
    }

    impl Sleep for AtomicU32 {
        fn get(&self) -> u32 {
            self.load(Ordering::Relaxed)
        }

        fn set(&self, events: u32) {
            self.store(events, Ordering::Relaxed);
        }

        fn take(&self) -> u32 {
            self.swap(0, Ordering::Relaxed)
        }

        fn fence() {
            fence(Ordering::SeqCst);
        }
    }

    /// A short message, and now and then one in the arena.
    fn send(producer: &mut Producer<Arc<Watched>>, number: u8) -> bool {
        if number.is_multiple_of(2) {
            return producer.push_short(1, |to| to[0] = number).unwrap();
        }
        let pushed = producer.push((Kind::First, 2), 2, Berth::within(128), |to| to.fill(number));
        pushed.unwrap().is_some()
    }

    #[test]
    fn records_are_whole_in_every_interleaving() {
        loom::model(|| {
            let cells = Watched::new();
            let mut producer = Producer::new(cells.clone());
            let sender = loom::thread::spawn(move || {
                for number in 0..3 {
                    while !send(&mut producer, number) {
                        loom::thread::yield_now();
                    }
                }
            });
            let mut consumer = Consumer::new(cells);
            for number in 0..3 {
                let (_, bytes) = loop {
                    match next(&mut consumer).unwrap() {
                        Some(got) => break got,
                        None => loom::thread::yield_now(),
                    }
                };
                assert!(bytes.iter().all(|byte| *byte == number) && !bytes.is_empty());
            }
            sender.join().unwrap();
        });
    }

    #[test]
    fn nobody_sleeps_on_what_has_arrived() {
        loom::model(|| {
            let cells = Watched::new();
            let there = cells.clone();
            let sender = loom::thread::spawn(move || {
                let mut producer = Producer::new(there.clone());
                assert!(send(&mut producer, 0));
                if wakes(&there.asleep, 1).is_some() {
                    there.futex_wake();
                }
            });
            let mut consumer = Consumer::new(cells.clone());
            loop {
                if next(&mut consumer).unwrap().is_some() {
                    break;
                }
                announce(&cells.asleep, 1);
                if consumer.peek().unwrap().is_none() {
                    cells.futex_wait(1);
                }
                cells.asleep.set(0);
            }
            sender.join().unwrap();
        });
    }
}
