//! All times here are simulated: what a message takes is computed, and the clock is their sum.

use super::super::calibrate::Injection;
use super::super::calibrate::tests::{Injected, Simulated};
use super::super::costs::tests::medium;
use super::*;

const MS: f64 = 1e6;

fn grid() -> Grid {
    Grid::new(4 << 20, 32 << 10)
}

/// Numbers that look random and are the same in every run.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as f64 / (1u64 << 31) as f64
    }
}

/// A medium that messages move over, and what that costs.
struct World {
    truth: Costs,
    /// What the best plan takes, by length.
    best: HashMap<usize, f64>,
    dice: Dice,
    noise: f64,
    clock: f64,
}

/// What moving messages cost, and what it would have cost with the best plans.
#[derive(Default)]
struct Bill {
    paid: f64,
    best: f64,
    messages: u32,
    /// Messages that took more than 1.1 times the best.
    bad: u32,
}

impl Bill {
    fn regret(&self) -> f64 {
        self.paid / self.best
    }
}

impl World {
    fn new(truth: Costs) -> World {
        World { truth, best: HashMap::new(), dice: Dice(7), noise: 0.0, clock: 0.0 }
    }

    fn become_other(&mut self, truth: Costs) {
        self.truth = truth;
        self.best.clear();
    }

    /// Moves one message as a transport does.
    fn send(&mut self, planner: &mut dyn Planner, bytes: usize, bill: &mut Bill) {
        let plan = planner.plan(bytes);
        let sampling = planner.is_sampling();
        let time = self.truth.time(plan, bytes);
        let best = || grid().best(&self.truth, bytes).1;
        let best = *self.best.entry(bytes).or_insert_with(best);
        self.clock += time;
        bill.paid += time;
        bill.best += best;
        bill.messages += 1;
        bill.bad += u32::from(time > 1.1 * best);
        if sampling {
            let mut seen = time * (1.0 + self.noise * self.dice.next());
            if self.noise > 0.0 && self.dice.next() < 0.02 {
                seen *= 50.0;
            }
            planner.observe(bytes, plan, Duration::from_nanos(seen.round() as u64));
        }
    }

    /// One of a stream: close behind the one before, unless it is a sample.
    fn stream(&mut self, planner: &mut dyn Planner, bytes: usize, bill: &mut Bill) {
        let plan = planner.stream(bytes);
        let best = || {
            // Of all rings that are as large as a cache, and the single copy.
            let is_meant = |plan: &Plan| match plan {
                Plan::Pipelined { packet, slots } => packet * slots >= self.truth.cache,
                plan => *plan == Plan::SingleCopy,
            };
            let grid = grid();
            let plans = grid.plans(bytes, self.truth.depth()).filter(is_meant);
            plans.map(|plan| self.truth.streamed(plan, bytes)).fold(f64::INFINITY, f64::min)
        };
        bill.best += *self.best.entry(bytes).or_insert_with(best);
        bill.messages += 1;
        let mut took = self.truth.streamed(plan, bytes);
        if planner.is_sampling() {
            took = self.truth.time(plan, bytes);
            planner.observe(bytes, plan, Duration::from_nanos(took.round() as u64));
        }
        self.clock += took;
        bill.paid += took;
    }

    /// Moves messages of these lengths in turn until the time has passed.
    fn run(&mut self, planner: &mut dyn Planner, lengths: &[usize], time: f64) -> Bill {
        let (mut bill, end) = (Bill::default(), self.clock + time);
        for &bytes in lengths.iter().cycle() {
            if self.clock >= end {
                break;
            }
            self.send(planner, bytes, &mut bill);
        }
        bill
    }
}

/// The acceptance test of the adaptive pipeline: the two cores drift apart and together again.
/// 100 ms after each flip the choices are within 1.1 of the best for the state; and so is nearly
/// each of them: what is tried of the other method is rare.
fn flip(lengths: &[usize], noise: f64) {
    let mut world = World { noise, ..World::new(medium(false)) };
    let mut planner = Peers::new(grid()).meet("b", &mut Simulated::new(medium(false))).unwrap();
    world.run(&mut planner, lengths, 100.0 * MS);
    for flip in 0..8 {
        world.become_other(medium(flip % 2 == 0));
        world.run(&mut planner, lengths, 100.0 * MS);
        let bill = world.run(&mut planner, lengths, 100.0 * MS);
        assert!(bill.regret() <= 1.1, "{lengths:?}, flip {flip}: {}", bill.regret());
        let bad = f64::from(bill.bad) / f64::from(bill.messages);
        assert!(bad <= 0.1, "{lengths:?}, flip {flip}: {bad} of them are bad");
    }
    assert!(planner.known.states.len() <= STATES);
}

