//! flush(5): every request is answered exactly once or taken back, never twice; an Rflush comes
//! behind the answer of what it flushed; what is taken back had no effect.

mod peer;
mod ram;
mod slow;

use muster_base::limits::{OUTBOX_MAX, WRITES_KEPT_MAX};
use muster_ninep::call::{Data, Opened, Ticket, Walked};
use muster_ninep::error::Errno;
use muster_ninep::message::{Rmessage, Tag, Tmessage};
use muster_ninep::record::DirEntry;
use muster_ninep::version::Version;
use peer::{Peer, TAG, attach, read, walk, write};
use proptest::prelude::*;
use ram::Ram;
use slow::Slow;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::Ordering;

fn flush(oldtag: Tag) -> Tmessage<'static> {
    Tmessage::Flush { oldtag }
}

/// A peer whose fid 1 is the open, empty pipe.
fn reader() -> (Arc<Ram>, Peer<Ram>) {
    let tree = Ram::new();
    let mut peer = Peer::attached(&tree, Version::LINUX);
    peer.walk(1, &["pipe"]).ok();
    peer.open(1).ok();
    (tree, peer)
}

/// A peer whose fid 0 is open; the slow tree calls it 1.
fn slow_reader() -> (Arc<Slow>, Peer<Slow>) {
    slow_reader_of(Version::LINUX)
}

fn slow_reader_of(version: Version) -> (Arc<Slow>, Peer<Slow>) {
    let tree = Slow::new();
    let mut peer = Peer::speaking(&tree, version);
    peer.send(TAG, &attach(0));
    next!(tree, Attach).answer(Ok((1, slow::FILE)));
    peer.answer().ok();
    peer.send(TAG, &Tmessage::Lopen { fid: 0, flags: 2 });
    next!(tree, Open).answer(Ok(Opened { fid: 1, qid: slow::FILE, iounit: 0 }));
    peer.answer().ok();
    (tree, peer)
}

#[test]
fn a_waiting_read_is_taken_back_and_takes_nothing() {
    let (_tree, mut peer) = reader();
    peer.send(1, &read(1, 0, 9));
    peer.send(2, &read(1, 0, 9));
    peer.send(3, &flush(1));
    assert_eq!(peer.order(), [(3, "Flush")], "at once");
    peer.send(4, &write(1, 0, b"data"));
    let replies = peer.replies();
    assert_eq!(replies[1].tag, 2, "the next reader gets it");
    assert_eq!(replies[1].data(), b"data");
    assert_eq!(replies.len(), 2, "the flushed one is never answered");
    peer.send(1, &read(1, 0, 9));
    peer.send(4, &write(1, 0, b"more"));
    assert_eq!(peer.order(), [(4, "Write"), (1, "Read")], "its tag is free again");
}

#[test]
fn a_claimed_read_is_answered_before_its_flush() {
    let (tree, mut peer) = slow_reader();
    peer.send(1, &read(0, 0, 9));
    let ticket = next!(tree, Read);
    assert!(ticket.claim());
    peer.send(2, &flush(1));
    assert_eq!(peer.order(), []);
    assert!(ticket.is_live(), "the flush waits; the answer is wanted");
    ticket.answer(Ok(b"data".to_vec().into()));
    assert_eq!(peer.order(), [(1, "Read"), (2, "Flush")]);
}

#[test]
fn an_answer_that_came_before_the_flush_is_sent_before_it() {
    let (_tree, mut peer) = reader();
    peer.send(1, &read(1, 0, 9));
    peer.send(2, &write(1, 0, b"data"));
    // The answer has arrived, but nobody has concluded yet.
    peer.send(3, &flush(1));
    assert_eq!(peer.order(), [(2, "Write"), (1, "Read"), (3, "Flush")]);
}

#[test]
fn a_flushed_ticket_cannot_be_claimed_and_says_nothing_more() {
    let (tree, mut peer) = slow_reader();
    for answer in [true, false] {
        peer.send(1, &read(0, 0, 9));
        let ticket = next!(tree, Read);
        peer.send(2, &flush(1));
        assert!(!ticket.claim());
        assert!(!ticket.is_live());
        if answer {
            ticket.answer(Ok(b"late".to_vec().into()));
        } else {
            drop(ticket);
        }
        assert_eq!(peer.order(), [(2, "Flush")]);
    }
}

