//! The bare medium: two threads on two cores, a ring of buffers between them, and nothing else.
//!
//! A ring has slots, each with a turn: even while it is the sender's, odd while it is the
//! receiver's, so a packet is a copy and a store on either side. The receiver carries out one job
//! after the other; both sides know from the job how many packets come. It ends with the sender: a
//! dropped [`Raw`] gives it the job to end.

use super::super::calibrate::{Medium, Sample};
use super::super::choice::median;
use super::super::plan::Plan;
use super::{MESSAGE_MAX, Track, sys};
use std::hint::{black_box, spin_loop};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// A cache line of its own, and the one that the processor fetches with it.
#[repr(align(128))]
#[derive(Default)]
struct Line<T>(T);

struct Slot {
    turn: Line<AtomicUsize>,
    /// Never contended: whose turn it is has the buffer.
    data: Mutex<Vec<u8>>,
}

struct Ring {
    packet: usize,
    slots: Vec<Slot>,
}

impl Ring {
    fn new(packet: usize, slots: usize) -> Ring {
        let slot = || Slot { turn: Line::default(), data: Mutex::new(vec![0; packet]) };
        Ring { packet, slots: (0..slots).map(|_| slot()).collect() }
    }

    /// Waits until packet number `index` has this side's turn, and lets `copy` have the buffer.
    fn pass(&self, index: usize, side: usize, desk: &Desk, copy: impl FnOnce(&mut [u8])) {
        let (slot, turn) = self.reached(index, side, desk);
        copy(&mut slot.data.lock().unwrap_or_else(PoisonError::into_inner));
        slot.turn.0.store(turn + 1, Ordering::Release);
    }

    fn reached(&self, index: usize, side: usize, desk: &Desk) -> (&Slot, usize) {
        let slot = &self.slots[index % self.slots.len()];
        let turn = 2 * (index / self.slots.len()) + side;
        desk.until(|| slot.turn.0.load(Ordering::Acquire) == turn);
        (slot, turn)
    }

    /// Waits until the receiver is done with packet number `index`.
    fn emptied(&self, index: usize, desk: &Desk) {
        let slot = &self.slots[index % self.slots.len()];
        let turn = 2 * (index / self.slots.len()) + 2;
        desk.until(|| slot.turn.0.load(Ordering::Acquire) >= turn);
    }
}

/// What the receiver is to do.
#[derive(Clone)]
enum Job {
    Idle,
    /// Answer so many flags.
    Hop {
        rounds: u64,
    },
    /// Take packets, one at a time; tell how long one took.
    Lockstep {
        ring: Arc<Ring>,
        first: usize,
        packets: usize,
        message: usize,
    },
    /// Take messages in packets.
    Messages {
        ring: Arc<Ring>,
        first: usize,
        bytes: usize,
        count: usize,
    },
    /// Fetch messages from the sender's memory.
    Fetch {
        address: usize,
        bytes: usize,
        count: u64,
    },
    Quit,
}

struct Desk {
    job: Mutex<Job>,
    given: Line<AtomicU64>,
    taken: Line<AtomicU64>,
    ping: Line<AtomicU64>,
    pong: Line<AtomicU64>,
    /// The receiver's nanoseconds for a packet.
    told: AtomicU64,
    /// Whether the single copy has failed.
    refused: AtomicBool,
    gone: AtomicBool,
}

impl Desk {
    /// Waits without sleeping, but not for ever at the cost of others.
    fn until(&self, is_so: impl Fn() -> bool) {
        let mut spins = 0u32;
        while !is_so() {
            spins += 1;
            if spins.is_multiple_of(1 << 12) {
                assert!(!self.gone.load(Ordering::Relaxed), "the probe's other thread has failed");
                thread::yield_now();
            }
            spin_loop();
        }
    }
}

/// Says so when a side ends, whatever it ends by.
struct Gone(Arc<Desk>);

impl Drop for Gone {
    fn drop(&mut self) {
        self.0.gone.store(true, Ordering::Relaxed);
    }
}

/// The sender's side.
pub struct Raw {
    desk: Arc<Desk>,
    receiver: Option<JoinHandle<()>>,
    source: Vec<u8>,
    spare: Vec<u8>,
    /// The ring that was used last, and how many packets have gone through it.
    ring: Arc<Ring>,
    passed: usize,
}

