//! Puts one request to the tree: checks fids and names, calls the tree's method, and says what
//! its answer will mean for the session.

use crate::call::{Answer, Call, HeldLock, Outcome, Pause, Standing};
use crate::error::{Errno, Error, Result, fail};
use crate::fid::{Fids, Slot, lead};
use crate::message::{Fid, NOFID, NONUNAME, Tag, Tmessage};
use crate::record::{LockRange, Qid};
use crate::session::Session;
use crate::tree::{Attach, C, OpenFlags, Peer, Tree};
use crate::version::{Dialect, Version};
use crate::wire::Name;
use muster_base::limits::{NAME_MAX, PATH_MAX, XATTR_MAX};

/// What the answer to a request means for its session.
#[derive(Debug)]
pub(crate) enum Goal {
    /// Send it.
    Reply,
    /// Make the root a fid.
    Attach { fid: Fid },
    /// Make the file a fid; `path` is its path for dialects that need it, and `start` the qid
    /// where the walk began: that of the file if there is no name to walk.
    Walk { start: Qid, newfid: Fid, path: Vec<u8> },
    /// The fid is open; after a create it is the file called `name`.
    Open { fid: Fid, flags: OpenFlags, remove: bool, name: Option<Vec<u8>> },
    /// Make the attribute a fid.
    Xattrwalk { newfid: Fid },
    /// The fid is gone.
    Gone { fid: Fid },
    /// Send at most `count` bytes of content.
    Read { count: usize },
    /// Send at most `count` bytes of entries.
    Readdir { count: usize },
    /// A step of a request of an old dialect.
    Old(crate::old::Step),
}

impl Goal {
    /// The fid that no other request may use until the answer is there.
    pub(crate) fn fid(&self) -> Option<Fid> {
        match self {
            Goal::Attach { fid } | Goal::Open { fid, .. } | Goal::Gone { fid } => Some(*fid),
            Goal::Walk { newfid, .. } | Goal::Xattrwalk { newfid } => Some(*newfid),
            Goal::Old(step) => step.fid(),
            Goal::Reply | Goal::Read { .. } | Goal::Readdir { .. } => None,
        }
    }
}

/// A request as put to the tree.
pub(crate) type Asked<F> = (Goal, Answer<Outcome<F>>);

/// Turns a method's answer into an outcome.
pub(crate) fn outcome<F, R>(answer: Answer<R>) -> Answer<Outcome<F>>
where
    Outcome<F>: From<R>,
{
    answer.map(Outcome::from)
}

/// Refuses what cannot be the name of a file in a directory.
pub(crate) fn check_name(name: Name<'_>) -> Result<()> {
    if name.is_empty() || name == b"." || name == b".." {
        return fail(Errno::INVAL, "a name may not be empty, '.' or '..'");
    }
    check_walk_name(name)
}

/// Refuses what cannot be an element of a walk.
pub(crate) fn check_walk_name(name: Name<'_>) -> Result<()> {
    if name.len() > NAME_MAX {
        return fail(Errno::NAMETOOLONG, format!("a name is longer than {NAME_MAX} bytes"));
    }
    if name.is_empty() || name == b"." || name.contains(&b'/') || name.contains(&0) {
        return fail(Errno::INVAL, "a name may not be empty, '.', or contain '/' or NUL");
    }
    Ok(())
}

/// Refuses what cannot be the text of a symbolic link.
pub(crate) fn check_target(target: &[u8]) -> Result<()> {
    if target.is_empty() || target.contains(&0) {
        return fail(Errno::INVAL, "a link's target may not be empty or contain NUL");
    }
    if target.len() >= PATH_MAX {
        let text = format!("a link's target has {PATH_MAX} bytes or more");
        return fail(Errno::NAMETOOLONG, text);
    }
    Ok(())
}

/// Refuses to open what is open.
pub(crate) fn check_unopened<F>(fid: Fid, slot: &Slot<F>) -> Result<()> {
    if slot.opened.is_some() {
        return fail(Errno::BUSY, format!("fid {fid} is open already"));
    }
    Ok(())
}

