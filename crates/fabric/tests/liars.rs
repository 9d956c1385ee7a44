//! The suite of `muster_fabric::conformance` itself: a transport that breaks one promise in one way
//! is found out by that promise, and one that only passes everything on keeps all of them.

use muster_fabric::address::Address;
use muster_fabric::conformance::Subject;
use muster_fabric::protocol::Payload;
use muster_fabric::region::Region;
use muster_fabric::strategy::{
    ActiveMessage, Bare, Completion, Datagram, Handler, Handlers, Key, Ready, RemoteCopy, Stream,
    Taken, Wait,
};
use muster_fabric::transport::process::Process;
use muster_fabric::transport::socket::Tcp;
use muster_fabric::transport::{Adapter, Capabilities, Hello, Listener, Peer, Transport};
use muster_fabric::{Deadline, Error, Result};
use std::io::{self, IoSlice, PipeReader, PipeWriter, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// What is not true of a transport.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lie {
    /// Nothing: all is true.
    Nothing,
    /// Its ends' descriptor tells of nothing.
    Silent,
    /// It tells of something all the time.
    Restless,
    /// All has always been taken.
    Drained,
    /// A glance sees nothing, or something, whatever there is.
    Blind,
    Seer,
    /// The parts of a message that is queued are lost; or all of the message, or its order.
    Parts,
    Queue,
    Order,
    /// What is kept is less than what would be taken.
    Less,
    /// Only the first of several places is sent, and all were said to be.
    First,
    /// What was written is never delivered.
    Undelivered,
    /// The socket below is another one.
    Elsewhere,
    /// Calls that were flushed wait for another call.
    Calls,
    /// A region that was withdrawn is still within reach.
    Withdrawn,
    /// A wait ends with its deadline by another error, or as if something had come.
    Otherwise,
    Patient,
    /// So does accepting, or connecting to nobody.
    Accepts,
    Connects,
    /// A listener's descriptors tell of nobody; or there are none, and yet it is idle.
    Deaf,
    Idle,
    /// Addresses of others are its own.
    Foreign,
}

use Lie::*;

/// A descriptor that tells of nothing, and one that always tells of something.
static SILENT: LazyLock<(PipeReader, PipeWriter)> = LazyLock::new(|| io::pipe().expect("a pipe"));
static RESTLESS: LazyLock<(PipeReader, PipeWriter)> = LazyLock::new(|| {
    let (reader, mut writer) = io::pipe().expect("a pipe");
    writer.write_all(b"x").expect("there is room");
    (reader, writer)
});

/// A transport that lies, over one that does not.
struct Liar {
    lie: Lie,
    process: Process,
    is_tcp: bool,
}

impl Liar {
    fn new(lie: Lie) -> Liar {
        // Listeners between threads have no descriptors.
        let is_tcp = matches!(lie, Deaf | Idle | Undelivered | Elsewhere);
        Liar { lie, process: Process::default(), is_tcp }
    }

    fn over_tcp() -> Liar {
        Liar { is_tcp: true, ..Liar::new(Lie::Nothing) }
    }

    fn honest(&self) -> &dyn Transport {
        if self.is_tcp { &Tcp } else { &self.process }
    }
}

impl Subject for Liar {
    fn transport(&self) -> &dyn Transport {
        self
    }

    fn address(&self) -> Address {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        match self.is_tcp {
            true => Address::Tcp("127.0.0.1".to_owned(), 0),
            false => Address::Process(format!("liar-{}", NEXT.fetch_add(1, Ordering::Relaxed))),
        }
    }

    /// What is never told is not waited for long.
    fn patience(&self) -> Duration {
        Duration::from_secs(if self.lie == Lie::Nothing { 20 } else { 2 })
    }
}

impl Transport for Liar {
    fn scheme(&self) -> &'static str {
        self.honest().scheme()
    }

    fn capabilities(&self) -> Capabilities {
        self.honest().capabilities()
    }

    fn listen(&self, at: &Address) -> Result<Box<dyn Listener>> {
        let own = Address::Process("foreign".to_owned());
        let is_foreign = self.lie == Foreign && matches!(at, Address::Tcp(..));
        let inner = self.honest().listen(if is_foreign { &own } else { at })?;
        Ok(Box::new(Door { inner, lie: self.lie }))
    }

    fn connect(&self, to: &Address, hello: &Hello, deadline: Deadline) -> Result<Box<dyn Adapter>> {
        match self.honest().connect(to, hello, deadline) {
            Err(Error::Deadline { .. }) if self.lie == Connects => Err(refused()),
            connected => Ok(Box::new(Half { inner: connected?, lie: self.lie })),
        }
    }
}

