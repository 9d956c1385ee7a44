//! Serves a tree on sockets: a thin shell around [`Session`].
//!
//! A few threads, each with its own readiness loop and its own connections; a request is carried
//! out on the thread that read it. Late answers wake the loop of their connection. A peer that
//! does not take its replies, or that writes more to another server than that takes, is not read
//! from; a peer that sends what is not 9P is cut off. What a peer may hold is limited (`room`): it
//! must attach in time, and memory for large messages is there for all connections together.

use crate::processors::Processors;
use crate::room::{Limits, Place, Room, Share};
use crate::session::Session;
use crate::stream::{Listener, Stream};
use crate::sys::{self, Span};
use crate::tree::{Peer, Tree};
use mio::{Events, Interest, Poll, Registry, Token, Waker};
use rustix::io::Errno;
use std::collections::HashMap;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How long a loop looks for the next request before it sleeps, when requests come that soon: to
/// wake a processor that has gone to sleep takes about as long (docs/decisions/9p-speed.md).
const SPIN: Duration = Duration::from_micros(100);

/// How often it is asked meanwhile whether others want the processor.
const ASKED: Duration = Duration::from_micros(10);

/// Reads of one connection before the others get their turn.
const TURN: usize = 32;

/// A connection's buffer at first; it grows as bytes arrive, up to the agreed message size.
const FIRST_BUFFER: usize = 8 * 1024;

/// Room behind a whole message, so that a large one is followed by the next one's header.
const AHEAD: usize = 64 * 1024;

/// How long a listener waits for descriptors before it tries again.
const ACCEPT_AGAIN: Duration = Duration::from_millis(100);

/// How long a connection that waits for memory waits before it asks again.
const GROW_AGAIN: Duration = Duration::from_millis(10);

/// How often connections are looked at that hold memory or have not attached.
const SWEEP: Duration = Duration::from_secs(1);

const WAKER: Token = Token(usize::MAX);

/// What another thread asks of a loop.
enum Order {
    Listen(Listener),
    Adopt(Stream),
    Stop,
}

/// The part of a loop that other threads reach.
struct Post {
    orders: Mutex<Vec<Order>>,
    /// Connections for which late answers have arrived.
    woken: Mutex<Vec<usize>>,
    waker: Waker,
}

impl Post {
    fn order(&self, order: Order) {
        self.orders.lock().expect("no holder panics").push(order);
        // It fails only when the loop is gone, and then there is nothing to order.
        let _ = self.waker.wake();
    }

    fn wake(&self, connection: usize) {
        let mut woken = self.woken.lock().expect("no holder panics");
        woken.push(connection);
        if woken.len() == 1 {
            let _ = self.waker.wake();
        }
    }
}

/// Which peers are served; others are cut off before a byte is read.
pub type Admit = fn(&Peer) -> bool;

/// Serves only the user who runs this process, and root.
pub fn same_user(peer: &Peer) -> bool {
    let own = rustix::process::geteuid().as_raw();
    peer.uid.is_some_and(|uid| uid == own || uid == 0)
}

/// A running server. Dropping it ends its threads and connections.
pub struct Server {
    posts: Arc<[Arc<Post>]>,
    threads: Vec<JoinHandle<()>>,
}

impl Server {
    /// Starts `threads` loops that serve `tree` to the peers that `admit` lets in.
    ///
    /// # Errors
    /// When the system has no descriptors or threads left.
    pub fn start<T: Tree>(tree: &Arc<T>, threads: usize, admit: Admit) -> io::Result<Server> {
        Server::start_within(Limits::default(), tree, threads, admit)
    }

