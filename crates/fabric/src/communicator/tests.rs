//! What communicators promise, over a connection that breaks on demand.

use super::double::{End, LIMIT, pair};
use super::invocation::{ANSWER, CALL};
use super::mailbox::ROUND;
use super::segment::Piece;
use super::{Invocation, Link, Mail, Mailbox, Object, Port, Segment, Sender};
use crate::adapter::{Adapted, Capability, Guarded, Kind};
use crate::address::Address;
use crate::deadline::Deadline;
use crate::error::{Error, Result};
use crate::region::{Region, Rights};
use crate::strategy::{
    ActiveMessage, Datagram, Handler, Handlers, Key, Ready, RemoteCopy, Stream, Wait,
};
use crate::transport::process::Process;
use crate::transport::{Adapter, Hello, Lane, Listener, Peer, Transport};
use std::io::{IoSlice, Read, Write};
use std::thread;
use std::time::Duration;

const LONG: Duration = Duration::from_secs(60);

fn soon() -> Deadline {
    Deadline::after(LONG)
}

/// What this returns, unless it hangs.
fn in_time<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, result) = std::sync::mpsc::channel();
    let working = thread::spawn(move || done.send(work()).expect("the test waits"));
    let result = result.recv_timeout(LONG).expect("it ends");
    working.join().unwrap();
    result
}

#[test]
fn a_link_carries_more_bytes_than_fit_under_way_and_then_ends() {
    let (a, b) = pair("a", "b");
    let bytes: Vec<u8> = (0..20 * LIMIT).map(|at| at as u8).collect();
    let (mut a, mut b) = (Link::new(a), Link::new(b));
    let received = thread::scope(|scope| {
        scope.spawn(|| {
            a.write(&bytes, soon()).unwrap();
            a.finish(soon()).unwrap();
        });
        let mut received = Vec::new();
        b.within(LONG).read_to_end(&mut received).unwrap();
        received
    });
    assert!(received == bytes);
    b.within(LONG).write_all(b"back").unwrap();
    let mut back = [0; 4];
    a.read_exact(&mut back, soon()).unwrap();
    assert_eq!(&back, b"back");
}

#[test]
fn a_link_whose_peer_says_nothing_ends_its_wait_with_the_peers_name() {
    let (a, _b) = pair("a", "the other");
    let mut a = Link::new(a);
    let error = a.read(&mut [0; 1], Deadline::now()).unwrap_err();
    assert!(matches!(&error, Error::Deadline { whom, .. } if whom == "the other"), "{error}");
    let error = a.within(Duration::ZERO).read(&mut [0; 1]).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::TimedOut);
    assert!(error.to_string().contains("the other"), "{error}");
}

#[test]
fn a_link_tells_a_missing_end_from_a_short_message() {
    let (a, b) = pair("a", "b");
    let (mut a, mut b) = (Link::new(a), Link::new(b));
    a.write(b"ab", soon()).unwrap();
    drop(a);
    assert!(matches!(b.read_exact(&mut [0; 3], soon()), Err(Error::Closed { .. })));
}

#[test]
fn a_port_keeps_messages_whole_and_in_order() {
    let (a, b) = pair("a", "b");
    let (mut a, mut b) = (Port::new(a), Port::new(b));
    a.send(b"one", soon()).unwrap();
    a.fill(3, soon(), |buffer| buffer.copy_from_slice(b"two")).unwrap();
    a.send_parts(&[IoSlice::new(b"th"), IoSlice::new(b"ree")], soon()).unwrap();
    a.flush(soon()).unwrap();
    for expected in ["one", "two", "three"] {
        assert_eq!(b.receive(soon(), |message| message.to_vec()).unwrap(), expected.as_bytes());
    }
    let error = b.receive(Deadline::now(), |_| ()).unwrap_err();
    assert!(matches!(error, Error::Deadline { .. }), "{error}");
    let error = a.send(&[0; LIMIT + 1], soon()).unwrap_err();
    assert!(matches!(error, Error::TooLarge { limit: LIMIT, .. }), "{error}");
}

