//! Logs of jobs that are done, of which nothing is known but the file.
//!
//! To know where the bytes of a stream are the whole file is looked through. Where it is long that
//! takes seconds, in which the one who serves all would serve nobody: it is done on a thread of the
//! log's own, which does not keep the log locked either.

use super::index::Whose;
use super::{JobLog, Reader, State};
use crate::output::Output;
use muster_ninep::call::{Data, Ticket};
use muster_ninep::error::Result;
use std::fs;

/// Bytes that are looked through at once: a few milliseconds.
const AT_ONCE: u64 = 4 << 20;

impl JobLog {
    /// How long a stream is, as its file says. Of a long log at rest that is not known: it is 0, as
    /// that of a pipe is, since who lists all jobs is not to read all that they have printed.
    pub(super) fn size(&self, whose: Whose) -> u64 {
        let mut state = self.locked();
        // What cannot be read is told to who reads it.
        if state.is_long_at_rest() || state.awaken().is_err() {
            return 0;
        }
        let index = state.stream(whose);
        index.end - index.first(&state.file, whose)
    }

    /// Finds out what is in the file of a job that is done, while others use the log.
    pub(super) fn awaken(&self) -> Result<()> {
        loop {
            let (path, count) = {
                let state = self.locked();
                state.is_kept()?;
                if !state.is_resting {
                    return Ok(());
                }
                (state.path.clone(), state.count)
            };
            // One that was removed is not made again.
            let file = fs::File::options().read(true).append(true).open(&path)?;
            let mut found = State::of(&path, file, count)?;
            let done = found.awaken();
            let mut state = self.locked();
            state.is_kept()?;
            if state.gone() != found.gone() {
                // Who takes it has had more meanwhile, and zeros may have been read for that.
                continue;
            }
            done?;
            if state.is_resting {
                state.learn(found);
            }
            return Ok(());
        }
    }
}

impl State {
    /// Whether it would take long to find out what is in the file.
    pub(super) fn is_long_at_rest(&self) -> bool {
        self.is_resting && self.length.saturating_sub(self.gone()) > AT_ONCE
    }

    /// Finds out what is in the file of a job that is done, if that is not known.
    pub(super) fn awaken(&mut self) -> Result<()> {
        self.is_kept()?;
        if !self.is_resting {
            return Ok(());
        }
        self.begin();
        let found = self.recover();
        if found.is_err() {
            self.rest();
            return found;
        }
        for (rank, output) in (0..self.count).flat_map(|rank| Output::BOTH.map(|one| (rank, one))) {
            self.end(rank, output);
        }
        Ok(())
    }

    /// Takes over what another has found out of the same file.
    fn learn(&mut self, found: State) {
        self.length = found.length;
        (self.ranks, self.merged, self.partial) = (found.ranks, found.merged, found.partial);
        (self.open, self.attempt, self.bases) = (found.open, found.attempt, found.bases);
        self.is_resting = false;
    }
}

impl Reader {
    /// Answers a read once it is known what is in the file.
    pub(super) fn awaken(&self, ticket: Ticket<Data>, offset: u64, count: usize) {
        let reader = self.clone();
        // Where there is no thread the ticket goes, and the read is refused.
        self.log.lane.run(move || {
            let bytes = reader.log.awaken().and_then(|()| {
                let mut state = reader.log.locked();
                // It may have been dropped meanwhile.
                state.awaken()?;
                let (_, bytes) = reader.look(&state, offset, count);
                bytes.unwrap_or_else(|| Ok(Vec::new()))
            });
            if ticket.claim() {
                ticket.answer(bytes.map(Data::from));
            }
        });
    }
}
