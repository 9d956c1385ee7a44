//! The bytes of puts, gets and their answers, as `docs/wire/fabric.md` has them.

use crate::strategy::Handler;
use muster_base::limits::COPY_MAX;

/// A piece of a put: head, bytes.
pub const PUT: Handler = 1;
/// A piece of a get: head, how many bytes.
pub const GET: Handler = 2;
/// The answer to a piece of a put: number, status.
pub const PUT_DONE: Handler = 3;
/// The answer to a piece of a get: number, status, bytes.
pub const GET_DONE: Handler = 4;

/// Number, key, offset, count, at.
pub const HEAD: usize = 4 + 4 + 8 + 8 + 8;

/// Number, status.
pub const ANSWER: usize = 4 + 1;

/// What every piece says of its operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// The operation's number on this connection.
    pub number: u32,
    /// The region's key.
    pub key: u32,
    /// Where the operation begins in the region.
    pub offset: u64,
    /// Bytes of the operation.
    pub count: u64,
    /// Where the piece begins in the operation.
    pub at: u64,
}

impl Head {
    /// The bytes.
    pub fn to_bytes(self) -> [u8; HEAD] {
        let mut bytes = [0; HEAD];
        bytes[..4].copy_from_slice(&self.number.to_le_bytes());
        bytes[4..8].copy_from_slice(&self.key.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.offset.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.count.to_le_bytes());
        bytes[24..].copy_from_slice(&self.at.to_le_bytes());
        bytes
    }

    /// Reads a head and what stands behind it.
    ///
    /// # Errors
    /// When there is less.
    pub fn read(bytes: &[u8]) -> Result<(Head, &[u8]), String> {
        let (head, rest) = bytes.split_at_checked(HEAD).ok_or("a piece without its head")?;
        let short = |at: usize| u32::from_le_bytes(head[at..at + 4].try_into().expect("4 bytes"));
        let long = |at: usize| u64::from_le_bytes(head[at..at + 8].try_into().expect("8 bytes"));
        let (number, key) = (short(0), short(4));
        Ok((Head { number, key, offset: long(8), count: long(16), at: long(24) }, rest))
    }

    /// Whether a piece of so many bytes is one of this operation, where none has more than `most`.
    ///
    /// # Errors
    /// When it is not.
    pub fn check(&self, size: usize, most: usize) -> Result<(), String> {
        let inside = self.at.checked_add(size as u64).is_some_and(|end| end <= self.count);
        if size > most || self.count > COPY_MAX as u64 || !inside {
            let Head { at, count, .. } = self;
            return Err(format!("{size} bytes at {at} are no piece of a copy of {count}"));
        }
        Ok(())
    }
}

/// How the owner found a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Carried out.
    Done = 0,
    /// It has no region of that key.
    Unknown = 1,
    /// The region's rights do not allow it.
    Forbidden = 2,
    /// The operation leaves the region.
    Outside = 3,
}

impl Status {
    /// What is wrong, for people.
    pub fn why(self) -> Option<&'static str> {
        match self {
            Status::Done => None,
            Status::Unknown => Some("its owner exposes no such region"),
            Status::Forbidden => Some("the region's rights do not allow it"),
            Status::Outside => Some("it ends before"),
        }
    }
}

/// Writes the front of an answer, for which there is room.
pub fn write_answer(bytes: &mut [u8], number: u32, status: Status) {
    bytes[..4].copy_from_slice(&number.to_le_bytes());
    bytes[4] = status as u8;
}

/// Reads an answer: the operation's number, the status, what was read.
///
/// # Errors
/// When it is none.
pub fn read_answer(bytes: &[u8]) -> Result<(u32, Status, &[u8]), String> {
    let (head, rest) = bytes.split_first_chunk::<ANSWER>().ok_or("an answer cut short")?;
    let status = match head[4] {
        0 => Status::Done,
        1 => Status::Unknown,
        2 => Status::Forbidden,
        3 => Status::Outside,
        other => return Err(format!("status {other}")),
    };
    Ok((u32::from_le_bytes([head[0], head[1], head[2], head[3]]), status, rest))
}

/// Reads how many bytes a piece of a get asks for.
///
/// # Errors
/// When it does not say that alone.
pub fn read_size(bytes: &[u8]) -> Result<usize, String> {
    let size = bytes.try_into().map_err(|_| "a piece of a get has four bytes behind its head")?;
    Ok(u32::from_le_bytes(size) as usize)
}
