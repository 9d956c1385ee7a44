//! The primitives and the heartbeat over sockets of this machine.

mod heartbeat;
#[cfg(loom)]
mod interleavings;
mod multicast;
mod processes;

use super::*;
use crate::deadline::Deadline;
use crate::error::{Error, Result};
use crate::primitive::{Config, Nodes, Relation};
use crate::protocol::NodeId;
use crate::region::{Region, Rights};
use crate::shell::Setup;
use crate::shell::tests::Place;
use muster_base::limits::{PENDING_MAX, TELL_MAX, TOLD_BYTES_MAX, TRANSFER_MAX};
use std::time::Duration;

fn soon() -> Deadline {
    Deadline::after(Duration::from_secs(30))
}

fn config(me: NodeId) -> Config {
    let regions = vec![1 << 20];
    // No busy machine keeps a node from renewing it for that long.
    let lease = Duration::from_secs(60);
    Config { arity: 3, end_is_death: true, regions, lease, ..Config::new(me, incarnation()) }
}

fn start(place: &mut Place, count: u32) -> Vec<Member> {
    start_with(place, count, |_| {})
}

fn start_with(place: &mut Place, count: u32, change: impl Fn(&mut Config)) -> Vec<Member> {
    let all = Nodes::range(0..=count - 1);
    let listeners = place.listen(count);
    let start = |(node, listener): (u32, _)| {
        let me = NodeId(node);
        let mut config = config(me);
        change(&mut config);
        let setup = place.setup(me, "primitives");
        Member::start(setup, listener, config, Begin::With(all.clone())).expect("a member starts")
    };
    (0..count).zip(listeners).map(start).collect()
}

fn the_three_primitives_work(mut place: Place) {
    let members = start(&mut place, 7);
    let all = Nodes::range(0..=6);
    let data: Vec<u8> = (0..1_000_000u32).map(|at| (at % 251) as u8).collect();
    let transfer =
        members[3].xfer_and_signal(&all, (0, 7), data.clone(), Some(1), Some(2)).expect("asked");
    for member in &members {
        assert_eq!(member.wait_event(1, 0, soon()).expect("it is signalled"), 1);
        let mut read = vec![0; data.len()];
        member.read(0, 7, &mut read).expect("inside");
        assert!(read == data, "the data is there before the event");
    }
    transfer.wait(soon()).expect("it is done");
    assert_eq!(members[3].test_event(2).expect("it may say"), 1);
    assert_eq!(members[2].test_event(2).expect("it may say"), 0);

    for (at, member) in members.iter().enumerate() {
        member.set_variable(5, at as u64 + 1).expect("asked");
        assert_eq!(member.variable(5, soon()).expect("looked"), at as u64 + 1);
    }
    let ask = |relation, value, write| {
        members[6].compare_and_write(&all, (5, relation, value), write, soon()).expect("asked")
    };
    assert!(ask(Relation::AtLeast, 1, None));
    assert!(!ask(Relation::AtLeast, 2, Some((6, 9))));
    assert!(ask(Relation::NotEqual, 0, Some((6, 10))));
    // What comes after it in the one order sees it everywhere; who merely looks may look early.
    let wrote = members[1].compare_and_write(&all, (6, Relation::Equal, 10), None, soon());
    assert!(wrote.expect("asked"));
    for member in &members {
        while member.variable(6, soon()).expect("looked") != 10 {
            std::thread::yield_now();
        }
    }
}

/// Nobody hears it, so what it has to tell only gathers.
#[test]
fn who_is_cut_off_may_not_tell_without_end() {
    let mut place = Place::unix();
    let listener = place.listen(2).remove(1);
    let setup = place.setup(NodeId(1), "primitives");
    let member = Member::start(setup, listener, config(NodeId(1)), Begin::Join).expect("it starts");
    let letter = vec![7; TELL_MAX];
    let most = TOLD_BYTES_MAX / letter.len();
    let full = (0..=most).find_map(|_| member.tell(0, letter.clone()).err());
    assert!(matches!(full, Some(Error::WouldBlock)), "{full:?}");
}

#[test]
fn the_three_primitives_work_over_unix_sockets() {
    the_three_primitives_work(Place::unix());
}

#[test]
fn the_three_primitives_work_over_shared_memory_whoever_looks_and_whoever_sleeps() {
    // All sleep at once; most sleep soon; nobody sleeps.
    for patience in [Duration::ZERO, Duration::from_micros(20), Duration::from_secs(1)] {
        the_three_primitives_work(Place::shm(patience));
    }
}

