//! The cost model of a medium: how long a message takes by each plan.
//!
//! EPOS's model has a packet enter a stage as soon as the packet before it has left. Three things
//! are added. A stage is bound to a *side*: stages of one side share its core and do not overlap.
//! Packets go through a ring of `slots`, so a packet also waits until the one that had its slot
//! before is out of it. And a byte costs more where it does not stay in the cache of a core: the
//! ring if `slots * packet` is larger than it, and the message itself.

use super::plan::Plan;
use super::stage::{self, Stage};

/// Whose core carries out a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "they are what they are called")]
pub enum Side {
    Sender,
    Receiver,
}

/// A stage of a medium, with what its bytes cost in addition when they are not in the cache.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Copy {
    /// What it is, for people.
    pub name: &'static str,
    /// Who is busy with it.
    pub side: Side,
    /// Its costs when everything is in the cache.
    pub stage: Stage,
    /// Nanoseconds per byte in addition when the ring does not fit.
    pub ring_spills: f64,
    /// Nanoseconds per byte in addition when the message does not fit.
    pub message_spills: f64,
}

impl Copy {
    fn at(&self, ring: f64, message: f64) -> Stage {
        let more = self.ring_spills * ring + self.message_spills * message;
        Stage { beta: self.stage.beta, tau: self.stage.tau + more }
    }
}

/// What a medium costs.
#[derive(Clone, Debug, PartialEq)]
pub struct Costs {
    /// A flag's way from one side to the other, nanoseconds.
    pub hop: f64,
    /// What a message goes through, in this order.
    pub copies: Vec<Copy>,
    /// The one copy out of the sender's memory, where the medium has it; whole messages only.
    pub single: Option<Copy>,
    /// Bytes that stay in the cache of a core.
    pub cache: usize,
}

/// The share of a footprint that does not stay in a cache: nothing up to its size, all of it from
/// twice that. A cyclic walk through more than a cache holds finds less the longer it is.
fn spilled(bytes: usize, cache: usize) -> f64 {
    ((bytes as f64 / cache.max(1) as f64) - 1.0).clamp(0.0, 1.0)
}

/// Who predicts how long a message takes.
pub trait Predict {
    /// Stages that a packet goes through; at least as many packets are to be under way.
    fn depth(&self) -> usize;

    /// Nanoseconds from a message's first byte to the last, acknowledged.
    fn time(&self, plan: Plan, bytes: usize) -> f64;
}

impl Predict for Costs {
    fn depth(&self) -> usize {
        // The flag between the sides is a stage as well.
        self.copies.len() + 1
    }

    fn time(&self, plan: Plan, bytes: usize) -> f64 {
        let there_and_back = 2.0 * self.hop;
        match plan {
            Plan::Short => there_and_back + self.once(bytes, bytes, bytes),
            Plan::SingleCopy => there_and_back + self.singly(bytes),
            Plan::Pipelined { packet, slots } => {
                let packets = bytes.div_ceil(packet).max(1);
                let last = bytes - (packets - 1) * packet;
                let period = self.period(bytes, packet, slots);
                let last = self.once(bytes, last, packet * slots);
                there_and_back + (packets - 1) as f64 * period + last
            }
        }
    }
}

impl Costs {
    /// The stages as they are for a message of `bytes` through a ring of `ring` bytes.
    fn stages(&self, bytes: usize, ring: usize) -> impl Iterator<Item = (Side, Stage)> {
        let (ring, message) = (spilled(ring, self.cache), spilled(bytes, self.cache));
        self.copies.iter().map(move |copy| (copy.side, copy.at(ring, message)))
    }

    /// Nanoseconds for each of many messages, one close behind the other.
    pub fn streamed(&self, plan: Plan, bytes: usize) -> f64 {
        match plan {
            Plan::Pipelined { packet, slots } => {
                let packets = bytes.div_ceil(packet).max(1);
                let packet = packet.min(bytes.div_ceil(packets));
                packets as f64 * self.period(bytes, packet, slots)
            }
            Plan::Short => self.period(bytes, bytes, usize::MAX),
            Plan::SingleCopy => self.time(plan, bytes),
        }
    }

    /// The packet length that EPOS's formula gives, which knows neither slots nor caches.
    pub fn optimum(&self, bytes: usize) -> f64 {
        let mut stages: Vec<Stage> = self.copies.iter().map(|copy| copy.stage).collect();
        stages.push(Stage { beta: self.hop, tau: 0.0 });
        // Where a packet meets the slower side, all betas on the way there have been paid.
        let slowest = stages.iter_mut().max_by(|a, b| a.tau.total_cmp(&b.tau));
        let beta = self.hop + self.copies.iter().map(|copy| copy.stage.beta).sum::<f64>();
        slowest.into_iter().for_each(|stage| stage.beta = beta);
        stage::optimum(&stages, bytes)
    }

