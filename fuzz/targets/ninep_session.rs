//! Any bytes from a client leave the server session within its limits.
//!
//! The first byte of an input chooses how the rest arrives: how many bytes at a time, whether
//! replies are taken, whether parked requests are answered. Held against the session: each reply
//! is a message, there are no more replies than requests, what waits to be sent is bounded, and
//! every fid that the tree has given out is clunked in the end.
#![no_main]

use std::io::IoSlice;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};

use libfuzzer_sys::fuzz_target;
use muster_base::limits::{MSIZE_MAX, OUTBOX_MAX};
use muster_ninep::call::{Answer, Data, LockStatus, Opened, Ticket, Walked};
use muster_ninep::error::{Errno, fail};
use muster_ninep::message::{Frame, Rmessage};
use muster_ninep::record::{Attr, DirEntry, LockRange, Qid, SetAttr};
use muster_ninep::session::Session;
use muster_ninep::tree::{Attach, C, OpenFlags, Peer, Tree};
use muster_ninep::version::{Dialect, Version};
use muster_ninep::wire::Name;

/// A tree of nothing: `d` is a directory, `f` a file, `w` a file whose reads park.
#[derive(Default)]
struct Paper {
    /// Fids given out and not yet clunked.
    fids: AtomicI64,
    reads: Mutex<Vec<Ticket<Data>>>,
    locks: Mutex<Vec<Ticket<LockStatus>>>,
}

#[derive(Clone, Copy, PartialEq)]
enum Leaf {
    Directory,
    File,
    Parking,
}

impl Leaf {
    fn qid(self) -> Qid {
        let kind = if self == Leaf::Directory { Qid::DIR } else { 0 };
        Qid { kind, version: 0, path: self as u64 }
    }
}

impl Paper {
    fn give(&self, leaf: Leaf) -> Leaf {
        self.fids.fetch_add(1, Ordering::Relaxed);
        leaf
    }

    fn answer_one(&self) {
        if let Some(ticket) = self.reads.lock().expect("one thread").pop() {
            ticket.claim();
            ticket.answer(Ok(vec![7; 10].into()));
        }
        if let Some(ticket) = self.locks.lock().expect("one thread").pop() {
            ticket.answer(Ok(LockStatus::Success));
        }
    }
}

impl Tree for Paper {
    type Fid = Leaf;

    fn attach(&self, _: &mut C<'_, Self>, who: &Attach<'_>) -> Answer<(Leaf, Qid)> {
        if who.aname == "no" {
            return fail(Errno::NOENT, "no such tree");
        }
        Ok((self.give(Leaf::Directory), Leaf::Directory.qid()))
    }

    fn walk(&self, _: &mut C<'_, Self>, from: &Leaf, names: &[Name<'_>]) -> Answer<Walked<Leaf>> {
        let (mut leaf, mut qids) = (*from, Vec::new());
        for name in names {
            leaf = match *name {
                b"f" => Leaf::File,
                b"w" => Leaf::Parking,
                b"d" | b".." => Leaf::Directory,
                _ if qids.is_empty() => return fail(Errno::NOENT, "no such file"),
                _ => return Ok(Walked { qids, fid: None }),
            };
            qids.push(leaf.qid());
        }
        Ok(Walked { qids, fid: Some(self.give(leaf)) })
    }

    fn open(&self, _: &mut C<'_, Self>, fid: &Leaf, _: OpenFlags) -> Answer<Opened<Leaf>> {
        Ok(Opened { fid: *fid, qid: fid.qid(), iounit: 0 })
    }

    fn clunk(&self, _: Leaf) {
        self.fids.fetch_sub(1, Ordering::Relaxed);
    }

    fn getattr(&self, _: &mut C<'_, Self>, fid: &Leaf) -> Answer<Attr> {
        Ok(Attr { qid: fid.qid(), ..Attr::default() })
    }

    fn read(&self, call: &mut C<'_, Self>, fid: &Leaf, offset: u64, count: usize) -> Answer<Data> {
        match fid {
            Leaf::Parking => {
                call.park(|ticket| self.reads.lock().expect("one thread").push(ticket))
            }
            _ if offset > 1 << 20 => fail(Errno::IO, "beyond the end"),
            _ => call.fill(count, |room| Ok(room.len().min(9000))),
        }
    }

    fn write(&self, _: &mut C<'_, Self>, _: &Leaf, _: u64, data: &[u8]) -> Answer<u32> {
        Ok(data.len() as u32)
    }

    fn readdir(
        &self,
        _: &mut C<'_, Self>,
        _: &Leaf,
        offset: u64,
        count: usize,
        attrs: bool,
    ) -> Answer<Vec<DirEntry>> {
        let entry = |next| DirEntry {
            qid: Leaf::File.qid(),
            next,
            kind: 8,
            name: vec![b'f'; (next % 40) as usize],
            attr: attrs.then(Attr::default),
        };
        let first = offset.saturating_add(1);
        Ok((first..100).map(entry).take(count / 30).collect())
    }

    fn create(
        &self,
        _: &mut C<'_, Self>,
        _: &Leaf,
        _: Name<'_>,
        _: OpenFlags,
        _: u32,
        _: u32,
    ) -> Answer<Opened<Leaf>> {
        Ok(Opened { fid: Leaf::File, qid: Leaf::File.qid(), iounit: 512 })
    }

    fn setattr(&self, _: &mut C<'_, Self>, _: &Leaf, _: &SetAttr) -> Answer<()> {
        Ok(())
    }

    fn remove(&self, _: &mut C<'_, Self>, fid: &Leaf) -> Answer<()> {
        if *fid == Leaf::File { Ok(()) } else { fail(Errno::PERM, "it stays") }
    }

    fn rename(
        &self,
        _: &mut C<'_, Self>,
        _: &Leaf,
        _: Option<&Leaf>,
        _: Name<'_>,
        _: bool,
    ) -> Answer<()> {
        Ok(())
    }

    fn mkdir(&self, _: &mut C<'_, Self>, _: &Leaf, _: Name<'_>, _: u32, _: u32) -> Answer<Qid> {
        Ok(Leaf::Directory.qid())
    }

    fn readlink(&self, _: &mut C<'_, Self>, _: &Leaf) -> Answer<Vec<u8>> {
        Ok(b"f".to_vec())
    }

    fn lock(
        &self,
        call: &mut C<'_, Self>,
        _: &Leaf,
        _: &LockRange<'_>,
        block: bool,
    ) -> Answer<LockStatus> {
        if block {
            return call.park(|ticket| self.locks.lock().expect("one thread").push(ticket));
        }
        Ok(LockStatus::Blocked)
    }

    fn xattrwalk(&self, _: &mut C<'_, Self>, _: &Leaf, name: Name<'_>) -> Answer<(Leaf, u64)> {
        if name == b"no" {
            return fail(Errno::NODATA, "no such attribute");
        }
        Ok((self.give(Leaf::File), 10))
    }
}