#[test]
fn a_dropped_ticket_refuses_its_request() {
    let (tree, mut peer) = slow_reader();
    peer.send(TAG, &read(0, 0, 9));
    drop(next!(tree, Read));
    assert_eq!(peer.answer().refused(), Errno::IO);
}

#[test]
fn a_flush_of_nothing_is_answered() {
    let (_tree, mut peer) = reader();
    peer.send(1, &flush(99));
    peer.send(1, &flush(1));
    peer.send(1, &flush(0xffff));
    assert_eq!(peer.order(), [(1, "Flush"); 3], "unknown, itself, no tag");
}

#[test]
fn a_flush_of_a_flush_waits_as_that_one_does() {
    let (tree, mut peer) = slow_reader();
    peer.send(1, &read(0, 0, 9));
    let ticket = next!(tree, Read);
    assert!(ticket.claim());
    peer.send(2, &flush(1));
    peer.send(3, &flush(2));
    peer.send(4, &flush(3));
    peer.send(5, &flush(1));
    assert_eq!(peer.order(), []);
    ticket.answer(Err(Errno::PIPE.into()));
    let flushes = [(2, "Flush"), (3, "Flush"), (4, "Flush"), (5, "Flush")];
    assert_eq!(peer.order(), [&[(1, "Lerror")], &flushes[..]].concat());
    peer.send(2, &read(0, 0, 9));
    peer.send(3, &flush(2));
    assert_eq!(peer.order(), [(3, "Flush")], "the flush's tag is forgotten");
}

/// An old dialect's read of a directory goes on where it has seen nothing but dots; with much under
/// way already it does so later. Once who had asked for its end before then was not answered.
#[test]
fn a_flush_that_waits_is_answered_though_the_next_step_of_its_request_is_taken_back() {
    let tree = Slow::new();
    let mut peer = Peer::speaking(&tree, Version::UNIX);
    for (fid, qid) in [(0, slow::FILE), (1, slow::DIR)] {
        peer.send(TAG, &attach(fid));
        next!(tree, Attach).answer(Ok((fid + 1, qid)));
        peer.answer().ok();
        peer.send(TAG, &Tmessage::Open { fid, mode: 0 });
        next!(tree, Open).answer(Ok(Opened { fid: fid + 1, qid, iounit: 0 }));
        peer.answer().ok();
    }
    peer.send(1, &read(1, 0, 1000));
    let entries = next!(tree, Entries);
    assert!(entries.claim());
    tree.brings.store(true, Ordering::Relaxed);
    (10..40).for_each(|tag| peer.send(tag, &read(0, 0, 60_000)));
    peer.send(2, &flush(1));
    let dot = DirEntry { qid: slow::DIR, next: 1, kind: 4, name: b".".to_vec(), attr: None };
    entries.answer(Ok(vec![dot]));
    assert_eq!(peer.order(), []);
    peer.send(3, &flush(1));
    assert_eq!(peer.order(), [(2, "Flush"), (3, "Flush")]);
}

#[test]
fn a_storm_of_flushes_takes_bounded_memory() {
    let (tree, mut peer) = slow_reader();
    peer.send(1, &read(0, 0, 9));
    let ticket = next!(tree, Read);
    assert!(ticket.claim());
    for tag in 2..60_000 {
        peer.send(tag, &flush(tag - 1));
    }
    assert!(peer.session.outbox().is_empty(), "each waits");
    ticket.answer(Ok(b"data".to_vec().into()));
    let order = peer.order();
    assert!(order.iter().map(|reply| reply.0).eq(1..60_000), "each once, in order");

    // One read and one flush at a time, in a single delivery: the replies stop being made when
    // they are not taken.
    let (tree, mut peer) = reader();
    let mut bytes = Vec::new();
    for _ in 0..60_000 {
        read(1, 0, 9).encode(1, peer.dialect, &mut bytes);
        flush(1).encode(2, peer.dialect, &mut bytes);
    }
    let (mut done, mut answers) = (0, 0);
    while done < bytes.len() {
        let more = peer.session.receive(&bytes[done..]).expect("9P");
        assert!(more > 0 && peer.session.outbox().len() < 512 * 1024);
        done += more;
        answers += peer.order().len();
    }
    assert_eq!(answers, 60_000);
    assert_eq!(Arc::strong_count(&tree), 2);
    peer.ask(write(1, 0, b"data")).ok();
    assert_eq!(peer.ask(read(1, 0, 9)).data(), b"data");
}

