//! Arithmetic of floating-point formats that Rust has no type for: IEEE binary16 and binary128, and
//! the 80 bits of x87. Results are rounded to nearest, ties to even, as the hardware's are.

use std::cmp::Ordering;

/// A format: bits of exponent and of significand, the leading one included.
pub trait Format: Copy {
    /// Bytes in memory.
    const SIZE: usize;
    /// Bits of the exponent.
    const EXPONENT: u32;
    /// Bits of the significand, with the one before the point.
    const PRECISION: u32;
    /// Whether the one before the point is in memory too.
    const EXPLICIT: bool;
}

/// IEEE binary16.
#[derive(Debug, Clone, Copy)]
pub struct Half;

/// The extended format of x87, in 16 bytes.
#[derive(Debug, Clone, Copy)]
pub struct Extended;

/// IEEE binary128.
#[derive(Debug, Clone, Copy)]
pub struct Quad;

impl Format for Half {
    const SIZE: usize = 2;
    const EXPONENT: u32 = 5;
    const PRECISION: u32 = 11;
    const EXPLICIT: bool = false;
}

impl Format for Extended {
    const SIZE: usize = 16;
    const EXPONENT: u32 = 15;
    const PRECISION: u32 = 64;
    const EXPLICIT: bool = true;
}

impl Format for Quad {
    const SIZE: usize = 16;
    const EXPONENT: u32 = 15;
    const PRECISION: u32 = 113;
    const EXPLICIT: bool = false;
}

/// A number in any of the formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Soft {
    /// Not a number.
    Nan,
    /// Infinity, and whether it is negative.
    Infinity(bool),
    /// `significand` times two to the power of `exponent`; zero has a sign too.
    Finite {
        /// Whether it is negative.
        negative: bool,
        /// The power of two.
        exponent: i32,
        /// At most [`Format::PRECISION`] bits.
        significand: u128,
    },
}

use Soft::{Finite, Infinity, Nan};

const fn bias<F: Format>() -> i32 {
    (1 << (F::EXPONENT - 1)) - 1
}

/// Bits of the significand in memory.
const fn stored<F: Format>() -> u32 {
    if F::EXPLICIT { F::PRECISION } else { F::PRECISION - 1 }
}

/// The exponent of the last bit of subnormal numbers.
const fn least<F: Format>() -> i32 {
    2 - bias::<F>() - F::PRECISION as i32
}

/// Shifts right; bits that are lost leave a one behind, by which rounding knows of them.
fn shift_sticky(bits: u128, by: u32) -> u128 {
    match by {
        0 => bits,
        1..128 => bits >> by | u128::from(bits << (128 - by) != 0),
        _ => u128::from(bits != 0),
    }
}

/// The product of two numbers, cut to 128 bits with [`shift_sticky`], and by how much.
fn wide_product(a: u128, b: u128) -> (u128, u32) {
    let low = |x: u128| x & u128::from(u64::MAX);
    let (a1, a0, b1, b0) = (a >> 64, low(a), b >> 64, low(b));
    let middle = ((a0 * b0) >> 64) + low(a1 * b0) + low(a0 * b1);
    let bottom = low(middle) << 64 | low(a0 * b0);
    let top = a1 * b1 + ((a1 * b0) >> 64) + ((a0 * b1) >> 64) + (middle >> 64);
    let by = 128 - top.leading_zeros();
    match by {
        0 => (bottom, 0),
        128 => (top | u128::from(bottom != 0), 128),
        _ => (top << (128 - by) | shift_sticky(bottom, by), by),
    }
}

impl Soft {
    /// A number out of the bits in memory.
    pub fn of_bits<F: Format>(bits: u128) -> Soft {
        let width = stored::<F>();
        let fraction = bits & ((1 << width) - 1);
        let field = (bits >> width) as i32 & ((1 << F::EXPONENT) - 1);
        let negative = bits >> (width + F::EXPONENT) & 1 == 1;
        let hidden = 1u128 << (F::PRECISION - 1);
        if field == (1 << F::EXPONENT) - 1 {
            let payload = fraction & (hidden - 1);
            return if payload == 0 { Infinity(negative) } else { Nan };
        }
        let significand = if field == 0 || F::EXPLICIT { fraction } else { fraction | hidden };
        Finite { negative, exponent: field.max(1) - 1 + least::<F>(), significand }
    }

    /// The bits in memory of a number that was rounded to the format.
    pub fn to_bits<F: Format>(self) -> u128 {
        let (width, hidden) = (stored::<F>(), 1u128 << (F::PRECISION - 1));
        let special = ((1u128 << F::EXPONENT) - 1) << width | if F::EXPLICIT { hidden } else { 0 };
        let sign = |negative: bool| u128::from(negative) << (width + F::EXPONENT);
        match self {
            Nan => special | hidden >> 1,
            Infinity(negative) => sign(negative) | special,
            Finite { negative, exponent, significand } => {
                let normal = significand & hidden != 0;
                let field = if normal { exponent - least::<F>() + 1 } else { 0 };
                let fraction = if F::EXPLICIT { significand } else { significand & !hidden };
                sign(negative) | (field as u128) << width | fraction
            }
        }
    }

