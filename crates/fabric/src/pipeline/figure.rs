//! Figures: panels side by side with logarithmic axes, written as SVG.
//!
//! Made for print and for light pages: lines 2 wide, muted axes, text in the reader's own font.

use std::fmt::Write;

/// How a series is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// A line.
    Line,
    /// A dashed line, for limits.
    Dashes,
    /// A dot for each figure.
    Dots,
}

/// Figures that belong together.
#[derive(Clone, Debug)]
pub struct Series {
    /// As the legend has it.
    pub name: String,
    /// A colour as SVG has it.
    pub color: &'static str,
    /// How it is drawn.
    pub mark: Mark,
    /// Abscissa and ordinate; what is not above zero is left out.
    pub points: Vec<(f64, f64)>,
}

/// One pair of axes.
#[derive(Clone, Debug)]
pub struct Panel {
    /// What is shown.
    pub title: String,
    /// Of the abscissa.
    pub x: String,
    /// Of the ordinate.
    pub y: String,
    /// How a power of two of the abscissa is written.
    pub x_label: fn(f64) -> String,
    /// What is drawn, the first lowest.
    pub series: Vec<Series>,
}

const WIDTH: f64 = 440.0;
const HEIGHT: f64 = 300.0;
/// In the legend: a curve's sample, that with the room between two names, and a letter.
const SAMPLE: f64 = 30.0;
const MARK: f64 = SAMPLE + 16.0;
const LETTER: f64 = 6.4;
const LEFT: f64 = 62.0;
const TOP: f64 = 64.0;
const GAP: f64 = 24.0;
/// How many times the least the most may be where all is close together.
const CLOSE: f64 = 10.0;
const INK: &str = "#333";

const UNITS: [(f64, &str); 2] = [(1048576.0, "M"), (1024.0, "K")];

/// Bytes for an axis: 64, 4K, 1M.
pub fn bytes(count: f64) -> String {
    let unit = UNITS.iter().find(|(size, _)| count >= *size);
    unit.map_or(format!("{count}"), |(size, name)| format!("{}{name}", count / size))
}

/// A number of bytes that was computed: 743, 7.3K.
pub fn about(count: f64) -> String {
    let unit = UNITS.iter().find(|(size, _)| count >= *size);
    unit.map_or(format!("{count:.0}"), |(size, name)| format!("{:.1}{name}", count / size))
}

/// An axis from one power of its base to another.
struct Axis {
    base: f64,
    from: f64,
    to: f64,
    pixels: (f64, f64),
}

impl Axis {
    fn new(values: impl Iterator<Item = f64>, base: f64, pixels: (f64, f64)) -> Axis {
        let logs = values.filter(|&value| value > 0.0).map(|value| value.log(base));
        let (from, to) =
            logs.fold((f64::MAX, f64::MIN), |(from, to), log| (from.min(log), to.max(log)));
        // Nothing to show is shown on an axis of one power.
        let (from, to) = if from > to { (0.0, 1.0) } else { (from, to) };
        let (from, to) = ((from + 1e-9).floor(), (to - 1e-9).ceil());
        Axis { base, from, to: to.max(from + 1.0), pixels }
    }

    fn at(&self, value: f64) -> f64 {
        let share = (value.log(self.base) - self.from) / (self.to - self.from);
        self.pixels.0 + share * (self.pixels.1 - self.pixels.0)
    }

    /// Powers of the base, as many as have room.
    fn ticks(&self, most: f64) -> impl Iterator<Item = f64> {
        let step = ((self.to - self.from) / most).ceil().max(1.0);
        let (base, from) = (self.base, self.from);
        let count = ((self.to - self.from) / step).floor() as i32;
        (0..=count).map(move |tick| base.powf(from + step * f64::from(tick)))
    }
}

/// What the ordinate's ticks are powers of: ten, or two where all of it is closer together.
fn base(values: impl Iterator<Item = f64>) -> f64 {
    let (least, most) =
        values.fold((f64::MAX, 0.0), |(least, most): (f64, f64), it| (least.min(it), most.max(it)));
    if most > 0.0 && most <= least * CLOSE { 2.0 } else { 10.0 }
}

/// The figure, with a title over all and a line below it.
pub fn svg(title: &str, below: &str, panels: &[Panel]) -> String {
    let width = panels.len() as f64 * (LEFT + WIDTH + GAP);
    let height = TOP + HEIGHT + 100.0;
    let mut out = String::new();
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"sans-serif\" font-size=\"12\" fill=\"{INK}\">\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>"
    );
    text(&mut out, (width / 2.0, 22.0), "middle", "font-size=\"15\" font-weight=\"bold\"", title);
    text(&mut out, (width / 2.0, height - 10.0), "middle", "fill=\"#666\"", below);
    for (index, panel) in panels.iter().enumerate() {
        let left = index as f64 * (LEFT + WIDTH + GAP) + LEFT;
        draw(&mut out, panel, left);
    }
    out.push_str("</svg>\n");
    out
}

