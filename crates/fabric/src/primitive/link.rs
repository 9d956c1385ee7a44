//! One direction-pair of messages between two members within an epoch: in order, each once.
//!
//! Every message has a number. The receiver takes them in order only, and every message it sends
//! back says what it expects next. What is not acknowledged is kept and sent again when two beats
//! have passed without progress. So what is above sees neither loss nor reordering nor duplicates,
//! and there is no room for an answer that nobody waits for: a message that cannot be taken yet
//! (no room, no lease) is left as if it had been lost.

use super::message::Carried;
use std::collections::VecDeque;

/// What one end knows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Link {
    /// The number of the next message to be sent.
    next: u64,
    /// Sent, not acknowledged.
    kept: VecDeque<Carried>,
    /// A beat has passed since the other side last acknowledged something.
    aged: bool,
    /// The number expected from the other side.
    expected: u64,
    /// The other side has not been told what is expected.
    owes: bool,
}

impl Link {
    /// Keeps a message until it is acknowledged, and returns its number.
    pub fn post(&mut self, message: Carried) -> u64 {
        self.kept.push_back(message);
        self.next += 1;
        self.next - 1
    }

    /// What the other side is to be told; it counts as told.
    pub fn acknowledge(&mut self) -> u64 {
        self.owes = false;
        self.expected
    }

    /// The other side expects this number next. False when that cannot be.
    #[must_use]
    pub fn acknowledged(&mut self, expected: u64) -> bool {
        while self.next - (self.kept.len() as u64) < expected {
            if self.kept.pop_front().is_none() {
                return false;
            }
            self.aged = false;
        }
        true
    }

    /// Whether a message of this number is to be taken now; [`Link::take`] follows if so.
    pub fn is_expected(&mut self, number: u64) -> bool {
        // One that came before is told about again: the acknowledgement may have been lost.
        self.owes |= number < self.expected;
        number == self.expected
    }

    /// The expected message is taken.
    pub fn take(&mut self) {
        self.expected += 1;
        self.owes = true;
    }

    /// A beat has passed: the messages that are to be sent again, with the first one's number.
    pub fn beat(&mut self) -> (u64, Vec<Carried>) {
        let again = self.aged && !self.kept.is_empty();
        self.aged = !self.kept.is_empty();
        let kept = if again { self.kept.iter().cloned().collect() } else { vec![] };
        (self.next - self.kept.len() as u64, kept)
    }

    /// How many the other side has not said that it has.
    pub fn flying(&self) -> u64 {
        self.kept.len() as u64
    }

    /// What the other side has not said that it has, when this link ends.
    pub fn into_kept(self) -> VecDeque<Carried> {
        self.kept
    }

    /// What the other side has not said that it has.
    pub fn kept(&self) -> impl Iterator<Item = &Carried> {
        self.kept.iter()
    }

    /// Whether the other side waits to be told what is expected.
    pub fn owes(&self) -> bool {
        self.owes
    }
}
