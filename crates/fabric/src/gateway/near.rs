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
//! *Chunks.* Lines that are used again and again are in the caches of both sides: before one is
//! written it is taken from the other, which takes longer than the copy. So pieces of 384 bytes and
//! more go to *chunks* of the sender, for all its rings, which it uses in turn: there are so many
//! that none is in a processor's own cache any more when it is written again. The entry says where
//! a piece begins. Chunks that a receiver leaves lying are passed over; where there are many of
//! these the ring's own lines serve, so no receiver waits for another.
//!
//! *Far processors.* Where the two share no cache at all, lines that go from cache to cache go one
//! after the other. Both sides see how long their copies take, and the receiver says so; then the
//! sender has what it writes go to memory, but for a piece now and then that shows whether this is
//! still so: a machine that is a guest may be moved.
//!
//! *Steps.* The sender writes the lines, then the entry, and its flag last. The receiver sees the
//! flag that it expects, copies the bytes to where they belong, and counts. Nobody waits for
//! anybody: wherever one side is stopped, the other finds the ring empty, or full.
//!
//! *Who looks at what.* The receiver looks at flags only, and says what it has freed each quarter
//! of a ring. The sender looks at that only when it knows of no room. Then there is room for a
//! piece at the latest when the receiver has taken all: three quarters are free. Chunks are for all
//! of a sender's rings: a receiver says earlier that it has taken some, before half of them could
//! be in use if all receivers had taken as many.
//!
//! *Many ranks.* A receiver looks at the rings that it *watches*, and tells their senders so. The
//! sender of any other sets a bit, and the receiver then watches that ring as well. When it watches
//! many, and finds nothing for a while, it leaves those that had nothing since it did so last. A
//! bit is set after the flag, and a ring is looked at once more after it was left, so nothing is
//! missed; and what a rank had sent that died before it could call, the daemon calls for.
//!
//! *Garbage.* An entry that cannot be is an error of who takes it, and the last that it looks at of
//! that ring: where the next one's lines are nobody knows. All other rings go on. Who says that it
//! has freed what was never sent is no rank that can be sent anything.
//!
//! *Sleep.* A flag, and a count of what was freed, are published before the word is looked at by
//! which the other side says that it sleeps (`gate.rs`), or that it watches; and whoever changes
//! such a word has a barrier before it looks once more (`barrier.rs`). So one of the two sees the
//! other.

mod pace;

use super::bytes::{Bytes, Parts};
use super::endpoint::Core;
use super::garbage::Garbage;
use super::layout::{About, CALLS, Memory, Process, Ring, Sleep};
use super::{Piece, Place, Take, barrier};
use muster_base::limits::{
    NEAR_CHUNK, NEAR_CHUNKS, NEAR_ENTRIES, NEAR_LINES, NEAR_LONG_PIECE, NEAR_PIECE,
};
use pace::Pace;

/// Bytes of a whole message that stand in its entry.
const SHORT: usize = 56;

/// Bytes of a piece's head that stand in its entry, behind the message's size and the piece's
/// offset.
const HEAD: usize = 40;

/// Bits of a flag, below the number: a piece of a longer message, bytes in the entry, bytes behind.
const PIECE: u64 = 1 << 31;
const INSIDE: u32 = 24;
const INSIDES: u64 = (PIECE >> INSIDE) - 1;
const BEHIND: u64 = (1 << INSIDE) - 1;

/// Bits of a piece's offset, below the number of the chunk in which the bytes behind begin: 1 is
/// the first, 0 says that they are in the ring's lines.
const CHUNK: u32 = 48;

/// The bit beside it that says that the sender's cache does not have them.
const STREAMED: u64 = 1 << 63;

/// From how many bytes on a piece goes to chunks.
const LONG: usize = 384;

fn chunks(bytes: usize) -> usize {
    bytes.div_ceil(NEAR_CHUNK)
}

/// From how many bytes on a message goes in long pieces. One of 32 KiB by itself would take longer.
const LONG_MESSAGE: usize = 64 * 1024;

