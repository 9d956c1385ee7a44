//! First contact: a planner that decides by two lengths until its peer's medium can be measured.
//! That is when messages have gone round the ring once: before, each page of it is a fault on
//! either side, which takes more time than there is and tells nothing.

use super::adapt::{Adaptive, Peers};
use super::calibrate::Medium;
use super::plan::{Fixed, Plan, Planner};
use std::sync::Arc;
use std::time::Duration;

/// Messages that pass after a peer could not be measured, at first; then twice as many, and so on.
const AGAIN: u32 = 16;

/// Messages that pass between two tries at most.
const AGAIN_MAX: u32 = 1 << 16;

/// A planner that gets to know its peer at the first long message.
#[derive(Debug)]
pub struct Contact {
    peers: Arc<Peers>,
    first: Fixed,
    known: Option<Adaptive>,
    /// Bytes of long messages until the ring has been gone round.
    round: usize,
    /// Long messages until the next try,
    skip: u32,
    /// and how many there were before the last one.
    skipped: u32,
}

impl Contact {
    /// A planner that does as `first` says until it knows more.
    pub fn new(peers: Arc<Peers>, first: Fixed) -> Contact {
        let round = match first.long {
            Plan::Pipelined { packet, slots } => packet * slots,
            Plan::Short | Plan::SingleCopy => 0,
        };
        Contact { peers, first, known: None, round, skip: 0, skipped: AGAIN / 2 }
    }

    fn present(&mut self) -> &mut dyn Planner {
        match &mut self.known {
            Some(known) => known,
            None => &mut self.first,
        }
    }
}

impl Planner for Contact {
    fn plan(&mut self, bytes: usize) -> Plan {
        self.present().plan(bytes)
    }

    fn stream(&mut self, bytes: usize) -> Plan {
        self.present().stream(bytes)
    }

    fn is_sampling(&mut self) -> bool {
        self.present().is_sampling()
    }

    fn observe(&mut self, bytes: usize, plan: Plan, time: Duration) {
        self.present().observe(bytes, plan, time);
    }

    fn is_new(&mut self, bytes: usize) -> bool {
        if self.known.is_some() || bytes <= self.first.short {
            return false;
        }
        if self.round > 0 {
            self.round = self.round.saturating_sub(bytes);
            return false;
        }
        if self.skip > 0 {
            self.skip -= 1;
            return false;
        }
        true
    }

    fn meet(&mut self, peer: &str, medium: &mut dyn Medium) {
        self.known = self.peers.meet(peer, medium);
        if self.known.is_none() {
            self.skipped = (2 * self.skipped).min(AGAIN_MAX);
            self.skip = self.skipped;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::calibrate::tests::Simulated;
    use super::super::choice::Grid;
    use super::super::costs::tests::medium;
    use super::*;

    const FIRST: Fixed =
        Fixed { short: 8192, long: Plan::Pipelined { packet: 32 << 10, slots: 16 } };

    #[test]
    fn short_messages_measure_nothing_and_a_long_one_does_it_once_the_ring_was_gone_round() {
        let mut planner = Contact::new(Peers::new(Grid::new(1 << 20, 32 << 10)), FIRST);
        assert!(!planner.is_new(8192));
        assert!(!planner.is_new(300_000) && !planner.is_new(300_000));
        assert!(!planner.is_new(8192));
        assert!(planner.is_new(8193));
        assert_eq!(planner.plan(1 << 20), FIRST.long);
        planner.meet("b", &mut Simulated::new(medium(true)));
        assert!(!planner.is_new(1 << 20));
        assert!(!planner.is_sampling());
    }

    #[test]
    fn a_peer_that_is_not_there_is_not_remembered_and_asked_less_and_less() {
        let peers = Peers::new(Grid::new(1 << 20, 32 << 10));
        let mut planner = Contact::new(peers.clone(), FIRST);
        let mut tries = 0;
        for _ in 0..1000 {
            if planner.is_new(1 << 20) {
                tries += 1;
                planner.meet("b", &mut Simulated { is_absent: true, ..simulated() });
            }
        }
        assert!((4..10).contains(&tries), "{tries}");
        let mut medium = simulated();
        assert!(peers.meet("b", &mut medium).is_some() && medium.spent > 0.0);
    }

    fn simulated() -> Simulated {
        Simulated::new(medium(false))
    }
}
