//! Collectives of ranks that share a board, where all of them want to see what all have, and that
//! is short: each shows its own and looks at the others', which is one line from processor to
//! processor for each two and nothing else. Operands are combined as the messages of
//! [`Plan`](super::Plan) would, so the results have the same bits.

use super::Combination;
use super::plan::differ;
use super::tree::WIDTH;
use crate::buffer::{Memory, Typed};
use crate::communicator::Communicator;
use crate::error::{Class, Error, Result};
use muster_base::limits::BOARD_BYTES;
use muster_message::{Boards, Buffer, Carrier, Endpoint, Spot, Ticket, Wanted};

/// Elements as they are shown, with room for so many bytes.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Shown<const ROOM: usize>([u8; ROOM]);

/// Room for most.
const FEW: usize = 64;

/// What all ranks combine, and where the result goes.
pub struct Operands<'a, M: Memory> {
    op: &'a Combination,
    from: &'a Typed<M>,
    into: &'a mut Typed<M>,
}

impl<'a, M: Memory> Operands<'a, M> {
    /// Elements, unless they are too many.
    #[inline]
    pub fn new(op: &'a Combination, from: &'a Typed<M>, into: &'a mut Typed<M>) -> Option<Self> {
        (into.size() <= BOARD_BYTES).then_some(Operands { op, from, into })
    }
}

/// That a rank shows something else than this one.
#[cold]
fn wrong(from: u32, theirs: u32, own: u32) -> Error {
    if theirs >> 16 != own >> 16 {
        let what = format!(
            "rank {from} has called another collective: all ranks of a communicator must call the \
             same ones in the same order"
        );
        return Error::new(Class::Other, what);
    }
    let (size, room) = (theirs & 0xffff, own & 0xffff);
    differ(&format!("rank {from} has"), size as usize, room as usize)
}

/// One rank's part in such a collective: an all-reduce, or without operands a barrier.
pub struct Short<'a, M: Memory> {
    comm: &'a Communicator,
    /// The tag of its messages, where it needs any.
    tag: i32,
    spot: Spot,
    /// Which collective it is, and how many bytes are shown: the same for all.
    label: u32,
    operands: Option<Operands<'a, M>>,
    has_shown: bool,
    /// All ranks before this one have shown theirs.
    next: u32,
    /// Those who have not for long, and receives of messages that never come: by these it is told
    /// whom this rank waits for, and they end where that one is gone.
    absent: Vec<(u32, Ticket)>,
    /// What is wrong with what others show. They are waited for all the same: they have to see what
    /// this one shows.
    failed: Option<Error>,
}

impl<'a, M: Memory> Short<'a, M> {
    /// The next collective of a communicator, of a family, over a place that nobody else uses.
    #[inline]
    pub fn new(
        comm: &'a Communicator,
        spot: Spot,
        family: u8,
        operands: Option<Operands<'a, M>>,
    ) -> Self {
        let tag = comm.next_tag(family);
        let size = operands.as_ref().map_or(0, |operands| operands.into.size());
        let label = u32::from(family) << 16 | size as u32;
        Short {
            comm,
            tag,
            spot,
            label,
            operands,
            has_shown: false,
            next: 0,
            absent: Vec::new(),
            failed: None,
        }
    }

    /// Goes on; whether all is done. `is_long`: it has been waited for long.
    ///
    /// # Errors
    /// [`Class::ProcAborted`] where a rank is gone, [`Class::Truncate`] where another one has more
    /// than this one, [`Class::Other`] where it has less, or calls another collective.
    pub fn advance<C: Carrier>(
        &mut self,
        endpoint: &mut Endpoint<C, Typed<M>>,
        is_long: bool,
    ) -> Result<bool> {
        let looks = endpoint.carrier().looks();
        let done = match endpoint.carrier().boards() {
            Some(boards) => self.look(boards, looks),
            None => Err(Error::new(Class::Intern, "the carrier has no boards any more")),
        };
        let done = done.and_then(|done| if done { Ok(true) } else { self.miss(endpoint, is_long) });
        if !matches!(done, Ok(false)) {
            self.end(endpoint);
        }
        done
    }

    fn world(&self, rank: u32) -> u32 {
        self.comm.group().world(rank)
    }

    /// Whether something stands for those who have not come.
    pub fn is_seen(&self) -> bool {
        !self.absent.is_empty()
    }

    /// What stands for those who have not come for long.
    pub fn absent(&self) -> Vec<Ticket> {
        self.absent.iter().map(|(_, ticket)| *ticket).collect()
    }

    /// The other ranks from one on, and their ranks in the job.
    fn others(&self, from: u32) -> impl Iterator<Item = (u32, u32)> {
        let ranks = (from..self.comm.size()).filter(|rank| *rank != self.comm.rank());
        ranks.map(|rank| (rank, self.world(rank)))
    }

    /// Those that have not shown theirs.
    fn missing(&self, boards: &dyn Boards) -> impl Iterator<Item = (u32, u32)> {
        self.others(self.next).filter(|(_, world)| boards.label(*world, self.spot).is_none())
    }

