//! The probe: what this machine's media cost, what was chosen for them, and whether that is true.
//!
//! Stages are measured and fitted ([`super::calibrate`]); then messages of 64 bytes to 16 MB are
//! moved by the plans that the model chooses, and what they take is set beside what the model said
//! and beside the medium's limit, a bare copy of as many bytes. The two threads have a core each.
//! Before each length a *sentinel* is taken, a flag's way from core to core: when it moves during
//! a run, cores were moved or taken away, and the report says that its figures are noisy.

pub mod raw;
mod sys;

use super::cache;
use super::calibrate::{Medium, THOROUGH, calibrate};
use super::choice::{Grid, Ranges, Searched, exhaustive, median};
use super::costs::{Costs, Predict};
use super::plan::Plan;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::fs;

/// The longest message of a probe.
pub const MESSAGE_MAX: usize = 16 << 20;
/// The shortest.
const MESSAGE_MIN: usize = 64;
/// Nanoseconds that one figure may take.
const PATIENCE: f64 = 2e7;
/// Sentinels that differ by more make a run noisy.
const STEADY: f64 = 1.5;

/// Something that messages can be sent over, and timed.
pub trait Track {
    /// A flag's way from core to core, in nanoseconds.
    fn sentinel(&mut self) -> f64;

    /// The median time of `count` messages from the first byte to the last, acknowledged.
    fn latency(&mut self, plan: Plan, bytes: usize, count: usize) -> f64;

    /// The time of each of `count` messages, one close behind the other.
    fn stream(&mut self, plan: Plan, bytes: usize, count: usize) -> f64;

    /// What as many bytes take at best.
    fn limit(&mut self, bytes: usize) -> f64;
}

/// One length's figures: nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Bytes of the message.
    pub bytes: usize,
    /// What was chosen.
    pub plan: Plan,
    /// One way, as the model says.
    pub predicted: f64,
    /// One way, measured: acknowledged, less the flag's way back.
    pub measured: f64,
    /// A bare copy of as many bytes.
    pub limit: f64,
    /// Each of a stream of messages, as the model says,
    pub predicted_stream: f64,
    /// and measured.
    pub measured_stream: f64,
    /// A flag's way just before.
    pub sentinel: f64,
}

/// The machine that was measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    /// The processor's name.
    pub processor: String,
    /// Cores that may be used.
    pub cores: usize,
    /// Bytes of a core's second-level cache.
    pub cache: usize,
}

impl Machine {
    /// This one.
    pub fn here() -> Machine {
        let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let name = info.lines().find_map(|line| line.strip_prefix("model name"));
        let name = name.map(|rest| rest.trim_start_matches([' ', '\t', ':']).trim());
        let family = |key| info.lines().find_map(|line: &str| line.strip_prefix(key));
        let number = |key| family(key).map(|rest| rest.trim_start_matches([' ', '\t', ':']));
        let mut processor = name.unwrap_or("unknown processor").to_owned();
        if let (Some(family), Some(model)) = (number("cpu family"), number("model\t\t")) {
            processor.push_str(&format!(" (family {family}, model {model})"));
        }
        Machine { processor, cores: cores().len(), cache: cache::second_level() }
    }
}

/// What a probe found.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// What was measured, for people.
    pub medium: String,
    /// Where.
    pub machine: Machine,
    /// The fitted stages.
    pub costs: Costs,
    /// Up to which length which plan is chosen.
    pub steps: Vec<(usize, Plan)>,
    /// What was predicted and measured.
    pub points: Vec<Point>,
    /// How far the choices are from the best of all plans, where that was searched for.
    pub searched: Vec<Searched>,
}

impl Report {
    /// The least and the largest sentinel.
    pub fn sentinels(&self) -> (f64, f64) {
        let all = self.points.iter().map(|point| point.sentinel);
        (all.clone().fold(f64::INFINITY, f64::min), all.fold(0.0, f64::max))
    }

    /// Why the figures are not to be trusted, if they are not.
    pub fn noise(&self) -> Option<String> {
        let (least, most) = self.sentinels();
        if self.machine.cores < 2 {
            return Some("both threads share one core".to_owned());
        }
        (most > STEADY * least)
            .then(|| format!("a flag took between {least:.0} and {most:.0} ns from core to core"))
    }
}

/// The plans that the bare ring can carry out.
pub fn grid() -> Grid {
    Grid::new(8 << 20, 256 << 10)
}

/// Lengths that are searched through: 12 from 1 KB to 16 MB.
pub fn searched_lengths() -> impl Iterator<Item = usize> {
    // A step is 2^(14/11), so that twelve of them end at 16 MB.
    (0..12).map(|step| ((1024.0 * 2f64.powf(14.0 * f64::from(step) / 11.0)) as usize).max(1))
}

