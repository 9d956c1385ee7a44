//! Remote copy over active messages: the regions' owner carries out puts and gets as handlers.
//!
//! An operation goes in pieces of [`COPY_PIECE`] bytes, at most [`COPY_WINDOW`] of them under way.
//! Each piece is answered once, in order; when the last is, the operation is complete. A piece
//! names the whole operation's range, so the owner refuses all of one that leaves its region, not
//! only the pieces outside. Operations take effect in the order in which they were asked for.
//!
//! Rights and bounds are the owner's to check: its regions are those exposed on this connection,
//! and a key that it did not give out opens nothing. A refused operation completes with an error
//! and the connection goes on; a piece that makes no sense ends it.
//!
//! Who dies leaves operations without completion; the survivor is told of the end instead.

mod wire;

pub use wire::{Head, Status};

use super::wait_for_room;
use crate::deadline::Deadline;
use crate::error::{Error, Result};
use crate::region::{Region, Rights};
use crate::strategy::{ActiveMessage, Completion, Handler, Handlers, Key, Ready, RemoteCopy, Wait};
use crate::transport::Peer;
use muster_base::limits::{COPIES_MAX, COPY_MAX, COPY_PIECE, COPY_WINDOW, REGIONS_MAX};
use std::collections::{HashMap, VecDeque};
use std::io::{self, IoSlice};
use std::os::fd::BorrowedFd;

/// Remote copy over active messages.
pub struct Copied<A: ActiveMessage> {
    inner: A,
    regions: HashMap<u32, Region>,
    keys: u32,
    asked: Asked,
    /// Where answers are put together.
    scratch: Vec<u8>,
}

/// An operation that this side asked for.
struct Operation {
    head: Head,
    token: u64,
    is_put: bool,
    /// A put's bytes that had no room yet, from `kept_from` on; of a get what was read.
    bytes: Vec<u8>,
    kept_from: u64,
    /// Bytes, and pieces at all, that were asked for and answered.
    sent: u64,
    begun: bool,
    done: u64,
    complete: bool,
    status: Status,
}

impl Operation {
    fn is_sent(&self) -> bool {
        self.begun && self.sent == self.head.count
    }
}

/// What this side asked for and has not been given yet.
struct Asked {
    operations: VecDeque<Operation>,
    numbers: u32,
    piece: usize,
    /// Pieces under way.
    flying: usize,
    /// Bytes of all operations here.
    held: usize,
}

impl<A: ActiveMessage> Copied<A> {
    /// Over active messages of which none was sent yet, and which carry some bytes.
    pub fn new(inner: A) -> Copied<A> {
        let piece = COPY_PIECE.min(inner.limit().saturating_sub(wire::HEAD));
        assert!(piece > 0, "active messages of {} bytes carry no piece", inner.limit());
        let operations = VecDeque::with_capacity(COPIES_MAX);
        Copied {
            inner,
            regions: HashMap::new(),
            keys: 0,
            asked: Asked { operations, numbers: 0, piece, flying: 0, held: 0 },
            scratch: Vec::with_capacity(wire::ANSWER + piece),
        }
    }

    fn begin(
        &mut self,
        is_put: bool,
        key: Key,
        offset: u64,
        count: usize,
        token: u64,
    ) -> Result<()> {
        if count > COPY_MAX {
            return Err(Error::TooLarge { what: "a remote copy", size: count, limit: COPY_MAX });
        }
        if !self.asked.has_room(count) {
            self.turn()?;
        }
        if !self.asked.has_room(count) {
            return Err(Error::WouldBlock);
        }
        self.asked.numbers = self.asked.numbers.wrapping_add(1);
        let (number, count) = (self.asked.numbers, count as u64);
        let head = Head { number, key: key.0, offset, count, at: 0 };
        self.asked.held += count as usize;
        self.asked.operations.push_back(Operation {
            head,
            token,
            is_put,
            bytes: Vec::new(),
            kept_from: 0,
            sent: 0,
            begun: false,
            done: 0,
            complete: false,
            status: Status::Done,
        });
        Ok(())
    }

