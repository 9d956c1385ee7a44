//! `muster up`: a cluster that stays.

use super::progress::Progress;
use super::scheduler::Settings;
use super::{SCHEMA, because, print_json, refused};
use crate::cluster::{Context, node_names, wait_until_joined};
use anyhow::{Result, bail};
use muster_base::limits::{NODES_HERE_MAX, SLICE_MIN_SHARED};
use muster_base::nodeset::fold;
use muster_machine::keeper::State;
use muster_ninep::client::Client;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

/// How long a node may take to tell how it is.
const ANSWER: Duration = Duration::from_secs(2);

/// Bring up a cluster of node daemons on this machine.
///
/// It stays until `muster down`. Nobody but you can reach it: its sockets are in a directory of
/// yours, and nothing listens on a network.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  muster up -N 8\n  muster --cluster lab up -N 2")]
pub struct Args {
    /// Number of nodes
    #[arg(short = 'N', long, value_name = "COUNT", default_value_t = 4)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=NODES_HERE_MAX as i64))]
    nodes: u16,
    /// Who starts jobs when: share, fcfs, easy or gang (see muster scheduler --help)
    #[arg(long, value_name = "NAME")]
    scheduler: Option<String>,
    #[command(flatten)]
    settings: Settings,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args, context: &Context) -> Result<ExitCode> {
    let start = Instant::now();
    let scheduler = args.settings.line(args.scheduler.as_deref(), "share")?;
    let names = node_names(args.nodes.into());
    let mut progress = Progress::steps("nodes up", names.len());
    // When this process ends without having said so, the keeper ends as well.
    let (_keeper, confirm) = start_keeper(context, args.nodes)?;
    let alive = || match context.runtime.state(&context.cluster)? {
        Some(State::Kept(_)) => Ok(()),
        _ => bail!("the manager of cluster {} does not start  [E125]", context.cluster),
    };
    let client = wait_until_joined(context, &names, alive, |up| progress.at(up as u64))?;
    drop(progress);
    if let Some(line) = scheduler {
        client.write("scheduler", format!("{line}\n")).map_err(refused)?;
    }
    keep(confirm).map_err(because("the keeper has ended", "E125"))?;
    told(args, context, &names, start.elapsed().as_secs_f64())?;
    if let Some(limits) = limits(&client) {
        // Nobody may be there to read it.
        let _ = writeln!(std::io::stderr(), "muster: {limits}");
    }
    Ok(ExitCode::SUCCESS)
}

/// Starts the keeper as a process of its own; returns once its daemons are started.
fn start_keeper(context: &Context, nodes: u16) -> Result<(Child, ChildStdin)> {
    let mut command = Command::new("/proc/self/exe");
    command.arg0("muster").args(["--cluster", &context.cluster, "daemon", "keeper"]);
    command.arg("--nodes").arg(nodes.to_string()).env("MUSTER_RUNTIME", context.runtime.path());
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let starting = format!("could not start the keeper of cluster {}", context.cluster);
    let mut keeper = command.spawn().map_err(because(&starting, "E125"))?;
    let mut said = String::new();
    let from = keeper.stdout.take().expect("it is piped");
    BufReader::new(from).read_line(&mut said).map_err(because(&starting, "E125"))?;
    match said.trim() {
        "ready" => {}
        "" => bail!("the keeper of cluster {} ended without a word  [E125]", context.cluster),
        why => bail!("{why}"),
    }
    let confirm = keeper.stdin.take().expect("it is piped");
    Ok((keeper, confirm))
}

/// Tells the keeper to go on without us.
fn keep(mut confirm: ChildStdin) -> std::io::Result<()> {
    confirm.write_all(b"keep\n")
}

/// What jobs that take turns have to do without here, in a sentence.
fn limits(client: &Client) -> Option<String> {
    let client = client.with_deadlines(Some(ANSWER), Some(ANSWER));
    let told: Value = serde_json::from_slice(&client.read("nodes/n0/strobe").ok()?).ok()?;
    let ms = SLICE_MIN_SHARED.as_millis();
    match (told["scheduled"] == "fifo", told["by"] == "freezer") {
        (true, true) => None,
        (false, true) => Some(format!(
            "jobs that take turns do so every {ms} ms at most, since you may not run the strober \
             SCHED_FIFO: see muster explain N125  [N125]"
        )),
        (true, false) => Some(
            "jobs that take turns are stopped by signals, which SIGCONT undoes, since you may \
             make no control groups: see muster explain N125  [N125]"
                .to_owned(),
        ),
        (false, false) => Some(format!(
            "jobs that take turns do so every {ms} ms at most and are stopped by signals, which \
             SIGCONT undoes, since you may neither run the strober SCHED_FIFO nor make control \
             groups: see muster explain N125  [N125]"
        )),
    }
}

fn told(args: &Args, context: &Context, names: &[String], seconds: f64) -> Result<()> {
    let cpus = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    if args.json {
        return print_json(&json!({
            "schema": SCHEMA, "cluster": context.cluster, "nodes": names, "transport": "unix",
            "cpus": cpus, "seconds": seconds,
        }));
    }
    let (count, s) = (names.len(), if names.len() == 1 { "" } else { "s" });
    let cores = if cpus == 1 { "one core".to_owned() } else { format!("{cpus} cores") };
    let flag = match context.cluster.as_str() {
        "default" => String::new(),
        name => format!("--cluster {name} "),
    };
    let mut out = std::io::stdout().lock();
    writeln!(
        out,
        "{count} embedded node{s} {} up in {seconds:.2} s, sharing {cores}. Only you can reach \
         them.",
        fold(names)
    )?;
    writeln!(out, "Try: muster {flag}run -n {count} -l hostname")?;
    Ok(())
}
