//! A connection within one thread or two, with all strategies: the communicators' tests need one
//! that breaks when they say so. What a real transport does is the conformance suite's matter.

use crate::deadline::Deadline;
use crate::error::{Error, Result};
use crate::region::Region;
use crate::strategy::{
    ActiveMessage, Completion, Datagram, Handler, Handlers, Key, Ready, RemoteCopy, Stream, Wait,
};
use crate::transport::{Peer, Protection};
use rustix::event::{EventfdFlags, eventfd};
use std::collections::VecDeque;
use std::io::IoSlice;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};

/// Messages under way.
pub const ROOM: usize = 4;
/// The largest message.
pub const LIMIT: usize = 1000;

struct Way {
    state: Mutex<State>,
    changed: Condvar,
    bell: OwnedFd,
}

#[derive(Default)]
struct State {
    messages: VecDeque<Vec<u8>>,
    has_ended: bool,
    is_spoiled: bool,
    /// What the sender's side lets the receiver's side reach.
    regions: Vec<Option<Region>>,
}

/// One end.
pub struct End {
    peer: Peer,
    out: Arc<Way>,
    back: Arc<Way>,
    has_descriptor: bool,
    copies: VecDeque<(u64, Copy)>,
}

enum Copy {
    Put(Key, u64, Vec<u8>),
    Get(Key, u64, usize),
}

/// Two ends; the first one's peer is `b`.
pub fn pair(a: &str, b: &str) -> (End, End) {
    let (there, back) = (Way::new(), Way::new());
    let end = |name: &str, out: &Arc<Way>, back: &Arc<Way>| End {
        peer: Peer::new(name.to_owned(), Protection::Local),
        out: out.clone(),
        back: back.clone(),
        has_descriptor: true,
        copies: VecDeque::new(),
    };
    (end(b, &there, &back), end(a, &back, &there))
}

impl Way {
    fn new() -> Arc<Way> {
        let bell = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).unwrap();
        let (state, changed) = (Mutex::new(State::default()), Condvar::new());
        Arc::new(Way { state, changed, bell })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.lock());
        let _ = rustix::io::write(&self.bell, &1u64.to_ne_bytes());
        self.changed.notify_all();
    }
}

impl End {
    /// Without a descriptor, as some transports are.
    pub fn silent(mut self) -> End {
        self.has_descriptor = false;
        self
    }

    /// What the peer receives next is no message.
    pub fn spoil(&self) {
        self.out.change(|state| state.is_spoiled = true);
    }

    fn closed(&self) -> Error {
        Error::Closed { peer: self.peer.name.clone() }
    }

    /// Receives: `take` has the messages, of which there is one.
    fn with_next(&self, take: impl FnOnce(&mut VecDeque<Vec<u8>>)) -> Result<()> {
        let mut state = self.back.lock();
        if state.messages.is_empty() {
            let peer = self.peer.name.clone();
            return match *state {
                State { is_spoiled: true, .. } => {
                    Err(Error::Malformed { peer, what: "garbage".to_owned() })
                }
                State { has_ended: true, .. } => Err(Error::Closed { peer }),
                _ => Err(Error::WouldBlock),
            };
        }
        take(&mut state.messages);
        if state.messages.is_empty() && !state.has_ended && !state.is_spoiled {
            let _ = rustix::io::read(&self.back.bell, &mut [0; 8]);
        }
        drop(state);
        self.back.changed.notify_all();
        Ok(())
    }

    fn push(&self, message: Vec<u8>) -> Result<()> {
        if self.back.lock().has_ended {
            return Err(self.closed());
        }
        if self.out.lock().messages.len() >= ROOM {
            return Err(Error::WouldBlock);
        }
        self.out.change(|state| state.messages.push_back(message));
        Ok(())
    }
}

impl Drop for End {
    fn drop(&mut self) {
        self.out.change(|state| state.has_ended = true);
        self.back.changed.notify_all();
    }
}

impl Wait for End {
    fn peer(&self) -> &Peer {
        &self.peer
    }

    fn me(&self) -> &str {
        "an end"
    }

    fn wait(&mut self, ready: Ready, deadline: Deadline) -> Result<()> {
        let way = if ready == Ready::Send { &self.out } else { &self.back };
        let mut state = way.lock();
        loop {
            let is_ready = match ready {
                Ready::Send => state.messages.len() < ROOM,
                Ready::Receive => !state.messages.is_empty() || !self.copies.is_empty(),
            };
            if is_ready || state.has_ended || state.is_spoiled {
                return Ok(());
            }
            let Some(left) = deadline.left() else {
                return Err(deadline.missed("a test", &self.peer.name, format!("{ready:?}")));
            };
            state = way.changed.wait_timeout(state, left).unwrap().0;
        }
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.has_descriptor.then(|| self.back.bell.as_fd())
    }
}

impl Datagram for End {
    fn limit(&self) -> usize {
        LIMIT
    }

