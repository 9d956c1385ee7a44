//! One end of a connection over several rails: a byte stream.
//!
//! It gets on when it is used or waited for; its descriptor tells when that is worth it: when
//! something comes on any rail, when a rail has room for what waits, and when one has been silent
//! for too long. What came while it sent is on no rail any more: there the timer calls the reader.
//! It has no thread of its own: what happens to a rail while nobody looks is repaired when somebody
//! does.

use super::Watcher;
use super::rail::Rail;
use super::receive::Receiver;
use super::send::Sender;
use crate::deadline::Deadline;
use crate::epoll;
use crate::error::{Error, Result};
use crate::protocol::Time;
use crate::strategy::emulated::Framed;
use crate::strategy::{Datagram, Ready, Stream, Wait};
use crate::transport::socket::{is_ready, timespec};
use crate::transport::{Adapter, Hello, Lane, Peer};
use muster_base::limits::{RAILS_LINGER, RAILS_LINGER_MAX, RAILS_WINDOW, RAILS_WINDOW_SYSTEM};
use rustix::event::PollFlags;
use rustix::io::Errno;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, timerfd_create, timerfd_settime,
};
use std::io::IoSlice;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

/// How often the end of a connection looks whether the kernel has got rid of what was sent.
const LOOK: Duration = Duration::from_millis(1);

/// A timer that is to ring at once takes no less.
const SOONEST: Duration = Duration::from_nanos(1);

/// Turns of reading after a rail has ended: what may lie in the others before the stream's end is a
/// window, and a turn that leaves something reads a sixteenth of it or more.
const TURNS: usize = 16;

/// Several rails, as one stream.
pub struct Joined {
    rails: Vec<Rail>,
    sender: Sender,
    receiver: Receiver,
    peer: Peer,
    /// Who waits, in errors.
    me: String,
    /// All rails, and the timer.
    watched: OwnedFd,
    timer: OwnedFd,
    armed: Option<Time>,
    /// The timer calls whoever reads.
    is_calling: bool,
    /// The reader knows that no more comes.
    has_read_end: bool,
    clock: Instant,
    /// The rails that are gone and what became of them, and of how many the watcher knows.
    gone: Vec<(usize, String)>,
    told: usize,
    /// What the peer said that is no message.
    malformed: Option<String>,
    watcher: Watcher,
}

impl Joined {
    /// Over these rails, of which each has been joined.
    ///
    /// # Errors
    /// [`Error::Exhausted`].
    pub fn new(
        rails: Vec<Rail>,
        peer: Peer,
        me: String,
        lane: Lane,
        watcher: Watcher,
    ) -> Result<Joined> {
        let failed = |errno: Errno| Error::io(format!("joining rails with {peer}"), errno);
        let window = match lane {
            Lane::System => RAILS_WINDOW_SYSTEM,
            Lane::Bulk => RAILS_WINDOW,
        };
        let watched = epoll::create(epoll::CreateFlags::CLOEXEC).map_err(failed)?;
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        let timer = timerfd_create(TimerfdClockId::Monotonic, flags).map_err(failed)?;
        let data = epoll::EventData::new_u64(0);
        epoll::add(&watched, &timer, data, epoll::EventFlags::IN).map_err(failed)?;
        for rail in &rails {
            let socket = rail.stream.descriptor().expect("a rail is a socket");
            epoll::add(&watched, socket, data, epoll::EventFlags::IN).map_err(failed)?;
        }
        let numbers = rails.iter().map(|rail| rail.number + 1).max().unwrap_or_default();
        let mut sender = Sender::new(numbers, window);
        let missing = (0..numbers).filter(|&number| rails.iter().all(|rail| rail.number != number));
        missing.for_each(|number| sender.lost(number));
        Ok(Joined {
            rails,
            sender,
            receiver: Receiver::new(numbers, window),
            peer,
            me,
            watched,
            timer,
            armed: None,
            is_calling: false,
            has_read_end: false,
            clock: Instant::now(),
            gone: Vec::new(),
            told: 0,
            malformed: None,
            watcher,
        })
    }

    fn now(&self) -> Time {
        Time(0) + self.clock.elapsed()
    }

