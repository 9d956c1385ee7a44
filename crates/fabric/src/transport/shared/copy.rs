//! Remote copy between processes of a node: a put or a get is a copy into or out of memory that
//! both have mapped, without the peer's doing.
//!
//! To expose such a region (`memory.rs`) is to pass its memory over the socket, with its key, and
//! to count that in the segment, so that the peer looks at the socket only when there is something.
//! All regions are also reached by the emulated way, over messages: those that are other memory,
//! those that may be written but not read (no mapping is like that), and those that the peer could
//! not map. Operations of one end keep their order: while emulated ones are under way, all go that
//! way.
//!
//! A copy into the memory of a peer that was killed succeeds for ever: so who copies looks now and
//! then whether the peer is there, and once it is not everything goes by messages, which tell.
//!
//! To withdraw a region is a note as well. A mapping cannot be taken back from a peer that ignores
//! it, so a region is for peers that may keep what they had.

use super::link::{Link, SENDS};
use super::memory::{Window, Windows, shareable};
use super::segment::{CLOSED, NOTES};
use super::socket::{self, Heard, Line};
use super::sys::Mapped;
use crate::deadline::Deadline;
use crate::error::{Error, Result};
use crate::region::Region;
use crate::strategy::emulated::{Active, Copied};
use crate::strategy::{Completion, Key, Ready, RemoteCopy, Wait};
use crate::transport::Peer;
use muster_base::limits::{COPIES_MAX, COPY_MAX};
use rustix::event::PollFlags;
use std::collections::VecDeque;
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Remote copy over a link.
pub(super) struct Copies {
    inner: Copied<Active<Link>>,
    line: Arc<Line>,
    segment: Arc<Mapped>,
    /// Where this side's and the peer's words are in the segment.
    words: [usize; 2],
    /// Emulated operations under way.
    emulated: usize,
    /// Operations through windows; and whether the peer was not there after one of them.
    copied: u32,
    is_over: bool,
    done: VecDeque<Completion>,
    /// Withdrawals that the socket had no room for.
    untold: VecDeque<Key>,
}

impl Copies {
    pub(super) fn new(link: Link) -> Copies {
        link.line().expect_notes();
        Copies {
            line: link.line().clone(),
            segment: link.segment.clone(),
            words: [link.side.words(), link.side.other().words()],
            emulated: 0,
            copied: 0,
            is_over: false,
            done: VecDeque::with_capacity(COPIES_MAX),
            untold: VecDeque::new(),
            inner: Copied::new(Active::new(link)),
        }
    }

    fn own(&self, word: usize) -> &AtomicU32 {
        self.segment.word32(self.words[0] + word)
    }

    fn peers(&self, word: usize) -> &AtomicU32 {
        self.segment.word32(self.words[1] + word)
    }

    /// Tells the peer; false where the socket has no room.
    fn tell(&self, note: &[u8], memory: Option<BorrowedFd<'_>>) -> bool {
        let is_told = socket::send(self.line.descriptor(), note, memory).is_ok();
        if is_told {
            self.own(NOTES).fetch_add(1, Ordering::Release);
        }
        is_told
    }

    fn tell_rest(&mut self) {
        while let Some(key) = self.untold.front() {
            if !self.tell(&socket::withdrawn(key.0), None) {
                return;
            }
            self.untold.pop_front();
        }
    }

    /// Learns what the peer has told.
    fn learn(&mut self) -> Result<()> {
        let told = self.peers(NOTES).load(Ordering::Acquire);
        let mut seen = self.line.with_windows(Windows::seen);
        while told != seen {
            match self.line.hear() {
                Heard::Nothing => {}
                Heard::End => self.is_over = true,
                Heard::Malformed(what) => {
                    self.line.hang_up();
                    let (peer, what) = (self.peer().name.clone(), what.to_owned());
                    return Err(Error::Malformed { peer, what });
                }
            }
            // At most so many are heard at once; and a peer may count what it has never sent.
            let before = std::mem::replace(&mut seen, self.line.with_windows(Windows::seen));
            if seen == before {
                break;
            }
        }
        Ok(())
    }

