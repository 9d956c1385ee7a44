//! `bench scale`: launches on 1 to 16 nodes, a model fitted on them, and how far it can be trusted
//! (`docs/decisions/scale.md`).
//!
//! The model is the simulator's ([`muster_sim::launch`]): the shipped protocol, with prices. What
//! it says of 32 and 64 nodes is printed before these are measured. Only if it was right within
//! [`WITHIN`] percent is anything said of larger clusters, and that is called modelled.

mod fit;
mod measure;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Result;
use muster_fabric::pipeline::figure::{Mark, Series};

use crate::folder::Folder;
use crate::picture::{Figure, Label, Panel};
use crate::report::{Case, Report, Samples, load};
use fit::Model;
use measure::{Point, Program};

/// Sizes that the model is fitted on, and those that it is tried on.
const FITTED: [usize; 5] = [1, 2, 4, 8, 16];
const TRIED: [usize; 2] = [32, 64];

/// By how many percent it may be wrong there.
const WITHIN: f64 = 15.0;

/// Sizes that are only modelled.
const MODELLED: std::ops::RangeInclusive<u32> = 8..=14;

/// How many milliseconds a launch may take on the largest of them.
const SUB_SECOND: f64 = 1000.0;

/// How long the simulator may take for them: what is larger then is left out.
const PATIENCE: Duration = Duration::from_secs(120);

/// What is launched.
const PROGRAMS: [Program; 2] = [Program::True, Program::Big];

/// Measures, fits, predicts and measures again; draws a figure if it is told where.
///
/// # Errors
/// When a launch fails.
pub fn run(quick: bool, figure: Option<&Path>) -> Result<Report> {
    let base = PathBuf::from("/dev/shm");
    let home = Folder::new(&base, "scale")?;
    all(quick, figure, &base, home.path())
}

fn all(quick: bool, figure: Option<&Path>, base: &Path, home: &Path) -> Result<Report> {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let measure = |nodes: &[usize]| -> Result<Vec<Point>> {
        let each = nodes.iter().map(|nodes| measure::point(*nodes, quick, base, home));
        each.collect()
    };
    let mut points = measure(&FITTED)?;
    let model = Model::fit(&points, processors)?;
    model.tell().iter().for_each(|line| eprintln!("bench: {line}"));
    let predicted = TRIED.map(|nodes| PROGRAMS.map(|program| model.here(nodes, program)));
    for (nodes, both) in TRIED.iter().zip(&predicted) {
        let [small, big] = both;
        eprintln!("bench: predicted for {nodes}: true {small:.1} ms, 12 MiB {big:.1} ms");
    }
    points.extend(measure(&TRIED)?);
    let tried = &points[FITTED.len()..];
    let pairs = tried.iter().zip(&predicted);
    let mut cases: Vec<Case> = pairs.flat_map(|(point, both)| compare(point, both)).collect();
    let worst = cases.iter().map(|case| case.ours.median()).fold(0.0, f64::max);
    let is_valid = worst <= WITHIN;
    let mut notes = model.tell();
    notes.push(format!("{processors} processors for all nodes; load {}", load()));
    notes.extend(fits(&points[..FITTED.len()], &model));
    notes.extend(points[FITTED.len()..].iter().map(|point| works(point, &model)));
    let mut modelled = Vec::new();
    if is_valid {
        let start = Instant::now();
        for nodes in MODELLED.map(|power| 1 << power) {
            if start.elapsed() > PATIENCE {
                notes.push(format!("{nodes} nodes: left out, the simulator takes too long"));
                break;
            }
            let row = Modelled::new(nodes, &model);
            eprintln!("bench: {}", row.tell());
            notes.push(row.tell());
            modelled.push(row);
        }
    } else {
        notes.push(format!(
            "NOT VALIDATED: wrong by {worst:.0} % at 32 or 64, {WITHIN:.0} are allowed; nothing is \
             said of larger clusters"
        ));
    }
    cases.extend(asked(&modelled));
    if let Some(path) = figure {
        draw(&points, &model, &modelled, processors, is_valid).save(path)?;
    }
    Ok(Report { bench: "scale", notes, missing: Vec::new(), cases })
}

/// What is asked of the largest cluster. Without a valid model, or where that said nothing of it,
/// there is no figure.
fn asked(modelled: &[Modelled]) -> [Case; 2] {
    let row = modelled.iter().find(|row| row.nodes == 1 << MODELLED.end());
    [0, 1].map(|at| {
        let time = row.and_then(|row| row.launches[at].as_ref().ok().copied());
        let program = if PROGRAMS[at] == Program::True { "true" } else { "12 MiB" };
        let title = format!("{program} on {}, modelled", 1 << MODELLED.end());
        Case::bound(&title, "ms", Samples(time.into_iter().collect()), SUB_SECOND)
    })
}