#[test]
fn a_clunk_while_reads_wait_leaves_them_to_the_tree() {
    let (_tree, mut peer) = reader();
    peer.send(1, &read(1, 0, 9));
    peer.ask(Tmessage::Clunk { fid: 1 }).ok();
    peer.walk(1, &["pipe"]).ok();
    peer.open(1).ok();
    peer.send(2, &write(1, 0, b"data"));
    assert_eq!(peer.order(), [(2, "Write"), (1, "Read")]);
}

/// Clients use a number again before they have the answer: it was "in use already" as long as
/// another server took.
#[test]
fn the_number_of_a_fid_that_ends_is_free_at_once() {
    let (tree, mut peer) = slow_reader();
    peer.send(1, &Tmessage::Remove { fid: 0 });
    peer.send(2, &attach(0));
    next!(tree, Done).answer(Ok(()));
    next!(tree, Attach).answer(Ok((2, slow::FILE)));
    assert_eq!(peer.order(), [(1, "Remove"), (2, "Attach")]);
    assert_eq!(tree.clunked(), [1], "only what it was before");
    // One that is taken back has its number again, if that is free.
    for (other, clunked) in [(None, &[][..]), (Some(3), &[2][..])] {
        peer.send(1, &Tmessage::Remove { fid: 0 });
        if let Some(other) = other {
            peer.send(2, &attach(0));
            drop(next!(tree, Done));
            next!(tree, Attach).answer(Ok((other, slow::FILE)));
            peer.replies();
        } else {
            peer.send(2, &flush(1));
            assert_eq!(peer.order(), [(2, "Flush")]);
            assert!(!next!(tree, Done).claim());
        }
        assert_eq!(tree.clunked(), clunked);
    }
    peer.send(1, &Tmessage::Remove { fid: 0 });
    let claimed = next!(tree, Done);
    assert!(claimed.claim());
    peer.session.close();
    assert_eq!(tree.clunked(), [], "it is in use");
    claimed.answer(Ok(()));
    peer.session.conclude();
    assert_eq!(tree.clunked(), [3]);
    assert!(peer.session.is_settled());
}

/// A program that does not read its input had its node keep whatever a client sent.
#[test]
fn who_writes_much_that_nobody_takes_is_not_read_from() {
    let piece = vec![b'x'; 60_000];
    // The first through a fid counts little.
    let most = WRITES_KEPT_MAX.div_ceil(piece.len()) as Tag + 1;
    let (tree, mut peer) = slow_reader();
    (1..=most).for_each(|tag| peer.send(tag, &write(0, 0, &piece)));
    assert!(peer.session.is_stalled());
    assert_eq!(peer.session.receive(&[0; 100]), Ok(0));
    (0..2).for_each(|_| next!(tree, Write).answer(Ok(60_000)));
    peer.session.conclude();
    assert!(!peer.session.is_stalled());
    peer.send(2 * most, &flush(3));
    (most + 1..most + 3).for_each(|tag| peer.send(tag, &write(0, 0, &piece)));
    assert!(peer.session.is_stalled(), "what was taken back counts no more");
    // A server of ours hands on what others write, who would wait for one another.
    let (_tree, mut peer) = slow_reader_of(Version::MUSTER);
    (1..=2 * most).for_each(|tag| peer.send(tag, &write(0, 0, &piece)));
    assert!(!peer.session.is_stalled());
}

