//! One connection, shared by everybody who sends on it and the hub that reads from it.
//!
//! Whoever sends writes to the socket himself while it takes bytes, so a request costs no change
//! of threads; what it does not take at once waits in the outbox for the hub. The lock is held
//! for encoding and non-blocking writes only, never while somebody is told an answer.

use super::core::{Core, Refusal, Sent, Share};
use super::hub;
use crate::call::Wake;
use crate::error::{Errno, Error};
use crate::message::{Fid as Number, Frame, Rmessage, Tmessage};
use crate::stream::Stream;
use crate::version::Version;
use muster_base::limits::{FIDS_MAX, HANDED_ON_MAX, MSIZE_MAX, OUTBOX_MAX};
use std::io::{self, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, Weak};
use std::time::Instant;

/// Who is told an answer.
pub(super) type Then = Box<dyn FnOnce(Result<Rmessage<'_>, Error>) + Send>;
/// Who is told that the connection ended, and why.
pub(super) type OnClose = Box<dyn FnOnce(&Error) + Send>;

/// What to do when the server does not take requests as fast as they come.
#[derive(Debug, Clone, Copy)]
pub(super) enum Queue {
    /// Wait for room, until then at most.
    Wait(Option<Instant>),
    /// Refuse the request.
    Refuse,
}

pub(super) struct Link {
    /// The hub's name for it.
    pub(super) id: usize,
    pub(super) stream: Stream,
    /// The server's, for messages.
    pub(super) name: String,
    state: Mutex<State>,
    /// Signalled when the outbox drains, a tag becomes free or the connection ends.
    room: Condvar,
}

struct State {
    core: Core<Then>,
    /// Why it ended.
    ended: Option<Error>,
    on_close: Vec<OnClose>,
    next_fid: Number,
    free_fids: Vec<Number>,
    /// Fids in use or not yet known to be free.
    fids: usize,
    /// Fids whose clunk found no tag.
    unclunked: Vec<Number>,
    /// Threads that wait for room.
    waiting: usize,
    /// Those who have been told that there is no room for what others write.
    wakes: Vec<Wake>,
    /// The socket took no more, and the hub tells when it does.
    full: bool,
    /// A write has failed: the hub will end the connection.
    broken: bool,
}

impl Link {
    pub(super) fn new(
        stream: Stream,
        name: String,
        version: Version,
        msize: u32,
        then: Then,
    ) -> Arc<Link> {
        let state = State {
            core: Core::new(version, msize, then),
            ended: None,
            on_close: Vec::new(),
            next_fid: 0,
            free_fids: Vec::new(),
            fids: 0,
            unclunked: Vec::new(),
            waiting: 0,
            wakes: Vec::new(),
            full: false,
            broken: false,
        };
        let id = hub::next_id();
        let link = Link { id, stream, name, state: Mutex::new(state), room: Condvar::new() };
        let link = Arc::new(link);
        hub::add(&link);
        link.drain(&mut link.state());
        link
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no holder panics")
    }

    pub(super) fn version(&self) -> Version {
        self.state().core.version()
    }

    pub(super) fn msize(&self) -> u32 {
        self.state().core.msize()
    }

    /// Why the connection ended, if it has.
    pub(super) fn ended(&self) -> Option<Error> {
        self.state().ended.clone()
    }

    /// Sends a request; `then` is told the answer, or why there is none, on the hub's thread.
    pub(super) fn send(
        self: &Arc<Link>,
        request: &Tmessage<'_>,
        then: Then,
        (queue, share): (Queue, Share),
    ) -> Cancel {
        let mut state = self.state();
        let mut then = then;
        loop {
            if let Some(error) = &state.ended {
                let error = error.clone();
                return self.give_up(state, then, error);
            }
            if state.has_room(queue, request) {
                match state.core.send(request, then, share) {
                    Ok(sent) => {
                        self.drain(&mut state);
                        let link = Arc::downgrade(self);
                        return Cancel { link, sent: Some(sent), rest: None };
                    }
                    Err((Refusal::Never(error), back)) => return self.give_up(state, back, error),
                    Err((Refusal::Full, back)) => then = back,
                }
            }
            state = match self.wait_for_room(state, queue) {
                Ok(state) => state,
                Err((state, error)) => return self.give_up(state, then, error),
            };
        }
    }

    /// Whether a write of somebody else is taken now. If not, what `wake` makes is called when it
    /// may be.
    pub(super) fn takes_writes_or(&self, wake: impl FnOnce() -> Wake) -> bool {
        let mut state = self.state();
        let takes = state.ended.is_some() || state.takes_writes();
        if !takes {
            state.wakes.push(wake());
        }
        takes
    }

    fn give_up(&self, state: MutexGuard<'_, State>, then: Then, error: Error) -> Cancel {
        drop(state);
        hub::later(move || then(Err(error)));
        Cancel::none()
    }

    #[allow(clippy::type_complexity, reason = "the lock goes back in both cases")]
    fn wait_for_room<'a>(
        &'a self,
        mut state: MutexGuard<'a, State>,
        queue: Queue,
    ) -> Result<MutexGuard<'a, State>, (MutexGuard<'a, State>, Error)> {
        let deadline = match queue {
            Queue::Wait(deadline) if !hub::is_here() => deadline,
            _ => {
                let text = format!("{} does not take requests as fast as they come", self.name);
                return Err((state, Error::new(Errno::AGAIN, text)));
            }
        };
        state.waiting += 1;
        let mut state = match deadline {
            None => self.room.wait(state).expect("no holder panics"),
            Some(deadline) => {
                let left = deadline.saturating_duration_since(Instant::now());
                let waited = self.room.wait_timeout(state, left).expect("no holder panics");
                let (mut state, result) = waited;
                if result.timed_out() {
                    state.waiting -= 1;
                    let text = format!("{} takes no requests", self.name);
                    return Err((state, Error::new(Errno::TIMEDOUT, text)));
                }
                state
            }
        };
        state.waiting -= 1;
        Ok(state)
    }

    /// Writes what the socket takes. If that is not all, the hub goes on when it takes more.
    /// Whether it was all.
    fn drain(&self, state: &mut State) -> bool {
        let outbox = &mut state.core.outbox;
        while !state.broken {
            let is_written = outbox.is_empty();
            let written = if is_written {
                (&self.stream).flush().map(|()| 0)
            } else {
                let mut pieces = Vec::with_capacity(4);
                outbox.pieces(&mut pieces);
                (&self.stream).write_vectored(&pieces)
            };
            match written {
                Ok(_) if is_written => return true,
                Ok(sent) if sent > 0 => outbox.consume(sent),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    if !std::mem::replace(&mut state.full, true) {
                        hub::full(self.id);
                    }
                    return false;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                failed => {
                    state.broken = true;
                    // The hub first reads what the server said before it went.
                    let nothing = io::Error::from(io::ErrorKind::WriteZero);
                    hub::check(self.id, failed.err().unwrap_or(nothing));
                }
            }
        }
        true
    }

    /// The hub: the socket takes bytes again. Whether it need not be watched for that any more.
    pub(super) fn writable(&self) -> bool {
        let mut state = self.state();
        state.full &= !self.drain(&mut state);
        if state.waiting > 0 {
            self.room.notify_all();
        }
        let (wakes, full) = (state.due(), state.full);
        drop(state);
        wakes.into_iter().for_each(|wake| wake());
        !full
    }

    /// The hub: most bytes the next message may have.
    pub(super) fn arriving_max(&self) -> u32 {
        self.state().core.arriving_max()
    }

    /// The hub: one message has arrived; tells whoever waits for it.
    pub(super) fn arrived(
        self: &Arc<Link>,
        frame: Frame<'_>,
    ) -> Result<(), super::core::Violation> {
        let mut state = self.state();
        let delivery = state.core.accept(frame)?;
        while let Some(fid) = state.unclunked.pop() {
            if !self.clunk_locked(&mut state, fid) {
                break;
            }
        }
        if state.waiting > 0 {
            self.room.notify_all();
        }
        let wakes = state.due();
        drop(state);
        wakes.into_iter().for_each(|wake| wake());
        if let Some((then, answer)) = delivery {
            then(answer);
        }
        Ok(())
    }

    /// The hub: the connection is over. Tells everybody who waits.
    pub(super) fn end(&self, why: &Error) {
        // It is over whether or not the peer can still be told.
        let _ = self.stream.shutdown();
        let mut state = self.state();
        state.ended = Some(why.clone());
        let waiting = state.core.end();
        let on_close = std::mem::take(&mut state.on_close);
        // What has waited is told so, too, when it asks again.
        let wakes = std::mem::take(&mut state.wakes);
        self.room.notify_all();
        drop(state);
        for then in waiting {
            then(Err(why.clone()));
        }
        wakes.into_iter().for_each(|wake| wake());
        for told in on_close {
            told(why);
        }
    }

    pub(super) fn on_close(&self, told: OnClose) {
        let mut state = self.state();
        match state.ended.clone() {
            None => state.on_close.push(told),
            Some(why) => {
                drop(state);
                hub::later(move || told(&why));
            }
        }
    }

    /// A number for a new fid.
    pub(super) fn take_fid(&self, share: Share) -> Result<Number, Error> {
        let mut state = self.state();
        let most = share.of(FIDS_MAX);
        if state.fids >= most {
            let text = format!("{most} files are open at {}", self.name);
            return Err(Error::new(Errno::MFILE, text));
        }
        state.fids += 1;
        Ok(state.free_fids.pop().unwrap_or_else(|| {
            state.next_fid += 1;
            state.next_fid - 1
        }))
    }

    /// The server knows this number no more.
    pub(super) fn release_fid(&self, fid: Number) {
        let mut state = self.state();
        state.fids -= 1;
        state.free_fids.push(fid);
    }

    #[cfg(test)]
    pub(super) fn fids_in_use(&self) -> usize {
        self.state().fids
    }

    /// Clunks a fid without waiting for the answer.
    pub(super) fn clunk(self: &Arc<Link>, fid: Number) {
        let mut state = self.state();
        if state.ended.is_none() {
            self.clunk_locked(&mut state, fid);
        }
    }

    /// Sends a clunk; false if it found no tag and waits for one.
    fn clunk_locked(self: &Arc<Link>, state: &mut State, fid: Number) -> bool {
        let link = Arc::downgrade(self);
        // Whatever the answer is, the server has forgotten the fid (clunk(5)).
        let then: Then = Box::new(move |_| {
            if let Some(link) = link.upgrade() {
                link.release_fid(fid);
            }
        });
        match state.core.send(&Tmessage::Clunk { fid }, then, Share::Clunks) {
            Ok(_) => {
                self.drain(state);
                true
            }
            Err(_) => {
                state.unclunked.push(fid);
                false
            }
        }
    }

    fn flush(&self, sent: Sent) {
        let mut state = self.state();
        state.core.flush(sent);
        self.drain(&mut state);
    }
}

