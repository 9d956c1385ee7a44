//! Each emulation over a pipe in memory that takes and gives as little at a time as it likes.

use super::framed::GOODBYE;
use super::*;
use crate::protocol::Payload;
use crate::region::{Region, Rights};
use crate::strategy::{
    ActiveMessage, Completion, Datagram, Handler, Handlers, Key, RemoteCopy, Stream, Taken,
};
use crate::transport::{Peer, Protection};
use muster_base::limits::{ANSWERS_MAX, COPY_MAX, FRAME_MAX, HELD_MAX};
use proptest::collection::vec;
use proptest::prelude::*;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// One direction: bytes under way, and whether the writer is gone.
type Way = Arc<Mutex<(VecDeque<u8>, bool)>>;

/// One end of a pipe that holds `room` bytes and moves `step` at a time.
struct Pipe {
    peer: Peer,
    to: Way,
    from: Way,
    room: usize,
    step: usize,
}

impl Pipe {
    fn pair(room: usize, step: usize) -> (Pipe, Pipe) {
        let ways = [Way::default(), Way::default()];
        let peer = |name: &str| Peer::new(name.to_owned(), Protection::Local);
        let end = |peer, to: &Way, from: &Way| {
            let (to, from) = (to.clone(), from.clone());
            Pipe { peer, to, from, room, step }
        };
        (end(peer("right"), &ways[0], &ways[1]), end(peer("left"), &ways[1], &ways[0]))
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        self.to.lock().unwrap().1 = true;
    }
}

impl Wait for Pipe {
    fn peer(&self) -> &Peer {
        &self.peer
    }

    fn me(&self) -> &str {
        "near"
    }

    /// Both ends are in one thread: to wait would be for ever.
    fn wait(&mut self, _: Ready, deadline: Deadline) -> Result<()> {
        Err(deadline.missed("a test", &self.peer.name, "a turn"))
    }
}

impl Stream for Pipe {
    fn try_write(&mut self, bytes: &[u8]) -> Result<usize> {
        let mut to = self.to.lock().unwrap();
        if self.from.lock().unwrap().1 {
            let evidence = "it was dropped".to_owned();
            return Err(Error::Dead { peer: self.peer.name.clone(), evidence });
        }
        let size = bytes.len().min(self.step).min(self.room - to.0.len());
        to.0.extend(&bytes[..size]);
        if size == 0 { Err(Error::WouldBlock) } else { Ok(size) }
    }

    fn try_read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let mut from = self.from.lock().unwrap();
        let size = buffer.len().min(self.step).min(from.0.len());
        for (byte, arrived) in buffer.iter_mut().zip(from.0.drain(..size)) {
            *byte = arrived;
        }
        if size == 0 && !from.1 { Err(Error::WouldBlock) } else { Ok(size) }
    }

    fn finish(&mut self, _: Deadline) -> Result<()> {
        self.to.lock().unwrap().1 = true;
        Ok(())
    }
}

fn received(end: &mut impl Datagram) -> Result<Vec<u8>> {
    let mut got = Vec::new();
    end.try_take(&mut |message| got = message.to_vec())?;
    Ok(got)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn messages_stay_whole_and_in_order_whatever_the_stream_cuts(
        messages in vec(vec(any::<u8>(), 0..9000), 1..8),
        room in 50usize..20_000,
        step in 20usize..5000,
        how in 0..3,
    ) {
        let (left, right) = Pipe::pair(room, step);
        let (mut left, mut right) = (Framed::new(left), Framed::new(right));
        let (mut sent, mut got) = (0, Vec::new());
        while got.len() < messages.len() {
            if let Some(message) = messages.get(sent) {
                let (first, second) = message.split_at(message.len() / 3);
                let tried = match how {
                    0 => left.try_fill(message.len(), &mut |to| to.copy_from_slice(message)),
                    1 => left.try_send(&[IoSlice::new(first), IoSlice::new(second)]),
                    _ => left.try_queue(&[first], &Payload::from(second.to_vec())),
                };
                match tried {
                    Ok(()) => sent += 1,
                    Err(error) => prop_assert!(error.is_would_block()),
                }
            }
            // Queued ones gather while there are more.
            if how < 2 || sent == messages.len() || sent % 3 == 0 {
                left.try_flush().unwrap();
            }
            match received(&mut right) {
                Ok(message) => got.push(message),
                Err(error) => prop_assert!(error.is_would_block()),
            }
        }
        prop_assert_eq!(&got, &messages);
    }

    #[test]
    fn bytes_over_messages_are_the_same_bytes(
        bytes in vec(any::<u8>(), 0..50_000),
        cuts in vec(1usize..9000, 1..20),
    ) {
        let (left, right) = Pipe::pair(1 << 20, 1 << 20);
        let mut left = Streamed::new(Framed::new(left));
        let mut right = Streamed::new(Framed::new(right));
        let (mut sent, mut got, mut turn) = (0, Vec::new(), cuts.iter().cycle());
        let mut buffer = vec![0; 9000];
        while sent < bytes.len() {
            let end = bytes.len().min(sent + turn.next().unwrap());
            sent += left.try_write(&bytes[sent..end]).unwrap();
        }
        left.finish(Deadline::now()).unwrap();
        loop {
            match right.try_read(&mut buffer[..*turn.next().unwrap()]).unwrap() {
                0 => break,
                size => got.extend_from_slice(&buffer[..size]),
            }
        }
        prop_assert_eq!(got, bytes);
    }
}

