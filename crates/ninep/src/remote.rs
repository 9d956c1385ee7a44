//! A tree that lives at another server: every request is handed on to it and answered when it
//! answers. Mounted in a tree of one's own it makes another server's files part of it.
//!
//! A request is claimed when it is sent, because from then on only the other server knows
//! whether it is carried out. A flush of it, or the end of the client who asked, is sent on as a
//! flush; the other server's answer to that (the result after all, or EINTR) is the answer. So
//! nothing is read from a remote pipe for somebody who has stopped waiting.
//!
//! What is written to a server that is slower than its clients waits: first in the queue to it, of
//! which `HANDED_ON_MAX` bytes are for all of them, then with the session of who writes, and then
//! that client is not read from until there is room (`WRITES_KEPT_MAX`).
//!
//! A fid here is a fid there, clunked when the last clone of it is dropped; that of a file which
//! this tree's client created is the directory's. Clunks are not waited for: whatever a client
//! asks next is asked behind them, on the same connection. Only that of a fid that writes an
//! extended attribute is, as the attribute is set then, or refused.

use crate::call::{Answer, Data, HeldLock, LockStatus, Opened, Outcome, Pause, Walked};
use crate::client::{Cancel, Client, Fid};
use crate::error::{Errno, Error, Result, fail};
use crate::promised::Source;
use crate::record::{Attr, DirEntry, LockRange, Qid, SetAttr, Statfs};
use crate::synthetic::MADE;
use crate::tree::{Attach, C, OpenFlags, Tree};
use crate::wire::Name;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// What a request is answered with.
type Then<T> = Box<dyn FnOnce(Result<T>) + Send>;

/// The tree of another server.
#[derive(Debug)]
pub struct Remote {
    /// Never blocks: the thread that serves our clients must not wait for the other server. They
    /// leave enough of the connection for who else uses it.
    client: Client,
    place: Arc<Place>,
}

/// What tells this server's files and errors from those of others.
#[derive(Debug)]
struct Place {
    name: String,
    salt: u64,
}

impl Place {
    /// A qid that no file of another server has, unless by a chance of 2^-63: the other
    /// server's paths, all changed in the same bits, but for the one that tells what is made up.
    fn qid(&self, qid: Qid) -> Qid {
        Qid { path: qid.path ^ self.salt, ..qid }
    }

    fn error(&self, error: Error) -> Error {
        if error.text.contains(&self.name) { error } else { error.at(&self.name) }
    }
}

impl Remote {
    /// The tree that `client` is attached to. Errors get `name` in front.
    pub fn new(client: &Client, name: impl Into<String>) -> Remote {
        let name = name.into();
        let mut hasher = DefaultHasher::new();
        name.hash(&mut hasher);
        let place = Arc::new(Place { name, salt: hasher.finish() & !MADE });
        Remote { client: client.never_blocking().for_guests(), place }
    }

    /// The root of the other tree, for mounting.
    pub fn root(&self) -> (Fid, Qid) {
        let root = self.client.root();
        let qid = self.place.qid(root.qid());
        (root, qid)
    }

    /// A file of the other tree, for mounting.
    pub fn place_of(&self, fid: &Fid) -> (Fid, Qid) {
        (fid.through(&self.client), self.place.qid(fid.qid()))
    }

    fn source(&self) -> Source {
        Source::Server(self.client.id())
    }

    /// Parks a request until the other server answers; `read` makes our answer of its.
    fn hand_on<T: 'static, R: 'static>(
        &self,
        call: &mut C<'_, Remote>,
        send: impl FnOnce(Then<T>) -> Cancel,
        read: impl FnOnce(T, &Place) -> R + Send + 'static,
    ) -> Answer<R>
    where
        Outcome<Fid>: From<R>,
    {
        call.park(|ticket| {
            // Nobody can have flushed it yet.
            ticket.claim();
            let hook = ticket.flush_hook();
            let place = self.place.clone();
            let cancel = send(Box::new(move |answer: Result<T>| {
                let answer = answer.map(|answer| read(answer, &place));
                ticket.answer(answer.map_err(|error| place.error(error)));
            }));
            hook.set(move || cancel.flush());
        })
    }
}

/// Our fid is theirs; only its qid changes.
fn opened(fid: &Fid) -> impl FnOnce((Qid, u32), &Place) -> Opened<Fid> + Send + use<> {
    let fid = fid.clone();
    move |(qid, iounit), place| Opened { fid, qid: place.qid(qid), iounit }
}