#[test]
fn a_port_over_a_boxed_strategy_is_a_port() {
    let (a, b) = pair("a", "b");
    let boxed: Box<dyn Datagram> = Box::new(a);
    Port::new(boxed).send(b"hello", soon()).unwrap();
    assert_eq!(Port::new(b).receive(soon(), <[u8]>::len).unwrap(), 5);
}

/// Receives; the sender and what it sent, or its end.
fn next(mailbox: &mut Mailbox<End>) -> std::result::Result<(Sender, String), (Sender, Error)> {
    let mut text = String::new();
    let mail = mailbox.receive(soon(), &mut |message| {
        text = String::from_utf8(message.to_vec()).unwrap();
    });
    match mail.expect("something comes") {
        Mail::From(sender) => Ok((sender, text)),
        Mail::Left { sender, why, .. } => Err((sender, why)),
    }
}

fn send(end: &mut End, text: &str) -> Result<()> {
    end.try_send(&[IoSlice::new(text.as_bytes())])
}

#[test]
fn a_mailbox_says_who_sent_what() {
    let mut mailbox = Mailbox::new("box", 3).unwrap();
    let (mut a, end) = pair("a", "box");
    let a_is = mailbox.admit(end).unwrap();
    let (mut b, end) = pair("b", "box");
    let b_is = mailbox.admit(end.silent()).unwrap();
    assert_eq!(mailbox.peer(a_is).unwrap().name, "a");
    thread::scope(|scope| {
        scope.spawn(|| {
            send(&mut a, "from a").unwrap();
            thread::sleep(Duration::from_millis(20));
            send(&mut b, "from b").unwrap();
        });
        assert_eq!(next(&mut mailbox).unwrap(), (a_is, "from a".to_owned()));
        assert_eq!(next(&mut mailbox).unwrap(), (b_is, "from b".to_owned()));
    });
}

#[test]
fn a_sender_that_never_stops_cannot_keep_the_others_out_of_a_mailbox() {
    let mut mailbox = Mailbox::new("box", 3).unwrap();
    let (mut loud, end) = pair("loud", "box");
    let loud_is = mailbox.admit(end).unwrap();
    let (mut quiet, end) = pair("quiet", "box");
    let quiet_is = mailbox.admit(end).unwrap();
    for _ in 0..3 {
        send(&mut loud, "me").unwrap();
    }
    // Newcomers are looked at once; after that the quiet one is not expected to say anything.
    for _ in 0..2 {
        assert_eq!(next(&mut mailbox).unwrap().0, loud_is);
        send(&mut loud, "me too").unwrap();
    }
    send(&mut quiet, "please").unwrap();
    for before in 0.. {
        assert!(before <= ROUND + 1, "{before} messages were let pass");
        let (sender, _) = next(&mut mailbox).unwrap();
        if sender == quiet_is {
            break;
        }
        send(&mut loud, "me again").unwrap();
    }
}

#[test]
fn a_wait_for_silent_senders_without_descriptors_ends_at_its_deadline() {
    in_time(|| {
        let mut mailbox = Mailbox::new("box", 2).unwrap();
        let (mut a, end) = pair("a", "box");
        let a_is = mailbox.admit(end.silent()).unwrap();
        let (_b, end) = pair("b", "box");
        mailbox.admit(end.silent()).unwrap();
        let brief = Deadline::after(Duration::from_millis(5));
        let error = mailbox.receive(brief, &mut |_| ()).unwrap_err();
        assert!(error.to_string().contains("any of 2 senders"), "{error}");
        send(&mut a, "at last").unwrap();
        let mail = mailbox.receive(Deadline::now(), &mut |_| ()).expect("it is there");
        assert!(matches!(mail, Mail::From(sender) if sender == a_is));
    });
}

