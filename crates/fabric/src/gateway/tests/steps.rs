//! A rank that is frozen or killed before each of its accesses to the segment and the socket.

use super::*;
use crate::gateway::board::{self, Spot};
use crate::gateway::layout::Endpoint;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// What the rank does until it is stopped: it sends, lets the gateway get on, and takes.
fn script(rank: &mut Process) {
    for to in [0, 1, 0] {
        rank.post(to).expect("there is room");
        assert!(rank.send(1));
        rank.pass(true);
        while rank.take() {}
    }
}

/// What a world is like: its connection, what ranks of a node say to each other and how often, and
/// whether they are told that the other one's copies are slow.
#[derive(Clone, Copy)]
struct Kind {
    way: Way,
    near: (Sizes, u64),
    is_slow: bool,
}

/// Long pieces in chunks, a single one, and several.
const LONG: (Sizes, u64) = ([70_000, 500, 20_000, 8], 3);

/// All of them: what is near does not depend on the connection.
fn kinds(is_slow: bool) -> impl Iterator<Item = Kind> {
    let short = |way| Kind { way, near: (SHORT, 18), is_slow: false };
    WAYS.into_iter().map(short).chain([Kind { way: Way::Sealed, near: LONG, is_slow }])
}

/// Two nodes of two ranks, with something under way to everybody.
fn world(kind: Kind) -> World {
    let Kind { way, near: (sizes, count), is_slow } = kind;
    let mut world = World::new([2, 2], (if way == Way::Sealed { 4096 } else { 40_000 }, way));
    for process in world.nodes.iter_mut().flatten() {
        process.near_sizes = sizes;
        if is_slow {
            process.near.be_slow(&process.core);
        }
    }
    for node in 0..2 {
        for rank in 0..2 {
            for to in [0, 1, 1, 0] {
                world.nodes[node][rank].post(to).expect("there is room");
            }
            (0..count).for_each(|_| assert!(world.nodes[node][rank].send(1 - rank)));
        }
    }
    // So that slots, words and the socket have been used before.
    world.nodes[1][0].pass(true);
    world.nodes[0][1].pass(true);
    world.nodes[1][1].pass(true);
    for to in [0, 1] {
        world.nodes[1][0].post(to).expect("there is room");
        world.nodes[1][1].post(to).expect("there is room");
    }
    world.nodes[1][1].pass(true);
    world
}

/// The daemon sees that a role is kept.
fn is_kept(world: &World) -> bool {
    let daemon = &world.nodes[0][2];
    [Endpoint::Sending, Endpoint::Receiving]
        .iter()
        .any(|role| daemon.core.holder(1, *role) == Some(0))
}

/// All messages between those that go on have come, each once.
fn check(world: &World, steps: usize, is_all: bool) {
    for (node, rank) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        let from = &world.nodes[node][rank];
        for (to, sent) in &from.sent {
            let receiver = &world.nodes[to.node as usize][to.rank as usize];
            let got = receiver.got.get(&from.place()).copied().unwrap_or(0);
            let of_subject = [from.place(), *to].contains(&Place { node: 0, rank: 0 });
            if is_all || !of_subject {
                assert_eq!(got, *sent, "from {} to {to} after {steps} steps", from.place());
            } else {
                assert!(got <= *sent);
            }
        }
    }
}

/// Runs the script for so many steps in a thread of its own, and others beside it; whether it was
/// stopped.
fn freeze(steps: usize, kind: Kind) -> bool {
    let mut world = world(kind);
    let mut subject = world.nodes[0].remove(0);
    let (memory, line) = (subject.core.memory.memory.clone(), subject.line.line.clone());
    let near_sizes = subject.near_sizes;
    let stand_in = Process::new(&memory, &subject.core.layout, 0, &line);
    let brake = subject.brake();
    brake.lock().then = Then::Freeze;
    brake.set(steps, false);
    let was_stopped = std::thread::scope(|scope| {
        let running = scope.spawn(|| {
            script(&mut subject);
            brake.set(usize::MAX, true);
        });
        brake.wait();
        let was_stopped = brake.lock().left == 0;
        // A dummy in its place, which does nothing: its sends are the subject's.
        world.nodes[0].insert(0, Process { near_sizes, ..stand_in });
        if was_stopped {
            if is_kept(&world) {
                world.reconnect();
            }
            go_on(&mut world, kind.near.1);
        }
        // It wakes, and finishes what it was doing, with whatever connection it had.
        brake.set(usize::MAX, false);
        running.join().unwrap_or_else(|cause| resume_unwind(cause));
        was_stopped
    });
    subject.line.line = world.nodes[0][1].line.line.clone();
    world.nodes[0][0] = subject;
    world.settle();
    check(&world, steps, true);
    was_stopped
}

