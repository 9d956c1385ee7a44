//! Pieces between two endpoints, with credits; how a connection waits, and how it ends.
//!
//! A *piece* is one message of libfabric: a header of 8 bytes and at most [`PIECE`] bytes. Each
//! end has [`WINDOW`] buffers posted for the other one's pieces, and the sender counts: it starts
//! with as many credits, spends one for each piece, and gets them back in the headers of what comes
//! the other way. When half of a window is owed and nothing goes that way, a piece that is nothing
//! but credits goes by itself. Such pieces need no credit: of each end at most two are under way,
//! since the third answers pieces for which the first has arrived. [`SPARE`] buffers are for them.
//!
//! A piece says where it comes among its sender's. One that is missing was lost with a connection
//! that the provider has made anew without a word, and ends this one.
//!
//! The end. Who drops its end first waits until what it sent has left, says farewell at the meeting
//! (`meeting.rs`), with the number of pieces that it sent, and closes. The other one receives up to
//! that number and then finds the connection closed. A meeting that ends without a farewell, or
//! pieces of which none comes for [`OFI_LINGER`] after it while this end looks, mean that the peer
//! is dead. Either may die at any time: nothing is waited for without a deadline.

use super::meeting::{self, Meeting};
use super::sys::{Done, Endpoint, SLOT};
use crate::deadline::Deadline;
use crate::error::{Error, Result};
use crate::transport::{Hello, Peer};
use muster_base::limits::OFI_LINGER;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::collections::VecDeque;
use std::ops::Range;
use std::time::{Duration, Instant};

/// Buffers for pieces of the peer.
pub const WINDOW: usize = 16;

/// Buffers for credits of the peer.
const SPARE: usize = 4;

/// Buffers that the peer's pieces come to.
const RECEIVING: Range<usize> = 0..WINDOW + SPARE;

/// Buffers for pieces to the peer.
const SENDING: Range<usize> = RECEIVING.end..RECEIVING.end + WINDOW;

/// Buffers for puts and gets.
const COPYING: Range<usize> = SENDING.end..SENDING.end + WINDOW;

/// All buffers of an endpoint.
pub const SLOTS: usize = COPYING.end;

/// Bytes of a header: kind, order, credits, number.
pub const HEADER: usize = 1 + 1 + 2 + 4;

/// Bytes of the user's in a piece.
pub const PIECE: usize = SLOT - HEADER;

/// How long a wait looks before it sleeps: longer than a round trip over loopback.
const SPIN: Duration = Duration::from_micros(30);

/// How long a wait sleeps at most where the provider cannot wake it: looking takes about 20 us, so
/// an idle end uses half a percent of a core.
const NAP_MAX: Duration = Duration::from_millis(4);

/// How much of the time between two looks counts as silence.
const MOMENT_MAX: Duration = Duration::from_millis(50);

/// Looks in vain after which the meeting is looked at: it costs a system call.
const LOOKS: u32 = 64;

/// What a piece is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// Credits only.
    Credit = 0,
    /// A message begins; the number says how long it is.
    First = 1,
    /// It goes on.
    More = 2,
    /// About regions (`remote.rs`).
    Region = 3,
}

/// The header of a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// What it is.
    pub kind: Kind,
    /// How many pieces its sender has sent before it, as far as a byte says: more than are under
    /// way, so a missing one shows.
    pub order: u8,
    /// Pieces of the receiver of this one for which there is room again.
    pub credits: u16,
    /// What the kind says.
    pub number: u32,
}

impl Header {
    /// The header's bytes.
    pub fn write(&self) -> [u8; HEADER] {
        let ([low, high], [a, b, c, d]) = (self.credits.to_le_bytes(), self.number.to_le_bytes());
        [self.kind as u8, self.order, low, high, a, b, c, d]
    }

    /// Reads a piece: its header, and what is behind it.
    pub fn read(piece: &[u8]) -> std::result::Result<(Header, &[u8]), String> {
        let Some((&[kind, order, low, high, ref number @ ..], rest)) =
            piece.split_first_chunk::<HEADER>()
        else {
            return Err(format!("a piece of {} bytes", piece.len()));
        };
        let kind = match kind {
            0 => Kind::Credit,
            1 => Kind::First,
            2 => Kind::More,
            3 => Kind::Region,
            other => return Err(format!("a piece of kind {other}")),
        };
        let credits = u16::from_le_bytes([low, high]);
        Ok((Header { kind, order, credits, number: u32::from_le_bytes(*number) }, rest))
    }
}