#[test]
fn a_flip_is_noticed_within_100_ms_by_messages_of_any_length() {
    for bytes in [64, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20] {
        flip(&[bytes], 0.0);
    }
}

#[test]
fn a_flip_is_noticed_within_100_ms_by_messages_of_many_lengths() {
    flip(&[64, 64 << 10, 4 << 10, 1 << 20, 300, 20_000], 0.0);
    flip(&[1 << 20, 64 << 10, 64 << 10, 64 << 10], 0.0);
}

#[test]
fn a_flip_is_noticed_within_100_ms_by_streams() {
    for bytes in [16 << 10, 64 << 10, 200 << 10] {
        let mut world = World::new(medium(false));
        let mut planner = Peers::new(grid()).meet("b", &mut Simulated::new(medium(false))).unwrap();
        let flow = |world: &mut World, planner: &mut Adaptive, bill: &mut Bill| {
            let end = world.clock + 100.0 * MS;
            while world.clock < end {
                world.stream(planner, bytes, bill);
            }
        };
        for flip in 0..8 {
            // Where the ring is eight times slower, a stream is copied singly as well.
            let far = if flip % 4 == 2 { medium(false).scaled(8.0, 1.0) } else { medium(true) };
            world.become_other(if flip % 2 == 0 { far } else { medium(false) });
            flow(&mut world, &mut planner, &mut Bill::default());
            let mut bill = Bill::default();
            flow(&mut world, &mut planner, &mut bill);
            assert!(bill.regret() <= 1.1, "{bytes}, flip {flip}: {}", bill.regret());
        }
    }
}

#[test]
fn a_stream_goes_through_the_ring_where_a_message_by_itself_does_not() {
    let (bytes, costs) = (16 << 10, medium(true));
    let mut planner = Adaptive::new(grid(), costs.clone());
    assert_eq!(planner.plan(bytes), Plan::SingleCopy);
    let Plan::Pipelined { packet, slots } = planner.stream(bytes) else { panic!("a single copy") };
    // As large as a cache: nobody fetches lines that the other side has just used.
    assert!(packet * slots >= costs.cache, "{packet} in {slots}");
    // What is short goes as by itself, and so does what is a stream by itself.
    for bytes in [1, 100, 512 << 10, 16 << 20] {
        let range = planner.ranges().at(bytes);
        assert_eq!(range.stream, range.plan);
        let fresh = || Adaptive::new(grid(), costs.clone());
        if bytes < 1 << 20 {
            assert_eq!(fresh().stream(bytes), fresh().plan(bytes));
        }
    }
}

#[test]
fn noise_does_not_keep_a_flip_from_being_noticed() {
    for bytes in [64, 16 << 10, 64 << 10, 1 << 20] {
        flip(&[bytes], 0.25);
    }
}

#[test]
fn who_does_not_adapt_pays_for_it() {
    let mut fixed = Adaptive::new(grid(), medium(false));
    let mut world = World::new(medium(true));
    // Never a sample: the planner stays in the state that it began in.
    let mut bill = Bill::default();
    for _ in 0..1000 {
        let plan = fixed.plan(1 << 20);
        bill.paid += world.truth.time(plan, 1 << 20);
        bill.best += grid().best(&world.truth, 1 << 20).1;
    }
    assert!(bill.regret() > 1.3, "{}", bill.regret());
    let mut planner = Adaptive::new(grid(), medium(false));
    world.run(&mut planner, &[1 << 20], 100.0 * MS);
    assert!(world.run(&mut planner, &[1 << 20], 100.0 * MS).regret() < 1.05);
}

#[test]
fn a_known_state_is_taken_up_at_once() {
    let mut world = World::new(medium(false));
    let mut planner = Adaptive::new(grid(), medium(false));
    let lengths = [64 << 10];
    for far in [false, true, false] {
        world.become_other(medium(far));
        world.run(&mut planner, &lengths, 100.0 * MS);
    }
    let states = planner.known.states.len();
    for far in [true, false, true, false] {
        world.become_other(medium(far));
        let bill = world.run(&mut planner, &lengths, 20.0 * MS);
        assert!(bill.regret() < 1.25, "{far}: {}", bill.regret());
        world.run(&mut planner, &lengths, 80.0 * MS);
    }
    assert_eq!(planner.known.states.len(), states, "nothing new was to be learned");
}

#[test]
fn a_state_that_is_right_about_one_method_only_is_not_taken_up() {
    let mut world = World::new(medium(false));
    let mut planner = Adaptive::new(grid(), medium(false));
    let lengths = [1 << 20];
    // Both methods are slower at times, the whole machine is; then only the ring is.
    for (ring, single) in [(1.0, 1.0), (3.0, 3.0), (1.0, 1.0), (3.0, 3.0), (3.0, 1.0)] {
        world.become_other(medium(false).scaled(ring, single));
        world.run(&mut planner, &lengths, 100.0 * MS);
    }
    let switches = planner.switches();
    let bill = world.run(&mut planner, &lengths, 200.0 * MS);
    assert!(bill.regret() < 1.1, "{}", bill.regret());
    assert_eq!(planner.switches(), switches);
}

