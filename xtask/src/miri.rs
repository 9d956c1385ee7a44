//! `cargo xtask miri`: the rings of shared memory under Miri, which sees undefined behaviour
//! (`crates/fabric/src/transport/shared/tests/ring.rs`). Miri comes with a nightly toolchain only.

use std::process::{Command, ExitCode, Stdio};

use anyhow::{Result, ensure};

use crate::workspace::{check_tests, no_arguments, root, target_dir};

fn nightly() -> Command {
    let mut cargo = Command::new("cargo");
    cargo.arg("+nightly").arg("miri");
    // What the stable cargo that runs us has set would win over the toolchain asked for.
    for name in ["CARGO", "RUSTC", "RUSTDOC", "RUSTUP_TOOLCHAIN"] {
        cargo.env_remove(name);
    }
    cargo
}

/// The command.
pub fn run(arguments: &[String]) -> Result<ExitCode> {
    no_arguments(arguments)?;
    let mut version = nightly();
    version.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
    ensure!(
        version.status().is_ok_and(|status| status.success()),
        "no Miri: rustup toolchain install nightly --component miri --component rust-src"
    );
    let root = root()?;
    let mut test = nightly();
    test.current_dir(&root).args(["test", "-p", "muster-fabric", "--lib", "shared::tests::ring"]);
    // Property tests write down what failed, which needs a real clock and file system.
    test.env("MIRIFLAGS", "-Zmiri-disable-isolation");
    test.env("CARGO_TARGET_DIR", target_dir(&root).join("miri"));
    check_tests(&mut test)?;
    Ok(ExitCode::SUCCESS)
}
