//! Adapted strategies are strategies.

use super::{Adapted, Aspect, Kind, Operation};
use crate::communicator::Object;
use crate::deadline::Deadline;
use crate::error::{Error, Result};
use crate::protocol::Payload;
use crate::region::Region;
use crate::strategy::{
    ActiveMessage, Bare, Completion, Datagram, Handler, Handlers, Key, Ready, RemoteCopy, Stream,
    Taken, Wait,
};
use crate::transport::Peer;
use std::io::IoSlice;
use std::os::fd::BorrowedFd;

/// How many bytes the parts of a message are.
pub(super) fn total(parts: &[IoSlice<'_>]) -> usize {
    parts.iter().map(|part| part.len()).sum()
}

/// To wait moves nothing, so no aspect is asked.
impl<T: Wait, A: Aspect> Wait for Adapted<T, A> {
    #[inline]
    fn peer(&self) -> &Peer {
        self.inner.peer()
    }

    #[inline]
    fn me(&self) -> &str {
        self.inner.me()
    }

    #[inline]
    fn wait(&mut self, ready: Ready, deadline: Deadline) -> Result<()> {
        self.inner.wait(ready, deadline)
    }

    #[inline]
    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.inner.descriptor()
    }

    #[inline]
    fn glance(&mut self) -> Option<bool> {
        self.inner.glance()
    }
}

impl<T: Datagram, A: Aspect> Datagram for Adapted<T, A> {
    #[inline]
    fn limit(&self) -> usize {
        self.inner.limit()
    }

    #[inline]
    fn try_fill(&mut self, size: usize, fill: &mut dyn FnMut(&mut [u8])) -> Result<()> {
        let operation = Operation { kind: Kind::Send, bytes: size };
        self.enclose(operation, |inner| inner.try_fill(size, fill), |()| size)
    }

