//! Open MPI and MPICH, from Debian's packages; `cargo xtask bench` has built the program.

use super::{Found, read_found};
use anyhow::{Context, Result, ensure};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// One of them.
pub struct Peer {
    pub name: &'static str,
    package: &'static str,
    launcher: &'static str,
    /// How transports are chosen: a variable of the environment, its values for one machine and
    /// for TCP.
    transports: (&'static str, &'static str, &'static str),
    arguments: &'static [&'static str],
    environment: &'static [(&'static str, &'static str)],
}

const PEERS: [Peer; 2] = [
    Peer {
        name: "Open MPI",
        package: "openmpi-bin",
        launcher: "mpirun.openmpi",
        transports: ("OMPI_MCA_btl", "self,vader", "self,tcp"),
        arguments: &["--oversubscribe", "--bind-to", "none"],
        environment: &[
            ("OMPI_MCA_mpi_yield_when_idle", "1"),
            ("OMPI_MCA_pml", "ob1"),
            ("OMPI_ALLOW_RUN_AS_ROOT", "1"),
            ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
        ],
    },
    Peer {
        name: "MPICH",
        package: "mpich",
        launcher: "mpirun.mpich",
        transports: ("UCX_TLS", "self,posix,cma", "self,tcp"),
        arguments: &["-bind-to", "none"],
        environment: &[("MPIR_CVAR_POLLS_BEFORE_YIELD", "1")],
    },
];

/// All peers.
///
/// # Errors
/// When one is missing.
pub fn all() -> Result<Vec<Peer>> {
    let present = |peer: Peer| {
        let found = Command::new(peer.launcher).arg("--version").stdout(Stdio::null()).status();
        found.with_context(|| format!("no {}: apt-get install {}", peer.name, peer.package))?;
        Ok(peer)
    };
    PEERS.into_iter().map(present).collect()
}

impl Peer {
    /// Measures for about so long with each operation.
    pub fn measure(&self, count: usize, scheme: &str, milliseconds: u64) -> Result<Found> {
        let (variable, here, tcp) = self.transports;
        let mut command = Command::new(self.launcher);
        command.args(self.arguments).args(["-np", &count.to_string()]);
        command.arg(self.program()).arg(milliseconds.to_string());
        command.env(variable, if scheme == "tcp" { tcp } else { here });
        command.envs(self.environment.iter().copied());
        let output = command.stderr(Stdio::null()).output().context(self.launcher)?;
        ensure!(output.status.success(), "{} ended with {}", self.name, output.status);
        let mut found = Found::new();
        read_found(&*output.stdout, &mut found)?;
        Ok(found)
    }

    fn program(&self) -> PathBuf {
        let target = std::env::var_os("MUSTER_BENCH_TARGET").unwrap_or_else(|| "target".into());
        let (_, kind) = self.launcher.split_once('.').expect("it is written so");
        Path::new(&target).join("peers").join(format!("collectives-{kind}"))
    }

    /// Its settings, for people.
    pub fn note(&self) -> String {
        let (variable, here, tcp) = self.transports;
        let set: Vec<String> = self.environment.iter().map(|(k, v)| format!("{k}={v}")).collect();
        format!(
            "{}: {} {}, {variable}={here} or {tcp}, {}",
            self.name,
            self.launcher,
            self.arguments.join(" "),
            set.join(" ")
        )
    }
}
