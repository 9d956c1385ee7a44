//! The rings, boxes and boards of a segment, used by several at a time: in every interleaving
//! within loom's bounds (`cargo xtask loom`, `interleavings/bounds.rs`), and by threads as they
//! come, also under Miri (`cargo xtask miri`, `interleavings/threads.rs`).

#[cfg(loom)]
mod bounds;
#[cfg(not(loom))]
mod threads;

use super::*;
use crate::gateway::barrier;
use crate::gateway::board::{self, Spot};
use crate::gateway::frame::{Frame, Kind};
use crate::gateway::layout::Process as Word;
use crate::gateway::layout::{About, Boxes, CALLS, Endpoint, Local, Pair, SETS, Sleep, Slot};
#[cfg(loom)]
use bounds::{Arc, Condvar, Mutex, Shared, Words, explore, thread};
use muster_base::limits::{GATEWAY_SLOTS, NEAR_CHUNK, NEAR_CHUNKS, NEAR_ENTRIES};
#[cfg(not(loom))]
use threads::{Arc, Condvar, Mutex, Shared, Words, explore, thread};

/// As an event descriptor: it stays rung until somebody hears it.
#[derive(Default)]
struct Bell {
    is_rung: Mutex<bool>,
    changed: Condvar,
}

impl Bell {
    fn ring(&self) {
        *self.is_rung.lock().unwrap() = true;
        self.changed.notify_one();
    }

    fn hear(&self) {
        let mut is_rung = self.is_rung.lock().unwrap();
        while !*is_rung {
            is_rung = self.changed.wait(is_rung).unwrap();
        }
        *is_rung = false;
    }
}

/// The segment of a node with so many ranks, of a job with another node of one.
fn segment(here: u16) -> (Layout, Words) {
    let layout = Layout::new(0, &[here, 1]);
    let mut words = Words::new(&layout);
    for process in 0..=usize::from(here) {
        let first = layout.process(process, Word::Asleep);
        words.share(first..first + Word::Called as usize + CALLS);
    }
    (layout, words)
}

/// A rank with what it knows of its rings.
struct End {
    core: Core<Shared>,
    near: Near,
    sent: u8,
}

/// What is sent as this number: it takes its entry, one line, or a chunk.
fn content(number: u8, size: usize) -> Vec<u8> {
    vec![number; size]
}

const SHORT: usize = 8;
const LINE: usize = 64;
const LONG: usize = 392;

/// Two ranks, and the ring from the one to the other. That one looks first at what comes from
/// itself, so it finds what is sent only as it is to.
fn ring() -> [End; 2] {
    let (layout, mut words) = segment(2);
    for (from, to) in [(1, 0), (0, 1)] {
        let about = |word| layout.about(from, to, word);
        words.share([About::Freed, About::Watched, About::Slow].map(about));
    }
    words.share([layout.ring(0, 0).entry(0), layout.ring(0, 1).entry(0)]);
    for entry in (0..NEAR_ENTRIES).map(|entry| layout.ring(1, 0).entry(entry)) {
        words.share([entry]);
        words.guard(entry + 1..entry + 3, 0);
    }
    let lines = layout.ring(1, 0).line(0);
    words.guard(lines..lines + 4 * LONG / 8, 0);
    let chunks = layout.chunk(1, 0);
    words.guard(chunks..chunks + NEAR_CHUNKS * NEAR_CHUNK / 8, 0);
    let words = words.shared();
    [1, 0].map(|me| {
        let core = Core::new(words.clone(), layout.clone(), me);
        End { near: Near::new(&core), core, sent: 0 }
    })
}

impl End {
    /// Sends the next message; whether there was room.
    fn send(&mut self, size: usize) -> bool {
        let body = content(self.sent, size);
        let message = Parts { head: &[], body: &body };
        let sent = self.near.send(&self.core, 0, message, 0);
        assert!(sent.is_none_or(|sent| sent == size));
        self.sent += u8::from(sent.is_some());
        sent.is_some()
    }

