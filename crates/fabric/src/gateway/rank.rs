//! A rank's end of its node's gateway.

mod waiting;

use super::board::{self, Check, Expected, Spot};
use super::boxes::{Inbox, Outbox, Refusal};
use super::bytes::Parts;
use super::control::{self, Control, PACKET_MAX};
use super::crowd::Crowd;
use super::endpoint::{Core, Loss, Wire};
use super::gate::{self, Gate, OTHER};
use super::layout::{Layout, Memory, Process, Sleep};
use super::meeting::{self, DAEMON};
use super::near::Near;
use super::{Piece, Place, Take, barrier};
use crate::deadline::Deadline;
use crate::error::{Error, Result};
use crate::transport::shared::segment::{self, Unfit};
use crate::wait::Waiter;
use muster_base::limits::{GATEWAY_PIECE, GATEWAY_RUN, GATEWAY_WINDOW};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use waiting::Waiting;

/// Pieces taken after which their senders are told: they then have room for more of a long message.
const TAKEN: u32 = GATEWAY_WINDOW as u32 / 4;

/// Looks for more before it is told of fewer: some microseconds.
const HELD: u32 = 16;

/// Looks at the segment for each one at the sockets, which takes as long as some hundred, while the
/// messages come from this node.
const NEAR_LOOKS: u32 = 16;

/// Tries in vain to take something for each one that looks at the sockets, and the time after which
/// who only tries, and computes in between, does so in any case.
const TRIES: u32 = 16;
const TRIED: Duration = Duration::from_micros(20);

/// How often a rank offers its processor before it sees to what else there is to do, and looks
/// before it does so while those whom it waits for run elsewhere: about as long as it takes to be
/// switched to another rank and back.
const OFFERS: u32 = 64;
const LOOKS_ELSEWHERE: u32 = 30;

/// Bytes posted after which they are sent while more are posted: the longest frame.
const POSTED: usize = GATEWAY_RUN * GATEWAY_PIECE;

/// A rank's end, to be used by one thread at a time. While it waits it progresses the gateway for
/// all ranks of its node.
pub struct Rank {
    gate: Gate,
    control: OwnedFd,
    outbox: Outbox,
    inbox: Inbox,
    near: Near,
    waiter: Waiter,
    /// Pieces taken since their senders could last be told, and looks since then.
    taken: u32,
    held: u32,
    /// Whether the last piece came from this node: then others are asked first.
    was_near: bool,
    /// Looks so far.
    looks: u32,
    /// Tries to take something that were in vain, in a row or not.
    tries: u32,
    /// When one of them looked at the sockets last.
    tried: Instant,
    expected: Expected,
    crowd: Crowd,
    alarm: Arc<Alarm>,
    packet: Vec<u8>,
    ready: Vec<u64>,
}

/// Ends a rank's wait from another thread: the one that goes on, or the next.
pub struct Alarm {
    is_raised: AtomicBool,
    /// The rank's own.
    bell: OwnedFd,
}

impl Alarm {
    /// Raises it.
    pub fn raise(&self) {
        self.is_raised.store(true, Ordering::SeqCst);
        gate::ring(self.bell.as_fd());
    }
}

/// What a rank waits for.
#[derive(Clone, Copy)]
enum What<'a> {
    Piece,
    Room(Place),
    Any(&'a [Place]),
    Delivery,
}

impl What<'_> {
    /// Whether who waits takes pieces when there are some.
    fn takes(self) -> bool {
        matches!(self, What::Piece | What::Any(_))
    }
}

impl Rank {
    /// Joins the gateway of a job as one of its ranks, by the socket at which this node's daemon
    /// listens ([`super::Desk`]).
    ///
    /// # Errors
    /// [`Error::Refused`] where no daemon is there, or the daemon refuses; as [`Rank::join`].
    pub fn meet(path: &Path, (job, rank): (u32, u32), deadline: Deadline) -> Result<Rank> {
        Rank::join(meeting::ask(path, (job, rank), deadline)?, deadline)
    }

