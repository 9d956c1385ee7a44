//! `bench fabric`: messages between two processors of a node, and over TCP on loopback.
//!
//! In each round every case is measured once at every side, one after the other: ours, the limit
//! (what the medium does bare) and the peers, UCX in each of its settings. Every side is a pair of
//! processes, one on each of two processors. Medians over the rounds are compared; UCX counts once
//! with the setting that was best for the case, and once as it comes.
//!
//! How far the processors are from each other changes by itself, several times a second: a flag
//! takes some 50 ns ("near") or some 200 ns ("far"). So a flag is timed before and after each
//! sample, and where the processors were not near at both times the sample is taken again, some
//! times at most; so like is compared with like. What happens when the medium changes is a case of
//! its own (`planner.rs`).
//!
//! That an empty adapter adds no instruction is no matter of time: `crates/fabric/tests` has it.

mod death;
mod duel;
mod half;
mod ours;
mod peers;
mod place;
mod planner;
mod raw;
mod sys;
mod trials;

use crate::report::{Better, Case, Report, Samples};
use anyhow::{Context, Result, ensure};
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::time::Instant;
use trials::{How, Side, Trial};

pub use half::{HALF, run as half};

/// Rounds of a run, and of a quick one.
const ROUNDS: usize = 7;
const QUICK: usize = 2;

/// Nanoseconds that a flag takes at most between processors that are near.
const NEAR: f64 = 100.0;

/// What came of a trial.
#[derive(Default)]
struct Found {
    ours: Samples,
    sides: Vec<Samples>,
    /// The flag's way beside each sample, the longer one of before and after.
    flags: Samples,
}

/// One sample, told to who watches.
fn sample<R: Debug>(
    trial: &Trial,
    side: &str,
    flags: &mut Samples,
    measure: impl Fn() -> Result<R>,
) -> Result<R> {
    for attempt in 1.. {
        let (before, start) = (raw::sentinel()?, Instant::now());
        let figure = measure().with_context(|| format!("{}: {side}", trial.case))?;
        let seconds = start.elapsed().as_secs_f64();
        let flag = before.max(raw::sentinel()?);
        eprintln!("{seconds:6.2} s  flag {flag:4.0} ns  {}: {side}: {figure:.4?}", trial.case);
        if flag <= NEAR || attempt == trial.tries {
            flags.0.push(flag);
            return Ok(figure);
        }
    }
    unreachable!("tries are at least one")
}

impl Found {
    fn measure(&mut self, trial: &Trial, ours_first: bool) -> Result<()> {
        let Found { ours, sides, flags } = self;
        match &trial.how {
            How::Together(_, _, measure) => {
                let both = sample(trial, "both", flags, measure)?;
                ensure!(both.len() == 2, "{}: not two figures: {both:?}", trial.case);
                sides.resize_with(1, Samples::default);
                ours.0.push(both[0]);
                sides[0].0.push(both[1]);
            }
            How::Apart(mine, others) => {
                sides.resize_with(others.len(), Samples::default);
                if ours_first {
                    ours.0.push(sample(trial, "ours", flags, mine)?);
                }
                for (side, samples) in others.iter().zip(sides) {
                    samples.0.push(sample(trial, &side.name, flags, &side.measure)?);
                }
                if !ours_first {
                    ours.0.push(sample(trial, "ours", flags, mine)?);
                }
            }
        }
        Ok(())
    }

    /// A row for each side of a case; of sides with one name, the best.
    fn rows(&self, trial: &Trial) -> Vec<Case> {
        let case = |name: &str, limit: f64, samples: &Samples| Case {
            case: trial.case.clone(),
            unit: trial.unit,
            better: trial.better,
            ours: self.ours.clone(),
            peer: samples.clone(),
            peer_name: name.to_owned(),
            limit,
        };
        let others = match &trial.how {
            How::Together(name, limit, _) => return vec![case(name, *limit, &self.sides[0])],
            How::Apart(_, others) => others,
        };
        let mut best: BTreeMap<&str, (&Side, &Samples)> = BTreeMap::new();
        for (side, samples) in others.iter().zip(&self.sides) {
            let is_better = |other: &Samples| match trial.better {
                Better::Higher => samples.median() > other.median(),
                Better::Lower => samples.median() < other.median(),
            };
            let here = best.entry(&side.name).or_insert((side, samples));
            if is_better(here.1) {
                *here = (side, samples);
            }
        }
        best.into_values().map(|(side, found)| case(&side.name, side.limit, found)).collect()
    }

    fn note(&self, trial: &Trial) -> String {
        let flags = &self.flags;
        let (low, high) = (flags.quantile(0.0), flags.quantile(1.0));
        format!("flag {:4.0} ns ({low:.0} to {high:.0})  {}", flags.median(), trial.case)
    }
}

/// The benchmark; of the cases only those whose names contain a text, if one is given.
pub fn run(quick: bool, only: Option<&str>) -> Result<Report> {
    let mut trials = trials::all(quick);
    trials.retain(|trial| only.is_none_or(|text| trial.case.contains(text)));
    ensure!(!trials.is_empty(), "no case contains {:?}", only.unwrap_or_default());
    let mut found: Vec<Found> = Vec::new();
    found.resize_with(trials.len(), Found::default);
    let rounds = if quick { QUICK } else { ROUNDS };
    for round in 0..rounds {
        eprintln!("round {} of {rounds}", round + 1);
        for (trial, found) in trials.iter().zip(&mut found) {
            if round < trial.rounds {
                found.measure(trial, round % 2 == 0)?;
            }
        }
    }
    let mut notes = vec![
        format!("{rounds} rounds; two processes on two processors, unless a case says else"),
        "a flag from one processor to the other, median (range) beside each case:".to_owned(),
    ];
    notes.extend(trials.iter().zip(&found).map(|(trial, found)| found.note(trial)));
    let cases = trials.iter().zip(&found).flat_map(|(trial, found)| found.rows(trial)).collect();
    Ok(Report { bench: "fabric", notes, cases })
}
