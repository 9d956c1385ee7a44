//! Requests: operations that are under way, and what becomes of them (MPI-5.0, section 3.7).

use parking_lot::lock_api::{Mutex, MutexGuard};

use muster_message::{Envelope, Outcome, Ticket};
use muster_mpi::error::{Class, Error, Result};
use muster_mpi::partitioned::Channel;
use muster_mpi::process::Began;
use muster_mpi::threads::Door as _;
use muster_mpi::watch::Waits;
use muster_mpi::window::Access;

use crate::abi::constants::*;
use crate::abi::types::*;
use crate::attached::Flush;
use crate::door::Door;
use crate::failure;
use crate::generalized;
use crate::object::Id;
use crate::table;
use crate::world::{State, world};

/// The handle of all messages that had left when their send returned, as most short ones have:
/// nothing is kept of them.
pub const SENT: MPI_Request = MPI_Request(0x1000);

/// An operation that is under way.
#[derive(Clone, Copy)]
pub enum Active {
    /// A message to somebody.
    Send(Ticket),
    /// A message from somebody.
    Receive(Ticket),
    /// Both at once, where there is somebody.
    Exchange(Option<Ticket>, Option<Ticket>),
    /// A collective.
    Collective(Began),
    /// Something of the program's own, by its number.
    Generalized(usize),
    /// An access to a window.
    Access(Access),
    /// A partitioned message.
    Partitioned(Channel),
    /// Messages that were sent from a buffer.
    Flush(Flush),
    /// It has ended.
    Ended(MPI_Status),
}

/// Begins a persistent operation anew.
pub type Start = Box<dyn Fn() -> Result<Active> + Send>;

/// What a handle stands for.
pub struct Request {
    active: Option<Active>,
    start: Option<Start>,
    /// Whose error handler is asked when it fails.
    about: Id,
}

/// Requests by place with how often the place was used, and the places that are free. Handles are
/// made like those of other objects (`table.rs`), so one that has ended is not another one's.
pub struct Requests {
    all: Vec<(usize, Option<Request>)>,
    free: Vec<usize>,
}

/// An operation that has failed, and what its status says all the same, if anything.
pub struct Failed {
    /// Why.
    pub error: Error,
    /// From whom, and how much.
    pub status: Option<Box<MPI_Status>>,
}

impl From<Error> for Failed {
    fn from(error: Error) -> Failed {
        Failed { error, status: None }
    }
}

impl From<Failed> for Error {
    fn from(failed: Failed) -> Error {
        failed.error
    }
}

/// What became of a handle's operation when it was asked for.
pub enum Step {
    /// There is none, or it was not started.
    Nothing,
    /// It has ended.
    Ended(Ended),
    /// It goes on.
    UnderWay,
    /// It is no message, so it ends otherwise.
    Other(Active),
}

/// How an operation has ended.
pub type Ended = Result<MPI_Status, Failed>;

static REQUESTS: Mutex<Door, Requests> = Mutex::new(Requests { all: Vec::new(), free: Vec::new() });

/// All requests. Who has them asks for nothing else that is guarded.
#[inline]
pub fn requests() -> MutexGuard<'static, Door, Requests> {
    REQUESTS.lock()
}

impl Requests {
    /// The operation of a handle that is under way: none of the null handle, and of a persistent
    /// one that was not started.
    #[inline]
    pub fn active(&self, handle: MPI_Request) -> Result<Option<Active>> {
        match self.get(handle) {
            Some(request) => Ok(request.active),
            _ if handle == SENT => Ok(Some(Active::Ended(EMPTY))),
            _ if handle == MPI_REQUEST_NULL => Ok(None),
            _ => Err(wrong(handle)),
        }
    }

    /// As [`waits_for`], of the operations of these handles.
    pub fn waits_for(&self, handles: &[MPI_Request]) -> Result<Waits> {
        let mut all = Waits::Messages;
        for handle in handles {
            match self.get(*handle) {
                // Most are messages.
                Some(Request { active: Some(Active::Send(_) | Active::Receive(_)), .. }) => {}
                Some(request) => all = request.active.as_ref().map_or(all, |it| all.and(waits(it))),
                None if [SENT, MPI_REQUEST_NULL].contains(handle) => {}
                None => return Err(wrong(*handle)),
            }
        }
        Ok(all)
    }

