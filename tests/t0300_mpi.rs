//! MPI programs, as their authors wrote them: built with `mpicc`, run by `muster run`.

mod cluster;
#[path = "../crates/mpi-abi/tests/prefix/mod.rs"]
mod prefix;

use cluster::Cluster;
use prefix::Prefix;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Builds a program of `tests/mpi`.
fn built(prefix: &Prefix, name: &str) -> String {
    let (source, program) = (root().join(format!("tests/mpi/{name}.c")), prefix.path(name));
    let flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-O1", "-o"];
    let mut mpicc = Command::new(prefix.path("bin/mpicc"));
    let done = mpicc.args(flags).arg(&program).arg(source).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    program.to_str().unwrap().to_owned()
}

/// Runs a program on so many nodes and ranks; what it printed.
fn ran(cluster: &Cluster, nodes: &str, ranks: &str, command: &[&str]) -> String {
    let args = [&["run", "-N", nodes, "-n", ranks], command].concat();
    let done = cluster.muster(&args).run();
    assert_eq!((done.code, &*done.err), (0, ""), "{command:?} on {nodes} nodes, {ranks} ranks");
    done.out
}

/// Every program of a name is right on any number of ranks, on one node and on several.
fn is_right_everywhere(test: &str, name: &str) {
    let prefix = Prefix::new();
    let program = built(&prefix, name);
    let cluster = Cluster::up(test, 3);
    for (nodes, ranks) in [("1", "1"), ("1", "2"), ("1", "5"), ("2", "2"), ("3", "3"), ("3", "8")] {
        assert_eq!(ran(&cluster, nodes, ranks, &[&program]), format!("ok {ranks}\n"));
    }
}

#[test]
fn point_to_point_messages_are_right_on_one_node_and_on_several() {
    is_right_everywhere("t0300point", "point");
}

#[test]
fn collectives_are_right_on_one_node_and_on_several() {
    is_right_everywhere("t0300collectives", "collectives");
}

/// What Sweep3D must print for a deck: the line's first word, the second, how many of its digits,
/// and the third (`apps/sweep3d/checks.txt`).
fn checks(deck: &str) -> Vec<(String, f64, i32, String)> {
    let table = std::fs::read_to_string(root().join("apps/sweep3d/checks.txt")).unwrap();
    let lines = table.lines().filter(|line| !line.starts_with('#'));
    let words = lines.map(|line| line.split_whitespace().collect::<Vec<_>>());
    let of_deck = words.filter(|words| words.first() == Some(&deck));
    of_deck
        .map(|words| {
            let digits = words[3].parse().unwrap();
            (words[1].to_owned(), words[2].parse().unwrap(), digits, words[4].to_owned())
        })
        .collect()
}

#[test]
fn sweep3d_is_right_to_ten_digits_however_it_is_cut() {
    let prefix = Prefix::new();
    let program = prefix.path("sweep3d");
    let sources = std::fs::read_dir(root().join("apps/sweep3d")).unwrap();
    let sources = sources.map(|entry| entry.unwrap().path());
    let sources = sources.filter(|path| path.extension().is_some_and(|end| end == "c"));
    let mut mpicc = Command::new(prefix.path("bin/mpicc"));
    let done = mpicc.args(["-O2", "-o"]).arg(&program).args(sources).arg("-lm").output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let program = program.to_str().unwrap();
    let cluster = Cluster::up("t0300sweep", 2);
    for (deck, nodes, ranks, cut) in [
        ("50", "1", "1", ["1", "1"]),
        ("50", "1", "2", ["2", "1"]),
        ("50", "2", "4", ["2", "2"]),
        ("50", "1", "6", ["2", "3"]),
        ("50", "2", "16", ["4", "4"]),
        ("reflective", "1", "4", ["2", "2"]),
        ("s4p0", "2", "2", ["1", "2"]),
        ("converge", "1", "3", ["3", "1"]),
    ] {
        let at = root().join("apps/sweep3d/decks").join(deck);
        let command = [program, at.to_str().unwrap(), cut[0], cut[1]];
        let printed = ran(&cluster, nodes, ranks, &command);
        for (name, value, digits, third) in checks(deck) {
            let mut lines = printed.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
            let line = lines.find(|words| words.first() == Some(&&*name));
            let line = line.unwrap_or_else(|| panic!("no line '{name}' in {printed}"));
            let told: f64 = line[1].parse().unwrap();
            let off = (told - value).abs() / value.abs();
            assert!(off <= 10_f64.powi(-digits), "{deck}, {ranks} ranks, {name}: {told}, {value}");
            assert!(third == "-" || line[2] == third, "{deck}, {ranks} ranks, {name}: {line:?}");
        }
    }
}
