//! Casters in a tree, over connections that keep order and a network that loses, doubles and
//! reorders datagrams; without sockets.

use super::assembly::{Assembler, Lack};
use super::caster::{Caster, Parcel};
use super::parts::Parts;
use super::replay::{Replay, WINDOW};
use super::seal::{SECRET, Seal, Secret};
use super::speaker::BATCH;
use super::wire::{CastId, Control, DATAGRAM, Header, PART};
use super::{Group, Multicast};
use crate::protocol::{NodeId, Outgoing, Payload, Time};
use crate::shell::Traffic;
use muster_base::limits::{MULTICAST_BYTES_MAX, MULTICAST_MAX, MULTICAST_MIN, MULTICAST_TURN};
use proptest::prelude::*;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Children of a node.
const ARITY: usize = 2;
const ROOT: NodeId = NodeId(0);

/// Nodes in a tree that pass on what they get.
struct Net {
    casters: Vec<Caster>,
    lines: BTreeMap<(usize, usize), VecDeque<Parcel>>,
    /// Datagrams on their way, and to whom.
    air: Vec<(usize, Vec<u8>)>,
    /// What each node has got.
    got: Vec<Vec<(Vec<u8>, Payload)>>,
    now: Time,
    random: u64,
    /// Of 256 datagrams so many are lost.
    loss: u64,
    /// Who hears nothing.
    deaf: Option<usize>,
    /// Bytes of the root's connections, and of its datagrams.
    sent: usize,
    cast: usize,
    traffic: Arc<Traffic>,
}

impl Net {
    fn new(count: usize, room: u32, seed: u64, loss: u64, deaf: Option<usize>) -> Net {
        let traffic = Arc::new(Traffic::default());
        let caster = |me| {
            let me = NodeId(u32::try_from(me).expect("few"));
            Caster::new(me, ROOT, (room, ARITY), traffic.clone()).expect("a caster")
        };
        let casters: Vec<_> = (0..count).map(caster).collect();
        let mut net = Net {
            casters,
            lines: BTreeMap::new(),
            air: vec![],
            got: vec![vec![]; count],
            now: Time(1),
            random: seed,
            loss,
            deaf,
            sent: 0,
            cast: 0,
            traffic,
        };
        for node in 1..count {
            net.join(node, 0);
            if parent(node) != 0 {
                net.join(node, parent(node));
            }
        }
        net.run(usize::MAX);
        net
    }

    fn join(&mut self, one: usize, other: usize) {
        for (node, peer) in [(one, other), (other, one)] {
            self.casters[node].raised(id(peer));
            self.lines.insert((node, peer), VecDeque::new());
        }
    }

    /// A connection ends.
    fn cut(&mut self, one: usize, other: usize) {
        for (node, peer) in [(one, other), (other, one)] {
            self.casters[node].lost(self.now, id(peer));
            self.lines.remove(&(node, peer));
        }
    }

    fn next(&mut self, below: usize) -> usize {
        // Knuth's linear congruential generator.
        self.random = self.random.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        ((self.random >> 33) as usize) % below.max(1)
    }

    /// The root sends to its children.
    fn send(&mut self, head: &[u8], body: &Payload) {
        self.pass_on(0, head, body);
    }

    fn pass_on(&mut self, node: usize, head: &[u8], body: &Payload) {
        let children = (1..self.casters.len()).filter(|child| parent(*child) == node);
        let message = |child| Outgoing { to: id(child), head: head.to_vec(), body: body.clone() };
        self.casters[node].route(&mut children.map(message).collect());
    }

    fn deliver(&mut self, node: usize, head: Vec<u8>, body: Payload) {
        self.pass_on(node, &head, &body);
        self.got[node].push((head, body));
    }

