//! How a datatype was made, as `MPI_Type_get_envelope` and `MPI_Type_get_contents` tell it
//! (MPI-5.0, section 5.1.13).

use super::Datatype;

/// The call that made a datatype; the number is that of the standard ABI.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(i32)]
pub enum Combiner {
    /// A predefined datatype.
    Named = 101,
    /// `MPI_Type_dup`.
    Dup = 102,
    /// `MPI_Type_contiguous`.
    Contiguous = 103,
    /// `MPI_Type_vector`.
    Vector = 104,
    /// `MPI_Type_create_hvector`.
    Hvector = 105,
    /// `MPI_Type_indexed`.
    Indexed = 106,
    /// `MPI_Type_create_hindexed`.
    Hindexed = 107,
    /// `MPI_Type_create_indexed_block`.
    IndexedBlock = 108,
    /// `MPI_Type_create_hindexed_block`.
    HindexedBlock = 109,
    /// `MPI_Type_create_struct`.
    Struct = 110,
    /// `MPI_Type_create_subarray`.
    Subarray = 111,
    /// `MPI_Type_create_darray`.
    Darray = 112,
    /// `MPI_Type_create_f90_real`.
    F90Real = 113,
    /// `MPI_Type_create_f90_complex`.
    F90Complex = 114,
    /// `MPI_Type_create_f90_integer`.
    F90Integer = 115,
    /// `MPI_Type_create_resized`.
    Resized = 116,
    /// `MPI_Type_get_value_index`.
    ValueIndex = 117,
}

/// How many arguments of which sort made a datatype.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Envelope {
    /// Integers.
    pub integers: usize,
    /// Addresses.
    pub addresses: usize,
    /// Large counts, if the call was one with large counts.
    pub large_counts: usize,
    /// Datatypes.
    pub datatypes: usize,
    /// The call.
    pub combiner: Combiner,
}

/// The arguments that made a datatype, sort by sort, in the standard's order.
#[derive(Debug, Clone)]
pub struct Contents {
    /// Integers.
    pub integers: Vec<i32>,
    /// Addresses.
    pub addresses: Vec<isize>,
    /// Large counts.
    pub large_counts: Vec<i64>,
    /// Datatypes.
    pub datatypes: Vec<Datatype>,
}

/// One argument of a constructor.
#[derive(Debug, Clone, Copy)]
pub(super) enum Argument {
    /// An integer in both sorts of calls.
    Integer(i32),
    /// An integer, or a large count.
    Count(i64),
    /// An address, or a large count.
    Address(isize),
}

/// A call and its arguments.
#[derive(Debug, Clone)]
pub(super) struct Recipe {
    pub combiner: Combiner,
    arguments: Box<[Argument]>,
    datatypes: Box<[Datatype]>,
    /// The call was one with large counts.
    large: bool,
}

impl Recipe {
    pub fn new(
        combiner: Combiner,
        arguments: impl IntoIterator<Item = Argument>,
        datatypes: &[Datatype],
    ) -> Recipe {
        let arguments: Box<[Argument]> = arguments.into_iter().collect();
        let is_large =
            |one: &Argument| matches!(*one, Argument::Count(n) if i32::try_from(n).is_err());
        let large = arguments.iter().any(is_large);
        Recipe { combiner, arguments, datatypes: datatypes.into(), large }
    }

    pub fn by_large_count(self) -> Recipe {
        Recipe { large: true, ..self }
    }

    /// All numbers, in the order of the call's arguments.
    pub fn numbers(&self) -> Vec<i64> {
        let number = |argument: &Argument| match *argument {
            Argument::Integer(n) => i64::from(n),
            Argument::Count(n) => n,
            Argument::Address(at) => at as i64,
        };
        self.arguments.iter().map(number).collect()
    }

    pub fn datatypes(&self) -> &[Datatype] {
        &self.datatypes
    }

    pub fn envelope(&self) -> Envelope {
        let Contents { integers, addresses, large_counts, datatypes } = self.contents();
        Envelope {
            integers: integers.len(),
            addresses: addresses.len(),
            large_counts: large_counts.len(),
            datatypes: datatypes.len(),
            combiner: self.combiner,
        }
    }

    pub fn contents(&self) -> Contents {
        let (mut integers, mut addresses, mut large_counts) = (Vec::new(), Vec::new(), Vec::new());
        for argument in &self.arguments {
            match *argument {
                Argument::Integer(n) => integers.push(n),
                Argument::Count(n) if self.large => large_counts.push(n),
                Argument::Address(at) if self.large => large_counts.push(at as i64),
                Argument::Count(n) => integers.push(n as i32),
                Argument::Address(at) => addresses.push(at),
            }
        }
        Contents { integers, addresses, large_counts, datatypes: self.datatypes.to_vec() }
    }
}
