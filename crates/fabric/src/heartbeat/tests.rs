//! Heartbeats among nodes that a small simulation joins: virtual time, messages that take a while,
//! nodes that freeze, die and begin again, connections that break.

use super::wire::{Behind, Message, Report, Why};
use super::*;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

const MS: u64 = 1_000_000;
const MASTER: NodeId = NodeId(0);

struct Node {
    heart: Heartbeat,
    is_frozen: bool,
    notices: Vec<Notice>,
}

/// The nodes and what is under way between them.
struct Net {
    now: Time,
    nodes: BTreeMap<NodeId, Node>,
    wire: BTreeMap<(Time, u64), (NodeId, Outgoing)>,
    sent: u64,
    cut: BTreeSet<(NodeId, NodeId)>,
    /// How long a message takes; what the number of the message makes of it.
    delay: fn(u64) -> u64,
    /// Which messages arrive twice.
    is_doubled: fn(u64) -> bool,
    /// Nobody is late before.
    lateness: Duration,
}

fn config(me: NodeId) -> Config {
    Config { arity: 2, report_every: 8, late: 16, ..Config::new(me, MASTER, 1) }
}

impl Net {
    /// Nodes 0 to count - 1, all members.
    fn new(count: u32) -> Net {
        Net::patient(count, Duration::ZERO)
    }

    fn patient(count: u32, lateness: Duration) -> Net {
        let mut net = Net {
            now: Time::default(),
            nodes: BTreeMap::new(),
            wire: BTreeMap::new(),
            sent: 0,
            cut: BTreeSet::new(),
            delay: |_| 50_000,
            is_doubled: |_| false,
            lateness,
        };
        (0..count).for_each(|node| net.start(node));
        net.members(1, 0..count);
        net
    }

    fn start(&mut self, node: u32) {
        let config = Config { lateness: self.lateness, ..config(NodeId(node)) };
        let heart = Heartbeat::new(config, self.now);
        let node =
            self.nodes.insert(NodeId(node), Node { heart, is_frozen: false, notices: Vec::new() });
        assert!(node.is_none(), "it is running");
    }

    fn members(&mut self, epoch: u64, members: impl Iterator<Item = u32>) {
        self.ask(Request::Members { epoch, members: members.map(NodeId).collect() });
    }

    fn ask(&mut self, request: Request) {
        let now = self.now;
        self.heart(MASTER).request(now, request);
        self.collect(MASTER);
    }

    fn heart(&mut self, node: NodeId) -> &mut Heartbeat {
        &mut self.nodes.get_mut(&node).expect("it runs").heart
    }

    fn freeze(&mut self, node: u32, is_frozen: bool) {
        self.nodes.get_mut(&NodeId(node)).expect("it runs").is_frozen = is_frozen;
    }

    /// A process ends: all its connections do.
    fn kill(&mut self, node: u32) {
        self.nodes.remove(&NodeId(node));
        let others: Vec<NodeId> = self.nodes.keys().copied().collect();
        others.into_iter().for_each(|other| self.break_link(NodeId(node), other));
    }

    /// What is under way between the two is lost, and both learn that.
    fn break_link(&mut self, one: NodeId, other: NodeId) {
        self.wire.retain(|_, (from, message)| {
            (*from, message.to) != (one, other) && (*from, message.to) != (other, one)
        });
        for (node, peer) in [(one, other), (other, one)] {
            if self.nodes.contains_key(&node) {
                let now = self.now;
                self.heart(node).lost(now, peer);
                self.collect(node);
            }
        }
    }

    /// Puts on the wire what a node sends, and keeps what it tells.
    fn collect(&mut self, node: NodeId) {
        let Net { nodes, wire, .. } = self;
        let one = nodes.get_mut(&node).expect("it runs");
        one.notices.extend(std::iter::from_fn(|| one.heart.notice()));
        while let Some(message) = one.heart.outgoing() {
            for _ in 0..1 + u64::from((self.is_doubled)(self.sent)) {
                self.sent += 1;
                let at = Time(self.now.0 + (self.delay)(self.sent));
                wire.insert((at, self.sent), (node, message.clone()));
            }
        }
    }

    fn run(&mut self, milliseconds: u64) {
        self.run_for(milliseconds * MS);
    }

