//! The two cores over simulated rails: each delivers in order as long as it lives; rails run at
//! different speeds, fall silent, come back and end at any point.

use crate::protocol::Time;
use crate::transport::rails::receive::Receiver;
use crate::transport::rails::send::Sender;
use crate::transport::rails::wire::Seen;
use muster_base::limits::{RAILS_PATIENCE, RAILS_PIECE, RAILS_WINDOW, RAILS_WINDOW_SYSTEM};
use proptest::prelude::*;
use std::collections::VecDeque;
use std::sync::LazyLock;
use std::time::Duration;

#[derive(Debug)]
enum Sent {
    Piece(u64, Vec<u8>),
    End(u64),
}

#[derive(Debug, Default)]
struct Rail {
    there: VecDeque<Sent>,
    back: VecDeque<Seen>,
    is_dead: bool,
    /// What it has carried.
    bytes: u64,
}

struct World {
    sender: Sender,
    receiver: Receiver,
    rails: Vec<Rail>,
    now: Time,
    written: u64,
    read: u64,
}

/// The bytes of the stream, again after a prime number of them.
fn bytes(at: u64, size: usize) -> &'static [u8] {
    const AGAIN: usize = 100_003;
    static BYTES: LazyLock<Vec<u8>> = LazyLock::new(|| {
        let once: Vec<u8> = (0..AGAIN).map(|at| (at ^ (at / 251)) as u8).collect();
        once.repeat(4)
    });
    let start = at as usize % AGAIN;
    &BYTES[start..start + size.min(3 * AGAIN)]
}

impl World {
    fn new(rails: usize, window: usize) -> World {
        World {
            sender: Sender::new(rails, window),
            receiver: Receiver::new(rails, window),
            rails: (0..rails).map(|_| Rail::default()).collect(),
            now: Time(0),
            written: 0,
            read: 0,
        }
    }

    fn write(&mut self, size: usize) {
        self.written += self.sender.write(bytes(self.written, size)) as u64;
    }

    fn give(&mut self, rail: usize) {
        let Some(range) = self.sender.give(rail, self.now) else { return };
        let sent = match self.sender.is_end(&range) {
            true => Sent::End(range.start),
            false => {
                let (gone, parts) = self.sender.bytes(&range);
                assert_eq!(gone, 0, "it is new");
                assert!(parts.concat().len() <= RAILS_PIECE);
                Sent::Piece(range.start, parts.concat())
            }
        };
        self.rails[rail].there.push_back(sent);
    }

    /// Everything goes to whatever rail takes it.
    fn give_all(&mut self) {
        while !self.sender.is_given() {
            let before = self.rails.iter().map(|rail| rail.there.len()).sum::<usize>();
            (0..self.rails.len()).for_each(|rail| self.give(rail));
            if self.rails.iter().map(|rail| rail.there.len()).sum::<usize>() == before {
                return;
            }
        }
    }

    /// What is first on a rail arrives, in two parts.
    fn deliver(&mut self, rail: usize) {
        match self.rails[rail].there.pop_front() {
            None => {}
            Some(Sent::End(at)) => self.receiver.end(rail, at).unwrap(),
            Some(Sent::Piece(at, bytes)) => {
                self.rails[rail].bytes += bytes.len() as u64;
                self.receiver.check(at, bytes.len() as u32).unwrap();
                let (first, second) = bytes.split_at(bytes.len() / 3);
                self.receiver.put(rail, at, first).unwrap();
                self.receiver.put(rail, at + first.len() as u64, second).unwrap();
            }
        }
    }

    fn tell(&mut self, rail: usize, is_idle: bool) {
        if !self.rails[rail].is_dead && self.receiver.is_due(rail, is_idle) {
            let seen = self.receiver.tell(rail);
            self.rails[rail].back.push_back(seen);
        }
    }

    fn hear(&mut self, rail: usize) {
        if let Some(seen) = self.rails[rail].back.pop_front() {
            self.sender.seen(rail, seen, self.now).unwrap();
        }
    }

    fn read(&mut self, most: usize) {
        let mut buffer = vec![0; most.min(200_000)];
        let size = self.receiver.read(&mut buffer);
        assert!(&buffer[..size] == bytes(self.read, size), "other bytes at {}", self.read);
        self.read += size as u64;
    }

    /// It ends, with all that is on it.
    fn lose(&mut self, rail: usize) {
        let is_last = self.rails.iter().filter(|rail| !rail.is_dead).count() == 1;
        if is_last || self.rails[rail].is_dead {
            return;
        }
        self.rails[rail] = Rail { is_dead: true, ..Rail::default() };
        self.sender.lost(rail);
        self.receiver.lost(rail);
    }

