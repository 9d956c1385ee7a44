//! `bench launch`: `true`, and a program of 12 MiB that is sent along, on 16 and 64 nodes, beside
//! Slurm, Hydra and pdsh. (Open MPI wants hosts that are others: that needs network namespaces.)
//!
//! All nodes of all sides are daemons, or agents, on this one machine. Slurm has an allocation of
//! all nodes before it is measured. The other peers keep no daemons: they start an agent for each
//! node, which here is a shell and not ssh, so the way to another machine costs them nothing.
//! Commands take turns, in alternating order. What is sent is new each time: nobody has any of it.

mod figure;
mod slurm;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

use crate::child::{self, Child, in_path};
use crate::cluster::Cluster;
use crate::report::{Better, Case, Report, Samples};
use figure::Program;
pub use figure::{TRAFFIC, traffic};
use slurm::Slurm;

/// How long one launch may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// Bytes of the program that is sent along.
const BIG: usize = 12 << 20;

/// What a contender's launch is: commands, one after the other.
type Launch<'a> = Box<dyn Fn() -> Result<Vec<Command>> + 'a>;

/// Measures; draws figure 1 if it is told where.
///
/// # Errors
/// When a peer is missing, or a launch fails.
pub fn run(quick: bool, figure: Option<&Path>) -> Result<Report> {
    let base = PathBuf::from("/dev/shm");
    let home = base.join(format!("muster-bench-launch-{}", std::process::id()));
    fs::create_dir_all(&home)?;
    let result = measure(quick, figure, &base, &home);
    let _ = fs::remove_dir_all(&home);
    result
}

fn measure(quick: bool, figure: Option<&Path>, base: &Path, home: &Path) -> Result<Report> {
    let mut cases = Vec::new();
    for (nodes, rounds) in if quick { [(16, 5), (64, 3)] } else { [(16, 15), (64, 9)] } {
        cases.extend(on(nodes, rounds, base, &home.join(nodes.to_string()))?);
    }
    let mut notes = vec![
        format!("{}; load {}", first("slurmd", "-V"), load()),
        first("pdsh", "-V"),
        "ours and Slurm keep daemons and statuses; ours a control group a rank as well".to_owned(),
    ];
    if let Some(path) = figure {
        notes.extend(figure::measure(quick, path, base, home)?);
    }
    Ok(Report { bench: "launch", notes, cases })
}