    /// Takes what has come, and judges the rails by it: none is silent whose acknowledgement is
    /// there, and none is missed after the end, which may have come over another.
    fn take_in(&mut self) {
        for _ in 0..TURNS {
            if !self.read_rails() || self.told == self.gone.len() {
                break;
            }
        }
        let is_missed = !self.receiver.is_whole();
        for (_, text) in self.gone[self.told..].iter().filter(|_| is_missed) {
            let left = self.rails.iter().filter(|rail| !rail.is_deaf()).count();
            (self.watcher)(&format!("a rail of {} is gone, {left} left: {text}", self.peer));
        }
        self.told = self.gone.len();
        if self.is_overdue() {
            self.doubt(self.now());
        }
    }

    /// Reads each rail once; whether there may be more on one.
    fn read_rails(&mut self) -> bool {
        let (now, mut has_more) = (self.now(), false);
        let mut index = 0;
        while let Some(rail) = self.rails.get_mut(index) {
            match rail.receive(&mut self.sender, &mut self.receiver, now) {
                Ok(is_empty) => {
                    has_more |= !is_empty;
                    index += 1;
                }
                Err(Error::Malformed { what, .. }) => {
                    self.malformed = Some(what);
                    self.rails.clear();
                    return false;
                }
                Err(error) => self.lose(index, &error),
            }
        }
        has_more
    }

    /// Whether a rail is to be doubted if nothing has come.
    fn is_overdue(&self) -> bool {
        self.armed.is_some_and(|armed| armed <= self.now())
    }

    /// Whether rails are to be judged before the stream goes on.
    fn is_pressed(&self) -> bool {
        self.told < self.gone.len() || self.is_overdue()
    }

    /// A rail is gone.
    fn lose(&mut self, index: usize, error: &Error) {
        let rail = self.rails.remove(index);
        if let Some(socket) = rail.stream.descriptor() {
            epoll::delete(&self.watched, socket).expect("it was added");
        }
        self.sender.lost(rail.number);
        self.receiver.lost(rail.number);
        self.note(rail.number, &rail.name, error);
    }

    fn note(&mut self, number: usize, name: &str, error: &Error) {
        // The first reason is the one.
        if self.gone.iter().all(|(gone, _)| *gone != number) {
            self.gone.push((number, format!("{name}: {error}")));
        }
    }

    /// Gives pieces and acknowledgements to whatever rail has room.
    fn give_out(&mut self, is_idle: bool) {
        let now = self.now();
        self.sender.age(now);
        let mut is_moving = true;
        while is_moving {
            is_moving = false;
            for index in 0..self.rails.len() {
                is_moving |= self.give_to(index, is_idle, now);
            }
        }
        self.watch();
        if self.armed.is_none()
            && let Some(alarm) = self.sender.alarm()
        {
            self.arm(alarm, now);
        }
    }

    /// Gives a rail all that it takes; whether that was a piece.
    fn give_to(&mut self, index: usize, is_idle: bool, now: Time) -> bool {
        let mut is_given = false;
        loop {
            let Joined { rails, sender, receiver, .. } = self;
            let rail = &mut rails[index];
            if rail.is_deaf() {
                return is_given;
            }
            if rail.is_clear() {
                let piece = sender.give(rail.number, now);
                let is_due = receiver.is_due(rail.number, is_idle);
                if piece.is_none() && !is_due {
                    return is_given;
                }
                is_given |= piece.is_some();
                if is_due || receiver.is_new(rail.number) {
                    rail.tell(receiver.tell(rail.number));
                }
                if let Some(range) = piece {
                    let is_end = sender.is_end(&range);
                    rail.piece(range, is_end);
                }
            }
            match rail.flush(sender) {
                Ok(true) => {}
                Ok(false) => return is_given,
                Err(error) => {
                    // What has come on it is still to be read.
                    rail.deafen();
                    sender.lost(rail.number);
                    let (number, name) = (rail.number, rail.name.clone());
                    self.note(number, &name, &error);
                    return true;
                }
            }
        }
    }

    /// It was silent for long.
    fn doubt(&mut self, now: Time) {
        self.disarm();
        for number in self.sender.tick(now) {
            let rail = self.rails.iter().find(|rail| rail.number == number);
            let name = rail.map_or("a rail", |rail| &rail.name);
            let peer = &self.peer;
            (self.watcher)(&format!("a rail of {peer} is silent, others take over: {name}"));
        }
    }

