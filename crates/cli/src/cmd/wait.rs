//! `muster wait`: until jobs have ended, and how.

use super::{job_path, job_refused};
use crate::cluster::Context;
use crate::members::JobName;
use crate::run::{ended, say};
use anyhow::Result;
use muster_machine::manager::spec::Status;
use std::process::ExitCode;

const EXAMPLES: &str = "Examples:\n  muster wait 3 4 && muster logs 4\n  \
                        timeout 10m muster wait big.7";

/// Wait until jobs have ended.
///
/// Says what muster run would have said of those that failed. The exit status is that of the first
/// of them, in the order of the command line: 0 when all went well. Nothing becomes of a job if
/// nobody waits for it any more.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Numbers of jobs, or CLUSTER.NUMBER
    #[arg(required = true, value_name = "JOB")]
    jobs: Vec<JobName>,
}

pub fn run(args: &Args, context: &Context) -> Result<ExitCode> {
    let mut first = 0;
    for job in &args.jobs {
        let (exit, lines) = ended(&status(job, &job.context(context))?);
        lines.iter().for_each(|line| say(line));
        if first == 0 {
            first = exit;
        }
    }
    Ok(first.into())
}

/// How a job has ended, once it has: also where another manager tells it than the one that was
/// asked.
fn status(job: &JobName, context: &Context) -> Result<Status> {
    let mut client = context.connect()?;
    loop {
        let error = match client.read(&format!("{}/wait", job_path(job.number))) {
            Ok(status) => return Ok(serde_json::from_slice(&status)?),
            Err(error) => error,
        };
        let again = client.ended().and_then(|_| context.connect_again());
        client = again.ok_or_else(|| job_refused(job, error))?;
    }
}
