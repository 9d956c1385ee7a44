//! `bench deaths`: of 64 node daemons one is killed, again and again: how long until the manager
//! says which, on an idle machine and beside 20 processes that do nothing but run; and whether it
//! ever says so of one that lives.
//!
//! The clock runs from just before the signal until a client that reads `events` has read the line,
//! so the daemon's own end is in it: the kernel tears down its memory, then closes its sockets.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use muster_ninep::address::Address;
use muster_ninep::client::{Client, Options};
use muster_ninep::tree::OpenFlags;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::child::{self, Child};
use crate::cluster::Cluster;
use crate::report::{Case, Report, Samples};

const NODES: usize = 64;

/// Processes that are the load.
const LOAD: usize = 20;

/// How long a death may take to be told, and a node to come back.
const PATIENCE: Duration = Duration::from_secs(60);

/// Between two deaths, so that the machine is idle again.
const PAUSE: Duration = Duration::from_millis(300);

/// A line of `events`, and when it was read.
type Told = (Instant, Value);

/// Measures.
///
/// # Errors
/// When the cluster does not come up, or a death is not told.
pub fn run(quick: bool) -> Result<Report> {
    let (kills, seconds) = if quick { (10, 20) } else { (50, 600) };
    let cluster = Cluster::up(NODES, Path::new("/dev/shm"))?;
    let directory = cluster.directory();
    let events = listen(&directory)?;
    let idle = deaths(&directory, &events, kills)?;
    let load: Result<Vec<Child>> = (0..LOAD).map(|_| busy()).collect();
    let load = load?;
    let (wrong, failed) = named_alive(&cluster, &events, Duration::from_secs(seconds))?;
    let loaded = deaths(&directory, &events, kills)?;
    drop(load);
    let most = |all: &Samples| Samples(vec![all.quantile(1.0)]);
    let cases = vec![
        Case::bound("a death among 64 is named, idle", "ms", idle.clone(), 20.0),
        Case::bound("the same, latest", "ms", most(&idle), 20.0),
        Case::bound("a death among 64 is named, load 20", "ms", loaded.clone(), 200.0),
        Case::bound("the same, latest", "ms", most(&loaded), 200.0),
        Case::bound(&format!("named though alive, {seconds} s of load"), "", wrong, 0.0),
        Case::bound("launches on all 64 that failed meanwhile", "", failed, 0.0),
    ];
    let notes = vec![format!("{kills} deaths each, {NODES} daemons on this machine")];
    Ok(Report { bench: "deaths", notes, missing: Vec::new(), cases })
}

/// A process that runs and does nothing.
fn busy() -> Result<Child> {
    let mut command = child::command("sh");
    command.args(["-c", "while :; do :; done"]);
    Child::start(command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()))
}

/// Reads `events` from now on.
fn listen(directory: &Path) -> Result<Receiver<Told>> {
    let address = Address::unix(directory.join("manager.sock"))?;
    let client = Client::connect(&address, Options::default())?;
    let file = client.open("events", OpenFlags::default())?;
    let (tell, told) = channel();
    std::thread::Builder::new().name("events".to_owned()).spawn(move || {
        for line in BufReader::new(file).lines().map_while(Result::ok) {
            let event = serde_json::from_str(&line).unwrap_or_default();
            if tell.send((Instant::now(), event)).is_err() {
                return;
            }
        }
    })?;
    Ok(told)
}

/// Waits for an event of a node.
fn wait(events: &Receiver<Told>, node: &str, what: &[&str]) -> Result<Instant> {
    let until = Instant::now() + PATIENCE;
    loop {
        let left = until.saturating_duration_since(Instant::now());
        let told = events.recv_timeout(left);
        let (when, event) = told.with_context(|| format!("no word of {what:?} {node}"))?;
        if event["node"] == node && what.iter().any(|what| event["event"] == *what) {
            return Ok(when);
        }
    }
}

/// Kills nodes, one after the other: milliseconds until each is named.
fn deaths(directory: &Path, events: &Receiver<Told>, kills: usize) -> Result<Samples> {
    let mut times = Samples::default();
    for kill in 0..kills {
        std::thread::sleep(PAUSE);
        let node = format!("n{}", kill * 29 % NODES);
        let pid = pid_of(directory, &node)?;
        while events.try_recv().is_ok() {}
        let begun = Instant::now();
        kill_process(pid, Signal::KILL)?;
        let named = wait(events, &node, &["node down", "node lost"])?;
        times.0.push((named - begun).as_secs_f64() * 1e3);
        wait(events, &node, &["node up"])?;
    }
    Ok(times)
}

/// A node's process, as the keeper has noted it.
fn pid_of(directory: &Path, node: &str) -> Result<Pid> {
    let until = Instant::now() + PATIENCE;
    while Instant::now() < until {
        let pids = fs::read_to_string(directory.join("pids"))?;
        let line = pids.lines().find_map(|line| line.strip_prefix(&format!("{node} ")));
        let pid = line.and_then(|line| Pid::from_raw(line.split(' ').next()?.parse().ok()?));
        if let Some(pid) = pid {
            return Ok(pid);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    bail!("{node} does not run")
}

/// Launches jobs for a while: how many nodes are called dead meanwhile, though none is, and how
/// many launches fail.
fn named_alive(
    cluster: &Cluster,
    events: &Receiver<Told>,
    time: Duration,
) -> Result<(Samples, Samples)> {
    let until = Instant::now() + time;
    let (mut named, mut failed) = (0, 0);
    while Instant::now() < until {
        let launched = cluster.muster(&["run", "--input", "none", "-N", "64", "true"]);
        failed += u32::from(launched.is_err());
        while let Ok((_, event)) = events.try_recv() {
            if event["event"] == "node down" || event["event"] == "node lost" {
                eprintln!("bench: {event}");
                named += 1;
            }
        }
    }
    let one = |count| Samples(vec![f64::from(count)]);
    Ok((one(named), one(failed)))
}