    /// Shows, and looks; whether all is done.
    fn look(&mut self, boards: &mut dyn Boards, looks: u32) -> Result<bool> {
        // Who comes back has waited, for messages as well: those may be many, and want answers.
        let mut looks = if self.has_shown { 1 } else { looks + 1 };
        if !self.has_shown {
            self.has_shown = true;
            self.show(boards);
        }
        while self.next < self.comm.size() {
            if self.next == self.comm.rank() || self.is_there(boards) {
                self.next += 1;
                continue;
            }
            looks -= 1;
            if looks == 0 {
                boards.expect(self.spot, &mut self.others(self.next).map(|(_, world)| world));
                if !boards.linger(self.spot) {
                    return Ok(false);
                }
                looks = 1;
                continue;
            }
            std::hint::spin_loop();
        }
        match self.label & 0xffff {
            _ if self.failed.is_some() => {}
            0 => {}
            size if size as usize <= FEW => self.combine::<FEW>(boards),
            _ => self.combine::<BOARD_BYTES>(boards),
        }
        boards.leave(self.spot, &mut self.others(0).map(|(_, world)| world));
        self.failed.take().map_or(Ok(true), Err)
    }

    fn show(&mut self, boards: &mut dyn Boards) {
        let Some(Operands { from, .. }) = &self.operands else {
            return boards.show(self.spot, self.label, &[]);
        };
        if let Some(whole) = from.whole() {
            return boards.show(self.spot, self.label, whole);
        }
        let mut packed = [0; BOARD_BYTES];
        let packed = &mut packed[..from.size()];
        Typed::clone(from).read(0, packed);
        boards.show(self.spot, self.label, packed);
    }

    /// Whether the next rank shows something; notes if it is not what it is to.
    #[inline]
    fn is_there(&mut self, boards: &dyn Boards) -> bool {
        let label = boards.label(self.world(self.next), self.spot);
        if let Some(label) = label.filter(|label| *label != self.label) {
            self.failed.get_or_insert_with(|| wrong(self.next, label, self.label));
        }
        label.is_some()
    }

    /// Combines what all show: along the tree by which messages would (`tree.rs`), of two levels.
    fn combine<const ROOM: usize>(&mut self, boards: &dyn Boards) {
        let Some(Operands { op, into, .. }) = &mut self.operands else { return };
        let (size, bytes, count) = (self.comm.size(), into.size(), into.count());
        let read = |rank: u32| {
            let mut shown = Shown([0; ROOM]);
            boards.read(self.comm.group().world(rank), self.spot, &mut shown.0[..bytes]);
            shown
        };
        let is_whole = into.is_solid();
        let combine = |from: Shown<ROOM>, mut with: Shown<ROOM>| {
            if is_whole {
                let (from, with) = (&from.0[..bytes], &mut with.0[..bytes]);
                op.reduction.combine(from, with, count, into.datatype());
            } else {
                let (mut one, mut other) = (into.scratch(), into.scratch());
                one.write(0, &from.0[..bytes]);
                other.write(0, &with.0[..bytes]);
                other.clone().combine(&op.reduction, &one);
                other.read(0, &mut with.0[..bytes]);
            }
            with
        };
        let mut all = None;
        for first in (0..size).step_by(WIDTH as usize) {
            let ranks = first + 1..size.min(first + WIDTH);
            let own = ranks.fold(read(first), |own, rank| combine(own, read(rank)));
            all = Some(all.map_or(own, |all| combine(all, own)));
        }
        match (all, into.whole_mut()) {
            (Some(all), Some(whole)) => whole.copy_from_slice(&all.0[..bytes]),
            (Some(all), None) => into.write(0, &all.0[..bytes]),
            (None, _) => {}
        }
    }

    /// It takes long: notes whom it waits for, and whether they are still there.
    fn miss<C: Carrier>(
        &mut self,
        endpoint: &mut Endpoint<C, Typed<M>>,
        is_long: bool,
    ) -> Result<bool> {
        if !is_long {
            return Ok(false);
        }
        let Some(boards) = endpoint.carrier().boards() else { return Ok(false) };
        let missing: Vec<(u32, u32)> = self.missing(boards).collect();
        let others = |(rank, _): &(u32, Ticket)| !missing.iter().any(|(other, _)| other == rank);
        for (_, ticket) in self.absent.extract_if(.., |absent| others(absent)) {
            endpoint.abandon(ticket);
        }
        for (rank, world) in missing {
            if !self.absent.iter().any(|(other, _)| *other == rank) {
                let (context, tag) = (self.comm.collectives(), Some(self.tag));
                let wanted = Wanted { context, source: Some(rank), tag };
                let ticket = endpoint.receive(wanted, Some(world), Typed::nothing())?;
                self.absent.push((rank, ticket));
            }
        }
        for at in 0..self.absent.len() {
            let (rank, ticket) = self.absent[at];
            endpoint.give_up(ticket);
            let Some(outcome) = endpoint.poll(ticket) else { continue };
            self.absent.swap_remove(at);
            let world = self.world(rank);
            let boards = endpoint.carrier().boards();
            // It may have shown its own just before it ended.
            if boards.is_some_and(|boards| boards.label(world, self.spot).is_some()) {
                return Ok(false);
            }
            return Err(match outcome.failure {
                Some(failure) => (*failure).into(),
                None => {
                    let what = format!(
                        "rank {rank} has sent a message in a collective where it was to show \
                         something: the ranks' counts or datatypes differ"
                    );
                    Error::new(Class::Truncate, what)
                }
            });
        }
        Ok(false)
    }

    fn end<C: Carrier>(&mut self, endpoint: &mut Endpoint<C, Typed<M>>) {
        for (_, ticket) in self.absent.drain(..) {
            endpoint.abandon(ticket);
        }
        if let Some(boards) = endpoint.carrier().boards() {
            boards.forget(self.spot);
        }
    }
}
