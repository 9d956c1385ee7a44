//! A member's heartbeat: who asks for what cannot be, and who follows too slowly.

use super::*;
use crate::heartbeat::{self, Event, Notice, Request, USER};
use crate::transport::Listener;
use muster_base::limits;

fn beat(me: u32) -> heartbeat::Config {
    let period = Duration::from_millis(2);
    let config = heartbeat::Config::new(NodeId(me), NodeId(0), incarnation());
    heartbeat::Config { arity: 2, period, report_every: 8, late: 16, ..config }
}

/// One of so many, with a heartbeat or without.
fn start(
    place: &Place,
    listener: Box<dyn Listener>,
    (me, count): (u32, u32),
    beat: Option<heartbeat::Config>,
) -> Result<Member> {
    let me = NodeId(me);
    let begin = Begin::With(Nodes::range(0..=count - 1));
    let setup = place.setup(me, "primitives");
    Member::start_over(setup, listener, Config::new(me, incarnation()), begin, Vec::new(), beat)
}

#[test]
fn what_the_master_cannot_do_is_refused_to_who_asks() {
    let mut place = Place::unix();
    let mut listeners = place.listen(4);
    let mut start = |me, beat| start(&place, listeners.remove(0), (me, 3), beat);
    // The third is never started, and nobody is to be late meanwhile.
    let beat_of = |me| Some(heartbeat::Config { late: 1 << 20, ..beat(me) });
    let (master, node) = (start(0, beat_of(0)), start(1, beat_of(1)));
    let (master, node) = (master.expect("it starts"), node.expect("it starts"));
    let large = Event::new(USER, vec![0; limits::EVENT_MAX + 1]);
    let cases = [
        (&node, Request::Early, "node 0 is the master, not node 1"),
        (&master, Request::Period { period: Duration::ZERO, micro: 1 }, "a period of 0 ns"),
        (&master, Request::Event(large), "an event has"),
        (&master, Request::Event(Event::new(USER - 1, vec![])), "kinds of users' events"),
        (&master, Request::Members { epoch: 9, members: vec![] }, "are the global memory's"),
    ];
    let refused = |error: Error, why: &str| {
        assert!(matches!(error, Error::Refused { .. }) && error.to_string().contains(why));
    };
    for (member, request, why) in cases {
        refused(member.strobe(vec![request], soon()).expect_err("it is refused"), why);
    }
    refused(node.late(soon()).expect_err("it does not know"), "node 0 knows who is late");
    assert_eq!(master.late(soon()).expect("it knows"), []);

    // A heartbeat that is none, one of somebody else, and none at all.
    let none = heartbeat::Config { arity: 0, ..beat(2) };
    refused(start(2, Some(none)).err().expect("it is none"), "0 children");
    let last = start(2, Some(beat(1)));
    refused(last.err().expect("it is node 1's"), "the heartbeat is another node's");
}

#[test]
fn a_member_without_a_heartbeat_says_so_and_one_that_ends_has_its_followers_end() {
    let mut place = Place::unix();
    let mut listeners = place.listen(2);
    let with = start(&place, listeners.remove(0), (0, 2), Some(beat(0))).expect("it starts");
    let without = start(&place, listeners.remove(0), (1, 2), None).expect("it starts");
    assert!(without.beats().is_none());
    for error in [
        without.late(soon()).expect_err("it has none"),
        without.pulse(soon()).expect_err("it has none"),
        without.strobe(vec![Request::Early], soon()).expect_err("it has none"),
    ] {
        assert!(error.to_string().contains("was started without"), "{error}");
    }
    let mut beats = with.beats().expect("it has");
    drop(with);
    assert!(matches!(fails(|| beats.next(soon())), Error::Closed { .. }));
}

#[test]
fn who_follows_too_slowly_is_told_what_it_has_missed() {
    let mut place = Place::unix();
    let listener = place.listen(1).remove(0);
    let config = heartbeat::Config { period: Duration::from_micros(300), ..beat(0) };
    let first = config.first;
    let member = start(&place, listener, (0, 1), Some(config)).expect("it starts");
    let [mut quick, mut slow] = [(); 2].map(|()| member.beats().expect("it has"));
    let strobe = |notice| match notice {
        Notice::Strobe { sequence, .. } => sequence,
        other => panic!("{other:?}"),
    };
    assert_eq!(strobe(slow.next(soon()).expect("a strobe")), first);
    for sequence in first..=first + 2 * limits::HISTORY_MAX as u64 {
        assert_eq!(strobe(quick.next(soon()).expect("a strobe")), sequence);
    }
    let Notice::Resync { seen, mut sequence } = slow.next(soon()).expect("something is told")
    else {
        panic!("it has missed some");
    };
    assert_eq!(seen, first);
    // It goes on with the oldest that is kept, which the next strobe may take from it again.
    let next = loop {
        match slow.next(soon()).expect("it goes on") {
            Notice::Resync { sequence: later, .. } => sequence = later,
            notice => break strobe(notice),
        }
    };
    assert_eq!(next, sequence + 1);
}
