//! Calibration: a medium is measured at first contact, and its costs are fitted.

use super::cache;
use super::choice::median;
use super::costs::{Copy, Costs, Side};
use super::plan::Plan;
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

    /// Bytes that travel with a flag.
    fn inline(&self) -> usize {
        0
    }

    /// A flag's way from one side to the other, asked for after all else was measured.
    fn hop(&mut self) -> Duration;

    /// A packet from the sender's memory into the ring, and out of it into the receiver's memory.
    fn copies(&mut self, sample: Sample) -> [Duration; 2];

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
    /// Whether long messages are measured as well.
    is_long: bool,
}

/// At first contact: three sizes in two rings and a hop. With a memory of 10 GB/s a round takes
/// 15 us, so all six take 0.1 ms, and 2 ms are kept on a medium ten times as slow.
pub const CONTACT: Effort =
    Effort { packets: &[512, 8 << 10, 64 << 10], repeats: 3, is_long: false };

/// For people who look: more sizes, and what bytes of long messages cost.
pub const THOROUGH: Effort = Effort {
    packets: &[256, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 128 << 10],
    repeats: 9,
    is_long: true,
};

/// Measures a medium and fits its stages.
pub fn calibrate(medium: &mut dyn Medium, effort: Effort) -> Costs {
    let cache = medium.cache();
    let largest = effort.packets.iter().copied().max().unwrap_or(1);
    let (near, far) = ((cache / Copy::NEAR).max(largest), (cache * Copy::FAR).max(largest));
    let at = |packet, ring| Sample { packet, ring, message: (cache / 4).max(packet) };
    let name = [("copy in", Side::Sender), ("copy out", Side::Receiver)];
    let mut copies = name.map(|(name, side)| Copy {
        name,
        side,
        stage: Stage::default(),
        spilled: Stage::default(),
        message_spills: 0.0,
    });
    let mut stages = |ring| fit(effort, |packet| Some(medium.copies(at(packet, ring))));
    let [inner, outer] = [near, far].map(|ring| stages(ring).unwrap_or_default());
    for (copy, (inner, outer)) in copies.iter_mut().zip(inner.into_iter().zip(outer)) {
        (copy.stage, copy.spilled) = (inner, outer);
    }
    let single = fit(effort, |packet| Some([medium.single_copy(at(packet, near))?]));
    let mut single = single.map(|[stage]| Copy {
        name: "single copy",
        side: Side::Receiver,
        stage,
        spilled: stage,
        message_spills: 0.0,
    });
    if effort.is_long {
        let packet = 64 << 10;
        let long = Sample { message: 4 * cache, ..at(packet, far) };
        let more = |time: f64, stage: Stage| (time - stage.time(packet)).max(0.0) / packet as f64;
        let times = typical(effort.repeats, || Some(medium.copies(long))).unwrap_or_default();
        for (copy, time) in copies.iter_mut().zip(times) {
            copy.message_spills = more(time, copy.spilled);
        }
        if let Some(single) = &mut single {
            let time = typical(effort.repeats, || Some([medium.single_copy(long)?]));
            single.message_spills = time.map_or(0.0, |[time]| more(time, single.stage));
        }
    }
    let hop = typical(effort.repeats, || Some([medium.hop()])).unwrap_or_default()[0];
    Costs { hop, copies: copies.into(), single, cache, inline: medium.inline() }
}

/// Stages that are measured together; none where the medium does not have them.
fn fit<const N: usize>(
    effort: Effort,
    mut measure: impl FnMut(usize) -> Option<[Duration; N]>,
) -> Option<[Stage; N]> {
    let mut samples: [Vec<(usize, f64)>; N] = std::array::from_fn(|_| Vec::new());
    // Large packets first: they put the ring where it is to be.
    for &packet in effort.packets.iter().rev() {
        let times = typical(effort.repeats, || measure(packet))?;
        for (samples, time) in samples.iter_mut().zip(times) {
            samples.push((packet, time));
        }
    }
    Some(samples.map(|samples| Stage::fit(&samples)))
}

/// The medians of some measurements, in nanoseconds.
fn typical<const N: usize>(
    repeats: usize,
    mut measure: impl FnMut() -> Option<[Duration; N]>,
) -> Option<[f64; N]> {
    let mut all: [Vec<f64>; N] = std::array::from_fn(|_| Vec::with_capacity(repeats));
    for _ in 0..repeats {
        for (times, time) in all.iter_mut().zip(measure()?) {
            times.push(time.as_nanos() as f64);
        }
    }
    Some(all.map(|mut times| median(&mut times)))
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

#[cfg(test)]
pub(super) mod tests {
    use super::super::costs::tests::medium;
    use super::super::plan::Planner;
    use super::*;

    /// A medium or a planner whose times are falsified.
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

        fn inline(&self) -> usize {
            self.inner.inline()
        }

        fn hop(&mut self) -> Duration {
            self.injection.apply(Plan::Short, self.inner.hop())
        }

        fn copies(&mut self, sample: Sample) -> [Duration; 2] {
            self.inner.copies(sample).map(|time| self.injection.apply(Plan::Short, time))
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

        fn stream(&mut self, bytes: usize) -> Plan {
            self.inner.stream(bytes)
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
            let is_far = |bytes: usize| bytes > self.costs.cache;
            let stage = if is_far(sample.ring) { copy.spilled } else { copy.stage };
            let more = if is_far(sample.message) { copy.message_spills } else { 0.0 };
            let time = stage.time(sample.packet) + more * sample.packet as f64;
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

        fn copies(&mut self, sample: Sample) -> [Duration; 2] {
            [0, 1].map(|copy| self.stage(self.costs.copies[copy], sample))
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
            for (found, stage) in [(found.stage, copy.stage), (found.spilled, copy.spilled)] {
                assert!(close(found.beta, stage.beta), "{found:?} {copy:?}");
                assert!((found.tau / stage.tau - 1.0).abs() < 0.02, "{found:?} {copy:?}");
            }
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
    fn what_long_messages_cost_is_found_with_more_effort() {
        let costs = medium(false);
        let found = calibrate(&mut Simulated::new(costs.clone()), THOROUGH);
        assert_same(&found, &costs);
        for (found, copy) in found.copies.iter().zip(&costs.copies) {
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
