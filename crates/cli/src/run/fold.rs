//! Equal output of many ranks shown once (`clush -b`). No I/O.

use muster_base::nodeset::fold_numbers;
use std::collections::HashMap;

/// Bytes held for folding, of all ranks. What is more is shown line by line from there on.
pub const FOLD_MAX: usize = 64 * 1024 * 1024;

/// The output of ranks, held until all of it is there.
#[derive(Debug, Default)]
pub struct Fold {
    held: Vec<Vec<u8>>,
    bytes: usize,
}

impl Fold {
    /// For so many ranks.
    pub fn new(ranks: usize) -> Fold {
        Fold { held: vec![Vec::new(); ranks], bytes: 0 }
    }

    /// Takes output of a rank. False: more is held than [`FOLD_MAX`].
    pub fn push(&mut self, rank: usize, bytes: &[u8]) -> bool {
        self.held[rank].extend_from_slice(bytes);
        self.bytes += bytes.len();
        self.bytes <= FOLD_MAX
    }

    /// Appends all groups to `out`, in the order of their first ranks, and forgets them.
    /// Ranks that said nothing are left out.
    pub fn take(&mut self, out: &mut Vec<u8>) {
        let mut groups: Vec<(Vec<u8>, Vec<usize>)> = Vec::new();
        let mut known: HashMap<Vec<u8>, usize> = HashMap::new();
        for (rank, held) in self.held.iter_mut().enumerate() {
            let said = std::mem::take(held);
            if said.is_empty() {
                continue;
            }
            match known.get(&said) {
                Some(at) => groups[*at].1.push(rank),
                None => {
                    known.insert(said.clone(), groups.len());
                    groups.push((said, vec![rank]));
                }
            }
        }
        self.bytes = 0;
        for (said, ranks) in groups {
            out.extend_from_slice(fold_numbers(&ranks, 1).as_bytes());
            out.extend_from_slice(b":\n");
            out.extend_from_slice(&said);
            if said.last() != Some(&b'\n') {
                out.push(b'\n');
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_output_is_shown_once() {
        let mut fold = Fold::new(9);
        for rank in [0, 1, 2, 3, 7] {
            assert!(fold.push(rank, b"up "));
        }
        for rank in [0, 1, 2, 3, 7] {
            assert!(fold.push(rank, b"3 days\n"));
        }
        assert!(fold.push(5, b"down"));
        assert!(fold.push(4, b""));
        let mut out = Vec::new();
        fold.take(&mut out);
        assert_eq!(String::from_utf8_lossy(&out), "0-3,7:\nup 3 days\n5:\ndown\n");
        out.clear();
        fold.take(&mut out);
        assert!(out.is_empty(), "what was taken is gone");
    }

    #[test]
    fn too_much_is_not_held() {
        let mut fold = Fold::new(1);
        assert!(fold.push(0, &vec![0; FOLD_MAX]));
        assert!(!fold.push(0, b"x"));
    }
}
