//! Linux's own v9fs, in a Debian kernel that QEMU boots, on our servers.

mod cluster;
mod foreign;

use cluster::Cluster;
use std::path::Path;
use std::time::Duration;

/// Seconds for one guest, which only one that hangs takes: where its processors are emulated, and
/// the machine does other things as well, its checks take many minutes.
const SECONDS: u64 = 1800;

/// Boots a guest that mounts the server at `socket` with each of some options, and runs a script
/// there: of its checks at least so many are right, in all.
fn guest(socket: &Path, script: &str, options: &[&str], words: &[&str], least: usize) {
    foreign::need("qemu-system-x86_64", "qemu-system-x86");
    let home = std::env::var("HOME").unwrap_or_default();
    let cache = std::env::var("XDG_CACHE_HOME").unwrap_or_else(|_| format!("{home}/.cache"));
    let cache = std::env::var("MUSTER_GUEST_CACHE").unwrap_or(format!("{cache}/muster/guest"));
    assert!(
        Path::new(&cache).join("recipe").exists(),
        "the guest's kernel and programs are not in {cache}: type `cargo xtask setup` as root"
    );
    let mut run = foreign::bound(foreign::conformance("guest/run"));
    run.arg(format!("unix!{}", socket.display())).arg(foreign::conformance(script));
    run.arg(options.join(" ")).args(words).env("MUSTER_GUEST_SECONDS", SECONDS.to_string());
    foreign::run(run, Duration::from_secs(SECONDS + 20), least);
}

fn posix(test: &str, options: &[&str], words: &[&str], least: usize) {
    let cluster = Cluster::none(test);
    let socket = cluster.work().join("9p");
    std::fs::create_dir(cluster.work().join("data")).expect("made");
    let address = socket.to_str().expect("text");
    let export = cluster.muster(&["export", "data", "--listen", address, "--rw"]).start();
    export.await_out("is served");
    guest(&socket, "guest/posix.sh", options, words, least);
}

#[test]
fn an_export_in_all_versions() {
    let versions = [
        "version=9p2000.L,msize=1048576",
        "version=9p2000.u,msize=65536",
        "version=9p2000,uname=root",
    ];
    // In 9P2000.L all but the nanoseconds of utimes, which this kernel does not send.
    posix("v9-posix", &versions, &[], 64 + 54 + 46);
}

/// With the client's cache: what it does otherwise, not all once more.
#[test]
fn an_export_that_the_client_caches() {
    let caches = ["version=9p2000.L,cache=loose", "version=9p2000.L,cache=mmap"];
    posix("v9-cached", &caches, CACHED, caches.len() * CACHED.len());
}

const CACHED: &[&str] = &[
    "write_read",
    "append",
    "truncate_down",
    "truncate_open",
    "big_file",
    "rename_over",
    "rename_directory",
    "unlink_open_truncate",
    "readdir_many",
    "busy_tree",
];

#[test]
fn jobs_through_the_manager() {
    let cluster = Cluster::up("v9-manager", 2);
    let socket = cluster.directory().join("manager.sock");
    let versions = ["version=9p2000.L,cache=none", "version=9p2000,cache=none"];
    guest(&socket, "guest/xcpu.sh", &versions, &["nodes/n1"], 2 * 23);
    cluster.down();
}

#[test]
fn jobs_at_a_node() {
    let cluster = Cluster::up("v9-node", 1);
    let socket = cluster.directory().join("n0.sock");
    guest(&socket, "guest/xcpu.sh", &["version=9p2000.u,cache=none"], &[], 23);
    cluster.down();
}