#[test]
fn a_method_whose_first_messages_are_slow_is_tried_for_long_enough() {
    let (bytes, truth) = (1 << 20, medium(true));
    let single = truth.time(Plan::SingleCopy, bytes);
    // First contact has taken single copies for slower than the ring.
    let mut planner = Adaptive::new(grid(), truth.scaled(1.0, 2.0));
    let before = planner.ranges().at(bytes);
    assert!(is_ring(before.plan) && before.time > 1.2 * single);
    let (mut in_a_row, mut singly) = (0, 0);
    for message in 0..400 {
        let plan = planner.plan(bytes);
        in_a_row = if plan == Plan::SingleCopy { in_a_row + 1 } else { 0 };
        singly += u32::from(message >= 200 && in_a_row > 0);
        // What the ring has left in the caches is gone after some of them.
        let slow = [0.0, 3.2, 2.7, 2.0, 1.3].get(in_a_row).map_or(1.0, |slow| f64::max(*slow, 1.0));
        let time = truth.time(plan, bytes) * slow;
        if planner.is_sampling() {
            planner.observe(bytes, plan, Duration::from_nanos(time as u64));
        }
    }
    assert!(singly > 180, "{singly} of 200");
}

#[test]
fn noise_and_single_slow_messages_change_nothing() {
    let mut world = World { noise: 0.25, ..World::new(medium(false)) };
    let mut planner = Adaptive::new(grid(), medium(false));
    let bill = world.run(&mut planner, &[64, 64 << 10, 1 << 20, 2000], 3000.0 * MS);
    assert!(bill.messages > 50_000);
    assert_eq!(planner.switches(), 0);
    assert!(bill.regret() < 1.06, "{}", bill.regret());
}

#[test]
fn a_peer_that_is_late_says_nothing_of_the_medium() {
    let mut planner = Adaptive::new(grid(), medium(false));
    let before = planner.ranges().steps();
    for _ in 0..100 {
        let plan = planner.plan(64 << 10);
        planner.observe(64 << 10, plan, Duration::from_millis(3));
    }
    assert_eq!(planner.ranges().steps(), before);
    assert_eq!(planner.switches(), 0);
}

#[test]
fn a_model_that_is_wrong_for_some_lengths_is_corrected_there() {
    let mut truth = medium(false);
    // The model knows nothing of what a message costs that does not fit into the cache.
    truth.copies.iter_mut().for_each(|copy| copy.message_spills = 5.0 * copy.stage.tau);
    let mut world = World::new(truth);
    let mut planner = Adaptive::new(grid(), medium(false));
    world.run(&mut planner, &[64, 64 << 10, 16 << 20], 200.0 * MS);
    for bytes in [64, 64 << 10, 16 << 20] {
        let plan = planner.ranges().at(bytes).plan;
        let ratio = planner.predict(plan, bytes) / world.truth.time(plan, bytes);
        assert!((0.8..1.25).contains(&ratio), "{bytes}: {ratio}");
    }
    assert!(world.run(&mut planner, &[64, 64 << 10, 16 << 20], 100.0 * MS).regret() <= 1.1);
}

#[test]
fn plans_beside_the_models_are_found_where_these_are_better() {
    let truth = medium(false);
    let mut told = truth.clone();
    // Packets are said to cost less than they do, so the model makes them too short.
    told.copies.iter_mut().for_each(|copy| (copy.stage.beta, copy.spilled.beta) = (1.5, 1.5));
    for bytes in [48 << 10, 200 << 10] {
        let mut world = World { noise: 0.05, ..World::new(truth.clone()) };
        let mut planner = Adaptive::new(grid(), told.clone());
        let first = planner.ranges().at(bytes).plan;
        let (_, best) = grid().best(&truth, bytes);
        let ratio = truth.time(first, bytes) / best;
        assert!(ratio > 1.15, "{bytes}: {first:?} {ratio}");
        world.run(&mut planner, &[bytes], 50.0 * MS);
        let bill = world.run(&mut planner, &[bytes], 50.0 * MS);
        assert!(bill.regret() < 1.05, "{bytes}: {}", bill.regret());
    }
}

#[test]
fn one_message_in_256_is_sampled_when_all_is_well() {
    let mut world = World::new(medium(false));
    let mut planner = Adaptive::new(grid(), medium(false));
    let mut sampled = 0;
    for _ in 0..256_000 {
        let plan = planner.plan(64);
        sampled += u32::from(planner.is_sampling());
        let time = world.truth.time(plan, 64);
        planner.observe(64, plan, Duration::from_nanos(time as u64));
        world.clock += time;
    }
    // A trial of the other method comes some messages later.
    assert!((990..=1000).contains(&sampled), "{sampled}");
}

