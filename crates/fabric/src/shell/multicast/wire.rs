//! Bytes of a datagram, and of what shells say to each other about them: `docs/wire/multicast.md`.

use super::parts::Parts;
use super::seal::Secret;
use muster_base::limits::MULTICAST_MAX;

/// Bytes before what is sealed.
pub const HEADER: usize = 32;

/// Bytes of the body in a datagram. With what is around them they are 1392, and fit into a frame of
/// Ethernet also where a tunnel takes 80 bytes of it.
pub const PART: usize = 1344;

/// Bytes behind what is sealed.
pub const TAG: usize = 16;

/// Bytes of a full datagram.
pub const DATAGRAM: usize = HEADER + PART + TAG;

/// A body that goes out by multicast.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CastId {
    /// Of the key that its datagrams are sealed with: a random number, so that no two clusters, and
    /// no two lives of a root, have the same.
    pub generation: u64,
    /// Counts the bodies.
    pub number: u64,
}

/// What stands before what is sealed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Of which body it has a part.
    pub id: CastId,
    /// The datagram's number: no two with the same key have the same.
    pub datagram: u64,
    /// Bytes of the whole body; 0 in a probe, which has no part of any.
    pub length: u32,
    /// Where in it the part begins.
    pub offset: u32,
}

impl Header {
    /// The bytes.
    pub fn encode(&self) -> [u8; HEADER] {
        let mut bytes = [0; HEADER];
        bytes[..8].copy_from_slice(&self.id.generation.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.datagram.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.id.number.to_le_bytes());
        bytes[24..28].copy_from_slice(&self.length.to_le_bytes());
        bytes[28..].copy_from_slice(&self.offset.to_le_bytes());
        bytes
    }

    /// Reads a datagram's. None where it is none: no part of such a body can be there, or it has
    /// not the size of that part.
    pub fn read(datagram: &[u8]) -> Option<Header> {
        let mut from = Fields(datagram);
        let (generation, number) = (from.u64()?, from.u64()?);
        let id = CastId { generation, number: from.u64()? };
        let header = Header { id, datagram: number, length: from.u32()?, offset: from.u32()? };
        let sealed = from.0.len();
        (sealed == header.part()? + TAG).then_some(header)
    }

    /// Bytes of the part that it has.
    fn part(&self) -> Option<usize> {
        let (length, offset) = (self.length as usize, self.offset as usize);
        if (length, offset) == (0, 0) {
            return Some(0);
        }
        let is_one = length <= MULTICAST_MAX && offset < length && offset.is_multiple_of(PART);
        is_one.then(|| PART.min(length - offset))
    }
}

/// What shells say about multicast over their connections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Control {
    /// To the root: I listen to the group.
    Listen,
    /// From the root: what the datagrams are sealed with from now on.
    Key(Secret),
    /// To all: I hear what is sealed with this generation's key. So many datagrams have room in my
    /// socket.
    Hears {
        /// Which key.
        generation: u64,
        /// How many.
        room: u32,
    },
    /// A protocol's message, whose head is the rest, and whose body goes by multicast.
    Refer {
        /// Which one.
        id: CastId,
        /// Bytes of it.
        length: u32,
    },
    /// All of a body that I referred to has been sent.
    Sent(CastId),
    /// To who referred to it: this is missing.
    Lack {
        /// Of which body.
        id: CastId,
        /// A bit for each part.
        missing: Vec<u8>,
    },
    /// A missing part or several in a row: the rest.
    Repair {
        /// Of which body.
        id: CastId,
        /// Where it begins.
        offset: u32,
    },
    /// To who referred to it: I have all of it.
    Have(CastId),
    /// To the root: I have taken datagrams up to this number from the socket.
    Progress {
        /// Of which key.
        generation: u64,
        /// The next one's number.
        next: u64,
    },
}

impl Control {
    /// The bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut to = Vec::with_capacity(64);
        let id = |to: &mut Vec<u8>, kind: u8, id: &CastId| {
            to.push(kind);
            to.extend_from_slice(&id.generation.to_le_bytes());
            to.extend_from_slice(&id.number.to_le_bytes());
        };
        match self {
            Control::Listen => to.push(1),
            Control::Key(secret) => {
                to.push(2);
                to.extend_from_slice(&secret.encode());
            }
            Control::Hears { generation, room } => {
                to.push(3);
                to.extend_from_slice(&generation.to_le_bytes());
                to.extend_from_slice(&room.to_le_bytes());
            }
            Control::Refer { id: which, length } => {
                id(&mut to, 4, which);
                to.extend_from_slice(&length.to_le_bytes());
            }
            Control::Sent(which) => id(&mut to, 5, which),
            Control::Lack { id: which, missing } => {
                id(&mut to, 6, which);
                to.extend_from_slice(missing);
            }
            Control::Repair { id: which, offset } => {
                id(&mut to, 7, which);
                to.extend_from_slice(&offset.to_le_bytes());
            }
            Control::Have(which) => id(&mut to, 8, which),
            Control::Progress { generation, next } => {
                to.push(9);
                to.extend_from_slice(&generation.to_le_bytes());
                to.extend_from_slice(&next.to_le_bytes());
            }
        }
        to
    }

    /// Reads one.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn decode(bytes: &[u8]) -> Result<Control, &'static str> {
        let mut from = Fields(bytes);
        let control = from.control().ok_or("no control message")?;
        match from.0 {
            [] => Ok(control),
            _ => Err("bytes too many in a control message"),
        }
    }
}

/// Takes from the front.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*taken)
    }

    fn u32(&mut self) -> Option<u32> {
        self.take().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.take().map(u64::from_le_bytes)
    }

    fn id(&mut self) -> Option<CastId> {
        Some(CastId { generation: self.u64()?, number: self.u64()? })
    }

    fn control(&mut self) -> Option<Control> {
        let [kind] = self.take()?;
        Some(match kind {
            1 => Control::Listen,
            2 => Control::Key(Secret::decode(&self.take()?)),
            3 => Control::Hears { generation: self.u64()?, room: self.u32()? },
            4 => Control::Refer { id: self.id()?, length: self.u32()? },
            5 => Control::Sent(self.id()?),
            6 => {
                let id = self.id()?;
                let missing = std::mem::take(&mut self.0);
                (missing.len() <= Parts::bytes_of(MULTICAST_MAX))
                    .then(|| Control::Lack { id, missing: missing.to_vec() })?
            }
            7 => Control::Repair { id: self.id()?, offset: self.u32()? },
            8 => Control::Have(self.id()?),
            9 => Control::Progress { generation: self.u64()?, next: self.u64()? },
            _ => return None,
        })
    }
}
