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
use std::path::PathBuf;
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

/// Where a machine puts what it fetches in a try.
fn out(hosts: &Hosts, (attempt, number): (usize, usize)) -> PathBuf {
    hosts.work().join(format!("out{attempt}-{number}"))
}

/// A machine fetches in a try, and then serves for so long.
fn fetch(hosts: &Hosts, (attempt, number): (usize, usize), term: &str) -> Running {
    let key = hosts.runtime().join("default/images/key");
    let mut command = hosts.at(Some(number));
    command.arg(cluster::MUSTER).args(["image", "fetch", "boot", "--json", "--from", SERVER]);
    command.arg("--key").arg(key).args(["--term", term, "-o"]).arg(out(hosts, (attempt, number)));
    call(command).start()
}

/// What it says when it has all, which is the image.
fn told(hosts: &Hosts, which: (usize, usize), fetch: &Running, bytes: &[u8]) -> Value {
    fetch.await_out("\n");
    let told: Value = serde_json::from_str(&fetch.out()).expect("JSON");
    let count = |from: &str| told[from].as_u64().expect("a number");
    let all = ["held", "from_server", "from_helpers", "from_multicast"].map(count);
    assert_eq!(all.iter().sum::<u64>(), CHUNKS, "{told}");
    let file = out(hosts, which);
    let got = std::fs::read(&file);
    assert!(got.is_ok_and(|got| got == bytes), "{} is not the image", file.display());
    told
}

fn heard(told: &Value) -> u64 {
    told["from_multicast"].as_u64().expect("a number")
}

/// Waits until some of the image has come to a machine; false if all of it has.
fn await_some(hosts: &Hosts, which: (usize, usize)) -> bool {
    let file = out(hosts, which);
    let part = PathBuf::from(format!("{}.part", file.display()));
    until("some has come", || {
        use std::os::unix::fs::MetadataExt;
        let files = std::fs::read_dir(&part).into_iter().flatten().flatten();
        let blocks = files.filter_map(|file| file.metadata().ok()).map(|meta| meta.blocks());
        file.exists() || blocks.sum::<u64>() * 512 > 2 * CHUNK as u64
    });
    !file.exists()
}

/// Tries it until it is so. Who waits for a processor for a second is not waited for, and hears no
/// more; and on a busy machine all may have come before something is done that is to be done while
/// it comes. What must always be so each try asserts.
fn tries(what: &str, mut once: impl FnMut(usize) -> bool) {
    let mut attempt = 0;
    until(what, || {
        attempt += 1;
        once(attempt)
    });
}

fn all_end(all: Vec<Running>) {
    all.into_iter().for_each(|one| drop(one.wait().ok()));
}

fn down(hosts: &Hosts) {
    hosts.muster(&["down"]).run().ok();
}

#[test]
fn what_several_fetch_at_once_is_cast_to_them_and_who_comes_when_all_are_done_gets_all_too() {
    let _alone = PROCESSORS.write().unwrap_or_else(PoisonError::into_inner);
    let (hosts, bytes) = lab("imgcast", 5);
    tries("all four hear a quarter of it", |attempt| {
        let all: Vec<Running> =
            (1..=4).map(|number| fetch(&hosts, (attempt, number), "0")).collect();
        let told = all.iter().zip(1..).map(|(one, at)| told(&hosts, (attempt, at), one, &bytes));
        let least = told.map(|told| heard(&told)).min();
        all_end(all);
        least > Some(CHUNKS / 4)
    });
    let late = fetch(&hosts, (0, 5), "0");
    let told = told(&hosts, (0, 5), &late, &bytes);
    assert_eq!(told["from_server"].as_u64(), Some(CHUNKS), "it is alone: {told}");
    all_end(vec![late]);
    down(&hosts);
}

