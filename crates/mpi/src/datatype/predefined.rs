//! The predefined datatypes (MPI-5.0, sections 3.2.2 and 6.9.4), with the handles of the standard
//! ABI. C types have the sizes and alignments of 64-bit Linux, Fortran types those of gfortran.

/// What a value in memory is to arithmetic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scalar {
    /// An integer of 8 bits.
    I8,
    /// An integer of 16 bits.
    I16,
    /// An integer of 32 bits.
    I32,
    /// An integer of 64 bits.
    I64,
    /// An integer of 128 bits.
    I128,
    /// An unsigned integer of 8 bits.
    U8,
    /// An unsigned integer of 16 bits.
    U16,
    /// An unsigned integer of 32 bits.
    U32,
    /// An unsigned integer of 64 bits.
    U64,
    /// IEEE binary16.
    F16,
    /// IEEE binary32.
    F32,
    /// IEEE binary64.
    F64,
    /// The extended format of x87, 80 bits in 16 bytes.
    F80,
    /// IEEE binary128.
    F128,
}

impl Scalar {
    /// C's `long double` on this processor.
    pub const LONG_DOUBLE: Scalar =
        if cfg!(target_arch = "x86_64") { Scalar::F80 } else { Scalar::F128 };

    /// C's `char` on this processor, which has a sign or has none.
    pub const CHAR: Scalar = if std::ffi::c_char::MIN == 0 { Scalar::U8 } else { Scalar::I8 };

    /// Bytes in memory, padding included; it is the alignment as well.
    #[must_use]
    pub const fn size(self) -> usize {
        match self {
            Scalar::I8 | Scalar::U8 => 1,
            Scalar::I16 | Scalar::U16 | Scalar::F16 => 2,
            Scalar::I32 | Scalar::U32 | Scalar::F32 => 4,
            Scalar::I64 | Scalar::U64 | Scalar::F64 => 8,
            Scalar::I128 | Scalar::F80 | Scalar::F128 => 16,
        }
    }
}

/// The groups of predefined datatypes, which say what operations are for (MPI-5.0, section 6.9.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Text and packed data: no arithmetic.
    Opaque(Scalar),
    /// `MPI_BYTE`.
    Byte(Scalar),
    /// Integers of C.
    CInteger(Scalar),
    /// Integers of Fortran.
    FortranInteger(Scalar),
    /// Addresses, offsets and counts, which C and Fortran have alike.
    MultiLanguage(Scalar),
    /// Floating point.
    Floating(Scalar),
    /// Complex numbers: twice the scalar.
    Complex(Scalar),
    /// Truth values.
    Logical(Scalar),
    /// A value and its index, for `MPI_MAXLOC` and `MPI_MINLOC`: a structure of two elements.
    Pair(Scalar, Scalar),
}

impl Kind {
    /// What it is made of; of a pair, its value.
    #[must_use]
    pub const fn scalar(self) -> Scalar {
        match self {
            Kind::Opaque(scalar)
            | Kind::Byte(scalar)
            | Kind::CInteger(scalar)
            | Kind::FortranInteger(scalar)
            | Kind::MultiLanguage(scalar)
            | Kind::Floating(scalar)
            | Kind::Complex(scalar)
            | Kind::Logical(scalar)
            | Kind::Pair(scalar, _) => scalar,
        }
    }
}

/// Defines [`Predefined`] from one table of names, handles, kinds and meanings.
macro_rules! predefined {
    ($($variant:ident = $handle:literal $name:literal
        $kind:ident($($scalar:ident),+) $meaning:literal;)*) => {
        /// A predefined datatype; the number is its handle in the standard ABI.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u16)]
        pub enum Predefined {
            $(#[doc = concat!("`", $name, "`: ", $meaning, ".")] $variant = $handle,)*
        }

        impl Predefined {
            /// All of them, in the order of their handles.
            pub const ALL: &[Predefined] = &[$(Predefined::$variant,)*];

            /// The datatype of a handle.
            #[must_use]
            pub const fn of_handle(handle: usize) -> Option<Predefined> {
                match handle {
                    $($handle => Some(Predefined::$variant),)*
                    _ => None,
                }
            }

            /// The name in C.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Predefined::$variant => $name,)*
                }
            }

            /// What operations it is for, and how it lies in memory.
            #[must_use]
            pub const fn kind(self) -> Kind {
                match self {
                    $(Predefined::$variant => Kind::$kind($(Scalar::$scalar),+),)*
                }
            }
        }
    };
}

