//! `muster mount`: when it comes and goes, and what must not be done through it. Needs /dev/fuse.

mod cluster;

use cluster::{Cluster, signal, until};
use rustix::process::Signal;
use serde_json::Value;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

fn text(path: &Path) -> &str {
    path.to_str().expect("text")
}

/// A directory to mount at.
fn place(cluster: &Cluster, name: &str) -> PathBuf {
    let place = cluster.work().join(name);
    fs::create_dir_all(&place).expect("made");
    place
}

#[test]
fn a_mount_goes_with_its_cluster() {
    let cluster = Cluster::up("t0232goes", 1);
    let dir = place(&cluster, "m");
    let at = text(&dir);
    cluster.muster(&["mount", at]).run().ok();
    cluster.muster(&["mount", at]).run().code(1).says("already").sentence("E151");
    let name = fs::read_to_string(dir.join("nodes/n0/name")).expect("served");
    assert_eq!(name.trim(), "n0");
    cluster.muster(&["umount", at]).run().ok();
    cluster.muster(&["umount", at]).run().code(1).sentence("E153");
    cluster.muster(&["mount", at]).run().ok();
    // It comes back with the manager, also where a job sees it and keeps the one before.
    cluster.muster(&["run", "--detach", "sleep", "1000"]).run().ok();
    let started = || {
        let status = fs::read(dir.join("status")).ok()?;
        serde_json::from_slice::<Value>(&status).ok()?["started"].as_f64()
    };
    let before = started().expect("a manager");
    cluster.kill("manager");
    until("another manager's files", || started().is_some_and(|now| now != before));
    cluster.down();
}

#[test]
fn a_mount_whose_server_was_killed_is_told_as_such_and_taken_away_by_any_name() {
    let cluster = Cluster::up("t0232dead", 1);
    let (at, beside) = (place(&cluster, "at"), place(&cluster, "beside"));
    let around = format!("{}/../at/", beside.display());
    for name in [format!("{}/", at.display()), around, text(&at).to_owned()] {
        cluster.muster(&["mount", text(&at)]).run().ok();
        let serves = |line: &str| line.split('\0').any(|word| word == "--foreground");
        let server = cluster.processes().into_iter().find(|(_, line)| serves(line));
        signal(server.expect("it is served").0, Signal::KILL);
        until("a dead mount", || at.metadata().is_err());
        let said = format!("has died; first: muster umount {}", at.display());
        cluster.muster(&["mount", &name]).run().code(1).says_only(&said);
        cluster.muster(&["umount", &name]).run().ok();
    }
    cluster.down();
}

/// As a script has that must not run twice.
#[test]
fn a_lock_that_the_caller_holds_is_kept_by_no_cluster_and_by_no_mount() {
    let cluster = Cluster::none("t0232lock");
    let at = place(&cluster, "at");
    for words in [&["up", "-N", "1"][..], &["mount", text(&at)]] {
        let call = cluster.muster(words).after("exec 9>lock && flock 9 || exit 9");
        call.run().ok();
        let held = File::open(cluster.work().join("lock")).expect("made").try_lock();
        assert!(held.is_ok(), "{words:?}: {held:?}");
    }
    cluster.muster(&["umount", text(&at)]).run().ok();
    cluster.down();
}

/// It is emptied first, or grows without end.
#[test]
fn nothing_is_copied_onto_itself_by_its_name_in_a_mount() {
    let cluster = Cluster::up("t0232onto", 1);
    let (at, here) = (place(&cluster, "here/at"), cluster.work().join("here"));
    let mine = cluster.file("here/mine", 0o644, "content");
    cluster.muster(&["mount", text(&at)]).run().ok();
    let session = cluster.muster(&["cat", "/nodes/n0/clone"]).run().ok().out;
    let fs = format!("nodes/n0/{session}/fs");
    let (named, mounted) = (format!(":/{fs}"), at.join(&fs));
    cluster.muster(&["cp", text(&mine), &named]).run().ok();
    let (in_mount, in_named) = (mounted.join("mine"), format!("{named}/mine"));
    for (from, to) in [
        (text(&in_mount), named.as_str()),
        (&in_named, text(&mounted)),
        (&in_named, text(&in_mount)),
        (text(&mounted), &format!("{named}/deeper")),
    ] {
        cluster.muster(&["cp", "-r", from, to]).run().code(1).says_only("is mounted");
    }
    // What else is there is copied.
    let copied = cluster.muster(&["cp", "-r", text(&here), &format!("{named}/all")]).run();
    copied.says("at is where a cluster is mounted, not copied");
    for file in ["mine", "all/mine"] {
        assert_eq!(fs::read_to_string(mounted.join(file)).expect("there"), "content");
    }
    let both = ["cp", text(&mine), &in_named, text(&here)];
    cluster.muster(&both).run().code(2).says_only("use cp");
    assert_eq!(fs::read_to_string(&mine).expect("there"), "content");
    cluster.muster(&["umount", text(&at)]).run().ok();
    cluster.down();
}
