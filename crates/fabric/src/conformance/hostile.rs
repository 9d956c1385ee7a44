//! Promises about peers that say what is no message, or nothing, or half of it.

use super::{Raw, Subject, hello, listen, meet_at, not_applicable, soon};
use crate::deadline::Deadline;
use crate::error::Error;
use crate::strategy::Datagram;
use crate::transport::hello::{self as wire, Refusal};
use crate::transport::{Lane, Listener};
use muster_base::limits::{FRAME_MAX, HELLOS_MAX};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::io::{ErrorKind, Read};
use std::thread;
use std::time::Duration;

/// A raw connection, if the transport has such; otherwise the promise means nothing for it.
fn raw(subject: &impl Subject, listener: &dyn Listener, promise: &str) -> Option<Box<dyn Raw>> {
    let raw = subject.raw(listener.address());
    if raw.is_none() {
        not_applicable(subject, promise, "nobody can say to it what is no hello");
    }
    raw
}

/// Whatever happened before, a proper peer is served.
fn assert_serves(subject: &impl Subject, listener: &mut dyn Listener) {
    let (connected, accepted) = meet_at(subject, listener, Lane::Bulk);
    let (mut one, mut other) = (connected.datagram().unwrap(), accepted.datagram().unwrap());
    one.send(&[std::io::IoSlice::new(b"served")], soon()).unwrap();
    other.take(soon(), &mut |message| assert_eq!(message, b"served")).unwrap();
}

/// Whoever came before may still stand at the door: a listener looks only when it is asked to.
fn assert_nobody_comes(listener: &mut dyn Listener) {
    let nobody = listener.accept(Deadline::after(Duration::from_millis(50)));
    assert!(matches!(nobody, Err(Error::Deadline { .. })), "somebody came in");
}

/// What the listener answers before it ends the connection.
fn answer(caller: &mut dyn Read) -> Vec<u8> {
    let (mut answer, mut buffer) = (Vec::new(), [0; 512]);
    loop {
        match caller.read(&mut buffer) {
            Ok(0) => return answer,
            Ok(size) => answer.extend_from_slice(&buffer[..size]),
            // Of what it said it had not read all.
            Err(error) if error.kind() == ErrorKind::ConnectionReset => return answer,
            Err(error) => panic!("no end: {error}"),
        }
    }
}

/// Who says no hello is sent away and told why; the next one is served.
pub fn garbage_is_no_hello(subject: &impl Subject) {
    let mut listener = listen(subject);
    let proper = wire::write(&hello(Lane::Bulk));
    let early = [&proper[..], b"more"].concat();
    for garbage in [&b"GET / HTTP/1.1\r\n\r\n"[..], &[0xff; 5000], b"MSTR\x01\0\x09", &early] {
        let Some(mut caller) = raw(subject, &*listener, "garbage_is_no_hello") else { return };
        caller.write_all(garbage).unwrap();
        assert_serves(subject, &mut *listener);
        assert_nobody_comes(&mut *listener);
        let refusal = wire::read_answer(&answer(&mut *caller)).unwrap_err();
        assert!(matches!(refusal, Refusal::Denied(_)), "{refusal}");
    }
}

/// Who speaks another version is answered in the words that all versions share.
pub fn another_version_is_told_so(subject: &impl Subject) {
    let mut listener = listen(subject);
    let Some(mut caller) = raw(subject, &*listener, "another_version_is_told_so") else { return };
    let mut newer = wire::write(&hello(Lane::Bulk));
    newer[4] += 1;
    caller.write_all(&newer).unwrap();
    assert_serves(subject, &mut *listener);
    assert_nobody_comes(&mut *listener);
    let answer = answer(&mut *caller);
    assert_eq!(answer[..7], *b"MSTR\x01\0\x01", "magic, our version, wrong version");
    assert_eq!(answer.len(), wire::answer_size(answer.first_chunk().unwrap()));
}

