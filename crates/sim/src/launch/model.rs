//! How long a launch takes in a cluster: the protocol of [`super`], on machines with prices.

use super::{Ask, Daemon, Ended, Flaws, Makers, Prices, Tell, Wish};
use crate::engine::{Agenda, Engine, Moment, User};
use crate::network::{Costs, Network};
use crate::{MILLI, SECOND};
use muster_fabric::protocol::NodeId;
use muster_machine::manager::spec::End;

/// A launch begins then: all leases are granted.
const BEGIN: u64 = 40 * MILLI;

/// How long one may take at most.
const ROOM: u64 = 600 * SECOND;

/// Where daemons run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Machines {
    /// All on one, with so many processors.
    One(usize),
    /// Each on its own, with so many.
    Each(usize),
}

/// A cluster.
#[derive(Clone, Copy, Debug)]
pub struct Cluster {
    /// Nodes beside the manager.
    pub nodes: u32,
    /// What they run on.
    pub machines: Machines,
    /// What a message costs.
    pub costs: Costs,
    /// What work costs.
    pub prices: Prices,
}

/// How long a launch took, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Took {
    /// Until all nodes had the files.
    pub send: u64,
    /// From then until the manager knew that all ranks had ended.
    pub execute: u64,
    /// All of it, with what the client does before and after.
    pub whole: u64,
    /// For how long the manager's node has computed.
    pub head: u64,
    /// For how long all others have.
    pub nodes: u64,
}

impl Cluster {
    /// Launches a program of so many bytes that ends at once, on all nodes; none are sent if that
    /// is 0, or if the nodes have them.
    ///
    /// # Errors
    /// The words with which the launch fails.
    pub fn launch(&self, bytes: usize, is_warm: bool) -> Result<Took, String> {
        let mut engine = self.engine();
        engine.run(BEGIN, |_| false);
        let files = if bytes == 0 { Vec::new() } else { vec![bytes] };
        let env = "PATH=/usr/local/bin:/usr/bin:/bin\n".repeat(6);
        let (nodes, program) = (self.nodes as usize, (0, 0));
        let wish = Wish { nodes, program, files, salt: 1, env, requeue: 0 };
        if is_warm {
            Self::once(&mut engine, wish.clone())?;
        }
        Self::once(&mut engine, wish)
    }

    fn once(engine: &mut Engine<Daemon, Watch>, wish: Wish) -> Result<Took, String> {
        let (begin, before) = (engine.now(), used(engine));
        engine.user.ended = None;
        engine.ask(0, NodeId(0), Ask::Launch(wish));
        engine.run(begin + ROOM, |user| user.ended.is_some());
        let (ended, at) = engine.user.ended.take().ok_or("it has not ended")?;
        if ended.end != End::Done {
            return Err(ended.why.unwrap_or_default());
        }
        let (execute, after) = (ended.ended - ended.sent, used(engine));
        let (head, nodes) = (after.0 - before.0, after.1 - before.1);
        Ok(Took { send: ended.sent, execute, whole: at - begin, head, nodes })
    }

    /// How long it takes until the manager knows that all strobers have a table of slots.
    ///
    /// # Errors
    /// When that does not come.
    pub fn strobe(&self) -> Result<u64, String> {
        let mut engine = self.engine();
        engine.run(BEGIN, |_| false);
        engine.ask(0, NodeId(0), Ask::Strobe);
        engine.run(BEGIN + SECOND, |user| user.strobed.is_some());
        let at = engine.user.strobed.ok_or("some strobers do not have the table")?;
        Ok(at - BEGIN)
    }

    /// How long a question takes, or a letter of so many bytes until it is known to be everywhere.
    pub fn primitive(&self, bytes: Option<usize>) -> u64 {
        crate::scale::once(self.nodes + 1, self.costs, self.machines, bytes)
    }