impl Raw {
    /// Starts the receiver, on `core` if there is one to choose.
    pub fn start(core: Option<usize>) -> Raw {
        let desk = Arc::new(Desk {
            job: Mutex::new(Job::Idle),
            given: Line::default(),
            taken: Line::default(),
            ping: Line::default(),
            pong: Line::default(),
            told: AtomicU64::new(0),
            refused: AtomicBool::new(false),
            gone: AtomicBool::new(false),
        });
        let theirs = desk.clone();
        let receiver = thread::spawn(move || {
            let _gone = Gone(theirs.clone());
            super::pin(core);
            receive(&theirs);
        });
        Raw {
            desk,
            receiver: Some(receiver),
            source: vec![1; MESSAGE_MAX],
            spare: vec![2; MESSAGE_MAX],
            ring: Arc::new(Ring::new(64, 1)),
            passed: 0,
        }
    }

    fn give(&self, job: Job) {
        *self.desk.job.lock().unwrap_or_else(PoisonError::into_inner) = job;
        let number = self.desk.given.0.fetch_add(1, Ordering::Release) + 1;
        self.desk.until(|| self.desk.taken.0.load(Ordering::Acquire) == number);
    }

    /// A ring of this shape whose pages are there.
    fn shape(&mut self, packet: usize, slots: usize) {
        let packet = packet.max(64);
        if (self.ring.packet, self.ring.slots.len()) != (packet, slots) {
            self.ring = Arc::new(Ring::new(packet, slots));
            self.passed = 0;
            self.lockstep(1, packet);
        }
    }

    /// Goes round the ring, one packet at a time and one side after the other, as the paper does;
    /// nanoseconds of either for a packet.
    fn lockstep(&mut self, rounds: usize, message: usize) -> (f64, f64) {
        let (ring, first, packets) =
            (self.ring.clone(), self.passed, rounds * self.ring.slots.len());
        self.give(Job::Lockstep { ring: ring.clone(), first, packets, message });
        let (mut spent, mut at) = (Duration::ZERO, 0);
        for _ in 0..packets {
            let start = Instant::now();
            ring.pass(self.passed, 0, &self.desk, |to| {
                to.copy_from_slice(&self.source[at..at + to.len()]);
            });
            spent += start.elapsed();
            ring.emptied(self.passed, &self.desk);
            self.passed += 1;
            at = next(at, ring.packet, message);
        }
        self.finish();
        (each(spent, packets), f64::from_bits(self.desk.told.load(Ordering::Relaxed)))
    }

    /// Waits until the receiver has done its job.
    fn finish(&self) {
        let number = self.desk.given.0.load(Ordering::Relaxed);
        self.desk.until(|| self.desk.pong.0.load(Ordering::Acquire) == u64::MAX - number);
    }

    /// Messages through the ring: nanoseconds of each where one waits for the last's end, and of
    /// all together.
    fn messages(&mut self, bytes: usize, count: usize, waits: bool) -> (Vec<f64>, f64) {
        let (ring, first) = (self.ring.clone(), self.passed);
        self.give(Job::Messages { ring: ring.clone(), first, bytes, count });
        let mut times = Vec::with_capacity(if waits { count } else { 0 });
        let begin = Instant::now();
        for _ in 0..count {
            let start = Instant::now();
            let mut rest = &self.source[..bytes];
            loop {
                let (part, behind) = rest.split_at(rest.len().min(ring.packet));
                ring.pass(self.passed, 0, &self.desk, |to| to[..part.len()].copy_from_slice(part));
                self.passed += 1;
                rest = behind;
                if rest.is_empty() {
                    break;
                }
            }
            if waits {
                ring.emptied(self.passed - 1, &self.desk);
                times.push(start.elapsed().as_nanos() as f64);
            }
        }
        ring.emptied(self.passed - 1, &self.desk);
        let all = begin.elapsed().as_nanos() as f64;
        self.finish();
        (times, all)
    }

