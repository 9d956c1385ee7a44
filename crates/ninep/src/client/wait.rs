//! The requests about a file as calls that wait for their answer.

use super::Fid;
use super::fid::{Walked, below};
use super::link::Cancel;
use crate::call::{HeldLock, LockStatus};
use crate::error::{Errno, Error, Result};
use crate::record::{Attr, DirEntry, LockRange, Qid, SetAttr, Statfs};
use crate::tree::OpenFlags;
use crate::version::Version;
use crate::wire::Name;
use muster_base::limits::WALK_MAX;

/// What the hub calls with an answer.
type Told<T> = Box<dyn FnOnce(Result<T>) + Send>;

/// Every call fails with the server's refusal, the file's path in front; with ETIMEDOUT when the
/// deadline passes; with ECONNRESET when the connection ends.
impl Fid {
    /// Waits for an answer that should come at once.
    fn now<T: Send + 'static>(
        &self,
        what: &str,
        start: impl FnOnce(Told<T>) -> Cancel,
    ) -> Result<T> {
        self.client().wait((what, &self.path()), self.client().patience.control, start)
    }

    /// Waits for an answer that may depend on somebody else.
    fn sometime<T: Send + 'static>(
        &self,
        what: &str,
        start: impl FnOnce(Told<T>) -> Cancel,
    ) -> Result<T> {
        self.client().wait((what, &self.path()), self.client().patience.data, start)
    }

    /// Goes down `names`, however many; none clones the fid.
    ///
    /// # Errors
    /// ENOENT that names the first name which does not exist; why the first name does not lead on.
    pub fn walk(&self, names: &[Name<'_>]) -> Result<Fid> {
        let mut at = self.clone();
        let mut rest = names;
        loop {
            let (now, later) = rest.split_at(self.fitting(rest.iter()));
            at = at.step("walk", now, |then| at.walk_then(now, then))?;
            rest = later;
            if rest.is_empty() {
                return Ok(at);
            }
        }
    }

    /// Goes down `names`, however many, and opens what is there.
    ///
    /// # Errors
    /// As [`Fid::walk`].
    pub fn walk_open(&self, names: &[Name<'_>], flags: OpenFlags) -> Result<Fid> {
        if self.client().version() != Version::MUSTER {
            let fid = self.walk(names)?;
            fid.open(flags)?;
            return Ok(fid);
        }
        let (before, last) = names.split_at(names.len() - self.fitting(names.iter().rev()));
        let from = if before.is_empty() { self.clone() } else { self.walk(before)? };
        from.step("open", last, |then| from.walk_open_then(last, flags, then))
    }

    /// How many of some names one message takes: one at least, which is refused if it is too long.
    fn fitting<'a>(&self, names: impl Iterator<Item = &'a Name<'a>>) -> usize {
        let mut room = self.client().max_data() as usize;
        let mut is_first = true;
        let fits = |name: &&Name<'_>| {
            room = room.saturating_sub(2 + name.len());
            std::mem::take(&mut is_first) || room > 0
        };
        names.take(WALK_MAX).take_while(fits).count()
    }

    /// Waits for a walk of a few names.
    fn step(
        &self,
        what: &str,
        names: &[Name<'_>],
        start: impl FnOnce(Told<Walked>) -> Cancel,
    ) -> Result<Fid> {
        let here = below(&self.path(), names);
        let limit = self.client().patience.control;
        let (found, fid) = self.client().wait((what, &here), limit, start)?;
        fid.ok_or_else(|| self.end_of_walk(names, found.len()))
    }

    /// Why a walk of names ended when so many were found. Servers only say so of a first name
    /// (walk(5)), so it is walked to alone.
    fn end_of_walk(&self, names: &[Name<'_>], found: usize) -> Error {
        let limit = self.client().patience.control;
        let mut at = self.clone();
        for names in [&names[..found], &names[found..names.len().min(found + 1)]] {
            if names.is_empty() {
                break;
            }
            let here = below(&at.path(), names);
            let walked = self
                .client()
                .wait(("walk", &here), limit, |then: Told<Walked>| at.walk_then(names, then));
            match walked {
                Ok((_, Some(fid))) => at = fid,
                Err(error) if error.errno != Errno::NOENT => return error,
                // Or it is somewhere else by now.
                _ => break,
            }
        }
        Error::from(Errno::NOENT).at(below(&self.path(), &names[..names.len().min(found + 1)]))
    }

    /// Opens the file.
    ///
    /// # Errors
    /// See above.
    pub fn open(&self, flags: OpenFlags) -> Result<Qid> {
        // An open may wait, as that of a pipe does.
        self.now("open", |then| self.open_then(flags, |answer| then(answer.map(|(qid, _)| qid))))
    }

    /// Creates and opens a file in this directory; the fid becomes it.
    ///
    /// # Errors
    /// See above.
    pub fn create(&self, name: Name<'_>, flags: OpenFlags, mode: u32, gid: u32) -> Result<Qid> {
        self.now("create", |then| {
            self.create_then(name, flags, mode, gid, |answer| then(answer.map(|(qid, _)| qid)))
        })
    }

    /// Reads once; no bytes means the end.
    ///
    /// # Errors
    /// See above.
    pub fn read_at(&self, offset: u64, count: u32) -> Result<Vec<u8>> {
        self.sometime("read", |then| {
            self.read_then(offset, count, |answer| then(answer.map(<[u8]>::to_vec)))
        })
    }

    /// Writes all of `data`, in several requests if one cannot carry it. Returns what was
    /// written, which is less when the server takes less.
    ///
    /// # Errors
    /// See above.
    pub fn write_at(&self, offset: u64, data: &[u8]) -> Result<usize> {
        let mut written = 0;
        loop {
            let (at, rest) = (offset + written as u64, &data[written..]);
            let count = self.sometime("write", |then| self.write_then(at, rest, then))? as usize;
            written += count;
            // Also after an empty write, which control files may understand.
            if written == data.len() || count < rest.len().min(self.max_data() as usize) {
                return Ok(written);
            }
        }
    }

    /// Lists an opened directory, without `.` and `..`.
    ///
    /// # Errors
    /// See above.
    pub fn readdir(&self) -> Result<Vec<DirEntry>> {
        let mut all = Vec::new();
        let mut offset = 0;
        loop {
            let some = self.now("listing", |then| self.readdir_then(offset, u32::MAX, then))?;
            let Some(last) = some.last() else { return Ok(all) };
            if last.next == offset {
                let text = format!("{}: the server lists the same names again", self.path());
                return Err(Error::new(Errno::IO, text));
            }
            offset = last.next;
            all.extend(some.into_iter().filter(|entry| !matches!(&entry.name[..], b"." | b"..")));
        }
    }

    /// The attributes.
    ///
    /// # Errors
    /// See above.
    pub fn getattr(&self) -> Result<Attr> {
        self.now("getattr", |then| self.getattr_then(then))
    }

    /// Changes attributes.
    ///
    /// # Errors
    /// See above.
    pub fn setattr(&self, attr: &SetAttr) -> Result<()> {
        self.now("setattr", |then| self.setattr_then(attr, then))
    }

    /// Cuts or extends the file.
    ///
    /// # Errors
    /// See above.
    pub fn set_len(&self, size: u64) -> Result<()> {
        self.setattr(&SetAttr { valid: SetAttr::SIZE, size, ..SetAttr::default() })
    }

    /// Removes the file; the fid and its clones are of no use afterwards.
    ///
    /// # Errors
    /// See above.
    pub fn remove(self) -> Result<()> {
        self.now("remove", |then| self.remove_then(then))
    }

    /// Clunks the fid and waits for what that leads to.
    ///
    /// # Errors
    /// See above.
    pub fn clunk(self) -> Result<()> {
        self.now("clunk", |then| self.clunk_then(then))
    }

    /// Moves the file into `dir` under a new name.
    ///
    /// # Errors
    /// See above.
    pub fn rename(&self, dir: &Fid, name: Name<'_>) -> Result<()> {
        self.now("rename", |then| self.rename_then(dir, name, then))
    }

    /// Moves a name of this directory to another, or into another directory.
    ///
    /// # Errors
    /// See above.
    pub fn renameat(&self, name: Name<'_>, to: &Fid, new_name: Name<'_>) -> Result<()> {
        self.now("rename", |then| self.renameat_then(name, to, new_name, then))
    }

    /// Removes a name from this directory; `directory`: it must be an empty directory.
    ///
    /// # Errors
    /// See above.
    pub fn unlinkat(&self, name: Name<'_>, directory: bool) -> Result<()> {
        self.now("unlink", |then| self.unlinkat_then(name, directory, then))
    }

    /// Makes a directory in this one.
    ///
    /// # Errors
    /// See above.
    pub fn mkdir(&self, name: Name<'_>, mode: u32, gid: u32) -> Result<Qid> {
        self.now("mkdir", |then| self.mkdir_then(name, mode, gid, then))
    }

    /// Makes a symbolic link in this directory.
    ///
    /// # Errors
    /// See above.
    pub fn symlink(&self, name: Name<'_>, target: &[u8], gid: u32) -> Result<Qid> {
        self.now("symlink", |then| self.symlink_then(name, target, gid, then))
    }

    /// Gives `file` another name in this directory.
    ///
    /// # Errors
    /// See above.
    pub fn link(&self, file: &Fid, name: Name<'_>) -> Result<()> {
        self.now("link", |then| self.link_then(file, name, then))
    }

    /// What a symbolic link says.
    ///
    /// # Errors
    /// See above.
    pub fn readlink(&self) -> Result<Vec<u8>> {
        self.now("readlink", |then| self.readlink_then(then))
    }

    /// Totals of the file system.
    ///
    /// # Errors
    /// See above.
    pub fn statfs(&self) -> Result<Statfs> {
        self.now("statfs", |then| self.statfs_then(then))
    }

    /// Brings content to stable storage.
    ///
    /// # Errors
    /// See above.
    pub fn fsync(&self) -> Result<()> {
        self.sometime("fsync", |then| self.fsync_then(false, then))
    }

    /// Locks or unlocks a range; `block`: waits until the lock is had.
    ///
    /// # Errors
    /// See above.
    pub fn lock(&self, range: &LockRange<'_>, block: bool) -> Result<LockStatus> {
        self.sometime("lock", |then| self.lock_then(range, block, then))
    }

    /// Who holds a range.
    ///
    /// # Errors
    /// See above.
    pub fn getlock(&self, range: &LockRange<'_>) -> Result<HeldLock> {
        self.now("getlock", |then| self.getlock_then(range, then))
    }

    /// Reads an extended attribute, or with an empty name the list of all.
    ///
    /// # Errors
    /// See above; E2BIG when it is larger than any may be.
    pub fn getxattr(&self, name: Name<'_>) -> Result<Vec<u8>> {
        let (fid, size) = self.now("getxattr", |then| self.xattrwalk_then(name, then))?;
        if size > muster_base::limits::XATTR_MAX as u64 {
            return Err(Error::from(Errno::TOOBIG).at(self.path()));
        }
        let mut value = Vec::with_capacity(size as usize);
        while (value.len() as u64) < size {
            let left = size as u32 - value.len() as u32;
            let part = fid.read_at(value.len() as u64, left)?;
            if part.is_empty() {
                break;
            }
            value.extend_from_slice(&part);
        }
        Ok(value)
    }

    /// Sets an extended attribute; `flags` as in setxattr(2).
    ///
    /// # Errors
    /// See above.
    pub fn setxattr(&self, name: Name<'_>, value: &[u8], flags: u32) -> Result<()> {
        let fid = self.walk(&[])?;
        let size = value.len() as u64;
        self.now("setxattr", |then| fid.xattrcreate_then(name, size, flags, then))?;
        fid.write_at(0, value)?;
        fid.clunk()
    }
}