predefined! {
    Aint = 0x201 "MPI_AINT" MultiLanguage(I64) "an address, and a difference of two";
    Count = 0x202 "MPI_COUNT" MultiLanguage(I64) "a large count";
    Offset = 0x203 "MPI_OFFSET" MultiLanguage(I64) "an offset in a file";
    Packed = 0x207 "MPI_PACKED" Opaque(U8) "what MPI_Pack made";
    Short = 0x208 "MPI_SHORT" CInteger(I16) "C's short";
    Int = 0x209 "MPI_INT" CInteger(I32) "C's int";
    Long = 0x20a "MPI_LONG" CInteger(I64) "C's long";
    LongLong = 0x20b "MPI_LONG_LONG_INT" CInteger(I64) "C's long long";
    UnsignedShort = 0x20c "MPI_UNSIGNED_SHORT" CInteger(U16) "C's unsigned short";
    Unsigned = 0x20d "MPI_UNSIGNED" CInteger(U32) "C's unsigned int";
    UnsignedLong = 0x20e "MPI_UNSIGNED_LONG" CInteger(U64) "C's unsigned long";
    UnsignedLongLong = 0x20f "MPI_UNSIGNED_LONG_LONG" CInteger(U64) "C's unsigned long long";
    Float = 0x210 "MPI_FLOAT" Floating(F32) "C's float";
    CFloatComplex = 0x212 "MPI_C_COMPLEX" Complex(F32) "C's float _Complex";
    CxxFloatComplex = 0x213 "MPI_CXX_FLOAT_COMPLEX" Complex(F32) "`std::complex<float>` of C++";
    Double = 0x214 "MPI_DOUBLE" Floating(F64) "C's double";
    CDoubleComplex = 0x216 "MPI_C_DOUBLE_COMPLEX" Complex(F64) "C's double _Complex";
    CxxDoubleComplex = 0x217 "MPI_CXX_DOUBLE_COMPLEX" Complex(F64) "`std::complex<double>` of C++";
    Logical = 0x218 "MPI_LOGICAL" Logical(I32) "Fortran's LOGICAL";
    Integer = 0x219 "MPI_INTEGER" FortranInteger(I32) "Fortran's INTEGER";
    Real = 0x21a "MPI_REAL" Floating(F32) "Fortran's REAL";
    Complex = 0x21b "MPI_COMPLEX" Complex(F32) "Fortran's COMPLEX";
    DoublePrecision = 0x21c "MPI_DOUBLE_PRECISION" Floating(F64) "Fortran's DOUBLE PRECISION";
    DoubleComplex = 0x21d "MPI_DOUBLE_COMPLEX" Complex(F64) "Fortran's DOUBLE COMPLEX";
    Character = 0x21e "MPI_CHARACTER" Opaque(U8) "Fortran's CHARACTER";
    LongDouble = 0x220 "MPI_LONG_DOUBLE" Floating(LONG_DOUBLE) "C's long double";
    CLongDoubleComplex = 0x224 "MPI_C_LONG_DOUBLE_COMPLEX" Complex(LONG_DOUBLE)
        "C's long double _Complex";
    CxxLongDoubleComplex = 0x225 "MPI_CXX_LONG_DOUBLE_COMPLEX" Complex(LONG_DOUBLE)
        "`std::complex<long double>` of C++";
    FloatInt = 0x228 "MPI_FLOAT_INT" Pair(F32, I32) "a float and its int";
    DoubleInt = 0x229 "MPI_DOUBLE_INT" Pair(F64, I32) "a double and its int";
    LongInt = 0x22a "MPI_LONG_INT" Pair(I64, I32) "a long and its int";
    TwoInt = 0x22b "MPI_2INT" Pair(I32, I32) "an int and its int";
    ShortInt = 0x22c "MPI_SHORT_INT" Pair(I16, I32) "a short and its int";
    LongDoubleInt = 0x22d "MPI_LONG_DOUBLE_INT" Pair(LONG_DOUBLE, I32) "a long double and its int";
    TwoReal = 0x230 "MPI_2REAL" Pair(F32, F32) "a REAL and its REAL";
    TwoDoublePrecision = 0x231 "MPI_2DOUBLE_PRECISION" Pair(F64, F64)
        "a DOUBLE PRECISION and its DOUBLE PRECISION";
    TwoInteger = 0x232 "MPI_2INTEGER" Pair(I32, I32) "an INTEGER and its INTEGER";
    CBool = 0x238 "MPI_C_BOOL" Logical(U8) "C's _Bool";
    CxxBool = 0x239 "MPI_CXX_BOOL" Logical(U8) "C++'s bool";
    Wchar = 0x23c "MPI_WCHAR" Opaque(I32) "C's wchar_t";
    Int8 = 0x240 "MPI_INT8_T" CInteger(I8) "C's int8_t";
    Uint8 = 0x241 "MPI_UINT8_T" CInteger(U8) "C's uint8_t";
    Char = 0x243 "MPI_CHAR" CInteger(CHAR) "C's char, a letter, which programs take for a number";
    SignedChar = 0x244 "MPI_SIGNED_CHAR" CInteger(I8) "C's signed char, a number";
    UnsignedChar = 0x245 "MPI_UNSIGNED_CHAR" CInteger(U8) "C's unsigned char, a number";
    Byte = 0x247 "MPI_BYTE" Byte(U8) "eight bits";
    Int16 = 0x248 "MPI_INT16_T" CInteger(I16) "C's int16_t";
    Uint16 = 0x249 "MPI_UINT16_T" CInteger(U16) "C's uint16_t";
    Int32 = 0x250 "MPI_INT32_T" CInteger(I32) "C's int32_t";
    Uint32 = 0x251 "MPI_UINT32_T" CInteger(U32) "C's uint32_t";
    Int64 = 0x258 "MPI_INT64_T" CInteger(I64) "C's int64_t";
    Uint64 = 0x259 "MPI_UINT64_T" CInteger(U64) "C's uint64_t";
    Logical1 = 0x2c0 "MPI_LOGICAL1" Logical(U8) "Fortran's LOGICAL*1";
    Integer1 = 0x2c1 "MPI_INTEGER1" FortranInteger(I8) "Fortran's INTEGER*1";
    Logical2 = 0x2c8 "MPI_LOGICAL2" Logical(I16) "Fortran's LOGICAL*2";
    Integer2 = 0x2c9 "MPI_INTEGER2" FortranInteger(I16) "Fortran's INTEGER*2";
    Real2 = 0x2ca "MPI_REAL2" Floating(F16) "Fortran's REAL*2";
    Logical4 = 0x2d0 "MPI_LOGICAL4" Logical(I32) "Fortran's LOGICAL*4";
    Integer4 = 0x2d1 "MPI_INTEGER4" FortranInteger(I32) "Fortran's INTEGER*4";
    Real4 = 0x2d2 "MPI_REAL4" Floating(F32) "Fortran's REAL*4";
    Complex4 = 0x2d3 "MPI_COMPLEX4" Complex(F16) "Fortran's COMPLEX*4";
    Logical8 = 0x2d8 "MPI_LOGICAL8" Logical(I64) "Fortran's LOGICAL*8";
    Integer8 = 0x2d9 "MPI_INTEGER8" FortranInteger(I64) "Fortran's INTEGER*8";
    Real8 = 0x2da "MPI_REAL8" Floating(F64) "Fortran's REAL*8";
    Complex8 = 0x2db "MPI_COMPLEX8" Complex(F32) "Fortran's COMPLEX*8";
    Logical16 = 0x2e0 "MPI_LOGICAL16" Logical(I128) "Fortran's LOGICAL*16";
    Integer16 = 0x2e1 "MPI_INTEGER16" FortranInteger(I128) "Fortran's INTEGER*16";
    Real16 = 0x2e2 "MPI_REAL16" Floating(F128) "Fortran's REAL*16";
    Complex16 = 0x2e3 "MPI_COMPLEX16" Complex(F64) "Fortran's COMPLEX*16";
    Complex32 = 0x2eb "MPI_COMPLEX32" Complex(F128) "Fortran's COMPLEX*32";
}

