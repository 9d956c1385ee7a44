//! `cargo xtask bench NAME`: builds ours in release, has the peers at hand, and hands over to
//! the `bench` crate.

use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, Result, ensure};

use crate::peers;
use crate::workspace::{Usage, cargo, check, code, root, target_dir};

/// The command.
pub fn run(arguments: &[String]) -> Result<ExitCode> {
    if arguments.is_empty() {
        return Err(Usage("which benchmark?".to_owned()).into());
    }
    let root = root()?;
    let build = ["build", "--quiet", "--release", "-p", "muster-cli", "-p", "muster-bench"];
    check(cargo(&root).args(build))?;
    let target = target_dir(&root);
    let program = target.join("release/muster-bench");
    // Daemons and tools of root's, which Debian's `su` leaves out.
    let path = std::env::var("PATH").unwrap_or_default() + ":/usr/sbin:/sbin";
    let bench = |words: &[String]| -> Result<ExitCode> {
        let mut bench = Command::new(&program);
        bench.env("PATH", &path);
        bench.current_dir(&root).env("MUSTER_BENCH_TARGET", &target).args(words);
        let status = bench.status().context("cannot start the bench crate's program")?;
        ensure!(status.code().is_some(), "the benchmark ended with {status}");
        Ok(code(status))
    };
    if arguments.iter().any(|word| word == "--help" || word == "-h") {
        return bench(arguments);
    }
    // Before minutes go into peers.
    let mut reader = Command::new(&program);
    reader.current_dir(&root).arg("check").args(arguments).stderr(Stdio::inherit());
    let read = reader.output().context("cannot start the bench crate's program")?;
    if !read.status.success() {
        return Ok(code(read.status));
    }
    // A benchmark's name may be an option's value as well, which only it can tell.
    let name = String::from_utf8_lossy(&read.stdout).trim().to_owned();
    peers::prepare(&root, Some(&name));
    if name == "mpi" {
        peers::compile(&root)?;
        // It takes minutes, and only a figure needs it.
        if arguments.iter().any(|word| word == "hypre") {
            peers::build_hypre(&root)?;
        }
    }
    bench(arguments)
}
