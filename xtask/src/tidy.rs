//! `cargo xtask tidy`: the rules of the house, checked over every file that git tracks or would
//! track. Each rule is a function from sources to violations; `RULES` lists them.

mod decisions;
mod layers;
mod sources;
mod text;
mod tokens;
mod unsafety;
mod words;

use std::fmt;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;

use crate::workspace;
use sources::Sources;

/// One place that breaks a rule, what is wrong there, and what to do about it.
#[derive(Debug)]
pub struct Violation {
    file: String,
    line: usize,
    rule: &'static str,
    what: String,
    fix: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Violation { file, line, rule, what, fix } = self;
        write!(f, "{file}:{line}: {rule}: {what}; {fix}")
    }
}

/// What the rules add to.
#[derive(Default)]
pub struct Report {
    violations: Vec<Violation>,
}

impl Report {
    /// Notes a violation: where, which rule, what is wrong, what to do.
    fn add(
        &mut self,
        (file, line): (&str, usize),
        rule: &'static str,
        what: impl Into<String>,
        fix: impl Into<String>,
    ) {
        let (what, fix) = (what.into(), fix.into());
        self.violations.push(Violation { file: file.to_owned(), line, rule, what, fix });
    }
}

/// The rules that need nothing but the sources.
const RULES: [fn(&Sources, &mut Report); 15] = [
    text::columns,
    text::file_length,
    text::file_names,
    text::unfinished,
    text::machine_paths,
    text::registries,
    words::function_length,
    words::module_names,
    words::unfinished_macros,
    words::print_macros,
    words::ignored_tests,
    words::base_is_ground,
    unsafety::fenced,
    decisions::linked,
    decisions::sampled,
];

/// Checks the checkout at `root`.
fn check(root: &Path) -> Result<Report> {
    let sources = Sources::read(root)?;
    let mut report = Report::default();
    for rule in RULES {
        rule(&sources, &mut report);
    }
    let mut packages = layers::packages(&workspace::metadata(root, "Cargo.toml")?);
    layers::layers(&sources, &packages, &mut report);
    if root.join("fuzz/Cargo.toml").exists() {
        packages.extend(layers::packages(&workspace::metadata(root, "fuzz/Cargo.toml")?));
    }
    decisions::dependencies(&sources, &packages, &mut report);
    report.violations.sort_by(|a, b| (&a.file, a.line, a.rule).cmp(&(&b.file, b.line, b.rule)));
    Ok(report)
}

/// The command.
pub fn run(arguments: &[String]) -> Result<ExitCode> {
    workspace::no_arguments(arguments)?;
    let report = check(&workspace::root()?)?;
    for violation in &report.violations {
        println!("{violation}");
    }
    match report.violations.len() {
        0 => Ok(ExitCode::SUCCESS),
        count => {
            eprintln!("xtask tidy: {count} places break the rules of the house");
            Ok(ExitCode::FAILURE)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Applies one rule to files made up for a test, and returns what it printed.
    pub fn violations(rule: fn(&Sources, &mut Report), files: &[(&str, &str)]) -> Vec<String> {
        let mut report = Report::default();
        rule(&Sources::made_up(files), &mut report);
        report.violations.iter().map(Violation::to_string).collect()
    }

    #[test]
    fn this_checkout_is_tidy() {
        let report = check(&workspace::root().expect("cargo runs tests")).expect("git and cargo");
        let lines: Vec<String> = report.violations.iter().map(Violation::to_string).collect();
        assert!(lines.is_empty(), "\n{}", lines.join("\n"));
    }

    #[test]
    fn a_violation_says_where_what_and_what_to_do() {
        let mut report = Report::default();
        report.add(("a.rs", 3), "columns", "101 columns", "break the line");
        assert_eq!(
            report.violations[0].to_string(),
            "a.rs:3: columns: 101 columns; break the line"
        );
    }
}