/// A piece that has arrived, in its buffer.
#[derive(Clone, Copy)]
pub struct Arrived {
    /// Its header.
    pub header: Header,
    slot: usize,
    size: usize,
}

/// Buffers in the order in which they were posted, which is that of the messages that come to them
/// (`FI_ORDER_SAS`); and how much has come. Providers tell of them in any order: a long message may
/// take another round trip, and a short one behind it is whole before.
#[derive(Default)]
struct Posted(VecDeque<(usize, Option<usize>)>);

impl Posted {
    fn post(&mut self, slot: usize) {
        self.0.push_back((slot, None));
    }

    /// A message is whole.
    fn fill(&mut self, slot: usize, size: usize) {
        if let Some((_, filled)) = self.0.iter_mut().find(|(posted, _)| *posted == slot) {
            *filled = Some(size);
        }
    }

    /// The next message, when it is whole.
    fn next(&mut self) -> Option<(usize, usize)> {
        let (slot, filled) = *self.0.front()?;
        let size = filled?;
        self.0.pop_front();
        Some((slot, size))
    }
}

/// How long nothing has come.
struct Silence {
    received: u64,
    looked: Instant,
    lasts: Duration,
}

impl Silence {
    fn new() -> Silence {
        Silence { received: 0, looked: Instant::now(), lasts: Duration::ZERO }
    }

    /// Looks, when so much has come. Of the time in which nobody has looked only a moment counts:
    /// what a provider has not been asked for has not come, however long it has been there.
    fn look(&mut self, received: u64) -> Duration {
        let since = self.looked.elapsed().min(MOMENT_MAX);
        self.lasts = if received == self.received { self.lasts + since } else { Duration::ZERO };
        (self.received, self.looked) = (received, Instant::now());
        self.lasts
    }
}

/// How it ended.
#[derive(Clone, Debug)]
enum End {
    Closed,
    Dead(String),
    Malformed(String),
}

/// A connection's end.
pub struct Channel {
    endpoint: Endpoint,
    has_rma: bool,
    meeting: Meeting,
    /// This end's name.
    who: String,
    peer: Peer,
    hello: Hello,
    arrived: VecDeque<Arrived>,
    copied: VecDeque<usize>,
    unposted: Vec<usize>,
    posted: Posted,
    /// A piece that is written and that the provider did not take yet.
    unsent: Option<(usize, usize)>,
    credits: usize,
    owed: usize,
    sent: u64,
    received: u64,
    farewell: Option<u64>,
    failure: Option<String>,
    /// How long nothing has come since either of those, as far as this end has looked.
    silence: Silence,
    end: Option<End>,
    /// Something of what was taken to be sent never leaves.
    is_cut: bool,
    looks: u32,
}

impl Channel {
    /// Over an endpoint that knows its peer.
    pub fn new(
        endpoint: Endpoint,
        has_rma: bool,
        meeting: Meeting,
        who: String,
        peer: Peer,
        hello: Hello,
    ) -> Channel {
        Channel {
            who,
            has_rma: has_rma && endpoint.has_rma(),
            endpoint,
            meeting,
            peer,
            hello,
            arrived: VecDeque::with_capacity(WINDOW),
            copied: VecDeque::with_capacity(COPYING.len()),
            unposted: RECEIVING.collect(),
            posted: Posted::default(),
            unsent: None,
            credits: WINDOW,
            owed: 0,
            sent: 0,
            received: 0,
            farewell: None,
            failure: None,
            silence: Silence::new(),
            end: None,
            is_cut: false,
            looks: 0,
        }
    }

    /// Who is at the other end.
    pub fn peer(&self) -> &Peer {
        &self.peer
    }

    /// What this end is called.
    pub fn me(&self) -> &str {
        &self.who
    }

    /// What was said at the beginning.
    pub fn hello(&self) -> &Hello {
        &self.hello
    }

    /// Whether both ends can put and get.
    pub fn has_rma(&self) -> bool {
        self.has_rma
    }