/// How far the fit is from what it was fitted on.
fn fits(points: &[Point], model: &Model) -> Vec<String> {
    let one = |point: &Point| {
        let [small, big] = PROGRAMS.map(|program| {
            let (measured, fitted) = (point.wall(program), model.here(point.nodes, program));
            format!("{measured:.1} ms measured, {fitted:.1} fitted")
        });
        format!("on {}: true {small}; 12 MiB {big}", point.nodes)
    };
    points.iter().map(one).collect()
}

/// Processor time, which a busy machine does not change as much as wall time.
fn works(point: &Point, model: &Model) -> String {
    let [small, big] = PROGRAMS.map(|program| {
        let (measured, predicted) = (point.work(program), model.work(point.nodes, program));
        format!("{measured:.0} ms measured, {predicted:.0} predicted")
    });
    format!("processor time on {}: true {small}; 12 MiB {big}", point.nodes)
}

/// How many percent each prediction was off.
fn compare(point: &Point, predicted: &[f64; 2]) -> Vec<Case> {
    let each = PROGRAMS.iter().zip(predicted).map(|(program, predicted)| {
        let measured = point.wall(*program);
        let name = program.name();
        let title = format!(
            "{name} on {}: {predicted:.1} ms predicted, {measured:.1} measured",
            point.nodes
        );
        let off = Samples(vec![(predicted / measured - 1.0).abs() * 100.0]);
        let peer_name = "what is allowed".to_owned();
        Case { peer_name, ..Case::bound(&title, "% off", off, WITHIN) }
    });
    each.collect()
}

/// What is said of one size that was not measured: milliseconds, or why not.
struct Modelled {
    nodes: u32,
    launches: [Result<f64, String>; 2],
    strobe: Result<f64, String>,
}

impl Modelled {
    fn new(nodes: u32, model: &Model) -> Modelled {
        let launches = PROGRAMS.map(|program| model.alone(nodes, program));
        Modelled { nodes, launches, strobe: model.strobe(nodes) }
    }

    fn tell(&self) -> String {
        let say = |time: &Result<f64, String>| match time {
            Ok(time) => format!("{time:.1} ms"),
            Err(why) => format!("refused ({why})"),
        };
        let ([small, big], strobe) = (self.launches.each_ref().map(say), say(&self.strobe));
        let nodes = self.nodes;
        format!("modelled, {nodes} nodes: true {small}, 12 MiB {big}, a table of slots {strobe}")
    }
}

/// Figure 2 of the paper: what was measured and what the model says, here and in clusters of
/// machines.
fn draw(
    points: &[Point],
    model: &Model,
    modelled: &[Modelled],
    processors: usize,
    is_valid: bool,
) -> Figure {
    let colors = ["#1f6fb4", "#c2410c"];
    let series =
        |name: String, color, mark, points: Vec<(f64, f64)>| Series { name, color, mark, points };
    let (mut here, mut alone) = (Vec::new(), Vec::new());
    for (at, (program, color)) in PROGRAMS.into_iter().zip(colors).enumerate() {
        let name = if program == Program::True { "true" } else { "12 MiB" };
        let measured = points.iter().map(|point| (point.nodes as f64, point.wall(program)));
        let sizes = points.iter().map(|point| point.nodes);
        let said = sizes.map(|nodes| (nodes as f64, model.here(nodes, program)));
        here.push(series(format!("{name}, model"), color, Mark::Line, said.collect()));
        here.push(series(format!("{name}, measured"), color, Mark::Dots, measured.collect()));
        let times = modelled
            .iter()
            .filter_map(|row| Some((f64::from(row.nodes), *row.launches[at].as_ref().ok()?)));
        alone.push(series(format!("{name}, modelled"), color, Mark::Dashes, times.collect()));
    }
    let panel = |title: String, series| {
        let (x, y) = ("nodes".to_owned(), "ms".to_owned());
        Panel { title, x, y, label: Label::Count, series }
    };
    let verdict = if is_valid { "within" } else { "NOT within" };
    let own = fit::PROCESSORS;
    Figure {
        title: "Launch times, measured and modelled".to_owned(),
        below: format!(
            "fitted on 1 to 16 nodes; 32 and 64 predicted {verdict} {WITHIN:.0} %; right: {own} \
             processors and 10 Gbit/s each"
        ),
        panels: vec![
            panel(format!("all nodes on {processors} processors"), here),
            panel("each node a machine of its own: modelled".to_owned(), alone),
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_largest_cluster_takes_is_judged_or_has_no_figure() {
        let row = |nodes, launches| Modelled { nodes, launches, strobe: Ok(1.0) };
        let largest = row(16_384, [Ok(2000.0), Err("it is too much".to_owned())]);
        let cases = asked(&[row(8_192, [Ok(900.0), Ok(900.0)]), largest]);
        assert_eq!(cases[0].ratio(), 0.5);
        assert_eq!(cases[1].case, "12 MiB on 16384, modelled");
        assert!(cases[1].ratio().is_nan());
        assert!(asked(&[]).iter().all(|case| case.ratio().is_nan()));
    }
}
