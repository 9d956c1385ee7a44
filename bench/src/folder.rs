//! What a benchmark has on disk, which goes when it goes. Where it cannot see to that itself
//! (Ctrl-C, or a signal that nobody can catch) a process of its own does (a *keeper*): it is told
//! of each folder by a pipe from us, and removes what is still there when that ends.

use std::fs;
use std::io::{BufRead, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{self, ChildStdin, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

/// The word that makes this program a keeper.
pub const KEEPER: &str = "folder-keeper";

/// How long what uses a folder may take to end after us: a cluster has ten seconds.
const PATIENCE: Duration = Duration::from_secs(15);

/// How what begins that somebody else removes before.
const BEFORE: &str = "before ";

/// A folder that goes when we go.
#[derive(Debug)]
pub struct Folder(PathBuf);

impl Folder {
    /// A new one below another, named after what it is for.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn new(base: &Path, what: &str) -> Result<Folder> {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = base.join(format!("muster-bench-{what}-{}-{number}", process::id()));
        watch(&path);
        fs::create_dir(&path).with_context(|| format!("cannot make {}", path.display()))?;
        Ok(Folder(path))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Has a file, a folder or a control group removed once we have ended, if it is still there then;
/// and all whose names begin so if the path ends with `*`.
pub fn watch(path: &Path) {
    tell("", path);
}

/// Has everything else stay until somebody who needs it has removed this.
pub fn after(path: &Path) {
    tell(BEFORE, path);
}

fn tell(what: &str, path: &Path) {
    static KEEPER_HEARS: Mutex<Option<ChildStdin>> = Mutex::new(None);
    let Ok(mut hears) = KEEPER_HEARS.lock() else { return };
    if hears.is_none() {
        *hears = keeper();
    }
    // Without a keeper we remove it ourselves, unless we are interrupted.
    let told = hears.as_mut().map(|hears| writeln!(hears, "{what}{}", path.display()));
    if let Some(Err(error)) = told {
        eprintln!("bench: {} stays if this is interrupted: {error}", path.display());
    }
}

fn keeper() -> Option<ChildStdin> {
    let mut keeper = Command::new(std::env::current_exe().ok()?);
    keeper.arg(KEEPER).stdin(Stdio::piped()).stdout(Stdio::null());
    // A group of its own: Ctrl-C is not for it.
    keeper.process_group(0).spawn().ok()?.stdin.take()
}

/// What this process does if it is a keeper.
///
/// # Errors
/// When something stays.
pub fn keep(told: impl BufRead) -> Result<()> {
    let (mut others, mut paths) = (Vec::new(), Vec::new());
    for line in told.lines().map_while(Result::ok) {
        match line.strip_prefix(BEFORE) {
            Some(other) => others.push(PathBuf::from(other)),
            None => paths.push(PathBuf::from(line)),
        }
    }
    let until = Instant::now() + PATIENCE;
    while others.iter().any(|other| other.exists()) && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(20));
    }
    let until = Instant::now() + PATIENCE;
    while let Some(path) = paths.iter().find(|path| !is_gone(path)) {
        if Instant::now() > until {
            bail!("something of a benchmark stays: {}", path.display());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}

/// Removes what is at a path; whether nothing is there now.
fn is_gone(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    if let (Some(begins), Some(folder)) = (name.strip_suffix('*'), path.parent()) {
        let all = fs::read_dir(folder).into_iter().flatten().flatten();
        let mut meant = all.filter(|entry| entry.file_name().to_string_lossy().starts_with(begins));
        return meant.all(|entry| is_gone(&entry.path()));
    }
    if fs::symlink_metadata(path).is_err() {
        return true;
    }
    // A control group looks full of files and goes as if it were empty.
    let removed = fs::remove_dir(path).or_else(|_| fs::remove_file(path));
    removed.or_else(|_| fs::remove_dir_all(path)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_keeper_removes_what_is_left_and_does_not_mind_what_is_not() {
        let folder = Folder::new(&std::env::temp_dir(), "test").unwrap();
        let [full, file, gone, some] =
            ["full", "file", "gone", "some*"].map(|name| folder.path().join(name));
        for name in ["some1", "some2"] {
            fs::write(folder.path().join(name), "x").unwrap();
        }
        fs::create_dir_all(full.join("within")).unwrap();
        fs::write(full.join("within/file"), "x").unwrap();
        fs::write(&file, "x").unwrap();
        let told: String = [&full, &file, &gone, &some]
            .iter()
            .map(|path| format!("{}\n", path.display()))
            .collect();
        keep(told.as_bytes()).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        // A cluster that still ends needs what there is to end it.
        let (cluster, agent) = (folder.path().join("cluster"), folder.path().join("agent"));
        for path in [&cluster, &agent] {
            fs::write(path, "x").unwrap();
        }
        let told = format!("{}\n{BEFORE}{}\n", agent.display(), cluster.display());
        let keeper = std::thread::spawn(move || keep(told.as_bytes()).unwrap());
        std::thread::sleep(Duration::from_millis(100));
        assert!(agent.exists());
        fs::remove_file(&cluster).unwrap();
        keeper.join().unwrap();
        assert!(!agent.exists());
        let path = folder.path().to_owned();
        drop(folder);
        assert!(!path.exists());
    }
}
