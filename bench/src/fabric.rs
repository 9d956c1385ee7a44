//! `bench fabric`: messages between two processors of a node, and over TCP on loopback.
//!
//! In each round every case is measured once at every side, one after the other: ours, the limit
//! (what the medium does bare) and the peers, UCX in each of its settings. Every side is a pair of
//! processes, one on each of two processors. UCX counts once
//! with the setting that was best for the case, and once as it comes.
//!
//! How far the processors are from each other changes by itself, several times a second: a flag
//! takes some 40 or 50 ns ("near") or some 200 ns ("far"), and copies change with it. So samples
//! are taken in pairs, one of ours beside one of each side, with a flag before, between and after;
//! where it says that the processors were not near, or moved, the pair is taken again, some times
//! at most. Ratios are medians of the pairs'. What happens when the medium changes is a case of
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

use crate::report::{Case, Report, Samples};
use anyhow::{Context, Result, ensure};
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};
use trials::Trial;

pub use half::{HALF, run as half};

/// Rounds of a run, and of a quick one; and for how long it takes samples again.
const RUN: (usize, Duration) = (5, Duration::from_secs(300));
const QUICK: (usize, Duration) = (1, Duration::from_secs(10));

/// Nanoseconds that a flag takes at most between processors that are near.
const NEAR: f64 = 100.0;

/// How often a pair of samples is taken at most until they are, and how long is waited for it.
const TRIES: usize = 5;
const UNTIL_NEAR: Duration = Duration::from_millis(300);

/// By how much a flag's way differs at most while nothing has changed.
const STEADY: f64 = 1.3;

/// What came of a trial: for each side our samples, and its, taken in turn.
#[derive(Default)]
struct Found {
    sides: Vec<(Samples, Samples)>,
    /// The flag's way beside each pair of samples.
    flags: Samples,
    /// What peers said that had no figure to give in a round.
    failures: Vec<String>,
    /// Those of them that are not there.
    missing: BTreeSet<String>,
}

/// A flag's way from one processor to the other, once they are near each other, or will not be.
///
/// # Errors
/// Where there is no shared memory.
pub fn flag() -> Result<f64> {
    flag_within(TRIES)
}

