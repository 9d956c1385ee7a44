//! `muster kill`: ends jobs, or sends them a signal.
//!
//! As scancel does, it asks first: ranks are sent SIGTERM, and what is left of them after the job's
//! time of grace is killed.

use super::{Several, Usage, job_path, job_refused};
use crate::cluster::Context;
use crate::job_rows;
use crate::members::{Connections, JobName};
use anyhow::Result;
use muster_machine::manager::spec::{Phase, Status as Job};
use muster_ninep::client::Client;
use std::io::{self, Write};
use std::process::ExitCode;

const EXAMPLES: &str =
    "Examples:\n  muster kill 3\n  muster kill -s KILL 3\n  muster kill -s USR1 3 4";

const KILL: u8 = libc::SIGKILL as u8;

/// End jobs, or send them a signal.
///
/// Ranks get SIGTERM, and what has not ended after the job's time of grace (muster run --grace, 5
/// s) is killed. At once with -s KILL.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Numbers of jobs, or CLUSTER.NUMBER
    #[arg(required = true, value_name = "JOB")]
    jobs: Vec<JobName>,
    /// Send this signal instead of ending the job: TERM, SIGTERM or 15
    #[arg(short, long)]
    signal: Option<String>,
}

pub fn run(args: &Args, context: &Context) -> Result<ExitCode> {
    let order = match args.signal.as_deref().map(number).transpose()? {
        // Also of what has no ranks so far, or whose node does not answer.
        Some(KILL) => "kill\n".to_owned(),
        Some(signal) => format!("signal {signal}\n"),
        None => "end\n".to_owned(),
    };
    let mut several = Several::of(&args.jobs);
    let mut connections = Connections::default();
    for job in &args.jobs {
        let client = connections.to(job, context);
        let told = client.and_then(|it| it.map_or(Ok(()), |client| tell(&client, job, &order)));
        several.next(told)?;
    }
    Ok(several.exit())
}

/// Gives a job an order.
fn tell(client: &Client, name: &JobName, order: &str) -> Result<()> {
    let job = name.number;
    // One that has ended takes orders and does nothing: it is told who asks.
    let status = match client.read(&format!("{}/status", job_path(job))) {
        Ok(text) => serde_json::from_slice::<Job>(&text).ok(),
        Err(_) => job_rows::forgotten(client, job),
    };
    if let Some(status) = status.filter(|status| status.state == Phase::Done) {
        let exit = status.exit.map(|code| format!(" with exit status {code}"));
        let line = format!("job {} has ended already{}", name.label(), exit.unwrap_or_default());
        return Ok(writeln!(io::stdout(), "{line}")?);
    }
    let told = client.write(&format!("{}/ctl", job_path(job)), order);
    told.map_err(|error| job_refused(client, name, error))
}

/// The number of a signal, however it was given.
fn number(given: &str) -> Result<u8> {
    let unknown = || Usage(format!("there is no signal {given:?} (kill -l lists them)  [E163]"));
    Ok(muster_base::ending::signal(given).ok_or_else(unknown)?)
}
