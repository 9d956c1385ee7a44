//! `cargo xtask conformance mpi [NAME...]`: MPI programs that nobody here wrote, built with
//! `bin/mpicc` and run over our library (`conformance/mpi`).

use std::process::{Command, ExitCode};

use anyhow::Result;

use crate::workspace::{Usage, cargo, check, root, target_dir};

/// What fetches, builds and runs them.
const RUN: &str = "conformance/mpi/run";

/// The command. What follows `mpi` is the script's.
pub fn run(arguments: &[String]) -> Result<ExitCode> {
    let Some((suite, rest)) = arguments.split_first() else {
        return Err(Usage("which suite: mpi".to_owned()).into());
    };
    if suite != "mpi" {
        return Err(Usage(format!("there is no suite '{suite}' here, only mpi")).into());
    }
    let root = root()?;
    check(cargo(&root).args(["build", "-q", "-p", "muster-cli", "-p", "muster-mpi-abi"]))?;
    let mut command = Command::new(root.join(RUN));
    command.args(rest).env("MUSTER", target_dir(&root).join("debug/muster"));
    let status = command.status()?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
