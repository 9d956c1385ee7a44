//! A figure with logarithmic axes, as an SVG picture.

use std::fmt::Write;

/// A curve.
pub struct Curve<'a> {
    /// What it is.
    pub name: &'a str,
    /// How it is drawn.
    pub color: &'a str,
    /// Whether it is a limit and not a measurement.
    pub dashed: bool,
    /// Where it goes through; all above 0.
    pub points: Vec<(f64, f64)>,
}

/// Of the picture.
const SIZE: (f64, f64) = (720.0, 460.0);
/// Of the axes within it: left, top, right, bottom.
const FRAME: (f64, f64, f64, f64) = (70.0, 50.0, 690.0, 390.0);

/// An axis: from and to, as powers of its base.
struct Axis {
    base: f64,
    first: f64,
    last: f64,
    from: f64,
    to: f64,
}

impl Axis {
    fn new(base: f64, values: impl Iterator<Item = f64>, from: f64, to: f64) -> Axis {
        let logs = values.map(|value| value.log(base));
        let (first, last) =
            logs.fold((f64::MAX, f64::MIN), |(low, high), log| (low.min(log), high.max(log)));
        // A rounding error is no reason for another power.
        let (first, last) = ((first + 1e-9).floor(), (last - 1e-9).ceil());
        Axis { base, first, last: last.max(first + 1.0), from, to }
    }

    fn place(&self, value: f64) -> f64 {
        let part = (value.log(self.base) - self.first) / (self.last - self.first);
        self.from + part * (self.to - self.from)
    }

    fn marks(&self) -> impl Iterator<Item = f64> {
        (self.first as i32..=self.last as i32).map(|power| self.base.powi(power))
    }
}

/// Draws curves; `x` and `y` are what the axes say.
pub fn draw(title: &str, x: &str, y: &str, curves: &[Curve<'_>]) -> String {
    let points = || curves.iter().flat_map(|curve| curve.points.iter());
    let (left, top, right, bottom) = FRAME;
    let across = Axis::new(2.0, points().map(|point| point.0), left, right);
    let up = Axis::new(10.0, points().map(|point| point.1), bottom, top);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" \
         viewBox=\"0 0 {0} {1}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"{0}\" height=\"{1}\" fill=\"white\"/>\n",
        SIZE.0, SIZE.1
    );
    let mut text = |x: f64, y: f64, anchor: &str, text: &str| {
        let text = text.replace('&', "&amp;").replace('<', "&lt;");
        let _ =
            writeln!(svg, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{text}</text>");
    };
    text(SIZE.0 / 2.0, 24.0, "middle", title);
    text((left + right) / 2.0, bottom + 40.0, "middle", x);
    text(left - 50.0, top - 12.0, "start", y);
    for mark in across.marks() {
        text(across.place(mark), bottom + 18.0, "middle", &format!("{mark}"));
    }
    for mark in up.marks() {
        text(left - 8.0, up.place(mark) + 4.0, "end", &format!("{mark}"));
    }
    for (at, curve) in curves.iter().enumerate() {
        text(left + 50.0, top + 20.0 + 18.0 * at as f64, "start", curve.name);
    }
    let mut line = |x1: f64, y1: f64, x2: f64, y2: f64, style: &str| {
        let _ = writeln!(
            svg,
            "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" {style}/>"
        );
    };
    for mark in across.marks() {
        line(across.place(mark), top, across.place(mark), bottom, "stroke=\"#ddd\"");
    }
    for mark in up.marks() {
        line(left, up.place(mark), right, up.place(mark), "stroke=\"#ddd\"");
    }
    for (at, curve) in curves.iter().enumerate() {
        let y = top + 16.0 + 18.0 * at as f64;
        line(left + 10.0, y, left + 42.0, y, &style(curve));
    }
    for curve in curves {
        let places: Vec<String> = curve
            .points
            .iter()
            .map(|(x, y)| format!("{:.1},{:.1}", across.place(*x), up.place(*y)))
            .collect();
        let _ = writeln!(
            svg,
            "<polyline points=\"{}\" fill=\"none\" {}/>",
            places.join(" "),
            style(curve)
        );
    }
    svg + "</svg>\n"
}

fn style(curve: &Curve<'_>) -> String {
    let dash = if curve.dashed { " stroke-dasharray=\"6 4\"" } else { "" };
    format!("stroke=\"{}\" stroke-width=\"2\"{dash}", curve.color)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_lie_at_equal_distances_and_curves_go_through_their_points() {
        let points = vec![(2.0, 1.0), (8.0, 10.0), (32.0, 100.0)];
        let curve = Curve { name: "a < b", color: "red", dashed: true, points };
        let svg = draw("title", "x", "y", &[curve]);
        assert!(svg.contains("70.0,390.0 380.0,220.0 690.0,50.0"), "{svg}");
        assert!(svg.contains("a &lt; b") && svg.contains("stroke-dasharray"));
        assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"));
    }
}
