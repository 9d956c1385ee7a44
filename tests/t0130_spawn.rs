//! Tree spawn: one session is spread to many nodes, and no node sends it more than twice.

mod cluster;
#[path = "cluster/spawn.rs"]
mod spawn;
#[path = "cluster/wire.rs"]
mod wire;

use cluster::{Cluster, signal, until};
use rustix::process::Signal;
use spawn::Session;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use wire::Wire;

/// Node 0 spreads, all others take.
const NODES: usize = 33;

/// Bytes of the file that matters.
const SIZE: usize = 3_000_000;

/// What comes with it: headers of messages and records, file names, target lists.
const OVERHEAD: u64 = 200_000;

struct Tree {
    cluster: Cluster,
    wire: Wire,
    source: Session,
}

impl Tree {
    fn new(test: &str, nodes: usize) -> Tree {
        let cluster = Cluster::up(test, nodes);
        let wire = Wire::new(None);
        for node in 0..nodes {
            wire.proxy(&proxy(&cluster, node), &socket(&cluster, node));
        }
        let source = Session::open(&socket(&cluster, 0));
        source.client.write(&source.path("argv"), "./prog one 'two words'\n").unwrap();
        let fs = source.directory(&cluster.directory().join("n0"));
        let big: Vec<u8> =
            (0..SIZE as u32).map(|n| (n.wrapping_mul(2654435761) >> 11) as u8).collect();
        write(&fs.join("prog"), 0o755, &big);
        fs::create_dir(fs.join("data")).unwrap();
        write(&fs.join("data/read only"), 0o440, b"x");
        write(&fs.join("data/empty"), 0o600, b"");
        symlink("data/empty", fs.join("link")).unwrap();
        Tree { cluster, wire, source }
    }

    /// Sessions on nodes 1..=count.
    fn sessions(&self, count: usize) -> Vec<Session> {
        (1..=count).map(|node| Session::open(&socket(&self.cluster, node))).collect()
    }

    fn targets(&self, sessions: &[Session]) -> Vec<(PathBuf, u32)> {
        let one = |(at, session): (usize, &Session)| (proxy(&self.cluster, at + 1), session.number);
        sessions.iter().enumerate().map(one).collect()
    }

    fn node(&self, node: usize) -> PathBuf {
        self.cluster.directory().join(format!("n{node}"))
    }

    /// Asserts that a session has all that the source has.
    fn assert_arrived(&self, node: usize, session: &Session) {
        let whole = listing(&self.source.directory(&self.node(0)));
        let got = listing(&session.directory(&self.node(node)));
        assert!(whole == got, "n{node} has {:?}", got.iter().map(|l| &l.0).collect::<Vec<_>>());
        let argv = session.client.read(&session.path("argv")).unwrap();
        assert_eq!(argv, b"./prog one 'two words'\n");
    }
}

fn socket(cluster: &Cluster, node: usize) -> PathBuf {
    cluster.directory().join(format!("n{node}.sock"))
}

fn proxy(cluster: &Cluster, node: usize) -> PathBuf {
    cluster.work().join(format!("p{node}"))
}

