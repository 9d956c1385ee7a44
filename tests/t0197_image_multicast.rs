//! Boot images that several fetch at once come to all of them by UDP multicast, as far as they hear
//! it; whoever hears none of it, or loses some, comes late, stands still, or whose server dies,
//! gets all the same. Machines are namespaces behind links of 40 Mbit/s, so fetches meet.

mod cluster;
mod hosts;
#[path = "cluster/random.rs"]
mod random;

use cluster::{Running, call, until};
use hosts::Hosts;
use muster_base::limits::CHUNK;
use random::Random;
use rustix::process::Signal;
use serde_json::Value;
use std::sync::{PoisonError, RwLock};

/// Bytes of the image.
const SIZE: usize = 39 * CHUNK + 40;

/// Chunks of it.
const CHUNKS: u64 = 40;

/// The machine where images are.
const SERVER: &str = "10.78.0.254:4564";

/// Where processors are few, who has to wait for one does not hear all that is cast. So how much is
/// heard is looked at while none of the other tests here runs.
static PROCESSORS: RwLock<()> = RwLock::new(());

/// What a machine does with datagrams for all: this to each, and it counts them.
fn filter(hosts: &Hosts, host: usize, what: &str) {
    let rule = format!("ip daddr 239.255.0.0/16 {what} counter drop");
    hosts.inside(
        Some(host),
        &format!(
            "nft 'table inet air {{ chain in {{ type filter hook input priority 0; {rule}; }}; }}'"
        ),
    );
}

/// Machines, the image at the server, and its door.
fn lab(test: &str, count: usize) -> (Hosts, Vec<u8>) {
    let hosts = Hosts::with(test, count, |_| "hostname $0; echo ready; exec sleep infinity".into());
    let limit = "root tbf rate 40mbit burst 128kb latency 40ms";
    for number in 1..=count {
        hosts.inside(None, &format!("tc qdisc add dev v{number} {limit}"));
        hosts.inside(Some(number), &format!("tc qdisc add dev eth0 {limit}"));
    }
    hosts.muster(&["init"]).run().ok();
    hosts.muster(&["up", "-N", "1"]).run().ok();
    let bytes = Random::new(7).bytes(SIZE);
    std::fs::write(hosts.work().join("image"), &bytes).expect("written");
    hosts.muster(&["image", "push", "boot", "image"]).run().ok();
    hosts.muster(&["image", "serve", "--listen", SERVER]).run().ok();
    (hosts, bytes)
}

/// A machine fetches, and then serves for so long.
fn fetch(hosts: &Hosts, number: usize, term: &str) -> Running {
    let key = hosts.runtime().join("default/images/key");
    let mut command = hosts.at(Some(number));
    command.arg(cluster::MUSTER).args(["image", "fetch", "boot", "--json", "--from", SERVER]);
    command.arg("--key").arg(key).args(["--term", term, "-o", &format!("out{number}")]);
    call(command).start()
}

/// What it says when it has all, which is the image.
fn told(hosts: &Hosts, number: usize, fetch: &Running, bytes: &[u8]) -> Value {
    fetch.await_out("\n");
    let told: Value = serde_json::from_str(&fetch.out()).expect("JSON");
    let count = |from: &str| told[from].as_u64().expect("a number");
    let all = ["held", "from_server", "from_helpers", "from_multicast"].map(count);
    assert_eq!(all.iter().sum::<u64>(), CHUNKS, "{told}");
    let got = std::fs::read(hosts.work().join(format!("out{number}")));
    assert!(got.is_ok_and(|got| got == bytes), "out{number} is not the image");
    told
}

fn heard(told: &Value) -> u64 {
    told["from_multicast"].as_u64().expect("a number")
}

/// Some of the image has come to a machine.
fn await_some(hosts: &Hosts, number: usize) {
    let part = hosts.work().join(format!("out{number}.part"));
    until("some has come", || {
        use std::os::unix::fs::MetadataExt;
        let files = std::fs::read_dir(&part).into_iter().flatten().flatten();
        let blocks = files.filter_map(|file| file.metadata().ok()).map(|meta| meta.blocks());
        blocks.sum::<u64>() * 512 > 2 * CHUNK as u64
    });
}

