//! What the modules share: `muster_types.f90` and `muster_places.f90`.
//!
//! A place of `mpif.h` is in a common block, which each program or library that has it defines
//! anew; where symbols are bound locally the library would not know it. A variable that a module
//! binds to a name of C is defined by the module's object alone: that one nobody links, so the
//! library's is the only one. What compilers make of types is needed, so types are in a module of
//! their own.

use std::fmt::Write;

use muster_mpi_standard::{Type, types};

use super::arguments::Module;
use super::fortran::PLACES;
use super::wrapped;

/// Places of statuses, which are of another type in `mpi_f08`.
const STATUSES: [(&str, &str, &str); 2] = [
    ("MPI_STATUS_IGNORE", "muster_status_ignore", ""),
    ("MPI_STATUSES_IGNORE", "muster_statuses_ignore", "(1)"),
];

/// `muster_types.f90`.
pub fn types_module() -> String {
    let handles = handles();
    let mut text = "\
! What `mpi` and `mpi_f08` both have: the types of statuses and handles. What compilers make of them
! beside their members is in an archive that mpifort links.
! Made by `cargo xtask header` from the tables in crates/mpi-abi/standard.
module muster_types
  implicit none

  ! What is known of a message: three members are for programs.
  type, bind(C) :: MPI_Status
    integer :: MPI_SOURCE
    integer :: MPI_TAG
    integer :: MPI_ERROR
    integer :: MPI_internal(5)
  end type MPI_Status

  ! Handles, which hold the integers of `mpif.h`.
"
    .to_owned();
    for name in &handles {
        let _ =
            writeln!(text, "  type, bind(C) :: {name}\n    integer :: MPI_VAL\n  end type {name}");
    }
    text.push_str(&operators(&handles));
    text + "end module muster_types\n"
}

/// Whether two handles are the same.
fn operators(handles: &[String]) -> String {
    let mut text = String::new();
    for (operator, what) in [("==", "same"), ("/=", "other")] {
        let _ = writeln!(text, "\n  interface operator({operator})");
        for name in handles {
            let function = format!("muster_{what}_{}", name.replace("MPI_", "").to_lowercase());
            let _ = writeln!(
                text,
                "    elemental logical function {function}(a, b)\n      import\n      \
                 type({name}), intent(in) :: a, b\n    end function {function}"
            );
        }
        let _ = writeln!(text, "  end interface operator({operator})");
    }
    text
}

/// The kinds of handles that Fortran has.
pub(super) fn handles() -> Vec<String> {
    let handle = |it| match it {
        Type::Handle { name, .. } if !name.starts_with("MPI_T_") => Some(name),
        _ => None,
    };
    types().into_iter().filter_map(handle).collect()
}

/// `muster_places.f90`.
pub fn places_module() -> String {
    let mut text = "\
! Arguments that are left out, by `mpi` and `mpi_f08`: the library's own variables. The object of
! this module is not linked, because it would have others.
! Made by `cargo xtask header` from the tables in crates/mpi-abi/standard.
module muster_places
  use, intrinsic :: iso_c_binding, only: c_int, c_char
  use muster_types, only: MPI_Status
  implicit none

"
    .to_owned();
    for (name, declaration) in PLACES {
        let (kind, variable) = declaration.split_once(' ').expect("a type and a name");
        let kind = if kind == "INTEGER" { "integer(c_int)" } else { "character(kind=c_char)" };
        let symbol = name.replace("MPI_", "muster_own_").to_lowercase();
        // Whoever detaches it gets its address (MPI-5.0, section 3.6).
        let target = if name == "MPI_BUFFER_AUTOMATIC" { "target, " } else { "" };
        let _ = writeln!(text, "  {kind}, {target}bind(C, name='{symbol}') :: {variable}");
    }
    let _ = writeln!(text, "\n  ! As `mpi_f08` has them.");
    for (_, variable, shape) in STATUSES {
        let symbol = variable.replace("muster_", "muster_own_f08_");
        let _ = writeln!(text, "  type(MPI_Status), bind(C, name='{symbol}') :: {variable}{shape}");
    }
    text + "end module muster_places\n"
}

/// How a module uses them.
pub(super) fn used_places(module: Module) -> String {
    let used = |name: &str| {
        let status = STATUSES.iter().find(|(of, ..)| *of == name);
        match status.filter(|_| module == Module::Modern) {
            Some((_, variable, _)) => format!("{name} => {variable}"),
            None => name.to_owned(),
        }
    };
    let names: Vec<String> = PLACES.iter().map(|(name, _)| used(name)).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    wrapped("  use muster_places, only: ", &names, "", (" &", "    "))
}
