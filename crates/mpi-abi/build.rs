//! Makes of the standard's tables what the library is compiled with, in the output directory:
//!
//! * `types.rs`: handles and callbacks;
//! * `constants.rs`: the values that are in the header, too;
//! * `signatures.rs`: the type of each function, against which `export!` holds the source;
//! * `arguments.rs`: the names of each function's arguments, for messages;
//! * `unsupported.rs`: the functions that no source file exports, which say so when called;
//! * `fortran.rs`: Fortran's subroutines of the functions.
//!
//! A function is exported if a source file has `fn MPI_NAME(`, or names it so beside others, as
//! `fn MPI_NAME or MPI_NAME_c(` or `fn MPI_Comm_toint and MPI_Comm_fromint(`: were one overlooked
//! here, it would be exported twice, which the compiler refuses.

#[path = "build/fortran.rs"]
mod fortran;

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

use muster_mpi_standard::{Function, Parameter, Type, constants, functions, types};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=build");
    println!("cargo::rerun-if-changed=src");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libmpi_abi.so.1");
    let all: Vec<Function> = functions().into_iter().flat_map(|section| section.items).collect();
    let mut exported = BTreeSet::new();
    find_exported(Path::new("src"), &mut exported);
    for name in &exported {
        assert!(all.iter().any(|it| it.name == *name), "the standard has no {name}");
    }
    save("types.rs", &rust_types());
    save("constants.rs", &rust_constants());
    save("signatures.rs", &all.iter().map(signature).collect::<String>());
    save("arguments.rs", &all.iter().map(arguments).collect::<String>());
    save("unsupported.rs", &unsupported(&all, &exported));
    save("fortran.rs", &fortran::subroutines(&all, &handles()));
}

/// Writes a file of the output directory.
fn save(name: &str, text: &str) {
    let path = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it")).join(name);
    fs::write(path, text).expect("the output directory can be written");
}

/// Collects the names that the sources in a folder export.
fn find_exported(folder: &Path, names: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).expect("the sources can be listed") {
        let path = entry.expect("the sources can be listed").path();
        if path.is_dir() {
            find_exported(&path, names);
        } else if path.extension().is_some_and(|it| it == "rs") {
            let text = fs::read_to_string(&path).expect("a source can be read");
            let lines = text.lines().map(str::trim).filter(|line| !line.starts_with("//"));
            let code = lines.collect::<Vec<_>>().join(" ");
            let heads = code.split(" fn ").skip(1).filter_map(|head| head.split_once('('));
            // `fn MPI_NAME or MPI_NAME_c(` is two, and there may be more.
            let named = heads.flat_map(|(names, _)| names.split_whitespace());
            names.extend(named.filter(|name| name.starts_with("MPI_")).map(str::to_owned));
        }
    }
}

/// Handles are numbers of their own types; a callback is the type of a C function.
fn rust_types() -> String {
    let mut code = String::new();
    for it in types() {
        let _ = match it {
            Type::Integer { name, like } => {
                let like = if like == "intptr_t" { "isize" } else { "i64" };
                writeln!(code, "/// An integer of the standard.\npub type {name} = {like};")
            }
            Type::Handle { name, .. } => writeln!(
                code,
                "/// A handle.\n#[repr(transparent)]\n\
                 #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]\npub struct {name}(pub usize);"
            ),
            Type::Enumeration { name } => {
                writeln!(code, "/// An enumeration.\npub type {name} = ::std::ffi::c_int;")
            }
            Type::Callback(function) => {
                let typed = function_type(&function);
                writeln!(
                    code,
                    "/// A function of the program.\npub type {} = {typed};",
                    function.name
                )
            }
            Type::Alias { name, of } => {
                writeln!(code, "/// A second name.\npub type {name} = {of};")
            }
        };
    }
    code
}

/// The names of the types of handles.
fn handles() -> Vec<String> {
    let name = |it| match it {
        Type::Handle { name, .. } => Some(name),
        _ => None,
    };
    types().into_iter().filter_map(name).collect()
}

/// A constant is an `int`, a handle, or a pointer as its number.
fn rust_constants() -> String {
    let handles = handles();
    let mut code = String::new();
    for it in constants().into_iter().flat_map(|section| section.items) {
        let (kind, value) = match it.kind.as_str() {
            kind if handles.iter().any(|it| it == kind) => {
                (kind, format!("{kind}({:#x})", it.value))
            }
            "int" | "MPI_T_cb_safety" | "MPI_T_source_order" => {
                ("::std::ffi::c_int", it.value.to_string())
            }
            "MPI_Offset" => ("MPI_Offset", it.value.to_string()),
            _ => ("usize", it.value.to_string()),
        };
        let _ = writeln!(code, "/// `{0}`.\npub const {0}: {kind} = {value};", it.name);
    }
    code
}

/// The type that a function of the library has in C.
fn signature(function: &Function) -> String {
    // What follows `...` is for tools, which read it themselves.
    let fixed = Function { is_variadic: false, ..function.clone() };
    format!("/// `{0}`.\npub type {0} = {1};\n", fixed.name, function_type(&fixed))
}

/// What the standard calls the arguments of a function.
fn arguments(function: &Function) -> String {
    let names: Vec<&str> = function.parameters.iter().map(|it| it.name.as_str()).collect();
    format!("/// `{0}`.\npub const {0}: &[&str] = &{names:?};\n", function.name)
}

/// A function's type in Rust.
fn function_type(function: &Function) -> String {
    let mut list: Vec<String> = function.parameters.iter().map(parameter_type).collect();
    list.extend(function.is_variadic.then(|| "...".to_owned()));
    let result = match function.result.as_str() {
        "void" => String::new(),
        result => format!(" -> {}", plain_type(result)),
    };
    format!("unsafe extern \"C\" fn({}){result}", list.join(", "))
}

/// A parameter's type in Rust: arrays and functions are pointers, as in C.
fn parameter_type(parameter: &Parameter) -> String {
    let kind = parameter.kind.as_str();
    let (kind, is_const) = match kind.strip_prefix("const ") {
        Some(kind) => (kind, true),
        None => (kind, false),
    };
    let name = kind.trim_end_matches(['*', ' ']);
    let mut stars = kind.len() - kind.trim_end_matches('*').len();
    if name.trim_end_matches("_c").ends_with("_function") {
        return format!("Option<{name}>");
    }
    let mut typed = plain_type(name);
    match parameter.suffix.as_str() {
        "" => {}
        "[]" => stars += 1,
        "[][3]" => (typed, stars) = (format!("[{typed}; 3]"), stars + 1),
        suffix => panic!("an array {suffix} is new"),
    }
    for star in 0..stars {
        let pointer = if star == 0 && is_const { "*const" } else { "*mut" };
        typed = format!("{pointer} {typed}");
    }
    typed
}

/// A type that is no pointer.
fn plain_type(name: &str) -> String {
    match name {
        "int" | "char" | "void" => format!("::std::ffi::c_{name}"),
        "double" => "f64".to_owned(),
        name => name.to_owned(),
    }
}

/// The functions that are left.
fn unsupported(all: &[Function], exported: &BTreeSet<String>) -> String {
    let mut code = String::from("crate::export::unsupported! {\n");
    for function in all.iter().filter(|it| !exported.contains(&it.name)) {
        assert_eq!(function.result, "int", "{} cannot return an error", function.name);
        let _ = writeln!(code, "    {}", function.name);
    }
    code + "}\n"
}
