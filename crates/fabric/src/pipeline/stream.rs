//! The plan for a *stream*: messages close behind one another that nobody answers. What counts
//! there is how many go by in a time, not how long one takes by itself: through the ring one is
//! copied in while another is copied out, and a single copy keeps its sender waiting. Neither a
//! sample, which is a message by itself, nor the model, which samples correct, tells that.
//!
//! So it is tried. Some messages go by one plan, then some by another, and once more all of them;
//! a ring that is full holds the sender to the pace of the receiver, so the sender's clock tells
//! the pace of both. The best of a plan's two times counts. What a stream may go by are the plan
//! for a message by itself, the best of the other method, and rings of one and of two caches: a
//! stream fills its ring, and lines of a small one are fetched from the other side's cache by both
//! sides, where those of a large one have long left it. Where nothing is better by more than noise
//! (a sender that does something else between its messages) it is the first of these.

use super::choice::{Grid, Range, range_of};
use super::costs::{Costs, Predict};
use super::plan::Plan;
use std::time::{Duration, Instant};

/// Rings that are tried, in second-level caches, and in how many slots.
const RINGS: [usize; 2] = [1, 2];
const SLOTS: usize = 64;

/// Bytes that go by a plan until it is judged, and messages at least and at most.
const BYTES: usize = 1 << 20;
const MESSAGES: std::ops::RangeInclusive<usize> = 4..=64;

/// Of the messages that go by a plan the first ones find the caches as another has left them, and
/// what that one has left in the ring: so many as are judged.
const SETTLING: u32 = 1;

/// How often each plan is tried.
const ROUNDS: u32 = 2;

/// What a plan must take of the first one's time to be taken instead.
const BETTER: f64 = 0.95;

/// How long the best one is used until all are tried again: within 100 ms a change of the medium is
/// to be answered.
const PERIOD: Duration = Duration::from_millis(40);

/// Messages between two looks at the clock.
const LOOK: u32 = 64;

/// So many messages of other lengths end what is known of a stream.
const AWAY: u32 = 64;

/// The stream of a range of lengths.
#[derive(Clone, Debug)]
pub(super) struct Stream {
    range: usize,
    plans: Vec<Plan>,
    /// The least nanoseconds that the messages of a turn took by each.
    times: Vec<f64>,
    step: Step,
    /// Messages of others since the last one.
    away: u32,
}

#[derive(Clone, Debug)]
enum Step {
    /// The plan of a turn, which began then once the caches were settled, and how many messages
    /// have gone by it.
    Trying { turn: u32, since: Option<Instant>, messages: u32 },
    /// The best plan, until then.
    Using { plan: Plan, until: Instant, messages: u32 },
}

/// Messages of a turn that are timed.
fn timed(bytes: usize) -> u32 {
    (BYTES / bytes.max(1)).clamp(*MESSAGES.start(), *MESSAGES.end()) as u32
}

impl Stream {
    /// A stream of messages like one of `bytes`, which by itself goes as `alone` says.
    pub(super) fn new(bytes: usize, alone: Range, grid: &Grid, costs: &Costs) -> Stream {
        let other = Some(alone.other).filter(|_| alone.other_time.is_finite());
        let rings = RINGS.map(|caches| {
            let packet = costs.cache.next_power_of_two() * caches / SLOTS;
            let plan = Plan::Pipelined { packet, slots: SLOTS };
            Some(plan).filter(|plan| grid.has(*plan, costs.depth()))
        });
        let mut plans = vec![alone.plan];
        for plan in [other].into_iter().chain(rings).flatten() {
            if !plans.contains(&plan) {
                plans.push(plan);
            }
        }
        let times = vec![f64::INFINITY; plans.len()];
        let step = Step::Trying { turn: 0, since: None, messages: 0 };
        Stream { range: range_of(bytes), plans, times, step, away: 0 }
    }

    /// Whether a message is one of this stream; false and no more once many were not.
    pub(super) fn has(&mut self, bytes: usize) -> Option<bool> {
        let is_here = range_of(bytes) == self.range;
        self.away = if is_here { 0 } else { self.away + 1 };
        (self.away < AWAY).then_some(is_here)
    }

    /// How its next message goes; none when all is to be tried again.
    pub(super) fn plan(&mut self, bytes: usize, now: &dyn Fn() -> Instant) -> Option<Plan> {
        match &mut self.step {
            Step::Using { plan, until, messages } => {
                *messages += 1;
                let is_over = messages.is_multiple_of(LOOK) && now() >= *until;
                (!is_over).then_some(*plan)
            }
            Step::Trying { turn, since, messages } => {
                let (count, index) = (timed(bytes), *turn as usize % self.plans.len());
                let plan = self.plans[index];
                if *messages == SETTLING * count {
                    *since = Some(now());
                }
                *messages += 1;
                if let Some(since) = since.filter(|_| *messages > (SETTLING + 1) * count) {
                    let time = now().saturating_duration_since(since).as_nanos() as f64;
                    self.times[index] = self.times[index].min(time);
                    self.end_turn(now);
                }
                Some(plan)
            }
        }
    }

