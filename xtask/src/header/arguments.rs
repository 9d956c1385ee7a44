//! The interfaces of subroutines, as the modules of Fortran have them.

use std::fmt::Write;

use muster_mpi_standard::{Function, Parameter};

use super::wrapped;

/// A module.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Module {
    /// `mpi`: handles and statuses are integers.
    Older,
    /// `mpi_f08`: they are types, and no error code need be taken.
    Modern,
}

/// What is true or false in Fortran.
const LOGICAL: [&str; 7] =
    ["flag", "commute", "high", "reorder", "periods", "remain_dims", "weighted"];

/// Functions whose numbers are as wide as a default integer, by parts of their names.
const NARROW: [&str; 2] = ["MPI_Attr_", "MPI_Keyval_"];

/// The interface of a subroutine: its name, and how it is bound.
pub(super) fn interface(
    text: &mut String,
    (name, bound): (&str, &str),
    function: &Function,
    module: Module,
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
        declare(text, it, function, module);
    }
    let optional = if module == Module::Modern { "optional, " } else { "" };
    let _ =
        writeln!(text, "      integer, {optional}intent(out) :: ierror\n    end subroutine {name}");
}

/// An argument's name in Fortran.
fn named(it: &Parameter) -> &str {
    if it.name == "indx" { "index" } else { &it.name }
}

/// Whether a subroutine takes a buffer of any type.
fn has_buffer(function: &Function) -> bool {
    let is_buffer = |it: &Parameter| it.name.contains("buf") && it.kind.contains("void");
    function.parameters.iter().any(is_buffer)
}

/// Whether programs give what they like for an argument beside a buffer: one number for an array
/// that is not looked at, as with `MPI_IN_PLACE` or not at the root, or an array of one datatype.
/// Other libraries have no interfaces of subroutines with buffers, so nobody told them.
fn is_loose(it: &Parameter, base: &str) -> bool {
    base == "MPI_Datatype" || it.suffix == "[]" && base != "char"
}

/// The type of an argument of any type and rank, after the rules that compilers have for it. A
/// target, so that its address may be kept: else what is stored there before a request is started
/// is thought to be seen by nobody, and left out.
fn unchecked(text: &mut String, name: &str) -> String {
    for rule in ["GCC$ attributes no_arg_check ::", "DEC$ attributes no_arg_check ::"] {
        let _ = writeln!(text, "      !{rule} {name}");
    }
    let _ = writeln!(text, "      !DIR$ ignore_tkr {name}");
    "type(*), dimension(*), target".to_owned()
}

/// An argument.
fn declare(text: &mut String, it: &Parameter, function: &Function, module: Module) {
    let name = named(it);
    let kind = it.kind.trim_start_matches("const ");
    let base = kind.trim_end_matches(['*', ' ']);
    let is_array = it.suffix == "[]";
    let is_given = it.kind.starts_with("const ")
        || !kind.ends_with('*') && !is_array
        || base == "char" && is_array;
    let intent = if is_given { ", intent(in)" } else { "" };
    let is_older = module == Module::Older;
    let is_status = is_older && base == "MPI_Status";
    let shape = match (it.suffix.as_str(), name) {
        ("[][3]", _) => "(3, *)",
        ("[]", "array_of_argv") => "(count, *)",
        ("[]", _) if base == "char" && name == "datarep" => "",
        (_, "array_of_statuses") if is_status => "(MPI_STATUS_SIZE, *)",
        _ if is_status => "(MPI_STATUS_SIZE)",
        ("[]", _) | (_, "array_of_statuses" | "sourceweights" | "destweights" | "weights") => "(*)",
        _ => "",
    };
    let is_address = ["baseptr", "buffer_addr"].contains(&name);
    let fortran = match base {
        "void" if is_address && !is_older => "type(c_ptr)".to_owned(),
        "void" if ["attribute_val", "extra_state"].contains(&name) => {
            let is_narrow = NARROW.iter().any(|part| function.name.contains(part));
            if is_narrow { "integer" } else { "integer(MPI_ADDRESS_KIND)" }.to_owned()
        }
        // By `mpi` an address is a number, or a `c_ptr`.
        "void" => unchecked(text, name),
        _ if is_older && has_buffer(function) && is_loose(it, base) => unchecked(text, name),
        "char" => "character(len=*)".to_owned(),
        "int" if LOGICAL.contains(&name) => "logical".to_owned(),
        "int" => "integer".to_owned(),
        "MPI_Aint" => "integer(MPI_ADDRESS_KIND)".to_owned(),
        "MPI_Count" => "integer(MPI_COUNT_KIND)".to_owned(),
        "MPI_Offset" => "integer(MPI_OFFSET_KIND)".to_owned(),
        callback if callback.contains("_function") => {
            let _ = match module {
                Module::Older => writeln!(text, "      external :: {name}"),
                Module::Modern => writeln!(text, "      procedure({callback}) :: {name}"),
            };
            return;
        }
        // Handles and statuses.
        _ if is_older => "integer".to_owned(),
        kind => format!("type({kind})"),
    };
    let shape = if fortran.contains("dimension") { "" } else { shape };
    let _ = writeln!(text, "      {fortran}{intent} :: {name}{shape}");
}
