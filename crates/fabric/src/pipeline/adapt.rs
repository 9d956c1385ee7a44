//! The planner that adapts itself to a medium which changes.
//!
//! A medium has *states*: two cores may be near one day and far the next, and then other plans are
//! the best. [`Adaptive`] keeps what it knows of a few states, each with its table of the best
//! plans, and answers out of the table of the one it takes for the present one.
//!
//! Some messages are *sampled*: one in 256, or one in 2 ms where messages are long (1 MB messages
//! would else be looked at four times in 100 ms). What a sample took is compared with what was
//! predicted:
//!
//! * within 1.3 times: the prediction is moved an eighth of the way;
//! * more: a *doubt*. While there is one, every message is sampled. After three in a row that
//!   agree, the state is another one that explains them (a *switch*), or a new one is made of it
//!   (a *refit*). A sample that fits clears the doubt, so a single slow message changes nothing.
//! * more than 8 times as long: the peer was not there, and nothing is learned of the medium.
//!
//! Where the ring is used nothing would be heard of the single copy, and the reverse: the far state
//! leaves the single copy as it was, so its end would never be noticed. So some samples *try* the
//! other method. That is paid from a credit of 3 % of the time that messages take.
//!
//! Within the ring the model's best plan is compared with its neighbours (`tune.rs`), when a range
//! of lengths is used first and now and then; that is not paid from the credit, as neighbours cost
//! nearly the same. All messages of a range that is tuned are samples, but for those of streams.
//!
//! Messages of a *stream*, which nobody answers, have a plan of their own in the table: for them
//! counts what goes by in a time. Samples go on as for messages by themselves, in between. What
//! these take is no measure for a stream through the ring: that is predicted by the model as it was
//! fitted, unless samples say that the medium is another one now.
//!
//! The methods leave bytes in other caches, which the next message finds there: one of 64 KB that
//! takes 3 us through the ring takes 9 after a single copy, and the next one 5. So the first ones
//! after a change of the method are no samples, and one that is to be a sample waits for them. A
//! method that is tried goes on for as long as each of its messages takes less than the one before.

use super::calibrate::{CONTACT, Medium, calibrate};
use super::choice::{Grid, RANGES, Range, Ranges, Tuned, is_ring, range_of};
use super::costs::{Costs, Predict};
use super::plan::{Plan, Planner};
use super::tune::Tuner;
use muster_base::limits::PIPELINE_PEERS_MAX;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// One message in so many is sampled,
const EVERY: u32 = 256;
/// and at least one in so many nanoseconds of messages.
const EVERY_TIME: f64 = 2e6;
/// After that many nanoseconds it is one of the next so many, whichever falls out: else messages
/// of two lengths in turn would show the same one every time.
const NEXT: u32 = 8;
/// What is no drift.
const DRIFT: f64 = 1.3;
/// A model that is off by more was fitted to another medium: it has changed since. By less it is
/// off for messages by themselves, which says nothing of streams.
const WRONG: f64 = 2.5;
/// What no medium does.
const ABSENT: f64 = 8.0;
/// So many samples in a row change the state.
const AGREE: u32 = 3;
/// So many messages are sampled to settle a doubt; then it waits for the next regular sample.
const BURST: u32 = 16;
/// The share of the time for trying the other method.
const TRIAL: f64 = 0.03;
/// The most credit, nanoseconds, unless one message takes longer. A planner begins with that much,
/// as first contact does not know what programs leave in the caches.
const CREDIT: f64 = 1e6;
/// A try whose messages take so much less each than the one before has not settled yet,
const FALLING: f64 = 0.95;
/// unless it has taken so many.
const FALLS: u32 = 6;
/// A table is made anew when a prediction has moved so far since.
const STALE: f64 = 1.08;
/// Known states.
const STATES: usize = 4;
/// A range is tuned anew after so many of its messages,
const TUNED: u32 = 1 << 14;
/// and after so many where that was given up:
const GIVEN_UP: u32 = 1 << 10;
/// because so many messages were others,
const AWAY: u32 = 256;
/// or nothing was told of so many of its samples, or only that the peer was not there.
const MISSED: u32 = 8;

/// After a change of the method so many messages are no samples,
const SETTLE: u32 = 3;
/// or as many as have this part of a second-level cache: more is in none when the next one comes.
const SETTLE_PART: usize = 2;

