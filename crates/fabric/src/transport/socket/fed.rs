//! Any bytes from the other side of a TLS connection, for those who look for bytes that break it.

use super::identity::{Identity, Members};
use super::records::{HEAD, Keys, Records};
use super::session::Session;
use super::tls::Keys as Configured;
use std::io::IoSlice;
use std::sync::LazyLock;

/// What two members make handshakes with.
static PAIR: LazyLock<[Configured; 2]> = LazyLock::new(|| {
    let list = Members::default();
    let identity = |number| Identity::from_secret(&[number; 32]);
    for number in [1, 2] {
        list.pin(&format!("n{number}"), identity(number).public_key()).expect("there is room");
    }
    [1, 2].map(|number| Configured::new(&identity(number), &list))
});

/// Reads any bytes as a connection's keys and their records, and has them come to either side of a
/// handshake, and to both sides of an open connection as what nobody has sealed.
///
/// The first two bytes say in which pieces they come, and behind how much that is right.
///
/// # Panics
/// When more is read than was said, or what was sealed is not what is opened.
pub fn read_as_all(bytes: &[u8]) {
    read_records(bytes);
    let [step, right, bytes @ ..] = bytes else { return };
    let step = usize::from(*step) * 16 + 1;
    let [one, two] = &*PAIR;
    for mut side in [one.session_to(), two.session_from()].map(|side| side.expect("it begins")) {
        let heard = hear(&mut side, bytes, step);
        assert!(heard.is_empty(), "nobody was proved to have said it");
        assert!(side.peer().is_none());
    }
    let mut sides = [one.session_to(), two.session_from()].map(|side| side.expect("it begins"));
    // A handshake is in a few pieces, of which so many arrive as they were sent.
    for turn in 0..usize::from(*right % 8) {
        let words = sides[turn % 2].sealed().to_vec();
        sides[turn % 2].sent(words.len());
        assert!(hear(&mut sides[1 - turn % 2], &words, step).is_empty());
    }
    let is_open = sides.iter().all(|side| !side.is_greeting());
    if is_open {
        let [said, told] = &mut sides;
        assert_eq!(said.take(&[IoSlice::new(bytes)], bytes.len()), bytes.len());
        let words = said.sealed().to_vec();
        said.sent(words.len());
        assert_eq!(hear(told, &words, step), bytes);
    }
    for side in &mut sides {
        assert!(hear(side, bytes, step).is_empty());
        side.finish();
        side.rest();
    }
}

/// Takes what has arrived in pieces; what a side finds in it.
fn hear(side: &mut Session, mut bytes: &[u8], step: usize) -> Vec<u8> {
    let mut heard = Vec::new();
    while !bytes.is_empty() {
        let room = side.room();
        let size = (room.capacity() - room.len()).min(step).min(bytes.len());
        assert!(size > 0, "there is room for a byte");
        room.extend_from_slice(&bytes[..size]);
        bytes = &bytes[size..];
        while let Ok(true) = side.find() {
            heard.extend_from_slice(side.content());
            side.consume(side.content().len());
        }
        if side.has_ended() || side.may_send().is_err() {
            break;
        }
    }
    heard
}

/// What comes is sealed and opened with any keys.
fn read_records(bytes: &[u8]) {
    let Some((keys, bytes)) = bytes.split_first_chunk::<{ Keys::SIZE }>() else { return };
    let read = Keys::decode(keys);
    assert_eq!(read.encode()[1..], keys[1..]);
    let (out, back) = keys[1..].split_at(keys.len() / 2);
    let there = [&keys[..1], back, out].concat();
    let there = Records::new(&Keys::decode(there.first_chunk().expect("as many")));
    let here = Records::new(&read);
    let mut arrived = bytes.to_vec();
    assert!(!matches!(here.open(0, &mut arrived), Ok(Some(_))), "nobody has sealed it");
    for number in [0, 1, u64::MAX] {
        let mut batch = [&[0; HEAD], bytes].concat();
        if here.seal(number, &mut batch, 0).is_ok() {
            let whole = batch.len();
            let opened = there.open(number, &mut batch).expect("it is one").expect("it is whole");
            assert_eq!((&batch[opened.0], opened.1), (bytes, whole));
        }
    }
}
