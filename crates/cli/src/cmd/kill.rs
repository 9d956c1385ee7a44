//! `muster kill`: ends jobs, or sends them a signal.

use super::{Usage, job_path, job_refused};
use crate::cluster::Context;
use anyhow::Result;
use std::process::ExitCode;

/// Signals by name, as signal(7) numbers them where all machines agree.
const SIGNALS: [(&str, i32); 18] = [
    ("HUP", 1),
    ("INT", 2),
    ("QUIT", 3),
    ("ILL", 4),
    ("TRAP", 5),
    ("ABRT", 6),
    ("BUS", 7),
    ("FPE", 8),
    ("KILL", 9),
    ("USR1", 10),
    ("SEGV", 11),
    ("USR2", 12),
    ("PIPE", 13),
    ("ALRM", 14),
    ("TERM", 15),
    ("CONT", 18),
    ("STOP", 19),
    ("TSTP", 20),
];

/// End jobs, or send them a signal.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  muster kill 3\n  muster kill -s USR1 3 4")]
pub struct Args {
    /// Numbers of jobs
    #[arg(required = true, value_name = "JOB")]
    jobs: Vec<u32>,
    /// Send this signal instead of ending the job: TERM, SIGTERM or 15
    #[arg(short, long)]
    signal: Option<String>,
}

pub fn run(args: &Args, context: &Context) -> Result<ExitCode> {
    let order = match &args.signal {
        Some(signal) => format!("signal {}\n", name(signal)?),
        None => "kill\n".to_owned(),
    };
    let client = context.connect()?;
    for &job in &args.jobs {
        let told = client.write(&format!("{}/ctl", job_path(job)), &order);
        told.map_err(|error| job_refused(job, error))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The name of a signal, however it was given.
fn name(given: &str) -> Result<&'static str> {
    let upper = given.to_uppercase();
    let plain = upper.strip_prefix("SIG").unwrap_or(&upper);
    let number: Option<i32> = plain.parse().ok();
    let found = SIGNALS.iter().find(|(name, value)| *name == plain || Some(*value) == number);
    let unknown = || Usage(format!("there is no signal {given:?} (kill -l lists them)  [E163]"));
    Ok(found.ok_or_else(unknown)?.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_has_many_spellings() {
        for given in ["TERM", "SIGTERM", "sigterm", "15"] {
            assert_eq!(name(given).expect(given), "TERM");
        }
        for given in ["", "SIG", "0", "99", "TERMS"] {
            assert!(name(given).is_err(), "{given}");
        }
    }
}