    /// Joins the gateway by the socket that [`super::Node::admit`] gave out.
    ///
    /// # Errors
    /// [`Error::Refused`], [`Error::Dead`] and [`Error::Malformed`] about the daemon,
    /// [`Error::Deadline`], [`Error::Exhausted`].
    pub fn join(control: OwnedFd, deadline: Deadline) -> Result<Rank> {
        let flags = rustix::io::FdFlags::CLOEXEC;
        rustix::io::fcntl_setfd(&control, flags)
            .map_err(|errno| Error::io("keeping the socket to the node's daemon", errno))?;
        let mut packet = vec![0; PACKET_MAX];
        let strange =
            |what: &str| Error::Malformed { peer: DAEMON.to_owned(), what: what.to_owned() };
        let (rank, layout, memory) = match hear(&control, &mut packet, deadline)? {
            Control::Welcome { rank, layout, segment } => (rank, layout, segment),
            Control::Refused { why } => {
                return Err(Error::Refused { peer: DAEMON.to_owned(), why });
            }
            _ => return Err(strange("no welcome")),
        };
        let mut bells = Vec::new();
        while bells.len() <= layout.here() {
            match hear(&control, &mut packet, deadline)? {
                Control::Bell { process, bell } if process == bells.len() => bells.push(bell),
                _ => return Err(strange("another bell than the next")),
            }
        }
        let size = layout.words * 8;
        segment::check(memory.as_fd(), size).map_err(|unfit| match unfit {
            Unfit::Wrong(what) => strange(what),
            Unfit::Here(error) => error,
        })?;
        let mapped = segment::map(memory.as_fd(), size, true)?;
        mapped.keep_from_dumps();
        let mapped = Arc::new(mapped);
        let is_crowded = mapped.load(layout.process(layout.here(), Process::Crowd)) != 0;
        let is_only = layout.here() == 1;
        let core = Core::new(mapped, layout, rank);
        let near = Near::new(&core);
        let bell = bells[rank].try_clone();
        let bell = bell.map_err(|source| Error::io("keeping a rank's own bell", source))?;
        let alarm = Arc::new(Alarm { is_raised: AtomicBool::new(false), bell });
        let gate = Gate::new(core, bells)?;
        gate.watch(control.as_fd(), OTHER)?;
        barrier::register();
        let mut joined = Rank {
            gate,
            control,
            outbox: Outbox::new(),
            inbox: Inbox::new(),
            near,
            waiter: match (is_crowded, is_only) {
                (false, _) => Waiter::alone(),
                (true, false) => Waiter::crowded(),
                (true, true) => Waiter::scattered(),
            },
            taken: 0,
            held: 0,
            was_near: false,
            looks: 0,
            tries: 0,
            tried: Instant::now(),
            expected: Expected::default(),
            crowd: Crowd::default(),
            alarm,
            packet,
            ready: Vec::with_capacity(64),
        };
        joined.listen()?;
        Ok(joined)
    }

    /// Which rank this is.
    pub fn place(&self) -> Place {
        let Layout { node, .. } = self.gate.core.layout;
        Place { node: node as u32, rank: self.gate.core.me as u32 }
    }

    /// How many ranks each node of the job has. They are numbered node by node.
    pub fn shape(&self) -> &[u16] {
        &self.gate.core.layout.ranks
    }

    /// Whether the machine has fewer processors than the job has ranks there.
    #[inline]
    pub fn is_crowded(&self) -> bool {
        self.waiter.is_crowded()
    }

    /// Whether a rank has ended, its node is lost, or it has written what cannot be. What it had
    /// sent before may still come.
    pub fn is_gone(&self, place: Place) -> bool {
        self.other(place).is_ok_and(|(node, rank)| match self.is_near(node) {
            true => self.gate.core.is_over(rank) || self.near.is_closed(rank),
            false => self.gate.core.is_gone(node, rank),
        })
    }