    /// Messages that the receiver fetches; None where the kernel forbids it.
    fn fetched(&mut self, bytes: usize, count: usize) -> Option<Vec<f64>> {
        let address = self.source.as_ptr() as usize;
        self.desk.ping.0.store(0, Ordering::Relaxed);
        self.give(Job::Fetch { address, bytes, count: count as u64 });
        let mut times = Vec::with_capacity(count);
        for number in 1..=count as u64 {
            let start = Instant::now();
            self.desk.ping.0.store(number, Ordering::Release);
            self.desk.until(|| self.desk.pong.0.load(Ordering::Acquire) == number);
            times.push(start.elapsed().as_nanos() as f64);
        }
        self.desk.ping.0.store(count as u64 + 1, Ordering::Release);
        self.finish();
        (!self.desk.refused.load(Ordering::Relaxed)).then_some(times)
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        if !self.desk.gone.load(Ordering::Relaxed) {
            self.give(Job::Quit);
        }
        if let Some(receiver) = self.receiver.take() {
            let _ = receiver.join();
        }
    }
}

/// Where the next packet of a message stands.
fn next(at: usize, packet: usize, message: usize) -> usize {
    let next = at + packet;
    if next + packet <= message.min(MESSAGE_MAX) { next } else { 0 }
}

/// The receiver's side.
fn receive(desk: &Desk) {
    let mut into = vec![3; MESSAGE_MAX];
    for number in 1.. {
        desk.until(|| desk.given.0.load(Ordering::Acquire) == number);
        let job = desk.job.lock().unwrap_or_else(PoisonError::into_inner).clone();
        desk.pong.0.store(0, Ordering::Relaxed);
        desk.taken.0.store(number, Ordering::Release);
        match job {
            Job::Idle => {}
            Job::Quit => return,
            Job::Hop { rounds } => {
                for round in 1..=rounds {
                    desk.until(|| desk.ping.0.load(Ordering::Acquire) == round);
                    desk.pong.0.store(round, Ordering::Release);
                }
                // The last answer is to be seen before it is overwritten.
                desk.until(|| desk.ping.0.load(Ordering::Acquire) == rounds + 1);
            }
            Job::Lockstep { ring, first, packets, message } => {
                drain(desk, &ring, first, packets, message, &mut into);
            }
            Job::Messages { ring, first, bytes, count } => {
                let mut index = first;
                for _ in 0..count {
                    let mut rest = &mut into[..bytes];
                    loop {
                        let length = rest.len().min(ring.packet);
                        let (part, behind) = rest.split_at_mut(length);
                        ring.pass(index, 1, desk, |from| part.copy_from_slice(&from[..length]));
                        index += 1;
                        rest = behind;
                        if rest.is_empty() {
                            break;
                        }
                    }
                }
            }
            Job::Fetch { address, bytes, count } => {
                for round in 1..=count {
                    desk.until(|| desk.ping.0.load(Ordering::Acquire) == round);
                    if sys::copy_from(address, &mut into[..bytes]).is_err() {
                        desk.refused.store(true, Ordering::Relaxed);
                    }
                    desk.pong.0.store(round, Ordering::Release);
                }
                desk.until(|| desk.ping.0.load(Ordering::Acquire) == count + 1);
            }
        }
        black_box(&into);
        desk.pong.0.store(u64::MAX - number, Ordering::Release);
    }
}

fn drain(desk: &Desk, ring: &Ring, first: usize, packets: usize, message: usize, into: &mut [u8]) {
    let (mut at, mut spent) = (0, Duration::ZERO);
    for index in first..first + packets {
        ring.reached(index, 1, desk);
        let start = Instant::now();
        ring.pass(index, 1, desk, |from| into[at..at + from.len()].copy_from_slice(from));
        spent += start.elapsed();
        at = next(at, ring.packet, message);
    }
    desk.told.store(each(spent, packets).to_bits(), Ordering::Relaxed);
}

/// Nanoseconds of one of some timed steps, without what looking at the clock takes.
fn each(spent: Duration, steps: usize) -> f64 {
    let mut clock: Vec<f64> =
        (0..101).map(|_| Instant::now().elapsed().as_nanos() as f64).collect();
    (spent.as_nanos() as f64 / steps as f64 - median(&mut clock)).max(0.0)
}

impl Medium for Raw {
    fn hop(&mut self) -> Duration {
        const ROUNDS: u64 = 500;
        let desk = self.desk.clone();
        desk.ping.0.store(0, Ordering::Relaxed);
        self.give(Job::Hop { rounds: ROUNDS });
        let start = Instant::now();
        for round in 1..=ROUNDS {
            desk.ping.0.store(round, Ordering::Release);
            desk.until(|| desk.pong.0.load(Ordering::Acquire) == round);
        }
        let spent = start.elapsed();
        desk.ping.0.store(ROUNDS + 1, Ordering::Release);
        self.finish();
        spent / (2 * ROUNDS as u32)
    }

