//! `bench fabric`: messages between two processors of a node, and over TCP on loopback.
//!
//! In each round every case is measured once at every side, one after the other: ours, the limit
//! (what the medium does bare) and the peers, UCX in each of its settings. Beside each stands how
//! far the processors were from each other (they drift between "near", some 50 ns, and "far",
//! some 190 ns, by themselves). Medians over the rounds are compared; UCX counts once with the
//! setting that was best for the case, and once as it comes.

mod ours;
mod peers;
mod protected;
mod raw;
mod sys;

use crate::report::{Better, Case, Report, Samples};
use anyhow::{Context, Result};
use peers::{UCX_SHARED, Ucx};
use raw::Wait;
use std::collections::BTreeMap;
use std::time::Duration;

/// How long a stream is measured.
const STREAM: Duration = Duration::from_millis(300);

/// Pairs of processes at once, for two processors too many.
const CROWD: usize = 4;

/// How to measure once.
type Measure = Box<dyn Fn() -> Result<f64>>;

/// One side of a case.
struct Side {
    name: String,
    measure: Measure,
    /// How many times as good ours has to be; of sides with one name the best counts.
    limit: f64,
}

/// One thing that is measured.
struct Trial {
    case: String,
    unit: &'static str,
    better: Better,
    ours: Measure,
    sides: Vec<Side>,
}

