//! Figure 1 of the paper, and sizes as in table 2 of seed 000: how long ours takes to send a
//! program and to execute it, as `muster run --timing` tells; by size on an idle machine, and of
//! one size while others compute, or fill the network.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

use anyhow::{Context, Result, bail, ensure};
use muster_fabric::pipeline::figure::{Mark, Series};

use super::PATIENCE;
use super::program::Program;
use crate::child::{self, Child};
use crate::cluster::Cluster;
use crate::picture::{Figure, Label, Panel};
use crate::report::Samples;

/// The word that makes this program fill the network.
pub const TRAFFIC: &str = "launch-traffic";

/// Sizes of the programs, and how each is called and drawn.
const SIZES: [(usize, &str, &str); 4] = [
    (64 << 10, "64 KB", "#15803d"),
    (1 << 20, "1 MB", "#7e22ce"),
    (8 << 20, "8 MB", "#c2410c"),
    (16 << 20, "16 MB", "#1f6fb4"),
];

/// The size that is sent under load.
const LOADED: usize = 12 << 20;

/// Bytes of the messages that fill the network.
const LONG: usize = 1 << 20;

/// What else goes on.
#[derive(Clone, Copy, PartialEq)]
enum Load {
    Idle,
    Processors,
    Network,
}

const LOADS: [(Load, &str, &str); 3] = [
    (Load::Idle, "idle", "#15803d"),
    (Load::Processors, "processors loaded", "#c2410c"),
    (Load::Network, "network loaded", "#1f6fb4"),
];

/// Milliseconds to send and to execute, by the number of nodes.
type Curve = Vec<(usize, f64, f64)>;

/// Measures and draws; what it says of each point.
///
/// # Errors
/// When a launch fails, or the figure cannot be written.
pub fn measure(quick: bool, path: &Path, base: &Path, home: &Path) -> Result<Vec<String>> {
    let sizes: &[usize] = if quick { &[1, 4, 16] } else { &[1, 2, 4, 8, 16, 32, 64] };
    let rounds = if quick { 3 } else { 7 };
    let mut by_size: Vec<Curve> = vec![Vec::new(); SIZES.len()];
    let mut by_load: Vec<Curve> = vec![Vec::new(); LOADS.len()];
    let mut said = Vec::new();
    for nodes in sizes {
        let cluster = Cluster::up(*nodes, base)?;
        let mut point = |curve: &mut Curve, bytes: usize, name: &str| -> Result<()> {
            let program = Program::make(&home.join("program"), bytes)?;
            let (mut send, mut execute) = (Samples::default(), Samples::default());
            for round in 0..=rounds {
                let took = timed(&cluster, *nodes, &program)?;
                // The first warms caches.
                if round > 0 {
                    send.0.push(took.0);
                    execute.0.push(took.1);
                }
            }
            let (send, execute) = (send.median(), execute.median());
            said.push(format!("{name} on {nodes}: send {send:.1} ms, execute {execute:.1} ms"));
            curve.push((*nodes, send, execute));
            Ok(())
        };
        for ((bytes, name, _), curve) in SIZES.iter().zip(&mut by_size) {
            point(curve, *bytes, name)?;
        }
        for ((load, name, _), curve) in LOADS.iter().zip(&mut by_load) {
            let _others = load.start()?;
            point(curve, LOADED, &format!("12 MB, {name},"))?;
        }
    }
    draw(&by_size, &by_load).save(path)?;
    Ok(said)
}

fn draw(by_size: &[Curve], by_load: &[Curve]) -> Figure {
    let panel = |title: &str, curves: &[(&str, &'static str, &Curve)]| {
        let each = curves.iter().flat_map(|(name, color, curve)| {
            let series = |what: &str, mark, of: fn(&(usize, f64, f64)) -> f64| {
                let points = curve.iter().map(|point| (point.0 as f64, of(point))).collect();
                Series { name: format!("{name}{what}"), color, mark, points }
            };
            // One name for both: the line sends, the dashes execute.
            let execute = series("", Mark::Dashes, |point| point.2);
            [series("", Mark::Line, |point| point.1), Series { name: String::new(), ..execute }]
        });
        let (title, x, y) = (title.to_owned(), "nodes".to_owned(), "ms".to_owned());
        Panel { title, x, y, label: Label::Count, series: each.collect() }
    };
    let sizes: Vec<_> =
        SIZES.iter().zip(by_size).map(|((_, name, color), curve)| (*name, *color, curve)).collect();
    let loads: Vec<_> =
        LOADS.iter().zip(by_load).map(|((_, name, color), curve)| (*name, *color, curve)).collect();
    let processors = thread::available_parallelism().map_or(1, usize::from);
    Figure {
        title: "Job launching: send (lines) and execute (dashes)".to_owned(),
        below: format!("all nodes on one machine of {processors} processors"),
        panels: vec![panel("by size, idle", &sizes), panel("12 MB under load", &loads)],
    }
}

/// Milliseconds to send and to execute, as the command itself tells.
fn timed(cluster: &Cluster, nodes: usize, program: &Program) -> Result<(f64, f64)> {
    program.renew(nodes)?;
    let mut command =
        cluster.command(&["run", "--timing", "-N", &nodes.to_string(), &program.path]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let Some(output) = Child::start(&mut command)?.output(PATIENCE)? else {
        bail!("{command:?} has not ended for {PATIENCE:?}");
    };
    let text = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{command:?} ended with {}: {text}", output.status);
    let after = |word: &str| -> Option<f64> {
        let (_, rest) = text.split_once(&format!("{word} "))?;
        rest.split(' ').next()?.parse().ok()
    };
    after("send").zip(after("execute")).with_context(|| format!("no times in {text:?}"))
}

impl Load {
    /// Who makes it; it ends with them.
    fn start(self) -> Result<Vec<Child>> {
        let count = thread::available_parallelism().map_or(1, usize::from);
        let busy = || {
            let mut command = child::command("sh");
            command.args(["-c", "while :; do :; done"]);
            command
        };
        let traffic = || -> Result<Command> {
            let mut command = child::command(std::env::current_exe()?);
            command.arg(TRAFFIC);
            Ok(command)
        };
        let start = |mut command: Command| Child::start(command.stdout(Stdio::null()));
        match self {
            Load::Idle => Ok(Vec::new()),
            Load::Processors => (0..count).map(|_| start(busy())).collect(),
            Load::Network => (0..count).map(|_| start(traffic()?)).collect(),
        }
    }
}

/// Sends long messages to and fro over TCP until it is ended, as the paper's network load does.
///
/// # Errors
/// When there is no network.
pub fn traffic() -> Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let mut there = TcpStream::connect(listener.local_addr()?)?;
    let (mut here, _) = listener.accept()?;
    let echo = thread::spawn(move || -> Result<()> {
        let mut message = vec![0; LONG];
        loop {
            here.read_exact(&mut message)?;
            here.write_all(&message)?;
        }
    });
    let mut message = vec![0; LONG];
    while !echo.is_finished() {
        there.write_all(&message)?;
        there.read_exact(&mut message)?;
    }
    Ok(())
}
