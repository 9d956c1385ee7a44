//! Datatypes against explicit type maps, and the standard's examples.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::layout::{Form, Layout};
use super::model::{Model, datatypes};
use super::*;

fn joined(bytes: &[isize]) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for &at in bytes {
        match runs.last_mut() {
            Some(run) if run.at + run.length as isize == at => run.length += 1,
            _ => runs.push(Run { at, length: 1 }),
        }
    }
    runs
}

/// Memory that gives each byte of a span its own value, as far as a byte can.
fn memory(span: &std::ops::Range<isize>) -> Area<Vec<u8>> {
    let bytes = span.clone().map(|at| (at.wrapping_mul(0x9e37_79b9) >> 7) as u8).collect();
    Area::new(bytes, span.start)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn what_is_known_of_a_datatype_follows_of_its_type_map((datatype, model) in datatypes()) {
        prop_assert_eq!(datatype.size(), model.size());
        prop_assert_eq!(datatype.lower_bound(), model.lower());
        prop_assert_eq!(datatype.extent(), model.extent());
        let bytes = model.bytes(1);
        let lower = bytes.iter().min().copied().unwrap_or(0);
        prop_assert_eq!(datatype.true_lower_bound(), lower);
        let upper = bytes.iter().max().map_or(0, |at| at + 1);
        prop_assert_eq!(datatype.true_extent(), upper - lower);
        prop_assert_eq!(datatype.elements(), model.basics().count());
        let signature =
            model.basics().fold(Signature::EMPTY, |all, (one, _)| all.then(Signature::of(one)));
        prop_assert_eq!(datatype.signature(), signature);
    }

    #[test]
    fn runs_are_the_type_maps_bytes_in_order((datatype, model) in datatypes(), count in 0..4usize) {
        let bytes = model.bytes(count);
        let runs: Vec<Run> = datatype.runs(count).collect();
        prop_assert_eq!(&runs, &joined(&bytes));
        match datatype.run(count) {
            Some(run) if run.length == 0 => prop_assert!(runs.is_empty()),
            Some(run) => prop_assert_eq!(runs, [run]),
            None => prop_assert!(runs.len() > 1 || count == 0),
        }
        let span = datatype.span(count).unwrap();
        prop_assert_eq!(span.start, bytes.iter().min().copied().unwrap_or(0));
        prop_assert_eq!(span.end, bytes.iter().max().map_or(0, |at| at + 1));
    }

    #[test]
    fn packing_may_stop_and_go_on_anywhere(
        (datatype, model) in datatypes(),
        count in 0..4usize,
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
    ) {
        let size = datatype.packed_size(count).unwrap();
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(size + 1)).collect();
        cuts.extend([0, size]);
        cuts.sort_unstable();
        let source = memory(&datatype.span(count).unwrap());
        let mut packed = vec![0; size];
        let mut kept = datatype.cursor(count);
        for cut in cuts.windows(2) {
            let mut sought = datatype.cursor(count);
            sought.seek(cut[0]);
            let mut again = vec![0; cut[1] - cut[0]];
            prop_assert_eq!(sought.pack(&source, &mut again), again.len());
            prop_assert_eq!(kept.pack(&source, &mut packed[cut[0]..cut[1]]), again.len());
            prop_assert_eq!(&again, &packed[cut[0]..cut[1]]);
        }
        prop_assert_eq!(kept.pack(&source, &mut [0; 9]), 0);
        let value = |at: isize| { let mut one = [0]; source.read(at, &mut one); one[0] };
        let expected: Vec<u8> = model.bytes(count).into_iter().map(value).collect();
        prop_assert_eq!(packed, expected);
    }

    #[test]
    fn unpacking_writes_the_type_maps_bytes_and_no_others(
        (datatype, model) in datatypes(),
        count in 0..4usize,
        cut in any::<prop::sample::Index>(),
        taken in any::<prop::sample::Index>(),
    ) {
        let size = datatype.packed_size(count).unwrap();
        let (taken, cut) = (taken.index(size + 1), cut.index(size + 1));
        let packed: Vec<u8> = (0..taken).map(|at| at as u8 | 1).collect();
        let span = datatype.span(count).unwrap();
        let mut expected = vec![0; span.len()];
        for (from, at) in packed.iter().zip(model.bytes(count)) {
            expected[(at - span.start) as usize] = *from;
        }
        let mut target = Area::new(vec![0; span.len()], span.start);
        let mut cursor = datatype.cursor(count);
        let (first, second) = packed.split_at(cut.min(taken));
        prop_assert_eq!(cursor.unpack(&mut target, first), first.len());
        prop_assert_eq!(cursor.unpack(&mut target, second), second.len());
        prop_assert_eq!(cursor.position(), taken);
        prop_assert_eq!(cursor.remaining(), size - taken);
        prop_assert_eq!(target.into_inner(), expected);
    }

    #[test]
    fn elements_are_counted_in_partial_messages(
        (datatype, model) in datatypes(),
        count in 0..3usize,
        cut in any::<prop::sample::Index>(),
    ) {
        let bytes = cut.index(datatype.packed_size(count).unwrap() + 1);
        let (mut elements, mut end) = (0, 0);
        for (one, _) in (0..count).flat_map(|_| model.basics()) {
            if end < bytes {
                end += one.size();
                elements += 1;
            }
        }
        prop_assert_eq!(datatype.elements_in(bytes), (end == bytes).then_some(elements));
        prop_assert_eq!(datatype.bytes_of(elements), Some(end));
        prop_assert_eq!(
            datatype.count_in(bytes),
            (0..=count).find(|whole| whole * datatype.size() == bytes),
        );
    }
}