fn made(qid: Qid, place: &Place) -> Qid {
    place.qid(qid)
}

/// For answers that need no change.
fn as_it_is<T>(answer: T, _: &Place) -> T {
    answer
}

/// Moves a file into a directory. Trename replaces what has the name there; so if it is not to be,
/// whether there is anything is asked before.
fn rename_into(file: &Fid, dir: &Fid, name: &[u8], replace: bool, then: Then<()>) -> Cancel {
    if replace {
        return file.rename_then(dir, name, then);
    }
    let (file, to, new_name) = (file.clone(), dir.clone(), name.to_vec());
    dir.walk_then(&[name], move |found| match found {
        Err(error) if error.errno == Errno::NOENT => drop(file.rename_then(&to, &new_name, then)),
        Ok((_, Some(found))) if found.qid().path == file.qid().path => then(Ok(())),
        Ok(_) => then(fail(Errno::EXIST, "another file has this name")),
        Err(error) => then(Err(error)),
    })
}

impl Tree for Remote {
    type Fid = Fid;

    /// The connection is attached already, as the user whom [`Client`]'s options name.
    fn attach(&self, _: &mut C<'_, Self>, who: &Attach<'_>) -> Answer<(Fid, Qid)> {
        if !who.aname.is_empty() {
            return fail(Errno::NOENT, "another server's tree has no other trees beside it");
        }
        Ok(self.root())
    }

