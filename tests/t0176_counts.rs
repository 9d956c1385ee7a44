//! What a launch costs the node that launches: operations exactly, bytes as closely as the leases
//! of the nodes, which are renewed meanwhile, allow.

mod cluster;
#[path = "cluster/random.rs"]
mod random;

use cluster::{Cluster, until};
use random::Random;
use std::collections::BTreeMap;

const NODES: u64 = 16;

/// Bytes of a file that is sent along, and of a chunk of it.
const BIG: u64 = 12 << 20;
const CHUNK: u64 = 512 << 10;

/// Children of a node in the tree that orders go down.
const ARITY: u64 = 16;

/// Seconds after which a rank that has said nothing asks to be followed.
const FOLLOWED: f64 = 0.1;

/// What the manager has begun and moved.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Counts(BTreeMap<String, u64>);

impl Counts {
    fn of(cluster: &Cluster) -> Counts {
        let said = cluster.muster(&["cat", "fabric"]).run().ok();
        let pair = |line: &str| {
            let (name, number) = line.split_once(' ').expect("a name and a number");
            (name.to_owned(), number.parse().expect("a number"))
        };
        Counts(said.out.lines().map(pair).collect())
    }

    fn since(&self, before: &Counts) -> Counts {
        let each = |(name, count): (&String, &u64)| (name.clone(), count - before.0[name]);
        Counts(self.0.iter().map(each).collect())
    }

    fn get(&self, name: &str) -> u64 {
        self.0[name]
    }
}

/// What a job costs, with the order to forget it, which comes a moment after it.
fn cost(cluster: &Cluster, args: &[&str]) -> Counts {
    let before = Counts::of(cluster);
    cluster.muster(&[&["run", "--input", "none", "-N", "16"][..], args].concat()).run().ok();
    for node in 0..NODES {
        until("it is forgotten", || cluster.sessions(node) == 0);
    }
    Counts::of(cluster).since(&before)
}

/// Seconds from the order to run the last job until all its ranks had ended.
fn took(cluster: &Cluster) -> f64 {
    let said = cluster.json(&["history", "--json"]);
    let job =
        said["jobs"].as_array().and_then(|jobs| jobs.iter().max_by_key(|it| it["id"].as_u64()));
    let time = |name: &str| job.and_then(|job| job[name].as_f64()).expect("a time");
    time("over") - time("sent")
}

#[test]
fn a_launch_is_one_order_and_a_report_of_each_node() {
    let cluster = Cluster::up("t0176true", NODES as usize);
    for _ in 0..5 {
        let cost = cost(&cluster, &["--no-env", "true"]);
        // The order to run, the one to forget.
        assert_eq!((cost.get("transfers"), cost.get("queries")), (2, 0), "{cost:?}");
        assert_eq!(cost.get("letters"), NODES, "{cost:?}");
        // Both go to each node, as data and as the word that it is everywhere.
        assert!(cost.get("stage") >= 2 * NODES && cost.get("decide") >= 2 * NODES, "{cost:?}");
        // No report is an operation, which the manager would have to say that it has taken. A rank
        // asks by one to be followed, if it has not ended in time.
        if took(&cluster) < FOLLOWED {
            assert_eq!(cost.get("taken"), 0, "{cost:?}");
        }
        // The order names the nodes and is what it is because of that.
        assert!(cost.get("bytes") < NODES * 4096, "{cost:?}");
    }
    // Four ranks on each node: no more orders, and no more reports than ranks.
    let cost = cost(&cluster, &["--no-env", "-n", "64", "true"]);
    assert_eq!((cost.get("transfers"), cost.get("queries")), (2, 0), "{cost:?}");
    assert!((NODES..=4 * NODES).contains(&cost.get("letters")), "{cost:?}");
    cluster.down();
}

#[test]
fn a_file_leaves_the_manager_once_for_each_child_in_the_tree_and_never_again() {
    let cluster = Cluster::up("t0176file", NODES as usize);
    cluster.file("big", 0o644, Random::new(1).bytes(BIG as usize));
    let run = || cost(&cluster, &["--no-env", "--bcast", "big", "true"]);
    // To make sessions, what the file is and which chunks come; the chunks; to run, to forget.
    let first = run();
    assert_eq!(first.get("transfers"), 3 + BIG / CHUNK, "{first:?}");
    assert_eq!(first.get("letters"), NODES, "{first:?}");
    assert!((NODES * BIG..=(ARITY + 1) * BIG).contains(&first.get("bytes")), "{first:?}");
    // All that there is to tell and to run, to forget.
    let second = run();
    assert_eq!(second.get("transfers"), 2, "{second:?}");
    assert!(second.get("bytes") < NODES * 16 * 1024, "{second:?}");
    cluster.down();
}
