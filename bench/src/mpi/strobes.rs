//! Figures 5 and 6 of seed 003, redrawn: how long a program takes in the coscheduled mode by the
//! length of the strobe, with early strobes and with fixed ones, on one node and over TCP between
//! two; beside direct mode and the peers. Figure 5 is Sweep3D's. For figure 6 hypre's driver `ij`
//! takes SAGE's place: it is public, and its ranks exchange with many neighbours at once, by
//! `MPI_Irecv`, `MPI_Isend` and `MPI_Waitall`.
//!
//! Each node is a host with a network of its own, so what goes between two of them goes over TCP,
//! with TLS as always there. In each round every point is measured once, and in the next round in
//! the other order; what is told are medians.

use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use muster_fabric::pipeline::figure::{Mark, Series};

use super::side::{OPEN, OURS, Program, Side, sides};
use super::{Digits, PATIENCE, QUICK, Scene, Words, play};
use crate::cluster::Cluster;
use crate::folder::Folder;
use crate::namespaces::{self, Namespaces};
use crate::picture::{Figure, Label, Panel};
use crate::report::{Report, Samples};

/// Lengths of the strobe, in microseconds.
const STROBES: [(f64, &str); 6] = [
    (20.0, "20us"),
    (50.0, "50us"),
    (100.0, "100us"),
    (200.0, "200us"),
    (500.0, "500us"),
    (1000.0, "1ms"),
];

/// A program that is drawn, and on how many ranks with which words.
struct Subject {
    name: &'static str,
    title: &'static str,
    program: Program,
    panels: &'static [(usize, Words)],
}

const SUBJECTS: [Subject; 2] = [
    Subject {
        name: "sweep",
        title: "Sweep3D 50^3",
        program: Program::Sweep,
        panels: &[(2, &["50", "2", "1"]), (4, &["50", "2", "2"])],
    },
    Subject {
        name: "hypre",
        title: "hypre 2.26, algebraic multigrid with conjugate gradients, 27 points, 48^3",
        program: Program::Hypre,
        panels: &[
            (2, &["-n", "48", "48", "48", "-27pt", "-solver", "1", "-P", "2", "1", "1"]),
            (4, &["-n", "48", "48", "48", "-27pt", "-solver", "1", "-P", "2", "2", "1"]),
            (8, &["-n", "48", "48", "48", "-27pt", "-solver", "1", "-P", "2", "2", "2"]),
        ],
    },
];

/// One of the curves, or level lines, of a panel.
struct Curve {
    name: &'static str,
    color: &'static str,
    mark: Mark,
    side: &'static str,
    nodes: usize,
    /// With strobes: whether they are fixed.
    strobes: Option<bool>,
    /// In the order of [`STROBES`], or one for all.
    points: Vec<Samples>,
}

const NEAR: &str = "#1f6fb4";
const FAR: &str = "#c2410c";
const GREY: &str = "#777";
const BLACK: &str = "#111";

/// Measures and draws; of the programs the first whose name contains a text, if one is given.
///
/// # Errors
/// When a program is missing or fails, or the figure cannot be written.
pub fn measure(quick: bool, only: Option<&str>, path: &Path) -> Result<Report> {
    let Some(subject) = SUBJECTS.iter().find(|it| only.is_none_or(|text| it.name.contains(text)))
    else {
        bail!("no program with a figure contains {:?}: sweep, hypre", only.unwrap_or_default());
    };
    namespaces::become_head()?;
    let home = Folder::new(Path::new("/dev/shm"), "mpi")?;
    draw(subject, quick, path, home.path())
}