#[test]
fn queued_messages_leave_together_and_not_before_they_are_to() {
    let (left, right) = Pipe::pair(1000, 1000);
    let (mut left, mut right) = (Framed::new(left), Framed::new(right));
    for message in [b"one", b"two"] {
        left.try_queue(&[message], &Payload::default()).unwrap();
        assert!(received(&mut right).unwrap_err().is_would_block());
    }
    assert!(left.try_flush().unwrap());
    assert_eq!([received(&mut right).unwrap(), received(&mut right).unwrap()], [b"one", b"two"]);
}

#[test]
fn a_long_message_is_the_receivers_and_its_memory_comes_back_when_it_is_dropped() {
    let (left, right) = Pipe::pair(1 << 20, 1 << 20);
    let (mut left, mut right) = (Framed::new(left), Framed::new(right));
    let mut keep = |byte: u8| {
        left.try_queue(&[b"head"], &Payload::from(vec![byte; 300_000])).unwrap();
        left.try_queue(&[b"next"], &Payload::default()).unwrap();
        assert!(left.try_flush().unwrap());
        let mut kept = None;
        let keep = &mut |taken: Taken<'_>| match taken {
            Taken::Kept(payload) => kept = Some(payload),
            Taken::Seen(_) => panic!("a copy"),
        };
        right.try_keep(keep).unwrap();
        assert_eq!(received(&mut right).unwrap(), b"next");
        let kept = kept.expect("it was taken");
        assert!(kept[..4] == *b"head" && kept[4..] == vec![byte; 300_000]);
        kept
    };
    let first = keep(1);
    let second = keep(2);
    assert!(first[4..].iter().all(|byte| *byte == 1), "who holds it has it alone");
    assert_ne!(first.as_ptr(), second.as_ptr());
    let memory = second.as_ptr();
    drop(second);
    assert_eq!(keep(3).as_ptr(), memory);
}

#[test]
fn an_orderly_end_and_a_death_are_told_apart() {
    let (left, right) = Pipe::pair(1000, 1000);
    let (mut left, mut right) = (Framed::new(left), Framed::new(right));
    left.try_send(&[IoSlice::new(b"last")]).unwrap();
    drop(left);
    // A failing send finds the goodbye behind a message that nobody has taken yet.
    let refused = right.try_send(&[IoSlice::new(b"x")]);
    assert!(matches!(refused, Err(Error::Closed { .. })), "{refused:?}");
    assert_eq!(received(&mut right).unwrap(), b"last");
    assert!(matches!(received(&mut right), Err(Error::Closed { .. })));

    for cut in [0, 2, 5] {
        let (mut left, right) = Pipe::pair(1000, 1000);
        left.try_write(&[&9u32.to_le_bytes()[..], b"abc"].concat()[..cut + 1]).unwrap();
        drop(left);
        let ended = received(&mut Framed::new(right));
        assert!(matches!(ended, Err(Error::Dead { .. })), "{ended:?}");
    }
}

