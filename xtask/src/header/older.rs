//! `mpi.f90`: the module `mpi`. It has all that `mpif.h` has, and an interface of each subroutine:
//! handles and statuses are integers, buffers are of any type and rank, and an error code is always
//! taken.

use std::fmt::Write;

use muster_mpi_standard::{Function, functions};

use super::arguments::{Module, interface};
use super::shared::used_places;
use super::{fortran, wrapped};

/// More functions that are no subroutines here, by parts of their names: they are written by hand.
const BY_HAND: [&str; 3] = ["MPI_Pcontrol", "MPI_Wti", "MPI_Aint_"];

/// Those that MPI-3 has removed. The library has them, but no table tells what they take.
const REMOVED: [&str; 10] = [
    "MPI_Address",
    "MPI_Errhandler_create",
    "MPI_Errhandler_get",
    "MPI_Errhandler_set",
    "MPI_Type_extent",
    "MPI_Type_hindexed",
    "MPI_Type_hvector",
    "MPI_Type_lb",
    "MPI_Type_struct",
    "MPI_Type_ub",
];

/// `mpi.f90`.
pub fn module() -> String {
    let mut text =
        include_str!("older_opening.f90").replace("@places@\n", &used_places(Module::Older));
    text.push_str(&fortran::numbers());
    text.push_str(&fortran::callbacks());
    text.push_str(include_str!("functions.f90"));
    text.push_str(include_str!("older.f90"));
    let names: Vec<String> =
        REMOVED.iter().flat_map(|it| [(*it).to_owned(), format!("P{it}")]).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let _ = writeln!(text, "\n  ! Removed, and not checked.");
    text.push_str(&wrapped("  external :: ", &names, "", (" &", "    ")));
    for section in functions() {
        let all: Vec<&Function> = section.items.iter().filter(|it| has_form(it)).collect();
        if !all.is_empty() {
            let _ = writeln!(text, "\n  ! {}.", section.title);
        }
        for it in all {
            let _ = writeln!(text, "  interface");
            interface(&mut text, (&it.name, ""), it, Module::Older);
            let _ = writeln!(text, "  end interface\n  procedure({}) :: P{}", it.name, it.name);
        }
    }
    text + "end module mpi\n"
}

/// Whether a function has an interface. Those for large counts are of `mpi_f08` only.
fn has_form(function: &Function) -> bool {
    let is_by_hand = BY_HAND.iter().any(|part| function.name.contains(part));
    !function.is_for_c() && !function.name.ends_with("_c") && !is_by_hand
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_are_integers_and_an_error_code_is_always_taken() {
        let text = module();
        for expected in [
            "    subroutine MPI_Send(buf, count, datatype, dest, tag, comm, ierror)\n",
            "      integer :: array_of_statuses(MPI_STATUS_SIZE, *)\n",
            "      integer :: status(MPI_STATUS_SIZE)\n",
            "      external :: user_fn\n",
            "  procedure(MPI_Wait) :: PMPI_Wait\n",
            "      integer, intent(out) :: ierror\n",
        ] {
            assert!(text.contains(expected), "{expected}");
        }
        assert!(!text.contains("optional") && !text.contains("MPI_Send_c"));
    }
}
