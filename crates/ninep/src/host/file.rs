//! Content: open, create, read, write, sync.

use super::directory::Stream;
use super::node::{CONFINED, Form, HostFid, Node, OpenFile};
use super::node::{check_new_name, open_flags, synchronous};
use super::pool::{self, Reservation};
use super::user;
use super::{HostTree, xattr};
use crate::call::{Answer, Call, Data, Mapping, Opened};
use crate::error::{Errno, Error, Result, fail};
use crate::record::{SetAttr, mode};
use crate::sys::KeptWindow;
use crate::tree::OpenFlags;
use crate::wire::Name;
use rustix::fs::{Mode, OFlags, Stat};
use rustix::io::ReadWriteFlags;
use std::io::IoSliceMut;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::Mutex;
use std::sync::atomic::Ordering;

/// File systems that are memory, by `f_type`: tmpfs, ramfs.
const MEMORY: [u32; 2] = [0x0102_1994, 0x8584_58f6];

impl HostTree {
    /// Opens a file or directory ([`crate::tree::Tree::open`]).
    ///
    /// # Errors
    /// Those of open(2); EOPNOTSUPP for devices, pipes and sockets, whoever asks.
    pub fn open(&self, fid: &HostFid, flags: OpenFlags) -> Result<Opened<HostFid>> {
        let node = &fid.0;
        if !matches!(node.form, Form::Place) {
            return fail(Errno::BADF, "the fid is open already");
        }
        let changes = flags.writes() || flags.has(OpenFlags::TRUNC);
        let native = open_flags(flags)?;
        // The kind of a file never changes, and the descriptor names this file whatever happens
        // to its name: the check holds for what is opened.
        match node.kind {
            mode::FILE if flags.has(OpenFlags::DIRECTORY) => {
                return fail(Errno::NOTDIR, "not a directory");
            }
            mode::FILE => {}
            mode::DIR if changes => return fail(Errno::ISDIR, "is a directory"),
            mode::DIR => {}
            mode::LINK => return fail(Errno::LOOP, "a symbolic link cannot be opened"),
            _ => return fail(Errno::OPNOTSUPP, "devices, pipes and sockets are the client's"),
        }
        if changes {
            self.writable()?;
        }
        user::act_as(&node.user, None)?;
        let fd = self.reopen(node, native)?;
        if flags.has(OpenFlags::TRUNC) {
            self.qids.changed(node.file);
        }
        self.opened(fd, node, flags)
    }

    /// Creates a file and opens it ([`crate::tree::Tree::create`]).
    ///
    /// # Errors
    /// Those of open(2).
    pub fn create(
        &self,
        dir: &HostFid,
        name: Name<'_>,
        flags: OpenFlags,
        mode: u32,
        gid: u32,
    ) -> Result<Opened<HostFid>> {
        self.writable()?;
        check_new_name(name)?;
        let native = open_flags(OpenFlags(flags.0 & !OpenFlags::TRUNC))?;
        // Always exclusive: without that, an existing device would be opened.
        let native = native | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW;
        let permissions = Mode::from_raw_mode(mode & 0o7777);
        for _ in 0..16 {
            self.act_to_create(&dir.0, gid)?;
            match rustix::fs::openat2(dir.0.fd(), name, native, permissions, CONFINED) {
                Ok(fd) => {
                    self.qids.changed(dir.0.file);
                    let made = self.opened(fd, &dir.0, flags)?;
                    if let Some(group) = group_to_give(&dir.0, gid) {
                        self.give(&made.fid, group, mode);
                    }
                    return Ok(made);
                }
                Err(Errno::EXIST) if !flags.has(OpenFlags::EXCL) => {}
                Err(errno) => return Err(errno.into()),
            }
            let (fd, stat) = match self.step(dir.0.fd(), name) {
                // Removed again meanwhile.
                Err(error) if error.errno == Errno::NOENT => continue,
                found => found?,
            };
            let existing = dir.0.beside(fd, &stat, Form::Place);
            if existing.0.kind == mode::DIR {
                return fail(Errno::ISDIR, "is a directory");
            }
            return self.open(&existing, flags);
        }
        fail(Errno::AGAIN, "the file is made and removed again and again")
    }

    /// Takes on the identity with which a name is made in `dir`.
    pub(super) fn act_to_create(&self, dir: &Node, gid: u32) -> Result<()> {
        user::act_as(&dir.user, Some(gid))?;
        user::drop_umask();
        Ok(())
    }

