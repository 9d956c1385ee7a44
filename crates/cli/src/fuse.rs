//! The cluster tree as a file system of this machine. Stands in until branch `client` is merged,
//! whose file of this name has the same interface.

use anyhow::{Result, bail};
use muster_ninep::client::Client;
use std::path::Path;

/// How to mount.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Refuse changes.
    pub read_only: bool,
    /// Let other users in; all of them act as the user who mounted.
    pub allow_other: bool,
}

/// A mounted tree.
#[derive(Debug)]
pub struct Mounted;

/// Mounts the tree that `client` is attached to at `directory`.
pub fn mount(_client: &Client, directory: &Path, options: &Options) -> Result<Mounted> {
    let Options { read_only, allow_other } = options;
    bail!("{}: this build has no FUSE ({read_only}, {allow_other})", directory.display())
}

impl Mounted {
    /// Waits until somebody unmounts it.
    pub fn wait(self) -> Result<()> {
        Ok(())
    }
}

/// Unmounts what is mounted at `directory`; `lazy`: even while somebody uses it.
pub fn unmount(directory: &Path, lazy: bool) -> Result<()> {
    bail!("{}: this build has no FUSE ({lazy})", directory.display())
}
