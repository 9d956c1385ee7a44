//! What ranks and the daemon have in common: the segment, the sockets, bells, and how to sleep.
//!
//! *Sleep.* Who is about to sleep says so in the segment, looks once more, and sleeps until its
//! bell rings. One of those who sleep, the *sentinel* of an endpoint, sleeps on its socket as
//! well. A rank that stops waiting leaves that to another that sleeps. All of this is about who is
//! woken, and about nothing else: whoever has something to do looks for itself, and the daemon
//! looks every few milliseconds whether something lies there that nobody has come for (`node.rs`).

use super::Piece;
use super::arrivals::Arrivals;
use super::endpoint::{Broken, Core, Loss, Wire};
use super::layout::{Endpoint, Memory, Process, Sleep};
use super::lender::Lender;
use super::line::Kept;
use super::line::Line;
use super::receive::{Landed, Manner, Received};
use super::send::Sent;
use crate::epoll;
use crate::error::{Error, Result};
use crate::transport::shared::sys::Mapped;
use rustix::event::{EventfdFlags, Timespec, eventfd};
use rustix::io::Errno;
use std::cell::Cell;
use std::collections::VecDeque;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long a piece waits in the socket for a rank that has no room, before it is dropped: far
/// longer than a rank that takes pieces needs for one.
const PATIENCE: Duration = Duration::from_millis(2);

/// A sleep while the socket says that there is something to do and there is not yet: a rank has no
/// room for it, or a little room is not enough.
const NAP: Duration = Duration::from_micros(200);

/// Descriptors told of at once.
const TOLD: usize = 64;

/// What a descriptor is that is ready.
pub(super) const BELL: u64 = u64::MAX;
pub(super) const OTHER: u64 = 1 << 32;

/// The connection to a node, and what is known about it.
struct Peer {
    line: Line,
    /// What the kernel's list has it wait for.
    watched: epoll::EventFlags,
    /// Since when a piece waits for a rank.
    blocked: Option<Instant>,
    /// Something lies there for a rank that has no room.
    is_held: bool,
    /// A part of a frame lies there.
    is_part: bool,
    /// Passes in a row that the socket had no room for.
    full: u32,
}

/// A process's part in the gateway, with its descriptors.
pub(super) struct Gate {
    pub(super) core: Core<Arc<Mapped>>,
    peers: Vec<Option<Peer>>,
    arrivals: Arrivals,
    /// The nodes that the last look told of.
    arrived: Vec<usize>,
    bells: Vec<OwnedFd>,
    epoll: OwnedFd,
    /// Whether this is a daemon: it sees connections end.
    is_daemon: bool,
    /// Whether it has woken a rank, which may find itself on this processor.
    has_woken: Cell<bool>,
    lender: Arc<Lender>,
    /// From which nodes something has come that this rank is to take from the connections.
    landing: VecDeque<usize>,
}

/// A new bell.
pub(super) fn bell() -> Result<OwnedFd> {
    eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)
        .map_err(|errno| Error::io("making a bell", errno))
}

/// Rings one.
pub(super) fn ring(bell: BorrowedFd<'_>) {
    // It is full where it was rung 2^64 times already.
    let _ = rustix::io::write(bell, &1_u64.to_ne_bytes());
}

