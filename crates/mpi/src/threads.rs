//! The threads of a process that call the library at once (`MPI_THREAD_MULTIPLE`).
//!
//! *Who sleeps.* Of all threads that wait one is the *keeper*: it progresses everything, and sleeps
//! in the carrier with the process's state locked. The others stand by: they sleep until the keeper
//! has told them that something has changed, or has gone; then one of them is the next.
//!
//! *Who calls meanwhile* finds the state locked, says that it wants it, and raises the carrier's
//! alarm, which ends the keeper's sleep. The keeper lets in all who want before it sleeps again, so
//! nobody waits for its sleep to end by itself, and what they have sent has left.
//!
//! Whoever was let in may have ended what another one waits for: so the keeper lets in those who
//! stand by as well whenever somebody has been in, or something has come.

use muster_message::Alarm;
use parking_lot::lock_api::{Mutex, MutexGuard, RawMutex};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Condvar, PoisonError};

/// What threads come through one at a time to the state of their process, of which there is one.
pub trait Door: RawMutex {
    /// Whether several threads may come at once.
    fn has_threads() -> bool;
}

/// What threads know of each other.
pub(crate) struct Threads {
    /// How many want the state and do not have it.
    wanted: AtomicU32,
    /// How often those who stand by were called, and that they were.
    calls: std::sync::Mutex<u64>,
    called: Condvar,
    alarm: Option<Alarm>,
}

/// What of it the state has.
#[derive(Default)]
pub(crate) struct Turns {
    pub(crate) has_keeper: bool,
    /// How many stand by.
    standing: u32,
    /// How many wait for what no operation stands for, such as a probe.
    others: u32,
    /// How often something may have changed, and of how many of these those who stand by were told.
    changes: u64,
    told: u64,
}

impl Turns {
    /// How many threads wait.
    pub(crate) fn waiting(&self) -> u32 {
        self.standing + 1
    }

    /// A thread begins to wait for what no operation stands for, and has ended.
    pub(crate) fn begin_other(&mut self) {
        self.others += 1;
    }

    /// See [`Turns::begin_other`].
    pub(crate) fn end_other(&mut self) {
        self.others -= 1;
    }

    /// Whether a thread does, beside the one that asks if that does, too.
    pub(crate) fn others(&self, does_this: bool) -> bool {
        self.others > u32::from(does_this)
    }

    /// Something has come, or somebody has been in.
    pub(crate) fn change(&mut self) {
        self.changes += 1;
    }
}

/// What has turns: the state.
pub(crate) trait HasTurns {
    fn turns(&mut self) -> &mut Turns;
}

impl Threads {
    pub(crate) fn new(alarm: Option<Alarm>) -> Threads {
        let (wanted, calls) = (AtomicU32::new(0), std::sync::Mutex::new(0));
        Threads { wanted, calls, called: Condvar::new(), alarm }
    }

    /// The state, as soon as who has it can let go.
    #[inline]
    pub(crate) fn enter<'a, D: Door, S: HasTurns>(
        &self,
        state: &'a Mutex<D, S>,
    ) -> MutexGuard<'a, D, S> {
        let mut entered = state.try_lock().unwrap_or_else(|| self.want(state));
        entered.turns().change();
        entered
    }

    #[cold]
    fn want<'a, D: Door, S>(&self, state: &'a Mutex<D, S>) -> MutexGuard<'a, D, S> {
        self.wanted.fetch_add(1, Ordering::SeqCst);
        if let Some(alarm) = &self.alarm {
            alarm();
        }
        let entered = state.lock();
        self.wanted.fetch_sub(1, Ordering::SeqCst);
        entered
    }

    /// The keeper lets in those who want the state, and if it calls them those who stand by where
    /// something has changed; whether there were any.
    pub(crate) fn let_in<'a, D: Door, S: HasTurns>(
        &self,
        state: &'a Mutex<D, S>,
        mut guard: MutexGuard<'a, D, S>,
        calls: bool,
    ) -> (MutexGuard<'a, D, S>, bool) {
        let turns = guard.turns();
        if calls && turns.told != turns.changes && turns.standing > 0 {
            turns.told = turns.changes;
            self.wanted.fetch_add(turns.standing, Ordering::SeqCst);
            self.call();
        }
        if self.wanted.load(Ordering::SeqCst) == 0 {
            return (guard, false);
        }
        drop(guard);
        while self.wanted.load(Ordering::SeqCst) > 0 {
            std::thread::yield_now();
        }
        (state.lock(), true)
    }

    /// Sleeps until something has changed, or there is no keeper any more.
    pub(crate) fn stand_by<'a, D: Door, S: HasTurns>(
        &self,
        state: &'a Mutex<D, S>,
        mut guard: MutexGuard<'a, D, S>,
    ) -> MutexGuard<'a, D, S> {
        let known = guard.turns().told;
        guard.turns().standing += 1;
        while guard.turns().has_keeper && guard.turns().told == known {
            // Who calls has the state, so no call is missed.
            let calls = *self.calls();
            drop(guard);
            let stays = |now: &mut u64| *now == calls;
            drop(self.called.wait_while(self.calls(), stays));
            guard = state.lock();
        }
        let turns = guard.turns();
        turns.standing -= 1;
        if turns.told != known {
            self.wanted.fetch_sub(1, Ordering::SeqCst);
        }
        guard
    }

    /// The keeper goes: the next one of those who stand by takes its place.
    pub(crate) fn leave<D: Door, S: HasTurns>(&self, mut guard: MutexGuard<'_, D, S>) {
        guard.turns().has_keeper = false;
        if guard.turns().standing > 0 {
            self.call();
        }
    }

    /// Calls those who stand by.
    fn call(&self) {
        *self.calls() += 1;
        self.called.notify_all();
    }

    fn calls(&self) -> std::sync::MutexGuard<'_, u64> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
