//! Whose turn it is at what time: arithmetic, without a clock or a process.

use super::{Phase, Table};
use crate::slots::Slots;

/// Nanoseconds of a monotonic clock.
pub(super) type Nanos = i64;

/// How far a phase that is told again may set the rotation back: delays of deliveries make it seem
/// late, and two clocks drift apart by less than that in the second in between.
const DRIFT: Nanos = 100_000;

/// The rotation of the slots of one table.
#[derive(Debug, Default)]
pub(super) struct Rotation {
    stamp: u64,
    slots: Slots,
    /// When the first slot's turn began.
    start: Nanos,
    /// The last turn that began, counted from the start.
    turn: i64,
    strobes: u64,
    missed: u64,
}

impl Rotation {
    /// The stamp of its table.
    pub(super) fn stamp(&self) -> u64 {
        self.stamp
    }

    /// The jobs of each slot.
    pub(super) fn slots(&self) -> &Slots {
        &self.slots
    }

    /// Turns that began, and those that passed before they could.
    pub(super) fn counts(&self) -> (u64, u64) {
        (self.strobes, self.missed)
    }

    /// Takes a table that arrives now. False if it has this one, or a newer one.
    pub(super) fn take(&mut self, table: Table, now: Nanos) -> bool {
        let stamp = table.stamp();
        if stamp <= self.stamp {
            return false;
        }
        let start = now - nanos(table.phase);
        (self.stamp, self.slots, self.start) = (stamp, table.slots, start);
        self.turn = self.turn_at(now);
        true
    }

    /// Keeps in step with a manager that is so far at this moment. False if that is another
    /// table's.
    pub(super) fn keep_step(&mut self, phase: &Phase, now: Nanos) -> bool {
        if phase.stamp != self.stamp {
            return false;
        }
        // What is behind cannot have come too early; what seems ahead may just have come late, by
        // whole rotations if somebody on its way stood still.
        let apart = now - nanos(phase.phase) - self.start;
        self.start += apart.min(DRIFT);
        self.turn = self.turn_at(now);
        true
    }

    /// Whether anybody has to wait for his turn.
    pub(super) fn is_rotating(&self) -> bool {
        self.slots.slots.len() > 1
    }

    /// Whose turn it is.
    pub(super) fn slot(&self) -> usize {
        self.slot_of(self.turn)
    }

    /// Whose turn one is, counted from the rotation's start.
    pub(super) fn slot_of(&self, turn: i64) -> usize {
        usize::try_from(turn.rem_euclid(self.count())).expect("a number of slots")
    }

    /// Begins the turn that it is time for; false if it has begun already.
    pub(super) fn strobe(&mut self, now: Nanos) -> bool {
        let turn = self.turn_at(now);
        if turn <= self.turn {
            return false;
        }
        self.strobes += 1;
        self.missed += u64::try_from(turn - self.turn - 1).expect("it is not negative");
        self.turn = turn;
        true
    }

    /// The last turn that began, counted from the rotation's start.
    pub(super) fn turn(&self) -> i64 {
        self.turn
    }

    /// When a turn begins.
    pub(super) fn begins(&self, turn: i64) -> Nanos {
        self.start + turn * self.slice()
    }

    /// The turns to come that one of some strobers begins, who share them so that each begins as
    /// many of every slot.
    pub(super) fn next_of(&self, own: usize, strobers: usize) -> impl Iterator<Item = i64> {
        let count = self.count();
        let whose = move |turn: &i64| turn.div_euclid(count) + turn.rem_euclid(count);
        let is_own = move |turn: &i64| whose(turn).rem_euclid(strobers as i64) == own as i64;
        (self.turn + 1..).filter(is_own)
    }

    /// How long a turn takes.
    pub(super) fn slice(&self) -> Nanos {
        nanos(self.slots.slice).max(1)
    }

    fn count(&self) -> i64 {
        i64::try_from(self.slots.slots.len()).expect("few slots").max(1)
    }

    fn turn_at(&self, now: Nanos) -> i64 {
        (now - self.start).div_euclid(self.slice())
    }
}

