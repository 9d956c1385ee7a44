//! Links and those who decide how their messages move.

use super::*;
use crate::pipeline::adapt::Peers;
use crate::pipeline::calibrate::{Medium, Sample};
use crate::pipeline::choice::Grid;
use crate::pipeline::contact::Contact;
use crate::transport::shared::trial::Trials;
use muster_base::limits::SHARED_ARENA;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// What a planner was asked and told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Said {
    Plan(usize),
    Sampling,
    Observed(usize),
}

/// Samples everything, and writes down what it hears.
struct Scribe(Plan, Arc<Mutex<Vec<Said>>>);

impl Planner for Scribe {
    fn plan(&mut self, bytes: usize) -> Plan {
        self.1.lock().unwrap().push(Said::Plan(bytes));
        self.0
    }

    fn is_sampling(&mut self) -> bool {
        self.1.lock().unwrap().push(Said::Sampling);
        true
    }

    fn observe(&mut self, bytes: usize, plan: Plan, _time: Duration) {
        assert_eq!(plan, self.0);
        self.1.lock().unwrap().push(Said::Observed(bytes));
    }
}

#[test]
fn a_planner_is_asked_once_for_each_message_and_told_of_samples_of_the_same() {
    for plan in [Plan::Short, PIPELINED, Plan::SingleCopy] {
        let (mut here, mut there) = pair(plan);
        let said = Arc::new(Mutex::new(Vec::new()));
        here.set_planner(Box::new(Scribe(plan, said.clone())));
        let sizes = [121, 5000, 70_000, 700_000];
        let receiver = std::thread::spawn(move || {
            let mut buffer = vec![0; 1 << 20];
            for size in [8].into_iter().chain(sizes) {
                assert_eq!(there.receive(&mut buffer, soon()).unwrap(), size);
            }
            there
        });
        here.send(&[IoSlice::new(&[1; 8])], soon()).unwrap();
        for size in sizes {
            here.send(&[IoSlice::new(&vec![1; size])], soon()).unwrap();
        }
        let mut there = receiver.join().unwrap();
        here.try_send(&[IoSlice::new(&[1; 300])]).unwrap();
        assert_eq!(take(&mut there).len(), 300);
        let said = said.lock().unwrap();
        let asked = said.iter().filter(|said| !matches!(said, Said::Observed(_)));
        let expected = sizes.iter().flat_map(|&size| [Said::Plan(size), Said::Sampling]);
        let expected: Vec<Said> = expected.chain([Said::Plan(300)]).collect();
        assert_eq!(asked.copied().collect::<Vec<_>>(), expected, "{plan:?}");
        // Whether a message is told of depends on the receiver's being there, but never which.
        for (at, &heard) in said.iter().enumerate() {
            if let Said::Observed(size) = heard {
                assert_eq!(said[at - 2..at], [Said::Plan(size), Said::Sampling]);
            }
        }
    }
}

/// Writes down which messages it took for ones of a stream.
struct Streams(Arc<Mutex<Vec<bool>>>);

impl Planner for Streams {
    fn plan(&mut self, _: usize) -> Plan {
        self.0.lock().unwrap().push(false);
        PIPELINED
    }

    fn stream(&mut self, _: usize) -> Plan {
        self.0.lock().unwrap().push(true);
        PIPELINED
    }
}

#[test]
fn messages_that_nobody_answers_are_planned_as_a_stream_until_somebody_does() {
    let (mut here, mut there) = pair(PIPELINED);
    let said = Arc::new(Mutex::new(Vec::new()));
    here.set_planner(Box::new(Streams(said.clone())));
    let mut asked = |answers: usize, messages: usize| {
        said.lock().unwrap().clear();
        for _ in 0..messages {
            here.try_send(&[IoSlice::new(&[1; 5000])]).unwrap();
            assert_eq!(take(&mut there).len(), 5000);
            for _ in 0..answers {
                there.try_send(&[IoSlice::new(&[1])]).unwrap();
                assert_eq!(take(&mut here).len(), 1);
            }
        }
        said.lock().unwrap().clone()
    };
    assert!(!asked(1, 100).contains(&true));
    let alone = asked(0, 100).partition_point(|is_stream| !is_stream);
    assert_eq!(alone, 16);
    // One answer ends no stream, but a few in a row do.
    let ended = asked(1, 100).partition_point(|is_stream| *is_stream);
    assert!((1..=4).contains(&ended), "{ended}");
    assert!(!asked(1, 100).contains(&true));
}