    fn walk(&self, call: &mut C<'_, Self>, from: &Fid, names: &[Name<'_>]) -> Answer<Walked<Fid>> {
        let read = |(qids, fid): (Vec<Qid>, Option<Fid>), place: &Place| Walked {
            qids: qids.into_iter().map(|qid| place.qid(qid)).collect(),
            fid,
        };
        self.hand_on(call, |then| from.walk_then(names, then), read)
    }

    fn open(&self, call: &mut C<'_, Self>, fid: &Fid, flags: OpenFlags) -> Answer<Opened<Fid>> {
        self.hand_on(call, |then| fid.open_then(flags, then), opened(fid))
    }

    fn clunk(&self, fid: Fid) {
        drop(fid);
    }

    fn getattr(&self, call: &mut C<'_, Self>, fid: &Fid) -> Answer<Attr> {
        let read = |attr: Attr, place: &Place| Attr { qid: place.qid(attr.qid), ..attr };
        self.hand_on(call, |then| fid.getattr_then(then), read)
    }

    fn read(&self, call: &mut C<'_, Self>, fid: &Fid, offset: u64, count: usize) -> Answer<Data> {
        let count = if fid.qid().path & MADE == 0 {
            call.brings_from(self.source(), count)?;
            count
        } else {
            // What is made up there may wait for whoever writes it.
            call.share_of(count)
        };
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        let send = |then: Then<Vec<u8>>| {
            fid.read_then(offset, count, move |answer| then(answer.map(<[u8]>::to_vec)))
        };
        self.hand_on(call, send, |bytes, _| Data::Bytes(bytes))
    }

    fn write(&self, call: &mut C<'_, Self>, fid: &Fid, offset: u64, data: &[u8]) -> Answer<u32> {
        if !fid.takes_writes_or(|| call.waker()) {
            return Err(Pause::Later);
        }
        self.hand_on(call, |then| fid.write_then(offset, data, then), as_it_is)
    }

    /// Without attributes, even where they are asked for: each would be a request of its own.
    fn readdir(
        &self,
        call: &mut C<'_, Self>,
        fid: &Fid,
        offset: u64,
        count: usize,
        _attrs: bool,
    ) -> Answer<Vec<DirEntry>> {
        call.brings_from(self.source(), count)?;
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        let read = |mut entries: Vec<DirEntry>, place: &Place| {
            entries.iter_mut().for_each(|entry| entry.qid = place.qid(entry.qid));
            entries
        };
        self.hand_on(call, |then| fid.readdir_then(offset, count, then), read)
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
        let send = |then| dir.create_then(name, flags, mode, gid, then);
        self.hand_on(call, send, opened(dir))
    }

    fn setattr(&self, call: &mut C<'_, Self>, fid: &Fid, attr: &SetAttr) -> Answer<()> {
        self.hand_on(call, |then| fid.setattr_then(attr, then), as_it_is)
    }

    fn remove(&self, call: &mut C<'_, Self>, fid: &Fid) -> Answer<()> {
        self.hand_on(call, |then| fid.remove_then(then), as_it_is)
    }

    fn rename(
        &self,
        call: &mut C<'_, Self>,
        fid: &Fid,
        dir: Option<&Fid>,
        name: Name<'_>,
        replace: bool,
    ) -> Answer<()> {
        if let Some(dir) = dir {
            let send = |then| rename_into(fid, dir, name, replace, then);
            return self.hand_on(call, send, as_it_is);
        }
        // 9P2000.L has no rename in place: find the directory first, which a server of ours tells
        // of any file.
        let (file, name) = (fid.clone(), name.to_vec());
        let send = |then: Then<()>| {
            fid.walk_then(&[b".."], move |parent| match parent {
                Ok((_, Some(parent))) => drop(rename_into(&file, &parent, &name, replace, then)),
                Ok((_, None)) => then(Err(Error::from(Errno::NOENT))),
                Err(error) => then(Err(error)),
            })
        };
        self.hand_on(call, send, as_it_is)
    }

    fn renameat(
        &self,
        call: &mut C<'_, Self>,
        (from, name): (&Fid, Name<'_>),
        (to, new_name): (&Fid, Name<'_>),
    ) -> Answer<()> {
        let send = |then| from.renameat_then(name, to, new_name, then);
        self.hand_on(call, send, as_it_is)
    }

    fn unlinkat(
        &self,
        call: &mut C<'_, Self>,
        dir: &Fid,
        name: Name<'_>,
        directory: bool,
    ) -> Answer<()> {
        self.hand_on(call, |then| dir.unlinkat_then(name, directory, then), as_it_is)
    }

    fn mkdir(
        &self,
        call: &mut C<'_, Self>,
        dir: &Fid,
        name: Name<'_>,
        mode: u32,
        gid: u32,
    ) -> Answer<Qid> {
        self.hand_on(call, |then| dir.mkdir_then(name, mode, gid, then), made)
    }

    fn symlink(
        &self,
        call: &mut C<'_, Self>,
        dir: &Fid,
        name: Name<'_>,
        target: &[u8],
        gid: u32,
    ) -> Answer<Qid> {
        self.hand_on(call, |then| dir.symlink_then(name, target, gid, then), made)
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
        self.hand_on(call, |then| dir.mknod_then(name, mode, device, gid, then), made)
    }

    fn link(&self, call: &mut C<'_, Self>, dir: &Fid, fid: &Fid, name: Name<'_>) -> Answer<()> {
        self.hand_on(call, |then| dir.link_then(fid, name, then), as_it_is)
    }

    fn readlink(&self, call: &mut C<'_, Self>, fid: &Fid) -> Answer<Vec<u8>> {
        self.hand_on(call, |then| fid.readlink_then(then), as_it_is)
    }

    fn statfs(&self, call: &mut C<'_, Self>, fid: &Fid) -> Answer<Statfs> {
        self.hand_on(call, |then| fid.statfs_then(then), as_it_is)
    }

    fn fsync(&self, call: &mut C<'_, Self>, fid: &Fid, data: bool) -> Answer<()> {
        self.hand_on(call, |then| fid.fsync_then(data, then), as_it_is)
    }

    fn lock(
        &self,
        call: &mut C<'_, Self>,
        fid: &Fid,
        range: &LockRange<'_>,
        block: bool,
    ) -> Answer<LockStatus> {
        self.hand_on(call, |then| fid.lock_then(range, block, then), as_it_is)
    }

    fn getlock(
        &self,
        call: &mut C<'_, Self>,
        fid: &Fid,
        range: &LockRange<'_>,
    ) -> Answer<HeldLock> {
        self.hand_on(call, |then| fid.getlock_then(range, then), as_it_is)
    }

    fn xattrwalk(&self, call: &mut C<'_, Self>, fid: &Fid, name: Name<'_>) -> Answer<(Fid, u64)> {
        self.hand_on(call, |then| fid.xattrwalk_then(name, then), as_it_is)
    }

    fn xattrcreate(
        &self,
        call: &mut C<'_, Self>,
        fid: &Fid,
        name: Name<'_>,
        size: u64,
        flags: u32,
    ) -> Answer<Opened<Fid>> {
        let same = fid.clone();
        let read = move |(), place: &Place| {
            let qid = place.qid(same.qid());
            Opened { fid: same, qid, iounit: 0 }
        };
        self.hand_on(call, |then| fid.xattrcreate_then(name, size, flags, then), read)
    }

    fn commit(&self, call: &mut C<'_, Self>, fid: &Fid) -> Answer<()> {
        self.hand_on(call, |then| fid.clunk_then(then), as_it_is)
    }
}

#[cfg(test)]
mod tests;
