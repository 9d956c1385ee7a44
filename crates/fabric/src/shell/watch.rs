//! What the shell's thread sleeps on: the descriptors of all peers, of the multicast group, and the
//! inbox's.
//!
//! The kernel keeps the list (epoll), so that a sleep costs the same with many peers as with one.
//! A descriptor leaves it when its connection is dropped.

use super::multicast::Multicast;
use super::peer::{Peer, State};
use crate::epoll;
use crate::error::{Error, Result};
use crate::protocol::NodeId;
use rustix::event::Timespec;
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::time::Duration;

/// The inbox, among nodes, whose numbers are 32 bits.
const INBOX: u64 = u64::MAX;
/// The multicast group.
const GROUP: u64 = u64::MAX - 1;

/// Descriptors told of at once; others have their turn with the next look.
const TOLD: usize = 128;

/// The list.
pub struct Watch {
    epoll: OwnedFd,
}

/// What there is to be looked at.
#[derive(Default)]
pub struct Ready {
    pub nodes: Vec<NodeId>,
    pub group: bool,
}

impl Ready {
    pub fn clear(&mut self) {
        self.nodes.clear();
        self.group = false;
    }

    pub fn is_none(&self) -> bool {
        self.nodes.is_empty() && !self.group
    }
}

impl Watch {
    /// Has the inbox's in it.
    pub fn new(inbox: BorrowedFd<'_>) -> Result<Watch> {
        let fallible = || {
            let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
            epoll::add(&epoll, inbox, epoll::EventData::new_u64(INBOX), epoll::EventFlags::IN)?;
            Ok(epoll)
        };
        let epoll = fallible().map_err(|errno: rustix::io::Errno| {
            Error::io("making a list of descriptors to wait for", errno)
        })?;
        Ok(Watch { epoll })
    }

    /// Before a sleep: has a peer's descriptor in the list, with what it waits for. False for a
    /// connection that has none.
    pub fn see_to(&self, peer: &mut Peer) -> Result<bool> {
        let room = peer.is_full && peer.retry.is_none();
        let State::Up { connection, .. } = &peer.state else { return Ok(true) };
        // Some connections have to be asked for theirs each time: then they know that we sleep.
        let Some(descriptor) = connection.descriptor() else { return Ok(false) };
        if peer.watched == Some(room) {
            return Ok(true);
        }
        let data = epoll::EventData::new_u64(peer.node.0.into());
        let mut flags = epoll::EventFlags::IN;
        flags.set(epoll::EventFlags::OUT, room);
        let done = match peer.watched {
            None => epoll::add(&self.epoll, descriptor, data, flags),
            Some(_) => epoll::modify(&self.epoll, descriptor, data, flags),
        };
        peer.watched = Some(room);
        done.map_err(|error| Error::io("waiting for a descriptor", error))?;
        Ok(true)
    }

    /// The same for the multicast group. Where it cannot be, nothing is heard in time, which is as
    /// if it were lost.
    pub fn see_to_group(&self, group: &mut Multicast) {
        if group.watched == Some(group.is_full) {
            return;
        }
        let data = epoll::EventData::new_u64(GROUP);
        let mut flags = epoll::EventFlags::IN;
        flags.set(epoll::EventFlags::OUT, group.is_full);
        let _ = match group.watched {
            None => epoll::add(&self.epoll, group.descriptor(), data, flags),
            Some(_) => epoll::modify(&self.epoll, group.descriptor(), data, flags),
        };
        group.watched = Some(group.is_full);
    }

    /// Sleeps until some are ready, at most for so long, and tells which.
    pub fn look(&self, time: Option<Duration>, ready: &mut Ready) {
        let time = time.map(|time| Timespec {
            tv_sec: i64::try_from(time.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: time.subsec_nanos().into(),
        });
        let mut told = [const { MaybeUninit::<epoll::Event>::uninit() }; TOLD];
        // Interrupted: all are looked at again.
        let Ok((told, _)) = epoll::wait(&self.epoll, &mut told, time.as_ref()) else { return };
        for event in told {
            let who = event.data.u64();
            ready.group |= who == GROUP;
            ready.nodes.extend(u32::try_from(who).ok().map(NodeId));
        }
    }
}
