//! `cargo xtask fuzz`: coverage-guided fuzzing on the stable compiler, without cargo-fuzz.
//!
//! The crate `fuzz/` links libFuzzer (libfuzzer-sys); the compiler flags below are those that
//! make LLVM count edges and record comparisons. A target is a file of `fuzz/targets`; its name
//! begins with that of the crate it feeds. Seeds lie in `fuzz/corpus/TARGET` and are never
//! written; what a run finds goes to the target folder, what breaks goes to `fuzz/artifacts`.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, Result, bail};

use crate::workspace::{Usage, cargo, check, host, root, target_dir};

/// A word on the command line, and how the names of its targets begin.
const GROUPS: [(&str, &str); 3] = [("9p", "ninep_"), ("fabric", "fabric_"), ("all", "")];

/// What makes libFuzzer see the program. Only the fuzz crate and what it links are built so.
const FLAGS: &str = "--cfg fuzzing -Cpasses=sancov-module \
    -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares \
    -Cdebug-assertions -Coverflow-checks -Ccodegen-units=1";

/// No input may make a target use more memory or time, and none needs to be longer.
const LIMITS: [&str; 3] = ["-rss_limit_mb=512", "-timeout=5", "-max_len=70000"];

const SECONDS_DEFAULT: u64 = 60;

/// What the command line asks for.
#[derive(Debug, Default, PartialEq)]
struct Request {
    what: Option<String>,
    seconds: Option<u64>,
    replay: Option<PathBuf>,
    target: Option<String>,
}

fn parse(arguments: &[String]) -> Result<Request> {
    let mut request = Request::default();
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        let mut value = || {
            let missing = || Usage(format!("{argument} needs a value"));
            arguments.next().cloned().ok_or_else(missing)
        };
        match argument.as_str() {
            "--seconds" => {
                let bad = |_| Usage("--seconds needs a whole number".to_owned());
                request.seconds = Some(value()?.parse().map_err(bad)?);
            }
            "--replay" => request.replay = Some(value()?.into()),
            "--target" => request.target = Some(value()?),
            other if other.starts_with('-') || request.what.is_some() => {
                return Err(Usage(format!("unexpected argument '{other}'")).into());
            }
            other => request.what = Some(other.to_owned()),
        }
    }
    Ok(request)
}

/// The command.
pub fn run(arguments: &[String]) -> Result<ExitCode> {
    let request = parse(arguments)?;
    let root = root()?;
    if let Some(file) = &request.replay {
        return replay(&root, file, request.target.as_deref());
    }
    let what = request.what.ok_or_else(|| Usage("which group or target?".to_owned()))?;
    let all = targets(&root)?;
    let prefix = GROUPS.iter().find(|(group, _)| *group == what).map(|(_, prefix)| *prefix);
    let chosen: Vec<&String> = match prefix {
        Some(prefix) => all.iter().filter(|target| target.starts_with(prefix)).collect(),
        None => all.iter().filter(|target| **target == what).collect(),
    };
    if chosen.is_empty() {
        return Err(Usage(format!("no group or target '{what}'; targets: {all:?}")).into());
    }
    let programs = build(&root)?;
    let seconds = request.seconds.unwrap_or(SECONDS_DEFAULT) / chosen.len() as u64;
    let is_good = in_turn(&chosen, |target| fuzz(&root, &programs, target, seconds.max(1)))?;
    Ok(if is_good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Runs all targets, as many at once as there are processors; false if one broke.
fn in_turn(targets: &[&String], fuzz: impl Fn(&str) -> Result<bool> + Send + Sync) -> Result<bool> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut is_good = true;
        while let Some(target) = targets.get(next.fetch_add(1, Ordering::Relaxed)) {
            is_good &= fuzz(target)?;
        }
        Ok(is_good)
    };
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..processors).map(|_| scope.spawn(work)).collect();
        let ends = workers.into_iter().map(|worker| worker.join().expect("it does not panic"));
        ends.collect::<Result<Vec<bool>>>().map(|ends| !ends.contains(&false))
    })
}

/// The names of all targets.
pub fn targets(root: &Path) -> Result<Vec<String>> {
    let folder = root.join("fuzz/targets");
    let mut names = Vec::new();
    for entry in fs::read_dir(&folder).with_context(|| format!("no {}", folder.display()))? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "rs") {
            names.extend(path.file_stem().and_then(|stem| stem.to_str()).map(str::to_owned));
        }
    }
    names.sort();
    Ok(names)
}

/// Builds all targets and returns the folder of their programs.
///
/// # Errors
/// What the compiler says.
pub fn build(root: &Path) -> Result<PathBuf> {
    let host = host()?;
    let target_dir = target_dir(root).join("fuzz");
    let mut command = cargo(root);
    // With --target, the flags reach neither build scripts nor procedural macros.
    command.args(["build", "--quiet", "--release", "--manifest-path", "fuzz/Cargo.toml"]);
    command.args(["--target", &host]).arg("--target-dir").arg(&target_dir);
    check(command.env("RUSTFLAGS", FLAGS).env_remove("CARGO_ENCODED_RUSTFLAGS"))?;
    Ok(target_dir.join(host).join("release"))
}