    /// Takes one; its number, and who is to be woken because there is room again.
    fn take(&mut self) -> Option<(u8, Option<usize>)> {
        let mut number = None;
        let woken = self.near.take(&self.core, &mut |mut piece: Piece<'_>| {
            let bytes = piece.bytes.to_vec();
            assert_eq!((piece.offset, piece.total), (0, bytes.len() as u64));
            assert_eq!(bytes, content(bytes[0], bytes.len()));
            number = Some(bytes[0]);
        });
        assert_eq!(self.near.garbage(), None);
        let woken = woken?;
        number.map(|number| (number, woken))
    }

    /// Takes the one of this number, when it comes.
    fn await_next(&mut self, number: u8) {
        loop {
            match self.take() {
                Some((taken, _)) => return assert_eq!(taken, number),
                None => thread::yield_now(),
            }
        }
    }

    /// So many short ones are sent, and so many of them taken.
    fn lap(&mut self, other: &mut End, sent: u8, taken: u8) {
        (0..sent).for_each(|_| assert!(self.send(SHORT)));
        (0..taken).for_each(|number| assert_eq!(other.take(), Some((number, None))));
    }
}

/// How many entries are taken before the sender is told.
const TOLD: u8 = NEAR_ENTRIES as u8 / 4;

#[test]
fn messages_are_whole_in_every_interleaving() {
    explore(3, || {
        let [mut one, mut two] = ring();
        let lap = NEAR_ENTRIES as u8;
        one.lap(&mut two, lap, lap);
        let sender = thread::spawn(move || [SHORT, LINE].map(|size| assert!(one.send(size))));
        two.await_next(lap);
        two.await_next(lap + 1);
        sender.join().unwrap();
    });
}

#[test]
fn what_is_not_taken_is_not_overwritten_in_any_interleaving() {
    explore(2, || {
        let [mut one, mut two] = ring();
        let lap = NEAR_ENTRIES as u8;
        one.lap(&mut two, lap, TOLD - 1);
        // As many as there is room for then: the last one is where the other still reads.
        let sender = thread::spawn(move || {
            for _ in 0..TOLD {
                while !one.send(SHORT) {
                    thread::yield_now();
                }
            }
            assert!(!one.send(SHORT));
        });
        two.await_next(TOLD - 1);
        sender.join().unwrap();
        (TOLD..lap + TOLD).for_each(|number| two.await_next(number));
        assert_eq!(two.take(), None);
    });
}

// There are so few chunks for loom and Miri only.
#[cfg(any(loom, miri))]
#[test]
fn a_chunk_is_used_again_only_once_it_was_taken_in_every_interleaving() {
    explore(2, || {
        let [mut one, mut two] = ring();
        let (begun, chunks) = (TOLD - 1, u8::try_from(NEAR_CHUNKS).unwrap());
        one.lap(&mut two, begun, begun);
        (0..chunks).for_each(|_| assert!(one.send(LONG)));
        // Of these one goes to where the other still reads, or after it was told so.
        let sender = thread::spawn(move || (0..2).for_each(|_| assert!(one.send(LONG))));
        two.await_next(begun);
        sender.join().unwrap();
        (1..chunks + 2).for_each(|number| two.await_next(begun + number));
    });
}

/// One who sleeps until a message has come.
fn sleep_until_one_comes(two: &mut End, bell: &Bell) {
    while !two.near.is_ready(&two.core) {
        two.core.announce(Sleep::News);
        if !two.near.is_ready(&two.core) {
            bell.hear();
        }
        two.core.announce(Sleep::No);
    }
}

/// A message to one who looks and then sleeps; whether it has looked before, and leaves the ring
/// now.
fn send_to_a_sleeper(leaves: bool) {
    if !cfg!(miri) {
        barrier::register();
    }
    let ([mut one, mut two], bell) = (ring(), Arc::new(Bell::default()));
    if leaves {
        one.core.call(1, 0);
        // At the second nothing is left, as that one has called; the next but one does it.
        (0..3).for_each(|_| assert!(!two.near.is_ready(&two.core)));
        assert_eq!(two.core.memory.load(two.core.layout.about(1, 0, About::Watched)), 1);
    }
    let there = bell.clone();
    let sender = thread::spawn(move || {
        assert!(one.send(SHORT));
        if one.core.wakes(0) {
            there.ring();
        }
    });
    sleep_until_one_comes(&mut two, &bell);
    assert_eq!(two.take(), Some((0, None)));
    sender.join().unwrap();
}

#[test]
fn nobody_sleeps_on_the_first_message_in_any_interleaving() {
    explore(3, || send_to_a_sleeper(false));
}

// Rings are left so soon for loom and Miri only.
#[cfg(any(loom, miri))]
#[test]
fn nobody_sleeps_on_a_message_in_a_ring_that_is_left_in_any_interleaving() {
    explore(3, || send_to_a_sleeper(true));
}

