//! The thread that moves the bytes of all processes of a node and sees them end.
//!
//! It polls each program's output pipes, its input pipe and its shepherd's link. A stream whose
//! window is full is not read until a reader has made room, and one whose program writes line after
//! line is left alone for moments ([`Pace`]); a feed with nothing in it is not polled for writing.
//! It also cleans up after wiped sessions, and wipes those that have lingered.

use super::cgroup::{self, Cgroup};
use super::directory::{Directories, Left};
use super::pace::Pace;
use super::refusal::refusal;
use super::session::{START, Session};
use super::shepherd::{Mounts, Report, Spares, Ward};
use crate::files::feed::Next;
use crate::files::stream::Stream;
use crate::strober::place::Seat;
use mio::unix::SourceFd;
use mio::{Events, Interest, Poll, Token, Waker};
use muster_ninep::error::{Errno, Error};
use rustix::pipe::fcntl_getpipe_size;
use std::collections::HashMap;
use std::io::{self, ErrorKind, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};

const WAKER: Token = Token(usize::MAX);

/// The machine's mounts have changed.
const MOUNTS: Token = Token(usize::MAX - 1);

/// Bytes moved at once: what a pipe holds.
const CHUNK: usize = 64 * 1024;

/// How long a light rank that has written something may run before it is to be followed: those
/// that end sooner say all in one report, and for those that do not the wait for their first output
/// is no longer than this.
const SOON: Duration = Duration::from_millis(10);

/// The same for one that has written nothing: only who starts a detached job waits for that.
const LATER: Duration = Duration::from_millis(100);

/// How long what a program has left behind may still say something: the end of its output may be
/// in the hands of a `tee` or another filter that it has started.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// How long the processes of a wiped session may take to be gone.
const BURIAL: Duration = Duration::from_secs(10);

/// The ends of a program's pipes that the node holds.
pub(super) struct Pipes {
    pub(super) stdin: Option<OwnedFd>,
    pub(super) stdout: Option<OwnedFd>,
    pub(super) stderr: Option<OwnedFd>,
}

enum Order {
    Adopt(Arc<Session>, Pipes),
    /// Something can go on in this session: room in a stream, bytes in a feed.
    Kick(u32),
    Later(Instant, Weak<Session>),
    Bury(Grave),
    Stop,
}

/// What is to be removed, and until when to try.
struct Grave {
    until: Instant,
    cgroup: Option<Cgroup>,
    /// Its turn comes when the group is gone.
    directory: Option<Left>,
    /// Left when the group is gone.
    _seat: Option<Seat>,
}

struct Post {
    orders: Mutex<Vec<Order>>,
    waker: Waker,
}

impl Post {
    fn send(&self, order: Order) {
        self.orders.lock().expect("no holder panics").push(order);
        // It fails only when the thread is gone.
        let _ = self.waker.wake();
    }
}

/// The thread, seen by others. Dropping it ends the thread.
pub(super) struct Watch {
    post: Arc<Post>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Watch {
    pub(super) fn start(spares: Arc<Spares>, directories: Arc<Directories>) -> io::Result<Watch> {
        let mut eye = Eye::new(spares, directories)?;
        let post = eye.post.clone();
        let thread = std::thread::Builder::new().name("watch".into());
        let thread = Some(thread.spawn(move || eye.run())?);
        Ok(Watch { post, thread })
    }

    /// Takes care of a session whose shepherd is on its way.
    pub(super) fn adopt(&self, session: &Arc<Session>, pipes: Pipes) {
        self.post.send(Order::Adopt(session.clone(), pipes));
    }

    /// What a session's streams call when they can go on.
    pub(super) fn kicker(&self, session: u32) -> impl Fn() + Send + Sync + Clone + 'static {
        let post = self.post.clone();
        move || post.send(Order::Kick(session))
    }

    /// Asks a session at that time whether it is still empty.
    pub(super) fn later(&self, when: Instant, session: &Arc<Session>) {
        self.post.send(Order::Later(when, Arc::downgrade(session)));
    }

