//! One peer: its connection, and what waits for it.

use super::{Traffic, wire};
use crate::error::{Error, Result};
use crate::protocol::{NodeId, Outgoing, Payload, Time};
use crate::strategy::{Datagram, Taken};
use muster_base::limits::{QUEUE_BYTES_MAX, QUEUE_MAX};
use std::collections::VecDeque;
use std::time::Duration;

/// The pause after a connection that could not be made; it doubles.
const PAUSE: Duration = Duration::from_millis(10);
/// The longest pause.
const PAUSE_MAX: Duration = Duration::from_millis(500);
/// So often a descriptor may say that there is room, and what is sent still does not end: long
/// messages need many turns, but some descriptors only tell of what arrives. Those of near peers,
/// for which memory tells, are known to: there it is tried again from the first time.
const TURNS: u32 = 256;
/// When to try again then.
const RETRY: Duration = Duration::from_micros(200);
/// The same after many times in vain.
const RETRY_MAX: Duration = Duration::from_millis(4);

/// How far a connection has come.
pub enum State {
    /// There is none.
    Idle,
    /// It is being made.
    Connecting { attempt: u64 },
    /// It is there.
    Up { life: u64, connection: Box<dyn Datagram> },
}

/// A peer.
pub struct Peer {
    pub node: NodeId,
    pub state: State,
    /// With each, whether it is between shells. What is urgent goes first, between any two others.
    urgent: VecDeque<(bool, Outgoing)>,
    queue: VecDeque<(bool, Outgoing)>,
    bytes: usize,
    /// Not before this a connection is made.
    pub not_before: Time,
    pause: Duration,
    /// Something waits for room.
    pub is_full: bool,
    /// How often in a row it has waited.
    turns: u32,
    /// Its descriptor is being watched, also for room or not.
    pub watched: Option<bool>,
    /// Memory tells what comes from it.
    pub is_near: bool,
    /// It was looked at in memory: it does not tell of what comes before it is asked to.
    pub is_awake: bool,
    /// When to look for room, whatever the descriptor says.
    pub retry: Option<Time>,
    /// How long after the next try in vain.
    nap: Duration,
}

impl Peer {
    pub fn new(node: NodeId) -> Peer {
        Peer {
            node,
            state: State::Idle,
            urgent: VecDeque::new(),
            queue: VecDeque::new(),
            bytes: 0,
            not_before: Time::default(),
            pause: PAUSE,
            is_full: false,
            turns: 0,
            watched: None,
            is_near: false,
            is_awake: false,
            retry: None,
            nap: RETRY,
        }
    }

    /// Queues a message; false when there are too many.
    pub fn push(&mut self, is_control: bool, is_urgent: bool, message: Outgoing) -> bool {
        if self.waiting() == 0 {
            // What is still on its way out may have left room.
            self.retry = None;
        }
        self.bytes += message.body.len() + message.head.len();
        let queue = if is_urgent { &mut self.urgent } else { &mut self.queue };
        queue.push_back((is_control, message));
        self.waiting() <= QUEUE_MAX && self.bytes <= QUEUE_BYTES_MAX
    }

    /// How many messages have not left.
    pub fn waiting(&self) -> usize {
        self.urgent.len() + self.queue.len()
    }

    /// Something waits for a connection.
    pub fn wants_connection(&self) -> bool {
        matches!(self.state, State::Idle) && self.waiting() > 0
    }

    pub fn is_up(&self) -> bool {
        matches!(self.state, State::Up { .. })
    }

    /// There is a connection.
    pub fn raise(&mut self, life: u64, connection: Box<dyn Datagram>) {
        self.state = State::Up { life, connection };
        (self.pause, self.is_full, self.retry, self.watched) = (PAUSE, false, None, None);
        self.is_near = self.glance().is_some();
    }

    /// What is queued is lost.
    pub fn empty(&mut self) {
        self.urgent.clear();
        self.queue.clear();
        (self.bytes, self.is_full, self.retry) = (0, false, None);
    }

    /// No connection for a while.
    pub fn pause(&mut self, now: Time) {
        self.not_before = now + self.pause;
        self.pause = (self.pause * 2).min(PAUSE_MAX);
    }

    /// Sends what there is room for.
    pub fn send(&mut self, now: Time, traffic: &Traffic) -> Result<()> {
        let State::Up { connection, .. } = &mut self.state else { return Ok(()) };
        (self.is_full, self.retry) = (false, None);
        let blocked = loop {
            // A connection keeps nothing of what it had no room for, so that may be overtaken.
            let queue = if self.urgent.is_empty() { &mut self.queue } else { &mut self.urgent };
            let Some((is_control, Outgoing { head, body, .. })) = queue.front() else {
                break !connection.try_flush()?;
            };
            let size = wire::size(head.len(), *is_control);
            match connection.try_queue(&[&size, head], body) {
                Ok(()) => {
                    let count = head.len() + body.len();
                    (self.bytes, self.turns, self.nap) = (self.bytes - count, 0, RETRY);
                    Traffic::add(&traffic.messages, 1);
                    if !*is_control {
                        traffic.count(head);
                    }
                    Traffic::add(&traffic.sent, size.len() + count);
                }
                Err(Error::WouldBlock) => break true,
                Err(error) => return Err(error),
            }
            queue.pop_front();
        };
        if blocked {
            self.is_full = true;
            self.turns += 1;
            self.retry = (self.is_near || self.turns > TURNS).then(|| now + self.nap);
            self.nap = (self.nap * 2).min(RETRY_MAX);
        }
        Ok(())
    }

    /// Whether there is something to do, as far as memory tells; none where it does not.
    pub fn glance(&mut self) -> Option<bool> {
        let State::Up { connection, .. } = &mut self.state else { return Some(false) };
        let is_ready = connection.glance();
        self.is_awake |= is_ready.is_some();
        if is_ready == Some(true) {
            // There may be room: what waits for it is due.
            self.retry = self.retry.map(|_| Time::default());
        }
        is_ready
    }

    /// From the next look in vain on its descriptor tells of what comes.
    pub fn ask_to_tell(&self) {
        if let State::Up { connection, .. } = &self.state {
            let _ = connection.descriptor();
        }
    }

    /// Whether nothing more is known to have arrived.
    pub fn is_drained(&self) -> bool {
        match &self.state {
            State::Up { connection, .. } => connection.is_drained(),
            _ => true,
        }
    }

    /// The next message: whether it is between shells, its head and its body. False when there is
    /// none.
    pub fn take(&mut self, take: &mut dyn FnMut(bool, &[u8], Payload)) -> Result<bool> {
        let State::Up { connection, .. } = &mut self.state else { return Ok(false) };
        let mut is_message = true;
        let taken = connection.try_keep(&mut |message| {
            let bytes: &[u8] = match &message {
                Taken::Seen(bytes) => bytes,
                Taken::Kept(payload) => payload,
            };
            let Some((is_control, head, body)) = wire::divide(bytes) else {
                return is_message = false;
            };
            let body = match &message {
                Taken::Seen(_) => Payload::from(body.to_vec()),
                Taken::Kept(payload) => payload.part(bytes.len() - body.len()..bytes.len()),
            };
            take(is_control, head, body);
        });
        match taken {
            Ok(()) if is_message => Ok(true),
            Ok(()) => {
                let what = "a message that is shorter than its head".to_owned();
                Err(Error::Malformed { peer: self.node.to_string(), what })
            }
            Err(Error::WouldBlock) => Ok(false),
            Err(error) => Err(error),
        }
    }
}
