//! `--bcast-libs`: the libraries that a program needs are found here as its loader would find them,
//! and its loader on the nodes finds those, whatever else is there.

mod cluster;

use cluster::Cluster;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// Compiles C in the cluster's working directory.
#[track_caller]
fn compile(cluster: &Cluster, name: &str, source: &str, args: &[&str]) -> PathBuf {
    let path = cluster.work().join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let from = cluster.file("source.c", 0o644, source);
    let mut cc = Command::new("cc");
    cc.current_dir(cluster.work()).args(["-o", name]).arg(from).args(args);
    let said = cc.output().expect("cc, which cargo xtask setup installs");
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    path
}

/// A library with one function that gives a number.
fn gives(cluster: &Cluster, at: &str, number: u32) -> PathBuf {
    let source = format!("int number(void) {{ return {number}; }}\n");
    compile(cluster, at, &source, &["-shared", "-fPIC"])
}

/// A program that prints what that function gives, with the flags to find it.
fn prints(cluster: &Cluster, at: &str, flags: &[&str]) -> PathBuf {
    let source = "#include <stdio.h>\n#include <stdlib.h>\nint number(void);\n\
                  int main(void) { const char *path = getenv(\"LD_LIBRARY_PATH\");\n\
                  printf(\"%d %s\\n\", number(), path ? path : \"-\"); return 0; }\n";
    compile(cluster, at, source, flags)
}

#[test]
fn libraries_and_those_that_they_need_travel_once() {
    let cluster = Cluster::up("t0192travel", 2);
    gives(&cluster, "lib/libtwo.so", 2);
    let one = "int number(void); int sum(void) { return number() + 1; }\n";
    let own = ["-shared", "-fPIC", "-Llib", "-ltwo", "-Wl,-rpath,$ORIGIN"];
    compile(&cluster, "lib/libone.so", one, &own);
    let source = "#include <stdio.h>\n#include <stdlib.h>\nint sum(void);\nint main(void) {\n\
                  printf(\"%d %s\\n\", sum(), getenv(\"LD_LIBRARY_PATH\")); return 0; }\n";
    let flags = ["-Llib", "-lone", "-Wl,-rpath,$ORIGIN/lib", "-Wl,--allow-shlib-undefined"];
    compile(&cluster, "prog", source, &flags);
    // The nodes have none of them where the program looks.
    let without = cluster.muster(&["run", "-N", "2", "./prog"]).run().code(127);
    assert!(without.err.contains("--bcast-libs  [E105, exit 127]"), "{without:?}");
    let run = |more: &[&str]| cluster.ran(&[&["-N", "2", "--bcast-libs"], more].concat());
    let (said, sent) = run(&["--env", "LD_LIBRARY_PATH=/usr/x", "./prog"]);
    assert!(sent > 0);
    for said in said {
        let paths = said.trim().strip_prefix("3 ").unwrap_or_else(|| panic!("{said}"));
        let (own, rest) = paths.split_once(':').expect("two directories");
        assert!(own.ends_with("/.libs") && rest.ends_with("/usr/x"), "{said}");
    }
    assert_eq!(run(&["./prog"]).1, 0, "all nodes have all of it");
    // Wherever it works, and if nothing of the environment goes along.
    let (said, _) = run(&["--no-env", "--chdir", "/usr", "./prog"]);
    // Behind it there is at most the node's own, for MPI.
    let is_own = |said: &String| said.split(':').skip(1).all(|path| path.trim().ends_with("/.mpi"));
    assert!(said.iter().all(|said| said.starts_with("3 /") && is_own(said)), "{said:?}");
    // What a script runs is named beside it.
    cluster.file("script", 0o755, "#!/bin/sh\nexec ./prog\n");
    assert!(run(&["--bcast", "prog", "./script"]).0[1].starts_with("3 /"));
    cluster.down();
}

