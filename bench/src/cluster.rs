//! A cluster of ours on this machine, for benchmarks.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use crate::child::target;

/// A cluster that goes when we go.
pub struct Cluster {
    muster: PathBuf,
    home: PathBuf,
}

impl Cluster {
    /// Brings it up, with its files below `base`.
    pub fn up(nodes: usize, base: &Path) -> Result<Cluster> {
        let home = base.join(format!("muster-bench-{}", std::process::id()));
        let cluster = Cluster { muster: target().join("release/muster"), home };
        fs::create_dir_all(cluster.home.join("p"))?;
        cluster.muster(&["up", "-N", &nodes.to_string()])?;
        Ok(cluster)
    }

    /// A command for it.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.muster);
        command.args(args).env("MUSTER_RUNTIME", self.home.join("r"));
        command.stdin(Stdio::null()).stdout(Stdio::null());
        command
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

impl Drop for Cluster {
    fn drop(&mut self) {
        let _ = self.muster(&["down"]);
        let _ = fs::remove_dir_all(&self.home);
    }
}
