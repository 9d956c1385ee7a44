//! Rules about lines, names and words of any text file.

use super::Report;
use super::sources::{Source, Sources};

const COLUMNS_MAX: usize = 100;
const FILE_LINES_MAX: usize = 800;
const TAB_COLUMNS: usize = 4;

/// Names that say nothing.
pub const EMPTY_NAMES: [&str; 7] =
    ["util", "utils", "common", "misc", "helper", "helpers", "stuff"];

/// Lines of code and prose end by column 100.
pub fn columns(sources: &Sources, report: &mut Report) {
    let wide = |line: &str| line.chars().map(|c| if c == '\t' { TAB_COLUMNS } else { 1 }).sum();
    for file in sources.files.iter().filter(|file| file.is_code() || file.extension() == "md") {
        for (number, line) in file.lines() {
            let columns: usize = wide(line);
            // A table row and an address cannot be broken.
            let unbreakable = file.extension() == "md"
                && (line.trim_start().starts_with('|') || line.contains("://"));
            if columns > COLUMNS_MAX && !unbreakable {
                let what = format!("{columns} columns, at most {COLUMNS_MAX}");
                report.add((&file.path, number), "columns", what, "break the line");
            }
        }
    }
}

/// Files of code end by line 800.
pub fn file_length(sources: &Sources, report: &mut Report) {
    for file in sources.files.iter().filter(|file| file.is_code() && !file.is_made()) {
        let lines = file.lines().count();
        if lines > FILE_LINES_MAX {
            let what = format!("{lines} lines, at most {FILE_LINES_MAX}");
            report.add((&file.path, FILE_LINES_MAX + 1), "file-length", what, "split by noun");
        }
    }
}

/// A file is a noun.
pub fn file_names(sources: &Sources, report: &mut Report) {
    for file in &sources.files {
        let empty = file.path.split('/').find(|part| {
            let stem = part.split('.').next().unwrap_or(part);
            EMPTY_NAMES.contains(&stem)
        });
        if let Some(part) = empty {
            let what = format!("'{part}' says nothing about what is inside");
            report.add((&file.path, 1), "names", what, "name it after the noun it holds");
        }
    }
}

/// Nothing is left for later.
pub fn unfinished(sources: &Sources, report: &mut Report) {
    const MARKS: [(&str, &str); 3] = [("TO", "DO"), ("FIX", "ME"), ("XX", "X")];
    const PROMISE: (&str, &str) = ("not yet ", "implemented");
    for file in sources.files.iter().filter(|file| !file.is_lock()) {
        for (number, line) in file.lines() {
            let mark = MARKS.iter().map(join).find(|mark| has_word(line, mark));
            let promise = Some(join(&PROMISE)).filter(|it| line.to_lowercase().contains(it));
            if let Some(mark) = mark.or(promise) {
                let what = format!("an unfinished mark, '{mark}'");
                report.add((&file.path, number), "unfinished", what, "finish it or open an issue");
            }
        }
    }
}

/// No file tells where it was written.
pub fn machine_paths(sources: &Sources, report: &mut Report) {
    for file in &sources.files {
        for (number, line) in file.lines() {
            if let Some(path) = sources.machine_paths.iter().find(|path| has_path(line, path)) {
                let what = format!("the path of one machine's checkout, {path}");
                report.add((&file.path, number), "machine-path", what, "use a relative path");
            }
        }
    }
}

/// Where packages come from is the business of each machine's settings.
pub fn registries(sources: &Sources, report: &mut Report) {
    // Written in two parts so that this file does not break its own rule.
    const HOSTS: [(&str, &str); 11] = [
        ("index.", "crates.io"),
        ("static.", "crates.io"),
        ("proxy.", "golang.org"),
        ("sum.", "golang.org"),
        ("pypi.", "org"),
        ("files.", "pythonhosted.org"),
        ("registry.", "npmjs.org"),
        ("deb.", "debian.org"),
        ("security.", "debian.org"),
        ("spar", "se+http"),
        ("GOPROXY", "=http"),
    ];
    for file in sources.files.iter().filter(|file| !is_public_lock(file)) {
        for (number, line) in file.lines() {
            let found = HOSTS.iter().map(join).find(|host| line.contains(host));
            if let Some(host) = found.or_else(|| private_host(line)) {
                let what = format!("a package registry's address, '{host}'");
                let fix = "leave it to the machine's own settings";
                report.add((&file.path, number), "registry", what, fix);
            }
        }
    }
}

