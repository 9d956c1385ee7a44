//! Random schedules of messages of all sizes between the ranks of one node, in parts.

use super::*;
use crate::gateway::garbage::Garbage;
use crate::gateway::layout::About;
use crate::gateway::near::ROW;
use muster_base::limits::{NEAR_CHUNK, NEAR_CHUNKS, NEAR_ENTRIES, NEAR_LONG_PIECE, NEAR_PIECE};
use proptest::prelude::*;

/// More than are watched at all times.
const RANKS: usize = 9;

/// So many looks in vain, and rings are left.
const LONG: usize = 2100;

/// A rank, with what it sends to whom and how far it is, and what has come of whom.
struct End {
    core: Core<Arc<Mapped>>,
    near: Near,
    /// Number and offset of the message that is next.
    sending: [(u64, usize); RANKS],
    /// Number of the message that comes, and what has come of it.
    coming: Vec<(u64, Vec<u8>)>,
}

fn ends() -> Vec<End> {
    super::super::barrier::register();
    let layout = Layout::new(0, &[RANKS as u16]);
    let memory = Arc::new(Mapped::heap(layout.words * 8));
    let end = |me| {
        let core = Core::new(memory.clone(), layout.clone(), me);
        let near = Near::new(&core);
        End { core, near, sending: [(0, 0); RANKS], coming: vec![(0, Vec::new()); RANKS] }
    };
    (0..RANKS).map(end).collect()
}

/// The message of this number between two ranks: its head's size, and its bytes.
fn message(from: usize, to: usize, number: u64, sizes: &[(usize, usize)]) -> (usize, Vec<u8>) {
    let (head, body) = sizes[number as usize % sizes.len()];
    let seed = (from * 7 + to * 3) as u64 + number * 11;
    (head, (0..head + body).map(|at| (seed + at as u64 * 5 + at as u64 / 256) as u8).collect())
}

impl End {
    /// Sends a piece to a rank; whether there was room.
    fn send(&mut self, to: usize, sizes: &[(usize, usize)]) -> bool {
        let (number, offset) = self.sending[to];
        let (head, bytes) = message(self.core.me, to, number, sizes);
        let (head, body) = bytes.split_at(head);
        let Some(sent) = self.near.send(&self.core, to, Parts { head, body }, offset) else {
            return false;
        };
        let is_whole = offset + sent == bytes.len();
        self.sending[to] = if is_whole { (number + 1, 0) } else { (number, offset + sent) };
        true
    }

    /// Looks for a while, until there is a piece.
    fn look(&mut self) {
        let _ = (0..LONG).any(|_| self.near.is_ready(&self.core));
    }

    /// Whether it looks at a rank's ring without being called.
    fn watches(&self, from: usize) -> bool {
        let at = self.core.layout.about(from, self.core.me, About::Watched);
        self.core.memory.load(at) == 1
    }

    /// Takes a piece, in reads of so many bytes; whether there was one.
    fn take(&mut self, read: usize, sizes: &[(usize, usize)]) -> bool {
        self.take_of(read, sizes, None).expect("it can be")
    }

    /// The same where one rank writes what it likes.
    fn take_of(
        &mut self,
        read: usize,
        sizes: &[(usize, usize)],
        liar: Option<usize>,
    ) -> Result<bool, Garbage> {
        let (me, coming) = (self.core.me, &mut self.coming);
        let taken = self.near.take(&self.core, &mut |mut piece: Piece<'_>| {
            let from = piece.from.rank as usize;
            if Some(from) == liar {
                let size = piece.bytes.to_vec().len();
                assert!(size <= HEAD + NEAR_LONG_PIECE);
                assert!(piece.offset.checked_add(size as u64).unwrap() <= piece.total);
                coming[from].0 += 1;
                return;
            }
            let (number, there) = &mut coming[from];
            assert_eq!(piece.offset, there.len() as u64);
            while !piece.bytes.is_empty() {
                let mut bytes = vec![0; piece.bytes.len().min(read)];
                piece.bytes.read(&mut bytes);
                there.extend(bytes);
            }
            let (_, expected) = message(from, me, *number, sizes);
            assert_eq!(piece.total, expected.len() as u64);
            assert!(expected.starts_with(there), "message {number} from {from} to {me}");
            if there.len() == expected.len() {
                (*number, *there) = (*number + 1, Vec::new());
            }
        });
        self.near.garbage().map_or(Ok(taken.is_some()), Err)
    }

    /// Writes an entry: the sizes below its flag's number, the message's, and where its bytes are.
    fn write(&self, to: usize, number: usize, [sizes, total, place]: [u64; 3]) {
        let (core, memory) = (&self.core, &self.core.memory);
        let entry = core.layout.ring(core.me, to).entry(number % NEAR_ENTRIES);
        memory.store(entry + 1, total);
        memory.store(entry + 2, place);
        memory.store(entry, (number as u64 + 1) << 32 | sizes);
        core.call(core.me, to);
    }
}

