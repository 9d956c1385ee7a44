//! `cargo xtask bench NAME`: builds ours in release, has the peers at hand, and hands over to
//! the `bench` crate.

use std::path::Path;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail};

use crate::workspace::{Usage, cargo, check, find_program, root, target_dir};

/// The Go server of hugelgupf/p9; its module file pins the version.
const P9UFS: &str = "github.com/hugelgupf/p9/cmd/p9ufs";
const P9UFS_MODULE: &str = "bench/peers";

/// The program around iceoryx2.
const ICEORYX2: &str = "bench/peers/iceoryx2";

/// The command.
pub fn run(arguments: &[String]) -> Result<ExitCode> {
    if arguments.is_empty() {
        return Err(Usage("which benchmark?".to_owned()).into());
    }
    let root = root()?;
    match arguments[0].as_str() {
        "9p" => build_peers(&root)?,
        "fabric" => {
            build_iceoryx2(&root)?;
            crate::libfabric::build(&root)?;
        }
        "primitives" => build_collectives(&root)?,
        "mpi" => build_mpi(&root)?,
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
    for (kind, compiler) in [
        ("abi", installed.join("bin/mpicc")),
        ("openmpi", "mpicc.openmpi".into()),
        ("mpich", "mpicc.mpich".into()),
    ] {
        let Some(compiler) = find_program(&compiler.to_string_lossy()) else {
            println!("bench: without {}: there is none", compiler.display());
            continue;
        };
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
