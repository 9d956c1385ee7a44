//! One request on its way through a tree: answered at once, or parked and answered later.
//!
//! States of a parked request: *waiting* (a flush takes it back: it is never answered and must
//! have had no effect), *claimed* (it is being carried out: a flush waits until it is answered),
//! *flushed*. [`Ticket::claim`] decides between the last two exactly once, so data taken from a
//! pipe is never taken for a request that nobody waits for any more (flush(5)). A claimed request
//! that can be broken off has a [`FlushHook`].

use crate::error::{Errno, Error};
use crate::message::Tag;
use crate::outbox::{Filling, Outbox};
use crate::promised::{Promise, Source};
use crate::record::{Attr, DirEntry, Qid, Statfs};
pub use crate::sys::Mapping;
use muster_base::limits::WAITED_MAX;
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Mutex};

/// Why a tree has not answered a request.
#[derive(Debug)]
pub enum Pause {
    /// It refuses.
    Refused(Error),
    /// It holds a [`Ticket`] and answers later.
    Parked,
    /// It is to be asked again when there is room: for the answer ([`Call::brings`]), or of a write
    /// for its content ([`Call::waker`]).
    Later,
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
    /// Part of a file, sent from where it is; see [`Call::may_map`].
    Mapped(Mapping),
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

impl<F> Outcome<F> {
    /// The same outcome with every fid in it wrapped.
    pub fn map<G>(self, wrap: impl FnOnce(F) -> G) -> Outcome<G> {
        match self {
            Outcome::Attached(fid, qid) => Outcome::Attached(wrap(fid), qid),
            Outcome::Walked(walked) => Outcome::Walked(walked.map(wrap)),
            Outcome::Opened(opened) => Outcome::Opened(opened.map(wrap)),
            Outcome::Xattr(fid, size) => Outcome::Xattr(wrap(fid), size),
            Outcome::Data(data) => Outcome::Data(data),
            Outcome::Entries(entries) => Outcome::Entries(entries),
            Outcome::Count(count) => Outcome::Count(count),
            Outcome::Attr(attr) => Outcome::Attr(attr),
            Outcome::Qid(qid) => Outcome::Qid(qid),
            Outcome::Text(text) => Outcome::Text(text),
            Outcome::Statfs(statfs) => Outcome::Statfs(statfs),
            Outcome::Lock(status) => Outcome::Lock(status),
            Outcome::Held(held) => Outcome::Held(held),
            Outcome::Done => Outcome::Done,
            Outcome::Failed(error) => Outcome::Failed(error),
        }
    }
}

impl<F> Walked<F> {
    /// The same with its fid wrapped.
    pub fn map<G>(self, wrap: impl FnOnce(F) -> G) -> Walked<G> {
        Walked { qids: self.qids, fid: self.fid.map(wrap) }
    }
}

impl<F> Opened<F> {
    /// The same with its fid wrapped.
    pub fn map<G>(self, wrap: impl FnOnce(F) -> G) -> Opened<G> {
        Opened { fid: wrap(self.fid), qid: self.qid, iounit: self.iounit }
    }
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
    /// There may be room for a write that has waited for it.
    room: AtomicBool,
    wake: Box<dyn Fn() + Send + Sync>,
}

impl<F> Port<F> {
    /// A port that calls `wake` when something has arrived in it.
    pub fn new(wake: impl Fn() + Send + Sync + 'static) -> Port<F> {
        let (arrived, room) = (Mutex::default(), AtomicBool::new(false));
        Port { arrived, room, wake: Box::new(wake) }
    }

    /// Takes what has arrived.
    pub(crate) fn take(&self) -> Vec<Completion<F>> {
        std::mem::take(&mut self.arrived.lock().expect("no holder panics"))
    }

