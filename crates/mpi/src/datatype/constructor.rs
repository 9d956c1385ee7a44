//! The datatype constructors (MPI-5.0, section 5.1.2).

use std::slice::from_ref;
use std::sync::Arc;

use super::Datatype;
use super::contents::Argument::{Address, Count, Integer};
use super::contents::{Argument, Combiner, Recipe};
use super::map::Map;
use crate::error::{Class, Error, Result};

/// A count as the program gave it.
pub(super) fn count(n: i64) -> Result<usize> {
    usize::try_from(n).map_err(|_| {
        Error::new(Class::Count, format!("count {n} of the datatype is negative")).of("count")
    })
}

/// The length of block number `index`.
fn block_length(index: usize, n: i64) -> Result<usize> {
    usize::try_from(n).map_err(|_| {
        let what = format!("the length {n} of block {index} is negative");
        Error::new(Class::Arg, what).of("blocklength")
    })
}

/// A displacement in bytes out of one in extents.
pub(super) fn bytes(displacement: i64, extent: isize) -> Result<isize> {
    let bytes = (displacement as isize).checked_mul(extent);
    bytes.ok_or_else(|| {
        let what = format!("displacement {displacement} times extent {extent} is not an address");
        Error::new(Class::Arg, what).of("displacement")
    })
}

fn same_number(of: &str, one: usize, other: usize) -> Result<()> {
    if one == other {
        return Ok(());
    }
    Err(Error::new(Class::Arg, format!("{one} block lengths do not go with {other} {of}")))
}

fn counts(list: &[i64]) -> impl Iterator<Item = Argument> {
    list.iter().map(|&n| Count(n))
}

fn addresses(list: &[isize]) -> impl Iterator<Item = Argument> {
    list.iter().map(|&at| Address(at))
}

/// `blocks` of a map at displacements in bytes.
fn blocks(
    lengths: impl Iterator<Item = i64>,
    displacements: impl Iterator<Item = Result<isize>>,
    map: &Arc<Map>,
) -> Result<Arc<Map>> {
    let mut parts = Vec::with_capacity(displacements.size_hint().0);
    for (index, (length, at)) in lengths.zip(displacements).enumerate() {
        parts.push((at?, block_length(index, length)?, Arc::clone(map)));
    }
    Map::sequence(parts.into_iter())
}

impl Datatype {
    /// `count` copies, one after the other.
    ///
    /// # Errors
    /// `MPI_ERR_COUNT`: the count is negative or too large.
    pub fn contiguous(number: i64, of: &Datatype) -> Result<Datatype> {
        let map = Map::repeat(count(number)?, of.extent(), of.map())?;
        let recipe = Recipe::new(Combiner::Contiguous, [Count(number)], from_ref(of));
        Ok(Datatype::made(map, recipe))
    }

    /// `count` blocks of so many copies, at multiples of `stride` extents.
    ///
    /// # Errors
    /// `MPI_ERR_COUNT` or `MPI_ERR_ARG`: an argument is negative or too large.
    pub fn vector(number: i64, length: i64, stride: i64, of: &Datatype) -> Result<Datatype> {
        let block = Map::repeat(block_length(0, length)?, of.extent(), of.map())?;
        let map = Map::repeat(count(number)?, bytes(stride, of.extent())?, &block)?;
        let arguments = [Count(number), Count(length), Count(stride)];
        Ok(Datatype::made(map, Recipe::new(Combiner::Vector, arguments, from_ref(of))))
    }

    /// The same with a stride in bytes.
    ///
    /// # Errors
    /// `MPI_ERR_COUNT` or `MPI_ERR_ARG`: an argument is negative or too large.
    pub fn hvector(number: i64, length: i64, stride: isize, of: &Datatype) -> Result<Datatype> {
        let block = Map::repeat(block_length(0, length)?, of.extent(), of.map())?;
        let map = Map::repeat(count(number)?, stride, &block)?;
        let arguments = [Count(number), Count(length), Address(stride)];
        Ok(Datatype::made(map, Recipe::new(Combiner::Hvector, arguments, from_ref(of))))
    }