    /// The endpoint, for its regions.
    pub fn endpoint(&mut self) -> &mut Endpoint {
        &mut self.endpoint
    }

    /// One step of getting to know each other by libfabric's way, which opens the provider's
    /// connection: true when a piece has come and gone. One end begins, and the other answers:
    /// where both begin, the tcp provider opens two connections and takes back one of them, which
    /// at times takes seconds.
    pub fn greet(&mut self, begins: bool) -> Result<bool> {
        let may_send = begins || self.received > 0;
        if may_send && self.sent == 0 && self.unsent.is_none() && self.unposted.is_empty() {
            self.send(Kind::Credit, 0, |_| 0)?;
        }
        self.progress()?;
        if let Some(end) = &self.end {
            return Err(self.error(end));
        }
        let is_done = self.sent > 0 && self.received > 0 && self.is_flushed();
        if is_done {
            self.endpoint.hide();
        }
        Ok(is_done)
    }

    /// Lets things get on: what has arrived is queued, what is owed is paid.
    pub fn progress(&mut self) -> Result<()> {
        if self.end.is_some() {
            return Ok(());
        }
        while let Some(slot) = self.unposted.pop() {
            if !matches!(self.endpoint.receive(slot), Ok(true)) {
                self.unposted.push(slot);
                break;
            }
            self.posted.post(slot);
        }
        let is_idle = !self.poll();
        self.push();
        if self.owed >= WINDOW / 2 {
            self.send(Kind::Credit, 0, |_| 0)?;
        }
        self.looks = if is_idle { self.looks + 1 } else { 0 };
        if self.looks >= LOOKS || self.farewell.is_some() || self.failure.is_some() {
            self.look();
        }
        Ok(())
    }

    /// Takes in what the provider tells; whether that was anything.
    fn poll(&mut self) -> bool {
        let mut has_told = false;
        loop {
            match self.endpoint.poll() {
                Ok(None) => return has_told,
                Ok(Some(done)) => self.take_in(done),
                Err(failure) => {
                    self.fail(failure.to_string());
                    return has_told;
                }
            }
            has_told = true;
        }
    }

    fn take_in(&mut self, done: Done) {
        match done {
            Done::Received(slot, size) => {
                self.posted.fill(slot, size);
                while let Some((slot, size)) = self.posted.next() {
                    if let Err(what) = self.read_piece(slot, size) {
                        self.end.get_or_insert(End::Malformed(what));
                    }
                    self.received += 1;
                }
            }
            Done::Sent => {}
            Done::Copied(slot) => self.copied.push_back(slot),
            // What comes behind a message that is lost is not to be taken for the next one.
            Done::Failed(failure) => self.fail(failure.to_string()),
        }
    }

    fn read_piece(&mut self, slot: usize, size: usize) -> std::result::Result<(), String> {
        let piece = self.endpoint.buffer(slot).get(..size).ok_or("a piece that is too long")?;
        let (header, _) = Header::read(piece)?;
        if header.order != self.received as u8 {
            // A provider that connects anew by itself (tcp, rxm) does not tell of what was under
            // way; and nothing that comes behind it is to be taken for it.
            let evidence = format!("piece {} has not come, but a later one", self.received);
            self.end.get_or_insert(End::Dead(evidence));
            return Ok(());
        }
        self.credits += usize::from(header.credits);
        if self.credits > WINDOW {
            return Err(format!("{} credits that it does not owe", header.credits));
        }
        if header.kind == Kind::Credit {
            self.unposted.push(slot);
        } else if self.arrived.len() == WINDOW {
            return Err("more pieces than it has credits".to_owned());
        } else {
            self.arrived.push_back(Arrived { header, slot, size });
        }
        Ok(())
    }

    /// Something of libfabric failed: the meeting tells whether the peer has gone.
    fn fail(&mut self, what: String) {
        if self.failure.is_none() {
            self.silence = Silence::new();
            self.failure = Some(what);
        }
    }

