//! A file at a server: every request that 9P2000.L has about one, with a callback or waiting.

use super::Client;
use super::link::{Cancel, Rest};
use crate::call::{HeldLock, LockStatus, Wake};
use crate::error::{Errno, Error, Result};
use crate::message::{DataSync, Fid as Number, Rmessage, Tmessage};
use crate::record::{Attr, DirEntry, LockRange, Qid, SetAttr, Statfs};
use crate::tree::OpenFlags;
use crate::version::{Dialect, Version};
use crate::wire::{Name, Names, Payload, Reader};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

/// The lock may be waited for (`P9_LOCK_FLAGS_BLOCK`).
const LOCK_BLOCK: u32 = 1;
/// Remove a directory (`AT_REMOVEDIR`).
const REMOVE_DIR: u32 = 0x200;

/// A file at a server. Clones stand for the same fid, which is clunked with the last of them.
#[derive(Debug, Clone)]
pub struct Fid {
    client: Client,
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    /// Keeps the connection as long as the fid.
    client: Client,
    number: Number,
    /// Whether the server still knows it on our behalf.
    held: AtomicBool,
    iounit: AtomicU32,
    /// Qid and path; both change when a directory's fid becomes a file created in it.
    place: Mutex<(Qid, Arc<str>)>,
}

impl Drop for Inner {
    fn drop(&mut self) {
        if *self.held.get_mut() {
            self.client.shared.link.clunk(self.number);
        }
    }
}

/// Takes the fields out of the one answer that the core lets through.
macro_rules! fields {
    ($answer:expr, $variant:ident { $($field:ident),* } => $value:expr) => {
        match $answer {
            Rmessage::$variant { $($field),* } => $value,
            other => unreachable!("the core takes no R{} here", other.name()),
        }
    };
}

/// What is left of an answer without fields.
fn done(_: Rmessage<'_>) {}

/// What a walk tells: a qid for each name that was found, and the new fid if all were.
pub type Walked = (Vec<Qid>, Option<Fid>);

/// A walk and an open that belong together, until somebody is told of both.
struct Both<F> {
    client: Client,
    newfid: Number,
    flags: OpenFlags,
    state: Mutex<State<F>>,
    rest: Arc<Mutex<Rest>>,
}

struct State<F> {
    walked: Option<Result<Walked>>,
    opened: Option<Result<(Qid, u32)>>,
    then: Option<F>,
}

impl<F: FnOnce(Result<Walked>) + Send + 'static> Both<F> {
    /// One of them is answered. The answers may come in any order; with the later one it goes on.
    fn answered(&self, tell: impl FnOnce(&mut State<F>)) {
        let mut state = self.state.lock().expect("no holder panics");
        tell(&mut state);
        if state.walked.is_none() || state.opened.is_none() {
            return;
        }
        let all = (state.walked.take(), state.opened.take(), state.then.take());
        drop(state);
        let (Some(walked), Some(opened), Some(then)) = all else { return };
        match (walked, opened) {
            (Ok((qids, Some(fid))), Ok((_, iounit))) => {
                fid.inner.iounit.store(iounit, Ordering::Relaxed);
                then(Ok((qids, Some(fid))));
            }
            (Ok((qids, Some(fid))), Err(Error { errno: Errno::BADF | Errno::BUSY, .. })) => {
                self.open_again(qids, fid, then);
            }
            (Ok((_, Some(_))), Err(error)) => then(Err(error)),
            (walked, _) => {
                // Nobody speaks of that number any more.
                self.client.shared.link.release_fid(self.newfid);
                then(walked);
            }
        }
    }

    /// The walk was over later than the open.
    fn open_again(&self, qids: Vec<Qid>, fid: Fid, then: F) {
        let mut rest = self.rest.lock().expect("no holder panics");
        if rest.given_up {
            drop(rest);
            return then(Err(Error::new(Errno::INTR, "the request was taken back")));
        }
        let opened = fid.clone();
        let told = move |answer: Result<_>| then(answer.map(|_| (qids, Some(opened))));
        let sent = fid.open_then(self.flags, told);
        rest.push(&sent);
    }
}

