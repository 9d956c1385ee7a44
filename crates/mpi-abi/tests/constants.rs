//! What a program is compiled with: constants are numbers in programs and in libraries that others
//! have built, so each is what all others have (`abi.txt`), and so are the places in a status.

mod prefix;

use std::collections::BTreeMap;
use std::fmt::Write;

use muster_mpi_standard::constants;
use prefix::{Installed, run};

/// The values that all libraries have.
fn listed() -> BTreeMap<&'static str, i64> {
    let lines = include_str!("abi.txt").lines().filter(|line| !line.starts_with('#'));
    let pair = |line: &'static str| {
        let (name, value) = line.split_once(' ').expect("a name and a value");
        (name, value.parse().expect("a number"))
    };
    lines.map(pair).collect()
}

/// What a program in C prints.
fn printed_by(source: &str) -> String {
    let tree = Installed::new();
    let path = tree.path("source.c");
    std::fs::write(&path, source).expect("the program can be written");
    let program = tree.build("mpicc", "program", &[], &[path]);
    run(program).out
}

#[test]
fn each_constant_of_the_header_has_the_value_that_it_has_in_other_libraries() {
    let listed = listed();
    let mut source = "#include <mpi.h>\n#include <stdio.h>\nint main(void) {\n".to_owned();
    for name in listed.keys() {
        let _ = writeln!(source, "    printf(\"{name} %lld\\n\", (long long)({name}));");
    }
    source += "    return 0;\n}\n";
    let printed = printed_by(&source);
    let found: BTreeMap<&str, i64> = printed
        .lines()
        .map(|line| line.split_once(' ').expect("a name and a value"))
        .map(|(name, value)| (name, value.parse().expect("a number")))
        .collect();
    assert_eq!(found.len(), listed.len(), "each is printed");
    let wrong: Vec<_> = listed.iter().filter(|(name, value)| found[*name] != **value).collect();
    assert!(wrong.is_empty(), "the standard's values are {wrong:?}");
}

#[test]
fn the_librarys_table_has_each_constant_of_the_standard_and_no_other() {
    let listed = listed();
    let all: Vec<_> = constants().into_iter().flat_map(|section| section.items).collect();
    let table: BTreeMap<&str, i64> = all.iter().map(|it| (it.name.as_str(), it.value)).collect();
    let missing: Vec<_> = listed.iter().filter(|(name, _)| !table.contains_key(*name)).collect();
    let surplus: Vec<_> = table.iter().filter(|(name, _)| !listed.contains_key(*name)).collect();
    assert!(missing.is_empty() && surplus.is_empty(), "missing {missing:?}, surplus {surplus:?}");
    assert_eq!(table, listed);
}

#[test]
fn a_status_and_the_integers_lie_in_memory_as_in_other_libraries() {
    let source = "#include <mpi.h>\n#include <stddef.h>\n#include <stdio.h>\nint main(void) {\n\
        printf(\"%zu %zu %zu %zu %zu \", sizeof(MPI_Status), offsetof(MPI_Status, MPI_SOURCE),\n\
        offsetof(MPI_Status, MPI_TAG), offsetof(MPI_Status, MPI_ERROR), sizeof(MPI_Comm));\n\
        printf(\"%zu %zu %zu\", sizeof(MPI_Aint), sizeof(MPI_Offset), sizeof(MPI_Count));\n\
        printf(\" %zu\", sizeof(MPI_Fint));\nreturn 0;\n}\n";
    assert_eq!(printed_by(source), "32 0 4 8 8 8 8 8 4");
}
