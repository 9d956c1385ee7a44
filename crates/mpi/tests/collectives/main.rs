//! Collectives of many ranks in one thread, against what the standard says the result is. The
//! carrier hands messages over in parts, and late, as dice say.

mod partitioned;
mod sys;
mod windows;

use muster_message::{Arrival, Carrier, Endpoint, Failure, Take};
use muster_mpi::buffer::{Memory, Typed};
use muster_mpi::collective::{Combination, Plan, Shape, Side};
use muster_mpi::datatype::{Datatype, Predefined};
use muster_mpi::group::Group;
use muster_mpi::op::{self, Op};
use muster_mpi::process::Process;
use proptest::prelude::*;
use std::cell::RefCell;
use std::collections::{BTreeSet, VecDeque};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use sys::{Door, Heap};

/// A message under way, and how much of it has been handed over.
type Flight = (Vec<u8>, usize);

/// What is under way between each two ranks.
struct Network {
    rows: Vec<Vec<VecDeque<Flight>>>,
    gone: BTreeSet<u32>,
    dice: u64,
}

impl Network {
    fn new(ranks: u32, dice: u64) -> Rc<RefCell<Network>> {
        let rows = || (0..ranks).map(|_| VecDeque::new()).collect();
        let rows = (0..ranks).map(|_| rows()).collect();
        Rc::new(RefCell::new(Network { rows, gone: BTreeSet::new(), dice }))
    }

    fn roll(&mut self, below: usize) -> usize {
        self.dice = self.dice.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.dice >> 33) as usize % below
    }
}

struct Queue {
    me: usize,
    network: Rc<RefCell<Network>>,
}

impl Carrier for Queue {
    fn send(&mut self, to: u32, head: &[u8], body: &[u8], offset: usize) -> Result<usize, Failure> {
        if let Some(failure) = self.is_gone(to) {
            return Err(failure);
        }
        let network = &mut *self.network.borrow_mut();
        if network.roll(4) == 0 {
            return Ok(0);
        }
        assert_eq!(offset, 0);
        network.rows[self.me][to as usize].push_back(([head, body].concat(), 0));
        Ok(head.len() + body.len())
    }

    fn take(&mut self, take: &mut impl Take) -> Result<bool, Failure> {
        let network = &mut *self.network.borrow_mut();
        let ranks = network.rows.len();
        let first = network.roll(ranks);
        for from in (0..ranks).map(|rank| (first + rank) % ranks) {
            let cut = 64 + network.roll(200);
            let row = &mut network.rows[from][self.me];
            let Some((bytes, offset)) = row.front_mut() else { continue };
            let end = bytes.len().min(*offset + cut);
            let (total, mut part) = (bytes.len(), &bytes[*offset..end]);
            take.take(Arrival::new(from as u32, total, *offset, &mut part));
            *offset = end;
            if end == total {
                row.pop_front();
            }
            return Ok(network.dice >> 40 & 1 == 0);
        }
        Ok(false)
    }

    fn wait(&mut self, _: &[u32], _: Duration) -> Result<(), Failure> {
        Ok(())
    }

    fn has_delivered(&mut self, _: Duration) -> Result<bool, Failure> {
        Ok(true)
    }

    fn offered_from(&self, _: u32) -> usize {
        5000
    }

    fn now(&self) -> Duration {
        Duration::ZERO
    }

    fn is_gone(&self, rank: u32) -> Option<Failure> {
        let is_gone = self.network.borrow().gone.contains(&rank);
        is_gone.then(|| killed(rank))
    }
}

/// That a rank is gone.
fn killed(rank: u32) -> Failure {
    Failure::Gone { rank, evidence: "killed".to_owned() }
}

/// Elements of eight bytes.
fn elements(numbers: &[i64]) -> Typed<Heap> {
    let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    let int64 = Datatype::of(Predefined::Int64).clone();
    Typed::new(Heap::new(&bytes), numbers.len(), int64).unwrap()
}

/// Their values.
fn numbers(elements: &Typed<Heap>) -> Vec<i64> {
    let bytes = elements.memory().bytes(0, elements.size());
    bytes.chunks(8).map(|word| i64::from_le_bytes(word.try_into().unwrap())).collect()
}

