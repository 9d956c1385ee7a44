//! Rows of cells in columns, and numbers as people read them.

use ratatui::text::Span;
use std::io::{self, IsTerminal};

/// Prints rows under a head, columns two blanks apart; an empty table is its head.
pub fn print(head: &[&str], rows: &[Vec<String>]) -> io::Result<()> {
    crate::cmd::out(text(head, rows).as_bytes())
}

/// A column that may be left out.
#[derive(Debug, Clone, Copy)]
pub struct Column {
    /// Its head.
    pub name: &'static str,
    /// How much it says. Those that say least are left out first; 9 stays.
    pub worth: u8,
}

/// What the last column is cut to at least, and others that stay.
const CUT_MIN: (usize, usize) = (8, 12);

/// Prints rows as wide as the terminal is; all of them where there is none.
pub fn print_fitted(columns: &[Column], rows: &[Vec<String>]) -> io::Result<()> {
    let is_terminal = io::stdout().is_terminal();
    let size = is_terminal.then(|| rustix::termios::tcgetwinsize(io::stdout()).ok()).flatten();
    let width = size.map(|size| usize::from(size.ws_col)).filter(|width| *width > 0);
    crate::cmd::out(fitted(columns, rows, width).as_bytes())
}

/// Rows in so many columns of letters. Where they do not fit with the cells of those that stay cut
/// to the least, columns are left out; then the widest are cut until all fit.
pub fn fitted(columns: &[Column], rows: &[Vec<String>], width: Option<usize>) -> String {
    let mut kept: Vec<usize> = (0..columns.len()).collect();
    let widest = |column: &usize| {
        let cells = rows.iter().filter_map(|row| row.get(*column));
        let cells = cells.map(|cell| wide(&shown(cell))).max().unwrap_or(0);
        cells.max(wide(columns[*column].name))
    };
    let mut widths: Vec<usize> = kept.iter().map(widest).collect();
    // What a row is called stays whole: commands take it.
    let least = |column: usize, kept: &[usize]| match columns[column].worth {
        _ if column == 0 => usize::MAX,
        _ if kept.last() == Some(&column) => CUT_MIN.0,
        9 => CUT_MIN.1,
        _ => usize::MAX,
    };
    if let Some(width) = width {
        let needed = |kept: &[usize]| -> usize {
            let all = kept.iter().map(|&column| widths[column].min(least(column, kept)) + 2);
            all.sum::<usize>().saturating_sub(2)
        };
        while needed(&kept) > width {
            let least = kept.iter().min_by_key(|column| columns[**column].worth);
            let Some(&least) = least.filter(|column| columns[**column].worth < 9) else { break };
            kept.retain(|column| *column != least);
        }
        let all = |widths: &[usize]| kept.iter().map(|&column| widths[column] + 2).sum::<usize>();
        while all(&widths) > width + 2 {
            let long = kept.iter().filter(|&&column| widths[column] > least(column, &kept));
            let Some(&longest) = long.max_by_key(|column| widths[**column]) else { break };
            widths[longest] -= 1;
        }
    }
    let head: Vec<&str> = kept.iter().map(|column| columns[*column].name).collect();
    let cells = |row: &Vec<String>| -> Vec<String> {
        let cell = |column: &usize| row.get(*column).map_or("", String::as_str);
        kept.iter().map(|column| cut(cell(column), widths[*column])).collect()
    };
    text(&head, &rows.iter().map(cells).collect::<Vec<_>>())
}

/// How wide a text is on a terminal, where letters of some scripts are two places wide.
fn wide(text: &str) -> usize {
    Span::raw(text).width()
}

/// As much of a text as is so wide.
pub fn cut(text: &str, most: usize) -> String {
    if wide(text) <= most {
        return text.to_owned();
    }
    let mut cut = String::new();
    for letter in text.chars() {
        cut.push(letter);
        if wide(&cut) >= most {
            cut.pop();
            break;
        }
    }
    cut + "…"
}

/// A text without what would move a terminal's cursor.
pub fn shown(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}

fn text(head: &[&str], rows: &[Vec<String>]) -> String {
    let row = |row: &Vec<String>| row.iter().map(|cell| shown(cell)).collect::<Vec<_>>();
    let rows: Vec<Vec<String>> = rows.iter().map(row).collect();
    let head: Vec<String> = head.iter().map(|&cell| cell.to_owned()).collect();
    let widest = |column: usize| {
        let cells = rows.iter().chain([&head]).filter_map(|row| row.get(column));
        cells.map(|cell| wide(cell)).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..head.len()).map(widest).collect();
    let mut text = String::new();
    for row in [&head].into_iter().chain(&rows) {
        let padded = row.iter().zip(&widths).map(|(cell, width)| {
            let room = width - wide(cell);
            format!("{cell}{:room$}", "")
        });
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
        assert_eq!(text(&["JOB"], &[vec!["a\x1b[2Jb\n".into()]]), "JOB\na?[2Jb?\n");
    }

    #[test]
    fn narrow_terminals_lose_what_says_least_and_then_the_end_of_the_last() {
        let columns = [("JOB", 9), ("USER", 1), ("CPU", 5), ("WHY", 9)];
        let columns = columns.map(|(name, worth)| Column { name, worth });
        let row: Vec<String> = ["1", "root", "2.0s", "rank 0 failed"].map(String::from).into();
        let at = |width| fitted(&columns, std::slice::from_ref(&row), width);
        assert_eq!(at(None), "JOB  USER  CPU   WHY\n1    root  2.0s  rank 0 failed\n");
        assert_eq!(at(Some(25)), "JOB  USER  CPU   WHY\n1    root  2.0s  rank 0 …\n");
        assert_eq!(at(Some(22)), "JOB  CPU   WHY\n1    2.0s  rank 0 fai…\n");
        assert_eq!(at(Some(14)), "JOB  WHY\n1    rank 0 f…\n");
        assert_eq!(at(Some(3)), "JOB  WHY\n1    rank 0 …\n");
    }

    #[test]
    fn a_long_name_is_cut_before_others_are_left_out() {
        let columns = [("JOB", 9), ("NAME", 9), ("TIME", 8), ("WHY", 9)];
        let columns = columns.map(|(name, worth)| Column { name, worth });
        let row: Vec<String> = ["1", &"x".repeat(40), "2.0s", ""].map(String::from).into();
        let at = |width| fitted(&columns, std::slice::from_ref(&row), Some(width));
        let name = "x".repeat(21) + "…";
        assert_eq!(at(38), format!("JOB  NAME{:18}  TIME  WHY\n1    {name}  2.0s\n", ""));
        let name = "x".repeat(14) + "…";
        assert_eq!(at(25), format!("JOB  NAME{:11}  WHY\n1    {name}\n", ""));
    }

    #[test]
    fn letters_that_are_two_places_wide_count_so() {
        let rows = [vec!["漢字".into(), "1".into()], vec!["abcde".into(), "2".into()]];
        assert_eq!(text(&["NAME", "N"], &rows), "NAME   N\n漢字   1\nabcde  2\n");
        assert_eq!(
            (cut("漢字漢字", 6).as_str(), cut("漢字漢字", 8).as_str()),
            ("漢字…", "漢字漢字")
        );
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
