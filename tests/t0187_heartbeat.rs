//! The heartbeat of a running cluster: all nodes hear the same strobes, and who is late is named.

mod cluster;

use cluster::{Cluster, signal, until};
use rustix::process::Signal;
use std::collections::BTreeMap;

/// What a file of the heartbeat says: names and numbers.
fn pulse(cluster: &Cluster, file: &str) -> BTreeMap<String, u64> {
    let said = cluster.muster(&["cat", file]).run().ok();
    let pair = |line: &str| {
        let (name, number) = line.rsplit_once(' ').expect("a name and a number");
        (name.to_owned(), number.parse().expect("a number"))
    };
    said.out.lines().map(pair).collect()
}

#[test]
fn every_node_hears_every_strobe_of_this_manager_and_of_the_next() {
    let cluster = Cluster::none("t0187all");
    cluster.muster(&["up", "-N", "4", "--heartbeat", "10ms"]).run().ok();
    let hear = |term: u64, period_us: u64| {
        let master = || pulse(&cluster, "heartbeat");
        until("it beats so", || (master()["term"], master()["period_us"]) == (term, period_us));
        let master = master();
        for node in 0..4 {
            until("a strobe is heard that was told to the manager before", || {
                let heard = pulse(&cluster, &format!("nodes/n{node}/heartbeat"));
                (heard["term"], heard["period_us"], heard["nodes"]) == (term, period_us, 4)
                    && heard["strobe"] >= master["strobe"]
            });
        }
    };
    hear(1, 10_000);
    // It is set for the next manager, too, whose strobes come after all of this one's.
    cluster.muster(&["write", "heartbeat"]).input("20ms\n").run().ok();
    hear(1, 20_000);
    let old = cluster.kill("manager");
    until("there is another manager", || cluster.pid("manager").is_some_and(|pid| pid != old));
    cluster.await_nodes(4);
    hear(2, 20_000);
    for wrong in ["1us\n", "2h\n", "often\n"] {
        let said = cluster.muster(&["write", "heartbeat"]).input(wrong).run();
        assert!(said.code != 0 && said.err.contains("[E134]"), "{}", said.err);
    }
    hear(2, 20_000);
    cluster.down();
}

#[test]
fn a_node_that_falls_behind_is_named_late_and_in_time_again_afterwards() {
    let cluster = Cluster::up("t0187late", 3);
    let events = cluster.muster(&["cat", "events"]).start();
    let tells = |event: &str| {
        let of = format!("\"event\":\"{event}\"");
        let out = events.out();
        out.lines().any(|line| line.contains(&of) && line.contains("\"node\":\"n1\""))
    };
    let node = cluster.await_pid("n1");
    signal(node, Signal::STOP);
    until("it is named late", || tells("node late"));
    signal(node, Signal::CONT);
    until("it is in time again", || tells("node in time"));
    until("nothing is said of it", || !pulse(&cluster, "heartbeat").contains_key("late n1"));
    cluster.muster(&["run", "-N", "3", "true"]).run().ok();
    drop(events);
    cluster.down();
}
