//! What is measured, against whom, and how much better than they ours has to be.

use super::duel::Place;
use super::half::{Half, Think};
use super::peers::{self, Looks, UCX_SHARED, Ucx};
use super::place::Home;
use super::raw::Sheet;
use crate::report::Better;
use anyhow::{Context, Result, bail};
use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

/// How long a stream is measured, in milliseconds.
const STREAM: u64 = 200;

/// Pairs of processes at once, for two processors too many.
const CROWD: usize = 4;

/// How to measure once.
pub type Measure = Box<dyn Fn() -> Result<f64>>;

/// One side of a case.
pub struct Side {
    /// Of sides with one name the best counts.
    pub name: &'static str,
    /// Which of those it is, for people.
    pub how: String,
    /// How many times as good ours has to be.
    pub limit: f64,
    /// How to measure it.
    pub measure: Measure,
}

/// One thing that is measured.
pub struct Trial {
    /// What.
    pub case: String,
    /// In what.
    pub unit: &'static str,
    /// Which way is good.
    pub better: Better,
    /// How often at most.
    pub rounds: usize,
    /// Whether the processors are to be near each other.
    pub wants_near: bool,
    /// Whether ours is measured but once in each round, before the others.
    pub ours_once: bool,
    /// Ours.
    pub ours: Measure,
    /// The others.
    pub sides: Vec<Side>,
}