#[test]
fn half_a_message_is_not_followed_by_a_goodbye() {
    let (left, right) = Pipe::pair(100, 100);
    let mut left = Framed::new(left);
    left.try_fill(500, &mut |_| {}).unwrap();
    drop(left);
    let mut right = Framed::new(right);
    assert!(matches!(received(&mut right), Err(Error::Dead { .. })));
}

#[test]
fn a_lying_length_takes_no_memory() {
    let (mut left, right) = Pipe::pair(1000, 1000);
    left.try_write(&(FRAME_MAX as u32 + 1).to_le_bytes()).unwrap();
    assert!(matches!(received(&mut Framed::new(right)), Err(Error::Malformed { .. })));
    const { assert!(GOODBYE as usize > FRAME_MAX) };
}

#[test]
fn a_peer_that_stops_reading_has_one_message_at_most_waiting_here() {
    let (left, _right) = Pipe::pair(10_000, 10_000);
    let mut left = Framed::new(left);
    left.try_fill(100_000, &mut |_| {}).unwrap();
    for _ in 0..3 {
        let refused = left.try_fill(1, &mut |_| panic!("no room, so nothing is filled"));
        assert!(refused.unwrap_err().is_would_block());
        assert!(left.try_send(&[IoSlice::new(&[0; 9000])]).unwrap_err().is_would_block());
    }
    let large = left.try_fill(FRAME_MAX + 1, &mut |_| {});
    assert!(matches!(large, Err(Error::TooLarge { .. })));
}

/// Answers each call with the arguments reversed; notes what came.
#[derive(Default)]
struct Echo(Vec<(Handler, Vec<u8>)>);

impl Handlers for Echo {
    fn handle(
        &mut self,
        handler: Handler,
        arguments: &[u8],
        answer: &mut dyn FnMut(Handler, &[u8]),
    ) -> std::result::Result<(), String> {
        self.0.push((handler, arguments.to_vec()));
        match handler {
            7 => answer(8, &arguments.iter().rev().copied().collect::<Vec<_>>()),
            8 => {}
            _ => return Err(format!("no handler {handler}")),
        }
        Ok(())
    }
}

#[test]
fn calls_are_answered_in_order_through_any_bottleneck() {
    let (left, right) = Pipe::pair(50, 7);
    let mut left = Active::new(Framed::new(left));
    let mut right = Active::new(Framed::new(right));
    let (mut here, mut there, mut sent) = (Echo::default(), Echo::default(), 0u8);
    while here.0.len() < 100 {
        if sent < 100 && left.try_call(7, &[IoSlice::new(&[sent; 20])]).is_ok() {
            sent += 1;
        }
        right.try_progress(&mut there).unwrap();
        left.try_progress(&mut here).unwrap();
    }
    let expected: Vec<_> = (0..100).map(|number| (8, vec![number; 20])).collect();
    assert_eq!(here.0, expected);
}

/// As [`Echo`], and says that calls alone are answered.
#[derive(Default)]
struct Polite(Echo);

impl Handlers for Polite {
    fn handle(
        &mut self,
        handler: Handler,
        arguments: &[u8],
        answer: &mut dyn FnMut(Handler, &[u8]),
    ) -> std::result::Result<(), String> {
        self.0.handle(handler, arguments, answer)
    }

    fn answering(&self) -> Option<Handler> {
        Some(7)
    }
}

#[test]
fn two_ends_that_answer_each_other_at_length_do_not_stop_each_other() {
    let (left, right) = Pipe::pair(10_000, 10_000);
    let mut ends = [left, right].map(|end| (Active::new(Framed::new(end)), Polite::default(), 0u8));
    let is_done = |done: &Polite| done.0.0.iter().filter(|(handler, _)| *handler == 8).count() == 5;
    for _ in 0..10_000 {
        for (end, handlers, sent) in &mut ends {
            let call = vec![*sent; ANSWERS_MAX / 2];
            if *sent < 5 && end.try_call(7, &[IoSlice::new(&call)]).is_ok() {
                *sent += 1;
            }
            end.try_progress(handlers).unwrap();
        }
        if ends.iter().all(|(_, done, _)| is_done(done)) {
            break;
        }
    }
    for (_, done, _) in ends {
        let came = |number| done.0.0.iter().filter(move |(handler, _)| *handler == number);
        for handler in [7, 8] {
            let order: Vec<u8> = came(handler).map(|(_, bytes)| bytes[0]).collect();
            assert_eq!(order, [0, 1, 2, 3, 4], "handler {handler}");
        }
    }
}

