//! The MPIs, and how each starts a program at its best. `cargo xtask bench` has built the programs
//! below `target/peers/mpi`, and fetched what PyPI has.

use super::Scene;
use crate::child::{self, exists, in_path, target};
use crate::cluster::Cluster;
use crate::namespaces;
use anyhow::Result;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

pub const OURS: &str = "ours";
pub const OPEN: &str = "Open MPI";
pub const MPICH: &str = "MPICH";
/// The same, given what it has no setting for: to offer the processor after each look in vain.
pub const MPICH_YIELD: &str = "MPICH, yielding";
pub const MPICH_WHEEL: &str = "MPICH (PyPI)";
pub const INTEL_WHEEL: &str = "Intel (PyPI)";

/// All but ours.
pub const PEERS: [&str; 5] = [OPEN, MPICH, MPICH_YIELD, MPICH_WHEEL, INTEL_WHEEL];

/// A program that all run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    /// `bench/peers/mpi/measure.c`.
    Measure,
    /// `apps/sweep3d`.
    Sweep,
    /// hypre's driver `ij`.
    Hypre,
}

/// An MPI.
pub struct Side {
    pub name: &'static str,
    /// Its build of the programs.
    build: &'static str,
    launcher: PathBuf,
    /// Where its library is, if its programs do not know.
    library: Option<PathBuf>,
    /// What is loaded before it.
    before: Option<PathBuf>,
}

/// Where everything of this benchmark is.
fn place() -> PathBuf {
    let place = target().join("peers/mpi");
    std::path::absolute(&place).unwrap_or(place)
}

/// Ours and all peers that are there.
pub fn sides() -> Vec<Side> {
    let debian = |name, build, launcher: &str| {
        in_path(launcher).map(|launcher| Side {
            name,
            build,
            launcher,
            library: None,
            before: None,
        })
    };
    let yielding = || {
        let before = Some(exists(std::path::absolute(target().join("peers/yield.so")).ok()?)?);
        Some(Side { before, ..debian(MPICH_YIELD, "mpich", "mpiexec.mpich")? })
    };
    let wheel = |name, folder: &str| {
        let root = place().join(folder);
        let launcher = exists(root.join("bin/mpiexec"))?;
        let library = Some(root.join("lib"));
        Some(Side { name, build: "abi", launcher, library, before: None })
    };
    let launcher = place().join("installed/bin/muster");
    let sides = [
        Some(Side { name: OURS, build: "abi", launcher, library: None, before: None }),
        debian(OPEN, "openmpi", "mpirun.openmpi"),
        debian(MPICH, "mpich", "mpiexec.mpich"),
        yielding(),
        wheel(MPICH_WHEEL, "wheel-mpich"),
        wheel(INTEL_WHEEL, "wheel-impi-rt"),
    ];
    let sides = sides.into_iter().flatten();
    // One may have a launcher, and no compiler.
    sides.filter(|side| side.name == OURS || side.program(Program::Measure).exists()).collect()
}

impl Side {
    /// Its build of a program.
    pub fn program(&self, program: Program) -> PathBuf {
        let name = match program {
            Program::Measure => "measure",
            Program::Sweep => "sweep3d",
            Program::Hypre => "hypre",
        };
        place().join(format!("{name}-{}", self.build))
    }

    /// What runs a scene. Peers' launchers are asked to end, so that they end their ranks.
    ///
    /// # Errors
    /// Where there is no working directory.
    pub fn command(
        &self,
        scene: &Scene<'_>,
        cluster: &Cluster,
        patience: Duration,
    ) -> Result<Command> {
        let program = self.program(scene.program);
        // Ranks of ours have directories of their own, so a deck is named from the root.
        let decks = std::path::absolute("apps/sweep3d/decks")?;
        let ranks = scene.ranks.to_string();
        let is_alone = self.name == OURS && scene.is_alone;
        let launcher =
            if is_alone { self.launcher.with_file_name("mpiexec") } else { self.launcher.clone() };
        let mut command = child::launcher(launcher, patience);
        if is_alone {
            command.args(["-n", &ranks]);
            cluster.settings_alone(&mut command);
        } else if self.name == OURS {
            command.args(["run", "-N", &scene.nodes.to_string(), "-n", &ranks]).args(scene.flags);
            cluster.settings(&mut command);
        } else {
            self.settings(scene, &mut command);
            command.args(["-n", &ranks]);
        }
        command.arg(program);
        match scene.program {
            Program::Measure | Program::Hypre => command.args(scene.words),
            Program::Sweep => command.arg(decks.join(scene.words[0])).args(&scene.words[1..]),
        };
        Ok(command)
    }

    /// A peer's best settings.
    fn settings(&self, scene: &Scene<'_>, command: &mut Command) {
        let is_crowded = scene.is_crowded();
        // Daemons of several hosts that are one machine would all bind to the same core.
        let bind = if is_crowded || scene.hosts.is_some() { "none" } else { "core" };
        match self.name {
            OPEN => {
                let (btl, network) = match (scene.hosts, scene.nodes) {
                    // Ranks of one host may share memory, those of two cannot.
                    (Some(_), _) => ("self,vader,tcp", namespaces::NETWORK),
                    (None, 1) => ("self,vader", "lo"),
                    (None, _) => ("self,tcp", "lo"),
                };
                command.args(["--oversubscribe", "--bind-to", bind]);
                command.args(["--mca", "pml", "ob1", "--mca", "btl", btl]);
                command.args(["--mca", "btl_tcp_if_include", network]);
                if let Some(hosts) = scene.hosts {
                    command.arg("--hostfile").arg(hosts.list());
                    command.args(["--mca", "plm_rsh_agent"]).arg(hosts.agent());
                    command.args(["--mca", "oob_tcp_if_include", network]);
                    command.arg("--map-by").arg(format!("ppr:{}:node", scene.ranks / scene.nodes));
                }
                if is_crowded {
                    command.args(["--mca", "mpi_yield_when_idle", "1"]);
                }
                command.env("OMPI_ALLOW_RUN_AS_ROOT", "1");
                command.env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
            }
            INTEL_WHEEL => {
                command.args(["-genv", "I_MPI_FABRICS", "shm"]);
                command.args(["-genv", "I_MPI_PIN", if is_crowded { "0" } else { "1" }]);
                if is_crowded {
                    command.args(["-genv", "I_MPI_WAIT_MODE", "1"]);
                    command.args(["-genv", "I_MPI_THREAD_YIELD", "2"]);
                }
            }
            _ => {
                command.args(["-bind-to", bind]);
            }
        }
        if let Some(library) = &self.library {
            command.env("LD_LIBRARY_PATH", library);
        }
        if let Some(before) = &self.before {
            command.env("LD_PRELOAD", before);
        }
    }

    /// What it is, for people.
    pub fn note(&self) -> String {
        let said = Command::new(&self.launcher).arg("--version").output();
        let said = said.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
        let said = said.unwrap_or_default();
        let version = said.lines().find(|line| line.contains(|it: char| it.is_ascii_digit()));
        format!("{}: {}", self.name, version.unwrap_or_default().trim())
    }
}