/// Probes shared memory between two threads; `searches` has all plans tried as well.
pub fn shared_memory(searches: bool) -> Report {
    let (cores, machine) = (cores(), Machine::here());
    // In a thread of its own, because the caller may not want to stay on one core.
    let measure = || {
        pin(cores.first().copied());
        let other = cores.last().copied().filter(|_| cores.len() > 1);
        let mut raw = raw::Raw::start(other.or(cores.first().copied()));
        probe("shared memory, two threads", machine, &mut raw, searches)
    };
    std::thread::scope(|scope| match scope.spawn(measure).join() {
        Ok(report) => report,
        Err(panic) => std::panic::resume_unwind(panic),
    })
}

/// Calibrates a medium and compares what is predicted with what is measured.
pub fn probe<M: Medium + Track>(
    name: &str,
    machine: Machine,
    medium: &mut M,
    searches: bool,
) -> Report {
    let costs = calibrate(medium, THOROUGH);
    let ranges = Ranges::new(&grid(), &costs);
    let lengths = std::iter::successors(Some(MESSAGE_MIN), |bytes| Some(bytes * 2));
    let lengths = lengths.take_while(|&bytes| bytes <= MESSAGE_MAX);
    let points = lengths.map(|bytes| point(medium, &costs, ranges.at(bytes).plan, bytes)).collect();
    let search = |bytes| {
        let chosen = ranges.at(bytes).plan;
        exhaustive(&grid(), costs.depth(), bytes, chosen, 5, &mut |plan| {
            medium.latency(plan, bytes, (times(costs.time(plan, bytes)) / 10).clamp(3, 50))
        })
    };
    let searched = if searches { searched_lengths().map(search).collect() } else { Vec::new() };
    Report { medium: name.to_owned(), machine, steps: ranges.steps(), costs, points, searched }
}

/// How often a message of that time is sent for one figure.
fn times(time: f64) -> usize {
    ((PATIENCE / time) as usize).clamp(5, 2000)
}

fn point<M: Track>(medium: &mut M, costs: &Costs, plan: Plan, bytes: usize) -> Point {
    let count = times(costs.time(plan, bytes));
    let sentinel = medium.sentinel();
    // In turn, so that a disturbance meets only some of them.
    let (mut latencies, mut streams) = (Vec::new(), Vec::new());
    for _ in 0..3 {
        latencies.push(medium.latency(plan, bytes, count.div_ceil(3)));
        streams.push(medium.stream(plan, bytes, count.div_ceil(3)));
    }
    Point {
        bytes,
        plan,
        predicted: costs.time(plan, bytes) - costs.hop,
        measured: median(&mut latencies) - costs.hop,
        limit: medium.limit(bytes),
        predicted_stream: costs.streamed(plan, bytes),
        measured_stream: median(&mut streams),
        sentinel,
    }
}

/// The cores that this process may use.
fn cores() -> Vec<usize> {
    let set = sched_getaffinity(None).unwrap_or_else(|_| CpuSet::new());
    (0..CpuSet::MAX_CPU).filter(|&core| set.is_set(core)).collect()
}

/// Keeps this thread on a core, as far as the system lets it.
fn pin(core: Option<usize>) {
    if let Some(core) = core {
        let mut set = CpuSet::new();
        set.set(core);
        let _ = sched_setaffinity(None, &set);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_probe_of_this_machine_is_complete() {
        let report = shared_memory(false);
        assert_eq!(report.points.len(), 19);
        assert!(report.points.iter().all(|point| {
            point.measured_stream > 0.0 && point.predicted > 0.0 && point.limit > 0.0
        }));
        assert_eq!(report.points[18].bytes, MESSAGE_MAX);
        assert!(report.costs.hop > 0.0);
        assert!(report.steps.len() > 1);
        assert!(report.machine.cores > 0);
    }

    #[test]
    fn a_sentinel_that_moves_is_told() {
        let mut report = shared_memory(false);
        report.machine.cores = 2;
        report.points.iter_mut().for_each(|point| point.sentinel = 50.0);
        assert_eq!(report.noise(), None);
        report.points[3].sentinel = 190.0;
        let said = report.noise().expect("noise");
        assert!(said.contains("between 50 and 190 ns"), "{said}");
        report.machine.cores = 1;
        assert!(report.noise().is_some_and(|said| said.contains("one core")));
    }

    #[test]
    fn twelve_lengths_are_searched_from_1_kb_to_16_mb() {
        let lengths: Vec<usize> = searched_lengths().collect();
        assert_eq!(lengths.len(), 12);
        assert_eq!((lengths[0], lengths[11]), (1024, MESSAGE_MAX));
    }
}
