//! A link as the strategies: datagrams and remote copy by itself, the others emulated over
//! datagrams.

use super::copy::Copies;
use super::link::Link;
use crate::deadline::Deadline;
use crate::error::Result;
use crate::protocol::Payload;
use crate::strategy::emulated::{Active, Streamed};
use crate::strategy::{ActiveMessage, Datagram, Ready, RemoteCopy, Stream, Taken, Wait};
use crate::transport::{Adapter, Hello, Peer};
use std::io::IoSlice;
use std::os::fd::BorrowedFd;

impl Wait for Link {
    fn peer(&self) -> &Peer {
        self.peer()
    }

    fn me(&self) -> &str {
        self.me()
    }

    fn wait(&mut self, ready: Ready, deadline: Deadline) -> Result<()> {
        self.wait(ready, deadline)
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        Some(self.descriptor())
    }

    fn glance(&mut self) -> Option<bool> {
        Some(self.glance())
    }
}

impl Datagram for Link {
    fn limit(&self) -> usize {
        self.limit()
    }

    fn try_fill(&mut self, size: usize, fill: &mut dyn FnMut(&mut [u8])) -> Result<()> {
        self.try_fill(size, fill)
    }

    fn try_send(&mut self, parts: &[IoSlice<'_>]) -> Result<()> {
        self.try_send(parts)
    }

    fn try_queue(&mut self, parts: &[&[u8]], body: &Payload) -> Result<()> {
        self.try_queue(parts, body)
    }

    fn try_keep(&mut self, take: &mut dyn FnMut(Taken<'_>)) -> Result<()> {
        self.try_keep(take)
    }

    fn try_take(&mut self, take: &mut dyn FnMut(&[u8])) -> Result<()> {
        self.try_take(take)
    }

    fn try_flush(&mut self) -> Result<bool> {
        self.try_flush()
    }

    fn send(&mut self, parts: &[IoSlice<'_>], deadline: Deadline) -> Result<()> {
        self.send(parts, deadline)
    }
}

impl Adapter for Link {
    fn peer(&self) -> &Peer {
        self.peer()
    }

    fn hello(&self) -> &Hello {
        self.hello()
    }

    fn datagram(self: Box<Self>) -> Result<Box<dyn Datagram>> {
        Ok(self)
    }

    fn stream(self: Box<Self>) -> Result<Box<dyn Stream>> {
        Ok(Box::new(Streamed::new(*self)))
    }

    fn active_message(self: Box<Self>) -> Result<Box<dyn ActiveMessage>> {
        Ok(Box::new(Active::new(*self)))
    }

    fn remote_copy(self: Box<Self>) -> Result<Box<dyn RemoteCopy>> {
        Ok(Box::new(Copies::new(*self)))
    }
}