    /// Blocks of any lengths at displacements in extents.
    ///
    /// # Errors
    /// `MPI_ERR_ARG`: a length is negative or a displacement too large; `MPI_ERR_COUNT`: so is the
    /// datatype.
    pub fn indexed(lengths: &[i64], displacements: &[i64], of: &Datatype) -> Result<Datatype> {
        same_number("displacements", lengths.len(), displacements.len())?;
        let at = displacements.iter().map(|&at| bytes(at, of.extent()));
        let map = blocks(lengths.iter().copied(), at, of.map())?;
        let arguments = [Count(lengths.len() as i64)]
            .into_iter()
            .chain(counts(lengths))
            .chain(counts(displacements));
        Ok(Datatype::made(map, Recipe::new(Combiner::Indexed, arguments, from_ref(of))))
    }

    /// Blocks of any lengths at displacements in bytes.
    ///
    /// # Errors
    /// `MPI_ERR_ARG`: a length is negative; `MPI_ERR_COUNT`: the datatype is too large.
    pub fn hindexed(lengths: &[i64], displacements: &[isize], of: &Datatype) -> Result<Datatype> {
        same_number("displacements", lengths.len(), displacements.len())?;
        let at = displacements.iter().map(|&at| Ok(at));
        let map = blocks(lengths.iter().copied(), at, of.map())?;
        let arguments = [Count(lengths.len() as i64)]
            .into_iter()
            .chain(counts(lengths))
            .chain(addresses(displacements));
        Ok(Datatype::made(map, Recipe::new(Combiner::Hindexed, arguments, from_ref(of))))
    }

    /// Blocks of one length at displacements in extents.
    ///
    /// # Errors
    /// `MPI_ERR_ARG`: the length is negative or a displacement too large; `MPI_ERR_COUNT`: so is
    /// the datatype.
    pub fn indexed_block(length: i64, displacements: &[i64], of: &Datatype) -> Result<Datatype> {
        block_length(0, length)?;
        let at = displacements.iter().map(|&at| bytes(at, of.extent()));
        let map = blocks(std::iter::repeat(length), at, of.map())?;
        let arguments = [Count(displacements.len() as i64), Count(length)]
            .into_iter()
            .chain(counts(displacements));
        Ok(Datatype::made(map, Recipe::new(Combiner::IndexedBlock, arguments, from_ref(of))))
    }

    /// Blocks of one length at displacements in bytes.
    ///
    /// # Errors
    /// `MPI_ERR_ARG`: the length is negative; `MPI_ERR_COUNT`: the datatype is too large.
    pub fn hindexed_block(length: i64, displacements: &[isize], of: &Datatype) -> Result<Datatype> {
        block_length(0, length)?;
        let at = displacements.iter().map(|&at| Ok(at));
        let map = blocks(std::iter::repeat(length), at, of.map())?;
        let arguments = [Count(displacements.len() as i64), Count(length)]
            .into_iter()
            .chain(addresses(displacements));
        Ok(Datatype::made(map, Recipe::new(Combiner::HindexedBlock, arguments, from_ref(of))))
    }

    /// `MPI_Type_create_struct`: blocks of any datatypes at displacements in bytes.
    ///
    /// # Errors
    /// `MPI_ERR_ARG`: a length is negative; `MPI_ERR_COUNT`: the datatype is too large.
    pub fn structure(
        lengths: &[i64],
        displacements: &[isize],
        of: &[Datatype],
    ) -> Result<Datatype> {
        same_number("displacements", lengths.len(), displacements.len())?;
        same_number("datatypes", lengths.len(), of.len())?;
        let mut parts = Vec::with_capacity(of.len());
        for (index, datatype) in of.iter().enumerate() {
            let length = block_length(index, lengths[index])?;
            parts.push((displacements[index], length, Arc::clone(datatype.map())));
        }
        let map = Map::sequence(parts.into_iter())?;
        let arguments = [Count(lengths.len() as i64)]
            .into_iter()
            .chain(counts(lengths))
            .chain(addresses(displacements));
        Ok(Datatype::made(map, Recipe::new(Combiner::Struct, arguments, of)))
    }

    /// The same data with another lower bound and extent.
    ///
    /// # Errors
    /// `MPI_ERR_ARG`: the upper bound is not an address.
    pub fn resized(of: &Datatype, lower: isize, extent: isize) -> Result<Datatype> {
        let upper = lower.checked_add(extent).ok_or_else(|| {
            let what = format!("lower bound {lower} and extent {extent} give no upper bound");
            Error::new(Class::Arg, what).of("extent")
        })?;
        let map = Map::resized(of.map(), lower, upper);
        let arguments = [Address(lower), Address(extent)];
        Ok(Datatype::made(map, Recipe::new(Combiner::Resized, arguments, from_ref(of))))
    }