fn draw(out: &mut String, panel: &Panel, left: f64) {
    let (right, bottom) = (left + WIDTH, TOP + HEIGHT);
    let points = || panel.series.iter().flat_map(|series| &series.points);
    let x = Axis::new(points().map(|point| point.0), 2.0, (left, right));
    let ordinates = || points().map(|point| point.1).filter(|value| *value > 0.0);
    let y = Axis::new(ordinates(), base(ordinates()), (bottom, TOP));
    text(out, (left + WIDTH / 2.0, TOP - 14.0), "middle", "font-size=\"13\"", &panel.title);
    for tick in x.ticks(10.0) {
        let at = x.at(tick);
        line(out, (at, bottom), (at, TOP), "#eee");
        text(out, (at, bottom + 16.0), "middle", "", &(panel.x_label)(tick));
    }
    for tick in y.ticks(8.0) {
        let at = y.at(tick);
        line(out, (left, at), (right, at), "#ddd");
        text(out, (left - 6.0, at + 4.0), "end", "", &format!("{}", round(tick)));
    }
    let _ = writeln!(
        out,
        "<rect x=\"{left}\" y=\"{TOP}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"none\" \
         stroke=\"{INK}\"/>"
    );
    text(out, (left + WIDTH / 2.0, bottom + 34.0), "middle", "", &panel.x);
    let (at, middle) = (left - 46.0, TOP + HEIGHT / 2.0);
    let turned = format!("transform=\"rotate(-90 {at} {middle})\"");
    text(out, (at, middle), "middle", &turned, &panel.y);
    let mut at = (left, bottom + 56.0);
    for series in &panel.series {
        curve(out, series, &x, &y);
        // One without a name goes with the one before it.
        if !series.name.is_empty() {
            let width = MARK + LETTER * series.name.chars().count() as f64;
            if at.0 > left && at.0 + width > right {
                at = (left, at.1 + 16.0);
            }
            legend(out, series, at);
            at.0 += width;
        }
    }
}

fn curve(out: &mut String, series: &Series, x: &Axis, y: &Axis) {
    let points = series.points.iter().filter(|point| point.0 > 0.0 && point.1 > 0.0);
    let places = points.map(|point| (x.at(point.0), y.at(point.1)));
    if series.mark == Mark::Dots {
        for (x, y) in places {
            dot(out, (x, y), series.color);
        }
        return;
    }
    let path: Vec<String> = places.map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
    let _ = writeln!(
        out,
        "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"{}/>",
        path.join(" "),
        series.color,
        dashes(series.mark),
    );
}

fn legend(out: &mut String, series: &Series, (x, y): (f64, f64)) {
    match series.mark {
        Mark::Dots => dot(out, (x + 12.0, y - 4.0), series.color),
        mark => {
            let _ = writeln!(
                out,
                "<path d=\"M{x:.1} {:.1}h24\" stroke=\"{}\" stroke-width=\"2\"{}/>",
                y - 4.0,
                series.color,
                dashes(mark)
            );
        }
    }
    text(out, (x + SAMPLE, y), "start", "", &series.name);
}

fn dashes(mark: Mark) -> &'static str {
    if mark == Mark::Dashes { " stroke-dasharray=\"6 4\"" } else { "" }
}

fn dot(out: &mut String, (x, y): (f64, f64), color: &str) {
    let _ = writeln!(out, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.5\" fill=\"{color}\"/>");
}

fn line(out: &mut String, from: (f64, f64), to: (f64, f64), color: &str) {
    let _ = writeln!(
        out,
        "<path d=\"M{:.1} {:.1}L{:.1} {:.1}\" stroke=\"{color}\"/>",
        from.0, from.1, to.0, to.1
    );
}

fn text(out: &mut String, (x, y): (f64, f64), anchor: &str, more: &str, text: &str) {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let _ = writeln!(
        out,
        "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" {more}>{text}</text>"
    );
}

/// A power of ten without the digits that computing it left behind.
fn round(value: f64) -> f64 {
    let digits = 10f64.powf((6.0 - value.log10()).floor());
    (value * digits).round() / digits
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(points: Vec<(f64, f64)>) -> String {
        let series = Series { name: "a < b".into(), color: "#06c", mark: Mark::Dots, points };
        let panel = Panel {
            title: "t".into(),
            x: "x".into(),
            y: "y".into(),
            x_label: bytes,
            series: vec![series],
        };
        svg("R&D", "below", &[panel.clone(), panel])
    }

    #[test]
    fn points_stand_where_their_logarithms_are() {
        let x = Axis::new([64.0, 1024.0].into_iter(), 2.0, (0.0, 400.0));
        assert_eq!((x.at(64.0), x.at(256.0), x.at(1024.0)), (0.0, 200.0, 400.0));
        let y = Axis::new([0.2, 30.0].into_iter(), 10.0, (300.0, 0.0));
        assert_eq!((y.at(0.1), y.at(100.0)), (300.0, 0.0));
        assert_eq!(y.ticks(8.0).map(round).collect::<Vec<_>>(), [0.1, 1.0, 10.0, 100.0]);
    }

    #[test]
    fn what_is_close_together_stands_between_powers_of_two() {
        assert_eq!(base([0.15, 0.3].into_iter()), 2.0);
        assert_eq!(base([0.2, 30.0].into_iter()), 10.0);
        assert_eq!(base(std::iter::empty()), 10.0);
    }

    #[test]
    fn a_figure_is_one_well_formed_element() {
        let out = figure(vec![(64.0, 0.2), (4096.0, 20.0), (1.0, 0.0)]);
        assert!(out.starts_with("<svg ") && out.ends_with("</svg>\n"));
        assert!(out.contains("R&amp;D") && out.contains("a &lt; b"));
        // Two figures and a legend in each panel; what is not above zero is left out.
        assert_eq!(out.matches("<circle").count(), 6);
        assert!(!out.contains("NaN") && !out.contains("inf"));
    }

    #[test]
    fn nothing_to_show_is_an_empty_figure() {
        assert!(!figure(Vec::new()).contains("NaN"));
        assert_eq!([bytes(64.0), bytes(4096.0), bytes(1048576.0)], ["64", "4K", "1M"]);
        assert_eq!([about(743.2), about(7431.0), about(1.5 * 1048576.0)], ["743", "7.3K", "1.5M"]);
    }
}