    fn run_for(&mut self, nanoseconds: u64) {
        let end = Time(self.now.0 + nanoseconds);
        loop {
            let awake = self.nodes.iter().filter(|(_, node)| !node.is_frozen);
            let alarm = awake.filter_map(|(id, node)| Some((node.heart.alarm()?, *id))).min();
            let is_frozen = |to| self.nodes.get(&to).is_some_and(|node: &Node| node.is_frozen);
            let message = self.wire.iter().find(|(_, (_, message))| !is_frozen(message.to));
            let message = message.map(|(key, _)| *key);
            match (alarm, message) {
                (_, Some(key)) if key.0 <= end && alarm.is_none_or(|(at, _)| at >= key.0) => {
                    self.now = self.now.max(key.0);
                    self.deliver(key);
                }
                (Some((at, node)), _) if at <= end => {
                    self.now = self.now.max(at);
                    let now = self.now;
                    self.heart(node).tick(now);
                    self.collect(node);
                }
                _ => break self.now = end,
            }
        }
    }

    fn deliver(&mut self, key: (Time, u64)) {
        let (from, message) = self.wire.remove(&key).expect("it is under way");
        let to = message.to;
        if !self.nodes.contains_key(&to) || self.cut.contains(&(from, to)) {
            return self.break_link(from, to);
        }
        let now = self.now;
        let heart = self.heart(to);
        heart.receive(now, from, &message.head, message.body).expect("our own messages");
        self.collect(to);
    }

    /// The strobes that a node has told of.
    fn strobes(&self, node: u32) -> Vec<(u64, Vec<Event>)> {
        let notices = self.nodes[&NodeId(node)].notices.iter();
        let strobe = |notice: &Notice| match notice {
            Notice::Strobe { sequence, events, .. } => Some((*sequence, events.clone())),
            _ => None,
        };
        notices.filter_map(strobe).collect()
    }

    fn told(&self, node: u32, what: impl Fn(&Notice) -> bool) -> usize {
        self.nodes[&NodeId(node)].notices.iter().filter(|notice| what(notice)).count()
    }
}

fn numbers(strobes: &[(u64, Vec<Event>)]) -> Vec<u64> {
    strobes.iter().map(|(sequence, _)| *sequence).collect()
}

fn is_late(notice: &Notice, which: u32) -> bool {
    matches!(notice, Notice::Late { node: NodeId(node), .. } if *node == which)
}

fn is_in_time(notice: &Notice, which: u32) -> bool {
    matches!(notice, Notice::InTime { node: NodeId(node) } if *node == which)
}

#[test]
fn every_node_sees_every_strobe_and_event_in_the_same_order() {
    let mut net = Net::new(21);
    for step in 0..50u32 {
        net.ask(Request::Event(Event::new(USER + step, step.to_le_bytes().to_vec())));
        net.run(3);
    }
    let all = net.strobes(0);
    assert_eq!(numbers(&all), (1..=all.len() as u64).collect::<Vec<_>>());
    assert_eq!(all.iter().flat_map(|(_, events)| events).filter(|e| e.kind >= USER).count(), 50);
    net.run(0);
    for node in 1..21 {
        let seen = net.strobes(node);
        // The last one is still on its way down.
        assert!(seen.len() + 1 >= all.len() && seen[..] == all[..seen.len()], "node {node}");
    }
    for node in 0..21 {
        assert_eq!(net.told(node, |notice| !matches!(notice, Notice::Strobe { .. })), 0);
    }
}

#[test]
fn strobes_come_in_the_period_whether_nodes_answer_or_not() {
    let mut net = Net::new(5);
    net.run(10);
    (1..5).for_each(|node| net.freeze(node, true));
    net.run(1000);
    let whens = net.nodes[&MASTER].notices.iter().filter_map(|notice| match notice {
        Notice::Strobe { when, .. } => Some(when.0),
        _ => None,
    });
    let whens: Vec<u64> = whens.collect();
    assert_eq!(whens.len(), 1011);
    assert!(whens.windows(2).all(|two| two[1] - two[0] == MS));
}

