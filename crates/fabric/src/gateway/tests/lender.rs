//! Frames that a socket takes by reference.

use crate::gateway::batch::Batch;
use crate::gateway::endpoint::Wire;
use crate::gateway::layout::Memory;
use crate::gateway::lender::Lender;
use crate::gateway::line::{Kept, Line};
use crate::gateway::sys;
use crate::transport::shared::sys::Mapped;
use muster_base::limits::GATEWAY_RUN;
use proptest::prelude::*;
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use std::io::Read;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;

/// Words of a body's place: two pages.
const BODY: usize = 1024;

fn pair() -> (OwnedFd, UnixStream) {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let pair = socketpair(AddressFamily::UNIX, SocketType::STREAM, flags, None);
    let (ours, theirs) = pair.expect("two sockets");
    let theirs = UnixStream::from(theirs);
    theirs.set_nonblocking(false).expect("it may wait");
    (ours, theirs)
}

/// A segment whose bytes are all different, as far as they can be.
fn segment(bodies: usize) -> Arc<Mapped> {
    let memory = Arc::new(Mapped::heap(bodies * BODY * 8));
    (0..bodies * BODY).for_each(|word| memory.store(word, (word as u64).wrapping_mul(0x9e37_79b9)));
    memory
}

/// Sends as a connection does; how much of it went by reference.
fn send(socket: &OwnedFd, memory: &Mapped, batch: &Batch, lender: &Lender) -> usize {
    let rest = || {
        std::thread::yield_now();
        true
    };
    let (socket, words) = (socket.as_fd(), memory.words());
    let lent = lender.send(socket, words, batch, rest).expect("the other one reads");
    let mut sent = lent;
    while sent < batch.len() {
        match sys::send(socket, words, batch.parts(), sent) {
            Ok(size) => sent += size,
            Err(Errno::AGAIN) => std::thread::yield_now(),
            Err(errno) => panic!("{errno}"),
        }
    }
    lent
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn batches_come_as_they_are_whatever_of_them_is_lent(
        batches in proptest::collection::vec(
            (proptest::collection::vec(any::<u8>(), 1..200),
             proptest::collection::vec(1..=BODY * 8, 0..16),
             any::<bool>()),
            1..8,
        ),
    ) {
        let (ours, mut theirs) = pair();
        let (memory, lender) = (segment(16), Lender::new());
        let mut expected = Vec::new();
        let batches = batches.iter().map(|(own, sizes, has_tail)| {
            let mut batch = Batch::new();
            batch.bytes().extend(own);
            expected.extend(own);
            for (slot, size) in sizes.iter().enumerate() {
                batch.lend(slot * BODY, *size);
                let mut body = vec![0; *size];
                memory.read(slot * BODY, &mut body);
                expected.extend(body);
            }
            if *has_tail {
                batch.bytes().extend(b"tail");
                expected.extend(b"tail");
            }
            batch
        });
        let batches: Vec<Batch> = batches.collect();
        let size = expected.len();
        let received = std::thread::scope(|scope| {
            let reader = scope.spawn(|| {
                let mut received = vec![0; size];
                theirs.read_exact(&mut received).map(|()| received)
            });
            for batch in &batches {
                send(&ours, &memory, batch, &lender);
            }
            reader.join().expect("it reads").expect("all comes")
        });
        prop_assert!(received == expected, "other bytes have come");
    }
}

#[test]
fn a_long_frame_is_lent_and_a_short_one_is_not() {
    let (ours, mut theirs) = pair();
    let (memory, lender) = (segment(GATEWAY_RUN), Lender::new());
    let mut batch = Batch::new();
    batch.bytes().extend([0; 32]);
    (0..GATEWAY_RUN).for_each(|slot| batch.lend(slot * BODY, BODY * 8));
    assert_eq!(send(&ours, &memory, &batch, &lender), batch.len());
    theirs.read_exact(&mut vec![0; batch.len()]).expect("all of it");
    batch.clear();
    batch.bytes().extend([0; 32]);
    batch.lend(0, BODY * 8);
    assert_eq!(send(&ours, &memory, &batch, &lender), 0);
    theirs.read_exact(&mut vec![0; batch.len()]).expect("all of it");
}

#[test]
fn a_connection_that_has_ended_is_an_error_and_the_next_one_gets_nothing_of_it() {
    let (memory, lender) = (segment(GATEWAY_RUN), Lender::new());
    let mut batch = Batch::new();
    batch.bytes().extend(*b"first");
    (0..GATEWAY_RUN).for_each(|slot| batch.lend(slot * BODY, BODY * 8));
    let (ours, theirs) = pair();
    drop(theirs);
    let sent = lender.send(ours.as_fd(), memory.words(), &batch, || true);
    assert_eq!(sent, Err(Errno::PIPE));
    let (ours, mut theirs) = pair();
    batch.clear();
    batch.bytes().extend(*b"later");
    (0..GATEWAY_RUN).for_each(|slot| batch.lend(slot * BODY, BODY * 8));
    send(&ours, &memory, &batch, &lender);
    let mut begin = [0; 5];
    theirs.read_exact(&mut begin).expect("it is there");
    assert_eq!(&begin, b"later");
}

#[test]
fn a_frame_is_as_long_as_the_socket_has_room_for_beside_another() {
    let (one, _other) = pair();
    // The kernel makes that twice as much, of which a third is for a frame.
    rustix::net::sockopt::set_socket_send_buffer_size(&one, 64 * 1024).unwrap();
    let line = Line::new(Kept { socket: one, keys: None }, 1, &Arc::new(Lender::new()));
    assert_eq!(line.run(), 5);
}
