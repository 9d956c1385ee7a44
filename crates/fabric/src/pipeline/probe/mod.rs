//! The probe: what this machine's media cost, what was chosen for them, and whether that is true.
//!
//! Stages are measured over a real connection and fitted ([`super::calibrate`]), as a link does at
//! first contact; then messages of 64 bytes to 16 MB are moved by the plans that this chooses, and
//! what they take is set beside what the model said and beside the medium's limit, a bare copy of
//! as many bytes. The two ends have a core each. Before each length a *sentinel* is taken, a
//! byte's way to the other end: when it moves during a run, cores were moved or taken away, and the
//! report says that its figures are noisy.
//!
//! Who probes listens. The other end ([`receiver`]) is another process or thread: what it takes is
//! a message whose first byte says whether it is to be answered.

mod memory;
mod socket;

use super::cache;
use super::calibrate::{CONTACT, Effort, THOROUGH};
use super::choice::{Grid, Ranges, Searched, exhaustive, median};
use super::costs::{Costs, Predict};
use super::plan::Plan;
use crate::address::Address;
use crate::deadline::Deadline;
use crate::error::{Error, Result};
use crate::transport::shared::{self, Link, Shared};
use crate::transport::{self, Hello, Lane};
use memory::{Memory, PATIENCE};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use socket::Socket;
use std::fs;
use std::hint::black_box;
use std::io::IoSlice;
use std::path::Path;
use std::time::{Duration, Instant};

/// The longest message of a probe.
pub const MESSAGE_MAX: usize = 16 << 20;
/// The shortest.
const MESSAGE_MIN: usize = 64;
/// Nanoseconds that one figure may take.
const FIGURE: f64 = 2e7;
/// Sentinels that differ by more make a run noisy.
const STEADY: f64 = 1.5;

/// Something that messages can be sent over, and timed. Errors are the connection's.
trait Track {
    /// Measures the stages, at most that long, and how long it took.
    fn costs(&mut self, effort: Effort, time: Duration) -> Result<(Costs, Duration)>;

    /// Sends a message, and says whether it is to be acknowledged.
    fn send(&mut self, bytes: usize, wants_reply: bool) -> Result<()>;

    /// Waits until it is.
    fn reply(&mut self) -> Result<()>;

    /// What is sent, at its full length.
    fn source(&self) -> &[u8];

    /// Has messages go as planned, where there is a choice.
    fn go_by(&mut self, _plan: Plan) {}

    /// The median time of `count` messages from the first byte to the last, acknowledged.
    fn latency(&mut self, plan: Plan, bytes: usize, count: usize) -> Result<f64> {
        self.go_by(plan);
        let mut times = Vec::with_capacity(count);
        for _ in 0..count {
            let start = Instant::now();
            self.send(bytes, true)?;
            self.reply()?;
            times.push(start.elapsed().as_nanos() as f64);
        }
        Ok(median(&mut times))
    }

    /// The time of each of `count` messages, one close behind the other.
    fn stream(&mut self, plan: Plan, bytes: usize, count: usize) -> Result<f64> {
        self.go_by(plan);
        let start = Instant::now();
        for number in 1..=count {
            self.send(bytes, number == count)?;
        }
        self.reply()?;
        Ok(start.elapsed().as_nanos() as f64 / count as f64)
    }

    /// What as many bytes take at best.
    fn limit(&self, bytes: usize) -> f64 {
        copied(&self.source()[..bytes])
    }

    /// A byte's way to the other end, in nanoseconds.
    fn sentinel(&mut self) -> Result<f64> {
        Ok(self.latency(Plan::Short, 1, 200)? / 2.0)
    }
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
    /// One way, measured: acknowledged, less a byte's way back.
    pub measured: f64,
    /// A bare copy of as many bytes.
    pub limit: f64,
    /// Each of a stream of messages, as the model says,
    pub predicted_stream: f64,
    /// and measured.
    pub measured_stream: f64,
    /// A byte's way just before.
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
    /// The kernel's name and release.
    pub kernel: String,
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
        let release = rustix::system::uname();
        let kernel = format!(
            "{} {}",
            release.sysname().to_string_lossy(),
            release.release().to_string_lossy()
        );
        Machine { processor, cores: cores().len(), cache: cache::second_level(), kernel }
    }
}

/// What a probe found.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// What was measured, for people.
    pub medium: String,
    /// Where.
    pub machine: Machine,
    /// How long first contact took.
    pub contact: Duration,
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
            return Some("both ends share one core".to_owned());
        }
        (most > STEADY * least)
            .then(|| format!("a byte took between {least:.0} and {most:.0} ns from core to core"))
    }
}

