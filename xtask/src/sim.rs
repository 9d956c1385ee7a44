//! `cargo xtask sim`: builds the simulator with optimization, and hands over to it.
//!
//! Its profile is `sim`: as `release`, but a panic of a protocol's core unwinds, so that the seed
//! can be told and its faults made fewer. CI, which runs few seeds, takes `quick`, which builds
//! faster.

use std::process::{Command, ExitCode};

use anyhow::{Context, Result};

use crate::workspace::{cargo, check, code, root, target_dir};

/// The simulator with these arguments, built with that profile of the workspace's. It runs here,
/// not at the root: files among its arguments are those of who typed them.
pub fn simulate(profile: &str, arguments: &[String]) -> Result<ExitCode> {
    let root = root()?;
    check(cargo(&root).args(["build", "--quiet", "--profile", profile, "-p", "muster-sim"]))?;
    let mut simulator = Command::new(target_dir(&root).join(profile).join("muster-sim"));
    let status = simulator.args(arguments).status();
    let status = status.context("cannot start the simulator")?;
    Ok(code(status))
}

/// The command.
pub fn run(arguments: &[String]) -> Result<ExitCode> {
    simulate("sim", arguments)
}
