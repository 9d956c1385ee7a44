//! The loops of the predefined operations, and which of them is whose (MPI-5.0, section 6.9.2).

use std::cmp::Ordering;

use super::Predefined;
use super::soft::{Extended, Half, Quad};
use super::value::{Bits, Complex, Float, Number, Ordered, Pair, Signed, Value};
use crate::datatype::{Kind, Scalar};

/// Replaces each element of the second buffer by the result for it and the first buffer's.
///
/// Elements of pairs keep the distance that a structure's have in C; the padding behind the last
/// one may be left out.
pub type Kernel = fn(&[u8], &mut [u8]);

#[inline(always)]
fn each<T: Value>(input: &[u8], inout: &mut [u8], combine: impl Fn(T, T) -> T) {
    let mut from = input.chunks_exact(T::SIZE);
    let mut to = inout.chunks_exact_mut(T::SIZE);
    for (x, y) in from.by_ref().zip(to.by_ref()) {
        combine(T::load(x), T::load(y)).store(y);
    }
    // All of an element but its padding.
    let (x, y) = (from.remainder(), to.into_remainder());
    if T::DATA < T::SIZE && x.len() >= T::DATA && y.len() >= T::DATA {
        combine(T::load(x), T::load(y)).store(y);
    }
}

/// The loop of an operation over elements of a kind; `None` where the standard has none.
pub(super) fn of(op: Predefined, kind: Kind) -> Option<Kernel> {
    match (op, kind) {
        (Predefined::Replace, _) => Some(|input, inout| inout.copy_from_slice(input)),
        (Predefined::NoOp, _) => Some(|_, _| ()),
        (_, Kind::Opaque(_)) => None,
        (_, Kind::Byte(_)) => bits::<u8>(op),
        (_, Kind::CInteger(scalar)) => integer(op, scalar).or_else(|| integer_truth(op, scalar)),
        (_, Kind::FortranInteger(scalar) | Kind::MultiLanguage(scalar)) => integer(op, scalar),
        (_, Kind::Logical(scalar)) => integer_truth(op, scalar),
        (_, Kind::Floating(scalar)) => floating(op, scalar),
        (_, Kind::Complex(scalar)) => complex(op, scalar),
        (_, Kind::Pair(value, index)) => pair(op, value, index),
    }
}

fn arithmetic<T: Number>(op: Predefined) -> Option<Kernel> {
    Some(match op {
        Predefined::Sum => |input, inout| each::<T>(input, inout, T::plus),
        Predefined::Prod => |input, inout| each::<T>(input, inout, T::times),
        _ => return None,
    })
}

fn extreme<T: Ordered>(op: Predefined) -> Option<Kernel> {
    Some(match op {
        Predefined::Max => {
            |input, inout| each::<T>(input, inout, |x, y| if y.below(x) { x } else { y })
        }
        Predefined::Min => {
            |input, inout| each::<T>(input, inout, |x, y| if x.below(y) { x } else { y })
        }
        _ => return None,
    })
}

fn bits<T: Bits>(op: Predefined) -> Option<Kernel> {
    Some(match op {
        Predefined::Band => |input, inout| each::<T>(input, inout, T::and),
        Predefined::Bor => |input, inout| each::<T>(input, inout, T::or),
        Predefined::Bxor => |input, inout| each::<T>(input, inout, T::xor),
        _ => return None,
    })
}

fn truth<T: Bits>(op: Predefined) -> Option<Kernel> {
    Some(match op {
        Predefined::Land => {
            |input, inout| each::<T>(input, inout, |x, y| T::of_truth(x.truth() & y.truth()))
        }
        Predefined::Lor => {
            |input, inout| each::<T>(input, inout, |x, y| T::of_truth(x.truth() | y.truth()))
        }
        Predefined::Lxor => {
            |input, inout| each::<T>(input, inout, |x, y| T::of_truth(x.truth() ^ y.truth()))
        }
        _ => return None,
    })
}

