//! Port: messages between two ends, whole and in order (EPOS, section 2.1, over the datagram
//! strategy).

use crate::deadline::Deadline;
use crate::error::{Error, Result};
use crate::strategy::{Datagram, Ready, late};
use crate::transport::Peer;
use std::io::IoSlice;

/// A connection that carries messages.
///
/// A message that was accepted may be on its way out for as long as the peer has no room for it,
/// and what has not left is lost with the port: the peer is told that it was cut off
/// ([`Error::Dead`]). So who ends flushes first.
///
/// ```
/// # use muster_fabric::{Address, Deadline, Result, communicator::Port};
/// # use muster_fabric::transport::{self, Hello, Lane};
/// # use std::time::Duration;
/// # fn main() -> Result<()> {
/// let any: Address = "tcp!127.0.0.1!0".parse()?;
/// let transport = transport::of(&any)?;
/// let mut listener = transport.listen(&any)?;
/// let to = listener.address().clone();
/// let soon = Deadline::after(Duration::from_secs(30));
/// let reader = std::thread::spawn(move || -> Result<usize> {
///     let mut port = Port::new(listener.accept(soon)?.datagram()?);
///     port.receive(soon, |message| message.len())
/// });
/// let (name, service) = ("writer".to_owned(), "example".to_owned());
/// let hello = Hello { name, service, lane: Lane::Bulk };
/// let mut port = Port::new(transport.connect(&to, &hello, soon)?.datagram()?);
/// port.fill(16 << 20, soon, |message| message.fill(7))?;
/// // Most of it waits here until the reader has room.
/// port.flush(soon)?;
/// drop(port);
/// assert_eq!(reader.join().expect("no panic")?, 16 << 20);
/// # Ok(())
/// # }
/// ```
pub struct Port<D> {
    datagram: D,
}

impl<D: Datagram> Port<D> {
    /// Over datagrams.
    pub fn new(datagram: D) -> Port<D> {
        Port { datagram }
    }

    /// Who is at the other end.
    pub fn peer(&self) -> &Peer {
        self.datagram.peer()
    }

    /// The largest message.
    pub fn limit(&self) -> usize {
        self.datagram.limit()
    }

    /// The datagrams below.
    pub fn into_inner(self) -> D {
        self.datagram
    }

    /// Sends a message. `Ok` says that this end has accepted all of it, and not that it has left:
    /// see [`Port::flush`].
    ///
    /// # Errors
    /// [`Error::TooLarge`]; [`Error::Deadline`] where it was not accepted in time, then the peer
    /// gets nothing of it; the connection's. So for the others.
    pub fn send(&mut self, message: &[u8], deadline: Deadline) -> Result<()> {
        self.send_parts(&[IoSlice::new(message)], deadline)
    }

    /// Sends a message that consists of parts.
    ///
    /// # Errors
    /// See [`Port::send`].
    pub fn send_parts(&mut self, parts: &[IoSlice<'_>], deadline: Deadline) -> Result<()> {
        self.datagram.send(parts, deadline)
    }

    /// Sends a message of `size` bytes which `fill` writes where it leaves from: no copy is made.
    /// `Ok` does not say that it has left: see [`Port::flush`].
    ///
    /// # Errors
    /// See [`Port::send`].
    pub fn fill(
        &mut self,
        size: usize,
        deadline: Deadline,
        mut fill: impl FnMut(&mut [u8]),
    ) -> Result<()> {
        loop {
            match self.datagram.try_fill(size, &mut fill) {
                Err(Error::WouldBlock) => self.datagram.wait(Ready::Send, deadline)?,
                done => return done,
            }
        }
    }

    /// Receives the next message, which `take` sees where it arrived: no copy is made.
    ///
    /// # Errors
    /// See [`Port::send`].
    pub fn receive<T>(&mut self, deadline: Deadline, take: impl FnOnce(&[u8]) -> T) -> Result<T> {
        let (mut take, mut taken) = (Some(take), None);
        self.datagram.take(deadline, &mut |message| {
            taken = take.take().map(|take| take(message));
        })?;
        Ok(taken.expect("a received message was seen once"))
    }

    /// Waits until all that was sent has left this place: from then on it comes, though this port
    /// is dropped, unless the machine or the way fails, or what the peer has sent over TCP lies
    /// here unread: then the kernel cuts the connection. To be called before a port is dropped;
    /// where the deadline passes, again.
    ///
    /// # Errors
    /// See [`Port::send`].
    pub fn flush(&mut self, deadline: Deadline) -> Result<()> {
        while !self.datagram.try_flush()? {
            if deadline.left().is_none() {
                return Err(late(&self.datagram, "what was sent to leave", deadline));
            }
            self.datagram.wait(Ready::Send, deadline)?;
        }
        Ok(())
    }
}