#[test]
fn a_sender_that_dies_or_talks_nonsense_leaves_and_the_others_stay() {
    let mut mailbox = Mailbox::new("box", 3).unwrap();
    let (mut good, end) = pair("good", "box");
    let good_is = mailbox.admit(end).unwrap();
    let (mut dying, end) = pair("dying", "box");
    let dying_is = mailbox.admit(end).unwrap();
    let (bad, end) = pair("bad", "box");
    let bad_is = mailbox.admit(end).unwrap();
    send(&mut dying, "last words").unwrap();
    drop(dying);
    bad.spoil();
    let mut left = Vec::new();
    let mut words = 0;
    while left.len() < 2 {
        match next(&mut mailbox) {
            Ok((sender, _)) => {
                assert_eq!(sender, dying_is);
                assert!(!left.contains(&dying_is), "words come before the end");
                words += 1;
            }
            Err((sender, why)) => {
                let is_as_told = match why {
                    Error::Closed { .. } => sender == dying_is,
                    Error::Malformed { .. } => sender == bad_is,
                    _ => false,
                };
                assert!(is_as_told, "{why}");
                left.push(sender);
            }
        }
    }
    assert_eq!(words, 1);
    assert_eq!(mailbox.senders(), 1);
    send(&mut good, "still here").unwrap();
    assert_eq!(next(&mut mailbox).unwrap(), (good_is, "still here".to_owned()));
    let (_new, end) = pair("new", "box");
    let new_is = mailbox.admit(end).unwrap();
    assert!(![good_is, dying_is, bad_is].contains(&new_is), "names are not used again");
    assert!(mailbox.peer(bad_is).is_none());
}

#[test]
fn a_full_mailbox_sends_newcomers_away_and_an_empty_one_ends_its_wait() {
    let mut mailbox = Mailbox::new("box", 1).unwrap();
    let (_a, end) = pair("a", "box");
    let a_is = mailbox.admit(end).unwrap();
    let (_b, end) = pair("b", "box");
    assert!(matches!(mailbox.admit(end), Err(Error::Exhausted { .. })));
    let error = mailbox.receive(Deadline::now(), &mut |_| ()).unwrap_err();
    assert!(error.to_string().contains("any of 1 senders"), "{error}");
    mailbox.dismiss(a_is);
    let (_c, end) = pair("c", "box");
    mailbox.admit(end).unwrap();
    let possible = Mailbox::<End>::new("huge", usize::MAX);
    assert!(matches!(possible, Err(Error::Refused { .. })));
}

const PIECE: u64 = 3000;

/// A segment of three pieces, the middle one here; the owners' regions and ends.
fn segment() -> (Segment<End>, Vec<Region>, Vec<End>) {
    let regions: Vec<Region> = (0..3).map(|_| Region::new(PIECE as usize, Rights::ALL)).collect();
    let mut ends = Vec::new();
    let mut there = |index: usize| {
        let (mine, mut owner) = pair("reader", &format!("owner {index}"));
        let key = owner.expose(&regions[index]).unwrap();
        ends.push(owner);
        Piece::There(mine, key)
    };
    let pieces = vec![there(0), Piece::Here(regions[1].clone()), there(2)];
    (Segment::new(PIECE, pieces).unwrap(), regions, ends)
}

#[test]
fn a_range_across_all_pieces_of_a_segment_is_written_and_read() {
    let (mut segment, regions, _ends) = segment();
    assert_eq!(segment.size(), 3 * PIECE);
    let bytes: Vec<u8> = (0..8000).map(|at| (at % 251) as u8).collect();
    segment.write(500, &bytes, soon()).unwrap();
    let mut read = vec![0; 8000];
    segment.read(500, &mut read, soon()).unwrap();
    assert!(read == bytes);
    let mut last = [0; 1];
    regions[2].read(8499 - 2 * PIECE, &mut last).unwrap();
    assert_eq!(last[0], bytes[7999]);
    let error = segment.read(3 * PIECE - 1, &mut [0; 2], soon()).unwrap_err().to_string();
    assert_eq!(error, "no access to 2 bytes at 8999: the segment ends before");
    assert!(segment.read(u64::MAX, &mut [0; 2], soon()).is_err());
}

