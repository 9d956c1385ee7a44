//! Figure 3 of the paper, redrawn: two copies of a program that take turns, by the turn's length.

use muster_fabric::pipeline::figure::{Mark, Series};

use crate::picture::{Figure, Label, Panel};

/// What was measured of one program.
#[derive(Clone, Debug)]
pub struct Curve {
    /// The program.
    pub name: &'static str,
    /// Slices in milliseconds, and the seconds that both copies took.
    pub turns: Vec<(f64, f64)>,
    /// One copy after the other.
    pub in_a_row: f64,
    /// Both at once, without turns.
    pub shared: f64,
}

const COLORS: [&str; 2] = ["#1f6fb4", "#c2410c"];

/// The picture.
pub fn draw(curves: &[Curve], below: &str) -> Figure {
    let run = |curve: &Curve| {
        let across = |seconds: f64| {
            let ends = [curve.turns.first(), curve.turns.last()].into_iter().flatten();
            ends.map(|(slice, _)| (*slice, seconds)).collect()
        };
        let series =
            |name: &str, color, mark, points| Series { name: name.to_owned(), color, mark, points };
        Panel {
            title: format!("two copies of a {} program", curve.name),
            x: "slice in ms".to_owned(),
            y: "seconds for both".to_owned(),
            label: Label::Millis,
            series: vec![
                series("one after the other", "#777", Mark::Dashes, across(curve.in_a_row)),
                series("at once, no turns", COLORS[1], Mark::Dashes, across(curve.shared)),
                series("taking turns", COLORS[0], Mark::Line, curve.turns.clone()),
            ],
        }
    };
    let lost = |(at, curve): (usize, &Curve)| Series {
        name: curve.name.to_owned(),
        color: COLORS[at % COLORS.len()],
        mark: Mark::Line,
        points: (curve.turns.iter())
            .map(|(slice, seconds)| (*slice, (seconds / curve.in_a_row - 1.0) * 100.0))
            .collect(),
    };
    let mut series: Vec<Series> = curves.iter().enumerate().map(lost).collect();
    let allowed = vec![(0.3, 5.0), (1.0, 2.0), (2.0, 1.0)];
    series.push(Series { name: "asked".into(), color: "#777", mark: Mark::Dots, points: allowed });
    let mut panels: Vec<Panel> = curves.iter().map(run).collect();
    panels.push(Panel {
        title: "what is lost by taking turns".to_owned(),
        x: "slice in ms".to_owned(),
        y: "percent".to_owned(),
        label: Label::Millis,
        series,
    });
    let title = "Gang scheduling: two jobs on the same nodes".to_owned();
    Figure { title, below: below.to_owned(), panels }
}
