//! One direction-pair of messages between two members within an epoch: in order, each once.
//!
//! Every message has a number. The receiver takes them in order only, and every message it sends
//! back says what it expects next. What is not acknowledged is kept and sent again when two beats
//! have passed without progress, then after twice as many, and so on: on a slow way it may not be
//! lost but wait, and to send it again makes all that comes after it wait longer. The next such
//! wait begins with twice the time that the last acknowledgement took. What still waits at this
//! node to be sent is not sent again at all ([`Protocol::waits`]). So what is above sees neither
//! loss nor reordering nor duplicates, and there is no room for an answer that nobody waits for: a
//! message that cannot be taken yet (no room, no lease) is left as if it had been lost. Who has
//! taken nothing in an epoch, as it had no lease, says so once it has one, and is sent all at once.
//!
//! [`Protocol::waits`]: crate::protocol::Protocol::waits

use super::message::Carried;
use std::collections::VecDeque;

/// Beats without progress after which all is sent again for the first time.
const PATIENCE: u8 = 2;

/// The same after many times in vain: who had no lease waits no longer when it has one.
const PATIENCE_MAX: u8 = 8;

/// What one end knows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Link {
    /// The number of the next message to be sent.
    next: u64,
    /// Sent, not acknowledged.
    kept: VecDeque<Carried>,
    /// Beats since the other side last acknowledged something, while something is kept; no more
    /// than make a difference.
    age: u8,
    /// Beats since something was acknowledged or all was sent again, and after how many it is;
    /// less than [`PATIENCE`] means that.
    waited: u8,
    patience: u8,
    /// Beats since the other side was heard of, while it has something to tell.
    silent: u8,
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
        self.silent = 0;
        let known = self.next - self.kept.len() as u64;
        if expected > self.next {
            return false;
        }
        if known < expected {
            self.kept.drain(..(expected - known) as usize);
            self.patience = (2 * self.age).min(PATIENCE_MAX);
            (self.age, self.waited) = (0, 0);
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

    /// What the other side has left, and takes now, with the first one's number.
    pub fn again(&mut self) -> (u64, Vec<Carried>) {
        self.waited = 0;
        (self.next - self.kept.len() as u64, self.kept.iter().cloned().collect())
    }

    /// Whether anything of the other side's was taken.
    pub fn has_taken(&self) -> bool {
        self.expected > 0
    }

    /// A beat has passed: the messages that are to be sent again, with the first one's number.
    pub fn beat(&mut self) -> (u64, Vec<Carried>) {
        let mut kept = vec![];
        if self.kept.is_empty() {
            (self.age, self.waited) = (0, 0);
        } else {
            self.age = (self.age + 1).min(PATIENCE_MAX / 2);
            self.waited += 1;
        }
        let patience = self.patience.max(PATIENCE);
        if self.waited >= patience {
            kept.extend(self.kept.iter().cloned());
            (self.patience, self.waited) = ((2 * patience).min(PATIENCE_MAX), 0);
        }
        (self.next - self.kept.len() as u64, kept)
    }

    /// A beat has passed; whether the other side, which has or has not something to tell that is
    /// no message, is to be asked for it: what it has told may have been lost.
    pub fn is_silent(&mut self, has_to_tell: bool) -> bool {
        self.silent = if has_to_tell { self.silent + 1 } else { 0 };
        let is_silent = self.silent > PATIENCE;
        if is_silent {
            self.silent = 0;
        }
        is_silent
    }

    /// The first that the other side has not said that it has.
    pub fn unacknowledged(&self) -> Option<u64> {
        (!self.kept.is_empty()).then(|| self.next - self.kept.len() as u64)
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Posts so many, and says how many of each were sent in these beats; the other side says in
    /// some of them how many it has.
    fn sent(link: &mut Link, beats: u32, expected: impl Fn(u32) -> u64) -> usize {
        let mut count = 0;
        for beat in 1..=beats {
            assert!(link.acknowledged(expected(beat)));
            count += link.beat().1.len();
        }
        count
    }

    fn posted(count: u64) -> Link {
        let mut link = Link::default();
        for _ in 0..count {
            link.post(Carried::Staged(0, true));
        }
        link
    }

    #[test]
    fn what_was_lost_is_sent_again_after_two_beats_and_ever_more_seldom() {
        let mut link = posted(3);
        let each: Vec<usize> = (0..32).map(|_| link.beat().1.len()).collect();
        let at: Vec<usize> = (0..32).filter(|beat| each[*beat] == 3).map(|beat| beat + 1).collect();
        assert_eq!(at, [2, 6, 14, 22, 30]);
        assert!(link.acknowledged(3));
        link.post(Carried::Staged(0, true));
        let each: Vec<usize> = (0..8).map(|_| link.beat().1.len()).collect();
        assert_eq!(each, [0, 0, 0, 0, 0, 0, 0, 1], "the way has become slow");
        assert!(link.acknowledged(4));
        link.post(Carried::Staged(0, true));
        assert_eq!(link.beat().1, []);
        assert!(link.acknowledged(5));
        link.post(Carried::Staged(0, true));
        assert_eq!([link.beat().1.len(), link.beat().1.len()], [0, 1], "and is no more");
    }

    #[test]
    fn a_way_that_takes_one_message_in_a_second_is_not_filled_with_what_is_on_it() {
        // Sixteen bodies of 1 MiB, four beats each.
        let mut link = posted(16);
        let expected = |beat| u64::from(beat / 4);
        assert_eq!(sent(&mut link, 4 * 15, expected), 16, "once, until that is known");
        // Ten beats each: once for each that is acknowledged.
        let mut link = posted(16);
        let expected = |beat| u64::from(beat / 10);
        assert!(sent(&mut link, 10 * 15, expected) <= 16 + 16 * 17 / 2);
    }

    #[test]
    fn what_cannot_be_acknowledged_is_refused() {
        let mut link = posted(2);
        assert!(link.acknowledged(1) && !link.acknowledged(3) && link.acknowledged(1));
        assert_eq!(link.flying(), 1);
    }
}
