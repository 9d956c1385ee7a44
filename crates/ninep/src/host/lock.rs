//! Byte-range locks.
//!
//! A lock belongs to the open file of its fid (open-file-description locks), so it holds against
//! other fids, other connections and this machine's own programs, and goes with the fid. The
//! kernel gives exclusive locks to files that are open for writing only, and shared ones to those
//! for reading; but flock(2), which v9fs asks for in the same words, asks for either whatever its
//! file is open for. So a fid's locks move to a descriptor of their own when they need one.
//!
//! Several may share a fid, as processes do that have inherited an open file: who locks says who it
//! is. The kernel knows of no such, so what one of them has against another is known here alone.
//! (v9fs is one for all its processes: its kernel knows them apart.)
//!
//! A lock that must wait is parked on a list, not in a thread. It is tried again when a fid of
//! this process gives up a lock on the same file, and now and then for the sake of other
//! processes' locks. First the kernel is asked whether the lock could be had; only then is the
//! request claimed and the lock taken, so a request that was flushed never leaves a lock behind.
//! If somebody else was quicker in between, it goes on waiting, and a flush ends it with EINTR.
//! No deadlock between clients is detected: as with two machines, one of them must give up.

use super::HostTree;
use super::node::{Form, HostFid, Node, OpenFile};
use super::qids::Identity;
use super::sys::{self, Range};
use super::user;
use crate::call::{Answer, Call, HeldLock, LockStatus, Ticket};
use crate::error::{Errno, Error, Result, fail};
use crate::record::LockRange;
use rustix::fs::OFlags;
use std::collections::HashMap;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, LazyLock, Mutex, MutexGuard, OnceLock};
use std::time::Duration;

/// Ranges that one fid may hold: more than any program is known to.
const RANGES_MAX: usize = 1024;

/// Ranges that all fids together may hold: 10 MB here, and about 16 MB in the kernel.
const ALL_RANGES_MAX: usize = 1 << 16;

/// Longest name of one who locks, in bytes: a machine's has 64 at most, to which `muster mount`
/// adds 17 for each of its lockers.
const CLIENT_MAX: usize = 96;

/// How long to wait before trying waiting locks again, at first and at most.
const RETRY: (Duration, Duration) = (Duration::from_millis(5), Duration::from_millis(100));

/// What an open file knows of its locks.
#[derive(Debug, Default)]
pub(super) struct LockOwner {
    /// Which it is, once it has been asked for one; most files never are.
    number: OnceLock<usize>,
    /// The file opened for reading and writing, if its locks needed that: they are this one's.
    own: OnceLock<OwnedFd>,
}

/// A range somebody has locked through this server, and who the client says it is.
#[derive(Debug, Clone)]
struct Held {
    /// The open file that it belongs to.
    owner: usize,
    kind: i32,
    start: i64,
    /// The first byte behind it.
    end: i64,
    proc_id: u32,
    client_id: Arc<str>,
}

struct Waiting {
    /// Which it is, for who takes it back.
    number: u64,
    node: Arc<Node>,
    range: Range,
    proc_id: u32,
    client_id: Arc<str>,
    /// What the fid's locks move to when it is had, if it needs that.
    wide: Option<OwnedFd>,
    ticket: Ticket<LockStatus>,
}

type Answered = (Ticket<LockStatus>, Result<LockStatus>);

#[derive(Default)]
struct Table {
    held: HashMap<Identity, Vec<Held>>,
    /// Entries of `held` in all.
    ranges: usize,
    waiting: Vec<Waiting>,
    /// How many have waited so far.
    numbers: u64,
    /// Whether a thread looks after `waiting`.
    watched: bool,
}

static TABLE: LazyLock<Mutex<Table>> = LazyLock::new(Mutex::default);
static CHANGED: Condvar = Condvar::new();

fn table() -> MutexGuard<'static, Table> {
    TABLE.lock().expect("no holder panics")
}

fn owner(node: &Node) -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let Form::File(file) = &node.form else { unreachable!("only open files are locked") };
    *file.locks.number.get_or_init(|| NEXT.fetch_add(1, Ordering::Relaxed))
}

/// Who locks: of those who share a fid.
fn locker(range: &LockRange<'_>) -> Result<Arc<str>> {
    if range.client_id.len() > CLIENT_MAX {
        // Two whose names begin alike are not one.
        return fail(Errno::INVAL, format!("a locker's name has {CLIENT_MAX} bytes at most"));
    }
    Ok(range.client_id.into())
}