    /// Ends what a handle stands for if it is a message, or has ended before; in its place, since
    /// who waits for many goes through all of them.
    #[inline(always)]
    pub fn end(&mut self, state: &mut State, handle: &mut MPI_Request) -> Result<Step> {
        let at = table::place(handle.0);
        let Some((uses, Some(request))) =
            self.all.get_mut(at).filter(|(uses, _)| handle_of(at, *uses) == *handle)
        else {
            return match *handle {
                SENT => {
                    *handle = MPI_REQUEST_NULL;
                    Ok(Step::Ended(Ok(EMPTY)))
                }
                MPI_REQUEST_NULL => Ok(Step::Nothing),
                _ => Err(wrong(*handle)),
            };
        };
        let ended = match &request.active {
            None => return Ok(Step::Nothing),
            Some(Active::Receive(ticket)) => {
                state.outcome(*ticket).map(|outcome| received(&outcome))
            }
            Some(Active::Send(ticket)) => state.outcome(*ticket).map(|outcome| sent(&outcome)),
            Some(Active::Ended(status)) => Some(said(*status)),
            Some(other) => return Ok(Step::Other(*other)),
        };
        let Some(ended) = ended else { return Ok(Step::UnderWay) };
        if ended.is_err() {
            failure::note(request.about);
        }
        if request.start.is_some() {
            request.active = None;
        } else {
            *handle = MPI_REQUEST_NULL;
            *uses = table::next(*uses);
            self.all[at].1 = None;
            self.free.push(at);
        }
        Ok(Step::Ended(ended))
    }

    /// What it was, and what errors of it are about.
    #[inline]
    fn forget(&mut self, handle: &mut MPI_Request) -> Forgotten {
        if *handle == SENT {
            *handle = MPI_REQUEST_NULL;
            return None;
        }
        let request = self.get_mut(*handle)?;
        let was = (request.active.take(), request.about);
        if request.start.is_none() {
            self.remove(*handle);
            *handle = MPI_REQUEST_NULL;
        }
        Some(was)
    }

    /// The request of a handle.
    #[inline]
    fn get(&self, handle: MPI_Request) -> Option<&Request> {
        let at = table::place(handle.0);
        let (uses, request) = self.all.get(at)?;
        request.as_ref().filter(|_| handle_of(at, *uses) == handle)
    }

    /// The same, to be changed.
    #[inline]
    fn get_mut(&mut self, handle: MPI_Request) -> Option<&mut Request> {
        let at = table::place(handle.0);
        let (uses, request) = self.all.get_mut(at)?;
        request.as_mut().filter(|_| handle_of(at, *uses) == handle)
    }

    /// Takes a handle's request away.
    fn remove(&mut self, handle: MPI_Request) -> Option<Request> {
        self.get(handle)?;
        let at = table::place(handle.0);
        let (uses, request) = &mut self.all[at];
        *uses = table::next(*uses);
        self.free.push(at);
        request.take()
    }

    /// Gives a request a handle. (As of other objects, memory has run out long before they do.)
    #[inline(always)]
    fn insert(&mut self, request: Request) -> MPI_Request {
        if let Some(at) = self.free.pop()
            && let Some((uses, place @ None)) = self.all.get_mut(at)
        {
            *place = Some(request);
            return handle_of(at, *uses);
        }
        let at = self.all.len();
        assert!(at < table::PLACES, "no more handles for requests");
        self.all.push((0, Some(request)));
        handle_of(at, 0)
    }
}

/// Whether it is a message, or made of such.
#[inline]
fn waits(active: &Active) -> Waits {
    match active {
        Active::Send(_) | Active::Receive(_) | Active::Exchange(..) | Active::Collective(_) => {
            Waits::Messages
        }
        Active::Flush(_) | Active::Ended(_) => Waits::Messages,
        Active::Access(_) => Waits::Accesses,
        Active::Partitioned(channel) => Waits::Round(*channel),
        Active::Generalized(_) => Waits::Own,
    }
}

/// What is waited for by who waits for these.
pub fn waits_for<'a>(active: impl Iterator<Item = &'a Active>) -> Waits {
    active.map(waits).fold(Waits::Messages, Waits::and)
}

/// What is said of an operation that there is nothing to say of.
pub const EMPTY: MPI_Status = MPI_Status {
    MPI_SOURCE: MPI_ANY_SOURCE,
    MPI_TAG: MPI_ANY_TAG,
    MPI_ERROR: MPI_SUCCESS,
    internal: [0; 5],
};

/// What is said of a message from nobody.
pub const NOBODY: MPI_Status = MPI_Status { MPI_SOURCE: MPI_PROC_NULL, ..EMPTY };

/// A status that says how many bytes a message has: the number in two halves.
pub fn status_of(source: i32, tag: i32, bytes: usize) -> MPI_Status {
    let mut status = MPI_Status { MPI_SOURCE: source, MPI_TAG: tag, ..EMPTY };
    set_bytes(&mut status, bytes as u64);
    status
}

/// What is said of a message.
#[inline]
pub fn status_of_message(of: Envelope, bytes: usize) -> MPI_Status {
    status_of(of.source.cast_signed(), of.tag, bytes)
}