    #[inline]
    fn try_send(&mut self, parts: &[IoSlice<'_>]) -> Result<()> {
        if !A::IS_PRESENT {
            return self.inner.try_send(parts);
        }
        let bytes = total(parts);
        let operation = Operation { kind: Kind::Send, bytes };
        self.enclose(operation, |inner| inner.try_send(parts), |()| bytes)
    }

    #[inline]
    fn try_queue(&mut self, parts: &[&[u8]], body: &Payload) -> Result<()> {
        if !A::IS_PRESENT {
            return self.inner.try_queue(parts, body);
        }
        let bytes = parts.iter().map(|part| part.len()).sum::<usize>() + body.len();
        let operation = Operation { kind: Kind::Send, bytes };
        self.enclose(operation, |inner| inner.try_queue(parts, body), |()| bytes)
    }

    #[inline]
    fn try_take(&mut self, take: &mut dyn FnMut(&[u8])) -> Result<()> {
        if !A::IS_PRESENT {
            return self.inner.try_take(take);
        }
        let operation = Operation { kind: Kind::Receive, bytes: self.inner.limit() };
        let carry_out = |inner: &mut T| {
            let mut bytes = 0;
            inner.try_take(&mut |message| {
                bytes = message.len();
                take(message);
            })?;
            Ok(bytes)
        };
        self.enclose(operation, carry_out, |&bytes| bytes).map(drop)
    }

    #[inline]
    fn try_keep(&mut self, take: &mut dyn FnMut(Taken<'_>)) -> Result<()> {
        if !A::IS_PRESENT {
            return self.inner.try_keep(take);
        }
        let operation = Operation { kind: Kind::Receive, bytes: self.inner.limit() };
        let carry_out = |inner: &mut T| {
            let mut bytes = 0;
            inner.try_keep(&mut |message| {
                bytes = match &message {
                    Taken::Seen(message) => message.len(),
                    Taken::Kept(message) => message.len(),
                };
                take(message);
            })?;
            Ok(bytes)
        };
        self.enclose(operation, carry_out, |&bytes| bytes).map(drop)
    }

    #[inline]
    fn is_drained(&self) -> bool {
        self.inner.is_drained()
    }

    #[inline]
    fn try_flush(&mut self) -> Result<bool> {
        self.inner.try_flush()
    }

    /// The strategy's own, which may copy once where `try_send` copies twice. As an operation it
    /// includes its wait.
    #[inline]
    fn send(&mut self, parts: &[IoSlice<'_>], deadline: Deadline) -> Result<()> {
        if !A::IS_PRESENT {
            return self.inner.send(parts, deadline);
        }
        let bytes = total(parts);
        let operation = Operation { kind: Kind::Send, bytes };
        self.enclose(operation, |inner| inner.send(parts, deadline), |()| bytes)
    }

    /// See `send`.
    #[inline]
    fn take(&mut self, deadline: Deadline, take: &mut dyn FnMut(&[u8])) -> Result<()> {
        if !A::IS_PRESENT {
            return self.inner.take(deadline, take);
        }
        let operation = Operation { kind: Kind::Receive, bytes: self.inner.limit() };
        let carry_out = |inner: &mut T| {
            let mut bytes = 0;
            inner.take(deadline, &mut |message| {
                bytes = message.len();
                take(message);
            })?;
            Ok(bytes)
        };
        self.enclose(operation, carry_out, |&bytes| bytes).map(drop)
    }
}

impl<T: Stream, A: Aspect> Stream for Adapted<T, A> {
    #[inline]
    fn try_write(&mut self, bytes: &[u8]) -> Result<usize> {
        let operation = Operation { kind: Kind::Write, bytes: bytes.len() };
        self.enclose(operation, |inner| inner.try_write(bytes), |&count| count)
    }

    #[inline]
    fn try_write_parts(&mut self, parts: &[IoSlice<'_>]) -> Result<usize> {
        if !A::IS_PRESENT {
            return self.inner.try_write_parts(parts);
        }
        let operation = Operation { kind: Kind::Write, bytes: total(parts) };
        self.enclose(operation, |inner| inner.try_write_parts(parts), |&count| count)
    }

    #[inline]
    fn try_flush(&mut self) -> Result<bool> {
        self.inner.try_flush()
    }

    #[inline]
    fn try_read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let operation = Operation { kind: Kind::Read, bytes: buffer.len() };
        self.enclose(operation, |inner| inner.try_read(buffer), |&count| count)
    }

    #[inline]
    fn read(&mut self, buffer: &mut [u8], deadline: Deadline) -> Result<usize> {
        let operation = Operation { kind: Kind::Read, bytes: buffer.len() };
        self.enclose(operation, |inner| inner.read(buffer, deadline), |&count| count)
    }

    #[inline]
    fn is_delivered(&self) -> bool {
        self.inner.is_delivered()
    }

    #[inline]
    fn finish(&mut self, deadline: Deadline) -> Result<()> {
        let operation = Operation { kind: Kind::Finish, bytes: 0 };
        self.enclose(operation, |inner| inner.finish(deadline), |()| 0)
    }

    #[inline]
    fn widen(&mut self) -> bool {
        self.inner.widen()
    }

    /// None where aspects would be passed by.
    #[inline]
    fn socket(&self) -> Option<BorrowedFd<'_>> {
        if A::IS_PRESENT { None } else { self.inner.socket() }
    }

    /// Refused where aspects would be passed by.
    #[inline]
    fn bare(&mut self) -> Result<Bare> {
        if !A::IS_PRESENT {
            return self.inner.bare();
        }
        let why = "it is watched, so its socket stays where it is".to_owned();
        Err(Error::Refused { peer: self.inner.peer().name.clone(), why })
    }
}

impl<T: ActiveMessage, A: Aspect> ActiveMessage for Adapted<T, A> {
    #[inline]
    fn limit(&self) -> usize {
        self.inner.limit()
    }

    #[inline]
    fn try_call(&mut self, handler: Handler, arguments: &[IoSlice<'_>]) -> Result<()> {
        if !A::IS_PRESENT {
            return self.inner.try_call(handler, arguments);
        }
        let bytes = total(arguments);
        let operation = Operation { kind: Kind::Call, bytes };
        self.enclose(operation, |inner| inner.try_call(handler, arguments), |()| bytes)
    }

    #[inline]
    fn try_progress(&mut self, handlers: &mut dyn Handlers) -> Result<usize> {
        let operation = Operation { kind: Kind::Progress, bytes: 0 };
        // Nothing carried out is nothing done, whichever way it is said.
        let carry_out = |inner: &mut T| match inner.try_progress(handlers) {
            Ok(0) if A::IS_PRESENT => Err(Error::WouldBlock),
            other => other,
        };
        match self.enclose(operation, carry_out, |&count| count) {
            Err(Error::WouldBlock) if A::IS_PRESENT => Ok(0),
            other => other,
        }
    }

    #[inline]
    fn try_flush(&mut self) -> Result<bool> {
        self.inner.try_flush()
    }
}

impl<T: RemoteCopy, A: Aspect> RemoteCopy for Adapted<T, A> {
    #[inline]
    fn expose(&mut self, region: &Region) -> Result<Key> {
        let operation = Operation { kind: Kind::Expose, bytes: region.size() };
        self.enclose(operation, |inner| inner.expose(region), |_| 0)
    }

    #[inline]
    fn withdraw(&mut self, key: Key) -> Result<()> {
        let operation = Operation { kind: Kind::Withdraw, bytes: 0 };
        self.enclose(operation, |inner| inner.withdraw(key), |()| 0)
    }

    #[inline]
    fn try_put(&mut self, key: Key, offset: u64, bytes: &[u8], token: u64) -> Result<()> {
        let operation = Operation { kind: Kind::Put, bytes: bytes.len() };
        self.enclose(operation, |inner| inner.try_put(key, offset, bytes, token), |()| bytes.len())
    }

    #[inline]
    fn try_get(&mut self, key: Key, offset: u64, count: usize, token: u64) -> Result<()> {
        let operation = Operation { kind: Kind::Get, bytes: count };
        self.enclose(operation, |inner| inner.try_get(key, offset, count, token), |()| count)
    }

    #[inline]
    fn try_progress(&mut self) -> Result<Option<Completion>> {
        let operation = Operation { kind: Kind::Progress, bytes: 0 };
        let count = |completion: &Option<Completion>| usize::from(completion.is_some());
        self.enclose(operation, |inner| inner.try_progress(), count)
    }

    #[inline]
    fn try_flush(&mut self) -> Result<bool> {
        self.inner.try_flush()
    }
}

impl<T: Object, A: Aspect> Object for Adapted<T, A> {
    #[inline]
    fn invoke(&mut self, method: u16, arguments: &[u8]) -> std::result::Result<Vec<u8>, String> {
        if !A::IS_PRESENT {
            return self.inner.invoke(method, arguments);
        }
        let operation = Operation { kind: Kind::Invoke, bytes: arguments.len() };
        let refused = |why| Error::Refused { peer: "the object".to_owned(), why };
        let carry_out = |inner: &mut T| inner.invoke(method, arguments).map_err(refused);
        self.enclose(operation, carry_out, Vec::len).map_err(|error| match error {
            Error::Refused { why, .. } => why,
            other => other.to_string(),
        })
    }
}
