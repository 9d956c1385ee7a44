//! `cargo xtask kills`: kills daemons of a cluster of 64 nodes at random moments, again and again,
//! with jobs of several kinds in flight (`tests/t0180_deaths.rs`). It prints each round's seed;
//! `--first SEED --rounds 1` repeats what is drawn from one.

use std::process::ExitCode;

use anyhow::Result;

use crate::workspace::{Usage, cargo, check_tests, root};

/// Rounds where nobody asks for another number.
const ROUNDS: &str = "200";

/// The command.
pub fn run(arguments: &[String]) -> Result<ExitCode> {
    let root = root()?;
    let mut test = cargo(&root);
    test.args(["test", "--quiet", "-p", "muster-cli", "--test", "t0180_deaths", "--"]);
    test.args(["of_64_daemons_any_may_be_killed_at_any_moment", "--exact", "--nocapture"]);
    test.env("MUSTER_DEATHS_ROUNDS", ROUNDS);
    let mut arguments = arguments.iter();
    while let Some(name) = arguments.next() {
        let variable = match name.as_str() {
            "--rounds" => "MUSTER_DEATHS_ROUNDS",
            "--first" => "MUSTER_DEATHS_SEED",
            other => return Err(Usage(format!("unexpected argument '{other}'")).into()),
        };
        let number = arguments.next().filter(|text| text.parse::<u64>().is_ok());
        let number = number.ok_or_else(|| Usage(format!("{name} needs a number")))?;
        test.env(variable, number);
    }
    check_tests(&mut test)?;
    Ok(ExitCode::SUCCESS)
}