fn draw(subject: &Subject, quick: bool, path: &Path, home: &Path) -> Result<Report> {
    let hosts = Namespaces::make(2, home)?;
    let cluster = Cluster::up_on(&hosts, 2, home)?;
    let rounds = if quick { 1 } else { 3 };
    let (mut panels, mut notes) = (Vec::new(), Vec::new());
    for (ranks, words) in subject.panels {
        let scene = Scene {
            name: subject.name,
            ranks: *ranks,
            nodes: 1,
            program: subject.program,
            words,
            flags: &[],
            only: &[],
            hosts: None,
            is_alone: false,
        };
        let curves = curves(&scene, rounds, (&cluster, &hosts))?;
        let title = format!("{ranks} ranks");
        notes.extend(curves.iter().map(|curve| format!("{title}, {}", curve.told())));
        panels.push(panel(title, &curves));
    }
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let below = format!(
        "strobes early when all ranks of a node wait, or fixed; medians of {rounds} rounds; one \
         machine of {processors} processors; two nodes: ours by TLS over TCP, Open MPI by TCP over \
         the same links"
    );
    let title = subject.title.to_owned();
    Figure { title, below, panels }.save(path)?;
    notes.push(format!("drawn: {}", path.display()));
    Ok(Report { bench: "mpi", notes, missing: Vec::new(), cases: Vec::new() })
}

/// Measures all curves of a panel.
fn curves(
    scene: &Scene<'_>,
    rounds: usize,
    (cluster, hosts): (&Cluster, &Namespaces),
) -> Result<Vec<Curve>> {
    let mut sides = sides();
    ensure!(
        sides.iter().all(|side| side.program(scene.program).exists()),
        "there is no build of {:?} for each MPI: see what was said above",
        scene.program
    );
    let mut curves = all(&sides);
    let mut digits = Digits::default();
    // The first run finds nothing in caches.
    let ours = sides.iter().find(|side| side.name == OURS).context("ours is not there")?;
    once(scene, ours, cluster, &mut digits)?;
    for round in 0..rounds {
        eprintln!("bench: round {} of {rounds}, {} ranks", round + 1, scene.ranks);
        for curve in &mut curves {
            let side = sides.iter().find(|side| side.name == curve.side);
            let side = side.expect("curves are of sides that are there");
            for (at, samples) in curve.points.iter_mut().enumerate() {
                let mut flags = vec!["--mpi=bcs", "--strobe", STROBES[at].1];
                match curve.strobes {
                    None => flags.clear(),
                    Some(false) => {}
                    Some(true) => flags.push("--fixed-strobes"),
                }
                let hosts = (curve.nodes > 1).then_some(hosts);
                let scene = Scene { nodes: curve.nodes, flags: &flags, hosts, ..*scene };
                samples.0.extend(once(&scene, side, cluster, &mut digits)?);
            }
        }
        curves.reverse();
        sides.reverse();
    }
    if rounds % 2 == 1 {
        curves.reverse();
    }
    // A peer that has not ended in time has no level.
    curves.retain(|curve| curve.points.iter().all(|samples| !samples.0.is_empty()));
    let peers = |curve: &Curve| curve.side != OURS && curve.nodes == 1;
    let best = curves.iter().filter(|curve| peers(curve));
    let best = best.min_by(|one, other| one.level().total_cmp(&other.level()));
    let best = best.map(|curve| curve.side);
    curves.retain(|curve| !peers(curve) || Some(curve.side) == best);
    Ok(curves)
}

/// The curves of a panel, with nothing measured yet: those of one node, then those of two.
fn all(sides: &[Side]) -> Vec<Curve> {
    let curve = |name, side, nodes, strobes: Option<bool>| {
        let color = match (side == OURS, nodes) {
            (true, 1) => NEAR,
            (true, _) => FAR,
            (false, 1) => GREY,
            (false, _) => BLACK,
        };
        let mark = match strobes {
            Some(false) => Mark::Line,
            Some(true) => Mark::Dots,
            None => Mark::Dashes,
        };
        let points = vec![Samples::default(); if strobes.is_some() { STROBES.len() } else { 1 }];
        Curve { name, color, mark, side, nodes, strobes, points }
    };
    let mut all = Vec::new();
    for nodes in [1, 2] {
        all.push(curve("early", OURS, nodes, Some(false)));
        all.push(curve("fixed", OURS, nodes, Some(true)));
        all.push(curve("direct", OURS, nodes, None));
        let peers = sides.iter().map(|side| side.name).filter(|name| *name != OURS);
        let peers = peers.filter(|name| nodes == 1 || *name == OPEN);
        all.extend(peers.map(|name| curve(name, name, nodes, None)));
    }
    all
}