/// Many say their hellos before anybody looks; none of them is lost.
pub fn a_crowd_is_accepted(subject: &impl Subject) {
    allow_many_descriptors();
    let mut listener = listen(subject);
    let count = subject.crowd();
    // Where a hello alone is no connection, who connects may wait for others to be let in.
    if !subject.is_framed() {
        let address = listener.address().clone();
        return thread::scope(|scope| {
            let connect = || subject.transport().connect(&address, &hello(Lane::Bulk), soon());
            let callers: Vec<_> = (0..count).map(|_| scope.spawn(connect)).collect();
            let _accepted: Vec<_> = (0..count).map(|_| listener.accept(soon()).unwrap()).collect();
            callers.into_iter().for_each(|caller| drop(caller.join().unwrap().unwrap()));
        });
    }
    let callers: Option<Vec<_>> = (0..count)
        .map(|_| {
            let mut caller = raw(subject, &*listener, "a_crowd_is_accepted")?;
            caller.write_all(&wire::write(&hello(Lane::Bulk))).unwrap();
            Some(caller)
        })
        .collect();
    for mut caller in callers.into_iter().flatten() {
        drop(listener.accept(soon()).unwrap());
        let mut answer = [0; wire::ANSWER_HEAD];
        caller.read_exact(&mut answer).unwrap();
        assert_eq!(wire::read_answer(&answer), Ok(Some(answer.len())));
    }
}

/// Tests run beside each other, and some of these hold hundreds.
fn allow_many_descriptors() {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }).unwrap();
}

/// More than may wait at the door connect and say nothing, or half a hello.
pub fn silent_connectors_hold_up_nobody(subject: &impl Subject) {
    allow_many_descriptors();
    let mut listener = listen(subject);
    let mut silent = Vec::new();
    for number in 0..HELLOS_MAX + 40 {
        let Some(mut caller) = raw(subject, &*listener, "silent_connectors_hold_up_nobody") else {
            return;
        };
        caller.write_all(&b"MSTR"[..number % 5]).unwrap();
        silent.push(caller);
        if number % 50 == 0 {
            assert_serves(subject, &mut *listener);
        }
    }
    assert_serves(subject, &mut *listener);
}

/// A raw connection after its hello, and the listener's end of it as messages.
fn greeted(
    subject: &impl Subject,
    listener: &mut dyn Listener,
    promise: &str,
) -> Option<(Box<dyn Raw>, Box<dyn Datagram>)> {
    if !subject.is_framed() {
        not_applicable(subject, promise, "behind its hello there are no frames");
        return None;
    }
    let mut caller = raw(subject, listener, promise)?;
    caller.write_all(&wire::write(&hello(Lane::Bulk))).unwrap();
    let accepted = listener.accept(soon()).unwrap().datagram().unwrap();
    let mut answer = [0; wire::ANSWER_HEAD];
    caller.read_exact(&mut answer).unwrap();
    assert_eq!(wire::read_answer(&answer), Ok(Some(answer.len())));
    Some((caller, accepted))
}

/// A length above the limit is an error before memory is taken, and no one else's.
pub fn a_lying_length_ends_its_connection_alone(subject: &impl Subject) {
    let mut listener = listen(subject);
    let Some((mut caller, mut accepted)) =
        greeted(subject, &mut *listener, "a_lying_length_ends_its_connection_alone")
    else {
        return;
    };
    caller.write_all(&(FRAME_MAX as u32 + 1).to_le_bytes()).unwrap();
    let error = accepted.take(soon(), &mut |_| panic!("there is no message")).unwrap_err();
    assert!(matches!(error, Error::Malformed { .. }), "{error}");
    assert_serves(subject, &mut *listener);
}

/// A peer that goes in the middle of a message is dead, not closed, and half is not delivered.
pub fn a_cut_message_is_a_death(subject: &impl Subject) {
    let mut listener = listen(subject);
    for part in [0, 3, 4, 999] {
        let Some((mut caller, mut accepted)) =
            greeted(subject, &mut *listener, "a_cut_message_is_a_death")
        else {
            return;
        };
        let frame = [&1000u32.to_le_bytes()[..], &[7; 1000]].concat();
        caller.write_all(&frame[..part]).unwrap();
        let brief = crate::Deadline::after(Duration::from_millis(1));
        let waiting = accepted.take(brief, &mut |_| panic!("half a message"));
        assert!(matches!(waiting, Err(Error::Deadline { .. })), "{waiting:?}");
        drop(caller);
        let error = accepted.take(soon(), &mut |_| panic!("half a message")).unwrap_err();
        assert!(matches!(error, Error::Dead { .. }), "{error}");
    }
}
