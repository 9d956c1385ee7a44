//! Files that are sent along go to all hosts at once, by UDP multicast, as far as hosts hear it:
//! namespaces whose network loses what a filter (nftables) says.

mod cluster;
mod hosts;
#[path = "cluster/random.rs"]
mod random;

use cluster::until;
use hosts::Hosts;
use random::Random;
use std::collections::BTreeMap;

const NODES: usize = 5;

/// Bytes of a file that is sent along.
const BIG: u64 = 12 << 20;

/// Hosts, of which those say `filter` to what comes by multicast that are named.
fn lab(test: &str, filter: &str, filtered: &[usize]) -> Hosts {
    let hosts = Hosts::new(test, NODES);
    for host in filtered {
        hosts.inside(
            Some(*host),
            &format!(
                "nft 'table inet air {{ chain in {{ type filter hook input priority 0; \
             ip daddr 239.255.0.0/16 {filter}; }}; }}'"
            ),
        );
    }
    hosts.file("lab.txt", 0o600, &format!("h[1-{NODES}]\n"));
    hosts.muster(&["init"]).run().ok();
    hosts
}

fn up(hosts: &Hosts, more: &[&str]) {
    hosts.muster(&[&["up", "--hosts", "lab.txt"], more].concat()).run().ok();
}

/// What the manager has done and moved.
fn counts(hosts: &Hosts) -> BTreeMap<String, u64> {
    let said = hosts.muster(&["cat", "fabric"]).run().ok();
    let pair = |line: &str| {
        let (name, number) = line.split_once(' ').expect("a name and a number");
        (name.to_owned(), number.parse().expect("a number"))
    };
    said.out.lines().map(pair).collect()
}

fn await_hearers(hosts: &Hosts, count: usize) {
    until(&format!("{count} nodes hear"), || counts(hosts)["hearers"] == count as u64);
}

/// Sends a new file along to all nodes, looks whether all have it, and what it took: bytes by
/// multicast, and bytes that the head has put on its network.
fn send(hosts: &Hosts, seed: u64) -> (u64, u64) {
    let path = hosts.work().join("big");
    std::fs::write(&path, Random::new(seed).bytes(BIG as usize)).expect("written");
    let sum = hosts.inside(None, &format!("cksum <{}", path.display()));
    let wire = || {
        let line = "awk '$1 == \"br0:\" { print $10 }' /proc/net/dev";
        hosts.inside(None, line).trim().parse::<u64>().expect("bytes")
    };
    let before = wire();
    let nodes = NODES.to_string();
    let run = ["run", "--json", "-N", &nodes, "--input", "none", "--bcast", "big"];
    let job = hosts.json(&[&run[..], &["sh", "-c", "cksum <big"]].concat());
    let sent = wire() - before;
    let ranks = job["ranks"].as_array().expect("ranks");
    assert_eq!(ranks.len(), NODES, "{job}");
    assert!(ranks.iter().all(|rank| rank["stdout"] == *sum), "{sum}: {job}");
    assert_eq!(job["files"]["chunks"], job["files"]["of"], "{job}");
    (job["files"]["multicast"].as_u64().expect("bytes"), sent)
}

/// Once to all: with what is around the bytes, and with room for what a busy machine has repaired.
fn is_once(bytes: u64) -> bool {
    (BIG..BIG * 3 / 2).contains(&bytes)
}

#[test]
fn a_file_leaves_the_head_once_also_after_the_manager_has_died() {
    let hosts = lab("once", "", &[]);
    up(&hosts, &[]);
    await_hearers(&hosts, NODES);
    let (multicast, wire) = send(&hosts, 1);
    assert!(is_once(multicast) && is_once(wire), "{multicast} {wire}");
    hosts.kill(None, hosts.pid(None, "manager").expect("it runs"));
    hosts.await_nodes(NODES);
    await_hearers(&hosts, NODES);
    let (multicast, wire) = send(&hosts, 2);
    assert!(is_once(multicast) && is_once(wire), "{multicast} {wire}");
    // It says so, and what all have is not sent again.
    let nodes = NODES.to_string();
    let run = ["run", "--timing", "-N", &nodes, "--input", "none", "--bcast", "big", "true"];
    hosts.muster(&run).run().ok().says(", 0 of 24 chunks)");
    hosts.file("big", 0o644, &"x".repeat(1 << 20));
    hosts.muster(&run).run().ok().says(" MB by multicast)");
    hosts.muster(&["down"]).run().ok();
    hosts.leftovers();
}

