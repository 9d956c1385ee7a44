//! Type signatures (MPI-5.0, section 5.1): the sequence of basic types, without displacements.
//!
//! A signature is kept as its length and a polynomial hash. Both can be had of parts put together
//! and of repetitions without looking at elements, so that signatures of any length are compared
//! in one step, also by processes that tell each other only the two numbers (Langou, Bosilca, Fagg
//! and Dongarra, "Hash functions for datatype signatures in MPI", 2005).

use super::predefined::Predefined;

/// The hash is a number modulo this prime.
const MODULUS: u64 = (1 << 61) - 1;

/// The polynomials' argument: any large number does.
const BASE: u64 = 0x1b87_3593_cc9e_2d51 % MODULUS;

/// The sequence of basic types of a datatype, or of a message.
#[derive(Debug, Clone, Copy)]
pub struct Signature {
    elements: u64,
    hash: u64,
    /// `BASE` to the power of `elements`.
    power: u64,
    /// Nothing but `MPI_PACKED`, which goes with everything.
    packed: bool,
}

fn product(a: u64, b: u64) -> u64 {
    (u128::from(a) * u128::from(b) % u128::from(MODULUS)) as u64
}

impl Signature {
    /// That of nothing.
    pub const EMPTY: Signature = Signature { elements: 0, hash: 0, power: 1, packed: true };

    /// That of one element.
    #[must_use]
    pub fn of(element: Predefined) -> Signature {
        // Spread, so that sums of different elements do not meet.
        let hash = (element.handle() as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 4;
        let packed = element == Predefined::Packed;
        Signature { elements: 1, hash: hash % MODULUS, power: BASE, packed }
    }

    /// That of this sequence and then another.
    #[must_use]
    pub fn then(self, next: Signature) -> Signature {
        Signature {
            elements: self.elements + next.elements,
            hash: (product(self.hash, next.power) + next.hash) % MODULUS,
            power: product(self.power, next.power),
            packed: self.packed && next.packed,
        }
    }

    /// That of this sequence so many times.
    #[must_use]
    pub fn repeat(self, mut times: u64) -> Signature {
        let (mut all, mut some) = (Signature::EMPTY, self);
        while times > 0 {
            if times & 1 == 1 {
                all = all.then(some);
            }
            times >>= 1;
            if times > 0 {
                some = some.then(some);
            }
        }
        all
    }

    /// Basic elements.
    #[must_use]
    pub const fn elements(self) -> u64 {
        self.elements
    }

    /// What another process needs to compare: equal sequences have equal hashes.
    #[must_use]
    pub const fn hash(self) -> u64 {
        self.hash
    }

    /// Whether data sent with this signature may be received with that one (section 3.3.1): the
    /// sequences are the same, or one side is packed.
    #[must_use]
    pub fn matches(self, other: Signature) -> bool {
        self == other || self.packed || other.packed
    }
}

impl PartialEq for Signature {
    fn eq(&self, other: &Signature) -> bool {
        (self.elements, self.hash) == (other.elements, other.hash)
    }
}

impl Eq for Signature {}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(sequence: &[Predefined]) -> Signature {
        sequence.iter().fold(Signature::EMPTY, |all, &one| all.then(Signature::of(one)))
    }

    proptest! {
        #[test]
        fn sequences_are_equal_where_their_signatures_are(
            a in prop::collection::vec(0..3usize, 0..5),
            b in prop::collection::vec(0..3usize, 0..5),
        ) {
            let types = |list: &[usize]| -> Vec<Predefined> {
                list.iter().map(|&one| Predefined::ALL[one]).collect()
            };
            prop_assert_eq!(of(&types(&a)) == of(&types(&b)), a == b);
        }

        #[test]
        fn it_does_not_matter_how_a_sequence_was_put_together(
            list in prop::collection::vec(0..Predefined::ALL.len(), 0..20),
            cut in 0..20usize,
            times in 0..20u64,
        ) {
            let list: Vec<Predefined> = list.into_iter().map(|one| Predefined::ALL[one]).collect();
            let (left, right) = list.split_at(cut.min(list.len()));
            prop_assert_eq!(of(left).then(of(right)), of(&list));
            prop_assert_eq!(of(&list).repeat(times), of(&list.repeat(times as usize)));
        }
    }

    #[test]
    fn packed_data_go_with_everything() {
        let int = Signature::of(Predefined::Int);
        assert!(Signature::of(Predefined::Packed).repeat(4).matches(int));
        assert!(!Signature::of(Predefined::Byte).repeat(4).matches(int));
        assert!(!Signature::of(Predefined::Int32).matches(int));
    }
}
