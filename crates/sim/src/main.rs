//! `cargo xtask sim`: runs seeds, and says which of them fail and why.

use muster_fabric::pipeline::figure::{self, Mark, Panel, Series};
use muster_sim::network::Costs;
use muster_sim::ranks::{Job, networks, run};
use muster_sim::run::{SCENARIOS, Scenario, many, note_panics};
use muster_sim::scale::{Point, points, rate};
use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;
use std::time::{Duration, Instant};

const USAGE: &str = "usage: muster-sim [--scenario NAME] [--first N] [--seeds N] [SEED]
       muster-sim --scale [FILE]
       muster-sim --ranks N [--nodes N] [--network calm|rough|wild] [--seed SEED]
                  [--kill RANK@MICROSECONDS]... PROGRAM [ARGUMENT]...";

/// What the command line asks for.
struct Options {
    scenarios: Vec<Scenario>,
    first: u64,
    seeds: u64,
    seed: Option<u64>,
    /// Measure how cost grows, and draw it there.
    scale: Option<Option<String>>,
}

impl Options {
    fn read(mut arguments: impl Iterator<Item = String>) -> Result<Options, String> {
        let mut options = Options {
            scenarios: SCENARIOS.to_vec(),
            first: 0,
            seeds: 1000,
            seed: None,
            scale: None,
        };
        let number = |text: Option<String>| {
            let text = text.ok_or("a number is missing")?;
            text.parse().map_err(|_| format!("{text:?} is no number"))
        };
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--first" => options.first = number(arguments.next())?,
                "--scale" => options.scale = Some(arguments.next()),
                "--seeds" => options.seeds = number(arguments.next())?,
                "--scenario" => {
                    let name = arguments.next().unwrap_or_default();
                    options.scenarios.retain(|scenario| scenario.name == name);
                    if options.scenarios.is_empty() {
                        return Err(format!("there is no scenario {name:?}"));
                    }
                }
                _ => options.seed = Some(number(Some(argument))?),
            }
        }
        Ok(options)
    }
}

fn main() -> ExitCode {
    if std::env::args_os().nth(1).is_some_and(|first| first == "--ranks") {
        return match read_job(std::env::args_os().skip(1)) {
            Ok(job) => ranks(&job),
            Err(error) => misused(&error),
        };
    }
    let options = match Options::read(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(error) => return misused(&error),
    };
    if options.scale.is_none() {
        // A core's panic is told with its seed.
        note_panics();
    }
    let mut out = io::stdout().lock();
    let good = match (&options.scale, options.seed) {
        (Some(file), _) => scale(file.as_deref(), &mut out),
        (None, Some(seed)) => replay(&options.scenarios, seed, &mut out),
        (None, None) => all(&options, &mut out),
    };
    match good {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            let _ = writeln!(io::stderr(), "muster-sim: {error}");
            ExitCode::FAILURE
        }
    }
}

fn misused(error: &str) -> ExitCode {
    let _ = writeln!(io::stderr(), "muster-sim: {error}\n{USAGE}");
    ExitCode::from(2)
}

/// The job that the command line asks for.
fn read_job(arguments: impl Iterator<Item = OsString>) -> Result<Job, String> {
    let (mut nodes, mut arguments) = (None, arguments.peekable());
    let [(_, network), ..] = networks();
    let mut job =
        Job { ranks: 1, nodes: 1, network, seed: 0, kills: Vec::new(), command: Vec::new() };
    while let Some(flag) = arguments.next_if(|text| text.to_string_lossy().starts_with("--")) {
        let value = arguments.next().unwrap_or_default().to_string_lossy().into_owned();
        let number = |text: &str| {
            text.parse::<u64>().map_err(|_| format!("{}: {text:?} is no number", flag.display()))
        };
        let count = |text: &str| {
            let number = u32::try_from(number(text)?).ok().filter(|number| *number > 0);
            number.ok_or_else(|| format!("{}: there is at least one", flag.display()))
        };
        match flag.to_str() {
            Some("--ranks") => job.ranks = count(&value)?,
            Some("--nodes") => nodes = Some(count(&value)?),
            Some("--seed") => job.seed = number(&value)?,
            Some("--network") => {
                let found = networks().into_iter().find(|(name, _)| *name == value);
                job.network = found.ok_or_else(|| format!("there is no network {value:?}"))?.1;
            }
            Some("--kill") => {
                let (rank, after) =
                    value.split_once('@').ok_or_else(|| format!("{value:?} is not RANK@TIME"))?;
                let rank = u32::try_from(number(rank)?).unwrap_or(u32::MAX);
                job.kills.push((rank, Duration::from_micros(number(after)?)));
            }
            _ => return Err(format!("there is no {}", flag.display())),
        }
    }
    job.nodes = nodes.unwrap_or(job.ranks).min(job.ranks);
    job.command = arguments.collect();
    if let Some((rank, _)) = job.kills.iter().find(|(rank, _)| *rank >= job.ranks) {
        return Err(format!("--kill: there is no rank {rank}"));
    }
    if job.command.is_empty() { Err("there is no PROGRAM".to_owned()) } else { Ok(job) }
}

