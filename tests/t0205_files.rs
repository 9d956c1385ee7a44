//! Files by the commands alone: `muster ls`, `cp`, `write` and `cat` of a cluster's, and `export`
//! of this machine's.

mod cluster;

use cluster::{Cluster, MUSTER, call};
use rustix::process::Signal;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::process::Command;

#[test]
fn a_session_is_driven_with_ls_cp_write_and_cat() {
    let cluster = Cluster::up("t0205session", 1);
    let said = |words: &[&str]| cluster.muster(words).run().ok().out;
    let number = said(&["cat", "/nodes/n0/clone"]);
    let session = format!("/nodes/n0/{number}");
    let file = |name: &str| format!("{session}/{name}");
    let here = cluster.work();
    cluster.file("in/deep/data", 0o644, vec![b'x'; 3 << 20]);
    let _socket = std::os::unix::net::UnixListener::bind(here.join("in/a")).expect("a socket");
    std::os::unix::fs::symlink("/dev/zero", here.join("in/zero")).expect("a link");
    let fs = format!(":{}", file("fs"));
    // Nor does it wait for what is no file, or has no end.
    said(&["cp", "-r", "in", &fs]);
    cluster.muster(&["cp", &fs, "."]).run().code(1).says_only("give -r");
    // What cannot be copied takes nothing with it, neither in a directory nor behind it.
    fs::create_dir(here.join("odd")).expect("made");
    let odd = std::ffi::OsStr::from_bytes(b"\xff");
    for name in [odd, "a".as_ref(), "z".as_ref()] {
        fs::write(here.join("odd").join(name), "content").expect("written");
    }
    let copied = cluster.muster(&["cp", "-r", "missing", "odd", &fs]).run().code(1);
    assert_eq!(copied.err.lines().count(), 2, "{copied:?}");
    copied.says("missing does not exist").says("is not text");
    assert_eq!(said(&["ls", &file("fs/odd")]), "a\nz\n");
    // Nor does it read what tells of a program that is not there yet, and would wait for that.
    let copied = cluster.muster(&["cp", "-r", &format!(":{session}"), "whole"]).run();
    copied.code(1).says_only("files that told what happens are not copied");
    assert_eq!(fs::read(here.join("whole/fs/odd/a")).expect("copied"), b"content");
    let links = "cd in; ln -s deep/data a1; ln -s ../in/a1 a2; ln -s deep a3; \
                 ln -s /etc/passwd a4; ln -s nowhere a5; ln -s ../../stdout a6; ln -s a7 a7; \
                 echo last > z";
    let program = format!("sh -c 'wc -c < in/deep/data; cat; {links}; exit 3'");
    said(&["write", &file("argv"), &program]);
    said(&["write", &file("ctl"), "exec"]);
    said(&["write", "-n", &file("stdin"), "input"]);
    said(&["write", &file("ctl"), "close", "stdin"]);
    assert_eq!(said(&["cat", &file("stdout")]), "3145728\ninput");
    assert_eq!(said(&["cat", &file("wait")]).trim(), (3 << 8).to_string());
    // By whatever name: what is copied onto itself would be emptied first.
    let (data, again) = (format!("{fs}/in/deep/data"), format!("{fs}/in/../in/deep/data"));
    let copied = cluster.muster(&["cp", &data, &again]).run();
    copied.code(1).says_only("are the same; nothing was copied");
    said(&["cp", "-r", &fs, "out"]);
    // Links among it that lead to files are followed, and what comes after others is copied too.
    let mut copied = cluster.muster(&["cp", "-r", &fs, "links"]).run().ok();
    for link in ["a3", "a4", "a5", "a6", "a7"] {
        copied = copied.says(&format!("/in/{link} is a link, not copied"));
    }
    for (name, length) in [("a1", 3 << 20), ("a2", 3 << 20), ("z", 5)] {
        let copy = fs::metadata(here.join("links/in").join(name)).expect(name);
        assert_eq!(copy.len(), length, "{name}");
    }
    said(&["cp", &format!("{fs}/in/a2"), "one"]);
    assert_eq!(fs::metadata(here.join("one")).expect("copied").len(), 3 << 20);
    let back = fs::read(here.join("out/in/deep/data")).expect("copied back");
    assert!(back == vec![b'x'; 3 << 20]);
    cluster.down();
}

/// Once it was out of descriptors at about a thousand fids of all clients together.
#[test]
fn an_export_has_all_descriptors_that_it_may_have() {
    let cluster = Cluster::none("t0205limit");
    let export = cluster.muster(&["export", "/", "--listen", "./sock"]).after("ulimit -S -n 256");
    let export = export.start();
    export.await_out("is served");
    let limits = fs::read_to_string(format!("/proc/{}/limits", export.pid())).expect("it runs");
    let line = limits.lines().find(|line| line.starts_with("Max open files")).expect("a limit");
    let numbers: Vec<&str> = line.split_whitespace().skip(3).take(2).collect();
    assert_eq!(numbers[0], numbers[1], "soft and hard: {line}");
}

/// What nohup(1) had ignored ended it all the same. Who it starts would hold back what it does.
#[test]
fn an_export_ends_by_a_signal_that_its_caller_does_not_ignore_and_holds_none_back() {
    let cluster = Cluster::none("t0205signal");
    let mut command = Command::new("env");
    command.args(["--default-signal", "--ignore-signal=HUP", MUSTER, "export", "/", "--listen"]);
    command.arg("./sock").current_dir(cluster.work());
    let export = call(command).start();
    export.await_out("is served");
    let status = fs::read_to_string(format!("/proc/{}/status", export.pid())).expect("it runs");
    let mask = |name: &str| {
        let mask = status.lines().find_map(|line| line.strip_prefix(name)).expect("a mask");
        u64::from_str_radix(mask.trim(), 16).expect("a mask")
    };
    let is_caught = [1, 2, 15].map(|signal| mask("SigCgt:") & (1 << (signal - 1)) != 0);
    assert_eq!((is_caught, mask("SigBlk:")), ([false, true, true], 0), "HUP, INT, TERM");
    export.signal(Signal::HUP);
    export.signal(Signal::TERM);
    export.wait().ok();
}
