//! The data representation `external32` (MPI-5.0, section 15.5.2): big-endian, without padding, and
//! of the same sizes on all machines.

use super::Datatype;
use super::map::Map;
use super::pack::Memory;
use super::predefined::{Kind, Predefined, Scalar};
use crate::error::{Class, Error, Result};
use crate::op::soft::{Extended, Quad, Soft};

/// The scalars that a value of a basic type consists of, and how many of them.
fn scalars(basic: Predefined) -> (Scalar, usize) {
    let kind = basic.kind();
    (kind.scalar(), if matches!(kind, Kind::Complex(_)) { 2 } else { 1 })
}

/// Bytes of one of its scalars in `external32`.
fn width(basic: Predefined) -> usize {
    match basic {
        Predefined::Long | Predefined::UnsignedLong => 4,
        Predefined::Wchar => 2,
        _ => scalars(basic).0.size(),
    }
}

fn size(basic: Predefined) -> usize {
    scalars(basic).1 * width(basic)
}

fn signed(scalar: Scalar) -> bool {
    matches!(scalar, Scalar::I8 | Scalar::I16 | Scalar::I32 | Scalar::I64 | Scalar::I128)
}

/// The bits of a little-endian number, with its sign in all bits above, if it has one.
fn widened(bytes: &[u8], signed: bool) -> u128 {
    let fill = if signed && bytes[bytes.len() - 1] >= 0x80 { 0xff } else { 0 };
    let mut wide = [fill; 16];
    wide[..bytes.len()].copy_from_slice(bytes);
    u128::from_le_bytes(wide)
}

/// A scalar as `external32` has it.
fn to_external(basic: Predefined, native: &[u8], external: &mut [u8]) -> Result<()> {
    let scalar = scalars(basic).0;
    let mut bits = widened(native, signed(scalar));
    if scalar == Scalar::F80 {
        bits = Soft::of_bits::<Extended>(bits).to_format::<Quad>().to_bits::<Quad>();
    }
    let little = bits.to_le_bytes();
    let width = external.len();
    // A wide character has no sign, whatever its type in C.
    let signed = signed(scalar) && basic != Predefined::Wchar;
    if widened(&little[..width], signed) != bits {
        let name = basic.name();
        let what = format!("a value of {name} does not fit into the {width} bytes of external32");
        return Err(Error::new(Class::Conversion, what));
    }
    external.iter_mut().zip(little[..width].iter().rev()).for_each(|(to, from)| *to = *from);
    Ok(())
}

/// A scalar as this machine has it.
fn of_external(basic: Predefined, external: &[u8], native: &mut [u8]) {
    let scalar = scalars(basic).0;
    let mut little = [0; 16];
    little.iter_mut().zip(external.iter().rev()).for_each(|(to, from)| *to = *from);
    let signed = signed(scalar) && basic != Predefined::Wchar;
    let mut bits = widened(&little[..external.len()], signed);
    if scalar == Scalar::F80 {
        bits = Soft::of_bits::<Quad>(bits).to_format::<Extended>().to_bits::<Extended>();
    }
    native.copy_from_slice(&bits.to_le_bytes()[..native.len()]);
}

impl Datatype {
    /// Bytes of `count` copies in `external32`.
    ///
    /// # Errors
    /// `MPI_ERR_COUNT`: they are more than memory can hold.
    pub fn external_size(&self, count: usize) -> Result<usize> {
        let all = self.map().sum(size).checked_mul(count);
        all.filter(|&size| isize::try_from(size).is_ok()).ok_or_else(|| self.too_many(count))
    }

    /// Converts `count` copies into `external32`, and says how many bytes they are.
    ///
    /// # Errors
    /// `MPI_ERR_TRUNCATE`: there is less room; `MPI_ERR_CONVERSION`: a value has no place in its
    /// smaller representation.
    pub fn pack_external(
        &self,
        count: usize,
        memory: &impl Memory,
        into: &mut [u8],
    ) -> Result<usize> {
        let size = self.external_room(count, into.len())?;
        let mut into = &mut into[..size];
        self.each_scalar(count, |basic, at, native| {
            memory.read(at, native);
            let external = into.split_off_mut(..width(basic)).expect("the size is their sum");
            to_external(basic, native, external)
        })?;
        Ok(size)
    }

