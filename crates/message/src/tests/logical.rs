//! The coscheduled mode: whatever the carrier does, and whoever is fast, ranks see the same.

use super::{Bytes, Job, message};
use crate::{Digest, Endpoint, Log, Mode, Orders, Question, Ticket, Wanted};
use proptest::prelude::*;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

/// What a rank does next. Sources and tags are any where they are none.
#[derive(Clone, Copy, Debug)]
enum Call {
    Send(u32, i32, usize),
    Ssend(u32, i32, usize),
    Irecv(Option<u32>, Option<i32>),
    /// Of the oldest request.
    Wait,
    Test,
    /// Of all requests.
    Waitany,
    Testany,
    Probe(Option<u32>, Option<i32>),
    Iprobe(Option<u32>, Option<i32>),
    Cancel,
}

/// A request, and what comes by it.
struct Request {
    ticket: Ticket,
    bytes: Rc<RefCell<Vec<u8>>>,
}

/// A rank that carries out its calls.
struct Runner {
    me: u32,
    calls: VecDeque<Call>,
    requests: Vec<Request>,
    /// In which epoch it began to wait.
    since: Option<u32>,
    /// All that it has seen.
    seen: Vec<String>,
}

type End = Endpoint<super::Queue, Bytes>;

impl Runner {
    /// Begins a call, or goes on with it; whether anything came of it.
    fn step(&mut self, end: &mut End) -> bool {
        while end.take_note().is_some() {}
        end.despair();
        if self.call(end) {
            self.calls.pop_front();
            self.since = None;
            return true;
        }
        self.since = self.since.or(Some(end.epoch()));
        end.progress().unwrap() || end.rest().unwrap()
    }

    /// Whether the call that it is in has ended by now.
    fn call(&mut self, end: &mut End) -> bool {
        let wanted = |source, tag| Wanted { context: 2, source, tag };
        let is_late = self.since.is_some_and(|since| since != end.epoch());
        match self.calls.front().copied() {
            None => return false,
            Some(Call::Send(to, tag, size)) => self.send(end, (to, tag, size), Mode::Standard),
            Some(Call::Ssend(to, tag, size)) => self.send(end, (to, tag, size), Mode::Synchronous),
            Some(Call::Irecv(from, tag)) => {
                let into = Bytes::new(vec![0; 400], false);
                let bytes = into.bytes.clone();
                let ticket = end.receive(wanted(from, tag), from, into).unwrap();
                self.requests.push(Request { ticket, bytes });
            }
            Some(Call::Wait | Call::Test) if self.requests.is_empty() => {}
            Some(call @ (Call::Wait | Call::Test)) => {
                if end.has_ended(self.requests[0].ticket) {
                    self.end(end, 0);
                } else if matches!(call, Call::Test) && is_late {
                    self.tell(end, -1);
                } else {
                    if matches!(call, Call::Test) {
                        end.hope();
                    }
                    return false;
                }
            }
            Some(Call::Waitany | Call::Testany) if self.requests.is_empty() => {}
            Some(call @ (Call::Waitany | Call::Testany)) => {
                let settled = self.requests.iter().position(|it| end.is_settled(it.ticket));
                let is_test = matches!(call, Call::Testany);
                match settled {
                    Some(at) => self.end(end, at),
                    None if is_test && is_late => self.tell(end, -1),
                    None => {
                        if is_test || self.requests.iter().any(|it| end.has_ended(it.ticket)) {
                            end.hope();
                        }
                        return false;
                    }
                }
            }
            Some(call @ (Call::Probe(from, tag) | Call::Iprobe(from, tag))) => {
                let found = end.probe(wanted(from, tag));
                match found {
                    Some((envelope, size)) => {
                        let what = format!("probe {} {} {size}", envelope.source, envelope.tag);
                        self.seen.push(what);
                        self.tell(end, envelope.source.into());
                    }
                    None if matches!(call, Call::Iprobe(..)) => {
                        if !is_late {
                            end.hope();
                            return false;
                        }
                        self.tell(end, -1);
                    }
                    None => return false,
                }
            }
            Some(Call::Cancel) => return self.cancel(end, is_late),
        }
        true
    }

    /// What is cancelled has been tested before.
    fn cancel(&mut self, end: &mut End, is_late: bool) -> bool {
        let Some(first) = self.requests.first() else { return true };
        if !end.has_ended(first.ticket) && !is_late {
            end.hope();
            return false;
        }
        end.cancel(first.ticket);
        true
    }

    fn send(&mut self, end: &mut End, (to, tag, size): (u32, i32, usize), mode: Mode) {
        let envelope = crate::Envelope { context: 2, source: self.me, tag };
        let bytes = Bytes::new(message(size, self.me as usize + size), size % 2 == 1);
        let seen = bytes.bytes.clone();
        if let Some(ticket) = end.send(to, envelope, mode, bytes).unwrap() {
            self.requests.push(Request { ticket, bytes: seen });
        }
    }

    /// A request ends.
    fn end(&mut self, end: &mut End, at: usize) {
        let Request { ticket, bytes } = self.requests.remove(at);
        let outcome = end.poll(ticket).unwrap();
        self.tell(end, at as i64);
        self.seen.push(format!("{at}: {outcome:?} {:?}", bytes.borrow()));
    }

