//! What the process's messages ask of what is around them: names, and the end of a deadlock.

use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::time::Duration;

use muster_message::Told;
use muster_mpi::watch::Outside;

use crate::communicator;
use crate::failure;

/// The name of the function that was called last.
static CALL: AtomicPtr<&'static str> = AtomicPtr::new(std::ptr::null_mut());

/// What a rank's environment has where nobody is to look for deadlocks; `muster run` passes it on.
const SWITCH: &str = "MUSTER_MPI_DEADLOCK";

/// Notes that a function is called.
#[inline]
pub fn called(name: &'static &'static str) {
    CALL.store(std::ptr::from_ref(name).cast_mut(), Ordering::Relaxed);
}

/// The library around a process.
struct Library;

/// What is around a process.
pub fn outside() -> Arc<dyn Outside> {
    Arc::new(Library)
}

impl Outside for Library {
    fn communicator(&self, context: u64) -> Option<(String, Vec<u32>)> {
        communicator::of_context(context)
    }

    fn call(&self) -> &'static str {
        let name = CALL.load(Ordering::Relaxed);
        // SAFETY: it is null, or came of a reference that lives as long as the library.
        unsafe { name.as_ref() }.copied().unwrap_or("MPI")
    }

    fn has_threads(&self, waiting: u32) -> bool {
        let threads = std::fs::read_dir("/proc/self/task").map(|tasks| tasks.count());
        threads.map_or(true, |threads| threads > waiting as usize)
    }

    fn is_watched(&self) -> bool {
        std::env::var_os(SWITCH).is_none_or(|value| value != "off")
    }

    fn deadlock(&self, told: &Told) {
        let mut waits = told.waits.clone();
        waits.sort();
        let count = waits.len() + told.more as usize;
        let who = if count == 1 { "a rank waits" } else { "ranks wait for one another" };
        let mut text = format!("muster: a deadlock: {who} for what never comes  [E503]\n");
        for (rank, what) in waits {
            text.push_str(&format!("muster:   rank {rank}: {what}\n"));
        }
        if told.more > 0 {
            text.push_str(&format!("muster:   and {} ranks more\n", told.more));
        }
        failure::say(&text);
        failure::leave(1)
    }

    fn late(&self, me: u32, waited: Duration) {
        failure::say(&format!(
            "muster: rank {me}: {} has waited {} s until all ranks wait in MPI: with --mpi=bcs it \
             goes on only then, but one computes, or waits for something else  [N504]\n",
            self.call(),
            waited.as_secs()
        ));
    }
}
