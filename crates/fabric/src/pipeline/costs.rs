//! The cost model of a medium: how long a message takes by each plan.
//!
//! EPOS's model has a packet enter a stage as soon as the packet before it has left. Three things
//! are added. A stage is bound to a *side*: stages of one side share its core and do not overlap.
//! Packets go through a ring of `slots`, so a packet also waits until the one that had its slot
//! before is out of it. And costs depend on the *footprint*, `slots * packet`: a small ring stays
//! in the caches of both cores, a large one goes through memory that they share. Which of the two
//! is faster is a property of the machine, so both are measured. Bytes of a message that does not
//! stay in the cache itself cost more.

use super::plan::Plan;
use super::stage::{self, Stage};

/// Whose core carries out a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "they are what they are called")]
pub enum Side {
    Sender,
    Receiver,
}

/// A stage of a medium: its costs depend on where the ring is, and on where the message is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Copy {
    /// What it is, for people.
    pub name: &'static str,
    /// Who is busy with it.
    pub side: Side,
    /// Its costs in a ring of [`Copy::NEAR`] of the cache.
    pub stage: Stage,
    /// Its costs in a ring of [`Copy::FAR`] times the cache.
    pub spilled: Stage,
    /// Nanoseconds per byte in addition when the message does not fit.
    pub message_spills: f64,
}

impl Copy {
    /// The ring that stays in the caches of both cores is a cache by this.
    pub const NEAR: usize = 4;
    /// What was written into a ring of so many caches is out of them before it is written again.
    pub const FAR: usize = 2;

    fn at(&self, ring: f64, message: f64) -> Stage {
        let between = |near: f64, far: f64| near + ring * (far - near);
        Stage {
            beta: between(self.stage.beta, self.spilled.beta),
            tau: between(self.stage.tau, self.spilled.tau) + self.message_spills * message,
        }
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
    /// Bytes that travel with a flag and cost no more than it.
    pub inline: usize,
}

/// The share of a message that does not stay in a cache: nothing up to its size, all of it from
/// twice that. A cyclic walk through more than a cache holds finds less the longer it is.
fn spilled(bytes: usize, cache: usize) -> f64 {
    ((bytes as f64 / cache.max(1) as f64) - 1.0).clamp(0.0, 1.0)
}

/// Where a ring is between near (0) and far (1), by the logarithm of its size.
fn farness(ring: usize, cache: usize) -> f64 {
    let near = (cache / Copy::NEAR).max(1) as f64;
    let steps = ((Copy::NEAR * Copy::FAR) as f64).log2();
    ((ring.max(1) as f64 / near).log2() / steps).clamp(0.0, 1.0)
}

/// Who predicts how long a message takes.
pub trait Predict {
    /// Stages that a packet goes through; at least as many packets are to be under way.
    fn depth(&self) -> usize;

    /// Nanoseconds from a message's first byte to the last, acknowledged.
    fn time(&self, plan: Plan, bytes: usize) -> f64;

    /// Nanoseconds for each of many messages, one close behind the other.
    fn streamed(&self, plan: Plan, bytes: usize) -> f64;

    /// Bytes that stay in the cache of a core.
    fn cache(&self) -> usize;
}

impl Predict for Costs {
    fn depth(&self) -> usize {
        // The flag between the sides is a stage as well.
        self.copies.len() + 1
    }

    fn time(&self, plan: Plan, bytes: usize) -> f64 {
        let there_and_back = 2.0 * self.hop;
        match plan {
            Plan::Short if (1..=self.inline).contains(&bytes) => there_and_back,
            Plan::Short => there_and_back + self.once(bytes, bytes, 0),
            Plan::SingleCopy => there_and_back + self.singly(bytes),
            Plan::Pipelined { packet, slots } => {
                let packets = bytes.div_ceil(packet).max(1);
                let last = bytes - (packets - 1) * packet;
                let period = self.period(bytes, packet, (packet.saturating_mul(slots), slots));
                let last = self.once(bytes, last, packet * slots);
                there_and_back + (packets - 1) as f64 * period + last
            }
        }
    }

