//! One request on its way through a tree: answered at once, or parked and answered later.
//!
//! States of a parked request: *waiting* (a flush takes it back: it is never answered and must
//! have had no effect), *claimed* (it is being carried out: a flush waits until it is answered),
//! *flushed*. [`Ticket::claim`] decides between the last two exactly once, so data taken from a
//! pipe is never taken for a request that nobody waits for any more (flush(5)).

use crate::error::{Errno, Error};
use crate::message::Tag;
use crate::outbox::{Filling, Outbox};
use crate::record::{Attr, DirEntry, Qid, Statfs};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex};

/// Why a tree has not answered a request.
#[derive(Debug)]
pub enum Pause {
    /// It refuses.
    Refused(Error),
    /// It holds a [`Ticket`] and answers later.
    Parked,
}

impl<E: Into<Error>> From<E> for Pause {
    fn from(error: E) -> Pause {
        Pause::Refused(error.into())
    }
}

/// What a tree returns: the answer, a refusal, or the word that it comes later.
pub type Answer<T> = Result<T, Pause>;

/// Content of a file, as an answer to a read.
#[derive(Debug)]
pub enum Data {
    /// Bytes of its own.
    Bytes(Vec<u8>),
    /// Bytes that [`Call::fill`] has put into the reply already.
    Filled(Filling),
}

impl<B: Into<Vec<u8>>> From<B> for Data {
    fn from(bytes: B) -> Data {
        Data::Bytes(bytes.into())
    }
}

/// Where a walk came to.
#[derive(Debug)]
pub struct Walked<F> {
    /// One for each name that was found; fewer than asked if a later one does not exist.
    pub qids: Vec<Qid>,
    /// The file at the end, if all names were found.
    pub fid: Option<F>,
}

/// An opened file.
#[derive(Debug)]
pub struct Opened<F> {
    /// Takes the place of the fid that was opened.
    pub fid: F,
    /// Its qid.
    pub qid: Qid,
    /// Largest transfer that is carried out whole; 0: the message size decides.
    pub iounit: u32,
}

/// How an attempt to lock ended (`Rlock`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum LockStatus {
    /// The lock is held.
    Success = 0,
    /// Somebody else holds it.
    Blocked = 1,
    /// It cannot be had.
    Error = 2,
    /// The server recovers its state.
    Grace = 3,
}

/// A lock somebody holds (`Rgetlock`), or none: then `kind` is unlock.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HeldLock {
    /// As in `LockRange`.
    pub kind: u8,
    /// First byte.
    pub start: u64,
    /// Bytes; 0 to the end.
    pub length: u64,
    /// Process at the holder.
    pub proc_id: u32,
    /// The holder's name.
    pub client_id: String,
}

/// Everything a tree can answer. `F` is the tree's fid.
#[derive(Debug)]
#[allow(missing_docs, reason = "one variant for each type that a method of Tree returns")]
pub enum Outcome<F> {
    Attached(F, Qid),
    Walked(Walked<F>),
    Opened(Opened<F>),
    Data(Data),
    Entries(Vec<DirEntry>),
    Count(u32),
    Attr(Box<Attr>),
    Qid(Qid),
    Text(Vec<u8>),
    Statfs(Box<Statfs>),
    Lock(LockStatus),
    Held(HeldLock),
    Xattr(F, u64),
    Done,
    Failed(Error),
}

macro_rules! outcomes {
    ($($from:ty => $to:expr;)*) => {$(
        impl<F> From<$from> for Outcome<F> {
            fn from(value: $from) -> Outcome<F> {
                #[allow(clippy::redundant_closure_call)]
                ($to)(value)
            }
        }
    )*};
}
outcomes! {
    (F, Qid) => |(fid, qid)| Outcome::Attached(fid, qid);
    (F, u64) => |(fid, size)| Outcome::Xattr(fid, size);
    Walked<F> => Outcome::Walked;
    Opened<F> => Outcome::Opened;
    Data => Outcome::Data;
    Vec<DirEntry> => Outcome::Entries;
    u32 => Outcome::Count;
    Attr => |attr| Outcome::Attr(Box::new(attr));
    Qid => Outcome::Qid;
    Vec<u8> => Outcome::Text;
    Statfs => |statfs| Outcome::Statfs(Box::new(statfs));
    LockStatus => Outcome::Lock;
    HeldLock => Outcome::Held;
    () => |()| Outcome::Done;
}

/// An answer that came later, on its way to the session that asked.
#[derive(Debug)]
pub(crate) struct Completion<F> {
    pub(crate) tag: Tag,
    /// Tells this request from an earlier one with the same tag.
    pub(crate) serial: u64,
    pub(crate) outcome: Outcome<F>,
}