/// The client's view: what came back, checked as it comes.
struct Replies {
    bytes: Vec<u8>,
    dialect: Dialect,
    count: usize,
}

impl Replies {
    fn take(&mut self, session: &mut Session<Paper>) {
        loop {
            let mut pieces: Vec<IoSlice<'_>> = Vec::new();
            session.outbox().pieces(&mut pieces);
            let sent: usize = pieces.iter().map(|piece| piece.len()).sum();
            pieces.iter().for_each(|piece| self.bytes.extend_from_slice(piece));
            session.outbox().consume(sent);
            if sent == 0 {
                break;
            }
        }
        assert!(session.outbox().is_empty());
        let mut done = 0;
        while let Some((frame, size)) =
            Frame::cut(&self.bytes[done..], MSIZE_MAX as u32).expect("a sound size")
        {
            // A refused Tversion is answered in the oldest dialect.
            let reply = frame.answer(self.dialect).or_else(|_| frame.answer(Dialect::Plan9));
            if let Rmessage::Version { version, .. } = reply.expect("a sound reply") {
                self.dialect = Version::agree(version).map_or(Dialect::Plan9, |v| v.dialect);
            }
            self.count += 1;
            done += size;
        }
        assert_eq!(done, self.bytes.len(), "a reply that is cut off");
        self.bytes.clear();
    }
}

fuzz_target!(|bytes: &[u8]| {
    let Some((&choice, stream)) = bytes.split_first() else {
        return;
    };
    let step = [1 << 20, 1, 7, 100][usize::from(choice & 3)];
    let (greedy, answers) = (choice & 4 == 0, choice & 8 == 0);
    let tree = Arc::new(Paper::default());
    let mut session = Session::new(tree.clone(), Peer::default(), || {});
    let mut replies = Replies { bytes: Vec::new(), dialect: Dialect::Plan9, count: 0 };
    let (mut start, mut requests) = (0, 0);
    for end in (0..stream.len()).step_by(step).map(|at| stream.len().min(at + step)) {
        let received = session.receive(&stream[start..end]);
        let done = received.unwrap_or(end - start);
        requests += messages(&stream[start..start + done]);
        start += done;
        // One reply may go over the bound that stops further requests, and late ones do not stop.
        let bound = OUTBOX_MAX + session.msize() + 32 * requests;
        assert!(session.outbox().len() <= bound);
        if received.is_err() {
            break;
        }
        if answers {
            tree.answer_one();
            session.conclude();
        }
        if greedy {
            replies.take(&mut session);
        }
    }
    replies.take(&mut session);
    assert!(replies.count <= requests, "more replies than requests");
    session.close();
    drop(session);
    tree.reads.lock().expect("one thread").clear();
    tree.locks.lock().expect("one thread").clear();
    assert_eq!(tree.fids.load(Ordering::Relaxed), 0, "fids are lost or clunked twice");
});

/// How many whole messages stand at the start of some bytes.
fn messages(mut bytes: &[u8]) -> usize {
    let mut count = 0;
    while let Ok(Some((_, size))) = Frame::cut(bytes, u32::MAX) {
        bytes = &bytes[size..];
        count += 1;
    }
    count
}
