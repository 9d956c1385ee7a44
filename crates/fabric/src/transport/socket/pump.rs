//! The threads that move the bytes of protected connections: one for each lane, so that no message
//! of the system lane waits behind the bulk lane's ciphers. Each sleeps on all its connections at
//! once (epoll(7), edge-triggered: a [`Joint`] goes on until both its sockets refuse). While its
//! sleeps are short it looks for a moment before it sleeps, where nobody waits for a processor:
//! three wake-ups of sleeping cores are most of what a short message costs.
//!
//! A connection begins in the bulk lane's thread, for nobody knows its lane before the hello and a
//! handshake costs some 100 us; [`Tunnel::enter`] moves it to its lane. The threads start with the
//! first connection, or the first door that waits for one, and stay as long as the process: those
//! of an idle one sleep. A fork of it begins with none: the connections that it has from before are
//! its parent's, and ended for it. One that is made while another thread opens a connection has to
//! exec.
//!
//! What was sent and then dropped is under way in this process and not in the kernel's hands as it
//! would be with TCP. So dropping an end waits until its thread has given the kernel all that it
//! takes: that never waits for the peer, and who exits next loses nothing that TCP would not lose,
//! unless TCP has no room because the peer is slow: then what waits before the ciphers, a socket's
//! buffer and [`TLS_CHUNK`] at most, goes with the process, and the peer is told of a cut.