#[test]
fn a_peer_that_calls_and_never_reads_has_a_limited_part_of_memory() {
    let (left, right) = Pipe::pair(100_000, 100_000);
    let (mut left, mut right) = (Active::new(Framed::new(left)), Active::new(Framed::new(right)));
    let call = vec![1; FRAME_MAX / 2];
    let (mut calls, mut idle) = (0, 0);
    while idle < 1000 {
        let is_sent = left.try_call(7, &[IoSlice::new(&call)]).is_ok();
        calls += usize::from(is_sent);
        idle = if is_sent { 0 } else { idle + 1 };
        right.try_progress(&mut Polite::default()).unwrap();
    }
    // One is answered and the answer waits in the frame, another behind it; one is in the pipe.
    let most = HELD_MAX / call.len() + 4;
    assert!((HELD_MAX / call.len()..=most).contains(&calls), "{calls} calls of {most}");
}

#[test]
fn a_call_of_no_handler_ends_the_connection() {
    let (left, right) = Pipe::pair(1000, 1000);
    let mut left = Active::new(Framed::new(left));
    let mut right = Active::new(Framed::new(right));
    left.try_call(99, &[]).unwrap();
    let error = right.try_progress(&mut Echo::default());
    assert!(matches!(error, Err(Error::Malformed { .. })), "{error:?}");
}

type Ends = (Copied<Active<Framed<Pipe>>>, Copied<Active<Framed<Pipe>>>);

fn copying(room: usize) -> Ends {
    let (left, right) = Pipe::pair(room, room);
    (Copied::new(Active::new(Framed::new(left))), Copied::new(Active::new(Framed::new(right))))
}

fn complete((left, right): &mut Ends) -> Completion {
    for _ in 0..1_000_000 {
        assert!(right.try_progress().unwrap().is_none());
        if let Some(completion) = left.try_progress().unwrap() {
            return completion;
        }
    }
    panic!("no completion");
}

#[test]
fn large_copies_arrive_and_take_effect_in_order() {
    let mut ends = copying(100_000);
    let region = Region::new(COPY_MAX, Rights::ALL);
    let key = ends.1.expose(&region).unwrap();
    let bytes: Vec<u8> = (0..1_000_000u32).map(|i| (i % 251) as u8).collect();
    ends.0.try_put(key, 3, &bytes, 1).unwrap();
    ends.0.try_put(key, 4, b"xyz", 2).unwrap();
    ends.0.try_get(key, 3, bytes.len(), 3).unwrap();
    ends.0.try_get(key, 0, 0, 4).unwrap();
    for token in [1, 2] {
        let put = complete(&mut ends);
        assert_eq!((put.token, put.bytes.len(), put.result.is_ok()), (token, 0, true));
    }
    let got = complete(&mut ends);
    assert_eq!(&got.bytes[1..4], b"xyz");
    assert_eq!(&got.bytes[4..], &bytes[4..]);
    assert_eq!(complete(&mut ends).token, 4);
}

#[test]
fn rights_and_bounds_are_the_owners_to_check() {
    let mut ends = copying(1 << 20);
    let region = Region::new(100_000, Rights::READ);
    let readable = ends.1.expose(&region).unwrap();
    let writable = ends.1.expose(&Region::new(100_000, Rights::WRITE)).unwrap();
    let refused = |completion: Completion| {
        let error = completion.result.expect_err("the owner does not allow it");
        assert!(matches!(error, Error::Access { .. }), "{error}");
    };
    // The first piece would fit, but the operation does not.
    ends.0.try_put(writable, 1, &[7; 100_000], 1).unwrap();
    ends.0.try_put(readable, 0, b"x", 2).unwrap();
    ends.0.try_get(writable, 0, 1, 3).unwrap();
    ends.0.try_get(readable, u64::MAX, 1, 4).unwrap();
    ends.0.try_get(Key(77), 0, 1, 5).unwrap();
    (0..5).for_each(|_| refused(complete(&mut ends)));
    ends.0.try_get(readable, 0, 100_000, 6).unwrap();
    assert_eq!(complete(&mut ends).bytes, vec![0; 100_000]);
    ends.1.withdraw(readable).unwrap();
    ends.0.try_get(readable, 0, 1, 7).unwrap();
    refused(complete(&mut ends));
}

