//! `mpi_f08.f90`: the module of Fortran 2008.
//!
//! An interface is all that each subroutine needs: a handle is a type of one integer, a status one
//! of eight, so both lie as `mpif.h` has them, and an `ierror` that is left out comes as no place.
//! So there is no code, and nothing to link. Buffers are of any type and rank, and contiguous: what
//! is not is copied by the compiler.

use std::fmt::Write;

use muster_mpi_standard::{Constant, Function, Parameter, constants, functions};

use super::arguments::{Module, interface};
use super::fortran::{OWN, is_number, value};
use super::shared::{handles, used_places};

/// More functions that Fortran 2008 does not have, by parts of their names: those that MPI-2 has
/// deprecated, and those that are no subroutines, or take what C does not.
const NONE: [&str; 5] = ["MPI_Attr_", "MPI_Keyval_", "MPI_Pcontrol", "MPI_Wti", "MPI_Aint_"];

/// `mpi_f08.f90`.
pub fn module() -> String {
    let places = used_places(Module::Modern);
    let mut text = include_str!("opening.f90").replace("@places@\n", &places);
    write_constants(&mut text, &handles());
    text.push_str(include_str!("callbacks.f90"));
    text.push_str(include_str!("functions.f90"));
    text.push_str(include_str!("conversions.f90"));
    for section in functions() {
        let all: Vec<&Function> = section.items.iter().filter(|it| has_form(it)).collect();
        if all.is_empty() {
            continue;
        }
        let _ = writeln!(text, "\n  ! {}.", section.title);
        let large = |it: &Function| {
            let name = format!("{}_c", it.name);
            all.iter().copied().find(|it| it.name == name)
        };
        for it in all.iter().filter(|it| !it.name.ends_with("_c")) {
            interfaces(&mut text, it, large(it).filter(|large| differ(it, large)));
        }
        for it in all.iter().filter(|it| takes_functions(it) && it.name.ends_with("_c")) {
            interfaces(&mut text, it, None);
        }
    }
    text + "end module mpi_f08\n"
}

fn write_constants(text: &mut String, handles: &[String]) {
    let _ = writeln!(text, "\n  ! A status as `mpif.h` has it, and the kinds of integers.");
    for (name, value) in OWN {
        let _ = writeln!(text, "  integer, parameter :: {name} = {value}");
    }
    for section in constants() {
        let numbers: Vec<&Constant> = section.items.iter().filter(|it| is_number(it)).collect();
        if numbers.is_empty() {
            continue;
        }
        let _ = writeln!(text, "\n  ! {}.", section.title);
        for it in numbers {
            let (name, kind, value) = (&it.name, &it.kind, value(it));
            let _ = match handles.contains(kind) {
                true => writeln!(text, "  type({kind}), parameter :: {name} = {kind}({value})"),
                false => writeln!(text, "  integer, parameter :: {name} = {value}"),
            };
        }
    }
    let _ = writeln!(
        text,
        "\n  ! Buffers may be copied by the compiler.\n  \
         logical, parameter :: MPI_SUBARRAYS_SUPPORTED = .false.\n  \
         logical, parameter :: MPI_ASYNC_PROTECTS_NONBLOCKING = .false.\n\n  \
         ! The offset that stands for where the file's pointer is.\n  \
         integer(MPI_OFFSET_KIND), parameter :: MPI_DISPLACEMENT_CURRENT = -1"
    );
}

/// Whether a function has an interface that is made here.
fn has_form(function: &Function) -> bool {
    !function.is_for_c() && !NONE.iter().any(|part| function.name.contains(part))
}

/// Whether a function gives an address, which `mpif.h` cannot have: the library has it twice.
fn is_of_its_own(function: &Function) -> bool {
    function.parameters.iter().any(|it| it.name == "buffer_addr")
}

/// Whether a function takes some of the program's, by which compilers tell nothing apart: it has no
/// generic name.
fn takes_functions(function: &Function) -> bool {
    function.parameters.iter().any(|it| it.kind.contains("_function"))
}

/// Whether compilers can tell the one for large counts by its arguments. Where addresses became
/// counts they cannot, and need not: both have eight bytes.
fn differ(function: &Function, large: &Function) -> bool {
    let is_short = |it: &Parameter| it.kind.trim_start_matches("const ").starts_with("int");
    let is_long = |it: &Parameter| it.kind.contains("MPI_Count");
    let mut both = function.parameters.iter().zip(&large.parameters);
    !takes_functions(function) && both.any(|(it, large)| is_short(it) && is_long(large))
}

/// The interfaces of a subroutine, and of the one for large counts, which goes by the same name;
/// and those for tools.
fn interfaces(text: &mut String, it: &Function, large: Option<&Function>) {
    let name = &it.name;
    if large.is_none() && !is_of_its_own(it) {
        let _ = writeln!(text, "  interface");
        interface(text, (name, ""), it, Module::Modern);
        let _ = writeln!(text, "  end interface\n  procedure({name}) :: P{name}");
        return;
    }
    for prefix in ["", "P"] {
        let _ = writeln!(text, "  interface {prefix}{name}");
        for it in [Some(it), large].into_iter().flatten() {
            let name = format!("{prefix}{}", it.name);
            let bound = match is_of_its_own(it) {
                true => format!(" bind(C, name='muster_f08_{}_')", name.to_lowercase()),
                false => String::new(),
            };
            interface(text, (&name, &bound), it, Module::Modern);
        }
        let _ = writeln!(text, "  end interface {prefix}{name}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_are_types_and_an_error_code_may_be_left_out() {
        let text = module();
        for expected in [
            "  type(MPI_Comm), parameter :: MPI_COMM_WORLD = MPI_Comm(257)\n",
            "    subroutine MPI_Send(buf, count, datatype, dest, tag, comm, ierror)\n",
            "      type(MPI_Request) :: array_of_requests(*)\n",
            "      type(MPI_Status) :: array_of_statuses(*)\n",
            "      procedure(MPI_User_function) :: user_fn\n",
            "      procedure(MPI_User_function_c) :: user_fn\n",
            "    subroutine MPI_Op_create_c(user_fn, commute, op, ierror)\n",
            "  interface PMPI_Send\n",
            "    subroutine PMPI_Send_c(buf, count, datatype, dest, tag, comm, ierror)\n",
            "    subroutine MPI_Init(ierror)\n",
            "  procedure(MPI_Wait) :: PMPI_Wait\n",
            "bind(C, name='muster_f08_mpi_buffer_detach_')\n",
        ] {
            assert!(text.contains(expected), "{expected}");
        }
        // Where both forms would take the same there is one.
        assert!(!text.contains("MPI_Type_get_extent_c"));
        let codes = text.matches("integer, optional, intent(out) :: ierror").count();
        assert!(codes > 400, "{codes}");
    }
}