    /// Takes the word that there may be room for writes.
    pub(crate) fn take_room(&self) -> bool {
        self.room.swap(false, Ordering::AcqRel)
    }
}

/// Carries a parked request's answer to whoever asked.
pub(crate) type Deliver<F> = Box<dyn FnOnce(Outcome<F>) + Send>;

/// Says that what has waited for room may be asked again.
pub(crate) type Wake = Box<dyn FnOnce() + Send>;

/// Where the answer to a request goes if it is parked.
pub(crate) trait Origin<F> {
    /// The way there.
    fn way(&self, tag: Tag, serial: u64) -> Deliver<F>;
    /// What tells it that there is room.
    fn waker(&self) -> Wake;
}

impl<F: Send + 'static> Origin<F> for Arc<Port<F>> {
    fn way(&self, tag: Tag, serial: u64) -> Deliver<F> {
        let port = self.clone();
        Box::new(move |outcome| {
            let completion = Completion { tag, serial, outcome };
            port.arrived.lock().expect("no holder panics").push(completion);
            (port.wake)();
        })
    }

    fn waker(&self) -> Wake {
        let port = self.clone();
        Box::new(move || {
            port.room.store(true, Ordering::Release);
            (port.wake)();
        })
    }
}

/// Makes one tree's answer of another's.
type Translate<G, F> = Box<dyn FnOnce(Outcome<G>) -> Outcome<F> + Send>;

/// A request that one tree hands on to another, whose answer is translated on its way back.
struct Embedded<'a, F, G> {
    outer: &'a dyn Origin<F>,
    map: Cell<Option<Translate<G, F>>>,
}

impl<F: 'static, G: 'static> Origin<G> for Embedded<'_, F, G> {
    fn way(&self, tag: Tag, serial: u64) -> Deliver<G> {
        let outer = self.outer.way(tag, serial);
        let map = self.map.take().expect("a request is parked once");
        Box::new(move |outcome| outer(map(outcome)))
    }

    fn waker(&self) -> Wake {
        self.outer.waker()
    }
}

const WAITING: u8 = 0;
const CLAIMED: u8 = 1;
const FLUSHED: u8 = 2;

/// Whether a parked request still wants its answer; shared by its ticket and its session.
#[derive(Debug, Clone, Default)]
pub(crate) struct Standing(Arc<Decision>);

#[derive(Debug, Default)]
struct Decision {
    state: AtomicU8,
    hook: Mutex<Hook>,
}

/// What to do when a request that is being carried out is no longer wanted.
#[derive(Default)]
enum Hook {
    #[default]
    None,
    Run(Box<dyn FnOnce() + Send>),
    /// It is no longer wanted.
    Due,
}

impl std::fmt::Debug for Hook {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Hook::None => "None",
            Hook::Run(_) => "Run",
            Hook::Due => "Due",
        })
    }
}

impl Standing {
    fn decide(&self, wanted: u8) -> bool {
        let state = &self.0.state;
        let decided = state.compare_exchange(WAITING, wanted, Ordering::AcqRel, Ordering::Acquire);
        decided.is_ok() || decided == Err(wanted)
    }

    fn hook(&self, new: Hook) -> Hook {
        std::mem::replace(&mut *self.0.hook.lock().expect("no holder panics"), new)
    }

    /// Says that the answer to a request that is being carried out is no longer wanted.
    pub(crate) fn unwanted(&self) {
        // The hook runs without the lock: it may answer the request.
        if let Hook::Run(hook) = self.hook(Hook::Due) {
            hook();
        }
    }

    /// Takes the request back; false if it is being carried out.
    pub(crate) fn flush(&self) -> bool {
        self.decide(FLUSHED)
    }
}

/// The way of one typed answer.
type Way<R> = Box<dyn FnOnce(Result<R, Error>) + Send>;

/// The right to answer one parked request, from any thread. Dropped unanswered, it refuses the
/// request, so nobody waits for ever.
pub struct Ticket<R> {
    standing: Standing,
    way: Option<Way<R>>,
}

impl<R> Ticket<R> {
    /// Begins to carry the request out: from here on a flush waits for the answer. False if it
    /// was flushed: then drop the ticket, and leave everything as if it had never been.
    pub fn claim(&self) -> bool {
        self.standing.decide(CLAIMED)
    }

    /// Whether somebody still waits for the answer.
    pub fn is_live(&self) -> bool {
        self.standing.0.state.load(Ordering::Acquire) != FLUSHED
    }

    /// For whoever carries the request out elsewhere and can break that off; see [`FlushHook`].
    pub fn flush_hook(&self) -> FlushHook {
        FlushHook(self.standing.clone())
    }

