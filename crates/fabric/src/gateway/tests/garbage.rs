//! What a rank writes into the segment that cannot be: others are told, or pass it over, and go on.

use super::*;
use crate::deadline::Deadline;
use crate::error::Error;
use crate::gateway::board::{self, Spot};
use crate::gateway::control::{self, Control, PACKET_MAX};
use crate::gateway::garbage::Garbage;
use crate::gateway::layout::{self, About, Boxes, Endpoint, Local, Pair, Slot};
use crate::gateway::{Node, Rank};
use crate::transport::shared::segment;
use muster_base::limits::BOARD_BYTES;
use proptest::prelude::*;
use std::os::fd::AsFd;
use std::time::Duration;

const RANKS: [u16; 2] = [3, 3];

fn place(node: u32, rank: u32) -> Place {
    Place { node, rank }
}

/// Brings what rank 0 of node 0 has posted to rank 0 of node 1 into its first slot.
fn brought() -> World {
    let mut world = World::new(RANKS, (1 << 20, Way::Sealed));
    world.nodes[0][0].post(0).expect("there is room");
    world.nodes[0][3].pass(false);
    world.nodes[1][3].pass(false);
    world
}

#[test]
fn a_slot_with_what_is_no_piece_is_told_and_freed_and_the_piece_may_come_again() {
    for (word, lie) in [
        (Slot::Size, GATEWAY_PIECE as u64 + 1),
        (Slot::Size, u64::MAX),
        (Slot::Size, 9),
        (Slot::Total, 7),
        (Slot::Offset, 1),
        (Slot::Offset, u64::MAX),
    ] {
        let mut world = brought();
        let Process { core, inbox, .. } = &mut world.nodes[1][0];
        core.memory.store(core.layout.inbound(0, 0, word), lie);
        let taken = inbox.take(core, &mut |piece| panic!("{piece:?} was taken"));
        assert!(matches!(taken, Err(Garbage { of: Place { node: 0, rank: 0 }, .. })), "{taken:?}");
        assert_eq!(core.memory.load(core.layout.of(0, Boxes::States)) & 0xffff, 0);
        // The next from others comes, and when all is sent again that one, too.
        world.nodes[0][1].post(0).expect("there is room");
        world.nodes[0][3].pass(false);
        world.nodes[1][3].pass(false);
        assert!(world.nodes[1][0].take());
        world.reconnect();
        world.settle();
        for rank in 0..2 {
            assert_eq!(world.nodes[1][0].got.get(&place(0, rank)), Some(&1), "from {rank}");
        }
    }
}

/// Where a rank writes: whichever word of a part of the segment.
fn target(layout: &Layout, part: usize, at: usize) -> usize {
    let (rank, word) = (at % layout.here(), at / 8 % 64);
    match part {
        0 => layout.process(rank, layout::Process::Asleep) + word % 8,
        1 => layout.endpoint(1, Endpoint::Link) + word % 40,
        2 => layout.local(1, rank, Local::Posts) + word % 4,
        3 => layout.pair(1, rank, at / 3 % 3, Pair::Posted) + word % 5,
        4 => layout.of(rank, Boxes::Arrived) + word,
        5 => layout.inbound(rank, word, Slot::Stamp) + at % 7,
        6 => layout.outbound(rank, word, Slot::Stamp) + at % 7,
        7 => layout.about(rank, at / 3 % 3, About::Freed) + word % 3,
        8 => layout.ring(rank, at / 3 % 3).entry(word) + at % 4,
        9 => layout.spot(rank, word % 4, word as u32) + at % 4,
        10 => layout.grant(1, rank),
        _ => at * 4099 % layout.words,
    }
}

fn word() -> impl Strategy<Value = u64> {
    let pair = |(high, low): (u64, u64)| high << 32 | low;
    prop_oneof![
        4 => 0..4_u64,
        2 => (0..3_u64, 0..20_u64).prop_map(pair),
        2 => (0..3_u64, any::<u32>().prop_map(u64::from)).prop_map(pair),
        2 => Just(u64::MAX),
        1 => any::<u64>(),
    ]
}

/// A piece that can be, whoever has written it.
fn is_piece(mut piece: Piece<'_>) {
    let size = piece.bytes.to_vec().len() as u64;
    assert!(piece.offset.checked_add(size).is_some_and(|end| end <= piece.total), "{size} bytes");
}

impl Process {
    /// Takes whatever there is of its own node and of the other one.
    fn take_all(&mut self) {
        // Rings and slots hold less.
        let is_over = |_| {
            let near = self.near.take(&self.core, &mut is_piece);
            let far = self.inbox.take(&self.core, &mut is_piece);
            near.is_none() && self.near.garbage().is_none() && far == Ok(None)
        };
        assert!((0..5000).any(is_over), "there is always more");
        if std::mem::take(&mut self.has_own) {
            let _ = self.core.land(self.peer(), &self.line, &mut is_piece);
        }
    }

    /// Takes what there is of the other node.
    fn take_far(&mut self) {
        while self.inbox.take(&self.core, &mut is_piece) != Ok(None) {}
        if std::mem::take(&mut self.has_own) {
            let _ = self.core.land(self.peer(), &self.line, &mut is_piece);
        }
    }

