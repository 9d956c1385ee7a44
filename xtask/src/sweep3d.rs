//! `cargo xtask sweep3d`: Sweep3D, an ordinary MPI program, on a cluster of this machine that lives
//! as long as it runs. Each step is shown as one would type it.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::Result;

use crate::workspace::{cargo, check, no_arguments, root, target_dir};

/// Four ranks, two on each of two nodes: neighbours on the same node and on the other.
const RANKS: [&str; 4] = ["-N", "2", "-n", "4"];

/// The standard problem, cut for them.
const DECK: &str = "50-2x2";

/// The command.
pub fn run(arguments: &[String]) -> Result<ExitCode> {
    no_arguments(arguments)?;
    let root = root()?;
    check(cargo(&root).args(["build", "--release", "-p", "muster-cli", "-p", "muster-mpi-abi"]))?;
    for mut step in steps(&root, &target_dir(&root).join("release")) {
        println!("$ {}", typed(&step, &root));
        check(&mut step)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Builds the program by our `mpicc`, and runs it by the `muster` of a folder.
fn steps(root: &Path, built: &Path) -> [Command; 2] {
    let place = PathBuf::from("apps/sweep3d");
    let mut make = Command::new("make");
    let mpicc = format!("MPICC={}", root.join("bin/mpicc").display());
    // Anew: one that is there may have been built for another MPI.
    make.current_dir(root).args(["-sBC"]).arg(&place).arg(mpicc).env("MUSTER_LIB", built);
    let mut muster = Command::new(built.join("muster"));
    muster.current_dir(root).arg("run").args(RANKS);
    muster.arg("--bcast").arg(place.join("decks").join(DECK)).arg(place.join("sweep3d")).arg(DECK);
    [make, muster]
}

/// A command as one would type it at the root of the checkout.
fn typed(command: &Command, root: &Path) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let words: Vec<_> = words.map(|word| word.to_string_lossy()).collect();
    let root = format!("{}/", root.display());
    words.join(" ").replace(&format!("={root}"), "=$PWD/").replace(&root, "")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::output;
    use std::fs;

    #[test]
    fn the_main_job_of_the_readme_prints_errors_balance_and_time() {
        let root = root().expect("cargo runs tests");
        let readme = fs::read_to_string(root.join("README.md")).expect("it is there");
        assert!(readme.contains("\n    cargo xtask sweep3d"), "the README runs something else");
        check(cargo(&root).args(["build", "-q", "-p", "muster-cli", "-p", "muster-mpi-abi"]))
            .expect("it builds");
        let runtime = std::env::temp_dir().join(format!("xtask-sweep3d-{}", std::process::id()));
        let [mut make, mut muster] = steps(&root, &target_dir(&root).join("debug"));
        check(&mut make).expect("Sweep3D builds");
        let said = output(muster.env("MUSTER_RUNTIME", &runtime));
        let left = fs::read_dir(&runtime).map_or(0, |entries| entries.count());
        let _ = fs::remove_dir_all(&runtime);
        let said = said.expect("it runs");
        for part in ["2.61752203211", "11664", "balance", "time"] {
            assert!(said.contains(part), "{part} is missing in {said}");
        }
        assert_eq!(left, 0, "something is left of the cluster");
    }
}
