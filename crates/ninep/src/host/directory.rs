//! Directories: listing them, and making, moving and removing names.
//!
//! The cookie of an entry is the kernel's own (`d_off`), so it stays good while entries come and
//! go, and for any fid that opens the directory.

use super::HostTree;
use super::file::group_to_give;
use super::node::{Form, HostFid, check_new_name};
use super::qids::Identity;
use super::user;
use crate::error::{Errno, Result, fail};
use crate::record::{DirEntry, Qid, mode};
use crate::wire::Name;
use muster_base::limits::NAME_MAX;
use rustix::fs::{AtFlags, FileType, Mode, RawDir, RenameFlags, SeekFrom};
use rustix::path::DecInt;
use std::collections::VecDeque;
use std::mem::MaybeUninit;
use std::os::fd::BorrowedFd;

/// Bytes of entries taken from the kernel at a time: some two hundred usual names.
const BATCH: usize = 8 * 1024;

/// Largest entry in the kernel's form: 19 bytes, a name and its NUL, in multiples of 8.
const LARGEST: usize = (19 + NAME_MAX + 1).next_multiple_of(8);

/// Bytes of an entry besides its name, see [`DirEntry::size`].
const NAMELESS: usize = 13 + 8 + 1 + 2;

/// How far a fid has listed its directory.
#[derive(Debug, Default)]
pub(super) struct Stream {
    /// The cookie that `ahead` begins at.
    at: u64,
    /// Entries taken from the kernel and not yet asked for.
    ahead: VecDeque<Entry>,
}

#[derive(Debug)]
struct Entry {
    inode: u64,
    next: u64,
    kind: u8,
    name: Vec<u8>,
}

impl Stream {
    /// Goes to `cookie`. The beginning is always read anew (rewinddir(3)).
    fn seek(&mut self, fd: BorrowedFd<'_>, cookie: u64) -> Result<()> {
        if cookie == 0 || cookie != self.at {
            self.ahead.clear();
            // The kernel's cookies are signed; this undoes their conversion.
            rustix::fs::seek(fd, SeekFrom::Start(cookie))?;
            self.at = cookie;
        }
        Ok(())
    }

    /// The next entry, without taking it; none at the end, and when it might not fit into `room`
    /// bytes of an answer. An entry that is the `first` of its answer is had in any case.
    fn peek(&mut self, fd: BorrowedFd<'_>, room: usize, first: bool) -> Result<Option<&Entry>> {
        if self.ahead.is_empty() {
            // An entry's size in an answer is at most 28/24 of the kernel's. So what is taken
            // from the kernel fits, and a fid keeps next to nothing from one answer to the next.
            let size = room / 6 * 5;
            if size < LARGEST && !first {
                return Ok(None);
            }
            let mut buffer = [MaybeUninit::uninit(); BATCH];
            let mut batch = RawDir::new(fd, &mut buffer[..size.clamp(LARGEST, BATCH)]);
            while let Some(entry) = batch.next() {
                let entry = entry?;
                self.ahead.push_back(Entry {
                    inode: entry.ino(),
                    next: entry.next_entry_cookie(),
                    kind: (entry.file_type().as_raw_mode() >> 12) as u8,
                    name: entry.file_name().to_bytes().to_vec(),
                });
                if batch.is_buffer_empty() {
                    break;
                }
            }
        }
        Ok(self.ahead.front())
    }

    /// Entries that wait for the next request.
    #[cfg(test)]
    pub(super) fn kept(&self) -> usize {
        self.ahead.len()
    }

    /// Takes the entry that was peeked at.
    fn advance(&mut self) -> Option<Entry> {
        let entry = self.ahead.pop_front()?;
        self.at = entry.next;
        Some(entry)
    }
}

impl HostTree {
    /// Lists names ([`crate::tree::Tree::readdir`]).
    ///
    /// # Errors
    /// EINVAL when not even one entry fits into `count`.
    pub fn readdir(
        &self,
        fid: &HostFid,
        offset: u64,
        count: usize,
        attrs: bool,
    ) -> Result<Vec<DirEntry>> {
        let node = &fid.0;
        let stream = match &node.form {
            Form::Directory(stream) => stream,
            Form::File(_) => return fail(Errno::NOTDIR, "not a directory"),
            _ => return fail(Errno::BADF, "the fid is not open"),
        };
        user::act_as(&node.user, None)?;
        let mut stream = stream.lock().expect("no holder panics");
        stream.seek(node.fd(), offset)?;
        let (mut entries, mut used) = (Vec::new(), 0);
        while let Some(next) = stream.peek(node.fd(), count - used, entries.is_empty())? {
            let size = NAMELESS + next.name.len();
            if used + size > count {
                if entries.is_empty() {
                    return fail(Errno::INVAL, "no entry fits into so few bytes");
                }
                break;
            }
            used += size;
            let entry = stream.advance().expect("it was peeked at");
            entries.push(self.describe(fid, entry, attrs));
        }
        Ok(entries)
    }

