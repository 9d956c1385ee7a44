//! Turns the key table into types and constants: `bound.rs` of the output directory, which
//! `src/bound.rs` includes. For `network_adapter = "full"` it says
//!
//! ```text
//! pub type NetworkAdapter = crate::bound::Full;
//! pub const NETWORK_ADAPTER: &str = "full";
//! ```
//!
//! The tables are sections of `name = "text"`, a small part of TOML that needs no library.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// Sections, each with its names, their texts and lines.
type Table = BTreeMap<String, BTreeMap<String, (String, usize)>>;

fn main() {
    println!("cargo::rerun-if-changed=keys.toml");
    println!("cargo::rerun-if-env-changed=MUSTER_KEYS");
    let own = PathBuf::from("keys.toml");
    let mut table = read(&own);
    let mut from: BTreeMap<String, PathBuf> = BTreeMap::new();
    if let Some(path) = env::var_os("MUSTER_KEYS").map(PathBuf::from) {
        println!("cargo::rerun-if-changed={}", path.display());
        for (section, lines) in read(&path) {
            assert!(section == "keys", "{}: only [keys] can be changed", path.display());
            for (key, value) in lines {
                from.insert(key.clone(), path.clone());
                table.entry("keys".to_owned()).or_default().insert(key, value);
            }
        }
    }
    let keys = table.remove("keys").expect("keys.toml has a section [keys]");
    let mut code = String::new();
    for (key, (choice, line)) in &keys {
        let at = format!("{}:{line}", from.get(key).unwrap_or(&own).display());
        let names = |section: Vec<&String>| {
            section.into_iter().map(String::as_str).collect::<Vec<_>>().join(", ")
        };
        let Some(realizations) = table.get(key) else {
            let interfaces = names(table.keys().collect());
            panic!("{at}: there is no interface {key:?}; there are {interfaces}");
        };
        let Some((realization, _)) = realizations.get(choice) else {
            let choices = names(realizations.keys().collect());
            panic!("{at}: {key} has no realization {choice:?}; it has {choices}");
        };
        let constant = key.to_uppercase();
        let _ = writeln!(code, "/// What `{key}` is bound to.");
        let _ = writeln!(code, "pub type {} = {realization};", camel(key));
        let _ = writeln!(code, "/// The name of what `{key}` is bound to.");
        let _ = writeln!(code, "pub const {constant}: &str = {choice:?};");
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it")).join("bound.rs");
    fs::write(out, code).expect("the output directory can be written");
}

/// Reads a table, or says where it is none.
fn read(path: &Path) -> Table {
    let text = fs::read_to_string(path)
        .unwrap_or_else(|error| panic!("cannot read the key table {}: {error}", path.display()));
    let mut table = Table::new();
    let mut section = None;
    for (line, number) in text.lines().zip(1..) {
        let line = line.split('#').next().unwrap_or_default().trim();
        let at = format!("{}:{number}", path.display());
        if line.is_empty() {
            continue;
        }
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            section = Some(name.trim().to_owned());
            continue;
        }
        let Some((name, value)) = line.split_once('=').and_then(|(name, value)| {
            let value = value.trim().strip_prefix('"')?.strip_suffix('"')?;
            Some((name.trim().to_owned(), value.to_owned()))
        }) else {
            panic!("{at}: {line:?} is not `name = \"text\"`");
        };
        let Some(section) = section.clone() else { panic!("{at}: before the first section") };
        let before = table.entry(section).or_default().insert(name, (value, number));
        assert!(before.is_none(), "{at}: it is there twice");
    }
    table
}

/// `network_adapter` as a type is called `NetworkAdapter`.
fn camel(key: &str) -> String {
    let word = |word: &str| {
        let (first, rest) = word.split_at(word.len().min(1));
        first.to_uppercase() + rest
    };
    key.split('_').map(word).collect()
}
