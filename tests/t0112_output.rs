//! Where the output of jobs goes: to who follows it, looks at it later, or has gone.

mod cluster;

use cluster::{Cluster, until};
use serde_json::Value;
use std::fs::{self, File};
use std::io::Read;
use std::process::{Output, Stdio};

#[test]
fn who_follows_a_jobs_output_misses_nothing_when_the_manager_dies() {
    let cluster = Cluster::up("t0112follow", 2);
    let go = cluster.work().join("go");
    let text = format!("seq 100; while ! [ -e {} ]; do sleep 0.05; done; seq 100", go.display());
    let job = cluster.muster(&["run", "-N", "2", "--detach", "sh", "-c", &text]).run().ok().out;
    let both = [&[][..], &["--label"]].map(|flags| {
        let logs = cluster.muster(&[&["logs", "-f", job.trim()], flags].concat()).start();
        until("the first half", || logs.out().lines().count() == 200);
        logs
    });
    let before = cluster.kill("manager");
    until("another", || cluster.noted("manager").is_some_and(|now| now != before));
    fs::write(&go, "").expect("written");
    for logs in both {
        assert_eq!(logs.wait().ok().out.lines().count(), 400);
    }
    cluster.down();
}

#[test]
fn a_reader_that_has_gone_changes_no_exit_status() {
    let cluster = Cluster::none("t0112gone");
    let gone = || {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        Stdio::from(writer)
    };
    for (words, code) in [
        (&["run", "nosuch"][..], 127),
        (&["run", "./nosuch"], 127),
        (&["run", "sh", "-c", "exit 3"], 3),
        (&["run", "--json", "false"], 1),
    ] {
        let mut command = cluster.muster(words).command;
        command.stdin(Stdio::null()).stdout(gone()).stderr(gone());
        let status = command.status().expect("the binary is built");
        assert_eq!(status.code(), Some(code), "{words:?}");
    }
    cluster.leftovers();
}

#[test]
fn what_could_not_be_told_is_no_success() {
    let cluster = Cluster::up("t0112full", 1);
    for (words, part) in [
        (["run", "--json", "true"], "standard output cannot be written"),
        (["run", "--detach", "true"], "job 2 runs, but standard output cannot be written"),
        (["run", "--help", "true"], "No space left on device"),
    ] {
        let full = File::options().write(true).open("/dev/full").expect("a device");
        let mut command = cluster.muster(&words).command;
        let Output { status, stderr, .. } =
            command.stdin(Stdio::null()).stdout(full).output().expect("the binary is built");
        let said = String::from_utf8_lossy(&stderr);
        assert!(!status.success(), "{words:?}");
        assert!(said.contains(part) && said.lines().count() == 1, "{said}");
    }
    cluster.down();
}

#[test]
fn logs_are_complete_and_do_not_wait_for_what_is_not_there() {
    let cluster = Cluster::up("t0112logs", 2);
    let text = "seq 100000; sleep 1000";
    let job = cluster.muster(&["run", "-N", "2", "--detach", "sh", "-c", text]).run().ok().out;
    let job = job.trim();
    let size = |rank: usize| {
        let listed = cluster.json(&["ls", "--json", "-l", &format!("/jobs/{job}/ranks/{rank}")]);
        let files = listed["lists"][0]["entries"].as_array().expect("files").clone();
        let is_it = |file: &&Value| file["name"] == "stdout";
        files.iter().find(is_it).expect("a stream")["size"].as_u64().unwrap_or(0)
    };
    let all: String = (1..=100_000).map(|n| format!("{n}\n")).collect();
    until("all output", || (0..2).all(|rank| size(rank) == all.len() as u64));
    let logs = |flags: &[&str]| cluster.muster(&[&["logs"], flags].concat()).run();
    assert!(logs(&[job, "--rank", "1"]).ok().out == all);
    let labelled = logs(&["-l", job]).ok().out;
    assert_eq!(labelled.lines().filter(|line| line.starts_with("1: ")).count(), 100_000);
    assert_eq!(logs(&[job]).ok().out.len(), 2 * all.len());
    // Also where other programs have made a pipe or terminal non-blocking.
    let path = format!("/jobs/{job}/ranks/0/stdout");
    for (words, length) in [(["logs", job], 2 * all.len()), (["cat", path.as_str()], 1 << 17)] {
        let (mut read, write) = std::io::pipe().expect("a pipe");
        rustix::io::ioctl_fionbio(&write, true).expect("a pipe");
        let mut command = cluster.muster(&words).command;
        let mut process = command.stdout(write).spawn().expect("it is built");
        let lies = || rustix::io::ioctl_fionread(&read).expect("a pipe");
        until("a pipe that is full", || lies() > 60_000);
        let mut printed = vec![0; length];
        read.read_exact(&mut printed).expect("all of it");
        drop(read);
        process.kill().expect("it is ours");
        process.wait().expect("it is ours");
    }
    logs(&[job, "--rank", "7"]).code(1).says_only("has no rank 7, but 0-1;");
    cluster.muster(&["run", "-N", "9", "true"]).run().code(125).says_only("");
    let refused = (job.parse::<u32>().expect("a number") + 1).to_string();
    logs(&[&refused]).code(1).says_only("was not started");
    logs(&["99"]).code(1).says_only("no job 99");
    cluster.down();
}

#[test]
fn an_input_that_cannot_be_read_is_no_success() {
    let cluster = Cluster::none("t0112input");
    let mut command = cluster.muster(&["run", "cat"]).command;
    command.stdin(File::open("/").expect("a directory"));
    let Output { status, stderr, .. } = command.output().expect("the binary is built");
    let said = String::from_utf8_lossy(&stderr);
    assert_eq!(status.code(), Some(125), "{said}");
    assert!(said.contains("standard input cannot be read: Is a directory"), "{said}");
    assert!(said.contains("[E141, exit 125]") && said.lines().count() == 1, "{said}");
    cluster.leftovers();
}
