//! Values as operations see them: bytes of a buffer, at any address, made numbers and made bytes
//! again. The compiler turns loops over them into vector instructions where there are some.

use std::cmp::Ordering;
use std::marker::PhantomData;

use super::soft::{Format, Soft};

/// Something of fixed size in memory.
pub(super) trait Value: Copy {
    /// Bytes from one to the next.
    const SIZE: usize;
    /// The same without the padding at the end.
    const DATA: usize = Self::SIZE;

    fn load(bytes: &[u8]) -> Self;

    fn store(self, bytes: &mut [u8]);
}

/// A value that can be added and multiplied. Integers wrap around, as they do in C's arithmetic
/// without signs.
pub(super) trait Number: Value {
    fn plus(self, other: Self) -> Self;

    fn times(self, other: Self) -> Self;
}

/// A number that can be negated, as the imaginary part of a product demands it.
pub(super) trait Signed: Number {
    fn negated(self) -> Self;
}

/// A value with an order, which not-a-number is outside of.
pub(super) trait Ordered: Value {
    fn order(self, other: Self) -> Option<Ordering>;

    fn below(self, other: Self) -> bool {
        self.order(other) == Some(Ordering::Less)
    }
}

/// A value with bits.
pub(super) trait Bits: Value {
    fn and(self, other: Self) -> Self;

    fn or(self, other: Self) -> Self;

    fn xor(self, other: Self) -> Self;

    fn truth(self) -> bool;

    fn of_truth(truth: bool) -> Self;
}

macro_rules! value {
    ($($type:ty)*) => {$(
        impl Value for $type {
            const SIZE: usize = size_of::<$type>();

            #[inline(always)]
            fn load(bytes: &[u8]) -> $type {
                <$type>::from_ne_bytes(bytes.try_into().expect("a value's bytes"))
            }

            #[inline(always)]
            fn store(self, bytes: &mut [u8]) {
                bytes.copy_from_slice(&self.to_ne_bytes());
            }
        }

        impl Ordered for $type {
            #[inline(always)]
            fn order(self, other: $type) -> Option<Ordering> {
                self.partial_cmp(&other)
            }

            #[inline(always)]
            fn below(self, other: $type) -> bool {
                self < other
            }
        }
    )*};
}

macro_rules! integer {
    ($($type:ty)*) => {$(
        impl Number for $type {
            #[inline(always)]
            fn plus(self, other: $type) -> $type {
                self.wrapping_add(other)
            }

            #[inline(always)]
            fn times(self, other: $type) -> $type {
                self.wrapping_mul(other)
            }
        }

        impl Bits for $type {
            #[inline(always)]
            fn and(self, other: $type) -> $type {
                self & other
            }

            #[inline(always)]
            fn or(self, other: $type) -> $type {
                self | other
            }

            #[inline(always)]
            fn xor(self, other: $type) -> $type {
                self ^ other
            }

            #[inline(always)]
            fn truth(self) -> bool {
                self != 0
            }

            #[inline(always)]
            fn of_truth(truth: bool) -> $type {
                <$type>::from(truth)
            }
        }
    )*};
}

macro_rules! float {
    ($($type:ty)*) => {$(
        impl Number for $type {
            #[inline(always)]
            fn plus(self, other: $type) -> $type {
                self + other
            }

            #[inline(always)]
            fn times(self, other: $type) -> $type {
                self * other
            }
        }

        impl Signed for $type {
            #[inline(always)]
            fn negated(self) -> $type {
                -self
            }
        }
    )*};
}

value! { i8 i16 i32 i64 i128 u8 u16 u32 u64 f32 f64 }
integer! { i8 i16 i32 i64 i128 u8 u16 u32 u64 }
float! { f32 f64 }

/// A floating-point number of a format that is computed with here.
#[derive(Debug, Clone, Copy)]
pub(super) struct Float<F>(Soft, PhantomData<F>);

impl<F: Format> Value for Float<F> {
    const SIZE: usize = F::SIZE;

    fn load(bytes: &[u8]) -> Float<F> {
        let mut wide = [0; 16];
        wide[..F::SIZE].copy_from_slice(bytes);
        Float(Soft::of_bits::<F>(u128::from_le_bytes(wide)), PhantomData)
    }

    fn store(self, bytes: &mut [u8]) {
        bytes.copy_from_slice(&self.0.to_bits::<F>().to_le_bytes()[..F::SIZE]);
    }
}

impl<F: Format> Number for Float<F> {
    fn plus(self, other: Float<F>) -> Float<F> {
        Float(self.0.add::<F>(other.0), PhantomData)
    }

    fn times(self, other: Float<F>) -> Float<F> {
        Float(self.0.multiply::<F>(other.0), PhantomData)
    }
}

impl<F: Format> Signed for Float<F> {
    fn negated(self) -> Float<F> {
        Float(self.0.negate(), PhantomData)
    }
}

impl<F: Format> Ordered for Float<F> {
    fn order(self, other: Float<F>) -> Option<Ordering> {
        self.0.compare(other.0)
    }
}

/// A complex number: real part, imaginary part.
#[derive(Debug, Clone, Copy)]
pub(super) struct Complex<T>(T, T);

impl<T: Value> Value for Complex<T> {
    const SIZE: usize = 2 * T::SIZE;

    #[inline(always)]
    fn load(bytes: &[u8]) -> Complex<T> {
        let (real, imaginary) = bytes.split_at(T::SIZE);
        Complex(T::load(real), T::load(imaginary))
    }

    #[inline(always)]
    fn store(self, bytes: &mut [u8]) {
        let (real, imaginary) = bytes.split_at_mut(T::SIZE);
        self.0.store(real);
        self.1.store(imaginary);
    }
}

impl<T: Signed> Number for Complex<T> {
    #[inline(always)]
    fn plus(self, other: Complex<T>) -> Complex<T> {
        Complex(self.0.plus(other.0), self.1.plus(other.1))
    }

    #[inline(always)]
    fn times(self, other: Complex<T>) -> Complex<T> {
        let (Complex(a, b), Complex(c, d)) = (self, other);
        Complex(a.times(c).plus(b.times(d).negated()), a.times(d).plus(b.times(c)))
    }
}

/// A value and its index, with the padding that a structure in C has.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pair<V, I> {
    pub value: V,
    pub index: I,
}

impl<V: Value, I: Value> Pair<V, I> {
    const ALIGNMENT: usize = if V::SIZE > I::SIZE { V::SIZE } else { I::SIZE };
    const INDEX: usize = V::SIZE.next_multiple_of(I::SIZE);
}

impl<V: Value, I: Value> Value for Pair<V, I> {
    const SIZE: usize = Self::DATA.next_multiple_of(Self::ALIGNMENT);
    const DATA: usize = Self::INDEX + I::SIZE;

    #[inline(always)]
    fn load(bytes: &[u8]) -> Pair<V, I> {
        let index = &bytes[Self::INDEX..Self::INDEX + I::SIZE];
        Pair { value: V::load(&bytes[..V::SIZE]), index: I::load(index) }
    }

    #[inline(always)]
    fn store(self, bytes: &mut [u8]) {
        self.value.store(&mut bytes[..V::SIZE]);
        self.index.store(&mut bytes[Self::INDEX..Self::INDEX + I::SIZE]);
    }
}