    /// `MPI_Type_dup`: another datatype that is the same, committed if this one is.
    #[must_use]
    pub fn duplicate(&self) -> Datatype {
        let recipe = Recipe::new(Combiner::Dup, [], from_ref(self));
        let copy = Datatype::made(Arc::clone(self.map()), recipe);
        if self.committed() {
            copy.commit();
        }
        copy
    }

    /// An integer of Fortran with a range of so many decimal digits (section 19.1.5).
    ///
    /// # Errors
    /// `MPI_ERR_ARG`: Fortran has none so large.
    pub fn f90_integer(range: i32) -> Result<Datatype> {
        use super::Predefined::{Integer1, Integer2, Integer4, Integer8, Integer16};
        let fits = [(2, Integer1), (4, Integer2), (9, Integer4), (18, Integer8), (38, Integer16)];
        let fit = fits.into_iter().find(|&(most, _)| range <= most);
        let (_, predefined) = fit.ok_or_else(|| {
            let what = format!("no INTEGER has a range of {range} decimal digits");
            Error::new(Class::Arg, what).of("r")
        })?;
        Ok(Datatype::selected(Combiner::F90Integer, [Integer(range)], predefined))
    }

    /// A real number of Fortran with so many decimal digits and so large an exponent, of which
    /// `None` leaves it open.
    ///
    /// # Errors
    /// `MPI_ERR_ARG`: Fortran has none like it.
    pub fn f90_real(precision: Option<i32>, range: Option<i32>) -> Result<Datatype> {
        use super::Predefined::{LongDouble, Real4, Real8, Real16};
        let predefined = f90_kind(precision, range, [Real4, Real8, LongDouble, Real16])?;
        let arguments = f90_arguments(precision, range);
        Ok(Datatype::selected(Combiner::F90Real, arguments, predefined))
    }

    /// A complex number of such real ones.
    ///
    /// # Errors
    /// `MPI_ERR_ARG`: Fortran has none like it.
    pub fn f90_complex(precision: Option<i32>, range: Option<i32>) -> Result<Datatype> {
        use super::Predefined::{CLongDoubleComplex, Complex8, Complex16, Complex32};
        let kinds = [Complex8, Complex16, CLongDoubleComplex, Complex32];
        let predefined = f90_kind(precision, range, kinds)?;
        let arguments = f90_arguments(precision, range);
        Ok(Datatype::selected(Combiner::F90Complex, arguments, predefined))
    }

    /// A predefined datatype under another combiner.
    fn selected<const N: usize>(
        combiner: Combiner,
        arguments: [Argument; N],
        predefined: super::Predefined,
    ) -> Datatype {
        let map = Arc::clone(Datatype::of(predefined).map());
        let datatype = Datatype::made(map, Recipe::new(combiner, arguments, &[]));
        datatype.commit();
        datatype
    }
}

/// What stands for an open precision or range (`MPI_UNDEFINED`).
const UNDEFINED: i32 = -32766;

fn f90_arguments(precision: Option<i32>, range: Option<i32>) -> [Argument; 2] {
    [Integer(precision.unwrap_or(UNDEFINED)), Integer(range.unwrap_or(UNDEFINED))]
}

/// The smallest kind with this precision and range. The kinds are those of 4 and 8 bytes, that of
/// the x87's registers, which compilers have on processors with these only, and that of 16 bytes.
fn f90_kind<T>(precision: Option<i32>, range: Option<i32>, kinds: [T; 4]) -> Result<T> {
    const EXTENDED: i32 = if cfg!(target_arch = "x86_64") { 18 } else { -1 };
    let (digits, exponent) = (precision.unwrap_or(0), range.unwrap_or(0));
    let most = [(6, 37), (15, 307), (EXTENDED, 4931), (33, 4931)].into_iter().zip(kinds);
    let fit = most.into_iter().find(|&((p, r), _)| digits <= p && exponent <= r);
    fit.map(|(_, kind)| kind).ok_or_else(|| {
        let what = format!("no REAL has {digits} decimal digits and an exponent of {exponent}");
        Error::new(Class::Arg, what).of(if digits > 33 { "p" } else { "r" })
    })
}