    fn describe(&self, fid: &HostFid, entry: Entry, attrs: bool) -> DirEntry {
        let node = &fid.0;
        let up = entry.name == b"..";
        let stat = if up && node.file == node.top.file {
            // What is above the root is not told.
            rustix::fs::fstat(node.fd()).ok()
        } else if attrs || entry.kind == 0 {
            // An entry that was removed meanwhile, or that may not be looked at, is listed.
            let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT;
            rustix::fs::statat(node.fd(), entry.name.as_slice(), flags).ok()
        } else {
            None
        };
        let (qid, kind) = match &stat {
            Some(stat) => (self.qids.qid(stat), ((stat.st_mode & mode::KIND) >> 12) as u8),
            // Like readdir(3), this names what a mount on the entry covers.
            None => {
                let qid = self.qids.qid_of_entry(node.file.device, entry.inode, entry.kind);
                (qid, entry.kind)
            }
        };
        let attr = stat.filter(|_| attrs).map(|stat| self.qids.attr(&stat));
        DirEntry { qid, next: entry.next, kind, name: entry.name, attr }
    }

    /// The qid of a name that was made for `gid`, with kind and permissions `mode`.
    fn made(&self, dir: &HostFid, name: Name<'_>, mode: u32, gid: u32) -> Result<Qid> {
        self.qids.changed(dir.0.file);
        if let Some(group) = group_to_give(&dir.0, gid)
            && let Ok((fd, stat)) = self.step(dir.0.fd(), name)
            && stat.st_mode & mode::KIND == mode & mode::KIND
        {
            self.give(&dir.0.beside(fd, &stat, Form::Place), group, mode);
        }
        let stat = rustix::fs::statat(dir.0.fd(), name, AtFlags::SYMLINK_NOFOLLOW)?;
        Ok(self.qids.qid(&stat))
    }

    /// Prepares to make `name` in `dir`.
    fn begin(&self, dir: &HostFid, name: Name<'_>, gid: u32) -> Result<()> {
        self.writable()?;
        check_new_name(name)?;
        self.act_to_create(&dir.0, gid)
    }

    /// Makes a directory ([`crate::tree::Tree::mkdir`]).
    ///
    /// # Errors
    /// Those of mkdir(2).
    pub fn mkdir(&self, dir: &HostFid, name: Name<'_>, mode: u32, gid: u32) -> Result<Qid> {
        self.begin(dir, name, gid)?;
        rustix::fs::mkdirat(dir.0.fd(), name, Mode::from_raw_mode(mode & 0o7777))?;
        self.made(dir, name, mode::DIR | mode & 0o7777, gid)
    }

    /// Makes a symbolic link ([`crate::tree::Tree::symlink`]).
    ///
    /// # Errors
    /// Those of symlink(2).
    pub fn symlink(&self, dir: &HostFid, name: Name<'_>, target: &[u8], gid: u32) -> Result<Qid> {
        self.begin(dir, name, gid)?;
        rustix::fs::symlinkat(target, dir.0.fd(), name)?;
        self.made(dir, name, mode::LINK, gid)
    }

    /// Makes a special file ([`crate::tree::Tree::mknod`]).
    ///
    /// # Errors
    /// Those of mknod(2).
    pub fn mknod(
        &self,
        dir: &HostFid,
        name: Name<'_>,
        mode: u32,
        device: (u32, u32),
        gid: u32,
    ) -> Result<Qid> {
        self.begin(dir, name, gid)?;
        let kind = match mode & mode::KIND {
            0 => FileType::RegularFile,
            kind => FileType::from_raw_mode(kind),
        };
        if matches!(kind, FileType::Unknown | FileType::Directory | FileType::Symlink) {
            return fail(Errno::INVAL, "not a kind that mknod makes");
        }
        let number = rustix::fs::makedev(device.0, device.1);
        rustix::fs::mknodat(dir.0.fd(), name, kind, Mode::from_raw_mode(mode & 0o7777), number)?;
        self.made(dir, name, kind.as_raw_mode() | mode & 0o7777, gid)
    }