/// The short path, the pipeline, the single copy: each has errors of its own in the model,
const METHODS: usize = 3;
/// for lengths that are alike: up to 1 KB, 8 KB, 64 KB, 512 KB, 4 MB, more.
const CLASSES: usize = 6;

fn method_of(plan: Plan) -> usize {
    match plan {
        Plan::Short => 0,
        Plan::Pipelined { .. } => 1,
        Plan::SingleCopy => 2,
    }
}

fn class_of(bytes: usize) -> usize {
    let power = bytes.max(2) - 1;
    ((power.ilog2().saturating_sub(7)) as usize / 3).min(CLASSES - 1)
}

/// Whether a sample tells anything, and not only that the peer was not there.
fn is_told(log: f64) -> bool {
    log.is_finite() && log <= ABSENT.ln()
}

/// How far the model is off, for one method and one class of lengths.
#[derive(Clone, Copy, Debug)]
struct Cell {
    /// The logarithm of observed by modelled.
    log: f64,
    /// What the table was made with.
    tabled: f64,
    /// Whether it was ever observed in this state.
    seen: bool,
}

/// The fitted model and what observations made of it.
#[derive(Clone, Debug)]
struct Corrected {
    costs: Costs,
    cells: [[Cell; CLASSES]; METHODS],
}

impl Predict for Corrected {
    fn depth(&self) -> usize {
        self.costs.depth()
    }

    fn time(&self, plan: Plan, bytes: usize) -> f64 {
        let cell = &self.cells[method_of(plan)][class_of(bytes)];
        self.costs.time(plan, bytes) * cell.log.exp()
    }

    fn streamed(&self, plan: Plan, bytes: usize) -> f64 {
        match plan {
            // Each is one by itself.
            Plan::SingleCopy => self.time(plan, bytes),
            plan => {
                let log = self.cells[method_of(plan)][class_of(bytes)].log;
                let other = if log.abs() > WRONG.ln() { log } else { 0.0 };
                self.costs.streamed(plan, bytes) * other.exp()
            }
        }
    }

    fn cache(&self) -> usize {
        self.costs.cache
    }
}

/// A state of the medium.
#[derive(Clone, Debug)]
struct State {
    model: Corrected,
    ranges: Arc<Ranges>,
    /// The pipelined plans that were found to be the best of their ranges (`tune.rs`),
    tuned: [Option<Tuned>; RANGES],
    /// and how many messages of a range go by until they are looked for.
    due: [u32; RANGES],
    /// When it was last the present one, in switches.
    used: u64,
}

impl State {
    fn new(grid: &Grid, costs: Costs) -> State {
        let cell = Cell { log: 0.0, tabled: 0.0, seen: false };
        let model = Corrected { costs, cells: [[cell; CLASSES]; METHODS] };
        let ranges = Arc::new(Ranges::new(grid, &model));
        State { model, ranges, tuned: [None; RANGES], due: [0; RANGES], used: 0 }
    }

    fn table(&mut self, grid: &Grid) {
        self.ranges = Arc::new(Ranges::tuned(grid, &self.model, &self.tuned));
        self.model.cells.iter_mut().flatten().for_each(|cell| cell.tabled = cell.log);
    }

    /// A sample fits: follow it slowly.
    fn follow(&mut self, method: usize, class: usize, log: f64, grid: &Grid) {
        let cell = &mut self.model.cells[method][class];
        // The first one is worth more than the model.
        cell.log += if cell.seen { log / 8.0 } else { log };
        cell.seen = true;
        if (cell.log - cell.tabled).abs() > STALE.ln() {
            self.table(grid);
        }
    }

    /// The model is wrong for a class that was not observed before: correct it there, and where
    /// nothing is known beside it.
    fn correct(&mut self, method: usize, class: usize, log: f64, grid: &Grid) {
        let cells = &mut self.model.cells[method];
        let (below, rest) = cells.split_at_mut(class);
        let (cell, above) = rest.split_first_mut().expect("class is one of them");
        cell.log += log;
        cell.seen = true;
        below.iter_mut().rev().take_while(|cell| !cell.seen).for_each(|cell| cell.log += log);
        above.iter_mut().take_while(|cell| !cell.seen).for_each(|cell| cell.log += log);
        self.table(grid);
    }

