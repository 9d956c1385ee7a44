//! The `muster` command.

mod cmd;
mod run;

use clap::Parser;
use muster_ninep::address::Address;
use muster_ninep::client::{Client, Options};
use std::process::ExitCode;
use std::sync::Arc;

/// Stands in until the command line with all commands is merged.
#[derive(Parser)]
enum Command {
    Run(cmd::run::Args),
}

fn main() -> anyhow::Result<ExitCode> {
    let Command::Run(args) = Command::parse();
    cmd::run::main(args, || {
        let address: Address = std::env::var("MUSTER_MANAGER")?.parse()?;
        let connect = Arc::new(move || Client::connect(&address, Options::default()));
        Ok(run::Cluster { client: connect()?, connect, embedded: false })
    })
}
