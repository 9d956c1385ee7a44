//! Network-adapter strategies (EPOS 2.1): what one end of a connection can do.
//!
//! A transport realizes some of them; the others are emulated over these, as close to the wire as
//! possible (`strategy/emulated`). Methods that begin with `try_` never wait: they return
//! [`crate::Error::WouldBlock`], and [`Wait::wait`] waits for when to try again. Everything between
//! two ends arrives whole, once and in order, until the connection ends; how it ended is an error
//! ([`crate::Error::Closed`], [`crate::Error::Dead`]) at the next call, on both sides.

mod boxed;
pub mod emulated;

use crate::deadline::Deadline;
use crate::error::{Error, Result};
use crate::protocol::Payload;
use crate::region::Region;
use crate::transport::Peer;
use crate::transport::socket::{self, Session};
use std::io::IoSlice;
use std::os::fd::{BorrowedFd, OwnedFd};

/// What to wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ready {
    /// Something has arrived, or the peer is gone.
    Receive,
    /// There is room to send, or the peer is gone.
    Send,
}

/// What all strategies have: a peer, and a way to wait.
pub trait Wait: Send {
    /// Who is at the other end.
    fn peer(&self) -> &Peer;

    /// What this end is called, as it has said hello: who it was that waited too long.
    fn me(&self) -> &str;

    /// Waits: at first without sleeping, then asleep. It may return early.
    ///
    /// # Errors
    /// [`Error::Deadline`], which names `me()` and `peer()`, when it has passed; what ended the
    /// connection.
    fn wait(&mut self, ready: Ready, deadline: Deadline) -> Result<()>;

    /// A descriptor that poll(2) reports readable when [`Ready::Receive`] would end, for those who
    /// wait for many ends at once. None where only [`Wait::wait`] tells. It tells of what comes
    /// after it was asked for and then a try was in vain; like a wait, it may tell of nothing.
    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        None
    }

    /// Whether a try would bring something, as far as memory tells; none where only a call of the
    /// system does. Who looks like this again and again need not be told: the descriptor tells of
    /// nothing until it was asked for again, and then of what comes after the next try in vain.
    fn glance(&mut self) -> Option<bool> {
        None
    }
}

/// A message that was received.
#[derive(Debug)]
pub enum Taken<'a> {
    /// It lies in the receive buffer.
    Seen(&'a [u8]),
    /// It is the receiver's.
    Kept(Payload),
}

/// A deadline has passed while the peer did something, and not what is waited for.
pub(crate) fn late(end: &(impl Wait + ?Sized), what: &str, deadline: Deadline) -> Error {
    deadline.missed(end.me(), &end.peer().name, what)
}

/// What [`Datagram::try_queue`] was given, as one row of parts.
pub(crate) fn all_parts<'a>(parts: &[&'a [u8]], body: &'a Payload) -> Vec<IoSlice<'a>> {
    parts.iter().copied().chain([&**body]).map(IoSlice::new).collect()
}

/// Messages with boundaries.
///
/// A message that was accepted may be on its way out for long: what has not left is lost with this
/// end, and the peer is told that it was cut off. Before an end is dropped, it is moved on until
/// [`Datagram::try_flush`] is true.
pub trait Datagram: Wait {
    /// The largest message.
    fn limit(&self) -> usize;

    /// Sends a message of `size` bytes which `fill` writes in place, in the transmit buffer.
    ///
    /// # Errors
    /// [`Error::WouldBlock`], then `fill` was not called; [`Error::TooLarge`]; the connection's.
    fn try_fill(&mut self, size: usize, fill: &mut dyn FnMut(&mut [u8])) -> Result<()>;

