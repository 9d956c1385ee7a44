//! Operations against loops over numbers.

use proptest::prelude::*;

use super::*;
use crate::datatype::Kind;
use crate::datatype::Predefined as Type;

fn bytes<const N: usize, T: Copy>(list: &[T], of: fn(T) -> [u8; N]) -> Vec<u8> {
    list.iter().flat_map(|&one| of(one)).collect()
}

/// Combines two buffers of a predefined datatype.
fn combined(op: Predefined, of: Type, input: &[u8], inout: &[u8]) -> Vec<u8> {
    let datatype = Datatype::of(of);
    let mut result = inout.to_vec();
    let count = input.len() / datatype.size();
    Op::Predefined(op).reduction(datatype).expect("the standard has it").combine(
        input,
        &mut result,
        count,
        datatype,
    );
    result
}

/// Compares an operation with a loop, over buffers that start at any address.
fn agrees<const N: usize, T: Copy>(
    (op, of): (Predefined, Type),
    list: &[(T, T)],
    to_bytes: fn(T) -> [u8; N],
    by: impl Fn(T, T) -> T,
) {
    let (x, y): (Vec<T>, Vec<T>) = list.iter().copied().unzip();
    let expected: Vec<T> = list.iter().map(|&(x, y)| by(x, y)).collect();
    let odd = [&[0], &bytes(&x, to_bytes)[..]].concat();
    let result = combined(op, of, &odd[1..], &bytes(&y, to_bytes));
    assert_eq!(result, bytes(&expected, to_bytes), "{} of {}", op.name(), of.name());
}

macro_rules! integers_agree {
    ($list:expr, $($type:ty => $of:ident),*) => {$(
        let list: Vec<($type, $type)> =
            $list.iter().map(|&(x, y)| (x as $type, y as $type)).collect();
        let to = <$type>::to_ne_bytes;
        agrees((Predefined::Sum, Type::$of), &list, to, <$type>::wrapping_add);
        agrees((Predefined::Prod, Type::$of), &list, to, <$type>::wrapping_mul);
        agrees((Predefined::Max, Type::$of), &list, to, <$type>::max);
        agrees((Predefined::Min, Type::$of), &list, to, <$type>::min);
        agrees((Predefined::Band, Type::$of), &list, to, |x, y| x & y);
        agrees((Predefined::Bor, Type::$of), &list, to, |x, y| x | y);
        agrees((Predefined::Bxor, Type::$of), &list, to, |x, y| x ^ y);
    )*};
}

macro_rules! truths_agree {
    ($list:expr, $($type:ty => $of:ident),*) => {$(
        let list: Vec<($type, $type)> =
            $list.iter().map(|&(x, y)| ((x & 1) as $type, (y & 2) as $type)).collect();
        let to = <$type>::to_ne_bytes;
        let whether = |truth: bool| <$type>::from(truth);
        agrees((Predefined::Land, Type::$of), &list, to, |x, y| whether(x != 0 && y != 0));
        agrees((Predefined::Lor, Type::$of), &list, to, |x, y| whether(x != 0 || y != 0));
        agrees((Predefined::Lxor, Type::$of), &list, to, |x, y| whether((x != 0) != (y != 0)));
    )*};
}

macro_rules! floats_agree {
    ($list:expr, $($type:ty => $of:ident),*) => {$(
        let list: Vec<($type, $type)> =
            $list.iter().map(|&(x, y)| (x as $type, y as $type)).collect();
        let to = <$type>::to_ne_bytes;
        agrees((Predefined::Sum, Type::$of), &list, to, |x, y| x + y);
        agrees((Predefined::Prod, Type::$of), &list, to, |x, y| x * y);
        agrees((Predefined::Max, Type::$of), &list, to, <$type>::max);
        agrees((Predefined::Min, Type::$of), &list, to, <$type>::min);
    )*};
}