    fn wait(&mut self, time: Duration) {
        self.now = self.now + time;
        self.sender.tick(self.now).for_each(drop);
    }

    fn round(&mut self) {
        self.give_all();
        for rail in 0..self.rails.len() {
            self.deliver(rail);
            self.tell(rail, true);
            self.hear(rail);
        }
        self.read(50_000);
    }
}

proptest! {
    /// What the fuzzer looks for, in the bytes that are likely to be something.
    #[test]
    fn any_bytes_on_a_rail_are_taken_or_refused(
        parts in prop::collection::vec(prop_oneof![
            (0..2000u64, 1..300u32).prop_map(|(at, size)| {
                [&[1][..], &size.to_le_bytes(), &at.to_le_bytes(), &vec![1; size as usize]].concat()
            }),
            prop::collection::vec(0..2000u64, 3).prop_map(|numbers| {
                let numbers = numbers.into_iter().flat_map(u64::to_le_bytes);
                [2].into_iter().chain(numbers).collect()
            }),
            (0..2000u64).prop_map(|at| [&[3][..], &at.to_le_bytes()].concat()),
            any::<Vec<u8>>(),
        ], 0..20),
    ) {
        crate::transport::rails::read_as_all(&parts.concat());
    }
}

#[derive(Clone, Debug)]
enum Event {
    Write(usize),
    Give(usize),
    GiveAll,
    Deliver(usize),
    Tell(usize, bool),
    Hear(usize),
    Read(usize),
    Lose(usize),
    Wait(u64),
}

const RAILS: usize = 3;

fn events() -> impl Strategy<Value = Vec<Event>> {
    let rail = 0..RAILS;
    let event = prop_oneof![
        4 => (1..200_000usize).prop_map(Event::Write),
        4 => (1..2000usize).prop_map(Event::Write),
        6 => rail.clone().prop_map(Event::Give),
        4 => Just(Event::GiveAll),
        8 => rail.clone().prop_map(Event::Deliver),
        6 => (rail.clone(), any::<bool>()).prop_map(|(rail, idle)| Event::Tell(rail, idle)),
        6 => rail.clone().prop_map(Event::Hear),
        5 => (1..100_000usize).prop_map(Event::Read),
        1 => rail.prop_map(Event::Lose),
        3 => (1..150u64).prop_map(Event::Wait),
    ];
    prop::collection::vec(event, 1..200)
}

proptest! {
    #[test]
    fn the_stream_arrives_once_and_in_order_as_long_as_a_rail_lives(events in events()) {
        let mut world = World::new(RAILS, RAILS_WINDOW_SYSTEM);
        for event in events {
            match event {
                Event::Write(size) => world.write(size),
                Event::Give(rail) => world.give(rail),
                Event::GiveAll => world.give_all(),
                Event::Deliver(rail) => world.deliver(rail),
                Event::Tell(rail, is_idle) => world.tell(rail, is_idle),
                Event::Hear(rail) => world.hear(rail),
                Event::Read(most) => world.read(most),
                Event::Lose(rail) => world.lose(rail),
                Event::Wait(ms) => world.wait(Duration::from_millis(ms)),
            }
        }
        world.sender.end();
        for _ in 0..1000 {
            world.round();
            if world.sender.is_received() && world.receiver.is_at_end() {
                break;
            }
            world.wait(Duration::from_millis(30));
        }
        prop_assert_eq!(world.read, world.written);
        prop_assert!(world.receiver.is_at_end() && world.sender.is_received());
    }
}

/// Everything that was given to a rail that is cut goes over the other after a while, without
/// anybody saying that the rail has ended; when it works again it is used again.
#[test]
fn a_silent_rail_is_doubted_and_taken_back() {
    let mut world = World::new(2, RAILS_WINDOW_SYSTEM);
    world.write(200_000);
    world.give_all();
    assert!(world.rails.iter().all(|rail| !rail.there.is_empty()), "both have something");
    let alarm = world.sender.alarm().unwrap();
    assert_eq!(alarm, Time(0) + RAILS_PATIENCE);
    // The first rail delivers nothing.
    while !world.rails[1].there.is_empty() {
        world.deliver(1);
    }
    world.tell(1, true);
    world.now = Time(1000);
    world.hear(1);
    assert_eq!(world.read, 0);
    world.wait(RAILS_PATIENCE);
    assert!(!world.sender.is_good(0) && world.sender.is_good(1));
    world.give_all();
    while !world.rails[1].there.is_empty() {
        world.deliver(1);
    }
    world.read(200_000);
    assert_eq!(world.read, 200_000);
    // What was on it comes after all, and tells nothing new but that it works.
    while !world.rails[0].there.is_empty() {
        world.deliver(0);
    }
    world.tell(0, true);
    world.hear(0);
    assert!(world.sender.is_good(0) && world.sender.is_received());
    assert_eq!(world.receiver.available(), 0);
}