/// Says how many bytes a message has.
pub fn set_bytes(status: &mut MPI_Status, bytes: u64) {
    status.internal[0] = (bytes as u32).cast_signed();
    status.internal[1] = ((bytes >> 32) as u32).cast_signed();
}

/// How many bytes it says.
pub fn bytes_of(status: &MPI_Status) -> u64 {
    let half = |at: usize| u64::from(status.internal[at].cast_unsigned());
    half(0) | half(1) << 32
}

/// Says whether it was cancelled.
pub fn set_cancelled(status: &mut MPI_Status, cancelled: bool) {
    status.internal[2] = cancelled.into();
}

/// Whether it was.
pub fn is_cancelled(status: &MPI_Status) -> bool {
    status.internal[2] != 0
}

/// Gives an operation a handle. Errors of waiting for it are about an object.
#[inline(always)]
pub fn insert(about: impl Into<Id>, active: Option<Active>, start: Option<Start>) -> MPI_Request {
    requests().insert(Request { active, start, about: about.into() })
}

/// The handle of a place in one of its uses.
#[inline]
fn handle_of(at: usize, uses: usize) -> MPI_Request {
    MPI_Request(table::handle(Class::Request, at, uses))
}

/// Looks at a request.
fn with<T>(handle: MPI_Request, look: impl FnOnce(&mut Request) -> T) -> Result<T> {
    requests().get_mut(handle).map(look).ok_or_else(|| wrong(handle))
}

fn wrong(handle: MPI_Request) -> Error {
    Error::new(Class::Request, format!("{:#x} is not a request, or it has ended", handle.0))
}

/// The operation of a handle, as [`Requests::active`] says it.
pub fn active(handle: MPI_Request) -> Result<Option<Active>> {
    requests().active(handle)
}

/// Keeps how an operation has ended under its handle; whether it has failed its status says.
pub fn keep(handle: MPI_Request, status: MPI_Status) -> Result<()> {
    if handle == SENT {
        return Ok(());
    }
    with(handle, |request| {
        request.active = Some(Active::Ended(status));
        if status.MPI_ERROR != MPI_SUCCESS {
            failure::note(request.about);
        }
    })
}

/// The operations of handles, as [`Requests::active`] says them.
pub fn all_active(handles: &[MPI_Request]) -> Result<Vec<Option<Active>>> {
    let requests = requests();
    handles.iter().map(|handle| requests.active(*handle)).collect()
}

/// The same again, in a wait among threads: another one may have asked meanwhile how an operation
/// has ended, which is kept then under its handle (`MPI_Request_get_status`).
#[inline]
pub fn look_again(handles: &[MPI_Request], all: &mut [Option<Active>]) {
    if !Door::has_threads() {
        return;
    }
    let requests = requests();
    for (handle, active) in handles.iter().zip(all) {
        if let Ok(now @ Some(_)) = requests.active(*handle) {
            *active = now;
        }
    }
}

/// What a handle stood for, and what errors of that are about.
pub type Forgotten = Option<(Option<Active>, Id)>;

/// Takes away the handle of an operation that has ended; that of a persistent one stays. Who has
/// polled the operation does it before anybody else can look at the handle: its ticket is given out
/// again.
pub fn forgotten(handle: &mut MPI_Request) -> Forgotten {
    requests().forget(handle)
}

/// How an operation has ended whose handle was forgotten. What has become of the program's own it
/// tells here, where nothing is locked.
pub fn conclude(ended: Ended, forgotten: Forgotten) -> Ended {
    let Some((was, about)) = forgotten else { return ended };
    let ended = match was {
        Some(Active::Generalized(number)) => generalized::finish(number),
        _ => ended,
    };
    if ended.is_err() {
        failure::note(about);
    }
    ended
}

/// Starts a persistent operation.
pub fn start(handle: MPI_Request) -> Result<()> {
    // What starts it is taken out meanwhile: it may take long.
    let taken = with(handle, |request| match request.active {
        Some(_) => Err(Error::new(Class::Request, "the request has been started before")),
        None => request
            .start
            .take()
            .ok_or_else(|| Error::new(Class::Request, "the request is not a persistent one")),
    })??;
    let began = taken();
    with(handle, |request| {
        request.start = Some(taken);
        if began.is_err() {
            failure::note(request.about);
        }
        began.map(|active| request.active = Some(active))
    })?
}

/// A handle is of no more use; it may be gone.
pub fn forget(handle: MPI_Request) {
    requests().remove(handle);
}

