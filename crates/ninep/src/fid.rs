//! The fids of one session.

use crate::error::{Errno, Result, fail};
use crate::message::{Fid, NOFID};
use crate::record::Qid;
use crate::tree::OpenFlags;
use muster_base::limits::{FIDS_MAX, PATH_MAX, PATHS_MAX};
use std::collections::HashMap;

/// What a session knows of one fid besides what the tree does.
#[derive(Debug)]
pub(crate) struct Slot<F> {
    /// The tree's part.
    pub(crate) fid: F,
    pub(crate) qid: Qid,
    /// How it was opened, if it was.
    pub(crate) opened: Option<OpenFlags>,
    /// A parked request is about to change it; nothing else may use it meanwhile.
    busy: bool,
    /// It stands for an extended attribute.
    pub(crate) is_attribute: bool,
    /// Remove the file at clunk (ORCLOSE of open(5)).
    pub(crate) remove: bool,
    /// Names from the root with '/' between, for dialects whose stat has a name; empty in
    /// 9P2000.L.
    path: Vec<u8>,
    /// Where a directory read of 9P2000 goes on.
    pub(crate) cursor: Cursor,
}

/// Where the next read of a directory goes on in 9P2000.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cursor {
    /// The byte.
    pub(crate) offset: u64,
    /// The tree's cookie.
    pub(crate) cookie: u64,
    /// What the last read was asked for beyond what it gave.
    pub(crate) left: usize,
}

impl<F> Slot<F> {
    /// A fid that is not open.
    pub(crate) fn new(fid: F, qid: Qid) -> Slot<F> {
        let (opened, busy, is_attribute, remove) = (None, false, false, false);
        let (path, cursor) = (Vec::new(), Cursor::default());
        Slot { fid, qid, opened, busy, is_attribute, remove, path, cursor }
    }

    /// The same, found at `path`.
    pub(crate) fn at(self, path: Vec<u8>) -> Slot<F> {
        Slot { path, ..self }
    }

    /// Whether an extended attribute is set at its clunk.
    pub(crate) fn sets_attribute(&self) -> bool {
        self.is_attribute && self.opened.is_some_and(OpenFlags::writes)
    }

    /// Names from the root, with '/' between.
    pub(crate) fn path(&self) -> &[u8] {
        &self.path
    }

    /// The last name, as a stat has it.
    pub(crate) fn name(&self) -> &[u8] {
        match self.path.rsplit(|byte| *byte == b'/').next() {
            Some(name) if !name.is_empty() => name,
            _ => b"/",
        }
    }
}

/// Where `names` lead from `path`.
pub(crate) fn lead(path: &[u8], names: &[&[u8]]) -> Vec<u8> {
    let mut path = path.to_vec();
    for name in names {
        if *name == b".." {
            path.truncate(path.iter().rposition(|byte| *byte == b'/').unwrap_or(0));
        } else {
            if !path.is_empty() {
                path.push(b'/');
            }
            path.extend_from_slice(name);
        }
    }
    path
}

#[derive(Debug)]
enum Entry<F> {
    Live(Slot<F>),
    /// A parked request will put a fid here.
    Reserved,
}

/// The table.
#[derive(Debug)]
pub(crate) struct Fids<F> {
    table: HashMap<Fid, Entry<F>>,
    /// How many there may be.
    most: usize,
    /// Bytes of all paths.
    paths: usize,
}

impl<F> Fids<F> {
    /// An empty table, with room for `most` fids.
    pub(crate) fn new(most: usize) -> Fids<F> {
        Fids { table: HashMap::new(), most: most.min(FIDS_MAX), paths: 0 }
    }

    /// Whether there is none, nor one to come.
    pub(crate) fn is_empty(&self) -> bool {
        self.table.is_empty()
    }

    /// The slot of a fid in use.
    pub(crate) fn get(&mut self, fid: Fid) -> Result<&mut Slot<F>> {
        match self.table.get_mut(&fid) {
            Some(Entry::Live(slot)) if !slot.busy => Ok(slot),
            Some(_) => fail(Errno::BUSY, format!("fid {fid} is in use by another request")),
            None => fail(Errno::BADF, format!("fid {fid} is unknown")),
        }
    }

    /// The slots of two fids, which may be the same.
    pub(crate) fn two(&mut self, a: Fid, b: Fid) -> Result<(&Slot<F>, &Slot<F>)> {
        self.get(a)?;
        self.get(b)?;
        match (&self.table[&a], &self.table[&b]) {
            (Entry::Live(a), Entry::Live(b)) => Ok((a, b)),
            _ => unreachable!("get() has found both"),
        }
    }