/// From how many bytes on it matters where in a page a message's pieces begin. Of shorter ones it
/// matters more that they touch few pages: what the processor fetches ahead ends with a page.
const ALIASED: usize = 32 * 1024;
const PAGE: usize = 4096;
const IN_PAGE: usize = PAGE / NEAR_CHUNK;

const _: () = assert!(PAGE.is_multiple_of(NEAR_CHUNK) && NEAR_CHUNKS.is_multiple_of(IN_PAGE));

/// Where copies are slow, of how many pieces one goes to the receiver all the same.
const TRIED: u32 = 32;

/// A piece has at most so many bytes behind its entry, so that it always fits where three quarters
/// are free, even when some lines at the end are left out.
const _: () =
    assert!(NEAR_LINES.is_power_of_two() && NEAR_PIECE.div_ceil(64) * 2 <= NEAR_LINES / 4 * 3);

/// So many pieces are taken of one rank before it is looked whether others have some.
pub(super) const ROW: u32 = 16;

/// So much is left free behind a piece that another does not follow at once: while a receiver reads
/// one, its processor fetches the lines behind as well, and they would be taken from the sender's
/// cache just before the next piece is written there.
const GAP: usize = 512;

/// How many lines of a piece a receiver has its processor fetch at once, before it is known for
/// whom they are.
const FETCHED: usize = 16;

/// How many entries ahead a receiver has its processor fetch one.
const AHEAD: usize = 1;

/// How many entries ahead of the one that it writes a sender has a line fetched that sends several
/// in a row, where that one is free: its receiver does not look at it yet (docs/decisions/near.md).
const CLAIMED: usize = 4;

/// So many rings are looked at for 10 ns: they are never left. Loom has one only, and sees it left.
const FEW: u32 = if cfg!(any(loom, miri)) { 0 } else { 6 };

/// Looks that find nothing after which rings are left, 10 us at least: longer than the pauses of
/// those that talk to each other all the time, and a call costs 100 ns.
const IN_VAIN: u32 = if cfg!(any(loom, miri)) { 2 } else { 1024 };

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
#[derive(Clone, Copy)]
struct Out {
    ring: Ring,
    sent: Count,
    freed: Count,
    /// Whether the receiver says that its copies are slow, and what those here take.
    is_told: bool,
    pace: Pace,
    /// Pieces since copies are slow.
    streamed: u32,
    /// Whether something came of that rank since the last message to it: it waits for the answer.
    is_asked: bool,
}

/// What a receiver knows of one.
#[derive(Clone, Copy)]
struct In {
    ring: Ring,
    taken: Count,
    /// When a sender that sleeps for room was last to be woken.
    told: Count,
    /// Bytes in chunks that were taken since it was said last what is free.
    chunked: usize,
    /// Where the next entry's flag is, and what that begins with.
    flag: usize,
    tag: u64,
    pace: Pace,
}

/// What no flag begins with: of a ring that nothing is taken from.
const CLOSED: u64 = u64::MAX;

/// What a receiver finds in a piece's entry.
struct Found {
    total: u64,
    offset: u64,
    /// The bytes in the entry, and those behind it.
    spans: [(usize, usize); 2],
    next: Count,
    /// How many bytes of these are in chunks.
    chunked: usize,
    /// Whether they are, and were written through the sender's cache.
    is_timed: bool,
}

/// How many chunks a piece of a long message leaves out, so that it begins half a page away from
/// where it does in the sender's memory (`from`), and likely in the receiver's: a processor takes a
/// store for one to the word that it loads next if they are at the same place of a page, and waits.
fn skipped(first: usize, from: Option<usize>) -> usize {
    let Some(from) = from else { return 0 };
    let wanted = (from + PAGE / 2) % PAGE / NEAR_CHUNK;
    (wanted + IN_PAGE - first % IN_PAGE) % IN_PAGE
}

/// A sender's chunks.
struct Chunks {
    /// Which is next.
    next: usize,
    /// For whom each was used last, and the count of his ring behind that piece.
    uses: Vec<(usize, Count)>,
}

/// Pieces that are passed over before the ring's lines are taken.
const PASSED: usize = 8;