/// While one is stopped, all others get everything that is for them.
fn go_on(world: &mut World, near: u64) {
    for _ in 0..20 {
        for (node, process) in [(0, 1), (0, 2), (1, 0), (1, 1), (1, 2)] {
            let process = &mut world.nodes[node][process];
            process.pass(false);
            while process.core.me < 2 && process.take() {}
        }
    }
    let others = [
        ((0, 1), (1, 0), 2),
        ((0, 1), (1, 1), 2),
        ((1, 0), (0, 1), 3),
        ((1, 1), (0, 1), 3),
        ((1, 0), (1, 1), near),
        ((1, 1), (1, 0), near),
    ];
    for ((node, rank), (there, to), sent) in others {
        let from = world.nodes[node][rank].place();
        let got = world.nodes[there][to].got.get(&from).copied();
        assert_eq!(got, Some(sent), "from {from} to rank {to} of node {there}");
    }
}

fn kill(steps: usize, kind: Kind) -> bool {
    let mut world = world(kind);
    let brake = world.nodes[0][0].brake();
    brake.set(steps, false);
    let ended = catch_unwind(AssertUnwindSafe(|| script(&mut world.nodes[0][0])));
    let was_killed = match ended {
        Ok(()) => false,
        Err(cause) if cause.is::<Killed>() => true,
        Err(cause) => resume_unwind(cause),
    };
    brake.set(usize::MAX, false);
    let is_kept = is_kept(&world);
    let daemon = &world.nodes[0][2];
    daemon.core.end(0);
    if is_kept {
        world.reconnect();
    }
    go_on(&mut world, kind.near.1);
    let gone = Place { node: 0, rank: 0 };
    assert!(world.nodes[0][1].core.is_over(0), "rank 1 knows that {gone} has ended");
    for (node, rank) in [(1, 0), (1, 1), (0, 1)] {
        let process = &world.nodes[node][rank];
        let is_gone = node == 0 || process.core.is_gone(0, 0);
        assert!(is_gone, "{} knows that {gone} has ended", process.place());
        // All that it had posted has come; of the last it may have counted one too many.
        let got = process.got.get(&gone).copied().unwrap_or(0);
        let sent = world.nodes[0][0].sent[&process.place()];
        assert!(got == sent || got + 1 == sent && was_killed, "{got} of {sent}");
    }
    check(&world, steps, false);
    was_killed
}

/// A rank is killed after so many steps of a send, and its daemon stopped after so many of seeing
/// to it; whether both were.
fn end(steps: usize, seen_to: usize) -> bool {
    let mut world = World::new([2, 1], (4096, Way::Sealed));
    let mut stopped = |process: usize, steps: usize, does: &dyn Fn(&mut Process)| {
        let process = &mut world.nodes[0][process];
        let brake = process.brake();
        brake.set(steps, false);
        let ended = catch_unwind(AssertUnwindSafe(|| does(process)));
        brake.set(usize::MAX, false);
        ended.is_err()
    };
    let was_killed = stopped(0, steps, &|rank| assert!(rank.send(1)));
    let was_stopped = stopped(2, seen_to, &|daemon| daemon.core.end(0));
    let rank = &mut world.nodes[0][1];
    if rank.core.is_over(0) {
        while rank.take() {}
        let got = rank.got.clone();
        world.nodes[0][2].core.end(0);
        let rank = &mut world.nodes[0][1];
        while rank.take() {}
        assert_eq!(rank.got, got, "killed after {steps} steps, seen to after {seen_to}");
    }
    was_killed && was_stopped
}