    fn start_within<T: Tree>(
        limits: Limits,
        tree: &Arc<T>,
        threads: usize,
        admit: Admit,
    ) -> io::Result<Server> {
        let polls = (0..threads.max(1)).map(|_| Poll::new()).collect::<io::Result<Vec<_>>>()?;
        let posts = polls.iter().map(|poll| {
            let waker = Waker::new(poll.registry(), WAKER)?;
            Ok(Arc::new(Post { orders: Mutex::default(), woken: Mutex::default(), waker }))
        });
        let posts: Arc<[Arc<Post>]> = posts.collect::<io::Result<Vec<_>>>()?.into();
        let mut server = Server { posts: posts.clone(), threads: Vec::new() };
        let room = Room::new(limits);
        for (at, poll) in polls.into_iter().enumerate() {
            let mut serving = Loop {
                tree: tree.clone(),
                admit,
                poll,
                post: posts[at].clone(),
                posts: posts.clone(),
                room: room.clone(),
                listeners: HashMap::new(),
                connections: HashMap::new(),
                leaving: HashMap::new(),
                ready: Vec::new(),
                short: Vec::new(),
                wanting: Vec::new(),
                sweep: None,
                next: 0,
                brisk: false,
                processors: Processors::new(),
            };
            let thread = std::thread::Builder::new().name(format!("9p-{at}"));
            server.threads.push(thread.spawn(move || serving.run())?);
        }
        Ok(server)
    }

    /// Accepts connections from `listener`.
    pub fn listen(&self, listener: Listener) {
        self.posts[0].order(Order::Listen(listener));
    }

    /// Serves a connection that somebody else has accepted.
    pub fn adopt(&self, stream: Stream) {
        self.posts[0].order(Order::Adopt(stream));
    }

    /// A connection from within this process.
    ///
    /// # Errors
    /// When no socket pair can be made.
    pub fn connect(&self) -> io::Result<Stream> {
        let (ours, theirs) = Stream::pair()?;
        self.adopt(theirs);
        Ok(ours)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.posts.iter().for_each(|post| post.order(Order::Stop));
        for thread in self.threads.drain(..) {
            // A loop that panicked has said so; there is nothing more to end.
            let _ = thread.join();
        }
    }
}

/// One thread's loop.
struct Loop<T: Tree> {
    tree: Arc<T>,
    admit: Admit,
    poll: Poll,
    post: Arc<Post>,
    posts: Arc<[Arc<Post>]>,
    /// What all loops give out.
    room: Arc<Room>,
    listeners: HashMap<usize, Listener>,
    connections: HashMap<usize, Connection<T>>,
    /// Sessions whose connection has ended, but not yet all that their trees carry out for them.
    leaving: HashMap<usize, (Session<T>, Place)>,
    /// Connections that have used up their turn.
    ready: Vec<usize>,
    /// Listeners that could not accept for want of descriptors.
    short: Vec<usize>,
    /// Connections that wait for memory.
    wanting: Vec<usize>,
    /// When connections are to be looked at, if any are.
    sweep: Option<Instant>,
    next: usize,
    /// What happened last came so soon that sleeping was not worth it.
    brisk: bool,
    processors: Processors,
}

impl<T: Tree> Loop<T> {
    fn run(&mut self) {
        let mut events = Events::with_capacity(256);
        loop {
            match self.await_events(&mut events) {
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => panic!("the readiness loop has failed: {error}"),
                Ok(()) => {}
            }
            std::mem::take(&mut self.short).into_iter().for_each(|at| self.accept(at));
            let mut turn = std::mem::take(&mut self.ready);
            turn.append(&mut self.wanting);
            for event in &events {
                let Token(at) = event.token();
                if let Some(connection) = self.connections.get_mut(&at) {
                    connection.readable |= event.is_readable() || event.is_read_closed();
                    connection.closing |= event.is_read_closed();
                    connection.writable |= event.is_writable();
                    turn.push(at);
                } else if self.listeners.contains_key(&at) {
                    self.accept(at);
                } else if event.token() == WAKER {
                    turn.append(&mut self.post.woken.lock().expect("no holder panics"));
                    let orders = std::mem::take(&mut *self.post.orders.lock().expect("same"));
                    for order in orders {
                        match order {
                            Order::Stop => return,
                            Order::Adopt(stream) => turn.extend(self.adopt(stream)),
                            Order::Listen(listener) => self.listen(listener),
                        }
                    }
                }
            }
            turn.sort_unstable();
            turn.dedup();
            turn.into_iter().for_each(|at| self.serve(at));
            self.sweep();
        }
    }

