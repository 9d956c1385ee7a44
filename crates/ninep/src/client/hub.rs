//! The one thread of a process that reads from all client connections and tells the answers.
//!
//! Others hand it orders through a queue and a waker. It alone registers streams with the poll,
//! reads from them, and ends connections, so each connection ends once.

use super::link::Link;
use crate::error::{Errno, Error};
use crate::message::Frame;
use mio::unix::SourceFd;
use mio::{Events, Interest, Poll, Token, Waker};
use std::cell::Cell;
use std::collections::{HashMap, VecDeque};
use std::io::{self, Read};
use std::os::fd::AsRawFd;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

/// Bytes a connection's buffer starts with and shrinks back to.
const BUFFER: usize = 64 * 1024;

/// Large buffers kept for reuse.
const SPARE: usize = 4;

/// Reads from one connection before the others get their turn.
const TURN: usize = 16;

const WAKE: Token = Token(usize::MAX);

enum Order {
    Add(Arc<Link>),
    /// Ends a connection.
    Close(usize, Error),
    /// A write failed: read what is there, then end.
    Check(usize, io::Error),
    /// A socket takes no bytes: tell its link when it does again.
    Full(usize),
    Run(Box<dyn FnOnce() + Send>),
}

struct Hub {
    orders: Mutex<Vec<Order>>,
    waker: Waker,
}

static HUB: OnceLock<Hub> = OnceLock::new();

/// Starts the hub if it does not run yet; who makes a connection does so first.
///
/// # Errors
/// The kernel has no thread for us, or no descriptor.
pub fn begin() -> io::Result<()> {
    static BEGINS: Mutex<()> = Mutex::new(());
    let _alone = BEGINS.lock().expect("no holder panics");
    if HUB.get().is_some() {
        return Ok(());
    }
    let poll = Poll::new()?;
    let waker = Waker::new(poll.registry(), WAKE)?;
    std::thread::Builder::new().name("9p-client".into()).spawn(move || {
        HERE.set(true);
        // Without this thread every answer would be waited for in vain.
        if std::panic::catch_unwind(AssertUnwindSafe(|| Desk::new(poll).run())).is_err() {
            std::process::abort();
        }
    })?;
    HUB.get_or_init(|| Hub { orders: Mutex::default(), waker });
    Ok(())
}

fn hub() -> &'static Hub {
    HUB.get().expect("who has a connection has begun it")
}

thread_local! {
    static HERE: Cell<bool> = const { Cell::new(false) };
}

static NEXT: AtomicUsize = AtomicUsize::new(0);

