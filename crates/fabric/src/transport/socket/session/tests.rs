//! Sessions with each other, and with rustls's own connections.

use super::super::identity::{Identity, Members};
use super::super::tls::Keys as Configured;
use super::*;
use proptest::prelude::*;
use rustls::pki_types::ServerName;
use rustls::{ClientConnection, Connection, ServerConnection};
use std::io::{Read, Write};

/// What two members make handshakes with: `known` are those whose keys are in the list.
fn members(known: &[u8]) -> [Configured; 2] {
    let list = Members::default();
    let identity = |number| Identity::from_secret(&[number; 32]);
    for &number in known {
        list.pin(&format!("n{number}"), identity(number).public_key()).unwrap();
    }
    [1, 2].map(|number| Configured::new(&identity(number), &list))
}

/// Who connects, and who was connected to.
fn pair() -> [Session; 2] {
    let [one, two] = members(&[1, 2]);
    [one.session_to().unwrap(), two.session_from().unwrap()]
}

/// Takes at most so many bytes of what is to leave on one side to the other.
fn carry(from: &mut Session, to: &mut Session, most: usize) -> usize {
    if to.content().is_empty() {
        let room = to.room();
        let size = (room.capacity() - room.len()).min(most).min(from.sealed().len());
        room.extend_from_slice(&from.sealed()[..size]);
        from.sent(size);
        return size;
    }
    0
}

/// Takes content out.
fn read(session: &mut Session) -> Result<Vec<u8>, Cut> {
    let mut bytes = Vec::new();
    while session.find()? {
        bytes.extend_from_slice(session.content());
        session.consume(session.content().len());
    }
    Ok(bytes)
}

/// Carries until nothing moves; what each side got.
fn settle(sides: &mut [Session; 2], most: usize) -> [Vec<u8>; 2] {
    let mut got = [Vec::new(), Vec::new()];
    loop {
        let [one, two] = sides;
        let moved = carry(one, two, most) + carry(two, one, most);
        for (side, got) in sides.iter_mut().zip(&mut got) {
            got.extend(read(side).unwrap());
        }
        if moved == 0 {
            return got;
        }
    }
}

/// The same when they know each other.
pub(in super::super) fn open_pair() -> [Session; 2] {
    let mut sides = pair();
    assert_eq!(settle(&mut sides, usize::MAX), [vec![], vec![]]);
    assert!(sides.iter().all(|side| !side.is_greeting()));
    sides
}

fn channel(session: &mut Session) -> &mut Channel {
    let Phase::Open(channel) = &mut session.phase else { panic!("it is open") };
    channel
}

proptest! {
    #[test]
    fn what_goes_in_comes_out_whatever_pieces_it_travels_in(
        pieces in prop::collection::vec(1usize..70_000, 1..12),
        said in prop::collection::vec((any::<bool>(), 0usize..100_000, 1usize..3), 0..6),
    ) {
        let mut sides = pair();
        let mut most = pieces.iter().cycle().copied();
        while sides.iter().any(Session::is_greeting) {
            prop_assert_eq!(settle(&mut sides, most.next().unwrap()), [vec![], vec![]]);
        }
        for (at, (by_first, size, parts)) in said.into_iter().enumerate() {
            let bytes: Vec<u8> = (0..size).map(|byte| (byte * 31 + at) as u8).collect();
            let slices: Vec<_> = bytes.chunks(size / parts + 1).map(IoSlice::new).collect();
            let by = usize::from(!by_first);
            prop_assert_eq!(sides[by].take(&slices, usize::MAX), size);
            let mut got = Vec::new();
            while got.len() < size {
                let [first, second] = settle(&mut sides, most.next().unwrap());
                got.extend(if by == 0 { second } else { first });
            }
            prop_assert!(got == bytes);
        }
    }
}

#[test]
fn each_side_knows_the_others_key_and_takes_no_more_than_it_is_told() {
    let mut sides = open_pair();
    let key = |number: u8| Some(Identity::from_secret(&[number; 32]).public_key());
    assert_eq!(sides.each_ref().map(Session::peer), [key(2), key(1)]);
    assert_eq!(sides[0].take(&[IoSlice::new(b"four"), IoSlice::new(b"more")], 6), 6);
    assert_eq!(settle(&mut sides, usize::MAX)[1], b"fourmo");
}

