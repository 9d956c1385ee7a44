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
    // From where make goes: a shell splits the path of a checkout that has a blank in it.
    let mpicc = "MPICC=../../bin/mpicc";
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
    words.join(" ").replace(&format!("{}/", root.display()), "")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::output;
    use std::fs;

    #[test]
    fn a_checkout_may_be_where_a_path_has_a_blank() {
        let root = root().expect("cargo runs tests");
        let place = std::env::temp_dir().join(format!("xtask a blank {}", std::process::id()));
        for file in ["bin/mpicc", "include/mpi.h", "include/muster.h"] {
            let copy = place.join(file);
            fs::create_dir_all(copy.parent().expect("a folder")).expect("made");
            fs::copy(root.join(file), copy).expect("copied");
        }
        fs::create_dir_all(place.join("lib")).expect("made");
        fs::write(place.join("lib/libmpi_abi.so.1"), "").expect("written");
        fs::create_dir_all(place.join("apps/x")).expect("made");
        let make = "x.o: x.c\n\t$(MPICC) -c x.c\n";
        fs::write(place.join("apps/x/Makefile"), make).expect("written");
        fs::write(place.join("apps/x/x.c"), "#include <mpi.h>\n").expect("written");
        let [ours, _] = steps(&place, Path::new("nowhere"));
        let mpicc = ours.get_args().find(|word| word.as_encoded_bytes().starts_with(b"MPICC="));
        let mut make = Command::new("make");
        make.current_dir(&place).args(["-sC", "apps/x"]).arg(mpicc.expect("it is said"));
        check(&mut make).expect("it compiles");
        fs::remove_dir_all(&place).expect("ours");
    }

    #[test]
    fn the_main_job_of_the_readme_prints_errors_balance_and_time() {
        let root = root().expect("cargo runs tests");
        let readme = fs::read_to_string(root.join("README.md")).expect("it is there");
        assert!(readme.contains("\n    cargo xtask sweep3d"), "the README runs something else");
        // As all tests are built: by themselves these crates have fewer features, and would be
        // built once more.
        check(cargo(&root).args(["build", "-q", "--workspace", "--all-targets"]))
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