fn down(hosts: &Hosts, all: Vec<Running>) {
    all.into_iter().for_each(|one| drop(one.wait().ok()));
    hosts.muster(&["down"]).run().ok();
}

#[test]
fn what_several_fetch_at_once_is_cast_to_them_and_who_comes_when_all_are_done_gets_all_too() {
    let _alone = PROCESSORS.write().unwrap_or_else(PoisonError::into_inner);
    let (hosts, bytes) = lab("imgcast", 5);
    let all: Vec<Running> = (1..=4).map(|number| fetch(&hosts, number, "0")).collect();
    for (one, number) in all.iter().zip(1..) {
        let told = told(&hosts, number, one, &bytes);
        assert!(heard(&told) > CHUNKS / 4, "{told}");
    }
    let late = fetch(&hosts, 5, "0");
    let told = told(&hosts, 5, &late, &bytes);
    assert_eq!(told["from_server"].as_u64(), Some(CHUNKS), "it is alone: {told}");
    down(&hosts, all.into_iter().chain([late]).collect());
}

#[test]
fn who_hears_nothing_or_loses_some_gets_all_the_same_and_others_hear_it() {
    let _shared = PROCESSORS.read().unwrap_or_else(PoisonError::into_inner);
    let (hosts, bytes) = lab("imgdeaf", 4);
    filter(&hosts, 1, "");
    filter(&hosts, 2, "numgen random mod 10 == 0");
    let all: Vec<Running> = (1..=4).map(|number| fetch(&hosts, number, "2s")).collect();
    let told: Vec<Value> =
        all.iter().zip(1..).map(|(one, number)| told(&hosts, number, one, &bytes)).collect();
    assert_eq!(heard(&told[0]), 0, "{}", told[0]);
    for told in &told[2..] {
        assert!(heard(told) > CHUNKS / 4, "{told}");
    }
    for host in [1, 2] {
        let table = hosts.inside(Some(host), "nft list table inet air");
        let mut words = table.split_whitespace().skip_while(|word| *word != "packets");
        let lost: u64 = words.nth(1).and_then(|count| count.parse().ok()).expect("a count");
        assert!(lost > 0, "{table}");
    }
    down(&hosts, all);
}

#[test]
fn who_comes_in_the_middle_hears_the_rest_and_one_that_stands_still_holds_nobody_up() {
    let _shared = PROCESSORS.read().unwrap_or_else(PoisonError::into_inner);
    let (hosts, bytes) = lab("imglate", 4);
    let mut all: Vec<Running> = (1..=3).map(|number| fetch(&hosts, number, "0")).collect();
    (1..=3).for_each(|number| await_some(&hosts, number));
    let lines = hosts.processes(Some(1));
    let line = lines.iter().find(|line| line.contains("image fetch")).expect("it runs");
    hosts.inside(Some(1), &format!("kill -STOP {}", line.split(' ').next().expect("its process")));
    all.push(fetch(&hosts, 4, "0"));
    for number in 2..=4 {
        let told = told(&hosts, number, &all[number - 1], &bytes);
        assert!(heard(&told) > 0, "{told}");
    }
    // Who entered the namespaces for it stopped with it, and has it go on.
    all[0].signal(Signal::CONT);
    told(&hosts, 1, &all[0], &bytes);
    down(&hosts, all);
}

#[test]
fn who_hears_when_the_server_is_killed_gets_the_rest_from_the_next_one() {
    let _shared = PROCESSORS.read().unwrap_or_else(PoisonError::into_inner);
    let (hosts, bytes) = lab("imgagain", 3);
    let all: Vec<Running> = (1..=3).map(|number| fetch(&hosts, number, "0")).collect();
    (1..=3).for_each(|number| await_some(&hosts, number));
    hosts.kill(None, hosts.pid(None, "manager").expect("it runs"));
    for (one, number) in all.iter().zip(1..) {
        let told = told(&hosts, number, one, &bytes);
        assert!(heard(&told) > 0, "{told}");
    }
    hosts.await_nodes(1);
    down(&hosts, all);
}
