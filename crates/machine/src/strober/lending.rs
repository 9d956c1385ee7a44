//! Turns that are lent: when, without a clock or a process.
//!
//! While everything sleeps that the jobs of a slot have on this machine, the rest of its turn is
//! no use to them. So the jobs of the next slot run as well; if those sleep, too, those of the one
//! after, and so on. The *owners* of the turn are not stopped for that: whatever they wait for
//! reaches them as ever, and they go on at once. It is looked every [`WATCH`] whether they have,
//! and if so the turn is theirs alone again.
//!
//! *Asleep* is what the kernel calls so, of every thread: a rank that waits in MPI, whichever mode
//! it runs in, but also one that waits for a file of the network. It has to be so at two looks,
//! and no thread may have run in between. A rank that computes never lends its turn, whatever the
//! others of its job do.
//!
//! *Looks cost time.* Those in vain are made ever less often, down to one in [`PAUSE_MAX`], also
//! from turn to turn: of jobs that compute, or sleep for moments only, hardly anything is lost. A
//! turn of which not enough is left for it to pay is not lent, so the shortest turns never are; nor
//! is one of so many threads that their owners would wait for long until somebody sees them awake.

use super::rotation::{Nanos, Rotation};

/// From a turn's beginning to the first look: those that were stopped have gone back to sleep.
const FIRST: Nanos = 300_000;

/// Between the two looks that have to find all asleep.
const AGAIN: Nanos = 200_000;

/// Between looks while a turn is lent: so long others are in the way of one who wakes.
const WATCH: Nanos = 1_000_000;

/// What has to be left of a turn: to stop and let go on takes some tens of microseconds.
const GAIN: Nanos = 500_000;

/// The longest pause between two looks at a turn that is lent.
const WATCH_MAX: Nanos = 4_000_000;

/// The longest pause after looks that were in vain.
const PAUSE_MAX: Nanos = 64_000_000;

/// A turn that is taken back sooner was lent in vain.
const STAY: Nanos = 4_000_000;

/// Looks take at most this part of the time.
const SHARE: Nanos = 16;

/// What a look at a slot's jobs has seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Seen {
    /// Something runs, or may.
    Awake,
    /// Everything sleeps: each thread, and how often it has run.
    Asleep(Vec<(u32, u64)>),
}

/// The turns of a table.
#[derive(Debug, Default)]
pub(super) struct Lending {
    slots: Vec<Slot>,
    turn: Option<Turn>,
    lent: u64,
    /// Who looks rests until then.
    rest: Nanos,
}

/// What is known of a slot from turn to turn.
#[derive(Debug)]
struct Slot {
    /// The next pause, if a look is in vain.
    pause: Nanos,
    /// No look is made before.
    not_before: Nanos,
}

/// The turn that goes on.
#[derive(Debug)]
struct Turn {
    number: i64,
    /// So many of the next slots run as well.
    beyond: usize,
    /// Since when.
    since: Nanos,
    /// When it is looked next.
    next: Nanos,
    /// How its owners, and the last of the others, were when they were last looked at.
    owners: Seen,
    last: Seen,
}

impl Lending {
    /// Turns go by another table from now on, of so many slots.
    pub(super) fn restart(&mut self, slots: usize) {
        self.slots = (0..slots).map(|_| Slot { pause: FIRST, not_before: Nanos::MIN }).collect();
        self.turn = None;
    }

    /// The jobs of the turn's slot alone run.
    pub(super) fn take_back(&mut self) {
        self.turn = None;
    }

    /// Turns that were lent.
    pub(super) fn lent(&self) -> u64 {
        self.lent
    }

    /// The slots that are to be looked at now, if any: the turn's own, and the last of the others
    /// that run, if there are more.
    pub(super) fn asks(
        &mut self,
        rotation: &Rotation,
        now: Nanos,
    ) -> Option<(usize, Option<usize>)> {
        let (number, slot) = (rotation.turn(), rotation.slot());
        if !rotation.is_rotating() || now >= rotation.begins(number + 1) {
            return None;
        }
        if self.turn.as_ref().is_none_or(|turn| turn.number != number) {
            if let Some(turn) = self.turn.as_ref().filter(|turn| turn.beyond > 0) {
                // To its end: what was in vain before is of no interest.
                self.slots[rotation.slot_of(turn.number)].pause = FIRST;
            }
            let next = self.first_look(rotation, number);
            let (owners, last) = (Seen::Awake, Seen::Awake);
            self.turn = Some(Turn { number, beyond: 0, since: now, next, owners, last });
        }
        let turn = self.turn.as_ref()?;
        let last = (1..self.slots.len() - 1).contains(&turn.beyond);
        let last = last.then(|| (slot + turn.beyond) % self.slots.len());
        (turn.next <= now).then_some((slot, last))
    }

