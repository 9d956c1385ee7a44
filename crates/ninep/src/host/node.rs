//! What a fid of an exported directory stands for, and the ways from one file to the next.
//!
//! A node holds a descriptor: of the place alone (O_PATH), or once opened, of the open file. No
//! path is kept. A step resolves a single name in a descriptor's directory, follows no link of
//! any kind and cannot leave the directory. Only where 9P asks for something that has no
//! descriptor (`..`, and the directory and name of a fid that is to be removed or renamed), the
//! kernel is asked where the file is now; that path is resolved again, beneath the root that the
//! fid's client attached to, and what is found there must be the same file.

use super::lock::LockOwner;
use super::qids::Identity;
use super::user::{self, User};
use super::xattr::{NewValue, Value};
use super::{HostTree, directory::Stream};
use crate::call::Walked;
use crate::error::{Errno, Result, fail};
use crate::record::mode;
use crate::sys::KeptWindow;
use crate::tree::OpenFlags;
use crate::wire::Name;
use muster_base::limits::NAME_MAX;
use rustix::fs::{AtFlags, CWD, Mode, OFlags, ResolveFlags, Stat};
use rustix::path::DecInt;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

/// A fid of a [`HostTree`].
#[derive(Clone)]
pub struct HostFid(pub(super) Arc<Node>);

/// What a fid stands for.
pub(super) struct Node {
    pub(super) fd: Arc<OwnedFd>,
    pub(super) file: Identity,
    /// Kind bits of its `st_mode`.
    pub(super) kind: u32,
    /// Whose rights its requests have.
    pub(super) user: Arc<User>,
    /// The root that its client attached to.
    pub(super) top: Top,
    pub(super) form: Form,
}

/// A root, above which its client does not come.
#[derive(Clone)]
pub(super) struct Top {
    fd: Arc<OwnedFd>,
    pub(super) file: Identity,
}

/// What can be done with a node.
pub(super) enum Form {
    /// Go on from it.
    Place,
    /// Read and write content.
    File(OpenFile),
    /// List names.
    Directory(Mutex<Stream>),
    /// Read the value of an extended attribute.
    Value(Value),
    /// Collect the new value of an extended attribute.
    NewValue(Mutex<NewValue>),
}

/// State of an open regular file.
#[derive(Default)]
pub(super) struct OpenFile {
    /// Writes are to reach the disk before they are answered.
    pub(super) synchronous: bool,
    /// Each write goes to the end, in one piece.
    pub(super) append: bool,
    /// It is the user's own, so the kernel tells him what of it is in memory (mincore(2)).
    pub(super) own: bool,
    /// Its file system cannot say what is in the page cache, but all of it is in memory.
    pub(super) in_memory: AtomicBool,
    /// What of it is mapped.
    pub(super) window: KeptWindow,
    pub(super) locks: LockOwner,
}

impl std::fmt::Debug for HostFid {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let form = match self.0.form {
            Form::Place => "place",
            Form::File(_) => "file",
            Form::Directory(_) => "directory",
            Form::Value(_) => "attribute",
            Form::NewValue(_) => "new attribute",
        };
        write!(f, "HostFid({form} {:?} as {})", self.0.file, self.0.user.uid)
    }
}

impl Node {
    /// A root.
    pub(super) fn top(fd: Arc<OwnedFd>, stat: &Stat, user: &Arc<User>) -> Node {
        let (file, kind) = (Identity::of(stat), stat.st_mode & mode::KIND);
        let top = Top { fd: fd.clone(), file };
        Node { fd, file, kind, user: user.clone(), top, form: Form::Place }
    }

    /// A node of another file, which the same client has reached from this one.
    pub(super) fn beside(&self, fd: OwnedFd, stat: &Stat, form: Form) -> HostFid {
        let (fd, user, top) = (Arc::new(fd), self.user.clone(), self.top.clone());
        let (file, kind) = (Identity::of(stat), stat.st_mode & mode::KIND);
        HostFid(Arc::new(Node { fd, file, kind, user, top, form }))
    }

    /// The same file as a root.
    pub(super) fn as_top(&self) -> HostFid {
        let (fd, user) = (self.fd.clone(), self.user.clone());
        let top = Top { fd: fd.clone(), file: self.file };
        let (file, kind) = (self.file, self.kind);
        HostFid(Arc::new(Node { fd, file, kind, user, top, form: Form::Place }))
    }

    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    /// The open file, if the fid was opened and is one.
    pub(super) fn open_file(&self) -> Result<&OpenFile> {
        match &self.form {
            Form::File(file) => Ok(file),
            Form::Directory(_) => fail(Errno::ISDIR, "is a directory"),
            _ => fail(Errno::BADF, "the fid is not open"),
        }
    }