/// Carries out the plans that `plan` makes for each rank.
fn carry_out(ranks: u32, dice: u64, mut plan: impl FnMut(u32, &mut Plan<Heap>)) {
    let group = Group::all(ranks);
    let shape =
        |rank| Shape { context: 3, tag: 0, rank, size: ranks, group: group.clone(), remote: None };
    carry_out_all((0..ranks).map(shape).collect(), dice, |shape, own| plan(shape.rank, own));
}

/// Carries out plans between two groups: one of the even ranks of the job, as far as there are, and
/// one of the others. `plan` is told which group it makes one for.
fn carry_out_between(
    (left, right): (u32, u32),
    dice: u64,
    mut plan: impl FnMut(bool, u32, &mut Plan<Heap>),
) {
    let all = 0..left + right;
    let is_left = |rank: &u32| match rank / 2 >= left.min(right) {
        true => left > right,
        false => rank.is_multiple_of(2),
    };
    let (one, other): (Vec<u32>, Vec<u32>) = all.clone().partition(is_left);
    let groups = [Group::of(one).unwrap(), Group::of(other).unwrap()];
    let shape = |number: u32| {
        let at = usize::from(!is_left(&number));
        let (group, remote) = (groups[at].clone(), Some(groups[1 - at].clone()));
        let rank = group.rank_of(number).unwrap();
        Shape { context: 3, tag: 0, rank, size: group.size(), group, remote }
    };
    let shapes = all.map(shape).collect();
    carry_out_all(shapes, dice, |shape, own| {
        let is_left = is_left(&shape.group.world(0));
        plan(is_left, shape.rank, own);
    });
}

/// Carries out the plans of ranks that see the collective so, by their numbers in the job.
fn carry_out_all(shapes: Vec<Shape>, dice: u64, mut plan: impl FnMut(&Shape, &mut Plan<Heap>)) {
    let ranks = shapes.len();
    let network = Network::new(ranks as u32, dice);
    let mut all: Vec<_> = (0..)
        .zip(shapes)
        .map(|(number, shape)| {
            let carrier = Queue { me: number as usize, network: network.clone() };
            let mut own = Plan::new(shape.clone());
            plan(&shape, &mut own);
            (Endpoint::new(number, carrier), own)
        })
        .collect();
    // Some hundred bytes go each time.
    for _ in 0..100_000 {
        let mut all_done = true;
        for (endpoint, plan) in &mut all {
            endpoint.progress().unwrap();
            all_done &= plan.advance(endpoint).unwrap() && endpoint.is_flushed();
        }
        if all_done {
            return;
        }
    }
    panic!("ranks wait for each other for ever");
}

/// A receive of something else takes messages of a collective as well. Who then waited for that
/// slept until another message came, or for a second.
#[test]
fn a_collective_whose_last_message_another_call_took_is_progress() {
    let network = Network::new(2, 1);
    let plan = |rank, tag| {
        let group = Group::all(2);
        let mut plan = Plan::new(Shape { context: 3, tag, rank, size: 2, group, remote: None });
        plan.barrier();
        plan
    };
    let of = |rank| {
        let carrier = Queue { me: rank as usize, network: network.clone() };
        (Endpoint::<_, Typed<Heap>>::new(rank, carrier), plan(rank, 0))
    };
    let (mut other, mut barrier) = of(0);
    let _ = barrier.advance(&mut other).unwrap();
    while !other.is_flushed() {
        other.progress().unwrap();
    }
    let (endpoint, first) = of(1);
    let process: Process<Door, _, _> = Process::new(endpoint);
    let mut state = process.state();
    let began = state.begin(first);
    while !state.endpoint.is_flushed() || !network.borrow().rows[0][1].is_empty() {
        state.endpoint.progress().unwrap();
    }
    // To begin another one moves none on: there may be very many.
    let next = state.begin(plan(1, 1));
    assert!(state.poll(began).is_none() && state.poll(next).is_none());
    assert!(state.progress().unwrap(), "it has ended");
    assert!(state.poll(began).is_some_and(|ended| ended.is_ok()));
}

/// What rank `rank` begins with.
fn own(rank: u32, count: usize) -> Vec<i64> {
    (0..count).map(|at| i64::from(rank) * 1000 + at as i64 * 7 + 1).collect()
}

/// Composition of the functions `x -> a x + b` over the integers modulo 2^32, in pairs of 32 bits:
/// it is not commutative, so an order that is wrong is seen.
struct Compose;

