//! Windows of many ranks in one thread.

use super::{Network, Queue, elements, killed, numbers};
use crate::sys::Heap;
use muster_message::Endpoint;
use muster_mpi::buffer::{Memory, Typed};
use muster_mpi::datatype::{Datatype, Predefined};
use muster_mpi::error::Class;
use muster_mpi::group::Group;
use muster_mpi::op;
use muster_mpi::window::{Access, Place, Region, Shape, Try, Window, Windows, room_of_lock};
use proptest::prelude::*;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

const CONTEXT: u64 = 6;

/// What a rank does next.
enum Step {
    Lock(bool),
    /// Adds one to what it has read before of slot 0, and writes that.
    Increment,
    Read(i64),
    /// The same by an accumulation that changes nothing, which comes behind others in its order.
    Fetch(i64),
    Write(i64, i64),
    Add(i64, i64),
    /// Replaces two slots by one element that no atom is.
    Replace(i64, i64),
    Unlock,
    /// What it has read is this.
    Is(i64),
}

/// A rank: what it waits for, what it has read, what it is to do.
struct Rank {
    endpoint: Endpoint<Queue, Typed<Heap>>,
    windows: Windows<Heap>,
    waits: Vec<Access>,
    /// The lock where it lies that it waits for, and whether it is to have that alone.
    waits_for: Option<bool>,
    read: Typed<Heap>,
    steps: VecDeque<Step>,
}

impl Rank {
    /// Does what it can; whether it has done all.
    fn go_on(&mut self, target: u32) -> bool {
        self.endpoint.progress().unwrap();
        let moved = self.windows.advance(&mut self.endpoint).unwrap();
        let (window, endpoint) = (self.windows.get(CONTEXT).unwrap(), &mut self.endpoint);
        while let Some(access) = self.waits.last() {
            let Some(ended) = window.poll(*access, |_| None) else { return false };
            ended.unwrap();
            self.waits.pop();
        }
        if let Some(is_exclusive) = self.waits_for {
            // Whoever gives the lock back has to say so.
            if !moved || !window.has_lock(endpoint, target, is_exclusive).unwrap() {
                return false;
            }
            self.waits_for = None;
        }
        let Some(step) = self.steps.pop_front() else { return endpoint.is_flushed() };
        let datatype = Datatype::of(Predefined::Int64);
        let at = |displacement| Place { target, displacement, count: 1, datatype };
        match step {
            Step::Lock(is_exclusive) => match window.try_lock(endpoint, target, is_exclusive) {
                Ok(Try::Taken) => {}
                Ok(Try::Busy) => {
                    window.wait_for_lock(target).unwrap();
                    let has = window.has_lock(endpoint, target, is_exclusive).unwrap();
                    self.waits_for = (!has).then_some(is_exclusive);
                }
                _ => {
                    self.waits.extend(window.lock(endpoint, target, (is_exclusive, true)).unwrap());
                }
            },
            Step::Read(slot) => {
                self.read = elements(&[-1]);
                window.get(endpoint, &at(slot), self.read.clone(), false).unwrap();
                self.waits = window.flush(endpoint, Some(target));
            }
            Step::Fetch(slot) => {
                self.read = elements(&[-1]);
                let none = (op::Predefined::NoOp, Typed::nothing());
                let into = Some(self.read.clone());
                window.accumulate(endpoint, &at(slot), none, into, false).unwrap();
                self.waits = window.flush(endpoint, Some(target));
            }
            Step::Increment => {
                let next = elements(&[numbers(&self.read)[0] + 1]);
                window.put(endpoint, &at(0), next).unwrap();
            }
            Step::Write(slot, value) => {
                window.put(endpoint, &at(slot), elements(&[value])).unwrap();
            }
            Step::Add(slot, value) => {
                let from = (op::Predefined::Sum, elements(&[value]));
                window.accumulate(endpoint, &at(slot), from, None, false).unwrap();
            }
            Step::Replace(slot, value) => {
                let datatype = Datatype::of(Predefined::Real16);
                let both = elements(&[value, 0]);
                let from = Typed::new(both.memory().clone(), 1, datatype.clone()).unwrap();
                let place = Place { datatype, ..at(slot) };
                let from = (op::Predefined::Replace, from);
                window.accumulate(endpoint, &place, from, None, false).unwrap();
            }
            Step::Unlock => self.waits = window.unlock(endpoint, target).unwrap(),
            Step::Is(value) => assert_eq!(numbers(&self.read), [value]),
        }
        false
    }
}

