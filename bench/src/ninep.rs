//! `bench 9p`: our 9P server, diod and the Go server of hugelgupf/p9, each over one TCP
//! connection on loopback, on one file in the page cache, by turns.
//!
//! All three run from start to end. A round measures every case at every server, forwards in one
//! round and backwards in the next, so that what drifts on the machine falls on all alike; raw
//! TCP is measured in every round too. Everything is measured with a client that sleeps and with
//! one that looks before it sleeps ([`wait`]), and each side counts with what suits it better.
//! Medians over the rounds are compared. Apart from them, the memory of a node daemon with many
//! parked reads.

mod cluster;
pub mod load;
pub mod parked;
pub mod peers;
pub mod raw;
#[cfg(test)]
mod toy;
pub mod wait;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use crate::folder::Folder;
use crate::report::{Better, Case, Report, Samples};
use load::{Client, Load};
use peers::{KINDS, Kind, Server};
use wait::Wait;

/// The length of the files: raw TCP, which stores into one buffer, is no bound for what goes to
/// memory that no cache holds.
const FILE_SIZE: usize = 16 << 20;

/// What is read (and looked at), and what is written.
const READ_FILE: &str = "read.bin";
const WRITE_FILE: &str = "write.bin";

/// A case and what it must reach.
struct Goal {
    name: &'static str,
    load: Load,
    depth: u16,
    /// Times the better peer.
    peer: f64,
    /// Times raw TCP.
    raw: Option<f64>,
}

const GOALS: [Goal; 7] = [
    Goal { name: "read depth 1", load: Load::Read, depth: 1, peer: 1.3, raw: Some(0.6) },
    Goal { name: "read depth 8", load: Load::Read, depth: 8, peer: 1.3, raw: Some(0.6) },
    Goal { name: "write depth 1", load: Load::Write, depth: 1, peer: 1.3, raw: Some(0.6) },
    Goal { name: "write depth 8", load: Load::Write, depth: 8, peer: 1.3, raw: Some(0.6) },
    Goal { name: "walk+getattr+clunk depth 8", load: Load::Stat, depth: 8, peer: 2.0, raw: None },
    Goal { name: "getattr depth 8", load: Load::Getattr, depth: 8, peer: 2.0, raw: None },
    Goal { name: "getattr depth 1", load: Load::Getattr, depth: 1, peer: 1.0, raw: None },
];

/// How to measure.
#[derive(Clone, Debug)]
pub struct Settings {
    rounds: usize,
    time: Duration,
    folder: PathBuf,
    /// Bytes in each file.
    size: usize,
    ours: String,
}

impl Settings {
    /// Quick is for a look, the other for the record.
    pub fn new(
        quick: bool,
        folder: Option<PathBuf>,
        mebibytes: Option<usize>,
        ours: &str,
    ) -> Settings {
        // Many short rounds: what else the machine does then falls on all alike.
        let (rounds, time) = if quick { (8, 100) } else { (20, 200) };
        let memory = Path::new("/dev/shm");
        let default = || {
            if memory.is_dir() { memory.into() } else { std::env::temp_dir() }
        };
        Settings {
            rounds,
            time: Duration::from_millis(time),
            folder: folder.unwrap_or_else(default),
            size: mebibytes.map_or(FILE_SIZE, |size| size.max(1) << 20),
            ours: ours.to_owned(),
        }
    }
}

/// Bytes without a pattern that a wrong offset would survive, and that do not compress.
pub fn content(size: usize, seed: u64) -> Vec<u8> {
    let mut state = seed | 1;
    let mut bytes = Vec::with_capacity(size);
    while bytes.len() < size {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes.extend(state.to_le_bytes());
    }
    bytes
}

/// The benchmark.
pub fn run(settings: &Settings) -> Result<Report> {
    let ours = Kind::named(&settings.ours)?;
    ours.program()?;
    let folder = Folder::new(&settings.folder, "9p")?;
    let export = folder.path().join("export");
    fs::create_dir(&export)?;
    let truth = content(settings.size, 1);
    fs::write(export.join(READ_FILE), &truth)?;
    fs::write(export.join(WRITE_FILE), vec![0; settings.size])?;

    let mut servers = Vec::new();
    let (mut notes, mut missing, mut absent) = (Vec::new(), Vec::new(), Vec::new());
    let peers = KINDS[1..].iter().filter(|kind| kind.name != ours.name);
    for kind in std::iter::once(&ours).chain(peers) {
        let log = folder.path().join(format!("{}.log", kind.name));
        let begun = Server::start(*kind, &export, &log).and_then(|server| {
            let msize = verify(&server, &export, &truth)
                .with_context(|| format!("{} does not tell the truth", kind.name))?;
            Ok((server, msize))
        });
        match begun {
            Ok((server, msize)) => {
                notes.push(format!("{}: msize {msize}", kind.title()));
                servers.push(server);
            }
            Err(error) if kind.name == ours.name => return Err(error),
            // It costs its own rows only.
            Err(error) => {
                missing.push(format!("without {}: {error:#}", kind.name));
                absent.push(kind.name);
            }
        }
    }
    notes.push(format!(
        "{} rounds of {} ms a case, one TCP connection on loopback, {} MiB file in {}",
        settings.rounds,
        settings.time.as_millis(),
        settings.size >> 20,
        settings.folder.display()
    ));
    let figures = measure(settings, &servers)?;
    notes.extend(figures.lines(&servers));
    let mut cases = figures.cases(&servers, &absent);
    drop(servers);
    if ours.name == KINDS[0].name {
        let (note, case) = cluster::parked_reads().context("memory with parked reads")?;
        notes.push(note);
        cases.push(case);
    }
    Ok(Report { bench: "9p", notes, missing, cases })
}