    /// Moves what there is to move: so many times, or until nothing moves any more.
    fn run(&mut self, turns: usize) {
        for _ in 0..turns {
            self.settle();
            let lines: Vec<_> = self.lines.iter().filter(|(_, l)| !l.is_empty()).collect();
            let lines: Vec<_> = lines.into_iter().map(|(key, _)| *key).collect();
            if !lines.is_empty() && (self.air.is_empty() || self.next(4) == 0) {
                let at = self.next(lines.len());
                self.arrive(lines[at]);
            } else if !self.air.is_empty() {
                let at = self.next(self.air.len().min(8));
                let (node, mut datagram) = self.air.remove(at);
                self.casters[node].datagram(self.now, &mut datagram);
            } else if !self.wait() {
                return;
            }
        }
    }

    /// Takes what casters have to say.
    fn settle(&mut self) {
        for node in 0..self.casters.len() {
            while let Some((_, head, body)) = self.casters[node].ready() {
                self.deliver(node, head, body);
            }
            self.casters[node].route(&mut vec![]);
            while let Some(parcel) = self.casters[node].outgoing() {
                let to = parcel.message.to.0 as usize;
                if node == 0 {
                    self.sent += parcel.message.head.len() + parcel.message.body.len();
                }
                if let Some(line) = self.lines.get_mut(&(node, to)) {
                    line.push_back(parcel);
                }
            }
        }
        let mut batch = vec![];
        while self.casters[0].fill(self.now, &mut batch) {
            self.cast += batch.len();
            for datagram in batch.chunks(DATAGRAM) {
                for node in 1..self.casters.len() {
                    let copies = match self.next(256) as u64 {
                        _ if self.deaf == Some(node) => 0,
                        number if number < self.loss => 0,
                        number if number % 16 == 0 => 2,
                        _ => 1,
                    };
                    self.air.extend((0..copies).map(|_| (node, datagram.to_vec())));
                }
            }
            batch.clear();
        }
    }

    fn arrive(&mut self, (from, to): (usize, usize)) {
        let parcel = self.lines.get_mut(&(from, to)).and_then(VecDeque::pop_front);
        let Some(Parcel { is_control, message }) = parcel else { return };
        let what = (is_control, &message.head[..]);
        let taken = self.casters[to].take(self.now, id(from), what, message.body.clone());
        if let Some(body) = taken.expect("no caster says what it may not") {
            self.deliver(to, message.head, body);
        }
    }

    /// Lets time pass; false when nobody waits for it, but for probes that nobody hears.
    fn wait(&mut self) -> bool {
        let alarms = self.casters.iter().filter_map(Caster::alarm);
        let Some(alarm) = alarms.min().filter(|alarm| *alarm < Time(60_000_000_000)) else {
            return false;
        };
        self.now = self.now.max(alarm);
        for caster in &mut self.casters {
            if caster.alarm().is_some_and(|alarm| alarm <= self.now) {
                caster.tick(self.now);
            }
        }
        true
    }
}

fn id(node: usize) -> NodeId {
    NodeId(u32::try_from(node).expect("few"))
}

fn parent(node: usize) -> usize {
    (node - 1) / ARITY
}

