//! What goes over the socket between two nodes: `docs/wire/gateway.md`.

use muster_base::limits::{GATEWAY_PIECE, GATEWAY_RANKS_MAX, GATEWAY_RUN};
use std::ops::Range;

/// Bytes of a frame's head.
pub(super) const HEAD: usize = 32;

/// Bytes of an opening.
pub(super) const OPENING: usize = 16;

const MAGIC: [u8; 4] = *b"MSGW";

/// The version that this is.
const VERSION: u16 = 5;

/// What a frame says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Pieces of a message follow; `number` is the first one's among those of the two ranks.
    Piece = 1,
    /// `from` has taken all pieces of `to` up to `number`.
    Taken = 2,
    /// What `from` had no room for is to be sent again: its grant number `number`.
    Grant = 3,
    /// `from` has ended.
    Gone = 4,
}

/// A frame's head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Frame {
    pub(super) kind: Kind,
    /// Pieces of the full size before the last one.
    pub(super) more: u8,
    /// The rank at the sender's node.
    pub(super) from: u16,
    /// The rank at the receiver's.
    pub(super) to: u16,
    /// Bytes of the last piece.
    pub(super) size: u16,
    pub(super) number: u64,
    /// Bytes of the whole message.
    pub(super) total: u64,
    /// Where in it the first piece begins.
    pub(super) offset: u64,
}

impl Frame {
    pub(super) fn write(&self) -> [u8; HEAD] {
        let mut bytes = [0; HEAD];
        bytes[0] = self.kind as u8;
        bytes[1] = self.more;
        bytes[2..4].copy_from_slice(&self.from.to_le_bytes());
        bytes[4..6].copy_from_slice(&self.to.to_le_bytes());
        bytes[6..8].copy_from_slice(&self.size.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.number.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.total.to_le_bytes());
        bytes[24..].copy_from_slice(&self.offset.to_le_bytes());
        bytes
    }

    /// Reads a head.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(super) fn read(bytes: &[u8; HEAD]) -> Result<Frame, &'static str> {
        let short = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
        let long =
            |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
        let kind = match bytes[0] {
            1 => Kind::Piece,
            2 => Kind::Taken,
            3 => Kind::Grant,
            4 => Kind::Gone,
            _ => return Err("a frame of no known kind"),
        };
        let (total, offset) = (long(16), long(24));
        let frame = Frame {
            kind,
            more: bytes[1],
            from: short(2),
            to: short(4),
            size: short(6),
            number: long(8),
            total,
            offset,
        };
        let (size, more) = (usize::from(frame.size), usize::from(frame.more));
        let end = offset.checked_add(frame.bytes() as u64);
        let last = frame.number.checked_add(more as u64);
        match kind {
            Kind::Piece if size > GATEWAY_PIECE => Err("too large a piece"),
            Kind::Piece if more >= GATEWAY_RUN || more > 0 && size == 0 => Err("too many pieces"),
            Kind::Piece if frame.number == 0 || last.is_none() => Err("a piece without a number"),
            Kind::Piece if end.is_none_or(|end| end > total) => {
                Err("a piece outside of its message")
            }
            Kind::Piece => Ok(frame),
            _ if size != 0 || more != 0 => Err("bytes where none belong"),
            _ => Ok(frame),
        }
    }

    /// Bytes that follow the head.
    pub(super) fn bytes(&self) -> usize {
        usize::from(self.more) * GATEWAY_PIECE + usize::from(self.size)
    }

    /// Its pieces, each as a frame of its own, and their bytes.
    pub(super) fn with<'a>(&self, body: &'a [u8]) -> impl Iterator<Item = (Frame, &'a [u8])> {
        let starts = (0..).step_by(GATEWAY_PIECE);
        self.pieces().zip(starts).map(|(piece, at)| (piece, &body[at..][..piece.bytes()]))
    }

    /// The same without their bytes.
    pub(super) fn pieces(&self) -> impl Iterator<Item = Frame> + use<> {
        let run = *self;
        (0..=run.more).map(move |piece| Frame {
            more: 0,
            size: if piece < run.more { GATEWAY_PIECE as u16 } else { run.size },
            number: run.number + u64::from(piece),
            offset: run.offset + u64::from(piece) * GATEWAY_PIECE as u64,
            ..run
        })
    }
}

/// Where the first frame of what has arrived is, and where the next one begins; none where a part
/// is missing.
///
/// # Errors
/// What is wrong with its head.
pub(super) fn find(arrived: &[u8]) -> Result<Option<(Range<usize>, usize)>, &'static str> {
    let Some(head) = arrived.first_chunk() else { return Ok(None) };
    let end = HEAD + Frame::read(head)?.bytes();
    Ok((end <= arrived.len()).then_some((0..end, end)))
}

