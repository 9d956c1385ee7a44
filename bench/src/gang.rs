//! `bench gang`: what taking turns costs. Two copies of a CPU-bound and of a fine-grained
//! communicating program on all nodes, by turns of 300 us to 8 s, beside one after the other and
//! beside both at once without turns; and how long `true` takes while a job has all nodes.
//!
//! All nodes are daemons on this machine, and share one strober. The ranks of both copies are told
//! to go together when all are ready, so launching, which `bench launch` measures, has no part in
//! it. Each round runs all slices, and one after the other before and after them; a slice is
//! compared with the mean of its round's two. Slurm's shortest slice is 5 s: it has no rows here.

mod picture;
mod program;
mod turns;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Result;

use crate::cluster::Cluster;
use crate::folder::Folder;
use crate::report::{Case, Report, Samples, load};
use picture::Curve;
pub use program::{PROGRAM, run as program};
use program::{Work, spin};
use turns::{Gang, Scheduler, Took};

/// Slices, in microseconds, and what may be lost at each, in percent: on 2 nodes, and on 8.
const SLICES: [(u64, Option<f64>, Option<f64>); 9] = [
    (300, Some(5.0), None),
    (1_000, Some(2.0), Some(2.0)),
    (2_000, Some(1.0), Some(1.0)),
    (5_000, None, None),
    (10_000, None, None),
    (50_000, None, None),
    (500_000, None, None),
    (2_000_000, None, None),
    (8_000_000, None, None),
];

/// Those of a quick run: the ones of which something is asked.
const QUICK: usize = 3;

/// Measures; draws a figure if it is told where.
///
/// # Errors
/// When a job fails.
pub fn measure(quick: bool, figure: Option<&Path>) -> Result<Report> {
    let base = PathBuf::from("/dev/shm");
    let home = Folder::new(&base, "gang")?;
    all(quick, figure, &base, home.path())
}

fn all(quick: bool, figure: Option<&Path>, base: &Path, home: &Path) -> Result<Report> {
    let (mut cases, mut curves, mut missed) = (Vec::new(), Vec::new(), Vec::new());
    let (rate, mut least) = (rate(), Duration::ZERO);
    for nodes in [2, 8] {
        let cluster = Cluster::up(nodes, base)?;
        let gang = Gang::new(&cluster, nodes, home);
        least = gang.least()?;
        for (name, work) in works(nodes, rate, quick) {
            let measured = Measured::new(&gang, work, nodes, quick)?;
            cases.extend(measured.cases(name, nodes));
            if nodes == 8 {
                curves.push(measured.curve(name));
            }
            let told = gang.strober()?;
            missed.push(format!("{} of {}", told["missed"], told["strobes"]));
        }
        if nodes == 8 {
            cases.push(interactive(&gang, rate, quick)?);
        }
    }
    if let Some(path) = figure {
        let below = format!("8 nodes on one machine of {} processors", processors());
        picture::draw(&curves, &below).save(path)?;
    }
    let mut notes = vec![
        format!("strobes missed, of all so far: {}; load {}", missed.join(", "), load()),
        "Slurm's shortest slice is 5 s: it has no rows".to_owned(),
    ];
    if least > Duration::from_micros(SLICES[0].0) {
        notes.push(format!("turns shorter than {least:?} are not permitted here: no rows"));
    }
    Ok(Report { bench: "gang", notes, missing: Vec::new(), cases })
}