fn write(path: &Path, mode: u32, bytes: &[u8]) {
    fs::write(path, bytes).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// Names below a directory with mode and content.
fn listing(dir: &Path) -> Vec<(String, u32, Vec<u8>)> {
    let mut all = Vec::new();
    for entry in fs::read_dir(dir).unwrap().flatten() {
        let path = entry.path();
        let name = entry.file_name().into_string().unwrap();
        let meta = fs::symlink_metadata(&path).unwrap();
        let mode = meta.permissions().mode();
        if meta.is_dir() {
            let inside = listing(&path).into_iter();
            all.extend(inside.map(|(below, m, bytes)| (format!("{name}/{below}"), m, bytes)));
            all.push((name, mode, Vec::new()));
        } else if meta.is_symlink() {
            all.push((
                name,
                0,
                fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes(),
            ));
        } else {
            all.push((name, mode, fs::read(&path).unwrap()));
        }
    }
    all.sort();
    all
}

#[test]
fn no_node_sends_the_files_more_than_twice() {
    let tree = Tree::new("t0130", NODES);
    let pids: Vec<i32> =
        (0..NODES).map(|node| tree.cluster.await_pid(&format!("n{node}"))).collect();
    for count in [4, 8, 16, 32] {
        let sessions = tree.sessions(count);
        tree.wire.reset();
        tree.source.spread(2, &tree.targets(&sessions)).unwrap();
        for (at, session) in sessions.iter().enumerate() {
            tree.assert_arrived(at + 1, session);
        }
        let sent: Vec<u64> = pids.iter().map(|pid| tree.wire.sent(*pid)).collect();
        let most = *sent.iter().max().unwrap();
        assert!(most <= 2 * SIZE as u64 + OVERHEAD, "{count} nodes: {sent:?}");
        assert_eq!(sent.iter().sum::<u64>() / SIZE as u64, count as u64, "each gets it once");
    }
    // Flat, for comparison: the source sends all of it.
    let sessions = tree.sessions(8);
    tree.wire.reset();
    tree.source.spread(0, &tree.targets(&sessions)).unwrap();
    assert_eq!(tree.wire.sent(pids[0]) / SIZE as u64, 8);
    tree.cluster.down();
}

#[test]
fn a_node_that_cannot_be_reached_is_named_and_the_others_are_served() {
    let tree = Tree::new("t0130dead", 10);
    for dead in [1, 3, 9] {
        let sessions = tree.sessions(9);
        let mut targets = tree.targets(&sessions);
        targets[dead - 1].0 = tree.cluster.work().join(format!("nobody{dead}"));
        let error = tree.source.spread(2, &targets).unwrap_err().to_string();
        assert!(
            error.contains("1 not reached") && error.contains(&format!("nobody{dead}")),
            "{error}"
        );
        assert!(error.contains("[E205"), "{error}");
        for node in (1..=9).filter(|node| *node != dead) {
            tree.assert_arrived(node, &sessions[node - 1]);
        }
    }
    // Or its session is gone.
    let sessions = tree.sessions(4);
    let mut targets = tree.targets(&sessions);
    targets[2].1 = 999;
    let error = tree.source.spread(2, &targets).unwrap_err().to_string();
    assert!(error.contains("1 not reached") && error.contains("p3/999"), "{error}");
    [1, 2, 4].into_iter().for_each(|node| tree.assert_arrived(node, &sessions[node - 1]));
    tree.cluster.down();
}

#[test]
fn a_head_that_dies_in_the_middle_costs_only_itself() {
    let tree = Tree::new("t0130head", 10);
    // The first target is a head; the second is one below it.
    for dead in [1, 2] {
        let sessions = tree.sessions(9);
        let killed = std::sync::Arc::new(AtomicBool::new(false));
        let (node, told) = (tree.cluster.await_pid(&format!("n{dead}")), killed.clone());
        tree.wire.watch(&proxy(&tree.cluster, dead), move |bytes| {
            if bytes > 1_000_000 && !told.swap(true, Ordering::AcqRel) {
                signal(node, Signal::KILL);
            }
            true
        });
        let error = tree.source.spread(2, &tree.targets(&sessions)).unwrap_err().to_string();
        assert!(killed.load(Ordering::Acquire));
        assert!(
            error.contains("1 not reached") && error.contains(&format!("/p{dead}/")),
            "{error}"
        );
        for node in (1..=9).filter(|node| *node != dead) {
            tree.assert_arrived(node, &sessions[node - 1]);
        }
        until("another daemon", || {
            tree.cluster.pid(&format!("n{dead}")).is_some_and(|pid| pid != node)
        });
        tree.cluster.await_nodes(10);
    }
    tree.cluster.down();
}
