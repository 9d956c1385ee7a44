//! What goes over the socket by which a rank is admitted (`docs/wire/gateway.md`): packets. The
//! rank says at most one thing, who it is (`meeting.rs`); that its end closes is the evidence that
//! it has ended, however. The daemon's have a descriptor each, but for a refusal.

use super::layout::Layout;
use super::line::Kept;
use crate::error::{Error, Result};
use crate::transport::shared::socket;
use crate::transport::socket::Keys;
use muster_base::limits::{GATEWAY_NODES_MAX, GATEWAY_RANKS_MAX};
use rustix::io::Errno;
use std::os::fd::{BorrowedFd, OwnedFd};

/// The longest packet: a welcome.
pub(super) const PACKET_MAX: usize = 7 + 2 * GATEWAY_NODES_MAX;

/// How a rank begins.
const MAGIC: [u8; 4] = *b"MSGR";

/// Counts the changes of what a rank and its daemon share: these packets and the segment.
const VERSION: u16 = 6;

/// Bytes of what a rank says.
pub(super) const ASK: usize = 14;

/// The longest sentence of a refusal, in characters.
const WHY_MAX: usize = 512;

/// A packet.
pub(super) enum Control {
    /// The rank is not let in, for that reason.
    Refused { why: String },
    /// The first: which rank this is, the job's shape, and the node's segment.
    Welcome { rank: usize, layout: Layout, segment: OwnedFd },
    /// A process's bell. The last one is the daemon's.
    Bell { process: usize, bell: OwnedFd },
    /// The connection to a node.
    Line { node: usize, epoch: u32, kept: Kept },
}

/// What a rank says first: which one of which job it is.
pub(super) fn ask(job: u32, rank: u32) -> [u8; ASK] {
    let mut bytes = [0; ASK];
    bytes[..4].copy_from_slice(&MAGIC);
    bytes[4..6].copy_from_slice(&VERSION.to_le_bytes());
    bytes[6..10].copy_from_slice(&job.to_le_bytes());
    bytes[10..].copy_from_slice(&rank.to_le_bytes());
    bytes
}

/// The job and the rank that are asked for.
///
/// # Errors
/// Why that is none: a sentence for who has sent it.
pub(super) fn read_ask(bytes: &[u8]) -> std::result::Result<(u32, u32), String> {
    let Some(version) = bytes.strip_prefix(&MAGIC).and_then(|rest| rest.first_chunk()) else {
        return Err("this is where ranks of jobs ask for the gateway".to_owned());
    };
    let version = u16::from_le_bytes(*version);
    if version != VERSION {
        return Err(format!("version {version} of the gateway is asked for, it has {VERSION}"));
    }
    let long = |bytes: &[u8]| Some(u32::from_le_bytes(*bytes.first_chunk()?));
    match bytes.len() {
        ASK => long(&bytes[6..]).zip(long(&bytes[10..])),
        _ => None,
    }
    .ok_or_else(|| format!("{} bytes are not how a rank asks for the gateway", bytes.len()))
}

