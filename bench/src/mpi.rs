//! `bench mpi`: messages, collectives, launches and Sweep3D over our MPI library and over others'.
//! Sweep3D also in the coscheduled mode, where it must print the digits that it prints in direct
//! mode. `strobes.rs` draws how long programs take there, by the length of the strobe.
//!
//! All run the same two programs, each compiled with its own `mpicc`; the MPIs from PyPI run ours,
//! which is of the standard's binary interface. In each round every side runs each scene once, one
//! after the other, in another order each time: what the machine did just before is not the same
//! for all. Within a run the program takes many short batches and the best of them counts: what
//! others do on the machine only makes it longer. (Of the waits of a blocked receive the median
//! does: each is one that a program has.) Sweep3D is one long batch, so it is run several times a
//! round, in both modes among the peers. What is told are medians. A side that does not end in time
//! counts no more.
//!
//! Before a size is measured, messages and collectives of that size are compared byte by byte with
//! what was sent (`measure.c`): who loses or swaps any has no figure.
//!
//! How far the processors are from each other changes by itself (`fabric.rs`): before each run of
//! two ranks a flag is measured, and it is waited a moment for the processors to be near.

mod side;
mod strobes;

use crate::child::Child;
use crate::cluster::Cluster;
use crate::fabric;
use crate::folder::Folder;
use crate::namespaces::{self, Namespaces};
use crate::report::{Better, Case, Report, Samples};
use anyhow::{Result, bail, ensure};
use side::{OURS, Program, Side, sides};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// How long one run may take, and a peer's of a quick benchmark. The longest are MPICH's with more
/// ranks than processors, some seconds.
const PATIENCE: Duration = Duration::from_secs(40);
const QUICK: Duration = Duration::from_secs(15);

/// Runs of Sweep3D a round.
const TIMES: usize = 6;

/// Nodes of the cluster on which nearly all is measured.
const NODES: usize = 2;

/// A cluster whose files are in memory.
fn up(nodes: usize) -> Result<Cluster> {
    Cluster::up(nodes, Path::new("/dev/shm"))
}

/// What the others are measured against.
#[derive(Clone, Copy)]
enum Against {
    /// Whoever is best.
    Best,
    /// One side.
    One(&'static str),
    /// A figure.
    Bound(f64),
    /// Whoever is best in another scene, which is the same to them.
    BestIn(&'static str),
    /// Our own figure of another scene.
    Own(&'static str),
}

use Against::{Best, BestIn, Bound, One, Own};

type Words = &'static [&'static str];

/// A way to run a program.
#[derive(Clone, Copy)]
struct Scene<'a> {
    name: &'static str,
    ranks: usize,
    /// How many nodes the ranks are on.
    nodes: usize,
    program: Program,
    words: Words,
    /// What ours is told.
    flags: &'a [&'a str],
    /// Only these sides can, or need to.
    only: Words,
    /// The hosts that are the nodes; without, all nodes are this machine.
    hosts: Option<&'a Namespaces>,
    /// Whether ours is started without a cluster that is up, as the others are.
    is_alone: bool,
}

impl Scene<'_> {
    /// Whether a side is to run it.
    fn is_for(&self, side: &str) -> bool {
        // To yield is for those who share a processor.
        let is_of_use = side != side::MPICH_YIELD || self.is_crowded();
        is_of_use && (self.only.is_empty() || self.only.contains(&side))
    }

    /// Whether there are more ranks than processors.
    fn is_crowded(&self) -> bool {
        self.ranks > std::thread::available_parallelism().map_or(1, usize::from)
    }

    /// Whether it is the same to peers.
    fn is_like(&self, other: &Scene<'_>) -> bool {
        (self.program, self.words, self.ranks) == (other.program, other.words, other.ranks)
    }
}

