//! How long a job that has its nodes waits for its client, which is to send its files: who stands
//! still meanwhile keeps them from others, and no time limit counts before the programs run.
//!
//! Each piece has the time begin anew. While one is on its way to the nodes, and once the job is
//! started, it is not the client that is waited for.

use super::job::Job;
use super::launch::start_failed;
use super::spec::Phase;
use muster_ninep::error::{Errno, Error};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long a client may take for the next piece: as long as a piece may take to arrive.
const PATIENCE: Duration = Duration::from_secs(60);

impl Job {
    /// The client is to go on.
    pub(super) fn await_client(self: &Arc<Job>) {
        let key = self.later(PATIENCE, |job| job.client_stands_still());
        let before = std::mem::replace(&mut self.state().patience, key);
        self.forget(before);
    }

    /// It has.
    pub(super) fn client_goes_on(&self) {
        let before = self.state().patience.take();
        self.forget(before);
    }

    /// The client may have gone on just now, or the job may have been started or ended.
    fn client_stands_still(self: &Arc<Job>) {
        {
            let mut state = self.state();
            let is_due = state.patience.is_some_and(|(until, _)| until <= Instant::now());
            if !is_due || state.launching || state.progress.phase() != Phase::Starting {
                return;
            }
            state.patience = None;
        }
        let text = format!(
            "its client stands still: it has sent nothing more of the job's files for \
             {PATIENCE:?}  [E205]"
        );
        start_failed(self, (None, Error::new(Errno::TIMEDOUT, text)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manager::job::Birth;
    use crate::manager::place::Place;
    use crate::manager::progress::Bears;
    use std::sync::Weak;

    #[test]
    fn whose_client_stands_still_is_ended_unless_it_is_started_or_its_client_has_gone_on() {
        let birth = Birth { id: 1, attempt: 1, requeued: Vec::new(), submitted: 0.0, view: None };
        let job = Job::of(Weak::new(), birth);
        let places = vec![Place { node: "n0".to_owned(), local: 0 }];
        job.state().progress.placed(places, vec![1], Bears::default());
        let end = || {
            job.client_stands_still();
            job.status().why
        };
        assert_eq!(end(), None, "nobody waits for it");
        job.state().patience = Some((Instant::now() + PATIENCE, 1));
        assert_eq!(end(), None, "it has gone on just now");
        job.state().patience = Some((Instant::now(), 1));
        job.state().launching = true;
        assert_eq!(end(), None, "it has sent all");
        job.state().launching = false;
        let why = end().unwrap();
        assert!(why.starts_with("its client stands still") && why.contains("E205"), "{why}");
        assert!(job.is_done());
    }
}
