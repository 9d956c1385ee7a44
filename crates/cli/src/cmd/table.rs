//! Rows of cells in columns, and numbers as people read them.

use std::io::{self, Write};

/// Prints rows under a head, columns two blanks apart; an empty table is its head.
pub fn print(head: &[&str], rows: &[Vec<String>]) -> io::Result<()> {
    io::stdout().lock().write_all(text(head, rows).as_bytes())
}

fn text(head: &[&str], rows: &[Vec<String>]) -> String {
    let head: Vec<String> = head.iter().map(|&cell| cell.to_owned()).collect();
    let wide = |column: usize| {
        let cells = rows.iter().chain([&head]).filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..head.len()).map(wide).collect();
    let mut text = String::new();
    for row in [&head].into_iter().chain(rows) {
        let padded = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        text.push_str(padded.collect::<Vec<_>>().join("  ").trim_end());
        text.push('\n');
    }
    text
}

/// `1.5G`: bytes in at most three digits, powers of 1024.
pub fn bytes(count: u64) -> String {
    let mut size = count as f64;
    let mut unit = "B";
    for next in ["K", "M", "G", "T", "P"] {
        if size < 999.5 {
            break;
        }
        size /= 1024.0;
        unit = next;
    }
    if unit == "B" || size >= 9.95 {
        format!("{size:.0}{unit}")
    } else {
        format!("{size:.1}{unit}")
    }
}

/// `1:02:03` or `2.3s`: a time span in seconds.
pub fn span(seconds: f64) -> String {
    let whole = seconds.max(0.0) as u64;
    let (h, m, s) = (whole / 3600, whole / 60 % 60, whole % 60);
    match whole {
        0..60 => format!("{:.1}s", seconds.max(0.0)),
        60..3600 => format!("{m}:{s:02}"),
        _ => format!("{h}:{m:02}:{s:02}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_and_no_line_ends_in_blanks() {
        let rows = [vec!["1".into(), "running".into(), String::new()], vec!["12".into()]];
        assert_eq!(text(&["JOB", "STATE", "WHY"], &rows), "JOB  STATE    WHY\n1    running\n12\n");
        assert_eq!(text(&["JOB"], &[]), "JOB\n");
    }

    #[test]
    fn numbers_are_short() {
        let of = [(0, "0B"), (999, "999B"), (1000, "1.0K"), (1536, "1.5K"), (1 << 34, "16G")];
        for (count, said) in of {
            assert_eq!(bytes(count), said);
        }
        for (seconds, said) in [(-1.0, "0.0s"), (2.34, "2.3s"), (62.0, "1:02"), (3723.9, "1:02:03")]
        {
            assert_eq!(span(seconds), said);
        }
    }
}
