//! What ranks say to each other about a window, as bytes (`docs/wire/window.md`).

use crate::buffer::{Memory, Typed};
use crate::datatype::{Datatype, Predefined, Run};

/// What a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Kind {
    /// Bytes for the target's memory.
    Put = 1,
    /// Asks for bytes of it.
    Get = 2,
    /// Elements to be combined with those there; with a number, those from before are wanted.
    Accumulate = 3,
    /// An element, and the one that it replaces if that is there.
    Swap = 4,
    /// Asks for an answer when all before it is done.
    Flush = 5,
    /// Asks for a lock that others may have, too.
    Share = 6,
    /// Asks for a lock that nobody else has.
    Exclude = 7,
    /// Gives a lock back.
    Unlock = 8,
    /// The target's memory may be used (`MPI_Win_post`).
    Post = 9,
    /// It will not be used any more (`MPI_Win_complete`).
    Complete = 10,
    /// What was asked for.
    Answer = 11,
    /// A lock was given back where all see it, and somebody waits for it.
    Freed = 12,
    /// Asks for a lock that others may have, too, if it is to be had at once.
    Try = 13,
}

impl Kind {
    const ALL: [Kind; 13] = [
        Kind::Put,
        Kind::Get,
        Kind::Accumulate,
        Kind::Swap,
        Kind::Flush,
        Kind::Share,
        Kind::Exclude,
        Kind::Unlock,
        Kind::Post,
        Kind::Complete,
        Kind::Answer,
        Kind::Freed,
        Kind::Try,
    ];
}

/// The head of a message; bytes of elements follow it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub kind: Kind,
    /// The operation's handle; in an answer the error class.
    pub code: u16,
    /// The handle of the datatype that all elements are of.
    pub element: u16,
    /// The answer's number; 0: none is wanted.
    pub number: u64,
    /// Where the runs begin, in bytes from the start of the window; in a dynamic one an address.
    pub at: i64,
    /// Where the bytes are, in their order.
    pub runs: Vec<Run>,
}

/// Bytes of a head without runs, and of a run.
const FIXED: usize = 32;
const RUN: usize = 16;

impl Head {
    /// One that is of no elements.
    pub fn new(kind: Kind, number: u64) -> Head {
        Head { kind, code: 0, element: 0, number, at: 0, runs: Vec::new() }
    }

    /// Bytes that its runs are.
    pub fn size(&self) -> usize {
        self.runs.iter().map(|run| run.length).sum()
    }

    /// Its bytes.
    fn bytes(&self) -> Vec<u8> {
        let mut head = vec![self.kind as u8, 0];
        head.extend(self.code.to_le_bytes());
        head.extend(self.element.to_le_bytes());
        head.extend([0; 2]);
        head.extend(self.number.to_le_bytes());
        head.extend(self.at.to_le_bytes());
        head.extend((self.runs.len() as u64).to_le_bytes());
        for run in &self.runs {
            head.extend((run.at as i64).to_le_bytes());
            head.extend((run.length as u64).to_le_bytes());
        }
        head
    }

    /// The message of a head that no bytes follow.
    pub fn alone<M: Memory>(&self) -> Typed<M> {
        self.encode(0, |_| ())
    }

    /// The message: the head, and `size` bytes that `fill` writes.
    pub fn encode<M: Memory>(&self, size: usize, fill: impl FnOnce(&mut [u8])) -> Typed<M> {
        let head = self.bytes();
        let all = bytes::<M>(head.len() + size);
        let mut memory = all.memory().clone();
        memory.bytes_mut(0, head.len()).copy_from_slice(&head);
        fill(memory.bytes_mut(head.len() as isize, size));
        all
    }

    /// The head of a message, and the bytes that follow it; none if it is no such message.
    pub fn decode(message: &[u8]) -> Option<(Head, &[u8])> {
        let (fixed, rest) = message.split_first_chunk::<FIXED>()?;
        let kind = *Kind::ALL.iter().find(|kind| **kind as u8 == fixed[0])?;
        let short = |at: usize| u16::from_le_bytes([fixed[at], fixed[at + 1]]);
        let long = |at: usize| word(&fixed[at..]);
        let count = usize::try_from(long(24)?).ok()?;
        let length = count.checked_mul(RUN).filter(|length| *length <= rest.len())?;
        let (runs, data) = rest.split_at(length);
        let run = |bytes: &[u8]| {
            let length = usize::try_from(word(&bytes[8..])?).ok()?;
            Some(Run { at: word(bytes)?.cast_signed() as isize, length })
        };
        let runs = runs.chunks_exact(RUN).map(run).collect::<Option<Vec<Run>>>()?;
        let (number, at) = (long(8)?, long(16)?.cast_signed());
        Some((Head { kind, code: short(2), element: short(4), number, at, runs }, data))
    }
}

/// The first eight bytes as a number.
fn word(bytes: &[u8]) -> Option<u64> {
    bytes.first_chunk().map(|word| u64::from_le_bytes(*word))
}

/// Room for a message, with anything in it.
pub(super) fn bytes<M: Memory>(size: usize) -> Typed<M> {
    let byte = Datatype::of(Predefined::Byte).clone();
    Typed::new(M::room(size), size, byte).expect("a message has fewer bytes than memory")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// The samples of `docs/wire/window.md`.
    fn samples() -> BTreeMap<String, Vec<u8>> {
        let table = include_str!("../../../../docs/wire/window.md");
        let mut samples = BTreeMap::<String, Vec<u8>>::new();
        for line in table.lines().filter_map(|line| line.trim().strip_prefix("sample ")) {
            let (name, bytes) = line.split_once(": ").unwrap();
            let bytes = bytes.split(' ').map(|byte| u8::from_str_radix(byte, 16).unwrap());
            samples.entry(name.to_owned()).or_default().extend(bytes);
        }
        samples
    }

    #[test]
    fn the_documents_samples_are_what_they_say() {
        let samples = samples();
        assert_eq!(samples.len(), 2);
        for (name, bytes) in samples {
            let (head, follow) = match name.as_str() {
                "accumulate" => {
                    let runs = vec![Run { at: 0, length: 4 }, Run { at: 8, length: 4 }];
                    let (code, element) = (0x21, Predefined::Int32.handle() as u16);
                    let head =
                        Head { code, element, at: 16, runs, ..Head::new(Kind::Accumulate, 7) };
                    (head, vec![1, 0, 0, 0, 2, 0, 0, 0])
                }
                "answer" => (Head { code: 48, ..Head::new(Kind::Answer, 7) }, Vec::new()),
                other => panic!("nobody knows the sample '{other}'"),
            };
            assert_eq!([head.bytes(), follow.clone()].concat(), bytes, "{name}");
            assert_eq!(Head::decode(&bytes), Some((head, &follow[..])), "{name}");
        }
    }

    #[test]
    fn what_is_no_message_is_none() {
        let flush = Head::new(Kind::Flush, 1).bytes();
        assert!(Head::decode(&flush).is_some());
        assert_eq!(Head::decode(&flush[..31]), None);
        assert_eq!(Head::decode(&[&[0], &flush[1..]].concat()), None);
        assert_eq!(Head::decode(&[&[14], &flush[1..]].concat()), None);
        // More runs than there are bytes.
        for runs in [1, u64::MAX, 1 << 60] {
            let bytes = [&flush[..24], &runs.to_le_bytes(), &[0; 15]].concat();
            assert_eq!(Head::decode(&bytes), None);
        }
    }
}