/// A lock file that names only the public registry, as every lock file does.
fn is_public_lock(file: &Source) -> bool {
    const PUBLIC: &str = "registry+https://github.com/rust-lang/crates.io-index";
    let sources = file.text.lines().filter_map(|line| line.strip_prefix("source = "));
    file.is_lock()
        && !file.path.ends_with("package-lock.json")
        && sources.into_iter().all(|source| source.trim_matches('"') == PUBLIC)
}

/// The host of an address on this line, when its first label is that of a mirror or registry.
fn private_host(line: &str) -> Option<String> {
    const LABELS: [&str; 6] = ["registry", "mirror", "proxy", "nexus", "artifactory", "index"];
    line.split("://").skip(1).find_map(|rest| {
        let host = rest.split(['/', ':', '"', '\'', ' ', ')', '>']).next()?;
        let label = host.split('.').next()?;
        (host.contains('.') && LABELS.contains(&label)).then(|| host.to_owned())
    })
}

fn join((first, second): &(&str, &str)) -> String {
    format!("{first}{second}")
}

/// Whether `text` has `word` with neither a letter, a digit nor `_` on either side.
fn has_word(text: &str, word: &str) -> bool {
    let is_word = |c: char| c == '_' || c.is_alphanumeric();
    text.match_indices(word).any(|(at, _)| {
        !text[..at].ends_with(is_word) && !text[at + word.len()..].starts_with(is_word)
    })
}

/// Whether `text` names `path` or something inside it.
fn has_path(text: &str, path: &str) -> bool {
    let goes_on = |c: char| c == '_' || c == '-' || c.is_alphanumeric();
    text.match_indices(path).any(|(at, _)| !text[at + path.len()..].starts_with(goes_on))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tests::violations;

    #[test]
    fn a_long_line_is_found() {
        let long = format!("ok\n{}\n", "x".repeat(101));
        let got = violations(columns, &[("a.rs", &long), ("b.bin", &long)]);
        assert_eq!(got, ["a.rs:2: columns: 101 columns, at most 100; break the line"]);
        let row = format!("| {} |\n", "x".repeat(101));
        assert!(violations(columns, &[("a.md", &row)]).is_empty());
        assert_eq!(violations(columns, &[("run", &format!("#!/bin/sh\n{row}"))]).len(), 1);
        let wide = format!("{}{}", "\t".repeat(20), "é".repeat(20));
        assert!(violations(columns, &[("a.go", &wide)]).is_empty());
    }

    #[test]
    fn a_long_file_is_found() {
        let (long, fits) = ("\n".repeat(801), "\n".repeat(800));
        let got = violations(file_length, &[("a.py", &long), ("b.py", &fits)]);
        assert_eq!(got, ["a.py:801: file-length: 801 lines, at most 800; split by noun"]);
    }

    #[test]
    fn an_empty_name_is_found() {
        let files = [("a/util.rs", ""), ("common/b.rs", ""), ("c/utility.rs", "")];
        let got = violations(file_names, &files);
        assert_eq!(got.len(), 2);
        assert!(got[0].starts_with("a/util.rs:1: names: 'util.rs'"), "{}", got[0]);
    }

    #[test]
    fn an_unfinished_mark_is_found() {
        let text = format!("// {}{}: later\nmkdtemp(\"x-XXXXXX\")\nmaTODOr\n", "TO", "DO");
        let got = violations(unfinished, &[("a.rs", &text)]);
        assert_eq!(got.len(), 1, "{got:?}");
        let promise = format!("Not {} Implemented", "yet");
        assert_eq!(violations(unfinished, &[("a.md", &promise)]).len(), 1);
    }

    #[test]
    fn a_path_of_the_machine_is_found() {
        let text = "cd /some/checkout\ncd /some/checkouts\n/some/checkout/a\n";
        let got = violations(machine_paths, &[("a.sh", text)]);
        assert_eq!(got.len(), 2);
        assert!(got[1].starts_with("a.sh:3: machine-path"), "{}", got[1]);
    }

    #[test]
    fn a_registry_is_found() {
        let private = format!("source = \"registry+https://{}.example.com/x\"", "mirror");
        let public = "source = \"registry+https://github.com/rust-lang/crates.io-index\"";
        let go = format!("export GOPROXY{}https://example.com", '=');
        let files = [("Cargo.lock", private.as_str()), ("fuzz/Cargo.lock", public), ("a.sh", &go)];
        let got = violations(registries, &files);
        assert_eq!(got.len(), 2, "{got:?}");
        assert!(got[0].starts_with("Cargo.lock:1: registry"), "{}", got[0]);
        assert!(violations(registries, &[("a.md", "see https://crates.io/serde")]).is_empty());
    }
}