#[test]
fn the_three_primitives_work_over_tcp() {
    the_three_primitives_work(Place::tcp());
}

#[test]
fn who_asks_for_what_cannot_be_done_is_told() {
    let mut place = Place::unix();
    let mut members = start(&mut place, 3);
    let (all, outside) = (Nodes::range(0..=2), Nodes::range(0..=5));
    let refused = |result: Result<()>| matches!(result, Err(Error::Refused { .. }));
    let wait = |transfer: Result<Transfer>| transfer.expect("asked").wait(soon());
    assert!(refused(wait(members[1].xfer_and_signal(&all, (0, 1 << 20), vec![1], None, None))));
    assert!(refused(wait(members[1].xfer_and_signal(&all, (9, 0), vec![1], None, None))));
    let dead = members[1].compare_and_write(&outside, (0, Relation::Equal, 0), None, soon());
    assert!(matches!(dead, Err(Error::Dead { .. })), "{dead:?}");
    let late = members[1].wait_event(0, 0, Deadline::now());
    assert_eq!(waited(late), "node 1 for itself or nodes 0,2: to signal event 0 (TEST-EVENT)");

    // Its connections end, and the next operation over it fails as a whole. The master has heard of
    // it: what it has not may still begin.
    assert!(members[1].compare_and_write(&all, (0, Relation::Equal, 0), None, soon()).unwrap());
    drop(members.remove(2));
    let dead = loop {
        match members[1].compare_and_write(&all, (0, Relation::Equal, 0), None, soon()) {
            Ok(_) => {}
            Err(error) => break error,
        }
    };
    assert!(matches!(dead, Error::Dead { .. }), "{dead}");
    let both = Nodes::range(0..=1);
    assert!(members[1].compare_and_write(&both, (0, Relation::Equal, 0), None, soon()).unwrap());
}

/// Who has waited for whom, and for what.
fn waited<T: std::fmt::Debug>(result: Result<T>) -> String {
    match result {
        Err(Error::Deadline { who, whom, what, .. }) => format!("{who} for {whom}: {what}"),
        other => panic!("it is not late: {other:?}"),
    }
}

/// Tries until an operation that is late says this; why somebody is not reached may come behind it.
fn says(late: impl FnMut() -> String, text: &str) {
    let why = format!("{text} (node ");
    says_so(late, |said| said == text || said.starts_with(&why));
}

fn says_so(mut late: impl FnMut() -> String, is_so: impl Fn(&str) -> bool) {
    let deadline = soon();
    let mut said = late();
    while !is_so(&said) {
        assert!(deadline.left().is_some(), "{said}");
        std::thread::sleep(Duration::from_millis(1));
        said = late();
    }
}

#[test]
fn an_operation_that_is_late_says_which_nodes_it_waits_for_as_far_as_this_one_knows() {
    let mut place = Place::unix();
    let all = Nodes::range(0..=2);
    let mut listeners = place.listen(3);
    let _silent = listeners.pop();
    // The last one does not answer, and nobody calls it dead.
    let begin = |(node, listener): (u32, _)| {
        let me = NodeId(node);
        let config = Config { lease: Duration::from_secs(1000), ..config(me) };
        let setup = place.setup(me, "primitives");
        Member::start(setup, listener, config, Begin::With(all.clone())).expect("it starts")
    };
    let members: Vec<Member> = (0..).zip(listeners).map(begin).collect();
    let zero = (0, Relation::Equal, 0);
    let both = Nodes::range(0..=1);
    assert!(members[1].compare_and_write(&both, zero, None, soon()).unwrap());

    let transfer = members[0].xfer_and_signal(&all, (0, 0), vec![1], None, None).expect("asked");
    let missing = "node 0 for node 2: to take a transfer (XFER-AND-SIGNAL)";
    says(|| waited(transfer.wait(Deadline::after(Duration::from_millis(1)))), missing);
    let ask = |member: &Member, write| {
        let soon = Deadline::after(Duration::from_millis(100));
        waited(member.compare_and_write(&all, zero, write, soon))
    };
    let missing = "node 0 for node 2: to answer a query (COMPARE-AND-WRITE)";
    says(|| ask(&members[0], None), missing);
    // The master has it, and another node does not know who has answered to that one.
    let missing = "node 1 for nodes 0-2: to compare and write (COMPARE-AND-WRITE)";
    says(|| ask(&members[1], Some((1, 1))), missing);
}

