//! `muster umount`: takes a mount of the cluster tree away.

use super::because;
use crate::errand::{self, PATIENCE};
use anyhow::{Context as _, Result, bail};
use muster_machine::mounts::{self, Mount};
use rustix::mount::UnmountFlags;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

/// What a mount of ours calls its source.
pub const SOURCE: &str = "muster";

/// Their kind of file system.
pub const KIND: &str = "fuse.muster";

/// Unmount a directory where the cluster tree is mounted.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The directory
    dir: PathBuf,
    /// Also while it is in use: it goes when nobody uses it any more
    #[arg(short, long)]
    lazy: bool,
}

pub fn run(args: &Args) -> Result<ExitCode> {
    let dir = place(&args.dir).or_else(|_| std::path::absolute(&args.dir))?;
    let ours = mount_at(&dir)?
        .is_some_and(|mount| mount.kind.starts_with("fuse") && mount.source.starts_with(SOURCE));
    if !ours {
        bail!("no cluster is mounted at {}  [E153]", dir.display());
    }
    unmount(&dir, args.lazy)?;
    Ok(ExitCode::SUCCESS)
}

/// The one name of a directory. A mount whose server is dead refuses to be looked into, as what
/// ends in a slash is: then what is above it is looked at.
pub fn place(dir: &Path) -> io::Result<PathBuf> {
    let refused = match dir.canonicalize() {
        Err(error) if is_dead(&error) => error,
        other => return other,
    };
    let above = dir.parent().map(|above| Path::new(".").join(above));
    let (Some(above), Some(name)) = (above, dir.file_name()) else { return Err(refused) };
    let named = above.canonicalize()?.join(name);
    // It may be a link to the mount, which names that without being asked to look into it.
    named.canonicalize().or(Ok(named))
}

/// Whether it is what a mount says whose server has died.
pub fn is_dead(error: &io::Error) -> bool {
    error.raw_os_error() == Some(libc::ENOTCONN)
}

/// Unmounts a directory; `lazy`: also while it is in use.
pub fn unmount(dir: &Path, lazy: bool) -> Result<()> {
    let flags = if lazy { UnmountFlags::DETACH } else { UnmountFlags::empty() };
    let Err(error) = rustix::mount::unmount(dir, flags) else { return Ok(()) };
    if error != rustix::io::Errno::PERM {
        let error = io::Error::from(error);
        bail!("{}", refusal(&format!("{}: {error}", dir.display()), lazy));
    }
    // Only root may; for others libfuse has a helper.
    let mut command = Command::new("fusermount3");
    command.arg(if lazy { "-uz" } else { "-u" }).arg("--").arg(dir).stdin(Stdio::null());
    let output = errand::output(&mut command, PATIENCE);
    let output = output.map_err(because("fusermount3 (of the package fuse3)", "E151"))?;
    if !output.status.success() {
        bail!("{}", refusal(&String::from_utf8_lossy(&output.stderr), lazy));
    }
    Ok(())
}

/// What is said where a directory is not unmounted, and what to do if somebody uses it.
fn refusal(why: &str, lazy: bool) -> String {
    let tip = match why.contains("resource busy") && !lazy {
        true => "; -l unmounts it when it is free",
        false => "",
    };
    format!("{}{tip}  [E151]", why.trim())
}

/// What is mounted at a directory.
pub fn mount_at(dir: &Path) -> Result<Option<Mount>> {
    Ok(find(&table()?, dir))
}

/// The devices of what clusters have mounted on this machine, by which their files are known.
pub fn devices() -> Result<Vec<u64>> {
    Ok(ours(&table()?))
}

fn table() -> Result<Vec<u8>> {
    std::fs::read("/proc/self/mountinfo").context("/proc/self/mountinfo")
}

/// The devices of our mounts.
fn ours(table: &[u8]) -> Vec<u64> {
    let ours = mounts::read(table).filter(|mount| mount.kind == KIND);
    ours.map(|Mount { device: (major, minor), .. }| rustix::fs::makedev(major, minor)).collect()
}

/// Finds the topmost mount at `dir`.
fn find(table: &[u8], dir: &Path) -> Option<Mount> {
    mounts::read(table).filter(|mount| mount.at == dir).last()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mount_is_found_by_its_place() {
        let table = b"22 1 0:20 / /proc rw - proc proc rw\n\
            40 1 0:44 / /home/a\\040b rw,nosuid shared:3 - fuse.muster muster rw\n\
            41 40 0:45 / /home/a\\040b rw - tmpfs top rw\n";
        let found = find(table, Path::new("/home/a b")).expect("the topmost");
        assert_eq!((&*found.kind, &*found.source), ("tmpfs", "top"));
        assert_eq!(find(table, Path::new("/proc")).expect("there").kind, "proc");
        assert_eq!(find(table, Path::new("/home")), None);
        assert_eq!(ours(table), [rustix::fs::makedev(0, 44)]);
    }

    #[test]
    fn a_place_has_one_name() {
        let here = std::env::current_dir().expect("here");
        for dir in [".", "./", here.to_str().expect("text")] {
            assert_eq!(place(Path::new(dir)).expect(dir), here);
        }
        let missing = place(Path::new("nowhere-at-all/")).expect_err("not there");
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn how_to_unmount_what_is_in_use_is_said_and_only_then() {
        let busy = "fusermount3: failed to unmount /home/a: Device or resource busy\n";
        assert!(refusal(busy, false).ends_with("busy; -l unmounts it when it is free  [E151]"));
        assert!(refusal(busy, true).ends_with("busy  [E151]"));
        assert_eq!(refusal("/a: Invalid argument", false), "/a: Invalid argument  [E151]");
    }

    #[test]
    fn only_our_own_mounts_are_taken_away() {
        for dir in ["/proc", "/nowhere-at-all"] {
            let error = run(&Args { dir: dir.into(), lazy: false }).expect_err("not ours");
            assert!(error.to_string().contains("[E153]"), "{error}");
        }
    }
}