fn refused() -> Error {
    Error::Refused { peer: "a liar".to_owned(), why: "it is late".to_owned() }
}

struct Door {
    inner: Box<dyn Listener>,
    lie: Lie,
}

impl Listener for Door {
    fn address(&self) -> &Address {
        self.inner.address()
    }

    fn accept(&mut self, deadline: Deadline) -> Result<Box<dyn Adapter>> {
        match self.inner.accept(deadline) {
            Err(Error::Deadline { .. }) if self.lie == Accepts => Err(refused()),
            accepted => Ok(Box::new(Half { inner: accepted?, lie: self.lie })),
        }
    }

    fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        match self.lie {
            Deaf => vec![SILENT.0.as_fd()],
            Idle => Vec::new(),
            _ => self.inner.descriptors(),
        }
    }

    fn is_idle(&self) -> bool {
        matches!(self.lie, Deaf | Idle) || self.inner.is_idle()
    }
}

struct Half {
    inner: Box<dyn Adapter>,
    lie: Lie,
}

impl Half {
    fn turned<E>(self, turn: impl FnOnce(Box<dyn Adapter>) -> Result<E>) -> Result<Box<Lying<E>>> {
        let lie = self.lie;
        Ok(Box::new(Lying { end: turn(self.inner)?, lie, late: Vec::new(), call: None }))
    }
}

impl Adapter for Half {
    fn peer(&self) -> &Peer {
        self.inner.peer()
    }

    fn hello(&self) -> &Hello {
        self.inner.hello()
    }

    fn datagram(self: Box<Self>) -> Result<Box<dyn Datagram>> {
        Ok(self.turned(|end| end.datagram())?)
    }

    fn stream(self: Box<Self>) -> Result<Box<dyn Stream>> {
        Ok(self.turned(|end| end.stream())?)
    }

    fn active_message(self: Box<Self>) -> Result<Box<dyn ActiveMessage>> {
        Ok(self.turned(|end| end.active_message())?)
    }

    fn remote_copy(self: Box<Self>) -> Result<Box<dyn RemoteCopy>> {
        Ok(self.turned(|end| end.remote_copy())?)
    }
}

/// One end of any strategy.
struct Lying<E> {
    end: E,
    lie: Lie,
    /// A message that is sent behind the one that follows.
    late: Vec<u8>,
    /// A call that waits for another.
    call: Option<(Handler, Vec<u8>)>,
}

impl<E: Wait> Wait for Lying<E> {
    fn peer(&self) -> &Peer {
        self.end.peer()
    }

    fn me(&self) -> &str {
        self.end.me()
    }

    fn wait(&mut self, ready: Ready, deadline: Deadline) -> Result<()> {
        match self.end.wait(ready, deadline) {
            Err(Error::Deadline { .. }) if self.lie == Otherwise => Err(refused()),
            Err(Error::Deadline { .. }) if self.lie == Patient => Ok(()),
            waited => waited,
        }
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        match self.lie {
            Silent => Some(SILENT.0.as_fd()),
            Restless => Some(RESTLESS.0.as_fd()),
            _ => self.end.descriptor(),
        }
    }

    fn glance(&mut self) -> Option<bool> {
        match self.lie {
            Blind => Some(false),
            Seer => Some(true),
            _ => self.end.glance(),
        }
    }
}

impl<E: Datagram> Datagram for Lying<E> {
    fn limit(&self) -> usize {
        self.end.limit()
    }

    fn try_fill(&mut self, size: usize, fill: &mut dyn FnMut(&mut [u8])) -> Result<()> {
        self.end.try_fill(size, fill)
    }

