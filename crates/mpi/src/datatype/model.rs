//! Type maps as the standard writes them, for tests: lists of basic types and displacements, made
//! by the definitions of section 5.1.

use proptest::prelude::*;

use super::*;

/// An entry of a type map.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Entry {
    Basic(Predefined),
    LowerMarker,
    UpperMarker,
}

use Entry::{Basic, LowerMarker, UpperMarker};

/// A type map.
#[derive(Debug, Clone, Default)]
pub struct Model(pub Vec<(Entry, isize)>);

impl Model {
    pub fn predefined(predefined: Predefined) -> Model {
        match predefined.elements() {
            None => Model(vec![(Basic(predefined), 0)]),
            Some((value, index)) => {
                let at = value.size().max(index.size()) as isize;
                Model(vec![(Basic(value), 0), (Basic(index), at)])
            }
        }
    }

    pub fn basics(&self) -> impl Iterator<Item = (Predefined, isize)> {
        self.0.iter().filter_map(|&(entry, at)| match entry {
            Basic(predefined) => Some((predefined, at)),
            _ => None,
        })
    }

    fn marker(&self, which: Entry) -> impl Iterator<Item = isize> {
        self.0.iter().filter(move |(entry, _)| *entry == which).map(|&(_, at)| at)
    }

    pub fn size(&self) -> usize {
        self.basics().map(|(predefined, _)| predefined.size()).sum()
    }

    pub fn lower(&self) -> isize {
        let data = self.basics().map(|(_, at)| at).min();
        self.marker(LowerMarker).min().or(data).unwrap_or(0)
    }

    pub fn upper(&self) -> isize {
        let ends = self.basics().map(|(predefined, at)| at + predefined.size() as isize);
        let Some(end) = ends.max() else { return self.marker(UpperMarker).max().unwrap_or(0) };
        let align = self.basics().map(|(predefined, _)| predefined.alignment()).max().unwrap_or(1);
        let lower = self.basics().map(|(_, at)| at).min().unwrap_or(0);
        let padded = lower + ((end - lower) as usize).next_multiple_of(align) as isize;
        self.marker(UpperMarker).max().unwrap_or(padded)
    }

    pub fn extent(&self) -> isize {
        self.upper() - self.lower()
    }

    /// The bytes of `count` copies, each by its displacement, in order.
    pub fn bytes(&self, count: usize) -> Vec<isize> {
        let mut bytes = Vec::new();
        for copy in 0..count as isize {
            for (predefined, at) in self.basics() {
                let at = at + copy * self.extent();
                bytes.extend(at..at + predefined.size() as isize);
            }
        }
        bytes
    }

    fn add(&mut self, of: &Model, at: isize, copies: usize) {
        for copy in 0..copies as isize {
            let by = at + copy * of.extent();
            self.0.extend(of.0.iter().map(|&(entry, at)| (entry, at + by)));
        }
    }

    /// Blocks: displacement in bytes, number of copies, of what.
    pub fn blocks<'a>(blocks: impl IntoIterator<Item = (isize, i64, &'a Model)>) -> Model {
        let mut model = Model::default();
        for (at, copies, of) in blocks {
            model.add(of, at, copies as usize);
        }
        model
    }

    pub fn resized(&self, lower: isize, extent: isize) -> Model {
        let mut model = Model(self.basics().map(|(one, at)| (Basic(one), at)).collect());
        model.0.extend([(LowerMarker, lower), (UpperMarker, lower + extent)]);
        model
    }

    /// The elements of an array, in its order, of which a process has some.
    pub fn array(&self, sizes: &[i64], order: Order, mine: impl Fn(&[i64]) -> bool) -> Model {
        let total: i64 = sizes.iter().product();
        let mut model = Model::default();
        for linear in 0..total {
            let mut index = vec![0; sizes.len()];
            let mut rest = linear;
            for turn in 0..sizes.len() {
                let dimension = if order == Order::C { sizes.len() - 1 - turn } else { turn };
                index[dimension] = rest % sizes[dimension];
                rest /= sizes[dimension];
            }
            if mine(&index) {
                model.add(self, linear as isize * self.extent(), 1);
            }
        }
        model.resized(0, total as isize * self.extent())
    }
}

/// A datatype and its type map.
pub type Both = (Datatype, Model);

fn predefined() -> impl Strategy<Value = Both> {
    use Predefined::*;
    prop::sample::select(vec![Byte, Int, Double, Short, DoubleInt, ShortInt, LongDouble, Float])
        .prop_map(|one| (one.into(), Model::predefined(one)))
}

fn vectors(of: Both) -> impl Strategy<Value = Both> {
    (0..4i64, 0..4i64, -6..6i64, any::<bool>()).prop_map(move |(count, length, stride, bytes)| {
        let (datatype, model) = &of;
        let (made, step) = if bytes {
            let stride = stride as isize * 5;
            (Datatype::hvector(count, length, stride, datatype), stride)
        } else {
            let step = stride as isize * model.extent();
            (Datatype::vector(count, length, stride, datatype), step)
        };
        let blocks = (0..count as isize).map(|block| (block * step, length, model));
        (made.unwrap(), Model::blocks(blocks))
    })
}

