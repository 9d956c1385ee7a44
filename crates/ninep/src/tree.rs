//! A served file tree, as a table: one method for each request.
//!
//! The words are those of 9P2000.L; the session translates the older dialects to them. A method
//! runs on the thread that serves the connection and must not block: it answers, refuses, or
//! parks the request ([`Call::park`]) and answers it later from any thread. What a tree does not
//! override is refused with EOPNOTSUPP.

use crate::call::{Answer, Call, Data, HeldLock, LockStatus, Opened, Walked};
use crate::error::{Errno, fail};
use crate::intake::Intake;
use crate::record::{Attr, DirEntry, LockRange, Qid, SetAttr, Statfs};
use crate::wire::Name;
use muster_base::limits::FIDS_MAX;

/// Who is at the other end of a connection, as far as the transport can tell.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Peer {
    /// The user, where the kernel vouches for it.
    pub uid: Option<u32>,
    /// For messages: `unix`, `tcp 127.0.0.1:4711`.
    pub name: String,
}

/// What an attach asks for.
#[derive(Debug, Clone, Copy)]
pub struct Attach<'a> {
    /// Who is connected.
    pub peer: &'a Peer,
    /// The user it wants to act as, by name; may be empty.
    pub uname: &'a str,
    /// The same, by number.
    pub n_uname: Option<u32>,
    /// The tree it wants.
    pub aname: &'a str,
}

/// How to open a file: the flags of open(2) as 9P2000.L carries them (Linux's generic numbers).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OpenFlags(pub u32);

impl OpenFlags {
    /// Write only.
    pub const WRONLY: u32 = 0o1;
    /// Read and write.
    pub const RDWR: u32 = 0o2;
    /// Create it if it does not exist.
    pub const CREATE: u32 = 0o100;
    /// With CREATE: it must not exist.
    pub const EXCL: u32 = 0o200;
    /// Cut to length 0.
    pub const TRUNC: u32 = 0o1000;
    /// Every write goes to the end.
    pub const APPEND: u32 = 0o2000;
    /// Refuse what is not a directory.
    pub const DIRECTORY: u32 = 0o200_000;

    /// Whether the file may be read.
    pub fn reads(self) -> bool {
        self.0 & 3 != OpenFlags::WRONLY
    }

    /// Whether the file may be written.
    pub fn writes(self) -> bool {
        matches!(self.0 & 3, OpenFlags::WRONLY | OpenFlags::RDWR)
    }

    /// Whether any of these bits is set.
    pub fn has(self, bits: u32) -> bool {
        self.0 & bits != 0
    }
}

fn unsupported<T>() -> Answer<T> {
    fail(Errno::OPNOTSUPP, "this tree does not know this request")
}