#[test]
fn who_hears_nothing_or_loses_some_gets_all_the_same_and_others_hear_it() {
    let _shared = PROCESSORS.read().unwrap_or_else(PoisonError::into_inner);
    let (hosts, bytes) = lab("imgdeaf", 4);
    filter(&hosts, 1, "");
    filter(&hosts, 2, "numgen random mod 10 == 0");
    tries("two hear a quarter of it", |attempt| {
        let all: Vec<Running> =
            (1..=4).map(|number| fetch(&hosts, (attempt, number), "2s")).collect();
        let told = all.iter().zip(1..).map(|(one, at)| told(&hosts, (attempt, at), one, &bytes));
        let told: Vec<Value> = told.collect();
        assert_eq!(heard(&told[0]), 0, "{}", told[0]);
        all_end(all);
        told[2..].iter().all(|told| heard(told) > CHUNKS / 4)
    });
    for host in [1, 2] {
        let table = hosts.inside(Some(host), "nft list table inet air");
        let mut words = table.split_whitespace().skip_while(|word| *word != "packets");
        let lost: u64 = words.nth(1).and_then(|count| count.parse().ok()).expect("a count");
        assert!(lost > 0, "{table}");
    }
    down(&hosts);
}

/// Stops the fetch of a machine; false if that has all by then, or some moments before.
fn stop(hosts: &Hosts, which: (usize, usize)) -> bool {
    let lines = hosts.processes(Some(which.1));
    let line = lines.iter().find(|line| line.contains("image fetch"));
    if let Some(line) = line {
        let pid = line.split(' ').next().expect("its process");
        hosts.inside(
            Some(which.1),
            &format!("kill -STOP {pid} 2>/dev/null || [ ! -e /proc/{pid} ]"),
        );
    }
    !out(hosts, which).exists()
}

#[test]
fn who_comes_in_the_middle_hears_the_rest_and_one_that_stands_still_holds_nobody_up() {
    let _shared = PROCESSORS.read().unwrap_or_else(PoisonError::into_inner);
    let (hosts, bytes) = lab("imglate", 4);
    tries("all but the one that stands still hear some", |attempt| {
        let mut all: Vec<Running> =
            (1..=3).map(|number| fetch(&hosts, (attempt, number), "0")).collect();
        let come = (1..=3).all(|number| await_some(&hosts, (attempt, number)));
        let stopped = come && stop(&hosts, (attempt, 1));
        all.push(fetch(&hosts, (attempt, 4), "0"));
        let hear =
            |number: usize| heard(&told(&hosts, (attempt, number), &all[number - 1], &bytes)) > 0;
        let hear = (2..=4).map(hear).filter(|hears| *hears).count() == 3;
        let has_stood = stopped && !out(&hosts, (attempt, 1)).exists();
        // Who entered the namespaces for it stops with it, a moment later, and has it go on.
        until("it goes on", || {
            all[0].signal(Signal::CONT);
            all[0].ended()
        });
        told(&hosts, (attempt, 1), &all[0], &bytes);
        all_end(all);
        has_stood && hear
    });
    down(&hosts);
}

#[test]
fn who_hears_when_the_server_is_killed_gets_the_rest_from_the_next_one() {
    let _shared = PROCESSORS.read().unwrap_or_else(PoisonError::into_inner);
    let (hosts, bytes) = lab("imgagain", 3);
    tries("all three hear some, and not yet all", |attempt| {
        let all: Vec<Running> =
            (1..=3).map(|number| fetch(&hosts, (attempt, number), "0")).collect();
        let come = (1..=3).all(|number| await_some(&hosts, (attempt, number)));
        hosts.kill(None, hosts.pid(None, "manager").expect("it runs"));
        let lack = (1..=3).all(|number| !out(&hosts, (attempt, number)).exists());
        let hear = |(one, number)| heard(&told(&hosts, (attempt, number), one, &bytes)) > 0;
        let hear = all.iter().zip(1..).map(hear).filter(|hears| *hears).count() == 3;
        all_end(all);
        hosts.await_nodes(1);
        come && lack && hear
    });
    down(&hosts);
}