    /// Removes what a wiped session leaves, or a program that could not be run.
    pub(super) fn bury(&self, directory: Option<Left>, cgroup: Option<Cgroup>, seat: Option<Seat>) {
        let until = Instant::now() + BURIAL;
        self.post.send(Order::Bury(Grave { until, cgroup, directory, _seat: seat }));
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.post.send(Order::Stop);
        if let Some(thread) = self.thread.take()
            && thread.thread().id() != std::thread::current().id()
        {
            let _ = thread.join();
        }
    }
}

/// Which of a session's descriptors an event is about.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Stdin,
    Stdout,
    Stderr,
    Link,
}

const OUTPUTS: [End; 2] = [End::Stdout, End::Stderr];

const ENDS: [End; 4] = [End::Stdin, End::Stdout, End::Stderr, End::Link];

fn token(session: u32, end: End) -> Token {
    Token(session as usize * 4 + ENDS.iter().position(|e| *e == end).expect("it is one of them"))
}

/// A light rank that has said nothing yet.
struct Silent {
    began: Instant,
    /// When somebody is to follow it, if it runs by then.
    due: Instant,
    /// When it does not come to run any more.
    late: Instant,
    session: Weak<Session>,
}

/// A pipe that a program writes to.
struct Outlet {
    pipe: Option<OwnedFd>,
    pace: Pace,
    /// Until when it is left alone, and not polled.
    rests: Option<Instant>,
    /// What was had of it when it was looked at last.
    had: Had,
}

/// What a look at a pipe has brought.
#[derive(Clone, Copy, Default)]
struct Had {
    bytes: usize,
    /// There may be more: its stream had no room for it.
    is_cut_short: bool,
}

struct Watched {
    session: Arc<Session>,
    stdin: Option<OwnedFd>,
    /// Of [`OUTPUTS`].
    outlets: [Outlet; 2],
    /// The link's descriptor, while it is polled.
    link: Option<i32>,
    /// The program has said how it ended.
    exited: bool,
    /// When what a light rank has left behind is ended: it holds the rank's output open.
    leaves: Option<Instant>,
    /// Whether it will be looked at then.
    is_timed: bool,
    /// What readers had of its output when that was put off last, and whether nobody had read
    /// before.
    read: u64,
    is_unread: bool,
}

struct Eye {
    poll: Poll,
    /// They hold copies of the machine's mounts.
    spares: Arc<Spares>,
    /// They take back those of wiped sessions.
    directories: Arc<Directories>,
    _mounts: Option<Mounts>,
    post: Arc<Post>,
    watched: HashMap<u32, Watched>,
    later: Vec<(Instant, Weak<Session>)>,
    /// Light ranks that have said nothing yet, by session.
    silent: HashMap<u32, Silent>,
    /// Groups that could not be removed yet, and the directories that come after them.
    graves: Vec<Grave>,
    /// Outlets that are left alone, until when.
    resting: Vec<(Instant, u32, End)>,
    /// Sessions whose programs have left something behind that is ended then.
    leaving: Vec<(Instant, u32)>,
    /// Where bytes are on their way.
    buffer: Vec<u8>,
}

impl Eye {
    fn new(spares: Arc<Spares>, directories: Arc<Directories>) -> io::Result<Eye> {
        let poll = Poll::new()?;
        let waker = Waker::new(poll.registry(), WAKER)?;
        let mounts = Mounts::watch().ok();
        if let Some(mounts) = &mounts {
            let fd = mounts.as_fd().as_raw_fd();
            poll.registry().register(&mut SourceFd(&fd), MOUNTS, Interest::PRIORITY)?;
        }
        Ok(Eye {
            poll,
            spares,
            directories,
            _mounts: mounts,
            post: Arc::new(Post { orders: Mutex::default(), waker }),
            watched: HashMap::new(),
            later: Vec::new(),
            silent: HashMap::new(),
            graves: Vec::new(),
            resting: Vec::new(),
            leaving: Vec::new(),
            buffer: vec![0; CHUNK],
        })
    }