    /// Sends a message of two parts to another rank, in pieces. It has left when this returns, in
    /// so far as nothing that the caller does can stop it; what was sent in part only when this
    /// fails is void, and the receiver knows it by the next message, which begins at 0. Nothing is
    /// taken meanwhile: two ranks that send each other more than is under way at once use
    /// [`Rank::try_send`].
    ///
    /// # Errors
    /// As [`Rank::try_send`], and [`Error::Deadline`].
    pub fn send(&mut self, to: Place, head: &[u8], body: &[u8], deadline: Deadline) -> Result<()> {
        let mut offset = 0;
        loop {
            match self.try_send(to, head, body, offset) {
                Ok(sent) => offset += sent,
                Err(Error::WouldBlock) => self.wait_for(What::Room(to), deadline)?,
                Err(error) => return Err(error),
            }
            if offset == head.len() + body.len() {
                return Ok(());
            }
        }
    }

    /// Sends what there is room for of a message of two parts, from `offset` on: at least a piece.
    /// Returns how many bytes that were; an empty message is a piece of none.
    ///
    /// # Errors
    /// [`Error::WouldBlock`]; [`Error::Dead`]; [`Error::Refused`] for a rank that there is not, or
    /// that is this one; [`Error::Malformed`] for one that says it has taken what was never sent.
    ///
    /// # Panics
    /// Where the offset is behind the message.
    #[inline]
    pub fn try_send(
        &mut self,
        to: Place,
        head: &[u8],
        body: &[u8],
        offset: usize,
    ) -> Result<usize> {
        let (node, rank) = self.other(to)?;
        let message = Parts { head, body };
        match self.is_near(node) {
            true => self.try_send_near(to, rank, message, offset),
            false => self.try_send_far(to, (node, rank), message, offset),
        }
    }

    #[inline]
    fn try_send_near(
        &mut self,
        to: Place,
        rank: usize,
        message: Parts<'_>,
        offset: usize,
    ) -> Result<usize> {
        let (mut end, total) = (offset, message.len());
        loop {
            let sent = self.near.send(&self.gate.core, rank, message, end);
            end += sent.unwrap_or(0);
            if sent.is_some() {
                self.gate.wake(rank);
            } else if self.gate.core.is_over(rank) {
                return Err(dead(to, "its node says that it has ended"));
            } else if let Some(garbage) = self.near.misled(&self.gate.core, rank) {
                return Err(garbage.into());
            }
            match sent {
                None if end == offset => return Err(Error::WouldBlock),
                Some(_) if end < total => {}
                _ => return Ok(end - offset),
            }
        }
    }

    fn try_send_far(
        &mut self,
        to: Place,
        (node, rank): (usize, usize),
        message: Parts<'_>,
        offset: usize,
    ) -> Result<usize> {
        let (mut end, mut refused, total) = (offset, None, message.len());
        // What fails does so before anything is posted: what is posted is sent, by whomever.
        self.follow(node)?;
        self.outbox.retire(&self.gate.core);
        loop {
            let next = total.min(end + GATEWAY_PIECE);
            let (at, piece) = ((end as u64, total as u64), message.cut(end, next));
            match self.outbox.post(&self.gate.core, (node, rank), at, piece) {
                Ok(()) => end = next,
                Err(refusal) => refused = Some(refusal),
            }
            if refused.is_some() || end == total || end - offset >= POSTED {
                break;
            }
        }
        self.gate.send(node);
        self.gate.tell();
        match refused {
            Some(Refusal::Room) if end == offset => Err(Error::WouldBlock),
            Some(Refusal::Gone) => Err(dead(to, "its node says that it has ended")),
            Some(Refusal::Lost(loss)) => Err(dead(to, lost(loss))),
            _ => Ok(end - offset),
        }
    }

