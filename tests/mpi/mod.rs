//! MPI programs for tests: the library as this run has it, and `mpicc` with it.

#![allow(dead_code, unused_imports, reason = "each test uses its part")]

mod installed;

use super::cluster::MUSTER;
use installed::Installed;
pub use installed::{library, root};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// An installed tree of this test's own, with muster itself. Removed when it goes.
pub struct Mpi(Installed);

impl Mpi {
    /// Lays it out.
    pub fn installed() -> Mpi {
        let tree = Installed::new();
        symlink(MUSTER, tree.path("bin/muster")).unwrap();
        Mpi(tree)
    }

    /// Where it is.
    pub fn place(&self) -> &Path {
        self.0.place()
    }

    /// What a compiler needs to be told of it: where its headers and its library are.
    pub fn flags(&self) -> [String; 2] {
        let place = self.place().display();
        [format!("-I{place}/include"), format!("-L{place}/lib")]
    }

    /// Builds a program.
    pub fn built(&self, name: &str, flags: &[&str], sources: &[PathBuf]) -> String {
        let is_fortran =
            sources.iter().any(|path| path.extension().is_some_and(|end| end == "f90"));
        let wrapper = if is_fortran { "mpifort" } else { "mpicc" };
        let program = self.0.build(wrapper, name, flags, sources);
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
