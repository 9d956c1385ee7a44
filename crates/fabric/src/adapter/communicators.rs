//! What a communicator does as one operation, with aspects around all of it.
//!
//! An adapted communicator has these methods and no others: whoever wants to flush, to put and to
//! fence, or to register and to serve, has the aspects around the strategy below instead, and any
//! communicator over that: `Port::new(Adapted::new(datagram, aspects))`, as
//! [`crate::bound::Network`] does. Aspects are then entered for each of the strategy's operations.

use super::strategies::total;
use super::{Adapted, Aspect, Kind, Operation};
use crate::communicator::{Invocation, Link, Mail, Mailbox, Port, Segment};
use crate::deadline::Deadline;
use crate::error::Result;
use crate::strategy::{ActiveMessage, Datagram, RemoteCopy, Stream};
use std::io::IoSlice;

impl<S: Stream, A: Aspect> Adapted<Link<S>, A> {
    /// As [`Link::write`].
    ///
    /// # Errors
    /// As there, and an aspect's. So for the others.
    #[inline]
    pub fn write(&mut self, bytes: &[u8], deadline: Deadline) -> Result<()> {
        let operation = Operation { kind: Kind::Write, bytes: bytes.len() };
        self.enclose(operation, |link| link.write(bytes, deadline), |()| bytes.len())
    }

    /// As [`Link::read`].
    ///
    /// # Errors
    /// See [`Adapted::write`].
    #[inline]
    pub fn read(&mut self, buffer: &mut [u8], deadline: Deadline) -> Result<usize> {
        let operation = Operation { kind: Kind::Read, bytes: buffer.len() };
        self.enclose(operation, |link| link.read(buffer, deadline), |&count| count)
    }

    /// As [`Link::finish`].
    ///
    /// # Errors
    /// See [`Adapted::write`].
    #[inline]
    pub fn finish(&mut self, deadline: Deadline) -> Result<()> {
        let operation = Operation { kind: Kind::Finish, bytes: 0 };
        self.enclose(operation, |link| link.finish(deadline), |()| 0)
    }
}

impl<D: Datagram, A: Aspect> Adapted<Port<D>, A> {
    /// As [`Port::send`].
    ///
    /// # Errors
    /// See [`Adapted::write`].
    #[inline]
    pub fn send(&mut self, message: &[u8], deadline: Deadline) -> Result<()> {
        self.send_parts(&[IoSlice::new(message)], deadline)
    }

    /// As [`Port::send_parts`].
    ///
    /// # Errors
    /// See [`Adapted::write`].
    #[inline]
    pub fn send_parts(&mut self, parts: &[IoSlice<'_>], deadline: Deadline) -> Result<()> {
        let bytes = total(parts);
        let operation = Operation { kind: Kind::Send, bytes };
        self.enclose(operation, |port| port.send_parts(parts, deadline), |()| bytes)
    }

    /// As [`Port::fill`].
    ///
    /// # Errors
    /// See [`Adapted::write`].
    #[inline]
    pub fn fill(
        &mut self,
        size: usize,
        deadline: Deadline,
        fill: impl FnMut(&mut [u8]),
    ) -> Result<()> {
        let operation = Operation { kind: Kind::Send, bytes: size };
        self.enclose(operation, |port| port.fill(size, deadline, fill), |()| size)
    }

    /// As [`Port::receive`].
    ///
    /// # Errors
    /// See [`Adapted::write`].
    #[inline]
    pub fn receive<T>(&mut self, deadline: Deadline, take: impl FnOnce(&[u8]) -> T) -> Result<T> {
        let operation = Operation { kind: Kind::Receive, bytes: self.inner.limit() };
        let carry_out =
            |port: &mut Port<D>| port.receive(deadline, |message| (message.len(), take(message)));
        self.enclose(operation, carry_out, |(bytes, _)| *bytes).map(|(_, value)| value)
    }
}

impl<D: Datagram, A: Aspect> Adapted<Mailbox<D>, A> {
    /// As [`Mailbox::receive`].
    ///
    /// # Errors
    /// See [`Adapted::write`].
    #[inline]
    pub fn receive(&mut self, deadline: Deadline, take: &mut dyn FnMut(&[u8])) -> Result<Mail> {
        let mut bytes = 0;
        let carry_out = |mailbox: &mut Mailbox<D>| {
            let mail = mailbox.receive(deadline, &mut |message| {
                bytes = message.len();
                take(message);
            })?;
            Ok((bytes, mail))
        };
        let operation = Operation { kind: Kind::Receive, bytes: 0 };
        self.enclose(operation, carry_out, |(bytes, _)| *bytes).map(|(_, mail)| mail)
    }
}

impl<R: RemoteCopy, A: Aspect> Adapted<Segment<R>, A> {
    /// As [`Segment::write`].
    ///
    /// # Errors
    /// See [`Adapted::write`].
    #[inline]
    pub fn write(&mut self, offset: u64, bytes: &[u8], deadline: Deadline) -> Result<()> {
        let operation = Operation { kind: Kind::Put, bytes: bytes.len() };
        self.enclose(operation, |segment| segment.write(offset, bytes, deadline), |()| bytes.len())
    }

    /// As [`Segment::read`].
    ///
    /// # Errors
    /// See [`Adapted::write`].
    #[inline]
    pub fn read(&mut self, offset: u64, buffer: &mut [u8], deadline: Deadline) -> Result<()> {
        let bytes = buffer.len();
        let operation = Operation { kind: Kind::Get, bytes };
        self.enclose(operation, |segment| segment.read(offset, buffer, deadline), |()| bytes)
    }
}

impl<M: ActiveMessage, A: Aspect> Adapted<Invocation<M>, A> {
    /// As [`Invocation::call`].
    ///
    /// # Errors
    /// See [`Adapted::write`].
    #[inline]
    pub fn call(
        &mut self,
        object: u32,
        method: u16,
        arguments: &[u8],
        deadline: Deadline,
    ) -> Result<Vec<u8>> {
        let operation = Operation { kind: Kind::Invoke, bytes: arguments.len() };
        let carry_out =
            |invocation: &mut Invocation<M>| invocation.call(object, method, arguments, deadline);
        self.enclose(operation, carry_out, Vec::len)
    }
}
