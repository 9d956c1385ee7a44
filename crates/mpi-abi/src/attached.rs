//! Buffered sends (MPI-5.0, section 3.6). A copy is made in memory of ours; what the program has
//! attached only says how much may be under way. It may attach to a communicator, whose messages
//! then need room there; to a session, for those of all its communicators that have nothing; and
//! to the process, for all others.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use muster_message::{Buffer, Ticket};
use muster_mpi::error::{Class, Error, Result};
use muster_mpi::watch::Waits;

use crate::abi::constants::{MPI_BSEND_OVERHEAD, MPI_BUFFER_AUTOMATIC, MPI_COMM_NULL};
use crate::abi::types::*;
use crate::buffer::{Elements, count};
use crate::choice;
use crate::communicator::{Comm, communicator};
use crate::export::{Number, both, export};
use crate::object::Id;
use crate::pointer::{Address, Out, OutPointer};
use crate::request::{self, Active};
use crate::session;
use crate::world::{State, world};

/// What something is attached to; objects by their handles.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Owner {
    /// The process.
    Process,
    /// A communicator.
    Comm(usize),
    /// A session.
    Session(usize),
}

/// A message that has not left.
struct Message {
    ticket: Ticket,
    bytes: usize,
    /// Which of the process's buffered sends it is.
    number: u64,
}

/// What is attached, and what of it is used.
struct Attached {
    /// Which of all that were attached it is.
    which: u64,
    address: usize,
    /// There is no end of room where the library is to see to it.
    size: usize,
    under_way: Vec<Message>,
    /// Bytes of messages that are about to be sent.
    next: usize,
    /// The last epoch in which a message was seen to leave, and the first that was.
    left: Option<(u32, u64)>,
}

/// Buffered sends so far: a buffer may be detached, and another attached, while a flush goes on
/// that was begun before.
static SENT: AtomicU64 = AtomicU64::new(0);

/// How many were attached so far.
static ATTACHES: AtomicU64 = AtomicU64::new(0);

static ATTACHED: Mutex<BTreeMap<Owner, Attached>> = Mutex::new(BTreeMap::new());

/// All that is attached. The process is locked before it, as everywhere.
fn attached() -> MutexGuard<'static, BTreeMap<Owner, Attached>> {
    ATTACHED.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Attached {
    /// Forgets what has left.
    fn settle(&mut self, state: &mut State) {
        let now = state.endpoint.epoch();
        self.under_way.retain(|it| {
            let is_new = !state.endpoint.is_settled(it.ticket);
            let has_left = state.outcome(it.ticket).is_some();
            if has_left && is_new {
                let first = self.left.filter(|(epoch, _)| *epoch == now).map(|(_, first)| first);
                self.left = Some((now, first.map_or(it.number, |first| first.min(it.number))));
            }
            !has_left
        });
    }

    fn used(&self) -> usize {
        self.under_way.iter().map(|it| it.bytes).sum()
    }

    /// Whether the library is to see to the room.
    fn is_automatic(&self) -> bool {
        self.address == MPI_BUFFER_AUTOMATIC
    }
}

/// What was attached to this owner had these messages under way: those up to one.
#[derive(Clone, Copy)]
pub struct Flush {
    owner: Owner,
    last: u64,
}

impl Flush {
    /// All so far.
    fn begin(owner: Owner) -> Flush {
        Flush { owner, last: SENT.load(Ordering::Relaxed) }
    }

    /// Whether they have left.
    pub fn has_ended(self, state: &mut State) -> bool {
        let mut all = attached();
        let Some(own) = all.get_mut(&self.owner) else { return true };
        own.settle(state);
        own.under_way.iter().all(|it| it.number > self.last)
    }

    /// Whether it is settled that they have: in the coscheduled mode, in an earlier epoch.
    pub fn is_settled(self, state: &mut State) -> bool {
        let now = state.endpoint.epoch();
        self.has_ended(state)
            && attached().get(&self.owner).is_none_or(|own| {
                own.left.is_none_or(|(epoch, first)| epoch != now || first > self.last)
            })
    }
}

