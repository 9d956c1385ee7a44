//! A cluster comes up, runs a job, tells of itself and goes without a trace.

mod cluster;

use cluster::Cluster;
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
