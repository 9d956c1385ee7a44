//! An installed tree of the MPI library for one test, with the library that this test run built.
//! The library's own tests use it, too.

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

/// The library. Cargo builds no shared library for tests, so it is asked to, once; a library that
/// Rust programs could link against as well, which it would build, cannot be optimized as a whole.
pub fn library() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["build", "--quiet", "--package", "muster-mpi-abi"]).current_dir(root());
        cargo.args((!cfg!(debug_assertions)).then_some("--release"));
        // What cargo told this test about itself would have it build others anew.
        let told = ["CARGO_PKG_", "CARGO_MANIFEST_", "OUT_DIR"];
        for (name, _) in std::env::vars() {
            if told.iter().any(|start| name.starts_with(start)) {
                cargo.env_remove(name);
            }
        }
        succeeded(&cargo.output().unwrap(), "building the library");
        let test = std::env::current_exe().unwrap();
        test.ancestors().nth(2).expect("it is in deps/").join("libmpi_abi.so")
    })
}

fn succeeded(done: &Output, what: &str) {
    assert!(done.status.success(), "{what}: {}", String::from_utf8_lossy(&done.stderr));
}

/// A tree of `bin`, `lib` and `include`, and room for programs. Removed when it goes.
pub struct Installed(PathBuf);

impl Installed {
    /// Lays one out.
    pub fn new() -> Installed {
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
        Installed(place)
    }

    /// A path in it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Where it is.
    pub fn place(&self) -> &Path {
        &self.0
    }

    /// Builds a program.
    pub fn build(&self, wrapper: &str, name: &str, flags: &[&str], sources: &[PathBuf]) -> PathBuf {
        let program = self.path(name);
        // By the shell: a file that was just written may be open in a child of another test.
        let mut command = Command::new("sh");
        // Modules of Fortran are written to where the compiler works.
        command.current_dir(&self.0).arg(self.path("bin").join(wrapper)).args(flags);
        command.arg("-o").arg(&program).args(sources).arg("-lm");
        succeeded(&command.output().unwrap(), name);
        program
    }
}

impl Drop for Installed {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
