//! Jobs that may wait, run one after another on a thread that is there only while there are any.

use muster_ninep::call::{Answer, Outcome};
use muster_ninep::error::{Errno, Result, fail};
use muster_ninep::synthetic::{Fid, SynCall};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};

/// It is told whether there is a thread to run it.
type Job = Box<dyn FnOnce(bool) + Send>;

#[derive(Default)]
struct Queue {
    jobs: VecDeque<Job>,
    runs: bool,
}

/// A queue of jobs that keep their order.
#[derive(Clone, Default)]
pub struct Lane {
    queue: Arc<Mutex<Queue>>,
}

fn locked(queue: &Mutex<Queue>) -> MutexGuard<'_, Queue> {
    // A queue is whole whichever job panicked.
    queue.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

impl Lane {
    /// Runs `job` after those already queued. It never waits itself. Where no thread is to be had
    /// it returns false, and the job is dropped.
    pub fn run(&self, job: impl FnOnce() + Send + 'static) -> bool {
        self.queue_up(Box::new(|has_thread| {
            if has_thread {
                job();
            }
        }))
    }

    fn queue_up(&self, job: Job) -> bool {
        let mut queue = locked(&self.queue);
        queue.jobs.push_back(job);
        if queue.runs {
            return true;
        }
        let of_thread = self.queue.clone();
        let thread = std::thread::Builder::new().name("lane".into());
        queue.runs = thread.spawn(move || Lane::drain(&of_thread)).is_ok();
        if queue.runs {
            return true;
        }
        let jobs = std::mem::take(&mut queue.jobs);
        drop(queue);
        jobs.into_iter().for_each(|job| job(false));
        false
    }

    /// Answers a request with what `deed` returns, after the jobs already queued. For a request
    /// that is taken back before, nothing is done.
    ///
    /// # Errors
    /// Only that it is parked.
    pub fn answer<R>(
        &self,
        call: &mut SynCall<'_>,
        deed: impl FnOnce() -> Result<R> + Send + 'static,
    ) -> Answer<R>
    where
        Outcome<Fid>: From<R>,
        R: 'static,
    {
        call.park(|ticket| {
            self.queue_up(Box::new(move |has_thread| {
                if ticket.claim() {
                    ticket.answer(if has_thread { deed() } else { no_thread() });
                }
            }));
        })
    }

    fn drain(queue: &Mutex<Queue>) {
        loop {
            let mut now = locked(queue);
            let Some(job) = now.jobs.pop_front() else {
                now.runs = false;
                return;
            };
            drop(now);
            job(true);
        }
    }
}

fn no_thread<T>() -> Result<T> {
    let what = "no thread is to be had; look at ulimit -u, and at pids.max of the control group";
    fail(Errno::AGAIN, what)
}