    /// Waits for something to happen: at first without sleeping, if what happened last came soon
    /// and nobody wants this processor.
    fn await_events(&mut self, events: &mut Events) -> io::Result<()> {
        let (wait, start) = (self.wait(), Instant::now());
        let mut asked = None;
        if self.brisk && wait.is_none_or(|wait| wait >= SPIN) {
            while start.elapsed() < SPIN {
                self.poll.poll(events, Some(Duration::ZERO))?;
                if !events.is_empty() {
                    return Ok(());
                }
                std::thread::yield_now();
                if asked.is_none_or(|at: Instant| at.elapsed() >= ASKED) {
                    asked = Some(Instant::now());
                    if self.processors.are_wanted() {
                        break;
                    }
                }
            }
        }
        let done = self.poll.poll(events, wait);
        self.brisk = start.elapsed() <= 2 * SPIN;
        done
    }

    /// How long nothing needs to be done unless something happens.
    fn wait(&self) -> Option<Duration> {
        let if_any = |list: &[usize], wait| (!list.is_empty()).then_some(wait);
        let sweep = self.sweep.map(|at| at.saturating_duration_since(Instant::now()));
        let ready = if_any(&self.ready, Duration::ZERO);
        let waits = [ready, if_any(&self.short, ACCEPT_AGAIN), if_any(&self.wanting, GROW_AGAIN)];
        waits.into_iter().chain([sweep]).flatten().min()
    }

    fn listen(&mut self, mut listener: Listener) {
        self.next += 1;
        let registry = self.poll.registry();
        registry.register(&mut listener, Token(self.next), Interest::READABLE).expect("a new one");
        self.listeners.insert(self.next, listener);
        self.accept(self.next);
    }

