//! How a rank waits: it looks, offers its processor, and sleeps.

use super::super::barrier;
use super::super::gate::OTHER;
use super::super::layout::Sleep;
use super::{HELD, Rank, What};
use crate::error::Result;
use crate::wait::Sleeper;
use std::time::Duration;

/// How long a rank sleeps at most before it looks: who was to wake it may be stopped.
const NAP: Duration = Duration::from_millis(50);

/// The same where the kernel does not fence the others for it (`barrier.rs`): what they send just
/// when it goes to sleep it may not see.
const NAP_UNFENCED: Duration = Duration::from_millis(1);

/// How long it sleeps at most before the senders of what it took are told: that would wake those
/// who sleep for nothing else.
const HOLD: Duration = Duration::from_millis(1);

/// A rank that waits.
pub(super) struct Waiting<'a> {
    pub(super) rank: &'a mut Rank,
    pub(super) what: What<'a>,
    pub(super) has_slept: bool,
}

#[cfg(test)]
impl Rank {
    pub(in crate::gateway) fn spoil(&mut self) {
        self.gate.spoil();
    }
}

impl Sleeper for Waiting<'_> {
    fn is_ready(&mut self) -> bool {
        self.rank.is_seen(self.what)
    }

    fn offer(&mut self) {
        self.rank.crowd.offer(&self.rank.gate.core);
    }

    fn sleep(&mut self, most: Duration) -> Result<()> {
        let rank = &mut *self.rank;
        self.has_slept = true;
        let sleep = match self.what {
            What::Piece | What::Delivery | What::Any([]) => Sleep::News,
            What::Room(_) | What::Any(_) => Sleep::Room,
        };
        rank.gate.core.announce(sleep);
        rank.gate.keep_watch();
        let (holds, what) = (rank.has_untold(), self.what);
        let is_there = if holds { rank.is_heard(what) } else { rank.is_ready(what) };
        if !is_there {
            let mut ready = std::mem::take(&mut rank.ready);
            let nap = match holds {
                true => HOLD,
                false if barrier::is_registered() => NAP,
                false => NAP_UNFENCED,
            };
            let slept = rank.gate.sleep(most.min(nap), &mut ready);
            let has_heard = ready.contains(&OTHER);
            rank.ready = ready;
            if slept.is_err() || has_heard {
                rank.gate.core.announce(Sleep::No);
            }
            let is_late = slept?;
            if holds && is_late {
                rank.held = HELD;
            }
            if has_heard {
                if !rank.listen()? {
                    // That ends every sleep at the descriptors.
                    std::thread::sleep(most.min(NAP_UNFENCED));
                }
                return Ok(());
            }
        }
        rank.gate.core.announce(Sleep::No);
        rank.crowd.wake();
        Ok(())
    }
}
