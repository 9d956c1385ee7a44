//! Chunks: files are cut into pieces of one length, each known by the BLAKE3 hash of its bytes. Who
//! holds a chunk, from whatever file, needs not be sent it.

pub(crate) mod store;

use muster_base::limits::CHUNK;
use std::fmt;

/// Bytes of a hash.
pub const HASH: usize = 32;

/// The name of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Hash(pub [u8; HASH]);

impl Hash {
    /// That of a chunk with these bytes.
    pub fn of(bytes: &[u8]) -> Hash {
        Hash(*blake3::hash(bytes).as_bytes())
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&blake3::Hash::from(self.0).to_hex())
    }
}

/// How many chunks a file of `size` bytes has.
pub fn count(size: u64) -> u64 {
    size.div_ceil(CHUNK as u64)
}

/// Bytes of one of them.
pub fn length(size: u64, index: u64) -> usize {
    let start = index * CHUNK as u64;
    usize::try_from(size.saturating_sub(start)).unwrap_or(usize::MAX).min(CHUNK)
}

/// The hashes that a record carries, one behind the other.
pub fn read(bytes: &[u8]) -> impl ExactSizeIterator<Item = Hash> {
    bytes.chunks_exact(HASH).map(|hash| Hash(hash.try_into().expect("it has that length")))
}

/// A file as its chunks: everything but what they say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recipe {
    /// Bytes of the file.
    pub size: u64,
    /// Its chunks, in order.
    pub chunks: Vec<Hash>,
}

impl Recipe {
    /// Each chunk with its offset and length.
    pub fn pieces(&self) -> impl Iterator<Item = (Hash, u64, usize)> {
        let size = self.size;
        let each = move |(index, hash): (usize, &Hash)| {
            let index = index as u64;
            (*hash, index * CHUNK as u64, length(size, index))
        };
        self.chunks.iter().enumerate().map(each)
    }
}

/// Numbers as ranges, as they are written to be read: `0-23,40`.
pub fn write_ranges(numbers: impl IntoIterator<Item = u32>) -> String {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for number in numbers {
        match ranges.last_mut().filter(|(_, last)| *last + 1 == number) {
            Some((_, last)) => *last = number,
            None => ranges.push((number, number)),
        }
    }
    let one = |(first, last): (u32, u32)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    };
    ranges.into_iter().map(one).collect::<Vec<_>>().join(",")
}

/// Reads what [`write_ranges`] writes; `most` is what no number may reach.
pub fn read_ranges(text: &str, most: u32) -> Option<Vec<u32>> {
    let mut numbers = Vec::new();
    for range in text.trim().split(',').filter(|range| !range.is_empty()) {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        if first > last || last >= most || numbers.last().is_some_and(|before| *before >= first) {
            return None;
        }
        numbers.extend(first..=last);
    }
    Some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_cover_a_file_whatever_its_length() {
        let chunk = CHUNK as u64;
        for size in [0, 1, chunk - 1, chunk, chunk + 1, 3 * chunk] {
            let lengths = (0..count(size)).map(|index| length(size, index) as u64);
            assert_eq!(lengths.clone().sum::<u64>(), size);
            assert!(lengths.clone().all(|length| length > 0));
            assert!(lengths.rev().skip(1).all(|length| length == chunk));
        }
    }

    #[test]
    fn ranges_are_read_as_they_were_written_and_hostile_ones_refused() {
        for numbers in [vec![], vec![7], vec![0, 1, 2], vec![0, 2, 3, 9]] {
            let text = write_ranges(numbers.iter().copied());
            assert_eq!(read_ranges(&text, 10), Some(numbers), "{text}");
        }
        for text in ["3-1", "x", "0-4294967295", "10", "2,1", "1,1", "-"] {
            assert_eq!(read_ranges(text, 10), None, "{text}");
        }
    }
}
