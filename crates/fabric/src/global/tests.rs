//! The primitives over sockets of this machine, each member with threads of its own.

use super::*;
use crate::protocol::NodeId;
use crate::shell::tests::Place;
use std::time::Duration;

fn soon() -> Deadline {
    Deadline::after(Duration::from_secs(30))
}

fn start(place: &mut Place, count: u32) -> Vec<Member> {
    let all = Nodes::range(0..=count - 1);
    let listeners = place.listen(count);
    let start = |(node, listener): (u32, _)| {
        let me = NodeId(node);
        let regions = vec![1 << 20];
        let config = Config { arity: 3, end_is_death: true, regions, ..Config::new(me) };
        Member::start(place.setup(me, "primitives"), listener, config, Some(all.clone()))
            .expect("a member starts")
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
        member.region(0).expect("it exists").read(7, &mut read).expect("inside");
        assert!(read == data, "the data is there before the event");
    }
    transfer.wait(soon()).expect("it is done");
    assert_eq!((members[3].test_event(2), members[2].test_event(2)), (1, 0));

    for (at, member) in members.iter().enumerate() {
        member.set_variable(5, at as u64 + 1).expect("asked");
        assert_eq!(member.variable(5, soon()).expect("looked"), Some(at as u64 + 1));
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
        while member.variable(6, soon()).expect("looked") != Some(10) {
            std::thread::yield_now();
        }
    }
}

#[test]
fn the_three_primitives_work_over_unix_sockets() {
    the_three_primitives_work(Place::unix());
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
    assert!(matches!(late, Err(Error::Deadline { .. })), "{late:?}");

    // Its connections end, and the next operation over it fails as a whole.
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