#[test]
fn a_receiver_that_sleeps_is_not_kept_from_a_message_by_a_trial_that_was_given_up() {
    let (mut here, mut there) = pair(PIPELINED);
    let mut trials = Trials::new(&mut here, Duration::from_millis(20));
    trials.copies(Sample { packet: 4096, ring: 1 << 18, message: 1 << 18 });
    assert!(trials.is_over(), "nobody was there");
    here.try_fill(1, |to| to[0] = 7).unwrap();
    // Who sleeps on the descriptor is not rung for what was there before.
    there.descriptor();
    assert_eq!(there.try_take(|bytes| bytes[0]).unwrap(), 7);
}

/// Twice a cache of 4 MiB, as some virtual processors have, are more than there is.
#[test]
fn copies_are_measured_also_where_the_cache_is_larger_than_the_ring() {
    let (mut here, mut there) = pair(PIPELINED);
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_done.load(Ordering::Relaxed) {
                let _ = there.try_take(|_| ());
                std::thread::yield_now();
            }
        });
        // Whoever comes late once, as on a busy machine, is asked again.
        let took = (0..10).find_map(|_| {
            let mut trials = Trials::new(&mut here, Duration::from_secs(20));
            let took = trials.copies(Sample { packet: 4096, ring: 8 << 20, message: 1 << 20 });
            (!trials.is_over()).then_some(took)
        });
        is_done.store(true, Ordering::Relaxed);
        assert!(took.is_some_and(|took| took.iter().all(|time| !time.is_zero())), "{took:?}");
    });
}

/// A pair that asks `peers` at its first long message.
fn strangers(peers: &Arc<Peers>) -> (Link, Link) {
    let peers = peers.clone();
    let planners: Planners = Arc::new(move |_| Box::new(Contact::new(peers.clone(), PLAN)));
    meet::pair("there", &hello(Lane::Bulk), &planners).unwrap()
}

const LONG: usize = 100_000;

/// So many long messages go round a ring.
const ROUND: usize = (2 << 20) / LONG + 1;

/// Receives as those do who wait for several at once.
fn receive_by_poll(link: &mut Link, buffer: &mut [u8]) -> usize {
    loop {
        match link.try_receive(buffer) {
            Err(Error::WouldBlock) => assert!(super::bell::is_rung(link, 20)),
            received => return received.unwrap(),
        }
    }
}

#[test]
fn a_long_message_to_a_receiver_that_waits_measures_the_way_to_it() {
    let receive = |link: &mut Link, buffer: &mut [u8]| link.receive(buffer, soon()).unwrap();
    is_measured(receive);
}

#[test]
fn a_long_message_to_a_receiver_that_sleeps_on_its_socket_measures_the_way_to_it() {
    is_measured(|link, buffer| {
        link.descriptor();
        receive_by_poll(link, buffer)
    });
}

fn is_measured(receive: impl Fn(&mut Link, &mut [u8]) -> usize + Sync) {
    let peers = Peers::new(Grid::new(SHARED_ARENA, 64 * 1024));
    let (mut here, mut there) = strangers(&peers);
    let bytes = pattern(LONG, 3);
    let taken = AtomicUsize::new(0);
    let is_known = || peers.knows("there");
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut buffer = vec![0; LONG];
            loop {
                let size = receive(&mut there, &mut buffer);
                assert!(buffer[..size] == bytes[..size]);
                if size == 1 {
                    return;
                }
                taken.fetch_add(1, Ordering::Release);
            }
        });
        // How long a thread waits for a processor is not up to this test: it goes on until the peer
        // is met.
        let end = Deadline::after(Duration::from_secs(60));
        let is_late = || end.left().is_none();
        let sizes = [8, 4000].into_iter().chain(std::iter::repeat(LONG));
        let sizes = sizes.take_while(|_| !is_known() && !is_late()).chain([LONG; 20]);
        for (before, size) in sizes.enumerate() {
            here.send(&[IoSlice::new(&bytes[..size])], soon()).unwrap();
            while taken.load(Ordering::Acquire) == before && !is_late() {
                std::thread::yield_now();
            }
        }
        here.send(&[IoSlice::new(&bytes[..1])], soon()).unwrap();
    });
    assert!(peers.knows("there"));
    assert!(!here.planner.is_new(LONG), "it is measured once");
}

#[test]
fn a_receiver_that_is_not_there_is_not_measured_and_gets_its_message() {
    let peers = Peers::new(Grid::new(SHARED_ARENA, 64 * 1024));
    let (mut here, mut there) = strangers(&peers);
    let bytes = pattern(LONG, 5);
    for _ in 0..ROUND {
        here.send(&[IoSlice::new(&bytes)], soon()).unwrap();
        assert!(take(&mut there) == bytes);
    }
    here.send(&[IoSlice::new(&bytes)], soon()).unwrap();
    assert!(!peers.knows("there"));
    assert!(take(&mut there) == bytes);
}