fn body(length: usize, seed: u8) -> Payload {
    Payload::from((0..length).map(|at| (at % 251) as u8 ^ seed).collect::<Vec<_>>())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn whatever_is_lost_doubled_or_late_all_get_the_same_in_order(
        count in 2usize..9, room in 1u32..200, seed in any::<u64>(), loss in 0u64..200,
        deaf in proptest::option::of(1usize..9),
        lengths in proptest::collection::vec(
            prop_oneof![Just(0), 1usize..100, MULTICAST_MIN..MULTICAST_MIN + 9 * PART], 1..6),
    ) {
        let mut net = Net::new(count, room, seed, loss, deaf);
        let sent = (0..).zip(lengths).map(|(at, length)| (vec![at], body(length, at)));
        let sent: Vec<_> = sent.collect();
        for (head, body) in &sent {
            net.send(head, body);
        }
        net.run(usize::MAX);
        for got in &net.got[1..] {
            prop_assert!(*got == sent);
        }
        prop_assert!(net.casters.iter().all(Caster::is_idle));
    }

    #[test]
    fn what_goes_with_a_connection_is_lost_and_never_wrong(
        count in 3usize..9, seed in any::<u64>(), loss in 0u64..200, turns in 0usize..400,
        whom in any::<prop::sample::Index>(),
    ) {
        let mut net = Net::new(count, 40, seed, loss, None);
        let sent: Vec<_> = (0..4).map(|at| (vec![at], body(MULTICAST_MIN, at))).collect();
        for (head, body) in &sent {
            net.send(head, body);
        }
        net.run(turns);
        let node = 1 + whom.index(count - 1);
        net.cut(node, parent(node));
        net.join(node, parent(node));
        let more = (vec![9], body(MULTICAST_MIN, 9));
        net.send(&more.0, &more.1);
        net.run(usize::MAX);
        for (at, got) in net.got.iter().enumerate().skip(1) {
            let mut rest = sent.iter().chain([&more]);
            prop_assert!(got.iter().all(|one| rest.any(|sent| sent == one)), "in order");
            prop_assert_eq!(got.last(), Some(&more), "{} goes on", at);
        }
        prop_assert!(net.casters.iter().all(Caster::is_idle));
    }

    #[test]
    fn each_number_is_taken_once_and_none_that_is_too_old(
        steps in proptest::collection::vec((0..5 * WINDOW / 2, any::<bool>()), 1..99),
    ) {
        let (mut replay, mut came, mut next) = (Replay::new(), BTreeSet::new(), 0);
        for (step, is_ahead) in steps {
            let number = if is_ahead { next + step / 9 } else { u64::saturating_sub(next, step) };
            for number in [number, number] {
                let is_new = !came.contains(&number) && number + WINDOW >= next;
                prop_assert_eq!(replay.is_new(number), is_new, "{} before {}", number, next);
                if is_new {
                    replay.mark(number);
                    (_, next) = (came.insert(number), next.max(number + 1));
                }
                prop_assert_eq!(replay.next(), next);
            }
        }
    }

    #[test]
    fn any_bytes_are_a_datagram_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..99)) {
        if let Some(header) = Header::read(&bytes) {
            prop_assert_eq!(&header.encode()[..], &bytes[..32]);
        }
        if let Ok(control) = Control::decode(&bytes) {
            prop_assert_eq!(control.encode(), bytes);
        }
    }

    #[test]
    fn missing_parts_are_told_as_bits_and_sent_in_runs(
        length in 1usize..60 * PART, gone in proptest::collection::btree_set(0usize..60, 0..60),
    ) {
        let mut parts = Parts::all(length);
        gone.iter().for_each(|part| parts.remove(part * PART));
        if parts.is_none() {
            prop_assert_eq!(Parts::read(length, parts.bits()), None);
            return Ok(());
        }
        let read = Parts::read(length, parts.bits());
        prop_assert_eq!(read.as_ref(), Some(&parts));
        let mut left = parts.clone();
        for run in parts.runs(5 * PART) {
            prop_assert!(run.len() <= 5 * PART && !run.is_empty() && run.end <= length);
            run.step_by(PART).for_each(|at| left.remove(at));
        }
        prop_assert!(left.is_none());
    }
}

#[test]
fn without_loss_a_body_leaves_the_root_once() {
    let mut net = Net::new(15, 1000, 7, 0, None);
    (net.sent, net.cast) = (0, 0);
    let long = body(MULTICAST_MAX, 1);
    net.send(b"head", &long);
    net.run(usize::MAX);
    assert!(net.got[1..].iter().all(|got| *got == [(b"head".to_vec(), long.clone())]));
    let parts = MULTICAST_MAX.div_ceil(PART);
    assert_eq!(net.cast, MULTICAST_MAX + parts * (DATAGRAM - PART));
    // Two children: a reference with its head, and that all is sent.
    assert_eq!(net.sent, 2 * (21 + 4 + 17));
    assert_eq!(net.traffic.repaired.load(Ordering::Relaxed), 0);
}