    fn streamed(&self, plan: Plan, bytes: usize) -> f64 {
        match plan {
            Plan::Pipelined { packet, slots } => {
                let packets = bytes.div_ceil(packet).max(1);
                let each = bytes.div_ceil(packets);
                packets as f64 * self.period(bytes, each, (packet.saturating_mul(slots), slots))
            }
            Plan::Short => self.pace(bytes, bytes, 0),
            Plan::SingleCopy => self.time(plan, bytes),
        }
    }

    fn cache(&self) -> usize {
        self.cache
    }
}

impl Costs {
    /// The stages as they are for a message of `bytes` through a ring of `ring` bytes.
    fn stages(&self, bytes: usize, ring: usize) -> impl Iterator<Item = (Side, Stage)> {
        let (ring, message) = (farness(ring, self.cache), spilled(bytes, self.cache));
        self.copies.iter().map(move |copy| (copy.side, copy.at(ring, message)))
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
    fn period(&self, bytes: usize, packet: usize, (ring, slots): (usize, usize)) -> f64 {
        let round = (self.once(bytes, packet, ring) + 2.0 * self.hop) / slots as f64;
        self.pace(bytes, packet, ring).max(round)
    }

    /// The busier side's time for a packet.
    fn pace(&self, bytes: usize, packet: usize, ring: usize) -> f64 {
        let (mut sender, mut receiver) = (0.0, 0.0);
        for (side, stage) in self.stages(bytes, ring) {
            match side {
                Side::Sender => sender += stage.time(packet),
                Side::Receiver => receiver += stage.time(packet),
            }
        }
        f64::max(sender, receiver)
    }

    fn singly(&self, bytes: usize) -> f64 {
        let message = spilled(bytes, self.cache);
        self.single.map_or(f64::INFINITY, |copy| copy.at(0.0, message).time(bytes))
    }

    /// The same medium where the ring, and with it the hop, costs `ring` times as much, and the
    /// single copy `single` times.
    pub fn scaled(&self, ring: f64, single: f64) -> Costs {
        let stage = |stage: Stage, by: f64| Stage { beta: stage.beta * by, tau: stage.tau * by };
        let times = |copy: &Copy, by: f64| Copy {
            stage: stage(copy.stage, by),
            spilled: stage(copy.spilled, by),
            message_spills: copy.message_spills * by,
            ..*copy
        };
        Costs {
            hop: self.hop * ring,
            copies: self.copies.iter().map(|copy| times(copy, ring)).collect(),
            single: self.single.as_ref().map(|copy| times(copy, single)),
            cache: self.cache,
            inline: self.inline,
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    fn copy(name: &'static str, side: Side, beta: f64, tau: f64) -> Copy {
        let (stage, spilled) = (Stage { beta, tau }, Stage { beta, tau: 1.5 * tau });
        Copy { name, side, stage, spilled, message_spills: tau / 4.0 }
    }

    /// Through no ring at all.
    fn single(beta: f64, tau: f64) -> Copy {
        let copy = copy("single copy", Side::Receiver, beta, tau);
        Copy { spilled: copy.stage, ..copy }
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
            single: Some(single(1700.0, 0.09)),
            cache: 512 * 1024,
            inline: 0,
        }
    }

    #[test]
    fn more_slots_never_cost_more_while_they_fit() {
        let costs = medium(false);
        let time = |slots| costs.time(Plan::Pipelined { packet: 4096, slots }, 1 << 20);
        assert!(time(1) > time(2) && time(2) > time(3));
        assert!(time(3) >= time(16));
        // 512 slots of 4 KB are 2 MB: they fall out of the cache.
        assert!(time(512) > 1.2 * time(16));
    }

    #[test]
    fn one_packet_is_a_short_message() {
        let costs = medium(false);
        let plan = Plan::Pipelined { packet: 4096, slots: 4 };
        // A ring as small as the one of short messages.
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
    fn what_travels_with_a_flag_costs_a_flag() {
        let costs = Costs { inline: 120, ..medium(false) };
        assert_eq!(costs.time(Plan::Short, 120), 2.0 * costs.hop);
        assert!(costs.time(Plan::Short, 121) > 2.0 * costs.hop);
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
