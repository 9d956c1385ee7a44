//! `cargo xtask conformance mpi [NAME...]`: MPI programs that nobody here wrote, built with
//! `bin/mpicc` and run over our library (`conformance/mpi`).

use std::path::Path;
use std::process::{Command, ExitCode};

use anyhow::Result;

use crate::workspace::{Usage, cargo, check, root, target_dir};

/// What fetches, builds and runs them.
const RUN: &str = "conformance/mpi/run";

/// Where it has archives, sources and builds, below where cargo builds.
const PLACE: &str = "conformance/mpi";

/// What fetches an archive of a source package of Debian's, on any release.
pub const DEBIAN_SOURCE: &str = "xtask/debian-source";

/// Those that `cargo test` runs.
const TESTED: [&str; 4] = ["fftw2", "fftw3", "netpipe", "openmpi-examples"];

/// Fetches what `cargo test` builds, so that it needs no network.
pub fn fetch(root: &Path) -> Result<()> {
    let mut fetch = Command::new(root.join(RUN));
    fetch.arg("--work").arg(target_dir(root).join(PLACE));
    check(fetch.arg("--fetch").args(TESTED))
}

/// The command. What follows `mpi` is the script's.
pub fn run(arguments: &[String]) -> Result<ExitCode> {
    let Some((suite, rest)) = arguments.split_first() else {
        return Err(Usage("which suite: mpi".to_owned()).into());
    };
    if suite != "mpi" {
        return Err(Usage(format!("there is no suite '{suite}' here, only mpi")).into());
    }
    let root = root()?;
    check(cargo(&root).args(["build", "-q", "-p", "muster-cli", "-p", "muster-mpi-abi"]))?;
    let mut command = Command::new(root.join(RUN));
    command.arg("--work").arg(target_dir(&root).join(PLACE)).args(rest);
    command.env("MUSTER", target_dir(&root).join("debug/muster"));
    let status = command.status()?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::output;
    use std::fs;
    use std::path::PathBuf;

    #[test]
    fn what_setup_fetches_is_what_the_tests_build() {
        let test = root().unwrap().join("tests/t0310_mpi_programs.rs");
        let text = fs::read_to_string(test).expect("it is there");
        let calls = text.lines().filter_map(|line| line.trim().strip_prefix("is_right(\""));
        let mut names: Vec<_> = calls.filter_map(|rest| rest.split('"').next()).collect();
        names.sort_unstable();
        assert_eq!(names, TESTED);
    }

    /// A folder that goes with its test.
    struct Folder(PathBuf);

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    /// A mirror of Ubuntu's with one file in its pool, and an apt that knows nothing else.
    fn lay_out(folder: &Path) {
        let script = r#"
            set -eu
            cd "$1"
            mkdir -p ubuntu/dists/any/universe/binary-amd64 ubuntu/pool/universe/n/netpipe
            mkdir -p apt/parts apt/lists/partial apt/cache/archives/partial
            echo source >ubuntu/pool/universe/n/netpipe/netpipe.tar
            cd ubuntu/dists/any
            list=universe/binary-amd64/Packages
            printf '%s: %s\n' Package any Version 1 Architecture amd64 Filename any Size 0 >$list
            printf '%s: %s\n' Origin Ubuntu Suite any Components universe \
                Architectures amd64 Date 'Sat, 01 Jan 2000 00:00:00 UTC' >Release
            printf 'SHA256:\n %s %s %s\n' "$(sha256sum <$list | cut -d ' ' -f 1)" \
                "$(wc -c <$list)" $list >>Release
            cd "$1"
            echo "deb [trusted=yes arch=amd64] file:$1/ubuntu any universe" >apt/parts/all.list
            cat >apt/conf <<END
Dir::Etc::SourceList "$1/apt/none";
Dir::Etc::SourceParts "$1/apt/parts";
Dir::State::Lists "$1/apt/lists";
Dir::Cache "$1/apt/cache";
Acquire::Languages "none";
APT::Sandbox::User "$(id -un)";
END
            APT_CONFIG=$1/apt/conf apt-get -qq update
            sha256sum <ubuntu/pool/universe/n/netpipe/netpipe.tar | cut -d ' ' -f 1"#;
        let mut sh = Command::new("sh");
        let sum = output(sh.args(["-c", script, "sh"]).arg(folder)).expect("it is laid out");
        fs::write(folder.join("sum"), sum.trim()).expect("it is written");
    }

    #[test]
    fn a_source_comes_from_whatever_mirror_has_it_if_its_checksum_is_right() {
        let folder = std::env::temp_dir().join(format!("xtask-source-{}", std::process::id()));
        fs::create_dir(&folder).expect("a new folder");
        let folder = Folder(folder);
        lay_out(&folder.0);
        let sum = fs::read_to_string(folder.0.join("sum")).expect("it was written");
        let fetch = |sum: &str, to: &str, mirror: &str| {
            let mut fetch = Command::new(root().unwrap().join(DEBIAN_SOURCE));
            fetch.args(["netpipe", "netpipe.tar", sum]).arg(folder.0.join(to));
            fetch.env("APT_CONFIG", folder.0.join("apt/conf")).env("MUSTER_DEBIAN_MIRROR", mirror);
            output(&mut fetch)
        };
        // A mirror that is named and has nothing is not the end.
        for (to, mirror) in [("one", ""), ("two", "file:/nowhere")] {
            fetch(&sum, to, mirror).expect("it is there");
            assert_eq!(fs::read_to_string(folder.0.join(to)).unwrap(), "source\n");
        }
        let error = fetch(&"0".repeat(64), "three", "").unwrap_err().to_string();
        assert!(error.contains("MUSTER_DEBIAN_MIRROR=ADDRESS"), "{error}");
        let left = fs::read_dir(&folder.0).unwrap().map(|entry| entry.unwrap().file_name());
        let mut left: Vec<_> = left.collect();
        left.sort_unstable();
        assert_eq!(left, ["apt", "one", "sum", "two", "ubuntu"], "what failed leaves nothing");
    }
}
