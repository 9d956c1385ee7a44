//! One end of a connection through shared memory: what both directions, waiting and the end of it
//! have in common. Sending is in `send.rs`, receiving in `receive.rs`.

use super::receive::Incoming;
use super::ring::{Consumer, ENTRIES, Garbage, Producer, Shared, announce, wakes};
use super::segment::{self, ASLEEP, CLOSED, PLACE, Side};
use super::send::Outgoing;
use super::socket::{Heard, Line};
use super::sys::{self, Mapped};
use crate::deadline::Deadline;
use crate::error::{Error, Result};
use crate::pipeline::plan::Planner;
use crate::processors;
use crate::strategy::Ready;
use crate::transport::{Hello, Peer};
use crate::wait::{Sleeper, Waiter};
use rustix::event::PollFlags;
use rustix::thread::{futex, sched_getcpu};
use std::cell::Cell;
use std::hash::{BuildHasher, RandomState};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

/// What a side may sleep for.
pub(super) const ARRIVAL: u32 = 1;
pub(super) const ROOM: u32 = 2;
/// It sleeps in poll(2), so it is woken over the socket.
const POLL: u32 = 4;

/// How long a sleep lasts at most before the socket is looked at, which shows a peer's death: half
/// of the 100 ms within which it has to be known.
const NAP: Duration = Duration::from_millis(50);

/// Looks in vain after which the socket is looked at, by those who never wait.
const LOOKS: u32 = 256;

/// Messages sent after which the socket is looked at, by those who never receive.
pub(super) const SENDS: u32 = 64;

/// What who receives waits for, for people.
pub(super) const MESSAGE: &str = "a message";

/// How a connection has ended.
#[derive(Clone, Debug)]
pub(super) enum End {
    Closed,
    Dead(&'static str),
    Malformed(String),
}

/// One end of a connection, to be used by one thread at a time.
///
/// Its inherent methods are what the strategies are made of, without a call through a pointer on
/// the way of a short message: [`Link::try_fill`], [`Link::try_take`], [`Link::send`],
/// [`Link::receive`], [`Link::wait`].
pub struct Link {
    pub(super) out: Producer<Shared>,
    pub(super) inn: Consumer<Shared>,
    pub(super) segment: Arc<Mapped>,
    pub(super) side: Side,
    line: Arc<Line>,
    pub(super) peer: Peer,
    pub(super) hello: Hello,
    /// Who waits here, for people.
    who: String,
    pub(super) planner: Box<dyn Planner>,
    pub(super) outgoing: Outgoing,
    pub(super) incoming: Incoming,
    end: Option<End>,
    /// The number of records that can have been sent before the end.
    last: Option<u64>,
    /// Whether somebody polls the socket for arrivals.
    is_polled: Cell<bool>,
    /// The peer was asked to ring, and may have done so.
    is_armed: bool,
    /// Whether the peer may be believed not to change what it has sent: it runs as the same user,
    /// who could as well write into this process.
    pub(super) is_trusted: bool,
    pub(super) waiter: Waiter,
    looks: u32,
    /// Looks at the connection by those who send since a message was received.
    pub(super) sends: u32,
    /// Long messages that were not answered, as far as that tells a stream (`send.rs`).
    pub(super) unanswered: u32,
    /// The peer's memory, where the kernel lets it be read.
    pub(super) memory: Option<PeerMemory>,
    /// What the peer reads to see whether it reads the right process.
    _proof: Box<AtomicU64>,
    /// The process whose memory that is.
    forks: u32,
}

/// The memory of a process that showed a word of it.
#[derive(Clone, Copy)]
pub(super) struct PeerMemory {
    pid: u32,
    /// Where the word stands, and which it is.
    proof: (u64, u64),
}

impl PeerMemory {
    /// Reads all of `to` from an address; false where that cannot be, as of a process that has
    /// ended. Another one of its number, which may have followed it, does not have the word there:
    /// both are read in one call, so of one process.
    pub(super) fn read(&self, address: u64, to: &mut [u8]) -> bool {
        let (mut word, mut done) = ([0; 8], 0);
        while done < to.len() {
            let here = address.wrapping_add(done as u64);
            let parts = [(self.proof.0, &mut word[..]), (here, &mut to[done..])];
            match sys::read_memory(self.pid, parts) {
                Ok(count) if count > word.len() => done += count - word.len(),
                _ => return false,
            }
            if u64::from_ne_bytes(word) != self.proof.1 {
                return false;
            }
        }
        true
    }
}

impl Link {
    /// An end over a segment and the socket that came with it.
    pub(super) fn new(
        (segment, side): (Arc<Mapped>, Side),
        socket: OwnedFd,
        (peer, who): (Peer, String),
        hello: Hello,
        planner: Box<dyn Planner>,
    ) -> Link {
        let proof = Box::new(AtomicU64::new(RandomState::new().hash_one(&who)));
        let at = &raw const *proof as u64;
        segment.word64(side.words() + segment::PROOF_AT).store(at, Ordering::Relaxed);
        let value = proof.load(Ordering::Relaxed);
        segment.word64(side.words() + segment::PROOF).store(value, Ordering::Release);
        let uid = rustix::process::geteuid().as_raw();
        Link {
            out: Producer::new(segment::direction(&segment, hello.lane, side)),
            inn: Consumer::new(segment::direction(&segment, hello.lane, side.other())),
            side,
            line: Arc::new(Line::new(socket)),
            who,
            planner,
            outgoing: Outgoing::default(),
            incoming: Incoming::default(),
            end: None,
            last: None,
            is_polled: Cell::new(false),
            is_armed: false,
            is_trusted: peer.uid == Some(uid),
            waiter: Waiter::default(),
            looks: 0,
            sends: 0,
            unanswered: 0,
            memory: None,
            _proof: proof,
            forks: sys::forks(),
            segment,
            peer,
            hello,
        }
    }

