//! `bench primitives`: the three primitives and the heartbeat among node processes of this
//! machine, against what Open MPI and MPICH have for the same among as many processes.
//!
//! COMPARE-AND-WRITE is set against MPI_Allreduce of one int, XFER-AND-SIGNAL against MPI_Bcast
//! and MPI_Barrier: then, too, the data is everywhere and everybody knows it. All times are those
//! that the first process sees, one operation at a time. The peers have the settings that they
//! need where processes outnumber cores: they give the core up while they wait. Our nodes share no
//! memory, so the peers over TCP are their like; those over shared memory stand beside them, with
//! the same limit.

mod node;
mod peers;

use crate::folder::Folder;
use crate::report::{Better, Case, Report, Samples};
use anyhow::{Context, Result, ensure};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::UdpSocket;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

pub use node::run as node;

/// The word that makes this program a node.
pub const NODE: &str = "primitives-node";

/// What is measured, as nodes and peers name it, and as the report does.
const OPERATIONS: [(&str, &str); 4] = [
    ("query", "COMPARE-AND-WRITE"),
    ("0B", "XFER-AND-SIGNAL 0 B"),
    ("4KB", "XFER-AND-SIGNAL 4 KB"),
    ("1MB", "XFER-AND-SIGNAL 1 MB"),
];

/// From so many processes on we have to be faster, and by how much.
const MANY: usize = 16;
const FASTER: f64 = 3.0;

/// Children of a node in the tree: up to 16 nodes each is woken once; for 64 this was the best of
/// 7, 8, 16 and 31.
const ARITY: usize = 16;

/// What a run found: samples by name.
type Found = BTreeMap<String, Samples>;

/// Measures.
///
/// # Errors
/// When a process fails.
pub fn run(quick: bool) -> Result<Report> {
    let (peers, missing) = (peers::PEERS, peers::missing());
    let counts: &[usize] = if quick { &[2, 16] } else { &[2, 16, 64] };
    let (rounds, milliseconds) = if quick { (1, 60) } else { (3, 150) };
    // Of one run of a peer. In the worst case they take 40 s of the 50 of a quick run.
    let longest = Duration::from_secs(if quick { 5 } else { 20 });
    let mut cases = Vec::new();
    for count in counts {
        let mut ours = ["shm", "unix", "tcp"].map(|scheme| (scheme, Found::new()));
        let mut theirs = vec![Found::new(); peers.len()];
        for round in 0..rounds {
            // In the other order in every other round.
            for mine in [round % 2 == 0, round % 2 == 1] {
                if !mine {
                    of_peers(&mut theirs, *count, round, (milliseconds, longest))?;
                    continue;
                }
                for (scheme, found) in &mut ours {
                    eprintln!(
                        "bench: {count} nodes over {scheme}, round {} of {rounds}",
                        round + 1
                    );
                    merge(found, Nodes::start(*count, scheme)?.measure("drive", milliseconds)?);
                }
            }
        }
        for ((scheme, ours), (peer, found)) in
            ours.iter().flat_map(|ours| peers.iter().zip(&theirs).map(move |peer| (ours, peer)))
        {
            let limit = if *count >= MANY { FASTER } else { 0.0 };
            let of = |found: &Found, name| found.get(name).cloned().unwrap_or_default();
            cases.extend(OPERATIONS.iter().map(|(name, title)| {
                let title = format!("{title}, {count} over {scheme}");
                Case::lower(&title, "us", of(ours, *name), (peer.name, of(found, *name)), limit)
            }));
        }
    }
    eprintln!("bench: 64 nodes, and the heartbeat");
    let mut over64 = Nodes::start(64, "shm")?.measure("drive", milliseconds)?;
    let query = over64.remove("query").unwrap_or_default();
    let late = Samples(query.0.first().map(|_| query.quantile(0.99)).into_iter().collect());
    cases.push(Case::bound("global query over 64, p50", "us", query, 600.0));
    cases.push(Case::bound("global query over 64, p99", "us", late, 2000.0));
    cases.extend(heartbeat(milliseconds * 20)?);
    cases.extend(multicast(rounds, milliseconds * 4)?);
    let there = peers.iter().filter(|peer| peer.present().is_ok());
    let mut notes: Vec<String> = there.map(peers::Peer::note).collect();
    notes.push(format!("ours: tree of arity {ARITY}; times as the first process sees them"));
    Ok(Report { bench: "primitives", notes, missing, cases })
}

