//! Directories of tests.

use std::fs;
use std::ops::Deref;
use std::path::{Path, PathBuf};

/// A directory of a test, which goes with it, also when it fails.
#[derive(Debug)]
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub(crate) fn new(name: &str) -> Scratch {
        let path = std::env::temp_dir().join(format!("muster-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Scratch(path)
    }

    /// Makes a file in it.
    pub(crate) fn file(&self, name: &str, content: &[u8]) -> PathBuf {
        let path = self.join(name);
        fs::write(&path, content).unwrap();
        path
    }
}

impl Deref for Scratch {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
