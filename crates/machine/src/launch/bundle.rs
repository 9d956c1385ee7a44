//! Letters to the same nodes that travel as one: `'B'[1]`, and of each `length[4] letter[...]`,
//! little-endian. What costs is a letter, hardly its length: each wakes every node twice.

use super::BadLetter;
use muster_base::limits::CHUNK;

/// What a bundle begins with: no order and no bytes do.
const FIRST: u8 = b'B';

/// Bytes of a letter's length.
const LENGTH: usize = 4;

/// Letters that wait for others to go with.
#[derive(Clone, Debug, Default)]
pub struct Bundle {
    letters: Vec<Vec<u8>>,
}

impl Bundle {
    /// Takes one more. If all would be longer than a chunk, those before it are to go first; what
    /// is to go then.
    #[must_use]
    pub fn add(&mut self, letter: Vec<u8>) -> Option<Vec<u8>> {
        let is_full = !self.letters.is_empty() && self.size() + LENGTH + letter.len() > CHUNK;
        let first = if is_full { self.take() } else { None };
        self.letters.push(letter);
        first
    }

    /// Whether it is so long that it should not wait.
    pub fn is_due(&self) -> bool {
        self.size() > CHUNK
    }

    /// All of them as one letter; none if there are none.
    #[must_use]
    pub fn take(&mut self) -> Option<Vec<u8>> {
        let mut bundle = Vec::with_capacity(self.size());
        let mut letters = std::mem::take(&mut self.letters);
        if letters.len() < 2 {
            return letters.pop();
        }
        bundle.push(FIRST);
        for letter in letters {
            let length = u32::try_from(letter.len()).expect("a letter is short");
            bundle.extend_from_slice(&length.to_le_bytes());
            bundle.extend(letter);
        }
        Some(bundle)
    }

    fn size(&self) -> usize {
        1 + self.letters.iter().map(|letter| LENGTH + letter.len()).sum::<usize>()
    }
}

/// The letters in one that has come: those of a bundle, or it alone.
///
/// # Errors
/// When a bundle ends within one of its letters.
pub fn letters(letter: &[u8]) -> Result<Vec<&[u8]>, BadLetter> {
    let Some((&FIRST, mut rest)) = letter.split_first() else { return Ok(vec![letter]) };
    let mut found = Vec::new();
    while !rest.is_empty() {
        let cut = || BadLetter::Cut { has: rest.len() };
        let (length, behind) = rest.split_first_chunk::<LENGTH>().ok_or_else(cut)?;
        let length = u32::from_le_bytes(*length) as usize;
        let (one, others) = behind.split_at_checked(length).ok_or_else(cut)?;
        found.push(one);
        rest = others;
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use muster_base::limits::LETTER_MAX;
    use proptest::prelude::*;

    /// What arrives at a node that all of a bundle's letters are sent to.
    fn arrive(sent: &[Vec<u8>]) -> Vec<Vec<u8>> {
        let each = sent.iter().flat_map(|one| letters(one).expect("it is whole"));
        each.map(<[u8]>::to_vec).collect()
    }

    proptest! {
        #[test]
        fn letters_arrive_in_order_however_they_are_bundled(
            lengths in prop::collection::vec(1..LETTER_MAX, 1..6),
        ) {
            let letter = |(at, length): (usize, usize)| {
                [&[b'{', at as u8][..], &vec![0; length][..]].concat()
            };
            let bodies = lengths.iter().map(|length| length.saturating_sub(2));
            let all: Vec<Vec<u8>> = bodies.enumerate().map(letter).collect();
            let (mut bundle, mut sent) = (Bundle::default(), Vec::new());
            for letter in &all {
                sent.extend(bundle.add(letter.clone()));
            }
            sent.extend(bundle.take());
            prop_assert!(sent.iter().all(|one| one.len() <= LETTER_MAX));
            prop_assert_eq!(arrive(&sent), all);
            prop_assert_eq!(bundle.take(), None);
        }
    }

    #[test]
    fn one_letter_alone_is_no_bundle_and_short_ones_are_one() {
        let mut bundle = Bundle::default();
        assert_eq!(bundle.add(b"{1}".to_vec()), None);
        assert_eq!(bundle.take().as_deref(), Some(&b"{1}"[..]));
        assert_eq!(bundle.add(b"{1}".to_vec()), None);
        assert_eq!(bundle.add(b"P2".to_vec()), None);
        assert_eq!(bundle.take().as_deref(), Some(&b"B\x03\0\0\0{1}\x02\0\0\0P2"[..]));
    }

    #[test]
    fn a_bundle_that_is_cut_off_is_none() {
        let whole = b"B\x03\0\0\0{1}\x02\0\0\0P2";
        for end in (2..whole.len()).filter(|end| *end != 8) {
            assert!(letters(&whole[..end]).is_err(), "{end}");
        }
    }
}
