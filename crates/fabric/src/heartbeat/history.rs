//! The last strobes, for those who have missed some.

use super::wire::Strobe;
use muster_base::limits;
use std::collections::VecDeque;

/// Strobes without gaps, the newest last.
#[derive(Debug, Default)]
pub struct History {
    strobes: VecDeque<Strobe>,
    bytes: usize,
}

impl History {
    /// Keeps a strobe; the oldest go when there are too many.
    pub fn push(&mut self, strobe: Strobe) {
        let next = |last: &Strobe| last.sequence + 1 == strobe.sequence;
        assert!(self.strobes.back().is_none_or(next), "{} leaves a gap", strobe.sequence);
        self.bytes += strobe.events.len();
        self.strobes.push_back(strobe);
        while self.strobes.len() > limits::HISTORY_MAX || self.bytes > limits::HISTORY_BYTES_MAX {
            let oldest = self.strobes.pop_front().expect("it is not empty");
            self.bytes -= oldest.events.len();
        }
    }

    /// What follows a sequence, or none when that is no longer kept.
    pub fn after(&self, seen: u64) -> Option<impl Iterator<Item = &Strobe>> {
        let first = self.strobes.front()?.sequence;
        let skip = (seen + 1).checked_sub(first)?;
        Some(self.strobes.iter().skip(usize::try_from(skip).unwrap_or(usize::MAX)))
    }

    /// Forgets all: what follows does not join it.
    pub fn clear(&mut self) {
        *self = History::default();
    }
}