#[test]
fn a_frozen_node_is_named_and_nobody_below_it_waits_for_long() {
    // Node 1 has half of the tree below it.
    let mut net = Net::new(31);
    net.run(100);
    net.freeze(1, true);
    net.run(200);
    assert!(net.told(0, |notice| is_late(notice, 1)) > 0);
    let place = net.heart(MASTER).members().iter().position(|node| *node == NodeId(1));
    assert_eq!(place, Some(30), "it is a leaf now");
    for node in 2..31 {
        assert_eq!(net.told(0, |notice| is_late(notice, node)), 0, "node {node}");
        let seen = net.strobes(node);
        assert_eq!(numbers(&seen), (1..=seen.len() as u64).collect::<Vec<_>>());
        assert!(seen.len() >= 300, "node {node} has seen {}", seen.len());
    }
    let Some(Notice::Late { seen, behind, .. }) =
        net.nodes[&MASTER].notices.iter().rfind(|notice| is_late(notice, 1))
    else {
        panic!("it is late")
    };
    // What it has seen is known from its reports only.
    assert!((80..=101).contains(seen) && *behind > 150, "{seen}, {behind} behind");

    net.freeze(1, false);
    net.run(100);
    let seen = net.strobes(1);
    assert_eq!(numbers(&seen), (1..=seen.len() as u64).collect::<Vec<_>>());
    assert_eq!(net.told(0, |notice| is_in_time(notice, 1)), 1);
    let members: Vec<NodeId> = (0..31).map(NodeId).collect();
    assert_eq!(net.heart(NodeId(30)).members(), members, "all are in their places again");
}

#[test]
fn nobody_is_late_before_the_time_for_it_however_short_the_period() {
    let mut net = Net::patient(7, Duration::from_secs(1));
    net.run(100);
    net.sent = 0;
    net.run(1000);
    // Six strobes each time, and four reports a node.
    assert!((6000..6040).contains(&net.sent), "{} messages", net.sent);
    net.freeze(2, true);
    net.run(900);
    assert_eq!(net.told(0, |notice| is_late(notice, 2)), 0);
    net.run(700);
    assert!(net.told(0, |notice| is_late(notice, 2)) > 0);
    net.freeze(2, false);
    net.run(700);
    assert_eq!(net.told(0, |notice| is_in_time(notice, 2)), 1);

    // A longer one than before blames nobody for reports that came as seldom as before.
    let mut net = Net::patient(7, Duration::from_secs(1));
    net.run(1137);
    net.ask(Request::Period { period: Duration::from_millis(200), micro: 1 });
    net.run(3000);
    let late = |notice: &Notice| matches!(notice, Notice::Late { .. });
    assert_eq!((0..7).map(|node| net.told(node, late)).sum::<usize>(), 0);

    // And with a period that is as long as that, not before some strobes have passed.
    let mut net = Net::patient(3, Duration::from_secs(1));
    net.ask(Request::Period { period: Duration::from_secs(1), micro: 1 });
    net.run(20_000);
    net.freeze(2, true);
    net.run(12_000);
    assert_eq!(net.told(0, |notice| is_late(notice, 2)), 0);
    net.run(20_000);
    assert!(net.told(0, |notice| is_late(notice, 2)) > 0);
}

#[test]
fn a_broken_connection_loses_no_strobe() {
    let mut net = Net::new(7);
    net.run(50);
    net.cut.extend([(NodeId(1), NodeId(3)), (NodeId(3), NodeId(1))]);
    net.run(20);
    net.cut.clear();
    net.run(200);
    let seen = net.strobes(3);
    assert!(seen.len() > 260);
    assert_eq!(seen, net.strobes(0)[..seen.len()]);
    assert_eq!(net.told(3, |notice| matches!(notice, Notice::Resync { .. })), 0);
}

/// Node 3 is moved from below node 1 to below node 6, and the strobe that says so is lost on its
/// way from node 6. It comes from node 1 too, so node 3 knows whom to ask, long before silence
/// makes it ask the master.
#[test]
fn who_is_moved_learns_of_it_also_when_the_new_parent_cannot_tell() {
    let mut net = Net::new(12);
    net.freeze(4, true);
    net.run(2);
    net.freeze(3, true);
    net.run(31);
    let mut parent = |at| net.heart(NodeId(at)).tree.parent(NodeId(3));
    assert_eq!(parent(6), Some(NodeId(6)), "it is moved when the connection breaks");
    assert_eq!(parent(3), Some(NodeId(1)), "and does not know that");
    net.break_link(NodeId(3), NodeId(6));
    [3, 4].into_iter().for_each(|node| net.freeze(node, false));
    net.run(1000);
    let (all, seen) = (net.strobes(0), net.strobes(3));
    assert!(seen.len() + 10 >= all.len(), "{} of {}", seen.len(), all.len());
    assert_eq!(seen, all[..seen.len()]);
    assert_eq!(net.told(0, |notice| is_in_time(notice, 3)), 1);
}