    /// The nearest number of the format.
    fn round<F: Format>(negative: bool, exponent: i32, significand: u128) -> Soft {
        let length = (128 - significand.leading_zeros()) as i32;
        let last = (exponent + length - F::PRECISION as i32).max(least::<F>());
        let (mut exponent, mut bits) = (exponent, significand);
        if last > exponent {
            // Two bits more are kept: a half, and whether there is more than it.
            let by = last - exponent;
            let kept = if by >= 2 { shift_sticky(bits, by as u32 - 2) } else { bits << 1 };
            let up = kept & 3 == 3 || kept & 6 == 6;
            bits = (kept >> 2) + u128::from(up);
            exponent = last;
        } else {
            bits <<= (exponent - last).min(F::PRECISION as i32);
            exponent = if significand == 0 { least::<F>() } else { last };
        }
        if bits >> F::PRECISION != 0 {
            (bits, exponent) = (bits >> 1, exponent + 1);
        }
        let largest = bias::<F>() - F::PRECISION as i32 + 1;
        if exponent > largest {
            Infinity(negative)
        } else {
            Finite { negative, exponent, significand: bits }
        }
    }

    /// The nearest number of another format.
    pub fn to_format<F: Format>(self) -> Soft {
        match self {
            Finite { negative, exponent, significand } => {
                Soft::round::<F>(negative, exponent, significand)
            }
            other => other,
        }
    }

    /// The sum.
    pub fn add<F: Format>(self, other: Soft) -> Soft {
        match (self, other) {
            (Nan, _) | (_, Nan) => Nan,
            (Infinity(a), Infinity(b)) => {
                if a == b {
                    self
                } else {
                    Nan
                }
            }
            (Infinity(_), _) => self,
            (_, Infinity(_)) => other,
            (
                Finite { negative: n, exponent: e, significand: s },
                Finite { negative: m, exponent: f, significand: t },
            ) => {
                let (large, small) =
                    if e >= f { ((n, e, s), (m, f, t)) } else { ((m, f, t), (n, e, s)) };
                // Room above for a carry; what falls out below is far below a half.
                let room = 126 - F::PRECISION;
                let up = room.min((large.1 - small.1) as u32);
                let exponent = large.1 - up as i32;
                let a = large.2 << up;
                let b = shift_sticky(small.2, (exponent - small.1) as u32);
                let (negative, sum) = match (large.0 == small.0, a.cmp(&b)) {
                    (true, _) => (large.0, a + b),
                    (false, Ordering::Greater) => (large.0, a - b),
                    (false, Ordering::Less) => (small.0, b - a),
                    (false, Ordering::Equal) => (false, 0),
                };
                Soft::round::<F>(negative, exponent, sum)
            }
        }
    }

    /// The product.
    pub fn multiply<F: Format>(self, other: Soft) -> Soft {
        let negative = self.negative() != other.negative();
        match (self, other) {
            (Nan, _) | (_, Nan) => Nan,
            (Infinity(_), Finite { significand: 0, .. })
            | (Finite { significand: 0, .. }, Infinity(_)) => Nan,
            (Infinity(_), _) | (_, Infinity(_)) => Infinity(negative),
            (
                Finite { exponent: e, significand: s, .. },
                Finite { exponent: f, significand: t, .. },
            ) => {
                let (product, by) = wide_product(s, t);
                Soft::round::<F>(negative, e + f + by as i32, product)
            }
        }
    }

    /// The number with the other sign.
    pub fn negate(self) -> Soft {
        match self {
            Nan => Nan,
            Infinity(negative) => Infinity(!negative),
            Finite { negative, exponent, significand } => {
                Finite { negative: !negative, exponent, significand }
            }
        }
    }

    fn negative(self) -> bool {
        matches!(self, Infinity(true) | Finite { negative: true, .. })
    }

    fn zero(self) -> bool {
        matches!(self, Finite { significand: 0, .. })
    }