/// Where late answers of one session arrive, from any thread.
pub struct Port<F> {
    arrived: Mutex<Vec<Completion<F>>>,
    wake: Box<dyn Fn() + Send + Sync>,
}

impl<F> Port<F> {
    /// A port that calls `wake` when something has arrived in it.
    pub fn new(wake: impl Fn() + Send + Sync + 'static) -> Port<F> {
        Port { arrived: Mutex::default(), wake: Box::new(wake) }
    }

    /// Takes what has arrived.
    pub(crate) fn take(&self) -> Vec<Completion<F>> {
        std::mem::take(&mut self.arrived.lock().expect("no holder panics"))
    }
}

/// A port, seen from a ticket: the tree's fid type is hidden.
trait Accept<R>: Send + Sync {
    fn accept(&self, tag: Tag, serial: u64, answer: Result<R, Error>);
}

impl<F: Send, R> Accept<R> for Port<F>
where
    Outcome<F>: From<R>,
{
    fn accept(&self, tag: Tag, serial: u64, answer: Result<R, Error>) {
        let outcome = answer.map_or_else(Outcome::Failed, Outcome::from);
        self.arrived.lock().expect("no holder panics").push(Completion { tag, serial, outcome });
        (self.wake)();
    }
}

const WAITING: u8 = 0;
const CLAIMED: u8 = 1;
const FLUSHED: u8 = 2;

/// Whether a parked request still wants its answer; shared by its ticket and its session.
#[derive(Debug, Clone, Default)]
pub(crate) struct Standing(Arc<AtomicU8>);

impl Standing {
    fn decide(&self, wanted: u8) -> bool {
        let decided = self.0.compare_exchange(WAITING, wanted, Ordering::AcqRel, Ordering::Acquire);
        decided.is_ok() || decided == Err(wanted)
    }

    /// Takes the request back; false if it is being carried out.
    pub(crate) fn flush(&self) -> bool {
        self.decide(FLUSHED)
    }
}

/// The right to answer one parked request, from any thread. Dropped unanswered, it refuses the
/// request, so nobody waits for ever.
pub struct Ticket<R> {
    tag: Tag,
    serial: u64,
    standing: Standing,
    port: Option<Arc<dyn Accept<R>>>,
}

impl<R> Ticket<R> {
    /// Begins to carry the request out: from here on a flush waits for the answer. False if it
    /// was flushed: then drop the ticket, and leave everything as if it had never been.
    pub fn claim(&self) -> bool {
        self.standing.decide(CLAIMED)
    }

    /// Whether somebody still waits for the answer.
    pub fn is_live(&self) -> bool {
        self.standing.0.load(Ordering::Acquire) != FLUSHED
    }

    /// Answers, unless the request was flushed.
    pub fn answer(mut self, answer: Result<R, Error>) {
        self.deliver(answer);
    }

    fn deliver(&mut self, answer: Result<R, Error>) {
        if let Some(port) = self.port.take()
            && self.claim()
        {
            port.accept(self.tag, self.serial, answer);
        }
    }
}

impl<R> Drop for Ticket<R> {
    fn drop(&mut self) {
        self.deliver(Err(Error::new(Errno::IO, "the server gave this request up")));
    }
}

impl<R> std::fmt::Debug for Ticket<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Ticket({}.{}, {:?})", self.tag, self.serial, self.standing)
    }
}

/// A request while a tree handles it.
pub struct Call<'a, F> {
    pub(crate) tag: Tag,
    pub(crate) serial: u64,
    pub(crate) port: &'a Arc<Port<F>>,
    pub(crate) standing: Option<Standing>,
    pub(crate) outbox: &'a mut Outbox,
}

impl<F: Send + 'static> Call<'_, F> {
    /// Parks the request: `keep` stores the ticket or hands it on. The method then returns what
    /// this returns.
    ///
    /// # Errors
    /// Always [`Pause::Parked`].
    pub fn park<R>(&mut self, keep: impl FnOnce(Ticket<R>)) -> Answer<R>
    where
        Outcome<F>: From<R>,
        R: 'static,
    {
        let standing = self.standing.get_or_insert_default().clone();
        let port: Arc<dyn Accept<R>> = self.port.clone();
        keep(Ticket { tag: self.tag, serial: self.serial, standing, port: Some(port) });
        Err(Pause::Parked)
    }

    /// Lets `fill` write at most `count` bytes of content straight into the reply.
    ///
    /// # Errors
    /// Those of `fill`.
    pub fn fill(
        &mut self,
        count: usize,
        fill: impl FnOnce(&mut [u8]) -> Result<usize, Error>,
    ) -> Answer<Data> {
        Ok(Data::Filled(self.outbox.fill(count, fill)?))
    }
}
