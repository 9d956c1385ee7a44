//! Boards: what ranks of one node show each other without a message for each two. On a board each
//! rank has two places, which it uses in turns; what it shows has a number, and the others look for
//! that. It shows the next but one only when all have taken this one: as in a collective, where
//! nobody goes on to the second before the first is over for all.
//!
//! *Steps.* Who shows writes the bytes, then the flag, as in a ring (`near.rs`). A flag's upper
//! half is the number, the lower one a label. Nobody waits for anybody. Numbers begin at 1 and are
//! used once on a board, also when other ranks use it by then; those look first whether the last
//! ones have taken all ([`has_left`]).
//!
//! *Sleep.* Who has seen what all show wakes those who sleep: the last to show does so in any case.
//! A flag is published before the word is looked at by which others say that they sleep.

use super::endpoint::Core;
use super::layout::{Memory, Process};
use muster_base::limits::{BOARD_BYTES, BOARDS};

/// A place on a board, the same for all who show something there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spot {
    /// Which board.
    pub board: u32,
    /// The number of what is shown there.
    pub number: u32,
}

impl Spot {
    fn board(self) -> usize {
        assert!((self.board as usize) < BOARDS, "there is no board {}", self.board);
        self.board as usize
    }
}

#[inline]
pub(super) fn show<M: Memory>(core: &Core<M>, spot: Spot, label: u32, bytes: &[u8]) {
    assert!(bytes.len() <= BOARD_BYTES, "{} bytes do not fit", bytes.len());
    let at = core.layout.spot(core.me, spot.board(), spot.number);
    core.memory.write(at + 1, bytes);
    core.memory.publish(at, u64::from(spot.number) << 32 | u64::from(label));
}

#[inline]
pub(super) fn label<M: Memory>(core: &Core<M>, rank: usize, spot: Spot) -> Option<u32> {
    let flag = core.memory.load(core.layout.spot(rank, spot.board(), spot.number));
    (flag >> 32 == u64::from(spot.number)).then_some(flag as u32)
}

#[inline]
pub(super) fn read<M: Memory>(core: &Core<M>, rank: usize, spot: Spot, into: &mut [u8]) {
    core.memory.read(core.layout.spot(rank, spot.board(), spot.number) + 1, into);
}

#[inline]
pub(super) fn leave<M: Memory>(core: &Core<M>, spot: Spot) {
    core.memory.store(core.layout.left(core.me, spot.board()), spot.number.into());
}

pub(super) fn has_left<M: Memory>(core: &Core<M>, rank: usize, spot: Spot) -> bool {
    let left = core.memory.load(core.layout.left(rank, spot.board())) as u32;
    // Numbers begin anew after the last.
    left.wrapping_sub(spot.number).cast_signed() >= 0
}

/// What is expected of others.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Check {
    /// All show it.
    AllShow,
    /// Those who do not ran on other processors when they last said where.
    Elsewhere,
    /// One of them may need this one.
    Here,
}

/// What a rank waits for on boards: one place for each of its threads that does.
#[derive(Default)]
pub(super) struct Expected {
    all: Vec<(Spot, Vec<usize>)>,
    /// The room of one that is not waited for any more.
    spare: Vec<usize>,
}

impl Expected {
    pub(super) fn set(&mut self, spot: Spot, ranks: impl Iterator<Item = usize>) {
        self.forget(spot);
        let mut expected = std::mem::take(&mut self.spare);
        expected.extend(ranks);
        self.all.push((spot, expected));
    }

    #[inline]
    pub(super) fn forget(&mut self, spot: Spot) {
        let Some(at) = self.all.iter().position(|(other, _)| *other == spot) else { return };
        self.spare = self.all.swap_remove(at).1;
        self.spare.clear();
    }

    #[inline]
    pub(super) fn has_all<M: Memory>(&self, core: &Core<M>) -> bool {
        let is_shown = |(spot, ranks): &(Spot, Vec<usize>)| {
            ranks.iter().all(|rank| label(core, *rank, *spot).is_some())
        };
        self.all.iter().any(is_shown)
    }

    /// Whether all show what is expected there, and if not, whether those who do not run on other
    /// processors than this. Some of those who do are forgotten.
    #[inline]
    pub(super) fn check<M: Memory>(&mut self, core: &Core<M>, spot: Spot, processor: u64) -> Check {
        let found = self.all.iter_mut().find(|(other, _)| *other == spot);
        let Some((_, expected)) = found else { return Check::AllShow };
        let is_shown = |rank: usize| label(core, rank, spot).is_some();
        while expected.pop_if(|rank| is_shown(*rank)).is_some() {}
        let is_here = |rank: usize| {
            let last = core.memory.load(core.layout.process(rank, Process::Crowd));
            last == 0 || last == processor
        };
        match expected.iter().any(|rank| is_here(*rank) && !is_shown(*rank)) {
            _ if expected.is_empty() => Check::AllShow,
            true => Check::Here,
            false => Check::Elsewhere,
        }
    }

    /// Forgets all who show what is expected of them at a spot.
    pub(super) fn forget_shown<M: Memory>(&mut self, core: &Core<M>, spot: Spot) {
        if let Some((_, expected)) = self.all.iter_mut().find(|(other, _)| *other == spot) {
            expected.retain(|rank| label(core, *rank, spot).is_none());
        }
    }

    /// Whether any does. Where nobody is expected any more all have shown something, and who waits
    /// for that has not looked since.
    pub(super) fn has_any<M: Memory>(&self, core: &Core<M>) -> bool {
        let is_any = |(spot, ranks): &(Spot, Vec<usize>)| {
            ranks.is_empty() || ranks.iter().any(|rank| label(core, *rank, *spot).is_some())
        };
        self.all.iter().any(is_any)
    }
}