    /// The state that this one has become: all of the method's family is as much slower or faster.
    fn become_other(&self, method: usize, class: usize, log: f64, grid: &Grid) -> State {
        let mut state = self.clone();
        let is_same = |other: usize| (other == 2) == (method == 2);
        for (other, cells) in state.model.cells.iter_mut().enumerate() {
            for cell in cells.iter_mut().filter(|_| is_same(other)) {
                cell.log += log;
                cell.seen = false;
            }
        }
        state.model.cells[method][class].seen = true;
        state.due = [0; RANGES];
        state.table(grid);
        state
    }
}

/// Samples that did not fit, of one method and class.
#[derive(Clone, Copy, Debug, Default)]
struct Doubt {
    count: u32,
    /// The least of them: what else delays a message only adds to it.
    log: f64,
}

/// What is known of the way to a peer.
#[derive(Clone, Debug)]
struct Known {
    states: Vec<State>,
    present: usize,
}

/// Peers that were met before: who comes again is not calibrated again.
#[derive(Debug)]
pub struct Peers {
    grid: Grid,
    known: Mutex<HashMap<String, Known>>,
}

impl Peers {
    /// Nobody was met; `grid` is what the transport can do.
    pub fn new(grid: Grid) -> Arc<Peers> {
        Arc::new(Peers { grid, known: Mutex::default() })
    }

    /// A planner for a peer. At first contact `medium` is measured; later it is not touched. None,
    /// and nothing is remembered, where the peer took no part.
    pub fn meet(self: &Arc<Self>, peer: &str, medium: &mut dyn Medium) -> Option<Adaptive> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner).get(peer).cloned();
        let known = match known {
            Some(known) => known,
            None => {
                let costs = calibrate(medium, CONTACT);
                if medium.is_absent() {
                    return None;
                }
                let known = Known { states: vec![State::new(&self.grid, costs)], present: 0 };
                self.remember(peer, &known);
                known
            }
        };
        let (grid, home) = (self.grid.clone(), Some((self.clone(), peer.to_owned())));
        Some(Adaptive { home, ..Adaptive::of(grid, known) })
    }

    /// Whether a peer was met.
    pub fn knows(&self, peer: &str) -> bool {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).contains_key(peer)
    }

    fn remember(&self, peer: &str, known: &Known) {
        let mut all = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= PIPELINE_PEERS_MAX && !all.contains_key(peer) {
            // To be met anew costs each of them less than 2 ms.
            all.clear();
        }
        all.insert(peer.to_owned(), known.clone());
    }
}

/// The planner for one peer.
#[derive(Debug)]
pub struct Adaptive {
    grid: Grid,
    known: Known,
    home: Option<(Arc<Peers>, String)>,
    doubts: [[Doubt; CLASSES]; METHODS],
    /// Messages until the next sample is due.
    countdown: u32,
    /// Nanoseconds of messages until then.
    time_left: f64,
    /// A sequence that no program's messages follow.
    dice: u32,
    /// Messages that are still sampled because of a doubt.
    burst: u32,
    /// Whether the last message is a sample.
    sampling: bool,
    /// Whether the other method was tried, and no sample was taken of this one since.
    tried: bool,
    /// Whether the last message tries it.
    trying: bool,
    /// The try that has not settled yet.
    falling: Option<Falling>,
    /// Whether the last message went through the ring.
    was_ring: bool,
    /// Whether it went as one of a stream, through another part of the ring.
    was_flowing: bool,
    /// Messages until the caches are as this method leaves them.
    settling: u32,
    /// Nanoseconds that may be spent on trying.
    credit: f64,
    switches: u64,
    tuning: Option<Tuning>,
}

/// A try of the other method that goes on.
#[derive(Clone, Copy, Debug)]
struct Falling {
    /// Its last message,
    bytes: usize,
    plan: Plan,
    /// and the logarithm of what the last message took by what was predicted.
    log: f64,
    /// So many more at most.
    left: u32,
}

/// What is tuned at present.
#[derive(Debug)]
struct Tuning {
    range: usize,
    tuner: Tuner,
    /// The plan that it began with: lengths of a range differ, so times are told by what the model
    /// says of this one.
    first: Plan,
    /// Other messages since the last one of this.
    away: u32,
    /// The last message is a sample of it.
    sampling: bool,
    /// Samples in a row that told nothing.
    missed: u32,
}

impl Adaptive {
    /// A planner for a medium with these costs, which nobody else is to know of.
    pub fn new(grid: Grid, costs: Costs) -> Adaptive {
        let states = vec![State::new(&grid, costs)];
        Adaptive::of(grid, Known { states, present: 0 })
    }

