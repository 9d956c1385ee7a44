//! What a launch costs in messages and bytes, exactly: nothing is lost or late here, and no lease
//! is renewed meanwhile.

use super::{ARITY, Ask, Daemon, Flaws, Makers, Prices, Tell, Wish};
use crate::MILLI;
use crate::engine::{Agenda, Engine, Moment, User};
use crate::network::{Costs, Network};
use muster_base::limits::CHUNK;
use muster_fabric::protocol::{NodeId, Outgoing};
use muster_machine::manager::flow::WINDOW;
use muster_machine::manager::spec::End;
use std::collections::BTreeMap;

/// The first launch begins then: all leases are granted, and are renewed at 250 ms.
const BEGIN: u64 = 10 * MILLI;

/// How long a launch has, with the order to forget it, which comes 100 ms after its end.
const EACH: u64 = 115 * MILLI;

/// Bytes take no time, so that a file takes no more than a launch has.
const NETWORK: Costs = Costs { byte: 0, ..Costs::FAST };

/// Messages and bytes: of heads, and of what they carry.
type Count = (u64, u64, u64);

/// By kind, as `docs/wire/primitives.md` numbers them.
type Counts = BTreeMap<u8, Count>;

struct Counter {
    makers: Makers,
    /// Of the manager, and of all nodes.
    sent: [Counts; 2],
    ended: u32,
}

impl User<Daemon> for Counter {
    fn begin(&mut self, at: Moment, _: &mut Agenda<Ask>) -> Daemon {
        self.makers.daemon(at.node, at.life, at.clock, Flaws::default())
    }

    fn sent(&mut self, from: NodeId, message: &Outgoing) {
        let counts = &mut self.sent[usize::from(from.0 > 0)];
        let count = counts.entry(message.head[0]).or_default();
        count.0 += 1;
        count.1 += message.head.len() as u64;
        count.2 += message.body.len() as u64;
    }

    fn notice(&mut self, at: Moment, told: Tell, agenda: &mut Agenda<Ask>) {
        match told {
            Tell::Work(time, ask) => agenda.work(at, time, ask),
            Tell::Ended(ended) => {
                assert_eq!(ended.end, End::Done, "{ended:?}");
                self.ended += 1;
            }
            Tell::Connect(..) | Tell::Strobed | Tell::Ran { .. } => {}
        }
    }
}

/// What each launch of files of one size costs, one after the other on the same nodes.
fn launches(nodes: u32, bytes: usize, times: u32) -> Vec<[Counts; 2]> {
    let makers = Makers::new(nodes + 1, Prices::default());
    let user = Counter { makers, sent: Default::default(), ended: 0 };
    let mut engine = Engine::new(1, nodes + 1, false, Network::calm(NETWORK), user);
    let mut time = BEGIN;
    engine.run(time, |_| false);
    let each = |number| {
        let files = if bytes == 0 { Vec::new() } else { vec![bytes] };
        let (program, env) = ((0, 0), String::new());
        let wish = Wish { nodes: nodes as usize, program, files, salt: 1, env, requeue: 0 };
        engine.user.sent = Default::default();
        engine.ask(0, NodeId(0), Ask::Launch(wish));
        time += EACH;
        engine.run(time, |_| false);
        assert_eq!(engine.user.ended, number + 1);
        std::mem::take(&mut engine.user.sent)
    };
    (0..times).map(each).collect()
}

/// Kinds of messages.
const STAGE: u8 = 2;
const DECIDE: u8 = 3;
const STAGED: u8 = 4;
const TELL: u8 = 14;
const HEARD: u8 = 15;

/// How many messages of each kind there are.
fn messages(counts: &Counts) -> Vec<(u8, u64)> {
    counts.iter().map(|(kind, count)| (*kind, count.0)).collect()
}

/// All bytes.
fn bytes(counts: &Counts) -> u64 {
    counts.values().map(|count| count.1 + count.2).sum()
}

/// Bytes of a file, and chunks of it.
const FILE: u64 = 12 << 20;
const CHUNKS: u64 = FILE / CHUNK as u64;

/// Children of the manager's.
const WIDTH: u64 = ARITY as u64;

#[test]
fn a_launch_on_16_nodes_is_two_orders_to_each_and_a_report_of_each() {
    let [first, second] = <[_; 2]>::try_from(launches(16, 0, 2)).expect("two");
    let [head, nodes] = first;
    // To run and to forget: their data, and that it is there.
    assert_eq!(messages(&head), [(STAGE, 32), (DECIDE, 32)]);
    assert_eq!(messages(&nodes), [(STAGED, 32), (TELL, 16)]);
    assert_eq!((bytes(&head), bytes(&nodes)), (16_208, 4_716));
    // Of every second report of a node the manager says at once that it has heard it.
    let [head, nodes] = second;
    assert_eq!(messages(&head), [(STAGE, 32), (DECIDE, 32), (HEARD, 16)]);
    assert_eq!(messages(&nodes), [(STAGED, 32), (TELL, 16)]);
}

#[test]
fn on_64_nodes_the_manager_sends_as_many_orders_as_on_16_and_gets_fewer_reports_than_there_are() {
    let [first, _] = <[_; 2]>::try_from(launches(64, 0, 2)).expect("two");
    let [head, nodes] = first;
    // Each child has three others below it: its own report goes at once, and so does the first from
    // below; the others wait until the manager says that it has heard these, and go as one.
    assert_eq!(messages(&head), [(STAGE, 32), (DECIDE, 32), (HEARD, 16)]);
    assert_eq!(head[&STAGE], (32, 2_624, 36_144));
    assert_eq!(nodes[&TELL], (96, 3_168, 20_014));
    assert_eq!(messages(&nodes), [(STAGE, 96), (DECIDE, 96), (STAGED, 128), (TELL, 96)]);
}

#[test]
fn a_file_leaves_the_manager_once_for_each_child_and_not_at_all_when_it_is_there() {
    let all = launches(16, FILE as usize, 2);
    let [[first, _], [second, others]] = <[_; 2]>::try_from(all).expect("two");
    // What there is to make and which chunks come; the chunks; to run; to forget. Before each chunk
    // but the first four it is asked whether there is room, and in the end whether all is there.
    let (letters, questions) = (CHUNKS + 3, CHUNKS - WINDOW + 1);
    let expected = [(STAGE, WIDTH * (letters + questions)), (DECIDE, WIDTH * letters)];
    assert_eq!(messages(&first), expected);
    let sent = bytes(&first);
    assert!((WIDTH * FILE..=(WIDTH + 1) * FILE).contains(&sent), "{sent}");
    assert_eq!(sent - WIDTH * FILE, 136_432);
    // All that there is to tell and to run is one letter; all have it, so nobody is asked.
    assert_eq!(messages(&second), [(STAGE, 32), (DECIDE, 32), (HEARD, 16)]);
    assert_eq!(messages(&others), [(STAGED, 32), (TELL, 16)]);
    assert_eq!(bytes(&second), 31_792);
}
