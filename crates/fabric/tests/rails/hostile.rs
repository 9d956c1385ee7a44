//! Peers that say what no rail says: typed errors, and nobody else notices.

use crate::{hello, joined, joins, let_in, listen, meet, received, soon, told, watched, welcomed};
use muster_fabric::address::Address;
use muster_fabric::strategy::Datagram;
use muster_fabric::transport::hello::{self as wire, Refusal};
use muster_fabric::transport::rails::Rails;
use muster_fabric::transport::rails::wire::{HEAD_MAX, Head, JOIN, Join, Seen};
use muster_fabric::transport::{Listener, Transport, socket};
use muster_fabric::{Deadline, Error};
use std::io::{IoSlice, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

fn assert_serves(listener: &mut dyn Listener) {
    let (one, other) = meet(listener);
    let (mut one, mut other) = (one.datagram().unwrap(), other.datagram().unwrap());
    one.send(&[IoSlice::new(b"served")], soon()).unwrap();
    other.take(soon(), &mut |message| assert_eq!(message, b"served")).unwrap();
}

/// What is answered to no join.
fn refusal(rail: &mut TcpStream) -> String {
    let mut answer = Vec::new();
    rail.read_to_end(&mut answer).unwrap();
    match wire::read_answer(&answer) {
        Err(Refusal::Denied(why)) => why,
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_is_no_join_is_sent_away_and_told_why() {
    let mut listener = listen();
    let [join, _] = joins();
    let mut newer = join.write();
    newer[4] = 9;
    let none = Join { count: 0, ..join }.write();
    for (bytes, why) in [
        (&b"\x05\0\0\0hello"[..], "does not begin with RAIL"),
        (&newer, "version 9"),
        (&none, "1 to 8 rails"),
    ] {
        let mut rail = let_in(&mut *listener, 0);
        rail.write_all(bytes).unwrap();
        assert_serves(&mut *listener);
        let told = refusal(&mut rail);
        assert!(told.contains(why), "{told}");
    }
}

#[test]
fn a_rail_that_says_otherwise_than_the_first_is_none_of_the_connection() {
    let mut listener = listen();
    let [join, other] = joins();
    for (tries, lie) in (0..).zip([join, Join { count: 3, ..other }]) {
        // Who comes in first is heard first.
        let [mut first, mut second] = [let_in(&mut *listener, 0), let_in(&mut *listener, 1)];
        first.write_all(&Join { token: [tries; 16], ..join }.write()).unwrap();
        second.write_all(&Join { token: [tries; 16], ..lie }.write()).unwrap();
        // Without its other rail, the first one is a connection after a while.
        let mut end = listener.accept(soon()).unwrap().stream().unwrap();
        assert!(refusal(&mut second).contains("otherwise"));
        welcomed(&mut first);
        assert_eq!(end.try_write(b"x").unwrap(), 1);
    }
    assert_serves(&mut *listener);
}

#[test]
fn a_rail_that_joins_a_connection_which_has_begun_is_refused() {
    let mut listener = listen();
    let [join, late] = joins();
    let [mut first, mut second] = [let_in(&mut *listener, 0), let_in(&mut *listener, 1)];
    first.write_all(&join.write()).unwrap();
    let _end = listener.accept(soon()).unwrap();
    second.write_all(&late.write()).unwrap();
    assert_serves(&mut *listener);
    let told = refusal(&mut second);
    assert!(told.contains("has begun without it"), "{told}");
}

#[test]
fn a_rail_whose_join_is_not_answered_is_left_out_and_named() {
    let doors = [0, 1].map(|_| TcpListener::bind("127.0.0.1:0").unwrap());
    let ports = doors.each_ref().map(|door| door.local_addr().unwrap().port());
    let rails = ports.map(|port| Address::Tcp("127.0.0.1".to_owned(), port));
    let (transport, tales) = watched();
    let to = Address::Rails(rails.to_vec());
    let deadline = Deadline::after(Duration::from_secs(20));
    let connecting = std::thread::spawn(move || {
        transport.connect(&to, &hello(), deadline).unwrap().datagram().unwrap()
    });
    let mut ends = doors.map(|door| {
        let mut end = door.accept().unwrap().0;
        let said = wire::write(&hello());
        assert_eq!(received(&mut end, said.len()), said);
        end.write_all(&wire::welcome()).unwrap();
        end
    });
    let both = ends.each_mut().map(|end| received(end, JOIN));
    assert_eq!(both[0][..22], both[1][..22]);
    ends[1].write_all(&wire::welcome()).unwrap();
    told(&tales, &["cannot be had", &rails[0].to_string(), "it is too slow"]);
    connecting.join().unwrap();
    let mut rest = Vec::new();
    ends[0].read_to_end(&mut rest).unwrap();
    assert_eq!(rest, [], "the connector has hung up");
}

/// An end that is dropped does not depend on when its peer has had enough.
#[test]
fn who_acknowledges_byte_by_byte_does_not_hold_up_an_end_for_ever() {
    let mut listener = listen();
    let ([mut first, _second], end) = joined(&mut *listener, joins()).unwrap();
    let mut end = end.stream().unwrap();
    while end.try_write(&[7; 65_536]).is_ok() {}
    let (dropped, is_dropped) = std::sync::mpsc::channel();
    let dropping = std::thread::spawn(move || {
        drop(end);
        dropped.send(()).unwrap();
    });
    let is_gone = (1..100).any(|taken| {
        let mut bytes = [0; HEAD_MAX];
        Head::Seen(Seen { taken, received: taken, room: 0 }).write(&mut bytes);
        // It fails when the end is gone.
        let _ = first.write_all(&bytes);
        is_dropped.recv_timeout(Duration::from_millis(200)).is_ok()
    });
    assert!(is_gone, "it is still there");
    dropping.join().unwrap();
}

#[test]
fn what_is_no_head_ends_its_connection_alone() {
    let mut listener = listen();
    let head = |head: Head| {
        let mut bytes = [0; HEAD_MAX];
        let size = head.write(&mut bytes);
        bytes[..size].to_vec()
    };
    let seen = Seen { taken: 0, received: 0, room: 0 };
    for (bytes, what) in [
        (vec![9], "no head of kind 9"),
        (head(Head::Piece { at: 0, size: 65_537 }), "a piece of 65537 bytes"),
        (head(Head::Piece { at: 4 << 20, size: 1 }), "there is room up to"),
        (head(Head::Piece { at: u64::MAX, size: 2 }), "there is room up to"),
        (head(Head::Seen(Seen { received: 1, ..seen })), "1 units received of 0"),
        (head(Head::Seen(Seen { taken: 1, ..seen })), "1 units taken"),
        ([head(Head::End { at: 5 }), head(Head::End { at: 6 })].concat(), "an end at 6"),
    ] {
        let ([mut first, _second], end) = joined(&mut *listener, joins()).unwrap();
        let mut end = end.datagram().unwrap();
        first.write_all(&bytes).unwrap();
        let error = end.take(soon(), &mut |_| panic!("there is no message")).unwrap_err();
        assert!(matches!(&error, Error::Malformed { .. }), "{error}");
        assert!(error.to_string().contains(what), "{error}");
        assert_serves(&mut *listener);
    }
}

#[test]
fn who_joins_at_an_end_without_rails_is_told_so() {
    let any = Address::Tcp("127.0.0.1".to_owned(), 0);
    let mut plain = socket::Tcp.listen(&any).unwrap();
    let rails = Address::Rails(vec![plain.address().clone()]);
    let connecting = std::thread::spawn(move || {
        Rails::default().connect(&rails, &hello(), soon()).map(|end| end.peer().clone())
    });
    // It takes the join for a message that is too long.
    let mut end = plain.accept(soon()).unwrap().datagram().unwrap();
    let error = end.take(soon(), &mut |_| panic!("there is no message")).unwrap_err();
    assert!(matches!(error, Error::Malformed { .. }), "{error}");
    drop(end);
    let error = connecting.join().unwrap().unwrap_err();
    assert!(matches!(error, Error::Malformed { .. } | Error::Dead { .. }), "{error}");
}

#[test]
fn a_rail_that_cannot_be_had_is_left_out_and_named() {
    let listening = socket::Tcp.listen(&Address::Tcp("127.0.0.1".to_owned(), 0)).unwrap();
    let nobody = listening.address().clone();
    drop(listening);
    let any = Address::Rails(vec![Address::Tcp("127.0.0.1".to_owned(), 0)]);
    let mut listener = Rails::default().listen(&any).unwrap();
    let Address::Rails(mut rails) = listener.address().clone() else { panic!("rails") };
    rails.insert(0, nobody.clone());
    let (transport, tales) = watched();
    let connecting = std::thread::spawn(move || {
        transport.connect(&Address::Rails(rails), &hello(), soon()).unwrap().datagram().unwrap()
    });
    let mut accepted = listener.accept(soon()).unwrap().datagram().unwrap();
    let mut connected = connecting.join().unwrap();
    told(&tales, &["cannot be had", &nobody.to_string()]);
    connected.send(&[IoSlice::new(b"hi")], soon()).unwrap();
    accepted.take(soon(), &mut |message| assert_eq!(message, b"hi")).unwrap();
}