#[test]
fn a_window_is_never_further_ahead_than_the_slowest_has_room() {
    let mut net = Net::new(3, 50, 7, 0, None);
    net.cast = 0;
    net.send(b"", &body(MULTICAST_MAX, 1));
    net.settle();
    assert_eq!(net.cast, 50 * DATAGRAM);
    // One of two has heard all of it: it says so, and the other one is waited for.
    net.air.retain(|(node, _)| *node == 1);
    while !net.air.is_empty() || net.lines.values().any(|line| !line.is_empty()) {
        net.run(1);
    }
    assert_eq!(net.cast, 50 * DATAGRAM);
    // But not for ever.
    net.run(usize::MAX);
    assert!(net.got[1..].iter().all(|got| got.len() == 1));
}

#[test]
fn a_key_that_is_worn_out_is_replaced_and_all_hear_the_next_one() {
    let mut net = Net::new(7, 100, 7, 60, None);
    let first = net.casters[0].generation(true);
    let mut used = vec![];
    for at in 0..3 {
        net.cast = 0;
        net.send(&[at], &body(MULTICAST_MIN, at));
        net.run(usize::MAX);
        assert!(net.cast > MULTICAST_MIN, "it goes by multicast");
        used.push(net.casters[0].generation(false));
    }
    assert!(net.got[1..].iter().all(|got| got.len() == 3));
    assert!(used[0] != first && used[1] == used[0] && used[2] == used[0]);
}

#[test]
fn that_all_is_sent_is_said_when_the_last_batch_has_been() {
    let mut net = Net::new(3, 1000, 7, 0, None);
    net.send(b"", &body(MULTICAST_MIN, 1));
    while net.casters[0].outgoing().is_some() {}
    // Two batches: the next call says that the last one has left.
    for says in [0, 0, 2] {
        net.casters[0].fill(net.now, &mut vec![]);
        let said = std::iter::from_fn(|| net.casters[0].outgoing());
        assert_eq!(said.count(), says);
    }
}

#[test]
fn a_body_that_is_sent_again_while_it_is_read_does_not_go_out_again() {
    let mut net = Net::new(3, 1000, 7, 0, None);
    let long = body(MULTICAST_MIN, 1);
    let once = MULTICAST_MIN + MULTICAST_MIN.div_ceil(PART) * (DATAGRAM - PART);
    (net.sent, net.cast) = (0, 0);
    (0..3).for_each(|at| net.send(&[at], &long));
    // As a link does that has waited for its child for too long.
    let message = Outgoing { to: id(1), head: vec![3], body: long.clone() };
    net.casters[0].route(&mut vec![message]);
    net.run(usize::MAX);
    assert_eq!((net.cast, net.got[1].len(), net.got[2].len()), (once, 4, 3));
    assert!(net.sent < 1000, "{}", net.sent);
    // Once all have it, it goes out again.
    net.send(&[4], &long);
    net.run(usize::MAX);
    assert_eq!((net.cast, net.got[1].len(), net.got[2].len()), (2 * once, 5, 4));
    assert_eq!(net.traffic.repaired.load(Ordering::Relaxed), 0);
    assert!(net.casters.iter().all(Caster::is_idle));
}

#[test]
fn one_child_gets_its_body_over_the_connection_and_so_do_short_ones() {
    let mut net = Net::new(2, 50, 7, 0, None);
    net.cast = 0;
    net.send(b"", &body(MULTICAST_MAX, 1));
    net.run(usize::MAX);
    assert_eq!((net.cast, net.got[1].len()), (0, 1));
    let mut net = Net::new(4, 50, 7, 0, None);
    net.cast = 0;
    net.send(b"", &body(MULTICAST_MIN - 1, 1));
    net.run(usize::MAX);
    assert_eq!((net.cast, net.got[3].len()), (0, 1));
}

fn name(number: u64) -> CastId {
    CastId { generation: 1, number }
}