fn on(nodes: usize, rounds: usize, base: &Path, home: &Path) -> Result<Vec<Case>> {
    let cluster = Cluster::up(nodes, base)?;
    let slurm = Slurm::up(&home.join("slurm"), nodes)?;
    let (hosts, agent) = agents(home, nodes)?;
    let big = home.join("big");
    let program = Program::make(&big, BIG)?;
    let count = nodes.to_string();

    let ours = || Ok(vec![cluster.command(&["run", "-N", &count, "true"])]);
    let srun = || Ok(vec![slurm.srun(nodes, "true")?]);
    let hydra = || Ok(vec![hydra(&hosts, &agent, &count)]);
    let pdsh = || Ok(vec![pdsh(nodes)]);
    let mut rows: Vec<(&str, f64, Launch<'_>)> =
        vec![("ours", 0.0, Box::new(ours)), ("srun", limit(nodes, 10.0, 14.3), Box::new(srun))];
    rows.push(("Hydra", 4.0, Box::new(hydra)));
    rows.push(("pdsh", 1.0, Box::new(pdsh)));
    let mut cases = beside(&format!("true on {nodes}"), rounds, &rows)?;

    let ours = || {
        program.renew()?;
        Ok(vec![cluster.command(&["run", "-N", &count, &program.path])])
    };
    let both = || {
        program.renew()?;
        Ok(vec![slurm.sbcast(&big), slurm.srun(nodes, "/mnt/big")?])
    };
    let rows: Vec<(&str, f64, Launch<'_>)> =
        vec![("ours", 0.0, Box::new(ours)), ("sbcast + srun", 5.9, Box::new(both))];
    cases.extend(beside(&format!("12 MiB sent and run on {nodes}"), rounds, &rows)?);
    Ok(cases)
}

fn limit(nodes: usize, few: f64, many: f64) -> f64 {
    if nodes <= 16 { few } else { many }
}

/// Launches in turn; the first row is ours.
fn beside(what: &str, rounds: usize, rows: &[(&str, f64, Launch<'_>)]) -> Result<Vec<Case>> {
    let mut times = vec![Samples::default(); rows.len()];
    for round in 0..=rounds {
        let mut order: Vec<usize> = (0..rows.len()).collect();
        if round % 2 == 1 {
            order.reverse();
        }
        for at in order {
            let (name, _, launch) = &rows[at];
            let time = timed(launch()?).with_context(|| format!("{what}: {name}"))?;
            // The first warms caches.
            if round > 0 {
                times[at].0.push(time);
            }
        }
    }
    let case = |(at, (name, limit, _)): (usize, &(&str, f64, Launch<'_>))| Case {
        case: what.to_owned(),
        unit: "ms",
        better: Better::Lower,
        ours: times[0].clone(),
        peer: times[at].clone(),
        peer_name: (*name).to_owned(),
        limit: *limit,
        in_pairs: false,
    };
    Ok(rows.iter().enumerate().skip(1).map(case).collect())
}

/// Milliseconds that commands take, one after the other.
fn timed(commands: Vec<Command>) -> Result<f64> {
    let start = Instant::now();
    for mut command in commands {
        command.stdout(Stdio::piped());
        let Some(output) = Child::start(&mut command)?.output(PATIENCE)? else {
            bail!("{command:?} has not ended for {PATIENCE:?}");
        };
        ensure!(output.status.success(), "{command:?} ended with {}", output.status);
    }
    Ok(start.elapsed().as_secs_f64() * 1e3)
}

/// A file with the peers' hosts, and the agent that stands for ssh: it skips options and the host,
/// and runs the rest here, with temporary files of that host's own.
fn agents(home: &Path, nodes: usize) -> Result<(PathBuf, PathBuf)> {
    let (hosts, agent) = (home.join("hosts"), home.join("agent"));
    fs::write(&hosts, (1..=nodes).map(|node| format!("s{node}\n")).collect::<String>())?;
    let text = format!(
        "#!/bin/sh\nwhile :; do case \"$1\" in -*) shift;; *) break;; esac; done\n\
         TMPDIR={}/$1; export TMPDIR; mkdir -p $TMPDIR; shift\nexec sh -c \"$*\"\n",
        home.display()
    );
    fs::write(&agent, text)?;
    fs::set_permissions(&agent, fs::Permissions::from_mode(0o755))?;
    Ok((hosts, agent))
}

fn hydra(hosts: &Path, agent: &Path, count: &str) -> Command {
    let mut command = child::command("mpiexec.hydra");
    command.arg("-f").arg(hosts).args(["-launcher", "ssh", "-launcher-exec"]).arg(agent);
    command.args(["-ppn", "1", "-n", count, "true"]);
    quiet(command)
}

fn pdsh(nodes: usize) -> Command {
    let mut command = child::command("pdsh");
    command.args(["-R", "exec", "-f", "64", "-w"]).arg(format!("s[1-{nodes}]"));
    command.args(["sh", "-c", "exec true"]);
    quiet(command)
}

fn quiet(mut command: Command) -> Command {
    command.stdin(Stdio::null()).stderr(Stdio::null());
    command
}

fn first(program: &str, option: &str) -> String {
    let missing = || format!("{program}: not found");
    in_path(program).and_then(|path| child::first_line(path, &[option])).unwrap_or_else(missing)
}

fn load() -> String {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').take(3).collect::<Vec<_>>().join(" ")
}
