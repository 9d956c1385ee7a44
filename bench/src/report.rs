//! What a benchmark found: a table for people, and one line of JSON.

use serde_json::Value;
use std::fs;

/// Which way is good.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Better {
    /// A rate.
    Higher,
    /// A size or a time.
    Lower,
}

/// The samples of one side.
#[derive(Clone, Debug, Default)]
pub struct Samples(pub Vec<f64>);

impl Samples {
    /// The value at a part of the sorted samples, between neighbours if need be.
    pub fn quantile(&self, part: f64) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        let Some(last) = sorted.len().checked_sub(1) else {
            return f64::NAN;
        };
        let at = part * last as f64;
        let (low, high) = (sorted[at.floor() as usize], sorted[at.ceil() as usize]);
        low + (high - low) * at.fract()
    }

    /// The median.
    pub fn median(&self) -> f64 {
        self.quantile(0.5)
    }

    /// Half the distance between the quartiles, in percent of the median.
    pub fn spread(&self) -> f64 {
        if self.median() == 0.0 {
            return 0.0;
        }
        (self.quantile(0.75) - self.quantile(0.25)) / 2.0 / self.median() * 100.0
    }
}

/// One case: ours against one peer, or against a bound.
#[derive(Clone, Debug)]
pub struct Case {
    /// What was measured.
    pub case: String,
    /// What the figures are in.
    pub unit: &'static str,
    /// Which way is good.
    pub better: Better,
    /// Our figures.
    pub ours: Samples,
    /// The peer's.
    pub peer: Samples,
    /// Who the peer is.
    pub peer_name: String,
    /// What the ratio must be at least; 0 where nothing is asked.
    pub limit: f64,
    /// Whether the samples of the two were taken beside each other, and are compared so.
    pub in_pairs: bool,
}

impl Case {
    /// One whose figures are good when they are low.
    pub fn lower(
        case: &str,
        unit: &'static str,
        ours: Samples,
        (peer_name, peer): (&str, Samples),
        limit: f64,
    ) -> Case {
        let (case, peer_name) = (case.to_owned(), peer_name.to_owned());
        let better = Better::Lower;
        Case { case, unit, better, ours, peer, peer_name, limit, in_pairs: false }
    }

    /// One that is compared with the most that it may be.
    pub fn bound(case: &str, unit: &'static str, ours: Samples, most: f64) -> Case {
        Case::lower(case, unit, ours, ("bound", Samples(vec![most])), 1.0)
    }

    /// How many times better than the peer; 1 where both are nothing.
    pub fn ratio(&self) -> f64 {
        let ratio = |ours: f64, peer: f64| match self.better {
            _ if ours == peer => 1.0,
            Better::Higher => ours / peer,
            Better::Lower => peer / ours,
        };
        if self.in_pairs {
            let pairs = self.ours.0.iter().zip(&self.peer.0);
            return Samples(pairs.map(|(ours, peer)| ratio(*ours, *peer)).collect()).median();
        }
        ratio(self.ours.median(), self.peer.median())
    }

    /// Who has no figure is neither beaten nor missed, and who is only shown is not judged.
    fn verdict(&self) -> &'static str {
        match self.ratio() {
            ratio if ratio.is_nan() => "no figure",
            _ if self.limit == 0.0 => "",
            ratio if ratio >= self.limit => "ok",
            _ => "MISSED",
        }
    }
}

/// All cases of a benchmark.
#[derive(Clone, Debug)]
pub struct Report {
    /// Its name.
    pub bench: &'static str,
    /// Lines above the table: versions and settings.
    pub notes: Vec<String>,
    /// Which peers are not there, and how to get each: the run is no whole one then.
    pub missing: Vec<String>,
    /// Its rows.
    pub cases: Vec<Case>,
}

impl Report {
    /// The table.
    pub fn table(&self) -> String {
        let mut text = String::new();
        for note in self.notes.iter().chain(&self.missing) {
            text.push_str(&format!("{note}\n"));
        }
        let titles =
            ["case", "ours", "spread", "peer", "spread", "peer name", "ratio", "limit", ""];
        let mut rows = vec![titles.map(str::to_owned)];
        for case in &self.cases {
            rows.push([
                case.case.clone(),
                format!("{} {}", rounded(case.ours.median()), case.unit),
                format!("±{:.0} %", case.ours.spread()),
                format!("{} {}", rounded(case.peer.median()), case.unit),
                format!("±{:.0} %", case.peer.spread()),
                case.peer_name.clone(),
                format!("{:.2}", case.ratio()),
                if case.limit == 0.0 { "-".to_owned() } else { format!("{:.2}", case.limit) },
                case.verdict().to_owned(),
            ]);
        }
        let width =
            |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..titles.len()).map(width).collect();
        for row in &rows {
            let mut line = String::new();
            for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
                // Words lean left, figures right.
                let blank = " ".repeat(width - cell.chars().count());
                let left = [0, 5, 8].contains(&column);
                line.push_str(&if left {
                    format!("{cell}{blank}")
                } else {
                    format!("{blank}{cell}")
                });
                line.push_str("  ");
            }
            text.push_str(&format!("{}\n", line.trim_end()));
        }
        text
    }

    /// The line that ends every run, its keys in the order of the design.
    pub fn json(&self) -> String {
        let quoted = |text: &str| Value::from(text).to_string();
        let number = |value: f64| Value::from(value).to_string();
        let case = |case: &Case| {
            let fields = [
                ("case", quoted(&case.case)),
                ("ours", number(rounded(case.ours.median()))),
                ("peer", number(rounded(case.peer.median()))),
                ("peer_name", quoted(&case.peer_name)),
                ("ratio", number((case.ratio() * 1000.0).round() / 1000.0)),
                ("limit", number(case.limit)),
                ("unit", quoted(case.unit)),
            ];
            let fields = fields.map(|(name, value)| format!("\"{name}\":{value}"));
            format!("{{{}}}", fields.join(","))
        };
        let cases: Vec<String> = self.cases.iter().map(case).collect();
        let missing: Vec<String> = self.missing.iter().map(|peer| quoted(peer)).collect();
        let missing = match missing.is_empty() {
            true => String::new(),
            false => format!(",\"missing\":[{}]", missing.join(",")),
        };
        let (bench, cases) = (quoted(self.bench), cases.join(","));
        format!("{{\"bench\":{bench},\"cases\":[{cases}]{missing}}}")
    }
}