#[test]
fn who_takes_no_samples_is_not_made_to_try() {
    let mut planner = Adaptive::new(grid(), medium(false));
    let plans: Vec<Plan> = (0..10_000).map(|_| planner.plan(1 << 20)).collect();
    let tried = plans.iter().filter(|&&plan| plan == Plan::SingleCopy).count();
    assert!(tried <= 1, "{tried}");
}

#[test]
fn who_never_sees_how_long_a_sample_took_is_soon_left_alone() {
    let mut planner = Adaptive::new(grid(), medium(false));
    let first = planner.ranges().at(200 << 10).plan;
    let mut sampled = 0;
    for _ in 0..10_240 {
        // The single copy is tried now and then.
        let plan = planner.plan(200 << 10);
        assert!(plan == first || plan == Plan::SingleCopy, "{plan:?}");
        sampled += u32::from(planner.is_sampling());
    }
    // One in 256, and eight of each thousand to find out whether that has changed.
    assert!(sampled <= 40 + 10 * MISSED + 16, "{sampled}");
}

#[test]
fn a_peer_that_is_late_tunes_nothing() {
    let mut planner = Adaptive::new(grid(), medium(false));
    let first = planner.ranges().at(200 << 10).plan;
    for _ in 0..10_000 {
        let plan = planner.plan(200 << 10);
        if planner.is_sampling() {
            planner.observe(200 << 10, plan, Duration::from_millis(3));
        }
    }
    assert_eq!(planner.ranges().at(200 << 10).plan, first);
}

#[test]
fn a_tuned_range_leaves_the_predictions_of_others_as_they_are() {
    let truth = medium(false);
    let mut told = truth.clone();
    told.copies.iter_mut().for_each(|copy| (copy.stage.beta, copy.spilled.beta) = (1.5, 1.5));
    let mut world = World::new(truth);
    let mut planner = Adaptive::new(grid(), told);
    // Of one class of lengths, and only the first has enough messages to be tuned.
    let lengths = [vec![200 << 10; 40], vec![100 << 10]].concat();
    world.run(&mut planner, &lengths, 200.0 * MS);
    let plan = planner.ranges().at(200 << 10).plan;
    let off = planner.predict(plan, 200 << 10) / world.truth.time(plan, 200 << 10);
    assert!((0.9..1.1).contains(&off), "{off}");
    assert_eq!(planner.switches(), 0);
}

#[test]
fn a_peer_is_calibrated_once() {
    let peers = Peers::new(grid());
    let mut medium_of_b = Simulated::new(medium(false));
    let mut planner = peers.meet("b", &mut medium_of_b).unwrap();
    let spent = medium_of_b.spent;
    assert!(spent > 0.0);
    // What is learned later is known to the next connection as well.
    World::new(medium(true)).run(&mut planner, &[64 << 10], 100.0 * MS);
    let again = peers.meet("b", &mut medium_of_b).unwrap();
    assert_eq!(medium_of_b.spent, spent);
    assert_eq!(again.ranges().at(64 << 10).plan, Plan::SingleCopy);
    // Another peer is another medium.
    let other = peers.meet("c", &mut Simulated::new(medium(false))).unwrap();
    assert_ne!(other.ranges().at(64 << 10).plan, Plan::SingleCopy);
}

#[test]
fn not_more_peers_are_remembered_than_allowed() {
    let peers = Peers::new(Grid { packets: vec![4096], slots: vec![4], ..grid() });
    for peer in 0..=PIPELINE_PEERS_MAX {
        peers.meet(&peer.to_string(), &mut Simulated::new(medium(false))).unwrap();
    }
    assert!(peers.known.lock().expect("nobody panicked").len() <= PIPELINE_PEERS_MAX);
}

#[test]
fn a_flip_can_be_forced_over_any_planner() {
    let injection = Injection::default();
    let inner = Adaptive::new(grid(), medium(false));
    let mut planner = Injected { inner, injection: injection.clone() };
    let mut world = World::new(medium(false));
    world.run(&mut planner, &[1 << 20], 100.0 * MS);
    assert_eq!(planner.inner.switches(), 0);
    injection.set(3.0, 1.0);
    world.run(&mut planner, &[1 << 20], 100.0 * MS);
    assert_eq!(planner.inner.ranges().at(1 << 20).plan, Plan::SingleCopy);
    injection.set(1.0, 1.0);
    world.run(&mut planner, &[1 << 20], 100.0 * MS);
    assert_ne!(planner.inner.ranges().at(1 << 20).plan, Plan::SingleCopy);
}