fn of(predefined: Predefined) -> &'static Datatype {
    Datatype::of(predefined)
}

/// {(double, 0), (char, 8)}, the standard's usual example.
fn double_and_char() -> Datatype {
    let parts = [Predefined::Double.into(), Predefined::Char.into()];
    Datatype::structure(&[1, 1], &[0, 8], &parts).unwrap()
}

fn displacements(datatype: &Datatype) -> Vec<isize> {
    datatype.cursor(1).collect_starts()
}

impl Cursor<'_> {
    fn collect_starts(&mut self) -> Vec<isize> {
        std::iter::from_fn(|| self.step(usize::MAX)).map(|run| run.at).collect()
    }
}

#[test]
fn example_5_1_extents_are_rounded_up_to_the_alignment() {
    assert_eq!(double_and_char().extent(), 16);
    assert_eq!(double_and_char().size(), 9);
    assert_eq!(double_and_char().true_extent(), 9);
}

#[test]
fn examples_5_2_to_5_5_the_type_maps_of_the_constructors() {
    let old = double_and_char();
    let starts = |datatype: Result<Datatype>| -> Vec<isize> { displacements(&datatype.unwrap()) };
    // A double and its char lie together, so each start is that of a double.
    assert_eq!(starts(Datatype::contiguous(3, &old)), [0, 16, 32]);
    assert_eq!(starts(Datatype::vector(2, 3, 4, &old)), [0, 16, 32, 64, 80, 96]);
    assert_eq!(starts(Datatype::vector(3, 1, -2, &old)), [0, -32, -64]);
    assert_eq!(starts(Datatype::indexed(&[3, 1], &[4, 0], &old)), [64, 80, 96, 0]);
    let types = [Predefined::Float.into(), old, Predefined::Char.into()];
    let made = Datatype::structure(&[2, 1, 3], &[0, 16, 26], &types).unwrap();
    assert_eq!(displacements(&made), [0, 16, 26]);
    assert_eq!((made.size(), made.lower_bound(), made.extent()), (20, 0, 32));
}

#[test]
fn markers_rule_the_bounds_of_what_is_made_of_them() {
    // Section 5.1.6: {(lb_marker, -3), (int, 0), (ub_marker, 6)}, twice.
    let marked = Datatype::resized(of(Predefined::Int), -3, 9).unwrap();
    assert_eq!((marked.lower_bound(), marked.upper_bound()), (-3, 6));
    let twice = Datatype::contiguous(2, &marked).unwrap();
    assert_eq!((twice.lower_bound(), twice.upper_bound()), (-3, 15));
    assert_eq!(displacements(&twice), [0, 9]);
    assert_eq!((twice.true_lower_bound(), twice.true_extent()), (0, 13));
}

#[test]
fn what_is_empty_has_no_extent() {
    for empty in [
        Datatype::contiguous(0, of(Predefined::Double)).unwrap(),
        Datatype::vector(3, 0, 5, of(Predefined::Double)).unwrap(),
        Datatype::structure(&[], &[], &[]).unwrap(),
        Datatype::hindexed(&[0, 0], &[80, -80], of(Predefined::Double)).unwrap(),
    ] {
        assert_eq!((empty.size(), empty.extent(), empty.lower_bound()), (0, 0, 0));
        assert_eq!((empty.true_extent(), empty.elements_in(0)), (0, Some(0)));
        assert_eq!((empty.count_in(0), empty.count_in(4)), (Some(0), None));
        assert_eq!(empty.runs(5).count(), 0);
    }
}