/// How busy the machine is, for a note.
pub fn load() -> String {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').take(3).collect::<Vec<_>>().join(" ")
}

/// Four digits are more than the spread leaves true.
fn rounded(value: f64) -> f64 {
    // By way of the text: a product with a power of ten has digits of its own.
    format!("{value:.3e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn report(better: Better, ours: &[f64], peer: &[f64]) -> Report {
        let case = Case {
            case: "read depth 1".into(),
            unit: "MB/s",
            better,
            ours: Samples(ours.to_vec()),
            peer: Samples(peer.to_vec()),
            peer_name: "diod".into(),
            limit: 1.3,
            in_pairs: false,
        };
        let (notes, missing) = (vec!["a note".into()], Vec::new());
        Report { bench: "9p", notes, missing, cases: vec![case] }
    }

    #[test]
    fn medians_and_spread() {
        let samples = Samples(vec![4.0, 1.0, 2.0, 3.0, 100.0]);
        assert_eq!(
            (samples.median(), samples.quantile(0.25), samples.quantile(0.75)),
            (3.0, 2.0, 4.0)
        );
        assert!((samples.spread() - 100.0 / 3.0).abs() < 1e-9);
        assert_eq!(Samples(vec![1.0, 2.0]).median(), 1.5);
    }

    #[test]
    fn the_json_line_is_as_the_design_says() {
        let text = report(Better::Higher, &[300.0], &[200.0]).json().to_string();
        let got: Value = serde_json::from_str(&text).expect("JSON");
        assert!(!text.contains('\n'));
        let want = json!({"bench": "9p", "cases": [{
            "case": "read depth 1", "ours": 300.0, "peer": 200.0, "peer_name": "diod",
            "ratio": 1.5, "limit": 1.3, "unit": "MB/s",
        }]});
        assert_eq!(got, want);
    }

    #[test]
    fn a_peer_that_is_not_there_is_in_the_table_and_in_the_json_line() {
        let mut report = report(Better::Higher, &[300.0], &[]);
        report.missing.push("without diod: cargo xtask setup".into());
        let got: Value = serde_json::from_str(&report.json()).expect("JSON");
        assert_eq!(got["missing"], json!(["without diod: cargo xtask setup"]));
        assert_eq!(got["cases"][0]["ratio"], Value::Null);
        assert!(report.table().contains("\nwithout diod: cargo xtask setup\ncase"));
    }

    #[test]
    fn the_table_tells_what_was_missed() {
        let table = report(Better::Higher, &[300.0], &[200.0]).table();
        assert!(table.starts_with("a note\ncase") && table.ends_with("1.30  ok\n"), "{table}");
        let table = report(Better::Lower, &[300.0], &[200.0]).table();
        assert!(table.ends_with("0.67   1.30  MISSED\n"), "{table}");
    }

    #[test]
    fn what_is_only_shown_and_who_has_no_figure_are_not_judged() {
        let mut shown = report(Better::Higher, &[100.0], &[200.0]);
        shown.cases[0].limit = 0.0;
        assert!(shown.table().ends_with("0.50      -\n"), "{}", shown.table());
        let table = report(Better::Higher, &[300.0], &[]).table();
        assert!(table.ends_with("1.30  no figure\n"), "{table}");
    }

    #[test]
    fn samples_in_pairs_are_compared_in_pairs() {
        let mut report = report(Better::Higher, &[1.0, 9.0, 10.0], &[2.0, 3.0, 20.0]);
        assert_eq!(report.cases[0].ratio(), 3.0);
        report.cases[0].in_pairs = true;
        assert_eq!(report.cases[0].ratio(), 0.5);
    }

    #[test]
    fn figures_have_four_digits() {
        assert_eq!(
            [0.0, 1234567.0, 12.3456, 0.123456, 0.0910004]
                .map(rounded)
                .map(|figure| figure.to_string()),
            ["0", "1235000", "12.35", "0.1235", "0.091"]
        );
    }
}
