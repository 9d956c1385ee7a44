//! Messages between ranks of one node: a ring for each two, in each direction, of which only the
//! sender writes the one part and only the receiver the other.
//!
//! *Layout.* A ring is entries of one cache line, then lines for what does not fit there, then, far
//! away from both, a line in which the receiver counts what it has freed. An entry's first word is
//! its *flag*: its number, so that the one of a lap ago looks different, and how many bytes there
//! are. A message of up to 56 bytes stands behind its flag, and is one line that moves from one
//! processor's cache to another's. Of a longer one each piece is an entry, which has the message's
//! head behind its flag, and lines in a row; both sides know where these are by counting.
//!
//! *Steps.* The sender writes the lines, then the entry, and its flag last. The receiver sees the
//! flag that it expects, copies the bytes to where they belong, and counts. Nobody waits for
//! anybody: wherever one side is stopped, the other finds the ring empty, or full.
//!
//! *Who looks at what.* The receiver looks at flags only, and says what it has freed each quarter
//! of a ring. The sender looks at that only when it knows of no room. Then there is room for a
//! piece at the latest when the receiver has taken all: three quarters are free.
//!
//! *Sleep.* A flag, and a count of what was freed, are published before the word is looked at by
//! which the other side says that it sleeps (`gate.rs`); so one of the two sees the other.

use super::bytes::{Bytes, Parts};
use super::endpoint::Core;
use super::layout::{Memory, Process, Sleep};
use super::{Piece, Place};
use muster_base::limits::{NEAR_ENTRIES, NEAR_LINES, NEAR_PIECE};

/// Bytes of a whole message that stand in its entry.
const SHORT: usize = 56;

/// Bytes of a piece's head that stand in its entry, behind the message's size and the piece's
/// offset.
const HEAD: usize = 40;

/// Bits of a flag, below the number: a piece of a longer message, bytes in the entry, bytes behind.
const PIECE: u64 = 1 << 31;
const INSIDE: u32 = 24;
const BEHIND: u64 = (1 << INSIDE) - 1;

/// A piece has at most so many bytes behind its entry, so that it always fits where three quarters
/// are free, even when some lines at the end are left out.
const _: () =
    assert!(NEAR_LINES.is_power_of_two() && NEAR_PIECE.div_ceil(64) * 2 <= NEAR_LINES / 4 * 3);

/// What one side counts: entries, and lines. Those that are left out are counted as well.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Count {
    entries: u32,
    lines: u32,
}

impl Count {
    fn word(self) -> u64 {
        u64::from(self.entries) << 32 | u64::from(self.lines)
    }

    fn of(word: u64) -> Count {
        Count { entries: (word >> 32) as u32, lines: word as u32 }
    }

    /// How much more this is.
    fn beyond(self, other: Count) -> (usize, usize) {
        let entries = self.entries.wrapping_sub(other.entries) as usize;
        (entries, self.lines.wrapping_sub(other.lines) as usize)
    }

    /// The next entry.
    fn entry(self) -> usize {
        self.entries as usize % NEAR_ENTRIES
    }

    /// What its flag begins with.
    fn tag(self) -> u64 {
        u64::from(self.entries.wrapping_add(1))
    }

    /// Where `lines` lines in a row begin, and the count behind them and the entry.
    fn next(self, lines: usize) -> (usize, Count) {
        let at = self.lines as usize % NEAR_LINES;
        let (at, skipped) = if at + lines > NEAR_LINES { (0, NEAR_LINES - at) } else { (at, 0) };
        let lines = self.lines.wrapping_add((skipped + lines) as u32);
        (at, Count { entries: self.entries.wrapping_add(1), lines })
    }
}

/// What a sender knows of a ring.
#[derive(Clone, Copy, Default)]
struct Out {
    sent: Count,
    freed: Count,
}

/// What a receiver knows of one.
#[derive(Clone, Copy, Default)]
struct In {
    taken: Count,
    told: Count,
}

/// A rank's ends of the rings to and from the others of its node.
pub(super) struct Near {
    to: Vec<Out>,
    from: Vec<In>,
    /// From whom the last piece came.
    last: usize,
}

impl Near {
    pub(super) fn new(here: usize) -> Near {
        Near { to: vec![Out::default(); here], from: vec![In::default(); here], last: 0 }
    }

    /// Whether a piece can be sent to a rank, or it has ended.
    pub(super) fn has_room<M: Memory>(&mut self, core: &Core<M>, to: usize) -> bool {
        let lines = NEAR_PIECE.div_ceil(64);
        self.fits(core, to, lines) || core.is_over(to)
    }

    /// Whether there is room for an entry, and for so many lines in a row.
    #[inline]
    fn fits<M: Memory>(&mut self, core: &Core<M>, to: usize, lines: usize) -> bool {
        let Out { sent, freed } = self.to[to];
        let (_, next) = sent.next(lines);
        let fits = |freed| {
            let (entries, lines) = next.beyond(freed);
            entries <= NEAR_ENTRIES && lines <= NEAR_LINES
        };
        fits(freed) || {
            let freed = Count::of(core.memory.load(core.layout.freed(core.me, to)));
            self.to[to].freed = freed;
            fits(freed)
        }
    }

