//! `cargo xtask ci`: everything that must hold before a change is merged, in the order of cost.
//! Each step prints one line with its time; the first that fails ends the run.

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, Result};

use crate::workspace::{cargo, check, no_arguments, root};
use crate::{fuzz, loom, model, sim, tidy};

/// Seconds for each fuzz target.
const FUZZ_SECONDS: u64 = 20;

/// Seeds of each scenario of the simulator; 1000 take some minutes.
const SIM_SEEDS: u64 = 50;

type Step = (&'static str, fn(&Path) -> Result<()>);

const STEPS: [Step; 8] = [
    ("format", |root| check(cargo(root).args(["fmt", "--all", "--check"]))),
    ("clippy", |root| {
        let flags = ["clippy", "--quiet", "--workspace", "--all-targets", "--", "-D", "warnings"];
        check(cargo(root).args(flags))
    }),
    ("tidy", |_| succeeded(tidy::run(&[])?)),
    ("tests", |root| check(cargo(root).args(["test", "--workspace", "--no-fail-fast"]))),
    ("model", |_| succeeded(model::run(&["--quick".into()])?)),
    ("loom", loom::interleave),
    ("sim", |_| succeeded(sim::simulate("quick", &["--seeds".into(), SIM_SEEDS.to_string()])?)),
    ("fuzz", |root| {
        let seconds = FUZZ_SECONDS * fuzz::targets(root)?.len() as u64;
        succeeded(fuzz::run(&["all".into(), "--seconds".into(), seconds.to_string()])?)
    }),
];

fn succeeded(code: ExitCode) -> Result<()> {
    // An exit code cannot be compared, only shown.
    let good = format!("{code:?}") == format!("{:?}", ExitCode::SUCCESS);
    good.then_some(()).context("see the lines above")
}

/// The command.
pub fn run(arguments: &[String]) -> Result<ExitCode> {
    no_arguments(arguments)?;
    let root = root()?;
    let start = Instant::now();
    for (name, step) in STEPS {
        let begin = Instant::now();
        let result = step(&root);
        let seconds = begin.elapsed().as_secs_f64();
        let verdict = if result.is_ok() { "ok" } else { "FAILED" };
        println!("ci: {name:<8} {verdict:<6} {seconds:>6.1} s");
        result.with_context(|| format!("step '{name}' failed"))?;
    }
    println!("ci: all good in {:.1} s", start.elapsed().as_secs_f64());
    Ok(ExitCode::SUCCESS)
}