/// One rail delivers this many times as often as the other: the shares are about in proportion.
#[test]
fn rails_share_in_proportion_to_how_fast_they_drain() {
    for factor in [1, 4] {
        let mut world = World::new(2, RAILS_WINDOW);
        for step in 0..2000 {
            world.write(2 * RAILS_PIECE);
            world.give_all();
            world.now = world.now + Duration::from_micros(50);
            let slow = (step % factor == 0).then_some(1);
            for rail in [Some(0), slow].into_iter().flatten() {
                world.deliver(rail);
                world.tell(rail, true);
                world.hear(rail);
            }
            world.read(RAILS_WINDOW);
        }
        let [fast, slow] = [world.rails[0].bytes, world.rails[1].bytes];
        let share = fast as f64 / slow as f64 / factor as f64;
        assert!((0.5..2.0).contains(&share), "{fast} and {slow} for {factor}");
    }
}

/// Of two idle rails, short messages take the one that answers sooner.
#[test]
fn short_messages_take_the_quicker_rail() {
    let mut world = World::new(2, RAILS_WINDOW_SYSTEM);
    for _ in 0..100 {
        world.write(100);
        world.give_all();
        for rail in [1, 0] {
            world.now = world.now + Duration::from_micros(if rail == 1 { 20 } else { 200 });
            world.deliver(rail);
            world.tell(rail, true);
            world.hear(rail);
        }
        world.read(100);
    }
    assert_eq!(world.read, 10_000);
    assert!(world.rails[1].bytes > 9000, "{:?}", world.rails);
}

#[test]
fn an_acknowledgement_that_cannot_be_is_refused() {
    let mut world = World::new(2, RAILS_WINDOW_SYSTEM);
    world.write(1000);
    world.give_all();
    let seen = Seen { taken: 1000, received: 1000, room: 0 };
    let mut refused = |rail, seen| world.sender.seen(rail, seen, Time(1)).unwrap_err();
    assert!(refused(0, Seen { received: 1001, ..seen }).contains("received"));
    assert!(refused(0, Seen { taken: 1001, ..seen }).contains("taken"));
    assert!(refused(1, Seen { taken: 1, ..seen }).contains("taken"), "another rail's");
    world.sender.seen(0, seen, Time(1)).unwrap();
    assert!(world.sender.seen(0, Seen { taken: 999, ..seen }, Time(1)).is_err(), "fewer");
}

#[test]
fn a_piece_that_cannot_be_is_refused() {
    let mut receiver = Receiver::new(2, RAILS_WINDOW_SYSTEM);
    let window = RAILS_WINDOW_SYSTEM as u64;
    assert!(receiver.check(window - 1, 1).is_ok());
    assert!(receiver.check(window, 1).is_err());
    assert!(receiver.check(u64::MAX, 2).is_err());
    receiver.put(0, 10, b"0123").unwrap();
    assert!(receiver.end(0, 13).is_err(), "bytes came from behind it");
    receiver.end(1, 20).unwrap();
    assert!(receiver.end(0, 21).is_err(), "it ended elsewhere");
    assert!(receiver.end(0, 20).is_ok(), "twice");
    assert!(receiver.check(19, 1).is_ok() && receiver.check(20, 1).is_err());
    let mut holes = Receiver::new(2, RAILS_WINDOW_SYSTEM);
    let many = (0..window / 2).find_map(|number| holes.put(0, 2 * number + 1, b"x").err());
    assert!(many.unwrap().contains("gaps"), "and little memory is taken");
}

#[test]
fn a_piece_that_has_begun_goes_no_further_than_the_end_said_on_another_rail() {
    let mut receiver = Receiver::new(2, RAILS_WINDOW_SYSTEM);
    receiver.put(1, 0, &[7; 100]).unwrap();
    receiver.check(100, 100).unwrap();
    receiver.slot(&(100..200)).unwrap()[..50].fill(7);
    receiver.arrived(0, 100..150).unwrap();
    receiver.end(1, 150).unwrap();
    let error = receiver.arrived(0, 150..200).unwrap_err();
    assert_eq!(error, "bytes up to 200 behind the end at 150");
    assert_eq!(receiver.read(&mut [0; 300]), 150);
    assert!(receiver.is_at_end());
}
