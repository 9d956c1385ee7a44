//! Random schedules: who does what next, who is killed in the middle of it, when a connection ends.

use super::*;
use crate::gateway::board::{self, Expected, Spot};
use crate::gateway::layout::{Boxes, Endpoint, Local, Slot};
use muster_base::limits::GATEWAY_WINDOW;
use proptest::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Enough ranks for more messages to one rank than it has room for.
const RANKS: [u16; 2] = [6, 2];

#[derive(Clone, Debug)]
enum Step {
    /// A rank posts so many messages to another.
    Post(usize, usize, usize, usize),
    /// A process makes a pass.
    Pass(usize, usize, bool),
    /// A rank takes so many pieces.
    Take(usize, usize, usize),
    /// A process is killed after so many steps of a pass.
    Kill(usize, usize, usize),
    /// The connection is replaced.
    Reconnect,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (0..2_usize, 0..6_usize, 0..6_usize, 1..40_usize)
            .prop_map(|(node, rank, to, count)| Step::Post(node, rank, to, count)),
        8 => (0..2_usize, 0..7_usize, any::<bool>())
            .prop_map(|(node, process, is_patient)| Step::Pass(node, process, is_patient)),
        4 => (0..2_usize, 0..6_usize, 1..60_usize)
            .prop_map(|(node, rank, count)| Step::Take(node, rank, count)),
        1 => (0..2_usize, 0..6_usize, 0..6000_usize)
            .prop_map(|(node, rank, steps)| Step::Kill(node, rank, steps)),
        1 => Just(Step::Reconnect),
    ]
}

/// Does one; ranks that there are not are those that there are.
fn run(world: &mut World, dead: &mut [Vec<bool>; 2], step: Step) {
    let (Step::Post(node, index, ..)
    | Step::Pass(node, index, _)
    | Step::Take(node, index, _)
    | Step::Kill(node, index, _)) = step
    else {
        return world.reconnect();
    };
    let ranks = usize::from(RANKS[node]);
    let (rank, there) = (index % ranks, usize::from(RANKS[1 - node]));
    match step {
        Step::Pass(_, process, is_patient) => {
            let process = process % (ranks + 1);
            if !dead[node][process] {
                world.nodes[node][process].pass(is_patient);
            }
        }
        _ if dead[node][rank] => {}
        Step::Post(_, _, to, count) => {
            let _ = (0..count).try_for_each(|_| world.nodes[node][rank].post(to % there));
        }
        Step::Take(_, _, count) => {
            let _ = (0..count).all(|_| world.nodes[node][rank].take());
        }
        Step::Kill(_, _, steps) => {
            let process = &mut world.nodes[node][rank];
            process.brake().set(steps, false);
            let pass = catch_unwind(AssertUnwindSafe(|| {
                process.pass(false);
                while process.take() {}
            }));
            if let Err(cause) = pass.map_err(|cause| (!cause.is::<Killed>()).then_some(cause))
                && let Some(cause) = cause
            {
                resume_unwind(cause);
            }
            process.brake().set(usize::MAX, false);
            dead[node][rank] = true;
            let daemon = &world.nodes[node][ranks];
            daemon.core.end(rank);
            world.reconnect();
        }
        Step::Reconnect => {}
    }
}

/// Lets the living go on, and says whether all that is between them comes.
fn finish(world: &mut World, dead: &[Vec<bool>; 2]) -> bool {
    // A round may bring no more than a piece.
    (0..2000).any(|_| {
        for (node, dead) in dead.iter().enumerate() {
            for (index, _) in dead.iter().enumerate().filter(|(_, dead)| !**dead) {
                let process = &mut world.nodes[node][index];
                process.pass(false);
                while index < usize::from(RANKS[node]) && process.take() {}
            }
        }
        has_all(world, dead)
    })
}

