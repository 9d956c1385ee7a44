//! Programs in C, C++ and Fortran, compiled with our wrappers and run alone.

mod prefix;

use prefix::{Installed, compile, run, run_with};

/// All that a compiler can find fault with.
const STRICT: [&str; 4] = ["-Wall", "-Wextra", "-pedantic", "-Werror"];

#[test]
fn a_function_that_is_missing_returns_its_error_class_and_says_so_once() {
    let tree = Installed::new();
    for (wrapper, source, language) in
        [("mpicc", "missing.c", "-std=c99"), ("mpicxx", "missing.cc", "-std=c++11")]
    {
        let flags = [&STRICT[..], &[language]].concat();
        let ran = run(compile(&tree, wrapper, source, &flags));
        assert_eq!((ran.status, ran.out.as_str()), (Some(0), "55 55 55\n"), "{}", ran.err);
        let said: Vec<&str> = ran.err.lines().collect();
        assert_eq!(said.len(), 2, "{}", ran.err);
        assert!(said[0].contains("MPI_Comm_join") && said[0].ends_with("  [N500]"), "{}", ran.err);
        assert!(said[1].contains("MPI_Open_port"), "{}", ran.err);
    }
}

#[test]
fn a_tools_function_goes_before_the_librarys_and_calls_it() {
    let tree = Installed::new();
    let ran = run(compile(&tree, "mpicc", "tool.c", &STRICT));
    assert_eq!((ran.status, ran.out.as_str()), (Some(0), "seen 1, version 5.0\n"), "{}", ran.err);
}

#[test]
fn an_argument_that_is_missing_ends_the_program_with_one_message() {
    let tree = Installed::new();
    let ran = run(compile(&tree, "mpicc", "fatal.c", &STRICT));
    assert_eq!((ran.status, ran.out.as_str()), (Some(13), ""));
    assert_eq!(
        ran.err,
        "muster: MPI_Get_version (argument version) failed: MPI_ERR_ARG: an argument that must be \
         an address is null  [E501]\n"
    );
}

/// Programs that look at everything themselves.
#[test]
fn what_needs_no_other_rank_is_as_the_standard_says() {
    let tree = Installed::new();
    for source in ["environment.c", "info.c", "attribute.c", "errhandler.c"] {
        let ran = run(compile(&tree, "mpicc", source, &STRICT));
        let got = (ran.status, ran.out.as_str(), ran.err.as_str());
        assert_eq!(got, (Some(0), "all good\n", ""), "{source}");
    }
}

#[test]
fn a_program_in_fortran_finds_its_subroutines_and_what_stands_for_no_argument() {
    let tree = Installed::new();
    let program = compile(&tree, "mpifort", "alone.f", &["-Wall", "-Werror"]);
    let ran = run(&program);
    assert_eq!((ran.status, ran.out.as_str(), ran.err.as_str()), (Some(0), "all good\n", ""));
    let tool = compile(&tree, "mpicc", "preloaded.c", &["-shared", "-fPIC"]);
    let ran = run_with(&program, &[("LD_PRELOAD", tool.as_os_str())]);
    let got = (ran.status, ran.out.as_str(), ran.err.as_str());
    assert_eq!(got, (Some(0), "all good\n", "seen\n"), "a tool sees Fortran's calls");
}

#[test]
fn a_program_whose_reals_are_made_wider_knows_the_time() {
    let tree = Installed::new();
    let ran = run(compile(&tree, "mpifort", "wider.f", &["-fdefault-real-8"]));
    assert_eq!((ran.status, ran.out.as_str()), (Some(0), "all good\n"), "{}", ran.err);
}