    /// Sends the next piece of a message, from `offset` on; how many bytes that were, or none where
    /// there is no room. The caller then wakes who sleeps.
    #[inline]
    pub(super) fn send<M: Memory>(
        &mut self,
        core: &Core<M>,
        to: usize,
        message: Parts<'_>,
        offset: usize,
    ) -> Option<usize> {
        let total = message.len();
        if total > SHORT || offset > 0 {
            return self.send_piece(core, to, message, offset);
        }
        if !self.fits(core, to, 0) {
            return None;
        }
        let sent = self.to[to].sent;
        let entry = core.layout.entry(core.me, to, sent.entry());
        message.write(&core.memory, entry + 1);
        core.memory.publish(entry, sent.tag() << 32 | (total as u64) << INSIDE);
        self.to[to].sent = sent.next(0).1;
        Some(total)
    }

    fn send_piece<M: Memory>(
        &mut self,
        core: &Core<M>,
        to: usize,
        message: Parts<'_>,
        offset: usize,
    ) -> Option<usize> {
        let inside = message.head.len().saturating_sub(offset).min(HEAD);
        let (start, total) = (offset + inside, message.len());
        assert!(offset <= total, "{offset} is behind a message of {total} bytes");
        let end = total.min(start + NEAR_PIECE);
        let lines = (end - start).div_ceil(64);
        if !self.fits(core, to, lines) {
            return None;
        }
        let sent = self.to[to].sent;
        let (line, next) = sent.next(lines);
        message.cut(start, end).write(&core.memory, core.layout.line(core.me, to, line));
        let entry = core.layout.entry(core.me, to, sent.entry());
        core.memory.store(entry + 1, total as u64);
        core.memory.store(entry + 2, offset as u64);
        message.cut(offset, start).write(&core.memory, entry + 3);
        let sizes = (inside as u64) << INSIDE | (end - start) as u64;
        core.memory.publish(entry, sent.tag() << 32 | PIECE | sizes);
        self.to[to].sent = next;
        Some(end - offset)
    }

    /// The rank of which there is a piece, after the one of which the last one was, and its flag.
    #[inline]
    fn find<M: Memory>(&self, core: &Core<M>) -> Option<(usize, u64)> {
        let here = self.from.len();
        let (mut from, mut left) = (self.last, here);
        while left > 0 {
            from = if from + 1 == here { 0 } else { from + 1 };
            left -= 1;
            let taken = self.from[from].taken;
            let flag = core.memory.load(core.layout.entry(from, core.me, taken.entry()));
            if flag >> 32 == taken.tag() && from != core.me {
                return Some((from, flag));
            }
        }
        None
    }

    /// Whether a piece can be taken.
    #[inline]
    pub(super) fn is_ready<M: Memory>(&self, core: &Core<M>) -> bool {
        self.find(core).is_some()
    }

    /// Takes the next piece: of whom, and whether he is to be woken because there is room again.
    #[inline]
    pub(super) fn take<M: Memory>(
        &mut self,
        core: &Core<M>,
        take: &mut dyn FnMut(Piece<'_>),
    ) -> Option<Option<usize>> {
        let (from, flag) = self.find(core)?;
        self.last = from;
        let In { taken, told } = self.from[from];
        let entry = core.layout.entry(from, core.me, taken.entry());
        // What a rank writes that cannot be harms its own job, but reaches nothing else.
        let inside = (flag >> INSIDE) as usize & 0x3f;
        let behind = ((flag & BEHIND) as usize).min(NEAR_PIECE);
        let is_piece = flag & PIECE != 0;
        let (line, next) = taken.next(behind.div_ceil(64));
        let (total, offset, head) = if is_piece {
            let [total, offset] = [1, 2].map(|word| core.memory.load(entry + word));
            (total, offset, (entry + 3, inside.min(HEAD)))
        } else {
            (inside as u64, 0, (entry + 1, inside.min(SHORT)))
        };
        let body = (core.layout.line(from, core.me, line), behind);
        let bytes = Bytes::new(&core.memory, [head, body]);
        let place = Place { node: core.layout.node as u32, rank: from as u32 };
        take(Piece { from: place, total, offset, bytes });
        self.from[from].taken = next;
        let (entries, lines) = next.beyond(told);
        if entries < NEAR_ENTRIES / 4 && lines < NEAR_LINES / 4 {
            return Some(None);
        }
        core.memory.publish(core.layout.freed(from, core.me), next.word());
        self.from[from].told = next;
        let asleep = core.memory.load(core.layout.process(from, Process::Asleep));
        Some((asleep == Sleep::Room as u64).then_some(from))
    }
}

impl<M: Memory> Core<M> {
    /// Whether a rank here has ended.
    pub(super) fn is_over(&self, rank: usize) -> bool {
        self.memory.load(self.layout.process(rank, Process::Ended)) == 1
    }
}