#[test]
fn an_operation_that_the_master_does_not_hear_of_waits_for_the_master() {
    let mut place = Place::unix();
    let mut members = start_with(&mut place, 3, |config| {
        (config.lease, config.end_is_death) = (Duration::from_secs(1000), false);
    });
    let (all, zero) = (Nodes::range(0..=2), (0, Relation::Equal, 0));
    assert!(members[1].compare_and_write(&all, zero, None, soon()).unwrap());
    drop(members.remove(0));
    let ask = || {
        let soon = Deadline::after(Duration::from_millis(50));
        waited(members[0].compare_and_write(&all, zero, None, soon))
    };
    says(ask, "node 1 for node 0: to answer a query (COMPARE-AND-WRITE)");
}

#[test]
fn an_operation_that_is_late_says_why_a_node_is_not_reached() {
    let both = Nodes::range(0..=1);
    let begin = |setup: Setup, listener| {
        let lease = Duration::from_secs(1000);
        let config = Config { lease, end_is_death: false, ..config(setup.me) };
        Member::start(setup, listener, config, Begin::With(both.clone())).expect("it starts")
    };
    let asked = |member: &Member| {
        let is_zero = (0, Relation::Equal, 0);
        let asked = member.start_compare(&both, is_zero, None).expect("asked");
        move || waited(asked.wait(Deadline::after(Duration::from_millis(20))))
    };
    let late = "node 0 for node 1: to answer a query (COMPARE-AND-WRITE) (node 1 is not reached: ";

    let mut place = Place::unix();
    let mut listeners = place.listen(2).into_iter();
    let mut next = || listeners.next().expect("each has one");
    let member = begin(place.setup(NodeId(0), "primitives"), next());
    let _other = begin(place.setup(NodeId(1), "another"), next());
    let why = "\"primitives\" is not its service, which is \"another\")";
    says_so(asked(&member), |said| said.starts_with(late) && said.ends_with(why));

    let mut place = Place::unix();
    let listener = place.listen(1).remove(0);
    let member = begin(place.setup(NodeId(0), "primitives"), listener);
    says_so(asked(&member), |said| said == format!("{late}there is no address of it)"));
}

#[test]
fn who_was_late_learns_how_a_comparison_has_ended() {
    let mut place = Place::unix();
    let all = Nodes::range(0..=1);
    let mut listeners = place.listen(2).into_iter();
    let mut begin = |node| {
        let me = NodeId(node);
        let lease = Duration::from_secs(1000);
        let config = Config { lease, end_is_death: false, ..config(me) };
        let listener = listeners.next().expect("each has one");
        let setup = place.setup(me, "primitives");
        Member::start(setup, listener, config, Begin::With(all.clone())).expect("it starts")
    };
    let first = begin(0);
    let is_zero = (0, Relation::Equal, 0);
    let written = first.start_compare(&all, is_zero, Some((0, 5))).expect("asked");
    waited(written.wait(Deadline::after(Duration::from_millis(1))));
    assert!(written.look().is_none());
    let _second = begin(1);
    assert!(written.wait(soon()).expect("it has ended"));
    assert_eq!(first.variable(0, soon()).expect("it leads"), 5);
    let again = first.start_compare(&all, is_zero, Some((0, 6))).expect("asked");
    assert!(!again.wait(soon()).expect("it has ended"), "it is 5");
    assert!(matches!(written.look(), Some(Ok(true))));
}

/// Tries until an error comes.
fn fails<T>(mut what: impl FnMut() -> Result<T>) -> Error {
    let deadline = soon();
    while deadline.left().is_some() {
        match what() {
            Ok(_) => std::thread::sleep(Duration::from_millis(1)),
            Err(error) => return error,
        }
    }
    panic!("no error comes");
}

#[test]
fn who_hears_nothing_of_the_master_says_nothing_once_its_lease_has_ended() {
    let mut place = Place::unix();
    let lease = Duration::from_secs(2);
    let mut members = start_with(&mut place, 3, |config| {
        (config.lease, config.beat) = (lease, lease / 8);
    });
    let all = Nodes::range(0..=2);
    members[1].xfer_and_signal(&all, (0, 0), vec![7], Some(1), None).expect("asked");
    assert_eq!(members[2].wait_event(1, 0, soon()).expect("it is signalled"), 1);
    drop(members.remove(0));
    let silent = |error| matches!(error, Error::NotMember { .. });
    let isolated = &members[1];
    assert!(silent(fails(|| isolated.test_event(1))));
    assert!(silent(fails(|| isolated.read(0, 0, &mut [0]))));
    assert!(silent(fails(|| isolated.variable(0, soon()))));
    let waited = isolated.wait_event(1, 0, Deadline::after(lease));
    assert!(silent(waited.expect_err("it was signalled, but this node may not say so")));
}