/// A round of the peers. Who found nothing in a first round does not in another, and who is not
/// there has rows without a figure.
fn of_peers(
    theirs: &mut [Found],
    count: usize,
    round: usize,
    (milliseconds, longest): (u64, Duration),
) -> Result<()> {
    for (peer, found) in peers::PEERS.iter().zip(theirs) {
        if peer.present().is_ok() && (round == 0 || !found.is_empty()) {
            eprintln!("bench: {count} processes, {}", peer.name);
            merge(found, peer.measure(count, milliseconds, longest)?);
        }
    }
    Ok(())
}

/// What an operation of ours takes among so many processes: samples by name, microseconds.
///
/// # Errors
/// When a process fails.
pub fn ours(count: usize, scheme: &str, milliseconds: u64) -> Result<BTreeMap<String, Samples>> {
    Nodes::start(count, scheme)?.measure("drive", milliseconds)
}

/// 1 MB to 15 others by multicast over the loopback interface, and down the tree: time, and what
/// all processes and the root have run for it.
fn multicast(rounds: usize, milliseconds: u64) -> Result<Vec<Case>> {
    let (mut cast, mut tree) = (Found::new(), Found::new());
    for round in 0..rounds {
        eprintln!("bench: multicast beside the tree, round {} of {rounds}", round + 1);
        let port = UdpSocket::bind("127.0.0.1:0")?.local_addr()?.port();
        let orders = [(format!("{}{port}", node::CAST), &mut cast), ("tree".to_owned(), &mut tree)];
        for (order, found) in orders {
            let mut one = Nodes::start(MANY, "tcp")?.measure(&order, milliseconds)?;
            let mut take = |name: &str| one.remove(name).unwrap_or_default();
            let sum = |samples: Samples| samples.0.into_iter().sum::<f64>();
            let count = sum(take("count"));
            for name in ["cpu", "root"] {
                found.entry(name.to_owned()).or_default().0.push(sum(take(name)) / count);
            }
            merge(found, one);
        }
    }
    let case = |name: &str, title: &str| Case {
        peer: tree.get(name).cloned().unwrap_or_default(),
        peer_name: "tree over tcp".to_owned(),
        limit: 0.0,
        ..Case::bound(title, "us", cast.get(name).cloned().unwrap_or_default(), 0.0)
    };
    Ok(vec![
        case("1MB", "XFER-AND-SIGNAL 1 MB, 16 by multicast"),
        case("cpu", "the same, CPU of all"),
        case("root", "the same, CPU of the root"),
    ])
}

/// The heartbeat of 1 ms: 16 nodes by themselves, and 4 whose links are full of other bytes.
fn heartbeat(milliseconds: u64) -> Result<Vec<Case>> {
    let mut found = Nodes::start(MANY, "unix")?.measure("beat", milliseconds)?;
    let mut bare = Nodes::start(MANY, "unix")?.measure("bare", milliseconds)?;
    let mut full = Nodes::start(4, "tcp")?.measure("full", milliseconds)?;
    let take = |from: &mut Found, name: &str| from.remove(name).unwrap_or_default();
    // Of what all nodes have seen together: one that hears late is not outvoted.
    let late = take(&mut full, "late");
    let part = |samples: &Samples, part| Samples(vec![samples.quantile(part)]);
    let cpu = take(&mut found, "cpu");
    Ok(vec![
        Case::bound("heartbeat 1 ms, 16 nodes: CPU per node and strobe", "us", cpu.clone(), 5.0),
        Case {
            peer: take(&mut bare, "cpu"),
            peer_name: "bare read".to_owned(),
            limit: 0.0,
            ..Case::bound("the same, and a process that only reads", "us", cpu, 0.0)
        },
        Case::bound(
            "heartbeat 1 ms, 16 nodes: p99 of all waits, beyond the period",
            "us",
            part(&take(&mut found, "late"), 0.99),
            1000.0,
        ),
        Case::bound("heartbeat 1 ms, full links: p99", "us", part(&late, 0.99), 1000.0),
        Case::bound("heartbeat 1 ms, full links: latest", "us", part(&late, 1.0), 1000.0),
        Case {
            better: Better::Higher,
            ..Case::bound("bulk bytes beside it, per link", "MB/s", take(&mut full, "bulk"), 1.0)
        },
    ])
}