fn range_between(kind: i32, start: i64, end: i64) -> Range {
    let length = if end == i64::MAX { 0 } else { end - start };
    Range { kind, start, length, pid: 0 }
}

/// A range of the wire, in the kernel's terms.
fn range_of(range: &LockRange<'_>) -> Result<Range> {
    let kind = match range.kind {
        LockRange::READ => libc::F_RDLCK,
        LockRange::WRITE => libc::F_WRLCK,
        LockRange::UNLOCK => libc::F_UNLCK,
        _ => return fail(Errno::INVAL, "no such kind of lock"),
    };
    let ends = range.start.checked_add(range.length).filter(|&end| end <= i64::MAX as u64);
    if ends.is_none() {
        return fail(Errno::INVAL, "the range ends behind the largest file");
    }
    Ok(Range { kind, start: range.start as i64, length: range.length as i64, pid: 0 })
}

fn end_of(range: Range) -> i64 {
    if range.length == 0 { i64::MAX } else { range.start + range.length }
}

/// All of a file, to be given up.
const NOTHING: Range = Range { kind: libc::F_UNLCK, start: 0, length: 0, pid: 0 };

/// Whether the descriptor that has the locks of a fid is open as this one needs it.
fn is_fit(node: &Node, range: Range) -> bool {
    let needed = match range.kind {
        libc::F_RDLCK => OFlags::RDONLY,
        libc::F_WRLCK => OFlags::WRONLY,
        _ => return true,
    };
    let open = rustix::fs::fcntl_getfl(descriptor(node)).map(|flags| flags & OFlags::RWMODE);
    open.is_ok_and(|open| open == needed || open == OFlags::RDWR)
}

/// The descriptor that has the locks of a fid.
fn descriptor(node: &Node) -> BorrowedFd<'_> {
    match &node.form {
        Form::File(file) => file.locks.own.get().map_or(node.fd(), AsFd::as_fd),
        _ => node.fd(),
    }
}

impl Held {
    fn range(&self) -> Range {
        range_between(self.kind, self.start, self.end)
    }

    fn overlaps(&self, range: Range) -> bool {
        self.start < end_of(range) && range.start < self.end
    }

    /// Whether both cannot be had by two.
    fn excludes(&self, range: Range) -> bool {
        self.overlaps(range) && (self.kind == libc::F_WRLCK || range.kind == libc::F_WRLCK)
    }

    fn is_within(&self, range: Range) -> bool {
        range.start <= self.start && self.end <= end_of(range)
    }
}

