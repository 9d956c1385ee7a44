//! What is compiled and run in an installed tree.

#![allow(dead_code, unused_imports, reason = "each test uses its part")]

#[path = "../../../../tests/mpi/installed.rs"]
mod installed;

pub use installed::{Installed, library, root};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Compiles a source of `tests/programs` with a wrapper, and returns the program.
pub fn compile(tree: &Installed, wrapper: &str, source: &str, flags: &[&str]) -> PathBuf {
    let text = root().join("crates/mpi-abi/tests/programs").join(source);
    tree.build(wrapper, &source.replace('.', "-"), flags, &[text])
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
