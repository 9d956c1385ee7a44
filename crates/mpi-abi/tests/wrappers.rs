//! What the compilers' wrappers say and do, for those that build by them.

mod prefix;

use std::fs;
use std::process::{Command, Output, Stdio};

use prefix::{Installed, root, run};

/// A wrapper of a tree. By the shell: a file that was just written may be open in a child of
/// another test.
fn wrapper(tree: &Installed, name: &str) -> Command {
    let mut command = Command::new("sh");
    command.arg(tree.path("bin").join(name)).current_dir(tree.place()).stdin(Stdio::null());
    for variable in ["MPICC_CC", "OMPI_CC", "MPICH_CC", "MPIFORT_FC", "OMPI_FC", "MPICH_FC"] {
        command.env_remove(variable);
    }
    command
}

/// What it prints, and what it complains of.
fn told(command: &mut Command) -> (bool, String, String) {
    let Output { status, stdout, stderr } = command.output().expect("there is a shell");
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).trim().to_owned();
    (status.success(), text(stdout), text(stderr))
}

/// What a wrapper answers.
fn said(tree: &Installed, name: &str, argument: &str) -> String {
    let (is_good, out, err) = told(wrapper(tree, name).arg(argument));
    assert!(is_good && err.is_empty(), "{name} {argument}: {err}");
    out
}

#[test]
fn all_that_a_wrapper_says_of_its_command_is_the_same_truth() {
    let tree = Installed::new();
    for name in ["mpicc", "mpicxx", "mpifort"] {
        let said = |what: &str| said(&tree, name, what);
        let [command, compile, link] =
            ["command", "compile", "link"].map(|what| said(&format!("-showme:{what}")));
        // Whoever knows MPICH drops the first word, which is the compiler.
        let whole = format!("{command} {compile} {link}");
        assert_eq!([said("-show"), said("-link_info")], [whole.clone(), whole]);
        assert_eq!(said("-compile_info"), format!("{command} {compile}"));
        let words = |of: &str, flag: &str| {
            let mut words: Vec<String> = of
                .split(' ')
                .filter_map(|word| Some(word.strip_prefix(flag)?.to_owned()))
                .collect();
            words.sort();
            words
        };
        for (what, flag, of) in
            [("incdirs", "-I", &compile), ("libdirs", "-L", &link), ("libs", "-l", &link)]
        {
            assert_eq!(words(&said(&format!("-showme:{what}")), ""), words(of, flag), "{name}");
        }
        // Build systems drop what they do not know.
        let is_known = |word: &str| ["-L", "-l", "-W"].iter().any(|known| word.starts_with(known));
        assert!(link.split(' ').all(is_known), "{link}");
        // Meson seeks three numbers, each behind a dot.
        let version = said("-showme:version");
        let number = version.rsplit(' ').next().expect("a word");
        assert!(number.split('.').filter(|part| part.parse::<u32>().is_ok()).count() == 3);
    }
}

#[test]
fn a_compilers_modules_are_in_one_place_by_whatever_name_it_is_called() {
    let tree = Installed::new();
    let (_, path, _) = told(Command::new("sh").args(["-c", "command -v gfortran"]));
    let place = |compiler: &str| {
        let mut wrapper = wrapper(&tree, "mpifort");
        told(wrapper.env("MPICH_FC", compiler).arg("-showme:incdirs")).1
    };
    let plain = place("gfortran");
    assert!(plain.contains("/lib/mpi-modules/"), "{plain}");
    assert_eq!(place(&path), plain);
    assert_ne!(place("gfortran -O1"), plain, "its further words count");
}

#[test]
fn where_no_modules_can_be_kept_mpifort_says_why_a_program_has_none() {
    let tree = Installed::new();
    fs::write(tree.path("lib/mpi-modules"), "no folder").expect("a file");
    fs::write(tree.path("plain.f90"), "end\n").expect("a file");
    fs::write(tree.path("modern.f90"), "use mpi_f08\nend\n").expect("a file");
    let compiled = |source: &str| {
        let mut wrapper = wrapper(&tree, "mpifort");
        told(wrapper.args(["-c", source]).env("XDG_CACHE_HOME", tree.path("lib/libmpi_abi.so")))
    };
    assert_eq!(compiled("plain.f90"), (true, String::new(), String::new()));
    let (is_good, _, complaint) = compiled("modern.f90");
    let reason = "mpifort: the modules mpi and mpi_f08 are missing: neither ";
    assert!(!is_good && complaint.lines().last().unwrap().starts_with(reason), "{complaint}");
}

#[test]
fn what_compilers_make_of_types_is_linked_whatever_language_files_are_said_to_be_in() {
    let tree = Installed::new();
    let source = "class(*), allocatable :: it\nallocate (it, source=MPI_COMM_WORLD)\n\
                  print '(i0)', storage_size(it)\nend\n";
    fs::write(tree.path("types.txt"), format!("use mpi_f08\n{source}")).expect("a file");
    let program = tree.build("mpifort", "types", &["-x", "f95"], &[tree.path("types.txt")]);
    assert_eq!(run(program).out, "32\n");
}

#[test]
fn a_wrapper_without_a_file_links_nothing_and_one_with_a_program_to_read_does() {
    let tree = Installed::new();
    for arguments in [&[][..], &["-O2"], &["-v", "-help"]] {
        let (_, _, complaint) = told(wrapper(&tree, "mpicc").args(arguments));
        assert!(!complaint.contains("main"), "{arguments:?}: {complaint}");
    }
    let source = fs::File::open(root().join("crates/mpi-abi/tests/programs/info.c"));
    let (include, program) = (root().join("crates/mpi-abi/tests/programs"), tree.path("read"));
    let mut wrapper = wrapper(&tree, "mpicc");
    wrapper.args(["-xc", "-", "-o"]).arg(&program).arg("-I").arg(include);
    let (is_good, _, complaint) = told(wrapper.stdin(source.expect("it is there")));
    assert!(is_good, "{complaint}");
    assert_eq!(run(program).out, "all good\n");
}

#[test]
fn the_compiler_can_be_named_as_mpich_has_it() {
    let tree = Installed::new();
    for (name, flag) in [
        ("mpicc", "-cc=gcc"),
        ("mpicxx", "-cxx=gcc"),
        ("mpifort", "-fc=gcc"),
        ("mpifort", "-f90=gcc"),
        ("mpifort", "-f77=gcc"),
    ] {
        let shown = told(wrapper(&tree, name).args(["-show", flag, "-c", "a.c"])).1;
        assert!(shown.starts_with("gcc -c a.c -I"), "{shown}");
    }
}
