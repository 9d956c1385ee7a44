//! MPI programs in places that are not as this machine: on hosts of their own, between which all is
//! TCP and TLS; and in a container, whose `/dev/shm` is small.

mod cluster;
mod hosts;
mod mpi;

use cluster::{Call, Cluster};
use hosts::Hosts;
use mpi::Mpi;

/// Programs that need no file system that all hosts have.
const PROGRAMS: [&str; 24] = [
    "point",
    "sends",
    "requests",
    "threads",
    "polling",
    "partitioned",
    "buffers",
    "stale",
    "collectives",
    "kept",
    "forms",
    "short",
    "neighbors",
    "edges",
    "many",
    "datatypes",
    "groups",
    "topologies",
    "sessions",
    "older",
    "windows",
    "fetched",
    "window_errors",
    "shared",
];

/// Bytes that a host has got over the network.
fn received(hosts: &Hosts, host: usize) -> u64 {
    let line = hosts.inside(Some(host), "sed -n 's/^ *eth0: *//p' /proc/net/dev");
    line.split_whitespace().next().expect("a number").parse().expect("a number")
}

/// Programs that are sent along to hosts of their own, as the README's commands bring them up, are
/// right on two and on four of them. The library has come there with Muster itself.
fn are_right_between_hosts(test: &str, mode: &str) {
    let mpi = Mpi::installed();
    let hosts = Hosts::new(test, 4);
    hosts.file("lab.txt", 0o600, "h[1-4]\n");
    hosts.muster(&["init"]).run().ok();
    hosts.muster(&["up", "--hosts", "lab.txt"]).run().ok();
    assert_eq!(hosts.json(&["nodes", "--json"])["transport"], "tls");
    for name in PROGRAMS {
        let program = mpi.program(name);
        for (nodes, ranks) in [("2", "3"), ("4", "5")] {
            let command = ["run", "-N", nodes, "-n", ranks, mode, &program];
            let done = hosts.muster(&command).run();
            let told = (done.code, &*done.err, &*done.out);
            assert_eq!(told, (0, "", &*format!("ok {ranks}\n")), "{name}, {nodes} nodes, {mode}");
        }
    }
    // Megabytes between the ranks of a window: they have no other way than the network.
    let program = mpi.program("windows");
    let before = received(&hosts, 2);
    hosts.muster(&["run", "-N", "2", "-n", "2", mode, &program]).run().ok();
    assert!(received(&hosts, 2) - before > 2_000_000, "{mode}");
    hosts.muster(&["down"]).run().ok();
    hosts.leftovers();
}

#[test]
fn programs_are_right_on_hosts_that_tcp_and_tls_connect() {
    are_right_between_hosts("mpi", "--mpi=direct");
}

#[test]
fn programs_are_right_on_hosts_that_tcp_and_tls_connect_when_they_are_coscheduled() {
    are_right_between_hosts("mpibcs", "--mpi=bcs");
}

/// The same command in a mount namespace of its own with a `/dev/shm` of 64 MiB, as containers
/// have it.
fn in_a_container(mut call: Call) -> Call {
    let mount = "mount -t tmpfs -o size=64m none /dev/shm && exec \"$@\"";
    let mut outer = std::process::Command::new("unshare");
    outer.args(["-Urm", "sh", "-c", mount, "sh"]);
    outer.arg(call.command.get_program()).args(call.command.get_args());
    for (name, value) in call.command.get_envs() {
        match value {
            Some(value) => outer.env(name, value),
            None => outer.env_remove(name),
        };
    }
    outer.current_dir(call.command.get_current_dir().expect("it has one"));
    call.command = outer;
    call
}

/// What there is in the `/dev/shm` that a process sees.
fn shared_memory(pid: i32) -> Vec<String> {
    let entries = std::fs::read_dir(format!("/proc/{pid}/root/dev/shm")).expect("it is there");
    entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect()
}

#[test]
fn sixty_four_ranks_are_right_where_dev_shm_is_small_and_leave_nothing_there() {
    let mpi = Mpi::installed();
    let cluster = Cluster::none("t0330shm");
    in_a_container(cluster.muster(&["up", "-N", "2"])).run().ok();
    cluster.note("default");
    let keeper = cluster.await_pid("keeper");
    let seen = std::fs::read_dir("/dev/shm").expect("it is there").count();
    let own = format!("/proc/{keeper}/root/dev/shm");
    let room = rustix::fs::statvfs(&*own).expect("it is there");
    assert_eq!(room.f_blocks * room.f_frsize, 64 << 20, "it is a small one, besides {seen} files");
    let program = mpi.program("container");
    for nodes in ["1", "2"] {
        for mode in ["--mpi=direct", "--mpi=bcs"] {
            let done = cluster.muster(&["run", "-N", nodes, "-n", "64", mode, &program]).run();
            let told = (done.code, &*done.err, &*done.out);
            assert_eq!(told, (0, "", "ok 64\n"), "{nodes} nodes, {mode}");
            assert!(shared_memory(keeper).is_empty(), "{:?}", shared_memory(keeper));
        }
    }
    cluster.down();
}
