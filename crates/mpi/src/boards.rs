//! Which boards this process uses for which communicator. Members agree on one that all of them
//! have to spare, when they first want one.

use crate::buffer::Memory;
use crate::communicator::Communicator;
use crate::process::State;
use muster_base::limits::{BOARD_RANKS_MAX, BOARDS};
use muster_message::{Boards, Carrier, Spot};

/// What is known of a board.
#[derive(Clone, Default)]
struct Use {
    /// The context of the communicator that uses it.
    by: Option<u64>,
    /// The last number that was used, and who has used it beside this rank.
    last: u32,
    others: Vec<u32>,
}

/// What is known of all.
pub struct Uses {
    all: Vec<Use>,
    /// The communicator whose ranks agree on one at the moment. Others that other threads of this
    /// process want one for are offered none meanwhile.
    agreeing: Option<u64>,
}

impl Default for Uses {
    fn default() -> Uses {
        Uses { all: vec![Use::default(); BOARDS], agreeing: None }
    }
}

impl Uses {
    /// What this rank says of its boards: the last number of each that it has to spare, and -1.
    pub fn offer(&mut self, context: u64, boards: &dyn Boards) -> Vec<i32> {
        if self.agreeing.is_some() {
            return vec![-1; BOARDS];
        }
        self.agreeing = Some(context);
        let offer = |(board, it): (u32, &Use)| {
            let spot = Spot { board, number: it.last };
            // They may be looking at what this rank has shown there.
            let is_left = || it.others.iter().all(|rank| boards.has_left(*rank, spot));
            let last = i32::try_from(it.last).ok().filter(|_| it.by.is_none() && is_left());
            last.unwrap_or(-1)
        };
        (0..).zip(&self.all).map(offer).collect()
    }

    /// What was offered to the ranks of a communicator is to spare again.
    pub fn withdraw(&mut self, context: u64) {
        self.agreeing = self.agreeing.filter(|agreeing| *agreeing != context);
    }

    /// Takes the first board that all have to spare, by what they say. Its first number is the next
    /// one.
    pub fn take(&mut self, comm: &Communicator, said: &[Vec<i32>]) -> Option<Spot> {
        self.withdraw(comm.context());
        let last = |board: usize| {
            let mut all = said.iter().map(|offer| offer.get(board).copied().unwrap_or(-1));
            all.try_fold(0, |most, last| u32::try_from(last).ok().map(|last| last.max(most)))
        };
        let (board, number) = (0..BOARDS).find_map(|board| Some((board, last(board)?)))?;
        let me = comm.group().world(comm.rank());
        let others = comm.group().members().filter(|member| *member != me).collect();
        self.all[board] = Use { by: Some(comm.context()), last: number, others };
        Some(Spot { board: board as u32, number })
    }

    /// A communicator uses its board no more; up to which number it has.
    pub fn release(&mut self, context: u64, last: u32) {
        if let Some(used) = self.all.iter_mut().find(|it| it.by == Some(context)) {
            (used.by, used.last) = (None, last);
        }
    }
}

impl<C: Carrier, M: Memory> State<C, M> {
    /// What this rank says of its boards to the others of a communicator; none where they cannot
    /// share one: not all of them see the same, or the order of their messages is of interest.
    pub fn offer_boards(&mut self, comm: &Communicator) -> Option<Vec<i32>> {
        let can_share = (2..=BOARD_RANKS_MAX).contains(&comm.size()) && comm.remote().is_none();
        if !can_share || self.endpoint.is_watched() {
            return None;
        }
        let boards = self.endpoint.carrier().boards()?;
        let seers = boards.seers();
        let all_see = comm.group().members().all(|member| seers.contains(&member));
        all_see.then(|| self.boards.offer(comm.context(), boards))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::group::Group;
    use std::ops::Range;

    /// Boards on which these ranks have taken all.
    struct Left(Vec<u32>);

    impl Boards for Left {
        fn seers(&self) -> Range<u32> {
            0..4
        }

        fn show(&mut self, _: Spot, _: u32, _: &[u8]) {}

        fn label(&self, _: u32, _: Spot) -> Option<u32> {
            None
        }

        fn read(&self, _: u32, _: Spot, _: &mut [u8]) {}

        fn expect(&mut self, _: Spot, _: &mut dyn Iterator<Item = u32>) {}

        fn linger(&mut self, _: Spot) -> bool {
            false
        }

        fn has_shown(&self) -> bool {
            false
        }

        fn leave(&mut self, _: Spot, _: &mut dyn Iterator<Item = u32>) {}

        fn forget(&mut self, _: Spot) {}

        fn has_left(&self, rank: u32, _: Spot) -> bool {
            self.0.contains(&rank)
        }
    }

    #[test]
    fn a_board_is_given_to_one_communicator_and_again_when_all_have_left_it() {
        let world = Communicator::world(0, 4);
        let comm = |context, members: &[u32]| {
            world.with(context, Group::of(members.to_vec()).unwrap(), None).unwrap()
        };
        let (mut uses, all, some) = (Uses::default(), Left(vec![1, 2, 3]), Left(vec![1]));
        let said = vec![uses.offer(10, &all)];
        // Another thread wants one meanwhile.
        assert_eq!(uses.offer(20, &all), [-1; BOARDS]);
        let first = uses.take(&comm(10, &[0, 1]), &said);
        assert_eq!(first, Some(Spot { board: 0, number: 0 }));
        let said = vec![uses.offer(20, &all)];
        let second = uses.take(&comm(20, &[2, 0]), &said);
        assert_eq!(second, Some(Spot { board: 1, number: 0 }));
        uses.release(10, 7);
        uses.release(20, 9);
        assert_eq!(uses.offer(30, &some)[..3], [7, -1, 0]);
        uses.withdraw(30);
        // Another rank has used it longer: numbers go on behind its own.
        let said = vec![uses.offer(30, &all), vec![12, -1]];
        let third = uses.take(&comm(30, &[0, 2]), &said);
        assert_eq!(third, Some(Spot { board: 0, number: 12 }));
        assert_eq!(uses.take(&comm(40, &[0, 2]), &[vec![-1; BOARDS]]), None);
    }
}
