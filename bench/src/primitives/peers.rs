//! Open MPI and MPICH, from Debian's packages; `cargo xtask bench` has built the program.

use super::{Found, read_found};
use crate::child::{self, in_path};
use anyhow::{Context, Result, bail, ensure};
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

/// One of them, with one way between processes.
pub struct Peer {
    pub name: &'static str,
    launcher: &'static str,
    arguments: &'static [&'static str],
    environment: &'static [(&'static str, &'static str)],
    /// Gives the core up after each look in vain, where no setting does.
    has_to_yield: bool,
}

/// Our nodes are as separate as machines and share no memory, so the peers over sockets are what
/// is like them. Over shared memory they show what a machine could do.
pub const PEERS: [Peer; 4] = [
    openmpi("Open MPI tcp", &[("OMPI_MCA_btl", "self,tcp"), YIELD, OB1, ROOT, CONFIRM]),
    mpich("MPICH tcp", &[("UCX_TLS", "self,tcp")]),
    openmpi("Open MPI shm", &[("OMPI_MCA_btl", "self,vader"), YIELD, OB1, ROOT, CONFIRM]),
    mpich("MPICH shm", &[("UCX_TLS", "self,posix,cma")]),
];

const YIELD: (&str, &str) = ("OMPI_MCA_mpi_yield_when_idle", "1");
const OB1: (&str, &str) = ("OMPI_MCA_pml", "ob1");
const ROOT: (&str, &str) = ("OMPI_ALLOW_RUN_AS_ROOT", "1");
const CONFIRM: (&str, &str) = ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");

const fn openmpi(name: &'static str, environment: &'static [(&'static str, &'static str)]) -> Peer {
    let arguments: &[&str] = &["--oversubscribe", "--bind-to", "none"];
    let launcher = "mpirun.openmpi";
    Peer { name, launcher, arguments, environment, has_to_yield: false }
}

const fn mpich(name: &'static str, environment: &'static [(&'static str, &'static str)]) -> Peer {
    let arguments: &[&str] = &["-bind-to", "none"];
    let launcher = "mpirun.mpich";
    Peer { name, launcher, arguments, environment, has_to_yield: true }
}

/// A line for each peer that is not there.
pub fn missing() -> Vec<String> {
    let missing = PEERS.iter().filter_map(|peer| Some((peer.name, peer.present().err()?)));
    missing.map(|(name, error)| format!("without {name}: {error}")).collect()
}

impl Peer {
    /// Its program, which `cargo xtask bench` has built.
    fn program(&self) -> PathBuf {
        let (_, kind) = self.launcher.split_once('.').expect("it is written so");
        built(&format!("collectives-{kind}"))
    }

    /// Whether it is there; an error says how to get it.
    pub fn present(&self) -> Result<()> {
        let hint = "cargo xtask setup --bench";
        ensure!(in_path(self.launcher).is_some(), "no {}: {hint}", self.launcher);
        ensure!(self.program().exists(), "no {}: {hint}", self.program().display());
        Ok(())
    }

    /// Measures for about so long with each operation. Who has not ended after `longest` is
    /// stopped, and what it has found until then counts: over TCP some hang at times.
    pub fn measure(&self, count: usize, milliseconds: u64, longest: Duration) -> Result<Found> {
        let mut command = child::launcher(self.launcher, longest);
        command.args(self.arguments).args(["-np", &count.to_string()]);
        command.arg(self.program()).arg(milliseconds.to_string());
        command.envs(self.environment.iter().copied());
        if self.has_to_yield {
            command.env("LD_PRELOAD", built("yield.so"));
        }
        let output = command.stderr(Stdio::null()).output().context(self.launcher)?;
        let mut found = Found::new();
        match output.status.code() {
            Some(0) => read_found(&*output.stdout, &mut found)?,
            // The launcher says something of its own then, and the last line may be cut.
            Some(124 | 137) => {
                let text = String::from_utf8_lossy(&output.stdout);
                let (whole, _) = text.rsplit_once('\n').unwrap_or_default();
                for line in whole.lines() {
                    let _ = read_found(line.as_bytes(), &mut found);
                }
            }
            _ => bail!("{} ended with {}", self.name, output.status),
        }
        Ok(found)
    }

    /// Its settings, for people.
    pub fn note(&self) -> String {
        let set: Vec<String> = self.environment.iter().map(|(k, v)| format!("{k}={v}")).collect();
        let (name, launcher, arguments) = (self.name, self.launcher, self.arguments.join(" "));
        let preload =
            if self.has_to_yield { "; yields after each look in vain (yield.c)" } else { "" };
        format!("{name}: {launcher} {arguments}, {}{preload}", set.join(" "))
    }
}

/// A program or library that `cargo xtask bench` has built.
fn built(name: &str) -> PathBuf {
    let path = child::target().join("peers").join(name);
    std::path::absolute(&path).unwrap_or(path)
}
