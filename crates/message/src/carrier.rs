//! What carries messages between ranks: the fabric's gateway, a simulated network, a test's queue.

use crate::board::Boards;
use crate::descriptor::HEAD;
use std::time::Duration;

/// Why bytes cannot be carried.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// A rank has ended, or its node is lost.
    #[error("rank {rank} is gone: {evidence}")]
    Gone {
        /// The rank, by its number in the job.
        rank: u32,
        /// How it is known.
        evidence: String,
    },
    /// The carrier itself has ended.
    #[error("{0}")]
    Broken(String),
    /// The run is not that of the log which it follows, and so it is to end.
    #[error("{0}")]
    Departs(String),
}

/// Bytes that have come and are still where the carrier has them: they are copied once, to where
/// they belong.
pub trait Bytes {
    /// How many were not read yet.
    fn left(&self) -> usize;

    /// Copies the next ones, of which there are so many.
    fn read(&mut self, into: &mut [u8]);
}

impl Bytes for &[u8] {
    fn left(&self) -> usize {
        self.len()
    }

    fn read(&mut self, into: &mut [u8]) {
        let (first, rest) = self.split_at(into.len());
        into.copy_from_slice(first);
        *self = rest;
    }
}

/// A part of a message that has come. The parts of one message come in order; those of several
/// senders may alternate.
pub struct Arrival<'a> {
    /// The rank that it is from, by its number in the job.
    pub from: u32,
    /// Bytes of the whole message, its head included.
    pub total: usize,
    /// Where in the message this part begins.
    pub offset: usize,
    /// The first 16 bytes of the message, as two little-endian words, where this part has them: all
    /// heads are that long. Else zeros.
    pub first: [u64; 2],
    /// The bytes behind them. What is not read is lost.
    pub bytes: &'a mut dyn Bytes,
}

impl<'a> Arrival<'a> {
    /// A part of a message whose first bytes have not been looked at.
    pub fn new(from: u32, total: usize, offset: usize, bytes: &'a mut dyn Bytes) -> Arrival<'a> {
        let mut first = [[0; 8]; 2];
        if offset == 0 && bytes.left() >= HEAD {
            bytes.read(first.as_flattened_mut());
        }
        Arrival { from, total, offset, first: first.map(u64::from_le_bytes), bytes }
    }
}

/// Takes a part of a message from where the carrier has it. A closure does; what is to be compiled
/// into the caller for certain is a type of its own, for nothing can be said of a closure's body.
pub trait Take {
    /// Takes it.
    fn take(&mut self, arrival: Arrival<'_>);
}

impl<F: FnMut(Arrival<'_>)> Take for F {
    #[inline]
    fn take(&mut self, arrival: Arrival<'_>) {
        self(arrival);
    }
}

/// Ends a wait of a carrier, from another thread: the one that goes on, or else the next.
pub type Alarm = Box<dyn Fn() + Send + Sync>;

/// Carries messages between the ranks of a job, each to one rank and in order. Ranks are named by
/// their numbers in the job; a rank sends itself nothing.
pub trait Carrier {
    /// Sends what there is room for of a message, from `offset` on, and returns how much that was:
    /// nothing where there is no room. `head` and `body` are one message; a head leaves in one
    /// part, with some of the body or without it.
    ///
    /// # Errors
    /// That the rank is gone, or the carrier is broken.
    fn send(&mut self, to: u32, head: &[u8], body: &[u8], offset: usize) -> Result<usize, Failure>;

    /// Takes the next part of a message if one is there; whether one was.
    ///
    /// # Errors
    /// That the carrier is broken.
    fn take(&mut self, take: &mut impl Take) -> Result<bool, Failure>;

    /// How many times it is worth to look for a message that is waited for before anything else is
    /// done: some, where it may come in less than a microsecond.
    fn looks(&self) -> u32 {
        0
    }

    /// Whether ranks take turns on processors: who looks in vain gives its own away for a moment.
    fn is_crowded(&self) -> bool {
        false
    }

    /// Somebody has asked whether something has come, and nothing has: looks where it does not
    /// look each time. Whether there is something now.
    ///
    /// # Errors
    /// That the carrier is broken.
    fn attend(&mut self) -> Result<bool, Failure> {
        Ok(false)
    }

    /// Somebody has asked whether something has come, and nothing has. How long others are to have
    /// the processor before it goes on, if they are: a moment (zero), or so long at most
    /// ([`Carrier::doze`]).
    fn asked_in_vain(&mut self) -> Option<Duration> {
        self.is_crowded().then_some(Duration::ZERO)
    }

    /// Sleeps until something has come, at most so long.
    ///
    /// # Errors
    /// That the carrier is broken.
    fn doze(&mut self, time: Duration) -> Result<(), Failure> {
        self.wait(&[], time)
    }

    /// The boards that this rank shares with some others, where there are any.
    fn boards(&mut self) -> Option<&mut dyn Boards> {
        None
    }

    /// Waits until something has come, or there is room again for one of those ranks; may end
    /// early, and does at the latest after that time.
    ///
    /// # Errors
    /// That the carrier is broken.
    fn wait(&mut self, room: &[u32], time: Duration) -> Result<(), Failure>;

    /// The time since some moment in the past, which is the same for all ranks of a machine.
    fn now(&self) -> Duration;

    /// What ends a wait; none where waits are short.
    fn alarm(&self) -> Option<Alarm> {
        None
    }

    /// Waits at most so long until all that was sent has come to where it goes, and says whether it
    /// has: what has only left may be lost when this rank ends.
    ///
    /// # Errors
    /// That the carrier is broken.
    fn has_delivered(&mut self, time: Duration) -> Result<bool, Failure>;

    /// From which length on messages to a rank are offered before they are sent.
    fn offered_from(&self, to: u32) -> usize;

    /// Whether a rank is known to have ended, and how.
    fn is_gone(&self, rank: u32) -> Option<Failure>;
}
