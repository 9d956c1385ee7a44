//! Dimensions of a grid (MPI-5.0, section 8.5.2).

use crate::error::{Class, Error, Result};

fn bad(what: String) -> Error {
    Error::new(Class::Dims, what).of("dims")
}

/// `MPI_Dims_create`: fills the dimensions that are 0, so that the grid has `nodes` processes.
///
/// The new ones are as close to each other as possible: the largest is as small as it can be, then
/// the second largest, and so on. They are in non-increasing order.
///
/// # Errors
/// `MPI_ERR_DIMS`: a dimension is negative, or those that are given do not divide `nodes`.
pub fn create(nodes: i32, dims: &mut [i32]) -> Result<()> {
    if nodes < 1 {
        return Err(bad(format!("a grid of {nodes} processes")).of("nnodes"));
    }
    if let Some(negative) = dims.iter().find(|&&size| size < 0) {
        return Err(bad(format!("a dimension of {negative} processes")));
    }
    let given = dims.iter().filter(|&&size| size > 0);
    let given = given.fold(1i64, |all, &size| all.saturating_mul(i64::from(size)));
    let free = dims.iter().filter(|&&size| size == 0).count();
    if i64::from(nodes) % given != 0 || (free == 0 && i64::from(nodes) != given) {
        let what = format!("{nodes} processes cannot be put into {given} for each free dimension");
        return Err(bad(what));
    }
    let sizes = balanced(nodes / given as i32, free);
    dims.iter_mut().filter(|size| **size == 0).zip(sizes).for_each(|(size, new)| *size = new);
    Ok(())
}

/// `count` factors of `number`, the largest first and each as small as it can be.
fn balanced(number: i32, count: usize) -> Vec<i32> {
    let divisors = divisors(number);
    let mut factors = Vec::with_capacity(count);
    let mut rest = number;
    for left in (0..count).rev() {
        // None is larger than the one before it, for that one left room for factors like it.
        let fit = |factor: i32| rest % factor == 0 && fits(rest / factor, left, factor, &divisors);
        let factor = divisors.iter().copied().find(|&factor| fit(factor)).unwrap_or(rest);
        factors.push(factor);
        rest /= factor;
    }
    factors
}

/// Whether `number` has `count` factors of at most `most`.
fn fits(number: i32, count: usize, most: i32, divisors: &[i32]) -> bool {
    if number == 1 {
        return true;
    }
    let largest = i64::from(most).checked_pow(count as u32);
    if count == 0 || largest.is_some_and(|largest| i64::from(number) > largest) {
        return false;
    }
    number <= most
        || divisors.iter().rev().any(|&factor| {
            factor > 1
                && factor <= most
                && number % factor == 0
                && fits(number / factor, count - 1, factor, divisors)
        })
}

fn divisors(number: i32) -> Vec<i32> {
    let small = (1..).take_while(|&n| n <= number / n).filter(|n| number % n == 0);
    let mut list: Vec<i32> = small.flat_map(|n| [n, number / n]).collect();
    list.sort_unstable();
    list.dedup();
    list
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn created(nodes: i32, dims: &[i32]) -> Result<Vec<i32>> {
        let mut dims = dims.to_vec();
        create(nodes, &mut dims)?;
        Ok(dims)
    }

    /// All ways to write a number as factors in non-increasing order.
    fn factorizations(number: i32, count: usize, most: i32) -> Vec<Vec<i32>> {
        if count == 0 {
            return if number == 1 { vec![vec![]] } else { vec![] };
        }
        let factors = (1..=most.min(number)).filter(|factor| number % factor == 0);
        let with = |factor: i32| {
            let rest = factorizations(number / factor, count - 1, factor);
            rest.into_iter().map(move |rest| [vec![factor], rest].concat())
        };
        factors.flat_map(with).collect()
    }

    proptest! {
        #[test]
        fn no_grid_has_a_smaller_largest_dimension(nodes in 1..400, count in 1..5usize) {
            let best = factorizations(nodes, count, nodes).into_iter().min().unwrap();
            prop_assert_eq!(created(nodes, &vec![0; count]).unwrap(), best);
        }
    }

    #[test]
    fn the_standards_examples() {
        assert_eq!(created(6, &[0, 0]).unwrap(), [3, 2]);
        assert_eq!(created(7, &[0, 0]).unwrap(), [7, 1]);
        assert_eq!(created(6, &[0, 3, 0]).unwrap(), [2, 3, 1]);
        assert_eq!(created(7, &[0, 3, 0]).unwrap_err().class, Class::Dims);
        assert_eq!(created(6, &[3, 1]).unwrap_err().class, Class::Dims);
        assert_eq!(created(6, &[-1, 0]).unwrap_err().class, Class::Dims);
        assert_eq!(created(0, &[0]).unwrap_err().class, Class::Dims);
        assert_eq!(created(1, &[]).unwrap(), []);
    }

    #[test]
    fn large_numbers_with_many_factors_are_soon_done() {
        // 2^30, and the number below 2^31 with the most divisors.
        assert_eq!(
            created(1 << 30, &[0; 40]).unwrap()[28..],
            [[2; 2].to_vec(), vec![1; 10]].concat()
        );
        let dims = created(2_095_133_040, &[0; 10]).unwrap();
        assert_eq!(dims.iter().product::<i32>(), 2_095_133_040);
        assert!(dims.is_sorted_by(|a, b| a >= b));
        assert_eq!(created(i32::MAX, &[0; 3]).unwrap(), [i32::MAX, 1, 1]);
    }
}
