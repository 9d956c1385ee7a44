//! What a node's daemon says to a rank over the socket by which it is admitted: packets with a
//! descriptor each (`docs/wire/gateway.md`). The rank says nothing; that its end closes is the
//! evidence that it has ended, however.

use super::layout::Layout;
use crate::error::{Error, Result};
use crate::transport::shared::socket;
use muster_base::limits::{GATEWAY_NODES_MAX, GATEWAY_RANKS_MAX};
use rustix::io::Errno;
use std::os::fd::{BorrowedFd, OwnedFd};

/// The longest packet: a welcome.
pub(super) const PACKET_MAX: usize = 7 + 2 * GATEWAY_NODES_MAX;

/// A packet.
pub(super) enum Control {
    /// The first: which rank this is, the job's shape, and the node's segment.
    Welcome { rank: usize, layout: Layout, segment: OwnedFd },
    /// A process's bell. The last one is the daemon's.
    Bell { process: usize, bell: OwnedFd },
    /// The connection to a node.
    Line { node: usize, epoch: u32, socket: OwnedFd },
}

/// The bytes of a welcome.
pub(super) fn welcome(rank: usize, layout: &Layout) -> Vec<u8> {
    let mut bytes = vec![1];
    bytes.extend_from_slice(&(rank as u16).to_le_bytes());
    bytes.extend_from_slice(&(layout.node as u32).to_le_bytes());
    layout.ranks.iter().for_each(|ranks| bytes.extend_from_slice(&ranks.to_le_bytes()));
    bytes
}

/// Those of a bell.
pub(super) fn bell(process: usize) -> [u8; 3] {
    let process = (process as u16).to_le_bytes();
    [2, process[0], process[1]]
}

/// Those of a connection.
pub(super) fn line(node: usize, epoch: u32) -> [u8; 9] {
    let mut bytes = [3; 9];
    bytes[1..5].copy_from_slice(&(node as u32).to_le_bytes());
    bytes[5..].copy_from_slice(&epoch.to_le_bytes());
    bytes
}

/// The next packet, if there is one.
///
/// # Errors
/// That the daemon is gone, or is none.
pub(super) fn receive(socket: BorrowedFd<'_>, bytes: &mut [u8]) -> Result<Option<Control>> {
    let peer = || "the node's daemon".to_owned();
    let gone = |evidence: &str| Error::Dead { peer: peer(), evidence: evidence.to_owned() };
    let (size, file) = loop {
        match socket::receive(socket, bytes) {
            Ok((0, _)) => return Err(gone("its end of the socket is closed")),
            Ok(received) => break received,
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => return Ok(None),
            Err(Errno::CONNRESET) => return Err(gone("its end of the socket is closed")),
            Err(errno) => return Err(Error::io("hearing the node's daemon", errno)),
        }
    };
    let control = file.and_then(|file| read(&bytes[..size], file));
    control.map(Some).ok_or_else(|| Error::Malformed { peer: peer(), what: "no order".to_owned() })
}

fn read(bytes: &[u8], file: OwnedFd) -> Option<Control> {
    let short = |bytes: &[u8]| Some(usize::from(u16::from_le_bytes(bytes.try_into().ok()?)));
    let long = |bytes: &[u8]| Some(u32::from_le_bytes(bytes.try_into().ok()?));
    match (*bytes.first()?, &bytes[1..]) {
        (1, rest) => {
            let rank = short(rest.get(..2)?)?;
            let node = long(rest.get(2..6)?)? as usize;
            let ranks: Vec<u16> =
                rest[6..].chunks(2).map_while(|two| Some(short(two)? as u16)).collect();
            let fits = ranks.iter().all(|ranks| usize::from(*ranks) <= GATEWAY_RANKS_MAX);
            if !fits || rank >= usize::from(*ranks.get(node)?) {
                return None;
            }
            Some(Control::Welcome { rank, layout: Layout::new(node, &ranks), segment: file })
        }
        (2, rest) => Some(Control::Bell { process: short(rest)?, bell: file }),
        (3, rest) => {
            let (node, epoch) = (long(rest.get(..4)?)? as usize, long(&rest[4..])?);
            Some(Control::Line { node, epoch, socket: file })
        }
        _ => None,
    }
}