/// `MPI_DATATYPE_NULL`; the handles of the predefined datatypes are larger.
pub const NULL: usize = 0x200;

/// The largest handle of a predefined datatype.
pub const LAST: usize = 0x2eb;

impl Predefined {
    /// The handle in the standard ABI.
    #[must_use]
    pub const fn handle(self) -> usize {
        self as usize
    }

    /// Bytes of data, without the padding of pairs.
    #[must_use]
    pub const fn size(self) -> usize {
        match self.kind() {
            Kind::Complex(scalar) => 2 * scalar.size(),
            Kind::Pair(value, index) => value.size() + index.size(),
            kind => kind.scalar().size(),
        }
    }

    /// What its address is a multiple of in C.
    #[must_use]
    pub const fn alignment(self) -> usize {
        match self.kind() {
            Kind::Pair(value, index) if value.size() < index.size() => index.size(),
            kind => kind.scalar().size(),
        }
    }

    /// The two elements of a pair: the value's datatype and the index's.
    #[must_use]
    pub const fn elements(self) -> Option<(Predefined, Predefined)> {
        use Predefined::{
            Double, DoubleInt, DoublePrecision, Float, FloatInt, Int, Integer, Long, LongDouble,
            LongDoubleInt, LongInt, Real, Short, ShortInt, TwoDoublePrecision, TwoInt, TwoInteger,
            TwoReal,
        };
        Some(match self {
            FloatInt => (Float, Int),
            DoubleInt => (Double, Int),
            LongInt => (Long, Int),
            TwoInt => (Int, Int),
            ShortInt => (Short, Int),
            LongDoubleInt => (LongDouble, Int),
            TwoReal => (Real, Real),
            TwoDoublePrecision => (DoublePrecision, DoublePrecision),
            TwoInteger => (Integer, Integer),
            _ => return None,
        })
    }
}