fn lists(of: Both) -> impl Strategy<Value = Both> {
    let blocks = prop::collection::vec((0..4i64, -9..9i64), 0..5);
    (blocks, 0..3i64, 0..4).prop_map(move |(blocks, length, which)| {
        let (datatype, model) = &of;
        let (lengths, places): (Vec<i64>, Vec<i64>) = blocks.into_iter().unzip();
        let extent = model.extent();
        let scale = if which % 2 == 0 { extent } else { 3 };
        let bytes: Vec<isize> = places.iter().map(|&at| at as isize * scale).collect();
        let made = match which {
            0 => Datatype::indexed(&lengths, &places, datatype),
            1 => Datatype::hindexed(&lengths, &bytes, datatype),
            2 => Datatype::indexed_block(length, &places, datatype),
            _ => Datatype::hindexed_block(length, &bytes, datatype),
        };
        let length = |index: usize| if which < 2 { lengths[index] } else { length };
        let blocks = bytes.iter().enumerate().map(|(index, &at)| (at, length(index), model));
        (made.unwrap(), Model::blocks(blocks))
    })
}

fn structures(parts: Vec<Both>) -> impl Strategy<Value = Both> {
    let blocks = prop::collection::vec((0..3i64, -90..90isize), parts.len());
    blocks.prop_map(move |blocks| {
        let (lengths, places): (Vec<i64>, Vec<isize>) = blocks.into_iter().unzip();
        let datatypes: Vec<Datatype> = parts.iter().map(|(datatype, _)| datatype.clone()).collect();
        let made = Datatype::structure(&lengths, &places, &datatypes).unwrap();
        let blocks =
            parts.iter().enumerate().map(|(index, part)| (places[index], lengths[index], &part.1));
        (made, Model::blocks(blocks))
    })
}

fn order() -> impl Strategy<Value = Order> {
    prop::sample::select(vec![Order::C, Order::Fortran])
}

fn subarrays(of: Both) -> impl Strategy<Value = Both> {
    let slice = (1..4i64, 0..3i64, 0..3i64).prop_map(|(subsize, before, after)| Slice {
        size: before + subsize + after,
        subsize,
        start: before,
    });
    (prop::collection::vec(slice, 1..4), order()).prop_map(move |(slices, order)| {
        let sizes: Vec<i64> = slices.iter().map(|one| one.size).collect();
        let within =
            |(slice, at): (&Slice, &i64)| (slice.start..slice.start + slice.subsize).contains(at);
        let model = of.1.array(&sizes, order, |index| slices.iter().zip(index).all(within));
        (Datatype::subarray(&slices, order, &of.0).unwrap(), model)
    })
}

fn darrays(of: Both) -> impl Strategy<Value = Both> {
    use Distribution::{Block, Cyclic, None as Whole};
    let dimension = (1..7i64, 1..4i32, prop::sample::select(vec![Whole, Block, Cyclic]), 0..4i32);
    let dimension = dimension.prop_map(|(size, processes, distribution, block)| {
        let argument = match distribution {
            Cyclic if block > 0 => Some(block),
            Block if i64::from(block * processes) >= size => Some(block),
            _ => None,
        };
        let processes = if distribution == Whole { 1 } else { processes };
        Distributed { size, distribution, argument, processes }
    });
    let dimensions = prop::collection::vec(dimension, 1..4);
    (dimensions, any::<prop::sample::Index>(), order()).prop_map(
        move |(dimensions, rank, order)| {
            let grid: i32 = dimensions.iter().map(|one| one.processes).product();
            let rank = rank.index(grid as usize) as i32;
            let sizes: Vec<i64> = dimensions.iter().map(|one| one.size).collect();
            let model = of.1.array(&sizes, order, |index| owner(&dimensions, index) == rank);
            (Datatype::darray((grid, rank), &dimensions, order, &of.0).unwrap(), model)
        },
    )
}

/// The rank that has an element of a distributed array.
fn owner(dimensions: &[Distributed], index: &[i64]) -> i32 {
    dimensions.iter().zip(index).fold(0, |rank, (one, at)| {
        let processes = i64::from(one.processes);
        let block = match (one.distribution, one.argument) {
            (Distribution::None, _) => one.size,
            (_, Some(block)) => i64::from(block),
            (Distribution::Block, None) => (one.size + processes - 1) / processes,
            (Distribution::Cyclic, None) => 1,
        };
        rank * one.processes + (at / block % processes) as i32
    })
}

fn resized(of: Both) -> impl Strategy<Value = Both> {
    (-40..40isize, -40..40isize).prop_map(move |(lower, extent)| {
        let made = Datatype::resized(&of.0, lower, extent).unwrap();
        (made, of.1.resized(lower, extent))
    })
}

/// Datatypes of all constructors, up to four of them deep.
pub fn datatypes() -> impl Strategy<Value = Both> {
    let nested = predefined().prop_recursive(4, 16, 3, |inner| {
        let one = || inner.clone();
        let copies = (one(), 0..5i64).prop_map(|(of, count)| {
            let made = Datatype::contiguous(count, &of.0).unwrap();
            (made, Model::blocks([(0, count, &of.1)]))
        });
        prop_oneof![
            1 => copies,
            1 => one().prop_map(|of| (of.0.duplicate(), of.1)),
            2 => one().prop_flat_map(vectors),
            3 => one().prop_flat_map(lists),
            3 => prop::collection::vec(one(), 0..4).prop_flat_map(structures),
            2 => one().prop_flat_map(subarrays),
            2 => one().prop_flat_map(darrays),
            1 => one().prop_flat_map(resized),
        ]
    });
    nested.prop_filter("small enough to list", |(_, model)| model.0.len() < 3000)
}
