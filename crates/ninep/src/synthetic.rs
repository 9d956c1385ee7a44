//! Trees that a program makes up: directories and files whose content is computed, with other
//! trees mounted in them.
//!
//! A server of this kind is a set of [`Dir`]s and [`File`]s; nothing else of 9P concerns it.
//! Names are looked up at each walk, so what is not there any more is not found any more. A fid
//! keeps all directories it came through alive: a directory may count who is in it by `Drop`. A
//! file may be made anew at each walk: which one it is says its place, a name in a directory.

use crate::call::{Answer, Call, Data, Opened, Pause, Walked};
use crate::error::{Errno, Error, Result, fail};
use crate::mounted::{Foreign, Mounted};
use crate::record::{Attr, DirEntry, Qid, SetAttr, Statfs, Time, mode};
use crate::tree::{Attach, C, OpenFlags, Tree};
use crate::wire::Name;
use muster_base::limits::FIDS_MAX;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};

/// A request to a synthetic tree.
pub type SynCall<'a> = Call<'a, Fid>;

/// Bit of every qid path made here; no file system's inode numbers reach so far.
pub const MADE: u64 = 1 << 63;

/// Bit of those that tell what something is, and not that it is new.
const NAMED: u64 = 1 << 62;

static NEXT: AtomicU64 = AtomicU64::new(1);

/// Identity and attributes of something made up.
#[derive(Debug, Clone)]
pub struct Inode {
    path: u64,
    permissions: u32,
    born: Time,
}

impl Inode {
    /// A new one with these permissions.
    pub fn new(permissions: u32) -> Inode {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let born = Time { sec: now.as_secs(), nsec: now.subsec_nanos().into() };
        Inode { path: MADE | NEXT.fetch_add(1, Ordering::Relaxed), permissions, born }
    }

    /// That of `what` in this tree: of what is made anew each time that somebody walks to it. A
    /// kernel takes a directory for removed whose name leads to another, also from who is in it.
    pub fn of(permissions: u32, what: impl Hash) -> Inode {
        Inode { path: path_of(what), ..Inode::new(permissions) }
    }

    fn qid(&self, kind: u8) -> Qid {
        Qid { kind, version: 0, path: self.path }
    }

    fn attr(&self, kind: u32, size: u64) -> Attr {
        Attr {
            valid: Attr::BASIC,
            qid: self.qid(Qid::kind_of_mode(kind)),
            mode: kind | self.permissions,
            uid: rustix::process::geteuid().as_raw(),
            gid: rustix::process::getegid().as_raw(),
            nlink: if kind == mode::DIR { 2 } else { 1 },
            size,
            blksize: 4096,
            blocks: size.div_ceil(512),
            atime: self.born,
            mtime: self.born,
            ctime: self.born,
            ..Attr::default()
        }
    }
}

fn path_of(what: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    what.hash(&mut hasher);
    MADE | NAMED | hasher.finish() >> 2
}

/// A directory made up.
pub trait Dir: Send + Sync {
    /// Who it is.
    fn inode(&self) -> &Inode;
    /// The entry of that name; `None` if there is none.
    ///
    /// # Errors
    /// When there should be one but it cannot be had (its node is down).
    fn get(&self, name: &str) -> Result<Option<Entry>>;
    /// The same for who only lists it, and goes nowhere.
    ///
    /// # Errors
    /// As [`Dir::get`].
    fn peek(&self, name: &str) -> Result<Option<Entry>> {
        self.get(name)
    }
    /// All names.
    fn list(&self) -> Vec<String>;
}

/// What a name stands for.
#[derive(Clone)]
pub enum Entry {
    /// A directory.
    Dir(Arc<dyn Dir>),
    /// A file.
    File(File),
    /// The root of another tree.
    Mount(Arc<dyn Foreign>, Qid),
}

impl Entry {
    /// Mounts `tree` at `fid`, which has this qid.
    pub fn mount<T: Tree>(tree: Arc<T>, fid: T::Fid, qid: Qid) -> Entry
    where
        T::Fid: Sync,
    {
        Entry::Mount(Mounted::of(tree, fid), qid)
    }