/// Ranks that work on rank 0's memory, which the first `near` have at an address of theirs; what
/// carries their messages, and that memory.
fn ranks_of(
    (ranks, near): (u32, u32),
    dice: u64,
    steps: impl Fn(u32) -> Vec<Step>,
) -> (Vec<Rank>, Rc<RefCell<Network>>, Typed<Heap>) {
    let slots = 2 * ranks as usize + 2;
    let network = Network::new(ranks, dice);
    let memory = elements(&vec![0; slots]);
    let locks: Vec<_> = (0..near).map(|_| Heap::scratch(room_of_lock(ranks))).collect();
    let rank = |rank: u32| {
        let carrier = Queue { me: rank as usize, network: network.clone() };
        let size = if rank == 0 { memory.size() } else { 0 };
        let region = Region { start: 0, size, memory: memory.memory().clone() };
        let sizes = (0..ranks).map(|rank| if rank == 0 { memory.size() as u64 } else { 0 });
        let shape = Shape {
            context: CONTEXT,
            group: Group::all(ranks),
            rank,
            sizes: Some(sizes.collect()),
            units: vec![8; ranks as usize],
        };
        let mut windows = Windows::default();
        let mut window = Window::new(shape, Some(region));
        if rank < near {
            // Each of them knows where the others' memory lies; what has no bytes is anywhere.
            (0..near).for_each(|other| window.lies_at(other, memory.memory().clone()));
            (0..).zip(&locks).for_each(|(of, lock)| window.lock_lies_at(of, lock.clone()));
        }
        windows.add(window);
        let (read, steps) = (elements(&[0]), steps(rank).into());
        let (waits, waits_for) = (Vec::new(), None);
        Rank { endpoint: Endpoint::new(rank, carrier), windows, waits, waits_for, read, steps }
    };
    ((0..ranks).map(rank).collect(), network.clone(), memory.clone())
}

/// Lets all ranks do their steps; what rank 0's memory is then.
fn memory_after(shape: (u32, u32), dice: u64, steps: impl Fn(u32) -> Vec<Step>) -> Vec<i64> {
    let (mut all, _, memory) = ranks_of(shape, dice, steps);
    for _ in 0..200_000 {
        let mut all_done = true;
        for rank in &mut all {
            all_done &= rank.go_on(0);
        }
        if all_done {
            return numbers(&memory);
        }
    }
    panic!("ranks wait for each other for ever");
}

/// Lets ranks do what they can.
fn go_on(all: &mut [Rank]) {
    for _ in 0..1000 {
        for rank in &mut *all {
            rank.go_on(0);
        }
    }
}

#[test]
fn a_lock_goes_to_the_next_also_if_who_gave_it_back_was_gone_before_it_said_so() {
    let steps = |rank| match rank {
        1 => vec![Step::Lock(true)],
        2 => vec![Step::Lock(true), Step::Write(0, 7), Step::Unlock],
        _ => Vec::new(),
    };
    // The second has the lock before the third, which is elsewhere, asks for it.
    let (mut all, network, memory) = ranks_of((3, 2), 0, steps);
    go_on(&mut all[..2]);
    go_on(&mut all);
    assert_eq!(numbers(&memory)[0], 0);
    all[1].steps.push_back(Step::Unlock);
    all[1].go_on(0);
    network.borrow_mut().rows[1].iter_mut().for_each(VecDeque::clear);
    all.remove(1);
    go_on(&mut all);
    assert_eq!(numbers(&memory)[0], 7);
}

#[test]
fn who_waits_where_a_lock_lies_needs_nothing_of_its_owner() {
    let steps = |rank| match rank {
        1 => vec![Step::Lock(true)],
        _ => vec![Step::Lock(true), Step::Write(0, 7), Step::Unlock],
    };
    let (mut all, _, memory) = ranks_of((3, 3), 0, steps);
    go_on(&mut all[1..2]);
    go_on(&mut all[1..]);
    assert_eq!(numbers(&memory)[0], 0);
    all[1].steps.push_back(Step::Unlock);
    go_on(&mut all[1..]);
    assert_eq!(numbers(&memory)[0], 7);
}