#[test]
fn a_fid_that_is_being_opened_is_nobody_elses() {
    let tree = Slow::new();
    let mut peer = Peer::speaking(&tree, Version::LINUX);
    peer.send(1, &attach(0));
    peer.send(2, &attach(0));
    assert_eq!(peer.order(), [(2, "Lerror")], "the place is taken");
    next!(tree, Attach).answer(Ok((1, slow::DIR)));
    peer.order();
    peer.send(1, &Tmessage::Lopen { fid: 0, flags: 0 });
    for request in [Tmessage::Clunk { fid: 0 }, walk(0, 1, &[]), Tmessage::Remove { fid: 0 }] {
        assert_eq!(peer.ask(request).refused(), Errno::BUSY);
    }
    let open = next!(tree, Open);
    peer.send(2, &flush(1));
    assert!(!open.claim());
    assert_eq!(peer.order(), [(2, "Flush")]);
    peer.send(1, &walk(0, 1, &[]));
    peer.send(2, &flush(1));
    peer.send(3, &Tmessage::Clunk { fid: 1 });
    drop(tree.next());
    assert_eq!(peer.order(), [(2, "Flush"), (3, "Lerror")], "fid 1 was not made");
    peer.send(1, &walk(0, 1, &[]));
    next!(tree, Walk).answer(Ok(Walked { qids: vec![], fid: Some(2) }));
    peer.send(2, &Tmessage::Clunk { fid: 0 });
    assert_eq!(peer.order(), [(2, "Clunk"), (1, "Walk")]);
    assert_eq!(tree.clunked(), [1]);
}

#[test]
fn the_end_of_a_connection_takes_its_reads_back() {
    let (tree, mut peer) = reader();
    for tag in 10..20 {
        peer.send(tag, &read(1, 0, 9));
    }
    peer.session.close();
    assert!(peer.session.is_settled());
    assert_eq!(tree.fids.load(Ordering::Relaxed), 0);
    drop(peer);
    let mut other = Peer::attached(&tree, Version::LINUX);
    other.walk(1, &["pipe"]).ok();
    other.open(1).ok();
    other.ask(write(1, 0, b"data")).ok();
    assert_eq!(other.ask(read(1, 0, 9)).data(), b"data");
}

/// Once a file that was being opened, or found, when its connection ended was never clunked; or
/// clunked as it was before, and what it had become was forgotten.
#[test]
fn what_arrives_for_a_connection_that_has_ended_is_clunked_once() {
    for again in [false, true] {
        let tree = Slow::new();
        let mut peer = Peer::speaking(&tree, Version::LINUX);
        for fid in 0..3 {
            peer.send(TAG, &attach(fid));
            next!(tree, Attach).answer(Ok((fid, slow::DIR)));
            peer.answer().ok();
        }
        peer.send(1, &Tmessage::Lopen { fid: 0, flags: 0 });
        peer.send(2, &Tmessage::Lopen { fid: 1, flags: 0 });
        peer.send(3, &walk(2, 3, &["x"]));
        peer.send(4, &attach(4));
        peer.send(5, &Tmessage::Lopen { fid: 2, flags: 0 });
        let (opened, failed) = (next!(tree, Open), next!(tree, Open));
        let (walked, attached, waiting) =
            (next!(tree, Walk), next!(tree, Attach), next!(tree, Open));
        assert!(opened.claim() && failed.claim() && walked.claim() && attached.claim());
        if again {
            peer.agree(Version::UNIX);
        } else {
            peer.session.close();
        }
        assert_eq!(tree.clunked(), [2], "what is being opened may still become something");
        assert!(!waiting.claim());
        assert!(!peer.session.is_settled());
        opened.answer(Ok(Opened { fid: 10, qid: slow::DIR, iounit: 0 }));
        failed.answer(Err(Errno::PERM.into()));
        walked.answer(Ok(Walked { qids: vec![slow::FILE], fid: Some(13) }));
        attached.answer(Ok((14, slow::DIR)));
        assert_eq!(peer.replies(), []);
        assert_eq!(tree.clunked(), [1, 10, 13, 14]);
        assert!(peer.session.is_settled());
        drop(peer);
        assert_eq!(tree.clunked(), []);
    }
}

