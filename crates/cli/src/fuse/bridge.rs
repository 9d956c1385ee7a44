//! The kernel's requests, one method each.

use super::attributes::{Changes, device_from_kernel, kind, lock_range, may, open_flags};
use super::chains::{self, Creation, HOW, Parent};
use super::table::{Open, Table};
use super::watch::{CONTROL, DISK, Patience, Reply, SOMEBODY, Waiting, Watch, of_file};
use fuser::{
    AccessFlags, BsdFileFlags, Errno, FileHandle, Filesystem, FopenFlags, INodeNo, InitFlags,
    KernelConfig, LockOwner, OpenFlags, RenameFlags, ReplyAttr, ReplyCreate, ReplyData,
    ReplyDirectory, ReplyEmpty, ReplyEntry, ReplyLock, ReplyOpen, ReplyStatfs, ReplyWrite,
    ReplyXattr, Request, TimeOrNow, WriteFlags,
};
use muster_ninep::call::LockStatus;
use muster_ninep::client::{Client, Fid};
use muster_ninep::error::{Errno as NineErrno, Error};
use muster_ninep::record::{LockRange, mode};
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;
use std::time::SystemTime;

/// Bytes of a listing to ask for: what the kernel's buffer for one takes, about.
const LISTING: u32 = 8 * 1024;

/// Requests that the kernel may have under way on its own account. Closes are among them, and
/// what would wait behind this bound would be overtaken.
const BACKGROUND: u16 = 4096;

/// A 9P client as a file system.
pub(super) struct Bridge {
    table: Arc<Table>,
    watch: Watch,
    /// What our locks are called at the server: one name for each locker is derived from it.
    machine: String,
    max_data: u32,
}

impl Bridge {
    pub(super) fn new(client: &Client, table: &Arc<Table>) -> Bridge {
        let machine = rustix::system::uname();
        Bridge {
            table: table.clone(),
            watch: Watch::new(),
            machine: machine.nodename().to_string_lossy().into_owned(),
            max_data: client.max_data(),
        }
    }

    /// Begins a request about the file behind an inode, which should be answered at once.
    fn about<R: Reply>(&self, req: &Request, ino: INodeNo, reply: R) -> Option<(Fid, Waiting<R>)> {
        self.begin(req, CONTROL, self.table.fid(ino), reply)
    }

    /// Begins a request about names in a directory.
    fn within<R: Reply>(
        &self,
        req: &Request,
        ino: INodeNo,
        reply: R,
    ) -> Option<(Parent, Waiting<R>)> {
        let dir = self.table.fid(ino).map(|fid| Parent { ino: ino.0, fid });
        self.begin(req, CONTROL, dir, reply)
    }

    /// Begins to read or write an open file.
    fn on<R: Reply>(
        &self,
        req: &Request,
        handle: FileHandle,
        reply: R,
    ) -> Option<(Arc<Open>, Waiting<R>)> {
        let file = self.table.file(handle);
        let patience = file.as_ref().map_or(DISK, |file| of_file(file.fid.qid()));
        self.begin(req, patience, file, reply)
    }

    fn begin<R: Reply, F>(
        &self,
        req: &Request,
        patience: Patience,
        file: Option<F>,
        reply: R,
    ) -> Option<(F, Waiting<R>)> {
        match file {
            Some(file) => Some((file, self.watch.begin(req.pid(), patience, reply))),
            None => {
                reply.refuse(Errno::ESTALE);
                None
            }
        }
    }

    fn remove(&self, req: &Request, dir: INodeNo, name: &OsStr, kind: bool, reply: ReplyEmpty) {
        let Some((dir, waiting)) = self.about(req, dir, reply) else { return };
        waiting.via(|waiting| {
            dir.unlinkat_then(name.as_bytes(), kind, move |done| {
                waiting.answer(done, |reply, ()| reply.ok());
            })
        });
    }

    fn sync(&self, req: &Request, handle: FileHandle, data: bool, reply: ReplyEmpty) {
        let file = self.table.file(handle);
        let Some((file, waiting)) = self.begin(req, DISK, file, reply) else { return };
        waiting.via(|waiting| {
            file.fid.fsync_then(data, move |done| waiting.answer(done, |reply, ()| reply.ok()))
        });
    }

