//! Parts of arrays (MPI-5.0, sections 5.1.3 and 5.1.4): subarrays, and what one process has of an
//! array that is distributed over a grid of them.

use std::slice::from_ref;
use std::sync::Arc;

use super::Datatype;
use super::constructor::bytes;
use super::contents::Argument::{Count, Integer};
use super::contents::{Argument, Combiner, Recipe};
use super::map::Map;
use crate::error::{Class, Error, Result};

/// How an array lies in memory; the number is that of the standard ABI.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum Order {
    /// The last dimension varies fastest.
    C = 12,
    /// The first dimension varies fastest.
    Fortran = 15,
}

/// How a dimension is distributed; the number is that of the standard ABI.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum Distribution {
    /// Not at all.
    None = 16,
    /// One block for each process.
    Block = 17,
    /// Blocks dealt out in turn.
    Cyclic = 18,
}

/// What stands for the usual distribution argument (`MPI_DISTRIBUTE_DFLT_DARG`).
pub const DEFAULT_ARGUMENT: i32 = 19;

/// One dimension of a distributed array.
#[derive(Debug, Clone, Copy)]
pub struct Distributed {
    /// Elements of the whole array.
    pub size: i64,
    /// How it is distributed.
    pub distribution: Distribution,
    /// Elements in a block; `None` for what is usual.
    pub argument: Option<i32>,
    /// Processes of the grid.
    pub processes: i32,
}

/// One dimension of a subarray.
#[derive(Debug, Clone, Copy)]
pub struct Slice {
    /// Elements of the whole array.
    pub size: i64,
    /// Elements of the subarray.
    pub subsize: i64,
    /// Where it starts.
    pub start: i64,
}

fn bad(argument: &'static str, what: String) -> Error {
    Error::new(Class::Arg, what).of(argument)
}

fn some<T>(dimensions: &[T]) -> Result<()> {
    if dimensions.is_empty() {
        Err(bad("ndims", "an array has no dimensions".to_owned()))
    } else {
        Ok(())
    }
}

/// The dimensions, the one that varies fastest first.
fn fastest_first<T>(dimensions: &[T], order: Order) -> Vec<(usize, &T)> {
    let mut list: Vec<(usize, &T)> = dimensions.iter().enumerate().collect();
    if order == Order::C {
        list.reverse();
    }
    list
}

impl Datatype {
    /// A subarray of an array of `of`, with the bounds of the whole array.
    ///
    /// # Errors
    /// `MPI_ERR_ARG`: the subarray is empty or not within the array; `MPI_ERR_COUNT`: the array is
    /// larger than memory.
    pub fn subarray(dimensions: &[Slice], order: Order, of: &Datatype) -> Result<Datatype> {
        some(dimensions)?;
        let mut map = Arc::clone(of.map());
        let (mut stride, mut at) = (of.extent(), 0isize);
        for (index, slice) in fastest_first(dimensions, order) {
            let Slice { size, subsize, start } = *slice;
            if subsize < 1 || subsize > size || start < 0 || start > size - subsize {
                let is_size = subsize < 1 || subsize > size;
                let argument = if is_size { "array_of_subsizes" } else { "array_of_starts" };
                return Err(bad(
                    argument,
                    format!(
                        "{subsize} elements from {start} on are no part of the {size} \
                     in dimension {index}"
                    ),
                ));
            }
            map = Map::repeat(subsize as usize, stride, &map)?;
            let start = bytes(start, stride)?;
            at = at
                .checked_add(start)
                .ok_or_else(|| bad("array_of_sizes", "the array is too large".to_owned()))?;
            stride = bytes(size, stride)?;
        }
        let map = Map::sequence([(at, 1, map)].into_iter())?;
        let column = |value: fn(&Slice) -> i64| dimensions.iter().map(move |one| Count(value(one)));
        let arguments = [Integer(dimensions.len() as i32)]
            .into_iter()
            .chain(column(|one| one.size))
            .chain(column(|one| one.subsize))
            .chain(column(|one| one.start))
            .chain([Integer(order as i32)]);
        let recipe = Recipe::new(Combiner::Subarray, arguments, from_ref(of));
        Ok(Datatype::made(Map::resized(&map, 0, stride), recipe))
    }

