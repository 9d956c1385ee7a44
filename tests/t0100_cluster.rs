//! A cluster comes up, runs a job, tells of itself and goes without a trace.

mod cluster;

use cluster::Cluster;
use rustix::process::Signal;
use std::os::unix::fs::DirBuilderExt;
use std::time::{Duration, SystemTime};

#[test]
fn eight_nodes_run_a_job_and_nothing_remains() {
    let cluster = Cluster::up("t0100", 8);
    let said = cluster.muster(&["run", "-n", "32", "--label", "hostname"]).run().ok();
    let lines = said.sorted();
    assert_eq!(lines.len(), 32, "{lines:?}");
    let host = lines[0].split_once(": ").expect("a label").1;
    for rank in 0..32 {
        let line = format!("{rank:>2}: {host}");
        assert!(lines.iter().any(|l| l.trim() == line.trim()), "{line:?} in {lines:?}");
    }
    let nodes = cluster.json(&["nodes", "--json"]);
    assert_eq!(nodes["transport"], "unix");
    let listed = nodes["nodes"].as_array().expect("nodes");
    assert_eq!(listed.len(), 8);
    assert!(listed.iter().all(|node| node["state"] == "up" && node["cpus"].as_u64() > Some(0)));
    cluster.muster(&["up", "-N", "2"]).run().code(1).says("E124");
    cluster.down();
}

#[test]
fn an_embedded_run_leaves_nothing() {
    let cluster = Cluster::none("t0100e");
    let said = cluster.muster(&["run", "-n", "4", "sh", "-c", "echo $MUSTER_NODE"]).run().ok();
    assert_eq!(said.sorted(), ["n0", "n1", "n2", "n3"]);
    cluster.leftovers();
    cluster.muster(&["run", "-n", "3", "sh", "-c", "setsid sleep 600 & exit 7"]).run().code(7);
    cluster.leftovers();
    let said = cluster.muster(&["run", "-N", "2", "-n", "2", "cat"]).input("in\n").run().ok();
    assert_eq!(said.out, "in\n");
    cluster.leftovers();
}

/// All were listed as `exe`.
#[test]
fn daemons_are_listed_by_what_they_are() {
    let cluster = Cluster::up("t0100names", 2);
    for daemon in ["keeper", "manager", "strober", "n0", "n1"] {
        let name = format!("/proc/{}/comm", cluster.await_pid(daemon));
        let name = std::fs::read_to_string(name).expect("it runs");
        assert_eq!(name, format!("muster:{daemon}\n"));
    }
    cluster.down();
}

/// timeout(1) sends one to its child and one to the group that this is in: the second was taken for
/// somebody who does not want to wait.
#[test]
fn who_is_interrupted_twice_at_once_sees_all_go_that_was_begun() {
    let cluster = Cluster::none("t0100twice");
    let mut code = 0;
    // On an idle machine it may be up before.
    while code == 0 {
        let up = cluster.muster(&["up", "-N", "8"]).start();
        cluster.await_pid("keeper");
        // Both are there when it goes on.
        for signal in [Signal::STOP, Signal::INT, Signal::TERM, Signal::CONT] {
            up.signal(signal);
        }
        let said = up.wait();
        code = said.code;
        match code {
            0 => drop(cluster.muster(&["down"]).run().ok()),
            // The kernel chooses which comes first.
            130 | 143 => drop(said.says("nothing of the cluster was left running")),
            _ => panic!("it ends with {code}"),
        }
    }
    cluster.leftovers();
}

#[test]
fn a_cluster_is_said_to_be_up_where_that_cannot_be_printed() {
    let cluster = Cluster::none("t0100full");
    let said = cluster.muster(&["up", "-N", "1"]).after("exec > /dev/full").run().code(1);
    said.sentence("E140");
    said.says("cluster default is up, but standard output cannot be written");
    // Where nobody reads there is nobody to tell.
    cluster.muster(&["down"]).run().ok();
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let up = cluster.muster(&["up", "-N", "1"]).command.stdout(writer).status();
    assert!(up.expect("it runs").success());
    cluster.down();
}

/// Nobody knows its name, so nobody else would ever remove it.
#[test]
fn what_is_left_of_a_killed_run_goes_with_the_next_command_that_begins_or_ends_something() {
    let cluster = Cluster::up("t0100dead", 1);
    let left = cluster.runtime().join("run-1");
    for args in [&["run", "true"][..], &["up"], &["down"]] {
        std::fs::DirBuilder::new().mode(0o700).create(&left).unwrap();
        let long_ago = SystemTime::now() - Duration::from_secs(90);
        std::fs::File::open(&left).unwrap().set_modified(long_ago).unwrap();
        cluster.muster(args).run();
        assert!(!left.exists(), "{args:?}");
    }
    cluster.leftovers();
}

#[test]
fn two_clusters_are_side_by_side() {
    let cluster = Cluster::up("t0100two", 2);
    cluster.muster(&["--cluster", "b", "up", "-N", "3"]).run().ok();
    cluster.note("b");
    let there = |name: &str| {
        let args = ["--cluster", name, "run", "-n", "6", "sh", "-c", "echo $MUSTER_NODE"];
        cluster.muster(&args).run().ok().sorted().join(" ")
    };
    assert_eq!(there("default"), "n0 n0 n0 n1 n1 n1");
    assert_eq!(there("b"), "n0 n0 n1 n1 n2 n2");
    cluster.muster(&["down"]).run().ok();
    assert_eq!(there("b"), "n0 n0 n1 n1 n2 n2", "the other one goes on");
    cluster.muster(&["--cluster", "b", "down"]).run().ok();
    cluster.leftovers();
}
