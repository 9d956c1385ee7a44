//! `muster explain`: what a message means.

use super::Usage;
use anyhow::Result;
use muster_base::catalog::{CATALOG, Entry, find};
use std::io::Write;
use std::process::ExitCode;

/// Explain a message by its id, or list all messages.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  muster explain E120")]
pub struct Args {
    /// Id of a message, as [E120] at its end
    id: Option<String>,
}

pub fn run(args: &Args) -> Result<ExitCode> {
    let mut out = std::io::stdout().lock();
    match &args.id {
        None => {
            CATALOG.iter().try_for_each(|entry| writeln!(out, "{} {}", entry.id, entry.title))?;
        }
        Some(id) => out.write_all(text(entry(id)?).as_bytes())?,
    }
    Ok(ExitCode::SUCCESS)
}

fn entry(id: &str) -> Result<&'static Entry> {
    let plain = id.trim_matches(['[', ']']);
    let unknown = || Usage(format!("no message has the id {id:?} (muster explain lists them)"));
    Ok(find(plain).ok_or_else(unknown)?)
}

fn text(entry: &Entry) -> String {
    let Entry { id, title, cause, next } = entry;
    format!("{id}: {title}\n\nWhy: {cause}\nWhat to do: {next}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_taken_as_it_was_printed() {
        assert!(text(entry("[E120]").expect("known")).starts_with("E120: No cluster is up."));
        assert!(entry("e131").is_ok());
        assert!(entry("x").expect_err("unknown").to_string().contains("muster explain"));
    }
}
