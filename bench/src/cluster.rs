//! A cluster of ours on this machine, for benchmarks.
//!
//! It outlives who has brought it up, as any cluster does. So a process of its own sees to it that
//! it goes (a *guard*): it waits for the end of a pipe from us, which comes however we end.

use std::fs;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{self, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

use crate::child::target;
use crate::folder;
use crate::namespaces::{self, Namespaces};

/// The word that makes this program a guard; behind it a cluster's program and its directory.
pub const GUARD: &str = "cluster-guard";

/// A cluster that goes when we go.
pub struct Cluster {
    muster: PathBuf,
    home: PathBuf,
    _guard: Guard,
}

/// Who sees to it: it takes a cluster down when this is dropped, or when we end.
pub struct Guard(process::Child);

impl Guard {
    /// Starts it: a command for this program as a guard.
    pub fn start(guard: &mut Command) -> Result<Guard> {
        // A group of its own: Ctrl-C is not for it.
        let guard = guard.stdin(Stdio::piped()).process_group(0).spawn();
        Ok(Guard(guard.context("cannot start the guard of a cluster")?))
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        // What could not be done it has said.
        let _ = self.0.wait();
    }
}

/// What this process does if it is a guard.
///
/// # Errors
/// When the words are others.
pub fn guard(words: &[String]) -> Result<()> {
    let [muster, home] = words else { bail!("a guard needs a program and a directory") };
    let (muster, home) = (PathBuf::from(muster), PathBuf::from(home));
    io::copy(&mut io::stdin(), &mut io::sink()).context("waiting for the end of a benchmark")?;
    if home.join("starting").exists() {
        // We were ended while it was brought up: it may be there a moment later.
        std::thread::sleep(Duration::from_secs(1));
    }
    let mut down = Command::new(&muster);
    settings(&home, &mut down);
    let status = down.arg("down").stdin(Stdio::null()).stdout(Stdio::null()).status();
    let is_down = status.is_ok_and(|status| status.success());
    ensure!(is_down, "a cluster of a benchmark stays: {}", home.display());
    fs::remove_dir_all(&home).with_context(|| format!("removing {}", home.display()))
}

fn settings(home: &Path, command: &mut Command) {
    command.env("MUSTER_RUNTIME", home.join("r"));
    command.env("MUSTER_CONFIG", home.join("config"));
}

impl Cluster {
    /// Brings it up, with its files below `base`.
    pub fn up(nodes: usize, base: &Path) -> Result<Cluster> {
        let cluster = Cluster::none(base)?;
        cluster.bring_up(&["up", "-N", &nodes.to_string()])?;
        Ok(cluster)
    }

    /// Brings it up on hosts, a node each.
    pub fn up_on(hosts: &Namespaces, nodes: usize, base: &Path) -> Result<Cluster> {
        let cluster = Cluster::none(base)?;
        let list = cluster.home.join("hosts").display().to_string();
        fs::write(&list, format!("s[1-{nodes}]\n"))?;
        cluster.muster(&["init"])?;
        let agent = hosts.agent().display().to_string();
        let up = ["up", "--hosts", &list, "--ssh", &agent, "--address", namespaces::ADDRESS];
        cluster.bring_up(&up)?;
        Ok(cluster)
    }

    /// Has the guard know that a cluster may come up after we have ended.
    fn bring_up(&self, words: &[&str]) -> Result<()> {
        let mark = self.home.join("starting");
        fs::write(&mark, "")?;
        self.muster(words)?;
        Ok(fs::remove_file(&mark)?)
    }

    fn none(base: &Path) -> Result<Cluster> {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let home = base.join(format!("muster-bench-{}-{number}", process::id()));
        // To end a cluster on hosts takes what they are made of.
        folder::after(&home);
        fs::create_dir_all(home.join("p"))?;
        let muster = target().join("release/muster");
        let mut guard = Command::new(std::env::current_exe().context("this program")?);
        guard.args([GUARD.as_ref(), muster.as_os_str(), home.as_os_str()]);
        let guard = Guard::start(&mut guard)?;
        Ok(Cluster { muster, home, _guard: guard })
    }

    /// A command for it.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.muster);
        self.settings(command.args(args));
        command.stdin(Stdio::null()).stdout(Stdio::null());
        command
    }

    /// What makes a command one for it.
    pub fn settings(&self, command: &mut Command) {
        settings(&self.home, command);
    }

    /// What makes a command one that finds no cluster, and has one of its own.
    pub fn settings_alone(&self, command: &mut Command) {
        self.settings(command);
        command.env("MUSTER_RUNTIME", self.home.join("alone"));
    }

    /// Runs a command that must succeed.
    pub fn muster(&self, args: &[&str]) -> Result<()> {
        let status = self.command(args).status();
        let status = status.with_context(|| format!("{}", self.muster.display()))?;
        ensure!(status.success(), "muster {} ended with {status}", args.join(" "));
        Ok(())
    }

    /// Its own directory.
    pub fn directory(&self) -> PathBuf {
        self.home.join("r/default")
    }

    /// A node's directory.
    pub fn node(&self, node: usize) -> PathBuf {
        self.directory().join(format!("n{node}"))
    }

    /// A node's socket.
    pub fn socket(&self, node: usize) -> PathBuf {
        self.node(node).with_extension("sock")
    }

    /// A place for a proxy's socket.
    pub fn proxy(&self, node: usize) -> PathBuf {
        self.home.join(format!("p/{node}"))
    }
}
