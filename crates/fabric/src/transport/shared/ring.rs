//! One direction of a connection: a ring of records from one producer to one consumer, over memory
//! that both can write.
//!
//! *Layout.* [`ENTRIES`] entries of [`ENTRY`] bytes (two cache lines), an arena, and a count of
//! what the consumer has freed. An entry ends with its *flag*, a word of which the high half is a
//! tag (the record's number plus one), the low half its kind and size. A short message stands in
//! the entry: right before the flag where it fits the flag's line, so it moves with it from cache
//! to cache; else from the entry's beginning, because words that lie across two lines take longer.
//! The line of the flag, at which the consumer looks, is the last one written: were bytes written
//! to another line in between, the consumer's look would take the flag's line away, and it would
//! have to be fetched again. While it looks it asks for the other line too, so both come at once.
//! A longer message, or a packet of one, stands in the arena, and the entry says where.
//!
//! *Steps.* The producer writes the bytes, then the flag (release). The consumer sees the flag
//! whose tag it expects (acquire), reads the bytes where they are, then counts them as freed
//! (release). Each side writes words of its own only and waits for nothing, so wherever a side is
//! stopped, the other goes on: it finds the ring empty, or full. The tag makes an entry's last
//! record, a lap ago, look different; no step has to clean up.
//!
//! *Distrust.* The memory is the peer's too. Each word of it is read once and checked against what
//! this side knows in private: the arena is given out by the producer from private state, the
//! consumer checks every place it is told. What cannot be is [`Garbage`], never a wild access.
//! Bytes of a message in place could still be changed by a peer that breaks the rules while they
//! are read; who does not trust the peer copies first (`link.rs`).
//!
//! *Sleep.* Who is about to sleep says so in a word of its own, then looks again; who has published
//! something looks at that word afterwards. A full fence on both sides between the two steps, and
//! one of the two sees the other ([`announce`], [`wakes`]).
//!
//! All of it is generic over [`Cells`] and [`Sleep`], so that loom tries every interleaving and a
//! test stops either side at each access.
#![allow(unsafe_code)]

use super::sys::Mapped;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};

/// Entries of a ring: enough for the packets that are under way, and few enough (16 KiB) to stay in
/// the first cache.
pub(crate) const ENTRIES: usize = 128;

/// Bytes of an entry.
pub(crate) const ENTRY: usize = 128;

/// The longest message that stands in its entry.
pub(crate) const INLINE: usize = ENTRY - FLAG;

/// Bytes of a flag.
const FLAG: usize = 8;

/// Where in an entry its flag is: at the end, behind what it belongs to.
pub(crate) const FLAG_AT: usize = ENTRY - FLAG;

/// What records in the arena are aligned to.
pub(crate) const LINE: usize = 64;

/// The kind's place in a flag; the size is below.
const KIND: u32 = 28;

/// What a record is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A message.
    Whole = 1,
    /// The first packet of a message; `extra` is the message's size.
    First = 2,
    /// The next packet.
    More = 3,
    /// The message that has begun is not sent after all.
    Abort = 4,
    /// A message of `extra` bytes, offered in the sender's memory (`offer.rs`).
    Offer = 5,
    /// Bytes that are measured and thrown away (`trial.rs`).
    Trial = 6,
}

/// Where a record's bytes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// In this entry.
    Entry(usize),
    /// In the arena, from here.
    Arena(usize),
}

/// A record, checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    pub(crate) kind: Kind,
    pub(crate) place: Place,
    pub(crate) size: usize,
    /// See [`Kind`]; only for records that are not [`Place::Entry`].
    pub(crate) extra: u64,
}

/// What there is to receive, at first glance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Glance {
    /// No record, or what is none.
    Nothing,
    /// A message of this size in its entry.
    Short(usize),
    /// A record in the arena.
    Other,
}

/// What the peer wrote cannot be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Garbage(pub(crate) &'static str);

