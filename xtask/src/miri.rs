//! `cargo xtask miri`: the rings of shared memory, and the rings, boxes and boards of a gateway's
//! segment, under Miri, which sees undefined behaviour (`transport/shared/tests/ring.rs` and
//! `gateway/tests/interleavings.rs` of crates/fabric/src). Miri comes with a nightly toolchain
//! only.

use std::process::{Command, ExitCode, Stdio};

use anyhow::{Result, ensure};

use crate::workspace::{check_tests, no_arguments, root, target_dir};

/// Races and all else, but not whose borrows end when.
const UNBORROWED: &str = "-Zmiri-disable-stacked-borrows";

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
    // A segment's memory is asked for as a whole at each access, and to look at the borrows of
    // eight megabytes takes two seconds each time.
    let runs = [("shared::tests::ring", ""), ("gateway::tests::interleavings", UNBORROWED)];
    for (tests, flags) in runs {
        let mut test = nightly();
        test.current_dir(&root).args(["test", "-p", "muster-fabric", "--lib", tests]);
        // Property tests write down what failed, which needs a real clock and file system.
        test.env("MIRIFLAGS", format!("-Zmiri-disable-isolation {flags}"));
        test.env("CARGO_TARGET_DIR", target_dir(&root).join("miri"));
        check_tests(&mut test)?;
    }
    Ok(ExitCode::SUCCESS)
}