#[test]
fn who_is_wrongly_declared_dead_is_told_and_comes_back() {
    let mut place = Place::unix();
    let members = start(&mut place, 3);
    let all = Nodes::range(0..=2);
    assert!(members[2].compare_and_write(&all, (0, Relation::Equal, 0), None, soon()).unwrap());
    let before = members[1].membership();
    assert_eq!((&before.members, before.joined(NodeId(2))), (&all, None));
    let refused = members[1].declare_dead(NodeId(2));
    assert!(matches!(refused, Err(Error::Refused { .. })), "{refused:?}");
    members[0].declare_dead(NodeId(2)).expect("asked");

    // It learns it, waits in vain for nothing, and joins again by itself.
    let mut own = before.clone();
    while own.members.contains(NodeId(2)) && own.joined(NodeId(2)).is_none() {
        own = members[2].wait_epoch(own.epoch, soon()).expect("it learns that");
    }
    while own.joined(NodeId(2)).is_none() {
        own = members[2].wait_epoch(own.epoch, soon()).expect("it joins again");
    }
    let mut seen = members[1].wait_epoch(before.epoch, soon()).expect("the others learn it");
    while seen.joined(NodeId(2)).is_none() {
        seen = members[1].wait_epoch(seen.epoch, soon()).expect("the others learn it");
    }
    assert_eq!((&seen.members, seen.joined(NodeId(1))), (&all, None));
    assert!(members[2].compare_and_write(&all, (0, Relation::Equal, 0), None, soon()).unwrap());
}

#[test]
fn who_has_not_been_taken_in_says_so_at_once() {
    let mut place = Place::unix();
    // Nobody leads.
    let listener = place.listen(2).pop().expect("the second one's");
    let me = NodeId(1);
    let setup = place.setup(me, "primitives");
    let member = Member::start(setup, listener, config(me), Begin::Join).expect("it starts");
    let errors = [
        member.test_event(0).expect_err("nothing is known"),
        member.wait_event(0, 0, soon()).expect_err("nothing is known"),
        member.read(0, 0, &mut [0]).expect_err("nothing is known"),
        member
            .compare_and_write(&Nodes::one(me), (0, Relation::Equal, 0), None, soon())
            .expect_err("nobody is asked"),
    ];
    for error in errors {
        assert!(matches!(error, Error::NotMember { .. }), "{error}");
    }
    let late = member.wait_epoch(0, Deadline::now());
    assert_eq!(waited(late), "node 1 for node 0: to begin an epoch after 0");
}

/// One that stands still holds up all, and too much is under way soon.
#[test]
fn what_there_is_no_room_for_is_refused_at_the_call_and_taken_once_there_is() {
    let mut place = Place::unix();
    let all = Nodes::range(0..=1);
    let listeners = place.listen(2);
    let setup = place.setup(NodeId(0), "primitives");
    let lease = Duration::from_secs(60);
    let config = Config { lease, end_is_death: false, ..config(NodeId(0)) };
    let mut listeners = listeners.into_iter();
    let listener = listeners.next().expect("the first one's");
    let member = Member::start(setup, listener, config, Begin::With(all.clone()));
    let member = member.expect("a member starts");
    let send = |size| member.xfer_and_signal(&all, (0, 0), vec![7; size], None, None);
    let no_room = |size| matches!(send(size), Err(Error::WouldBlock));
    let mut taken: Vec<_> = (0..4).map(|_| send(TRANSFER_MAX).expect("taken")).collect();
    assert!(no_room(1), "too many bytes");
    taken.extend((4..PENDING_MAX).map(|_| send(0).expect("taken")));
    assert!(no_room(0), "too many");
    assert!(taken.iter().all(|transfer| transfer.look().is_none()));

    // The other one comes, and all of it ends.
    let setup = place.setup(NodeId(1), "primitives");
    let config = Config { lease, end_is_death: false, ..self::config(NodeId(1)) };
    let listener = listeners.next().expect("the second one's");
    let _other = Member::start(setup, listener, config, Begin::With(all.clone()));
    let all_end = |taken: Vec<Transfer>| {
        taken.iter().for_each(|transfer| transfer.wait(soon()).expect("it is done"));
    };
    all_end(taken);
    all_end((0..PENDING_MAX).map(|_| send(1).expect("there is room again")).collect());
}

