//! `muster explain`: what a message means.

use super::Usage;
use anyhow::Result;
use muster_base::catalog::{CATALOG, Entry, find};
use std::io::Write;
use std::process::ExitCode;

/// Explain a message by its id, or list all messages.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  muster explain E120")]
pub struct Args {
    /// Id of a message, which stands at its end in brackets
    id: Option<String>,
}

pub fn run(args: &Args) -> Result<ExitCode> {
    let mut out = std::io::stdout().lock();
    match &args.id {
        None => {
            CATALOG.iter().try_for_each(|entry| writeln!(out, "{} {}", entry.id, entry.title))?;
        }
        Some(id) => out.write_all(text(entry(id)?).as_bytes())?,
    }
    Ok(ExitCode::SUCCESS)
}

fn entry(id: &str) -> Result<&'static Entry> {
    let plain = id.trim_matches(['[', ']']);
    let unknown = || Usage(format!("no message has the id {id:?} (muster explain lists them)"));
    Ok(find(plain).ok_or_else(unknown)?)
}

fn text(entry: &Entry) -> String {
    let Entry { id, title, cause, next } = entry;
    format!("{id}: {title}\n\nWhy: {cause}\nWhat to do: {next}\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::path::Path;

    /// Ids of notices and errors announced in the design that nothing says yet.
    const COMING: [&str; 1] = ["N111"];

    fn sources(directory: &Path, into: &mut Vec<String>) {
        for entry in std::fs::read_dir(directory).expect("our own sources").flatten() {
            let path = entry.path();
            if path.is_dir() {
                sources(&path, into);
            } else if path.extension().is_some_and(|end| end == "rs")
                && !path.ends_with("catalog.rs")
            {
                into.push(std::fs::read_to_string(path).expect("text"));
            }
        }
    }

    /// Words of a letter and three digits, where nothing else is attached.
    fn ids(text: &str) -> impl Iterator<Item = &str> {
        let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        words.filter(|word| {
            let digits = word.strip_prefix(['E', 'N']).unwrap_or("");
            digits.len() == 3 && digits.bytes().all(|byte| byte.is_ascii_digit())
        })
    }

    #[test]
    fn every_id_that_is_used_is_explained_and_every_explained_one_is_used() {
        let mut texts = Vec::new();
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        sources(here.parent().expect("crates/"), &mut texts);
        let used: BTreeSet<&str> = texts.iter().flat_map(|text| ids(text)).collect();
        let known: BTreeSet<&str> = CATALOG.iter().map(|entry| entry.id).collect();
        let unexplained: Vec<_> = used.difference(&known).collect();
        assert!(unexplained.is_empty(), "add to catalog.rs: {unexplained:?}");
        let unused = known.difference(&used).filter(|id| !COMING.contains(id));
        let unused: Vec<_> = unused.collect();
        assert!(unused.is_empty(), "nothing says these: {unused:?}");
    }

    #[test]
    fn an_id_is_taken_as_it_was_printed() {
        assert!(text(entry("[E120]").expect("known")).starts_with("E120: No cluster is up."));
        assert!(entry("e131").is_ok());
        assert!(entry("x").expect_err("unknown").to_string().contains("muster explain"));
    }
}