    /// Looks at the meeting: whether the peer has said farewell, or is gone.
    fn look(&mut self) {
        self.looks = 0;
        let is_closed = self.meeting.listen();
        if self.farewell.is_none() {
            match meeting::read_farewell(self.meeting.heard()) {
                Ok(Some(count)) => {
                    self.silence = Silence::new();
                    self.farewell = Some(count);
                }
                Ok(None) => {}
                Err(what) => self.end = Some(End::Malformed(what)),
            }
        }
        let is_late = self.silence.look(self.received) > OFI_LINGER;
        let failure = self.failure.as_ref();
        self.end = match (&self.end, self.farewell, is_closed) {
            (Some(end), ..) => Some(end.clone()),
            (None, Some(count), _) if self.received >= count => Some(End::Closed),
            (None, Some(count), _) if is_late => {
                let missing = count - self.received;
                Some(End::Dead(format!("{missing} of its last messages have not come")))
            }
            (None, Some(_), _) => None,
            (None, None, true) => {
                Some(End::Dead("its connection has ended without a farewell".to_owned()))
            }
            (None, None, false) => failure.filter(|_| is_late).map(|what| End::Dead(what.clone())),
        };
        if matches!(self.end, Some(End::Closed)) {
            // What it took before it closed has left, and nobody asks for that any more.
            self.poll();
        }
    }

    fn error(&self, end: &End) -> Error {
        let peer = self.peer.name.clone();
        match end {
            End::Closed => Error::Closed { peer },
            End::Dead(evidence) => Error::Dead { peer, evidence: evidence.clone() },
            End::Malformed(what) => Error::Malformed { peer, what: what.clone() },
        }
    }

    /// The connection's end, when nothing more is to be had from it; else to be tried again.
    pub fn nothing(&self) -> Error {
        self.end.as_ref().map_or(Error::WouldBlock, |end| self.error(end))
    }

    /// Whether it has ended.
    pub fn has_ended(&self) -> bool {
        self.end.is_some()
    }

    /// What the peer sent is wrong: the connection ends.
    pub fn malformed(&mut self, what: String) -> Error {
        let end = End::Malformed(what);
        let error = self.error(&end);
        self.end = Some(end);
        error
    }

    /// What was taken to be sent does not leave any more: the end is no farewell.
    pub fn cut(&mut self) {
        self.is_cut = true;
    }

    /// Whether a piece can be sent now.
    pub fn has_room(&self) -> bool {
        self.credits > 0 && self.sender().is_some()
    }

    fn is_open(&self) -> bool {
        self.end.is_none() && self.farewell.is_none() && self.failure.is_none()
    }

    /// The buffer for the next piece.
    fn sender(&self) -> Option<usize> {
        let is_open = self.is_open() && self.unsent.is_none();
        self.endpoint.free(SENDING).filter(|_| is_open)
    }

    /// Sends a piece which `fill` writes, and says how long it is; false if there is no room now,
    /// and then `fill` was not called.
    ///
    /// # Errors
    /// How the connection ended.
    pub fn send(
        &mut self,
        kind: Kind,
        number: u32,
        fill: impl FnOnce(&mut [u8]) -> usize,
    ) -> Result<bool> {
        if let Some(end) = &self.end {
            return Err(self.error(end));
        }
        let is_free = kind == Kind::Credit;
        if self.farewell.is_some() && !is_free {
            return Err(Error::Closed { peer: self.peer.name.clone() });
        }
        let Some(slot) = self.sender().filter(|_| is_free || self.credits > 0) else {
            return Ok(false);
        };
        let owed = u16::try_from(self.owed).expect("a window");
        let (header, body) = self.endpoint.buffer(slot).split_at_mut(HEADER);
        // Nothing waits before it.
        let order = self.sent as u8;
        header.copy_from_slice(&Header { kind, order, credits: owed, number }.write());
        self.unsent = Some((slot, HEADER + fill(body)));
        self.owed = 0;
        self.credits -= usize::from(!is_free);
        self.push();
        Ok(true)
    }

    /// Gives the provider the piece that it did not take before.
    fn push(&mut self) {
        let Some((slot, size)) = self.unsent else { return };
        match self.endpoint.send(slot, size) {
            Ok(true) => {
                self.sent += 1;
                self.unsent = None;
            }
            Ok(false) => {}
            Err(failure) => self.fail(failure.to_string()),
        }
    }

    /// The first piece that has arrived.
    pub fn first(&self) -> Option<Arrived> {
        self.arrived.front().copied()
    }

