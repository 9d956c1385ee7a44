//! Choosing: all plans that a transport can carry out, the best of them for a length, and a table
//! of the best by ranges of lengths, which is what is asked for every message.

use super::costs::Predict;
use super::plan::Plan;

/// The plans that a transport can carry out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grid {
    /// Packet lengths.
    pub packets: Vec<usize>,
    /// Numbers of slots.
    pub slots: Vec<usize>,
    /// The most bytes of a ring: packet length times slots.
    pub ring: usize,
    /// The longest message that [`Plan::Short`] carries.
    pub short: usize,
    /// The fewest bytes of a ring: what a send is to be rid of without its receiver.
    pub ring_least: usize,
    /// Whether there is a [`Plan::SingleCopy`].
    pub single: bool,
}

impl Grid {
    /// Powers of two: packets of 1 KB up to 256 KB, 4 to 128 slots.
    pub fn new(ring: usize, short: usize) -> Grid {
        let powers = |range: std::ops::RangeInclusive<u32>| range.map(|power| 1 << power).collect();
        let (packets, slots) = (powers(10..=18), powers(2..=7));
        Grid { packets, slots, ring, short, ring_least: 0, single: true }
    }

    /// The plans for messages of `bytes` over a medium whose pipeline has `depth` stages.
    pub fn plans(&self, bytes: usize, depth: usize) -> impl Iterator<Item = Plan> {
        let short = (bytes <= self.short).then_some(Plan::Short);
        let single = self.single.then_some(Plan::SingleCopy);
        let pairs = self.packets.iter().flat_map(|&packet| {
            self.slots.iter().map(move |&slots| Plan::Pipelined { packet, slots })
        });
        short.into_iter().chain(single).chain(pairs.filter(move |plan| self.fits(*plan, depth)))
    }

    /// Whether a plan's ring is one.
    fn fits(&self, plan: Plan, depth: usize) -> bool {
        match plan {
            Plan::Pipelined { packet, slots } => {
                slots >= depth && (self.ring_least..=self.ring).contains(&(packet * slots))
            }
            _ => true,
        }
    }

    /// Whether packets of that length in so many slots are among the plans.
    pub fn has(&self, plan: Plan, depth: usize) -> bool {
        let Plan::Pipelined { packet, slots } = plan else { return false };
        self.packets.contains(&packet) && self.slots.contains(&slots) && self.fits(plan, depth)
    }

    /// The plan that is predicted to take least, and its nanoseconds. Of equals it is the first:
    /// short before single before pipelined, small rings before large ones.
    pub fn best(&self, costs: &impl Predict, bytes: usize) -> (Plan, f64) {
        self.best_where(bytes, costs, |_| true)
    }

    /// The plan by which most messages go by in a time, close behind one another, where one by
    /// itself goes best by `alone`: the single copy, or a ring no smaller than a second-level
    /// cache. A stream fills its ring, and both sides fetch the lines of a smaller one from each
    /// other's caches, which nobody sees who measures the sides one at a time
    /// (docs/decisions/fabric-speed.md). A message of half a cache or more is a stream by itself.
    fn stream(&self, costs: &impl Predict, bytes: usize, alone: Plan) -> Plan {
        let least = costs.cache().min(self.ring);
        let is_large = |plan: &Plan| match plan {
            Plan::Pipelined { packet, slots } => packet * slots >= least,
            _ => false,
        };
        if alone == Plan::Short || 2 * bytes >= costs.cache() || is_large(&alone) {
            return alone;
        }
        let is_meant = |plan: &Plan| *plan == Plan::SingleCopy || is_large(plan);
        let plans = self.plans(bytes, costs.depth()).filter(is_meant);
        let times = plans.map(|plan| (plan, costs.streamed(plan, bytes)));
        times.min_by(|a, b| a.1.total_cmp(&b.1)).map_or(alone, |(plan, _)| plan)
    }

    /// The best of some plans.
    pub fn best_where(
        &self,
        bytes: usize,
        costs: &impl Predict,
        mut wanted: impl FnMut(Plan) -> bool,
    ) -> (Plan, f64) {
        let mut best = (Plan::SingleCopy, f64::INFINITY);
        for plan in self.plans(bytes, costs.depth()).filter(|&plan| wanted(plan)) {
            let time = costs.time(plan, bytes);
            if time < best.1 {
                best = (plan, time);
            }
        }
        best
    }
}

