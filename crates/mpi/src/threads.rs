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
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError, TryLockError};

/// What threads know of each other.
pub(crate) struct Threads {
    /// Whether several may call at once.
    pub(crate) are_many: AtomicBool,
    /// How many want the state and do not have it.
    wanted: AtomicU32,
    /// That something has changed.
    told: Condvar,
    alarm: Option<Alarm>,
}

/// What of it the state has.
#[derive(Default)]
pub(crate) struct Turns {
    pub(crate) has_keeper: bool,
    /// How many stand by.
    standing: u32,
    /// How often something may have changed, and of how many of these those who stand by were told.
    changes: u64,
    told: u64,
}

impl Turns {
    /// How many threads wait.
    pub(crate) fn waiting(&self) -> u32 {
        self.standing + 1
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
    pub(crate) fn new(are_many: bool, alarm: Option<Alarm>) -> Threads {
        let (are_many, wanted) = (AtomicBool::new(are_many), AtomicU32::new(0));
        Threads { are_many, wanted, told: Condvar::new(), alarm }
    }

    /// The state, as soon as who has it can let go.
    #[inline]
    pub(crate) fn enter<'a, S: HasTurns>(&self, state: &'a Mutex<S>) -> MutexGuard<'a, S> {
        let mut entered = match state.try_lock() {
            Ok(entered) => entered,
            Err(TryLockError::Poisoned(entered)) => entered.into_inner(),
            Err(TryLockError::WouldBlock) => self.want(state),
        };
        entered.turns().change();
        entered
    }

    #[cold]
    fn want<'a, S>(&self, state: &'a Mutex<S>) -> MutexGuard<'a, S> {
        self.wanted.fetch_add(1, Ordering::SeqCst);
        if let Some(alarm) = &self.alarm {
            alarm();
        }
        let entered = state.lock().unwrap_or_else(PoisonError::into_inner);
        self.wanted.fetch_sub(1, Ordering::SeqCst);
        entered
    }

    /// The keeper lets in those who want the state, and those who stand by where something has
    /// changed; whether there were any.
    pub(crate) fn let_in<'a, S: HasTurns>(
        &self,
        state: &'a Mutex<S>,
        mut guard: MutexGuard<'a, S>,
    ) -> (MutexGuard<'a, S>, bool) {
        let turns = guard.turns();
        if turns.told != turns.changes && turns.standing > 0 {
            turns.told = turns.changes;
            self.wanted.fetch_add(turns.standing, Ordering::SeqCst);
            self.told.notify_all();
        }
        if self.wanted.load(Ordering::SeqCst) == 0 {
            return (guard, false);
        }
        drop(guard);
        while self.wanted.load(Ordering::SeqCst) > 0 {
            std::thread::yield_now();
        }
        (state.lock().unwrap_or_else(PoisonError::into_inner), true)
    }

    /// Sleeps until something has changed, or there is no keeper any more.
    pub(crate) fn stand_by<'a, S: HasTurns>(
        &self,
        mut guard: MutexGuard<'a, S>,
    ) -> MutexGuard<'a, S> {
        let turns = guard.turns();
        let known = turns.told;
        turns.standing += 1;
        let stays = |state: &mut S| state.turns().has_keeper && state.turns().told == known;
        let woken = self.told.wait_while(guard, stays);
        let mut guard = woken.unwrap_or_else(PoisonError::into_inner);
        let turns = guard.turns();
        turns.standing -= 1;
        if turns.told != known {
            self.wanted.fetch_sub(1, Ordering::SeqCst);
        }
        guard
    }

    /// The keeper goes: the next one of those who stand by takes its place.
    pub(crate) fn leave<S: HasTurns>(&self, mut guard: MutexGuard<'_, S>) {
        guard.turns().has_keeper = false;
        if guard.turns().standing > 0 {
            self.told.notify_all();
        }
    }
}