    /// The bytes behind a piece's header.
    pub fn body(&mut self, arrived: Arrived) -> &[u8] {
        &self.endpoint.buffer(arrived.slot)[HEADER..arrived.size]
    }

    /// Gives the first piece's buffer back.
    pub fn release(&mut self) {
        let arrived = self.arrived.pop_front().expect("it was looked at");
        self.unposted.push(arrived.slot);
        self.owed += 1;
    }

    /// A buffer for a put or get.
    pub fn free_slot(&self) -> Option<usize> {
        self.endpoint.free(COPYING).filter(|_| self.is_open())
    }

    /// The next buffer whose put or get has ended.
    pub fn copied(&mut self) -> Option<usize> {
        self.copied.pop_front()
    }

    /// Whether all that was sent has left.
    pub fn is_flushed(&self) -> bool {
        self.unsent.is_none() && !self.endpoint.is_busy()
    }

    /// A wait, of which each step is a [`Channel::pause`].
    pub fn patience(&self, deadline: Deadline, what: &'static str) -> Patience {
        Patience { deadline, what, nap: Duration::from_micros(20), start: Instant::now() }
    }

    /// One step of a wait: looks again, or sleeps for a while.
    pub fn pause(&mut self, patience: &mut Patience) -> Result<()> {
        let Some(left) = patience.deadline.left() else {
            return Err(patience.deadline.missed(&self.who, &self.peer.name, patience.what));
        };
        if patience.start.elapsed() < SPIN {
            std::thread::yield_now();
            return Ok(());
        }
        let descriptor = self.endpoint.waitable();
        if descriptor.is_none() && self.endpoint.has_descriptor() {
            return Ok(());
        }
        let nap = if descriptor.is_some() && self.is_open() { left } else { patience.nap };
        patience.nap = (patience.nap * 2).min(NAP_MAX);
        let time = Timespec::try_from(nap.min(left)).expect("less than a century");
        let meeting = self.meeting.socket();
        // A meeting that has ended would wake us forever.
        let mut all: Vec<PollFd<'_>> = Vec::with_capacity(2);
        all.extend(self.is_open().then(|| PollFd::from_borrowed_fd(meeting, PollFlags::IN)));
        all.extend(descriptor.map(|wait| PollFd::from_borrowed_fd(wait, PollFlags::IN)));
        match poll(&mut all, Some(&time)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(Error::io("waiting", error)),
        }
        self.look();
        Ok(())
    }
}

/// How a wait has gone so far.
pub struct Patience {
    deadline: Deadline,
    what: &'static str,
    nap: Duration,
    start: Instant,
}

impl Drop for Channel {
    fn drop(&mut self) {
        if self.received == 0 {
            return; // Nobody has been there.
        }
        let mut patience = self.patience(Deadline::after(OFI_LINGER), "the end");
        while self.is_open() && !self.is_flushed() {
            if self.progress().and_then(|()| self.pause(&mut patience)).is_err() {
                break;
            }
        }
        // Without a farewell the other end knows that something is missing.
        if self.is_open() && self.is_flushed() && !self.is_cut {
            // If that fails, then the peer has gone as well.
            let _ = self.meeting.say(&meeting::farewell(self.sent));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_in_which_nobody_looks_is_no_silence() {
        let mut silence = Silence::new();
        silence.look(1);
        silence.looked -= Duration::from_secs(3600);
        assert!(silence.look(1) <= MOMENT_MAX);
        silence.looked -= Duration::from_secs(3600);
        assert!(silence.look(1) > MOMENT_MAX, "but each look counts");
        assert_eq!(silence.look(2), Duration::ZERO, "something has come");
    }

    #[test]
    fn messages_are_taken_in_the_order_in_which_their_buffers_were_posted() {
        let mut posted = Posted::default();
        [7, 3, 9, 5].into_iter().for_each(|slot| posted.post(slot));
        posted.fill(3, 30);
        posted.fill(9, 90);
        assert_eq!(posted.next(), None, "the first one is still on its way");
        posted.fill(7, 70);
        let taken: Vec<_> = std::iter::from_fn(|| posted.next()).collect();
        assert_eq!(taken, [(7, 70), (3, 30), (9, 90)]);
        posted.post(7);
        posted.fill(7, 71);
        assert_eq!(posted.next(), None, "one is missing before it");
    }
}
