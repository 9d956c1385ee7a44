//! The kernel's inodes and open files, and the fids behind them.

use fuser::{FileHandle, INodeNo};
use muster_base::limits::FIDS_MAX;
use muster_ninep::client::Fid;
use muster_ninep::record::Qid;
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};

/// The kernel's name for the root.
pub(super) const ROOT: u64 = 1;

/// Inodes the kernel may remember. It forgets none before its memory runs short, and each holds
/// a fid; of those that a cluster's node has for all mounts together, half a connection's, this is
/// an eighth.
pub(super) const NODES_MAX: usize = if cfg!(test) { 400 } else { FIDS_MAX / 2 / 8 };

/// How many of the oldest the kernel is asked to forget at a time.
const TRIM: usize = NODES_MAX / 8;

/// So many more before it is asked again, if it has not forgotten any: they may all be in use.
const SLACK: usize = TRIM / 8;

/// An open file.
#[derive(Debug)]
pub(super) struct Open {
    pub(super) fid: Fid,
    /// Who has locked a range of it; their locks end with a close.
    pub(super) lockers: Mutex<HashSet<u64>>,
}

#[derive(Debug)]
struct Node {
    fid: Fid,
    /// How often the kernel was told of it and has not forgotten it.
    lookups: u64,
    /// Its place in the order in which inodes came.
    age: u64,
    /// Where it was found.
    place: Place,
    directory: bool,
}

/// A name in a directory.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub(super) dir: u64,
    pub(super) name: Vec<u8>,
}

/// All that the kernel knows of.
#[derive(Debug)]
pub(super) struct Table {
    root: Fid,
    inner: Mutex<Inner>,
    /// Signalled when there are too many inodes, or the mount is gone.
    crowded: Condvar,
}

#[derive(Debug, Default)]
struct Inner {
    nodes: HashMap<u64, Node>,
    /// Inodes by age.
    ages: BTreeMap<u64, u64>,
    /// More inodes are too many. Below [`NODES_MAX`] when the server has too few files; above it
    /// while the kernel has not yet forgotten what it was asked to, or will not because it is in
    /// use.
    most: usize,
    /// The mount is gone.
    closed: bool,
    open: HashMap<u64, Arc<Open>>,
    next: u64,
}

impl Table {
    pub(super) fn new(root: Fid) -> Table {
        let inner = Inner { most: NODES_MAX, ..Inner::default() };
        Table { root, inner: Mutex::new(inner), crowded: Condvar::new() }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().expect("no holder panics")
    }

    /// The inode's number of a file: its path in the server's numbering, so that it is the same
    /// whenever the kernel asks; but the root's is 1.
    pub(super) fn number(&self, qid: Qid) -> u64 {
        match qid.path {
            path if path == self.root.qid().path => ROOT,
            path @ (0 | ROOT) => path | 1 << 63,
            path => path,
        }
    }

    /// The file behind an inode.
    pub(super) fn fid(&self, ino: INodeNo) -> Option<Fid> {
        if ino.0 == ROOT {
            return Some(self.root.clone());
        }
        self.inner().nodes.get(&ino.0).map(|node| node.fid.clone())
    }

    /// The kernel is about to be told of a file found at `place`; returns its inode's number.
    pub(super) fn enter(&self, fid: Fid, qid: Qid, place: Place) -> u64 {
        let ino = self.number(qid);
        if ino == ROOT {
            return ino;
        }
        let directory = qid.is_dir();
        let mut inner = self.inner();
        inner.next += 1;
        let age = inner.next;
        // What has this number already was found before: of a node whose daemon was started again
        // since, whose files have the same numbers, that leads nowhere.
        let before = match inner.nodes.entry(ino) {
            Entry::Occupied(mut node) => {
                let node = node.get_mut();
                node.lookups += 1;
                node.place = place;
                Some(std::mem::replace(&mut node.fid, fid))
            }
            Entry::Vacant(vacant) => {
                vacant.insert(Node { fid, lookups: 1, age, place, directory });
                inner.ages.insert(age, ino);
                if inner.nodes.len() > inner.most {
                    self.crowded.notify_one();
                }
                None
            }
        };
        // Clunked without the lock.
        drop(inner);
        drop(before);
        ino
    }