    /// Mounts what has this name below a directory of `tree`, which is at `fid` and has this qid.
    /// A listing tells the directory's, as what is there is asked for when somebody comes.
    pub fn mount_below<T: Tree>(tree: Arc<T>, (fid, qid): (T::Fid, Qid), name: &str) -> Entry
    where
        T::Fid: Sync,
    {
        Entry::Mount(Mounted::by(tree, fid, name), qid)
    }

    /// The entry that has this name in `dir`. A file is the same at each walk that leads there.
    fn named(mut self, dir: &dyn Dir, name: &str) -> Entry {
        if let Entry::File(file) = &mut self {
            file.inode.path = path_of((dir.inode().path, name));
        }
        self
    }

    fn qid(&self) -> Qid {
        match self {
            Entry::Dir(dir) => dir.inode().qid(Qid::DIR),
            Entry::File(file) => file.inode.qid(0),
            Entry::Mount(_, qid) => *qid,
        }
    }

    fn attr(&self) -> Option<Attr> {
        match self {
            Entry::Dir(dir) => Some(dir.inode().attr(mode::DIR, 0)),
            Entry::File(file) => Some(file.inode.attr(mode::FILE, (file.size)())),
            Entry::Mount(..) => None,
        }
    }
}

/// A file that is open. Dropped when it is closed.
pub trait Handle: Send + Sync {
    /// Reads.
    ///
    /// # Errors
    /// As [`Tree::read`].
    fn read(&self, call: &mut SynCall<'_>, offset: u64, count: usize) -> Answer<Data> {
        let _ = (call, offset, count);
        fail(Errno::BADF, "this file is not for reading")
    }

    /// Writes.
    ///
    /// # Errors
    /// As [`Tree::write`].
    fn write(&self, call: &mut SynCall<'_>, offset: u64, data: &[u8]) -> Answer<u32> {
        let _ = (call, offset, data);
        fail(Errno::BADF, "this file is not for writing")
    }

    /// Cuts the content, or forgets an unfinished line.
    ///
    /// # Errors
    /// When the content cannot be cut.
    fn truncate(&self, size: u64) -> Result<()> {
        let _ = size;
        Ok(())
    }
}

type Open = dyn Fn(OpenFlags) -> Result<Box<dyn Handle>> + Send + Sync;

/// A file made up.
#[derive(Clone)]
pub struct File {
    inode: Inode,
    open: Arc<Open>,
    size: Arc<dyn Fn() -> u64 + Send + Sync>,
}

impl File {
    /// A file that `open` opens.
    pub fn new<H: Handle + 'static>(
        permissions: u32,
        open: impl Fn(OpenFlags) -> Result<H> + Send + Sync + 'static,
    ) -> File {
        File {
            inode: Inode::new(permissions),
            open: Arc::new(move |flags| Ok(Box::new(open(flags)?))),
            size: Arc::new(|| 0),
        }
    }

    /// The same file, whose size `size` tells.
    #[must_use]
    pub fn sized(self, size: impl Fn() -> u64 + Send + Sync + 'static) -> File {
        File { size: Arc::new(size), ..self }
    }

    /// A file with a text that is made when it is opened.
    pub fn text(
        permissions: u32,
        text: impl Fn() -> Result<String> + Send + Sync + 'static,
    ) -> File {
        File::new(permissions, move |_| Ok(Snapshot(text()?.into_bytes())))
    }

    /// As an entry of a directory.
    pub fn entry(self) -> Entry {
        Entry::File(self)
    }

    fn allows(&self, flags: OpenFlags) -> Result<()> {
        let any = self.inode.permissions | self.inode.permissions >> 3;
        if flags.reads() && any & 0o444 == 0 || flags.writes() && any & 0o222 == 0 {
            let how = if flags.writes() { "writing" } else { "reading" };
            return fail(Errno::ACCESS, format!("this file is not for {how}"));
        }
        Ok(())
    }
}

/// Content that no longer changes.
pub struct Snapshot(pub Vec<u8>);

impl Handle for Snapshot {
    fn read(&self, _: &mut SynCall<'_>, offset: u64, count: usize) -> Answer<Data> {
        Ok(slice(&self.0, offset, count).to_vec().into())
    }
}

/// The part of `bytes` that a read asks for.
pub fn slice(bytes: &[u8], offset: u64, count: usize) -> &[u8] {
    let start = usize::try_from(offset).unwrap_or(usize::MAX).min(bytes.len());
    &bytes[start..bytes.len().min(start.saturating_add(count))]
}