fn compose(first: i64, second: i64) -> i64 {
    let parts = |number: i64| (number as u32, (number >> 32) as u32);
    let ((a, b), (c, d)) = (parts(first), parts(second));
    let (a, b) = (a.wrapping_mul(c), b.wrapping_mul(c).wrapping_add(d));
    i64::from(a) | i64::from(b) << 32
}

impl op::Function for Compose {
    fn call(&self, input: &[u8], inout: &mut [u8], _: usize, _: &Datatype) {
        let number = |bytes: &[u8]| i64::from_le_bytes(bytes.try_into().unwrap());
        for (first, second) in input.chunks(8).zip(inout.chunks_mut(8)) {
            let combined = compose(number(first), number(second));
            second.copy_from_slice(&combined.to_le_bytes());
        }
    }
}

/// An operation, and what it makes of two numbers.
fn operation(which: usize) -> (Combination, fn(i64, i64) -> i64) {
    let (op, combine): (Op, fn(i64, i64) -> i64) = match which {
        0 => (Op::Predefined(op::Predefined::Sum), i64::wrapping_add),
        1 => (Op::Predefined(op::Predefined::Max), i64::max),
        _ => (Op::User { function: Arc::new(Compose), commutative: false }, compose),
    };
    (Combination::new(&op, Datatype::of(Predefined::Int64)).unwrap(), combine)
}