#[test]
fn nobody_sleeps_on_room_that_was_made_in_any_interleaving() {
    explore(3, || {
        let ([mut one, mut two], bell) = (ring(), Arc::new(Bell::default()));
        let lap = NEAR_ENTRIES as u8;
        one.lap(&mut two, lap, TOLD - 1);
        let there = bell.clone();
        let sender = thread::spawn(move || {
            while !one.near.has_room(&one.core, 0) {
                one.core.announce(Sleep::Room);
                if !one.near.has_room(&one.core, 0) {
                    there.hear();
                }
                one.core.announce(Sleep::No);
            }
            assert!(one.send(SHORT));
        });
        let (number, woken) = two.take().unwrap();
        assert_eq!(number, TOLD - 1);
        if woken.is_some_and(|rank| two.core.wakes(rank)) {
            bell.ring();
        }
        sender.join().unwrap();
    });
}

/// Two ranks, and a board of theirs.
fn board() -> [Core<Shared>; 2] {
    let (layout, mut words) = segment(2);
    for rank in 0..2 {
        for flag in [0, 1].map(|number| layout.spot(rank, 0, number)) {
            words.share([flag]);
            words.guard([flag + 1], 0);
        }
        words.share([layout.left(rank, 0)]);
    }
    let words = words.shared();
    [0, 1].map(|me| Core::new(words.clone(), layout.clone(), me))
}

fn spot(number: u32) -> Spot {
    Spot { board: 0, number }
}

fn show(core: &Core<Shared>, number: u32) {
    board::show(core, spot(number), 7, &[core.me as u8 * 16 + number as u8; 8]);
}

/// Whether a rank sees what another shows; then it is all of it.
fn sees(core: &Core<Shared>, rank: usize, number: u32) -> bool {
    let Some(label) = board::label(core, rank, spot(number)) else { return false };
    let mut bytes = [0; 8];
    board::read(core, rank, spot(number), &mut bytes);
    assert_eq!((label, bytes), (7, [rank as u8 * 16 + number as u8; 8]));
    true
}

/// A rank shows something several times, each time after it has seen what the other shows.
fn take_turns(core: &Core<Shared>, bells: &[Bell; 2]) {
    let other = 1 - core.me;
    for number in 1..=3 {
        show(core, number);
        while !sees(core, other, number) {
            core.announce(Sleep::Room);
            if !sees(core, other, number) {
                bells[core.me].hear();
            }
            core.announce(Sleep::No);
        }
        board::leave(core, spot(number));
        if core.wakes(other) {
            bells[other].ring();
        }
    }
}

#[test]
fn boards_show_all_of_what_is_shown_and_nobody_sleeps_on_it_in_any_interleaving() {
    explore(2, || {
        let ([one, two], bells) = (board(), Arc::new(<[Bell; 2]>::default()));
        let there = bells.clone();
        let other = thread::spawn(move || take_turns(&one, &there));
        take_turns(&two, &bells);
        other.join().unwrap();
    });
}

#[test]
fn a_place_on_a_board_is_used_again_once_its_readers_have_left_in_every_interleaving() {
    explore(3, || {
        let [one, two] = board();
        show(&one, 1);
        let shower = thread::spawn(move || {
            while !board::has_left(&one, 1, spot(1)) {
                thread::yield_now();
            }
            show(&one, 3);
        });
        assert!(sees(&two, 0, 1));
        board::leave(&two, spot(1));
        while !sees(&two, 0, 3) {
            thread::yield_now();
        }
        shower.join().unwrap();
    });
}

/// The node that pieces come from and go to, and slots that a test uses; the others are taken.
const THERE: usize = 1;
const USED: usize = 3;

/// Processes of a node, with the boxes of the first.
fn boxes<const COUNT: usize>(used: usize) -> [Core<Shared>; COUNT] {
    let (layout, mut words) = segment(COUNT as u16 - 1);
    let of = |word| layout.of(0, word);
    words.share([of(Boxes::Dropped), of(Boxes::Wanted)]);
    for word in [Boxes::Arrived, Boxes::Used] {
        words.share(of(word)..of(word) + SETS);
    }
    words.share(of(Boxes::States)..of(Boxes::States) + used);
    words.guard(of(Boxes::States) + used..of(Boxes::States) + GATEWAY_SLOTS, COUNT as u64);
    for slot in 0..used {
        let head = layout.inbound(0, slot, Slot::Stamp);
        words.guard(head..head + Slot::Mark as usize + 1, 0);
        words.guard([layout.inbound_body(0, slot)], 0);
        let head = layout.outbound(0, slot, Slot::Stamp);
        words.share(head..head + Slot::Mark as usize + 1);
    }
    let pairs = [Pair::Posted, Pair::Acknowledged, Pair::Taken, Pair::Last];
    words.share(pairs.map(|word| layout.pair(THERE, 0, 0, word)));
    words.share([Local::Posts, Local::Owed].map(|word| layout.local(THERE, 0, word)));
    let endpoint = [Endpoint::Link, Endpoint::Gone];
    words.share(endpoint.map(|word| layout.endpoint(THERE, word)));
    words.share([layout.grant(THERE, 0)]);
    let words = words.shared();
    std::array::from_fn(|me| Core::new(words.clone(), layout.clone(), me))
}