#[test]
fn a_death_is_told_at_once_and_the_others_go_on() {
    let mut net = Net::new(15);
    net.run(50);
    net.kill(5);
    net.run(1);
    assert_eq!(net.told(0, |notice| *notice == Notice::Lost { node: NodeId(5) }), 1);
    net.members(2, (0..15).filter(|node| *node != 5));
    net.run(100);
    for node in (1..15).filter(|node| *node != 5) {
        let seen = net.strobes(node);
        assert!(seen.len() >= 149, "node {node}: {}", seen.len());
        assert_eq!(seen, net.strobes(0)[..seen.len()]);
    }
}

#[test]
fn who_begins_again_catches_up_or_learns_that_it_cannot() {
    let mut net = Net::new(7);
    net.run(100);
    net.kill(2);
    net.run(100);
    net.start(2);
    net.run(200);
    assert_eq!(numbers(&net.strobes(2))[..2], [1, 2], "all strobes are still kept");
    assert!(net.heart(MASTER).seen() - net.heart(NodeId(2)).seen() <= 1);
    assert_eq!(net.told(0, |notice| is_in_time(notice, 2)), 1);

    net.kill(2);
    net.run(limits::HISTORY_MAX as u64);
    net.start(2);
    net.run(200);
    let Some(Notice::Resync { seen: 0, sequence }) = net.nodes[&NodeId(2)].notices.first() else {
        panic!("{:?}", net.nodes[&NodeId(2)].notices.first())
    };
    let after = numbers(&net.strobes(2));
    assert_eq!(after[..2], [sequence + 1, sequence + 2]);
    assert!(net.heart(MASTER).seen() - net.heart(NodeId(2)).seen() <= 1);
}

#[test]
fn who_is_removed_learns_that_at_once() {
    let mut net = Net::new(4);
    net.run(20);
    net.members(2, [0, 1, 2].into_iter());
    net.run(2);
    assert_eq!(net.told(3, |notice| *notice == Notice::Removed { epoch: 2 }), 1);
    assert_eq!(net.told(2, |notice| matches!(notice, Notice::Removed { .. })), 0);
}

#[test]
fn an_early_strobe_comes_in_addition() {
    let mut net = Net::new(3);
    net.run(10);
    net.ask(Request::Event(Event::new(USER, vec![7])));
    net.run_for(MS / 2);
    net.ask(Request::Early);
    // At once only once: those who ask for many get one more, a little later.
    (0..100).for_each(|_| net.ask(Request::Early));
    net.run(10);
    let notices = net.nodes[&NodeId(2)].notices.iter().filter_map(|notice| match notice {
        Notice::Strobe { early, events, when, .. } => Some((*early, events.len(), when.0)),
        _ => None,
    });
    let (early, usual): (Vec<_>, Vec<_>) = notices.partition(|(early, ..)| *early);
    assert_eq!(early.iter().map(|(_, events, _)| *events).collect::<Vec<_>>(), [1, 0]);
    assert!(usual.windows(2).all(|two| two[1].2 - two[0].2 == MS), "the grid has moved");
}

#[test]
fn period_and_parts_change_for_all_with_a_strobe() {
    let mut net = Net::new(6);
    net.run(10);
    net.ask(Request::Period { period: Duration::from_millis(8), micro: 4 });
    net.run(1 + 10 * 8);
    for node in 0..6 {
        assert_eq!(net.heart(NodeId(node)).period(), Duration::from_millis(8));
        let notices = net.nodes[&NodeId(node)].notices.iter();
        let last: Vec<String> = notices
            .filter_map(|notice| match notice {
                Notice::Strobe { sequence, .. } => Some(format!("{sequence}")),
                Notice::Micro { sequence, index } => Some(format!("{sequence}.{index}")),
                _ => None,
            })
            .skip_while(|text| text != "15")
            .take(5)
            .collect();
        assert_eq!(last, ["15", "15.1", "15.2", "15.3", "16"], "node {node}");
    }
    for (period, micro) in [(299, 1), (60_000_001, 1), (1000, 0), (1000, 17)] {
        net.ask(Request::Period { period: Duration::from_micros(period), micro });
    }
    assert_eq!(net.told(0, |notice| matches!(notice, Notice::Refused { .. })), 4);
}

