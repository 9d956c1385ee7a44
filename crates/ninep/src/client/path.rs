//! Whole jobs on files named by their path from the root of the attached tree.

use super::{Client, Fid, File};
use crate::error::{Errno, Error, Result};
use crate::record::{Attr, DirEntry};
use crate::tree::OpenFlags;
use crate::wire::Name;

/// The names in a path. Empty ones and `.` lead nowhere and are left out, and so is what a `..`
/// takes back: one server knows nothing of what is above its tree in another's.
fn names(path: &str) -> Vec<Name<'_>> {
    let mut names = Vec::new();
    for name in path.split('/') {
        match name {
            "" | "." => {}
            ".." => drop(names.pop()),
            name => names.push(name.as_bytes()),
        }
    }
    names
}

/// Every call fails with the server's refusal, the path in front; with ETIMEDOUT when the
/// deadline passes; with ECONNRESET when the connection ends.
impl Client {
    /// Goes to a file.
    ///
    /// # Errors
    /// See above.
    pub fn walk(&self, path: &str) -> Result<Fid> {
        self.root().walk(&names(path))
    }

    /// Goes to the directory of a file, and tells the file's name in it.
    fn parent<'p>(&self, path: &'p str) -> Result<(Fid, Name<'p>)> {
        let names = names(path);
        let root_itself = || Error::new(Errno::BUSY, "this is the root").at(path);
        let (name, directories) = names.split_last().ok_or_else(root_itself)?;
        Ok((self.root().walk(directories)?, name))
    }

    /// Opens a file.
    ///
    /// # Errors
    /// See above.
    pub fn open(&self, path: &str, flags: OpenFlags) -> Result<File> {
        Ok(File::new(self.root().walk_open(&names(path), flags)?))
    }

    /// Creates a file and opens it for writing; one that exists is cut to nothing.
    ///
    /// # Errors
    /// See above.
    pub fn create(&self, path: &str, mode: u32) -> Result<File> {
        let (dir, name) = self.parent(path)?;
        let flags = OpenFlags(OpenFlags::WRONLY | OpenFlags::CREATE | OpenFlags::TRUNC);
        match dir.walk(&[name]) {
            Ok(file) => {
                file.open(OpenFlags(OpenFlags::WRONLY | OpenFlags::TRUNC))?;
                Ok(File::new(file))
            }
            Err(error) if error.errno == Errno::NOENT => {
                let gid = rustix::process::getgid().as_raw();
                dir.create(name, flags, mode, gid).map_err(|error| error.at(path))?;
                Ok(File::new(dir))
            }
            Err(error) => Err(error),
        }
    }

    /// Reads a whole file.
    ///
    /// # Errors
    /// See above.
    pub fn read(&self, path: &str) -> Result<Vec<u8>> {
        self.open(path, OpenFlags::default())?.read_rest()
    }

    /// Reads a whole file that is text.
    ///
    /// # Errors
    /// See above; EILSEQ when it is not UTF-8.
    pub fn read_to_string(&self, path: &str) -> Result<String> {
        String::from_utf8(self.read(path)?)
            .map_err(|_| Error::new(Errno::ILSEQ, "not text (UTF-8)").at(path))
    }

    /// Replaces the content of a file that exists: an order to a control file, for instance.
    ///
    /// # Errors
    /// See above.
    pub fn write(&self, path: &str, data: impl AsRef<[u8]>) -> Result<()> {
        let file = self.open(path, OpenFlags(OpenFlags::WRONLY | OpenFlags::TRUNC))?;
        let data = data.as_ref();
        let written = file.fid().write_at(0, data)?;
        if written < data.len() {
            let (of, text) = (data.len(), "the server took");
            let text = format!("{text} {written} of {of} bytes");
            return Err(Error::new(Errno::IO, text).at(path));
        }
        file.into_fid().clunk()
    }

    /// Attributes of a file.
    ///
    /// # Errors
    /// See above.
    pub fn getattr(&self, path: &str) -> Result<Attr> {
        self.walk(path)?.getattr()
    }

    /// Lists a directory, without `.` and `..`.
    ///
    /// # Errors
    /// See above.
    pub fn readdir(&self, path: &str) -> Result<Vec<DirEntry>> {
        self.root().walk_open(&names(path), OpenFlags(OpenFlags::DIRECTORY))?.readdir()
    }

    /// Makes a directory.
    ///
    /// # Errors
    /// See above.
    pub fn mkdir(&self, path: &str, mode: u32) -> Result<()> {
        let (dir, name) = self.parent(path)?;
        let gid = rustix::process::getgid().as_raw();
        dir.mkdir(name, mode, gid).map(drop).map_err(|error| error.at(path))
    }

    /// Removes a file, or an empty directory.
    ///
    /// # Errors
    /// See above.
    pub fn remove(&self, path: &str) -> Result<()> {
        let (dir, name) = self.parent(path)?;
        let directory = dir.walk(&[name])?.qid().is_dir();
        dir.unlinkat(name, directory).map_err(|error| error.at(path))
    }

    /// Moves a file.
    ///
    /// # Errors
    /// See above.
    pub fn rename(&self, from: &str, to: &str) -> Result<()> {
        let (from_dir, from_name) = self.parent(from)?;
        let (to_dir, to_name) = self.parent(to)?;
        from_dir.renameat(from_name, &to_dir, to_name).map_err(|error| error.at(to))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_the_names_that_are_left_of_it() {
        for (path, left) in [
            ("/nodes/n1/0/../../n2/arch", "nodes n2 arch"),
            ("a//./b/", "a b"),
            ("/../..", ""),
            ("../a/..", ""),
            ("a/..b/...", "a ..b ..."),
        ] {
            let names = names(path).join(&b' ');
            assert_eq!(String::from_utf8_lossy(&names), left, "{path}");
        }
    }
}