#[test]
fn a_matrix_column_costs_one_block_however_long_it_is() {
    let rows = 1 << 40;
    let column = Datatype::vector(rows, 1, 1 << 20, of(Predefined::Double)).unwrap();
    assert_eq!(column.size(), 8 << 40);
    assert_eq!(column.elements_in(8 << 39), Some(1 << 39));
    let mut cursor = column.cursor(1);
    cursor.seek((8 << 40) - 4);
    assert_eq!(cursor.step(64), Some(Run { at: (((1 << 40) - 1) << 23) + 4, length: 4 }));
    assert_eq!(cursor.step(64), None);
}

/// Blocks, parts and repetitions of a layout; what is shared counts once.
fn weight(layout: &Arc<Layout>, seen: &mut BTreeSet<*const Layout>) -> usize {
    if !seen.insert(Arc::as_ptr(layout)) {
        return 0;
    }
    match &layout.form {
        Form::Blocks(blocks) => blocks.len(),
        Form::Repeat { body, .. } => 1 + weight(body, seen),
        Form::Parts(parts) => parts.iter().map(|part| 1 + weight(&part.body, seen)).sum(),
    }
}

#[test]
fn irregular_lists_of_irregular_lists_cost_the_sum_of_their_arguments() {
    let far = |level: u32| (0..200_isize).map(move |at| (at * at + at) << (16 * level));
    let mut layout = Layout::bytes(4);
    for level in 0..3 {
        layout = Layout::sequence(far(level).map(|at| (at << 3, 1, 0, &layout)));
    }
    assert_eq!(layout.size, 4 * 200 * 200 * 200);
    assert!(weight(&layout, &mut BTreeSet::new()) <= 6 * 200);

    // What is built by appending is one list.
    let mut layout = Layout::bytes(4);
    for at in far(0).skip(1) {
        let parts = [(0, 1, 0, &layout), (at << 3, 1, 0, &Layout::bytes(4))];
        layout = Layout::sequence(parts.into_iter());
    }
    assert!(matches!(layout.form, Form::Blocks(_)), "{layout:?}");
}

#[test]
fn what_is_larger_than_memory_is_refused() {
    let class = |made: Result<Datatype>| made.unwrap_err().class;
    let double = of(Predefined::Double);
    assert_eq!(class(Datatype::contiguous(1 << 60, double)), Class::Count);
    assert_eq!(class(Datatype::vector(2, 1, i64::MAX, double)), Class::Arg);
    assert_eq!(class(Datatype::hvector(3, 1, isize::MAX, double)), Class::Count);
    let apart = [isize::MIN, isize::MAX - 8];
    assert_eq!(class(Datatype::hindexed(&[1, 1], &apart, double)), Class::Count);
    assert_eq!(class(Datatype::resized(double, 1, isize::MAX)), Class::Arg);
    assert_eq!(double.packed_size(1 << 60).unwrap_err().class, Class::Count);
    assert_eq!(double.span(1 << 60).unwrap_err().class, Class::Count);
}

#[test]
fn bad_arguments_are_told_apart() {
    let int = of(Predefined::Int);
    let refused = |made: Result<Datatype>| made.unwrap_err().to_string();
    assert_eq!(
        refused(Datatype::contiguous(-1, int)),
        "MPI_ERR_COUNT: count -1 of the datatype is negative"
    );
    assert_eq!(
        refused(Datatype::indexed(&[1, -2], &[0, 4], int)),
        "MPI_ERR_ARG: the length -2 of block 1 is negative"
    );
    let slice = Slice { size: 4, subsize: 2, start: 3 };
    assert_eq!(
        refused(Datatype::subarray(&[slice], Order::C, int)),
        "MPI_ERR_ARG: 2 elements from 3 on are no part of the 4 in dimension 0"
    );
    let mut dimension =
        Distributed { size: 7, distribution: Distribution::Block, argument: Some(3), processes: 2 };
    assert_eq!(
        refused(Datatype::darray((2, 0), &[dimension], Order::C, int)),
        "MPI_ERR_ARG: 2 blocks of 3 do not cover the 7 elements of dimension 0"
    );
    dimension.distribution = Distribution::None;
    for (grid, rank) in [(2, 0), (3, 0), (2, 2)] {
        assert!(Datatype::darray((grid, rank), &[dimension], Order::C, int).is_err());
    }
}