#[test]
fn lengths_that_lie_take_no_memory_and_end_their_connection() {
    let (mut assembler, now) = (Assembler::default(), Time(1));
    for length in [0, MULTICAST_MAX + 1, u32::MAX as usize] {
        assembler.refer(now, NodeId(1), name(0), length).expect_err("no such body");
    }
    assert_eq!(assembler.bytes(), 0);
    assembler.refer(now, NodeId(1), name(0), 3 * PART).expect("a body");
    assembler.refer(now, NodeId(2), name(0), 2 * PART).expect_err("another length");
    assert!(!assembler.part(now, name(0), 2 * PART, (0, &[7; PART])), "another length");
    // Who refers knows better than what was heard before.
    assert!(assembler.part(now, name(1), 2 * PART, (0, &[7; PART])));
    assembler.refer(now, NodeId(1), name(1), 1).expect("a body");
    assert!(assembler.part(now, name(1), 1, (0, &[9])));
    assert_eq!(assembler.whole(name(1)), Some(Payload::from(vec![9])));
    let lie = |offset, bytes: &[u8]| {
        let (mut assembler, one) = (Assembler::default(), NodeId(1));
        assembler.refer(now, one, name(0), 2 * PART + 1).expect("a body");
        let mut repair =
            |node, offset, bytes: &[u8]| assembler.repair(now, node, name(0), offset, bytes);
        assert_eq!(repair(one, 0, &[0; PART]), Ok(false), "not asked for");
        assembler.sent(now, one, name(0));
        assert_eq!(assembler.lacks(now, None).len(), 1);
        let other = assembler.repair(now, NodeId(2), name(0), 0, &[0; PART]);
        assert_eq!(other, Ok(false), "not asked for there");
        assembler.repair(now, one, name(0), offset, bytes)
    };
    assert_eq!(lie(0, &[0; 2 * PART + 1]), Ok(true), "all of it");
    for (offset, bytes) in [(1, PART), (0, 5), (2 * PART, 2), (usize::MAX, 1), (3 * PART, 0)] {
        lie(offset, &vec![0; bytes]).expect_err("no parts of it");
    }
}

#[test]
fn what_nobody_refers_to_makes_room_and_is_forgotten() {
    let mut assembler = Assembler::default();
    let most = (MULTICAST_BYTES_MAX / MULTICAST_MAX) as u64;
    let part = |assembler: &mut Assembler, number| {
        assembler.part(Time(number), name(number), MULTICAST_MAX, (0, &[7; PART]))
    };
    assert!((1..=3 * most).all(|number| part(&mut assembler, number)));
    assert_eq!(assembler.bytes(), MULTICAST_BYTES_MAX);
    // References take their place, and then there is no more.
    for number in 0..most {
        let id = name(1000 + number);
        assembler.refer(Time(0), NodeId(1), id, MULTICAST_MAX).expect("room");
    }
    assert!(!part(&mut assembler, 1), "all is waited for");
    assembler.refer(Time(0), NodeId(1), name(1), 1).expect_err("no room");
    assembler.lost(Time(5), NodeId(1));
    let alarm = assembler.alarm().expect("it forgets");
    assembler.expire(alarm);
    assert_eq!((assembler.bytes(), assembler.alarm()), (0, None));
}

#[test]
fn who_is_asked_and_lost_or_silent_is_replaced_by_another_who_refers_to_it() {
    for is_lost in [true, false] {
        let (mut assembler, now, length) = (Assembler::default(), Time(1), 9 * PART);
        for node in [1, 2] {
            assembler.refer(now, NodeId(node), name(0), length).expect("a body");
            assembler.sent(now, NodeId(node), name(0));
        }
        let lack = |of| Lack { of, id: name(0), missing: Parts::all(length) };
        assert_eq!(assembler.lacks(now, None), [lack(NodeId(1))]);
        assert_eq!(assembler.lacks(now, None), [], "asked once");
        let mut now = now;
        match is_lost {
            true => assembler.lost(now, NodeId(1)),
            false => now = assembler.alarm().expect("it asks another one"),
        }
        assert_eq!(assembler.lacks(now, None), [lack(NodeId(2))]);
        assert_eq!(assembler.alarm(), None, "all were asked");
    }
}