    /// Takes what a rank of its node has sent; how many bytes that are.
    fn take_near(&mut self, rank: usize) -> Option<usize> {
        let mut size = None;
        let mut take = |piece: Piece<'_>| {
            assert_eq!(piece.from.rank as usize, rank);
            size = Some(piece.bytes.len());
        };
        self.near.take(&self.core, &mut take);
        assert_eq!(self.near.garbage(), None);
        size
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// Node 0 is the one with the garbage; its daemon is the last of its processes.
    #[test]
    fn whatever_is_written_into_a_segment_every_call_returns_and_other_nodes_go_on(
        writes in proptest::collection::vec((0..12_usize, 0..10_000_usize, word()), 1..60),
        way in proptest::sample::select(&[Way::Bare, Way::Landing]),
    ) {
        let mut world = World::new(RANKS, (1 << 20, way));
        for (step, (part, at, value)) in writes.into_iter().enumerate() {
            let (rank, other) = (step % 3, (step + 1) % 3);
            let liar = &world.nodes[0][0].core;
            liar.memory.store(target(&liar.layout, part, at), value);
            let process = &mut world.nodes[0][rank];
            let _ = process.post(other);
            process.send(other);
            process.pass(step % 2 == 0);
            process.take_all();
            process.inbox.is_ready(&process.core);
            let spot = Spot { board: 1, number: step as u32 };
            board::show(&process.core, spot, 7, &[1; 9]);
            if board::label(&process.core, other, spot).is_some() {
                board::read(&process.core, other, spot, &mut [0; BOARD_BYTES]);
            }
            let daemon = &mut world.nodes[0][3];
            daemon.pass(false);
            if step % 16 == 15 {
                daemon.core.reap(1);
            }
            // What comes of that to another node is an error of one connection.
            let there = &mut world.nodes[1][rank];
            let _ = there.post(other);
            there.pass(false);
            there.take_far();
            prop_assert!(there.send(other), "there is room");
            let taken = world.nodes[1][other].take_near(rank);
            prop_assert_eq!(taken, Some(SHORT[step / 3 % 4]));
        }
    }
}

/// A rank of a node, as one sees it who has its socket and keeps to nothing.
fn hostile(node: &mut Node, rank: u32) -> (Layout, Arc<Mapped>) {
    let control = node.admit(rank).unwrap();
    let welcome = control::receive(control.as_fd(), &mut [0; PACKET_MAX]).unwrap();
    let Some(Control::Welcome { layout, segment, .. }) = welcome else { panic!("no welcome") };
    let memory = segment::map(segment.as_fd(), layout.words * 8, true).unwrap();
    // Who closes its socket has ended.
    std::mem::forget(control);
    (layout, Arc::new(memory))
}

fn soon() -> Deadline {
    Deadline::after(Duration::from_secs(20))
}

#[test]
fn a_rank_is_told_what_another_has_written_and_all_others_go_on() {
    let mut nodes = [(); 2].map(|()| Node::new(0, &[3]).unwrap());
    let mut ranks: Vec<[Rank; 2]> = Vec::new();
    let liars = nodes.each_mut().map(|node| {
        ranks.push([1, 2].map(|rank| Rank::join(node.admit(rank).unwrap(), soon()).unwrap()));
        hostile(node, 0)
    });
    // Of the two jobs it is the first that has a liar.
    let (layout, memory) = &liars[0];
    memory.store(layout.ring(0, 1).entry(0) + 1, 1 << 60);
    memory.store(layout.ring(0, 1).entry(0), 1 << 32 | 1 << 31 | 1 << 20);
    memory.set(layout.process(1, layout::Process::Called), 1);
    let [first, _] = &mut ranks[..] else { panic!("two jobs") };
    let [one, two] = first;
    two.send(place(0, 1), b"head", &[7; 20_000], soon()).unwrap();
    let (mut told, mut got) = (Vec::new(), 0);
    while got < 20_004 {
        match one.take(soon(), &mut |piece| got += piece.bytes.len()) {
            Ok(()) => {}
            Err(error) => told.push(error),
        }
    }
    let [Error::Malformed { peer, .. }] = &told[..] else { panic!("{told:?}") };
    assert_eq!(peer, "rank 0 of node 0");
    assert!(one.is_gone(place(0, 0)) && !two.is_gone(place(0, 0)) && !one.is_gone(place(0, 2)));
    // What it says to have freed.
    memory.store(layout.about(0, 1, About::Freed), 0);
    memory.store(layout.about(1, 0, About::Freed), u64::MAX >> 1);
    let refused = (0..1000).find_map(|_| one.send(place(0, 0), b"", b"more", soon()).err());
    assert!(matches!(refused, Some(Error::Malformed { .. })), "{refused:?}");
    // The rest of what it can write is nothing to the daemons, nor to the other job.
    let mut seed = 1_u64;
    for _ in 0..20 {
        for _ in 0..2000 {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            memory.store((seed >> 20) as usize % layout.words.min(200_000), seed >> (seed % 64));
        }
        nodes.iter_mut().for_each(|node| node.progress(Deadline::after(Duration::from_millis(6))));
        let [one, two] = &mut ranks[1];
        two.send(place(0, 1), b"head", &[1; 100], soon()).unwrap();
        one.take(soon(), &mut |piece| assert_eq!(piece.total, 104)).unwrap();
    }
}