    /// The name of who locks: the kernel's locker on this machine.
    fn locker(&self, owner: LockOwner) -> String {
        format!("{}:{:x}", self.machine, owner.0)
    }
}

/// Goes on to look up what was made.
fn made<T>(
    table: Arc<Table>,
    dir: &Parent,
    name: &OsStr,
    waiting: Waiting<ReplyEntry>,
) -> impl FnOnce(muster_ninep::error::Result<T>) + Send + 'static {
    let (dir, name) = (dir.clone(), name.as_bytes().to_vec());
    move |result| {
        waiting
            .go_on_done(result, |waiting, _| chains::look_up_entry(&table, &waiting, &dir, &name));
    }
}

impl Filesystem for Bridge {
    fn init(&mut self, _req: &Request, config: &mut KernelConfig) -> io::Result<()> {
        let wanted = InitFlags::FUSE_ATOMIC_O_TRUNC
            | InitFlags::FUSE_POSIX_LOCKS
            | InitFlags::FUSE_FLOCK_LOCKS
            | InitFlags::FUSE_PARALLEL_DIROPS
            | InitFlags::FUSE_ASYNC_DIO
            | InitFlags::FUSE_DIRECT_IO_ALLOW_MMAP;
        let there = config.capabilities() & wanted;
        config.add_capabilities(there).expect("the kernel has them");
        // The largest that the kernel takes is no more than it can be told.
        let most = config.set_max_write(self.max_data);
        most.or_else(|most| config.set_max_write(most)).expect("it is the largest");
        config.set_max_background(BACKGROUND).expect("it is not 0");
        Ok(())
    }

    fn lookup(&self, req: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let Some((dir, waiting)) = self.within(req, parent, reply) else { return };
        chains::look_up_entry(&self.table, &waiting, &dir, name.as_bytes());
    }

    fn forget(&self, _req: &Request, ino: INodeNo, nlookup: u64) {
        self.table.forget(ino, nlookup);
    }

    fn getattr(&self, req: &Request, ino: INodeNo, fh: Option<FileHandle>, reply: ReplyAttr) {
        let file = self.table.either(ino, fh);
        let Some((fid, waiting)) = self.begin(req, CONTROL, file, reply) else { return };
        chains::attributes_of(&waiting, ino.0, &fid);
    }

    fn setattr(
        &self,
        req: &Request,
        ino: INodeNo,
        mode: Option<u32>,
        uid: Option<u32>,
        gid: Option<u32>,
        size: Option<u64>,
        atime: Option<TimeOrNow>,
        mtime: Option<TimeOrNow>,
        _ctime: Option<SystemTime>,
        fh: Option<FileHandle>,
        _crtime: Option<SystemTime>,
        _chgtime: Option<SystemTime>,
        _bkuptime: Option<SystemTime>,
        _flags: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        let file = self.table.either(ino, fh);
        let Some((fid, waiting)) = self.begin(req, CONTROL, file, reply) else { return };
        let set = Changes { mode, uid, gid, size, atime, mtime }.set();
        waiting.via(|waiting| {
            let same = fid.clone();
            fid.setattr_then(&set, move |done| {
                let then = |waiting, ()| chains::attributes_of(&waiting, ino.0, &same);
                waiting.go_on_done(done, then);
            })
        });
    }

    fn readlink(&self, req: &Request, ino: INodeNo, reply: ReplyData) {
        let Some((fid, waiting)) = self.about(req, ino, reply) else { return };
        waiting.via(|waiting| {
            fid.readlink_then(move |target| {
                waiting.answer(target, |reply, target| reply.data(&target));
            })
        });
    }

    fn mknod(
        &self,
        req: &Request,
        parent: INodeNo,
        name: &OsStr,
        st_mode: u32,
        _umask: u32,
        rdev: u32,
        reply: ReplyEntry,
    ) {
        let Some((dir, waiting)) = self.within(req, parent, reply) else { return };
        let gid = req.gid();
        if matches!(st_mode & mode::KIND, 0 | mode::FILE) {
            let name = name.as_bytes().to_vec();
            let new = Creation { name, mode: st_mode, gid, flags: libc::O_WRONLY | libc::O_EXCL };
            return chains::create_closed(&self.table, &waiting, &dir, new);
        }
        waiting.via(|waiting| {
            let then = made(self.table.clone(), &dir, name, waiting);
            dir.fid.mknod_then(name.as_bytes(), st_mode, device_from_kernel(rdev), gid, then)
        });
    }