/// Sends a copy.
///
/// # Errors
/// [`Class::Buffer`] where there is no room for it, and those of sending it.
pub fn send(
    comm: &Comm,
    from: Elements,
    send: impl FnOnce(Elements) -> Result<Option<Ticket>>,
) -> Result<()> {
    let bytes = Buffer::size(&from) + MPI_BSEND_OVERHEAD as usize;
    let (owner, which) = reserve(comm, bytes)?;
    let copy = from.packed();
    let sent = from.copy_to(copy.clone()).and_then(|()| send(copy));
    let mut all = attached();
    if let Some(own) = all.get_mut(&owner).filter(|own| own.which == which) {
        own.next -= bytes;
        if let Ok(Some(ticket)) = sent {
            let number = SENT.fetch_add(1, Ordering::Relaxed) + 1;
            own.under_way.push(Message { ticket, bytes, number });
        }
    } else if let Ok(Some(ticket)) = sent {
        // Another thread has detached it meanwhile; the message goes on.
        drop(all);
        world()?.process.state().endpoint.release(ticket);
    }
    sent.map(|_| ())
}

/// Takes room for a message, and says where, and in which of those that were attached there.
/// Whether there is any depends on how fast what was sent before is received.
fn reserve(comm: &Comm, need: usize) -> Result<(Owner, u64)> {
    let owners =
        [Owner::Comm(comm.handle.0), Owner::Session(comm.inner.group().session()), Owner::Process];
    let (mut found, mut room) = (None, 0);
    choice::whether(|state| {
        let mut all = attached();
        let Some(owner) = owners.into_iter().find(|owner| all.contains_key(owner)) else {
            let what = "no buffer is attached for buffered sends (MPI_Buffer_attach)";
            return Err(Error::new(Class::Buffer, what));
        };
        let own = all.get_mut(&owner).expect("it is there");
        own.settle(state);
        room = own.size.saturating_sub(own.used() + own.next);
        if need <= room {
            own.next += need;
            found = Some((owner, own.which));
        }
        Ok(need <= room)
    })?;
    found.ok_or_else(|| {
        let what = format!(
            "the attached buffer has {room} bytes left, and the message needs {need} \
             (MPI_BSEND_OVERHEAD of them for itself)"
        );
        Error::new(Class::Buffer, what)
    })
}

/// Waits until all has left.
fn flush(owner: Owner) -> Result<()> {
    let flush = Flush::begin(owner);
    world()?.process.wait(Waits::Messages, |state| Ok(flush.has_ended(state).then_some(())))
}

/// The same, by a request.
fn begin_flush(about: impl Into<Id>, owner: Owner, request: Out<MPI_Request>) -> Result<()> {
    request.set(request::insert(about, Some(Active::Flush(Flush::begin(owner))), None))
}

/// Attaches a buffer.
fn attach(owner: Owner, buffer: Address, size: impl Number) -> Result<()> {
    let address = buffer.0.addr();
    // Of one that is the library's the size says nothing.
    let size = if address == MPI_BUFFER_AUTOMATIC { usize::MAX } else { count(size)? };
    let mut all = attached();
    if all.contains_key(&owner) {
        let what = "a buffer is attached already, and only one can be";
        return Err(Error::new(Class::Buffer, what));
    }
    let which = ATTACHES.fetch_add(1, Ordering::Relaxed);
    all.insert(
        owner,
        Attached { which, address, size, under_way: Vec::new(), next: 0, left: None },
    );
    Ok(())
}

/// Detaches it, when all has left: where it was, and how long.
fn detach<N: Number>(owner: Owner, address: OutPointer, size: Out<N>) -> Result<()> {
    flush(owner)?;
    let own = attached().remove(&owner);
    let (mut at, mut bytes) = (0, 0);
    if let Some(own) = own {
        (at, bytes) = (own.address, if own.is_automatic() { 0 } else { own.size });
        // What another thread has sent meanwhile goes on.
        let mut state = world()?.process.state();
        own.under_way.into_iter().for_each(|it| state.endpoint.release(it.ticket));
    }
    address.set(std::ptr::with_exposed_provenance_mut::<c_void>(at))?;
    size.set(N::fitting(Some(bytes)))
}