#[test]
fn a_segment_has_no_more_bytes_than_offsets_can_name_and_may_have_none() {
    let nothing = || Piece::<End>::Here(Region::new(0, Rights::ALL));
    let mut empty = Segment::new(0, vec![nothing(), nothing()]).unwrap();
    assert_eq!(empty.size(), 0);
    empty.write(0, &[], soon()).unwrap();
    assert!(matches!(empty.write(0, b"x", soon()), Err(Error::Access { .. })));
    let there = |_| {
        let (mine, _) = pair("reader", "owner");
        Piece::There(mine, Key(0))
    };
    assert!(Segment::new(u64::MAX, (0..1).map(there).collect()).is_ok());
    let too_large = Segment::new(u64::MAX / 2, (0..3).map(there).collect());
    assert!(matches!(too_large, Err(Error::TooLarge { .. })));
}

#[test]
fn after_a_fence_all_earlier_puts_have_taken_effect() {
    let (mut segment, regions, _ends) = segment();
    let first = segment.put(0, b"first", soon()).unwrap();
    let _second = segment.put(2 * PIECE, b"second", soon()).unwrap();
    let mut seen = [0; 6];
    regions[2].read(0, &mut seen).unwrap();
    assert_ne!(&seen, b"second", "the double acts when asked, so the fence has something to do");
    segment.fence(soon()).unwrap();
    regions[2].read(0, &mut seen).unwrap();
    assert_eq!(&seen, b"second");
    let mut seen = [0; 5];
    regions[0].read(0, &mut seen).unwrap();
    assert_eq!(&seen, b"first");
    let again = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        segment.wait(first, soon()).map(drop)
    }));
    assert!(again.is_err(), "a fence settles the puts before it");
}

#[test]
fn a_fence_waits_for_a_put_that_was_given_up_half_way() {
    let (mine, mut owner) = pair("writer", "owner");
    let region = Region::new(PIECE as usize, Rights::ALL);
    let key = owner.expose(&region).unwrap();
    let (closed, _other) = pair("writer", "another owner");
    let guarded =
        |end, may: &[Kind]| Adapted::new(end, (Guarded::new("the guard", Capability::of(may)),));
    let open = guarded(mine, &[Kind::Put, Kind::Progress]);
    let closed = guarded(closed, &[Kind::Progress]);
    let pieces = vec![Piece::There(open, key), Piece::There(closed, key)];
    let mut segment = Segment::new(PIECE, pieces).unwrap();
    let error = segment.put(PIECE - 1, b"xy", soon()).unwrap_err();
    assert!(matches!(error, Error::Refused { .. }), "{error}");
    segment.fence(soon()).unwrap();
    let mut seen = [0; 1];
    region.read(PIECE - 1, &mut seen).unwrap();
    assert_eq!(&seen, b"x", "the half that was under way");
    // One of which nobody else is told.
    owner.withdraw(key).unwrap();
    segment.put(PIECE - 1, b"xy", soon()).unwrap_err();
    assert!(matches!(segment.fence(soon()), Err(Error::Access { .. })));
    segment.fence(soon()).expect("it was told of once");
}

#[test]
fn an_operation_that_is_refused_here_loses_no_owner() {
    let (mine, mut owner) = pair("reader", "owner");
    let region = Region::new(PIECE as usize, Rights::ALL);
    let key = owner.expose(&region).unwrap();
    let guard = Guarded::new("the guard", Capability::of(&[Kind::Get, Kind::Progress]));
    let pieces = vec![Piece::There(Adapted::new(mine, (guard,)), key)];
    let mut segment = Segment::new(PIECE, pieces).unwrap();
    let error = segment.write(0, b"x", soon()).unwrap_err();
    assert!(matches!(error, Error::Refused { .. }), "{error}");
    segment.read(0, &mut [0; 1], soon()).expect("that is allowed");
}