    fn mkdir(
        &self,
        req: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        _umask: u32,
        reply: ReplyEntry,
    ) {
        let Some((dir, waiting)) = self.within(req, parent, reply) else { return };
        waiting.via(|waiting| {
            let then = made(self.table.clone(), &dir, name, waiting);
            dir.fid.mkdir_then(name.as_bytes(), mode & 0o7777, req.gid(), then)
        });
    }

    fn unlink(&self, req: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        self.remove(req, parent, name, false, reply);
    }

    fn rmdir(&self, req: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        self.remove(req, parent, name, true, reply);
    }

    fn symlink(
        &self,
        req: &Request,
        parent: INodeNo,
        name: &OsStr,
        target: &std::path::Path,
        reply: ReplyEntry,
    ) {
        let Some((dir, waiting)) = self.within(req, parent, reply) else { return };
        waiting.via(|waiting| {
            let then = made(self.table.clone(), &dir, name, waiting);
            dir.fid.symlink_then(name.as_bytes(), target.as_os_str().as_bytes(), req.gid(), then)
        });
    }

    fn rename(
        &self,
        req: &Request,
        parent: INodeNo,
        name: &OsStr,
        newparent: INodeNo,
        newname: &OsStr,
        flags: RenameFlags,
        reply: ReplyEmpty,
    ) {
        // 9P has no word for renameat2(2)'s exchange and no-replace.
        if !flags.is_empty() {
            return reply.error(Errno::EINVAL);
        }
        let Some(to) = self.table.fid(newparent) else { return reply.error(Errno::ESTALE) };
        let Some((from, waiting)) = self.about(req, parent, reply) else { return };
        waiting.via(|waiting| {
            from.renameat_then(name.as_bytes(), &to, newname.as_bytes(), move |done| {
                waiting.answer(done, |reply, ()| reply.ok());
            })
        });
    }

    fn link(
        &self,
        req: &Request,
        ino: INodeNo,
        newparent: INodeNo,
        newname: &OsStr,
        reply: ReplyEntry,
    ) {
        let Some(file) = self.table.fid(ino) else { return reply.error(Errno::ESTALE) };
        let Some((dir, waiting)) = self.within(req, newparent, reply) else { return };
        waiting.via(|waiting| {
            let then = made(self.table.clone(), &dir, newname, waiting);
            dir.fid.link_then(&file, newname.as_bytes(), then)
        });
    }

    fn open(&self, req: &Request, ino: INodeNo, flags: OpenFlags, reply: ReplyOpen) {
        let file = self.table.fid(ino);
        let patience = file.as_ref().map_or(DISK, |fid| of_file(fid.qid()));
        let Some((fid, waiting)) = self.begin(req, patience, file, reply) else { return };
        chains::open(&self.table, &waiting, &fid, open_flags(flags.0), HOW);
    }

    fn read(
        &self,
        req: &Request,
        _ino: INodeNo,
        fh: FileHandle,
        offset: u64,
        size: u32,
        _flags: OpenFlags,
        _lock_owner: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let Some((file, waiting)) = self.on(req, fh, reply) else { return };
        waiting.via(|waiting| {
            file.fid.read_then(offset, size, move |data| {
                waiting.answer(data, |reply, data| reply.data(data));
            })
        });
    }

    fn write(
        &self,
        req: &Request,
        _ino: INodeNo,
        fh: FileHandle,
        offset: u64,
        data: &[u8],
        _write_flags: WriteFlags,
        _flags: OpenFlags,
        _lock_owner: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let Some((file, waiting)) = self.on(req, fh, reply) else { return };
        waiting.via(|waiting| {
            file.fid.write_then(offset, data, move |count| {
                waiting.answer(count, |reply, count| reply.written(count));
            })
        });
    }

