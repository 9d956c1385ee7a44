//! `mpif.h`: the constants for Fortran, in lines that its fixed and its free form both read. A
//! handle is an INTEGER: the number that `MPI_Comm_toint` and its like give.
//!
//! Arguments that are left out are variables of common blocks, which the library tells by their
//! addresses.

use std::fmt::Write;

use muster_mpi_standard::{Constant, constants};

/// Constants that are places, each alone in its block: the library compares addresses. The names
/// of the blocks are ours, the types those of the parameters that the places stand for.
pub(super) const PLACES: [(&str, &str); 10] = [
    ("MPI_BOTTOM", "INTEGER MPI_BOTTOM"),
    ("MPI_IN_PLACE", "INTEGER MPI_IN_PLACE"),
    ("MPI_BUFFER_AUTOMATIC", "INTEGER MPI_BUFFER_AUTOMATIC(1)"),
    ("MPI_STATUS_IGNORE", "INTEGER MPI_STATUS_IGNORE(8)"),
    ("MPI_STATUSES_IGNORE", "INTEGER MPI_STATUSES_IGNORE(8, 1)"),
    ("MPI_ERRCODES_IGNORE", "INTEGER MPI_ERRCODES_IGNORE(1)"),
    ("MPI_UNWEIGHTED", "INTEGER MPI_UNWEIGHTED(1)"),
    ("MPI_WEIGHTS_EMPTY", "INTEGER MPI_WEIGHTS_EMPTY(1)"),
    ("MPI_ARGV_NULL", "CHARACTER*1 MPI_ARGV_NULL(1)"),
    ("MPI_ARGVS_NULL", "CHARACTER*1 MPI_ARGVS_NULL(1, 1)"),
];

/// What Fortran has and C has not, or counts from 1.
pub(super) const OWN: [(&str, i64); 8] = [
    ("MPI_STATUS_SIZE", 8),
    ("MPI_SOURCE", 1),
    ("MPI_TAG", 2),
    ("MPI_ERROR", 3),
    ("MPI_ADDRESS_KIND", 8),
    ("MPI_COUNT_KIND", 8),
    ("MPI_OFFSET_KIND", 8),
    ("MPI_INTEGER_KIND", 4),
];

/// Whether Fortran has a constant as a number.
pub(super) fn is_number(it: &Constant) -> bool {
    let is_handle = it.kind.starts_with("MPI_") && it.value >= 0x20;
    let is_tool = it.name.starts_with("MPI_T_") || it.name.starts_with("MPI_F_");
    (it.kind == "int" || is_handle) && !is_tool
}

/// A constant's value: room for a text has no zero at its end (MPI-5.0, section 19.3.9).
pub(super) fn value(it: &Constant) -> i64 {
    if it.name.starts_with("MPI_MAX_") { it.value - 1 } else { it.value }
}

/// `mpif.h`.
pub fn header() -> String {
    let mut text = String::from(
        "!     MPI 5.0 for Fortran: constants. Handles are INTEGERs, a status is an array of 8.\n\
         !     Made by `cargo xtask header` from the tables in crates/mpi-abi/standard.\n",
    );
    text.push_str(&numbers());
    let _ =
        writeln!(text, "\n!     Arguments that are left out: the library tells their addresses.");
    for (name, declaration) in PLACES {
        let _ = writeln!(text, "      {declaration}");
        let _ = writeln!(text, "      COMMON /{}/ {name}", block(name));
    }
    text.push_str("\n!     The functions that are no subroutines.\n");
    for (kind, names) in
        [("REAL(KIND=8)", ["WTIME", "WTICK"]), ("INTEGER(KIND=8)", ["AINT_ADD", "AINT_DIFF"])]
    {
        for prefix in ["", "P"] {
            let names = names.map(|name| format!("{prefix}MPI_{name}")).join(", ");
            let _ = writeln!(text, "      {kind} {names}");
            let _ = writeln!(text, "      EXTERNAL {names}");
        }
    }
    text + &callbacks()
}

/// The constants that are numbers, for `use mpi`, too.
pub(super) fn numbers() -> String {
    let mut text = String::new();
    let parameter = |text: &mut String, name: &str, value: i64| {
        let _ = writeln!(text, "      INTEGER {name}");
        let _ = writeln!(text, "      PARAMETER ({name} = {value})");
    };
    let _ = writeln!(text, "\n!     A status, and the kinds of integers.");
    OWN.iter().for_each(|(name, value)| parameter(&mut text, name, *value));
    for section in constants() {
        let numbers: Vec<_> = section.items.iter().filter(|it| is_number(it)).collect();
        if !numbers.is_empty() {
            let _ = writeln!(text, "\n!     {}.", section.title);
            numbers.iter().for_each(|it| parameter(&mut text, &it.name, value(it)));
        }
    }
    text.push_str("\n!     What is not to be relied on: buffers may be copied by the compiler.\n");
    for name in ["MPI_SUBARRAYS_SUPPORTED", "MPI_ASYNC_PROTECTS_NONBLOCKING"] {
        let _ = writeln!(text, "      LOGICAL {name}");
        let _ = writeln!(text, "      PARAMETER ({name} = .FALSE.)");
    }
    let _ = writeln!(text, "\n!     The offset that stands for where the file's pointer is.");
    text.push_str("      INTEGER(KIND=8) MPI_DISPLACEMENT_CURRENT\n");
    text.push_str("      PARAMETER (MPI_DISPLACEMENT_CURRENT = -1_8)\n");
    text
}

/// The callbacks that the standard has, for both.
pub(super) fn callbacks() -> String {
    let mut text = String::from("\n!     The callbacks that the standard has.\n");
    text.push_str("      EXTERNAL MPI_CONVERSION_FN_NULL\n");
    for of in ["", "COMM_", "TYPE_", "WIN_"] {
        for name in ["NULL_COPY_FN", "DUP_FN", "NULL_DELETE_FN"] {
            let _ = writeln!(text, "      EXTERNAL MPI_{of}{name}");
        }
    }
    text
}

/// The common block of a place: `MPI_IN_PLACE` is in `MUSTER_IN_PLACE`, which compilers call
/// `muster_in_place_`.
pub(super) fn block(name: &str) -> String {
    name.replacen("MPI", "MUSTER", 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_fits_the_fixed_form() {
        for line in header().lines().filter(|line| !line.starts_with('!') && !line.is_empty()) {
            assert!(line.len() <= 72 && line.starts_with("      "), "{line}");
        }
    }

    #[test]
    fn a_handle_is_its_number() {
        let text = header();
        assert!(text.contains("      PARAMETER (MPI_COMM_WORLD = 257)\n"));
        assert!(text.contains("      PARAMETER (MPI_STATUS_SIZE = 8)\n"));
        assert!(text.contains("      COMMON /MUSTER_IN_PLACE/ MPI_IN_PLACE\n"));
        assert!(!text.contains("MPI_T_"));
    }

    #[test]
    fn a_text_has_no_zero_at_its_end_and_maxima_that_are_no_lengths_stay() {
        let text = header();
        assert!(text.contains("      PARAMETER (MPI_MAX_OBJECT_NAME = 127)\n"));
        assert!(text.contains("      PARAMETER (MPI_MAXLOC = 57)\n"));
        assert!(text.contains("      PARAMETER (MPI_MAX = 35)\n"));
    }
}