    /// What the process `rank` of a grid of `size` has of a distributed array, with the bounds of
    /// the whole array. The grid's ranks are in row-major order, whatever the array's order.
    ///
    /// # Errors
    /// `MPI_ERR_ARG`: the grid or a distribution is not possible; `MPI_ERR_COUNT`: the array is
    /// larger than memory.
    pub fn darray(
        (size, rank): (i32, i32),
        dimensions: &[Distributed],
        order: Order,
        of: &Datatype,
    ) -> Result<Datatype> {
        some(dimensions)?;
        let place = grid_place(size, rank, dimensions)?;
        let mut map = Arc::clone(of.map());
        for (index, dimension) in fastest_first(dimensions, order) {
            map = dimension.share(index, i64::from(place[index]), &map)?;
        }
        let column = |value: fn(&Distributed) -> Argument| dimensions.iter().map(value);
        let arguments = [size, rank, dimensions.len() as i32]
            .map(Integer)
            .into_iter()
            .chain(column(|one| Count(one.size)))
            .chain(column(|one| Integer(one.distribution as i32)))
            .chain(column(|one| Integer(one.argument.unwrap_or(DEFAULT_ARGUMENT))))
            .chain(column(|one| Integer(one.processes)))
            .chain([Integer(order as i32)]);
        let recipe = Recipe::new(Combiner::Darray, arguments, from_ref(of));
        Ok(Datatype::made(map, recipe))
    }
}

/// The coordinates of a rank in the grid.
fn grid_place(size: i32, rank: i32, dimensions: &[Distributed]) -> Result<Vec<i32>> {
    let grid = dimensions.iter().try_fold(1i32, |all, one| all.checked_mul(one.processes));
    if grid != Some(size) || dimensions.iter().any(|one| one.processes < 1) {
        return Err(bad(
            "array_of_psizes",
            format!("the dimensions of the grid do not give {size} processes"),
        ));
    }
    if rank < 0 || rank >= size {
        return Err(bad("rank", format!("rank {rank} is not in a grid of {size} processes")));
    }
    let (mut rest, mut below) = (rank, size);
    let place = dimensions.iter().map(|one| {
        below /= one.processes;
        let at = rest / below;
        rest %= below;
        at
    });
    Ok(place.collect())
}

impl Distributed {
    /// How many elements a block has.
    fn block(&self, index: usize) -> Result<i64> {
        let processes = i64::from(self.processes);
        let block = match (self.distribution, self.argument) {
            (Distribution::None, _) if processes == 1 => return Ok(self.size),
            (Distribution::None, _) => {
                let what = format!(
                    "dimension {index} is not distributed, but the grid has {processes} processes"
                );
                return Err(bad("array_of_distribs", what));
            }
            (Distribution::Block, None) => (self.size - 1) / processes + 1,
            (Distribution::Cyclic, None) => 1,
            (_, Some(block)) => i64::from(block),
        };
        if block < 1 {
            return Err(bad(
                "array_of_dargs",
                format!("blocks of {block} elements in dimension {index}"),
            ));
        }
        if self.distribution == Distribution::Block && block.saturating_mul(processes) < self.size {
            let what = format!(
                "{processes} blocks of {block} do not cover the {} elements of dimension {index}",
                self.size
            );
            return Err(bad("array_of_dargs", what));
        }
        Ok(block)
    }

    /// What the process at coordinate `place` has of `map`s in this dimension.
    fn share(&self, index: usize, place: i64, map: &Arc<Map>) -> Result<Arc<Map>> {
        if self.size < 1 {
            return Err(bad(
                "array_of_gsizes",
                format!("{} elements in dimension {index}", self.size),
            ));
        }
        let (block, extent) = (self.block(index)?, map.extent());
        let round = block.saturating_mul(i64::from(self.processes));
        let first = block.saturating_mul(place);
        // Whole blocks, and what the last round has left of one.
        let left = (self.size - first).max(0);
        let (whole, rest) = (left / round, left % round);
        let (whole, rest) = if rest >= block { (whole + 1, 0) } else { (whole, rest) };
        let mut parts = Vec::with_capacity(2);
        if whole > 0 {
            let one = Map::repeat(block as usize, extent, map)?;
            // A stride is only taken, and only then surely an address, with a second block.
            let stride = if whole > 1 { bytes(round, extent)? } else { 0 };
            parts.push((bytes(first, extent)?, 1, Map::repeat(whole as usize, stride, &one)?));
        }
        if rest > 0 {
            parts.push((bytes(first + whole * round, extent)?, rest as usize, Arc::clone(map)));
        }
        let share = Map::sequence(parts.into_iter())?;
        Ok(Map::resized(&share, 0, bytes(self.size, extent)?))
    }
}
