//! Ranks in one process, over a carrier that hands over what it likes, in parts that it likes.

mod deadlock;
mod logical;

use crate::state::Operation;
use crate::{
    Arrival, Buffer, Carrier, Endpoint, Envelope, Failure, Mode, Outcome, Soon, Take, Ticket,
    Wanted,
};
use proptest::prelude::*;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::time::Duration;

/// A message under way: its bytes, and how many of them have been handed over.
type Flight = (Vec<u8>, usize);

/// What is under way between each two ranks, and the dice.
struct Network {
    rows: Vec<Vec<VecDeque<Flight>>>,
    dice: u64,
    gone: Option<u32>,
    /// Whether the next one who takes something hears that all is broken: it is told once.
    breaks: bool,
    /// The next message that is taken comes with a failure.
    tears: bool,
}

impl Network {
    fn roll(&mut self, below: usize) -> usize {
        self.dice = self.dice.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.dice >> 33) as usize % below
    }
}

struct Queue {
    me: u32,
    network: Rc<RefCell<Network>>,
    /// How much of the message that leaves has left.
    leaving: Vec<Vec<u8>>,
}

impl Carrier for Queue {
    fn send(&mut self, to: u32, head: &[u8], body: &[u8], offset: usize) -> Result<usize, Failure> {
        let network = &mut *self.network.borrow_mut();
        if network.gone == Some(to) {
            return Err(Failure::Gone { rank: to, evidence: "it was ended".to_owned() });
        }
        let whole = [head, body].concat();
        // No room, a part, or all.
        let left = whole.len() - offset;
        let sent = match network.roll(3) {
            0 => return Ok(0),
            1 => left.min(head.len() + network.roll(40)),
            _ => left,
        };
        let leaving = &mut self.leaving[to as usize];
        leaving.extend_from_slice(&whole[offset..offset + sent]);
        if leaving.len() == whole.len() {
            let row = &mut network.rows[self.me as usize][to as usize];
            row.push_back((std::mem::take(leaving), 0));
        }
        Ok(sent)
    }

    fn take(&mut self, take: &mut impl Take) -> Result<bool, Failure> {
        let network = &mut *self.network.borrow_mut();
        if std::mem::take(&mut network.breaks) {
            return Err(Failure::Broken("it was broken".to_owned()));
        }
        let ranks = network.rows.len();
        let first = network.roll(ranks);
        for from in (0..ranks).map(|rank| (first + rank) % ranks) {
            let cut = 64 + network.roll(64);
            let row = &mut network.rows[from][self.me as usize];
            let Some((bytes, offset)) = row.front_mut() else { continue };
            let end = bytes.len().min(*offset + cut);
            let (total, from) = (bytes.len(), from as u32);
            take.take(Arrival::new(from, total, *offset, &mut &bytes[*offset..end]));
            *offset = end;
            if end == total {
                row.pop_front();
            }
            return match std::mem::take(&mut network.tears) {
                true => Err(Failure::Broken("it was torn".to_owned())),
                false => Ok(true),
            };
        }
        Ok(false)
    }

    fn looks(&self) -> u32 {
        2
    }

    fn wait(&mut self, _: &[u32], _: Duration) -> Result<(), Failure> {
        Ok(())
    }

    fn has_delivered(&mut self, _: Duration) -> Result<bool, Failure> {
        Ok(true)
    }

    fn offered_from(&self, _: u32) -> usize {
        300
    }

    fn now(&self) -> Duration {
        Duration::ZERO
    }

    fn is_gone(&self, rank: u32) -> Option<Failure> {
        let gone = self.network.borrow().gone == Some(rank);
        gone.then(|| Failure::Gone { rank, evidence: "it was ended".to_owned() })
    }
}

/// A buffer, in pieces if `strewn`. What it has in the end others see.
struct Bytes {
    bytes: Rc<RefCell<Vec<u8>>>,
    own: Vec<u8>,
    strewn: bool,
}

impl Bytes {
    fn new(bytes: Vec<u8>, strewn: bool) -> Bytes {
        let shared = Rc::new(RefCell::new(bytes.clone()));
        Bytes { bytes: shared, own: bytes, strewn }
    }
}

impl Drop for Bytes {
    fn drop(&mut self) {
        let mut bytes = self.bytes.borrow_mut();
        if bytes.len() == self.own.len() {
            bytes.copy_from_slice(&self.own);
        }
    }
}

