//! Go's 9P clients, of 9fans.net (9P2000) and of hugelgupf/p9 (9P2000.L), on our servers.

mod cluster;
mod foreign;

use cluster::{Cluster, DEADLINE};
use std::path::PathBuf;
use std::sync::LazyLock;
use std::time::Duration;

/// The client, built once.
static CLIENT: LazyLock<PathBuf> = LazyLock::new(|| {
    foreign::need("go", "golang-go");
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("go-client");
    let mut build = foreign::bound(foreign::conformance("go/run"));
    build.arg(&directory);
    // With nothing built before it takes some minutes by itself.
    foreign::run(build, Duration::from_secs(1200), 0);
    directory.join("client")
});

fn client(dialect: &str, words: &[&str], least: usize) {
    let mut command = foreign::bound(&*CLIENT);
    command.args(["-dialect", dialect, "-deadline", "280s"]).args(words);
    foreign::run(command, DEADLINE, least);
}

#[test]
fn an_exported_directory() {
    let cluster = Cluster::none("go-export");
    let socket = cluster.work().join("9p");
    let socket = socket.to_str().expect("text");
    std::fs::create_dir(cluster.work().join("data")).expect("made");
    let export = cluster.muster(&["export", "data", "--listen", socket, "--rw"]).start();
    export.await_out("is served");
    for dialect in ["9p2000", "9p2000.L"] {
        client(dialect, &["export", &format!("unix!{socket}")], 17);
    }
}

#[test]
fn jobs_through_files() {
    foreign::need("busybox", "busybox-static");
    let cluster = Cluster::up("go-xcpu", 2);
    for (socket, at) in [("manager.sock", "nodes/n0"), ("n1.sock", "")] {
        let address = format!("unix!{}", cluster.directory().join(socket).display());
        for dialect in ["9p2000", "9p2000.L"] {
            client(dialect, &["-prog", "/bin/busybox", "xcpu", &address, at], 11);
        }
    }
    cluster.down();
}
