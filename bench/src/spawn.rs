//! `bench spawn`: a session with a file of 4 MB is spread from one node to 4, 8, 16 and 32 others
//! by `clone 2 ...`, and for comparison by `clone 0 ...`, where one node sends to all.
//!
//! All nodes share this machine, whose processors would be all that is measured. So a proxy
//! before each node's socket holds what every daemon sends to 200 Mbit/s, as a network card of
//! its own would.

#[path = "../../tests/cluster/spawn.rs"]
mod session;
#[path = "../../tests/cluster/wire.rs"]
mod wire;

use std::fs;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Result, bail};

use crate::cluster::Cluster;
use crate::report::{Case, Report, Samples};
use session::Session;
use wire::Wire;

/// Bytes of the file.
const SIZE: usize = 4 << 20;

/// Bytes a second that each node can send: 200 Mbit/s.
const RATE: f64 = 25e6;

/// How many nodes it is spread to.
const COUNTS: [usize; 4] = [4, 8, 16, 32];

/// Measures.
///
/// # Errors
/// When the cluster does not come up, or a file does not arrive.
pub fn run(quick: bool) -> Result<Report> {
    let most = COUNTS[COUNTS.len() - 1];
    let cluster = Cluster::up(most + 1, &std::env::temp_dir())?;
    let wire = Wire::new(Some(RATE));
    (0..=most).for_each(|node| wire.proxy(&cluster.proxy(node), &cluster.socket(node)));
    let source = Session::open(&cluster.socket(0));
    let bytes: Vec<u8> =
        (0..SIZE as u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 9) as u8).collect();
    fs::write(source.directory(&cluster.node(0)).join("file"), &bytes)?;
    let mut tree = vec![Samples::default(); COUNTS.len()];
    let mut flat = tree.clone();
    for _ in 0..if quick { 3 } else { 7 } {
        for (at, count) in COUNTS.into_iter().enumerate() {
            tree[at].0.push(spread(&cluster, &source, 2, count, &bytes)?);
            flat[at].0.push(spread(&cluster, &source, 0, count, &bytes)?);
        }
    }
    let notes = vec![
        format!("a file of {SIZE} bytes; each node sends at most {} Mbit/s", RATE * 8.0 / 1e6),
        fit("ours, MAX 2", &tree),
        fit("flat", &flat),
    ];
    let case = |at: usize| {
        let title = format!("clone 2 to {} nodes", COUNTS[at]);
        // Half of what streaming through two children can gain.
        let limit = COUNTS[at] as f64 / 4.0;
        Case::lower(&title, "ms", tree[at].clone(), ("clone 0 (flat)", flat[at].clone()), limit)
    };
    Ok(Report {
        bench: "spawn",
        notes,
        missing: Vec::new(),
        cases: (0..COUNTS.len()).map(case).collect(),
    })
}

/// Milliseconds that spreading takes.
fn spread(
    cluster: &Cluster,
    source: &Session,
    most: usize,
    count: usize,
    bytes: &[u8],
) -> Result<f64> {
    let sessions: Vec<Session> =
        (1..=count).map(|node| Session::open(&cluster.socket(node))).collect();
    let numbered = sessions.iter().enumerate();
    let targets: Vec<(PathBuf, u32)> =
        numbered.map(|(at, session)| (cluster.proxy(at + 1), session.number)).collect();
    let start = Instant::now();
    source.spread(most, &targets)?;
    let time = start.elapsed().as_secs_f64() * 1e3;
    for (at, session) in sessions.iter().enumerate() {
        let path = session.directory(&cluster.node(at + 1)).join("file");
        if fs::read(&path)? != bytes {
            bail!("{} is not what was sent", path.display());
        }
    }
    Ok(time)
}

/// The line `a + b log2(n)` through the medians, and how much of their spread it explains.
fn fit(name: &str, samples: &[Samples]) -> String {
    let points: Vec<(f64, f64)> =
        COUNTS.iter().zip(samples).map(|(n, s)| ((*n as f64).log2(), s.median())).collect();
    let count = points.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / count;
    let (x, y) = (mean(|p| p.0), mean(|p| p.1));
    let sum = |of: &dyn Fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>();
    let slope = sum(&|p| (p.0 - x) * (p.1 - y)) / sum(&|p| (p.0 - x).powi(2));
    let start = y - slope * x;
    let missed = sum(&|p| (p.1 - start - slope * p.0).powi(2));
    let fits = 1.0 - missed / sum(&|p| (p.1 - y).powi(2));
    format!("{name}: {start:.0} ms + {slope:.0} ms * log2(nodes), R2 = {fits:.2}")
}
