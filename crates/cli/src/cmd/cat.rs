//! `muster cat`: files of the cluster tree.

use super::refused;
use crate::cluster::Context;
use anyhow::Result;
use muster_ninep::client::Client;
use muster_ninep::tree::OpenFlags;
use std::io::{self, Read, Write};
use std::process::ExitCode;

/// Requests under way for a file whose bytes stay where they are.
const DEPTH: usize = 4;

/// Print files of the cluster tree.
///
/// A file that waits, such as a job's stdout or /events, is printed as it grows; Ctrl-C ends it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  muster cat /nodes/n0/mem\n  muster cat /events")]
pub struct Args {
    /// Files of the cluster
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<String>,
}

pub fn run(args: &Args, context: &Context) -> Result<ExitCode> {
    let client = context.connect()?;
    for path in &args.paths {
        print(&client, path.strip_prefix(':').unwrap_or(path))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn print(client: &Client, path: &str) -> Result<()> {
    let file = client.open(path, OpenFlags::default()).map_err(refused)?;
    if file.fid().qid().is_dir() {
        anyhow::bail!("{path} is a directory; list it: muster ls {path}  [E160]");
    }
    // What has a size is a file on some disk; what has none is made up as it is read, and must
    // be read in order.
    let size = file.fid().getattr().map_or(0, |attr| attr.size);
    let mut file = if size > 0 { file.with_depth(DEPTH) } else { file };
    let mut buffer = vec![0; 256 * 1024];
    let mut out = io::stdout().lock();
    loop {
        let count = match file.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(count) => count,
            Err(error) => anyhow::bail!("{error}  [E160]"),
        };
        out.write_all(&buffer[..count])?;
        out.flush()?;
    }
}