impl Trial {
    fn new(
        (case, unit, better): (String, &'static str, Better),
        ours: impl Fn() -> Result<f64> + 'static,
    ) -> Trial {
        Trial { case, unit, better, ours: Box::new(ours), sides: Vec::new() }
    }

    fn than(
        mut self,
        name: &str,
        limit: f64,
        measure: impl Fn() -> Result<f64> + 'static,
    ) -> Trial {
        self.sides.push(Side { name: name.to_owned(), measure: Box::new(measure), limit });
        self
    }
}

/// Bytes as people write them.
fn bytes(size: usize) -> String {
    match size {
        1_048_576.. => format!("{} MB", size >> 20),
        1024.. => format!("{} KB", size >> 10),
        _ => format!("{size} B"),
    }
}

/// Round trips that take some tenths of a second.
fn rounds(size: usize, quick: bool) -> u64 {
    let rounds = match size {
        0..=4096 => 40_000,
        4097..=262_144 => 8_000,
        _ => 1_000,
    };
    if quick { rounds / 4 } else { rounds }
}

fn shared(size: usize, quick: bool) -> Trial {
    let rounds = rounds(size, quick);
    let raw_limit = if size <= 64 { 1.0 / 1.5 } else { 0.0 };
    let (best, default) = if size <= 4096 { (1.0, 1.0) } else { (1.15, 2.5) };
    let case = (format!("shared memory {}", bytes(size)), "us", Better::Lower);
    let mut trial = Trial::new(case, move || ours::shared(size, rounds))
        .than("raw flag and copies", raw_limit, move || raw::shared(size, rounds))
        .than("UCX as it comes", default, move || Ucx::Default.latency(size, rounds))
        .than("libfabric shm", 1.0, move || peers::libfabric("shm", size, rounds))
        .than("iceoryx2", 1.0, move || peers::iceoryx2(size, rounds));
    for setting in UCX_SHARED {
        trial = trial.than("UCX at its best", best, move || setting.latency(size, rounds));
    }
    trial
}

fn stream(size: usize, quick: bool) -> Trial {
    let rounds = rounds(size, quick) * 4;
    let case = (format!("shared memory stream {}", bytes(size)), "MB/s", Better::Higher);
    let mut trial = Trial::new(case, move || ours::shared_stream(size, STREAM)).than(
        "memcpy",
        0.0,
        move || Ok(raw::memcpy(size, STREAM)),
    );
    for setting in UCX_SHARED {
        trial = trial.than("UCX at its best", 1.3, move || setting.bandwidth(size, rounds));
    }
    trial
}

fn tcp(size: usize, quick: bool) -> Trial {
    let rounds = rounds(size, quick) / 4;
    let limit = if size <= 64 { 1.0 / 1.1 } else { 1.0 / 1.15 };
    let case = (format!("TCP {}", bytes(size)), "us", Better::Lower);
    Trial::new(case, move || ours::tcp(size, rounds))
        .than("raw TCP", limit, move || raw::tcp(size, rounds, Wait::Spin))
        .than("raw TCP", limit, move || raw::tcp(size, rounds, Wait::Block))
        .than("UCX over TCP", 1.0, move || Ucx::Tcp.latency(size, rounds))
        .than("libfabric tcp", 1.0, move || peers::libfabric("tcp", size, rounds.min(2_000)))
}

/// Many pairs at once: the mean of what they say.
fn crowd(one: impl Fn() -> Result<f64> + Send + Sync) -> Result<f64> {
    let all: Vec<Result<f64>> = std::thread::scope(|scope| {
        let pairs: Vec<_> = (0..CROWD).map(|_| scope.spawn(&one)).collect();
        pairs.into_iter().map(|pair| pair.join().expect("it does not panic")).collect()
    });
    let all = all.into_iter().collect::<Result<Vec<f64>>>()?;
    Ok(all.iter().sum::<f64>() / all.len() as f64)
}

fn trials(quick: bool) -> Vec<Trial> {
    let lower = |case: &str, unit| (case.to_owned(), unit, Better::Lower);
    let mut trials: Vec<Trial> = [64, 4096, 65_536, 1 << 20].map(|size| shared(size, quick)).into();
    trials.push(stream(65_536, quick));
    trials.extend([64, 65_536, 1 << 20].map(|size| tcp(size, quick)));
    let bulk = ("TCP stream 1 MB".to_owned(), "MB/s", Better::Higher);
    trials.push(Trial::new(bulk, || ours::tcp_stream(1 << 20, STREAM)).than(
        "iperf3",
        0.97,
        || peers::iperf3(Duration::from_secs(1)),
    ));
    trials.extend(protected::trials(quick));
    let crowded = lower("8 processes on 2 processors, 64 B", "us");
    trials.push(
        Trial::new(crowded, || crowd(|| ours::child(&["fabric-pair"])))
            .than("UCX at its best", 5.0, || crowd(|| Ucx::Posix.crowded(64, 200)))
            .than("UCX at its best", 5.0, || crowd(|| Ucx::Tcp.crowded(64, 200)))
            .than("raw futex", 0.0, || crowd(|| raw::blocking(2_000))),
    );
    trials.push(
        Trial::new(lower("idle waiter", "% CPU"), || ours::idle(Duration::from_secs(1))).than(
            "bound",
            1.0,
            || Ok(1.0),
        ),
    );
    trials.push(Trial::new(lower("start-up", "ms CPU"), || ours::child(&["fabric-start"])).than(
        "bound",
        1.0,
        || Ok(2.0),
    ));
    trials
}

/// What another process of this program does for the benchmark, if it is one.
pub fn helper(name: &str) -> Option<Result<f64>> {
    match name {
        "fabric-pair" => Some(ours::shared(64, 2_000)),
        "fabric-start" => Some(ours::start_up()),
        protected::HELPER => Some(protected::serve()),
        _ => None,
    }
}

/// The benchmark.
pub fn run(quick: bool) -> Result<Report> {
    let trials = trials(quick);
    let count = if quick { 2 } else { 7 };
    let mut sentinel = Samples::default();
    let mut cases = Vec::new();
    let mut samples: Vec<(Samples, Vec<Samples>)> = Vec::new();
    samples.resize_with(trials.len(), Default::default);
    for round in 0..count {
        for (trial, (ours, sides)) in trials.iter().zip(&mut samples) {
            sides.resize_with(trial.sides.len(), Samples::default);
            let in_case = |name: &str| format!("{}: {name}", trial.case);
            let mut measure_ours = || -> Result<()> {
                sentinel.0.push(raw::sentinel()?);
                ours.0.push((trial.ours)().with_context(|| in_case("ours"))?);
                Ok(())
            };
            if round % 2 == 0 {
                measure_ours()?;
            }
            for (side, samples) in trial.sides.iter().zip(sides) {
                samples.0.push((side.measure)().with_context(|| in_case(&side.name))?);
            }
            if round % 2 == 1 {
                measure_ours()?;
            }
        }
    }
    for (trial, (ours, sides)) in trials.iter().zip(&samples) {
        cases.extend(rows(trial, ours, sides));
    }
    let notes = vec![
        format!("{count} rounds, two threads or processes on two processors"),
        format!(
            "a flag from one processor to the other: {:.0} ns ±{:.0} %",
            sentinel.median(),
            sentinel.spread()
        ),
    ];
    Ok(Report { bench: "fabric", notes, cases })
}

/// A row for each side of a case; of sides with one name, the best.
fn rows(trial: &Trial, ours: &Samples, sides: &[Samples]) -> Vec<Case> {
    let mut best: BTreeMap<&str, (&Side, &Samples)> = BTreeMap::new();
    for (side, samples) in trial.sides.iter().zip(sides) {
        let is_better = |other: &Samples| match trial.better {
            Better::Higher => samples.median() > other.median(),
            Better::Lower => samples.median() < other.median(),
        };
        let here = best.entry(&side.name).or_insert((side, samples));
        if is_better(here.1) {
            *here = (side, samples);
        }
    }
    let row = |(side, samples): (&Side, &Samples)| Case {
        case: trial.case.clone(),
        unit: trial.unit,
        better: trial.better,
        ours: ours.clone(),
        peer: samples.clone(),
        peer_name: side.name.clone(),
        limit: side.limit,
    };
    best.into_values().map(row).collect()
}