/// The end of a path, for messages.
pub(super) fn below(path: &str, names: &[Name<'_>]) -> Arc<str> {
    let mut path = path.to_owned();
    for name in names {
        if !path.ends_with('/') {
            path.push('/');
        }
        path.push_str(&String::from_utf8_lossy(name));
    }
    path.into()
}

impl Fid {
    pub(super) fn root(client: Client, number: Number, qid: Qid) -> Fid {
        // The root is attached once for all clones, and forgotten with the connection.
        Fid::new(client, number, qid, "/".into(), false)
    }

    fn new(client: Client, number: Number, qid: Qid, path: Arc<str>, held: bool) -> Fid {
        let inner = Inner {
            client: client.clone(),
            number,
            held: AtomicBool::new(held),
            iounit: AtomicU32::new(0),
            place: Mutex::new((qid, path)),
        };
        Fid { client, inner: Arc::new(inner) }
    }

    /// The server's name for the file.
    pub fn qid(&self) -> Qid {
        self.inner.place.lock().expect("no holder panics").0
    }

    /// The path it was found at, for messages.
    pub fn path(&self) -> Arc<str> {
        self.inner.place.lock().expect("no holder panics").1.clone()
    }

    /// The number on the wire.
    pub fn number(&self) -> Number {
        self.inner.number
    }

    /// The connection.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// The same file, with another clone of the connection: other deadlines.
    #[must_use]
    pub fn through(&self, client: &Client) -> Fid {
        debug_assert!(Arc::ptr_eq(&client.shared, &self.client.shared));
        Fid { client: client.clone(), inner: self.inner.clone() }
    }

    /// Most bytes that one read or write of this opened file carries.
    pub fn max_data(&self) -> u32 {
        let most = self.client.max_data();
        match self.inner.iounit.load(Ordering::Relaxed) {
            0 => most,
            iounit => iounit.min(most),
        }
    }

    /// Refuses a request about two files that are not at one server.
    fn beside(&self, other: &Fid) -> Result<()> {
        let same = Arc::ptr_eq(&self.client.shared, &other.client.shared);
        if same { Ok(()) } else { Err(Error::from(Errno::XDEV)) }
    }

    /// Sends a request and reads its answer with `read`.
    fn ask<T>(
        &self,
        request: &Tmessage<'_>,
        read: impl FnOnce(Rmessage<'_>) -> T + Send + 'static,
        then: impl FnOnce(Result<T>) + Send + 'static,
    ) -> Cancel {
        self.client.send(request, move |answer| then(answer.map(read)))
    }

    /// Goes down at most 16 `names`; none clones the fid. Tells one qid for each name found,
    /// and the new fid if all were.
    pub fn walk_then(
        &self,
        names: &[Name<'_>],
        then: impl FnOnce(Result<Walked>) + Send + 'static,
    ) -> Cancel {
        let (list, newfid) = match self.begin_walk(names) {
            Ok(begun) => begun,
            Err(error) => return self.client.refuse(error, then),
        };
        let link = self.client.shared.link.clone();
        self.walk_to(newfid, list, below(&self.path(), names), move |walked| {
            if !matches!(walked, Ok((_, Some(_)))) {
                link.release_fid(newfid);
            }
            then(walked);
        })
    }

    /// What a walk needs: names that fit, and a number for the new fid.
    fn begin_walk<'a>(&self, names: &'a [Name<'a>]) -> Result<(Names<'a>, Number)> {
        let too_many = || Error::new(Errno::INVAL, "a walk has at most 16 names");
        let list = Names::new(names).ok_or_else(too_many)?;
        Ok((list, self.client.take_fid()?))
    }

    /// Walks to a fid of that number. If it tells of none, the number is free again.
    fn walk_to(
        &self,
        newfid: Number,
        names: Names<'_>,
        path: Arc<str>,
        then: impl FnOnce(Result<Walked>) + Send + 'static,
    ) -> Cancel {
        let (client, from) = (self.client.clone(), self.qid());
        let asked = names.as_slice().len();
        let request = Tmessage::Walk { fid: self.number(), newfid, names };
        self.client.send(&request, move |answer| {
            // A refused, short or flushed walk has made no fid (walk(5)).
            let walked = answer.map(|answer| fields!(answer, Walk { qids } => qids.0));
            then(walked.map(|qids| {
                let qid = qids.last().copied().unwrap_or(from);
                let is_there = qids.len() == asked;
                let fid = is_there.then(|| Fid::new(client, newfid, qid, path, true));
                (qids, fid)
            }));
        })
    }

    /// Goes down at most 16 `names` and opens what is there; tells as [`Fid::walk_then`].
    ///
    /// A server of ours takes the requests of a connection in their order, so it is asked for both
    /// at once. If the walk takes it longer, as one into another server's tree, it says of the open
    /// that it does not know the fid yet, and is asked again.
    pub fn walk_open_then(
        &self,
        names: &[Name<'_>],
        flags: OpenFlags,
        then: impl FnOnce(Result<Walked>) + Send + 'static,
    ) -> Cancel {
        let (list, newfid) = match self.begin_walk(names) {
            Ok(begun) => begun,
            Err(error) => return self.client.refuse(error, then),
        };
        let (client, rest) = (self.client.clone(), Arc::new(Mutex::new(Rest::default())));
        // A server of another kind is asked when the walk is over.
        let is_early = client.version() == Version::MUSTER;
        let later = (!is_early).then(|| Err(Error::from(Errno::BUSY)));
        let state = Mutex::new(State { walked: None, opened: later, then: Some(then) });
        let both = Arc::new(Both { client, newfid, flags, state, rest: rest.clone() });
        let other = both.clone();
        let sent = self.walk_to(newfid, list, below(&self.path(), names), move |walked| {
            both.answered(|state| state.walked = Some(walked));
        });
        if is_early {
            let request = Tmessage::Lopen { fid: newfid, flags: flags.0 };
            let open = self.client.send(&request, move |answer| {
                let opened =
                    answer.map(|answer| fields!(answer, Lopen { qid, iounit } => (qid, iounit)));
                other.answered(|state| state.opened = Some(opened));
            });
            rest.lock().expect("no holder panics").push(&open);
        }
        sent.with(rest)
    }

    /// Opens the file. Tells its qid and the largest transfer (0: any).
    pub fn open_then(
        &self,
        flags: OpenFlags,
        then: impl FnOnce(Result<(Qid, u32)>) + Send + 'static,
    ) -> Cancel {
        let inner = self.inner.clone();
        let read = move |answer: Rmessage<'_>| {
            fields!(answer, Lopen { qid, iounit } => {
                inner.iounit.store(iounit, Ordering::Relaxed);
                (qid, iounit)
            })
        };
        self.ask(&Tmessage::Lopen { fid: self.number(), flags: flags.0 }, read, then)
    }

    /// Creates and opens a file in this directory; the fid, with all its clones, becomes it.
    pub fn create_then(
        &self,
        name: Name<'_>,
        flags: OpenFlags,
        mode: u32,
        gid: u32,
        then: impl FnOnce(Result<(Qid, u32)>) + Send + 'static,
    ) -> Cancel {
        let inner = self.inner.clone();
        let path = below(&self.path(), &[name]);
        let read = move |answer: Rmessage<'_>| {
            fields!(answer, Lcreate { qid, iounit } => {
                inner.iounit.store(iounit, Ordering::Relaxed);
                *inner.place.lock().expect("no holder panics") = (qid, path);
                (qid, iounit)
            })
        };
        let fid = self.number();
        self.ask(&Tmessage::Lcreate { fid, name, flags: flags.0, mode, gid }, read, then)
    }

    /// Reads at most `count` bytes; tells them where they arrived.
    pub fn read_then(
        &self,
        offset: u64,
        count: u32,
        then: impl FnOnce(Result<&[u8]>) + Send + 'static,
    ) -> Cancel {
        let count = count.min(self.max_data());
        let request = Tmessage::Read { fid: self.number(), offset, count };
        self.client.send(&request, move |answer| match answer {
            Ok(answer) => fields!(answer, Read { data } => then(Ok(data.0))),
            Err(error) => then(Err(error)),
        })
    }

    /// Whether a write that is handed on would be taken now. If not, what `wake` makes is called
    /// when it may be.
    pub(crate) fn takes_writes_or(&self, wake: impl FnOnce() -> Wake) -> bool {
        self.client.shared.link.takes_writes_or(wake)
    }

    /// Writes the first [`Fid::max_data`] bytes of `data`; tells how many were written.
    pub fn write_then(
        &self,
        offset: u64,
        data: &[u8],
        then: impl FnOnce(Result<u32>) + Send + 'static,
    ) -> Cancel {
        let data = Payload(&data[..data.len().min(self.max_data() as usize)]);
        let read = |answer: Rmessage<'_>| fields!(answer, Write { count } => count);
        self.ask(&Tmessage::Write { fid: self.number(), offset, data }, read, then)
    }

    /// Lists names from cookie `offset` on, of at most `count` bytes.
    pub fn readdir_then(
        &self,
        offset: u64,
        count: u32,
        then: impl FnOnce(Result<Vec<DirEntry>>) + Send + 'static,
    ) -> Cancel {
        let count = count.min(self.client.max_data());
        let request = Tmessage::Readdir { fid: self.number(), offset, count };
        self.client.send(&request, move |answer| {
            then(answer.and_then(|answer| fields!(answer, Readdir { data } => entries(data.0))));
        })
    }

    /// Tells the attributes.
    pub fn getattr_then(&self, then: impl FnOnce(Result<Attr>) + Send + 'static) -> Cancel {
        let read = |answer: Rmessage<'_>| fields!(answer, Getattr { attr } => attr);
        self.ask(&Tmessage::Getattr { fid: self.number(), mask: Attr::BASIC }, read, then)
    }

    /// Changes attributes.
    pub fn setattr_then(
        &self,
        attr: &SetAttr,
        then: impl FnOnce(Result<()>) + Send + 'static,
    ) -> Cancel {
        self.ask(&Tmessage::Setattr { fid: self.number(), attr: *attr }, done, then)
    }

    /// Removes the file. The fid is gone afterwards, also when this fails.
    pub fn remove_then(&self, then: impl FnOnce(Result<()>) + Send + 'static) -> Cancel {
        self.last_then(&Tmessage::Remove { fid: self.number() }, then)
    }

    /// Clunks the fid and tells what that led to: extended attributes are set only then.
    pub fn clunk_then(&self, then: impl FnOnce(Result<()>) + Send + 'static) -> Cancel {
        self.last_then(&Tmessage::Clunk { fid: self.number() }, then)
    }

    /// Sends a request after which the server has forgotten the fid.
    fn last_then(
        &self,
        request: &Tmessage<'_>,
        then: impl FnOnce(Result<()>) + Send + 'static,
    ) -> Cancel {
        let inner = self.inner.clone();
        if !inner.held.swap(false, Ordering::AcqRel) {
            return self.client.refuse(Error::from(Errno::BADF), then);
        }
        self.client.send(request, move |answer| {
            match &answer {
                // Not sent, or taken back: it still stands for the file, and is dropped later.
                Err(error)
                    if matches!(error.errno, Errno::AGAIN | Errno::TIMEDOUT | Errno::INTR) =>
                {
                    inner.held.store(true, Ordering::Release);
                }
                _ => inner.client.shared.link.release_fid(inner.number),
            }
            drop(inner);
            then(answer.map(done));
        })
    }

    /// Moves the file into `dir` under a new name.
    pub fn rename_then(
        &self,
        dir: &Fid,
        name: Name<'_>,
        then: impl FnOnce(Result<()>) + Send + 'static,
    ) -> Cancel {
        if let Err(error) = self.beside(dir) {
            return self.client.refuse(error, then);
        }
        self.ask(&Tmessage::Rename { fid: self.number(), dir: dir.number(), name }, done, then)
    }

    /// Moves the name `name` of this directory to `new_name` of `to`.
    pub fn renameat_then(
        &self,
        name: Name<'_>,
        to: &Fid,
        new_name: Name<'_>,
        then: impl FnOnce(Result<()>) + Send + 'static,
    ) -> Cancel {
        if let Err(error) = self.beside(to) {
            return self.client.refuse(error, then);
        }
        let request = Tmessage::Renameat { from: self.number(), name, to: to.number(), new_name };
        self.ask(&request, done, then)
    }

    /// Removes a name from this directory; `directory`: it must be an empty directory.
    pub fn unlinkat_then(
        &self,
        name: Name<'_>,
        directory: bool,
        then: impl FnOnce(Result<()>) + Send + 'static,
    ) -> Cancel {
        let flags = if directory { REMOVE_DIR } else { 0 };
        self.ask(&Tmessage::Unlinkat { dir: self.number(), name, flags }, done, then)
    }

    /// Makes a directory in this one.
    pub fn mkdir_then(
        &self,
        name: Name<'_>,
        mode: u32,
        gid: u32,
        then: impl FnOnce(Result<Qid>) + Send + 'static,
    ) -> Cancel {
        let read = |answer: Rmessage<'_>| fields!(answer, Mkdir { qid } => qid);
        self.ask(&Tmessage::Mkdir { dir: self.number(), name, mode, gid }, read, then)
    }

    /// Makes a symbolic link in this directory.
    pub fn symlink_then(
        &self,
        name: Name<'_>,
        target: &[u8],
        gid: u32,
        then: impl FnOnce(Result<Qid>) + Send + 'static,
    ) -> Cancel {
        let read = |answer: Rmessage<'_>| fields!(answer, Symlink { qid } => qid);
        self.ask(&Tmessage::Symlink { dir: self.number(), name, target, gid }, read, then)
    }

    /// Makes a special file in this directory; `device` is major and minor number.
    pub fn mknod_then(
        &self,
        name: Name<'_>,
        mode: u32,
        device: (u32, u32),
        gid: u32,
        then: impl FnOnce(Result<Qid>) + Send + 'static,
    ) -> Cancel {
        let (dir, (major, minor)) = (self.number(), device);
        let read = |answer: Rmessage<'_>| fields!(answer, Mknod { qid } => qid);
        self.ask(&Tmessage::Mknod { dir, name, mode, major, minor, gid }, read, then)
    }

    /// Gives `file` another name in this directory.
    pub fn link_then(
        &self,
        file: &Fid,
        name: Name<'_>,
        then: impl FnOnce(Result<()>) + Send + 'static,
    ) -> Cancel {
        if let Err(error) = self.beside(file) {
            return self.client.refuse(error, then);
        }
        self.ask(&Tmessage::Link { dir: self.number(), fid: file.number(), name }, done, then)
    }

    /// Tells what a symbolic link says.
    pub fn readlink_then(&self, then: impl FnOnce(Result<Vec<u8>>) + Send + 'static) -> Cancel {
        let read = |answer: Rmessage<'_>| fields!(answer, Readlink { target } => target.to_vec());
        self.ask(&Tmessage::Readlink { fid: self.number() }, read, then)
    }

    /// Tells the totals of the file system.
    pub fn statfs_then(&self, then: impl FnOnce(Result<Statfs>) + Send + 'static) -> Cancel {
        let read = |answer: Rmessage<'_>| fields!(answer, Statfs { statfs } => statfs);
        self.ask(&Tmessage::Statfs { fid: self.number() }, read, then)
    }

    /// Brings content to stable storage; `data`: content only.
    pub fn fsync_then(&self, data: bool, then: impl FnOnce(Result<()>) + Send + 'static) -> Cancel {
        let request = Tmessage::Fsync { fid: self.number(), data: DataSync(data.into()) };
        self.ask(&request, done, then)
    }

    /// Locks or unlocks a range; `block`: the answer may wait until the lock is had.
    pub fn lock_then(
        &self,
        range: &LockRange<'_>,
        block: bool,
        then: impl FnOnce(Result<LockStatus>) + Send + 'static,
    ) -> Cancel {
        let request = Tmessage::Lock {
            fid: self.number(),
            kind: range.kind,
            flags: if block { LOCK_BLOCK } else { 0 },
            start: range.start,
            length: range.length,
            proc_id: range.proc_id,
            client_id: range.client_id,
        };
        let read = |answer: Rmessage<'_>| {
            fields!(answer, Lock { status } => match status {
                0 => LockStatus::Success,
                1 => LockStatus::Blocked,
                3 => LockStatus::Grace,
                _ => LockStatus::Error,
            })
        };
        self.ask(&request, read, then)
    }

    /// Tells who holds a range.
    pub fn getlock_then(
        &self,
        range: &LockRange<'_>,
        then: impl FnOnce(Result<HeldLock>) + Send + 'static,
    ) -> Cancel {
        let read = |answer: Rmessage<'_>| {
            fields!(answer, Getlock { range } => HeldLock {
                kind: range.kind,
                start: range.start,
                length: range.length,
                proc_id: range.proc_id,
                client_id: range.client_id.to_owned(),
            })
        };
        self.ask(&Tmessage::Getlock { fid: self.number(), range: *range }, read, then)
    }

    /// Tells a fid that reads an extended attribute (of all names, if `name` is empty) and the
    /// attribute's size.
    pub fn xattrwalk_then(
        &self,
        name: Name<'_>,
        then: impl FnOnce(Result<(Fid, u64)>) + Send + 'static,
    ) -> Cancel {
        let link = self.client.shared.link.clone();
        let newfid = match self.client.take_fid() {
            Ok(newfid) => newfid,
            Err(error) => return self.client.refuse(error, then),
        };
        let (client, path) = (self.client.clone(), self.path());
        let request = Tmessage::Xattrwalk { fid: self.number(), newfid, name };
        self.client.send(&request, move |answer| match answer {
            Ok(answer) => fields!(answer, Xattrwalk { size } => {
                then(Ok((Fid::new(client, newfid, Qid::default(), path, true), size)));
            }),
            Err(error) => {
                link.release_fid(newfid);
                then(Err(error));
            }
        })
    }

    /// Turns the fid into one that writes an extended attribute; [`Fid::clunk_then`] sets it.
    pub fn xattrcreate_then(
        &self,
        name: Name<'_>,
        size: u64,
        flags: u32,
        then: impl FnOnce(Result<()>) + Send + 'static,
    ) -> Cancel {
        let request = Tmessage::Xattrcreate { fid: self.number(), name, size, flags };
        // Until then a clunk would be refused, and the number not be free.
        let held = self.inner.clone();
        let read = move |_: Rmessage<'_>| drop(held);
        self.ask(&request, read, then)
    }
}

/// Reads the entries of a listing.
fn entries(data: &[u8]) -> Result<Vec<DirEntry>> {
    let mut from = Reader::new(data, Dialect::Linux);
    let mut entries = Vec::new();
    while from.left() > 0 {
        let entry = DirEntry::get(&mut from);
        entries.push(entry.map_err(|why| {
            Error::new(Errno::IO, format!("the server's listing is malformed: {why}"))
        })?);
    }
    Ok(entries)
}

impl Client {
    /// Tells a refusal that was decided here, as if it were an answer.
    fn refuse<T: 'static>(
        &self,
        error: Error,
        then: impl FnOnce(Result<T>) + Send + 'static,
    ) -> Cancel {
        super::hub::later(move || then(Err(error)));
        Cancel::none()
    }
}