/// What all ranks up to `last` have, combined in the order of ranks.
fn combined(last: u32, count: usize, combine: fn(i64, i64) -> i64) -> Vec<i64> {
    let all = (0..=last).map(|rank| own(rank, count));
    let combine_all = |one: Vec<i64>, other: Vec<i64>| {
        one.into_iter().zip(other).map(|(one, other)| combine(one, other)).collect()
    };
    all.reduce(combine_all).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn broadcast_gives_all_what_the_root_has(
        ranks in 1..20_u32,
        root in 0..20_u32,
        count in prop_oneof![9 => 0..900_usize, 1 => 40_000..50_000_usize],
        dice: u64,
    ) {
        let root = root % ranks;
        let all: Vec<_> = (0..ranks).map(|rank| elements(&own(rank, count))).collect();
        carry_out(ranks, dice, |rank, plan| plan.broadcast(root, &all[rank as usize]));
        for bytes in all {
            prop_assert_eq!(numbers(&bytes), own(root, count));
        }
    }

    #[test]
    fn nobody_leaves_a_barrier_before_all_have_come(ranks in 1..20_u32, dice: u64) {
        carry_out(ranks, dice, |_, plan| plan.barrier());
    }

    #[test]
    fn reductions_combine_in_the_order_of_ranks(
        ranks in 1..20_u32,
        root in 0..20_u32,
        count in 0..60_usize,
        which in 0..3_usize,
        dice: u64,
    ) {
        let root = root % ranks;
        let (op, combine) = operation(which);
        let from: Vec<_> = (0..ranks).map(|rank| elements(&own(rank, count))).collect();
        let into: Vec<_> = (0..ranks).map(|_| elements(&vec![0; count])).collect();
        let expected = combined(ranks - 1, count, combine);
        carry_out(ranks, dice, |rank, plan| {
            let place = (rank == root).then(|| &into[rank as usize]);
            plan.reduce(root, &op, &from[rank as usize], place);
        });
        prop_assert_eq!(numbers(&into[root as usize]), expected.clone());
        for (rank, bytes) in (0..).zip(&from) {
            prop_assert_eq!(numbers(bytes), own(rank, count), "what was sent is as it was");
        }
        carry_out(ranks, dice, |rank, plan| {
            let rank = rank as usize;
            plan.allreduce(&op, &from[rank], &into[rank]);
        });
        for bytes in &into {
            prop_assert_eq!(numbers(bytes), expected.clone());
        }
        carry_out(ranks, dice, |rank, plan| {
            let rank = rank as usize;
            plan.scan(&op, &from[rank], &into[rank]);
        });
        for (rank, bytes) in (0..).zip(&into) {
            prop_assert_eq!(numbers(bytes), combined(rank, count, combine));
        }
        carry_out(ranks, dice, |rank, plan| {
            let rank = rank as usize;
            plan.exscan(&op, &from[rank], &into[rank]);
        });
        for (rank, bytes) in (0..).zip(&into).skip(1) {
            prop_assert_eq!(numbers(bytes), combined(rank - 1, count, combine));
        }
    }

    #[test]
    fn reduce_scatter_gives_each_rank_its_part(
        ranks in 1..12_u32,
        counts in prop::collection::vec(0..5_usize, 12),
        times in prop::sample::select(vec![1_usize, 200]),
        which in 0..3_usize,
        dice: u64,
    ) {
        let counts: Vec<usize> = counts[..ranks as usize].iter().map(|n| n * times).collect();
        let counts = &counts[..];
        let count: usize = counts.iter().sum();
        let (op, combine) = operation(which);
        let from: Vec<_> = (0..ranks).map(|rank| elements(&own(rank, count))).collect();
        let into: Vec<_> = counts.iter().map(|count| elements(&vec![0; *count])).collect();
        carry_out(ranks, dice, |rank, plan| {
            let rank = rank as usize;
            plan.reduce_scatter(&op, &from[rank], counts, &into[rank]);
        });
        let got: Vec<i64> = into.iter().flat_map(numbers).collect();
        prop_assert_eq!(got, combined(ranks - 1, count, combine));
    }

    #[test]
    fn all_have_a_row_of_what_all_have(
        ranks in 1..18_u32,
        count in prop::sample::select(vec![0_usize, 1, 40, 700]),
        in_place: bool,
        dice: u64,
    ) {
        let all: Vec<_> = (0..ranks).map(|_| elements(&vec![0; count * ranks as usize])).collect();
        let from: Vec<_> = (0..ranks).map(|rank| elements(&own(rank, count))).collect();
        for (rank, (all, from)) in all.iter().zip(&from).enumerate() {
            if in_place {
                from.clone().copy_to(all.part(rank * count, count)).unwrap();
            }
        }
        carry_out(ranks, dice, |rank, plan| {
            let from = (!in_place).then(|| &from[rank as usize]);
            plan.allgather_row(from, &all[rank as usize]);
        });
        let expected: Vec<i64> = (0..ranks).flat_map(|rank| own(rank, count)).collect();
        for bytes in &all {
            prop_assert_eq!(&numbers(bytes), &expected);
        }
    }

    #[test]
    fn all_have_what_all_have_where_each_has_its_own_length(
        ranks in 1..18_u32,
        counts in prop::collection::vec(0..5_usize, 18),
        times in prop::sample::select(vec![1_usize, 60, 700]),
        in_place: bool,
        dice: u64,
    ) {
        let counts: Vec<usize> = counts[..ranks as usize].iter().map(|n| n * times).collect();
        let own_of = |rank: u32| own(rank, counts[rank as usize]);
        // The last rank's part first, with a gap behind each.
        let places = |all: &Typed<Heap>| {
            let mut end = all.count();
            let place = |count: &usize| {
                end -= count + 1;
                all.part(end, *count)
            };
            counts.iter().map(place).collect::<Vec<_>>()
        };
        let room = counts.iter().sum::<usize>() + counts.len();
        let all: Vec<_> = (0..ranks).map(|_| elements(&vec![-1; room])).collect();
        let all: Vec<_> = all.iter().map(places).collect();
        let from: Vec<_> = (0..ranks).map(|rank| elements(&own_of(rank))).collect();
        for (rank, from) in from.iter().enumerate() {
            if in_place {
                from.clone().copy_to(all[rank][rank].clone()).unwrap();
            }
        }
        carry_out(ranks, dice, |rank, plan| {
            let from = (!in_place).then(|| &from[rank as usize]);
            plan.allgather(from, &all[rank as usize]);
        });
        for places in &all {
            for (rank, bytes) in (0..).zip(places) {
                prop_assert_eq!(numbers(bytes), own_of(rank));
                prop_assert_eq!(numbers(&bytes.part(bytes.count(), 1)), vec![-1]);
            }
        }
    }

    #[test]
    fn gather_scatter_and_alltoall_put_everything_where_it_belongs(
        ranks in 1..12_u32,
        root in 0..12_u32,
        count in 0..5_usize,
        dice: u64,
    ) {
        let root = root % ranks;
        let every = |rank: u32| {
            (0..ranks).map(move |other| elements(&own(rank * 100 + other, count)))
        };
        let places = || -> Vec<_> { (0..ranks).map(|_| elements(&vec![0; count])).collect() };
        let from: Vec<_> = (0..ranks).map(|rank| elements(&own(rank, count))).collect();

        let into = places();
        carry_out(ranks, dice, |rank, plan| plan.gather(root, Some(&from[rank as usize]), &into));
        for (rank, bytes) in (0..).zip(&into) {
            prop_assert_eq!(numbers(bytes), own(rank, count));
        }
        let back = places();
        carry_out(ranks, dice, |rank, plan| {
            plan.scatter(root, &into, Some(&back[rank as usize]));
        });
        for (rank, bytes) in (0..).zip(&back) {
            prop_assert_eq!(numbers(bytes), own(rank, count));
        }
        let all: Vec<_> = (0..ranks).map(|_| places()).collect();
        carry_out(ranks, dice, |rank, plan| {
            let rank = rank as usize;
            plan.allgather(Some(&from[rank]), &all[rank]);
        });
        for places in &all {
            for (rank, bytes) in (0..).zip(places) {
                prop_assert_eq!(numbers(bytes), own(rank, count));
            }
        }
        let sent: Vec<Vec<_>> = (0..ranks).map(|rank| every(rank).collect()).collect();
        carry_out(ranks, dice, |rank, plan| {
            let rank = rank as usize;
            plan.alltoall(&sent[rank], &all[rank]);
        });
        carry_out(ranks, dice, |rank, plan| plan.alltoall_in_place(&sent[rank as usize]));
        for places in [&all, &sent] {
            for (rank, places) in (0..).zip(places) {
                for (other, bytes) in (0..).zip(places) {
                    prop_assert_eq!(numbers(bytes), own(other * 100 + rank, count));
                }
            }
        }
    }

    #[test]
    fn between_two_groups_each_gets_what_the_other_has(
        left in 1..7_u32,
        right in 1..7_u32,
        root in 0..7_u32,
        count in 0..5_usize,
        which in 0..3_usize,
        dice: u64,
    ) {
        let (root, groups, (op, combine)) = (root % left, (left, right), operation(which));
        let sizes = [left, right];
        let of = |is_left: bool| usize::from(!is_left);
        // What each rank has, and room for as much of each of the others.
        let have = [left, right].map(|ranks| -> Vec<_> {
            (0..ranks).map(|rank| elements(&own(rank, count))).collect()
        });
        let room = |ranks: u32, others: u32| -> Vec<Vec<Typed<Heap>>> {
            let places = || (0..others).map(|_| elements(&vec![0; count])).collect();
            (0..ranks).map(|_| places()).collect()
        };
        let rooms = || [room(left, right), room(right, left)];

        let into = rooms();
        carry_out_between(groups, dice, |is_left, rank, plan| {
            let (at, rank) = (of(is_left), rank as usize);
            plan.allgather_between(&have[at][rank], &into[at][rank]);
        });
        for places in into.iter().flatten() {
            for (rank, bytes) in (0..).zip(places) {
                prop_assert_eq!(numbers(bytes), own(rank, count));
            }
        }
        // The first place of each gets the result of a reduction.
        let into = rooms();
        carry_out_between(groups, dice, |is_left, rank, plan| {
            let (at, rank) = (of(is_left), rank as usize);
            plan.allreduce_between(&op, &have[at][rank], &into[at][rank][0]);
        });
        for (at, places) in into.iter().enumerate() {
            for places in places {
                let expected = combined(sizes[1 - at] - 1, count, combine);
                prop_assert_eq!(numbers(&places[0]), expected);
            }
        }
        // The root is on the left: it gathers and reduces, and all opposite get what it has.
        let (all, sum) = (room(1, right).remove(0), elements(&vec![0; count]));
        let told = room(right, 1);
        carry_out_between(groups, dice, |is_left, rank, plan| {
            let side = match is_left {
                true if rank == root => Side::Root,
                true => Side::Beside,
                false => Side::Opposite(root),
            };
            let from = have[of(is_left)].get(rank as usize);
            plan.barrier_between();
            plan.gather_between(side, from, &all);
            plan.reduce_between(side, &op, from, (side == Side::Root).then_some(&sum));
            let bytes = match is_left {
                true => &have[0][rank as usize],
                false => &told[rank as usize][0],
            };
            plan.broadcast_between(side, bytes);
        });
        for (rank, bytes) in (0..).zip(&all) {
            prop_assert_eq!(numbers(bytes), own(rank, count));
        }
        prop_assert_eq!(numbers(&sum), combined(right - 1, count, combine));
        for bytes in told.iter().flatten() {
            prop_assert_eq!(numbers(bytes), own(root, count));
        }
    }

    #[test]
    fn what_one_group_has_combined_is_shared_out_in_the_other(
        left in 1..6_u32,
        right in 1..6_u32,
        each in 0..3_usize,
        dice: u64,
    ) {
        let (op, combine) = operation(2);
        let count = (left * right) as usize * each;
        let sizes = [left, right];
        let have = sizes.map(|ranks| -> Vec<_> {
            (0..ranks).map(|rank| elements(&own(rank, count))).collect()
        });
        let into = sizes.map(|ranks| -> Vec<_> {
            (0..ranks).map(|_| elements(&vec![0; count / ranks as usize])).collect()
        });
        carry_out_between((left, right), dice, |is_left, rank, plan| {
            let (at, rank) = (usize::from(!is_left), rank as usize);
            let counts = vec![count / sizes[at] as usize; sizes[at] as usize];
            plan.reduce_scatter_between(&op, &have[at][rank], &counts, &into[at][rank]);
        });
        for (at, parts) in into.iter().enumerate() {
            let got: Vec<i64> = parts.iter().flat_map(numbers).collect();
            prop_assert_eq!(got, combined(sizes[1 - at] - 1, count, combine));
        }
    }
}

