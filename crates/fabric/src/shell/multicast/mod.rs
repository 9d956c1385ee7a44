//! Bodies that go to many nodes by UDP multicast, once, and no more down the tree.
//!
//! A shell may be given a [`Group`]. Then it moves the same messages, and its protocol knows of
//! nothing; but a long body that the *root* (the node that leads) sends to several peers leaves it
//! in datagrams that all members hear. Over the connections goes a *reference* in its place. Who
//! passes such a body on refers to it as well, so that everybody is referred to it by its parent in
//! whatever tree the protocol has, and only when the parent has all of it.
//!
//! ```text
//! root                    inner node                     leaf
//!   |====== datagrams =========>|===========================>|   once, to all
//!   |------ refer, sent ------->|                            |
//!   |<----- lack (bits) --------|   if some were lost        |
//!   |------ repair ------------>|                            |
//!   |<----- have ---------------|------ refer, sent -------->|
//!   |                           |<----- have ----------------|
//! ```
//!
//! A message that refers to a body is given to the protocol when the body is whole, and those
//! behind it wait for it: so the protocol sees what it would see without multicast, all or none,
//! in order, or a lost connection. What it calls urgent waits for no body here either, and never
//! goes by multicast. Repairs go from parent to child over a connection, which loses nothing, so
//! what is lost on the way to many is asked of the root by its own children only.
//!
//! **Who hears.** A listener says so to the root (*listen*), gets the *key*, and says that it
//! *hears* when it has opened a datagram sealed with it; until then, and if it never does, bodies
//! go to it as without multicast (`speaker.rs`: probes, the window). When it has lost all of a body
//! it hears no more, and says that it listens as at first; who is asked for all of it knows it too.
//!
//! **Who may die when.** With a connection go the references made over it, on both sides. A body
//! whose references are all gone is forgotten (`assembly.rs`, `shelf.rs`). A root that begins again
//! has another key. A listener that stops reading is not waited for after 20 ms.
//!
//! **Who is believed.** Datagrams are sealed (`seal.rs`); what cannot be opened, or has come before
//! (`replay.rs`), is counted and ignored. Messages over connections are believed as far as limits
//! go; one that cannot be ends its connection. Bytes: `docs/wire/multicast.md`.
//!
//! **Without a shell.** Who has its own ways to say who listens, what was lost and how far they
//! are, as who serves boot images has, uses the datagrams alone: [`Voice`] and [`Hearer`]
//! (`cast.rs`).

mod assembly;
mod cast;
mod caster;
mod parts;
mod replay;
mod seal;
mod shelf;
mod socket;
mod speaker;
mod sys;
#[cfg(test)]
mod tests;
pub mod wire;

pub use cast::{Hearer, PART, Part, Voice};
pub use parts::Parts;
pub use seal::{SECRET, Secret};

use super::Traffic;
use crate::error::Result;
use crate::protocol::{NodeId, Time};
use caster::Caster;
use muster_base::limits::{MULTICAST_BUFFER, MULTICAST_TURN};
use socket::Socket;
use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::BorrowedFd;
use std::sync::Arc;

/// Bytes that are received with one call at most: what an IP packet can have.
const RECEIVED_MAX: usize = 1 << 16;

/// Where long bodies go to all: the same for all members, but for the interface.
#[derive(Clone, Debug)]
pub struct Group {
    /// The group and the port.
    pub address: SocketAddrV4,
    /// The interface, by its address.
    pub interface: Ipv4Addr,
    /// Who speaks; all others listen.
    pub root: NodeId,
    /// Peers that the root itself sends a body to, from which on it is for many: the body goes by
    /// multicast. To fewer it does if they are half of all who hear, for the others hear it too.
    pub many: usize,
    /// Bytes that a listener's socket is asked to hold. The kernel may grant less.
    pub buffer: usize,
    /// In tests: which datagrams are lost at this listener.
    #[cfg(test)]
    pub(crate) loses: fn(&[u8]) -> bool,
}

