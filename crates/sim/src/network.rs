//! What a message costs, and what may happen to it on its way.
//!
//! Costs are those of LogGP. A sender is busy for `overhead`, its adapter takes the next message of
//! the same lane after `gap` or when the last byte has left, the message is there `latency` later,
//! and the receiver is busy for `overhead`. The system lane never waits for the bulk lane; where a
//! node's adapter is saturated with bulk packets, it waits for the end of the one on the wire.

use crate::random::Random;
use muster_fabric::protocol::Outgoing;
use muster_fabric::transport::Lane;

/// LogGP's parameters, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Costs {
    /// L: from the sender's adapter to the receiver's.
    pub latency: u64,
    /// o: a processor's work for a message, at each side.
    pub overhead: u64,
    /// g: between two messages of an adapter.
    pub gap: u64,
    /// G: for a byte, in picoseconds.
    pub byte: u64,
    /// A processor's work for a byte, at each side, in picoseconds.
    pub copy: u64,
}

impl Costs {
    /// A fast network of today: the figures of the research note, and 10 GB/s.
    pub const FAST: Costs = Costs { latency: 1_500, overhead: 300, gap: 100, byte: 100, copy: 0 };

    /// How long a processor is at a message.
    pub fn works(&self, bytes: usize) -> u64 {
        self.overhead + bytes as u64 * self.copy / 1_000
    }

    /// How long an adapter is at a message.
    pub fn occupies(&self, bytes: usize) -> u64 {
        self.gap.max(self.streams(bytes))
    }

    /// How long the bytes behind the first take.
    pub fn streams(&self, bytes: usize) -> u64 {
        bytes as u64 * self.byte / 1_000
    }
}

/// A network.
#[derive(Clone, Debug)]
pub struct Network {
    /// What a message costs.
    pub costs: Costs,
    /// Mean of what is drawn for each message and added to its latency.
    pub jitter: u64,
    /// How many messages in a million are late by something around `spike`.
    pub spikes: u32,
    /// Mean of such a delay.
    pub spike: u64,
    /// How many messages in a million are lost while their connection goes on. No connection does
    /// that, nor what the next two say: for protocols that hold all the same.
    pub losses: u32,
    /// How many in a million are overtaken by what is sent after them, late by around `spike`.
    pub reorders: u32,
    /// How many in a million arrive a second time, later by around `spike`.
    pub duplicates: u32,
    /// Bytes of the bulk packets that saturate every adapter; 0 where there is no bulk.
    pub bulk_packet: usize,
    /// How soon and how late an end learns that its connection has ended.
    pub evidence: (u64, u64),
    /// How long a connection stands on which nothing gets through.
    pub patience: (u64, u64),
    /// Which lane a message takes.
    pub lane: fn(&Outgoing) -> Lane,
}

impl Network {
    /// A network that only costs time, the same each time.
    pub fn calm(costs: Costs) -> Network {
        Network {
            costs,
            jitter: 0,
            spikes: 0,
            spike: 0,
            losses: 0,
            reorders: 0,
            duplicates: 0,
            bulk_packet: 0,
            evidence: (20 * crate::MICRO, 200 * crate::MICRO),
            patience: (20 * crate::MILLI, 60 * crate::MILLI),
            lane: |_| Lane::System,
        }
    }

    /// One on which messages take their time, some of them very much.
    pub fn rough(costs: Costs) -> Network {
        let network = Network::calm(costs);
        Network { jitter: crate::MICRO, spikes: 500, spike: crate::MILLI, ..network }
    }

    /// The same, if connections kept no promise: each of the three happens to so many messages in a
    /// million.
    pub fn lossy(self, times: u32) -> Network {
        Network { losses: times, reorders: times, duplicates: times, ..self }
    }

    /// Whether something is drawn that so many in a million meet; where none do, nothing is drawn.
    pub(crate) fn meets(times: u32, random: &mut Random) -> bool {
        times > 0 && random.happens(times)
    }

    /// What is drawn for a message: how much later it is, beyond what it costs.
    pub fn delay(&self, random: &mut Random) -> u64 {
        let mut delay = 0;
        if self.jitter > 0 {
            delay += random.around(self.jitter);
        }
        if Network::meets(self.spikes, random) {
            delay += random.around(self.spike);
        }
        if self.bulk_packet > 0 {
            delay += random.below(self.costs.streams(self.bulk_packet) + 1);
        }
        delay
    }
}
