//! Hints that an object has, and what of them is told (MPI-5.0, sections 7.4.4 and 12.2.7): those
//! of the standard that say what a program does, which the library takes at its word, with what
//! holds where the program says nothing. Others, and values that a hint cannot have, are ignored,
//! as the standard has it, and not told.

use crate::info::Info;
use crate::object::Sort;

/// The values that a hint can have.
enum Values {
    Boolean,
    /// What accumulating operations at one place do.
    Operations,
    /// Which of them are in order.
    Order,
    Number,
    /// A power of two.
    Alignment,
}

/// A hint, what holds where nobody has given it, and the values that it can have.
type Hint = (&'static str, Option<&'static str>, Values);

const COMM: &[Hint] = &[
    ("mpi_assert_no_any_tag", Some("false"), Values::Boolean),
    ("mpi_assert_no_any_source", Some("false"), Values::Boolean),
    ("mpi_assert_exact_length", Some("false"), Values::Boolean),
    ("mpi_assert_allow_overtaking", Some("false"), Values::Boolean),
    ("mpi_assert_strict_persistent_collective_ordering", Some("false"), Values::Boolean),
];

const WIN: &[Hint] = &[
    ("no_locks", Some("false"), Values::Boolean),
    ("accumulate_ordering", Some("rar,raw,war,waw"), Values::Order),
    ("accumulate_ops", Some("same_op_no_op"), Values::Operations),
    ("mpi_accumulate_granularity", Some("0"), Values::Number),
    ("same_size", Some("false"), Values::Boolean),
    ("same_disp_unit", Some("false"), Values::Boolean),
    ("alloc_shared_noncontig", Some("false"), Values::Boolean),
    ("mpi_minimum_memory_alignment", None, Values::Alignment),
];

/// Memory that messages may lie in, whatever the program asks for (MPI-5.0, section 11.4.3): what
/// the library has allocated, and what the system has.
const MEMORY: (&str, &str) = ("mpi_memory_alloc_kinds", "mpi,system");

fn known(sort: Sort) -> &'static [Hint] {
    match sort {
        Sort::Comm => COMM,
        Sort::Win => WIN,
        Sort::Type | Sort::File | Sort::Session => &[],
    }
}

impl Values {
    fn have(&self, value: &[u8]) -> bool {
        let Ok(value) = str::from_utf8(value) else { return false };
        match self {
            Values::Boolean => ["true", "false"].contains(&value),
            Values::Operations => ["same_op", "same_op_no_op"].contains(&value),
            Values::Order => {
                let is_one = |it: &str| ["rar", "raw", "war", "waw"].contains(&it.trim());
                value == "none" || value.split(',').all(is_one)
            }
            Values::Number => value.parse::<u64>().is_ok(),
            Values::Alignment => value.parse().is_ok_and(u64::is_power_of_two),
        }
    }
}

/// Those of a program's hints that an object of a sort takes.
pub fn taken(sort: Sort, hints: &Info) -> Info {
    let mut taken = Info::default();
    for (key, _, values) in known(sort) {
        if let Some(value) = hints.get(key).filter(|value| values.have(value)) {
            taken.set(*key, value);
        }
    }
    taken
}

/// What is told of an object that has taken some.
pub fn told(sort: Sort, taken: &Info) -> Info {
    let mut told = Info::default();
    for (key, default, _) in known(sort) {
        if let Some(value) = taken.get(key).or(default.map(str::as_bytes)) {
            told.set(*key, value);
        }
    }
    told.set(MEMORY.0, MEMORY.1);
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_that_are_known_are_told_with_what_holds_and_others_are_not() {
        let mut hints = Info::default();
        for (key, value) in [
            ("no_locks", "true"),
            ("same_size", "perhaps"),
            ("accumulate_ordering", "rar,waw"),
            ("accumulate_ops", "any"),
            ("mpi_minimum_memory_alignment", "128"),
            ("nobody_knows_this", "true"),
            ("mpi_memory_alloc_kinds", "cuda"),
        ] {
            hints.set(key, value);
        }
        let told = told(Sort::Win, &taken(Sort::Win, &hints));
        let says = |key: &str| told.get(key).and_then(|value| str::from_utf8(value).ok());
        assert_eq!((says("no_locks"), says("same_size")), (Some("true"), Some("false")));
        assert_eq!(says("accumulate_ordering"), Some("rar,waw"));
        assert_eq!(says("accumulate_ops"), Some("same_op_no_op"));
        assert_eq!(says("mpi_minimum_memory_alignment"), Some("128"));
        assert_eq!(
            (says("nobody_knows_this"), says("mpi_memory_alloc_kinds")),
            (None, Some("mpi,system"))
        );
        assert_eq!(taken(Sort::Comm, &hints), Info::default());
    }
}