/// The largest directory entry; a tree is never asked for less, so that no bytes mean the end.
pub(crate) const ENTRY_MAX: usize = 13 + 8 + 1 + 2 + NAME_MAX;

/// A question to a tree.
type Question<T> = Box<dyn Fn(&T, &mut C<'_, T>) -> Answer<Outcome<<T as Tree>::Fid>> + Send>;

/// A question to a tree that is to be put again.
pub(crate) struct Again<T: Tree> {
    question: Question<T>,
    /// Of a write through which fid and how much: it waits for room there. Others wait for room
    /// here.
    pub(crate) content: Option<(Fid, usize)>,
}

/// Asks for what a file holds; keeps the question if there is no room for the answer yet.
fn bring<T: Tree>(
    (tree, call): (&T, &mut C<'_, T>),
    again: &mut Option<Again<T>>,
    fid: &T::Fid,
    ask: impl Fn(&T, &mut C<'_, T>, &T::Fid) -> Answer<Outcome<T::Fid>> + Send + 'static,
) -> Answer<Outcome<T::Fid>> {
    let answer = ask(tree, call, fid);
    if let Err(Pause::Later) = answer {
        let fid = fid.clone();
        let question: Question<T> = Box::new(move |tree, call| ask(tree, call, &fid));
        *again = Some(Again { question, content: None });
    }
    answer
}

/// Everything one request needs.
pub(crate) struct Desk<'a, T: Tree> {
    pub(crate) tree: &'a T,
    pub(crate) peer: &'a Peer,
    pub(crate) fids: &'a mut Fids<T::Fid>,
    pub(crate) call: Call<'a, T::Fid>,
    pub(crate) dialect: Dialect,
    /// Whether a server of ours asks: it hands on what its own clients want.
    pub(crate) is_ours: bool,
    /// Largest payload of an answer.
    pub(crate) payload: usize,
    /// What the tree is to be asked again.
    pub(crate) again: Option<Again<T>>,
    /// The fid of a write and its bytes, which stay if it is parked.
    pub(crate) content: Option<(Fid, usize)>,
}

impl<'a, T: Tree> Desk<'a, T> {
    pub(crate) fn new(session: &'a mut Session<T>, tag: Tag, serial: u64) -> Desk<'a, T> {
        let Session { tree, peer, port, fids, outbox, version, msize, .. } = session;
        Desk {
            tree,
            peer,
            fids,
            call: Call { tag, serial, origin: &*port, standing: None, outbox, brings: None },
            dialect: version.map_or(Dialect::Plan9, |version| version.dialect),
            is_ours: *version == Some(Version::MUSTER),
            payload: *msize as usize - muster_base::limits::HEADER - 4,
            again: None,
            content: None,
        }
    }

    /// Puts a question again.
    pub(crate) fn ask_again(&mut self, again: Again<T>) -> Answer<Outcome<T::Fid>> {
        let answer = (again.question)(self.tree, &mut self.call);
        self.content = again.content;
        self.again = matches!(answer, Err(Pause::Later)).then_some(again);
        answer
    }

    /// Lists a directory's names.
    pub(crate) fn list(
        &mut self,
        fid: Fid,
        cookie: u64,
        count: usize,
        attrs: bool,
    ) -> Result<Answer<Outcome<T::Fid>>> {
        let (slot, asked) = (self.fids.get(fid)?, (self.tree, &mut self.call));
        Ok(bring(asked, &mut self.again, &slot.fid, move |tree, call, fid| {
            outcome(tree.readdir(call, fid, cookie, count, attrs))
        }))
    }

    pub(crate) fn standing(&mut self) -> Option<Standing> {
        self.call.standing.take()
    }

    /// Puts any request to the tree.
    pub(crate) fn ask(&mut self, message: Tmessage<'_>) -> Result<Asked<T::Fid>> {
        match message {
            Tmessage::Auth { .. } => {
                // As diod does: its clients go on without authentication at this error only.
                fail(Errno::NOENT, "no authentication is needed; attach with afid NOFID")
            }
            Tmessage::Attach { fid, afid, uname, aname, n_uname } => {
                self.fids.vacant(fid)?;
                if afid != NOFID {
                    return fail(Errno::BADF, format!("afid {afid} is unknown; attach with NOFID"));
                }
                let n_uname = (n_uname.0 != NONUNAME).then_some(n_uname.0);
                let who = Attach { peer: self.peer, uname, n_uname, aname };
                let answer = self.tree.attach(&mut self.call, &who);
                Ok((Goal::Attach { fid }, outcome(answer)))
            }
            Tmessage::Walk { fid, newfid, names } => self.walk(fid, newfid, names.as_slice()),
            Tmessage::Read { fid, offset, count } => self.read(fid, offset, count as usize),
            Tmessage::Write { fid, offset, data } => self.write(fid, offset, data.0, false),
            Tmessage::Remove { fid } => self.remove(fid),
            Tmessage::Open { .. }
            | Tmessage::Create { .. }
            | Tmessage::Stat { .. }
            | Tmessage::Wstat { .. } => self.ask_old(message),
            Tmessage::Xattrwalk { .. }
            | Tmessage::Xattrcreate { .. }
            | Tmessage::Lock { .. }
            | Tmessage::Getlock { .. } => self.ask_attributes_and_locks(message),
            Tmessage::Lcreate { .. }
            | Tmessage::Symlink { .. }
            | Tmessage::Mknod { .. }
            | Tmessage::Mkdir { .. }
            | Tmessage::Link { .. }
            | Tmessage::Rename { .. }
            | Tmessage::Renameat { .. }
            | Tmessage::Unlinkat { .. } => self.ask_names(message),
            other => self.ask_file(other),
        }
    }

    fn walk(&mut self, fid: Fid, newfid: Fid, names: &[Name<'_>]) -> Result<Asked<T::Fid>> {
        if newfid != fid {
            self.fids.vacant(newfid)?;
        }
        let slot = self.fids.get(fid)?;
        // v9fs copies the fid of a file that it has open, and uses the copy as one that is not.
        let is_copy = names.is_empty() && newfid != fid && !slot.is_attribute;
        if slot.opened.is_some() && !is_copy {
            return fail(Errno::BUSY, format!("fid {fid} is open; no walk starts from it"));
        }
        // To rename a file where it is takes its directory, of which there may be no fid.
        let goes_up = self.is_ours && names.first() == Some(&&b".."[..]);
        if !names.is_empty() && !slot.qid.is_dir() && !goes_up {
            return fail(Errno::NOTDIR, "what it would be in is not a directory");
        }
        names.iter().try_for_each(|name| check_walk_name(name))?;
        let start = slot.qid;
        let path = match self.dialect {
            Dialect::Linux => Vec::new(),
            _ => lead(slot.path(), names),
        };
        self.fids.has_room_for(&path)?;
        let answer = self.tree.walk(&mut self.call, &self.fids.get(fid)?.fid, names);
        Ok((Goal::Walk { start, newfid, path }, outcome(answer)))
    }

    fn read(&mut self, fid: Fid, offset: u64, count: usize) -> Result<Asked<T::Fid>> {
        let count = count.min(self.payload);
        let slot = self.fids.opened(fid, false)?;
        if slot.qid.is_dir() {
            return self.read_directory(fid, offset, count);
        }
        let asked = (self.tree, &mut self.call);
        let answer = bring(asked, &mut self.again, &slot.fid, move |tree, call, fid| {
            outcome(tree.read(call, fid, offset, count))
        });
        Ok((Goal::Read { count }, answer))
    }

    /// A write; `behind` another through the same fid that waits, with which it waits.
    pub(crate) fn write(
        &mut self,
        fid: Fid,
        offset: u64,
        data: &[u8],
        behind: bool,
    ) -> Result<Asked<T::Fid>> {
        let slot = self.fids.opened(fid, true)?;
        let answer = match behind {
            true => Err(Pause::Later),
            false => outcome(self.tree.write(&mut self.call, &slot.fid, offset, data)),
        };
        self.content = Some((fid, data.len()));
        if let Err(Pause::Later) = answer {
            let content = self.content;
            let (fid, data) = (slot.fid.clone(), data.to_vec());
            let question: Question<T> =
                Box::new(move |tree, call| outcome(tree.write(call, &fid, offset, &data)));
            self.again = Some(Again { question, content });
        }
        Ok((Goal::Reply, answer))
    }

    pub(crate) fn remove(&mut self, fid: Fid) -> Result<Asked<T::Fid>> {
        let slot = self.fids.get(fid)?;
        let answer = self.tree.remove(&mut self.call, &slot.fid);
        Ok((Goal::Gone { fid }, outcome(answer)))
    }

    /// The clunk of a fid that writes an attribute.
    pub(crate) fn commit(&mut self, fid: Fid) -> Result<Asked<T::Fid>> {
        let slot = self.fids.get(fid)?;
        let answer = self.tree.commit(&mut self.call, &slot.fid);
        Ok((Goal::Gone { fid }, outcome(answer)))
    }

    /// Requests about one file.
    fn ask_file(&mut self, message: Tmessage<'_>) -> Result<Asked<T::Fid>> {
        let call = &mut self.call;
        let mut goal = Goal::Reply;
        let answer = match message {
            Tmessage::Statfs { fid } => outcome(self.tree.statfs(call, &self.fids.get(fid)?.fid)),
            Tmessage::Readlink { fid } => {
                outcome(self.tree.readlink(call, &self.fids.get(fid)?.fid))
            }
            Tmessage::Getattr { fid, .. } => {
                outcome(self.tree.getattr(call, &self.fids.get(fid)?.fid))
            }
            Tmessage::Setattr { fid, attr } => {
                outcome(self.tree.setattr(call, &self.fids.get(fid)?.fid, &attr))
            }
            Tmessage::Fsync { fid, data } => {
                outcome(self.tree.fsync(call, &self.fids.get(fid)?.fid, data.0 != 0))
            }
            Tmessage::Readdir { fid, offset, count } => {
                let count = (count as usize).min(self.payload);
                goal = Goal::Readdir { count };
                let slot = self.fids.opened(fid, false)?;
                if !slot.qid.is_dir() {
                    return fail(Errno::NOTDIR, "this is not a directory");
                }
                self.list(fid, offset, count.max(ENTRY_MAX), false)?
            }
            Tmessage::Lopen { fid, flags } => {
                let flags = OpenFlags(flags);
                goal = Goal::Open { fid, flags, remove: false, name: None };
                let slot = self.fids.get(fid)?;
                check_unopened(fid, slot)?;
                if slot.qid.is_dir() && flags.writes() {
                    return fail(Errno::ISDIR, "this is a directory");
                }
                outcome(self.tree.open(call, &slot.fid, flags))
            }
            other => return fail(Errno::OPNOTSUPP, format!("T{} is unknown here", other.name())),
        };
        Ok((goal, answer))
    }

    /// Requests that make, move or remove names.
    fn ask_names(&mut self, message: Tmessage<'_>) -> Result<Asked<T::Fid>> {
        let (fids, tree, call) = (&mut *self.fids, self.tree, &mut self.call);
        let mut goal = Goal::Reply;
        let answer = match message {
            Tmessage::Lcreate { fid, name, flags, mode, gid } => {
                check_name(name)?;
                let flags = OpenFlags(flags);
                goal = Goal::Open { fid, flags, remove: false, name: None };
                let slot = fids.directory(fid)?;
                check_unopened(fid, slot)?;
                outcome(tree.create(call, &slot.fid, name, flags, mode, gid))
            }
            Tmessage::Symlink { dir, name, target, gid } => {
                check_name(name)?;
                check_target(target)?;
                outcome(tree.symlink(call, &fids.directory(dir)?.fid, name, target, gid))
            }
            Tmessage::Mknod { dir, name, mode, major, minor, gid } => {
                check_name(name)?;
                let dir = &fids.directory(dir)?.fid;
                outcome(tree.mknod(call, dir, name, mode, (major, minor), gid))
            }
            Tmessage::Mkdir { dir, name, mode, gid } => {
                check_name(name)?;
                outcome(tree.mkdir(call, &fids.directory(dir)?.fid, name, mode, gid))
            }
            Tmessage::Link { dir, fid, name } => {
                check_name(name)?;
                fids.directory(dir)?;
                let (dir, file) = fids.two(dir, fid)?;
                outcome(tree.link(call, &dir.fid, &file.fid, name))
            }
            Tmessage::Rename { fid, dir, name } => {
                check_name(name)?;
                fids.directory(dir)?;
                let (file, dir) = fids.two(fid, dir)?;
                outcome(tree.rename(call, &file.fid, Some(&dir.fid), name, true))
            }
            Tmessage::Renameat { from, name, to, new_name } => {
                check_name(name)?;
                check_name(new_name)?;
                fids.directory(from)?;
                fids.directory(to)?;
                let (from, to) = fids.two(from, to)?;
                outcome(tree.renameat(call, (&from.fid, name), (&to.fid, new_name)))
            }
            Tmessage::Unlinkat { dir, name, flags } => {
                check_name(name)?;
                // AT_REMOVEDIR of unlinkat(2).
                let directory = flags & 0x200 != 0;
                outcome(tree.unlinkat(call, &fids.directory(dir)?.fid, name, directory))
            }
            _ => unreachable!("ask() sends only these here"),
        };
        Ok((goal, answer))
    }

    fn ask_attributes_and_locks(&mut self, message: Tmessage<'_>) -> Result<Asked<T::Fid>> {
        let (fids, tree, call) = (&mut *self.fids, self.tree, &mut self.call);
        let mut goal = Goal::Reply;
        let answer = match message {
            Tmessage::Xattrwalk { fid, newfid, name } => {
                fids.vacant(newfid)?;
                check_attribute(name)?;
                goal = Goal::Xattrwalk { newfid };
                outcome(tree.xattrwalk(call, &fids.get(fid)?.fid, name))
            }
            Tmessage::Xattrcreate { fid, name, size, flags } => {
                check_attribute(name)?;
                if size > XATTR_MAX as u64 {
                    let text =
                        format!("an attribute of {size} bytes; at most {XATTR_MAX} are kept");
                    return fail(Errno::TOOBIG, text);
                }
                let write = OpenFlags(OpenFlags::WRONLY);
                goal = Goal::Open { fid, flags: write, remove: false, name: None };
                let slot = fids.get(fid)?;
                check_unopened(fid, slot)?;
                outcome(tree.xattrcreate(call, &slot.fid, name, size, flags))
            }
            Tmessage::Lock { fid, kind, flags, start, length, proc_id, client_id } => {
                let range = LockRange { kind, start, length, proc_id, client_id };
                check_range(&range)?;
                // P9_LOCK_FLAGS_BLOCK.
                outcome(tree.lock(call, &fids.get(fid)?.fid, &range, flags & 1 != 0))
            }
            Tmessage::Getlock { fid, range } => {
                check_range(&range)?;
                outcome(tree.getlock(call, &fids.get(fid)?.fid, &range))
            }
            _ => unreachable!("ask() sends only these here"),
        };
        Ok((goal, answer))
    }
}

fn check_attribute(name: Name<'_>) -> Result<()> {
    if name.len() > NAME_MAX || name.contains(&0) {
        return fail(Errno::RANGE, "an attribute's name is too long or contains NUL");
    }
    Ok(())
}

fn check_range(range: &LockRange<'_>) -> Result<()> {
    let end = range.start.checked_add(range.length);
    if range.kind > LockRange::UNLOCK || end.is_none_or(|end| end > i64::MAX as u64) {
        return fail(Errno::INVAL, "this is not a range that can be locked");
    }
    Ok(())
}

impl HeldLock {
    /// As a message carries it.
    pub(crate) fn as_range(&self) -> LockRange<'_> {
        LockRange {
            kind: self.kind,
            start: self.start,
            length: self.length,
            proc_id: self.proc_id,
            client_id: &self.client_id,
        }
    }
}

impl From<crate::wire::Malformed> for Error {
    fn from(malformed: crate::wire::Malformed) -> Error {
        Error::new(Errno::BADMSG, malformed.to_string())
    }
}
