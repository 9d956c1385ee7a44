//! Receiving. A message that stands whole in the ring is seen there. One in packets is put
//! together: in the buffer of who receives into one, else in a buffer of the link. What an unknown
//! user's process sent is copied out before it is looked at, since that process could change it
//! meanwhile.

use super::link::{Link, MESSAGE, ROOM};
use super::ring::{ENTRIES, Glance, Kind, Record};
use super::trial::{HELD, Trial};
use crate::deadline::Deadline;
use crate::error::{Error, Result};
use crate::protocol::Payload;
use crate::strategy::{Ready, Taken};
use crate::sys::copy_slice;
use muster_base::limits::SHARED_MESSAGE_MAX;
use std::sync::Arc;
use std::time::Instant;

/// From this length on a message is worth a buffer of its own.
const LONG: usize = 16 * 1024;

/// Looks before a wait begins: some round trips' time.
const LOOKS_SHORT: u32 = 64;

/// A message on its way.
#[derive(Default)]
pub(super) struct Incoming {
    total: usize,
    have: usize,
    /// It has begun and not ended.
    is_active: bool,
    /// What came of it, unless it goes into a buffer of the caller's.
    pub(super) buffer: Vec<u8>,
    /// The last buffer that was handed over; it is used again once nobody holds it.
    lent: Option<Arc<Vec<u8>>>,
    pub(super) trial: Trial,
}

/// How a try has looked for a message, and found something that made none.
#[derive(Default)]
struct Looked {
    /// It has once.
    once: bool,
    /// Since when it does because of trials.
    since: Option<Instant>,
}

impl Incoming {
    pub(super) fn is_active(&self) -> bool {
        self.is_active
    }

    /// Whether all of a message stands in the link's buffer: it was too large for who asked.
    pub(super) fn is_kept(&self) -> bool {
        self.is_active && self.have == self.total
    }

    /// Hands the buffer over.
    fn hand_over(&mut self) -> Payload {
        let bytes = Arc::new(std::mem::take(&mut self.buffer));
        self.lent = Some(bytes.clone());
        Payload::from(bytes)
    }

    /// The buffer with so many bytes of whatever content, all of which is written next.
    pub(super) fn with_room(&mut self, size: usize) -> Vec<u8> {
        let mut buffer = std::mem::take(&mut self.buffer);
        if buffer.len() < size
            && let Some(lent) = self.lent.take().and_then(Arc::into_inner)
        {
            buffer = lent;
        }
        // Who keeps a message is not to keep the memory of a longer one.
        if buffer.capacity() / 2 > size {
            buffer = Vec::new();
        }
        // What is new is zeroed, by the kernel where it can be.
        match buffer.len() < size {
            true => vec![0; size],
            false => {
                buffer.truncate(size);
                buffer
            }
        }
    }

    /// What has come of a message into the caller's buffer is kept in the link's, where it goes on.
    fn save(&mut self, given: &[u8]) {
        if self.is_active {
            self.buffer.clear();
            self.buffer.extend_from_slice(&given[..self.have]);
        }
    }

    /// Its message, all of which is in the link's buffer, is still to be received.
    fn keep(&mut self, size: usize) {
        (self.total, self.have, self.is_active) = (size, size, true);
    }
}