    fn end_turn(&mut self, now: &dyn Fn() -> Instant) {
        let Step::Trying { turn, since, messages } = &mut self.step else { return };
        (*turn, *since, *messages) = (*turn + 1, None, 0);
        if *turn < ROUNDS * self.plans.len() as u32 {
            return;
        }
        let times = self.plans.iter().copied().zip(self.times.iter().copied());
        let best = times.min_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((self.plans[0], 0.0));
        let plan = if best.1 < BETTER * self.times[0] { best.0 } else { self.plans[0] };
        self.step = Step::Using { plan, until: now() + PERIOD, messages: 0 };
    }
}

#[cfg(test)]
mod tests {
    use super::super::choice::{Ranges, is_ring};
    use super::super::costs::tests::medium;
    use super::*;
    use std::cell::Cell;

    /// A stream over a medium in simulated time.
    struct Simulated {
        clock: Cell<Duration>,
        stream: Option<Stream>,
        began: Instant,
        grid: Grid,
        costs: Costs,
        alone: Ranges,
    }

    impl Simulated {
        fn new() -> Simulated {
            let (grid, costs) = (Grid::new(4 << 20, 32 << 10), medium(true));
            let (clock, alone) = (Cell::default(), Ranges::new(&grid, &costs));
            Simulated { clock, stream: None, began: Instant::now(), grid, costs, alone }
        }

        /// Sends one message, of which `time` says how long the sender is held; its plan.
        fn send(&mut self, bytes: usize, time: impl Fn(Plan) -> f64) -> Plan {
            let now = || self.began + self.clock.get();
            let known = self.stream.as_mut().and_then(|stream| stream.plan(bytes, &now));
            let plan = known.unwrap_or_else(|| {
                let mut stream = Stream::new(bytes, self.alone.at(bytes), &self.grid, &self.costs);
                let plan = stream.plan(bytes, &now).unwrap();
                self.stream = Some(stream);
                plan
            });
            self.clock.set(self.clock.get() + Duration::from_nanos(time(plan) as u64));
            plan
        }

        /// Sends for so long, and tells which part of the time the ring was used.
        fn ring_share(&mut self, time: Duration, took: impl Fn(Plan) -> f64) -> f64 {
            let (end, mut ring, mut all) = (self.clock.get() + time, 0, 0);
            while self.clock.get() < end {
                all += 1;
                ring += u32::from(is_ring(self.send(65_536, &took)));
            }
            f64::from(ring) / f64::from(all)
        }
    }

    fn took(ring: f64, single: f64) -> impl Fn(Plan) -> f64 {
        move |plan| if is_ring(plan) { ring } else { single }
    }

    #[test]
    fn a_stream_goes_by_the_faster_method_though_a_message_by_itself_goes_by_the_other() {
        let mut stream = Simulated::new();
        assert_eq!(stream.alone.at(65_536).plan, Plan::SingleCopy);
        assert!(stream.ring_share(Duration::from_secs(1), took(3300.0, 4500.0)) > 0.9);
        assert!(stream.ring_share(Duration::from_secs(1), took(4500.0, 3300.0)) < 0.1);
    }

    #[test]
    fn a_medium_that_changes_is_followed_within_100_ms() {
        let mut stream = Simulated::new();
        for turn in 0..6 {
            let (ring, single) = if turn % 2 == 0 { (3e3, 5e3) } else { (9e3, 5e3) };
            stream.ring_share(Duration::from_millis(100), took(ring, single));
            let share = stream.ring_share(Duration::from_millis(400), took(ring, single));
            assert!(if ring < single { share > 0.95 } else { share < 0.05 }, "{turn}: {share}");
        }
    }

    #[test]
    fn who_is_slower_than_the_medium_sends_as_it_sends_a_message_by_itself() {
        let mut stream = Simulated::new();
        stream.ring_share(Duration::from_millis(50), took(20_000.0, 20_300.0));
        assert!(stream.ring_share(Duration::from_secs(1), took(20_000.0, 20_300.0)) < 0.1);
    }

    #[test]
    fn messages_of_other_lengths_end_a_stream_only_if_they_are_many() {
        let mut stream = Simulated::new();
        stream.send(65_536, took(1.0, 1.0));
        let stream = stream.stream.as_mut().unwrap();
        for _ in 0..10 {
            for _ in 1..AWAY {
                assert_eq!(stream.has(4096), Some(false));
            }
            assert_eq!(stream.has(65_000), Some(true));
        }
        (1..AWAY).for_each(|_| assert!(stream.has(4096).is_some()));
        assert_eq!(stream.has(4096), None);
    }
}