    /// Sees whether the kernel lets this side read the peer's memory, and tells the peer.
    pub(super) fn probe(&mut self) {
        let theirs = self.side.other().words();
        let at = self.segment.word64(theirs + segment::PROOF_AT).load(Ordering::Relaxed);
        let value = self.segment.word64(theirs + segment::PROOF).load(Ordering::Acquire);
        let memory = self.peer.pid.map(|pid| PeerMemory { pid, proof: (at, value) });
        self.memory = memory.filter(|memory| memory.read(at, &mut [0; 8]));
        if self.memory.is_some() {
            self.own(segment::READS).store(1, Ordering::Release);
        }
    }

    /// Whether the peer can read what stands in this process's memory. Of a fork of the one that
    /// has connected it would read the parent's, where the word is the same.
    pub(super) fn is_read(&self) -> bool {
        self.peers(segment::READS).load(Ordering::Acquire) == 1 && self.forks == sys::forks()
    }

    #[inline]
    pub(super) fn own(&self, word: usize) -> &AtomicU32 {
        self.segment.word32(self.side.words() + word)
    }

    #[inline]
    pub(super) fn peers(&self, word: usize) -> &AtomicU32 {
        self.segment.word32(self.side.other().words() + word)
    }

    /// Who is at the other end.
    pub fn peer(&self) -> &Peer {
        &self.peer
    }

    /// What this end is called.
    pub fn me(&self) -> &str {
        &self.who
    }

    /// What the connection is for.
    pub fn hello(&self) -> &Hello {
        &self.hello
    }

    /// Has others decide how messages move.
    pub fn set_planner(&mut self, planner: Box<dyn Planner>) {
        self.planner = planner;
    }

    /// The socket: readable when something has arrived, if [`Link::try_take`] was told before that
    /// nothing has.
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.is_polled.set(true);
        self.line.descriptor()
    }

