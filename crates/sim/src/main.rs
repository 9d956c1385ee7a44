//! `cargo xtask sim`: runs seeds, and says which of them fail and why.

use muster_sim::run::{SCENARIOS, Scenario, many};
use std::io::{self, Write};
use std::process::ExitCode;
use std::time::Instant;

const USAGE: &str = "usage: muster-sim [--scenario NAME] [--first N] [--seeds N] [SEED]";

/// What the command line asks for.
struct Options {
    scenarios: Vec<Scenario>,
    first: u64,
    seeds: u64,
    seed: Option<u64>,
}

impl Options {
    fn read(mut arguments: impl Iterator<Item = String>) -> Result<Options, String> {
        let mut options =
            Options { scenarios: SCENARIOS.to_vec(), first: 0, seeds: 1000, seed: None };
        let number = |text: Option<String>| {
            let text = text.ok_or("a number is missing")?;
            text.parse().map_err(|_| format!("{text:?} is no number"))
        };
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--first" => options.first = number(arguments.next())?,
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
    let options = match Options::read(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(error) => {
            let _ = writeln!(io::stderr(), "muster-sim: {error}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    // A core's panic is told with its seed.
    std::panic::set_hook(Box::new(|_| {}));
    let mut out = io::stdout().lock();
    let good = match options.seed {
        Some(seed) => replay(&options.scenarios, seed, &mut out),
        None => all(&options, &mut out),
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
        let same = first.digest == second.digest;
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
