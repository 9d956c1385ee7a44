//! `cargo xtask loom`: every interleaving, within loom's bounds, of the rings of shared memory, of
//! the rings, boxes and boards of a gateway's segment, and of who waits for global memory
//! (`crates/fabric/src/transport/shared/tests/ring.rs`, `.../gateway/tests/interleavings.rs`,
//! `.../global/tests/interleavings.rs`).

use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;

use crate::workspace::{cargo, check_tests, no_arguments, root, target_dir};

/// Runs the tests; what is built with other atomics has a folder of its own. Not optimized: that
/// would save 7 s of running and cost over a minute of building.
pub fn interleave(root: &Path) -> Result<()> {
    let mut test = cargo(root);
    test.args(["test", "--quiet", "-p", "muster-fabric", "--lib", "interleavings"]);
    test.env("RUSTFLAGS", "--cfg loom").env("CARGO_TARGET_DIR", target_dir(root).join("loom"));
    check_tests(&mut test)
}

/// The command.
pub fn run(arguments: &[String]) -> Result<ExitCode> {
    no_arguments(arguments)?;
    interleave(&root()?)?;
    Ok(ExitCode::SUCCESS)
}