#[test]
fn an_answer_from_before_a_version_is_not_taken_for_a_new_request() {
    let (tree, mut peer) = slow_reader();
    peer.send(1, &read(0, 0, 9));
    let old = next!(tree, Read);
    assert!(old.claim());
    peer.agree(Version::LINUX);
    peer.send(TAG, &attach(0));
    next!(tree, Attach).answer(Ok((2, slow::FILE)));
    peer.answer().ok();
    peer.send(TAG, &Tmessage::Lopen { fid: 0, flags: 2 });
    next!(tree, Open).answer(Ok(Opened { fid: 2, qid: slow::FILE, iounit: 0 }));
    peer.answer().ok();
    peer.send(1, &read(0, 0, 9));
    old.answer(Ok(b"old".to_vec().into()));
    assert_eq!(peer.replies(), []);
    next!(tree, Read).answer(Ok(b"new".to_vec().into()));
    assert_eq!(peer.replies()[0].data(), b"new");
}

/// What the peer of the model has asked and not heard of.
#[derive(Debug, Clone, PartialEq)]
enum Asked {
    Read,
    Write,
    Flush { of: Tag, instance: u64 },
}

/// The model: what may be answered, and what has been read.
#[derive(Default)]
struct Ledger {
    asked: HashMap<Tag, (Asked, u64)>,
    /// Flushes of one request, in the order they were sent.
    flushes: HashMap<u64, VecDeque<Tag>>,
    instance: u64,
    /// What each read was answered. A read that is answered at once may overtake one that has
    /// waited, so they are told apart by their order at the peer.
    reads: BTreeMap<u64, Vec<u8>>,
    /// The order of the answers.
    order: Vec<u64>,
}

impl Ledger {
    fn free(&self) -> Option<Tag> {
        (0..24).find(|tag| !self.asked.contains_key(tag))
    }

    fn ask(&mut self, tag: Tag, asked: Asked) {
        self.instance += 1;
        if let Asked::Flush { instance, .. } = asked {
            self.flushes.entry(instance).or_default().push_back(tag);
        }
        assert_eq!(self.asked.insert(tag, (asked, self.instance)), None);
    }

    fn flush_of(&self, of: Tag) -> Asked {
        // A tag that is not in use: an instance that never was.
        let instance = self.asked.get(&of).map_or(0, |(_, instance)| *instance);
        Asked::Flush { of, instance }
    }

    fn take(&mut self, replies: Vec<peer::Reply>) {
        for reply in replies {
            let Some((asked, serial)) = self.asked.remove(&reply.tag) else {
                panic!("answered twice, or though flushed: {reply:?}");
            };
            match (asked, reply.message()) {
                (Asked::Read, Rmessage::Read { data }) => {
                    self.reads.insert(serial, data.0.to_vec());
                    self.order.push(serial);
                }
                (Asked::Write, Rmessage::Write { .. }) => {}
                (Asked::Flush { of, instance }, Rmessage::Flush {}) => {
                    let first = self.flushes.get_mut(&instance).and_then(VecDeque::pop_front);
                    assert_eq!(first, Some(reply.tag), "flushes are answered in order");
                    let flushed = |(_, asked): &(Asked, u64)| *asked == instance;
                    if self.asked.get(&of).is_some_and(flushed) {
                        let (asked, _) = self.asked.remove(&of).expect("it is there");
                        assert_eq!(asked, Asked::Read, "flushes and writes are answered");
                    }
                }
                (asked, message) => panic!("{asked:?} answered with {message:?}"),
            }
        }
    }
}

#[derive(Debug, Clone)]
enum Step {
    Read(u8),
    Write(u8),
    Flush(Tag),
    Conclude,
    Claim(usize),
    Answer(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => (1..6u8).prop_map(Step::Read),
        2 => (1..20u8).prop_map(Step::Write),
        4 => (0..26u16).prop_map(Step::Flush),
        2 => Just(Step::Conclude),
        2 => (0..8usize).prop_map(Step::Claim),
        2 => (0..8usize).prop_map(Step::Answer),
    ];
    proptest::collection::vec(step, 1..200)
}