/// The best plan of a range of lengths, and of the other method, in case it is to be tried.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// The best plan for a message by itself.
    pub plan: Plan,
    /// Nanoseconds predicted for the longest message of the range.
    pub time: f64,
    /// The best plan of the other method: the ring, or the single copy.
    pub other: Plan,
    /// Nanoseconds predicted for that; infinite where there is no other.
    pub other_time: f64,
    /// The best plan for messages close behind one another.
    pub stream: Plan,
}

/// A pipelined plan that was found to be the best of its range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Tuned {
    /// The plan.
    pub plan: Plan,
    /// The model's: what is predicted for that, observations correct for this one.
    pub like: Plan,
}

/// Ranges are a quarter of an octave, from 64 bytes to 64 MiB; what is longer is like the longest.
const FIRST: u32 = 6;
pub(super) const RANGES: usize = 4 * (26 - FIRST as usize) + 1;

/// The best plans by ranges of lengths.
#[derive(Clone, Debug)]
pub struct Ranges {
    short: usize,
    ranges: [Range; RANGES],
}

/// The longest message of a range.
fn longest(range: usize) -> usize {
    let octave = 1usize << (FIRST as usize + range / 4);
    octave + (range % 4) * octave / 4
}

pub(super) fn range_of(bytes: usize) -> usize {
    if bytes <= 1 << FIRST {
        return 0;
    }
    let power = (bytes - 1).ilog2();
    let quarter = (bytes - 1) >> (power - 2) & 3;
    (4 * (power - FIRST) as usize + quarter + 1).min(RANGES - 1)
}

/// Whether the message goes through the ring.
pub fn is_ring(plan: Plan) -> bool {
    plan != Plan::SingleCopy
}

impl Ranges {
    /// Chooses for all ranges.
    pub fn new(grid: &Grid, costs: &impl Predict) -> Ranges {
        Ranges::tuned(grid, costs, &[None; RANGES])
    }

    /// The same, where for some ranges it is known which of the pipelined plans is the best.
    pub(super) fn tuned(
        grid: &Grid,
        costs: &impl Predict,
        tuned: &[Option<Tuned>; RANGES],
    ) -> Ranges {
        let short = threshold(grid, costs);
        let best = |bytes: usize, tuned: Option<Tuned>, is_meant: &dyn Fn(Plan) -> bool| {
            let is_open = |plan| !(tuned.is_some() && matches!(plan, Plan::Pipelined { .. }));
            let found = grid.best_where(bytes, costs, |plan| is_meant(plan) && is_open(plan));
            let known = tuned.filter(|tuned| is_meant(tuned.plan));
            let known = known.map(|tuned| (tuned.plan, costs.time(tuned.like, bytes)));
            known.filter(|known| known.1 < found.1).unwrap_or(found)
        };
        let ranges = std::array::from_fn(|index| {
            let (bytes, tuned) = (longest(index), tuned[index]);
            let (plan, time) = if bytes <= short {
                (Plan::Short, costs.time(Plan::Short, bytes))
            } else {
                best(bytes, tuned, &|plan| plan != Plan::Short)
            };
            let (other, other_time) = best(bytes, tuned, &|other| is_ring(other) != is_ring(plan));
            let stream = grid.stream(costs, bytes, plan);
            Range { plan, time, other, other_time, stream }
        });
        Ranges { short, ranges }
    }

    /// The longest message that is [`Plan::Short`].
    pub fn short(&self) -> usize {
        self.short
    }

    /// What is chosen for messages of this many bytes.
    pub fn at(&self, bytes: usize) -> Range {
        let mut range = self.ranges[range_of(bytes)];
        if bytes <= self.short && range.plan != Plan::Short {
            if range.plan == Plan::SingleCopy {
                (range.other, range.other_time) = (range.plan, range.time);
            }
            (range.plan, range.stream) = (Plan::Short, Plan::Short);
        }
        range
    }

    /// The plans in order, each with the longest message it is for.
    pub fn steps(&self) -> Vec<(usize, Plan)> {
        let mut steps = vec![(self.short, Plan::Short)];
        for (index, range) in self.ranges.iter().enumerate() {
            match steps.last_mut() {
                Some((upto, plan)) if *plan == range.plan => *upto = longest(index).max(*upto),
                _ if longest(index) > self.short => steps.push((longest(index), range.plan)),
                _ => {}
            }
        }
        steps
    }
}

