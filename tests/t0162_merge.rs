//! Views that merge several clusters into one.

mod cluster;

use cluster::{Call, Cluster, until};
use muster_base::nodeset;
use serde_json::Value;
use std::collections::BTreeSet;
use std::os::unix::fs::DirBuilderExt;

/// Clusters `default` of two nodes and `big` of three, and a view `all` of both.
fn both(test: &str) -> Cluster {
    let cluster = Cluster::up(test, 2);
    cluster.muster(&["--cluster", "big", "up", "-N", "3"]).run().ok();
    cluster.note("big");
    cluster.muster(&["view", "create", "all", "--merge", "big"]).run().ok();
    cluster
}

fn all(cluster: &Cluster, words: &[&str]) -> Call {
    cluster.muster(&[&["--view", "all"], words].concat())
}

fn list(cluster: &Cluster, command: &[&str], key: &str) -> Vec<Value> {
    let said = all(cluster, &[command, &["--json"]].concat()).run().ok().json();
    said[key].as_array().unwrap().clone()
}

/// Takes down `big`, and then the one whose views these are.
fn down(cluster: Cluster) {
    cluster.muster(&["--cluster", "big", "down"]).run().ok();
    cluster.down();
}

#[test]
fn nodes_and_jobs_of_merged_clusters_are_those_of_the_view_by_names_of_their_own() {
    let cluster = both("t0162names");
    let table = all(&cluster, &["nodes"]).run().ok().out;
    // In as many lines as the load has changed between two that were asked.
    let sets = table.lines().skip(1).filter_map(|line| line.split_whitespace().next());
    let mut named: Vec<String> = sets.flat_map(|set| nodeset::expand(set).unwrap()).collect();
    named.sort();
    assert_eq!(named, ["big.n0", "big.n1", "big.n2", "n0", "n1"], "{table}");
    let top = all(&cluster, &["top", "--once"]).run().ok().out;
    assert!(top.contains("clusters default, big · 5 nodes up"), "{top}");
    let nodes = list(&cluster, &["nodes"], "nodes");
    let of_big = nodes.iter().filter(|node| node["cluster"] == "big").count();
    assert_eq!((nodes.len(), of_big), (5, 3));
    cluster.muster(&["run", "true"]).run().ok();
    cluster.muster(&["--cluster", "big", "run", "-J", "other", "echo", "hello"]).run().ok();
    let seen = |job: &Value| (job["cluster"].clone(), job["name"].clone());
    let past: Vec<_> = list(&cluster, &["history"], "jobs").iter().map(seen).collect();
    // That of `default` was made outside of the view.
    assert_eq!(past, [("big".into(), "other".into())]);
    assert_eq!(all(&cluster, &["logs", "big.1"]).run().ok().out, "hello\n");
    assert!(all(&cluster, &["ps", "-a"]).run().ok().out.contains("\nbig.1  done "));
    // Its node has the same name everywhere.
    for words in [&["ps", "-a"][..], &["ps", "-ar"], &["ps", "-r", "big.1"], &["history"]] {
        let said = all(&cluster, words).run().ok().out;
        assert!(said.contains("  big.n0  "), "{words:?}: {said}");
    }
    let told = all(&cluster, &["kill", "big.1", "none.2"]).run().code(1);
    assert!(told.out.contains("job big.1 has ended already"), "{}", told.out);
    told.says("there is no cluster none in view all");
    let told = all(&cluster, &["kill", "none.1", "none.2", "none.3", "big.1"]).run().code(1);
    assert_eq!(told.err.matches("no cluster none in view").count(), 1, "it is said once");
    assert!(told.out.contains("job big.1 has ended already"), "{}", told.out);
    // What is said of a job names its cluster.
    let missing = "there is no job big.99; see: muster --cluster big ps --all  [E162]";
    for command in ["ps", "logs", "kill"] {
        all(&cluster, &[command, "big.99"]).run().code(1).says(missing);
    }
    let missing = "job big.1 has no rank 7, but 0; see: muster ps -r big.1  [E160]";
    all(&cluster, &["logs", "big.1", "--rank", "7"]).run().code(1).says(missing);
    down(cluster);
}