/// The shared memory of one direction.
pub(crate) trait Cells {
    /// Entries of the ring.
    const ENTRIES: usize;
    /// Reads an entry's flag; what was written before it can be read after (acquire).
    fn flag(&self, entry: usize) -> u64;
    /// Writes it (release).
    fn set_flag(&self, entry: usize, flag: u64);
    /// The entry is looked at until its flag comes: its other line may be fetched meanwhile.
    fn expect(&self, _entry: usize) {}
    /// How many records the consumer has freed (acquire).
    fn freed(&self) -> u64;
    /// Says so (release).
    fn set_freed(&self, count: u64);
    /// Bytes of the arena.
    fn arena(&self) -> usize;
    /// Gives `size` bytes to write.
    ///
    /// # Safety
    /// They are within the entry or the arena, and by the protocol nobody else's at the moment.
    unsafe fn write<R>(&self, place: Place, size: usize, f: impl FnOnce(&mut [u8]) -> R) -> R;
    /// Gives `size` bytes to read.
    ///
    /// # Safety
    /// As [`Cells::write`], but for others that read.
    unsafe fn read<R>(&self, place: Place, size: usize, f: impl FnOnce(&[u8]) -> R) -> R;
}

/// Which part of the arena a record has: none where start and end are equal.
#[derive(Clone, Copy, Default)]
struct Span {
    start: usize,
    end: usize,
}

/// Which part of the arena a record's bytes may have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Berth {
    /// So many bytes from its beginning.
    pub(crate) window: usize,
    /// So many behind the record's are left free, unless the window ends there.
    pub(crate) gap: usize,
}

impl Berth {
    /// Anywhere in the first so many bytes.
    pub(crate) fn within(window: usize) -> Berth {
        Berth { window, gap: 0 }
    }
}

/// Who sends.
pub(crate) struct Producer<C> {
    cells: C,
    /// The number of the next record.
    next: u64,
    /// Records that the consumer is known to have freed.
    freed: u64,
    /// What the records that are not freed hold, by entry.
    spans: Vec<Span>,
    /// Records in the arena that are not freed.
    live: usize,
    /// Where the next record in the arena begins, if there is room.
    head: usize,
    /// Where the oldest begins, or the one before it ended.
    tail: usize,
}

impl<C: Cells> Producer<C> {
    pub(crate) fn new(cells: C) -> Producer<C> {
        let spans = vec![Span::default(); C::ENTRIES];
        Producer { cells, next: 0, freed: 0, spans, live: 0, head: 0, tail: 0 }
    }

    /// Bytes of the arena: a record may have half of it, so that the next can be filled meanwhile.
    pub(crate) fn arena(&self) -> usize {
        self.cells.arena()
    }

    /// Records sent so far.
    pub(crate) fn sent(&self) -> u64 {
        self.next
    }

    /// Of these, how many the consumer is known to have freed.
    pub(crate) fn freed(&self) -> u64 {
        self.freed
    }

    /// Records in the arena that are under way.
    pub(crate) fn live(&self) -> usize {
        self.live
    }

    /// The next record's entry, if the consumer has freed it.
    #[inline]
    fn entry(&mut self) -> Result<Option<usize>, Garbage> {
        if self.next - self.freed == C::ENTRIES as u64 {
            self.refresh()?;
            if self.next - self.freed == C::ENTRIES as u64 {
                return Ok(None);
            }
        }
        Ok(Some(self.next as usize % C::ENTRIES))
    }

    /// Learns what the consumer has freed meanwhile.
    pub(crate) fn refresh(&mut self) -> Result<(), Garbage> {
        let freed = self.cells.freed();
        if freed < self.freed || freed > self.next {
            return Err(Garbage("a count of freed records that cannot be"));
        }
        for number in self.freed..freed {
            let span = std::mem::take(&mut self.spans[number as usize % C::ENTRIES]);
            if span.start != span.end {
                self.live -= 1;
                self.tail = span.end;
            }
        }
        self.freed = freed;
        Ok(())
    }

    /// Sends a message of at most [`INLINE`] bytes; false, and `fill` is not called, without room.
    #[inline]
    pub(crate) fn push_short(
        &mut self,
        size: usize,
        fill: impl FnOnce(&mut [u8]),
    ) -> Result<bool, Garbage> {
        assert!(size <= INLINE, "{size} bytes do not fit an entry");
        let Some(entry) = self.entry()? else { return Ok(false) };
        // SAFETY: the entry is freed, so it is the producer's; the size was checked.
        unsafe { self.cells.write(Place::Entry(entry), size, fill) };
        self.publish(entry, Kind::Whole, size);
        Ok(true)
    }