impl Group {
    /// With a socket that holds the largest bodies whole, where that is granted.
    pub fn new(address: SocketAddrV4, interface: Ipv4Addr, root: NodeId) -> Group {
        Group {
            address,
            interface,
            root,
            many: 2,
            buffer: MULTICAST_BUFFER,
            #[cfg(test)]
            loses: |_| false,
        }
    }
}

/// A shell's part in a group.
pub(super) struct Multicast {
    pub caster: Caster,
    socket: Socket,
    /// The group, and the interface.
    at: (SocketAddrV4, Ipv4Addr),
    /// What could not be sent yet, from `sent` on.
    batch: Vec<u8>,
    sent: usize,
    /// The socket has no room for it.
    pub is_full: bool,
    /// It is being watched, also for room or not.
    pub watched: Option<bool>,
    buffer: Vec<u8>,
    traffic: Arc<Traffic>,
    #[cfg(test)]
    loses: fn(&[u8]) -> bool,
}

impl Multicast {
    /// Takes part in a group.
    ///
    /// # Errors
    /// When the interface or the group is none, or a descriptor cannot be had.
    pub fn open(group: &Group, me: NodeId, traffic: Arc<Traffic>) -> Result<Multicast> {
        let is_root = me == group.root;
        let (socket, room) = match is_root {
            true => (Socket::speak(group.address, group.interface)?, 0),
            false => Socket::listen(group.address, group.interface, group.buffer)?,
        };
        Ok(Multicast {
            caster: Caster::new(me, group.root, (room, group.many), traffic.clone())?,
            socket,
            at: (group.address, group.interface),
            batch: Vec::with_capacity(if is_root { RECEIVED_MAX } else { 0 }),
            sent: 0,
            is_full: false,
            watched: None,
            buffer: vec![0; if is_root { 0 } else { RECEIVED_MAX }],
            traffic,
            #[cfg(test)]
            loses: group.loses,
        })
    }

    /// Joins the group again where it is heard no more. Switches learn who listens by that alone if
    /// nobody asks, and forget it after minutes.
    pub fn join_again(&mut self) {
        if self.caster.is_to_join() {
            self.socket.join_again(self.at.0, self.at.1);
        }
    }

    /// Takes what has arrived. False if there may be more, and some of this was of use: of more
    /// the descriptor tells.
    pub fn receive(&mut self, now: Time) -> bool {
        let mut was_useless = true;
        for _ in 0..MULTICAST_TURN {
            // Nothing more, or an error of the network, which is told once: what is lost is
            // repaired. What comes to the root, for which it has no buffer, is cut off.
            let Ok((count, size)) = self.socket.receive(&mut self.buffer) else { return true };
            // An empty one is none, but came.
            Traffic::add(&self.traffic.ignored, usize::from(count == 0));
            for datagram in self.buffer[..count].chunks_mut(size) {
                #[cfg(test)]
                if (self.loses)(datagram) {
                    continue;
                }
                let is_used = self.caster.datagram(now, datagram);
                was_useless &= !is_used;
                let counter = if is_used { &self.traffic.heard } else { &self.traffic.ignored };
                Traffic::add(counter, 1);
            }
        }
        was_useless
    }

    /// Sends what may be sent; true if there may be more, which has to wait for its next turn.
    pub fn send(&mut self, now: Time) -> bool {
        self.is_full = false;
        for _ in 0..MULTICAST_TURN {
            if self.sent == self.batch.len() {
                (self.sent, _) = (0, self.batch.clear());
                if !self.caster.fill(now, &mut self.batch) {
                    return false;
                }
            }
            match self.socket.send(&self.batch[self.sent..]) {
                Ok(count) => {
                    self.sent += count;
                    Traffic::add(&self.traffic.cast, count);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.is_full = true;
                    return false;
                }
                // The network is down, or the like: to those who listen it is lost, and repaired.
                Err(_) => self.sent = self.batch.len(),
            }
        }
        true
    }

    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.socket.descriptor()
    }
}
