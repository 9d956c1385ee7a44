//! Launches on clusters of some sizes: how long they take, and who computes for them.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

use crate::child::Child;
use crate::cluster::Cluster;
use crate::cpu::Meter;
use crate::launch::Program as Sent;
use crate::report::Samples;

/// How long one launch may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// Bytes of the program that is sent along.
pub const BIG: usize = 12 << 20;

/// Launches of each program at the least.
const LEAST: usize = 4;

/// Milliseconds of a clock's tick, in which the kernel tells the processor time of processes.
const TICK: f64 = 10.0;

/// What is launched.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Program {
    /// `true`.
    True,
    /// As that, made longer, and sent along to nodes that do not have it.
    Big,
}

impl Program {
    /// What reports call it.
    pub fn name(self) -> &'static str {
        match self {
            Program::True => "true",
            Program::Big => "12 MiB sent and run",
        }
    }

    /// Bytes that are sent.
    pub fn bytes(self) -> usize {
        if self == Program::Big { BIG } else { 0 }
    }
}

/// What one program's launches took on one size.
#[derive(Clone, Debug, Default)]
pub struct Launches {
    /// Milliseconds from the client's start to its end.
    pub wall: Samples,
    /// Milliseconds of processor time of a launch: of client and manager, and of all nodes.
    pub head: f64,
    pub nodes: f64,
}

/// What was measured on one size.
#[derive(Clone, Debug)]
pub struct Point {
    /// How many nodes.
    pub nodes: usize,
    launches: [Launches; 2],
}

impl Point {
    /// Launches of a program.
    pub fn of(&self, program: Program) -> &Launches {
        &self.launches[usize::from(program == Program::Big)]
    }

    /// Milliseconds of processor time of one, of all together.
    pub fn work(&self, program: Program) -> f64 {
        self.of(program).head + self.of(program).nodes
    }

    /// Milliseconds that one takes.
    pub fn wall(&self, program: Program) -> f64 {
        self.of(program).wall.median()
    }
}

/// Bytes that nodes may keep of what one size was sent: they keep each program that they get.
const KEPT: usize = 3 << 30;

/// Has so much of the machine's memory used once. Where it is a virtual one, the first use of a
/// page costs more than to receive, check and write what stands there.
fn touch_memory(base: &Path, bytes: usize) -> Result<()> {
    let path = base.join(format!("muster-bench-memory-{}", std::process::id()));
    crate::folder::watch(&path);
    let (mut file, zeros) = (File::create(&path)?, vec![0; 1 << 20]);
    let done = (0..bytes >> 20).try_for_each(|_| file.write_all(&zeros));
    fs::remove_file(&path)?;
    done.with_context(|| format!("too little memory: {} MiB are needed", bytes >> 20))
}

/// Measures one size.
pub fn point(nodes: usize, quick: bool, base: &Path, home: &Path) -> Result<Point> {
    let rounds = (KEPT / (nodes * BIG)).max(LEAST);
    touch_memory(base, (rounds + 2) * nodes * BIG)?;
    let meter = Meter::new("scale");
    let meter = meter.context("no control group counts for us: cpuacct or cgroup2, as root")?;
    meter.within(|| launches(nodes, rounds, quick, &meter, (base, home)))
}

/// The same for who is a member of the meter's group.
fn launches(
    nodes: usize,
    rounds: usize,
    quick: bool,
    meter: &Meter,
    (base, home): (&Path, &Path),
) -> Result<Point> {
    let cluster = Cluster::up(nodes, base)?;
    let big = Sent::make(&home.join("big"), BIG)?;
    // As many as take about the same time on each size.
    let seconds = if quick { 1.5 } else { 5.0 };
    let mut launches = [Launches::default(), Launches::default()];
    for (program, launches) in super::PROGRAMS.into_iter().zip(&mut launches) {
        // The first warms caches.
        launch(&cluster, nodes, program, &big)?;
        let (before, until) =
            (used(&cluster, meter)?, Instant::now() + Duration::from_secs_f64(seconds));
        let most = match program {
            Program::True => usize::MAX,
            Program::Big => rounds,
        };
        let is_open = |count: usize| count < LEAST || count < most && Instant::now() < until;
        while is_open(launches.wall.0.len()) {
            launches.wall.0.push(launch(&cluster, nodes, program, &big)?);
        }
        // What is done is forgotten 100 ms later: that belongs to it.
        std::thread::sleep(Duration::from_millis(300));
        let (after, count) = (used(&cluster, meter)?, launches.wall.0.len() as f64);
        (launches.head, launches.nodes) =
            ((after.0 - before.0) / count, (after.1 - before.1) / count);
    }
    let [small, big] = &launches;
    let (few, many) = (small.wall.median(), big.wall.median());
    eprintln!("bench: on {nodes}: true {few:.1} ms, 12 MiB {many:.1} ms");
    Ok(Point { nodes, launches })
}

fn launch(cluster: &Cluster, nodes: usize, program: Program, big: &Sent) -> Result<f64> {
    let count = nodes.to_string();
    let name = match program {
        Program::True => "true",
        Program::Big => {
            big.renew(nodes)?;
            &big.path
        }
    };
    let mut command = cluster.command(&["run", "-N", &count, name]);
    command.stdout(Stdio::piped());
    let start = Instant::now();
    let Some(output) = Child::start(&mut command)?.output(PATIENCE)? else {
        bail!("{command:?} has not ended for {PATIENCE:?}");
    };
    ensure!(output.status.success(), "{command:?} ended with {}", output.status);
    Ok(start.elapsed().as_secs_f64() * 1e3)
}

/// Milliseconds of processor time so far: of our clients and the manager, and of all that runs on
/// nodes: what the group has used beside.
fn used(cluster: &Cluster, meter: &Meter) -> Result<(f64, f64)> {
    let runtime = cluster.directory();
    let mark = format!("MUSTER_RUNTIME={}", runtime.parent().unwrap_or(&runtime).display());
    let (own, clients) = times(Path::new("/proc/self"))?;
    let mut head = clients;
    for entry in fs::read_dir("/proc")? {
        let path = entry?.path();
        // One that has ended meanwhile is nobody's.
        let Ok(environ) = fs::read(path.join("environ")) else { continue };
        let words = fs::read_to_string(path.join("cmdline")).unwrap_or_default();
        let is_ours = environ.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes());
        if is_ours && words.split('\0').any(|word| word.contains("manager")) {
            let (of_it, ended) = times(&path)?;
            head += of_it + ended;
        }
    }
    Ok((head, meter.used()? - own - head))
}

/// Milliseconds that a process has used, and those of its children that have ended.
fn times(process: &Path) -> Result<(f64, f64)> {
    let stat = fs::read_to_string(process.join("stat"))?;
    let (_, fields) = stat.rsplit_once(") ").context("no name in stat")?;
    let ticks: Vec<f64> =
        fields.split(' ').skip(11).take(4).filter_map(|field| field.parse().ok()).collect();
    ensure!(ticks.len() == 4, "{process:?}: stat has too few fields");
    Ok(((ticks[0] + ticks[1]) * TICK, (ticks[2] + ticks[3]) * TICK))
}
