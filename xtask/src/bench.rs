//! `cargo xtask bench NAME`: builds ours in release, has the peers at hand, and hands over to
//! the `bench` crate.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail};

use crate::workspace::{Usage, cargo, check, find_program, root, target_dir};

/// The Go server of hugelgupf/p9; its module file pins the version.
const P9UFS: &str = "github.com/hugelgupf/p9/cmd/p9ufs";
const P9UFS_MODULE: &str = "bench/peers";

/// The program around iceoryx2.
const ICEORYX2: &str = "bench/peers/iceoryx2";

/// What the `bench` crate has: who mistypes a name is told before anything is built.
const NAMES: [&str; 12] = [
    "9p",
    "spawn",
    "launch",
    "scale",
    "figures",
    "gang",
    "image",
    "deaths",
    "primitives",
    "fabric",
    "mpi",
    "parked",
];

/// The command.
pub fn run(arguments: &[String]) -> Result<ExitCode> {
    match arguments.first() {
        None => return Err(Usage("which benchmark?".to_owned()).into()),
        Some(name) if !NAMES.contains(&name.as_str()) && !name.starts_with('-') => {
            let names = NAMES.join(", ");
            return Err(Usage(format!("no benchmark '{name}'; there are {names}")).into());
        }
        Some(_) => {}
    }
    let root = root()?;
    match arguments[0].as_str() {
        "9p" => build_peers(&root)?,
        "fabric" => {
            build_iceoryx2(&root)?;
            crate::libfabric::build(&root)?;
        }
        "primitives" => build_collectives(&root)?,
        "mpi" => {
            build_mpi(&root)?;
            // It takes minutes, and only a figure needs it.
            if arguments.iter().any(|word| word == "hypre") {
                build_hypre(&root)?;
            }
        }
        _ => {}
    }
    let build = ["build", "--quiet", "--release", "-p", "muster-cli", "-p", "muster-bench"];
    check(cargo(&root).args(build))?;
    let target = target_dir(&root);
    let mut bench = Command::new(target.join("release/muster-bench"));
    bench.current_dir(&root).env("MUSTER_BENCH_TARGET", &target).args(arguments);
    let status = bench.status().context("cannot start the bench crate's program")?;
    Ok(match status.code() {
        Some(code) => ExitCode::from(u8::try_from(code).unwrap_or(1)),
        None => bail!("the benchmark ended with {status}"),
    })
}

/// Builds the peers that no Debian package holds, once.
pub fn build_peers(root: &Path) -> Result<()> {
    let peer = target_dir(root).join("peers/p9ufs");
    if peer.exists() {
        return Ok(());
    }
    let Some(go) = find_program("go") else {
        bail!("no Go compiler for the peer p9ufs: apt-get install golang-go");
    };
    println!("setup: building p9ufs");
    let mut build = Command::new(go);
    build.current_dir(root.join(P9UFS_MODULE)).args(["build", "-o"]).arg(&peer).arg(P9UFS);
    check(&mut build)
}

/// Builds the peer that is a Rust library; its lock file pins the version.
fn build_iceoryx2(root: &Path) -> Result<()> {
    let folder = root.join(ICEORYX2);
    let target = target_dir(root).join("peers/iceoryx2");
    let mut build = cargo(&folder);
    check(build.args(["build", "--quiet", "--release", "--locked"]).env("CARGO_TARGET_DIR", target))
}

/// Builds the program that measures MPI's collectives, with each MPI's own compiler.
fn build_collectives(root: &Path) -> Result<()> {
    let peers = target_dir(root).join("peers");
    std::fs::create_dir_all(&peers).context("cannot make the peers' folder")?;
    for (kind, package) in [("openmpi", "libopenmpi-dev"), ("mpich", "libmpich-dev")] {
        let Some(compiler) = find_program(&format!("mpicc.{kind}")) else {
            bail!("no mpicc.{kind} for a peer: apt-get install {package}");
        };
        let mut build = Command::new(compiler);
        build.args(["-O2", "-o"]).arg(peers.join(format!("collectives-{kind}")));
        check(build.arg(root.join("bench/peers/collectives.c")))?;
    }
    let mut build = Command::new("cc");
    build.args(["-O2", "-shared", "-fPIC", "-o"]).arg(peers.join("yield.so"));
    check(build.arg(root.join("bench/peers/yield.c")))
}