/// Bytes in chunks that a receiver has taken at most before it says so, whatever is left of its
/// ring: for its sender they are in use as long as it does not, also for messages to others.
const TAKEN: usize = 32 * 1024;

/// A set of ranks of a node.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Ranks([u64; CALLS]);

impl Ranks {
    #[inline]
    fn insert(&mut self, rank: usize) {
        self.0[rank / 64] |= 1 << (rank % 64);
    }

    fn remove(&mut self, rank: usize) {
        self.0[rank / 64] &= !(1 << (rank % 64));
    }

    fn contains(&self, rank: usize) -> bool {
        self.0[rank / 64] >> (rank % 64) & 1 == 1
    }

    fn count(&self) -> u32 {
        self.0.iter().map(|set| set.count_ones()).sum()
    }

    /// The first from a rank on that is one of these and is chosen.
    #[inline]
    fn find(&self, from: usize, mut choose: impl FnMut(usize) -> bool) -> Option<usize> {
        for set in from / 64..CALLS {
            let mut left = self.0[set];
            if set == from / 64 {
                left &= u64::MAX << (from % 64);
            }
            while left != 0 {
                let rank = set * 64 + left.trailing_zeros() as usize;
                left &= left - 1;
                if choose(rank) {
                    return Some(rank);
                }
            }
        }
        None
    }
}

/// A rank's ends of the rings to and from the others of its node.
pub(super) struct Near {
    to: Vec<Out>,
    from: Vec<In>,
    chunks: Chunks,
    /// Whose rings are looked at, and of whom something came since some were left.
    watched: Ranks,
    talking: Ranks,
    /// Bytes in chunks that are taken of a rank before that is said.
    most: usize,
    /// Looks since then that have found nothing.
    in_vain: u32,
    /// From whom the last piece came, and how often it was looked for more of him first.
    last: usize,
    row: u32,
    /// What its sender wrote that cannot be; nobody was told yet.
    garbage: Option<Garbage>,
}

impl Near {
    pub(super) fn new<M: Memory>(core: &Core<M>) -> Near {
        let here = core.layout.here();
        let out = |to| Out {
            ring: core.layout.ring(core.me, to),
            sent: Count::default(),
            freed: Count::default(),
            is_told: false,
            pace: Pace::default(),
            streamed: 0,
            is_asked: false,
        };
        let start = |from| In {
            ring: core.layout.ring(from, core.me),
            taken: Count::default(),
            told: Count::default(),
            chunked: 0,
            flag: core.layout.ring(from, core.me).entry(0),
            // Nobody sends itself anything.
            tag: if from == core.me { CLOSED } else { Count::default().tag() },
            pace: Pace::default(),
        };
        Near {
            to: (0..here).map(out).collect(),
            from: (0..here).map(start).collect(),
            chunks: Chunks { next: 0, uses: vec![Default::default(); NEAR_CHUNKS] },
            watched: Ranks::default(),
            talking: Ranks::default(),
            most: TAKEN.min(NEAR_CHUNKS * NEAR_CHUNK / 2 / here.max(1)),
            in_vain: 0,
            last: 0,
            row: 0,
            garbage: None,
        }
    }

    /// As if all the others had found that copies by the caches are slow.
    #[cfg(test)]
    pub(super) fn be_slow<M: Memory>(&mut self, core: &Core<M>) {
        for (rank, to) in self.to.iter_mut().enumerate() {
            to.is_told = true;
            if core.me < core.layout.here() {
                core.memory.store(core.layout.about(core.me, rank, About::Slow), 1);
            }
        }
    }

    /// Whether a piece can be sent to a rank, or none will ever be.
    pub(super) fn has_room<M: Memory>(&mut self, core: &Core<M>, to: usize) -> bool {
        let lines = NEAR_PIECE.div_ceil(64);
        self.fits(core, to, lines) || core.is_over(to) || self.misled(core, to).is_some()
    }

    /// What is wrong with what a rank says that it has freed.
    pub(super) fn misled<M: Memory>(&mut self, core: &Core<M>, to: usize) -> Option<Garbage> {
        let freed = self.hear_freed(core, to);
        let (entries, lines) = self.to[to].sent.beyond(freed);
        let what = "it has freed more of a ring than was sent";
        (entries > NEAR_ENTRIES || lines > NEAR_LINES).then(|| garbage(core, to, what))
    }

