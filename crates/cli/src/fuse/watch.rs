//! Requests that wait for their answer, and whether the process that made one still wants it.
//!
//! States of a request: *waiting*; *given up*, when its process has got a signal or the server
//! is too slow: a 9P flush is under way; *answered*, by the answer, by the flush, or, if the
//! server answers neither within a second, by us. Each is answered once.

use super::attributes::errno;
use fuser::Errno;
use muster_ninep::client::Cancel;
use muster_ninep::error::{Error, Result};
use muster_ninep::record::Qid;
use muster_ninep::synthetic::MADE;
use std::sync::{Arc, Condvar, Mutex, Weak};
use std::time::{Duration, Instant};

/// How often waiting processes are looked at, and how long a request may take unwatched.
const PERIOD: Duration = Duration::from_millis(100);

/// Processes looked at in one period: each costs some ten microseconds.
const LOOKS: usize = 1000;

/// How long the server may take to answer a flush.
const FLUSH: Duration = Duration::from_secs(1);

/// What a request may have to wait for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Patience {
    /// How long it may take.
    limit: Option<Duration>,
    /// Signals that a process catches interrupt it as well, and not only those that end it. No
    /// program expects that of mkdir(2) and its like, on any other file system.
    catches: bool,
}

/// For requests that depend on nobody but the server.
pub(super) const CONTROL: Patience =
    Patience { limit: Some(Duration::from_secs(30)), catches: false };

/// For those that depend on the server's disk too.
pub(super) const DISK: Patience = Patience { limit: None, catches: false };

/// For those that wait for somebody.
pub(super) const SOMEBODY: Patience = Patience { limit: None, catches: true };

/// For what reads or writes a file: what is made up may wait for whoever writes it. One on a disk
/// is like every other: the kernel would tell EINTR even who has asked to go on (SA_RESTART), and
/// for stdio that is an error.
pub(super) fn of_file(qid: Qid) -> Patience {
    if qid.path & MADE == 0 { DISK } else { SOMEBODY }
}

/// A reply of fuser's.
pub(super) trait Reply: Send + 'static {
    /// Answers with an error.
    fn refuse(self, errno: Errno);
}

macro_rules! replies {
    ($($reply:ident)*) => {$(
        impl Reply for fuser::$reply {
            fn refuse(self, errno: Errno) {
                self.error(errno);
            }
        }
    )*};
}
replies! {
    ReplyAttr ReplyCreate ReplyData ReplyDirectory ReplyEmpty ReplyEntry ReplyLock ReplyOpen
    ReplyStatfs ReplyWrite ReplyXattr
}

/// A request of the kernel's that waits. Clones stand for the same request.
pub(super) struct Waiting<R: Reply>(Arc<Pending<R>>);

impl<R: Reply> Clone for Waiting<R> {
    fn clone(&self) -> Waiting<R> {
        Waiting(self.0.clone())
    }
}

struct Pending<R> {
    /// The thread that waits; 0 if we cannot see it.
    pid: u32,
    since: Instant,
    patience: Patience,
    state: Mutex<State<R>>,
}

struct State<R> {
    /// None once it is answered.
    reply: Option<R>,
    /// Takes back the 9P request that is under way.
    cancel: Option<Cancel>,
    /// Counts the 9P requests that this one takes.
    step: u32,
    given_up: Option<(Instant, Errno)>,
}

