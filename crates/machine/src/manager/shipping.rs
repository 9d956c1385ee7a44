//! Who may send files: each shipment in a variable of its own, with numbers that none before it
//! had, and not too much at once. Without I/O: [`pieces`](super::pieces) waits here, and so does
//! the simulator.

use super::flow::COUNTS;
use crate::launch::Shipment;
use crate::memory::VARIABLES;
use muster_fabric::protocol::Time;
use std::collections::VecDeque;
use std::time::Duration;

/// Pieces of all jobs: half of what a member may have under way (`PENDING_BYTES_MAX`), the rest is
/// for orders.
const FLYING_MAX: usize = 4;

/// How long a piece may take to arrive everywhere, and to be unpacked; or how long nobody says that
/// it goes on with that.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Bits of a shipment's number which tell the shipments of one manager apart: the rest is its term.
const SHIPMENTS: u32 = 24;

/// What those who send files wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Want {
    /// A variable of their own.
    Variable,
    /// That one more piece can go.
    Piece,
}

/// What is taken, and who waits.
#[derive(Default)]
pub struct Shipping {
    variables: Vec<u32>,
    last: u64,
    /// Who waits for each of the two, in the order in which they came.
    queues: [VecDeque<u64>; 2],
    came: u64,
    /// When a variable was given back last, or a piece had arrived.
    moved: Option<Time>,
}

impl Shipping {
    /// Somebody waits from now on: its number.
    pub fn come(&mut self, want: Want) -> u64 {
        self.came += 1;
        self.queues[want as usize].push_back(self.came);
        self.came
    }

    /// It no longer waits.
    pub fn leave(&mut self, want: Want, number: u64) {
        self.queues[want as usize].retain(|one| *one != number);
    }

    /// Whether its turn has come.
    pub fn is_next(&self, want: Want, number: u64) -> bool {
        self.queues[want as usize].front() == Some(&number)
    }

    /// How many wait.
    pub fn waiting(&self, want: Want) -> usize {
        self.queues[want as usize].len()
    }

    /// A variable for the first who waits, if one is free: with numbers above those of all others,
    /// also of a manager before this one, whatever the clock says.
    pub fn book(&mut self, term: u32) -> Option<Shipment> {
        let variable = (0..VARIABLES).find(|one| !self.variables.contains(one))?;
        self.last = (u64::from(term) << SHIPMENTS).max(self.last + 1);
        self.variables.push(variable);
        Some(Shipment { variable, start: self.last << COUNTS })
    }

    /// Others can have a variable.
    pub fn give_back(&mut self, variable: u32, now: Time) {
        self.variables.retain(|one| *one != variable);
        self.moved(now);
    }

    /// Whether one more piece can go while so many do.
    pub fn has_room(flying: usize) -> bool {
        flying < FLYING_MAX
    }

    /// Something has become free, or is on the way to that.
    pub fn moved(&mut self, now: Time) {
        self.moved = Some(now);
    }

    /// Whether who waits since then has waited for too long: as long as others go on it may.
    pub fn is_late(&self, since: Time, now: Time) -> bool {
        now > self.moved.map_or(since, |moved| moved.max(since)) + PATIENCE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_shipment_has_a_variable_of_its_own_and_numbers_above_all_before_it() {
        let mut shipping = Shipping::default();
        let all: Vec<Shipment> = (0..VARIABLES).map_while(|_| shipping.book(3)).collect();
        let variables: Vec<u32> = all.iter().map(|one| one.variable).collect();
        assert_eq!(variables, (0..VARIABLES).collect::<Vec<_>>());
        assert!(all.is_sorted_by(|one, next| one.start < next.start), "{all:?}");
        assert!(shipping.book(3).is_none());
        shipping.give_back(1, Time(5));
        let again = shipping.book(3).expect("one is free");
        assert!(again.variable == 1 && again.start > all.last().expect("there are some").start);
        // Whatever a manager has sent, the next begins above it.
        let next = Shipping::default().book(4).expect("all are free");
        assert!(next.start > again.start, "{next:?}");
    }

    #[test]
    fn whoever_came_first_is_next_and_waits_as_long_as_others_go_on() {
        let mut shipping = Shipping::default();
        let came = [(); 2].map(|()| shipping.come(Want::Piece));
        let (first, second) = (came[0], came[1]);
        assert!(shipping.is_next(Want::Piece, first) && !shipping.is_next(Want::Piece, second));
        assert!(!shipping.is_next(Want::Variable, first));
        shipping.leave(Want::Piece, first);
        assert!(shipping.is_next(Want::Piece, second));
        let late = Time(1) + PATIENCE + PATIENCE;
        assert!(shipping.is_late(Time(1), late));
        shipping.moved(Time(1) + PATIENCE);
        assert!(!shipping.is_late(Time(1), late));
    }
}
