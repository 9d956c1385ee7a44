//! What the library is called, and which names it exports.

mod prefix;

use std::collections::BTreeSet;
use std::process::Command;

use muster_mpi_standard::{constants, functions};

/// What a tool for object files prints of the library.
fn inspected(tool: &str, flag: &str) -> String {
    let done = Command::new(tool).arg(flag).arg(prefix::library()).output();
    let done = done.expect("binutils are installed");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8_lossy(&done.stdout).into_owned()
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
        constants.filter(|it| it.kind.ends_with("_function*")).map(|it| it.name).collect();
    let is_fortran = |name: &str| {
        let is_made = |it: &String| name.strip_suffix('_') == Some(it.to_lowercase().as_str());
        wanted.iter().chain(&callbacks).any(is_made)
    };
    let surplus: Vec<_> =
        exported.iter().filter(|name| !wanted.contains(**name) && !is_fortran(name)).collect();
    assert!(surplus.is_empty(), "not of the standard: {surplus:?}");
    // Those that Sweep3D and the NAS benchmarks call.
    for name in "init finalize comm_rank comm_size send recv bcast allreduce barrier wtime irecv \
                 isend wait waitall reduce alltoall alltoallv comm_split comm_dup abort \
                 cart_create type_contiguous type_commit file_open file_write_at"
        .split_whitespace()
    {
        assert!(exported.contains(format!("mpi_{name}_").as_str()), "mpi_{name}_");
    }
}

#[test]
fn programs_ask_for_the_library_by_the_standards_name() {
    let section = inspected("readelf", "-d");
    assert!(section.contains("[libmpi_abi.so.1]"), "{section}");
}
