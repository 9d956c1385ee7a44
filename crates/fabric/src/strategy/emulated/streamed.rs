//! Bytes over messages: each message is a piece of them, and an empty one is the end.
//!
//! A peer that goes in order without saying the end ends the bytes too, as a socket's does.

use crate::deadline::Deadline;
use crate::error::{Error, Result};
use crate::strategy::{Datagram, Ready, Stream, Wait};
use crate::transport::Peer;
use std::io::IoSlice;
use std::os::fd::BorrowedFd;

/// Bytes of a message at most: enough to pay for it, little enough to be kept by the receiver.
const PIECE: usize = 64 * 1024;

/// Bytes over messages.
#[derive(Debug)]
pub struct Streamed<D: Datagram> {
    inner: D,
    /// The rest of a message of which the reader wanted less.
    rest: Vec<u8>,
    taken: usize,
    /// The peer sends no more.
    ended: bool,
}

impl<D: Datagram> Streamed<D> {
    /// Over messages of which none was sent yet.
    pub fn new(inner: D) -> Streamed<D> {
        Streamed { inner, rest: Vec::with_capacity(PIECE), taken: 0, ended: false }
    }
}

impl<D: Datagram> Wait for Streamed<D> {
    fn peer(&self) -> &Peer {
        self.inner.peer()
    }

    fn me(&self) -> &str {
        self.inner.me()
    }

    fn wait(&mut self, ready: Ready, deadline: Deadline) -> Result<()> {
        if ready == Ready::Receive && (self.ended || self.taken < self.rest.len()) {
            return Ok(());
        }
        match self.inner.wait(ready, deadline) {
            Err(Error::Closed { .. }) if ready == Ready::Receive => Ok(()),
            waited => waited,
        }
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.inner.descriptor()
    }
}

impl<D: Datagram> Stream for Streamed<D> {
    fn try_write(&mut self, bytes: &[u8]) -> Result<usize> {
        let size = bytes.len().min(PIECE).min(self.inner.limit());
        if size > 0 {
            self.inner.try_send(&[IoSlice::new(&bytes[..size])])?;
        }
        Ok(size)
    }

    fn try_flush(&mut self) -> Result<bool> {
        self.inner.try_flush()
    }

    fn try_read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        if self.taken < self.rest.len() {
            let size = buffer.len().min(self.rest.len() - self.taken);
            buffer[..size].copy_from_slice(&self.rest[self.taken..self.taken + size]);
            self.taken += size;
            return Ok(size);
        }
        if self.ended || buffer.is_empty() {
            return Ok(0);
        }
        let (rest, mut size) = (&mut self.rest, 0);
        let taken = self.inner.try_take(&mut |message| {
            size = buffer.len().min(message.len());
            buffer[..size].copy_from_slice(&message[..size]);
            rest.clear();
            rest.extend_from_slice(&message[size..]);
        });
        self.taken = 0;
        match taken {
            Ok(()) => self.ended = size == 0,
            Err(Error::Closed { .. }) => self.ended = true,
            Err(error) => {
                rest.clear();
                return Err(error);
            }
        }
        Ok(size)
    }

    fn finish(&mut self, deadline: Deadline) -> Result<()> {
        self.inner.send(&[], deadline)
    }
}