    fn run(&mut self) {
        let mut events = Events::with_capacity(256);
        loop {
            match self.poll.poll(&mut events, self.patience()) {
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => panic!("the watch cannot poll: {error}"),
                Ok(()) => {}
            }
            let tokens: Vec<usize> = events.iter().map(|event| event.token().0).collect();
            for at in tokens {
                match Token(at) {
                    WAKER => {}
                    MOUNTS => self.spares.clear(),
                    Token(at) => self.advance((at / 4) as u32, ENDS[at % 4]),
                }
            }
            let orders = std::mem::take(&mut *self.post.orders.lock().expect("no holder panics"));
            for order in orders {
                match order {
                    Order::Adopt(session, pipes) => self.adopt(session, pipes),
                    Order::Kick(session) => ENDS.iter().for_each(|e| self.advance(session, *e)),
                    Order::Later(when, session) => self.later.push((when, session)),
                    Order::Bury(grave) => self.graves.push(grave),
                    Order::Stop => return self.dig(),
                }
            }
            self.rouse();
            self.wake_lingerers();
            self.call_for_followers();
            self.dig();
        }
    }

    /// How long nothing needs to be looked at unless something happens.
    fn patience(&self) -> Option<Duration> {
        if !self.graves.is_empty() {
            return Some(Duration::from_millis(2));
        }
        let later = self.later.iter().map(|(when, _)| *when);
        let silent = self.silent.values().map(|silent| silent.due);
        let resting = self.resting.iter().map(|(due, ..)| *due);
        let leaving = self.leaving.iter().map(|(due, _)| *due);
        let next = later.chain(silent).chain(resting).chain(leaving).min()?;
        Some(next.saturating_duration_since(Instant::now()))
    }

    /// Looks at outlets that were left alone for long enough, and at what was left behind.
    fn rouse(&mut self) {
        let now = Instant::now();
        let due: Vec<_> = self.resting.extract_if(.., |(due, ..)| *due <= now).collect();
        due.into_iter().for_each(|(_, session, end)| self.advance(session, end));
        let due: Vec<_> = self.leaving.extract_if(.., |(due, _)| *due <= now).collect();
        due.into_iter().for_each(|(_, session)| self.advance(session, End::Link));
    }

    fn wake_lingerers(&mut self) {
        let now = Instant::now();
        let (due, later) = std::mem::take(&mut self.later).into_iter().partition(|l| l.0 <= now);
        self.later = later;
        let due: Vec<(Instant, Weak<Session>)> = due;
        for session in due.into_iter().filter_map(|(_, session)| session.upgrade()) {
            session.linger_over();
        }
    }

    /// Has ranks followed that have not ended soon.
    fn call_for_followers(&mut self) {
        let now = Instant::now();
        self.silent.retain(|_, Silent { due, late, session, .. }| {
            let Some(session) = session.upgrade() else { return false };
            if *due > now {
                return true;
            }
            *due = now + SOON;
            if session.say_follow() {
                return false;
            }
            if *late > now {
                return true;
            }
            if session.is_frozen() {
                // Its time begins when its turn does.
                *late = now + START;
                return true;
            }
            let text = format!("its program has not been started for {START:?}  [E306]");
            session.failed(Error::new(Errno::TIMEDOUT, text));
            false
        });
    }

    /// Removes what is left of wiped sessions. Their processes may take a moment to be gone.
    fn dig(&mut self) {
        let now = Instant::now();
        self.graves.retain_mut(|Grave { until, cgroup, directory, .. }| {
            let removed = cgroup.as_ref().map_or(Ok(()), remove_group);
            let is_gone = removed.is_ok();
            if let Err(error) = removed {
                if *until > now {
                    return true;
                }
                // There may be nobody to read it.
                let _ = writeln!(io::stderr(), "what a job has left is given up: {error}");
            }
            if let Some(Left { path, is_free }) = directory.take() {
                self.directories.take_back(Left { path, is_free: is_free && is_gone });
            }
            false
        });
    }

