//! What goes before the bytes of a message (`docs/wire/message.md`).
//!
//! All are 16 bytes, an offer 64: as long as a cache line, and as the descriptors of the Cell
//! Messaging Layer (seed 004).

use crate::carrier::Bytes;

/// Bytes of all heads but an offer's.
pub(crate) const SHORT: usize = 16;

/// Bytes of an offer: the longest head.
pub(crate) const LONG: usize = 64;

/// By what a message is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Envelope {
    /// The context: a communicator has one for its point-to-point messages, and one for its
    /// collectives.
    pub context: u16,
    /// The sender's rank in that communicator.
    pub source: u32,
    /// The tag.
    pub tag: i32,
}

/// A head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Head {
    /// A message with its bytes. Where `sync` is set the sender waits to be told, by `Done` with
    /// this number, that a receive has taken it.
    Eager { envelope: Envelope, sync: Option<u32> },
    /// A message whose bytes are still at the sender: `number` there, and where they lie in its
    /// memory if they lie in one piece.
    Offer { envelope: Envelope, number: u32, size: u64, address: Option<u64> },
    /// The bytes that were offered as `number` are to be sent, for `receive`.
    Want { number: u32, receive: u32 },
    /// The bytes that were asked for by `receive`.
    Data { receive: u32 },
    /// The message `number` has been taken, and its bytes are not needed any more.
    Done { number: u32 },
}

const EAGER: u8 = 1;
const SYNC: u8 = 2;
const OFFER: u8 = 3;
const AT: u8 = 4;
const WANT: u8 = 5;
const DATA: u8 = 6;
const DONE: u8 = 7;

/// A head's bytes.
pub(crate) struct Encoded {
    bytes: [u8; LONG],
    size: usize,
}

impl std::ops::Deref for Encoded {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        &self.bytes[..self.size]
    }
}

impl Head {
    /// As bytes.
    #[inline]
    pub(crate) fn encode(&self) -> Encoded {
        let none = Envelope { context: 0, source: 0, tag: 0 };
        let (kind, envelope, number) = match *self {
            Head::Eager { envelope, sync: None } => (EAGER, envelope, 0),
            Head::Eager { envelope, sync: Some(number) } => (SYNC, envelope, number),
            Head::Offer { envelope, number, address: None, .. } => (OFFER, envelope, number),
            Head::Offer { envelope, number, address: Some(_), .. } => (AT, envelope, number),
            Head::Want { number, receive } => (WANT, Envelope { source: receive, ..none }, number),
            Head::Data { receive } => (DATA, none, receive),
            Head::Done { number } => (DONE, none, number),
        };
        let mut bytes = [0; LONG];
        bytes[0] = kind;
        bytes[2..4].copy_from_slice(&envelope.context.to_le_bytes());
        bytes[4..8].copy_from_slice(&envelope.source.to_le_bytes());
        bytes[8..12].copy_from_slice(&envelope.tag.to_le_bytes());
        bytes[12..16].copy_from_slice(&number.to_le_bytes());
        let mut length = SHORT;
        if let Head::Offer { size, address, .. } = *self {
            bytes[16..24].copy_from_slice(&size.to_le_bytes());
            bytes[24..32].copy_from_slice(&address.unwrap_or(0).to_le_bytes());
            length = LONG;
        }
        Encoded { bytes, size: length }
    }

    /// The head that a message begins with. It is read, and what follows is not.
    #[inline]
    pub(crate) fn take(message: &mut dyn Bytes) -> Option<Head> {
        let mut bytes = [0; LONG];
        if message.left() < SHORT {
            return None;
        }
        message.read(&mut bytes[..SHORT]);
        if matches!(bytes[0], OFFER | AT) {
            if message.left() < LONG - SHORT {
                return None;
            }
            message.read(&mut bytes[SHORT..]);
        }
        Head::decode(&bytes)
    }

    #[inline]
    fn decode(bytes: &[u8; LONG]) -> Option<Head> {
        let short = |at: usize| {
            u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
        };
        let long = |at: usize| u64::from(short(at)) | u64::from(short(at + 4)) << 32;
        let envelope = Envelope {
            context: u16::from_le_bytes([bytes[2], bytes[3]]),
            source: short(4),
            tag: short(8).cast_signed(),
        };
        let (number, size) = (short(12), long(16));
        Some(match bytes[0] {
            EAGER => Head::Eager { envelope, sync: None },
            SYNC => Head::Eager { envelope, sync: Some(number) },
            OFFER => Head::Offer { envelope, number, size, address: None },
            AT => Head::Offer { envelope, number, size, address: Some(long(24)) },
            WANT => Head::Want { number, receive: envelope.source },
            DATA => Head::Data { receive: number },
            DONE => Head::Done { number },
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The samples of `docs/wire/message.md`.
    fn samples() -> impl Iterator<Item = (String, Vec<u8>)> {
        let table = include_str!("../../../docs/wire/message.md");
        table.lines().filter_map(|line| {
            let (name, bytes) = line.trim().strip_prefix("sample ")?.split_once(": ")?;
            let (bytes, size) = match bytes.strip_suffix(" ...") {
                Some(bytes) => (bytes, LONG),
                None => (bytes, SHORT),
            };
            let bytes = bytes.split(' ').map(|byte| u8::from_str_radix(byte, 16).unwrap());
            let mut bytes: Vec<u8> = bytes.collect();
            bytes.resize(size, 0);
            Some((name.to_owned(), bytes))
        })
    }

    #[test]
    fn the_documents_samples_are_what_they_say() {
        let envelope = Envelope { context: 2, source: 3, tag: 42 };
        let offered = Envelope { context: 3, source: 1, tag: 5 };
        let mut seen = 0;
        for (name, bytes) in samples() {
            let head = match name.as_str() {
                "eager" => Head::Eager { envelope, sync: None },
                "sync" => Head::Eager { envelope, sync: Some(7) },
                "want" => Head::Want { number: 7, receive: 9 },
                "data" => Head::Data { receive: 9 },
                "done" => Head::Done { number: 7 },
                "offer" => {
                    let address = Some(0x1000);
                    Head::Offer { envelope: offered, number: 8, size: 1 << 20, address }
                }
                other => panic!("nobody knows the sample '{other}'"),
            };
            assert_eq!(*head.encode(), bytes, "{name}");
            assert_eq!(Head::take(&mut &bytes[..]), Some(head), "{name}");
            seen += 1;
        }
        assert_eq!(seen, 6);
    }

    #[test]
    fn what_is_no_head_is_none() {
        assert_eq!(Head::take(&mut &[1; 15][..]), None);
        assert_eq!(Head::take(&mut &[9; 64][..]), None);
        assert_eq!(Head::take(&mut &[3; 63][..]), None);
    }
}