#[test]
fn a_lost_owner_takes_its_piece_along_and_nothing_else() {
    let (mut segment, _regions, mut ends) = segment();
    let under_way = segment.put(10, b"x", soon()).unwrap();
    drop(ends.remove(0));
    let error = segment.wait(under_way, soon()).unwrap_err();
    assert!(matches!(&error, Error::Dead { peer, .. } if peer == "owner 0"), "{error}");
    assert!(matches!(segment.write(0, b"x", soon()), Err(Error::Dead { .. })));
    segment.write(PIECE, b"here", soon()).unwrap();
    segment.write(2 * PIECE, b"there", soon()).unwrap();
}

#[test]
fn a_withdrawn_region_refuses_and_a_failed_put_is_told_by_the_fence() {
    let (mut segment, _regions, mut ends) = segment();
    ends[0].withdraw(Key(0)).unwrap();
    assert!(matches!(segment.read(0, &mut [0; 4], soon()), Err(Error::Access { .. })));
    let _ = segment.put(0, b"lost", soon()).unwrap();
    assert!(matches!(segment.fence(soon()), Err(Error::Access { .. })));
    segment.fence(soon()).expect("it was told of once");
}

#[test]
fn operations_that_nobody_waits_for_fill_a_segment_and_a_fence_frees_it() {
    let (mut segment, _regions, _ends) = segment();
    let filled = loop {
        match segment.put(PIECE, b"x", soon()) {
            Ok(_) => {}
            Err(error) => break error,
        }
    };
    assert!(matches!(filled, Error::Exhausted { .. }), "{filled}");
    segment.fence(soon()).unwrap();
    let handle = segment.put(0, b"x", soon()).unwrap();
    segment.wait(handle, soon()).unwrap();
}

/// Adds, divides, and counts its calls.
struct Sum(u32);

impl Object for Sum {
    fn invoke(&mut self, method: u16, arguments: &[u8]) -> std::result::Result<Vec<u8>, String> {
        self.0 += 1;
        match (method, arguments) {
            (0, [a, b]) => Ok(vec![a + b]),
            (1, [_, 0]) => Err("nothing is divided by zero".to_owned()),
            (1, [a, b]) => Ok(vec![a / b]),
            (2, _) => Ok(vec![0; LIMIT]),
            (3, []) => Ok(self.0.to_le_bytes().to_vec()),
            _ => Err("it has no such method".to_owned()),
        }
    }
}

/// Has `use_it` invoke a [`Sum`] that is number 7 at the other end.
fn with_sum(use_it: impl FnOnce(&mut Invocation<End>)) {
    let (a, b) = pair("caller", "owner");
    thread::scope(|scope| {
        let owner = scope.spawn(move || {
            let mut owner = Invocation::new(b);
            owner.register(7, Box::new(Sum(0))).unwrap();
            owner.serve(soon())
        });
        let mut caller = Invocation::new(a);
        use_it(&mut caller);
        drop(caller);
        assert!(matches!(owner.join().unwrap(), Err(Error::Closed { .. })));
    });
}

#[test]
fn an_invocation_returns_what_the_object_returns_errors_included() {
    with_sum(|caller| {
        assert_eq!(caller.call(7, 0, &[2, 3], soon()).unwrap(), [5]);
        assert_eq!(caller.call(7, 1, &[9, 3], soon()).unwrap(), [3]);
        let error = caller.call(7, 1, &[9, 0], soon()).unwrap_err().to_string();
        assert_eq!(error, "owner refuses: nothing is divided by zero");
        let error = caller.call(8, 0, &[], soon()).unwrap_err().to_string();
        assert_eq!(error, "owner refuses: there is no object 8");
        let error = caller.call(7, 2, &[], soon()).unwrap_err().to_string();
        assert!(error.contains("a result of 1000 bytes"), "{error}");
        let error = caller.call(7, 0, &[0; LIMIT], soon()).unwrap_err();
        assert!(matches!(error, Error::TooLarge { .. }), "{error}");
        assert_eq!(caller.call(7, 3, &[], soon()).unwrap(), [5, 0, 0, 0]);
    });
}