/// The first bytes of a connection, in both directions; the acceptor repeats the epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Opening {
    /// Whose node this is.
    pub(super) node: u32,
    /// How many ranks it has.
    pub(super) ranks: u16,
    /// Greater than that of each connection before; 0 only asks that node to connect.
    pub(super) epoch: u32,
}

impl Opening {
    pub(super) fn write(&self) -> [u8; OPENING] {
        let mut bytes = [0; OPENING];
        bytes[..4].copy_from_slice(&MAGIC);
        bytes[4..6].copy_from_slice(&VERSION.to_le_bytes());
        bytes[6..8].copy_from_slice(&self.ranks.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.node.to_le_bytes());
        bytes[12..].copy_from_slice(&self.epoch.to_le_bytes());
        bytes
    }

    /// Reads one.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(super) fn read(bytes: &[u8; OPENING]) -> Result<Opening, &'static str> {
        let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four"));
        let ranks = u16::from_le_bytes([bytes[6], bytes[7]]);
        let opening = Opening { node: word(8), ranks, epoch: word(12) };
        match bytes[..4] == MAGIC {
            false => Err("it does not open as a gateway"),
            true if bytes[4..6] != VERSION.to_le_bytes() => Err("a gateway of another version"),
            true if usize::from(ranks) > GATEWAY_RANKS_MAX => Err("too many ranks"),
            true if opening.epoch > EPOCH_MAX => Err("no possible epoch"),
            true => Ok(opening),
        }
    }
}

/// Epochs have 31 bits: the words that hold one have a bit beside it.
pub(super) const EPOCH_MAX: u32 = u32::MAX >> 1;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The samples of `docs/wire/gateway.md`: a name, and bytes in hexadecimal.
    fn sample(name: &str) -> Vec<u8> {
        let page = include_str!("../../../../docs/wire/gateway.md");
        let begin = format!("    sample {name}:");
        let (_, rest) = page.split_once(&begin).expect(name);
        let byte = |word| u8::from_str_radix(word, 16).ok();
        rest.split_whitespace().map_while(byte).collect()
    }

    #[test]
    fn openings_and_frames_are_as_printed() {
        let opening = Opening { node: 3, ranks: 16, epoch: 2 };
        assert_eq!(sample("opening"), opening.write());
        let nothing = Frame {
            kind: Kind::Taken,
            more: 0,
            from: 1,
            to: 2,
            size: 0,
            number: 5,
            total: 0,
            offset: 0,
        };
        let piece =
            Frame { kind: Kind::Piece, size: 2, number: 7, total: 8194, offset: 8192, ..nothing };
        assert_eq!(sample("piece"), [&piece.write()[..], b"hi"].concat());
        assert_eq!(sample("taken"), nothing.write());
        assert_eq!(sample("grant"), Frame { kind: Kind::Grant, to: 0, ..nothing }.write());
        assert_eq!(sample("gone"), Frame { kind: Kind::Gone, to: 0, number: 0, ..nothing }.write());
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_frame_that_can_be_or_an_error(mut bytes: [u8; HEAD], kind in 0_u8..6) {
            bytes[0] = kind;
            // Most are otherwise far longer than their messages.
            bytes[7] %= 64;
            bytes[1] %= 2 * GATEWAY_RUN as u8;
            bytes[31] = 0;
            if let Ok(frame) = Frame::read(&bytes) {
                prop_assert_eq!(frame.write(), bytes);
                prop_assert!(frame.bytes() <= GATEWAY_RUN * GATEWAY_PIECE);
                let pieces: Vec<Frame> = frame.pieces().collect();
                prop_assert_eq!(pieces.iter().map(Frame::bytes).sum::<usize>(), frame.bytes());
                let mut end = frame.offset;
                for (piece, number) in pieces.iter().zip(frame.number..) {
                    prop_assert_eq!((piece.number, piece.offset), (number, end));
                    prop_assert_eq!(Frame::read(&piece.write()), Ok(*piece));
                    end += piece.bytes() as u64;
                }
            }
        }

        #[test]
        fn any_bytes_are_an_opening_that_can_be_or_an_error(mut bytes: [u8; OPENING]) {
            bytes[..6].copy_from_slice(b"MSGW\x05\x00");
            if let Ok(opening) = Opening::read(&bytes) {
                prop_assert_eq!(opening.write(), bytes);
            }
        }
    }
}