    /// A close: ends the locks of who closes (fcntl(2)).
    fn flush(
        &self,
        req: &Request,
        _ino: INodeNo,
        fh: FileHandle,
        owner: LockOwner,
        reply: ReplyEmpty,
    ) {
        let file = self.table.file(fh);
        let Some((file, waiting)) = self.begin(req, CONTROL, file, reply) else { return };
        if !file.lockers.lock().expect("no holder panics").remove(&owner.0) {
            return waiting.answer(Ok(()), |reply, ()| reply.ok());
        }
        let locker = self.locker(owner);
        let range = lock_range(libc::F_UNLCK, 0, u64::MAX, req.pid(), &locker);
        waiting.via(|waiting| {
            file.fid.lock_then(&range, false, move |done| {
                waiting.answer(done, |reply, _| reply.ok());
            })
        });
    }

    fn release(
        &self,
        _req: &Request,
        _ino: INodeNo,
        fh: FileHandle,
        _flags: OpenFlags,
        _lock_owner: Option<LockOwner>,
        _flush: bool,
        reply: ReplyEmpty,
    ) {
        self.table.closed(fh);
        reply.ok();
    }

    fn fsync(&self, req: &Request, _: INodeNo, fh: FileHandle, data: bool, reply: ReplyEmpty) {
        self.sync(req, fh, data, reply);
    }

    fn opendir(&self, req: &Request, ino: INodeNo, _flags: OpenFlags, reply: ReplyOpen) {
        let Some((fid, waiting)) = self.about(req, ino, reply) else { return };
        let flags = open_flags(libc::O_RDONLY | libc::O_DIRECTORY);
        chains::open(&self.table, &waiting, &fid, flags, FopenFlags::empty());
    }

    fn readdir(
        &self,
        req: &Request,
        _ino: INodeNo,
        fh: FileHandle,
        offset: u64,
        reply: ReplyDirectory,
    ) {
        let file = self.table.file(fh);
        let Some((file, waiting)) = self.begin(req, CONTROL, file, reply) else { return };
        let table = self.table.clone();
        waiting.via(|waiting| {
            file.fid.readdir_then(offset, LISTING, move |entries| {
                waiting.answer(entries, |mut reply, entries| {
                    for entry in entries {
                        let ino = INodeNo(table.number(entry.qid));
                        let kind = kind(u32::from(entry.kind) << 12);
                        let name = OsStr::from_bytes(&entry.name);
                        // What does not fit is asked for again, from the last one on.
                        if reply.add(ino, entry.next, kind, name) {
                            break;
                        }
                    }
                    reply.ok();
                });
            })
        });
    }

    fn releasedir(
        &self,
        _req: &Request,
        _ino: INodeNo,
        fh: FileHandle,
        _flags: OpenFlags,
        reply: ReplyEmpty,
    ) {
        self.table.closed(fh);
        reply.ok();
    }

    fn fsyncdir(&self, req: &Request, _: INodeNo, fh: FileHandle, data: bool, reply: ReplyEmpty) {
        self.sync(req, fh, data, reply);
    }

    fn statfs(&self, req: &Request, ino: INodeNo, reply: ReplyStatfs) {
        let Some((fid, waiting)) = self.about(req, ino, reply) else { return };
        waiting.via(|waiting| {
            fid.statfs_then(move |totals| {
                // Made-up trees have none, and df should list them all the same.
                let totals = match totals {
                    Err(error) if error.errno == NineErrno::OPNOTSUPP => Ok(Default::default()),
                    other => other,
                };
                waiting.answer(totals, |reply, s| {
                    let (block, name) = (s.bsize.max(512), s.namelen.max(255));
                    reply.statfs(s.blocks, s.bfree, s.bavail, s.files, s.ffree, block, name, block);
                });
            })
        });
    }

    fn setxattr(
        &self,
        req: &Request,
        ino: INodeNo,
        name: &OsStr,
        value: &[u8],
        flags: i32,
        _position: u32,
        reply: ReplyEmpty,
    ) {
        let Some((fid, waiting)) = self.about(req, ino, reply) else { return };
        chains::write_xattr(&waiting, &fid, name.as_bytes(), value, flags as u32);
    }

    fn getxattr(&self, req: &Request, ino: INodeNo, name: &OsStr, size: u32, reply: ReplyXattr) {
        let Some((fid, waiting)) = self.about(req, ino, reply) else { return };
        chains::read_xattr(&waiting, &fid, name.as_bytes(), size);
    }