impl Trial {
    fn new(
        case: impl Into<String>,
        (unit, better): (&'static str, Better),
        ours: impl Fn() -> Result<f64> + 'static,
    ) -> Trial {
        let (case, ours) = (case.into(), Box::new(ours));
        Trial {
            case,
            unit,
            better,
            rounds: usize::MAX,
            wants_near: true,
            ours_once: false,
            ours,
            sides: Vec::new(),
        }
    }

    fn than(
        self,
        name: &'static str,
        limit: f64,
        measure: impl Fn() -> Result<f64> + 'static,
    ) -> Trial {
        self.best((name, String::new()), limit, measure)
    }

    fn best(
        mut self,
        (name, how): (&'static str, String),
        limit: f64,
        measure: impl Fn() -> Result<f64> + 'static,
    ) -> Trial {
        self.sides.push(Side { name, how, limit, measure: Box::new(measure) });
        self
    }

    /// At most so much, or at least.
    fn bound(self, bound: f64) -> Trial {
        Trial { wants_near: false, ..self.than("bound", 1.0, move || Ok(bound)) }
    }

    fn at_most(self, rounds: usize) -> Trial {
        Trial { rounds, ..self }
    }
}

const TIME: (&str, Better) = ("us", Better::Lower);
const RATE: (&str, Better) = ("MB/s", Better::Higher);

/// Bytes as people write them.
fn bytes(size: usize) -> String {
    match size {
        1_048_576.. if size.is_multiple_of(1 << 20) => format!("{} MB", size >> 20),
        1024.. => format!("{} KB", size >> 10),
        _ => format!("{size} B"),
    }
}

/// Round trips that take some tenths of a second.
fn rounds(size: usize, quick: bool) -> u64 {
    let rounds = match size {
        0..=64 => 400_000,
        65..=4096 => 120_000,
        4097..=262_144 => 8_000,
        _ => 800,
    };
    if quick { rounds / 2 } else { rounds }
}

/// Both halves of ours, who meet by a transport.
fn ours(subject: &'static str, scheme: &str, size: usize, rounds: u64) -> Result<Vec<f64>> {
    let home = Home::new()?;
    Half::new(subject, home.address(scheme)?, size, rounds).both(Place::Apart)
}

fn first(figures: Vec<f64>) -> Result<f64> {
    figures.first().copied().context("no figure was printed")
}

/// The processor time of the half that connects, started by nothing that takes some itself.
fn start_up(scheme: &str) -> Result<f64> {
    let home = Home::new()?;
    Half::new("start-up", home.address(scheme)?, 64, 0).figure(Place::Bare)
}

/// Both halves of the bare limit, who meet in memory.
fn bare(subject: &'static str, size: usize, rounds: u64) -> Result<f64> {
    let sheet = Sheet::new()?;
    let at = sheet.path().display().to_string();
    Half::new(subject, at, size, rounds).figure(Place::Apart)
}

fn bare_tcp(subject: &'static str, size: usize, rounds: u64) -> Result<f64> {
    let at = crate::child::free_address()?.to_string();
    Half::new(subject, at, size, rounds).figure(Place::Apart)
}

fn shared(size: usize, quick: bool) -> Trial {
    let rounds = rounds(size, quick);
    let raw_limit = if size <= 64 { 1.0 / 1.5 } else { 0.0 };
    let (best, default) = if size <= 4096 { (1.0, 1.0) } else { (1.15, 2.5) };
    let case = format!("shared memory {}", bytes(size));
    let mut trial = Trial::new(case, TIME, move || first(ours("latency", "shm", size, rounds)?))
        .than("raw flag and copies", raw_limit, move || bare("raw-shared", size, rounds))
        .than("UCX as it comes", default, move || Ucx::Default.latency(size, rounds))
        .than("libfabric shm", 1.0, move || peers::libfabric("shm", size, rounds, Place::Apart))
        .than("iceoryx2", 1.0, move || peers::iceoryx2(size, rounds, (Place::Apart, Looks::Often)));
    for setting in UCX_SHARED {
        let name = ("UCX at its best", format!("{setting:?}"));
        trial = trial.best(name, best, move || setting.latency(size, rounds));
    }
    trial
}

fn stream(size: usize, quick: bool) -> Trial {
    let rounds = rounds(size, quick) * 4;
    let case = format!("shared memory stream {}", bytes(size));
    let one = |subject| move || first(Half::new(subject, "-", size, STREAM).alone()?);
    let mut trial = Trial::new(case, RATE, move || first(ours("stream", "shm", size, STREAM)?))
        .than("memcpy", 0.0, one("memcpy"))
        .than("bottleneck stage", 0.92, move || first(ours("stage", "shm", size, 0)?));
    for setting in UCX_SHARED {
        let name = ("UCX at its best", format!("{setting:?}"));
        trial = trial.best(name, 1.3, move || setting.bandwidth(size, rounds));
    }
    trial
}

fn tcp(size: usize, quick: bool) -> Trial {
    let rounds = if quick { 400 } else { 1_000 } * if size <= 64 { 10 } else { 1 };
    let limit = if size <= 64 { 1.0 / 1.1 } else { 1.0 / 1.15 };
    let raw = |how: &str| ("raw TCP", how.to_owned());
    Trial::new(format!("TCP {}", bytes(size)), TIME, move || {
        first(ours("latency", "tcp", size, rounds)?)
    })
    .best(raw("looks"), limit, move || bare_tcp("raw-tcp-spin", size, rounds))
    .best(raw("sleeps"), limit, move || bare_tcp("raw-tcp-block", size, rounds))
    .than("UCX over TCP", 1.0, move || Ucx::Tcp.latency(size, rounds))
    .than("libfabric tcp", 1.0, move || peers::libfabric("tcp", size, rounds, Place::Apart))
}

/// What protection costs: there is no figure to reach.
fn protected(quick: bool) -> [Trial; 2] {
    let rounds = if quick { 2_000 } else { 10_000 };
    let latency = move |scheme| first(ours("latency", scheme, 64, rounds)?);
    let stream = |scheme| first(ours("stream", scheme, 1 << 20, STREAM)?);
    [
        Trial::new("TCP with TLS 64 B", TIME, move || latency("tls")).than(
            "TCP as it is",
            0.0,
            move || latency("tcp"),
        ),
        Trial::new("TCP with TLS stream 1 MB", RATE, move || stream("tls")).than(
            "TCP as it is",
            0.0,
            move || stream("tcp"),
        ),
    ]
}

/// Both sides sleep: because they are on one processor, or since each thinks for a while before it
/// answers, as ranks that compute do. (Where an answer comes at once, ours does not sleep.)
fn blocking(place: Place, think: Duration, quick: bool) -> Trial {
    let rounds = if quick { 4_000 } else { 12_000 } / if think.is_zero() { 1 } else { 10 };
    let half = move |subject, at: String| {
        Half { think: Think(think), ..Half::new(subject, at, 64, rounds) }.figure(place)
    };
    let case = match place {
        Place::Together => "blocking, both on one processor, 64 B".to_owned(),
        _ => format!("blocking, {} us between, 64 B", think.as_micros()),
    };
    Trial::new(case, TIME, move || {
        let home = Home::new()?;
        half("latency", home.address("shm")?)
    })
    .than("raw futex", 1.0 / 1.15, move || {
        let sheet = Sheet::new()?;
        half("raw-futex", sheet.path().display().to_string())
    })
}

/// Many pairs at once: the mean of what they say, one way in microseconds. All are to be there all
/// the time, so there are as many rounds as take a while.
fn crowd(one: impl Fn(u64) -> Result<f64> + Send + Sync) -> Result<f64> {
    const WHILE: f64 = 2e5;
    const MOST: f64 = 1e6;
    let mut rounds = 32.0;
    loop {
        let all: Vec<Result<f64>> = std::thread::scope(|scope| {
            let pairs: Vec<_> = (0..CROWD).map(|_| scope.spawn(|| one(rounds as u64))).collect();
            pairs.into_iter().map(|pair| pair.join().expect("it does not panic")).collect()
        });
        let all = all.into_iter().collect::<Result<Vec<f64>>>()?;
        let mean = all.iter().sum::<f64>() / all.len() as f64;
        let time = 2.0 * mean * rounds;
        if time >= WHILE || rounds >= MOST {
            return Ok(mean);
        }
        // A few of them tell little of how long many take.
        rounds = (rounds * (1.5 * WHILE / time).min(30.0)).min(MOST);
    }
}

fn crowded(quick: bool) -> Trial {
    let anywhere =
        |subject, at: String, rounds| Half::new(subject, at, 64, rounds).figure(Place::Anywhere);
    let ours = move |rounds| {
        let home = Home::new()?;
        anywhere("latency", home.address("shm")?, rounds)
    };
    let futex = move |rounds| {
        let sheet = Sheet::new()?;
        anywhere("raw-futex", sheet.path().display().to_string(), rounds)
    };
    let peer = |how| ("best peer", how);
    let mut trial = Trial::new("8 processes on 2 processors, 64 B", TIME, move || crowd(ours))
        .than("raw futex", 0.0, move || crowd(futex))
        .at_most(if quick { 1 } else { 3 });
    for looks in [Looks::Often, Looks::Once, Looks::Never] {
        let one = move |rounds| peers::iceoryx2(64, rounds, (Place::Anywhere, looks));
        let name = peer(format!("iceoryx2, looks {looks:?}").to_lowercase());
        trial = trial.best(name, 5.0, move || crowd(one));
    }
    for setting in [Ucx::Posix, Ucx::Tcp] {
        for wait in ["poll", "sleep"] {
            let measure = move || crowd(|rounds| setting.crowded(wait, 64, rounds));
            trial = trial.best(peer(format!("UCX {setting:?}, {wait}")), 5.0, measure);
        }
    }
    for provider in ["shm", "tcp"] {
        let one = move |rounds| peers::libfabric(provider, 64, rounds, Place::Anywhere);
        let name = peer(format!("libfabric {provider}"));
        trial = trial.best(name, 5.0, move || crowd(one));
    }
    Trial { wants_near: false, ours_once: true, ..trial }
}

/// Ours and the other come of one measurement: it is made for ours, and the other told after.
fn together(
    case: String,
    (other, limit): (&'static str, f64),
    measure: impl Fn() -> Result<Vec<f64>> + 'static,
) -> Trial {
    let told = Rc::new(Cell::new(f64::NAN));
    let tell = told.clone();
    let ours = move || {
        let &[ours, other] = &measure()?[..] else { bail!("not two figures") };
        tell.set(other);
        Ok(ours)
    };
    let trial = Trial::new(case, TIME, ours).than(other, limit, move || Ok(told.get()));
    Trial { wants_near: false, ours_once: true, ..trial }
}

fn planner(quick: bool) -> Vec<Trial> {
    let flips: &[usize] = if quick { &[4 << 20] } else { &[65_536, 1 << 20, 4 << 20] };
    let time = if quick { 800 } else { 2_000 };
    let flip = |&size: &usize| {
        let (case, best) =
            (format!("forced flips, {}", bytes(size)), ("best of each state", 1.0 / 1.1));
        together(case, best, move || ours("flips", "shm", size, time)).at_most(3)
    };
    let sizes: Vec<usize> = muster_fabric::pipeline::probe::searched_lengths().collect();
    let search = |&size: &usize| {
        let (case, best) =
            (format!("packets and slots, {}", bytes(size)), ("exhaustive search", 1.0 / 1.05));
        together(case, best, move || ours("search", "shm", size, 0)).at_most(3)
    };
    let step = if quick { 5 } else { 1 };
    flips.iter().map(flip).chain(sizes.iter().step_by(step).map(search)).collect()
}

fn deaths() -> Vec<Trial> {
    let die = |subject, scheme: &'static str, at: usize| -> Result<f64> {
        let home = Home::new()?;
        let found = Half::new(subject, home.address(scheme)?, 64, 0).alone()?;
        let &[time, held] = &found[..] else { bail!("not two figures: {found:?}") };
        Ok(if at == 0 { time } else { held + home.entries()? as f64 })
    };
    let mut trials = Vec::new();
    for scheme in ["shm", "unix", "tcp"] {
        for (subject, who) in [("death-of-connector", "peer"), ("death-of-listener", "listener")] {
            let case = format!("SIGKILL of a {who} over {scheme}, error");
            let time = Trial::new(case, ("ms", Better::Lower), move || die(subject, scheme, 0));
            trials.push(time.bound(100.0).at_most(3));
            let case = format!("SIGKILL of a {who} over {scheme}, left behind");
            let left = Trial::new(case, ("things", Better::Lower), move || die(subject, scheme, 1));
            trials.push(left.bound(0.0).at_most(1));
        }
    }
    trials
}

/// All of them.
pub fn all(quick: bool) -> Vec<Trial> {
    let mut trials: Vec<Trial> = [64, 4096, 65_536, 1 << 20].map(|size| shared(size, quick)).into();
    trials.push(stream(65_536, quick));
    trials.extend([64, 65_536, 1 << 20].map(|size| tcp(size, quick)));
    let mut bulk =
        Trial::new("TCP stream 1 MB", RATE, || first(ours("stream", "tcp", 1 << 20, STREAM)?));
    // With the writes that it has by itself, and with ours.
    for (how, write) in [("128 KB", 128 << 10), ("1 MB", 1 << 20)] {
        let measure = move || peers::iperf3(Duration::from_secs(1), write);
        bulk = bulk.best(("iperf3", how.to_owned()), 0.97, measure);
    }
    trials.push(bulk);
    trials.extend(protected(quick));
    trials.push(blocking(Place::Together, Duration::ZERO, quick));
    trials.push(blocking(Place::Apart, Duration::from_micros(200), quick));
    trials.push(crowded(quick));
    for scheme in ["shm", "tcp"] {
        let idle = move || first(ours("idle", scheme, 64, 1_000)?);
        let case = format!("idle waiter over {scheme}");
        trials.push(Trial::new(case, ("% CPU", Better::Lower), idle).bound(1.0).at_most(2));
        let start = move || start_up(scheme);
        let case = format!("start-up over {scheme}");
        trials.push(Trial::new(case, ("ms CPU", Better::Lower), start).bound(2.0));
    }
    let trace = || first(Half::new("tracing", "-", 64, 1_000_000).alone()?);
    trials.push(Trial::new("tracing, a call", ("ns", Better::Lower), trace).bound(5.0));
    trials.extend(planner(quick));
    trials.extend(deaths());
    trials
}