    /// All stages for one packet of `packet` bytes.
    fn once(&self, bytes: usize, packet: usize, ring: usize) -> f64 {
        self.stages(bytes, ring).map(|(_, stage)| stage.time(packet)).sum()
    }

    /// The time between two packets: the busier side's, or that until a slot is free again.
    fn period(&self, bytes: usize, packet: usize, slots: usize) -> f64 {
        let (mut sender, mut receiver) = (0.0, 0.0);
        for (side, stage) in self.stages(bytes, packet.saturating_mul(slots)) {
            match side {
                Side::Sender => sender += stage.time(packet),
                Side::Receiver => receiver += stage.time(packet),
            }
        }
        let round = (sender + receiver + 2.0 * self.hop) / slots as f64;
        f64::max(sender, receiver).max(round)
    }

    fn singly(&self, bytes: usize) -> f64 {
        let message = spilled(bytes, self.cache);
        self.single.map_or(f64::INFINITY, |copy| copy.at(0.0, message).time(bytes))
    }

    /// The same medium where the ring, and with it the hop, costs `ring` times as much, and the
    /// single copy `single` times.
    pub fn scaled(&self, ring: f64, single: f64) -> Costs {
        let times = |copy: &Copy, by: f64| Copy {
            stage: Stage { beta: copy.stage.beta * by, tau: copy.stage.tau * by },
            ring_spills: copy.ring_spills * by,
            message_spills: copy.message_spills * by,
            ..*copy
        };
        Costs {
            hop: self.hop * ring,
            copies: self.copies.iter().map(|copy| times(copy, ring)).collect(),
            single: self.single.as_ref().map(|copy| times(copy, single)),
            cache: self.cache,
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    fn copy(name: &'static str, side: Side, beta: f64, tau: f64) -> Copy {
        let stage = Stage { beta, tau };
        Copy { name, side, stage, ring_spills: tau / 2.0, message_spills: tau / 4.0 }
    }

    /// A medium like the shared memory of the research note: near, or far.
    pub fn medium(far: bool) -> Costs {
        let times = if far { 4.0 } else { 1.0 };
        let (sender, receiver) = (Side::Sender, Side::Receiver);
        Costs {
            hop: if far { 190.0 } else { 50.0 },
            copies: vec![
                copy("copy in", sender, 40.0 * times, 0.025 * times),
                copy("copy out", receiver, 50.0 * times, 0.03 * times),
            ],
            single: Some(copy("single copy", receiver, 1700.0, 0.09)),
            cache: 512 * 1024,
        }
    }

    #[test]
    fn more_slots_never_cost_more_while_they_fit() {
        let costs = medium(false);
        let time = |slots| costs.time(Plan::Pipelined { packet: 4096, slots }, 1 << 20);
        assert!(time(1) > time(2) && time(2) > time(3));
        assert!(time(3) >= time(64));
        // 512 slots of 4 KB are 2 MB: they fall out of the cache.
        assert!(time(512) > 1.2 * time(64));
    }

    #[test]
    fn one_packet_is_a_short_message() {
        let costs = medium(false);
        let plan = Plan::Pipelined { packet: 4096, slots: 4 };
        assert_eq!(costs.time(plan, 4096), costs.time(Plan::Short, 4096));
        assert_eq!(costs.time(plan, 0), costs.time(Plan::Short, 0));
    }

    #[test]
    fn stages_of_one_side_do_not_overlap() {
        let mut costs = medium(false);
        let plan = Plan::Pipelined { packet: 4096, slots: 16 };
        let apart = costs.time(plan, 1 << 20);
        costs.copies[1].side = Side::Sender;
        assert!(costs.time(plan, 1 << 20) > 1.5 * apart);
    }

    #[test]
    fn a_medium_without_a_single_copy_never_has_one() {
        let costs = Costs { single: None, ..medium(false) };
        assert_eq!(costs.time(Plan::SingleCopy, 1), f64::INFINITY);
    }

    #[test]
    fn a_stream_is_as_fast_as_its_slower_side() {
        let costs = medium(false);
        let plan = Plan::Pipelined { packet: 8192, slots: 16 };
        let slower = costs.copies[1].stage.time(8192) * 8.0;
        assert_eq!(costs.streamed(plan, 65536), slower);
        assert!(costs.streamed(plan, 65536) < costs.time(plan, 65536));
    }
}
