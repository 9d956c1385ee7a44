//! What is written down: a reason for each outside dependency, an index of `docs/decisions`, and a
//! test for each page of `docs/wire`.

use std::collections::BTreeSet;

use super::Report;
use super::layers::Package;
use super::sources::Sources;

const DEPENDENCIES_MAX: usize = 45;
const REASONS: &str = "docs/decisions/dependencies.md";
const INDEX: &str = "docs/decisions/README.md";

/// At most 45 packages of others, and each has a row that says why.
pub fn dependencies(sources: &Sources, packages: &[Package], report: &mut Report) {
    let needed: BTreeSet<&str> =
        packages.iter().flat_map(|package| &package.outside).map(String::as_str).collect();
    let text = sources.get(REASONS).map_or("", |file| file.text.as_str());
    // A row begins "| `name` |".
    let row = |line: &'_ str| line.strip_prefix("| `")?.split_once("` |").map(|it| it.0.to_owned());
    let rows: Vec<(usize, String)> =
        text.lines().enumerate().filter_map(|(at, line)| Some((at + 1, row(line)?))).collect();
    for name in &needed {
        if !rows.iter().any(|(_, row)| row == name) {
            let what = format!("dependency `{name}` has no reason");
            report.add((REASONS, 1), "dependencies", what, "add a row, or do without it");
        }
    }
    for (line, row) in rows.iter().filter(|(_, row)| !needed.contains(row.as_str())) {
        let what = format!("no crate depends on `{row}`");
        report.add((REASONS, *line), "dependencies", what, "remove the row");
    }
    if needed.len() > DEPENDENCIES_MAX {
        let what = format!("{} dependencies, at most {DEPENDENCIES_MAX}", needed.len());
        report.add(("Cargo.toml", 1), "dependencies", what, "drop the weakest");
    }
}

/// Every decision is linked from the index.
pub fn linked(sources: &Sources, report: &mut Report) {
    let index = sources.get(INDEX).map_or("", |file| file.text.as_str());
    for file in &sources.files {
        let Some(name) = file.path.strip_prefix("docs/decisions/") else {
            continue;
        };
        if file.path != INDEX && !index.contains(&format!("]({name})")) {
            let fix = format!("add a line to {INDEX}");
            report.add((&file.path, 1), "decisions", "not linked from the index", fix);
        }
    }
}

/// A test reads the samples of every page about what goes over a wire.
pub fn sampled(sources: &Sources, report: &mut Report) {
    let code = || sources.files.iter().filter(|file| file.path.ends_with(".rs"));
    for page in sources.files.iter().filter(|file| file.path.starts_with("docs/wire/")) {
        let is_read = |text: &str| {
            text.lines().any(|line| line.contains("include_str!") && line.contains(&page.path))
        };
        if !code().any(|file| is_read(&file.text)) {
            let fix = "print samples, and have a test decode them (include_str!)";
            report.add((&page.path, 1), "wire", "no test reads this page", fix);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tests::violations;

    fn check(text: &str, outside: &[String]) -> Vec<String> {
        let package = Package { name: "a".into(), inside: Vec::new(), outside: outside.to_vec() };
        let mut report = Report::default();
        dependencies(&Sources::made_up(&[(REASONS, text)]), &[package], &mut report);
        report.violations.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_dependency_without_reason_is_found() {
        let text = "| name | why |\n|---|---|\n| `serde` | structs to text |\n";
        assert!(check(text, &["serde".into()]).is_empty());
        let got = check(text, &["serde".into(), "mio".into()]);
        assert_eq!(got.len(), 1);
        assert!(got[0].contains("dependency `mio` has no reason"), "{got:?}");
        assert!(check(text, &[])[0].contains("dependencies.md:3: dependencies: no crate"));
    }

    #[test]
    fn too_many_dependencies_are_found() {
        let names: Vec<String> = (0..46).map(|n| format!("d{n}")).collect();
        let rows: String = names.iter().map(|name| format!("| `{name}` | x |\n")).collect();
        let got = check(&rows, &names);
        assert_eq!(
            got,
            ["Cargo.toml:1: dependencies: 46 dependencies, at most 45; drop the weakest"]
        );
    }

    #[test]
    fn an_unlinked_decision_is_found() {
        let files =
            [(INDEX, "- [a](a.md)"), ("docs/decisions/a.md", ""), ("docs/decisions/b.md", "")];
        let got = violations(linked, &files);
        assert_eq!(got.len(), 1);
        assert!(got[0].starts_with("docs/decisions/b.md:1: decisions"), "{}", got[0]);
    }

    #[test]
    fn a_page_that_no_test_reads_is_found() {
        let test = "let page = include_str!(\"../../docs/wire/a.md\");";
        let files = [("docs/wire/a.md", ""), ("docs/wire/b.md", ""), ("crates/a/src/lib.rs", test)];
        let got = violations(sampled, &files);
        assert_eq!(got.len(), 1);
        assert!(got[0].starts_with("docs/wire/b.md:1: wire"), "{}", got[0]);
    }
}
