//! `bench launch`: `true`, and a program of 12 MiB that is sent along, on 16 and 64 nodes, beside
//! Slurm, Hydra and pdsh. With `--namespaces` each node is a host with a network of its own, ours
//! is brought up as on any hosts and talks TLS, and Open MPI, which wants hosts that are others, is
//! there too.
//!
//! All nodes of all sides are daemons, or agents, on this one machine. Slurm has an allocation of
//! all nodes before it is measured. The other peers keep no daemons: they start an agent for each
//! node, which here is a shell and not ssh, so the way to another machine costs them nothing.
//! Commands take turns, in alternating order. What is sent is new each time, so that nobody has any
//! of it; that what is there already costs nothing is a case of its own.

mod figure;
mod program;
mod slurm;

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

use crate::child::{self, Child, in_path};
use crate::cluster::Cluster;
use crate::cpu::Meter;
use crate::folder::Folder;
use crate::namespaces::{self, Namespaces};
use crate::report::{Case, Report, Samples, load};
pub use figure::{TRAFFIC, traffic};
pub use program::Program;
use slurm::Slurm;

/// How long one launch may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// When a file has not been changed a moment ago any more.
const SETTLED: Duration = Duration::from_secs(4);

/// Bytes of the program that is sent along.
const BIG: usize = 12 << 20;

/// What a contender's launch is: commands, one after the other.
type Launch<'a> = Box<dyn Fn() -> Result<Vec<Command>> + 'a>;

/// A contender's name, the ratio that is wanted, and its launch if it is there.
type Row<'a> = (&'static str, f64, Option<Launch<'a>>);

/// How it is measured.
#[derive(Debug)]
pub struct Settings<'a> {
    /// Few rounds.
    pub quick: bool,
    /// Each node is a host of its own.
    pub namespaces: bool,
    /// Where figure 1 goes.
    pub figure: Option<&'a Path>,
}

/// Measures; draws figure 1 if it is told where.
///
/// # Errors
/// When one of our launches fails.
pub fn run(settings: &Settings<'_>) -> Result<Report> {
    if settings.namespaces {
        namespaces::become_head()?;
    }
    let base = PathBuf::from("/dev/shm");
    let home = Folder::new(&base, "launch")?;
    measure(settings, &base, home.path())
}

fn measure(settings: &Settings<'_>, base: &Path, home: &Path) -> Result<Report> {
    let (mut cases, mut missing) = (Vec::new(), BTreeSet::new());
    for (nodes, rounds) in if settings.quick { [(16, 5), (64, 3)] } else { [(16, 15), (64, 9)] } {
        let home = home.join(nodes.to_string());
        let hosts = match settings.namespaces {
            true => Some(Namespaces::make(nodes, &home)?),
            false => None,
        };
        fs::create_dir_all(&home)?;
        let both = Both::up(nodes, hosts.as_ref(), base, &home)?;
        missing.extend(both.without.clone());
        cases.extend(small(&both, rounds, &home)?);
        cases.extend(large(&both, rounds, &home)?);
    }
    let place = match settings.namespaces {
        true => "each node in a network namespace, on one bridge; ours over TLS",
        false => "all nodes on loopback",
    };
    // Open MPI wants hosts that are others.
    let all = PEERS.iter().filter(|peer| settings.namespaces || peer.0 != OPEN.0);
    missing.extend(all.filter_map(|peer| peer.missing()));
    let missing = missing.into_iter().collect();
    let mut notes = vec![
        place.to_owned(),
        format!("{}; load {}", first("slurmd", "-V"), load()),
        first("pdsh", "-V"),
        "ours and Slurm keep daemons and statuses; ours a control group a rank as well".to_owned(),
        "processor time is that of daemons, commands and programs, less what is used idly".into(),
    ];
    if !cases.iter().any(|case| case.unit == "ms" && case.case.starts_with("processor time")) {
        notes.push("without processor time: no control group counts for us (as root)".to_owned());
    }
    if let Some(path) = settings.figure {
        notes.extend(figure::measure(settings.quick, path, base, home)?);
    }
    Ok(Report { bench: "launch", notes, missing, cases })
}