/// Bytes that tell their place in the stream.
fn some(count: u8, written: &mut Vec<u8>) -> Vec<u8> {
    let start = written.len();
    written.extend((start..start + usize::from(count)).map(|at| (at % 251) as u8));
    written[start..].to_vec()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

    /// Through the pipe: what is read is what was written, whatever is flushed meanwhile.
    #[test]
    fn no_byte_of_a_pipe_is_lost_or_read_twice(steps in steps()) {
        let (_tree, mut peer) = reader();
        let (mut ledger, mut written) = (Ledger::default(), Vec::new());
        for step in steps {
            let Some(tag) = ledger.free() else {
                ledger.take(peer.replies());
                continue;
            };
            match step {
                Step::Read(count) => {
                    ledger.ask(tag, Asked::Read);
                    peer.send(tag, &read(1, 0, count.into()));
                }
                Step::Write(count) => {
                    ledger.ask(tag, Asked::Write);
                    peer.send(tag, &write(1, 0, &some(count, &mut written)));
                }
                Step::Flush(of) => {
                    let of = if of == tag { 99 } else { of };
                    ledger.ask(tag, ledger.flush_of(of));
                    peer.send(tag, &flush(of));
                }
                _ => ledger.take(peer.replies()),
            }
        }
        ledger.take(peer.replies());
        let waiting = ledger.asked.len();
        prop_assert!(ledger.asked.values().all(|(asked, _)| *asked == Asked::Read));
        peer.send(100, &write(1, 0, &some(200, &mut written)));
        ledger.ask(100, Asked::Write);
        ledger.take(peer.replies());
        prop_assert!(ledger.asked.is_empty(), "{waiting} waited; now: {:?}", ledger.asked);
        ledger.reads.insert(u64::MAX, peer.ask(read(1, 0, 10_000)).data());
        prop_assert_eq!(ledger.reads.into_values().collect::<Vec<_>>().concat(), written);
    }

    /// Ticket by ticket: one that was claimed is answered and then its flushes are; one that was
    /// flushed cannot be claimed.
    #[test]
    fn a_claim_and_a_flush_exclude_each_other(steps in steps()) {
        let (tree, mut peer) = slow_reader();
        let (mut ledger, mut written) = (Ledger::default(), Vec::new());
        let mut waiting: Vec<(u64, Ticket<Data>)> = Vec::new();
        let mut claimed: Vec<(Vec<u8>, Ticket<Data>)> = Vec::new();
        let mut order = Vec::new();
        for step in steps {
            let Some(tag) = ledger.free() else {
                // Every tag waits: let some go.
                claimed.drain(..).for_each(|(bytes, ticket)| {
                    order.extend_from_slice(&bytes);
                    ticket.answer(Ok(bytes.into()));
                });
                ledger.take(peer.replies());
                continue;
            };
            match step {
                Step::Read(count) => {
                    ledger.ask(tag, Asked::Read);
                    peer.send(tag, &read(0, 0, count.into()));
                    waiting.push((ledger.instance, next!(tree, Read)));
                }
                Step::Flush(of) => {
                    let of = if of == tag { 99 } else { of };
                    ledger.ask(tag, ledger.flush_of(of));
                    peer.send(tag, &flush(of));
                }
                Step::Claim(at) if !waiting.is_empty() => {
                    // Only when all replies are seen does the peer know what is flushed.
                    ledger.take(peer.replies());
                    let (instance, ticket) = waiting.swap_remove(at % waiting.len());
                    let wanted = ledger.asked.values().any(|(_, asked)| *asked == instance);
                    prop_assert_eq!(ticket.claim(), wanted);
                    if wanted {
                        claimed.push((some(1, &mut written), ticket));
                    }
                }
                Step::Answer(at) if !claimed.is_empty() => {
                    let (bytes, ticket) = claimed.swap_remove(at % claimed.len());
                    order.extend_from_slice(&bytes);
                    ticket.answer(Ok(bytes.into()));
                }
                _ => ledger.take(peer.replies()),
            }
        }
        for (bytes, ticket) in claimed {
            order.extend_from_slice(&bytes);
            ticket.answer(Ok(bytes.into()));
        }
        ledger.take(peer.replies());
        let answers = ledger.order.iter().map(|serial| &ledger.reads[serial][..]);
        prop_assert_eq!(answers.collect::<Vec<_>>().concat(), &order[..]);
        prop_assert_eq!(order.len(), written.len());
        prop_assert!(ledger.asked.values().all(|(asked, _)| *asked == Asked::Read));
        let left = waiting.iter().filter(|(_, ticket)| ticket.is_live()).count();
        prop_assert_eq!(ledger.asked.len(), left);
    }
}

