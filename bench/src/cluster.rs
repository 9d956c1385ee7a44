//! A cluster of ours on this machine, for benchmarks.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use crate::child::target;
use crate::namespaces::{self, Namespaces};

/// A cluster that goes when we go.
pub struct Cluster {
    muster: PathBuf,
    home: PathBuf,
}

impl Cluster {
    /// Brings it up, with its files below `base`.
    pub fn up(nodes: usize, base: &Path) -> Result<Cluster> {
        let cluster = Cluster::none(base)?;
        cluster.muster(&["up", "-N", &nodes.to_string()])?;
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
        cluster.muster(&up)?;
        Ok(cluster)
    }

    fn none(base: &Path) -> Result<Cluster> {
        let home = base.join(format!("muster-bench-{}", std::process::id()));
        fs::create_dir_all(home.join("p"))?;
        Ok(Cluster { muster: target().join("release/muster"), home })
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
        command.env("MUSTER_RUNTIME", self.home.join("r"));
        command.env("MUSTER_CONFIG", self.home.join("config"));
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
