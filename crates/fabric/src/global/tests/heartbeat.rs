//! The heartbeat's facade: who asks for what cannot be, and who follows too slowly.

use super::*;
use crate::heartbeat::{Config, Event, Notice, Request, USER};
use muster_base::limits;

fn config(me: u32) -> Config {
    let period = Duration::from_millis(2);
    let config = Config::new(NodeId(me), NodeId(0), incarnation());
    Config { arity: 2, period, report_every: 8, late: 16, ..config }
}

#[test]
fn what_the_master_cannot_do_is_refused_to_who_asks() {
    let mut place = Place::unix();
    let mut listeners = place.listen(3);
    let mut start = |node: u32| {
        let setup = place.setup(NodeId(node), "heartbeat");
        Heartbeat::start(setup, listeners.remove(0), config(node))
    };
    let (master, node) = (start(0).expect("it starts"), start(1).expect("it starts"));
    let large = Event::new(USER, vec![0; limits::EVENT_MAX + 1]);
    let cases = [
        (&node, Request::Early, "node 0 is the master, not node 1"),
        (&master, Request::Period { period: Duration::ZERO, micro: 1 }, "a period of 0 ns"),
        (&master, Request::Event(large), "an event has"),
        (&master, Request::Event(Event::new(USER - 1, vec![])), "kinds of users' events"),
    ];
    for (heartbeat, request, why) in cases {
        let error = heartbeat.ask(request, soon()).expect_err("it is refused");
        assert!(matches!(error, Error::Refused { .. }) && error.to_string().contains(why));
    }
    assert!(matches!(node.late(soon()), Err(Error::Refused { .. })));
    assert_eq!(master.late(soon()).expect("it knows"), []);

    // A heartbeat that is none, and who follows one that has ended.
    let listener = listeners.remove(0);
    let config = Config { arity: 0, ..config(2) };
    let refused = Heartbeat::start(place.setup(NodeId(2), "heartbeat"), listener, config);
    assert!(matches!(refused.err(), Some(Error::Refused { .. })));
    let mut beats = node.beats();
    drop(node);
    assert!(matches!(fails(|| beats.next(soon())), Error::Closed { .. }));
}

#[test]
fn who_follows_too_slowly_is_told_what_it_has_missed() {
    let mut place = Place::unix();
    let listener = place.listen(1).remove(0);
    let config = Config { period: Duration::from_micros(300), ..config(0) };
    let first = config.first;
    let setup = place.setup(NodeId(0), "heartbeat");
    let heartbeat = Heartbeat::start(setup, listener, config).expect("it starts");
    let (mut quick, mut slow) = (heartbeat.beats(), heartbeat.beats());
    let strobe = |notice| match notice {
        Notice::Strobe { sequence, .. } => sequence,
        other => panic!("{other:?}"),
    };
    assert_eq!(strobe(slow.next(soon()).expect("a strobe")), first);
    for sequence in first..=first + 2 * limits::HISTORY_MAX as u64 {
        assert_eq!(strobe(quick.next(soon()).expect("a strobe")), sequence);
    }
    let Notice::Resync { seen, sequence } = slow.next(soon()).expect("something is told") else {
        panic!("it has missed some");
    };
    assert_eq!(seen, first);
    assert_eq!(strobe(slow.next(soon()).expect("a strobe")), sequence + 1);
}