use super::connect::FLAGS;
use super::identity::{Member, Members, PublicKey};
use super::joint::{Joint, Next};
use super::option;
use super::session::{Cut, Session};
use crate::epoll::{self, EventData, EventFlags};
use crate::error::{Error, Result};
use crate::processors::Processors;
use crate::transport::Lane;
use crate::transport::shared::sys::forks;
use muster_base::limits::TLS_CHUNK;
use rustix::buffer::spare_capacity;
use rustix::event::{EventfdFlags, Timespec, eventfd};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketType, socketpair};
use std::collections::HashMap;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{SendError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::{Duration, Instant};

/// The waker's number; connections count from 0, with two sockets each.
const WAKER: u64 = u64::MAX;

/// Sockets told of at once; others have their turn with the next look.
const TOLD: usize = 128;

/// Turns in which a connection hands on all that a full socket holds, whatever comes meanwhile.
const SETTLING: usize = 32;

/// How long an order may take, on a machine that is busy beyond measure.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long to look before sleeping, when the last sleep was shorter: what a message takes there
/// and back through two pumps that sleep.
const BRISK: Duration = Duration::from_micros(200);

/// How often those are looked at that linger.
const LOOK: Timespec = Timespec { tv_sec: 1, tv_nsec: 0 };

/// What both sides of a pump know of a connection.
#[derive(Debug, Default)]
pub struct Link {
    cut: OnceLock<Cut>,
    key: OnceLock<PublicKey>,
}

impl Link {
    /// Told once, before the local socket closes.
    pub fn cut(&self, cut: Cut) {
        let _ = self.cut.set(cut);
    }

    /// Why it was cut, if it was.
    pub fn reason(&self) -> Option<&Cut> {
        self.cut.get()
    }

    /// Told once, before the first bytes of the peer are handed over.
    pub fn know(&self, key: impl FnOnce() -> Option<PublicKey>) {
        if self.key.get().is_none()
            && let Some(key) = key()
        {
            let _ = self.key.set(key);
        }
    }
}

/// The near end's hold on a protected connection. Dropping it waits as said above, so it goes
/// after its socket.
#[derive(Debug)]
pub struct Tunnel {
    link: Arc<Link>,
    pump: Arc<Pump>,
    number: u64,
    members: Members,
}

/// All that a protected connection needs beside its socket over TCP: who has it can keep whom he
/// accepts, whatever is lacking then.
#[derive(Debug)]
pub struct Ends {
    near: OwnedFd,
    local: OwnedFd,
    pump: Arc<Pump>,
}

impl Ends {
    /// For a connection in this lane.
    pub fn new(lane: Lane) -> Result<Ends> {
        let pair = socketpair(AddressFamily::UNIX, SocketType::STREAM, FLAGS, None);
        let (near, local) = pair.map_err(|errno| Error::io("making a pair of sockets", errno))?;
        Pump::of(lane)?;
        Ok(Ends { near, local, pump: Pump::of(Lane::Bulk)? })
    }
}

impl Tunnel {
    /// Protects a connection over TCP: its end in the clear, and the hold on it. The handshake
    /// goes on by itself.
    pub fn open(tcp: OwnedFd, session: Session, members: Members, ends: Ends) -> (OwnedFd, Tunnel) {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let (Ends { near, local, pump }, link) = (ends, Arc::new(Link::default()));
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        pump.adopt(number, Joint::new(tcp, local, session, link.clone()));
        (near, Tunnel { link, pump, number, members })
    }

    /// Moves it to its lane.
    pub fn enter(&mut self, lane: Lane) -> Result<()> {
        if lane == Lane::Bulk {
            return Ok(());
        }
        let system = Pump::of(lane)?;
        // None: it has ended meanwhile, as its socket says, or stays where it is.
        if let Some(joint) = self.pump.ask(|tell| Order::Release(self.number, tell)).flatten() {
            let set = option::tcp(joint.tcp.as_fd(), lane);
            let set = set.and_then(|()| option::lane(joint.local.as_fd(), lane));
            set.map_err(|errno| Error::io("setting up a connection", errno))?;
            system.adopt(self.number, joint);
            self.pump = system;
        }
        Ok(())
    }

    /// Gives the connection away once all that was written has left this end: its socket over TCP,
    /// and the session that goes on there. What had come before is at the near end, and nothing
    /// more. This end is of no more use then. None: the connection has ended, or does.
    pub fn leave(&mut self) -> Option<(OwnedFd, Session)> {
        self.pump.ask(|tell| Order::Settle(self.number, tell))?;
        self.pump.ask(|tell| Order::Release(self.number, tell)).flatten()?.give_away()
    }

    /// As [`Tunnel::enter`] and [`Tunnel::leave`] of one who does not wait for the answer.
    #[cfg(test)]
    pub fn ask_in_vain(&self) {
        let (tell, told) = sync_channel(1);
        drop(told);
        self.pump.order(Order::Release(self.number, tell));
    }

    /// Whether the peer's kernel has all that was written, or the connection has ended.
    pub fn is_delivered(&self) -> bool {
        self.pump.ask(|tell| Order::Settle(self.number, tell)).unwrap_or(false)
    }

    /// Why it has ended, if not in order.
    pub fn cut(&self) -> Option<&Cut> {
        self.link.reason()
    }

    /// Whose key the peer has proved to have, if it still is a member's.
    pub fn member(&self) -> Option<Member> {
        self.members.find(*self.link.key.get()?)
    }
}

impl Drop for Tunnel {
    fn drop(&mut self) {
        self.pump.ask(|tell| Order::Settle(self.number, tell));
    }
}

/// What a pump's thread is asked to do.
enum Order {
    Adopt(u64, Box<Joint>),
    /// Gives a connection back, if it is still there.
    Release(u64, SyncSender<Option<Joint>>),
    /// Has a connection's near end read as far as possible, and tells whether the peer's kernel has
    /// all of it.
    Settle(u64, SyncSender<bool>),
}

/// A thread, and what it sleeps on.
#[derive(Debug)]
struct Pump {
    epoll: OwnedFd,
    waker: OwnedFd,
    orders: Mutex<Vec<Order>>,
    /// The process in which the thread runs: a fork of it has none.
    forks: u32,
}

impl std::fmt::Debug for Order {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (Order::Adopt(number, _) | Order::Release(number, _) | Order::Settle(number, _)) = self;
        write!(f, "of connection {number}")
    }
}