/// Runs an MPI program on a simulated network.
fn ranks(job: &Job) -> ExitCode {
    let mut err = io::stderr().lock();
    let report = match run(job) {
        Ok(report) => report,
        Err(error) => {
            let _ = writeln!(err, "muster-sim: {error}");
            return ExitCode::FAILURE;
        }
    };
    if let Some(rank) = report.failed {
        let _ = writeln!(err, "muster-sim: rank {rank} ended with status {}", report.status);
    }
    let (parts, bytes) = report.carried;
    let _ = writeln!(
        err,
        "muster-sim: {:.3} ms, {parts} parts of messages with {bytes} bytes, {} turns, digest {}",
        report.time.as_secs_f64() * 1e3,
        report.turns,
        report.digest,
    );
    ExitCode::from(u8::try_from(report.status).unwrap_or(1))
}

/// Runs many seeds of each scenario.
fn all(options: &Options, out: &mut impl Write) -> io::Result<bool> {
    let mut good = true;
    for scenario in &options.scenarios {
        let start = Instant::now();
        let summary = many(scenario, options.first..options.first + options.seeds);
        let seconds = start.elapsed().as_secs_f64();
        writeln!(
            out,
            "{}: {} seeds, {} faults, {:.1} M events in {seconds:.1} s, digest {}: {}",
            scenario.name,
            summary.seeds,
            summary.faults,
            summary.events as f64 / 1e6,
            summary.digest,
            if summary.failed.is_empty() { "all good" } else { "FAILED" },
        )?;
        for seed in summary.failed.iter().take(1) {
            good = false;
            writeln!(out, "{}", scenario.explain(*seed))?;
            writeln!(out, "again: cargo xtask sim --scenario {} {seed}", scenario.name)?;
        }
    }
    Ok(good)
}

/// Runs a seed twice, and compares.
fn replay(scenarios: &[Scenario], seed: u64, out: &mut impl Write) -> io::Result<bool> {
    let mut good = true;
    for scenario in scenarios {
        let (first, second) = (scenario.seed(seed), scenario.seed(seed));
        let same = first.is_same(&second);
        writeln!(
            out,
            "{} seed {seed}: {} events, digest {}, {}",
            scenario.name,
            first.events,
            first.digest,
            if same { "and the same again" } else { "and NOT the same again" },
        )?;
        good &= same && first.failure.is_none();
        match first.failure {
            None => writeln!(out, "all good")?,
            Some(_) => writeln!(out, "{}", scenario.explain(seed))?,
        }
    }
    Ok(good)
}

/// Measures how the primitives' cost grows with the cluster, and the engine's rate.
fn scale(file: Option<&str>, out: &mut impl Write) -> io::Result<bool> {
    let points = points(Costs::FAST);
    writeln!(out, "LogGP: L 1.5 us, o 0.3 us, g 0.1 us; times in us")?;
    writeln!(out, " nodes  arity    query    bound  ratio   transfer visible    bound  ratio")?;
    let micros = |time: u64| time as f64 / 1e3;
    for point in &points {
        writeln!(
            out,
            "{:>6} {:>6} {:>8.2} {:>8.2} {:>6.3} {:>18.2} {:>8.2} {:>6.3}",
            point.nodes,
            point.arity,
            micros(point.query),
            micros(point.query_bound),
            point.query as f64 / point.query_bound as f64,
            micros(point.transfer),
            micros(point.transfer_bound),
            point.transfer as f64 / point.transfer_bound as f64,
        )?;
    }
    for nodes in [64, 1024, 4096, 16_384] {
        let rate = rate(nodes, 4_000_000) / 1e6;
        writeln!(out, "{nodes:>6} nodes: {rate:.1} M events in a second of processor time")?;
    }
    if let Some(file) = file {
        std::fs::write(file, drawing(&points))?;
        writeln!(out, "drawn: {file}")?;
    }
    Ok(true)
}

/// The cost of both, each with its bound as dashes.
fn drawing(points: &[Point]) -> String {
    let series = |name: &str, color, mark, of: fn(&Point) -> u64| {
        let points = points.iter().map(|point| (point.nodes.into(), of(point) as f64 / 1e3));
        Series { name: name.into(), color, mark, points: points.collect() }
    };
    let (red, blue) = ("#c0392b", "#2060a0");
    let panel = Panel {
        title: "LogGP: L 1.5, o 0.3, g 0.1 us".into(),
        x: "nodes".into(),
        y: "us".into(),
        x_label: |nodes| nodes.to_string(),
        series: vec![
            series("XFER-AND-SIGNAL, 0 B, seen by all", red, Mark::Line, |point| point.transfer),
            series("", red, Mark::Dashes, |point| point.transfer_bound),
            series("COMPARE-AND-WRITE, a query", blue, Mark::Line, |point| point.query),
            series("", blue, Mark::Dashes, |point| point.query_bound),
        ],
    };
    let below = "simulated; dashes: the bound of a tree (down, up, down; down, up)";
    figure::svg("The primitives' cost against the cluster's size", below, &[panel])
}
