//! What the library is called, and which names it exports.

mod prefix;

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use muster_mpi_standard::{Type, constants, functions, types};

/// What a tool for object files prints of the library.
fn inspected(tool: &str, flag: &str) -> String {
    let done = Command::new(tool).arg(flag).arg(prefix::library()).output();
    let done = done.expect("binutils are installed");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8_lossy(&done.stdout).into_owned()
}

/// What the standard has removed and programs in Fortran call.
const OLDER: &str = "Address Type_extent Type_lb Type_ub Type_hvector Type_hindexed Type_struct \
                     Errhandler_create Errhandler_get Errhandler_set";

/// What only Fortran has, and what interfaces of its modules call.
fn of_fortran() -> Vec<String> {
    let statuses = ["F_sync_reg", "Status_f2f08", "Status_f082f"];
    let detaching = ["Buffer_detach", "Comm_detach_buffer", "Session_detach_buffer"]
        .into_iter()
        .flat_map(|name| [name.to_owned(), format!("{name}_c")]);
    let both = |what: &str, name: &str| [format!("{what}MPI_{name}"), format!("{what}PMPI_{name}")];
    let handles = types().into_iter().filter_map(|it| match it {
        Type::Handle { name, .. } if !name.starts_with("MPI_T_") => Some(name),
        _ => None,
    });
    let compared = handles.flat_map(|name| {
        ["same", "other"].map(|how| format!("muster_{how}_{}", name.replace("MPI_", "")))
    });
    let statuses = statuses.iter().flat_map(|name| both("", name));
    let detaching = detaching.flat_map(|name| both("muster_f08_", &name));
    statuses.chain(detaching).chain(compared).chain(["muster_sizeof".to_owned()]).collect()
}

#[test]
fn every_function_of_the_standard_is_exported_by_both_of_its_names_and_nothing_else() {
    let symbols = inspected("nm", "-D");
    let exported: BTreeSet<&str> =
        symbols.lines().filter_map(|line| line.split_once(" T ")).map(|(_, name)| name).collect();
    let all = functions().into_iter().flat_map(|section| section.items);
    let wanted: BTreeSet<String> =
        all.flat_map(|it| [format!("P{}", it.name), it.name.clone()]).collect();
    assert_eq!(wanted.len(), 2 * 664);
    let missing: Vec<_> = wanted.iter().filter(|name| !exported.contains(name.as_str())).collect();
    assert!(missing.is_empty(), "missing: {missing:?}");
    // The standard's callbacks are constants in C and subroutines in Fortran.
    let constants = constants().into_iter().flat_map(|section| section.items);
    let callbacks: Vec<String> =
        constants.filter(|it| it.kind.contains("_function")).map(|it| it.name).collect();
    let older = OLDER.split_whitespace().flat_map(|it| [format!("MPI_{it}"), format!("PMPI_{it}")]);
    let named = wanted.iter().cloned().chain(callbacks).chain(older).chain(of_fortran());
    let named: BTreeSet<String> = named.map(|it| it.to_lowercase()).collect();
    let is_fortran = |name: &str| name.strip_suffix('_').is_some_and(|name| named.contains(name));
    let surplus: Vec<_> =
        exported.iter().filter(|name| !wanted.contains(**name) && !is_fortran(name)).collect();
    assert!(surplus.is_empty(), "not of the standard: {surplus:?}");
    // Tools and handles as C has them are nothing for Fortran.
    let is_cs = |name: &str| {
        ["_toint", "_fromint", "_fortran_booleans"].iter().any(|it| name.ends_with(it))
            || name.contains("MPI_T_")
            || name.contains("Abi_set_fortran_info")
    };
    let lacks = |name: &&String| !exported.contains(format!("{}_", name.to_lowercase()).as_str());
    let missing: Vec<_> = wanted.iter().filter(|name| !is_cs(name)).filter(lacks).collect();
    assert!(missing.is_empty(), "missing in Fortran: {missing:?}");
    let of_fortran = of_fortran();
    let missing: Vec<_> = of_fortran.iter().filter(lacks).collect();
    assert!(missing.is_empty(), "missing for Fortran only: {missing:?}");
}

#[test]
fn programs_ask_for_the_library_by_the_standards_name() {
    let section = inspected("readelf", "-d");
    assert!(section.contains("[libmpi_abi.so.1]"), "{section}");
}

/// What the build has found that no source exports: the library says so when it is called.
const UNSUPPORTED: &str = include_str!(concat!(env!("OUT_DIR"), "/unsupported.rs"));

/// The words of the programs in C that the system tests run, and of what these include.
fn words_of_programs() -> BTreeSet<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/mpi");
    let entries = std::fs::read_dir(folder).expect("the programs can be listed");
    let paths = entries.map(|entry| entry.expect("the programs can be listed").path());
    let is_c =
        |path: &std::path::PathBuf| path.extension().is_some_and(|it| it == "c" || it == "h");
    let texts = paths.filter(is_c).map(|path| std::fs::read_to_string(path).expect("a program"));
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    texts
        .flat_map(|text| text.split(|it| !is_part(it)).map(str::to_owned).collect::<Vec<_>>())
        .collect()
}

#[test]
fn a_program_of_the_system_tests_calls_each_function_that_the_library_implements() {
    let all: Vec<String> =
        functions().into_iter().flat_map(|it| it.items).map(|it| it.name).collect();
    let unsupported: BTreeSet<&str> = UNSUPPORTED.split_whitespace().collect();
    assert!(all.iter().any(|name| unsupported.contains(name.as_str())), "it was understood");
    let words = words_of_programs();
    // A form with large counts has the same source as the other.
    let is_large =
        |name: &str| name.strip_suffix("_c").is_some_and(|it| all.iter().any(|n| n == it));
    let is_called = |name: &str| words.contains(name) || is_large(name);
    let never: Vec<_> = all
        .iter()
        .filter(|name| !unsupported.contains(name.as_str()) && !is_called(name))
        .collect();
    assert!(never.is_empty(), "no program of tests/mpi calls {never:?}");
}