/// The longest message up to which the short path is the best for every length.
fn threshold(grid: &Grid, costs: &impl Predict) -> usize {
    let is_best = |bytes: usize| grid.best(costs, bytes).0 == Plan::Short;
    let Some(first) = (0..RANGES).find(|&range| !is_best(longest(range))) else {
        return grid.short;
    };
    let (mut is, mut is_not) = (first.checked_sub(1).map_or(0, longest), longest(first));
    while is + 1 < is_not {
        let middle = is.midpoint(is_not);
        if is_best(middle) {
            is = middle;
        } else {
            is_not = middle;
        }
    }
    is
}

/// How far a choice is from the best there is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Searched {
    /// Bytes of the messages.
    pub bytes: usize,
    /// What was chosen, and how long it takes.
    pub chosen: Plan,
    /// Nanoseconds.
    pub chosen_time: f64,
    /// The fastest of all plans that were tried.
    pub best: Plan,
    /// Nanoseconds.
    pub best_time: f64,
}

impl Searched {
    /// How many times as long the choice takes: 1 at best.
    pub fn ratio(&self) -> f64 {
        self.chosen_time / self.best_time
    }
}

/// Searches all plans for a length. `measure` gives the nanoseconds of one message.
///
/// Two steps, because the least of many noisy figures is too low by its noise: `rounds` over all
/// plans find the few that may be the best, then these and the choice are measured in turn,
/// `4 * rounds` times, and compared by their medians.
pub fn exhaustive(
    grid: &Grid,
    depth: usize,
    bytes: usize,
    chosen: Plan,
    rounds: usize,
    measure: &mut dyn FnMut(Plan) -> f64,
) -> Searched {
    const FINALISTS: usize = 4;
    let mut repeat = |plans: &[Plan], rounds: usize| -> Vec<(Plan, f64)> {
        let mut times = vec![Vec::with_capacity(rounds); plans.len()];
        for _ in 0..rounds {
            for (plan, times) in plans.iter().zip(&mut times) {
                times.push(measure(*plan));
            }
        }
        plans.iter().copied().zip(times.iter_mut().map(|times| median(times))).collect()
    };
    let plans: Vec<Plan> = grid.plans(bytes, depth).collect();
    let mut all = repeat(&plans, rounds);
    all.sort_by(|a, b| a.1.total_cmp(&b.1));
    let mut last = vec![chosen];
    last.extend(all.iter().map(|(plan, _)| *plan).filter(|plan| *plan != chosen).take(FINALISTS));
    let last = repeat(&last, 4 * rounds);
    let (best, best_time) =
        last.iter().copied().reduce(|a, b| if b.1 < a.1 { b } else { a }).unwrap_or(last[0]);
    Searched { bytes, chosen, chosen_time: last[0].1, best, best_time }
}

