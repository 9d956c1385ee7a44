//! `mpi_f08.f90`: the module of Fortran 2008; and of `mpi.f90` the types that both have.
//!
//! An interface is all that each subroutine needs: a handle is a type of one integer, a status one
//! of eight, so both lie as `mpif.h` has them, and an `ierror` that is left out comes as no place.
//! So there is no code, and nothing to link. Buffers are of any type and rank, and contiguous: what
//! is not is copied by the compiler.

use std::fmt::Write;

use muster_mpi_standard::{Constant, Function, Parameter, Type, constants, functions, types};

use super::fortran::{OWN, PLACES, block, is_number, value};
use super::wrapped;

/// Functions that Fortran 2008 does not have, by parts of their names: those for tools and for C,
/// those that MPI-2 has deprecated; and those that are no subroutines, or take what C does not.
const NONE: [&str; 10] = [
    "MPI_T_",
    "_fortran_booleans",
    "MPI_Abi_set_fortran_info",
    "_toint",
    "_fromint",
    "MPI_Attr_",
    "MPI_Keyval_",
    "MPI_Pcontrol",
    "MPI_Wti",
    "MPI_Aint_",
];

/// What is true or false in Fortran.
const LOGICAL: [&str; 7] =
    ["flag", "commute", "high", "reorder", "periods", "remain_dims", "weighted"];

/// `mpi_f08.f90`.
pub fn module() -> String {
    let mut text = include_str!("opening.f90").to_owned();
    let handles = handles();
    text.push_str(&statuses_and_handles(&handles));
    write_constants(&mut text, &handles);
    text.push_str(include_str!("callbacks.f90"));
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
            interfaces(&mut text, it, large(it).filter(|large| differ(it, large)), &handles);
        }
        for it in all.iter().filter(|it| takes_functions(it) && it.name.ends_with("_c")) {
            interfaces(&mut text, it, None, &handles);
        }
    }
    text.push_str(&operators(&handles));
    text + "end module mpi_f08\n"
}

/// `mpi.f90`.
pub fn older_module() -> String {
    let handles = handles();
    let text = include_str!("older.f90").replace("@types@", &statuses_and_handles(&handles));
    text + &operators(&handles) + "end module mpi\n"
}

/// The types.
fn statuses_and_handles(handles: &[String]) -> String {
    let mut text = "
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
    for name in handles {
        let _ =
            writeln!(text, "  type, bind(C) :: {name}\n    integer :: MPI_VAL\n  end type {name}");
    }
    text
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
fn handles() -> Vec<String> {
    let handle = |it| match it {
        Type::Handle { name, .. } if !name.starts_with("MPI_T_") => Some(name),
        _ => None,
    };
    types().into_iter().filter_map(handle).collect()
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
         integer(MPI_OFFSET_KIND), parameter :: MPI_DISPLACEMENT_CURRENT = -1\n\n  \
         ! Arguments that are left out: the library tells their addresses."
    );
    for (name, declaration) in PLACES {
        let declaration = match name {
            "MPI_STATUS_IGNORE" => "type(MPI_Status) :: MPI_STATUS_IGNORE".to_owned(),
            "MPI_STATUSES_IGNORE" => "type(MPI_Status) :: MPI_STATUSES_IGNORE(1)".to_owned(),
            _ => {
                let (kind, name) = declaration.split_once(' ').expect("a type and a name");
                format!("{} :: {name}", kind.to_lowercase())
            }
        };
        let _ = writeln!(text, "  {declaration}\n  common /{}/ {name}", block(name));
    }
}

/// Whether a function has an interface that is made here.
fn has_form(function: &Function) -> bool {
    !NONE.iter().any(|part| function.name.contains(part))
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
fn interfaces(text: &mut String, it: &Function, large: Option<&Function>, handles: &[String]) {
    let name = &it.name;
    if large.is_none() && !is_of_its_own(it) {
        let _ = writeln!(text, "  interface");
        interface(text, (name, ""), it, handles);
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
            interface(text, (&name, &bound), it, handles);
        }
        let _ = writeln!(text, "  end interface {prefix}{name}");
    }
}