#[test]
fn who_asks_again_how_a_transfer_has_ended_is_told_the_same() {
    let mut place = Place::unix();
    let members = start(&mut place, 2);
    let all = Nodes::range(0..=1);
    let send =
        |region| members[1].xfer_and_signal(&all, (region, 0), vec![7], None, None).expect("asked");
    let done = send(0);
    done.wait(soon()).expect("it is done");
    let refused = send(99);
    let why = refused.wait(soon()).expect_err("no such region").to_string();
    for _ in 0..2 {
        done.wait(soon()).expect("it is done still");
        assert!(matches!(done.look(), Some(Ok(()))));
        assert_eq!(refused.wait(soon()).expect_err("refused").to_string(), why);
        let looked = refused.look().expect("it has ended");
        assert_eq!(looked.expect_err("refused").to_string(), why);
    }
}

#[test]
fn a_beginning_that_cannot_be_is_refused() {
    let two = Nodes::range(0..=1);
    let again = |term| Begin::Again { nodes: two.clone(), term };
    let cases = [
        (0, 0, Begin::Join, "nobody to take it in"),
        (0, 1, Begin::With(two.clone()), "node 1 cannot run as node 0"),
        (0, 0, Begin::With(Nodes::one(NodeId(1))), "node 0 leads, and is no member"),
        (2, 2, Begin::With(two.clone()), "node 2 is none of those"),
        (1, 1, again(2), "node 0 leads, not node 1"),
        (0, 0, again(1), "a term of 2 to 16777215, not 1"),
        (0, 0, again(1 << 24), "a term of 2 to 16777215, not 16777216"),
    ];
    for (runs, node, begin, why) in cases {
        let mut place = Place::unix();
        let listener = place.listen(1).remove(0);
        let setup = place.setup(NodeId(runs), "primitives");
        let error = Member::start(setup, listener, config(NodeId(node)), begin).err();
        let error = error.expect("it is refused").to_string();
        assert!(error.contains(why), "{error}");
    }
}

#[test]
fn regions_that_no_memory_holds_are_an_error_and_not_a_panic() {
    let mut place = Place::unix();
    let listener = place.listen(1).remove(0);
    let config = Config { regions: vec![8, u64::MAX], ..config(NodeId(0)) };
    let begin = Begin::With(Nodes::one(NodeId(0)));
    let error = Member::start(place.setup(NodeId(0), "primitives"), listener, config, begin).err();
    assert!(matches!(error, Some(Error::Exhausted { what: "memory", .. })), "{error:?}");
}

#[test]
fn regions_of_other_sizes_than_the_configuration_says_are_refused() {
    let mut place = Place::unix();
    let mut start = |sizes: Vec<usize>| {
        let listener = place.listen(1).remove(0);
        let config = Config { regions: vec![64, 8], ..config(NodeId(0)) };
        let begin = Begin::With(Nodes::one(NodeId(0)));
        let regions = sizes.into_iter().map(|size| Region::new(size, Rights::ALL)).collect();
        Member::start_over(
            place.setup(NodeId(0), "primitives"),
            listener,
            config,
            begin,
            regions,
            None,
        )
    };
    assert!(start(vec![64, 8]).is_ok());
    for (sizes, given) in [(vec![], "[]"), (vec![8, 64], "[8, 64]")] {
        let error = start(sizes).err().expect("refused").to_string();
        let why = format!("the configuration has regions of [64, 8] bytes, given are {given}");
        assert!(error.ends_with(&why), "{error}");
    }
}

#[test]
fn an_access_that_lies_outside_names_the_region_that_was_asked_for() {
    let mut place = Place::unix();
    let members = start_with(&mut place, 1, |config| config.regions = vec![64, 8]);
    let says = |result: Result<()>| result.unwrap_err().to_string();
    let outside = "no access to 4 bytes at 5 of region 1: the region ends before";
    assert_eq!(says(members[0].read(1, 5, &mut [0; 4])), outside);
    assert_eq!(says(members[0].write(1, 5, &[0; 4])), outside);
    let none = "no access to 4 bytes at 0 of region 2: there is no such region";
    assert_eq!(says(members[0].write(2, 0, &[0; 4])), none);
    let alone = Region::new(8, Rights::ALL).write(5, &[0; 4]);
    assert_eq!(says(alone), "no access to 4 bytes at 5: the region ends before");
}