/// The MPIs' C compilers that are there, by the name of what they build.
fn compilers(place: &Path) -> Vec<(&'static str, PathBuf)> {
    let all = [
        ("abi", place.join("installed/bin/mpicc")),
        ("openmpi", "mpicc.openmpi".into()),
        ("mpich", "mpicc.mpich".into()),
    ];
    let find = |(kind, compiler): (&'static str, PathBuf)| {
        let found = find_program(&compiler.to_string_lossy());
        if found.is_none() {
            println!("bench: without {}: there is none", compiler.display());
        }
        Some((kind, found?))
    };
    all.into_iter().filter_map(find).collect()
}

/// Installs ours, fetches the MPIs that PyPI has, where it can be reached, and compiles the
/// programs of `bench mpi` with each MPI's compiler. PyPI's run what ours has compiled.
fn build_mpi(root: &Path) -> Result<()> {
    let place = target_dir(root).join("peers/mpi");
    let installed = place.join("installed");
    crate::install::install(root, &installed)?;
    for name in ["mpich", "impi-rt"] {
        let folder = place.join(format!("wheel-{name}"));
        if folder.join("bin/mpiexec").exists() {
            continue;
        }
        let mut venv = Command::new("python3");
        let mut fetch = Command::new(folder.join("bin/python3"));
        fetch.args(["-m", "pip", "install", "--quiet", name]);
        let fetched =
            check(venv.args(["-m", "venv"]).arg(&folder)).and_then(|()| check(&mut fetch));
        if let Err(error) = fetched {
            println!("bench: without PyPI's {name}: {error:#}");
        }
    }
    let sources = root.join("apps/sweep3d");
    for (kind, compiler) in compilers(&place) {
        let mut build = Command::new(&compiler);
        // MPICH's header makes gcc think that MPI_STATUSES_IGNORE is too short.
        build.args(["-O2", "-Wno-stringop-overflow", "-o"]);
        build.arg(place.join(format!("measure-{kind}")));
        check(build.arg(root.join("bench/peers/mpi/measure.c")))?;
        // Its Makefile has the flags, and keeps its result beside the sources.
        let mut make = Command::new("make");
        make.current_dir(&sources).args(["--silent", "clean", "sweep3d"]);
        check(make.arg(format!("MPICC={}", compiler.display())))?;
        std::fs::copy(sources.join("sweep3d"), place.join(format!("sweep3d-{kind}")))?;
        std::fs::remove_file(sources.join("sweep3d"))?;
    }
    Ok(())
}

/// Builds hypre's driver `ij` with each MPI's compiler, once, of the archive that the conformance
/// tests fetch and compare.
fn build_hypre(root: &Path) -> Result<()> {
    let place = target_dir(root).join("peers/mpi");
    let archives = target_dir(root).join("conformance/mpi/archives");
    for (kind, compiler) in compilers(&place) {
        let program = place.join(format!("hypre-{kind}"));
        if program.exists() {
            continue;
        }
        println!("bench: building hypre with {}", compiler.display());
        check(Command::new(root.join("conformance/mpi/run")).args(["--fetch", "hypre"]))?;
        let sources = place.join(format!("hypre-{kind}.build"));
        std::fs::create_dir_all(&sources)?;
        let mut unpack = Command::new("tar");
        unpack.arg("-xf").arg(archives.join("hypre_2.26.0.orig.tar.gz")).arg("-C").arg(&sources);
        check(unpack.arg("--strip-components=1"))?;
        let mut build = Command::new("sh");
        // It says much, which is only of interest when it fails.
        let all = "(./configure --disable-fortran CC=\"$1\" CXX=\"$1\" CFLAGS=-O2 && make -j2 && \
                   make -C test ij) >../build.log 2>&1";
        build.current_dir(sources.join("src")).args(["-c", all, "sh"]).arg(compiler);
        check(&mut build)?;
        std::fs::copy(sources.join("src/test/ij"), program)?;
        std::fs::remove_dir_all(&sources)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_are_those_that_the_benchmarks_usage_tells() {
        let text = std::fs::read_to_string(root().unwrap().join("bench/src/main.rs")).unwrap();
        let usage = text.split("\";").next().unwrap();
        let lines = usage.lines().filter_map(|line| line.strip_prefix("  "));
        let names =
            lines.filter(|line| !line.starts_with(' ')).filter_map(|line| line.split(' ').next());
        assert_eq!(names.collect::<Vec<_>>(), NAMES);
        let error = run(&["fabrik".to_owned()]).unwrap_err().to_string();
        assert!(error.contains("no benchmark 'fabrik'; there are 9p"), "{error}");
    }
}
