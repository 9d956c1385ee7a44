//! Messages into and out of packed data, in pieces of any length.

use super::cursor::{Cursor, Stretch};

/// Memory of a program, addressed relative to the buffer that it gave.
///
/// A datatype says which bytes are used; the program vouches that it has them.
pub trait Memory {
    /// Copies the bytes at displacement `at`.
    fn read(&self, at: isize, into: &mut [u8]);

    /// Replaces the bytes at displacement `at`.
    fn write(&mut self, at: isize, from: &[u8]);
}

/// Memory of this crate: bytes, of which the first has displacement `from`.
#[derive(Debug, Clone)]
pub struct Area<B> {
    bytes: B,
    from: isize,
}

impl<B> Area<B> {
    /// Bytes, and the displacement of the first.
    pub fn new(bytes: B, from: isize) -> Area<B> {
        Area { bytes, from }
    }

    /// The bytes.
    pub fn into_inner(self) -> B {
        self.bytes
    }

    fn index(&self, at: isize) -> usize {
        usize::try_from(at - self.from).expect("a displacement before the area")
    }
}

impl<B: AsRef<[u8]> + AsMut<[u8]>> Memory for Area<B> {
    #[inline]
    fn read(&self, at: isize, into: &mut [u8]) {
        let at = self.index(at);
        into.copy_from_slice(&self.bytes.as_ref()[at..at + into.len()]);
    }

    #[inline]
    fn write(&mut self, at: isize, from: &[u8]) {
        let at = self.index(at);
        self.bytes.as_mut()[at..at + from.len()].copy_from_slice(from);
    }
}

/// Copies pieces of packed data, all of the same length, out of memory. A length that the compiler
/// knows makes one load and one store of a copy.
#[inline(always)]
fn read_each(
    memory: &impl Memory,
    into: &mut [u8],
    length: usize,
    (mut at, stride): (isize, isize),
) {
    for piece in into.chunks_exact_mut(length) {
        memory.read(at, piece);
        at = at.wrapping_add(stride);
    }
}

/// The same into memory.
#[inline(always)]
fn write_each(
    memory: &mut impl Memory,
    from: &[u8],
    length: usize,
    (mut at, stride): (isize, isize),
) {
    for piece in from.chunks_exact(length) {
        memory.write(at, piece);
        at = at.wrapping_add(stride);
    }
}

/// Copies one piece out of memory. The usual lengths are asked for one by one: a jump by a table
/// takes longer than the copy.
#[inline(always)]
fn read_one(memory: &impl Memory, into: &mut [u8], at: isize) {
    if into.len() == 8 {
        memory.read(at, &mut into[..8]);
    } else if into.len() == 4 {
        memory.read(at, &mut into[..4]);
    } else {
        memory.read(at, into);
    }
}

/// The same into memory.
#[inline(always)]
fn write_one(memory: &mut impl Memory, from: &[u8], at: isize) {
    if from.len() == 8 {
        memory.write(at, &from[..8]);
    } else if from.len() == 4 {
        memory.write(at, &from[..4]);
    } else {
        memory.write(at, from);
    }
}

const FITS: &str = "a stretch is not longer than it may be";

impl Cursor<'_> {
    /// Copies what follows the cursor out of `memory`, as much as `into` has room for, and says
    /// how much it was.
    pub fn pack(&mut self, memory: &impl Memory, mut into: &mut [u8]) -> usize {
        let start = self.position();
        while let Some(stretch) = self.stretch(into.len()) {
            match stretch {
                Stretch::Even { at, length, count, stride } => {
                    let piece = into.split_off_mut(..length * count).expect(FITS);
                    match length {
                        4 => read_each(memory, piece, 4, (at, stride)),
                        8 => read_each(memory, piece, 8, (at, stride)),
                        16 => read_each(memory, piece, 16, (at, stride)),
                        32 => read_each(memory, piece, 32, (at, stride)),
                        _ => read_each(memory, piece, length, (at, stride)),
                    }
                }
                Stretch::List { blocks, mut base, count, stride } => {
                    for _ in 0..count {
                        for block in blocks {
                            let piece = into.split_off_mut(..block.length).expect(FITS);
                            read_one(memory, piece, base + block.at);
                        }
                        base = base.wrapping_add(stride);
                    }
                }
            }
        }
        self.position() - start
    }

    /// Copies packed data to where the cursor is in `memory`, as much as the message has room for,
    /// and says how much it was.
    pub fn unpack(&mut self, memory: &mut impl Memory, mut from: &[u8]) -> usize {
        let start = self.position();
        while let Some(stretch) = self.stretch(from.len()) {
            match stretch {
                Stretch::Even { at, length, count, stride } => {
                    let piece = from.split_off(..length * count).expect(FITS);
                    match length {
                        4 => write_each(memory, piece, 4, (at, stride)),
                        8 => write_each(memory, piece, 8, (at, stride)),
                        16 => write_each(memory, piece, 16, (at, stride)),
                        32 => write_each(memory, piece, 32, (at, stride)),
                        _ => write_each(memory, piece, length, (at, stride)),
                    }
                }
                Stretch::List { blocks, mut base, count, stride } => {
                    for _ in 0..count {
                        for block in blocks {
                            let piece = from.split_off(..block.length).expect(FITS);
                            write_one(memory, piece, base + block.at);
                        }
                        base = base.wrapping_add(stride);
                    }
                }
            }
        }
        self.position() - start
    }
}
