//! The engine, driven with small protocols: a tree that passes a number down and counts up, and a
//! pair of nodes that number what they say.

use super::*;
use crate::fault::{Fault, Range};
use crate::network::Costs;
use crate::{MICRO, MILLI, SECOND};
use muster_fabric::protocol::{Malformed, Time};
use std::collections::HashMap;
use std::time::Duration;

/// A round: down a tree, and up again when all below have answered.
struct Tree {
    me: u32,
    nodes: u32,
    arity: u32,
    answers: u32,
    out: Vec<Outgoing>,
    done: Vec<u64>,
    round: u64,
}

impl Tree {
    fn say(&mut self, to: u32) {
        let head = self.round.to_le_bytes().to_vec();
        self.out.push(Outgoing { to: NodeId(to), head, body: Payload::default() });
    }

    fn children(&self) -> std::ops::Range<u32> {
        let first = self.me * self.arity + 1;
        first.min(self.nodes)..(first + self.arity).min(self.nodes)
    }

    fn down(&mut self) {
        self.answers = 0;
        for child in self.children().rev() {
            self.say(child);
        }
        if self.children().is_empty() {
            self.say((self.me - 1) / self.arity);
        }
    }
}

impl Protocol for Tree {
    type Request = u64;
    type Notice = u64;

    fn request(&mut self, _now: Time, round: u64) {
        self.round = round;
        self.down();
    }

    fn receive(
        &mut self,
        _now: Time,
        from: NodeId,
        head: &[u8],
        _body: Payload,
    ) -> std::result::Result<(), Malformed> {
        self.round = u64::from_le_bytes(head.try_into().expect("a round"));
        if from.0 < self.me {
            self.down();
            return Ok(());
        }
        self.answers += 1;
        if self.answers == self.children().len() as u32 {
            match self.me {
                0 => self.done.push(self.round),
                me => self.say((me - 1) / self.arity),
            }
        }
        Ok(())
    }

    fn lost(&mut self, _now: Time, _peer: NodeId) {}

    fn tick(&mut self, _now: Time) {}

    fn alarm(&self) -> Option<Time> {
        None
    }

    fn outgoing(&mut self) -> Option<Outgoing> {
        self.out.pop()
    }

    fn notice(&mut self) -> Option<u64> {
        self.done.pop()
    }
}

/// Asks for the next round when one has ended.
struct Rounds {
    nodes: u32,
    arity: u32,
    ended: Vec<u64>,
}

impl User<Tree> for Rounds {
    fn begin(&mut self, at: Moment, agenda: &mut Agenda<u64>) -> Tree {
        if at.node.0 == 0 {
            agenda.ask(0, at.node, 0);
        }
        let (nodes, arity) = (self.nodes, self.arity);
        Tree {
            me: at.node.0,
            nodes,
            arity,
            answers: 0,
            out: Vec::new(),
            done: Vec::new(),
            round: 0,
        }
    }

    fn notice(&mut self, at: Moment, round: u64, agenda: &mut Agenda<u64>) {
        assert_eq!(round, self.ended.len() as u64);
        self.ended.push(at.now);
        agenda.ask(0, at.node, round + 1);
    }
}

fn tree(nodes: u32, arity: u32, network: Network) -> Engine<Tree, Rounds> {
    Engine::new(1, nodes, true, network, Rounds { nodes, arity, ended: Vec::new() })
}

#[test]
fn a_message_costs_what_the_model_says() {
    let costs = Costs { latency: 1000, overhead: 100, gap: 300, byte: 0, copy: 0 };
    let mut pair = tree(2, 1, Network::calm(costs));
    assert!(pair.run(SECOND, |user| user.ended.len() == 2));
    // Two ways of o + L + o each.
    assert_eq!(pair.user.ended[0], 2400);
    let mut star = tree(5, 4, Network::calm(costs));
    assert!(star.run(SECOND, |user| user.ended.len() == 1));
    // The fourth leaves after three gaps; its answer is the last.
    assert_eq!(star.user.ended[0], 2400 + 3 * 300);
}

#[test]
fn thousands_of_nodes_take_time_that_grows_with_the_depth_and_links_with_their_number() {
    let mut large = tree(16_384, 4, Network::calm(Costs::FAST));
    assert!(large.run(SECOND, |user| user.ended.len() == 20));
    // Eight levels down and up, each with four children: 16 times o + L + o and some waiting.
    let round = large.user.ended[0];
    assert!((30 * MICRO..60 * MICRO).contains(&round), "{round}");
    assert_eq!(large.links(), 16_383);
    assert_eq!(large.events(), 16_384 + 1 + 20 * (2 * 16_383 + 1) - 1);
}

/// Says a number to its peer at each alarm, and keeps what the peer says.
struct Counter {
    me: NodeId,
    peer: NodeId,
    next: u64,
    at: Time,
    out: Vec<Outgoing>,
    heard: Vec<Heard>,
}

#[derive(Clone, Debug, PartialEq)]
enum Heard {
    Number(u64),
    Lost,
}