impl<R: Reply> Waiting<R> {
    /// Sends the next 9P request.
    pub(super) fn via(&self, send: impl FnOnce(Waiting<R>) -> Cancel) {
        let step = {
            let mut state = self.state();
            state.step += 1;
            state.step
        };
        let cancel = send(self.clone());
        let mut state = self.state();
        // The answer may have come already and led to the next request.
        if state.step == step {
            if state.given_up.is_some() {
                cancel.flush();
            }
            state.cancel = Some(cancel);
        }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State<R>> {
        self.0.state.lock().expect("no holder panics")
    }

    fn take(&self) -> Option<R> {
        self.state().reply.take()
    }

    /// Answers, with `answer` or with the error.
    pub(super) fn answer<T>(self, result: Result<T>, answer: impl FnOnce(R, T)) {
        match (self.take(), result) {
            (Some(reply), Ok(value)) => answer(reply, value),
            (Some(reply), Err(error)) => reply.refuse(errno(&error)),
            (None, _) => {}
        }
    }

    /// Goes on with the value, or answers with the error. What nobody waits for is not gone on
    /// with: an open can have effects.
    pub(super) fn go_on<T>(self, result: Result<T>, next: impl FnOnce(Waiting<R>, T)) {
        let given_up = self.state().given_up;
        if let Some((_, errno)) = given_up {
            return self.refuse(errno);
        }
        match result {
            Ok(value) => next(self, value),
            Err(error) => self.refuse_with(&error),
        }
    }

    /// Goes on after what has an effect: whoever has given up meanwhile is told of it all the
    /// same, or would try again and find it done.
    pub(super) fn go_on_done<T>(self, result: Result<T>, next: impl FnOnce(Waiting<R>, T)) {
        match result {
            Ok(value) => {
                self.state().given_up = None;
                next(self, value);
            }
            Err(error) => self.go_on(Err(error), next),
        }
    }

    /// Answers with an error.
    pub(super) fn refuse_with(self, error: &Error) {
        self.refuse(errno(error));
    }

    /// Answers with an error.
    pub(super) fn refuse(self, errno: Errno) {
        if let Some(reply) = self.take() {
            reply.refuse(errno);
        }
    }
}

/// Whether a thread has got a signal, of those that it catches too or not.
type Signalled<'a> = dyn FnMut(u32, bool) -> bool + 'a;

/// A pending request, whatever its reply.
trait Watched: Send + Sync {
    /// Looks after it; false once it is answered.
    fn look(&self, now: Instant, signalled: &mut Signalled<'_>) -> bool;
}

impl<R: Reply> Watched for Pending<R> {
    fn look(&self, now: Instant, signalled: &mut Signalled<'_>) -> bool {
        let mut state = self.state.lock().expect("no holder panics");
        if state.reply.is_none() {
            return false;
        }
        let waited = now.saturating_duration_since(self.since);
        match state.given_up {
            Some((since, errno)) if now.saturating_duration_since(since) >= FLUSH => {
                let reply = state.reply.take().expect("it was there");
                drop(state);
                reply.refuse(errno);
                return false;
            }
            None if waited >= PERIOD => {
                let Patience { limit, catches } = self.patience;
                let late = limit.is_some_and(|limit| waited >= limit);
                let errno = match late {
                    true => Errno::ETIMEDOUT,
                    false if self.pid != 0 && signalled(self.pid, catches) => Errno::EINTR,
                    false => return true,
                };
                state.given_up = Some((now, errno));
                let cancel = state.cancel.clone();
                drop(state);
                cancel.inspect(Cancel::flush);
            }
            _ => {}
        }
        true
    }
}

/// Looks after all pending requests of a mount, from a thread of its own.
pub(super) struct Watch {
    list: Arc<List>,
}

#[derive(Default)]
struct List {
    /// Requests, and whether the mount is gone.
    pending: Mutex<(Vec<Weak<dyn Watched>>, bool)>,
    changed: Condvar,
}

impl Watch {
    pub(super) fn new() -> Watch {
        let list = Arc::new(List::default());
        let watched = list.clone();
        std::thread::Builder::new()
            .name("fuse-watch".into())
            .spawn(move || watch(&watched))
            .expect("the kernel has a thread for us");
        Watch { list }
    }