#[test]
fn what_lies_outside_of_global_memory_is_said_with_its_limit() {
    let mut place = Place::unix();
    let members = start_with(&mut place, 1, |config| config.regions = vec![4 << 20]);
    let (member, one) = (&members[0], Nodes::one(NodeId(0)));
    let put = |at: (u32, u64), size: usize, remote, local| {
        let asked = member.xfer_and_signal(&one, at, vec![1; size], remote, local);
        asked.and_then(|asked| asked.wait(soon()))
    };
    let compare = |variable, write| {
        let holds = (variable, Relation::Equal, 0);
        member.compare_and_write(&one, holds, write, soon()).map(drop)
    };
    let event = "global memory refuses: there is no event 64: their number is 64";
    let variable = "global memory refuses: there is no variable 64: their number is 64";
    let region = "global memory refuses: there is no region 9: their number is 1";
    for (result, why) in [
        (put((9, 0), 1, None, None), region),
        (
            put((0, 4 << 20), 1, None, None),
            "1 bytes at 4194304 end behind region 0, which has 4194304",
        ),
        (put((0, u64::MAX), 1, None, None), "end behind region 0"),
        (put((0, 0), 1, Some(64), None), event),
        (put((0, 0), 1, None, Some(64)), event),
        (put((0, 0), TRANSFER_MAX + 1, None, None), "a transfer of 1048577 bytes: at most 1048576"),
        (put((0, 0), TRANSFER_MAX, Some(63), Some(63)), "none"),
        (compare(64, None), variable),
        (compare(0, Some((64, 1))), variable),
        (member.set_variable(64, 0), variable),
        (member.test_event(64).map(drop), event),
        (member.wait_event(64, 0, soon()).map(drop), event),
        (member.tell(9, vec![1]), region),
        (
            member.tell(0, vec![1; TELL_MAX + 1]),
            "a letter to the master of 4097 bytes: at most 4096",
        ),
    ] {
        let said = result.map_or_else(|error| error.to_string(), |()| "none".to_owned());
        assert!(said.contains(why), "{said:?}, not {why:?}");
    }
}

#[test]
fn times_with_which_no_lease_can_last_are_refused_with_the_figures() {
    let ms = Duration::from_millis;
    let cases = [
        (ms(2000), ms(0), "time passes between two beats, not 0ns"),
        (ms(0), ms(250), "with a beat of 250ms a lease is 500ms or more, not 0ns"),
        (ms(100), ms(250), "with a beat of 250ms a lease is 500ms or more, not 100ms"),
        (ms(1), Duration::MAX, "or more, not 1ms"),
        (Duration::MAX, ms(250), "a lease and its slack are 31536000s at most, not"),
    ];
    for (lease, beat, why) in cases {
        let mut place = Place::unix();
        let listener = place.listen(1).remove(0);
        let config = Config { lease, beat, ..config(NodeId(0)) };
        let begin = Begin::With(Nodes::one(NodeId(0)));
        let error = Member::start(place.setup(NodeId(0), "primitives"), listener, config, begin);
        let error = error.err().expect("it is refused").to_string();
        assert!(error.contains(why), "{error}");
    }
}

#[test]
fn a_later_life_has_larger_numbers() {
    assert!(incarnation() > 0 && incarnation() <= incarnation());
}

#[test]
fn who_sees_a_variable_sees_what_was_put_before_it_was_written() {
    let mut place = Place::unix();
    let members = start(&mut place, 3);
    let all = Nodes::range(0..=2);
    for round in 1..=100u64 {
        let data = round.to_le_bytes().to_vec();
        members[1].xfer_and_signal(&all, (0, 0), data, None, None).expect("asked");
        let last = (3, Relation::Equal, round - 1);
        let wrote = members[1].compare_and_write(&all, last, Some((3, round)), soon());
        assert!(wrote.expect("asked"));
        for member in &members {
            let deadline = soon();
            while member.variable(3, deadline).expect("looked") != round {
                std::thread::yield_now();
            }
            let mut seen = [0; 8];
            member.read(0, 0, &mut seen).expect("it is a member");
            assert_eq!(u64::from_le_bytes(seen), round);
        }
    }
}