    /// Now and then whether the peer is there; what tells of an arrival stays in the socket.
    fn look(&mut self) {
        self.copied = self.copied.wrapping_add(1);
        if self.copied.is_multiple_of(SENDS) {
            self.is_over |= self.line.is_ready(PollFlags::RDHUP, Duration::ZERO);
        }
    }

    /// Copies through the window of a region; none if the operation is not to go that way.
    fn through<R>(&mut self, key: Key, copy: impl FnOnce(&Window) -> R) -> Result<Option<R>> {
        self.learn()?;
        self.look();
        let is_closed = self.peers(CLOSED).load(Ordering::Relaxed) != 0;
        if is_closed || self.is_over || self.emulated > 0 {
            return Ok(None);
        }
        let is_full = self.is_full();
        self.line.with_windows(|windows| match windows.get(key.0) {
            Some(_) if is_full => Err(Error::WouldBlock),
            window => Ok(window.map(copy)),
        })
    }

    /// Whether there is no room for one more that has ended.
    fn is_full(&self) -> bool {
        self.done.len() == COPIES_MAX
    }

    fn finish(&mut self, token: u64, (key, offset, count): (Key, u64, usize), copied: Copy) {
        let (bytes, result) = match copied {
            Ok(bytes) => (bytes, Ok(())),
            Err(why) => (Vec::new(), Err(Error::Access { key: Some(key.0), offset, count, why })),
        };
        self.done.push_back(Completion { token, bytes, result });
    }
}

/// What was read, or why not.
type Copy = std::result::Result<Vec<u8>, &'static str>;

fn limited(count: usize) -> Result<()> {
    if count <= COPY_MAX {
        return Ok(());
    }
    Err(Error::TooLarge { what: "a remote copy", size: count, limit: COPY_MAX })
}

impl Wait for Copies {
    fn peer(&self) -> &Peer {
        self.inner.peer()
    }

    fn me(&self) -> &str {
        self.inner.me()
    }

    fn wait(&mut self, ready: Ready, deadline: Deadline) -> Result<()> {
        // Who has filled the queue makes room by taking what is there.
        let is_there = match ready {
            Ready::Receive => !self.done.is_empty(),
            Ready::Send => self.is_full(),
        };
        if is_there { Ok(()) } else { self.inner.wait(ready, deadline) }
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.inner.descriptor()
    }
}

impl RemoteCopy for Copies {
    fn expose(&mut self, region: &Region) -> Result<Key> {
        let key = self.inner.expose(region)?;
        if let Some(memory) = shareable(region) {
            self.tell(&socket::exposed(key.0, region.size() as u64), Some(memory));
        }
        Ok(key)
    }

    fn withdraw(&mut self, key: Key) -> Result<()> {
        self.untold.push_back(key);
        self.tell_rest();
        self.inner.withdraw(key)
    }

    fn try_put(&mut self, key: Key, offset: u64, bytes: &[u8], token: u64) -> Result<()> {
        limited(bytes.len())?;
        let copied = self.through(key, |window| {
            window.at(offset, bytes.len(), true).map(|at| window.write(at, bytes))
        })?;
        let Some(copied) = copied else {
            self.inner.try_put(key, offset, bytes, token)?;
            self.emulated += 1;
            return Ok(());
        };
        self.finish(token, (key, offset, bytes.len()), copied.map(|()| Vec::new()));
        Ok(())
    }

    fn try_get(&mut self, key: Key, offset: u64, count: usize, token: u64) -> Result<()> {
        limited(count)?;
        let copied = self.through(key, |window| {
            let at = window.at(offset, count, false)?;
            let mut bytes = vec![0; count];
            window.read(at, &mut bytes);
            Ok(bytes)
        })?;
        let Some(copied) = copied else {
            self.inner.try_get(key, offset, count, token)?;
            self.emulated += 1;
            return Ok(());
        };
        self.finish(token, (key, offset, count), copied);
        Ok(())
    }

    fn try_progress(&mut self) -> Result<Option<Completion>> {
        if let Some(done) = self.done.pop_front() {
            return Ok(Some(done));
        }
        self.tell_rest();
        let done = self.inner.try_progress()?;
        self.emulated -= usize::from(done.is_some());
        Ok(done)
    }

    fn try_flush(&mut self) -> Result<bool> {
        self.inner.try_flush()
    }
}