impl Table {
    /// Ranges that others who share the fid have locked through it.
    fn others<'a>(
        &'a self,
        node: &'a Arc<Node>,
        client_id: &'a str,
    ) -> impl Iterator<Item = &'a Held> {
        let list = self.held.get(&node.file).map_or(&[][..], Vec::as_slice);
        list.iter().filter(move |held| held.owner == owner(node) && *held.client_id != *client_id)
    }

    /// What one of them has against another's lock.
    fn objection<'a>(
        &'a self,
        node: &'a Arc<Node>,
        range: Range,
        client_id: &'a str,
    ) -> Option<&'a Held> {
        let locks = range.kind != libc::F_UNLCK;
        self.others(node, client_id).find(|held| locks && held.excludes(range))
    }

    /// What is to be asked of the kernel: one who unlocks leaves others what they have.
    fn parts(&self, node: &Arc<Node>, range: Range, client_id: &str) -> Vec<Range> {
        if range.kind != libc::F_UNLCK {
            return vec![range];
        }
        let others = self.others(node, client_id).filter(|held| held.overlaps(range));
        let mut kept: Vec<(i64, i64)> = others.map(|held| (held.start, held.end)).collect();
        kept.sort_unstable();
        kept.push((end_of(range), i64::MAX));
        let (mut parts, mut from) = (Vec::new(), range.start);
        for (start, end) in kept {
            if from < start {
                parts.push(range_between(range.kind, from, start));
            }
            from = from.max(end);
        }
        parts
    }

    /// Notes what the kernel has granted: who has asked has nothing else there any more.
    fn note(&mut self, node: &Arc<Node>, range: Range, proc_id: u32, client_id: &Arc<str>) {
        let (owner, end) = (owner(node), end_of(range));
        let list = self.held.entry(node.file).or_default();
        let mut cut = Vec::new();
        self.ranges -= list.len();
        list.retain(|held| {
            let own = held.owner == owner && held.client_id == *client_id;
            let apart = !own || !held.overlaps(range);
            if !apart && held.start < range.start {
                cut.push(Held { end: range.start, ..held.clone() });
            }
            if !apart && end < held.end {
                cut.push(Held { start: end, ..held.clone() });
            }
            apart
        });
        list.append(&mut cut);
        if range.kind != libc::F_UNLCK {
            let (kind, start) = (range.kind, range.start);
            list.push(Held { owner, kind, start, end, proc_id, client_id: client_id.clone() });
        }
        self.ranges += list.len();
        if list.is_empty() {
            self.held.remove(&node.file);
        }
    }

    /// Notes that all who share a fid have nothing any more.
    fn forget(&mut self, node: &Arc<Node>) {
        let list = self.held.entry(node.file).or_default();
        self.ranges -= list.len();
        list.retain(|held| held.owner != owner(node));
        self.ranges += list.len();
        if list.is_empty() {
            self.held.remove(&node.file);
        }
    }

    /// Whether there is room for the ranges that this lock or unlock leaves. There always is for
    /// an unlock that leaves no more than before.
    fn has_room(&self, node: &Arc<Node>, range: Range) -> bool {
        let list = self.held.get(&node.file).map_or(&[][..], Vec::as_slice);
        let own = || list.iter().filter(|held| held.owner == owner(node));
        let splits = || own().any(|it| it.start < range.start && end_of(range) < it.end);
        let spare = own().count() < RANGES_MAX && self.ranges < ALL_RANGES_MAX;
        spare || range.kind == libc::F_UNLCK && !splits()
    }

    /// Tries waiting locks again, those of one file or all, oldest first. The answers are to be
    /// given when the table is free.
    fn retry(&mut self, only: Option<Identity>) -> Vec<Answered> {
        let mut answered = Vec::new();
        for mut waiting in std::mem::take(&mut self.waiting) {
            if only.is_some_and(|file| file != waiting.node.file) {
                self.waiting.push(waiting);
                continue;
            }
            let Waiting { node, range, client_id, .. } = &waiting;
            let objects = self.objection(node, *range, client_id).is_some();
            match sys::conflict(descriptor(node), *range).map(|found| found.is_some() || objects) {
                Ok(true) if waiting.ticket.is_live() => self.waiting.push(waiting),
                Ok(false) if waiting.ticket.claim() => {
                    let Waiting { node, range, proc_id, client_id, wide, .. } = &mut waiting;
                    match self.take_with(wide, node, *range, *proc_id, client_id) {
                        // Another process was quicker.
                        Ok(LockStatus::Blocked) => self.waiting.push(waiting),
                        taken => answered.push((waiting.ticket, taken)),
                    }
                }
                Ok(_) => {}
                Err(errno) => answered.push((waiting.ticket, Err(errno.into()))),
            }
        }
        answered
    }

    /// Takes or gives up a lock now, if that is possible.
    fn take(
        &mut self,
        node: &Arc<Node>,
        range: Range,
        proc_id: u32,
        client_id: &Arc<str>,
    ) -> Result<LockStatus> {
        if self.objection(node, range, client_id).is_some() {
            return Ok(LockStatus::Blocked);
        }
        let parts = self.parts(node, range, client_id);
        match parts.into_iter().try_for_each(|part| sys::set_lock(descriptor(node), part)) {
            Ok(()) => {
                self.note(node, range, proc_id, client_id);
                Ok(LockStatus::Success)
            }
            Err(Errno::AGAIN | Errno::ACCESS) => Ok(LockStatus::Blocked),
            Err(errno) => Err(errno.into()),
        }
    }

    /// The same for a lock for which the locks of its fid have to move to `wide`.
    fn take_with(
        &mut self,
        wide: &mut Option<OwnedFd>,
        node: &Arc<Node>,
        range: Range,
        proc_id: u32,
        client_id: &Arc<str>,
    ) -> Result<LockStatus> {
        let taken = self.take(node, range, proc_id, client_id);
        if taken.as_ref().is_err_and(|error| error.errno == Errno::BADF)
            && let Some(wide) = wide.take()
        {
            self.widen(node, wide, range)?;
            return self.take(node, range, proc_id, client_id);
        }
        taken
    }

    /// Moves the locks of an open file to `wide`, for the sake of one that is to be taken.
    ///
    /// # Errors
    /// EBADF when an exclusive one is to stay, of a file that is open for writing only: another
    /// process could take it on its way. One in the place of which the new one comes may be lost
    /// on the way, as flock(2) says.
    fn widen(&mut self, node: &Arc<Node>, wide: OwnedFd, range: Range) -> Result<()> {
        let own = &node.open_file()?.locks.own;
        if own.get().is_some() {
            return Ok(());
        }
        let list = self.held.get(&node.file).map_or(&[][..], Vec::as_slice);
        let all = list.iter().filter(|held| held.owner == owner(node));
        let (shared, exclusive): (Vec<Held>, Vec<Held>) =
            all.cloned().partition(|held| held.kind == libc::F_RDLCK);
        if exclusive.iter().any(|held| !held.is_within(range)) {
            return fail(Errno::BADF, "the file is open for writing only, and partly locked");
        }
        for held in &shared {
            sys::set_lock(wide.as_fd(), held.range())?;
        }
        sys::set_lock(node.fd(), NOTHING)?;
        for held in &exclusive {
            let given_up = Range { kind: libc::F_UNLCK, ..held.range() };
            self.note(node, given_up, held.proc_id, &held.client_id);
        }
        own.get_or_init(|| wide);
        Ok(())
    }
}