/// Reads and overwrites whole files through a server, outside of all timing; returns the msize.
fn verify(server: &Server, export: &Path, truth: &[u8]) -> Result<u32> {
    let attach = || Client::attach(&server.address, &server.aname, Wait::Sleep);
    ensure!(attach()?.fetch(READ_FILE)? == truth, "what was read is not what is there");
    let mut new = truth.to_vec();
    new.reverse();
    attach()?.store(WRITE_FILE, &new)?;
    let file = export.join(WRITE_FILE);
    ensure!(fs::read(&file)? == new, "what was written is not there");
    fs::write(&file, vec![0; truth.len()])?;
    Ok(attach()?.msize())
}

/// Rates by way of waiting, in the order of [`Wait::ALL`].
#[derive(Clone, Default)]
struct ByWait([Samples; 2]);

impl ByWait {
    /// The better of the two.
    fn best(&self) -> &Samples {
        let [sleep, look] = &self.0;
        if sleep.median() > look.median() { sleep } else { look }
    }
}

/// What was measured: rates by goal and server, and raw TCP.
struct Figures {
    rates: Vec<Vec<ByWait>>,
    raw: ByWait,
}

fn measure(settings: &Settings, servers: &[Server]) -> Result<Figures> {
    let mut rates = vec![vec![ByWait::default(); servers.len()]; GOALS.len()];
    let mut raw = ByWait::default();
    for round in 0..settings.rounds {
        for (at, wait) in Wait::ALL.into_iter().enumerate() {
            raw.0[at].0.push(raw::throughput(settings.time, wait)?);
        }
        for (goal, rates) in GOALS.iter().zip(&mut rates) {
            let mut order: Vec<usize> = (0..servers.len()).collect();
            if round % 2 == 1 {
                order.reverse();
            }
            for server in order {
                for (at, wait) in Wait::ALL.into_iter().enumerate() {
                    let rate = once(settings, &servers[server], goal, wait);
                    let at = &mut rates[server].0[at].0;
                    at.push(rate.with_context(|| {
                        format!("{} of {}", goal.name, servers[server].kind.name)
                    })?);
                }
            }
        }
    }
    Ok(Figures { rates, raw })
}

fn once(settings: &Settings, server: &Server, goal: &Goal, wait: Wait) -> Result<f64> {
    let name = if goal.load == Load::Write { WRITE_FILE } else { READ_FILE };
    let mut client = Client::attach(&server.address, &server.aname, wait)?;
    client.measure(goal.load, (name, settings.size as u64), goal.depth, settings.time)
}

impl Figures {
    /// A line for each server, and one for raw TCP.
    fn lines(&self, servers: &[Server]) -> Vec<String> {
        let show = |goal: &Goal, samples: &Samples| match goal.raw {
            Some(_) => format!("{} {:.0} MB/s", goal.name, samples.median() / 1e6),
            None => format!("{} {:.0}/s", goal.name, samples.median()),
        };
        let line = |(at, server): (usize, &Server)| {
            let goals = GOALS.iter().zip(&self.rates);
            let figures: Vec<_> = goals.map(|(goal, rates)| show(goal, rates[at].best())).collect();
            format!("{}: {}", server.kind.name, figures.join(", "))
        };
        let mut lines: Vec<String> = servers.iter().enumerate().map(line).collect();
        let raw = self.raw.best();
        lines.push(format!("raw tcp: {:.0} MB/s ±{:.0} %", raw.median() / 1e6, raw.spread()));
        lines
    }

    /// Ours, which is the first, against the better of the others and against raw TCP. Who is not
    /// there is named where the better one is.
    fn cases(&self, servers: &[Server], absent: &[&str]) -> Vec<Case> {
        let (mut cases, absent) = (Vec::new(), absent.join(", "));
        for (goal, rates) in GOALS.iter().zip(&self.rates) {
            let (unit, scale) = if goal.raw.is_some() { ("MB/s", 1e6) } else { ("1/s", 1.0) };
            let scaled = |samples: &Samples| Samples(samples.0.iter().map(|x| x / scale).collect());
            let case = |case: &str, peer: &Samples, peer_name: &str, limit: f64| Case {
                case: case.to_owned(),
                unit,
                better: Better::Higher,
                ours: scaled(rates[0].best()),
                peer: scaled(peer),
                peer_name: peer_name.to_owned(),
                limit,
                in_pairs: false,
            };
            let peers = rates.iter().zip(servers).skip(1);
            let best = peers.max_by(|a, b| a.0.best().median().total_cmp(&b.0.best().median()));
            cases.push(match best {
                None => case(goal.name, &Samples::default(), &absent, goal.peer),
                Some((peer, server)) => {
                    let mut name = server.kind.name.to_owned();
                    if !absent.is_empty() {
                        name += &format!(" (no figure: {absent})");
                    }
                    case(goal.name, peer.best(), &name, goal.peer)
                }
            });
            cases.extend(goal.raw.map(|limit| {
                case(&format!("{}, part of raw TCP", goal.name), self.raw.best(), "raw tcp", limit)
            }));
        }
        cases
    }
}
