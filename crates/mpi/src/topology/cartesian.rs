//! Cartesian topologies (MPI-5.0, sections 8.5.1 and 8.5.4 to 8.5.7): ranks in row-major order.

use crate::error::{Class, Error, Result};

/// One dimension of a grid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dimension {
    /// Processes.
    pub size: i32,
    /// Whether the last one neighbours the first.
    pub periodic: bool,
}

/// Whom a shift comes from, and whom it goes to; `None` is `MPI_PROC_NULL`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shift {
    /// Who sends to this rank.
    pub source: Option<u32>,
    /// Whom this rank sends to.
    pub destination: Option<u32>,
}

/// A grid of processes. Without dimensions it has one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cartesian {
    dimensions: Box<[Dimension]>,
    size: u32,
}

impl Cartesian {
    /// A grid with these dimensions.
    ///
    /// # Errors
    /// `MPI_ERR_DIMS`: a dimension has no process, or there are more than `most` in all.
    pub fn new(dimensions: &[Dimension], most: u32) -> Result<Cartesian> {
        let mut size = 1u32;
        for (index, one) in dimensions.iter().enumerate() {
            let positive = u32::try_from(one.size).ok().filter(|&size| size > 0);
            let count = positive.ok_or_else(|| {
                let what = format!("dimension {index} of the grid has {} processes", one.size);
                Error::new(Class::Dims, what)
            })?;
            size = size.saturating_mul(count);
        }
        if size > most {
            let what = format!("a grid of {size} processes or more does not go into {most}");
            return Err(Error::new(Class::Dims, what));
        }
        Ok(Cartesian { dimensions: dimensions.into(), size })
    }

    /// Its dimensions.
    #[must_use]
    pub fn dimensions(&self) -> &[Dimension] {
        &self.dimensions
    }

    /// Processes.
    #[must_use]
    pub fn size(&self) -> u32 {
        self.size
    }

    /// The coordinates of a rank.
    ///
    /// # Errors
    /// `MPI_ERR_RANK`: it is not in the grid.
    pub fn coordinates(&self, rank: i32) -> Result<Vec<i32>> {
        let valid = u32::try_from(rank).is_ok_and(|rank| rank < self.size);
        if !valid {
            let what = format!("rank {rank} is not in a grid of {} processes", self.size);
            return Err(Error::new(Class::Rank, what).of("rank"));
        }
        let mut place = vec![0; self.dimensions.len()];
        let mut rest = rank;
        for (at, one) in place.iter_mut().zip(&self.dimensions).rev() {
            (*at, rest) = (rest % one.size, rest / one.size);
        }
        Ok(place)
    }

    /// The rank at some coordinates. In periodic dimensions they wrap around.
    ///
    /// # Errors
    /// `MPI_ERR_ARG`: they are outside of a dimension that is not periodic, or too few or many.
    pub fn rank(&self, coordinates: &[i32]) -> Result<u32> {
        if coordinates.len() != self.dimensions.len() {
            let (given, wanted) = (coordinates.len(), self.dimensions.len());
            let what = format!("{given} coordinates in a grid of {wanted} dimensions");
            return Err(Error::new(Class::Arg, what).of("coords"));
        }
        let mut rank = 0;
        for (index, (&at, one)) in coordinates.iter().zip(&self.dimensions).enumerate() {
            if !one.periodic && !(0..one.size).contains(&at) {
                let size = one.size;
                let what = format!("coordinate {at} is outside of the {size} of dimension {index}");
                return Err(Error::new(Class::Arg, what).of("coords"));
            }
            rank = rank * one.size + at.rem_euclid(one.size);
        }
        Ok(rank as u32)
    }

    /// The ranks `by` steps below and above a rank in one dimension.
    ///
    /// # Errors
    /// `MPI_ERR_DIMS`: there is no such dimension; `MPI_ERR_RANK`: nor such a rank.
    pub fn shift(&self, rank: i32, dimension: i32, by: i32) -> Result<Shift> {
        let index = usize::try_from(dimension).ok().filter(|&at| at < self.dimensions.len());
        let index = index.ok_or_else(|| {
            let count = self.dimensions.len();
            let what = format!("direction {dimension} in a grid of {count} dimensions");
            Error::new(Class::Dims, what).of("direction")
        })?;
        let place = self.coordinates(rank)?;
        let Dimension { size, periodic } = self.dimensions[index];
        let below: i32 = self.dimensions[index + 1..].iter().map(|one| one.size).product();
        let moved = |by: i64| {
            let at = i64::from(place[index]) + by;
            let wrapped = at.rem_euclid(size.into());
            let there = rank + (wrapped as i32 - place[index]) * below;
            (periodic || wrapped == at).then_some(there as u32)
        };
        Ok(Shift { source: moved(-i64::from(by)), destination: moved(by.into()) })
    }

