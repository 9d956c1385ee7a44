//! `cargo xtask model`: explores all states of the three primitives within bounds, with the shipped
//! state machines (`crates/fabric/tests/model.rs`), and prints the size of each state space.

use std::process::ExitCode;

use anyhow::Result;

use crate::workspace::{Usage, cargo, check_tests, root};

/// The command.
pub fn run(arguments: &[String]) -> Result<ExitCode> {
    let quick = match arguments {
        [] => false,
        [only] if only == "--quick" => true,
        _ => return Err(Usage("only --quick is known".to_owned()).into()),
    };
    let root = root()?;
    let mut test = cargo(&root);
    let profile = if quick { "quick" } else { "release" };
    test.args(["test", "--quiet", "--profile", profile, "-p", "muster-fabric", "--test", "model"]);
    test.arg("--");
    test.args(["every_order_of_messages_and_faults_is_safe_and_ends", "--exact", "--nocapture"]);
    test.env("MUSTER_MODEL", if quick { "quick" } else { "all" });
    check_tests(&mut test)?;
    Ok(ExitCode::SUCCESS)
}