fn give(answered: Vec<Answered>) {
    for (ticket, answer) in answered {
        ticket.answer(answer);
    }
}

/// Looks after waiting locks while there are any.
fn watch() {
    let mut pause = RETRY.0;
    let mut now = table();
    loop {
        if now.waiting.is_empty() {
            now.watched = false;
            return;
        }
        let before = now.waiting.len();
        let (after, waited) = CHANGED.wait_timeout(now, pause).expect("no holder panics");
        now = after;
        pause = if waited.timed_out() { (pause * 2).min(RETRY.1) } else { RETRY.0 };
        let answered = now.retry(None);
        if now.waiting.len() < before {
            pause = RETRY.0;
        }
        drop(now);
        give(answered);
        now = table();
    }
}

/// Ends the wait for a lock that is no longer wanted, but claimed already.
fn withdraw(number: u64) {
    let mut now = table();
    let at = now.waiting.iter().position(|waiting| waiting.number == number);
    let waiting = at.map(|at| now.waiting.remove(at));
    drop(now);
    if let Some(Waiting { ticket, .. }) = waiting {
        ticket.answer(Err(Error::new(Errno::INTR, "the lock is no longer waited for")));
    }
}

/// Parks a lock until it can be had.
fn wait(mut now: MutexGuard<'_, Table>, mut waiting: Waiting) {
    // Whoever gives up the fid knows by its number that there is something to give up.
    owner(&waiting.node);
    now.numbers += 1;
    let number = now.numbers;
    waiting.number = number;
    // It is being parked, so nobody can have flushed it yet.
    waiting.ticket.flush_hook().set(move || withdraw(number));
    now.waiting.push(waiting);
    if now.watched {
        drop(now);
        CHANGED.notify_one();
        return;
    }
    let thread = std::thread::Builder::new().name("ninep-locks".into());
    now.watched = thread.spawn(watch).is_ok();
    if !now.watched {
        // Without a thread to look after it, the client has to ask again.
        let waiting = now.waiting.pop();
        drop(now);
        give(waiting.map(|it| (it.ticket, Ok(LockStatus::Blocked))).into_iter().collect());
    }
}

/// Gives up all locks of an open file whose fid is gone, and its waiting requests.
pub(super) fn release(node: &Arc<Node>, file: &OpenFile) {
    if file.locks.number.get().is_none() {
        return;
    }
    let mut now = table();
    // Not left to the closing of the descriptor: a worker may hold it a moment longer.
    let _ = sys::set_lock(descriptor(node), NOTHING);
    now.forget(node);
    let mut answered = Vec::new();
    for waiting in std::mem::take(&mut now.waiting) {
        if Arc::ptr_eq(&waiting.node, node) {
            let error = Error::new(Errno::BADF, "the fid was given up");
            answered.push((waiting.ticket, Err(error)));
        } else {
            now.waiting.push(waiting);
        }
    }
    answered.append(&mut now.retry(Some(node.file)));
    drop(now);
    give(answered);
}

