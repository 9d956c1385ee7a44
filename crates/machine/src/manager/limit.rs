//! How long a job may run: what ends it when its time is over. Each attempt has all of it.
//!
//! It has its time of grace then, or what is left of that if it was ending already, but no more
//! than some seconds: others wait for its nodes, which may be reserved for them.

use super::job::{Job, State};
use super::spec::End;
use super::timer;
use std::sync::Arc;
use std::time::Duration;

/// How long a job may go on at most, whatever its grace, when its time is over.
const LATE_MAX: Duration = Duration::from_secs(30);

impl Job {
    /// Ends the job when its time is over; it started so long after the machine was booted. What
    /// the wall clock is set to meanwhile does not count. The schedule counts it so from now on.
    pub(super) fn limit(self: &Arc<Job>, limit: Option<u64>, started: f64) {
        let (Some(limit), Some(manager)) = (limit, self.manager.upgrade()) else { return };
        manager.counts_from(self.id, started);
        let left = limit as f64 / 1000.0 - (super::uptime() - started);
        let key = self.later(Duration::from_secs_f64(left.max(0.0)), move |job| {
            let why = format!("its time limit of {} s has passed", limit as f64 / 1000.0);
            job.end(End::Timeout, 124, &why);
            // One that stands still hears of it at its turn.
            let turn = job.manager.upgrade().map(|manager| manager.strobe.cycle());
            job.later(LATE_MAX + turn.unwrap_or_default(), |job| {
                let mut state = job.state();
                let actions = state.progress.is_late();
                job.act(state, actions);
            });
        });
        let late = self.state().set_limit(key);
        self.forget(late);
    }
}

impl State {
    /// What ends it when its time is over. If all of it has ended meanwhile, it is given back: it
    /// would end the attempt that has taken its place.
    fn set_limit(&mut self, limit: Option<timer::Key>) -> Option<timer::Key> {
        if self.ended.is_some() {
            return limit;
        }
        std::mem::replace(&mut self.limit, limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    #[test]
    fn an_attempt_that_ends_while_it_is_started_leaves_no_time_limit_to_the_next() {
        let key = (Instant::now(), 1);
        let mut state = State::default();
        assert_eq!((state.set_limit(Some(key)), state.limit), (None, Some(key)));
        let mut over = State { ended: Some(1.0), ..State::default() };
        assert_eq!((over.set_limit(Some(key)), over.limit), (Some(key), None));
    }
}
