//! The end of a rank's output: when it is there, or nothing more comes of it.
//!
//! All that a rank's program has left behind is killed when it has ended, and its output ends then.
//! It does not if somebody who is not of the job was given the end of a pipe: such a rank is closed
//! when nothing has come for a while. A node that stands still sends nothing either, but will.

use super::Job;
use crate::output::Output;
use std::sync::Arc;
use std::time::Duration;

/// How often it is looked whether more has come. A node that stands still is known to be silent
/// before three of these are over.
const LOOK: Duration = Duration::from_secs(2);

/// At so many looks, one after another, nothing had come: nothing more will.
const LOOKS: usize = 5;

/// How long nothing has come.
#[derive(Debug, Default)]
pub(super) struct Quiet {
    /// How far both outputs had come at the last look.
    come: [u64; 2],
    looks: usize,
}

impl Quiet {
    /// One more look, at which so much has come; `may_come` says that more may be on its way though
    /// it does not arrive. Whether nothing more will.
    fn is_over(&mut self, come: [u64; 2], may_come: bool) -> bool {
        let has_come = std::mem::replace(&mut self.come, come) != come;
        self.looks = if has_come || may_come { 0 } else { self.looks + 1 };
        self.looks >= LOOKS
    }
}

impl Job {
    /// Closes a rank whose program has ended and whose output does not end.
    pub(super) fn await_output(self: &Arc<Job>, rank: usize, mut quiet: Quiet) {
        self.later(LOOK, move |job| {
            let state = job.state();
            if !state.is_awaited(rank) {
                return;
            }
            let (node, has_all) =
                (state.progress.ranks()[rank].node.clone(), job.has_all_of(&state, rank));
            drop(state);
            let come = |output| job.placed.get().map_or(0, |it| it.log.end_of(rank, output));
            let manager = job.manager.upgrade();
            let is_up = manager.is_some_and(|manager| manager.nodes.is_up(&node));
            if !quiet.is_over(Output::BOTH.map(come), !has_all && !is_up) {
                return job.await_output(rank, quiet);
            }
            let mut state = job.state();
            let actions = state.progress.rank_closed(rank);
            job.act(state, actions);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// After 10 s the rest was dropped, and the job was done with exit status 0.
    #[test]
    fn output_is_waited_for_while_its_node_stands_still_and_while_more_of_it_comes() {
        let mut quiet = Quiet::default();
        let mut looks = |come: u64, may_come| {
            let mut over = (1..=LOOKS).map(|_| quiet.is_over([come, 0], may_come));
            over.position(|is_over| is_over)
        };
        assert_eq!(looks(0, true), None, "the node stands still");
        assert_eq!(looks(7, false), None, "more has come at the first of these");
        assert_eq!(looks(9, true), None);
        assert_eq!(looks(9, false), Some(LOOKS - 1));
    }
}