    /// Sends a message that consists of parts.
    ///
    /// # Errors
    /// As [`Datagram::try_fill`].
    fn try_send(&mut self, parts: &[IoSlice<'_>]) -> Result<()> {
        let size = parts.iter().map(|part| part.len()).sum();
        self.try_fill(size, &mut |buffer| {
            let mut rest = buffer;
            for part in parts {
                let (here, behind) = rest.split_at_mut(part.len());
                here.copy_from_slice(part);
                rest = behind;
            }
        })
    }

    /// Sends a message that consists of parts and of a body that many may hold. It may wait for
    /// what follows, to leave with it; [`Datagram::try_flush`] says that nothing follows. What has
    /// no room yet is kept as it is and not copied, where the strategy can.
    ///
    /// # Errors
    /// As [`Datagram::try_fill`].
    fn try_queue(&mut self, parts: &[&[u8]], body: &Payload) -> Result<()> {
        self.try_send(&all_parts(parts, body))
    }

    /// Receives the next message, which `take` sees in place, in the receive buffer.
    ///
    /// # Errors
    /// [`Error::WouldBlock`], then `take` was not called; the connection's.
    fn try_take(&mut self, take: &mut dyn FnMut(&[u8])) -> Result<()>;

    /// As [`Datagram::try_take`]; a long message may be handed over in memory of its own, so that
    /// who keeps it copies nothing.
    ///
    /// # Errors
    /// As [`Datagram::try_take`].
    fn try_keep(&mut self, take: &mut dyn FnMut(Taken<'_>)) -> Result<()> {
        self.try_take(&mut |message| take(Taken::Seen(message)))
    }

    /// Whether the last receive took all that had arrived, as far as can be known: to try again is
    /// worth a call only once poll(2) says so.
    fn is_drained(&self) -> bool {
        false
    }

    /// Moves on what was sent and is still on its way out; true when all of it has left. A
    /// transport whose sends leave at once has nothing to do.
    ///
    /// # Errors
    /// The connection's.
    fn try_flush(&mut self) -> Result<bool> {
        Ok(true)
    }

    /// Sends a message, and waits for room if need be. `Ok` says that this end has accepted all of
    /// it: the peer gets it whole and once, also where a part of it was still on its way out when
    /// the deadline passed. When it has left, [`Datagram::try_flush`] says so.
    ///
    /// # Errors
    /// [`Error::Deadline`] where it was not accepted in time: the peer gets nothing of it, and it
    /// may be sent again. As [`Datagram::try_send`] and [`Wait::wait`].
    fn send(&mut self, parts: &[IoSlice<'_>], deadline: Deadline) -> Result<()> {
        loop {
            match self.try_send(parts) {
                Err(Error::WouldBlock) => self.wait(Ready::Send, deadline)?,
                done => return done,
            }
        }
    }

    /// Waits for the next message.
    ///
    /// # Errors
    /// As [`Datagram::try_take`] and [`Wait::wait`].
    fn take(&mut self, deadline: Deadline, take: &mut dyn FnMut(&[u8])) -> Result<()> {
        let mut rounds = 0;
        loop {
            match self.try_take(take) {
                Err(Error::WouldBlock) if deadline.has_passed(&mut rounds) => {
                    return Err(late(self, "a message", deadline));
                }
                Err(Error::WouldBlock) => self.wait(Ready::Receive, deadline)?,
                done => return done,
            }
        }
    }
}

/// Bytes without boundaries.
pub trait Stream: Wait {
    /// Sends what there is room for, at least a byte.
    ///
    /// # Errors
    /// [`Error::WouldBlock`]; the connection's.
    fn try_write(&mut self, bytes: &[u8]) -> Result<usize>;

    /// Sends what there is room for of bytes that lie in several places, at least a byte.
    ///
    /// # Errors
    /// As [`Stream::try_write`].
    fn try_write_parts(&mut self, parts: &[IoSlice<'_>]) -> Result<usize> {
        let first = parts.iter().find(|part| !part.is_empty());
        self.try_write(first.map_or(&[], |part| part))
    }

    /// Moves on what was written and is still on its way out; true when all of it has left. Who
    /// turns to something else after a write sees to it. A transport whose writes leave at once has
    /// nothing to do.
    ///
    /// # Errors
    /// The connection's.
    fn try_flush(&mut self) -> Result<bool> {
        Ok(true)
    }

    /// Sends all of the bytes, asleep until there is room, and until all has left.
    ///
    /// # Errors
    /// Those of [`Wait::wait`], then a part of them may have been sent; the connection's.
    fn write(&mut self, mut bytes: &[u8], deadline: Deadline) -> Result<()> {
        while !bytes.is_empty() {
            match self.try_write(bytes) {
                Ok(size) => bytes = &bytes[size..],
                Err(Error::WouldBlock) => self.wait(Ready::Send, deadline)?,
                Err(error) => return Err(error),
            }
        }
        self.flush(deadline)
    }

    /// Waits until all that was written has left.
    ///
    /// # Errors
    /// As [`Stream::write`].
    fn flush(&mut self, deadline: Deadline) -> Result<()> {
        while !self.try_flush()? {
            self.wait(Ready::Send, deadline)?;
            // Where there is room for more, that has not waited.
            if deadline.left().is_none() && !self.try_flush()? {
                return Err(late(self, "all that was written to leave", deadline));
            }
        }
        Ok(())
    }

    /// Receives what is there, at least a byte; 0 when the peer sends no more.
    ///
    /// # Errors
    /// [`Error::WouldBlock`]; the connection's.
    fn try_read(&mut self, buffer: &mut [u8]) -> Result<usize>;

    /// As [`Stream::try_read`], asleep until something is there.
    ///
    /// # Errors
    /// Those of [`Wait::wait`]; the connection's.
    fn read(&mut self, buffer: &mut [u8], deadline: Deadline) -> Result<usize> {
        let mut rounds = 0;
        loop {
            match self.try_read(buffer) {
                Err(Error::WouldBlock) if deadline.has_passed(&mut rounds) => {
                    return Err(late(self, "bytes", deadline));
                }
                Err(Error::WouldBlock) => self.wait(Ready::Receive, deadline)?,
                done => return done,
            }
        }
    }

    /// Whether the other end's kernel has all that was written, as far as can be known: then it
    /// arrives whatever becomes of this end.
    fn is_delivered(&self) -> bool {
        true
    }

    /// Sends no more: the peer reads to the end. Where the end is sent as bytes are, it waits for
    /// room behind them.
    ///
    /// # Errors
    /// [`Error::Deadline`], then nothing was said and it may be tried again; the connection's.
    fn finish(&mut self, deadline: Deadline) -> Result<()>;

    /// Makes room for a few bytes, which are to be the last, where there is none: whether it did.
    fn widen(&mut self) -> bool {
        self.socket().is_some_and(socket::widen)
    }

    /// The socket below, for those who do better with it (splice, readiness of many); None where
    /// there is none, or where bytes are under way outside of it.
    fn socket(&self) -> Option<BorrowedFd<'_>> {
        None
    }

    /// What bytes are sent over on the way to the peer, for those who send and receive them by
    /// themselves from now on, in several processes perhaps: the stream is of no more use. All that
    /// was written has left, or is in the session, as is what has come and was not read.
    ///
    /// # Errors
    /// [`Error::Refused`] where there is no socket; the connection's.
    fn bare(&mut self) -> Result<Bare> {
        let why = "it is reached over no socket".to_owned();
        Err(Error::Refused { peer: self.peer().name.clone(), why })
    }
}

/// A connection that is nobody's stream any more.
#[derive(Debug)]
pub struct Bare {
    /// Where its bytes come and go.
    pub socket: OwnedFd,
    /// What protects them, if something does.
    pub session: Option<Box<Session>>,
}

/// The number of a handler that both sides know.
pub type Handler = u16;

/// What an endpoint does with the active messages it receives.
pub trait Handlers {
    /// Carries out handler `handler`; `answer` sends an active message back and may be called once.
    ///
    /// # Errors
    /// What is wrong with the message: the connection ends.
    fn handle(
        &mut self,
        handler: Handler,
        arguments: &[u8],
        answer: &mut dyn FnMut(Handler, &[u8]),
    ) -> std::result::Result<(), String>;

    /// The one handler that answers, if there is just one. Messages for the others may then be
    /// carried out before earlier ones for this one, while its answers have no room.
    fn answering(&self) -> Option<Handler> {
        None
    }
}

/// Messages that name what is to be done with them at the receiver.
pub trait ActiveMessage: Wait {
    /// The most bytes of arguments.
    fn limit(&self) -> usize;

    /// Has the peer carry out a handler.
    ///
    /// # Errors
    /// [`Error::WouldBlock`], [`Error::TooLarge`]; the connection's.
    fn try_call(&mut self, handler: Handler, arguments: &[IoSlice<'_>]) -> Result<()>;

    /// Carries out what has arrived; returns how many messages that were.
    ///
    /// # Errors
    /// The connection's; [`Error::Malformed`] when a handler said so.
    fn try_progress(&mut self, handlers: &mut dyn Handlers) -> Result<usize>;

    /// Moves on calls and answers that are still on their way out; true when all of them have left.
    ///
    /// # Errors
    /// The connection's.
    fn try_flush(&mut self) -> Result<bool> {
        Ok(true)
    }
}

/// A region's name at its owner, which a peer needs for access to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key(pub u32);

/// How an operation on a peer's region ended.
#[derive(Debug)]
pub struct Completion {
    /// What the operation was given.
    pub token: u64,
    /// What was read; nothing for a put.
    pub bytes: Vec<u8>,
    /// [`Error::Access`] where the region does not allow it.
    pub result: Result<()>,
}

/// Asynchronous remote copy: put into and get out of a peer's regions without its doing.
///
/// Where it is emulated, the peer's side has to call [`RemoteCopy::try_progress`] now and then.
pub trait RemoteCopy: Wait {
    /// Lets the peer reach a region, with the region's own rights.
    ///
    /// # Errors
    /// [`Error::Exhausted`]; the connection's.
    fn expose(&mut self, region: &Region) -> Result<Key>;

    /// Ends the peer's access; what has begun may still end.
    ///
    /// # Errors
    /// The connection's.
    fn withdraw(&mut self, key: Key) -> Result<()>;

    /// Writes `bytes` at `offset` of the peer's region. Operations take effect in their order.
    ///
    /// # Errors
    /// [`Error::WouldBlock`], [`Error::TooLarge`]; the connection's. What is wrong with the access
    /// is told by the [`Completion`].
    fn try_put(&mut self, key: Key, offset: u64, bytes: &[u8], token: u64) -> Result<()>;

    /// Reads `count` bytes at `offset` of the peer's region.
    ///
    /// # Errors
    /// As [`RemoteCopy::try_put`].
    fn try_get(&mut self, key: Key, offset: u64, count: usize, token: u64) -> Result<()>;

    /// Lets things get on; the next operation that has ended, if one has.
    ///
    /// # Errors
    /// The connection's.
    fn try_progress(&mut self) -> Result<Option<Completion>>;

    /// Moves on what is still on its way out; true when all of it has left. The peer may wait for
    /// it, and no descriptor tells when there is room.
    ///
    /// # Errors
    /// The connection's.
    fn try_flush(&mut self) -> Result<bool> {
        Ok(true)
    }
}