const STEP: Duration = Duration::from_micros(10);

impl Protocol for Counter {
    type Request = ();
    type Notice = Heard;

    fn request(&mut self, _now: Time, _request: ()) {}

    fn receive(
        &mut self,
        _now: Time,
        _from: NodeId,
        head: &[u8],
        _body: Payload,
    ) -> std::result::Result<(), Malformed> {
        let number = u64::from_le_bytes(head.try_into().expect("a number"));
        self.heard.push(Heard::Number(number));
        Ok(())
    }

    fn lost(&mut self, _now: Time, peer: NodeId) {
        assert_eq!(peer, self.peer);
        self.heard.push(Heard::Lost);
    }

    fn tick(&mut self, now: Time) {
        assert!(now >= self.at, "the alarm of {} is early", self.me);
        let head = self.next.to_le_bytes().to_vec();
        self.out.push(Outgoing { to: self.peer, head, body: Payload::default() });
        self.next += 1;
        self.at = now + STEP;
    }

    fn alarm(&self) -> Option<Time> {
        Some(self.at)
    }

    fn outgoing(&mut self) -> Option<Outgoing> {
        self.out.pop()
    }

    fn notice(&mut self) -> Option<Heard> {
        if self.heard.is_empty() { None } else { Some(self.heard.remove(0)) }
    }
}

/// What each life of each node has heard. Pairs: 0 and 1, 2 and 3, ...
#[derive(Default)]
struct Ears {
    heard: HashMap<(NodeId, u32), Vec<Heard>>,
    lives: HashMap<NodeId, u32>,
}

impl User<Counter> for Ears {
    fn begin(&mut self, at: Moment, _agenda: &mut Agenda<()>) -> Counter {
        self.lives.insert(at.node, at.life);
        let next = u64::from(at.life) << 32;
        let (peer, at_time) = (NodeId(at.node.0 ^ 1), at.clock + STEP);
        Counter { me: at.node, peer, next, at: at_time, out: Vec::new(), heard: Vec::new() }
    }

    fn notice(&mut self, at: Moment, heard: Heard, _agenda: &mut Agenda<()>) {
        self.heard.entry((at.node, at.life)).or_default().push(heard);
    }
}

fn counters(seed: u64, faults: &[(u64, Fault)], network: Network) -> Engine<Counter, Ears> {
    let mut engine = Engine::new(seed, 4, true, network, Ears::default());
    engine.plan(faults.to_vec());
    engine.run(100 * MILLI, |_| false);
    engine
}

/// Between two losses, the numbers heard have no gap and no repetition.
fn check_order(heard: &[Heard]) {
    for run in heard.split(|heard| *heard == Heard::Lost) {
        for pair in run.windows(2) {
            let [Heard::Number(a), Heard::Number(b)] = pair else { unreachable!() };
            assert_eq!(a + 1, *b);
        }
    }
}

fn numbers(engine: &Engine<Counter, Ears>, node: u32, life: u32) -> (usize, usize) {
    let heard = &engine.user.heard[&(NodeId(node), life)];
    check_order(heard);
    let lost = heard.iter().filter(|heard| **heard == Heard::Lost).count();
    (heard.len() - lost, lost)
}

#[test]
fn without_faults_everything_arrives_in_order_at_every_node() {
    let engine = counters(1, &[], Network::rough(Costs::FAST));
    for node in 0..4 {
        let (heard, lost) = numbers(&engine, node, 0);
        assert!(heard > 9_000 && lost == 0, "{heard}");
    }
}

#[test]
fn a_dead_node_is_lost_and_its_next_life_is_heard() {
    let kill = (10 * MILLI, Fault::Kill(NodeId(0), Some(10 * MILLI)));
    let engine = counters(2, &[kill], Network::rough(Costs::FAST));
    assert_eq!(engine.user.lives[&NodeId(0)], 1);
    let (heard, lost) = numbers(&engine, 1, 0);
    // About 1 ms each of silence and of noticing; every attempt to connect is told as a loss.
    assert!(heard > 7_500 && lost > 10, "{heard} {lost}");
    assert!(numbers(&engine, 0, 1).0 > 7_500);
    assert_eq!(numbers(&engine, 3, 0).1, 0, "others are not disturbed");
}

#[test]
fn a_pause_and_a_short_cut_lose_nothing_and_a_long_cut_ends_the_connection() {
    for fault in [
        Fault::Pause(NodeId(0), 30 * MILLI),
        Fault::Slow(NodeId(0), 50, 30 * MILLI),
        Fault::Cut(vec![NodeId(0)], 10 * MILLI),
        Fault::Spike(MILLI, 10 * MILLI),
    ] {
        let engine = counters(3, &[(10 * MILLI, fault.clone())], Network::rough(Costs::FAST));
        let (heard, lost) = numbers(&engine, 1, 0);
        assert!(heard > 4_000 && lost == 0, "{fault}: {heard} {lost}");
    }
    let cut = (10 * MILLI, Fault::Cut(vec![NodeId(0)], 80 * MILLI));
    let engine = counters(3, &[cut], Network::rough(Costs::FAST));
    for node in [0, 1] {
        let (heard, lost) = numbers(&engine, node, 0);
        assert!(heard > 900 && lost > 0, "{heard} {lost}");
    }
    let reset = (10 * MILLI, Fault::Reset(NodeId(0), NodeId(1)));
    let engine = counters(3, &[reset], Network::rough(Costs::FAST));
    assert_eq!([numbers(&engine, 0, 0).1, numbers(&engine, 1, 0).1], [1, 1]);
}

