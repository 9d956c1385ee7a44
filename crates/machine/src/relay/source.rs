//! A stream of what a session holds already.

use super::pack::Load;
use muster_ninep::error::{Errno, Error, Result};
use std::path::Path;

/// The `argv`, `env` and everything in the `fs/` directory of a session.
///
/// # Errors
/// When a file cannot be sent.
pub fn of(directory: &Path, argv: &str, env: &str) -> Result<Load> {
    let mut load = Load::new();
    load.argv(argv);
    load.env(env);
    load.add_contents(directory).map_err(|error| Error::new(Errno::IO, error.to_string()))?;
    Ok(load)
}