    fn engine(&self) -> Engine<Daemon, Watch> {
        let nodes = self.nodes + 1;
        let user = Watch { makers: Makers::new(nodes, self.prices), ended: None, strobed: None };
        let mut engine = Engine::new(1, nodes, false, Network::calm(self.costs), user);
        self.machines.place(nodes, |range, processors| engine.put_on(range, processors));
        engine
    }
}

/// For how long the manager's node has computed, and all others.
fn used(engine: &Engine<Daemon, Watch>) -> (u64, u64) {
    let used = |node| engine.used(NodeId(node));
    (used(0), (1..engine.user.makers.nodes).map(used).sum())
}

impl Machines {
    /// Tells which nodes go on a machine, and how many processors that has.
    pub(crate) fn place(self, nodes: u32, mut put: impl FnMut(std::ops::Range<u32>, usize)) {
        match self {
            Machines::One(processors) => put(0..nodes, processors),
            Machines::Each(processors) => {
                (0..nodes).for_each(|node| put(node..node + 1, processors));
            }
        }
    }
}

/// Waits for the end of a job.
struct Watch {
    makers: Makers,
    ended: Option<(Ended, u64)>,
    strobed: Option<u64>,
}

impl User<Daemon> for Watch {
    fn begin(&mut self, at: Moment, _: &mut Agenda<Ask>) -> Daemon {
        self.makers.daemon(at.node, at.life, at.clock, Flaws::default())
    }

    fn notice(&mut self, at: Moment, told: Tell, agenda: &mut Agenda<Ask>) {
        match told {
            Tell::Work(time, ask) => agenda.work(at, time, ask),
            Tell::Ended(ended) => self.ended = Some((ended, at.now)),
            Tell::Strobed => self.strobed = Some(at.now),
            Tell::Connect(..) | Tell::Ran { .. } => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MICRO;

    const PRICES: Prices = Prices {
        begin: 5 * MILLI,
        give: 1_000,
        letter: 5_000,
        keep: 1_000,
        rank: MILLI,
        report: 50 * MICRO,
    };

    fn cluster(nodes: u32, machines: Machines) -> Cluster {
        let costs = Costs { overhead: 5 * MICRO, copy: 200, ..Costs::FAST };
        Cluster { nodes, machines, costs, prices: PRICES }
    }

    #[test]
    fn on_one_machine_time_is_work_and_on_many_ranks_run_at_once() {
        let whole = |nodes, machines| cluster(nodes, machines).launch(0, false).unwrap().whole;
        let (few, many) = (whole(8, Machines::One(2)), whole(64, Machines::One(2)));
        // 56 ranks more, and their reports, on two processors.
        assert!(many > few + 56 * (MILLI / 2), "{few} {many}");
        assert!(whole(64, Machines::Each(2)) < 12 * MILLI);
    }

    #[test]
    fn a_table_of_slots_is_known_everywhere_after_an_order_and_a_question() {
        let strobe = |nodes| cluster(nodes, Machines::Each(2)).strobe().unwrap();
        assert!(strobe(4) < strobe(64) && strobe(64) < 5 * MILLI, "{}", strobe(64));
    }

    /// The master left most of the reports as if they had been lost, and two seconds went by.
    #[test]
    fn more_nodes_than_may_report_at_once_do_not_wait_for_a_beat() {
        let took = cluster(600, Machines::Each(2)).launch(0, false).unwrap();
        let reports = 600 * PRICES.report;
        assert!(took.execute < reports + 50 * MILLI, "{took:?}");
    }

    #[test]
    fn a_second_launch_sends_nothing() {
        let cluster = cluster(16, Machines::Each(2));
        let (cold, warm) = (cluster.launch(3 << 20, false), cluster.launch(3 << 20, true));
        let (cold, warm) = (cold.unwrap(), warm.unwrap());
        assert!(warm.send + 5 * MILLI < cold.send, "{warm:?} {cold:?}");
    }
}