    /// Gives what was made with `mode` to a group. What does not succeed remains as the kernel has
    /// made it: it is there, and an error would say that it is not.
    pub(super) fn give(&self, made: &HostFid, group: u32, mode: u32) {
        let gid = SetAttr { valid: SetAttr::GID, gid: group, ..SetAttr::default() };
        // Who gives a file away loses these.
        let loses = made.0.kind == mode::FILE && mode & 0o6000 != 0;
        let again = if loses { SetAttr::MODE } else { 0 };
        let _ = self.setattr(made, &SetAttr { valid: gid.valid | again, mode, ..gid });
    }

    fn opened(&self, fd: OwnedFd, from: &Node, flags: OpenFlags) -> Result<Opened<HostFid>> {
        let stat: Stat = rustix::fs::fstat(&fd)?;
        let form = match stat.st_mode & mode::KIND {
            mode::DIR => Form::Directory(Mutex::new(Stream::default())),
            _ => Form::File(OpenFile {
                synchronous: synchronous(flags),
                append: flags.has(OpenFlags::APPEND),
                own: from.user.uid == 0 || from.user.uid == stat.st_uid,
                ..OpenFile::default()
            }),
        };
        Ok(Opened { fid: from.beside(fd, &stat, form), qid: self.qids.qid(&stat), iounit: 0 })
    }

    /// Reads content ([`crate::tree::Tree::read`]): now what is in memory, else on a worker.
    ///
    /// # Errors
    /// Those of pread(2).
    pub fn read<F: Send + 'static>(
        &self,
        call: &mut Call<'_, F>,
        fid: &HostFid,
        offset: u64,
        count: usize,
    ) -> Answer<Data> {
        let node = &fid.0;
        if let Form::Value(value) = &node.form {
            return Ok(Data::Bytes(xattr::read(node, value, offset, count)?));
        }
        let file = node.open_file()?;
        if offset.checked_add(count as u64).is_none_or(|end| end > i64::MAX as u64) {
            // Not left to the kernel: to preadv2, the largest offset means "where you are".
            return fail(Errno::INVAL, "behind the end of the largest file");
        }
        if file.own
            && call.may_map()
            && let Some(mapping) = map(node, &file.window, offset, count)
        {
            return Ok(Data::Mapped(mapping));
        }
        let mut cold = false;
        if !file.in_memory.load(Ordering::Relaxed) {
            let filled = call.fill(count, |to| {
                let got = read_cached(node.fd(), to, offset);
                cold = matches!(got, Err(Errno::AGAIN));
                Ok(got?)
            });
            if !cold {
                match filled {
                    Err(crate::call::Pause::Refused(e)) if e.errno == Errno::OPNOTSUPP => {}
                    filled => return filled,
                }
                // The file system cannot tell. One that is memory never waits for a disk.
                let kind = rustix::fs::fstatfs(node.fd())?.f_type as u32;
                file.in_memory.store(MEMORY.contains(&kind), Ordering::Relaxed);
            }
        }
        let room =
            if file.in_memory.load(Ordering::Relaxed) { None } else { Reservation::take(count) };
        let Some(room) = room else {
            return call.fill(count, |to| read_all(node.fd(), to, offset));
        };
        let node = node.clone();
        call.brings(count)?;
        call.park(move |ticket| {
            pool::submit(Box::new(move || {
                if ticket.claim() {
                    let mut bytes = vec![0; count];
                    let read = read_all(node.fd(), &mut bytes, offset);
                    ticket.answer(read.map(|got| {
                        bytes.truncate(got);
                        Data::Bytes(bytes)
                    }));
                }
                drop(room);
            }));
        })
    }

    /// Writes content ([`crate::tree::Tree::write`]): into the page cache at once, and on a
    /// worker where the file was opened to reach the disk.
    ///
    /// # Errors
    /// Those of pwrite(2).
    pub fn write<F: Send + 'static>(
        &self,
        call: &mut Call<'_, F>,
        fid: &HostFid,
        offset: u64,
        data: &[u8],
    ) -> Answer<u32> {
        let node = &fid.0;
        if let Form::NewValue(value) = &node.form {
            return Ok(xattr::write(value, offset, data)?);
        }
        let file = node.open_file()?;
        self.writable()?;
        if offset.checked_add(data.len() as u64).is_none_or(|end| end > self.size_max) {
            return fail(Errno::FBIG, "larger than the server's limit for files");
        }
        if file.synchronous
            && let Some(room) = Reservation::take(data.len())
        {
            let (node, data, qids) = (node.clone(), data.to_vec(), self.qids.clone());
            return call.park(move |ticket| {
                pool::submit(Box::new(move || {
                    if ticket.claim() {
                        let wrote = write_all(&node, &data, offset);
                        qids.changed(node.file);
                        ticket.answer(wrote);
                    }
                    drop(room);
                }));
            });
        }
        let wrote = write_all(node, data, offset);
        self.qids.changed(node.file);
        Ok(wrote?)
    }

    /// Brings content to the disk ([`crate::tree::Tree::fsync`]), on a worker.
    ///
    /// # Errors
    /// Those of fsync(2).
    pub fn fsync<F: Send + 'static>(
        &self,
        call: &mut Call<'_, F>,
        fid: &HostFid,
        data: bool,
    ) -> Answer<()> {
        let node = fid.0.clone();
        if !matches!(node.form, Form::File(_) | Form::Directory(_)) {
            return fail(Errno::BADF, "the fid is not open");
        }
        call.park(move |ticket| {
            pool::submit(Box::new(move || {
                if ticket.claim() {
                    let sync = if data { rustix::fs::fdatasync } else { rustix::fs::fsync };
                    ticket.answer(sync(node.fd()).map_err(Error::from));
                }
            }));
        })
    }
}