/// Whether all that is between the living has come.
fn has_all(world: &World, dead: &[Vec<bool>; 2]) -> bool {
    let living = |node: usize, rank: usize| !dead[node][rank];
    let processes = world.nodes.iter().flatten();
    processes.filter(|one| living(one.place().node as usize, one.core.me)).all(|from| {
        from.sent.iter().filter(|(to, _)| living(to.node as usize, to.rank as usize)).all(
            |(to, sent)| {
                let receiver = &world.nodes[to.node as usize][to.rank as usize];
                receiver.got.get(&from.place()).copied().unwrap_or(0) == *sent
            },
        )
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn messages_come_once_and_in_order_whatever_happens(
        steps in proptest::collection::vec(step(), 1..120),
        limit in 200_usize..20_000,
        way in proptest::sample::select(&WAYS),
    ) {
        // It holds a piece at least.
        let limit = if way == Way::Sealed { limit } else { 4 * limit + 8300 };
        let mut world = World::new(RANKS, (limit, way));
        let mut dead = RANKS.map(|ranks| vec![false; usize::from(ranks) + 1]);
        quietly(|| steps.into_iter().for_each(|step| run(&mut world, &mut dead, step)));
        prop_assert!(finish(&mut world, &dead), "something has not come");
    }
}

/// A word of a slot: some that can be, and some that cannot.
fn word() -> impl Strategy<Value = u64> {
    prop_oneof![4 => 0..4_u64, 1 => Just(8192), 2 => Just(u64::MAX), 1 => any::<u64>()]
}

proptest! {
    #[test]
    fn whatever_a_rank_writes_into_its_slots_the_others_messages_come(
        slots in proptest::collection::vec(([word(), word(), word(), word()], 0..3_u64), 1..20),
        way in proptest::sample::select(&WAYS),
    ) {
        let mut world = World::new(RANKS, (1 << 20, way));
        let subject = &world.nodes[0][0];
        let (layout, memory) = (&subject.core.layout, &subject.core.memory);
        for (slot, ([number, size, total, offset], rank)) in slots.into_iter().enumerate() {
            let set = |word, value| memory.store(layout.outbound(0, slot, word), value);
            set(Slot::Place, 1 << 16 | rank);
            // A first piece would be taken, and be another than is expected.
            set(Slot::Number, if number == 1 { 2 } else { number });
            set(Slot::Size, size);
            set(Slot::Total, total);
            set(Slot::Offset, offset);
            set(Slot::Stamp, slot as u64 + 1);
        }
        memory.store(layout.of(0, Boxes::Used), u64::MAX);
        memory.count(layout.local(1, 0, Local::Posts));
        for rank in 1..6 {
            world.nodes[0][rank].post(0).expect("there is room");
            world.nodes[0][rank].post(1).expect("there is room");
        }
        let mut dead = RANKS.map(|ranks| vec![false; usize::from(ranks) + 1]);
        dead[0][0] = true;
        prop_assert!(finish(&mut world, &dead), "something has not come");
    }
}

#[test]
fn a_rank_that_takes_nothing_keeps_others_waiting_for_nobody_and_gets_all_when_it_takes() {
    for way in WAYS {
        let mut world = World::new(RANKS, (1 << 20, way));
        for rank in 0..6 {
            while world.nodes[0][rank].post(0).is_ok() {}
            assert_eq!(world.nodes[0][rank].post(0), Err(Refusal::Room));
            world.nodes[0][rank].post(1).expect("the other one takes");
            world.nodes[0][rank].pass(false);
        }
        for _ in 0..200 {
            world.nodes[0][6].pass(false);
            world.nodes[1][1].pass(false);
            while world.nodes[1][1].take() {}
        }
        assert!(world.nodes[1][1].got.values().all(|got| *got == 1));
        assert_eq!(world.nodes[1][1].got.len(), 6);
        assert!(world.nodes[1][0].got.is_empty());
        world.settle();
        for rank in 0..6 {
            let from = world.nodes[0][rank].place();
            let sent = world.nodes[0][rank].sent[&Place { node: 1, rank: 0 }];
            assert_eq!(world.nodes[1][0].got[&from], sent, "from {from}");
        }
    }
}

#[test]
fn several_ranks_that_take_nothing_leave_a_sender_room_for_another() {
    let mut world = World::new([1, 6], (1 << 20, WAYS[0]));
    for rank in 0..5 {
        while world.nodes[0][0].post(rank).is_ok() {}
        world.nodes[0][0].pass(false);
    }
    let from = world.nodes[0][0].place();
    let mut is_posted = false;
    for _ in 0..200 {
        is_posted = is_posted || world.nodes[0][0].post(5).is_ok();
        world.nodes[0][0].pass(false);
        world.nodes[1][5].pass(false);
        while world.nodes[1][5].take() {}
    }
    assert_eq!(world.nodes[1][5].got.get(&from), Some(&1));
    world.settle();
    assert_eq!(world.nodes[1][0].got[&from], world.nodes[0][0].sent[&Place { node: 1, rank: 0 }]);
}

/// Fills all room that rank 0 of node 1 has: two windows. Others of its node then find none for
/// what rank 2 sends it first, which is long.
fn without_room(way: Way) -> World {
    let mut world = World::new(RANKS, (1 << 20, way));
    let bring = |world: &mut World| {
        for _ in 0..30 {
            world.nodes[0][6].pass(false);
            world.nodes[1][1].pass(false);
        }
    };
    for rank in 0..2 {
        while world.nodes[0][rank].post(0).is_ok() {}
    }
    bring(&mut world);
    world.nodes[0][2].post(0).expect("it has posted nothing so far");
    bring(&mut world);
    assert!(world.nodes[1][0].got.is_empty());
    world
}

#[test]
fn a_long_frame_for_which_there_is_no_room_comes_again_when_there_is() {
    let mut world = without_room(Way::Bare);
    world.settle();
    let from = world.nodes[0][2].place();
    assert_eq!(world.nodes[1][0].got.get(&from), Some(&1));
}

#[test]
fn a_rank_takes_no_long_frame_from_where_it_is_before_one_that_it_had_no_room_for() {
    let mut world = without_room(Way::Landing);
    // The last of these is long, and the first that the rank itself finds.
    (0..4).for_each(|_| world.nodes[0][2].post(0).expect("a few are on their way"));
    world.nodes[0][6].pass(false);
    world.nodes[1][0].pass(false);
    while world.nodes[1][0].take() {}
    let from = world.nodes[0][2].place();
    assert_eq!(world.nodes[1][0].got.get(&from), None);
    world.settle();
    assert_eq!(world.nodes[1][0].got.get(&from), Some(&5));
}

#[test]
fn what_a_rank_does_not_read_of_a_long_frame_is_gone_and_the_next_ones_come_whole() {
    for read in [0, 10, 9000] {
        let mut world = World::new(RANKS, (1 << 20, Way::Landing));
        (0..5).for_each(|_| world.nodes[0][0].post(0).expect("there is room"));
        world.nodes[0][0].pass(false);
        let from = world.nodes[0][0].place();
        let receiver = &mut world.nodes[1][0];
        receiver.pass(false);
        assert!(receiver.has_own, "the first one is long");
        let landed =
            receiver.core.land(0, &receiver.line, &mut |Piece { total, mut bytes, .. }| {
                assert_eq!(bytes.len() as u64, total);
                bytes.read(&mut vec![0; read]);
            });
        assert_eq!(landed, Ok(Landed::Pieces(4)));
        receiver.got.insert(from, 1);
        world.settle();
        assert_eq!(world.nodes[1][0].got.get(&from), Some(&5));
    }
}

/// What was taken was sent again with each grant, and took the room of the one piece that was not.
#[test]
fn a_grant_brings_what_is_missing_and_not_what_was_taken() {
    let mut world = World::new(RANKS, (8820, Way::Sealed));
    for (rank, count) in [(1, 25), (0, 19), (2, 21), (5, 32), (3, 32)] {
        (0..count).for_each(|_| world.nodes[0][rank].post(1).expect("there is room"));
    }
    assert!(finish(&mut world, &RANKS.map(|ranks| vec![false; usize::from(ranks) + 1])));
}

/// The end of a rank was told at once, and what its receiver had no room for came after it.
#[test]
fn a_rank_is_gone_for_another_when_that_has_taken_all_of_it() {
    let mut world = World::new(RANKS, (1 << 20, Way::Sealed));
    for rank in 0..6 {
        while world.nodes[0][rank].post(0).is_ok() {}
    }
    (0..6).for_each(|rank| world.nodes[0][6].core.end(rank));
    let mut gone = 0;
    while gone < 6 {
        world.nodes[0][6].pass(false);
        let receiver = &mut world.nodes[1][0];
        receiver.pass(false);
        receiver.take();
        let is_gone = |rank: &usize| receiver.core.is_gone(0, *rank);
        gone = 0;
        for rank in (0..6).filter(is_gone) {
            let from = Place { node: 0, rank: rank as u32 };
            assert_eq!(receiver.got.get(&from), Some(&GATEWAY_WINDOW), "from {from}");
            gone += 1;
        }
    }
    assert!((0..6).all(|rank| world.nodes[1][1].core.is_gone(0, rank)));
}

/// Half a frame may have left, or been taken: nobody goes on behind that.
#[test]
fn a_role_in_which_something_failed_ends_only_with_the_connection() {
    let mut world = World::new(RANKS, (1 << 20, Way::Bare));
    let process = &mut world.nodes[0][2];
    process.post(0).expect("there is room");
    process.line.line.shut();
    assert!(process.core.send(1, &process.line).is_err());
    let manner = Manner { is_patient: true, lands: false };
    assert!(process.core.receive(1, &process.line, manner).is_err());
    for role in [Endpoint::Sending, Endpoint::Receiving] {
        assert_eq!(process.core.holder(1, role), Some(2));
    }
    process.core.close(1, None);
    for role in [Endpoint::Sending, Endpoint::Receiving] {
        assert_eq!(process.core.holder(1, role), None);
    }
}

/// One thread waits at a spot while another one offers the processor at the next.
#[test]
fn who_has_shown_what_a_thread_waits_for_is_not_forgotten_before_it_has_looked() {
    let world = World::new(RANKS, (1 << 20, Way::Bare));
    let (core, other) = (&world.nodes[0][0].core, &world.nodes[0][1].core);
    let spots = [1, 2].map(|number| Spot { board: 0, number });
    let mut expected = Expected::default();
    spots.into_iter().for_each(|spot| expected.set(spot, [1].into_iter()));
    assert!(!expected.has_any(core));
    board::show(other, spots[0], 7, &[]);
    expected.forget_shown(core, spots[1]);
    assert!(expected.has_any(core));
    expected.forget_shown(core, spots[0]);
    assert!(expected.has_any(core), "all are there, and the thread has not looked");
    expected.forget(spots[0]);
    assert!(!expected.has_any(core));
}