    /// Converts `count` copies out of `external32`, and says how many bytes they were.
    ///
    /// # Errors
    /// `MPI_ERR_TRUNCATE`: there are fewer.
    pub fn unpack_external(
        &self,
        count: usize,
        memory: &mut impl Memory,
        from: &[u8],
    ) -> Result<usize> {
        let size = self.external_room(count, from.len())?;
        let mut from = &from[..size];
        self.each_scalar(count, |basic, at, native| {
            let external = from.split_off(..width(basic)).expect("the size is their sum");
            of_external(basic, external, native);
            memory.write(at, native);
            Ok(())
        })?;
        Ok(size)
    }

    /// Converts out of `external32` as much of `count` copies as there is: whole scalars; how many
    /// bytes these have in memory.
    pub fn unpack_external_part(
        &self,
        count: usize,
        memory: &mut impl Memory,
        mut from: &[u8],
    ) -> usize {
        let mut done = 0;
        let all = self.each_scalar(count, |basic, at, native| {
            let external = from.split_off(..width(basic));
            let external = external.ok_or_else(|| Error::new(Class::Truncate, "no more"))?;
            of_external(basic, external, native);
            memory.write(at, native);
            done += native.len();
            Ok(())
        });
        // There may be no more: it can fail by nothing else.
        drop(all);
        done
    }

    fn external_room(&self, count: usize, room: usize) -> Result<usize> {
        self.span(count)?;
        let size = self.external_size(count)?;
        if size > room {
            let what = format!("{size} bytes of external32 in a buffer of {room}");
            return Err(Error::new(Class::Truncate, what));
        }
        Ok(size)
    }