/// Lengths that are searched through: 12 from 1 KB to 16 MB.
pub fn searched_lengths() -> impl Iterator<Item = usize> {
    // A step is 2^(14/11), so that twelve of them end at 16 MB.
    (0..12).map(|step| ((1024.0 * 2f64.powf(14.0 * f64::from(step) / 11.0)) as usize).max(1))
}

/// What a receiver comes for.
const SERVICE: &str = "probe";
const STAGES: &str = "probe-stages";

/// The other end of a probe: connects, and receives messages until the probe hangs up.
///
/// # Errors
/// The connection's.
pub fn receiver(at: &Address) -> Result<()> {
    pin(cores().last().copied());
    match at {
        Address::Shared(path) => serve(Shared::default().connect_link(
            path,
            &hello(SERVICE),
            Deadline::after(PATIENCE),
        )?),
        Address::Tcp(..) => {
            let connect = |service| {
                transport::of(at)?.connect(at, &hello(service), Deadline::after(PATIENCE))
            };
            let (bytes, messages) = (connect(STAGES)?, connect(SERVICE)?);
            let mut messages = messages.datagram()?;
            socket::serve_stages(&mut *bytes.stream()?)?;
            socket::serve_messages(&mut *messages)
        }
        other => {
            let why = "nothing is probed there".to_owned();
            Err(Error::Unsupported { address: other.clone(), why })
        }
    }
}

fn hello(service: &str) -> Hello {
    let name = "the probe's receiver".to_owned();
    Hello { name, service: service.to_owned(), lane: Lane::Bulk }
}

fn serve(mut link: Link) -> Result<()> {
    let mut into = vec![3; MESSAGE_MAX];
    let deadline = || Deadline::after(PATIENCE);
    loop {
        match link.receive(&mut into, deadline()) {
            Ok(_) if into[0] == 1 => link.send(&[IoSlice::new(&[0])], deadline())?,
            Ok(_) => {}
            Err(Error::Closed { .. }) => return Ok(()),
            Err(error) => return Err(error),
        }
    }
}

/// Probes shared memory. `start` has to start a [`receiver`] for the given address; `searches` has
/// all plans tried as well.
///
/// # Errors
/// The connection's.
pub fn shared_memory(
    path: &Path,
    start: impl FnOnce(Address) -> Result<()> + Send,
    searches: bool,
) -> Result<Report> {
    // Before a thread of it stays on one core.
    let machine = Machine::here();
    in_a_thread(|| {
        let mut listener = Shared::default().listen_link(path)?;
        start(Address::Shared(path.to_owned()))?;
        pin(cores().first().copied());
        let link = listener.accept_link(Deadline::after(PATIENCE))?;
        let mut medium = Memory::new(link);
        probe(("shared memory", machine), &shared::grid(), &mut medium, searches)
    })
}

/// Probes TCP on loopback, as [`shared_memory`]; there is nothing to search, since the kernel
/// decides what is under way.
///
/// # Errors
/// The connection's.
pub fn tcp(start: impl FnOnce(Address) -> Result<()> + Send) -> Result<Report> {
    // Before a thread of it stays on one core.
    let machine = Machine::here();
    in_a_thread(|| {
        let at = Address::Tcp("127.0.0.1".to_owned(), 0);
        let mut listener = transport::of(&at)?.listen(&at)?;
        start(listener.address().clone())?;
        pin(cores().first().copied());
        let mut accept = || listener.accept(Deadline::after(PATIENCE));
        let (one, other) = (accept()?, accept()?);
        let is_bytes = one.hello().service == STAGES;
        let (bytes, messages) = if is_bytes { (one, other) } else { (other, one) };
        let (bytes, messages) = (Some(bytes.stream()?), messages.datagram()?);
        let mut medium = Socket { bytes, messages, source: vec![1; MESSAGE_MAX] };
        probe(("TCP on loopback", machine), &socket::grid(), &mut medium, false)
    })
}

/// The caller may not want to stay on one core. What it starts inherits its cores, so the receiver
/// is started first.
fn in_a_thread(measure: impl FnOnce() -> Result<Report> + Send) -> Result<Report> {
    std::thread::scope(|scope| match scope.spawn(measure).join() {
        Ok(report) => report,
        Err(panic) => std::panic::resume_unwind(panic),
    })
}

/// What measuring may take at most. A link gives first contact 2 ms and asks again later; here the
/// report says how long it took, and others may have the cores.
const CONTACT_MAX: Duration = Duration::from_millis(100);
const THOROUGH_MAX: Duration = Duration::from_secs(2);

