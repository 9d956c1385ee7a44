//! Strategies behind a pointer are strategies.

use super::{
    ActiveMessage, Bare, Completion, Datagram, Handler, Handlers, Key, Ready, RemoteCopy, Stream,
    Taken, Wait,
};
use crate::deadline::Deadline;
use crate::error::Result;
use crate::protocol::Payload;
use crate::region::Region;
use crate::transport::Peer;
use std::io::IoSlice;
use std::os::fd::BorrowedFd;

impl<T: Wait + ?Sized> Wait for Box<T> {
    fn peer(&self) -> &Peer {
        (**self).peer()
    }

    fn me(&self) -> &str {
        (**self).me()
    }

    fn wait(&mut self, ready: Ready, deadline: Deadline) -> Result<()> {
        (**self).wait(ready, deadline)
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        (**self).descriptor()
    }

    fn glance(&mut self) -> Option<bool> {
        (**self).glance()
    }
}

impl<T: Datagram + ?Sized> Datagram for Box<T> {
    fn limit(&self) -> usize {
        (**self).limit()
    }

    fn try_fill(&mut self, size: usize, fill: &mut dyn FnMut(&mut [u8])) -> Result<()> {
        (**self).try_fill(size, fill)
    }

    fn try_send(&mut self, parts: &[IoSlice<'_>]) -> Result<()> {
        (**self).try_send(parts)
    }

    fn try_queue(&mut self, parts: &[&[u8]], body: &Payload) -> Result<()> {
        (**self).try_queue(parts, body)
    }

    fn try_take(&mut self, take: &mut dyn FnMut(&[u8])) -> Result<()> {
        (**self).try_take(take)
    }

    fn try_keep(&mut self, take: &mut dyn FnMut(Taken<'_>)) -> Result<()> {
        (**self).try_keep(take)
    }

    fn is_drained(&self) -> bool {
        (**self).is_drained()
    }

    fn try_flush(&mut self) -> Result<bool> {
        (**self).try_flush()
    }

    fn send(&mut self, parts: &[IoSlice<'_>], deadline: Deadline) -> Result<()> {
        (**self).send(parts, deadline)
    }

    fn take(&mut self, deadline: Deadline, take: &mut dyn FnMut(&[u8])) -> Result<()> {
        (**self).take(deadline, take)
    }
}

impl<T: Stream + ?Sized> Stream for Box<T> {
    fn try_write(&mut self, bytes: &[u8]) -> Result<usize> {
        (**self).try_write(bytes)
    }

    fn try_write_parts(&mut self, parts: &[IoSlice<'_>]) -> Result<usize> {
        (**self).try_write_parts(parts)
    }

    fn try_flush(&mut self) -> Result<bool> {
        (**self).try_flush()
    }

    fn try_read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        (**self).try_read(buffer)
    }

    fn read(&mut self, buffer: &mut [u8], deadline: Deadline) -> Result<usize> {
        (**self).read(buffer, deadline)
    }

    fn is_delivered(&self) -> bool {
        (**self).is_delivered()
    }

    fn finish(&mut self, deadline: Deadline) -> Result<()> {
        (**self).finish(deadline)
    }

    fn widen(&mut self) -> bool {
        (**self).widen()
    }

    fn socket(&self) -> Option<BorrowedFd<'_>> {
        (**self).socket()
    }

    fn bare(&mut self) -> Result<Bare> {
        (**self).bare()
    }
}

impl<T: ActiveMessage + ?Sized> ActiveMessage for Box<T> {
    fn limit(&self) -> usize {
        (**self).limit()
    }

    fn try_call(&mut self, handler: Handler, arguments: &[IoSlice<'_>]) -> Result<()> {
        (**self).try_call(handler, arguments)
    }

    fn try_progress(&mut self, handlers: &mut dyn Handlers) -> Result<usize> {
        (**self).try_progress(handlers)
    }

    fn try_flush(&mut self) -> Result<bool> {
        (**self).try_flush()
    }
}

impl<T: RemoteCopy + ?Sized> RemoteCopy for Box<T> {
    fn expose(&mut self, region: &Region) -> Result<Key> {
        (**self).expose(region)
    }

    fn withdraw(&mut self, key: Key) -> Result<()> {
        (**self).withdraw(key)
    }

    fn try_put(&mut self, key: Key, offset: u64, bytes: &[u8], token: u64) -> Result<()> {
        (**self).try_put(key, offset, bytes, token)
    }

    fn try_get(&mut self, key: Key, offset: u64, count: usize, token: u64) -> Result<()> {
        (**self).try_get(key, offset, count, token)
    }

    fn try_progress(&mut self) -> Result<Option<Completion>> {
        (**self).try_progress()
    }

    fn try_flush(&mut self) -> Result<bool> {
        (**self).try_flush()
    }
}