    fn arm(&mut self, alarm: Time, now: Time) {
        self.armed = Some(alarm);
        // Who calls rings already, and that is not to be taken back.
        if !self.is_calling {
            self.set_timer((alarm - now).max(SOONEST));
        }
    }

    /// Has it ring after so long; not at all after no time, and what it has rung is taken back.
    fn set_timer(&self, time: Duration) {
        let (it_interval, it_value) = (timespec(Duration::ZERO), timespec(time));
        let to = Itimerspec { it_interval, it_value };
        timerfd_settime(&self.timer, TimerfdTimerFlags::empty(), &to).expect("it is a timer");
    }

    fn disarm(&mut self) {
        self.set_timer(Duration::ZERO);
        (self.armed, self.is_calling) = (None, false);
    }

    /// A send has taken something in, perhaps, for which no rail tells a reader to come any more.
    fn call_reader(&mut self) {
        let is_ended = self.receiver.is_at_end() && !self.has_read_end;
        let has_come = self.receiver.available() > 0 || is_ended;
        if has_come && !self.is_calling {
            self.is_calling = true;
            self.set_timer(SOONEST);
        }
    }

    /// The reader has come, or somebody sleeps for something else.
    fn hush(&mut self) {
        if self.is_calling {
            self.disarm();
        }
    }

    /// Watches for room where something waits.
    fn watch(&mut self) {
        for rail in &mut self.rails {
            let is_wanted = !rail.is_clear();
            if is_wanted != rail.is_watched {
                rail.is_watched = is_wanted;
                let mut flags = epoll::EventFlags::IN;
                flags.set(epoll::EventFlags::OUT, is_wanted);
                let socket = rail.stream.descriptor().expect("a rail is a socket");
                let data = epoll::EventData::new_u64(0);
                epoll::modify(&self.watched, socket, data, flags).expect("it was added");
            }
        }
    }

    /// Whether all that was written is in the rails.
    fn is_out(&self) -> bool {
        let good = |rail: &&Rail| !rail.is_deaf() && self.sender.is_good(rail.number);
        self.sender.is_given() && self.rails.iter().filter(good).all(Rail::is_clear)
    }

    /// Nothing can be sent any more.
    fn is_cut(&self) -> bool {
        self.rails.iter().all(Rail::is_deaf)
    }

    fn error(&self) -> Error {
        let peer = self.peer.name.clone();
        match &self.malformed {
            Some(what) => Error::Malformed { peer, what: what.clone() },
            None if self.gone.is_empty() => {
                Error::Dead { peer, evidence: "its rails have ended".to_owned() }
            }
            None => {
                let gone: Vec<_> = self.gone.iter().map(|(_, text)| text.as_str()).collect();
                let evidence = format!("no rail is left: {}", gone.join("; "));
                Error::Dead { peer, evidence }
            }
        }
    }

    /// Waits until something is there to be read, or there is room.
    fn wait_for(&mut self, ready: Ready, deadline: Deadline) -> Result<()> {
        loop {
            self.take_in();
            self.give_out(true);
            let (is_ready, what) = match ready {
                Ready::Receive => {
                    let is_ended = self.receiver.is_at_end() || self.rails.is_empty();
                    (self.receiver.available() > 0 || is_ended, "something to receive")
                }
                Ready::Send => {
                    // Behind its end nothing follows, and who flushes waits for no more room.
                    let is_enough = self.sender.free() > 0 || self.sender.has_ended();
                    let has_room = self.is_out() && is_enough;
                    (has_room || self.is_cut(), "room to send")
                }
            };
            if is_ready {
                return Ok(());
            }
            let Some(left) = deadline.left() else {
                return Err(deadline.missed(&self.me, &self.peer.name, what));
            };
            self.sleep(left)?;
        }
    }

    /// Sleeps until something comes or a rail has room.
    fn sleep(&self, most: Duration) -> Result<()> {
        let woken = is_ready(self.watched.as_fd(), PollFlags::IN, most);
        woken.map(drop).map_err(|errno| Error::io(format!("waiting for {}", self.peer), errno))
    }
}

impl Wait for Joined {
    fn peer(&self) -> &Peer {
        &self.peer
    }