impl Buffer for Bytes {
    fn keep(&mut self) -> Bytes {
        let (bytes, own) = (self.bytes.clone(), std::mem::take(&mut self.own));
        Bytes { bytes, own, strewn: self.strewn }
    }

    fn apart(&self) -> Bytes {
        Bytes::new(vec![0; self.own.len()], self.strewn)
    }

    fn size(&self) -> usize {
        self.own.len()
    }

    fn whole(&self) -> Option<&[u8]> {
        (!self.strewn).then_some(&self.own)
    }

    fn whole_mut(&mut self) -> Option<&mut [u8]> {
        (!self.strewn).then_some(&mut self.own)
    }

    fn read(&mut self, at: usize, into: &mut [u8]) {
        into.copy_from_slice(&self.own[at..at + into.len()]);
    }

    fn write(&mut self, at: usize, from: &[u8]) {
        self.own[at..at + from.len()].copy_from_slice(from);
    }
}

/// Ranks, and what of them has begun.
struct Job {
    network: Rc<RefCell<Network>>,
    ranks: Vec<Endpoint<Queue, Bytes>>,
}

impl Job {
    fn new(ranks: u32, dice: u64) -> Job {
        let rows = || (0..ranks).map(|_| VecDeque::new()).collect();
        let network = Network {
            rows: (0..ranks).map(|_| rows()).collect(),
            dice,
            gone: None,
            breaks: false,
            tears: false,
        };
        let network = Rc::new(RefCell::new(network));
        let end = |me| {
            let leaving = vec![Vec::new(); ranks as usize];
            Endpoint::new(me, Queue { me, network: network.clone(), leaving })
        };
        let ranks = (0..ranks).map(end).collect();
        Job { network, ranks }
    }

    fn roll(&self, below: usize) -> usize {
        self.network.borrow_mut().roll(below)
    }

    fn send(&mut self, from: u32, to: u32, tag: i32, mode: Mode, bytes: Bytes) -> Option<Ticket> {
        let envelope = Envelope { context: 0, source: from, tag };
        self.ranks[from as usize].send(to, envelope, mode, bytes).unwrap()
    }

    fn receive(&mut self, at: u32, from: Option<u32>, tag: Option<i32>, into: Bytes) -> Ticket {
        let wanted = Wanted { context: 0, source: from, tag };
        self.ranks[at as usize].receive(wanted, from, into).unwrap()
    }

    /// A receive that is posted, one that is waited for, or one that is posted later.
    fn receive_anyhow(
        &mut self,
        at: u32,
        from: Option<u32>,
        tag: Option<i32>,
        mut into: Bytes,
    ) -> Soon {
        let wanted = Wanted { context: 0, source: from, tag };
        match self.roll(6) {
            0 => Soon::Begun(self.receive(at, from, tag, into)),
            1 => self.ranks[at as usize].receive_soon(wanted, from, &mut into).unwrap(),
            _ => self.ranks[at as usize].receive_later(wanted, from, &mut into).unwrap(),
        }
    }

    /// How a receive has ended, if it has.
    fn ask(&mut self, at: u32, soon: Soon, outcome: &mut Option<Outcome>) {
        if outcome.is_none() {
            *outcome = match soon {
                Soon::Ended(of, size) => Some(Outcome::of(of, size)),
                Soon::Begun(ticket) => self.ranks[at as usize].poll(ticket),
            };
        }
    }

    fn progress(&mut self) {
        for rank in &mut self.ranks {
            rank.progress().unwrap();
        }
    }
}

