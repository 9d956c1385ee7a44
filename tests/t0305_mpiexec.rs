//! `mpiexec` for those who come from Open MPI or MPICH: their flags, their ways to place ranks,
//! their programs.

mod cluster;
mod mpi;

use cluster::Cluster;
use mpi::Mpi;
use std::process::Command;

/// What the ranks of `tests/mpi/where.c` printed, in their order.
fn ranks(cluster: &Cluster, program: &str, words: &str) -> Vec<String> {
    let words: Vec<&str> =
        words.split(' ').map(|w| if w == "WHERE" { program } else { w }).collect();
    let done = cluster.muster(&[&["mpiexec"], &words[..]].concat()).run().without_waits();
    assert_eq!((done.code, &*done.err), (0, ""), "{words:?}");
    let mut lines: Vec<String> = done.out.lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

/// The node of each rank.
fn nodes(cluster: &Cluster, program: &str, words: &str) -> String {
    let lines = ranks(cluster, program, words);
    let node = |line: &String| line.split(' ').nth(2).unwrap_or_default().to_owned();
    lines.iter().map(node).collect::<Vec<_>>().join(" ")
}

#[test]
fn without_a_cluster_all_ranks_run_on_one_node_and_nothing_is_left() {
    let mpi = Mpi::installed();
    let program = mpi.program("where");
    let cluster = Cluster::none("t0305alone");
    assert_eq!(nodes(&cluster, &program, "-n 5 WHERE"), "n0 n0 n0 n0 n0");
    assert_eq!(nodes(&cluster, &program, "-host localhost:3 WHERE"), "n0 n0 n0");
    // As `muster run`, so that it can be told from the program's own status.
    let none = cluster.muster(&["--cluster", "nosuch", "mpiexec", "-n", "1", "true"]).run();
    none.code(125).says("E120");
    assert!(!cluster.directory().exists());
}

#[test]
fn a_node_is_filled_before_the_next_and_full_ones_are_shared() {
    let mpi = Mpi::installed();
    let program = &mpi.program("where");
    let cluster = Cluster::up("t0305fill", 3);
    let processors: usize =
        cluster.muster(&["cat", "/nodes/n0/cpus"]).run().ok().out.trim().parse().unwrap();
    let one_more = format!("-n {} WHERE", processors + 1);
    let expected = format!("{}n1", "n0 ".repeat(processors));
    assert_eq!(nodes(&cluster, program, &one_more), expected);
    assert_eq!(nodes(&cluster, program, "-np 4 -ppn 3 WHERE"), "n0 n0 n0 n1");
    assert_eq!(nodes(&cluster, program, "-n 3 --map-by node WHERE"), "n0 n1 n2");
    assert_eq!(nodes(&cluster, program, "--host n2:2,n1:2 WHERE"), "n2 n2 n1 n1");
    let all = nodes(&cluster, program, &format!("-n {} --oversubscribe WHERE", 3 * processors + 3));
    for node in ["n0", "n1", "n2"] {
        assert_eq!(all.matches(node).count(), processors + 1, "{all}");
    }
    let file = cluster.file("hosts", 0o600, "n2 slots=1\nn0 slots=1 # the old one\n");
    let words = format!("-machinefile {} WHERE", file.display());
    assert_eq!(nodes(&cluster, program, &words), "n2 n0");
    assert_eq!(nodes(&cluster, program, "-host n2:1,n1:3 WHERE"), "n2 n1 n1 n1");
    assert_eq!(nodes(&cluster, program, "-n 2 -host n2:1,n1:3 WHERE"), "n2 n1");
    // Of more hosts than ranks the first are used.
    assert_eq!(nodes(&cluster, program, "-n 2 -map-by node -host n2,n1,n0 WHERE"), "n2 n1");
}

#[test]
fn what_errors_do_until_the_program_says_it_the_command_line_can_say() {
    let mpi = Mpi::installed();
    let program = mpi.program("handler");
    let cluster = Cluster::up("t0305handler", 1);
    let ran = |words: &[&str]| {
        cluster.muster(&[&["mpiexec", "-n", "1"], words, &[&program]].concat()).run()
    };
    let flag = "-initial-errhandler";
    assert_eq!(ran(&[flag, "mpi_errors_return"]).ok().out, "mpi_errors_return: 1\n");
    ran(&[flag, "mpi_errors_abort"]).code(6).says("MPI_ERR_RANK");
    ran(&[]).code(6).says("MPI_ERR_RANK");
}

#[test]
fn several_programs_are_one_job_and_each_knows_its_own() {
    let mpi = Mpi::installed();
    let program = &mpi.program("where");
    let cluster = Cluster::up("t0305several", 2);
    let words = "-n 1 WHERE a'b : -n 2 -env COLOUR dark%red WHERE $HOME : -x COLOUR=blue WHERE";
    let lines = ranks(&cluster, program, words);
    let told: Vec<&str> = lines.iter().map(|line| line.split_once(" app ").unwrap().1).collect();
    assert_eq!(told, ["0 a'b", "1 $HOME dark%red", "1 $HOME dark%red", "2 blue"]);
    let words = "-genv COLOUR grey -n 1 WHERE a : -n 1 -env COLOUR red WHERE b : -n 1 WHERE c";
    for no_env in ["", "-genvnone "] {
        let lines = ranks(&cluster, program, &format!("{no_env}{words}"));
        let told: Vec<_> = lines.iter().map(|line| line.split_once(" app ").unwrap().1).collect();
        assert_eq!(told, ["0 a grey", "1 b red", "2 c grey"]);
    }
}

/// It did what the next one was to do.
#[test]
fn a_program_that_has_no_place_to_work_in_ends_the_job_whichever_it_is() {
    let cluster = Cluster::up("t0305nowhere", 1);
    let nowhere = ["-n", "1", "-wdir", "/no'such", "echo", "in"];
    let other = ["-n", "1", "sh", "-c", "[ \"$MUSTER_RANK\" = 0 ] || exec sleep 600"];
    for parts in [[&other[..], &nowhere, &other], [&other, &other, &nowhere]] {
        let done = cluster.muster(&[&["mpiexec"], &parts.join(&":")[..]].concat()).run().code(125);
        assert_eq!(done.out, "", "{done:?}");
        let said = "muster: /no'such: no working directory on n0  [E107, exit 125]";
        assert_eq!(done.err.lines().filter(|line| *line == said).count(), 1, "{done:?}");
    }
    cluster.down();
}

/// Programs are not copied on their way: what they look for beside themselves is there.
#[test]
fn a_program_runs_where_it_is_and_works_where_mpiexec_was_called() {
    let cluster = Cluster::up("t0305place", 2);
    let data = cluster.file("app/data", 0o600, "beside it\n");
    let script = "#!/bin/sh\ncat \"$(dirname \"$0\")/data\"; pwd\n";
    let program = cluster.file("app/tool", 0o700, script);
    let work = cluster.work().canonicalize().unwrap();
    let expected = format!("beside it\n{}\n", work.display());
    let done = cluster.muster(&["mpiexec", "-n", "1", "app/tool"]).run().ok();
    assert_eq!(done.out, expected, "{}", program.display());
    let app = data.parent().unwrap().canonicalize().unwrap();
    let done = cluster.muster(&["mpiexec", "-wdir", "app", "-n", "1", "./tool"]).run().ok();
    assert_eq!(done.out, format!("beside it\n{}\n", app.display()));
}

#[test]
fn what_means_nothing_here_is_said_once_and_what_is_unknown_starts_nothing() {
    let cluster = Cluster::none("t0305flags");
    let common = ["mpiexec", "--allow-run-as-root", "--mca", "btl", "self,tcp"];
    let done = cluster.muster(&[&common[..], &["--bind-to", "core", "-n", "2", "true"]].concat());
    let done = done.run();
    let said = "muster: left out, because it means nothing here: --mca, -bind-to core  [N112]\n";
    assert_eq!((done.code, &*done.err), (0, said));
    let done = cluster.muster(&[&common[..], &["-quiet", "-l", "echo", "x"]].concat()).run();
    assert_eq!((done.code, &*done.out, &*done.err), (0, "0: x\n", ""));
    let done = cluster.muster(&["mpiexec", "-frobnicate", "3", "true"]).run();
    let said =
        "muster: mpiexec: there is no flag -frobnicate. See: mpiexec --help  [E100, exit 2]\n";
    assert_eq!((done.code, &*done.err), (2, said));
    let done = cluster.muster(&["mpiexec", "-n", "2", "false"]).run();
    assert_eq!(done.code, 1);
}

/// What a command prints that must succeed.
fn said(command: &mut Command) -> String {
    let done = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let [out, err] = [done.stdout, done.stderr].map(|text| String::from_utf8(text).unwrap());
    assert!(done.status.success(), "{command:?}: {out}{err}");
    out
}

/// A program of `tests/mpi` in Fortran is right on one rank and on several.
fn is_right_in_fortran(name: &str, flags: &[&str]) {
    let mpi = Mpi::installed();
    let source = mpi::root().join(format!("tests/mpi/{name}.f90"));
    is_right_as_built(name, &mpi.built(name, flags, &[source]));
}

/// A program is right on one rank and on several.
fn is_right_as_built(name: &str, program: &str) {
    let cluster = Cluster::up(&format!("t0305{name}"), 2);
    for (nodes, ranks) in [("1", "1"), ("1", "4"), ("2", "3")] {
        let done = cluster.muster(&["run", "-N", nodes, "-n", ranks, program]).run().ok();
        assert_eq!(done.out, format!("ok {ranks}\n"));
    }
}

#[test]
fn fortran_programs_find_the_module_mpi() {
    is_right_in_fortran("ring", &["-Wall", "-Werror"]);
}

#[test]
fn the_module_mpi_has_the_types_of_fortran_2008_for_statuses_and_handles() {
    is_right_in_fortran("typed", &["-Wall", "-Werror"]);
}

#[test]
fn the_module_mpi_has_all_names_with_those_of_their_arguments_and_takes_what_programs_give() {
    is_right_in_fortran("named", &["-Wall", "-Werror"]);
}

#[test]
fn what_a_program_in_fortran_stores_before_it_starts_a_request_is_sent() {
    is_right_in_fortran("kept", &["-Wall", "-Werror", "-O2"]);
}

#[test]
fn the_module_mpi_takes_no_call_without_its_error_code() {
    let mpi = Mpi::installed();
    let mut wrapper = Command::new("sh");
    wrapper.arg(mpi.place().join("bin/mpifort")).arg("-fsyntax-only");
    let done = wrapper.arg(mpi::root().join("tests/mpi/forgets.f90")).output().unwrap();
    let told = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(!done.status.success() && told.contains("ierror"), "{told}");
}

#[test]
fn fortran_2008_has_types_for_handles_and_may_leave_error_codes_out() {
    is_right_in_fortran("modern", &["-Wall", "-Werror"]);
}

#[test]
fn gfortran_is_known_by_any_name_and_before_version_10_without_what_it_did_not_know() {
    let mpi = Mpi::installed();
    let cluster = Cluster::none("t0305gfortran");
    let shown = |compiler: &str| {
        let mut wrapper = Command::new("sh");
        wrapper.arg(mpi.place().join("bin/mpifort")).arg("-show").env("MPIFORT_FC", compiler);
        said(&mut wrapper)
    };
    let another = "#!/bin/sh\nexec gfortran \"$@\"\n";
    let older = "#!/bin/sh\n\
                 case \"$*\" in\n\
                 --version) echo 'GNU Fortran (SUSE Linux) 7.5.0'; exit ;;\n\
                 *-fallow-argument-mismatch*) exit 1 ;;\n\
                 esac\n\
                 exec gfortran \"$@\"\n";
    // It takes whatever it is given, and is no gfortran.
    let other = "#!/bin/sh\n\
                 [ \"$1\" != --version ] || exec echo 'flang version 19.1.7'\n\
                 exec gfortran \"$@\"\n";
    let all = [("f95", another, true), ("gfortran-7", older, false), ("flang", other, false)];
    // What is found out the second time is what was known.
    for (name, text, knows) in all.repeat(2) {
        let compiler = cluster.file(name, 0o700, text);
        let shown = shown(compiler.to_str().unwrap());
        assert_eq!(shown.contains("-fallow-argument-mismatch"), knows, "{name}: {shown}");
    }
}

#[test]
fn attributes_are_right_in_fortran() {
    is_right_in_fortran("attributes", &[]);
}

#[test]
fn what_one_language_has_set_as_an_attribute_the_other_finds_as_the_standard_says() {
    let mpi = Mpi::installed();
    let of_c = mpi.place().join("mixed.o").display().to_string();
    let folder = mpi::root().join("tests/mpi");
    let source = folder.join("mixed.c").display().to_string();
    let [include, _] = mpi.flags();
    compiled(&["-std=c99", "-Wall", "-Wextra", "-Werror", "-c", &source, &include, "-o", &of_c]);
    let program = mpi.built("mixed", &[], &[folder.join("mixed.f90"), of_c.into()]);
    is_right_as_built("mixed", &program);
}

#[test]
fn libraries_in_fortran_that_are_loaded_for_one_caller_each_can_leave_arguments_out() {
    let mpi = Mpi::installed();
    let folder = mpi::root().join("tests/mpi");
    let library = |name: &str, by: &[&str]| {
        let flags = [&["-shared", "-fPIC", "-cpp"], by].concat();
        mpi.built(name, &flags, std::slice::from_ref(&folder.join("private.f90")))
    };
    let [one, other] = ["one.so", "other.so"].map(|name| library(name, &[]));
    let modern = library("modern.so", &["-DBY=mpi"]);
    let program = mpi.place().join("private").display().to_string();
    let source = folder.join("private.c").display().to_string();
    compiled(&["-std=c99", "-Wall", "-Wextra", "-Werror", &source, "-ldl", "-o", &program]);
    let cluster = Cluster::up("t0305private", 1);
    for (one, other) in [(&one, &other), (&one, &modern), (&modern, &other)] {
        for ranks in ["1", "3"] {
            let done = cluster.muster(&["run", "-n", ranks, &program, one, other]).run().ok();
            assert_eq!(done.out, format!("ok {ranks}\n"));
        }
    }
}

#[test]
fn libraries_in_fortran_that_bind_their_symbols_locally_can_leave_arguments_out() {
    let mpi = Mpi::installed();
    let folder = mpi::root().join("tests/mpi");
    let hidden = mpi.place().join("hidden.map");
    std::fs::write(&hidden, "{ global: right_; local: *; };\n").unwrap();
    let hidden = format!("-Wl,--version-script={}", hidden.display());
    let symbolic = "-Wl,-Bsymbolic";
    let cluster = Cluster::up("t0305bound", 1);
    let all: [(&[&str], &str); 5] = [
        (&["-DBY=mpi_f08"], symbolic),
        (&["-DBY=mpi_f08"], &hidden),
        (&["-DBY=mpi"], symbolic),
        (&["-DBY=mpi"], &hidden),
        // Nobody finds a common block that is hidden.
        (&[], symbolic),
    ];
    for (number, (by, bound)) in all.into_iter().enumerate() {
        let flags = [&["-shared", "-fPIC", "-cpp", bound], by].concat();
        let library = format!("libbound{number}.so");
        let library = mpi.built(&library, &flags, &[folder.join("bound.f90")]);
        let sources = [folder.join("binds.f90"), library.into()];
        let program = mpi.built(&format!("binds{number}"), &[], &sources);
        let done = cluster.muster(&["run", "-n", "3", &program]).run().ok();
        assert_eq!(done.out, "ok 3\n", "{by:?} {bound}");
    }
}

#[test]
fn subroutines_that_are_unlike_their_c_functions_and_removed_names_are_right_in_fortran() {
    is_right_in_fortran("names", &[]);
}

#[test]
fn the_lesson_of_the_ring_runs_as_it_says() {
    let mpi = Mpi::installed();
    let lesson = mpi::root().join("examples/02-ring");
    let flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-O2"];
    let ring = mpi.built("ring", &flags, &[lesson.join("ring.c")]);
    let cluster = Cluster::up("t0305ring", 2);
    let tells = std::fs::read_to_string(lesson.join("README.md")).unwrap();
    for (nodes, ranks, sum) in [("1", "4", "6"), ("2", "5", "10")] {
        let done = cluster.muster(&["run", "-N", nodes, "-n", ranks, &ring, "10"]).run().ok();
        let came = format!("the token came back as {sum}");
        assert!(done.out.lines().any(|line| line == came), "{}", done.out);
        assert!(done.out.contains("10 rounds, "), "{}", done.out);
        assert!(ranks != "4" || tells.contains(&came), "the lesson shows something else");
    }
    let alone = cluster.muster(&["mpiexec", &ring]).run().ok();
    assert!(alone.out.contains("a ring needs two ranks"), "{}", alone.out);
}

#[test]
fn cmake_finds_compilers_library_and_launcher() {
    let mpi = Mpi::installed();
    let cluster = Cluster::none("t0305cmake");
    let text = "cmake_minimum_required(VERSION 3.12)\n\
                project(probe C CXX Fortran)\n\
                find_package(MPI REQUIRED COMPONENTS C CXX Fortran)\n\
                if(NOT MPI_Fortran_HAVE_F90_MODULE)\n\
                message(FATAL_ERROR \"no use mpi\")\n\
                endif()\n\
                add_executable(where SOURCE)\n\
                target_link_libraries(where MPI::MPI_C)\n\
                enable_testing()\n\
                add_test(NAME where COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} 3\n \
                ${MPIEXEC_PREFLAGS} $<TARGET_FILE:where> ${MPIEXEC_POSTFLAGS})\n";
    let source = mpi::root().join("tests/mpi/where.c").canonicalize().unwrap();
    cluster.file("CMakeLists.txt", 0o600, text.replace("SOURCE", &source.display().to_string()));
    // Its copies of the wrappers are the first in PATH.
    let path = std::env::var("PATH").unwrap_or_default();
    let path = format!("{}:{path}", mpi.place().join("bin").display());
    let step = |program: &str, words: &[&str]| {
        let mut command = Command::new(program);
        command.args(words).current_dir(cluster.work()).env("PATH", &path);
        said(command.env("MUSTER_RUNTIME", cluster.runtime()))
    };
    let found = step("cmake", &["-B", "b", "."]);
    assert!(found.contains("Found MPI_Fortran") && found.contains("version \"5.0\""), "{found}");
    step("cmake", &["--build", "b"]);
    let run = step("ctest", &["--test-dir", "b", "--verbose"]);
    assert!(run.contains("01 on n0 app 0"), "{run}");
}

/// Compiles with the system's compiler, which knows nothing of any MPI.
fn compiled(words: &[&str]) {
    said(Command::new("cc").args(words));
}

#[test]
fn a_program_for_the_standard_abi_finds_the_library_without_being_told_where() {
    let mpi = Mpi::installed();
    let cluster = Cluster::up("t0305bare", 2);
    let program = cluster.work().join("where").display().to_string();
    let source = mpi::root().join("tests/mpi/where.c").display().to_string();
    let [include, lib] = mpi.flags();
    compiled(&[&source, &include, &lib, "-lmpi_abi", "-o", &program]);
    let command = ["run", "-N", "2", "-n", "3", &program];
    let done = cluster.muster(&command).run().ok();
    let mut lines: Vec<&str> = done.out.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, ["00 on n0 app 0", "01 on n0 app 0", "02 on n1 app 0"]);
}

