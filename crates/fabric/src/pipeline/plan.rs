//! How to move one message: what a transport asks before each, and tells after some.

use super::calibrate::Medium;
use std::time::Duration;

/// How a message moves through shared memory or a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Plan {
    /// Whole, with one copy in and one copy out, through the ring of short messages.
    Short,
    /// In packets of this many bytes, at most so many under way at once.
    Pipelined {
        /// Bytes of a packet.
        packet: usize,
        /// Packets under way.
        slots: usize,
    },
    /// The receiver copies it out of the sender's memory, once.
    SingleCopy,
}

/// Who decides for one peer.
pub trait Planner: Send {
    /// How to move a message of this many bytes: asked once for each.
    fn plan(&mut self, bytes: usize) -> Plan;

    /// The same for one of a *stream*: messages one behind another that nobody answers.
    fn stream(&mut self, bytes: usize) -> Plan {
        self.plan(bytes)
    }

    /// Whether the message that was planned last is to be timed and told of with
    /// [`Planner::observe`]: one in 256, more while something is found out. Asked between the two.
    fn is_sampling(&mut self) -> bool {
        false
    }

    /// Whether the way to the peer is to be measured before a message of this many bytes, with
    /// [`Planner::meet`]. Asked before [`Planner::plan`].
    fn is_new(&mut self, bytes: usize) -> bool {
        let _ = bytes;
        false
    }

    /// Measures the way to a peer.
    fn meet(&mut self, peer: &str, medium: &mut dyn Medium) {
        let _ = (peer, medium);
    }

    /// How long a message took from the first byte to the last, acknowledged.
    fn observe(&mut self, bytes: usize, plan: Plan, time: Duration) {
        let _ = (bytes, plan, time);
    }
}

/// Decides by two lengths: for tests, and until something has been measured.
#[derive(Clone, Copy, Debug)]
pub struct Fixed {
    /// The longest short message.
    pub short: usize,
    /// What longer ones do.
    pub long: Plan,
}

impl Planner for Fixed {
    fn plan(&mut self, bytes: usize) -> Plan {
        if bytes <= self.short { Plan::Short } else { self.long }
    }
}