/// Where a fid came from; keeps every directory above alive.
struct Trail {
    dir: Arc<dyn Dir>,
    above: Option<Arc<Trail>>,
}

#[derive(Clone)]
enum Place {
    Made(Entry),
    /// In a mounted tree, so many names below its root.
    Foreign(Arc<dyn Foreign>, usize),
}

type Entries = Option<Arc<Vec<(String, Entry)>>>;

/// A fid of a synthetic tree.
#[derive(Clone)]
pub struct Fid {
    place: Place,
    trail: Option<Arc<Trail>>,
    handle: Option<Arc<Box<dyn Handle>>>,
    /// An open directory's entries, as they were when it was last read from its start.
    entries: Option<Arc<Mutex<Entries>>>,
}

impl Fid {
    fn new(entry: Entry, trail: Option<Arc<Trail>>) -> Fid {
        let place = match entry {
            Entry::Mount(foreign, _) => Place::Foreign(foreign, 0),
            made => Place::Made(made),
        };
        Fid { place, trail, handle: None, entries: None }
    }

    /// The fid's place in a mounted tree, if it is in one.
    fn foreign(&self) -> Option<&Arc<dyn Foreign>> {
        match &self.place {
            Place::Foreign(foreign, _) => Some(foreign),
            Place::Made(_) => None,
        }
    }

    /// A fid in the same mounted tree.
    pub(crate) fn within(&self, foreign: Arc<dyn Foreign>, depth: usize) -> Fid {
        Fid { place: Place::Foreign(foreign, depth), ..self.clone() }
    }

    pub(crate) fn depth(&self) -> usize {
        match self.place {
            Place::Foreign(_, depth) => depth,
            Place::Made(_) => 0,
        }
    }
}

/// Puts a request to a mounted tree, or refuses it for what is made up.
macro_rules! foreign_only {
    ($fid:expr, $foreign:ident => $answer:expr) => {
        match $fid.foreign() {
            Some($foreign) => $answer,
            None => fail(Errno::PERM, "this is not a file on disk; it cannot be changed so"),
        }
    };
}

fn list(dir: &dyn Dir) -> Vec<(String, Entry)> {
    let get = |name: String| {
        let entry = dir.peek(&name).ok()??.named(dir, &name);
        Some((name, entry))
    };
    dir.list().into_iter().filter_map(get).collect()
}

