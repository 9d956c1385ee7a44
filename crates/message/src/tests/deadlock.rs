//! Random programs, whose ranks compute, send and wait as the dice say, and ask when they wait.

use crate::{Besides, Detector, Note, Wait};
use proptest::prelude::*;
use std::collections::VecDeque;

/// What a rank does next.
#[derive(Clone, Debug)]
enum Do {
    /// Sends to a rank.
    Send(usize),
    /// Receives from any one of those ranks.
    Receive(Vec<usize>),
}

enum Letter {
    Message,
    Note(Note),
}

struct Rank {
    left: VecDeque<Do>,
    /// To whom another thread of it sends, at any time.
    besides: VecDeque<usize>,
    /// Messages of each rank that came too early.
    early: Vec<usize>,
    detector: Detector,
    /// Whether it waits, as it knows.
    waits: bool,
}

struct Job {
    ranks: Vec<Rank>,
    /// What is under way from one to another, in order.
    rows: Vec<Vec<VecDeque<Letter>>>,
    /// Whether who has ended says so.
    has_end: bool,
}

impl Job {
    fn new(programs: Vec<Vec<Do>>, besides: Vec<Vec<usize>>, has_end: bool) -> Job {
        let size = programs.len();
        let rank = |(me, (left, besides)): (usize, (Vec<Do>, Vec<usize>))| Rank {
            left: left.into(),
            besides: besides.into_iter().filter(|to| *to != me).collect(),
            early: vec![0; size],
            detector: Detector::new(me as u32),
            waits: false,
        };
        let rows = (0..size).map(|_| (0..size).map(|_| VecDeque::new()).collect()).collect();
        let ranks = programs.into_iter().zip(besides).enumerate().map(rank).collect();
        Job { ranks, rows, has_end }
    }

    fn wait(&self, me: usize) -> Wait {
        let (rank, what) = (&self.ranks[me], format!("rank {me}"));
        match rank.left.front() {
            Some(Do::Receive(on)) => {
                let on: Vec<u32> = on.iter().map(|it| *it as u32).collect();
                let needs = if on.len() == 1 { on.clone() } else { Vec::new() };
                let besides =
                    if rank.besides.is_empty() { Besides::Nothing } else { Besides::Anything };
                Wait { on, needs, besides, what }
            }
            Some(Do::Send(_)) => panic!("rank {me} does not wait"),
            None => Wait { besides: Besides::Never, what, ..Wait::default() },
        }
    }

    /// Whether a rank has ended, and says so: all of its threads have.
    fn is_at_end(&self, me: usize) -> bool {
        let rank = &self.ranks[me];
        self.has_end && rank.left.is_empty() && rank.besides.is_empty()
    }

    /// Another thread of a rank sends what it has to.
    fn send_besides(&mut self, me: usize) {
        if let Some(to) = self.ranks[me].besides.pop_front() {
            self.rows[me][to].push_back(Letter::Message);
            self.ranks[me].detector.reset();
        }
    }

    fn say(&mut self, me: usize) {
        for (to, note) in std::mem::take(&mut self.ranks[me].detector.notes) {
            self.rows[me][to as usize].push_back(Letter::Note(note));
        }
    }

    /// A rank goes on by one step, if it can.
    fn go_on(&mut self, me: usize) {
        let rank = &mut self.ranks[me];
        match rank.left.front() {
            None => {}
            Some(Do::Send(to)) => {
                self.rows[me][*to].push_back(Letter::Message);
                rank.left.pop_front();
            }
            Some(Do::Receive(from)) => match from.iter().find(|from| rank.early[**from] > 0) {
                Some(from) => {
                    rank.early[*from] -= 1;
                    (rank.waits, _) = (false, rank.left.pop_front());
                    rank.detector.reset();
                }
                None => rank.waits = true,
            },
        }
    }

    /// A rank that waits takes what is next from another; whether it has found a deadlock.
    fn take(&mut self, me: usize, from: usize) -> bool {
        if !self.ranks[me].waits && !self.is_at_end(me) {
            return false;
        }
        let found = match self.rows[from][me].pop_front() {
            None => return false,
            Some(Letter::Message) => {
                self.ranks[me].early[from] += 1;
                self.ranks[me].detector.reset();
                self.go_on(me);
                return false;
            }
            Some(Letter::Note(note)) => {
                let wait = self.wait(me);
                self.ranks[me].detector.hear(from as u32, note, &wait)
            }
        };
        self.say(me);
        found.is_some()
    }

    fn ask(&mut self, me: usize) -> bool {
        if !self.ranks[me].waits {
            return false;
        }
        let wait = self.wait(me);
        let found = self.ranks[me].detector.ask(&wait);
        self.say(me);
        found.is_some()
    }

    /// The naive model: the ranks that can still come to do something. Whoever computes can, and
    /// whoever waits on one that can, or to whom a message is under way from one it waits on.
    fn can_go_on(&self) -> Vec<bool> {
        let mut can: Vec<bool> = vec![false; self.ranks.len()];
        loop {
            let before = can.clone();
            for (me, rank) in self.ranks.iter().enumerate() {
                can[me] |= match rank.left.front() {
                    None => false,
                    Some(Do::Send(_)) => true,
                    Some(Do::Receive(from)) => from.iter().any(|from| {
                        let row = &self.rows[*from][me];
                        let is_coming = row.iter().any(|it| matches!(it, Letter::Message));
                        let comes_besides = !self.ranks[*from].besides.is_empty();
                        rank.early[*from] > 0 || is_coming || comes_besides || before[*from]
                    }),
                };
            }
            if can == before {
                return can;
            }
        }
    }
}

