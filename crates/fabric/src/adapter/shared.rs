//! Thread safety: clones of a [`Shared`] are one abstraction, for threads.
//!
//! Each operation has it alone; to wait does not keep the others out for longer than a nap. So
//! messages of several threads never mix, but the bytes of a stream do, at each call.
//!
//! So what waits by itself (`send`, `take`, `read`, `finish`) is not handed on: the strategy would
//! have its lock until the deadline, and who waits for a message would keep those out who could
//! cause it. Here these try and wait by turns, and where a strategy copies less in its own ones,
//! sharing it costs that copy.

use crate::communicator::Object;
use crate::deadline::Deadline;
use crate::error::{Error, Result};
use crate::region::Region;
use crate::strategy::{
    ActiveMessage, Completion, Datagram, Handler, Handlers, Key, Ready, RemoteCopy, Stream, Wait,
};
use crate::transport::{Peer, Protection};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io::IoSlice;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

/// How long one who waits may keep the others out.
const NAP: Duration = Duration::from_millis(1);
/// How long to sleep before looking again.
const SLEEP: Duration = Duration::from_millis(10);

/// An abstraction that many hold.
///
/// What an operation calls back (`fill`, `take`, handlers) it calls while it has it alone: another
/// clone is not to be used there, it would wait for ever.
///
/// # Panics
/// At every operation of every clone after what one has called back has panicked.
pub struct Shared<T> {
    value: Arc<Mutex<T>>,
    peer: Arc<Peer>,
    me: Arc<str>,
    descriptor: Option<Arc<OwnedFd>>,
}

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Shared<T> {
        let (value, peer, me) = (self.value.clone(), self.peer.clone(), self.me.clone());
        Shared { value, peer, me, descriptor: self.descriptor.clone() }
    }
}

impl<T: Wait> Shared<T> {
    /// Shares a strategy.
    pub fn new(value: T) -> Shared<T> {
        let descriptor = value.descriptor().and_then(|end| end.try_clone_to_owned().ok());
        let (peer, me) = (Arc::new(value.peer().clone()), value.me().into());
        let value = Arc::new(Mutex::new(value));
        Shared { value, peer, me, descriptor: descriptor.map(Arc::new) }
    }
}

impl<T: Object> Shared<T> {
    /// Shares an object.
    pub fn object(name: impl Into<String>, value: T) -> Shared<T> {
        let peer = Arc::new(Peer::new(name.into(), Protection::Local));
        let (value, me) = (Arc::new(Mutex::new(value)), peer.name.as_str().into());
        Shared { value, peer, me, descriptor: None }
    }
}

impl<T> Shared<T> {
    fn alone(&self) -> MutexGuard<'_, T> {
        self.value.lock().expect("no holder panicked in the middle of an operation")
    }
}

impl<T: Wait> Wait for Shared<T> {
    fn peer(&self) -> &Peer {
        &self.peer
    }

    fn me(&self) -> &str {
        &self.me
    }

    fn wait(&mut self, ready: Ready, deadline: Deadline) -> Result<()> {
        let mut left = deadline.left().unwrap_or_default();
        if ready == Ready::Receive
            && let Some(descriptor) = &self.descriptor
        {
            // Another holder may take in more than it takes out, which no descriptor tells.
            let time = Timespec::try_from(left.min(SLEEP)).expect("it is short");
            let mut ends = [PollFd::new(descriptor, PollFlags::IN)];
            // Whatever it says, the strategy knows better.
            let _ = poll(&mut ends, Some(&time));
            left = deadline.left().unwrap_or_default();
        }
        match self.alone().wait(ready, Deadline::after(left.min(NAP))) {
            Err(Error::Deadline { .. }) if left > NAP => Ok(()),
            Err(Error::Deadline { who, whom, what, .. }) => {
                Err(Error::Deadline { who, whom, what, waited: deadline.waited() })
            }
            other => other,
        }
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.descriptor.as_deref().map(AsFd::as_fd)
    }
}

impl<T: Datagram> Datagram for Shared<T> {
    fn limit(&self) -> usize {
        self.alone().limit()
    }

    fn try_fill(&mut self, size: usize, fill: &mut dyn FnMut(&mut [u8])) -> Result<()> {
        self.alone().try_fill(size, fill)
    }

    fn try_send(&mut self, parts: &[IoSlice<'_>]) -> Result<()> {
        self.alone().try_send(parts)
    }

    fn try_take(&mut self, take: &mut dyn FnMut(&[u8])) -> Result<()> {
        self.alone().try_take(take)
    }

    fn try_flush(&mut self) -> Result<bool> {
        self.alone().try_flush()
    }
}

impl<T: Stream> Stream for Shared<T> {
    fn try_write(&mut self, bytes: &[u8]) -> Result<usize> {
        self.alone().try_write(bytes)
    }

    fn try_write_parts(&mut self, parts: &[IoSlice<'_>]) -> Result<usize> {
        self.alone().try_write_parts(parts)
    }

    fn try_flush(&mut self) -> Result<bool> {
        self.alone().try_flush()
    }

    fn try_read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        self.alone().try_read(buffer)
    }

    fn is_delivered(&self) -> bool {
        self.alone().is_delivered()
    }

    /// Where the end is sent as bytes are, another holder may have to read before there is room.
    fn finish(&mut self, deadline: Deadline) -> Result<()> {
        loop {
            match self.alone().finish(Deadline::now()) {
                Err(Error::Deadline { .. }) => {}
                done => return done,
            }
            self.wait(Ready::Send, deadline)?;
        }
    }
}

impl<T: ActiveMessage> ActiveMessage for Shared<T> {
    fn limit(&self) -> usize {
        self.alone().limit()
    }

    fn try_call(&mut self, handler: Handler, arguments: &[IoSlice<'_>]) -> Result<()> {
        self.alone().try_call(handler, arguments)
    }

    fn try_progress(&mut self, handlers: &mut dyn Handlers) -> Result<usize> {
        self.alone().try_progress(handlers)
    }

    fn try_flush(&mut self) -> Result<bool> {
        self.alone().try_flush()
    }
}

/// A completion goes to whoever looks first: holders have to agree about tokens.
impl<T: RemoteCopy> RemoteCopy for Shared<T> {
    fn expose(&mut self, region: &Region) -> Result<Key> {
        self.alone().expose(region)
    }

    fn withdraw(&mut self, key: Key) -> Result<()> {
        self.alone().withdraw(key)
    }

    fn try_put(&mut self, key: Key, offset: u64, bytes: &[u8], token: u64) -> Result<()> {
        self.alone().try_put(key, offset, bytes, token)
    }

    fn try_get(&mut self, key: Key, offset: u64, count: usize, token: u64) -> Result<()> {
        self.alone().try_get(key, offset, count, token)
    }

    fn try_progress(&mut self) -> Result<Option<Completion>> {
        self.alone().try_progress()
    }

    fn try_flush(&mut self) -> Result<bool> {
        self.alone().try_flush()
    }
}

impl<T: Object> Object for Shared<T> {
    fn invoke(&mut self, method: u16, arguments: &[u8]) -> std::result::Result<Vec<u8>, String> {
        self.alone().invoke(method, arguments)
    }
}