proptest! {
    #[test]
    fn operations_on_integers_are_those_of_the_machine(
        list in prop::collection::vec((any::<i128>(), any::<i128>()), 0..40),
    ) {
        integers_agree!(list, i8 => SignedChar, i8 => Int8, u8 => UnsignedChar, i16 => Short,
            u16 => UnsignedShort, i32 => Int, u32 => Unsigned, i64 => Long, u64 => UnsignedLong,
            i64 => LongLong, i32 => Integer, i8 => Integer1, i128 => Integer16, i64 => Aint,
            i64 => Count, u64 => Uint64);
        truths_agree!(list, i32 => Int, u64 => Uint64, u8 => CBool, i32 => Logical,
            i16 => Logical2, i128 => Logical16);
        let list: Vec<(u8, u8)> = list.iter().map(|&(x, y)| (x as u8, y as u8)).collect();
        agrees((Predefined::Bxor, Type::Byte), &list, u8::to_ne_bytes, |x, y| x ^ y);
    }

    #[test]
    fn operations_on_floats_are_those_of_the_machine(
        list in prop::collection::vec((-1e30..1e30, -1e30..1e30), 0..40),
    ) {
        floats_agree!(list, f32 => Float, f64 => Double, f32 => Real, f64 => DoublePrecision,
            f64 => Real8);
    }

    #[test]
    fn complex_numbers_are_added_and_multiplied(
        list in prop::collection::vec((-1e3..1e3, -1e3..1e3, -1e3..1e3, -1e3..1e3), 1..20),
    ) {
        type C = (f64, f64);
        let list: Vec<(C, C)> = list.iter().map(|&(a, b, c, d)| ((a, b), (c, d))).collect();
        let to = |(re, im): C| -> [u8; 16] {
            [re.to_ne_bytes(), im.to_ne_bytes()].concat().try_into().unwrap()
        };
        let sum = |(a, b): C, (c, d): C| (a + c, b + d);
        let product = |(a, b): C, (c, d): C| (a * c - b * d, a * d + b * c);
        agrees((Predefined::Sum, Type::CDoubleComplex), &list, to, sum);
        agrees((Predefined::Prod, Type::DoubleComplex), &list, to, product);
    }

    #[test]
    fn locations_are_those_of_the_extreme_with_the_smallest_index(
        list in prop::collection::vec(((0..3i16, 0..9i32), (0..3i16, 0..9i32)), 0..20),
    ) {
        type P = (i16, i32);
        let less = |x: P, y: P| x.min(y);
        let more = |x: P, y: P| if (y.0, -y.1) < (x.0, -x.1) { x } else { y };
        let short = |(value, index): P| -> [u8; 8] {
            let mut bytes = [0; 8];
            bytes[..2].copy_from_slice(&value.to_ne_bytes());
            bytes[4..].copy_from_slice(&index.to_ne_bytes());
            bytes
        };
        let double = |(value, index): P| -> [u8; 16] {
            let mut bytes = [0; 16];
            bytes[..8].copy_from_slice(&f64::from(value).to_ne_bytes());
            bytes[8..12].copy_from_slice(&index.to_ne_bytes());
            bytes
        };
        let reals = |(value, index): P| -> [u8; 8] {
            let pair = [f32::from(value).to_ne_bytes(), (index as f32).to_ne_bytes()];
            pair.concat().try_into().unwrap()
        };
        agrees((Predefined::Minloc, Type::ShortInt), &list, short, less);
        agrees((Predefined::Maxloc, Type::ShortInt), &list, short, more);
        agrees((Predefined::Minloc, Type::DoubleInt), &list, double, less);
        agrees((Predefined::Maxloc, Type::DoubleInt), &list, double, more);
        agrees((Predefined::Maxloc, Type::TwoReal), &list, reals, more);
    }
}

/// The number in the formats that Rust has no type for.
fn wide(of: Type, number: u64) -> Vec<u8> {
    let exponent = u128::from(63 - number.leading_zeros());
    let significand = number << number.leading_zeros();
    let fraction = u128::from(significand << 1);
    let bits = match of {
        Type::LongDouble => (exponent + 0x3fff) << 64 | u128::from(significand),
        Type::Real16 => (exponent + 0x3fff) << 112 | fraction << 48,
        _ => (exponent + 15) << 10 | fraction >> 54,
    };
    bits.to_le_bytes()[..Datatype::of(of).size()].to_vec()
}

#[test]
fn formats_without_hardware_are_computed() {
    for of in [Type::LongDouble, Type::Real16, Type::Real2] {
        for (op, result) in [
            (Predefined::Sum, 46),
            (Predefined::Prod, 205),
            (Predefined::Max, 41),
            (Predefined::Min, 5),
        ] {
            let (x, y) = (wide(of, 41), wide(of, 5));
            assert_eq!(combined(op, of, &x, &y), wide(of, result), "{} {}", op.name(), of.name());
        }
    }
}