#[test]
fn a_lock_that_comes_to_one_who_was_killed_while_it_waited_comes_to_the_next() {
    let steps = |rank| match rank {
        3 => vec![Step::Lock(true), Step::Write(0, 7), Step::Unlock],
        _ => vec![Step::Lock(true)],
    };
    let (mut all, network, memory) = ranks_of((4, 0), 0, steps);
    all[0].steps.clear();
    go_on(&mut all[..2]);
    go_on(&mut all[..3]);
    network.borrow_mut().gone.insert(2);
    all.remove(2);
    all[1].steps.push_back(Step::Unlock);
    go_on(&mut all[..2]);
    go_on(&mut all);
    assert_eq!(numbers(&memory)[0], 7);
}

#[test]
fn a_lock_that_is_kept_for_one_who_was_killed_is_refused_to_nobody() {
    let steps = |rank| match rank {
        4 => vec![Step::Lock(true), Step::Write(0, 7), Step::Unlock],
        _ => vec![Step::Lock(true)],
    };
    // The second waits where the lock lies, the last two are elsewhere.
    let (mut all, network, memory) = ranks_of((5, 3), 0, steps);
    all[0].steps.clear();
    go_on(&mut all[1..2]);
    go_on(&mut all[1..3]);
    network.borrow_mut().gone.insert(2);
    all.remove(2);
    go_on(&mut all[..3]);
    for holder in 1..3 {
        all[holder].steps.push_back(Step::Unlock);
        go_on(&mut all[..=holder]);
        go_on(&mut all);
    }
    assert_eq!(numbers(&memory)[0], 7);
}

#[test]
fn an_answer_waits_for_no_long_request_of_who_has_given_it() {
    let (mut all, _, memory) = ranks_of((2, 0), 0, |_| Vec::new());
    all.iter_mut().for_each(|rank| rank.windows.get(CONTEXT).unwrap().epochs().fence(true));
    let datatype = Datatype::of(Predefined::Int64);
    let Rank { windows, endpoint, .. } = &mut all[0];
    let window = windows.get(CONTEXT).unwrap();
    let nothing = Place { target: 1, displacement: 0, count: 0, datatype };
    window.put(endpoint, &nothing, elements(&[])).unwrap();
    let asked = window.flush(endpoint, Some(1));
    go_on(&mut all[..1]);
    // So long that it comes only when it is asked for, all to one place.
    let Rank { windows, endpoint, .. } = &mut all[1];
    let datatype = &Datatype::hvector(1000, 1, 0, datatype).unwrap();
    let long = Place { target: 0, displacement: 0, count: 1, datatype };
    let put = windows.get(CONTEXT).unwrap().put(endpoint, &long, elements(&[7; 1000]));
    put.unwrap();
    go_on(&mut all[1..]);
    // The answer is there, and who has given it calls nothing any more.
    go_on(&mut all[..1]);
    let window = all[0].windows.get(CONTEXT).unwrap();
    assert_eq!(window.poll(asked[0], |_| None), Some(Ok(())));
    assert_eq!(numbers(&memory)[0], 0);
    go_on(&mut all);
    assert_eq!(numbers(&memory)[0], 7);
}

#[test]
fn who_was_to_be_waited_for_with_one_that_is_gone_is_waited_for_anew() {
    for has_posted in [true, false] {
        let (mut all, network, _) = ranks_of((3, 0), 0, |_| Vec::new());
        let post = |all: &mut [Rank]| {
            let Rank { windows, endpoint, .. } = &mut all[1];
            windows.get(CONTEXT).unwrap().post(endpoint, vec![0]).unwrap();
            go_on(&mut all[..2]);
        };
        network.borrow_mut().gone.insert(2);
        let gone = |rank| network.borrow().gone.contains(&rank).then(|| killed(rank));
        all[0].windows.get(CONTEXT).unwrap().start(vec![2, 1]).unwrap();
        if has_posted {
            post(&mut all);
        }
        let window = all[0].windows.get(CONTEXT).unwrap();
        let began = window.has_started(gone).map_err(|error| error.class);
        assert_eq!(began, Err(Class::ProcAborted));
        if !has_posted {
            post(&mut all);
        }
        let Rank { windows, endpoint, .. } = &mut all[0];
        windows.get(CONTEXT).unwrap().complete(endpoint).unwrap();
        go_on(&mut all[..2]);
        assert!(all[1].windows.get(CONTEXT).unwrap().has_completed(gone).unwrap());
        // Once more, without the one that is gone.
        all[0].windows.get(CONTEXT).unwrap().start(vec![1]).unwrap();
        assert!(!all[0].windows.get(CONTEXT).unwrap().has_started(gone).unwrap());
        post(&mut all);
        assert!(all[0].windows.get(CONTEXT).unwrap().has_started(gone).unwrap());
    }
}

