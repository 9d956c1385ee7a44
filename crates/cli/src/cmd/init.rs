//! `muster init`: the key that clusters of several hosts begin with.

use super::{SCHEMA, print_json};
use anyhow::Result;
use muster_machine::config::Config;
use serde_json::json;
use std::io::Write;
use std::process::ExitCode;

/// Make your key for clusters of several hosts, once.
///
/// It proves to the nodes of your clusters that their manager is yours. It is in a directory that
/// only you can enter ($MUSTER_CONFIG, else ~/.config/muster) and never leaves this machine. A
/// cluster on one machine needs none.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  muster init && muster up --hosts lab.txt")]
pub struct Args {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> Result<ExitCode> {
    let config = Config::from_env()?;
    let (identity, is_new) = config.init()?;
    let (key, path) = (identity.public_key().to_string(), config.key());
    if args.json {
        print_json(&json!({
            "schema": SCHEMA, "made": is_new, "public_key": key, "path": path,
        }))?;
        return Ok(ExitCode::SUCCESS);
    }
    let path = path.display();
    let mut out = std::io::stdout().lock();
    match is_new {
        true => writeln!(out, "your key is made: {path}, which only you can read")?,
        false => writeln!(out, "your key is there already: {path}; nothing was changed")?,
    }
    writeln!(out, "its public half: {key}")?;
    Ok(ExitCode::SUCCESS)
}
