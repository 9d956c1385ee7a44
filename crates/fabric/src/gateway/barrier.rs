//! Fences of which one side pays both. Who sends writes a flag and then looks whether the receiver
//! sleeps; who is about to sleep says so and then looks whether there is a flag. Unless there is a
//! fence between the two steps on both sides, neither may see the other. A fence of the sender's
//! waits until the flag's line has come from the other processor, for each message; so the sender
//! only keeps the compiler from changing the order, and the sleeper, who has time, has the kernel
//! fence all processors on which ranks run (membarrier(2)).

use rustix::thread::{MembarrierCommand, membarrier};
use std::sync::atomic::{AtomicBool, Ordering, fence};

/// Whether the kernel fences this process on behalf of others.
static IS_REGISTERED: AtomicBool = AtomicBool::new(false);

/// Has the kernel fence this process when others want it. Where it refuses (a container may forbid
/// it), this process fences for itself, and cannot fence others.
pub(super) fn register() {
    let registered = membarrier(MembarrierCommand::RegisterGlobalExpedited).is_ok();
    IS_REGISTERED.store(registered, Ordering::Relaxed);
}

/// Whether others fence this process, and it can fence them.
#[inline]
pub(super) fn is_registered() -> bool {
    IS_REGISTERED.load(Ordering::Relaxed)
}

/// Between own writes before and own reads after, and the same in all processes that have
/// registered.
pub(super) fn all() {
    fence(Ordering::SeqCst);
    // A program may have forbidden itself the call since (seccomp(2)).
    if is_registered() && membarrier(MembarrierCommand::GlobalExpedited).is_err() {
        IS_REGISTERED.store(false, Ordering::Relaxed);
    }
}