/// Calibrates a medium and compares what is predicted with what is measured.
fn probe(
    (name, machine): (&str, Machine),
    grid: &Grid,
    medium: &mut impl Track,
    searches: bool,
) -> Result<Report> {
    let (first, contact) = medium.costs(CONTACT, CONTACT_MAX)?;
    let (costs, _) = medium.costs(THOROUGH, THOROUGH_MAX)?;
    let ranges = Ranges::new(grid, &first);
    let lengths = std::iter::successors(Some(MESSAGE_MIN), |bytes| Some(bytes * 2));
    let lengths = lengths.take_while(|&bytes| bytes <= MESSAGE_MAX);
    let points: Result<Vec<Point>> =
        lengths.map(|bytes| point(medium, &costs, ranges.at(bytes).plan, bytes)).collect();
    let mut searched = Vec::new();
    for bytes in searched_lengths().filter(|_| searches) {
        let (chosen, mut failed) = (ranges.at(bytes).plan, Ok(()));
        let count = (times(costs.time(chosen, bytes)) / 10).clamp(3, 50);
        let mut measure = |plan| match medium.latency(plan, bytes, count) {
            Ok(time) => time,
            Err(error) => {
                failed = Err(error);
                f64::NAN
            }
        };
        searched.push(exhaustive(grid, costs.depth(), bytes, chosen, 5, &mut measure));
        failed?;
    }
    let (medium, steps) = (name.to_owned(), ranges.steps());
    Ok(Report { medium, machine, contact, steps, costs, points: points?, searched })
}

/// How often a message of that time is sent for one figure.
fn times(time: f64) -> usize {
    ((FIGURE / time) as usize).clamp(5, 2000)
}

fn point(medium: &mut impl Track, costs: &Costs, plan: Plan, bytes: usize) -> Result<Point> {
    let count = times(costs.time(plan, bytes));
    let sentinel = medium.sentinel()?;
    // In turn, so that a disturbance meets only some of them.
    let (mut latencies, mut streams) = (Vec::new(), Vec::new());
    for _ in 0..3 {
        latencies.push(medium.latency(plan, bytes, count.div_ceil(3))?);
        streams.push(medium.stream(plan, bytes, count.div_ceil(3))?);
    }
    let both = median(&mut latencies);
    Ok(Point {
        bytes,
        plan,
        predicted: costs.time(plan, bytes) - costs.hop,
        // A byte's way back is no longer than the way there: others had its processors.
        measured: both - sentinel.min(both / 2.0),
        limit: medium.limit(bytes),
        predicted_stream: costs.streamed(plan, bytes),
        measured_stream: median(&mut streams),
        sentinel,
    })
}

/// A bare copy of these bytes.
fn copied(from: &[u8]) -> f64 {
    let mut to = vec![2; from.len()];
    let rounds = ((1 << 18) / from.len().max(1)).max(1);
    let mut times: Vec<f64> = (0..7)
        .map(|_| {
            let start = Instant::now();
            for _ in 0..rounds {
                to.copy_from_slice(black_box(from));
                black_box(&to);
            }
            start.elapsed().as_nanos() as f64 / rounds as f64
        })
        .collect();
    median(&mut times)
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

    fn start(at: Address) -> Result<()> {
        std::thread::spawn(move || receiver(&at).expect("a receiver"));
        Ok(())
    }

    fn report() -> Report {
        let path = std::env::temp_dir().join(format!("muster-probe-test-{}", std::process::id()));
        // Where others have the cores, the receiver's part in trials may not come in time.
        let end = Instant::now() + Duration::from_secs(120);
        loop {
            match shared_memory(&path, start, false) {
                Err(Error::Deadline { .. }) if Instant::now() < end => {}
                report => return report.expect("a probe"),
            }
        }
    }

    #[test]
    fn tcp_has_a_stage_on_either_side_of_the_kernel() {
        let report = tcp(start).expect("a probe");
        assert_eq!((report.costs.copies.len(), report.costs.single), (2, None));
        assert_eq!(report.points.len(), 19);
        assert!(report.points.iter().all(|point| point.measured_stream > 0.0));
    }

    #[test]
    fn a_probe_of_this_machine_is_complete_and_tells_a_sentinel_that_moves() {
        let mut report = report();
        assert_eq!(report.points.len(), 19);
        assert!(report.points.iter().all(|point| {
            point.measured_stream > 0.0 && point.predicted > 0.0 && point.limit > 0.0
        }));
        assert_eq!(report.points[18].bytes, MESSAGE_MAX);
        assert!(report.costs.hop > 0.0);
        assert!(report.steps.len() > 1);
        assert!(report.machine.cores > 0);
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
