//! `cargo xtask ci`: everything that must hold before a change is merged. Each step prints one line
//! with its time; the first that fails ends the run. Steps that are named run alone.
//!
//! The tests wait for clocks and processes for a third of their time. Meanwhile what only computes
//! goes on [`BESIDE`] them, in what they leave of the processors: first what has a folder of its
//! own to build in, then what waits for the tests to be built.

use std::io::Write;
use std::path::Path;
use std::process::{Command, ExitCode, Output};
use std::thread;
use std::time::Instant;

use anyhow::{Context, Result, anyhow, ensure};

use crate::workspace::{Usage, cargo, check, root};
use crate::{fuzz, loom, model, sim, tidy};

/// Seconds for each fuzz target.
const FUZZ_SECONDS: u64 = 20;

/// Seeds of each scenario of the simulator; 1000 take some minutes.
const SIM_SEEDS: u64 = 50;

type Step = (&'static str, fn(&Path) -> Result<()>);

const STEPS: [Step; 10] = [
    ("format", |root| check(cargo(root).args(["fmt", "--all", "--check"]))),
    ("tidy", |_| succeeded(tidy::run(&[])?)),
    ("tests", |root| check(cargo(root).args(["test", "--workspace", "--no-fail-fast"]))),
    ("model", |_| succeeded(model::run(&["--quick".into()])?)),
    ("loom", loom::interleave),
    ("sim", |_| succeeded(sim::simulate("quick", &["--seeds".into(), SIM_SEEDS.to_string()])?)),
    // Fuzzing itself has limits of time, which must not pass because tests have the processors.
    ("fuzzers", |root| fuzz::build(root).map(|_| ())),
    ("clippy", |root| {
        let flags = ["clippy", "--quiet", "--workspace", "--all-targets", "--", "-D", "warnings"];
        check(cargo(root).args(flags))
    }),
    ("doc", |root| {
        // With what is private: the modules' own story is told to who works on them.
        let flags = ["doc", "--quiet", "--workspace", "--no-deps", "--document-private-items"];
        let strict = "-D warnings -A rustdoc::private_intra_doc_links";
        check(cargo(root).args(flags).env("RUSTDOCFLAGS", strict))
    }),
    ("fuzz", |root| {
        let seconds = FUZZ_SECONDS * fuzz::targets(root)?.len() as u64;
        succeeded(fuzz::run(&["all".into(), "--seconds".into(), seconds.to_string()])?)
    }),
];

/// Steps that run beside that of [`TESTS`].
const BESIDE: [&str; 6] = ["model", "loom", "sim", "fuzzers", "clippy", "doc"];
const TESTS: &str = "tests";

fn succeeded(code: ExitCode) -> Result<()> {
    (code == ExitCode::SUCCESS).then_some(()).context("see the lines above")
}

/// Runs a step, and prints how it went.
fn go((name, step): Step, root: &Path) -> Result<()> {
    let begin = Instant::now();
    let result = step(root);
    let verdict = if result.is_ok() { "ok" } else { "FAILED" };
    println!("ci: {name:<8} {verdict:<6} {:>6.1} s", begin.elapsed().as_secs_f64());
    result.with_context(|| format!("step '{name}' failed"))
}

/// Steps in a process of their own, behind all others; what it printed.
fn aside(steps: &[Step]) -> Result<Output> {
    let own = std::env::current_exe().context("cannot find this program")?;
    let names = steps.iter().map(|step| step.0);
    let output = Command::new("nice").args(["-n", "19"]).arg(own).arg("ci").args(names).output();
    output.context("cannot start nice")
}

/// The tests, and steps beside them. All have ended when this returns, however.
fn tests(step: Step, beside: &[Step], root: &Path) -> Result<()> {
    thread::scope(|scope| {
        let others = scope.spawn(|| aside(beside));
        let done = go(step, root);
        let others = others.join().map_err(|_| anyhow!("who runs {BESIDE:?} panicked"))??;
        std::io::stdout().write_all(&others.stdout)?;
        std::io::stderr().write_all(&others.stderr)?;
        done?;
        ensure!(others.status.success(), "a step beside the tests failed: see the lines above");
        Ok(())
    })
}

/// The steps of these names, or all.
fn chosen(names: &[String]) -> Result<Vec<Step>> {
    if let Some(unknown) = names.iter().find(|name| STEPS.iter().all(|step| step.0 != **name)) {
        let all = STEPS.map(|step| step.0).join(", ");
        return Err(Usage(format!("no step is named '{unknown}'; there are {all}")).into());
    }
    let is_chosen = |step: &Step| names.is_empty() || names.iter().any(|name| name == step.0);
    Ok(STEPS.into_iter().filter(is_chosen).collect())
}

/// The command.
pub fn run(arguments: &[String]) -> Result<ExitCode> {
    let steps = chosen(arguments)?;
    let root = root()?;
    let start = Instant::now();
    let has_tests = steps.iter().any(|step| step.0 == TESTS);
    let is_beside = |step: &Step| has_tests && BESIDE.contains(&step.0);
    let (beside, steps): (Vec<_>, Vec<_>) = steps.into_iter().partition(is_beside);
    for step in steps {
        match step.0 {
            TESTS if !beside.is_empty() => tests(step, &beside, &root)?,
            _ => go(step, &root)?,
        }
    }
    if arguments.is_empty() {
        println!("ci: all good in {:.1} s", start.elapsed().as_secs_f64());
    }
    Ok(ExitCode::SUCCESS)
}