    /// Answers, unless the request was flushed.
    pub fn answer(mut self, answer: Result<R, Error>) {
        self.deliver(answer);
    }

    fn deliver(&mut self, answer: Result<R, Error>) {
        if let Some(way) = self.way.take()
            && self.claim()
        {
            way(answer);
        }
    }
}

/// Lets a claimed request know that its answer is no longer wanted.
///
/// A claimed request is answered before its flush is, so whoever can break it off (a server that
/// has forwarded it and can flush it there) should, and answers it then, with EINTR for instance.
#[derive(Debug)]
pub struct FlushHook(Standing);

impl FlushHook {
    /// Runs `hook` when the request is flushed or its client has gone: at once, if that has
    /// happened already, else on the thread that serves the client, so it must not block.
    pub fn set(self, hook: impl FnOnce() + Send + 'static) {
        if let Hook::Due = self.0.hook(Hook::Run(Box::new(hook))) {
            self.0.unwanted();
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
        write!(f, "Ticket({:?})", self.standing)
    }
}

/// A request while a tree handles it.
pub struct Call<'a, F> {
    pub(crate) tag: Tag,
    pub(crate) serial: u64,
    pub(crate) origin: &'a dyn Origin<F>,
    pub(crate) standing: Option<Standing>,
    pub(crate) outbox: &'a mut Outbox,
    /// What the answer will bring, or would if there were room.
    pub(crate) brings: Option<Promise>,
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
        let way = self.origin.way(self.tag, self.serial);
        keep(Ticket {
            standing,
            way: Some(Box::new(move |answer| {
                way(answer.map_or_else(Outcome::Failed, Outcome::from));
            })),
        });
        Err(Pause::Parked)
    }

    /// Says, of a request that is parked then, that its answer has up to `bytes` bytes, comes
    /// without anybody's doing, and may be thrown away. Until it is there or nobody wants it any
    /// more, they count as if they were queued, and while they are too many no other such request
    /// is begun: so never for what waits for another request.
    ///
    /// # Errors
    /// [`Pause::Later`]: there are too many now. The method returns that, having begun nothing.
    pub fn brings(&mut self, bytes: usize) -> Answer<()> {
        self.brings_from(Source::Here, bytes)
    }

    /// The same of an answer that another server gives.
    pub(crate) fn brings_from(&mut self, source: Source, bytes: usize) -> Answer<()> {
        self.brings = Some(Promise { source, bytes });
        if self.outbox.has_room(source) { Ok(()) } else { Err(Pause::Later) }
    }

    /// Of a read at another server that may wait for another request there, so that it is begun in
    /// any case: how much of `count` it may ask for.
    pub(crate) fn share_of(&mut self, count: usize) -> usize {
        let source = Source::Made;
        let bytes = if self.outbox.has_room(source) { count } else { count.min(WAITED_MAX) };
        self.brings = Some(Promise { source, bytes });
        bytes
    }

    /// For a write whose content there is no room for now: what is to be called, from any thread,
    /// when there may be. The method returns [`Pause::Later`], having begun nothing.
    pub(crate) fn waker(&self) -> Wake {
        self.origin.waker()
    }

    /// Hands the request on to another tree; `map` translates an answer that comes later.
    ///
    /// # Errors
    /// Those of `ask`.
    pub fn embed<G: 'static, R>(
        &mut self,
        map: impl FnOnce(Outcome<G>) -> Outcome<F> + Send + 'static,
        ask: impl FnOnce(&mut Call<'_, G>) -> Answer<R>,
    ) -> Answer<R> {
        let embedded = Embedded { outer: self.origin, map: Cell::new(Some(Box::new(map))) };
        let mut call = Call {
            tag: self.tag,
            serial: self.serial,
            origin: &embedded,
            standing: self.standing.take(),
            outbox: &mut *self.outbox,
            brings: None,
        };
        let answer = ask(&mut call);
        (self.standing, self.brings) = (call.standing, call.brings);
        answer
    }

    /// Whether the shell below can send parts of files ([`Data::Mapped`]).
    pub fn may_map(&self) -> bool {
        self.outbox.may_map()
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