/// Runs one target; false if it broke.
fn fuzz(root: &Path, programs: &Path, target: &str, seconds: u64) -> Result<bool> {
    let seeds = root.join("fuzz/corpus").join(target);
    let grown = target_dir(root).join("fuzz/corpus").join(target);
    let artifacts = root.join("fuzz/artifacts").join(target);
    for folder in [&seeds, &grown, &artifacts] {
        fs::create_dir_all(folder)?;
    }
    let mut command = Command::new(programs.join(target));
    command.args(LIMITS).arg("-print_final_stats=1").arg(format!("-max_total_time={seconds}"));
    command.arg(format!("-artifact_prefix={}/", artifacts.display()));
    command.arg(&grown).arg(&seeds).stdin(Stdio::null()).stdout(Stdio::null());
    let mut child = command.stderr(Stdio::piped()).spawn().context("cannot start the target")?;
    let mut log = Vec::new();
    for line in BufReader::new(child.stderr.take().context("stderr is piped")?).split(b'\n') {
        log.push(String::from_utf8_lossy(&line?).into_owned());
    }
    let status = child.wait()?;
    if status.success() {
        println!("fuzz: {target:<16} {}", figures(&log));
        return Ok(true);
    }
    for line in log.iter().filter(|line| !line.starts_with('#')) {
        eprintln!("{line}");
    }
    let file = log.iter().find_map(|line| line.split("Test unit written to ").nth(1));
    match file.map(|file| Path::new(file.trim())) {
        Some(file) => {
            let file = file.strip_prefix(root).unwrap_or(file).display();
            println!("fuzz: {target} BROKE on {file}");
            println!("fuzz: to replay: cargo xtask fuzz --replay {file}");
            Ok(false)
        }
        None => bail!("target {target} ended with {status} and left no input"),
    }
}

/// One line out of libFuzzer's final figures.
fn figures(log: &[String]) -> String {
    let stat = |name: &str| {
        let lines = log.iter().filter_map(|line| line.strip_prefix("stat::"));
        let value = lines.filter_map(|line| line.split_once(':')).find(|it| it.0 == name);
        value.map_or("?", |(_, value)| value.trim()).to_owned()
    };
    let edges = log.iter().rev().find_map(|line| line.split("cov: ").nth(1)?.split(' ').next());
    format!(
        "{} runs, {} a second, {} new inputs, {} edges, {} MiB",
        stat("number_of_executed_units"),
        stat("average_exec_per_sec"),
        stat("new_units_added"),
        edges.unwrap_or("?"),
        stat("peak_rss_mb"),
    )
}

/// Runs a target on one input, with everything it prints.
fn replay(root: &Path, file: &Path, target: Option<&str>) -> Result<ExitCode> {
    // What a run prints is relative to the root.
    let from_root = root.join(file);
    let file = if file.is_file() { file } else { &from_root };
    if !file.is_file() {
        return Err(Usage(format!("no file {}", file.display())).into());
    }
    let folder = file.parent().and_then(Path::file_name).and_then(|name| name.to_str());
    let target = target.or(folder).unwrap_or_default();
    if !targets(root)?.iter().any(|name| name == target) {
        let what = format!("{} tells no target; name it with --target", file.display());
        return Err(Usage(what).into());
    }
    let program = build(root)?.join(target);
    let status = Command::new(program).args(LIMITS).arg(file).status()?;
    println!("fuzz: {target} ended with {status}");
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_target_runs_once_and_one_that_breaks_is_told() {
        let names: Vec<String> = (0..20).map(|number| format!("target{number}")).collect();
        let targets: Vec<&String> = names.iter().collect();
        let ran = std::sync::Mutex::new(Vec::new());
        let run = |broken: &'static str| {
            ran.lock().unwrap().clear();
            let is_good = in_turn(&targets, |target| {
                ran.lock().unwrap().push(target.to_owned());
                Ok(target != broken)
            });
            let mut ran = ran.lock().unwrap().clone();
            ran.sort_by_key(|name| targets.iter().position(|target| *target == name));
            assert_eq!(ran, names);
            is_good.unwrap()
        };
        assert!(run("none"));
        assert!(!run("target7"));
        assert!(in_turn(&targets, |_| bail!("it left no input")).is_err());
    }

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn the_command_line_is_read() {
        let got = parse(&words("9p --seconds 120")).expect("valid");
        assert_eq!((got.what.as_deref(), got.seconds), (Some("9p"), Some(120)));
        let got = parse(&words("--replay a/b --target c")).expect("valid");
        assert_eq!((got.replay, got.target.as_deref()), (Some("a/b".into()), Some("c")));
        for wrong in ["9p --seconds x", "9p --seconds", "9p more", "--what"] {
            let error = parse(&words(wrong)).expect_err(wrong);
            assert!(error.is::<Usage>(), "{wrong}");
        }
    }

    #[test]
    fn the_figures_are_read() {
        let log = "#2 INITED cov: 7 ft: 9\n#9 DONE   cov: 12 ft: 30 corp: 3/9b\n\
                   stat::number_of_executed_units: 900\nstat::average_exec_per_sec:     90\n\
                   stat::new_units_added:          3\nstat::peak_rss_mb:              40";
        let log: Vec<String> = log.lines().map(str::to_owned).collect();
        assert_eq!(figures(&log), "900 runs, 90 a second, 3 new inputs, 12 edges, 40 MiB");
    }
}
