//! Datatypes as a file server has them that stores data as `external32`: what the same calls make
//! there, of basic datatypes of other sizes (MPI-5.0, section 14.5.1).

use super::contents::Combiner;
use super::{DEFAULT_ARGUMENT, Datatype, Distributed, Distribution, Order, Predefined, Slice};
use crate::error::Result;

impl Datatype {
    /// Where the data of this datatype lie in a file of `external32`. They are bytes there.
    ///
    /// # Errors
    /// As those of the calls that made it.
    pub fn served(&self) -> Result<Datatype> {
        if self.basic().is_some() {
            let size = self.external_size(1)?;
            return Datatype::contiguous(size as i64, Datatype::of(Predefined::Byte));
        }
        let recipe = &self.0.recipe;
        let of = recipe.datatypes().iter().map(Datatype::served).collect::<Result<Vec<_>>>()?;
        made(recipe.combiner, &recipe.numbers(), &of)
    }
}

/// What a call makes of its numbers, in the standard's order, and of datatypes.
fn made(combiner: Combiner, numbers: &[i64], of: &[Datatype]) -> Result<Datatype> {
    let addresses =
        |from: usize| -> Vec<isize> { numbers[from..].iter().map(|at| *at as isize).collect() };
    let count = numbers.first().map_or(0, |count| *count as usize);
    match (combiner, numbers) {
        (Combiner::Contiguous, [number]) => Datatype::contiguous(*number, &of[0]),
        (Combiner::Vector, [number, length, stride]) => {
            Datatype::vector(*number, *length, *stride, &of[0])
        }
        (Combiner::Hvector, [number, length, stride]) => {
            Datatype::hvector(*number, *length, *stride as isize, &of[0])
        }
        (Combiner::Indexed, [_, lists @ ..]) => {
            Datatype::indexed(&lists[..count], &lists[count..], &of[0])
        }
        (Combiner::Hindexed, [_, lists @ ..]) => {
            Datatype::hindexed(&lists[..count], &addresses(1 + count), &of[0])
        }
        (Combiner::IndexedBlock, [_, length, places @ ..]) => {
            Datatype::indexed_block(*length, places, &of[0])
        }
        (Combiner::HindexedBlock, [_, length, ..]) => {
            Datatype::hindexed_block(*length, &addresses(2), &of[0])
        }
        (Combiner::Struct, [_, lists @ ..]) => {
            Datatype::structure(&lists[..count], &addresses(1 + count), of)
        }
        (Combiner::Subarray, [_, lists @ ..]) => subarray(count, lists, &of[0]),
        (Combiner::Darray, [size, rank, dimensions, lists @ ..]) => {
            darray((*size as i32, *rank as i32), *dimensions as usize, lists, &of[0])
        }
        (Combiner::Resized, [lower, extent]) => {
            Datatype::resized(&of[0], *lower as isize, *extent as isize)
        }
        // A duplicate.
        _ => Ok(of[0].clone()),
    }
}

fn order(number: i64) -> Order {
    if number == Order::C as i64 { Order::C } else { Order::Fortran }
}

fn subarray(dimensions: usize, lists: &[i64], of: &Datatype) -> Result<Datatype> {
    let slice = |at: usize| {
        let [size, subsize, start] = [0, 1, 2].map(|list| lists[list * dimensions + at]);
        Slice { size, subsize, start }
    };
    let slices: Vec<Slice> = (0..dimensions).map(slice).collect();
    Datatype::subarray(&slices, order(lists[3 * dimensions]), of)
}

fn darray(grid: (i32, i32), dimensions: usize, lists: &[i64], of: &Datatype) -> Result<Datatype> {
    let distributed = |at: usize| {
        let [size, how, argument, processes] =
            [0, 1, 2, 3].map(|list| lists[list * dimensions + at]);
        let known = [Distribution::None, Distribution::Block, Distribution::Cyclic];
        let distribution = known.into_iter().find(|it| *it as i64 == how);
        Distributed {
            size,
            distribution: distribution.unwrap_or(Distribution::None),
            argument: Some(argument as i32).filter(|it| *it != DEFAULT_ARGUMENT),
            processes: processes as i32,
        }
    };
    let distributed: Vec<Distributed> = (0..dimensions).map(distributed).collect();
    Datatype::darray(grid, &distributed, order(lists[4 * dimensions]), of)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::datatype::Run;
    use crate::datatype::model::datatypes;
    use proptest::prelude::*;

    /// The bytes of one copy, in order.
    fn bytes(datatype: &Datatype) -> Vec<isize> {
        let each = |run: Run| run.at..run.at + run.length as isize;
        datatype.runs(1).flat_map(each).collect()
    }

    /// What all calls make of a datatype.
    fn all(of: &Datatype, unit: isize) -> Vec<Datatype> {
        let slices =
            [Slice { size: 4, subsize: 2, start: 1 }, Slice { size: 3, subsize: 3, start: 0 }];
        let one = |size, distribution, argument, processes| Distributed {
            size,
            distribution,
            argument,
            processes,
        };
        let distributed = [
            one(7, Distribution::Cyclic, Some(2), 2),
            one(5, Distribution::Block, None, 2),
            one(2, Distribution::None, None, 1),
        ];
        let made = [
            Datatype::contiguous(3, of),
            Datatype::vector(3, 2, 4, of),
            Datatype::hvector(3, 2, 5 * unit, of),
            Datatype::indexed(&[2, 1], &[0, 5], of),
            Datatype::hindexed(&[2, 1], &[unit, 6 * unit], of),
            Datatype::indexed_block(2, &[1, 4], of),
            Datatype::hindexed_block(2, &[0, 4 * unit], of),
            Datatype::structure(&[1, 2], &[0, 2 * unit], &[of.clone(), of.clone()]),
            Datatype::resized(of, 0, 2 * unit),
            Datatype::subarray(&slices, Order::C, of),
            Datatype::subarray(&slices, Order::Fortran, of),
            Datatype::darray((4, 2), &distributed, Order::Fortran, of),
            Ok(of.duplicate()),
        ];
        made.into_iter().map(|made| made.expect("a datatype")).collect()
    }

    #[test]
    fn what_is_served_is_what_the_same_calls_make_of_the_sizes_there() {
        let (long, int) = (Datatype::of(Predefined::Long), Datatype::of(Predefined::Int));
        // `external32` has four bytes for both.
        for (long, int) in all(long, 4).iter().zip(all(int, 4)) {
            let served = long.served().expect("it is there");
            assert_eq!(bytes(&served), bytes(&int), "{:?}", long.envelope().combiner);
            assert_eq!(served.extent(), int.extent(), "{:?}", long.envelope().combiner);
            let twice = Datatype::contiguous(2, long).and_then(|it| it.served()).expect("there");
            assert_eq!(twice.size(), 2 * int.size());
        }
        let pair = Datatype::of(Predefined::DoubleInt).served().expect("it is there");
        assert_eq!((pair.size(), pair.extent()), (12, 12), "there is no padding");
    }

    proptest! {
        #[test]
        fn what_is_served_has_the_size_of_external32((datatype, _) in datatypes()) {
            if let Ok(served) = datatype.served() {
                prop_assert_eq!(served.size(), datatype.external_size(1)?);
            }
        }
    }
}