/// Detaches what an object has that is freed; its messages go on.
///
/// # Errors
/// As [`world`].
pub fn remove(owner: Owner) -> Result<()> {
    let Some(own) = attached().remove(&owner) else { return Ok(()) };
    let mut state = world()?.process.state();
    own.under_way.into_iter().for_each(|it| state.endpoint.release(it.ticket));
    Ok(())
}

/// No buffer is for anybody's use any more; the messages of all go on.
///
/// # Errors
/// As [`world`].
pub fn release() -> Result<()> {
    let mut state = world()?.process.state();
    let mut all = attached();
    let under_way = all.values_mut().flat_map(|own| own.under_way.drain(..));
    under_way.for_each(|it| state.endpoint.release(it.ticket));
    Ok(())
}

/// A communicator as an owner.
fn of_comm(comm: MPI_Comm) -> Result<Owner> {
    communicator(comm).map(|comm| Owner::Comm(comm.handle.0))
}

/// A session as an owner.
fn of_session(session: MPI_Session) -> Result<Owner> {
    session::opened(session).map(|()| Owner::Session(session.0))
}

both! {
    /// Attaches a buffer to the process.
    fn MPI_Buffer_attach or MPI_Buffer_attach_c(buffer: Address, size: N) {
        attach(Owner::Process, buffer, size)
    }

    /// Detaches it, when all has left.
    fn MPI_Buffer_detach or MPI_Buffer_detach_c(address: OutPointer, size: Out<N>) {
        detach(Owner::Process, address, size)
    }

    /// Attaches a buffer to a communicator.
    fn MPI_Comm_attach_buffer or MPI_Comm_attach_buffer_c(
        comm: MPI_Comm, buffer: Address, size: N,
    ) on comm {
        attach(of_comm(comm)?, buffer, size)
    }

    /// Detaches it, when all has left.
    fn MPI_Comm_detach_buffer or MPI_Comm_detach_buffer_c(
        comm: MPI_Comm, address: OutPointer, size: Out<N>,
    ) on comm {
        detach(of_comm(comm)?, address, size)
    }

    /// Attaches a buffer to a session.
    fn MPI_Session_attach_buffer or MPI_Session_attach_buffer_c(
        session: MPI_Session, buffer: Address, size: N,
    ) on session {
        attach(of_session(session)?, buffer, size)
    }

    /// Detaches it, when all has left.
    fn MPI_Session_detach_buffer or MPI_Session_detach_buffer_c(
        session: MPI_Session, address: OutPointer, size: Out<N>,
    ) on session {
        detach(of_session(session)?, address, size)
    }
}

export! {
    /// Waits until all has left.
    fn MPI_Buffer_flush() {
        flush(Owner::Process)
    }

    /// The same, by a request.
    fn MPI_Buffer_iflush(request: Out<MPI_Request>) {
        world()?;
        begin_flush(MPI_COMM_NULL, Owner::Process, request)
    }

    /// Waits until all of a communicator has left.
    fn MPI_Comm_flush_buffer(comm: MPI_Comm) on comm {
        flush(of_comm(comm)?)
    }

    /// The same, by a request.
    fn MPI_Comm_iflush_buffer(comm: MPI_Comm, request: Out<MPI_Request>) on comm {
        begin_flush(comm, of_comm(comm)?, request)
    }

    /// Waits until all of a session has left.
    fn MPI_Session_flush_buffer(session: MPI_Session) on session {
        flush(of_session(session)?)
    }

    /// The same, by a request.
    fn MPI_Session_iflush_buffer(session: MPI_Session, request: Out<MPI_Request>) on session {
        begin_flush(session, of_session(session)?, request)
    }
}