    fn of(grid: Grid, known: Known) -> Adaptive {
        Adaptive {
            grid,
            known,
            home: None,
            doubts: Default::default(),
            countdown: EVERY,
            time_left: EVERY_TIME,
            dice: 1,
            burst: 0,
            sampling: false,
            tried: false,
            trying: false,
            falling: None,
            was_ring: true,
            was_flowing: false,
            settling: 0,
            credit: CREDIT,
            switches: 0,
            tuning: None,
        }
    }

    /// How often the state has changed.
    pub fn switches(&self) -> u64 {
        self.switches
    }

    /// Nanoseconds predicted for a message, as observations have corrected the model.
    pub fn predict(&self, plan: Plan, bytes: usize) -> f64 {
        self.state().model.time(self.like(plan, bytes), bytes)
    }

    /// The best plans at present.
    pub fn ranges(&self) -> &Ranges {
        &self.state().ranges
    }

    /// The plan whose prediction is that of a plan: a tuned one's is the model's.
    fn like(&self, plan: Plan, bytes: usize) -> Plan {
        let range = range_of(bytes);
        let tuning = self.tuning.as_ref().filter(|tuning| tuning.range == range);
        match (tuning, self.state().tuned[range]) {
            (Some(tuning), _) if plan == tuning.tuner.best() => tuning.first,
            (_, Some(tuned)) if plan == tuned.plan => tuned.like,
            _ => plan,
        }
    }

    fn state(&self) -> &State {
        &self.known.states[self.known.present]
    }

    /// How many messages after a change of the method are no samples.
    fn settles(&self, bytes: usize) -> u32 {
        SETTLE.min((self.state().model.costs.cache / SETTLE_PART / bytes.max(1)) as u32)
    }

    fn state_mut(&mut self) -> &mut State {
        &mut self.known.states[self.known.present]
    }

    /// A message that is to be sampled: by the best plan, or by the other method's.
    fn sampled(&mut self, range: Range, bytes: usize) -> Plan {
        let extra = (range.other_time - range.time).max(0.0);
        let is_other = if self.burst > 0 {
            self.trying = false;
            self.doubts[method_of(range.other)][class_of(bytes)].count > 0
        } else if self.settling > 0 {
            is_ring(range.plan) != self.was_ring && extra <= self.credit
        } else if self.falling.is_some() {
            self.trying = true;
            true
        } else {
            self.trying = !self.tried && extra * f64::from(1 + self.settles(bytes)) <= self.credit;
            self.tried |= self.trying;
            self.trying
        };
        if !is_other {
            self.trying = false;
            return range.plan;
        }
        self.credit -= extra;
        range.other
    }

    /// How a message goes whose range is being tuned, or is due: by the plan in use, or another.
    fn tune(&mut self, bytes: usize, plan: Plan) -> Plan {
        let range = range_of(bytes);
        let due = &mut self.state_mut().due[range];
        *due = due.saturating_sub(1);
        let is_due = *due == 0;
        if self.tuning.is_none() && is_due {
            let like = self.state().tuned[range].map_or(plan, |tuned| tuned.like);
            let tuner = Tuner::new(plan, self.settles(bytes));
            let (away, sampling, missed) = Default::default();
            self.tuning = Some(Tuning { range, tuner, first: like, away, sampling, missed });
        }
        let depth = self.state().model.depth();
        let Some(tuning) = self.tuning.as_mut().filter(|tuning| tuning.range == range) else {
            return plan;
        };
        tuning.away = 0;
        match tuning.tuner.plan(&self.grid, depth) {
            Some((tried, is_sampled)) => {
                tuning.sampling = is_sampled;
                tried
            }
            None => self.end_tuning(TUNED).unwrap_or(plan),
        }
    }

    /// Another message than those that are tuned, or nothing was told of the last of these.
    fn interrupt(&mut self, bytes: usize) {
        let settles = self.settles(bytes);
        let Some(tuning) = &mut self.tuning else { return };
        tuning.missed += u32::from(std::mem::take(&mut tuning.sampling));
        tuning.away += 1;
        tuning.tuner.settle(settles);
        if tuning.away > AWAY || tuning.missed >= MISSED {
            self.end_tuning(GIVEN_UP);
        }
    }

