//! A directory of this machine as a tree: what `muster export` serves, and a session's `fs/`.
//!
//! The promises, and where they are kept. Nothing outside the root that a client
//! has attached to can be named, whatever the names and whoever moves files about meanwhile
//! (`node`). A request has the rights of the user who attached, as the kernel judges them
//! ([`user`]). A file lives while a fid stands for it, unlinked or not. A qid's path belongs to
//! one file, its version changes with the content (`qids`). The thread that serves is not held
//! up: reads of what is not in memory, syncs and synchronous writes go to a few workers (`pool`),
//! waiting locks to a list (`lock`). Only regular files and directories are opened: a device or
//! pipe of this machine is none of the client's (v9fs opens its own).
//!
//! Opening, walking, creating, syncing metadata may wait for a disk, as any local program does.
//!
//! The tree's requests are methods of [`HostTree`] itself that know nothing of the session's fid
//! type, so that a tree that contains exported directories can call them for its own fids.

mod attributes;
mod directory;
mod file;
mod intake;
mod lock;
mod node;
mod pool;
mod qids;
mod sys;
#[cfg(test)]
mod tests;
pub mod user;
mod xattr;

pub use node::HostFid;
pub use user::{User, Users};

use crate::call::{Answer, Call, Data, HeldLock, LockStatus, Opened, Walked};
use crate::error::{Errno, Result, fail};
use crate::intake::Intake;
use crate::record::{Attr, DirEntry, LockRange, Qid, SetAttr, Statfs};
use crate::tree::{Attach, OpenFlags, Tree};
use crate::wire::Name;
use node::{Form, Node};
use qids::Qids;
use rustix::process::Resource;
use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::{Arc, RwLock};
use std::time::{Duration, Instant};

/// How a directory is exported.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// Whether clients may change anything.
    pub writable: bool,
    /// Whom clients act as.
    pub users: Users,
}

/// An exported directory.
pub struct HostTree {
    root: Node,
    /// `/proc/self/fd`: the door through which an O_PATH descriptor is opened or named.
    descriptors: OwnedFd,
    options: Options,
    qids: Arc<Qids>,
    /// Largest file this process may write; beyond, the kernel would kill it (SIGXFSZ).
    size_max: u64,
    /// The first descriptor that is not for a place in the tree: the eighth behind it is for files
    /// that are opened and for connections.
    reserve: u64,
    names: Names,
}

impl std::fmt::Debug for HostTree {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "HostTree({:?}, {:?})", self.root.file, self.options)
    }
}

impl HostTree {
    /// Exports `root`.
    ///
    /// # Errors
    /// When it cannot be opened or is no directory, when `/proc` is not mounted, and on kernels
    /// without openat2 (before 5.6).
    pub fn new(root: &Path, options: Options) -> std::io::Result<HostTree> {
        user::remember_server();
        let open = |options: Options| -> Result<HostTree> {
            let (fd, descriptors) = node::open_root(root)?;
            let stat = rustix::fs::fstat(&fd)?;
            let root = Node::top(Arc::new(fd), &stat, &Arc::new(User::own()));
            let limit = |of| rustix::process::getrlimit(of).current.unwrap_or(u64::MAX);
            Ok(HostTree {
                qids: Arc::new(Qids::new(root.file)),
                root,
                descriptors,
                options,
                size_max: limit(Resource::Fsize),
                reserve: limit(Resource::Nofile) / 8 * 7,
                names: Names::default(),
            })
        };
        open(options).map_err(|error| {
            let kind = std::io::Error::from(error.errno).kind();
            std::io::Error::new(kind, format!("{}: {error}", root.display()))
        })
    }

    /// Gives a client the root, or what `aname` names below it.
    ///
    /// # Errors
    /// When the peer may not act as whom it asks for, or there is no such file.
    pub fn attach(&self, who: &Attach<'_>) -> Result<(HostFid, Qid)> {
        let user = self.options.users.choose(who)?;
        user::act_as(&user, None)?;
        let stat = rustix::fs::fstat(self.root.fd())?;
        let root = Node::top(self.root.fd.clone(), &stat, &user);
        let (mut fid, mut qid) = (HostFid(Arc::new(root)), self.qids.qid(&stat));
        for name in who.aname.split('/').filter(|name| !name.is_empty()) {
            let walked = self.walk(&fid, &[name.as_bytes()])?;
            let below = walked.fid.zip(walked.qids.first().copied());
            (fid, qid) = below.expect("a walk of one name succeeds or fails");
        }
        // What was asked for is the root from here on: `..` stays at it.
        Ok((fid.0.as_top(), qid))
    }