impl Gate {
    pub(super) fn new(core: Core<Arc<Mapped>>, bells: Vec<OwnedFd>) -> Result<Gate> {
        let failed = |errno| Error::io("making a list of descriptors to wait for", errno);
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC).map_err(failed)?;
        let own = epoll::EventData::new_u64(BELL);
        epoll::add(&epoll, &bells[core.me], own, epoll::EventFlags::IN).map_err(failed)?;
        let is_daemon = core.me == core.layout.here();
        let peers = core.layout.ranks.iter().map(|_| None).collect();
        let (arrivals, arrived) = (Arrivals::new(&core.layout, is_daemon)?, Vec::new());
        let (has_woken, lender) = (Cell::new(false), Arc::new(Lender::new()));
        Ok(Gate {
            core,
            peers,
            arrivals,
            arrived,
            bells,
            epoll,
            is_daemon,
            has_woken,
            lender,
            landing: VecDeque::new(),
        })
    }

    /// Has sleeps end when a descriptor is readable.
    pub(super) fn watch(&self, descriptor: BorrowedFd<'_>, name: u64) -> Result<()> {
        let data = epoll::EventData::new_u64(name);
        epoll::add(&self.epoll, descriptor, data, epoll::EventFlags::IN)
            .map_err(|errno| Error::io("waiting for a descriptor", errno))
    }

    /// It cannot sleep any more: a program may close all descriptors.
    #[cfg(test)]
    pub(super) fn spoil(&mut self) {
        self.epoll = std::fs::File::open("/dev/null").expect("it is there").into();
    }

    /// Waits for a descriptor no more.
    pub(super) fn unwatch(&self, descriptor: BorrowedFd<'_>) {
        // It was not in the list.
        let _ = epoll::delete(&self.epoll, descriptor);
    }

    pub(super) fn bell(&self, process: usize) -> BorrowedFd<'_> {
        self.bells[process].as_fd()
    }

    /// The socket to a node, and its epoch.
    pub(super) fn line(&self, node: usize) -> Option<&Line> {
        self.peers[node].as_ref().map(|peer| &peer.line)
    }

    /// A connection as this process has it.
    pub(super) fn new_line(&self, kept: Kept, epoch: u32) -> Line {
        Line::new(kept, epoch, &self.lender)
    }

    /// From now on a node is reached over this.
    pub(super) fn set_line(&mut self, node: usize, line: Line) -> Result<()> {
        self.cut(node);
        let mut watched = epoll::EventFlags::empty();
        watched.set(epoll::EventFlags::RDHUP, self.is_daemon);
        let data = epoll::EventData::new_u64(node as u64);
        epoll::add(&self.epoll, line.descriptor(), data, watched)
            .map_err(|errno| Error::io("waiting for another node", errno))?;
        let listed = self.arrivals.add(node, line.descriptor());
        listed.inspect_err(|_| self.unwatch(line.descriptor()))?;
        let peer = Peer { line, watched, blocked: None, is_held: false, is_part: false, full: 0 };
        self.peers[node] = Some(peer);
        Ok(())
    }

    /// A node is no longer reached over what it was.
    pub(super) fn cut(&mut self, node: usize) {
        self.landing.retain(|other| *other != node);
        if let Some(peer) = self.peers[node].take() {
            peer.line.hang_up();
            self.arrivals.remove(peer.line.descriptor());
            self.unwatch(peer.line.descriptor());
        }
    }

    /// Whether there is a connection to a node that this process can use.
    fn is_up(&self, node: usize) -> bool {
        let epoch = self.core.epoch(node);
        epoch.is_some() && epoch == self.line(node).map(Wire::epoch)
    }

    /// Moves what can be moved, over all connections; whether anything has come. For `lands` see
    /// [`Manner`].
    pub(super) fn pass(&mut self, lands: bool) -> bool {
        self.core.layout.peers().for_each(|node| self.send(node));
        let has_come = self.receive_all(lands);
        self.tell();
        has_come
    }

    /// Moves what comes, and what had no room in a socket.
    pub(super) fn hear(&mut self, lands: bool) {
        for node in self.core.layout.peers() {
            if self.peers[node].as_ref().is_some_and(|peer| peer.full > 0) {
                self.send(node);
            }
        }
        self.receive_all(lands);
        self.tell();
    }

    /// Takes what has come; whether anything has.
    fn receive_all(&mut self, lands: bool) -> bool {
        let mut arrived = std::mem::take(&mut self.arrived);
        self.arrivals.look(&self.core.layout, &mut arrived);
        // Where there are more than are told of at once, nothing is known of the others.
        let is_all = arrived.len() < super::arrivals::TOLD;
        for node in self.core.layout.peers().filter(|node| is_all && !arrived.contains(node)) {
            if let Some(peer) = &mut self.peers[node] {
                // Another rank has taken what lay there.
                (peer.blocked, peer.is_held, peer.is_part) = (None, false, false);
            }
        }
        let mut has_come = false;
        for node in &arrived {
            has_come |= self.receive(*node, lands);
        }
        self.arrived = arrived;
        has_come
    }

    /// Sends what ranks here have for a node.
    pub(super) fn send(&mut self, node: usize) {
        if !self.is_up(node) {
            return;
        }
        let Some(peer) = &mut self.peers[node] else { return };
        if !self.core.has_work(node, peer.line.epoch()) {
            peer.full = 0;
            return;
        }
        match self.core.send(node, &peer.line) {
            Ok(Sent::Full) => peer.full += 1,
            Ok(Sent::All | Sent::Other) => peer.full = 0,
            Ok(Sent::More) => ring_at(&self.bells, self.core.layout.here()),
            Err(broken) => self.give_up(node, broken),
        }
    }

    /// Takes what has come from a node; whether anything has.
    pub(super) fn receive(&mut self, node: usize, lands: bool) -> bool {
        if !self.is_up(node) {
            return false;
        }
        let Some(peer) = &mut self.peers[node] else { return false };
        let is_patient = peer.blocked.is_none_or(|since| since.elapsed() < PATIENCE);
        let manner = Manner { is_patient, lands };
        let received = match self.core.receive(node, &peer.line, manner) {
            Ok(received) => received,
            Err(broken) => {
                self.give_up(node, broken);
                return false;
            }
        };
        match received {
            Received::Blocked => drop(peer.blocked.get_or_insert_with(Instant::now)),
            Received::Other => {}
            _ => peer.blocked = None,
        }
        if received == Received::Own && !self.landing.contains(&node) {
            self.landing.push_back(node);
        }
        peer.is_held = received == Received::Blocked;
        peer.is_part = received == Received::Part;
        matches!(received, Received::Frames(_))
    }

    /// Whether any connection has something that this rank is to take from there.
    #[inline]
    pub(super) fn has_own(&self) -> bool {
        !self.landing.is_empty()
    }

    /// Takes the first of that; how many pieces, or none where somebody else was faster.
    ///
    /// # Errors
    /// [`Error::Io`] where the kernel does not give what has arrived, or has no place for it.
    pub(super) fn land(&mut self, take: &mut dyn FnMut(Piece<'_>)) -> Result<Option<u32>> {
        let Some(node) = self.landing.pop_front().filter(|node| self.is_up(*node)) else {
            return Ok(None);
        };
        let Some(peer) = &self.peers[node] else { return Ok(None) };
        match self.core.land(node, &peer.line, take) {
            Ok(Landed::Pieces(count)) => Ok(Some(count)),
            Ok(Landed::Not) => Ok(None),
            Ok(Landed::Torn) => {
                // Where the next frame begins is not known.
                peer.line.hang_up();
                Err(Error::io("taking what had arrived from another node", Errno::FAULT))
            }
            Err(broken) => {
                self.give_up(node, broken);
                Ok(None)
            }
        }
    }

    /// A connection is of no more use; the daemon sees that it has ended.
    fn give_up(&mut self, node: usize, broken: Broken) {
        if broken == Broken::Malformed {
            self.core.close(node, Some(Loss::Malformed));
        }
        if let Some(peer) = &self.peers[node] {
            peer.line.hang_up();
        }
        if !self.is_daemon {
            self.cut(node);
        }
    }

    /// Wakes those for whom something has come.
    pub(super) fn tell(&mut self) {
        for (set, news) in self.core.news.iter_mut().enumerate() {
            if *news == 0 {
                continue;
            }
            let mut left = std::mem::take(news);
            self.core.memory.fence();
            while left != 0 {
                let process = set * 64 + left.trailing_zeros() as usize;
                left &= left - 1;
                let asleep = self.core.layout.process(process, Process::Asleep);
                if process != self.core.me && self.core.memory.load(asleep) != 0 {
                    ring_at(&self.bells, process);
                    self.has_woken.set(true);
                }
            }
        }
    }

    /// Wakes all that sleep.
    pub(super) fn tell_all(&mut self) {
        (0..self.core.layout.here()).for_each(|rank| self.core.note(rank));
        self.tell();
    }

    /// Wakes all, whatever they say: who was to wake one may have been killed just before.
    pub(super) fn ring_all(&self) {
        (0..self.core.layout.here()).for_each(|rank| ring_at(&self.bells, rank));
    }

    /// Wakes a rank here, if it sleeps, for what was published before.
    #[inline]
    pub(super) fn wake(&self, rank: usize) {
        if self.core.wakes(rank) {
            ring_at(&self.bells, rank);
            self.has_woken.set(true);
        }
    }

    /// Whether it has woken a rank since it was last asked.
    pub(super) fn has_woken(&self) -> bool {
        self.has_woken.take()
    }

    /// Becomes the sentinel where there is none, or where the daemon is.
    pub(super) fn keep_watch(&self) {
        let (own, daemon) = (self.core.me as u64 + 1, self.core.layout.here() as u64 + 1);
        for node in self.core.layout.peers().filter(|node| self.is_up(*node)) {
            let at = self.core.layout.endpoint(node, Endpoint::Sentinel);
            let sentinel = self.core.memory.load(at);
            if sentinel == 0 || sentinel == daemon {
                self.core.memory.replace(at, sentinel, own);
            }
        }
    }

    /// Is the sentinel no more, and leaves it to a rank that sleeps, if there is one.
    pub(super) fn leave_watch(&self) {
        let own = self.core.me as u64 + 1;
        let mut has_left = false;
        for node in self.core.layout.peers() {
            let at = self.core.layout.endpoint(node, Endpoint::Sentinel);
            has_left |= self.core.memory.load(at) == own && self.core.memory.replace(at, own, 0);
        }
        let is_asleep = |rank: &usize| {
            let asleep = self.core.layout.process(*rank, Process::Asleep);
            let is_other = *rank != self.core.me && !self.core.is_over(*rank);
            is_other && self.core.memory.load(asleep) != 0
        };
        if has_left && let Some(rank) = (0..self.core.layout.here()).find(is_asleep) {
            ring_at(&self.bells, rank);
        }
    }

    /// Whether this process is the sentinel of a node.
    pub(super) fn is_sentinel(&self, node: usize) -> bool {
        let at = self.core.layout.endpoint(node, Endpoint::Sentinel);
        self.core.memory.load(at) == self.core.me as u64 + 1
    }

    /// Sleeps, at most so long, and tells what is ready beside the bell. Whether that time is over.
    ///
    /// # Errors
    /// [`Error::Io`] where it cannot: the program may have closed all descriptors, or may not call
    /// what is called for it.
    pub(super) fn sleep(&mut self, most: Duration, ready: &mut Vec<u64>) -> Result<bool> {
        let mut time = most;
        for node in self.core.layout.peers() {
            let (is_up, is_sentinel) = (self.is_up(node), self.is_sentinel(node));
            if !is_up && !self.is_daemon {
                // It is dead, and the kernel would tell of that in each sleep.
                self.cut(node);
            }
            let Some(peer) = self.peers[node].as_mut().filter(|_| is_up) else { continue };
            let is_due = self.core.has_work(node, peer.line.epoch());
            let mut flags = epoll::EventFlags::empty();
            flags.set(epoll::EventFlags::RDHUP, self.is_daemon);
            flags.set(epoll::EventFlags::IN, is_sentinel && !peer.is_held);
            // What more comes is told then, and what lies there already only once.
            flags.set(epoll::EventFlags::ET, peer.is_part);
            flags.set(epoll::EventFlags::OUT, is_due && peer.full == 1);
            if peer.is_held || is_due && peer.full >= 2 {
                time = time.min(NAP);
            }
            if flags != peer.watched {
                let data = epoll::EventData::new_u64(node as u64);
                // It only fails for what is not in the list.
                let _ = epoll::modify(&self.epoll, peer.line.descriptor(), data, flags);
                peer.watched = flags;
            }
        }
        let time = Timespec { tv_sec: 0, tv_nsec: time.as_nanos().min(999_999_999) as i64 };
        let mut told = [const { MaybeUninit::<epoll::Event>::uninit() }; TOLD];
        ready.clear();
        let told = match epoll::wait(&self.epoll, &mut told, Some(&time)) {
            Ok((told, _)) => told,
            // All is looked at again.
            Err(Errno::INTR) => return Ok(false),
            Err(errno) => return Err(Error::io("waiting for the job's other ranks", errno)),
        };
        let is_over = told.is_empty();
        for event in told {
            match event.data.u64() {
                BELL => {
                    // Somebody may have been faster: nobody else has this bell's reading end.
                    let _ = rustix::io::read(&self.bells[self.core.me], &mut [0_u8; 8]);
                }
                other => ready.push(other),
            }
        }
        Ok(is_over)
    }
}

impl<M: Memory> Core<M> {
    /// Says whether this process sleeps, and for what; who says so has to look once more.
    pub(super) fn announce(&self, sleep: Sleep) {
        self.memory.store(self.layout.process(self.me, Process::Asleep), sleep as u64);
        match sleep {
            Sleep::No => {}
            // Nobody here sends messages to one who is the only rank.
            _ if self.layout.here() == 1 => self.memory.fence(),
            _ => self.memory.barrier(),
        }
    }

    /// After something was published for a rank here: whether it sleeps and is to be woken. Only
    /// one who asks is told so.
    #[inline]
    pub(super) fn wakes(&self, rank: usize) -> bool {
        let asleep = self.layout.process(rank, Process::Asleep);
        self.memory.load(asleep) != 0 && self.memory.take(asleep) != 0
    }
}

fn ring_at(bells: &[OwnedFd], process: usize) {
    ring(bells[process].as_fd());
}