    fn accept(&mut self, at: usize) {
        while let Some(listener) = self.listeners.get(&at) {
            match listener.accept() {
                Ok(stream) => {
                    // Round robin over the loops; this one's own order wakes it as well.
                    self.next += 1;
                    self.posts[self.next % self.posts.len()].order(Order::Adopt(stream));
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::ConnectionAborted => {}
                // No descriptors are left: the peer waits in the backlog until some are, and
                // no event will tell when.
                Err(_) => {
                    self.short.push(at);
                    break;
                }
            }
        }
    }

    fn adopt(&mut self, mut stream: Stream) -> Option<usize> {
        let peer = stream.peer();
        if !(self.admit)(&peer) {
            return None;
        }
        let stranger = peer.uid.filter(|_| matches!(stream, Stream::Tcp(_)));
        let place = self.room.place(stranger)?;
        self.next += 1;
        let at = self.next;
        self.poll.registry().register(&mut stream, Token(at), interest(false)).ok()?;
        let post = self.post.clone();
        let mut session = Session::new(self.tree.clone(), peer, move || post.wake(at));
        if stream.is_plain() {
            session.outbox().let_map();
        }
        self.connections.insert(at, Connection::new(stream, session, &self.room, place));
        self.sweep_soon();
        Some(at)
    }

    fn serve(&mut self, at: usize) {
        let Some(connection) = self.connections.get_mut(&at) else { return self.settle(at) };
        let turn = connection.turn();
        if connection.heed_room(self.poll.registry(), Token(at)).is_err() {
            return self.end(at);
        }
        match turn {
            Turn::Waits => {}
            Turn::HasMore => self.ready.push(at),
            Turn::Ends => return self.end(at),
        }
        if connection.share.is_wanting() {
            self.wanting.push(at);
        }
        if connection.share.bytes() > 0 {
            if self.room.is_short() {
                connection.shrink();
            }
            self.sweep_soon();
        }
    }

    /// Ends a connection.
    fn end(&mut self, at: usize) {
        let Some(connection) = self.connections.remove(&at) else { return };
        let Connection { mut session, place, .. } = connection;
        session.close();
        self.leaving.insert(at, (session, place));
        self.settle(at);
    }

    fn sweep_soon(&mut self) {
        let soon = SWEEP.min(self.room.limits().patience);
        self.sweep.get_or_insert_with(|| Instant::now() + soon);
    }

    /// Takes back memory that is not used, and ends connections that keep others waiting.
    fn sweep(&mut self) {
        let now = Instant::now();
        if self.sweep.is_none_or(|at| now < at) {
            return;
        }
        self.sweep = None;
        let (short, patience) = (self.room.is_short(), self.room.limits().patience);
        let (mut watched, mut over) = (false, Vec::new());
        for (at, connection) in &mut self.connections {
            connection.look(now);
            watched |= !connection.begun || connection.share.bytes() > 0;
            if connection.is_over(now, patience, short) {
                over.push(*at);
            }
        }
        if watched {
            self.sweep_soon();
        }
        over.into_iter().for_each(|at| self.end(at));
    }

    /// Forgets a session whose connection has ended once it is settled; until then it counts.
    fn settle(&mut self, at: usize) {
        let Some((session, _)) = self.leaving.get_mut(&at) else { return };
        session.conclude();
        if session.is_settled() {
            self.leaving.remove(&at);
        }
    }
}

/// What to be told of a connection.
fn interest(awaits_room: bool) -> Interest {
    if awaits_room { Interest::READABLE | Interest::WRITABLE } else { Interest::READABLE }
}

/// How a connection's turn ended.
enum Turn {
    Waits,
    HasMore,
    Ends,
}

struct Connection<T: Tree> {
    stream: Stream,
    session: Session<T>,
    buffer: Vec<u8>,
    /// The part of the buffer that holds bytes not yet carried out.
    start: usize,
    end: usize,
    readable: bool,
    writable: bool,
    /// An event tells when the socket takes bytes again. Only then: a Unix socket has one for each
    /// message that its peer reads, and each would wake the loop.
    awaits_room: bool,
    /// The peer sends no more: read until the end is seen.
    closing: bool,
    room: Arc<Room>,
    place: Place,
    /// The memory it may use beyond the first buffer.
    share: Share,
    born: Instant,
    /// The peer has attached, so it is somebody who uses the server.
    begun: bool,
    /// Something was carried out since [`Connection::look`].
    moved: bool,
    /// Since when it has held memory for a message that does not get on.
    stuck: Option<Instant>,
}

impl<T: Tree> Connection<T> {
    fn new(stream: Stream, session: Session<T>, room: &Arc<Room>, place: Place) -> Connection<T> {
        Connection {
            stream,
            session,
            buffer: vec![0; FIRST_BUFFER],
            start: 0,
            end: 0,
            readable: true,
            writable: true,
            awaits_room: false,
            closing: false,
            room: room.clone(),
            place,
            share: Share::of(room),
            born: Instant::now(),
            begun: false,
            moved: false,
            stuck: None,
        }
    }

    /// Gives its memory back if it holds nothing.
    fn shrink(&mut self) {
        if self.start == self.end {
            self.buffer = vec![0; FIRST_BUFFER];
            (self.start, self.end) = (0, 0);
            self.share.release();
        }
    }

    /// Gives back memory that was not used since the last look, and notes what does not get on.
    fn look(&mut self, now: Instant) {
        if !self.moved && self.share.bytes() > 0 {
            self.shrink();
        }
        let waits = !self.moved && self.share.bytes() > 0;
        self.stuck = if waits { self.stuck.or(Some(now)) } else { None };
        self.moved = false;
    }

    /// Whether it has kept others waiting for too long.
    fn is_over(&self, now: Instant, patience: Duration, short: bool) -> bool {
        let too_long = |since: Instant| now.saturating_duration_since(since) >= patience;
        !self.begun && too_long(self.born) || short && self.stuck.is_some_and(too_long)
    }

    /// Has the poll tell when the socket takes bytes again if it takes none, and only then.
    fn heed_room(&mut self, registry: &Registry, token: Token) -> io::Result<()> {
        if self.awaits_room == self.writable {
            self.awaits_room = !self.writable;
            registry.reregister(&mut self.stream, token, interest(self.awaits_room))?;
        }
        Ok(())
    }

