//! Calibration: a medium is measured at first contact, and its costs are fitted.

use super::cache;
use super::choice::median;
use super::costs::{Copy, Costs, Side};
use super::plan::{Plan, Planner};
use super::stage::Stage;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// What is to be measured of a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Bytes of a packet.
    pub packet: usize,
    /// Bytes of the ring that packets go round in.
    pub ring: usize,
    /// Bytes of the message that they are packets of.
    pub message: usize,
}

/// What can be measured of the way to a peer: each is the time of one packet, one whole message,
/// or one flag. A transport implements it with its peer's help, or a probe.
pub trait Medium {
    /// Bytes that stay in a core's cache.
    fn cache(&self) -> usize {
        cache::second_level()
    }

    /// A flag's way from one side to the other.
    fn hop(&mut self) -> Duration;

    /// From the sender's memory into the ring.
    fn copy_in(&mut self, sample: Sample) -> Duration;

    /// Out of the ring into the receiver's memory.
    fn copy_out(&mut self, sample: Sample) -> Duration;

    /// Out of the sender's memory into the receiver's, where the medium can.
    fn single_copy(&mut self, sample: Sample) -> Option<Duration>;

    /// Whether the peer took no part, so that what was measured is nothing.
    fn is_absent(&self) -> bool {
        false
    }
}

/// How much is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    packets: &'static [usize],
    repeats: usize,
    spills: bool,
}

/// At first contact: three sizes and a hop. With a memory of 10 GB/s a round takes 40 us, so all
/// three take less than 0.2 ms, and 2 ms are kept on a medium ten times as slow.
pub const CONTACT: Effort =
    Effort { packets: &[512, 8 << 10, 64 << 10], repeats: 3, spills: false };

/// For people who look: more sizes, and what bytes cost outside of the cache.
pub const THOROUGH: Effort = Effort {
    packets: &[256, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 128 << 10],
    repeats: 9,
    spills: true,
};

/// Measures a medium and fits its stages.
pub fn calibrate(medium: &mut dyn Medium, effort: Effort) -> Costs {
    let cache = medium.cache();
    let hop = typical(effort.repeats, || Some(medium.hop())).unwrap_or_default();
    let stage = |name, side, measure: &mut dyn FnMut(Sample) -> Option<Duration>| {
        let measured = |sample| typical(effort.repeats, || measure(sample));
        fit(name, side, effort, cache, measured)
    };
    let copy_in = stage("copy in", Side::Sender, &mut |sample| Some(medium.copy_in(sample)));
    let copy_out = stage("copy out", Side::Receiver, &mut |sample| Some(medium.copy_out(sample)));
    let single = stage("single copy", Side::Receiver, &mut |sample| medium.single_copy(sample));
    Costs { hop, copies: copy_in.into_iter().chain(copy_out).collect(), single, cache }
}

/// One stage; None where the medium does not have it.
fn fit(
    name: &'static str,
    side: Side,
    effort: Effort,
    cache: usize,
    mut measured: impl FnMut(Sample) -> Option<f64>,
) -> Option<Copy> {
    let largest = effort.packets.iter().copied().max()?;
    // A ring that stays in the cache, whatever the packet.
    let fits = Sample { packet: 0, ring: (cache / 4).max(largest), message: (cache / 4).max(1) };
    let mut samples = Vec::with_capacity(effort.packets.len());
    for &packet in effort.packets {
        samples.push((packet, measured(Sample { packet, ..fits })?));
    }
    let stage = Stage::fit(&samples);
    let mut copy = Copy { name, side, stage, ring_spills: 0.0, message_spills: 0.0 };
    if effort.spills {
        let packet = 64 << 10;
        let mut more = |sample: Sample| {
            let spilled = measured(sample).unwrap_or(0.0);
            (spilled - stage.time(packet)).max(0.0) / packet as f64
        };
        copy.ring_spills = more(Sample { packet, ring: 2 * cache, ..fits });
        copy.message_spills = more(Sample { packet, message: 4 * cache, ..fits });
    }
    Some(copy)
}

/// The median of some measurements, in nanoseconds.
fn typical(repeats: usize, mut measure: impl FnMut() -> Option<Duration>) -> Option<f64> {
    let mut times = Vec::with_capacity(repeats);
    for _ in 0..repeats {
        times.push(measure()?.as_nanos() as f64);
    }
    Some(median(&mut times))
}

/// By how much costs are falsified, to force what a machine does only by chance. Clones are the
/// same one.
#[derive(Clone, Debug)]
pub struct Injection(Arc<[AtomicU64; 2]>);

impl Default for Injection {
    fn default() -> Injection {
        let one = || AtomicU64::new(1f64.to_bits());
        Injection(Arc::new([one(), one()]))
    }
}

impl Injection {
    /// From now on what goes through the ring costs `ring` times as much, and the single copy
    /// `single` times.
    pub fn set(&self, ring: f64, single: f64) {
        self.0[0].store(ring.to_bits(), Ordering::Relaxed);
        self.0[1].store(single.to_bits(), Ordering::Relaxed);
    }

    /// What a message is said to take that took `time`.
    pub fn apply(&self, plan: Plan, time: Duration) -> Duration {
        let by = &self.0[usize::from(plan == Plan::SingleCopy)];
        time.mul_f64(f64::from_bits(by.load(Ordering::Relaxed)))
    }
}

/// A medium or a planner whose times are falsified.
#[derive(Debug)]
pub struct Injected<T> {
    /// What is true.
    pub inner: T,
    /// By how much it is falsified.
    pub injection: Injection,
}

