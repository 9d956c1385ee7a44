//! `cargo xtask digests`: runs a program that receives from any source 1,000 times in the
//! coscheduled mode, and Sweep3D on 16 ranks 20 times, on four nodes of this machine, while it does
//! other things at random: each has one digest (`tests/t0320_coscheduled.rs`).

use std::process::ExitCode;

use anyhow::Result;

use crate::workspace::{Usage, cargo, check_tests, root};

/// Runs where nobody asks for another number.
const RUNS: &str = "1000";

/// The command.
pub fn run(arguments: &[String]) -> Result<ExitCode> {
    let runs = match arguments {
        [] => RUNS,
        [name, runs] if name == "--runs" && runs.parse::<usize>().is_ok() => runs,
        _ => return Err(Usage("digests takes --runs N, or nothing".to_owned()).into()),
    };
    let mut test = cargo(&root()?);
    test.args(["test", "--quiet", "-p", "muster-cli", "--test", "t0320_coscheduled", "--"]);
    test.args(["whatever_else_the_machine_does_a_program_has_one_digest", "--exact"]);
    check_tests(test.arg("--nocapture").env("MUSTER_DIGESTS", runs))?;
    Ok(ExitCode::SUCCESS)
}