/// Gives a handle back; its operation goes on.
pub fn free(handle: MPI_Request) -> Result<()> {
    if handle == SENT {
        return Ok(());
    }
    if let Some(Active::Generalized(number)) = active(handle)? {
        return generalized::free(number, handle);
    }
    let removed = requests().remove(handle);
    let request = removed.ok_or_else(|| wrong(handle))?;
    let tickets = match request.active {
        Some(Active::Send(ticket) | Active::Receive(ticket)) => [Some(ticket), None],
        Some(Active::Exchange(sent, received)) => [sent, received],
        _ => [None, None],
    };
    for ticket in tickets.into_iter().flatten() {
        world()?.process.state().endpoint.release(ticket);
    }
    Ok(())
}

/// Whether an operation has ended.
pub fn has_ended(state: &mut State, active: Active) -> bool {
    match active {
        Active::Send(ticket) | Active::Receive(ticket) => state.has_message_ended(ticket),
        Active::Exchange(sent, received) => {
            [sent, received].into_iter().flatten().all(|it| state.has_message_ended(it))
        }
        Active::Collective(began) => state.has_ended(began),
        Active::Generalized(number) => generalized::has_ended(number),
        Active::Access(access) => state.has_access_ended(access),
        Active::Partitioned(channel) => state.channels.has_ended(channel),
        Active::Flush(flush) => flush.has_ended(state),
        Active::Ended(_) => true,
    }
}

/// Whether it is settled that it has: in the coscheduled mode, in an earlier epoch.
pub fn is_settled(state: &mut State, active: Active) -> bool {
    let message = |state: &mut State, ticket| {
        state.has_message_ended(ticket) && state.endpoint.is_settled(ticket)
    };
    match active {
        Active::Send(ticket) | Active::Receive(ticket) => message(state, ticket),
        Active::Exchange(sent, received) => {
            [sent, received].into_iter().flatten().all(|it| message(state, it))
        }
        Active::Collective(began) => state.is_settled(began),
        Active::Access(access) => state.is_access_settled(access),
        Active::Partitioned(channel) => state.is_round_settled(channel),
        Active::Flush(flush) => flush.is_settled(state),
        Active::Generalized(_) | Active::Ended(_) => has_ended(state, active),
    }
}

/// How an operation has ended, if it has. It is forgotten then.
#[inline(always)]
pub fn poll(state: &mut State, active: Active) -> Option<Ended> {
    let empty = |ended: Result<()>| Ok(ended.map(|()| EMPTY)?);
    match active {
        Active::Send(ticket) => state.outcome(ticket).map(|outcome| sent(&outcome)),
        Active::Receive(ticket) => state.outcome(ticket).map(|outcome| received(&outcome)),
        Active::Exchange(..) if !has_ended(state, active) => None,
        Active::Exchange(to, from) => {
            let sent = to.and_then(|to| state.outcome(to)).map_or(Ok(EMPTY), |it| sent(&it));
            let from = from.and_then(|from| state.outcome(from));
            let received = from.map_or(Ok(NOBODY), |it| received(&it));
            Some(sent.and(received))
        }
        Active::Collective(began) => state.poll(began).map(empty),
        Active::Generalized(number) => generalized::has_ended(number).then_some(Ok(EMPTY)),
        Active::Partitioned(channel) => state
            .channels
            .poll(channel)
            .map(|ended| Ok(ended?.map_or(EMPTY, |(of, bytes)| status_of_message(of, bytes)))),
        Active::Flush(flush) => flush.has_ended(state).then_some(Ok(EMPTY)),
        Active::Access(access) => state.poll_access(access).map(empty),
        Active::Ended(status) => Some(said(status)),
    }
}

/// How an operation has ended whose status was kept.
#[inline]
pub fn said(status: MPI_Status) -> Ended {
    match Class::of_number(status.MPI_ERROR) {
        Some(class) => Err(Failed { error: class.into(), status: Some(Box::new(status)) }),
        None => Ok(status),
    }
}

/// What is said of a send that has ended.
pub fn sent(outcome: &Outcome) -> Ended {
    match &outcome.failure {
        Some(failure) => Err(Error::from((**failure).clone()).into()),
        None => {
            let mut status = EMPTY;
            set_cancelled(&mut status, outcome.cancelled);
            Ok(status)
        }
    }
}

/// What is said of a receive that has ended. Of a message that was too long the status says what
/// was received.
#[inline(always)]
pub fn received(outcome: &Outcome) -> Ended {
    if let Some(failure) = &outcome.failure {
        return Err(Error::from((**failure).clone()).into());
    }
    let mut status = status_of_message(outcome.envelope, outcome.size);
    if let Some(size) = outcome.truncated() {
        let Envelope { source, tag, .. } = outcome.envelope;
        let room = outcome.size;
        let what = format!(
            "the message from rank {source} with tag {tag} has {size} bytes, and the receive \
             buffer has room for {room}"
        );
        let status = Some(Box::new(status));
        return Err(Failed { error: Error::new(Class::Truncate, what), status });
    }
    set_cancelled(&mut status, outcome.cancelled);
    Ok(status)
}