#[test]
fn contents_are_the_arguments_of_the_call() {
    let int = of(Predefined::Int);
    let made = Datatype::hindexed(&[2, 1], &[0, 40], int).unwrap();
    let Envelope { integers, addresses, large_counts, datatypes, combiner } = made.envelope();
    assert_eq!((integers, addresses, large_counts, datatypes), (3, 2, 0, 1));
    assert_eq!(combiner, Combiner::Hindexed);
    let contents = made.contents().unwrap();
    assert_eq!((contents.integers, contents.addresses), (vec![2, 2, 1], vec![0, 40]));
    assert_eq!(contents.datatypes, std::slice::from_ref(int));

    let large = made.by_large_count().contents().unwrap();
    assert_eq!((large.integers, large.addresses), (vec![], vec![]));
    assert_eq!(large.large_counts, [2, 2, 1, 0, 40]);

    let slice = Slice { size: 5, subsize: 3, start: 1 };
    let array = Datatype::subarray(&[slice; 2], Order::Fortran, int).unwrap();
    assert_eq!(array.contents().unwrap().integers, [2, 5, 5, 3, 3, 1, 1, 15]);
    assert_eq!(array.by_large_count().contents().unwrap().integers, [2, 15]);
    assert_eq!(int.contents().unwrap_err().class, Class::Type);
}

#[test]
fn only_committed_datatypes_may_be_used() {
    let made = Datatype::contiguous(2, of(Predefined::Int)).unwrap();
    assert!(!made.committed() && !made.duplicate().committed());
    made.commit();
    assert!(made.committed() && made.duplicate().committed());
    assert!(Predefined::ALL.iter().all(|&one| of(one).committed()));
    assert_eq!(made.duplicate().contents().unwrap().datatypes, [made]);
}

#[test]
fn what_a_datatype_is_made_of_is_known_where_it_is_one_thing() {
    let pair = of(Predefined::DoubleInt);
    assert_eq!((pair.size(), pair.extent(), pair.elements()), (12, 16, 2));
    let pairs = Datatype::vector(2, 2, 3, pair).unwrap();
    assert_eq!(pairs.uniform(), Some(Predefined::DoubleInt));
    let mixed =
        Datatype::structure(&[1, 0], &[0, 0], &[pairs.clone(), of(Predefined::Int).clone()]);
    assert_eq!(mixed.unwrap().uniform(), Some(Predefined::DoubleInt));
    assert_eq!(double_and_char().uniform(), None);
}

#[test]
fn fortrans_kinds_are_chosen_by_precision_and_range() {
    let size = |datatype: Result<Datatype>| datatype.unwrap().size();
    assert_eq!(size(Datatype::f90_real(Some(6), None)), 4);
    assert_eq!(size(Datatype::f90_real(Some(6), Some(100))), 8);
    assert_eq!(size(Datatype::f90_complex(Some(15), Some(307))), 16);
    let kind = |datatype: Result<Datatype>| datatype.unwrap().uniform();
    let longer = match cfg!(target_arch = "x86_64") {
        true => [Predefined::LongDouble, Predefined::CLongDoubleComplex],
        false => [Predefined::Real16, Predefined::Complex32],
    };
    assert_eq!(kind(Datatype::f90_real(Some(16), None)), Some(longer[0]));
    assert_eq!(kind(Datatype::f90_real(None, Some(308))), Some(longer[0]));
    assert_eq!(kind(Datatype::f90_complex(Some(18), Some(4931))), Some(longer[1]));
    assert_eq!(kind(Datatype::f90_real(Some(19), None)), Some(Predefined::Real16));
    assert_eq!(Datatype::f90_real(Some(34), None).unwrap_err().class, Class::Arg);
    assert_eq!(size(Datatype::f90_integer(9)), 4);
    assert_eq!(size(Datatype::f90_integer(10)), 8);
    assert_eq!(Datatype::f90_integer(39).unwrap_err().class, Class::Arg);
    let contents = Datatype::f90_real(None, Some(37)).unwrap().contents().unwrap();
    assert_eq!(contents.integers, [-32766, 37]);
}

#[test]
fn the_model_knows_the_standards_example() {
    let double = Model::predefined(Predefined::Double);
    let char = Model::predefined(Predefined::Char);
    assert_eq!(Model::blocks([(0, 1, &double), (8, 1, &char)]).extent(), 16);
}
