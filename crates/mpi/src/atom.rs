//! Elements that several processes change at once, each as one (MPI-5.0, section 12.7.1).

use crate::op::Kernel;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};

/// Bytes of an atom, in the order in which they lie in memory; those behind its size are zero.
type Word = [u8; 8];

/// Defines [`Atom`] from one table of sizes.
macro_rules! atoms {
    ($($variant:ident($cell:ty, $number:ty) $meaning:literal;)*) => {
        /// Bytes of a size that the processor changes as one, at an address that is a multiple of
        /// it.
        ///
        /// All is sequentially consistent but [`Atom::store`]: who has seen that one rank has done
        /// something sees what that rank had seen, whichever element it was done to.
        pub enum Atom<'a> {
            $(#[doc = $meaning] $variant(&'a $cell),)*
        }

        impl Atom<'_> {
            /// How many bytes.
            #[inline]
            #[must_use]
            pub fn size(&self) -> usize {
                match self {
                    $(Atom::$variant(_) => size_of::<$number>(),)*
                }
            }

            /// What is there.
            #[inline]
            #[must_use]
            pub fn load(&self) -> [u8; 8] {
                match self {
                    $(Atom::$variant(cell) => word(&cell.load(Ordering::SeqCst).to_ne_bytes()),)*
                }
            }

            /// Replaces it. A fence has to follow before this rank may say that it has.
            ///
            /// # Panics
            /// Where there are not as many bytes.
            #[inline]
            pub fn store(&self, new: &[u8]) {
                match self {
                    $(Atom::$variant(cell) => {
                        let new = <$number>::from_ne_bytes(new.try_into().expect(FITS));
                        cell.store(new, Ordering::Release);
                    })*
                }
            }

            /// Replaces it if it is what is expected; what was there.
            ///
            /// # Panics
            /// Where there are not as many bytes.
            #[inline]
            pub fn exchange(&self, expected: &[u8], new: &[u8]) -> [u8; 8] {
                match self {
                    $(Atom::$variant(cell) => {
                        let of = |bytes: &[u8]| bytes.try_into().expect(FITS);
                        let expected = <$number>::from_ne_bytes(of(expected));
                        let new = <$number>::from_ne_bytes(of(new));
                        let (order, again) = (Ordering::SeqCst, Ordering::SeqCst);
                        let done = cell.compare_exchange(expected, new, order, again);
                        word(&done.unwrap_or_else(|found| found).to_ne_bytes())
                    })*
                }
            }
        }
    };
}

atoms! {
    One(AtomicU8, u8) "One byte.";
    Two(AtomicU16, u16) "Two.";
    Four(AtomicU32, u32) "Four.";
    Eight(AtomicU64, u64) "Eight.";
}

const FITS: &str = "as many bytes as the atom has";

#[inline]
fn word(bytes: &[u8]) -> Word {
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    word
}

impl Atom<'_> {
    /// Replaces the elements in it by an operation's results for others and these; what was there.
    ///
    /// # Panics
    /// Where there are not as many bytes.
    #[inline(always)]
    pub fn combine(&self, kernel: Kernel, from: &[u8]) -> [u8; 8] {
        let size = self.size();
        let mut old = self.load();
        loop {
            let mut new = old;
            kernel(from, &mut new[..size]);
            let found = self.exchange(&old[..size], &new[..size]);
            if found == old {
                return old;
            }
            old = found;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::datatype::{Datatype, Predefined as Type};
    use crate::op::{Op, Predefined};
    use std::thread;

    #[test]
    fn an_atom_is_replaced_if_it_is_what_is_expected_and_read_as_it_lies() {
        let (one, two) = (AtomicU8::new(7), AtomicU16::new(0));
        let (four, eight) = (AtomicU32::new(0), AtomicU64::new(0));
        let (one, two) = (Atom::One(&one), Atom::Two(&two));
        let all = [one, two, Atom::Four(&four), Atom::Eight(&eight)];
        assert_eq!(all[0].load(), [7, 0, 0, 0, 0, 0, 0, 0]);
        for (atom, size) in all.iter().zip([1, 2, 4, 8]) {
            assert_eq!(atom.size(), size);
            let (new, other) = (&[1, 2, 3, 4, 5, 6, 7, 8][..size], &[9; 8][..size]);
            atom.store(new);
            assert_eq!(atom.exchange(other, other)[..size], *new);
            assert_eq!(atom.exchange(new, other)[..size], *new);
            assert_eq!(atom.load()[..size], *other);
            assert!(atom.load()[size..].iter().all(|byte| *byte == 0));
        }
    }

    #[test]
    fn what_several_add_at_once_is_all_there_and_each_sees_another_sum() {
        const TIMES: u64 = 20_000;
        let kernel = Op::Predefined(Predefined::Sum).accumulation(Datatype::of(Type::Int32));
        let (kernel, cell) = (kernel.unwrap(), AtomicU64::new(0));
        // Two elements in one atom.
        let add = || {
            let from = [1_u32.to_ne_bytes(), 3_u32.to_ne_bytes()].concat();
            let old = |_| Atom::Eight(&cell).combine(kernel, &from);
            (0..TIMES).map(old).collect::<Vec<_>>()
        };
        let mut seen: Vec<Word> = thread::scope(|scope| {
            let threads: Vec<_> = (0..3).map(|_| scope.spawn(add)).collect();
            threads.into_iter().flat_map(|it| it.join().unwrap()).collect()
        });
        let number = |word: &Word| u32::from_ne_bytes(*word.first_chunk().unwrap());
        seen.sort_by_key(number);
        assert!((0..).zip(&seen).all(|(at, word): (u32, _)| number(word) == at));
        let last = Atom::Eight(&cell).load();
        let sum = 3 * TIMES as u32;
        assert_eq!(last[..], [sum.to_ne_bytes(), (3 * sum).to_ne_bytes()].concat());
    }
}