/// What carries a read out may never answer: a node that stands still. Its promise was kept for as
/// long, and nothing more was read.
#[test]
fn a_read_that_is_given_up_makes_room_though_it_is_never_answered() {
    const COUNT: usize = 60_000;
    let (tree, mut peer) = slow_reader();
    tree.brings.store(true, Ordering::Relaxed);
    let begun = OUTBOX_MAX.div_ceil(COUNT) as Tag + 1;
    (1..=begun + 1).for_each(|tag| peer.send(tag, &read(0, 0, COUNT as u32)));
    let never = next!(tree, Read);
    assert!(never.claim());
    assert_eq!(tree.waiting(), usize::from(begun) - 1, "the last is not begun");
    peer.send(99, &flush(1));
    assert_eq!(peer.order(), [], "it is answered first");
    assert_eq!(tree.waiting(), usize::from(begun), "the last is");
    never.answer(Ok(vec![0u8; COUNT].into()));
    let replies = peer.replies();
    assert_eq!(replies[0].refused(), Errno::INTR, "what it brings was no longer counted");
    assert_eq!((replies[1].tag, replies.len()), (99, 2));
}

/// Once only answers that were there counted, and 69 KB of requests for files of another server
/// brought 2.8 GB.
#[test]
fn what_reads_under_way_will_bring_counts_as_queued() {
    const COUNT: usize = 60_000;
    let (tree, mut peer) = slow_reader();
    let mut requests = Vec::new();
    (1..=20).for_each(|tag| read(0, 0, COUNT as u32).encode(tag, peer.dialect, &mut requests));
    tree.brings.store(true, Ordering::Relaxed);
    let begun = OUTBOX_MAX.div_ceil(COUNT) + 1;
    // All are taken, but those beyond the bound are not begun; anything else is carried out.
    peer.raw(&requests);
    assert_eq!(tree.waiting(), begun);
    peer.send(21, &flush(20));
    assert_eq!(peer.order(), [(21, "Flush")], "what is not begun is taken back");
    peer.send(21, &Tmessage::Clunk { fid: 0 });
    assert_eq!(peer.order(), [(21, "Clunk")]);
    next!(tree, Read).answer(Ok(vec![0u8; COUNT].into()));
    peer.session.conclude();
    assert_eq!(tree.waiting(), begun - 1, "nothing is sent yet");
    assert_eq!(peer.order(), [(1, "Read")]);
    assert!(peer.session.resume());
    assert_eq!(tree.waiting(), begun, "though its fid is gone");
    // None is promised any more when all are answered, taken back or cut off.
    for tag in 2..20 {
        next!(tree, Read).answer(Ok(Vec::<u8>::new().into()));
        assert_eq!(peer.order(), [(tag, "Read")]);
    }
    assert_eq!(tree.waiting(), 0);
    let (tree, mut peer) = slow_reader();
    tree.brings.store(true, Ordering::Relaxed);
    peer.raw(&requests);
    peer.session.close();
    assert!(!peer.session.resume());
    assert_eq!(tree.waiting(), begun);
    // What waits for somebody may wait with any number beside it.
    let (tree, mut peer) = slow_reader();
    peer.raw(&requests);
    assert_eq!(tree.waiting(), 20);
}