    /// A look has taken so much of a processor, whatever it has seen.
    pub(super) fn looked(&mut self, took: Nanos, now: Nanos) {
        self.rest = now + took * SHARE;
    }

    /// A look has seen the owners so, and the last of the others. Returns the slots that are to run
    /// now, a bit each.
    pub(super) fn see(
        &mut self,
        rotation: &Rotation,
        now: Nanos,
        (owners, last): (Seen, Seen),
    ) -> u64 {
        let (slot, count) = (rotation.slot(), self.slots.len());
        let only = 1 << slot;
        let Some(turn) = self.turn.as_mut().filter(|turn| turn.number == rotation.turn()) else {
            return only;
        };
        let has_slept = slept(&turn.owners, &owners);
        let has_run = owners == Seen::Awake || turn.owners != Seen::Awake && !has_slept;
        let (again, watch) = (self.rest.max(now + AGAIN), self.rest.max(now + WATCH));
        let pays = match has_slept {
            true => turn.beyond > 0 || watch <= now + WATCH_MAX,
            false => again + GAIN <= rotation.begins(turn.number + 1),
        };
        if has_run || !pays {
            let known = &mut self.slots[slot];
            known.pause = (2 * known.pause).min(PAUSE_MAX);
            known.not_before = now + known.pause;
            let next = known.not_before.max(self.rest);
            (turn.beyond, turn.owners, turn.next) = (0, Seen::Awake, next);
            return only;
        }
        if !has_slept {
            (turn.owners, turn.next) = (owners, again);
            return only;
        }
        if turn.beyond == 0 {
            (turn.beyond, turn.since, turn.last) = (1, now, Seen::Awake);
            self.lent += 1;
        } else if slept(&turn.last, &last) && turn.beyond + 1 < count {
            (turn.beyond, turn.last) = (turn.beyond + 1, Seen::Awake);
        } else {
            turn.last = last;
        }
        if now - turn.since >= STAY {
            self.slots[slot].pause = FIRST;
        }
        turn.next = watch;
        (0..=turn.beyond).fold(0, |slots, beyond| slots | 1 << ((slot + beyond) % count))
    }

    /// When it is looked next.
    pub(super) fn next(&self, rotation: &Rotation, now: Nanos) -> Option<Nanos> {
        let number = rotation.turn();
        if !rotation.is_rotating() || rotation.slice() <= FIRST + AGAIN + GAIN {
            return None;
        }
        if now >= rotation.begins(number + 1) {
            // Who begins the next turn is late.
            return Some(now + FIRST);
        }
        let pays = |next: Nanos, number: i64| next + AGAIN + GAIN <= rotation.begins(number + 1);
        let turn = self.turn.as_ref().filter(|turn| turn.number == number);
        if let Some(turn) = turn {
            // The next look is the second one, or one at a turn that is lent.
            let is_due = turn.owners != Seen::Awake && turn.next < rotation.begins(number + 1);
            if is_due || pays(turn.next, number) {
                return Some(turn.next);
            }
        }
        // No pause is so long that there is no such turn.
        (number + i64::from(turn.is_some())..).find_map(|number| {
            let next = self.first_look(rotation, number).max(now);
            pays(next, number).then_some(next)
        })
    }

    /// When a turn is first looked at.
    fn first_look(&self, rotation: &Rotation, number: i64) -> Nanos {
        let not_before = self.slots[rotation.slot_of(number)].not_before;
        not_before.max(rotation.begins(number) + FIRST).max(self.rest)
    }
}

