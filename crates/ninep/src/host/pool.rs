//! A few threads for what may wait for a disk. One pool serves all trees of the process; it has
//! no thread while there is nothing to do.

use muster_base::limits::MSIZE_MAX;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::Duration;

/// Threads at most: enough to keep a disk's queue filled.
const THREADS_MAX: usize = 8;

/// How long a thread waits for work before it ends.
const IDLE: Duration = Duration::from_secs(5);

/// Bytes that requests with the pool hold or will hold: four of the largest for each thread.
/// Beyond, the thread that serves carries them out itself, so its client waits.
const BYTES_MAX: usize = THREADS_MAX * 4 * MSIZE_MAX;

type Job = Box<dyn FnOnce() + Send>;

struct State {
    jobs: VecDeque<Job>,
    threads: usize,
    idle: usize,
}

static STATE: Mutex<State> = Mutex::new(State { jobs: VecDeque::new(), threads: 0, idle: 0 });
static WORK: Condvar = Condvar::new();
static BYTES: AtomicUsize = AtomicUsize::new(0);

fn state() -> MutexGuard<'static, State> {
    STATE.lock().expect("no holder panics")
}

/// Has `job` run on another thread; on this one if there can be no other.
pub fn submit(job: Job) {
    let mut now = state();
    now.jobs.push_back(job);
    if now.jobs.len() <= now.idle || now.threads == THREADS_MAX {
        drop(now);
        WORK.notify_one();
        return;
    }
    now.threads += 1;
    drop(now);
    let thread = std::thread::Builder::new().name("ninep-disk".into());
    if thread.spawn(work).is_err() {
        let mut now = state();
        now.threads -= 1;
        // With another thread about, it gets to the job in time.
        let job = if now.threads == 0 { now.jobs.pop_back() } else { None };
        drop(now);
        if let Some(job) = job {
            job();
        }
    }
}

/// Takes a thread off the books even if a job panicked.
struct Presence;

impl Drop for Presence {
    fn drop(&mut self) {
        state().threads -= 1;
    }
}

fn work() {
    let presence = Presence;
    let mut now = state();
    loop {
        if let Some(job) = now.jobs.pop_front() {
            drop(now);
            job();
            now = state();
            continue;
        }
        now.idle += 1;
        let (after, waited) = WORK.wait_timeout(now, IDLE).expect("no holder panics");
        now = after;
        now.idle -= 1;
        if waited.timed_out() && now.jobs.is_empty() {
            // Off the books before the lock is free: else a job that comes now might count on it.
            now.threads -= 1;
            std::mem::forget(presence);
            return;
        }
    }
}

/// Memory that a request with the pool is allowed.
#[derive(Debug)]
pub struct Reservation(usize);

impl Reservation {
    /// Reserves memory for `bytes`, unless too much is reserved already.
    pub fn take(bytes: usize) -> Option<Reservation> {
        let add = |now: usize| now.checked_add(bytes).filter(|&sum| sum <= BYTES_MAX);
        BYTES.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add).ok()?;
        Some(Reservation(bytes))
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        BYTES.fetch_sub(self.0, Ordering::Relaxed);
    }
}