    /// Whether something is there to be received, or room for what found none. Nobody is told by
    /// the socket until [`Link::descriptor`] is asked for again.
    pub fn glance(&mut self) -> bool {
        self.is_polled.set(false);
        let is_rung = std::mem::take(&mut self.is_armed)
            && self.own(ASLEEP).swap(0, Ordering::Relaxed) & POLL == 0;
        if is_rung {
            // Or the socket would go on telling of it.
            self.look();
        }
        let has_room = self.outgoing.is_blocked && self.has_room();
        let is_back = self.returned();
        has_room || is_back || self.is_ready(Ready::Receive)
    }

    /// The socket and what comes over it, for who exchanges notes.
    pub(super) fn line(&self) -> &Arc<Line> {
        &self.line
    }

    /// Wakes the peer if it sleeps for this.
    #[inline]
    pub(super) fn ring(&self, event: u32) {
        if let Some(events) = wakes(self.peers(ASLEEP), event) {
            self.wake(events);
        }
    }

    /// As [`Link::ring`], but who goes to sleep at this moment may be missed: for all but the last
    /// of several packets, because a fence waits until the packet's bytes are written.
    #[inline]
    pub(super) fn nudge(&self, event: u32) {
        if self.peers(ASLEEP).load(Ordering::Relaxed) & event != 0 {
            self.ring(event);
        }
    }

    #[cold]
    fn wake(&self, events: u32) {
        if events & POLL == 0 {
            // Nobody may be asleep any more, which is fine.
            let _ = futex::wake(self.peers(ASLEEP), futex::Flags::empty(), 1);
        } else {
            self.line.ring();
        }
    }

    /// Before a message is sent: whether the connection is there, and now and then more closely,
    /// unless somebody polls the socket: what tells of an arrival is not to be taken from there.
    #[inline]
    pub(super) fn check(&mut self) -> Result<()> {
        self.sends = self.sends.wrapping_add(1);
        let is_closed = self.peers(CLOSED).load(Ordering::Relaxed) != 0;
        let is_due = self.sends.is_multiple_of(SENDS) && !self.is_polled.get();
        if is_closed || self.end.is_some() || is_due {
            return self.check_closely();
        }
        Ok(())
    }

    #[cold]
    fn check_closely(&mut self) -> Result<()> {
        self.look();
        if self.peers(CLOSED).load(Ordering::Acquire) != 0 && self.end.is_none() {
            return Err(self.error(&End::Closed));
        }
        self.live()
    }

    /// How the connection has ended, if it has.
    pub(super) fn live(&self) -> Result<()> {
        self.end.as_ref().map_or(Ok(()), |end| Err(self.error(end)))
    }

    fn error(&self, end: &End) -> Error {
        let peer = self.peer.name.clone();
        match end {
            End::Closed => Error::Closed { peer },
            End::Dead(evidence) => Error::Dead { peer, evidence: (*evidence).to_owned() },
            End::Malformed(what) => Error::Malformed { peer, what: what.clone() },
        }
    }

    /// The peer is gone.
    #[cold]
    pub(super) fn dead(&mut self, evidence: &'static str) -> Error {
        self.end.get_or_insert(End::Dead(evidence));
        self.error(&End::Dead(evidence))
    }

    /// The peer breaks the rules, so the connection ends.
    #[cold]
    pub(super) fn malformed(&mut self, what: impl Into<String>) -> Error {
        let end = End::Malformed(what.into());
        let error = self.error(&end);
        self.end.get_or_insert(end);
        // So nothing more is received by a way that does not ask how it ended.
        self.is_trusted = false;
        // The peer's next look at the socket shows it.
        self.line.hang_up();
        error
    }

    #[cold]
    pub(super) fn garbage(&mut self, Garbage(what): Garbage) -> Error {
        self.malformed(what)
    }

    /// Looks at the socket: what it says, and whether the peer is still there.
    fn look(&mut self) {
        if self.end.is_some() {
            return;
        }
        match self.line.hear() {
            Heard::Nothing => {}
            Heard::Malformed(what) => drop(self.malformed(what)),
            Heard::End if self.peers(CLOSED).load(Ordering::Acquire) != 0 => {
                self.end = Some(End::Closed);
            }
            Heard::End => {
                self.end = Some(End::Dead("its end of the socket is closed, without a farewell"));
            }
        }
    }

