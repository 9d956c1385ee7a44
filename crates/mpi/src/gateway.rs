//! Messages between the processes of a job, carried by the fabric's gateway. Ranks are numbered
//! node by node, so a rank's number and its place tell each other.

use crate::courtesy::{self, Courtesy, NAP};
use crate::strobe::Node;
use muster_fabric::Error;
use muster_fabric::deadline::Deadline;
use muster_fabric::gateway::{self, Bytes, Piece, Place, Rank};
use muster_message::{Alarm, Arrival, Boards, Carrier, Failure, Spot, Take};
use rustix::time::ClockId;
use std::time::Duration;

/// From how many bytes on a message to the same node is offered. Through the ring it is copied
/// twice either way, and faster than the kernel copies once (`docs/decisions/near.md`); what has
/// not been asked for needs memory and a copy more at the receiver.
const OFFERED_NEAR: usize = 64 << 10;

/// From how many bytes on a message to another node is offered: what has not been asked for needs
/// memory at the receiver, but to ask takes two messages, and wakes two ranks that sleep. Half of
/// what may be under way still goes without.
const OFFERED_FAR: usize = (256 << 10) + 1;

/// A rank's end of the gateway, as what carries its messages.
pub struct Gateway {
    rank: Rank,
    /// The first rank of each node, and behind the last node how many there are.
    firsts: Vec<u32>,
    node: u32,
    /// Whom room is waited for.
    room: Vec<Place>,
    courtesy: Courtesy,
}

/// Looks for a message that is waited for: a few times what one needs from processor to processor.
const LOOKS: u32 = 64;

/// Bytes that are still in the node's segment, or in a connection.
struct Lying<'a, 'b>(&'a mut Bytes<'b>);

impl muster_message::Bytes for Lying<'_, '_> {
    #[inline]
    fn left(&self) -> usize {
        self.0.len()
    }

    #[inline(always)]
    fn read(&mut self, into: &mut [u8]) {
        self.0.read(into);
    }
}

/// Takes pieces as parts of messages from ranks by their numbers in the job.
struct Numbered<'a, T> {
    firsts: &'a [u32],
    take: &'a mut T,
}

impl<T: Take> gateway::Take for Numbered<'_, T> {
    #[inline(always)]
    fn take(&mut self, mut piece: Piece<'_>) {
        let (from, total) = (number(self.firsts, piece.from), piece.total as usize);
        let offset = piece.offset as usize;
        let first = if offset == 0 { piece.bytes.words() } else { None };
        let (first, bytes) = (first.unwrap_or_default(), &mut Lying(&mut piece.bytes));
        self.take.take(Arrival { from, total, offset, first, bytes });
    }
}

impl Gateway {
    /// The end of a rank that has joined.
    pub fn new(rank: Rank) -> Gateway {
        let mut firsts = vec![0];
        let mut first = 0;
        for ranks in rank.shape() {
            first += u32::from(*ranks);
            firsts.push(first);
        }
        let node = rank.place().node;
        Gateway { rank, firsts, node, room: Vec::new(), courtesy: Courtesy::default() }
    }

    /// This rank's number in the job.
    pub fn number(&self) -> u32 {
        number(&self.firsts, self.rank.place())
    }

    /// How many ranks the job has.
    pub fn size(&self) -> u32 {
        self.firsts.last().copied().unwrap_or(0)
    }

    /// The ranks of this node.
    pub fn neighbours(&self) -> std::ops::Range<u32> {
        let node = self.node as usize;
        self.firsts[node]..self.firsts[node + 1]
    }

    /// The first rank of this node.
    #[inline]
    fn first(&self) -> u32 {
        self.firsts[self.node as usize]
    }

    fn place(&self, number: u32) -> Place {
        let node = self.firsts.partition_point(|first| *first <= number) - 1;
        Place { node: node as u32, rank: number - self.firsts[node] }
    }

    /// Why nothing can be sent to a rank: it has ended, also where some of what it had sent is
    /// still to come; or nothing can be carried any more.
    fn failure(&self, to: u32, error: Error) -> Failure {
        match error {
            Error::Dead { peer, evidence } if peer == self.place(to).to_string() => {
                Failure::Gone { rank: to, evidence }
            }
            error => Failure::Broken(error.to_string()),
        }
    }
}

#[inline]
fn number(firsts: &[u32], place: Place) -> u32 {
    firsts[place.node as usize] + place.rank
}

/// The machine's monotonic clock.
pub fn now() -> Duration {
    courtesy::time(ClockId::Monotonic)
}

impl Node for Gateway {
    fn say_waits(&self, waits: bool) {
        self.rank.say_waits(waits);
    }

    fn all_wait(&self) -> bool {
        self.rank.all_wait()
    }
}