/// The piece of this number for the first rank.
fn piece(number: u8) -> (Frame, [u8; 8]) {
    let frame = Frame {
        kind: Kind::Piece,
        more: 0,
        from: 0,
        to: 0,
        size: 8,
        number: number.into(),
        total: 100 + u64::from(number),
        offset: number.into(),
    };
    (frame, [number; 8])
}

fn put(core: &Core<Shared>, number: u8) -> bool {
    let (frame, body) = piece(number);
    core.put(THERE, &frame, &body)
}

/// The number of the piece that is taken.
fn take(core: &Core<Shared>, inbox: &mut Inbox) -> Option<u8> {
    let mut number = None;
    inbox
        .take(core, &mut |mut piece| {
            let bytes = piece.bytes.to_vec();
            let (frame, body) = self::piece(bytes[0]);
            assert_eq!((piece.offset, piece.total), (frame.offset, frame.total));
            assert_eq!(bytes, body);
            number = Some(bytes[0]);
        })
        .expect("it can be")?;
    number
}

#[test]
fn pieces_are_taken_once_and_in_order_whoever_brings_them_in_any_interleaving() {
    explore(2, || {
        let [rank, one, two] = boxes(USED);
        // One goes on with what the other had begun.
        let slow = thread::spawn(move || assert!(put(&one, 1)));
        let other = thread::spawn(move || [1, 2].map(|number| assert!(put(&two, number))));
        let mut inbox = Inbox::new();
        let mut taken: Vec<u8> = (0..2).filter_map(|_| take(&rank, &mut inbox)).collect();
        slow.join().unwrap();
        other.join().unwrap();
        taken.extend(std::iter::from_fn(|| take(&rank, &mut inbox)));
        assert_eq!(taken, [1, 2]);
    });
}

#[test]
fn a_piece_without_room_is_put_or_granted_in_every_interleaving() {
    explore(3, || {
        let [rank, bringer] = boxes(1);
        assert!(put(&bringer, 1));
        let other = thread::spawn(move || {
            let (frame, body) = piece(2);
            if !put(&bringer, 2) {
                bringer.drop_piece(THERE, &frame, &body, 1);
            }
        });
        let mut inbox = Inbox::new();
        assert_eq!(take(&rank, &mut inbox), Some(1));
        other.join().unwrap();
        if take(&rank, &mut inbox) != Some(2) {
            let owed = rank.memory.load(rank.layout.local(THERE, 0, Local::Owed)) as u32;
            let wanted = rank.memory.load(rank.layout.of(0, Boxes::Wanted)) as u32;
            let posts = rank.memory.load(rank.layout.local(THERE, 0, Local::Posts));
            assert!(owed != 0 && owed <= wanted, "grant {owed} after room was made {wanted} times");
            assert!(posts >= 2, "who sends looks once more than for the piece that was taken");
        }
    });
}

#[test]
fn who_reads_the_head_of_a_slot_that_is_filled_anew_has_one_piece_in_every_interleaving() {
    explore(3, || {
        let [rank, sender] = boxes(1);
        let mut outbox = Outbox::new();
        let mut post = move |number: u64| {
            outbox.retire(&rank);
            let nothing = Parts { head: &[], body: &[] };
            outbox.post(&rank, (THERE, 0), (number, 10 + number), nothing)
        };
        assert_eq!(post(1), Ok(()));
        let at = sender.layout.pair(THERE, 0, 0, Pair::Acknowledged);
        sender.memory.raise(at, 1);
        let poster = thread::spawn(move || assert_eq!(post(2), Ok(())));
        // What it finds is not there any more, or all of what is.
        if let Some(due) = sender.due(THERE, 0, 0, 1) {
            let Frame { number, total, offset, .. } = due.frame;
            assert_eq!((number, offset, total), (2, 2, 12));
        }
        poster.join().unwrap();
        assert!(sender.due(THERE, 0, 0, 1).is_some());
    });
}