    fn turn(&mut self) -> Turn {
        match self.advance() {
            Ok(true) => Turn::HasMore,
            Ok(false) => Turn::Waits,
            Err(_) => Turn::Ends,
        }
    }

    /// Carries out what has arrived; true if more may have. An error ends the connection.
    fn advance(&mut self) -> io::Result<bool> {
        self.session.conclude();
        for _ in 0..TURN {
            // First, so that a request which a stall has left in the buffer gets its turn.
            self.send()?;
            if self.session.is_stalled() {
                // Whoever holds up what it has written may do so for ever: its end is not to be
                // waited for behind that.
                let is_gone = self.closing && self.session.keeps_much();
                return if is_gone { Err(ErrorKind::UnexpectedEof.into()) } else { Ok(false) };
            }
            if self.session.resume() {
                self.moved = true;
                continue;
            }
            let requests = &self.buffer[self.start..self.end];
            let done = self.session.receive(requests).map_err(io::Error::other)?;
            self.start += done;
            if done > 0 {
                self.moved = true;
                self.begun = self.begun || self.session.has_begun();
                // A stall may have left whole messages behind.
                continue;
            }
            if !self.readable {
                return Ok(false);
            }
            self.read()?;
            if self.share.is_wanting() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn read(&mut self) -> io::Result<()> {
        // The buffer is empty then: whatever it held belonged to the write.
        if self.session.is_direct() && self.stream.is_plain() {
            match self.session.take_from(self.stream.as_fd()) {
                Err(error) if error.kind() == ErrorKind::Unsupported => {}
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(_) => return Ok(()),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.readable = false;
                    return Ok(());
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        } else if self.end == self.buffer.len() {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        let most = self.session.msize() + AHEAD;
        if self.end == self.buffer.len() && self.end < most {
            if !self.share.grow(most) {
                return Ok(());
            }
            self.buffer.resize((self.end * 2).min(most), 0);
        }
        let until = self.read_until();
        let room = &mut self.buffer[self.end..until];
        match self.stream.read(room) {
            Ok(0) => Err(ErrorKind::UnexpectedEof.into()),
            Ok(read) => {
                // A short read has emptied the socket; the next bytes raise a new event.
                self.readable = read == room.len() || self.closing;
                self.end += read;
                Ok(())
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                self.readable = false;
                Ok(())
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Where the next read into the buffer ends: while others wait for memory, with the message,
    /// so that the memory can be given back behind it.
    fn read_until(&self) -> usize {
        let whole = self.buffer.len();
        let large = self.share.bytes() > 0 && self.room.is_short();
        match self.buffer[self.start..self.end].first_chunk::<4>() {
            Some(size) if large => whole.min(self.start + u32::from_le_bytes(*size) as usize),
            _ => whole,
        }
    }

    fn send(&mut self) -> io::Result<()> {
        while self.writable {
            let outbox = self.session.outbox();
            let sent = if outbox.is_empty() {
                match self.stream.flush() {
                    Ok(()) => return Ok(()),
                    failed => failed.map(|()| 0),
                }
            } else if self.stream.is_plain() {
                let mut spans: Vec<Span<'_>> = Vec::with_capacity(8);
                outbox.spans(&mut spans);
                sys::send(&self.stream, &spans).map_err(io::Error::from)
            } else {
                let mut pieces = Vec::with_capacity(8);
                outbox.pieces(&mut pieces);
                self.stream.write_vectored(&pieces)
            };
            match sent {
                Ok(0) if !outbox.is_empty() => return Err(ErrorKind::WriteZero.into()),
                Ok(sent) => outbox.consume(sent),
                Err(error) if error.kind() == ErrorKind::WouldBlock => self.writable = false,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                // A file that is sent from where it is has become shorter.
                Err(error) if error.raw_os_error() == Some(Errno::FAULT.raw_os_error()) => {
                    outbox.copy_mapping()?;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