    /// Asks for pieces as far as there is room; `bytes` are those of the last operation.
    fn ask(&mut self, bytes: &[u8]) -> Result<()> {
        let Copied { inner, asked, .. } = self;
        let last = asked.operations.len().wrapping_sub(1);
        for (index, operation) in asked.operations.iter_mut().enumerate() {
            while !operation.is_sent() {
                if asked.flying == COPY_WINDOW {
                    return Ok(());
                }
                let size = (asked.piece as u64).min(operation.head.count - operation.sent);
                let head = Head { at: operation.sent, ..operation.head }.to_bytes();
                let called = if operation.is_put {
                    let (source, from) = match (index == last, bytes) {
                        (true, [_, ..]) => (bytes, 0),
                        _ => (operation.bytes.as_slice(), operation.kept_from),
                    };
                    let start = (operation.sent - from) as usize;
                    let piece = &source[start..start + size as usize];
                    inner.try_call(wire::PUT, &[IoSlice::new(&head), IoSlice::new(piece)])
                } else {
                    let size = (size as u32).to_le_bytes();
                    inner.try_call(wire::GET, &[IoSlice::new(&head), IoSlice::new(&size)])
                };
                match called {
                    Err(Error::WouldBlock) => return Ok(()),
                    done => done?,
                }
                operation.begun = true;
                operation.sent += size;
                asked.flying += 1;
            }
        }
        Ok(())
    }

    /// Lets everything get on.
    fn turn(&mut self) -> Result<()> {
        self.ask(&[])?;
        let Copied { inner, regions, asked, scratch, .. } = self;
        if inner.try_progress(&mut Copying { regions, asked, scratch })? > 0 {
            self.ask(&[])?;
        }
        Ok(())
    }
}

impl Asked {
    fn has_room(&self, count: usize) -> bool {
        let none = self.operations.is_empty();
        self.operations.len() < COPIES_MAX && (none || self.held + count <= COPY_MAX)
    }

    /// The next operation that is complete.
    fn completion(&mut self) -> Option<Completion> {
        if !self.operations.front()?.complete {
            return None;
        }
        let operation = self.operations.pop_front()?;
        let Head { key, offset, count, .. } = operation.head;
        self.held -= count as usize;
        let bytes = if operation.is_put { Vec::new() } else { operation.bytes };
        let result = match operation.status.why() {
            None => Ok(()),
            Some(why) => Err(Error::Access { key: Some(key), offset, count: count as usize, why }),
        };
        Some(Completion { token: operation.token, bytes, result })
    }

    /// Takes the answer to the piece that was asked for first.
    fn answered(&mut self, is_put: bool, number: u32, status: Status, bytes: &[u8]) -> Option<()> {
        let operation = self.operations.iter_mut().find(|operation| !operation.complete)?;
        let size = (self.piece as u64).min(operation.head.count - operation.done);
        let expected = if is_put || status != Status::Done { 0 } else { size as usize };
        let matches = operation.is_put == is_put && operation.head.number == number;
        let asked = operation.begun && operation.done + size <= operation.sent;
        if !matches || !asked || bytes.len() != expected {
            return None;
        }
        self.flying -= 1;
        operation.done += size;
        if operation.status == Status::Done {
            operation.status = status;
        }
        if !is_put {
            if operation.status == Status::Done {
                operation
                    .bytes
                    .reserve_exact(operation.head.count as usize - operation.bytes.len());
                operation.bytes.extend_from_slice(bytes);
            } else {
                operation.bytes = Vec::new();
            }
        }
        operation.complete = operation.done == operation.head.count;
        Some(())
    }
}

/// The handlers of both sides: puts and gets of the peer, answers to ours.
struct Copying<'a> {
    regions: &'a HashMap<u32, Region>,
    asked: &'a mut Asked,
    scratch: &'a mut Vec<u8>,
}

impl Copying<'_> {
    /// The region, if all of the operation is allowed there.
    fn region(&self, head: &Head, may: fn(Rights) -> bool) -> std::result::Result<&Region, Status> {
        let region = self.regions.get(&head.key).ok_or(Status::Unknown)?;
        let end = head.offset.checked_add(head.count).ok_or(Status::Outside)?;
        match region {
            _ if !may(region.rights()) => Err(Status::Forbidden),
            _ if end > region.size() as u64 => Err(Status::Outside),
            region => Ok(region),
        }
    }

    fn put(&mut self, head: &Head, bytes: &[u8]) -> Status {
        match self.region(head, |rights| rights.write) {
            Ok(region) => region.write(head.offset + head.at, bytes).expect("it was checked"),
            Err(status) => return status,
        }
        Status::Done
    }

    /// Reads behind what is in the scratch buffer.
    fn get(&mut self, head: &Head, size: usize) -> Status {
        let mut scratch = std::mem::take(self.scratch);
        let status = match self.region(head, |rights| rights.read) {
            Ok(region) => {
                scratch.resize(wire::ANSWER + size, 0);
                let read = region.read(head.offset + head.at, &mut scratch[wire::ANSWER..]);
                read.expect("it was checked");
                Status::Done
            }
            Err(status) => status,
        };
        *self.scratch = scratch;
        status
    }
}