/// Whether nobody has run from one look to the next.
fn slept(before: &Seen, now: &Seen) -> bool {
    before == now && *now != Seen::Awake
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::slots::Slots;
    use crate::strober::Table;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use std::time::Duration;

    const MS: Nanos = 1_000_000;

    /// When jobs are awake: from, until. Each is a slot's only one.
    type Life = Vec<Vec<(Nanos, Nanos)>>;

    /// A machine on which everything happens at the time it is due.
    struct Machine {
        rotation: Rotation,
        lending: Lending,
        life: Life,
        now: Nanos,
        /// The slots that run.
        runs: u64,
        looks: usize,
        /// What a look takes.
        look: Nanos,
        /// How long each slot's job has run beside another's turn.
        lent: Vec<Nanos>,
        /// The longest time that an owner was awake while others ran.
        shared: Nanos,
    }

    impl Machine {
        fn new(slice: Nanos, life: Life) -> Machine {
            let slots = (0..life.len() as u32).map(|job| vec![job + 1]).collect();
            let slots = Slots { slice: Duration::from_nanos(slice as u64), slots };
            let (mut rotation, mut lending) = (Rotation::default(), Lending::default());
            rotation.take(Table { term: 1, number: 1, phase: Duration::ZERO, slots }, 0);
            lending.restart(life.len());
            let lent = vec![0; life.len()];
            let (now, runs, looks, look, shared) = (0, 1, 0, 0, 0);
            Machine { rotation, lending, life, now, runs, looks, look, lent, shared }
        }

        fn seen(&self, slot: usize) -> Seen {
            let life = &self.life[slot];
            let is_awake = life.iter().any(|(from, until)| (*from..*until).contains(&self.now));
            let times = life.iter().filter(|(from, _)| *from <= self.now).count();
            if is_awake { Seen::Awake } else { Seen::Asleep(vec![(7, times as u64)]) }
        }

        /// Time goes on, and others than the owner run meanwhile if they are let.
        fn pass(&mut self, until: Nanos) {
            let owner = self.rotation.slot();
            let is_lent = self.runs != 1 << owner;
            for slot in (0..self.lent.len()).filter(|slot| *slot != owner) {
                if self.runs & 1 << slot != 0 {
                    self.lent[slot] += until - self.now;
                }
            }
            for (from, end) in &self.life[owner] {
                let both = (*end).min(until) - (*from).max(self.now);
                self.shared = self.shared.max(if is_lent { both } else { 0 });
            }
            self.now = until;
        }

        fn run(&mut self, until: Nanos) {
            while self.now < until {
                let strobe = self.rotation.begins(self.rotation.turn() + 1);
                let look = self.lending.next(&self.rotation, self.now).unwrap_or(Nanos::MAX);
                assert!(look >= self.now, "it never looks again and again without a pause");
                if strobe <= look {
                    self.strobe(strobe);
                } else {
                    self.pass(look);
                    self.look();
                }
            }
        }

        fn strobe(&mut self, at: Nanos) {
            self.pass(at);
            assert!(self.rotation.strobe(at));
            self.runs = 1 << self.rotation.slot();
        }

        fn look(&mut self) {
            let asked = self.lending.asks(&self.rotation, self.now);
            let (owner, last) = asked.expect("it is time to look");
            self.looks += 1;
            let seen = (self.seen(owner), last.map_or(Seen::Awake, |slot| self.seen(slot)));
            let is_awake = seen.0 == Seen::Awake;
            let (turn, done) = (self.rotation.turn(), self.now + self.look);
            while self.rotation.begins(self.rotation.turn() + 1) <= done {
                self.strobe(self.rotation.begins(self.rotation.turn() + 1));
            }
            self.pass(done);
            self.lending.looked(self.look, self.now);
            if turn != self.rotation.turn() {
                return;
            }
            self.runs = self.lending.see(&self.rotation, self.now, seen);
            assert_ne!(self.runs & 1 << owner, 0, "the owner always runs");
            assert!(!is_awake || self.runs == 1 << owner, "it is awake, and the turn is lent");
        }
    }

    const ALWAYS: (Nanos, Nanos) = (0, Nanos::MAX);

    #[test]
    fn a_turn_of_which_nothing_is_awake_is_lent_but_for_its_beginning() {
        let mut machine = Machine::new(10 * MS, vec![vec![], vec![ALWAYS], vec![ALWAYS]]);
        machine.run(3000 * MS);
        // Of a hundred turns the owner needs what two looks take.
        assert_eq!(machine.lent, [0, 100 * (10 * MS - FIRST - AGAIN), 0]);
        assert_eq!(machine.lending.lent(), 100);
    }

    #[test]
    fn those_sleep_too_who_are_lent_a_turn_and_the_next_ones_have_it_as_well() {
        let mut machine = Machine::new(10 * MS, vec![vec![], vec![], vec![ALWAYS]]);
        machine.run(30 * MS);
        assert!(machine.lent[2] > 13 * MS, "{:?}", machine.lent);
        assert_eq!(machine.lent[0], 0, "a turn that is used is not lent");
    }

    #[test]
    fn a_job_that_computes_is_hardly_looked_at() {
        for slice in [MS, 2 * MS, 10 * MS, 500 * MS, 8000 * MS] {
            let mut machine = Machine::new(slice, vec![vec![ALWAYS], vec![ALWAYS]]);
            machine.run(16_000 * MS);
            let most = 2 * (16_000 * MS / PAUSE_MAX + 20);
            assert!(machine.looks <= most as usize, "{} looks at {slice} ns", machine.looks);
            assert_eq!(machine.lending.lent(), 0);
        }
    }

    #[test]
    fn those_who_go_to_sleep_late_lend_the_rest_of_each_turn() {
        // As where others have the processors, too: who was let go on waits for one to sleep again.
        let late = (0..150).map(|turn| (turn * 20 * MS, turn * 20 * MS + 2 * MS)).collect();
        let mut machine = Machine::new(10 * MS, vec![late, vec![ALWAYS]]);
        machine.run(3000 * MS);
        assert_eq!(machine.lending.lent(), 150);
        assert!(machine.lent[1] > 150 * 7 * MS, "{:?}", machine.lent);
    }

    #[test]
    fn turns_too_short_to_pay_are_never_looked_at() {
        let mut machine = Machine::new(FIRST + AGAIN + GAIN, vec![vec![], vec![]]);
        machine.run(100 * MS);
        assert_eq!((machine.looks, machine.lending.lent()), (0, 0));
    }

    #[test]
    fn one_who_has_run_between_two_looks_keeps_its_turn() {
        // It naps, and is asleep whenever it is looked at.
        let naps = (0..1000).map(|at| (at * 100_000 + 50_000, at * 100_000 + 60_000)).collect();
        let mut machine = Machine::new(50 * MS, vec![naps, vec![ALWAYS]]);
        machine.run(50 * MS);
        assert_eq!((machine.lent[1], machine.lending.lent()), (0, 0));
    }

    #[test]
    fn a_job_that_naps_and_one_of_which_too_little_of_the_turn_is_left_are_hardly_looked_at() {
        let naps =
            || (0..10_000).map(|at| (at * 150_000 + 50_000, at * 150_000 + 60_000)).collect();
        for (slice, life) in [(50 * MS, naps()), (MS, vec![]), (2 * MS, vec![])] {
            let mut machine = Machine::new(slice, vec![life, vec![ALWAYS]]);
            // Some fifty threads.
            machine.look = 500_000;
            machine.run(1500 * MS);
            assert!(machine.looks <= 80, "{} looks at {slice} ns", machine.looks);
            assert_eq!(machine.lending.lent(), 0);
        }
    }

    #[test]
    fn turns_of_two_milliseconds_are_lent() {
        for (slice, look) in [(2 * MS, 10_000), (2 * MS, 30_000), (3 * MS / 2, 5_000)] {
            let mut machine = Machine::new(slice, vec![vec![], vec![ALWAYS]]);
            machine.look = look;
            machine.run(1000 * MS);
            let turns = (500 * MS / slice) as u64;
            assert!(machine.lending.lent() > turns / 2, "{} of {turns}", machine.lending.lent());
        }
    }

    #[test]
    fn what_is_seen_of_a_turn_that_is_over_lends_no_other() {
        let mut machine = Machine::new(10 * MS, vec![vec![], vec![ALWAYS]]);
        machine.run(2 * MS);
        assert_eq!(machine.runs, 0b11);
        machine.rotation.strobe(11 * MS);
        let asleep = || Seen::Asleep(vec![(7, 0)]);
        let seen = (asleep(), asleep());
        assert_eq!(machine.lending.see(&machine.rotation, 11 * MS, seen), 0b10);
    }

    proptest! {
        #[test]
        fn whoever_wakes_has_its_turn_back_within_a_look(
            slice in 1..40_i64,
            lives in vec(vec((1..20_000_i64, 1..5000_i64), 0..40), 2..5),
            look in 0..700_i64,
        ) {
            // Pauses and times awake, in microseconds.
            let life = lives.into_iter().map(|times| {
                let mut at = 0;
                let spans = times.into_iter().map(|(pause, awake)| {
                    let from = at + pause * 1000;
                    at = from + awake * 1000;
                    (from, at)
                });
                spans.collect()
            });
            let mut machine = Machine::new(slice * MS, life.collect());
            machine.look = look * 1000;
            machine.run(500 * MS);
            let most = WATCH.max(SHARE * machine.look).min(WATCH_MAX) + 2 * machine.look;
            prop_assert!(machine.shared <= most, "{} ns", machine.shared);
            let all = machine.looks as i64 * machine.look;
            prop_assert!(all <= 500 * MS / SHARE + machine.look, "{all} ns of looks");
        }
    }
}