    /// Gives a file another name ([`crate::tree::Tree::link`]).
    ///
    /// # Errors
    /// Those of link(2).
    pub fn link(&self, dir: &HostFid, fid: &HostFid, name: Name<'_>) -> Result<()> {
        self.writable()?;
        check_new_name(name)?;
        user::act_as(&dir.0.user, None)?;
        // Through the door, as AT_EMPTY_PATH needs a capability. It ends at the file itself:
        // a symbolic link is not followed further.
        let (from, flags) = (DecInt::from_fd(fid.0.fd()), AtFlags::SYMLINK_FOLLOW);
        rustix::fs::linkat(&self.descriptors, from, dir.0.fd(), name, flags)?;
        self.qids.changed(dir.0.file);
        Ok(())
    }

    /// What a symbolic link says ([`crate::tree::Tree::readlink`]).
    ///
    /// # Errors
    /// EINVAL when it is none.
    pub fn readlink(&self, fid: &HostFid) -> Result<Vec<u8>> {
        if fid.0.kind != mode::LINK {
            return fail(Errno::INVAL, "not a symbolic link");
        }
        Ok(rustix::fs::readlinkat(fid.0.fd(), "", Vec::new())?.into_bytes())
    }

    /// Removes the file a fid stands for ([`crate::tree::Tree::remove`]).
    ///
    /// # Errors
    /// ENOENT when its name is gone, and those of unlink(2) and rmdir(2).
    pub fn remove(&self, fid: &HostFid) -> Result<()> {
        self.writable()?;
        user::act_as(&fid.0.user, None)?;
        let (dir, name) = self.find(&fid.0)?;
        rustix::fs::unlinkat(&dir, name, removal(fid.0.kind == mode::DIR))?;
        self.qids.changed(Identity::of(&rustix::fs::fstat(&dir)?));
        Ok(())
    }

    /// Removes a name ([`crate::tree::Tree::unlinkat`]).
    ///
    /// # Errors
    /// Those of unlink(2) and rmdir(2).
    pub fn unlinkat(&self, dir: &HostFid, name: Name<'_>, directory: bool) -> Result<()> {
        self.writable()?;
        check_new_name(name)?;
        user::act_as(&dir.0.user, None)?;
        rustix::fs::unlinkat(dir.0.fd(), name, removal(directory))?;
        self.qids.changed(dir.0.file);
        Ok(())
    }

    /// Moves the file a fid stands for ([`crate::tree::Tree::rename`]).
    ///
    /// # Errors
    /// ENOENT when its name is gone, and those of rename(2).
    pub fn rename(
        &self,
        fid: &HostFid,
        dir: Option<&HostFid>,
        name: Name<'_>,
        replace: bool,
    ) -> Result<()> {
        self.writable()?;
        check_new_name(name)?;
        user::act_as(&fid.0.user, None)?;
        let (from, old) = self.find(&fid.0)?;
        let flags = if replace { RenameFlags::empty() } else { RenameFlags::NOREPLACE };
        match dir {
            Some(dir) => {
                rustix::fs::renameat_with(&from, old, dir.0.fd(), name, flags)?;
                self.qids.changed(dir.0.file);
            }
            // It is in nobody's way but its own.
            None if old == name => {}
            None => rustix::fs::renameat_with(&from, old, &from, name, flags)?,
        }
        self.qids.changed(Identity::of(&rustix::fs::fstat(&from)?));
        Ok(())
    }

    /// Moves a name ([`crate::tree::Tree::renameat`]).
    ///
    /// # Errors
    /// Those of rename(2).
    pub fn renameat(&self, from: (&HostFid, Name<'_>), to: (&HostFid, Name<'_>)) -> Result<()> {
        self.writable()?;
        check_new_name(from.1)?;
        check_new_name(to.1)?;
        user::act_as(&from.0.0.user, None)?;
        let (old, new) = (from.0.0.fd(), to.0.0.fd());
        rustix::fs::renameat_with(old, from.1, new, to.1, RenameFlags::empty())?;
        self.qids.changed(from.0.0.file);
        self.qids.changed(to.0.0.file);
        Ok(())
    }
}

fn removal(directory: bool) -> AtFlags {
    if directory { AtFlags::REMOVEDIR } else { AtFlags::empty() }
}