    /// Does something with each scalar: its basic type, its displacement, room for it.
    fn each_scalar(
        &self,
        count: usize,
        mut act: impl FnMut(Predefined, isize, &mut [u8]) -> Result<()>,
    ) -> Result<()> {
        let map: &Map = self.map();
        map.each_of_copies(0, count, self.extent(), &mut |basic, at| {
            let (scalar, parts) = scalars(basic);
            let size = scalar.size();
            let mut native = [0; 16];
            (0..parts)
                .try_for_each(|part| act(basic, at + (part * size) as isize, &mut native[..size]))
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::datatype::Area;
    use crate::datatype::model::datatypes;

    fn packed(of: Predefined, native: &[u8]) -> Result<Vec<u8>> {
        let datatype = Datatype::of(of);
        let count = native.len() / datatype.size();
        let mut external = vec![0; datatype.external_size(count)?];
        let area = Area::new(native.to_vec(), 0);
        assert_eq!(datatype.pack_external(count, &area, &mut external)?, external.len());
        Ok(external)
    }

    #[test]
    fn sizes_are_those_of_the_standards_table() {
        use Predefined::*;
        let external = |of: Predefined| Datatype::of(of).external_size(1).unwrap();
        for of in [Packed, Byte, Char, CBool, CxxBool, Character, Logical1] {
            assert_eq!(external(of), 1);
        }
        for of in [Wchar, Short, UnsignedShort, Int16, Integer2] {
            assert_eq!(external(of), 2);
        }
        for of in [Int, Long, UnsignedLong, Float, Logical, Integer, Real, Complex4] {
            assert_eq!(external(of), 4);
        }
        for of in [LongLong, Double, Aint, Count, Offset, CFloatComplex, Complex, TwoInt] {
            assert_eq!(external(of), 8);
        }
        for of in [LongDouble, Real16, CDoubleComplex, DoubleComplex, TwoDoublePrecision] {
            assert_eq!(external(of), 16);
        }
        assert_eq!(external(CLongDoubleComplex), 32);
        assert_eq!((external(DoubleInt), external(LongDoubleInt), external(LongInt)), (12, 20, 8));
    }

    #[test]
    fn what_there_is_of_external32_is_taken_in_whole_numbers() {
        let long = Datatype::of(Predefined::Long);
        let mut area = Area::new(vec![7; 24], 0);
        // Two numbers, and half of a third.
        let external = [0, 0, 0, 1, 0xff, 0xff, 0xff, 0xfe, 0, 0];
        assert_eq!(long.unpack_external_part(3, &mut area, &external), 16);
        let mut expected = [1i64.to_le_bytes(), (-2i64).to_le_bytes()].concat();
        expected.extend([7; 8]);
        assert_eq!(area.into_inner(), expected);
    }

    #[test]
    fn values_are_big_endian() {
        let int = packed(Predefined::Int, &[4, 3, 2, 1, 0xfe, 0xff, 0xff, 0xff]).unwrap();
        assert_eq!(int, [1, 2, 3, 4, 0xff, 0xff, 0xff, 0xfe]);
        let long = packed(Predefined::Long, &(-2i64).to_le_bytes()).unwrap();
        assert_eq!(long, [0xff, 0xff, 0xff, 0xfe]);
        let double = packed(Predefined::Double, &1.5f64.to_le_bytes()).unwrap();
        assert_eq!(double, 1.5f64.to_be_bytes());
        let wide = packed(Predefined::Wchar, &0xfedci32.to_le_bytes()).unwrap();
        assert_eq!(wide, [0xfe, 0xdc]);
        // One and a half: 80 bits here, 128 bits there.
        let extended = 0x3fff_c000_0000_0000_0000u128.to_le_bytes();
        let quad = packed(Predefined::LongDouble, &extended).unwrap();
        assert_eq!(quad, (0x3fff_8000u128 << 96).to_be_bytes());
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let large = packed(Predefined::Long, &(1i64 << 31).to_le_bytes());
        assert_eq!(
            large.unwrap_err().to_string(),
            "MPI_ERR_CONVERSION: a value of MPI_LONG does not fit into the 4 bytes of external32"
        );
        assert!(packed(Predefined::UnsignedLong, &(1u64 << 31).to_le_bytes()).is_ok());
        assert!(packed(Predefined::UnsignedLong, &(1u64 << 32).to_le_bytes()).is_err());
        let (int, area) = (Datatype::of(Predefined::Int), Area::new(vec![0; 8], 0));
        let error = int.pack_external(2, &area, &mut [0; 7]).unwrap_err();
        assert_eq!(error.class, Class::Truncate);
    }

    proptest! {
        #[test]
        fn what_is_converted_comes_back(
            (datatype, model) in datatypes(),
            count in 0..3usize,
            seed in any::<u8>(),
        ) {
            let mut bytes = model.bytes(count);
            bytes.sort_unstable();
            prop_assume!(bytes.windows(2).all(|pair| pair[0] != pair[1]));
            let span = datatype.span(count).unwrap();
            let random = span.clone().map(|at| (at as u8).wrapping_mul(seed) ^ seed).collect();
            let mut source: Area<Vec<u8>> = Area::new(random, span.start);
            let extended = model.basics().filter(|&(one, _)| one == Predefined::LongDouble);
            for (_, at) in extended {
                let value = 0x4000_c000_0000_0000_0000u128 | u128::from(seed) << 8;
                for copy in 0..count as isize {
                    source.write(at + copy * datatype.extent(), &value.to_le_bytes());
                }
            }
            let size = datatype.external_size(count).unwrap();
            let mut external = vec![0; size];
            let mut back = Area::new(vec![0; span.len()], span.start);
            prop_assert_eq!(datatype.pack_external(count, &source, &mut external), Ok(size));
            prop_assert_eq!(datatype.unpack_external(count, &mut back, &external), Ok(size));
            let packed = |area: &Area<Vec<u8>>| {
                let mut packed = vec![0; datatype.packed_size(count).unwrap()];
                datatype.cursor(count).pack(area, &mut packed);
                packed
            };
            prop_assert_eq!(packed(&back), packed(&source));
        }
    }
}