    /// Whether nothing is taken from a rank any more, because what it wrote could not be.
    pub(super) fn is_closed(&self, from: usize) -> bool {
        self.from[from].tag == CLOSED
    }

    /// Whether there is room for an entry, and for so many lines in a row.
    #[inline]
    fn fits<M: Memory>(&mut self, core: &Core<M>, to: usize, lines: usize) -> bool {
        let Out { sent, freed, .. } = self.to[to];
        let (_, next) = sent.next(lines);
        let fits = |freed: Count| {
            let (entries, lines) = next.beyond(freed);
            // Where this one is freed already the receiver lies.
            (1..=NEAR_ENTRIES).contains(&entries) && lines <= NEAR_LINES
        };
        fits(freed) || fits(self.hear_freed(core, to))
    }

    /// What a receiver says that it has freed; and how its copies are.
    fn hear_freed<M: Memory>(&mut self, core: &Core<M>, to: usize) -> Count {
        let freed = Count::of(core.memory.load(core.layout.about(core.me, to, About::Freed)));
        let is_told = core.memory.load(core.layout.about(core.me, to, About::Slow)) == 1;
        let to = &mut self.to[to];
        (to.freed, to.is_told) = (freed, is_told);
        freed
    }

    /// Writes what is behind an entry to chunks, or to memory where copies by the caches are slow;
    /// whether it did that.
    fn write_chunks<M: Memory>(
        &mut self,
        core: &Core<M>,
        to: usize,
        (piece, at): (Parts<'_>, usize),
    ) -> bool {
        let to = &mut self.to[to];
        to.streamed = if to.is_told || to.pace.is_slow { to.streamed.wrapping_add(1) } else { 0 };
        if !to.streamed.is_multiple_of(TRIED) {
            piece.stream(&core.memory, at);
            return true;
        }
        let begun = to.pace.begin(piece.len());
        piece.write(&core.memory, at);
        to.pace.end(begun, piece.len());
        false
    }

    /// The next chunks in a row that are free, unless too many on the way are not; `from` as in
    /// [`skipped`].
    fn free_chunks<M: Memory>(
        &mut self,
        core: &Core<M>,
        count: usize,
        from: Option<usize>,
    ) -> Option<usize> {
        let mut first = self.chunks.next;
        for _ in 0..PASSED {
            first += skipped(first, from);
            if first + count > NEAR_CHUNKS {
                first = skipped(0, from);
            }
            let Some(used) = (first..first + count).rfind(|chunk| self.is_used(core, *chunk))
            else {
                self.chunks.next = first + count;
                return Some(first);
            };
            first = used + 1;
        }
        // The next one goes on from here.
        self.chunks.next = first;
        None
    }

    /// Whether there is something in a chunk that was not freed.
    fn is_used<M: Memory>(&mut self, core: &Core<M>, chunk: usize) -> bool {
        let (to, sent) = self.chunks.uses[chunk];
        // What was sent longer ago than a ring is long has been freed.
        let is_used = |freed| (1..=NEAR_ENTRIES).contains(&sent.beyond(freed).0);
        // Who has ended frees nothing, and reads nothing any more.
        is_used(self.to[to].freed) && is_used(self.hear_freed(core, to)) && !core.is_over(to)
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
        let Out { ring, sent, freed, is_asked, .. } = self.to[to];
        let entry = ring.entry(sent.entry());
        message.write(&core.memory, entry + 1);
        core.memory.publish(entry, sent.tag() << 32 | (total as u64) << INSIDE);
        if !is_asked && sent.beyond(freed).0 + CLAIMED < NEAR_ENTRIES {
            core.memory.claim(ring.entry((sent.entry() + CLAIMED) % NEAR_ENTRIES));
        }
        core.call_unwatched(to);
        let to = &mut self.to[to];
        (to.sent, to.is_asked) = (sent.next(0).1, false);
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
        let most = if total >= LONG_MESSAGE { NEAR_LONG_PIECE } else { NEAR_PIECE };
        let mut end = total.min(start + most);
        let is_chunked = end - start >= LONG && self.fits(core, to, 0);
        let from = (total >= ALIASED).then(|| message.cut(start, end).body.as_ptr().addr());
        let gap = if end == total || total < ALIASED { GAP } else { 0 };
        let room = chunks(end - start + gap);
        let chunk = if is_chunked { self.free_chunks(core, room, from) } else { None };
        if chunk.is_none() {
            end = total.min(start + NEAR_PIECE);
        }
        let (bytes, piece) = (end - start, message.cut(start, end));
        let lines = if chunk.is_some() { 0 } else { bytes.div_ceil(64) };
        if !self.fits(core, to, lines) {
            return None;
        }
        let Out { ring, sent, .. } = self.to[to];
        let (line, next) = sent.next(lines);
        let (mut place, mut at) = (0, ring.line(line));
        if let Some(chunk) = chunk {
            self.chunks.uses[chunk..chunk + chunks(bytes)].fill((to, next));
            place = (chunk as u64 + 1) << CHUNK;
            at = core.layout.chunk(core.me, chunk);
            if self.write_chunks(core, to, (piece, at)) {
                place |= STREAMED;
            }
        } else {
            piece.write(&core.memory, at);
        }
        if self.to[to].is_asked && total < ALIASED && place & STREAMED == 0 {
            core.memory.pass_on(at, bytes);
        }
        let entry = ring.entry(sent.entry());
        core.memory.store(entry + 1, total as u64);
        core.memory.store(entry + 2, place | offset as u64);
        message.cut(offset, start).write(&core.memory, entry + 3);
        let sizes = (inside as u64) << INSIDE | bytes as u64;
        core.memory.publish(entry, sent.tag() << 32 | PIECE | sizes);
        core.call_unwatched(to);
        if self.to[to].is_asked && total <= PAGE + HEAD && chunk.is_some() {
            self.claim_chunks(core, total);
        }
        let to = &mut self.to[to];
        to.sent = next;
        to.is_asked &= end < total;
        Some(end - offset)
    }

    /// Fetches the lines to which a message as long as this one goes: who has answered waits now.
    fn claim_chunks<M: Memory>(&self, core: &Core<M>, bytes: usize) {
        let next = self.chunks.next;
        let first = if next + chunks(bytes) > NEAR_CHUNKS { 0 } else { next };
        let at = core.layout.chunk(core.me, first);
        (0..bytes.div_ceil(64)).for_each(|line| core.memory.claim(at + line * 8));
    }

    /// The rank of which there is a piece, after the one of which the last one was, and its flag.
    #[inline]
    fn find<M: Memory>(&mut self, core: &Core<M>) -> Option<(usize, u64)> {
        // Who has sent something has often sent more; but others are to have their turn.
        self.row = (self.row + 1) % ROW;
        if self.row != 0 {
            let In { flag, tag, .. } = self.from[self.last];
            let flag = core.memory.load(flag);
            if flag >> 32 == tag {
                return Some((self.last, flag));
            }
        }
        self.find_any(core)
    }

    fn find_any<M: Memory>(&mut self, core: &Core<M>) -> Option<(usize, u64)> {
        self.hear(core);
        let mut flag = 0;
        let mut has_piece = |from: usize| {
            flag = core.memory.load(self.from[from].flag);
            flag >> 32 == self.from[from].tag
        };
        let found = self.watched.find(self.last + 1, &mut has_piece);
        let found = found.or_else(|| self.watched.find(0, has_piece));
        if found.is_none() {
            self.in_vain += 1;
            if self.in_vain >= IN_VAIN {
                self.leave(core);
            }
        }
        found.map(|from| (from, flag))
    }

    /// Watches the rings of those who have called.
    #[inline]
    fn hear<M: Memory>(&mut self, core: &Core<M>) {
        for set in 0..self.from.len().div_ceil(64) {
            let called = core.layout.process(core.me, Process::Called) + set;
            if core.memory.load(called) == 0 {
                continue;
            }
            let mut called = Ranks::default();
            called.0[set] = core.memory.take(core.layout.process(core.me, Process::Called) + set);
            called.find(0, |from| {
                if from < self.from.len() && from != core.me {
                    self.watched.insert(from);
                    self.talking.insert(from);
                    let watched = core.layout.about(from, core.me, About::Watched);
                    core.memory.store(watched, 1);
                }
                false
            });
        }
    }

    /// Watches those no more that had nothing for a while.
    fn leave<M: Memory>(&mut self, core: &Core<M>) {
        self.in_vain = 0;
        let (watched, talking) = (self.watched, std::mem::take(&mut self.talking));
        // Who cannot fence others would not see what they send meanwhile.
        if watched.count() <= FEW || !barrier::is_registered() {
            return;
        }
        let is_left = |from: usize| watched.contains(from) && !talking.contains(from);
        let left = (0..self.from.len()).filter(|from| is_left(*from));
        for from in left.clone() {
            core.memory.store(core.layout.about(from, core.me, About::Watched), 0);
            self.watched.remove(from);
        }
        core.memory.barrier();
        for from in left {
            let In { flag, tag, .. } = self.from[from];
            // What cannot be known to be empty is looked at once more.
            if core.memory.load(flag) >> 32 == tag || !barrier::is_registered() {
                core.call(from, core.me);
            }
        }
    }

    /// Whether a piece can be taken.
    #[inline]
    pub(super) fn is_ready<M: Memory>(&mut self, core: &Core<M>) -> bool {
        self.find(core).is_some()
    }

    /// Takes the next piece, if there is one; who is to be woken because there is room again. When
    /// none was taken what was there may have been [`Near::garbage`].
    #[inline]
    pub(super) fn take<M: Memory>(
        &mut self,
        core: &Core<M>,
        take: &mut impl Take,
    ) -> Option<Option<usize>> {
        let (from, flag) = self.find(core)?;
        self.last = from;
        self.talking.insert(from);
        self.to[from].is_asked = true;
        let In { ring, taken, flag: entry, .. } = self.from[from];
        // What the sender has written already comes while this one is seen to.
        core.memory.expect(ring.entry((taken.entry() + AHEAD) % NEAR_ENTRIES));
        if flag & PIECE != 0 {
            return self.take_piece(core, (from, flag), take);
        }
        let (inside, behind) = sizes(flag);
        if inside > SHORT || behind > 0 {
            return self.close(core, from, "an entry with more than an entry holds");
        }
        let bytes = Bytes::new(&core.memory, [(entry + 1, inside), (entry, 0)]);
        take.take(Piece { from: place(core, from), total: inside as u64, offset: 0, bytes });
        Some(self.go_on(core, from, (taken.next(0).1, 0)))
    }

    fn take_piece<M: Memory>(
        &mut self,
        core: &Core<M>,
        (from, flag): (usize, u64),
        take: &mut impl Take,
    ) -> Option<Option<usize>> {
        let found = match self.look_at(core, from, flag) {
            Ok(found) => found,
            Err(what) => return self.close(core, from, what),
        };
        let Found { total, offset, spans, next, chunked, is_timed } = found;
        let behind = spans[1].1;
        let begun = if is_timed { self.from[from].pace.begin(behind) } else { None };
        let bytes = Bytes::new(&core.memory, spans);
        take.take(Piece { from: place(core, from), total, offset, bytes });
        let pace = &mut self.from[from].pace;
        if pace.end(begun, behind) {
            let slow = core.layout.about(from, core.me, About::Slow);
            core.memory.store(slow, pace.is_slow.into());
        }
        Some(self.go_on(core, from, (next, chunked)))
    }

    /// What was taken is counted; who is to be woken because there is room again.
    #[inline]
    fn go_on<M: Memory>(
        &mut self,
        core: &Core<M>,
        from: usize,
        (next, chunked): (Count, usize),
    ) -> Option<usize> {
        let state = &mut self.from[from];
        (state.taken, state.tag) = (next, next.tag());
        state.flag = state.ring.entry(next.entry());
        state.chunked += chunked;
        let (entries, lines) = next.beyond(state.told);
        let is_quarter = entries >= NEAR_ENTRIES / 4 || lines >= NEAR_LINES / 4;
        if !is_quarter && state.chunked < self.most {
            return None;
        }
        core.memory.publish(core.layout.about(from, core.me, About::Freed), next.word());
        state.chunked = 0;
        if !is_quarter {
            // Nobody sleeps for want of chunks.
            return None;
        }
        state.told = next;
        let asleep = core.memory.load(core.layout.process(from, Process::Asleep));
        (asleep == Sleep::Room as u64).then_some(from)
    }

    /// Nothing more is taken from a rank.
    #[cold]
    fn close<T, M: Memory>(
        &mut self,
        core: &Core<M>,
        from: usize,
        what: &'static str,
    ) -> Option<T> {
        self.from[from].tag = CLOSED;
        self.garbage = Some(garbage(core, from, what));
        None
    }

    /// What was found since this was asked last, if anything was. To return it where a piece is
    /// taken would cost each of them some nanoseconds.
    #[inline]
    pub(super) fn garbage(&mut self) -> Option<Garbage> {
        self.garbage.take()
    }

    /// What is in a piece's entry and behind it. Each word is read once: what a rank writes
    /// meanwhile that cannot be changes nothing any more.
    #[inline]
    fn look_at<M: Memory>(
        &self,
        core: &Core<M>,
        from: usize,
        flag: u64,
    ) -> Result<Found, &'static str> {
        let In { ring, taken, flag: entry, .. } = self.from[from];
        let (inside, behind) = sizes(flag);
        let [total, place] = [1, 2].map(|word| core.memory.load(entry + word));
        let (chunk, offset) = ((place & !STREAMED) >> CHUNK, place & ((1 << CHUNK) - 1));
        let chunk = chunk as usize;
        let most = if chunk > 0 { NEAR_LONG_PIECE } else { NEAR_PIECE };
        if inside > HEAD || behind > most {
            return Err("a piece that is too long");
        }
        // An offset has 48 bits, so this is no more than a word holds.
        if offset + (inside + behind) as u64 > total {
            return Err("a piece outside of its message");
        }
        if chunk > 0 && chunk - 1 + chunks(behind) > NEAR_CHUNKS {
            return Err("a piece in chunks that there are not");
        }
        let (line, next) = taken.next(if chunk > 0 { 0 } else { behind.div_ceil(64) });
        let body = match chunk {
            0 => ring.line(line),
            _ => core.layout.chunk(from, chunk - 1),
        };
        for line in 0..behind.div_ceil(64).min(FETCHED) {
            core.memory.expect(body + line * 8);
        }
        let (is_timed, chunked) =
            (chunk > 0 && place & STREAMED == 0, behind * usize::from(chunk > 0));
        let spans = [(entry + 3, inside), (body, behind)];
        Ok(Found { total, offset, spans, next, chunked, is_timed })
    }
}

/// How many bytes a flag says there are in its entry, and behind it.
fn sizes(flag: u64) -> (usize, usize) {
    ((flag >> INSIDE & INSIDES) as usize, (flag & BEHIND) as usize)
}

fn place<M: Memory>(core: &Core<M>, rank: usize) -> Place {
    Place { node: core.layout.node as u32, rank: rank as u32 }
}

#[cold]
fn garbage<M: Memory>(core: &Core<M>, rank: usize, what: &'static str) -> Garbage {
    Garbage { of: place(core, rank), what }
}

impl<M: Memory> Core<M> {
    /// Has a rank here look at the ring from another.
    pub(super) fn call(&self, from: usize, to: usize) {
        let called = self.layout.process(to, Process::Called) + from / 64;
        self.memory.set(called, 1 << (from % 64));
    }

    /// Has a rank here look, if it does not do so anyway.
    #[inline]
    fn call_unwatched(&self, to: usize) {
        if self.memory.load(self.layout.about(self.me, to, About::Watched)) == 0 {
            self.call(self.me, to);
        }
    }

    /// Whether a rank here has ended.
    pub(super) fn is_over(&self, rank: usize) -> bool {
        self.memory.load(self.layout.process(rank, Process::Ended)) == 1
    }
}
