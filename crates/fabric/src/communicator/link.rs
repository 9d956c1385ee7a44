//! Link: bytes between two ends, in order (EPOS, section 2.1, over the stream strategy).

use crate::deadline::Deadline;
use crate::error::{Error, Result};
use crate::strategy::{Ready, Stream};
use crate::transport::Peer;
use std::io;
use std::time::Duration;

/// A connection that carries bytes.
///
/// ```
/// # use muster_fabric::{Address, Deadline, Result, communicator::Link};
/// # use muster_fabric::transport::{self, Hello, Lane};
/// # use std::{io::Read, thread, time::Duration};
/// # fn main() -> Result<()> {
/// let at: Address = "proc!link".parse()?;
/// let transport = transport::of(&at)?;
/// let mut listener = transport.listen(&at)?;
/// let soon = Deadline::after(Duration::from_secs(30));
/// let reader = thread::spawn(move || -> Result<String> {
///     let (mut text, time) = (String::new(), Duration::from_secs(30));
///     let mut link = Link::new(listener.accept(soon)?.stream()?);
///     link.within(time).read_to_string(&mut text).expect("all comes in time");
///     Ok(text)
/// });
/// let hello = Hello { name: "writer".into(), service: "example".into(), lane: Lane::Bulk };
/// let mut link = Link::new(transport.connect(&at, &hello, soon)?.stream()?);
/// link.write(b"bytes have ", soon)?;
/// link.write(b"no boundaries", soon)?;
/// link.finish(soon)?; // The reader reads to here.
/// assert_eq!(reader.join().expect("no panic")?, "bytes have no boundaries");
/// # Ok(())
/// # }
/// ```
pub struct Link<S> {
    stream: S,
}

impl<S: Stream> Link<S> {
    /// Over a stream.
    pub fn new(stream: S) -> Link<S> {
        Link { stream }
    }

    /// Who is at the other end.
    pub fn peer(&self) -> &Peer {
        self.stream.peer()
    }

    /// The stream below.
    pub fn into_inner(self) -> S {
        self.stream
    }

    /// Sends some of the bytes, at least one of them; returns how many.
    ///
    /// # Errors
    /// [`Error::Deadline`]; the connection's.
    pub fn write_some(&mut self, bytes: &[u8], deadline: Deadline) -> Result<usize> {
        if bytes.is_empty() {
            return Ok(0);
        }
        loop {
            match self.stream.try_write(bytes) {
                Err(Error::WouldBlock) => self.stream.wait(Ready::Send, deadline)?,
                done => return done,
            }
        }
    }

    /// Sends all of the bytes.
    ///
    /// # Errors
    /// [`Error::Deadline`], then a part of them may have been sent; the connection's.
    pub fn write(&mut self, bytes: &[u8], deadline: Deadline) -> Result<()> {
        self.stream.write(bytes, deadline)
    }

    /// Waits until all that [`Link::write_some`] took has left this end.
    ///
    /// # Errors
    /// [`Error::Deadline`]; the connection's.
    pub fn flush(&mut self, deadline: Deadline) -> Result<()> {
        self.stream.flush(deadline)
    }

    /// Receives at least a byte; 0 when the peer sends no more, or `buffer` has no room.
    ///
    /// # Errors
    /// [`Error::Deadline`]; the connection's.
    pub fn read(&mut self, buffer: &mut [u8], deadline: Deadline) -> Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        self.stream.read(buffer, deadline)
    }

    /// Receives as many bytes as `buffer` has room for.
    ///
    /// # Errors
    /// [`Error::Closed`] when the peer has sent less; [`Error::Deadline`]; the connection's.
    pub fn read_exact(&mut self, buffer: &mut [u8], deadline: Deadline) -> Result<()> {
        let mut done = 0;
        while done < buffer.len() {
            match self.read(&mut buffer[done..], deadline)? {
                0 => return Err(Error::Closed { peer: self.peer().to_string() }),
                count => done += count,
            }
        }
        Ok(())
    }

    /// Sends no more: the peer reads to the end. The end may have to wait for room behind what was
    /// written.
    ///
    /// # Errors
    /// [`Error::Deadline`], then it may be tried again; the connection's.
    pub fn finish(&mut self, deadline: Deadline) -> Result<()> {
        self.stream.finish(deadline)
    }

    /// The link as [`io::Read`] and [`io::Write`], each call of which ends within this time.
    pub fn within(&mut self, time: Duration) -> Within<'_, S> {
        Within { link: self, time }
    }
}

/// See [`Link::within`]. Its errors carry the fabric's [`Error`].
pub struct Within<'a, S> {
    link: &'a mut Link<S>,
    time: Duration,
}

impl<S: Stream> io::Read for Within<'_, S> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.link.read(buffer, Deadline::after(self.time)).map_err(plain)
    }
}

impl<S: Stream> io::Write for Within<'_, S> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.link.write_some(bytes, Deadline::after(self.time)).map_err(plain)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.link.flush(Deadline::after(self.time)).map_err(plain)
    }
}

/// The error of the fabric within one of the standard library.
fn plain(error: Error) -> io::Error {
    let kind = match &error {
        Error::Deadline { .. } => io::ErrorKind::TimedOut,
        Error::Closed { .. } => io::ErrorKind::ConnectionAborted,
        Error::Dead { .. } => io::ErrorKind::ConnectionReset,
        Error::Malformed { .. } | Error::Version { .. } => io::ErrorKind::InvalidData,
        Error::Refused { .. } | Error::Access { .. } => io::ErrorKind::PermissionDenied,
        Error::TooLarge { .. } => io::ErrorKind::InvalidInput,
        _ => io::ErrorKind::Other,
    };
    io::Error::new(kind, error)
}
