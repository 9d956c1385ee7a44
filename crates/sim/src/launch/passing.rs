//! A node dies that has taken reports of others, has said so, and could not pass them on.

use super::{Ask, Daemon, Ended, Flaws, Makers, Prices, Tell, Wish, instance};
use crate::engine::{Agenda, Engine, Moment, User};
use crate::fault::Fault;
use crate::network::{Costs, Network};
use crate::{MILLI, SECOND};
use muster_fabric::protocol::NodeId;
use muster_machine::manager::spec::End;

const NODES: u32 = 64;

/// It is between the manager and the three nodes after it.
const INNER: NodeId = NodeId(5);

struct Client {
    makers: Makers,
    ended: Option<Ended>,
    /// How many programs have ended.
    over: usize,
}

impl User<Daemon> for Client {
    fn begin(&mut self, at: Moment, _: &mut Agenda<Ask>) -> Daemon {
        self.makers.daemon(at.node, at.life, at.clock, Flaws::default())
    }

    fn end(&mut self, at: Moment, agenda: &mut Agenda<Ask>) {
        agenda.ask(MILLI, NodeId(0), Ask::Died(at.node, instance(at.life), true));
    }

    fn notice(&mut self, at: Moment, told: Tell, agenda: &mut Agenda<Ask>) {
        match told {
            Tell::Work(time, ask) => agenda.work(at, time, ask),
            Tell::Ended(ended) => self.ended = Some(ended),
            Tell::Ran { status, .. } => self.over += usize::from(status.is_some()),
            Tell::Connect(..) | Tell::Strobed => {}
        }
    }
}

#[test]
fn the_ends_that_a_node_had_taken_and_died_with_are_said_again() {
    let makers = Makers::new(NODES + 1, Prices::default());
    let user = Client { makers, ended: None, over: 0 };
    let network = Network::calm(Costs::FAST);
    let mut engine = Engine::new(1, NODES + 1, false, network, user);
    // The manager stands still when the programs end, so what is told of them waits on its way.
    // With their beats all say what they have, and then one of them dies.
    let still = Fault::Pause(NodeId(0), SECOND);
    engine.plan(vec![(200 * MILLI, still), (900 * MILLI, Fault::Kill(INNER, None))]);
    let (nodes, program, env) = (NODES as usize, (300_000, 0), String::new());
    let wish = Wish { nodes, program, files: vec![], salt: 1, env, requeue: 0 };
    engine.ask(40 * MILLI, NodeId(0), Ask::Launch(wish));
    engine.run(900 * MILLI, |_| false);
    assert_eq!((engine.user.over, engine.user.ended.is_some()), (nodes, false));
    assert!(engine.run(3 * SECOND, |user| user.ended.is_some()), "nobody says it again");
    // Its own rank is lost with it; all others are heard of, or the job would wait for them for as
    // long as what was killed may take to end.
    let ended = engine.user.ended.take().expect("it has ended");
    let why = "rank 4 on n4 was lost: was killed by signal 9";
    assert_eq!((ended.end, ended.ranks, ended.why.as_deref()), (End::Lost, nodes, Some(why)));
}
