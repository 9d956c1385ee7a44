//! Promises about listening and connecting.

use super::{Subject, hello, listen, meet, meet_at, soon, together};
use crate::error::Error;
use crate::strategy::Datagram;
use crate::transport::{Hello, Lane};
use muster_base::limits::HELLO_TEXT_MAX;
use std::io::IoSlice;

/// The listener knows its peer and what it comes for; where the kernel vouches, it is right.
pub fn both_know_each_other(subject: &impl Subject) {
    let mut listener = listen(subject);
    for lane in [Lane::Bulk, Lane::System] {
        let (connected, accepted) = meet_at(subject, &mut *listener, lane);
        assert_eq!((accepted.hello(), connected.hello()), (&hello(lane), &hello(lane)));
        assert_eq!(accepted.peer().name, "connector");
        assert_eq!(connected.peer().name, listener.address().to_string());
        for peer in [connected.peer(), accepted.peer()] {
            assert_eq!(peer.protection, subject.transport().capabilities().protection);
            let user = rustix::process::geteuid().as_raw();
            assert!(peer.uid.is_none_or(|uid| uid == user), "{peer:?}");
            assert!(peer.pid.is_none_or(|pid| pid == std::process::id()), "{peer:?}");
        }
    }
}

/// Two hundred connections of one listener each carry their own messages.
pub fn many_have_one_listener(subject: &impl Subject) {
    let mut listener = listen(subject);
    let mut ends: Vec<_> = (0..200u8)
        .map(|_| {
            let (connected, accepted) = meet_at(subject, &mut *listener, Lane::Bulk);
            (connected.datagram().unwrap(), accepted.datagram().unwrap())
        })
        .collect();
    for (number, (connected, accepted)) in ends.iter_mut().enumerate() {
        connected.send(&[IoSlice::new(&[number as u8])], soon()).unwrap();
        accepted.send(&[IoSlice::new(&[!number as u8])], soon()).unwrap();
    }
    for (number, (connected, accepted)) in ends.iter_mut().enumerate().rev() {
        accepted.take(soon(), &mut |message| assert_eq!(message, [number as u8])).unwrap();
        connected.take(soon(), &mut |message| assert_eq!(message, [!number as u8])).unwrap();
    }
}

/// While nobody reads the bulk lane, the system lane's messages arrive.
pub fn a_full_bulk_lane_does_not_hold_up_the_system_lane(subject: &impl Subject) {
    let mut listener = listen(subject);
    let (bulk, _unread) = meet_at(subject, &mut *listener, Lane::Bulk);
    let (system, heard) = meet_at(subject, &mut *listener, Lane::System);
    let (mut bulk, _unread) = (bulk.datagram().unwrap(), _unread.datagram().unwrap());
    let (mut system, mut heard) = (system.datagram().unwrap(), heard.datagram().unwrap());
    let size = bulk.limit().min(100_000);
    while bulk.try_fill(size, &mut |_| {}).is_ok() {}
    for number in 0..100u8 {
        system.send(&[IoSlice::new(&[number])], soon()).unwrap();
        heard.take(soon(), &mut |message| assert_eq!(message, [number])).unwrap();
    }
}

/// What was accepted lives on without its listener; the address is free again, and nobody there.
pub fn dropping_the_listener_leaves_what_was_accepted(subject: &impl Subject) {
    let mut listener = listen(subject);
    let address = listener.address().clone();
    let (connected, accepted) = meet_at(subject, &mut *listener, Lane::Bulk);
    drop(listener);
    let (mut connected, mut accepted) =
        (connected.datagram().unwrap(), accepted.datagram().unwrap());
    connected.send(&[IoSlice::new(b"still here")], soon()).unwrap();
    accepted.take(soon(), &mut |message| assert_eq!(message, b"still here")).unwrap();
    let nobody = subject.transport().connect(&address, &hello(Lane::Bulk), soon());
    let nobody = nobody.map(|end| end.peer().clone());
    assert!(matches!(nobody, Err(Error::Refused { .. })), "{nobody:?}");
    let mut again = subject.transport().listen(&address).expect("the address is free");
    drop(meet_at(subject, &mut *again, Lane::Bulk));
}

/// Where somebody listens nobody else can, and is told why; who does is not disturbed.
pub fn an_address_where_somebody_listens_is_taken(subject: &impl Subject) {
    let mut listener = listen(subject);
    let second = subject.transport().listen(listener.address()).err();
    assert!(second.as_ref().is_some_and(Error::is_taken), "{second:?}");
    drop(meet_at(subject, &mut *listener, Lane::Bulk));
}

/// Where nobody listens, one is refused.
pub fn nobody_there_is_a_refusal(subject: &impl Subject) {
    let address = {
        let listener = listen(subject);
        listener.address().clone()
    };
    match subject.transport().connect(&address, &hello(Lane::Bulk), soon()) {
        Err(Error::Refused { peer, .. }) => assert_eq!(peer, address.to_string()),
        other => panic!("{:?}", other.map(|end| end.peer().clone())),
    }
}

/// A service that no hello can say whole is an error that names it, before anybody is looked for;
/// the longest that one can say is said.
pub fn a_service_that_no_hello_can_say_is_refused_at_once(subject: &impl Subject) {
    let mut listener = listen(subject);
    let address = listener.address().clone();
    let say = |service: String| {
        let hello = Hello { service, ..hello(Lane::Bulk) };
        let said = subject.transport().connect(&address, &hello, soon());
        said.map(|end| end.hello().service.clone()).map_err(|error| error.to_string())
    };
    let size = HELLO_TEXT_MAX + 1;
    let long = format!("the name of a service of {size} bytes: at most 255 are possible");
    assert_eq!(say("s".repeat(size)), Err(long));
    let odd = r#"the fabric refuses: the name of a service has control characters: "a\tb""#;
    assert_eq!(say("a\tb".to_owned()), Err(odd.to_owned()));
    let longest = "s".repeat(HELLO_TEXT_MAX);
    let (said, end) = together(|| say(longest.clone()), || listener.accept(soon()));
    assert_eq!((said, &end.unwrap().hello().service), (Ok(longest.clone()), &longest));
}

/// Of a name that no hello can say whole the listener hears the same over every transport.
pub fn a_name_is_heard_as_a_hello_says_it(subject: &impl Subject) {
    let mut listener = listen(subject);
    let address = listener.address().clone();
    let name = |begin: &str| format!("{begin}{}", "n".repeat(HELLO_TEXT_MAX));
    let said = Hello { name: name("connector.\x1b[2J"), ..hello(Lane::Bulk) };
    let mut heard = Hello { name: name("connector.[2J"), ..hello(Lane::Bulk) };
    heard.name.truncate(HELLO_TEXT_MAX);
    let connect = || subject.transport().connect(&address, &said, soon()).map(drop);
    let (connected, end) = together(connect, || listener.accept(soon()));
    let end = end.unwrap();
    connected.unwrap();
    assert_eq!((end.hello(), &end.peer().name), (&heard, &heard.name));
}

/// An address of another transport is no address here.
pub fn a_foreign_address_is_unsupported(subject: &impl Subject) {
    let transport = subject.transport();
    let foreign = subject.foreign();
    let listening = transport.listen(&foreign).map(|listener| listener.address().clone());
    assert!(matches!(listening, Err(Error::Unsupported { .. })), "{listening:?}");
    let connected = transport.connect(&foreign, &hello(Lane::Bulk), soon());
    assert!(matches!(connected, Err(Error::Unsupported { .. })));
    // And the right one is right.
    drop(meet(subject));
}