#[test]
fn the_padding_of_the_last_pair_may_be_missing() {
    let pair = |value: f64, index: i32| [&value.to_ne_bytes()[..], &index.to_ne_bytes()].concat();
    let x = [pair(1.0, 4), vec![7; 4], pair(9.0, 5)].concat();
    let y = [pair(2.0, 0), vec![8; 4], pair(3.0, 1)].concat();
    let result = combined(Predefined::Maxloc, Type::DoubleInt, &x, &y);
    assert_eq!(result, [pair(2.0, 0), vec![8; 4], pair(9.0, 5)].concat());
}

/// Section 6.9.2's table, in other words.
fn allowed(op: Predefined, kind: Kind) -> bool {
    use Predefined::*;
    match op {
        Max | Min => matches!(
            kind,
            Kind::CInteger(_)
                | Kind::FortranInteger(_)
                | Kind::MultiLanguage(_)
                | Kind::Floating(_)
        ),
        Sum | Prod => allowed(Max, kind) || matches!(kind, Kind::Complex(_)),
        Land | Lor | Lxor => matches!(kind, Kind::CInteger(_) | Kind::Logical(_)),
        Band | Bor | Bxor => {
            allowed(Max, kind) && !matches!(kind, Kind::Floating(_))
                || matches!(kind, Kind::Byte(_))
        }
        Minloc | Maxloc => matches!(kind, Kind::Pair(..)),
        Replace | NoOp => false,
    }
}

#[test]
fn operations_are_for_the_datatypes_that_the_standard_names() {
    for &op in Predefined::ALL {
        for &of in Type::ALL {
            let reduction = Op::Predefined(op).reduction(Datatype::of(of));
            let is = reduction.as_ref().map_or_else(|error| error.class, |_| Class::Other);
            let expected = if allowed(op, of.kind()) { Class::Other } else { Class::Op };
            assert_eq!(is, expected, "{} of {}", op.name(), of.name());
        }
    }
    let refused = Op::Predefined(Predefined::Band).reduction(Datatype::of(Type::Double));
    assert_eq!(
        refused.err().unwrap().to_string(),
        "MPI_ERR_OP: MPI_BAND is not defined for MPI_DOUBLE"
    );
    let derived = Datatype::contiguous(2, Datatype::of(Type::Double)).unwrap();
    assert!(Op::Predefined(Predefined::Sum).reduction(&derived).is_err());
}

#[test]
fn accumulations_take_datatypes_of_one_predefined_datatype() {
    let op = Op::Predefined(Predefined::Sum);
    let derived = Datatype::vector(2, 1, 2, Datatype::of(Type::Int)).unwrap();
    assert!(op.accumulation(&derived).is_ok());
    let types = [Type::Int.into(), Type::Float.into()];
    let mixed = Datatype::structure(&[1, 1], &[0, 4], &types).unwrap();
    assert_eq!(op.accumulation(&mixed).unwrap_err().class, Class::Op);
    let mut inout = [1, 2];
    let replace = Op::Predefined(Predefined::Replace).accumulation(Datatype::of(Type::Char));
    replace.unwrap()(&[8, 9], &mut inout);
    assert_eq!(inout, [8, 9]);
    Op::Predefined(Predefined::NoOp).accumulation(&derived).unwrap()(&[0, 0], &mut inout);
    assert_eq!(inout, [8, 9]);
}

#[test]
fn functions_of_the_program_are_called_with_the_datatype() {
    struct Minus;
    impl Function for Minus {
        fn call(&self, input: &[u8], inout: &mut [u8], count: usize, datatype: &Datatype) {
            assert_eq!((count, datatype.size()), (3, 1));
            inout.iter_mut().zip(input).for_each(|(y, x)| *y = x - *y);
        }
    }
    let op = Op::User { function: Arc::new(Minus), commutative: false };
    let byte = Datatype::of(Type::Byte);
    let mut inout = [1, 2, 3];
    op.reduction(byte).unwrap().combine(&[5, 5, 5], &mut inout, 3, byte);
    assert_eq!(inout, [4, 3, 2]);
    assert!(!op.commutative() && op.accumulation(byte).is_err());
    assert!(Op::Predefined(Predefined::Sum).commutative());
}

#[test]
fn handles_name_one_operation_each() {
    for &op in Predefined::ALL {
        assert_eq!(Predefined::of_handle(op.handle()), Some(op));
    }
    assert_eq!(Predefined::of_handle(0x20), None);
}