#[test]
fn an_owner_that_sleeps_holds_a_bounded_part_of_what_is_asked() {
    let mut ends = copying(1 << 20);
    let key = ends.1.expose(&Region::new(COPY_MAX, Rights::ALL)).unwrap();
    let part = vec![1; COPY_MAX / 4];
    let accepted = (0..).take_while(|token| ends.0.try_put(key, 0, &part, *token).is_ok()).count();
    assert_eq!(accepted, 4);
    for token in 0..4 {
        assert_eq!(complete(&mut ends).token, token);
    }
    assert!(ends.0.try_put(key, 0, &vec![1; COPY_MAX + 1], 9).is_err());
}

/// Has room for everything, of which nothing leaves.
struct Stuck(Peer);

impl Wait for Stuck {
    fn peer(&self) -> &Peer {
        &self.0
    }

    fn me(&self) -> &str {
        "near"
    }

    fn wait(&mut self, _: Ready, _: Deadline) -> Result<()> {
        Ok(())
    }
}

impl Stream for Stuck {
    fn try_write(&mut self, bytes: &[u8]) -> Result<usize> {
        Ok(bytes.len())
    }

    fn try_flush(&mut self) -> Result<bool> {
        Ok(false)
    }

    fn try_read(&mut self, _: &mut [u8]) -> Result<usize> {
        Err(Error::WouldBlock)
    }

    fn finish(&mut self, _: Deadline) -> Result<()> {
        Ok(())
    }
}

#[test]
fn a_write_waits_for_what_does_not_leave_until_its_deadline() {
    let mut stuck = Stuck(Peer::new("far".to_owned(), Protection::Local));
    let error = stuck.write(b"x", Deadline::after(Duration::from_millis(5))).unwrap_err();
    let text = error.to_string();
    assert!(text.starts_with("near has waited") && text.contains("for far: all that"), "{text}");
}

/// It may be full; a peer makes room while it is waited for.
struct Full(Pipe, Arc<AtomicBool>);

impl Wait for Full {
    fn peer(&self) -> &Peer {
        self.0.peer()
    }

    fn me(&self) -> &str {
        self.0.me()
    }

    fn wait(&mut self, _: Ready, _: Deadline) -> Result<()> {
        self.1.store(false, Ordering::Relaxed);
        Ok(())
    }
}

impl Stream for Full {
    fn try_write(&mut self, bytes: &[u8]) -> Result<usize> {
        if self.1.load(Ordering::Relaxed) {
            return Err(Error::WouldBlock);
        }
        self.0.try_write(bytes)
    }

    fn try_read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        self.0.try_read(buffer)
    }

    fn finish(&mut self, deadline: Deadline) -> Result<()> {
        self.0.finish(deadline)
    }
}

#[test]
fn who_leaves_a_full_stream_says_all_of_its_goodbye() {
    let ((one, other), is_full) = (Pipe::pair(2000, 1), Arc::new(AtomicBool::default()));
    let (mut from, mut to) = (Framed::new(Full(one, is_full.clone())), Framed::new(other));
    from.try_send(&[IoSlice::new(b"last")]).unwrap();
    is_full.store(true, Ordering::Relaxed);
    drop(from);
    assert_eq!(received(&mut to).unwrap(), b"last");
    let error = received(&mut to).unwrap_err();
    assert!(matches!(error, Error::Closed { .. }), "{error}");
}

#[test]
fn parts_of_a_message_keep_nobody_longer_than_the_deadline_and_are_not_lost() {
    let (one, other) = Pipe::pair(2000, 1);
    let (mut from, mut to) = (Framed::new(one), Framed::new(other));
    from.try_send(&[IoSlice::new(&[7; 1000])]).unwrap();
    let late = to.take(Deadline::now(), &mut |_| panic!("it came in a thousand parts"));
    assert!(matches!(late, Err(Error::Deadline { .. })), "{late:?}");
    to.try_take(&mut |message| assert_eq!(message, [7; 1000])).unwrap();
}
