//! The door to what all threads share of the process's MPI. While the program says that only one
//! thread calls at a time (`MPI_THREAD_SINGLE` to `MPI_THREAD_SERIALIZED`), whoever comes in only
//! leaves a mark: a lock would be four atomic operations for each message. Once it says that
//! several may (`MPI_THREAD_MULTIPLE`), or two are found to come at once whatever it has said, it
//! is a lock.
//!
//! Between the two a thread may just be about to come in and to leave its mark; so who makes it a
//! lock has the kernel fence all threads (membarrier(2)), after which each has seen that it is one,
//! or its mark is seen. Where the kernel does not do that, it is a lock from the beginning.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering, compiler_fence};

use muster_mpi::threads;
use parking_lot::lock_api::{GuardNoSend, RawMutex};
use rustix::thread::{MembarrierCommand, membarrier};

/// What all doors of the process are.
static STATE: AtomicU8 = AtomicU8::new(MARK);
const MARK: u8 = 0;
/// Nobody leaves a mark any more, but not all marks are seen.
const CHANGING: u8 = 1;
const LOCK: u8 = 2;

/// The door.
pub struct Door {
    /// Whether somebody is inside who has only left a mark.
    is_marked: AtomicBool,
    /// Whether somebody is inside who has locked it.
    is_locked: AtomicBool,
    lock: parking_lot::RawMutex,
}

/// Before anybody comes.
pub fn begin(has_threads: bool) {
    let can_change = membarrier(MembarrierCommand::RegisterPrivateExpedited).is_ok();
    let state = if has_threads || !can_change { LOCK } else { MARK };
    STATE.store(state, Ordering::Relaxed);
}

/// From now on several threads may come at once.
pub fn allow_threads() {
    if STATE.load(Ordering::Acquire) == LOCK {
        return;
    }
    STATE.fetch_max(CHANGING, Ordering::SeqCst);
    // It cannot fail where registering has not.
    let _ = membarrier(MembarrierCommand::PrivateExpedited);
    STATE.store(LOCK, Ordering::Release);
}

impl threads::Door for Door {
    #[inline]
    fn has_threads() -> bool {
        STATE.load(Ordering::Relaxed) != MARK
    }
}

impl Door {
    /// Somebody else is inside.
    #[cold]
    fn wait(&self) {
        allow_threads();
        self.lock.lock();
        self.wait_for_marked();
        self.is_locked.store(true, Ordering::Relaxed);
    }

    /// Whoever left only a mark has gone.
    fn wait_for_marked(&self) {
        while self.is_marked.load(Ordering::Acquire) {
            std::thread::yield_now();
        }
    }
}

// SAFETY: of those who come, one is inside at a time. Those who lock exclude each other, and wait
// for the one who left a mark before it was a lock: each thread looks at the state once more after
// it has left its mark, so behind the fence it has seen that it is one, or its mark is seen.
// Before, the standard has only one thread call at a time; a program that does more than it has
// said has what any library does that is called so.
unsafe impl RawMutex for Door {
    #[allow(clippy::declare_interior_mutable_const, reason = "as lock_api has it")]
    const INIT: Door = Door {
        is_marked: AtomicBool::new(false),
        is_locked: AtomicBool::new(false),
        lock: parking_lot::RawMutex::INIT,
    };

    type GuardMarker = GuardNoSend;

    #[inline]
    fn lock(&self) {
        if !self.try_lock() {
            self.wait();
        }
    }

    #[inline]
    fn try_lock(&self) -> bool {
        match STATE.load(Ordering::Acquire) {
            MARK if !self.is_marked.load(Ordering::Relaxed) => {
                self.is_marked.store(true, Ordering::Relaxed);
                // Only the order of the two steps is kept here: who changes the state fences.
                compiler_fence(Ordering::SeqCst);
                let is_mark = STATE.load(Ordering::Acquire) == MARK;
                if !is_mark {
                    self.is_marked.store(false, Ordering::Release);
                }
                is_mark
            }
            // One who has left a mark lets others in only when it is told that they want.
            LOCK if !self.is_marked.load(Ordering::Acquire) && self.lock.try_lock() => {
                self.is_locked.store(true, Ordering::Relaxed);
                true
            }
            _ => false,
        }
    }

    // SAFETY: who calls is inside.
    #[inline]
    unsafe fn unlock(&self) {
        if !self.is_locked.load(Ordering::Relaxed) {
            return self.is_marked.store(false, Ordering::Release);
        }
        self.is_locked.store(false, Ordering::Relaxed);
        // SAFETY: who is inside has locked it.
        unsafe { self.lock.unlock() };
    }
}