/// The middle of some figures; not a number when there are none.
pub fn median(figures: &mut [f64]) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::super::costs::tests::medium;
    use super::super::costs::{Copy, Costs, Side};
    use super::super::stage::Stage;
    use super::*;
    use proptest::prelude::*;

    fn grid() -> Grid {
        Grid::new(4 << 20, 32 << 10)
    }

    fn any_copy(name: &'static str, side: Side) -> impl Strategy<Value = Copy> {
        (1.0..3e3f64, 1e-3..1.0f64, 0.0..2.0f64, 0.0..2.0f64).prop_map(
            move |(beta, tau, far, long)| {
                // A ring outside of the caches may be faster, too.
                let (stage, spilled) =
                    (Stage { beta, tau }, Stage { beta, tau: tau * (0.5 + far) });
                Copy { name, side, stage, spilled, message_spills: tau * long }
            },
        )
    }

    fn any_medium() -> impl Strategy<Value = Costs> {
        (
            10.0..1e3f64,
            any_copy("in", Side::Sender),
            any_copy("out", Side::Receiver),
            prop::option::of(any_copy("single", Side::Receiver)),
            (1usize << 16)..(1 << 22),
        )
            .prop_map(|(hop, copy_in, copy_out, single, cache)| Costs {
                hop,
                copies: vec![copy_in, copy_out],
                single,
                cache,
                inline: 0,
            })
    }

    #[test]
    fn ranges_cover_every_length_once() {
        for range in 0..RANGES {
            assert_eq!(range_of(longest(range)), range);
            assert_eq!(range_of(longest(range) + 1), (range + 1).min(RANGES - 1));
        }
        assert_eq!(range_of(0), 0);
        assert_eq!(range_of(usize::MAX), RANGES - 1);
    }

    #[test]
    fn near_and_far_are_chosen_for_as_the_note_measured() {
        let [near, far] = [false, true].map(|far| Ranges::new(&grid(), &medium(far)));
        for bytes in [64 << 10, 1 << 20] {
            assert!(matches!(near.at(bytes).plan, Plan::Pipelined { .. }), "{bytes}");
            assert_eq!(far.at(bytes).plan, Plan::SingleCopy, "{bytes}");
        }
        for bytes in [0, 1, 64, 256] {
            assert_eq!([near.at(bytes).plan, far.at(bytes).plan], [Plan::Short; 2]);
        }
    }

    #[test]
    fn a_ring_as_large_as_the_cache_is_not_exceeded() {
        let costs = medium(false);
        for bytes in [1 << 20, 4 << 20, 16 << 20] {
            match Ranges::new(&grid(), &costs).at(bytes).plan {
                Plan::Pipelined { packet, slots } => assert!(packet * slots <= costs.cache),
                plan => panic!("{bytes}: {plan:?}"),
            }
        }
    }

    #[test]
    fn the_search_finds_the_best_and_says_how_far_the_choice_is() {
        let costs = medium(false);
        let chosen = Plan::Pipelined { packet: 1024, slots: 4 };
        let mut asked = 0;
        let found = exhaustive(&grid(), 3, 1 << 20, chosen, 3, &mut |plan| {
            asked += 1;
            // Noise that a median does not see.
            costs.time(plan, 1 << 20) * if asked % 5 == 0 { 40.0 } else { 1.0 }
        });
        let (best, time) = grid().best(&costs, 1 << 20);
        assert_eq!((found.best, found.best_time), (best, time));
        assert!(found.ratio() > 1.1);
        let found = exhaustive(&grid(), 3, 1 << 20, best, 3, &mut |plan| costs.time(plan, 1 << 20));
        assert_eq!(found.ratio(), 1.0);
    }

    proptest! {
        #[test]
        fn no_other_plan_is_predicted_better(costs in any_medium(), bytes in 0usize..1 << 25) {
            let (_, time) = grid().best(&costs, bytes);
            for plan in grid().plans(bytes, costs.depth()) {
                prop_assert!(time <= costs.time(plan, bytes), "{plan:?}");
            }
        }

        /// A quarter of an octave shares a plan: what that costs at most.
        #[test]
        fn a_range_is_as_good_as_its_longest_message(
            costs in any_medium(),
            bytes in 64usize..1 << 26,
        ) {
            let (plan, ranges) = (grid().best(&costs, bytes), Ranges::new(&grid(), &costs));
            let ratio = costs.time(ranges.at(bytes).plan, bytes) / plan.1;
            prop_assert!(ratio <= 1.35, "{ratio} {plan:?} {:?}", ranges.at(bytes));
            let edge = longest(range_of(bytes));
            let best = grid().best(&costs, edge).1;
            if edge > ranges.short() && edge > grid().short {
                prop_assert!(costs.time(ranges.at(edge).plan, edge) <= best);
            }
        }

        #[test]
        fn below_the_threshold_all_are_short_and_behind_it_none(
            costs in any_medium(),
            bytes in 0usize..1 << 25,
        ) {
            let ranges = Ranges::new(&grid(), &costs);
            prop_assert!(ranges.short() <= grid().short);
            prop_assert_eq!(ranges.at(bytes).plan == Plan::Short, bytes <= ranges.short());
            let steps = ranges.steps();
            prop_assert!(steps.is_sorted_by(|a, b| a.0 < b.0), "{steps:?}");
        }

        #[test]
        fn enough_packets_are_under_way(costs in any_medium(), bytes in 0usize..1 << 25) {
            if let Plan::Pipelined { packet, slots } = Ranges::new(&grid(), &costs).at(bytes).plan {
                prop_assert!(slots >= costs.depth() && packet * slots <= grid().ring);
            }
        }
    }
}
