//! MPI programs for tests: the library as this run has it, and `mpicc` with it.

#![allow(dead_code, reason = "each test uses its part")]

use super::cluster::MUSTER;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// The repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The library. Cargo builds programs that a test needs by itself, but not libraries for C.
pub fn library() -> &'static Path {
    static LIBRARY: OnceLock<PathBuf> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let beside = Path::new(MUSTER).parent().unwrap();
        let mut build = Command::new(env!("CARGO"));
        build.args(["build", "--quiet", "-p", "muster-mpi-abi"]).current_dir(root());
        if beside.ends_with("release") {
            build.arg("--release");
        }
        succeeded(&build.output().unwrap(), "building the library");
        beside.join("libmpi_abi.so")
    })
}

fn succeeded(done: &Output, what: &str) {
    assert!(done.status.success(), "{what}: {}", String::from_utf8_lossy(&done.stderr));
}

/// An installed tree of this test's own. Removed when it goes.
pub struct Mpi(PathBuf);

impl Mpi {
    /// Lays it out.
    pub fn installed() -> Mpi {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let place = std::env::temp_dir().join(format!("mt-mpi-{}-{number}", std::process::id()));
        for folder in ["bin", "lib"] {
            fs::create_dir_all(place.join(folder)).unwrap();
        }
        symlink(root().join("include"), place.join("include")).unwrap();
        for name in ["libmpi_abi.so", "libmpi_abi.so.1"] {
            symlink(library(), place.join("lib").join(name)).unwrap();
        }
        for name in ["mpicc", "mpiexec"] {
            fs::copy(root().join("bin").join(name), place.join("bin").join(name)).unwrap();
        }
        for name in ["mpicxx", "mpifort"] {
            symlink("mpicc", place.join("bin").join(name)).unwrap();
        }
        symlink(MUSTER, place.join("bin/muster")).unwrap();
        Mpi(place)
    }

    /// Where it is.
    pub fn place(&self) -> &Path {
        &self.0
    }

    /// What a compiler needs to be told of it: where its headers and its library are.
    pub fn flags(&self) -> [String; 2] {
        let place = self.0.display();
        [format!("-I{place}/include"), format!("-L{place}/lib")]
    }

    /// Builds a program.
    pub fn built(&self, name: &str, flags: &[&str], sources: &[PathBuf]) -> String {
        let program = self.0.join(name);
        let is_fortran =
            sources.iter().any(|path| path.extension().is_some_and(|end| end == "f90"));
        let wrapper = if is_fortran { "mpifort" } else { "mpicc" };
        // By the shell: a file that was just written may be open in a child of another test.
        let mut mpicc = Command::new("sh");
        mpicc
            // Modules of Fortran are written to where the compiler works.
            .current_dir(&self.0)
            .arg(self.0.join("bin").join(wrapper))
            .args(flags)
            .arg("-o")
            .arg(&program)
            .args(sources)
            .arg("-lm");
        succeeded(&mpicc.output().unwrap(), name);
        program.to_str().unwrap().to_owned()
    }

    /// Builds a program of this folder, which may not have anything that a compiler warns of.
    pub fn program(&self, name: &str) -> String {
        let source = root().join(format!("tests/mpi/{name}.c"));
        self.built(name, &["-std=c99", "-Wall", "-Wextra", "-Werror", "-O1", "-pthread"], &[source])
    }

    /// Builds Sweep3D.
    pub fn sweep3d(&self) -> String {
        let sources = fs::read_dir(root().join("apps/sweep3d")).unwrap();
        let sources = sources.map(|entry| entry.unwrap().path());
        let sources: Vec<_> =
            sources.filter(|path| path.extension().is_some_and(|end| end == "c")).collect();
        // As in its Makefile: without fused instructions each fma() is a slow function, and the
        // deck of 150 cells takes seven times as long.
        let mut flags = vec!["-O3", "-ffp-contract=off"];
        if cfg!(target_arch = "x86_64") {
            flags.push("-march=x86-64-v3");
        }
        self.built("sweep3d", &flags, &sources)
    }
}

impl Drop for Mpi {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