/// How long a program took, if it ended in time; ours must.
fn once(
    scene: &Scene<'_>,
    side: &Side,
    cluster: &Cluster,
    digits: &mut Digits,
) -> Result<Option<f64>> {
    let patience = if side.name == OURS { PATIENCE } else { QUICK };
    let Some(played) = play(scene, side, cluster, patience)? else {
        ensure!(side.name != OURS, "ours failed, or took longer than {patience:?}");
        return Ok(None);
    };
    if side.name == OURS {
        digits.compare(scene, &played.printed)?;
    }
    let seconds = seconds(&played.printed);
    seconds.map(Some).with_context(|| format!("{} of {} told no time", scene.name, side.name))
}

/// The seconds that a program says it took: Sweep3D's time; of hypre the sum of its phases, each
/// told as `wall clock time = SECONDS seconds`.
fn seconds(printed: &str) -> Option<f64> {
    let told = printed.lines().filter_map(|line| {
        let line = line.trim_start();
        let time = line.strip_prefix("time").or_else(|| line.strip_prefix("wall clock time ="))?;
        time.split_whitespace().next()?.parse::<f64>().ok()
    });
    told.reduce(|sum, phase| sum + phase)
}

impl Curve {
    /// What is drawn of it: level lines from end to end.
    fn series(&self) -> Series {
        let points = match self.strobes {
            Some(_) => {
                STROBES.iter().zip(&self.points).map(|(at, it)| (at.0, it.median())).collect()
            }
            None => [0, STROBES.len() - 1].map(|at| (STROBES[at].0, self.level())).to_vec(),
        };
        // The first of those of one colour tells what the colour means.
        let nodes = if self.strobes == Some(false) { self.nodes() } else { "" };
        let name = format!("{}{nodes}", self.name);
        Series { name, color: self.color, mark: self.mark, points }
    }

    fn nodes(&self) -> &'static str {
        if self.nodes > 1 { ", two nodes" } else { ", one node" }
    }

    fn level(&self) -> f64 {
        self.points[0].median()
    }

    /// For people: all its points.
    fn told(&self) -> String {
        let points = self.points.iter().map(Samples::median);
        let told: Vec<String> = match self.strobes {
            Some(_) => points.zip(STROBES).map(|(it, at)| format!("{}: {it:.4} s", at.1)).collect(),
            None => points.map(|it| format!("{it:.4} s")).collect(),
        };
        format!("{}{}: {}", self.name, self.nodes(), told.join(", "))
    }
}

fn panel(title: String, curves: &[Curve]) -> Panel {
    Panel {
        title,
        x: "length of the strobe in us".to_owned(),
        y: "seconds".to_owned(),
        label: Label::Count,
        series: curves.iter().map(Curve::series).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_programs_tell_them() {
        let sweep = "iterations      12\ntime            0.114500 s\ngrind           2.5 ns\n";
        assert_eq!(seconds(sweep), Some(0.1145));
        let hypre = "Setup phase times:\n  wall clock time = 0.5 seconds\n  wall MFLOPS     = 0\n\
                     Solve phase times:\n  wall clock time = 0.25 seconds\n";
        assert_eq!(seconds(hypre), Some(0.75));
        assert_eq!(seconds("nothing\n"), None);
    }

    #[test]
    fn a_level_is_drawn_from_the_shortest_strobe_to_the_longest() {
        let mut curve = all(&[]).remove(2);
        curve.points[0].0.extend([3.0, 1.0, 2.0]);
        assert_eq!(curve.series().points, [(20.0, 2.0), (1000.0, 2.0)]);
    }
}