#[test]
fn a_key_that_is_used_up_is_followed_by_another_and_no_byte_is_lost() {
    let mut sides = open_pair();
    sides.iter_mut().for_each(|side| channel(side).lasts = 4);
    let first = sides.each_mut().map(|side| channel(side).keys.clone());
    let (mut said, mut got) = ([Vec::new(), Vec::new()], [Vec::new(), Vec::new()]);
    for turn in 0..40u8 {
        for (side, said) in sides.iter_mut().zip(&mut said) {
            let bytes = vec![turn; 100 * usize::from(turn) + 1];
            assert_eq!(side.take(&[IoSlice::new(&bytes)], usize::MAX), bytes.len());
            said.extend(bytes);
        }
        for (got, more) in got.iter_mut().zip(settle(&mut sides, 999)) {
            got.extend(more);
        }
    }
    said.swap(0, 1);
    assert!(got == said);
    for (side, first) in sides.iter_mut().zip(first) {
        assert!(channel(side).keys.sealed() <= 4 && channel(side).keys != first, "it was renewed");
    }
}

#[test]
fn who_takes_the_keys_goes_on_with_the_next_record() {
    let mut sides = open_pair();
    sides[0].take(&[IoSlice::new(b"before")], usize::MAX);
    assert_eq!(settle(&mut sides, usize::MAX)[1], b"before");
    let [given, mut other] = sides;
    let records = Records::new(&given.into_keys().expect("nothing is under way"));
    let mut record = [&[0; HEAD][..], b"behind"].concat();
    records.seal(0, &mut record, 0).unwrap();
    other.room().extend_from_slice(&record);
    assert_eq!(read(&mut other).unwrap(), b"behind");
    other.take(&[IoSlice::new(b"answer")], usize::MAX);
    let (content, _) = records.open(0, &mut other.sealed().to_vec()).unwrap().unwrap();
    assert_eq!(content.len(), 6);
    assert!(other.into_keys().is_none(), "its answer has not left");
}

#[test]
fn what_was_changed_on_the_way_is_found_and_the_other_side_is_told() {
    let mut sides = open_pair();
    sides[0].take(&[IoSlice::new(b"something")], usize::MAX);
    let [from, to] = &mut sides;
    carry(from, to, usize::MAX);
    *to.arrived.last_mut().unwrap() ^= 1;
    let wrong = to.find().unwrap_err();
    assert!(matches!(wrong, Cut::Malformed(_)), "{wrong}");
    assert_eq!(to.find(), Err(wrong), "it stays over");
    carry(to, from, usize::MAX);
    assert_eq!(from.find(), Err(Cut::Refused("TLS alert BadRecordMac".to_owned())));
}

#[test]
fn each_way_ends_for_itself() {
    let mut sides = open_pair();
    sides[0].take(&[IoSlice::new(b"last")], usize::MAX);
    sides[0].finish();
    assert_eq!(settle(&mut sides, usize::MAX)[1], b"last");
    assert!(sides[1].has_ended() && !sides[0].has_ended());
    sides[1].take(&[IoSlice::new(b"but")], usize::MAX);
    assert_eq!(settle(&mut sides, usize::MAX)[0], b"but");
}

/// Has one side say something to the other, which looks at it.
fn say(from: &mut Session, to: &mut Session, kind: u8, words: &[u8]) -> Result<bool, Cut> {
    from.say(kind, words);
    if kind == HANDSHAKE {
        let channel = channel(from);
        let next = channel.kernel.next_outgoing().unwrap();
        channel.change(0, next).unwrap();
    }
    carry(from, to, usize::MAX);
    to.find()
}

#[test]
fn who_has_the_other_side_work_for_nothing_is_cut_off() {
    for (kind, words) in [(DATA, &[][..]), (HANDSHAKE, &[KEY_UPDATE, 0, 0, 1, 1])] {
        let [mut from, mut to] = open_pair();
        for _ in 0..3 {
            for _ in 0..EMPTY_MAX {
                assert_eq!(say(&mut from, &mut to, kind, words), Ok(false));
            }
            assert_eq!(say(&mut from, &mut to, DATA, b"x"), Ok(true), "what has sense is counted");
            to.consume(1);
        }
        for _ in 0..EMPTY_MAX {
            assert_eq!(say(&mut from, &mut to, kind, words), Ok(false));
        }
        let cut = say(&mut from, &mut to, kind, words);
        assert!(matches!(cut, Err(Cut::Malformed(_))), "{cut:?}");
    }
}

#[test]
fn room_grows_with_what_comes_and_is_given_back() {
    let mut sides = open_pair();
    let bytes = vec![9; 3_000_000];
    sides[0].take(&[IoSlice::new(&bytes)], usize::MAX);
    assert!(settle(&mut sides, usize::MAX)[1] == bytes);
    let [from, to] = &mut sides;
    let room = to.room().capacity();
    assert!((ARRIVED_MAX..2 * ARRIVED_MAX).contains(&room), "{room}");
    // The first time, much has just come and gone.
    for _ in 0..=QUIET {
        assert!(to.arrived.capacity() >= ARRIVED_MAX && from.sealed.capacity() >= 3_000_000);
        to.rest();
        from.rest();
    }
    assert_eq!((to.arrived.capacity(), from.sealed.capacity()), (0, RECORD_MAX));
    assert!(to.room().capacity() < 2 * RECORD_MAX, "small words need little");
}