    fn adopt(&mut self, session: Arc<Session>, pipes: Pipes) {
        let number = session.number;
        // Who wipes it would close the link, and its number might be another's by then.
        let state = session.state();
        let link = state.ward.as_ref().map(|ward| ward.link().as_raw_fd());
        let registry = self.poll.registry();
        let register = |fd: i32, end: End, interest: Interest| {
            registry.register(&mut SourceFd(&fd), token(number, end), interest)
        };
        let pipe = |fd: &Option<OwnedFd>| fd.as_ref().map(AsRawFd::as_raw_fd);
        let done = pipe(&pipes.stdin)
            .map_or(Ok(()), |fd| register(fd, End::Stdin, Interest::WRITABLE))
            .and_then(|()| {
                pipe(&pipes.stdout)
                    .map_or(Ok(()), |fd| register(fd, End::Stdout, Interest::READABLE))
            })
            .and_then(|()| {
                pipe(&pipes.stderr)
                    .map_or(Ok(()), |fd| register(fd, End::Stderr, Interest::READABLE))
            })
            .and_then(|()| link.map_or(Ok(()), |fd| register(fd, End::Link, Interest::READABLE)));
        drop(state);
        if let Err(error) = done {
            let text = format!("session {number} cannot be watched: {error}");
            session.failed(Error::new(Errno::IO, text));
            return session.wipe();
        }
        // A program before this one may have failed, and its streams with it.
        let (given, streams) = (&pipes, &session);
        given.stdin.iter().for_each(|_| streams.stdin.reopen());
        given.stdout.iter().for_each(|_| streams.stdout.reopen());
        given.stderr.iter().for_each(|_| streams.stderr.reopen());
        if session.light.is_some() {
            let (began, session) = (Instant::now(), Arc::downgrade(&session));
            let (due, late) = (began + LATER, began + START);
            self.silent.insert(number, Silent { began, due, late, session });
        }
        let Pipes { stdin, stdout, stderr } = pipes;
        let outlets = [stdout, stderr].map(Outlet::new);
        self.watched.insert(number, Watched::new(session, stdin, outlets, link));
        // What happened before the registration raises no event.
        ENDS.iter().for_each(|end| self.advance(number, *end));
    }

    fn advance(&mut self, number: u32, end: End) {
        let Some(watched) = self.watched.get_mut(&number) else { return };
        let is_waited_for = match end {
            End::Stdin => watched.feed(),
            End::Stdout | End::Stderr => false,
            End::Link => {
                if let Some((cgroup, seat)) = watched.listen(self.poll.registry()) {
                    let (until, cgroup) = (Instant::now() + BURIAL, Some(cgroup));
                    self.graves.push(Grave { until, cgroup, directory: None, _seat: seat });
                }
                watched.exited || watched.link.is_none()
            }
        };
        // Nothing is ended before all that it has said is taken.
        let is_due = watched.leaves.is_some_and(|due| due <= Instant::now());
        let outputs = match end {
            End::Stdin | End::Link if !is_waited_for && !is_due => &[][..],
            End::Stdin | End::Link | End::Stderr => &OUTPUTS,
            End::Stdout => &[End::Stderr, End::Stdout],
        };
        let mut has_written = false;
        for output in outputs {
            if let Some(watched) = self.watched.get_mut(&number)
                && (*output != end || is_due)
            {
                // What it holds was said before; or what comes next is waited for.
                watched.output(*output).0.rouse(is_waited_for);
            }
            has_written |= self.drain(number, *output);
        }
        if has_written && let Some(silent) = self.silent.get_mut(&number) {
            silent.due = silent.due.min(silent.began + SOON);
        }
        let Some(watched) = self.watched.get_mut(&number) else { return };
        let is_silent = watched.outlets.iter().all(|outlet| outlet.pipe.is_none());
        if is_silent {
            watched.session.say_end();
        }
        self.leaving.extend(watched.end_what_is_left(is_silent, is_due).map(|due| (due, number)));
        if watched.link.is_none() && is_silent || watched.session.is_wiped() {
            self.watched.remove(&number);
            self.silent.remove(&number);
        }
    }

    /// Hands on what a program has written, unless it is to be left alone; whether that was
    /// anything.
    fn drain(&mut self, number: u32, end: End) -> bool {
        let Some(watched) = self.watched.get_mut(&number) else { return false };
        let (outlet, stream) = watched.output(end);
        let now = Instant::now();
        if outlet.rests.is_some_and(|due| due > now) {
            return false;
        }
        outlet.had = pump(&mut outlet.pipe, stream, &mut self.buffer);
        let bytes = outlet.had.bytes;
        let Some(pipe) = &outlet.pipe else { return bytes > 0 };
        let (mut pipe, registry) = (SourceFd(&pipe.as_raw_fd()), self.poll.registry());
        let mut rests = (bytes > 0).then(|| outlet.pace.passed(bytes, now)).flatten();
        match (outlet.rests, rests) {
            (None, Some(_)) => registry.deregister(&mut pipe).expect("it is registered"),
            (Some(_), None) => {
                // What has come meanwhile raises an event. Where no event can be had it is looked
                // at again.
                let done = registry.register(&mut pipe, token(number, end), Interest::READABLE);
                rests = done.err().map(|_| now + SOON);
            }
            _ => {}
        }
        outlet.rests = rests;
        self.resting.extend(rests.map(|due| (due, number, end)));
        bytes > 0
    }
}