#[test]
fn who_knows_that_a_rank_of_its_node_has_ended_finds_all_that_it_had_sent() {
    quietly(|| {
        for seen_to in 0..8 {
            let mut steps = 0;
            while end(steps, seen_to) {
                steps += 1;
            }
            assert!(steps > 3, "there are more steps than {steps}");
        }
    });
}

/// What a rank shows as this number.
fn shown(rank: usize, number: u32) -> [u8; 44] {
    std::array::from_fn(|at| (at * 5 + rank * 3) as u8 ^ number as u8)
}

/// Whether a rank sees what the other shows there; then it sees all of it.
fn sees(core: &Core<Stepping>, number: u32) -> bool {
    let (other, spot) = (1 - core.me, Spot { board: 3, number });
    let Some(label) = board::label(core, other, spot) else { return false };
    let mut bytes = [0; 44];
    board::read(core, other, spot, &mut bytes);
    assert_eq!((label, bytes), (number + 7, shown(other, number)), "{number} of rank {other}");
    true
}

fn show(core: &Core<Stepping>, number: u32) {
    board::show(core, Spot { board: 3, number }, number + 7, &shown(core.me, number));
}

/// A rank that shows something, looks at what the other shows and says that it has, is killed after
/// so many steps; whether it was. It says so of no more than it has seen.
fn show_and_die(steps: usize) -> bool {
    let world = World::new([2, 1], (4096, Way::Sealed));
    let [subject, other] = [0, 1].map(|rank| &world.nodes[0][rank].core);
    let leave = |core, number| board::leave(core, Spot { board: 3, number });
    let has_left = |number| board::has_left(other, 0, Spot { board: 3, number });
    // Both places have been used before.
    for number in [1, 2] {
        [subject, other].into_iter().for_each(|core| show(core, number));
        assert!(sees(subject, number) && sees(other, number));
        [subject, other].into_iter().for_each(|core| leave(core, number));
    }
    [3, 4].into_iter().for_each(|number| show(other, number));
    let taken = std::cell::Cell::new(2);
    let brake = world.nodes[0][0].brake();
    brake.set(steps, false);
    let ended = catch_unwind(AssertUnwindSafe(|| {
        for number in [3, 4] {
            show(subject, number);
            assert!(sees(subject, number));
            taken.set(number);
            leave(subject, number);
        }
    }));
    brake.set(usize::MAX, false);
    if let Err(cause) = ended
        && !cause.is::<Killed>()
    {
        resume_unwind(cause);
    }
    let was_killed = taken.get() < 4 || !has_left(4);
    assert!((1..=5).all(|number| !has_left(number) || number <= taken.get()));
    let seen = [3, 4].map(|number| sees(other, number));
    assert!(seen[0] || !seen[1] && taken.get() < 3, "what it has taken it had shown before");
    assert!(seen[1] || taken.get() < 4);
    was_killed
}

#[test]
fn who_sees_what_a_rank_shows_sees_all_of_it_wherever_that_one_is_killed() {
    quietly(|| {
        let mut steps = 0;
        while show_and_die(steps) {
            steps += 1;
        }
        assert!(steps > 20, "there are more steps than {steps}");
    });
}

#[test]
fn others_go_on_wherever_a_rank_is_frozen_and_nothing_breaks_when_it_wakes() {
    for kind in kinds(false) {
        let mut steps = 0;
        while freeze(steps, kind) {
            steps += 1;
        }
        assert!(steps > 500, "there are more steps than {steps}");
    }
}

#[test]
fn others_go_on_wherever_a_rank_is_killed_and_what_it_had_sent_arrives() {
    quietly(|| {
        for kind in kinds(true) {
            let mut steps = 0;
            while kill(steps, kind) {
                steps += 1;
            }
            assert!(steps > 500, "there are more steps than {steps}");
        }
    });
}
