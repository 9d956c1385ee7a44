//! The layer table: which crate of the workspace may depend on which.
//!
//! `docs/layers.txt` has a line per crate, `LEVEL NAME: DEPENDENCY...`. Every crate must be
//! there, every dependency that cargo sees must be allowed there, and none may point upwards.

use std::collections::BTreeMap;

use serde_json::Value;

use super::Report;
use super::sources::Sources;

const TABLE: &str = "docs/layers.txt";

/// A package of the workspace, as cargo sees it.
pub struct Package {
    /// Its name without `muster-`.
    pub name: String,
    /// The packages of the workspace that it needs, without `muster-`.
    pub inside: Vec<String>,
    /// The packages of others that it needs.
    pub outside: Vec<String>,
}

/// Reads what `cargo metadata --no-deps` printed.
pub fn packages(metadata: &Value) -> Vec<Package> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let name = |value: &Value| {
        let name = value["name"].as_str().unwrap_or_default();
        name.strip_prefix("muster-").unwrap_or(name).to_owned()
    };
    let package = |value: &Value| {
        let mut needs = list(&value["dependencies"]);
        // A crate whose tests ask for a feature of its own depends on nobody else by that.
        needs.retain(|need| need["name"] != value["name"]);
        let (inside, outside): (Vec<_>, Vec<_>) =
            needs.iter().partition(|need| need["source"].is_null());
        let names = |needs: Vec<&Value>| needs.into_iter().map(name).collect();
        Package { name: name(value), inside: names(inside), outside: names(outside) }
    };
    list(&metadata["packages"]).iter().map(package).collect()
}

/// A line of the table.
struct Layer<'a> {
    line: usize,
    level: u32,
    allowed: Vec<&'a str>,
}

/// Reads the table; a line that cannot be read is a violation.
fn table<'a>(text: &'a str, report: &mut Report) -> BTreeMap<&'a str, Layer<'a>> {
    let mut layers = BTreeMap::new();
    for (at, content) in text.lines().enumerate() {
        let content = content.split('#').next().unwrap_or("").trim();
        if content.is_empty() {
            continue;
        }
        let parts = content.split_once(':').and_then(|(head, allowed)| {
            let (level, name) = head.trim().split_once(' ')?;
            Some((level.parse().ok()?, name.trim(), allowed.split_whitespace().collect()))
        });
        let Some((level, name, allowed)) = parts else {
            let fix = "write `LEVEL NAME: DEPENDENCY...`";
            report.add((TABLE, at + 1), "layers", format!("cannot read '{content}'"), fix);
            continue;
        };
        layers.insert(name, Layer { line: at + 1, level, allowed });
    }
    layers
}

/// Compares the table with the packages.
pub fn layers(sources: &Sources, packages: &[Package], report: &mut Report) {
    let text = sources.get(TABLE).map_or("", |file| file.text.as_str());
    let layers = table(text, report);
    for (name, layer) in &layers {
        if !packages.iter().any(|package| package.name == *name) {
            let what = format!("no crate '{name}' in the workspace");
            report.add((TABLE, layer.line), "layers", what, "remove the line");
        }
        for below in &layer.allowed {
            if layers.get(below).is_some_and(|other| other.level >= layer.level) {
                let what = format!("'{name}' to '{below}' does not point down");
                let fix = "turn the dependency round or move what is shared below";
                report.add((TABLE, layer.line), "layers", what, fix);
            }
        }
    }
    for package in packages {
        let Some(layer) = layers.get(package.name.as_str()) else {
            let what = format!("crate '{}' has no line", package.name);
            report.add((TABLE, 1), "layers", what, "add its level and what it may depend on");
            continue;
        };
        for need in package.inside.iter().filter(|need| !layer.allowed.contains(&need.as_str())) {
            let what = format!("'{}' depends on '{need}', which is not allowed", package.name);
            let fix = "remove the dependency, or allow it here with a reason";
            report.add((TABLE, layer.line), "layers", what, fix);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, packages: &[Package]) -> Vec<String> {
        let mut report = Report::default();
        layers(&Sources::made_up(&[(TABLE, text)]), packages, &mut report);
        report.violations.iter().map(ToString::to_string).collect()
    }

    fn package(name: &str, inside: &[&str]) -> Package {
        let inside = inside.iter().map(|name| (*name).to_owned()).collect();
        Package { name: name.to_owned(), inside, outside: Vec::new() }
    }

    #[test]
    fn a_forbidden_edge_is_found() {
        let packages =
            [package("base", &[]), package("ninep", &["base"]), package("x", &["ninep"])];
        let table = "# levels\n0 base:\n1 ninep: base\n2 x: ninep base\n";
        assert!(check(table, &packages).is_empty());
        let got = check("0 base:\n1 ninep: base\n2 x: base\n", &packages);
        assert_eq!(got.len(), 1);
        assert!(got[0].starts_with("docs/layers.txt:3: layers: 'x' depends on 'ninep'"), "{got:?}");
    }

    #[test]
    fn missing_stale_upward_and_broken_lines_are_found() {
        let packages = [package("base", &[]), package("ninep", &[])];
        assert!(check("0 base:\n", &packages)[0].contains("crate 'ninep' has no line"));
        assert!(check("0 base:\n1 ninep:\n1 gone:", &packages)[0].contains("no crate 'gone'"));
        assert!(check("0 base: ninep\n1 ninep:", &packages)[0].contains("does not point down"));
        assert!(check("0 base:\n1 ninep:\nbase", &packages)[0].contains("cannot read 'base'"));
    }

    #[test]
    fn metadata_is_read() {
        let metadata = serde_json::json!({"packages": [{
            "name": "muster-cli",
            "dependencies": [
                {"name": "muster-base", "source": null},
                {"name": "serde", "source": "registry+https://github.com/x"},
            ],
        }]});
        let got = &packages(&metadata)[0];
        assert_eq!(got.name, "cli");
        assert_eq!(
            (&got.inside[..], &got.outside[..]),
            (&["base".into()][..], &["serde".into()][..])
        );
    }
}