    fn listxattr(&self, req: &Request, ino: INodeNo, size: u32, reply: ReplyXattr) {
        let Some((fid, waiting)) = self.about(req, ino, reply) else { return };
        chains::read_xattr(&waiting, &fid, b"", size);
    }

    /// As v9fs says it: an empty value for an attribute that must exist.
    fn removexattr(&self, req: &Request, ino: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        let Some((fid, waiting)) = self.about(req, ino, reply) else { return };
        chains::write_xattr(&waiting, &fid, name.as_bytes(), b"", libc::XATTR_REPLACE as u32);
    }

    /// By the bits alone, as the server has no word for it: who opens the file is told by it.
    fn access(&self, req: &Request, ino: INodeNo, mask: AccessFlags, reply: ReplyEmpty) {
        let Some((fid, waiting)) = self.about(req, ino, reply) else { return };
        let (uid, mask) = (req.uid(), mask.bits().cast_unsigned());
        waiting.via(|waiting| {
            fid.getattr_then(move |attr| {
                waiting.answer(attr, |reply, attr| match may(&attr, uid, mask) {
                    true => reply.ok(),
                    false => reply.error(Errno::EACCES),
                });
            })
        });
    }

    fn create(
        &self,
        req: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        _umask: u32,
        flags: i32,
        reply: ReplyCreate,
    ) {
        let Some((dir, waiting)) = self.within(req, parent, reply) else { return };
        let new = Creation { name: name.as_bytes().to_vec(), mode, gid: req.gid(), flags };
        chains::create_open(&self.table, &waiting, &dir, new);
    }

    fn getlk(
        &self,
        req: &Request,
        _ino: INodeNo,
        fh: FileHandle,
        owner: LockOwner,
        start: u64,
        end: u64,
        typ: i32,
        pid: u32,
        reply: ReplyLock,
    ) {
        let file = self.table.file(fh);
        let Some((file, waiting)) = self.begin(req, CONTROL, file, reply) else { return };
        let locker = self.locker(owner);
        waiting.via(|waiting| {
            let range = lock_range(typ, start, end, pid, &locker);
            file.fid.getlock_then(&range, move |held| {
                waiting.answer(held, |reply, held| {
                    let kind = match held.kind {
                        LockRange::READ => libc::F_RDLCK,
                        LockRange::WRITE => libc::F_WRLCK,
                        _ => libc::F_UNLCK,
                    };
                    let last = match held.length {
                        0 => i64::MAX as u64,
                        length => held.start.saturating_add(length - 1),
                    };
                    reply.locked(held.start, last, kind, held.proc_id);
                });
            })
        });
    }

    fn setlk(
        &self,
        req: &Request,
        _ino: INodeNo,
        fh: FileHandle,
        owner: LockOwner,
        start: u64,
        end: u64,
        typ: i32,
        pid: u32,
        sleep: bool,
        reply: ReplyEmpty,
    ) {
        // flock(2) comes as a lock of the whole file by a locker that is the open file's: it ends
        // with the fid. At the fid of this open: a process that has opened a file twice has two
        // lockers there (`docs/files.md`), where the kernel's own file systems have one.
        let file = self.table.file(fh);
        let Some((file, waiting)) = self.begin(req, SOMEBODY, file, reply) else { return };
        let locker = self.locker(owner);
        let range = lock_range(typ, start, end, pid, &locker);
        if range.kind != LockRange::UNLOCK {
            file.lockers.lock().expect("no holder panics").insert(owner.0);
        }
        waiting.via(|waiting| {
            file.fid.lock_then(&range, sleep, move |status| {
                let status = status.and_then(|status| match status {
                    LockStatus::Success => Ok(()),
                    // Who waits for a lock is not told to come again (fcntl(2)), and our servers
                    // say so to him only if there is nothing that could wait for it.
                    LockStatus::Blocked | LockStatus::Grace if !sleep => {
                        Err(NineErrno::AGAIN.into())
                    }
                    _ => Err(Error::from(NineErrno::NOLCK)),
                });
                waiting.answer(status, |reply, ()| reply.ok());
            })
        });
    }
}