#[test]
fn a_job_gets_the_cluster_that_has_room_or_the_nodes_that_it_names() {
    let cluster = both("t0162room");
    let where_is = |words: &[&str]| {
        let said = all(&cluster, &[&["run"], words, &["printenv", "MUSTER_CLUSTER"]].concat());
        let lines = said.run().ok().out;
        let distinct: BTreeSet<String> = lines.lines().map(str::to_owned).collect();
        distinct.into_iter().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(where_is(&["-N", "3"]), "big", "the other has two");
    assert_eq!(where_is(&["-w", "big.n[1-2]"]), "big");
    assert_eq!(where_is(&["-w", "n1"]), "default");
    let busy = all(&cluster, &["run", "--detach", "-w", "big.n[0-2]", "sleep", "1000"]).run().ok();
    assert_eq!(busy.out, "big.3\n");
    assert_eq!(where_is(&["-N", "2"]), "default", "nobody is there");
    let refused = all(&cluster, &["run", "-N", "4", "true"]).run().code(125);
    refused.says("4 nodes asked, and a job is in one cluster: default has 2, big has 3. Use -N 3");
    let refused = all(&cluster, &["run", "-w", "n0,big.n1", "true"]).run().code(125);
    refused.says("a job is in one");
    let json = all(&cluster, &["run", "-q", "--json", "-w", "big.n0", "true"]).run().ok().json();
    assert_eq!((&json["cluster"], &json["job"]), (&"big".into(), &4.into()));
    assert_eq!(where_is(&["-w", "default.n1"]), "default", "by its own name, too");
    all(&cluster, &["kill", "big.3"]).run().ok();
    until("nothing runs", || list(&cluster, &["ps"], "jobs").is_empty());
    assert_eq!(where_is(&["-x", "n[0-1]"]), "big", "the first has others, but not for this");
    assert_eq!(where_is(&["-x", "big.n[0-2],n0"]), "default");
    let other = all(&cluster, &["run", "-x", "other.n0", "true"]).run().code(125);
    other.says("other.n0 is no node of a cluster that is seen");
    // What a job starts is of its cluster, though nothing runs in the other.
    let nested = |flags: &str| {
        let line = format!("{} --view all run {flags} printenv MUSTER_CLUSTER", cluster::MUSTER);
        all(&cluster, &["run", "-w", "n0", "sh", "-c", &line]).run()
    };
    assert_eq!(nested("-N 1").ok().out, "default\n");
    assert_eq!(nested("-w default.n1").ok().out, "default\n");
    nested("-w big.n0").code(125).says("what a job starts is of its own cluster");
    assert!(nested("--detach -w big.n0").ok().out.starts_with("big."));
    down(cluster);
}

#[test]
fn jobs_that_a_view_does_not_show_are_on_its_nodes_all_the_same() {
    let cluster = both("t0162busy");
    let big = ["--cluster", "big", "run", "--detach", "-N", "1", "sleep", "1000"];
    cluster.muster(&big).run().ok();
    // Made outside of the view.
    let own = cluster.muster(&["run", "--detach", "-N", "2", "sleep", "1000"]).run().ok().out;
    let run = || all(&cluster, &["run", "-N", "2", "printenv", "MUSTER_CLUSTER"]).run().ok().out;
    assert_eq!(run(), "big\nbig\n");
    cluster.muster(&["kill", own.trim()]).run().ok();
    until("it is gone", || !cluster.muster(&["ps"]).run().ok().out.contains("sleep"));
    assert_eq!(run(), "default\ndefault\n", "big has a job");
    down(cluster);
}

#[test]
fn files_of_a_merged_cluster_are_below_the_view_and_come_back_with_it() {
    let cluster = both("t0162files");
    let name = || all(&cluster, &["cat", "/clusters/big/nodes/n2/name"]).run();
    assert_eq!(name().ok().out, "n2\n", "it is reached when the view is there");
    let shown = ["arches", "history", "jobs", "nodes", "status", "usage"];
    assert_eq!(all(&cluster, &["ls", "/clusters/big"]).run().ok().sorted(), shown);
    all(&cluster, &["cat", "/clusters/other/status"]).run().code(1).says("No such file");
    // Two that merge each other have an end.
    let mutual = ["--cluster", "big", "view", "create", "all", "--merge", "default"];
    cluster.muster(&mutual).run().ok();
    cluster.muster(&["--cluster", "big", "down"]).run().ok();
    until("it is missed", || name().err.contains("no cluster big is up"));
    // One that is not reached is still one that is merged.
    assert_eq!(all(&cluster, &["ls", "/clusters"]).run().ok().out, "big\n");
    let left = all(&cluster, &["run", "hostname"]).run().ok();
    left.says("big is left out: it is not up  [N128]");
    let old = cluster.kill("manager");
    until("another manager", || cluster.pid("manager").is_some_and(|pid| pid != old));
    cluster.muster(&["--cluster", "big", "up", "-N", "3"]).run().ok();
    cluster.note("big");
    until("it is reached again, by the next manager", || name().code == 0);
    down(cluster);
}

#[test]
fn what_cannot_be_merged_is_refused_in_a_sentence() {
    let cluster = Cluster::up("t0162bad", 1);
    let create = |name: &str| cluster.muster(&["view", "create", "all", "--merge", name]).run();
    create("none").code(1).says("no cluster none is up that is yours  [E118]");
    // What is no cluster, and what is one for a job alone.
    let directory = cluster.runtime().join("left");
    std::fs::DirBuilder::new().mode(0o700).create(&directory).unwrap();
    create("left").code(1).says("no cluster left is up that is yours  [E118]");
    std::fs::remove_dir(directory).unwrap();
    cluster.muster(&["--cluster", "run-1", "up", "-N", "1"]).run().ok();
    cluster.note("run-1");
    create("run-1").code(1).says("no cluster run-1 is up that is yours  [E118]");
    cluster.muster(&["--cluster", "run-1", "down"]).run().ok();
    create("default").code(1).says("has that by its nodes: name others to merge  [E118]");
    create("a/b").code(1).says("[E130]");
    cluster.muster(&["view", "create", "all"]).run().code(2).says("--nodes");
    cluster.muster(&["ps", "x.y"]).run().code(2).says("a job is a number, or CLUSTER.NUMBER");
    cluster.down();
}