impl Pump {
    /// A lane's.
    fn of(lane: Lane) -> Result<Arc<Pump>> {
        static PUMPS: Mutex<[Option<Arc<Pump>>; 2]> = Mutex::new([None, None]);
        let mut pumps = PUMPS.lock().expect("nobody panics with it");
        let place = &mut pumps[usize::from(lane == Lane::System)];
        if let Some(pump) = place.as_ref().filter(|pump| pump.is_here()) {
            return Ok(pump.clone());
        }
        let fallible = || {
            let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
            let waker = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
            epoll::add(&epoll, &waker, EventData::new_u64(WAKER), EventFlags::IN)?;
            Ok((epoll, waker))
        };
        let (epoll, waker) =
            fallible().map_err(|errno: Errno| Error::io("starting a pump", errno))?;
        let pump = Arc::new(Pump { epoll, waker, orders: Mutex::default(), forks: forks() });
        let own = pump.clone();
        let name = if lane == Lane::System { "fabric-tls-sys" } else { "fabric-tls" };
        let builder = std::thread::Builder::new().name(name.to_owned());
        let started = builder.spawn(move || Run::new(own).run());
        started.map_err(|source| Error::Exhausted { what: "threads", source })?;
        Ok(place.insert(pump).clone())
    }

    fn orders(&self) -> MutexGuard<'_, Vec<Order>> {
        self.orders.lock().expect("nobody panics with it")
    }

    fn order(&self, order: Order) {
        self.orders().push(order);
        rustix::io::write(&self.waker, &1u64.to_ne_bytes()).expect("an event can be signalled");
    }

    /// Whether its thread runs in this process.
    fn is_here(&self) -> bool {
        self.forks == forks()
    }

    /// Waits for the answer to an order, which comes at the thread's next turn.
    fn ask<T>(&self, order: impl FnOnce(SyncSender<T>) -> Order) -> Option<T> {
        if !self.is_here() {
            return None;
        }
        let (tell, told) = sync_channel(1);
        self.order(order(tell));
        told.recv_timeout(PATIENCE).ok()
    }

    /// Takes a connection over.
    fn adopt(&self, number: u64, joint: Joint) {
        self.order(Order::Adopt(number, Box::new(joint)));
    }

    /// Has a connection in the list, which tells at once what its sockets are ready for.
    fn watch(&self, number: u64, joint: &Joint) -> rustix::io::Result<()> {
        let far = EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET;
        epoll::add(&self.epoll, &joint.tcp, EventData::new_u64(number * 2), far)?;
        epoll::add(&self.epoll, &joint.local, EventData::new_u64(number * 2 + 1), near(false))
    }
}

/// What a local end is to tell. It would tell of room whenever the near end has read, so it is
/// asked only when there was none.
fn near(room: bool) -> EventFlags {
    let mut flags = EventFlags::IN | EventFlags::RDHUP | EventFlags::ET;
    flags.set(EventFlags::OUT, room);
    flags
}

/// The thread.
struct Run {
    pump: Arc<Pump>,
    joints: HashMap<u64, Seat>,
    /// Those that wait for a peer to take what a dropped end has sent.
    lingering: Vec<u64>,
    /// What epoll(7) has told.
    told: Vec<epoll::Event>,
    /// The last sleep was short.
    is_brisk: bool,
    processors: Processors,
}

/// A connection of the thread's.
struct Seat {
    joint: Joint,
    /// Its local end is asked for room.
    asks_room: bool,
}

impl Run {
    fn new(pump: Arc<Pump>) -> Run {
        let (joints, lingering, told) = (HashMap::new(), Vec::new(), Vec::with_capacity(TOLD));
        let processors = Processors::new();
        Run { pump, joints, lingering, told, is_brisk: false, processors }
    }

    fn run(mut self) {
        let mut chunk = vec![0; TLS_CHUNK];
        let (mut ready, mut rest) = (Vec::new(), Vec::new());
        loop {
            self.look(&mut ready, !rest.is_empty());
            ready.append(&mut rest);
            ready.sort_unstable();
            ready.dedup();
            for number in ready.drain(..) {
                if self.turn(number, &mut chunk) == Next::Again {
                    rest.push(number);
                }
            }
            self.obey(&mut rest, &mut chunk);
        }
    }

