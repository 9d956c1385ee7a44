//! `muster wait`: until jobs have ended, and how.

use super::{job_path, job_refused};
use crate::cluster::Context;
use crate::job_rows;
use crate::members::JobName;
use crate::run::{ended, say};
use anyhow::{Result, bail};
use muster_machine::manager::spec::{Spec, Status};
use muster_ninep::client::Client;
use muster_ninep::error::Errno;
use std::process::ExitCode;

const EXAMPLES: &str = "Examples:\n  muster wait 3 4 && muster logs 4\n  \
                        timeout 10m muster wait big.7";

/// Wait until jobs have ended.
///
/// Says what muster run would have said of those that failed, behind the job's number if there are
/// several. The exit status is that of the first of them, in the order of the command line: 0 when
/// all went well, 1 of a job that is not known. Of those before the last 256 it tells the exit
/// status alone. Nothing becomes of a job if nobody waits for it any more. A job cannot
/// wait for itself, nor for the one in which it was started.
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
        let label = job.label();
        let outcome = job.context(context).and_then(|context| {
            let client = context.connect()?;
            check_outside(job, &context, &client)?;
            outcome(job, &context, client)
        });
        let (exit, lines) = match outcome {
            Ok(Outcome::Ended(status)) => ended(&status, &label),
            Ok(Outcome::Forgotten(job)) => (job.exit.unwrap_or(UNKNOWN), no_more(&label, &job)),
            Err(error) if args.jobs.len() == 1 => return Err(error),
            // The others are waited for all the same.
            Err(error) => (UNKNOWN, vec![format!("muster: {error}")]),
        };
        for line in &lines {
            match args.jobs.len() {
                1 => say(line),
                _ => say(&format!("job {label}: {line}")),
            }
        }
        if first == 0 {
            first = exit;
        }
    }
    Ok(first.into())
}

/// What this is a part of does not end before this has ended.
fn check_outside(job: &JobName, context: &Context, client: &Client) -> Result<()> {
    let mut inner = context.own_job();
    while let Some(number) = inner {
        if number == job.number {
            bail!("this is a part of job {number}, which does not end before it  [E129]");
        }
        let spec = client.read(&format!("{}/spec", job_path(number))).ok();
        let spec = spec.and_then(|text| serde_json::from_slice::<Spec>(&text).ok());
        // The one in which it was started was there before it.
        inner = spec.and_then(|spec| spec.within).filter(|outer| *outer < number);
    }
    Ok(())
}

/// What counts for a job of which it is not known how it has ended.
const UNKNOWN: u8 = 1;

/// What is told of a job that has ended.
pub(super) enum Outcome {
    Ended(Box<Status>),
    /// No more is kept of it than a line.
    Forgotten(Box<Status>),
}

/// What is said of a job of which no more is kept, if it has failed.
fn no_more(label: &str, job: &Status) -> Vec<String> {
    match job.exit {
        Some(0) => Vec::new(),
        _ => vec![format!("muster: {}  [E166]", job_rows::no_more_of(label, job))],
    }
}

/// How a job has ended, once it has: also where another manager tells it than the one that was
/// asked.
pub(super) fn outcome(job: &JobName, context: &Context, mut client: Client) -> Result<Outcome> {
    loop {
        let error = match client.read(&format!("{}/wait", job_path(job.number))) {
            Ok(status) => return Ok(Outcome::Ended(serde_json::from_slice(&status)?)),
            Err(error) => error,
        };
        if client.ended().is_none() {
            let is_unknown = error.errno == Errno::NOENT;
            let forgotten = is_unknown.then(|| job_rows::forgotten(&client, job.number)).flatten();
            let refused = || job_refused(&client, job, error);
            return forgotten.map(|it| Outcome::Forgotten(Box::new(it))).ok_or_else(refused);
        }
        let again = context.connect_again();
        let gone = || context.ended(job).unwrap_or_else(|| job_refused(&client, job, error));
        client = again.ok_or_else(gone)?;
    }
}
