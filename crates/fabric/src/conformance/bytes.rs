//! Promises about bytes.

use super::{Subject, late, meet, not_applicable, pattern, soon, together, until};
use crate::deadline::Deadline;
use crate::error::Error;
use crate::strategy::{Bare, Ready, Stream, Wait};
use crate::transport::socket::is_ready;
use rustix::event::PollFlags;
use std::io::IoSlice;
use std::os::fd::BorrowedFd;
use std::time::Duration;

fn write(end: &mut dyn Stream, mut bytes: &[u8]) {
    while !bytes.is_empty() {
        match end.try_write(bytes) {
            Ok(size) => bytes = &bytes[size..],
            Err(Error::WouldBlock) => end.wait(Ready::Send, soon()).unwrap(),
            Err(error) => panic!("{error}"),
        }
    }
}

fn read_to_end(end: &mut dyn Stream) -> Vec<u8> {
    let (mut all, mut buffer) = (Vec::new(), vec![0; 10_000]);
    loop {
        match end.try_read(&mut buffer) {
            Ok(0) => return all,
            Ok(size) => all.extend_from_slice(&buffer[..size]),
            Err(Error::WouldBlock) => end.wait(Ready::Receive, soon()).unwrap(),
            Err(error) => panic!("{error}"),
        }
    }
}

/// Bytes arrive as they were written, up to where the writer finished; the other way stays open.
pub fn bytes_end_where_the_writer_ends_them(subject: &impl Subject) {
    let (connected, accepted) = meet(subject);
    let (mut one, mut other) = (connected.stream().unwrap(), accepted.stream().unwrap());
    let bytes = pattern(3_000_000, 1);
    let request = || {
        write(&mut *one, &bytes);
        one.finish(soon()).unwrap();
        read_to_end(&mut *one)
    };
    let (answer, request) = together(request, || {
        let request = read_to_end(&mut *other);
        write(&mut *other, b"all of it");
        other.finish(soon()).unwrap();
        request
    });
    assert!(request == bytes, "{} other bytes", request.len());
    assert_eq!(answer, b"all of it");
}

/// The end of bytes waits for room no longer than its deadline, and is said then by another try.
pub fn the_end_of_bytes_waits_no_longer_than_its_deadline(subject: &impl Subject) {
    let (connected, accepted) = meet(subject);
    let (mut one, mut other) = (connected.stream().unwrap(), accepted.stream().unwrap());
    // Many small pieces take all the room that there is, also where an end needs little.
    let (mut count, mut refused) = (0, 0);
    while refused < 3 {
        match one.try_write(&[7; 64]) {
            Ok(size) => (count, refused) = (count + size, 0),
            Err(error) => {
                assert!(error.is_would_block(), "{error}");
                refused += 1;
            }
        }
    }
    // A stream may end without room for it.
    let has_ended = match one.finish(Deadline::now()) {
        Err(Error::Deadline { waited, .. }) => {
            assert!(waited < Duration::from_secs(2), "it has waited {waited:?}");
            false
        }
        ended => ended.is_ok(),
    };
    let finish = || {
        if !has_ended {
            one.finish(soon()).unwrap();
        }
        one.flush(soon()).unwrap();
    };
    let ((), bytes) = together(finish, || read_to_end(&mut *other));
    assert!(bytes == vec![7; count], "{} bytes of {count}", bytes.len());
}

/// Bytes that lie in several places come as one row, each time at least one of them.
pub fn bytes_in_several_places_come_as_one(subject: &impl Subject) {
    let (connected, accepted) = meet(subject);
    let (mut one, mut other) = (connected.stream().unwrap(), accepted.stream().unwrap());
    let bytes = pattern(1_000_000, 5);
    let write = || {
        let mut rest = &bytes[..];
        // Where nothing lies there may be nothing, also in front.
        let mut parts: Vec<_> = [0, 1, 0, 10, 5000, 200_000, 0, 70_000]
            .iter()
            .map(|&size| IoSlice::new(rest.split_off(..size).expect("there is more")))
            .collect();
        parts.push(IoSlice::new(rest));
        let mut parts = &mut parts[..];
        while !parts.is_empty() {
            match one.try_write_parts(parts) {
                Ok(size) => {
                    assert!(size > 0, "no byte was sent, and there was room");
                    IoSlice::advance_slices(&mut parts, size);
                }
                Err(Error::WouldBlock) => one.wait(Ready::Send, soon()).unwrap(),
                Err(error) => panic!("{error}"),
            }
        }
        one.finish(soon()).unwrap();
        one.flush(soon()).unwrap();
        one
    };
    let (_one, came) = together(write, || read_to_end(&mut *other));
    assert!(came == bytes, "{} other bytes", came.len());
}

/// What the peer has read has been delivered.
pub fn what_was_read_is_delivered(subject: &impl Subject) {
    let (connected, accepted) = meet(subject);
    let (mut one, mut other) = (connected.stream().unwrap(), accepted.stream().unwrap());
    let bytes = pattern(1_000_000, 6);
    let write = || one.write(&bytes, soon()).unwrap();
    let ((), came) = together(write, || {
        let mut came = vec![0; bytes.len()];
        read_all(&mut *other, &mut came);
        came
    });
    assert!(came == bytes, "other bytes");
    let otherwise = "what was read is not said to be delivered";
    until(late(subject), otherwise, || one.try_flush().unwrap() && one.is_delivered());
}

fn read_all(end: &mut dyn Stream, mut to: &mut [u8]) {
    while !to.is_empty() {
        match end.read(to, soon()).unwrap() {
            0 => panic!("{} bytes have not come", to.len()),
            size => to = &mut to[size..],
        }
    }
}

/// Where a stream shows the socket below it, its bytes come and go there; where it shows none,
/// nothing can be made bare of it.
pub fn a_socket_below_carries_the_bytes(subject: &impl Subject) {
    let (connected, accepted) = meet(subject);
    let (mut one, mut other) = (connected.stream().unwrap(), accepted.stream().unwrap());
    if one.socket().is_none() {
        let refused = one.bare().map(drop);
        assert!(matches!(refused, Err(Error::Refused { .. })), "{refused:?}");
        let promise = "a_socket_below_carries_the_bytes";
        return not_applicable(subject, promise, "a stream has no socket below it");
    }
    for round in 0..2u8 {
        one.write(&[round; 9], soon()).unwrap();
        assert_eq!(receive(late(subject), other.socket().expect("as before")), [round; 9]);
        let socket = other.socket().expect("as before");
        assert_eq!(rustix::io::write(socket, &[!round; 9]), Ok(9));
        let mut came = [0; 9];
        read_all(&mut *one, &mut came);
        assert_eq!(came, [!round; 9]);
    }
    // What records a session makes of bytes is no matter of transports.
    if let Bare { socket, session: None } = one.bare().unwrap() {
        assert_eq!(rustix::io::write(socket, b"bare"), Ok(4));
        let mut came = [0; 4];
        read_all(&mut *other, &mut came);
        assert_eq!(&came, b"bare");
    }
}

/// Nine bytes that come at a socket.
fn receive(late: Deadline, socket: BorrowedFd<'_>) -> [u8; 9] {
    let (mut bytes, mut size) = ([0; 9], 0);
    while size < bytes.len() {
        let left = late.left().expect("the bytes of a stream come at its socket");
        // A socket that blocks is read only when something is there.
        if is_ready(socket, PollFlags::IN, left).unwrap() {
            size += rustix::io::read(socket, &mut bytes[size..]).unwrap();
        }
    }
    bytes
}
