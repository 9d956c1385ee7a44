//! Figures of the docs: drawn from data that lies beside them, `launch.json` beside `launch.svg`.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use muster_fabric::pipeline::figure::{self, Mark, Series};
use serde_json::{Value, json};

use crate::report::Report;

/// A figure.
pub struct Figure {
    /// Over all of it.
    pub title: String,
    /// Below it: what it was measured on.
    pub below: String,
    /// Side by side.
    pub panels: Vec<Panel>,
}

/// One pair of axes.
pub struct Panel {
    /// What is shown.
    pub title: String,
    /// Of the abscissa.
    pub x: String,
    /// Of the ordinate.
    pub y: String,
    /// How the abscissa's powers are written.
    pub label: Label,
    /// What is drawn.
    pub series: Vec<Series>,
}

/// How a number is written below an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Label {
    /// As it is.
    Count,
    /// Milliseconds.
    Millis,
}

/// Names in the data.
const LABELS: [(Label, &str); 2] = [(Label::Count, "count"), (Label::Millis, "ms")];
const MARKS: [(Mark, &str); 3] =
    [(Mark::Line, "line"), (Mark::Dashes, "dashes"), (Mark::Dots, "dots")];

/// Colours that figures may have: a series keeps one as long as the program runs.
const COLORS: [&str; 6] = ["#1f6fb4", "#c2410c", "#15803d", "#7e22ce", "#777", "#111"];

impl Label {
    fn write(self) -> fn(f64) -> String {
        match self {
            Label::Count => |count| format!("{count}"),
            Label::Millis => |ms| format!("{ms:.0$}", if ms < 1.0 { 2 } else { 0 }),
        }
    }
}

impl Figure {
    fn svg(&self) -> String {
        let panels = self.panels.iter().map(|panel| figure::Panel {
            title: panel.title.clone(),
            x: panel.x.clone(),
            y: panel.y.clone(),
            x_label: panel.label.write(),
            series: panel.series.clone(),
        });
        figure::svg(&self.title, &self.below, &panels.collect::<Vec<_>>())
    }

    /// Draws it, and writes its data beside it.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn save(&self, path: &Path) -> Result<()> {
        let data = serde_json::to_string_pretty(&self.data())? + "\n";
        for (path, text) in [(path.with_extension("json"), data), (path.to_owned(), self.svg())] {
            fs::write(&path, text).with_context(|| format!("{}", path.display()))?;
        }
        Ok(())
    }

    fn data(&self) -> Value {
        let series = |one: &Series| {
            let mark = MARKS.iter().find(|(mark, _)| *mark == one.mark).map(|(_, name)| name);
            json!({ "name": one.name, "color": one.color, "mark": mark, "points": one.points })
        };
        let panel = |panel: &Panel| {
            let label = LABELS.iter().find(|(label, _)| *label == panel.label);
            let series: Vec<Value> = panel.series.iter().map(series).collect();
            json!({
                "title": panel.title, "x": panel.x, "y": panel.y,
                "label": label.map(|(_, name)| name), "series": series,
            })
        };
        let panels: Vec<Value> = self.panels.iter().map(panel).collect();
        json!({ "title": self.title, "below": self.below, "panels": panels })
    }

    fn read(data: &Value) -> Option<Figure> {
        let text = |value: &Value, name: &str| Some(value[name].as_str()?.to_owned());
        let series = |value: &Value| {
            let (mark, color) = (text(value, "mark")?, text(value, "color")?);
            let pair = |point: &Value| Some((point[0].as_f64()?, point[1].as_f64()?));
            Some(Series {
                name: text(value, "name")?,
                color: COLORS.into_iter().find(|known| *known == color)?,
                mark: MARKS.iter().find(|(_, name)| *name == mark)?.0,
                points: value["points"].as_array()?.iter().map(pair).collect::<Option<_>>()?,
            })
        };
        let panel = |value: &Value| {
            let label = text(value, "label")?;
            Some(Panel {
                title: text(value, "title")?,
                x: text(value, "x")?,
                y: text(value, "y")?,
                label: LABELS.iter().find(|(_, name)| *name == label)?.0,
                series: value["series"].as_array()?.iter().map(series).collect::<Option<_>>()?,
            })
        };
        let panels = data["panels"].as_array()?.iter().map(panel).collect::<Option<_>>()?;
        Some(Figure { title: text(data, "title")?, below: text(data, "below")?, panels })
    }
}

/// Draws the figures of a folder again.
///
/// # Errors
/// When a file cannot be read, or holds no figure.
pub fn redraw(folder: Option<&Path>) -> Result<Report> {
    let folder = folder.unwrap_or(Path::new("docs/figures"));
    let mut notes = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("{}", folder.display()))? {
        let path = entry?.path();
        if path.extension().is_none_or(|kind| kind != "json") {
            continue;
        }
        let text = fs::read_to_string(&path)?;
        let figure = Figure::read(&serde_json::from_str(&text)?);
        let figure = figure.with_context(|| format!("{} holds no figure", path.display()))?;
        figure.save(&path.with_extension("svg"))?;
        notes.push(format!("drawn: {}", path.with_extension("svg").display()));
    }
    Ok(Report { bench: "figures", notes, missing: Vec::new(), cases: Vec::new() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_is_drawn_from_its_data_as_it_was_at_first() {
        let points = vec![(1.0, 20.5), (64.0, 90.25)];
        let series = vec![Series { name: "ours".into(), color: "#777", mark: Mark::Dots, points }];
        let text = |text: &str| text.to_owned();
        let (title, x, y, label) = (text("a"), text("nodes"), text("ms"), Label::Count);
        let panels = vec![Panel { title, x, y, label, series }];
        let figure = Figure { title: text("t"), below: text("b"), panels };
        let again = Figure::read(&figure.data()).expect("it is one");
        assert_eq!(again.svg(), figure.svg());
        assert!(Figure::read(&json!({ "title": "t" })).is_none());
    }
}