/// Bytes in the entry of a piece, at most.
const HEAD: usize = 40;

/// The words of an entry: whether it is a piece, with so many bytes in it and behind.
fn sizes(is_piece: bool, inside: usize, behind: usize) -> u64 {
    u64::from(is_piece) << 31 | (inside as u64) << 24 | behind as u64
}

/// Some that can be, and some that cannot.
fn entry() -> impl Strategy<Value = [u64; 3]> {
    let behind =
        prop_oneof![0..300_usize, Just(NEAR_PIECE), Just(NEAR_LONG_PIECE), 0..1_usize << 24];
    let inside = prop_oneof![4 => 0..=HEAD, 1 => 0..128_usize];
    let total = prop_oneof![0..300_u64, Just(1 << 20), Just(u64::MAX), any::<u64>()];
    let chunk = prop_oneof![Just(0), 1..NEAR_CHUNKS as u64 + 3, 0..1_u64 << 15];
    let offset = prop_oneof![4 => Just(0), 2 => 0..300_u64, 1 => 0..1_u64 << 48];
    (prop::bool::weighted(0.8), inside, behind, total, chunk, offset, any::<bool>()).prop_map(
        |(is_piece, inside, behind, total, chunk, offset, is_streamed)| {
            let place = u64::from(is_streamed) << 63 | chunk << 48 | offset;
            [sizes(is_piece, inside, behind), total, place]
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn whatever_a_rank_writes_into_its_ring_is_a_piece_or_an_error_and_others_messages_come(
        entries in proptest::collection::vec(entry(), 1..20),
    ) {
        let (mut ends, sizes) = (ends(), [(24, 0), (24, 3 * NEAR_PIECE), (0, 100)]);
        let mut refused = None;
        for (number, words) in entries.into_iter().enumerate() {
            ends[0].write(1, number, words);
            for end in &mut ends[2..5] {
                end.send(1, &sizes);
            }
            loop {
                let before = ends[1].coming[0].0;
                match ends[1].take_of(1000, &sizes, Some(0)) {
                    Ok(false) => break,
                    Ok(true) => {
                        let is_first = refused.is_none() || ends[1].coming[0].0 == before;
                        prop_assert!(is_first, "it goes on behind what cannot be");
                    }
                    Err(garbage) => {
                        prop_assert_eq!(garbage.of, Place { node: 0, rank: 0 });
                        prop_assert_eq!(refused.replace(garbage), None);
                    }
                }
            }
            let taken = ends[1].coming[0].0 + u64::from(refused.is_some());
            prop_assert!(refused.is_some() || taken == number as u64 + 1, "it is not looked at");
        }
        for from in 2..5 {
            while ends[from].sending[1].1 != 0 {
                prop_assert!(ends[from].send(1, &sizes) && ends[1].take(1000, &sizes));
            }
            prop_assert_eq!(ends[1].coming[from].0, ends[from].sending[1].0);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn messages_of_all_sizes_come_whole_and_in_order(
        sizes in proptest::collection::vec(
            (0_usize..=64, prop_oneof![
                4 => 0_usize..80,
                4 => 0_usize..3 * NEAR_PIECE,
                1 => 3 * NEAR_PIECE..5 * NEAR_LONG_PIECE,
            ]), 1..6),
        steps in proptest::collection::vec(
            (0..RANKS, 1..RANKS, any::<bool>(), 1_usize..100, 1_usize..20_000), 1..40),
    ) {
        let mut ends = ends();
        for (rank, other, is_sender, count, read) in steps {
            for _ in 0..count {
                let is_done = match is_sender {
                    true => ends[rank].send((rank + other) % RANKS, &sizes),
                    false => ends[rank].take(read, &sizes),
                };
                if !is_done {
                    break;
                }
            }
            if read < 1000 {
                ends[rank].look();
            }
        }
        // What has begun is finished, then all is there.
        while {
            for end in &mut ends {
                for to in 0..RANKS {
                    while end.sending[to].1 != 0 && end.send(to, &sizes) {}
                }
            }
            ends.iter_mut().any(|end| end.take(100, &sizes))
        } {}
        for from in 0..RANKS {
            for to in (0..RANKS).filter(|to| *to != from) {
                prop_assert_eq!(ends[to].coming[from].0, ends[from].sending[to].0);
            }
        }
    }
}

#[test]
fn an_entry_is_taken_up_to_the_limits_and_told_beyond_them() {
    let all = NEAR_LONG_PIECE.div_ceil(NEAR_CHUNK);
    let chunk = |chunk: usize| (chunk as u64) << 48;
    let piece = |inside, behind| sizes(true, inside, behind);
    let (most, long) = (HEAD + NEAR_PIECE, HEAD + NEAR_LONG_PIECE);
    for (can_be, words) in [
        (true, [sizes(false, 56, 0), 0, 0]),
        (false, [sizes(false, 57, 0), 0, 0]),
        (false, [sizes(false, 8, 1), 0, 0]),
        (true, [piece(HEAD, NEAR_PIECE), most as u64, 0]),
        (false, [piece(HEAD + 1, 0), 1 << 20, 0]),
        (false, [piece(HEAD, NEAR_PIECE + 1), 1 << 20, 0]),
        (false, [piece(HEAD, NEAR_PIECE), most as u64 - 1, 0]),
        (true, [piece(8, 0), (1 << 48) + 7, (1 << 48) - 1]),
        (false, [piece(8, 0), (1 << 48) + 6, (1 << 48) - 1]),
        (true, [piece(HEAD, NEAR_LONG_PIECE), long as u64, chunk(NEAR_CHUNKS - all + 1)]),
        (false, [piece(HEAD, NEAR_LONG_PIECE), long as u64, chunk(NEAR_CHUNKS - all + 2)]),
        (false, [piece(HEAD, NEAR_LONG_PIECE + 1), 1 << 20, chunk(1)]),
        (false, [piece(0, 1), 1, chunk(NEAR_CHUNKS + 1)]),
        (false, [piece(0, 0), 0, chunk((1 << 15) - 1)]),
    ] {
        let mut ends = ends();
        ends[0].write(1, 0, words);
        let taken = ends[1].take_of(1000, &[], Some(0));
        assert_eq!(taken.is_ok(), can_be, "{words:x?}: {taken:?}");
        // Of what cannot be nothing was read, and it is told once.
        assert_eq!(ends[1].coming[0].0, u64::from(can_be), "{words:x?}");
        assert_eq!(ends[1].take_of(1000, &[], Some(0)), Ok(false));
        assert_eq!(ends[1].near.is_closed(0), !can_be);
    }
}

#[test]
fn nothing_is_taken_from_a_ring_to_oneself() {
    for (me, mut end) in ends().into_iter().enumerate() {
        end.write(me, 0, [sizes(false, 8, 0), 0, 0]);
        assert!(!end.take(100, &[]), "rank {me}");
    }
}

#[test]
fn who_says_that_it_has_freed_what_was_never_sent_is_told_and_holds_up_nobody() {
    for lie in [65 << 32, 1 << 32 | 600, u64::MAX, 1 << 63] {
        let (mut ends, sizes) = (ends(), [(24, 0)]);
        while ends[0].send(1, &sizes) {}
        let End { core, near, .. } = &mut ends[0];
        assert_eq!(near.misled(core, 1), None);
        assert!(!near.has_room(core, 1));
        core.memory.store(core.layout.about(0, 1, About::Freed), lie);
        assert!(near.has_room(core, 1), "nobody waits for it");
        let garbage = near.misled(core, 1).expect("that cannot be");
        assert_eq!(garbage.of, Place { node: 0, rank: 1 });
        assert!(!ends[0].send(1, &sizes) && ends[0].send(2, &sizes));
    }
}

#[test]
fn a_ring_holds_what_the_limits_say_and_has_room_for_a_piece_once_all_was_taken() {
    let mut ends = ends();
    let short = [(24, 8)];
    let mut sent = 0;
    while ends[0].send(1, &short) {
        sent += 1;
    }
    assert_eq!(sent, NEAR_ENTRIES);
    while ends[1].take(100, &short) {}
    let mut end = ends.swap_remove(0);
    assert!(end.near.has_room(&end.core, 1));
    let long = vec![1; NEAR_PIECE];
    let message = Parts { head: &[], body: &long };
    let mut sent = 0;
    while end.near.send(&end.core, 1, message, 0).is_some() {
        sent += 1;
    }
    assert_eq!(sent, NEAR_ENTRIES);
    assert!(!end.near.has_room(&end.core, 1));
}

#[test]
fn what_receivers_leave_lying_stays_as_it_is_and_holds_up_no_other() {
    leave_lying(3 * NEAR_PIECE, NEAR_PIECE);
    leave_lying(5 * NEAR_LONG_PIECE, NEAR_LONG_PIECE);
}

#[test]
fn messages_of_64_kib_and_more_go_in_long_pieces() {
    for (size, piece) in [(65_535, NEAR_PIECE), (65_536, NEAR_LONG_PIECE)] {
        let (mut ends, body) = (ends(), vec![1; size]);
        let end = &mut ends[0];
        let message = Parts { head: &[], body: &body };
        assert_eq!(end.near.send(&end.core, 1, message, 0), Some(piece), "{size} bytes");
    }
}

#[test]
fn what_many_have_taken_a_little_of_does_not_keep_a_sender_from_its_chunks() {
    let (mut ends, sizes) = (ends(), [(24, 10 * NEAR_LONG_PIECE)]);
    for to in 2..RANKS {
        while ends[0].sending[to].0 == 0 {
            assert!(ends[0].send(to, &sizes) && ends[to].take(20_000, &sizes));
        }
    }
    let by_lines = (0..400).filter(|number| {
        let entry = ends[0].core.layout.ring(0, 1).entry(number % NEAR_ENTRIES);
        assert!(ends[0].send(1, &sizes));
        let place = ends[0].core.memory.load(entry + 2);
        assert!(ends[1].take(20_000, &sizes));
        place << 1 >> 49 == 0
    });
    assert_eq!(by_lines.count(), 0, "pieces that were not in chunks");
}

fn leave_lying(size: usize, piece: usize) {
    let (mut ends, sizes) = (ends(), [(24, size)]);
    for to in 2..RANKS {
        while ends[0].send(to, &sizes) {}
    }
    // Together they could have used up all chunks, and one goes on.
    let all = NEAR_CHUNKS * NEAR_CHUNK / piece;
    assert!((2..RANKS).len() * NEAR_ENTRIES > all);
    for _ in 0..2 * all {
        assert!(ends[0].send(1, &sizes) && ends[1].take(20_000, &sizes));
    }
    for to in 2..RANKS {
        while ends[to].take(1000, &sizes) || ends[0].sending[to].1 != 0 && ends[0].send(to, &sizes)
        {
        }
        assert_eq!(ends[to].coming[0].0, ends[0].sending[to].0);
    }
}

#[test]
fn pieces_go_past_the_caches_where_the_receiver_says_that_these_are_slow_but_some_to_see_if_so() {
    let (mut ends, sizes) = (ends(), [(24, NEAR_PIECE + 100)]);
    let core = &ends[1].core;
    core.memory.store(core.layout.about(0, 1, About::Slow), 1);
    let mut past = Vec::new();
    for number in 0..20 * NEAR_ENTRIES {
        assert!(ends[0].send(1, &sizes));
        let entry = ends[1].core.layout.ring(0, 1).entry(number % NEAR_ENTRIES);
        past.push(ends[1].core.memory.load(entry + 2) >> 63 == 1);
        assert!(ends[1].take(3000, &sizes));
    }
    assert!(past.iter().any(|past| *past) && past.iter().any(|past| !past));
    assert_eq!(ends[1].coming[0].0, ends[0].sending[1].0);
}

#[test]
fn who_sends_all_the_time_leaves_others_their_turn() {
    let (mut ends, sizes) = (ends(), [(24, 0)]);
    for _ in 0..20 * ROW {
        while ends[0].send(2, &sizes) {}
        while ends[1].send(2, &sizes) {}
        assert!(ends[2].take(100, &sizes));
        let taken = [0, 1].map(|from| ends[2].coming[from].0);
        assert!(taken[0].abs_diff(taken[1]) <= u64::from(ROW), "{taken:?}");
    }
}

#[test]
fn a_rank_looks_at_the_rings_of_those_who_talk_and_hears_the_others_when_they_call() {
    let (mut ends, sizes) = (ends(), [(24, 0)]);
    let others = 1..RANKS;
    others.clone().for_each(|from| assert!(ends[from].send(0, &sizes)));
    others.clone().for_each(|_| assert!(ends[0].take(100, &sizes)));
    assert!(others.clone().all(|from| ends[0].watches(from)));
    for _ in 0..3 {
        ends[0].look();
        assert!(ends[1].send(0, &sizes) && ends[0].take(100, &sizes));
    }
    let watched: Vec<usize> = others.clone().filter(|from| ends[0].watches(*from)).collect();
    assert_eq!(watched, [1]);
    others.clone().for_each(|from| assert!(ends[from].send(0, &sizes)));
    others.clone().for_each(|_| assert!(ends[0].take(100, &sizes)));
    assert!(others.clone().all(|from| ends[0].watches(from)));
}