    /// Sends a record whose bytes stand in the arena, and says where; none, and `fill` is not
    /// called, without room there.
    pub(crate) fn push(
        &mut self,
        (kind, extra): (Kind, u64),
        size: usize,
        berth: Berth,
        fill: impl FnOnce(&mut [u8]),
    ) -> Result<Option<usize>, Garbage> {
        assert!(kind != Kind::Whole || size > INLINE, "{size} bytes belong into the entry");
        let Some(entry) = self.entry()? else { return Ok(None) };
        let room = size.next_multiple_of(LINE).max(LINE);
        let mut start = self.find(room, berth.window);
        if start.is_none() {
            self.refresh()?;
            start = self.find(room, berth.window);
        }
        let Some(start) = start else { return Ok(None) };
        // SAFETY: `find` gives what is in the arena and no live record's; the entry is freed.
        unsafe { self.cells.write(Place::Arena(start), size, fill) };
        let words = [start as u64, extra];
        // SAFETY: the entry is freed, and has room for two words.
        unsafe {
            self.cells.write(Place::Entry(entry), 16, |bytes| {
                bytes[..8].copy_from_slice(&words[0].to_le_bytes());
                bytes[8..].copy_from_slice(&words[1].to_le_bytes());
            });
        };
        if self.live == 0 {
            self.tail = start;
        }
        // Behind the oldest one it is full, also where there is no room for a gap before that.
        let end = start + room + berth.gap;
        self.head = if self.live > 0 && start < self.tail { end.min(self.tail) } else { end };
        self.live += 1;
        self.spans[entry] = Span { start, end: start + room };
        self.publish(entry, kind, size);
        Ok(Some(start))
    }

    /// Has records of so many bytes in all, which are to be in the first `window` bytes, go to the
    /// beginning if they would have to go round: those of a larger window would find no room behind
    /// them before they are freed.
    pub(crate) fn rewind(&mut self, bytes: usize, window: usize) {
        if self.live == 0 && self.head + bytes > window {
            self.head = 0;
        }
    }

    /// Where `room` bytes are free within the window. It goes round even when all of it is free:
    /// how large the part is that is used decides which caches it is in (`pipeline/costs.rs`).
    fn find(&self, room: usize, window: usize) -> Option<usize> {
        let window = window.max(room).min(self.cells.arena());
        let (head, tail) = (self.head, self.tail);
        let behind = (head + room <= window).then_some(head);
        let begin = |end: usize| (room <= end).then_some(0);
        if self.live == 0 {
            return behind.or(begin(window));
        }
        if head > tail {
            // Used from tail to head: behind it, or from the beginning.
            return behind.or(begin(tail));
        }
        (head + room <= tail).then_some(head)
    }

    #[inline]
    fn publish(&mut self, entry: usize, kind: Kind, size: usize) {
        let low = (kind as u32) << KIND | size as u32;
        self.cells.set_flag(entry, tag(self.next) << 32 | u64::from(low));
        self.next += 1;
    }
}

/// What the flag of the record with this number begins with.
fn tag(number: u64) -> u64 {
    (number + 1) & u64::from(u32::MAX)
}

/// The size that a flag says.
#[inline]
fn size_in(flag: u64) -> usize {
    (flag & ((1 << KIND) - 1)) as usize
}

/// Who receives.
pub(crate) struct Consumer<C> {
    cells: C,
    /// The number of the next record.
    next: u64,
    /// Records that the producer was told of as freed.
    told: u64,
}

impl<C: Cells> Consumer<C> {
    pub(crate) fn new(cells: C) -> Consumer<C> {
        Consumer { cells, next: 0, told: 0 }
    }

    /// The next record, if there is one.
    #[inline]
    pub(crate) fn peek(&self) -> Result<Option<Record>, Garbage> {
        let entry = self.next as usize % C::ENTRIES;
        let flag = self.cells.flag(entry);
        match self.glance_at(flag) {
            Glance::Nothing => {
                self.cells.expect(entry);
                self.absent(flag).map(|()| None)
            }
            Glance::Short(size) => {
                let place = Place::Entry(entry);
                Ok(Some(Record { kind: Kind::Whole, place, size, extra: 0 }))
            }
            Glance::Other => self.far(entry, (flag as u32) >> KIND, size_in(flag)).map(Some),
        }
    }

