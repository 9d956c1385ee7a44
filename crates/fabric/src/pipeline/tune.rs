//! Finding the plan beside the model's: what a model of stages leaves out (what the processor
//! fetches ahead, how both sides disturb each other) makes its best plan some percent slower than
//! its neighbours at times.
//!
//! For one range of lengths at a time the plan in use is compared with its *neighbours*, those with
//! half or twice the packet, the slots, or one for the other: some messages by the one, then some
//! by the other, all of them sampled. A neighbour that is worse by more than noise is left after
//! two. One that is better takes the plan's place, and has neighbours of its own; at the end of
//! them the range is *tuned*, until it is due again.
//!
//! What counts of some times is their lower quartile: all that is not the medium only adds to them.

use super::choice::Grid;
use super::plan::Plan;

/// Samples of a plan.
const SAMPLES: usize = 8;

/// Samples after which a plan that is so many times worse is left.
const FEW: usize = 2;
const WORSE: f64 = 1.06;

/// A plan takes another one's place if it takes so much of its time.
const BETTER: f64 = 0.98;

/// The most plans that do so in a row.
const STEPS: u32 = 8;

/// Neighbours of a plan.
const NEIGHBOURS: usize = 6;

/// Times of one plan.
#[derive(Clone, Copy, Debug, Default)]
struct Times {
    all: [f64; SAMPLES],
    count: usize,
}

impl Times {
    fn push(&mut self, time: f64) {
        self.all[self.count] = time;
        self.count += 1;
        self.all[..self.count].sort_by(f64::total_cmp);
    }

    fn quartile(&self) -> f64 {
        self.all[self.count / 4]
    }

    fn are_enough(&self) -> bool {
        self.count == SAMPLES
    }
}

/// One range that is being tuned.
#[derive(Clone, Debug)]
pub(super) struct Tuner {
    best: Plan,
    /// The one that had its place before.
    former: Option<Plan>,
    /// Which neighbour is tried, or was last.
    next: usize,
    best_times: Times,
    times: Times,
    /// Messages until the caches are as the plan leaves them.
    settling: u32,
    steps: u32,
}

impl Tuner {
    /// Begins with a plan.
    pub(super) fn new(plan: Plan, settling: u32) -> Tuner {
        let (best_times, times) = Default::default();
        let (former, next, steps) = (None, 0, 0);
        Tuner { best: plan, former, next, best_times, times, settling, steps }
    }

    /// The best plan so far.
    pub(super) fn best(&self) -> Plan {
        self.best
    }

    /// How the next message goes, and whether it is to be sampled; none once all is tried.
    pub(super) fn plan(&mut self, grid: &Grid, depth: usize) -> Option<(Plan, bool)> {
        if self.next == NEIGHBOURS || self.steps == STEPS {
            return None;
        }
        let plan = if self.best_times.are_enough() {
            loop {
                if self.next == NEIGHBOURS {
                    return None;
                }
                let neighbour = neighbour(self.best, self.next);
                match neighbour.filter(|one| Some(*one) != self.former && grid.has(*one, depth)) {
                    Some(neighbour) => break neighbour,
                    None => self.next += 1,
                }
            }
        } else {
            self.best
        };
        let is_sampled = self.settling == 0;
        self.settling = self.settling.saturating_sub(1);
        Some((plan, is_sampled))
    }

    /// Another message went by another plan: the caches are to be settled again.
    pub(super) fn settle(&mut self, settling: u32) {
        self.settling = settling;
    }

    /// What a sampled message took, by what the model says; `settling` messages pass after a
    /// change.
    pub(super) fn observe(&mut self, time: f64, settling: u32) {
        if !self.best_times.are_enough() {
            self.best_times.push(time);
            if self.best_times.are_enough() {
                self.settling = settling;
            }
            return;
        }
        self.times.push(time);
        let ratio = self.times.quartile() / self.best_times.quartile();
        let is_left = self.times.count >= FEW && ratio > WORSE;
        if !is_left && !self.times.are_enough() {
            return;
        }
        self.settling = settling;
        if ratio <= BETTER {
            let neighbour = neighbour(self.best, self.next);
            (self.former, self.best) = (Some(self.best), neighbour.unwrap_or(self.best));
            (self.next, self.steps) = (0, self.steps + 1);
            self.best_times = self.times;
        } else {
            self.next += 1;
            // The medium may have changed meanwhile: what follows is compared with new times.
            if self.times.are_enough() {
                self.best_times = Times::default();
            }
        }
        self.times = Times::default();
    }
}

/// One of a plan's neighbours. Whether a transport can carry it out is another matter.
fn neighbour(plan: Plan, which: usize) -> Option<Plan> {
    let Plan::Pipelined { packet, slots } = plan else { return None };
    let (packet, slots) = match which {
        0 => (packet / 2, slots),
        1 => (packet * 2, slots),
        2 => (packet / 2, slots * 2),
        3 => (packet * 2, slots / 2),
        4 => (packet, slots / 2),
        _ => (packet, slots * 2),
    };
    Some(Plan::Pipelined { packet, slots })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tunes with a cost for each plan; the plan found, and messages that took too long.
    fn tune(first: (usize, usize), cost: impl Fn(usize, usize) -> f64) -> (Plan, u32) {
        let grid = Grid::new(4 << 20, 32 << 10);
        let mut tuner = Tuner::new(Plan::Pipelined { packet: first.0, slots: first.1 }, 3);
        let (mut bad, mut messages) = (0, 0);
        while let Some((plan, is_sampled)) = tuner.plan(&grid, 3) {
            let Plan::Pipelined { packet, slots } = plan else { panic!("{plan:?}") };
            assert!(grid.has(plan, 3), "{plan:?}");
            let time = cost(packet, slots);
            bad += u32::from(time > 1.1 * cost(first.0, first.1));
            if is_sampled {
                tuner.observe(time, 3);
            }
            messages += 1;
            assert!(messages < 2000);
        }
        (tuner.best(), bad)
    }

    #[test]
    fn a_better_plan_some_steps_away_is_found() {
        let off = |packet: usize, slots: usize| {
            let away = |value: usize, best: usize| ((value as f64 / best as f64).log2()).abs();
            1.0 + 0.05 * away(packet, 16 << 10) + 0.03 * away(slots, 64)
        };
        let (best, _) = tune((2 << 10, 16), off);
        assert_eq!(best, Plan::Pipelined { packet: 16 << 10, slots: 64 });
    }

    #[test]
    fn where_the_plan_is_the_best_few_messages_take_longer() {
        let best = (32 << 10, 32);
        let cost = |packet: usize, slots: usize| if (packet, slots) == best { 1.0 } else { 1.5 };
        let (found, bad) = tune(best, cost);
        assert_eq!(found, Plan::Pipelined { packet: best.0, slots: best.1 });
        assert!(bad <= 6 * (3 + FEW as u32), "{bad}");
    }

    #[test]
    fn plans_that_are_alike_keep_nobody_busy() {
        let (found, bad) = tune((32 << 10, 32), |_, _| 1.0);
        assert_eq!((found, bad), (Plan::Pipelined { packet: 32 << 10, slots: 32 }, 0));
    }
}