    /// Another node of the same file, in another form.
    pub(super) fn with_form(&self, form: Form) -> HostFid {
        let (fd, user, top) = (self.fd.clone(), self.user.clone(), self.top.clone());
        HostFid(Arc::new(Node { fd, file: self.file, kind: self.kind, user, top, form }))
    }
}

/// No step leaves the directory or follows a link.
pub(super) const CONFINED: ResolveFlags =
    ResolveFlags::BENEATH.union(ResolveFlags::NO_SYMLINKS).union(ResolveFlags::NO_MAGICLINKS);

const PLACE: OFlags = OFlags::PATH.union(OFlags::CLOEXEC);

/// Checks a name that a walk goes to.
fn check_name(name: Name<'_>) -> Result<()> {
    match name {
        [] => fail(Errno::NOENT, "a name is empty"),
        _ if name.len() > NAME_MAX => fail(Errno::NAMETOOLONG, "a name is longer than 255 bytes"),
        _ if name.contains(&b'/') => fail(Errno::INVAL, "a name has a slash in it"),
        _ if name.contains(&0) => fail(Errno::INVAL, "a name has a NUL in it"),
        _ => Ok(()),
    }
}

/// Checks a name that is to be made or removed.
pub(super) fn check_new_name(name: Name<'_>) -> Result<()> {
    match name {
        b"" | b"." | b".." => fail(Errno::INVAL, "not a name that a file can have"),
        _ => check_name(name),
    }
}

/// Opens the directory that is to be exported, and the door to our own descriptors.
pub(super) fn open_root(path: &std::path::Path) -> Result<(OwnedFd, OwnedFd)> {
    let root = rustix::fs::openat(CWD, path, PLACE | OFlags::DIRECTORY, Mode::empty())?;
    let flags = PLACE | OFlags::DIRECTORY;
    let descriptors = rustix::fs::openat(CWD, "/proc/self/fd", flags, Mode::empty())
        .map_err(|errno| crate::error::Error::from(errno).at("/proc/self/fd"))?;
    rustix::fs::openat2(&root, ".", PLACE, Mode::empty(), CONFINED)
        .map_err(|errno| crate::error::Error::from(errno).at("openat2"))?;
    Ok((root, descriptors))
}

impl HostTree {
    /// One name further. Nothing is followed.
    pub(super) fn step(&self, from: BorrowedFd<'_>, name: Name<'_>) -> Result<(OwnedFd, Stat)> {
        check_name(name)?;
        let flags = PLACE | OFlags::NOFOLLOW;
        let fd = rustix::fs::openat2(from, name, flags, Mode::empty(), CONFINED)?;
        self.check_reserve(&fd)?;
        let stat = rustix::fs::fstat(&fd)?;
        Ok((fd, stat))
    }

    /// Refuses a place the descriptor that is kept for something else: the kernel always gives the
    /// lowest that is free.
    fn check_reserve(&self, fd: &OwnedFd) -> Result<()> {
        if fd.as_raw_fd() as u64 >= self.reserve {
            return fail(Errno::MFILE, "the server has no descriptors left for more fids");
        }
        Ok(())
    }

    /// Where a file is now: its directory, and its name there.
    pub(super) fn find(&self, node: &Node) -> Result<(OwnedFd, Vec<u8>)> {
        if node.file == node.top.file {
            return fail(Errno::BUSY, "the root of the tree stays where it is");
        }
        // Each retry means that the file, or a directory above it, was moved meanwhile.
        let mut last = self.find_once(node);
        for _ in 0..16 {
            if last.is_ok() {
                break;
            }
            last = self.find_once(node);
        }
        last
    }

    fn find_once(&self, node: &Node) -> Result<(OwnedFd, Vec<u8>)> {
        let root = self.path_of(node.top.fd.as_fd())?;
        let path = self.path_of(node.fd())?;
        let gone = || crate::error::Error::new(Errno::NOENT, "the file is no longer in the tree");
        let below = match root.as_slice() {
            b"/" => &path[..],
            root => path.strip_prefix(root).ok_or_else(gone)?,
        };
        let below = below.strip_prefix(b"/").ok_or_else(gone)?;
        let (directory, name) = match below.iter().rposition(|&byte| byte == b'/') {
            Some(slash) => (&below[..slash], &below[slash + 1..]),
            None => (&b"."[..], below),
        };
        let flags = PLACE | OFlags::DIRECTORY;
        let parent = rustix::fs::openat2(&node.top.fd, directory, flags, Mode::empty(), CONFINED)?;
        let stat = rustix::fs::statat(&parent, name, AtFlags::SYMLINK_NOFOLLOW)?;
        if Identity::of(&stat) != node.file {
            return fail(Errno::STALE, "another file has the name now");
        }
        Ok((parent, name.to_vec()))
    }

