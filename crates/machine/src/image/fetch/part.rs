//! `FILE.part/`: what there is of a file that is being fetched.

use super::{Error, Result, local};
use rustix::fs::FlockOperation;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

/// Locked by the fetch whose directory it is.
const LOCK: &str = "lock";

/// The directory, which is ours while this is there.
pub(super) struct Part {
    pub(super) path: PathBuf,
    _lock: File,
}

impl Part {
    /// That of a file.
    pub(super) fn of(file: &Path) -> Result<Part> {
        let mut path = file.as_os_str().to_owned();
        path.push(".part");
        let path = PathBuf::from(path);
        let made = fs::DirBuilder::new().mode(0o700).create(&path);
        if let Err(error) = made
            && error.kind() != io::ErrorKind::AlreadyExists
        {
            return Err(local(&path, error));
        }
        let name = path.join(LOCK);
        let lock = File::options().write(true).create(true).truncate(false).open(&name);
        let lock = lock.map_err(|error| local(&name, error))?;
        let is_locked = rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok();
        // One that is just done removes what we locked.
        let inode = |meta: io::Result<fs::Metadata>| meta.map(|meta| meta.ino()).ok();
        if !is_locked || inode(lock.metadata()) != inode(fs::symlink_metadata(&name)) {
            return Err(Error::Local { path, why: "another fetch is writing it".into() });
        }
        Ok(Part { path, _lock: lock })
    }

    /// Removes what is there of another image.
    pub(super) fn tidy(&self, but: &str) {
        for entry in fs::read_dir(&self.path).into_iter().flatten().flatten() {
            if entry.file_name() != but && entry.file_name() != LOCK {
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    /// Removes it, when the file has its name.
    pub(super) fn remove(&self) {
        let _ = fs::remove_file(self.path.join(LOCK));
        let _ = fs::remove_dir(&self.path);
    }
}