fn nanos(duration: std::time::Duration) -> Nanos {
    i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX / 4)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    const MS: Nanos = 1_000_000;

    fn table(number: u32, phase_ms: u64, slots: usize) -> Table {
        let slots = Slots {
            slice: Duration::from_millis(2),
            slots: (0..slots as u32).map(|job| vec![job + 1]).collect(),
        };
        Table { term: 1, number, phase: Duration::from_millis(phase_ms), slots }
    }

    fn next(rotation: &Rotation) -> Nanos {
        rotation.begins(rotation.turn() + 1)
    }

    #[test]
    fn turns_are_counted_from_the_start_whenever_strobes_come() {
        let mut rotation = Rotation::default();
        assert!(!rotation.is_rotating());
        assert!(rotation.take(table(1, 3, 3), 1000 * MS));
        assert!(rotation.is_rotating());
        // 3 ms into a rotation of 2 ms turns: the second slot's, for another 1 ms.
        assert_eq!((rotation.slot(), next(&rotation)), (1, 1001 * MS));
        assert!(!rotation.strobe(1001 * MS - 1));
        assert!(rotation.strobe(1001 * MS));
        assert_eq!((rotation.slot(), next(&rotation)), (2, 1003 * MS));
        // Late by half a turn: the next is not.
        assert!(rotation.strobe(1004 * MS));
        assert_eq!((rotation.slot(), next(&rotation)), (0, 1005 * MS));
        // Two missed, and the turn is whose it is.
        assert!(rotation.strobe(1009 * MS));
        assert_eq!((rotation.slot(), next(&rotation)), (0, 1011 * MS));
        assert_eq!(rotation.counts(), (3, 2));
    }

    #[test]
    fn strobers_that_share_the_turns_begin_as_many_of_every_slot() {
        for (slots, strobers) in [(2, 1), (2, 2), (3, 2), (4, 2), (2, 8), (5, 3)] {
            let mut rotation = Rotation::default();
            rotation.take(table(1, 0, slots), 0);
            let turns = (slots * strobers * 4) as i64;
            let mut begun: Vec<(usize, usize)> = Vec::new();
            let mut all: Vec<i64> = Vec::new();
            for own in 0..strobers {
                let of = rotation.next_of(own, strobers).take_while(|turn| *turn <= turns);
                let of: Vec<i64> = of.collect();
                begun.extend(of.iter().map(|turn| (own, *turn as usize % slots)));
                all.extend(of);
            }
            all.sort_unstable();
            assert_eq!(all, (1..=turns).collect::<Vec<_>>(), "each turn is somebody's");
            for own in 0..strobers {
                for slot in 0..slots {
                    let count = begun.iter().filter(|of| **of == (own, slot)).count();
                    assert_eq!(count, 4, "{own} of {strobers}, slot {slot} of {slots}");
                }
            }
        }
    }

    #[test]
    fn an_older_table_is_not_heeded() {
        let mut rotation = Rotation::default();
        assert!(rotation.take(table(2, 0, 2), 0));
        assert!(!rotation.take(table(1, 0, 5), MS));
        assert_eq!(rotation.slots().slots.len(), 2);
        let next_manager = Table { term: 2, ..table(0, 0, 1) };
        assert!(rotation.take(next_manager, MS));
        assert!(!rotation.is_rotating());
        assert!(!rotation.take(table(9, 0, 2), MS));
    }

    #[test]
    fn a_phase_that_was_delayed_hardly_moves_the_rotation() {
        let mut rotation = Rotation::default();
        let first = table(1, 0, 2);
        let stamp = first.stamp();
        rotation.take(first, 0);
        let mut told = |stamp, phase_ms, at| {
            let phase = Duration::from_millis(phase_ms);
            let told = rotation.keep_step(&Phase { stamp, phase }, at);
            (told, next(&rotation), rotation.slot())
        };
        // A second later, and 1.5 ms on its way, or three rotations.
        for delay in [1_500_000, 13_500_000] {
            let (_, late, _) = told(stamp, 1000, 1000 * MS + delay);
            assert_eq!(late % (2 * MS), DRIFT);
            told(stamp, 1000, 1000 * MS);
        }
        // One that took less time than the first is right.
        let (_, early, slot) = told(stamp, 2000, 2000 * MS - 300_000);
        assert_eq!(((early + 300_000) % (2 * MS), slot), (0, 0));
        // Another table's says nothing of this one.
        assert_eq!(told(stamp + 1, 2000, 2000 * MS + 500_000), (false, early, 0));
    }

    #[test]
    fn a_strober_that_has_begun_again_with_an_old_table_is_in_step_with_the_next_phase() {
        let (mut old, mut new) = (Rotation::default(), Rotation::default());
        old.take(table(1, 3, 3), 3 * MS);
        // Seven and a bit seconds later, from the file that was kept.
        new.take(table(1, 3, 3), 7_654_321_000);
        let stamp = table(1, 0, 3).stamp();
        let phase = Phase { stamp, phase: Duration::from_millis(8000) };
        assert!(old.keep_step(&phase, 8000 * MS) && new.keep_step(&phase, 8000 * MS));
        assert_eq!((next(&new), new.slot()), (next(&old), old.slot()));
    }

    #[test]
    fn strobers_that_heard_the_table_at_the_same_time_are_in_phase_whatever_their_clocks_say() {
        let (mut here, mut there) = (Rotation::default(), Rotation::default());
        let hour = 3_600_000 * MS;
        here.take(table(1, 7, 3), 5 * MS);
        there.take(table(1, 7, 3), hour + 5 * MS);
        for ms in 6..40 {
            here.strobe(ms * MS);
            there.strobe(hour + ms * MS);
            assert_eq!(here.slot(), there.slot());
        }
    }
}
