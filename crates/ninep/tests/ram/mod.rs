//! A tree of files in memory: how a server is written with this library.
//!
//! A fid is a reference to a node, so a file lives until its last name and its last fid are
//! gone. A read of an empty pipe parks: its ticket lies with the pipe until somebody writes.
#![allow(dead_code, reason = "each test uses a part of it")]

use muster_ninep::call::{Answer, Data, HeldLock, LockStatus, Opened, Ticket, Walked};
use muster_ninep::error::{Errno, Error, Result, fail};
use muster_ninep::record::{Attr, DirEntry, LockRange, Qid, SetAttr, Statfs, Time, mode};
use muster_ninep::tree::{Attach, C, OpenFlags, Tree};
use muster_ninep::wire::Name;
use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicIsize, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Weak};

/// Bytes that a file, or a pipe that nobody reads, may hold.
const CONTENT_MAX: usize = 512 << 10;

/// What a node holds.
enum Content {
    File(Vec<u8>),
    Dir(BTreeMap<Vec<u8>, Arc<Node>>),
    Link(Vec<u8>),
    Pipe(Pipe),
    Special,
}

/// Bytes that wait for readers, or readers that wait for bytes; never both.
#[derive(Default)]
struct Pipe {
    bytes: VecDeque<u8>,
    readers: VecDeque<(usize, Ticket<Data>)>,
}

impl Pipe {
    fn take(&mut self, count: usize) -> Vec<u8> {
        let count = count.min(self.bytes.len());
        self.bytes.drain(..count).collect()
    }

    /// Answers readers while there are bytes. One that was flushed must take none.
    fn serve(&mut self) {
        while !self.bytes.is_empty()
            && let Some((count, ticket)) = self.readers.pop_front()
        {
            if ticket.claim() {
                let bytes = self.take(count);
                ticket.answer(Ok(bytes.into()));
            }
        }
    }

    fn park(&mut self, count: usize, ticket: Ticket<Data>) {
        if self.readers.len() == self.readers.capacity() {
            self.readers.retain(|(_, ticket)| ticket.is_live());
        }
        self.readers.push_back((count, ticket));
    }
}

struct Body {
    attr: Attr,
    extended: BTreeMap<Vec<u8>, Vec<u8>>,
    parent: Weak<Node>,
    content: Content,
}

impl Body {
    fn entries(&mut self) -> Result<&mut BTreeMap<Vec<u8>, Arc<Node>>> {
        match &mut self.content {
            Content::Dir(entries) => Ok(entries),
            _ => fail(Errno::NOTDIR, "this is not a directory"),
        }
    }