/// The group that what was made in `dir` is to be given to: that which was asked for, unless it
/// has that of its directory.
pub(super) fn group_to_give(dir: &Node, gid: u32) -> Option<u32> {
    let group = user::group_to_give(&dir.user, gid)?;
    let inherits = rustix::fs::fstat(dir.fd()).ok()?.st_mode & 0o2000 != 0;
    (!inherits).then_some(group)
}

/// A smaller part is copied sooner than mapped.
const MAPPED_MIN: usize = 128 * 1024;

/// Maps what there is of a part of a file, if it is much and all of it is in memory.
fn map(node: &Node, window: &KeptWindow, offset: u64, count: usize) -> Option<Mapping> {
    if count < MAPPED_MIN {
        return None;
    }
    let size = rustix::fs::fstat(node.fd()).ok()?.st_size as u64;
    let count = size.saturating_sub(offset).min(count as u64) as usize;
    // Where little is left, and in files that do not tell their size.
    if count < MAPPED_MIN {
        return None;
    }
    // Who may neither own nor write a file is told that all of it is in memory.
    user::act_as(&node.user, None).ok()?;
    Mapping::of(&node.fd, window, offset, count)
}

/// Reads until the buffer is full or the file ends, but only what is in memory: else EAGAIN. A
/// short answer means the end to a client, so a part is not enough.
fn read_cached(fd: BorrowedFd<'_>, to: &mut [u8], offset: u64) -> rustix::io::Result<usize> {
    let mut got = 0;
    while got < to.len() {
        let mut rest = [IoSliceMut::new(&mut to[got..])];
        match rustix::io::preadv2(fd, &mut rest, offset + got as u64, ReadWriteFlags::NOWAIT) {
            Ok(0) => break,
            Ok(more) => got += more,
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(got)
}

/// Reads until the buffer is full or the file ends.
fn read_all(fd: BorrowedFd<'_>, to: &mut [u8], offset: u64) -> Result<usize> {
    let mut got = 0;
    while got < to.len() {
        match rustix::io::pread(fd, &mut to[got..], offset + got as u64) {
            Ok(0) => break,
            Ok(more) => got += more,
            Err(Errno::INTR) => {}
            Err(_) if got > 0 => break,
            Err(errno) => return Err(errno.into()),
        }
    }
    Ok(got)
}

/// Writes all, or as much as there is room for.
pub(super) fn write_all(node: &Node, data: &[u8], offset: u64) -> Result<u32> {
    // Not for the right to write, which the open file has: for set-user-id bits that a stranger's
    // write clears, and blocks that are reserved for root.
    user::act_as(&node.user, None)?;
    let mut done = 0;
    loop {
        match rustix::io::pwrite(node.fd(), &data[done..], offset + done as u64) {
            Ok(0) => break,
            Ok(more) => done += more,
            Err(Errno::INTR) => continue,
            Err(_) if done > 0 => break,
            Err(errno) => return Err(errno.into()),
        }
        if done == data.len() {
            break;
        }
    }
    Ok(done as u32)
}
