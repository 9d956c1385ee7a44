//! Who uses the protocol in a run, makes its cores, and judges what it says.

use muster_fabric::protocol::{NodeId, Outgoing, Protocol, Time};

/// A moment of a run, at a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// Nanoseconds since the run began.
    pub now: u64,
    /// Where.
    pub node: NodeId,
    /// Which of its lives this is, from 0.
    pub life: u32,
    /// What its clock shows.
    pub clock: Time,
}

/// What the user of a run does and sees.
pub trait User<P: Protocol> {
    /// A node begins a life: its core.
    fn begin(&mut self, at: Moment, agenda: &mut Agenda<P::Request>) -> P;

    /// A node has died.
    fn end(&mut self, at: Moment, agenda: &mut Agenda<P::Request>) {
        let _ = (at, agenda);
    }

    /// The connection of two living nodes is made to end.
    fn reset(&mut self, now: u64, ends: [NodeId; 2]) {
        let _ = (now, ends);
    }

    /// A node sends a message.
    fn sent(&mut self, from: NodeId, message: &Outgoing) {
        let _ = (from, message);
    }

    /// A core tells something.
    fn notice(&mut self, at: Moment, notice: P::Notice, agenda: &mut Agenda<P::Request>);
}

/// What is to be asked of nodes, and when.
#[derive(Debug)]
pub struct Agenda<R> {
    pub(super) items: Vec<(u64, NodeId, R)>,
    /// Work: from when on, where, how much of it, and what is asked when it is done.
    pub(super) works: Vec<(u64, NodeId, u64, R)>,
}

impl<R> Default for Agenda<R> {
    fn default() -> Agenda<R> {
        Agenda { items: Vec::new(), works: Vec::new() }
    }
}

impl<R> Agenda<R> {
    /// Asks `node` after so long. A node that is dead then is not asked.
    pub fn ask(&mut self, after: u64, node: NodeId, request: R) {
        self.items.push((after, node, request));
    }

    /// Has the node of a moment work for so long, on a processor but not in its protocol's thread,
    /// after all that it was given before; then asks it.
    pub fn work(&mut self, at: Moment, time: u64, request: R) {
        self.works.push((at.now, at.node, time, request));
    }
}