fn merge(into: &mut Found, found: Found) {
    for (name, samples) in found {
        into.entry(name).or_default().0.extend(samples.0);
    }
}

/// Reads lines of a name and a number.
fn read_found(from: impl Read, into: &mut Found) -> Result<()> {
    for line in BufReader::new(from).lines() {
        let line = line?;
        let (name, value) =
            line.split_once(' ').with_context(|| format!("not a sample: {line}"))?;
        let value: f64 = value.parse().with_context(|| format!("not a sample: {line}"))?;
        ensure!(value.is_finite(), "not a sample: {line}");
        into.entry(name.to_owned()).or_default().0.push(value);
    }
    Ok(())
}

/// Node processes, each this program again. They end with their standard input.
struct Nodes {
    children: Vec<Child>,
    outputs: Vec<BufReader<std::process::ChildStdout>>,
    book: String,
    dir: Folder,
}

impl Nodes {
    fn start(count: usize, scheme: &str) -> Result<Nodes> {
        let dir = Folder::new(&std::env::temp_dir(), "primitives")?;
        let mut nodes = Nodes { children: vec![], outputs: vec![], book: String::new(), dir };
        for number in 0..count {
            nodes.spawn(number, count, scheme)?;
        }
        for output in &mut nodes.outputs {
            output.read_line(&mut nodes.book)?;
        }
        Ok(nodes)
    }

    fn spawn(&mut self, number: usize, count: usize, scheme: &str) -> Result<()> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg(NODE).args([number.to_string(), count.to_string(), ARITY.to_string()]);
        command.arg(address(self.dir.path(), scheme, number, ""));
        command.arg(address(self.dir.path(), scheme, number, "-bulk"));
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().context("cannot start a node process")?;
        self.outputs.extend(child.stdout.take().map(BufReader::new));
        self.children.push(child);
        Ok(())
    }

    /// Has them do something for so long.
    fn measure(mut self, what: &str, milliseconds: u64) -> Result<Found> {
        let start = format!("{}{what} {milliseconds}\n", self.book);
        for child in &mut self.children {
            child.stdin.as_mut().context("it is piped")?.write_all(start.as_bytes())?;
        }
        let mut found = Found::new();
        // The first one says when it is over.
        let mut outputs = std::mem::take(&mut self.outputs).into_iter();
        let mut lines = String::new();
        let mut first = outputs.next().context("there is a node")?;
        while first.read_line(&mut lines)? > 0 && !lines.ends_with("end\n") {}
        self.children.iter_mut().for_each(|child| drop(child.stdin.take()));
        let lines = lines.strip_suffix("end\n").context("the first node has failed")?;
        read_found(lines.as_bytes(), &mut found)?;
        read_found(first, &mut found)?;
        outputs.try_for_each(|output| read_found(output, &mut found))?;
        for child in &mut self.children {
            let status = child.wait()?;
            ensure!(status.success(), "a node process ended with {status}");
        }
        Ok(found)
    }
}

impl Drop for Nodes {
    fn drop(&mut self) {
        for child in &mut self.children {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn address(dir: &Path, scheme: &str, number: usize, suffix: &str) -> String {
    match scheme {
        "tcp" => "tcp!127.0.0.1!0".to_owned(),
        _ => format!("{scheme}!{}", dir.join(format!("{number}{suffix}")).display()),
    }
}