    fn resize(&mut self, size: u64) -> Result<()> {
        match &mut self.content {
            Content::File(_) if size > CONTENT_MAX as u64 => fail(Errno::FBIG, "too large"),
            Content::File(bytes) => {
                bytes.resize(size as usize, 0);
                (self.attr.size, self.attr.qid.version) = (size, self.attr.qid.version + 1);
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

/// A file of any kind.
pub struct Node(Mutex<Body>);

impl Node {
    fn body(&self) -> MutexGuard<'_, Body> {
        self.0.lock().expect("no holder panics")
    }

    fn qid(&self) -> Qid {
        self.body().attr.qid
    }

    fn find(&self, name: Name<'_>) -> Result<Arc<Node>> {
        let mut body = self.body();
        let found = body.entries()?.get(name).cloned();
        found.ok_or_else(|| Error::new(Errno::NOENT, "there is no such file"))
    }

    fn take(&self, name: Name<'_>) -> Result<Arc<Node>> {
        let node = self.find(name)?;
        self.body().entries()?.remove(name);
        node.body().attr.nlink -= 1;
        Ok(node)
    }

    fn put(self: &Arc<Node>, name: Name<'_>, node: &Arc<Node>) -> Result<()> {
        self.body().entries()?.insert(name.to_vec(), node.clone());
        let mut body = node.body();
        (body.parent, body.attr.nlink) = (Arc::downgrade(self), body.attr.nlink + 1);
        Ok(())
    }

    fn place(self: &Arc<Node>) -> Result<(Arc<Node>, Vec<u8>)> {
        let parent = self.body().parent.upgrade();
        let parent = parent.ok_or_else(|| Error::new(Errno::PERM, "it is not in a directory"))?;
        let mut body = parent.body();
        let name = body.entries()?.iter().find(|(_, node)| Arc::ptr_eq(node, self));
        let name = name.map(|(name, _)| name.clone());
        drop(body);
        name.map(|name| (parent, name))
            .ok_or_else(|| Error::new(Errno::NOENT, "it is removed already"))
    }
}

/// What a fid stands for.
#[derive(Clone)]
pub enum Fid {
    /// A file.
    File(Arc<Node>),
    /// An extended attribute's value, read.
    Value(Vec<u8>),
    /// An extended attribute that is written: file, name, size, and what has come of it.
    NewValue(Arc<Node>, Vec<u8>, u64, Arc<Mutex<Vec<u8>>>),
}

impl Fid {
    fn node(&self) -> Result<&Arc<Node>> {
        match self {
            Fid::File(node) => Ok(node),
            _ => fail(Errno::INVAL, "this is an extended attribute"),
        }
    }
}

/// The tree.
pub struct Ram {
    root: Arc<Node>,
    next: AtomicU64,
    /// Fids handed out and not yet clunked.
    pub fids: AtomicIsize,
}

impl Ram {
    /// A tree with one file, `pipe`.
    pub fn new() -> Arc<Ram> {
        let content = Content::Dir(BTreeMap::new());
        let attr = Attr {
            qid: Qid { kind: Qid::DIR, version: 0, path: 0 },
            mode: mode::DIR | 0o755,
            nlink: 2,
            ..Attr::default()
        };
        let (parent, extended) = (Weak::new(), BTreeMap::new());
        let root = Arc::new(Node(Mutex::new(Body { attr, extended, parent, content })));
        let ram = Ram { root, next: AtomicU64::new(1), fids: AtomicIsize::new(0) };
        let pipe = Content::Pipe(Pipe::default());
        ram.make(&ram.root, b"pipe", mode::PIPE | 0o666, pipe).expect("a first file");
        Arc::new(ram)
    }

    fn make(
        &self,
        dir: &Arc<Node>,
        name: Name<'_>,
        mode: u32,
        content: Content,
    ) -> Result<Arc<Node>> {
        if dir.find(name).is_ok() {
            return fail(Errno::EXIST, "it exists already");
        }
        let path = self.next.fetch_add(1, Ordering::Relaxed);
        let qid = Qid { kind: Qid::kind_of_mode(mode), version: 0, path };
        let attr = Attr { valid: Attr::BASIC, qid, mode, ..Attr::default() };
        let (parent, extended) = (Weak::new(), BTreeMap::new());
        let node = Arc::new(Node(Mutex::new(Body { attr, extended, parent, content })));
        dir.put(name, &node)?;
        Ok(node)
    }

    fn hand_out(&self, fid: Fid) -> Fid {
        self.fids.fetch_add(1, Ordering::Relaxed);
        fid
    }
}

fn opened(fid: Fid, qid: Qid) -> Opened<Fid> {
    Opened { fid, qid, iounit: 0 }
}

/// As Linux packs it (`makedev(3)`).
fn device_number(major: u32, minor: u32) -> u64 {
    let (major, minor) = (u64::from(major), u64::from(minor));
    (major & !0xfff) << 32 | (major & 0xfff) << 8 | (minor & !0xff) << 12 | minor & 0xff
}

fn part(bytes: &[u8], offset: u64, count: usize) -> &[u8] {
    let start = usize::try_from(offset).unwrap_or(usize::MAX).min(bytes.len());
    &bytes[start..bytes.len().min(start.saturating_add(count))]
}

fn entry(node: &Node, name: &[u8], next: u64, attrs: bool) -> DirEntry {
    let attr = node.body().attr;
    let kind = (attr.mode >> 12) as u8;
    DirEntry { qid: attr.qid, next, kind, name: name.to_vec(), attr: attrs.then_some(attr) }
}

impl Tree for Ram {
    type Fid = Fid;

    fn attach(&self, _: &mut C<'_, Self>, who: &Attach<'_>) -> Answer<(Fid, Qid)> {
        if !who.aname.is_empty() {
            return fail(Errno::NOENT, format!("there is no tree called '{}'", who.aname));
        }
        Ok((self.hand_out(Fid::File(self.root.clone())), self.root.qid()))
    }

    fn walk(&self, _: &mut C<'_, Self>, from: &Fid, names: &[Name<'_>]) -> Answer<Walked<Fid>> {
        let (mut node, mut qids) = (from.node()?.clone(), Vec::new());
        for name in names {
            let next = match *name {
                b".." => Ok(node.body().parent.upgrade().unwrap_or_else(|| self.root.clone())),
                name => node.find(name),
            };
            match next {
                Ok(next) => node = next,
                Err(error) if qids.is_empty() => return Err(error.into()),
                Err(_) => return Ok(Walked { qids, fid: None }),
            }
            qids.push(node.qid());
        }
        Ok(Walked { qids, fid: Some(self.hand_out(Fid::File(node))) })
    }

    fn open(&self, _: &mut C<'_, Self>, fid: &Fid, flags: OpenFlags) -> Answer<Opened<Fid>> {
        if flags.has(OpenFlags::TRUNC) {
            fid.node()?.body().resize(0)?;
        }
        Ok(opened(fid.clone(), fid.node()?.qid()))
    }

    fn clunk(&self, _: Fid) {
        self.fids.fetch_sub(1, Ordering::Relaxed);
    }

    fn commit(&self, _: &mut C<'_, Self>, fid: &Fid) -> Answer<()> {
        let Fid::NewValue(node, name, size, value) = fid else { return Err(Errno::BADF.into()) };
        let value = value.lock().expect("no holder panics").clone();
        if value.len() as u64 != *size {
            return fail(Errno::INVAL, format!("{} of {size} bytes came", value.len()));
        }
        node.body().extended.insert(name.clone(), value);
        Ok(())
    }

    fn getattr(&self, _: &mut C<'_, Self>, fid: &Fid) -> Answer<Attr> {
        Ok(fid.node()?.body().attr)
    }

    fn read(&self, call: &mut C<'_, Self>, fid: &Fid, offset: u64, count: usize) -> Answer<Data> {
        let node = match fid {
            Fid::Value(value) => return Ok(part(value, offset, count).into()),
            file => file.node()?,
        };
        match &mut node.body().content {
            Content::File(bytes) => call.fill(count, |room| {
                let part = part(bytes, offset, count);
                room[..part.len()].copy_from_slice(part);
                Ok(part.len())
            }),
            Content::Pipe(pipe) if pipe.bytes.is_empty() && count > 0 => {
                call.park(|ticket| pipe.park(count, ticket))
            }
            Content::Pipe(pipe) => Ok(pipe.take(count).into()),
            _ => fail(Errno::INVAL, "this has no content"),
        }
    }

    fn write(&self, _: &mut C<'_, Self>, fid: &Fid, offset: u64, data: &[u8]) -> Answer<u32> {
        if let Fid::NewValue(_, _, size, value) = fid {
            let mut value = value.lock().expect("no holder panics");
            if offset != value.len() as u64 || offset + data.len() as u64 > *size {
                return fail(Errno::INVAL, "an attribute is written in order, up to its size");
            }
            value.extend_from_slice(data);
            return Ok(data.len() as u32);
        }
        let mut body = fid.node()?.body();
        let end = offset.saturating_add(data.len() as u64);
        if matches!(&body.content, Content::File(bytes) if end > bytes.len() as u64) {
            body.resize(end)?;
        }
        match &mut body.content {
            Content::File(bytes) => {
                bytes[offset as usize..end as usize].copy_from_slice(data);
                body.attr.qid.version += 1;
            }
            Content::Pipe(pipe) if pipe.bytes.len() + data.len() > CONTENT_MAX => {
                return fail(Errno::AGAIN, "the pipe is full");
            }
            Content::Pipe(pipe) => {
                pipe.bytes.extend(data);
                pipe.serve();
            }
            _ => return fail(Errno::INVAL, "this has no content"),
        }
        Ok(data.len() as u32)
    }

    fn readdir(
        &self,
        _: &mut C<'_, Self>,
        fid: &Fid,
        offset: u64,
        count: usize,
        attrs: bool,
    ) -> Answer<Vec<DirEntry>> {
        let node = fid.node()?;
        let parent = node.body().parent.upgrade().unwrap_or_else(|| node.clone());
        let mut all = vec![(b".".to_vec(), node.clone()), (b"..".to_vec(), parent)];
        all.extend(node.body().entries()?.iter().map(|(name, node)| (name.clone(), node.clone())));
        let (mut left, mut entries) = (count, Vec::new());
        for (at, (name, node)) in all.iter().enumerate().skip(offset as usize) {
            let entry = entry(node, name, at as u64 + 1, attrs);
            let Some(rest) = left.checked_sub(entry.size()) else { break };
            left = rest;
            entries.push(entry);
        }
        Ok(entries)
    }

    fn create(
        &self,
        _: &mut C<'_, Self>,
        dir: &Fid,
        name: Name<'_>,
        flags: OpenFlags,
        permissions: u32,
        _gid: u32,
    ) -> Answer<Opened<Fid>> {
        let dir = dir.node()?;
        let node = match dir.find(name) {
            Ok(_) if flags.has(OpenFlags::EXCL) => return fail(Errno::EXIST, "it exists already"),
            Ok(node) => node,
            Err(_) => {
                self.make(dir, name, mode::FILE | permissions & 0o7777, Content::File(vec![]))?
            }
        };
        let qid = node.qid();
        Ok(opened(Fid::File(node), qid))
    }

    fn setattr(&self, _: &mut C<'_, Self>, fid: &Fid, set: &SetAttr) -> Answer<()> {
        let mut body = fid.node()?.body();
        if set.has(SetAttr::SIZE) {
            body.resize(set.size)?;
        }
        let attr = &mut body.attr;
        if set.has(SetAttr::MODE) {
            attr.mode = attr.mode & mode::KIND | set.mode & 0o7777;
        }
        if set.has(SetAttr::UID) {
            attr.uid = set.uid;
        }
        if set.has(SetAttr::GID) {
            attr.gid = set.gid;
        }
        let time =
            |set_it: bool, given: Time| if set_it { given } else { Time { sec: 1, nsec: 0 } };
        if set.has(SetAttr::ATIME) {
            attr.atime = time(set.has(SetAttr::ATIME_SET), set.atime);
        }
        if set.has(SetAttr::MTIME) {
            attr.mtime = time(set.has(SetAttr::MTIME_SET), set.mtime);
        }
        Ok(())
    }

    fn remove(&self, call: &mut C<'_, Self>, fid: &Fid) -> Answer<()> {
        let node = fid.node()?;
        let (parent, name) = node.place()?;
        self.unlinkat(call, &Fid::File(parent), &name, node.qid().is_dir())
    }

    fn rename(
        &self,
        call: &mut C<'_, Self>,
        fid: &Fid,
        dir: Option<&Fid>,
        new_name: Name<'_>,
        replace: bool,
    ) -> Answer<()> {
        let (parent, name) = fid.node()?.place()?;
        if !replace && parent.find(new_name).is_ok() {
            return Err(Errno::EXIST.into());
        }
        let parent = Fid::File(parent);
        self.renameat(call, (&parent, &name), (dir.unwrap_or(&parent), new_name))
    }

    fn renameat(
        &self,
        _: &mut C<'_, Self>,
        (from, name): (&Fid, Name<'_>),
        (to, new_name): (&Fid, Name<'_>),
    ) -> Answer<()> {
        let (from, to) = (from.node()?, to.node()?);
        let moved = from.find(name)?;
        let mut above = Some(to.clone());
        while let Some(node) = above {
            if Arc::ptr_eq(&node, &moved) {
                return fail(Errno::INVAL, "a directory cannot move into itself");
            }
            above = node.body().parent.upgrade();
        }
        if to.find(new_name).is_ok_and(|there| there.qid().is_dir()) {
            return fail(Errno::EXIST, "a directory is in its place");
        }
        let node = from.take(name)?;
        let _ = to.take(new_name);
        Ok(to.put(new_name, &node)?)
    }

    fn unlinkat(
        &self,
        _: &mut C<'_, Self>,
        dir: &Fid,
        name: Name<'_>,
        directory: bool,
    ) -> Answer<()> {
        let dir = dir.node()?;
        let node = dir.find(name)?;
        match (node.body().entries(), directory) {
            (Ok(entries), true) if !entries.is_empty() => {
                return fail(Errno::NOTEMPTY, "the directory is not empty");
            }
            (Ok(_), false) => return fail(Errno::ISDIR, "this is a directory"),
            (Err(error), true) => return Err(error.into()),
            _ => {}
        }
        dir.take(name)?;
        Ok(())
    }

    fn mkdir(
        &self,
        _: &mut C<'_, Self>,
        dir: &Fid,
        name: Name<'_>,
        permissions: u32,
        _gid: u32,
    ) -> Answer<Qid> {
        let mode = mode::DIR | permissions & 0o7777;
        Ok(self.make(dir.node()?, name, mode, Content::Dir(BTreeMap::new()))?.qid())
    }

    fn symlink(
        &self,
        _: &mut C<'_, Self>,
        dir: &Fid,
        name: Name<'_>,
        target: &[u8],
        _gid: u32,
    ) -> Answer<Qid> {
        let content = Content::Link(target.to_vec());
        Ok(self.make(dir.node()?, name, mode::LINK | 0o777, content)?.qid())
    }

    fn mknod(
        &self,
        _: &mut C<'_, Self>,
        dir: &Fid,
        name: Name<'_>,
        mode: u32,
        (major, minor): (u32, u32),
        _gid: u32,
    ) -> Answer<Qid> {
        let content = match mode & mode::KIND {
            mode::PIPE => Content::Pipe(Pipe::default()),
            _ => Content::Special,
        };
        let node = self.make(dir.node()?, name, mode, content)?;
        node.body().attr.rdev = device_number(major, minor);
        Ok(node.qid())
    }

    fn link(&self, _: &mut C<'_, Self>, dir: &Fid, fid: &Fid, name: Name<'_>) -> Answer<()> {
        if fid.node()?.qid().is_dir() {
            return fail(Errno::PERM, "a directory has one name only");
        }
        if dir.node()?.find(name).is_ok() {
            return fail(Errno::EXIST, "it exists already");
        }
        Ok(dir.node()?.put(name, fid.node()?)?)
    }

    fn readlink(&self, _: &mut C<'_, Self>, fid: &Fid) -> Answer<Vec<u8>> {
        match &fid.node()?.body().content {
            Content::Link(target) => Ok(target.clone()),
            _ => fail(Errno::INVAL, "this is not a link"),
        }
    }

    fn statfs(&self, _: &mut C<'_, Self>, _: &Fid) -> Answer<Statfs> {
        Ok(Statfs { kind: 0x0102_1997, bsize: 4096, namelen: 255, ..Statfs::default() })
    }

    fn fsync(&self, _: &mut C<'_, Self>, _: &Fid, _data: bool) -> Answer<()> {
        Ok(())
    }

    fn lock(
        &self,
        _: &mut C<'_, Self>,
        _: &Fid,
        _: &LockRange<'_>,
        _block: bool,
    ) -> Answer<LockStatus> {
        Ok(LockStatus::Success)
    }

    fn getlock(&self, _: &mut C<'_, Self>, _: &Fid, range: &LockRange<'_>) -> Answer<HeldLock> {
        let client_id = range.client_id.to_owned();
        let LockRange { start, length, proc_id, .. } = *range;
        Ok(HeldLock { kind: LockRange::UNLOCK, start, length, proc_id, client_id })
    }

    fn xattrwalk(&self, _: &mut C<'_, Self>, fid: &Fid, name: Name<'_>) -> Answer<(Fid, u64)> {
        let body = fid.node()?.body();
        let value = if name.is_empty() {
            body.extended.keys().flat_map(|name| [name, &b"\0"[..]].concat()).collect()
        } else {
            let value = body.extended.get(name).cloned();
            value.ok_or_else(|| Error::new(Errno::NODATA, "there is no such attribute"))?
        };
        let size = value.len() as u64;
        Ok((self.hand_out(Fid::Value(value)), size))
    }

    fn xattrcreate(
        &self,
        _: &mut C<'_, Self>,
        fid: &Fid,
        name: Name<'_>,
        size: u64,
        _flags: u32,
    ) -> Answer<Opened<Fid>> {
        let node = fid.node()?;
        let value = Fid::NewValue(node.clone(), name.to_vec(), size, Arc::default());
        Ok(opened(value, node.qid()))
    }
}