    fn copy_in(&mut self, sample: Sample) -> Duration {
        let (ours, _) = self.sample(sample);
        nanoseconds(ours)
    }

    fn copy_out(&mut self, sample: Sample) -> Duration {
        let (_, theirs) = self.sample(sample);
        nanoseconds(theirs)
    }

    fn single_copy(&mut self, sample: Sample) -> Option<Duration> {
        let hops = 2.0 * self.hop().as_nanos() as f64;
        // It has no packets: what a part costs of a message outside of the cache, the whole tells.
        let is_spilled = sample.message > self.cache();
        let bytes = if is_spilled { sample.message } else { sample.packet }.min(MESSAGE_MAX);
        let mut times = self.fetched(bytes, 8)?;
        let share = sample.packet as f64 / bytes as f64;
        let time = (median(&mut times) - hops).max(1.0);
        Some(nanoseconds(time * share))
    }
}

fn nanoseconds(time: f64) -> Duration {
    Duration::from_nanos(time.round() as u64)
}

impl Raw {
    fn sample(&mut self, sample: Sample) -> (f64, f64) {
        let slots = (sample.ring / sample.packet).clamp(1, 64);
        self.shape(sample.packet, slots);
        let packets = (sample.message / sample.packet).clamp(1, 1024);
        // Once round the message at least, so that it has left the cache if it does not fit.
        let rounds = packets.div_ceil(slots).max(2);
        self.lockstep(rounds, sample.message)
    }
}

impl Track for Raw {
    fn sentinel(&mut self) -> f64 {
        self.hop().as_nanos() as f64
    }

    fn latency(&mut self, plan: Plan, bytes: usize, count: usize) -> f64 {
        let mut times = match plan {
            Plan::SingleCopy => self.fetched(bytes, count).unwrap_or_default(),
            Plan::Short => {
                self.shape(bytes, 4);
                self.messages(bytes, count, true).0
            }
            Plan::Pipelined { packet, slots } => {
                self.shape(packet, slots);
                self.messages(bytes, count, true).0
            }
        };
        median(&mut times)
    }

    fn stream(&mut self, plan: Plan, bytes: usize, count: usize) -> f64 {
        match plan {
            Plan::SingleCopy => return self.latency(plan, bytes, count),
            Plan::Short => self.shape(bytes, 16),
            Plan::Pipelined { packet, slots } => self.shape(packet, slots),
        }
        self.messages(bytes, count, false).1 / count as f64
    }

    fn limit(&mut self, bytes: usize) -> f64 {
        let rounds = ((1 << 18) / bytes.max(1)).max(1);
        let mut times: Vec<f64> = (0..7)
            .map(|_| {
                let start = Instant::now();
                for _ in 0..rounds {
                    let from = black_box(&self.source[..bytes]);
                    self.spare[..bytes].copy_from_slice(from);
                    black_box(&self.spare);
                }
                start.elapsed().as_nanos() as f64 / rounds as f64
            })
            .collect();
        median(&mut times)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_any_length_pass_by_any_plan() {
        let mut raw = Raw::start(None);
        for bytes in [0, 1, 4096, 10_000, 1 << 20] {
            for plan in [
                Plan::Short,
                Plan::Pipelined { packet: 4096, slots: 4 },
                Plan::Pipelined { packet: 1024, slots: 1 },
            ] {
                assert!(raw.latency(plan, bytes, 3) > 0.0);
                assert!(raw.stream(plan, bytes, 3) > 0.0);
            }
        }
    }

    #[test]
    fn the_receiver_has_what_was_sent() {
        let from = vec![7u8; 10_000];
        let mut into = vec![0; 10_000];
        // A kernel may forbid it; then there is no single copy.
        if sys::copy_from(from.as_ptr() as usize, &mut into).is_ok() {
            assert_eq!(from, into);
            assert!(Raw::start(None).fetched(10_000, 2).is_some());
        }
        assert!(sys::copy_from(8, &mut into).is_err(), "nothing is at that address");
    }
}