    /// What [`Consumer::peek`] says, as far as that can be said in few steps.
    #[inline]
    pub(crate) fn glance(&self) -> Glance {
        let entry = self.next as usize % C::ENTRIES;
        let glance = self.glance_at(self.cells.flag(entry));
        if glance == Glance::Nothing {
            self.cells.expect(entry);
        }
        glance
    }

    #[inline]
    fn glance_at(&self, flag: u64) -> Glance {
        if flag >> 32 != tag(self.next) {
            return Glance::Nothing;
        }
        let is_whole = (flag as u32) >> KIND == Kind::Whole as u32;
        match size_in(flag) {
            size if is_whole && size <= INLINE => Glance::Short(size),
            _ => Glance::Other,
        }
    }

    /// Reads the message that [`Consumer::glance`] gave the size of, and is done with it; whether
    /// the producer was told.
    #[inline]
    pub(crate) fn take_short(&mut self, size: usize, f: impl FnOnce(&[u8])) -> bool {
        assert!(size <= INLINE, "{size} bytes do not fit an entry");
        let entry = self.next as usize % C::ENTRIES;
        // SAFETY: the entry is published, and the consumer's until it is freed; the size was
        // checked.
        unsafe { self.cells.read(Place::Entry(entry), size, f) };
        self.popped(false)
    }

    /// A flag that is not the expected one is the one of a lap ago, or none was ever written.
    fn absent(&self, flag: u64) -> Result<(), Garbage> {
        let lap = C::ENTRIES as u64;
        let old = if self.next < lap { 0 } else { tag(self.next - lap) };
        if flag >> 32 == old { Ok(()) } else { Err(Garbage("a record of another number")) }
    }

    /// A record that stands in the arena.
    fn far(&self, entry: usize, kind: u32, size: usize) -> Result<Record, Garbage> {
        let kind = match kind {
            1 => Kind::Whole,
            2 => Kind::First,
            3 => Kind::More,
            4 => Kind::Abort,
            5 => Kind::Offer,
            6 => Kind::Trial,
            _ => return Err(Garbage("a record of no known kind")),
        };
        // SAFETY: the entry is published, and has room for two words.
        let words = unsafe {
            self.cells.read(Place::Entry(entry), 16, |bytes| {
                [&bytes[..8], &bytes[8..]]
                    .map(|word| u64::from_le_bytes(word.try_into().expect("eight bytes")))
            })
        };
        let [start, extra] = words;
        match usize::try_from(start).ok().and_then(|start| start.checked_add(size)) {
            Some(end) if end <= self.cells.arena() && start.is_multiple_of(LINE as u64) => {
                Ok(Record { kind, place: Place::Arena(end - size), size, extra })
            }
            _ => Err(Garbage("a record outside of the arena")),
        }
    }

    /// Records received so far.
    pub(crate) fn taken(&self) -> u64 {
        self.next
    }

    /// How many freed records the producer was told of.
    pub(crate) fn told(&self) -> u64 {
        self.told
    }

    /// Reads a record that [`Consumer::peek`] gave and that was not popped.
    #[inline]
    pub(crate) fn read<R>(&self, record: &Record, f: impl FnOnce(&[u8]) -> R) -> R {
        // SAFETY: `peek` has checked the place; it is the consumer's until it is freed.
        unsafe { self.cells.read(record.place, record.size, f) }
    }

    /// Done with it. True when the producer was told, which is at once for what stands in the arena
    /// and else now and then: the shared count costs a cache line's way.
    #[inline]
    pub(crate) fn pop(&mut self, record: &Record) -> bool {
        self.popped(matches!(record.place, Place::Arena(_)))
    }

    #[inline]
    fn popped(&mut self, is_told: bool) -> bool {
        self.next += 1;
        let is_due = self.next - self.told >= C::ENTRIES as u64 / 4;
        if is_due || is_told {
            self.cells.set_freed(self.next);
            self.told = self.next;
            return true;
        }
        false
    }
}

/// A side's word that says whether it sleeps, and for what.
pub(crate) trait Sleep {
    /// Reads it.
    fn get(&self) -> u32;
    /// Writes it.
    fn set(&self, events: u32);
    /// Writes nothing into it, and returns what there was.
    fn take(&self) -> u32;
    /// Between own writes before and own reads after.
    fn fence();
}

/// Says that this side sleeps until one of `events`; the caller has to look once more before it
/// does.
pub(crate) fn announce<S: Sleep>(own: &S, events: u32) {
    own.set(events);
    S::fence();
}