/// Where whoever attaches comes in.
type Home = dyn Fn(&Attach<'_>) -> Result<Arc<dyn Dir>> + Send + Sync;

/// The tree below a root directory.
pub struct Synthetic {
    home: Box<Home>,
    fids_max: usize,
}

impl Synthetic {
    /// The tree below `root`. A client may attach to any directory of it that is made here.
    pub fn new(root: Arc<dyn Dir>) -> Synthetic {
        Synthetic::with_homes(move |_| Ok(root.clone()))
    }

    /// A tree whose root depends on who attaches.
    pub fn with_homes(
        home: impl Fn(&Attach<'_>) -> Result<Arc<dyn Dir>> + Send + Sync + 'static,
    ) -> Synthetic {
        Synthetic { home: Box::new(home), fids_max: FIDS_MAX }
    }

    /// The same, of which one connection may have so many fids at a time.
    #[must_use]
    pub fn with_fids_max(self, fids_max: usize) -> Synthetic {
        Synthetic { fids_max, ..self }
    }

    fn up(fid: &Fid) -> Fid {
        match &fid.trail {
            Some(trail) => Fid::new(Entry::Dir(trail.dir.clone()), trail.above.clone()),
            None => fid.clone(),
        }
    }

    fn down(fid: &Fid, name: Name<'_>) -> Result<(Fid, Qid)> {
        let Place::Made(Entry::Dir(dir)) = &fid.place else {
            return fail(Errno::NOTDIR, "not a directory");
        };
        let text = String::from_utf8_lossy(name);
        let missing = || Error::new(Errno::NOENT, format!("{text}: no such file"));
        let entry = dir.get(&text)?.ok_or_else(missing)?.named(&**dir, &text);
        let qid = entry.qid();
        let trail = Trail { dir: dir.clone(), above: fid.trail.clone() };
        Ok((Fid::new(entry, Some(Arc::new(trail))), qid))
    }
}

impl Tree for Synthetic {
    type Fid = Fid;

    fn attach(&self, _: &mut C<'_, Self>, who: &Attach<'_>) -> Answer<(Fid, Qid)> {
        let mut root = Entry::Dir((self.home)(who)?);
        for name in who.aname.split('/').filter(|name| !name.is_empty()) {
            let below = if let Entry::Dir(dir) = &root { dir.get(name)? } else { None };
            let missing = || Error::new(Errno::NOENT, format!("{}: no such tree", who.aname));
            root = below.filter(|below| matches!(below, Entry::Dir(_))).ok_or_else(missing)?;
        }
        let qid = root.qid();
        Ok((Fid::new(root, None), qid))
    }

    fn walk(&self, call: &mut C<'_, Self>, from: &Fid, names: &[Name<'_>]) -> Answer<Walked<Fid>> {
        let mut fid = Fid { handle: None, entries: None, ..from.clone() };
        let mut qids = Vec::with_capacity(names.len());
        for (at, name) in names.iter().enumerate() {
            let leaves = *name == b".." && fid.depth() == 0;
            if let (Place::Foreign(foreign, _), false) = (&fid.place, leaves) {
                return foreign.walk(call, &fid, &names[at..], qids);
            }
            let next = if *name == b".." {
                let up = Synthetic::up(&fid);
                let Place::Made(entry) = &up.place else { unreachable!("what is above is made") };
                let qid = entry.qid();
                Ok((up, qid))
            } else {
                Synthetic::down(&fid, name)
            };
            match next {
                Ok((next, qid)) => {
                    fid = next;
                    qids.push(qid);
                }
                Err(error) if at > 0 && error.ends_walk() => {
                    return Ok(Walked { qids, fid: None });
                }
                Err(error) => return Err(error.into()),
            }
        }
        match &fid.place {
            // A clone needs a fid of its own in the mounted tree as well.
            Place::Foreign(foreign, _) => foreign.walk(call, &fid, &[], qids),
            Place::Made(_) => Ok(Walked { qids, fid: Some(fid) }),
        }
    }

    fn open(&self, call: &mut C<'_, Self>, fid: &Fid, flags: OpenFlags) -> Answer<Opened<Fid>> {
        let mut opened = fid.clone();
        let qid = match &fid.place {
            Place::Foreign(foreign, _) => return foreign.open(call, fid, flags),
            Place::Made(Entry::Dir(dir)) => {
                opened.entries = Some(Arc::default());
                dir.inode().qid(Qid::DIR)
            }
            Place::Made(Entry::File(file)) => {
                file.allows(flags)?;
                let handle = (file.open)(flags)?;
                if flags.has(OpenFlags::TRUNC) {
                    handle.truncate(0)?;
                }
                opened.handle = Some(Arc::new(handle));
                file.inode.qid(0)
            }
            Place::Made(Entry::Mount(..)) => unreachable!("a mount is a foreign place"),
        };
        Ok(Opened { fid: opened, qid, iounit: 0 })
    }

    fn fids_max(&self) -> usize {
        self.fids_max
    }

    fn clunk(&self, fid: Fid) {
        fid.foreign().inspect(|foreign| foreign.clunk());
    }

    fn getattr(&self, call: &mut C<'_, Self>, fid: &Fid) -> Answer<Attr> {
        match &fid.place {
            Place::Foreign(foreign, _) => foreign.getattr(call),
            Place::Made(entry) => Ok(entry.attr().expect("made entries have attributes")),
        }
    }

    fn read(&self, call: &mut C<'_, Self>, fid: &Fid, offset: u64, n: usize) -> Answer<Data> {
        match (&fid.place, &fid.handle) {
            (Place::Foreign(foreign, _), _) => foreign.read(call, offset, n),
            (_, Some(handle)) => handle.read(call, offset, n),
            _ => fail(Errno::BADF, "this file is not open"),
        }
    }

    fn write(&self, call: &mut C<'_, Self>, fid: &Fid, offset: u64, data: &[u8]) -> Answer<u32> {
        match (&fid.place, &fid.handle) {
            (Place::Foreign(foreign, _), _) => foreign.write(call, offset, data),
            (_, Some(handle)) => handle.write(call, offset, data),
            _ => fail(Errno::BADF, "this file is not open"),
        }
    }

    fn readdir(
        &self,
        call: &mut C<'_, Self>,
        fid: &Fid,
        offset: u64,
        count: usize,
        attrs: bool,
    ) -> Answer<Vec<DirEntry>> {
        if let Place::Foreign(foreign, _) = &fid.place {
            return foreign.readdir(call, offset, count, attrs);
        }
        let (Place::Made(own), Some(entries)) = (&fid.place, &fid.entries) else {
            return fail(Errno::BADF, "this directory is not open");
        };
        let Entry::Dir(dir) = own else { unreachable!("only directories have entries") };
        let mut kept = entries.lock().expect("no holder panics");
        // Whoever begins again sees what is there now, as rewinddir(3) has it.
        let anew = if offset == 0 { None } else { kept.take() };
        let entries = anew.unwrap_or_else(|| Arc::new(list(&**dir)));
        *kept = Some(entries.clone());
        drop(kept);
        let above = Synthetic::up(fid);
        let Place::Made(parent) = &above.place else { unreachable!("what is above is made") };
        let dots = [(".", own), ("..", parent)];
        let named = entries.iter().map(|(name, entry)| (name.as_str(), entry));
        let mut room = count;
        let mut found = Vec::new();
        let all = dots.into_iter().chain(named).enumerate();
        for (at, (name, entry)) in all.skip(usize::try_from(offset).unwrap_or(usize::MAX)) {
            let qid = entry.qid();
            let kind = ((if qid.is_dir() { mode::DIR } else { mode::FILE }) >> 12) as u8;
            let attr = if attrs { entry.attr() } else { None };
            let next = at as u64 + 1;
            let entry = DirEntry { qid, next, kind, name: name.as_bytes().to_vec(), attr };
            if entry.size() > room {
                break;
            }
            room -= entry.size();
            found.push(entry);
        }
        Ok(found)
    }

    fn create(
        &self,
        call: &mut C<'_, Self>,
        dir: &Fid,
        name: Name<'_>,
        flags: OpenFlags,
        mode: u32,
        gid: u32,
    ) -> Answer<Opened<Fid>> {
        if let Some(foreign) = dir.foreign() {
            return foreign.create(call, dir, name, flags, mode, gid);
        }
        // A shell's `>` creates what it writes; what is here already is opened.
        match Synthetic::down(dir, name) {
            Ok(_) if flags.has(OpenFlags::EXCL) => fail(Errno::EXIST, "this file is there already"),
            Ok((fid, _)) if matches!(fid.place, Place::Made(Entry::File(_))) => {
                self.open(call, &fid, flags)
            }
            // Least of all a mount, whose one fid at the other server all walks start from.
            Ok(_) => fail(Errno::ISDIR, "this is a directory"),
            Err(_) => fail(Errno::PERM, "no files can be made in this directory"),
        }
    }

    fn setattr(&self, call: &mut C<'_, Self>, fid: &Fid, attr: &SetAttr) -> Answer<()> {
        if let Some(foreign) = fid.foreign() {
            return foreign.setattr(call, attr);
        }
        if attr.has(SetAttr::MODE | SetAttr::UID | SetAttr::GID) {
            return fail(Errno::PERM, "owner and permissions of this file are fixed");
        }
        if attr.has(SetAttr::SIZE) {
            match (&fid.handle, &fid.place) {
                (Some(handle), _) => handle.truncate(attr.size)?,
                (None, Place::Made(Entry::File(file))) => {
                    let write = OpenFlags(OpenFlags::WRONLY);
                    file.allows(write)?;
                    (file.open)(write)?.truncate(attr.size)?;
                }
                _ => return fail(Errno::ISDIR, "this is a directory"),
            }
        }
        Ok(())
    }

    fn remove(&self, call: &mut C<'_, Self>, fid: &Fid) -> Answer<()> {
        foreign_only!(fid, foreign => foreign.remove(call))
    }

    fn rename(
        &self,
        call: &mut C<'_, Self>,
        fid: &Fid,
        dir: Option<&Fid>,
        name: Name<'_>,
        replace: bool,
    ) -> Answer<()> {
        let dir = match dir.map(|dir| dir.foreign().ok_or(Errno::XDEV)).transpose() {
            Ok(dir) => dir.map(|foreign| &**foreign),
            Err(errno) => return Err(Pause::from(errno)),
        };
        foreign_only!(fid, foreign => foreign.rename(call, dir, name, replace))
    }

    fn keeps_names(&self, fid: &Fid) -> bool {
        fid.foreign().is_none()
    }

    fn renameat(
        &self,
        call: &mut C<'_, Self>,
        from: (&Fid, Name<'_>),
        to: (&Fid, Name<'_>),
    ) -> Answer<()> {
        let Some(target) = to.0.foreign() else { return Err(Errno::XDEV.into()) };
        foreign_only!(from.0, foreign => foreign.renameat(call, from.1, &**target, to.1))
    }

    fn unlinkat(
        &self,
        call: &mut C<'_, Self>,
        dir: &Fid,
        name: Name<'_>,
        directory: bool,
    ) -> Answer<()> {
        foreign_only!(dir, foreign => foreign.unlinkat(call, name, directory))
    }

    fn mkdir(
        &self,
        call: &mut C<'_, Self>,
        dir: &Fid,
        name: Name<'_>,
        mode: u32,
        gid: u32,
    ) -> Answer<Qid> {
        foreign_only!(dir, foreign => foreign.mkdir(call, name, mode, gid))
    }

    fn symlink(
        &self,
        call: &mut C<'_, Self>,
        dir: &Fid,
        name: Name<'_>,
        target: &[u8],
        gid: u32,
    ) -> Answer<Qid> {
        foreign_only!(dir, foreign => foreign.symlink(call, name, target, gid))
    }

    fn mknod(
        &self,
        call: &mut C<'_, Self>,
        dir: &Fid,
        name: Name<'_>,
        mode: u32,
        device: (u32, u32),
        gid: u32,
    ) -> Answer<Qid> {
        foreign_only!(dir, foreign => foreign.mknod(call, name, mode, device, gid))
    }

    fn link(&self, call: &mut C<'_, Self>, dir: &Fid, fid: &Fid, name: Name<'_>) -> Answer<()> {
        let Some(file) = fid.foreign() else { return Err(Errno::XDEV.into()) };
        foreign_only!(dir, foreign => foreign.link(call, &**file, name))
    }

    fn readlink(&self, call: &mut C<'_, Self>, fid: &Fid) -> Answer<Vec<u8>> {
        foreign_only!(fid, foreign => foreign.readlink(call))
    }

    fn statfs(&self, call: &mut C<'_, Self>, fid: &Fid) -> Answer<Statfs> {
        match fid.foreign() {
            Some(foreign) => foreign.statfs(call),
            // V9FS_MAGIC of linux/magic.h: what is made up takes no space.
            None => {
                Ok(Statfs { kind: 0x0102_1997, bsize: 4096, namelen: 255, ..Statfs::default() })
            }
        }
    }

    fn fsync(&self, call: &mut C<'_, Self>, fid: &Fid, data: bool) -> Answer<()> {
        fid.foreign().map_or(Ok(()), |foreign| foreign.fsync(call, data))
    }

    fn lock(
        &self,
        call: &mut C<'_, Self>,
        fid: &Fid,
        range: &crate::record::LockRange<'_>,
        block: bool,
    ) -> Answer<crate::call::LockStatus> {
        foreign_only!(fid, foreign => foreign.lock(call, range, block))
    }

    fn getlock(
        &self,
        call: &mut C<'_, Self>,
        fid: &Fid,
        range: &crate::record::LockRange<'_>,
    ) -> Answer<crate::call::HeldLock> {
        foreign_only!(fid, foreign => foreign.getlock(call, range))
    }

    fn xattrwalk(&self, call: &mut C<'_, Self>, fid: &Fid, name: Name<'_>) -> Answer<(Fid, u64)> {
        match fid.foreign() {
            Some(foreign) => foreign.xattrwalk(call, fid, name),
            None => fail(Errno::OPNOTSUPP, "this file has no extended attributes"),
        }
    }

    fn xattrcreate(
        &self,
        call: &mut C<'_, Self>,
        fid: &Fid,
        name: Name<'_>,
        size: u64,
        flags: u32,
    ) -> Answer<Opened<Fid>> {
        foreign_only!(fid, foreign => foreign.xattrcreate(call, fid, name, size, flags))
    }

    fn commit(&self, call: &mut C<'_, Self>, fid: &Fid) -> Answer<()> {
        foreign_only!(fid, foreign => foreign.commit(call))
    }
}