    fn me(&self) -> &str {
        &self.me
    }

    fn wait(&mut self, ready: Ready, deadline: Deadline) -> Result<()> {
        self.hush();
        let waited = self.wait_for(ready, deadline);
        if ready == Ready::Send {
            self.call_reader();
        }
        waited
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        Some(self.watched.as_fd())
    }
}

impl Stream for Joined {
    fn try_write(&mut self, bytes: &[u8]) -> Result<usize> {
        self.try_write_parts(&[IoSlice::new(bytes)])
    }

    fn try_write_parts(&mut self, parts: &[IoSlice<'_>]) -> Result<usize> {
        if self.sender.free() == 0 || !self.sender.is_given() || self.is_pressed() {
            self.take_in();
            self.give_out(false);
        }
        if self.is_cut() {
            return Err(self.error());
        }
        if self.sender.has_ended() && parts.iter().any(|part| !part.is_empty()) {
            return Err(Error::io(format!("writing to {} behind the end", self.peer), Errno::PIPE));
        }
        let mut written = 0;
        for part in parts {
            let size = self.sender.write(part);
            written += size;
            if size < part.len() {
                break;
            }
        }
        self.give_out(false);
        self.call_reader();
        match written {
            0 if parts.iter().any(|part| !part.is_empty()) => Err(Error::WouldBlock),
            written => Ok(written),
        }
    }

    fn try_flush(&mut self) -> Result<bool> {
        if !self.is_out() || self.is_pressed() {
            self.take_in();
            self.give_out(false);
            self.call_reader();
            // What this end has said of what came needs to reach nobody: the reader goes on.
            if self.is_cut() && !self.sender.is_given() {
                return Err(self.error());
            }
        }
        Ok(self.is_out())
    }

    fn try_read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        if self.receiver.available() == 0 || self.is_pressed() {
            self.take_in();
        }
        if buffer.is_empty() || self.receiver.is_at_end() {
            if !buffer.is_empty() {
                self.has_read_end = true;
                self.hush();
            }
            self.give_out(true);
            return Ok(0);
        }
        let size = self.receiver.read(buffer);
        if self.receiver.available() == 0 {
            self.hush();
        }
        // Who has read all may not come again for long.
        self.give_out(self.receiver.available() == 0);
        match size {
            0 if self.rails.is_empty() => Err(self.error()),
            0 => Err(Error::WouldBlock),
            size => Ok(size),
        }
    }

    fn finish(&mut self, _: Deadline) -> Result<()> {
        self.sender.end();
        self.give_out(false);
        Ok(())
    }

    fn widen(&mut self) -> bool {
        self.sender.widen()
    }
}

impl Drop for Joined {
    /// Says that it ends, and sees to it that what was written leaves. An end that comes while
    /// acknowledgements are under way to it would make the kernel drop what it has not sent yet.
    fn drop(&mut self) {
        self.sender.end();
        let most = Deadline::after(RAILS_LINGER_MAX);
        let mut patience = most.sooner(RAILS_LINGER);
        let mut missing = u64::MAX;
        loop {
            self.take_in();
            self.give_out(true);
            let is_empty = |rail: &Rail| rail.is_deaf() || rail.stream.is_delivered();
            let has_left = self.is_out() && self.rails.iter().all(is_empty);
            if has_left || self.sender.is_received() || self.is_cut() {
                return;
            }
            if self.sender.missing() < missing {
                missing = self.sender.missing();
                patience = most.sooner(RAILS_LINGER);
            }
            if patience.left().is_none() || self.sleep(LOOK).is_err() {
                return;
            }
        }
    }
}

/// An end after its hello.
pub struct End {
    /// The rails.
    pub joined: Joined,
    /// What was said.
    pub hello: Hello,
}

impl Adapter for End {
    fn peer(&self) -> &Peer {
        &self.joined.peer
    }

    fn hello(&self) -> &Hello {
        &self.hello
    }

    fn datagram(self: Box<Self>) -> Result<Box<dyn Datagram>> {
        Ok(Box::new(Framed::new(self.joined)))
    }

    fn stream(self: Box<Self>) -> Result<Box<dyn Stream>> {
        Ok(Box::new(self.joined))
    }
}