/// After `event` was published: whether the peer sleeps for it and is to be woken. Only one who
/// asks is told so.
#[inline]
pub(crate) fn wakes<S: Sleep>(peers: &S, event: u32) -> Option<u32> {
    S::fence();
    let events = peers.get();
    if events & event == 0 { None } else { Some(peers.take()).filter(|events| *events != 0) }
}

impl Sleep for AtomicU32 {
    #[inline]
    fn get(&self) -> u32 {
        self.load(Ordering::Relaxed)
    }

    fn set(&self, events: u32) {
        self.store(events, Ordering::Relaxed);
    }

    fn take(&self) -> u32 {
        self.swap(0, Ordering::Relaxed)
    }

    #[inline]
    fn fence() {
        fence(Ordering::SeqCst);
    }
}

/// One direction in a segment.
pub(crate) struct Shared {
    /// The mapping lives as long.
    segment: Arc<Mapped>,
    freed: usize,
    entries: usize,
    start: usize,
    arena: usize,
}

impl Shared {
    /// Bytes of the entries.
    pub(crate) const RING: usize = ENTRIES * ENTRY;

    /// A direction whose parts are at these offsets; the arena has `arena` bytes.
    ///
    /// # Panics
    /// Where the segment is shorter, or a part is not aligned to a cache line.
    pub(crate) fn new(
        segment: Arc<Mapped>,
        [freed, entries, start]: [usize; 3],
        arena: usize,
    ) -> Shared {
        assert!(freed + FLAG <= segment.size() && entries + Shared::RING <= segment.size());
        assert!(start.checked_add(arena).is_some_and(|end| end <= segment.size()));
        assert!([freed, entries, start].iter().all(|offset| offset.is_multiple_of(LINE)));
        Shared { segment, freed, entries, start, arena }
    }

    #[inline]
    fn word(&self, offset: usize) -> &AtomicU64 {
        // SAFETY: `new` has checked that all words are in the segment and aligned; they are only
        // accessed as atomics.
        unsafe { &*self.segment.base().add(offset).cast::<AtomicU64>() }
    }

    #[inline]
    fn at(&self, place: Place, size: usize) -> *mut u8 {
        let offset = match place {
            Place::Entry(entry) => {
                let before = if size > LINE - FLAG { FLAG_AT } else { size.next_multiple_of(FLAG) };
                self.entries + entry * ENTRY + FLAG_AT - before
            }
            Place::Arena(at) => self.start + at,
        };
        self.segment.base().wrapping_add(offset)
    }
}

impl Cells for Shared {
    const ENTRIES: usize = ENTRIES;

    #[inline]
    fn flag(&self, entry: usize) -> u64 {
        self.word(self.entries + entry * ENTRY + FLAG_AT).load(Ordering::Acquire)
    }

    #[inline]
    fn set_flag(&self, entry: usize, flag: u64) {
        self.word(self.entries + entry * ENTRY + FLAG_AT).store(flag, Ordering::Release);
    }

    #[inline]
    fn expect(&self, entry: usize) {
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            let at = self.segment.base().wrapping_add(self.entries + entry * ENTRY);
            // SAFETY: a prefetch touches nothing, wherever it points.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(at.cast()) };
        }
    }

    fn freed(&self) -> u64 {
        self.word(self.freed).load(Ordering::Acquire)
    }

    fn set_freed(&self, count: u64) {
        self.word(self.freed).store(count, Ordering::Release);
    }

    #[inline]
    fn arena(&self) -> usize {
        self.arena
    }

    #[inline]
    // SAFETY: by the caller's promise the bytes are in the segment, which lives as long as `self`,
    // and nobody else's.
    unsafe fn write<R>(&self, place: Place, size: usize, f: impl FnOnce(&mut [u8]) -> R) -> R {
        // SAFETY: see above.
        f(unsafe { std::slice::from_raw_parts_mut(self.at(place, size), size) })
    }

    #[inline]
    // SAFETY: by the caller's promise the bytes are in the segment, and nobody writes them.
    unsafe fn read<R>(&self, place: Place, size: usize, f: impl FnOnce(&[u8]) -> R) -> R {
        // SAFETY: see above.
        f(unsafe { std::slice::from_raw_parts(self.at(place, size), size) })
    }
}