/// The two programs, each for about half a second or two on this machine alone.
fn works(nodes: usize, rate: f64, quick: bool) -> [(&'static str, Work); 2] {
    let seconds = if quick { 0.5 } else { 2.0 };
    let share = (processors() as f64 / nodes as f64).min(1.0);
    let rounds = |seconds: f64| (seconds * rate) as u64;
    let bound = Work { steps: 1000, rounds: rounds(seconds * share / 1000.0), exchanges: false };
    // Some 200 us between exchanges, which take as long again.
    let fine =
        Work { steps: (seconds / 400e-6) as u64, rounds: rounds(200e-6 * share), exchanges: true };
    [("CPU-bound", bound), ("fine-grained", fine)]
}

/// What was measured of one program on so many nodes.
struct Measured {
    /// By slice: how long both took by turns, and beside it one after the other.
    turns: Vec<(u64, Samples, Samples)>,
    /// By slice: processor time lost, in percent.
    used: Vec<Samples>,
    /// Both at once, and beside it one after the other.
    shared: (Samples, Samples),
}

impl Measured {
    fn new(gang: &Gang<'_>, work: Work, nodes: usize, quick: bool) -> Result<Measured> {
        let both = [work, work];
        let least = gang.least()?.as_micros();
        let slices = SLICES.iter().map(|(slice, ..)| *slice);
        let slices = slices.filter(|slice| u128::from(*slice) >= least);
        let most = if quick || nodes == 2 { QUICK } else { SLICES.len() };
        let slices: Vec<u64> = slices.take(most).collect();
        let mut measured = Measured {
            turns: slices.iter().map(|us| (*us, Samples::default(), Samples::default())).collect(),
            used: vec![Samples::default(); slices.len()],
            shared: Default::default(),
        };
        let alone = best_alone(gang, work)?;
        let mut before = gang.in_a_row(&both, alone)?;
        for round in 0..if quick { 3 } else { 7 } {
            // Those that only the figure shows take the longest: they are measured less often.
            let is_due = |at: &usize| *at < QUICK || round % 3 == 0;
            let mut order: Vec<usize> = (0..slices.len()).filter(is_due).collect();
            if round % 2 == 1 {
                order.reverse();
            }
            for at in order {
                let took = gang.together(&both, turns(slices[at]))?;
                let after = gang.in_a_row(&both, alone)?;
                let beside = mean(before, after);
                measured.turns[at].1.0.push(took.wall);
                measured.turns[at].2.0.push(beside.wall);
                measured.used[at].0.push((took.used / beside.used - 1.0) * 100.0);
                before = after;
            }
            let shared = gang.together(&both, Scheduler::Share)?;
            measured.shared.0.0.push(shared.wall);
            measured.shared.1.0.push(before.wall);
        }
        Ok(measured)
    }

    fn cases(&self, name: &str, nodes: usize) -> Vec<Case> {
        let case = |what: String, ours: &Samples, peer: &Samples, lost: Option<f64>| {
            let title = format!("{name} x 2 on {nodes}, {what}");
            let peer = ("one after the other", peer.clone());
            let limit = lost.map_or(0.0, |percent| 1.0 / (1.0 + percent / 100.0));
            Case { in_pairs: true, ..Case::lower(&title, "s", ours.clone(), peer, limit) }
        };
        let turns = self.turns.iter().zip(&self.used).map(|((us, ours, peer), used)| {
            let (_, on_two, on_eight) = SLICES.iter().find(|(slice, ..)| slice == us)?;
            let limit = if nodes == 2 { on_two } else { on_eight };
            let slice = Duration::from_micros(*us);
            let what = format!("turns of {slice:?} ({:+.1} % CPU)", used.median());
            Some(case(what, ours, peer, *limit))
        });
        let mut cases: Vec<Case> = turns.flatten().collect();
        cases.push(case("at once, no turns".to_owned(), &self.shared.0, &self.shared.1, None));
        cases
    }

    fn curve(&self, name: &'static str) -> Curve {
        // By the ratios of what was taken beside each other: the machine's speed varies.
        let rows = Samples(self.turns.iter().flat_map(|(.., peer)| peer.0.clone()).collect());
        let in_a_row = rows.median();
        let scaled = |ours: &Samples, peer: &Samples| {
            let ratios = ours.0.iter().zip(&peer.0).map(|(ours, peer)| ours / peer);
            Samples(ratios.collect()).median() * in_a_row
        };
        let turn =
            |(us, ours, peer): &(u64, Samples, Samples)| (*us as f64 / 1e3, scaled(ours, peer));
        let shared = scaled(&self.shared.0, &self.shared.1);
        Curve { name, turns: self.turns.iter().map(turn).collect(), in_a_row, shared }
    }
}

fn turns(us: u64) -> Scheduler {
    Scheduler::Gang(Duration::from_micros(us))
}

/// What a job does best by that has the machine to itself: bound to processors, or not.
fn best_alone(gang: &Gang<'_>, work: Work) -> Result<Scheduler> {
    let ways = [Scheduler::Share, turns(10_000)];
    let mut times = [Samples::default(), Samples::default()];
    for at in 0..6 {
        times[at % 2].0.push(gang.in_a_row(&[work], ways[at % 2])?.wall);
    }
    Ok(if times[0].median() < times[1].median() { ways[0] } else { ways[1] })
}

fn mean(a: Took, b: Took) -> Took {
    Took { wall: (a.wall + b.wall) / 2.0, used: (a.used + b.used) / 2.0 }
}

/// `true` while a job has all nodes: it may take five slices and 20 ms.
fn interactive(gang: &Gang<'_>, rate: f64, quick: bool) -> Result<Case> {
    let slice = Duration::from_millis(2).max(gang.least()?);
    let long = Work { steps: 1_000_000, rounds: (rate * 1e-3) as u64, exchanges: false };
    let times = gang.interactive(long, slice, if quick { 10 } else { 40 })?;
    let most = 5.0 * slice.as_secs_f64() * 1e3 + 20.0;
    let title = format!("true beside a job on all of 8, turns of {slice:?}");
    let peer_name = "5 slices + 20 ms".to_owned();
    Ok(Case { peer_name, ..Case::bound(&title, "ms", Samples(times), most) })
}

/// Rounds of arithmetic a second, of the best of some tries.
fn rate() -> f64 {
    const ROUNDS: u64 = 20_000_000;
    let tries = (0..5).map(|at| {
        let start = Instant::now();
        spin(at, ROUNDS);
        ROUNDS as f64 / start.elapsed().as_secs_f64()
    });
    tries.fold(0.0, f64::max)
}

fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}