#[test]
fn nothing_is_sent_behind_a_goodbye_or_when_it_is_over() {
    let [mut one, mut two] = open_pair();
    one.finish();
    assert_eq!((one.take(&[IoSlice::new(b"more")], 4), one.may_send().is_err()), (0, true));
    two.room().extend_from_slice(&[DATA, 3, 3, 0, 30]);
    two.room().extend_from_slice(&[1; 30]);
    assert!(two.find().is_err());
    assert_eq!((two.take(&[IoSlice::new(b"more")], 4), two.may_send().is_err()), (0, true));
}

#[test]
fn who_is_in_no_list_is_told_so() {
    let [one, two] = members(&[1]);
    let mut sides = [two.session_to().unwrap(), one.session_from().unwrap()];
    let [unknown, door] = &mut sides;
    let refused = loop {
        carry(unknown, door, usize::MAX);
        let at_door = door.find();
        carry(door, unknown, usize::MAX);
        match (at_door, unknown.find()) {
            (_, Err(cut)) => break cut,
            (Err(cut), _) => assert!(matches!(cut, Cut::Untrusted(_)), "{cut}"),
            _ => {}
        }
    };
    assert_eq!(refused, Cut::Refused("our key is not in its membership list".to_owned()));
}

#[test]
fn what_is_no_tls_is_malformed_and_a_handshake_that_does_not_end_too() {
    let [_, two] = members(&[1, 2]);
    let mut door = two.session_from().unwrap();
    door.room().extend_from_slice(b"GET / HTTP/1.1\r\n\r\n");
    assert!(matches!(door.find(), Err(Cut::Malformed(_))));
    // A message of 16 MiB, which begins.
    let mut door = two.session_from().unwrap();
    let mut record = [&[HANDSHAKE, 3, 3, 0x40, 0][..], &[0; CONTENT_MAX]].concat();
    record[5..9].copy_from_slice(&[1, 0xff, 0xff, 0xff]);
    let mut records = record.iter().copied().cycle();
    let end = (0..100).find_map(|_| {
        let room = door.room();
        let size = room.capacity() - room.len();
        assert!(size > 0, "there is room until it is over");
        room.extend(records.by_ref().take(size));
        door.find().err()
    });
    assert!(matches!(end, Some(Cut::Malformed(_))), "{end:?}");
}

/// Carries between a session and a connection of rustls's own; what the session got.
fn converse(session: &mut Session, other: &mut Connection, into: &mut Vec<u8>) -> Vec<u8> {
    let mut got = Vec::new();
    loop {
        let mut moved = false;
        while other.wants_write() {
            let mut records = Vec::new();
            other.write_tls(&mut records).unwrap();
            for part in records.chunks(1000) {
                session.room().extend_from_slice(part);
                got.extend(read(session).unwrap());
            }
            moved = true;
        }
        while !session.sealed().is_empty() {
            let size = other.read_tls(&mut session.sealed()).unwrap();
            session.sent(size);
            other.process_new_packets().unwrap();
            let mut reader = other.reader();
            let mut bytes = [0; 4096];
            while let Ok(size @ 1..) = reader.read(&mut bytes) {
                into.extend_from_slice(&bytes[..size]);
            }
            moved = true;
        }
        if !moved {
            return got;
        }
    }
}

#[test]
fn rustls_itself_is_none_the_wiser_and_gets_new_keys_when_it_asks() {
    let [one, two] = members(&[1, 2]);
    let name = ServerName::try_from("muster").unwrap();
    let client = ClientConnection::new(one.client.clone(), name).unwrap();
    let server = ServerConnection::new(two.server.clone()).unwrap();
    let both = [
        (two.session_from().unwrap(), Connection::Client(client)),
        (one.session_to().unwrap(), Connection::Server(server)),
    ];
    for (mut session, mut other) in both {
        let mut there = Vec::new();
        assert_eq!(converse(&mut session, &mut other, &mut there), b"");
        assert!(!session.is_greeting() && !other.is_handshaking());
        for turn in 0..4u8 {
            let keys = channel(&mut session).keys.clone();
            // Each asks the other side for another key, too.
            other.refresh_traffic_keys().unwrap();
            other.writer().write_all(&[turn; 20_000]).unwrap();
            assert_eq!(converse(&mut session, &mut other, &mut there), [turn; 20_000]);
            session.take(&[IoSlice::new(&[turn; 30_000])], usize::MAX);
            converse(&mut session, &mut other, &mut there);
            assert_eq!(std::mem::take(&mut there), [turn; 30_000]);
            let now = &channel(&mut session).keys;
            assert!(*now != keys && now.sealed() == 0, "both ways have another key");
        }
        session.finish();
        converse(&mut session, &mut other, &mut there);
        assert!(other.process_new_packets().unwrap().peer_has_closed());
    }
}