#[test]
fn a_node_that_hears_nothing_suspects_itself_once() {
    let mut net = Net::new(3);
    net.run(10);
    net.freeze(0, true);
    net.run(4990);
    assert_eq!(net.told(1, |notice| matches!(notice, Notice::Silent { .. })), 0);
    net.run(1000);
    for node in [1, 2] {
        assert_eq!(net.told(node, |notice| matches!(notice, Notice::Silent { .. })), 1);
    }
    net.freeze(0, false);
    net.run(100);
    net.freeze(0, true);
    net.run(6000);
    assert_eq!(net.told(1, |notice| matches!(notice, Notice::Silent { .. })), 2);
}

#[test]
fn what_cannot_be_asked_is_refused() {
    let mut net = Net::new(2);
    let too_long = Event::new(USER, vec![0; limits::EVENT_MAX + 1]);
    net.ask(Request::Event(too_long));
    net.ask(Request::Event(Event::new(MEMBERS, vec![])));
    net.members(0, 0..2);
    net.members(3, [1, 1].into_iter());
    assert_eq!(net.told(0, |notice| matches!(notice, Notice::Refused { .. })), 4);
    let largest = limits::EVENTS_WAITING_MAX / (limits::EVENT_MAX + 8);
    for _ in 0..=largest {
        net.ask(Request::Event(Event::new(USER, vec![0; limits::EVENT_MAX])));
    }
    assert_eq!(net.told(0, |notice| matches!(notice, Notice::Refused { .. })), 5);
    net.run(20);
    let kept = net.strobes(1).into_iter().flat_map(|(_, events)| events);
    assert_eq!(kept.filter(|event| event.kind == USER).count(), largest);
    let now = net.now;
    net.heart(NodeId(1)).request(now, Request::Early);
    assert!(matches!(net.heart(NodeId(1)).notice(), Some(Notice::Refused { .. })));
}

#[test]
fn a_new_master_with_a_later_first_sequence_is_followed() {
    let mut net = Net::new(3);
    net.run(100);
    net.kill(0);
    net.run(10);
    let heart = Heartbeat::new(Config { first: 1 << 32, ..config(MASTER) }, net.now);
    net.nodes.insert(MASTER, Node { heart, is_frozen: false, notices: Vec::new() });
    net.members(2, 0..3);
    net.run(200);
    for node in [1, 2] {
        assert_eq!(net.told(node, |notice| matches!(notice, Notice::Resync { .. })), 1);
        assert!(net.heart(MASTER).seen() - net.heart(NodeId(node)).seen() <= 1);
    }
}

/// What may happen to a cluster.
#[derive(Clone, Copy, Debug)]
enum Fault {
    Freeze(u32),
    Thaw(u32),
    Kill(u32),
    Start(u32),
    Break(u32, u32),
    Event,
}