    /// What the peer is asked to ring for.
    fn asks(&self) -> u32 {
        self.own(ASLEEP).load(Ordering::Relaxed)
    }

    /// Looks whether the peer is still there; what tells of an arrival, if somebody polls the
    /// socket, is not taken from there.
    fn look_after_nap(&mut self) {
        if !self.is_polled.get() || self.line.is_ready(PollFlags::RDHUP, Duration::ZERO) {
            self.look();
        }
    }

    /// Nothing has arrived: why, or nothing to say if it has meanwhile.
    #[cold]
    pub(super) fn nothing(&mut self) -> Result<()> {
        if !self.outgoing.is_idle() {
            self.pump()?;
        }
        self.looks = self.looks.wrapping_add(1);
        let is_closed = self.peers(CLOSED).load(Ordering::Acquire) != 0;
        if is_closed || self.end.is_some() || self.looks.is_multiple_of(LOOKS) {
            self.look();
            if is_closed {
                self.end.get_or_insert(End::Closed);
            }
            // What was sent before the end is received before it.
            if self.is_over()
                && matches!(self.inn.peek(), Ok(Some(_)))
                && !matches!(self.end, Some(End::Malformed(_)))
            {
                return self.left();
            }
            if self.incoming.is_active() && matches!(self.end, Some(End::Closed)) {
                self.end = Some(End::Dead("it has left in the middle of a message"));
            }
            self.live()?;
        }
        let events = if self.outgoing.is_idle() { ARRIVAL } else { ARRIVAL | ROOM } | POLL;
        if self.is_polled.get() && self.asks() & events != events {
            self.look();
            announce(self.own(ASLEEP), events);
            self.is_armed = true;
            // Room that there was before is not told of.
            if !self.outgoing.is_idle() {
                self.pump()?;
            }
            if self.end.is_some() || matches!(self.inn.peek(), Ok(Some(_)) | Err(_)) {
                return Ok(());
            }
        }
        Err(Error::WouldBlock)
    }

    /// Something is there to be received: once the connection has ended no more than a ring holds,
    /// or a peer that goes on would keep a try for ever.
    fn left(&mut self) -> Result<()> {
        if self.end.is_some() {
            let most = ENTRIES as u64;
            let last = *self.last.get_or_insert(self.inn.taken() + most);
            if self.inn.taken() >= last {
                self.end = None;
                return Err(self.malformed("it goes on after its end"));
            }
        }
        Ok(())
    }

    /// Waits for something to arrive, or for room; it may return early.
    ///
    /// # Errors
    /// [`Error::Deadline`].
    pub fn wait(&mut self, ready: Ready, deadline: Deadline) -> Result<()> {
        let what = match ready {
            Ready::Receive => MESSAGE,
            Ready::Send => "room in the ring",
        };
        let events = match ready {
            Ready::Receive if self.outgoing.is_idle() => ARRIVAL,
            Ready::Receive => ARRIVAL | ROOM,
            Ready::Send => ROOM,
        };
        self.wait_for(&|link| link.is_ready(ready), (events, what), Duration::ZERO, deadline)
    }

    /// Waits until `is_done`, which may take so long, and looks whenever one of `events` happens.
    pub(super) fn wait_for(
        &mut self,
        is_done: &dyn Fn(&mut Link) -> bool,
        (events, what): (u32, &str),
        takes: Duration,
        deadline: Deadline,
    ) -> Result<()> {
        let mut waiter = std::mem::take(&mut self.waiter);
        let in_time = waiter.wait(&mut Asleep { link: self, is_done, events, takes }, deadline);
        self.waiter = waiter;
        if in_time? { Ok(()) } else { Err(self.late(what, deadline)) }
    }

    /// Nothing of what is waited for has come in time.
    pub(super) fn late(&self, what: &str, deadline: Deadline) -> Error {
        let whom = match self.peer.pid {
            Some(pid) => format!("{} (process {pid})", self.peer.name),
            None => self.peer.name.clone(),
        };
        deadline.missed(&self.who, whom, what)
    }

