//! Where the halves of a measurement meet: a folder that nobody else uses and that goes with it.

use crate::child::free_address;
use crate::folder::Folder;
use anyhow::Result;

/// A folder of its own.
pub struct Home(Folder);

impl Home {
    /// A new one.
    pub fn new() -> Result<Home> {
        Ok(Home(Folder::new(&std::env::temp_dir(), "fabric")?))
    }

    /// An address in it by a transport, or of loopback.
    pub fn address(&self, scheme: &str) -> Result<String> {
        match scheme {
            "tcp" | "tls" => Ok(format!("{scheme}!127.0.0.1!{}", free_address()?.port())),
            _ => Ok(format!("{scheme}!{}", self.0.path().join("door").display())),
        }
    }

    /// What is in it.
    pub fn entries(&self) -> Result<usize> {
        Ok(std::fs::read_dir(self.0.path())?.count())
    }
}