/// The bytes of a refusal.
pub(super) fn refusal(why: &str) -> Vec<u8> {
    let why: String = why.chars().take(WHY_MAX).collect();
    [&[0], why.as_bytes()].concat()
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
pub(super) fn line(node: usize, epoch: u32, keys: Option<&Keys>) -> Vec<u8> {
    let mut bytes = vec![3];
    bytes.extend_from_slice(&(node as u32).to_le_bytes());
    bytes.extend_from_slice(&epoch.to_le_bytes());
    bytes.extend(keys.into_iter().flat_map(Keys::encode));
    bytes
}

/// The next packet, if there is one.
///
/// # Errors
/// That the daemon is gone, or is none; [`Error::Exhausted`], and the packet stays where it is.
pub(super) fn receive(socket: BorrowedFd<'_>, bytes: &mut [u8]) -> Result<Option<Control>> {
    let peer = || "the node's daemon".to_owned();
    let gone = |evidence: &str| Error::Dead { peer: peer(), evidence: evidence.to_owned() };
    let (size, file) = loop {
        match socket::receive_or_leave(socket, bytes) {
            Ok((0, _)) => return Err(gone("its end of the socket is closed")),
            Ok(received) => break received,
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => return Ok(None),
            Err(Errno::CONNRESET) => return Err(gone("its end of the socket is closed")),
            Err(errno) => return Err(Error::io("hearing the node's daemon", errno)),
        }
    };
    if let (0, None) = (bytes[0], &file) {
        let why = String::from_utf8_lossy(&bytes[1..size]).into_owned();
        return Ok(Some(Control::Refused { why }));
    }
    let control = file.and_then(|file| read(&bytes[..size], file));
    control.map(Some).ok_or_else(|| Error::Malformed { peer: peer(), what: "no order".to_owned() })
}

pub(super) fn read(bytes: &[u8], file: OwnedFd) -> Option<Control> {
    let short = |bytes: &[u8]| Some(usize::from(u16::from_le_bytes(bytes.try_into().ok()?)));
    let long = |bytes: &[u8]| Some(u32::from_le_bytes(bytes.try_into().ok()?));
    match (*bytes.first()?, &bytes[1..]) {
        (1, rest) => {
            let rank = short(rest.get(..2)?)?;
            let node = long(rest.get(2..6)?)? as usize;
            let (counts, []) = rest[6..].as_chunks() else { return None };
            let ranks: Vec<u16> = counts.iter().map(|two| u16::from_le_bytes(*two)).collect();
            let fits = ranks.iter().all(|ranks| usize::from(*ranks) <= GATEWAY_RANKS_MAX);
            if !fits || rank >= usize::from(*ranks.get(node)?) {
                return None;
            }
            Some(Control::Welcome { rank, layout: Layout::new(node, &ranks), segment: file })
        }
        (2, rest) => Some(Control::Bell { process: short(rest)?, bell: file }),
        (3, rest) => {
            let (node, epoch) = (long(rest.get(..4)?)? as usize, long(rest.get(4..8)?)?);
            let keys = match &rest[8..] {
                [] => None,
                keys => Some(Keys::decode(keys.try_into().ok()?)),
            };
            Some(Control::Line { node, epoch, kept: Kept { socket: file, keys } })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_welcome_that_ends_within_a_number_is_none() {
        let file = || OwnedFd::from(std::fs::File::open("/dev/null").unwrap());
        let layout = Layout::new(1, &[2, 3]);
        let mut bytes = welcome(2, &layout);
        let read_again = read(&bytes, file());
        assert!(matches!(read_again, Some(Control::Welcome { rank: 2, layout: again, .. })
            if again.ranks == layout.ranks && again.node == 1));
        bytes.push(4);
        assert!(read(&bytes, file()).is_none());
    }

    #[test]
    fn what_a_rank_asks_is_read_as_the_wire_page_has_it() {
        let asked = ask(7, 258);
        let page = include_str!("../../../../docs/wire/gateway.md");
        let hex: Vec<String> = asked.iter().map(|byte| format!("{byte:02x}")).collect();
        assert!(page.contains(&format!("sample ask: {}\n", hex.join(" "))), "{hex:?}");
        assert_eq!(read_ask(&asked), Ok((7, 258)));
        let why = |bytes: &[u8]| read_ask(bytes).expect_err("it is none");
        (0..6).for_each(|end| assert!(why(&asked[..end]).contains("where ranks"), "{end}"));
        (6..ASK).for_each(|end| assert!(why(&asked[..end]).contains("are not how"), "{end}"));
        assert!(why(&[&asked[..], b"x"].concat()).contains("15 bytes"));
        let other = [&asked[..4], &[9, 0], &asked[6..]].concat();
        assert_eq!(why(&other), "version 9 of the gateway is asked for, it has 6");
    }
}