fn flag_within(tries: usize) -> Result<f64> {
    let start = Instant::now();
    loop {
        let flag = raw::sentinel()?;
        if flag <= NEAR || tries == 1 || start.elapsed() > UNTIL_NEAR {
            return Ok(flag);
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Two samples beside each other, and the longest flag of those about them. The pair is taken again
/// until that was short and the same all the time.
fn beside(tries: usize, both: [&dyn Fn() -> Result<f64>; 2]) -> Result<([f64; 2], f64)> {
    let mut left = tries;
    loop {
        let before = flag_within(tries)?;
        let first = both[0]()?;
        let between = raw::sentinel()?;
        let second = both[1]()?;
        let flags = [before, between, raw::sentinel()?];
        let [least, most] = [f64::min, f64::max].map(|of| flags.into_iter().fold(before, of));
        left -= 1;
        if left == 0 || most <= NEAR.min(STEADY * least) {
            return Ok(([first, second], most));
        }
    }
}

impl Found {
    /// A round: each side with ours beside it, and a line for who watches.
    fn measure(&mut self, trial: &Trial, ours_first: bool, is_over: bool) -> Result<()> {
        self.sides.resize_with(trial.sides.len(), Default::default);
        let tries = if is_over || !trial.wants_near { 1 } else { TRIES };
        let once = Cell::new(None);
        let mine = || {
            let found = match once.get().filter(|_| trial.ours_once) {
                Some(found) => found,
                None => (trial.ours)().with_context(|| format!("{}: ours", trial.case))?,
            };
            once.set(Some(found));
            Ok(found)
        };
        for (side, (ours, theirs)) in trial.sides.iter().zip(&mut self.sides) {
            let name = format!("{} {}", side.name, side.how).trim_end().to_owned();
            let has_failed = Cell::new(false);
            let its = || {
                let found = (side.measure)().with_context(|| format!("{}: {name}", trial.case));
                found.inspect_err(|_| has_failed.set(true))
            };
            let start = Instant::now();
            let both: [&dyn Fn() -> Result<f64>; 2] =
                if ours_first { [&mine, &its] } else { [&its, &mine] };
            let ([first, second], flag) = match beside(tries, both) {
                Err(error) if has_failed.get() => {
                    // A peer that hangs costs its own figure only.
                    let failure = format!("no figure: {error:#}");
                    let cause = error.root_cause().to_string();
                    self.missing.extend(cause.ends_with(peers::HOW_TO_GET).then_some(cause));
                    eprintln!("{failure}");
                    if !self.failures.contains(&failure) {
                        self.failures.push(failure);
                    }
                    continue;
                }
                found => found?,
            };
            let (mine, its) = if ours_first { (first, second) } else { (second, first) };
            let (seconds, case) = (start.elapsed().as_secs_f64(), &trial.case);
            let figures = format!("{mine:.4} {}, {its:.4} {name}", trial.unit);
            eprintln!("{seconds:6.2} s  flag {flag:4.0} ns  {case}: {figures}");
            ours.0.push(mine);
            theirs.0.push(its);
            self.flags.0.push(flag);
        }
        Ok(())
    }

    /// A row for each side of a case; of sides with one name, the one that is best beside ours.
    fn rows(&self, trial: &Trial) -> Vec<Case> {
        let mut rows: BTreeMap<&str, Case> = BTreeMap::new();
        for (side, (ours, theirs)) in trial.sides.iter().zip(&self.sides) {
            let row = Case {
                case: trial.case.clone(),
                unit: trial.unit,
                better: trial.better,
                ours: ours.clone(),
                peer: theirs.clone(),
                peer_name: side.name.to_owned(),
                limit: side.limit,
                in_pairs: true,
            };
            // Who never had a figure has none to be beaten, and a row only if nobody had one.
            let is_best = |other: &Case| row.ratio() < other.ratio() || other.ratio().is_nan();
            let is_best = rows.get(side.name).is_none_or(is_best);
            if is_best {
                rows.insert(side.name, row);
            }
        }
        rows.into_values().collect()
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
    let ((rounds, again), start) = (if quick { QUICK } else { RUN }, Instant::now());
    for round in 0..rounds {
        eprintln!("round {} of {rounds}", round + 1);
        for (trial, found) in trials.iter().zip(&mut found) {
            if round < trial.rounds {
                let ours_first = round % 2 == 0 || trial.ours_once;
                found.measure(trial, ours_first, start.elapsed() > again)?;
            }
        }
    }
    let mut notes = vec![
        format!(
            "{rounds} rounds; two processes on processors {} and {}, unless a case says else",
            place::processors()[0],
            place::processors()[1]
        ),
        "a flag from one processor to the other, median (range) beside each case:".to_owned(),
    ];
    notes.extend(trials.iter().zip(&found).map(|(trial, found)| found.note(trial)));
    notes.extend(found.iter().flat_map(|found| found.failures.iter().cloned()));
    let missing: BTreeSet<String> = found.iter().flat_map(|found| found.missing.clone()).collect();
    let missing = missing.into_iter().collect();
    let cases = trials.iter().zip(&found).flat_map(|(trial, found)| found.rows(trial)).collect();
    Ok(Report { bench: "fabric", notes, missing, cases })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Better;
    use trials::Side;

    #[test]
    fn a_peer_that_hangs_costs_its_own_figure_only() {
        let side = |name, measure: fn() -> Result<f64>| Side {
            name,
            how: String::new(),
            limit: 1.0,
            measure: Box::new(measure),
        };
        let trial = |ours: fn() -> Result<f64>| Trial {
            case: "a case".to_owned(),
            unit: "us",
            better: Better::Lower,
            rounds: 1,
            wants_near: false,
            ours_once: true,
            ours: Box::new(ours),
            sides: vec![
                side("hangs", || anyhow::bail!("no end after 20s")),
                side("runs", || Ok(2.0)),
            ],
        };
        let (mut found, good) = (Found::default(), trial(|| Ok(1.0)));
        found.measure(&good, true, true).expect("ours has a figure");
        let rows = found.rows(&good);
        let verdicts = rows.iter().map(|row| (row.peer_name.as_str(), row.ratio() >= row.limit));
        assert_eq!(verdicts.collect::<Vec<_>>(), [("hangs", false), ("runs", true)]);
        assert_eq!(found.failures, ["no figure: a case: hangs: no end after 20s"]);
        // Where ours has none there is nothing to compare.
        assert!(found.measure(&trial(|| anyhow::bail!("broken")), true, true).is_err());
    }
}
