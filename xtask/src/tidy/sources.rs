//! The files that the rules look at.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use crate::workspace;

/// A text file of the checkout.
pub struct Source {
    /// Its path from the root, with slashes.
    pub path: String,
    /// What it holds.
    pub text: String,
}

impl Source {
    /// What follows the last dot of the name; empty for `.ci/run`.
    pub fn extension(&self) -> &str {
        Path::new(&self.path).extension().and_then(|text| text.to_str()).unwrap_or("")
    }

    /// Whether it is Rust.
    pub fn is_rust(&self) -> bool {
        self.extension() == "rs"
    }

    /// Whether it is a program text, to which the limits on size apply.
    pub fn is_code(&self) -> bool {
        const CODE: [&str; 14] = [
            "rs", "c", "h", "cc", "cpp", "hpp", "cu", "cuh", "sh", "go", "py", "ts", "css", "html",
        ];
        CODE.contains(&self.extension()) || self.text.starts_with("#!")
    }

    /// Whether a tool wrote it.
    pub fn is_lock(&self) -> bool {
        let name = self.path.rsplit('/').next().unwrap_or("");
        ["Cargo.lock", "package-lock.json", "go.sum"].contains(&name)
    }

    /// Whether `cargo xtask header` wrote it, from tables that people read instead.
    pub fn is_made(&self) -> bool {
        self.path == "include/mpi.h" || self.path == "include/mpif.h"
    }

    /// Its lines, numbered from 1.
    pub fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.lines().enumerate().map(|(at, line)| (at + 1, line))
    }
}

/// All text files, and where they were found.
pub struct Sources {
    /// The files, in git's order.
    pub files: Vec<Source>,
    /// Absolute paths that belong to this machine: those of this checkout and its repository.
    pub machine_paths: Vec<String>,
}

impl Sources {
    /// Reads what git tracks, and what it would track, in the checkout at `root`.
    pub fn read(root: &Path) -> Result<Sources> {
        let git = |arguments: &[&str]| {
            workspace::output(Command::new("git").current_dir(root).args(arguments))
        };
        let listing = git(&["ls-files", "-z", "--cached", "--others", "--exclude-standard"])?;
        let mut files = Vec::new();
        for path in listing.split('\0').filter(|path| !path.is_empty()) {
            let full = root.join(path);
            // Deleted but not yet staged, a link, or a corpus file: not for these rules.
            if !full.symlink_metadata().is_ok_and(|data| data.is_file()) {
                continue;
            }
            if let Ok(text) = String::from_utf8(std::fs::read(&full)?)
                && !text.contains('\0')
            {
                files.push(Source { path: path.to_owned(), text });
            }
        }
        let common = PathBuf::from(git(&["rev-parse", "--git-common-dir"])?.trim());
        let common = root.join(common).canonicalize()?;
        let roots = [root.canonicalize()?, common.parent().unwrap_or(root).to_path_buf()];
        // A path such as `/repo` is a word that documents may use.
        let telling = roots.iter().filter(|path| path.components().count() > 2);
        let mut machine_paths: Vec<_> = telling.map(|path| path.display().to_string()).collect();
        machine_paths.dedup();
        Ok(Sources { files, machine_paths })
    }

    /// The file at a path.
    pub fn get(&self, path: &str) -> Option<&Source> {
        self.files.iter().find(|file| file.path == path)
    }

    /// The Rust files.
    pub fn rust(&self) -> impl Iterator<Item = &Source> {
        self.files.iter().filter(|file| file.is_rust())
    }

    /// Files for a test.
    #[cfg(test)]
    pub fn made_up(files: &[(&str, &str)]) -> Sources {
        let source = |(path, text): &(&str, &str)| Source {
            path: (*path).to_owned(),
            text: (*text).to_owned(),
        };
        let machine_paths = vec!["/some/checkout".to_owned()];
        Sources { files: files.iter().map(source).collect(), machine_paths }
    }
}