#[test]
fn a_window_that_waited_for_one_who_is_gone_is_posted_again() {
    let (mut all, network, _) = ranks_of((3, 0), 0, |_| Vec::new());
    let gone = |rank| network.borrow().gone.contains(&rank).then(|| killed(rank));
    let epoch = |all: &mut [Rank], origins: Vec<u32>| {
        let Rank { windows, endpoint, .. } = &mut all[1];
        windows.get(CONTEXT).unwrap().post(endpoint, origins).unwrap();
        all[0].windows.get(CONTEXT).unwrap().start(vec![1]).unwrap();
        go_on(&mut all[..2]);
        assert!(all[0].windows.get(CONTEXT).unwrap().has_started(gone).unwrap());
    };
    let complete = |all: &mut [Rank]| {
        let Rank { windows, endpoint, .. } = &mut all[0];
        windows.get(CONTEXT).unwrap().complete(endpoint).unwrap();
        go_on(&mut all[..2]);
    };
    epoch(&mut all, vec![2, 0]);
    network.borrow_mut().gone.insert(2);
    let window = all[1].windows.get(CONTEXT).unwrap();
    let waited = window.has_completed(gone).map_err(|error| error.class);
    assert_eq!(waited, Err(Class::ProcAborted));
    complete(&mut all);
    // The end of the epoch before is not that of this one.
    epoch(&mut all, vec![0]);
    assert!(!all[1].windows.get(CONTEXT).unwrap().has_completed(gone).unwrap());
    complete(&mut all);
    assert!(all[1].windows.get(CONTEXT).unwrap().has_completed(gone).unwrap());
}

#[test]
fn a_flush_waits_for_the_others_also_where_one_is_gone() {
    let (mut all, network, _) = ranks_of((3, 0), 0, |_| Vec::new());
    let datatype = Datatype::of(Predefined::Int64);
    let Rank { windows, endpoint, .. } = &mut all[1];
    let window = windows.get(CONTEXT).unwrap();
    window.epochs().fence(true);
    for target in [0, 2] {
        let place = Place { target, displacement: 0, count: 0, datatype };
        window.put(endpoint, &place, elements(&[])).unwrap();
    }
    network.borrow_mut().gone.insert(0);
    let asked = window.flush(endpoint, None);
    let poll = |rank: &mut Rank| {
        let window = rank.windows.get(CONTEXT).unwrap();
        asked.iter().map(|access| window.poll(*access, |_| None)).collect::<Vec<_>>()
    };
    let ended = poll(&mut all[1]);
    let Some(Err(error)) = &ended[0] else { panic!("{ended:?}") };
    assert_eq!((error.class, &ended[1]), (Class::ProcAborted, &None));
    go_on(&mut all[1..]);
    assert_eq!(poll(&mut all[1]), [Some(Ok(())), Some(Ok(()))]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn who_has_the_exclusive_lock_is_alone(
        ranks in 1..6_u32, near in 0..6_u32, times in 1..6_usize, dice: u64,
    ) {
        let steps = |_| {
            let once = || [Step::Lock(true), Step::Read(0), Step::Increment, Step::Unlock];
            (0..times).flat_map(|_| once()).collect()
        };
        let memory = memory_after((ranks, near.min(ranks)), dice, steps);
        prop_assert_eq!(memory[0], i64::from(ranks) * times as i64);
    }

    #[test]
    fn a_rank_finds_what_it_wrote_and_sums_have_all_that_was_added(
        ranks in 1..6_u32, near in 0..6_u32,
        values in prop::collection::vec(-9..9_i64, 1..20), dice: u64,
    ) {
        let steps = |rank: u32| {
            let own = 2 * i64::from(rank) + 2;
            let mut steps = vec![Step::Lock(false)];
            for value in &values {
                steps.extend([Step::Write(own, *value), Step::Read(own), Step::Is(*value)]);
                steps.push(Step::Add(1, *value));
                steps.extend([Step::Replace(own, *value), Step::Add(own, 5)]);
                steps.extend([Step::Fetch(own), Step::Is(value + 5)]);
                steps.extend([Step::Add(own, 6), Step::Fetch(own), Step::Is(value + 11)]);
            }
            steps.push(Step::Unlock);
            steps
        };
        let memory = memory_after((ranks, near.min(ranks)), dice, steps);
        prop_assert_eq!(memory[1], i64::from(ranks) * values.iter().sum::<i64>());
    }
}