/// A file tree. `Fid` is what a fid stands for: cheap to clone, holding descriptors and shared
/// state, never a path to be looked up again.
#[allow(unused_variables, reason = "the defaults refuse without looking")]
pub trait Tree: Send + Sync + Sized + 'static {
    /// What one of the client's fids stands for.
    type Fid: Clone + Send + 'static;

    /// Gives a client the root (attach(5)).
    fn attach(&self, call: &mut C<'_, Self>, who: &Attach<'_>) -> Answer<(Self::Fid, Qid)>;

    /// Goes down `names`; none clones the fid. `..` may be among them and stops at the root.
    /// The first name's failure is an error; that a later one does not lead on is a short
    /// [`Walked`].
    fn walk(
        &self,
        call: &mut C<'_, Self>,
        from: &Self::Fid,
        names: &[Name<'_>],
    ) -> Answer<Walked<Self::Fid>>;

    /// Opens a file.
    fn open(
        &self,
        call: &mut C<'_, Self>,
        fid: &Self::Fid,
        flags: OpenFlags,
    ) -> Answer<Opened<Self::Fid>>;

    /// Forgets a fid; the only place that may do so when a client is gone.
    fn clunk(&self, fid: Self::Fid) {}

    /// Offers to take the content of a large write in parts, while it still arrives: `count`
    /// bytes for `offset`. `None`: [`Tree::write`] is to get it whole. Only where parts are as
    /// good as the whole, and nothing has to wait.
    fn intake(&self, fid: &Self::Fid, offset: u64, count: usize) -> Option<Box<dyn Intake>> {
        None
    }

    /// Attributes.
    fn getattr(&self, call: &mut C<'_, Self>, fid: &Self::Fid) -> Answer<Attr>;

    /// Reads content; no bytes means the end.
    fn read(
        &self,
        call: &mut C<'_, Self>,
        fid: &Self::Fid,
        offset: u64,
        count: usize,
    ) -> Answer<Data> {
        unsupported()
    }

    /// Writes content.
    fn write(
        &self,
        call: &mut C<'_, Self>,
        fid: &Self::Fid,
        offset: u64,
        data: &[u8],
    ) -> Answer<u32> {
        unsupported()
    }

    /// Lists names from cookie `offset` on (0: the first), `.` and `..` included, of at most
    /// `count` bytes as [`DirEntry::size`] counts them. `attrs`: fill in [`DirEntry::attr`].
    fn readdir(
        &self,
        call: &mut C<'_, Self>,
        fid: &Self::Fid,
        offset: u64,
        count: usize,
        attrs: bool,
    ) -> Answer<Vec<DirEntry>> {
        unsupported()
    }

    /// Creates a file in a directory and opens it; the fid becomes the file.
    fn create(
        &self,
        call: &mut C<'_, Self>,
        dir: &Self::Fid,
        name: Name<'_>,
        flags: OpenFlags,
        mode: u32,
        gid: u32,
    ) -> Answer<Opened<Self::Fid>> {
        unsupported()
    }

    /// Changes attributes.
    fn setattr(&self, call: &mut C<'_, Self>, fid: &Self::Fid, attr: &SetAttr) -> Answer<()> {
        unsupported()
    }

    /// Removes the file a fid stands for.
    fn remove(&self, call: &mut C<'_, Self>, fid: &Self::Fid) -> Answer<()> {
        unsupported()
    }

    /// Moves a file into `dir` (without one: where it is) under a new name. `replace`: what has
    /// that name already is lost; else EEXIST.
    fn rename(
        &self,
        call: &mut C<'_, Self>,
        fid: &Self::Fid,
        dir: Option<&Self::Fid>,
        name: Name<'_>,
        replace: bool,
    ) -> Answer<()> {
        unsupported()
    }

    /// Whether no file is ever renamed, so that the name which led to a fid is still its own.
    fn keeps_names(&self, fid: &Self::Fid) -> bool {
        false
    }

    /// Moves a name.
    fn renameat(
        &self,
        call: &mut C<'_, Self>,
        from: (&Self::Fid, Name<'_>),
        to: (&Self::Fid, Name<'_>),
    ) -> Answer<()> {
        unsupported()
    }

    /// Removes a name; `directory`: it must be an empty directory (AT_REMOVEDIR).
    fn unlinkat(
        &self,
        call: &mut C<'_, Self>,
        dir: &Self::Fid,
        name: Name<'_>,
        directory: bool,
    ) -> Answer<()> {
        unsupported()
    }

    /// Makes a directory.
    fn mkdir(
        &self,
        call: &mut C<'_, Self>,
        dir: &Self::Fid,
        name: Name<'_>,
        mode: u32,
        gid: u32,
    ) -> Answer<Qid> {
        unsupported()
    }

    /// Makes a symbolic link.
    fn symlink(
        &self,
        call: &mut C<'_, Self>,
        dir: &Self::Fid,
        name: Name<'_>,
        target: &[u8],
        gid: u32,
    ) -> Answer<Qid> {
        unsupported()
    }

    /// Makes a special file; `device` is major and minor number.
    fn mknod(
        &self,
        call: &mut C<'_, Self>,
        dir: &Self::Fid,
        name: Name<'_>,
        mode: u32,
        device: (u32, u32),
        gid: u32,
    ) -> Answer<Qid> {
        unsupported()
    }

    /// Gives a file another name.
    fn link(
        &self,
        call: &mut C<'_, Self>,
        dir: &Self::Fid,
        fid: &Self::Fid,
        name: Name<'_>,
    ) -> Answer<()> {
        unsupported()
    }

    /// What a symbolic link says.
    fn readlink(&self, call: &mut C<'_, Self>, fid: &Self::Fid) -> Answer<Vec<u8>> {
        unsupported()
    }

    /// Totals of the file system.
    fn statfs(&self, call: &mut C<'_, Self>, fid: &Self::Fid) -> Answer<Statfs> {
        unsupported()
    }

    /// Brings content to stable storage; `data`: content only.
    fn fsync(&self, call: &mut C<'_, Self>, fid: &Self::Fid, data: bool) -> Answer<()> {
        unsupported()
    }

    /// Locks or unlocks a range; `block`: the answer may wait until the lock is had.
    fn lock(
        &self,
        call: &mut C<'_, Self>,
        fid: &Self::Fid,
        range: &LockRange<'_>,
        block: bool,
    ) -> Answer<LockStatus> {
        unsupported()
    }

    /// Asks who holds a range.
    fn getlock(
        &self,
        call: &mut C<'_, Self>,
        fid: &Self::Fid,
        range: &LockRange<'_>,
    ) -> Answer<HeldLock> {
        unsupported()
    }

    /// A new fid that reads an extended attribute, or with an empty name the list of all, and
    /// its size.
    fn xattrwalk(
        &self,
        call: &mut C<'_, Self>,
        fid: &Self::Fid,
        name: Name<'_>,
    ) -> Answer<(Self::Fid, u64)> {
        unsupported()
    }

    /// Turns a fid into one that writes an extended attribute of `size` bytes, set at its clunk
    /// ([`Tree::commit`]).
    fn xattrcreate(
        &self,
        call: &mut C<'_, Self>,
        fid: &Self::Fid,
        name: Name<'_>,
        size: u64,
        flags: u32,
    ) -> Answer<Opened<Self::Fid>> {
        unsupported()
    }

    /// Sets the extended attribute that was written through a fid, as its client clunks it: the
    /// answer is that of the clunk, and [`Tree::clunk`] is next.
    fn commit(&self, call: &mut C<'_, Self>, fid: &Self::Fid) -> Answer<()> {
        unsupported()
    }

    /// Fids that one connection may have at a time, [`FIDS_MAX`] at most.
    fn fids_max(&self) -> usize {
        FIDS_MAX
    }

    /// Name of a user, for the dialects that want one.
    fn user_name(&self, uid: u32) -> String {
        uid.to_string()
    }

    /// Name of a group, for the dialects that want one.
    fn group_name(&self, gid: u32) -> String {
        gid.to_string()
    }

    /// The user of this name.
    fn user_number(&self, name: &str) -> Option<u32> {
        name.parse().ok()
    }

    /// The group of this name.
    fn group_number(&self, name: &str) -> Option<u32> {
        name.parse().ok()
    }
}

/// The call as `Tree`'s methods see it.
pub type C<'a, T> = Call<'a, <T as Tree>::Fid>;