impl Endpoint<Queue, Bytes> {
    /// Takes one part of a message, if there is one.
    fn take_one(&mut self) {
        let (state, me) = (&mut self.state, self.me);
        self.carrier.take(&mut |arrival: Arrival<'_>| state.take(me, arrival)).unwrap();
        state.is_free();
    }
}

fn message(size: usize, seed: usize) -> Vec<u8> {
    (0..size).map(|at| (at * 7 + seed) as u8).collect()
}

/// A part of a message as somebody sends it who keeps to nothing: its kind, the words of its head,
/// where it begins, and of how much more than itself.
fn any_part() -> impl Strategy<Value = ([u8; 12], Vec<u8>, usize, usize)> {
    let far = || prop_oneof![3 => Just(0), 2 => 0..64_usize, 1 => 0..usize::MAX / 4];
    let head = (0..14_u8, 0..3_u8, any::<[u8; 2]>()).prop_map(|(kind, small, wild)| {
        let [one, two] = wild.map(|byte| if byte < 128 { 0 } else { byte });
        [kind, 0, 0, one, 0, 0, 0, 0, small, 0, 0, two]
    });
    (head, prop::collection::vec(any::<u8>(), 0..60), far(), far())
}

proptest! {
    /// The carrier sees to it that a part lies within its message, and to nothing else.
    #[test]
    fn whatever_a_rank_sends_others_take_it_for_something_or_nothing_and_go_on(
        parts in prop::collection::vec(any_part(), 1..30),
        tags in prop::collection::vec(0..3_i32, 0..4),
    ) {
        let mut job = Job::new(3, 1);
        for tag in tags {
            job.receive(0, Some(1), Some(tag), Bytes::new(vec![0; 50], tag == 1));
        }
        for (head, body, offset, more) in parts {
            let bytes = [&head[..], &[0; 4], &body].concat();
            let rank = &mut job.ranks[0];
            let total = offset + bytes.len() + more;
            rank.state.take(0, Arrival::new(1, total, offset, &mut &bytes[..]));
            rank.state.is_free();
            rank.progress().unwrap();
        }
        // From another one, with another tag than any of those.
        let receive = job.receive(0, Some(2), Some(9), Bytes::new(vec![0; 400], false));
        job.send(2, 0, 9, Mode::Standard, Bytes::new(message(400, 5), false));
        let ended = (0..10_000).find_map(|_| {
            job.progress();
            job.ranks[0].poll(receive)
        });
        prop_assert_eq!(ended.map(|outcome| (outcome.size, outcome.failure)), Some((400, None)));
    }
}

/// From whom to whom, the tag, the size; whether it is synchronous, and strewn.
fn any_send() -> impl Strategy<Value = (u32, u32, i32, usize, [bool; 2])> {
    (0..3_u32, 0..3_u32, 0..2_i32, 0..700_usize, any::<[bool; 2]>())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Whatever the carrier does, every receive gets the first message that fits and was not taken
    /// by an earlier one, whole.
    #[test]
    fn messages_of_a_sender_are_taken_in_their_order_and_whole(
        dice in any::<u64>(),
        sends in prop::collection::vec(any_send(), 1..40),
        wild in any::<[bool; 2]>(),
    ) {
        let mut job = Job::new(3, dice);
        let (mut sent, mut received) = (Vec::new(), Vec::new());
        let mut posts: Vec<(u32, u32, i32, usize)> =
            sends.iter().map(|(from, to, tag, size, _)| (*from, *to, *tag, *size)).collect();
        for (number, (from, to, tag, size, [sync, strewn])) in sends.iter().enumerate() {
            while job.roll(2) == 0 && !posts.is_empty() {
                let (from, to, tag, _) = posts.remove(0);
                // A receive from anybody could take what another waits for, so all are, or none.
                let source = (!wild[0]).then_some(from);
                let tag = (!wild[1]).then_some(tag);
                let into = Bytes::new(vec![0; 700], job.roll(2) == 0);
                let shared = into.bytes.clone();
                received.push((to, job.receive_anyhow(to, source, tag, into), shared, None));
            }
            let mode = if *sync { Mode::Synchronous } else { Mode::Standard };
            let bytes = Bytes::new(message(*size, number), *strewn);
            let ticket = job.send(*from, *to, *tag, mode, bytes);
            sent.push((*from, ticket));
            if job.roll(3) == 0 {
                job.progress();
            }
            // Those that are not posted look for their messages when they are asked for.
            for (at, soon, _, outcome) in &mut received {
                if job.roll(3) == 0 {
                    job.ask(*at, *soon, outcome);
                }
            }
        }
        for (from, to, tag, _) in posts {
            let (source, tag) = ((!wild[0]).then_some(from), (!wild[1]).then_some(tag));
            let into = Bytes::new(vec![0; 700], false);
            let shared = into.bytes.clone();
            received.push((to, job.receive_anyhow(to, source, tag, into), shared, None));
        }
        for _ in 0..3000 {
            job.progress();
        }
        for (from, ticket) in sent {
            if let Some(ticket) = ticket {
                prop_assert!(job.ranks[from as usize].poll(ticket).is_some(), "a send goes on");
            }
        }
        for (at, soon, _, outcome) in &mut received {
            job.ask(*at, *soon, outcome);
            prop_assert!(outcome.is_some(), "a receive goes on");
        }
        // Of each two ranks and each tag, in the order of the receives: the sends in their order.
        for from in 0..3 {
            for to in 0..3 {
                for tag in 0..2 {
                    let expected: Vec<Vec<u8>> = sends.iter().enumerate()
                        .filter(|(_, send)| (send.0, send.1, send.2) == (from, to, tag))
                        .map(|(number, send)| message(send.3, number)).collect();
                    let got: Vec<Vec<u8>> = received.iter()
                        .filter(|(at, ..)| *at == to)
                        .filter_map(|(_, _, bytes, outcome)| Some((bytes, outcome.as_ref()?)))
                        .filter(|(_, end)| (end.envelope.source, end.envelope.tag) == (from, tag))
                        .map(|(bytes, end)| bytes.borrow()[..end.size].to_vec()).collect();
                    prop_assert_eq!(got, expected);
                }
            }
        }
    }
}

#[test]
fn what_is_longer_than_its_buffer_is_cut_and_told() {
    for size in [50, 500] {
        let mut job = Job::new(2, 1);
        let into = Bytes::new(vec![0; 10], false);
        let shared = into.bytes.clone();
        let ticket = job.receive(1, Some(0), None, into);
        job.send(0, 1, 3, Mode::Standard, Bytes::new(message(size, 0), false));
        (0..100).for_each(|_| job.progress());
        let outcome = job.ranks[1].poll(ticket).unwrap();
        assert_eq!((outcome.size, outcome.truncated()), (10, Some(size)));
        assert_eq!(*shared.borrow(), message(10, 0));
    }
}

#[test]
fn a_synchronous_send_ends_when_it_is_received_and_not_before() {
    for to in [0, 1] {
        let mut job = Job::new(2, 5);
        let bytes = Bytes::new(message(20, 0), false);
        let send = job.send(0, to, 3, Mode::Synchronous, bytes).unwrap();
        (0..100).for_each(|_| job.progress());
        assert_eq!(job.ranks[0].poll(send), None);
        job.receive(to, None, Some(3), Bytes::new(vec![0; 20], false));
        (0..100).for_each(|_| job.progress());
        assert!(job.ranks[0].poll(send).is_some());
    }
}

#[test]
fn a_claimed_message_is_taken_by_nobody_else_though_its_rest_comes_later() {
    for dice in 0..50 {
        let mut job = Job::new(2, dice);
        for size in [290, 30] {
            job.send(0, 1, 1, Mode::Standard, Bytes::new(message(size, size), false));
        }
        let wanted = Wanted { context: 0, source: Some(0), tag: Some(1) };
        let (claim, _, size) = loop {
            job.ranks[0].progress().unwrap();
            job.ranks[1].take_one();
            if let Some(claim) = job.ranks[1].claim(wanted) {
                break claim;
            }
        };
        assert_eq!(size, 290);
        let (first, second) = (Bytes::new(vec![0; 290], false), Bytes::new(vec![0; 30], false));
        let (one, two) = (first.bytes.clone(), second.bytes.clone());
        job.receive(1, Some(0), Some(1), second);
        (0..dice % 5).for_each(|_| job.ranks[1].take_one());
        job.ranks[1].receive_claimed(claim, first).unwrap().unwrap();
        (0..100).for_each(|_| job.progress());
        assert_eq!((&*one.borrow(), &*two.borrow()), (&message(290, 290), &message(30, 30)));
    }
}

#[test]
fn a_receive_can_be_withdrawn_until_it_has_taken_a_message() {
    let mut job = Job::new(2, 3);
    let wanted = Wanted { context: 0, source: Some(0), tag: Some(1) };
    // Neither is posted.
    let [first, second] = [(), ()].map(|()| {
        let mut into = Bytes::new(vec![0; 4], false);
        match job.ranks[1].receive_later(wanted, Some(0), &mut into).unwrap() {
            Soon::Begun(ticket) => ticket,
            Soon::Ended(..) => panic!("nothing was sent"),
        }
    });
    job.ranks[1].cancel(first);
    assert!(job.ranks[1].poll(first).unwrap().cancelled);
    job.send(0, 1, 1, Mode::Standard, Bytes::new(message(4, 0), false));
    (0..100).for_each(|_| job.progress());
    job.ranks[1].cancel(second);
    assert!(!job.ranks[1].poll(second).unwrap().cancelled);
}

#[test]
fn who_looks_for_a_receive_that_is_not_posted_loses_no_error_of_the_carrier() {
    let mut job = Job::new(2, 3);
    let wanted = Wanted { context: 0, source: Some(0), tag: Some(1) };
    let mut into = Bytes::new(vec![0; 4], false);
    let soon = job.ranks[1].receive_later(wanted, Some(0), &mut into).unwrap();
    job.network.borrow_mut().breaks = true;
    let mut outcome = None;
    job.ask(1, soon, &mut outcome);
    assert_eq!(outcome, None);
    assert_eq!(job.ranks[1].progress(), Err(Failure::Broken("it was broken".to_owned())));
    // It was a passing one here, and nothing else is lost either.
    job.send(0, 1, 1, Mode::Standard, Bytes::new(message(4, 0), false));
    (0..100).for_each(|_| job.progress());
    job.ask(1, soon, &mut outcome);
    assert_eq!(outcome.map(|outcome| outcome.size), Some(4));
}

/// As where the kernel does not fill the place of the last bytes of another node's message.
#[test]
fn a_failure_that_comes_with_a_message_is_told_behind_it() {
    let mut job = Job::new(2, 3);
    let wanted = Wanted { context: 0, source: Some(0), tag: Some(1) };
    let mut into = Bytes::new(vec![0; 4], false);
    let soon = job.ranks[1].receive_later(wanted, Some(0), &mut into).unwrap();
    job.send(0, 1, 1, Mode::Standard, Bytes::new(message(4, 0), false));
    (0..100).for_each(|_| _ = job.ranks[0].progress().unwrap());
    job.network.borrow_mut().tears = true;
    let mut outcome = None;
    job.ask(1, soon, &mut outcome);
    assert_eq!(outcome.map(|outcome| outcome.size), Some(4));
    assert_eq!(job.ranks[1].progress(), Err(Failure::Broken("it was torn".to_owned())));
}

/// Neither what is sent nor the place for it may be there any more.
#[test]
fn what_is_given_up_goes_on_without_the_memory_of_its_user() {
    let mut job = Job::new(2, 3);
    let (from, into) = (Bytes::new(message(500, 3), false), Bytes::new(vec![0; 500], false));
    let users = [&from, &into].map(|it| it.bytes.clone());
    let send = job.send(0, 1, 1, Mode::Standard, from).unwrap();
    let receive = job.receive(1, Some(0), Some(1), into);
    let has_taken = |operation: Option<&Operation<Bytes>>| {
        matches!(operation, Some(Operation::Receive { taken: Some(_), .. }))
    };
    while !has_taken(job.ranks[1].state.operations.get(receive.0)) {
        job.progress();
    }
    job.ranks[0].abandon(send);
    job.ranks[1].abandon(receive);
    assert!(users.iter().all(|bytes| Rc::strong_count(bytes) == 1), "nobody else has it");
    (0..100).for_each(|_| job.progress());
    assert_eq!(*users[1].borrow(), vec![0; 500]);
    assert!(job.ranks.iter().all(Endpoint::is_quiet));
}

/// What a send ends as that is taken back: whether it was cancelled; if it has ended.
fn taken_back(job: &mut Job, ticket: Ticket) -> Option<bool> {
    (0..100).for_each(|_| job.progress());
    job.ranks[0].poll(ticket).map(|outcome| outcome.cancelled)
}

#[test]
fn a_send_is_taken_back_while_no_receive_has_its_message() {
    for (mode, size) in [(Mode::Synchronous, 20), (Mode::Synchronous, 500), (Mode::Standard, 500)] {
        let mut job = Job::new(2, 3);
        let send = |job: &mut Job, start| {
            job.send(0, 1, 1, mode, Bytes::new(message(size, start), false)).unwrap()
        };
        let first = send(&mut job, 1);
        assert_eq!(taken_back(&mut job, first), None);
        let second = send(&mut job, 2);
        // Once before its message has left, and twice: that is no more than once.
        job.ranks[0].cancel_send(second);
        job.ranks[0].cancel_send(first);
        job.ranks[0].cancel_send(first);
        assert_eq!(taken_back(&mut job, first), Some(true), "{mode:?}, {size}");
        assert_eq!(taken_back(&mut job, second), Some(true), "{mode:?}, {size}");
        let third = send(&mut job, 3);
        let into = Bytes::new(vec![0; size], false);
        let shared = into.bytes.clone();
        let receive = job.receive(1, Some(0), Some(1), into);
        let is_free = |operation: Option<&Operation<Bytes>>| {
            matches!(operation, Some(Operation::Receive { taken: None, .. }))
        };
        while is_free(job.ranks[1].state.operations.get(receive.0)) {
            job.progress();
        }
        job.ranks[0].cancel_send(third);
        assert_eq!(taken_back(&mut job, third), Some(false), "a receive has it");
        assert!(job.ranks[1].poll(receive).is_some());
        assert_eq!(*shared.borrow(), message(size, 3));
        assert!(job.ranks[0].is_quiet());
    }
}

/// It cannot be taken back any more, and waits for nobody.
#[test]
fn a_send_that_is_leaving_ends_when_it_is_taken_back_and_comes_all_the_same() {
    let mut seen = 0;
    for dice in 0..50 {
        let mut job = Job::new(2, dice);
        let mut send = |start| {
            let bytes = Bytes::new(message(290, start), false);
            job.send(0, 1, 1, Mode::Standard, bytes)
        };
        let leaving = [send(1), send(2)];
        for ticket in leaving.into_iter().rev().flatten() {
            job.ranks[0].cancel_send(ticket);
            assert!(!job.ranks[0].poll(ticket).unwrap().cancelled);
            seen += 1;
        }
        for start in [1, 2] {
            let into = Bytes::new(vec![0; 290], false);
            let shared = into.bytes.clone();
            job.receive(1, Some(0), Some(1), into);
            (0..100).for_each(|_| job.progress());
            assert_eq!(*shared.borrow(), message(290, start));
        }
        assert!(job.ranks[0].is_quiet());
    }
    assert!(seen > 20, "{seen}");
}

#[test]
fn who_waits_for_a_rank_that_has_ended_is_told() {
    let mut job = Job::new(2, 3);
    let receive = job.receive(1, Some(0), Some(1), Bytes::new(vec![0; 4], false));
    job.ranks[1].give_up(receive);
    assert_eq!(job.ranks[1].poll(receive), None);
    job.network.borrow_mut().gone = Some(0);
    job.ranks[1].give_up(receive);
    let failure = job.ranks[1].poll(receive).unwrap().failure.unwrap();
    assert_eq!(failure.to_string(), "rank 0 is gone: it was ended");
}

/// The number of the receive that was given up is another one's now.
#[test]
fn the_rest_of_a_message_that_was_given_up_goes_nowhere() {
    let mut job = Job::new(2, 3);
    let receive = job.receive(1, Some(0), Some(1), Bytes::new(vec![0; 290], false));
    job.send(0, 1, 1, Mode::Standard, Bytes::new(message(290, 0), false));
    while job.network.borrow().rows[0][1].is_empty() {
        job.ranks[0].progress().unwrap();
    }
    job.ranks[1].take_one();
    let rest = job.network.borrow_mut().rows[0][1].pop_front().unwrap();
    job.network.borrow_mut().gone = Some(0);
    job.ranks[1].give_up(receive);
    assert!(job.ranks[1].poll(receive).unwrap().failure.is_some());
    let into = Bytes::new(vec![0; 290], false);
    let shared = into.bytes.clone();
    let other = job.receive(1, None, Some(2), into);
    assert_eq!(other, receive);
    job.network.borrow_mut().rows[0][1].push_back(rest);
    (0..100).for_each(|_| job.progress());
    assert_eq!(job.ranks[1].poll(other), None);
    job.ranks[1].cancel(other);
    job.ranks[1].poll(other).unwrap();
    assert_eq!(*shared.borrow(), vec![0; 290]);
}

#[test]
fn what_was_released_goes_on_and_its_place_is_used_again() {
    let mut job = Job::new(2, 3);
    let send = |job: &mut Job| {
        let bytes = Bytes::new(message(20, 0), false);
        job.send(0, 1, 3, Mode::Synchronous, bytes).unwrap()
    };
    let released = send(&mut job);
    job.ranks[0].release(released);
    let into = Bytes::new(vec![0; 20], false);
    let shared = into.bytes.clone();
    let receive = job.receive(1, None, Some(3), into);
    (0..100).for_each(|_| job.progress());
    assert!(job.ranks[1].poll(receive).is_some());
    assert_eq!(*shared.borrow(), message(20, 0));
    assert_eq!(send(&mut job), released);
}
