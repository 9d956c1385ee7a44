//! Attributes of files and totals of file systems.

use super::HostTree;
use super::node::{Form, HostFid, Node};
use super::user;
use crate::error::{Errno, Result, fail};
use crate::record::{Attr, SetAttr, Statfs, Time, mode};
use rustix::fs::{AtFlags, Gid, Mode, OFlags, Timespec, Timestamps, UTIME_NOW, UTIME_OMIT, Uid};
use rustix::path::DecInt;

/// Set-group-ID, which the kernel clears for those who are not in the file's group.
const SETGID: u32 = 0o2000;

impl HostTree {
    /// Attributes ([`crate::tree::Tree::getattr`]).
    ///
    /// # Errors
    /// Those of fstat(2).
    pub fn getattr(&self, fid: &HostFid) -> Result<Attr> {
        Ok(self.qids.attr(&rustix::fs::fstat(fid.0.fd())?))
    }

    /// Changes attributes ([`crate::tree::Tree::setattr`]): owner, permissions, size, times, in
    /// that order, as the kernel does within one call.
    ///
    /// # Errors
    /// Those of chown(2), chmod(2), truncate(2) and utimensat(2).
    pub fn setattr(&self, fid: &HostFid, attr: &SetAttr) -> Result<()> {
        self.writable()?;
        let node = &fid.0;
        user::act_as(&node.user, self.group_for(node, attr)?)?;
        if attr.has(SetAttr::UID | SetAttr::GID) {
            let user = (attr.has(SetAttr::UID) && attr.uid != u32::MAX).then_some(attr.uid);
            let group = (attr.has(SetAttr::GID) && attr.gid != u32::MAX).then_some(attr.gid);
            change_owner(node, user, group)?;
        }
        if attr.has(SetAttr::MODE) {
            self.change_mode(node, attr.mode)?;
        }
        if attr.has(SetAttr::SIZE) {
            self.truncate(node, attr.size)?;
        }
        change_times(node, attr)?;
        if attr.valid == SetAttr::CTIME {
            // All that chown(2) with neither owner nor group changes.
            change_owner(node, None, None)?;
        }
        Ok(())
    }

    /// The group to act with. A root peer has judged by its own process's groups, which 9P does
    /// not carry: so the group that it hands the file to, or that a set-group-ID bit is for.
    fn group_for(&self, node: &Node, attr: &SetAttr) -> Result<Option<u32>> {
        if !node.user.any_group() {
            return Ok(None);
        }
        if attr.has(SetAttr::GID) {
            return Ok(Some(attr.gid));
        }
        if attr.has(SetAttr::MODE) && attr.mode & SETGID != 0 {
            return Ok(Some(rustix::fs::fstat(node.fd())?.st_gid));
        }
        Ok(None)
    }

    fn change_mode(&self, node: &Node, mode: u32) -> Result<()> {
        if node.kind == mode::LINK {
            return fail(Errno::OPNOTSUPP, "a symbolic link has no permissions of its own");
        }
        let mode = Mode::from_raw_mode(mode & 0o7777);
        // Through the door: fchmod refuses O_PATH descriptors.
        let name = DecInt::from_fd(node.fd());
        Ok(rustix::fs::chmodat(&self.descriptors, name, mode, AtFlags::empty())?)
    }

    fn truncate(&self, node: &Node, size: u64) -> Result<()> {
        match node.kind {
            mode::FILE => {}
            mode::DIR => return fail(Errno::ISDIR, "is a directory"),
            _ => return fail(Errno::INVAL, "only regular files have a size to set"),
        }
        if size > self.size_max {
            return fail(Errno::FBIG, "larger than the server's limit for files");
        }
        // The right to write of the fid's own open file comes first, as for ftruncate(2).
        let open = matches!(node.form, Form::File(_));
        let cut = if open { rustix::fs::ftruncate(node.fd(), size) } else { Err(Errno::INVAL) };
        if cut.is_err() {
            let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::NOCTTY;
            let fd = self.reopen(node, flags)?;
            rustix::fs::ftruncate(&fd, size)?;
        }
        self.qids.changed(node.file);
        Ok(())
    }

    /// Totals of the file system ([`crate::tree::Tree::statfs`]).
    ///
    /// # Errors
    /// Those of statfs(2).
    #[allow(clippy::unnecessary_cast, reason = "the widths differ between architectures")]
    pub fn statfs(&self, fid: &HostFid) -> Result<Statfs> {
        let totals = rustix::fs::fstatfs(fid.0.fd())?;
        let named = rustix::fs::fstatvfs(fid.0.fd())?;
        Ok(Statfs {
            kind: totals.f_type as u32,
            bsize: totals.f_bsize as u32,
            blocks: totals.f_blocks as u64,
            bfree: totals.f_bfree as u64,
            bavail: totals.f_bavail as u64,
            files: totals.f_files as u64,
            ffree: totals.f_ffree as u64,
            fsid: named.f_fsid as u64,
            namelen: totals.f_namelen as u32,
        })
    }
}

fn change_owner(node: &Node, user: Option<u32>, group: Option<u32>) -> Result<()> {
    let (user, group) = (user.map(Uid::from_raw), group.map(Gid::from_raw));
    Ok(rustix::fs::chownat(node.fd(), "", user, group, AtFlags::EMPTY_PATH)?)
}

fn change_times(node: &Node, attr: &SetAttr) -> Result<()> {
    let time = |set: u32, given: u32, time: &Time| match (attr.has(set), attr.has(given)) {
        (false, _) => Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT },
        (true, false) => Timespec { tv_sec: 0, tv_nsec: UTIME_NOW },
        (true, true) => Timespec { tv_sec: time.sec as i64, tv_nsec: time.nsec as i64 },
    };
    // A new size has set the time already, with the right to write alone; saying so once more
    // would take the owner's right.
    let cut = attr.has(SetAttr::SIZE) && !attr.has(SetAttr::MTIME_SET);
    let mtime = if cut { 0 } else { SetAttr::MTIME };
    if !attr.has(SetAttr::ATIME | mtime) {
        return Ok(());
    }
    if attr.has(SetAttr::ATIME_SET) && attr.atime.nsec > 999_999_999
        || attr.has(SetAttr::MTIME_SET) && attr.mtime.nsec > 999_999_999
    {
        // The kernel's own words for now and not at all are not for the wire.
        return fail(Errno::INVAL, "more nanoseconds than a second has");
    }
    let times = Timestamps {
        last_access: time(SetAttr::ATIME, SetAttr::ATIME_SET, &attr.atime),
        last_modification: time(mtime, SetAttr::MTIME_SET, &attr.mtime),
    };
    Ok(rustix::fs::utimensat(node.fd(), "", &times, AtFlags::EMPTY_PATH)?)
}