    /// Sleeps, unless there is something to do, and notes what the sockets tell.
    fn look(&mut self, ready: &mut Vec<u64>, is_busy: bool) {
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        let time = if is_busy { Some(&now) } else { (!self.lingering.is_empty()).then_some(&LOOK) };
        self.told.clear();
        let begun = Instant::now();
        let (mut may_look, mut is_asked) = (self.is_brisk && !is_busy, false);
        loop {
            may_look &= begun.elapsed() < BRISK;
            let time = if may_look { Some(&now) } else { time };
            // Interrupted: what was to be told is told the next time.
            let told = spare_capacity(&mut self.told);
            let Ok(count) = epoll::wait(&self.pump.epoll, told, time) else { return };
            if count > 0 || !may_look {
                break;
            }
            may_look = is_asked || !self.processors.are_wanted();
            is_asked = true;
            std::thread::yield_now();
        }
        if !is_busy {
            self.is_brisk = begun.elapsed() < BRISK;
        }
        for event in &self.told {
            let (number, flags) = (event.data.u64(), event.flags);
            let Some(Seat { joint, .. }) = self.joints.get_mut(&(number / 2)) else { continue };
            let is_near = number % 2 == 1;
            let socket = if is_near { &mut joint.near } else { &mut joint.far };
            let ended = EventFlags::RDHUP | EventFlags::HUP | EventFlags::ERR;
            socket.ended |= flags.intersects(ended);
            socket.readable |= flags.intersects(EventFlags::IN | ended);
            socket.writable |=
                flags.intersects(EventFlags::OUT | EventFlags::HUP | EventFlags::ERR);
            if is_near && flags.contains(EventFlags::HUP) {
                joint.leave();
            }
            ready.push(number / 2);
        }
        let joints = &mut self.joints;
        self.lingering.retain(|number| {
            let lingers = joints.get(number).and_then(|seat| seat.joint.lingers());
            if lingers == Some(false) {
                joints.remove(number);
            }
            lingers == Some(true)
        });
    }

    fn turn(&mut self, number: u64, chunk: &mut [u8]) -> Next {
        let Some(seat) = self.joints.get_mut(&number) else { return Next::Over };
        let next = seat.joint.turn(chunk);
        let room = seat.joint.wants_room();
        if seat.joint.lingers().is_some() && !self.lingering.contains(&number) {
            self.lingering.push(number);
        }
        if next == Next::Over {
            self.joints.remove(&number);
        } else if room != seat.asks_room {
            seat.asks_room = room;
            let data = EventData::new_u64(number * 2 + 1);
            let asked = epoll::modify(&self.pump.epoll, &seat.joint.local, data, near(room));
            asked.expect("it is in the list");
        }
        next
    }

    fn adopt(&mut self, number: u64, joint: Joint, rest: &mut Vec<u64>) {
        match self.pump.watch(number, &joint) {
            Ok(()) => {
                self.joints.insert(number, Seat { joint, asks_room: false });
                rest.push(number);
            }
            Err(errno) => joint.refuse(errno.to_string()),
        }
    }

    fn obey(&mut self, rest: &mut Vec<u64>, chunk: &mut [u8]) {
        let _ = rustix::io::read(&self.pump.waker, &mut [0; 8]);
        let orders = std::mem::take(&mut *self.pump.orders());
        for order in orders {
            match order {
                Order::Adopt(number, joint) => self.adopt(number, *joint, rest),
                Order::Release(number, tell) => {
                    let joint = self.joints.remove(&number).map(|seat| seat.joint);
                    if let Some(joint) = &joint {
                        for socket in [&joint.tcp, &joint.local] {
                            epoll::delete(&self.pump.epoll, socket).expect("it is in the list");
                        }
                    }
                    // Nobody waits for it any more: this process was stopped for long, say.
                    if let Err(SendError(Some(joint))) = tell.send(joint) {
                        self.adopt(number, joint, rest);
                    }
                }
                Order::Settle(number, tell) => {
                    if let Some(seat) = self.joints.get_mut(&number) {
                        // It may have been told and not looked at.
                        seat.joint.near.readable = true;
                    }
                    let mut turns = 0..SETTLING;
                    while turns.next().is_some() && self.turn(number, chunk) == Next::Again {}
                    let seat = self.joints.get(&number);
                    let _ = tell.send(seat.is_none_or(|seat| seat.joint.is_delivered()));
                }
            }
        }
    }
}
