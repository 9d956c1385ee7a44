//! `muster daemon`: the processes of a cluster. Users start them with `muster up`.

use crate::cluster::Context;
use anyhow::Result;
use muster_machine::keeper::{Keeper, Plan, by_file};
use muster_machine::{manager, node, strober};
use std::io::{BufRead, Write};
use std::path::PathBuf;
use std::process::ExitCode;

/// Be a daemon of a cluster.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    daemon: Daemon,
}

#[derive(Debug, clap::Subcommand)]
enum Daemon {
    /// Keep the daemons of a cluster
    Keeper {
        #[arg(long)]
        nodes: u16,
    },
    /// Manage a cluster until standard input ends
    Manager {
        /// The cluster's directory
        #[arg(long)]
        dir: PathBuf,
    },
    /// Let jobs take turns until standard input ends
    Strober {
        /// The cluster's directory
        #[arg(long)]
        dir: PathBuf,
    },
    /// Serve a node until standard input ends
    Node {
        /// The cluster's directory
        #[arg(long)]
        dir: PathBuf,
        /// The node's name
        #[arg(long)]
        name: String,
    },
}

pub fn run(args: &Args, context: &Context) -> Result<ExitCode> {
    match &args.daemon {
        Daemon::Keeper { nodes } => return Ok(keep(context, *nodes)),
        Daemon::Manager { dir } => manager::daemon::run(dir)?,
        Daemon::Strober { dir } => strober::daemon::run(dir)?,
        Daemon::Node { dir, name } => node::daemon::run(dir, name)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Keeps a cluster. Standard output is for `muster up` alone: `ready`, or why not. It answers
/// `keep` when all nodes have joined; if it ends without that, so does the cluster.
fn keep(context: &Context, nodes: u16) -> ExitCode {
    // Out of the terminal's session, whose keys and end are none of the cluster's business. It
    // fails only for who is out of it already.
    let _ = rustix::process::setsid();
    let _ = std::env::set_current_dir("/");
    let plan = Plan::new(nodes.into(), by_file());
    let keeper = match Keeper::start(&context.runtime, &context.cluster, plan) {
        Ok(keeper) => keeper,
        Err(error) => {
            let _ = writeln!(std::io::stdout(), "{error}");
            return ExitCode::FAILURE;
        }
    };
    let _ = writeln!(std::io::stdout(), "ready");
    // Whoever waits for the end of what `muster up` prints must not wait for the cluster's.
    let log = std::fs::OpenOptions::new().append(true).open(keeper.directory().log());
    if let Ok(log) = log {
        let _ = rustix::stdio::dup2_stdout(&log);
        let _ = rustix::stdio::dup2_stderr(&log);
    }
    let mut said = String::new();
    let heard = std::io::stdin().lock().read_line(&mut said);
    if heard.is_ok() && said == "keep\n" {
        keeper.wait();
    } else {
        keeper.stop();
    }
    ExitCode::SUCCESS
}
