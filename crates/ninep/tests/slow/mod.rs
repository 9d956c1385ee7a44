//! A tree that parks every request and lets the test decide when and how each is answered.
#![allow(dead_code, reason = "each test uses a part of it")]

use muster_ninep::call::{Answer, Data, Opened, Ticket, Walked};
use muster_ninep::error::Errno;
use muster_ninep::record::{Attr, DirEntry, Qid, SetAttr};
use muster_ninep::tree::{Attach, C, OpenFlags, Tree};
use muster_ninep::wire::Name;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// A directory's qid.
pub const DIR: Qid = Qid { kind: Qid::DIR, version: 0, path: 1 };
/// A file's qid.
pub const FILE: Qid = Qid { kind: 0, version: 0, path: 2 };

/// A parked request's ticket.
pub enum Held {
    /// `Tattach`.
    Attach(Ticket<(u32, Qid)>),
    /// `Twalk`.
    Walk(Ticket<Walked<u32>>),
    /// `Topen`, `Tcreate`.
    Open(Ticket<Opened<u32>>),
    /// `Tread`.
    Read(Ticket<Data>),
    /// `Tgetattr`.
    Attr(Ticket<Attr>),
    /// What makes a name.
    Qid(Ticket<Qid>),
    /// `Twrite`.
    Write(Ticket<u32>),
    /// What only says that it is done.
    Done(Ticket<()>),
    /// `Treaddir`.
    Entries(Ticket<Vec<DirEntry>>),
}

/// The tree. Its fids are numbers, given out in answers and noted when they are clunked.
#[derive(Default)]
pub struct Slow {
    held: Mutex<Vec<Held>>,
    clunked: Mutex<Vec<u32>>,
    removed: Mutex<Vec<u32>>,
    /// Names that files are to get, and whether they may replace others.
    renamed: Mutex<Vec<(String, bool)>>,
    /// Whether reads, also of directories, are of what comes without anybody's doing.
    pub brings: AtomicBool,
}

impl Slow {
    /// A new one.
    pub fn new() -> Arc<Slow> {
        Arc::default()
    }

    /// The oldest request that is parked.
    pub fn next(&self) -> Held {
        self.held.lock().expect("no holder panics").remove(0)
    }

    /// How many are parked.
    pub fn waiting(&self) -> usize {
        self.held.lock().expect("no holder panics").len()
    }

    /// The fids clunked since the last time, in order.
    pub fn clunked(&self) -> Vec<u32> {
        let mut clunked = std::mem::take(&mut *self.clunked.lock().expect("no holder panics"));
        clunked.sort_unstable();
        clunked
    }

    /// The fids whose files are to be removed.
    pub fn removed(&self) -> Vec<u32> {
        self.removed.lock().expect("no holder panics").clone()
    }

    /// The names that files are to get since the last time, and whether they may replace others.
    pub fn renamed(&self) -> Vec<(String, bool)> {
        std::mem::take(&mut *self.renamed.lock().expect("no holder panics"))
    }

    fn hold(&self, held: Held) {
        self.held.lock().expect("no holder panics").push(held);
    }
}

/// Takes the next ticket, which must be of a kind: `next!(tree, Read)`.
#[macro_export]
macro_rules! next {
    ($tree:expr, $kind:ident) => {
        match $tree.next() {
            $crate::slow::Held::$kind(ticket) => ticket,
            _ => panic!("another request is parked"),
        }
    };
}

impl Tree for Slow {
    type Fid = u32;

    fn attach(&self, call: &mut C<'_, Self>, _: &Attach<'_>) -> Answer<(u32, Qid)> {
        call.park(|ticket| self.hold(Held::Attach(ticket)))
    }

    fn walk(&self, call: &mut C<'_, Self>, _: &u32, _: &[Name<'_>]) -> Answer<Walked<u32>> {
        call.park(|ticket| self.hold(Held::Walk(ticket)))
    }

    fn open(&self, call: &mut C<'_, Self>, _: &u32, _: OpenFlags) -> Answer<Opened<u32>> {
        call.park(|ticket| self.hold(Held::Open(ticket)))
    }

    fn create(
        &self,
        call: &mut C<'_, Self>,
        _: &u32,
        _: Name<'_>,
        _: OpenFlags,
        _: u32,
        _: u32,
    ) -> Answer<Opened<u32>> {
        call.park(|ticket| self.hold(Held::Open(ticket)))
    }

    fn clunk(&self, fid: u32) {
        self.clunked.lock().expect("no holder panics").push(fid);
    }

    fn getattr(&self, call: &mut C<'_, Self>, _: &u32) -> Answer<Attr> {
        call.park(|ticket| self.hold(Held::Attr(ticket)))
    }

    fn setattr(&self, call: &mut C<'_, Self>, _: &u32, _: &SetAttr) -> Answer<()> {
        call.park(|ticket| self.hold(Held::Done(ticket)))
    }

    fn rename(
        &self,
        call: &mut C<'_, Self>,
        _: &u32,
        _: Option<&u32>,
        name: Name<'_>,
        replace: bool,
    ) -> Answer<()> {
        let name = String::from_utf8_lossy(name).into_owned();
        self.renamed.lock().expect("no holder panics").push((name, replace));
        call.park(|ticket| self.hold(Held::Done(ticket)))
    }

    fn read(&self, call: &mut C<'_, Self>, _: &u32, _: u64, count: usize) -> Answer<Data> {
        if count == 0 {
            return Err(Errno::INVAL.into());
        }
        if self.brings.load(Ordering::Relaxed) {
            call.brings(count)?;
        }
        call.park(|ticket| self.hold(Held::Read(ticket)))
    }

    fn write(&self, call: &mut C<'_, Self>, _: &u32, _: u64, _: &[u8]) -> Answer<u32> {
        call.park(|ticket| self.hold(Held::Write(ticket)))
    }

    fn readdir(
        &self,
        call: &mut C<'_, Self>,
        _: &u32,
        _: u64,
        count: usize,
        _: bool,
    ) -> Answer<Vec<DirEntry>> {
        if self.brings.load(Ordering::Relaxed) {
            call.brings(count)?;
        }
        call.park(|ticket| self.hold(Held::Entries(ticket)))
    }

    fn mkdir(&self, call: &mut C<'_, Self>, _: &u32, _: Name<'_>, _: u32, _: u32) -> Answer<Qid> {
        call.park(|ticket| self.hold(Held::Qid(ticket)))
    }

    fn remove(&self, call: &mut C<'_, Self>, fid: &u32) -> Answer<()> {
        self.removed.lock().expect("no holder panics").push(*fid);
        call.park(|ticket| self.hold(Held::Done(ticket)))
    }
}