#[test]
fn each_cut_has_a_patience_of_its_own() {
    let network = Network { patience: (20 * MILLI, 20 * MILLI), ..Network::calm(Costs::FAST) };
    let cut =
        |from: u64, node, time: u64| (from * MILLI, Fault::Cut(vec![NodeId(node)], time * MILLI));
    // The first is over when its time is, and the second goes on.
    let two = counters(4, &[cut(10, 0, 5), cut(16, 0, 19)], network.clone());
    assert_eq!([numbers(&two, 0, 0).1, numbers(&two, 1, 0).1], [0, 0]);
    // The end of another cut gives no time.
    let one = counters(4, &[cut(10, 0, 22), cut(15, 2, 10)], network);
    assert!(numbers(&one, 0, 0).1 > 0 && numbers(&one, 2, 0).1 == 0);
}

#[test]
fn a_reset_ends_a_connection_that_is_there() {
    let lost = |faults: &[(u64, Fault)]| {
        let engine = counters(5, faults, Network::rough(Costs::FAST));
        ([0, 1, 2, 3].map(|node| numbers(&engine, node, 0).1), engine.struck())
    };
    let reset = |a, b| (10 * MILLI, Fault::Reset(NodeId(a), NodeId(b)));
    assert_eq!(lost(&[reset(0, 1)]), ([1, 1, 0, 0], 1));
    // They have never talked: the one that it has.
    assert_eq!(lost(&[reset(3, 0)]), ([0, 0, 1, 1], 1));
    // The dead have none.
    let kill = (5 * MILLI, Fault::Kill(NodeId(0), None));
    assert_eq!(lost(&[kill, reset(0, 1)]).1, 1);
}

/// What a node hears of some 10,000 messages over connections that keep no promise.
fn heard(network: Network) -> Vec<Heard> {
    let engine = counters(4, &[], network);
    engine.user.heard[&(NodeId(0), 0)].clone()
}

fn is_late(pair: &[Heard]) -> bool {
    matches!(pair, [Heard::Number(a), Heard::Number(b)] if b < a)
}

#[test]
fn a_harsh_network_loses_repeats_and_reorders_each_as_often_as_it_is_told() {
    let calm = Network { spike: MILLI, ..Network::calm(Costs::FAST) };
    let all = heard(calm.clone()).len();
    assert!(all > 9_000, "{all}");
    let lossy = heard(Network { losses: 100_000, ..calm.clone() });
    assert!((all * 85 / 100..all * 95 / 100).contains(&lossy.len()), "{} of {all}", lossy.len());
    assert!(!lossy.windows(2).any(is_late) && !lossy.contains(&Heard::Lost));
    let again = heard(Network { duplicates: 100_000, ..calm.clone() });
    assert!((all * 105 / 100..all * 115 / 100).contains(&again.len()), "{} of {all}", again.len());
    let late = heard(Network { reorders: 100_000, ..calm });
    assert!(late.windows(2).filter(|pair| is_late(pair)).count() > all / 20);
    assert!(late.len() > all - 200, "none is lost: {} of {all}", late.len());
}

#[test]
fn a_seed_replays_to_the_last_event_and_another_does_not() {
    let range = Range {
        nodes: 4,
        when: (0, 90 * MILLI),
        faults: 40,
        longest: 20 * MILLI,
        forever: 0,
        blocked: 0,
    };
    let digest = |seed| {
        let schedule = crate::fault::draw(&mut Random::new(seed), &range);
        let engine = counters(seed, &schedule, Network::rough(Costs::FAST));
        engine.user.heard.values().for_each(|heard| check_order(heard));
        (engine.digest(), engine.events())
    };
    let all: Vec<_> = (0..20).map(digest).collect();
    assert_eq!(all, (0..20).map(digest).collect::<Vec<_>>());
    assert!((1..20).all(|seed| all[seed - 1] != all[seed]));
}

#[test]
fn a_panic_leaves_what_led_to_it() {
    let mut engine = counters(7, &[], Network::rough(Costs::FAST));
    let (digest, events) = (engine.digest(), engine.events());
    let run = AssertUnwindSafe(|| engine.run(SECOND, |_| panic!("as a core would")));
    assert!(catch_unwind(run).is_err());
    let left = LEFT.take().expect("something is left");
    assert_eq!((left.digest, left.events, left.trace), (digest, events, engine.trace()));
    assert!(events > 0);
}