#[test]
fn what_comes_again_is_of_no_use_and_puts_no_question_off() {
    let (mut assembler, one, length) = (Assembler::default(), NodeId(1), 9 * PART);
    let part = |assembler: &mut Assembler, now| {
        assembler.part(Time(now), name(0), length, (0, &[7; PART]))
    };
    assembler.refer(Time(1), one, name(0), length).expect("a body");
    assembler.sent(Time(1), one, name(0));
    assert!(part(&mut assembler, 2));
    let alarm = assembler.alarm();
    assert!(!part(&mut assembler, 1000));
    assert_eq!(assembler.alarm(), alarm);
    // Nor do repairs, when another one is to be asked.
    assert_eq!(assembler.lacks(Time(2), None).len(), 1);
    assembler.refer(Time(2), NodeId(2), name(0), length).expect("a body");
    assembler.sent(Time(2), NodeId(2), name(0));
    let alarm = assembler.alarm();
    assert_eq!(assembler.repair(Time(9), one, name(0), 0, &[7; PART]), Ok(false));
    assert_eq!(assembler.alarm(), alarm);
    assert_eq!(assembler.repair(Time(9), one, name(0), PART, &[7; PART]), Ok(true));
    assert!(assembler.alarm() > alarm);
}

#[test]
fn a_repair_that_comes_when_its_body_is_referred_to_again_does_no_harm() {
    let (mut assembler, now, one) = (Assembler::default(), Time(1), NodeId(1));
    assembler.refer(now, one, name(0), PART).expect("a body");
    assembler.sent(now, one, name(0));
    assert_eq!(assembler.lacks(now, None).len(), 1);
    assert!(assembler.part(now, name(0), PART, (0, &[7; PART])));
    assembler.release(one, name(0));
    assembler.refer(now, NodeId(2), name(0), PART).expect("a body");
    assert_eq!(assembler.repair(now, one, name(0), 0, &[7; PART]), Ok(false));
    assert_eq!(assembler.whole(name(0)), None);
}

#[test]
fn what_was_recorded_is_taken_once_however_late_it_is_sent_again() {
    let mut net = Net::new(3, 1000, 7, 0, None);
    net.send(&[0], &body(MULTICAST_MIN, 0));
    net.settle();
    let air = net.air.iter().filter(|(node, _)| *node == 1);
    let recorded: Vec<_> = air.map(|(_, datagram)| datagram.clone()).collect();
    // More bodies than are remembered, and more datagrams.
    for at in 0..90 {
        net.send(&[at], &body(MULTICAST_MIN, at));
        net.run(usize::MAX);
    }
    assert_eq!(net.got[1].len(), 91);
    for mut datagram in recorded {
        assert!(!net.casters[1].datagram(net.now, &mut datagram));
    }
    assert!(net.casters[1].is_idle());
}

#[test]
fn a_datagram_with_the_last_number_of_all_is_one() {
    let mut caster = Caster::new(id(1), ROOT, (9, ARITY), Arc::default()).expect("a caster");
    let secret = Secret::new().expect("random numbers");
    let key = Control::Key(secret.clone()).encode();
    caster.take(Time(1), ROOT, (true, &key), Payload::default()).expect("a key");
    let id = CastId { generation: secret.generation, number: 0 };
    let header = Header { id, datagram: u64::MAX, length: 1, offset: 0 };
    let mut datagram = vec![];
    Seal::new(&secret).seal(&header, b"x", &mut datagram);
    assert!(caster.datagram(Time(1), &mut datagram));
}

#[test]
fn who_loses_all_of_a_body_does_not_hear_until_it_hears_again() {
    let mut net = Net::new(3, 1000, 7, 0, None);
    let mut send = |deaf, at| {
        (net.cast, net.deaf) = (0, deaf);
        net.send(&[at], &body(MULTICAST_MIN, at));
        while net.got[1].len() <= at.into() || net.got[2].len() <= at.into() {
            net.run(1);
        }
        let cast = net.cast > MULTICAST_MIN;
        let joins = [1, 2].map(|node: usize| net.casters[node].is_to_join());
        net.deaf = None;
        if deaf.is_none() {
            net.run(usize::MAX);
        }
        (cast, joins)
    };
    assert_eq!(send(Some(1), 0), (true, [true, false]), "nobody knows");
    assert_eq!(send(Some(1), 1), (false, [false; 2]), "one alone hears");
    assert_eq!(send(None, 2), (false, [false; 2]), "it has not heard a probe before");
    assert_eq!(send(None, 3), (true, [false; 2]), "it has");
}