#[test]
fn calls_under_way_are_answered_each_with_its_own_result() {
    with_sum(|caller| {
        let calls: Vec<_> =
            (0..200).map(|n| caller.start(7, 0, &[n, 1], soon()).unwrap()).collect();
        for (n, call) in calls.into_iter().enumerate().rev() {
            assert_eq!(caller.wait(call, soon()).unwrap(), [n as u8 + 1]);
        }
    });
}

#[test]
fn an_answer_after_the_deadline_is_not_the_answer_to_the_next_call() {
    let (a, b) = pair("caller", "owner");
    let (mut caller, mut owner) = (Invocation::new(a), Invocation::new(b));
    owner.register(7, Box::new(Sum(0))).unwrap();
    let error = caller.call(7, 0, &[1, 1], Deadline::now()).unwrap_err();
    assert!(matches!(error, Error::Deadline { .. }), "{error}");
    let call = caller.start(7, 0, &[2, 2], soon()).unwrap();
    assert_eq!(owner.progress().unwrap() + owner.progress().unwrap(), 2);
    assert_eq!(caller.wait(call, soon()).unwrap(), [4]);
}

/// An end whose peer calls without a break, and answers nothing.
struct Flood(End);

impl Wait for Flood {
    fn peer(&self) -> &Peer {
        self.0.peer()
    }

    fn me(&self) -> &str {
        "flooded"
    }

    fn wait(&mut self, _: Ready, _: Deadline) -> Result<()> {
        Ok(())
    }
}

impl ActiveMessage for Flood {
    fn limit(&self) -> usize {
        LIMIT
    }

    fn try_call(&mut self, handler: Handler, arguments: &[IoSlice<'_>]) -> Result<()> {
        self.0.try_call(handler, arguments)
    }

    fn try_progress(&mut self, handlers: &mut dyn Handlers) -> Result<usize> {
        let call = [0; 10];
        handlers.handle(CALL, &call, &mut |_, _| ()).map(|()| 1).map_err(|what| panic!("{what}"))
    }
}

/// The parts of a long message wake it again and again, and no byte of it can be read yet.
impl Stream for Flood {
    fn try_write(&mut self, bytes: &[u8]) -> Result<usize> {
        self.0.try_write(bytes)
    }

    fn try_read(&mut self, _: &mut [u8]) -> Result<usize> {
        Err(Error::WouldBlock)
    }

