//! `muster cat`: files of the cluster tree.

use super::{Several, end_with_reader, job_path, job_refused, out, refused};
use crate::cluster::Context;
use crate::members::JobName;
use anyhow::Result;
use muster_ninep::client::Client;
use muster_ninep::error::Error;
use muster_ninep::synthetic::MADE;
use muster_ninep::tree::OpenFlags;
use std::io::Read;
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
    end_with_reader();
    let mut several = Several::of(&args.paths);
    for path in &args.paths {
        several.next(print(&client, path.strip_prefix(':').unwrap_or(path)))?;
    }
    Ok(several.exit())
}

/// A refusal; what is of a job of which no more is kept is told as that.
fn missing(client: &Client, path: &str, error: Error) -> anyhow::Error {
    let job = path.trim_start_matches('/').strip_prefix("jobs/");
    let job = job.and_then(|rest| rest.split('/').next()?.parse().ok());
    match job {
        Some(job) if client.getattr(&job_path(job)).is_err() => {
            job_refused(client, &JobName::here(job), error)
        }
        _ => refused(error),
    }
}

fn print(client: &Client, path: &str) -> Result<()> {
    let opened = client.open(path, OpenFlags::default());
    let file = opened.map_err(|error| missing(client, path, error))?;
    if file.fid().qid().is_dir() {
        anyhow::bail!("{path} is a directory; list it: muster ls {path}  [E160]");
    }
    // What is made up, as what has no size is, must be read in order: to ask it for what follows
    // says that all before has come.
    let size = file.fid().getattr().map_or(0, |attr| attr.size);
    let is_made = size == 0 || file.fid().qid().path & MADE != 0;
    let mut file = if is_made { file } else { file.with_depth(DEPTH) };
    let mut buffer = vec![0; 256 * 1024];
    loop {
        let count = match file.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(count) => count,
            Err(error) => anyhow::bail!("{error}  [E160]"),
        };
        out(&buffer[..count])?;
    }
}