    /// The grids of the dimensions that remain: which of them a rank is in, which rank it has there
    /// and what they look like.
    ///
    /// # Errors
    /// `MPI_ERR_RANK`: the rank is not in the grid; `MPI_ERR_ARG`: `remain` is not for each
    /// dimension.
    pub fn part(&self, rank: i32, remain: &[bool]) -> Result<(u32, u32, Cartesian)> {
        if remain.len() != self.dimensions.len() {
            let (given, wanted) = (remain.len(), self.dimensions.len());
            let what = format!("{given} choices for a grid of {wanted} dimensions");
            return Err(Error::new(Class::Arg, what).of("remain_dims"));
        }
        let place = self.coordinates(rank)?;
        let (mut part, mut inside, mut dimensions) = (0, 0, Vec::new());
        for ((one, at), remains) in self.dimensions.iter().zip(place).zip(remain) {
            let number = if *remains { &mut inside } else { &mut part };
            *number = *number * one.size + at;
            if *remains {
                dimensions.push(*one);
            }
        }
        Ok((part as u32, inside as u32, Cartesian::new(&dimensions, self.size)?))
    }

    /// The neighbours of a rank, below and above in each dimension.
    pub(super) fn neighbors(&self, rank: u32) -> Vec<Option<u32>> {
        let shift = |dimension| {
            let shift = self.shift(rank as i32, dimension, 1);
            let Shift { source, destination } = shift.expect("a rank of the grid");
            [source, destination]
        };
        (0..self.dimensions.len() as i32).flat_map(shift).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn grid(dimensions: &[(i32, bool)]) -> Cartesian {
        let dimensions: Vec<Dimension> =
            dimensions.iter().map(|&(size, periodic)| Dimension { size, periodic }).collect();
        Cartesian::new(&dimensions, u32::MAX).unwrap()
    }

    fn grids() -> impl Strategy<Value = Cartesian> {
        prop::collection::vec((1..5, any::<bool>()), 0..4).prop_map(|list| grid(&list))
    }

    proptest! {
        #[test]
        fn ranks_count_places_in_row_major_order(grid in grids()) {
            let places: Vec<Vec<i32>> =
                (0..grid.size()).map(|rank| grid.coordinates(rank as i32).unwrap()).collect();
            prop_assert!(places.is_sorted());
            for (rank, place) in (0..).zip(&places) {
                prop_assert_eq!(grid.rank(place).unwrap(), rank);
            }
            prop_assert!(grid.coordinates(grid.size() as i32).is_err());
        }

        #[test]
        fn shifts_are_ranks_of_moved_places(grid in grids(), by in -9..9i32) {
            for rank in 0..grid.size() as i32 {
                for dimension in 0..grid.dimensions().len() {
                    let moved = |by: i32| {
                        let mut place = grid.coordinates(rank).unwrap();
                        place[dimension] += by;
                        grid.rank(&place).ok()
                    };
                    let shift = Shift { source: moved(-by), destination: moved(by) };
                    prop_assert_eq!(grid.shift(rank, dimension as i32, by).unwrap(), shift);
                }
            }
        }

        #[test]
        fn parts_are_grids_of_the_places_that_agree(grid in grids(), choice in any::<[bool; 4]>()) {
            let remain = &choice[..grid.dimensions().len()];
            let mut seen = std::collections::HashSet::new();
            for rank in 0..grid.size() as i32 {
                let (part, inside, sub) = grid.part(rank, remain).unwrap();
                prop_assert!(seen.insert((part, inside)));
                prop_assert!(inside < sub.size() && part < grid.size() / sub.size());
                let place = grid.coordinates(rank).unwrap();
                let kept = place.into_iter().zip(remain).filter(|(_, remains)| **remains);
                let kept: Vec<i32> = kept.map(|(at, _)| at).collect();
                prop_assert_eq!(sub.coordinates(inside as i32).unwrap(), kept);
            }
        }
    }

    #[test]
    fn neighbours_come_dimension_by_dimension_below_first() {
        let grid = grid(&[(3, false), (4, true)]);
        let neighbors = [None, Some(4), Some(3), Some(1)];
        assert_eq!(grid.neighbors(0), neighbors);
        let topology = crate::topology::Topology::Cartesian(grid);
        assert_eq!(topology.neighbors(0), (neighbors.to_vec(), neighbors.to_vec()));
    }

    #[test]
    fn bad_grids_and_places_are_refused() {
        let grid = grid(&[(3, false), (4, true)]);
        let class = |error: Error| error.class;
        assert_eq!(grid.rank(&[3, 0]).map_err(class), Err(Class::Arg));
        assert_eq!(grid.rank(&[2, -1]).map_err(class), Ok(11));
        assert_eq!(grid.rank(&[2]).map_err(class), Err(Class::Arg));
        assert_eq!(grid.shift(0, 2, 1).map_err(class), Err(Class::Dims));
        assert_eq!(grid.coordinates(12).map_err(class), Err(Class::Rank));
        let dimension = |size| [Dimension { size, periodic: false }; 3];
        assert_eq!(Cartesian::new(&dimension(0), 9).map_err(class), Err(Class::Dims));
        assert_eq!(Cartesian::new(&dimension(3), 26).map_err(class), Err(Class::Dims));
        assert_eq!(Cartesian::new(&dimension(i32::MAX), 27).map_err(class), Err(Class::Dims));
        assert_eq!(Cartesian::new(&[], 1).unwrap().size(), 1);
    }
}
