//! A directory whose names do not change.

use muster_ninep::error::Result;
use muster_ninep::synthetic::{Dir, Entry, Inode};

/// What is in it.
pub type Named = Vec<(&'static str, Entry)>;

/// What has this name.
pub fn find(files: &Named, name: &str) -> Option<Entry> {
    files.iter().find(|(own, _)| *own == name).map(|(_, entry)| entry.clone())
}

/// All names.
pub fn names(files: &Named) -> impl Iterator<Item = String> {
    files.iter().map(|(name, _)| (*name).to_owned())
}

/// The directory.
pub struct Fixed {
    /// Who it is.
    pub inode: Inode,
    /// What is in it.
    pub files: Named,
}

impl Dir for Fixed {
    fn inode(&self) -> &Inode {
        &self.inode
    }

    fn get(&self, name: &str) -> Result<Option<Entry>> {
        Ok(find(&self.files, name))
    }

    fn list(&self) -> Vec<String> {
        names(&self.files).collect()
    }
}
