//! Sets of node names as people write them: `n[1-4,7]`, `lab1,lab[03-12]`.

use std::fmt;

/// Why a node set cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadNodeSet {
    what: String,
}

impl fmt::Display for BadNodeSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl std::error::Error for BadNodeSet {}

/// Most names one pattern may stand for; a typing mistake such as `n[1-99999999]` ends here.
const NAMES_MAX: usize = 1 << 20;

/// Most bytes of a name, as of a host's (RFC 1035). What a pattern stands for is limited by both.
const NAME_MAX: usize = 255;

fn bad<T>(what: String) -> Result<T, BadNodeSet> {
    Err(BadNodeSet { what })
}

/// Expands a node set into names, in the order written. Leading zeros are kept (`n[08-10]`).
///
/// # Errors
/// [`BadNodeSet`] says what is wrong and where.
pub fn expand(text: &str) -> Result<Vec<String>, BadNodeSet> {
    let mut names = Vec::new();
    for item in split_outside_brackets(text)? {
        match item.split_once('[') {
            None => push_plain(item, &mut names)?,
            Some((prefix, rest)) => {
                let Some((ranges, suffix)) = rest.split_once(']') else {
                    return bad(format!("'{item}' lacks a closing ']'"));
                };
                push_ranges(item, prefix, ranges, suffix, &mut names)?;
            }
        }
    }
    Ok(names)
}

fn push_plain(item: &str, names: &mut Vec<String>) -> Result<(), BadNodeSet> {
    if item.is_empty() || item.contains(']') || item.contains('/') {
        return bad(format!("'{item}' is not a node name"));
    }
    if item.len() > NAME_MAX {
        return too_long(item);
    }
    names.push(item.to_owned());
    Ok(())
}

fn split_outside_brackets(text: &str) -> Result<Vec<&str>, BadNodeSet> {
    let mut items = Vec::new();
    let (mut start, mut depth) = (0, 0usize);
    for (at, c) in text.char_indices() {
        match c {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                items.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
        if depth > 1 {
            return bad(format!("'{text}' has a '[' inside another"));
        }
    }
    items.push(&text[start..]);
    Ok(items)
}

/// As much of the item as a sentence has room for tells which it is.
fn too_long<T>(item: &str) -> Result<T, BadNodeSet> {
    let begin: String = item.chars().take(20).collect();
    bad(format!("a name of '{begin}...' has more than {NAME_MAX} bytes"))
}

fn push_ranges(
    item: &str,
    prefix: &str,
    ranges: &str,
    suffix: &str,
    names: &mut Vec<String>,
) -> Result<(), BadNodeSet> {
    for range in ranges.split(',') {
        let (low, high) = range.split_once('-').unwrap_or((range, range));
        let (Ok(first), Ok(last)) = (low.parse::<usize>(), high.parse::<usize>()) else {
            return bad(format!("'{range}' in '{item}' is not a number or a range of numbers"));
        };
        if last < first || last - first >= NAMES_MAX - names.len().min(NAMES_MAX - 1) {
            return bad(format!("'{range}' in '{item}' is empty or stands for too many nodes"));
        }
        let width = if low.starts_with('0') { low.len() } else { 1 };
        if prefix.len() + low.len().max(high.len()) + suffix.len() > NAME_MAX {
            return too_long(item);
        }
        names.extend((first..=last).map(|n| format!("{prefix}{n:0width$}{suffix}")));
    }
    Ok(())
}

/// Folds names into the shortest common form: `n0 n1 n2 n5` becomes `n[0-2,5]`.
pub fn fold<S: AsRef<str>>(names: impl IntoIterator<Item = S>) -> String {
    let mut groups: Vec<(String, usize, Vec<usize>)> = Vec::new();
    let mut plain = Vec::new();
    for name in names {
        let name = name.as_ref();
        let digits = name.len() - name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        let (prefix, number) = name.split_at(name.len() - digits);
        let value = number.parse::<usize>().ok().filter(|_| digits <= NAME_MAX);
        let Some(value) = value else {
            plain.push(name.to_owned());
            continue;
        };
        let width = if number.starts_with('0') { number.len() } else { 1 };
        match groups.iter_mut().find(|(p, w, _)| p == prefix && *w == width) {
            Some((_, _, values)) => values.push(value),
            None => groups.push((prefix.to_owned(), width, vec![value])),
        }
    }
    let mut parts = Vec::new();
    for (prefix, width, mut values) in groups {
        values.sort_unstable();
        values.dedup();
        parts.push(match values[..] {
            [only] => format!("{prefix}{only:0width$}"),
            _ => format!("{prefix}[{}]", fold_numbers(&values, width)),
        });
    }
    parts.extend(plain);
    parts.join(",")
}

/// Folds sorted numbers into ranges: `0 1 2 5` becomes `0-2,5`.
pub fn fold_numbers(sorted: &[usize], width: usize) -> String {
    let mut parts = Vec::new();
    let mut at = 0;
    while at < sorted.len() {
        let run = sorted[at..].iter().enumerate().take_while(|(i, v)| **v == sorted[at] + i);
        let last = sorted[at] + run.count() - 1;
        parts.push(match last - sorted[at] {
            0 => format!("{last:0width$}"),
            _ => format!("{:0width$}-{last:0width$}", sorted[at]),
        });
        at += last - sorted[at] + 1;
    }
    parts.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_expands_and_folds_back() {
        for (text, names) in [
            ("n[0-2,5]", vec!["n0", "n1", "n2", "n5"]),
            ("n[08-10]", vec!["n08", "n09", "n10"]),
            ("a,b", vec!["a", "b"]),
            ("n7", vec!["n7"]),
        ] {
            assert_eq!(expand(text).unwrap(), names);
        }
        assert_eq!(fold(["n0", "n1", "n2", "n5"]), "n[0-2,5]");
        assert_eq!(fold(["n3", "n1", "login", "n2"]), "n[1-3],login");
        assert_eq!(fold(["n7"]), "n7");
        let long = format!("n{}1", "0".repeat(70_000));
        assert_eq!(fold([&long]), long);
    }

    #[test]
    fn a_mistake_is_named() {
        for (text, part) in [
            ("n[1-", "closing"),
            ("n[a-b]", "not a number"),
            ("n[3-1]", "empty"),
            ("n[1-99999999999]", "too many"),
            ("a,,b", "not a node name"),
            ("n[[1]]", "inside"),
            (&format!("n[{}1]", "0".repeat(70_000)), "more than 255 bytes"),
            (&format!("{}[1-1000000]", "n".repeat(70_000)), "more than 255 bytes"),
            (&"n".repeat(256), "more than 255 bytes"),
        ] {
            let said = expand(text).unwrap_err().to_string();
            assert!(said.contains(part) && said.len() < 200, "{text}: {said}");
        }
    }
}