fn interface(
    text: &mut String,
    (name, bound): (&str, &str),
    function: &Function,
    handles: &[String],
) {
    // The program's own arguments are Fortran's to know; those of one that is begun are given.
    let has_own = function.parameters.iter().any(|it| it.name == "argc");
    let is_own = |it: &Parameter| has_own && ["argc", "argv"].contains(&it.name.as_str());
    let given: Vec<&Parameter> = function.parameters.iter().filter(|it| !is_own(it)).collect();
    let mut names: Vec<&str> = given.iter().map(|it| named(it)).collect();
    names.push("ierror");
    let (head, end) = (format!("    subroutine {name}("), format!("){bound}"));
    text.push_str(&wrapped(&head, &names, &end, (" &", "        ")));
    text.push_str("      import\n");
    for it in given {
        declare(text, it, handles);
    }
    let _ =
        writeln!(text, "      integer, optional, intent(out) :: ierror\n    end subroutine {name}");
}

/// An argument's name in Fortran.
fn named(it: &Parameter) -> &str {
    if it.name == "indx" { "index" } else { &it.name }
}

/// An argument.
fn declare(text: &mut String, it: &Parameter, handles: &[String]) {
    let name = named(it);
    let kind = it.kind.trim_start_matches("const ");
    let base = kind.trim_end_matches(['*', ' ']);
    let is_array = it.suffix == "[]";
    let is_given = it.kind.starts_with("const ")
        || !kind.ends_with('*') && !is_array
        || base == "char" && is_array;
    let intent = if is_given { ", intent(in)" } else { "" };
    let shape = match (it.suffix.as_str(), name) {
        ("[][3]", _) => "(3, *)",
        ("[]", "array_of_argv") => "(count, *)",
        ("[]", _) if base == "char" && name == "datarep" => "",
        ("[]", _) | (_, "array_of_statuses" | "sourceweights" | "destweights" | "weights") => "(*)",
        _ => "",
    };
    let fortran = match base {
        "void" if ["baseptr", "buffer_addr"].contains(&name) => "type(c_ptr)".to_owned(),
        "void" if ["attribute_val", "extra_state"].contains(&name) => {
            "integer(MPI_ADDRESS_KIND)".to_owned()
        }
        "void" => {
            for rule in ["GCC$ attributes no_arg_check ::", "DEC$ attributes no_arg_check ::"] {
                let _ = writeln!(text, "      !{rule} {name}");
            }
            let _ = writeln!(text, "      !DIR$ ignore_tkr {name}");
            "type(*), dimension(*)".to_owned()
        }
        "char" => "character(len=*)".to_owned(),
        "int" if LOGICAL.contains(&name) => "logical".to_owned(),
        "int" => "integer".to_owned(),
        "MPI_Aint" => "integer(MPI_ADDRESS_KIND)".to_owned(),
        "MPI_Count" => "integer(MPI_COUNT_KIND)".to_owned(),
        "MPI_Offset" => "integer(MPI_OFFSET_KIND)".to_owned(),
        callback if callback.contains("_function") => {
            let _ = writeln!(text, "      procedure({callback}) :: {name}");
            return;
        }
        kind => {
            debug_assert!(kind == "MPI_Status" || handles.iter().any(|it| it == kind), "{kind}");
            format!("type({kind})")
        }
    };
    let _ = writeln!(text, "      {fortran}{intent} :: {name}{shape}");
}

#[cfg(test)]
mod tests {
    use super::super::COLUMNS;
    use super::*;

    #[test]
    fn every_line_is_one_that_compilers_and_people_can_read() {
        for line in module().lines() {
            assert!(line.len() <= COLUMNS, "{line}");
        }
    }

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