    /// Begins to look after a request that the thread `pid` waits for.
    pub(super) fn begin<R: Reply>(&self, pid: u32, patience: Patience, reply: R) -> Waiting<R> {
        let state = State { reply: Some(reply), cancel: None, step: 0, given_up: None };
        let state = Mutex::new(state);
        let pending = Arc::new(Pending { pid, since: Instant::now(), patience, state });
        let watched: Weak<Pending<R>> = Arc::downgrade(&pending);
        let mut list = self.list.pending.lock().expect("no holder panics");
        list.0.push(watched);
        if list.0.len() == 1 {
            self.list.changed.notify_one();
        }
        Waiting(pending)
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.list.pending.lock().expect("no holder panics").1 = true;
        self.list.changed.notify_one();
    }
}

fn watch(list: &List) {
    let mut start = 0;
    loop {
        let pending = list.pending.lock().expect("no holder panics");
        let waiting =
            |pending: &mut (Vec<Weak<dyn Watched>>, bool)| pending.0.is_empty() && !pending.1;
        let mut pending = list.changed.wait_while(pending, waiting).expect("no holder panics");
        if pending.1 {
            return;
        }
        pending.0.retain(|request| request.strong_count() > 0);
        let requests: Vec<Weak<dyn Watched>> = pending.0.clone();
        drop(pending);
        let now = Instant::now();
        // Where there are more than can be looked at in time, each gets its turn.
        let mut looks = 0;
        let mut last = start;
        for at in 0..requests.len() {
            let at = (start + at) % requests.len();
            let Some(request) = requests[at].upgrade() else { continue };
            request.look(now, &mut |pid, catches| {
                looks += 1;
                last = at;
                looks <= LOOKS && is_signalled(pid, catches)
            });
        }
        start = if looks > LOOKS { last } else { 0 };
        std::thread::sleep(PERIOD);
    }
}

/// Whether a signal waits that will end what the thread does, or interrupts it as the thread
/// `catches` it, or it is gone.
fn is_signalled(pid: u32, catches: bool) -> bool {
    match std::fs::read_to_string(format!("/proc/{pid}/status")) {
        Ok(status) => pending_signals(&status, catches) != 0,
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
    }
}

/// Pending signals that are neither blocked nor ignored, from `/proc/PID/status` (proc(5)); without
/// those that are caught, unless it `catches` them, and that stop.
fn pending_signals(status: &str, catches: bool) -> u64 {
    let mask = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok()).unwrap_or(0)
    };
    let through = (mask("SigPnd:") | mask("ShdPnd:")) & !mask("SigBlk:") & !mask("SigIgn:");
    let stops = [libc::SIGSTOP, libc::SIGTSTP, libc::SIGTTIN, libc::SIGTTOU];
    let stops = stops.iter().fold(0, |mask, signal| mask | 1 << (signal - 1));
    if catches { through } else { through & !mask("SigCgt:") & !stops }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_signals_that_get_through_count() {
        let caught = 0x200;
        let status = |own: u32, shared: u32, blocked: u32, ignored: u32| {
            format!(
                "Name:\tcat\nSigQ:\t1/1\nSigPnd:\t{own:016x}\nShdPnd:\t{shared:016x}\n\
                 SigBlk:\t{blocked:016x}\nSigIgn:\t{ignored:016x}\nSigCgt:\t{caught:016x}\n"
            )
        };
        for pending in [0x100, 2, 0] {
            assert_eq!(pending_signals(&status(pending, 0, 0, 0), false), u64::from(pending));
        }
        // A caught one, and a stop from the terminal.
        for pending in [0x200, 1 << (libc::SIGTSTP - 1)] {
            assert_eq!(pending_signals(&status(0, pending, 0, 0), true), u64::from(pending));
            assert_eq!(pending_signals(&status(0, pending, 0, 0), false), 0);
        }
        let pending_signals = |status: &str| pending_signals(status, true);
        assert_eq!(pending_signals(&status(0, 0, 0, 0)), 0);
        assert_eq!(pending_signals(&status(0x100, 0, 0, 0)), 0x100);
        assert_eq!(pending_signals(&status(0, 2, 0, 0)), 2);
        assert_eq!(pending_signals(&status(0, 2, 2, 0)), 0);
        assert_eq!(pending_signals(&status(2, 0, 0, 2)), 0);
        assert_eq!(pending_signals("no status"), 0);
    }

    #[test]
    fn a_process_that_is_gone_wants_nothing() {
        for catches in [true, false] {
            assert!(!is_signalled(std::process::id(), catches));
            assert!(is_signalled(u32::MAX, catches));
        }
    }

    #[test]
    fn a_caught_signal_interrupts_who_reads_a_made_up_file_and_not_who_reads_a_disk() {
        let file = |path| of_file(Qid { path, ..Qid::default() });
        assert!(file(MADE | 7).catches);
        assert!(!file(7).catches && file(7).limit.is_none());
    }

    /// A reply that tells what it was.
    struct Told(std::sync::mpsc::Sender<i32>);

    impl Reply for Told {
        fn refuse(self, errno: Errno) {
            self.0.send(errno.code()).expect("it is read");
        }
    }

    /// Once mkdir(2) failed with EINTR, and with EEXIST when it was tried again.
    #[test]
    fn what_was_done_is_told_to_whoever_gave_up_meanwhile() {
        let told = |done: bool| {
            let (tell, read) = std::sync::mpsc::channel();
            let waiting = Watch::new().begin(0, CONTROL, Told(tell));
            waiting.state().given_up = Some((Instant::now(), Errno::EINTR));
            let next = |waiting: Waiting<Told>, ()| {
                waiting.answer(Ok(()), |reply, ()| reply.0.send(0).expect("it is read"));
            };
            match done {
                true => waiting.go_on_done(Ok(()), next),
                false => waiting.go_on(Ok(()), next),
            }
            read.recv().expect("told")
        };
        assert_eq!(told(true), 0);
        assert_eq!(told(false), libc::EINTR, "what has had no effect is left");
    }
}
