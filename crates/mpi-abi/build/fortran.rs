//! Fortran's subroutines of the table's functions. Each argument comes by its address, an object as
//! the integer of its handle, a text with its length behind all arguments, and the error code goes
//! into a last one:
//!
//! ```text
//! mpi_recv_(buf, count, datatype, source, tag, comm, status, ierror)
//! ```
//!
//! They call the functions by their C names, so that a tool sees the calls of Fortran programs,
//! too.

use std::fmt::Write;

use muster_mpi_standard::{Function, Parameter};

/// Functions that are written by hand in `src/fortran`, by parts of their names: what they take is
/// another in Fortran, as of attributes and callbacks, addresses that C computes, lists of texts.
const OTHERS: [&str; 7] =
    ["Aint_", "Info_create_env", "_spawn", "eyval", "_attr", "Attr_", "Grequest_start"];

/// More that are written by hand.
const BY_HAND: [&str; 5] =
    ["MPI_Init", "MPI_Init_thread", "MPI_Pcontrol", "MPI_Wtime", "MPI_Wtick"];

/// The place for the address of a buffer that is given back.
const DETACHED: &str = "buffer_addr";

/// Lengths of texts that come and go. C's count the zero at the end.
const LENGTHS: [&str; 2] = ["buflen", "pset_len"];

/// The subroutines.
pub fn subroutines(all: &[Function], handles: &[String]) -> String {
    let mut code = String::new();
    for function in all.iter().filter(|it| has_form(it)) {
        code.push_str(&subroutine(function, handles));
    }
    code
}

/// Whether a function has a subroutine that is made here. Those for large counts are called by
/// `mpi_f08` only.
fn has_form(function: &Function) -> bool {
    let name = function.name.as_str();
    let is_other = OTHERS.iter().any(|part| name.contains(part));
    !function.is_for_c() && !is_other && !BY_HAND.contains(&name)
}

/// What is done with an argument.
#[derive(Default)]
struct Passed {
    /// Before the call.
    before: String,
    /// In its place.
    argument: String,
    /// After it.
    after: String,
    /// Whether it has a length.
    is_text: bool,
}

/// A subroutine.
fn subroutine(function: &Function, handles: &[String]) -> String {
    let passed: Vec<(Passed, &Parameter)> =
        function.parameters.iter().map(|it| (pass(function, it, handles), it)).collect();
    let place = |it: &Parameter| format!("{}: *mut c_void, ", it.name);
    let length = |it: &Parameter| format!(", {}_length: usize", it.name);
    let places: String = passed.iter().map(|(_, it)| place(it)).collect();
    let texts = passed.iter().filter(|(passed, _)| passed.is_text);
    let lengths: String = texts.map(|(_, it)| length(it)).collect();
    let before: String = passed.iter().map(|(passed, _)| passed.before.as_str()).collect();
    let after: String = passed.iter().map(|(passed, _)| passed.after.as_str()).collect();
    let arguments: Vec<&str> = passed.iter().map(|(passed, _)| passed.argument.as_str()).collect();
    let mut code = String::new();
    let name = &function.name;
    let mut write = |prefix: &str, low: &str, after: &str| {
        let _ = writeln!(
            code,
            "#[unsafe(export_name = \"{low}\")]\n\
             unsafe extern \"C\" fn {low}({places}ierror: *mut c_void{lengths}) {{\n\
             unsafe {{\n\
             {before}let code = f::function!({prefix}{name}: {name})({});\n\
             {after}f::give_code(ierror, code);\n\
             }}\n}}",
            arguments.join(", ")
        );
    };
    for prefix in ["", "P"] {
        let low = format!("{prefix}{name}_").to_lowercase();
        write(prefix, &low, &after);
        // By `mpif.h` there is no room for an address that C gives; the module's form has it.
        if function.parameters.iter().any(|it| it.name == DETACHED) {
            let after = format!(
                "{after}if code == MPI_SUCCESS {{ f::store({DETACHED}, f::detached(detached)); }}\n"
            );
            write(prefix, &format!("muster_f08_{low}"), &after);
        }
    }
    code
}

