//! A fid of some tree, with the tree's type forgotten: how trees are mounted in a synthetic one.

use crate::call::{Answer, Data, HeldLock, LockStatus, Opened, Outcome, Pause, Walked};
use crate::error::{Errno, Error, Result};
use crate::record::{Attr, DirEntry, LockRange, Qid, SetAttr, Statfs};
use crate::synthetic::{Fid, SynCall};
use crate::tree::{OpenFlags, Tree};
use crate::wire::Name;
use std::any::Any;
use std::sync::Arc;

/// Declares [`Foreign`] with the requests that carry no fid back, and hands them on.
macro_rules! handed_on {
    ($($(#[$doc:meta])* $name:ident($($arg:ident: $type:ty),*) -> $answer:ty;)*) => {
        /// A file of a mounted tree: the methods of [`Tree`], the fid being `self`.
        #[allow(missing_docs, reason = "each is the method of Tree of the same name")]
        pub trait Foreign: Send + Sync {
            $(
                /// As in [`Tree`].
                ///
                /// # Errors
                /// Those of the mounted tree.
                fn $name(&self, call: &mut SynCall<'_>, $($arg: $type),*) -> Answer<$answer>;
            )*
            fn as_any(&self) -> &dyn Any;
            fn clunk(&self);
            fn walk(
                &self,
                call: &mut SynCall<'_>,
                from: &Fid,
                names: &[Name<'_>],
                before: Vec<Qid>,
            ) -> Answer<Walked<Fid>>;
            fn open(
                &self,
                call: &mut SynCall<'_>,
                from: &Fid,
                flags: OpenFlags,
            ) -> Answer<Opened<Fid>>;
            fn create(
                &self,
                call: &mut SynCall<'_>,
                from: &Fid,
                name: Name<'_>,
                flags: OpenFlags,
                mode: u32,
                gid: u32,
            ) -> Answer<Opened<Fid>>;
            fn xattrwalk(
                &self,
                call: &mut SynCall<'_>,
                from: &Fid,
                name: Name<'_>,
            ) -> Answer<(Fid, u64)>;
            fn xattrcreate(
                &self,
                call: &mut SynCall<'_>,
                from: &Fid,
                name: Name<'_>,
                size: u64,
                flags: u32,
            ) -> Answer<Opened<Fid>>;
            fn rename(
                &self,
                call: &mut SynCall<'_>,
                dir: Option<&dyn Foreign>,
                name: Name<'_>,
                replace: bool,
            ) -> Answer<()>;
            fn renameat(
                &self,
                call: &mut SynCall<'_>,
                name: Name<'_>,
                to: &dyn Foreign,
                new_name: Name<'_>,
            ) -> Answer<()>;
            fn link(
                &self,
                call: &mut SynCall<'_>,
                file: &dyn Foreign,
                name: Name<'_>,
            ) -> Answer<()>;
        }

        impl<T: Tree> Foreign for Mounted<T>
        where
            T::Fid: Sync,
        {
            $(
                fn $name(&self, call: &mut SynCall<'_>, $($arg: $type),*) -> Answer<$answer> {
                    call.embed(no_fid, |call| self.tree.$name(call, &self.fid, $($arg),*))
                }
            )*

            fn as_any(&self) -> &dyn Any {
                self
            }

            fn clunk(&self) {
                self.tree.clunk(self.fid.clone());
            }

            fn walk(
                &self,
                call: &mut SynCall<'_>,
                from: &Fid,
                names: &[Name<'_>],
                before: Vec<Qid>,
            ) -> Answer<Walked<Fid>> {
                let (names, stops, depth) = below(from.depth(), names);
                let names: Vec<Name<'_>> = self.by.as_deref().into_iter().chain(names).collect();
                let way = Way { before, stops, is_by_name: self.by.is_some() };
                let (wrap, late_wrap) = (self.wrap(from, depth), self.wrap(from, depth));
                let later = way.clone();
                let late = move |outcome| match outcome {
                    Outcome::Walked(walked) => Outcome::Walked(later.found(walked.map(late_wrap))),
                    Outcome::Failed(error) => {
                        later.lost(error).map_or_else(Outcome::Failed, Outcome::Walked)
                    }
                    other => no_fid(other),
                };
                match call.embed(late, |call| self.tree.walk(call, &self.fid, &names)) {
                    Ok(walked) => Ok(way.found(walked.map(wrap))),
                    Err(Pause::Refused(error)) => Ok(way.lost(error)?),
                    Err(pause) => Err(pause),
                }
            }

            fn open(
                &self,
                call: &mut SynCall<'_>,
                from: &Fid,
                flags: OpenFlags,
            ) -> Answer<Opened<Fid>> {
                let (now, late) = (self.wrap(from, from.depth()), self.wrap(from, from.depth()));
                let late = move |outcome: Outcome<T::Fid>| outcome.map(late);
                let ask = call.embed(late, |call| self.tree.open(call, &self.fid, flags));
                ask.map(|opened| opened.map(now))
            }

            fn create(
                &self,
                call: &mut SynCall<'_>,
                from: &Fid,
                name: Name<'_>,
                flags: OpenFlags,
                mode: u32,
                gid: u32,
            ) -> Answer<Opened<Fid>> {
                let depth = from.depth() + 1;
                let (now, late) = (self.wrap(from, depth), self.wrap(from, depth));
                let late = move |outcome: Outcome<T::Fid>| outcome.map(late);
                let ask = call.embed(late, |call| {
                    self.tree.create(call, &self.fid, name, flags, mode, gid)
                });
                ask.map(|opened| opened.map(now))
            }

            fn xattrwalk(
                &self,
                call: &mut SynCall<'_>,
                from: &Fid,
                name: Name<'_>,
            ) -> Answer<(Fid, u64)> {
                let (now, late) = (self.wrap(from, from.depth()), self.wrap(from, from.depth()));
                let late = move |outcome: Outcome<T::Fid>| outcome.map(late);
                let ask = call.embed(late, |call| self.tree.xattrwalk(call, &self.fid, name));
                ask.map(|(fid, size)| (now(fid), size))
            }

            fn xattrcreate(
                &self,
                call: &mut SynCall<'_>,
                from: &Fid,
                name: Name<'_>,
                size: u64,
                flags: u32,
            ) -> Answer<Opened<Fid>> {
                let (now, late) = (self.wrap(from, from.depth()), self.wrap(from, from.depth()));
                let late = move |outcome: Outcome<T::Fid>| outcome.map(late);
                let ask = call.embed(late, |call| {
                    self.tree.xattrcreate(call, &self.fid, name, size, flags)
                });
                ask.map(|opened| opened.map(now))
            }

            fn rename(
                &self,
                call: &mut SynCall<'_>,
                dir: Option<&dyn Foreign>,
                name: Name<'_>,
                replace: bool,
            ) -> Answer<()> {
                let dir = dir.map(|dir| self.same_tree(dir)).transpose()?;
                call.embed(no_fid, |call| self.tree.rename(call, &self.fid, dir, name, replace))
            }

            fn renameat(
                &self,
                call: &mut SynCall<'_>,
                name: Name<'_>,
                to: &dyn Foreign,
                new_name: Name<'_>,
            ) -> Answer<()> {
                let to = self.same_tree(to)?;
                let (from, to) = ((&self.fid, name), (to, new_name));
                call.embed(no_fid, |call| self.tree.renameat(call, from, to))
            }

            fn link(
                &self,
                call: &mut SynCall<'_>,
                file: &dyn Foreign,
                name: Name<'_>,
            ) -> Answer<()> {
                let file = self.same_tree(file)?;
                call.embed(no_fid, |call| self.tree.link(call, &self.fid, file, name))
            }
        }
    };
}

handed_on! {
    getattr() -> Attr;
    setattr(attr: &SetAttr) -> ();
    read(offset: u64, count: usize) -> Data;
    write(offset: u64, data: &[u8]) -> u32;
    readdir(offset: u64, count: usize, attrs: bool) -> Vec<DirEntry>;
    remove() -> ();
    unlinkat(name: Name<'_>, directory: bool) -> ();
    mkdir(name: Name<'_>, mode: u32, gid: u32) -> Qid;
    symlink(name: Name<'_>, target: &[u8], gid: u32) -> Qid;
    mknod(name: Name<'_>, mode: u32, device: (u32, u32), gid: u32) -> Qid;
    readlink() -> Vec<u8>;
    statfs() -> Statfs;
    fsync(data: bool) -> ();
    lock(range: &LockRange<'_>, block: bool) -> LockStatus;
    getlock(range: &LockRange<'_>) -> HeldLock;
    commit() -> ();
}

/// A fid and its tree.
pub(crate) struct Mounted<T: Tree> {
    tree: Arc<T>,
    fid: T::Fid,
    /// What is mounted has this name below the fid, and is walked to when somebody comes: no client
    /// has a fid that was not walked to.
    by: Option<Box<[u8]>>,
}

impl<T: Tree> Mounted<T>
where
    T::Fid: Sync,
{
    pub(crate) fn of(tree: Arc<T>, fid: T::Fid) -> Arc<dyn Foreign> {
        Arc::new(Mounted { tree, fid, by: None })
    }

    pub(crate) fn by(tree: Arc<T>, fid: T::Fid, name: &str) -> Arc<dyn Foreign> {
        Arc::new(Mounted { tree, fid, by: Some(name.as_bytes().into()) })
    }

    /// How a fid of the tree becomes one of the tree that it is mounted in.
    fn wrap(&self, from: &Fid, depth: usize) -> impl FnOnce(T::Fid) -> Fid + Send + use<T> {
        let (tree, from) = (self.tree.clone(), from.clone());
        move |fid| from.within(Mounted::of(tree, fid), depth)
    }

    fn same_tree<'a>(&self, other: &'a dyn Foreign) -> Result<&'a T::Fid> {
        let other = other.as_any().downcast_ref::<Mounted<T>>();
        let same = other.filter(|other| Arc::ptr_eq(&other.tree, &self.tree));
        same.map(|other| &other.fid).ok_or(Error::from(Errno::XDEV))
    }
}

/// Translates an outcome in which there is no fid.
fn no_fid<F>(outcome: Outcome<F>) -> Outcome<Fid> {
    outcome.map(|_| unreachable!("no fid comes back from this request"))
}

/// A walk from `depth` names below a mount's root as that tree is asked for it: without the `..`
/// at that root, which need not be its server's; their places in the walk; and where it leads.
fn below<'n>(mut depth: usize, names: &[Name<'n>]) -> (Vec<Name<'n>>, Vec<usize>, usize) {
    let (mut asked, mut stops) = (Vec::with_capacity(names.len()), Vec::new());
    for (at, name) in names.iter().enumerate() {
        match (*name, depth) {
            (b"..", 0) => {
                stops.push(at);
                continue;
            }
            (b"..", _) => depth -= 1,
            _ => depth += 1,
        }
        asked.push(*name);
    }
    (asked, stops, depth)
}

/// A walk that came into a mounted tree.
#[derive(Clone)]
struct Way {
    /// What it had found before, the mount last.
    before: Vec<Qid>,
    /// Where it stopped at the mount's root, as [`below`] tells.
    stops: Vec<usize>,
    /// Its first name in that tree leads to what is mounted.
    is_by_name: bool,
}

impl Way {
    /// All that it has found, with what that tree tells.
    fn found(mut self, mut walked: Walked<Fid>) -> Walked<Fid> {
        if self.is_by_name && !walked.qids.is_empty() {
            let mounted = walked.qids.remove(0);
            // The name that led to the mount has told only where it is to be found.
            if let Some(before) = self.before.last_mut() {
                *before = mounted;
            }
        }
        for &at in &self.stops {
            // The walk came to the root right before, or it did not come so far. It is not the
            // first step, which has left the mount.
            if at <= walked.qids.len() {
                walked.qids.insert(at, walked.qids[at - 1]);
            }
        }
        self.before.extend(walked.qids);
        Walked { qids: self.before, fid: walked.fid }
    }

    /// That tree's first name was not found. If one was found before, it is a short walk.
    fn lost(mut self, error: Error) -> Result<Walked<Fid>> {
        if self.is_by_name {
            self.before.pop();
        }
        match error.ends_walk() && !self.before.is_empty() {
            true => Ok(Walked { qids: self.before, fid: None }),
            false => Err(error),
        }
    }
}