    /// Takes the next piece of a message, of whichever rank: pieces of one rank come in their
    /// order, those of several may alternate.
    ///
    /// # Errors
    /// [`Error::Deadline`]; as [`Rank::try_take`].
    pub fn take(&mut self, deadline: Deadline, take: &mut impl FnMut(Piece<'_>)) -> Result<()> {
        loop {
            match self.try_take(take) {
                Err(Error::WouldBlock) => self.wait_for(What::Piece, deadline)?,
                done => return done,
            }
        }
    }

    /// Takes the next piece if it is there.
    ///
    /// # Errors
    /// [`Error::WouldBlock`]; [`Error::Dead`] when the node's daemon is gone; [`Error::Malformed`]
    /// when a rank has written what is no piece: of that one nothing more comes, others go on.
    #[inline]
    pub fn try_take(&mut self, take: &mut impl Take) -> Result<()> {
        // Who is asked first takes turns.
        let taken = match self.was_near && self.has_peers() {
            true => self.take_far(take)? || self.take_near(take),
            false => self.take_near(take) || self.take_far(take)?,
        };
        if taken { Ok(()) } else { self.take_in_vain() }
    }

    /// There was nothing to take. Who only tries, and never waits, is to get on as well.
    #[inline]
    fn take_in_vain(&mut self) -> Result<()> {
        if let Some(garbage) = self.near.garbage() {
            return Err(garbage.into());
        }
        self.tries = self.tries.wrapping_add(1);
        if self.has_peers() && self.tries.is_multiple_of(TRIES) {
            self.look_far()?;
        }
        Err(Error::WouldBlock)
    }

    /// Looks at the sockets, if that was long ago: for who has tried in vain, and computes until it
    /// tries again. Whether there is something to take now.
    ///
    /// # Errors
    /// As [`Rank::try_take`].
    pub fn attend(&mut self) -> Result<bool> {
        if !self.has_peers() || self.tried.elapsed() < TRIED {
            return Ok(false);
        }
        self.look_far()?;
        Ok(self.has_piece())
    }

    fn look_far(&mut self) -> Result<()> {
        self.tried = Instant::now();
        let is_new = |node| self.gate.line(node).map(Wire::epoch) != self.gate.core.epoch(node);
        if self.gate.core.layout.peers().any(is_new) {
            self.listen()?;
        }
        self.gate.pass(true);
        Ok(())
    }

    #[inline]
    fn take_near(&mut self, take: &mut impl Take) -> bool {
        let taken = self.near.take(&self.gate.core, take);
        if let Some(Some(sender)) = taken {
            self.gate.wake(sender);
        }
        self.was_near = taken.is_some();
        taken.is_some()
    }

    fn take_far(&mut self, take: &mut impl Take) -> Result<bool> {
        if !self.has_peers() {
            return Ok(false);
        }
        let take = &mut |piece: Piece<'_>| take.take(piece);
        let taken = match self.inbox.take(&self.gate.core, take)? {
            Some(_) => Some(1),
            None => self.gate.land(take)?,
        };
        let Some(taken) = taken else { return Ok(false) };
        self.was_near = false;
        self.taken += taken;
        if self.taken >= TAKEN {
            self.gate.core.layout.peers().for_each(|node| self.gate.send(node));
            (self.taken, self.held) = (0, 0);
        }
        Ok(true)
    }

    /// Whether the job has other nodes.
    #[inline]
    fn has_peers(&self) -> bool {
        self.gate.core.layout.ranks.len() > 1
    }

    #[inline]
    fn is_near(&self, node: usize) -> bool {
        node == self.gate.core.layout.node
    }

    /// Waits until a piece can be taken, or one can be sent to one of those ranks, at most so long;
    /// may end early, and does when the alarm is raised ([`Rank::alarm`]).
    ///
    /// # Errors
    /// [`Error::Dead`] when the node's daemon is gone.
    #[inline]
    pub fn wait(&mut self, room: &[Place], most: Duration) -> Result<()> {
        let (waiter, what) = (std::mem::take(&mut self.waiter), What::Any(room));
        let is_there = waiter.sees(&mut Waiting { rank: self, what, has_slept: false });
        self.waiter = waiter;
        let waited = if is_there { Ok(()) } else { self.wait_for(what, Deadline::after(most)) };
        if self.alarm.is_raised.load(Ordering::Relaxed) {
            self.alarm.is_raised.store(false, Ordering::SeqCst);
        }
        match waited {
            Err(Error::Deadline { .. }) => Ok(()),
            waited => waited,
        }
    }

    /// The same for who does not want to look: it sleeps at once.
    ///
    /// # Errors
    /// As [`Rank::wait`].
    pub fn doze(&mut self, most: Duration) -> Result<()> {
        let waiter = std::mem::replace(&mut self.waiter, Waiter::scattered());
        let waited = self.wait(&[], most);
        self.waiter = waiter;
        waited
    }

    /// Shows the ranks of this node some bytes, and a label.
    ///
    /// # Panics
    /// Where there is no such board, or there are more bytes than `BOARD_BYTES`.
    #[inline]
    pub fn show(&mut self, spot: Spot, label: u32, bytes: &[u8]) {
        if self.is_crowded() {
            self.crowd.note(&self.gate.core);
        }
        board::show(&self.gate.core, spot, label, bytes);
    }

    /// The label of what a rank of this node shows there, once it does.
    #[inline]
    pub fn label(&self, rank: u32, spot: Spot) -> Option<u32> {
        board::label(&self.gate.core, rank as usize, spot)
    }

    /// The first bytes of what it shows.
    #[inline]
    pub fn read(&self, rank: u32, spot: Spot, into: &mut [u8]) {
        board::read(&self.gate.core, rank as usize, spot, into);
    }

    /// [`Rank::wait`] ends when all of these ranks of this node show something there, too. Those
    /// who do now are not expected.
    pub fn expect(&mut self, spot: Spot, ranks: impl Iterator<Item = u32>) {
        let core = &self.gate.core;
        let ranks = ranks.map(|rank| rank as usize);
        self.expected.set(spot, ranks.filter(|rank| board::label(core, *rank, spot).is_none()));
    }

    /// Where there are fewer processors than ranks: offers this one to the others for a moment,
    /// until all show what is expected there; whether they do.
    pub fn linger(&mut self, spot: Spot) -> bool {
        if !self.is_crowded() {
            return false;
        }
        let core = &self.gate.core;
        for _ in 0..OFFERS {
            // While all of them run elsewhere, what they show comes sooner than this processor
            // could be given away and got back.
            let mut check = self.expected.check(core, spot, self.crowd.processor());
            for _ in 0..LOOKS_ELSEWHERE {
                if check != Check::Elsewhere {
                    break;
                }
                std::hint::spin_loop();
                check = self.expected.check(core, spot, self.crowd.processor());
            }
            if check == Check::AllShow {
                return true;
            }
            self.crowd.offer(core);
        }
        self.expected.forget_shown(core, spot);
        false
    }

    /// Whether any rank shows something that is expected.
    pub fn has_shown(&self) -> bool {
        self.expected.has_any(&self.gate.core)
    }

    /// This rank has taken what all of these ranks of this node show there, and expects no more.
    /// Those of them who sleep are woken.
    #[inline]
    pub fn leave(&mut self, spot: Spot, ranks: impl Iterator<Item = u32>) {
        self.expected.forget(spot);
        board::leave(&self.gate.core, spot);
        ranks.for_each(|rank| self.gate.wake(rank as usize));
    }

    /// Expects nothing there any more.
    pub fn forget(&mut self, spot: Spot) {
        self.expected.forget(spot);
    }

    /// Whether a rank of this node has taken what it was shown on a board up to that number.
    pub fn has_left(&self, rank: u32, spot: Spot) -> bool {
        board::has_left(&self.gate.core, rank as usize, spot)
    }

    /// Says to the ranks of this node whether this one waits, for [`Rank::all_wait`].
    pub fn say_waits(&self, waits: bool) {
        let core = &self.gate.core;
        core.memory.store(core.layout.process(core.me, Process::Waits), waits.into());
    }

    /// Whether all ranks of this node that have not ended say that they wait.
    pub fn all_wait(&self) -> bool {
        let core = &self.gate.core;
        let waits = |rank| core.memory.load(core.layout.process(rank, Process::Waits)) != 0;
        (0..core.layout.here()).all(|rank| waits(rank) || core.is_over(rank))
    }

    /// What ends [`Rank::wait`], for other threads.
    pub fn alarm(&self) -> Arc<Alarm> {
        self.alarm.clone()
    }

    /// Waits until all that was sent to other nodes was taken. What was sent to ranks of this node
    /// they find in the segment, however long this one lives.
    ///
    /// # Errors
    /// [`Error::Deadline`]; [`Error::Dead`] when the node's daemon is gone.
    pub fn flush(&mut self, deadline: Deadline) -> Result<()> {
        self.outbox.retire(&self.gate.core);
        if self.outbox.is_empty() { Ok(()) } else { self.wait_for(What::Delivery, deadline) }
    }

    #[inline]
    fn other(&self, place: Place) -> Result<(usize, usize)> {
        let layout = &self.gate.core.layout;
        let (node, rank) = (place.node as usize, place.rank as usize);
        let why = match layout.ranks.get(node) {
            None => "the job has no such node",
            Some(ranks) if rank >= usize::from(*ranks) => "its node has no such rank",
            Some(_) if node == layout.node && rank == self.gate.core.me => "it is this rank",
            Some(_) => return Ok((node, rank)),
        };
        Err(Error::Refused { peer: place.to_string(), why: why.to_owned() })
    }

    /// Sees to it that this rank has the connection to a node, if there is another one.
    fn follow(&mut self, node: usize) -> Result<()> {
        if self.gate.line(node).map(Wire::epoch) != self.gate.core.epoch(node) {
            self.listen()?;
        }
        Ok(())
    }

    /// Hears what the daemon says. False while a connection waits there for which this process has
    /// no descriptor: others send and receive for this rank until it has one.
    fn listen(&mut self) -> Result<bool> {
        loop {
            let said = match control::receive(self.control.as_fd(), &mut self.packet) {
                Ok(Some(said)) => said,
                Ok(None) => return Ok(true),
                Err(Error::Exhausted { .. }) => return Ok(false),
                Err(error) => return Err(error),
            };
            match said {
                Control::Line { node, epoch, kept } if node < self.gate.core.layout.ranks.len() => {
                    let line = self.gate.new_line(kept, epoch);
                    self.gate.set_line(node, line)?;
                }
                _ => {
                    let (peer, what) = (DAEMON.to_owned(), "no connection".to_owned());
                    return Err(Error::Malformed { peer, what });
                }
            }
        }
    }

    fn wait_for(&mut self, what: What<'_>, deadline: Deadline) -> Result<()> {
        // In a crowd the wait itself begins so.
        if !self.is_crowded() {
            self.crowd.settle(&self.gate.core);
            if self.gate.has_woken() && deadline.left().is_some() && !self.is_there(what) {
                self.crowd.offer(&self.gate.core);
            }
        }
        let mut waiter = std::mem::take(&mut self.waiter);
        let mut sleeper = Waiting { rank: self, what, has_slept: false };
        let in_time = waiter.wait(&mut sleeper, deadline);
        if sleeper.has_slept {
            self.gate.leave_watch();
        }
        self.waiter = waiter;
        if in_time? {
            return Ok(());
        }
        let (whom, what) = match what {
            What::Piece | What::Any(_) => (self.others(), "a message"),
            What::Room(to) => (to.to_string(), "taking what was sent to it"),
            What::Delivery => {
                let first = self.outbox.first().map(|place| place.to_string());
                (first.unwrap_or_default(), "taking what was sent to it")
            }
        };
        Err(deadline.missed(self.place(), whom, what))
    }

    /// All that may send it something, for people.
    fn others(&self) -> String {
        let ranks = &self.gate.core.layout.ranks;
        let others = ranks.iter().map(|count| usize::from(*count)).sum::<usize>() - 1;
        format!("any of its job's {others} other ranks on {} nodes", ranks.len())
    }

    /// Whether what is waited for is there; lets the gateway get on if not.
    fn is_ready(&mut self, what: What<'_>) -> bool {
        self.is_there(what) || {
            (self.taken, self.held) = (0, 0);
            self.gate.pass(what.takes());
            self.is_there(what)
        }
    }

    /// The same, but may leave the sockets for another time, or only what others are told.
    #[inline]
    fn is_seen(&mut self, what: What<'_>) -> bool {
        self.looks = self.looks.wrapping_add(1);
        if self.was_near && !self.looks.is_multiple_of(NEAR_LOOKS) {
            return self.is_there(what);
        }
        if !self.has_untold() {
            return self.is_ready(what);
        }
        self.held += 1;
        self.is_heard(what)
    }

    /// Whether there are pieces whose senders are not told yet that they were taken.
    #[inline]
    fn has_untold(&self) -> bool {
        self.taken > 0 && self.held < HELD
    }

    /// Whether what is waited for is there; only hears what comes if not.
    fn is_heard(&mut self, what: What<'_>) -> bool {
        self.is_there(what) || {
            self.gate.hear(what.takes());
            self.is_there(what)
        }
    }

    fn has_room(&mut self, to: Place) -> bool {
        let (node, rank) = (to.node as usize, to.rank as usize);
        if self.is_near(node) {
            return self.near.has_room(&self.gate.core, rank);
        }
        self.outbox.retire(&self.gate.core);
        self.outbox.has_room(&self.gate.core, (node, rank))
    }

    #[inline]
    fn has_piece(&mut self) -> bool {
        self.near.is_ready(&self.gate.core)
            || self.has_peers() && (self.inbox.is_ready(&self.gate.core) || self.gate.has_own())
    }

    #[inline]
    fn is_there(&mut self, what: What<'_>) -> bool {
        match what {
            What::Piece => self.has_piece(),
            What::Room(to) => self.has_room(to),
            What::Any(_) if self.alarm.is_raised.load(Ordering::Relaxed) => true,
            What::Any(_) if self.expected.has_all(&self.gate.core) => true,
            What::Any(room) => self.has_piece() || room.iter().any(|to| self.has_room(*to)),
            What::Delivery => {
                self.outbox.retire(&self.gate.core);
                self.outbox.is_empty()
            }
        }
    }
}

impl Drop for Rank {
    fn drop(&mut self) {
        self.gate.core.announce(Sleep::No);
        self.gate.leave_watch();
    }
}

/// Waits for the daemon's next word.
fn hear(control: &OwnedFd, packet: &mut [u8], deadline: Deadline) -> Result<Control> {
    loop {
        if let Some(said) = control::receive(control.as_fd(), packet)? {
            return Ok(said);
        }
        let Some(left) = deadline.left() else {
            return Err(deadline.missed("a rank", DAEMON, "to be let in"));
        };
        let time = Timespec {
            tv_sec: left.as_secs().min(1 << 30) as i64,
            tv_nsec: left.subsec_nanos().into(),
        };
        // Interrupted: it is looked at again.
        let _ = poll(&mut [PollFd::new(control, PollFlags::IN)], Some(&time));
    }
}

fn dead(place: Place, evidence: &str) -> Error {
    Error::Dead { peer: place.to_string(), evidence: evidence.to_owned() }
}

fn lost(loss: Loss) -> &'static str {
    match loss {
        Loss::Told => "its node is lost",
        Loss::Malformed => "its node sent what is no frame",
        Loss::Refused => "nobody answers any more where its node was",
    }
}