    /// Refuses changes of a tree that is only to be read.
    fn writable(&self) -> Result<()> {
        match self.options.writable {
            true => Ok(()),
            false => fail(Errno::ROFS, "this tree is exported for reading only"),
        }
    }

    /// Forgets a fid, and gives up its locks.
    pub fn clunk(&self, fid: &HostFid) {
        if let Form::File(file) = &fid.0.form {
            lock::release(&fid.0, file);
        }
    }
}

/// Names of users and groups that were asked for. The database is slow, perhaps on the network.
#[derive(Debug, Default)]
struct Names {
    users: RwLock<HashMap<u32, Known>>,
    groups: RwLock<HashMap<u32, Known>>,
}

/// A name; of one that was not found the number, until it is looked up again.
#[derive(Debug)]
struct Known {
    name: String,
    until: Option<Instant>,
}

/// Names that are kept; further ones are looked up each time.
const NAMES_MAX: usize = 4096;

/// When a name that was not found is looked up again: the database may only have been away.
const NAME_MISSING: Duration = Duration::from_secs(60);

fn name_of(
    known: &RwLock<HashMap<u32, Known>>,
    now: Instant,
    number: u32,
    look_up: impl FnOnce(u32) -> Option<String>,
) -> String {
    if let Some(Known { name, until }) = known.read().expect("no holder panics").get(&number)
        && until.is_none_or(|until| now < until)
    {
        return name.clone();
    }
    let found = look_up(number);
    let until = found.is_none().then(|| now + NAME_MISSING);
    let name = found.unwrap_or_else(|| number.to_string());
    let mut known = known.write().expect("no holder panics");
    if known.len() < NAMES_MAX || known.contains_key(&number) {
        known.insert(number, Known { name: name.clone(), until });
    }
    name
}

type C<'a> = Call<'a, HostFid>;

impl Tree for HostTree {
    type Fid = HostFid;