/// A name for a new connection.
pub(super) fn next_id() -> usize {
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Whether this is the hub's thread: it must never wait for an answer.
pub(super) fn is_here() -> bool {
    HERE.get()
}

fn order(order: Order) {
    let hub = hub();
    let mut orders = hub.orders.lock().expect("no holder panics");
    orders.push(order);
    let first = orders.len() == 1;
    drop(orders);
    if first {
        hub.waker.wake().expect("an eventfd can be written");
    }
}

/// Serves a new connection.
pub(super) fn add(link: &Arc<Link>) {
    order(Order::Add(link.clone()));
}

/// Ends a connection.
pub(super) fn close(id: usize, why: Error) {
    order(Order::Close(id, why));
}

/// Ends a connection that cannot be written to, once its last answers are read.
pub(super) fn check(id: usize, why: io::Error) {
    order(Order::Check(id, why));
}

/// Has a connection's link told when its socket takes bytes again.
pub(super) fn full(id: usize) {
    order(Order::Full(id));
}

/// Runs something on the hub's thread.
pub(super) fn later(work: impl FnOnce() + Send + 'static) {
    order(Order::Run(Box::new(work)));
}

/// A connection as the hub sees it.
struct Seat {
    link: Arc<Link>,
    buffer: Vec<u8>,
    /// The part of the buffer that holds bytes not yet looked at.
    start: usize,
    end: usize,
}

/// What the hub's thread works with.
struct Desk {
    poll: Poll,
    seats: HashMap<usize, Seat>,
    /// Connections that had more to read when their turn was over.
    again: VecDeque<usize>,
    spare: Vec<Vec<u8>>,
}

/// How a turn ended.
enum Turn {
    /// All that has arrived is read.
    Dry,
    /// There may be more.
    More,
    /// The connection is over.
    Over(Error),
}

impl Desk {
    fn new(poll: Poll) -> Desk {
        Desk { poll, seats: HashMap::new(), again: VecDeque::new(), spare: Vec::new() }
    }

    fn run(&mut self) {
        let mut events = Events::with_capacity(256);
        loop {
            let wait = if self.again.is_empty() { None } else { Some(std::time::Duration::ZERO) };
            match self.poll.poll(&mut events, wait) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                other => other.expect("an epoll can be waited for"),
            }
            self.obey();
            for id in std::mem::take(&mut self.again) {
                self.read(id, true);
            }
            for event in &events {
                if event.token() == WAKE {
                    continue;
                }
                let id = event.token().0;
                if event.is_writable()
                    && self.seats.get(&id).is_some_and(|seat| seat.link.writable())
                {
                    self.listen(id, Interest::READABLE);
                }
                if event.is_readable() || event.is_read_closed() || event.is_error() {
                    self.read(id, event.is_read_closed() || event.is_error());
                }
            }
        }
    }

    fn obey(&mut self) {
        // Only what is there now: work that orders more work must not starve the streams.
        let orders = std::mem::take(&mut *hub().orders.lock().expect("no holder panics"));
        for order in orders {
            match order {
                Order::Add(link) => self.add(link),
                Order::Close(id, why) => self.end(id, &why),
                Order::Check(id, error) => {
                    let end = loop {
                        match self.turn(id, true) {
                            Some(Turn::More) => {}
                            Some(Turn::Over(why)) => break Some(why),
                            Some(Turn::Dry) | None => break None,
                        }
                    };
                    if let Some(seat) = self.seats.get(&id) {
                        let why = end.unwrap_or_else(|| lost(&seat.link.name, error));
                        self.end(id, &why);
                    }
                }
                Order::Full(id) => self.listen(id, Interest::READABLE | Interest::WRITABLE),
                Order::Run(work) => work(),
            }
        }
    }

    fn add(&mut self, link: Arc<Link>) {
        let id = link.id;
        let (fd, interest) = (link.stream.as_raw_fd(), Interest::READABLE);
        let registered = self.poll.registry().register(&mut SourceFd(&fd), Token(id), interest);
        let name = link.name.clone();
        self.seats.insert(id, Seat { link, buffer: Vec::new(), start: 0, end: 0 });
        match registered {
            // What has come before may lie where no descriptor tells of it.
            Ok(()) => self.read(id, false),
            Err(error) => self.end(id, &lost(&name, error)),
        }
    }

    /// What events to hear of: that a socket takes bytes only while something waits for it. A Unix
    /// socket has one for each message that its peer reads, and each would wake this thread.
    fn listen(&mut self, id: usize, interest: Interest) {
        let Some(seat) = self.seats.get(&id) else { return };
        let fd = seat.link.stream.as_raw_fd();
        if let Err(error) = self.poll.registry().reregister(&mut SourceFd(&fd), Token(id), interest)
        {
            let why = lost(&seat.link.name, error);
            self.end(id, &why);
        }
    }

    fn end(&mut self, id: usize, why: &Error) {
        if let Some(seat) = self.seats.remove(&id) {
            // It may never have been registered; closing it would deregister it as well.
            let _ = self.poll.registry().deregister(&mut SourceFd(&seat.link.stream.as_raw_fd()));
            seat.link.end(why);
        }
    }

    fn read(&mut self, id: usize, to_the_end: bool) {
        match self.turn(id, to_the_end) {
            Some(Turn::More) => self.again.push_back(id),
            Some(Turn::Over(why)) => self.end(id, &why),
            Some(Turn::Dry) | None => {}
        }
    }

    /// Reads from one connection for a while. Without `to_the_end` a read that leaves room says
    /// that there is no more: whatever comes later, also the end, is a new event.
    fn turn(&mut self, id: usize, to_the_end: bool) -> Option<Turn> {
        let seat = self.seats.get_mut(&id)?;
        if seat.buffer.is_empty() {
            seat.buffer = self.spare.pop().unwrap_or_else(|| vec![0; BUFFER]);
        }
        let mut turn = Turn::More;
        for _ in 0..TURN {
            let room = seat.buffer.len() - seat.end;
            match (&seat.link.stream).read(&mut seat.buffer[seat.end..]) {
                Ok(0) => {
                    let closed = io::ErrorKind::ConnectionReset.into();
                    turn = Turn::Over(lost(&seat.link.name, closed));
                }
                Ok(n) => {
                    seat.end += n;
                    if let Err(why) = seat.digest() {
                        turn = Turn::Over(why);
                    } else if n < room && !to_the_end {
                        turn = Turn::Dry;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => turn = Turn::Dry,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => turn = Turn::Over(lost(&seat.link.name, error)),
            }
            if !matches!(turn, Turn::More) {
                break;
            }
        }
        if seat.start == seat.end {
            // Idle connections hold no buffer, and few large ones are kept in all.
            let buffer = std::mem::take(&mut seat.buffer);
            if self.spare.len() < SPARE {
                self.spare.push(buffer);
            }
        }
        Some(turn)
    }
}

impl Seat {
    /// Hands on the messages that are whole and makes room for the next.
    fn digest(&mut self) -> Result<(), Error> {
        let name = &self.link.name;
        let broken = |why: &dyn std::fmt::Display| {
            let text = format!("the connection to {name} ended: it broke the protocol: {why}");
            Error::new(Errno::CONNRESET, text)
        };
        loop {
            let bytes = &self.buffer[self.start..self.end];
            match Frame::cut(bytes, self.link.arriving_max()).map_err(|why| broken(&why))? {
                Some((frame, size)) => {
                    self.link.arrived(frame).map_err(|why| broken(&why))?;
                    self.start += size;
                }
                None => break,
            }
        }
        let left = self.end - self.start;
        // A message's size was held against the agreed one before memory is taken for it.
        let size = self.buffer[self.start..self.end].first_chunk::<4>();
        let wanted = size.map_or(BUFFER, |size| u32::from_le_bytes(*size) as usize);
        if left == 0 || self.start + wanted > self.buffer.len() {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, left);
        }
        if wanted > self.buffer.len() {
            // Room for what follows as well, so that bulk reads do not end at each message.
            self.buffer.resize(wanted + BUFFER, 0);
        }
        Ok(())
    }
}

fn lost(name: &str, error: io::Error) -> Error {
    let why = match error.kind() {
        // It closed with something of ours unread, or was killed and could not say goodbye; that is
        // no other case for anybody.
        io::ErrorKind::ConnectionReset
        | io::ErrorKind::BrokenPipe
        | io::ErrorKind::UnexpectedEof => "the server closed it".into(),
        _ => Error::from(error).text,
    };
    Error::new(Errno::CONNRESET, format!("the connection to {name} ended: {why}"))
}
