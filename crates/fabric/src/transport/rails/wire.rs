//! What the two ends of a rail say to each other; `docs/wire/rails.md` has the bytes.

use crate::transport::hello::Refusal;
use muster_base::limits::{RAILS_MAX, RAILS_PIECE};

/// What a join begins with.
pub const MAGIC: [u8; 4] = *b"RAIL";
/// The version that is spoken here.
pub const VERSION: u16 = 1;
/// Bytes of a join.
pub const JOIN: usize = 24;
/// Bytes of the longest head.
pub const HEAD_MAX: usize = 25;

/// Which rail of which connection this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Join {
    /// What all rails of the connection have in common and nobody else knows.
    pub token: [u8; 16],
    /// Its number in the address.
    pub number: u8,
    /// How many rails there are.
    pub count: u8,
}

impl Join {
    /// Its bytes.
    pub fn write(&self) -> [u8; JOIN] {
        let mut bytes = [0; JOIN];
        bytes[..4].copy_from_slice(&MAGIC);
        bytes[4..6].copy_from_slice(&VERSION.to_le_bytes());
        bytes[6..22].copy_from_slice(&self.token);
        bytes[22..].copy_from_slice(&[self.number, self.count]);
        bytes
    }

    /// Reads what has arrived; none if it is not whole.
    ///
    /// # Errors
    /// What is wrong, as soon as that is certain.
    pub fn read(bytes: &[u8]) -> Result<Option<Join>, Refusal> {
        let malformed = |what: &str| Refusal::Malformed(what.to_owned());
        let there = bytes.len().min(MAGIC.len());
        if bytes[..there] != MAGIC[..there] {
            return Err(malformed("it does not begin with RAIL: this is one of several rails"));
        }
        if let Some([_, _, _, _, low, high]) = bytes.first_chunk::<6>() {
            let theirs = u16::from_le_bytes([*low, *high]);
            if theirs != VERSION {
                return Err(Refusal::Denied(format!("rails of version {theirs}, not {VERSION}")));
            }
        }
        let Some(bytes) = bytes.first_chunk::<JOIN>() else { return Ok(None) };
        let token = *bytes[6..].first_chunk().expect("it is whole");
        let [number, count] = [bytes[22], bytes[23]];
        if !(1..=RAILS_MAX).contains(&count.into()) || usize::from(number) >= RAILS_MAX {
            return Err(malformed("a connection has 1 to 8 rails"));
        }
        Ok(Some(Join { token, number, count }))
    }
}

/// What has arrived at an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Units that were taken off this rail: bytes of pieces, and one for an end.
    pub taken: u64,
    /// Units of the stream that are there without a gap.
    pub received: u64,
    /// The offset up to which there is room.
    pub room: u64,
}

/// What follows on a rail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Head {
    /// A piece of the stream: so many bytes follow.
    Piece {
        /// The offset of the first.
        at: u64,
        /// How many, 1 to [`RAILS_PIECE`].
        size: u32,
    },
    /// What has arrived.
    Seen(Seen),
    /// The stream ends here.
    End {
        /// How long it is.
        at: u64,
    },
}

impl Head {
    /// Writes it; how many bytes that are.
    pub fn write(&self, to: &mut [u8; HEAD_MAX]) -> usize {
        let mut size = 0;
        let mut add = |bytes: &[u8]| {
            to[size..size + bytes.len()].copy_from_slice(bytes);
            size += bytes.len();
        };
        match self {
            Head::Piece { at, size } => {
                add(&[1]);
                add(&size.to_le_bytes());
                add(&at.to_le_bytes());
            }
            Head::Seen(seen) => {
                add(&[2]);
                for number in [seen.taken, seen.received, seen.room] {
                    add(&number.to_le_bytes());
                }
            }
            Head::End { at } => {
                add(&[3]);
                add(&at.to_le_bytes());
            }
        }
        size
    }

    /// Reads one off the front of what has arrived: it and its length; none if it is not whole.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read(bytes: &[u8]) -> Result<Option<(Head, usize)>, String> {
        let long = |at: usize| {
            let bytes = bytes.get(at..)?.first_chunk()?;
            Some(u64::from_le_bytes(*bytes))
        };
        let Some(&kind) = bytes.first() else { return Ok(None) };
        let head = match kind {
            1 => {
                let Some(size) = bytes[1..].first_chunk() else { return Ok(None) };
                let size = u32::from_le_bytes(*size);
                if !(1..=RAILS_PIECE).contains(&(size as usize)) {
                    return Err(format!("a piece of {size} bytes; it may have {RAILS_PIECE}"));
                }
                long(5).map(|at| (Head::Piece { at, size }, 13))
            }
            2 => long(1).zip(long(9)).zip(long(17)).map(|((taken, received), room)| {
                (Head::Seen(Seen { taken, received, room }), HEAD_MAX)
            }),
            3 => long(1).map(|at| (Head::End { at }, 9)),
            other => return Err(format!("there is no head of kind {other} on a rail")),
        };
        Ok(head)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn heads() -> impl Strategy<Value = Head> {
        prop_oneof![
            (any::<u64>(), 1..=RAILS_PIECE as u32).prop_map(|(at, size)| Head::Piece { at, size }),
            any::<[u64; 3]>().prop_map(|[taken, received, room]| Head::Seen(Seen {
                taken,
                received,
                room
            })),
            any::<u64>().prop_map(|at| Head::End { at }),
        ]
    }

    proptest! {
        #[test]
        fn a_head_is_read_when_it_is_whole_and_not_before(head in heads()) {
            let mut bytes = [0; HEAD_MAX];
            let size = head.write(&mut bytes);
            for end in 0..size {
                prop_assert_eq!(Head::read(&bytes[..end]), Ok(None));
            }
            prop_assert_eq!(Head::read(&bytes), Ok(Some((head, size))));
        }

        #[test]
        fn a_join_is_read_when_it_is_whole_and_not_before(
            token: [u8; 16], number in 0..8u8, count in 1..=8u8,
        ) {
            let join = Join { token, number, count };
            let bytes = join.write();
            for end in 0..JOIN {
                prop_assert_eq!(Join::read(&bytes[..end]), Ok(None));
            }
            prop_assert_eq!(Join::read(&bytes), Ok(Some(join)));
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes: Vec<u8>) {
            let _ = (Join::read(&bytes), Head::read(&bytes));
        }
    }

    #[test]
    fn what_begins_wrong_is_refused_at_once() {
        assert!(matches!(Join::read(b"GET"), Err(Refusal::Malformed(_))));
        assert!(matches!(Join::read(b"RAIL\x02\0"), Err(Refusal::Denied(_))));
        let join = Join { token: [0; 16], number: 8, count: 1 };
        assert!(Join::read(&join.write()).is_err());
        assert!(Join::read(&Join { number: 0, count: 0, ..join }.write()).is_err());
        assert!(Head::read(&[0]).is_err());
        for size in [0, RAILS_PIECE as u32 + 1] {
            let lie = [&[1][..], &size.to_le_bytes()].concat();
            assert!(Head::read(&lie).is_err(), "before the rest is there");
        }
    }
}