    /// Says something to a rank, as who has waited for long does.
    fn note(&mut self, end: &mut End, to: u32) {
        let envelope = crate::Envelope { context: crate::NOTES, source: self.me, tag: 0 };
        let bytes = Bytes::new(vec![7; 9], false);
        if let Some(ticket) = end.send(to, envelope, Mode::Standard, bytes).unwrap() {
            end.release(ticket);
        }
    }

    fn tell(&mut self, end: &mut End, told: i64) {
        end.told(Question::Any, &[told]);
        self.seen.push(format!("told {told}"));
    }
}

/// All that the ranks have seen, where they have come to, and their digests and logs.
type Seen = Vec<(Vec<String>, usize, Option<Digest>, String)>;

/// Runs programs until nothing moves any more.
fn run(programs: &[Vec<Call>], dice: u64) -> Seen {
    let size = programs.len() as u32;
    let mut job = Job::new(size, dice);
    let network = job.network.clone();
    job.ranks = (0..size)
        .map(|me| {
            let leaving = vec![Vec::new(); size as usize];
            let queue = super::Queue { me, network: network.clone(), leaving };
            let orders = Orders {
                size,
                is_coscheduled: true,
                offered_from: 300,
                has_digest: true,
                has_log: true,
                has_leader: false,
            };
            Endpoint::ordered(me, queue, orders)
        })
        .collect();
    let runner = |(me, calls): (usize, &Vec<Call>)| Runner {
        me: me as u32,
        calls: calls.iter().copied().collect(),
        requests: Vec::new(),
        since: None,
        seen: Vec::new(),
    };
    let mut runners: Vec<Runner> = programs.iter().enumerate().map(runner).collect();
    let (mut still, mut notes) = (0, 200);
    while still < 400 * size as usize {
        // Some are fast for a while, and others slow.
        let rank = job.roll(programs.len());
        for _ in 0..=job.roll(30) {
            let moved = runners[rank].step(&mut job.ranks[rank]);
            still = if moved { 0 } else { still + 1 };
            if !moved && notes > 0 && job.roll(8) == 0 {
                notes -= 1;
                let to = job.roll(programs.len()) as u32;
                runners[rank].note(&mut job.ranks[rank], to);
            }
        }
    }
    let ends = runners.into_iter().zip(&job.ranks);
    let seen = ends.map(|(runner, end)| {
        let log = end.log().map(Log::encode).unwrap_or_default();
        (runner.seen, runner.calls.len(), end.digest(), log)
    });
    seen.collect()
}

/// Sizes on both sides of what is offered by these ranks' ends.
fn any_size() -> impl Strategy<Value = usize> {
    prop_oneof![0..200_usize, Just(300)]
}

fn any_call(ranks: u32) -> impl Strategy<Value = Call> {
    let message = || (0..ranks, 0..2_i32, any_size());
    let from = || prop_oneof![2 => Just(None), 2 => (0..ranks).prop_map(Some)];
    let tag = || prop_oneof![1 => Just(None), 2 => (0..2_i32).prop_map(Some)];
    prop_oneof![
        6 => message().prop_map(|(to, tag, size)| Call::Send(to, tag, size)),
        1 => message().prop_map(|(to, tag, size)| Call::Ssend(to, tag, size)),
        6 => (from(), tag()).prop_map(|(from, tag)| Call::Irecv(from, tag)),
        2 => Just(Call::Wait),
        1 => Just(Call::Test),
        3 => Just(Call::Waitany),
        1 => Just(Call::Testany),
        1 => (from(), tag()).prop_map(|(from, tag)| Call::Probe(from, tag)),
        1 => (from(), tag()).prop_map(|(from, tag)| Call::Iprobe(from, tag)),
        1 => Just(Call::Cancel),
    ]
}

fn any_programs() -> impl Strategy<Value = Vec<Vec<Call>>> {
    (1..6_u32).prop_flat_map(|ranks| {
        let program = proptest::collection::vec(any_call(ranks), 0..14);
        proptest::collection::vec(program, ranks as usize)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Also where they come to wait for ever.
    #[test]
    fn ranks_see_the_same_whoever_is_fast(programs in any_programs(), dice: [u64; 3]) {
        let first = run(&programs, dice[0]);
        prop_assert_eq!(&first, &run(&programs, dice[1]));
        prop_assert_eq!(&first, &run(&programs, dice[2]));
    }
}

/// MPI-5.0, 3.5: receives are satisfied in the order in which they were posted.
#[test]
fn a_receive_takes_nothing_that_one_before_it_may_want() {
    let mut matching = crate::Matching::logical();
    let any = |tag| Wanted { context: 2, source: None, tag };
    let from = |source, tag| Wanted { context: 2, source: Some(source), tag };
    let message = |source, tag| crate::Envelope { context: 2, source, tag };
    matching.post(any(Some(5)), 'w');
    matching.keep(message(3, 5), 1);
    // What the first may want is not for the second, and what comes behind it neither.
    assert_eq!(matching.take(from(3, None)), None);
    matching.post(from(3, None), 'n');
    matching.keep(message(3, 6), 2);
    assert_eq!(matching.settle(2), []);
    assert!(matching.waits_for_reveal());
    // A rank before that one has sent, too.
    matching.keep(message(1, 5), 3);
    let taken = matching.reveal();
    assert_eq!(taken, [('w', message(1, 5), 3), ('n', message(3, 5), 1)]);
    assert_eq!(matching.take(any(None)), Some((message(3, 6), 2)));
}