impl State {
    fn has_room(&self, queue: Queue, request: &Tmessage<'_>) -> bool {
        let queued = self.core.outbox.len();
        match queue {
            Queue::Wait(_) if hub::is_here() => queued <= OUTBOX_MAX + MSIZE_MAX,
            Queue::Wait(_) => queued <= OUTBOX_MAX,
            // Several may have seen the same room for what they write.
            Queue::Refuse if matches!(request, Tmessage::Write { .. }) => {
                queued <= HANDED_ON_MAX + MSIZE_MAX
            }
            // What many write has not all of it, or nobody else could ask for anything.
            Queue::Refuse => queued <= HANDED_ON_MAX + 2 * MSIZE_MAX,
        }
    }

    fn takes_writes(&self) -> bool {
        self.core.outbox.len() <= HANDED_ON_MAX && self.core.has_place(Share::Guests)
    }

    /// Those who are to be told that there is room again.
    fn due(&mut self) -> Vec<Wake> {
        let due = !self.wakes.is_empty() && self.takes_writes();
        if due { std::mem::take(&mut self.wakes) } else { Vec::new() }
    }
}

/// Takes a request back.
#[derive(Debug, Clone)]
pub struct Cancel {
    link: Weak<Link>,
    sent: Option<Sent>,
    rest: Option<Arc<Mutex<Rest>>>,
}

