//! `muster daemon`: the processes of a cluster. Users start them with `muster up`.

use crate::cluster::Context;
use crate::stand_in::{self, StandIn};
use anyhow::Result;
use muster_base::elf::HERE;
use muster_machine::hosts::session::Calls;
use muster_machine::keeper::{Keeper, Plan, by_file};
use muster_machine::node::processor::Processor;
use muster_machine::{hosts, manager, node, strober};
use std::ffi::CString;
use std::io::{BufRead, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};

/// What this program was built of: that for another processor is to be of the same.
const SOURCES: &str = env!("MUSTER_SOURCES");

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
        #[arg(long, default_value_t = 0)]
        nodes: u16,
        /// Nodes that stand in for another processor
        #[arg(long, value_parser = stand_in::parse)]
        arch: Vec<StandIn>,
        /// Its nodes are on other hosts; a line of standard input says which
        #[arg(long, conflicts_with = "nodes")]
        beyond: bool,
    },
    /// Keep a host's part of a cluster
    Host,
    /// Say the hash if this is the build of that hash, of those sources
    Verify {
        /// BLAKE3, in hexadecimal
        hash: String,
        /// What build.rs makes of them
        sources: String,
        /// That of the MPI library beside it, or `none`
        #[arg(default_value = "none")]
        library: String,
        /// What builds of other sources may ask as well: they are told that they are others
        #[arg(hide = true)]
        further: Vec<String>,
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
        /// The processor that it says it has
        #[arg(long, default_value = HERE)]
        arch: String,
        /// What runs programs for it
        #[arg(long)]
        emulator: Option<PathBuf>,
    },
}

impl Daemon {
    /// What it is called where processes are listed.
    fn name(&self) -> &str {
        match self {
            Daemon::Keeper { .. } => "keeper",
            Daemon::Host => "host",
            Daemon::Verify { .. } => "verify",
            Daemon::Manager { .. } => "manager",
            Daemon::Strober { .. } => "strober",
            Daemon::Node { name, .. } => name,
        }
    }
}

/// Names this process as a part of Muster: started by /proc/self/exe it would be listed as `exe`,
/// by top(1) and by the kernel when it runs out of memory.
pub fn be_called(name: &str) {
    // The kernel takes its beginning if it is long. If it refuses, only the name is worse.
    let _ = CString::new(format!("muster:{name}")).map(|name| rustix::thread::set_name(&name));
}

pub fn run(args: &Args, context: &Context) -> Result<ExitCode> {
    be_called(args.daemon.name());
    match &args.daemon {
        Daemon::Keeper { nodes, arch, beyond } => {
            return Ok(keep(context, *nodes, arch, *beyond));
        }
        Daemon::Host => hosts::guest::run()?,
        Daemon::Verify { hash, sources, library, .. } => {
            hosts::carry::verify(hash, sources, SOURCES, library)?;
            // Said, since a shell takes an empty file for a program that succeeds.
            writeln!(std::io::stdout(), "{hash}")?;
        }
        Daemon::Manager { dir } => manager::daemon::run(dir)?,
        Daemon::Strober { dir } => strober::daemon::run(dir)?,
        Daemon::Node { dir, name, arch, emulator } => {
            let processor = Processor { name: arch.clone(), emulator: emulator.clone() };
            node::daemon::run(dir, name, processor)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Keeps a cluster. Standard output is for `muster up` alone, a line each: `up NODES` for a host
/// that has started, `missing WHY` for one that is gone without, `note WHAT` where something is
/// strange; then `ready`, or why not. It answers `keep` when all nodes have joined; if it ends
/// without that, so does the cluster.
fn keep(context: &Context, nodes: u16, arches: &[StandIn], is_beyond: bool) -> ExitCode {
    // Out of the terminal's session, whose keys and end are none of the cluster's business. It
    // fails only for who is out of it already.
    let _ = rustix::process::setsid();
    let _ = std::env::set_current_dir("/");
    let calls = Arc::new(Calls::default());
    let said = listen(calls.clone());
    let keeper = if is_beyond {
        keeper_of_hosts(context, &said, &calls)
    } else {
        let arguments = stand_in::arguments(arches);
        let plan = Plan { arguments, ..Plan::new(nodes.into(), by_file()) };
        Keeper::start(&context.runtime, &context.cluster, plan).map_err(anyhow::Error::from)
    };
    drop(calls);
    let keeper = match keeper {
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
    if said.recv().is_ok_and(|said| said == "keep") {
        keeper.wait();
    } else {
        keeper.stop();
    }
    ExitCode::SUCCESS
}

/// What `muster up` says, line by line, up to `keep`. If it ends before, hosts that are being
/// called are given up.
fn listen(calls: Arc<Calls>) -> Receiver<String> {
    let (tell, said) = channel();
    crate::run::spawn(move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            let is_last = line == "keep";
            // It fails when the cluster could not be brought up.
            if tell.send(line).is_err() || is_last {
                return;
            }
        }
        calls.give_up();
    });
    said
}

/// Brings up a cluster of the hosts that `muster up` names.
fn keeper_of_hosts(context: &Context, said: &Receiver<String>, calls: &Calls) -> Result<Keeper> {
    let order = serde_json::from_str(&said.recv()?)?;
    let say = |line: &str| _ = writeln!(std::io::stdout(), "{line}");
    let (runtime, cluster) = (&context.runtime, &context.cluster);
    Ok(hosts::head::bring_up(runtime, cluster, &order, calls, SOURCES, say)?)
}