    /// What the kernel says a descriptor is called.
    fn path_of(&self, fd: BorrowedFd<'_>) -> Result<Vec<u8>> {
        let path = rustix::fs::readlinkat(&self.descriptors, DecInt::from_fd(fd), Vec::new())?;
        Ok(path.into_bytes())
    }

    /// Up from a file, but never above the root that the client attached to (attach(5)).
    fn step_up(&self, node: &Node) -> Result<(OwnedFd, Stat)> {
        if node.file == node.top.file {
            return self.step(node.top.fd.as_fd(), b".");
        }
        let (parent, _) = self.find(node)?;
        let stat = rustix::fs::fstat(&parent)?;
        Ok((parent, stat))
    }

    /// A fid of its own for the file of `from`, not opened.
    fn clone_place(&self, from: &Node) -> Result<HostFid> {
        if matches!(from.form, Form::Place) {
            return Ok(from.with_form(Form::Place));
        }
        // Not the same descriptor: what the open file holds must end with its own fid.
        let fd = self.reopen(from, PLACE)?;
        self.check_reserve(&fd)?;
        let stat = rustix::fs::fstat(&fd)?;
        Ok(from.beside(fd, &stat, Form::Place))
    }

    /// Opens what a descriptor stands for once more, with other flags.
    pub(super) fn reopen(&self, node: &Node, flags: OFlags) -> Result<OwnedFd> {
        let name = DecInt::from_fd(node.fd());
        Ok(rustix::fs::openat(&self.descriptors, name, flags | OFlags::CLOEXEC, Mode::empty())?)
    }

    /// Goes down `names` ([`crate::tree::Tree::walk`]).
    ///
    /// # Errors
    /// When the first name is not to be had, and when it cannot be known of a later one.
    pub fn walk(&self, from: &HostFid, names: &[Name<'_>]) -> Result<Walked<HostFid>> {
        user::act_as(&from.0.user, None)?;
        let mut qids = Vec::with_capacity(names.len());
        if names.is_empty() {
            return Ok(Walked { qids, fid: Some(self.clone_place(&from.0)?) });
        }
        let mut at = from.clone();
        for &name in names {
            let step = match name {
                // The session says which walks may start at what is no directory.
                b".." if qids.is_empty() || at.0.kind == mode::DIR => self.step_up(&at.0),
                b".." => fail(Errno::NOTDIR, "not a directory"),
                _ => self.step(at.0.fd(), name),
            };
            let (fd, stat) = match step {
                Ok(found) => found,
                Err(error) if !qids.is_empty() && error.ends_walk() => {
                    return Ok(Walked { qids, fid: None });
                }
                Err(error) => return Err(error),
            };
            qids.push(self.qids.qid(&stat));
            at = from.0.beside(fd, &stat, Form::Place);
        }
        Ok(Walked { qids, fid: Some(at) })
    }
}

/// Open flags of the wire as those of this machine; the numbers differ between architectures.
pub(super) fn open_flags(flags: OpenFlags) -> Result<OFlags> {
    // O_NONBLOCK: a lease that another process holds refuses instead of holding up the thread.
    // O_DIRECT is dropped: replies are not aligned as it demands, and no promise hangs on it.
    let mut native = match flags.0 & 3 {
        0 => OFlags::RDONLY,
        OpenFlags::WRONLY => OFlags::WRONLY,
        OpenFlags::RDWR => OFlags::RDWR,
        _ => return fail(Errno::INVAL, "neither for reading nor for writing"),
    } | OFlags::NONBLOCK
        | OFlags::NOCTTY
        | OFlags::CLOEXEC;
    for (wire, flag) in [
        (OpenFlags::TRUNC, OFlags::TRUNC),
        (OpenFlags::APPEND, OFlags::APPEND),
        (OpenFlags::DIRECTORY, OFlags::DIRECTORY),
        (DSYNC, OFlags::DSYNC),
        (SYNC, OFlags::SYNC),
        (NOATIME, OFlags::NOATIME),
    ] {
        if flags.0 & wire == wire {
            native |= flag;
        }
    }
    Ok(native)
}

const NOATIME: u32 = 0o1_000_000;
const DSYNC: u32 = 0o10_000;
const SYNC: u32 = 0o4_010_000;

/// Whether writes with these flags wait for the disk.
pub(super) fn synchronous(flags: OpenFlags) -> bool {
    flags.has(SYNC)
}