const RANKS: usize = 5;

fn program() -> impl Strategy<Value = Vec<Do>> {
    let receive = prop::collection::btree_set(0..RANKS, 1..3);
    let step = prop_oneof![
        4 => (0..RANKS).prop_map(Do::Send),
        3 => receive.prop_map(|from| Do::Receive(from.into_iter().collect())),
    ];
    prop::collection::vec(step, 0..12)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Who finds a deadlock cannot go on, whatever happens meanwhile; and in the end all who wait
    /// on nobody but others who wait find that, if they ask once more.
    #[test]
    fn a_deadlock_is_found_if_and_only_if_it_is_one(
        programs in prop::collection::vec(program(), RANKS..=RANKS),
        besides in prop::collection::vec(prop::collection::vec(0..RANKS, 0..3), RANKS..=RANKS),
        has_end in any::<bool>(),
        dice in prop::collection::vec((0..9_usize, 0..RANKS, 0..RANKS), 0..400),
    ) {
        // Ranks send themselves nothing here.
        let other = |me: usize, step: Do| match step {
            Do::Send(to) => (to != me).then_some(Do::Send(to)),
            Do::Receive(mut from) => {
                from.retain(|it| *it != me);
                (!from.is_empty()).then_some(Do::Receive(from))
            }
        };
        let own = |(me, program): (usize, Vec<Do>)| {
            program.into_iter().filter_map(|step| other(me, step)).collect::<Vec<_>>()
        };
        let programs = programs.into_iter().enumerate().map(own).collect();
        let mut job = Job::new(programs, besides, has_end);
        for (what, me, from) in dice {
            let found = match what {
                0..3 => { job.go_on(me); false }
                3..7 => job.take(me, from),
                7 => job.ask(me),
                _ => { job.send_besides(me); false }
            };
            prop_assert!(!found || !job.can_go_on()[me], "rank {me} can go on");
        }
        for me in 0..RANKS {
            while !job.ranks[me].besides.is_empty() {
                job.send_besides(me);
            }
        }
        for asks in [false, true] {
            let mut found = [false; RANKS];
            for me in (0..RANKS).filter(|_| asks) {
                found[me] |= job.ask(me);
            }
            for _ in 0..200 {
                for (me, found) in found.iter_mut().enumerate() {
                    job.go_on(me);
                    (0..RANKS).for_each(|from| *found |= job.take(me, from));
                }
            }
            // Who has ended and does not say so answers nothing: whoever waits on such a one is
            // told otherwise.
            let mut hopes: Vec<bool> =
                (0..RANKS).map(|me| !job.ranks[me].waits && !job.is_at_end(me)).collect();
            for _ in 0..RANKS {
                for me in 0..RANKS {
                    hopes[me] |= job.ranks[me].waits
                        && job.wait(me).on.iter().any(|on| hopes[*on as usize]);
                }
            }
            for me in (0..RANKS).filter(|_| asks) {
                let is_stuck = job.ranks[me].waits && !hopes[me];
                prop_assert_eq!(found[me], is_stuck, "rank {}", me);
            }
        }
    }
}

#[test]
fn a_note_is_what_its_bytes_say() {
    let told = crate::Told { waits: vec![(3, "waits".to_owned()), (4, String::new())], more: 7 };
    let answer = |is_final| Note::Answer { by: 5, number: 6, is_final, told: told.clone() };
    let ask = Note::Ask { by: 1, number: 2 };
    for note in [ask, answer(false), answer(true), Note::Found, Note::Tell] {
        let bytes = note.encode();
        assert_eq!(Note::decode(&bytes), Some(note));
        assert_eq!(Note::decode(&bytes[..11]), None);
    }
}

#[test]
fn of_two_ranks_that_find_deadlocks_one_tells() {
    let told = |rank| crate::Told { waits: vec![(rank, String::new())], more: 0 };
    let [mut first, mut one, mut two] = [0, 1, 2].map(Detector::new);
    for (rank, finder) in [(1, &mut one), (2, &mut two)] {
        assert_eq!(finder.found(told(rank)), None);
        assert_eq!(finder.notes.pop(), Some((0, Note::Found)));
        first.let_tell(rank);
    }
    assert_eq!(first.notes, [(1, Note::Tell)]);
    assert_eq!(first.found(told(0)), None);
    assert_eq!(one.tell(), Some(told(1)));
}

#[test]
fn who_needs_a_rank_that_has_ended_is_told_so_though_others_do_not_answer() {
    let on = vec![1, 2];
    let wait = |needs| Wait { on: on.clone(), needs, ..Wait::default() };
    for (needs, is_found) in [(vec![], false), (vec![1], true), (vec![2], false)] {
        let mut rank = Detector::new(0);
        assert_eq!(rank.ask(&wait(needs.clone())), None);
        let mut ended = Detector::new(1);
        let (_, ask) = rank.notes.remove(0);
        let end = Wait { besides: Besides::Never, ..Wait::default() };
        assert_eq!(ended.hear(0, ask, &end), None);
        let (_, answer) = ended.notes.remove(0);
        assert_eq!(rank.hear(1, answer, &wait(needs)).is_some(), is_found);
    }
}
