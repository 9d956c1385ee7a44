//! An installed tree for one test, with the library that this test run built, and what is compiled
//! and run in it.

#![allow(dead_code, reason = "each test uses its part")]

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// A tree of `bin`, `lib` and `include`, and room for programs. Removed when it goes.
pub struct Prefix(PathBuf);

/// The library. Cargo builds no shared library for tests, so it is asked to, once; a library that
/// Rust programs could link against as well, which it would build, cannot be optimized as a whole.
pub fn library() -> PathBuf {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    let path = BUILT.get_or_init(|| {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["build", "--quiet", "--package", env!("CARGO_PKG_NAME")]);
        cargo.args((!cfg!(debug_assertions)).then_some("--release"));
        // What cargo told this test about itself would have it build others anew.
        let told = |name: &String| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MAN");
        std::env::vars().map(|(name, _)| name).filter(told).for_each(|name| {
            cargo.env_remove(name);
        });
        let done = cargo.current_dir(env!("CARGO_MANIFEST_DIR")).output().expect("cargo runs");
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        let test = std::env::current_exe().expect("this program has a path");
        test.ancestors().nth(2).expect("it is in deps/").join("libmpi_abi.so")
    });
    path.clone()
}

impl Prefix {
    /// Lays one out.
    pub fn new() -> Prefix {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let place = std::env::temp_dir().join(format!("mpi-abi-{}-{number}", std::process::id()));
        for folder in ["bin", "lib"] {
            fs::create_dir_all(place.join(folder)).expect("a folder");
        }
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        symlink(root.join("include"), place.join("include")).expect("a link");
        for name in ["libmpi_abi.so", "libmpi_abi.so.1"] {
            symlink(library(), place.join("lib").join(name)).expect("a link");
        }
        for name in ["mpicc", "mpicxx", "mpifort"] {
            fs::copy(root.join("bin/mpicc"), place.join("bin").join(name)).expect("a copy");
        }
        Prefix(place)
    }

    /// A path in it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Compiles a source of `tests/programs` with a wrapper, and returns the program.
    pub fn compile(&self, wrapper: &str, source: &str, flags: &[&str]) -> PathBuf {
        let text = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(source);
        let program = self.path(&source.replace('.', "-"));
        // By the shell: a file that was just written may be open in a child of another test.
        let mut command = Command::new("sh");
        command.arg(self.path("bin").join(wrapper));
        let done = command.args(flags).arg(text).arg("-o").arg(&program).output();
        let done = done.expect("the wrapper runs");
        assert!(done.status.success(), "{source}: {}", String::from_utf8_lossy(&done.stderr));
        program
    }
}

impl Drop for Prefix {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// What a program printed, and how it ended.
pub struct Ran {
    /// Its exit status; none if a signal killed it.
    pub status: Option<i32>,
    /// Its standard output.
    pub out: String,
    /// Its standard error.
    pub err: String,
}

/// Runs a program to its end.
pub fn run(program: impl AsRef<Path>) -> Ran {
    run_with(program, &[])
}

/// Runs a program to its end, with variables in its environment.
pub fn run_with(program: impl AsRef<Path>, variables: &[(&str, &OsStr)]) -> Ran {
    let mut command = Command::new(program.as_ref());
    // Cargo names folders there in which another library may be.
    command.env_remove("LD_LIBRARY_PATH").envs(variables.iter().copied());
    let Output { status, stdout, stderr } = command.output().expect("the program runs");
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Ran { status: status.code(), out: text(stdout), err: text(stderr) }
}