#[test]
fn what_a_key_may_not_seal_any_more_goes_over_connections() {
    let mut net = Net::new(3, 1000, 7, 0, None);
    net.casters[0].generation(true);
    net.cast = 0;
    // The key is good for one, and may not be replaced before that is sent.
    (0..3).for_each(|at| net.send(&[at], &body(MULTICAST_MIN, at)));
    net.run(usize::MAX);
    assert!((MULTICAST_MIN..2 * MULTICAST_MIN).contains(&net.cast), "{}", net.cast);
    net.send(&[3], &body(MULTICAST_MIN, 3));
    net.run(usize::MAX);
    assert!(net.cast > 2 * MULTICAST_MIN, "{}", net.cast);
    assert!(net.got[1..].iter().all(|got| got.len() == 4));
}

/// Has the root know of somebody who listens, and hears if it has room.
fn tell_root(caster: &mut Caster, node: NodeId, room: u32) {
    caster.raised(node);
    let generation = caster.generation(false);
    let hears = (room > 0).then_some(Control::Hears { generation, room });
    for control in [Control::Listen].into_iter().chain(hears) {
        let taken = caster.take(Time(1), node, (true, &control.encode()), Payload::default());
        taken.expect("it may say so");
    }
}

#[test]
fn what_few_get_is_not_heard_by_many_others() {
    for (readers, hearers, is_cast) in
        [(1, 1, false), (2, 4, true), (2, 5, false), (7, 15, false), (8, 99, true), (9, 99, true)]
    {
        let mut caster = Caster::new(ROOT, ROOT, (0, 8), Arc::default()).expect("a caster");
        (1..=hearers).for_each(|node| tell_root(&mut caster, id(node), 9));
        while caster.outgoing().is_some() {}
        let body = body(MULTICAST_MIN, 0);
        let message = |node| Outgoing { to: id(node), head: vec![], body: body.clone() };
        caster.route(&mut (1..=readers).map(message).collect());
        let parcel = caster.outgoing().expect("it is for the first");
        assert_eq!(parcel.is_control, is_cast, "to {readers} where {hearers} hear");
    }
}

#[test]
fn a_probe_for_which_there_is_no_room_does_not_keep_the_root_awake() {
    let mut caster = Caster::new(ROOT, ROOT, (0, ARITY), Arc::default()).expect("a caster");
    tell_root(&mut caster, id(1), 0);
    for _ in 0..3 {
        let now = caster.alarm().expect("it probes");
        caster.tick(now);
        assert!(caster.alarm() > Some(now));
    }
    // When there is room, one goes out.
    let mut batch = vec![];
    assert!(caster.fill(Time(1), &mut batch));
    assert_eq!(batch.len(), DATAGRAM - PART);
    assert!(!caster.fill(Time(1), &mut batch));
}

#[test]
fn what_comes_to_the_root_does_not_keep_it_awake() {
    // Who sends to a port of this machine at which nobody is hears of it, as of a forged error.
    let nobody = SocketAddrV4::new(Ipv4Addr::new(127, 77, 0, 1), 1);
    let group = Group::new(nobody, Ipv4Addr::LOCALHOST, ROOT);
    let mut multicast = Multicast::open(&group, ROOT, Arc::default()).expect("a socket");
    tell_root(&mut multicast.caster, id(1), 0);
    assert!(!multicast.send(Time(1)), "a probe");
    let wakes = |multicast: &Multicast, tv_sec| {
        let descriptor = multicast.descriptor();
        let mut on = [PollFd::new(&descriptor, PollFlags::IN)];
        let time = Timespec { tv_sec, tv_nsec: 0 };
        poll(&mut on, Some(&time)).expect("it is looked at") > 0
    };
    assert!(wakes(&multicast, 30));
    assert!(multicast.receive(Time(1)));
    assert!(!wakes(&multicast, 0));
}