    /// Tunes no more, for so many messages of the range: the best plan so far.
    fn end_tuning(&mut self, due: u32) -> Option<Plan> {
        let Tuning { range, tuner, first, .. } = self.tuning.take()?;
        let grid = self.grid.clone();
        let state = self.state_mut();
        let before = state.tuned[range].map_or(first, |tuned| tuned.plan);
        let plan = tuner.best();
        let is_new = state.tuned[range].is_none();
        state.due[range] = due;
        // What was given up has found nothing that the model may not change.
        if plan != before || due == TUNED {
            state.tuned[range] = Some(Tuned { plan, like: first });
        }
        // To make a table takes as long as a hundred messages.
        if plan != before {
            state.table(&grid);
        }
        if is_new || plan != before {
            self.remember();
        }
        Some(plan)
    }

    /// Samples agree that this is not the present state: `log` is what they took by what was
    /// predicted.
    fn change(&mut self, bytes: usize, plan: Plan, log: f64) {
        let (method, class) = (method_of(plan), class_of(bytes));
        self.doubts = Default::default();
        self.burst = 0;
        self.tuning = None;
        let grid = self.grid.clone();
        if !self.state().model.cells[method][class].seen {
            self.state_mut().correct(method, class, log, &grid);
        } else {
            let took = self.predict(plan, bytes).ln() + log;
            let next = match self.explains(plan, bytes, took) {
                Some(index) => index,
                None => self.add(self.state().become_other(method, class, log, &grid)),
            };
            self.switches += 1;
            let now = self.switches;
            self.state_mut().used = now;
            self.known.present = next;
            self.state_mut().used = now;
        }
        self.remember();
    }

    /// The known state that explains best that a message took so long (its logarithm), and what is
    /// known of the other method at present: two that change do not change at once, and a state
    /// that is right about one of them only would be left again at the next sample of the other.
    fn explains(&self, plan: Plan, bytes: usize, took: f64) -> Option<usize> {
        let Range { plan: best, other, .. } = self.state().ranges.at(bytes);
        let other = if is_ring(best) == is_ring(plan) { other } else { best };
        let cell = &self.state().model.cells[method_of(other)][class_of(bytes)];
        let present = self.predict(other, bytes).ln();
        let off = |state: &State| (took - state.model.time(plan, bytes).ln()).abs();
        let is_like = |state: &State| {
            let apart = (present - state.model.time(other, bytes).ln()).abs();
            let theirs = &state.model.cells[method_of(other)][class_of(bytes)];
            off(state) <= DRIFT.ln() && (!cell.seen || !theirs.seen || apart <= DRIFT.ln())
        };
        let known = self.known.states.iter().enumerate().filter(|(_, state)| is_like(state));
        known.min_by(|a, b| off(a.1).total_cmp(&off(b.1))).map(|(index, _)| index)
    }

    /// Has those who connect to the same peer know as much.
    fn remember(&self) {
        if let Some((peers, peer)) = &self.home {
            peers.remember(peer, &self.known);
        }
    }

    /// A new state, in place of the one that was not used for the longest time.
    fn add(&mut self, state: State) -> usize {
        if self.known.states.len() < STATES {
            self.known.states.push(state);
            return self.known.states.len() - 1;
        }
        let present = self.known.present;
        let others = (0..STATES).filter(|&index| index != present);
        let oldest = others.min_by_key(|&index| self.known.states[index].used).unwrap_or(0);
        self.known.states[oldest] = state;
        oldest
    }

    /// What a sample says; none for a try that goes on, as it took less than the one before.
    fn settled(&mut self, (bytes, plan): (usize, Plan), is_try: bool, log: f64) -> Option<f64> {
        let falling = self.falling.take();
        if !is_try {
            return Some(log);
        }
        let (before, left) = falling.map_or((f64::INFINITY, FALLS), |one| (one.log, one.left));
        if left > 0 && log < before + FALLING.ln() {
            self.falling = Some(Falling { bytes, plan, log, left: left - 1 });
            return None;
        }
        Some(log.min(before))
    }

