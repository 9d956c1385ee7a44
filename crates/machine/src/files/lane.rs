//! Jobs that may wait, run one after another on a thread that is there only while there are any.

use muster_ninep::call::{Answer, Outcome};
use muster_ninep::error::Result;
use muster_ninep::synthetic::{Fid, SynCall};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};

type Job = Box<dyn FnOnce() + Send>;

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
        let mut queue = locked(&self.queue);
        queue.jobs.push_back(Box::new(job));
        if queue.runs {
            return true;
        }
        let of_thread = self.queue.clone();
        let thread = std::thread::Builder::new().name("lane".into());
        queue.runs = thread.spawn(move || Lane::drain(&of_thread)).is_ok();
        if !queue.runs {
            // No thread is to be had: the jobs' tickets refuse their requests when dropped.
            queue.jobs.clear();
        }
        queue.runs
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
            self.run(move || {
                if ticket.claim() {
                    ticket.answer(deed());
                }
            });
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
            job();
        }
    }
}