#[test]
fn a_program_that_is_linked_with_another_mpi_is_refused_unless_it_is_alone() {
    let cluster = Cluster::none("t0305foreign");
    let work = cluster.work().display().to_string();
    let source = cluster.file("theirs.c", 0o600, "int main(void) { return 0; }\n");
    let source = source.display().to_string();
    let empty = cluster.file("empty.c", 0o600, "\n").display().to_string();
    // A program of this name that needs a library of that one.
    let linked = |program: &str, library: &str| {
        let (program, path) = (format!("{work}/{program}"), format!("{work}/{library}"));
        compiled(&["-shared", &format!("-Wl,-soname,{library}"), &empty, "-o", &path]);
        let rpath = format!("-Wl,-rpath,{work}");
        compiled(&[&source, "-Wl,--no-as-needed", &path, &rpath, "-o", &program]);
        program
    };
    let program = linked("theirs", "libmpi.so.40");
    linked("older", "libmpi_abi.so.0");
    linked("ours", "libmpi_abi.so.1");
    let theirs = "theirs is linked with Open MPI (libmpi.so.40), so its 2 ranks would not know \
                  of each other";
    let older = "older is linked with another version of the standard ABI (libmpi_abi.so.0)";
    for (command, said) in [
        (vec!["run", "-n", "2", "./theirs"], theirs),
        (vec!["mpiexec", "-n", "2", "./theirs"], theirs),
        (vec!["mpiexec", "-n", "1", "true", ":", "-n", "1", "./theirs"], theirs),
        (vec!["run", "-n", "2", "./older"], older),
    ] {
        let done = cluster.muster(&command).run();
        assert_eq!(done.code, 126, "{command:?}: {}", done.err);
        assert!(
            done.err.contains(said) && done.err.ends_with("[E502, exit 126]\n"),
            "{}",
            done.err
        );
    }
    cluster.muster(&["run", "-n", "2", "./ours"]).run().ok();
    cluster.muster(&["mpiexec", "-n", "1", "./theirs"]).run().ok();
    // Whoever means it can have it.
    cluster.muster(&["run", "-n", "2", "sh", "-c", &program]).run().ok();
}