/// A peer, and the programs that it is; each is there or costs its own rows.
struct Peer(&'static str, &'static [&'static str]);

const SLURM: Peer = Peer("Slurm", &["munged", "slurmctld", "slurmd", "salloc", "sbcast", "srun"]);
const HYDRA: Peer = Peer("Hydra", &["mpiexec.hydra"]);
const PDSH: Peer = Peer("pdsh", &["pdsh"]);
const OPEN: Peer = Peer("Open MPI", &["mpirun.openmpi"]);
const PEERS: [Peer; 4] = [SLURM, HYDRA, PDSH, OPEN];

impl Peer {
    /// Why it is not there.
    fn missing(&self) -> Option<String> {
        let Peer(name, programs) = self;
        let missing = programs.iter().find(|program| in_path(program).is_none());
        let why = missing.map(|program| format!("no {program}: cargo xtask setup --bench"));
        let needs_root = *name == SLURM.0 && !rustix::process::geteuid().is_root();
        let root = needs_root.then(|| "each slurmd has a tmpfs, which only root mounts".to_owned());
        why.or(root).map(|why| format!("without {name}: {why}"))
    }

    fn is_there(&self) -> bool {
        self.missing().is_none()
    }
}

/// Ours and Slurm, with their counters.
struct Both<'a> {
    nodes: usize,
    cluster: Cluster,
    slurm: Option<Slurm>,
    /// Why Slurm did not come up, though it is there.
    without: Option<String>,
    meters: Option<(Meter, Meter)>,
    hosts: Option<&'a Namespaces>,
}

impl<'a> Both<'a> {
    fn up(nodes: usize, hosts: Option<&'a Namespaces>, base: &Path, home: &Path) -> Result<Self> {
        let meters = Meter::new("ours").zip(Meter::new("slurm"));
        let ours = || match hosts {
            Some(hosts) => Cluster::up_on(hosts, nodes, base),
            None => Cluster::up(nodes, base),
        };
        // A peer that does not come up costs its own rows only.
        let slurm = || Ok(SLURM.is_there().then(|| Slurm::up(&home.join("slurm"), nodes, hosts)));
        let (cluster, slurm) = match &meters {
            Some((one, other)) => (one.within(ours)?, other.within(slurm)?),
            None => (ours()?, slurm()?),
        };
        let (slurm, without) = match slurm {
            Some(Err(error)) => (None, Some(format!("without Slurm on {nodes}: {error:#}"))),
            slurm => (slurm.and_then(Result::ok), None),
        };
        Ok(Both { nodes, cluster, slurm, without, meters, hosts })
    }

    /// Processor time for each node.
    fn spent(
        &self,
        what: &str,
        rounds: usize,
        (ours, slurms): (Launch<'_>, Option<Launch<'_>>),
        [most, ratio]: [f64; 2],
    ) -> Result<Vec<Case>> {
        let Some((of_ours, of_slurm)) = &self.meters else { return Ok(Vec::new()) };
        let (mut one, mut other) = (Samples::default(), Samples::default());
        for round in 0..rounds {
            let ours = Some((of_ours, &ours, &mut one));
            let slurms = slurms.as_ref().map(|launch| (of_slurm, launch, &mut other));
            let mut both: Vec<_> = ours.into_iter().chain(slurms).collect();
            if round % 2 == 1 {
                both.reverse();
            }
            for (meter, launch, samples) in both {
                let commands = launch()?;
                let cost = meter.cost(|| timed(commands).map(drop))?;
                samples.0.push(cost / self.nodes as f64);
            }
        }
        let title = format!("processor time a node, {what} on {}", self.nodes);
        let bound = Case::bound(&title, "ms", one.clone(), most);
        let slurm = Case { peer: other, peer_name: "Slurm".to_owned(), limit: ratio, ..bound };
        Ok(vec![Case::bound(&title, "ms", one, most), slurm])
    }
}

/// `true`.
fn small(both: &Both<'_>, rounds: usize, home: &Path) -> Result<Vec<Case>> {
    let Both { nodes, cluster, slurm, hosts, .. } = both;
    let (nodes, count) = (*nodes, nodes.to_string());
    let (list, agent) = agents(home, nodes)?;
    let agent = hosts.map_or(agent, Namespaces::agent);
    let ours = || Ok(vec![cluster.command(&["run", "-N", &count, "true"])]);
    let srun = |slurm: &Slurm| Ok(vec![slurm.srun(nodes, "true")?]);
    let hydra = || Ok(vec![hydra(&list, &agent, &count)]);
    let pdsh = || Ok(vec![pdsh(nodes, hosts.is_some().then_some(&agent))]);
    let open = || Ok(vec![open_mpi(&list, &agent, &count)]);
    let slurms = || slurm.as_ref().map(|slurm| -> Launch<'_> { Box::new(move || srun(slurm)) });
    let mut rows: Vec<Row<'_>> = vec![
        ("ours", 0.0, Some(Box::new(ours))),
        ("srun", limit(nodes, 1.0 / 0.10, 1.0 / 0.07), slurms()),
        ("Hydra", 4.0, HYDRA.is_there().then(|| -> Launch<'_> { Box::new(hydra) })),
        ("pdsh", 1.0, PDSH.is_there().then(|| -> Launch<'_> { Box::new(pdsh) })),
    ];
    if hosts.is_some() {
        let open = OPEN.is_there().then(|| -> Launch<'_> { Box::new(open) });
        rows.push(("Open MPI", 4.0, open));
    }
    let most = Some(limit(nodes, 16.0, 50.0));
    let mut cases = beside(&format!("true on {nodes}"), rounds, &rows, most)?;
    cases.extend(both.spent("true", rounds, (Box::new(ours), slurms()), [1.5, 13.3])?);
    Ok(cases)
}

/// 12 MiB.
fn large(both: &Both<'_>, rounds: usize, home: &Path) -> Result<Vec<Case>> {
    let Both { nodes, cluster, slurm, .. } = both;
    let (nodes, count) = (*nodes, nodes.to_string());
    let file = home.join("big");
    let program = Program::make(&file, BIG)?;
    let there = || Ok(vec![cluster.command(&["run", "-N", &count, &program.path])]);
    let sent = || program.renew(nodes).and_then(|()| there());
    let sbcast = |slurm: &Slurm| {
        program.renew(nodes)?;
        Ok(vec![slurm.sbcast(&file), slurm.srun(nodes, "/mnt/big")?])
    };
    let slurms = || slurm.as_ref().map(|slurm| -> Launch<'_> { Box::new(move || sbcast(slurm)) });
    let rows: Vec<Row<'_>> =
        vec![("ours", 0.0, Some(Box::new(sent))), ("sbcast + srun", 1.0 / 0.17, slurms())];
    let most = Some(limit(nodes, 110.0, 390.0));
    let mut cases = beside(&format!("12 MiB sent and run on {nodes}"), rounds, &rows, most)?;
    cases.extend(both.spent("12 MiB", rounds, (Box::new(sent), slurms()), [12.0, 5.9])?);
    let small = || Ok(vec![cluster.command(&["run", "-N", &count, "true"])]);
    // Of a file that was changed a moment ago nobody remembers what it says.
    std::thread::sleep(SETTLED);
    let small: Row<'_> = ("our own true", 1.0 / 1.1, Some(Box::new(small)));
    let rows = [("ours", 0.0, Some(Box::new(there) as Launch<'_>)), small];
    cases.extend(beside(&format!("12 MiB that are there run on {nodes}"), rounds, &rows, None)?);
    Ok(cases)
}

fn limit(nodes: usize, few: f64, many: f64) -> f64 {
    if nodes <= 16 { few } else { many }
}

/// Launches in turn; the first row is ours, which may take so many milliseconds at most. Who is not
/// there has a row without a figure.
fn beside(what: &str, rounds: usize, rows: &[Row<'_>], most: Option<f64>) -> Result<Vec<Case>> {
    let mut times = vec![Samples::default(); rows.len()];
    let mut failed = vec![false; rows.len()];
    for round in 0..=rounds {
        let mut order: Vec<usize> = (0..rows.len()).collect();
        if round % 2 == 1 {
            order.reverse();
        }
        for at in order {
            let (name, _, Some(launch)) = &rows[at] else { continue };
            if failed[at] {
                continue;
            }
            match launch().and_then(timed).with_context(|| format!("{what}: {name}")) {
                // The first warms caches.
                Ok(time) if round > 0 => times[at].0.push(time),
                Ok(_) => {}
                Err(error) if at == 0 => return Err(error),
                Err(error) => {
                    // A peer costs its own row only, which has no figure then.
                    eprintln!("no figure: {error:#}");
                    failed[at] = true;
                    times[at].0.clear();
                }
            }
        }
    }
    let case = |(at, (name, limit, _)): (usize, &Row<'_>)| {
        Case::lower(what, "ms", times[0].clone(), (name, times[at].clone()), *limit)
    };
    let bound = most.map(|most| Case::bound(what, "ms", times[0].clone(), most));
    Ok(bound.into_iter().chain(rows.iter().enumerate().skip(1).map(case)).collect())
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
/// and runs the rest here. It starts nothing of its own, which the peer would pay for.
fn agents(home: &Path, nodes: usize) -> Result<(PathBuf, PathBuf)> {
    let (hosts, agent) = (home.join("hosts"), home.join("agent"));
    fs::write(&hosts, (1..=nodes).map(|node| format!("s{node}\n")).collect::<String>())?;
    let text = "#!/bin/sh\nwhile :; do case \"$1\" in -*) shift;; *) break;; esac; done\n\
                shift\nexec sh -c \"$*\"\n";
    fs::write(&agent, text)?;
    fs::set_permissions(&agent, fs::Permissions::from_mode(0o755))?;
    Ok((hosts, agent))
}

fn hydra(hosts: &Path, agent: &Path, count: &str) -> Command {
    let mut command = Command::new("mpiexec.hydra");
    command.arg("-f").arg(hosts).args(["-launcher", "ssh", "-launcher-exec"]).arg(agent);
    command.args(["-ppn", "1", "-n", count, "true"]);
    quiet(command)
}

fn pdsh(nodes: usize, agent: Option<&PathBuf>) -> Command {
    let mut command = Command::new("pdsh");
    command.args(["-R", "exec", "-f", "64", "-w"]).arg(format!("s[1-{nodes}]"));
    match agent {
        Some(agent) => command.arg(agent).args(["%h", "exec true"]),
        None => command.args(["sh", "-c", "exec true"]),
    };
    quiet(command)
}

fn open_mpi(hosts: &Path, agent: &Path, count: &str) -> Command {
    let mut command = Command::new("mpirun.openmpi");
    command.args(["--allow-run-as-root", "--hostfile"]).arg(hosts);
    command.args(["--mca", "plm_rsh_agent"]).arg(agent).args(["--map-by", "ppr:1:node"]);
    command.args(["-np", count, "true"]);
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

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &'static str) -> Option<Launch<'static>> {
        Some(Box::new(move || {
            let mut command = Command::new("sh");
            command.args(["-c", script]);
            Ok(vec![command])
        }))
    }

    #[test]
    fn a_peer_that_fails_or_is_not_there_costs_its_own_row_only() {
        let rows = [("ours", 0.0, shell("exit 0")), ("bad", 1.0, shell("exit 3"))];
        let more = [("gone", 1.0, None), ("good", 1.0, shell("sleep 0.1"))];
        let rows: Vec<_> = rows.into_iter().chain(more).collect();
        let cases = beside("a case", 2, &rows, Some(1e6)).expect("ours has figures");
        let told: Vec<(&str, bool)> =
            cases.iter().map(|case| (case.peer_name.as_str(), case.ratio().is_nan())).collect();
        assert_eq!(told, [("bound", false), ("bad", true), ("gone", true), ("good", false)]);
        assert!(beside("a case", 1, &[("ours", 0.0, shell("exit 3"))], None).is_err());
    }

    #[test]
    fn what_stands_for_ssh_starts_nothing_but_what_it_is_told() {
        let home = Folder::new(&std::env::temp_dir(), "agent").expect("a folder");
        let (_, agent) = agents(home.path(), 2).expect("it is written");
        let shell = home.path().join("sh");
        std::os::unix::fs::symlink("/bin/sh", shell).expect("a link");
        let mut command = Command::new(agent);
        // With nothing else in PATH, whatever it starts by itself is not found.
        command.env("PATH", home.path()).args(["-x", "s1", "/bin/echo", "a;", "echo b"]);
        let done = command.output().expect("it starts");
        let said = [done.stdout, done.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
        assert_eq!(said, ["a\nb\n".to_owned(), String::new()]);
    }

    #[test]
    fn a_peer_that_is_missing_says_how_to_get_it() {
        let missing = Peer("it", &["sh", "no-such-program"]).missing().expect("it is missing");
        assert_eq!(missing, "without it: no no-such-program: cargo xtask setup --bench");
        assert!(Peer("sh", &["sh"]).is_there());
    }
}
