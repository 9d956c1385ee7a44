//! A number that tells two runs apart: equal digests, equal traces.

/// What has been seen so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digest(u64);

impl Default for Digest {
    fn default() -> Digest {
        Digest(0x6d75_7374_6572_2121)
    }
}

impl Digest {
    /// Adds a number.
    pub fn number(&mut self, number: u64) {
        self.0 = (self.0 ^ number).rotate_left(29).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    /// Adds bytes.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        let mut words = bytes.chunks_exact(8);
        for word in &mut words {
            self.number(u64::from_le_bytes(word.try_into().expect("eight bytes")));
        }
        let mut last = [0; 8];
        last[..words.remainder().len()].copy_from_slice(words.remainder());
        self.number(u64::from_le_bytes(last));
    }

    /// The digest as a number.
    pub fn value(self) -> u64 {
        self.0 ^ (self.0 >> 32)
    }
}

impl std::fmt::Display for Digest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:016x}", self.value())
    }
}