    fn finish(&mut self, deadline: Deadline) -> Result<()> {
        Stream::finish(&mut self.0, deadline)
    }
}

#[test]
fn a_links_read_ends_at_its_deadline_even_if_no_wait_of_its_stream_does() {
    let (a, _b) = pair("reader", "writer");
    let brief = Deadline::after(Duration::from_millis(5));
    let error = in_time(move || Link::new(Flood(a)).read(&mut [0], brief).unwrap_err());
    assert!(matches!(error, Error::Deadline { .. }), "{error}");
}

#[test]
fn a_peer_that_never_stops_calling_puts_off_no_deadline() {
    let (a, _b) = pair("caller", "owner");
    let waited = in_time(move || {
        let mut caller = Invocation::new(Flood(a));
        let brief = || Deadline::after(Duration::from_millis(5));
        let waited = caller.call(7, 0, &[1, 1], brief()).unwrap_err();
        // Nobody takes anything, so there soon is no room.
        loop {
            match caller.start(7, 0, &[1, 1], brief()) {
                Ok(_) => {}
                Err(error) => return [waited, error],
            }
        }
    });
    for (error, expected) in waited.iter().zip(["an answer", "room for a call"]) {
        assert!(matches!(error, Error::Deadline { what, .. } if what == expected), "{error}");
    }
}

#[test]
fn two_ends_may_wait_for_each_other() {
    let (a, b) = pair("a", "b");
    let each = |end: End| {
        move || {
            let mut here = Invocation::new(end);
            here.register(7, Box::new(Sum(0))).unwrap();
            let results: Result<Vec<_>> =
                (0..100).map(|n| here.call(7, 0, &[n, 0], soon())).collect();
            // The other one may not have had all of its answers.
            let served = here.serve(Deadline::after(LONG));
            (results, served)
        }
    };
    let second = thread::spawn(each(b));
    let mut here = Invocation::new(a);
    here.register(7, Box::new(Sum(0))).unwrap();
    for n in 0..100 {
        assert_eq!(here.call(7, 0, &[n, 0], soon()).unwrap(), [n]);
    }
    // The other's calls are over when it has counted them.
    while here.call(7, 3, &[], soon()).is_ok_and(|count| count[0] < 100) {}
    let mut own = here.withdraw(7).unwrap();
    while own.invoke(3, &[]).unwrap()[0] < 100 {
        here.register(7, own).unwrap();
        here.serve(Deadline::after(Duration::from_millis(1))).unwrap();
        own = here.withdraw(7).unwrap();
    }
    drop(here);
    let (results, served) = second.join().unwrap();
    assert_eq!(results.unwrap().len(), 100);
    assert!(matches!(served, Err(Error::Closed { .. })));
}

#[test]
fn an_answer_that_nobody_asked_for_twice_ends_the_connection() {
    let (a, mut b) = pair("caller", "owner");
    let mut caller = Invocation::new(a);
    let call = caller.start(7, 0, &[1, 1], soon()).unwrap();
    for _ in 0..2 {
        b.try_call(ANSWER, &[IoSlice::new(&[0, 0, 0, 0, 0, 2])]).unwrap();
    }
    caller.progress().unwrap();
    assert!(matches!(caller.progress(), Err(Error::Malformed { .. })));
    b.try_call(77, &[]).unwrap();
    assert!(matches!(caller.progress(), Err(Error::Malformed { .. })));
    assert_eq!(caller.wait(call, soon()).unwrap(), [2], "what was answered stays answered");
}

#[test]
fn calls_that_nobody_waits_for_are_limited() {
    with_sum(|caller| {
        let error = loop {
            match caller.start(7, 0, &[1, 1], soon()) {
                Ok(_) => {}
                Err(error) => break error,
            }
        };
        assert!(matches!(error, Error::Exhausted { .. }), "{error}");
    });
}

/// Fails in ways that one caller can cause, then accepts.
struct Unlucky {
    failures: Vec<Error>,
    inner: Box<dyn Listener>,
}

impl Listener for Unlucky {
    fn address(&self) -> &Address {
        self.inner.address()
    }

    fn accept(&mut self, deadline: Deadline) -> Result<Box<dyn Adapter>> {
        self.failures.pop().map_or_else(|| self.inner.accept(deadline), Err)
    }
}

#[test]
fn what_one_caller_breaks_does_not_end_the_listening() {
    let malformed = Error::Malformed { peer: "x".to_owned(), what: "y".to_owned() };
    let broken = Error::io("taking a caller in", std::io::Error::other("broken"));
    let address = Address::Process("tests-unlucky".to_owned());
    let transport = Process::default();
    let inner = transport.listen(&address).unwrap();
    let mut mailbox = Mailbox::new("mailbox", 4).unwrap();
    let listener = Box::new(Unlucky { failures: vec![malformed, broken], inner });
    mailbox.listen(listener, |adapter| adapter.datagram()).unwrap();
    let hello = Hello { name: "sender".to_owned(), service: String::new(), lane: Lane::Bulk };
    let mut sender = transport.connect(&address, &hello, soon()).unwrap().datagram().unwrap();
    sender.try_send(&[IoSlice::new(b"hi")]).unwrap();
    let mail = mailbox.receive(soon(), &mut |bytes| assert_eq!(bytes, b"hi"));
    assert!(matches!(mail, Ok(Mail::From(_))), "{mail:?}");
}