    fn attach(&self, _: &mut C<'_>, who: &Attach<'_>) -> Answer<(HostFid, Qid)> {
        Ok(self.attach(who)?)
    }
    fn walk(&self, _: &mut C<'_>, from: &HostFid, names: &[Name<'_>]) -> Answer<Walked<HostFid>> {
        Ok(self.walk(from, names)?)
    }
    fn open(&self, _: &mut C<'_>, fid: &HostFid, flags: OpenFlags) -> Answer<Opened<HostFid>> {
        Ok(self.open(fid, flags)?)
    }
    fn clunk(&self, fid: HostFid) {
        self.clunk(&fid);
    }
    fn getattr(&self, _: &mut C<'_>, fid: &HostFid) -> Answer<Attr> {
        Ok(self.getattr(fid)?)
    }
    fn read(&self, call: &mut C<'_>, fid: &HostFid, offset: u64, count: usize) -> Answer<Data> {
        self.read(call, fid, offset, count)
    }
    fn write(&self, call: &mut C<'_>, fid: &HostFid, offset: u64, data: &[u8]) -> Answer<u32> {
        self.write(call, fid, offset, data)
    }
    fn intake(&self, fid: &HostFid, offset: u64, count: usize) -> Option<Box<dyn Intake>> {
        self.intake(fid, offset, count)
    }
    fn readdir(
        &self,
        _: &mut C<'_>,
        fid: &HostFid,
        offset: u64,
        count: usize,
        attrs: bool,
    ) -> Answer<Vec<DirEntry>> {
        Ok(self.readdir(fid, offset, count, attrs)?)
    }
    fn create(
        &self,
        _: &mut C<'_>,
        dir: &HostFid,
        name: Name<'_>,
        flags: OpenFlags,
        mode: u32,
        gid: u32,
    ) -> Answer<Opened<HostFid>> {
        Ok(self.create(dir, name, flags, mode, gid)?)
    }
    fn setattr(&self, _: &mut C<'_>, fid: &HostFid, attr: &SetAttr) -> Answer<()> {
        Ok(self.setattr(fid, attr)?)
    }
    fn remove(&self, _: &mut C<'_>, fid: &HostFid) -> Answer<()> {
        Ok(self.remove(fid)?)
    }
    fn rename(
        &self,
        _: &mut C<'_>,
        fid: &HostFid,
        dir: Option<&HostFid>,
        name: Name<'_>,
        replace: bool,
    ) -> Answer<()> {
        Ok(self.rename(fid, dir, name, replace)?)
    }
    fn renameat(
        &self,
        _: &mut C<'_>,
        from: (&HostFid, Name<'_>),
        to: (&HostFid, Name<'_>),
    ) -> Answer<()> {
        Ok(self.renameat(from, to)?)
    }
    fn unlinkat(
        &self,
        _: &mut C<'_>,
        dir: &HostFid,
        name: Name<'_>,
        directory: bool,
    ) -> Answer<()> {
        Ok(self.unlinkat(dir, name, directory)?)
    }
    fn mkdir(
        &self,
        _: &mut C<'_>,
        dir: &HostFid,
        name: Name<'_>,
        mode: u32,
        gid: u32,
    ) -> Answer<Qid> {
        Ok(self.mkdir(dir, name, mode, gid)?)
    }
    fn symlink(
        &self,
        _: &mut C<'_>,
        dir: &HostFid,
        name: Name<'_>,
        target: &[u8],
        gid: u32,
    ) -> Answer<Qid> {
        Ok(self.symlink(dir, name, target, gid)?)
    }
    fn mknod(
        &self,
        _: &mut C<'_>,
        dir: &HostFid,
        name: Name<'_>,
        mode: u32,
        device: (u32, u32),
        gid: u32,
    ) -> Answer<Qid> {
        Ok(self.mknod(dir, name, mode, device, gid)?)
    }
    fn link(&self, _: &mut C<'_>, dir: &HostFid, fid: &HostFid, name: Name<'_>) -> Answer<()> {
        Ok(self.link(dir, fid, name)?)
    }
    fn readlink(&self, _: &mut C<'_>, fid: &HostFid) -> Answer<Vec<u8>> {
        Ok(self.readlink(fid)?)
    }
    fn statfs(&self, _: &mut C<'_>, fid: &HostFid) -> Answer<Statfs> {
        Ok(self.statfs(fid)?)
    }
    fn fsync(&self, call: &mut C<'_>, fid: &HostFid, data: bool) -> Answer<()> {
        self.fsync(call, fid, data)
    }
    fn lock(
        &self,
        call: &mut C<'_>,
        fid: &HostFid,
        range: &LockRange<'_>,
        block: bool,
    ) -> Answer<LockStatus> {
        self.lock(call, fid, range, block)
    }
    fn getlock(&self, _: &mut C<'_>, fid: &HostFid, range: &LockRange<'_>) -> Answer<HeldLock> {
        Ok(self.getlock(fid, range)?)
    }
    fn xattrwalk(&self, _: &mut C<'_>, fid: &HostFid, name: Name<'_>) -> Answer<(HostFid, u64)> {
        Ok(self.xattrwalk(fid, name)?)
    }
    fn xattrcreate(
        &self,
        _: &mut C<'_>,
        fid: &HostFid,
        name: Name<'_>,
        size: u64,
        flags: u32,
    ) -> Answer<Opened<HostFid>> {
        Ok(self.xattrcreate(fid, name, size, flags)?)
    }
    fn commit(&self, _: &mut C<'_>, fid: &HostFid) -> Answer<()> {
        Ok(self.commit(fid)?)
    }
    /// A quarter of the places that there are descriptors for: one client leaves some to others.
    fn fids_max(&self) -> usize {
        usize::try_from(self.reserve / 4).unwrap_or(usize::MAX)
    }
    fn user_name(&self, uid: u32) -> String {
        name_of(&self.names.users, Instant::now(), uid, user::name)
    }
    fn group_name(&self, gid: u32) -> String {
        name_of(&self.names.groups, Instant::now(), gid, user::group_name)
    }
    // As for chown(1), a name of digits is a name first.
    fn user_number(&self, name: &str) -> Option<u32> {
        user::number(name).or_else(|| name.parse().ok())
    }
    fn group_number(&self, name: &str) -> Option<u32> {
        user::group_number(name).or_else(|| name.parse().ok())
    }
}