impl Boards for Gateway {
    fn seers(&self) -> std::ops::Range<u32> {
        self.neighbours()
    }

    #[inline]
    fn show(&mut self, spot: Spot, label: u32, bytes: &[u8]) {
        self.rank.show(of(spot), label, bytes);
    }

    #[inline]
    fn label(&self, rank: u32, spot: Spot) -> Option<u32> {
        self.rank.label(rank - self.first(), of(spot))
    }

    #[inline]
    fn read(&self, rank: u32, spot: Spot, into: &mut [u8]) {
        self.rank.read(rank - self.first(), of(spot), into);
    }

    fn expect(&mut self, spot: Spot, ranks: &mut dyn Iterator<Item = u32>) {
        let first = self.first();
        self.rank.expect(of(spot), ranks.map(|rank| rank - first));
    }

    fn linger(&mut self, spot: Spot) -> bool {
        self.rank.linger(of(spot))
    }

    fn has_shown(&self) -> bool {
        self.rank.has_shown()
    }

    #[inline]
    fn leave(&mut self, spot: Spot, ranks: &mut dyn Iterator<Item = u32>) {
        let first = self.first();
        self.rank.leave(of(spot), ranks.map(|rank| rank - first));
    }

    fn forget(&mut self, spot: Spot) {
        self.rank.forget(of(spot));
    }

    fn has_left(&self, rank: u32, spot: Spot) -> bool {
        self.rank.has_left(rank - self.first(), of(spot))
    }
}

#[inline]
fn of(Spot { board, number }: Spot) -> gateway::Spot {
    gateway::Spot { board, number }
}

impl Carrier for Gateway {
    #[inline]
    fn send(&mut self, to: u32, head: &[u8], body: &[u8], offset: usize) -> Result<usize, Failure> {
        match self.rank.try_send(self.place(to), head, body, offset) {
            Ok(sent) => Ok(sent),
            Err(Error::WouldBlock) => Ok(0),
            Err(error) => Err(self.failure(to, error)),
        }
    }

    #[inline]
    fn take(&mut self, take: &mut impl Take) -> Result<bool, Failure> {
        match self.rank.try_take(&mut Numbered { firsts: &self.firsts, take }) {
            Ok(()) => {
                self.courtesy.served();
                Ok(true)
            }
            Err(Error::WouldBlock) => Ok(false),
            Err(error) => Err(Failure::Broken(error.to_string())),
        }
    }

    #[inline]
    fn looks(&self) -> u32 {
        if self.is_crowded() { 0 } else { LOOKS }
    }

    #[inline]
    fn is_crowded(&self) -> bool {
        self.rank.is_crowded()
    }

    #[inline]
    fn attend(&mut self) -> Result<bool, Failure> {
        self.rank.attend().map_err(|error| Failure::Broken(error.to_string()))
    }

    #[inline]
    fn asked_in_vain(&mut self) -> Option<Duration> {
        if self.is_crowded() {
            return Some(Duration::ZERO);
        }
        self.courtesy.gives_way().then_some(NAP)
    }

    fn doze(&mut self, time: Duration) -> Result<(), Failure> {
        self.rank.doze(time).map_err(|error| Failure::Broken(error.to_string()))
    }

    #[inline]
    fn boards(&mut self) -> Option<&mut dyn Boards> {
        Some(self)
    }

    fn wait(&mut self, room: &[u32], time: Duration) -> Result<(), Failure> {
        self.courtesy.served();
        let mut places = std::mem::take(&mut self.room);
        places.clear();
        places.extend(room.iter().map(|number| self.place(*number)));
        let waited = self.rank.wait(&places, time);
        self.room = places;
        match waited {
            Ok(()) => Ok(()),
            Err(error) => Err(Failure::Broken(error.to_string())),
        }
    }

    #[inline]
    fn now(&self) -> Duration {
        now()
    }

    fn alarm(&self) -> Option<Alarm> {
        let alarm = self.rank.alarm();
        Some(Box::new(move || alarm.raise()))
    }

    fn has_delivered(&mut self, time: Duration) -> Result<bool, Failure> {
        match self.rank.flush(Deadline::after(time)) {
            Ok(()) => Ok(true),
            Err(Error::Deadline { .. }) => Ok(false),
            Err(error) => Err(Failure::Broken(error.to_string())),
        }
    }

    #[inline]
    fn offered_from(&self, to: u32) -> usize {
        if self.neighbours().contains(&to) { OFFERED_NEAR } else { OFFERED_FAR }
    }

    fn is_gone(&self, rank: u32) -> Option<Failure> {
        let evidence = || "its process or its node has ended".to_owned();
        let gone = self.rank.is_gone(self.place(rank));
        gone.then(|| Failure::Gone { rank, evidence: evidence() })
    }
}