/// The classes of `MPI_Type_match_size`; the number is that of the standard ABI.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum TypeClass {
    /// `MPI_TYPECLASS_LOGICAL`, which the ABI has beyond the standard.
    Logical = 191,
    /// `MPI_TYPECLASS_INTEGER`.
    Integer = 192,
    /// `MPI_TYPECLASS_REAL`.
    Real = 193,
    /// `MPI_TYPECLASS_COMPLEX`.
    Complex = 194,
}

impl Predefined {
    /// Fortran's datatype of a class with so many bytes (section 19.1.9).
    #[must_use]
    pub fn of_size(class: TypeClass, size: usize) -> Option<Predefined> {
        let sized = Predefined::ALL.iter().filter(|one| one.handle() >= 0x2c0);
        let of_class = |kind| match class {
            TypeClass::Logical => matches!(kind, Kind::Logical(_)),
            TypeClass::Integer => matches!(kind, Kind::FortranInteger(_)),
            TypeClass::Real => matches!(kind, Kind::Floating(_)),
            TypeClass::Complex => matches!(kind, Kind::Complex(_)),
        };
        sized.copied().find(|one| of_class(one.kind()) && one.size() == size)
    }

    /// The pair of a value's datatype and its index's, as `MPI_Type_get_value_index` gives it.
    #[must_use]
    pub fn pair(value: Predefined, index: Predefined) -> Option<Predefined> {
        Predefined::ALL.iter().copied().find(|one| one.elements() == Some((value, index)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_name_one_datatype_each() {
        for &predefined in Predefined::ALL {
            assert_eq!(Predefined::of_handle(predefined.handle()), Some(predefined));
            assert!((NULL + 1..=LAST).contains(&predefined.handle()));
        }
        assert!(Predefined::ALL.is_sorted());
        assert_eq!(Predefined::of_handle(NULL), None);
        assert_eq!(Predefined::of_handle(0x211), None);
    }

    #[test]
    fn handles_of_fixed_sizes_tell_the_size() {
        let fixed = |handle| (0x240..0x260).contains(&handle) || handle >= 0x2c0;
        for predefined in Predefined::ALL.iter().filter(|one| fixed(one.handle())) {
            let size = 1 << (predefined.handle() >> 3 & 7);
            assert_eq!(predefined.size(), size, "{}", predefined.name());
        }
    }

    #[test]
    fn pairs_are_as_large_as_their_elements() {
        for &predefined in Predefined::ALL {
            let pair = matches!(predefined.kind(), Kind::Pair(..));
            assert_eq!(predefined.elements().is_some(), pair);
            if let Some((value, index)) = predefined.elements() {
                assert_eq!(predefined.size(), value.size() + index.size());
            }
        }
        assert_eq!(Predefined::ShortInt.alignment(), 4);
        assert_eq!(Predefined::LongDoubleInt.size(), 20);
    }

    #[test]
    fn datatypes_are_found_by_what_they_are() {
        use Predefined::*;
        let found = |class, size| Predefined::of_size(class, size);
        assert_eq!(found(TypeClass::Integer, 4), Some(Integer4));
        assert_eq!(found(TypeClass::Real, 16), Some(Real16));
        assert_eq!(found(TypeClass::Complex, 16), Some(Complex16));
        assert_eq!(found(TypeClass::Logical, 1), Some(Logical1));
        assert_eq!(found(TypeClass::Integer, 3), None);
        assert_eq!(Predefined::pair(Double, Int), Some(DoubleInt));
        assert_eq!(Predefined::pair(DoublePrecision, DoublePrecision), Some(TwoDoublePrecision));
        assert_eq!(Predefined::pair(Int, Double), None);
    }
}