impl HostTree {
    /// Locks or unlocks ([`crate::tree::Tree::lock`]).
    ///
    /// # Errors
    /// Those of fcntl(2), EBADF where the user may not open the file as the lock needs it; ENOLCK
    /// when the fid holds very many ranges.
    pub fn lock<F: Send + 'static>(
        &self,
        call: &mut Call<'_, F>,
        fid: &HostFid,
        range: &LockRange<'_>,
        block: bool,
    ) -> Answer<LockStatus> {
        let node = &fid.0;
        let Form::File(_) = &node.form else {
            return fail(Errno::BADF, "only an open file can be locked");
        };
        let proc_id = range.proc_id;
        let client_id = locker(range)?;
        let range = range_of(range)?;
        // Opening may wait for a disk, so it comes before the table is held; and before it is known
        // that the lock is to be had, which may be when another who shares the fid unlocks.
        let mut wide = if is_fit(node, range) { None } else { Some(self.open_wide(node)?) };
        let mut now = table();
        if !now.has_room(node, range) {
            return fail(Errno::NOLCK, "too many locks are held");
        }
        let taken = now.take_with(&mut wide, node, range, proc_id, &client_id);
        let status = taken?;
        if status == LockStatus::Blocked && block {
            let node = node.clone();
            return call.park(|ticket| {
                let number = 0;
                wait(now, Waiting { number, node, range, proc_id, client_id, wide, ticket });
            });
        }
        // A shared lock in the place of an exclusive one lets others in as well.
        let answered =
            if range.kind == libc::F_WRLCK { Vec::new() } else { now.retry(Some(node.file)) };
        drop(now);
        give(answered);
        Ok(status)
    }

    /// The file of a fid, opened for any lock.
    fn open_wide(&self, node: &Node) -> Result<OwnedFd> {
        let open = || {
            self.writable()?;
            user::act_as(&node.user, None)?;
            self.reopen(node, OFlags::RDWR | OFlags::NONBLOCK | OFlags::NOCTTY)
        };
        // As fcntl(2) says it of a file that is not open for such a lock.
        open().map_err(|_: Error| Error::from(Errno::BADF))
    }

    /// Asks who holds a range ([`crate::tree::Tree::getlock`]). The holder's name is known where
    /// it locked through this server.
    ///
    /// # Errors
    /// Those of fcntl(2).
    pub fn getlock(&self, fid: &HostFid, range: &LockRange<'_>) -> Result<HeldLock> {
        let node = &fid.0;
        let Form::File(_) = &node.form else {
            return fail(Errno::BADF, "only an open file can be locked");
        };
        let mut asked = range_of(range)?;
        if asked.kind == libc::F_UNLCK {
            // Linux's v9fs always asks so, whatever its caller wants: for any lock there.
            asked.kind = libc::F_WRLCK;
        }
        let now = table();
        if let Some(held) = now.objection(node, asked, &locker(range)?) {
            return Ok(told(held.range(), Some(held)));
        }
        let Some(found) = sys::conflict(descriptor(node), asked)? else {
            return Ok(HeldLock {
                kind: LockRange::UNLOCK,
                start: range.start,
                length: range.length,
                proc_id: range.proc_id,
                client_id: range.client_id.to_owned(),
            });
        };
        let list = now.held.get(&node.file).map_or(&[][..], Vec::as_slice);
        let is_holder = |held: &&Held| {
            held.owner != owner(node) && held.kind == found.kind && held.overlaps(found)
        };
        Ok(told(found, list.iter().find(is_holder)))
    }
}

/// A lock that is in the way, as the wire has it.
fn told(found: Range, holder: Option<&Held>) -> HeldLock {
    HeldLock {
        kind: if found.kind == libc::F_WRLCK { LockRange::WRITE } else { LockRange::READ },
        start: found.start as u64,
        length: found.length as u64,
        proc_id: holder.map_or(found.pid.max(0) as u32, |held| held.proc_id),
        client_id: holder.map_or_else(String::new, |held| held.client_id.to_string()),
    }
}