/// What belongs to a request beside itself: others, sent with it or because of what it came to.
#[derive(Debug, Default)]
pub(super) struct Rest {
    sent: Vec<Sent>,
    /// It was taken back: nothing is sent because of it any more.
    pub(super) given_up: bool,
}

impl Rest {
    /// Another request that belongs to it.
    pub(super) fn push(&mut self, other: &Cancel) {
        self.sent.extend(other.sent);
    }
}

impl Cancel {
    /// For a request that was never sent.
    pub(super) fn none() -> Cancel {
        Cancel { link: Weak::new(), sent: None, rest: None }
    }

    /// With what belongs to it.
    pub(super) fn with(self, rest: Arc<Mutex<Rest>>) -> Cancel {
        Cancel { rest: Some(rest), ..self }
    }

    /// Tells the server that the answer is no longer wanted (flush(5)). Whoever waits is still
    /// told exactly once: the answer, if it was already on its way; else EINTR, and then the
    /// request had no effect. Never blocks; may be called again, and after the answer.
    pub fn flush(&self) {
        let others = self.rest.as_ref().map_or_else(Vec::new, |rest| {
            let mut rest = rest.lock().expect("no holder panics");
            rest.given_up = true;
            rest.sent.clone()
        });
        if let Some(link) = self.link.upgrade() {
            others.into_iter().rev().chain(self.sent).for_each(|sent| link.flush(sent));
        }
    }
}

impl std::fmt::Debug for Link {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Link({})", self.name)
    }
}