/// The kernel cuts no batch into datagrams that are longer than a packet, and all of it was lost.
#[test]
fn a_file_leaves_the_head_once_also_where_packets_are_shorter_than_a_datagram() {
    let hosts = lab("short", "", &[]);
    let head = "for link in br0 $(ls /sys/class/net/br0/brif); do ip link set $link mtu 1300; done";
    hosts.inside(None, head);
    (1..=NODES).for_each(|host| drop(hosts.inside(Some(host), "ip link set eth0 mtu 1300")));
    up(&hosts, &[]);
    await_hearers(&hosts, NODES);
    let (multicast, wire) = send(&hosts, 1);
    assert!(is_once(multicast) && is_once(wire), "{multicast} {wire}");
    hosts.muster(&["down"]).run().ok();
    hosts.leftovers();
}

#[test]
fn what_is_lost_on_the_way_is_repaired() {
    let hosts = lab("lost", "numgen random mod 5 == 0 counter drop", &[1, 2, 4]);
    up(&hosts, &[]);
    await_hearers(&hosts, NODES);
    for seed in 1..=2 {
        let (multicast, _) = send(&hosts, seed);
        assert!(multicast >= BIG, "{multicast}");
    }
    for host in [1, 2, 4] {
        let table = hosts.inside(Some(host), "nft list table inet air");
        let mut words = table.split_whitespace().skip_while(|word| *word != "packets");
        let lost: u64 = words.nth(1).and_then(|count| count.parse().ok()).expect("a count");
        assert!(lost > 0, "{table}");
    }
    hosts.muster(&["down"]).run().ok();
    hosts.leftovers();
}

#[test]
fn who_hears_nothing_any_more_gets_all_the_same() {
    let hosts = lab("deaf", "", &[]);
    up(&hosts, &[]);
    await_hearers(&hosts, NODES);
    let block = "nft 'table inet air { chain in { type filter hook input priority 0; \
                 ip daddr 239.255.0.0/16 drop; }; }'";
    hosts.inside(Some(3), block);
    send(&hosts, 1);
    await_hearers(&hosts, NODES - 1);
    let (multicast, _) = send(&hosts, 2);
    assert!(multicast >= BIG, "the others hear it: {multicast}");
    hosts.inside(Some(3), "nft delete table inet air");
    await_hearers(&hosts, NODES);
    hosts.muster(&["down"]).run().ok();
    hosts.leftovers();
}

/// Nobody asked for listeners, and what was not told again was forgotten for good.
#[test]
fn whom_a_switch_has_forgotten_hears_again() {
    let hosts = lab("switch", "", &[]);
    let bridge = |how| drop(hosts.inside(None, &format!("ip link set br0 type bridge {how}")));
    // It knows for 5 s who listens, and sends to all as long as nobody asks.
    bridge("mcast_snooping 1 mcast_membership_interval 500 mcast_query_response_interval 100");
    up(&hosts, &[]);
    await_hearers(&hosts, NODES);
    // It is the one who asks, but for once in ten minutes.
    bridge("mcast_query_interval 60000 mcast_startup_query_count 0 mcast_querier 1");
    until("the switch has forgotten who listens", || {
        !hosts.inside(None, "bridge mdb show dev br0").contains("239.255.")
    });
    send(&hosts, 1);
    await_hearers(&hosts, NODES);
    hosts.muster(&["down"]).run().ok();
    hosts.leftovers();
}

#[test]
fn where_nobody_hears_all_goes_from_node_to_node() {
    let hosts = lab("none", "drop", &[1, 2, 3, 4, 5]);
    up(&hosts, &[]);
    let (multicast, wire) = send(&hosts, 1);
    assert_eq!((multicast, counts(&hosts)["hearers"]), (0, 0));
    assert!(wire >= NODES as u64 * BIG, "{wire}");
    hosts.muster(&["down"]).run().ok();
    hosts.leftovers();
}

#[test]
fn without_multicast_nobody_listens() {
    let hosts = lab("off", "", &[]);
    let listens = || hosts.inside(Some(1), "ss -Hlun").contains("239.255.");
    up(&hosts, &[]);
    assert!(listens());
    hosts.muster(&["down"]).run().ok();
    hosts.leftovers();
    up(&hosts, &["--no-multicast"]);
    let (multicast, wire) = send(&hosts, 1);
    assert_eq!((multicast, counts(&hosts)["multicast"], listens()), (0, 0, false));
    assert!(wire >= NODES as u64 * BIG, "{wire}");
    hosts.muster(&["down"]).run().ok();
    hosts.leftovers();
}
