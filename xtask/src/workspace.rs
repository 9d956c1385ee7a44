//! The checkout that a command works on, and the processes it starts there.

use std::ffi::OsStr;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus};
use std::sync::OnceLock;

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

/// A mistake in the command line: shown with the usage, exit status 2.
#[derive(Debug)]
pub struct Usage(pub String);

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

/// Refuses arguments, for a command that takes none.
pub fn no_arguments(arguments: &[String]) -> Result<()> {
    match arguments.first() {
        Some(first) => Err(Usage(format!("unexpected argument '{first}'")).into()),
        None => Ok(()),
    }
}

/// The root of the checkout: cargo says where this crate is, and the root is one above.
pub fn root() -> Result<PathBuf> {
    let crate_dir = std::env::var_os("CARGO_MANIFEST_DIR")
        .context("CARGO_MANIFEST_DIR is not set; start this program with `cargo xtask`")?;
    let root = Path::new(&crate_dir).parent().context("the xtask crate has no parent folder")?;
    Ok(root.to_path_buf())
}

/// Where cargo puts what it builds: it may be told by its settings as well as by the environment.
pub fn target_dir(root: &Path) -> PathBuf {
    static FOUND: OnceLock<PathBuf> = OnceLock::new();
    let ask = || {
        let said = metadata(root, "Cargo.toml").ok()?;
        said["target_directory"].as_str().map(PathBuf::from)
    };
    FOUND.get_or_init(|| ask().unwrap_or_else(|| root.join("target"))).clone()
}

/// The cargo that started us.
pub fn cargo(root: &Path) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root);
    // What `cargo run` set for us describes the xtask crate, and would rebuild others.
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&name);
        }
    }
    // What is built runs here, and is looked for where cargo puts what is for this machine.
    command.env_remove("CARGO_BUILD_TARGET");
    command
}

/// What rustc calls this machine.
pub fn host() -> Result<String> {
    let version = output(Command::new("rustc").arg("-vV"))?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).context("rustc -vV names no host")
}

/// What we end with if a program that did our work ended so.
pub fn code(status: ExitStatus) -> ExitCode {
    status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1).into()
}

/// Runs a command with our streams; a failure names it.
pub fn check(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("cannot start {}", line(command)))?;
    if !status.success() {
        bail!("{} ended with {status}", line(command));
    }
    Ok(())
}

/// Runs `cargo test` with a filter. For cargo it is a success if that matches no test, as when one
/// has got another name.
pub fn check_tests(test: &mut Command) -> Result<()> {
    let mut list = Command::new(test.get_program());
    list.args(test.get_args()).args((!test.get_args().any(|word| word == "--")).then_some("--"));
    list.arg("--list");
    for (name, value) in test.get_envs() {
        match value {
            Some(value) => list.env(name, value),
            None => list.env_remove(name),
        };
    }
    if let Some(dir) = test.get_current_dir() {
        list.current_dir(dir);
    }
    let is_test = |line: &str| line.ends_with(": test");
    ensure!(output(&mut list)?.lines().any(is_test), "{} matches no test", line(test));
    check(test)
}

/// Runs a command and returns what it prints.
pub fn output(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("cannot start {}", line(command)))?;
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        bail!("{} ended with {}: {}", line(command), output.status, stderr.trim());
    }
    String::from_utf8(output.stdout).with_context(|| format!("{} printed no UTF-8", line(command)))
}

/// What `cargo metadata` says about a manifest and its workspace, without what they depend on.
pub fn metadata(root: &Path, manifest: &str) -> Result<Value> {
    let flags = ["metadata", "--no-deps", "--offline", "--format-version", "1", "--manifest-path"];
    let text = output(cargo(root).args(flags).arg(manifest))?;
    serde_json::from_str(&text).context("cargo metadata printed no JSON")
}

/// The full path of a program, looked up as the shell does, and where root's programs are.
pub fn find_program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let roots = ["/usr/sbin", "/sbin"].map(PathBuf::from);
    std::env::split_paths(&path).chain(roots).map(|dir| dir.join(name)).find(|file| file.is_file())
}

fn line(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or(command.get_program());
    let words = std::iter::once(program).chain(command.get_args());
    let words: Vec<_> = words.map(OsStr::to_string_lossy).collect();
    format!("`{}`", words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_that_matches_no_test_is_a_failure() {
        let run = |script: &str| check_tests(Command::new("sh").args(["-c", script]));
        assert!(run("echo 'rings::one: test'").is_ok());
        let error = run("echo '0 tests, 0 benchmarks'").unwrap_err();
        assert!(error.to_string().contains("matches no test"), "{error}");
        assert!(run("echo 'rings::one: test'; [ \"$1\" = --list ]").is_err(), "it fails itself");
    }
}