const fn scene(name: &'static str, ranks: usize, words: Words) -> Scene<'static> {
    let program = Program::Measure;
    let (flags, only): (&[&str], Words) = (&[], &[]);
    Scene { name, ranks, nodes: 1, program, words, flags, only, hosts: None, is_alone: false }
}

const fn sweep(name: &'static str, ranks: usize, words: Words) -> Scene<'static> {
    Scene { program: Program::Sweep, ..scene(name, ranks, words) }
}

const fn alone(name: &'static str, ranks: usize) -> Scene<'static> {
    Scene { is_alone: true, only: &[OURS], ..scene(name, ranks, &["nothing"]) }
}

const fn coscheduled(name: &'static str, ranks: usize, words: Words) -> Scene<'static> {
    Scene { flags: &["--mpi=bcs"], only: &[OURS], ..sweep(name, ranks, words) }
}

/// Time that a program has for each measure, in milliseconds.
/// Those of one program and the same words are played in turn.
const SCENES: [Scene<'static>; 17] = [
    scene("pair", 2, &["pair", "60"]),
    Scene { nodes: 2, only: &[OURS, side::OPEN], ..scene("far", 2, &["far", "100"]) },
    scene("four", 4, &["all", "60"]),
    scene("eight", 8, &["all", "60"]),
    Scene { nodes: 16, only: &[OURS, side::OPEN], ..scene("many nodes", 16, &["many", "150"]) },
    scene("blocked", 2, &["blocked", "600"]),
    scene("launch 2", 2, &["nothing"]),
    alone("launch 2, no cluster", 2),
    scene("launch 16", 16, &["nothing"]),
    alone("launch 16, no cluster", 16),
    scene("memory", 16, &["memory"]),
    sweep("sweep 1", 1, &["50", "1", "1"]),
    coscheduled("sweep 1, coscheduled", 1, &["50", "1", "1"]),
    sweep("sweep 2", 2, &["50", "2", "1"]),
    coscheduled("sweep 2, coscheduled", 2, &["50", "2", "1"]),
    sweep("sweep 4", 4, &["50", "2", "2"]),
    coscheduled("sweep 4, coscheduled", 4, &["50", "2", "2"]),
];

/// What is played between hosts, each a network namespace, for `--namespaces`.
const HOSTS: Scene<'static> =
    Scene { nodes: 2, only: &[OURS, side::OPEN], ..scene("hosts", 2, &["far", "100"]) };

/// What is told: the scene, the figure's name there, the title, its unit, and which ratio is wanted
/// against whom.
type Row = (&'static str, &'static str, &'static str, &'static str, f64, Against);

/// At most 0.9, 0.85, 0.5 and 0.33 of another's time, within 2 % of it, 1.25 of our own.
const TENTH: f64 = 1.0 / 0.9;
const SEVENTH: f64 = 1.0 / 0.85;
const HALF: f64 = 2.0;
const THIRD: f64 = 1.0 / 0.33;
const WITHIN: f64 = 1.0 / 1.02;
const OWN: f64 = 1.0 / 1.25;

const OPEN: Against = One(side::OPEN);

/// Where all start from nothing.
const LIKE_2: Against = BestIn("launch 2");
const LIKE_16: Against = BestIn("launch 16");

const ROWS: [Row; 60] = [
    ("pair", "latency-8", "latency 8 B", "us", 1.0, Best),
    ("pair", "latency-1024", "latency 1 KiB", "us", 1.0, Best),
    ("pair", "latency-4096", "latency 4 KiB", "us", TENTH, Best),
    ("pair", "latency-16384", "latency 16 KiB", "us", TENTH, Best),
    ("pair", "bandwidth-65536", "bandwidth 64 KiB", "GB/s", 1.0, OPEN),
    ("pair", "bandwidth-262144", "bandwidth 256 KiB", "GB/s", 1.0, OPEN),
    ("pair", "bandwidth-1048576", "bandwidth 1 MiB", "GB/s", 1.0, OPEN),
    ("pair", "bandwidth-4194304", "bandwidth 4 MiB", "GB/s", 1.0, OPEN),
    ("pair", "rate-8", "8 B in windows of 64", "M/s", 1.0, Best),
    ("pair", "barrier", "barrier, 2 ranks", "us", 1.0, Best),
    ("pair", "allreduce-8", "all-reduce 8 B, 2 ranks", "us", 1.0, Best),
    ("four", "barrier", "barrier, 4 ranks", "us", HALF, OPEN),
    ("four", "barrier", "barrier, 4 ranks", "us", 1000.0, One(side::MPICH)),
    ("four", "barrier", "barrier, 4 ranks", "us", 1.0, One(side::MPICH_YIELD)),
    ("four", "allreduce-8", "all-reduce 8 B, 4 ranks", "us", HALF, OPEN),
    ("four", "allreduce-8", "all-reduce 8 B, 4 ranks", "us", 1000.0, One(side::MPICH)),
    ("four", "allreduce-8", "all-reduce 8 B, 4 ranks", "us", 1.0, One(side::MPICH_YIELD)),
    ("eight", "barrier", "barrier, 8 ranks", "us", HALF, OPEN),
    ("eight", "barrier", "barrier, 8 ranks", "us", 1000.0, One(side::MPICH)),
    ("eight", "barrier", "barrier, 8 ranks", "us", 1.0, One(side::MPICH_YIELD)),
    ("eight", "allreduce-8", "all-reduce 8 B, 8 ranks", "us", HALF, OPEN),
    ("eight", "allreduce-8", "all-reduce 8 B, 8 ranks", "us", 1000.0, One(side::MPICH)),
    ("eight", "allreduce-8", "all-reduce 8 B, 8 ranks", "us", 1.0, One(side::MPICH_YIELD)),
    ("far", "latency-8", "nodes of one machine, latency 8 B", "us", SEVENTH, OPEN),
    ("far", "latency-4096", "nodes of one machine, latency 4 KiB", "us", SEVENTH, OPEN),
    ("far", "latency-16384", "nodes of one machine, latency 16 KiB", "us", SEVENTH, OPEN),
    ("far", "bandwidth-65536", "nodes of one machine, bandwidth 64 KiB", "GB/s", 1.0, OPEN),
    ("far", "bandwidth-262144", "nodes of one machine, bandwidth 256 KiB", "GB/s", 1.0, OPEN),
    ("far", "bandwidth-1048576", "nodes of one machine, bandwidth 1 MiB", "GB/s", 1.0, OPEN),
    ("far", "bandwidth-4194304", "nodes of one machine, bandwidth 4 MiB", "GB/s", 1.0, OPEN),
    ("hosts", "latency-8", "hosts, by TLS, latency 8 B", "us", SEVENTH, OPEN),
    ("hosts", "latency-4096", "hosts, by TLS, latency 4 KiB", "us", SEVENTH, OPEN),
    ("hosts", "latency-16384", "hosts, by TLS, latency 16 KiB", "us", SEVENTH, OPEN),
    ("hosts", "bandwidth-65536", "hosts, by TLS, bandwidth 64 KiB", "GB/s", 1.0, OPEN),
    ("hosts", "bandwidth-262144", "hosts, by TLS, bandwidth 256 KiB", "GB/s", 1.0, OPEN),
    ("hosts", "bandwidth-1048576", "hosts, by TLS, bandwidth 1 MiB", "GB/s", 1.0, OPEN),
    ("hosts", "bandwidth-4194304", "hosts, by TLS, bandwidth 4 MiB", "GB/s", 1.0, OPEN),
    ("many nodes", "barrier", "16 nodes of one machine, barrier", "us", 1.0, OPEN),
    ("many nodes", "allreduce-8", "16 nodes of one machine, all-reduce 8 B", "us", 1.0, OPEN),
    ("many nodes", "broadcast-4096", "16 nodes of one machine, all have 4 KiB", "us", 1.0, OPEN),
    ("many nodes", "broadcast-1048576", "16 nodes of one machine, all have 1 MiB", "us", 1.0, OPEN),
    ("blocked", "cpu", "blocked receive, CPU after 1 ms", "%", 1.0, Bound(1.0)),
    ("blocked", "wake", "blocked receive, until it returns", "us", 1.0, Bound(10.0)),
    ("launch 2", "time", "launch on a cluster, 2 ranks", "ms", HALF, One(side::MPICH)),
    ("launch 2, no cluster", "time", "launch by mpiexec alone, 2 ranks", "ms", 0.0, LIKE_2),
    ("launch 16", "time", "launch on a cluster, 16 ranks", "ms", 1.0, Bound(50.0)),
    ("launch 16", "time", "launch on a cluster, 16 ranks", "ms", 1.0, Best),
    ("launch 16, no cluster", "time", "launch by mpiexec alone, 16 ranks", "ms", 0.0, LIKE_16),
    ("memory", "memory", "memory per rank, 16 ranks", "MB", 1.0, Bound(4.0)),
    ("memory", "memory", "memory per rank, 16 ranks", "MB", 1.0, Best),
    ("sweep 1", "time", "Sweep3D 50^3, 1 rank", "s", WITHIN, Best),
    ("sweep 1", "grind", "Sweep3D 50^3, 1 rank, grind", "ns", 1.0, Bound(11.2)),
    ("sweep 2", "time", "Sweep3D 50^3, 2 ranks", "s", WITHIN, Best),
    ("sweep 4", "time", "Sweep3D 50^3, 2x2 ranks", "s", 1.0, Best),
    ("sweep 4", "time", "Sweep3D 50^3, 2x2 ranks", "s", THIRD, One(side::MPICH)),
    ("sweep 4", "time", "Sweep3D 50^3, 2x2 ranks", "s", THIRD, One(side::MPICH_WHEEL)),
    ("sweep 4", "time", "Sweep3D 50^3, 2x2 ranks", "s", OWN, Own("sweep 2")),
    ("sweep 1, coscheduled", "time", "same, coscheduled, 1 rank", "s", WITHIN, BestIn("sweep 1")),
    ("sweep 2, coscheduled", "time", "same, coscheduled, 2 ranks", "s", WITHIN, BestIn("sweep 2")),
    (
        "sweep 4, coscheduled",
        "time",
        "same, coscheduled, 2x2 ranks",
        "s",
        WITHIN,
        BestIn("sweep 4"),
    ),
];

/// Which way a unit is good.
fn better(unit: &str) -> Better {
    if matches!(unit, "GB/s" | "M/s") { Better::Higher } else { Better::Lower }
}

/// Figures of each side by scene and name.
type Found = BTreeMap<(&'static str, &'static str, String), Samples>;

/// All batches of each figure in what a program has printed, if it is one of ours; of Sweep3D time
/// and grind.
fn batches(printed: &str) -> BTreeMap<String, Samples> {
    let mut all: BTreeMap<String, Samples> = BTreeMap::new();
    for line in printed.lines() {
        let mut words = line.split_whitespace();
        if let (Some(name), Some(Ok(figure))) = (words.next(), words.next().map(str::parse)) {
            all.entry(name.to_owned()).or_default().0.push(figure);
        }
    }
    all
}

/// The best of some batches, on which nothing else had a part.
fn best(name: &str, batches: &Samples) -> f64 {
    match better_by_name(name) {
        Better::Higher => batches.quantile(1.0),
        Better::Lower => batches.quantile(0.0),
    }
}

/// The better way of a figure, by its name.
fn better_by_name(name: &str) -> Better {
    let row = ROWS.iter().find(|(_, figure, ..)| *figure == name);
    row.map_or(Better::Lower, |(_, _, _, unit, ..)| better(unit))
}

/// What a program printed, and how many milliseconds its launcher took.
struct Run {
    printed: String,
    time: f64,
}

impl Run {
    fn figures(&self, scene: &Scene<'_>) -> BTreeMap<String, f64> {
        let all = batches(&self.printed).into_iter();
        let mut found: BTreeMap<String, f64> = match scene.words[0] {
            // Each is a single wait, and what is asked is asked of all of them.
            "blocked" => all.map(|(name, waits)| (name, waits.median())).collect(),
            _ => all.map(|(name, batches)| (name.clone(), best(&name, &batches))).collect(),
        };
        if scene.words == ["nothing"] {
            found.insert("time".to_owned(), self.time);
        }
        found
    }
}

/// Whether a program that tells its library has run with a side's: PyPI's MPIs run what was linked
/// with ours, and the loader must have found theirs.
fn is_of(side: &str, printed: &str) -> bool {
    let library = printed.lines().find_map(|line| line.strip_prefix("library "));
    library.is_none_or(|library| library.starts_with("Muster ") == (side == OURS))
}

/// Runs a scene at a side; none where it did not end in time.
fn play(
    scene: &Scene<'_>,
    side: &Side,
    cluster: &Cluster,
    patience: Duration,
) -> Result<Option<Run>> {
    let mut command = side.command(scene, cluster, patience)?;
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let start = Instant::now();
    let Some(output) = Child::start(&mut command)?.output(2 * patience)? else {
        return Ok(None);
    };
    let time = start.elapsed().as_secs_f64() * 1e3;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        eprintln!("bench: {}: {}: {}: {}", side.name, scene.name, output.status, said.trim());
        return Ok(None);
    }
    Ok(Some(Run { printed: String::from_utf8_lossy(&output.stdout).into_owned(), time }))
}

/// What Sweep3D prints besides its times: errors, fixups, balance.
fn digits(printed: &str) -> String {
    let is_time = |line: &&str| line.starts_with("time") || line.starts_with("grind");
    printed.lines().filter(|line| !is_time(line)).collect::<Vec<_>>().join("\n")
}

/// What ours has printed of Sweep3D so far, by its words: all runs must print the same, in direct
/// mode and in the coscheduled one.
#[derive(Default)]
struct Digits(BTreeMap<Words, String>);

impl Digits {
    fn compare(&mut self, scene: &Scene<'_>, printed: &str) -> Result<()> {
        if scene.program != Program::Sweep {
            return Ok(());
        }
        let now = digits(printed);
        let first = self.0.entry(scene.words).or_insert_with(|| now.clone());
        ensure!(*first == now, "{}: one run printed\n{first}\nanother\n{now}", scene.name);
        Ok(())
    }
}

/// Who has no figure for which scene.
type Late = BTreeSet<(&'static str, &'static str)>;

/// What has been found so far, and where.
struct Played {
    cluster: Cluster,
    /// How long a peer may take.
    patience: Duration,
    found: Found,
    flags: Samples,
    digits: Digits,
    /// Who has failed, or not ended in time.
    late: Late,
}

impl Played {
    fn new(cluster: Cluster, patience: Duration) -> Played {
        let (found, flags, digits, late) = Default::default();
        Played { cluster, patience, found, flags, digits, late }
    }

    /// One run of a scene at a side.
    fn play(&mut self, scene: &Scene<'_>, side: &Side) -> Result<()> {
        if self.late.contains(&(scene.name, side.name)) {
            return Ok(());
        }
        if scene.ranks == 2 {
            self.flags.0.push(fabric::flag()?);
        }
        let is_ours = side.name == OURS;
        let patience = if is_ours { PATIENCE } else { self.patience };
        // Not there while others are measured.
        let many = (is_ours && scene.nodes > NODES).then(|| up(scene.nodes)).transpose()?;
        let cluster = many.as_ref().unwrap_or(&self.cluster);
        let Some(run) = play(scene, side, cluster, patience)? else {
            ensure!(!is_ours, "ours failed, or took longer than {patience:?}");
            self.late.insert((scene.name, side.name));
            return Ok(());
        };
        ensure!(is_of(side.name, &run.printed), "{} ran with {:?}", side.name, run.printed);
        if is_ours {
            self.digits.compare(scene, &run.printed)?;
        }
        for (name, figure) in run.figures(scene) {
            self.found.entry((scene.name, side.name, name)).or_default().0.push(figure);
        }
        Ok(())
    }
}

/// Between hosts that are network namespaces: ours by TLS over TCP, as between all hosts, Open MPI
/// by TCP over the same links.
///
/// # Errors
/// As `run`, and when we are not root.
pub fn between_hosts(quick: bool) -> Result<Report> {
    namespaces::become_head()?;
    let home = Folder::new(Path::new("/dev/shm"), "mpi")?;
    let hosts = Namespaces::make(NODES, home.path())?;
    let cluster = Cluster::up_on(&hosts, NODES, home.path())?;
    let scene = Scene { hosts: Some(&hosts), ..HOSTS };
    let below = "each node a network namespace: ours by TLS over TCP, Open MPI by TCP";
    rounds(quick, &[&scene], cluster, below)
}

/// The benchmark; of the scenes only those whose names contain a text, if one is given. With a
/// place for a figure it draws that instead.
///
/// # Errors
/// When a program is missing, or ours fails.
pub fn run(quick: bool, only: Option<&str>, figure: Option<&Path>) -> Result<Report> {
    if let Some(path) = figure {
        return strobes::measure(quick, only, path);
    }
    let scenes: Vec<&Scene<'_>> =
        SCENES.iter().filter(|scene| only.is_none_or(|text| scene.name.contains(text))).collect();
    if scenes.is_empty() {
        let names: Vec<&str> = SCENES.iter().map(|scene| scene.name).collect();
        let (asked, there) = (only.unwrap_or_default(), names.join(", "));
        bail!("no scene contains {asked:?}: there are {there}");
    }
    let below = "between nodes of this machine: ours by Unix sockets, Open MPI by TCP on loopback; \
                 this says nothing of hosts: --namespaces";
    rounds(quick, &scenes, up(NODES)?, below)
}

/// All of them, in an order that looks like chance and is the same in every run. What the machine
/// did just before matters, so each side has to have any other before it.
fn shuffled<T: Clone>(all: &[T], turn: usize) -> Vec<T> {
    let (mut all, mut dice) = (all.to_vec(), turn as u64);
    for at in (1..all.len()).rev() {
        dice = dice.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        all.swap(at, (dice >> 33) as usize % (at + 1));
    }
    all
}

/// Plays scenes by all sides in turn.
fn rounds(quick: bool, scenes: &[&Scene<'_>], cluster: Cluster, place: &str) -> Result<Report> {
    let (rounds, times, patience) = if quick { (1, 1, QUICK) } else { (5, TIMES, PATIENCE) };
    let sides = sides();
    let mut played = Played::new(cluster, patience);
    for round in 0..rounds {
        for alike in scenes.chunk_by(|one, other| one.is_like(other)) {
            let times = if alike[0].program == Program::Sweep { times } else { 1 };
            let pairs = alike.iter().flat_map(|scene| sides.iter().map(move |side| (*scene, side)));
            let pairs: Vec<_> = pairs.filter(|(scene, side)| scene.is_for(side.name)).collect();
            for turn in round * times..(round + 1) * times {
                for (scene, side) in shuffled(&pairs, turn) {
                    eprintln!(
                        "bench: round {} of {rounds}, {}, {}",
                        round + 1,
                        scene.name,
                        side.name
                    );
                    played.play(scene, side)?;
                }
            }
        }
    }
    let Played { found, flags, mut late, .. } = played;
    let (low, high) = (flags.quantile(0.0), flags.quantile(1.0));
    let mut notes = vec![
        format!("{rounds} rounds; medians of the rounds' best batches, of {times} Sweep3D a round"),
        "blocked receives: medians of all waits".to_owned(),
        "launches, with init and finalize: ours is on a cluster that is up, and keeps daemons, or \
         by mpiexec alone, which starts everything, as the others always do"
            .to_owned(),
        place.to_owned(),
    ];
    if !flags.0.is_empty() {
        let median = flags.median();
        let range = format!("{low:.0} to {high:.0}");
        notes.push(format!("a flag before runs of two ranks: {median:.0} ns ({range})"));
    }
    notes.extend(sides.iter().map(Side::note));
    notes.extend(late.iter().map(|(scene, side)| format!("{side}: no answer for {scene}")));
    let (absent, missing) = absent(scenes, &sides);
    late.extend(absent);
    Ok(Report { bench: "mpi", notes, missing, cases: rows(&found, &late)? })
}

/// Who is not there and for which scenes, and a line for each of them.
fn absent(scenes: &[&Scene<'_>], there: &[Side]) -> (Late, Vec<String>) {
    let gone = side::PEERS.iter().filter(|peer| there.iter().all(|side| side.name != **peer));
    let of = |peer: &'static str| {
        let meant = scenes.iter().filter(move |scene| scene.is_for(peer));
        meant.map(move |scene| (scene.name, peer))
    };
    let late: Late = gone.flat_map(|peer| of(peer)).collect();
    let peers: BTreeSet<&str> = late.iter().map(|(_, peer)| *peer).collect();
    let line = |peer| format!("without {peer}: cargo xtask setup --bench");
    (late, peers.into_iter().map(line).collect())
}

/// What a peer's bytes take where it is not what ours take: those of ours are by Unix sockets
/// between nodes of one machine, with pages that the kernel lends, and by TLS between hosts.
fn medium(scene: &str) -> &'static str {
    match scene {
        "far" | "many nodes" => ", TCP on loopback",
        "hosts" => ", plain TCP",
        _ => "",
    }
}

/// The table's rows. A peer that has no figure, or is not there, has a row all the same, or is
/// named in that of the best.
fn rows(found: &Found, late: &Late) -> Result<Vec<Case>> {
    let mut cases = Vec::new();
    for (scene, name, title, unit, limit, against) in ROWS {
        let of = |scene, side| found.get(&(scene, side, name.to_owned()));
        let Some(ours) = of(scene, OURS) else { continue };
        let theirs = if let BestIn(other) = against { other } else { scene };
        let bound = Case::bound(title, unit, ours.clone(), 0.0);
        let case = Case { better: better(unit), limit, ..bound };
        let row = |peer: &Samples, name: &str| Case {
            peer: peer.clone(),
            peer_name: format!("{name}{}", medium(scene)),
            ..case.clone()
        };
        let is_meant = |peer: &str| !matches!(against, One(one) if one != peer);
        let mut peers: Vec<Case> = side::PEERS
            .iter()
            .filter(|peer| is_meant(peer))
            .filter_map(|peer| Some(row(of(theirs, peer)?, peer)))
            .collect();
        let silent: Vec<&str> = side::PEERS
            .into_iter()
            .filter(|peer| is_meant(peer) && late.contains(&(theirs, *peer)))
            .filter(|peer| of(theirs, peer).is_none())
            .collect();
        peers.sort_by(|one, other| one.ratio().total_cmp(&other.ratio()));
        match against {
            Best | BestIn(_) | One(_) => {
                let without = silent.join(", ");
                let mut best = peers.into_iter().next();
                if let Some(best) = best.as_mut().filter(|_| !silent.is_empty()) {
                    best.peer_name += &format!(" (no figure: {without})");
                }
                let none = || row(&Samples::default(), &without);
                cases.extend(best.or_else(|| (!silent.is_empty()).then(none)));
            }
            Bound(most) => {
                let bound = row(&Samples(vec![most]), "bound");
                cases.push(Case { peer_name: "bound".to_owned(), ..bound });
            }
            Own(other) => {
                cases.extend(of(other, OURS).map(|own| row(own, other)));
            }
        }
    }
    ensure!(!cases.is_empty(), "nothing was measured");
    Ok(cases)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_batch_of_each_figure_counts() {
        let printed = "latency-8 0.3\nrate-8 4\nlatency-8 0.2\nrate-8 5\nlatency-8 0.4\n\
                       Sweep3D: of 50 cells\ntime            0.5 s\n";
        let of = |name| *SCENES.iter().find(|scene| scene.name == name).expect("it is one");
        let found = |printed: &str, scene| {
            Run { printed: printed.to_owned(), time: 0.0 }.figures(&of(scene))
        };
        let want = [("latency-8", 0.2), ("rate-8", 5.0), ("time", 0.5)];
        let want = want.map(|(name, figure)| (name.to_owned(), figure));
        assert_eq!(found(printed, "pair"), want.into());
        // To be woken soon once is no promise for the other times.
        let waits = found("wake 40\nwake 5\nwake 30\n", "blocked");
        assert_eq!(waits, [("wake".to_owned(), 30.0)].into());
    }

    #[test]
    fn nobody_is_measured_with_anothers_library() {
        for (side, library, is_right) in [
            (OURS, "Muster 0.1.0, MPI 5.0, ABI 1.0", true),
            (side::MPICH_WHEEL, "MPICH Version: 5.0.2", true),
            (side::MPICH_WHEEL, "Muster 0.1.0, MPI 5.0, ABI 1.0", false),
            (OURS, "MPICH Version: 5.0.2", false),
        ] {
            assert_eq!(is_of(side, &format!("library {library}\ntime 1\n")), is_right, "{side}");
        }
        assert!(is_of(side::OPEN, "Sweep3D\n"), "what tells none is not judged");
    }

    #[test]
    fn each_side_has_been_the_first_and_has_had_any_other_before_it() {
        let (mut first, mut pairs) = (BTreeSet::new(), BTreeSet::new());
        for turn in 0..30 {
            let order = shuffled(&[0, 1, 2, 3, 4, 5], turn);
            first.insert(order[0]);
            pairs.extend(order.windows(2).map(|pair| (pair[0], pair[1])));
        }
        assert_eq!((first.len(), pairs.len()), (6, 6 * 5));
    }

    #[test]
    fn limits_are_those_that_were_asked_for() {
        let of = |scene, against: fn(&Against) -> bool| {
            let row = ROWS.iter().find(|row| row.0 == scene && against(&row.5));
            1.0 / row.expect("a row").4
        };
        let near = |got: f64, want: f64| assert!((got - want).abs() < 1e-9, "{got} {want}");
        near(of("sweep 2", |it| matches!(it, Best)), 1.02);
        near(of("sweep 2, coscheduled", |it| matches!(it, BestIn(_))), 1.02);
        near(of("sweep 4", |it| matches!(it, One(side::MPICH))), 0.33);
        near(of("sweep 4", |it| matches!(it, Own(_))), 1.25);
        near(of("far", |it| matches!(it, One(side::OPEN))), 0.85);
    }

    #[test]
    fn a_row_has_the_peer_that_is_best_and_ours_must_not_be_missing() {
        let mut found = Found::new();
        let nobody = Late::new();
        assert!(rows(&found, &nobody).is_err());
        for (side, figure) in [(OURS, 2.0), (side::OPEN, 3.0), (side::MPICH, 1.0)] {
            let key = ("pair", side, "latency-8".to_owned());
            found.insert(key, Samples(vec![figure]));
        }
        let cases = rows(&found, &nobody).expect("there are figures");
        let [case] = &cases[..] else { panic!("{cases:?}") };
        assert_eq!((case.peer_name.as_str(), case.ratio()), (side::MPICH, 0.5));
        // Who has failed is named beside who is best, or alone.
        found.remove(&("pair", side::MPICH, "latency-8".to_owned()));
        let late = Late::from([("pair", side::MPICH)]);
        let name = |found: &Found| {
            let cases = rows(found, &late).expect("there are figures");
            (cases[0].peer_name.clone(), cases[0].ratio().is_nan())
        };
        assert_eq!(name(&found), (format!("{} (no figure: {})", side::OPEN, side::MPICH), false));
        found.remove(&("pair", side::OPEN, "latency-8".to_owned()));
        assert_eq!(name(&found), (side::MPICH.to_owned(), true));
    }

    #[test]
    fn who_is_not_there_is_told_and_has_no_figure_in_the_rows_that_mean_him() {
        let scenes: Vec<&Scene<'_>> = SCENES.iter().filter(|it| it.name == "far").collect();
        let (late, missing) = absent(&scenes, &[]);
        assert_eq!(late, Late::from([("far", side::OPEN)]), "the others cannot go there");
        assert_eq!(missing, ["without Open MPI: cargo xtask setup --bench"]);
        let ours = (("far", OURS, "latency-8".to_owned()), Samples(vec![1.0]));
        let cases = rows(&Found::from([ours]), &late).expect("ours has figures");
        let [case] = &cases[..] else { panic!("{cases:?}") };
        assert_eq!(case.peer_name, "Open MPI, TCP on loopback");
        assert!(case.ratio().is_nan(), "{case:?}");
    }

    #[test]
    fn each_row_is_of_a_scene() {
        for (scene, .., against) in ROWS {
            let other = if let BestIn(other) | Own(other) = against { other } else { scene };
            for name in [scene, other] {
                let mut all = SCENES.iter().chain([&HOSTS]);
                assert!(all.any(|scene| scene.name == name), "{name}");
            }
        }
    }

    #[test]
    fn the_coscheduled_mode_is_beside_who_is_best_in_direct_mode() {
        let mut found = Found::new();
        let scene = "sweep 2, coscheduled";
        for (scene, side, seconds) in
            [(scene, OURS, 2.0), ("sweep 2", side::OPEN, 3.0), ("sweep 2", side::MPICH, 1.0)]
        {
            found.insert((scene, side, "time".to_owned()), Samples(vec![seconds]));
        }
        let cases = rows(&found, &Late::new()).expect("there are figures");
        let [case] = &cases[..] else { panic!("{cases:?}") };
        assert_eq!((case.peer_name.as_str(), case.ratio()), (side::MPICH, 0.5));
    }

    #[test]
    fn runs_of_sweep3d_that_differ_in_more_than_time_are_an_error() {
        let mut all = Digits::default();
        let of = |name| SCENES.iter().find(|scene| scene.name == name).expect("it is one");
        let (direct, coscheduled) = (of("sweep 2"), of("sweep 2, coscheduled"));
        all.compare(direct, "1 0.5 7\ntime 1.0 s\ngrind 2 ns\n").expect("the first");
        all.compare(coscheduled, "1 0.5 7\ntime 1.5 s\ngrind 3 ns\n").expect("the same");
        assert!(all.compare(coscheduled, "1 0.5 8\ntime 1.0 s\ngrind 2 ns\n").is_err());
        all.compare(of("sweep 1"), "1 0.5 9\n").expect("another cut");
    }
}