    fn try_fill(&mut self, size: usize, fill: &mut dyn FnMut(&mut [u8])) -> Result<()> {
        if size > LIMIT {
            return Err(Error::TooLarge { what: "a message", size, limit: LIMIT });
        }
        if self.out.lock().messages.len() >= ROOM && !self.back.lock().has_ended {
            return Err(Error::WouldBlock);
        }
        let mut message = vec![0; size];
        fill(&mut message);
        self.push(message)
    }

    fn try_take(&mut self, take: &mut dyn FnMut(&[u8])) -> Result<()> {
        let mut message = Vec::new();
        self.with_next(|messages| message = messages.pop_front().expect("there is one"))?;
        take(&message);
        Ok(())
    }
}

impl Stream for End {
    fn try_write(&mut self, bytes: &[u8]) -> Result<usize> {
        let count = bytes.len().min(LIMIT);
        self.push(bytes[..count].to_vec()).map(|()| count)
    }

    fn try_read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let mut count = 0;
        self.with_next(|messages| {
            let first = &mut messages[0];
            count = first.len().min(buffer.len());
            buffer[..count].copy_from_slice(&first[..count]);
            first.drain(..count);
            // An empty one says that there are no more, and stays.
            if count > 0 && first.is_empty() {
                messages.pop_front();
            }
        })?;
        Ok(count)
    }

    /// There always is room for it.
    fn finish(&mut self, _: Deadline) -> Result<()> {
        self.out.change(|state| state.messages.push_back(Vec::new()));
        Ok(())
    }
}

impl ActiveMessage for End {
    fn limit(&self) -> usize {
        LIMIT
    }

    fn try_call(&mut self, handler: Handler, arguments: &[IoSlice<'_>]) -> Result<()> {
        let mut message = handler.to_le_bytes().to_vec();
        arguments.iter().for_each(|part| message.extend_from_slice(part));
        if message.len() > LIMIT + 2 {
            let size = message.len() - 2;
            return Err(Error::TooLarge { what: "arguments", size, limit: LIMIT });
        }
        self.push(message)
    }

    fn try_progress(&mut self, handlers: &mut dyn Handlers) -> Result<usize> {
        let mut message = Vec::new();
        self.with_next(|messages| message = messages.pop_front().expect("there is one"))?;
        let (handler, arguments) = message.split_first_chunk().expect("it begins so");
        let mut answer = |handler: Handler, bytes: &[u8]| {
            // There is room for an answer wherever there was for the call.
            let message = [&handler.to_le_bytes(), bytes].concat();
            self.out.change(|state| state.messages.push_back(message));
        };
        match handlers.handle(u16::from_le_bytes(*handler), arguments, &mut answer) {
            Ok(()) => Ok(1),
            Err(what) => Err(Error::Malformed { peer: self.peer.name.clone(), what }),
        }
    }
}

/// Operations take effect when [`RemoteCopy::try_progress`] is called here, not before.
impl RemoteCopy for End {
    fn expose(&mut self, region: &Region) -> Result<Key> {
        let mut state = self.out.lock();
        state.regions.push(Some(region.clone()));
        Ok(Key(state.regions.len() as u32 - 1))
    }

    fn withdraw(&mut self, key: Key) -> Result<()> {
        self.out.lock().regions[key.0 as usize] = None;
        Ok(())
    }

    fn try_put(&mut self, key: Key, offset: u64, bytes: &[u8], token: u64) -> Result<()> {
        self.copy(bytes.len(), token, Copy::Put(key, offset, bytes.to_vec()))
    }

    fn try_get(&mut self, key: Key, offset: u64, count: usize, token: u64) -> Result<()> {
        self.copy(count, token, Copy::Get(key, offset, count))
    }

    fn try_progress(&mut self) -> Result<Option<Completion>> {
        let state = self.back.lock();
        if state.has_ended {
            let (peer, evidence) = (self.peer.name.clone(), "its end was dropped".to_owned());
            return Err(Error::Dead { peer, evidence });
        }
        let Some((token, copy)) = self.copies.pop_front() else { return Ok(None) };
        let region = |key: Key| state.regions.get(key.0 as usize).cloned().flatten();
        let no =
            |key: Key| Error::Access { key: Some(key.0), offset: 0, count: 0, why: "no region" };
        let mut bytes = Vec::new();
        let result = match copy {
            Copy::Put(key, offset, bytes) => {
                region(key).ok_or(no(key)).and_then(|region| region.write(offset, &bytes))
            }
            Copy::Get(key, offset, count) => {
                bytes = vec![0; count];
                region(key).ok_or(no(key)).and_then(|region| region.read(offset, &mut bytes))
            }
        };
        Ok(Some(Completion { token, bytes, result }))
    }
}

impl End {
    fn copy(&mut self, size: usize, token: u64, copy: Copy) -> Result<()> {
        if self.back.lock().has_ended {
            let (peer, evidence) = (self.peer.name.clone(), "its end was dropped".to_owned());
            return Err(Error::Dead { peer, evidence });
        }
        if size > LIMIT {
            return Err(Error::TooLarge { what: "a copy", size, limit: LIMIT });
        }
        if self.copies.len() == ROOM {
            return Err(Error::WouldBlock);
        }
        self.copies.push_back((token, copy));
        Ok(())
    }
}