impl Handlers for Copying<'_> {
    fn handle(
        &mut self,
        handler: Handler,
        arguments: &[u8],
        answer: &mut dyn FnMut(Handler, &[u8]),
    ) -> std::result::Result<(), String> {
        if matches!(handler, wire::PUT_DONE | wire::GET_DONE) {
            let (number, status, bytes) = wire::read_answer(arguments)?;
            let taken = self.asked.answered(handler == wire::PUT_DONE, number, status, bytes);
            return taken.ok_or_else(|| "an answer to nothing that was asked".to_owned());
        }
        let (head, rest) = Head::read(arguments)?;
        self.scratch.clear();
        self.scratch.resize(wire::ANSWER, 0);
        let (status, done) = match handler {
            wire::PUT => {
                head.check(rest.len(), self.asked.piece)?;
                (self.put(&head, rest), wire::PUT_DONE)
            }
            wire::GET => {
                let size = wire::read_size(rest)?;
                head.check(size, self.asked.piece)?;
                (self.get(&head, size), wire::GET_DONE)
            }
            other => return Err(format!("handler {other} of a remote copy")),
        };
        wire::write_answer(self.scratch, head.number, status);
        answer(done, self.scratch);
        Ok(())
    }
}

impl<A: ActiveMessage> Wait for Copied<A> {
    fn peer(&self) -> &Peer {
        self.inner.peer()
    }

    fn me(&self) -> &str {
        self.inner.me()
    }

    fn wait(&mut self, ready: Ready, deadline: Deadline) -> Result<()> {
        let operations = &self.asked.operations;
        let (Some(first), Some(last)) = (operations.front(), operations.back()) else {
            return self.inner.wait(ready, deadline);
        };
        if first.complete {
            return Ok(());
        }
        // What has ended makes room, so both waits are for answers.
        match !last.is_sent() && self.asked.flying < COPY_WINDOW {
            true => wait_for_room(&mut self.inner, deadline),
            false => self.inner.wait(Ready::Receive, deadline),
        }
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.inner.descriptor()
    }
}

impl<A: ActiveMessage> RemoteCopy for Copied<A> {
    fn expose(&mut self, region: &Region) -> Result<Key> {
        if self.regions.len() == REGIONS_MAX {
            let source = io::Error::other(format!("{REGIONS_MAX} are exposed"));
            return Err(Error::Exhausted { what: "regions", source });
        }
        self.keys = self.keys.wrapping_add(1);
        while self.regions.contains_key(&self.keys) {
            self.keys = self.keys.wrapping_add(1);
        }
        self.regions.insert(self.keys, region.clone());
        Ok(Key(self.keys))
    }

    fn withdraw(&mut self, key: Key) -> Result<()> {
        self.regions.remove(&key.0);
        Ok(())
    }

    fn try_put(&mut self, key: Key, offset: u64, bytes: &[u8], token: u64) -> Result<()> {
        self.begin(true, key, offset, bytes.len(), token)?;
        let asked = self.ask(bytes);
        // Whatever it says: the operation is there, and goes on with bytes of its own.
        if let Some(last) = self.asked.operations.back_mut() {
            last.kept_from = last.sent;
            last.bytes.extend_from_slice(&bytes[last.sent as usize..]);
        }
        asked
    }

    fn try_get(&mut self, key: Key, offset: u64, count: usize, token: u64) -> Result<()> {
        self.begin(false, key, offset, count, token)?;
        self.ask(&[])
    }

    fn try_progress(&mut self) -> Result<Option<Completion>> {
        if let Some(completion) = self.asked.completion() {
            return Ok(Some(completion));
        }
        self.turn()?;
        Ok(self.asked.completion())
    }

    fn try_flush(&mut self) -> Result<bool> {
        self.inner.try_flush()
    }
}