#[test]
fn the_root_sends_so_much_and_then_looks_at_its_connections() {
    let address = SocketAddrV4::new(Ipv4Addr::new(239, 255, 77, 2), 9);
    let group = Group::new(address, Ipv4Addr::LOCALHOST, ROOT);
    let traffic = Arc::new(Traffic::default());
    let mut multicast = Multicast::open(&group, ROOT, traffic.clone()).expect("a socket");
    let nodes = [1, 2].map(id);
    nodes.into_iter().for_each(|node| tell_root(&mut multicast.caster, node, u32::MAX));
    for seed in 0..3 {
        let body = body(MULTICAST_MAX, seed);
        let message = |to| Outgoing { to, head: vec![], body: body.clone() };
        multicast.caster.route(&mut nodes.map(message).into());
    }
    let (mut before, turn) = (0, (MULTICAST_TURN * BATCH * DATAGRAM) as u64);
    loop {
        let is_more = multicast.send(Time(1)) || multicast.is_full;
        let cast = traffic.cast.load(Ordering::Relaxed);
        assert!(cast - before <= turn, "{cast}");
        before = cast;
        if !is_more {
            break;
        }
    }
    assert!(traffic.cast.load(Ordering::Relaxed) > 3 * MULTICAST_MAX as u64);
}

#[test]
fn the_samples_of_the_document_are_read() {
    let text = include_str!("../../../../../docs/wire/multicast.md");
    let sample = |name: &str| -> Vec<u8> {
        let begin = text.find(&format!("\n{name} ")).expect("a sample") + name.len() + 2;
        let end = text[begin..].find(|c: char| !c.is_ascii_hexdigit() && !c.is_whitespace());
        let rest = &text[begin..begin + end.expect("more text")];
        // The next sample's name may begin with a letter of a number.
        let lines = rest.lines().enumerate();
        let lines = lines.take_while(|(at, line)| *at == 0 || line.starts_with(' '));
        let hex: String = lines.flat_map(|(_, line)| line.split_whitespace()).collect();
        let pair = |at| u8::from_str_radix(&hex[at..at + 2], 16).expect("hexadecimal");
        (0..hex.len()).step_by(2).map(pair).collect()
    };
    let mut secret = [2; SECRET];
    secret[..8].copy_from_slice(&255u64.to_le_bytes());
    secret[8..40].fill(1);
    let (secret, id) = (Secret::decode(&secret), CastId { generation: 255, number: 3 });
    let seal = Seal::new(&secret);
    let first = Header { id, datagram: 1, length: 5, offset: 0 };
    let none = CastId { number: 0, ..id };
    let probe = Header { id: none, datagram: 2, length: 0, offset: 0 };
    for (name, header, part) in [("datagram", first, &b"hello"[..]), ("probe", probe, b"")] {
        let (mut bytes, mut sealed) = (sample(name), vec![]);
        seal.seal(&header, part, &mut sealed);
        assert_eq!(sealed, bytes, "{name}");
        assert_eq!(Header::read(&bytes), Some(header));
        assert_eq!(seal.open(&header, &mut bytes), Some(part));
        *sealed.last_mut().expect("a tag") ^= 1;
        assert_eq!(seal.open(&header, &mut sealed), None, "not sealed so");
        assert_eq!(Header::read(&sealed[1..]), None);
    }
    for (name, control) in [
        ("listen", Control::Listen),
        ("key", Control::Key(secret)),
        ("hears", Control::Hears { generation: 255, room: 16 }),
        ("refer", Control::Refer { id, length: 20 * PART as u32 }),
        ("sent", Control::Sent(id)),
        ("lack", Control::Lack { id, missing: vec![1, 0, 8] }),
        ("repair", Control::Repair { id, offset: PART as u32 }),
        ("have", Control::Have(id)),
        ("progress", Control::Progress { generation: 255, next: 2 }),
    ] {
        assert_eq!(control.encode(), sample(name), "{name}");
        assert_eq!(Control::decode(&sample(name)), Ok(control));
    }
}