impl Outlet {
    fn new(pipe: Option<OwnedFd>) -> Outlet {
        let holds = pipe.as_ref().and_then(|pipe| fcntl_getpipe_size(pipe).ok());
        let pace = Pace::new(Instant::now(), holds.unwrap_or(CHUNK));
        Outlet { pipe, pace, rests: None, had: Had::default() }
    }

    /// Its rest is over; and none follows soon if somebody waits for what it says.
    fn rouse(&mut self, is_waited_for: bool) {
        let now = Instant::now();
        if is_waited_for {
            self.pace.answered(now);
        }
        self.rests = self.rests.map(|_| now);
    }
}

impl Watched {
    fn new(
        session: Arc<Session>,
        stdin: Option<OwnedFd>,
        outlets: [Outlet; 2],
        link: Option<i32>,
    ) -> Watched {
        let (exited, leaves, is_timed, read, is_unread) = (false, None, false, 0, false);
        Watched { session, stdin, outlets, link, exited, leaves, is_timed, read, is_unread }
    }

    fn output(&mut self, end: End) -> (&mut Outlet, &Stream) {
        let [stdout, stderr] = &mut self.outlets;
        match end {
            End::Stderr => (stderr, &self.session.stderr),
            _ => (stdout, &self.session.stdout),
        }
    }

    /// Gives the program what was written for it; whether that was anything.
    fn feed(&mut self) -> bool {
        let mut any = false;
        while let Some(pipe) = &self.stdin {
            match self.session.stdin.next() {
                Next::Nothing => return any,
                Next::End => self.stdin = None,
                Next::Bytes(bytes) => match rustix::io::write(pipe.as_fd(), &bytes) {
                    Ok(taken) => {
                        self.session.stdin.taken(taken);
                        any = true;
                    }
                    Err(Errno::AGAIN) => return any,
                    Err(Errno::INTR) => {}
                    Err(_) => {
                        self.session.stdin.refuse(Errno::PIPE, "the program has closed its input");
                        self.stdin = None;
                    }
                },
            }
        }
        any
    }

    /// What a light rank has left behind goes with it, when it has let go of the rank's output or
    /// had its time; when to look again.
    fn end_what_is_left(&mut self, is_silent: bool, is_due: bool) -> Option<Instant> {
        let due = self.leaves?;
        if !is_silent {
            if !is_due {
                return (!std::mem::replace(&mut self.is_timed, true)).then_some(due);
            }
            if self.has_no_time() {
                self.leaves = Some(Instant::now() + LAST_WORDS);
                return self.leaves;
            }
        }
        self.leaves = None;
        if self.link.is_some() {
            self.session.kill_all();
            return None;
        }
        self.cut()
    }

    /// Whether the time of what is left has yet to begin: with the turn of its job, or when
    /// somebody reads, for until then it cannot say a word.
    fn has_no_time(&mut self) -> bool {
        let mut open = self.outlets.iter().filter(|outlet| outlet.pipe.is_some());
        let is_full = open.any(|outlet| outlet.had.is_cut_short);
        let read = self.read();
        let was_read = std::mem::replace(&mut self.read, read);
        let is_unread = is_full && was_read == read;
        let was_unread = std::mem::replace(&mut self.is_unread, is_unread);
        // Where nothing of the program is left, what is in its pipes is all that there is.
        let waits = if self.link.is_some() { is_unread || was_unread } else { is_full };
        waits || self.session.is_frozen()
    }

    /// Bytes of its output that readers have.
    fn read(&mut self) -> u64 {
        OUTPUTS.into_iter().map(|end| self.output(end).1.read()).sum()
    }