fn located<V: Ordered, I: Ordered>(op: Predefined) -> Option<Kernel> {
    // Of equal values the one with the smaller index (section 6.9.4).
    fn choose<V: Ordered, I: Ordered>(
        (x, y): (Pair<V, I>, Pair<V, I>),
        better: Ordering,
    ) -> Pair<V, I> {
        match x.value.order(y.value) {
            Some(Ordering::Equal) if x.index.below(y.index) => x,
            Some(order) if order == better => x,
            _ => y,
        }
    }
    type P<V, I> = Pair<V, I>;
    Some(match op {
        Predefined::Minloc => |input, inout| {
            each::<P<V, I>>(input, inout, |x, y| choose((x, y), Ordering::Less));
        },
        Predefined::Maxloc => |input, inout| {
            each::<P<V, I>>(input, inout, |x, y| choose((x, y), Ordering::Greater));
        },
        _ => return None,
    })
}

/// Calls a function for the integer type of a scalar.
macro_rules! for_integer {
    ($scalar:expr, $function:ident($op:expr)) => {
        match $scalar {
            Scalar::I8 => $function::<i8>($op),
            Scalar::I16 => $function::<i16>($op),
            Scalar::I32 => $function::<i32>($op),
            Scalar::I64 => $function::<i64>($op),
            Scalar::I128 => $function::<i128>($op),
            Scalar::U8 => $function::<u8>($op),
            Scalar::U16 => $function::<u16>($op),
            Scalar::U32 => $function::<u32>($op),
            Scalar::U64 => $function::<u64>($op),
            Scalar::F16 | Scalar::F32 | Scalar::F64 | Scalar::F80 | Scalar::F128 => None,
        }
    };
}

/// The same for the floating-point type of one.
macro_rules! for_floating {
    ($scalar:expr, $function:ident($op:expr)) => {
        match $scalar {
            Scalar::F16 => $function::<Float<Half>>($op),
            Scalar::F32 => $function::<f32>($op),
            Scalar::F64 => $function::<f64>($op),
            Scalar::F80 => $function::<Float<Extended>>($op),
            Scalar::F128 => $function::<Float<Quad>>($op),
            _ => None,
        }
    };
}

fn integer(op: Predefined, scalar: Scalar) -> Option<Kernel> {
    fn all<T: Number + Ordered + Bits>(op: Predefined) -> Option<Kernel> {
        arithmetic::<T>(op).or_else(|| extreme::<T>(op)).or_else(|| bits::<T>(op))
    }
    for_integer!(scalar, all(op))
}

fn integer_truth(op: Predefined, scalar: Scalar) -> Option<Kernel> {
    for_integer!(scalar, truth(op))
}

fn floating(op: Predefined, scalar: Scalar) -> Option<Kernel> {
    fn all<T: Number + Ordered>(op: Predefined) -> Option<Kernel> {
        arithmetic::<T>(op).or_else(|| extreme::<T>(op))
    }
    for_floating!(scalar, all(op))
}

fn complex(op: Predefined, scalar: Scalar) -> Option<Kernel> {
    fn all<T: Signed>(op: Predefined) -> Option<Kernel> {
        arithmetic::<Complex<T>>(op)
    }
    for_floating!(scalar, all(op))
}

fn pair(op: Predefined, value: Scalar, index: Scalar) -> Option<Kernel> {
    match (value, index) {
        (Scalar::F32, Scalar::I32) => located::<f32, i32>(op),
        (Scalar::F64, Scalar::I32) => located::<f64, i32>(op),
        (Scalar::I64, Scalar::I32) => located::<i64, i32>(op),
        (Scalar::I32, Scalar::I32) => located::<i32, i32>(op),
        (Scalar::I16, Scalar::I32) => located::<i16, i32>(op),
        (Scalar::F80, Scalar::I32) => located::<Float<Extended>, i32>(op),
        (Scalar::F128, Scalar::I32) => located::<Float<Quad>, i32>(op),
        (Scalar::F32, Scalar::F32) => located::<f32, f32>(op),
        (Scalar::F64, Scalar::F64) => located::<f64, f64>(op),
        _ => None,
    }
}