/// A message that has come.
enum Came<'a> {
    /// It stands in the ring.
    There(&'a [u8]),
    /// It is all that stands in the buffer.
    Here(&'a mut Incoming),
}

impl Link {
    /// Receives the next message, which `take` sees in place.
    ///
    /// # Errors
    /// [`Error::WouldBlock`], then `take` was not called; the connection's.
    #[inline]
    pub fn try_take<R>(&mut self, take: impl FnOnce(&[u8]) -> R) -> Result<R> {
        match self.inn.peek() {
            Ok(Some(record)) if self.is_plain(&record) => Ok(self.take_plain(&record, take)),
            _ => self.take_slowly(|came| match came {
                Came::There(bytes) => take(bytes),
                Came::Here(incoming) => take(&incoming.buffer),
            }),
        }
    }

    /// As [`Link::try_take`]; a long message that did not stand in the ring is handed over.
    ///
    /// # Errors
    /// As [`Link::try_take`].
    pub fn try_keep(&mut self, take: impl FnOnce(Taken<'_>)) -> Result<()> {
        self.take_slowly(|came| match came {
            Came::There(bytes) => take(Taken::Seen(bytes)),
            Came::Here(incoming) if incoming.buffer.len() >= LONG => {
                take(Taken::Kept(incoming.hand_over()));
            }
            Came::Here(incoming) => take(Taken::Seen(&incoming.buffer)),
        })
    }

    fn take_plain<R>(&mut self, record: &Record, take: impl FnOnce(&[u8]) -> R) -> R {
        let taken = self.inn.read(record, take);
        self.done(record);
        taken
    }

    /// Whether a record is a message to be seen where it stands.
    #[inline]
    fn is_plain(&self, record: &Record) -> bool {
        record.kind == Kind::Whole && !self.incoming.is_active && self.is_trusted
    }

    #[inline]
    fn done(&mut self, record: &Record) {
        self.answered();
        if self.inn.pop(record) {
            self.ring(ROOM);
        }
    }

    /// As [`Link::done`], for one of several packets.
    fn free(&mut self, record: &Record) {
        self.answered();
        if self.inn.pop(record) {
            self.nudge(ROOM);
        }
    }

    fn take_slowly<R>(&mut self, take: impl FnOnce(Came<'_>) -> R) -> Result<R> {
        let mut looked = Looked::default();
        loop {
            self.live_to_receive()?;
            match self.inn.peek() {
                Ok(Some(record)) if self.is_plain(&record) => {
                    return Ok(self.take_plain(&record, |bytes| take(Came::There(bytes))));
                }
                Ok(_) => {}
                Err(garbage) => return Err(self.garbage(garbage)),
            }
            if self.advance(None)?.is_some() {
                return Ok(take(Came::Here(&mut self.incoming)));
            }
            self.look_again(&mut looked)?;
        }
    }

    /// Receives the next message into a buffer, of which it may fill the beginning only.
    ///
    /// # Errors
    /// [`Error::TooLarge`], then the message can still be received; [`Error::WouldBlock`]; the
    /// connection's.
    pub fn try_receive(&mut self, buffer: &mut [u8]) -> Result<usize> {
        self.receive_until(buffer, None)
    }

    /// Waits for the next message and receives it into a buffer.
    ///
    /// # Errors
    /// As [`Link::try_receive`]; [`Error::Deadline`].
    #[inline]
    pub fn receive(&mut self, buffer: &mut [u8], deadline: Deadline) -> Result<usize> {
        if let Some(size) = self.receive_short(buffer) {
            return Ok(size);
        }
        self.receive_until(buffer, Some(deadline))
    }

    /// Looks for a short message for some microseconds at most, if looking makes sense: a look
    /// takes fewer steps here than in a wait.
    #[inline]
    fn receive_short(&mut self, buffer: &mut [u8]) -> Option<usize> {
        if self.incoming.is_active || !self.is_trusted {
            return None;
        }
        let looks = if self.waiter.is_looking() { LOOKS_SHORT } else { 1 };
        for _ in 0..looks {
            match self.inn.glance() {
                Glance::Short(size) => {
                    let into = buffer.get_mut(..size)?;
                    if self.inn.take_short(size, |bytes| into.copy_from_slice(bytes)) {
                        self.ring(ROOM);
                    }
                    self.answered();
                    return Some(size);
                }
                Glance::Nothing => std::hint::spin_loop(),
                Glance::Other => break,
            }
        }
        None
    }

    /// Receives what stands whole in the ring, if it is next and fits.
    #[inline]
    fn receive_plain(&mut self, buffer: &mut [u8]) -> Option<usize> {
        let Ok(Some(record)) = self.inn.peek() else { return None };
        if !self.is_plain(&record) || record.size > buffer.len() {
            return None;
        }
        self.inn.read(&record, |bytes| buffer[..record.size].copy_from_slice(bytes));
        self.done(&record);
        Some(record.size)
    }

    /// Waits, or not at all.
    fn receive_until(&mut self, buffer: &mut [u8], deadline: Option<Deadline>) -> Result<usize> {
        // What has begun in the link's buffer ends there.
        let mut is_own = self.incoming.is_active;
        let (mut rounds, mut looked) = (0, Looked::default());
        loop {
            self.live_to_receive()?;
            let given = if is_own { None } else { Some(&mut *buffer) };
            let came = self.advance(given);
            if came.is_err() && !is_own {
                self.incoming.save(buffer);
            }
            if let Some(size) = came? {
                if is_own {
                    fits(size, buffer.len()).inspect_err(|_| self.incoming.keep(size))?;
                    buffer[..size].copy_from_slice(&self.incoming.buffer[..size]);
                }
                return Ok(size);
            }
            // Where that was taken back, the next message is another one.
            is_own &= self.incoming.is_active;
            let waited = match deadline {
                None => self.look_again(&mut looked),
                Some(deadline) => self.await_more(deadline, &mut rounds),
            };
            // What is waited for is short more often than not.
            if waited.is_ok()
                && let Some(size) = self.receive_plain(buffer)
            {
                return Ok(size);
            }
            if waited.is_err() && !is_own {
                self.incoming.save(buffer);
            }
            waited?;
        }
    }

    /// No message has come of what was there: waits for more. A peer that sends what makes none
    /// keeps nobody beyond the deadline.
    fn await_more(&mut self, deadline: Deadline, rounds: &mut u32) -> Result<()> {
        if deadline.has_passed(rounds) {
            return Err(self.late(MESSAGE, deadline));
        }
        match self.nothing() {
            Err(Error::WouldBlock) => self.wait(Ready::Receive, deadline),
            done => done,
        }
    }

    /// The same for a try: it looks once more after it has asked to be rung for, as what comes then
    /// rings. Only a trial that is held is let go without that, so it is waited for, as long as one
    /// may be; a peer that goes on sending them keeps a try no longer.
    fn look_again(&mut self, looked: &mut Looked) -> Result<()> {
        if std::mem::replace(&mut looked.once, true) {
            let since = looked.since.get_or_insert_with(Instant::now);
            if !self.incoming.trial.is_held() || since.elapsed() > HELD {
                return Err(Error::WouldBlock);
            }
        }
        self.nothing()
    }

    /// A peer that broke the rules is not listened to any more.
    fn live_to_receive(&self) -> Result<()> {
        match self.live() {
            Err(error @ Error::Malformed { .. }) => Err(error),
            _ => Ok(()),
        }
    }

    /// Takes in what is there; the size of the message that this completes, if it does.
    fn advance(&mut self, given: Option<&mut [u8]>) -> Result<Option<usize>> {
        let before = self.inn.told();
        let size = self.advance_through(given);
        if self.inn.told() != before {
            self.ring(ROOM);
        }
        size
    }

    /// As [`Link::advance`], but who has gone to sleep a moment ago may not be woken.
    fn advance_through(&mut self, mut given: Option<&mut [u8]>) -> Result<Option<usize>> {
        if self.incoming.is_kept() {
            self.incoming.is_active = false;
            return Ok(Some(self.incoming.total));
        }
        for _ in 0..ENTRIES {
            let record = match self.inn.peek() {
                Ok(Some(record)) => record,
                Ok(None) => return Ok(None),
                Err(garbage) => return Err(self.garbage(garbage)),
            };
            let total = match record.kind {
                Kind::Whole => record.size,
                _ => usize::try_from(record.extra).unwrap_or(usize::MAX),
            };
            match (record.kind, self.incoming.is_active) {
                (Kind::Whole | Kind::First | Kind::Offer, true) => {
                    return Err(self.malformed("a message within another"));
                }
                (Kind::Whole | Kind::First | Kind::Offer, false) => {
                    self.start(&record, total, given.as_deref())?;
                }
                (Kind::More | Kind::Abort, false) => {
                    return Err(self.malformed("a message without its beginning"));
                }
                (Kind::Trial, true) => return Err(self.malformed("a trial within a message")),
                (Kind::Trial, false) => {
                    if !self.answer(&record)? {
                        return Ok(None);
                    }
                    self.free(&record);
                    continue;
                }
                (Kind::Abort, true) => {
                    self.incoming.is_active = false;
                    self.free(&record);
                    continue;
                }
                (Kind::More, true) => {}
            }
            if record.kind == Kind::Offer {
                self.incoming.is_active = false;
                if self.fetch(&record, total, given.as_deref_mut())? {
                    return Ok(Some(total));
                }
                continue;
            }
            if self.put(&record, given.as_deref_mut())? {
                return Ok(Some(self.incoming.total));
            }
        }
        Ok(None)
    }

    /// A message begins.
    fn start(&mut self, record: &Record, total: usize, given: Option<&[u8]>) -> Result<()> {
        if total > SHARED_MESSAGE_MAX {
            return Err(self.malformed(format!("a message of {total} bytes")));
        }
        if let Some(given) = given {
            fits(total, given.len())?;
        }
        if record.kind != Kind::Offer {
            self.incoming.buffer.clear();
        }
        (self.incoming.total, self.incoming.have, self.incoming.is_active) = (total, 0, true);
        Ok(())
    }

    /// Copies a packet out; true when it was the last.
    fn put(&mut self, record: &Record, given: Option<&mut [u8]>) -> Result<bool> {
        let incoming = &mut self.incoming;
        let end = incoming.have + record.size;
        let is_empty = record.size == 0 && incoming.total > 0;
        if is_empty || end > incoming.total {
            return Err(self.malformed("a packet that does not fit its message"));
        }
        self.inn.read(record, |bytes| match given {
            Some(given) => copy_slice(bytes, &mut given[incoming.have..end]),
            None => incoming.buffer.extend_from_slice(bytes),
        });
        incoming.have = end;
        incoming.is_active = end < incoming.total;
        let is_last = !incoming.is_active;
        self.free(record);
        Ok(is_last)
    }

    /// Fetches a message that stands in the sender's memory; false when it was no longer meant, or
    /// could not be fetched.
    fn fetch(&mut self, record: &Record, total: usize, given: Option<&mut [u8]>) -> Result<bool> {
        let is_fetched = match given {
            Some(given) => self.accept_offer(record, &mut given[..total]),
            None => {
                let mut own = self.incoming.with_room(total);
                let is_fetched = self.accept_offer(record, &mut own);
                self.incoming.buffer = own;
                is_fetched
            }
        }?;
        self.free(record);
        Ok(is_fetched)
    }
}

/// Whether a message has room.
fn fits(size: usize, limit: usize) -> Result<usize> {
    if size <= limit {
        return Ok(size);
    }
    Err(Error::TooLarge { what: "the next message for this buffer", size, limit })
}