    fn is_ready(&mut self, ready: Ready) -> bool {
        let is_moved = self.outgoing.is_idle() || !matches!(self.pump(), Ok(false));
        let is_ready = match ready {
            Ready::Receive => self.incoming.is_kept() || !matches!(self.inn.peek(), Ok(None)),
            Ready::Send => is_moved && self.has_room(),
        };
        is_ready || self.is_over()
    }

    /// Whether the connection has ended, as far as that shows.
    pub(super) fn is_over(&self) -> bool {
        self.end.is_some() || self.peers(CLOSED).load(Ordering::Relaxed) != 0
    }
}

/// A link whose thread waits.
struct Asleep<'a> {
    link: &'a mut Link,
    is_done: &'a dyn Fn(&mut Link) -> bool,
    events: u32,
    takes: Duration,
}

impl Sleeper for Asleep<'_> {
    fn is_ready(&mut self) -> bool {
        (self.is_done)(self.link)
    }

    fn takes(&self) -> Duration {
        self.takes
    }

    fn part(&mut self) {
        if self.link.peers(PLACE).load(Ordering::Relaxed) == place() {
            processors::leave();
            // If it is served now it does not sleep again, and the peer is not to follow it.
            self.link.own(PLACE).store(place(), Ordering::Relaxed);
        }
    }

    fn sleep(&mut self, most: Duration) -> Result<()> {
        let (events, asked) = (self.events, self.link.asks());
        if asked & POLL != 0 {
            self.doze(events | asked, most.min(NAP));
            return Ok(());
        }
        self.link.own(PLACE).store(place(), Ordering::Relaxed);
        announce(self.link.own(ASLEEP), events);
        if !self.is_ready() {
            let time = most.min(NAP).try_into().expect("50 ms at most");
            let flags = futex::Flags::empty();
            // Woken, interrupted, changed before: in all cases look again.
            let woken = futex::wait(self.link.own(ASLEEP), flags, events, Some(&time));
            if woken == Err(rustix::io::Errno::TIMEDOUT) {
                self.link.look_after_nap();
            }
        }
        self.link.own(ASLEEP).store(0, Ordering::Relaxed);
        Ok(())
    }
}

impl Asleep<'_> {
    /// Sleeps where somebody will poll the socket: what rings stays there to tell of an arrival.
    fn doze(&mut self, events: u32, most: Duration) {
        announce(self.link.own(ASLEEP), events);
        if !self.is_ready() && self.link.line.is_ready(PollFlags::IN, most) {
            // It has rung, so nobody need ring again before it is looked at.
            self.link.own(ASLEEP).store(0, Ordering::Relaxed);
        }
    }
}

/// One more than the number of the processor on which this runs.
fn place() -> u32 {
    sched_getcpu() as u32 + 1
}

impl Drop for Link {
    fn drop(&mut self) {
        // Who leaves in the middle of a message has not left in order, nor has who could not get
        // what was sent to him.
        let is_sent = self.outgoing.is_idle() || self.pump().is_ok_and(|is_sent| is_sent);
        if self.withdraw() && is_sent && matches!(self.end, None | Some(End::Closed)) {
            self.own(CLOSED).store(1, Ordering::Release);
        }
        self.ring(ARRIVAL | ROOM);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_read_of_the_process_that_shows_its_word_and_of_no_other() {
        let (word, message) = (0x1234_5678_9abc_u64, [7_u8; 10_000]);
        let (word_at, message_at) = (&raw const word as u64, &raw const message as u64);
        let read = |proof, from| {
            let mut to = vec![0; message.len()];
            let memory = PeerMemory { pid: std::process::id(), proof };
            memory.read(from, &mut to).then_some(to)
        };
        assert_eq!(read((word_at, word), message_at), Some(message.to_vec()));
        assert_eq!(read((word_at, word + 1), message_at), None, "another word");
        assert_eq!(read((8, word), message_at), None, "nothing is where the word was");
        assert_eq!(read((word_at, word), 8), None, "nothing is where the message was");
    }
}