fn faults() -> impl Strategy<Value = Vec<(Fault, u64)>> {
    let node = || 1u32..12;
    let fault = prop_oneof![
        node().prop_map(Fault::Freeze),
        node().prop_map(Fault::Thaw),
        node().prop_map(Fault::Kill),
        node().prop_map(Fault::Start),
        (0u32..12, node()).prop_map(|(one, other)| Fault::Break(one, other)),
        Just(Fault::Event),
    ];
    proptest::collection::vec((fault, 0u64..40), 0..30)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Messages come late, twice and in any order; nodes freeze, die and begin again. Nobody ever
    /// sees a gap or another event, and in the end all are there again.
    #[test]
    fn whatever_happens_the_sequence_is_the_same(faults in faults(), is_orderly: bool) {
        let mut net = Net::new(12);
        if !is_orderly {
            net.delay = |number| 20_000 + number.wrapping_mul(0x9e37_79b9_7f4a_7c15) % (3 * MS);
            net.is_doubled = |number| number % 5 == 0;
        }
        for (fault, time) in faults {
            let runs = |node: u32| net.nodes.contains_key(&NodeId(node));
            match fault {
                Fault::Freeze(node) if runs(node) => net.freeze(node, true),
                Fault::Thaw(node) if runs(node) => net.freeze(node, false),
                Fault::Kill(node) if runs(node) => net.kill(node),
                Fault::Start(node) if !runs(node) => net.start(node),
                Fault::Break(one, other) if one != other => {
                    net.break_link(NodeId(one), NodeId(other));
                }
                Fault::Event => net.ask(Request::Event(Event::new(USER, vec![1]))),
                _ => {}
            }
            net.run(time);
        }
        for node in 1..12 {
            match net.nodes.contains_key(&NodeId(node)) {
                true => net.freeze(node, false),
                false => net.start(node),
            }
        }
        // Only the order that connections keep lets nodes keep up.
        (net.delay, net.is_doubled) = (|_| 50_000, |_| false);
        net.run(1000);
        let all = net.strobes(0);
        for node in 1..12 {
            let seen = net.strobes(node);
            prop_assert!(seen.len() + 10 >= all.len(), "node {}: {}", node, seen.len());
            prop_assert!(seen[..] == all[..seen.len()], "node {} saw something else", node);
        }
        let members: Vec<NodeId> = (0..12).map(NodeId).collect();
        prop_assert_eq!(net.heart(MASTER).members(), members, "somebody still is late");
    }

    #[test]
    fn garbage_is_refused_and_changes_nothing(
        head in proptest::collection::vec(0u8..5, 24),
        body in proptest::collection::vec(prop_oneof![Just(0u8), any::<u8>()], 0..80),
    ) {
        if let Ok(message) = Message::decode(&head, &body.clone().into()) {
            prop_assert_eq!(message.encode(), (head, body.into()));
        }
    }
}

#[test]
fn a_message_that_is_none_is_an_error_and_no_more() {
    let mut node = Heartbeat::new(config(NodeId(1)), Time::default());
    let (head, body) = Message::Resume { seen: 1 }.encode();
    let mut long = head.clone();
    long.push(0);
    let mut far = head.clone();
    far[15] = 0x80;
    let bodies: [(&[u8], Payload); 4] =
        [(&[], body.clone()), (&long, body.clone()), (&far, body), (&head, vec![1].into())];
    for (head, body) in bodies {
        let error = node.receive(Time::default(), NodeId(9), head, body).expect_err("no message");
        assert_eq!(error.from, NodeId(9));
    }
    assert_eq!((node.seen(), node.notice(), node.outgoing()), (0, None, None));
}

#[test]
fn the_samples_of_the_document_are_these_messages() {
    let text = include_str!("../../../../docs/wire/heartbeat.md");
    let samples = text.split("```heartbeat\n").nth(1).and_then(|rest| rest.split("```").next());
    let mut found: Vec<(&str, Vec<u8>)> = Vec::new();
    for line in samples.expect("samples").lines() {
        if line.contains(' ') {
            let bytes = line.split_whitespace().map(|hex| u8::from_str_radix(hex, 16).unwrap());
            found.last_mut().expect("a name").1.extend(bytes);
        } else {
            found.push((line, Vec::new()));
        }
    }
    let members = Members { epoch: 2, arity: 8, order: vec![NodeId(0), NodeId(7), NodeId(9)] };
    let events = [Event::new(MEMBERS, members.encode()), Event::new(USER, b"hi".to_vec())];
    let strobe = Strobe {
        sequence: 5,
        epoch: 2,
        early: true,
        count: 2,
        events: wire::encode_events(events.iter()).into(),
    };
    let behind = vec![
        Behind { node: NodeId(7), why: Why::Late, seen: 5 },
        Behind { node: NodeId(9), why: Why::Lost, seen: 32 },
    ];
    let order = vec![NodeId(0), NodeId(7)];
    let expected = [
        ("strobe", Message::Strobe(strobe)),
        ("report", Message::Report(Report { sequence: 64, since: 32, behind, truncated: false })),
        ("resume", Message::Resume { seen: 5 }),
        (
            "resync",
            Message::Resync {
                sequence: 9,
                rhythm: Rhythm { period: Duration::from_millis(1), micro: 4 },
                members: Members { epoch: 2, arity: 8, order },
            },
        ),
    ];
    assert_eq!(found.len(), expected.len());
    for ((name, bytes), (expected_name, message)) in found.into_iter().zip(expected) {
        let (head, body) = bytes.split_at(24);
        assert_eq!(
            (name, message.encode()),
            (expected_name, (head.to_vec(), body.to_vec().into()))
        );
        assert_eq!(Message::decode(head, &body.to_vec().into()), Ok(message));
    }
}