    /// Nothing of a program is left, and somebody else has its output open: it ends all the same,
    /// with what was written so far. When to look again.
    fn cut(&mut self) -> Option<Instant> {
        let mut next = None;
        for end in OUTPUTS {
            let (outlet, stream) = self.output(end);
            if outlet.pipe.take().is_some() {
                stream.end();
                next = Some(Instant::now());
            }
        }
        next
    }

    /// Hears what the shepherd has to say. At the end of a light rank it gives its group away.
    fn listen(&mut self, registry: &mio::Registry) -> Option<(Cgroup, Option<Seat>)> {
        let link = self.link?;
        loop {
            let mut state = self.session.state();
            let said = match &mut state.ward {
                Some(ward) => ward.receive(),
                // It was wiped: the link is closed, and the poll knows.
                None => return None,
            };
            drop(state);
            match said {
                Ok(None) => return None,
                Ok(Some(Report::Started { pid })) => self.session.started(pid),
                Ok(Some(Report::Failed { stage, errno, what })) => {
                    let _ = registry.deregister(&mut SourceFd(&link));
                    self.link = None;
                    self.stdin = None;
                    self.outlets.iter_mut().for_each(|outlet| outlet.pipe = None);
                    self.session.failed(refusal(&self.session, stage, errno, &what));
                    return None;
                }
                Ok(Some(Report::Exited { status, usage, is_left })) => {
                    self.exited = true;
                    self.session.ended(status, Some(usage), is_left);
                    if is_left && self.session.light.is_some() {
                        self.leaves = Some(Instant::now() + LAST_WORDS);
                        self.read = self.read();
                        self.is_unread = self.outlets.iter().any(|outlet| outlet.had.is_cut_short);
                    }
                }
                said @ (Ok(Some(Report::Gone)) | Err(_)) => {
                    let _ = registry.deregister(&mut SourceFd(&link));
                    self.link = None;
                    (self.leaves, self.is_timed) = (Some(Instant::now() + LAST_WORDS), false);
                    if let (Err(error), false) = (&said, self.exited) {
                        let errno = Errno::from_io_error(error).unwrap_or(Errno::IO);
                        let text = format!("what its init says cannot be heard: {error}  [E107]");
                        self.session.failed(Error::new(errno, text));
                    }
                    // Another program may be tried where this one was not seen to start.
                    if !self.exited && !self.session.is_new() {
                        self.session.ended(libc::SIGKILL, None, false);
                    }
                    // Its link is not polled any more, so its init may have another session.
                    let ward = self.session.state().ward.take();
                    ward.into_iter().for_each(Ward::release);
                    return self.session.lighten(said.is_ok());
                }
            }
        }
    }
}

/// Removes a group once nothing runs in it, and sees to that.
fn remove_group(cgroup: &Cgroup) -> Result<(), cgroup::Error> {
    // Most are empty.
    if std::fs::remove_dir(cgroup.path()).is_ok() {
        return Ok(());
    }
    cgroup.kill(Duration::ZERO)?;
    cgroup.remove(Duration::ZERO)
}

/// Moves what a pipe holds into its stream, as one piece where there is room.
fn pump(pipe: &mut Option<OwnedFd>, stream: &Stream, buffer: &mut [u8]) -> Had {
    let mut bytes = 0;
    while let Some(fd) = pipe {
        let room = stream.room().min(buffer.len());
        if room == 0 {
            return Had { bytes, is_cut_short: true };
        }
        let mut filled = 0;
        let stopped = loop {
            match rustix::io::read(fd.as_fd(), &mut buffer[filled..room]) {
                Err(Errno::INTR) => {}
                Ok(read) if read > 0 => {
                    filled += read;
                    if filled == room {
                        break None;
                    }
                }
                Ok(_) => break Some(Errno::PIPE),
                Err(errno) => break Some(errno),
            }
        };
        if filled > 0 {
            stream.push(&buffer[..filled]);
            bytes += filled;
        }
        match stopped {
            None => {}
            Some(Errno::AGAIN) => break,
            Some(_) => {
                *pipe = None;
                stream.end();
            }
        }
    }
    Had { bytes, is_cut_short: false }
}

#[cfg(test)]
mod tests;