    /// A fid open for reading (`write` false) or writing.
    pub(crate) fn opened(&mut self, fid: Fid, write: bool) -> Result<&mut Slot<F>> {
        let slot = self.get(fid)?;
        let permits = |flags: OpenFlags| if write { flags.writes() } else { flags.reads() };
        if !slot.opened.is_some_and(permits) {
            let how = if write { "writing" } else { "reading" };
            return fail(Errno::BADF, format!("fid {fid} is not open for {how}"));
        }
        Ok(slot)
    }

    /// A directory, in which names are made or changed.
    pub(crate) fn directory(&mut self, fid: Fid) -> Result<&mut Slot<F>> {
        let slot = self.get(fid)?;
        if !slot.qid.is_dir() {
            return fail(Errno::NOTDIR, "what it would be in is not a directory");
        }
        Ok(slot)
    }

    /// Checks that a new fid may be made.
    pub(crate) fn vacant(&self, fid: Fid) -> Result<()> {
        if fid == NOFID || self.table.contains_key(&fid) {
            return fail(Errno::INVAL, format!("fid {fid} is in use already"));
        }
        if self.table.len() >= self.most {
            let text = format!("this connection holds {} fids, its limit", self.most);
            return fail(Errno::MFILE, text);
        }
        Ok(())
    }

    /// Checks that a path may be kept.
    pub(crate) fn has_room_for(&self, path: &[u8]) -> Result<()> {
        if path.len() > PATH_MAX {
            let text = format!("a path is longer than {PATH_MAX} bytes");
            return fail(Errno::NAMETOOLONG, text);
        }
        if self.paths + path.len() > PATHS_MAX {
            let text = format!("the paths of this connection's fids exceed {PATHS_MAX} bytes");
            return fail(Errno::MFILE, text);
        }
        Ok(())
    }

    /// Notes that a fid has become the file `name` of the directory that it was.
    pub(crate) fn descend(&mut self, fid: Fid, name: &[u8]) {
        self.move_path(fid, &[name]);
    }

    /// Notes that the file of a fid is called `name` now.
    pub(crate) fn rename(&mut self, fid: Fid, name: &[u8]) {
        self.move_path(fid, &[b"..", name]);
    }

    fn move_path(&mut self, fid: Fid, names: &[&[u8]]) {
        if let Some(Entry::Live(slot)) = self.table.get_mut(&fid) {
            let path = lead(&slot.path, names);
            self.paths = self.paths - slot.path.len() + path.len();
            slot.path = path;
        }
    }

    /// Keeps a place, or a fid in use, for a parked request.
    pub(crate) fn reserve(&mut self, fid: Fid) {
        match self.table.entry(fid).or_insert(Entry::Reserved) {
            Entry::Live(slot) => slot.busy = true,
            Entry::Reserved => {}
        }
    }

    /// Ends a reservation without effect.
    pub(crate) fn release(&mut self, fid: Fid) {
        match self.table.get_mut(&fid) {
            Some(Entry::Live(slot)) => slot.busy = false,
            Some(Entry::Reserved) => drop(self.table.remove(&fid)),
            None => {}
        }
    }

    /// Puts a fid into its place; returns what it takes the place of.
    pub(crate) fn put(&mut self, fid: Fid, slot: Slot<F>) -> Option<Slot<F>> {
        self.paths += slot.path.len();
        let old = self.table.insert(fid, Entry::Live(slot));
        self.left(old)
    }

    /// The slot of a fid, reserved for this request or not.
    pub(crate) fn mine(&mut self, fid: Fid) -> Option<&mut Slot<F>> {
        match self.table.get_mut(&fid) {
            Some(Entry::Live(slot)) => Some(slot),
            _ => None,
        }
    }

    /// Takes a fid out.
    pub(crate) fn take(&mut self, fid: Fid) -> Result<Slot<F>> {
        self.get(fid)?;
        Ok(self.extract(fid).expect("get() has found it"))
    }

    /// Takes a fid out, busy or not.
    pub(crate) fn extract(&mut self, fid: Fid) -> Option<Slot<F>> {
        let old = self.table.remove(&fid);
        self.left(old)
    }

    fn left(&mut self, entry: Option<Entry<F>>) -> Option<Slot<F>> {
        let Some(Entry::Live(slot)) = entry else { return None };
        self.paths -= slot.path.len();
        Some(slot)
    }

    /// Takes all out.
    pub(crate) fn drain(&mut self) -> impl Iterator<Item = Slot<F>> + use<F> {
        self.paths = 0;
        std::mem::take(&mut self.table).into_values().filter_map(|entry| match entry {
            Entry::Live(slot) => Some(slot),
            Entry::Reserved => None,
        })
    }
}