    fn try_send(&mut self, parts: &[IoSlice<'_>]) -> Result<()> {
        self.end.try_send(parts)
    }

    fn try_queue(&mut self, parts: &[&[u8]], body: &Payload) -> Result<()> {
        match self.lie {
            Parts => self.end.try_queue(&[], body),
            Queue if parts.len() == 2 => Ok(()),
            Order if self.late.is_empty() => {
                self.late = [&parts.concat(), &body[..]].concat();
                Ok(())
            }
            Order => {
                self.end.try_queue(parts, body)?;
                let late = Payload::from(std::mem::take(&mut self.late));
                while matches!(self.end.try_queue(&[], &late), Err(Error::WouldBlock)) {
                    self.end.wait(Ready::Send, Deadline::after(Duration::from_secs(20)))?;
                }
                Ok(())
            }
            _ => self.end.try_queue(parts, body),
        }
    }

    fn try_take(&mut self, take: &mut dyn FnMut(&[u8])) -> Result<()> {
        self.end.try_take(take)
    }

    fn try_keep(&mut self, take: &mut dyn FnMut(Taken<'_>)) -> Result<()> {
        if self.lie != Less {
            return self.end.try_keep(take);
        }
        self.end.try_take(&mut |message| {
            take(Taken::Seen(&message[..message.len().saturating_sub(1)]));
        })
    }

    fn is_drained(&self) -> bool {
        self.lie == Drained || self.end.is_drained()
    }

    fn try_flush(&mut self) -> Result<bool> {
        self.end.try_flush()
    }

    fn send(&mut self, parts: &[IoSlice<'_>], deadline: Deadline) -> Result<()> {
        self.end.send(parts, deadline)
    }

    fn take(&mut self, deadline: Deadline, take: &mut dyn FnMut(&[u8])) -> Result<()> {
        self.end.take(deadline, take)
    }
}

impl<E: Stream> Stream for Lying<E> {
    fn try_write(&mut self, bytes: &[u8]) -> Result<usize> {
        self.end.try_write(bytes)
    }

    fn try_write_parts(&mut self, parts: &[IoSlice<'_>]) -> Result<usize> {
        let written = self.end.try_write_parts(parts)?;
        let all = parts.iter().map(|part| part.len()).sum();
        Ok(if self.lie == First { all } else { written })
    }

    fn try_flush(&mut self) -> Result<bool> {
        self.end.try_flush()
    }

    fn try_read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        self.end.try_read(buffer)
    }

    fn is_delivered(&self) -> bool {
        self.lie != Undelivered && self.end.is_delivered()
    }

    fn finish(&mut self, deadline: Deadline) -> Result<()> {
        self.end.finish(deadline)
    }

    fn socket(&self) -> Option<BorrowedFd<'_>> {
        if self.lie == Elsewhere { Some(SILENT.0.as_fd()) } else { self.end.socket() }
    }

    fn bare(&mut self) -> Result<Bare> {
        self.end.bare()
    }
}

impl<E: ActiveMessage> ActiveMessage for Lying<E> {
    fn limit(&self) -> usize {
        self.end.limit()
    }

    fn try_call(&mut self, handler: Handler, arguments: &[IoSlice<'_>]) -> Result<()> {
        if self.lie != Calls {
            return self.end.try_call(handler, arguments);
        }
        if let Some((handler, arguments)) = &self.call {
            self.end.try_call(*handler, &[IoSlice::new(arguments)])?;
        }
        let arguments: Vec<&[u8]> = arguments.iter().map(|part| &**part).collect();
        self.call = Some((handler, arguments.concat()));
        Ok(())
    }

    fn try_progress(&mut self, handlers: &mut dyn Handlers) -> Result<usize> {
        self.end.try_progress(handlers)
    }

    fn try_flush(&mut self) -> Result<bool> {
        self.end.try_flush()
    }
}

impl<E: RemoteCopy> RemoteCopy for Lying<E> {
    fn expose(&mut self, region: &Region) -> Result<Key> {
        self.end.expose(region)
    }

    fn withdraw(&mut self, key: Key) -> Result<()> {
        if self.lie == Withdrawn { Ok(()) } else { self.end.withdraw(key) }
    }

    fn try_put(&mut self, key: Key, offset: u64, bytes: &[u8], token: u64) -> Result<()> {
        self.end.try_put(key, offset, bytes, token)
    }

    fn try_get(&mut self, key: Key, offset: u64, count: usize, token: u64) -> Result<()> {
        self.end.try_get(key, offset, count, token)
    }

    fn try_progress(&mut self) -> Result<Option<Completion>> {
        self.end.try_progress()
    }

    fn try_flush(&mut self) -> Result<bool> {
        self.end.try_flush()
    }
}

/// Each lie, the promise that it breaks, and what that promise says then.
macro_rules! lies {
    ($($name:ident: $lie:ident breaks $promise:ident, $said:literal;)*) => {
        $(
            #[test]
            #[should_panic(expected = $said)]
            fn $name() {
                muster_fabric::conformance::$promise(&Liar::new($lie));
            }
        )*
    };
}

lies! {
    a_descriptor_that_tells_of_nothing_is_found_out: Silent
        breaks a_descriptor_tells_of_what_comes, "the descriptor tells of what has come";
    a_descriptor_that_tells_without_end_is_found_out: Restless
        breaks a_descriptor_tells_of_what_comes, "goes on to tell of what is not there";
    a_descriptor_that_tells_of_no_copy_is_found_out: Silent
        breaks a_descriptor_tells_of_copies, "the descriptor tells of what has ended";
    a_descriptor_that_tells_of_nothing_during_a_send_is_found_out: Silent
        breaks a_descriptor_tells_of_what_came_during_a_send, "tells of what has come";
    an_end_that_always_says_that_nothing_is_left_is_found_out: Drained
        breaks who_believes_that_nothing_is_left_misses_nothing, "told of or said to be left";
    a_glance_that_sees_nothing_is_found_out: Blind
        breaks a_glance_sees_what_has_come, "a glance does not see what has come";
    a_glance_that_sees_what_is_not_there_is_found_out: Seer
        breaks a_glance_sees_what_has_come, "a glance sees what is not there";
    who_loses_the_parts_of_what_is_queued_is_found_out: Parts
        breaks what_was_queued_comes_whole_and_in_order, "bytes came of";
    who_loses_what_is_queued_is_found_out: Queue
        breaks what_was_queued_comes_whole_and_in_order, "bytes came of";
    who_queues_in_another_order_is_found_out: Order
        breaks what_was_queued_comes_whole_and_in_order, "bytes came of";
    who_keeps_less_than_all_is_found_out: Less
        breaks what_is_kept_is_what_would_be_taken, "other bytes are kept";
    who_sends_less_than_it_says_is_found_out: First
        breaks bytes_in_several_places_come_as_one, "other bytes";
    who_never_delivers_is_found_out: Undelivered
        breaks what_was_read_is_delivered, "not said to be delivered";
    a_socket_that_is_another_is_found_out: Elsewhere
        breaks a_socket_below_carries_the_bytes, "the bytes of a stream come at its socket";
    a_flush_that_leaves_a_call_is_found_out: Calls
        breaks what_was_called_and_flushed_is_carried_out, "calls were carried out";
    a_region_that_stays_is_found_out: Withdrawn
        breaks a_withdrawn_region_is_out_of_reach, "still within reach";
    a_wait_that_ends_otherwise_is_found_out: Otherwise
        breaks waits_end_at_their_deadlines, "ended otherwise";
    a_wait_that_says_that_something_came_is_found_out: Patient
        breaks waits_end_at_their_deadlines, "does not end at its deadline";
    who_accepts_nobody_otherwise_is_found_out: Accepts
        breaks accepting_ends_at_its_deadline, "ended otherwise";
    who_connects_to_nobody_otherwise_is_found_out: Connects
        breaks connecting_to_one_who_accepts_nobody_ends_at_its_deadline, "ended otherwise";
    a_listener_that_tells_of_nobody_is_found_out: Deaf
        breaks a_listener_tells_who_comes, "a descriptor tells of who has come";
    a_listener_that_is_idle_for_ever_is_found_out: Idle
        breaks a_listener_tells_who_comes, "nothing tells of one";
    who_takes_others_addresses_is_found_out: Foreign
        breaks a_foreign_address_is_unsupported, "foreign";
}

/// Who only passes everything on breaks nothing, so what was found out above were the lies.
macro_rules! honest {
    ($name:ident: $liar:expr) => {
        mod $name {
            use super::*;

            muster_fabric::conformance!($liar =>
                what_was_queued_comes_whole_and_in_order
                what_is_kept_is_what_would_be_taken
                a_descriptor_tells_of_what_comes
                a_descriptor_tells_of_copies
                a_descriptor_tells_of_what_came_during_a_send
                who_believes_that_nothing_is_left_misses_nothing
                a_glance_sees_what_has_come
                bytes_in_several_places_come_as_one
                what_was_read_is_delivered
                a_socket_below_carries_the_bytes
                what_was_called_and_flushed_is_carried_out
                a_withdrawn_region_is_out_of_reach
                waits_end_at_their_deadlines
                accepting_ends_at_its_deadline
                connecting_to_one_who_accepts_nobody_ends_at_its_deadline
                a_listener_tells_who_comes
                a_foreign_address_is_unsupported
            );
        }
    };
}

honest!(between_threads: Liar::new(Lie::Nothing));
honest!(over_tcp: Liar::over_tcp());
