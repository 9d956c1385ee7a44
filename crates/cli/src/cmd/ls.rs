//! `muster ls`: directories of the cluster tree.

use super::{SCHEMA, Several, now, out, print_json, refused};
use crate::cluster::Context;
use crate::table;
use anyhow::Result;
use muster_ninep::client::Client;
use muster_ninep::record::{Attr, mode};
use serde_json::{Value, json};
use std::fmt::Write;
use std::process::ExitCode;

/// List directories of the cluster tree.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  muster ls\n  muster ls -l /nodes/n1 /jobs")]
pub struct Args {
    /// Files or directories of the cluster
    #[arg(value_name = "PATH", default_value = "/")]
    paths: Vec<String>,
    /// Kind, rights, owner, size and age
    #[arg(short, long)]
    long: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// A listed file; without attributes where it went, or does not answer.
struct Entry {
    name: Vec<u8>,
    attr: Option<Attr>,
    kind: u8,
}

pub fn run(args: &Args, context: &Context) -> Result<ExitCode> {
    let client = context.connect()?;
    let (mut lists, mut several) = (Vec::new(), Several::of(&args.paths));
    for (at, path) in args.paths.iter().enumerate() {
        let path = path.strip_prefix(':').unwrap_or(path);
        let Some(entries) = several.next(list(&client, path, args.long))? else { continue };
        if args.json {
            let entries: Vec<Value> = entries.iter().map(value).collect();
            lists.push(json!({ "path": path, "entries": entries }));
            continue;
        }
        let mut text = String::new();
        if args.paths.len() > 1 {
            writeln!(text, "{}{path}:", if at > 0 { "\n" } else { "" })?;
        }
        for entry in &entries {
            match args.long {
                true => writeln!(text, "{}", line(entry, now()))?,
                false => writeln!(text, "{}", shown(&entry.name))?,
            }
        }
        // At once: the next may not be there, or take its time.
        out(text.as_bytes())?;
    }
    if args.json {
        print_json(&json!({ "schema": SCHEMA, "cluster": context.cluster, "lists": lists }))?;
    }
    Ok(several.exit())
}

fn list(client: &Client, path: &str, long: bool) -> Result<Vec<Entry>> {
    let attr = client.getattr(path).map_err(refused)?;
    if !attr.qid.is_dir() {
        let kind = (attr.mode >> 12) as u8;
        return Ok(vec![Entry { name: path.as_bytes().to_vec(), attr: Some(attr), kind }]);
    }
    let entries = client.readdir(path).map_err(refused)?;
    let dir = client.walk(path).map_err(refused)?;
    let entry = |entry: muster_ninep::record::DirEntry| {
        let file = || dir.walk(&[&entry.name]).ok();
        let attr = if long { file().and_then(|file| file.getattr().ok()) } else { None };
        Entry { name: entry.name, attr, kind: entry.kind }
    };
    let mut entries: Vec<Entry> = entries.into_iter().map(entry).collect();
    entries.sort_by_key(|entry| natural(&String::from_utf8_lossy(&entry.name)));
    Ok(entries)
}

/// A name as people can read it.
fn shown(name: &[u8]) -> String {
    table::shown(&String::from_utf8_lossy(name))
}

/// So that n10 comes after n9.
fn natural(name: &str) -> (String, u64, String) {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let number = name[stem.len()..].parse().unwrap_or(0);
    (stem.to_owned(), number, name.to_owned())
}

fn kind(bits: u8) -> (char, &'static str) {
    match u32::from(bits) << 12 {
        mode::DIR => ('d', "directory"),
        mode::LINK => ('l', "link"),
        mode::PIPE => ('p', "pipe"),
        mode::SOCKET => ('s', "socket"),
        mode::CHAR => ('c', "device"),
        mode::BLOCK => ('b', "device"),
        _ => ('-', "file"),
    }
}

fn line(entry: &Entry, now: f64) -> String {
    let (letter, _) = kind(entry.kind);
    let Some(attr) = &entry.attr else {
        return format!("{letter}?????????      ?       ?        ?  {}", shown(&entry.name));
    };
    let right = |bit: u32| match (attr.mode & 1 << bit, bit % 3) {
        (0, _) => '-',
        (_, 2) => 'r',
        (_, 1) => 'w',
        _ => 'x',
    };
    let rights: String = (0..9).rev().map(right).collect();
    let age = now - attr.mtime.sec as f64;
    let age = if attr.mtime.sec == 0 { "-".into() } else { table::span(age.max(0.0)) };
    let size = table::bytes(attr.size);
    format!("{letter}{rights} {:>6} {size:>7} {age:>8}  {}", attr.uid, shown(&entry.name))
}

fn value(entry: &Entry) -> Value {
    let name = String::from_utf8_lossy(&entry.name);
    let mut value = json!({ "name": name, "kind": kind(entry.kind).1 });
    // One that is no text, which JSON cannot carry.
    if name.as_bytes() != entry.name {
        value["bytes"] = json!(entry.name);
    }
    if let Some(attr) = &entry.attr {
        value["mode"] = json!(format!("{:04o}", attr.mode & 0o7777));
        value["uid"] = json!(attr.uid);
        value["size"] = json!(attr.size);
        value["mtime"] = json!(attr.mtime.sec);
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_sorted_as_people_count() {
        let mut names = ["n10", "n9", "ctl", "n1"];
        names.sort_by_key(|name| natural(name));
        assert_eq!(names, ["ctl", "n1", "n9", "n10"]);
    }

    #[test]
    fn programs_are_told_names_as_they_are() {
        let value = |name: &[u8]| value(&Entry { name: name.to_vec(), attr: None, kind: 8 });
        assert_eq!(value(b"a\tb"), json!({"name": "a\tb", "kind": "file"}));
        assert_eq!(value(b"\xff")["bytes"], json!([255]));
        assert_eq!(shown(b"a\tb"), "a?b");
    }

    #[test]
    fn a_line_says_what_ls_says() {
        let attr = Attr { mode: mode::DIR | 0o750, uid: 7, size: 2048, ..Attr::default() };
        let entry = Entry { name: "x".into(), attr: Some(attr), kind: 4 };
        assert_eq!(line(&entry, 0.0), "drwxr-x---      7    2.0K        -  x");
        assert_eq!(value(&entry)["mode"], "0750");
    }
}
