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

/// How long what uses a folder may take to end after us.
const PATIENCE: Duration = Duration::from_secs(10);

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

/// Has a file, a folder or a control group removed once we have ended, if it is still there then.
pub fn watch(path: &Path) {
    static KEEPER_HEARS: Mutex<Option<ChildStdin>> = Mutex::new(None);
    let Ok(mut hears) = KEEPER_HEARS.lock() else { return };
    if hears.is_none() {
        *hears = keeper();
    }
    // Without a keeper we remove it ourselves, unless we are interrupted.
    let told = hears.as_mut().map(|hears| writeln!(hears, "{}", path.display()));
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
    let paths: Vec<PathBuf> = told.lines().map_while(Result::ok).map(PathBuf::from).collect();
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
        let [full, file, gone] = ["full", "file", "gone"].map(|name| folder.path().join(name));
        fs::create_dir_all(full.join("within")).unwrap();
        fs::write(full.join("within/file"), "x").unwrap();
        fs::write(&file, "x").unwrap();
        let told: String =
            [&full, &file, &gone].iter().map(|path| format!("{}\n", path.display())).collect();
        keep(told.as_bytes()).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        let path = folder.path().to_owned();
        drop(folder);
        assert!(!path.exists());
    }
}
