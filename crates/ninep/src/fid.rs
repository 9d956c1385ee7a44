//! The fids of one session.

use crate::error::{Errno, Result, fail};
use crate::message::{Fid, NOFID};
use crate::record::Qid;
use crate::tree::OpenFlags;
use muster_base::limits::FIDS_MAX;
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
    /// Remove the file at clunk (ORCLOSE of open(5)).
    pub(crate) remove: bool,
    /// Names from the root, for dialects whose stat has a name; empty in 9P2000.L.
    pub(crate) path: Vec<Vec<u8>>,
    /// Where a directory read of 9P2000 goes on: byte offset and the tree's cookie.
    pub(crate) cursor: (u64, u64),
}

impl<F> Slot<F> {
    /// A fid that is not open.
    pub(crate) fn new(fid: F, qid: Qid) -> Slot<F> {
        let (opened, busy, remove) = (None, false, false);
        Slot { fid, qid, opened, busy, remove, path: Vec::new(), cursor: (0, 0) }
    }
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
}

impl<F> Default for Fids<F> {
    fn default() -> Fids<F> {
        Fids { table: HashMap::new() }
    }
}

impl<F> Fids<F> {
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

    /// A directory that is not open, in which names are made or changed.
    pub(crate) fn directory(&mut self, fid: Fid) -> Result<&mut Slot<F>> {
        let slot = self.get(fid)?;
        if !slot.qid.is_dir() {
            return fail(Errno::NOTDIR, format!("fid {fid} is not a directory"));
        }
        Ok(slot)
    }

    /// Checks that a new fid may be made.
    pub(crate) fn vacant(&self, fid: Fid) -> Result<()> {
        if fid == NOFID || self.table.contains_key(&fid) {
            return fail(Errno::INVAL, format!("fid {fid} is in use already"));
        }
        if self.table.len() >= FIDS_MAX {
            return fail(Errno::MFILE, format!("this connection holds {FIDS_MAX} fids, its limit"));
        }
        Ok(())
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
        match self.table.insert(fid, Entry::Live(slot)) {
            Some(Entry::Live(old)) => Some(old),
            _ => None,
        }
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
        match self.table.remove(&fid) {
            Some(Entry::Live(slot)) => Ok(slot),
            _ => unreachable!("get() has found it"),
        }
    }

    /// Takes all out.
    pub(crate) fn drain(&mut self) -> impl Iterator<Item = F> {
        std::mem::take(&mut self.table).into_values().filter_map(|entry| match entry {
            Entry::Live(slot) => Some(slot.fid),
            Entry::Reserved => None,
        })
    }
}
