//! What a member's shell runs: the core of the primitives, and that of the heartbeat beside it.
//!
//! They share the connections, and who belongs to one belongs to the other: each epoch of the
//! global memory names the heartbeat's members. A message of the heartbeat is told by the highest
//! bit of its first byte, which the primitives do not use.
//!
//! Strobes and leases do not wait behind the bodies of transfers: these messages are urgent. Of the
//! primitives only what renews leases may be: it says nothing of the links, and counts from when it
//! was asked for, whatever it overtakes (`primitive/lease.rs`).

use crate::heartbeat::{self, Heartbeat};
use crate::primitive::{Core, Notice, Request};
use crate::protocol::{Malformed, NodeId, Outgoing, Payload, Protocol, Time};

/// The bit of a heartbeat's messages.
const HEARTBEAT: u8 = 1 << 7;

/// Both.
pub struct Cores {
    pub primitives: Core,
    pub heartbeat: Option<Heartbeat>,
    /// Whether this node strobes.
    is_master: bool,
    /// The epoch whose members the heartbeat knows.
    epoch: u64,
    /// Bytes of all letters that the user has asked to be told so far.
    pub told: usize,
}

/// What one of them tells.
pub enum Told {
    Primitives(Notice),
    Heartbeat(heartbeat::Notice),
}

impl Cores {
    /// The heartbeat's members are those that the other core knows.
    pub fn new(primitives: Core, heartbeat: Option<Heartbeat>, is_master: bool) -> Cores {
        let mut cores = Cores { primitives, heartbeat, is_master, epoch: 0, told: 0 };
        cores.follow(Time::default());
        cores
    }

    /// Names the members of another epoch to the heartbeat.
    fn follow(&mut self, now: Time) {
        let (epoch, members) = self.primitives.epoch();
        if let Some(core) =
            self.heartbeat.as_mut().filter(|_| self.is_master && epoch != self.epoch)
        {
            self.epoch = epoch;
            let members = members.iter().collect();
            core.request(now, heartbeat::Request::Members { epoch, members });
        }
    }
}

/// Whether an alarm rings.
fn is_due(alarm: Option<Time>, now: Time) -> bool {
    alarm.is_some_and(|alarm| alarm <= now)
}

impl Protocol for Cores {
    type Request = Request;
    type Notice = Told;

    fn is_urgent(head: &[u8]) -> bool {
        head.first().is_some_and(|kind| kind & HEARTBEAT != 0) || Core::is_urgent(head)
    }

    fn request(&mut self, now: Time, request: Request) {
        if let Request::Tell { body, .. } = &request {
            self.told = self.told.wrapping_add(body.len());
        }
        self.primitives.request(now, request);
        self.follow(now);
    }

    fn receive(
        &mut self,
        now: Time,
        from: NodeId,
        head: &[u8],
        body: Payload,
    ) -> Result<(), Malformed> {
        if head.first().is_none_or(|kind| kind & HEARTBEAT == 0) {
            self.primitives.receive(now, from, head, body)?;
            self.follow(now);
            return Ok(());
        }
        let Some(core) = &mut self.heartbeat else {
            let what = "a heartbeat, and there is none here".to_owned();
            return Err(Malformed { from, what });
        };
        let mut head = head.to_vec();
        head[0] &= !HEARTBEAT;
        core.receive(now, from, &head, body)
    }

    fn lost(&mut self, now: Time, peer: NodeId) {
        self.primitives.lost(now, peer);
        self.follow(now);
        if let Some(core) = &mut self.heartbeat {
            core.lost(now, peer);
        }
    }

    fn waits(&mut self, peers: &mut dyn Iterator<Item = NodeId>) {
        self.primitives.waits(peers);
    }

    fn tick(&mut self, now: Time) {
        if is_due(self.primitives.alarm(), now) {
            self.primitives.tick(now);
            self.follow(now);
        }
        if let Some(core) = self.heartbeat.as_mut().filter(|core| is_due(core.alarm(), now)) {
            core.tick(now);
        }
    }

    fn alarm(&self) -> Option<Time> {
        let heartbeat = self.heartbeat.as_ref().and_then(Protocol::alarm);
        self.primitives.alarm().into_iter().chain(heartbeat).min()
    }

    fn outgoing(&mut self) -> Option<Outgoing> {
        if let Some(mut message) = self.heartbeat.as_mut().and_then(Protocol::outgoing) {
            message.head[0] |= HEARTBEAT;
            return Some(message);
        }
        self.primitives.outgoing()
    }

    fn notice(&mut self) -> Option<Told> {
        let told = self.primitives.notice().map(Told::Primitives);
        told.or_else(|| self.heartbeat.as_mut()?.notice().map(Told::Heartbeat))
    }
}