#[test]
fn the_loaders_order_is_kept_and_what_is_for_another_processor_passed_over() {
    let cluster = Cluster::up("t0192order", 1);
    for (directory, number) in [("a", 1), ("b", 2), ("wrong", 3)] {
        gives(&cluster, &format!("{directory}/libnumber.so"), number);
    }
    let wrong = cluster.work().join("wrong/libnumber.so");
    let mut bytes = fs::read(&wrong).unwrap();
    (bytes[18], bytes[19]) = (183, 0);
    fs::write(&wrong, bytes).unwrap();
    let base = ["-La", "-lnumber", "-Wl,-rpath,$ORIGIN/a"];
    prints(&cluster, "first", &[&base[..], &["-Wl,--disable-new-dtags"]].concat());
    prints(&cluster, "last", &[&base[..], &["-Wl,--enable-new-dtags"]].concat());
    prints(&cluster, "bare", &base[..2]);
    for (library_path, program, number) in [
        ("b", "./first", "1 "),
        ("b", "./last", "2 "),
        ("", "./last", "1 "),
        ("wrong:b", "./bare", "2 "),
        ("wrong", "./last", "1 "),
    ] {
        let args = ["run", "--no-env", "--bcast-libs", program];
        let said = cluster.muster(&args).env("LD_LIBRARY_PATH", library_path).run().ok();
        assert!(said.out.starts_with(number), "{library_path} {program}: {said:?}");
    }
    cluster.down();
}

#[test]
fn a_library_that_is_not_here_is_told_before_anything_is_started() {
    let cluster = Cluster::none("t0192none");
    gives(&cluster, "lib/libnumber.so", 1);
    let own = ["-shared", "-fPIC", "-Llib", "-lnumber", "-Wl,--no-as-needed"];
    compile(
        &cluster,
        "lib/libmiddle.so",
        "int middle(void) { return 1; }\n",
        &[&own[4..], &own[..4]].concat(),
    );
    let flags = ["-Wl,--no-as-needed", "-Llib", "-lmiddle", "-Wl,-rpath,$ORIGIN/lib"];
    let allow = ["-Wl,--allow-shlib-undefined"];
    let source = "int main(void) { return 0; }\n";
    compile(&cluster, "prog", source, &[&flags[..], &allow].concat());
    fs::remove_file(cluster.work().join("lib/libnumber.so")).unwrap();
    let run = |args: &[&str]| cluster.muster(&[&["run", "--bcast-libs"], args].concat()).run();
    let said = run(&["-N", "2", "./prog"]).code(127).says("libnumber.so").says("libmiddle.so");
    said.sentence("E106");
    fs::remove_file(cluster.work().join("lib/libmiddle.so")).unwrap();
    run(&["./prog"]).code(127).says("./prog needs the shared library").sentence("E106");
    let mut cut = fs::read(cluster.work().join("prog")).unwrap();
    cut.truncate(100);
    cluster.file("cut", 0o755, cut);
    run(&["./cut"]).code(126).says("./cut: ").sentence("E103");
    run(&["hostname"]).code(2).says("hostname").sentence("E100");
    assert!(!cluster.runtime().exists(), "a cluster was started");
}

#[test]
fn a_c_library_that_is_too_old_is_told_as_that() {
    let cluster = Cluster::up("t0192old", 2);
    let source = "#include <stdio.h>\nint main(void) { puts(\"ran\"); return 0; }\n";
    let built = compile(&cluster, "new", source, &[]);
    let mut bytes = fs::read(&built).unwrap();
    let version = b"GLIBC_2.34\0";
    let at = bytes.windows(version.len()).position(|part| part == version).expect("it needs it");
    bytes[at + 6] = b'9';
    fs::write(&built, bytes).unwrap();
    for flags in [&[][..], &["--bcast-libs"]] {
        let args = [&["run", "-N", "2"], flags, &["./new"]].concat();
        let said = cluster.muster(&args).run().code(1).says("./new needs GLIBC_9.34");
        assert!(said.err.contains("  [E108, exit 1]") && said.out.is_empty(), "{said:?}");
    }
    cluster.down();
}

/// As the user writes it who comes from sbcast: the file is named, and then run.
#[test]
fn a_program_that_is_named_as_a_file_too_is_sent_once() {
    let cluster = Cluster::up("t0192named", 4);
    let mut program = b"#!/bin/sh\necho ran\nexit 0\n".to_vec();
    // No two chunks are the same, and no line ends.
    program.extend((program.len()..12 << 20).map(|at| (at >> 19) as u8 * 2 + 1));
    cluster.file("big12MB", 0o755, program);
    for told in [", 24 of 24 chunks)", ", 0 of 24 chunks)"] {
        let args = ["run", "-N", "4", "--timing", "--bcast", "big12MB", "./big12MB"];
        let said = cluster.muster(&args).run().ok().says(told);
        assert_eq!(said.out, "ran\n".repeat(4));
    }
    cluster.down();
}