    /// Learns from a sample: the logarithm of what it took by what was predicted.
    fn learn(&mut self, bytes: usize, plan: Plan, log: f64) {
        let (method, class) = (method_of(plan), class_of(bytes));
        let doubt = &mut self.doubts[method][class];
        if log.abs() <= DRIFT.ln() {
            *doubt = Doubt::default();
            let grid = self.grid.clone();
            return self.state_mut().follow(method, class, log, &grid);
        }
        if !is_told(log) {
            return;
        }
        if doubt.count == 0 || doubt.log.signum() != log.signum() {
            *doubt = Doubt { count: 1, log };
            self.burst = BURST;
            return;
        }
        doubt.count += 1;
        doubt.log = doubt.log.min(log);
        let Doubt { count, log } = *doubt;
        if count >= AGREE {
            self.change(bytes, plan, log);
        }
    }

    /// How a message goes, by itself or as one of a stream.
    fn choose(&mut self, bytes: usize, is_stream: bool) -> Plan {
        if self.tuning.as_ref().is_some_and(|tuning| tuning.sampling) {
            self.interrupt(bytes);
        }
        // A try ends with its messages, and where its method is the one in use.
        let other = self.state().ranges.at(bytes).other;
        let is_over = |one: &mut Falling| {
            range_of(one.bytes) != range_of(bytes) || is_ring(one.plan) != is_ring(other)
        };
        if let Some(Falling { bytes, plan, log, .. }) = self.falling.take_if(is_over) {
            self.learn(bytes, plan, log);
        }
        let range = self.state().ranges.at(bytes);
        self.time_left -= range.time;
        self.credit = (self.credit + TRIAL * range.time)
            .min(CREDIT.max(2.0 * f64::from(1 + self.settles(bytes)) * range.time));
        self.countdown = self.countdown.saturating_sub(1);
        if self.time_left <= 0.0 {
            self.dice = self.dice.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            self.countdown = self.countdown.min((self.dice >> 16) % NEXT);
            self.time_left = f64::INFINITY;
        }
        let is_due = self.burst > 0 || self.countdown == 0;
        let plan = match (is_due, is_stream) {
            (true, _) => self.sampled(range, bytes),
            (false, true) => range.stream,
            (false, false) => range.plan,
        };
        let is_flowing = is_stream && !is_due;
        let is_same = (is_ring(plan), is_flowing) == (self.was_ring, self.was_flowing);
        self.settling = if is_same { self.settling.saturating_sub(1) } else { self.settles(bytes) };
        (self.was_ring, self.was_flowing) = (is_ring(plan), is_flowing);
        self.sampling = is_due && self.settling == 0;
        let is_tuned = self.tuning.as_ref().is_none_or(|tuning| tuning.range == range_of(bytes));
        let is_open = !is_due && !is_stream && self.settling == 0 && is_tuned;
        if is_open && matches!(plan, Plan::Pipelined { .. }) {
            return self.tune(bytes, plan);
        }
        self.interrupt(bytes);
        plan
    }
}

impl Planner for Adaptive {
    fn plan(&mut self, bytes: usize) -> Plan {
        self.choose(bytes, false)
    }

    fn stream(&mut self, bytes: usize) -> Plan {
        self.choose(bytes, true)
    }

    fn is_sampling(&mut self) -> bool {
        if self.sampling {
            self.burst = self.burst.saturating_sub(1);
            self.countdown = EVERY;
            self.time_left = EVERY_TIME;
            // A sample of what is done anyway, then one of the other method.
            self.tried &= self.trying;
        }
        let is_tuning = self.tuning.as_ref().is_some_and(|tuning| tuning.sampling);
        std::mem::take(&mut self.sampling) || is_tuning
    }

    fn observe(&mut self, bytes: usize, plan: Plan, time: Duration) {
        let like = self.like(plan, bytes);
        let log = (time.as_nanos() as f64 / self.predict(plan, bytes)).ln();
        let settles = self.settles(bytes);
        let is_meant = |tuning: &&mut Tuning| tuning.sampling && is_told(log);
        if let Some(tuning) = self.tuning.as_mut().filter(is_meant) {
            (tuning.sampling, tuning.missed) = (false, 0);
            let best = tuning.tuner.best();
            let costs = &self.known.states[self.known.present].model.costs;
            let expected = costs.time(tuning.first, bytes);
            tuning.tuner.observe(time.as_nanos() as f64 / expected, settles);
            if plan != best {
                return;
            }
        }
        let is_try = std::mem::take(&mut self.trying);
        match self.settled((bytes, like), is_try, log) {
            Some(log) => self.learn(bytes, like, log),
            None => self.countdown = 0,
        }
    }
}

#[cfg(test)]
mod tests;