impl<M: Medium> Medium for Injected<M> {
    fn cache(&self) -> usize {
        self.inner.cache()
    }

    fn hop(&mut self) -> Duration {
        self.injection.apply(Plan::Short, self.inner.hop())
    }

    fn copy_in(&mut self, sample: Sample) -> Duration {
        self.injection.apply(Plan::Short, self.inner.copy_in(sample))
    }

    fn copy_out(&mut self, sample: Sample) -> Duration {
        self.injection.apply(Plan::Short, self.inner.copy_out(sample))
    }

    fn single_copy(&mut self, sample: Sample) -> Option<Duration> {
        Some(self.injection.apply(Plan::SingleCopy, self.inner.single_copy(sample)?))
    }

    fn is_absent(&self) -> bool {
        self.inner.is_absent()
    }
}

impl<P: Planner> Planner for Injected<P> {
    fn plan(&mut self, bytes: usize) -> Plan {
        self.inner.plan(bytes)
    }

    fn is_sampling(&mut self) -> bool {
        self.inner.is_sampling()
    }

    fn observe(&mut self, bytes: usize, plan: Plan, time: Duration) {
        self.inner.observe(bytes, plan, self.injection.apply(plan, time));
    }

    fn is_new(&mut self, bytes: usize) -> bool {
        self.inner.is_new(bytes)
    }

    fn meet(&mut self, peer: &str, medium: &mut dyn Medium) {
        self.inner.meet(peer, medium);
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::costs::tests::medium;
    use super::*;

    /// A medium with known costs, which counts the time that measuring it would take.
    pub struct Simulated {
        pub costs: Costs,
        pub spent: f64,
        pub is_absent: bool,
    }

    impl Simulated {
        pub fn new(costs: Costs) -> Simulated {
            Simulated { costs, spent: 0.0, is_absent: false }
        }

        fn stage(&mut self, copy: Copy, sample: Sample) -> Duration {
            let spills = |bytes: usize| if bytes > self.costs.cache { 1.0 } else { 0.0 };
            let more = copy.ring_spills * spills(sample.ring)
                + copy.message_spills * spills(sample.message);
            let time = copy.stage.time(sample.packet) + more * sample.packet as f64;
            self.spent += time;
            Duration::from_nanos(time.round() as u64)
        }
    }

    impl Medium for Simulated {
        fn cache(&self) -> usize {
            self.costs.cache
        }

        fn hop(&mut self) -> Duration {
            self.spent += self.costs.hop;
            Duration::from_nanos(self.costs.hop as u64)
        }

        fn copy_in(&mut self, sample: Sample) -> Duration {
            self.stage(self.costs.copies[0], sample)
        }

        fn copy_out(&mut self, sample: Sample) -> Duration {
            self.stage(self.costs.copies[1], sample)
        }

        fn single_copy(&mut self, sample: Sample) -> Option<Duration> {
            self.costs.single.map(|copy| self.stage(copy, sample))
        }

        fn is_absent(&self) -> bool {
            self.is_absent
        }
    }

    fn close(found: f64, to: f64) -> bool {
        (found - to).abs() <= 0.02 * to.abs() + 0.5
    }

    fn assert_same(found: &Costs, costs: &Costs) {
        assert!(close(found.hop, costs.hop), "{found:?}");
        fn all(costs: &Costs) -> impl Iterator<Item = Copy> {
            costs.copies.iter().copied().chain(costs.single)
        }
        assert_eq!(all(found).count(), all(costs).count());
        for (found, copy) in all(found).zip(all(costs).collect::<Vec<_>>()) {
            assert!(close(found.stage.beta, copy.stage.beta), "{found:?} {copy:?}");
            assert!((found.stage.tau / copy.stage.tau - 1.0).abs() < 0.02, "{found:?} {copy:?}");
        }
    }

    #[test]
    fn first_contact_finds_the_costs_within_two_milliseconds() {
        for costs in [medium(false), medium(true), medium(false).scaled(10.0, 5.0)] {
            let mut medium = Simulated::new(costs.clone());
            assert_same(&calibrate(&mut medium, CONTACT), &costs);
            assert!(medium.spent <= 2e6, "{} ns", medium.spent);
        }
    }

    #[test]
    fn what_spills_is_found_with_more_effort() {
        let costs = medium(false);
        let found = calibrate(&mut Simulated::new(costs.clone()), THOROUGH);
        assert_same(&found, &costs);
        for (found, copy) in found.copies.iter().zip(&costs.copies) {
            assert!((found.ring_spills / copy.ring_spills - 1.0).abs() < 0.05, "{found:?}");
            assert!((found.message_spills / copy.message_spills - 1.0).abs() < 0.05, "{found:?}");
        }
    }

    #[test]
    fn a_medium_without_a_single_copy_is_calibrated_without() {
        let costs = Costs { single: None, ..medium(false) };
        assert_same(&calibrate(&mut Simulated::new(costs.clone()), CONTACT), &costs);
    }

    #[test]
    fn injected_costs_are_found_like_true_ones() {
        let injection = Injection::default();
        let inner = Simulated::new(medium(false));
        let mut falsified = Injected { inner, injection: injection.clone() };
        assert_same(&calibrate(&mut falsified, CONTACT), &medium(false));
        injection.set(3.0, 1.5);
        assert_same(&calibrate(&mut falsified, CONTACT), &medium(false).scaled(3.0, 1.5));
    }
}
