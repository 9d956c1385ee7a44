//! Where the halves of a measurement meet: a folder that nobody else uses and that goes with it.

use crate::child::free_address;
use anyhow::{Context, Result};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

/// A folder of its own.
pub struct Home(PathBuf);

impl Home {
    /// A new one.
    pub fn new() -> Result<Home> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("muster-bench-{}-{number}", std::process::id());
        let home = std::env::temp_dir().join(name);
        std::fs::create_dir(&home).with_context(|| home.display().to_string())?;
        Ok(Home(home))
    }

    /// An address in it by a transport, or of loopback.
    pub fn address(&self, scheme: &str) -> Result<String> {
        match scheme {
            "tcp" | "tls" => Ok(format!("{scheme}!127.0.0.1!{}", free_address()?.port())),
            _ => Ok(format!("{scheme}!{}", self.0.join("door").display())),
        }
    }

    /// What is in it.
    pub fn entries(&self) -> Result<usize> {
        Ok(std::fs::read_dir(&self.0)?.count())
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