/// A reduction to all ranks in place is right on each.
fn all_have_what_all_combined(ranks: u32, count: usize, which: usize, dice: u64) {
    let (op, combine) = operation(which);
    let all: Vec<_> = (0..ranks).map(|rank| elements(&own(rank, count))).collect();
    carry_out(ranks, dice, |rank, plan| {
        let bytes = &all[rank as usize];
        plan.allreduce(&op, bytes, bytes);
    });
    for bytes in &all {
        assert_eq!(numbers(bytes), combined(ranks - 1, count, combine));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(15))]

    #[test]
    fn long_reductions_of_all_are_right(
        ranks in 1..12_u32,
        count in prop::sample::select(vec![513_usize, 4096, 12_289, 33_000, 100_000]),
        which in 0..3_usize,
        dice: u64,
    ) {
        all_have_what_all_combined(ranks, count, which, dice);
    }

    #[test]
    fn very_long_reductions_of_all_are_right(
        ranks in prop::sample::select(vec![3_u32, 5, 6]),
        more in 0..9_usize,
        which in 0..3_usize,
        dice: u64,
    ) {
        let count = ranks as usize * ((256 << 10) / 8) + more;
        all_have_what_all_combined(ranks, count, which, dice);
    }

    #[test]
    fn what_is_combined_in_segments_is_combined_in_the_order_of_ranks(
        ranks in 1..9_u32,
        root in 0..9_u32,
        count in 66_000..150_000_usize,
        which in 0..3_usize,
        dice: u64,
    ) {
        let root = root % ranks;
        let (op, combine) = operation(which);
        let from: Vec<_> = (0..ranks).map(|rank| elements(&own(rank, count))).collect();
        let into = elements(&vec![0; count]);
        carry_out(ranks, dice, |rank, plan| {
            plan.reduce(root, &op, &from[rank as usize], (rank == root).then_some(&into));
        });
        prop_assert_eq!(numbers(&into), combined(ranks - 1, count, combine));
        let all: Vec<_> = (0..ranks).map(|_| elements(&vec![0; count])).collect();
        carry_out(ranks, dice, |rank, plan| {
            plan.exscan(&op, &from[rank as usize], &all[rank as usize]);
        });
        for (rank, bytes) in (0..).zip(&all).skip(1) {
            prop_assert_eq!(numbers(bytes), combined(rank - 1, count, combine));
        }
        // In place.
        carry_out(ranks, dice, |rank, plan| {
            plan.scan(&op, &from[rank as usize], &from[rank as usize]);
        });
        for (rank, bytes) in (0..).zip(&from) {
            prop_assert_eq!(numbers(bytes), combined(rank, count, combine));
        }
    }
}