    /// The kernel forgets what it was told so many times.
    pub(super) fn forget(&self, ino: INodeNo, times: u64) {
        let mut inner = self.inner();
        let Some(node) = inner.nodes.get_mut(&ino.0) else { return };
        node.lookups = node.lookups.saturating_sub(times);
        if node.lookups > 0 {
            return;
        }
        let gone = inner.nodes.remove(&ino.0);
        gone.as_ref().and_then(|node| inner.ages.remove(&node.age));
        inner.most = inner.most.min(inner.nodes.len() + SLACK).max(NODES_MAX);
        // Clunked without the lock.
        drop(inner);
        drop(gone);
    }

    /// The server has no more files to give: what there is is too much.
    pub(super) fn make_room(&self) {
        let mut inner = self.inner();
        inner.most = inner.most.min(inner.nodes.len().saturating_sub(1));
        self.crowded.notify_one();
    }

    /// Waits until there are too many inodes, and returns some with where they are: the oldest, of
    /// directories only those of which nothing else is known, and only where other files are too
    /// few. `None` when the mount is gone.
    pub(super) fn excess(&self) -> Option<Vec<(u64, Place)>> {
        let fits = |inner: &mut Inner| inner.nodes.len() <= inner.most && !inner.closed;
        let mut inner = self.crowded.wait_while(self.inner(), fits).expect("no holder panics");
        if inner.closed {
            return None;
        }
        let inner = &mut *inner;
        let above: HashSet<u64> = inner.nodes.values().map(|node| node.place.dir).collect();
        let leaves = inner.ages.values().copied().filter(|ino| !above.contains(ino));
        let (directories, files): (Vec<u64>, Vec<u64>) =
            leaves.partition(|ino| inner.nodes[ino].directory);
        let mut oldest = Vec::with_capacity(TRIM);
        for ino in files.into_iter().chain(directories).take(TRIM) {
            // What the kernel keeps all the same has its next turn when all others had theirs.
            inner.next += 1;
            let node = inner.nodes.get_mut(&ino).expect("ages and nodes agree");
            inner.ages.remove(&node.age);
            inner.ages.insert(inner.next, ino);
            node.age = inner.next;
            oldest.push((ino, node.place.clone()));
        }
        inner.most = NODES_MAX.max(inner.nodes.len() + SLACK);
        Some(oldest)
    }

    /// The mount is gone.
    pub(super) fn close(&self) {
        self.inner().closed = true;
        self.crowded.notify_all();
    }

    #[cfg(test)]
    pub(super) fn nodes(&self) -> usize {
        self.inner().nodes.len()
    }

    /// Keeps an open file under a new handle.
    pub(super) fn opened(&self, fid: Fid) -> FileHandle {
        let mut inner = self.inner();
        inner.next += 1;
        let handle = inner.next;
        inner.open.insert(handle, Arc::new(Open { fid, lockers: Mutex::default() }));
        FileHandle(handle)
    }

    /// An open file.
    pub(super) fn file(&self, handle: FileHandle) -> Option<Arc<Open>> {
        self.inner().open.get(&handle.0).cloned()
    }

    /// The open file, or else the file behind the inode.
    pub(super) fn either(&self, ino: INodeNo, handle: Option<FileHandle>) -> Option<Fid> {
        let open = handle.and_then(|handle| self.file(handle));
        open.map(|open| open.fid.clone()).or_else(|| self.fid(ino))
    }

    /// The kernel has closed a file: its fid is clunked before anything else is sent.
    pub(super) fn closed(&self, handle: FileHandle) {
        let gone = self.inner().open.remove(&handle.0);
        drop(gone);
    }
}
