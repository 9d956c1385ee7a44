//! `muster top`: what the cluster does now, in a terminal.

use crate::cluster::Context;
use crate::top;
use anyhow::Result;
use muster_base::span;
use std::io::{self, IsTerminal};
use std::process::ExitCode;
use std::time::Duration;

/// A look more often would say less: what has been used is divided by the time between two.
const INTERVAL_MIN: Duration = Duration::from_millis(100);

/// Show nodes, jobs and slots, live.
///
/// Keys: arrows up and down choose a job, k kills it once you say y, s sorts by the next column,
/// arrows left and right turn to further nodes, q quits. CPU% of a job is of one processor, CPU of
/// a node what its ranks take of all of its own. Where there is no terminal one picture is printed
/// as text. A view that merges several clusters shows them all.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  muster top\n  muster top -i 5s\n  muster top --once | head")]
pub struct Args {
    /// Time between two looks: 500ms, 2s
    #[arg(short, long, value_name = "TIME", default_value = "1s", value_parser = interval)]
    interval: Duration,
    /// Print one picture as text
    #[arg(long)]
    once: bool,
}

fn interval(text: &str) -> Result<Duration, String> {
    let interval = span::parse(text)?;
    if interval < INTERVAL_MIN {
        return Err(format!("looks are at least {INTERVAL_MIN:?} apart"));
    }
    Ok(interval)
}

pub fn run(args: &Args, context: &Context) -> Result<ExitCode> {
    let is_terminal = io::stdin().is_terminal() && io::stdout().is_terminal();
    if args.once || !is_terminal {
        let size = rustix::termios::tcgetwinsize(io::stdout()).ok();
        return top::once(context, size.map(|size| size.ws_col).filter(|width| *width > 0));
    }
    top::live(context, args.interval)
}
