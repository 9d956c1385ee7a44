//! Messages into and out of packed data, in pieces of any length.

use super::cursor::Cursor;

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

impl Cursor<'_> {
    /// Copies what follows the cursor out of `memory`, as much as `into` has room for, and says
    /// how much it was.
    pub fn pack(&mut self, memory: &impl Memory, into: &mut [u8]) -> usize {
        let mut done = 0;
        while let Some(run) = self.step(into.len() - done) {
            let piece = &mut into[done..done + run.length];
            // A length that the compiler knows is one load and one store.
            match run.length {
                4 => memory.read(run.at, &mut piece[..4]),
                8 => memory.read(run.at, &mut piece[..8]),
                16 => memory.read(run.at, &mut piece[..16]),
                _ => memory.read(run.at, piece),
            }
            done += run.length;
        }
        done
    }

    /// Copies packed data to where the cursor is in `memory`, as much as the message has room for,
    /// and says how much it was.
    pub fn unpack(&mut self, memory: &mut impl Memory, from: &[u8]) -> usize {
        let mut done = 0;
        while let Some(run) = self.step(from.len() - done) {
            let piece = &from[done..done + run.length];
            match run.length {
                4 => memory.write(run.at, &piece[..4]),
                8 => memory.write(run.at, &piece[..8]),
                16 => memory.write(run.at, &piece[..16]),
                _ => memory.write(run.at, piece),
            }
            done += run.length;
        }
        done
    }
}