    /// The order; not-a-number has none.
    pub fn compare(self, other: Soft) -> Option<Ordering> {
        if self == Nan || other == Nan {
            return None;
        }
        if self.zero() && other.zero() {
            return Some(Ordering::Equal);
        }
        // Numbers of one format with the same sign are ordered as exponent and significand are.
        let size = |one: Soft| match one {
            Finite { exponent, significand, .. } => (exponent, significand),
            _ => (i32::MAX, 0),
        };
        Some(match (self.negative(), other.negative()) {
            (false, true) => Ordering::Greater,
            (true, false) => Ordering::Less,
            (false, false) => size(self).cmp(&size(other)),
            (true, true) => size(other).cmp(&size(self)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The format of `f32`, to compare with the hardware.
    #[derive(Debug, Clone, Copy)]
    struct Single;

    impl Format for Single {
        const SIZE: usize = 4;
        const EXPONENT: u32 = 8;
        const PRECISION: u32 = 24;
        const EXPLICIT: bool = false;
    }

    /// That of `f64`.
    #[derive(Debug, Clone, Copy)]
    struct Double;

    impl Format for Double {
        const SIZE: usize = 8;
        const EXPONENT: u32 = 11;
        const PRECISION: u32 = 53;
        const EXPLICIT: bool = false;
    }

    fn single(x: f32) -> Soft {
        Soft::of_bits::<Single>(u128::from(x.to_bits()))
    }

    fn double(x: f64) -> Soft {
        Soft::of_bits::<Double>(u128::from(x.to_bits()))
    }

    fn same_single(x: Soft, y: f32) -> bool {
        let x = f32::from_bits(x.to_bits::<Single>() as u32);
        x.to_bits() == y.to_bits() || x.is_nan() && y.is_nan()
    }

    fn same_double(x: Soft, y: f64) -> bool {
        let x = f64::from_bits(x.to_bits::<Double>() as u64);
        x.to_bits() == y.to_bits() || x.is_nan() && y.is_nan()
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 5000, ..ProptestConfig::default() })]

        #[test]
        fn it_computes_as_the_hardware_does(a in any::<u32>(), b in any::<u32>(), near in 0..32) {
            let x = f32::from_bits(a);
            for y in [f32::from_bits(b), f32::from_bits(a ^ (1 << 31) ^ (b >> near)), 1.0 / x] {
                let sum = single(x).add::<Single>(single(y));
                prop_assert!(same_single(sum, x + y), "{x:e} + {y:e}");
                let product = single(x).multiply::<Single>(single(y));
                prop_assert!(same_single(product, x * y), "{x:e} * {y:e}");
                prop_assert_eq!(single(x).compare(single(y)), x.partial_cmp(&y));
            }
        }

        #[test]
        fn doubles_too(a in any::<u64>(), b in any::<u64>(), near in 0..64) {
            let x = f64::from_bits(a);
            for y in [f64::from_bits(b), f64::from_bits(a ^ (b >> near)), 1.0 / x] {
                let sum = double(x).add::<Double>(double(y));
                prop_assert!(same_double(sum, x + y), "{x:e} + {y:e}");
                let product = double(x).multiply::<Double>(double(y));
                prop_assert!(same_double(product, x * y), "{x:e} * {y:e}");
            }
        }

        #[test]
        fn whole_numbers_are_computed_exactly(a in any::<i32>(), b in any::<i32>()) {
            let of = |n: i64| Soft::round::<Extended>(n < 0, 0, n.unsigned_abs().into());
            let (a, b) = (i64::from(a), i64::from(b));
            for (bits, expected) in [
                (of(a).add::<Extended>(of(b)), of(a + b)),
                (of(a).multiply::<Extended>(of(b)), of(a * b)),
            ] {
                prop_assert_eq!(bits.compare(expected), Some(Ordering::Equal));
                let again = Soft::of_bits::<Extended>(bits.to_bits::<Extended>());
                prop_assert_eq!(again, bits);
            }
        }

        #[test]
        fn products_of_128_bits_are_exact_where_they_fit(a in any::<u64>(), b in any::<u64>()) {
            prop_assert_eq!(wide_product(a.into(), b.into()), (u128::from(a) * u128::from(b), 0));
            let (product, by) = wide_product(u128::from(a) << 60, u128::from(b) << 60);
            let exact = u128::from(a) * u128::from(b);
            let kept = if by >= 120 { shift_sticky(exact, by - 120) } else { exact << (120 - by) };
            prop_assert_eq!(product, kept);
        }
    }

    #[test]
    fn known_numbers_have_their_bits() {
        let one = Soft::round::<Extended>(false, 0, 1);
        assert_eq!(one.to_bits::<Extended>(), 0x3fff_8000_0000_0000_0000);
        let one = Soft::round::<Quad>(true, 0, 1);
        assert_eq!(one.to_bits::<Quad>(), 0xbfff << 112);
        let third = Soft::round::<Half>(false, -100, (1u128 << 100) / 3);
        assert_eq!(third.to_bits::<Half>(), 0x3555);
        let large = Soft::round::<Half>(false, 0, 65520);
        assert_eq!(large.to_bits::<Half>(), 0x7c00);
        assert_eq!(Soft::of_bits::<Half>(0x7e00), Nan);
        assert_eq!(Soft::of_bits::<Extended>(0xffff_8000_0000_0000_0000), Infinity(true));
    }
}
