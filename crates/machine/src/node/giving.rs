//! Files of a job that each rank gets a copy of, on their way from those that are kept here into
//! the sessions.
//!
//! To copy may take minutes, so each job has a thread for it: others' orders are taken meanwhile,
//! and so is the one that ends the job, after which nothing more is written into its sessions.

use super::orders::Crew;
use crate::chunk::store::Name;
use crate::launch::{Said, What};
use crate::relay::receive::Copier;
use muster_ninep::error::{Errno, Result, fail};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

/// How often the manager is told that it goes on: much more often than it loses patience.
const TELL: Duration = Duration::from_secs(10);

/// What is to be copied.
pub(super) struct Copies {
    /// Which files, and where they go.
    pub(super) files: Vec<(Name, String)>,
    pub(super) to: Copier,
}

/// That a job's files are being copied. Dropping it ends that: a step that has begun is waited for.
#[derive(Default)]
pub(super) struct Giving(Arc<Gate>);

/// Whether another step may be done: its lock is held while one is.
#[derive(Default)]
struct Gate(Mutex<bool>);

impl Gate {
    fn is_closed(&self) -> MutexGuard<'_, bool> {
        // It is as good whoever panicked.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn pass(&self, step: &mut dyn FnMut() -> Result<u64>) -> Result<u64> {
        let is_closed = self.is_closed();
        if *is_closed {
            return fail(Errno::CANCELED, "the job was ended");
        }
        step()
    }
}

impl Drop for Giving {
    fn drop(&mut self) {
        *self.0.is_closed() = true;
    }
}

/// Has files copied for a job, and the crew told what came of it; `rank` is one of those that wait.
///
/// # Errors
/// When no thread is left.
pub(super) fn begin(
    crew: Weak<Mutex<Crew>>,
    (job, rank): (u32, usize),
    copies: Copies,
) -> Result<Giving> {
    let gate = Arc::new(Gate::default());
    let of_thread = gate.clone();
    let named = std::thread::Builder::new().name("giving".to_owned());
    named.spawn(move || {
        let copied = copy(&crew, (job, rank), copies, &of_thread);
        if let Some(crew) = crew.upgrade() {
            Crew::lock(&crew).has_given(job, copied);
        }
    })?;
    Ok(Giving(gate))
}

fn copy(
    crew: &Weak<Mutex<Crew>>,
    (job, rank): (u32, usize),
    Copies { files, mut to }: Copies,
    gate: &Gate,
) -> Result<()> {
    let mut told = Instant::now();
    for (name, path) in files {
        let Some(own) = crew.upgrade() else { return fail(Errno::CANCELED, "the node ends") };
        let (file, mode) = Crew::lock(&own).to_copy(&name, &path)?;
        drop(own);
        let mut pass = |step: &mut dyn FnMut() -> Result<u64>| {
            let done = gate.pass(step)?;
            if told.elapsed() >= TELL {
                told = Instant::now();
                let said = Said { job, rank, what: What::Unpacks };
                crew.upgrade().iter().for_each(|crew| Crew::lock(crew).say(said.clone()));
            }
            Ok(done)
        };
        to.copy(&path, (&file, mode), &mut pass)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn once_its_job_is_given_up_nothing_more_is_copied() {
        let giving = Giving::default();
        let gate = giving.0.clone();
        assert_eq!(gate.pass(&mut || Ok(7)).unwrap(), 7);
        drop(giving);
        let refused = gate.pass(&mut || unreachable!("the job was ended")).unwrap_err();
        assert_eq!(refused.errno, Errno::CANCELED);
    }
}