/// How an argument is passed on.
fn pass(function: &Function, it: &Parameter, handles: &[String]) -> Passed {
    let name = it.name.as_str();
    let is_const = it.kind.starts_with("const ");
    let kind = it.kind.trim_start_matches("const ");
    let base = kind.trim_end_matches(['*', ' ']);
    let is_array = it.suffix == "[]";
    let is_pointer = kind.ends_with('*');
    let argument = |argument: String| Passed { argument, ..Passed::default() };
    match base {
        // C's is the place of a pointer; what Fortran has there is not used (MPI-5.0, section 3.6).
        "void" if name == DETACHED => Passed {
            before: format!(
                "let _ = {name};\n\
                 let mut detached: *mut c_void = std::ptr::null_mut();\n"
            ),
            argument: "(&raw mut detached).cast()".to_owned(),
            ..Passed::default()
        },
        "void" => argument(format!("f::address({name})")),
        "MPI_Status" => argument(format!("f::status({name})")),
        "char" => pass_text(function, name, is_const),
        handle if handles.iter().any(|it| it == handle) => {
            pass_handle(function, it, (handle, is_const), is_array, is_pointer)
        }
        "MPI_Datarep_conversion_function" | "MPI_Datarep_conversion_function_c" => {
            argument(format!("std::mem::transmute(f::conversion({name}))"))
        }
        kind if kind.contains("_function") => argument(format!("std::mem::transmute({name})")),
        "int" if is_pointer && LENGTHS.contains(&name) => Passed {
            before: format!(
                "let {name}_given: c_int = f::load({name});\n\
                 let mut {name}_here = f::with_zero({name}_given);\n"
            ),
            argument: format!("&mut {name}_here"),
            after: format!(
                "if {} {{ f::store({name}, f::without_zero({name}_here)); }}\n",
                is_given(function)
            ),
            is_text: false,
        },
        "int" if is_pointer && (name == "indx" || name == "outcount") => Passed {
            before: format!("let mut {name}_here = f::UNSET;\n"),
            argument: format!("&mut {name}_here"),
            after: format!("f::give_{name}({name}_here, {name});\n"),
            is_text: false,
        },
        "int" if name == "array_of_indices" => Passed {
            argument: format!("{name}.cast()"),
            after: format!("f::from_one({name}, outcount_here);\n"),
            ..Passed::default()
        },
        _ if name.ends_with("weights") => argument(format!("f::weights({name})")),
        _ if is_array || is_pointer || !it.suffix.is_empty() => argument(format!("{name}.cast()")),
        _ => argument(format!("f::load({name})")),
    }
}

/// How a text, or the room for one, is passed on.
fn pass_text(function: &Function, name: &str, is_const: bool) -> Passed {
    if is_const {
        // Blanks before an object's name and before what is said of an error belong to the text.
        let of = function.name.as_str();
        let is_name = of.ends_with("_set_name") || of == "MPI_Add_error_string";
        let make = if is_name { "name" } else { "text" };
        return Passed {
            before: format!("let {name} = f::{make}({name}, {name}_length);\n"),
            argument: format!("{name}.as_ptr()"),
            is_text: true,
            ..Passed::default()
        };
    }
    // With no room at all the text is only measured.
    let length = function.parameters.iter().find(|it| LENGTHS.contains(&it.name.as_str()));
    let is_wanted = length.map(|it| format!(" && {}_given > 0", it.name)).unwrap_or_default();
    Passed {
        before: format!("let mut {name}_room = f::Room::new();\n"),
        argument: format!("{name}_room.as_mut_ptr()"),
        after: format!(
            "if {}{is_wanted} {{ {name}_room.give({name}, {name}_length); }}\n",
            is_given(function)
        ),
        is_text: true,
    }
}

/// Whether a call has given a text: what it leaves alone stays as it was for the program.
fn is_given(function: &Function) -> &'static str {
    match function.parameters.iter().any(|it| it.name == "flag") {
        true => "code == MPI_SUCCESS && f::load::<c_int>(flag) != 0",
        false => "code == MPI_SUCCESS",
    }
}

/// How a handle, a place for one, or an array of them is passed on.
fn pass_handle(
    function: &Function,
    it: &Parameter,
    (handle, is_const): (&str, bool),
    is_array: bool,
    is_pointer: bool,
) -> Passed {
    let name = it.name.as_str();
    if !is_array && !is_pointer {
        let argument = format!("{handle}(f::load::<c_int>({name}) as usize)");
        return Passed { argument, ..Passed::default() };
    }
    let counts = ["count", "incount", "max_datatypes"];
    let count = function.parameters.iter().find(|it| counts.contains(&it.name.as_str()));
    let length = if !is_array {
        "1".to_owned()
    } else if let Some(Parameter { kind, name, .. }) = count {
        match kind.as_str() {
            "MPI_Count" => format!("f::load::<MPI_Count>({name}).try_into().unwrap_or(c_int::MAX)"),
            _ => format!("f::load::<c_int>({name})"),
        }
    } else if function.name.contains("eighbor") {
        let side = if name == "sendtypes" { "outgoing" } else { "incoming" };
        format!("f::neighbors(comm).{side}")
    } else if name == "sendtypes" {
        "f::sent_peers(sendbuf, comm)".to_owned()
    } else {
        "f::peers(comm)".to_owned()
    };
    let after = match is_const {
        true => String::new(),
        false => format!("f::give_handles(&{name}_handles, {name});\n"),
    };
    let (keep, as_pointer) = if is_const { ("", "as_ptr") } else { ("mut", "as_mut_ptr") };
    Passed {
        before: format!("let {keep} {name}_handles = f::handles({name}, {length});\n"),
        argument: format!("{name}_handles.{as_pointer}().cast()"),
        after,
        is_text: false,
    }
}
